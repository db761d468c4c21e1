"""Rows of the cache for people: events with what became of them, by a query, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitmem.core import entities, ids, words
from gitmem.core.events import Event
from gitmem.core.history import QUARANTINING
from gitmem.core.lineages import entity_key
from gitmem.core.marks import HIDING
from gitmem.core.query import Query
from gitmem.errors import AmbiguousId, MalformedEvent, UnknownId
from gitmem.store import placing
from gitmem.store.cache import Cache, marks_now
from gitmem.store.components import birth_trust, event_of
from gitmem.store.glance import placeholders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.signing import Checked

#: Words so common that more events hold them: the newest so many are ranked.
RANKED_MAX = 1000


class Row:
    """An event and what became of it.

    verdict        of the decision that it belongs to, or ""
    commits        oids of the commits that it is linked to, newest link last
    found          those of them that no link in the log names: only this clone found them
    superseded_by  ids of the events that supersede it
    score          how well it fits a search, 0-100, or None
    marks          those of seal, mute and pin that it bears now, sorted
    signature      the bytes of its signature, or None
    checked        what its signature was found to be, once somebody asked (`Desk.signed`)
    """

    __slots__ = (
        "checked",
        "commits",
        "effect",
        "event",
        "found",
        "marks",
        "n",
        "reason",
        "score",
        "signature",
        "superseded_by",
        "trust",
        "verdict",
    )

    def __init__(
        self,
        n: int,
        event: Event,
        trust: str,
        effect: str,
        reason: str,
        verdict: str,
        commits: list[str],
        superseded_by: list[str],
        marks: Iterable[str] = (),
        found: Iterable[str] = (),
    ) -> None:
        self.found = list(found)
        self.marks = list(marks)
        self.n = n
        self.event = event
        self.trust = trust
        self.effect = effect
        self.reason = reason
        self.verdict = verdict
        self.commits = commits
        self.superseded_by = superseded_by
        self.score: int | None = None
        self.signature: bytes | None = None
        self.checked: Checked | None = None

    @property
    def is_shown(self) -> bool:
        """Whether listings show it unless all is asked for; the same as `_SHOWN`."""
        if self.event.redacted or self.effect == "void" or self.trust == "retracted":
            return False
        return not any(mark in HIDING for mark in self.marks)


_SELECT = (
    "SELECT e.n, e.id, e.body, e.redacted, e.component, e.akey, e.key, j.effect, j.reason, j.trust, j.marks "
    "FROM events e LEFT JOIN judged j ON j.n = e.n"
)
#: A seal or a mute holds now (`judged.hidden` is the time until which one does).
_HIDDEN = "j.hidden > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
#: What every listing leaves out unless all is asked for.
_SHOWN = f"e.redacted = '' AND (j.effect IS NULL OR (j.effect <> 'void' AND j.trust <> 'retracted' AND NOT {_HIDDEN}))"


#: The part of it that no looking back undoes: as of a time, effect and trust are worked out row by row.
_SHOWN_WHENEVER = f"e.redacted = '' AND (j.hidden IS NULL OR NOT {_HIDDEN})"

#: Two clones may have imported one thing before they met (R3): of copies, the first is shown.
_ONCE = (
    "(e.source IS NULL OR e.n = (SELECT MIN(s.n) FROM events s WHERE s.source = e.source AND s.word = e.word "
    "AND s.scope = e.scope AND s.key = e.key AND s.akey = e.akey AND s.valid_from IS e.valid_from))"
)


def _once(cache: Cache) -> tuple[str, tuple[object, ...]]:
    """Return `_ONCE` and its values; as of a time, of those copies that count then."""
    if not cache.counted[0]:
        return _ONCE, ()
    from gitmem.store import past

    assert isinstance(cache, past.Past)
    condition, values = cache.moment.condition("s")
    return f"{_ONCE[:-2]} AND {condition}))", values


def scope_predicate(scope: str, *, all_scopes: bool, column: str = "e.scope") -> tuple[str, list[str]]:
    """Return the SQL condition, and its values, for what a read in `scope` may see.

    Its own scope, those above it and those below it; a sibling's never. Every read asks here.
    """
    if all_scopes or not scope:
        return "", []
    above = [scope, *entities.ancestors_scope(scope)]
    return f"({column} IN ({placeholders(above)}) OR ({column} >= ? AND {column} < ?))", [
        *above,
        scope + "/",
        scope + "0",
    ]


def select(cache: Cache, query: Query) -> Iterator[Row]:
    """Yield the rows that `query` asks for, newest first."""
    for _, row in _chosen(cache, query, "e.n DESC", query.limit):
        yield row


#: What makes events one decision's: scope, folded entity, key of the approach.
Group = tuple[str, str, str]


def grouped(cache: Cache, query: Query) -> Iterator[tuple[Group, Row]]:
    """Yield the rows that `query` asks for entity by entity and approach by approach, each newest first."""
    if query.limit:  # the newest so many, wherever they stand
        found = list(_chosen(cache, query, "e.n DESC", query.limit))
        yield from sorted(found, key=lambda pair: (pair[0][1], pair[0][0], pair[0][2], -pair[1].n))
        return
    yield from _chosen(cache, query, "e.key, e.scope, e.akey, e.n DESC", 0)


def _chosen(cache: Cache, query: Query, order: str, limit: int) -> Iterator[tuple[Group, Row]]:
    where: list[str] = []
    values: list[object] = []

    def add(condition: str, *given: object) -> None:
        if condition:
            where.append(condition)
            values.extend(given)

    if query.ids:
        add(f"e.id IN ({_marks(query.ids)})", *query.ids)
    if "any" not in query.kinds:
        add(f"e.kind IN ({_marks(query.kinds)})", *query.kinds)
    condition, given = scope_predicate(query.scope, all_scopes=query.all_scopes)
    add(condition, *given)
    past = bool(cache.counted[0])
    add(cache.counted[0], *cache.counted[1])
    names = [name for name in (query.entity, query.path) if name]
    for name in names:
        keys = names_of(cache, name)
        components = sorted(cache.components_of(keys))
        if not components:
            return
        add(f"e.component IN ({_marks(components)})", *components)
        found = sorted({key for _, key in keys})
        add(f"e.key IN ({_marks(found)})", *found)
    if query.since:
        add("e.recorded_at >= ?", query.since)
    if query.until:
        add("e.recorded_at < ?", query.until)
    if query.types:
        add(f"e.word IN ({_marks(query.types)})", *query.types)
    for column, value in (("agent", query.agent), ("session_id", query.session), ("changeset_id", query.changeset)):
        if value:
            add(f"e.{column} = ?", value)
    if query.commit:
        more = [one.event for one in cache.found.linked_to(query.commit)] if cache.found and not past else []
        also = f" OR e.id IN ({_marks(more)})" if more else ""
        add(f"(e.id IN (SELECT event FROM placed WHERE commit_oid = ?){also})", query.commit, *more)
    if not query.everything:
        add(_SHOWN_WHENEVER if past else _SHOWN)
        once, given_once = _once(cache)
        add(once, *given_once)
    sql = _SELECT + (" WHERE " + " AND ".join(where) if where else "") + f" ORDER BY {order}"
    filtered = past or bool(query.verdicts or query.trusts)
    if limit and not filtered:
        sql += f" LIMIT {int(limit)}"
    count = 0
    for row in cache.db.execute(sql, values):
        made = row_of(cache, row)
        if past and not (query.everything or made.is_shown):
            continue
        if query.verdicts and made.verdict not in query.verdicts:
            continue
        if query.trusts and made.trust not in query.trusts:
            continue
        yield (made.event.scope, row[6], row[5]), made
        count += 1
        if limit and count >= limit:
            return


def names_of(cache: Cache, name: str, *, below: bool = True) -> list[tuple[str, str]]:
    """Return the recorded (scope, folded name) pairs of an entity: every name of its lineage, and what lies below."""
    key = entity_key(name)
    found: dict[tuple[str, str], None] = {}
    for its_scope in ("", *cache.scopes()):
        for alias in cache.lineage_names(its_scope, key):
            if its_scope in cache.scopes_of(alias):
                found[its_scope, alias] = None
            if below:
                for pair in cache.names_below(alias, its_scope):
                    found[pair] = None
    return list(found)


def elsewhere(cache: Cache, scope: str, name: str) -> list[tuple[str, str]]:
    """Return the (scope, folded name) pairs that are the same file, or the same in it, outside `scope` and those above.

    A file is one thing in a repository, whatever component it lay in when something was recorded about it. Under a
    name that it had before a move; and under its own, where that lies in the other component: else somebody there
    may have meant a file of theirs by the same short name.
    """
    scopes = cache.scopes()
    if not scopes or not entities.is_file(entities.file_of(name)):
        return []  # nearly always: there are no components
    key = entity_key(name)
    here = {scope, *entities.ancestors_scope(scope)}
    found: dict[tuple[str, str], None] = {}
    for alias in cache.lineage_names(scope, key):
        file = entities.file_of(alias)
        for one in (alias, *entities.parents(alias)):
            if file and entities.file_of(one) == file:
                for where in cache.scopes_of(one):
                    if where not in here and (alias != key or file.startswith(entity_key(where) + "/")):
                        found[where, alias] = None
    return list(found)


def one_id(cache: Cache, prefix: str, *, quarantined: bool = False) -> str:
    """Return the one event id that begins with `prefix`; or also the name of a file that is quarantined.

    Raises UnknownId, AmbiguousId, and MalformedEvent for a file that is quarantined, where none is asked for.
    """
    if not ids.is_prefix(prefix):
        raise UnknownId(id=repr(prefix[:80]), hint="an id is 4 to 64 hex digits; `git decisions log` lists them.")
    found = cache.ids(prefix, quarantined=quarantined)
    if not found:
        for finding in cache.findings() if cache.quarantined_ids() else ():
            if finding.rule in QUARANTINING and finding.event.startswith(prefix.lower()):
                raise MalformedEvent(id=ids.short(finding.event), what=finding.message)
        raise UnknownId(id=prefix)
    if len(found) > 1:
        raise AmbiguousId(id=prefix, count=len(found), candidates=", ".join(one[:12] for one in found[:8]), ids=found)
    return found[0]


def by_ids(cache: Cache, found: Iterable[str]) -> list[Row]:
    """Return the rows of some event ids, in the order given; ids that are not there are left out."""
    out = []
    for event_id in found:
        row = cache.db.execute(_SELECT + " WHERE e.id = ?", (event_id,)).fetchone()
        if row:
            out.append(row_of(cache, row))
    return out


def unsaved(event: Event) -> Row:
    """Return the row of an event that is not in the log, as it would be born."""
    return Row(0, event, birth_trust(event), "applied", "", "", [], [])


def hidden(cache: Cache, components: Iterable[int]) -> set[str]:
    """Return the ids of the events of some components that a seal or a mute hides now."""
    found: set[str] = set()
    for component in components:
        rows = cache.db.execute(
            f"SELECT e.id FROM events e JOIN judged j ON j.n = e.n WHERE e.component = ? AND {_HIDDEN}", (component,)
        )
        found.update(row[0] for row in rows)
    return found


def bearing(cache: Cache, ids: Iterable[str], mark: str) -> set[str]:
    """Return those of some event ids that bear `mark` now."""
    if cache.db.execute("SELECT 1 FROM judged WHERE marks <> '' LIMIT 1").fetchone() is None:
        return set()
    found = ((one, cache.marks_of(one)) for one in ids)
    return {one for one, spelled in found if mark in marks_now(spelled)}


def newest_change(cache: Cache, names: list[tuple[str, str]]) -> Row | None:
    """Return the newest change on some (scope, folded name) pairs that is neither void, retracted nor redacted."""
    components = sorted(cache.components_of(names))
    if not components:
        return None
    keys = sorted({key for _, key in names})
    if cache.counted[0]:
        return _newest_then(cache, components, keys)
    rows = cache.db.execute(
        f"{_SELECT} WHERE e.component IN ({_marks(components)}) AND e.key IN ({_marks(keys)}) AND e.kind = 'change' "
        f"AND {_SHOWN} ORDER BY e.n DESC LIMIT 1",
        (*components, *keys),
    ).fetchall()
    return row_of(cache, rows[0]) if rows else None


def _newest_then(cache: Cache, components: list[int], keys: list[str]) -> Row | None:
    from gitmem.store import past

    assert isinstance(cache, past.Past)
    condition, values = cache.counted
    rows = cache.db.execute(
        f"{_SELECT} WHERE e.component IN ({_marks(components)}) AND e.key IN ({_marks(keys)}) AND e.kind = 'change' "
        f"AND {_SHOWN_WHENEVER} AND {condition} ORDER BY e.n DESC",
        (*components, *keys, *values),
    )
    return past.newest_change(cache, rows)


def by_word(cache: Cache, text: str, query: Query) -> list[Row]:
    """Return the rows that hold the words of `text`, best first: all of them, or failing that some of them.

    Those that hold the very words come before those with a word that begins like one of them.
    """
    limit = query.limit or 20
    for match in (words.match_all, words.match_any):
        rows: list[Row] = []
        # To merge what begins alike takes SQLite longer than all else, and most often there is enough without.
        for exactly in (True, False):
            if len(rows) < limit:
                _add_ranked(cache, match(text, exactly=exactly), query, limit, rows)
        if rows:
            return rows
    return []


def _add_ranked(cache: Cache, match: str, query: Query, limit: int, rows: list[Row]) -> None:
    """Add what an FTS5 query finds and `rows` doesn't hold, best first, until they are `limit`."""
    ranked = _ranked(cache, match, query) if match else []
    best = ranked[0][1] if ranked else 0.0
    least = rows[-1].score if rows else 100
    have = {row.n for row in rows}
    for n, rank in ranked:
        row = _matching(cache, n, query) if n not in have else None
        if row is not None:
            row.score = min(least or 0, max(1, round(100 * rank / best))) if best else 0
            rows.append(row)
            if len(rows) >= limit:
                break


