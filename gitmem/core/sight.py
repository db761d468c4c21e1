"""Sight: who saw whom (R2), as bit masks over the acts of a group.

B saw A if A is reached from B through `after`, `supersedes` or `targets`. A verdict asks that of closings
against openings and of reviews against reviews, so each of those (an *act*) has a bit, and what an event saw
is one integer (`down`), and what saw it another (`up`).

Most lineages were written one after the other, so no mask is stored where place alone tells. The order of
the events is cut at each one that saw all before it and was seen by all after it; only between two cuts, where
writers did not know of each other, are there masks, and they are as long as that stretch. A thousand
events in a row, or two clones that met again, cost little; two that never met cost what they must.

No clock decides here. Events come sorted by it, which saves a sort where it is right; where an edge says
otherwise, the edges are sorted. A cycle (only copies of imported events can make one) is taken as it is: each in it
saw all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from gitmem.core.nodes import OTHER, Nodes

#: How many bits one pass over the whole graph carries: a few thousand keep the integers in the CPU's cache.
_BITS_AT_ONCE = 2048


class Sight:
    """What the nodes of one group saw of each other. Only acts have bits: changes, reviews, marks."""

    __slots__ = ("_base", "_bits_in", "_down", "_stretch", "_top", "_up", "acts", "bits", "stretches")

    def __init__(self) -> None:
        #: node -> its mask, acts only; and the acts in the order of their bits
        self.bits: dict[int, int] = {}
        self.acts: list[int] = []
        #: the stretches of nodes that did not all see each other
        self.stretches: list[list[int]] = []
        # node -> the number of its stretch, how many acts lie before that, and how many when it ends
        self._stretch: dict[int, int] = {}
        self._base: dict[int, int] = {}
        self._top: dict[int, int] = {}
        # node -> what it saw, what saw it within its stretch; absent where it stands alone
        self._down: dict[int, int] = {}
        self._up: dict[int, int] = {}

    def add(self, stretch: Sequence[int], roles: Sequence[int]) -> None:
        """Add nodes that saw all that is here already."""
        base = len(self.acts)
        number = len(self._stretch)
        for node in stretch:
            if roles[node] != OTHER:
                self.bits[node] = 1 << len(self.acts)
                self.acts.append(node)
        top = len(self.acts)
        for node in stretch:
            self._stretch[node] = number
            self._base[node] = base
            self._top[node] = top

    def set(self, node: int, down: int, up: int) -> None:
        """Set what a node of a stretch saw in it, and what saw it there; the first bit is the stretch's first act."""
        self._down[node] = down
        self._up[node] = up

    def base(self, node: int) -> int:
        """Return how many acts lie before the stretch of `node`."""
        return self._base[node]

    def down(self, node: int) -> int:
        """Return the mask of the acts that `node` saw."""
        base = self._base[node]
        local = self._down.get(node)
        return (1 << base) - 1 | local << base if local else (1 << base) - 1

    def up(self, node: int) -> int:
        """Return the mask of the acts that saw `node`."""
        top = self._top[node]
        later = (1 << len(self.acts)) - (1 << top)
        local = self._up.get(node)
        return later | local << self._base[node] if local else later

    def saw(self, later: int, earlier: int) -> bool:
        """Say whether the act `later` saw the act `earlier`."""
        here, there = self._stretch[later], self._stretch[earlier]
        return here > there or (here == there and bool(self.down(later) & self.bits[earlier]))

    def newest(self, acts: Sequence[int]) -> list[int]:
        """Return those of `acts` that none of the others saw."""
        last = max(map(self._stretch.__getitem__, acts))
        left = [act for act in acts if self._stretch[act] == last]
        if len(left) > 1:
            seen = 0
            for act in left:
                seen |= self.down(act) & ~self.bits[act]
            left = [act for act in left if not seen & self.bits[act]]
        return left

    def first(self, mask: int) -> int:
        """Return the earliest act of `mask`, which is not empty."""
        return self.acts[(mask & -mask).bit_length() - 1]

    def among(self, mask: int) -> list[int]:
        """Return the acts of `mask`."""
        return [self.acts[place] for place in ones(mask)]


