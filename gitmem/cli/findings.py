"""What `verify` found, for people and for GitHub."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitmem.cli.entries import COMMIT, SHORT
from gitmem.cli.text import Line, Piece, plural, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LOG_REF = "refs/decisions/log"


def text(answer: Mapping[str, Any]) -> Iterator[Line]:
    """Yield each finding, then the verdict on the log."""
    findings = answer["findings"]
    for finding in findings:
        place = " ".join(
            part
            for part in (
                f"commit {finding['commit'][:COMMIT]}" if finding.get("commit") else "",
                f"event {finding['event'][:SHORT]}" if finding.get("event") else "",
            )
            if part
        )
        severity = finding["severity"]
        pieces: list[Piece] = [(severity, severity), ("", f" {finding['rule']}: {finding['message']}")]
        yield Line(*pieces, ("dim", f" ({place})" if place else ""), hang=4)
    yield _conclusion(answer)


def _conclusion(answer: Mapping[str, Any]) -> Line:
    errors = sum(finding["severity"] == "error" for finding in answer["findings"])
    warnings = len(answer["findings"]) - errors
    size = f"{plural(answer['events'], 'event')} in {plural(answer['commits'], 'commit')}"
    size += f", {answer['newer']:,} newer than this gitmem" if answer["newer"] else ""
    since = f", checked from {answer['incremental_from'][:COMMIT]} on" if answer.get("incremental_from") else ""
    tip = f", tip {answer['tip']}" if answer.get("tip") else ""
    counted = " and ".join(
        part
        for part in (plural(errors, "error") if errors else "", plural(warnings, "warning") if warnings else "")
        if part
    )
    if answer["sound"]:
        return Line(("good", "sound"), ("", f": {size}{tip}{since}{f'; {counted}' if counted else ''}"))
    return Line(("error", "not sound"), ("", f": {counted or 'the log is not all here'} in {size}{tip}{since}"))


def github(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield workflow commands: `::error file=…,title=…::message`, one for each finding."""
    for finding in answer["findings"]:
        title = _property(f"gitmem verify: {finding['rule']}")
        where = " ".join(f"{name} {finding[name]}" for name in ("commit", "event") if finding.get(name))
        message = f"{finding['message']} ({where})" if where else finding["message"]
        yield f"::{finding['severity']} file={_property(LOG_REF)},title={title}::{_data(message)}"
    if answer["sound"]:
        said = _data(_conclusion(answer).plain())
        yield f"::notice file={_property(LOG_REF)},title={_property('gitmem verify')}::{said}"


def gated(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield a workflow command for each finding of the gate, on its file and line."""
    for one in answer["findings"]:
        place = f"file={_property(one['path'])}" + (f",line={one['line']}" if one["line"] else "")
        title = _property(f"{one['entity_path'] or 'decision'} [{one['event'][:SHORT]}]")
        said = one["message"]
        if one["severity"] == "error":
            said += f"\n{one['to_go_on']}"
        elif one["commit"]:
            said += f"\nIt passes by {one['answered_by']} in {one['commit'][:COMMIT]}: {one['answer']}"
        yield f"::{one['severity']} {place},title={title}::{_data(said)}"


def _data(text: str) -> str:
    # A line feed or a percent sign would end or change the command; they have escapes, other controls are spelled out.
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return visible(text)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
