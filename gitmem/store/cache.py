"""The cache: a SQLite read model of the log. It makes an answer fast, never different.

Everything in it is derived from the log's tip, and it says from which. Same tip: use it. The tip
descends from it: apply the rest. Anything else, or any doubt: build a new one and put it in place.
Nobody migrates it; another schema number is one of the doubts.

How rows find each other. `events.n` orders output as (clock, id) does, in every clone, whatever the
order in which events arrived (see `batch.order_key`). A *component* is a set of events that a verdict may
hang on: the changes on one lineage, in every name that renames gave it, and whatever targets or
supersedes one of them. Judging a component needs nothing else, so catching up judges just the
components that new events touch. Only what differs from the ordinary (applied, trust of birth) is
stored of an event's standing.

A new file is built beside the old one. The old one is moved away *before* the side files of its
write-ahead log are removed and the new one is moved in, so that no reader can pair the new file with
the old log; a reader looks at the file's inode before it opens it and after its first read
(`Cache.open`).
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence

from gitmem.core import dates, entities, marks
from gitmem.core.events import Event
from gitmem.store import components
from gitmem.store.components import ID_BITS, event_of
from gitmem.store.glance import SCHEMA, boot_id, parts, placeholders, uri

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.history import Checker, Finding
    from gitmem.core.objects import ObjectFormat
    from gitmem.store.batch import Facts
    from gitmem.store.found import Found

#: What stands beside it (`store/found.py`).
FOUND_NAME = "found.sqlite"
BUSY_TIMEOUT_S = 5.0
#: So many events without a commit are looked at, the newest.
UNLINKED_MAX = 5000

_TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE events(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL, kind TEXT NOT NULL, word TEXT NOT NULL, scope TEXT NOT NULL,
  key TEXT NOT NULL, akey TEXT NOT NULL, author TEXT NOT NULL, agent TEXT, session_id TEXT, changeset_id TEXT,
  recorded_at TEXT NOT NULL, valid_from TEXT, valid_to TEXT, source TEXT, component INTEGER, log_oid TEXT NOT NULL,
  redacted TEXT NOT NULL, newer INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE refs(target TEXT, n INTEGER, field TEXT, PRIMARY KEY(target, n, field)) WITHOUT ROWID;
CREATE TABLE names(key TEXT, scope TEXT, component INTEGER, PRIMARY KEY(key, scope)) WITHOUT ROWID;
CREATE TABLE aliases(scope TEXT, a TEXT, b TEXT, n INTEGER, PRIMARY KEY(a, b, scope, n)) WITHOUT ROWID;
CREATE TABLE judged(
  n INTEGER PRIMARY KEY, effect TEXT NOT NULL, reason TEXT NOT NULL, trust TEXT NOT NULL, marks TEXT NOT NULL,
  hidden TEXT NOT NULL);
CREATE TABLE waiting(n INTEGER PRIMARY KEY, why TEXT NOT NULL);
CREATE TABLE decisions(
  component INTEGER, scope TEXT, names TEXT, entity_path TEXT, approach TEXT, akey TEXT, verdict TEXT, trust TEXT,
  standing TEXT, against TEXT, since TEXT, events TEXT);
CREATE TABLE counts(verdict TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE spans(
  clock TEXT, component INTEGER, scope TEXT, verdict TEXT, standing TEXT, since TEXT, at TEXT, until TEXT);
CREATE TABLE unspanned(clock TEXT, component INTEGER, winding INTEGER, PRIMARY KEY(clock, component)) WITHOUT ROWID;
CREATE TABLE links(
  event TEXT, commit_oid TEXT, how TEXT, n INTEGER, PRIMARY KEY(event, commit_oid, how, n)) WITHOUT ROWID;
CREATE VIEW placed AS SELECT event, commit_oid, how, n FROM links l WHERE how IS NOT 'revert'
  AND NOT EXISTS (SELECT 1 FROM judged j WHERE j.n = l.n AND j.trust = 'retracted');
CREATE TABLE unlinked(n INTEGER PRIMARY KEY, base TEXT, place TEXT);
CREATE TABLE prints(mark TEXT, n INTEGER, PRIMARY KEY(mark, n)) WITHOUT ROWID;
CREATE TABLE patterns(mark TEXT, n INTEGER, entry TEXT, PRIMARY KEY(mark, n, entry)) WITHOUT ROWID;
CREATE TABLE closed(
  key TEXT, scope TEXT, n INTEGER, akey TEXT, strength INTEGER, lines INTEGER, waiting TEXT,
  PRIMARY KEY(key, n)) WITHOUT ROWID;
CREATE TABLE conditions(n INTEGER PRIMARY KEY, due TEXT NOT NULL);
CREATE TABLE lesson_words(word TEXT, n INTEGER, PRIMARY KEY(word, n)) WITHOUT ROWID;
CREATE TABLE lesson_paths(key TEXT, n INTEGER, PRIMARY KEY(key, n)) WITHOUT ROWID;
CREATE TABLE signatures(n INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE places(oid TEXT PRIMARY KEY, clock INTEGER, time INTEGER) WITHOUT ROWID;
CREATE TABLE findings(rule TEXT, severity TEXT, commit_oid TEXT, event TEXT, message TEXT);
CREATE VIRTUAL TABLE words USING fts5(
  entity, approach, reasoning, rest, content='', tokenize="unicode61 remove_diacritics 2 tokenchars '_'");
"""
_INDEXES = """
CREATE UNIQUE INDEX events_id ON events(id);
CREATE INDEX events_component ON events(component) WHERE component IS NOT NULL;
CREATE INDEX events_changeset ON events(changeset_id) WHERE changeset_id IS NOT NULL;
CREATE INDEX events_session ON events(session_id) WHERE session_id IS NOT NULL;
CREATE INDEX events_source ON events(source) WHERE source IS NOT NULL;
CREATE INDEX events_log ON events(log_oid);
CREATE INDEX events_at ON events(COALESCE(valid_from, recorded_at), component);
CREATE INDEX events_ends ON events(valid_to, component) WHERE valid_to IS NOT NULL;
CREATE INDEX events_kind ON events(kind, n) WHERE kind <> 'change';
CREATE INDEX events_promoted ON events(n) WHERE kind = 'sleep' AND word = 'promote';
CREATE INDEX names_component ON names(component);
CREATE INDEX decisions_component ON decisions(component);
CREATE INDEX decisions_verdict ON decisions(verdict, since DESC, standing);
CREATE INDEX spans_component ON spans(component);
CREATE INDEX spans_since ON spans(clock, verdict, since DESC, standing, at, until, component);
CREATE INDEX closed_n ON closed(n);
CREATE INDEX closed_scope ON closed(scope, n);
CREATE INDEX judged_marks ON judged(n) WHERE marks <> '';
CREATE INDEX conditions_due ON conditions(due) WHERE due <> '';
CREATE INDEX links_commit ON links(commit_oid);
CREATE INDEX unlinked_place ON unlinked(place);
"""


