"""What is due for another look: the decisions in force that carry a condition, held against the log and the files.

Only what decides something now is looked at: a closing that stands, an attempt that nothing closed, a supersede that
nothing came after. What was superseded, lifted, retracted, muted or sealed doesn't nag. Where a decision was written
anew with a later date or another condition, the newer one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gitmem.core import entities, revisit, staleness
from gitmem.core.approach import total_key
from gitmem.core.events import Event
from gitmem.core.lineages import entity_key
from gitmem.core.staleness import Signal, Wish
from gitmem.core.verdicts import Judgement, judge
from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING, ENDING, OPENING, SUPERSEDING
from gitmem.store import listing
from gitmem.store.cache import Cache
from gitmem.store.libraries import Libraries
from gitmem.store.listing import Row

#: From so many events on, a word that one in `COMMON_SHARE` of them holds tells nothing.
COMMON_FROM, COMMON_SHARE = 200, 5
#: Of the later events that may meet a `stale_when`, the oldest so many are read.
LATER_MAX = 500


class Due:
    """An event that wants another look: its row, and why, the strongest reason first."""

    __slots__ = ("overdue_s", "row", "signals")

    def __init__(self, row: Row, signals: list[Signal], now: str) -> None:
        self.row = row
        self.signals = signals
        self.overdue_s = max(staleness.overdue_s(one, now) for one in signals)

    @property
    def flag(self) -> str:
        return self.signals[0].flag

    def with_signals(self, more: list[Signal], now: str) -> Due:
        """Return the same with more reasons."""
        return Due(self.row, staleness.order([*self.signals, *more], now), now)


def due(cache: Cache, libraries: Libraries, names: list[tuple[str, str]] | None, scope: str, now: str) -> list[Due]:
    """Return what is due at `now`, most overdue first, of all that a read in `scope` sees, or of some names only.

    What is overdue for no known time comes after what is, in the order of the flags.
    """
    found = []
    commons: dict[str, bool] = {}
    for row, fields in _in_force(cache, names, scope):
        signals = list(_signals(cache, libraries, row, fields, scope, now, commons))
        if signals:
            found.append(Due(row, staleness.order(signals, now), now))
    return ordered(found)


def ordered(found: Iterable[Due]) -> list[Due]:
    """Return what is due in the order in which it is shown."""
    return sorted(found, key=lambda one: (-one.overdue_s, staleness.FLAGS.index(one.flag), one.row.n))


# --- which decisions --------------------------------------------------------------------------


def _in_force(cache: Cache, names: list[tuple[str, str]] | None, scope: str) -> Iterator[tuple[Row, frozenset[str]]]:
    """Yield the events in force that carry conditions, each with those of its fields that no later one replaced."""
    judged = _Judged(cache)
    rows = []
    for row in listing.conditioned(cache, names, scope):
        if judged.is_in_force(row):
            rows.append(row)
    replaced: set[tuple[object, ...]] = set()
    kept: list[tuple[Row, frozenset[str]]] = []
    for row in sorted(rows, key=lambda one: -one.n):
        own = frozenset(name for name in revisit.FIELDS if row.event.fields.get(name))
        subject = judged.subject(row)
        left = frozenset(name for name in own if (subject, name) not in replaced)
        replaced.update((subject, name) for name in own)
        if left:
            kept.append((row, left))
    yield from kept


class _Judged:
    """The judgements of the components that are asked about."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._of: dict[int | None, Judgement] = {}

    def _judgement(self, event: Event) -> Judgement:
        component = self._cache.component_of_event(event.id)
        if component not in self._of:
            events = self._cache.component_events([component] if component is not None else [])
            self._of[component] = judge(events, self._cache.outside)
        return self._of[component]

    def is_in_force(self, row: Row) -> bool:
        event = row.event
        judgement = self._judgement(event)
        if event.newer or row.effect == "pending" or judgement.superseded_by(event.id):
            return False
        match CHANGE_TYPES.get(event.change_type):
            case kind if kind == CLOSING:
                return judgement.is_standing(event.id)
            case kind if kind == OPENING:
                return row.verdict in ("active", "contested") and not judgement.closed_by(event.id)
            case kind if kind == SUPERSEDING:
                return row.verdict in ("reopened", "active")
            case kind if kind == ENDING:
                return row.verdict == "removed"
        return True

    def subject(self, row: Row) -> tuple[object, ...]:
        """Return what the event decides: what a later event on the same replaces."""
        event = row.event
        kind = CHANGE_TYPES.get(event.change_type)
        names = self._judgement(event).lineage(event.scope, event.entity_path)
        return (event.scope, names, total_key(event.approach) if event.approach else "", kind)


