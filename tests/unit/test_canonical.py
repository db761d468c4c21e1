"""Examples of canonical bytes; the laws are in tests/property/test_canonical.py."""

from __future__ import annotations

import json

import pytest

from gitmem.core import canonical


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({}, "{}"),
        ({"b": 1, "a": [True, None, -1]}, '{"a":[true,null,-1],"b":1}'),
        ({"A": 0, "a": 0, "_": 0, "": 0}, '{"":0,"A":0,"_":0,"a":0}'),
        ({"a": '"\\/\b\f\n\r\t'}, '{"a":"\\"\\\\/\\b\\f\\n\\r\\t"}'),
        ({"a": "\x00\x1f\x7f\x80"}, '{"a":"\\u0000\\u001f\x7f\x80"}'),
        ({"a": "€😀\u2028"}, '{"a":"€😀\u2028"}'),
        ({"a": 9007199254740991, "b": -9007199254740991}, '{"a":9007199254740991,"b":-9007199254740991}'),
    ],
)
def test_a_value_has_one_spelling(value, data):
    assert canonical.encode(value) == data.encode()
    assert canonical.decode(data.encode()) == value
    assert canonical.size(value) == len(data.encode())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a":1} ', "something follows the JSON object at character 7"),
        (b' {"a":1}', "not JSON"),
        (b'{"a": 1}', "not the canonical spelling"),
        (b'{"a":1,"a":1}', "not the canonical spelling"),
        (b'{"b":1,"a":1}', "not the canonical spelling"),
        (b'{"a":-0}', "not the canonical spelling"),
        (b'{"a":1.0}', "1.0: numbers are integers"),
        (b'{"a":1E3}', "1E3: numbers are integers"),
        (b'{"a":NaN}', "NaN: numbers are integers"),
        (b'{"a":9007199254740992}', "an integer beyond"),
        (b'{"a":-9007199254740992}', "an integer beyond"),
        (b'{"a":' + b"1" * 100_000 + b"}", "an integer beyond"),
        (b'{"a":0.' + b"1" * 100_000 + b"}", "0.1{38}: numbers are integers"),
        (b'{"a":"\\ud800"}', "not the canonical spelling"),
        ('{"é":"\\ud800"}'.encode(), "a key that is not ASCII"),
        ('{"a":"é\\ud800"}'.encode(), "a lone surrogate"),
        (b'{"a":"\xed\xa0\x80"}', "not UTF-8 at byte 6"),
        (b'{"a":"\xff"}', "not UTF-8 at byte 6"),
        (b'{"a":"\n"}', "not JSON"),
        (b"[1]", "not a JSON object"),
        (b"1", "not a JSON object"),
        (b"", "not JSON"),
        (b'{"a":' * 50_000, "nested deeper than 32|not JSON"),
        (b'{"a":' + b"[" * 32 + b"]" * 32 + b"}", "nested deeper than 32"),
    ],
)
def test_other_bytes_are_refused_with_what_is_wrong(data, message):
    with pytest.raises(canonical.NotCanonical, match=f"^({message})"):
        canonical.decode(data)


def test_brackets_in_strings_are_no_depth():
    value = {"a": "[{" * 1000, "b": [[{}]]}
    assert canonical.decode(canonical.encode(value)) == value


class Word(str):
    """A string that is more than one."""


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        float("nan"),
        b"bytes",
        (1,),
        {1: 2},
        {"é": 1},
        "\ud800",
        2**53,
        -(2**53),
        10**5000,
        {"a": {1, 2}},
        Word("a"),
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_outside_the_subset_is_refused(value):
    assert canonical.encode({"a": 1, "b": [{"c": "é"}]})
    with pytest.raises(canonical.NotCanonical):
        canonical.encode([{"a": value}])


def test_a_value_that_holds_itself_is_refused():
    value: dict[str, object] = {}
    value["a"] = value
    with pytest.raises(canonical.NotCanonical, match="nested deeper"):
        canonical.encode(value)


def test_the_limit_of_depth_is_not_the_interpreters(monkeypatch):
    # the same bytes are read from a shallow stack and from a deep one
    deepest = canonical.encode({"a": json.loads("[" * 31 + "]" * 31)})

    def from_below(frames: int) -> object:
        return from_below(frames - 1) if frames else canonical.decode(deepest)

    assert from_below(0) == from_below(700)
