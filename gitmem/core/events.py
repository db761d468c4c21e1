"""Events: what one is made of, how its bytes are read, and what makes bytes no event.

`parse` is a total reader: it accepts every event that follows the format, keeps fields it does not
know, and takes what a newer gitmem wrote as *newer*. `build` is the strict writer. Both use the one
table `FIELDS`; `docs/format.md` is that table in prose, rule by rule (F…).
"""

from __future__ import annotations

import hashlib
import unicodedata

from gitmem.core import canonical, characters, ids
from gitmem.core.vocabulary import (
    BASES,
    CHANGE_TYPES,
    CHANNELS,
    EFFECTS_WRITTEN,
    KINDS,
    LINK_HOWS,
    MARK_ACTIONS,
    REDACTION_MODES,
    REVIEW_ACTIONS,
    VERSION,
)

# Bounds in bytes of UTF-8. Every field has one: no event can break a listing by its size.
TEXT_MAX = 64 * 1024
FIELD_MAX = 4 * 1024
ENTITY_MAX = 1024
EVENT_MAX = 256 * 1024
LIST_MAX = 4096


class Malformed(ValueError):
    """The bytes are no event; the message says why."""


# --- the fields ------------------------------------------------------------------------------
# shape -> how a value of the field looks; the checks are in _SHAPES below.

COMMON = {
    "v": "version",
    "kind": "word",
    "clock": "clock",
    "nonce": "nonce",
    "recorded_at": "time",
    "author": "author",
    "after": "ids",
    "scope": "field",
    "channel": CHANNELS,
    "basis": BASES,
    "tool": "field",
}
COMMON_OPTIONAL = {"agent": "field", "session_id": "field", "policy": "field", "source": "field"}
REQUIRED: dict[str, dict[str, object]] = {
    "change": {"entity_path": "entity", "entity_type": "word", "change_type": "word", "reasoning": "text"},
    "link": {"targets": "ids+", "commit": "oid", "how": "word"},
    "review": {"action": "word", "targets": "ids+", "reason": "text"},
    "mark": {"action": "word", "targets": "ids+", "reason": "text"},
    "override": {"targets": "ids+", "reason": "text"},
    "redact": {"targets": "ids+", "reason": "text", "mode": REDACTION_MODES, "old_tip": "oid"},
}
OPTIONAL: dict[str, dict[str, object]] = {
    "change": {
        "approach": "field",
        "instead": "field",
        "constraint": "field",
        "diff": "text",
        "supersedes": "ids+",
        "targets": "ids+",
        "effect": EFFECTS_WRITTEN,
        "renamed_from": "entity",
        "valid_from": "time",
        "valid_to": "time",
        "revisit_after": "field",
        "stale_when": "field",
        "expires_when": "field",
        "changeset_id": "field",
        "fingerprint": "object",
        "patterns": "fields",
        "anchors": "fields",
        "base": "object",
        "evidence": "fields",
        "tags": "fields",
        "allow_secret": "flag",
    },
    "link": {"tree": "oid", "patch_id": "oid", "replaces": "oids", "renames": "pairs"},
    "review": {"effect": EFFECTS_WRITTEN, "evidence": "fields"},
    "mark": {"until": "time"},
    "override": {},
    "redact": {},
}
#: A word of these that we do not know makes the event newer, not malformed (R12).
OPEN_WORDS = {
    "change": ("change_type", frozenset(CHANGE_TYPES)),
    "link": ("how", frozenset(LINK_HOWS)),
    "review": ("action", frozenset(REVIEW_ACTIONS)),
    "mark": ("action", frozenset(MARK_ACTIONS)),
}
#: What a tombstone keeps of an event (design §2.6); all else goes.
STRUCTURAL = (
    "v",
    "kind",
    "clock",
    "after",
    "scope",
    "entity_path",
    "entity_type",
    "change_type",
    "approach",
    "supersedes",
    "targets",
    "action",
    "effect",
    "until",
    "channel",
    "basis",
    "author",
    "recorded_at",
    "valid_from",
    "valid_to",
    "renamed_from",
    "renames",
    "source",
)


