"""Briefing: what a session should know at its start, asked of the cache. Each question reads a bounded number of rows.

Nothing here grows with the log: the newest closings that a scope sees, those on a few files, what a pin keeps in
sight, what is due by its date, how much waits. What is sealed or muted isn't among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem.core import marks
from gitmem.core.lineages import entity_key
from gitmem.store import listing
from gitmem.store.cache import Cache
from gitmem.store.closings import Closing, Closings, is_seen
from gitmem.store.listing import Row

#: So many of the newest closings are looked at, and so many of what came due last.
NEWEST_MAX, DUE_MAX = 60, 40
#: Of more files than this, the first are asked about.
FILES_MAX = 300
#: What waits is counted so far.
COUNTED_MAX = 1000


class Briefing:
    """The questions, for one scope and one moment (a time of the format)."""

    def __init__(self, cache: Cache, scope: str, now: str) -> None:
        self.cache = cache
        self.scope = scope
        self.now = now
        self._closings = Closings(cache, now)

    def on_files(self, paths: Sequence[str]) -> list[Closing]:
        """Return the closings on some files, on what lies in them, and what closes them from above."""
        found: dict[int, Closing] = {}
        keys = [entity_key(path) for path in paths[:FILES_MAX]]
        for name in self._closings.glance.worth_asking(keys):
            found.update((one.n, one) for one, _ in self._closings.on(name))
        for key in keys:
            found.update((one.n, one) for one in self._closings.below(key, NEWEST_MAX))
        return self._shown(found.values())

    def newest(self) -> list[Closing]:
        """Return the newest closings that the scope sees."""
        found: dict[int, Closing] = {}
        for scope in ["", *self.cache.scopes()]:
            if is_seen(self.scope, scope)[0]:
                found.update((one.n, one) for one in self._closings.newest(scope, NEWEST_MAX))
        return self._shown(found.values())[:NEWEST_MAX]

    def _shown(self, closings: Iterable[Closing]) -> list[Closing]:
        """Return what is told, the newest first."""
        seen = [one for one in closings if is_seen(self.scope, one.scope)[0] and one.strength > 0]
        left = [one for one in seen if marks.MUTE not in marks.in_force(self.cache.marks_of(one.event.id), self.now)]
        return sorted(left, key=lambda one: -one.n)

    def pinned(self) -> list[Row]:
        """Return the shown events that a pin keeps in sight, the newest first."""
        rows = self.cache.db.execute(
            "SELECT e.id, j.marks FROM judged j JOIN events e ON e.n = j.n "
            "WHERE j.marks <> '' AND j.marks LIKE '%pin%' ORDER BY j.n DESC LIMIT ?",
            (NEWEST_MAX,),
        ).fetchall()
        held = [event_id for event_id, spelled in rows if marks.PIN in marks.in_force(spelled, self.now)]
        return [row for row in listing.by_ids(self.cache, held) if self._is_told(row)]

    def due(self) -> list[tuple[str, Row]]:
        """Return (since when, event) of what came due by a date, the latest first, as far as it still decides."""
        rows = self.cache.db.execute(
            "SELECT c.due, e.id FROM conditions c JOIN events e ON e.n = c.n "
            "WHERE c.due <> '' AND c.due <= ? ORDER BY c.due DESC LIMIT ?",
            (self.now, DUE_MAX),
        ).fetchall()
        found = []
        for (since, _), row in zip(rows, listing.by_ids(self.cache, [event_id for _, event_id in rows])):
            if self._is_told(row) and not row.superseded_by and self._decides(row):
                found.append((since, row))
        return found

    def _is_told(self, row: Row) -> bool:
        return row.is_shown and is_seen(self.scope, row.event.scope)[0]

    def _decides(self, row: Row) -> bool:
        """Say whether an event still stands: a closing among what is closed, an attempt that is not closed."""
        if row.verdict in ("rejected", "reverted"):
            found = self.cache.db.execute("SELECT 1 FROM closed WHERE n = ?", (row.n,)).fetchone()
            return found is not None
        return row.effect == "applied"

    def waiting(self) -> int:
        """Return how much waits for a person, as the scope sees it; of more than a thousand, a thousand."""
        from gitmem.store import lessons

        db = self.cache.db
        rules = len(lessons.proposed(self.cache, self.scope)[1])
        if not self.scope:
            (count,) = db.execute(f"SELECT COUNT(*) FROM (SELECT 1 FROM waiting LIMIT {COUNTED_MAX})").fetchone()
            return min(COUNTED_MAX, int(count) + rules + self.cache.counts().get("contested", 0))
        seen, values = listing.scope_predicate(self.scope, all_scopes=False)
        (count,) = db.execute(
            f"SELECT COUNT(*) FROM (SELECT n FROM waiting LIMIT {COUNTED_MAX}) w JOIN events e ON e.n = w.n "
            f"WHERE {seen}",
            values,
        ).fetchone()
        return int(count) + rules

    def recorded_since(self, moment: str) -> list[tuple[str, str, str]]:
        """Return (entity path, recorded_at, session) of the newest changes since a time, the newest first."""
        rows = self.cache.db.execute(
            "SELECT e.body, e.id, e.redacted, e.recorded_at, e.session_id FROM events e "
            "WHERE e.kind = 'change' ORDER BY e.n DESC LIMIT 500"
        )
        found = []
        for body, event_id, redacted, at, session in rows:
            if at >= moment:
                from gitmem.store.components import event_of

                found.append((event_of(event_id, body, redacted).entity_path, at, session or ""))
        return found
