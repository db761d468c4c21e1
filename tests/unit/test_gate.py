"""The gate's pure rules: what a change adds, patterns and their index, what stops, and what is said."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.core import additions, gate, patterns
from gitmem.core.additions import Addition
from gitmem.core.characters import CONTROLS, INVISIBLE
from gitmem.core.events import Event
from gitmem.core.gate import DISPUTED, FIRM, ONCE, Match


def event(name: str = "users.card", number: int = 1, **fields) -> Event:
    given = {"kind": "change", "change_type": "reject", "entity_path": name, "reasoning": "why not", "clock": number}
    return Event(f"{number:064x}", given | {"recorded_at": "2026-01-02T03:04:05.000000Z"} | fields)


def match(strength: int = FIRM, *, number: int = 1, how: str = gate.ENTITY, holds: bool = True, **fields) -> Match:
    one = event(number=number, **fields)
    return Match(one, how, "brings it in", path="db/1.sql", line=3, strength=strength, holds=holds)


# --- additions --------------------------------------------------------------------------------


def test_only_lines_that_were_nowhere_in_the_file_are_added():
    before = "a = 1\nb = 2  \n"
    assert additions.added(before, "b = 2\nc = 3\n\n  a = 1\na = 1\n") == [(2, "c = 3"), (4, "  a = 1")]
    assert additions.added(None, "x\r\ny") == [(1, "x\r"), (2, "y")]
    assert additions.added("x", None) == additions.added("x", "") == []


@given(st.text("ab\n "), st.text("ab\n "))
def test_an_added_line_stands_where_it_is_said_and_was_not_there(before, after):
    for number, line in additions.added(before, after):
        assert after.split("\n")[number - 1] == line
        assert line.rstrip() not in [old.rstrip() for old in before.split("\n")]


# --- patterns ---------------------------------------------------------------------------------

LINES = [(3, "    cache = Memcached('10.0.0.1:11211')"), (4, "    session.store = cache"), (9, "    return cache")]


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("Memcached(", 3),
        ("cached", 3),
        ("store", 4),
        ("a", 3),
        (["session", "MEMCACHED"], 3),
        (["session"], 4),
        ("')\n    session", 3),
        ("store = cache\n    return", 0),  # something stands between them
        ("memcached(", 0),
        (["session", "return", "memcached"], 0),  # too far apart
        (["memcache"], 0),
        ("", 0),
        (" \n ", 0),
        ([], 0),
        ({"newer": 1}, 0),
    ],
)
def test_a_literal_stands_as_it_is_and_words_stand_together(pattern, line):
    hit = patterns.found([pattern], LINES)
    assert (hit[1] if hit else 0) == line
    if line:
        ((anchor, entry),) = patterns.anchors([pattern])
        text = "\n".join(line for _, line in LINES)
        assert anchor in patterns.probes(LINES) and patterns.may_stand(entry, text, text.lower())


TEXTS = st.text(st.sampled_from("abcde_ 1(\né日")).filter(str.strip)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.one_of(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)))
def test_what_stands_in_a_text_is_reached_by_its_anchor(rows, pattern):
    text = "\n".join([*rows, pattern if isinstance(pattern, str) else " ".join(pattern)])
    lines = list(enumerate(text.split("\n"), 1))
    if patterns.found([pattern], lines):
        ((anchor, entry),) = patterns.anchors([pattern])
        assert anchor in patterns.probes(lines) and patterns.may_stand(entry, text, text.lower())
    if isinstance(pattern, str):
        assert patterns.found([pattern], lines)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_patterns_of_any_shape_are_read(field):
    assert patterns.anchors(field) == sorted(set(patterns.anchors(field)))
    patterns.found(field, LINES)


# --- what stops -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strength", "holds", "shown", "let", "what"),
    [
        (FIRM, True, False, False, "stops"),
        (FIRM, True, True, False, "again"),
        (FIRM, True, True, True, "passed"),
        (FIRM, True, False, True, "passed"),
        (FIRM, False, False, False, "notes"),
        (ONCE, True, False, False, "stops"),
        (ONCE, True, True, False, "passed"),
        (ONCE, True, False, True, "passed"),
        (ONCE, False, False, False, "notes"),
        (ONCE, False, True, False, ""),
        (DISPUTED, True, False, False, "notes"),
    ],
)
def test_what_stops_and_what_passes(strength, holds, shown, let, what):
    one = match(strength, holds=holds)
    ids = [one.event.id]
    ruling = gate.ruled([one], shown=ids if shown else (), let_pass=ids if let else ())
    found = {name: [m.event.id for m in getattr(ruling, name)] for name in ("stops", "again", "passed", "notes")}
    assert found == {name: ids if name == what else [] for name in found}
    assert ruling.is_stop == (what in ("stops", "again"))


def test_of_one_event_the_strongest_match_counts():
    weak, strong = match(holds=False, how=gate.CONTENT), match(how=gate.ENTITY)
    for order in itertools.permutations([weak, strong]):
        assert gate.ruled(order).stops == [strong]
    assert gate.ruled([weak], noted=[weak.event.id]).notes == []


@given(st.lists(st.tuples(st.sampled_from([FIRM, ONCE, DISPUTED]), st.integers(1, 6), st.booleans()), max_size=8))
def test_the_order_of_matches_changes_nothing(found):
    matches = [match(strength, number=number, holds=holds) for strength, number, holds in found]
    one = gate.message(gate.ruled({m.event.id: m for m in matches}.values()))
    assert gate.message(gate.ruled(reversed({m.event.id: m for m in matches}.values()))) == one


# --- what is said -----------------------------------------------------------------------------


def test_a_person_is_told_how_to_open_it_and_an_agent_never_is():
    told = {reader: gate.message(gate.ruled([match()]), reader) for reader in (gate.AGENT, gate.PERSON, gate.CI)}
    assert "override" not in told[gate.AGENT].lower() and "supersede" in told[gate.AGENT]
    assert "git decisions override 00000000" in told[gate.PERSON]
    assert "Decision-Override: 00000000" in told[gate.CI]
    once = gate.message(gate.ruled([match(ONCE)]))
    assert "override" not in once.lower() and "supersede" in once


def test_a_message_holds_what_was_decided():
    one = match(
        reasoning="no cards", instead="their id", constraint="no PCI", stale_when="we grow", approach="our table"
    )
    told = gate.message(gate.ruled([one]))
    for words in ("users.card", '"our table"', '"no cards"', '"their id"', '"no PCI"', '"we grow"', "db/1.sql:3"):
        assert words in told
    assert gate.message(gate.ruled([])) == ""


@given(st.text(st.characters(codec=None)), st.integers(5, 400))
def test_foreign_text_is_one_line_in_quotes_without_what_is_not_seen(text, most):
    shown = gate.said(text, most)
    inner = shown[1:-1]
    assert shown[0] == shown[-1] == '"' and '"' not in inner and "`" not in inner and len(inner) <= most
    assert CONTROLS.isdisjoint(inner)
    kept = {"\u200c", "\u200d", *map(chr, range(0xFE00, 0xFE10))}
    assert all(c not in INVISIBLE or c in kept for c in inner)


def test_what_can_be_seen_stays():
    assert gate.said("カード情報は保存しない 👩‍💻 می‌خواهم", 100) == '"カード情報は保存しない 👩‍💻 می‌خواهم"'
    assert gate.said("\x1b[31mred\u202e\n\n\tback", 100) == '"[31mred back"'


@given(st.lists(st.tuples(st.text(max_size=3000), st.sampled_from([FIRM, ONCE])), max_size=40), st.booleans())
def test_no_message_is_longer_than_it_may_be(found, shown):
    matches = [
        match(strength, number=n + 1, reasoning=text or "x", approach=text[:900])
        for n, (text, strength) in enumerate(found)
    ]
    ruling = gate.ruled(matches, shown=[m.event.id for m in matches] if shown else ())
    assert len(gate.message(ruling)) <= gate.MESSAGE_MAX
    notes = gate.ruled([match(DISPUTED, number=m.event.clock, reasoning="x" * 900) for m in matches])
    assert len(gate.message(notes)) <= gate.MESSAGE_MAX


def test_marks_of_generated_files_are_not_taken():
    text = "def compute_totals(orders):\n    return sum(order.total for order in orders)\n"
    by_hand, generated = Addition("src/a.py", None, text, is_new=True), Addition("dist/a.py", None, text, is_new=True)
    assert {line for _, line in additions.marked([by_hand]).values()} == {1, 2}
    assert additions.marked([generated]) == {}
