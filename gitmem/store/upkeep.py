"""Upkeep: brings the cache to the log's tip. Behind is caught up, doubtful is built anew.

Order matters everywhere here: the stamp is taken first, then the tip is read, then rows are applied. A
stamp that is older than what was read costs a needless look next time; the other way round it would
hide a move of the log.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator

from gitmem.core.history import Checker, Entry, Finding
from gitmem.errors import BrokenHistory, GitFailed, Incomplete, NoLog
from gitmem.store.batch import facts_of
from gitmem.store.cache import Cache, CacheDoubt
from gitmem.store.collector import Seldom
from gitmem.store.lock import Lock, leftovers
from gitmem.store.log import Log
from gitmem.store.readmodel import ReadModel
from gitmem.store.repository import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.batch import Facts
    from gitmem.store.plumbing_log import PlumbingLog


#: What a cache is called while it is built; what a killed process left of one goes with the next, and with a redaction.
BUILDING = "caching"


class BroughtBack(Exception):
    """The log holds these events in full and redacted as well: build again without the full ones."""

    def __init__(self, ids: frozenset[str]) -> None:
        super().__init__(", ".join(sorted(ids)))
        self.ids = ids


class BuildLock(Lock):
    """The lock under which a cache is built, so that eight readers of a new clone build it once."""

    __slots__ = ()

    @property
    def path(self) -> str:
        return self.repository.local_dir + "/cache.lock"


class Upkeep:
    """The heavy half of a read model."""

    def __init__(self, model: ReadModel) -> None:
        self.model = model

    def caught_up(self, cache: Cache | None, seen: bytes | None) -> Cache:
        log = self.model.open_log()
        tip = log.tip()
        if tip is None:
            raise absent(self.model.repository)
        if cache is None:
            return self.rebuilt(seen)
        if cache.tip == tip:
            self._restamp(cache, tip, seen)
            return cache
        if cache.tip and log.contains(tip, cache.tip):
            return self._apply(cache, log, tip, seen)
        return self.rebuilt(seen)

    def _restamp(self, cache: Cache, tip: str, seen: bytes | None) -> None:
        if seen is None:
            return
        try:
            cache.db.execute("BEGIN IMMEDIATE")
            if cache.tip == tip:
                cache.stamp(seen)
            cache.db.execute("COMMIT")
        except sqlite3.Error:
            if cache.db.in_transaction:
                cache.db.execute("ROLLBACK")

    def _apply(self, cache: Cache, log: Log, tip: str, seen: bytes | None) -> Cache:
        try:
            cache.db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            # A read-only file system, or a writer that does not let go: answer without the file.
            self.model.close()
            return self._in_memory(log, tip)
        try:
            if cache.tip != tip:  # else another process did it while we waited
                if not log.contains(tip, cache.tip):
                    raise CacheDoubt("the log was rewound meanwhile")
                checker = cache.checker(self.model.repository.form)
                cache.apply(map(facts_of, checked(log, tip, [cache.tip], checker)), tip)
                if brought_back(checker.findings):
                    raise CacheDoubt("an event that was redacted came back")
                cache.keep_findings(checker.findings)
                cache.stamp(seen)
            cache.db.execute("COMMIT")
        except BaseException:
            cache.db.execute("ROLLBACK")
            raise
        return cache

    def rebuilt(self, seen: bytes | None, *, always: bool = False) -> Cache:
        log = self.model.open_log()
        tip = log.tip()
        if tip is None:
            raise absent(self.model.repository)
        try:
            lock = BuildLock(self.model.repository)
            lock.__enter__()
        except (OSError, GitFailed):
            return self._in_memory(log, tip)
        try:
            again = None if always else self.model.reopened()
            if again is not None and again.tip == log.tip():
                return again  # another process built it while we waited
            self.model.close()
            try:
                return self._build(log, tip, seen)
            except BroughtBack as again:
                return self._build(log, tip, seen, again.ids)
        except (sqlite3.OperationalError, OSError):
            return self._in_memory(log, tip)
        finally:
            lock.__exit__(None, None, None)

    def _build(self, log: Log, tip: str, seen: bytes | None, without: frozenset[str] = frozenset()) -> Cache:
        cache = self._begun()
        try:
            with Seldom():
                findings = self._fill(cache, log, tip, without)
            if brought_back(findings) - without:
                raise BroughtBack(brought_back(findings))
            cache.keep_findings(findings)
            cache.stamp(seen)
            cache.put_in_place(self.model.path)
        except BaseException:
            _dropped(cache)
            raise
        opened = self.model.reopened()
        if opened is None:
            raise CacheDoubt("it went away as soon as it was built")
        return opened

    def _begun(self) -> Cache:
        repository = self.model.repository
        path = f"{repository.local_dir}/{BUILDING}.{os.getpid()}"
        for leftover in (*leftovers(repository, BUILDING), path, path + "-journal"):
            if os.path.exists(leftover):
                os.unlink(leftover)
        return Cache.building(path)

    def ahead_of(self, log: PlumbingLog, tip: str, see: Callable[[Facts], None]) -> tuple[Cache, list[Finding]]:
        """Verify the log that ends in `tip` and is none of ours yet, and build the cache of it meanwhile.

        Checking and caching a long log are the same reading of it. `see` is given the facts of each commit. The cache
        is nobody's until `settle` puts it in its place, or `drop` throws it away; one of them must be called. Raises
        BrokenHistory, Incomplete; sqlite3.OperationalError or OSError where no cache can be kept.
        """
        self.model.repository.make_local_dir()
        cache = self._begun()
        try:
            with Seldom():
                return cache, self._fill(cache, log, tip, frozenset(), see, log.repository)
        except BaseException:
            _dropped(cache)
            raise

    def settle(self, cache: Cache, findings: list[Finding]) -> None:
        """Put a cache from `ahead_of` in its place, now that the log is ours. Best effort: any reader can build it."""
        try:
            with BuildLock(self.model.repository):
                self.model.close()
                cache.keep_findings(findings)
                cache.stamp(None)
                cache.put_in_place(self.model.path)
        except (sqlite3.Error, OSError, GitFailed):
            _dropped(cache)

    def drop(self, cache: Cache) -> None:
        _dropped(cache)

    def _fill(
        self,
        cache: Cache,
        log: Log,
        tip: str,
        without: frozenset[str],
        see: Callable[[Facts], None] = lambda facts: None,
        place: Repository | None = None,
    ) -> list[Finding]:
        """Read the whole log into an empty cache; return what checking noticed.

        `see` is given the facts of each commit; `place` has the objects, where our repository doesn't have them yet.
        """
        checker = Checker(self.model.repository.form)

        def facts() -> Iterator[Facts]:
            return map(facts_of, checked(log, tip, [], checker, without))

        def seen(given: Iterable[Facts]) -> Iterator[Facts]:
            for one in given:
                see(one)
                yield one

        from gitmem.store.ahead import Ahead, is_worthwhile

        if not is_worthwhile(place or self.model.repository):
            cache.apply(seen(facts()), tip, fresh=True)
            return checker.findings
        worker = Ahead(facts, lambda: [(f.rule, f.message, f.severity, f.commit, f.event) for f in checker.findings])
        cache.apply(seen(worker), tip, fresh=True, halves=True)
        return [
            Finding(rule, what, severity=how, commit=oid, event=event) for rule, what, how, oid, event in worker.result
        ]

    def _in_memory(self, log: Log, tip: str, without: frozenset[str] = frozenset()) -> Cache:
        cache = Cache.in_memory()
        checker = Checker(self.model.repository.form)
        cache.db.execute("BEGIN")
        cache.apply(map(facts_of, checked(log, tip, [], checker, without)), tip)
        if brought_back(checker.findings) - without:
            cache.close()
            return self._in_memory(log, tip, brought_back(checker.findings))
        cache.keep_findings(checker.findings)
        cache.db.execute("COMMIT")
        return self.model.use(cache)


def _dropped(cache: Cache) -> None:
    """Throw away a cache that was being built."""
    cache.close()
    if cache.path is not None and os.path.exists(cache.path):
        os.unlink(cache.path)


def absent(repository: Repository) -> NoLog:
    """Return the error for a repository without a log; in a clone it says that a remote may have one."""
    import re

    try:
        with open(repository.common_dir + "/config", encoding="utf-8", errors="replace") as file:
            found = re.findall(r'^\s*\[remote "([^"]+)"\]', file.read(), re.MULTILINE)
    except OSError:
        found = []
    if not found:
        return NoLog()
    name = "origin" if "origin" in found else found[0]
    return NoLog(
        hint=f"if {name} has one, `git decisions init` brings it here and sets this clone up (`git decisions fetch` "
        "only brings it); else it starts one."
    )


def brought_back(findings: list[Finding]) -> frozenset[str]:
    """Return the ids of events that stand in the log in full though they were redacted: they are not shown (R1)."""
    return frozenset(finding.event for finding in findings if finding.rule == "redacted-present")


def checked(
    log: Log, tip: str, known: list[str], checker: Checker, without: frozenset[str] = frozenset()
) -> Iterator[Entry]:
    """Yield the verified entries of `tip` that are not below `known`. Raises where structure is broken.

    `without`: ids of events that are left out where they stand in full.
    """
    for stored in log.walk(tip, known):
        entry = checker.add(stored.oid, stored.commit, stored.tree, stored.files, stored.damaged)
        if entry is None:
            raise refusal(checker.findings[-1], shallow=log.condition().shallow)
        if without:
            entry.events = [pair for pair in entry.events if pair[0].redacted or pair[0].id not in without]
        yield entry
    checker.finish()


def refusal(finding: Finding, *, shallow: bool) -> BrokenHistory | Incomplete:
    """Return the error that a breaking finding means for a reader."""
    if finding.rule == "missing-object":
        if shallow:
            return Incomplete(what="it was cut off by a shallow clone")
        return Incomplete(what=finding.message)
    return BrokenHistory(place=f"commit {finding.commit[:12]}", what=finding.message)
