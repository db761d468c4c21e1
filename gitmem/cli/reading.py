"""log, show, status, prior, blame, search, watch, stats, changeset: ask, then print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem import presenters
from gitmem.cli import entries
from gitmem.cli.terminal import Io
from gitmem.cli.text import EMPTY, Line
from gitmem.core.query import LISTED, Query
from gitmem.errors import Interrupted, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory

#: Search results without `-n`: ranked, so what follows is worth less and less.
FOUND_MAX = 20


def log(
    memory: Memory,
    io: Io,
    *,
    entity: str | None,
    oneline: bool,
    graph: bool,
    stream: bool,
    as_json: bool,
    **filters: Any,
) -> int:
    if stream and not as_json:
        raise Usage(what="--stream is for --json", command="log")
    if graph and as_json:
        raise Usage(what="--graph draws, and --json doesn't", command="log")
    listing = memory.log(query(entity=entity, **filters))
    if as_json and not stream:
        io.answer(presenters.log(listing))
    elif stream:
        io.stream(presenters.events(listing))
    elif graph:
        io.show(_drawn(list(presenters.events(listing)), _width(io), oneline=oneline), paged=True)
    else:
        io.show(entries.log(presenters.events(listing), _width(io), oneline=oneline), paged=True)
    return noted(memory, io, queue=True)


def watch(
    memory: Memory,
    io: Io,
    *,
    entity: str | None,
    oneline: bool,
    interval: int | None,
    as_json: bool,
    **filters: Any,
) -> int:
    noted(memory, io)
    if io.terminal and io.err.isatty():
        io.tell(Line(("", "Waiting for what comes into the log; Ctrl-C ends it.")))
    told = False
    try:
        for listing in memory.watch(query(entity=entity, **filters), every_s=interval or 1, wait=io.wait):
            if as_json:
                io.stream(presenters.events(listing))
            else:
                if told and not oneline:
                    io.show([EMPTY])
                io.show(entries.log(presenters.events(listing), _width(io), oneline=oneline))
            told = True
            io.out.flush()
            io.err.flush()
    except KeyboardInterrupt:  # the way to end it, and so nothing to be told about
        return Interrupted.code
    return 0


def stats(memory: Memory, io: Io, *, as_json: bool, kinds: Sequence[str], **filters: Any) -> int:
    answer = presenters.stats(memory.stats(query(kinds=kinds or ("any",), **filters)))
    if as_json:
        io.answer(answer)
    else:
        from gitmem.cli import counts

        io.show(counts.told(answer), paged=True)
    return noted(memory, io)


def _drawn(events: list[dict[str, Any]], width: int, *, oneline: bool) -> Iterable[Line]:
    from gitmem.cli import graph

    def entry(event: Any) -> list[Line]:
        return [entries.oneline(event)] if oneline else [*entries.entry(event, width), EMPTY]

    return graph.drawn(events, entry)


def show(memory: Memory, io: Io, *, id: str, as_json: bool) -> int:
    answer = presenters.show(memory.show(id))
    if as_json:
        io.answer(answer)
    else:
        io.show(entries.whole(answer), paged=True)
    return noted(memory, io)


def status(
    memory: Memory,
    io: Io,
    *,
    entity: str | None,
    as_of: str | None,
    known_at: str | None,
    all_scopes: bool,
    as_json: bool,
) -> int:
    answer = presenters.status(memory.status(entity, **_clocks(as_of, known_at), all_scopes=all_scopes))
    if as_json:
        io.answer(answer)
        return noted(memory, io)
    from gitmem.cli import standings

    io.show(standings.status(answer, entity, unicode=io.unicode), paged=True)
    return noted(memory, io)


def prior(
    memory: Memory,
    io: Io,
    *,
    entity: str | None,
    about: str | None,
    content: str | None,
    everything: bool,
    window: str,
    as_of: str | None,
    known_at: str | None,
    all_scopes: bool,
    as_json: bool,
) -> int:
    if entity is None and about is None and content is None:
        raise Usage(what="prior needs an ENTITY, --about or --content", command="prior")
    text = io.read(content, "--content") if content is not None else ""
    from gitmem.cli.dates import duration_s

    window_s = duration_s(window, "--window")
    answer = presenters.prior(
        memory.prior(
            entity,
            about=about or "",
            content=text,
            everything=everything,
            window_s=window_s,
            all_scopes=all_scopes,
            **_clocks(as_of, known_at),
        )
    )
    if as_json:
        io.answer(answer)
        return noted(memory, io)
    from gitmem.cli import standings

    asked = entity or (f'"{about}"' if about else "these lines")
    io.show(standings.prior(answer, asked), paged=True)
    return noted(memory, io, queue=True)


def blame(
    memory: Memory, io: Io, *, entity: str, as_of: str | None, known_at: str | None, all_scopes: bool, as_json: bool
) -> int:
    found = memory.blame(entity, **_clocks(as_of, known_at), all_scopes=all_scopes)
    answer: dict[str, Any] = presenters.blame(found)
    if as_json:
        io.answer(answer)
    else:
        io.show(entries.blame(answer["event"], entity), paged=True)
    return noted(memory, io)


def search(memory: Memory, io: Io, *, query: str, as_json: bool, limit: int | None, **filters: Any) -> int:
    answer: dict[str, Any] = presenters.search(memory.search(query, _query(limit=limit or FOUND_MAX, **filters)))
    if as_json:
        io.answer(answer)
    elif answer["events"]:
        io.show(entries.found(answer["events"]), paged=True)
    else:
        io.show([Line(("nothing", f'nothing found for "{query}".'))])
    return noted(memory, io)


def changeset(
    memory: Memory,
    io: Io,
    *,
    id: str | None,
    limit: int | None,
    since: str | None,
    until: str | None,
    all_scopes: bool,
    as_json: bool,
) -> int:
    result = memory.changeset(id, query(limit=limit, since=since, until=until, all_scopes=all_scopes))
    answer: dict[str, Any] = presenters.changeset(result)
    if as_json:
        io.answer(answer)
    elif id is None:
        io.show(entries.changesets(answer["changesets"]), paged=True)
    elif answer["events"]:
        io.show(entries.log(answer["events"], _width(io), oneline=False), paged=True)
    else:
        io.show([Line(("nothing", f"nothing belongs to a changeset {id}."))])
    return noted(memory, io)


# --- what the filters mean -------------------------------------------------------------------


def query(
    *,
    entity: str | None = None,
    limit: int | None = None,
    since: str | None = None,
    until: str | None = None,
    types: Sequence[str] = (),
    verdicts: Sequence[str] = (),
    trusts: Sequence[str] = (),
    agent: str | None = None,
    session: str | None = None,
    changeset: str | None = None,
    commit: str | None = None,
    path: str | None = None,
    kinds: Sequence[str] = (),
    everything: bool = False,
    all_scopes: bool = False,
    as_of: str | None = None,
    known_at: str | None = None,
) -> Query:
    """Return the filters as typed as a query. Raises Usage for a date that is none or a word that isn't known."""
    if types or verdicts or trusts or kinds:
        from gitmem.core import vocabulary

        _known("--type", types, vocabulary.CHANGE_TYPES)
        _known("--verdict", verdicts, vocabulary.VERDICTS)
        _known("--trust", trusts, vocabulary.TRUSTS)
        _known("--kind", kinds, (*vocabulary.KINDS, "any"))
    if since or until:
        from gitmem.cli.dates import moment

        since = moment(since, "--since") if since else None
        until = moment(until, "--until", end_of_day=True) if until else None
        if since and until and since > until:
            raise Usage(what="--until lies before --since", hint="")
    return Query(
        entity=entity or "",
        limit=limit or 0,
        since=since or "",
        until=until or "",
        types=types,
        verdicts=verdicts,
        trusts=trusts,
        agent=agent or "",
        session=session or "",
        changeset=changeset or "",
        commit=commit or "",
        path=path or "",
        kinds=kinds or LISTED,
        everything=everything,
        all_scopes=all_scopes,
        **_clocks(as_of, known_at),
    )


