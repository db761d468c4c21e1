"""Recalling: what a question is told of decisions, rules and lessons, and why one of them is not told.

Nothing here writes to the log or the cache, and nothing looks at more than a bounded number of lessons, however many
there are: those that hold the question's words or lie where the work is, the rules that rest on them, what is kept
under them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from gitmem.cases.results import Absence
from gitmem.core import dates, entities
from gitmem.core.characters import nfc
from gitmem.core.ids import short
from gitmem.core.lessons import recall as core
from gitmem.core.lessons import words
from gitmem.core.words import is_unspaced, searchable, terms
from gitmem.errors import Refused, RuleViolation
from gitmem.store import listing
from gitmem.store.lessons import Shelf, book

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core.attempts import Attempt
    from gitmem.core.events import Event
    from gitmem.core.lessons.book import Book
    from gitmem.core.lessons.recall import Item, Question, Recalled
    from gitmem.store.cache import Cache

#: So many lessons that hold some of the words are looked at, and so many of those that lie where the work is.
LOOKED_AT = 60
#: Of a rule's topic so many lessons are looked at, for what speaks for it and against it; of so many rules.
OF_A_TOPIC, RULES_TOLD = 60, 20
#: For a digest so many of the newest promotions are looked at, and so many files.
PROMOTIONS_MAX, FILES_MAX = 40, 100
#: So many of the newest events that hold a question's words are looked at for a decision that it means.
CHANGES_MAX = 300
#: So many words of a question are looked up as names of entities.
NAMES_MAX = 12
#: What stands round a name in a sentence.
_AROUND = "\"'`´‘’“”„«»()[]{}<>,;:!?。、「」『』"


def recall(desk: Desk, text: str, *, paths: Sequence[str] = (), budget: int = 0, all_scopes: bool = False) -> Recalled:
    """Do what `Memory.recall` says."""
    cache = desk.cache()
    items = _decisions(desk, cache, text, all_scopes=all_scopes)
    known, question = _known(desk, cache, text, paths, all_scopes=all_scopes)
    return core.fitted([*items, *core.lessons(known, question)], budget or core.BUDGET)


def _known(
    desk: Desk,
    cache: Cache,
    text: str,
    paths: Sequence[str],
    *,
    all_scopes: bool = False,
    besides: Sequence[str] = (),
) -> tuple[Book, Question]:
    """Return the book of what may answer a question, and the question as it is compared; `besides` are ids as well."""
    shelf = Shelf(cache)
    at = [desk.canonical(path) for path in paths]
    stems = core.stems(text)
    frequency = shelf.frequency(stems)
    scope = desk.seen_from(all_scopes=all_scopes)
    question = core.Question(text, at, scope=scope, every_scope=all_scopes, total=shelf.total, frequency=frequency)
    found = dict.fromkeys(besides)
    found.update(dict.fromkeys(shelf.by_words(stems, LOOKED_AT)))
    found.update(dict.fromkeys(shelf.by_paths(list(question.places), LOOKED_AT)))
    return _complete(desk, cache, shelf, [*found, *shelf.resting_on(found)]), question


def _complete(desk: Desk, cache: Cache, shelf: Shelf, ids: Sequence[str]) -> Book:
    """Return the book of some lessons and promotions, with what else speaks for or against the rules in it."""
    policy, now = desk.lesson_policy(), dates.of_seconds(time.time())
    known = book(cache, policy, now, ids)
    more: dict[str, None] = {}
    for rule in known.rules[-RULES_TOLD:]:
        place = rule.topic_key.removeprefix("path:")
        at_place = shelf.by_paths([place], OF_A_TOPIC) if place != rule.topic_key else []
        of_topic = at_place or shelf.by_words(core.stems(rule.topic or rule.topic_key), OF_A_TOPIC)
        more.update((one, None) for one in of_topic if one not in known.lessons)
    return book(cache, policy, now, [*ids, *more]) if more else known


def at_hand(desk: Desk, cache: Cache, paths: Sequence[str], now: str) -> tuple[list[Item], list[Item]]:
    """Return what a session is told of lessons at its start: the rules, and the nearest about the files in hand."""
    shelf = Shelf(cache)
    if not shelf.total:
        return [], []
    question = core.Question("", paths[:FILES_MAX], scope=desk.scope())
    near = shelf.by_paths(list(question.places), LOOKED_AT)
    ids = [*near, *shelf.with_evidence(shelf.promotions()[:PROMOTIONS_MAX])]
    return core.at_hand(book(cache, desk.lesson_policy(), now, ids), question) if ids else ([], [])


# --- decisions ---------------------------------------------------------------------------------


def _decisions(desk: Desk, cache: Cache, text: str, *, all_scopes: bool) -> list[Item]:
    """Return the decisions that a question names: by an entity, by an approach, by every word that it asks with."""
    from gitmem.cases.prior import attempts_of, prior
    from gitmem.core import attempts

    found: dict[str, Attempt] = {}
    scope = desk.seen_from(all_scopes=all_scopes)
    for name in _names(desk, cache, text, scope):
        for attempt in prior(desk, name, everything=True, all_scopes=all_scopes).attempts:
            found.setdefault(attempt.event.id, attempt)
    for event in _meant(cache, text, scope):
        for attempt in attempts_of(desk, cache, event, attempts.WINDOW_S):
            found.setdefault(attempt.event.id, attempt)
        if len(found) >= core.EXACT_MAX:
            break
    return [core.decision(attempt) for attempt in [*found.values()][: core.EXACT_MAX]]


def _names(desk: Desk, cache: Cache, text: str, scope: str) -> list[str]:
    """Return the recorded entities that a question names; a plain word names one only where it is all that is asked."""
    whole = text.strip().strip(_AROUND)
    found: dict[str, None] = {}
    for word in dict.fromkeys([whole, *(part.strip(_AROUND).rstrip(".") for part in text.split()[: NAMES_MAX * 4])]):
        if not word or (word != whole and not any(sign in word for sign in "./_:")):
            continue
        try:
            name = desk.canonical(word)
        except Refused:
            continue
        if name not in found and desk.names(cache, name, scope, below=False):
            found[name] = None
        if len(found) >= NAMES_MAX:
            break
    return list(found)


def _meant(cache: Cache, text: str, scope: str) -> Iterator[Event]:
    """Yield the changes that a question means: those that hold every word asked, those whose approach it names."""
    asked = set(core.stems(text))
    every, some = _matches(text)
    seen: set[str] = set()
    for match in (every, f"approach : ({some})") if some else ():
        for event in listing.newest_with(cache, match, CHANGES_MAX):
            if event.id not in seen and entities.sees(scope, event.scope):
                seen.add(event.id)
                if _is_meant(event, asked):
                    yield event


def _matches(text: str) -> tuple[str, str]:
    """Return the FTS5 queries for all of the words that a question asks with, and for some of them.

    Each word whole, as it was written or stemmed: beginnings of words would have the index read all that begin so.
    """
    if any(map(is_unspaced, text)):
        found = [f'"{searchable(word).strip()}"' for word in terms(text)]
    else:
        said = [word for word in words.words(text) if word.sort & words.CONTENT]
        forms = [dict.fromkeys(form for one in (word.shown, word.stem) for form in terms(nfc(one))) for word in said]
        found = ["(" + " OR ".join(f'"{form}"' for form in each) + ")" for each in forms if each]
    found = found[: core.STEMS_MAX]
    return " AND ".join(found), " OR ".join(found)


def _is_meant(event: Event, asked: set[str]) -> bool:
    """Say whether a question means this change: it names its approach whole, or every word asked is one of its own."""
    approach = set(core.stems(event.approach))
    if len(approach) > 1 and approach <= asked:
        return True
    name = set(core.stems(event.entity_path))
    if len(asked) == 1:
        return asked <= name or asked == approach
    reasoning = event.fields.get("reasoning")
    return asked <= approach | name | set(core.stems(reasoning if isinstance(reasoning, str) else ""))


# --- use ---------------------------------------------------------------------------------------


def applied(desk: Desk, prefixes: Sequence[str]) -> list[str]:
    """Do what `Memory.applied` says."""
    from gitmem.cases import capturing
    from gitmem.store import channel

    cache = desk.cache()
    found = list(dict.fromkeys(desk.id(cache, prefix) for prefix in prefixes))
    for row in listing.by_ids(cache, found):
        event = row.event
        if event.kind != "lesson" and not (event.kind == "sleep" and event.action == "promote"):
            raise RuleViolation(
                what=f"{short(event.id)} is no lesson and no rule, and only these are applied",
                hint="`git decisions recall QUERY` names lessons as L-… and rules as R-….",
            )
    capturing.note_use(desk, found, channel.detect(desk.environ).session_id)
    return found


# --- why not ------------------------------------------------------------------------------------


def why_not(
    desk: Desk,
    prefix: str,
    text: str,
    *,
    paths: Sequence[str] = (),
    budget: int = 0,
    all_scopes: bool = False,
) -> Absence:
    """Do what `Memory.why_not` says."""
    cache = desk.cache()
    event_id = desk.id(cache, prefix)
    known, question = _known(desk, cache, text, paths, all_scopes=all_scopes, besides=[event_id])
    told = recall(desk, text, paths=paths, budget=budget, all_scopes=all_scopes)
    for place, item in enumerate(told.items, 1):
        if item.id == event_id:
            return Absence(event_id, item.kind, place, [], item.line)
    for item in told.left_out:
        if item.id == event_id:
            why = f"it is relevant, and {told.budget:,} tokens have no room for it: {len(told.items)} came before"
            return Absence(event_id, item.kind, 0, [why], "")
    kind, reasons = _reasons(known, question, event_id, [*told.items, *told.left_out])
    if not reasons:
        kind, reasons = _elsewise(desk, cache, event_id, all_scopes=all_scopes)
    return Absence(event_id, kind, 0, reasons, "")


def _reasons(known: Book, question: Question, event_id: str, told: Iterable[Item]) -> tuple[str, list[str]]:
    lesson = known.lessons.get(event_id)
    if lesson is not None:
        by = next((item for item in told if event_id in item.spoken_for), None)
        reasons = [core.hindrance(known, lesson, question)]
        if by is not None:
            reasons.append(f"it is told by the {by.kind} R-{short(by.id)}, which rests on it")
        met = core.met_by(known, lesson, question)
        if by is None or met.relevance < known.policy.relevance_bar:
            reasons.append(core.distance(met, question, known.policy))
        return "lesson", [one for one in reasons if one]
    for rule in known.rules:
        if event_id in (rule.id, *rule.also):
            reasons = [core.rule_hindrance(known, rule, question)]
            if event_id != rule.id:
                reasons.append(f"R-{short(rule.id)} says the same, and is told in its place")
            reasons.append(core.distance(core.rule_match(known, rule, question), question, known.policy))
            return rule.rank, [one for one in reasons if one]
    for rule in known.fallen:
        if event_id in (rule.id, *rule.also):
            return rule.rank, ["it has fallen: too little of its evidence is left"]
    return "", []


def _elsewise(desk: Desk, cache: Cache, event_id: str, *, all_scopes: bool) -> tuple[str, list[str]]:
    """Return what an event is that no book holds, and why no recall tells it."""
    (row,) = listing.by_ids(cache, [event_id])
    kind = {"change": "decision", "sleep": "rule" if row.event.action == "promote" else ""}.get(row.event.kind, "")
    if not kind:
        return "", [f"a {row.event.kind} is nothing that a recall tells"]
    reasons = [f"it is {said_so}" for mark, said_so in core.HIDING if mark in row.marks]
    if row.event.redacted:
        reasons.append("it is redacted: its words are gone")
    if row.trust == "retracted":
        reasons.append("it is retracted")
    if not entities.sees(desk.seen_from(all_scopes=all_scopes), row.event.scope):
        reasons.append(f"it belongs to {row.event.scope}, which isn't seen from here")
    if not reasons and kind == "rule":
        reasons.append("it was undone, or never stood")
    return kind, reasons or ["the question names neither its entity nor its approach, nor has it each word asked"]
