"""What a hook saw is weighed part by part, waits where it is too light, and asks for care where it has faded."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.core.lessons import capture
from gitmem.core.lessons.capture import FAILURE, OVERRIDE, REVERT, SOURCES, TOLD, Capture
from gitmem.core.lessons.caution import caution, note
from gitmem.core.lessons.policies import AUSTERE, TENDER
from gitmem.store.inbox import ITEMS_MAX, KEPT_S, Inbox, is_due
from gitmem.store.repository import locate

IN_HAND = ("src/pool.py",)


def total(seen, policy=TENDER, known=0, waiting=0, in_hand=IN_HAND):
    return capture.score(seen, policy, known=known, waiting=waiting, in_hand=in_hand).total


# --- the score --------------------------------------------------------------------------------


def test_a_score_is_the_sum_of_its_parts():
    seen = Capture(REVERT, "It deadlocks.", paths=IN_HAND, times=2)
    score = capture.score(seen, TENDER, known=20, waiting=50, in_hand=IN_HAND)
    parts = {part.name: (part.value, part.weight, part.points) for part in score.parts}
    assert parts == {
        "severity": (70, 40, 28),
        "novelty": (80, 25, 20),
        "nearness": (100, 15, 15),
        "reuse": (50, 20, 10),
        "redundancy": (50, -20, -10),
    }
    assert score.total == 28 + 20 + 15 + 10 - 10
    assert str(score.parts[0]) == "severity 70 × 40 % = 28"
    austere = capture.score(seen, AUSTERE, known=20, waiting=50, in_hand=IN_HAND)
    assert {part.name: (part.value, part.weight, part.points) for part in austere.parts} == parts


def test_what_passes_the_bar_of_each_policy():
    """The bars stand between what is told of them: exactly at one passes, a point below it waits."""
    assert (TENDER.capture_bar, AUSTERE.capture_bar) == (55, 65)
    reasoned, bare = Capture(REVERT, "a", paths=IN_HAND), Capture(REVERT, "a", paths=IN_HAND, is_bare=True)
    override, once = Capture(OVERRIDE, "a", paths=IN_HAND), Capture(FAILURE, "a", paths=IN_HAND)
    twice, thrice = (Capture(FAILURE, "a", paths=IN_HAND, times=times) for times in (2, 3))
    found = {}
    for policy in (TENDER, AUSTERE):
        scores = [
            capture.score(seen, policy, known=0, waiting=0, in_hand=IN_HAND)
            for seen in (reasoned, bare, override, once, twice, thrice)
        ]
        found[policy.name] = [score.passes for score in scores]
    for policy, bar in ((TENDER, 55), (AUSTERE, 65)):
        at, below = (capture.Score([capture.Part("p", points, 100)], policy.capture_bar) for points in (bar, bar - 1))
        assert at.passes and not below.passes
    assert found == {
        "tender": [True, False, True, False, True, True],
        "austere": [True, False, False, False, False, True],
    }


def test_what_each_kind_of_capture_weighs():
    for policy in (TENDER, AUSTERE):
        weights = [capture.severity(Capture(source, "a"), policy) for source in SOURCES]
        assert weights == [70, 50, 25]
        assert capture.severity(Capture(REVERT, "a", is_bare=True), policy) == 30
        assert [capture.outcome(Capture(source, "a"), policy) for source in SOURCES] == [-50, 0, -20]
    assert set(TOLD) == set(SOURCES)


def test_what_is_seen_again_counts_each_time():
    for policy in (TENDER, AUSTERE):
        reuse = [
            next(
                part.value
                for part in capture.score(
                    Capture(FAILURE, "a", times=times), policy, known=0, waiting=0, in_hand=()
                ).parts
                if part.name == "reuse"
            )
            for times in (1, 2, 3, 9)
        ]
        assert reuse == [0, 50, 100, 100]


def test_nearness_is_the_file_then_its_folder():
    for policy in (TENDER, AUSTERE):
        assert capture.nearness(["src/pool.py"], IN_HAND, policy) == 100
        assert capture.nearness(["SRC/Pool.py::give_back"], IN_HAND, policy) == 100
        assert capture.nearness(["src/other.py"], IN_HAND, policy) == 50
        assert capture.nearness(["docs/a.md", "src/other.py"], IN_HAND, policy) == 50
        assert capture.nearness(["docs/a.md"], IN_HAND, policy) == capture.nearness([], IN_HAND, policy) == 0


@given(st.sampled_from(SOURCES), st.integers(0, 100), st.integers(0, 100), st.integers(1, 9), st.sampled_from(IN_HAND))
def test_a_score_rises_with_each_part_and_falls_with_redundancy(source, known, waiting, times, path):
    seen = Capture(source, "a", paths=[path], times=times)
    here = total(seen, known=known, waiting=waiting)
    assert 0 <= here <= 100
    assert total(seen, known=min(100, known + 9), waiting=waiting) <= here
    assert total(seen, known=known, waiting=min(100, waiting + 9)) <= here
    assert total(seen, known=known, waiting=waiting, in_hand=()) <= here
    assert total(Capture(source, "a", paths=[path], times=times + 1), known=known, waiting=waiting) >= here
    assert capture.score(seen, TENDER, known=known, waiting=waiting, in_hand=()).at_best == here


# --- the sentence -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("It deadlocks under load. We saw it twice.", "It deadlocks under load."),
        ("It deadlocks\nunder load\n\nAnd more.", "It deadlocks under load"),
        ("Use v1.2 and e.g. this one, not that. Then go.", "Use v1.2 and e.g. this one, not that."),
        ("Why? Because.", "Why?"),
        ('He said "no." Then left.', 'He said "no."'),
        ("接続を共有すると時刻帯が失われる。昨日わかった。", "接続を共有すると時刻帯が失われる。"),
        ("no stop at all", "no stop at all"),
        ("\n\n  first. Second.", "first."),
        ("", ""),
    ],
)
def test_the_first_sentence_stands_as_it_was_written(text, sentence):
    assert capture.sentence(text) == sentence


@given(st.text(max_size=900))
def test_a_sentence_is_one_line_of_the_texts_own_words_and_short_enough(text):
    found = capture.sentence(text)
    assert len(found) <= 280 and "\n" not in found
    assert " ".join(text.split()).startswith(found.rstrip("…").rstrip())


# --- caution ----------------------------------------------------------------------------------


def test_caution_grows_with_what_is_left_and_with_severity():
    for policy in (TENDER, AUSTERE):
        bar = policy.latent_bar
        assert caution([(bar - 1, 0)], policy) == 9 and caution([(bar, 0)], policy) == 10
        assert caution([(bar // 2, 30)], policy) == 20
        assert caution([(bar // 2, 30), (bar // 4, 0)], policy) == 22
        assert caution([(0, 100)], policy) == caution([], policy) == 0


def test_caution_has_an_end():
    for policy in (TENDER, AUSTERE):
        assert caution([(policy.latent_bar - 1, 100)] * 9, policy) == 100
    assert note(18, 2, "src/a.py") == "caution +18 from 2 faded lessons (`git decisions reveal src/a.py`)"
    assert "1 faded lesson (" in note(3, 1, "src/a.py")


# --- the inbox --------------------------------------------------------------------------------


def test_the_inbox_forgets_and_is_bounded(repo, monkeypatch):
    repository = locate(repo)
    now = time.time()
    with Inbox(repository) as inbox:
        inbox.put(Capture(FAILURE, "old"), "day:1")
        inbox.put(Capture(FAILURE, "dropped"), "day:1")
        inbox.settle([inbox.items()[0].id if inbox.items()[0].capture.core == "dropped" else inbox.items()[1].id],
                     for_good=True)  # fmt: skip
        inbox.put(Capture(FAILURE, "dropped"), "day:2")
        assert [item.capture.core for item in inbox.items()] == ["old"]
    assert KEPT_S == 30 * 86400 and ITEMS_MAX == 200
    for policy in (TENDER, AUSTERE):  # one inbox for both
        assert (policy.inbox_days, policy.inbox_max) == (30, 200)
    monkeypatch.setattr("gitmem.store.inbox.time.time", lambda: now + 30 * 86400 - 60)
    with Inbox(repository, is_read_only=True) as inbox:
        assert [item.capture.core for item in inbox.items()] == ["old"]
    assert is_due(repository)
    monkeypatch.setattr("gitmem.store.inbox.time.time", lambda: now + 30 * 86400 + 60)
    with Inbox(repository, is_read_only=True) as inbox:
        assert inbox.items() == []
    assert not is_due(repository)
    with Inbox(repository) as inbox:
        inbox.put(Capture(FAILURE, "dropped"), "day:3")  # that is forgotten too
        assert [item.capture.core for item in inbox.items()] == ["dropped"]
    for n in range(ITEMS_MAX + 1):
        monkeypatch.setattr("gitmem.store.inbox.time.time", lambda n=n: now + 31 * 86400 + n)
        with Inbox(repository) as inbox:
            inbox.put(Capture(FAILURE, f"failure {n}"), "day:4")
    with Inbox(repository) as inbox:
        kept = [item.capture.core for item in inbox.items()]
    assert len(kept) == 200 and kept[0] == "failure 200" and kept[-1] == "failure 1"


def test_the_same_in_one_session_is_once_and_elsewhere_is_again(repo):
    repository = locate(repo)
    with Inbox(repository) as inbox:
        for key in ("session:a", "session:a", "session:b"):
            inbox.put(Capture(FAILURE, "it fails", paths=["a.py"], evidence=[f"of:{key}"]), key)
        (item,) = inbox.items()
    assert item.capture.times == 2 and item.capture.evidence == ["of:session:a", "of:session:b"]
    with Inbox(repository) as inbox:
        inbox.settle([item.id])
        inbox.put(Capture(FAILURE, "it fails"), "session:b")  # that was written down
        assert inbox.items() == []
        inbox.put(Capture(FAILURE, "it fails"), "session:c")
        assert len(inbox.items()) == 1


def test_what_cant_be_read_is_empty_and_begun_anew(repo):
    repository = locate(repo)
    assert not is_due(repository)
    with Inbox(repository, is_read_only=True) as inbox:
        assert inbox.items() == [] and not inbox.is_kept
    assert not (repo / ".git" / "gitmem").exists()  # looking made nothing
    with Inbox(repository) as inbox:
        inbox.put(Capture(FAILURE, "it fails"), "day:1")
    path = repo / ".git" / "gitmem" / "inbox.sqlite"
    path.write_bytes(b"no database" * 100)
    assert not is_due(repository)
    with Inbox(repository) as inbox:
        assert inbox.items() == [] and inbox.is_kept
        inbox.put(Capture(FAILURE, "again"), "day:1")
    with Inbox(repository, is_read_only=True) as inbox:
        assert [one.capture.core for one in inbox.items()] == ["again"]
