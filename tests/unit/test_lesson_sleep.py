import pytest
from lesson_events import World, on

from gitmem.core.events import NOBODY, parse
from gitmem.core.lessons.book import state_hash
from gitmem.core.lessons.policies import AUSTERE, TENDER
from gitmem.core.lessons.sleep import PASSES, absorb, bands, climb, digest, sleep, written


@pytest.fixture
def world():
    return World(commit=1)


def under(book):
    return {name: lesson.under for name, lesson in book.lessons.items() if lesson.under}


def test_a_near_duplicate_goes_under_the_earlier_and_changes_no_word(world):
    a = world.lesson("The fixture needs the time zone set.")
    b = world.lesson("The time zone: the fixtures need it set.", 1)
    (absorbed, closing) = world.slept(2)
    assert (absorbed.action, absorbed.fields["becomes"]["under"]) == ("absorb", a)
    assert closing.action == "digest"
    book = world.book(2)
    assert under(book) == {b: a}
    assert [book.lessons[one].core for one in (a, b)] == [event.fields["core"] for event in world.events[:2]]
    assert (book.lessons[a].times, book.lessons[b].is_gone) == (2, False)


def test_the_merge_cut_decides_what_is_absorbed(world):
    """Three of five content words: sixty percent, which tender merges and austere doesn't. Three of four both do."""
    world.lesson("alpha beta gamma delta")
    world.lesson("alpha beta gamma epsilon", 1)
    assert [len(under(made.book(2, policy))) for made, policy in slept_twice(world, 2)] == [1, 0]
    world = World(commit=1)
    world.lesson("alpha beta gamma delta")
    world.lesson("alpha beta gamma", 1)
    assert [len(under(made.book(2, policy))) for made, policy in slept_twice(world, 2)] == [1, 1]
    world = World(commit=1)
    world.lesson("alpha beta gamma delta epsilon")
    world.lesson("alpha beta zeta", 1)
    assert [len(under(made.book(2, policy))) for made, policy in slept_twice(world, 2)] == [0, 0]


def slept_twice(world, day):
    for policy in (TENDER, AUSTERE):
        twin = World(commit=1)
        twin.events = list(world.events)
        twin.slept(day, policy)
        yield twin, policy


def test_what_says_the_opposite_is_not_absorbed(world):
    world.lesson("The fixture needs the time zone set.")
    world.lesson("The fixture doesn't need the time zone set.", 1)
    assert world.slept(2) == []


@pytest.mark.parametrize(
    "other",
    [{"scope": "part"}, {"outcome": -5}],
)
def test_another_scope_or_direction_is_not_absorbed(world, other):
    world.lesson("The fixture needs the time zone set.", outcome=5)
    world.lesson("The fixture needs the time zone set.", 1, **{"outcome": 5, **other})
    assert world.slept(2) == []
    world.lesson("The fixture needs the time zone set.", 1, outcome=5)
    assert [event.action for event in world.slept(2)] == ["absorb", "digest"]


@pytest.mark.parametrize("mark", ["seal", "pin"])
def test_what_is_sealed_pinned_or_gone_is_left_alone(mark):
    for which in (0, 1):
        world = World(commit=1)
        pair = [world.lesson("The fixture needs the time zone set.", day) for day in (0, 1)]
        world.mark(mark, pair[which], 2)
        assert world.slept(3) == []
        world.mark(f"un{mark}", pair[which], 4)
        assert [event.action for event in world.slept(5)] == ["absorb", "digest"]
    world = World(commit=1)
    pair = [world.lesson("The fixture needs the time zone set.", day) for day in (0, 1)]
    world.stand(pair[0], "retracted")
    assert world.slept(3) == []


def test_there_are_no_chains(world):
    """b is like a, and c like b but not like a: c stays where it is."""
    a = world.lesson("alpha beta gamma delta")
    b = world.lesson("alpha beta gamma epsilon", 1)
    c = world.lesson("beta gamma epsilon zeta", 2)
    world.slept(3)
    assert under(world.book(3)) == {b: a}
    assert world.slept(4) == []
    assert world.book(4).lessons[c].under == ""


def test_what_keeps_others_is_not_put_under_an_earlier_one_that_came_later(world):
    """Another clone's lesson, with a lower clock, joins after this one slept."""
    b = world.lesson("alpha beta gamma epsilon", 1, clock=10)
    c = world.lesson("beta gamma epsilon zeta", 2, clock=11)
    world.slept(3)
    assert under(world.book(3)) == {c: b}
    world.lesson("alpha beta gamma delta", 0, clock=5)
    assert world.slept(4) == []


def test_of_several_it_goes_under_the_most_alike_and_of_equals_under_the_earliest(world):
    world.lesson("alpha beta gamma delta")
    b = world.lesson("alpha beta epsilon zeta", 1)
    c = world.lesson("alpha beta gamma epsilon zeta", 2)
    d = world.lesson("kappa lambda mu", 3)
    world.lesson("kappa lambda mu", 4)
    f = world.lesson("kappa lambda mu", 5)
    world.slept(6)
    assert world.book(6).lessons[c].under == b
    assert world.book(6).lessons[f].under == d


