"""recall, why-not: ask, then print. What is told stands on one line each, as an agent gets it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitmem import presenters
from gitmem.cli.terminal import Io
from gitmem.cli.text import Line
from gitmem.core.ids import short
from gitmem.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory


def recall(
    memory: Memory,
    io: Io,
    *,
    query: str | None,
    paths: Sequence[str],
    budget: int | None,
    applied: Sequence[str],
    all_scopes: bool,
    as_json: bool,
) -> int:
    if query is None and not applied:
        raise Usage(what="recall needs a QUERY, or --applied ID", command="recall")
    used = memory.applied(applied) if applied else []
    if query is None:
        if as_json:
            io.answer({"schema": presenters.SCHEMA, "applied": used})
        else:
            io.show([_applied(used)])
        return 0
    found = memory.recall(query, paths=paths, budget=budget or 0, all_scopes=all_scopes)
    answer: dict[str, Any] = {**presenters.recall(found, query), "applied": used}
    if as_json:
        io.answer(answer)
        return 0
    if used:
        io.tell(_applied(used))
    io.show(_told(answer), paged=True)
    return 0


def _applied(used: Sequence[str]) -> Line:
    names = ", ".join(map(short, used))
    return Line(("good", "noted as applied: "), ("id", names), ("dim", " (the next commit writes it down)"), hang=4)


def _told(answer: dict[str, Any]) -> Iterator[Line]:
    labelled = {item["line"]: item for item in answer["recalled"]}
    for line in answer["text"].split("\n"):
        item = labelled.get(line)
        if item is None:
            yield Line(("dim" if labelled else "nothing", line))
        else:
            label, _, rest = line.partition("] ")
            name, _, said = rest.partition(" ")
            kind = "good" if item["kind"] == "decision" else "dim"
            yield Line(
                (kind, f"{label}] "), ("id", name.rstrip(":")), ("", f"{':' * name.endswith(':')} {said}"), hang=4
            )


def why_not(
    memory: Memory,
    io: Io,
    *,
    id: str,
    query: str,
    paths: Sequence[str],
    budget: int | None,
    all_scopes: bool,
    as_json: bool,
) -> int:
    found = memory.why_not(id, query, paths=paths, budget=budget or 0, all_scopes=all_scopes)
    if as_json:
        io.answer(presenters.why_not(found, query))
        return 0
    name = f"{found.kind} {short(found.id)}" if found.kind else short(found.id)
    if found.place:
        io.show([Line(("", "It is recalled: "), ("id", name), ("", f" is number {found.place} of what is told."))])
    else:
        io.show(
            [Line(("id", name), ("", " is not recalled.")), *(Line(("", f"- {one}"), hang=2) for one in found.reasons)]
        )
    return 0
