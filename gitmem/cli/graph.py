"""`log --graph`: which event saw which, drawn beside the entries as git draws commits and parents.

An edge is one of the relations that verdicts are made of: `after`, `supersedes`, `targets`. Where two
events stand in lanes of their own, neither saw the other: that is what contests. Edges that follow from
others are left out, so a line is the nearest that was seen. What lies outside the listing ends its lane.

A lineage stands together, as `git log --graph` keeps branches together: lineages by their newest event,
newest first within each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from gitmem.cli.text import EMPTY, Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Event = Mapping[str, Any]

RELATIONS = ("after", "supersedes", "targets")


def arranged(events: Sequence[Event]) -> list[tuple[Event, list[str]]]:
    """Return the events (given newest first) with the ids of those they saw, each lineage in one piece."""
    by_id = {event["id"]: event for event in events}
    seen = {id: _seen(event, by_id) for id, event in by_id.items()}
    group = _groups(seen)
    members: dict[str, list[Event]] = {}
    for event in events:
        members.setdefault(group[event["id"]], []).append(event)
    clocks = {id: event.get("clock") or 0 for id, event in by_id.items()}
    ordered = [event for lineage in members.values() for event in _children_first(lineage, seen)]
    return [(event, _nearest(seen, clocks, event["id"])) for event in ordered]


def _seen(event: Event, by_id: Mapping[str, Event]) -> list[str]:
    ids = [id for relation in RELATIONS for id in event.get(relation) or () if id in by_id and id != event["id"]]
    return list(dict.fromkeys(ids))


def _groups(seen: Mapping[str, Sequence[str]]) -> dict[str, str]:
    root = {id: id for id in seen}

    def find(id: str) -> str:
        while root[id] != id:
            root[id] = root[root[id]]
            id = root[id]
        return id

    for id, others in seen.items():
        for other in others:
            root[find(other)] = find(id)
    return {id: find(id) for id in seen}


def _children_first(lineage: Sequence[Event], seen: Mapping[str, Sequence[str]]) -> Iterator[Event]:
    # The order of the log is right already: a clock lies above the clocks of all that was seen. Only the clocks of
    # a foreign writer could break that; then, among what is free, the order given.
    place = {event["id"]: number for number, event in enumerate(lineage)}
    if all(place[id] < place[other] for id in place for other in seen[id]):
        yield from lineage
        return
    waits = dict.fromkeys(place, 0)
    for id in place:
        for other in seen[id]:
            waits[other] += 1
    left = list(lineage)
    while left:
        event = left.pop(next((number for number, one in enumerate(left) if waits[one["id"]] <= 0), 0))
        for other in seen[event["id"]]:
            waits[other] -= 1
        yield event


def _nearest(seen: Mapping[str, Sequence[str]], clocks: Mapping[str, int], id: str) -> list[str]:
    """Return what `id` saw, without what one of those saw already."""
    direct = seen[id]
    if len(direct) < 2:
        return list(direct)
    lowest = min(clocks[one] for one in direct)  # nothing at or below it leads to one of them
    further: set[str] = set()
    stack = [other for one in direct for other in seen[one]]
    while stack:
        one = stack.pop()
        if one not in further:
            further.add(one)
            if clocks[one] > lowest:
                stack.extend(seen[one])
    return [one for one in direct if one not in further]


def drawn(events: Sequence[Event], entry: Callable[[Event], list[Line]]) -> Iterator[Line]:
    """Yield the lines that `entry` makes of each event (given newest first), with the lanes beside them."""
    lanes: list[str] = []  # each lane waits for the id of the event that it leads to
    for event, parents in arranged(events):
        id = event["id"]
        if id not in lanes:
            lanes.append(id)
        at = lanes.index(id)
        # Lanes that lead to the same event come together in front of it.
        while lanes.count(id) > 1:
            last = len(lanes) - 1 - lanes[::-1].index(id)
            yield EMPTY.railed((_together(at, last, len(lanes)), ""))
            del lanes[last]
        node = _rails(len(lanes), at)
        lanes[at : at + 1] = parents
        # The rows between the node and what follows: a lane for each further parent, or one lane less.
        rows = [_apart(at + fork, len(lanes) - len(parents) + 1 + fork) for fork in range(len(parents) - 1)]
        if not parents and at < len(lanes):
            rows.append(_closing(at, len(lanes)))
        rest = _rails(len(lanes)) or "  "
        head, *others = entry(event)
        yield head.railed((node, _rails(len(lanes) - len(rows)) if parents else rest))
        yield from (EMPTY.railed((row, "")) for row in rows)
        for line in others:
            yield line.railed((rest, rest))


def _rails(count: int, node: int = -1) -> str:
    return "".join("* " if lane == node else "| " for lane in range(count))


def _together(at: int, last: int, count: int) -> str:
    """Return the row in which lane `last` runs into lane `at`: `|/`, `|_|/`; lanes beyond it move one left."""
    row = [" "] * (2 * count)
    for lane in range(last):
        row[2 * lane] = "|"
    for lane in range(at, last - 1):
        row[2 * lane + 1] = "_"
    for lane in range(last, count):
        row[2 * lane - 1] = "/"
    return "".join(row).rstrip()


def _apart(at: int, count: int) -> str:
    """Return the row in which a new lane leaves lane `at` of `count`; lanes beyond it move one right."""
    row = [" "] * (2 * count + 2)
    for lane in range(at + 1):
        row[2 * lane] = "|"
    for lane in range(at, count):
        row[2 * lane + 1] = "\\"
    return "".join(row).rstrip()


def _closing(at: int, count: int) -> str:
    """Return the row in which the lanes right of an ended lane `at` move one left."""
    row = [" "] * (2 * count + 2)
    for lane in range(at):
        row[2 * lane] = "|"
    for lane in range(at, count):
        row[2 * lane + 1] = "/"
    return "".join(row).rstrip()
