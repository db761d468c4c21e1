"""Activity: what the gate told to whom, what was let pass, what was edited. The part of local activity that it needs.

Never travels, never moves trust, pruned by age; holds ids, paths and names, and no text of anybody but what the
gate itself answered a moment ago. A *reader* is one session, and within it one subagent: what one was shown, another
was not. Readers whose client names no session share one bucket per agent, which is nobody else's.

What can't be read says that nothing is known; what can't be written is told to whoever asks (`is_kept`), because a
gate that can't remember must not stop the same edit for ever.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from gitmem.core.additions import whole
from gitmem.store.local import FILE_NAME, KEPT_S
from gitmem.store.local_file import LocalFile

#: Raise it with the tables.
VERSION = 1
#: A call that fires twice does so within this many seconds; one that no id names, within fewer.
TWICE_S, TWICE_UNNAMED_S = 10, 2
#: Another process has the file for so long at most.
BUSY_S = 0.4
#: What failed longer ago is no news.
FAILURES_S = 7 * 86400
STOPPED, ASKED, NOTED = "stopped", "asked", "noted"
#: What the gate did: `outcomes.what`.
STOP, PASS, NOTE, OPEN, OVERRIDE = "stop", "pass", "note", "open", "override"

_TABLES = """
CREATE TABLE IF NOT EXISTS shown(
  reader TEXT, event TEXT, how TEXT, at INTEGER NOT NULL, PRIMARY KEY(reader, event, how)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers(
  call TEXT PRIMARY KEY, at INTEGER NOT NULL, stop INTEGER NOT NULL, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS let_pass(
  override TEXT PRIMARY KEY, session TEXT NOT NULL, event TEXT NOT NULL, at INTEGER NOT NULL, used_at INTEGER);
CREATE TABLE IF NOT EXISTS edited(
  session TEXT, path TEXT, at REAL NOT NULL, PRIMARY KEY(session, path)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outcomes(
  at INTEGER NOT NULL, what TEXT NOT NULL, agent TEXT, session TEXT, subagent TEXT, path TEXT, events TEXT,
  said TEXT, ms INTEGER);
CREATE INDEX IF NOT EXISTS outcomes_at ON outcomes(at);
CREATE INDEX IF NOT EXISTS shown_event ON shown(event);
"""


class Reader:
    """Who is told: the agent, its session and the subagent in it."""

    __slots__ = ("agent", "session", "subagent")

    def __init__(self, agent: str, session: str = "", subagent: str = "") -> None:
        self.agent = whole(agent)
        self.session = whole(session)
        self.subagent = whole(subagent)

    @property
    def key(self) -> str:
        """One text for one reader; no session, and a bucket of the agent's own."""
        return "\n".join((self.bucket, self.subagent))

    @property
    def bucket(self) -> str:
        """The session; of a client that names none, `?` and the agent's name."""
        return self.session or f"?{self.agent}"


class Activity(LocalFile):
    """The file, open."""

    NAME, VERSION, TABLES, BUSY_S = FILE_NAME, VERSION, _TABLES, BUSY_S

    # --- what a reader was told ---------------------------------------------------------------

    def shown(self, reader: Reader, events: Iterable[str], *hows: str) -> set[str]:
        """Return those of some events that the reader was shown in one of the ways `hows`."""
        if self._db is None:
            return set()
        found = set()
        for event_id in events:
            rows = self._db.execute("SELECT how FROM shown WHERE reader = ? AND event = ?", (reader.key, event_id))
            if any(how in hows for (how,) in rows):
                found.add(event_id)
        return found

    def show(self, reader: Reader, events: Iterable[str], how: str) -> None:
        """Note that the reader was shown some events now."""
        if self._db is not None:
            now = int(time.time())
            self._db.executemany(
                "INSERT OR REPLACE INTO shown VALUES (?, ?, ?, ?)", [(reader.key, one, how, now) for one in events]
            )

    def shown_to_session(self, session_id: str, events: Iterable[str]) -> set[str]:
        """Return those of some events that a session was shown itself, whatever its agent calls it."""
        if self._db is None:
            return set()
        found = set()
        for event_id in events:
            rows = self._db.execute(
                "SELECT reader FROM shown WHERE event = ? AND how IN (?, ?)", (event_id, STOPPED, ASKED)
            )
            # A reader is `agent:session`, a line feed, and no subagent.
            if any(reader.endswith(f":{session_id}\n") for (reader,) in rows):
                found.add(event_id)
        return found

    # --- one answer for a call that fires twice -----------------------------------------------

    def answered(self, call: str, within_s: int) -> tuple[bool, str] | None:
        """Return what the same call was answered a moment ago, as (stop, text)."""
        if self._db is None:
            return None
        row = self._db.execute("SELECT at, stop, text FROM answers WHERE call = ?", (call,)).fetchone()
        return (bool(row[1]), row[2]) if row and 0 <= time.time() - row[0] <= within_s + 1 else None

    def answer(self, call: str, *, stop: bool, text: str) -> None:
        if self._db is not None:
            now = int(time.time())
            self._db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", (call, now, int(stop), text))
            self._db.execute("DELETE FROM answers WHERE at < ?", (now - 60,))

    # --- overrides ----------------------------------------------------------------------------

    def stopped_last(self, event_id: str) -> str | None:
        """Return the session that was last stopped on an event, as `Reader.bucket` has it; None where none was."""
        if self._db is None:
            return None
        row = self._db.execute(
            "SELECT session, agent FROM outcomes WHERE what = 'stop' AND ' ' || events || ' ' LIKE ? "
            "ORDER BY at DESC, rowid DESC LIMIT 1",
            (f"% {event_id} %",),
        ).fetchone()
        return Reader(row[1] or "", row[0] or "").bucket if row else None

    def session_like(self, typed: str, event_id: str) -> str:
        """Return the session that a person means by `typed`: one that was stopped on the event, its agent left out."""
        if self._db is None:
            return typed
        rows = self._db.execute(
            "SELECT DISTINCT session FROM outcomes WHERE what = 'stop' AND ' ' || events || ' ' LIKE ?",
            (f"% {event_id} %",),
        )
        named = [session for (session,) in rows if session == typed or session.partition(":")[2] == typed]
        return named[0] if len(named) == 1 else typed

    def let(self, override: str, session: str, event_id: str) -> None:
        """Let the next edit of a session that brings `event_id` back pass, once."""
        if self._db is not None:
            row = (override, session, event_id, int(time.time()))
            self._db.execute("INSERT OR REPLACE INTO let_pass VALUES (?, ?, ?, ?, NULL)", row)

    def lets(self, session: str, events: Iterable[str]) -> dict[str, str]:
        """Return event -> override, of those overrides for a session that nothing used up yet."""
        if self._db is None:
            return {}
        found = {}
        for event_id in events:
            row = self._db.execute(
                "SELECT override FROM let_pass WHERE session = ? AND event = ? AND used_at IS NULL ORDER BY at LIMIT 1",
                (session, event_id),
            ).fetchone()
            if row:
                found[event_id] = row[0]
        return found

    def lets_since(self, events: Iterable[str], at: int) -> dict[str, str]:
        """Return event -> override, of some events that were overridden since a time, used up by an edit or not."""
        if self._db is None:
            return {}
        found = {}
        for event_id in events:
            row = self._db.execute(
                "SELECT override FROM let_pass WHERE event = ? AND at >= ? ORDER BY at DESC LIMIT 1", (event_id, at)
            ).fetchone()
            if row:
                found[event_id] = row[0]
        return found

    def use(self, overrides: Iterable[str]) -> None:
        if self._db is not None:
            now = int(time.time())
            self._db.executemany("UPDATE let_pass SET used_at = ? WHERE override = ?", [(now, o) for o in overrides])

    # --- what was edited ----------------------------------------------------------------------

    def edit(self, session: str, paths: Iterable[str]) -> None:
        if self._db is not None:
            now = time.time()
            self._db.executemany(
                "INSERT OR REPLACE INTO edited VALUES (?, ?, ?)", [(whole(session), path, now) for path in paths]
            )

    def edits(self, session: str) -> list[tuple[str, float]]:
        """Return (path, time) of what a session edited, in the order of paths."""
        if self._db is None:
            return []
        return self._db.execute(
            "SELECT path, at FROM edited WHERE session = ? ORDER BY path", (whole(session),)
        ).fetchall()

    def heard(self, session: str) -> bool:
        """Say whether an edit of a canary's session arrived, under whatever client's name; forget it."""
        if self._db is None:
            return False
        found = self._db.execute("DELETE FROM edited WHERE session LIKE ?", (f"%:{session}",))
        return found.rowcount > 0

    # --- the record of it ---------------------------------------------------------------------

    def record(
        self, what: str, reader: Reader, *, path: str = "", events: Iterable[str] = (), said: str = "", ms: int = 0
    ) -> None:
        """Note what the gate did now, and forget what is old."""
        if self._db is None:
            return
        now = int(time.time())
        self._db.execute(
            "INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                now,
                what,
                reader.agent,
                reader.session,
                reader.subagent,
                whole(path),
                " ".join(events),
                whole(said[:400]),
                ms,
            ),
        )
        row = self._db.execute("SELECT MIN(at) FROM outcomes").fetchone()
        if row[0] < now - KEPT_S:
            for table in ("shown", "let_pass", "edited", "outcomes"):
                self._db.execute(f"DELETE FROM {table} WHERE at < ?", (now - KEPT_S,))

    def failures(self) -> tuple[int, str]:
        """Return how often the gate failed open in the last days, and what it said the last time."""
        since = int(time.time()) - FAILURES_S
        rows = (
            []
            if self._db is None
            else self._db.execute(
                "SELECT said FROM outcomes WHERE what = ? AND at >= ? ORDER BY at DESC, rowid DESC", (OPEN, since)
            ).fetchall()
        )
        return len(rows), str(rows[0][0]) if rows else ""

    def outcomes(self, limit: int = 100) -> list[tuple[object, ...]]:
        """Return the newest of what the gate did, as (at, what, agent, session, subagent, path, events, said, ms)."""
        if self._db is None:
            return []
        return self._db.execute("SELECT * FROM outcomes ORDER BY at DESC, rowid DESC LIMIT ?", (limit,)).fetchall()
