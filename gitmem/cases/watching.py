"""Watching: the events that come into the log while somebody looks, whoever wrote them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gitmem.cases.reading import narrow
from gitmem.cases.results import Listing
from gitmem.core.query import Query
from gitmem.store import listing
from gitmem.store.cache import Cache
from gitmem.store.glance import parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.store.listing import Row


def watch(desk: Desk, query: Query, *, every_s: float, wait: Callable[[float], None]) -> Iterator[Listing]:
    """Do what `Memory.watch` says."""
    cache = desk.cache()
    narrow(desk, query)
    if query.limit:
        newest = list(listing.select(cache, query))
        yield Listing(desk.signed(reversed(newest)))
    query.limit = 0
    tip, known = cache.tip, _ids(cache)
    while True:
        wait(every_s)
        cache = desk.cache()
        if cache.tip == tip:
            continue
        # Not the commits since the tip that was: a redaction puts others in their place, with the same events.
        tip, before, known = cache.tip, known, _ids(cache)
        came: list[Row] = []
        for part in parts(sorted(known - before)):
            query.ids = [str(event_id) for event_id in part]
            came += listing.select(cache, query)
        if came:
            yield Listing(desk.signed(sorted(came, key=lambda row: row.n)))


def _ids(cache: Cache) -> set[str]:
    return {event_id for (event_id,) in cache.db.execute("SELECT id FROM events")}
