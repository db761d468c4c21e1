"""A glance at the cache: whether anything is known of what an edit brings in. For the hook that lets nearly all pass.

Nothing is judged, and no event is read: a yes means that somebody has to look properly (`closings`), a no that there
is nothing to be found. It opens the file by itself, so that nothing else of the store need be loaded, and only where
the stamp says that the cache stands for the log as it is.
"""

from __future__ import annotations

import os

try:  # what `sqlite3` wraps: without it, `datetime` and more are not loaded either
    import _sqlite3 as sqlite3
except ImportError:
    import sqlite3  # type: ignore[no-redef]

from gitmem.core.entities import parents
from gitmem.core.lineages import entity_key
from gitmem.store.repository import Repository, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Raise it whenever a table of the cache, or what is put into one, changes: every cache is then rebuilt.
SCHEMA = 12
FILE_NAME = "cache.sqlite"
#: Up to so many anchors of patterns are compared here; of more, those that an edit has are asked for one by one.
ANCHORS_MAX = 2000
#: No policy lets a lesson fade from sight sooner, and of more lessons at one place than these nobody asks how old.
FADES_AFTER_DAYS, LESSONS_MAX = 42, 200
_PART = 500
#: What any question may raise.
Error = sqlite3.Error


class Glance:
    """The questions, over an open database."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    @classmethod
    def open(cls, repository: Repository) -> Glance | None:
        """Return a glance at the cache of a repository, or None where it can't be known to be as it should be."""
        path = f"{repository.local_dir}/{FILE_NAME}"
        seen = stamp(repository)
        if seen is None or not os.access(path, os.W_OK):
            return None
        try:
            db = sqlite3.connect(uri(path, "rw"), uri=True, isolation_level=None, timeout=0.2)
            found = dict(db.execute("SELECT key, value FROM meta WHERE key IN ('schema', 'boot', 'stamp')").fetchall())
        except sqlite3.Error:
            return None
        if found.get("schema") != SCHEMA or found.get("stamp") != seen or found.get("boot") not in ("", boot_id()):
            return None
        return cls(db)

    def has_prints(self) -> bool:
        """Say whether there is any fingerprint: where not, no line needs hashing."""
        return self.db.execute("SELECT 1 FROM prints LIMIT 1").fetchone() is not None

    def knows_lines(self, marks: Iterable[int]) -> bool:
        """Say whether some fingerprint holds one of the marks."""
        return bool(self._among("prints", "mark", (f"{mark:016x}" for mark in marks), limit=1))

    def has_patterns(self) -> bool:
        return self.db.execute("SELECT 1 FROM patterns LIMIT 1").fetchone() is not None

    def with_patterns(self, lines: Sequence[tuple[int, str]]) -> set[int]:
        """Return the rows of the closings that have a pattern which may stand in the added `lines`."""
        from gitmem.core.patterns import may_stand, probes

        wanted = probes(lines)
        text = "\n".join([line for _, line in lines])
        lower = text.lower()
        few = self.db.execute(f"SELECT mark, n, entry FROM patterns LIMIT {ANCHORS_MAX + 1}").fetchall()
        if len(few) <= ANCHORS_MAX:
            return {n for mark, n, entry in few if mark in wanted and may_stand(entry, text, lower)}
        found: set[int] = set()
        for part in parts(sorted(wanted)):
            rows = self.db.execute(f"SELECT n, entry FROM patterns WHERE mark IN ({placeholders(part)})", part)
            found.update(n for n, entry in rows if may_stand(entry, text, lower))
        return found

    def worth_asking(self, names: Sequence[str]) -> list[str]:
        """Return those of some entity paths about which, or above which, anything is known here."""
        own = {name: entity_key(name) for name in names}
        above = {name: parents(key) for name, key in own.items()}
        known = self._among("names", "key", own.values())
        closed = self._among("closed", "key", (key for keys in above.values() for key in keys))
        if self.has_aliases():
            closed |= self._among("aliases", "a", (key for name in names for key in (own[name], *above[name])))
        return [n for n in names if own[n] in known or own[n] in closed or not closed.isdisjoint(above[n])]

    def has_old_lessons(self, paths: Iterable[str]) -> bool:
        """Say whether a lesson at some files, or at a folder above, is old enough to have faded under any policy."""
        own = [entity_key(path) for path in paths]
        rows = self._lessons_at(sorted({one for key in own for one in (key, *parents(key))}))
        if not rows:
            return False
        from time import gmtime, strftime, time

        old = strftime("%Y-%m-%d", gmtime(time() - FADES_AFTER_DAYS * 86400))
        return len(rows) == LESSONS_MAX or any(recorded[:10] <= old for (recorded,) in rows)

    def _lessons_at(self, keys: list[str]) -> list[tuple[str]]:
        found: list[tuple[str]] = []
        for part in parts(keys):
            found += self.db.execute(
                f"SELECT e.recorded_at FROM (SELECT n FROM lesson_paths WHERE key IN ({placeholders(part)}) "
                f"LIMIT {LESSONS_MAX}) p JOIN events e ON e.n = p.n",
                part,
            )
        return found

    def has_aliases(self) -> bool:
        """Say whether anything was ever renamed."""
        return self.db.execute("SELECT 1 FROM aliases LIMIT 1").fetchone() is not None

    def _among(self, table: str, column: str, keys: Iterable[str], *, limit: int = -1) -> set[str]:
        found: set[str] = set()
        for part in parts(sorted(set(keys))):
            rows = self.db.execute(
                f"SELECT DISTINCT {column} FROM {table} WHERE {column} IN ({placeholders(part)}) LIMIT {limit}", part
            )
            found.update(key for (key,) in rows)
            if limit == len(found):
                break
        return found


def parts(values: Sequence[object]) -> list[Sequence[object]]:
    """Return `values` in parts that a query takes."""
    return [values[at : at + _PART] for at in range(0, len(values), _PART)]


def placeholders(values: Sequence[object]) -> str:
    """Return the question marks for some values."""
    return ",".join("?" * len(values))


def uri(path: str, mode: str) -> str:
    """Return the SQLite URI of the file at `path`, whatever characters its folders have."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{quoted}?mode={mode}"


def boot_id() -> str:
    """Return what names this run of the machine, or an empty string where that isn't known.

    What a process wrote outlives the process, but not the machine unless it was synced. A cache that was written
    without syncing bears this name, and is doubted under another one.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""
