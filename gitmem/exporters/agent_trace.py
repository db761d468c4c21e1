"""agent-trace: Agent Trace 0.1.0, one record a line, with the ids of decisions in `related`.

A record is about files and lines. Where the event has a diff, the lines that it adds are its ranges; where its entity
is a file or lies in one, that file is named; where neither is so, the record names none and says what it is about in
its metadata. Who contributed is as the event's channel has it.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping

from gitmem.core import entities

VERSION = "0.1.0"
#: What names the events of a log, as a URL: `urn:gitmem:<event id>`.
URN = "urn:gitmem:"
#: Whose metadata it is, as the specification wants it: a domain, backwards.
VENDOR = "dev.gitmem"
_CONTRIBUTORS = {"human": "human", "agent": "ai", "import": "unknown"}
_TOLD = (
    "kind", "change_type", "entity_path", "entity_type", "scope", "approach", "reasoning", "instead", "constraint",
    "stale_when", "verdict", "trust", "agent", "session_id", "changeset_id", "commits", "supersedes", "superseded_by",
    "core", "gist", "topic", "paths", "outcome", "severity", "cost", "binding",
)  # fmt: skip
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def pieces(events: Iterable[Mapping[str, object]]) -> Iterator[str]:
    for event in events:
        yield json.dumps(record(event), ensure_ascii=False) + "\n"


def record(event: Mapping[str, object]) -> dict[str, object]:
    """Return the record of one event."""
    event_id = str(event["id"])
    related = [_related("decision", event_id)]
    for name, kind in (("supersedes", "supersedes"), ("superseded_by", "superseded-by")):
        listed = event.get(name)
        related += [_related(kind, str(one)) for one in (listed if isinstance(listed, list) else ())]
    contributor = {"type": _CONTRIBUTORS.get(str(event.get("channel")), "unknown")}
    files = []
    for path, ranges in _places(event).items():
        conversation = {"contributor": contributor, "ranges": ranges, "related": related}
        files.append({"path": path, "conversations": [conversation]})
    out: dict[str, object] = {
        "version": VERSION,
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, URN + event_id)),
        "timestamp": event.get("recorded_at"),
    }
    commits = event.get("commits")
    if isinstance(commits, list) and commits:
        out["vcs"] = {"type": "git", "revision": commits[-1]}
    out["files"] = files
    told = {name: event[name] for name in _TOLD if event.get(name)}
    out["metadata"] = {VENDOR: {"event": event_id, **told}}
    return out


def _related(kind: str, event_id: str) -> dict[str, str]:
    return {"type": kind, "url": URN + event_id}


def _places(event: Mapping[str, object]) -> dict[str, list[dict[str, int]]]:
    """Return the files that an event is about, each with the ranges of lines that its diff adds."""
    diff = event.get("diff")
    found = _added(diff) if isinstance(diff, str) else {}
    name = entities.place_of(str(event.get("entity_path") or ""))
    paths = event.get("paths")
    for path in paths if isinstance(paths, list) else ():
        found.setdefault(entities.place_of(str(path)), [])
    found.pop("", None)
    if name and event.get("entity_type") not in ("column", "table", "dependency", "env_var", "endpoint"):
        found.setdefault(name, [])
    return found


def _added(diff: str) -> dict[str, list[dict[str, int]]]:
    found: dict[str, list[dict[str, int]]] = {}
    ranges: list[dict[str, int]] | None = None
    at = 0
    in_hunk = False
    for row in diff.split("\n"):
        if row.startswith("diff --git ") or (row.startswith("--- ") and not in_hunk):
            ranges, in_hunk = None, False
        elif row.startswith("+++ ") and not in_hunk:
            name = row[4:].rstrip("\r").partition("\t")[0]
            ranges = None if name == "/dev/null" else found.setdefault(name.removeprefix("b/"), [])
        elif hunk := _HUNK.match(row):
            at, in_hunk = int(hunk[1]), True
        elif in_hunk and row.startswith("+"):
            if ranges is not None and at > 0:
                if ranges and ranges[-1]["end_line"] == at - 1:
                    ranges[-1]["end_line"] = at
                else:
                    ranges.append({"start_line": at, "end_line": at})
            at += 1
        elif in_hunk and row.startswith(" "):
            at += 1
    return found