def ones(mask: int) -> Iterator[int]:
    """Yield the numbers of the bits of `mask`, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def is_line(nodes: Nodes, members: Sequence[int]) -> bool:
    """Say whether each of `members` names the one before it: then each saw all before it."""
    events, copies = nodes.events, nodes.copies
    if copies and not copies.keys().isdisjoint(members):
        return False
    before = ""
    for node in members:
        event = events[node]
        if before and before not in event.after and before not in event.targets and before not in event.supersedes:
            return False
        before = event.id
    return True


def sights(nodes: Nodes, groups: Iterable[Sequence[int]], outside: Callable[[str], Iterable[str]]) -> list[Sight]:
    """Return the sight of each of `groups`.

    `outside` gives the steps of an event that is not among the nodes.
    """
    found = []
    far: list[tuple[Sight, list[int]]] = []
    for members in groups:
        sight = Sight()
        found.append(sight)
        if is_line(nodes, members):
            for node in members:
                sight.add((node,), nodes.roles)
        else:
            far += [(sight, stretch) for stretch in _cut(nodes, members, sight)]
    if far:
        _look_far(nodes, far, outside)
    return found


def _cut(nodes: Nodes, members: Sequence[int], sight: Sight) -> list[list[int]]:
    """Fill `sight` by the edges among `members`; return the stretches of which an edge leads elsewhere."""
    places = {node: place for place, node in enumerate(members)}
    before: list[list[int]] = []
    leaves = []
    forward = True
    for place, node in enumerate(members):
        steps = []
        left = False
        for step in nodes.steps(node):
            there = places.get(nodes.index.get(step, -1), -1)
            if there < 0:
                left = True
            elif there != place and there not in steps:
                steps.append(there)
                forward = forward and there < place
        before.append(steps)
        leaves.append(left)
    if forward:
        rings = [[place] for place in range(len(members))]
    else:
        rings = components(before)
    if len(rings) < len(members):  # a cycle: no cuts
        stretches = [list(range(len(members)))]
    else:
        stretches = _stretches([ring[0] for ring in rings], before)
    far = []
    for stretch in stretches:
        sight.add([members[place] for place in stretch], nodes.roles)
        if len(stretch) == 1:
            continue
        here = {place: number for number, place in enumerate(stretch)}
        local = [[here[step] for step in before[place] if step in here] for place in stretch]
        base = sight.base(members[stretch[0]])
        bits = [sight.bits.get(members[place], 0) >> base for place in stretch]
        down, up = reach(local, bits)
        for number, place in enumerate(stretch):
            sight.set(members[place], down[number], up[number])
        if any(leaves[place] for place in stretch):
            far.append([members[place] for place in stretch])
    return far


def _stretches(ordered: list[int], before: list[list[int]]) -> list[list[int]]:
    """Cut `ordered` (nothing in it reaches what comes later) around what saw all before and was seen by all after."""
    rank = {place: number for number, place in enumerate(ordered)}
    size = len(ordered)
    # The least, over all later ones, of the latest that each names: it must not lie before a cut.
    reached = [size] * (size + 1)
    for number in range(size - 1, -1, -1):
        latest = max((rank[step] for step in before[ordered[number]]), default=-1)
        reached[number] = min(reached[number + 1], latest)
    stretches: list[list[int]] = []
    heads: set[int] = set()
    open_stretch: list[int] = []
    for number, place in enumerate(ordered):
        saw_all = heads.issubset(before[place])
        heads.difference_update(before[place])
        heads.add(place)
        if saw_all and reached[number + 1] >= number:
            if open_stretch:
                stretches.append(open_stretch)
            stretches.append([place])
            open_stretch = []
        else:
            open_stretch.append(place)
    if open_stretch:
        stretches.append(open_stretch)
    return stretches


def _look_far(nodes: Nodes, far: list[tuple[Sight, list[int]]], outside: Callable[[str], Iterable[str]]) -> None:
    """Set the masks of the stretches in `far` by all paths, also those through other groups and other events.

    Writers who name the heads of their lineages make no such path that a nearer one doesn't already make; but
    `after` is theirs to fill, and a verdict must not depend on which part of a log was handed in.
    """
    # Everything that the stretches reach. Nodes keep their order, events from outside follow.
    steps_of: dict[int | str, list[int | str]] = {}
    waiting: list[int | str] = [node for _, stretch in far for node in stretch]
    while waiting:
        one = waiting.pop()
        if one not in steps_of:
            steps = outside(one) if isinstance(one, str) else nodes.steps(one)
            steps_of[one] = [nodes.index.get(step, step) for step in steps]
            waiting += steps_of[one]
    inside = sorted(one for one in steps_of if isinstance(one, int))
    ordered: list[int | str] = [*inside, *sorted(one for one in steps_of if isinstance(one, str))]
    places: dict[int | str, int] = {one: place for place, one in enumerate(ordered)}
    before = [sorted({places[step] for step in steps_of[one]} - {places[one]}) for one in ordered]
    batch: list[tuple[Sight, list[int], int]] = []
    size = 0
    for sight, stretch in far:
        acts = sum(node in sight.bits for node in stretch)
        if batch and size + acts > _BITS_AT_ONCE:
            _pass(batch, places, before)
            batch, size = [], 0
        batch.append((sight, stretch, acts))
        size += acts
    _pass(batch, places, before)


def _pass(batch: list[tuple[Sight, list[int], int]], places: dict[int | str, int], before: list[list[int]]) -> None:
    bits = [0] * len(before)
    shift = 0
    for sight, stretch, acts in batch:
        base = sight.base(stretch[0])
        for node in stretch:
            if node in sight.bits:
                bits[places[node]] = sight.bits[node] >> base << shift
        shift += acts
    down, up = reach(before, bits)
    shift = 0
    for sight, stretch, acts in batch:
        own = (1 << acts) - 1
        for node in stretch:
            sight.set(node, down[places[node]] >> shift & own, up[places[node]] >> shift & own)
        shift += acts


def reach(before: Sequence[Sequence[int]], bits: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return for each place the bits of the places that it reaches, and of those that reach it.

    `before[p]` are the places one step from p; `bits[p]` is p's own mask, 0 where nobody asks for it. A place
    reaches itself in a cycle with others only, and its own bit is left out even then.
    """
    size = len(before)
    for place in range(size):
        for step in before[place]:
            if step >= place:
                return _reach_in_rings(before, bits)
    down, up = [0] * size, [0] * size
    for place in range(size):
        mask = 0
        for step in before[place]:
            mask |= down[step] | bits[step]
        down[place] = mask
    for place in range(size - 1, -1, -1):
        mask = up[place] | bits[place]
        if mask:
            for step in before[place]:
                up[step] |= mask
    return down, up


