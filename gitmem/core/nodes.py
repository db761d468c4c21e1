"""Nodes: the events of a set as the rules see them, and the groups that can be judged apart.

Copies of one imported thing are one node (R3). A *slot* is a name in a scope; an event without a name has
one of its own. Slots that some event of the set ties together (a rename that may be in force, a review of
both, a supersede of one written on the other) are one *group*: nothing outside of a group has a say in what
its events come to, but for what they saw. Events that have no say at all (links without renames,
overrides, redactions, newer kinds) tie nothing together; they stand in every group they point into, because
they may be the newest there and what comes after them saw through them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gitmem.core import approach
from gitmem.core.events import Event, hides
from gitmem.core.lineages import Lineages, entity_key
from gitmem.core.objects import order
from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING, ENDING, NEUTRAL, OPENING, SUPERSEDING

# What an event is to the rules.
OTHER, OPEN, CLOSE, END, RENAME, LIFT, REVIEW, MARK = range(8)
_ROLES = {OPENING: OPEN, CLOSING: CLOSE, ENDING: END, NEUTRAL: RENAME, SUPERSEDING: LIFT}
_CHANGE_ROLES = {change_type: _ROLES[word] for change_type, word in CHANGE_TYPES.items()}
_KIND_ROLES = {"review": REVIEW, "mark": MARK}


class Nodes:
    """The nodes of a set of events, in (clock, id) order of their first copy."""

    __slots__ = (
        "_keys",
        "copies",
        "events",
        "groups",
        "index",
        "lines",
        "marked",
        "renames",
        "reviewed",
        "roles",
        "roots",
        "slot_names",
        "slot_of",
        "slots",
    )

    def __init__(self, events: Iterable[Event]) -> None:
        #: node -> its event, the first of its copies
        self.events: list[Event] = []
        #: node -> all its events, where there are several
        self.copies: dict[int, list[Event]] = {}
        #: event id -> node
        self.index: dict[str, int] = {}
        #: node -> OPEN, CLOSE …
        self.roles: list[int] = []
        #: node -> slot
        self.slot_of: list[int] = []
        #: (scope, folded name) -> slot
        self.slots: dict[tuple[str, str], int] = {}
        #: slot -> (scope, folded name), or None where it is one event's own
        self.slot_names: list[tuple[str, str] | None] = []
        #: (node, scope or None for every scope, one name, other name), folded
        self.renames: list[tuple[int, str | None, str, str]] = []
        #: node -> the reviews, the marks that target it
        self.reviewed: dict[int, list[int]] = {}
        self.marked: dict[int, list[int]] = {}
        #: slot -> the slot that stands for its group
        self.roots: list[int] = []
        #: that slot -> the nodes of the group
        self.groups: dict[int, list[int]] = {}
        #: scope -> its lineages by the renames in force; a scope without renames has none (see `line_names`)
        self.lines: dict[str, Lineages] = {}
        self._keys: dict[str, str] = {"": ""}
        self._read(events)
        self._group()

    # --- reading -----------------------------------------------------------------------------

    def _read(self, events: Iterable[Event]) -> None:
        by_id: dict[str, Event] = {}
        for event in events:
            known = by_id.setdefault(event.id, event)
            if known is not event and hides(event.redacted) > hides(known.redacted):
                by_id[event.id] = event  # the more hidden one wins (R1)
        spelt: dict[tuple[str, str], int] = {}
        sources: dict[tuple[object, ...], int] = {}
        index, roles, slot_of, slot_names = self.index, self.roles, self.slot_of, self.slot_names
        for event in sorted(by_id.values(), key=order):
            if event.source:
                structure = self._structure(event)
                twin = sources.setdefault(structure, len(self.events))
                if twin != len(self.events):  # R3
                    index[event.id] = twin
                    self.copies.setdefault(twin, [self.events[twin]]).append(event)
                    continue
            node = len(self.events)
            index[event.id] = node
            self.events.append(event)
            if event.newer:
                roles.append(OTHER)
            elif event.kind == "change":
                roles.append(_CHANGE_ROLES[event.change_type])
            else:
                roles.append(_KIND_ROLES.get(event.kind, OTHER))
            if event.entity_path:
                spelling = (event.scope, event.entity_path)
                slot = spelt.get(spelling, -1)
                if slot < 0:
                    slot = spelt[spelling] = self._slot(event.scope, entity_key(event.entity_path))
                slot_of.append(slot)
                if roles[node] == RENAME and event.renamed_from and event.change_type == "rename":
                    old = slot_names[self._slot(event.scope, entity_key(event.renamed_from))]
                    new = slot_names[slot]
                    if old and new and old != new:
                        self.renames.append((node, event.scope, old[1], new[1]))
            else:
                slot_of.append(len(slot_names))
                slot_names.append(None)
                if event.kind == "link" and not event.newer:
                    for old_path, new_path in event.fields.get("renames", ()):  # type: ignore[attr-defined]
                        one, other = entity_key(old_path), entity_key(new_path)
                        if one != other:
                            self.renames.append((node, None, one, other))

    def _structure(self, event: Event) -> tuple[object, ...]:
        return (
            event.source,
            event.kind,
            event.change_type,
            event.action,
            event.scope,
            entity_key(event.entity_path),
            self.approach_key(event.approach) if event.redacted in ("", "plain") else event.redacted,
            event.valid_from,
            entity_key(event.renamed_from),
        )

    def approach_key(self, text: str) -> str:
        """Return `approach.total_key(text)`, asked once for each text."""
        key = self._keys.get(text)
        if key is None:
            key = self._keys[text] = approach.total_key(text)
        return key

    def _slot(self, scope: str, name: str) -> int:
        slot = self.slots.setdefault((scope, name), len(self.slot_names))
        if slot == len(self.slot_names):
            self.slot_names.append((scope, name))
        return slot

    # --- what a node is ----------------------------------------------------------------------

    def of(self, ids: Iterable[str]) -> list[int]:
        """Return the nodes of those `ids` that are in the set, each once."""
        get = self.index.get
        return list(dict.fromkeys(node for node in map(get, ids) if node is not None))

    def all_of(self, node: int) -> list[Event]:
        """Return the events that are this node."""
        return self.copies.get(node) or [self.events[node]]

    def steps(self, node: int) -> Iterable[str]:
        """Return the ids that the node leads to by one step of *saw*."""
        event = self.events[node]
        if node not in self.copies:
            if not event.supersedes and not event.targets:
                return event.after
            return event.after + event.supersedes + event.targets
        copies = self.copies[node]
        return [step for copy in copies for step in copy.after + copy.supersedes + copy.targets]

    def is_person(self, node: int) -> bool:
        """Say whether this is a person's event."""
        if node in self.copies:
            return any(event.channel == "human" and event.basis == "person" for event in self.copies[node])
        event = self.events[node]
        return event.channel == "human" and event.basis == "person"

    def is_authored_by_same(self, node: int, other: int) -> bool:
        authors = {event.author for event in self.all_of(node)}
        return any(event.author in authors for event in self.all_of(other))

    def time(self, node: int) -> str:
        """Return when an event took place in history (R8c)."""
        return min(event.valid_from or event.recorded_at for event in self.all_of(node))

    def rename_pairs(self, scope: str, in_force: Callable[[int], bool]) -> list[tuple[str, str]]:
        """Return the pairs of names that renames join in `scope`, of those renames that are in force."""
        return [(one, other) for node, where, one, other in self.renames if where in (None, scope) and in_force(node)]

    # --- groups ------------------------------------------------------------------------------

    def _group(self) -> None:
        roles, slot_of, index = self.roles, self.slot_of, self.index
        pointing = []  # nodes that tie together what they point at
        loose = []  # nodes that don't
        tied = set()
        for node, event in enumerate(self.events):
            if roles[node] == OTHER and not event.entity_path:
                loose.append(node)
            elif event.targets or event.supersedes or node in self.copies:
                pointing.append(node)
                for event in self.all_of(node):
                    tied.update(self.of(event.targets))
                    tied.update(self.of(event.supersedes))
                    if roles[node] in (REVIEW, MARK):
                        on = self.reviewed if roles[node] == REVIEW else self.marked
                        for target in self.of(event.targets):
                            if node not in on.setdefault(target, []):
                                on[target].append(node)
        above = list(range(len(self.slot_names)))

        def top(slot: int) -> int:
            while above[slot] != slot:
                above[slot] = slot = above[above[slot]]
            return slot

        pointing += [node for node in loose if node in tied]
        loose = [node for node in loose if node not in tied]
        for node in pointing:
            for event in self.all_of(node):
                for step in event.targets + event.supersedes:
                    there = index.get(step)
                    if there is not None:
                        above[top(slot_of[there])] = top(slot_of[node])
        for scope in self._scopes_with_renames():
            named = self._named(scope)
            lineages = Lineages(named, self.rename_pairs(scope, lambda node: True))
            first: dict[int, int] = {}
            for name, slot in named.items():
                above[top(slot)] = top(first.setdefault(lineages.root(name), slot))
        roots = self.roots = [top(slot) for slot in range(len(above))]
        roots_of: dict[int, set[int]] = {}
        for node in loose:
            into: set[int] = set()
            for step in self.steps_aimed(node):
                there = index.get(step)
                if there is not None:
                    into |= roots_of.get(there) or {roots[slot_of[there]]}
            roots_of[node] = into or {roots[slot_of[node]]}
        groups = self.groups
        for node, slot in enumerate(slot_of):
            if node in roots_of:
                for root in roots_of[node]:
                    groups.setdefault(root, []).append(node)
            else:
                root = roots[slot]
                group = groups.get(root)
                if group is None:
                    groups[root] = [node]
                else:
                    group.append(node)

    def steps_aimed(self, node: int) -> list[str]:
        """Return what the node targets or supersedes."""
        return [step for event in self.all_of(node) for step in event.targets + event.supersedes]

    def _scopes_with_renames(self) -> list[str]:
        if not self.renames:
            return []
        scopes = {where for _, where, _, _ in self.renames}
        if None in scopes:
            return sorted({scope for scope, _ in self.slots})
        return sorted(scope for scope in scopes if scope is not None)

    def _named(self, scope: str) -> dict[str, int]:
        return {name: slot for (where, name), slot in self.slots.items() if where == scope}

    def join_names(self, in_force: Callable[[int], bool]) -> None:
        """Read the lineages of each scope that has renames, of those renames that are in force."""
        for scope in self._scopes_with_renames():
            self.lines[scope] = Lineages(self._named(scope), self.rename_pairs(scope, in_force))

    def names_of(self, scope: str, name: str) -> frozenset[str]:
        """Return the names of the lineage of the folded `name`, itself included."""
        lineages = self.lines.get(scope)
        return lineages.of(name) if lineages else frozenset((name,))