class CacheDoubt(Exception):
    """The cache can't be used as it is (corrupt, of another schema, of another log): build a new one."""


class Cache:
    """One open cache. Not shared between threads.

    path    the file, or None where it lives in memory (a read-only file system)
    """

    #: What of the log counts, as a condition on `events e` and its values: all of it ("") but for a `past.Past`.
    counted: tuple[str, tuple[object, ...]] = ("", ())
    #: What this clone found beside the log; no part of what the cache is a function of.
    found: Found | None = None

    def __init__(self, db: sqlite3.Connection, path: str | None) -> None:
        self.db = db
        self.path = path

    # --- opening ------------------------------------------------------------------------------

    @classmethod
    def open(cls, path: str) -> Cache | None:
        """Return the cache at `path`, None where there is none. Raises CacheDoubt."""
        for _ in range(100):
            try:
                before = os.stat(path)
            except OSError:
                return None
            try:
                db = _connect(path)
                cache = cls(db, path)
                cache._check_schema()
            except sqlite3.Error as error:
                raise CacheDoubt(str(error)) from None
            try:
                same = os.stat(path).st_ino == before.st_ino
            except OSError:
                same = False
            if same:
                return cache
            db.close()  # another process was putting a new one in place
        raise CacheDoubt("it is being replaced all the time")

    @classmethod
    def in_memory(cls) -> Cache:
        """Return an empty cache that lives in memory."""
        db = sqlite3.connect(":memory:", isolation_level=None)
        cache = cls(db, None)
        cache._create()
        cache._index()
        return cache

    @classmethod
    def building(cls, path: str) -> Cache:
        """Return an empty cache in a new file at `path`, with neither indexes nor durability yet."""
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA journal_mode=OFF")
        db.execute("PRAGMA synchronous=OFF")
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
        db.execute("PRAGMA cache_size=-65536")
        db.execute("BEGIN")
        cache = cls(db, path)
        cache._create()
        # The words of so much text are sorted in memory before they are written: a third less time than in pieces.
        cache._sort_words(32 << 20)
        return cache

    def _sort_words(self, size: int) -> None:
        self.db.execute("INSERT INTO words(words, rank) VALUES ('hashsize', ?)", (size,))

    def put_in_place(self, path: str) -> None:
        """Finish a cache that was being built and make it the one at `path`. Closes it."""
        assert self.path is not None
        self._sort_words(1 << 20)  # SQLite's own default
        self._set("boot", "")  # this file is made durable below
        self.db.execute("COMMIT")
        self.db.execute("PRAGMA locking_mode=NORMAL")
        self.db.execute("PRAGMA journal_mode=WAL")  # stays with the file; "delete" where the file system can't
        self.db.close()
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        aside = f"{self.path}.old"
        try:
            os.rename(path, aside)
        except FileNotFoundError:
            aside = ""
        for side in ("-wal", "-shm", "-journal"):
            _remove(path + side)
            _remove(self.path + side)
        os.rename(self.path, path)
        if aside:
            _remove(aside)

    def close(self) -> None:
        self.db.close()

    def _create(self) -> None:
        for statement in _TABLES.split(";\n"):
            if statement.strip():
                self.db.execute(statement)
        self._set("schema", SCHEMA)

    def _index(self) -> None:
        for statement in _INDEXES.split(";\n"):
            if statement.strip():
                self.db.execute(statement)

    def _check_schema(self) -> None:
        if self.meta("schema") != SCHEMA:
            raise CacheDoubt(f"it has schema {self.meta('schema')}, not {SCHEMA}")
        if self.meta("boot") not in (None, "", boot_id()):
            raise CacheDoubt("the machine went down since it was written")

    # --- what it stands for -------------------------------------------------------------------

    def meta(self, key: str) -> object:
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def _set(self, key: str, value: object) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    @property
    def tip(self) -> str:
        return str(self.meta("tip") or "")

    @property
    def clock(self) -> int:
        """The highest clock of the log."""
        value = self.meta("clock")
        return value if isinstance(value, int) else 0

    def stamp(self, stamp: bytes | None) -> None:
        """Remember that `stamp` was seen before the tip was read (None: nothing is known).

        Every transaction that changes a cache in place ends with this.
        """
        self._set("stamp", stamp)
        self._set("boot", boot_id())

    # --- catching up --------------------------------------------------------------------------

    def checker(self, form: ObjectFormat) -> Checker:
        """Return a checker that knows what this cache was built from."""
        from gitmem.core.history import Checker

        return Checker(form, self._place_of, self._known, self._source, self.quarantined_ids())

    def _place_of(self, oid: str) -> tuple[int, int] | None:
        if oid == self.tip:
            return self.clock_and_time()
        row = self.db.execute("SELECT clock, time FROM places WHERE oid = ?", (oid,)).fetchone()
        if row:
            return (row[0], row[1])
        rows = self.db.execute("SELECT n, recorded_at FROM events WHERE log_oid = ? ORDER BY n", (oid,)).fetchall()
        if rows:
            from gitmem.core.objects import seconds

            return (rows[-1][0] >> ID_BITS, seconds(rows[0][1]))
        return None

    def _source(self, name: str) -> Event | None:
        row = self.db.execute(
            "SELECT id, body, redacted FROM events WHERE source = ? ORDER BY n LIMIT 1", (name,)
        ).fetchone()
        return event_of(*row) if row else None

    def clock_and_time(self) -> tuple[int, int]:
        time = self.meta("time")
        return (self.clock, time if isinstance(time, int) else 0)

    def _known(self, event_id: str) -> str:
        row = self.db.execute("SELECT redacted FROM events WHERE id = ?", (event_id,)).fetchone()
        if row is None:
            return ""
        return "tombstone" if row[0] else "event"

    def apply(self, entries: Iterable[Facts], tip: str, *, fresh: bool = False, halves: bool = False) -> None:
        """Put the facts of verified entries in, judge what they touch, and stand for `tip` from now on.

        The caller holds a transaction. `fresh`: the cache was empty, and has no indexes yet. `halves`: another
        process may judge half of it.
        """
        from gitmem.store.batch import Batch

        batch = Batch(self.db, fresh=fresh)
        clock, time, commits = self.clock, 0, 0
        for facts in entries:
            commits += 1
            batch.add(facts)
            clock, time = max(clock, facts[2]), facts[3]
        batch.flush()
        if fresh:
            self._index()
        if halves:
            # Let the other process read what is there; the file is nobody's yet.
            self.db.execute("COMMIT")
            self.db.execute("PRAGMA locking_mode=NORMAL")
            self.db.execute("SELECT 1 FROM meta").fetchone()
            batch.judge(self.path)
        else:
            batch.judge()
        self._set("tip", tip)
        self._set("clock", clock)
        if commits:
            self._set("time", time)
        for key, more in (("commits", commits), ("events", batch.events), ("newer", batch.newer)):
            if more:
                before = self.meta(key)
                self._set(key, (before if isinstance(before, int) else 0) + more)
        self._accept()

    def keep_findings(self, findings: Sequence[Finding]) -> None:
        """Store what checking noticed, for readers to say so."""
        self.db.executemany(
            "INSERT INTO findings VALUES (?, ?, ?, ?, ?)",
            [(f.rule, f.severity, f.commit, f.event, f.message) for f in findings],
        )
        if findings:
            self._accept(anew=True)

    def _accept(self, *, anew: bool = False) -> None:
        """Count the files that are quarantined, and see which of them a person accepted since (F31)."""
        if not anew and self.meta("quarantined") is None:
            return  # nearly always: nothing was ever quarantined
        from gitmem.core import history

        found = [(rowid, finding) for rowid, finding in self._findings() if finding.rule in history.QUARANTINING]
        if not found:
            return
        targets = sorted({finding.event for _, finding in found})
        rows = self.db.execute(
            "SELECT e.id, e.body, e.redacted FROM events e WHERE e.kind = 'review' AND e.word IN ('ratify', 'retract')"
        )
        reviews = [event for row in rows if history.is_personal_review(event := event_of(*row))]
        history.accept([finding for _, finding in found], reviews)
        self.db.executemany(
            "UPDATE findings SET severity = ? WHERE rowid = ?",
            [(finding.severity, rowid) for rowid, finding in found],
        )
        self._set("quarantined", sum(finding.severity == history.ERROR for _, finding in found))
        self._set("bad", "\n".join(targets))

    def quarantined_ids(self) -> frozenset[str]:
        """Return the names of the files that are quarantined, accepted or not."""
        bad = self.meta("bad")
        return frozenset(str(bad).split("\n")) if bad else frozenset()

    def findings(self) -> list[Finding]:
        return [finding for _, finding in self._findings()]

    def _findings(self) -> list[tuple[int, Finding]]:
        from gitmem.core.history import Finding

        rows = self.db.execute("SELECT rowid, rule, severity, commit_oid, event, message FROM findings ORDER BY rowid")
        return [
            (rowid, Finding(rule, message, severity=severity, commit=oid, event=event))
            for rowid, rule, severity, oid, event, message in rows
        ]

    # --- reading ------------------------------------------------------------------------------

    def ids(self, prefix: str, limit: int = 20, *, quarantined: bool = False) -> list[str]:
        """Return the event ids that begin with `prefix`, sorted, at most `limit`; or also quarantined names."""
        low = prefix.lower()
        rows = self.db.execute(
            "SELECT id FROM events WHERE id >= ? AND id < ? ORDER BY id LIMIT ?", (low, low + "g", limit)
        )
        bad = [one for one in self.quarantined_ids() if one.startswith(low)] if quarantined else []
        return sorted({*(row[0] for row in rows), *bad})

    def event(self, event_id: str) -> Event | None:
        row = self.db.execute("SELECT id, body, redacted FROM events WHERE id = ?", (event_id,)).fetchone()
        return event_of(*row) if row else None

    def oldest(self) -> str:
        """Return when the first event that is no import's was recorded, or ""."""
        row = self.db.execute("SELECT recorded_at FROM events WHERE source IS NULL ORDER BY n LIMIT 1").fetchone()
        return row[0] if row else ""

    def is_whole(self) -> bool:
        """Say whether all events of the log are here: none is quarantined, and none stands there twice."""
        return self.db.execute("SELECT 1 FROM findings LIMIT 1").fetchone() is None

    def rows_in(self, commits: Sequence[str] | None) -> Iterator[tuple[str, bytes, str, str]]:
        """Yield (id, body, redacted, commit) of the events that first stand in some commits of the log; None: all."""
        what = "SELECT id, body, redacted, log_oid FROM events"
        if commits is None:
            yield from self.db.execute(f"{what} ORDER BY n")
            return
        for at in range(0, len(commits), 500):
            part = commits[at : at + 500]
            yield from self.db.execute(f"{what} WHERE log_oid IN ({','.join('?' * len(part))}) ORDER BY n", part)

    def event_exists(self, event_id: str) -> bool:
        return self.db.execute("SELECT 1 FROM events WHERE id = ?", (event_id,)).fetchone() is not None

    def body(self, event_id: str) -> bytes | None:
        row = self.db.execute("SELECT body FROM events WHERE id = ?", (event_id,)).fetchone()
        return bytes(row[0]) if row else None

    def outside(self, event_id: str) -> Iterable[str]:
        """Return what an event refers to, for *saw* to run through it."""
        found = self.event(event_id)
        return (*found.after, *found.supersedes, *found.targets) if found else ()

    def components_of(self, names: Iterable[tuple[str, str]]) -> set[int]:
        """Return the components of (scope, folded name) pairs, under all the names that renames gave them."""
        return components.components_of(self.db, names)

    def lineage_names(self, scope: str, key: str) -> list[str]:
        """Return every name that renames in `scope` gave the folded name `key`, itself first."""
        return components.lineage_names(self.db, scope, key, components.parted(self.db))

    def names_below(self, key: str, scope: str | None = None) -> list[tuple[str, str]]:
        """Return the recorded (scope, folded name) pairs below the name `key`, in one scope or in all."""
        return components.names_below(self.db, key, scope)

    def scopes(self) -> list[str]:
        """Return the scopes that any event was recorded in, besides the whole repository."""
        value = self.meta("scopes")
        return str(value).split("\n") if value else []

    def scopes_of(self, key: str) -> list[str]:
        """Return the scopes in which the folded name `key` was recorded."""
        return components.scopes_of(self.db, key)

    def component_of_event(self, event_id: str) -> int | None:
        row = self.db.execute("SELECT component FROM events WHERE id = ?", (event_id,)).fetchone()
        return row[0] if row else None

    def component_events(self, numbers: Iterable[int]) -> list[Event]:
        """Return the events of whole components, and the renames that gave their names, oldest first."""
        return list(components.component_events(self.db, numbers))

    def has_source(self, source: str) -> bool:
        return self.db.execute("SELECT 1 FROM events WHERE source = ? LIMIT 1", (source,)).fetchone() is not None

    def id_of_source(self, source: str) -> str:
        """Return the id of an event of `source`, the first of them; empty where there is none."""
        found = self.db.execute("SELECT min(id) FROM events WHERE source = ?", (source,)).fetchone()
        return found[0] or "" if found else ""

    def sources(self, prefix: str) -> set[str]:
        """Return the sources that begin with `prefix`, of all events that have one."""
        rows = self.db.execute(
            "SELECT source FROM events WHERE source >= ? AND source < ?", (prefix, prefix + "\U0010ffff")
        )
        return {row[0] for row in rows}

    def ids_on(self, names: Iterable[tuple[str, str]]) -> list[str]:
        """Return the ids of the change events on some (scope, folded name) pairs, sorted."""
        found: list[str] = []
        for scope, key in names:
            row = self.db.execute("SELECT component FROM names WHERE key = ? AND scope = ?", (key, scope)).fetchone()
            if row:
                rows = self.db.execute(
                    "SELECT id FROM events WHERE component = ? AND key = ? AND scope = ? AND kind = 'change'",
                    (row[0], key, scope),
                )
                found += [event_id for (event_id,) in rows]
        return sorted(found)

    def has_fingerprints(self) -> bool:
        """Say whether any closing carries a fingerprint."""
        return self.db.execute("SELECT 1 FROM prints LIMIT 1").fetchone() is not None

    def sharing(self, marks: Iterable[int]) -> dict[int, int]:
        """Return of which closings (their row numbers) a fingerprint holds some of `marks`, and how many."""
        shared: dict[int, int] = {}
        for part in parts([f"{mark:016x}" for mark in marks]):
            rows = self.db.execute(
                f"SELECT n, COUNT(*) FROM prints WHERE mark IN ({placeholders(part)}) GROUP BY n", part
            )
            for n, count in rows:
                shared[n] = shared.get(n, 0) + count
        return shared

    def closings_like(self, marks: Iterable[int]) -> list[tuple[Event, int]]:
        """Return the closings whose fingerprints share some of `marks`, with how many they share, the most first."""
        found = []
        for n, count in sorted(self.sharing(marks).items(), key=lambda item: (-item[1], -item[0])):
            row = self.db.execute("SELECT id, body, redacted FROM events WHERE n = ?", (n,)).fetchone()
            found.append((event_of(*row), count))
        return found

    # decisions

    def counts(self, scope: str = "") -> dict[str, int]:
        """Return how many decisions that a read in `scope` sees have each verdict."""
        if scope:
            from gitmem.store.listing import scope_predicate

            seen, values = scope_predicate(scope, all_scopes=False, column="scope")
            rows = self.db.execute(f"SELECT verdict, COUNT(*) FROM decisions WHERE {seen} GROUP BY verdict", values)
            return dict(rows.fetchall())
        return dict(self.db.execute("SELECT verdict, number FROM counts WHERE number > 0").fetchall())

    def decisions_of(self, names: Sequence[tuple[str, str]]) -> list[StoredDecision]:
        """Return the decisions on some (scope, folded name) pairs."""
        wanted = set(names)
        found: list[StoredDecision] = []
        numbers = sorted(self.components_of(names))
        for part in parts(numbers):
            rows = self.db.execute(
                f"SELECT {_DECISION} FROM decisions WHERE component IN ({placeholders(part)})", part
            ).fetchall()
            found += [
                self._decision(row) for row in rows if any((row[0], name) in wanted for name in row[1].split("\n"))
            ]
        return found

    def event_count(self, scope: str = "") -> int:
        """Return how many events a read in `scope` sees."""
        if scope:
            from gitmem.store.listing import scope_predicate

            seen, values = scope_predicate(scope, all_scopes=False, column="scope")
            return int(self.db.execute(f"SELECT COUNT(*) FROM events WHERE {seen}", values).fetchone()[0])
        value = self.meta("events")
        return value if isinstance(value, int) else 0

    def decisions_worst(self, limit: int, scope: str = "") -> list[StoredDecision]:
        """Return the decisions that are not simply active or removed, the worst first, at most `limit`.

        Only those that a read in `scope` sees.
        """
        from gitmem.store.listing import scope_predicate

        seen, values = scope_predicate(scope, all_scopes=False, column="scope")
        seen = f"AND {seen} " if seen else ""
        found: list[StoredDecision] = []
        for verdict in ("contested", "rejected", "reverted", "reopened"):
            rows = self.db.execute(
                f"SELECT {_DECISION} FROM decisions WHERE verdict = ? {seen}ORDER BY since DESC, standing LIMIT ?",
                (verdict, *values, limit - len(found)),
            ).fetchall()
            found += [self._decision(row) for row in rows]
            if len(found) >= limit:
                break
        return found

    def decisions_with(self, verdict: str) -> list[StoredDecision]:
        """Return all decisions of one verdict, in no order."""
        rows = self.db.execute(f"SELECT {_DECISION} FROM decisions WHERE verdict = ?", (verdict,)).fetchall()
        return [self._decision(row) for row in rows]

    def _decision(self, row: tuple[str, ...]) -> StoredDecision:
        scope, names, path, approach, verdict, trust, standing, against, since, numbers, akey = row
        events = []
        sealed: set[str] = set()
        for n in numbers.split(" "):
            found = self.db.execute(
                "SELECT e.id, j.marks FROM events e LEFT JOIN judged j ON j.n = e.n WHERE e.n = ?", (int(n),)
            ).fetchone()
            events.append(found[0])
            if marks.SEAL in marks_now(found[1]):
                sealed.add(found[0])
        if sealed and approach:
            approach = self._approach_shown(akey, standing, events, sealed)
        placed = self.db.execute("SELECT DISTINCT commit_oid FROM placed WHERE event = ?", (standing,))
        commits = [oid for (oid,) in placed]
        if self.found is not None:
            commits += [one.commit for one in self.found.links_of(standing) if one.how != "revert"]
        return StoredDecision(
            scope,
            names.split("\n"),
            path,
            approach,
            verdict,
            trust,
            standing,
            against.split(" ") if against else [],
            since,
            events,
            commits,
            self._closed_above(scope, names.split("\n")),
            approach_key=akey,
            sealed=standing in sealed,
        )

    def _approach_shown(self, akey: str, standing: str, events: list[str], sealed: set[str]) -> str:
        """Return an approach in the words of an event that is not sealed, the deciding one first, else "[sealed]"."""
        from gitmem.core.approach import total_key

        for event_id in (standing, *reversed(events)):
            event = None if event_id in sealed else self.event(event_id)
            if event is not None and event.approach and total_key(event.approach) == akey:
                return event.approach
        return "[sealed]"

    def _closed_above(self, scope: str, names: list[str]) -> str:
        """Return the id of a standing whole rejection of a parent, or of this entity in a scope above (R13)."""
        scopes = [scope, *entities.ancestors_scope(scope)]
        for name in names:
            for its_scope in scopes:
                above = entities.parents(name) if its_scope == scope else [name, *entities.parents(name)]
                for parent in above:
                    row = self.db.execute(
                        "SELECT component FROM names WHERE key = ? AND scope = ?", (parent, its_scope)
                    ).fetchone()
                    if row is None:
                        continue
                    for standing, names_there, akey, verdict in self.db.execute(
                        "SELECT standing, names, akey, verdict FROM decisions WHERE component = ? AND scope = ?",
                        (row[0], its_scope),
                    ):
                        if parent in names_there.split("\n") and not akey and verdict == "rejected":
                            return str(standing)
        return ""

    # what refers to an event

    def referring(self, event_id: str) -> list[Event]:
        """Return the events that target or supersede `event_id`, oldest first."""
        rows = self.db.execute(
            "SELECT DISTINCT e.n, e.id, e.body, e.redacted FROM refs r JOIN events e ON e.n = r.n "
            "WHERE r.target = ? ORDER BY e.n",
            (event_id,),
        )
        return [event_of(*row[1:]) for row in rows]

    def links_of(self, event_id: str) -> list[Event]:
        """Return the links of an event, reverts too, oldest first; what was retracted is none."""
        rows = self.db.execute(
            "SELECT DISTINCT e.n, e.id, e.body, e.redacted FROM links l JOIN events e ON e.n = l.n "
            "WHERE l.event = ? AND NOT EXISTS (SELECT 1 FROM judged j WHERE j.n = l.n AND j.trust = 'retracted') "
            "ORDER BY e.n",
            (event_id,),
        )
        return [event_of(*row[1:]) for row in rows]

    def marks_of(self, event_id: str) -> str:
        """Return the marks of an event as `marks.spelled` wrote them."""
        row = self.db.execute(
            "SELECT j.marks FROM judged j JOIN events e ON e.n = j.n WHERE e.id = ?", (event_id,)
        ).fetchone()
        return str(row[0]) if row else ""

    def log_commit(self, event_id: str) -> str:
        """Return the oid of the log commit that brought an event, or an empty string."""
        row = self.db.execute("SELECT log_oid FROM events WHERE id = ?", (event_id,)).fetchone()
        return str(row[0]) if row else ""

    def linked_to(self, commit: str) -> list[str]:
        """Return the ids of the events that are linked to a commit, in output order."""
        rows = self.db.execute(
            "SELECT DISTINCT l.event, e.n FROM placed l LEFT JOIN events e ON e.id = l.event "
            "WHERE l.commit_oid = ? ORDER BY e.n",
            (commit,),
        )
        return [row[0] for row in rows]

    def linked_commits(self) -> list[str]:
        return [row[0] for row in self.db.execute("SELECT DISTINCT commit_oid FROM placed ORDER BY commit_oid")]

    def unlinked(self, place: str | None = None) -> list[Event]:
        """Return change events that have no commit yet, the newest first; of one branch (or worktree), or of all."""
        where, values = ("WHERE u.place = ?", [place]) if place is not None else ("", [])
        rows = self.db.execute(
            "SELECT e.id, e.body, e.redacted FROM unlinked u JOIN events e ON e.n = u.n "
            f"{where} ORDER BY u.n DESC LIMIT ?",
            (*values, UNLINKED_MAX),
        )
        return [event_of(*row) for row in rows]

    def unlinked_count(self) -> int:
        return int(self.db.execute("SELECT COUNT(*) FROM unlinked").fetchone()[0])

    def signature(self, n: int) -> bytes | None:
        """Return the signature of the event in row `n`, well-formed and unchecked, or None."""
        row = self.db.execute("SELECT body FROM signatures WHERE n = ?", (n,)).fetchone()
        return bytes(row[0]) if row else None

    def quarantined(self) -> int:
        """Return how many files of the log were left out because they are no events, and no person accepted them."""
        value = self.meta("quarantined")
        return value if isinstance(value, int) else 0

    def changesets(
        self, *, since: str = "", until: str = "", limit: int = 0, scope: str = ""
    ) -> list[tuple[str, int, str, str]]:
        """Return (id, events, first and last `recorded_at`) of each changeset, the newest first, as `scope` sees it."""
        from gitmem.store.listing import scope_predicate

        seen, values = scope_predicate(scope, all_scopes=False, column="scope")
        seen = f"AND {seen} " if seen else ""
        rows = self.db.execute(
            "SELECT changeset_id, COUNT(*), MIN(recorded_at), MAX(recorded_at) FROM events "
            "WHERE changeset_id IS NOT NULL AND (? = '' OR recorded_at >= ?) AND (? = '' OR recorded_at < ?) "
            f"{seen}GROUP BY changeset_id ORDER BY MAX(n) DESC LIMIT ?",
            (since, since, until, until, *values, limit or -1),
        )
        return [(row[0], row[1], row[2], row[3]) for row in rows]

    def dump(self) -> list[tuple[object, ...]]:
        """Return the content in an order of its own: two caches of one log give equal dumps.

        Component numbers are names without meaning and are left out.
        """
        rows: list[tuple[object, ...]] = []
        for table, columns in (
            (
                "events",
                "n, id, kind, word, scope, key, akey, author, agent, session_id, changeset_id, recorded_at, "
                "valid_from, valid_to, source, log_oid, redacted, newer, body",
            ),
            ("refs", "target, n, field"),
            ("names", "key, scope"),
            ("aliases", "scope, a, b, n"),
            ("judged", "n, effect, reason, trust, marks, hidden"),
            ("waiting", "n, why"),
            (
                "decisions",
                "scope, names, entity_path, approach, akey, verdict, trust, standing, against, since, events",
            ),
            ("links", "event, commit_oid, how, n"),
            ("unlinked", "n, base, place"),
            ("prints", "mark, n"),
            ("patterns", "mark, n, entry"),
            ("closed", "key, scope, n, akey, strength, lines, waiting"),
            ("conditions", "n, due"),
            ("signatures", "n, body"),
            ("places", "oid, clock, time"),
            ("findings", "rule, severity, commit_oid, event, message"),
        ):
            rows += sorted(((table, *row) for row in self.db.execute(f"SELECT {columns} FROM {table}")), key=repr)
        rows += [("counts", *item) for item in sorted(self.counts().items())]
        rows += [
            ("meta", key, self.meta(key)) for key in ("schema", "tip", "clock", "time", "events", "commits", "newer")
        ]
        return rows


