"""Conditions under which a decision wants another look, as a closed grammar.

library:NAME>=VERSION    a dependency of this project reached a version
entity:PATH:changes      something was recorded on another entity
date:ISO                 a day came
manual:LABEL             a person says so
"""

from __future__ import annotations

from gitmem.core import dates, entities, objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.events import Event

#: The fields that make a decision one that may want another look.
FIELDS = ("revisit_after", "stale_when", "expires_when")
FORMS = "library:NAME>=VERSION, entity:PATH:changes, date:2026-11-30 or manual:LABEL"


class BadCondition(ValueError):
    """The text is no condition; the message says why."""


class Condition:
    """An `expires_when`, taken apart: its kind (library, entity, date, manual), its subject and its bound."""

    __slots__ = ("bound", "kind", "subject")

    def __init__(self, kind: str, subject: str, bound: str = "") -> None:
        self.kind = kind
        self.subject = subject
        self.bound = bound

    def __str__(self) -> str:
        """The one spelling of the condition."""
        match self.kind:
            case "library":
                return f"library:{self.subject}>={self.bound}"
            case "entity":
                return f"entity:{self.subject}:changes"
        return f"{self.kind}:{self.subject}"


def condition(text: str) -> Condition:
    """Return the condition that `text` states. Raises BadCondition."""
    kind, colon, rest = text.strip().partition(":")
    kind, rest = kind.strip().lower(), rest.strip()
    if not colon or not rest or kind not in ("library", "entity", "date", "manual"):
        raise BadCondition(f"{text[:80]!r} is no condition; one of {FORMS}")
    if kind == "library":
        name, comparison, version = rest.partition(">=")
        name, version = name.strip(), version.strip()
        if not comparison or not name or not _is_version(version):
            raise BadCondition(
                f"{text[:80]!r}: a library condition is library:NAME>=VERSION, as in library:react>=19.1"
            )
        return Condition(kind, name, version)
    if kind == "entity":
        path, _, event = rest.rpartition(":")
        if event != "changes" or not path:
            raise BadCondition(f"{text[:80]!r}: an entity condition is entity:PATH:changes")
        try:
            return Condition(kind, entities.canonical(path))
        except entities.BadName as error:
            raise BadCondition(f"{text[:80]!r}: {error}") from None
    if kind == "date":
        try:
            return Condition(kind, dates.instant(rest))
        except dates.BadTime as error:
            raise BadCondition(str(error)) from None
    return Condition(kind, rest)


def due(event: Event) -> str:
    """Return the first time at which the conditions of `event` that name a time are met, "" where none does."""
    found = []
    after = event.fields.get("revisit_after")
    if isinstance(after, str) and after:
        try:
            found.append(dates.of_seconds(objects.seconds(event.valid_from or event.recorded_at) + dates.span(after)))
        except dates.BadTime:
            try:
                found.append(dates.instant(after))
            except dates.BadTime:
                pass
    expires = event.fields.get("expires_when")
    if isinstance(expires, str) and expires.lstrip()[:4].lower() == "date":
        try:
            found.append(condition(expires).subject)
        except BadCondition:
            pass
    return min(filter(None, found), default="")


def _is_version(text: str) -> bool:
    parts = text.split(".")
    return len(text) <= 64 and all(part.isascii() and part.isdigit() for part in parts)
