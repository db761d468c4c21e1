"""Keys: what stands for one (scope, lineage, approach), once it is known which acts are in force (R8, R9).

An *act* is a node that opens or closes; its *subject* is the change that it speaks for: itself, or what a
resolve keeps. All acts of a group have bits in its sight, so "which standing closings did this opening know"
is one operation on integers, however long the lineage.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable

from gitmem.core.nodes import OPEN, REVIEW, Nodes
from gitmem.core.sight import Sight

# Most keys have no closer and no end: these stand for none and are never written to.
_NO_ACTS: dict[int, int] = {}
_NO_NODES: list[int] = []
_CLOSED = {"reject": "rejected", "revert": "reverted"}


class Lineage:
    """One lineage of one scope, with its keys, and with what reaches all of them."""

    __slots__ = ("closers", "ends", "keys", "latest", "openers", "scope", "slot", "standing", "wholes")

    def __init__(self, scope: str, slot: int) -> None:
        self.scope = scope
        #: the slot of one of its names
        self.slot = slot
        self.keys: dict[str, Key] = {}
        #: the newest change on it, for the name it is shown by
        self.latest = -1
        #: whole rejects, waiting ones too
        self.wholes: list[int] = _NO_NODES
        #: act -> subject: whole rejects in force and resolves that keep one
        self.closers: dict[int, int] = _NO_ACTS
        #: act -> subject: what opens every key: supersedes of a whole reject and resolves that keep one
        self.openers: dict[int, int] = _NO_ACTS
        #: endings without an approach
        self.ends: list[int] = _NO_NODES
        #: the closing changes that stand for one of its keys
        self.standing: set[int] = set()

    def key(self, approach: str) -> Key:
        key = self.keys.get(approach)
        if key is None:
            key = self.keys[approach] = Key(self, approach)
        return key


def add_act(where: Lineage | Key, name: str, act: int, subject: int) -> None:
    """Add an act to `openers` or `closers` of a lineage or a key; the first subject stays."""
    acts: dict[int, int] = getattr(where, name)
    if acts is _NO_ACTS:
        setattr(where, name, {act: subject})
    else:
        acts.setdefault(act, subject)


def add_node(where: Lineage | Key, name: str, node: int) -> None:
    """Add a node to `ends` or `wholes`."""
    nodes: list[int] = getattr(where, name)
    if nodes is _NO_NODES:
        setattr(where, name, [node])
    else:
        nodes.append(node)


class Key:
    """One key: its changes, its acts in force, and what they come to."""

    __slots__ = (
        "against",
        "approach",
        "changes",
        "closers",
        "contested",
        "ends",
        "lineage",
        "mask",
        "openers",
        "resolves",
        "standing",
        "subject",
        "times",
        "verdict",
    )

    def __init__(self, lineage: Lineage, approach: str) -> None:
        self.lineage = lineage
        self.approach = approach
        #: opening, closing and ending changes of this very key that are not retracted, waiting ones too
        self.changes: list[int] = []
        #: act -> subject, in force; what reaches all of the lineage comes in when the key is settled
        self.openers: dict[int, int] = {}
        self.closers: dict[int, int] = _NO_ACTS
        self.ends: list[int] = _NO_NODES
        #: the openers that are resolves
        self.resolves: list[int] = _NO_NODES
        #: the mask of `closers`, and where history plays a part, their times
        self.mask = 0
        self.times: Times | None = None
        #: the closers that stand (act -> subject)
        self.standing: dict[int, int] = _NO_ACTS
        #: the openers that contest one of those (act -> subject), and the closers that they contest
        self.against: dict[int, int] = _NO_ACTS
        self.contested: list[int] = _NO_NODES
        #: "" where nothing is left
        self.verdict = ""
        #: the change that decides, -1 where there is none
        self.subject = -1


class Bench:
    """What a group's keys are judged with: the sight of its acts, and what was found out about them before."""

    __slots__ = (
        "_downs",
        "_ups",
        "contested",
        "key_of",
        "late",
        "late_mask",
        "lifted",
        "lifts",
        "nodes",
        "objections",
        "pending",
        "ratified",
        "ratifying",
        "sight",
        "void",
        "waiting_lifts",
    )

    def __init__(self, nodes: Nodes, sight: Sight, ratified: Callable[[int], bool]) -> None:
        self.nodes = nodes
        self.sight = sight
        #: says whether a node is person-ratified
        self.ratified = ratified
        #: opening, closing or ending change -> its key
        self.key_of: dict[int, Key] = {}
        #: act -> its ratifications, of those that needed one: they are known only to those who saw one of these,
        #: and they saw what these saw (R7); and the masks of the acts and of the ratifications
        self.late: dict[int, list[int]] = {}
        self.late_mask = 0
        self.ratifying = 0
        #: closer -> the supersedes in force that lift it (R8b); and the mask of such closers
        self.lifts: dict[int, list[int]] = {}
        self.lifted = 0
        #: closer -> the supersedes that would lift it and wait
        self.waiting_lifts: dict[int, list[int]] = {}
        #: closer -> the reviews that make it disputed now, each with its ratifications where it needed any
        self.objections: dict[int, list[tuple[int, list[int]]]] = {}
        #: what settling found: of openings the mask of the standing closers that they knew, or the waiting supersedes
        #: that they saw (R8d); and the acts on a contested side
        self.void: dict[int, int] = {}
        self.pending: dict[int, list[int]] = {}
        self.contested: set[int] = set()
        self._downs: dict[int, int] = {}
        self._ups: dict[int, int] = {}

    # --- sight, with ratifications -----------------------------------------------------------

    def add_late(self, act: int, ratifications: list[int]) -> None:
        self.late[act] = ratifications
        self.late_mask |= self.sight.bits[act]
        self.ratifying |= self.mask(ratifications)
        self._downs.clear()
        self._ups.clear()

    def mask(self, acts: Iterable[int]) -> int:
        bits = self.sight.bits
        found = 0
        for act in acts:
            found |= bits[act]
        return found

    def down(self, act: int) -> int:
        """Return the mask of the acts that `act` knows."""
        if not self.late:
            return self.sight.down(act)
        known = self._downs.get(act, -1)
        if known < 0:
            known = self.sight.down(act)
            for ratification in self.late.get(act, ()):
                known |= self.sight.down(ratification)
            for other in self.sight.among(known & self.late_mask):
                if not known & self.mask(self.late[other]):
                    known &= ~self.sight.bits[other]
            self._downs[act] = known
        return known

    def up(self, act: int) -> int:
        """Return the mask of the acts that know `act`."""
        if not self.late:
            return self.sight.up(act)
        known = self._ups.get(act, -1)
        if known < 0:
            if act in self.late:
                known = 0
                for ratification in self.late[act]:
                    known |= self.sight.up(ratification)
            else:
                known = self.sight.up(act)
            if known & self.ratifying:
                for other, ratifications in self.late.items():
                    if known & self.mask(ratifications):
                        known |= self.sight.bits[other]
            self._ups[act] = known
        return known

    # --- R8: one opener against the closers --------------------------------------------------

    def relation(self, opener: int, closers: int, times: Times | None) -> tuple[int, int, int, int]:
        """Return the masks of those of `closers` that close the opener, that it knew, contests, and overtakes."""
        up, down = self.up(opener), self.down(opener)
        closers &= ~self.sight.bits[opener]
        if times is None:  # R8a
            return closers & up, closers & down & ~up, closers & ~up & ~down, 0
        told, ratified = closers & times.told, times.ratified
        live = closers & ~told
        when = self.nodes.time(opener)
        if self.nodes.events[opener].source:  # R8c: X has it
            closes = (times.since(when) & closers) | (up & live)
            rest = closers & ~closes
            return closes, 0, rest & (live | ratified), rest & told & ~ratified
        unseen = told & ~down  # R8c: C has it, X not
        later = times.after(when)
        return (
            live & up,
            (live & down & ~up) | (told & down),
            (live & ~up & ~down) | (unseen & (later | ratified)),
            unseen & ~later & ~ratified,
        )

    def _times(self, key: Key) -> Times | None:
        """Return the closers of `key` by time where one of its acts is imported; else times play no part."""
        events = self.nodes.events
        for acts in (key.openers, key.closers):
            for act in acts:
                if events[act].source:
                    return Times(self, key.closers)
        return None

    # --- R9 ----------------------------------------------------------------------------------

    def settle(self, key: Key) -> None:
        """Work out what stands for `key`, its verdict, and what that makes of its openings."""
        for name in ("closers", "openers"):
            for act, subject in getattr(key.lineage, name).items():
                add_act(key, name, act, subject)
        if key.closers:
            self._settle_closers(key)
        if key.standing:
            key.verdict = "contested" if key.against else _CLOSED[self.nodes.events[key.subject].change_type]
        else:
            self._settle_openers(key)

    def _settle_closers(self, key: Key) -> None:
        nodes, sight = self.nodes, self.sight
        closers = key.mask = self.mask(key.closers)
        times = key.times = self._times(key)
        gone = closers & self.lifted
        relations = {}
        for opener in key.openers:
            if nodes.roles[opener] == REVIEW:  # R8b: a resolve that keeps an opening lifts what it saw
                key.resolves = [*key.resolves, opener]
                gone |= closers & self.down(opener)
            if times:
                relations[opener] = self.relation(opener, closers, times)
                gone |= relations[opener][3]
        standing = closers & ~gone
        if not standing:
            return
        key.standing = {act: key.closers[act] for act in sight.among(standing)}
        key.lineage.standing.update(key.standing.values())
        key.subject = self._deciding(key.standing.values())
        noted = 0
        if key.approach == "":
            noted = self.mask(
                act for act, subject in key.standing.items() if nodes.events[subject].change_type == "revert"
            )
        excused = self.mask(act for act in key.standing if act in self.objections or act in self.waiting_lifts)
        against: dict[int, int] = {}
        contested = 0
        for opener, subject in key.openers.items():
            closes, knew, contests, _ = relations.get(opener) or self.relation(opener, standing, None)
            knew &= standing
            contests &= standing
            if knew and subject == opener and nodes.roles[opener] == OPEN and self.key_of.get(opener) is key:
                if noted and nodes.events[opener].change_type == "modify":
                    knew &= ~noted
                if knew:
                    objected = self._excuse(opener, knew, excused)
                    if objected < 0:
                        continue
                    contests |= objected
            if contests and not closes & standing:
                against[opener] = subject
                contested |= contests
        if against:
            key.against = against
            key.contested = sight.among(contested)
            self.contested.update(key.against)
            self.contested.update(key.contested)

    def _excuse(self, opener: int, knew: int, excused: int) -> int:
        """Return the closers that an opening contests although it knew them; -1 where it is void or waits (R8d)."""
        void = knew & ~excused
        waits: list[int] = []
        objected = 0
        for closer in () if void else self.sight.among(knew):
            bit = self.sight.bits[closer]
            if any(
                knows(self.sight, {review: late} if late else {}, opener, review)
                for review, late in self.objections.get(closer, ())
            ):
                objected |= bit
                continue
            seen = [lift for lift in self.waiting_lifts.get(closer, ()) if self.sight.saw(opener, lift)]
            if seen:
                waits += seen
            else:
                void |= bit
        if void:
            self.void[opener] = void
        elif waits:
            self.pending[opener] = waits
        else:
            return objected
        return -1

    def _settle_openers(self, key: Key) -> None:
        nodes = self.nodes
        left = self.newest([*key.openers, *key.ends, *key.lineage.ends])
        opens, lifts, ends = [], [], []
        for act in left:
            subject = key.openers.get(act, -1)
            if subject < 0:
                ends.append(act)
            elif nodes.roles[subject] == OPEN and self.key_of.get(subject) is key:
                opens.append(subject)
            else:
                lifts.append(subject)
        for verdict, subjects in (("active", opens), ("reopened", lifts), ("removed", ends)):
            if subjects:
                key.verdict = verdict
                key.subject = max(subjects)
                return

    def newest(self, acts: list[int]) -> list[int]:
        """Return those of `acts` that none of the others saw; history counts by its own time.

        Ratifications play no part here: an opening that saw a supersede wait comes after it once both take effect.
        """
        events, saw = self.nodes.events, self.sight.saw
        live = [act for act in acts if not events[act].source]
        left = self.sight.newest(live) if len(live) > 1 else live
        if len(live) == len(acts):
            return left
        told = [act for act in acts if events[act].source]
        when = {act: self.nodes.time(act) for act in acts}
        latest = max(when[act] for act in told)
        left = [act for act in left if not any(when[act] < when[other] and not saw(act, other) for other in told)]
        for act in told:
            if when[act] == latest and not any(when[act] < when[other] or saw(other, act) for other in live):
                left.append(act)
        return left

    def _deciding(self, subjects: Iterable[int]) -> int:
        events = self.nodes.events
        return max(
            subjects,
            key=lambda node: (events[node].change_type == "reject", self.ratified(node), node),
        )


