"""The laws of replay and of the guard, on random worlds (`worlds`): order, parts, redaction, safety, authority.

`replay_model` says the same rules a second time in the plainest way, so a slip in the fast one shows as a difference.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from replay_model import Model
from worlds import APPROACHES, IMPORTER, NAMES, SCOPES, WRITERS, Step, World, moment, stories

from gitmem.core import approach, canonical, events
from gitmem.core.drafts import Draft
from gitmem.core.events import Event
from gitmem.core.lineages import Lineages, entity_key
from gitmem.core.verdicts import Judgement, judge
from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING, EFFECTS, OPENING, TRUSTS, VERDICTS

# How many worlds each law is tried on in a run; HYPOTHESIS_TIMES=50 tries fifty times as many.
_TIMES = int(os.environ.get("HYPOTHESIS_TIMES", "1"))
few = settings(max_examples=150 * _TIMES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
many = settings(max_examples=400 * _TIMES, deadline=None, suppress_health_check=[HealthCheck.too_slow])

PERSON, AGENT = WRITERS[0], WRITERS[1]


def shown(judgement: Judgement) -> set[tuple[object, ...]]:
    return {
        (
            one.scope,
            one.names,
            one.approach_key,
            one.verdict,
            one.trust,
            one.standing,
            frozenset(one.against),
            tuple(one.events),
        )
        for one in judgement.decisions()
    }


def effects(judgement: Judgement, of: Iterable[Event]) -> dict[str, tuple[object, ...]]:
    return {
        one.id: (
            judgement.effect(one.id),
            judgement.trust(one.id),
            judgement.marks(one.id),
            judgement.person_ratified(one.id),
            judgement.closed_by(one.id),
            judgement.lifted_by(one.id),
        )
        for one in of
    }


def verdict_of(judgement: Judgement, scope: str, name: str, key: str) -> str:
    found = [
        one.verdict
        for one in judgement.decisions()
        if one.scope == scope and entity_key(name) in one.names and one.approach_key == key
    ]
    return found[0] if found else ""


# --- replay ---------------------------------------------------------------------------------------


@many
@given(stories())
def test_replay_says_what_the_plain_model_says(story: list[Step]) -> None:
    log = World(story).events
    judgement, model = judge(log), Model(log)
    assert {row[:7] for row in shown(judgement)} == model.decisions
    for one in log:
        assert judgement.effect(one.id)[0] == model.effect(one.id)
        assert judgement.trust(one.id) == model.trust_of[model.node_of[one.id]]


@few
@given(stories(), st.randoms(use_true_random=False))
def test_replay_is_a_function_of_the_set(story: list[Step], chance: random.Random) -> None:
    log = World(story).events
    judgement = judge(log)
    again = [*log, *log[: len(log) // 2]]
    chance.shuffle(again)
    other = judge(again)
    assert shown(judgement) == shown(other)
    assert effects(judgement, log) == effects(other, log)


@few
@given(stories())
def test_replay_knows_no_other_words_than_the_vocabulary(story: list[Step]) -> None:
    log = World(story).events
    judgement = judge(log)
    assert {one.verdict for one in judgement.decisions()} <= set(VERDICTS)
    assert {judgement.effect(one.id)[0] for one in log} <= set(EFFECTS)
    assert {judgement.trust(one.id) for one in log} <= set(TRUSTS)


def parts(log: list[Event]) -> list[set[str]]:
    """Cut a log as a store may: by lineage under all renames, retracted ones too, and by what targets what."""
    scopes = {one.scope for one in log}
    named = {one.id: (one.scope, entity_key(one.entity_path)) for one in log if one.entity_path}
    root: dict[str, str] = {one.id: one.id for one in log}

    def top(one: str) -> str:
        while root[one] != one:
            one = root[one]
        return one

    for scope in scopes:
        names = {name for where, name in named.values() if where == scope}
        pairs = [(entity_key(a), entity_key(b)) for one in log for a, b in one.fields.get("renames", ())]
        pairs += [
            (entity_key(one.renamed_from), entity_key(one.entity_path))
            for one in log
            if one.change_type == "rename" and one.scope == scope
        ]
        lineages = Lineages(names, pairs)
        first: dict[int, str] = {}
        for event_id, (where, name) in named.items():
            if where == scope:
                root[top(event_id)] = top(first.setdefault(lineages.root(name), event_id))
    for one in log:
        for step in (*one.targets, *one.supersedes):
            if step in root and one.kind != "link":
                root[top(one.id)] = top(step)
    found: dict[str, set[str]] = {}
    for one in log:
        found.setdefault(top(one.id), set()).add(one.id)
    return list(found.values())


@many
@given(stories(4, 18))
def test_a_part_that_is_whole_in_itself_says_what_the_log_says(story: list[Step]) -> None:
    log = World(story).events
    by_id = {one.id: one for one in log}
    whole = judge(log)
    renaming = {one.id for one in log if one.change_type == "rename" or one.fields.get("renames")}
    reviews = {one.id for one in log if one.kind == "review"}

    def outside(event_id: str) -> tuple[str, ...]:
        one = by_id.get(event_id)
        return (*one.after, *one.targets, *one.supersedes) if one else ()

    for part in parts(log):
        mine = [by_id[event_id] for event_id in part]
        judgement = judge([by_id[event_id] for event_id in part | renaming | reviews], outside)
        assert effects(judgement, mine) == effects(whole, mine)
        of_mine = {row for row in shown(whole) if row[5] in part}
        assert {row for row in shown(judgement) if row[5] in part} == of_mine


# --- redaction --------------------------------------------------------------------------------------


def hidden(one: Event, form: str) -> Event:
    data = canonical.encode(one.fields)
    return events.parse_tombstone(events.tombstone(one, data, form))


@few
@given(stories(), st.integers(0, 99))
def test_a_plain_redaction_changes_nothing(story: list[Step], which: int) -> None:
    log = World(story).events
    if not log:
        return
    chosen = log[which % len(log)]
    redacted = [hidden(one, "plain") if one is chosen else one for one in log]
    before, after = judge(log), judge(redacted)
    assert shown(before) == shown(after)
    assert effects(before, log) == effects(after, log)
    assert shown(judge([*log, *redacted])) == shown(before)  # a clone that still has it


@few
@given(stories(), st.integers(0, 99))
def test_a_closing_whose_approach_is_hidden_closes_what_it_targets(story: list[Step], which: int) -> None:
    log = World(story).events
    before = judge(log)
    closings = [
        one
        for one in log
        if CHANGE_TYPES.get(one.change_type) == CLOSING
        and one.approach
        and any(target.approach == one.approach for target in log if target.id in one.targets)
    ]
    if not closings:
        return
    chosen = closings[which % len(closings)]
    after = judge([hidden(one, "approach") if one is chosen else one for one in log])
    assert {row[:7] for row in shown(before)} == {row[:7] for row in shown(after)}


@few
@given(stories(), st.integers(0, 99), st.sampled_from(["approach", "entity"]))
def test_a_hidden_event_does_what_the_plain_model_says(story: list[Step], which: int, form: str) -> None:
    log = World(story).events
    changes = [one for one in log if one.kind == "change" and (one.approach or form == "entity") and not one.source]
    if not changes:
        return
    chosen = changes[which % len(changes)]
    log = [hidden(one, form) if one is chosen else one for one in log]
    judgement, model = judge(log), Model(log)
    assert {row[:7] for row in shown(judgement)} == model.decisions
    for one in log:
        assert judgement.effect(one.id)[0] == model.effect(one.id)


# --- the guard --------------------------------------------------------------------------------------


@many
@given(stories())
def test_what_the_guard_accepts_is_not_void_on_the_log_it_was_accepted_for(story: list[Step]) -> None:
    for before, given_events in World(story).accepted:
        judgement = judge([*before, *given_events])
        for one in given_events:
            assert judgement.effect(one.id)[0] != "void", judgement.effect(one.id)


@few
@given(stories())
def test_what_the_guard_accepts_has_seen_all_that_it_is_about(story: list[Step]) -> None:
    for before, given_events in World(story).accepted:
        log = [*before, *given_events]
        judgement = judge(log)
        for one in given_events:
            if one.entity_path:
                for other in judgement.members(one.scope, one.entity_path):
                    if other in {event.id for event in before} and one.change_type != "rename":
                        assert judgement.saw(one.id, other)


@few
@given(stories())
def test_what_is_open_was_opened_past_each_closing_by_a_supersede_or_a_resolve(story: list[Step]) -> None:
    log = World(story).events
    judgement = judge(log)
    by_id = {one.id: one for one in log}
    for decision in judgement.decisions():
        if decision.verdict in ("rejected", "reverted", "contested"):
            continue
        for closing in (by_id[event_id] for event_id in decision.events):
            if CHANGE_TYPES.get(closing.change_type) != CLOSING or closing.source or closing.newer:
                continue
            if judgement.effect(closing.id)[0] in ("void", "pending"):
                continue
            lifting = [by_id[event_id] for event_id in judgement.lifted_by(closing.id)]
            assert lifting
            for one in lifting:
                assert judgement.effect(one.id)[0] not in ("void", "pending") or one.change_type in OPENING_TYPES
                assert judgement.saw(one.id, closing.id)


OPENING_TYPES = {change_type for change_type, word in CHANGE_TYPES.items() if word == OPENING}


@few
@given(stories(2, 10), st.lists(st.builds(Step, *[st.integers(0, n) for n in (0, 0, 39, 4, 2, 4, 11, 15)]), max_size=6))
def test_agents_alone_lift_nothing_that_a_person_ratified(story: list[Step], acts: list[Step]) -> None:
    world = World([step._replace(clone=0) for step in story], guarded_only=True)
    before = judge(world.events)
    closed = [
        one
        for one in before.decisions()
        if one.verdict in ("rejected", "reverted") and before.person_ratified(one.standing)
    ]
    world.guarded_only = False
    for step in acts:
        if step.what < 27 or step.what > 30:  # anything but history and joins, half of it past the guard
            world.take(step._replace(clone=0, writer=1 + 2 * (step.choice % 2), what=max(step.what, 5)))
    after = judge(world.events)
    for one in closed:
        for name in one.names:
            assert verdict_of(after, one.scope, name, one.approach_key) in ("rejected", "reverted", "contested")


def record(log: list[Event], change_type: str, name: str, key: str, scope: str, **how: bool) -> list[Event]:
    fields = {"change_type": change_type, "entity_path": name, "approach": key, "reasoning": "because", "scope": scope}
    world = World([])
    world.count = 999
    clone = {one.id: one for one in log}
    return [*log, *world.decide(clone, Draft("change", dict(fields), **how), PERSON)]


@few
@given(stories(), st.sampled_from(NAMES), st.sampled_from(APPROACHES), st.sampled_from(SCOPES))
def test_a_person_can_always_open_and_close(story: list[Step], name: str, key: str, scope: str) -> None:
    log = World(story).events
    opened = record(log, "add", name, key, scope, reopens=True)
    assert len(opened) > len(log)
    assert verdict_of(judge(opened), scope, name, approach.key(key)) == "active"
    closed = record(opened, "reject", name, key, scope, whole=True)
    assert verdict_of(judge(closed), scope, name, approach.key(key)) == "rejected"
    again = record(closed, "add", name, key, scope)
    assert again == closed  # refused


@few
@given(stories(), st.integers(0, 99))
def test_a_person_can_settle_what_is_contested_either_way(story: list[Step], which: int) -> None:
    log = World(story).events
    contested = [one for one in judge(log).decisions() if one.verdict == "contested"]
    for one in contested[:1]:
        sides = [one.standing, *one.against]
        kept = sides[which % len(sides)]
        world = World([])
        world.count = 999
        given_events = world.decide(
            {event.id: event for event in log},
            Draft("review", {"action": "resolve", "targets": [kept], "reason": "so it is"}),
            PERSON,
        )
        if not given_events:  # the closing shown may be another one than the contested; then either side of those
            continue
        settled = judge([*log, *given_events])
        for name in one.names:
            assert verdict_of(settled, one.scope, name, one.approach_key) != "contested"


# --- history ------------------------------------------------------------------------------------------


@few
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 1)), min_size=1, max_size=6),
    st.integers(0, 3),
    st.randoms(use_true_random=False),
)
def test_history_comes_out_the_same_in_whatever_order_it_is_imported(
    told: list[tuple[int, int, int]], live: int, chance: random.Random
) -> None:
    """`live` changes are recorded first by a person; then what is told is imported, each time in another order."""
    before: list[Event] = []
    for number in range(live):
        before = record(before, ("add", "reject", "modify")[number], NAMES[0], "x", "", whole=True)
    outcomes = set()
    for _ in range(3):
        world = World([])
        clone = {one.id: one for one in before}
        for number, (what, when, which) in chance.sample(list(enumerate(told)), len(told)):
            world.count = 100 + number
            fields = {
                "change_type": ("add", "revert", "reject", "remove")[what],
                "entity_path": NAMES[0],
                "approach": ("x", "y")[which],
                "reasoning": "history says so",
                "source": f"git:{number}",
                "valid_from": moment(14 * 60 + when * 300),  # some of it before what is live, some after
            }
            assert world.decide(clone, Draft("change", dict(fields)), IMPORTER)
        outcomes.add(frozenset((one.approach_key, one.verdict) for one in judge(clone.values()).decisions()))
    assert len(outcomes) == 1