class StoredDecision:
    """A decision as the cache keeps it; see `verdicts.Decision`. `commits` are those of the deciding event.

    sealed   the deciding event is sealed now: the verdict is told, and none of its text
    """

    __slots__ = (
        "against",
        "approach",
        "approach_key",
        "closed_by_parent",
        "commits",
        "entity_path",
        "events",
        "names",
        "scope",
        "sealed",
        "since",
        "standing",
        "trust",
        "verdict",
    )

    def __init__(
        self,
        scope: str,
        names: list[str],
        entity_path: str,
        approach: str,
        verdict: str,
        trust: str,
        standing: str,
        against: list[str],
        since: str,
        events: list[str],
        commits: list[str],
        closed_by_parent: str,
        *,
        approach_key: str,
        sealed: bool,
    ) -> None:
        self.approach_key = approach_key
        self.sealed = sealed
        self.scope = scope
        self.names = names
        self.entity_path = entity_path
        self.approach = approach
        self.verdict = verdict
        self.trust = trust
        self.standing = standing
        self.against = against
        self.since = since
        self.events = events
        self.commits = commits
        self.closed_by_parent = closed_by_parent


_DECISION = "scope, names, entity_path, approach, verdict, trust, standing, against, since, events, akey"


def marks_now(spelled: str | None) -> list[str]:
    """Return which marks of a row of `judged` hold now."""
    return marks.in_force(spelled, dates.of_seconds(time.time())) if spelled else []


def _connect(path: str) -> sqlite3.Connection:
    """Open the file at `path`, for reading alone where the file system allows no more."""
    writable = os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK)
    # Where nothing can be written no other process can either, and SQLite needs no lock or side file;
    # what a write-ahead log still holds would be missed, so such a file is not used.
    if not writable:
        try:
            if os.stat(path + "-wal").st_size:
                raise CacheDoubt("its write-ahead log can't be read on a read-only file system")
        except FileNotFoundError:
            pass
    mode = "rw" if writable else "ro&immutable=1"
    db = sqlite3.connect(uri(path, mode), uri=True, isolation_level=None, timeout=BUSY_TIMEOUT_S)
    if writable:
        # Nothing here is worth waiting for a disk: what the machine took down with it is built again (`boot_id`).
        db.execute(f"PRAGMA synchronous={'OFF' if boot_id() else 'NORMAL'}")
    return db


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise
