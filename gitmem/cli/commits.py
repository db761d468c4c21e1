"""link: which commits belong to which events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitmem import presenters
from gitmem.cli.entries import COMMIT, SHORT
from gitmem.cli.terminal import Io
from gitmem.cli.text import Line, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory


def link(memory: Memory, io: Io, *, scan: bool, as_json: bool) -> int:
    def progress(what: str, done: int, total: int) -> None:
        io.progress(f"{what}: {total:,}" if total else what)

    try:
        answer = presenters.link(memory.link(scan=scan, progress=progress))
    finally:
        io.progress_ends()
    if as_json:
        io.answer(answer)
    else:
        io.show(_linked(answer))
    return 0


def _linked(answer: Mapping[str, Any]) -> Iterator[Line]:
    for one in answer["links"]:
        yield _found(one, one["how"])
    for one in answer["found"]:
        yield _found(one, f"{one['how']}; known here, its author's clone writes it")
    for one in answer["doubts"]:
        events, commits = (
            ", ".join(oid[:n] for oid in one[name]) for name, n in (("events", SHORT), ("commits", COMMIT))
        )
        yield Line(("warning", "not linked: "), ("id", events), ("", " fits "), ("commit", commits), hang=4)
    count = len(answer["links"])
    more = f", {len(answer['found']):,} more known here" if answer["found"] else ""
    left = f"; {plural(answer['unlinked'], 'event')} without a commit" if answer["unlinked"] else ""
    yield Line(("", f"{plural(count, 'link')} found{more}{left}."))


def _found(one: Mapping[str, Any], note: str) -> Line:
    events = ", ".join(event[:SHORT] for event in one["events"])
    return Line(("commit", one["commit"][:COMMIT]), ("", " <- "), ("id", events), ("dim", f" ({note})"), hang=4)
