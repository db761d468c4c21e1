"""Lineages: which names are one entity, once renames have joined them (R4).

A rename of `users` to `accounts` joins those two, and what lies below them pairwise: `users.email` with
`accounts.email`, whether or not any event says so. Names are therefore read as paths from a common root, and
joining is congruence closure over them: where two places are one, their children of the same label are one.
That decides the relation exactly, although it is infinite, in time near linear in the names that are there;
no list of derived names is ever made.

A rename that moves a name to below itself (`src` to `src/app`) joins the two names and nothing under them:
otherwise `src/app/x`, `src/app/app/x` and so on would all be one thing.

Names here are folded (`entity_key`). One instance is one scope.
"""

from __future__ import annotations

from gitmem.core import entities, letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def entity_key(path: str) -> str:
    """Return the name that the entity with the canonical `path` goes by: names match without case."""
    return letters.fold(path)


class Lineages:
    """The `names` of one scope, joined by `pairs` of names."""

    __slots__ = ("_above", "_children", "_flat", "_members", "_places")

    def __init__(self, names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> None:
        # Union-find over places: one that was joined into another points to it. Place 0 is the root of all names.
        self._above: list[int] = [0]
        self._children: list[dict[str, int]] = [{}]
        self._places: dict[str, int] = {"": 0}
        # A second layer of the same, over representatives: what it joins is not handed down to children.
        self._flat: dict[int, int] = {}
        lone = []
        for one, other in pairs:
            first, second = self._make(one), self._make(other)
            if one in entities.parents(other) or other in entities.parents(one):
                lone.append((first, second))
            else:
                self._join(first, second)
        known = [(self._make(name), name) for name in names]
        for first, second in lone:
            here, there = self._top(first), self._top(second)
            if here != there:
                self._flat[here] = there
        self._members: dict[int, set[str]] = {}
        for place, name in known:
            self._members.setdefault(self._top(place), set()).add(name)

    def root(self, name: str) -> int:
        """Return the number, in this instance, of the lineage of `name`; -1 where nothing known is of it."""
        place = self._places.get(name, -1)
        if place < 0:
            place = 0
            for label in _labels(name):
                place = self._children[self._find(place)].get(label, -1)
                if place < 0:
                    return -1
        return self._top(place)

    def of(self, name: str) -> frozenset[str]:
        """Return the known names that are one entity with `name`, and `name` itself, known or not."""
        return frozenset(self._members.get(self.root(name), ())) | {name}

    def _make(self, name: str) -> int:
        """Return the place of `name`; makes it, and what it lies below, where they are new."""
        place = self._places.get(name, -1)
        if place < 0:
            place = 0
            for label in _labels(name):
                children = self._children[self._find(place)]
                place = children.get(label, -1)
                if place < 0:
                    place = children[label] = len(self._above)
                    self._above.append(place)
                    self._children.append({})
            self._places[name] = place
        return place

    def _join(self, one: int, other: int) -> None:
        waiting = [(one, other)]
        while waiting:
            first, second = waiting.pop()
            first, second = self._find(first), self._find(second)
            if first == second:
                continue
            if len(self._children[first]) < len(self._children[second]):
                first, second = second, first
            self._above[second] = first
            kept = self._children[first]
            for label, child in self._children[second].items():
                twin = kept.setdefault(label, child)
                if twin != child:
                    waiting.append((twin, child))

    def _find(self, place: int) -> int:
        above = self._above
        while above[place] != place:
            above[place] = place = above[above[place]]
        return place

    def _top(self, place: int) -> int:
        place = self._find(place)
        while place in self._flat:
            place = self._flat[place]
        return place


def _labels(name: str) -> list[str]:
    """Return the steps from the root to `name`: `src/a.py::f` is `src`, `/a.py`, `::f`."""
    path = [name, *entities.parents(name), ""]
    # An odd name may not start with what it lies below (`f::.a.b`, below `f::a`); then the whole of it is the step.
    return [below[len(above) :] if below.startswith(above) else f"\0{below}" for below, above in zip(path, path[1:])][
        ::-1
    ]
