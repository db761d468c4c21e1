"""Secrets, by law: found wherever they stand, gone from what is left, and never by chance."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from secret_samples import CASES

from gitmem.core import secrets

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


words = st.sampled_from("the token password secret key was removed before login because of an API change in v2".split())


@given(st.lists(words, max_size=30), st.sampled_from([" ", ": ", ", ", " - "]))
def test_everyday_words_in_any_order_are_no_secret(several, sign):
    assert secrets.scan("reasoning", sign.join(several)) == []
