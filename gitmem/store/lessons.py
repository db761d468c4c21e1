"""Lessons: what the cache knows of experiences, looked up by words and by places at a cost that doesn't grow.

A `Book` (core) works out what a set of events comes to; here the set is gathered. For a few lessons that is what
concerns them: what speaks of them (gists, uses, marks, what a sleep found), what takes that back, the lesson that
one is kept under and those under it. For all lessons it is everything of these kinds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from gitmem.core import dates, entities
from gitmem.core.lessons.book import Book, Standing, known
from gitmem.core.lessons.ladder import PATTERN
from gitmem.core.lessons.policies import TENDER
from gitmem.store.cache import Cache
from gitmem.store.components import birth_trust, event_of
from gitmem.store.glance import parts, placeholders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.core.events import Event
    from gitmem.core.lessons.ladder import Rule
    from gitmem.core.lessons.policies import Policy

#: Kinds of events that a book is made of; marks and reviews count as far as they speak of one.
KINDS = ("lesson", "gist", "use", "sleep", "undo")
#: A word that more lessons have is common: how many more doesn't matter.
COMMON_FROM = 2000
#: Lookups give so many lessons at most, the newest; and so many rules.
FOUND_MAX, RULES_MAX = 400, 200
_SELECT = (
    "SELECT e.n, e.id, e.kind, e.word, e.body, e.redacted, j.effect, j.trust, j.marks "
    "FROM events e LEFT JOIN judged j ON j.n = e.n"
)


class Shelf:
    """The lookups, for one cache."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self.db = cache.db

    @property
    def total(self) -> int:
        """How many lessons the log has."""
        row = self.db.execute("SELECT value FROM meta WHERE key = 'lessons'").fetchone()
        return int(row[0]) if row else 0

    def frequency(self, words: Iterable[str]) -> dict[str, int]:
        """Return how many lessons hold each of some words; of a common one, `COMMON_FROM`."""
        query = f"SELECT COUNT(*) FROM (SELECT 1 FROM lesson_words WHERE word = ? LIMIT {COMMON_FROM})"
        return {word: self.db.execute(query, (word,)).fetchone()[0] for word in words}

    def by_words(self, words: Iterable[str], limit: int = FOUND_MAX) -> list[str]:
        """Return the ids of lessons that hold some of the words: those that hold more of them first, then the newest.

        Of a common word the newest lessons are looked at, and those that hold the rarest word with it.
        """
        count = self.frequency(words)
        known = sorted((word for word in count if count[word]), key=lambda word: (count[word], word))
        held: dict[int, int] = {}
        for word in known:
            rows = self.db.execute(
                "SELECT n FROM lesson_words WHERE word = ? ORDER BY n DESC LIMIT ?", (word, limit)
            ).fetchall()
            for (n,) in rows:
                held[n] = held.get(n, 0) + 1
        rare = [word for word in known if count[word] < COMMON_FROM]
        for word in known:
            if count[word] > limit and rare and word != rare[0]:
                pair = self.db.execute(
                    "SELECT a.n FROM lesson_words a JOIN lesson_words b ON b.n = a.n AND b.word = ? "
                    "WHERE a.word = ? ORDER BY a.n DESC LIMIT ?",
                    (word, rare[0], limit),
                ).fetchall()
                for (n,) in pair:
                    held[n] = max(held.get(n, 0), 2)
        best = sorted(held, key=lambda n: (-held[n], -n))[:limit]
        return self._ids(best)

    def by_paths(self, keys: Sequence[str], limit: int = FOUND_MAX) -> list[str]:
        """Return the ids of lessons that name one of some places (`entity_key`), the newest first."""
        found: dict[int, None] = {}
        for part in parts(keys):
            rows = self.db.execute(
                f"SELECT DISTINCT n FROM lesson_paths WHERE key IN ({placeholders(part)}) ORDER BY n DESC LIMIT ?",
                (*part, limit),
            )
            found.update((n, None) for (n,) in rows)
        return self._ids(sorted(found, reverse=True)[:limit])

    def below(self, key: str, limit: int = FOUND_MAX) -> list[str]:
        """Return the ids of lessons that name a place below another one (`entity_key`), the newest first."""
        ends = [(f"{key}{mark}", f"{key}{after}") for mark, after in (("/", "0"), (".", "/"))]
        rows = self.db.execute(
            "SELECT DISTINCT n FROM lesson_paths WHERE (key > ? AND key < ?) OR (key > ? AND key < ?) "
            "ORDER BY n DESC LIMIT ?",
            (*ends[0], *ends[1], limit),
        ).fetchall()
        return self._ids([n for (n,) in rows])

    def has_paths(self, keys: Sequence[str]) -> bool:
        """Say whether any lesson names one of some places."""
        return any(
            self.db.execute(
                f"SELECT 1 FROM lesson_paths WHERE key IN ({placeholders(part)}) LIMIT 1", tuple(part)
            ).fetchone()
            for part in parts(keys)
        )

    def resting_on(self, ids: Iterable[str]) -> list[str]:
        """Return the ids of the newest promotions that rest on some lessons, of those that rest on these, and of all
        that they name: what a book must have for a rule, and a principle, to stand in it."""
        found: dict[str, None] = {}
        below = list(ids)
        for _ in ("rules", "principles"):
            below = self._promoting(below)
            found.update(dict.fromkeys(below))
        return self.with_evidence(found)

    def with_evidence(self, promotions: Iterable[str]) -> list[str]:
        """Return the ids of some promotions and of what they name; of a principle, also of what its rules name."""
        found = list(promotions)
        named = self._targets(found)
        more = self._targets([one for one in named if one not in found])
        return [*found, *named, *more]

    def _promoting(self, ids: Sequence[str]) -> list[str]:
        found: dict[str, int] = {}
        for part in parts(ids):
            rows = self.db.execute(
                "SELECT e.id, e.n FROM refs r JOIN events e ON e.n = r.n AND e.kind = 'sleep' AND e.word = 'promote' "
                f"WHERE r.target IN ({placeholders(part)}) AND r.field = 'targets'",
                tuple(part),
            )
            found.update(rows.fetchall())
        return sorted(found, key=lambda one: -found[one])[:RULES_MAX]

    def _targets(self, ids: Sequence[str]) -> list[str]:
        """Return what some sleeps name."""
        found: dict[str, None] = {}
        for part in parts(ids):
            rows = self.db.execute(
                f"SELECT id, body, redacted FROM events WHERE id IN ({placeholders(part)}) AND kind = 'sleep'",
                tuple(part),
            )
            for event_id, body, redacted in rows:
                found.update(dict.fromkeys(event_of(event_id, body, redacted).targets))
        return list(found)

    def promotions(self) -> list[str]:
        """Return the ids of the newest events that proposed a pattern, a rule or a principle, newest first."""
        rows = self.db.execute(
            "SELECT id FROM events WHERE kind = 'sleep' AND word = 'promote' ORDER BY n DESC LIMIT ?", (RULES_MAX,)
        )
        return [event_id for (event_id,) in rows]

    def _ids(self, numbers: Sequence[int]) -> list[str]:
        found = []
        for n in numbers:
            row = self.db.execute("SELECT id FROM events WHERE n = ?", (n,)).fetchone()
            if row:
                found.append(row[0])
        return found


