"""Bytes from a client to the object that they hold. Nothing here raises: what can't be read is None.

An edit waits for this, and for the module `json`, with all that it loads, it would wait as long as for the rest of the
gate. So the scanner is asked that does the work for `json`, which loads nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
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
    return parsed(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))


class _How:
    """What `json.JSONDecoder(strict=False)` tells its scanner."""

    strict = False
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float
    parse_int = int
    memo: Mapping[str, str] = {}


def _scanner() -> Callable[[str, int], tuple[object, int]]:
    try:
        from _json import make_scanner
    except ImportError:  # a Python without it
        import json

        return json.JSONDecoder(strict=False).raw_decode
    return make_scanner(_How)  # type: ignore[arg-type]  # typeshed has no name for what it takes


_scan = _scanner()
_BLANKS = " \t\n\r"


def parsed(text: str) -> dict[str, Any] | None:
    """Return the JSON object that `text` is, or None."""
    text = text.strip(_BLANKS)
    try:
        value, end = _scan(text, 0)
    except (ValueError, RecursionError, StopIteration, SystemError):
        # ValueError also: an integer of more digits than Python reads. SystemError: what the scanner of Python 3.11 and
        # 3.12 raises for ValueError while nobody has loaded `json`, whose error it would be.
        return None
    return value if isinstance(value, dict) and end == len(text) else None


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
