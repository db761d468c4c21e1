"""Teaching: a lesson that somebody states, and its gist.

What is stated is always kept, whole. Where it says what another lesson said, in nearly the same words, it is a
recurrence of that one: an event of its own that names it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from gitmem.cases import recording
from gitmem.cases.results import Recorded
from gitmem.cases.typed import strings_of, text_of
from gitmem.core import dates, entities
from gitmem.core.drafts import Draft
from gitmem.core.ids import short
from gitmem.core.lessons.likeness import Sketch
from gitmem.store.lessons import Shelf, book

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core.lessons.book import Book, Lesson
    from gitmem.core.lessons.policies import Policy
    from gitmem.store.cache import Cache

#: So many lessons that share words with a new one are held against it.
COMPARED_MAX = 60


def teach(desk: Desk, draft: Draft, *, verbatim: Sequence[str] = (), dry_run: bool = False) -> Recorded:
    """Do what `Memory.teach` says."""
    fields = dict(draft.fields)
    paths = list(dict.fromkeys(desk.canonical(path) for path in strings_of(fields.get("paths"))))
    if paths:
        fields["paths"] = paths
    first = next((path for path in paths if entities.place_of(path)), "")
    writer = desk.writer(agent=text_of(fields.get("agent")), session=text_of(fields.get("session_id")))
    fields["scope"] = recording.scope_of(desk, first, fields.get("scope"), writer)
    if "base" not in fields:
        from gitmem.sync import heads

        base = heads.base_of(desk.repository, heads.head(desk.repository))
        if base:
            fields["base"] = base
    again: list[Lesson] = []

    def prepare(cache: Cache, wanted: Draft) -> Draft:
        again.clear()
        if wanted.fields.get("targets"):
            return wanted
        sketch = Sketch(text_of(wanted.fields.get("core")))
        known, near = alike(cache, desk.lesson_policy(), sketch, text_of(wanted.fields.get("scope")))
        one = repeated(known, near, wanted.fields.get("outcome"))
        if one is None:
            return wanted
        again.append(one)
        return wanted.with_fields({**wanted.fields, "targets": [one.id]})

    wanted = draft.with_fields(fields)
    if verbatim:
        from gitmem.cases import archiving

        done = archiving.record(desk, wanted, verbatim, dry_run=dry_run, prepare=prepare)
    else:
        done = recording.record(desk, wanted, dry_run=dry_run, prepare=prepare)
    for one in again:
        done.warnings.append(
            f"said before, in nearly the same words, as L-{short(one.id)}: counted as a recurrence of it, "
            f"{one.times + 1} times now."
        )
    return done


def alike(cache: Cache, policy: Policy, sketch: Sketch, scope: str) -> tuple[Book, list[tuple[int, Lesson]]]:
    """Return the lessons of a scope that are like a sentence, with in how many percent, the most alike first.

    Of equals the earlier. What is sealed is like nothing: it must not be seen by what it does.
    """
    ids = Shelf(cache).by_words(sketch.stems, COMPARED_MAX)
    known = book(cache, policy, dates.of_seconds(time.time()), ids)
    found = [
        (percent, lesson)
        for lesson in known.lessons.values()
        if lesson.scope == scope and not lesson.is_sealed and (percent := sketch.alike(Sketch(lesson.core)))
    ]
    return known, sorted(found, key=lambda pair: (-pair[0], pair[1].order))


def repeated(known: Book, found: Sequence[tuple[int, Lesson]], outcome: object) -> Lesson | None:
    """Return the lesson that a sentence says once more, of those that are like it (`alike`), or None.

    What says nothing of how it turned out can repeat any; else both turned out the same way. What is kept under
    another one is said by that.
    """
    direction = (outcome > 0) - (outcome < 0) if isinstance(outcome, int) else 0
    for percent, lesson in found:
        if percent >= known.policy.merge_cut and not lesson.is_gone and direction in (0, lesson.direction):
            above = known.lessons.get(lesson.under, lesson)
            if not above.is_hidden:
                return above
    return None


def shorten(desk: Desk, prefix: str, text: str, *, reason: str = "", dry_run: bool = False) -> Recorded:
    """Do what `Memory.shorten` says."""
    fields: dict[str, object] = {"targets": [prefix], "gist": text, "reason": reason}
    return recording.record(desk, Draft("gist", fields), dry_run=dry_run)
