"""What people type, and what fields hold, as values of one type."""

from __future__ import annotations

import os

from gitmem.core import dates
from gitmem.errors import Refused


def nonce() -> str:
    return os.urandom(16).hex()


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def strings_of(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []


def number_of(value: object) -> int:
    return value if isinstance(value, int) else 0


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def instant_of(field: str, typed: str) -> str:
    if len(typed) == 27 and typed.endswith("Z"):
        return typed
    try:
        return dates.instant(typed)
    except dates.BadTime as error:
        raise Refused(field=field, what=str(error)) from None