def _reach_in_rings(before: Sequence[Sequence[int]], bits: Sequence[int]) -> tuple[list[int], list[int]]:
    """`reach` for places in any order: what lies on one cycle is one place of a graph that can be ordered."""
    rings = components(before)
    ring_of = [0] * len(before)
    for number, ring in enumerate(rings):
        for place in ring:
            ring_of[place] = number
    ring_before: list[list[int]] = []
    ring_bits: list[int] = []
    for number, ring in enumerate(rings):
        ring_before.append(sorted({ring_of[step] for place in ring for step in before[place]} - {number}))
        mask = 0
        for place in ring:
            mask |= bits[place]
        ring_bits.append(mask)
    ring_down, ring_up = reach(ring_before, ring_bits)
    down, up = [0] * len(before), [0] * len(before)
    for number, ring in enumerate(rings):
        for place in ring:
            others = ring_bits[number] & ~bits[place]  # nothing, where the ring is one place
            down[place] = ring_down[number] | others
            up[place] = ring_up[number] | others
    return down, up


def components(before: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the strongly connected components, each after all that it reaches (Tarjan, without recursion)."""
    size = len(before)
    number = [0] * size  # 0: not visited
    low = [0] * size
    on_stack = [False] * size
    stack: list[int] = []
    found: list[list[int]] = []
    count = 0
    for start in range(size):
        if number[start]:
            continue
        work: list[tuple[int, int]] = [(start, 0)]
        while work:
            place, step = work.pop()
            if step == 0:
                count += 1
                number[place] = low[place] = count
                stack.append(place)
                on_stack[place] = True
            else:
                low[place] = min(low[place], low[before[place][step - 1]])
            steps = before[place]
            while step < len(steps):
                following = steps[step]
                step += 1
                if not number[following]:
                    work.append((place, step))
                    work.append((following, 0))
                    break
                if on_stack[following]:
                    low[place] = min(low[place], number[following])
            else:
                if low[place] == number[place]:
                    ring: list[int] = []
                    while not ring or ring[-1] != place:
                        ring.append(stack.pop())
                        on_stack[ring[-1]] = False
                    found.append(ring)
    return found