def book(cache: Cache, policy: Policy, moment: str, ids: Iterable[str] | None = None, *, is_past: bool = False) -> Book:
    """Return what is known of lessons at a moment (a time of the format): of some, or of all of them.

    is_past   leave out what was recorded after the moment
    """
    gathered = _Gathered(cache)
    if ids is None:
        gathered.everything()
    else:
        gathered.some(ids)
    events = known(gathered.events, moment) if is_past else gathered.events
    return Book(events, gathered.standing, moment, policy)


def concerning(cache: Cache, ids: Iterable[str]) -> list[Event]:
    """Return all events that concern some lessons and rules, reviews and marks among them."""
    gathered = _Gathered(cache)
    gathered.some(ids)
    return gathered.events


def proposed(cache: Cache, scope: str = "", moment: str = "") -> tuple[Book | None, list[Rule]]:
    """Return the rules and principles that wait for a person, of what a read in `scope` sees, and the book they are in.

    Asked by every summary: where nothing was promoted it costs one look. Which rules stand hangs on no moment, and
    policies agree on it; `moment` is for how rusty one is.
    """
    rows = cache.db.execute(
        "SELECT e.id, e.body, e.redacted FROM events e LEFT JOIN judged j ON j.n = e.n "
        "WHERE e.kind = 'sleep' AND e.word = 'promote' AND e.newer = 0 AND e.redacted = '' "
        "AND COALESCE(j.trust, 'proposed') IN ('proposed', 'disputed') "
        "AND (instr(e.body, ?) OR instr(e.body, ?)) ORDER BY e.n DESC LIMIT ?",
        (b'"rank":"rule"', b'"rank":"principle"', RULES_MAX),
    ).fetchall()
    if not rows:
        return None, []
    moment = moment or dates.of_seconds(time.time())
    promoted = [event_of(*row) for row in rows]
    named = [target for event in promoted for target in event.targets]
    below = [event for one in named if (event := cache.event(one)) is not None and event.kind == "sleep"]
    ids = {*(event.id for event in promoted), *named, *(target for event in below for target in event.targets)}
    found = book(cache, TENDER, moment, ids)
    asked = {event.id for event in promoted}
    if any(not rule.is_down and asked.intersection((rule.id, *rule.also)) for rule in found.fallen):
        found = book(cache, TENDER, moment)  # what they named is gone; others may bear them by now
    waiting = [
        rule
        for rule in found.rules
        if rule.rank != PATTERN
        and entities.sees(scope, rule.scope)
        and (rule.trust == "proposed" or (rule.trust == "disputed" and not _disputed_by_person(cache, rule)))
    ]
    return found, waiting