def _ranked(cache: Cache, match: str, query: Query) -> list[tuple[int, float]]:
    # bm25 over every row that holds a common word would grow with the log: the newest are ranked.
    condition, values = cache.counted
    seen, given = scope_predicate(query.scope, all_scopes=query.all_scopes)
    both = " AND ".join(filter(None, (condition, seen)))
    joined = f"JOIN events e ON e.n = words.rowid AND {both} " if both else ""
    rows = cache.db.execute(
        f"SELECT words.rowid, bm25(words, 4.0, 3.0, 1.0, 1.0) FROM words {joined}WHERE words MATCH ? "
        f"ORDER BY words.rowid DESC LIMIT {RANKED_MAX}",
        (*values, *given, match),
    ).fetchall()
    return sorted(rows, key=lambda row: (row[1], -row[0]))


def _matching(cache: Cache, n: int, query: Query) -> Row | None:
    once, values = ("1", ()) if query.everything else _once(cache)
    row = cache.db.execute(f"{_SELECT} WHERE e.n = ? AND {once}", (n, *values)).fetchone()
    if row is None:
        return None
    made = row_of(cache, row)
    event = made.event
    if not made.is_shown and not query.everything:
        return None
    if query.types and event.change_type not in query.types:
        return None
    if (query.since and event.recorded_at < query.since) or (query.until and event.recorded_at >= query.until):
        return None
    if (query.verdicts and made.verdict not in query.verdicts) or (query.trusts and made.trust not in query.trusts):
        return None
    fields = event.fields
    for name, wanted in (("agent", query.agent), ("session_id", query.session), ("changeset_id", query.changeset)):
        if wanted and fields.get(name) != wanted:
            return None
    if query.commit and query.commit not in made.commits:
        return None
    for name in (query.entity, query.path):
        if name and (event.scope, entity_key(event.entity_path)) not in names_of(cache, name):
            return None
    if not query.all_scopes and not entities.sees(query.scope, event.scope):
        return None
    return made


