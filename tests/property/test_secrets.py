"""Secrets, by law: found wherever they stand, gone from what is left, and never by chance."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from secret_samples import CASES

from gitmem.core import secret_shapes, secrets

#: What stands around a secret in a sentence or a line of code.
around = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\"'`"), max_size=60)
cases = st.sampled_from(CASES)


@given(around, cases, around)
def test_a_secret_is_found_wherever_it_stands(before, case, after):
    _, opening, secret, closing = case
    text = f"{before}\n{opening}{secret}{closing}\n\n{after}"
    start = len(before) + 1 + len(opening)
    assert any(hit.start <= start and start + len(secret) <= hit.end for hit in secrets.scan("reasoning", text))


@given(st.lists(cases, min_size=1, max_size=4))
def test_what_is_left_of_a_redacted_text_holds_no_secret(several):
    text = "\n".join(f"{opening}{secret}{closing}" for _, opening, secret, closing in several)
    clean = secrets.redacted(text, secrets.scan("reasoning", text))
    assert not any(secret in clean for _, _, secret, _ in several if len(secret) > 9)
    assert secrets.scan("reasoning", clean) == []


@given(st.text(max_size=300))
@example("")
@example("\x00password=\ud800")
def test_hits_lie_in_the_text_in_order_and_apart(text):
    at = 0
    for hit in secrets.scan("reasoning", text):
        assert at <= hit.start < hit.end <= len(text)
        at = hit.end


@given(st.integers(0, 2**256 - 1), st.sampled_from(["commit {}", "token={}", "secret: {}", "password: '{}'", "{}"]))
def test_an_id_is_never_a_secret(number, form):
    for spelt in (f"{number:064x}", f"{number:064x}"[:40]):
        assert secrets.scan("reasoning", form.format(spelt)) == []


@given(st.uuids(), st.sampled_from(["session {}", "token={}", "api_key: {}", "SECRET='{}'"]))
def test_a_uuid_is_never_a_secret(uuid, form):
    assert secrets.scan("reasoning", form.format(uuid)) == []


NEARLY = "pass pwd passphrase secret token key KEY_BASE api-key Bearer authorization Basic PRIVATE is was = : > -- -"
pieces = st.sampled_from(
    [
        *(part for _, *parts in CASES for part in parts),
        *NEARLY.split(),
        *(" ", "\t", "\n", "\u2028", "x", "12", "hunter2!x", "https://a:b3c@d", "ſ", "\u212a"),
    ]
)


@settings(max_examples=1000)
@given(st.lists(pieces | st.text(max_size=3), max_size=12).map("".join))
@example("the paſſword is hunter2!")
@example("key" + "_base12'] \t \t= abcdefgh1234")
def test_the_first_look_lets_nothing_pass_that_the_rules_would_find(text):
    if secret_shapes.find(text):
        assert secrets._is_suspicious(text)


@given(cases, st.integers(0, 3))
def test_a_text_that_was_clean_once_is_no_excuse_for_another(case, times):
    _, opening, secret, closing = case
    clean = "Removed because nobody asked for it: key."
    for _ in range(times):
        assert secrets.scan("reasoning", clean) == []
    assert secrets.scan("reasoning", f"{clean}\n{opening}{secret}{closing}")
    own = (("colour", "reddish", "reddish[0-9]{4}"),)
    painted = "painted reddish1234"
    assert secrets.scan("reasoning", painted) == []
    assert [hit.kind for hit in secrets.scan("reasoning", painted, own)] == ["colour"]
    assert secrets.scan("reasoning", painted) == []


words = st.sampled_from("the token password secret key was removed before login because of an API change in v2".split())


@given(st.lists(words, max_size=30), st.sampled_from([" ", ": ", ", ", " - "]))
def test_everyday_words_in_any_order_are_no_secret(several, sign):
    assert secrets.scan("reasoning", sign.join(several)) == []
