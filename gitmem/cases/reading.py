"""Reading: the log, one event, verdicts, what is due. Nothing here changes anything."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from gitmem.cases.results import Asserted, Changesets, Listing, Shown, Stale, Standing
from gitmem.cases.typed import counted, number_of
from gitmem.core import dates, entities, ids, vocabulary
from gitmem.core.lineages import entity_key
from gitmem.core.query import Query
from gitmem.errors import NoLog
from gitmem.store import git, listing, placing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.store.cache import Cache, StoredDecision
    from gitmem.store.revisits import Due


def log(desk: Desk, query: Query) -> Listing:
    """Do what `Memory.log` says."""
    cache = desk.cache_at(query.as_of, query.known_at)
    narrow(desk, query)
    return Listing(desk.signed(listing.select(cache, query)), query.entity)


def search(desk: Desk, text: str, query: Query) -> Listing:
    """Do what `Memory.search` says."""
    cache = desk.cache_at(query.as_of, query.known_at)
    narrow(desk, query)
    return Listing(desk.signed(listing.by_word(cache, text, query)))


def narrow(desk: Desk, query: Query) -> None:
    query.scope = desk.seen_from(all_scopes=query.all_scopes)
    if query.entity:
        query.entity = desk.canonical(query.entity)
    if query.path:
        query.path = desk.canonical(query.path)
    if query.commit and not (len(query.commit) == desk.repository.form.hex_size and ids.is_prefix(query.commit[:64])):
        query.commit = desk.commit(query.commit)


def show(desk: Desk, prefix: str) -> Shown:
    """Do what `Memory.show` says."""
    from gitmem.core.verdicts import judge

    cache = desk.cache()
    event_id = desk.id(cache, prefix)
    (row,) = desk.signed(listing.by_ids(cache, [event_id]))
    referring = cache.referring(event_id)
    closed: list[str] = []
    closed_by: list[str] = []
    component = cache.component_of_event(event_id)
    if component is not None:
        judgement = judge(cache.component_events([component]), cache.outside)
        closed = sorted(judgement.closes(event_id))
        closed_by = sorted(judgement.closed_by(event_id))
    said = [event.id for event in referring if event.kind != "link" and event.kind != "change"]
    signatures = {one.event.id: one for one in desk.signed(listing.by_ids(cache, said)) if one.signature is not None}
    links = placing.links_of(cache, event_id)
    taken_back = placing.taken_back(links)
    return Shown(
        row,
        links,
        [event for event in referring if event.kind == "review"],
        [event for event in referring if event.kind in ("mark", "override", "redact")],
        closed,
        closed_by,
        cache.log_commit(event_id),
        signatures,
        gone=_gone(desk, {link.commit for link in links}),
        taken_back=taken_back,
    )


def status(
    desk: Desk, entity: str | None = None, *, as_of: str = "", known_at: str = "", all_scopes: bool = False
) -> Standing:
    """Do what `Memory.status` says."""
    from gitmem.store import reviews

    cache = desk.cache_at(as_of, known_at)
    scope = desk.seen_from(all_scopes=all_scopes)
    name = desk.canonical(entity) if entity else ""
    if name:
        decisions = cache.decisions_of(desk.names(cache, name, scope))
    else:
        counts, decisions = cache.counts(scope), cache.decisions_worst(20, scope)
    if name:
        counts = {}
        for decision in decisions:
            counts[decision.verdict] = counts.get(decision.verdict, 0) + 1
    decisions.sort(key=_worst_first)
    commits = [commit for decision in decisions for commit in decision.commits]
    deciding = [] if cache.counted[0] else [decision.standing for decision in decisions if decision.standing]
    return Standing(
        name,
        decisions,
        counts,
        events=0 if name else cache.event_count(scope),
        unlinked=0 if cache.counted[0] else cache.unlinked_count(),
        newer=number_of(cache.meta("newer")),
        quarantined=cache.quarantined(),
        tip=cache.tip,
        in_head=_in_head(desk, commits),
        reverted={event: by for event, (_, by) in _reverted(desk, cache, deciding).items()},
        waiting=(0, "") if name or cache.counted[0] else reviews.length(cache, scope),
    )


def _in_head(desk: Desk, commits: Iterable[str]) -> dict[str, bool]:
    """Say of some commits whether HEAD reaches them. One git where all are here, if any."""
    asked = sorted(set(commits))
    if not asked:
        return {}
    outside = _outside_head(desk, asked)
    if outside is None:  # a commit is gone, or HEAD is unborn
        gone = _gone(desk, asked)
        here = [commit for commit in asked if commit not in gone]
        left = _outside_head(desk, here) if here else set()
        outside = gone | (set(here) if left is None else left)
    return {commit: commit not in outside for commit in asked}


def _outside_head(desk: Desk, commits: Iterable[str]) -> set[str] | None:
    """Return those of some commits that HEAD does not reach; None where git can't tell."""
    # `--not` on stdin came with git 2.42; and whatever is excluded, the walk goes on below what is not.
    lines = "".join(f"{commit}\n" for commit in commits) + "^HEAD\n"
    result = desk.repository.try_git("rev-list", "--stdin", input=lines.encode())
    return set(result.out.decode("ascii", "replace").split()) if result.rc == 0 else None


