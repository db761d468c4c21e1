"""Why: from a line of a file, through its history, to the decisions behind it."""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.core import entities
from gitmem.core.lineages import entity_key
from gitmem.store import listing, placing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.store.cache import Cache
    from gitmem.store.listing import Row
    from gitmem.sync.history import Commit
    from gitmem.sync.trail import Trail

#: So many decisions on the file itself are told, the newest.
ABOUT_MAX = 20


class Behind:
    """A decision behind a commit: how it belongs there (the link's `how`), and the commit that it came by, or ""."""

    __slots__ = ("confidence", "how", "reverted_by", "row", "via")

    def __init__(self, row: Row, how: str, via: str, confidence: str, reverted_by: str) -> None:
        self.row = row
        self.how = how
        self.via = via
        self.confidence = confidence
        self.reverted_by = reverted_by


class Why:
    """The decisions behind a file, or behind one of its lines.

    trail   the file, the line, and the commits behind it
    behind  commit -> the decisions that belong to it; each decision once, at its newest commit
    about   the decisions on the file itself, and on the symbols of it that the line stands in
    """

    __slots__ = ("about", "behind", "trail")

    def __init__(self, trail: Trail, behind: dict[str, list[Behind]], about: list[Row]) -> None:
        self.trail = trail
        self.behind = behind
        self.about = about


def why(desk: Desk, typed: str, *, all_scopes: bool = False) -> Why:
    """Do what `Memory.why` says."""
    from gitmem.sync import trail

    found = trail.of(desk.repository, typed, desk.place())
    cache = desk.cache()
    scope = desk.seen_from(all_scopes=all_scopes)
    behind: dict[str, list[Behind]] = {}
    told: set[str] = set()
    for commit in found.commits:
        mine = [one for one in _behind(cache, commit, scope) if one.row.event.id not in told]
        if mine:
            behind[commit.oid] = mine
            told.update(one.row.event.id for one in mine)
    about = [row for row in _about(desk, cache, found, scope) if row.event.id not in told]
    return Why(found, behind, about[:ABOUT_MAX])


def _behind(cache: Cache, commit: Commit, scope: str) -> list[Behind]:
    """Return the decisions that belong to a commit, by a link or by what its message says."""
    via: dict[str, str] = dict.fromkeys(placing.events_at(cache, commit.oid), "")
    said = commit.said
    for old in (*said.picked, *said.squashed):
        for event_id in placing.events_at(cache, old):
            via.setdefault(event_id, old)
    for prefix in said.decisions:
        ids = cache.ids(prefix, 2)
        if len(ids) == 1:
            via.setdefault(ids[0], "")
    found = []
    for row in _shown(listing.by_ids(cache, list(via)), scope):
        links = placing.links_of(cache, row.event.id)
        link = next((one for one in links if one.commit == commit.oid and one.how != placing.REVERT), None)
        old = via[row.event.id]
        found.append(
            Behind(
                row,
                link.how if link else "stated",
                old or (link.replaces[0] if link and link.replaces else ""),
                link.confidence if link else "stated",
                placing.taken_back(links).get(commit.oid, ""),
            )
        )
    return found


def _about(desk: Desk, cache: Cache, trail: Trail, scope: str) -> list[Row]:
    """Return the decisions on the file, and on its symbols: those that the line stands in, or all; the newest first."""
    try:
        name = entities.canonical(trail.file)
    except entities.BadName:
        return []
    pairs = []
    for pair in desk.names(cache, name, scope):
        _, mark, symbol = pair[1].partition("::")
        if not mark or not trail.line or _stands_in(trail, symbol):
            pairs.append(pair)
    rows = _shown(listing.by_ids(cache, cache.ids_on(pairs)), scope)
    return sorted(rows, key=lambda row: -row.n)


def _stands_in(trail: Trail, symbol: str) -> bool:
    """Say whether one of the lines around names a symbol, each part of it (`Invoice.total`) on a line of its own."""
    import re

    words = [set(re.findall(r"\w+", line.casefold())) for line in trail.around]
    parts = [part for part in re.split(r"[.:#/()\s]+", symbol) if part]
    return bool(parts) and all(any(entity_key(part) in line for line in words) for part in parts)


def _shown(rows: Iterable[Row], scope: str) -> list[Row]:
    return [
        row for row in rows if row.event.kind == "change" and row.is_shown and entities.sees(scope, row.event.scope)
    ]
