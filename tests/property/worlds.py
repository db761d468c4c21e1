"""Random worlds: clones of one log, who writes in them (people, agents, importers, some without our guard), joins.

A world is made from a list of steps of small numbers, so that what fails can be shrunk. Each clone is the set of
events that it holds; a join gives one all that the other has.
"""

from __future__ import annotations

import hashlib
import random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from gitmem.core import rules, verdicts
from gitmem.core.drafts import Draft, Stamp, Writer
from gitmem.core.events import Event, build
from gitmem.errors import GitmemError

NAMES = ("users", "users.a", "users.b", "people", "people.a")
APPROACHES = ("", "x", "y")
SCOPES = ("", "part")
TYPES = (
    "add", "reject", "supersede", "modify", "revert", "add", "reject", "supersede", "remove", "rename", "add", "create",
)  # fmt: skip
ACTIONS = ("ratify", "dispute", "retract", "resolve", "ratify", "retract")
MARKS = ("seal", "unseal", "mute", "unmute", "pin", "unpin")
WRITERS = (
    Writer("Ada <ada@example.org>", "human", tool="t"),
    Writer("Bot <bot@example.org>", "agent", tool="t"),
    Writer("Bob <bob@example.org>", "human", tool="t"),
    Writer("Ada <ada@example.org>", "agent", tool="t"),
)
IMPORTER = Writer("Ada <ada@example.org>", "import", tool="t")


class Step(NamedTuple):
    clone: int
    writer: int
    what: int
    name: int
    approach: int
    scope: int
    choice: int
    flags: int


#: How many choices each field of a step has.
_RANGES = Step(3, len(WRITERS), 40, len(NAMES), len(APPROACHES), 6, 12, 16)


def _drawn(seed: int, least: int, most: int) -> list[Step]:
    chance = random.Random(seed)
    # Most worlds are about one thing or two, so that what happens in them meets.
    names, approaches = chance.choice((1, 1, 2, len(NAMES))), chance.choice((1, 1, 2, len(APPROACHES)))
    clones, told = chance.choice((1, 2, 3)), chance.choice((False, False, True))
    story = []
    for _ in range(chance.randint(least, most)):
        step = Step(*(chance.randrange(size) for size in _RANGES))
        step = step._replace(name=step.name % names, approach=step.approach % approaches, clone=step.clone % clones)
        if told and chance.randrange(3) == 0:
            step = step._replace(what=chance.randrange(27, 31))
        # One in six past the guard: more than drawing them evenly gives.
        story.append(step._replace(flags=15) if chance.randrange(7) == 0 else step)
    return story


def stories(least: int = 3, most: int = 15) -> st.SearchStrategy[list[Step]]:
    """Stories that shrink well (half of them small), and stories that are drawn evenly, which meet more."""
    steps = st.builds(Step, *(st.integers(0, size - 1) for size in _RANGES))
    even = st.integers(0, 2**32).map(lambda seed: _drawn(seed, least, most))
    return st.one_of(even, even, even, st.lists(steps, min_size=least, max_size=most))


