"""json: one object with all events, each on a line of its own; the same as `log --json` says, of any length."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping


def pieces(events: Iterable[Mapping[str, object]]) -> Iterator[str]:
    yield '{"schema": 1, "events": ['
    mark = "\n"
    for event in events:
        yield mark + json.dumps(event, ensure_ascii=False)
        mark = ",\n"
    yield "\n]}\n"
