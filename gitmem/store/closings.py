"""Closings that stand, asked by what an edit brings: its lines, its names, its words. Each question through an index.

The gate's side of the cache. Nothing is judged here: `batch` stored for each closing that stands how firmly it does,
under every name of its lineage. A closing that is sealed now is not found, nor one that has ended by its own
terms (`valid_to`, `expires_when`): those are looked at for what was found, so they cost nothing where nothing was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem.core import entities, marks
from gitmem.core.entities import parents
from gitmem.core.events import Event
from gitmem.core.lineages import entity_key
from gitmem.store import components
from gitmem.store.cache import Cache
from gitmem.store.components import event_of
from gitmem.store.glance import Glance, parts, placeholders

TYPE_CHECKING = False
if TYPE_CHECKING:
    #: Of `_COLUMNS`.
    _Row = tuple[int, str, str, int, str, str, bytes, str, str | None]

_COLUMNS = "c.n, c.scope, c.akey, c.strength, c.waiting, e.id, e.body, e.redacted, j.marks"
_JOINED = "closed c JOIN events e ON e.n = c.n LEFT JOIN judged j ON j.n = c.n"


class Closing:
    """A closing that stands.

    event     the reject or revert
    scope     where it was recorded
    akey      the key of the approach that it closes, "" for the entity
    strength  see `core.gate`
    waiting   ids of the supersedes of it that wait for a person
    """

    __slots__ = ("akey", "event", "n", "scope", "strength", "waiting")

    def __init__(self, row: _Row) -> None:
        self.n, self.scope, self.akey, self.strength, waiting, event_id, body, redacted, _ = row
        self.waiting = waiting.split()
        self.event = event_of(event_id, body, redacted)

    @property
    def is_whole(self) -> bool:
        """Whether it closes the entity with every approach, and what lies below it."""
        return self.akey == "" and self.event.change_type == "reject"


class Closings:
    """The questions, at one moment (`now`, a time of the format)."""

    def __init__(self, cache: Cache, now: str) -> None:
        self.cache = cache
        self.glance = Glance(cache.db)
        self.now = now
        self._aliases: bool | None = None
        self._parted: list[int] = []

    # --- by content ---------------------------------------------------------------------------

    def by_content(self, found: Iterable[int], least: int) -> list[tuple[Closing, int]]:
        """Return the closings of whose fingerprints at least `least` percent are among the marks, with the share."""
        shared = self.cache.sharing(found)
        shares: dict[int, int] = {}
        for part in parts(sorted(shared)):
            rows = self.cache.db.execute(
                f"SELECT DISTINCT n, lines FROM closed WHERE n IN ({placeholders(part)}) AND lines > 0", part
            )
            for n, lines in rows:
                share = 100 * shared[n] // lines
                if share >= least:
                    shares[n] = share
        return [(one, shares[one.n]) for one in self._of(sorted(shares))]

    # --- by patterns --------------------------------------------------------------------------

    def by_patterns(self, lines: Sequence[tuple[int, str]]) -> list[Closing]:
        """Return the closings that have a pattern which may stand in the added `lines`."""
        return self._of(sorted(self.glance.with_patterns(lines)))

    def _of(self, numbers: Sequence[int]) -> list[Closing]:
        """Return those of some rows that stand, each once."""
        found: dict[int, Closing] = {}
        for part in parts(numbers):
            rows = self.cache.db.execute(f"SELECT {_COLUMNS} FROM {_JOINED} WHERE c.n IN ({placeholders(part)})", part)
            for row in rows:
                if row[0] not in found and self._holds(row):
                    found[row[0]] = Closing(row)
        return list(found.values())

    # --- by name ------------------------------------------------------------------------------

    def on(self, name: str, *, scope: str | None = None) -> list[tuple[Closing, str]]:
        """Return the closings that stand for an entity, under any name it had, and what closes it from above.

        Each with the name that it was found by. `scope`: of who edits it; what closes its file in other components is
        among them then, as it is for the guard (ADR 0010).
        """
        found: dict[int, tuple[Closing, str]] = {}
        names = [(where, key, parents(key)) for where, key in self.names(entity_key(name))]
        if scope is not None:
            names += self._elsewhere(scope, name)
        for where, key, above in names:
            for part in parts([key, *above]):
                rows = self.cache.db.execute(
                    f"SELECT {_COLUMNS}, c.key FROM {_JOINED} WHERE c.key IN ({placeholders(part)})", part
                ).fetchall()
                for row in rows:
                    if row[0] in found or (where is not None and row[1] != where) or not self._holds(row[:-1]):
                        continue
                    closing = Closing(row[:-1])
                    if row[-1] == key or closing.is_whole:
                        found[row[0]] = (closing, row[-1])
        return list(found.values())

    def _elsewhere(self, scope: str, name: str) -> list[tuple[str | None, str, list[str]]]:
        """Return (scope, name, what it lies in of the same file) of the same file in components that `scope` is not."""
        if not self._has_aliases():
            return []  # under its own name it is found in every scope
        from gitmem.store import listing

        return [
            (where, key, [one for one in parents(key) if entities.file_of(one) == entities.file_of(key)])
            for where, key in listing.elsewhere(self.cache, scope, name)
        ]

    def below(self, key: str, limit: int) -> list[Closing]:
        """Return the closings that stand for what lies in the file of a folded name, at most `limit`."""
        rows = self.cache.db.execute(
            f"SELECT {_COLUMNS} FROM {_JOINED} WHERE c.key >= ? AND c.key < ? ORDER BY c.key LIMIT ?",
            (key + "::", key + ":;", limit),
        ).fetchall()
        return [Closing(row) for row in rows if self._holds(row)]

    def newest(self, scope: str, limit: int) -> list[Closing]:
        """Return the newest closings that stand in one scope, at most `limit`."""
        rows = self.cache.db.execute(
            "SELECT DISTINCT n FROM closed WHERE scope = ? ORDER BY n DESC LIMIT ?", (scope, limit)
        ).fetchall()
        return sorted(self._of([n for (n,) in rows]), key=lambda one: -one.n)

    def standings(self, name: str) -> list[tuple[str, str, str, str]]:
        """Return (scope, verdict, approach key, id of the deciding event) of each decision on an entity itself."""
        found = []
        for scope, key in self.names(entity_key(name)):
            rows = self.cache.db.execute(
                "SELECT d.scope, d.verdict, d.akey, d.standing, d.names FROM names n "
                "JOIN decisions d ON d.component = n.component AND d.scope = n.scope WHERE n.key = ?",
                (key,),
            )
            for its_scope, verdict, akey, standing, names in rows:
                if (scope is None or its_scope == scope) and key in names.split("\n"):
                    found.append((its_scope, verdict, akey, standing))
        return found

    def event(self, event_id: str) -> Event | None:
        """Return an event that may be told: not one that is redacted to its name, sealed, or void."""
        row = self.cache.db.execute(
            "SELECT e.id, e.body, e.redacted, j.marks, j.effect, j.trust FROM events e LEFT JOIN judged j ON j.n = e.n "
            "WHERE e.id = ?",
            (event_id,),
        ).fetchone()
        if row is None or row[4] == "void" or row[5] == "retracted":
            return None
        return None if marks.SEAL in marks.in_force(row[3], self.now) else event_of(*row[:3])

    def names(self, key: str) -> list[tuple[str | None, str]]:
        """Return every name that renames in force gave a folded name, and itself, each with the scope it holds in.

        None is every scope: where nothing was renamed.
        """
        if not self._has_aliases():
            return [(None, key)]
        return [
            (scope, name)
            for scope in ("", *self.cache.scopes())
            for name in components.lineage_names(self.cache.db, scope, key, self._parted)
        ]

    def _has_aliases(self) -> bool:
        if self._aliases is None:
            db = self.cache.db
            self._aliases = self.glance.has_aliases()
            if self._aliases:
                self._parted = components.parted(db)
        return self._aliases

    # --- whether it holds now -----------------------------------------------------------------

    def _holds(self, row: _Row) -> bool:
        """Say whether it is told now: it isn't sealed, and its own end hasn't come."""
        event_id, body, redacted, spelled = row[5:]
        if spelled is not None and marks.SEAL in marks.in_force(spelled, self.now):
            return False
        if b'"valid_to":' not in body:
            return True
        until = event_of(event_id, body, redacted).fields.get("valid_to")
        return not isinstance(until, str) or until > self.now


def is_seen(scope: str, other: str) -> tuple[bool, bool]:
    """Say whether an edit in `scope` is told of a closing in the scope `other`, and whether that may stop it.

    Its own and those above it stop; those below it are told; a sibling's is neither.
    """
    if other == scope or other in entities.ancestors_scope(scope):
        return True, True
    return entities.sees(scope, other), False
