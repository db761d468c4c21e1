"""fetch, push, sync: move the log, and say what came and what went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitmem import presenters
from gitmem.cli import entries
from gitmem.cli.terminal import Io
from gitmem.cli.text import Line, Piece, plural
from gitmem.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.cases.results import Travelled
    from gitmem.memory import Memory

#: How many events are listed, the newest.
LISTED_MAX = 10


def fetch(memory: Memory, io: Io, *, remote: str | None, dry_run: bool, as_json: bool) -> int:
    return _tell(io, memory.fetch(remote or "", dry_run=dry_run), as_json=as_json)


def push(
    memory: Memory, io: Io, *, remote: str | None, restore: bool, probe: bool, dry_run: bool, as_json: bool
) -> int:
    if not probe:
        return _tell(io, memory.push(remote or "", dry_run=dry_run, restore=restore), as_json=as_json)
    if dry_run or restore:
        raise Usage(what="--probe sends nothing, so it goes with no other option", command="push")
    name, ref = memory.probe(remote or "")
    if as_json:
        io.answer({"schema": 1, "remote": name, "ref": ref, "taken": True})
    else:
        io.show([Line(("id", name), ("", ": takes the log as "), ("id", ref))])
    return 0


def sync(memory: Memory, io: Io, *, remote: str | None, restore: bool, dry_run: bool, as_json: bool) -> int:
    return _tell(io, memory.sync(remote or "", dry_run=dry_run, restore=restore), as_json=as_json)


def _tell(io: Io, result: Travelled, *, as_json: bool) -> int:
    answer: dict[str, Any] = presenters.travelled(result)
    if as_json:
        io.answer(answer)
    else:
        io.show(_told(answer, unicode=io.unicode))
    for sentence in answer["held"]:
        io.warn(sentence)
    return 0


def _told(answer: Mapping[str, Any], *, unicode: bool) -> Iterator[Line]:
    name: Piece = ("id", answer["remote"])
    would = "would " if answer["dry_run"] else ""
    came, went = answer["received"], answer["sent"]
    if came:
        verb = "come" if would else "came"
        how = ", joined with yours" if answer["joined"] and not would else ""
        yield Line(name, ("", ": "), ("good", plural(came, "event")), ("", f" {would}{verb}{how}"))
        yield from _listed(answer["events"]["received"], came, "<" if not unicode else "←")
    if answer["redacted"]:
        ids = ", ".join(one[: entries.SHORT] for one in answer["redacted"][:LISTED_MAX])
        what = f"{would or ''}{'take out' if would else 'taken out'} here as over there: "
        yield Line(name, ("", f": {what}"), ("id", ids), hang=4)
    if went:
        verb = "go" if would else "went"
        yield Line(name, ("", ": "), ("good", plural(went, "event")), ("", f" {would}{verb}"))
        yield from _listed(answer["events"]["sent"], went, ">" if not unicode else "→")
    if answer["replaced"]:
        what = "would be replaced" if would else "was replaced"
        yield Line(name, ("", f": its log {what} by the same one without what was redacted"))
    if answer["linked"]:
        yield Line(("good", plural(answer["linked"], "link")), ("", " to commits found"))
    if not (came or went or answer["redacted"] or answer["replaced"]):
        if answer["remote_tip"] is None:
            yield Line(name, ("dim", ": it has no decisions"))
        elif answer["tip"] != answer["old_tip"] and not would:
            yield Line(name, ("dim", ": nothing new but a join"))
        else:
            yield Line(name, ("dim", ": up to date"))
    if would:
        yield Line(("dim", "nothing was done (--dry-run)."))


def _listed(events: Sequence[Mapping[str, Any]], count: int, sign: str) -> Iterator[Line]:
    shown = [event for event in events if event["kind"] != "link"][:LISTED_MAX]
    for event in shown:
        line = entries.oneline(event)
        yield Line(("dim", f"  {sign} "), *line.pieces, hang=6, cut=line.cut)
    if count > len(shown) and shown:
        yield Line(("dim", f"    and {count - len(shown):,} more"))
