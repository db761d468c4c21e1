"""The ladder: what recurs becomes a pattern, a rule, a principle. Only a person ratifies.

Lessons are grouped by scope, topic and direction, and a group is as strong as it has distinct commits. Two make a
pattern, of which nobody is told; three a rule, which is proposed with its evidence; two ratified rules of one scope
and direction a principle. A promotion is an event; whether it still stands is asked of its evidence each time.
Counter-evidence is shown beside a rule and never takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.core.lessons import fading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.lessons.book import Book, Deed, Lesson
    from gitmem.core.lessons.policies import Policy

PATTERN, RULE, PRINCIPLE = RANKS = ("pattern", "rule", "principle")

if TYPE_CHECKING:
    #: scope, topic_key and direction of lessons
    Group = tuple[str, str, int]


class Rule:
    """A pattern, a rule or a principle: what several lessons (or rules) have in common, and a person may ratify.

    id               of the promotion, an event of kind `sleep`; `also` are others that promoted the same
    rank             pattern, rule or principle
    scope, topic_key, direction   what its evidence has in common; a principle has no topic
    topic            the topic as it was written, else the paths; "" where there is neither
    evidence         ids of the lessons that support it now; of a principle, of the rules
    count            how many distinct commits (of a principle: rules) support it now
    contradicted_by  ids of lessons of the other direction on the same topic
    representative   the lesson (of a principle: the rule) whose words it speaks
    text             those words: the core of that lesson, "" while it is sealed
    rust             parts per million: how much of its sheen is gone since `last`, its newest evidence or use
    is_down          of one that fell: whether a sleep has said so
    """

    __slots__ = (
        "also", "contradicted_by", "count", "direction", "evidence", "id", "is_down", "last", "order", "rank",
        "representative", "rust", "scope", "text", "topic", "topic_key", "trust",
    )  # fmt: skip

    id: str
    order: tuple[int, str]
    also: tuple[str, ...]
    rank: str
    scope: str
    topic: str
    topic_key: str
    direction: int
    trust: str
    evidence: tuple[str, ...]
    count: int
    contradicted_by: tuple[str, ...]
    representative: str
    text: str
    rust: int
    last: str
    is_down: bool

    def state(self) -> dict[str, object]:
        return {
            "contradicted_by": list(self.contradicted_by),
            "count": self.count,
            "direction": self.direction,
            "evidence": list(self.evidence),
            "last": self.last,
            "rank": self.rank,
            "rust": self.rust,
            "scope": self.scope,
            "text": self.text,
            "topic_key": self.topic_key,
            "trust": self.trust,
        }


def threshold(policy: Policy, rank: str) -> int:
    """Return how many distinct commits (of a principle: rules) a rank takes."""
    return {PATTERN: policy.pattern_at, RULE: policy.rule_at, PRINCIPLE: policy.principle_at}[rank]


def groups(lessons: Iterable[Lesson]) -> dict[Group, list[Lesson]]:
    """Return the lessons that are not gone by scope, topic and direction, each group in the order of the log."""
    found: dict[Group, list[Lesson]] = {}
    for lesson in sorted(lessons, key=lambda one: one.order):
        if not lesson.is_gone:
            found.setdefault((lesson.scope, lesson.topic_key, lesson.direction), []).append(lesson)
    return found


def supporting(group: Iterable[Lesson]) -> list[Lesson]:
    """Return those that count for a promotion: neither sealed, nor latent unless touched since."""
    return [one for one in group if not one.is_sealed and (one.band != "latent" or one.touches)]


def commits(group: Iterable[Lesson]) -> int:
    """Return how many distinct commits lessons come from."""
    return len({one.commit for one in group})


def named(group: Iterable[Lesson], most: int) -> list[Lesson]:
    """Return which lessons of a group a promotion names: of each commit the first, then the others, so many at most."""
    first: dict[str, Lesson] = {}
    others = []
    for lesson in group:
        if first.setdefault(lesson.commit, lesson) is not lesson:
            others.append(lesson)
    return sorted([*first.values(), *others][:most], key=lambda one: one.order)


def climbed(book: Book, deeds: Iterable[Deed]) -> tuple[list[Rule], list[Rule]]:
    """Return which promotions stand and which have fallen, of the outcomes that were not undone."""
    promoted: dict[tuple[str, Group], list[Deed]] = {}
    dropped: set[str] = set()
    for deed in deeds:
        if deed.action == "fall":
            dropped.update(deed.targets)
        elif deed.action == "promote":
            key = _key(book, deed)
            if key is not None:
                promoted.setdefault(key, []).append(deed)
    found = groups(book.lessons.values()) if promoted else {}
    standing: list[Rule] = []
    fallen: list[Rule] = []
    for rank in RANKS:
        for key in sorted(key for key in promoted if key[0] == rank):
            of_key = promoted[key]
            alive = [deed for deed in of_key if deed.id not in dropped]
            shown = alive or of_key[-1:]
            rules = [_rule(book, key, deed, shown, found, standing) for deed in shown]
            firm = [rule for rule in rules if alive and _is_firm(book, rule, standing)]
            # Two clones promoted the same: what a person ratified speaks for both, else the first.
            best = min(firm or rules[-1:], key=lambda one: (one.trust != "ratified", one.order))
            best.is_down = not alive
            (standing if firm else fallen).append(best)
    topped = {(one.scope, one.topic_key, one.direction) for one in standing if one.rank == RULE}
    standing = [
        one
        for one in standing
        if one.rank != PATTERN or (one.scope, one.topic_key, one.direction) not in topped
    ]  # fmt: skip
    return sorted(standing, key=lambda one: one.order), sorted(fallen, key=lambda one: one.order)


def _key(book: Book, deed: Deed) -> tuple[str, Group] | None:
    """Return the rank and the group of a promotion, or None where it makes no sense.

    The topic is that of the lesson whose words it speaks: an outcome holds no text that a redaction would miss.
    """
    rank, direction = deed.becomes.get("rank"), deed.becomes.get("direction")
    if rank not in RANKS or type(direction) is not int or direction not in (-1, 0, 1):
        return None
    if rank == PRINCIPLE:
        return PRINCIPLE, (deed.scope, "", direction)
    speaker = book.lessons.get(str(deed.becomes.get("representative", "")))
    return None if speaker is None else (str(rank), (deed.scope, speaker.topic_key, direction))


def speaker(evidence: Iterable[Lesson]) -> str:
    """Return the lesson whose words a promotion speaks: the first that stands by itself, else the first."""
    return min(evidence, key=lambda one: (bool(one.under), one.order)).id


def _rule(
    book: Book,
    key: tuple[str, Group],
    deed: Deed,
    alike: list[Deed],
    found: dict[Group, list[Lesson]],
    below: list[Rule],
) -> Rule:
    rank, group = key
    rule = object.__new__(Rule)
    rule.id = deed.id
    rule.order = deed.order
    rule.also = tuple(one.id for one in alike if one is not deed)
    rule.rank = rank
    rule.scope, rule.topic_key, rule.direction = group
    rule.topic = ""
    rule.is_down = False
    rule.trust = deed.trust
    rule.representative = str(deed.becomes.get("representative", ""))
    rule.contradicted_by = ()
    rule.text = ""
    newest = book.used((rule.id, *rule.also))
    if rank == PRINCIPLE:
        rules = bearing(below, rule.scope, rule.direction)
        rule.evidence = tuple(one.id for one in rules)
        rule.count = len(rules)
        spoken = next((one for one in below if rule.representative in (one.id, *one.also)), None)
        rule.text = spoken.text if spoken is not None else ""
        newest = max(newest, *(fading.microseconds(one.last) for one in rules), 0)
    else:
        lessons = found.get(group, [])
        rule.evidence = tuple(one.id for one in lessons)
        rule.count = commits(lessons)
        if rule.direction:
            against = found.get((rule.scope, rule.topic_key, -rule.direction), ())
            rule.contradicted_by = tuple(one.id for one in against if not one.is_sealed)
        lesson = book.lessons.get(rule.representative)
        if lesson is not None and not lesson.is_hidden:
            rule.text = lesson.core
            rule.topic = lesson.topic or ", ".join(lesson.paths)
        newest = max(newest, *(fading.microseconds(one.event.recorded_at) for one in lessons), 0)
    newest = min(newest, book.now)
    rule.last = fading.time(newest)
    half_life = book.policy.rust_half_life_days * fading.DAY_S * 1_000_000
    rule.rust = fading.WHOLE - fading.left(fading.WHOLE, book.now - newest, half_life)
    return rule


def _is_firm(book: Book, rule: Rule, below: list[Rule]) -> bool:
    """Say whether a promotion still has its evidence, and the one whose words it speaks is still there."""
    if rule.count < threshold(book.policy, rule.rank):
        return False
    if rule.rank == PRINCIPLE:
        return any(rule.representative in (one.id, *one.also) for one in bearing(below, rule.scope, rule.direction))
    lesson = book.lessons.get(rule.representative)
    return lesson is not None and not lesson.is_gone and lesson.id in rule.evidence


def bearing(rules: Iterable[Rule], scope: str, direction: int) -> list[Rule]:
    """Return the ratified rules on which a principle of this scope and direction rests."""
    return [
        one
        for one in sorted(rules, key=lambda one: one.order)
        if one.rank == RULE and one.trust == "ratified" and one.scope == scope and one.direction == direction
    ]
