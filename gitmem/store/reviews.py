"""What waits for a person, from the cache: how much of it there is, and each thing with what deciding it would change.

The cache keeps which events wait (`waiting`, made when a component is judged) and which decisions are contested; so
its length costs nothing. What a decision would change is found by judging the component once more, with the review
in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gitmem.core import entities
from gitmem.core.events import Event
from gitmem.core.ids import short
from gitmem.core.marks import SEAL
from gitmem.errors import RuleViolation
from gitmem.store import listing
from gitmem.store.cache import Cache, StoredDecision
from gitmem.store.components import birth_trust, event_of
from gitmem.store.listing import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.history import Finding
    from gitmem.core.lessons.book import Book
    from gitmem.core.lessons.ladder import Rule
    from gitmem.core.reviews import Change
    from gitmem.core.verdicts import Judgement
    from gitmem.store.revisits import Due


CONTESTED = "contested"


class Item:
    """One thing for a person to decide.

    why            of `core.reviews.WHYS`
    row            the event, or None for a contested decision and for what can't be read
    decision       the contested decision
    sides          its closings ("closed") and what contests them ("open"), as (side, row)
    if_ratified    what a ratify would change, if_retracted: a retract, if_kept: a resolve, by the id that it keeps
    blockers       ids of what closes a void opening, so that it would have to be superseded first
    finding        of an event that can't be read: what is wrong with it
    due            of what wants another look: why
    rule           of the promotion of a rule or a principle: that, and the book that it stands in
    """

    __slots__ = (
        "blockers",
        "decision",
        "due",
        "finding",
        "if_kept",
        "if_ratified",
        "if_retracted",
        "row",
        "rule",
        "sides",
        "why",
    )

    def __init__(self, why: str) -> None:
        self.why = why
        self.row: Row | None = None
        self.decision: StoredDecision | None = None
        self.sides: list[tuple[str, Row]] = []
        self.if_ratified: list[Change] = []
        self.if_retracted: list[Change] = []
        self.if_kept: dict[str, list[Change]] = {}
        self.blockers: list[str] = []
        self.finding: Finding | None = None
        self.due: Due | None = None
        self.rule: tuple[Rule, Book] | None = None

    @property
    def ids(self) -> list[str]:
        """The ids of the events that it is about."""
        if self.row is not None:
            return [self.row.event.id]
        if self.finding is not None:
            return [self.finding.event or self.finding.commit]
        return [row.event.id for _, row in self.sides]

    @property
    def since(self) -> str:
        """Since when it waits: the time of the newest event that it is about, in the writer's clock."""
        if self.due is not None and self.due.signals[0].since:
            return self.due.signals[0].since
        rows = [self.row] if self.row is not None else [row for _, row in self.sides]
        return max((row.event.recorded_at for row in rows), default="")


class Queue:
    """What waits, in the order to decide it, and the token that names exactly this list."""

    __slots__ = ("everything", "items", "token")

    def __init__(self, items: list[Item], token: str, *, everything: bool) -> None:
        self.items = items
        self.token = token
        self.everything = everything


def length(cache: Cache, scope: str = "") -> tuple[int, str]:
    """Return how much waits for a person, of what a read in `scope` sees, and since when the oldest of it does.

    What can't be read has no scope and counts everywhere.
    """
    contested = cache.counts().get(CONTESTED, 0)
    if not scope and not contested:
        # Asked by every summary, and the queue may be long: the first in the log's order stands for the oldest.
        (count,) = cache.db.execute("SELECT COUNT(*) FROM waiting").fetchone()
        first = cache.db.execute(
            "SELECT e.recorded_at FROM waiting w JOIN events e ON e.n = w.n ORDER BY w.n LIMIT 1"
        ).fetchone()
        times = [first[0]] if first else []
        times += (promoted := _promoted(cache, scope))
        return count + len(promoted) + cache.quarantined(), min(times, default="")
    times = [time for event_id, _, time in _waiting(cache) if not scope or _is_seen(cache, event_id, scope)]
    condition, values = listing.scope_predicate(scope, all_scopes=False, column="d.scope")
    times += [
        time
        for (time,) in cache.db.execute(
            "SELECT e.recorded_at FROM decisions d JOIN events e ON e.id = d.standing WHERE d.verdict = ?"
            + (f" AND {condition}" if condition else ""),
            (CONTESTED, *values),
        )
    ]
    times += _promoted(cache, scope)
    return len(times) + cache.quarantined(), min(times, default="")