class Event:
    """An immutable fact. Structural fields are attributes; everything is in `fields`.

    `fields` is the object as its canonical bytes spell it (of a tombstone: what is left). Treat both
    as read-only. A field that the event does not have is "" or () or None here, by its shape.
    """

    __slots__ = (
        "action",
        "after",
        "approach",
        "author",
        "basis",
        "change_type",
        "channel",
        "clock",
        "effect",
        "entity_path",
        "fields",
        "id",
        "kind",
        "newer",
        "recorded_at",
        "redacted",
        "renamed_from",
        "scope",
        "source",
        "supersedes",
        "targets",
        "until",
        "valid_from",
    )

    id: str
    fields: dict[str, object]
    kind: str
    clock: int
    after: tuple[str, ...]
    supersedes: tuple[str, ...]
    targets: tuple[str, ...]
    change_type: str
    action: str
    scope: str
    entity_path: str
    approach: str
    author: str
    channel: str
    basis: str
    effect: str
    source: str
    valid_from: str
    recorded_at: str
    renamed_from: str
    until: str
    newer: bool
    #: "" or the form of the tombstone that stands in the event's place: plain, approach, entity.
    redacted: str

    def __init__(self, event_id: str, fields: dict[str, object], *, redacted: str = "") -> None:
        get = fields.get
        self.id = event_id
        self.fields = fields
        self.redacted = redacted
        self.kind = get("kind", "")  # type: ignore[assignment]
        self.clock = get("clock", 0)  # type: ignore[assignment]
        self.after = tuple(get("after", ()))  # type: ignore[arg-type]
        self.supersedes = tuple(get("supersedes", ()))  # type: ignore[arg-type]
        self.targets = tuple(get("targets", ()))  # type: ignore[arg-type]
        self.change_type = get("change_type", "")  # type: ignore[assignment]
        self.action = get("action", "")  # type: ignore[assignment]
        self.scope = get("scope", "")  # type: ignore[assignment]
        self.entity_path = get("entity_path", "")  # type: ignore[assignment]
        self.approach = get("approach", "")  # type: ignore[assignment]
        self.author = get("author", "")  # type: ignore[assignment]
        self.channel = get("channel", "")  # type: ignore[assignment]
        self.basis = get("basis", "")  # type: ignore[assignment]
        self.effect = get("effect", "")  # type: ignore[assignment]
        self.source = get("source", "")  # type: ignore[assignment]
        self.valid_from = get("valid_from", "")  # type: ignore[assignment]
        self.recorded_at = get("recorded_at", "")  # type: ignore[assignment]
        self.renamed_from = get("renamed_from", "")  # type: ignore[assignment]
        self.until = get("until", "")  # type: ignore[assignment]
        self.newer = is_newer(fields)

    def __repr__(self) -> str:
        what = self.change_type or self.action or self.fields.get("how", "")
        return f"<Event {ids.short(self.id)} {self.kind} {what} {self.entity_path}>"


# --- reading ---------------------------------------------------------------------------------


def parse(data: bytes) -> Event:
    """Return the event whose canonical bytes are `data`. Raises Malformed."""
    if len(data) > EVENT_MAX:
        raise Malformed(f"{len(data):,} bytes, more than {EVENT_MAX:,}")  # F5
    try:
        fields = canonical.decode(data)
    except canonical.NotCanonical as error:
        raise Malformed(str(error)) from None
    check(fields)
    return Event(ids.of(data), fields)


def is_newer(fields: dict[str, object]) -> bool:
    """Say whether a newer gitmem wrote this: a higher `v`, an unknown kind, or an unknown word (R12)."""
    if fields.get("v") != VERSION:
        return True
    kind = fields.get("kind")
    if kind not in REQUIRED:
        return True
    word = OPEN_WORDS.get(kind)  # type: ignore[arg-type]
    return word is not None and fields.get(word[0]) not in word[1]


def check(fields: dict[str, object]) -> None:
    """Raise Malformed where `fields` break the format; unknown fields and words pass (F6)."""
    for name, shape in COMMON.items():
        if name not in fields:
            raise Malformed(f"{name} is missing")
        problem = _SHAPES[shape](fields[name]) if type(shape) is str else _one_of(fields[name], shape)
        if problem and not (type(shape) is not str and fields["v"] != VERSION):
            raise Malformed(f"{name}: {problem}")
    if fields["v"] != VERSION:
        return
    kind: str = fields["kind"]  # type: ignore[assignment]
    required = REQUIRED.get(kind)
    if required is None:
        return
    for name in required:
        if name not in fields:
            raise Malformed(f"{name} is missing")
    shapes = _ALL_SHAPES[kind]
    for name, value in fields.items():
        shape = shapes.get(name)
        if shape is None or name in COMMON:
            continue
        problem = _SHAPES[shape](value) if type(shape) is str else _one_of(value, shape)
        if problem:
            raise Malformed(f"{name}: {problem}")


def _one_of(value: object, words: object) -> str:
    return "" if value in words else f"{value!r} is none of {', '.join(words)}"  # type: ignore[operator,arg-type]