# --- why --------------------------------------------------------------------------------------


def _signals(
    cache: Cache,
    libraries: Libraries,
    row: Row,
    fields: Iterable[str],
    scope: str,
    now: str,
    commons: dict[str, bool],
) -> Iterator[Signal]:
    event = row.event
    asked: dict[str, Callable[[], Signal | None]] = {
        "expires_when": lambda: _expired(cache, libraries, row, scope, now),
        "revisit_after": lambda: staleness.revisit(event, now),
        "stale_when": lambda: _suggested(cache, row, scope, commons),
    }
    for name in fields:
        signal = asked[name]()
        if signal is not None:
            yield signal


def _expired(cache: Cache, libraries: Libraries, row: Row, scope: str, now: str) -> Signal | None:
    event = row.event
    text = str(event.fields["expires_when"])
    try:
        condition = revisit.condition(text)
    except revisit.BadCondition:  # another writer's: whatever it says, a person can read it
        return Signal(staleness.MANUAL_REVIEW, f"its condition is none that gitmem knows: {text[:80]}")
    match condition.kind:
        case "library":
            near = [place for place in (entities.place_of(event.entity_path), event.scope) if place]
            return staleness.library(condition.subject, condition.bound, libraries.versions(condition.subject, near))
        case "entity":
            return staleness.changed(condition.subject, _changed(cache, condition.subject, row, scope))
        case "date":
            return staleness.day_came(condition.subject, now)
    return Signal(staleness.MANUAL_REVIEW, f"for a person to judge: {condition.subject}")


def has_ended(cache: Cache, libraries: Libraries, row: Row, now: str, *, firm: bool) -> bool:
    """Say whether the condition `expires_when` of a decision is met, as its own scope sees it.

    firm   a person ratified it: then what is recorded on another entity ends it only once that is ratified as well
    """
    signal = _expired(cache, libraries, row, row.event.scope, now)
    if signal is None or signal.flag != staleness.EXPIRED:
        return False
    if not signal.event or not firm:
        return True
    return any(later.trust == "ratified" for later in listing.by_ids(cache, [signal.event]))


def _changed(cache: Cache, name: str, row: Row, scope: str) -> Event | None:
    names = [pair for pair in listing.names_of(cache, name) if entities.sees(scope, pair[0])]
    wanted = set(names)
    for later in listing.later_changes(cache, names, row.n):
        event = later.event
        if (event.scope, entity_key(event.entity_path)) in wanted and _is_later(event, row.event) and later.is_shown:
            return event
    return None


def _suggested(cache: Cache, row: Row, scope: str, commons: dict[str, bool]) -> Signal | None:
    event = row.event
    wish = Wish(str(event.fields["stale_when"]))
    wish = wish.without(unit for unit in wish.units if _is_common(cache, unit, commons))
    query = wish.query()
    if not query:
        return None
    best: tuple[list[str], Event] | None = None
    for later in listing.later_with(cache, query, row.n, LATER_MAX):
        other = later.event
        if not later.is_shown or not entities.sees(scope, other.scope) or not _is_later(other, event):
            continue
        shared = wish.met_by(other)
        if shared and (best is None or len(shared) > len(best[0])):
            best = (shared, other)
    if best is None:
        return None
    shared, other = best
    told = ", ".join(shared[:6])
    why = f"{other.change_type} {other.entity_path} on {staleness.moment(other)[:10]} speaks of: {told}"
    return Signal(staleness.REVIEW_SUGGESTED, why, since=staleness.moment(other), event=other.id, words=shared)


def _is_common(cache: Cache, unit: str, known: dict[str, bool]) -> bool:
    if unit not in known:
        total = cache.event_count()
        known[unit] = total >= COMMON_FROM and (
            listing.count_with(cache, staleness.query_of(unit)) * COMMON_SHARE > total
        )
    return known[unit]


def _is_later(other: Event, event: Event) -> bool:
    """Say whether `other`, which the log has after `event`, also happened after it, and isn't history told late."""
    return other.id != event.id and staleness.moment(other) >= staleness.moment(event)
