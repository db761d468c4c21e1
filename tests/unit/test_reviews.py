"""What waits and why, what deciding would change, drafts of several lineages, tokens; marks and how long they hold."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from rule_cases import event, long_id
from worlds import WRITERS, World, stories

from gitmem.core import history, marks, reviews
from gitmem.core.drafts import Draft
from gitmem.core.events import Event
from gitmem.core.verdicts import Judgement, judge

PERSON = WRITERS[0]


def change(letter: str, change_type: str, after: str = "", *, channel: str = "agent", **fields: Any) -> Event:
    made = {"entity_path": "users.card", "author": "Bot <bot@example.org>", "channel": channel, **fields}
    return event({"id": letter, "kind": "change", "change_type": change_type, "after": list(after), **made})


def review(letter: str, action: str, target: str, *, channel: str = "human", **fields: Any) -> Event:
    made = {"author": "Ada <ada@example.org>", "channel": channel, "after": [target], **fields}
    return event({"id": letter, "kind": "review", "action": action, "targets": [target], **made})


def mark(letter: str, action: str, target: str, *, after: str = "", until: str = "", channel: str = "human") -> Event:
    made = {"author": "Ada <ada@example.org>", "channel": channel, "after": [*(after or target)]}
    ends = {"until": until} if until else {}
    return event({"id": letter, "kind": "mark", "action": action, "targets": [target], **made, **ends})


def why(events: list[Event]) -> dict[str, str]:
    """Why each event waits, by its letter; those that don't are left out."""
    judged = judge(events)
    aimed = reviews.aimed(judged, events, "review")
    found = {}
    for one in events:
        said = reviews.why(judged, one, judged.effect(one.id)[0], judged.trust(one.id), aimed)
        if said:
            found[bytes.fromhex(one.id).rstrip(b"\0").decode()] = said
    return found


# --- what waits ------------------------------------------------------------------------------


def test_a_proposed_closing_waits_until_a_person_reviewed_it_and_a_persons_never_does():
    assert why([change("c", "reject")]) == {"c": "proposed"}
    assert why([change("c", "reject", channel="human")]) == {}
    for action in ("ratify", "dispute", "retract"):
        assert why([change("c", "reject"), review("r", action, "c")]) == {}


def test_a_dispute_that_is_no_persons_leaves_it_waiting_as_disputed():
    events = [change("c", "reject"), review("d", "dispute", "c", channel="agent")]
    assert why(events) == {"c": "disputed"}
    assert why([*events, review("r", "ratify", "c", after=["d"])]) == {}


def test_what_goes_against_a_person_waits_and_the_opening_behind_it_is_not_listed_beside_it():
    closing = change("c", "reject", channel="human", approach="own table")
    lift = change("s", "supersede", "c", supersedes=["c"], approach="own table")
    opening = change("x", "add", "s", approach="own table")
    assert why([closing, lift, opening]) == {"s": "pending"}
    assert why([closing, lift, opening, review("r", "ratify", "s")]) == {}


def test_a_proposed_supersede_waits_where_a_closing_would_stand_again_without_it():
    closing = change("c", "reject")
    one = change("s", "supersede", "c", supersedes=["c"])
    assert why([closing, one]) == {"s": "proposed"}
    # Of two, neither is what alone lifts it.
    assert why([closing, one, change("t", "supersede", "c", supersedes=["c"])]) == {}


def test_an_opening_that_knew_what_closed_it_is_listed_as_void():
    closing = change("c", "reject", channel="human")
    assert why([closing, change("x", "add", "c")]) == {"x": "void"}
    assert why([closing, change("x", "add", "c"), review("r", "retract", "x")]) == {}


def test_an_ordinary_proposal_does_not_wait():
    assert why([change("x", "add"), change("m", "modify", "x"), change("e", "remove", "m")]) == {}


# --- what it would change --------------------------------------------------------------------


def outcome(events: list[Event], action: str, letter: str) -> list[tuple[str, str]]:
    found = reviews.outcome(judge(events), events, lambda _: (), action, long_id(letter))
    return [(one.before, one.after) for one in found]


def test_an_outcome_is_what_the_review_then_does():
    opening = change("x", "add", channel="human")
    closing = change("c", "reject", "x")
    events = [opening, closing]
    assert outcome(events, "ratify", "c") == [("active", "rejected")]
    assert outcome(events, "retract", "c") == []
    assert outcome(events, "retract", "x") == [("active", "rejected")]  # then nothing of a person's is in its way
    contested = [change("c", "reject", channel="human"), change("x", "add", channel="human")]
    assert outcome(contested, "resolve", "c") == [("contested", "rejected")]
    assert outcome(contested, "resolve", "x") == [("contested", "active")]


# --- several lineages, tokens ----------------------------------------------------------------


def test_a_draft_becomes_one_for_each_component_with_its_other_fields():
    draft = Draft("review", {"action": "ratify", "reason": "so", "targets": ["a", "b", "c", "l", "m"]})
    numbers = {"a": 1, "b": 2, "c": 1, "l": None, "m": None}
    parts = reviews.parts(draft, numbers.__getitem__)
    assert [part.fields["targets"] for part in parts] == [["a", "c"], ["b"], ["l"], ["m"]]
    assert all(part.kind == "review" and part.fields["reason"] == "so" for part in parts)
    one = Draft("change", {"targets": ["a", "b"]})
    assert reviews.parts(one, numbers.__getitem__) == [one]


