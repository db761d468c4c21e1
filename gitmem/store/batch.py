"""A batch: verified entries on their way into the cache.

Two halves. `facts_of` makes of an entry everything that can be known from it alone, as plain values: rows, words,
names, references. It needs no database, so a long log is read, checked and turned into facts by a process of its
own (`readmodel`). `Batch` takes facts in: it numbers rows, lets components grow together, and in the end judges
just the components that were touched.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from gitmem.core import entities, fingerprint, patterns, words
from gitmem.core.approach import total_key
from gitmem.core.events import Event
from gitmem.core.history import Entry
from gitmem.core.lineages import entity_key
from gitmem.core.revisit import FIELDS, due
from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING, KINDS_LOOSE
from gitmem.store import components
from gitmem.store.components import ID_BITS, birth_trust, event_of

#: From one in so many components on, they are judged in one pass over the table instead of one query each.
SCAN_FROM = 3
#: How many values a row of `judged`, of `waiting` and of `closed` has.
JUDGED_WIDTH, WAITING_WIDTH, CLOSED_WIDTH, DECISION_WIDTH = 6, 2, 7, 12
#: Rows are inserted so many at a time.
INSERT_FROM = 5000

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.verdicts import Decision, Judgement

    _Maybe = str | None
    #: Of `events`, from `kind` on, without `component` and what comes after it.
    _Row = tuple[str, str, str, str, str, str, _Maybe, _Maybe, _Maybe, str, _Maybe, _Maybe, _Maybe]
    #: Of one event: id, clock, most of its row, redacted, newer, body, targets, supersedes, words for the
    #: index, commit and place it was recorded at, pairs of names it joins, commit and how of a link, marks of its
    #: fingerprint, anchors of its patterns, its conditions, its signature; of a lesson its words and its places.
    Fact = tuple[
        str,
        int,
        _Row,
        str,
        int,
        bytes,
        tuple[str, ...],
        tuple[str, ...],
        tuple[str, ...] | None,
        tuple[_Maybe, str] | None,
        list[tuple[str, str]],
        tuple[_Maybe, _Maybe] | None,
        list[str],
        list[tuple[str, str]],
        _Maybe,
        bytes | None,
        tuple[list[str], list[str]] | None,
    ]
    #: (oid, parents, clock, time, facts of each event)
    Facts = tuple[str, tuple[str, ...], int, int, list[Fact]]


def order_key(clock: int, event_id: str) -> int:
    """Return the number that orders events as (clock, id) does, the same in every clone.

    Two events of one clock whose ids share their first 20 bits would tie; `Batch` then takes the next free number.
    """
    return clock << ID_BITS | int(event_id[:5], 16)


def facts_of(entry: Entry) -> Facts:
    """Return what can be known of `entry` alone, in values that `marshal` can carry."""
    signed = entry.signatures.get
    found = [_facts(event, body, signed(event.id)) for event, body in entry.events]
    return (entry.oid, entry.parents, entry.clock, entry.time, found)


def _facts(event: Event, body: bytes, signature: bytes | None) -> Fact:
    fields = event.fields
    name = event.entity_path
    is_change = event.kind == "change"
    source = event.source or None
    row = (
        event.kind,
        event.change_type or event.action or _text(fields.get("how")) or "",
        event.scope,
        entity_key(name) if name else "",
        total_key(event.approach) if event.approach else "",
        event.author,
        _text(fields.get("agent")),
        _text(fields.get("session_id")),
        _text(fields.get("changeset_id")),
        event.recorded_at,
        event.valid_from or None,
        _text(fields.get("valid_to")),
        source,
    )
    indexed: tuple[str, ...] | None = None
    waiting: tuple[str | None, str] | None = None
    renames: list[tuple[str, str]] = []
    link: tuple[str | None, str | None] | None = None
    lesson: tuple[list[str], list[str]] | None = None
    if is_change:
        if event.change_type == "rename" and event.renamed_from and name:
            renames = [(entity_key(event.renamed_from), row[3])]
        if not event.redacted:
            indexed = tuple(
                map(words.searchable, (name, event.approach, _text(fields.get("reasoning")) or "", _rest(fields)))
            )
            base = fields.get("base")
            if isinstance(base, dict) and not source:
                waiting = (_text(base.get("commit")), _text(base.get("branch")) or _text(base.get("worktree")) or "")
    elif event.kind == "lesson" and not event.redacted and not event.newer:
        lesson, indexed = _lesson(event)
    elif event.kind == "link" and not event.newer:
        link = (_text(fields.get("commit")), _text(fields.get("how")))
        pairs = fields.get("renames")
        if isinstance(pairs, list):
            renames = [(entity_key(old), entity_key(new)) for old, new in pairs]
    prints: list[str] = []
    anchors: list[tuple[str, str]] = []
    if is_change and CHANGE_TYPES.get(event.change_type) == CLOSING:
        prints = _prints(event)
        anchors = patterns.anchors(fields.get("patterns"))
    conditions = due(event) if is_change and any(fields.get(name) for name in FIELDS) else None
    return (
        event.id,
        event.clock,
        row,
        event.redacted,
        int(event.newer),
        body,
        event.targets,
        event.supersedes,
        indexed,
        waiting,
        renames,
        link,
        prints,
        anchors,
        conditions,
        signature,
        lesson,
    )


def _lesson(event: Event) -> tuple[tuple[list[str], list[str]], tuple[str, ...]]:
    """Return by which words and which places a lesson is found, and its texts for the full-text index."""
    from gitmem.core.lessons import words as telling

    core, topic = _text(event.fields.get("core")) or "", _text(event.fields.get("topic")) or ""
    given = event.fields.get("paths")
    paths = [str(path) for path in given] if isinstance(given, list) else []
    stems: set[str] = set()
    for text in (core, topic, *(path.replace("/", " ") for path in paths)):
        stems.update(telling.content(text))
    keys = {key for path in paths for key in (entity_key(path), entity_key(entities.file_of(path))) if key}
    return (sorted(stems), sorted(keys)), tuple(map(words.searchable, ("\n".join(paths), "", core, topic)))


def _prints(event: Event) -> list[str]:
    return [f"{mark:016x}" for mark in fingerprint.hashes(event.fields.get("fingerprint"))]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _rest(fields: dict[str, object]) -> str:
    parts = [value for name in _SEARCHED if (value := _text(fields.get(name)))]
    tags = fields.get("tags")
    if isinstance(tags, list):
        parts += [str(tag) for tag in tags]
    return "\n".join(parts)


_SEARCHED = ("instead", "constraint", "stale_when", "changeset_id", "agent")


class Batch:
    """Facts on their way in. `fresh`: the cache was empty and has no indexes yet."""

    def __init__(self, db: sqlite3.Connection, *, fresh: bool) -> None:
        self.db = db
        self.fresh = fresh
        self.events = 0
        self.newer = 0
        self._dirty: set[int] = set()
        self._counts: dict[str, int] = {}  # verdict -> how many decisions more have it
        self._parent: dict[int, int] = {}  # union-find over components that were merged in this batch
        row = db.execute("SELECT value FROM meta WHERE key = 'components'").fetchone()
        self._next = row[0] if row else 1
        row = db.execute("SELECT value FROM meta WHERE key = 'scopes'").fetchone()
        self._scopes: set[str] = set(str(row[0]).split("\n")) if row and row[0] else set()
        row = db.execute("SELECT value FROM meta WHERE key = 'spans'").fetchone()
        self._clocks: list[str] = str(row[0]).split("\n") if row else []  # by which there are spans
        self._names: dict[tuple[str, str], int] = {}
        self._component: dict[str, int] = {}  # event id -> component (0: none), of this batch
        self._used: set[int] = set()
        self._rows: list[tuple[object, ...]] = []
        self._refs: list[tuple[str, int, str]] = []
        self._words: list[tuple[object, ...]] = []
        self._prints: list[tuple[str, int]] = []
        self._patterns: list[tuple[str, int, str]] = []
        self._conditions: list[tuple[int, str]] = []
        self._lessons = 0
        self._lesson_words: list[tuple[str, int]] = []
        self._lesson_paths: list[tuple[str, int]] = []
        self._new_names: list[tuple[str, str, int]] = []
        self._links: list[tuple[object, ...]] = []
        self._unlinked: dict[str, tuple[int, str | None, str]] = {}
        self._claimed: list[tuple[int, str]] = []  # links that a review speaks of, with the component of that
        self._dangling: set[str] = set()
        self._aliases = db.execute("SELECT 1 FROM aliases LIMIT 1").fetchone() is not None
        if not fresh:
            rows = db.execute("SELECT value FROM meta WHERE key > 'dangling:' AND key < 'dangling;'")
            self._dangling = {row[0] for row in rows}

    # one entry

    def add(self, facts: Facts) -> None:
        oid, _, clock, time, found = facts
        added = [self._add(one, oid) for one in found]
        if not added or not all(added):
            # Its place can't be read off its events: a join, the root, one whose events are known or bad.
            self.db.execute("INSERT OR REPLACE INTO places VALUES (?, ?, ?)", (oid, clock, time))

    def _add(self, fact: Fact, oid: str) -> bool:
        event_id, clock, row, redacted, newer, body, targets, supersedes = fact[:8]
        indexed, waiting, renames, link, prints, anchors, conditions, signature, lesson = fact[8:]
        if event_id in self._component or (not self.fresh and self._exists(event_id)):
            return False  # R1: the same id twice is once
        n = order_key(clock, event_id)
        while n in self._used or (not self.fresh and self._taken(n)):
            n += 1
        self._used.add(n)
        self.events += 1
        self.newer += newer
        kind, scope, key = row[0], row[2], row[3]
        for old, new in renames:
            self._alias(scope if kind == "change" else "*", old, new, n)
        component = None
        if kind not in KINDS_LOOSE:
            component = self._place(event_id, kind, scope, key, renames, targets, supersedes)
        elif event_id in self._dangling:
            component = self._place(event_id, kind, scope, "", (), (), ())
        self._component[event_id] = component or 0
        self._rows.append((n, event_id, *row, component, oid, redacted, newer, body))
        for field, references in (("targets", targets), ("supersedes", supersedes)):
            for reference in references:
                self._refs.append((reference, n, field))
        if indexed is not None:
            self._words.append((n, *indexed))
        self._prints += [(mark, n) for mark in prints]
        self._patterns += [(anchor, n, entry) for anchor, entry in anchors]
        if conditions is not None:
            self._conditions.append((n, conditions))
        if signature is not None:
            self.db.execute("INSERT OR REPLACE INTO signatures VALUES (?, ?)", (n, signature))
        if lesson is not None:
            self._lessons += 1
            self._lesson_words += [(stem, n) for stem in lesson[0]]
            self._lesson_paths += [(key, n) for key in lesson[1]]
        if waiting is not None:
            self._unlinked[event_id] = (n, *waiting)
        if link is not None:
            self._links += [(target, *link, n) for target in targets]
        if len(self._rows) >= INSERT_FROM:
            self._insert()
        return True

    # components

    def _find(self, component: int) -> int:
        parent = self._parent
        root = component
        while root in parent:
            root = parent[root]
        while component in parent and parent[component] != root:
            parent[component], component = root, parent[component]
        return root

    def _union(self, a: int, b: int) -> int:
        a, b = self._find(a), self._find(b)
        if a == b:
            return a
        if b < a:
            a, b = b, a
        self._parent[b] = a
        self._dirty.add(a)
        return a

    def _place(
        self,
        event_id: str,
        kind: str,
        scope: str,
        key: str,
        renames: Sequence[tuple[str, str]],
        targets: tuple[str, ...],
        supersedes: tuple[str, ...],
    ) -> int:
        """Return the component of an event, merging those that it brings together.

        A link, a use and what a sleep found are in none, for they decide nothing: until something speaks of one, which
        then may decide over it.
        """
        claimed: list[str] = []
        found: int | None = None
        if kind == "change" and key:
            found = self._component_of_name(scope, key)
            for old, _ in renames:
                found = self._union(found, self._component_of_name(scope, old))
        for reference in (*targets, *supersedes):
            target = self._component_of_event(reference)
            if target is None:
                self._dangling.add(reference)
            elif not target:
                claimed.append(reference)
            else:
                found = target if found is None else self._union(found, target)
        if event_id in self._dangling:  # somebody referred to it before it came
            for component in self._referrers(event_id):
                found = component if found is None else self._union(found, component)
        if found is None:
            found = self._new()
        found = self._find(found)
        self._dirty.add(found)
        for reference in claimed:
            self._component[reference] = found
            self._claimed.append((found, reference))
        return found

    def _new(self) -> int:
        self._next += 1
        return self._next

    def _referrers(self, event_id: str) -> list[int]:
        self._insert()
        rows = self.db.execute(
            "SELECT e.component FROM refs r JOIN events e ON e.n = r.n WHERE r.target = ?", (event_id,)
        )
        return [row[0] for row in rows if row[0]]

    def _component_of_event(self, event_id: str) -> int | None:
        known = self._component.get(event_id)
        if known is not None or self.fresh:
            return known
        row = self.db.execute("SELECT component FROM events WHERE id = ?", (event_id,)).fetchone()
        return (row[0] or 0) if row else None

    def _component_of_name(self, scope: str, key: str) -> int:
        known = self._recorded(scope, key)
        if known is not None:
            return known
        component = self._new()
        self._names[scope, key] = component
        self._new_names.append((key, scope, component))
        if scope:
            self._scopes.add(scope)
        return self._join_names(scope, key, component) if self._aliases else component

    def _join_names(self, scope: str, key: str, component: int) -> int:
        for other in components.lineage_names(self.db, scope, key):
            at = self._recorded(scope, other)
            if at is not None:
                component = self._union(component, at)
        return component

    def _recorded(self, scope: str, key: str) -> int | None:
        known = self._names.get((scope, key))
        if known is None and not self.fresh:
            row = self.db.execute("SELECT component FROM names WHERE key = ? AND scope = ?", (key, scope)).fetchone()
            if row:
                known = self._names[scope, key] = row[0]
        return known

    def _alias(self, scope: str, a: str, b: str, n: int) -> None:
        """Two names are one from now on, and what is below the one is below the other."""
        self._aliases = True
        for x, y in ((a, b), (b, a)):
            self.db.execute("INSERT OR IGNORE INTO aliases VALUES (?, ?, ?, ?)", (scope, x, y, n))
        self._insert_names()
        for name in (a, b):
            at = [(s, name) for s in components.scopes_of(self.db, name)] + components.names_below(self.db, name)
            for its_scope, key in at:
                if scope in ("*", its_scope):
                    component = self._recorded(its_scope, key)
                    if component is not None:
                        self._dirty.add(self._find(self._join_names(its_scope, key, component)))

    # rows

    def _exists(self, event_id: str) -> bool:
        return self.db.execute("SELECT 1 FROM events WHERE id = ?", (event_id,)).fetchone() is not None

    def _taken(self, n: int) -> bool:
        return self.db.execute("SELECT 1 FROM events WHERE n = ?", (n,)).fetchone() is not None

    def _insert_names(self) -> None:
        self.db.executemany("INSERT OR IGNORE INTO names VALUES (?, ?, ?)", self._new_names)
        self._new_names = []

    def _insert(self) -> None:
        self._insert_names()
        self.db.executemany(f"INSERT INTO events VALUES ({','.join('?' * 20)})", self._rows)
        self.db.executemany("INSERT OR IGNORE INTO refs VALUES (?, ?, ?)", self._refs)
        self.db.executemany(
            "INSERT INTO words(rowid, entity, approach, reasoning, rest) VALUES (?, ?, ?, ?, ?)", self._words
        )
        self.db.executemany("INSERT OR IGNORE INTO prints VALUES (?, ?)", self._prints)
        self.db.executemany("INSERT OR IGNORE INTO patterns VALUES (?, ?, ?)", self._patterns)
        self.db.executemany("INSERT OR IGNORE INTO conditions VALUES (?, ?)", self._conditions)
        self._rows, self._refs, self._words, self._prints = [], [], [], []
        self._patterns, self._conditions = [], []
        if self._lessons:
            self._insert_lessons()

    def _insert_lessons(self) -> None:
        self.db.execute(
            "INSERT INTO meta VALUES ('lessons', ?) ON CONFLICT(key) DO UPDATE SET value = value + excluded.value",
            (self._lessons,),
        )
        self.db.executemany("INSERT OR IGNORE INTO lesson_words VALUES (?, ?)", self._lesson_words)
        self.db.executemany("INSERT OR IGNORE INTO lesson_paths VALUES (?, ?)", self._lesson_paths)
        self._lessons, self._lesson_words, self._lesson_paths = 0, [], []

    def flush(self) -> None:
        """Put in what is left, and give merged components one number."""
        self._insert()
        self._insert_links()
        self.db.executemany("UPDATE events SET component = ? WHERE id = ?", self._claimed)
        for lost in self._parent:
            keep = self._find(lost)
            self._drop_decisions(lost)
            for table in ("events", "names"):
                self.db.execute(f"UPDATE {table} SET component = ? WHERE component = ?", (keep, lost))
        self._dirty = {self._find(component) for component in self._dirty}
        self.db.execute("INSERT OR REPLACE INTO meta VALUES ('components', ?)", (self._next,))
        if self._scopes:
            self.db.execute("INSERT OR REPLACE INTO meta VALUES ('scopes', ?)", ("\n".join(sorted(self._scopes)),))
        for reference in self._dangling:
            self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", ("dangling:" + reference, reference))

    def _insert_links(self) -> None:
        self.db.executemany("INSERT OR IGNORE INTO links VALUES (?, ?, ?, ?)", self._links)
        for event_id, *_ in self._links:
            if self._unlinked.pop(str(event_id), None) is None and not self.fresh:
                self.db.execute("DELETE FROM unlinked WHERE n = (SELECT n FROM events WHERE id = ?)", (event_id,))
        for event_id, row in self._unlinked.items():
            if self.db.execute("SELECT 1 FROM links WHERE event = ? LIMIT 1", (event_id,)).fetchone() is None:
                self.db.execute("INSERT OR IGNORE INTO unlinked VALUES (?, ?, ?)", row)

    # judging

    def judge(self, path: str | None = None) -> None:
        """Judge every component that this batch touched, and store what came out.

        With `path`, the file of a fresh cache whose transaction is committed, another process judges half of them;
        a new transaction is open afterwards.
        """
        if not self.fresh and self._aliases and self._dirty:
            self._spread()
        decisions: list[tuple[object, ...]] = []
        judged: list[tuple[object, ...]] = []
        waiting: list[tuple[object, ...]] = []
        closed: list[tuple[object, ...]] = []
        rows = self._judged_by_two(path) if path else self._judged(self.db)
        for row in rows:
            if len(row) == JUDGED_WIDTH:
                judged.append(row)
            elif len(row) == WAITING_WIDTH:
                waiting.append(row)
            elif len(row) == CLOSED_WIDTH:
                closed.append(row)
            else:
                decisions.append(row)
                self._count(str(row[6]), 1)
        if path:
            self.db.execute("BEGIN")
        self.db.executemany(f"INSERT INTO decisions VALUES ({','.join('?' * DECISION_WIDTH)})", decisions)
        self.db.executemany("INSERT OR REPLACE INTO judged VALUES (?, ?, ?, ?, ?, ?)", judged)
        self.db.executemany("INSERT OR REPLACE INTO waiting VALUES (?, ?)", waiting)
        self.db.executemany("INSERT OR REPLACE INTO closed VALUES (?, ?, ?, ?, ?, ?, ?)", closed)
        for verdict, more in self._counts.items():
            self.db.execute(
                "INSERT INTO counts VALUES (?, ?) ON CONFLICT(verdict) DO UPDATE SET number = number + excluded.number",
                (verdict, more),
            )

    def _judged(self, db: sqlite3.Connection, half: int | None = None) -> Iterator[tuple[object, ...]]:
        for component, members in self._groups(db, half):
            self._drop_decisions(component)
            yield from judged_rows(db, component, members)

    def _judged_by_two(self, path: str) -> Iterator[tuple[object, ...]]:
        from gitmem.store.ahead import Ahead
        from gitmem.store.glance import uri

        def other_half() -> list[tuple[object, ...]]:
            # A connection of its own: SQLite's must not cross a fork. All at once: the pipe holds little.
            return list(self._judged(sqlite3.connect(uri(path, "ro"), uri=True), 1))

        worker = Ahead(other_half)
        yield from self._judged(self.db, 0)
        yield from worker

    def _count(self, verdict: str, more: int) -> None:
        self._counts[verdict] = self._counts.get(verdict, 0) + more

    def _drop_decisions(self, component: int) -> None:
        """Take away what was judged of a component."""
        if self.fresh:
            return
        gone = [row[0] for row in self.db.execute("SELECT verdict FROM decisions WHERE component = ?", (component,))]
        for verdict in gone:
            self._count(verdict, -1)
        if gone:
            self.db.execute("DELETE FROM decisions WHERE component = ?", (component,))
        for table in ("judged", "waiting", "closed"):
            self.db.execute(f"DELETE FROM {table} WHERE n IN (SELECT n FROM events WHERE component = ?)", (component,))
        if self._clocks:
            self.db.execute("DELETE FROM spans WHERE component = ?", (component,))
            missing = [(clock, component) for clock in self._clocks]
            self.db.executemany("INSERT OR REPLACE INTO unspanned VALUES (?, ?, 0)", missing)

    def _spread(self) -> None:
        """A component that holds a rename also decides what is one below the two names."""
        marks = ",".join(str(component) for component in self._dirty)
        rows = self.db.execute(
            f"SELECT DISTINCT a.scope, a.a FROM aliases a JOIN events e ON e.n = a.n WHERE e.component IN ({marks})"
        ).fetchall()
        for scope, key in rows:
            below = components.names_below(self.db, key)
            if scope == "*":  # a link's: it is in no component of those names itself
                below += [(its, key) for its in components.scopes_of(self.db, key)]
            self._dirty |= components.components_of(self.db, [pair for pair in below if scope in ("*", pair[0])])

    def _groups(self, db: sqlite3.Connection, half: int | None) -> Iterator[tuple[int, list[tuple[int, Event]]]]:
        """Yield each component to judge with its (n, event) pairs; n is -1 for what a rename brought along.

        `half`: those with an even number (0) or an odd one (1) only.
        """
        if not self.fresh and SCAN_FROM * len(self._dirty) < self._next:
            for component in sorted(self._dirty):
                yield component, self._with_renames(db, component, components.rows_of(db, component))
            return
        which = "component IS NOT NULL" if half is None else f"component % 2 = {half}"
        at: int | None = None
        members: list[tuple[int, Event]] = []
        for component, n, event_id, body, redacted in db.execute(
            f"SELECT component, n, id, body, redacted FROM events WHERE {which} ORDER BY component, n"
        ):
            if component != at:
                if at is not None and members:
                    yield at, self._with_renames(db, at, members)
                at, members = component, []
            if self.fresh or component in self._dirty:
                members.append((n, event_of(event_id, body, redacted)))
        if at is not None and members:
            yield at, self._with_renames(db, at, members)

    def _with_renames(
        self, db: sqlite3.Connection, component: int, members: list[tuple[int, Event]]
    ) -> list[tuple[int, Event]]:
        return components.with_renames(db, component, members) if self._aliases else members


def judged_rows(
    db: sqlite3.Connection, component: int, members: list[tuple[int, Event]]
) -> Iterator[tuple[object, ...]]:
    """Judge one component; yield the rows of `decisions` (12 values), `judged` (6), `waiting` (2) and `closed` (7)."""
    from gitmem.core import marks, reviews
    from gitmem.core.verdicts import judge

    def outside(event_id: str) -> tuple[str, ...]:
        row = db.execute("SELECT id, body, redacted FROM events WHERE id = ?", (event_id,)).fetchone()
        if row is None:
            return ()
        found = event_of(*row)
        return (*found.after, *found.supersedes, *found.targets)

    n_of = {event.id: n for n, event in members if n >= 0}
    found = [event for _, event in members]
    judgement = judge(found, outside)
    lines: dict[tuple[str, str], Decision] = {}  # a decision of each lineage that holds something closed
    for decision in judgement.decisions():
        mine = [event_id for event_id in decision.events if event_id in n_of]
        if not mine:
            continue  # of another component, which a rename brought along
        yield (
            component,
            decision.scope,
            "\n".join(sorted(decision.names)),
            decision.entity_path,
            decision.approach,
            decision.approach_key,
            decision.verdict,
            decision.trust,
            decision.standing,
            " ".join(sorted(decision.against)),
            decision.since,
            " ".join(str(n_of[event_id]) for event_id in mine),
        )
        if decision.verdict in _CLOSED:
            lines[decision.scope, min(decision.names)] = decision
    for decision in lines.values():
        yield from _closed_rows(judgement, decision, n_of)
    reviewed, marked = (reviews.aimed(judgement, found, kind) for kind in ("review", "mark"))
    for n, event in members:
        if n < 0:
            continue
        effect, reason = judgement.effect(event.id)
        trust = judgement.trust(event.id)
        held: dict[str, str] = {}
        if marked and judgement.marks(event.id):
            held = marks.held(judgement, event.id, marked.get(judgement.standing_for(event.id).id, []))
        if effect != "applied" or trust != birth_trust(event) or held:
            yield (n, effect, reason, trust, marks.spelled(held), marks.hidden_until(held))
        if effect != "applied" or trust in ("proposed", "disputed"):
            why = reviews.why(judgement, event, effect, trust, reviewed)
            if why:
                yield (n, why)


#: The verdicts of a key for which some closing stands.
_CLOSED = ("rejected", "reverted", "contested")


def _closed_rows(judgement: Judgement, decision: Decision, n_of: dict[str, int]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each name of a lineage and each closing that stands on it, for the gate to find."""
    from gitmem.core.gate import DISPUTED, FIRM, ONCE

    for standing in judgement.standing_on(decision.scope, decision.entity_path):
        event = standing.event
        n = n_of.get(event.id)
        if n is None:
            continue
        strength = DISPUTED if standing.disputed else FIRM if judgement.person_ratified(event.id) else ONCE
        waiting = " ".join(lift.id for lift in standing.waiting)
        approach, lines = judgement.approach_of(event.id), len(set(_prints(event)))
        for name in sorted(decision.names):
            yield (name, decision.scope, n, approach, strength, lines, waiting)
