"""Rules: what is appended, and what is refused (G0-G11). The guard, pure.

`decide` takes a draft and what the log comes to (`verdicts.judge`), and gives the events to append or raises.
It may refuse more than replay makes void, and with any release more than before; it never refuses less: what it
accepts is not void on the log that it was accepted for. A refusal names the ids, their reasons and the way on, and
shows nobody a command that only somebody else may run.

`wanted` says which part of the log has to be judged for a draft.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from gitmem.core import approach, entities, events
from gitmem.core.drafts import Draft, Stamp, Writer
from gitmem.core.events import Event
from gitmem.core.ids import short
from gitmem.core.inspection import REASONS, checked, malformed
from gitmem.core.keys import Key
from gitmem.core.verdicts import PERSONAL, Judgement, Standing, judge
from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING, OPENING, REDACTION_MODES, UNDOABLE, VERSION
from gitmem.errors import AmbiguousId, Refused, RuleViolation, UnknownId

#: How many openings a closing names at most: the newest. (Which it closes is not decided by what it names.)
TARGETS_MAX = 256
#: How much of a reason a message quotes, and how many events it names.
QUOTE_MAX = 160
NAMED_MAX = 5


class Wanted:
    """What has to be judged for a draft.

    names   (scope, canonical entity path, whether what lies below it matters too)
    ids     events whose components matter
    own     (scope, canonical entity path) of a file that may be closed in other scopes as well, or None
    """

    __slots__ = ("ids", "names", "own")

    def __init__(self, names: list[tuple[str, str, bool]], ids: list[str], own: tuple[str, str] | None) -> None:
        self.names = names
        self.ids = ids
        self.own = own


class Decided:
    """What a draft became: `appends`, (event, bytes) to write together, and `warnings`, sentences for the writer."""

    __slots__ = ("appends", "warnings")

    def __init__(self) -> None:
        self.appends: list[tuple[Event, bytes]] = []
        self.warnings: list[str] = []


def wanted(draft: Draft) -> Wanted:
    """Return what has to be judged before `decide(…, draft, …)`. Raises Refused for a draft that is wrong by itself."""
    draft = checked(draft)
    fields = draft.fields
    scope, path, old = _text(fields["scope"]), _text(fields.get("entity_path")), _text(fields.get("renamed_from"))
    names: dict[tuple[str, str, bool], None] = {}
    if path:
        names[(scope, path, bool(old))] = None
    if old:
        names[(scope, old, True)] = None
    kind = CHANGE_TYPES.get(_text(fields.get("change_type")))
    own: tuple[str, str] | None = None
    if path and not fields.get("source") and (kind == OPENING or fields.get("change_type") == "supersede"):
        for where in (scope, *entities.ancestors_scope(scope)):
            for name in (path, *entities.parents(path)):
                names.setdefault((where, name, False))
        if entities.file_of(path):
            own = (scope, path)
    return Wanted(list(names), [*_ids(fields, "supersedes"), *_ids(fields, "targets")], own)


def decide(
    judged: Judgement,
    draft: Draft,
    writer: Writer,
    stamp: Stamp,
    *,
    acknowledged: bool = False,
    elsewhere: Sequence[tuple[str, str]] = (),
    quarantined: Container[str] = (),
) -> Decided:
    """Return what to append for `draft`.

    judged         what the events that `wanted` asks for come to
    acknowledged   the writer was shown what else is closed here, and means another thing
    elsewhere      (scope, name) pairs that are the draft's file as well, in other scopes than its own and those above
    quarantined    names of files that are no events, which a person may accept (F31)

    Raises Refused (the draft itself), UnknownId, RuleViolation, AmbiguousId (an entity with several closings).
    Nothing is written by any of them.
    """
    guard = _Guard(judged, checked(draft), writer, stamp, acknowledged)
    guard.elsewhere = elsewhere
    guard.quarantined = quarantined
    return guard.decide()


def loose(draft: Draft, writer: Writer, stamp: Stamp) -> Decided:
    """Return the event of a draft that decides nothing (a link, a use): nothing is judged, and it saw its targets."""
    decided = Decided()
    _append(decided, checked(draft), writer, stamp, after=[], basis="person" if writer.is_person else "none")
    return decided


def _append(decided: Decided, draft: Draft, writer: Writer, stamp: Stamp, *, after: list[str], basis: str) -> Event:
    """Build the event of a draft that passed the rules and add it to `decided`. Raises Refused."""
    fields: dict[str, object] = {
        **draft.fields,
        "v": VERSION,
        "kind": draft.kind,
        "clock": stamp.clock + 1 + len(decided.appends),
        "nonce": next(stamp.nonces),
        "recorded_at": stamp.now,
        "author": writer.author,
        "after": after,
        "channel": writer.channel,
        "basis": basis,
        "tool": writer.tool,
    }
    for name in ("agent", "session_id", "policy"):
        fields.setdefault(name, getattr(writer, name))
    try:
        built = events.build(fields)
    except events.Malformed as error:
        raise malformed(error) from None
    decided.appends.append(built)
    return built[0]


class _Guard:
    """One draft against the rules."""

    def __init__(self, judged: Judgement, draft: Draft, writer: Writer, stamp: Stamp, acknowledged: bool) -> None:
        self.judged = judged
        self.draft = draft
        self.fields = draft.fields
        self.writer = writer
        self.stamp = stamp
        self.acknowledged = acknowledged
        self.decided = Decided()
        self.scope = _text(self.fields["scope"])
        self.path = _text(self.fields.get("entity_path"))
        self.change_type = _text(self.fields.get("change_type"))
        self.action = _text(self.fields.get("action")) or draft.kind
        self.imported = bool(self.fields.get("source"))
        self.person = writer.is_person
        self.approach_key = approach.total_key(_text(self.fields.get("approach")))
        self.elsewhere: Sequence[tuple[str, str]] = ()
        self.quarantined: Container[str] = ()

    # --- the way through ---------------------------------------------------------------------

    def decide(self) -> Decided:
        basis = self._basis()
        self._known_ids()
        if self.draft.kind == "change":
            role = CHANGE_TYPES[self.change_type]
            if role == OPENING:
                self._opening(basis)
            elif role == CLOSING:
                self._closing()
            elif self.change_type == "supersede":
                self._supersede()
            elif self.change_type == "rename":
                self._rename()
        elif self.draft.kind == "review":
            self._review()
        elif self.draft.kind == "mark":
            self._mark()
        elif self.draft.kind == "override":
            self._override()
        elif self.draft.kind == "redact":
            self._redact()
        elif self.draft.kind == "lesson":
            self._aimed(("lesson",), "lesson")
        elif self.draft.kind == "gist":
            self._gist()
        elif self.draft.kind == "undo":
            self._undo()
        self._write(self.draft, basis)
        return self.decided

    def _basis(self) -> str:
        """Evidence is a basis for imported history only, a person for what comes from a person's own terminal."""
        given = self.fields.pop("basis", None)
        if given not in (None, "evidence", "none") or (
            given == "evidence" and not (self.imported and self.writer.channel == "import")
        ):
            raise Refused(field="basis", what="it follows from who writes", hint="leave it out.")
        return "person" if self.person else "evidence" if given == "evidence" else "none"

    def _known_ids(self) -> None:
        """G11. What is quarantined can be redacted or accepted by its name, and is no event to be judged by."""
        if self.draft.kind == "redact":
            return
        for name in ("supersedes", "targets"):
            for event_id in _ids(self.fields, name):
                if self.judged.event(event_id) is None and not (
                    self.action == "ratify" and event_id in self.quarantined
                ):
                    raise UnknownId(id=event_id, ids=[event_id])

    def _write(self, draft: Draft, basis: str) -> Event:
        """G0: `after` is what the writer could know."""
        if self.decided.appends:
            after = [self.decided.appends[-1][0].id]  # the supersede that goes before: it saw all this would
        else:
            names = [name for name in (self.path, _text(draft.fields.get("renamed_from"))) if name]
            named = [*_ids(draft.fields, "supersedes"), *_ids(draft.fields, "targets")]
            after = self.judged.heads(self.scope, names, named)
        return _append(self.decided, draft, self.writer, self.stamp, after=after, basis=basis)

    def _event(self, event_id: str) -> Event:
        """Return the event of an id; of several copies the one that stands for all."""
        return self.judged.standing_for(event_id)

    def _targets(self) -> list[Event]:
        """Return the events that the draft targets; what is quarantined is none."""
        found = _ids(self.fields, "targets")
        return [self._event(event_id) for event_id in found if self.judged.event(event_id) is not None]

    def _warn(self, sentence: str) -> None:
        self.decided.warnings.append(sentence)

    def _refuse(self, what: str, hint: str, events_named: Iterable[Event], *, once: bool = False) -> RuleViolation:
        """Return the refusal; `once`: who was shown it may go on (`acknowledged`)."""
        named = list(dict.fromkeys(event.id for event in events_named))
        return RuleViolation(what=what, hint=hint, ids=named, once=once)

    # --- openings: G1-G4 ---------------------------------------------------------------------

    def _opening(self, basis: str) -> None:
        named = self._named_closings()
        if self.imported:  # G4
            self._wait_for_person(named)
            return
        judged = self.judged
        key = judged.key_of(self.scope, self.path, self.approach_key)
        own = [one for one in judged.standing(self.scope, self.path, self.approach_key) if one.event not in named]
        above = [one for one in self._above() if one.event not in named]
        if self.draft.reopens and self.person and (own or above):
            self._reopen([*named, *(one.event for one in (*own, *above))], basis)
            return
        firm = [one for one in own if not one.disputed]
        if key is not None and key.verdict == "contested" and firm:
            raise self._contested(key)  # G3
        blocking = [one for one in firm if not self._is_noted(one)]
        over = [one for one in above if not one.disputed]
        if over or any(not one.waiting for one in blocking):
            raise self._blocked([*blocking, *over], outside=bool(over))  # G1
        self._wait_for_person(named)
        if blocking:  # G2
            waiting = [lift for one in blocking for lift in one.waiting]
            self._warn(
                f"pending: {_listed(one.event for one in blocking)} stands until a person ratifies {_listed(waiting)}."
            )
        for one in own:
            if one.disputed:
                self._warn(f"contested: {self._told(one.event)} is disputed and stands against this.")
            elif self._is_noted(one):
                self._warn(f"noted only: {self._told(one.event)} stands; this decides nothing.")
        self._neighbours(key)

    def _above(self) -> list[Standing]:
        """Return what closes the entity from outside its lineage.

        Whole rejects of what it lies below; in scopes above, its own. And what closes its file elsewhere: a file is one
        thing in the whole repository, so moving it to another component, or drawing the components anew, opens nothing.
        """
        found: dict[str, Standing] = {}
        for where, name in self.elsewhere:
            ours = self.judged.standing(where, name, self.approach_key)
            for parent in entities.parents(name):
                if entities.file_of(parent) == entities.file_of(name):
                    ours += self.judged.wholes(where, parent)
            found.update((one.event.id, one) for one in ours if not self._is_noted(one))
        for where in (self.scope, *entities.ancestors_scope(self.scope)):
            ours = [] if where == self.scope else self.judged.standing(where, self.path, self.approach_key)
            for parent in entities.parents(self.path):
                ours += self.judged.wholes(where, parent)
            found.update((one.event.id, one) for one in ours if not self._is_noted(one))
        return list(found.values())

    def _is_noted(self, one: Standing) -> bool:
        """Say whether a closing takes no notice of the draft: a revert without approach, of a `modify`."""
        return self.change_type == "modify" and self.approach_key == "" and one.event.change_type == "revert"

    def _named_closings(self) -> list[Event]:
        """Return the standing closings that an opening names in `supersedes`."""
        named = [self._event(event_id) for event_id in _ids(self.fields, "supersedes")]
        for event in named:
            if self.imported and self.change_type != "supersede":
                continue
            if CHANGE_TYPES.get(event.change_type) != CLOSING or event.newer:
                raise self._refuse(
                    f"{self._told(event)}: that is no rejection or revert, so nothing can supersede it",
                    "`git decisions status` shows what stands closed.",
                    [event],
                )
        if named and not self.imported and not any(self.judged.is_standing(event.id) for event in named):
            raise self._lifted_already(named)
        return named

    def _wait_for_person(self, named: list[Event]) -> None:
        ratified = self._ratified(one for one in named if CHANGE_TYPES.get(one.change_type) == CLOSING)
        if ratified and not self.person:
            self.fields["effect"] = "when-ratified"
            self._warn(f"pending: {_listed(ratified)} was ratified by a person, so this waits for one.")

    def _ratified(self, several: Iterable[Event]) -> list[Event]:
        return [event for event in several if self.judged.person_ratified(event.id)]

    def _reopen(self, closings: list[Event], basis: str) -> None:
        """`--reopens`: the supersede of all that stands in the way, and the change, together."""
        fields: dict[str, object] = {
            "change_type": "supersede",
            "entity_path": self.path,
            "entity_type": self.fields["entity_type"],
            "scope": self.scope,
            "approach": self.fields.get("approach", ""),
            "reasoning": self.fields["reasoning"],
            "supersedes": sorted({event.id for event in closings}),
            "effect": "now",
        }
        if "changeset_id" in self.fields:
            fields["changeset_id"] = self.fields["changeset_id"]
        self.fields.pop("supersedes", None)
        self._write(Draft("change", fields), basis)
        self._warn(f"re-opened: {self._all_told(closings)}.")

    def _blocked(self, blocking: list[Standing], *, outside: bool) -> RuleViolation:
        several = [one.event for one in blocking]
        told = _joined([self._told_with_place(event) for event in several])
        waiting = [lift for one in blocking for lift in one.waiting]
        hint = self._way_past(several)
        if waiting and outside:
            hint += f" {_listed(waiting)} waits for a person already."
        return self._refuse(f"{self._subject()} is closed: {told}", hint, several)

    def _way_past(self, closings: list[Event]) -> str:
        commands = " and ".join(f"`git decisions supersede {_id(event)} -r WHY`" for event in closings[:NAMED_MAX])
        if self.person:
            return f"{commands} re-opens it, or `--reopens` with this command does both at once."
        if self._ratified(closings):
            return (
                f"{commands} proposes to re-open it, which waits for a person to ratify; "
                "or do it another way, and say how with --approach."
            )
        return f"{commands} re-opens it, with the reason why it is different now."

    def _contested(self, key: Key) -> RuleViolation:
        closings, against = self.judged.sides(key)
        both = [*closings, *against]
        if self.person:
            command = f"git decisions resolve {entities.typed(self.path)} --keep ID -r WHY"
            hint = f"`{command}` settles it, or `--reopens` with this command."
        else:
            hint = f"ask a person to resolve it: they keep one of {_listed(both)}."
        return self._refuse(
            f"{self._subject()} is contested: {self._all_told(closings)} against {self._all_told(against)}",
            hint,
            both,
        )

    def _neighbours(self, key: Key | None) -> None:
        """Name what is closed here under other approaches; refuse once what sounds like one of them."""
        line = self.judged.lineage_of(self.scope, self.path)
        closed = [one for one in line.keys.values() if one.standing and one.approach and one is not key] if line else []
        if not closed:
            return
        if self.approach_key:
            for one in closed:
                if approach.near(self.approach_key, one.approach):
                    self._warn(f"near to what is closed: {self._all_told(self.judged.standing_events(one))}.")
            return
        alike = [one for one in closed if approach.mentions(_text(self.fields["reasoning"]), one.approach)]
        if alike and not self.acknowledged:
            several = [event for one in alike for event in self.judged.standing_events(one)]
            raise self._refuse(
                f"this sounds like what is closed on {self.path}: {self._all_told(several)}",
                "`--approach TEXT` says which way it is done; if it is another one, the same again is accepted.",
                several,
                once=True,
            )
        for one in closed:
            self._warn(f"closed here: {self._all_told(self.judged.standing_events(one))}.")

    # --- closings: G5 ------------------------------------------------------------------------

    def _closing(self) -> None:
        keys = self._reached()
        if self.change_type == "reject" and not self.approach_key and not self.draft.whole:
            active = [key for key in keys if key.verdict == "active"]
            if active and self.imported:
                self._take_approach()
                keys = self._reached()
            elif active:
                opened = [event for key in active for event in self.judged.open_changes(key)]
                raise self._refuse(
                    f"{self.path} stands: {self._all_told(opened[-NAMED_MAX:])}",
                    "`--approach TEXT` rejects one way to do it, `--whole` the entity with all that was tried.",
                    opened,
                )
        opened = [event for key in keys for event in self.judged.open_changes(key) if self._closes(event)]
        opened.sort(key=lambda event: (event.clock, event.id))
        targets = {*_ids(self.fields, "targets"), *(event.id for event in opened[-TARGETS_MAX:])}
        if targets:
            self.fields["targets"] = sorted(targets)
        if self.imported:
            return
        if not self.person:
            against = [event for key in keys for event in self.judged.opened_by_person(key)]
            if against:
                self._warn(f"pending: waits for a person, who ratified {_listed(against)}.")
        standing = self.judged.standing(self.scope, self.path, self.approach_key)
        if standing:
            self._warn(f"closed already: {self._all_told(one.event for one in standing)}.")

    def _reached(self) -> list[Key]:
        """Return the keys that a closing draft reaches."""
        line = self.judged.lineage_of(self.scope, self.path)
        if line is None:
            return []
        if self.change_type == "reject" and not self.approach_key:
            return list(line.keys.values())
        return [key for key in line.keys.values() if key.approach == self.approach_key]

    def _closes(self, opening: Event) -> bool:
        """Say whether the draft will close an opening that it saw; history closes only older history (R8c)."""
        when = _text(self.fields.get("valid_from")) or self.stamp.now
        if opening.source:
            return (opening.valid_from or opening.recorded_at) <= when or not self.imported
        return not self.imported

    def _take_approach(self) -> None:
        """An imported reject of something active closes one way to do it: what its reason begins with."""
        sentence = _first_sentence(_text(self.fields["reasoning"]))
        if approach.total_key(sentence):
            self.fields["approach"] = sentence
            self.approach_key = approach.total_key(sentence)

    # --- supersedes: G6 ----------------------------------------------------------------------

    def _supersede(self) -> None:
        named = self._named_closings()
        if named:
            first = named[0]
            if not self.path:
                self.path, self.scope = first.entity_path, first.scope
                self.fields.update(entity_path=self.path, scope=self.scope)
                self.fields.setdefault(
                    "entity_type", first.fields.get("entity_type") or entities.entity_type(self.path)
                )
                if len({approach.total_key(event.approach) for event in named}) == 1 and first.approach:
                    self.fields.setdefault("approach", first.approach)
        else:
            named = self._standing_to_lift()
            self.fields["supersedes"] = sorted({event.id for event in named})
            if named[0].approach:
                self.fields.setdefault("approach", named[0].approach)
        self.approach_key = approach.total_key(_text(self.fields.get("approach")))
        ratified = self._ratified(named)
        waits = bool(ratified) and not self.person
        self.fields["effect"] = "when-ratified" if waits else "now"
        if waits:
            self._warn(f"pending: a person ratified {_listed(ratified)}, which stands until a person ratifies this.")
        if not self.imported:
            self._tell_what_stands_besides({event.id for event in named}, {(e.scope, e.entity_path) for e in named})

    def _tell_what_stands_besides(self, named: set[str], lifted_on: set[tuple[str, str]]) -> None:
        standing = [one for scope, path in sorted(lifted_on) for one in self.judged.standing_on(scope, path)]
        if (self.scope, self.path) in lifted_on:
            standing += self._above()
        besides = {one.event.id: one.event for one in standing if one.event.id not in named}
        if besides:
            self._warn(f"still closed: {self._all_told(besides.values())}.")

    def _standing_to_lift(self) -> list[Event]:
        """Return the closings that a supersede of an entity means: those of the one approach that is closed on it."""
        if "approach" in self.fields:
            standing = self.judged.standing(self.scope, self.path, self.approach_key)
            if standing:
                return [one.event for one in standing]
        everything = [one.event for one in self.judged.standing_on(self.scope, self.path)]
        if not everything or "approach" in self.fields:
            over = [one.event for one in self._above()]
            for where, name in self.elsewhere:
                over += [one.event for one in self.judged.standing_on(where, name) if one.event not in over]
            hint = "`git decisions status` shows what stands closed."
            if everything:
                hint = f"closed on it: {self._all_told(everything)}."
            elif over:
                hint = f"it is closed from elsewhere: {self._way_up(over)}."
            raise self._refuse(f"nothing stands closed for {self._subject()}", hint, everything or over)
        by_approach: dict[str, list[Event]] = {}
        for event in everything:
            by_approach.setdefault(self.judged.approach_of(event.id), []).append(event)
        if len(by_approach) > 1:
            told = self._all_told(everything)
            raise AmbiguousId(
                id=self.path,
                count=len(everything),
                candidates=told,
                message=f"{self.path} is closed for several approaches: {told}; nothing was written.",
                hint="give the id of one: `git decisions supersede ID -r WHY`, or `--approach TEXT`.",
                ids=[event.id for event in everything],
            )
        return everything

    def _way_up(self, closings: list[Event]) -> str:
        return ", ".join(f"`git decisions supersede {_id(event)} -r WHY`" for event in closings[:NAMED_MAX])

    def _lifted_already(self, named: list[Event]) -> RuleViolation:
        lifting = [self._event(event_id) for event in named for event_id in self.judged.lifted_by(event.id)]
        effect, why = self.judged.effect(named[0].id)
        return self._refuse(
            f"nothing stands to supersede: {self._all_told(named)} ({why or effect})",
            "`git decisions status` shows what stands closed.",
            [*named, *lifting],
        )

    # --- renames: G10 ------------------------------------------------------------------------

    def _rename(self) -> None:
        old = _text(self.fields["renamed_from"])
        if self.imported:
            return
        judged = self.judged
        closing: dict[str, Event] = {}
        opened: dict[str, Event] = {}
        for lines in judged.would_join(self.scope, old, self.path):
            for one in lines:
                for other in lines:
                    if one is other:
                        continue
                    for key in one.keys.values():
                        if key.verdict not in ("active", "reopened", "contested"):
                            continue
                        _, name = judged.nodes.slot_names[other.slot] or ("", "")
                        standing = judged.standing(self.scope, name, key.approach)
                        if standing:
                            closing.update((found.event.id, found.event) for found in standing)
                            deciding = judged.nodes.events[key.subject]
                            opened[deciding.id] = deciding
        if closing:
            raise self._refuse(
                f"renaming {old} to {self.path} would join what is closed, "
                f"{self._all_told(closing.values())}, with what is open, "
                f"{self._all_told(opened.values())}",
                f"{self._way_past_for_rename(list(closing.values()))}; or choose a name that nothing is closed under.",
                [*closing.values(), *opened.values()],
            )
        carried = judged.standing_on(self.scope, old)
        if carried:
            self._warn(f"the new name stays closed: {self._all_told(one.event for one in carried)}.")

    def _way_past_for_rename(self, closings: list[Event]) -> str:
        proposes = "proposes to re-open it" if not self.person and self._ratified(closings) else "re-opens it first"
        return f"{self._way_up(closings)} {proposes}"

    # --- reviews, marks, overrides: G7-G9 ----------------------------------------------------

    def _personal(self, action: str) -> None:
        if not self.person:
            targets = self._targets()
            hint = "run this in your own terminal, by hand: no agent and no script may do it for you."
            if self.writer.channel == "agent":
                hint = f"ask a person to {action} it: “run this in your own terminal”."
            told = self._all_told(targets) or ", ".join(map(short, _ids(self.fields, "targets")))
            raise self._refuse(f"only a person may {action} {told}".rstrip(), hint, targets)

    def _review(self) -> None:
        targets = self._targets()
        if self.action in PERSONAL:
            self._personal(self.action)
        if self.action == "ratify":
            for event in targets:
                self._ratify(event)
            for name in sorted({*_ids(self.fields, "targets")} - {event.id for event in targets}):
                if self.judged.event(name) is None:
                    self._warn(f"accepted: {short(name)} stays left out, and `git decisions verify` only warns of it.")
        elif self.action == "resolve":
            for event in targets:
                if not self.judged.is_side(event.id):
                    raise self._refuse(
                        f"{self._told(event)}: that is on no side of anything contested",
                        "`git decisions status` shows what is contested, and both sides.",
                        [event],
                    )
        elif self.action == "dispute":
            ratified = self._ratified(targets)
            waits = bool(ratified) and not self.person
            self.fields["effect"] = "when-ratified" if waits else "now"
            if waits:
                self._warn(f"pending: {_listed(ratified)} was ratified by a person, so this waits for one.")
        elif self.action == "retract" and not self.person:
            self._own_proposals(targets, "retract", no_renames=True)

    def _ratify(self, event: Event) -> None:
        """G8: what is closed or lifted gains nothing by being ratified now."""
        hindering = [self._event(event_id) for event_id in self.judged.hindrances(event.id)]
        if hindering:
            lifted = CHANGE_TYPES.get(event.change_type) == CLOSING
            what = "was lifted or overtaken by" if lifted else "is closed by"
            about = entities.typed(event.entity_path)
            hint = (
                f"`git decisions record {about} {event.change_type}{self._option(event)} -r WHY` closes it anew."
                if lifted
                else f"`git decisions supersede {_id(hindering[0])} -r WHY` re-opens it first."
            )
            told = f"{self._told(event)}: that {what} {self._all_told(hindering)}"
            raise self._refuse(told, hint, [event, *hindering])

    def _own_proposals(self, targets: list[Event], action: str, *, no_renames: bool = False) -> None:
        """G7: who is no person takes back or hides only what the same author proposed and no person ratified."""
        author = events.clean_author(self.writer.author)
        for event in targets:
            rename = no_renames and self.judged.is_rename(event.id)
            if self.judged.person_ratified(event.id):
                why = "a person ratified it"
            elif rename:
                why = "names that were joined are not parted again"
            elif event.author != author:
                why = f"it is {event.author}'s"
            else:
                continue
            hint = f"`git decisions dispute {_id(event)} -r WHY` says what is wrong with it"
            if CHANGE_TYPES.get(event.change_type) == CLOSING:
                hint += f"; `git decisions supersede {_id(event)} -r WHY` proposes to re-open it"
            hint += "; or a person does it: “run this in your own terminal”."
            raise self._refuse(f"{self._told(event)}: not yours to {action}, {why}", hint, [event])

    def _mark(self) -> None:
        if self.action in PERSONAL:
            self._personal(self.action)
        elif not self.person:
            self._own_proposals(self._targets(), self.action)

    def _override(self) -> None:
        ratified = self._ratified(self._targets())
        if ratified and not self.person:
            raise self._refuse(
                f"a person ratified {self._all_told(ratified)}, so only a person may override it",
                f"{self._way_up(ratified)} proposes to re-open it; or ask a person: “run this in your own terminal”.",
                ratified,
            )

    # --- lessons -----------------------------------------------------------------------------

    def _aimed(self, kinds: tuple[str, ...], what: str) -> list[Event]:
        """Return the targets; each must be of one of some kinds, and readable."""
        targets = self._targets()
        for event in targets:
            if event.kind not in kinds or event.newer:
                raise self._refuse(
                    f"{self._told(event)}: that is no {what}", "`git decisions lessons` lists lessons.", [event]
                )
            if event.redacted:
                raise self._refuse(f"{self._told(event)}: nothing is left of its text", "", [event])
        return targets

    def _gist(self) -> None:
        """A gist says less than its lesson, in the lesson's own words; of a person's, only a person says it."""
        from gitmem.core.lessons import gist

        for event in self._aimed(("lesson",), "lesson"):
            self._not_a_persons(event, "put it in other words")
            problem = gist.problem(_text(event.fields.get("core")), _text(self.fields.get("gist")))
            if problem:
                raise Refused(
                    field="gist",
                    what=problem,
                    hint="a gist shortens the lesson with its own words; a new thought is a lesson of its own.",
                )

    def _undo(self) -> None:
        """What a sleep found, a gist or a use is taken back by its inverse; a person's, by a person."""
        for event in self._targets():
            if event.kind not in UNDOABLE or event.newer:
                raise self._refuse(
                    f"{self._told(event)}: only what a sleep found, a gist, a use or an undo can be undone",
                    f"`git decisions retract {_id(event)} -r WHY` takes back anything else.",
                    [event],
                )
            self._not_a_persons(event, "undo it")
            for mine, its in (("was", "becomes"), ("becomes", "was")):
                if its in event.fields:
                    self.fields[mine] = event.fields[its]

    def _not_a_persons(self, event: Event, what: str) -> None:
        if not self.person and self.judged.person_ratified(event.id):
            raise self._refuse(
                f"{self._told(event)}: only a person may {what}, for a person stands behind it",
                f"`git decisions dispute {_id(event)} -r WHY` says what is wrong with it.",
                [event],
            )

    # --- redactions --------------------------------------------------------------------------

    def _redact(self) -> None:
        """A person's alone, and no way to lose a verdict unawares. The text that is to go is never quoted."""
        known = [event for one in _ids(self.fields, "targets") if (event := self.judged.event(one)) is not None]
        if not self.person:
            hint = "run this in your own terminal, by hand: no agent and no script may do it for you."
            if self.writer.channel == "agent":
                hint = "ask a person to do it: “run this in your own terminal”."
            named = f" {_listed(known)}" if known else ""
            raise self._refuse(f"only a person may redact or expunge{named}", hint, known)
        mode = _text(self.fields.get("mode"))
        if mode not in REDACTION_MODES[1:]:
            return
        for event in known:
            if CHANGE_TYPES.get(event.change_type) != CLOSING or not self.judged.is_standing(event.id):
                continue
            if event.redacted in REDACTION_MODES[REDACTION_MODES.index(mode) :]:
                continue
            if mode == "approach" and self._keeps_key(known, event):
                continue
            if self._stands_anew(event, known):
                continue
            lost = "no other event shares its approach" if mode == "approach" else "its verdict goes with the name"
            raise self._refuse(
                f"{_id(event)} {event.change_type} stands, and {lost}: with that hidden, nothing would be closed",
                f"first say it anew in words that can stay: `git decisions reject ENTITY --supersedes {_id(event)} "
                "-r WHY`, with --approach where it is one way that is closed.",
                [event],
            )

    def _keeps_key(self, hidden: list[Event], event: Event) -> bool:
        """Say whether an event with its approach hidden keeps its place by what it targets (R5)."""
        nodes = self.judged.nodes
        ids = {one.id for one in hidden}
        after = []
        for node in range(len(nodes.events)):
            for one in nodes.all_of(node):
                if one.id in ids and one.approach:
                    fields = {name: value for name, value in one.fields.items() if name != "approach"}
                    one = Event(one.id, fields, redacted="approach")
                after.append(one)
        return judge(after).approach_of(event.id) == self.judged.approach_of(event.id)

    def _stands_anew(self, event: Event, hidden: list[Event]) -> bool:
        """Say whether another closing stands that saw this one: then its writer knew that this one would go."""
        judged = self.judged
        gone = {one.id for one in hidden}
        return any(
            CHANGE_TYPES.get(other.change_type) == CLOSING
            and other.id not in gone
            and not other.newer
            and judged.is_standing(other.id)
            and judged.saw(other.id, event.id)
            for other in judged.nodes.events
        )

    # --- wording -----------------------------------------------------------------------------

    def _subject(self) -> str:
        given = _text(self.fields.get("approach"))
        return f"“{_quote(given)}” on {self.path}" if given else self.path

    def _told_with_place(self, event: Event) -> str:
        """Tell a closing, and where it stands if that is not the draft's own entity and scope."""
        there = []
        if event.entity_path and event.entity_path != self.path:
            there.append(f"on {event.entity_path}")
        if event.scope != self.scope:
            there.append(f"in scope {event.scope or '(the whole repository)'}")
        return f"{self._told(event)} ({', '.join(there)})" if there else self._told(event)

    def _told(self, event: Event) -> str:
        """Return an event in one line: id, what it did, to which approach, why, and what was chosen instead."""
        what = event.change_type or event.action or event.kind
        if event.redacted:
            return f"{_id(event)} {what}: [redacted]"
        if self._is_sealed(event):
            return f"{_id(event)} {what}: [sealed]"
        of = f" of “{_quote(event.approach)}”" if event.approach else ""
        # In quotes, whole: the sentence around it goes on behind the reason's own full stop.
        reason = _text(event.fields.get(REASONS.get(event.kind, "reason")))
        instead = _text(event.fields.get("instead"))
        if not reason:
            return f"{_id(event)} {what}{of}"  # a link, a use, what a sleep found
        return f"{_id(event)} {what}{of}: “{_quote(reason)}”{f' (instead: “{_quote(instead)}”)' if instead else ''}"

    def _all_told(self, several: Iterable[Event]) -> str:
        return _joined([self._told(event) for event in several])

    def _option(self, event: Event) -> str:
        """Return the option that names the event's approach, where it may be told."""
        if not event.approach or event.redacted or self._is_sealed(event):
            return ""
        import shlex

        return f" --approach {shlex.quote(event.approach)}"

    def _is_sealed(self, event: Event) -> bool:
        if "seal" not in self.judged.marks(event.id):
            return False
        from gitmem.core import marks  # here: few events are marked, and every `record` would pay for it

        return marks.is_borne(self.judged, event.id, marks.SEAL, self.stamp.now)


