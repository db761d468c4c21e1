"""Attempts and their outcomes: what was tried on an entity, what became of it, and how sure that is.

`prior` answers with these. An opening event is an attempt; what closed it is its outcome. So is another type that was
given and then taken back. A rejection or removal that closed no recorded attempt is told on its own, so that nothing
that was decided is invisible to the question that was meant to find it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable

from gitmem.core import objects
from gitmem.core.approach import total_key
from gitmem.core.events import Event
from gitmem.core.history import structure
from gitmem.core.lineages import entity_key
from gitmem.core.verdicts import Judgement
from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING, ENDING, OPENING

#: A removal so soon after the attempt probably says that the attempt failed.
WINDOW_S = 7 * 86400

REJECTED, REVERTED, REMOVED, OPEN, REOPENED = "rejected", "reverted", "removed", "open", "reopened"
#: How sure the pairing of attempt and outcome is, surest first.
CONFIDENCES = ("exact", "proximity_high", "proximity_low", "open")


class Attempt:
    """One thing that was tried, or refused before it was tried.

    opening     the event that tried it, or None for a closing that closed no recorded attempt
    closing     what ended it, or None
    lifted_by   ids of what re-opened it since
    outcome     rejected, reverted, removed, open, reopened
    confidence  of `CONFIDENCES`
    trust       of the event that speaks for it
    """

    __slots__ = ("because", "closing", "confidence", "lifted_by", "match", "opening", "outcome", "score", "trust")

    def __init__(
        self, opening: Event | None, closing: Event | None, lifted_by: list[str], outcome: str, confidence: str
    ) -> None:
        self.opening = opening
        self.closing = closing
        self.lifted_by = lifted_by
        self.outcome = outcome
        self.confidence = confidence
        self.match = "entity"
        self.score: int | None = None
        self.because = ""
        self.trust = ""

    @property
    def event(self) -> Event:
        """The event that speaks for the attempt: what ended it, else what tried it."""
        event = self.closing or self.opening
        assert event is not None
        return event

    @property
    def order(self) -> tuple[int, str]:
        return objects.order(self.event)


def of(
    judgement: Judgement,
    events: Iterable[Event],
    names: Callable[[Event], bool],
    *,
    window_s: int = WINDOW_S,
    hidden: Container[str] = (),
) -> list[Attempt]:
    """Return the attempts on the entities for which `names(event)` holds, newest first.

    `judgement` is of whole components, `events` what it judged. `hidden` are ids that a mark keeps from being told:
    an attempt that such an event ended is not told at all (it is not open), one that it began is told by its end.
    """
    changes = _once(event for event in events if event.kind == "change" and names(event) and _acts(judgement, event))
    by_id = {event.id: event for event in events}
    openings = [event for event in changes if CHANGE_TYPES.get(event.change_type) == OPENING]
    closings = [event for event in changes if CHANGE_TYPES.get(event.change_type) == CLOSING]
    endings = sorted((event for event in changes if CHANGE_TYPES.get(event.change_type) == ENDING), key=_moment)
    closed: set[str] = set()
    ended: set[str] = set()
    found: list[Attempt] = []
    ends = _Endings(endings)
    for opening in openings:
        closing_ids = [cid for cid in judgement.closed_by(opening.id) if cid in by_id]
        if closing_ids:
            closed.update(closing_ids)
            closing = max((by_id[cid] for cid in closing_ids), key=objects.order)
            found.append(_closed(judgement, opening, closing))
            continue
        ending = ends.first_after(opening)
        if ending is not None:
            ended.add(ending.id)
            found.append(_ended(opening, ending, window_s))
        else:
            found.append(Attempt(opening, None, [], OPEN, "open"))
    # Another type is no opening, and no verdict hangs on it; what was taken back after it is its outcome all the same.
    ends = _Endings(sorted((*closings, *endings), key=_moment))
    for retype in (event for event in changes if event.change_type == "retype"):
        end = ends.first_after(retype, loosely=not retype.approach)
        if end is not None and CHANGE_TYPES.get(end.change_type) == CLOSING:
            closed.add(end.id)
            found.append(_closed(judgement, retype, end))
        elif end is not None:
            ended.add(end.id)
            found.append(_ended(retype, end, window_s))
    for closing in closings:
        if closing.id not in closed:
            found.append(_closed(judgement, None, closing))
    for ending in endings:
        if ending.id not in ended:
            found.append(Attempt(None, ending, [], REMOVED, "exact"))
    found.sort(key=_order, reverse=True)
    for attempt in found:
        attempt.trust = judgement.trust(attempt.event.id)
    return _told(found, hidden) if hidden else found


def _told(attempts: list[Attempt], hidden: Container[str]) -> list[Attempt]:
    told: list[Attempt] = []
    left = [attempt for attempt in attempts if attempt.event.id not in hidden]
    # What ended several attempts is told with those that are shown, or once by itself.
    ends = {attempt.event.id for attempt in left if attempt.opening and attempt.opening.id not in hidden}
    for attempt in left:
        if attempt.opening is not None and attempt.opening.id in hidden:
            if attempt.event.id in ends:
                continue
            ends.add(attempt.event.id)
            attempt.opening = None
        told.append(attempt)
    return told


def _once(events: Iterable[Event]) -> list[Event]:
    """Return `events` without further copies of one imported thing (R3)."""
    found: dict[object, Event] = {}
    for event in sorted(events, key=objects.order):
        found.setdefault((event.source, structure(event)) if event.source else event.id, event)
    return list(found.values())


def _closed(judgement: Judgement, opening: Event | None, closing: Event) -> Attempt:
    lifted = sorted(judgement.lifted_by(closing.id))
    outcome = REJECTED if closing.change_type == "reject" else REVERTED
    return Attempt(opening, closing, lifted, REOPENED if lifted else outcome, "exact")


def _ended(opening: Event, ending: Event, window_s: int) -> Attempt:
    near = objects.seconds(_moment(ending)) - objects.seconds(_moment(opening)) <= window_s
    return Attempt(opening, ending, [], REMOVED, "proximity_high" if near else "proximity_low")


def _acts(judgement: Judgement, event: Event) -> bool:
    return not event.newer and judgement.trust(event.id) != "retracted" and judgement.effect(event.id)[0] != "void"


def _moment(event: Event) -> str:
    return event.valid_from or event.recorded_at


def _order(attempt: Attempt) -> tuple[int, str]:
    return attempt.order


class _Endings:
    """The removals by key, to find the first after an attempt without looking at each."""

    def __init__(self, endings: list[Event]) -> None:
        self._by_name: dict[tuple[str, str], list[Event]] = {}
        for ending in endings:
            self._by_name.setdefault((ending.scope, entity_key(ending.entity_path)), []).append(ending)

    def first_after(self, opening: Event, *, loosely: bool = False) -> Event | None:
        """Return the first that ends an attempt's approach; `loosely` of any approach."""
        candidates = self._by_name.get((opening.scope, entity_key(opening.entity_path)), [])
        low, high = 0, len(candidates)
        moment = _moment(opening)
        while low < high:
            middle = (low + high) // 2
            if _moment(candidates[middle]) < moment:
                low = middle + 1
            else:
                high = middle
        own = total_key(opening.approach)
        for ending in candidates[low:]:
            if loosely or not ending.approach or total_key(ending.approach) == own:
                return ending
        return None


def known(attempts: list[Attempt]) -> str:
    """Return the answer's first word: yes, weak (only words gave what was found) or nothing."""
    if any(attempt.match in ("entity", "approach", "content") for attempt in attempts):
        return "yes"
    return "weak" if attempts else "nothing"
