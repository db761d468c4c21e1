"""The past: what a summary works out of what happened since is what judging everything anew comes to."""

from __future__ import annotations

import tempfile

import pytest
from hypothesis import event as noted
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cache import World, caught_up, worlds
from worlds import moment

from gitmem.core import spans as core_spans
from gitmem.core.events import Event, build, parse_tombstone, tombstone
from gitmem.core.verdicts import judge
from gitmem.store import past as looking_back
from gitmem.store import spans
from gitmem.store.cache import Cache
from gitmem.store.past import Moment, Past

VERDICTS = ("contested", "rejected", "reverted", "reopened", "active", "removed")


def times(world: World) -> list[str]:
    return [f"2026-01-01T00:00:{number:02d}.000000Z" for number in range(world.number + 2)]


def everything(past: Past) -> dict[str, list[tuple[str, ...]]]:
    """The decisions of all components, each judged anew from what counts."""
    found: dict[str, list[tuple[str, ...]]] = {}
    rows = past.db.execute("SELECT DISTINCT component FROM events WHERE component IS NOT NULL").fetchall()
    for (component,) in rows:
        for row in past._decisions_of(component):
            found.setdefault(str(row[6]), []).append((str(row[8]), str(row[3]), str(row[5])))
    return {verdict: sorted(several) for verdict, several in found.items()}


def summary(past: Past) -> dict[str, list[tuple[str, ...]]]:
    """The same, as a summary tells it."""
    found = {
        verdict: sorted((one.standing, one.entity_path, one.approach_key) for one in past.decisions_with(verdict))
        for verdict in VERDICTS
    }
    assert past.counts() == {verdict: len(several) for verdict, several in found.items() if several}
    shown = past.decisions_worst(100)
    assert [one.verdict for one in shown] == sorted((one.verdict for one in shown), key=VERDICTS.index)
    assert len(shown) == sum(len(several) for verdict, several in found.items() if verdict in VERDICTS[:4])
    assert [one.standing for one in past.decisions_worst(2)] == [one.standing for one in shown[:2]]
    return {verdict: several for verdict, several in found.items() if several}


@settings(max_examples=150)
@given(worlds(), st.data())
def test_a_summary_of_the_past_is_everything_judged_anew(world, data):
    cache = caught_up(world, [world.tips[0]])
    moments = st.sampled_from(["", *times(world)])
    as_of, known_at = data.draw(moments), data.draw(moments)
    ids = sorted(world.known[0])
    unknown = data.draw(st.none() | st.sets(st.sampled_from(ids)).map(frozenset)) if ids else None
    if not as_of and not known_at and unknown is None:
        unknown = frozenset()
    then = Moment(as_of, known_at, unknown)
    past = Past(cache, then)
    assert summary(past) == everything(Past(cache, then))
    counted = [event for event in world.known[0].values() if then.knows(event) and then.holds(event)]
    assert past.event_count() == len(counted)


CLOCKS = ("as_of", "known_at")


def kept_up(cache: Cache, world: World) -> None:
    """Each moment, by each clock, is counted in spans and comes to what judging everything comes to."""
    for at in times(world):
        for clock in CLOCKS:
            past = Past(cache, Moment(**{clock: at}))
            assert summary(past) == everything(Past(cache, Moment(**{clock: at})))
            assert past._spans is not None


@pytest.mark.parametrize(("winding", "judgements"), [(1 << 20, 1 << 20), (12, 1 << 20), (1 << 20, 5), (0, 0)])
@settings(max_examples=60)
@given(world=worlds(), data=st.data())
def test_spans_say_what_judging_says_also_of_what_came_later(winding, judgements, world, data):
    """Whatever the log was when they were made; of all components, of some, of few at a time, of the plain alone."""
    several = sorted({data.draw(st.sampled_from(world.visited[0])) for _ in range(2)}, key=world.visited[0].index)
    with pytest.MonkeyPatch.context() as patch, tempfile.NamedTemporaryFile() as file:
        patch.setattr(looking_back, "SPANS_FROM", 0)
        patch.setattr(looking_back, "ASKED_MAX", data.draw(st.sampled_from((0, looking_back.ASKED_MAX))))
        patch.setattr(spans, "WINDING_FROM", winding)
        patch.setattr(spans, "JUDGEMENTS_MAX", judgements)
        cache = Cache.in_memory()
        cache.path = file.name  # where spans may be kept
        known: list[str] = []
        for tip in dict.fromkeys([*several, world.tips[0]]):
            caught_up(world, [tip], cache, known)
            known = [tip]
            kept_up(cache, world)


