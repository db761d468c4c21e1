"""The past: a cache that answers as of a time, or as it was known at one.

Two clocks. `as_of` asks what held then, by what is known now: a change counts from its `valid_from` (else from when
it was recorded) until its `valid_to`. `known_at` asks what was believed then: what had been recorded, or what a
log that ended in some tip held. Both together ask what was then believed to hold at a time.

A verdict is a function of the set of a component's events, so the past is the same function of a smaller set. It is
worked out for the components that are asked about; one whose events all count is not judged at all, so that a summary
of lately costs what has happened since. A summary of long ago is counted in the cache's `spans`. The cache of everyday
answers never comes here.

Three things are never undone by looking back. What is sealed, muted or redacted now stays hidden. With `as_of` alone,
what is retracted now never held: a retraction says that an event should not have been, and isn't a later
turn of things, as a supersede is. And *saw* still runs through events that don't count: who knew what is a fact of
the writing, whatever part of it is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from gitmem.core import entities
from gitmem.core.events import Event
from gitmem.store import batch, components, listing
from gitmem.store.cache import Cache, StoredDecision, marks_now
from gitmem.store.components import birth_trust, event_of
from gitmem.store.glance import parts, placeholders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.repository import Repository
    from gitmem.store.spans import Spans

#: From so many components on that stood otherwise than now, a summary asks for spans.
SPANS_FROM = 200
#: More components than this are looked for in one pass over all events.
ASKED_MAX = 2000
#: A row of `decisions`, as `batch.judged_rows` yields it.
_COLUMNS = "component, scope, names, entity_path, approach, akey, verdict, trust, standing, against, since, events"


class Moment:
    """From where one looks back.

    as_of     a time of the format, or "": what held then
    known_at  a time of the format, or "": what was recorded by then
    unknown   ids of the events that a known tip of the log doesn't reach, or None where no tip was given
    """

    __slots__ = ("as_of", "known_at", "unknown")

    def __init__(self, as_of: str = "", known_at: str = "", unknown: frozenset[str] | None = None) -> None:
        self.as_of = as_of
        self.known_at = known_at
        self.unknown = unknown

    def knows(self, event: Event) -> bool:
        """Say whether the event had been recorded by then; at the very instant, it had."""
        if self.unknown is not None and event.id in self.unknown:
            return False
        return not self.known_at or event.recorded_at <= self.known_at

    def holds(self, event: Event) -> bool:
        """Say whether the event held then: from its first instant on, and no more at its last."""
        if not self.as_of:
            return True
        ends = event.fields.get("valid_to")
        return (event.valid_from or event.recorded_at) <= self.as_of and (
            not isinstance(ends, str) or not ends or ends > self.as_of
        )

    def condition(self, alias: str = "e") -> tuple[str, tuple[object, ...]]:
        """Return `knows` and `holds` as a condition on the table `events`, under the name `alias`, and its values."""
        terms: list[str] = []
        values: list[object] = []
        if self.known_at:
            terms.append(f"{alias}.recorded_at <= ?")
            values.append(self.known_at)
        if self.unknown is not None:
            terms.append(f"{alias}.id NOT IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(sorted(self.unknown)))
        if self.as_of:
            terms.append(f"COALESCE({alias}.valid_from, {alias}.recorded_at) <= ?")
            terms.append(f"({alias}.valid_to IS NULL OR {alias}.valid_to > ?)")
            values += [self.as_of, self.as_of]
        return " AND ".join(terms), tuple(values)

    def exceptions(self) -> list[tuple[str, object]]:
        """Return what keeps an event from counting, as (condition on `events e`, its value): any of these does.

        The opposite of `condition`, one index each (but for what was recorded later, which is looked for).
        """
        found: list[tuple[str, object]] = []
        if self.known_at:
            found.append(("e.recorded_at > ?", self.known_at))
        if self.unknown is not None:
            found.append(("e.id IN (SELECT value FROM json_each(?))", json.dumps(sorted(self.unknown))))
        if self.as_of:
            found.append(("COALESCE(e.valid_from, e.recorded_at) > ?", self.as_of))
            found.append(("e.valid_to <= ?", self.as_of))
        return found


def counting(moment: Moment, events: Iterable[Event], outside: Callable[[str], Iterable[str]]) -> list[Event]:
    """Return those of the events of whole components that count at a moment."""
    known = [event for event in events if moment.knows(event)]
    if not moment.as_of:
        return known
    gone: set[str] = set()
    if any(event.action == "retract" for event in known):
        from gitmem.core.verdicts import judge

        judged = judge(known, outside)
        gone = {event.id for event in known if judged.trust(event.id) == "retracted"}
    return [event for event in known if event.id not in gone and moment.holds(event)]


def not_reached(repository: Repository, tip: str, known: str) -> frozenset[str]:
    """Return the ids of the events of the log `tip` that its commit `known` doesn't reach. Raises GitFailed."""
    if tip == known:
        return frozenset()
    from gitmem.store import git
    from gitmem.store.plumbing_log import READING

    # A tree of the log holds its own commit's events and nothing else, so what is listed is what was added.
    listed = repository.git(*READING, "rev-list", "--objects", tip, "^" + known, "--", env=git.RAW)
    found = set()
    for line in listed.decode("ascii", "replace").splitlines():
        name = line.partition(" ")[2]
        event_id, _, suffix = name.partition(".")
        if suffix in ("json", "redacted"):
            found.add(event_id)
    return frozenset(found)


