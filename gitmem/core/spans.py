"""Spans: how long each decision of a component had one verdict, as its events came to count one after the other.

`verdicts.judge` says what a set of events comes to; the past of a component is as many sets as it has events. For
nearly all components that need not be asked so often: where each event was written by somebody who knew all before it,
or where all of it is imported history, R7 to R9 come down to a few comparisons. Such components are *plain*, and
here is what they come to, in time linear in their events. Of the others nothing is said; somebody judges them.

A test holds this to `judge` on random worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gitmem.core import approach
from gitmem.core.events import Event
from gitmem.core.lineages import entity_key
from gitmem.core.objects import order
from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING, ENDING, OPENING, SUPERSEDING

#: scope, verdict, the deciding event and since when it took place ("", "" of what is active or removed), and from
#: when to when it stood
Span = tuple[str, str, str, str, str, str]
#: The end of what stands to this day: later than any time.
OPEN_END = "~"
#: What nobody asks about one by one: only the number of such decisions is kept.
COUNTED = ("active", "removed")

#: An act by its place, or by when it took place and its place.
_Place = tuple[str, int]
_NEVER: _Place = ("", -1)


class _Key:
    """One approach of a lineage: the acts in force of this very key, the last of each kind."""

    __slots__ = ("closers", "end", "lift", "opened", "span")

    def __init__(self) -> None:
        self.opened = self.lift = self.end = _NEVER
        self.closers: dict[str, _Place] = {}
        self.span: tuple[str, str, str, str] | None = None


class _Line:
    """One lineage: its keys, and what reaches them all."""

    __slots__ = ("closers", "end", "keys", "lift", "scope")

    def __init__(self, scope: str) -> None:
        self.scope = scope
        self.lift = self.end = _NEVER
        self.closers: dict[str, _Place] = {}
        self.keys: dict[str, _Key] = {}


def of_plain(events: Sequence[Event], begins: Callable[[Event], str]) -> list[Span] | None:
    """Return the spans of a component that is plain, else None.

    `begins` says from when an event counts; each counts for good.
    """
    ordered = _ordered(events, begins)
    return None if ordered is None else _Fold(ordered, begins).found


def _ordered(events: Sequence[Event], begins: Callable[[Event], str]) -> list[Event] | None:
    """Return the events in the order of the log where the component is plain, else None."""
    if not all(_is_plain(event) for event in events):
        return None
    ordered = sorted(events, key=order)
    people = sum(event.channel == "human" and event.basis == "person" for event in ordered)
    sources = {event.source for event in ordered if event.source}
    if sources:  # history alone, each thing once (R3), which lifts nothing and is no person's
        lifting = any(event.supersedes or _role(event) == SUPERSEDING for event in ordered)
        return None if people or lifting or len(sources) < len(ordered) else ordered
    if people not in (0, len(ordered)):
        return None  # what an agent does against a person may wait (R7)
    before = ""
    last = ""
    for event in ordered:
        if before and before not in event.after and before not in event.targets and before not in event.supersedes:
            return None
        before, since = event.id, begins(event)
        if since < last:
            return None
        last = since
    return ordered


def _is_plain(event: Event) -> bool:
    return (
        event.kind == "change"
        and not event.newer
        and event.redacted in ("", "plain")
        and bool(event.entity_path)
        and not event.renamed_from
        and event.change_type != "rename"
        and event.effect != "when-ratified"
    )


def _role(event: Event) -> str:
    return CHANGE_TYPES[event.change_type]


class _Fold:
    """A plain component, event by event. `_told`: it is imported history, which goes by its own time (R8c, R9)."""

    def __init__(self, ordered: Sequence[Event], begins: Callable[[Event], str]) -> None:
        self.found: list[Span] = []
        self._told = any(event.source for event in ordered[:1])
        self._ordered = ordered
        self._events = {event.id: event for event in ordered}
        self._lines: dict[tuple[str, str], _Line] = {}
        self._closes: dict[str, tuple[_Line, _Key | None]] = {}  # a closing -> where; no key: of the whole line
        coming: dict[str, list[tuple[int, Event]]] = {}
        for number, event in enumerate(ordered):
            coming.setdefault(begins(event), []).append((number, event))
        for at in sorted(coming):
            touched: dict[int, tuple[_Line, _Key]] = {}
            for number, event in coming[at]:
                for line, key in self._take(event, self._place(number, event)):
                    touched[id(key)] = (line, key)
            for line, key in touched.values():
                self._turn(line, key, at)
        for line in self._lines.values():
            for key in line.keys.values():
                self._end(line, key, OPEN_END)

    def _place(self, number: int, event: Event) -> _Place:
        return ((event.valid_from or event.recorded_at) if self._told else "-", number)

    def _take(self, event: Event, place: _Place) -> Iterable[tuple[_Line, _Key]]:
        """Let an event count; return the keys that it may turn."""
        name = entity_key(event.entity_path)
        line = self._lines.get((event.scope, name))
        if line is None:
            line = self._lines[event.scope, name] = _Line(event.scope)
        role = _role(event)
        touched: list[tuple[_Line, _Key]] = []
        if role in (OPENING, CLOSING, ENDING):
            akey = approach.total_key(event.approach) if event.approach else ""
            key = line.keys.get(akey)
            if key is None:
                key = line.keys[akey] = _Key()
            touched.append((line, key))
            reaches_all = False
            if role == OPENING:
                key.opened = max(key.opened, place)
                if self._told and key.closers:  # R8c: a later opening overtakes
                    key.closers = {one: when for one, when in key.closers.items() if when[0] >= key.opened[0]}
            elif role == ENDING:
                reaches_all = not akey
                where = line if reaches_all else key
                where.end = max(where.end, place)
            else:
                reaches_all = not akey and event.change_type == "reject"
                (line if reaches_all else key).closers[event.id] = place
                self._closes[event.id] = (line, None if reaches_all else key)
            if reaches_all:
                touched = [(line, each) for each in line.keys.values()]
        if event.supersedes and role in (OPENING, SUPERSEDING):
            for closing in event.supersedes:
                if closing in self._closes:
                    touched += self._lift(closing, place)
        return touched

    def _lift(self, closing: str, place: _Place) -> list[tuple[_Line, _Key]]:
        line, key = self._closes[closing]
        where = line if key is None else key
        where.closers.pop(closing, None)
        where.lift = max(where.lift, place)
        return [(line, each) for each in (line.keys.values() if key is None else (key,))]

    def _turn(self, line: _Line, key: _Key, at: str) -> None:
        """Note from when on a key has another verdict."""
        verdict, standing = self._verdict(line, key)
        since = ""
        if standing:
            deciding = self._events[standing]
            since = deciding.valid_from or deciding.recorded_at
        if key.span is None or key.span[:3] != (verdict, standing, since):
            self._end(line, key, at)
            key.span = (verdict, standing, since, at)

    def _end(self, line: _Line, key: _Key, until: str) -> None:
        if key.span is not None:
            self.found.append((line.scope, *key.span, until))

    def _verdict(self, line: _Line, key: _Key) -> tuple[str, str]:
        closers = (*key.closers.items(), *line.closers.items()) if key.closers or line.closers else ()
        if self._told and closers:
            closers = tuple(each for each in closers if each[1][0] >= key.opened[0])
        if closers:
            rejects, _, standing = max(
                (self._events[closing].change_type == "reject", place[1], closing) for closing, place in closers
            )
            return ("rejected" if rejects else "reverted", standing)
        lift, end = max(key.lift, line.lift), max(key.end, line.end)
        # Of one moment, opening comes before ending.
        if key.opened >= lift and key.opened[0] >= end[0] and (self._told or key.opened > end):
            return ("active", "")
        if lift > end:
            return ("reopened", self._ordered[lift[1]].id)
        return ("removed", "")