def test_spans_know_what_a_rename_brought_from_outside_of_the_component(tmp_path):
    world = World(1)
    for number, (change, name) in enumerate(
        [("add", "users.email"), ("reject", "accounts.email"), ("rename", "users")]
    ):
        fields = {"kind": "change", "change_type": change, "entity_type": "other", "reasoning": "because", "after": []}
        more = {"renamed_from": "accounts"} if change == "rename" else {"approach": "hash"}
        world.append(0, {**fields, **more, "entity_path": name})
        assert world.number == number + 1
    cache = caught_up(world, [world.tips[0]])
    cache.path = str(tmp_path / "cache.sqlite")
    (tmp_path / "cache.sqlite").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looking_back, "SPANS_FROM", 0)
        kept_up(cache, world)
        first, last = times(world)[1], times(world)[-1]
        assert [Past(cache, Moment(at)).counts() for at in (first, last)] == [{"active": 1}, {"contested": 1}]


TOLD_TYPES = ("add", "modify", "reject", "revert", "reject", "remove", "retype")
TYPES = (*TOLD_TYPES, "supersede", "supersede", "supersede")
ODDITIES = ("person", "lift", "lift", "lift", "gap", "gap", "rename", "hidden", "gap", "effect", "source", "early")


@st.composite
def short_histories(draw: st.DrawFn) -> list[Event]:
    """A few changes of one writer, each written after the other, or history alone; but for one oddity, or none."""
    told, person = draw(st.sampled_from(((True, False), (False, True), (False, False))))
    oddity = draw(st.sampled_from((*ODDITIES, "", "", "", "", "")))
    found: list[Event] = []
    for count in range(draw(st.integers(2, 7))):
        odd = oddity if draw(st.booleans()) else ""
        change = draw(st.sampled_from(TOLD_TYPES if told and odd != "lift" else TYPES))
        change = "rename" if odd == "rename" else change
        human = person != (odd == "person")
        fields: dict[str, object] = {
            "v": 1,
            "kind": "change",
            "change_type": change,
            "entity_path": draw(st.sampled_from(("users", "users", "people"))),
            "entity_type": "table",
            "approach": draw(st.sampled_from(("", "x", "x"))),
            "reasoning": "because",
            "scope": "",
            "clock": count + 1,
            "nonce": f"{count:032x}",
            "recorded_at": moment(count + 10),
            "author": "Ada <ada@example.org>",
            "channel": "human" if human else "agent",
            "basis": "person" if human else "none",
            "tool": "t",
            "after": [found[-1].id] if found and odd != "gap" else [],
        }
        closings = [one.id for one in found if one.change_type in ("reject", "revert")]
        if closings and (change == "supersede" or odd == "lift" or (not told and draw(st.booleans()))):
            fields["supersedes"] = [draw(st.sampled_from(closings))]
        if told or odd == "source":
            fields["source"] = f"git:{draw(st.integers(0, count))}" if odd == "source" else f"git:{count}"
        if told or odd == "early":
            fields["valid_from"] = moment(draw(st.integers(8, 12)))
        if change == "rename":
            fields["renamed_from"] = "people"
        if odd == "effect" and not human:
            fields["effect"] = "when-ratified"
        one, body = build(fields)
        found.append(parse_tombstone(tombstone(one, body, "approach")) if odd == "hidden" and one.approach else one)
    return found


@settings(max_examples=1500)
@given(short_histories())
def test_a_plain_component_turns_when_judging_it_turns(log):
    for begins in (held_from, lambda one: one.recorded_at):
        found = core_spans.of_plain(log, begins)
        noted(f"plain: {found is not None}")
        for at in sorted({begins(one) for one in log}) if found is not None else ():
            rows = []
            for one in judge([one for one in log if begins(one) <= at]).decisions():
                named = one.verdict not in core_spans.COUNTED
                rows.append((one.scope, one.verdict, *((one.standing, one.since) if named else ("", ""))))
            assert sorted(row[:4] for row in found if row[4] <= at < row[5]) == sorted(rows)


def held_from(event: Event) -> str:
    return event.valid_from or event.recorded_at
