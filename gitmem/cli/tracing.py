"""why: ask, then print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitmem import presenters
from gitmem.cli.entries import COMMIT, SHORT, day, reason, standing, title
from gitmem.cli.reading import noted
from gitmem.cli.terminal import Io
from gitmem.cli.text import EMPTY, Line, first_line, labelled, paragraphs, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory

#: What is told of a decision besides its reason: field, label.
_FIELDS = (("approach", "approach"), ("instead", "instead"), ("stale_when", "worth another look when"))


def why(memory: Memory, io: Io, *, place: str, all_scopes: bool, as_json: bool) -> int:
    answer = presenters.why(memory.why(place, all_scopes=all_scopes))
    if as_json:
        io.answer(answer)
    else:
        io.show(_lines(answer), paged=True)
    return noted(memory, io)


def _lines(answer: Mapping[str, Any]) -> Iterator[Line]:
    where = f"{answer['file']}:{answer['line']}" if answer["line"] else answer["file"]
    text = (answer["text"] or "").strip()
    yield Line(("entity", where), ("", f"  {text}" if text else ""), cut=True)
    if answer["note"]:
        yield Line(("nothing", answer["note"]))
    events = {event["id"]: event for event in answer["events"]}
    commits = answer["commits"]
    bare = 0
    for number, commit in enumerate(commits):
        if not commit["events"] and (number or not answer["line"]):
            bare += 1  # of a line, the commit that it is from is told whatever it has
            continue
        yield EMPTY
        yield Line(
            ("commit", commit["commit"][:COMMIT]),
            ("dim", f" {day(commit['date'])} {commit['author']}"),
            ("", f"  {commit['subject']}"),
            hang=4,
        )
        if not commit["events"]:
            yield Line(("nothing", "    no decision is linked to it."))
        for behind in commit["events"]:
            yield from _decision(events[behind["id"]], _by(behind))
    if answer["about"]:
        yield EMPTY
        yield Line(("heading", f"about {answer['file']} itself"))
        for event_id in answer["about"]:
            yield from _decision(events[event_id], "")
    if bare:
        yield EMPTY
        which = "other commit" if answer["known"] and commits else "commit"
        yield Line(("dim", f"{plural(bare, which)} without a decision."))
    if not answer["known"] and not answer["note"]:
        yield Line(("dim", "nothing is known. `git decisions link --scan` finds links that no hook made."), hang=4)


def _by(behind: Mapping[str, Any]) -> str:
    """Return how a decision belongs to its commit, where that is more than having been made for it."""
    if behind["reverted_by"]:
        return f"its commit was reverted by {behind['reverted_by'][:COMMIT]}"
    if behind["via"]:
        return f"by {behind['how']}, from {behind['via'][:COMMIT]}"
    return "its message names the decision" if behind["how"] in ("stated", "trailer") else ""


def _decision(event: Mapping[str, Any], note: str) -> Iterator[Line]:
    yield Line(
        ("", "    "),
        ("id", event["id"][:SHORT]),
        *standing(event),
        ("", " "),
        ("entity", title(event)),
        *([("warning" if "reverted" in note else "dim", f"  [{note}]")] if note else []),
        hang=6,
    )
    text = first_line(reason(event))
    if text:
        yield from paragraphs(text, indent=6)
    for field, label in _FIELDS:
        if event.get(field):
            yield from labelled(label, event[field], indent=6)
