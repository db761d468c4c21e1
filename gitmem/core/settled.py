"""Settling: from a set of events to what each of them does. The inside of `verdicts`.

Copies become nodes, and nodes that have a say in one another become groups (`nodes`); who saw whom becomes masks
(`sight`). Then, here: reviews give trust, retractions, and what a person ratified (R6); renames that are not retracted
give lineages (R4, `lineages`); acts that go against what a person ratified wait (R7); and each key is settled by itself
(R8, R9, `keys`). Marks come last (R11). All of it is linear in the events, but for stretches that were written by
several at once, which also pay for each pair of them in bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gitmem.core.events import Event
from gitmem.core.keys import Bench, Key, Lineage, add_act, add_node, knows, newest
from gitmem.core.nodes import CLOSE, END, LIFT, MARK, OPEN, OTHER, RENAME, REVIEW, Nodes
from gitmem.core.sight import Sight, is_line, sights

TRUST_OF = {"ratify": "ratified", "resolve": "ratified", "dispute": "disputed", "retract": "retracted"}
#: mark -> the pair that it is one of, and of each pair the one that shows more (R11)
_MARK_PAIRS = {
    "seal": ("seal", "unseal"),
    "unseal": ("seal", "unseal"),
    "mute": ("mute", "unmute"),
    "unmute": ("mute", "unmute"),
    "unpin": ("unpin", "pin"),
    "pin": ("unpin", "pin"),
}
#: The standing marks; their opposites leave nothing.
_MARKS_SHOWN = ("seal", "mute", "pin")


class _Group:
    """What is kept of a group once it is settled. A plain one (openings, endings, renames) has no bench."""

    __slots__ = ("bench", "members")

    def __init__(self, members: list[int]) -> None:
        self.members = members
        self.bench: Bench | None = None


class Settled:
    """A set of events, settled; everything by node. `verdicts.Judgement` gives the answers, by id."""

    def __init__(self, events: Iterable[Event], outside: Callable[[str], Iterable[str]]) -> None:
        self.nodes = nodes = Nodes(events)
        self._outside = outside
        # node -> the reviews in force by which a person ratified it; by which it is retracted; its trust where that
        # is not the trust it was born with
        self._ratifications: dict[int, list[int]] = {}
        self._retractions: dict[int, list[int]] = {}
        self._trusts: dict[int, str] = {}
        # reviews and marks: what they wait on, what they are void on; reviews that others of their age contradict
        self._waits_on: dict[int, list[int]] = {}
        self._void_on: dict[int, list[int]] = {}
        self._contradicted: set[int] = set()
        # node -> the reviews that make it disputed now, each with its ratifications where it needed any
        self._objections: dict[int, list[tuple[int, list[int]]]] = {}
        # changes: act -> the mask of what of a person's it goes against, while it waits
        self._waits: dict[int, int] = {}
        # supersedes that name no closing
        self._nameless: set[int] = set()
        self._marks: dict[int, list[str]] = {}
        self._lineages: dict[object, Lineage] = {}
        self._line_of: dict[int, Lineage] = {}
        self._imported = any(event.source for event in nodes.events)
        self._kept: dict[int, list[int]] = {}
        self._pointers: dict[int, list[int]] | None = None
        self._groups = [_Group(members) for members in nodes.groups.values()]
        self._group_of = dict(zip(nodes.groups, self._groups))
        self._settle()

    # --- settling ----------------------------------------------------------------------------

    def _settle(self) -> None:
        nodes = self.nodes
        judged = [group for group in self._groups if self._needs_bench(group.members)]
        for group, sight in zip(judged, sights(nodes, [group.members for group in judged], self._outside)):
            group.bench = Bench(nodes, sight, self._is_ratified)
        if nodes.reviewed:
            for group in judged:
                if group.bench is not None:
                    self._review(group.members, group.bench.sight)
        nodes.join_names(lambda node: node not in self._retractions)
        self._resolves()
        for group in self._groups:
            if group.bench is None:
                self._settle_plain(group.members)
            else:
                self._settle_judged(group.members, group.bench)

    def _needs_bench(self, members: list[int]) -> bool:
        """Say whether more than place decides: anything but openings, endings and renames written in a row."""
        nodes = self.nodes
        events, roles = nodes.events, nodes.roles
        for node in members:
            role = roles[node]
            if role in (OPEN, END):
                event = events[node]
                if event.supersedes or event.effect or event.source or event.redacted == "approach":
                    return True
            elif role not in (OTHER, RENAME):
                return True
        return len(members) > 1 and not is_line(nodes, members)

    def _line(self, slot: int) -> Lineage:
        line = self._line_of.get(slot)
        if line is None:
            name = self.nodes.slot_names[slot]
            assert name is not None
            lineages = self.nodes.lines.get(name[0])
            token = (name[0], lineages.root(name[1])) if lineages else slot
            line = self._lineages.get(token)
            if line is None:
                line = self._lineages[token] = Lineage(name[0], slot)
            self._line_of[slot] = line
        return line

    def _settle_plain(self, members: list[int]) -> None:
        """Settle what was written in a row and holds no closing: the last one decides."""
        nodes = self.nodes
        lines: dict[int, Lineage] = {}
        for node in members:
            role = nodes.roles[node]
            if role == OTHER or nodes.slot_names[nodes.slot_of[node]] is None:
                continue  # with its entity hidden an event is on no key (R5)
            line = self._line(nodes.slot_of[node])
            lines[line.slot] = line
            line.latest = node
            if role != RENAME:
                key = line.key(nodes.approach_key(nodes.events[node].approach))
                key.changes.append(node)
                if role == END and not key.approach:
                    add_node(line, "ends", node)
        for line in lines.values():
            for key in line.keys.values():
                last = max(key.changes[-1:] + line.ends[-1:])
                key.verdict = "active" if nodes.roles[last] == OPEN else "removed"
                key.subject = last

    # --- R6: reviews -------------------------------------------------------------------------

    def _is_ratified(self, node: int) -> bool:
        return node in self._ratifications or self.nodes.is_person(node)

    def _review(self, members: list[int], sight: Sight) -> None:
        """Work out what the reviews of a group come to: the later ones first, for they decide on the earlier."""
        nodes = self.nodes
        reviewed = [node for node in members if node in nodes.reviewed]
        # What saw more is later; a review comes after what it is about, even where that has no bit.
        reviewed.sort(key=lambda node: (-sight.down(node).bit_count(), nodes.roles[node] != REVIEW, node))
        for node in reviewed:
            reviews = [review for review in nodes.reviewed[node] if review not in self._retractions]
            ratifications = [
                review
                for review in reviews
                if nodes.events[review].action in ("ratify", "resolve") and nodes.is_person(review)
            ]
            if ratifications:
                self._ratifications[node] = ratifications
            in_force = []
            late: dict[int, list[int]] = {}
            for review in reviews:
                if self._holds(review, node, late):
                    in_force.append(review)
            left = newest(sight, late, in_force)
            trusts = {TRUST_OF[nodes.events[review].action] for review in left}
            if len(trusts) > 1:
                self._trusts[node] = "disputed"
                self._contradicted.update(left)
            elif trusts:
                self._trusts[node] = trusts.pop()
            if self._trusts.get(node) == "retracted":
                self._retractions[node] = left
            elif self._trusts.get(node) == "disputed":
                self._objections[node] = [
                    (review, late.get(review, []))
                    for review in in_force
                    if nodes.events[review].action == "dispute"
                    or (nodes.events[review].action == "retract" and review in left)
                ]

    def _holds(self, review: int, node: int, late: dict[int, list[int]]) -> bool:
        """Say whether a review is in force on `node`; notes what it waits on, is void on, needed ratifying for (R7)."""
        nodes = self.nodes
        event = nodes.events[review]
        if nodes.is_person(review):
            return True
        if event.action in ("ratify", "resolve"):
            return False  # void, see `effect`
        needs = self._is_ratified(node) or event.effect == "when-ratified"
        if event.action == "retract":
            if not self._is_ratified(node) and not nodes.is_authored_by_same(review, node):
                self._void_on.setdefault(review, []).append(node)
                return False
            # Parting names lifts what the rename carried.
            needs = needs or self._is_rename(node)
        if needs:
            if review not in self._ratifications:
                self._waits_on.setdefault(review, []).append(node)
                return False
            late[review] = self._ratifications[review]
        return True

    def _is_rename(self, node: int) -> bool:
        event = self.nodes.events[node]
        return event.change_type == "rename" or (event.kind == "link" and bool(event.fields.get("renames")))

    def _resolves(self) -> None:
        """Note what each person's resolve keeps; one that keeps a resolve keeps what that keeps."""
        nodes = self.nodes
        targets = {
            node: nodes.of(target for event in nodes.all_of(node) for target in event.targets)
            for node, role in enumerate(nodes.roles)
            if role == REVIEW and nodes.events[node].action == "resolve" and nodes.is_person(node)
        }
        for node in targets:
            kept: list[int] = []
            followed = {node}
            waiting = [*targets[node]]
            while waiting:
                target = waiting.pop()
                if target not in followed:
                    followed.add(target)
                    if target in targets:
                        waiting += targets[target]
                    else:
                        kept.append(target)
            self._kept[node] = sorted(kept)

    # --- R5, R7: keys and authority ----------------------------------------------------------

    def _settle_judged(self, members: list[int], bench: Bench) -> None:
        nodes, roles, events = self.nodes, self.nodes.roles, self.nodes.events
        hidden = self._hidden_keys(members)
        lines: dict[int, Lineage] = {}
        lifts: dict[int, list[int]] = {}
        closings = []
        for node in members:
            role = roles[node]
            if role in (OTHER, REVIEW, MARK) or node in self._retractions:
                continue
            event = events[node]
            if event.entity_path:
                line = self._line(nodes.slot_of[node])
                lines[line.slot] = line
                line.latest = node
                if role in (OPEN, CLOSE, END):
                    key = line.key(hidden[node] if node in hidden else nodes.approach_key(event.approach))
                    key.changes.append(node)
                    bench.key_of[node] = key
                    if role == END:
                        add_node(key if key.approach else line, "ends", node)
                    elif role == CLOSE:
                        closings.append(node)
                        if not key.approach and event.change_type == "reject":
                            add_node(line, "wholes", node)
            if role in (OPEN, LIFT):
                self._weigh_opening(node, bench, lifts)
        self._open(members, bench, lifts)
        # A closing that another one saw comes first: that one may wait on it.
        closings.sort(key=lambda node: bench.sight.down(node).bit_count())
        weighed: dict[int, tuple[int, int]] = {}
        for node in closings:
            self._weigh_closing(node, bench, weighed)
        for node in closings:
            if node not in self._waits:
                self._close(bench.key_of[node], node, node)
        self._lift(bench, lifts, lines)
        for line in lines.values():
            for key in line.keys.values():
                bench.settle(key)
        self._weigh_marks(members, bench)

    def _hidden_keys(self, members: list[int]) -> dict[int, str]:
        """Return the keys of changes whose approach is hidden: that of what it targets or what targets it (R5)."""
        nodes = self.nodes
        hidden = [
            node
            for node in members
            if nodes.roles[node] in (OPEN, CLOSE, END) and nodes.events[node].redacted == "approach"
        ]
        if not hidden:
            return {}
        ties: dict[int, list[int]] = {node: [] for node in hidden}
        for node in members:
            if nodes.roles[node] in (OPEN, CLOSE, END) and nodes.events[node].entity_path:
                for target in nodes.of(target for event in nodes.all_of(node) for target in event.targets):
                    if (
                        nodes.roles[target] in (OPEN, CLOSE, END)
                        and nodes.events[target].entity_path
                        and self._line(nodes.slot_of[target]) is self._line(nodes.slot_of[node])
                    ):
                        if node in ties:
                            ties[node].append(target)
                        if target in ties:
                            ties[target].append(node)
        keys: dict[int, str] = {}
        for start in hidden:
            if start in keys:
                continue
            cluster = [start]
            shown = set()
            for node in cluster:  # grows as it goes
                for other in ties[node]:
                    if other not in ties:
                        shown.add(nodes.approach_key(nodes.events[other].approach))
                    elif other not in cluster:
                        cluster.append(other)
            # A reject that closed more than one key, or the empty one, was a whole one.
            rejects = any(nodes.events[node].change_type == "reject" for node in cluster)
            if not shown:
                found = f"[hidden {min(event.id for node in cluster for event in nodes.all_of(node))}]"
            elif rejects and ("" in shown or len(shown) > 1):
                found = ""
            else:
                found = min(shown - {""}, default="")
            for node in cluster:
                keys[node] = found
        return keys

    def _wait_or_stand(self, node: int, against: int, bench: Bench) -> None:
        if node in self._ratifications:
            bench.add_late(node, self._ratifications[node])
        else:
            self._waits[node] = against

    def _weigh_opening(self, node: int, bench: Bench, lifts: dict[int, list[int]]) -> None:
        """Note which closers a supersede, or an opening with `supersedes`, names, and whether it waits."""
        nodes = self.nodes
        named = nodes.of(step for event in nodes.all_of(node) for step in event.supersedes)
        closers = [
            other
            for other in named
            if nodes.roles[other] == CLOSE or any(nodes.roles[kept] == CLOSE for kept in self._kept.get(other, ()))
        ]
        if closers:
            lifts[node] = closers
        elif nodes.roles[node] == LIFT:
            self._nameless.add(node)
            return
        if not nodes.is_person(node):
            against = [other for other in closers if self._is_ratified(other) and other not in self._retractions]
            if against or nodes.events[node].effect == "when-ratified":
                self._wait_or_stand(node, bench.mask(against), bench)

    def _open(self, members: list[int], bench: Bench, lifts: dict[int, list[int]]) -> None:
        """Hand the opening acts in force, and what resolves keep, to the keys that they open or close."""
        nodes = self.nodes
        for node, key in bench.key_of.items():
            if nodes.roles[node] == OPEN and node not in self._waits:
                key.openers[node] = node
        for node, named in lifts.items():
            if node not in self._waits:
                self._reopen(named, bench, node, node)
        for node in members:
            if node in self._kept and node not in self._retractions and nodes.is_person(node):
                for kept in self._kept[node]:
                    if kept in self._retractions:
                        continue  # R8b: then the resolve has no force
                    if kept in bench.key_of and nodes.roles[kept] == CLOSE:
                        self._close(bench.key_of[kept], node, kept)
                    elif kept in bench.key_of and nodes.roles[kept] == OPEN:
                        bench.key_of[kept].openers[node] = kept
                    if kept in lifts:
                        self._reopen(lifts[kept], bench, node, kept)

    def _reopen(self, named: list[int], bench: Bench, act: int, subject: int) -> None:
        for closer in named:
            for closing in self._kept.get(closer, [closer]):
                key = bench.key_of.get(closing)
                if key is None or self.nodes.roles[closing] != CLOSE:
                    continue
                add_act(key.lineage if self._is_whole(closing, key) else key, "openers", act, subject)

    def _close(self, key: Key, act: int, subject: int) -> None:
        add_act(key.lineage if self._is_whole(subject, key) else key, "closers", act, subject)

    def _is_whole(self, closing: int, key: Key) -> bool:
        return not key.approach and self.nodes.events[closing].change_type == "reject"

    def _reached(self, key: Key, closing: int) -> list[Key]:
        return list(key.lineage.keys.values()) if self._is_whole(closing, key) else [key]

    def _weigh_closing(self, node: int, bench: Bench, weighed: dict[int, tuple[int, int]]) -> None:
        """Note whether a reject or revert goes against an opening act that a person ratified (R7)."""
        if self.nodes.is_person(node) or self.nodes.events[node].source:  # what is imported closes by its time (R8c)
            return
        key = bench.key_of[node]
        against = 0
        for reached in self._reached(key, node):
            against |= self._opened_by_person(node, reached, bench, weighed)
        if against or self.nodes.events[node].effect == "when-ratified":
            self._wait_or_stand(node, against, bench)

    def _opened_by_person(self, node: int, key: Key, bench: Bench, weighed: dict[int, tuple[int, int]]) -> int:
        """Return the mask of the person-ratified opening acts of `key` that the closing saw, but for those that a
        person's closing, also seen, had closed."""
        sight = bench.sight
        if id(key) not in weighed:
            opened = [act for act in {**key.openers, **key.lineage.openers} if self._is_ratified(act)]
            closed = [
                act
                for act in [*key.changes, *key.lineage.wholes, *key.closers, *key.lineage.closers]
                if (self.nodes.roles[act] == CLOSE or act in self._kept) and self._is_ratified(act)
            ]
            weighed[id(key)] = (bench.mask(opened), bench.mask(closed))
        opened_mask, closed_mask = weighed[id(key)]
        known = bench.down(node)
        left = known & opened_mask
        seen = known & closed_mask & ~sight.bits[node]
        while left and seen:
            # The latest first: where all was written in a row, it closed all that there is.
            closer = sight.acts[seen.bit_length() - 1]
            seen &= ~sight.bits[closer]
            left &= ~self._closed_by(closer, left, bench)
        return left

    def _closed_by(self, closer: int, openers: int, bench: Bench) -> int:
        """Return the mask of those of `openers` that the closer closes (R8a, R8c)."""
        events = self.nodes.events
        told = [act for act in bench.sight.among(openers) if events[act].source] if self._imported else []
        if events[closer].source:
            closed = 0
        else:
            closed = bench.down(closer) & openers
        when = self.nodes.time(closer)
        return closed | bench.mask(act for act in told if self.nodes.time(act) <= when)

    def _lift(self, bench: Bench, lifts: dict[int, list[int]], lines: dict[int, Lineage]) -> None:
        """Note for each closer what lifts it, what would, and what disputes it (R8b, R8d)."""
        naming: dict[int, list[int]] = {}
        for node, named in lifts.items():
            for closer in named:
                naming.setdefault(closer, []).append(node)
        closers: dict[int, int] = {}
        for line in lines.values():
            closers.update(line.closers)
            for key in line.keys.values():
                closers.update(key.closers)
        for act, subject in closers.items():
            lifting = list(naming.get(act, ()))
            objections = list(self._objections.get(act, ()))
            if act != subject:  # a resolve: what names the closing that it keeps lifts it too, if it saw the resolve
                lifting += [
                    node
                    for node in naming.get(subject, ())
                    if node not in lifting and knows(bench.sight, bench.late, node, act)
                ]
                objections += self._objections.get(subject, ())
            for node in lifting:
                where = bench.waiting_lifts if node in self._waits else bench.lifts
                where.setdefault(act, []).append(node)
            if objections:
                bench.objections[act] = objections
        bench.lifted = bench.mask(bench.lifts)

    # --- R11: marks --------------------------------------------------------------------------

    def _weigh_marks(self, members: list[int], bench: Bench) -> None:
        nodes = self.nodes
        for node in members:
            pairs: dict[tuple[str, str], list[int]] = {}
            for mark in nodes.marked.get(node, ()):
                if mark in self._retractions:
                    continue
                action = nodes.events[mark].action
                if not nodes.is_person(mark) and (
                    action in ("seal", "unseal") or self._is_ratified(node) or not nodes.is_authored_by_same(mark, node)
                ):
                    self._void_on.setdefault(mark, []).append(node)
                    continue
                pairs.setdefault(_MARK_PAIRS[action], []).append(mark)
            shown = []
            for (hiding, showing), marks in pairs.items():
                actions = {nodes.events[mark].action for mark in newest(bench.sight, {}, marks)}
                action = showing if showing in actions else hiding
                if action in _MARKS_SHOWN:
                    shown.append(action)
            if shown:
                self._marks[node] = sorted(shown)
