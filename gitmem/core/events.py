"""Events: what one is made of, how its bytes are read, and what makes bytes no event.

`parse` is a total reader: it accepts every event that follows the format, keeps fields it does not
know, and takes what a newer gitmem wrote as *newer*. `build` is the strict writer: it refuses more, and
brings text to one spelling. Both use the one table `SHAPES`; `docs/format.md` is that table in prose, rule
by rule (F…).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from gitmem.core import canonical, characters, digests, ids
from gitmem.core.vocabulary import (
    BASES,
    BINDINGS,
    CHANGE_TYPES,
    CHANNELS,
    EFFECTS_WRITTEN,
    LINK_HOWS,
    MARK_ACTIONS,
    REDACTION_MODES,
    REVIEW_ACTIONS,
    SLEEP_ACTIONS,
    USE_HOWS,
    VERSION,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Bounds in bytes of UTF-8. Every field has one: no event can break a listing by its size.
TEXT_MAX = 64 * 1024
FIELD_MAX = 4 * 1024
ENTITY_MAX = 1024
EVENT_MAX = 256 * 1024
#: A tombstone may keep nearly all of a large event (its ids), and adds its own id and four oids.
TOMBSTONE_MAX = EVENT_MAX + 1024
LIST_MAX = 4096
#: The sentence of a lesson, in characters.
LINE_MAX = 280
PATHS_MAX = 64


class Malformed(ValueError):
    """The bytes are no event; the message says why."""


# --- the fields ------------------------------------------------------------------------------

#: What a name means, everywhere and for ever: one name has one shape, in each kind and in every version, so
#: that an older gitmem can read what it must of a newer event (F6). The shapes are in `shapes.BY_NAME`; a
#: tuple is a closed set of words, which only a higher `v` may extend.
SHAPES: dict[str, str | tuple[str, ...]] = {
    "v": "version",
    "kind": "word",
    "clock": "clock",
    "nonce": "nonce",
    "recorded_at": "time",
    "author": "author",
    "after": "ids",
    "scope": "scope",
    "channel": CHANNELS,
    "basis": BASES,
    "tool": "field",
    "agent": "field",
    "session_id": "field",
    "policy": "field",
    "source": "field",
    "allow_secret": "flag",
    "entity_path": "entity",
    "entity_type": "word",
    "change_type": "word",
    "reasoning": "text",
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
    "fingerprint": "fingerprint",
    "patterns": "patterns",
    "anchors": "anchors",
    "base": "base",
    "evidence": "fields",
    "tags": "fields",
    "commit": "oid",
    "tree": "oid",
    "patch_id": "oid",
    "how": "word",
    "replaces": "oids",
    "renames": "pairs",
    "confidence": "word",
    "action": "word",
    "reason": "text",
    "until": "time",
    "for_session": "field",
    "mode": REDACTION_MODES,
    "old_tip": "oid",
    "before": "time",
    "count": "count",
    "merkle_root": "id",
    "core": "line",
    "gist": "line",
    "topic": "field",
    "paths": "entities",
    "outcome": "outcome",
    "cost": "amount",
    "severity": "percent",
    "binding": BINDINGS,
    "was": "object",
    "becomes": "object",
}
#: What every event of every version has: enough to place it, to spell its commit and to run *saw* through it.
ENVELOPE = ("v", "kind", "clock", "recorded_at", "author", "after")
#: What every event of format 1 has, whatever its kind, and what it may have.
COMMON = (*ENVELOPE, "nonce", "scope", "channel", "basis", "tool")
COMMON_OPTIONAL = ("agent", "session_id", "policy", "source", "allow_secret")
#: What an event of a kind has besides, and what it may have. A name that stands in neither is, in that kind, an
#: unknown field: kept, and without effect.
REQUIRED: dict[str, tuple[str, ...]] = {
    "change": ("entity_path", "entity_type", "change_type", "reasoning"),
    "link": ("targets", "commit", "how"),
    "review": ("action", "targets", "reason"),
    "mark": ("action", "targets", "reason"),
    "override": ("targets", "reason"),
    "redact": ("reason", "mode", "old_tip"),
    "lesson": ("core",),
    "gist": ("targets", "gist"),
    "use": ("targets", "how"),
    "sleep": ("action", "targets"),
    "undo": ("targets", "reason"),
}
OPTIONAL: dict[str, tuple[str, ...]] = {
    "change": (
        "approach",
        "instead",
        "constraint",
        "diff",
        "supersedes",
        "targets",
        "effect",
        "renamed_from",
        "valid_from",
        "valid_to",
        "revisit_after",
        "stale_when",
        "expires_when",
        "changeset_id",
        "fingerprint",
        "patterns",
        "anchors",
        "base",
        "evidence",
        "tags",
    ),
    "link": ("tree", "patch_id", "replaces", "renames", "evidence", "confidence"),
    "review": ("effect", "evidence"),
    "mark": ("until",),
    "override": ("for_session",),
    "redact": ("targets", "before", "count", "merkle_root"),
    "lesson": ("topic", "paths", "outcome", "cost", "severity", "binding", "targets", "evidence", "base", "tags"),
    "gist": ("reason",),
    "use": ("commit", "paths", "evidence"),
    "sleep": ("was", "becomes"),
    "undo": ("was", "becomes"),
}
#: A word of these that we do not know makes the event newer, not malformed (R12).
OPEN_WORDS = {
    "change": ("change_type", frozenset(CHANGE_TYPES)),
    "link": ("how", frozenset(LINK_HOWS)),
    "review": ("action", frozenset(REVIEW_ACTIONS)),
    "mark": ("action", frozenset(MARK_ACTIONS)),
    "use": ("how", frozenset(USE_HOWS)),
    "sleep": ("action", frozenset(SLEEP_ACTIONS)),
}
#: What a tombstone keeps of an event (F26); all else goes. Frozen for `v` 1: two clones that redact one event
#: must write one tombstone, so a field that a later release adds can't join this list.
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
    "commit",
    "how",
)


#: What each kind needs, the common fields included.
_REQUIRED = {kind: (*COMMON, *REQUIRED[kind]) for kind in REQUIRED}


class Event:
    """An immutable fact. Structural fields are attributes; everything is in `fields`.

    `fields` is the object as its canonical bytes spell it (of a tombstone: what is left). Treat both
    as read-only. A field that the event does not have, or that its kind has no use for, is "" or () or 0
    here, by its shape.
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
    #: "" or the form of the tombstone that stands in the event's place: plain, approach, entity; or
    #: `UNREADABLE`, for bytes that never were an event: then only `id` is known.
    redacted: str

    def __init__(self, event_id: str, fields: dict[str, object], *, redacted: str = "") -> None:
        get: Any = fields.get  # the shapes are checked before an Event is made
        self.id = event_id
        self.fields = fields
        self.redacted = redacted
        self.kind = get("kind", "")
        self.newer = is_newer(fields)
        self.clock = get("clock", 0)
        self.scope = get("scope", "")
        self.author = get("author", "")
        self.channel = get("channel", "")
        self.basis = get("basis", "")
        self.source = get("source", "")
        self.recorded_at = get("recorded_at", "")
        # *saw* runs through these in every kind (R12)
        self.after = tuple(get("after", ()))
        self.supersedes = tuple(get("supersedes", ()))
        self.targets = tuple(get("targets", ()))
        foreign = _FOREIGN.get(self.kind)
        if foreign and not fields.keys().isdisjoint(foreign):
            get = {name: value for name, value in fields.items() if name not in foreign}.get
        self.change_type = get("change_type", "")
        self.action = get("action", "")
        self.entity_path = get("entity_path", "")
        self.approach = get("approach", "")
        self.effect = get("effect", "")
        self.valid_from = get("valid_from", "")
        self.renamed_from = get("renamed_from", "")
        self.until = get("until", "")

    def __repr__(self) -> str:
        what = self.change_type or self.action or self.fields.get("how", "")
        return f"<Event {ids.short(self.id)} {self.kind} {what} {self.entity_path}>"


