import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.core.lessons import fading
from gitmem.core.lessons.policies import AUSTERE, POLICIES, TENDER

STRENGTHS = st.integers(0, fading.WHOLE)
TIMES = st.integers(0, 400 * fading.DAY_S * 1_000_000)
HALF_LIVES = st.integers(1, 4_000 * fading.DAY_S * 1_000_000)


@given(STRENGTHS, TIMES, HALF_LIVES)
def test_it_halves_exactly_with_each_half_life(strength, elapsed, half_life):
    assert fading.left(strength, elapsed + half_life, half_life) == fading.left(strength, elapsed, half_life) // 2


@given(STRENGTHS, TIMES, TIMES, HALF_LIVES)
def test_it_never_rises(strength, elapsed, more, half_life):
    now, later = fading.left(strength, elapsed, half_life), fading.left(strength, elapsed + more, half_life)
    assert 0 <= later <= now <= strength
    assert type(now) is int


@given(STRENGTHS, STRENGTHS, TIMES, HALF_LIVES)
def test_the_sharper_stays_the_sharper(one, other, elapsed, half_life):
    one, other = sorted((one, other))
    assert fading.left(one, elapsed, half_life) <= fading.left(other, elapsed, half_life)


def test_nothing_is_lost_before_the_start():
    assert fading.left(7, 0, 10) == fading.left(7, -5, 10) == 7


def test_the_frozen_table_is_that_of_a_halving():
    """Each point is within one of 2^(32 - i/64): its 64th power lies between those of its neighbours."""
    table = fading._HALVING
    assert (table[0], table[64], len(table)) == (1 << 32, 1 << 31, 65)
    for i, value in enumerate(table):
        assert (value - 1) ** 64 < 2 ** (32 * 64 - i) < (value + 1) ** 64


def test_between_its_points_it_is_right_to_a_few_parts_in_a_million():
    for part in range(10_000):
        exact = 1_000_000 * 2 ** (-part / 10_000)
        assert abs(fading.left(1_000_000, part, 10_000) - exact) < 17


@pytest.mark.parametrize(
    ("time", "at"),
    [("1970-01-01T00:00:00.000001Z", 1), ("2026-01-01T12:00:00.000000Z", 1_767_268_800_000_000)],
)
def test_a_time_is_a_number_of_microseconds(time, at):
    assert fading.microseconds(time) == at
    assert fading.time(at) == time


# --- half-lives ----------------------------------------------------------------------------------

MONTH, FORTNIGHT = 30 * fading.DAY_S, 14 * fading.DAY_S


def test_a_lesson_that_nobody_uses_halves_with_each_half_life():
    for policy, days in ((TENDER, 30), (AUSTERE, 14)):
        half_life = fading.half_life(policy, 0, 0, "note")
        assert half_life == days * fading.DAY_S
        assert fading.left(fading.WHOLE, 3 * half_life, half_life) == 125_000


def test_each_use_lengthens_the_half_life():
    assert [fading.half_life(TENDER, uses, 0, "note") * 1000 // MONTH for uses in range(4)] == [1000, 1600, 2560, 4096]
    assert [fading.half_life(AUSTERE, uses, 0, "note") * 1000 // FORTNIGHT for uses in range(3)] == [1000, 1300, 1690]


def test_uses_beyond_the_most_lengthen_nothing():
    for policy, most in ((TENDER, 6), (AUSTERE, 4)):
        at_most = fading.half_life(policy, most, 0, "note")
        assert fading.half_life(policy, most - 1, 0, "note") < at_most
        assert fading.half_life(policy, most + 1, 0, "note") == fading.half_life(policy, 10**9, 0, "note") == at_most


def test_what_was_severe_fades_more_slowly():
    assert fading.half_life(TENDER, 0, 100, "note") == 3 * MONTH
    assert fading.half_life(TENDER, 0, 50, "note") == 2 * MONTH
    assert fading.half_life(AUSTERE, 0, 100, "note") == 2 * FORTNIGHT


def test_what_binds_more_fades_more_slowly():
    words = ("note", "practice", "policy", "a later word")
    assert [fading.half_life(TENDER, 0, 0, word) for word in words] == [MONTH, MONTH * 3 // 2, MONTH * 3, MONTH]
    assert [fading.half_life(AUSTERE, 0, 0, word) for word in words[:3]] == [
        FORTNIGHT,
        FORTNIGHT * 5 // 4,
        FORTNIGHT * 2,
    ]


@given(st.sampled_from(POLICIES), st.integers(0, 20), st.integers(0, 99), st.sampled_from(("note", "practice")))
def test_a_half_life_never_falls_with_what_lengthens_it(policy, uses, severity, binding):
    here = fading.half_life(policy, uses, severity, binding)
    assert type(here) is int
    assert here <= fading.half_life(policy, uses + 1, severity, binding)
    assert here <= fading.half_life(policy, uses, severity + 1, binding)
    assert here < fading.half_life(policy, uses, severity, "policy")
