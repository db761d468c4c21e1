"""Cautioning: what has faded around a file. The gate gives a number for it, `reveal` tells it.

A faded lesson is not told by itself. Whoever edits where it was learnt is asked for more care, once in a session and
for each file; whoever wants to know looks, and looking changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from gitmem.cases.results import Faded, Revealed
from gitmem.core import dates, entities, gate
from gitmem.core.lessons import caution, policies
from gitmem.core.lineages import entity_key
from gitmem.errors import Refused
from gitmem.store import activity, lessons

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core.additions import Addition
    from gitmem.core.lessons.policies import Policy
    from gitmem.store.activity import Activity, Reader
    from gitmem.store.cache import Cache

#: So many lessons around a file are looked at, the newest.
LOOKED_MAX = 200
#: One answer has so many notes of caution at most.
NOTES_MAX = 4


def reveal(desk: Desk, typed: str) -> Revealed:
    """Do what `Memory.reveal` says."""
    whole = desk.entity(typed) in ("", ".") and bool(typed.strip())
    path = "." if whole else desk.canonical(typed)
    return _around(desk, desk.cache(), desk.lesson_policy(), path, below=True)


def cautions(
    desk: Desk, cache: Cache, changed: Sequence[Addition], kept: Activity, reader: Reader
) -> tuple[list[str], list[str]]:
    """Return the notes of caution for an edit that this reader had none of yet, and the files that they are about."""
    paths = [one.path for one in changed]
    shelf = lessons.Shelf(cache)
    known = [path for path in paths if shelf.has_paths(_keys(path))]
    if not known:
        return [], []
    marks = {path: _mark(path) for path in known}
    shown = kept.shown(reader, marks.values(), activity.NOTED)
    policy = desk.lesson_policy()
    notes: list[str] = []
    told: list[str] = []
    for path in known:
        if marks[path] in shown or len(notes) == NOTES_MAX:
            continue
        found = _around(desk, cache, policy, path, below=False)
        if found.caution:
            notes.append(caution.note(found.caution, len(found.lessons), gate.named(path)))
            told.append(path)
    kept.show(reader, [marks[path] for path in told], activity.NOTED)
    return notes, told


def _mark(path: str) -> str:
    return f"caution {path}"


def _keys(path: str) -> list[str]:
    """Return what lessons around a path may name: itself, and what it lies in."""
    key = entity_key(path)
    return [key, *entities.parents(key)]


def _around(desk: Desk, cache: Cache, policy: Policy, path: str, *, below: bool) -> Revealed:
    """Return the latent lessons at a path and at what it lies in, and with `below` at what lies in it (`.`: all)."""
    shelf = lessons.Shelf(cache)
    at = shelf.by_paths(_keys(path), LOOKED_MAX) if path != "." else []
    ids: list[str] | None = at
    if path == ".":
        ids = None
    elif below:
        ids = list(dict.fromkeys([*at, *shelf.below(entity_key(path), LOOKED_MAX)]))
    if ids == []:
        return Revealed(path, [], 0, policy.label)
    book = lessons.book(cache, policy, dates.of_seconds(time.time()), ids)
    scope = _scope(desk, path)
    found = []
    for lesson in book.lessons.values():
        if lesson.is_hidden or lesson.under or not lesson.marks.isdisjoint(("mute", "pin")):
            continue
        if (ids is not None and lesson.id not in ids) or not entities.sees(scope, lesson.scope):
            continue
        if policy.band(lesson.group_access) == policies.LATENT:
            points = caution.caution([(lesson.group_access, lesson.severity)], policy)
            found.append(Faded(lesson, points))
    found.sort(key=lambda one: (-one.points, -one.lesson.group_access, one.lesson.order))
    here = [(one.lesson.group_access, one.lesson.severity) for one in found if one.lesson.id in at]
    return Revealed(path, found, caution.caution(here, policy), policy.label)


def _scope(desk: Desk, path: str) -> str:
    try:
        policy = desk.policy()
    except Refused:
        return ""
    return policy.scope_at(entities.place_of(path)) if policy else ""
