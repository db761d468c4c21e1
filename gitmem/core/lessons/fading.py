"""Fading: what is left of a strength after a time, and how fast it goes. Integers only.

Two machines must come to one number, so nothing here is a float: a power of a half comes from a frozen table, between
whose points it runs straight. With each half-life it halves exactly; it never rises.
"""

from __future__ import annotations

from datetime import datetime, timedelta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.lessons.policies import Policy

#: A strength that nothing was lost of, in parts per million.
WHOLE = 1_000_000
DAY_S = 86_400

# 2^32 times the 64th parts of a halving, from 1 to a half. Frozen: another rounding is another number in each clone.
_STEPS = 64
_SHIFT = 32
_HALVING = (
    4294967296, 4248701965, 4202935003, 4157661043, 4112874773, 4068570940, 4024744348, 3981389855,
    3938502376, 3896076880, 3854108391, 3812591987, 3771522796, 3730896002, 3690706840, 3650950594,
    3611622603, 3572718252, 3534232978, 3496162267, 3458501653, 3421246719, 3384393094, 3347936457,
    3311872529, 3276197082, 3240905930, 3205994934, 3171459999, 3137297074, 3103502151, 3070071267,
    3037000500, 3004285971, 2971923842, 2939910317, 2908241642, 2876914102, 2845924021, 2815267765,
    2784941738, 2754942382, 2725266179, 2695909648, 2666869345, 2638141863, 2609723834, 2581611923,
    2553802834, 2526293303, 2499080105, 2472160047, 2445529972, 2419186755, 2393127307, 2367348571,
    2341847524, 2316621173, 2291666561, 2266980759, 2242560872, 2218404036, 2194507417, 2170868212,
    2147483648,
)  # fmt: skip


def left(strength: int, elapsed: int, half_life: int) -> int:
    """Return what is left of `strength` after `elapsed`; both times in one unit.

    `left(s, t + h, h) == left(s, t, h) // 2`, and it never rises with `elapsed`. Nothing is lost before the start.
    """
    if elapsed <= 0:
        return strength
    halvings, rest = divmod(elapsed, half_life)
    if halvings >= strength.bit_length():
        return 0
    step, part = divmod(rest * _STEPS, half_life)
    scaled = _HALVING[step] * (half_life - part) + _HALVING[step + 1] * part
    return strength * scaled // (half_life << (_SHIFT + halvings))


def half_life(policy: Policy, uses: int, severity: int, binding: str) -> int:
    """Return the seconds in which a lesson loses half, rounded down at each step.

    uses       how often it was used before, each commit or session once
    severity   0..100
    binding    note, practice or policy; another word counts as a note
    """
    seconds = policy.half_life_days * DAY_S
    for _ in range(min(uses, policy.uses_max)):
        seconds = seconds * (100 + policy.use_gain) // 100
    seconds = seconds * (10_000 + policy.severity_gain * severity) // 10_000
    factor = {"practice": policy.practice_factor, "policy": policy.policy_factor}.get(binding, 100)
    return seconds * factor // 100


_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(time: str) -> int:
    """Return the microseconds since 1970 of a time of the format."""
    return (datetime.fromisoformat(time[:-1]) - _EPOCH) // _MICROSECOND


def time(at: int) -> str:
    """Return the time of the format that is so many microseconds after 1970."""
    return (_EPOCH + at * _MICROSECOND).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