class World:
    """`accepted` holds for each draft that the guard took: the clone's events before, and the events that it gave."""

    def __init__(self, story: list[Step], *, guarded_only: bool = False) -> None:
        self.clones: list[dict[str, Event]] = [{}, {}, {}]
        self.accepted: list[tuple[list[Event], list[Event]]] = []
        self.refused = 0
        self.guarded_only = guarded_only
        self.count = 0
        for step in story:
            self.take(step)

    @property
    def events(self) -> list[Event]:
        return list({event_id: event for clone in self.clones for event_id, event in clone.items()}.values())

    def take(self, step: Step) -> list[Event]:
        clone = self.clones[step.clone]
        self.count += 1
        if step.what < 5:  # a join
            clone.update(self.clones[(step.clone + 1 + step.what % 2) % 3])
            return []
        draft, writer = self._draft(step, clone)
        if draft is None:
            return []
        if step.flags == 15 and not self.guarded_only:
            return self._forge(step, draft, writer, clone)
        return self.decide(clone, draft, writer)

    def decide(self, clone: dict[str, Event], draft: Draft, writer: Writer) -> list[Event]:
        before = list(clone.values())
        try:
            decided = rules.decide(verdicts.judge(before), draft, writer, self.stamp(clone), acknowledged=True)
        except GitmemError:
            self.refused += 1
            return []
        given = [event for event, _ in decided.appends]
        self.accepted.append((before, given))
        clone.update((event.id, event) for event in given)
        return given

    def stamp(self, clone: dict[str, Event]) -> Stamp:
        clock = max((event.clock for event in clone.values()), default=0)
        return Stamp(clock, moment(self.count), (self._nonce(n) for n in range(9)))

    def _nonce(self, n: int) -> str:
        return hashlib.sha256(f"{self.count}/{n}".encode()).hexdigest()[:32]

    def _draft(self, step: Step, clone: dict[str, Event]) -> tuple[Draft | None, Writer]:
        writer = WRITERS[step.writer]
        held = sorted(clone.values(), key=lambda event: (event.clock, event.id))
        aimed = held[-1 - step.choice % len(held)].id if held else ""
        scope = SCOPES[1] if step.scope == 5 else SCOPES[0]
        if step.what < 27:
            fields: dict[str, Any] = {
                "change_type": TYPES[step.what % len(TYPES)],
                "entity_path": NAMES[step.name],
                "approach": APPROACHES[step.approach],
                "reasoning": "because",
                "scope": scope,
            }
            if fields["change_type"] == "rename":
                fields["renamed_from"] = NAMES[(step.name + 1 + step.choice % 4) % len(NAMES)]
            if fields["change_type"] == "supersede" and step.choice < 4:
                closing = [event.id for event in held if event.change_type in ("reject", "revert")]
                if closing:
                    fields["supersedes"] = [closing[step.choice % len(closing)]]
            elif step.flags == 14 and aimed:
                fields["supersedes"] = [aimed]
            return Draft("change", fields, reopens=step.flags in (2, 3, 15), whole=step.flags % 4 == 1), writer
        if step.what < 31:  # history
            fields = {
                "change_type": ("add", "revert", "reject", "remove")[step.what % 4],
                "entity_path": NAMES[step.name],
                "approach": APPROACHES[step.approach],
                "reasoning": "history says so",
                "source": f"git:{step.choice % 3}:{step.what}:{step.name}:{step.approach}",
                "valid_from": moment(step.choice % 3 * 7 + step.approach),
                "basis": "evidence",
                "scope": "",
            }
            if any(event.source == fields["source"] for event in held):
                return None, IMPORTER
            return Draft("change", fields), IMPORTER
        if not held:
            return None, writer
        fields = {"targets": [aimed], "reason": "because"}
        if step.what < 37:
            return Draft("review", {"action": ACTIONS[step.what - 31], **fields}), writer
        if step.what == 39:
            renames = [[NAMES[step.name], NAMES[(step.name + 1 + step.choice % 4) % len(NAMES)]]]
            return Draft("link", {"targets": [aimed], "commit": "1" * 40, "how": "amend", "renames": renames}), writer
        return Draft("mark", {"action": MARKS[step.flags % 6], **fields}), writer

    def _forge(self, step: Step, draft: Draft, writer: Writer, clone: dict[str, Event]) -> list[Event]:
        """What a writer without our guard puts into the log: any `after`, any effect, no look at what stands."""
        fields = dict(draft.fields)
        held = sorted(clone)
        fields.setdefault("scope", "")
        fields.pop("basis", None)
        if draft.kind in ("change", "review") and step.writer % 2 and step.scope % 2:
            fields.setdefault("source", f"forged:{step.choice % 2}:{self.count}")
        if draft.kind == "change":
            fields["entity_type"] = "table"
            if step.writer % 2:
                fields["effect"] = ("now", "when-ratified")[step.choice % 2]
            if fields["change_type"] == "supersede" and "supersedes" not in fields and held:
                fields["supersedes"] = [held[step.choice % len(held)]]
        event, _ = build(
            {
                **fields,
                "v": 1,
                "kind": draft.kind,
                "clock": self.stamp(clone).clock + 1,
                "nonce": self._nonce(0),
                "recorded_at": moment(self.count),
                "author": writer.author,
                "channel": writer.channel,
                "basis": "person" if writer.is_person else "none",
                "tool": "t",
                "after": held[step.choice % 3 :: 1 + step.choice % 4] if step.choice % 5 else [],
            }
        )
        clone[event.id] = event
        return [event]


def moment(number: int) -> str:
    return f"2026-01-01T00:{number // 60:02d}:{number % 60:02d}.000000Z"