def _gone(desk: Desk, commits: Iterable[str]) -> set[str]:
    """Return those of some commits that are not in this repository."""
    asked = sorted({commit for commit in commits if commit})
    if not asked:
        return set()
    lines = "".join(commit + "\n" for commit in asked).encode()
    words = ("cat-file", "--batch-check=%(objectname) %(objecttype)", "--buffer")
    out = desk.repository.git(*words, env=git.RAW, input=lines, check=False).decode("ascii", "replace")
    here = {line.partition(" ")[0] for line in out.splitlines() if line.endswith(" commit")}
    return set(asked) - here


def _reverted(desk: Desk, cache: Cache, events: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return those of some events whose commits in HEAD were all taken back there: event -> (a commit, by which)."""
    if not placing.has_reverts(cache):
        return {}
    placed: dict[str, tuple[list[str], dict[str, str]]] = {}
    for event_id in events:
        links = placing.links_of(cache, event_id)
        taken = placing.taken_back(links)
        if taken:
            placed[event_id] = ([link.commit for link in links if link.how != placing.REVERT], taken)
    asked = [one for commits, taken in placed.values() for one in (*commits, *taken.values())]
    in_head = _in_head(desk, asked)
    found = {}
    for event_id, (commits, taken) in placed.items():
        here = [commit for commit in commits if in_head[commit]]
        # One that is left (it was picked once more, say) is the decision's code.
        if here and all(in_head.get(taken.get(commit, "")) for commit in here):
            found[event_id] = (here[-1], taken[here[-1]])
    return found


def blame(desk: Desk, entity: str, *, as_of: str = "", known_at: str = "", all_scopes: bool = False) -> Listing:
    """Do what `Memory.blame` says."""
    cache = desk.cache_at(as_of, known_at)
    scope = desk.seen_from(all_scopes=all_scopes)
    name = desk.canonical(entity)
    found = listing.newest_change(cache, desk.names(cache, name, scope, below=False))
    return Listing(list(desk.signed([found] if found else [])), name)


def stale(
    desk: Desk, entity: str | None = None, *, flags: Sequence[str] = (), all_scopes: bool = False, limit: int = 0
) -> Stale:
    """Do what `Memory.stale` says."""
    cache = desk.cache()
    scope = desk.seen_from(all_scopes=all_scopes)
    name = desk.canonical(entity) if entity else ""
    now = dates.of_seconds(time.time())
    found = due(desk, cache, desk.names(cache, name, scope) if name else None, scope, now)
    if flags:
        found = [one for one in found if any(signal.flag in flags for signal in one.signals)]
    return Stale(name, found[:limit] if limit else found, now)


def due(desk: Desk, cache: Cache, names: list[tuple[str, str]] | None, scope: str, now: str) -> list[Due]:
    """Return what wants another look, the most overdue first: what is due by its own conditions, and what came back."""
    from gitmem.store import revisits
    from gitmem.store.libraries import Libraries

    found = {one.row.n: one for one in revisits.due(cache, Libraries(desk.repository), names, scope, now)}
    more = list(_without_code(desk, cache, scope, now))
    if cache.has_fingerprints():
        from gitmem.sync import relandings

        more += relandings.found(cache, desk.repository, scope, now)
    for one in more:
        event = one.row.event
        if names is None or (event.scope, entity_key(event.entity_path)) in names:
            known = found.get(one.row.n)
            found[one.row.n] = known.with_signals(one.signals, now) if known else one
    return revisits.ordered(found.values())


def _without_code(desk: Desk, cache: Cache, scope: str, now: str) -> Iterable[Due]:
    """Yield the deciding events of which HEAD took every commit back."""
    if not placing.has_reverts(cache):
        return
    from gitmem.core import staleness
    from gitmem.store.revisits import Due

    rows = {
        row.event.id: row
        for row in listing.by_ids(cache, placing.reverted_events(cache))
        if row.event.kind == "change" and row.is_shown and entities.sees(scope, row.event.scope)
    }
    names = {(row.event.scope, entity_key(row.event.entity_path)) for row in rows.values()}
    deciding = {decision.standing for decision in cache.decisions_of(sorted(names))}
    found = _reverted(desk, cache, [event_id for event_id in rows if event_id in deciding])
    times = _times(desk, {by for _, by in found.values()})
    for event_id, (commit, by) in found.items():
        when = dates.of_seconds(times[by]) if by in times else ""
        on = f" on {when[:10]}" if when else ""
        why = f"its commit {commit[:10]} was reverted by {by[:10]}{on}, and nothing recorded since says what that means"
        signal = staleness.Signal(staleness.REVERTED, why, since=when, commit=by)
        yield Due(rows[event_id], [signal], now)


def _times(desk: Desk, commits: Iterable[str]) -> dict[str, int]:
    """Return the times of some commits, in seconds."""
    asked = "".join(f"{commit}\n" for commit in sorted(commits)).encode()
    if not asked:
        return {}
    result = desk.repository.try_git("rev-list", "--no-walk", "--timestamp", "--stdin", input=asked, env=git.RAW)
    pairs = [line.split() for line in result.out.decode("ascii", "replace").splitlines()]
    return {oid: int(time) for time, oid in pairs}


def changeset(desk: Desk, changeset_id: str | None = None, query: Query | None = None) -> Listing | Changesets:
    """Do what `Memory.changeset` says."""
    cache = desk.cache()
    query = query or Query()
    if changeset_id is None:
        scope = desk.seen_from(all_scopes=query.all_scopes)
        return Changesets(cache.changesets(since=query.since, until=query.until, limit=query.limit, scope=scope))
    query.changeset = changeset_id
    narrow(desk, query)
    return Listing(list(desk.signed(listing.select(cache, query)))[::-1])


def assert_ids(desk: Desk, prefixes: Sequence[str]) -> Asserted:
    """Do what `Memory.assert_ids` says."""
    try:
        cache = desk.cache()
    except NoLog:
        return Asserted([], list(prefixes))
    present, missing = [], []
    for prefix in prefixes:
        found = cache.ids(prefix) if ids.is_prefix(prefix) else []
        if len(found) == 1:
            present.append(found[0])
        else:
            missing.append(prefix)
    return Asserted(present, missing)


def notices(desk: Desk) -> list[str]:
    """Do what `Memory.notices` says."""
    cache = desk.model.opened
    if cache is None:
        return []
    out = []
    quarantined = cache.quarantined()
    if quarantined:
        out.append(f"{counted(quarantined, 'event')} can't be read and left out (`git decisions verify` names them)")
    newer = number_of(cache.meta("newer"))
    if newer:
        out.append(f"{counted(newer, 'event')} newer than this gitmem")
    return out


def _worst_first(decision: StoredDecision) -> tuple[int, str, str]:
    return (vocabulary.VERDICTS.index(decision.verdict), decision.entity_path, decision.approach)
