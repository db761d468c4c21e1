"""Text on its way to a terminal: what is shown, what is spelled out, how it wraps."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.cli.paint import Painter
from gitmem.cli.text import EMPTY, Line, first_line, joined, labelled, paragraphs, plural, safe_json, visible

EVIL = "[/red] \x1b[31mred\x1b[0m \x07 \x9b \u202egnirts\u202c \U000e0041 \ud800 a\x00b\rc"


def painted(*lines: Line, width: int = 40, colour: bool = True) -> str:
    stream = io.StringIO()
    Painter(stream, width=width, colour=colour).write(lines)
    return stream.getvalue()


def test_what_a_terminal_would_obey_is_spelled_out() -> None:
    assert visible("a\x1b[31mb") == "a\\x1b[31mb"
    assert visible("a\u202eb") == "a\\u202eb"
    assert visible("a\U000e0041b") == "a\\U000e0041b"
    assert visible("a\x9bb\x7fc\rd\x00e") == "a\\x9bb\\x7fc\\rd\\x00e".replace("\\r", "\\x0d")
    assert visible("a\ud800b") == "a\\ud800b"
    assert visible("one\nline") == "one\\x0aline"
    assert visible("a\tb") == "a b"


def test_ordinary_text_of_any_language_passes_as_it_is() -> None:
    for text in ("plain", "naïve", "日本語", "👍🏽 👩‍👩‍👧", "می‌خواهم"[:2], "[/red] :smile: {x} %s"):
        assert visible(text).strip("\u2068\u2069") == text


def test_text_from_right_to_left_is_isolated_and_other_text_is_not() -> None:
    assert visible("שלום") == "\u2068שלום\u2069"
    assert visible("مرحبا") == "\u2068مرحبا\u2069"
    assert visible("hello") == "hello"
    assert visible("日本語") == "日本語"


@given(st.text(st.characters(), max_size=60))
def test_nothing_visible_is_obeyed(text: str) -> None:
    shown = visible(text)
    assert "\n" not in shown and "\x1b" not in shown and "\r" not in shown
    assert not any(
        ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067" for c in shown
    )
    shown.encode()  # no lone surrogate is left


@given(st.dictionaries(st.text(st.characters(), max_size=9), st.text(st.characters(), max_size=60)))
def test_json_made_safe_is_the_same_value(value: dict[str, str]) -> None:
    text = safe_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert not any(c in text for c in "\x1b\x7f\x9b\u202e\u2066\U000e0041")
    text.encode()


def test_a_closing_tag_in_the_data_is_seven_characters() -> None:
    out = painted(Line(("rejected", "rejected"), ("", " [/red] app/[/bold]/x.ts [link=x]")), width=80)
    assert "[/red] app/[/bold]/x.ts [link=x]" in out
    assert "\x1b[1;31mrejected\x1b[0m" in out


def test_without_colour_there_is_no_escape_sequence_at_all() -> None:
    out = painted(Line(("rejected", "rejected"), ("id", " 7f3a " + "word " * 40), hang=4), colour=False)
    assert "\x1b" not in out
    assert out.count("\n") > 4


@pytest.mark.parametrize("width", [20, 40, 80])
def test_long_lines_wrap_within_the_terminal_and_hang(width: int) -> None:
    out = painted(*paragraphs("word " * 60 + "x" * 200), width=width, colour=False)
    rows = out.splitlines()
    assert max(map(len, rows)) <= width
    assert all(row.startswith("    ") for row in rows)
    assert "".join(out.split()) == "word" * 60 + "x" * 200


def test_wide_characters_count_twice() -> None:
    from rich.cells import cell_len

    rows = painted(*paragraphs("決済代行業者は安全なトークンを発行します。" * 4), width=30, colour=False).splitlines()
    assert all(cell_len(row) <= 30 for row in rows)
    assert len(rows) > 3


def test_a_line_that_is_to_stay_one_row_is_cut_on_a_terminal_and_whole_in_a_pipe() -> None:
    line = Line(("", "word " * 40), cut=True)
    assert painted(line, colour=False).count("\n") == 1
    assert len(painted(line, colour=False).rstrip("\n")) <= 40
    assert len(line.plain()) > 150


def test_each_row_of_a_wrapped_line_keeps_its_rail() -> None:
    out = painted(Line(("", "word " * 20)).railed(("* ", "| ")), colour=False).splitlines()
    assert out[0].startswith("* ")
    assert len(out) > 2 and all(row.startswith("| ") for row in out[1:])


def test_poison_neither_breaks_a_listing_nor_hides_its_neighbours() -> None:
    lines = [Line(("", "before")), *paragraphs(EVIL), Line(("", "after"))]
    for out in (joined(lines), painted(*lines, width=200)):
        rows = out.splitlines()
        assert rows[0] == "before" and rows[-1] == "after"
        assert "\x1b[31m" not in out and "\u202e" not in out
        assert "[/red]" in out and "\\u202e" in out


def test_paragraphs_keep_their_lines_and_lose_the_blanks_around() -> None:
    assert [line.plain() for line in paragraphs("\n\n a\r\n\n  b  \n\n")] == ["    a", "", "      b"]
    assert [line.plain() for line in labelled("instead", "a\nb")] == ["    instead: a", "      b"]
    assert first_line("\n  \n one \ntwo") == "one"
    assert EMPTY.plain() == ""


def test_counts_are_said_in_words() -> None:
    assert plural(1, "event") == "1 event"
    assert plural(0, "event") == "0 events"
    assert plural(12345, "entry", "entries") == "12,345 entries"
