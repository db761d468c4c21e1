"""What this clone found out about commits and keeps to itself: links that are another author's to write, patch ids,
and up to where it looked.

Twenty clones that fetch one squash merge must not write twenty links. So a scan appends those for its own author's
events, and the others stand here until that author's clone has written them. No event's text is in it, the cache isn't
made from it, and it may be deleted at any moment: the next scan finds the same again.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence

from gitmem.errors import GitFailed
from gitmem.store.cache import FOUND_NAME
from gitmem.store.glance import parts, placeholders
from gitmem.store.repository import Repository

#: Raise it whenever a table, or what is put into one, changes: the file is then begun anew.
SCHEMA = 2
_TABLES = """
CREATE TABLE links(
  event TEXT, commit_oid TEXT, how TEXT, confidence TEXT, evidence TEXT, replaces TEXT,
  PRIMARY KEY(event, commit_oid, how)) WITHOUT ROWID;
CREATE TABLE patches(oid TEXT PRIMARY KEY, patch TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE scanned(tip TEXT PRIMARY KEY) WITHOUT ROWID;
"""


class FoundLink:
    """A link that is not in the log: an event, its commit, and what shows that they belong together."""

    __slots__ = ("commit", "confidence", "event", "evidence", "how", "replaces")

    def __init__(
        self, event: str, commit: str, how: str, confidence: str, evidence: Sequence[str], replaces: Sequence[str]
    ) -> None:
        self.event = event
        self.commit = commit
        self.how = how
        self.confidence = confidence
        self.evidence = list(evidence)
        self.replaces = list(replaces)


class Found:
    """The file of one repository. Best effort: where it can't be read there is nothing, where it can't be written
    nothing is kept."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._db: sqlite3.Connection | None = None
        self._asked = False

    def links_of(self, event_id: str) -> list[FoundLink]:
        """Return the links of an event, in an order of their own."""
        return self._links("event = ?", event_id)

    def linked_to(self, commit: str) -> list[FoundLink]:
        """Return the links to a commit, in an order of their own."""
        return self._links("commit_oid = ?", commit)

    def links(self) -> list[FoundLink]:
        return self._links("?", "1")

    def _links(self, where: str, value: str) -> list[FoundLink]:
        rows = self._rows(
            "SELECT event, commit_oid, how, confidence, evidence, replaces FROM links "
            f"WHERE {where} ORDER BY event, commit_oid, how",
            (value,),
        )
        return [
            FoundLink(event, commit, how, confidence, json.loads(evidence), json.loads(replaces))
            for event, commit, how, confidence, evidence, replaces in rows
        ]

    def keep(self, links: Iterable[FoundLink]) -> None:
        """Put the whole of what a scan found in the place of what was there."""
        rows = [
            (one.event, one.commit, one.how, one.confidence, json.dumps(one.evidence), json.dumps(one.replaces))
            for one in links
        ]
        if not rows and not self._rows("SELECT 1 FROM links LIMIT 1"):
            return
        self._write(("DELETE FROM links", [()]), ("INSERT OR IGNORE INTO links VALUES (?, ?, ?, ?, ?, ?)", rows))

    def patches(self, oids: Sequence[str]) -> dict[str, str]:
        """Return what is known of some commits (or ranges, by names of the caller's): name -> patch id, "" for none."""
        found: dict[str, str] = {}
        for part in parts(oids):
            rows = self._rows(f"SELECT oid, patch FROM patches WHERE oid IN ({placeholders(part)})", tuple(part))
            found.update([(row[0], row[1]) for row in rows])
        return found

    def keep_patches(self, patches: Iterable[tuple[str, str]]) -> None:
        self._write(("INSERT OR REPLACE INTO patches VALUES (?, ?)", patches))

    def scanned(self) -> set[str]:
        """Return the tips of the code and of the log that the last scan looked at."""
        return {row[0] for row in self._rows("SELECT tip FROM scanned")}

    def keep_scanned(self, tips: Iterable[str]) -> None:
        rows = [(tip,) for tip in tips]
        self._write(("DELETE FROM scanned", [()]), ("INSERT OR IGNORE INTO scanned VALUES (?)", rows))

    def _write(self, *orders: tuple[str, Iterable[tuple[object, ...]]]) -> None:
        """Do all or nothing; where the file can't be written, or another process keeps it, nothing and no error."""
        db = self._writable()
        if db is None:
            return
        try:
            db.execute("BEGIN IMMEDIATE")
            for statement, rows in orders:
                db.executemany(statement, rows)
            db.execute("COMMIT")
        except sqlite3.Error:
            if db.in_transaction:
                db.execute("ROLLBACK")

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db, self._asked = None, False

    # --- the file -----------------------------------------------------------------------------

    @property
    def _path(self) -> str:
        return f"{self._repository.local_dir}/{FOUND_NAME}"

    def _rows(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[str, ...]]:
        db = self._readable()
        if db is None:
            return []
        try:
            return db.execute(statement, values).fetchall()
        except sqlite3.Error:
            return []

    def _readable(self) -> sqlite3.Connection | None:
        if self._db is None and not self._asked:
            self._asked = True
            if os.path.exists(self._path):
                self._open(new=False)
        return self._db

    def _writable(self) -> sqlite3.Connection | None:
        try:
            self._repository.make_local_dir()
        except GitFailed:
            return None
        if self._readable() is None:
            self._open(new=True)
        return self._db

    def _open(self, *, new: bool) -> None:
        db = None
        try:
            db = sqlite3.connect(self._path, isolation_level=None, timeout=1.0)
            db.execute("PRAGMA synchronous=OFF")
            if db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA:
                if not new and not os.access(self._path, os.W_OK):
                    db.close()
                    return
                _begin(db)
            self._db = db
        except sqlite3.OperationalError:  # another process has it, or it can't be written: it is nothing to throw away
            if db is not None:
                db.close()
        except sqlite3.DatabaseError:
            if db is not None:
                db.close()
            if new or not _unlink(self._path):
                return
            self._open(new=True)  # it was no database, or a broken one: nothing in it is worth repairing


def _begin(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    for table in ("links", "patches", "scanned"):
        db.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            db.execute(statement)
    db.execute(f"PRAGMA user_version={SCHEMA}")
    db.execute("COMMIT")


def _unlink(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