def _joined(sentences: list[str]) -> str:
    more = f"; and {len(sentences) - NAMED_MAX} more" if len(sentences) > NAMED_MAX else ""
    return "; ".join(sentences[:NAMED_MAX]) + more


def _id(event: Event) -> str:
    return short(event.id)


def _listed(several: Iterable[Event]) -> str:
    named = list(dict.fromkeys(short(event.id) for event in several))
    more = f" and {len(named) - NAMED_MAX} more" if len(named) > NAMED_MAX else ""
    return ", ".join(named[:NAMED_MAX]) + more


def _quote(text: str) -> str:
    line = " ".join(text.split())
    line = "".join(c if c.isprintable() else "?" for c in line)
    return f"{line[:QUOTE_MAX]}…" if len(line) > QUOTE_MAX else line


def _first_sentence(text: str) -> str:
    line = " ".join(text.split())
    for place, character in enumerate(line):
        if character in ".!?。！？" and line[place + 1 : place + 2] in ("", " ") and place:
            line = line[:place]
            break
    return line.encode()[: events.FIELD_MAX].decode("utf-8", "ignore")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _ids(fields: dict[str, object], name: str) -> list[str]:
    given = fields.get(name)
    return [one for one in given if isinstance(one, str)] if isinstance(given, (list, tuple)) else []
