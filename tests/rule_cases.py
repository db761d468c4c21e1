"""The worked cases of the rules (`golden/rules`), as events and drafts.

A case says no more than it needs: what is left out is empty, `after` too; the time is 1970, and the basis is person for
the channel human, else none. Ids are letters there and become ids that sort alike here. The clock counts the events of
a case, or is the same for all: it must make no difference but to which of several is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gitmem.core.drafts import Draft, Stamp, Writer
from gitmem.core.events import Event

FOLDER = Path(__file__).parent / "golden" / "rules"
_IDS = ("after", "supersedes", "targets")
_OF_THE_DRAFT = ("id", "author", "channel", "kind", "reopens", "whole")


def cases() -> list[dict[str, Any]]:
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        for case in json.loads(path.read_text("utf-8")):
            found.append({"file": path.stem, **case})
    return found


def long_id(letters: str) -> str:
    return letters.encode().hex().ljust(64, "0")


def letters_of(event_id: str) -> str:
    return bytes.fromhex(event_id).rstrip(b"\0").decode()


def log(case: dict[str, Any], *, clocks: bool = True) -> list[Event]:
    return [event(given, clock=number if clocks else 1) for number, given in enumerate(case["events"], 1)]


def event(given: dict[str, Any], *, clock: int = 1) -> Event:
    fields: dict[str, Any] = {
        "v": 1,
        "clock": clock,
        "recorded_at": "1970-01-01T00:00:01.000000Z",
        "scope": "",
        "after": [],
        "basis": "person" if given["channel"] == "human" else "none",
        "reasoning" if given["kind"] == "change" else "reason": "because",
        **{name: value for name, value in given.items() if name not in ("id", "redacted")},
    }
    for name in _IDS:
        if name in fields:
            fields[name] = [long_id(one) for one in fields[name]]
    redacted = given.get("redacted", "")
    if redacted in ("approach", "entity"):
        fields.pop("approach", None)
    if redacted == "entity":
        for name in ("entity_path", "renamed_from", "renames"):
            fields.pop(name, None)
    return Event(long_id(given["id"]), fields, redacted=redacted)


def draft(given: dict[str, Any]) -> tuple[Draft, Writer]:
    why = "reasoning" if given["kind"] == "change" else "reason"
    fields = {why: "why not", **{name: value for name, value in given.items() if name not in _OF_THE_DRAFT}}
    for name in _IDS:
        if name in fields:
            fields[name] = [long_id(one) for one in fields[name]]
    made = Draft(given["kind"], fields, reopens=given.get("reopens", False), whole=given.get("whole", False))
    return made, Writer(given["author"], given["channel"], tool="test/1")


def stamp(clock: int = 9) -> Stamp:
    def nonces() -> Iterator[str]:
        for number in range(100):
            yield f"{number:032x}"

    return Stamp(clock, "1970-01-01T00:08:20.000000Z", nonces())
