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
from gitmem.core.lessons import likeness, words
from gitmem.store.lessons import Shelf, book

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core.lessons.book import Lesson
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
    repeated: list[Lesson] = []

    def prepare(cache: Cache, wanted: Draft) -> Draft:
        repeated[:] = []
        if not wanted.fields.get("targets"):
            found = alike(desk, cache, wanted.fields)
            if found is None:
                return wanted
            repeated.append(found)
            return wanted.with_fields({**wanted.fields, "targets": [found.id], "scope": found.event.scope})
        return wanted

    wanted = draft.with_fields(fields)
    if verbatim:
        from gitmem.cases import archiving

        done = archiving.record(desk, wanted, verbatim, dry_run=dry_run, prepare=prepare)
    else:
        done = recording.record(desk, wanted, dry_run=dry_run, prepare=prepare)
    for one in repeated:
        done.warnings.append(
            f"said before, in nearly the same words, as L-{short(one.id)}: counted as a recurrence of it, "
            f"{one.times + 1} times now."
        )
    return done


def alike(desk: Desk, cache: Cache, fields: dict[str, object]) -> Lesson | None:
    """Return the lesson that says the same in nearly the same words, of the same scope, or None.

    What says nothing of how it turned out can repeat any; else both turned out the same way.
    """
    core = text_of(fields.get("core"))
    ids = Shelf(cache).by_words(set(words.content(core)), COMPARED_MAX)
    if not ids:
        return None
    policy = desk.lesson_policy()
    known = book(cache, policy, dates.of_seconds(time.time()), ids)
    outcome = fields.get("outcome")
    direction = (outcome > 0) - (outcome < 0) if isinstance(outcome, int) else 0
    best: tuple[int, int, Lesson] | None = None
    for lesson in known.lessons.values():
        if lesson.is_hidden or lesson.under or direction not in (0, lesson.direction):
            continue
        if lesson.event.scope != fields.get("scope"):
            continue
        share = likeness.alike(core, lesson.core)
        if share >= policy.merge_cut and (best is None or (share, -lesson.event.clock) > best[:2]):
            best = (share, -lesson.event.clock, lesson)
    return best[2] if best else None


def shorten(desk: Desk, prefix: str, text: str, *, reason: str = "", dry_run: bool = False) -> Recorded:
    """Do what `Memory.shorten` says."""
    fields: dict[str, object] = {"targets": [prefix], "gist": text, "reason": reason}
    return recording.record(desk, Draft("gist", fields), dry_run=dry_run)