def conditioned(cache: Cache, names: list[tuple[str, str]] | None, scope: str) -> Iterator[Row]:
    """Yield the shown changes that carry a condition for another look, on some (scope, folded name) pairs or on all."""
    seen, values = scope_predicate(scope, all_scopes=False)
    where = f" AND {seen}" if seen else ""
    wanted = None if names is None else set(names)
    rows = cache.db.execute(
        f"{_SELECT} WHERE e.n IN (SELECT n FROM conditions) AND {_SHOWN} AND {_ONCE}{where} ORDER BY e.n", values
    )
    for row in rows:
        made = row_of(cache, row)
        if wanted is None or (made.event.scope, entity_key(made.event.entity_path)) in wanted:
            yield made


def later_changes(cache: Cache, names: list[tuple[str, str]], n: int) -> Iterator[Row]:
    """Yield the changes after row `n` on some folded names, in whatever scope of theirs, oldest first."""
    components = sorted(cache.components_of(names))
    keys = sorted({key for _, key in names})
    rows = cache.db.execute(
        f"{_SELECT} WHERE e.component IN ({_marks(components)}) AND e.key IN ({_marks(keys)}) AND e.kind = 'change' "
        f"AND e.n > ? AND {_SHOWN} ORDER BY e.n",
        (*components, *keys, n),
    )
    for row in rows:
        yield row_of(cache, row)


