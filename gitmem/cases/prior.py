"""Prior: what was tried before, found by its name, its words or its lines."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.cases.results import Prior
from gitmem.cases.typed import text_of
from gitmem.core import entities, words
from gitmem.core.lineages import entity_key
from gitmem.core.query import Query
from gitmem.store import listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core.attempts import Attempt
    from gitmem.core.events import Event
    from gitmem.store.cache import Cache

#: Below so many percent of a fingerprint's lines, a text has something in common with it and brings nothing back.
SHARE_FLOOR = 30
#: Below so many percent of the words asked for, a hit is noise.
WORDS_FLOOR = 50


def prior(
    desk: Desk,
    entity: str | None = None,
    *,
    about: str | None = None,
    content: str | None = None,
    everything: bool = False,
    window_s: int | None = None,
    as_of: str = "",
    known_at: str = "",
    all_scopes: bool = False,
) -> Prior:
    """Do what `Memory.prior` says."""
    from gitmem.core import attempts

    cache = desk.cache_at(as_of, known_at)
    scope = desk.seen_from(all_scopes=all_scopes)
    window = attempts.WINDOW_S if window_s is None else window_s
    name = desk.canonical(entity) if entity else ""
    found: list[Attempt] = []
    if name:
        found = _attempts(desk, cache, desk.names(cache, name, scope), window)
        for attempt in found:
            attempt.because = _because(name, attempt.event)
    if content:
        found += _content(desk, cache, content, window, {attempt.event.id for attempt in found}, scope)
    if about:
        found += _about(desk, cache, about, window, {attempt.event.id for attempt in found}, scope)
    shown = [a for a in found if everything or a.confidence in ("exact", "proximity_high")]
    return Prior(name, attempts.known(shown), shown, len(found) - len(shown))


def _attempts(desk: Desk, cache: Cache, names: Sequence[tuple[str, str]], window_s: int) -> list[Attempt]:
    from gitmem.core import attempts
    from gitmem.core.verdicts import judge

    wanted = set(names)
    numbers = cache.components_of(names)
    found = cache.component_events(numbers)
    if not found:
        return []
    return attempts.of(
        judge(found, cache.outside),
        found,
        lambda event: (event.scope, entity_key(event.entity_path)) in wanted,
        window_s=window_s,
        hidden=listing.hidden(cache, numbers),
    )


def attempts_of(desk: Desk, cache: Cache, event: Event, window_s: int) -> list[Attempt]:
    """Return the attempts that a change is a part of: it tried something, or ended it."""
    found = _attempts(desk, cache, [(event.scope, entity_key(event.entity_path))], window_s)
    return [one for one in found if event.id in [part.id for part in (one.opening, one.closing) if part]]


def _content(desk: Desk, cache: Cache, text: str, window_s: int, have: set[str], scope: str) -> list[Attempt]:
    """Return the closed attempts whose lines `text` brings back, the largest share first."""
    from gitmem.core import fingerprint

    marks = fingerprint.marks(fingerprint.added_lines(text))
    found: list[Attempt] = []
    for closing, _ in cache.closings_like(marks):
        share = fingerprint.share_of_marks(closing.fields.get("fingerprint"), marks)
        if share < SHARE_FLOOR or closing.id in have or not entities.sees(scope, closing.scope):
            continue
        for attempt in _attempts(desk, cache, [(closing.scope, entity_key(closing.entity_path))], window_s):
            if attempt.closing is not None and attempt.closing.id == closing.id and closing.id not in have:
                have.add(closing.id)
                attempt.match = "content"
                attempt.score = share
                attempt.because = f"{share} % of the lines that were taken back are in this text"
                found.append(attempt)
    return found


def _about(desk: Desk, cache: Cache, text: str, window_s: int, have: set[str], scope: str) -> list[Attempt]:
    """Return the attempts whose words `text` shares, best first; below half of its words none."""
    asked = words.terms(text)
    if not asked:
        return []
    rows = listing.by_word(cache, text, Query(limit=50, scope=scope))
    found: list[Attempt] = []
    for row in rows:
        held = {
            *words.terms(
                " ".join((row.event.entity_path, row.event.approach, text_of(row.event.fields.get("reasoning"))))
            )
        }
        shared = [word for word in asked if any(other.startswith(word) for other in held)]
        score = 100 * len(shared) // len(asked)
        if score < WORDS_FLOOR:
            continue
        for attempt in attempts_of(desk, cache, row.event, window_s):
            if attempt.event.id in have:
                continue
            have.add(attempt.event.id)
            attempt.match = "words"
            attempt.score = score
            attempt.because = f"{len(shared)} of {len(asked)} words: {', '.join(shared[:8])}"
            found.append(attempt)
    found.sort(key=lambda attempt: (-(attempt.score or 0), attempt.order))
    return found


def _because(name: str, event: Event) -> str:
    key, its = entity_key(name), entity_key(event.entity_path)
    if its == key:
        return f"same entity {event.entity_path}"
    if key in entities.parents(its):
        return f"{event.entity_path} lies below {name}"
    return f"{event.entity_path} is a name that {name} had"
