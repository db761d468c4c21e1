"""Reading: the log, one event, verdicts, what is due. Nothing here changes anything."""

from __future__ import annotations

import time
from collections.abc import Sequence

from gitmem.cases.results import Asserted, Changesets, Listing, Shown, Stale, Standing
from gitmem.cases.typed import counted, number_of
from gitmem.core import dates, ids, vocabulary
from gitmem.core.query import Query
from gitmem.errors import NoLog
from gitmem.store import listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.store.cache import StoredDecision


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
    return Shown(
        row,
        cache.links_of(event_id),
        [event for event in referring if event.kind == "review"],
        [event for event in referring if event.kind in ("mark", "override", "redact")],
        closed,
        closed_by,
        cache.log_commit(event_id),
        signatures,
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
    return Standing(
        name,
        decisions,
        counts,
        events=0 if name else cache.event_count(scope),
        unlinked=0 if cache.counted[0] else cache.unlinked_count(),
        newer=number_of(cache.meta("newer")),
        quarantined=cache.quarantined(),
        tip=cache.tip,
        in_head=_in_head(desk, decisions),
        waiting=(0, "") if name or cache.counted[0] else reviews.length(cache, scope),
    )


def _in_head(desk: Desk, decisions: Sequence[StoredDecision]) -> dict[str, bool]:
    """Say of each linked commit that decides something whether HEAD reaches it. One git, if any."""
    commits = sorted({commit for decision in decisions for commit in decision.commits})
    if not commits:
        return {}
    result = desk.repository.try_git(
        "rev-list",
        "--no-walk=unsorted",
        "--stdin",
        input="".join(f"{c}\n" for c in commits).encode() + b"--not\nHEAD\n",
    )
    if result.rc != 0:  # a commit is gone, or HEAD is unborn: ask one by one
        return {commit: _reaches(desk, commit) for commit in commits}
    # --no-walk prints what was named and is not excluded
    outside = set(result.out.decode("ascii", "replace").split())
    return {commit: commit not in outside for commit in commits}


def _reaches(desk: Desk, commit: str) -> bool:
    return desk.repository.try_git("merge-base", "--is-ancestor", commit, "HEAD").rc == 0


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
    from gitmem.store import revisits
    from gitmem.store.libraries import Libraries

    cache = desk.cache()
    scope = desk.seen_from(all_scopes=all_scopes)
    name = desk.canonical(entity) if entity else ""
    now = dates.of_seconds(time.time())
    names = desk.names(cache, name, scope) if name else None
    found = revisits.due(cache, Libraries(desk.repository), names, scope, now)
    if flags:
        found = [one for one in found if any(signal.flag in flags for signal in one.signals)]
    return Stale(name, found[:limit] if limit else found, now)


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