def test_it_is_noted_when_a_lesson_goes_latent_and_comes_back_and_only_then(world):
    a = world.lesson("alpha beta gamma")
    assert world.slept(50) == []
    entered, _ = world.slept(130)
    assert (entered.action, entered.fields["was"]) == ("latent", {"band": "cold"})
    assert entered.fields["becomes"] == {"access": world.book(130).lessons[a].access, "band": "latent"}
    assert world.slept(140) == []
    world.use(a, 150, commit=1)
    world.use(a, 151, commit=2)
    assert [event.action for event in world.slept(152)] == ["return", "digest"]
    assert world.slept(153) == []


def test_clones_under_two_policies_do_not_contradict_each_other_for_ever(world):
    a = world.lesson("alpha beta gamma")
    assert [event.action for event in world.slept(60, AUSTERE)] == ["latent", "digest"]
    assert world.slept(60, TENDER) == []
    assert world.slept(60, AUSTERE) == []
    assert world.book(60, TENDER).lessons[a].band == "cold"


def test_what_was_undone_is_not_done_again(world):
    world.lesson("The fixture needs the time zone set.")
    world.lesson("The fixture needs the time zone set!", 1)
    absorbed, _ = world.slept(2)
    undo = world.undo(absorbed.id, 3)
    assert world.slept(4) == []
    world.undo(undo, 5)
    assert world.slept(6) == []
    assert len(under(world.book(6))) == 1


def test_an_event_of_a_sleep_is_nobodys_and_says_by_which_policy(world):
    world.lesson("The fixture needs the time zone set.")
    world.lesson("The fixture needs the time zone set!", 1)
    book = world.book(2)
    event, data = written(sleep(book)[0], book, 3)
    assert parse(data).fields == event.fields
    assert (event.author, event.channel, event.basis, event.recorded_at) == (NOBODY, "script", "none", on(2))
    assert event.fields["policy"] == TENDER.label
    assert TENDER.label == f"tender/1 {TENDER.digest[:12]}" != AUSTERE.label


def test_the_closing_event_has_the_state_before_and_after(world):
    world.lesson("The fixture needs the time zone set.")
    world.lesson("The fixture needs the time zone set!", 1)
    before = state_hash(world.book(2))
    *_, closing = world.slept(2)
    assert closing.fields["was"] == {
        "near": 2, "cold": 0, "latent": 0, "under": 0, "pattern": 0, "rule": 0, "principle": 0, "state": before,
    }  # fmt: skip
    after = closing.fields["becomes"]
    assert after["state"] == state_hash(world.book(2)) != before
    assert (after["near"], after["under"]) == (1, 1)


def test_the_closing_event_names_a_few_and_counts_all():
    for policy in (TENDER, AUSTERE):
        world = World(commit=1)
        for n in range(20):
            world.lesson(f"alpha{n} beta{n}")
        *latent, closing = world.slept(400, policy)
        assert (len(latent), len(closing.targets), closing.fields["becomes"]["latent"]) == (20, 8, 20)


def test_the_passes_have_an_order_and_another_one_is_another_state(world):
    """What says the same without a topic becomes a pattern only after it was put together."""
    for n, end in enumerate((".", "!")):
        world.lesson(f"The fixture needs the time zone set{end}", commit=n + 1)
    assert (absorb, bands, climb, digest) == PASSES
    state = {}
    for passes in (PASSES, (climb, bands, absorb, digest)):
        twin = World(commit=1)
        twin.events = list(world.events)
        twin.slept(1, passes=passes)
        state[passes] = state_hash(twin.book(1))
    assert len(set(state.values())) == 2
    assert state_hash(world.book(1).after(sleep(world.book(1)))) == state[PASSES]


def test_sentences_that_have_nothing_in_common_are_never_absorbed(world):
    for text in (
        "The fixture needs the time zone set.",
        "Retries hid the real error.",
        "Pin the linter.",
        "Migrations run twice under load.",
        "時刻帯を設定する",
        "キャッシュは消える",
        "Кэш очищается раньше индекса",
        "We set the cache.",
    ):
        world.lesson(text)
    assert world.slept(1) == []
    world.lesson("時刻帯を設定する!", 1)
    assert [event.action for event in world.slept(2)] == ["absorb", "digest"]


def test_what_lay_under_a_lesson_that_is_gone_goes_under_another_and_back_with_an_unseal(world):
    a, b, c = (world.lesson("The fixture needs the time zone set.", day) for day in (0, 1, 2))
    d = world.lesson("Once more, without a zone.", 3, targets=a)
    world.slept(3)
    assert under(world.book(3)) == {b: a, c: a, d: a}
    world.mark("seal", a, 4)
    world.slept(5)
    assert under(world.book(5)) == {c: b}
    assert world.slept(6) == []
    world.mark("unseal", a, 7)
    assert under(world.book(7)) == {b: a, c: a, d: a}
