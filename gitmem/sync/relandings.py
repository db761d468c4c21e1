"""Relandings: what is closed, and whose lines a later commit brought into the code again.

A closing keeps a sketch of the lines that it took back or refused (its fingerprint). Here the commits that HEAD reaches
and that came after it are held against that; and then the files as they are in HEAD, for what was taken back once
more is no news. A closing that a supersede names doesn't stand, so it is not looked for.

What a commit adds is remembered beside the cache, as hashes, so that each is read once.
"""

from __future__ import annotations

import array
from collections.abc import Iterable, Mapping

from gitmem.core import dates, entities, fingerprint, gate, objects, staleness
from gitmem.core.lineages import entity_key
from gitmem.core.staleness import Signal
from gitmem.core.verdicts import judge
from gitmem.errors import GitFailed
from gitmem.importers import git_diffs
from gitmem.importers.git_process import Place
from gitmem.store import listing
from gitmem.store.cache import Cache
from gitmem.store.local import Local
from gitmem.store.repository import Repository
from gitmem.store.revisits import Due

#: So many commits are looked at, the newest.
COMMITS_MAX = 1000
#: Of so many files of a commit the content in HEAD is read.
FILES_MAX = 50


def found(cache: Cache, repository: Repository, scope: str, now: str) -> list[Due]:
    """Return the closings, of what a read in `scope` sees, whose lines are back, each with the newest such commit."""
    closings = {row.event.id: row for row in _closings(cache) if entities.sees(scope, row.event.scope)}
    if not closings:
        return []
    wanted = {one: frozenset(fingerprint.hashes(row.event.fields.get("fingerprint"))) for one, row in closings.items()}
    since = {one: objects.seconds(staleness.moment(row.event)) for one, row in closings.items()}
    by_mark: dict[int, list[str]] = {}
    for event_id, marks in wanted.items():
        for mark in marks:
            by_mark.setdefault(mark, []).append(event_id)
    times = _commits(repository, min(since.values()))
    left = dict(closings)
    out: list[Due] = []
    for commit, added in _additions(repository, times).items():
        shared: dict[str, int] = {}
        for mark in added:
            for event_id in by_mark.get(mark, ()):
                shared[event_id] = shared.get(event_id, 0) + 1
        for event_id, count in sorted(shared.items()):
            share = 100 * count // len(wanted[event_id])
            if share < gate.STOP_SHARE or event_id not in left or times[commit] <= since[event_id]:
                continue
            home = gate.home(left[event_id].event) if len(wanted[event_id]) < gate.FEW_LINES else ""
            if _share_in_head(repository, commit, wanted[event_id], home) < gate.STOP_SHARE:
                continue
            when = dates.of_seconds(times[commit])
            why = f"{share} % of its lines are back, by commit {commit[:10]} on {when[:10]}, and nothing supersedes it"
            signal = Signal(staleness.RELANDED, why, since=when, commit=commit)
            out.append(Due(left.pop(event_id), [signal], now))
    return out


def _closings(cache: Cache) -> Iterable[listing.Row]:
    """Yield the shown closings with a fingerprint that stand."""
    ids = [row[0] for row in cache.db.execute("SELECT id FROM events WHERE n IN (SELECT n FROM prints)")]
    for row in listing.by_ids(cache, ids):
        if row.is_shown and row.trust != "disputed" and row.effect != "pending":
            component = cache.component_of_event(row.event.id)
            events = cache.component_events([component] if component is not None else [])
            if judge(events, cache.outside).is_standing(row.event.id):
                yield row


def _commits(repository: Repository, since: int) -> dict[str, int]:
    """Return the commits that HEAD reaches and that came after `since`, the newest first, with their times."""
    words = ("rev-list", "--no-merges", "--timestamp", f"--max-count={COMMITS_MAX}", f"--since={since}", "HEAD", "--")
    result = repository.try_git(*words)
    pairs = [line.split() for line in result.out.decode("ascii", "replace").splitlines()] if result.rc == 0 else []
    return {oid: int(time) for time, oid in pairs}


def _additions(repository: Repository, commits: Mapping[str, int]) -> dict[str, array.array[int]]:
    """Return the hashes of the lines that each commit adds, in the order of `commits`."""
    local = Local(repository)
    known = local.additions(list(commits))
    fresh: dict[str, bytes] = {}
    diffs = git_diffs.Diffs(Place(repository.git_dir, None))
    try:
        for commit in commits:
            if commit in known:
                continue
            try:
                diff = diffs.of(commit, "")
            except git_diffs.Unreadable:
                continue  # tried again next time
            removed: set[int] = set().union(*(file.removed.lines.hashes for file in diff.files.values()))
            added: set[int] = set().union(*(file.added.marks.hashes for file in diff.files.values()))
            fresh[commit] = array.array("Q", sorted(added - removed)).tobytes()
    finally:
        diffs.close()
    if fresh:
        local.remember_additions(fresh)
    out: dict[str, array.array[int]] = {}
    for commit in commits:
        data = known.get(commit, fresh.get(commit))
        if data is not None:
            out[commit] = array.array("Q", data)
    return out


def _share_in_head(repository: Repository, commit: str, wanted: Iterable[int], home: str) -> int:
    """Return how many percent of the hashes `wanted` the files that `commit` touched (in `home`) hold in HEAD."""
    names = ("diff-tree", "-r", "--root", "-m", "--no-commit-id", "--name-only", "-z", "--diff-filter=d", commit)
    try:
        paths = repository.git(*names).decode("utf-8", "surrogateescape").split("\0")
    except GitFailed:
        return 0
    marks: set[int] = set()
    for path in [one for one in paths if one and (not home or gate.is_home(home, entity_key(one)))][:FILES_MAX]:
        result = repository.try_git("cat-file", "blob", f"HEAD:{path}")
        if result.rc == 0:
            marks |= fingerprint.marks(result.out.decode("utf-8", "replace").split("\n"))
    several = set(wanted)
    return 100 * len(several & marks) // len(several) if several else 0
