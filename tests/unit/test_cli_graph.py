"""`log --graph`: the lanes are what the events saw, no more and no less."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gitmem.cli.graph import arranged, drawn
from gitmem.cli.text import EMPTY, Line, joined

Event = dict[str, Any]


def event(id: str, *after: str, clock: int = 0, **fields: Any) -> Event:
    return {"id": id, "after": list(after), "clock": clock, **fields}


def drawing(*events: Event) -> str:
    def entry(event: Event) -> list[Line]:
        return [Line(("", event["id"])), Line(("", "  why")), EMPTY]

    return joined(drawn(events, entry))


def test_a_chain_is_one_lane() -> None:
    assert drawing(event("c", "b", clock=3), event("b", "a", clock=2), event("a", clock=1)) == (
        "* c\n|   why\n|\n* b\n|   why\n|\n* a\n    why\n\n"
    )


def test_two_that_never_met_stand_side_by_side_until_one_saw_both() -> None:
    events = [event("d", "b", "c", clock=3), event("c", "a", clock=2), event("b", "a", clock=2), event("a", clock=1)]
    assert drawing(*events) == (
        "* d\n|\\\n| |   why\n| |\n| * c\n| |   why\n| |\n* | b\n| |   why\n| |\n|/\n* a\n    why\n\n"
    )


def test_an_edge_that_follows_from_others_is_left_out() -> None:
    events = [event("c", "b", clock=3, supersedes=["a"], targets=["a"]), event("b", "a", clock=2), event("a", clock=1)]
    assert {one["id"]: seen for one, seen in arranged(events)} == {"c": ["b"], "b": ["a"], "a": []}


def test_a_supersede_written_elsewhere_is_an_edge() -> None:
    events = [event("c", clock=3, supersedes=["a"]), event("x", clock=2), event("a", clock=1)]
    assert [(one["id"], seen) for one, seen in arranged(events)] == [("c", ["a"]), ("a", []), ("x", [])]


def test_what_is_outside_the_listing_ends_its_lane() -> None:
    assert drawing(event("c", "gone", clock=9)) == "* c\n    why\n\n"


def test_lineages_stand_together_the_newest_first() -> None:
    events = [event("x2", "x1", clock=4), event("y", clock=3), event("x1", clock=2)]
    assert [one["id"] for one, _ in arranged(events)] == ["x2", "x1", "y"]


def test_a_foreign_clock_that_lies_does_not_turn_the_order() -> None:
    events = [event("a", clock=9), event("b", "a", clock=1)]
    assert [one["id"] for one, _ in arranged(events)] == ["b", "a"]


@given(st.data())
def test_every_event_is_drawn_once_and_every_edge_has_its_lane(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 9))
    events = []
    for number in range(count):
        seen = data.draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else set()
        events.append(event(f"e{number}", *(f"e{one}" for one in sorted(seen)), clock=number + 1))
    events.reverse()
    rows = drawing(*events).splitlines()
    nodes = [row for row in rows if "*" in row]
    assert sorted(row.split()[-1] for row in nodes) == sorted(one["id"] for one in events)
    # Follow the lanes: at each node, exactly the lanes that wait for it end in it.
    for one, seen in arranged(events):
        assert set(seen) <= set(one["after"])
        # Nothing is lost by leaving out: every id that it saw is still reached.
        edges = {other["id"]: ids for other, ids in arranged(events)}
        reached: set[str] = set()
        stack = list(seen)
        while stack:
            id = stack.pop()
            if id not in reached:
                reached.add(id)
                stack.extend(edges[id])
        assert set(one["after"]) <= reached