def _clocks(as_of: str | None, known_at: str | None) -> dict[str, str]:
    """Return both moments as times of the format; a `known_at` that is no date is taken for a revision of the log."""
    if not as_of and not known_at:
        return {}
    from gitmem.cli.dates import instant

    found = {}
    if as_of:
        found["as_of"] = instant(as_of, "--as-of")
    if known_at:
        try:
            found["known_at"] = instant(known_at, "--known-at")
        except Usage:
            found["known_at"] = known_at.strip()
    return found


_query = query  # `search` has an argument of that name


def _known(option: str, words: Sequence[str], vocabulary: Iterable[str]) -> None:
    known = list(vocabulary)
    for word in words:
        if word not in known:
            import difflib

            nearest = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
            asked = f"; did you mean `{nearest[0]}`?" if nearest else ""
            raise Usage(what=f"{option}: no such word as `{word}`{asked}", hint=f"one of {', '.join(known)}.")


# --- ends ------------------------------------------------------------------------------------


def _width(io: Io) -> int:
    return io.width if io.terminal else 0


def noted(memory: Memory, io: Io, *, queue: bool = False) -> int:
    """Say what a reader should know besides the answer (events that are newer, or can't be read); return 0.

    With `queue`, a person at a terminal is also told how much waits for them, in a line.
    """
    for notice in memory.notices():
        io.warn(notice)
    if queue and io.terminal and io.err.isatty():
        count, oldest = memory.waiting()
        if count:
            from gitmem.cli import standings

            io.tell_last(Line(("", f"{standings.waiting(count, oldest)}: git decisions review")))
    return 0
