"""Asking: what agents asked and edited, and when the gate could not look. Kept in local activity, for the gate."""

from __future__ import annotations

import os
import time

from gitmem.cases import gating
from gitmem.cases.glancing import inside, is_path, repository_at, repository_of, whole_path
from gitmem.core import dates, entities
from gitmem.core.calls import CANARY
from gitmem.core.lineages import entity_key
from gitmem.errors import NoLog, Refused
from gitmem.store import activity
from gitmem.store.activity import Activity, Reader
from gitmem.store.closings import Closings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitmem.cases.desk import Desk
    from gitmem.core.calls import Call
    from gitmem.core.policy import Policy
    from gitmem.store.cache import Cache
    from gitmem.store.repository import Repository


def after_call(desk: Desk, call: Call) -> None:
    """Do what `Memory.after_call` says."""
    if call.failing and _is_here(desk, repository_at(call.cwd)):  # a call may have asked elsewhere as well
        from gitmem.cases import capturing

        capturing.noticed(desk, call)
    if not call.asked and not (call.edits and call.session):
        return
    try:
        cache = gating.soon(desk)
    except NoLog:
        return
    if cache is None:  # a hook doesn't wait for it; what was asked is told once more
        return
    events = _told(desk, cache, _names(desk, call)) if call.asked else []
    paths = _watched(desk, cache, call) if call.session else []
    if not events and not paths:
        return
    with Activity(desk.repository) as kept:
        reader = Reader(call.agent, call.session, call.subagent)
        if events:
            kept.show(reader, events, activity.ASKED)
            kept.record(activity.ASKED, reader, path=" ".join(call.asked)[:400], events=events)
        kept.edit(call.session, paths)


def _watched(desk: Desk, cache: Cache, call: Call) -> list[str]:
    """Return the files edited in this repository that the policy watches, or that the log knows (and the canary)."""
    edited = [whole_path(one.path, call.cwd) for one in call.edits if is_path(one.path)]
    here = [inside(desk.repository, one) for one in edited if _is_here(desk, repository_of(one))]
    paths = sorted({path for path in here if path})
    policy = _policy(desk)
    watch = [entity_key(path) for path in policy.watch] if policy else []
    found = []
    for path in paths:
        key = entity_key(path)
        is_watched = path == CANARY or any(key == one or key.startswith(one + "/") for one in watch)
        if is_watched or cache.scopes_of(key) or cache.names_below(key):
            found.append(path)
    return found


def _is_here(desk: Desk, repository: Repository | None) -> bool:
    return repository is not None and repository.git_dir == desk.repository.git_dir


def _policy(desk: Desk) -> Policy | None:
    try:
        return desk.policy()
    except Refused:
        return None


def _names(desk: Desk, call: Call) -> list[str]:
    """Return what was asked in this repository: a log that wasn't asked told nothing."""
    found = []
    for number, typed in enumerate(call.asked):
        place = os.path.join(call.cwd or desk.start, call.places.get(number, ""))
        if not _is_here(desk, repository_at(place)):
            continue
        try:
            found.append(entities.canonical(desk.repository.relative(typed, place)))
        except (entities.BadName, OSError, ValueError):
            continue
    return found


def _told(desk: Desk, cache: Cache, names: Iterable[str]) -> list[str]:
    """Return the closings that who asked about `names` was told of.

    Those of the very entities, and what closes them from above. Who asked about a table was not told of each column.
    """
    closings = Closings(cache, dates.of_seconds(time.time()))
    policy = _policy(desk)
    found: set[str] = set()
    for name in names:
        scope = policy.scope_at(entities.place_of(name)) if policy else ""
        found.update(closing.event.id for closing, _ in closings.on(name, scope=scope))
    return sorted(found)


def gate_failed(desk: Desk, agent: str, what: str) -> None:
    """Do what `Memory.gate_failed` says."""
    if not os.path.isdir(desk.repository.local_dir):
        return  # nobody keeps decisions here
    with Activity(desk.repository) as kept:
        kept.record(activity.OPEN, Reader(agent), said=what)
