import itertools

import pytest
from lesson_events import DAY, World, oid, on

from gitmem.core.events import Event
from gitmem.core.lessons import fading
from gitmem.core.lessons.book import Outcome, known, place_key, state_hash
from gitmem.core.lessons.policies import AUSTERE, TENDER


@pytest.fixture
def world():
    return World()


# --- fading --------------------------------------------------------------------------------------


def test_the_bands_of_a_life(world):
    """Near for one and a half half-lives, latent after four; under the austere, one and three."""
    a = world.lesson("The fixture needs the time zone set.")

    assert [TENDER.band(access) for access in (350_000, 349_999, 62_500, 62_499)] == ["near", "cold", "cold", "latent"]
    assert [AUSTERE.band(access) for access in (500_000, 499_999, 125_000, 124_999)] == [
        "near",
        "cold",
        "cold",
        "latent",
    ]

    def bands(policy, days):
        return [(book.lessons[a].band, book.lessons[a].access) for book in (world.book(day, policy) for day in days)]

    assert bands(TENDER, (0, 45, 46, 120, 121)) == [
        ("near", 1_000_000), ("near", 353_553), ("cold", 345_480), ("cold", 62_500), ("latent", 61_072),
    ]  # fmt: skip
    assert bands(AUSTERE, (0, 14, 15, 42, 43)) == [
        ("near", 1_000_000), ("near", 500_000), ("cold", 475_854), ("cold", 125_000), ("latent", 118_963),
    ]  # fmt: skip


def test_a_gist_is_in_force_until_it_is_undone(world):
    a = world.lesson("The fixture needs the time zone set, as dates are compared.")
    shorter = world.event("gist", 1, targets=a, gist="The fixture needs the time zone set").id
    world.event("gist", 1, targets=a, gist="The fixture needs no time zone set")
    assert world.book(2).lessons[a].gist == "The fixture needs the time zone set"
    world.undo(shorter, 3)
    assert world.book(3).lessons[a].gist == world.book(3).lessons[a].core


def test_a_use_makes_it_whole_and_lengthens_its_half_life(world):
    a = world.lesson("x y z")
    before = world.book(60).lessons[a]
    world.use(a, 60, commit=1)
    after = world.book(60).lessons[a]
    assert (before.access, before.uses, before.half_life) == (250_000, 0, 30 * DAY)
    assert (after.access, after.uses, after.half_life, after.last) == (1_000_000, 1, 48 * DAY, on(60))


def test_uses_of_one_commit_or_session_or_day_count_once(world):
    a = world.lesson("x y z")
    world.use(a, 1, commit=1)
    world.use(a, 2, commit=1)
    world.use(a, 3, session_id="s")
    world.use(a, 4, session_id="s")
    world.use(a, 5)
    world.use(a, 5.1)
    lesson = world.book(5.2).lessons[a]
    assert (lesson.uses, lesson.last) == (3, on(5))


def test_a_recurrence_is_a_use_of_all_that_it_repeats_and_a_lesson_under_the_first(world):
    a = world.lesson("x y z", commit=1)
    b = world.lesson("x y w", 20, commit=2, targets=a)
    c = world.lesson("x y v", 30, commit=3, targets=b)
    lessons = world.book(30).lessons
    assert [lessons[one].uses for one in (a, b, c)] == [2, 1, 0]
    assert [lessons[one].under for one in (a, b, c)] == ["", a, a]
    assert (lessons[a].repeats, lessons[a].times, lessons[b].repeats) == ((b, c), 3, ())


def test_a_time_before_its_statement_counts_as_its_statement_and_one_to_come_as_now(world):
    a = world.lesson("x y z", 10)
    world.use(a, 3, commit=1)
    early = world.book(10).lessons[a]
    assert (early.access, early.uses, early.last) == (1_000_000, 1, on(10))
    world.use(a, 500, commit=2)
    assert (world.book(40).lessons[a].access, world.book(40).lessons[a].last) == (1_000_000, on(40))
    assert world.book(40, events=known(world.events, on(40))).lessons[a].uses == 1


