"""stale: ask, then print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitmem import presenters
from gitmem.cli.entries import SHORT, day
from gitmem.cli.terminal import Io
from gitmem.cli.text import EMPTY, Line, labelled, plural
from gitmem.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory

#: What of a decision is told besides why it is listed: field, label.
FIELDS = (
    ("reasoning", "reason"),
    ("instead", "instead"),
    ("expires_when", "expires when"),
    ("revisit_after", "revisit after"),
    ("stale_when", "worth another look when"),
)


def stale(
    memory: Memory,
    io: Io,
    *,
    entity: str | None,
    flags: Sequence[str],
    limit: int | None,
    all_scopes: bool,
    as_json: bool,
) -> int:
    from gitmem.core.staleness import FLAGS

    for flag in flags:
        if flag not in FLAGS:
            raise Usage(what=f"--flag: no such word as `{flag}`", hint=f"one of {', '.join(FLAGS)}.")
    answer = presenters.stale(memory.stale(entity, flags=flags, all_scopes=all_scopes, limit=limit or 0))
    if as_json:
        io.answer(answer)
    else:
        io.show(_listed(answer, entity), paged=True)
    for notice in memory.notices():
        io.warn(notice)
    return 0


def _listed(answer: Mapping[str, Any], entity: str | None) -> Iterator[Line]:
    decisions = answer["decisions"]
    about = f" on {entity}" if entity else ""
    if not decisions:
        yield Line(("nothing", f"nothing is due for another look{about}."))
        return
    yield Line(("heading", f"{plural(len(decisions), 'decision')} due for another look{about}"))
    for decision in decisions:
        yield EMPTY
        yield from _told(decision)


def _told(decision: Mapping[str, Any]) -> Iterator[Line]:
    approach = f" ({decision['approach']})" if decision["approach"] else ""
    scope = f" in {decision['scope']}" if decision["scope"] else ""
    days = decision["days_overdue"]
    late = f", {plural(days, 'day')} overdue" if days else ""
    yield Line(
        ("", "["),
        ("warning", decision["flag"]),
        ("", f"{late} · "),
        ("id", decision["standing"][:SHORT]),
        ("", "] "),
        ("", f"{decision['change_type']} "),
        ("entity", decision["entity_path"]),
        ("", f"{approach}{scope}, {day(decision['since'])}, {decision['trust']}"),
        hang=4,
    )
    for signal in decision["signals"]:
        yield from labelled("because", signal["why"])
        if signal["event"]:
            yield from labelled("see", signal["event"][:SHORT], style="id")
    for field, label in FIELDS:
        if decision[field]:
            yield from labelled(label, decision[field])