def _disputed_by_person(cache: Cache, rule: Rule) -> bool:
    """Say whether a person disputed a rule: then somebody looked at it."""
    return any(
        event.action == "dispute" and event.channel == "human" and event.basis == "person"
        for event in cache.referring(rule.id)
    )


class _Gathered:
    """Events for a book, each once, and how each stands."""

    def __init__(self, cache: Cache) -> None:
        self.db = cache.db
        self.events: list[Event] = []
        self._standings: dict[str, Standing] = {}

    def standing(self, event: Event) -> Standing:
        return self._standings[event.id]

    def everything(self) -> None:
        for row in self.db.execute(f"{_SELECT} WHERE e.kind IN ({placeholders(KINDS)}) ORDER BY e.n", KINDS):
            self._take(row)
        marks = self.db.execute(
            f"{_SELECT} WHERE e.kind = 'mark' AND EXISTS (SELECT 1 FROM refs r JOIN events l ON l.id = r.target "
            "WHERE r.n = e.n AND l.kind = 'lesson') ORDER BY e.n"
        ).fetchall()
        for row in marks:
            self._take(row)

    def some(self, ids: Iterable[str]) -> None:
        """Take what concerns some lessons and rules, and the lessons that those lead to."""
        asked: set[str] = set()
        left = list(dict.fromkeys(ids))
        while left:
            asked.update(left)
            more: dict[str, None] = {}
            for event in [*self._named(left), *self._speaking_of(left)]:
                for led in _leads_to(event):
                    if led not in asked:
                        more[led] = None
            left = list(more)

    def _named(self, ids: Sequence[str]) -> list[Event]:
        found = []
        for part in parts(ids):
            rows = self.db.execute(f"{_SELECT} WHERE e.id IN ({placeholders(part)})", tuple(part)).fetchall()
            found += [event for row in rows if (event := self._take(row)) is not None]
        return found

    def _speaking_of(self, ids: Sequence[str]) -> list[Event]:
        found = []
        for part in parts(ids):
            rows = self.db.execute(
                f"{_SELECT} WHERE e.n IN (SELECT n FROM refs WHERE target IN ({placeholders(part)}) "
                "AND field = 'targets')",
                tuple(part),
            ).fetchall()
            found += [event for row in rows if (event := self._take(row)) is not None]
        return found

    def _take(self, row: tuple[Any, ...]) -> Event | None:
        """Keep the event of a row; None where it was kept before."""
        _, event_id, _, _, body, redacted, effect, trust, marks = row
        if event_id in self._standings:
            return None
        event = event_of(event_id, body, redacted)
        self.events.append(event)
        self._standings[event.id] = Standing(
            trust or birth_trust(event), marks or "", applied=effect in (None, "applied")
        )
        return event


def _leads_to(event: Event) -> tuple[str, ...]:
    """Return the ids that must be known as well where an event is.

    What takes it back; of a recurrence the lesson that it repeats; of what was absorbed, both. Not all that was used
    or promoted together with one.
    """
    if event.kind == "lesson":
        return (event.id, *event.targets)
    if event.kind == "sleep" and event.action == "absorb":
        return (event.id, *event.targets)
    return (event.id,) if event.kind in ("gist", "use", "sleep", "undo") else ()
