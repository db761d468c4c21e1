"""Verdicts: what a set of events comes to (R1-R13). The replay rules of format 1, as one pure function.

`judge` reads nothing but the set: no order of it, no clock (but for what was imported), no configuration. Give
it whole components: with an event everything that is on its lineage, that it targets or supersedes, and that
targets or supersedes it; and the renames (with their reviews) that touch a name there or what it lies
below. More than that changes no answer. What the events saw outside of the set is asked for by `outside`.

How it is done stands in `settled`; here are the answers.

The rules belong to format 1 and never change for its events: two versions must not see two states. What the
guard may refuse beyond them is in `rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from gitmem.core import entities
from gitmem.core.events import Event
from gitmem.core.ids import short
from gitmem.core.keys import Bench, Key, Lineage
from gitmem.core.lineages import Lineages, entity_key
from gitmem.core.nodes import CLOSE, OPEN
from gitmem.core.settled import TRUST_OF, Settled
from gitmem.core.sight import ones
from gitmem.core.vocabulary import VERDICTS

#: Actions that are a person's alone (R7).
PERSONAL = ("ratify", "resolve", "seal", "unseal")
#: In what order decisions are shown, the worst first.
_RANK = {verdict: rank for rank, verdict in enumerate(VERDICTS)}
_NAMED_MAX = 3


class Decision:
    """What stands for one (scope, entity, approach).

    entity_path   the name that the lineage was last written by
    names         all its names, folded
    approach_key  see `approach.key`; one that starts with `[` is no key of a text (a hidden approach)
    approach      in words, "" where the decision is about the entity itself
    standing      the id of the event that decides
    against       the ids that contest it
    since         when the deciding event took place: its `valid_from`, else its `recorded_at`
    events        the ids behind it, in (clock, id) order
    """

    __slots__ = (
        "against",
        "approach",
        "approach_key",
        "entity_path",
        "events",
        "names",
        "scope",
        "since",
        "standing",
        "trust",
        "verdict",
    )

    scope: str
    entity_path: str
    names: frozenset[str]
    approach_key: str
    approach: str
    verdict: str
    trust: str
    standing: str
    against: list[str]
    since: str
    events: list[str]

    def __repr__(self) -> str:
        return f"<Decision {self.entity_path} {self.approach!r}: {self.verdict}, {self.trust}, {short(self.standing)}>"


def judge(events: Iterable[Event], outside: Callable[[str], Iterable[str]] | None = None) -> Judgement:
    """Return what `events` come to.

    `outside(id)` gives the `after`, `supersedes` and `targets` of an event of the log that is not among them,
    or nothing. It is asked only where writers did not know of each other and an edge leads out of the set; to
    bound that walk it may give nothing for an event that can't reach the set any more.
    """
    return Judgement(events, outside or _nothing)


def _nothing(event_id: str) -> Iterable[str]:
    return ()


class Standing:
    """A closing that stands for a key, as the guard sees it.

    event      the closing change
    disputed   it is disputed now, so what is opened past it contests it and is not void (R8d)
    waiting    the supersedes that wait for a person and would lift it; empty where it is not all covered by them
    """

    __slots__ = ("disputed", "event", "waiting")

    def __init__(self, event: Event, disputed: bool, waiting: list[Event]) -> None:
        self.event = event
        self.disputed = disputed
        self.waiting = waiting


class Judgement(Settled):
    """What a set of events comes to. Ids that are not in the set raise KeyError."""

    # --- answers: decisions ------------------------------------------------------------------

    def decisions(self) -> list[Decision]:
        """Return what stands, the worst first, then by approach, scope and name."""
        found = [self._decision(key) for line in self._lineages.values() for key in line.keys.values() if key.verdict]
        found.sort(key=lambda one: (_RANK[one.verdict], one.approach, one.scope, one.entity_path, one.approach_key))
        return found

    def _decision(self, key: Key) -> Decision:
        events = self.nodes.events
        line = key.lineage
        deciding = events[key.subject]
        one = Decision()
        one.scope = line.scope
        one.entity_path = events[line.latest].entity_path
        one.names = self.nodes.names_of(*self._name(line.slot))
        one.approach_key = key.approach
        one.approach = self._approach(key)
        one.verdict = key.verdict
        one.trust = self._trust(key.subject)
        one.standing = deciding.id
        one.against = [events[act].id for act in sorted(key.against)]
        one.since = deciding.valid_from or deciding.recorded_at
        one.events = [event.id for event in self._behind(key)]
        return one

    def _name(self, slot: int) -> tuple[str, str]:
        name = self.nodes.slot_names[slot]
        assert name is not None
        return name

    def _approach(self, key: Key) -> str:
        """Return the approach as the deciding event has it, else as the last change of the key has."""
        if not key.approach:
            return ""
        events = self.nodes.events
        for node in (key.subject, *sorted(key.changes, reverse=True)):
            if events[node].approach and self.nodes.approach_key(events[node].approach) == key.approach:
                return events[node].approach
        return "[redacted]"

    def _behind(self, key: Key) -> list[Event]:
        acts = {*key.changes, *key.lineage.ends}
        if key.openers or key.closers:
            acts.update(key.openers, key.openers.values(), key.closers, key.closers.values())
        return [event for act in sorted(acts) for event in self.nodes.all_of(act)]

    # --- answers: one event ------------------------------------------------------------------

    def event(self, event_id: str) -> Event | None:
        """Return the event of the set that has this id."""
        node = self.nodes.index.get(event_id)
        return None if node is None else next(event for event in self.nodes.all_of(node) if event.id == event_id)

    def standing_for(self, event_id: str) -> Event:
        """Return the event that stands for this one and its copies (R3): the first of them."""
        return self.nodes.events[self.nodes.index[event_id]]

    def trust(self, event_id: str) -> str:
        """Return proposed, ratified, disputed or retracted (R6)."""
        return self._trust(self.nodes.index[event_id])

    def _trust(self, node: int) -> str:
        known = self._trusts.get(node)
        if known is None:
            born_ratified = self.nodes.is_person(node) or any(
                event.basis == "evidence" for event in self.nodes.all_of(node)
            )
            known = "ratified" if born_ratified else "proposed"
        return known

    def person_ratified(self, event_id: str) -> bool:
        """Say whether it is a person's event, or the target of a person's ratify or resolve in force."""
        return self._is_ratified(self.nodes.index[event_id])

    def saw(self, later: str, earlier: str) -> bool:
        """Say whether one event saw another (R2), over all paths in and out of the set."""
        nodes = self.nodes
        goal: int | str = nodes.index.get(earlier, earlier)
        start = nodes.index[later]
        seen: set[int | str] = set()
        waiting: list[int | str] = [start]
        while waiting:
            one = waiting.pop()
            steps = self._outside(one) if isinstance(one, str) else nodes.steps(one)
            for step in steps:
                there = nodes.index.get(step, step)
                if there == goal and there != start:
                    return True
                if there not in seen:
                    seen.add(there)
                    waiting.append(there)
        return False

    def marks(self, event_id: str) -> list[str]:
        """Return which of seal, mute and pin the event bears now (R11)."""
        return list(self._marks.get(self.nodes.index[event_id], ()))

    def effect(self, event_id: str) -> tuple[str, str]:
        """Return what the event does (applied, pending, contested, void) and why, in a few words or none (R10)."""
        nodes = self.nodes
        node = nodes.index[event_id]
        event = nodes.events[node]
        bench = self._bench(node)
        if node in self._retractions:
            return "void", f"retracted by {self._ids(self._retractions[node])}"
        if event.newer:
            return "applied", "written by a newer gitmem; without effect here"
        if bench is not None and node in self._waits:
            against = self._masked(self._waits[node], bench)
            return "pending", f"waits for a person: against {against}" if against else "waits for a person"
        if node in self._waits_on:
            return "pending", f"waits for a person: against {self._ids(self._waits_on[node])}"
        if bench is not None and node in bench.pending:
            return "pending", f"waits for {self._ids(bench.pending[node])}, which waits for a person"
        if bench is not None and node in bench.void:
            knew = bench.void[node]
            return "void", f"{self._verb(bench.sight.first(knew))} by {self._masked(knew, bench)}, which it knew"
        if event.action in PERSONAL and not nodes.is_person(node):
            return "void", f"only a person may {event.action}"
        if node in self._void_on:
            return "void", f"{self._ids(self._void_on[node])} is another author's, or a person's"
        if node in self._nameless:
            return "void", "names no closing event"
        if node in self._contradicted:
            return "contested", f"contradicted by {self._ids(self._contradicting(node))}"
        if bench is None:
            return "applied", ""
        if node in bench.contested:
            return "contested", f"never met {self._ids(self._contesting(node))}"
        return "applied", self._remark(node, bench)

    def _remark(self, node: int, bench: Bench) -> str:
        """Say what became of an applied event."""
        key = bench.key_of.get(node)
        if key is None:
            return ""
        if self.nodes.roles[node] == OPEN:
            closers = bench.relation(node, key.mask, key.times)[0]
            return f"closed by {self._masked(closers, bench)}" if closers else ""
        if self.nodes.roles[node] == CLOSE and node not in key.lineage.standing:
            lifting = self._lifting(node, bench)
            return f"lifted by {self._ids(lifting)}" if lifting else "overtaken by later history"
        return ""

    def _verb(self, closer: int) -> str:
        subject = self._kept.get(closer, [closer])[0]
        return "rejected" if self.nodes.events[subject].change_type == "reject" else "reverted"

    def _ids(self, nodes: Iterable[int]) -> str:
        """Return ids as people are shown them, the earliest few."""
        several = sorted(nodes)
        return self._short(several[:_NAMED_MAX], len(several))

    def _masked(self, mask: int, bench: Bench) -> str:
        """The same for a mask of acts, however many there are."""
        return self._short([bench.sight.acts[place] for place in islice(ones(mask), _NAMED_MAX)], mask.bit_count())

    def _short(self, few: list[int], count: int) -> str:
        named = ", ".join(short(self.nodes.events[node].id) for node in few)
        return f"{named} and {count - len(few)} more" if count > len(few) else named

    def _contradicting(self, review: int) -> list[int]:
        nodes = self.nodes
        action = nodes.events[review].action
        return [
            other
            for target in nodes.of(nodes.events[review].targets)
            for other in nodes.reviewed.get(target, ())
            if other in self._contradicted and TRUST_OF[nodes.events[other].action] != TRUST_OF[action]
        ]

    def _contesting(self, node: int) -> list[int]:
        found: set[int] = set()
        for key in self._keys_of_group(node):
            if node in key.against:
                found.update(key.contested)
            elif node in key.contested:
                found.update(key.against)
        found.discard(node)
        return list(found)

    # --- answers: one key --------------------------------------------------------------------

    def key_of(self, scope: str, name: str, approach_key: str) -> Key | None:
        """Return the settled key, or None where nothing was recorded on it and nothing reaches it."""
        line = self.lineage_of(scope, name)
        return line.keys.get(approach_key) if line else None

    def standing(self, scope: str, name: str, approach_key: str) -> list[Standing]:
        """Return the closings that stand for a key; whole rejects do for one that nothing was recorded on yet."""
        line = self.lineage_of(scope, name)
        bench = self._bench_of(line) if line else None
        if line is None or bench is None:
            return []
        key = line.keys.get(approach_key)
        if key is not None:
            acts = key.standing
        else:
            acts = {act: subject for act, subject in line.closers.items() if act not in bench.lifts}
        return self._standing(acts, bench)

    def wholes(self, scope: str, name: str) -> list[Standing]:
        """Return the whole rejects that stand: for the entity itself, so that what lies below is closed too."""
        return [one for one in self.standing(scope, name, "") if one.event.change_type == "reject"]

    def standing_on(self, scope: str, name: str) -> list[Standing]:
        """Return the closings that stand for any key of the lineage."""
        line = self.lineage_of(scope, name)
        bench = self._bench_of(line) if line else None
        if line is None or bench is None:
            return []
        acts = {act: subject for key in line.keys.values() for act, subject in key.standing.items()}
        return self._standing(acts, bench)

    def _standing(self, acts: dict[int, int], bench: Bench) -> list[Standing]:
        events = self.nodes.events
        acts_of: dict[int, list[int]] = {}
        for act, subject in acts.items():
            acts_of.setdefault(subject, []).append(act)
        found = []
        for subject in sorted(acts_of):
            firm = [act for act in acts_of[subject] if act not in bench.objections]
            waiting: set[int] = set()
            if firm and all(act in bench.waiting_lifts for act in firm):
                waiting.update(lift for act in firm for lift in bench.waiting_lifts[act])
            found.append(Standing(events[subject], not firm, [events[lift] for lift in sorted(waiting)]))
        return found

    def sides(self, key: Key) -> tuple[list[Event], list[Event]]:
        """Return the closings that are contested on a key, and what contests them."""
        events = self.nodes.events
        return (
            [events[node] for node in sorted({key.closers[act] for act in key.contested})],
            [events[node] for node in sorted(key.against)],
        )

    def is_side(self, event_id: str) -> bool:
        """Say whether the event, or a resolve that keeps it, is on a side of a contested key (G9)."""
        node = self.nodes.index[event_id]
        for key in self._keys_of_group(node):
            if node in key.against or node in key.against.values():
                return True
            if node in key.contested or any(key.closers[act] == node for act in key.contested):
                return True
        return False

    def open_changes(self, key: Key) -> list[Event]:
        """Return the opening changes of a key that are in force and that no standing closing closes, oldest first."""
        bench = self._bench_of(key.lineage)
        events, roles = self.nodes.events, self.nodes.roles
        if bench is None:
            return [events[node] for node in key.changes if roles[node] == OPEN]
        standing = bench.mask(key.standing)
        return [
            events[node]
            for node in sorted(key.changes)
            if roles[node] == OPEN
            and node in key.openers
            and node not in bench.void
            and node not in bench.pending
            and not bench.relation(node, key.mask, key.times)[0] & standing
        ]

    def standing_events(self, key: Key) -> list[Event]:
        """Return the closings that stand for a key, oldest first."""
        return [self.nodes.events[node] for node in sorted(set(key.standing.values()))]

    def is_standing(self, event_id: str) -> bool:
        """Say whether a closing stands for any of its keys."""
        node = self.nodes.index[event_id]
        bench = self._bench(node)
        return bench is not None and node in bench.key_of and node in bench.key_of[node].lineage.standing

    def approach_of(self, event_id: str) -> str:
        """Return the approach key of an opening, closing or ending change that is not retracted, else ""."""
        node = self.nodes.index[event_id]
        bench = self._bench(node)
        if bench is None:
            return self.nodes.approach_key(self.nodes.events[node].approach)
        return bench.key_of[node].approach if node in bench.key_of else ""

    def is_rename(self, event_id: str) -> bool:
        """Say whether the event joins names: then only a person parts them again (R7)."""
        return self._is_rename(self.nodes.index[event_id])

    def opened_by_person(self, key: Key) -> list[Event]:
        """Return the opening acts of a key that a person ratified and no person's closing has closed (R7)."""
        bench = self._bench_of(key.lineage)
        if bench is None:
            return [event for event in self.open_changes(key) if self.person_ratified(event.id)]
        closed = bench.mask(
            act for act, subject in key.closers.items() if self._is_ratified(act) or self._is_ratified(subject)
        )
        return [
            self.nodes.events[act]
            for act in sorted(key.openers)
            if self._is_ratified(act) and not bench.relation(act, closed, key.times)[0]
        ]

    def hindrances(self, event_id: str) -> list[str]:
        """Return what stands in the way of ratifying a change (G8): what closed an opening, what lifted a closing."""
        node = self.nodes.index[event_id]
        bench = self._bench(node)
        key = bench.key_of.get(node) if bench else None
        if bench is None or key is None or node in self._waits:
            return []
        events = self.nodes.events
        if self.nodes.roles[node] == OPEN:
            standing = bench.mask(key.standing)
            closers = bench.void.get(node, 0) | (bench.relation(node, key.mask, key.times)[0] & standing)
            if node in bench.pending:
                closers |= bench.relation(node, key.mask, key.times)[1] & standing
            return [events[closer].id for closer in sorted({key.closers[act] for act in bench.sight.among(closers)})]
        if self.nodes.roles[node] == CLOSE and node not in key.lineage.standing:
            lifting = self._lifting(node, bench)
            if not lifting:  # overtaken
                lifting = {
                    opener
                    for reached in self._reached(key, node)
                    for opener in reached.openers
                    if bench.relation(opener, bench.mask([node]), reached.times)[3]
                }
            return [events[lift].id for lift in sorted(lifting)]
        return []

    def closed_by_parent(self, scope: str, name: str, approach_key: str = "") -> list[str]:
        """Return what closes an entity from above (R13): standing whole rejects of what it lies below, in its scope and
        those above, and the closings that stand for it in scopes above. A decision with any is never plainly active."""
        found: dict[str, None] = {}
        for where in (scope, *entities.ancestors_scope(scope)):
            if where != scope:
                found.update((one.event.id, None) for one in self.standing(where, name, approach_key))
            for parent in entities.parents(entity_key(name)):
                found.update((one.event.id, None) for one in self.wholes(where, parent))
        return list(found)

    def would_join(self, scope: str, one: str, other: str) -> list[list[Lineage]]:
        """Return the lineages that a rename of `one` to `other` would make one, group by group (R4)."""
        nodes = self.nodes
        named = {name: slot for (where, name), slot in nodes.slots.items() if where == scope}
        pairs = nodes.rename_pairs(scope, lambda node: node not in self._retractions)
        joined = Lineages(named, [*pairs, (entity_key(one), entity_key(other))])
        groups: dict[int, dict[int, Lineage]] = {}
        for name, slot in named.items():
            line = self._line_of.get(slot)
            if line is not None:
                groups.setdefault(joined.root(name), {})[line.slot] = line
        return [list(group.values()) for group in groups.values() if len(group) > 1]

    # --- answers: what closed what -----------------------------------------------------------

    def closed_by(self, event_id: str) -> list[str]:
        """Return the closing changes that closed this opening, standing or lifted since, in (clock, id) order."""
        node = self.nodes.index[event_id]
        bench = self._bench(node)
        key = bench.key_of.get(node) if bench else None
        if bench is None or key is None or node not in key.openers:
            return []
        return [self.nodes.events[closer].id for closer in sorted(self._closers_of(node, key, bench))]

    def closes(self, event_id: str) -> list[str]:
        """Return the opening changes that this closing closed, in (clock, id) order."""
        node = self.nodes.index[event_id]
        bench = self._bench(node)
        found: set[int] = set()
        if bench is not None and node in bench.key_of:
            for key in self._reached(bench.key_of[node], node):
                if node not in key.closers:
                    continue
                speaking = bench.mask(act for act, subject in key.closers.items() if subject == node)
                for opener, subject in key.openers.items():
                    if subject == opener and self.nodes.roles[opener] == OPEN and opener not in found:
                        if bench.relation(opener, speaking, key.times)[0]:
                            found.add(opener)
        return [self.nodes.events[opener].id for opener in sorted(found)]

    def _closers_of(self, opener: int, key: Key, bench: Bench) -> set[int]:
        closers = bench.relation(opener, key.mask, key.times)[0]
        return {key.closers[act] for act in bench.sight.among(closers)}

    def lifted_by(self, event_id: str) -> list[str]:
        """Return the supersedes and resolves in force that lift this closing for any of its keys."""
        node = self.nodes.index[event_id]
        bench = self._bench(node)
        if bench is None:
            return []
        return [self.nodes.events[act].id for act in sorted(self._lifting(node, bench))]

    def _lifting(self, closing: int, bench: Bench) -> set[int]:
        found = set(bench.lifts.get(closing, ()))
        key = bench.key_of.get(closing)
        for reached in self._reached(key, closing) if key else ():
            if closing in reached.closers:
                for act in reached.resolves:
                    if bench.down(act) & bench.sight.bits[closing]:
                        found.add(act)
        return found

    def superseded_by(self, event_id: str) -> list[str]:
        """Return the changes in force that name this event in `supersedes`, in (clock, id) order."""
        nodes = self.nodes
        node = nodes.index[event_id]
        return [
            nodes.events[other].id
            for other in sorted(self._pointing(node))
            if other not in self._retractions
            and other not in self._waits
            and node in nodes.of(step for event in nodes.all_of(other) for step in event.supersedes)
        ]

    def _bench(self, node: int) -> Bench | None:
        group = self._group_of.get(self.nodes.roots[self.nodes.slot_of[node]])
        return group.bench if group else None

    def _bench_of(self, line: Lineage) -> Bench | None:
        return self._group_of[self.nodes.roots[line.slot]].bench

    def _keys_of_group(self, node: int) -> list[Key]:
        bench = self._bench(node)
        keys: dict[int, Key] = {}
        if bench is not None:
            for key in bench.key_of.values():
                for reached in key.lineage.keys.values():
                    keys[id(reached)] = reached
        return list(keys.values())

    # --- answers: lineages -------------------------------------------------------------------

    def lineage(self, scope: str, name: str) -> frozenset[str]:
        """Return the folded names that are one entity with `name` (any case) in `scope`, itself included."""
        return self.nodes.names_of(scope, entity_key(name))

    def lineage_of(self, scope: str, name: str) -> Lineage | None:
        """Return the settled lineage of `name`, or None where nothing was recorded on it."""
        for known in self.lineage(scope, name):
            slot = self.nodes.slots.get((scope, known))
            line = None if slot is None else self._line_of.get(slot)
            if line is not None:
                return line
        return None

    def members(self, scope: str, name: str) -> list[str]:
        """Return the lineage's events by id: changes on its names, and whatever targets or supersedes one of them."""
        return [event.id for node in sorted(self._members(scope, name)) for event in self.nodes.all_of(node)]

    def _members(self, scope: str, name: str) -> set[int]:
        nodes = self.nodes
        slots = {nodes.slots.get((scope, known)) for known in self.lineage(scope, name)} - {None}
        roots = {nodes.roots[slot] for slot in slots if slot is not None}
        own = {node for root in roots for node in nodes.groups.get(root, ()) if nodes.slot_of[node] in slots}
        return self._spread(own, self._pointing)

    def _pointing(self, node: int) -> list[int]:
        """Return the nodes that target or supersede the node."""
        if self._pointers is None:
            self._pointers = {}
            for other in range(len(self.nodes.events)):
                for there in self.nodes.of(self.nodes.steps_aimed(other)):
                    self._pointers.setdefault(there, []).append(other)
        return self._pointers.get(node, [])

    def heads(self, scope: str, names: Iterable[str], event_ids: Iterable[str] = ()) -> list[str]:
        """Return the `after` of a draft (G0), sorted: the heads of the lineages of `names` and of what it points at.

        names      entity paths in `scope`: its own, and the old one of a rename
        event_ids  what it targets or supersedes; what those target or supersede in turn counts too, so that a
                   resolve has seen every lineage that the supersede it keeps lifts
        """
        nodes = self.nodes
        wanted = {(scope, entity_key(name)) for name in names}
        families = []
        for node in nodes.of(event_ids):
            aimed = self._spread({node}, lambda one: nodes.of(nodes.steps_aimed(one)))
            named = {nodes.slot_names[nodes.slot_of[one]] for one in aimed} - {None}
            wanted.update(name for name in named if name is not None)
            if not named:
                families.append(self._spread({node}, self._pointing))
        families += [self._members(where, name) for where, name in wanted]
        return sorted({nodes.events[node].id for family in families for node in self._heads(family)})

    def _heads(self, family: set[int]) -> set[int]:
        """Return the nodes of the family that no other one of it saw."""
        nodes = self.nodes
        left = set(family)
        passed: set[int] = set()
        waiting = list(family)
        while waiting:
            node = waiting.pop()
            for step in nodes.of(nodes.steps(node)):
                if step in family:
                    if step != node:
                        left.discard(step)
                elif step not in passed:
                    passed.add(step)
                    waiting.append(step)
        # Copies that saw each other leave none: then the last one stands for all.
        return left or ({max(family)} if family else set())

    @staticmethod
    def _spread(start: set[int], following: Callable[[int], list[int]]) -> set[int]:
        found = set(start)
        waiting = list(start)
        while waiting:
            for node in following(waiting.pop()):
                if node not in found:
                    found.add(node)
                    waiting.append(node)
        return found
