"""Steps: all that happened to one lesson (or rule), each with its exact before and after. Pure.

Each event is put on top of those before it, and what the book made of the lesson then is held against what it makes
of it now. So a history can say nothing else than the book: its last step ends in the state that the book has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gitmem.core.lessons.book import DIGEST, Book, Standing
from gitmem.core.marks import held, spelled
from gitmem.core.reviews import aimed
from gitmem.core.verdicts import judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.events import Event
    from gitmem.core.lessons.policies import Policy

#: Kinds by which verdicts differ; the others may be added without judging anew.
_DECIDING = ("lesson", "gist", "mark", "review", "undo")


class Step:
    """One event, what it was to the subject (`what`), and what differed by it: names of `state` with their values."""

    __slots__ = ("after", "before", "event", "what")

    def __init__(self, event: Event, what: str, before: dict[str, object], after: dict[str, object]) -> None:
        self.event = event
        self.what = what
        self.before = before
        self.after = after


def replay(events: Iterable[Event], subject: str, policy: Policy, moment: str) -> list[Step]:
    """Return the steps of a lesson, or of the rule of a promotion, up to a moment.

    events   all that concerns the subject: what targets it and what that leads to, with marks and reviews
    """
    ordered = sorted(
        (event for event in events if not event.newer), key=lambda one: (one.recorded_at, one.clock, one.id)
    )
    steps: list[Step] = []
    seen: list[Event] = []
    standing = _standings(seen)
    for event in ordered:
        at = min(event.recorded_at, moment)
        before = _state(Book(seen, standing, at, policy), subject)
        seen.append(event)
        if event.kind in _DECIDING or any(one.kind in ("review", "mark") for one in seen if event.id in one.targets):
            standing = _standings(seen)
        after = _state(Book(seen, standing, at, policy), subject)
        differing = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        is_about = subject in event.targets and event.action != DIGEST
        if event.id == subject or is_about or set(differing) - {"group_access"}:
            steps.append(
                Step(
                    event,
                    _what(event, subject, differing, before, after),
                    {name: before[name] for name in differing if name in before},
                    {name: after[name] for name in differing if name in after},
                )
            )
    return steps


def _standings(events: Sequence[Event]) -> Callable[[Event], Standing]:
    """Return how each of some events stands, as the verdicts have it when there are no others."""
    judged = judge(events)
    marks = aimed(judged, events, "mark")
    known: dict[str, Standing] = {}

    def standing(event: Event) -> Standing:
        found = known.get(event.id)
        if found is None:
            if judged.event(event.id) is None:
                return Standing()
            given = marks.get(event.id)
            found = known[event.id] = Standing(
                judged.trust(event.id),
                spelled(held(judged, event.id, given)) if given else "",
                judged.effect(event.id)[0] == "applied",
            )
        return found

    return standing


def _state(book: Book, subject: str) -> dict[str, object]:
    lesson = book.lessons.get(subject)
    if lesson is not None:
        return {**lesson.state(), "is_gone": lesson.is_gone, "marks": sorted(lesson.marks), "trust": lesson.trust}
    for fell, rules in ((False, book.rules), (True, book.fallen)):
        for rule in rules:
            if subject in (rule.id, *rule.also):
                return {**rule.state(), "fallen": fell}
    return {}


#: What a sleep's outcome is called where it is the subject's own.
_DONE = {"latent": "latent", "return": "return", "fall": "fell"}


def _what(
    event: Event, subject: str, differing: Sequence[str], before: dict[str, object], after: dict[str, object]
) -> str:
    """Return what an event was to the subject, in a word or two."""
    if event.id == subject:
        return "stated" if event.kind == "lesson" else "promoted"
    if event.kind in ("mark", "review"):
        return event.action if subject in event.targets else f"{event.action} of another"
    if event.kind == "sleep":
        if event.action == "absorb":
            return "goes under another" if "under" in differing else "takes in another"
        if event.action == "promote" and subject in event.targets:
            becomes = event.fields.get("becomes")
            return f"evidence of a {becomes.get('rank', 'rule') if isinstance(becomes, dict) else 'rule'}"
        return _DONE.get(event.action, event.action) if subject in event.targets else f"{event.action} of another"
    if event.kind in ("use", "lesson"):
        called = "recurrence" if event.kind == "lesson" else "use"
        if "rank" in after or "rank" in before:
            return "more evidence" if event.kind == "lesson" else "use"
        if subject not in event.targets and "uses" not in differing and "touches" not in differing:
            return f"{called} of another"
        if "uses" in differing:
            return called
        if "touches" in differing:
            return "revival" if not after.get("touches") else "touch"
        if not differing and event.kind == "use":
            return "use under a seal" if "seal" in str(after.get("marks")) else "use, counted before"
        return called
    return event.kind
