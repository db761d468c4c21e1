"""assert, verify, rebuild."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem import presenters
from gitmem.cli.terminal import Io
from gitmem.cli.text import Line, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory


def assert_recorded(memory: Memory, io: Io, *, ids: Sequence[str], as_json: bool) -> int:
    answer: dict[str, Any] = presenters.assert_ids(memory.assert_ids(ids))
    missing = answer["missing"]
    if as_json:
        io.answer(answer)
    elif missing:
        io.show([Line(("error", "not in the log: "), ("", id)) for id in missing])
    else:
        count = len(answer["present"])
        io.show([Line(("good", "recorded"), ("", f": {plural(count, 'event')}"))])
    return 1 if missing else 0


def verify(
    memory: Memory, io: Io, *, since: str | None, full: bool, allow_missing: bool, format: str, as_json: bool
) -> int:
    result = memory.verify(since=since, full=full, allow_missing=allow_missing)
    answer = presenters.verify(result)
    if as_json or format == "json":
        io.answer(answer)
    else:
        from gitmem.cli import findings

        if format == "github":
            for command in findings.github(answer):
                io.out.write(f"{command}\n")
        else:
            io.show(findings.text(answer))
    return result.code


def rebuild(memory: Memory, io: Io, *, as_json: bool) -> int:
    answer: dict[str, Any] = presenters.rebuild(memory.rebuild())
    if as_json:
        io.answer(answer)
    else:
        io.show([Line(("good", "rebuilt"), ("", f" from {plural(answer['events'], 'event')}."))])
    return 0
