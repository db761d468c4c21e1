"""Sleeping: lessons put in order, listed, explained; rules; and what a person takes back of it.

A sleep is worked out from the log as it is, and decided again where another writer was faster: what that one left is
not done twice. Nothing here changes a lesson, and reading writes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from gitmem.cases import recording
from gitmem.cases.results import History, Lessons, Rules, Slept
from gitmem.cases.typed import strings_of
from gitmem.core import dates, entities, letters
from gitmem.core.drafts import Draft
from gitmem.core.ids import short
from gitmem.core.lessons import sleep as asleep
from gitmem.core.lessons.book import Book
from gitmem.core.lessons.ladder import PATTERN
from gitmem.core.lessons.policies import LATENT
from gitmem.errors import Refused, RuleViolation
from gitmem.store import lessons as shelf
from gitmem.store.cache import Cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.cases.results import Recorded
    from gitmem.core.events import Event
    from gitmem.core.lessons.book import Lesson, Outcome
    from gitmem.core.lessons.policies import Policy

#: Marks that keep a lesson out of what is listed.
_HIDING = ("seal", "mute")


def sleep(desk: Desk, *, as_of: str = "", policy: str = "", dry_run: bool = False) -> Slept:
    """Do what `Memory.sleep` says."""
    from gitmem.cases import capturing
    from gitmem.store.writing import Appender

    chosen = desk.lesson_policy(policy)
    if as_of and not dry_run and as_of > _now():
        raise Refused(
            field="as-of",
            what=f"{as_of[:19]}Z has not come yet",
            hint="with --dry-run it is told what a sleep would do then.",
        )
    found: list[tuple[Book, list[Outcome]]] = []

    def decide(cache: Cache) -> list[tuple[Event, bytes]]:
        book = _book(cache, chosen, as_of)
        outcomes = asleep.sleep(book)
        found[:] = [(book, outcomes)]
        return [asleep.written(one, book, cache.clock + n) for n, one in enumerate(outcomes, 1)]

    wrote: list[str] = []
    if dry_run:
        decide(desk.cache())
    else:
        desk.cache()  # no log, no sleep: NoLog says what to do
        capturing.flush_uses(desk)  # what was used in this clone counts before it is slept on
        entry = Appender(desk.model, desk.log).append(decide)
        wrote = [event.id for event, _ in entry.events] if entry else []
    ((book, outcomes),) = found
    by_key = {}
    if wrote:
        for event_id in wrote:
            event = desk.cache().event(event_id)
            if event is not None:
                by_key[(event.action, event.targets)] = event_id
    ids = [by_key.get((one.action, one.targets), "") for one in outcomes]
    return Slept(book, book.after(outcomes), outcomes, ids, dry_run=dry_run)


def lessons(
    desk: Desk, *, band: str = "", topic: str = "", path: str = "", limit: int | None = None, all_scopes: bool = False
) -> Lessons:
    """Do what `Memory.lessons` says."""
    cache = desk.cache()
    book = _book(cache, desk.lesson_policy(), "")
    scope = desk.seen_from(all_scopes=all_scopes)
    fits = _fits(desk, topic, path)
    found: list[Lesson] = []
    counts = dict.fromkeys(("near", "cold", "latent"), 0)
    for lesson in book.lessons.values():
        if lesson.is_gone or lesson.under or not lesson.marks.isdisjoint(_HIDING):
            continue
        if not entities.sees(scope, lesson.scope):
            continue
        if not any(fits(one) for one in (lesson, *(book.lessons[name] for name in lesson.repeats))):
            continue
        at = _band(book, lesson)
        counts[at] += 1
        if band in (at, "all") or (not band and at != LATENT):
            found.append(lesson)
    found.sort(key=lambda one: (-one.group_access, one.order))
    shown = found if limit is None else found[:limit]
    return Lessons(book, shown, counts, {one.id: _band(book, one) for one in shown}, left=len(found) - len(shown))


def rules(desk: Desk, *, everything: bool = False, all_scopes: bool = False) -> Rules:
    """Do what `Memory.rules` says."""
    book = _book(desk.cache(), desk.lesson_policy(), "")
    scope = desk.seen_from(all_scopes=all_scopes)
    standing = [
        rule for rule in book.rules if entities.sees(scope, rule.scope) and (everything or rule.rank != PATTERN)
    ]
    fallen = [rule for rule in book.fallen if everything and entities.sees(scope, rule.scope)]
    return Rules(book, standing, fallen)


def history(desk: Desk, prefix: str) -> History:
    """Do what `Memory.history` says."""
    from gitmem.core.lessons.steps import replay

    cache = desk.cache()
    policy = desk.lesson_policy()
    subject = desk.id(cache, prefix)
    event = cache.event(subject)
    if event is None or not (event.kind == "lesson" or event.action == "promote"):
        raise RuleViolation(
            what=f"{prefix[:80]} is no lesson and no rule: it is a {event.kind if event else 'file that is no event'}",
            hint="`git decisions lessons` and `git decisions rules` list those; `git decisions show ID` shows any.",
            ids=[subject],
        )
    moment = _now()
    ids = {subject}
    if event.kind != "lesson":
        # A rule hangs on all lessons of its topic, and on what other promotions of it say.
        whole = shelf.book(cache, policy, moment)
        for rule in (*whole.rules, *whole.fallen):
            if subject in (rule.id, *rule.also):
                ids.update(rule.also, rule.evidence, rule.contradicted_by)
        ids.update(event.targets)
    events = shelf.concerning(cache, ids)
    book = shelf.book(cache, policy, moment, ids)
    steps = replay(events, subject, policy, moment)
    return History(book, subject, event, steps)


def undo(desk: Desk, prefix: str, reason: str, *, dry_run: bool = False) -> Recorded:
    """Do what `Memory.undo` says."""

    def prepare(cache: Cache, draft: Draft) -> Draft:
        targets = strings_of(draft.fields["targets"])
        taken_back = shelf.book(cache, desk.lesson_policy(), _now(), targets).taken_back
        for target in targets:
            if target in taken_back:
                by = short(taken_back[target].id)
                raise RuleViolation(
                    what=f"{short(target)} is undone already, by {by}",
                    hint=f"`git decisions undo {by} -r WHY` brings it back.",
                    ids=[target],
                )
        return draft

    draft = Draft("undo", {"targets": [prefix], "reason": reason})
    return recording.record(desk, draft, dry_run=dry_run, prepare=prepare)


# --- helpers -------------------------------------------------------------------------------------


def _now() -> str:
    return dates.of_seconds(time.time())


def _book(cache: Cache, policy: Policy, as_of: str) -> Book:
    """Return the book of all lessons now, or as they were known at `as_of`."""
    return shelf.book(cache, policy, as_of or _now(), is_past=bool(as_of))


def _band(book: Book, lesson: Lesson) -> str:
    """Return the band of the sharpest of a lesson and its repeats: in it, it is told."""
    return lesson.band if lesson.group_access == lesson.access else book.policy.band(lesson.group_access)


def _fits(desk: Desk, topic: str, path: str) -> Callable[[Lesson], bool]:
    """Return whether a lesson is on a topic, and about a place or what lies in it or holds it."""
    key = letters.fold(" ".join(topic.split()))
    place = letters.fold(desk.canonical(path)) if path else ""

    def fits(lesson: Lesson) -> bool:
        """Say so of a lesson, by what it says itself."""
        if key and letters.fold(" ".join(lesson.topic.split())) != key:
            return False
        if not place:
            return True
        names = [letters.fold(one) for one in lesson.paths]
        return any(place == one or place in entities.parents(one) or one in entities.parents(place) for one in names)

    return fits