def _promoted(cache: Cache, scope: str) -> list[str]:
    """Return since when each rule and principle waits for a person."""
    from gitmem.store import lessons

    _, rules = lessons.proposed(cache, scope)
    return [event.recorded_at for rule in rules if (event := cache.event(rule.id)) is not None]


def queue(cache: Cache, *, everything: bool = False, scope: str = "", unsigned: Iterable[str] = ()) -> Queue:
    """Return what waits for a person, of what a read in `scope` sees.

    With `everything`, also each proposal and dispute that no verdict rests on. `unsigned`: ids of reviews that lack
    the signature that their policy demands.
    """
    from gitmem.core import reviews

    reader = _Reader(cache)
    items = [reader.event(event_id, why) for event_id, why, _ in _waiting(cache) if _is_seen(cache, event_id, scope)]
    items += [reader.contested(one) for one in _contested(cache) if entities.sees(scope, one.scope)]
    items += _unreadable(cache)
    items += _rules(cache, scope)
    items += [reader.unsigned(event_id) for event_id in unsigned if _is_seen(cache, event_id, scope)]
    if everything:
        have = {event_id for item in items for event_id in item.ids}
        items += [
            reader.event(event_id, reviews.OTHER)
            for event_id in _others(cache)
            if event_id not in have and _is_seen(cache, event_id, scope)
        ]
    items.sort(key=lambda item: reviews.WHYS.index(item.why))  # stable: the oldest first
    ids = (event_id for item in items for event_id in item.ids)
    return Queue(items, reviews.token(cache.tip, ids), everything=everything)


def _waiting(cache: Cache) -> list[tuple[str, str, str]]:
    """Return (id, why, recorded_at) of the events that wait, the oldest first."""
    return cache.db.execute(
        "SELECT e.id, w.why, e.recorded_at FROM waiting w JOIN events e ON e.n = w.n ORDER BY w.n"
    ).fetchall()


def _is_seen(cache: Cache, event_id: str, scope: str) -> bool:
    """Say whether a read in `scope` sees an event: of a review or a mark, something that it targets."""
    if not scope:
        return True
    event = cache.event(event_id)
    if event is None or event.kind == "change":
        return event is not None and entities.sees(scope, event.scope)
    return any(_is_seen(cache, target, scope) for target in event.targets if target != event_id)


def _contested(cache: Cache) -> list[StoredDecision]:
    found = cache.decisions_with(CONTESTED)
    return sorted(found, key=lambda decision: (decision.since, decision.standing, decision.approach))


def _unreadable(cache: Cache) -> Iterator[Item]:
    from gitmem.core import history, reviews

    for finding in cache.findings():
        if finding.rule in history.QUARANTINING and finding.severity == history.ERROR:
            item = Item(reviews.QUARANTINED)
            item.finding = finding
            yield item


def _rules(cache: Cache, scope: str) -> Iterator[Item]:
    from gitmem.core import reviews
    from gitmem.store import lessons

    book, rules = lessons.proposed(cache, scope)
    for rule in rules:
        item = Item(reviews.DISPUTED if rule.trust == "disputed" else reviews.PROPOSED)
        (item.row,) = listing.by_ids(cache, [rule.id])
        if book is not None:
            item.rule = (rule, book)
        yield item


def _others(cache: Cache) -> Iterator[str]:
    rows = cache.db.execute(
        "SELECT e.id, e.body, e.redacted, j.trust, j.effect FROM events e LEFT JOIN judged j ON j.n = e.n "
        "WHERE e.kind = 'change' AND e.newer = 0 ORDER BY e.n"
    )
    for event_id, body, redacted, trust, effect in rows:
        if effect != "void" and (trust or birth_trust(event_of(event_id, body, redacted))) in ("proposed", "disputed"):
            yield event_id


