"""Laws of canonical bytes: one value, one spelling, and nothing else is read."""

from __future__ import annotations

import json
import string

import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import OTHER_SPELLINGS, canonical_objects, junk, keys, values

from gitmem.core import canonical


@given(canonical_objects)
def test_what_is_encoded_decodes_to_the_same_value(value):
    data = canonical.encode(value)
    assert canonical.decode(data) == value
    assert canonical.encode(canonical.decode(data)) == data
    assert canonical.size(value) == len(data)


# The reference: an implementation of RFC 8785 that is not ours and that nothing but these tests loads.


@settings(max_examples=3000)
@given(canonical_objects)
@example({"\x7f": "\x7f\u2028\u2029", "\x00\x1f": "\x00\x1f\b\t\n\f\r", "": '"\\/', "é".encode().hex(): "é𐏿\uffff"})
@example({"a": 2**53 - 1, "b": -(2**53) + 1, "c": 0})
def test_our_bytes_are_those_of_the_reference(value):
    assert canonical.encode(value) == rfc8785.dumps(value)


def test_each_character_is_spelt_as_the_reference_spells_it():
    # all of them, each between others: controls, quotes, DEL, line separators, noncharacters, the astral planes
    everything = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    for at in range(0, len(everything), 4096):
        value = {"a": "x".join(everything[at : at + 4096]), "b": everything[at]}
        assert canonical.encode(value) == rfc8785.dumps(value)
    for character in everything[:0x300]:
        assert canonical.encode({"a": character}) == rfc8785.dumps({"a": character})


def test_keys_stand_in_the_order_of_the_reference():
    # by UTF-16 code units, which of ASCII is the order of the characters
    ascii_keys = [chr(code) for code in range(128)]
    every = {one + two: 0 for one in ascii_keys for two in ("", *ascii_keys)}
    mixed = dict(sorted(every.items(), key=lambda item: hash(item[0])))
    assert canonical.encode(mixed) == rfc8785.dumps(mixed)
    names = {name: number for number, name in enumerate(string.printable)}
    assert canonical.encode(names) == rfc8785.dumps(names)


@settings(max_examples=2000)
@given(st.integers(-(2**53) + 1, 2**53 - 1))
@example(2**53 - 1)
@example(-(2**53) + 1)
@example(10**15)
@example(-1)
def test_integers_are_spelt_as_the_reference_spells_them(number):
    assert canonical.encode([number]) == rfc8785.dumps([number]) == b"[%d]" % number


@pytest.mark.parametrize("way", OTHER_SPELLINGS)
@given(value=canonical_objects.filter(bool))
def test_any_other_spelling_of_a_value_is_refused(way, value):
    text = canonical.encode(value).decode()
    other = OTHER_SPELLINGS[way](value, text)
    assert canonical.decode(text.encode()) == value
    with pytest.raises(canonical.NotCanonical):
        canonical.decode(other.encode("utf-8", "surrogatepass"))


@given(canonical_objects, st.data())
def test_what_reads_as_the_same_value_but_is_spelt_otherwise_is_refused(value, data):
    # any escape, anywhere: JSON allows \uXXXX for each character of a string
    text = canonical.encode(value).decode()
    spots = [at for at, character in enumerate(text) if character.isalnum() and text[at - 1 : at] == '"']
    if spots:
        at = data.draw(st.sampled_from(spots))
        other = f"{text[:at]}\\u{ord(text[at]):04x}{text[at + 1 :]}" if ord(text[at]) < 0x10000 else text + " "
        with pytest.raises(canonical.NotCanonical):
            canonical.decode(other.encode())
    assert canonical.decode(text.encode()) == value


@given(junk)
def test_decode_is_total(data):
    try:
        value = canonical.decode(data)
    except canonical.NotCanonical as error:
        assert str(error)
    else:
        assert canonical.encode(value) == data


@given(st.integers() | st.floats() | st.binary() | st.tuples(st.integers()) | st.sets(st.integers()))
def test_encode_refuses_what_is_outside_the_subset(value):
    inside = type(value) is int and abs(value) < 2**53
    if inside:
        assert canonical.encode({"a": value}) == b'{"a":%d}' % value
    else:
        with pytest.raises(canonical.NotCanonical):
            canonical.encode({"a": value})


@given(st.text(min_size=1), values)
def test_keys_are_ascii_or_refused(key, value):
    if key.isascii():
        assert canonical.decode(canonical.encode({key: value})) == {key: value}
        return
    with pytest.raises(canonical.NotCanonical):
        canonical.encode({key: value})
    with pytest.raises(canonical.NotCanonical):
        canonical.decode(rfc8785.dumps({key.encode("utf-8", "replace").decode(): value}) + b"")


@given(st.integers(1, 200), st.booleans(), keys)
def test_depth_has_one_limit_whatever_is_nested(depth, as_list, key):
    value: object = {} if not as_list else []
    for _ in range(depth - 1):
        value = [value] if as_list else {key: value}
    whole = {"a": value}
    data = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
    if depth + 1 <= canonical.DEPTH_MAX:
        assert canonical.encode(whole) == data
        assert canonical.decode(data) == whole
    else:
        for act in (lambda: canonical.encode(whole), lambda: canonical.decode(data)):
            with pytest.raises(canonical.NotCanonical, match="nested deeper than 32"):
                act()