def _string(value: object, most: int, *, empty: bool = True) -> str:
    if type(value) is not str:
        return "not a string"
    if len(value) > most or (not value.isascii() and len(value.encode()) > most):
        return f"longer than {most:,} bytes"
    if not empty and not value:
        return "empty"
    return ""


def _version(value: object) -> str:
    return "" if type(value) is int and value >= 1 else "not a positive integer"


def _clock(value: object) -> str:
    return "" if type(value) is int and 1 <= value < canonical.INTEGER_MAX else "not an integer from 1 below 2^53"


def _nonce(value: object) -> str:
    fits = type(value) is str and len(value) == 32 and _HEX.issuperset(value)
    return "" if fits else "not 32 lower-case hex digits"


_HEX = frozenset("0123456789abcdef")
_DIGITS = frozenset("0123456789")


def _time(value: object) -> str:
    """Times have one spelling, so that they sort as text: 2026-11-30T12:00:00.000000Z, years 1970-9999 (F9)."""
    if (
        type(value) is str
        and len(value) == 27
        and value[4] == value[7] == "-"
        and value[10] == "T"
        and value[13] == value[16] == ":"
        and value[19] == "."
        and value[26] == "Z"
        and _DIGITS.issuperset(value[:4] + value[5:7] + value[8:10] + value[11:13] + value[14:16] + value[17:19] + value[20:26])
        and value[:4] >= "1970"
        and "01" <= value[5:7] <= "12"
        and "01" <= value[8:10] <= _days(value[:4], value[5:7])
        and value[11:13] <= "23"
        and value[14:16] <= "59"
        and value[17:19] <= "59"
    ):
        return ""
    return "not a time such as 2026-11-30T12:00:00.000000Z in 1970-9999"


def _days(year: str, month: str) -> str:
    if month == "02":
        y = int(year)
        return "29" if y % 4 == 0 and (y % 100 != 0 or y % 400 == 0) else "28"
    return "30" if month in ("04", "06", "09", "11") else "31"


def _author(value: object) -> str:
    problem = _string(value, FIELD_MAX, empty=False)
    if problem:
        return problem
    return "" if clean_author(value) == value else "not a clean `Name <address>`"  # type: ignore[arg-type]


def _word(value: object) -> str:
    return _string(value, 64, empty=False)


def _field(value: object) -> str:
    return _string(value, FIELD_MAX)


def _text(value: object) -> str:
    return _string(value, TEXT_MAX)


def _entity(value: object) -> str:
    return _string(value, ENTITY_MAX, empty=False) or _printable(value)  # type: ignore[arg-type]


def _printable(value: str) -> str:
    character = characters.first_invisible(value)
    return f"holds the invisible character U+{ord(character):04X}" if character else ""


def _list(value: object, problem_of: object, *, some: bool = False) -> str:
    if type(value) is not list:
        return "not a list"
    if some and not value:
        return "empty"
    if len(value) > LIST_MAX:
        return f"more than {LIST_MAX:,} entries"
    for inner in value:
        problem = problem_of(inner)  # type: ignore[operator]
        if problem:
            return problem  # type: ignore[no-any-return]
    return ""


def _id(value: object) -> str:
    return "" if ids.is_id(value) else "not an event id (64 lower-case hex digits)"


def _ids(value: object) -> str:
    problem = _list(value, _id)
    if not problem and value and any(a >= b for a, b in zip(value, value[1:])):  # type: ignore[index,arg-type,call-overload]
        return "not sorted, or with a repetition"  # a set has one spelling (F8)
    return problem


def _ids_some(value: object) -> str:
    return _ids(value) or ("" if value else "empty")


def _oid(value: object) -> str:
    fits = type(value) is str and len(value) in (40, 64) and _HEX.issuperset(value)
    return "" if fits else "not a git object id"


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
    return "" if type(value) is dict else "not an object"


def _flag(value: object) -> str:
    return "" if value is True else "not true"


_SHAPES = {
    "version": _version,
    "word": _word,
    "clock": _clock,
    "nonce": _nonce,
    "time": _time,
    "author": _author,
    "ids": _ids,
    "ids+": _ids_some,
    "field": _field,
    "text": _text,
    "entity": _entity,
    "oid": _oid,
    "oids": _oids,
    "fields": _fields,
    "pairs": _pairs,
    "object": _object,
    "flag": _flag,
}
_ALL_SHAPES = {kind: {**COMMON_OPTIONAL, **REQUIRED[kind], **OPTIONAL[kind]} for kind in KINDS}


# --- authors ---------------------------------------------------------------------------------

AUTHOR_FALLBACK = "unknown <unknown@unknown.invalid>"


def clean_author(text: str) -> str:
    """Return `Name <address>` as every writer puts it into a commit header.

    The name and the address lose `<`, `>`, NUL and all controls, and blanks at the ends; an empty one
    becomes `unknown`. Git, fast-import and libgit2 each clean names in their own way (measured), so we do
    it once, here, and write raw bytes.
    """
    name, separator, rest = text.partition("<")
    address = rest.rpartition(">")[0] if ">" in rest else rest
    if not separator:
        address = ""
    return f"{_clean(name) or 'unknown'} <{_clean(address).replace(' ', '') or 'unknown@unknown.invalid'}>"


def _clean(text: str) -> str:
    if not (text.isascii() and text.isprintable() and "<" not in text and ">" not in text):
        text = "".join(c for c in text if c not in "<>" and c not in characters.INVISIBLE)
    return text.strip(" ")


# --- writing ---------------------------------------------------------------------------------

#: Of these, bytes are evidence and stay as they came; all other text is brought to NFC.
VERBATIM = frozenset(("diff", "evidence", "fingerprint", "patterns"))


def build(fields: dict[str, object]) -> tuple[Event, bytes]:
    """Return the event made of `fields`, and its canonical bytes. Absent and empty fields are left out.

    Raises Malformed where the fields break the format.
    """
    clean: dict[str, object] = {}
    for name, value in fields.items():
        if value is None or (name not in COMMON and value in ("", [], (), {})):
            continue  # F7: a field without a value is absent
        if isinstance(value, tuple):
            value = list(value)
        if isinstance(value, str) and name not in VERBATIM and not value.isascii():
            value = unicodedata.normalize("NFC", value)
        clean[name] = value
    check(clean)
    try:
        data = canonical.encode(clean)
    except canonical.NotCanonical as error:
        raise Malformed(str(error)) from None
    if len(data) > EVENT_MAX:
        raise Malformed(f"{len(data):,} bytes, more than {EVENT_MAX:,}")
    return Event(ids.of(data), clean), data


def derived_nonce(kind: str, policy: str, moment: str, inputs: list[str]) -> str:
    """Return the nonce of a *derived* event, a pure function of the log (F14).

    The first 128 bits of SHA-256 over the canonical bytes of [kind, policy, moment, sorted inputs].
    """
    return hashlib.sha256(canonical.encode([kind, policy, moment, sorted(inputs)])).hexdigest()[:32]


# --- tombstones ------------------------------------------------------------------------------


def parse_tombstone(data: bytes) -> Event:
    """Return what is left of a redacted event. Raises Malformed."""
    try:
        fields = canonical.decode(data)
    except canonical.NotCanonical as error:
        raise Malformed(str(error)) from None
    for name, shape in (("id", _id), ("blob_sha1", _oid), ("blob_sha256", _oid), ("clock", _clock), ("recorded_at", _time)):
        if name not in fields:
            raise Malformed(f"{name} is missing")
        problem = shape(fields[name])
        if problem:
            raise Malformed(f"{name}: {problem}")
    mode = fields.get("redacted")
    if mode not in REDACTION_MODES:
        raise Malformed("redacted: not one of " + ", ".join(REDACTION_MODES))
    return Event(fields["id"], fields, redacted=mode)  # type: ignore[arg-type]


def tombstone(event: Event, data: bytes, mode: str, *, signature: bytes | None = None) -> bytes:
    """Return the canonical bytes of what stands in the place of `event` once it is redacted.

    A pure function of the event (its bytes are `data`), the mode and its signature, so that redactions
    made in two clones agree. Keeps the git oids of what it stands for, under both hashes, so that every
    commit oid of the log as it was can be computed from the new log alone.
    """
    kept: dict[str, object] = {name: event.fields[name] for name in STRUCTURAL if name in event.fields}
    if mode != "plain":
        kept.pop("approach", None)
    if mode == "entity":
        for name in ("entity_path", "entity_type", "renamed_from", "renames"):
            kept.pop(name, None)
    kept["id"] = event.id
    kept["redacted"] = mode
    for name, content in (("blob", data), ("signature", signature)):
        if content is not None:
            header = b"blob %d\0" % len(content)
            kept[f"{name}_sha1"] = hashlib.sha1(header + content, usedforsecurity=False).hexdigest()
            kept[f"{name}_sha256"] = hashlib.sha256(header + content).hexdigest()
    return canonical.encode(kept)
