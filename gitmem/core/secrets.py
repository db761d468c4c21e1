"""Secrets: what is refused before anything is written, because what is written stays.

`scan` says what in a text looks like a secret; `cleared` goes over each text of a draft, before anything else reads
it, and refuses it, puts a typed marker in the secret's place, or lets it through for a person who says so. The text
itself is in no message.

An everyday text must cost next to nothing: a look for a few hundred literals and words, and only what holds one
goes to `secret_shapes`, which knows the rules and is loaded then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitmem.core import secret_tokens
from gitmem.core.drafts import Draft, Writer
from gitmem.errors import Refused, RuleViolation


class Hit:
    """A place that looks like a secret.

    kind        what it looks like, as a noun: "GitHub token"
    field       the field that holds it
    start, end  its place in the text, in characters
    """

    __slots__ = ("end", "field", "kind", "start")

    def __init__(self, kind: str, field: str, start: int, end: int) -> None:
        self.kind = kind
        self.field = field
        self.start = start
        self.end = end


#: Fields whose value is an id, a number, a time of ours, or one of a set of words that the format checks.
NO_TEXT = frozenset(("v", "clock", "after", "nonce", "tree", "patch_id", "replaces", "fingerprint", "old_tip", "count"))
#: Names: their marker is spelt so that it is a name too.
NAMES = frozenset(("entity_path", "renamed_from", "scope", "renames"))

ADVICE = "keep the location, never the value."


#: A rule of a project's own: what it finds, the letters it begins with, the pattern.
Own = tuple[str, str, str]


def scan(field: str, text: str, own: Sequence[Own] = ()) -> list[Hit]:
    """Return what in `text`, the value of `field`, looks like a secret: from left to right, none within another.

    `own` are the project's own rules (`own_rules`).
    """
    if not _is_suspicious(text, own):
        _remember(text)
        return []
    from gitmem.core import secret_shapes

    found = [Hit(kind, field, start, end) for kind, start, end in secret_shapes.find(text, own)]
    if not found and not own:
        _remember(text)
    return found


def own_rules(raw: Mapping[str, object]) -> tuple[Own, ...]:
    """Return the rules in the table `[secrets]` of a parsed `.decisions.toml`. Raises Refused where one can't be used.

    [secrets.patterns]
    "build token" = "acme_[A-Za-z0-9]{32}"
    """
    table = raw.get("secrets")
    if not table:
        return ()
    from gitmem.core import secret_shapes

    return secret_shapes.own_rules(table)


def marker(kind: str, field: str = "") -> str:
    """Return what stands in the place of a secret of `kind` in `field`."""
    if field in NAMES:
        return "secret-" + "-".join("".join(c if c.isalnum() else " " for c in kind).lower().split())
    return f"[secret: {kind}]"


def redacted(text: str, hits: Iterable[Hit]) -> str:
    """Return `text` with a marker in the place of each of its `hits`."""
    pieces, at = [], 0
    for hit in hits:
        pieces += [text[at : hit.start], marker(hit.kind, hit.field)]
        at = hit.end
    return "".join(pieces) + text[at:]


def cleared(draft: Draft, own: Sequence[Own] = (), *, hits: list[Hit] | None = None) -> Draft:
    """Return `draft` without secrets; what was found goes into `hits`.

    With `redact_secrets`, in history (`source`) and in links, a marker stands in the place of each. With `allow_secret`
    they stay, and the event says so. Otherwise raises Refused, which names field and kind and nothing of the text.
    """
    found = [] if hits is None else hits
    fields = draft.fields
    if "allow_secret" in fields and not draft.allow_secret:
        raise Refused(field="allow_secret", what="gitmem writes that itself", hint="leave it out.")
    # All texts in one look, but for those that were looked at before (by the rules that everyone has).
    texts = [text for text in _texts(fields) if own or text not in _clean]
    if not texts:
        return draft
    if not _is_suspicious("\n".join(texts), own):
        for text in texts:
            _remember(text)
        return draft
    redact = draft.redact_secrets or draft.kind == "link" or bool(fields.get("source"))
    clean: dict[str, object] = {}
    for name, value in fields.items():
        here: list[Hit] = []
        replaced = _walk(name, value, own, here)
        # What we take from git ourselves (the branch) is nothing that a writer could say otherwise.
        replace = redact or name == "base"
        if here and not (replace or draft.allow_secret):
            raise refusal(here[0], change=draft.kind == "change")
        clean[name] = replaced if here and replace else value
        found += here
    if found and draft.allow_secret and not redact:
        clean["allow_secret"] = True
    return draft.with_fields(clean) if found else draft


def held(fields: Mapping[str, object], own: Sequence[Own] = ()) -> list[Hit]:
    """Return what looks like a secret in the fields of an event that is written already."""
    hits: list[Hit] = []
    if fields.get("allow_secret") is True or not _is_suspicious("\n".join(_texts(fields)), own):
        return hits
    for name, value in fields.items():
        _walk(name, value, own, hits)
    return hits


def cleared_history(drafts: Iterable[Draft], own: Sequence[Own], hits: list[Hit]) -> Iterator[Draft]:
    """Yield the `drafts` of an importer with markers for secrets; what was found goes into `hits`."""
    for draft in drafts:
        yield cleared(draft, own, hits=hits)


def check_writer(writer: Writer, draft: Draft) -> None:
    """Refuse `allow_secret` to everyone but a person (G7), and a secret in what the process says of its writer.

    Raises RuleViolation, Refused.
    """
    if draft.allow_secret:
        if not writer.is_person:
            raise RuleViolation(
                what="only a person may store what looks like a secret (--allow-secret)",
                hint="run this in your own terminal, or say --redact-secrets.",
            )
        return
    for name, text in (("agent", writer.agent), ("session_id", writer.session_id)):
        for hit in scan(name, text):
            raise refusal(hit, change=draft.kind == "change")


def told(hits: Iterable[Hit]) -> list[str]:
    """Return a sentence for each secret that a marker took the place of."""
    return [f"{hit.field}: a marker stands in the place of what looks like {_a(hit.kind)}" for hit in hits]


def counted(hits: Sequence[Hit]) -> list[str]:
    """Return one sentence on all secrets of an import, or none."""
    if not hits:
        return []
    kinds: dict[str, int] = {}
    for hit in hits:
        kinds[hit.kind] = kinds.get(hit.kind, 0) + 1
    listed = ", ".join(f"{kind} {number:,}" for kind, number in sorted(kinds.items()))
    return [f"{len(hits):,} secrets in the history were replaced by markers ({listed})"]


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiouAEO' else 'a'} {kind}"


def refusal(hit: Hit, *, change: bool) -> Refused:
    """Return what is said of a secret: the field and the kind, and nothing of the text.

    `change`: it is of a change, whose commands have the flag that stores a marker.
    """
    hint = f"{ADVICE} `--redact-secrets` stores a marker in its place." if change else ADVICE
    return Refused(
        field=hit.field,
        what=f"looks like {_a(hit.kind)}",
        hint=hint,
        secret=hit.kind,
    )


# --- the texts of a draft -----------------------------------------------------------------------


def _texts(value: object) -> list[str]:
    found: list[str] = []
    _collect(value, found)
    return found


def _collect(value: object, found: list[str]) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in NO_TEXT:
                continue
            if type(inner) is str:
                found.append(inner)
            else:
                _collect(inner, found)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for inner in value:
            _collect(inner, found)
    elif isinstance(value, str):
        found.append(value)


def _walk(field: str, value: object, own: Sequence[Own], hits: list[Hit]) -> object:
    """Return `value` with markers, and put what was found into `hits`."""
    if isinstance(value, str):
        found = scan(field, value, own) if field not in NO_TEXT else []
        hits += found
        return redacted(value, found) if found else value
    if isinstance(value, dict):
        return {name: value[name] if name in NO_TEXT else _walk(field, value[name], own, hits) for name in value}
    if isinstance(value, (list, tuple, set, frozenset)) and field not in NO_TEXT:
        return [_walk(field, inner, own, hits) for inner in value]
    return value


# --- the first look -----------------------------------------------------------------------------

_SIGNS = tuple(
    sign for sign in secret_tokens.SIGNS if sign not in secret_tokens.EVERYDAY and sign not in secret_tokens.SPACED
)
#: What a name of a secret holds, and how far from there the sign stands that gives it a value, at most.
_STEMS = ("pass", "pwd", "secret", "token", "key")
_REACH = 24

#: Texts that hold no secret by the rules that everyone has: a draft is looked at several times on its way.
#: An importer's go by a thousand drafts at a time, so that many are kept, of so many characters in all.
_clean: set[str] = set()
_CLEAN_MAX, _CLEAN_LENGTH_MAX = 20_000, 4 << 20
_clean_length = 0


def _is_suspicious(text: str, own: Sequence[Own] = ()) -> bool:
    """Say whether `text` holds a sign of a secret at all. A few microseconds for a reason of everyday length.

    What `secret_shapes.find` finds something in is suspicious: a law of the tests.
    """
    for _, sign, _ in own:
        if sign in text:
            return True
    if len(text) < 6 or text in _clean:
        return False
    return ("://" in text and "@" in text) or _holds_token(text) or _gives_value(text)


def _remember(text: str) -> None:
    global _clean_length
    if text in _clean:
        return
    if len(_clean) >= _CLEAN_MAX or _clean_length >= _CLEAN_LENGTH_MAX:
        _clean.clear()
        _clean_length = 0
    _clean.add(text)
    _clean_length += len(text)


def _holds_token(text: str) -> bool:
    for sign in secret_tokens.SPACED:
        if sign in text:
            return True
    # A token is one long word, and prose has few of them: only those are looked at.
    words = [word for word in text.split() if len(word) >= secret_tokens.SHORTEST]
    if not words:
        return False
    long = " ".join(words)
    for sign in _SIGNS:
        if sign in long:
            return True
    longer = " ".join([word for word in words if len(word) >= secret_tokens.LONG])
    return bool(longer) and any(sign in longer for sign in secret_tokens.EVERYDAY)


def _gives_value(text: str) -> bool:
    """Say whether a name of a secret is followed by a sign, or told in a sentence or to a command."""
    low = text.lower() if text.isascii() else text.casefold()
    if "bearer" in low or "authorization" in low:
        return True
    signed = "=" in text or ":" in text or ">" in text
    for stem in _STEMS if signed else _STEMS[:2]:
        at = low.find(stem)
        while at >= 0:
            near = low[at : at + _REACH].partition("\n")[0]
            if "=" in near or ":" in near or ">" in near:
                return True
            if stem[0] == "p" and (" is " in near or " was " in near or low[at - 1 : at] == "-"):
                return True
            at = low.find(stem, at + 1)
    return False