def later_with(cache: Cache, match: str, n: int, limit: int) -> Iterator[Row]:
    """Yield the shown changes after row `n` that the FTS5 query `match` finds, oldest first, at most `limit`."""
    rows = cache.db.execute(
        "SELECT rowid FROM words WHERE words MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?", (match, n, limit)
    ).fetchall()
    for (number,) in rows:
        row = cache.db.execute(f"{_SELECT} WHERE e.n = ? AND {_SHOWN} AND {_ONCE}", (number,)).fetchone()
        if row is not None:
            yield row_of(cache, row)


def newest_with(cache: Cache, match: str, limit: int) -> Iterator[Event]:
    """Yield the shown changes among the newest `limit` events that the FTS5 query `match` finds, newest first."""
    rows = cache.db.execute(
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?", (match, limit)
    ).fetchall()
    for (number,) in rows:
        row = cache.db.execute(
            "SELECT e.id, e.body, e.redacted FROM events e LEFT JOIN judged j ON j.n = e.n "
            f"WHERE e.n = ? AND e.kind = 'change' AND {_SHOWN} AND {_ONCE}",
            (number,),
        ).fetchone()
        if row is not None:
            yield event_of(*row)


def count_with(cache: Cache, match: str) -> int:
    """Return how many events the FTS5 query `match` finds."""
    return int(cache.db.execute("SELECT COUNT(*) FROM words WHERE words MATCH ?", (match,)).fetchone()[0])