# kind -> the attributes of Event that it has no use for: a review with a `change_type` is none the more a change
_FOREIGN = {
    kind: frozenset(
        ("change_type", "action", "entity_path", "approach", "effect", "valid_from", "renamed_from", "until")
    ).difference(REQUIRED[kind], OPTIONAL[kind])
    for kind in REQUIRED
}


# --- reading ---------------------------------------------------------------------------------


def parse(data: bytes) -> Event:
    """Return the event whose canonical bytes are `data`. Raises Malformed, and nothing else."""
    if len(data) > EVENT_MAX:
        raise Malformed(f"{len(data):,} bytes, more than {EVENT_MAX:,}")  # F5
    try:
        fields = canonical.decode(data)
    except canonical.NotCanonical as error:
        raise Malformed(str(error)) from None
    check(fields)
    return Event(ids.of(data), fields)


def is_newer(fields: Mapping[str, object]) -> bool:
    """Say whether a newer gitmem wrote this: a higher `v`, an unknown kind, or an unknown word (F15, R12)."""
    if fields.get("v") != VERSION:
        return True
    kind = fields.get("kind")
    if type(kind) is not str or kind not in REQUIRED:
        return True
    word = OPEN_WORDS.get(kind)
    return word is not None and fields.get(word[0]) not in word[1]


