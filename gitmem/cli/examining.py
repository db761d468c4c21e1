"""doctor: a line for each thing that was looked at, its remedy below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitmem import presenters
from gitmem.cli.terminal import Io
from gitmem.cli.text import Line, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory

#: state -> style
_STYLES = {"ok": "good", "note": "dim", "warning": "warning", "error": "error"}


def doctor(memory: Memory, io: Io, *, as_json: bool) -> int:
    answer: dict[str, Any] = presenters.doctor(memory.doctor())
    if as_json:
        io.answer(answer)
    else:
        io.show(_lines(answer))
    return 0 if answer["well"] else 1


def _lines(answer: Mapping[str, Any]) -> Iterator[Line]:
    checks = answer["checks"]
    width = max((len(one["what"]) for one in checks), default=0)
    for one in checks:
        name, said = f"{one['what']:<{width}}", one["says"]
        yield Line((_STYLES[one["state"]], f"{one['state']:<8}"), ("", f"{name}  {said}"), hang=10 + width)
        if one["remedy"]:
            yield Line(("", " " * (10 + width)), ("dim", f"-> {one['remedy']}"), hang=13 + width)
    counts = {state: sum(one["state"] == state for one in checks) for state in _STYLES}
    if answer["well"] and not counts["warning"]:
        yield Line(("good", "all is well."))
    else:
        yield Line(("", f"{plural(counts['error'], 'error')}, {plural(counts['warning'], 'warning')}."))
