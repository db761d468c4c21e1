"""What `stats` counted, as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitmem.cli.text import Line, Piece, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LABELS = {"change_type": "change"}
#: So many values of one kind are told; people's names can be many.
TOLD_MAX = 12
_COLUMN = 9


def told(answer: Mapping[str, Any]) -> Iterator[Line]:
    """Yield the sums, then a line for each thing that is counted."""
    decisions = sum(answer["by"]["verdict"].values())
    sums = f"{plural(decisions, 'decision')} on {plural(answer['entities'], 'entity', 'entities')}"
    yield Line(("heading", sums), ("", f", from {plural(answer['events'], 'event')}"))
    commits = answer["commits"]
    if commits["total"]:
        share = 100 * commits["with_decisions"] // commits["total"]
        covered = f"commits with a decision: {commits['with_decisions']:,} of {commits['total']:,} ({share} %)"
        without = f"; {plural(answer['unlinked'], 'change')} without a commit" if answer["unlinked"] else ""
        yield Line(("", covered + without), hang=4)
    for name, counts in answer["by"].items():
        if counts:
            yield _line(name, counts)


def _line(name: str, counts: Mapping[str, int]) -> Line:
    pieces: list[Piece] = [("label", _LABELS.get(name, name).ljust(_COLUMN))]
    for number, (value, count) in enumerate(list(counts.items())[:TOLD_MAX]):
        style = value if name == "verdict" else ""
        pieces.append((style, f"{', ' if number else ''}{count:,} {value}"))
    if len(counts) > TOLD_MAX:
        pieces.append(("dim", f" and {len(counts) - TOLD_MAX:,} more"))
    return Line(*pieces, hang=_COLUMN)
