"""Events about lessons, made by hand, and the books that are made of them: what the tests of lessons share."""

from __future__ import annotations

import hashlib
from typing import Any

from gitmem.core.events import DERIVED, Event, derived_nonce
from gitmem.core.lessons import fading
from gitmem.core.lessons.book import Book, Standing
from gitmem.core.lessons.policies import TENDER, Policy
from gitmem.core.lessons.sleep import PASSES, Pass, sleep, written

DAY = 86_400
#: Day 0 of every world.
START = fading.microseconds("2026-01-01T12:00:00.000000Z")


def on(day: float) -> str:
    """The time so many days after the start."""
    return fading.time(START + round(day * DAY) * 1_000_000)


def oid(number: int) -> str:
    return hashlib.sha1(b"%d" % number).hexdigest()


class World:
    """Events in the order in which they are made, each having seen all before it; and what verdicts say of them."""

    def __init__(self, commit: int = 0) -> None:
        #: The commit that a lesson stands on where none is given; 0 for none.
        self.commit = commit
        self.events: list[Event] = []
        self.standings: dict[str, Standing] = {}

    def event(self, kind: str, day: float, *, seen: bool = True, clock: int = 0, **fields: Any) -> Event:
        number = len(self.events) + 1
        targets = fields.pop("targets", ())
        targets = [targets] if isinstance(targets, str) else list(targets)
        full = {
            "v": 1,
            "kind": kind,
            "clock": clock or number,
            "nonce": f"{number:032x}",
            "recorded_at": on(day),
            "author": "Ada <ada@example.org>",
            "after": sorted(event.id for event in self.events[-1:]) if seen else [],
            "scope": "",
            "channel": "human",
            "basis": "person",
            "tool": "t",
            **fields,
        }
        if targets:
            full["targets"] = sorted(targets)
        event_id = hashlib.sha256(repr((kind, sorted(full.items(), key=str))).encode()).hexdigest()
        event = Event(event_id, full)
        self.events.append(event)
        return event

    def lesson(self, core: str, day: float = 0, *, commit: int = 0, **fields: Any) -> str:
        if commit or self.commit:
            fields["base"] = {"commit": oid(commit or self.commit)}
        return self.event("lesson", day, core=core, **fields).id

    def use(self, target: str, day: float, *, commit: int = 0, **fields: Any) -> str:
        if commit:
            fields["commit"] = oid(commit)
        return self.event("use", day, targets=target, how="commit" if commit else "applied", **fields).id

    def mark(self, action: str, target: str, day: float, **fields: Any) -> str:
        """A seal, a pin …; what it comes to in the verdicts is told of the last one."""
        name = action.removeprefix("un")
        standing = self.standings.setdefault(target, Standing())
        words = {word for word in standing.marks.split() if word != name}
        standing.marks = " ".join(sorted(words if action != name else words | {name}))
        return self.event("mark", day, action=action, targets=target, reason="so", **fields).id

    def undo(self, target: str, day: float) -> str:
        return self.event("undo", day, targets=target, reason="not so").id

    def sleep(self, day: float, action: str, targets: list[str], becomes: dict[str, object], **fields: Any) -> str:
        policy = fields.pop("policy", TENDER.label)
        nonce = derived_nonce("sleep", policy, on(day), [action, *sorted(targets)])
        return self.event(
            "sleep", day, targets=targets, action=action, was={}, becomes=becomes, policy=policy, nonce=nonce,
            **{**DERIVED, "after": [], **fields},
        ).id  # fmt: skip

    def slept(self, day: float, policy: Policy = TENDER, passes: tuple[Pass, ...] = PASSES) -> list[Event]:
        """Sleep on all events; what it does is appended as gitmem writes it."""
        book = self.book(day, policy)
        outcomes = sleep(book, passes)
        clock = max((event.clock for event in self.events), default=0)
        made = [written(outcome, book, clock + n)[0] for n, outcome in enumerate(outcomes, 1)]
        self.events += made
        return made

    def stand(self, target: str, trust: str) -> None:
        standing = self.standings.setdefault(target, Standing())
        standing.trust = trust

    def standing(self, event: Event) -> Standing:
        return self.standings.get(event.id) or Standing()

    def book(self, day: float, policy: Policy = TENDER, events: list[Event] | None = None) -> Book:
        return Book(self.events if events is None else events, self.standing, on(day), policy)
