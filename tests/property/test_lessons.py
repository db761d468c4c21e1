"""The laws of lessons: whatever was said, used, sealed and slept on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lesson_events import World, on

from gitmem.core import canonical
from gitmem.core.lessons import fading, life
from gitmem.core.lessons.book import Book, state_hash
from gitmem.core.lessons.likeness import alike
from gitmem.core.lessons.policies import POLICIES, TENDER
from gitmem.core.lessons.sleep import sleep

CORES = (
    "The fixture needs the time zone set.",
    "The time zone must be set in the fixture.",
    "Retries hid the real error.",
    "The fixture needs no time zone set.",
    "Pin the linter's version.",
)

#: What gitmem itself writes is left to its own sleeps in these worlds.
LIVES = "lesson lesson lesson use use seal unseal pin unpin retract"


#: One step of a world: what happens, to which of those before, on which day, with which small choices.
def steps_of(words):
    return st.lists(
        st.tuples(
            st.sampled_from(words.split()),
            st.integers(0, 30),
            st.integers(0, 300),
            st.integers(0, 5),
            st.booleans(),
        ),
        min_size=1,
        max_size=24,
    )


STEPS = steps_of("lesson lesson use use seal unseal pin unpin absorb latent promote undo retract")


def made(steps) -> World:
    """A world of these steps; what has nothing to be done to does nothing."""
    world = World()
    for what, aim, day, choice, seen in steps:
        lessons = [one for one in world.events if one.kind == "lesson"]
        if what == "lesson":
            known = [one.id for one in lessons]
            repeated = known[aim % len(known)] if known and choice == 5 else ()
            world.lesson(
                CORES[choice % len(CORES)], day, seen=seen, commit=choice + 1, targets=repeated,
                topic="TZ" if aim % 2 else "", outcome=(aim % 3 - 1) * 10, severity=aim * 3,
            )  # fmt: skip
        elif not lessons:
            continue
        elif what == "use":
            world.use(lessons[aim % len(lessons)].id, day, seen=seen, commit=choice)
        elif what in ("seal", "unseal", "pin", "unpin"):
            until = {"until": on(day + 20)} if choice == 0 and not what.startswith("un") else {}
            world.mark(what, lessons[aim % len(lessons)].id, day, seen=seen, **until)
        elif what == "sleep":
            world.slept(day)
        elif what == "latent":
            world.sleep(day, "latent", [lessons[aim % len(lessons)].id], {"band": "latent"})
        elif what == "absorb":
            pair = {lessons[aim % len(lessons)].id, lessons[choice % len(lessons)].id}
            world.sleep(day, "absorb", sorted(pair), {})
        elif what == "promote":
            becomes = {"rank": ("pattern", "rule")[choice % 2], "direction": aim % 3 - 1}
            becomes["representative"] = lessons[choice % len(lessons)].id
            world.sleep(day, "promote", [one.id for one in lessons], becomes)
        elif what == "undo":
            aims = [one for one in world.events if one.kind in ("sleep", "use", "undo")]
            if aims:
                world.undo(aims[aim % len(aims)].id, day)
        elif what == "retract":
            world.stand(world.events[aim % len(world.events)].id, "retracted")
    return world


@given(STEPS, st.randoms(use_true_random=False), st.integers(0, 400), st.sampled_from(POLICIES))
def test_the_same_set_in_any_order_makes_the_same_book(steps, chance, day, policy):
    world = made(steps)
    before = canonical.encode(world.book(day, policy).state())
    shuffled = list(world.events)
    chance.shuffle(shuffled)
    assert canonical.encode(world.book(day, policy, shuffled).state()) == before


@given(STEPS, st.integers(300, 600), st.integers(1, 300), st.sampled_from(POLICIES))
def test_access_never_rises_without_a_use(steps, day, days, policy):
    """All steps lie before day 330, so nothing happens between the two moments (a seal may end: it holds still)."""
    world = made(steps)
    day += 30
    now, later = world.book(day, policy), world.book(day + days, policy)
    for name, lesson in now.lessons.items():
        assert later.lessons[name].access <= lesson.access
        assert later.lessons[name].uses == lesson.uses


@given(STEPS, st.integers(0, 400))
def test_every_number_is_an_integer_in_its_bounds(steps, day):
    book = made(steps).book(day)
    for lesson in book.lessons.values():
        assert type(lesson.access) is int and 0 <= lesson.access <= lesson.group_access <= fading.WHOLE
        assert type(lesson.half_life) is int and lesson.half_life >= TENDER.half_life_days * fading.DAY_S
        assert lesson.touches < TENDER.touches_to_return
    for rule in (*book.rules, *book.fallen):
        assert type(rule.rust) is int and 0 <= rule.rust <= fading.WHOLE


@given(STEPS, st.integers(0, 400))
def test_numbers_hang_on_no_sleep(steps, day):
    """The same events without any outcome give the same numbers, but where an undo lifted what went latent."""
    world = made([step for step in steps if step[0] != "undo"])
    awake = [event for event in world.events if event.kind != "sleep"]
    slept, never = world.book(day), world.book(day, events=awake)
    for name, lesson in slept.lessons.items():
        twin = never.lessons[name]
        for number in ("access", "half_life", "band", "uses", "touches", "last"):
            assert getattr(lesson, number) == getattr(twin, number)


@given(STEPS, st.integers(0, 400))
def test_two_policies_hold_other_lessons_near_and_agree_on_the_facts(steps, day):
    world = made(steps)
    tender, austere = (world.book(day, policy) for policy in POLICIES)
    assert tender.lessons.keys() == austere.lessons.keys()
    for name, lesson in tender.lessons.items():
        twin = austere.lessons[name]
        for fact in ("core", "gist", "topic_key", "paths", "direction", "trust", "marks", "is_gone", "under", "commit"):
            assert getattr(lesson, fact) == getattr(twin, fact)
        assert lesson.half_life > twin.half_life


@given(STEPS, st.integers(0, 30), st.integers(301, 400), st.sampled_from(POLICIES))
def test_a_seal_stops_all_and_an_unseal_restores_it(steps, aim, day, policy):
    """Whatever happened before, and whatever is tried under the seal."""
    world = made([step for step in steps if step[0] not in ("seal", "unseal", "pin", "unpin")])
    lessons = [event.id for event in world.events if event.kind == "lesson"]
    if not lessons:
        return
    sealed = lessons[aim % len(lessons)]
    world.mark("seal", sealed, day)
    before = world.book(day, policy).lessons[sealed].life
    world.use(sealed, day + 100, commit=99)
    world.mark("unseal", sealed, day + 400)
    after = world.book(day + 400, policy).lessons[sealed].life
    at = fading.microseconds(on(day))
    assert before.access(at) == after.access(fading.microseconds(on(day + 400)))
    assert (before.uses, before.touches, before.half_life) == (after.uses, after.touches, after.half_life)


# --- coming back ---------------------------------------------------------------------------------

DAYS = 86_400 * 1_000_000


@given(st.sampled_from(POLICIES), st.integers(100, 900), st.integers(0, 800), st.integers(0, 100))
def test_coming_back_is_monotone_happens_once_and_needs_two_distinct_touches(policy, days, later, severity):
    """The sharper stays the sharper: one lesson lay longer than the other."""
    lives = [life.Life(policy, born, severity, "note") for born in (0, min(later, days) * DAYS)]
    at = (min(later, days) + days) * DAYS
    left = [one.access(at) for one in lives]
    for one, access in zip(lives, left):
        if access >= policy.latent_bar:
            return
        assert [one.take(life.USE, at, "a") for _ in range(3)] == [life.TOUCHED, life.AGAIN, life.AGAIN]
        assert one.access(at) == access
        assert one.take(life.USE, at, "b") == life.REVIVED
        assert one.touches == []
        assert policy.latent_bar <= one.access(at) <= policy.near_bar
        assert one.take(life.USE, at, "b") == life.AGAIN
    back = [one.access(at) for one in lives]
    assert left[0] <= left[1]
    assert back[0] <= back[1]
    assert (left[0] == left[1]) == (back[0] == back[1])
    for one in lives:
        assert one.take(life.USE, at, "c") == life.USED  # what is back is used like any other


@given(st.lists(st.sampled_from("abc"), max_size=6))
def test_one_key_never_brings_a_latent_lesson_back(keys):
    one = life.Life(TENDER, 0, 0, "note")
    at = 400 * DAYS
    said = [one.take(life.USE, at, key) for key in keys]
    assert (life.REVIVED in said) == (len(set(keys)) >= 2)
    assert said.count(life.REVIVED) <= 1


@given(STEPS, st.integers(0, 400))
def test_an_undo_of_everything_that_sleeps_did_leaves_what_never_slept(steps, day):
    """An undo is the inverse. (Not of `latent`, which it lifts.)"""
    world = made([step for step in steps if step[0] not in ("undo", "latent")])
    never = Book([e for e in world.events if e.kind != "sleep"], world.standing, on(day), TENDER)
    for event in list(world.events):
        if event.kind == "sleep":
            world.undo(event.id, 300)
    assert state_hash(world.book(day)) == state_hash(never)


# --- sleep ---------------------------------------------------------------------------------------


@given(steps_of(LIVES + " undo sleep"), st.integers(0, 500), st.sampled_from(POLICIES))
def test_a_sleep_on_what_a_sleep_left_does_nothing(steps, day, policy):
    world = made(steps)
    world.slept(day, policy)
    assert world.slept(day, policy) == []


@given(STEPS, st.integers(0, 500), st.sampled_from(POLICIES))
def test_folding_the_log_equals_the_state_that_the_sleep_had_in_view(steps, day, policy):
    world = made(steps)
    book = world.book(day, policy)
    ahead = book.after(sleep(book))
    events = world.slept(day, policy)
    assert canonical.encode(world.book(day, policy).state()) == canonical.encode(ahead.state())
    if events:
        assert events[-1].action == "digest"
        assert events[-1].fields["becomes"]["state"] == state_hash(ahead)
        assert events[-1].fields["was"]["state"] == state_hash(book)


@given(STEPS, st.randoms(use_true_random=False), st.integers(0, 500), st.sampled_from(POLICIES))
def test_clones_that_sleep_on_the_same_events_write_the_same_bytes(steps, chance, day, policy):
    """In whatever order they got them; and sleeping on the join of both does nothing."""
    one, other = made(steps), made(steps)
    chance.shuffle(other.events)
    events = one.slept(day, policy)
    assert [event.id for event in events] == [event.id for event in other.slept(day, policy)]
    assert one.slept(day, policy) == other.slept(day, policy) == []


@given(
    steps_of(LIVES), st.integers(0, 200), st.integers(0, 200), st.integers(0, 24), st.integers(0, 24),
    st.randoms(use_true_random=False),
)  # fmt: skip
def test_the_order_of_joins_does_not_matter(steps, day, days, cut, other_cut, chance):
    """Two clones hold other parts of one life and sleep apart: whoever joins first, they come to one state."""
    world = made(steps)
    clones = []
    for most, when in ((cut, day), (other_cut, day + days)):
        clone = World()
        clone.standings = world.standings
        clone.events = world.events[:most]
        clone.slept(when)
        clones.append(clone.events)
    joined = list({event.id: event for event in [*world.events, *clones[0], *clones[1]]}.values())
    states, slept = set(), set()
    for _ in range(3):
        chance.shuffle(joined)
        world.events = list(joined)
        states.add(state_hash(world.book(600)))
        slept.add(tuple(event.id for event in world.slept(600)))
        states.add(state_hash(world.book(600)) + " after")
        assert world.slept(600) == []
    assert (len(states), len(slept)) == (2, 1)


@given(steps_of(LIVES), st.lists(st.integers(300, 500), max_size=4), st.sampled_from(POLICIES))
def test_numbers_are_the_same_whether_one_slept_often_or_never(steps, nights, policy):
    asleep, awake = made(steps), made(steps)
    for night in sorted(nights):
        asleep.slept(night, policy)
    slept, never = asleep.book(501, policy), awake.book(501, policy)
    for name, lesson in slept.lessons.items():
        for number in ("access", "half_life", "band", "uses", "touches", "last"):
            assert getattr(lesson, number) == getattr(never.lessons[name], number)


@given(steps_of(LIVES), st.integers(300, 500), st.sampled_from(POLICIES))
def test_undoing_all_that_a_sleep_did_is_the_inverse_and_none_of_it_is_done_again(steps, day, policy):
    """`latent` lifts what it speaks of, so it is left out here."""
    world = made(steps)
    before = state_hash(world.book(day, policy))
    for event in world.slept(day, policy):
        if event.action not in ("latent", "digest"):
            world.undo(event.id, day)
    latent = [event for event in world.events if event.action == "latent"]
    world.events = [event for event in world.events if event not in latent]
    assert state_hash(world.book(day, policy)) == before
    undone = world.book(day, policy).undone
    again = [event for event in world.slept(day, policy) if event.action not in ("latent", "digest")]
    assert [event for event in again if (event.action, frozenset(event.targets)) in undone] == []


@given(steps_of(LIVES), st.integers(0, 500), st.sampled_from(POLICIES))
def test_a_sleep_puts_nothing_under_what_says_something_else(steps, day, policy):
    world = made(steps)
    for event in world.slept(day, policy):
        if event.action == "absorb":
            one, other = (world.book(day).lessons[target] for target in event.targets)
            assert alike(one.core, other.core) >= policy.merge_cut
            assert (one.scope, one.direction) == (other.scope, other.direction)
