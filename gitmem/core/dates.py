"""Times and spans as people type them: ISO dates, offsets such as `90d`. No clock is read here."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

#: Units of an offset, in seconds; a month is 30 days and a year 365, as Selvedge's users know them.
UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "mo": 30 * 86400, "mon": 30 * 86400, "y": 365 * 86400}
#: The longest span that anything here can mean.
SPAN_MAX_S = 100 * 365 * 86400

_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"


class BadTime(ValueError):
    """The text is no time or span; the message says why."""


def span(text: str) -> int:
    """Return the seconds of an offset such as `7d`, `24h`, `60m`, `6mo`, `1y`. Raises BadTime."""
    number = text.strip()
    digits = len(number) - len(number.lstrip("0123456789"))
    unit = number[digits:].lower()
    if not digits or unit not in UNITS or number[digits:] == "M":
        raise BadTime(f"{text!r} is no span such as 7d, 24h, 60m, 6mo or 1y")
    if digits > 9 or int(number[:digits]) * UNITS[unit] > SPAN_MAX_S:
        raise BadTime(f"{text!r} is longer than 100 years")
    return int(number[:digits]) * UNITS[unit]


def instant(text: str) -> str:
    """Return the format time that an ISO 8601 date or time means; without a zone it is UTC. Raises BadTime."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadTime(f"{text!r} is no ISO date or time such as 2026-11-30 or 2026-11-30T12:00Z") from None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    try:
        found = found.astimezone(UTC)
    except OverflowError:
        raise BadTime(f"{text!r} is outside the years 1970-9999") from None
    if not 1970 <= found.year <= 9999:
        raise BadTime(f"{text!r} is outside the years 1970-9999")
    return found.strftime(_FORMAT) if found.year >= 1000 else ""


def of_seconds(seconds: float) -> str:
    """Return the format time of a POSIX time, clamped to the years 1970-9999."""
    seconds = min(max(seconds, 0.0), 253402300799.0)
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).strftime(_FORMAT)


def due(text: str) -> str:
    """Check a `revisit_after`: an ISO date or an offset, returned in one spelling. Raises BadTime."""
    try:
        span(text)
    except BadTime:
        if text.strip()[:1].isdigit() and "-" in text:
            return instant(text)
        raise
    return text.strip().lower()
