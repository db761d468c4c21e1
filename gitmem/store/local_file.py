"""A local file: a SQLite database of this clone alone, which never travels and which nothing depends on.

One process at a time writes: a `with` block begins by waiting for the others, a little, and commits at its end. What
can't be read is begun anew, what can't be written is lost, and `is_kept` says so; nobody fails for it.
"""

from __future__ import annotations

import sqlite3

from gitmem.errors import GitFailed
from gitmem.store.local import has_file, unlink
from gitmem.store.repository import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar, Self


class LocalFile:
    """The file, open within a `with` block; `is_read_only`: nothing is written, and where there is none, none is made.

    NAME       of the file, in the local directory
    VERSION    raised with the tables; STALE are the tables of another version that go then
    TABLES     SQL statements that make the tables, where they are not there
    BUSY_S     another process has the file for so long at most
    PRAGMAS    for whoever writes
    is_kept    whether what is written in this block is kept, as far as is known
    """

    NAME: ClassVar[str]
    VERSION: ClassVar[int]
    TABLES: ClassVar[str]
    STALE: ClassVar[tuple[str, ...]] = ()
    BUSY_S: ClassVar[float]
    PRAGMAS: ClassVar[tuple[str, ...]] = ("synchronous=OFF",)

    def __init__(self, repository: Repository, *, is_read_only: bool = False) -> None:
        self._repository = repository
        self._is_read_only = is_read_only
        self._db: sqlite3.Connection | None = None
        self.is_kept = False

    def __enter__(self) -> Self:
        for again in (True, False):
            try:
                self._db = self._read() if self._is_read_only else self._opened()
                self.is_kept = not self._is_read_only
                return self
            except (GitFailed, OSError):
                return self
            except sqlite3.OperationalError:  # busy, or nothing can be written here
                self._forget()
                return self
            except sqlite3.DatabaseError:  # no database
                self._forget()
                if again and not self._is_read_only:
                    unlink(self._path)
        return self

    def _read(self) -> sqlite3.Connection | None:
        if not has_file(self._repository, self.NAME):
            return None
        self._db = db = self._connected()
        db.execute("PRAGMA query_only=ON")
        if db.execute("PRAGMA user_version").fetchone()[0] == self.VERSION:
            return db
        db.close()
        return None

    def _opened(self) -> sqlite3.Connection:
        self._repository.make_local_dir()
        self._db = db = self._connected()
        for pragma in self.PRAGMAS:
            db.execute(f"PRAGMA {pragma}")
        db.execute("BEGIN IMMEDIATE")
        if db.execute("PRAGMA user_version").fetchone()[0] != self.VERSION:
            for table in self.STALE:
                db.execute(f"DROP TABLE IF EXISTS {table}")
            for statement in self.TABLES.split(";\n"):
                if statement.strip():
                    db.execute(statement)
            db.execute(f"PRAGMA user_version={self.VERSION}")
        return db

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=self.BUSY_S, isolation_level=None)

    @property
    def _path(self) -> str:
        return f"{self._repository.local_dir}/{self.NAME}"

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        db, self._db = self._db, None
        if db is None:
            return
        try:
            if not self._is_read_only:
                db.execute("COMMIT" if kind is None else "ROLLBACK")
        except sqlite3.Error:
            self.is_kept = False
        db.close()

    def _forget(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
        self.is_kept = False