@pytest.mark.parametrize(
    ("policy", "day", "left", "back"),
    [
        (TENDER, 150, 31_250, 62_500 + (350_000 - 62_500) // 2),
        (AUSTERE, 56, 62_500, 125_000 + (500_000 - 125_000) // 2),
    ],
)
def test_two_distinct_touches_bring_a_latent_lesson_back(world, policy, day, left, back):
    """In proportion to what was left: half the bar left is half the way between the bars."""
    a = world.lesson("x y z")
    world.use(a, day, commit=1)
    world.use(a, day, commit=1)
    touched = world.book(day, policy).lessons[a]
    assert (touched.access, touched.band, touched.touches, touched.uses) == (left, "latent", 1, 0)
    world.use(a, day, commit=2)
    again = world.book(day, policy).lessons[a]
    assert (again.access, again.band, again.touches, again.uses, again.last) == (back, "cold", 0, 0, on(day))
    world.use(a, day + 1, commit=3)
    assert world.book(day + 1, policy).lessons[a].access == 1_000_000


def test_a_pinned_lesson_does_not_go_latent(world):
    a, twin = world.lesson("x y z"), world.lesson("u v w")
    world.mark("pin", a, 1)
    assert [world.book(400).lessons[one].band for one in (a, twin)] == ["cold", "latent"]
    world.use(a, 400, commit=1)
    world.use(twin, 400, commit=1)
    assert [world.book(400).lessons[one].uses for one in (a, twin)] == [1, 0]


def test_a_sealed_lesson_stands_still_and_its_twin_fades(world):
    """400 days, three of them asleep: after the unseal, byte for byte what it was."""
    a, twin = world.lesson("x y z", commit=1), world.lesson("u v w", commit=2)
    world.use(a, 5, commit=3)
    world.use(twin, 5, commit=3)
    world.mark("seal", a, 10)
    before = world.book(10)
    for day in (100, 200, 300):
        world.use(a, day, commit=day)  # nothing is used under a seal
        world.sleep(day, "latent", [twin], {"band": "latent"})
    world.mark("unseal", a, 410)
    after = world.book(410)
    assert after.lessons[a].state() == before.lessons[a].state()
    assert (before.lessons[twin].band, after.lessons[twin].band) == ("near", "latent")
    assert world.book(411).lessons[a].access < after.lessons[a].access


def test_a_seal_ends_at_its_time_and_a_later_one_says_anew_until_when(world):
    a = world.lesson("x y z")
    world.mark("seal", a, 10, until=on(20))
    assert world.book(50).lessons[a].access == fading.left(1_000_000, 40, 30)
    world.mark("seal", a, 15, until=on(40))
    assert world.book(50).lessons[a].access == fading.left(1_000_000, 20, 30)


def test_a_seal_and_an_unseal_that_never_met_show_more(world):
    a = world.lesson("x y z")
    world.event("mark", 10, action="seal", targets=a, reason="so", after=[a])
    world.event("mark", 20, action="unseal", targets=a, reason="so", after=[a])
    assert world.book(50).lessons[a].access == fading.left(1_000_000, 40, 30)


# --- what is taken back --------------------------------------------------------------------------


def test_an_undo_is_the_inverse_and_an_undo_of_it_too(world):
    a = world.lesson("x y z")
    b = world.lesson("x y w", 1)
    states = [world.book(50).state()]
    absorbed = world.sleep(2, "absorb", [a, b], {"under": a})
    used = world.use(a, 3, commit=1)
    states.append(world.book(50).state())
    assert world.book(50).lessons[b].under == a
    undone = [world.undo(absorbed, 4), world.undo(used, 4)]
    assert world.book(50).state() == states[0]
    assert ("absorb", frozenset((a, b))) in world.book(50).undone
    for one in undone:
        world.undo(one, 5)
    assert world.book(50).state() == states[1]


def test_an_undone_pair_is_undone_in_whichever_clone_it_was_absorbed(world):
    a, b = world.lesson("x y z"), world.lesson("x y w", 1)
    one, _ = (world.sleep(day, "absorb", [a, b], {"under": a}) for day in (2, 3))
    assert world.book(9).lessons[b].under == a
    world.undo(one, 4)
    assert world.book(9).lessons[b].under == ""


@pytest.mark.parametrize("policy", [TENDER, AUSTERE])
def test_who_takes_back_that_it_went_latent_lifts_it(world, policy):
    """To twice the bar, where nearly nothing was left; and it doesn't count as a use."""
    a = world.lesson("x y z")
    slept = world.sleep(900, "latent", [a], {"band": "latent"}, policy=policy.label)
    assert world.book(900, policy).lessons[a].said == {policy.name: "latent"}
    world.undo(slept, 900)
    lesson = world.book(900, policy).lessons[a]
    assert (lesson.band, lesson.said, lesson.access, lesson.uses) == ("cold", {}, 2 * policy.latent_bar, 0)


def test_a_retracted_lesson_is_gone_and_a_retracted_recurrence_is_no_use(world):
    a = world.lesson("x y z", commit=1)
    b = world.lesson("x y w", 20, commit=2, targets=a)
    c = world.lesson("x y v", 30, commit=3, targets=a)
    assert (world.book(30).lessons[a].uses, world.book(30).lessons[a].repeats) == (2, (b, c))
    world.stand(b, "retracted")
    book = world.book(30)
    assert (book.lessons[b].is_gone, book.lessons[a].uses, book.lessons[a].repeats) == (True, 1, (c,))


def test_what_lies_under_a_hidden_lesson_stands_by_itself(world):
    a = world.lesson("x y z", commit=1)
    b = world.lesson("x y w", 20, commit=2, targets=a)
    c = world.lesson("x y v", 30, commit=3, targets=b)
    world.mark("seal", a, 31)
    lessons = world.book(31).lessons
    assert (lessons[b].under, lessons[c].under, lessons[b].repeats) == ("", b, (c,))
    world.mark("unseal", a, 32)
    assert world.book(32).lessons[c].under == a


# --- a total reader ------------------------------------------------------------------------------


def test_what_does_not_fit_is_passed_over(world):
    a, b = world.lesson("x y z"), world.lesson("u v w", 1)
    before = world.book(5).state()
    nowhere = "f" * 64
    world.use(nowhere, 2, commit=1)
    world.sleep(2, "absorb", [a, nowhere], {"under": a})
    world.sleep(2, "absorb", [a], {"under": a})
    world.sleep(2, "promote", [a, b], {"rank": "law", "representative": a, "direction": 0})
    world.sleep(2, "promote", [a, b], {"rank": "rule", "representative": nowhere, "direction": 0})
    world.sleep(2, "promote", [a, b], {"rank": "rule", "representative": a, "direction": True})
    world.sleep(2, "promote", [a, b], {"rank": "rule", "direction": 0})
    world.event("gist", 2, targets=a, gist="x y z w")
    world.undo(a, 3)
    world.undo(nowhere, 3)
    world.event("lesson", 3, v=2, core="newer")
    assert world.book(5).state() == before


def test_a_tombstone_is_a_lesson_that_is_gone(world):
    a = world.lesson("x y z", commit=1)
    event = world.events[0]
    kept = {name: event.fields[name] for name in ("v", "kind", "clock", "after", "recorded_at", "author", "scope")}
    b = world.lesson("x y w", 5, targets=a)
    world.events[0] = Event(a, kept, redacted="plain")
    lessons = world.book(6).lessons
    assert (lessons[a].is_gone, lessons[a].core, lessons[b].under) == (True, "", "")


# --- topics --------------------------------------------------------------------------------------


def test_a_lesson_is_grouped_by_its_topic_else_its_place_else_what_it_repeats(world):
    a = world.lesson("x y z", topic="Time  Zones")
    b = world.lesson("x y z", paths=["src/Pay.py::charge", "src/pay.py::refund"])
    c = world.lesson("x y z", paths=["src/pay.py", "src/auth/login.py"])
    d = world.lesson("x y z", paths=["src/pay.py", "docs"])
    e = world.lesson("x y z", 1, targets=a, paths=["src/pay.py"])
    f = world.lesson("x y z", 1, targets=d)
    lessons = world.book(2).lessons
    assert [lessons[one].topic_key for one in (a, b, c, d, e, f)] == [
        "time zones", "path:src/pay.py", "path:src", d, "time zones", d,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("paths", "key"),
    [
        ((), ""),
        (("users.email",), "path:users.email"),
        (("users.email", "users.name"), ""),
        (("src/a/b.py", "src/a/c.py"), "path:src/a"),
        (("src/ab", "src/ac"), "path:src"),
        (("src", "src/a.py"), "path:src"),
        (("deps/stripe",), "path:deps/stripe"),
    ],
)
def test_the_place_of_a_lesson_is_the_deepest_that_its_paths_share(paths, key):
    assert all(place_key(order) == key for order in itertools.permutations(paths))


def test_what_a_sleep_absorbs_keeps_its_own_topic_and_place(world):
    a = world.lesson("x y z", topic="one")
    b, c, d = (world.lesson("x y w", 1, **own) for own in ({"topic": "two"}, {"paths": ["src/a.py"]}, {}))
    for other in (b, c, d):
        world.sleep(2, "absorb", [a, other], {"under": a})
    lessons = world.book(3).lessons
    assert lessons[a].repeats == (b, c, d)
    assert [lessons[one].topic_key for one in (b, c, d)] == ["two", "path:src/a.py", "one"]


# --- rules ---------------------------------------------------------------------------------------


def promoted(world, lessons, day=10, rank="rule", **more):
    becomes = {"rank": rank, "direction": -1, "representative": lessons[0], **more}
    return world.sleep(day, "promote", lessons, becomes)


def three(world, **fields):
    return [world.lesson(f"x y {n}", n, commit=n, topic="TZ", outcome=-50, **fields) for n in (1, 2, 3)]


def test_a_promotion_is_a_proposed_rule_with_its_evidence(world):
    lessons = three(world)
    rule = promoted(world, lessons)
    (found,) = world.book(10).rules
    assert (found.id, found.rank, found.trust, found.count, found.text) == (rule, "rule", "proposed", 3, "x y 1")
    assert (found.evidence, found.topic, found.last, found.contradicted_by) == (tuple(lessons), "TZ", on(3), ())
    world.stand(rule, "ratified")
    assert world.book(10).rules[0].trust == "ratified"


def test_a_rule_falls_when_its_evidence_is_retracted_and_not_when_it_is_sealed_or_fades(world):
    lessons = three(world)
    promoted(world, lessons)
    world.mark("seal", lessons[1], 11)
    book = world.book(2000)
    assert ([rule.count for rule in book.rules], book.fallen) == ([3], [])
    world.stand(lessons[2], "retracted")
    book = world.book(2000)
    assert (book.rules, [rule.count for rule in book.fallen]) == ([], [2])


def test_a_rule_whose_words_are_gone_falls_whatever_else_supports_it(world):
    lessons = [*three(world), world.lesson("x y 4", 4, commit=4, topic="TZ", outcome=-50)]
    promoted(world, lessons)
    world.mark("seal", lessons[0], 11)
    assert [rule.text for rule in world.book(12).rules] == [""]
    world.mark("unseal", lessons[0], 12)
    world.stand(lessons[0], "retracted")
    book = world.book(12)
    assert (book.rules, [rule.count for rule in book.fallen]) == ([], [3])


def test_a_contradiction_is_shown_and_takes_nothing_away(world):
    lessons = three(world)
    promoted(world, lessons)
    before = world.book(20).rules[0]
    against = world.lesson("x y 9", 9, commit=9, topic="tz", outcome=10)
    after = world.book(20).rules[0]
    assert (before.contradicted_by, after.contradicted_by) == ((), (against,))
    assert (after.count, after.trust, after.text) == (before.count, before.trust, before.text)


def test_a_rule_rusts_by_half_with_each_half_life(world):
    promoted(world, three(world))
    rust = [world.book(3 + days, policy).rules[0].rust for policy, days in ((TENDER, 180), (AUSTERE, 90), (TENDER, 0))]
    assert rust == [500_000, 500_000, 0]
    world.use(world.events[-1].id, 100, commit=50)
    assert (world.book(100).rules[0].rust, world.book(100).rules[0].last) == (0, on(100))


def test_two_promotions_of_one_topic_are_one_rule_and_the_ratified_one_speaks(world):
    lessons = three(world)
    first, second = promoted(world, lessons, 10), promoted(world, lessons[:3], 11, count=3)
    assert [(rule.id, rule.also) for rule in world.book(12).rules] == [(first, (second,))]
    world.stand(second, "ratified")
    assert [(rule.id, rule.also) for rule in world.book(12).rules] == [(second, (first,))]


def test_a_rule_stands_in_front_of_its_pattern_and_an_undo_brings_that_back(world):
    lessons = three(world)
    pattern = promoted(world, lessons[:2], 4, rank="pattern")
    rule = promoted(world, lessons, 5)
    assert [one.id for one in world.book(6).rules] == [rule]
    world.undo(rule, 6)
    assert [one.id for one in world.book(6).rules] == [pattern]


def test_what_fell_stays_down_until_it_is_promoted_again(world):
    lessons = three(world)
    rule = promoted(world, lessons)
    world.sleep(11, "fall", [rule], {"rank": ""})
    assert (world.book(12).rules, [one.id for one in world.book(12).fallen]) == ([], [rule])
    again = promoted(world, lessons, 13)
    assert ([one.id for one in world.book(14).rules], world.book(14).fallen) == ([again], [])


# --- outcomes on top -----------------------------------------------------------------------------


def test_a_book_after_outcomes_is_the_book_of_a_log_that_holds_them(world):
    lessons = three(world)
    other = world.lesson("x y 1 again", 4, commit=4, topic="TZ", outcome=-50)
    becomes = {"rank": "rule", "direction": -1, "representative": lessons[0]}
    outcomes = [
        Outcome("absorb", [lessons[0], other], {"under": ""}, {"under": lessons[0]}),
        Outcome("latent", [lessons[1]], {"band": "cold"}, {"band": "latent"}),
        Outcome("promote", lessons, {"rank": ""}, becomes),
    ]
    book = world.book(10)
    before = book.state()
    ahead = book.after(outcomes)
    assert book.state() == before
    assert ahead.lessons[other].under == lessons[0]
    for one in outcomes:
        world.sleep(10, one.action, list(one.targets), one.becomes)
    assert state_hash(world.book(10)) == state_hash(ahead) != state_hash(book)


def test_a_use_is_of_its_commit_whatever_day_it_is_recorded(world):
    a = world.lesson("x y z")
    world.use(a, 1, commit=7)
    assert world.book(2).lessons[a].life.seen == {f"commit:{oid(7)}"}
