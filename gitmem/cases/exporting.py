"""Exporting: the log, or what a query asks of it, in another form. Each form comes in pieces, as they are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gitmem.cases.results import Exported
from gitmem.store import listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core.query import Query
    from gitmem.store.cache import Cache
    from gitmem.store.listing import Row

    Present = Callable[[Row], dict[str, object]]

FORMATS = ("jsonl", "json", "csv", "markdown", "agent-trace", "adr")


def export(desk: Desk, form: str, query: Query | None, present: Present) -> Exported:
    """Do what `Memory.export` says. `present` gives the JSON of a row."""
    if form == "jsonl" and query is None:
        return _whole(desk)
    from gitmem.core.query import Query

    query = query or Query()
    from gitmem.cases.reading import narrow

    cache = desk.cache_at(query.as_of, query.known_at)
    narrow(desk, query)
    if form == "jsonl":
        return Exported(_selection(cache, query), told=lambda: "a selection, of which no log can be made")
    if form == "adr":
        from gitmem.exporters import adr

        pairs = ((which, present(row)) for which, row in listing.grouped(cache, query))
        return Exported(files=adr.files(pairs), mark=adr.MARK)
    return Exported(piece.encode("utf-8", "backslashreplace") for piece in _pieces(form, cache, query, present))


def _pieces(form: str, cache: Cache, query: Query, present: Present) -> Iterator[str]:
    if form == "markdown":
        from gitmem.exporters import markdown

        return markdown.pieces(lambda: (present(row) for _, row in listing.grouped(cache, query)))
    rows = (present(row) for row in listing.select(cache, query))
    if form == "csv":
        from gitmem.exporters import csv

        return csv.pieces(rows)
    if form == "agent-trace":
        from gitmem.exporters import agent_trace

        return agent_trace.pieces(rows)
    from gitmem.exporters import json

    return json.pieces(rows)


def _whole(desk: Desk) -> Exported:
    """The whole log, as it is. The cache is brought to its tip first: what can't be read there is in no export."""
    from gitmem.exporters.jsonl import Lines

    lines = Lines(desk.repository, desk.log(), desk.cache().tip)
    return Exported(lines, told=lambda: lines.told)


def _selection(cache: Cache, query: Query) -> Iterator[bytes]:
    from gitmem.exporters import jsonl

    yield jsonl.selected()
    for row in listing.select(cache, query):
        body = cache.body(row.event.id)
        if body is not None:
            yield body + b"\n"
