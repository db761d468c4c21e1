"""Dates as people type them, into times of the format.

Ours first: `2026-11-30`, `2026-11-30T12:00+01:00`, `7d`, `24h`. Anything else is git's: `yesterday`,
`2 weeks ago`, `last friday`. Git takes every text for a date and answers *now* where it understands
nothing, so a text with a word outside its vocabulary is refused before it is asked.
"""

from __future__ import annotations

import re
import time

from gitmem.core import dates
from gitmem.errors import Usage

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
# Of `1999-02-31` git makes the 3rd of March, of `99999-01-01` a day of this year.
_LIKE_ISO = re.compile(r"\d{4,}-\d")
_GIT_NUMBERS = re.compile(r"\d{1,2}[./]\d{1,2}[./]\d{4}|\d{9,10}")

# What git's approxidate knows (date.c), and the words that it skips between them.
_GIT_WORDS = frozenset(
    """
    now today yesterday noon midnight tea never am pm ago last at on the of and
    zero one two three four five six seven eight nine ten
    second seconds minute minutes hour hours day days week weeks month months year years
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    utc gmt z t
    """.split()
)


def moment(text: str, option: str, *, end_of_day: bool = False, ahead: bool = False) -> str:
    """Return the time that `text` means, in the spelling of the format (UTC, microseconds, `Z`).

    An offset (`7d`) is that long before now, or with `ahead` after it. A bare day is its first microsecond, or
    with `end_of_day` the first of the next. Without a zone a time is UTC. Raises Usage, naming `option`.
    """
    text = text.strip()
    try:
        return dates.of_seconds(time.time() + (1 if ahead else -1) * dates.span(text))
    except dates.BadTime as error:
        if text[:1].isdigit() and text.isalnum() and not text.isdigit():
            raise Usage(what=f"{option}: {error}", hint=_FORMS) from None
    try:
        found = dates.instant(text)
    except dates.BadTime:
        return dates.of_seconds(_by_git(text, option))
    if end_of_day and _DAY.fullmatch(text):
        return dates.of_seconds(_seconds(found) + 86400)
    return found


def instant(text: str, option: str) -> str:
    """Return the instant from which one looks back: as `moment`, and a bare day is its last microsecond."""
    if re.fullmatch(r"(?:[0-9a-f]{40}|[0-9a-f]{64})", text.strip()):
        raise _no_date(text, option)  # git would take ten of its digits for seconds
    found = moment(text, option)
    return f"{found[:10]}T23:59:59.999999Z" if _DAY.fullmatch(text.strip()) else found


def duration_s(text: str, option: str) -> int:
    """Return the seconds of a duration such as `7d` or `24h`. Raises Usage, naming `option`."""
    try:
        return dates.span(text)
    except dates.BadTime as error:
        raise Usage(what=f"{option}: {error}", hint="write it as 7d, 24h, 30m or 2w.") from None


def _seconds(found: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(found).timestamp()


def _by_git(text: str, option: str) -> int:
    words = re.findall(r"[^\W\d_]+", text.lower())
    understood = bool(words) and _GIT_WORDS.issuperset(words)
    if not (understood or _GIT_NUMBERS.fullmatch(text)) or _LIKE_ISO.match(text):
        raise _no_date(text, option)
    from gitmem.cli import git

    seconds = git.epoch(text)
    if seconds is None:
        raise _no_date(text, option)
    return seconds


def _no_date(text: str, option: str) -> Usage:
    return Usage(what=f"{option}: {text!r} is no date", hint=_FORMS)


_FORMS = 'write it as 2026-11-30, 7d, 24h or "2 weeks ago".'
