"""Likeness: in how much two sentences are one, and who is like whom without comparing all with all.

Percent of the content words that both have of those that either has (Jaccard). Nothing at all where one denies,
directs or sides with what the other doesn't, or where a "to" stands in them and their words are in another order: two
sentences that say the opposite share nearly every word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable

from gitmem.core.lessons import words
from gitmem.core.lessons.words import CONTENT, DENIES, HOLDS, ORDERS


class Sketch:
    """What of a sentence is compared: its content words in order, what it denies, whether order says something."""

    __slots__ = ("in_order", "is_ordered", "polarity", "stems")

    def __init__(self, text: str) -> None:
        found = words.words(text)
        self.in_order = [word.stem for word in found if word.sort & CONTENT]
        self.stems = frozenset(self.in_order)
        self.polarity = frozenset(word.stem for word in found if word.sort & HOLDS)
        self.is_ordered = any(word.sort & (ORDERS | DENIES) for word in found)

    def alike(self, other: Sketch, least: int = 1) -> int:
        """Return in how many percent both are one; 0 where it is less than `least`."""
        if self.polarity != other.polarity:
            return 0
        both = self.stems & other.stems
        either = len(self.stems) + len(other.stems) - len(both)
        if 100 * len(both) < least * either or not both:
            return 0
        if (self.is_ordered or other.is_ordered) and not _same_order(self.in_order, other.in_order, both):
            return 0
        return 100 * len(both) // either


def _same_order(one: list[str], other: list[str], both: frozenset[str]) -> bool:
    return [stem for stem in dict.fromkeys(one) if stem in both] == [
        stem for stem in dict.fromkeys(other) if stem in both
    ]


def alike(one: str, other: str) -> int:
    """Return in how many percent of their content words two texts are one; 0 where they don't say the same."""
    return Sketch(one).alike(Sketch(other))


class Likes:
    """Finds the texts that are alike in at least `cut` percent. Exact: it finds what comparing with each would find.

    Of n words that two texts must share `cut` percent of, at least one lies among the first
    n - ceil(cut·n/100) + 1, whatever the order of words, as long as it is one order. The rarest come first.
    """

    __slots__ = ("_at", "_rank", "_sketches", "cut")

    def __init__(self, cut: int, texts: Iterable[tuple[str, str]]) -> None:
        """Take (name, text) of each; a cut of 1 to 100."""
        if not 1 <= cut <= 100:
            raise ValueError(f"cut of {cut} percent")
        self.cut = cut
        self._sketches = {name: Sketch(text) for name, text in texts}
        counts: Counter[str] = Counter()
        for sketch in self._sketches.values():
            counts.update(sketch.stems)
        self._rank = counts
        self._at: dict[str, list[str]] = {}
        for name, sketch in self._sketches.items():
            for stem in self._first(sketch):
                self._at.setdefault(stem, []).append(name)

    def _first(self, sketch: Sketch) -> list[str]:
        size = len(sketch.stems)
        ordered = sorted(sketch.stems, key=lambda stem: (self._rank[stem], stem))
        return ordered[: size - -(-self.cut * size // 100) + 1]

    def near(self, text: str) -> list[tuple[int, str]]:
        """Return (percent, name) of the texts that are alike, the most alike first, then by name."""
        return self._near(Sketch(text), "")

    def of(self, name: str, among: Container[str] | None = None) -> list[tuple[int, str]]:
        """Return the same for one of the texts, without itself; `among` some of them, where not all are asked for."""
        return self._near(self._sketches[name], name, among)

    def _near(self, sketch: Sketch, itself: str, among: Container[str] | None = None) -> list[tuple[int, str]]:
        found = []
        for name in {name for stem in self._first(sketch) for name in self._at.get(stem, ())} - {itself}:
            if among is None or name in among:
                percent = sketch.alike(self._sketches[name], self.cut)
                if percent:
                    found.append((percent, name))
        return sorted(found, key=lambda one: (-one[0], one[1]))