class _Reader:
    """Makes items; judges each component once."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self._judged: dict[int | None, tuple[list[Event], Judgement]] = {}

    def _component(self, event_id: str) -> tuple[list[Event], Judgement]:
        from gitmem.core.verdicts import judge

        component = self.cache.component_of_event(event_id)
        if component not in self._judged:
            events = self.cache.component_events([component] if component is not None else [])
            self._judged[component] = (events, judge(events, self.cache.outside))
        return self._judged[component]

    def event(self, event_id: str, why: str) -> Item:
        from gitmem.core import reviews

        item = Item(why)
        item.row = listing.by_ids(self.cache, [event_id])[0]
        if why != reviews.VOID:
            item.if_ratified = self._outcome("ratify", event_id)
        item.if_retracted = self._outcome("retract", event_id)
        item.blockers = self._component(event_id)[1].hindrances(event_id)
        return item

    def unsigned(self, event_id: str) -> Item:
        from gitmem.core import reviews

        item = Item(reviews.UNSIGNED)
        item.row = listing.by_ids(self.cache, [event_id])[0]
        item.if_retracted = self._outcome("retract", event_id)
        return item

    def contested(self, decision: StoredDecision) -> Item:
        from gitmem.core import reviews

        item = Item(reviews.CONTESTED)
        item.decision = decision
        _, judged = self._component(decision.standing)
        for side, several in zip(("closed", "open"), sides(judged, decision)):
            item.sides += [(side, row) for row in listing.by_ids(self.cache, [event.id for event in several])]
        item.if_kept = {row.event.id: self._outcome("resolve", row.event.id) for _, row in item.sides}
        return item

    def _outcome(self, action: str, event_id: str) -> list[Change]:
        """Return what a person's review would change; an approach that only sealed events name is kept back."""
        from gitmem.core import reviews
        from gitmem.core.approach import total_key

        events, judged = self._component(event_id)
        changes = reviews.outcome(judged, events, self.cache.outside, action, event_id)
        sealed = listing.bearing(self.cache, [event.id for event in events], SEAL)
        if not sealed:
            return changes
        told = {total_key(event.approach) for event in events if event.approach and event.id not in sealed}
        return [
            one if not one.approach or total_key(one.approach) in told else one._replace(approach="[sealed]")
            for one in changes
        ]


def for_another_look(found: Iterable[Due]) -> Iterator[Item]:
    """Yield what wants another look as items: what came back in a commit first."""
    from gitmem.core import reviews, staleness

    several = list(found)
    for why in (reviews.RELANDED, reviews.DUE):
        for one in several:
            if any(signal.flag == staleness.RELANDED for signal in one.signals) == (why == reviews.RELANDED):
                item = Item(why)
                item.row, item.due = one.row, one
                yield item


def unsigned(cache: Cache, demands: Callable[[set[str]], set[str]]) -> list[str]:
    """Return the ids of persons' reviews without the signature that their policy demands, the oldest first.

    demands   says which of some policies, by their digests, do
    """
    from gitmem.core.history import is_personal_review

    rows = cache.db.execute(
        "SELECT e.id, e.body, e.redacted FROM events e WHERE e.kind = 'review' "
        "AND e.n NOT IN (SELECT n FROM signatures) AND e.id NOT IN (SELECT r.target FROM refs r "
        "JOIN signatures s ON s.n = r.n JOIN events b ON b.n = r.n WHERE b.kind = 'review') ORDER BY e.n"
    )
    reviews = [event for row in rows if is_personal_review(event := event_of(*row)) and event.fields.get("policy")]
    demanding = demands({str(event.fields["policy"]) for event in reviews}) if reviews else set()
    return [event.id for event in reviews if event.fields["policy"] in demanding]


def sides(judged: Judgement, decision: StoredDecision) -> tuple[list[Event], list[Event]]:
    """Return the closings that are contested in a decision, and what contests them."""
    line = judged.lineage_of(decision.scope, decision.entity_path)
    for key in line.keys.values() if line else ():
        if key.approach == decision.approach_key and key.verdict == CONTESTED:
            return judged.sides(key)
    return [], []