def row_of(
    cache: Cache, row: tuple[int, str, bytes, str, int | None, str, str, str | None, str | None, str | None, str | None]
) -> Row:
    if cache.counted[0]:
        from gitmem.store import past

        assert isinstance(cache, past.Past)
        then = past.row_of(cache, row)
        then.signature = cache.signature(then.n)
        return then
    n, event_id, body, redacted, component, akey, key, effect, reason, trust, marks = row
    event = event_of(event_id, body, redacted)
    db = cache.db
    commits = [
        one[0]
        for one in db.execute(
            "SELECT commit_oid, MAX(n) FROM placed WHERE event = ? GROUP BY commit_oid ORDER BY 2", (event_id,)
        )
    ]
    superseded_by = [
        one[0]
        for one in db.execute(
            "SELECT e.id FROM refs r JOIN events e ON e.n = r.n "
            "WHERE r.target = ? AND r.field = 'supersedes' ORDER BY e.n",
            (event_id,),
        )
    ]
    verdict = ""
    if component is not None and key:
        for its_verdict, names, its_akey, its_events in db.execute(
            "SELECT verdict, names, akey, events FROM decisions WHERE component = ? AND scope = ?",
            (component, event.scope),
        ):
            if its_akey == akey and key in names.split("\n"):
                verdict = its_verdict
                break
            if str(n) in its_events.split(" "):
                verdict = its_verdict
    more = placing.found_commits(cache, event_id, commits)
    found = Row(
        n,
        event,
        trust or birth_trust(event),
        effect or "applied",
        reason or "",
        verdict,
        commits + more,
        superseded_by,
        marks_now(marks),
        more,
    )
    found.signature = cache.signature(n)
    return found


def _marks(values: Iterable[object]) -> str:
    return ",".join("?" for _ in values)
