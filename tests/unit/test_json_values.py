"""JSON values come out of a file as they went in, in whatever form and in whatever pieces it is read."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.importers import json_values
from gitmem.importers.json_values import Values

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(SCALARS, lambda more: st.lists(more, max_size=3) | st.dictionaries(TEXT, more, max_size=3))
RECORDS = st.dictionaries(TEXT.filter(lambda key: key != "records"), VALUES, max_size=4)


def read(text: str | bytes) -> tuple[list[object], list[tuple[str, str]]]:
    unread: list[tuple[str, str]] = []
    data = text.encode() if isinstance(text, str) else text
    found = [value for _, value in Values(io.BytesIO(data), lambda what, where: unread.append((what, where)))]
    return found, unread


FORMS = {
    "array": json.dumps,
    "broken into lines": lambda values: json.dumps(values, indent=2, ensure_ascii=False),
    "bundle": lambda values: json.dumps({"version": "0.1.0", "n": -1.5e-3, "records": values, "more": [1]}),
    "one a line": lambda values: "\n".join(json.dumps(value, ensure_ascii=False) for value in values),
    "one a line, of Windows": lambda values: "\ufeff" + "".join(json.dumps(value) + "\r\n\r\n" for value in values),
}


@given(st.lists(RECORDS, min_size=1, max_size=5), st.sampled_from(sorted(FORMS)), st.integers(1, 40), st.booleans())
def test_what_was_written_is_read_in_every_form_and_in_pieces_of_every_size(values, form, chunk, short):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_values, "_CHUNK", chunk)
        if short:  # a bundle that is too long to be read at once is read bit by bit
            longest = max(len(json.dumps(value, indent=2)) for value in values)
            patch.setattr(json_values, "VALUE_MAX", max(64, 2 * longest))
        assert read(FORMS[form](values)) == (values, [])


@given(st.lists(RECORDS, max_size=5), st.data())
def test_a_bad_line_costs_itself_and_no_other(values, data):
    lines = [json.dumps(value) for value in values]
    at = data.draw(st.integers(0, len(lines)))
    bad = data.draw(st.sampled_from(['{"id": "cut off', "no json", "}", "{} {}", '{"a": tru}', "[" * 5000]))
    found, unread = read("\n".join([*lines[:at], bad, *lines[at:]]))
    assert found == values
    assert unread == [("lines that are no JSON", f"line {at + 1}")]


def test_what_is_cut_off_is_read_up_to_there():
    whole = json.dumps([{"n": number} for number in range(9)], indent=1)
    found, unread = read(whole[: whole.index("5")])
    assert found == [{"n": number} for number in range(5)] and len(unread) >= 1
    assert read("") == ([], []) and read(" \n\n") == ([], [])
    assert read(b'{"a": "\xff"}')[0] == [{"a": "\ufffd"}]


def test_a_bad_element_costs_itself_where_each_has_its_own_lines():
    text = '[\n{"n": 1},\n{"n": oops},\n{"n": 3},\n{"n": 4}\n]\n'
    found, unread = read(text)
    assert found == [{"n": 1}, {"n": 3}, {"n": 4}]
    assert unread == [("lines that are no JSON", "line 3"), ("lines that are no JSON", "line 6")]


@pytest.mark.parametrize("form", ["array", "bundle", "one a line"])
def test_a_large_file_takes_little_memory_and_one_value_without_an_end_little_more(form, monkeypatch):
    monkeypatch.setattr(json_values, "VALUE_MAX", 1 << 18)
    text = FORMS[form]([{"id": number, "text": "word " * 400} for number in range(8000)]).encode()
    endless = b'{"a": "' + b"x" * len(text)
    assert len(text) > 15_000_000
    for data, count in ((text, 8000), (endless, 0)):
        file = io.BytesIO(data)
        unread: list[str] = []
        tracemalloc.start()
        found = sum(1 for _ in Values(file, lambda what, where, unread=unread: unread.append(what)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found == count and peak < 6_000_000, peak
        assert len(unread) == (count == 0)
