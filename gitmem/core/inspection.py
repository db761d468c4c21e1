"""Inspection: what is wrong with a draft by itself, before any rule looks at the log.

Names the field, says what is wrong and, where a word is unknown, which one is nearest. What the format itself
forbids (sizes, control characters, shapes) is found when the event is built, and told in the same way.
Secrets are refused before anything else (`secrets`), so that no message here can show one.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.core import approach, characters, entities, events, secrets, vocabulary
from gitmem.core.drafts import Draft
from gitmem.errors import Refused

#: kind -> the field that has to say why
REASONS = {"change": "reasoning", "lesson": "core", "gist": "gist"} | dict.fromkeys(
    ("review", "mark", "override", "redact", "undo"), "reason"
)
_WORDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "change": ("change_type", tuple(vocabulary.CHANGE_TYPES)),
    "review": ("action", vocabulary.REVIEW_ACTIONS),
    "mark": ("action", vocabulary.MARK_ACTIONS),
    "link": ("how", vocabulary.LINK_HOWS),
    "use": ("how", vocabulary.USE_HOWS),
}
#: Those that `-r` gives.
_REASONED = ("reasoning", "reason")
#: What only `decide` writes.
_GIVEN = frozenset(("v", "kind", "clock", "nonce", "recorded_at", "author", "after", "channel", "tool", "effect"))


def checked(draft: Draft) -> Draft:
    """Return `draft` without what was left empty, and with its names in their canonical spelling.

    Raises Refused, with the field, where it can't become an event.
    """
    draft = secrets.cleared(draft)  # first: a refusal below may quote a field
    fields = {name: value for name, value in draft.fields.items() if value not in (None, "", [], ())}
    kind = draft.kind
    if kind not in vocabulary.KINDS:
        raise unknown("kind", kind, vocabulary.KINDS)
    for name in fields:
        if name in _GIVEN:
            raise Refused(field=name, what="gitmem writes that itself", hint="leave it out.")
    if kind in _WORDS:
        name, words = _WORDS[kind]
        if fields.get(name) not in words:
            raise unknown(name, fields.get(name, ""), words)
    if kind in REASONS and _is_blank(fields.get(REASONS[kind], "")):
        hint = "`-r WHY` says why, in a sentence." if REASONS[kind] in _REASONED else "say it in a sentence."
        raise Refused(field=REASONS[kind], what="is empty", hint=hint)
    if kind == "sleep":
        raise Refused(field="kind", what="a sleep follows from the log alone", hint="`git decisions sleep` writes it.")
    if kind == "change":
        _check_change(fields)
    elif kind in ("lesson", "gist"):
        _check_lesson(kind, fields)
    elif kind != "redact" and "targets" not in fields:
        raise Refused(field="targets", what="names no event", hint="give its id; `git decisions log` lists ids.")
    fields.setdefault("scope", "")
    return draft.with_fields(fields)


def unknown(field: str, given: object, words: Iterable[str]) -> Refused:
    """Return the refusal of a word that is none of `words`; it names the nearest one."""
    known = list(words)
    import difflib  # here: only a refusal needs it

    near = difflib.get_close_matches(str(given).lower().replace("-", "_"), known, 1, 0.5)
    what = f"{_quoted(given)} is none of {', '.join(known)}" if given else f"is missing; one of {', '.join(known)}"
    nearest = near[0] if near else ""
    return Refused(field=field, what=what, nearest=nearest, hint=f"did you mean `{nearest}`?" if nearest else "")


def malformed(error: events.Malformed) -> Refused:
    """Return the refusal that says what the format has against a draft."""
    field, colon, what = str(error).partition(": ")
    if not colon:
        field, _, what = str(error).partition(" ")
        if field not in events.SHAPES:
            return Refused(field="event", what=str(error), hint=_SHORTER if "bytes" in str(error) else "")
    hint = _SHORTER if what.startswith("longer than") else ""
    return Refused(field=field, what=what, hint=_ATTACH_DIFF if hint and field == "diff" else hint)


_SHORTER = "keep the gist here; `--attach FILE` seals the whole in the archive."
_ATTACH_DIFF = "`--attach diff` keeps its beginning here and seals the whole in the archive."


def _is_blank(text: object) -> bool:
    if isinstance(text, str) and text.isascii():
        return not any(" " < c < "\x7f" for c in text)  # the same, without spelling out the sets
    return isinstance(text, str) and not any(c not in characters.BLANKS and c not in characters.INVISIBLE for c in text)


def _check_change(fields: dict[str, object]) -> None:
    change_type = fields["change_type"]
    # A supersede may name its closings and leave it at that.
    if "entity_path" in fields or not (change_type == "supersede" and "supersedes" in fields):
        fields["entity_path"] = _entity("entity_path", fields.get("entity_path", ""))
        fields.setdefault("entity_type", entities.entity_type(str(fields["entity_path"])))
    if "renamed_from" in fields:
        if change_type != "rename":
            raise Refused(field="renamed_from", what="belongs to a rename", hint="record it as a `rename`.")
        fields["renamed_from"] = _entity("renamed_from", fields["renamed_from"])
    elif change_type == "rename":
        raise Refused(field="renamed_from", what="is missing", hint="`--rename-from NAME` gives the old name.")
    given = fields.get("entity_type")
    if given is not None and given not in vocabulary.ENTITY_TYPES:
        raise unknown("entity_type", given, vocabulary.ENTITY_TYPES)
    _check_approach(fields)
    expires = fields.get("expires_when")
    if isinstance(expires, str):
        from gitmem.core import revisit

        try:
            fields["expires_when"] = str(revisit.condition(expires))
        except revisit.BadCondition as error:
            raise Refused(field="expires_when", what=str(error)) from None
    begins, ends = fields.get("valid_from"), fields.get("valid_to")
    if isinstance(begins, str) and isinstance(ends, str) and ends < begins:
        raise Refused(field="valid_to", what=f"{ends} is before valid_from, {begins}", hint="turn the two around.")


def _check_lesson(kind: str, fields: dict[str, object]) -> None:
    """Bring the paths of a lesson to their spelling; a sentence that is too long is told by how much."""
    name = REASONS[kind]
    text = fields.get(name)
    length = len(characters.nfc(text.strip(characters.BLANKS))) if isinstance(text, str) else 0
    if length > events.LINE_MAX:
        raise Refused(
            field=name,
            what=f"is {length} characters long, and a lesson is one sentence of at most {events.LINE_MAX}",
            hint="say the point here; `--verbatim FILE` seals the whole story in the archive.",
        )
    paths = fields.get("paths")
    if isinstance(paths, (list, tuple)):
        fields["paths"] = list(dict.fromkeys(_entity("paths", path) for path in paths))
    targets = fields.get("targets", ())
    if kind == "gist" and not targets:
        raise Refused(field="targets", what="names no lesson", hint="give its id; `git decisions lessons` lists ids.")
    if isinstance(targets, (list, tuple)) and len(set(targets)) > 1:
        raise Refused(field="targets", what="names several lessons", hint="one at a time.")


def _check_approach(fields: dict[str, object]) -> None:
    given = fields.get("approach", "")
    if not isinstance(given, str) or not given:
        return
    try:
        approach.key(given)
    except approach.NoKey:
        if fields.get("source"):
            return  # history is taken as it is; such a text is known by itself (`approach.total_key`)
        raise Refused(
            field="approach",
            what=f"{_quoted(given)} holds no word to know it by",
            hint="say in a few words what was done, or leave it out.",
        ) from None


def _entity(field: str, given: object) -> str:
    if not given:
        raise Refused(field=field, what="is missing", hint="name what it is about: users.email, src/auth.py::login.")
    if not isinstance(given, str):
        raise Refused(field=field, what="is no text")
    try:
        return entities.canonical(given)
    except entities.BadName as error:
        raise Refused(
            field=field,
            what=f"{_quoted(given)} names no entity: {error}",
            hint="users.email, users, src/auth.py::login, src/auth.py, api/v1/users, deps/stripe, env/STRIPE_KEY.",
        ) from None


def _quoted(given: object) -> str:
    """Return what was given as one short, printable line."""
    text = "".join(c if c.isprintable() else "?" for c in str(given))
    return f"`{text[:80]}…`" if len(text) > 80 else f"`{text}`"
