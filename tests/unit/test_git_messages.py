"""What commit messages say about reverting, and what only looks like it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.importers import git_messages as messages

A, B, C = "a1b2c3d4e5" * 4, "0123456789" * 4, "c0ffee1234" * 4


def claim(message: str) -> messages.Claim:
    found = messages.claim(message)
    assert found is not None
    return found


def named(message: str) -> list[str]:
    found = messages.claim(message)
    return [target.oid for target in found.targets] if found else []


@pytest.mark.parametrize(
    ("message", "oids"),
    [
        (f'Revert "Cache"\n\nThis reverts commit {A}.\n', [A]),
        (f"Go back\n\nThis reverts commit {A[:7]}; it was slow.", [A[:7]]),
        (f"Go back\n\nThis reverts commits {A}, {B} and {C}.", [A, B, C]),
        (
            f"Go back\n\nThis reverts\ncommit {A[:12]} (cache: keep\nrows (all), 2022-01-02) and {B[:12]}.",
            [A[:12], B[:12]],
        ),
        (f'Go back\n\nThis reverts commit {A} "cache: keep rows" and commit {B}.', [A, B]),
        (f"Go back\n\nThis commit effectively reverts {A[:8]}.", [A[:8]]),
        (f"Go back\n\nThis is a revert of commit {A}.", [A]),
        (f"Go back\n\nIt was slow. Reverts commit {A}.", [A]),
        (f'Squash (#9)\n\n* Faster\n\n* Revert "Cache"\n\n  This reverts commit {A}.\n\n* Docs', [A]),
        (f"Revert {A[:9]} (cache: keep rows)\n\nSlow.", [A[:9]]),
        (f"Revert {A[:9]} and {B[:9]}", [A[:9], B[:9]]),
        (f'Revert "Cache" no blank line\nThis reverts commit {A}.', [A]),
        (f"Go back\n\nThis reverts https://example.org/x/y/commit/{A}.", [A]),
        (f"Go back\n\nThis reverts commit {A.upper()}.", [A]),
        (f"Go back\n\nThis reverts commits:\n\n- {A}\n- {B}\n", [A, B]),
    ],
)
def test_a_commit_that_says_what_it_reverts_is_read(message: str, oids: list[str]) -> None:
    assert named(message) == oids


@pytest.mark.parametrize(
    "message",
    [
        "Add a revert button\n\nUsers can revert changes now.",
        f"Fix the cache\n\nCommit {B} reverts commit {A}, which was wrong.",
        f"Fix the cache\n\nThe previous patch, which reverts {A}, was wrong.",
        f"Reply\n\n> This reverts commit {A}.\n",
        f"Fix\n\nSee {A} for why. That would\nrevert commit {B}.",
        "Tidy\n\nThis reverts defaced facades.",
        "Tidy\n\nThis reverts 12 files.",
        "Irreversible migration of reverted orders",
        "",
        "\n\n",
    ],
)
def test_a_commit_that_speaks_of_another_revert_names_nothing(message: str) -> None:
    assert named(message) == []


def test_a_reverted_merge_names_its_parent() -> None:
    found = claim(f"Revert \"Merge branch 'x'\"\n\nThis reverts commit {A}, reversing\nchanges made to {B}.\n")
    assert found.targets == [messages.Target(A, B)]


@pytest.mark.parametrize(
    ("subject", "quoted", "loose", "lands"),
    [
        ('Revert "Cache rows"', "Cache rows", False, False),
        ('Revert "Cache rows (#12)" (#13)', "Cache rows", False, False),
        ('db: revert "Cache rows"', "Cache rows", False, False),
        ('[db] Reverts "Cache rows".', "Cache rows", False, False),
        ("Revert 'Cache \"hot\" rows'", 'Cache "hot" rows', True, False),
        ('Revert "Revert "Cache rows""', 'Revert "Cache rows"', False, False),
        ('Revert^2 "Cache rows"', 'Revert "Cache rows"', False, True),
        ('Back out "Cache rows"', "Cache rows", False, False),
        ('Reapply "Cache rows"', "Cache rows", False, True),
        ('Reland "Cache rows" (#14)', "Cache rows", False, True),
        ("revert: feat(db): cache rows", "feat(db): cache rows", True, False),
        ("Revert cache rows", "cache rows", True, False),
        ('db: revert "changed" simplification', "changed", True, False),
        ("Reverting is hard", "", False, False),
        ("Reversed order", "", False, False),
    ],
)
def test_subjects_that_quote_another_one(subject: str, quoted: str, loose: bool, lands: bool) -> None:
    found = messages.claim(subject)
    if not quoted:
        assert found is None
        return
    assert found is not None
    assert (found.subject, found.loose, found.lands) == (quoted, loose, lands)


def test_a_title_that_a_forge_cut_is_put_together_again() -> None:
    assert (
        claim('Revert "Cache all the rows of the…\n\n… orders table" (#9)').subject
        == "Cache all the rows of the orders table"
    )


def test_pull_requests_are_numbers() -> None:
    assert claim('Revert "Cache"\n\nReverts acme/shop#12').pulls == [12]
    assert claim("Go back\n\nReverts #12 and #13.").pulls == [12, 13]
    assert claim("Revert #12 (#15)").pulls == [12]
    assert claim("Go back\n\nThis reverts https://example.org/acme/shop/pull/12").pulls == [12]
    assert messages.without_number("Cache rows (#12)") == ("Cache rows", 12)
    assert messages.without_number("Cache rows (see #12)") == ("Cache rows (see #12)", 0)


@pytest.mark.parametrize(
    "message",
    [
        f"Tidy\n\nThis partially reverts commit {A}.",
        f"Tidy\n\nThis reverts part of commit {A}.",
        f"Tidy\n\nPartly reverts {A}.",
        f'Partially revert "Cache rows"\n\nThis reverts commit {A}.',
        f"Revert parts of {A[:9]}",
    ],
)
def test_a_partial_revert_says_so(message: str) -> None:
    assert claim(message).partial
    assert not claim(f"This reverts commit {A}.\n\nIt was partly wrong.").partial


def test_a_range_is_named_as_written() -> None:
    found = claim(f"Go back\n\nThis reverts commits {A[:8]}..{B[:8]}.")
    assert found.ranges == [f"{A[:8]}..{B[:8]}"]
    assert not found.targets


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (f'Revert "Cache"\n\nThis reverts commit {A}.\n', ""),
        (f'Revert "Cache"\n\nThis reverts commit {A}.\n\nSigned-off-by: Ada <a@b.c>\nChange-Id: I1\n', ""),
        (f'Revert "Cache"\n\nThis reverts commit {A}.\n\nIt lost rows.\n\nFixes: #7\n', "It lost rows.\n\nFixes: #7"),
        (f'Revert "Cache"\n\nThis reverts commit {A}; it lost rows.', "it lost rows."),
        (f'Revert "Cache"\n\nThis reverts commit {A} because it lost rows.', "Reverted because it lost rows."),
        (f'Revert "Cache". It lost rows.\n\nThis reverts commit {A}.', "It lost rows"),
        (f"Keep rows\n\nThis reverts commit {A}.", "Keep rows"),
        (f'Revert "Cache"\n\nThis reverts commit {A}.\n\nConflicts:\n\tdb/rows.py\n\n\tdb/more.py', ""),
        (f'Undo (#9)\n\n* Revert "Cache"\n\nThis reverts commit {A}.\n\n* Revert "Log"\n\nReverts {B}.', "Undo (#9)"),
        ('Revert "Cache" (#13)\n\nReverts acme/shop#12', ""),
        (f'Revert "Cache"\n\n(cherry picked from commit {B})', ""),
    ],
)  # fmt: skip
def test_the_reason_is_what_is_left(message: str, reason: str) -> None:
    assert claim(message).reason == reason


def test_the_approach_is_the_subject_and_of_a_forges_merge_its_title() -> None:
    assert messages.approach("Cache rows (#12) (#13)", "") == "Cache rows"
    assert messages.approach("Merge pull request #12 from a/b", "\nCache rows\n\nmore") == "Cache rows"
    assert messages.approach("Merge branch 'a' into 'main'", "Cache rows\n\nSee merge request !1") == "Cache rows"
    assert messages.approach("Merge branch 'jc/cache'", "* jc/cache:\n  rows") == "Merge branch 'jc/cache'"
    assert messages.approach("Merge pull request #12 from a/b", "") == "Merge pull request #12 from a/b"


def test_long_texts_are_cut_between_characters_and_marked() -> None:
    cut = messages.trim("é" * 1000, 101)
    assert len(cut.encode()) <= 101
    assert cut.endswith(messages.CUT)
    assert set(cut.removesuffix(messages.CUT)) == {"é"}
    assert messages.trim("é" * 50, 100) == "é" * 50
    assert len(claim(f"Go back\n\nThis reverts commit {A}.\n\n" + "why " * 50_000).reason) <= messages.REASON_MAX


_PIECES = st.sampled_from(
    [
        "Revert ",
        '"',
        "'",
        "This reverts ",
        "commit ",
        A,
        A[:7],
        "..",
        "(",
        ")",
        "#12",
        ",",
        ".",
        "\n",
        "\n\n",
        ">",
        "* ",
        "and ",
        "^2 ",
        "…",
        "reversing changes made to ",
        "partially ",
        "\u2028",
        "�",
        "x",
        ": ",
        "] ",
        "Conflicts:\n\t",
        "is a ",
    ]
)


@given(st.lists(_PIECES, max_size=40).map("".join))
def test_any_message_is_read_without_an_error(message: str) -> None:
    found = messages.claim(message)
    if found is not None:
        assert len(found.reason.encode("utf-8", "replace")) <= messages.REASON_MAX
    messages.approach(*messages.split(message))


@pytest.mark.parametrize(
    "piece", ["This reverts commit ", A + " ", "Revert (", '"', "(#1", "is a ", ": ", "also ", "\n* ", A[:7] + " (x "]
)
def test_the_time_is_linear_in_the_message(piece: str) -> None:
    start = time.process_time()
    messages.claim("Revert x\n\n" + piece * 20_000)
    messages.claim(piece * 20_000)
    assert time.process_time() - start < 5


def test_subjects_are_compared_without_their_numbers_whatever_ends_their_lines() -> None:
    from gitmem.importers.git_history import _subject_key

    for end in (b"\n", b"\r\n"):
        assert _subject_key(b"Cache  the totals (#12)" + end + end + b"Because." + end) == (b"Cache the totals", 12)
        assert _subject_key(b"Cache" + end + b"the totals" + end + end + b"Because.") == (b"Cache the totals", 0)