def check(fields: Mapping[str, object]) -> None:
    """Raise Malformed where `fields` break the format; unknown fields and words pass (F6).

    The strings of `fields` have to be free of lone surrogates, as `canonical.decode` leaves them.
    """
    from gitmem.core import shapes

    problem = "is missing" if "v" not in fields else shapes.version(fields["v"])
    if problem:
        raise Malformed("v is missing" if "v" not in fields else f"v: {problem}")
    ours = fields["v"] == VERSION
    kind = fields.get("kind")
    required = _REQUIRED.get(kind, COMMON) if ours and type(kind) is str else ENVELOPE
    for name in required:
        if name not in fields:
            raise Malformed(f"{name} is missing")
    shapes.check(fields, shapes.CHECKS if ours else shapes.CHECKS_LATER)
    if ours and kind == "redact" and "targets" not in fields and "merkle_root" not in fields:
        raise Malformed("targets is missing")


# --- authors ---------------------------------------------------------------------------------

#: The author of what no person wrote: the root, joins, and derived events.
NOBODY = "gitmem <gitmem@gitmem.invalid>"

_NO_NAME, _NO_ADDRESS = "unknown", "unknown@unknown.invalid"


@lru_cache(maxsize=32)  # an import has a thousand events of one author
def clean_author(text: str) -> str:
    """Return `Name <address>` as every writer puts it into a commit header (F10).

    The last `<` parts name and address. Both lose `<`, `>` and every invisible character, the address its
    blanks, the name the blanks at its ends; an empty one becomes `unknown`. Git, fast-import and libgit2
    each clean names in their own way (measured), so we do it once, here, and write raw bytes.
    """
    name, opened, rest = text.rpartition("<")
    if not opened:
        name, rest = text, ""
    address = _clean(rest.rpartition(">")[0] if ">" in rest else rest)
    address = "".join(c for c in address if c not in characters.BLANKS)
    return f"{_clean(name) or _NO_NAME} <{address or _NO_ADDRESS}>"


def _clean(text: str) -> str:
    if not (text.isascii() and text.isprintable() and "<" not in text and ">" not in text):
        text = "".join(c for c in text if c not in "<>" and c not in characters.INVISIBLE)
    return text.strip(characters.BLANKS)


# --- writing ---------------------------------------------------------------------------------

#: Of these a text stays as it was given: it is one of the words, ids or times that the format knows, or it is refused.
_AS_GIVEN = frozenset(
    name
    for name, shape in SHAPES.items()
    if type(shape) is tuple or shape in ("version", "word", "clock", "nonce", "time", "ids", "ids+", "oid", "oids")
)
#: Of these, bytes are evidence and stay as they came; all other text is brought to one spelling.
VERBATIM = frozenset(("diff", "evidence", "fingerprint", "patterns", "anchors", "base"))


def build(fields: Mapping[str, object]) -> tuple[Event, bytes]:
    """Return the event made of `fields`, and its canonical bytes. Absent and empty fields are left out.

    Brings what it is given to its written spelling (F19): text to NFC, trimmed, line ends as line feeds in long
    text and as blanks elsewhere; sets of ids sorted; the author cleaned. Of what came from elsewhere (`source`),
    controls become U+FFFD.
    Raises Malformed where the fields break the format, hold a control, or have no place in their kind.
    """
    foreign = fields.get("source") not in (None, "")
    clean: dict[str, object] = {}
    for name, value in fields.items():
        if type(value) is not str or not (name in _AS_GIVEN or (name != "author" and _is_plain(value))):
            value = _spelt(name, value, foreign=foreign)
        if value is None or (name not in COMMON and value in ("", [], {})):
            continue  # F7: a field without a value is absent
        clean[name] = value
    if clean.get("v") != VERSION:
        raise Malformed(f"v: this gitmem writes {VERSION}")
    kind = clean.get("kind")
    written = _WRITTEN.get(kind) if type(kind) is str else None
    if written is None:
        raise Malformed(f"kind: not one of {', '.join(REQUIRED)}")
    for name in clean:
        if name not in written:
            raise Malformed(f"{name}: no field of {kind}")
    try:
        data = canonical.encode(clean)
    except canonical.NotCanonical as error:
        raise Malformed(str(error)) from None
    check(clean)
    _check_written(clean)
    if len(data) > EVENT_MAX:
        raise Malformed(f"{len(data):,} bytes, more than {EVENT_MAX:,}")
    return Event(ids.of(data), clean), data


