"""Shapes: what is wrong with a value of a field, said in words; one check for each name in `events.SHAPES`.

Only what writes, verifies or takes in bytes asks here; a reader of what was checked doesn't load it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gitmem.core import canonical, characters, entities
from gitmem.core.events import (
    ENTITY_MAX,
    FIELD_MAX,
    LINE_MAX,
    LIST_MAX,
    PATHS_MAX,
    SHAPES,
    TEXT_MAX,
    UNREADABLE,
    Malformed,
    clean_author,
)
from gitmem.core.vocabulary import REDACTION_MODES

# A check says what is wrong with a value, or nothing.
Check = Callable[[object], str]


def one_of(words: tuple[str, ...]) -> Check:
    known = frozenset(words)

    def problem(value: object) -> str:
        return "" if type(value) is str and value in known else f"not one of {', '.join(words)}"

    return problem


def _matches(pattern: str, otherwise: str) -> Check:
    fullmatch = re.compile(pattern).fullmatch

    def problem(value: object) -> str:
        return "" if type(value) is str and fullmatch(value) else otherwise

    return problem


def version(value: object) -> str:
    return "" if type(value) is int and value >= 1 else "not a positive integer"


def _clock(value: object) -> str:
    return "" if type(value) is int and 1 <= value <= canonical.INTEGER_MAX else "not an integer from 1 to 2^53 - 1"


def _count(value: object) -> str:
    return "" if type(value) is int and value >= 1 else "not a positive integer"


_ID = re.compile("[0-9a-f]{64}").fullmatch
_OID = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?").fullmatch
# F9: times have one spelling, so that they sort as text. Years 1970-9999; the day of the month is looked at apart.
_TIME = re.compile(
    r"(?:19[7-9][0-9]|[2-9][0-9]{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z"
).fullmatch


def _time(value: object) -> str:
    if type(value) is str and _TIME(value) and (value[8:10] <= "28" or value[8:10] <= _days(value[:4], value[5:7])):
        return ""
    return "not a time such as 2026-11-30T12:00:00.000000Z in 1970-9999"


def _days(year: str, month: str) -> str:
    if month == "02":
        y = int(year)
        return "29" if y % 4 == 0 and (y % 100 != 0 or y % 400 == 0) else "28"
    return "30" if month in ("04", "06", "09", "11") else "31"


# The everyday author, which `clean_author` would leave alone.
_PLAIN_AUTHOR = re.compile(r"[!-;=?-~]+(?: +[!-;=?-~]+)* <[!-;=?-~]+>").fullmatch


def _author(value: object) -> str:
    problem = _string(value, FIELD_MAX)
    if problem:
        return problem
    text: str = value  # type: ignore[assignment]
    clean = _PLAIN_AUTHOR(text) or clean_author(text) == text
    return "" if clean else "not a clean `Name <address>`"


def _string(value: object, most: int) -> str:
    if type(value) is not str:
        return "not a string"
    if len(value) > most or (not value.isascii() and len(value.encode()) > most):
        return f"longer than {most:,} bytes"
    return ""


def _field(value: object) -> str:
    return _string(value, FIELD_MAX)


def _text(value: object) -> str:
    return _string(value, TEXT_MAX)


def _entity(value: object) -> str:
    problem = _string(value, ENTITY_MAX)
    if problem or entities.is_spelt(value):  # type: ignore[arg-type]
        return problem
    bad = characters.first_invisible(value)  # type: ignore[arg-type]
    return f"holds the invisible character U+{ord(bad):04X}" if bad else "not the canonical spelling of an entity path"


def _scope(value: object) -> str:
    return "" if value == "" else _entity(value)


def _line(value: object) -> str:
    problem = _string(value, FIELD_MAX)
    if problem:
        return problem
    if len(value) > LINE_MAX:  # type: ignore[arg-type]
        return f"longer than {LINE_MAX} characters"
    return "" if value else "empty"


def _whole(least: int, most: int) -> Check:
    def problem(value: object) -> str:
        return "" if type(value) is int and least <= value <= most else f"not an integer from {least:,} to {most:,}"

    return problem


def _entities(value: object) -> str:
    return _list(value, _entity, PATHS_MAX)


def _list(value: object, problem_of: Check, most: int = LIST_MAX) -> str:
    if type(value) is not list:
        return "not a list"
    if len(value) > most:
        return f"more than {most:,} entries"
    for inner in value:
        problem = problem_of(inner)
        if problem:
            return problem
    return ""


def _id(value: object) -> str:
    return "" if type(value) is str and _ID(value) else "not an event id (64 lower-case hex digits)"


def _ids(value: object) -> str:
    problem = _list(value, _id)
    if problem or len(value) < 2:  # type: ignore[arg-type]
        return problem
    several: list[str] = value  # type: ignore[assignment]
    if any(a >= b for a, b in zip(several, several[1:])):
        return "not sorted, or with a repetition"  # a set has one spelling (F8)
    return ""


def _ids_some(value: object) -> str:
    return _ids(value) or ("" if value else "empty")


def _oid(value: object) -> str:
    return "" if type(value) is str and _OID(value) else "not a git object id"


def _oids(value: object) -> str:
    return _list(value, _oid)


def _fields(value: object) -> str:
    return _list(value, _field)


def _pair(value: object) -> str:
    if type(value) is not list or len(value) != 2:
        return "not a pair of paths"
    return _entity(value[0]) or _entity(value[1])


def _pairs(value: object) -> str:
    return _list(value, _pair)


def _object(value: object) -> str:
    if type(value) is not dict:
        return "not an object"
    return "" if canonical.size(value) <= TEXT_MAX else f"longer than {TEXT_MAX:,} bytes"


def _fingerprint(value: object) -> str:
    problem = _object(value)
    if problem:
        return problem
    named: dict[str, object] = value  # type: ignore[assignment]
    return "" if "algorithm" in named and not _word(named["algorithm"]) else "names no algorithm"


def _base(value: object) -> str:
    problem = _object(value)
    if problem:
        return problem
    for name, inner in value.items():  # type: ignore[attr-defined]
        problem = _oid(inner) if name == "commit" else _field(inner) if name in ("branch", "worktree") else ""
        if problem:
            return f"{name}: {problem}"
    return ""


def _patterns(value: object) -> str:
    return _list(value, _pattern)


def _pattern(value: object) -> str:
    if type(value) is list:  # a set of words
        return _fields(value) or ("" if value else "an empty set of words")
    return _object(value) if type(value) is dict else _field(value)


def _anchors(value: object) -> str:
    return _list(value, _anchor)


def _anchor(value: object) -> str:
    return _object(value) if type(value) is dict else _field(value)


def _flag(value: object) -> str:
    return "" if value is True else "not true"


_word = _matches("[a-z][a-z0-9_.-]{0,63}", "not a word (a-z, then up to 63 of a-z 0-9 _ . -)")

BY_NAME: dict[str, Check] = {
    "version": version,
    "word": _word,
    "clock": _clock,
    "count": _count,
    "nonce": _matches("[0-9a-f]{32}", "not 32 lower-case hex digits"),
    "time": _time,
    "author": _author,
    "id": _id,
    "ids": _ids,
    "ids+": _ids_some,
    "field": _field,
    "text": _text,
    "entity": _entity,
    "scope": _scope,
    "oid": _oid,
    "oids": _oids,
    "fields": _fields,
    "pairs": _pairs,
    "fingerprint": _fingerprint,
    "base": _base,
    "patterns": _patterns,
    "anchors": _anchors,
    "flag": _flag,
    "line": _line,
    "entities": _entities,
    "outcome": _whole(-100, 100),
    "amount": _whole(0, 2**31),
    "percent": _whole(0, 100),
    "object": _object,
}
CHECKS = {name: BY_NAME[shape] if type(shape) is str else one_of(shape) for name, shape in SHAPES.items()}  # type: ignore[arg-type]
# A higher v may add words to the closed sets; nothing else about a name changes.
CHECKS_LATER = {name: BY_NAME[shape] if type(shape) is str else _word for name, shape in SHAPES.items()}
#: What a tombstone has of its own (F26).
TOMBSTONE: dict[str, Check] = {
    "id": _id,
    "redacted": one_of((*REDACTION_MODES, UNREADABLE)),
    **{name: _matches("[0-9a-f]{40}", "not 40 lower-case hex digits") for name in ("blob_sha1", "signature_sha1")},
    **{name: _matches("[0-9a-f]{64}", "not 64 lower-case hex digits") for name in ("blob_sha256", "signature_sha256")},
}
#: Line breaks, with the blanks around them.
BREAKS = re.compile("[ \t]*[\t\n\r\v\f][ \t\n\r\v\f]*")


def check(fields: Mapping[str, object], checks: Mapping[str, Check]) -> None:
    """Raise Malformed for the first field whose value `checks` find fault with; names they don't know pass (F6)."""
    for name, value in fields.items():
        problem_of = checks.get(name)
        if problem_of is not None:
            problem = problem_of(value)
            if problem:
                raise Malformed(f"{name}: {problem}")
