"""What an import read, made and left out: nothing is passed over in silence."""

from __future__ import annotations


class Skipped:
    """How often something was left out (or `kept`, not quite as it was), and the first few examples."""

    __slots__ = ("count", "examples", "kept")

    EXAMPLES_MAX = 5

    def __init__(self, *, kept: bool = False) -> None:
        self.count = 0
        self.examples: list[str] = []
        self.kept = kept


class Tally:
    """What an import did.

    read      what was looked at -> how many of it: files, statements, records
    drafts    how many drafts were yielded; `known`: how many were not, because the log has their source
    skipped   what was left out, or not kept as it was -> Skipped
    warnings  sentences about the source as a whole
    """

    __slots__ = ("_seen", "drafts", "known", "read", "skipped", "warnings")

    def __init__(self) -> None:
        self.read: dict[str, int] = {}
        self.drafts = 0
        self.known = 0
        self.skipped: dict[str, Skipped] = {}
        self.warnings: list[str] = []
        self._seen: set[int] = set()

    def saw(self, what: str, count: int = 1) -> None:
        """Count something that was looked at."""
        self.read[what] = self.read.get(what, 0) + count

    def skip(self, reason: str, example: str, count: int = 1, *, kept: bool = False) -> None:
        """Count something that was left out."""
        entry = self.skipped.setdefault(reason, Skipped(kept=kept))
        entry.count += count
        if len(entry.examples) < Skipped.EXAMPLES_MAX:
            entry.examples.append(example)

    def once(self, reason: str, example: str) -> None:
        """Count something that was kept, not quite as it was; it may be met more than once, and counts once."""
        key = hash((reason, example))
        if key not in self._seen:
            self._seen.add(key)
            self.skip(reason, example, kept=True)
