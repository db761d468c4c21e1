"""Bytes from a client to the object that they hold. Nothing here raises: what can't be read is None."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: A larger payload is not read: no edit by hand or by an agent is, and the answer must come within a second.
SIZE_MAX = 16 << 20


def decoded(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object in `data`, or None.

    Windows clients put a byte order mark in front, Windsurf leaves control characters in strings as they are,
    and a client that cuts a text in the middle of a character is no reason to look away.
    """
    if len(data) > SIZE_MAX:
        return None
    return parsed(data.decode("utf-8-sig", "replace"))


def parsed(text: str) -> dict[str, Any] | None:
    """Return the JSON object that `text` is, or None."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):  # ValueError also: an integer of more digits than Python reads
        return None
    return value if isinstance(value, dict) else None


def first_text(payload: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Return the first non-empty string among `keys` of `payload`, or an empty one."""
    for key in keys:
        value = payload.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def first_id(payload: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Return the first id among `keys`: a string, or the digits of a number; cut where it can't be one."""
    for key in keys:
        value = payload.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64:
            value = str(value)
        if isinstance(value, str) and value:
            return value[:200]
    return ""


def an_object(value: object) -> dict[str, Any]:
    """Return `value` where it is an object, or a string that spells one (Copilot, Cursor); else an empty one."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        return parsed(value) or {}
    return {}
