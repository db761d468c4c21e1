"""Spans in the cache: how long each decision had one verdict, so that a summary of any moment is a count.

Filled when somebody first asks for a summary of long ago, by one of the two clocks, and kept up from then on: what
a batch judges anew loses its spans (`Batch`), and the next summary works those out again. Like all of the
cache it makes an answer fast and never different: what has no spans is judged, as `past` does it.

A component that is not plain (`core/spans`) is judged once for each time that something in it began or ended to
count. One that has too many such times is left to be judged when it is asked about.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence

from gitmem.core import spans
from gitmem.core.events import Event
from gitmem.store import batch, components
from gitmem.store.cache import Cache
from gitmem.store.past import Moment, counting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: A component with more judgements than this, times its events, is judged when it is asked about.
WINDING_FROM = 1024
#: So many judgements are made for one question, some two seconds; the next one goes on from there.
JUDGEMENTS_MAX = 20_000
#: How many values a row of `spans` has.
_WIDTH = 8


def _held_from(event: Event) -> str:
    return event.valid_from or event.recorded_at


def _known_from(event: Event) -> str:
    return event.recorded_at


def _held_until(event: Event) -> str:
    until = event.fields.get("valid_to")
    return until if isinstance(until, str) else ""


def _always(event: Event) -> str:
    return ""


#: clock -> from when on an event counts, from when on it does not any more (empty: it does to this day), and the
#: moment of a time.
CLOCKS: dict[str, tuple[Callable[[Event], str], Callable[[Event], str], Callable[[str], Moment]]] = {
    "as of": (_held_from, _held_until, lambda at: Moment(as_of=at)),
    "known at": (_known_from, _always, lambda at: Moment(known_at=at)),
}


def judged(
    cache: Cache, component: int, members: list[tuple[int, Event]], times: Sequence[str], clock: str
) -> Iterator[tuple[str, ...]]:
    """Yield the spans of a component, judged anew at each of `times`; `members` as `batch.judged_rows` takes them."""
    moment = CLOCKS[clock][2]
    events = [event for _, event in members]
    standing: dict[tuple[object, ...], tuple[str, ...]] = {}
    for at in times:
        ids = {event.id for event in counting(moment(at), events, cache.outside)}
        found: dict[tuple[object, ...], tuple[str, ...]] = {}
        for row in batch.judged_rows(cache.db, component, [member for member in members if member[1].id in ids]):
            if len(row) != batch.DECISION_WIDTH:
                break  # the decisions come first
            scope, verdict, deciding, since = str(row[1]), str(row[6]), str(row[8]), str(row[10])
            if verdict in spans.COUNTED:
                deciding = since = ""
            found[row[1], row[2], row[5]] = (scope, verdict, deciding, since, at)
        for key, now in [*standing.items()]:
            if key not in found or found[key][:4] != now[:4]:
                yield (*now, at)
                del standing[key]
        for key, now in found.items():
            standing.setdefault(key, now)
    for now in standing.values():
        yield (*now, spans.OPEN_END)


class Spans:
    """The spans of a cache, asked about one time by one clock."""

    def __init__(self, cache: Cache, moment: Moment) -> None:
        self.cache = cache
        self.db = cache.db
        self.clock = "as of" if moment.as_of else "known at"
        self.at = moment.as_of or moment.known_at
        self._renamed = False

    def are_kept(self) -> bool:
        """Say whether there are any: of all components but those in `unspanned`."""
        return self.clock in self._clocks()

    def _clocks(self) -> list[str]:
        value = self.cache.meta("spans")
        return str(value).split("\n") if value else []

    def keep_up(self) -> bool:
        """Work out the spans that are missing, and store them; return whether there are any now."""
        path = self.cache.path
        if path is None or not (os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK)):
            return self.are_kept()
        missing = self._missing()
        if missing is not None and not missing:
            return True
        tip = self.cache.tip
        self._renamed = self.db.execute("SELECT 1 FROM aliases LIMIT 1").fetchone() is not None
        rows: list[tuple[object, ...]] = []
        winding: list[int] = []
        done: list[int] = []
        begins, ends, _ = CLOCKS[self.clock]
        left = JUDGEMENTS_MAX
        for component, members in self._groups(missing):
            events = [event for _, event in members]
            ending = {ends(event) for event in events} - {""}
            found: Iterable[tuple[str, ...]] | None = None if ending else spans.of_plain(events, begins)
            if found is None:
                times = sorted(ending.union(map(begins, events)))
                if len(times) * len(events) > WINDING_FROM:
                    winding.append(component)
                    found = ()
                elif left <= 0:
                    continue
                else:
                    left -= len(times)
                    found = judged(self.cache, component, members, times, self.clock)
            done.append(component)
            rows += [(self.clock, component, *span) for span in found]
        try:
            self.db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:  # a writer that does not let go
            return self.are_kept()
        try:
            if self.cache.tip == tip and self._missing() == missing:
                self._store(missing, rows, winding, done)
                self.cache.stamp(self.cache.meta("stamp"))  # type: ignore[arg-type]
            self.db.execute("COMMIT")
        except sqlite3.OperationalError:  # a full disk
            self.db.execute("ROLLBACK")
        return self.are_kept()

    def _missing(self) -> list[int] | None:
        """Return the components that have no spans yet, though they should; None where none has."""
        if not self.are_kept():
            return None
        rows = self.db.execute(
            "SELECT component FROM unspanned WHERE clock = ? AND NOT winding ORDER BY component", (self.clock,)
        )
        return [component for (component,) in rows]

    def _groups(self, missing: list[int] | None) -> Iterator[tuple[int, list[tuple[int, Event]]]]:
        if missing is not None:
            for component in missing:
                yield component, self._with_renames(component, components.rows_of(self.db, component))
            return
        at = 0
        members: list[tuple[int, Event]] = []
        for component, n, *row in self.db.execute(
            "SELECT component, n, id, body, redacted FROM events WHERE component IS NOT NULL ORDER BY component, n"
        ):
            if component != at:
                if members:
                    yield at, self._with_renames(at, members)
                at, members = component, []
            members.append((n, components.event_of(*row)))
        if members:
            yield at, self._with_renames(at, members)

    def _with_renames(self, component: int, rows: list[tuple[int, Event]]) -> list[tuple[int, Event]]:
        return components.with_renames(self.db, component, rows) if self._renamed else rows

    def _store(
        self, missing: list[int] | None, rows: list[tuple[object, ...]], winding: list[int], done: list[int]
    ) -> None:
        db, clock = self.db, self.clock
        if missing is None:
            db.execute("INSERT OR REPLACE INTO meta VALUES ('spans', ?)", ("\n".join((*self._clocks(), clock)),))
            every = "SELECT DISTINCT ?, component, 0 FROM events WHERE component IS NOT NULL"
            db.execute(f"INSERT INTO unspanned {every}", (clock,))
        db.executemany("DELETE FROM unspanned WHERE clock = ? AND component = ?", [(clock, one) for one in done])
        db.executemany("INSERT INTO unspanned VALUES (?, ?, 1)", [(clock, one) for one in winding])
        db.executemany(f"INSERT INTO spans VALUES ({','.join('?' * _WIDTH)})", rows)

    # --- questions ----------------------------------------------------------------------------

    def counts(self, scope: str) -> tuple[list[int], dict[str, int]]:
        """Return the components without spans; of the others how many decisions, seen in `scope`, had each verdict."""
        where, values = self._where(scope)
        apart, rows = self._asked(f"SELECT verdict, COUNT(*) FROM spans WHERE {where} GROUP BY verdict", values)
        return apart, dict(rows)

    def newest(self, verdict: str, scope: str, limit: int | None) -> tuple[list[int], list[int]]:
        """Return the components without spans; of the others those with a decision that had a verdict.

        Only those of the `limit` decisions that were decided last.
        """
        where, values = self._where(scope)
        query = f"SELECT component FROM spans WHERE verdict = ? AND {where} ORDER BY since DESC, standing LIMIT ?"
        apart, rows = self._asked(query, (verdict, *values, -1 if limit is None else limit))
        return apart, sorted({component for (component,) in rows})

    def _asked(self, query: str, values: Sequence[object]) -> tuple[list[int], list[Any]]:
        # At once: another process that judges a component anew takes its spans away and says so.
        self.db.execute("BEGIN")
        try:
            rows = self.db.execute("SELECT component FROM unspanned WHERE clock = ? ORDER BY component", (self.clock,))
            return [component for (component,) in rows], self.db.execute(query, values).fetchall()
        finally:
            self.db.execute("COMMIT")

    def _where(self, scope: str) -> tuple[str, tuple[str, ...]]:
        from gitmem.store.listing import scope_predicate

        seen, more = scope_predicate(scope, all_scopes=False, column="scope")
        return f"clock = ? AND at <= ? AND until > ?{seen and ' AND ' + seen}", (self.clock, self.at, self.at, *more)