def test_a_token_is_of_one_set_at_one_tip():
    token = reviews.token("tip", ["b", "a"])
    assert token == reviews.token("tip", ["a", "b", "a"]) and len(token) == reviews.TOKEN_LENGTH
    assert token not in (reviews.token("tip", ["a"]), reviews.token("tip2", ["a", "b"]), reviews.token("tip", []))


# --- what is quarantined ---------------------------------------------------------------------


def test_only_a_persons_ratify_that_no_person_took_back_accepts_what_is_quarantined() -> None:
    name = long_id("q")

    def severity(*given: Event) -> str:
        found = history.Finding("event-malformed", "no event", event=name)
        history.accept([found, history.Finding("reference", "no matter", event=name)], given)
        return found.severity

    ratify, again = review("r", "ratify", "q"), review("s", "ratify", "q")
    assert severity() == severity(review("d", "dispute", "q")) == "error"
    assert severity(ratify) == "warning"
    assert severity(ratify, review("t", "retract", "r")) == "error"
    assert severity(ratify, review("t", "retract", "r"), again) == "warning"
    agents = [review("r", "ratify", "q", channel="agent"), review("t", "retract", "r", channel="agent")]
    assert [one for one in agents if history.is_personal_review(one)] == []
    assert history.is_personal_review(ratify) and not history.is_personal_review(change("c", "reject"))


# --- marks -----------------------------------------------------------------------------------

NOW = "2026-06-01T00:00:00.000000Z"
EARLY, LATE = "2026-05-01T00:00:00.000000Z", "2026-07-01T00:00:00.000000Z"


def held(*given: Event) -> dict[str, str]:
    events = [change("c", "reject", channel="human"), *given]
    return marks.held(judge(events), long_id("c"), given)


def test_the_newest_mark_says_when_it_ends():
    assert held(mark("m", "mute", "c")) == {"mute": marks.FOREVER}
    assert held(mark("m", "mute", "c", until=LATE)) == {"mute": LATE}
    assert held(mark("m", "mute", "c"), mark("n", "mute", "c", after="m", until=EARLY)) == {"mute": EARLY}
    assert held(mark("m", "mute", "c", until=LATE), mark("u", "unmute", "c", after="m")) == {}


def test_of_marks_that_never_met_the_end_that_shows_more_counts():
    assert held(mark("m", "seal", "c", until=LATE), mark("n", "seal", "c", until=EARLY)) == {"seal": EARLY}
    assert held(mark("m", "mute", "c"), mark("n", "mute", "c", until=EARLY)) == {"mute": EARLY}
    assert held(mark("m", "pin", "c", until=EARLY), mark("n", "pin", "c")) == {"pin": marks.FOREVER}


def test_a_mark_that_is_no_persons_ends_nothing():
    assert held(mark("m", "seal", "c"), mark("n", "seal", "c", until=EARLY, channel="agent")) == {"seal": "~"}


def test_what_is_spelled_is_read_by_the_time_of_the_reader():
    spelled = marks.spelled({"seal": marks.FOREVER, "mute": EARLY, "pin": LATE})
    assert marks.in_force(spelled, NOW) == ["pin", "seal"]
    assert marks.in_force(spelled, EARLY) == ["pin", "seal"]  # it ends at the instant that it names
    assert marks.in_force("", NOW) == marks.in_force(None, NOW) == []
    assert marks.hidden_until({"mute": EARLY}) == EARLY < NOW < LATE < marks.hidden_until({"seal": marks.FOREVER})
    assert marks.hidden_until({"pin": marks.FOREVER}) == ""


def standing(judged: Judgement, events: list[Event]) -> list[object]:
    """Everything but the marks."""
    decisions = [
        (one.scope, one.approach_key, one.verdict, one.trust, one.standing, sorted(one.against), one.since)
        for one in judged.decisions()
    ]
    return [decisions, [(judged.effect(one.id), judged.trust(one.id)) for one in events]]


@settings(max_examples=60)
@given(stories(3, 12))
def test_a_mark_changes_its_mark_alone_and_its_inverse_restores_everything(story):
    world = World(story)
    clone = max(world.clones, key=len)
    events = list(clone.values())
    before = judge(events)
    bore = {one.id: before.marks(one.id) for one in events}
    target = min((one.id for one in events if one.kind == "change"), default="")
    for do, undo in (("seal", "unseal"), ("mute", "unmute"), ("pin", "unpin")):
        if not target or do in bore[target]:
            continue
        fields: dict[str, Any] = {"targets": [target], "reason": "because"}
        (marked,) = world.decide(clone, Draft("mark", {"action": do, **fields}), PERSON)
        during = judge([*events, marked])
        # Copies of one imported thing bear one mark.
        one = before.standing_for(target)
        copies = [event.id for event in events if before.standing_for(event.id) is one]
        borne = {**bore, **{copy: sorted([*bore[target], do]) for copy in copies}}
        assert {event.id: during.marks(event.id) for event in events} == borne
        assert standing(during, events) == standing(before, events)
        (undone,) = world.decide(clone, Draft("mark", {"action": undo, **fields}), PERSON)
        after = judge([*events, marked, undone])
        assert {event.id: after.marks(event.id) for event in events} == bore
        assert standing(after, events) == standing(before, events)
        del clone[marked.id], clone[undone.id]
