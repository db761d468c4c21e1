"""Laws of the words of lessons: no text fails, no gist gains or turns, the index finds what comparing finds."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.core.lessons import words
from gitmem.core.lessons.gist import problem, share
from gitmem.core.lessons.likeness import Likes, alike

_NOUNS = "token id cache queue fixture zone index upload worker log disk page".split()
_VERBS = "log cache retry rebuild share keep upload".split()
_SMALL = "the a in on at of".split()
_DENIALS = ["do not", "never", "without", "only", "rejected", "before", "kein"]
_SIDES = ["fails with", "passes", "may", "more", "prefer"]

_plain = st.lists(st.sampled_from(_NOUNS + _VERBS + _SMALL), min_size=1, max_size=5).map(" ".join)
_clause = st.tuples(st.sampled_from(["", "", "", *_DENIALS, *_SIDES]), _plain).map(lambda two: " ".join(two).strip())
_core = st.lists(_clause, min_size=1, max_size=4).map(". ".join)
_text = st.text(max_size=80) | st.text("不ない消ログを。、にトークン ab", max_size=30) | _core


@given(_text, _text)
def test_every_text_has_words_and_clauses(one: str, other: str) -> None:
    assert [word.stem for clause in words.clauses(one) for word in clause.words if word.sort & words.CONTENT] == (
        words.content(one)
    )
    assert 0 <= share(one, other) <= 100
    assert isinstance(problem(one, other), str)
    assert alike(one, other) == alike(other, one)
    assert alike(one, one) in (0, 100)


@given(_core)
def test_a_core_is_its_own_gist_in_any_case_and_with_other_small_words(core: str) -> None:
    told = [word for word in words.words(core) if word.sort & words.CONTENT]
    if told:
        assert problem(core, core.upper()) == ""
        assert problem(core, core.replace(" the ", " ").replace(" of ", " ") + ".") == ""
        assert share(core, core.upper()) == 100


@given(st.lists(_clause, min_size=1, max_size=5), st.data())
def test_clauses_that_deny_nothing_may_go_and_may_move(clauses: list[str], data: st.DataObject) -> None:
    kept = [c for c in clauses if (words.clauses(c) and words.clauses(c)[0].denies) or data.draw(st.booleans())]
    kept = data.draw(st.permutations(kept))
    gist = "; ".join(kept)
    if words.content(gist):
        assert problem(". ".join(clauses), gist) == ""


@given(_core, st.data())
@settings(max_examples=300)
def test_what_is_accepted_denies_the_same_clauses_and_has_no_word_more(core: str, data: st.DataObject) -> None:
    """Any words of the core in any order, with a denial thrown in: accepted only where nothing is turned round."""
    pool = [*core.replace(".", "").split(), "not", ",", ";"]
    gist = " ".join(data.draw(st.lists(st.sampled_from(pool), min_size=1, max_size=12)))
    if problem(core, gist):
        return
    assert set(words.content(gist)) <= set(words.content(core))
    assert {c.stems for c in words.clauses(core) if c.denies} == {c.stems for c in words.clauses(gist) if c.denies}
    held = {c.stems for c in words.clauses(core) if c.is_held}
    assert {c.stems for c in words.clauses(gist) if c.is_held} <= held
    assert set(words.causes(gist)) <= set(words.causes(core))


@given(_core, st.sampled_from(["bridge", "because", "must", "to", "every"]), st.data())
def test_a_word_that_the_core_has_not_is_named(core: str, strange: str, data: st.DataObject) -> None:
    parts = core.split()
    parts.insert(data.draw(st.integers(0, len(parts))), strange)
    if words.content(core):
        assert f'"{strange}"' in problem(core, " ".join(parts))


@given(st.lists(_core, min_size=1, max_size=12), st.integers(1, 100), _core)
def test_the_index_finds_what_comparing_with_each_finds(texts: list[str], cut: int, asked: str) -> None:
    named = [(str(number), text) for number, text in enumerate(texts)]
    likes = Likes(cut, named)
    by_hand = sorted(((alike(asked, text), name) for name, text in named), key=lambda one: (-one[0], one[1]))
    assert likes.near(asked) == [one for one in by_hand if one[0] >= cut]
    for (name, text), (other, its) in itertools.permutations(named, 2):
        assert (other in [found for _, found in likes.of(name)]) == (alike(text, its) >= cut)