class Past(Cache):
    """A cache as it would stand if nothing but what counts at `moment` were in the log. For reading alone."""

    def __init__(self, cache: Cache, moment: Moment) -> None:
        super().__init__(cache.db, cache.path)
        self.moment = moment
        self.counted = moment.condition()
        # component -> its decisions, in the columns of the table; n -> (effect, reason, trust) where not as born
        self._decisions: dict[int, list[tuple[object, ...]]] = {}
        self._judged: dict[int, dict[int, tuple[str, str, str]]] = {}
        self._apart: dict[int, list[tuple[object, ...]]] = {}
        self._touched_now: list[int] | None = None
        self._spans: Spans | None = None
        self._later: list[int] | None = None

    # --- what counts --------------------------------------------------------------------------

    def _counting(self, events: Sequence[Event]) -> list[Event]:
        """Return those of the events of whole components that count at the moment."""
        return counting(self.moment, events, self.outside)

    def _settled(self, component: int) -> list[tuple[object, ...]]:
        """Return the decisions of a component at the moment, as rows of the table `decisions`."""
        found = self._decisions.get(component)
        if found is not None:
            return found
        members = components.with_renames(self.db, component, components.rows_of(self.db, component))
        counting = self._counting([event for _, event in members])
        if len(counting) == len(members):
            found = self._stored(component)
        else:
            found = []
            self._judged[component] = judged = {}
            # What is retracted now stands in listings as that; what does not count is in none.
            ids = {event.id for event in counting}
            for n, event in members:
                if event.id not in ids:
                    judged[n] = ("void", "retracted", "retracted")
            counted = [member for member in members if member[1].id in ids]
            for row in batch.judged_rows(self.db, component, counted):
                if len(row) == batch.JUDGED_WIDTH:
                    judged[row[0]] = (str(row[1]), str(row[2]), str(row[3]))  # type: ignore[index]
                elif len(row) == batch.DECISION_WIDTH:
                    found.append(row)
        self._decisions[component] = found
        return found

    def _decisions_of(self, component: int) -> Iterator[tuple[object, ...]]:
        """Yield the decisions of a component alone, for a summary of thousands: the rest is not worked out."""
        if component in self._decisions:
            yield from self._decisions[component]
            return
        members = components.with_renames(self.db, component, components.rows_of(self.db, component))
        ids = {event.id for event in self._counting([event for _, event in members])}
        for row in batch.judged_rows(self.db, component, [member for member in members if member[1].id in ids]):
            if len(row) != batch.DECISION_WIDTH:
                return  # the decisions come first
            yield row

    def _stored(self, component: int) -> list[tuple[object, ...]]:
        return self.db.execute(f"SELECT {_COLUMNS} FROM decisions WHERE component = ?", (component,)).fetchall()

    def standing_of(self, n: int, component: int | None, event: Event) -> tuple[str, str, str]:
        """Return the effect of an event at the moment, its reason, and its trust."""
        if component is not None:
            self._settled(component)
            judged = self._judged.get(component)
            if judged is not None:
                return judged.get(n, ("applied", "", birth_trust(event)))
            row = self.db.execute("SELECT effect, reason, trust FROM judged WHERE n = ?", (n,)).fetchone()
            if row:
                return (row[0], row[1], row[2])
        return ("applied", "", birth_trust(event))

    # --- what a cache answers -----------------------------------------------------------------

    def lineage_names(self, scope: str, key: str) -> list[str]:
        if self._later is None:  # the renames that don't count
            condition, values = self.counted
            rows = self.db.execute(
                f"SELECT DISTINCT a.n FROM aliases a JOIN events e ON e.n = a.n WHERE NOT ({condition})", values
            )
            self._later = [row[0] for row in rows]
        return components.lineage_names(self.db, scope, key, self._later)

    def component_events(self, numbers: Iterable[int]) -> list[Event]:
        return self._counting(super().component_events(numbers))

    def counts(self, scope: str = "") -> dict[str, int]:
        spans = self._kept_up()
        if spans is None:
            found = super().counts(scope)
            apart = self._judged_apart(self._touched_sorted())
            gone: Iterable[tuple[object, ...]] = (row for component in apart for row in self._stored(component))
        else:
            numbers, found = spans.counts(scope)
            apart, gone = self._judged_apart(numbers), ()
        for several, more in ((gone, -1), ((row for rows in apart.values() for row in rows), 1)):
            for row in several:
                if entities.sees(scope, str(row[1])):
                    found[str(row[6])] = found.get(str(row[6]), 0) + more
        return {verdict: number for verdict, number in found.items() if number}

    def decisions_of(self, names: Sequence[tuple[str, str]]) -> list[StoredDecision]:
        wanted = set(names)
        return [
            self._decided(row)
            for component in sorted(self.components_of(names))
            for row in self._settled(component)
            if any((row[1], name) in wanted for name in str(row[2]).split("\n"))
        ]

    def decisions_worst(self, limit: int, scope: str = "") -> list[StoredDecision]:
        found: list[tuple[object, ...]] = []
        for verdict in ("contested", "rejected", "reverted", "reopened"):
            found += self._with(verdict, scope, limit - len(found))
            if len(found) >= limit:
                break
        return [self._decided(row) for row in found]

    def decisions_with(self, verdict: str) -> list[StoredDecision]:
        return [self._decided(row) for row in self._with(verdict)]

    def _with(self, verdict: str, scope: str = "", limit: int | None = None) -> list[tuple[object, ...]]:
        """Return the decisions of one verdict, those that were decided last, at most `limit`."""
        spans = self._kept_up()
        rows: Iterable[tuple[object, ...]]
        if spans is None:
            apart = self._judged_apart(self._touched_sorted())
            stored = self.db.execute(
                f"SELECT {_COLUMNS} FROM decisions WHERE verdict = ? ORDER BY since DESC, standing", (verdict,)
            )
            seen = (row for row in stored if row[0] not in apart and entities.sees(scope, row[1]))
            rows = islice(seen, limit)
        else:
            numbers, newest = spans.newest(verdict, scope, limit)
            apart = self._judged_apart(numbers)
            rows = (row for component in newest for row in self._settled(component))
        mine = [row for row in chain(rows, *apart.values()) if row[6] == verdict and entities.sees(scope, str(row[1]))]
        mine.sort(key=lambda row: str(row[8]))
        mine.sort(key=lambda row: str(row[10]), reverse=True)
        return mine[:limit]

    def _judged_apart(self, numbers: Sequence[int]) -> dict[int, list[tuple[object, ...]]]:
        """Return what stood then in some components, of which neither the cache's decisions nor its spans say that."""
        if any(component not in self._apart for component in numbers):
            begun = self._begun(numbers)
            for component in numbers:
                if component not in self._apart:
                    self._apart[component] = list(self._decisions_of(component)) if component in begun else []
        return {component: self._apart[component] for component in numbers}

    def _kept_up(self) -> Spans | None:
        """Return the spans that a summary is counted in, or None where what happened since is judged."""
        if self._spans is None:
            if bool(self.moment.as_of) == bool(self.moment.known_at) or self.moment.unknown is not None:
                return None
            from gitmem.store.spans import Spans

            spans = Spans(self, self.moment)
            if (spans.are_kept() or len(self._touched_sorted()) >= SPANS_FROM) and spans.keep_up():
                self._spans = spans
        return self._spans

    def _touched_sorted(self) -> list[int]:
        if self._touched_now is None:
            self._touched_now = sorted(self._touched())
        return self._touched_now

    def _begun(self, numbers: Sequence[int]) -> set[int]:
        """Return those of some components of which anything counts: of the others nothing stood then."""
        condition, values = self.counted
        if len(numbers) > ASKED_MAX:
            rows = self.db.execute(f"SELECT DISTINCT e.component FROM events e WHERE {condition}", values)
            return {component for (component,) in rows if component is not None}
        found: set[int] = set()
        for part in parts(numbers):
            query = f"SELECT DISTINCT e.component FROM events e WHERE e.component IN ({placeholders(part)})"
            found.update(row[0] for row in self.db.execute(f"{query} AND {condition}", (*part, *values)))
        return found

    def _touched(self) -> set[int]:
        """Return the components that hold an event which doesn't count."""
        found: set[int] = set()
        for condition, value in self.moment.exceptions():
            # Plainly, or SQLite goes through all components in their order instead.
            rows = self.db.execute(f"SELECT e.component FROM events e WHERE {condition}", (value,))
            found |= {component for (component,) in rows if component is not None}
        if self.db.execute("SELECT 1 FROM aliases LIMIT 1").fetchone() is None:
            return found
        # A rename that doesn't count yet joins nothing: what it joins now is judged apart.
        condition, values = self.counted
        for scope, key in self.db.execute(
            f"SELECT DISTINCT a.scope, a.a FROM aliases a JOIN events e ON e.n = a.n WHERE NOT ({condition})", values
        ).fetchall():
            touched = [pair for pair in self.names_below(key) if scope in ("*", pair[0])]
            touched += [(its, key) for its in self.scopes_of(key) if scope in ("*", its)]
            found |= self.components_of(touched)
        return found

    def _decided(self, row: tuple[object, ...]) -> StoredDecision:
        given = (*row[1:5], *row[6:12], row[5])
        found = self._decision(given)  # type: ignore[arg-type]
        found.commits = self.commits_of(found.standing)
        return found

    def commits_of(self, event_id: str) -> list[str]:
        """Return the commits that an event was linked to, as far as that was known, newest link last."""
        rows = self.db.execute(
            "SELECT l.commit_oid, e.id, e.body, e.redacted FROM placed l JOIN events e ON e.n = l.n "
            "WHERE l.event = ? ORDER BY l.n",
            (event_id,),
        )
        found: dict[str, None] = {}
        for commit, *link in rows:
            if self.moment.knows(event_of(*link)):
                found.pop(commit, None)
                found[commit] = None
        return list(found)

    def _closed_above(self, scope: str, names: list[str]) -> str:
        for name in names:
            for its_scope in (scope, *entities.ancestors_scope(scope)):
                above = entities.parents(name) if its_scope == scope else [name, *entities.parents(name)]
                for parent in above:
                    for component in self.components_of([(its_scope, parent)]):
                        for row in self._settled(component):
                            if row[1] == its_scope and parent in str(row[2]).split("\n"):
                                if not row[5] and row[6] == "rejected":
                                    return str(row[8])
        return ""

    def closings_like(self, marks: Iterable[int]) -> list[tuple[Event, int]]:
        return [
            (event, shared)
            for event, shared in super().closings_like(marks)
            if self.moment.knows(event) and self.moment.holds(event)
        ]

    def event_count(self, scope: str = "") -> int:
        more, given = listing.scope_predicate(scope, all_scopes=False)
        left_out = 0
        counted: list[tuple[str, object]] = []  # each is left out once, by the first that leaves it out
        for condition, value in self.moment.exceptions():
            terms = [condition, *(f"NOT ({term})" for term, _ in counted), *([more] if more else [])]
            values = (value, *(each for _, each in counted), *given)
            found = self.db.execute(f"SELECT COUNT(*) FROM events e WHERE {' AND '.join(terms)}", values).fetchone()
            left_out += int(found[0])
            counted.append((condition, value))
        return super().event_count(scope) - left_out