_WRITTEN = {kind: frozenset((*COMMON, *COMMON_OPTIONAL, *REQUIRED[kind], *OPTIONAL[kind])) for kind in REQUIRED}


def _check_written(fields: Mapping[str, object]) -> None:
    """Refuse what a reader takes and a writer must not write."""
    open_word = OPEN_WORDS.get(str(fields["kind"]))
    if open_word is not None and fields[open_word[0]] not in open_word[1]:
        raise Malformed(f"{open_word[0]}: not one of {', '.join(sorted(open_word[1]))}")
    valid_from, valid_to = fields.get("valid_from"), fields.get("valid_to")
    if isinstance(valid_from, str) and isinstance(valid_to, str) and valid_to < valid_from:
        raise Malformed("valid_to: before valid_from")


def _is_plain(text: str) -> bool:
    """Say whether `text` is spelt right whatever it is: nothing in it to compose, to trim or to take for a control."""
    return text.isascii() and text.isprintable() and text[:1] != " " and text[-1:] != " "


def _spelt(name: str, value: object, *, foreign: bool) -> object:
    """Return `value` as the field `name` is written (F19); None and what has another shape come back as they are."""
    if isinstance(value, (list, tuple, set, frozenset)):
        shape = SHAPES.get(name)
        if shape in ("ids", "ids+") and all(type(inner) is str for inner in value):
            return sorted(set(value))
        return [_spelt(name, inner, foreign=foreign) for inner in value]
    if type(value) is not str:
        return value
    shape = SHAPES.get(name)
    if name in VERBATIM:
        return _verbatim(name, value, foreign=foreign)
    if name == "author":
        return characters.nfc(clean_author(value))
    if shape in ("entity", "entities", "scope", "pairs"):
        return characters.nfc(value)
    if shape not in ("text", "field", "fields", "line"):
        return value
    if not (value.isascii() and value.isprintable()):
        if shape == "text":
            value = value.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        else:
            from gitmem.core import shapes

            value = shapes.BREAKS.sub(" ", value)
        control = characters.first_control(value)
        if control and not foreign:
            raise Malformed(f"{name}: holds the control character U+{ord(control):04X}")
        if control:
            value = "".join("\ufffd" if c in characters.CONTROLS else c for c in value)
    return characters.nfc(value.strip(characters.BLANKS))


def _verbatim(name: str, value: str, *, foreign: bool) -> str:
    # Evidence keeps its bytes. Only what a JSON string can't carry everywhere goes: NUL and lone surrogates.
    unfit = "\0" in value or (not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value))
    if unfit and not foreign:
        raise Malformed(f"{name}: holds a NUL, or bytes that are no UTF-8")
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in value) if unfit else value


def derived_nonce(kind: str, policy: str, moment: str, inputs: Iterable[str]) -> str:
    """Return the nonce of a *derived* event, a pure function of the log (F14).

    The first 128 bits of SHA-256 over the canonical bytes of [kind, policy, moment, sorted inputs].
    """
    return digests.sha256(canonical.encode([kind, policy, moment, sorted(inputs)])).hexdigest()[:32]


#: What else is the same in each derived event, whoever's clone writes it (F14).
DERIVED = {"author": NOBODY, "channel": "script", "basis": "none", "tool": "gitmem"}


# --- tombstones ------------------------------------------------------------------------------

#: The form of a tombstone that stands for bytes which never were an event: nothing of them is known.
UNREADABLE = "unreadable"

# What a form hides of STRUCTURAL. The forms are steps of one ladder: each hides what the one before hides.
_HIDDEN: dict[str, tuple[str, ...]] = {
    "plain": (),
    "approach": ("approach",),
    "entity": ("approach", "entity_path", "entity_type", "renamed_from", "renames"),
}
_STANDS_FOR = ("id", "redacted", "blob_sha1", "blob_sha256")
_SIGNED = ("signature_sha1", "signature_sha256")


