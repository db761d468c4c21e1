"""What a reader finds in one text, and which of it lies where the text changed."""

from __future__ import annotations

from bisect import bisect_right

from gitmem.core.entering.source import line_starts


class Candidate:
    """One thing that a text names: its names, its kind, the word in the text, and where it stands.

    `owner_at`: where that stands which it belongs to (the table of a column), or -1.
    """

    __slots__ = ("at", "entity_type", "names", "owner_at", "word")

    def __init__(self, names: list[str], entity_type: str, at: int, word: str, owner_at: int) -> None:
        self.names = names
        self.entity_type = entity_type
        self.at = at
        self.word = word
        self.owner_at = owner_at


class Found:
    """Collects candidates of a text that was `before`."""

    __slots__ = ("_before", "_first", "_last", "_lower", "_starts", "_text", "all", "backward")

    def __init__(self, before: str, text: str) -> None:
        self._before = before
        self._text = text
        self._lower: str | None = None
        self._starts: list[int] | None = None
        self._first, self._last = self._hull()
        #: What stands where the text changed, or belongs to what stands there.
        self.all: list[Candidate] = []
        #: Spans of the text that undo: the way back of a migration. What lies in them brings nothing in.
        self.backward: list[tuple[int, int]] = []

    def add(self, names: list[str], entity_type: str, at: int, word: str = "", owner_at: int = -1) -> None:
        """Take in one thing. `word` is what the text calls it, if that is sure to stand in any text that names it."""
        if names and self.wants(at, owner_at):
            self.all.append(Candidate(names, entity_type, at, word, owner_at))

    def wants(self, at: int, owner_at: int = -1) -> bool:
        """Say whether what stands at `at` can matter; a reader that asks first saves the work of naming it."""
        return self._first <= at < self._last or self._first <= owner_at < self._last

    def line(self, at: int) -> int:
        if self._starts is None:
            self._starts = line_starts(self._text)
        return bisect_right(self._starts, at)

    def candidates(self) -> list[Candidate]:
        """Return what stands in changed lines, and not on a way back."""
        added: set[int] | None = None
        found = []
        for one in self.forward():
            if one.entity_type in ("function", "class"):
                # Where equal lines repeat, a change can be told in two places; the name of its class is in both.
                if added is None:
                    added = self._added()
                if self.line(one.at) not in added:
                    continue
            found.append(one)
        return found

    def forward(self) -> list[Candidate]:
        """Return everything that doesn't stand on a way back. A symbol isn't undone by standing there."""
        if not self.backward:
            return self.all
        spans: list[tuple[int, int]] = []
        for start, end in sorted(self.backward):
            if spans and start < spans[-1][1]:
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
            else:
                spans.append((start, end))
        starts = [start for start, _ in spans]
        found = []
        for one in self.all:
            at = bisect_right(starts, one.at) - 1
            if one.entity_type in ("function", "class") or at < 0 or one.at >= spans[at][1]:
                found.append(one)
        return found

    def is_unseen(self, one: Candidate) -> bool:
        """Say whether the text before can't have named it: its word stands nowhere in it."""
        if not self._before:
            return True
        if self._lower is None:
            self._lower = self._before.lower()
        return bool(one.word) and one.word.lower() not in self._lower

    def _hull(self) -> tuple[int, int]:
        """Return where the first changed line of the text begins and where the last one ends."""
        old, new = self._before, self._text
        shorter = min(len(old), len(new))
        start = new.rfind("\n", 0, common(old, new, shorter)) + 1
        # The end that both share must not reach into the beginning that they share.
        tail = _common_end(old, new, shorter - min(start, shorter))
        end, old_end = len(new) - tail, len(old) - tail
        if tail and (new[end - 1 : end] not in ("", "\n") or old[old_end - 1 : old_end] not in ("", "\n")):
            cut = new.find("\n", end)  # it begins within a line, and that line changed
            end = len(new) if cut < 0 else cut + 1
        return start, end

    def _added(self) -> set[int]:
        """Return the numbers of the lines that the text has more often than the text before had."""
        counts: dict[str, int] = {}
        for line in self._before.split("\n"):
            line = line.strip()
            counts[line] = counts.get(line, 0) + 1
        new = [line.strip() for line in self._text.split("\n")]
        for line in new:
            counts[line] = counts.get(line, 0) - 1
        return {number for number, line in enumerate(new, 1) if counts[line] < 0}


def common(a: str, b: str, longest: int) -> int:
    """Return how many characters two texts share at their beginning."""
    if a[:longest] == b[:longest]:
        return longest
    low, high = 0, longest
    while low < high - 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _common_end(a: str, b: str, longest: int) -> int:
    """Return how many characters two texts share at their end."""
    low, high = 0, longest + 1
    while low < high - 1:
        middle = (low + high) // 2
        if a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]:
            low = middle
        else:
            high = middle
    return low
