"""When a decision wants another look: dates, versions, words."""

from __future__ import annotations

import pytest

from gitmem.core import staleness
from gitmem.core.events import Event
from gitmem.core.staleness import Wish, alike, at_least

NOW = "2026-11-30T12:00:00.000000Z"


def change(change_type="modify", entity="src/a.py", reasoning="", approach="", **fields):
    given = {
        "kind": "change",
        "change_type": change_type,
        "entity_path": entity,
        "reasoning": reasoning,
        "approach": approach,
        "recorded_at": "2026-01-01T00:00:00.000000Z",
        "clock": 1,
        **fields,
    }
    return Event("0" * 64, given)


@pytest.mark.parametrize(
    ("after", "due"),
    [
        ("333d", "2026-11-30"),
        ("11mo", "2026-11-27"),
        ("2026-11-30T12:00:00.000000Z", "2026-11-30"),
        ("2026-06-01", "2026-06-01"),
        ("334d", None),
        ("2026-11-30T12:00:00.000001Z", None),
    ],
)
def test_a_revisit_is_due_from_its_very_instant_and_no_earlier(after, due):
    signal = staleness.revisit(change(revisit_after=after), NOW)
    assert (signal.since[:10] if signal else None) == due


def test_an_offset_runs_from_when_the_event_took_place_and_not_from_when_it_was_recorded():
    event = change(revisit_after="30d", valid_from="2020-01-01T00:00:00.000000Z")
    signal = staleness.revisit(event, NOW)
    assert signal and signal.since.startswith("2020-01-31")
    assert staleness.overdue_s(signal, NOW) == 2495 * 86400 + 12 * 3600


def test_what_another_writer_wrote_as_a_date_is_for_a_person_and_breaks_nothing():
    signal = staleness.revisit(change(revisit_after="when pigs fly"), NOW)
    assert signal and signal.flag == "manual_review"


@pytest.mark.parametrize(
    ("version", "bound", "reached"),
    [
        ("19.0.0", "19", True), ("19", "19.0.0", True), ("18.3.1", "19", False), ("19.1", "19.0.5", True),
        ("10.0", "9.9", True), ("9.9", "10", False), ("v1.2.3", "1.2.3", True), ("1!2.0", "2", True),
        # before a release is not that release; after it is
        ("5.0rc1", "5.0", False), ("5.0.0-beta.2", "5.0.0", False), ("5.0.dev3", "5.0", False), ("5.0a1", "5", False),
        ("5.0rc1", "4.9", True), ("5.0.post1", "5.0", True), ("5.0+local.1", "5.0", True),
        ("5.0.0+build.7", "5", True),
        # a Go pseudo-version is before the release that it counts up to
        ("0.0.0-20230101000000-abcdefabcdef", "0", False),
        # what can't be told is not told
        ("latest", "1", None), ("", "1", None), ("workspace:*", "1", None), ("5.0 or so", "5.0", None),
    ],
)  # fmt: skip
def test_versions_compare_by_their_numbers_and_then_by_what_follows(version, bound, reached):
    assert at_least(version, bound) is reached


def test_a_library_that_was_reached_says_where_and_one_that_nobody_knows_is_for_a_person():
    files = [("18.2.0", True, "a/yarn.lock"), ("19.1.0", True, "b/yarn.lock")]
    fired = staleness.library("react", "19", files)
    assert fired and fired.flag == "expired" and "19.1.0 in b/yarn.lock" in fired.why
    assert staleness.library("react", "20", files) is None
    unknown = staleness.library("react", "19", [])
    assert unknown and unknown.flag == "manual_review"
    least = staleness.library("react", "19", [("18.0", False, "package.json")])
    assert least and least.flag == "manual_review" and "at least 18.0" in least.why
    at_the_least = staleness.library("react", "19", [("19.2", False, "package.json")])
    assert at_the_least and at_the_least.flag == "expired"


MEETS = [
    ("payment provider changed", "We changed our payment provider to Adyen."),
    ("payment provider changed", "Switched the payment providers: Adyen now."),
    ("move to Go", "we did move to Go last month"),
    ("move to Go", "The service was moved to Go."),
    ("Stripe replaced", "Replaced Stripes with Adyen"),
    ("Stripes are replaced", "Stripe replaces nothing any more"),
    ("the ORM supports composite keys", "Upgraded: composite key support arrived"),
    ("支付提供商更换", "我们更换了支付提供商"),
    ("決済プロバイダーを変更", "決済プロバイダーの変更が終わった"),
    ("결제 제공자가 바뀌면", "결제 제공자를 바꿨다: 아디옌"),
    ("когда сменится платёжный провайдер", "Платежный провайдер сменился"),
    ("café menu", "The cafe has another menu"),
    ("card token vault", "card_token lives in a vault"),
]
DOES_NOT = [
    ("payment provider changed", "Fixed a typo in the payment provider section of the FAQ"),
    ("payment provider changed", "Changed the colours of the landing page"),
    ("move to Go", "Moved the footer down"),
    ("Stripe replaced", "Stripe is slow today"),
    ("Stripe", "Stripe replaced by Stripe"),
    ("支付提供商更换", "更换了图标"),
    ("支付提供商更换", "提供商的文档"),
    ("when it is no longer needed", "It is no longer needed"),
    ("chance of change in address", "The address was changed"),
]


@pytest.mark.parametrize(("wish", "text"), MEETS)
def test_a_later_event_meets_what_would_change_the_matter(wish, text):
    assert Wish(wish).met_by(change(reasoning=text))


@pytest.mark.parametrize(("wish", "text"), DOES_NOT)
def test_sharing_a_word_or_the_subject_alone_meets_nothing(wish, text):
    assert not Wish(wish).met_by(change(reasoning=text))


def test_what_a_rejection_calls_its_approach_is_what_does_not_happen():
    wish = Wish("move to Go")
    assert wish.met_by(change("add", approach="move to Go", reasoning="Faster."))
    assert not wish.met_by(change("reject", approach="move to Go", reasoning="Nobody knows it."))


def test_words_are_alike_where_they_differ_in_a_short_ending():
    for one, other in (("stripe", "stripes"), ("migrate", "migration"), ("replaced", "replacing"), ("move", "moved")):
        assert alike(one, other) and alike(other, one)
    for one, other in (("change", "chance"), ("go", "gone"), ("port", "portfolio"), ("cat", "car"), ("token", "took")):
        assert not alike(one, other) and not alike(other, one)


def test_the_signals_of_one_event_come_strongest_first():
    signals = [staleness.Signal(flag, "why") for flag in reversed(staleness.FLAGS)]
    assert [one.flag for one in staleness.order(signals, NOW)] == list(staleness.FLAGS)
