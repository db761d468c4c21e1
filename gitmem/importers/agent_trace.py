"""Agent Trace records (0.1.0, JSON or NDJSON), as drafts: which agent changed which file, in which conversation.

A record says who wrote which lines, and no why: the event is a `modify` of the file whose reason says that. Records
that Selvedge wrote carry an entity, a change and a reason of their own, which are taken instead. Records that gitmem
wrote name the events that they were made of; those are in a log already, and are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from gitmem.core import dates, vocabulary
from gitmem.core.drafts import Draft
from gitmem.errors import Refused
from gitmem.importers.json_values import Values
from gitmem.importers.pen import Pen, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OWN = "dev.gitmem"
_SELVEDGE = "dev.selvedge"


def read(path: str, pen: Pen) -> Iterator[Draft]:
    """Yield the drafts of the file at `path`. Raises Refused where it can't be read."""
    try:
        with open(path, "rb") as file:
            for where, record in Values(file, pen.tally.skip):
                pen.tally.saw("records")
                if isinstance(record, dict) and isinstance(record.get("files"), list):
                    yield from _changes(record, where, pen)
                else:
                    pen.tally.skip("records that are not Agent Trace 0.1.0", where)
    except OSError as error:
        raise Refused(
            field="PATH",
            what=f"{path[:200]!r} can't be read: {error.strerror}",
            hint="give a file of Agent Trace records: JSON, or one a line.",
        ) from None


def _changes(record: Mapping[str, Any], where: str, pen: Pen) -> Iterator[Draft]:
    metadata = record.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    if _OWN in metadata:
        pen.tally.saw("records of gitmem's own")
        return
    name = _text(record.get("id")) or named(json.dumps(record, sort_keys=True))
    time = _text(record.get("timestamp"))
    common: dict[str, object] = {"evidence": [f"agent-trace:{name}"]}
    try:
        common["valid_from"] = dates.instant(time)
    except dates.BadTime:
        pen.tally.once("times that are none, taken for now", where)
    revision = _text(_dict(record.get("vcs")).get("revision"))
    if revision:
        common["evidence"] = [f"agent-trace:{name}", f"commit:{revision}"]
    tool = _text(_dict(record.get("tool")).get("name"))
    if tool:
        common["agent"] = tool
    own = _dict(metadata.get(_SELVEDGE))
    if _text(own.get("entity_path")):
        yield from _of_selvedge(own, name, where, common, pen)
        return
    for file in record["files"]:
        path = _text(_dict(file).get("path"))
        if not path:
            pen.tally.skip("files without a path", where)
            continue
        pen.tally.saw("files")
        fields = {
            **common,
            "entity_path": path,
            "entity_type": "file",
            "change_type": "modify",
            "reasoning": _said(file, tool),
        }
        yield from pen.change(f"agent-trace:{named(name, time)}:{named(path)}", where, fields)


def _of_selvedge(
    own: Mapping[str, Any], name: str, where: str, common: Mapping[str, object], pen: Pen
) -> Iterator[Draft]:
    change = _text(own.get("change_type"))
    if change not in vocabulary.CHANGE_TYPES or change == "supersede":
        pen.tally.skip("changes of Selvedge that say too little to be imported from a trace", where)
        return
    fields = {
        **common,
        "entity_path": _text(own.get("entity_path")),
        "change_type": change,
        "reasoning": _text(own.get("reasoning")) or "Recorded in Selvedge without a reason.",
    }
    kind = _text(own.get("entity_type"))
    if kind in vocabulary.ENTITY_TYPES and kind != "other":
        fields["entity_type"] = kind
    for ours, theirs in (("changeset_id", "changeset_id"), ("session_id", "session_id"), ("agent", "agent")):
        if _text(own.get(theirs)):
            fields[ours] = _text(own.get(theirs))
    yield from pen.change(f"selvedge:{name}", where, fields)


def _said(file: Mapping[str, Any], tool: str) -> str:
    """Return what a record knows of a file, as a sentence: who wrote how many lines, in which conversation."""
    lines, models, urls = 0, [], []
    for one in _list(file.get("conversations")):
        conversation = _dict(one)
        who = _text(_dict(conversation.get("contributor")).get("model_id"))
        models += [who] if who and who not in models else []
        url = _text(conversation.get("url"))
        urls += [url] if url and url not in urls else []
        for part in _list(conversation.get("ranges")):
            first, last = _dict(part).get("start_line"), _dict(part).get("end_line")
            if isinstance(first, int) and isinstance(last, int) and last >= first:
                lines += last - first + 1
    by = f" by {', '.join(models[:3])}" if models else f" by {tool}" if tool else ""
    where = f", in {', '.join(urls[:3])}" if urls else ""
    return f"{lines:,} lines written{by}{where}; the trace gives no reason."


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
