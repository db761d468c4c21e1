"""Approach keys and letters: what counts as one approach, and what must not."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest

from gitmem.core import approach, letter_tables, letters

SAME = [
    ("Store the card token in our own table", "in our own table, store card token!"),
    ("use a cache", "Cache (use)"),
    ("store card_token", "store card-token"),
    ("ѕtоrе tоkеn", "store token"),  # Cyrillic letters among Latin ones
    ("ЅТRІРЕ", "stripe"),
    ("ΑΡΙ key", "api key"),  # Greek capitals
    ("ｓｔｏｒｅ　ｔｏｋｅｎ", "store token"),
    ("𝐬𝐭𝐨𝐫𝐞 𝖙𝖔𝖐𝖊𝖓", "store token"),
    ("s\u200bto\u00adre tok\ufeffen", "store token"),
    ("don't cache", "do not cache"),
    ("don’t cache", "DONT cache"),
    ("can't cache", "cannot cache"),
    ("w/o cache", "without cache"),
    ("redis versus memcached", "Redis vs. memcached"),
    ("json → yaml", "json -> yaml"),
    ("json => yaml", "json to yaml"),
    ("python >= 3.8 wheels", "wheels: python>=3.8"),
    ("python ≥3.8 wheels", "python >=3.8 wheels"),
    ("x ≠ y", "x != y"),
    ("10,000 rows", "10000 rows"),
    ("limit −5", "limit -5"),
    ("the user's token", "user token"),
    ("ｶｰﾄﾞ", "カード"),
    ("x²", "x2"),
    ("e\u0301tat", "\u00e9tat"),
]
DIFFERENT = [
    ("from redis to memcached", "from memcached to redis"),
    ("redis over memcached", "memcached over redis"),
    ("redis instead of memcached", "memcached instead of redis"),
    ("validate before save", "save before validate"),
    ("json -> yaml", "yaml -> json"),
    ("json <- yaml", "json -> yaml"),
    ("replace redis with memcached", "replace memcached with redis"),
    ("cache the token", "do not cache the token"),
    ("cache the token", "cache no token"),
    ("with retries", "without retries"),
    ("c", "c++"),
    ("c", "c#"),
    ("node", "node.js"),
    (".net core", "net core"),
    (">=2 workers", "<=2 workers"),
    ("a > b", "b > a"),
    ("ttl=-1", "ttl=1"),
    ("x = y", "x != y"),
    ("1,000 rows", "1,000,000 rows"),
    ("option A", "option B"),
    ("from A to B", "from B to A"),
    ("с MySQL на Postgres", "с Postgres на MySQL"),
    ("von MySQL nach Postgres", "von Postgres nach MySQL"),
    ("カードトークンを保存する", "カードトークンを削除する"),
    ("حفظ الرمز", "حذف الرمز"),
    ("टोकन संग्रहीत करें", "टोकन मिटाएँ"),
    ("เก็บโทเค็น", "ลบโทเค็น"),
    ("토큰 저장", "토큰 삭제"),
    ("naïve cache", "naive cache"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_spellings_are_one_approach(one: str, other: str) -> None:
    assert approach.key(one) == approach.key(other) != ""


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_two_ways_are_two_approaches(one: str, other: str) -> None:
    assert approach.key(one) != approach.key(other)
    assert approach.key(one)
    assert approach.key(other)


@pytest.mark.parametrize("text", ["the", "is being", "!!!", "—", "\u200b", " ", "...", "+", "()", "« »"])
def test_an_approach_of_nothing_has_no_key_and_stands_for_itself_in_replay(text: str) -> None:
    with pytest.raises(approach.NoKey):
        approach.key(text)
    assert approach.total_key(text) == f"[{text}]"
    assert approach.key("") == approach.total_key("") == ""


def test_the_key_of_plain_text_is_a_fixed_point() -> None:
    for text in [one for pair in SAME + DIFFERENT for one in pair]:
        assert not approach.key(text).startswith("[")
        if text.isascii():
            assert approach.key(approach.key(text)) == approach.key(text)


def test_keys_that_share_half_of_their_words_are_near() -> None:
    def near(one: str, other: str) -> bool:
        return approach.near(approach.key(one), approach.key(other))

    assert near("store the card token in our own table", "keep the card token in our own vault")
    assert near("store tokens", "do not store tokens")
    assert not near("store tokens", "tokens: store")
    assert not near("store the token in a table", "hash it in a table with argon2 and rotate")
    assert not near("", "store tokens")


def test_a_reason_mentions_an_approach_by_half_of_its_words() -> None:
    key = approach.key("store the card token in our own table")
    assert approach.mentions("Checkout needs the card token kept in a table of ours.", key)
    assert not approach.mentions("We own the checkout, and it is in our plans to speed it up.", key)


# --- letters ------------------------------------------------------------------------------------------


def test_folding_is_what_unicode_says_and_leaves_alone_what_it_did_not_know_then() -> None:
    def nfkd(text: str) -> str:
        return unicodedata.normalize("NFKD", text)

    decomposed, folded, classes = letters._load()
    telling = {*decomposed, *folded, *map(ord, classes), *range(0xAC00, 0xAC40)}
    for letter in map(chr, telling):
        if unicodedata.category(letter) != "Cn":  # this Python may be older than the tables
            assert letters.fold(letter) == nfkd(nfkd(nfkd(letter).casefold()).casefold()), hex(ord(letter))
    for point in range(0x80, 0x110000, 101):  # or newer
        if point not in telling and not 0xAC00 <= point <= 0xD7A3:
            assert letters.fold(chr(point)) == chr(point)


def test_letters_that_no_table_knows_stay() -> None:
    assert letters.fold("\u0378") == "\u0378"  # never assigned so far
    assert letters.fold("\ud7ff\ue000") == "\ud7ff\ue000"


def test_marks_come_in_one_order() -> None:
    assert letters.fold("a\u0301\u0323") == letters.fold("a\u0323\u0301") == letters.fold("\u1ea1\u0301")
    assert letters.fold("\u1fb3\u0301") == letters.fold("\u1fb4")  # the iota below comes last


def test_names_match_without_case_and_compatibility() -> None:
    assert letters.fold("Users.E-Mail") == "users.e-mail"
    assert letters.fold("STRASSE") == letters.fold("straße")
    assert letters.fold("ﬁle") == "file"
    assert letters.fold("Σ") == letters.fold("ς") == "σ"


def test_ascii_needs_no_table() -> None:
    code = (
        "import sys; from gitmem.core import approach, letters; letters.fold('Abc'); approach.key('from A to B, >= 2');"
        "assert 'gitmem.core.letter_tables' not in sys.modules and 'unicodedata' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_tables_say_which_unicode_they_are() -> None:
    assert letter_tables.UNICODE == "15.1.0"
