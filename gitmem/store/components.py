"""Components: which events a verdict may hang on, asked of the cache's tables.

A component is a set of events closed under lineage (the changes on one entity, under every name that renames
gave it) and under targeting and superseding. Judging a component needs nothing else. Names are joined here
by all renames, retracted ones too: too large a component costs time, too small a one would change verdicts.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator

from gitmem.core import entities
from gitmem.core.events import Event

#: Bits of an event's id that order events of one clock. The clock takes what is left of 63.
ID_BITS = 20
#: More names than this are not followed from one: only renames made to mislead get there.
NAMES_MAX = 1024
#: From so many names on it is asked how long they may be.
NAMES_FEW = 32


def event_of(event_id: str, body: bytes, redacted: str) -> Event:
    """Return the event of a row. Its bytes were checked when they came in."""
    return Event(event_id, _decode(str(body, "utf-8"))[0], redacted=redacted)


# `json.loads` without its guesses at the encoding.
_decode = json.JSONDecoder().raw_decode


def lineage_names(db: sqlite3.Connection, scope: str, key: str, without: Collection[int] = ()) -> list[str]:
    """Return every name that renames in `scope` may have given `key`, itself first (retracted renames too).

    `without`: the row numbers of renames to leave out.
    """
    left_out = f" AND n NOT IN ({','.join(map(str, without))})" if without else ""
    query = f"SELECT DISTINCT b FROM aliases WHERE a = ? AND scope IN (?, '*'){left_out} ORDER BY b"
    others: dict[str, list[str]] = {}
    found = [key]
    seen = {key}
    longest = entities.PATH_MAX_BYTES
    for name in found:
        if len(found) > NAMES_MAX:
            break
        if len(found) > NAMES_FEW and longest == entities.PATH_MAX_BYTES:
            longest = min(longest, _longest(db, key))
        for prefix in (name, *entities.parents(name)):
            if prefix not in others:
                others[prefix] = [row[0] for row in db.execute(query, (prefix, scope))]
            for other in others[prefix]:
                nested = prefix in entities.parents(other) or other in entities.parents(prefix)
                if prefix != name and nested:
                    continue  # a name moved below itself would go on for ever
                swapped = other + name[len(prefix) :]
                if swapped not in seen and len(swapped) <= longest:
                    seen.add(swapped)
                    found.append(swapped)
    return found


def parted(db: sqlite3.Connection) -> list[int]:
    """Return the row numbers of the renames that join nothing any more: retracted, or void."""
    rows = db.execute(
        "SELECT DISTINCT a.n FROM aliases a JOIN judged j ON j.n = a.n WHERE j.trust = 'retracted' OR j.effect = 'void'"
    )
    return [n for (n,) in rows]


def _longest(db: sqlite3.Connection, key: str) -> int:
    """Return how long a name may be that a lineage is followed through.

    Two renames can make names that grow for ever (`src` to `lib`, then `lib/x` to `src/x/y`). What nobody recorded
    matters only on the way to something that somebody did.
    """
    recorded, renamed = db.execute(
        "SELECT (SELECT MAX(LENGTH(key)) FROM names), (SELECT MAX(LENGTH(a)) FROM aliases)"
    ).fetchone()
    return max(len(key), recorded or 0, renamed or 0) + (renamed or 0)


def component_events(db: sqlite3.Connection, components: Iterable[int]) -> Iterator[Event]:
    wanted = sorted(set(components))
    have: set[str] = set()
    for component in wanted:
        for _, event in rows_of(db, component):
            have.add(event.id)
            yield event
    for event in renames_for(db, wanted):
        if event.id not in have:
            yield event


def rows_of(db: sqlite3.Connection, component: int) -> list[tuple[int, Event]]:
    rows = db.execute("SELECT n, id, body, redacted FROM events WHERE component = ? ORDER BY n", (component,))
    return [(n, event_of(event_id, body, redacted)) for n, event_id, body, redacted in rows]


def with_renames(db: sqlite3.Connection, component: int, members: list[tuple[int, Event]]) -> list[tuple[int, Event]]:
    """Return what a component is judged by, with row numbers: its members, and -1 for what a rename brings along."""
    have = {event.id for _, event in members}
    return members + [(-1, event) for event in renames_for(db, [component]) if event.id not in have]


def renames_for(db: sqlite3.Connection, components: Iterable[int]) -> list[Event]:
    """Return the renames (and whatever decides them) that gave the names of some components."""
    if db.execute("SELECT 1 FROM aliases LIMIT 1").fetchone() is None:
        return []
    numbers: set[int] = set()
    for component in components:
        names = db.execute("SELECT key, scope FROM names WHERE component = ?", (component,)).fetchall()
        for key, scope in names:
            for name in lineage_names(db, scope, key):
                for prefix in (name, *entities.parents(name)):
                    numbers |= {
                        row[0]
                        for row in db.execute(
                            "SELECT n FROM aliases WHERE a = ? AND scope IN (?, '*')", (prefix, scope)
                        )
                    }
    found: dict[str, Event] = {}
    more: set[int] = set()
    for n in sorted(numbers):
        component, event_id, body, redacted = db.execute(
            "SELECT component, id, body, redacted FROM events WHERE n = ?", (n,)
        ).fetchone()
        found[event_id] = event_of(event_id, body, redacted)
        if component is not None:
            more.add(component)
    for component in sorted(more):
        for _, event in rows_of(db, component):
            found[event.id] = event
    return list(found.values())


def components_of(db: sqlite3.Connection, names: Iterable[tuple[str, str]]) -> set[int]:
    """Return the components of (scope, folded name) pairs, under all the names that renames gave them."""
    found: set[int] = set()
    for scope, key in names:
        for name in lineage_names(db, scope, key):
            row = db.execute("SELECT component FROM names WHERE key = ? AND scope = ?", (name, scope)).fetchone()
            if row:
                found.add(row[0])
    return found


def names_below(db: sqlite3.Connection, key: str, scope: str | None = None) -> list[tuple[str, str]]:
    """Return the recorded (scope, folded name) pairs below the name `key`, in one scope or in all."""
    found: list[tuple[str, str]] = []
    for low, high in ((key + ".", key + "/"), (key + "/", key + "0"), (key + "::", key + ":;")):
        for name, its_scope in db.execute(
            "SELECT key, scope FROM names WHERE key >= ? AND key < ? ORDER BY key, scope", (low, high)
        ):
            if (scope is None or its_scope == scope) and key in entities.parents(name):
                found.append((its_scope, name))
    return found


def scopes_of(db: sqlite3.Connection, key: str) -> list[str]:
    """Return the scopes in which the folded name `key` was recorded."""
    return [row[0] for row in db.execute("SELECT scope FROM names WHERE key = ? ORDER BY scope", (key,))]


def birth_trust(event: Event) -> str:
    """The trust that an event is born with (R6)."""
    person = event.channel == "human" and event.basis == "person"
    return "ratified" if person or event.basis == "evidence" else "proposed"
