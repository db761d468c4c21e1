"""Marks: which hide an event, how long one holds, and how the cache spells that. Pure.

Which marks an event bears is a rule of replay (R11, `Judgement.marks`), and no clock has a say in it. When one ends
(`until`) is read: the answer changes with the time of day and the stored state does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.events import Event
    from gitmem.core.verdicts import Judgement

SEAL, MUTE, PIN = "seal", "mute", "pin"
#: The marks that take an event out of listings and recall.
HIDING = (SEAL, MUTE)
#: Sorts after every time of the format: a mark without an end.
FOREVER = "~"
_OPPOSITES = {SEAL: "unseal", MUTE: "unmute", PIN: "unpin"}


def held(judged: Judgement, event_id: str, given: Sequence[Event]) -> dict[str, str]:
    """Return the marks that the event bears, each with the time until which it holds, or `FOREVER`.

    given   the mark events that target it or a copy of it. Of several that never met, the end that shows more
            counts: the earliest of a seal or a mute, the latest of a pin.
    """
    found = {}
    for name in judged.marks(event_id):
        pair = [one for one in given if one.action in (name, _OPPOSITES[name]) and _is_in_force(judged, one)]
        mine = [one for one in pair if one.action == name]
        if any(one.until for one in mine):
            mine = [one for one in mine if not any(judged.saw(other.id, one.id) for other in pair if other is not one)]
        ends = [one.until or FOREVER for one in mine]
        found[name] = (max if name == PIN else min)(ends, default=FOREVER)
    return found


def is_borne(judged: Judgement, event_id: str, name: str, now: str) -> bool:
    """Say whether the event bears the mark `name` at `now`, by the marks that are among the judged events."""
    nodes = judged.nodes
    given = [nodes.events[mark] for mark in nodes.marked.get(nodes.index[event_id], ())]
    until = held(judged, event_id, given).get(name, "")
    return until == FOREVER or until > now


def _is_in_force(judged: Judgement, mark: Event) -> bool:
    return judged.effect(mark.id)[0] == "applied"


def hidden_until(marks: Mapping[str, str]) -> str:
    """Return until when marks hide an event: a time, `FOREVER`, or "" where none does."""
    return max((marks[name] for name in HIDING if name in marks), default="")


def spelled(marks: Mapping[str, str]) -> str:
    """Return marks as one text: `mute=<time> seal` is a mute until that time, and a seal."""
    return " ".join(name if until == FOREVER else f"{name}={until}" for name, until in sorted(marks.items()))


def in_force(text: str | None, now: str) -> list[str]:
    """Return which of the marks that `spelled` wrote hold at `now`."""
    words = (word.partition("=") for word in (text or "").split())
    return [name for name, _, until in words if not until or until > now]
