"""Laws of entity paths: one name, one spelling; what lies below what ends, and is itself a name."""

from __future__ import annotations

import hashlib
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import UNSEEN, entity_paths, texts, typed_names

from gitmem.core import characters, entities
from gitmem.core.vocabulary import ENTITY_TYPES


@given(typed_names() | texts)
@example("a::b :")
@example("a::: b")
@example("x .y")
@example("a/ \u0301b")
@example("src/a.py:: :x.")
def test_canonical_is_idempotent_or_refuses(text):
    try:
        name = entities.canonical(text)
    except entities.BadName as error:
        assert str(error)
        assert not entities.is_spelt(text)
        return
    assert entities.canonical(name) == name
    assert entities.is_spelt(name)
    assert entities.is_spelt(text) == (entities.spell(text) == text)
    assert characters.INVISIBLE.isdisjoint(name)
    assert characters.nfc(name) == name
    assert "\\" not in name and name == name.strip(characters.BLANKS)
    path = name.partition("::")[0]
    for part in path.split("/"):
        assert part not in ("", ".", "..") and part == part.strip(characters.BLANKS)
    assert len(name.encode()) <= entities.PATH_MAX_BYTES


@given(typed_names())
def test_composed_and_decomposed_letters_are_one_name(text):
    one = _canonical(unicodedata.normalize("NFC", text))
    assert one == _canonical(unicodedata.normalize("NFD", text))


def _canonical(text: str) -> str:
    try:
        return entities.canonical(text)
    except entities.BadName as error:
        return f"refused: {error}"


@given(entity_paths, st.sampled_from(UNSEEN), st.data())
def test_a_character_that_cannot_be_seen_is_refused_inside_a_name(name, unseen, data):
    if len(name) < 2:
        name = name + name
    at = data.draw(st.integers(1, len(name) - 1))
    with pytest.raises(entities.BadName, match=f"U\\+{ord(unseen):04X}"):
        entities.canonical(name[:at] + unseen + name[at:])
    assert entities.canonical(name)


@given(entity_paths)
def test_what_a_name_lies_below_ends_and_is_canonical(name):
    above = entities.parents(name)
    assert len(above) == len(set(above)) <= len(name)
    for nearer, farther in zip([name, *above], above, strict=False):
        assert len(farther) < len(nearer) and nearer.startswith(farther)
        assert entities.parents(nearer)[:1] == [farther]
    for one in above:
        assert entities.canonical(one) == one
        assert one != name


@given(texts | typed_names())
def test_what_any_text_lies_below_ends(text):
    # folded names are no canonical ones: a fold may bring dots and slashes to light
    above = entities.parents(text)
    assert all(len(farther) < len(nearer) for nearer, farther in zip([text, *above], above, strict=False))


@given(entity_paths)
def test_the_kinds_of_a_name_agree(name):
    kind = entities.entity_type(name)
    assert kind in ENTITY_TYPES
    assert (kind == "file") == entities.is_file(name)
    if entities.is_file(name):
        assert entities.file_of(name) == name
        assert entities.file_of(name + "::f") == name
        assert name in entities.parents(name + "::f")


@given(texts)
def test_nfc_is_that_of_unicode_14(text):
    composed = characters.nfc(text)
    assert characters.nfc(composed) == composed
    if unicodedata.unidata_version == "14.0.0":
        assert composed == unicodedata.normalize("NFC", text)


def test_no_letter_of_a_later_unicode_is_composed_or_moved():
    # Todhri, Unicode 16: a newer interpreter would compose these two; a dot below would move before a later mark
    for text in ("\U000105d2\u0307", "a\U0001e08f\u0323", "\U00016d67\U00016d67"):
        assert characters.nfc(text) == text
    assert characters.nfc("e\u0301\U000105d2e\u0301") == "é\U000105d2é"


def test_the_interpreters_unicode_moves_no_letter_that_the_frozen_table_forgot():
    """Fails on an interpreter whose Unicode has more letters that compose or move: add them to `characters._LATER`."""
    moving = (
        character
        for character in map(chr, range(0x110000))
        if not "\uac00" <= character <= "\ud7a3"  # Hangul is composed by a rule, which is old
        and character not in characters._LATER
        and (
            unicodedata.combining(character)
            or ((pieces := unicodedata.decomposition(character)) and not pieces.startswith("<"))
        )
    )
    found = "".join(moving)
    assert len(found) == 2969
    assert hashlib.sha256(found.encode()).hexdigest().startswith("1b08a3d6348bb4ae9c6aeb4c50250454")