# --- rows for people --------------------------------------------------------------------------


def row_of(past: Past, row: tuple[object, ...]) -> listing.Row:
    """Return a row of `listing._SELECT` as the event stood at the moment; its marks are those of now."""
    n, event_id, body, redacted, component, akey, key = row[:7]
    assert isinstance(n, int) and isinstance(body, bytes)
    event = event_of(str(event_id), body, str(redacted))
    number = component if isinstance(component, int) else None
    effect, reason, trust = past.standing_of(n, number, event)
    superseded_by = [
        later.id
        for later in past.referring(event.id)
        if event.id in later.supersedes and past.moment.knows(later) and past.moment.holds(later)
    ]
    verdict = ""
    if number is not None and key:
        for found in past._settled(number):
            if found[1] != event.scope:
                continue
            if found[5] == akey and key in str(found[2]).split("\n"):
                verdict = str(found[6])
                break
            if str(n) in str(found[11]).split(" "):
                verdict = str(found[6])
    marks = marks_now(str(row[10])) if row[10] else []
    return listing.Row(n, event, trust, effect, reason, verdict, past.commits_of(event.id), superseded_by, marks)


def newest_change(past: Past, rows: Iterable[tuple[object, ...]]) -> listing.Row | None:
    """Return the change that happened last, of rows newest first: by when it held, not by when it was written down."""
    best: listing.Row | None = None
    for row in rows:
        made = row_of(past, row)
        if made.is_shown and (best is None or (past.moment.as_of and _when(made.event) > _when(best.event))):
            best = made
            if not past.moment.as_of:
                break
    return best


def _when(event: Event) -> str:
    return event.valid_from or event.recorded_at
