"""Event ids: SHA-256 of canonical bytes, in hex. People type any unique prefix of 4 or more."""

from __future__ import annotations

from gitmem.core import digests

LENGTH = 64
PREFIX_MIN = 4
#: How many characters of an id people are shown.
SHORT = 8
#: What a recall writes before an id, with a dash: of a decision, a lesson, a rule.
LETTERS = "DLR"

_HEX = frozenset("0123456789abcdef")


def of(data: bytes) -> str:
    """Return the id of the event whose canonical bytes are `data`."""
    return digests.sha256(data).hexdigest()


def is_id(text: object) -> bool:
    """Say whether `text` is a whole event id."""
    return type(text) is str and len(text) == LENGTH and _HEX.issuperset(text)


def is_prefix(text: str) -> bool:
    """Say whether `text` could stand for an event id."""
    return PREFIX_MIN <= len(text) <= LENGTH and _HEX.issuperset(text.lower())


def short(event_id: str) -> str:
    return event_id[:SHORT]
