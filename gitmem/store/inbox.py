"""The inbox: what hooks saw and nobody stated, and which lessons were used, until a commit writes it or it expires.

A file of this clone alone, beside local activity. It never travels, moves no trust, and is bounded in number and in
time; what looks like a secret is in it only as a marker (whoever puts something in has looked). A redaction empties it:
nobody can say what it quotes. What can't be read is empty, what can't be written is lost, and no hook fails
for it.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Sequence

from gitmem.core import digests
from gitmem.core.lessons.capture import Capture
from gitmem.core.lessons.policies import TENDER
from gitmem.store.local import INBOX_NAME, has_file, unlink
from gitmem.store.local_file import LocalFile
from gitmem.store.repository import Repository

#: Raise it with the tables: the file is then begun anew.
VERSION = 1
#: What nobody kept and what didn't recur for so long is forgotten, in seconds; so long it is known what was dropped.
#: Both policies have one inbox.
KEPT_S = TENDER.inbox_days * 86400
#: No more items wait than these (the oldest go), and no more uses.
ITEMS_MAX, USES_MAX = TENDER.inbox_max, 2000
#: Another process has the file for so long at most.
BUSY_S = 0.3
#: So many commits, sessions and days are told apart of one item, and so many of its places are kept.
KEYS_MAX = 16

_TABLES = """
CREATE TABLE IF NOT EXISTS items(
  id TEXT PRIMARY KEY, source TEXT NOT NULL, core TEXT NOT NULL, paths TEXT NOT NULL, evidence TEXT NOT NULL,
  keys TEXT NOT NULL, bare INTEGER NOT NULL, may INTEGER, first INTEGER NOT NULL, last INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS settled(
  id TEXT, key TEXT, at INTEGER NOT NULL, PRIMARY KEY(id, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uses(
  lesson TEXT, session TEXT, at INTEGER NOT NULL, PRIMARY KEY(lesson, session)) WITHOUT ROWID;
"""


class Item:
    """What waits: a capture, its id, and when it was seen first and last (in seconds).

    keys   the commits, sessions and days that it was seen in, the first few
    may    whether it was too light for want of its files in hand only; None where it was seen since it was weighed
    """

    __slots__ = ("capture", "first", "id", "keys", "last", "may")

    def __init__(
        self, item_id: str, capture: Capture, keys: Sequence[str], first: int, last: int, may: bool | None = None
    ) -> None:
        self.id = item_id
        self.capture = capture
        self.keys = list(keys)
        self.first = first
        self.last = last
        self.may = may

    @property
    def expires(self) -> int:
        """When it is forgotten, in seconds, if it isn't seen again."""
        return self.last + KEPT_S


def is_due(repository: Repository) -> bool:
    """Say whether a commit has anything to write down or to weigh of what is in the inbox. Changes nothing."""
    with Inbox(repository, is_read_only=True) as inbox:
        return inbox.is_due


def id_of(source: str, core: str) -> str:
    """Return the id of what says `core`: the same again has the same one."""
    return digests.sha256(f"{source}\0{core}".encode("utf-8", "replace")).hexdigest()[:16]


def empty(repository: Repository) -> None:
    """Forget all that waits, for nobody can say what it quotes; which lessons were used is no text, and stays."""
    path = f"{repository.local_dir}/{INBOX_NAME}"
    if not has_file(repository, INBOX_NAME):
        return
    try:
        db = sqlite3.connect(path, timeout=5.0, isolation_level=None)
        try:
            db.execute("PRAGMA secure_delete=ON")
            db.execute("DELETE FROM items")
            db.execute("DELETE FROM settled")
            db.execute("VACUUM")
        finally:
            db.close()
    except sqlite3.DatabaseError:
        unlink(path)


class Inbox(LocalFile):
    """The file, open."""

    NAME, VERSION, TABLES, BUSY_S = INBOX_NAME, VERSION, _TABLES, BUSY_S
    STALE = ("items", "settled", "uses")
    PRAGMAS = ("synchronous=OFF", "secure_delete=ON")

    @property
    def is_due(self) -> bool:
        if self._db is None:
            return False
        row = self._db.execute(
            "SELECT EXISTS(SELECT 1 FROM uses) OR EXISTS(SELECT 1 FROM items WHERE last >= ? AND may IS NOT 0)",
            (int(time.time()) - KEPT_S,),
        ).fetchone()
        return bool(row[0])

    # --- what was seen ------------------------------------------------------------------------

    def put(self, capture: Capture, key: str) -> None:
        """Take in what was seen now; seen again under another `key` (a commit, session or day), it counts once more.

        What was settled under this key (kept, written or dropped) doesn't come back under it.
        """
        if self._db is None:
            return
        now = self._forget_old()
        item_id = id_of(capture.source, capture.core)
        if self._db.execute("SELECT 1 FROM settled WHERE id = ? AND key IN (?, '*')", (item_id, key)).fetchone():
            return
        known = self.item(item_id)
        paths, evidence, keys, first = list(capture.paths), list(capture.evidence), [key], now
        if known is not None:
            paths = _merged(known.capture.paths, paths)
            evidence = _merged(known.capture.evidence, evidence)
            keys = _merged(known.keys, keys)
            first = known.first
        row = (item_id, capture.source, capture.core, *map(json.dumps, (paths, evidence, keys)), int(capture.is_bare))
        self._db.execute("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)", (*row, first, now))
        self._bound("items", "last", ITEMS_MAX)

    def item(self, item_id: str) -> Item | None:
        """Return one item by its whole id."""
        found = self._items("WHERE id = ?", item_id)
        return found[0] if found else None

    def items(self) -> list[Item]:
        """Return what waits and isn't forgotten, newest first."""
        return self._items("WHERE last >= ? ORDER BY last DESC, id", int(time.time()) - KEPT_S)

    def _items(self, where: str, value: object) -> list[Item]:
        if self._db is None:
            return []
        rows = self._db.execute(
            f"SELECT id, source, core, paths, evidence, keys, bare, may, first, last FROM items {where}", (value,)
        ).fetchall()
        found = []
        for item_id, source, core, *lists, bare, may, first, last in rows:
            paths, evidence, keys = map(json.loads, lists)
            capture = Capture(source, core, paths=paths, evidence=evidence, times=max(1, len(keys)), is_bare=bool(bare))
            found.append(Item(item_id, capture, keys, first, last, None if may is None else bool(may)))
        return found

    def weighed(self, items: Iterable[str], *, may: bool) -> None:
        """Note that some items were too light, until they are seen again; `may`: with their files in hand they pass."""
        if self._db is not None:
            self._db.executemany("UPDATE items SET may = ? WHERE id = ?", [(int(may), item_id) for item_id in items])

    def settle(self, items: Iterable[str], *, for_good: bool = False) -> None:
        """Take items out: they were written, or (`for_good`) dropped, and then don't come back while that is known."""
        if self._db is None:
            return
        now = int(time.time())
        for item_id in items:
            found = self.item(item_id)
            if found is not None:
                self._db.execute("DELETE FROM items WHERE id = ?", (item_id,))
                for key in ("*",) if for_good else found.keys:
                    self._db.execute("INSERT OR REPLACE INTO settled VALUES (?, ?, ?)", (item_id, key, now))
        self._bound("settled", "at", USES_MAX)

    def has_seen(self, key: str) -> bool:
        """Say whether anything was seen under `key`, of what waits and of what was settled."""
        if self._db is None:
            return False
        if self._db.execute("SELECT 1 FROM settled WHERE key = ?", (key,)).fetchone():
            return True
        return any(key in item.keys for item in self.items())

    def forget(self, key: str) -> bool:
        """Forget what waits and was seen under `key` alone; say whether anything was."""
        mine = [item.id for item in self.items() if item.keys == [key]]
        if self._db is not None:
            self._db.executemany("DELETE FROM items WHERE id = ?", [(item_id,) for item_id in mine])
        return bool(mine)

    def see(self, key: str) -> None:
        """Note that what is under `key` was looked at, and says nothing new."""
        if self._db is not None:
            self._db.execute("INSERT OR REPLACE INTO settled VALUES ('', ?, ?)", (key, int(time.time())))

    # --- what was used ------------------------------------------------------------------------

    def use(self, lessons: Iterable[str], session: str) -> None:
        """Note that a session used some lessons. Never raises: a use that is lost is noted the next time."""
        if self._db is None:
            return
        try:
            now = self._forget_old()
            rows = [(one, session, now) for one in lessons]
            self._db.executemany("INSERT OR REPLACE INTO uses VALUES (?, ?, ?)", rows)
            self._bound("uses", "at", USES_MAX)
        except sqlite3.Error:
            self.is_kept = False

    def uses(self) -> dict[str, list[str]]:
        """Return session -> the lessons that it used and nobody wrote down yet, each in order."""
        found: dict[str, list[str]] = {}
        if self._db is not None:
            rows = self._db.execute("SELECT session, lesson FROM uses ORDER BY session, lesson").fetchall()
            for session, lesson in rows:
                found.setdefault(session, []).append(lesson)
        return found

    def used(self, uses: Iterable[tuple[str, Iterable[str]]]) -> None:
        """Forget uses, as (session, lessons): they are written down."""
        if self._db is not None:
            rows = [(session, lesson) for session, lessons in uses for lesson in lessons]
            self._db.executemany("DELETE FROM uses WHERE session = ? AND lesson = ?", rows)

    def _forget_old(self) -> int:
        """Forget what is too old; return the time, in seconds."""
        assert self._db is not None
        now = int(time.time())
        for table, when in (("items", "last"), ("settled", "at"), ("uses", "at")):
            self._db.execute(f"DELETE FROM {table} WHERE {when} < ?", (now - KEPT_S,))
        return now

    def _bound(self, table: str, when: str, most: int) -> None:
        """Forget the oldest where there are too many."""
        assert self._db is not None
        if self._db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] > most:
            cut = f"SELECT {when} FROM {table} ORDER BY {when} DESC LIMIT 1 OFFSET {most}"
            self._db.execute(f"DELETE FROM {table} WHERE {when} <= ({cut})")


def _merged(first: Sequence[str], more: Iterable[str]) -> list[str]:
    """Return both without repeats: the first few, and the newest of all last."""
    both = list(dict.fromkeys([*first, *more]))
    return both if len(both) <= KEYS_MAX else [*both[: KEYS_MAX - 1], both[-1]]
