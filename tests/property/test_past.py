"""The past: what a summary works out of what happened since is what judging everything anew comes to."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from test_cache import World, caught_up, worlds

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
    moment = Moment(as_of, known_at, unknown)
    expected = everything(Past(cache, moment))

    past = Past(cache, moment)
    assert past.counts() == {verdict: len(several) for verdict, several in expected.items()}
    for verdict in VERDICTS:
        found = [(one.standing, one.entity_path, one.approach_key) for one in past.decisions_with(verdict)]
        assert sorted(found) == expected.get(verdict, [])
    shown = past.decisions_worst(100)
    assert [one.verdict for one in shown] == sorted((one.verdict for one in shown), key=VERDICTS.index)
    assert len(shown) == sum(len(several) for verdict, several in expected.items() if verdict in VERDICTS[:4])
    assert [one.standing for one in past.decisions_worst(2)] == [one.standing for one in shown[:2]]
    counted = [event for event in world.known[0].values() if moment.knows(event) and moment.holds(event)]
    assert past.event_count() == len(counted)
