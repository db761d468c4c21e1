import pytest
from lesson_events import World

from gitmem.core.lessons import ladder
from gitmem.core.lessons.policies import AUSTERE, TENDER


@pytest.fixture
def world():
    return World()


def lessons(world, commits, day=0, **fields):
    return [world.lesson(f"word{n} and thing{n}", day, commit=n, topic="TZ", **fields) for n in commits]


def rungs(book):
    return [(rule.rank, rule.count) for rule in book.rules]


def test_two_three_and_two_of_three_make_the_rungs(world):
    """Two commits are a pattern, three a rule, two ratified rules a principle: under both policies."""
    for policy in (TENDER, AUSTERE):
        world = World()
        lessons(world, [1], outcome=-5)
        assert world.slept(1, policy) == []
        lessons(world, [1, 2], 1, outcome=-5)
        world.slept(2, policy)
        assert rungs(world.book(2, policy)) == [("pattern", 2)]
        lessons(world, [3], 2, outcome=-5)
        world.slept(3, policy)
        assert rungs(world.book(3, policy)) == [("rule", 3)]
        for n in (4, 5, 6):
            world.lesson(f"other{n} matter{n}", 3, commit=n, topic="retries", outcome=-5)
        world.slept(4, policy)
        rules = world.book(4, policy).rules
        assert rungs(world.book(4, policy)) == [("rule", 3), ("rule", 3)]
        world.stand(rules[0].id, "ratified")
        assert world.slept(5, policy) == []
        world.stand(rules[1].id, "ratified")
        world.slept(6, policy)
        principle = world.book(6, policy).rules[-1]
        assert (principle.rank, principle.evidence, principle.trust) == (
            "principle",
            (rules[0].id, rules[1].id),
            "proposed",
        )
        assert (principle.text, principle.direction) == (rules[0].text, -1)


def test_commits_count_and_not_lessons(world):
    lessons(world, [1, 1, 1, 2, 2])
    world.slept(1)
    assert rungs(world.book(1)) == [("pattern", 2)]


def test_another_topic_direction_or_scope_is_another_group(world):
    lessons(world, [1])
    lessons(world, [2], outcome=5)
    lessons(world, [3], outcome=-5)
    lessons(world, [4], scope="part")
    world.lesson("word5 and thing5", commit=5, topic="else")
    assert world.slept(1) == []
    lessons(world, [6], outcome=5)
    world.slept(1)
    assert rungs(world.book(1)) == [("pattern", 2)]


def test_recurrences_and_what_was_absorbed_count_by_their_own_commits(world):
    first = world.lesson("The fixture needs the time zone set.", commit=1)
    world.lesson("Again the fixture without a zone.", 1, commit=2, targets=first)
    world.lesson("The fixture needs the time zone set!", 1, commit=3)
    world.slept(2)
    book = world.book(2)
    assert len(book.lessons[first].repeats) == 2
    assert rungs(book) == [("rule", 3)]


def test_a_recurrence_that_says_nothing_of_the_outcome_went_as_before(world):
    first = world.lesson("The fixture needs the time zone set.", commit=1, outcome=-60)
    second = world.lesson("Again the fixture.", 1, commit=2, targets=first)
    world.lesson("And again.", 1, commit=3, targets=second)
    other = world.lesson("This time it held.", 1, commit=4, targets=first, outcome=20)
    world.slept(2)
    book = world.book(2)
    assert [(rule.rank, rule.direction, rule.count) for rule in book.rules] == [("rule", -1, 3)]
    assert book.rules[0].contradicted_by == (other,)


def test_a_latent_or_sealed_lesson_is_evidence_only_once_touched_or_unsealed(world):
    old = lessons(world, [1, 2])
    lessons(world, [3], 200)
    world.slept(200)
    assert world.book(200).rules == []
    world.use(old[0], 201, commit=9)
    world.slept(202)
    assert rungs(world.book(202)) == [("pattern", 3)]  # two of them bear the promotion; all that are there count
    world.use(old[1], 203, commit=10)
    world.mark("seal", old[1], 203.5)
    assert [event.action for event in world.slept(204)] == []
    world.mark("unseal", old[1], 205)
    world.slept(206)
    assert rungs(world.book(206)) == [("rule", 3)]


def test_a_promotion_names_no_more_than_it_may(world):
    named = ladder.named(world.book(1).lessons.values(), 3)
    assert named == []
    for policy in (TENDER, AUSTERE):
        world = World()
        lessons(world, [1, 1, *range(2, 100)])
        made = [event for event in world.slept(1, policy) if event.action == "promote"]
        assert [len(event.targets) for event in made] == [64]
        assert len({world.book(1).lessons[one].commit for one in made[0].targets}) == 64
        assert rungs(world.book(1, policy)) == [("rule", 99)]


def test_a_rule_that_lost_its_evidence_falls_once_and_may_rise_again(world):
    found = lessons(world, [1, 2, 3])
    world.slept(1)
    (rule,) = world.book(1).rules
    world.stand(rule.id, "ratified")
    world.stand(found[2], "retracted")
    fell = world.slept(2)
    assert [(event.action, event.targets) for event in fell if event.action == "fall"] == [("fall", (rule.id,))]
    assert rungs(world.book(2)) == [("pattern", 2)]
    assert world.slept(3) == []
    lessons(world, [4], 4)
    world.slept(5)
    (again,) = [one for one in world.book(5).rules if one.rank == "rule"]
    assert (again.trust, again.id == rule.id) == ("proposed", False)


def test_a_principle_falls_with_a_rule_that_bears_it(world):
    lessons(world, [1, 2, 3], outcome=-5)
    others = [world.lesson(f"other{n} matter{n}", commit=n, topic="retries", outcome=-5) for n in (4, 5, 6)]
    world.slept(1)
    for rule in world.book(1).rules:
        world.stand(rule.id, "ratified")
    world.slept(2)
    assert [rule.rank for rule in world.book(2).rules] == ["rule", "rule", "principle"]
    world.stand(others[0], "retracted")
    assert [rule.rank for rule in world.book(2).rules] == ["rule"]
    assert sorted(event.fields["was"].get("rank") for event in world.slept(3) if event.action == "fall") == [
        "principle", "rule",
    ]  # fmt: skip


def test_counter_evidence_promotes_its_own_side_and_overwrites_nothing(world):
    lessons(world, [1, 2, 3], outcome=-5)
    world.slept(1)
    (rule,) = world.book(1).rules
    world.stand(rule.id, "ratified")
    against = lessons(world, [4, 5, 6], 2, outcome=5)
    world.slept(3)
    rules = world.book(3).rules
    assert [(one.direction, one.trust, one.count) for one in rules] == [(-1, "ratified", 3), (1, "proposed", 3)]
    assert rules[0].contradicted_by == tuple(against)
    assert rules[0].text == rule.text


def test_what_a_person_took_back_is_not_promoted_again_before_there_is_more(world):
    lessons(world, [1, 2, 3])
    world.slept(1)
    (rule,) = world.book(1).rules
    world.undo(rule.id, 2)
    assert [event.action for event in world.slept(3)] == []
    lessons(world, [4], 4)
    assert "promote" in [event.action for event in world.slept(5)]


def test_a_retracted_rule_is_not_promoted_again_either(world):
    lessons(world, [1, 2, 3])
    world.slept(1)
    world.stand(world.book(1).rules[0].id, "retracted")
    assert (world.book(2).rules, [event.action for event in world.slept(3)]) == ([], [])
