"""The replay rules said a second time, slowly: sets and loops, one rule after the other, nothing shared.

`gitmem.core.verdicts` answers by masks, stretches and groups; this asks each pair of events by itself. A property
holds the two together on random worlds. It knows letters only by `str.lower`, approaches by their sorted words, and
follows renames by trying all names within a small depth, so worlds must be small and plain.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.core.events import Event

OPENING = {"add", "create", "modify", "index_add", "migrate"}
CLOSING = {"reject", "revert"}
ENDING = {"remove", "delete", "index_remove"}


class Model:
    def __init__(self, events: Iterable[Event]) -> None:
        self.events = {event.id: event for event in events}
        self.node_of: dict[str, str] = {}
        self.copies: dict[str, list[Event]] = {}
        seen: dict[object, str] = {}
        for event in sorted(self.events.values(), key=lambda e: (e.clock, e.id)):
            node = event.id
            if event.source:
                structure = (
                    event.source, event.kind, event.change_type, event.action, event.scope, event.entity_path.lower(),
                    words(event.approach), event.valid_from, event.renamed_from.lower(),
                    event.redacted in ("", "plain"),
                )  # fmt: skip
                node = seen.setdefault(structure, node)
            self.node_of[event.id] = node
            self.copies.setdefault(node, []).append(event)
        self.nodes = {node: copies[0] for node, copies in self.copies.items()}
        self.saw_of = {node: self._reach(node) for node in self.nodes}
        self._review()
        self._name()
        self._weigh()
        self._settle()

    # R2, R3
    def steps(self, node: str, *fields: str) -> set[str]:
        return {
            self.node_of[step]
            for event in self.copies[node]
            for field in fields
            for step in getattr(event, field)
            if step in self.node_of
        }

    def _reach(self, node: str) -> set[str]:
        found: set[str] = set()
        waiting = [node]
        while waiting:
            for step in self.steps(waiting.pop(), "after", "supersedes", "targets"):
                if step not in found:
                    found.add(step)
                    waiting.append(step)
        return found - {node}

    def saw(self, later: str, earlier: str) -> bool:
        return earlier in self.saw_of[later]

    def person(self, node: str) -> bool:
        return any(event.channel == "human" and event.basis == "person" for event in self.copies[node])

    # R6
    def _review(self) -> None:
        self.on: dict[str, list[str]] = {node: [] for node in self.nodes}
        for node, event in self.nodes.items():
            if event.kind == "review" and not event.newer:
                for target in self.steps(node, "targets"):
                    self.on[target].append(node)
        self.retracted: dict[str, bool] = {}
        self.disputed: dict[str, list[str]] = {}
        self.trust_of: dict[str, str] = {}
        self.contradicted: set[str] = set()
        self.waits_on: set[str] = set()
        self.void_on: set[str] = set()
        self.ratifying: dict[str, list[str]] = {}
        self.late_on: dict[tuple[str, str], list[str]] = {}
        for node in sorted(self.nodes, key=lambda one: -len(self.saw_of[one])):
            self._review_one(node)

    def _review_one(self, node: str) -> None:
        reviews = [review for review in self.on[node] if not self.retracted[review]]
        kept = ("ratify", "resolve")
        self.ratifying[node] = [r for r in reviews if self.person(r) and self.nodes[r].action in kept]
        force = []
        for review in reviews:
            event = self.nodes[review]
            if not self.person(review):
                if event.action in kept:
                    continue
                if event.action == "retract" and not self.ratified(node) and not self.own(review, node):
                    self.void_on.add(review)
                    continue
                needs = self.ratified(node) or event.effect == "when-ratified"
                needs = needs or (event.action == "retract" and self.is_rename(node))
                if needs:
                    if not self.ratifying[review]:
                        self.waits_on.add(review)
                        continue
                    self.late_on[review, node] = self.ratifying[review]
            force.append(review)
        late = {review: self.late_on[review, node] for review in force if (review, node) in self.late_on}
        newest = [r for r in force if not any(self.knows(o, r, late) for o in force if o != r)]
        trusts = {"dispute": "disputed", "retract": "retracted"}
        found = {trusts.get(self.nodes[review].action, "ratified") for review in newest}
        born = self.person(node) or any(event.basis == "evidence" for event in self.copies[node])
        trust = "ratified" if born else "proposed"
        if len(found) > 1:
            trust = "disputed"
            self.contradicted.update(newest)
        elif found:
            trust = found.pop()
        self.trust_of[node] = trust
        self.retracted[node] = trust == "retracted"
        self.disputed[node] = []
        if trust == "disputed":
            self.disputed[node] = [
                r for r in force
                if self.nodes[r].action == "dispute" or (self.nodes[r].action == "retract" and r in newest)
            ]  # fmt: skip

    def ratified(self, node: str) -> bool:
        return self.person(node) or bool(self.ratifying[node])

    def own(self, node: str, other: str) -> bool:
        return bool({e.author for e in self.copies[node]} & {e.author for e in self.copies[other]})

    def is_rename(self, node: str) -> bool:
        event = self.nodes[node]
        return event.change_type == "rename" or (event.kind == "link" and bool(event.fields.get("renames")))

    # R7: where an act stands that needed ratifying
    def knows(self, later: str, earlier: str, late: dict[str, list[str]]) -> bool:
        seers = [later, *late.get(later, [])]
        seen = late.get(earlier, [earlier])
        return any(self.saw(seer, one) for seer in seers for one in seen)

    # R4
    def _name(self) -> None:
        self.pairs: list[tuple[str | None, str, str]] = []
        for node, event in self.nodes.items():
            if self.retracted[node] or event.newer:
                continue
            if event.kind == "change" and event.change_type == "rename" and event.renamed_from and event.entity_path:
                self.pairs.append((event.scope, event.renamed_from.lower(), event.entity_path.lower()))
            if event.kind == "link":
                for one, other in event.fields.get("renames", ()):
                    self.pairs.append((None, one.lower(), other.lower()))
        self.known: set[tuple[str, str]] = set()
        for event in self.nodes.values():
            if event.entity_path:
                self.known.add((event.scope, event.entity_path.lower()))
                if event.kind == "change" and event.change_type == "rename" and event.renamed_from:
                    self.known.add((event.scope, event.renamed_from.lower()))
        self.names_of = {
            (scope, name): frozenset(n for n in self.aliases(scope, name) if (scope, n) in self.known) | {name}
            for scope, name in self.known
        }

    def aliases(self, scope: str, name: str) -> set[str]:
        """All names that renames give, to a depth that worlds of few names never reach."""
        found = {name}
        waiting = [name]
        while waiting:
            at = waiting.pop()
            for where, one, other in self.pairs:
                if where not in (None, scope):
                    continue
                for a, b in ((one, other), (other, one)):
                    new = ""
                    if at == a:
                        new = b
                    elif at.startswith(a + ".") and not a.startswith(b + ".") and not b.startswith(a + "."):
                        new = b + at[len(a) :]
                    if new and new not in found and new.count(".") < 6:
                        found.add(new)
                        waiting.append(new)
        return found

    # R5, R7
    def line(self, node: str) -> tuple[str, frozenset[str]] | None:
        event = self.nodes[node]
        return (event.scope, self.names_of[event.scope, event.entity_path.lower()]) if event.entity_path else None

    def is_change(self, node: str, types: set[str]) -> bool:
        event = self.nodes[node]
        return event.kind == "change" and not event.newer and event.change_type in types

    def approach(self, node: str) -> str:
        event = self.nodes[node]
        if event.redacted != "approach":
            return words(event.approach)
        near = [
            other for other in self.nodes
            if other != node
            and (other in self.steps(node, "targets") or node in self.steps(other, "targets"))
            and self.is_change(other, OPENING | CLOSING | ENDING) and self.line(other) == self.line(node)
        ]  # fmt: skip
        keys = {words(self.nodes[other].approach) for other in near if self.nodes[other].redacted != "approach"}
        if not keys:
            return f"[hidden {node}]"
        if event.change_type == "reject" and (len(keys) > 1 or "" in keys):
            return ""
        return min(keys - {""}, default="")

    def _weigh(self) -> None:
        nodes = self.nodes
        self.late: dict[str, list[str]] = {}
        self.waiting: set[str] = set()
        self.kept: dict[str, set[str]] = {}
        for node, event in nodes.items():
            if event.kind == "review" and event.action == "resolve" and self.person(node):
                self.kept[node] = self._kept(node, {node})
        self.keys: dict[str, tuple[object, str]] = {}
        self.whole: set[str] = set()
        for node in nodes:
            if self.is_change(node, OPENING | CLOSING | ENDING) and self.line(node) and not self.retracted[node]:
                self.keys[node] = (self.line(node), self.approach(node))
                if nodes[node].change_type in {"reject", *ENDING} and not self.keys[node][1]:
                    self.whole.add(node)
        self.lifts: dict[str, set[str]] = {}
        for node, event in nodes.items():
            if not self.is_change(node, OPENING | {"supersede"}) or self.retracted[node]:
                continue
            named = {
                other for other in self.steps(node, "supersedes")
                if self.is_change(other, CLOSING) or any(self.is_change(k, CLOSING) for k in self.kept.get(other, ()))
            }  # fmt: skip
            self.lifts[node] = named
            if event.change_type == "supersede" and not named:
                continue
            if not self.person(node):
                against = any(self.ratified(other) and not self.retracted[other] for other in named)
                self._stand(node, against or event.effect == "when-ratified")
        for node in sorted(nodes, key=lambda one: len(self.saw_of[one])):
            event = nodes[node]
            if node in self.keys and self.is_change(node, CLOSING) and not self.person(node) and not event.source:
                self._stand(node, self._against_person(node) or event.effect == "when-ratified")

    def _kept(self, node: str, done: set[str]) -> set[str]:
        found: set[str] = set()
        for target in self.steps(node, "targets"):
            event = self.nodes[target]
            if event.kind == "review" and event.action == "resolve" and self.person(target):
                if target not in done:
                    found |= self._kept(target, done | {target})
            else:
                found.add(target)
        return found

    def _stand(self, node: str, needs: bool) -> None:
        if needs and self.ratifying[node]:
            self.late[node] = self.ratifying[node]
        elif needs:
            self.waiting.add(node)

    def reaches(self, closing: str, key: tuple[object, str]) -> bool:
        if closing not in self.keys:
            return False
        line, approach = self.keys[closing]
        return line == key[0] and (approach == key[1] or closing in self.whole)

    def all_keys(self) -> set[tuple[object, str]]:
        return set(self.keys.values())

    def openers(self, key: tuple[object, str]) -> dict[str, str]:
        """act -> subject"""
        found: dict[str, str] = {}
        for node in self.nodes:
            if self.retracted[node] or node in self.waiting:
                continue
            if self._opens(node, key):
                found[node] = node
        for node, kept in self.kept.items():
            for subject in sorted(kept):
                if not self.retracted[node] and not self.retracted[subject] and self._opens(subject, key):
                    found.setdefault(node, subject)
        return found

    def _opens(self, node: str, key: tuple[object, str]) -> bool:
        if self.is_change(node, OPENING) and self.keys.get(node) == key:
            return True
        for named in self.lifts.get(node, ()):
            for closing in self.kept.get(named, {named}):
                if self.is_change(closing, CLOSING) and self.reaches(closing, key):
                    return True
        return False

    def closers(self, key: tuple[object, str], *, weighed: bool = True) -> dict[str, str]:
        found: dict[str, str] = {}
        for node in self.nodes:
            if self.is_change(node, CLOSING) and self.reaches(node, key) and node not in self.waiting:
                found[node] = node
        for node, kept in self.kept.items():
            for subject in sorted(kept):
                if (
                    not self.retracted[node] and not self.retracted[subject]
                    and self.is_change(subject, CLOSING) and self.reaches(subject, key)
                ):  # fmt: skip
                    found.setdefault(node, subject)
        return found

    def _against_person(self, node: str) -> bool:
        for key in self.all_keys():
            if not self.reaches(node, key):
                continue
            for opener in self.openers(key):
                if not self.ratified(opener) or not self.knows(node, opener, self.late):
                    continue
                if not any(
                    self.ratified(closer) and closer != node and self.knows(node, closer, self.late)
                    and self.relation(closer, opener) == "closes"
                    for closer in self.closers(key)
                ):  # fmt: skip
                    return True
        return False

    # R8
    def time(self, node: str) -> str:
        return min(event.valid_from or event.recorded_at for event in self.copies[node])

    def relation(self, closer: str, opener: str) -> str:
        told_c, told_x = bool(self.nodes[closer].source), bool(self.nodes[opener].source)
        c_knows, x_knows = self.knows(closer, opener, self.late), self.knows(opener, closer, self.late)
        when_c, when_x = self.time(closer), self.time(opener)
        if not told_c and not told_x:
            return "closes" if c_knows else "knew" if x_knows else "contest"
        if told_x and not told_c:
            return "closes" if when_x <= when_c or c_knows else "contest"
        if told_c and not told_x:
            if x_knows:
                return "knew"
            if when_c > when_x:
                return "contest"
        elif when_x <= when_c:
            return "closes"
        return "contest" if self.ratified(closer) else "overtaken"

    def _settle(self) -> None:
        self.decisions: set[tuple[object, ...]] = set()
        self.void: set[str] = set()
        self.pending: set[str] = set()
        self.sides: set[str] = set()
        for key in self.all_keys():
            self._settle_key(key)

    def _lifting(self, act: str, subject: str, *, waiting: bool) -> list[str]:
        return [
            node for node, named in self.lifts.items()
            if (node in self.waiting) == waiting
            and (act in named or (act != subject and subject in named and self.knows(node, act, self.late)))
        ]  # fmt: skip

    def _settle_key(self, key: tuple[object, str]) -> None:
        openers, closers = self.openers(key), self.closers(key)
        standing = {}
        for act, subject in closers.items():
            lifted = (
                self._lifting(act, subject, waiting=False)
                or any(x in self.kept and x != act and self.knows(x, act, self.late) for x in openers)
                or any(x != act and self.relation(act, x) == "overtaken" for x in openers)
            )
            if not lifted:
                standing[act] = subject
        against: set[str] = set()
        contested: set[str] = set()
        for opener, subject in openers.items():
            others = [act for act in standing if act != opener]
            closed = any(self.relation(act, opener) == "closes" for act in others)
            contests = {act for act in others if self.relation(act, opener) == "contest"}
            if subject == opener and self.keys.get(opener) == key and self.is_change(opener, OPENING):
                knew = [act for act in others if self.relation(act, opener) == "knew"]
                if self.nodes[opener].change_type == "modify" and not key[1]:
                    knew = [act for act in knew if self.nodes[standing[act]].change_type != "revert"]
                excuses = [self._excuse(opener, act, standing[act]) for act in knew]
                if "void" in excuses:
                    self.void.add(opener)
                    continue
                if "waits" in excuses:
                    self.pending.add(opener)
                    continue
                contests |= set(knew)
            if contests and not closed:
                against.add(opener)
                contested |= contests
        self.sides |= against | contested
        order = {node: (event.clock, event.id) for node, event in self.nodes.items()}
        if standing:
            deciding = max(
                standing.values(),
                key=lambda n: (self.nodes[n].change_type == "reject", self.ratified(n), order[n]),
            )
            closed_as = {"reject": "rejected", "revert": "reverted"}[self.nodes[deciding].change_type]
            self._decide(key, "contested" if against else closed_as, deciding, against)
            return
        ends = [
            node for node in self.keys
            if self.is_change(node, ENDING) and self.reaches(node, key) and node not in self.waiting
        ]  # fmt: skip
        acts = [*openers, *ends]
        left = [a for a in acts if not any(self._newer(b, a) for b in acts if b != a)]
        for verdict in ("active", "reopened", "removed"):
            found = []
            for act in left:
                subject = openers.get(act, "")
                mine = self.is_change(subject, OPENING) and self.keys.get(subject) == key if subject else False
                kind = "removed" if not subject else "active" if mine else "reopened"
                if kind == verdict:
                    found.append(subject or act)
            if found:
                self._decide(key, verdict, max(found, key=order.__getitem__), set())
                return

    def _newer(self, one: str, other: str) -> bool:
        """Say whether `other` counts as seen by `one` (R9)."""
        told_one, told_other = bool(self.nodes[one].source), bool(self.nodes[other].source)
        if not told_one and not told_other:
            return self.saw(one, other)
        if told_one and not told_other and self.saw(other, one):
            return False
        if told_other and not told_one and self.saw(one, other):
            return True
        return self.time(other) < self.time(one)

    def _excuse(self, opener: str, act: str, subject: str) -> str:
        for node in {act, subject}:
            for review in self.disputed[node]:
                late = {review: self.late_on[review, node]} if (review, node) in self.late_on else {}
                if self.knows(opener, review, late):
                    return "contests"
        if any(self.saw(opener, lift) for lift in self._lifting(act, subject, waiting=True)):
            return "waits"
        return "void"

    def _decide(self, key: tuple[object, str], verdict: str, deciding: str, against: set[str]) -> None:
        (scope, names), approach = key  # type: ignore[misc]
        self.decisions.add((scope, names, approach, verdict, self.trust_of[deciding], deciding, frozenset(against)))

    # R10
    def effect(self, event_id: str) -> str:
        node = self.node_of[event_id]
        event = self.nodes[node]
        if self.retracted[node]:
            return "void"
        if event.newer:
            return "applied"
        if node in self.waiting or node in self.waits_on or node in self.pending:
            return "pending"
        if node in self.void or node in self.void_on:
            return "void"
        if event.action in ("ratify", "resolve", "seal", "unseal") and not self.person(node):
            return "void"
        if event.kind == "mark" and not self.person(node):
            for target in self.steps(node, "targets"):
                if self.ratified(target) or not self.own(node, target):
                    return "void"
        if event.change_type == "supersede" and not self.lifts[node]:
            return "void"
        return "contested" if node in self.contradicted or node in self.sides else "applied"


def words(text: str) -> str:
    return " ".join(sorted(text.lower().split()))