def hides(form: str) -> int:
    """Return how much a form hides, to be compared: 0 for an event that is whole, and for bytes that were none."""
    return REDACTION_MODES.index(form) + 1 if form in REDACTION_MODES else 0


def parse_tombstone(data: bytes) -> Event:
    """Return what is left of a redacted event. Raises Malformed, and nothing else.

    A tombstone is a pure function of its event, so one of format 1 that holds anything but what F26 keeps
    is none.
    """
    if len(data) > TOMBSTONE_MAX:
        raise Malformed(f"{len(data):,} bytes, more than {TOMBSTONE_MAX:,}")
    try:
        fields = canonical.decode(data)
    except canonical.NotCanonical as error:
        raise Malformed(str(error)) from None
    from gitmem.core import shapes

    own = (*_STANDS_FOR, *_SIGNED) if any(name in fields for name in _SIGNED) else _STANDS_FOR
    for name in own:
        if name not in fields:
            raise Malformed(f"{name} is missing")
    shapes.check(fields, shapes.TOMBSTONE)
    form = str(fields["redacted"])
    kept: Iterable[str] = ()
    if form != UNREADABLE:
        _check_kept(fields, form)
        kept = _KEPT[form] if fields["v"] == VERSION else fields
    for name in fields:
        if name not in own and name not in kept:
            raise Malformed(f"{name}: no field of such a tombstone")
    return Event(str(fields["id"]), fields, redacted=form)


def _check_kept(fields: Mapping[str, object], form: str) -> None:
    from gitmem.core import shapes

    problem = "is missing" if "v" not in fields else shapes.version(fields["v"])
    if problem:
        raise Malformed("v is missing" if "v" not in fields else f"v: {problem}")
    ours = fields["v"] == VERSION
    kind = fields.get("kind")
    for name in _REQUIRED.get(kind, COMMON) if ours and type(kind) is str else ENVELOPE:
        if name in _KEPT[form] and name not in fields:
            raise Malformed(f"{name} is missing")
    shapes.check(fields, shapes.CHECKS if ours else shapes.CHECKS_LATER)


_KEPT = {form: frozenset(STRUCTURAL).difference(hidden) for form, hidden in _HIDDEN.items()}


def tombstone(event: Event, data: bytes, form: str, *, signature: bytes | None = None) -> bytes:
    """Return the canonical bytes of what stands in the place of `event` once it is redacted.

    A pure function of the event (its bytes are `data`), the form (of `REDACTION_MODES`) and its signature, so
    that redactions made in two clones agree. Keeps the git oids of what it stands for, under both hashes, so
    that commit oids of the log as it was can be computed from the new log alone (F27).
    Raises Malformed for an event of a higher `v`: what is structural in it, only a newer gitmem knows.
    """
    if event.redacted:
        raise ValueError("it is a tombstone already; `hide` makes it hide more")
    if event.fields["v"] != VERSION:
        raise Malformed(f"v: {event.fields['v']}, and only a gitmem that knows it can redact it")
    kept = {name: event.fields[name] for name in STRUCTURAL if name in event.fields and name in _KEPT[form]}
    return canonical.encode(kept | _stands_for(event.id, form, data, signature))


def tombstone_of_bytes(event_id: str, data: bytes, *, signature: bytes | None = None) -> bytes:
    """Return the tombstone of a quarantined file `<event_id>.json` whose bytes `data` are no event."""
    return canonical.encode(_stands_for(event_id, UNREADABLE, data, signature))


def hide(data: bytes, form: str) -> bytes:
    """Return the tombstone `data` in the form `form`, or as it is where it hides as much already.

    The more hidden form wins: `hide(hide(t, a), b) == hide(hide(t, b), a)`. Raises Malformed.
    """
    event = parse_tombstone(data)
    if event.redacted == UNREADABLE or hides(form) <= hides(event.redacted):
        return data
    kept = {name: value for name, value in event.fields.items() if name not in _HIDDEN[form]}
    return canonical.encode(kept | {"redacted": form})


def _stands_for(event_id: str, form: str, data: bytes, signature: bytes | None) -> dict[str, object]:
    own: dict[str, object] = {"id": event_id, "redacted": form}
    for name, content in (("blob", data), ("signature", signature)):
        if content is not None:
            header = b"blob %d\0" % len(content)
            own[f"{name}_sha1"] = digests.sha1(header + content).hexdigest()
            own[f"{name}_sha256"] = digests.sha256(header + content).hexdigest()
    return own
