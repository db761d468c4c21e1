"""Caution: how much care the faded lessons near a file ask for. A number: no text, and no fact. Pure.

A lesson that was let go is not told. But it was learnt there once, so whoever edits there is asked for more care: by
what is left of it, and by how bad it was.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitmem.core.lessons.policies import Policy


def caution(faded: Iterable[tuple[int, int]], policy: Policy) -> int:
    """Return the caution for some latent lessons, each as (access, severity); at most the policy's `caution_max`."""
    found = sum((policy.caution_base + severity) * access // policy.latent_bar for access, severity in faded)
    return min(policy.caution_max, found)


def note(points: int, number: int, path: str) -> str:
    """Return the note for an edit of `path` (as `gate.named` has it)."""
    lessons = f"{number} faded lesson" + ("" if number == 1 else "s")
    return f"caution +{points} from {lessons} (`git decisions reveal {path}`)"
