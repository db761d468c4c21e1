"""The read model: one repository's cache, fresh whenever it is asked for.

The everyday case is decided here, without starting git: the stamp says that the log has not moved. All else
(catching up, building, a doubtful file) is `upkeep`, which is loaded only then.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence

from gitmem.errors import NoLog
from gitmem.store.cache import FOUND_NAME, Cache, CacheDoubt
from gitmem.store.glance import FILE_NAME
from gitmem.store.repository import LOG_REF, Repository, has_no_log, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.history import Entry
    from gitmem.store.batch import Facts
    from gitmem.store.found import Found
    from gitmem.store.log import Log
    from gitmem.store.upkeep import Upkeep


#: What one event takes in a tree, in bytes: its mode, its id and suffix, a SHA-1.
TREE_ENTRY = 97


class ReadModel:
    """The cache of one repository, brought up to date when it is asked for.

    open_log   gives the log; called only when the cache can't be known to be fresh
    """

    def __init__(self, repository: Repository, open_log: Callable[[], Log]) -> None:
        self.repository = repository
        self.open_log = open_log
        self._cache: Cache | None = None
        self._inode = 0
        self._found: Found | None = None

    @property
    def path(self) -> str:
        return f"{self.repository.local_dir}/{FILE_NAME}"

    @property
    def opened(self) -> Cache | None:
        """Return the cache that this process has open, whatever it stands for, or None."""
        return self._cache

    @property
    def found(self) -> Found:
        """What this clone found beside the log."""
        if self._found is None:
            from gitmem.store.found import Found

            self._found = Found(self.repository)
        return self._found

    def close(self) -> None:
        if self._cache is not None:
            self._cache.close()
            self._cache = None
        if self._found is not None:
            self._found.close()

    def current(self) -> Cache:
        """Return a cache that stands for the log's tip.

        Raises NoLog where there is no log, BrokenHistory or Incomplete where it can't be read.
        """
        cache = self._current()
        # Nearly always there is no such file, and nothing is loaded for it.
        if self._found is not None or os.path.exists(f"{self.repository.local_dir}/{FOUND_NAME}"):
            cache.found = self.found
        return cache

    def _current(self) -> Cache:
        seen = stamp(self.repository)
        cache = self.reopened()
        try:
            if cache is not None and seen is not None and cache.meta("stamp") == seen:
                return cache
            return self._upkeep().caught_up(cache, seen)
        except (sqlite3.DatabaseError, CacheDoubt):
            # Corrupt, or busy beyond patience: what git holds is right, and can be read without a file.
            self.close()
            return self._upkeep().rebuilt(seen)

    def current_within(self, commits: int, events: int) -> Cache | None:
        """Return what `current` does where so many commits and events of the log at most must be read, else None.

        For who has a deadline. Raises NoLog, without git where the files say so.
        """
        seen = stamp(self.repository)
        cache = self.reopened()
        try:
            if cache is not None and seen is not None and cache.meta("stamp") == seen:
                return cache
            tip = cache.tip if cache is not None else ""
        except (sqlite3.DatabaseError, CacheDoubt):
            self.close()
            tip = ""
        if has_no_log(self.repository):
            raise NoLog()
        from gitmem.store.git import RAW  # here: nearly always the stamp says it all

        known = [f"^{tip}"] if tip else []
        words = ("rev-list", "--format=%T", f"--max-count={commits + 1}", LOG_REF, *known)
        listed = self.repository.try_git(*words, env=RAW)
        if listed.rc != 0:
            if self.open_log().tip() is None:
                raise NoLog()
            return None
        trees = [line for line in listed.out.split(b"\n") if line and not line.startswith(b"commit ")]
        if len(trees) > commits:
            return None
        # An import puts a thousand events into a commit: a tree is as long as its events are many.
        sized = self.repository.try_git("cat-file", "--batch-check=%(objectsize)", input=b"\n".join(trees), env=RAW)
        sizes = [int(line) for line in sized.out.split(b"\n") if line.isdigit()]
        return self.current() if sum(sizes) <= events * TREE_ENTRY else None

    def rebuild(self) -> Cache:
        """Throw the cache away and build it again from the log."""
        seen = stamp(self.repository)
        self.close()
        return self._upkeep().rebuilt(seen, always=True)

    def use(self, cache: Cache) -> Cache:
        """Answer from `cache` from now on: one that lives in memory, because no file can be written."""
        self.close()
        self._cache = cache
        return cache

    def _upkeep(self) -> Upkeep:
        from gitmem.store.upkeep import Upkeep

        return Upkeep(self)

    def applied(self, entries: Sequence[Entry]) -> None:
        """Take in what this process just appended, one on the other, on top of the tip that the cache stands for.

        Best effort: whatever goes wrong, the next reader catches up from the log.
        """
        from gitmem.store.batch import facts_of

        self.take_in(map(facts_of, entries), entries[0].parents[0], entries[-1].oid)

    def take_in(self, facts: Iterable[Facts], below: str, tip: str) -> None:
        """Take in what leads from the log commit `below` to `tip`; see `applied`."""
        cache = self._cache
        if cache is None or cache.path is None:
            self.close()
            return
        try:
            cache.db.execute("BEGIN IMMEDIATE")
            try:
                if cache.tip != below:
                    raise CacheDoubt("another process was here")
                cache.apply(facts, tip)
                seen = stamp(self.repository)
                # The loose ref holds the oid itself: such a stamp is known to mean this very tip.
                cache.stamp(seen if seen == b"loose " + tip.encode() + b"\n" else None)
                cache.db.execute("COMMIT")
            except BaseException:
                cache.db.execute("ROLLBACK")
                raise
        except (sqlite3.Error, CacheDoubt):
            self.close()

    def reopened(self) -> Cache | None:
        """The cache as it is, reopened where another process put a new one in place."""
        if self._cache is not None and self._cache.path is not None:
            try:
                if os.stat(self.path).st_ino == self._inode:
                    return self._cache
            except OSError:
                pass
            self.close()
        elif self._cache is not None:
            return self._cache
        try:
            self._cache = Cache.open(self.path)
        except (sqlite3.DatabaseError, CacheDoubt):
            return None
        if self._cache is not None:
            try:
                self._inode = os.stat(self.path).st_ino
            except OSError:
                self._inode = 0
        return self._cache