def ratifiable(found: Queue, token: str) -> list[str]:
    """Return the ids that `token` lets be ratified together. Raises RuleViolation where it is of another list."""
    from gitmem.core import reviews

    again = "`git decisions review` shows what waits now, and the token for that."
    if found.token != token:
        what = f"{token[:80]} is not the token of what waits now: the log or the list changed"
        raise RuleViolation(what=what, hint=again)
    ids = [event_id for item in found.items if item.why in reviews.RATIFIABLE for event_id in item.ids]
    if not ids:
        raise RuleViolation(what="nothing of what waits can be ratified", hint="each has its own commands in the list.")
    return sorted(ids)


def check_side(cache: Cache, name: str, keep: str) -> None:
    """Raise RuleViolation where the event `keep` is on no side of what is contested on the entity `name`.

    What contests may be a supersede that was written elsewhere, so it is looked for among the lineage's own.
    """
    from gitmem.core.verdicts import judge

    names = listing.names_of(cache, name, below=False)
    judged = judge(cache.component_events(cache.components_of(names)), cache.outside)
    decisions = cache.decisions_of(names)
    contested = [decision for decision in decisions if decision.verdict == CONTESTED]
    if not contested:
        told = ", ".join(f"{decision.verdict} by {short(decision.standing)}" for decision in decisions[:5])
        what = f"nothing is contested on {name}" + (f": {told}" if told else "; nothing is recorded about it")
        raise RuleViolation(what=what, hint="`git decisions review` lists what is.")
    both = [sides(judged, decision) for decision in contested]
    on_sides = {event.id for side in both for events in side for event in events}
    if judged.event(keep) is not None and judged.standing_for(keep).id in on_sides:
        return
    told = "; ".join(f"{_listed(closed)} against {_listed(opened)}" for closed, opened in both)
    raise RuleViolation(
        what=f"{short(keep)} is on no side of what is contested on {name}",
        hint=f"keep one of these: {told}.",
        ids=[keep],
    )


def beside(cache: Cache, name: str, other: str, approach: str) -> str:
    """Return the id to keep of what is contested on `name`, when the event `other` is to go on as another `approach`.

    Raises RuleViolation where that would not settle it, or is no other approach.
    """
    from gitmem.core.approach import total_key
    from gitmem.core.verdicts import judge
    from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING, OPENING

    check_side(cache, name, other)
    names = listing.names_of(cache, name, below=False)
    judged = judge(cache.component_events(cache.components_of(names)), cache.outside)
    for decision in cache.decisions_of(names):
        closed, opened = sides(judged, decision)
        ids = [[event.id for event in side] for side in (closed, opened)]
        own = [side for side in ids if other in side]
        if decision.verdict != CONTESTED or not own:
            continue
        mine, theirs = (closed, opened) if other in ids[0] else (opened, closed)
        if len(mine) > 1 or CHANGE_TYPES.get(mine[0].change_type) not in (CLOSING, OPENING):
            what = f"{short(other)} does not stand alone on its side, or says nothing of its own"
            raise RuleViolation(what=what, hint="settle it by --keep, and record the other way anew.", ids=[other])
        if total_key(approach) in ("", decision.approach_key):
            what = f"“{approach[:80]}” is the approach that is contested" if approach else "it needs an approach"
            raise RuleViolation(what=what, hint="--approach TEXT says which other way it is.", ids=[other])
        whole = [event for event in theirs if event.change_type == "reject" and not event.approach]
        if whole and mine is opened:
            raise RuleViolation(
                what=f"{_listed(whole)} closes {name} with every approach, so another one would be closed as well",
                hint=f"`--keep {short(other)}` keeps this one open, and all others closed.",
                ids=[other],
            )
        return theirs[0].id
    raise RuleViolation(what=f"{short(other)} is on no side of what is contested on {name}", ids=[other])


def _listed(events: Iterable[Event]) -> str:
    return ", ".join(short(event.id) for event in events)
