"""gate, digest: ask, and say what was found, for people, programs and GitHub."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitmem import presenters
from gitmem.cli.terminal import Io
from gitmem.cli.text import Line, plural
from gitmem.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory


def gate(
    memory: Memory, io: Io, *, staged: bool, over: str | None, allow_missing: bool, format: str, as_json: bool
) -> int:
    if staged == (over is not None):
        raise Usage(what="gate looks at one thing: --staged, or --range A..B", command="gate")
    result = memory.gate_staged() if over is None else memory.gate_range(over, allow_missing=allow_missing)
    answer = presenters.gated(result)
    if as_json or format == "json":
        io.answer(answer)
    elif format == "github":
        from gitmem.cli import findings

        for command in findings.gated(answer):
            io.out.write(f"{command}\n")
    else:
        io.show(_text(answer))
    if not answer["has_log"] and not as_json:
        io.warn("there is no decision log here, so nothing was looked at.")
    if result.unread and not as_json:
        named = ", ".join(result.unread[:3]) + (" …" if len(result.unread) > 3 else "")
        io.warn(f"{plural(len(result.unread), 'file')} not read, being too large or not in this clone: {named}")
    for notice in memory.notices():
        io.warn(notice)
    return 1 if answer["stops"] else 0


def _text(answer: Mapping[str, Any]) -> Iterator[Line]:
    found = answer["findings"]
    if answer["stops"]:
        for row in answer["message"].split("\n"):
            if row.startswith("["):
                yield Line(("error", row), hang=2)
            else:
                yield Line(("", row), hang=4)
    else:
        for one in found:
            if one["severity"] == "notice":
                yield Line(("dim", f"note: {one['message']}"), hang=6)
    for one in found:
        if one["severity"] == "warning":
            by = f"{one['answered_by']} in {one['commit'][:10]}: {one['answer']}" if one["commit"] else "let pass"
            yield Line(("pending", "passes"), ("", f" ({by}): {one['message']}"), hang=4)
    if not answer["stops"] and answer["has_log"]:
        other = "else " if any(one["severity"] == "warning" for one in found) else ""
        where = f" in {plural(answer['files'], 'changed file')}."
        yield Line(("good", f"nothing {other}that was rejected comes back"), ("", where))


def digest(memory: Memory, io: Io, *, agent: str | None, max_bytes: int | None, as_json: bool) -> int:
    result = memory.digest(most=max_bytes or 2048)
    if as_json:
        io.answer(presenters.digest(result))
    elif result.text:
        io.show(Line(("", row), hang=2) for row in result.text.split("\n"))
    return 0
