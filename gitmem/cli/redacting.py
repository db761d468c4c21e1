"""redact, expunge: take something out, say what was reached and what was not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitmem import presenters
from gitmem.cli.entries import SHORT
from gitmem.cli.recording import reason
from gitmem.cli.terminal import Io
from gitmem.cli.text import Line, plural
from gitmem.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory

#: How many ids are listed.
LISTED_MAX = 10


def redact(
    memory: Memory,
    io: Io,
    *,
    id: str,
    reasoning: Sequence[str],
    file: str | None,
    hide_approach: bool,
    hide_entity: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    if hide_approach and hide_entity:
        raise Usage(what="--hide-entity hides the approach as well: give one of the two", command="redact")
    why = reason(io, reasoning, file, "redact")
    mode = "entity" if hide_entity else "approach" if hide_approach else "plain"
    return _tell(io, presenters.redact(memory.redact(id, why, mode=mode, dry_run=dry_run)), as_json=as_json)


def expunge(
    memory: Memory,
    io: Io,
    *,
    before: str | None,
    reasoning: Sequence[str],
    file: str | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    if before is None:
        raise Usage(what="expunge needs a date: --before DATE", command="expunge")
    from gitmem.cli.dates import moment

    why = reason(io, reasoning, file, "expunge")
    result = memory.expunge(moment(before, "--before"), why, dry_run=dry_run)
    return _tell(io, presenters.expunge(result), as_json=as_json)


def _tell(io: Io, answer: Mapping[str, Any], *, as_json: bool) -> int:
    if as_json:
        io.answer(answer)
    else:
        io.show(_told(answer))
    for sentence in answer["held"]:
        io.warn(sentence)
    return 0


def _told(answer: Mapping[str, Any]) -> Iterator[Line]:
    ids = answer["redacted"]
    named = ", ".join(one[:SHORT] for one in ids[:LISTED_MAX])
    more = f" and {len(ids) - LISTED_MAX:,} more" if len(ids) > LISTED_MAX else ""
    if answer["dry_run"]:
        if not answer["commits"]:
            yield Line(("dim", "nothing to take out"))
            return
        yield Line(("dim", "would redact "), ("id", named), ("", more), hang=4)
        size = f", and packs of {answer['bytes']:,} bytes be written anew" if answer["bytes"] else ""
        yield Line(
            ("", f"{plural(answer['commits'], 'commit')} of the log would be rewritten, "),
            ("", f"{plural(answer['objects'], 'object')} removed{size}."),
        )
        return
    if not answer["written"]:
        told = (("dim", ": "), ("id", named), ("dim", f"{more} (redacted before)")) if named else ()
        yield Line(("dim", "nothing to take out"), *told)
        if answer["objects"]:
            yield Line(("", f"{plural(answer['objects'], 'object')} that was left behind removed."))
        return
    yield Line(("good", "redacted "), ("id", named), ("", more), hang=4)
    packs = f", {plural(answer['packs'], 'pack')} written anew" if answer["packs"] else ""
    yield Line(
        ("", f"{plural(answer['commits'], 'commit')} rewritten, {plural(answer['objects'], 'object')} removed{packs}.")
    )
    yield Line(
        ("dim", "Not reached: other clones until they fetch and adopt this, forks, caches of a host, backups. "),
        ("dim", "A secret that was pushed is known: change it."),
    )
