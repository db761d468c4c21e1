"""Sleep: what a book comes to when it is gone through once, as outcomes with their exact before and after. Pure.

The passes, each on what the one before left:

absorb   what says the same as an earlier lesson goes under it; both stay, and neither changes a word
bands    it is noted which lessons went latent, and which came back. (They did so by themselves; `life`)
ladder   what lost its evidence falls; what has enough of it is promoted, and proposed to a person
digest   closes a sleep that changed something: how many there are of what, and the hash of the state, before and after

A sleep on what a sleep left does nothing. What a person took back is not done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gitmem.core import events
from gitmem.core.lessons import ladder
from gitmem.core.lessons.book import ABSORB, DIGEST, ENTER, FALL, PROMOTE, RETURN, Book, Lesson, Outcome, state_hash
from gitmem.core.lessons.ladder import PATTERN, PRINCIPLE, RANKS, RULE, Rule
from gitmem.core.lessons.likeness import Likes
from gitmem.core.lessons.policies import BANDS, LATENT
from gitmem.core.vocabulary import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.events import Event

#: A pass takes the book as the passes before left it, the book as the sleep found it, and the outcomes so far.
Pass = Callable[[Book, Book, Sequence[Outcome]], list[Outcome]]


def absorb(book: Book, was: Book, done: Sequence[Outcome]) -> list[Outcome]:
    """Put what says the same as an earlier lesson under it: the most alike, of equals the earliest."""
    groups: dict[tuple[str, int], dict[str, Lesson]] = {}
    for lesson in sorted(book.lessons.values(), key=lambda one: one.order):
        if not (lesson.under or lesson.is_hidden or "pin" in lesson.marks):
            groups.setdefault((lesson.scope, lesson.direction), {})[lesson.id] = lesson
    found = []
    for group in groups.values():
        likes = Likes(book.policy.merge_cut, ((lesson.id, lesson.core) for lesson in group.values()))
        times = {lesson.id: lesson.times for lesson in group.values()}
        survivors: set[str] = set()  # the earlier ones that went under nothing
        for lesson in group.values():
            found_alike = [] if lesson.repeats else likes.of(lesson.id, survivors)
            # What keeps others stays: they are like it, and need not be like what it would go under.
            best = min(
                (
                    (-percent, group[other].order, other)
                    for percent, other in found_alike
                    if (ABSORB, frozenset((other, lesson.id))) not in book.undone
                ),
                default=None,
            )
            if best is None:
                survivors.add(lesson.id)
                continue
            percent, _, survivor = best
            before = times[survivor]
            times[survivor] += 1
            found.append(
                Outcome(
                    ABSORB,
                    (survivor, lesson.id),
                    {"times": before, "under": ""},
                    {"alike": -percent, "times": before + 1, "under": survivor},
                    lesson.scope,
                )
            )
    return found


def bands(book: Book, was: Book, done: Sequence[Outcome]) -> list[Outcome]:
    """Note which lessons went latent, and which came back, since a sleep under this policy last said so."""
    found = []
    for lesson in sorted(book.lessons.values(), key=lambda one: one.order):
        if lesson.under or lesson.is_hidden:
            continue
        said = lesson.said.get(book.policy.name) == ENTER
        is_latent = lesson.band == LATENT
        if is_latent != said:
            became: dict[str, object] = {"access": lesson.access, "band": lesson.band}
            action, before = (ENTER, "cold") if is_latent else (RETURN, LATENT)
            found.append(Outcome(action, (lesson.id,), {"band": before}, became, lesson.scope))
    return found


def climb(book: Book, was: Book, done: Sequence[Outcome]) -> list[Outcome]:
    """Take down what lost its evidence, and promote what has enough."""
    found = []
    for rule in book.fallen:
        outcome = Outcome(
            FALL, (rule.id, *rule.also), {"rank": rule.rank}, {"count": rule.count, "rank": ""}, rule.scope
        )
        if not rule.is_down and outcome.key not in book.undone:
            found.append(outcome)
    standing = {(rule.scope, rule.topic_key, rule.direction): rule for rule in book.rules if rule.rank != PRINCIPLE}
    for key, group in sorted(ladder.groups(book.lessons.values()).items()):
        lessons = ladder.supporting(group)
        count = ladder.commits(lessons)
        current = standing.get(key)
        for rank in (RULE, PATTERN):
            if count >= ladder.threshold(book.policy, rank):
                if current is None or RANKS.index(current.rank) < RANKS.index(rank):
                    evidence = ladder.named(lessons, book.policy.evidence_max)
                    speaks = ladder.speaker(evidence)
                    found += _promoted(book, rank, key[0], key[2], [one.id for one in evidence], speaks, current, count)
                break
    for scope, direction in sorted({(rule.scope, rule.direction) for rule in book.rules if rule.rank == RULE}):
        rules = ladder.bearing(book.rules, scope, direction)
        above = [
            rule for rule in book.rules if rule.rank == PRINCIPLE and (rule.scope, rule.direction) == (scope, direction)
        ]
        if len(rules) >= ladder.threshold(book.policy, PRINCIPLE) and not above:
            strongest = min(rules, key=lambda one: (-one.count, one.order))
            evidence_of = [rule.id for rule in rules][: book.policy.evidence_max]
            found += _promoted(book, PRINCIPLE, scope, direction, evidence_of, strongest.id, None, len(rules))
    return found


def _promoted(
    book: Book,
    rank: str,
    scope: str,
    direction: int,
    evidence: list[str],
    representative: str,
    current: Rule | None,
    count: int,
) -> list[Outcome]:
    """Return the promotion, or nothing where a person took one back that rested on all of this."""
    named = frozenset(evidence)
    if any(action == PROMOTE and named <= taken_back for action, taken_back in book.undone):
        return []
    before: dict[str, object] = {"count": current.count if current else 0, "rank": current.rank if current else ""}
    after: dict[str, object] = {
        "count": count, "direction": direction, "rank": rank, "representative": representative,
    }  # fmt: skip
    return [Outcome(PROMOTE, evidence, before, after, scope)]


def digest(book: Book, was: Book, done: Sequence[Outcome]) -> list[Outcome]:
    """Close a sleep that changed something."""
    if not done:
        return []
    named = sorted({target for outcome in done for target in outcome.targets})[: book.policy.named_max]
    return [
        Outcome(DIGEST, named, counts(was) | {"state": state_hash(was)}, counts(book) | {"state": state_hash(book)})
    ]


PASSES: tuple[Pass, ...] = (absorb, bands, climb, digest)


def counts(book: Book) -> dict[str, object]:
    """Return how many lessons there are in each band, under others and gone, and how many rules of each rank stand."""
    found: dict[str, object] = dict.fromkeys((*BANDS, "under", *RANKS), 0)
    for lesson in book.lessons.values():
        if not lesson.is_hidden:
            name = "under" if lesson.under else lesson.band
            found[name] = int(str(found[name])) + 1
    for rule in book.rules:
        found[rule.rank] = int(str(found[rule.rank])) + 1
    return found


def sleep(book: Book, passes: Iterable[Pass] = PASSES) -> list[Outcome]:
    """Return what a sleep under the book's policy at its moment does, in the order of the passes."""
    done: list[Outcome] = []
    at = book
    for each in passes:
        found = each(at, book, done)
        if found:
            at = at.after(found)
            done += found
    return done


def written(outcome: Outcome, book: Book, clock: int) -> tuple[Event, bytes]:
    """Return the event of an outcome of a sleep on `book`, and its bytes: the same in each clone (F14)."""
    return events.build(
        {
            "v": VERSION,
            "kind": "sleep",
            "clock": clock,
            "nonce": events.derived_nonce("sleep", book.policy.label, book.moment, [outcome.action, *outcome.targets]),
            "recorded_at": book.moment,
            "after": [],
            "scope": outcome.scope,
            "policy": book.policy.label,
            "action": outcome.action,
            "targets": list(outcome.targets),
            "was": outcome.was,
            "becomes": outcome.becomes,
            **events.DERIVED,
        }
    )
