"""Local activity: what was refused here, and to whom. Never travels, never moves trust, pruned by age.

Best effort everywhere: where it can't be read or written, whoever asks is told that nothing is known.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Mapping, Sequence

from gitmem.errors import GitFailed
from gitmem.store.repository import Repository

FILE_NAME = "local.sqlite"
#: What stands beside it (`store/inbox.py`): where there is none, there is nothing to load.
INBOX_NAME = "inbox.sqlite"
#: What is older is forgotten, in seconds.
KEPT_S = 90 * 86400


def has_file(repository: Repository, name: str) -> bool:
    """Say whether there is a local file of this name."""
    return os.path.exists(f"{repository.local_dir}/{name}")


class Local:
    """The local activity of one repository; holds no text of anybody, only hashes of what was asked."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def was_refused(self, key: str) -> bool:
        """Say whether `refused(key)` was noted here."""
        try:
            with self._open() as db:
                return db.execute("SELECT 1 FROM refusals WHERE key = ?", (key,)).fetchone() is not None
        except (sqlite3.Error, GitFailed):
            return False

    def refused(self, key: str) -> None:
        """Note that what `key` stands for was refused now."""
        now = int(time.time())
        try:
            with self._open() as db:
                db.execute("DELETE FROM refusals WHERE at < ?", (now - KEPT_S,))
                db.execute("INSERT OR REPLACE INTO refusals VALUES (?, ?)", (key, now))
        except (sqlite3.Error, GitFailed):
            pass

    def signatures(self, keys: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return what some signatures were found to be, (state, principal), of those that were checked here."""
        found: dict[str, tuple[str, str]] = {}
        try:
            with self._open() as db:
                for key in keys:
                    row = db.execute("SELECT state, principal FROM signatures WHERE key = ?", (key,)).fetchone()
                    if row is not None:
                        found[key] = row
        except (sqlite3.Error, GitFailed):
            pass
        return found

    def remember_signatures(self, found: Mapping[str, tuple[str, str]]) -> None:
        """Note what signatures were found to be; it is a function of their keys, so it never grows wrong."""
        rows = [(key, *told) for key, told in found.items()]
        try:
            with self._open() as db:
                db.executemany("INSERT OR REPLACE INTO signatures VALUES (?, ?, ?)", rows)
        except (sqlite3.Error, GitFailed):
            pass

    def additions(self, commits: Sequence[str]) -> dict[str, bytes]:
        """Return what is remembered of what some commits add, of those that were looked at here."""
        found: dict[str, bytes] = {}
        try:
            with self._open() as db:
                for commit in commits:
                    row = db.execute("SELECT marks FROM additions WHERE oid = ?", (commit,)).fetchone()
                    if row is not None:
                        found[commit] = row[0]
        except (sqlite3.Error, GitFailed):
            pass
        return found

    def remember_additions(self, found: Mapping[str, bytes]) -> None:
        """Note what commits add; a commit never changes."""
        try:
            with self._open() as db:
                db.executemany("INSERT OR REPLACE INTO additions VALUES (?, ?)", found.items())
        except (sqlite3.Error, GitFailed):
            pass

    def _open(self) -> _Closing:
        self._repository.make_local_dir()
        db = sqlite3.connect(f"{self._repository.local_dir}/{FILE_NAME}", timeout=1.0)
        db.execute("CREATE TABLE IF NOT EXISTS refusals(key TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID")
        db.execute("CREATE TABLE IF NOT EXISTS signatures(key TEXT PRIMARY KEY, state TEXT, principal TEXT)")
        db.execute("CREATE TABLE IF NOT EXISTS additions(oid TEXT PRIMARY KEY, marks BLOB NOT NULL)")
        return _Closing(db)


class _Closing:
    """A connection that is committed and closed at the end of a `with` block."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> sqlite3.Connection:
        return self._db

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:
            self._db.commit()
        self._db.close()


def unlink(path: str) -> None:
    """Remove a database that can't be read, and what SQLite keeps beside it."""
    for side in ("", "-journal", "-wal", "-shm"):
        try:
            os.unlink(path + side)
        except OSError:
            pass
