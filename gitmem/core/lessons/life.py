"""Life: what one lesson's uses come to, folded in the order of time.

A use makes a lesson whole again and lengthens its half-life. One that is latent only takes note of it: it is *touched*,
and comes back with the second distinct touch, in proportion to what was left of it. Time under a seal does not count.
No sleep has a say in any of this; only where a person takes back that one went latent, is it lifted.
"""

from __future__ import annotations

from gitmem.core.lessons import fading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gitmem.core.events import Event
    from gitmem.core.lessons.policies import Policy

    #: Half-open stretches of time in microseconds, apart and in order.
    Stretches = Sequence[tuple[int, int]]

#: What is done to a lesson: it is used, or it is lifted by an undo.
USE, LIFT = "use", "lift"
#: What a use came to. `again` is one of a commit or session that counted before, `sealed` one under a seal.
USED, TOUCHED, REVIVED, LIFTED, AGAIN, SEALED = "used", "touched", "revived", "lifted", "again", "sealed"

#: Later than every time of the format.
ALWAYS = 1 << 62
_SECOND = 1_000_000


class Life:
    """One lesson from its statement on. `take` what was done to it in the order of time, then ask.

    strength, anchor   it had this strength at this time (microseconds), and has faded since
    half_life          seconds
    uses, touches      how often it was used; by what it was touched since it went latent
    last               when it was last used, or stated
    """

    __slots__ = (
        "anchor", "binding", "born", "half_life", "last", "pinned", "policy", "sealed", "seen", "severity", "strength",
        "touches", "uses",
    )  # fmt: skip

    def __init__(
        self, policy: Policy, born: int, severity: int, binding: str, sealed: Stretches = (), pinned: Stretches = ()
    ) -> None:
        self.policy = policy
        self.born = self.anchor = self.last = born
        self.severity = severity
        self.binding = binding
        self.sealed = sealed
        self.pinned = pinned
        self.strength = fading.WHOLE
        self.uses = 0
        self.touches: list[str] = []
        self.seen: set[str] = set()
        self.half_life = fading.half_life(policy, 0, severity, binding)

    def access(self, at: int) -> int:
        """Return what is left of it at a time, in parts per million."""
        awake = at - self.anchor
        if self.sealed:
            awake -= sum(max(0, min(end, at) - max(start, self.anchor)) for start, end in self.sealed)
        return fading.left(self.strength, awake, self.half_life * _SECOND)

    def band(self, at: int) -> str:
        """Return its band at a time. What is pinned doesn't go latent."""
        access = self.access(at)
        return self.policy.band(max(access, self.policy.latent_bar) if _within(self.pinned, at) else access)

    def take(self, what: str, at: int, key: str = "") -> str:
        """Take in a use (or lift) at a time not before the last one; return what it came to.

        key   what makes a use distinct: its commit, else its session, else its day
        """
        at = max(at, self.born)
        if what == LIFT:
            access = self.access(at)
            lift = self.policy.lift_factor * self.policy.latent_bar // 100
            self._set(max(access, self._returned(access), lift), at)
            return LIFTED
        if _within(self.sealed, at):
            return SEALED
        if key in self.seen:
            return AGAIN
        self.seen.add(key)
        access = self.access(at)
        if access >= self.policy.latent_bar or _within(self.pinned, at):
            self._set(fading.WHOLE, at)
            self.uses += 1
            self.half_life = fading.half_life(self.policy, self.uses, self.severity, self.binding)
            self.last = at
            return USED
        self.touches.append(key)
        if len(self.touches) < self.policy.touches_to_return:
            return TOUCHED
        self._set(self._returned(access), at)
        self.last = at
        return REVIVED

    def _returned(self, access: int) -> int:
        """Return the strength with which what was left comes back: the sharper stays the sharper."""
        policy = self.policy
        if access >= policy.latent_bar:
            return access
        return policy.latent_bar + access * (policy.near_bar - policy.latent_bar) // policy.latent_bar

    def _set(self, strength: int, at: int) -> None:
        self.strength = strength
        self.anchor = at
        self.touches = []


def _within(stretches: Stretches, at: int) -> bool:
    return any(start <= at < end for start, end in stretches)


def stretches(marks: Iterable[Event], name: str, born: int, saw: Sight) -> list[tuple[int, int]]:
    """Return when the mark `name` (seal, pin) was on a lesson, of the marks given that are in force.

    saw   says whether an event saw another. Where a mark and its opposite never met, the one that shows more counts,
          as in R11: an unseal, and a pin.
    """
    pair = [one for one in marks if one.action in (name, f"un{name}")]
    found = []
    for mark in pair:
        if mark.action != name:
            continue
        start = _start(mark, born)
        end = fading.microseconds(mark.until) if mark.until else ALWAYS
        for other in pair:
            if other is mark or saw(mark, other):
                continue
            met = saw(other, mark)
            if other.action == name:
                if met:  # it says anew until when
                    end = min(end, max(start, _start(other, born)))
                elif name == "seal" and other.until:
                    end = min(end, fading.microseconds(other.until))
            elif met or name == "seal":
                end = min(end, max(start, _start(other, born)))
        if start < end:
            found.append((start, end))
    return _united(found)


def _start(mark: Event, born: int) -> int:
    return max(born, fading.microseconds(mark.recorded_at))


def _united(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    united: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], end))
        else:
            united.append((start, end))
    return united


if TYPE_CHECKING:
    from collections.abc import Callable

    Sight = Callable[[Event, Event], bool]
