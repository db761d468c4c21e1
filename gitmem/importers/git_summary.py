"""What an import read, made and left out: nothing is passed over in silence."""

from __future__ import annotations


class Skipped:
    """How often something was left out, and the first few examples."""

    __slots__ = ("count", "examples")

    EXAMPLES_MAX = 5

    def __init__(self) -> None:
        self.count = 0
        self.examples: list[str] = []


class Summary:
    """What an import did.

    commits   how many commits were read
    reverts   how many of them took something back; `again`: how many landed it again
    drafts    how many drafts were yielded; `known`: how many were not, because the log has their source
    skipped   what was left out, or not kept as it was -> Skipped
    warnings  sentences about the history as a whole
    """

    __slots__ = ("_seen", "again", "commits", "drafts", "known", "reverts", "skipped", "warnings")

    def __init__(self) -> None:
        self.commits = 0
        self.reverts = 0
        self.again = 0
        self.drafts = 0
        self.known = 0
        self.skipped: dict[str, Skipped] = {}
        self.warnings: list[str] = []
        self._seen: set[int] = set()

    def skip(self, reason: str, example: str, count: int = 1) -> None:
        """Count something that was left out (or not kept as it was)."""
        entry = self.skipped.setdefault(reason, Skipped())
        entry.count += count
        if len(entry.examples) < Skipped.EXAMPLES_MAX:
            entry.examples.append(example)

    def once(self, reason: str, example: str) -> None:
        """The same for what is met more than once: each example counts once."""
        key = hash((reason, example))
        if key not in self._seen:
            self._seen.add(key)
            self.skip(reason, example)