class Times:
    """Closers ordered by when they took place (R8c), as masks."""

    __slots__ = ("_masks", "_times", "ratified", "told")

    def __init__(self, bench: Bench, closers: Iterable[int]) -> None:
        nodes, bits = bench.nodes, bench.sight.bits
        ordered = sorted((nodes.time(act), act) for act in closers)
        self._times = [time for time, _ in ordered]
        self._masks = [0] * (len(ordered) + 1)
        #: the imported ones, and those of them that are person-ratified, which nothing overtakes
        self.told = self.ratified = 0
        for place in range(len(ordered) - 1, -1, -1):
            act = ordered[place][1]
            self._masks[place] = self._masks[place + 1] | bits[act]
            if nodes.events[act].source:
                self.told |= bits[act]
                if bench.ratified(act):
                    self.ratified |= bits[act]

    def since(self, time: str) -> int:
        """Return the closers at `time` or later."""
        return self._masks[bisect_left(self._times, time)]

    def after(self, time: str) -> int:
        """Return the closers later than `time`."""
        return self._masks[bisect_right(self._times, time)]


def knows(sight: Sight, late: dict[int, list[int]], later: int, earlier: int) -> bool:
    """Say whether one act knows another: *saw*, with what needed ratifying standing where its ratifications do (R7)."""
    if not late:
        return sight.saw(later, earlier)
    return any(
        sight.saw(seer, seen) for seer in (later, *late.get(later, ())) for seen in late.get(earlier) or (earlier,)
    )


def newest(sight: Sight, late: dict[int, list[int]], acts: list[int]) -> list[int]:
    """Return those of `acts` that none of the others knows."""
    if len(acts) < 2:
        return acts
    if late.keys().isdisjoint(acts):
        return sight.newest(acts)
    return [act for act in acts if not any(knows(sight, late, other, act) for other in acts if other != act)]
