"""The book: all that is known of lessons at one moment, folded from events.

A total reader: what doesn't fit (a target that isn't there, a gist that breaks the law, a survivor that is younger
than what it keeps) is passed over, and every set of events makes a book. The same set makes the same book, in
whatever order it comes.

What a lesson's uses come to (`life`) hangs on no sleep. Only what lies under what, and the rules, come of the outcomes
of sleeps: `Book.after` puts further ones on top, and equals the book of a log that holds them.

The caller leaves out what the moment can't know (`known`). A time past the moment, of a writer whose clock is ahead,
counts as the moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from gitmem.core import canonical, digests, letters
from gitmem.core.entities import SYMBOL, file_of
from gitmem.core.lessons import fading, ladder, life
from gitmem.core.lessons.ladder import Rule
from gitmem.core.lessons.policies import COLD, LATENT
from gitmem.core.marks import in_force
from gitmem.core.vocabulary import UNDOABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.events import Event
    from gitmem.core.lessons.policies import Policy

ABSORB, ENTER, RETURN, PROMOTE, FALL, DIGEST = "absorb", "latent", "return", "promote", "fall", "digest"


class Standing:
    """What the verdicts say of one event.

    trust     proposed, ratified, disputed or retracted
    marks     as `core/marks.spelled` writes them
    applied   whether it has its effect: not pending, void or contested
    """

    __slots__ = ("applied", "marks", "trust")

    def __init__(self, trust: str = "proposed", marks: str = "", applied: bool = True) -> None:
        self.trust = trust
        self.marks = marks
        self.applied = applied


class Lesson:
    """One lesson at the book's moment.

    core, gist     the writer's sentence; the gist in force, which is the core where there is none
    topic          as it was given, or ""; `topic_key` is what it is grouped by
    direction      -1, 0 or 1: the sign of its outcome; of a recurrence without one, that of what it repeats
    trust, marks   as the verdicts have them; the marks that hold at the moment
    is_gone        retracted or redacted: it is shown by `show` and `history` only
    commit         what makes it distinct as evidence: its commit, or its day
    under          "" or the id of the lesson that it is kept under; `repeats` are the ids that are kept under it
    access         parts per million; `group_access` is that of the sharpest of it and its repeats
    half_life      seconds
    band           near, cold or latent, of its own access
    uses           how often it was used; `touches`, how often it was touched since it went latent
    last           when it was last used, or stated: a time of the format
    said           what sleeps last said of its band, by the name of their policy
    """

    __slots__ = (
        "access", "band", "binding", "commit", "core", "cost", "direction", "event", "gist", "group_access",
        "half_life", "id", "is_gone", "last", "life", "marks", "order", "paths", "repeats", "said", "scope",
        "severity", "topic", "topic_key", "touches", "trust", "under", "uses",
    )  # fmt: skip

    id: str
    event: Event
    order: tuple[int, str]
    scope: str
    core: str
    gist: str
    topic: str
    topic_key: str
    paths: tuple[str, ...]
    direction: int
    severity: int
    binding: str
    cost: int
    trust: str
    marks: frozenset[str]
    is_gone: bool
    commit: str
    under: str
    repeats: tuple[str, ...]
    access: int
    group_access: int
    half_life: int
    band: str
    uses: int
    touches: int
    last: str
    life: life.Life
    said: dict[str, str]

    @property
    def times(self) -> int:
        """How often it happened, as far as anybody said."""
        return 1 + len(self.repeats)

    @property
    def is_sealed(self) -> bool:
        return "seal" in self.marks

    @property
    def is_hidden(self) -> bool:
        """Whether no recall and no digest may tell it, and nothing is kept under it: gone or sealed."""
        return self.is_gone or self.is_sealed

    def state(self) -> dict[str, object]:
        """Return what time, use and sleep made of it; a mark, and what nobody can change, is no part of it."""
        return {
            "access": self.access,
            "band": self.band,
            "gist": self.gist,
            "group_access": self.group_access,
            "half_life": self.half_life,
            "last": self.last,
            "repeats": list(self.repeats),
            "said": dict(self.said),
            "topic_key": self.topic_key,
            "touches": self.touches,
            "under": self.under,
            "uses": self.uses,
        }

    def _copy(self) -> Lesson:
        twin = object.__new__(Lesson)
        for name in Lesson.__slots__:
            setattr(twin, name, getattr(self, name))
        twin.said = dict(self.said)
        return twin


class Outcome:
    """One thing that a sleep does: an event to be, with its exact before and after."""

    __slots__ = ("action", "becomes", "scope", "targets", "was")

    def __init__(
        self,
        action: str,
        targets: Iterable[str],
        was: dict[str, object],
        becomes: dict[str, object],
        scope: str = "",
    ) -> None:
        self.action = action
        self.targets = tuple(sorted(targets))
        self.was = was
        self.becomes = becomes
        self.scope = scope

    @property
    def key(self) -> tuple[str, frozenset[str]]:
        """What is not done again once it was undone, whichever clone did it."""
        return (self.action, frozenset(self.targets))

    def __repr__(self) -> str:
        return f"<Outcome {self.action} {' '.join(one[:8] for one in self.targets)} {self.becomes}>"


class Deed:
    """One outcome of a sleep that stands, as the book reads it."""

    __slots__ = ("action", "becomes", "id", "order", "policy", "scope", "targets", "trust")

    def __init__(
        self,
        event_id: str,
        order: tuple[int, str],
        action: str,
        targets: tuple[str, ...],
        becomes: Mapping[str, object],
        scope: str,
        policy: str,
        trust: str,
    ) -> None:
        self.id = event_id
        self.order = order
        self.action = action
        self.targets = targets
        self.becomes = becomes
        self.scope = scope
        self.policy = policy
        self.trust = trust

    @property
    def key(self) -> tuple[str, frozenset[str]]:
        """As `Outcome.key`."""
        return (self.action, frozenset(self.targets))


def known(events: Iterable[Event], moment: str) -> list[Event]:
    """Return the events that were recorded by a moment, for a book of what was known then."""
    return [event for event in events if event.recorded_at <= moment]


class Book:
    """All that is known of lessons at one moment, under one policy.

    lessons   by id, also those that are gone
    rules     patterns, rules and principles that stand, proposed or ratified, in the order of their promotion
    fallen    those that lost their evidence
    undone    outcomes that a person took back: (action, targets). No sleep makes them again
    taken_back   what an undo in force takes back, by id, each with that undo
    """

    def __init__(
        self, events: Iterable[Event], standing: Callable[[Event], Standing], moment: str, policy: Policy
    ) -> None:
        self.moment = moment
        self.policy = policy
        self.now = fading.microseconds(moment)
        self._events = {event.id: event for event in events if not event.newer}
        self._standings: dict[str, Standing] = {}
        self._ask = standing
        self.lessons: dict[str, Lesson] = {}
        self.rules: list[Rule] = []
        self.fallen: list[Rule] = []
        self.undone: set[tuple[str, frozenset[str]]] = set()
        self._uses: dict[str, int] = {}  # of what is no lesson: when it was last used
        self._read()
        self._arrange()

    # --- what events say ---------------------------------------------------------------------

    def _read(self) -> None:
        ordered = sorted(self._events.values(), key=_order)
        taken_back = self.taken_back = self._taken_back(ordered)
        gists: dict[str, Event] = {}
        marks: dict[str, list[Event]] = {}
        acts: dict[str, list[tuple[int, int, str, str, str]]] = {}
        self._deeds: list[Deed] = []

        def act(target: str, event: Event, what: str, key: str) -> None:
            at = min(fading.microseconds(event.recorded_at), self.now)
            acts.setdefault(target, []).append((at, event.clock, event.id, what, key))

        for event in ordered:
            kind = event.kind
            if kind == "lesson":
                lesson = self.lessons[event.id] = self._lesson(event)
                repeated = self._repeated(lesson) if "outcome" not in event.fields else ""
                if repeated:  # who only says that it happened again says that it went as before
                    lesson.direction = self.lessons[repeated].direction
                if self.counts(event):
                    for target in self._chain(self.lessons[event.id]):
                        act(target, event, life.USE, self.lessons[event.id].commit)
            elif kind == "use" and event.id not in taken_back and self.counts(event):
                for target in event.targets:
                    act(target, event, life.USE, use_key(event))
            elif kind == "gist" and event.id not in taken_back and self.counts(event):
                for target in event.targets:
                    if target in self.lessons and is_lawful(self.lessons[target].core, event):
                        gists[target] = event
            elif kind == "mark" and self.counts(event):
                for target in event.targets:
                    marks.setdefault(target, []).append(event)
            elif kind == "sleep":
                deed = _deed(event, self.standing(event).trust)
                if event.id in taken_back or not self.counts(event):
                    self.undone.add(deed.key)
                    undo = taken_back.get(event.id)
                    if undo is not None and deed.action == ENTER:
                        for target in deed.targets:
                            act(target, undo, life.LIFT, "")
                else:
                    self._deeds.append(deed)

        for lesson in self.lessons.values():
            if lesson.id in gists:
                lesson.gist = str(gists[lesson.id].fields["gist"])
            self._live(lesson, acts.pop(lesson.id, ()), marks.get(lesson.id, ()))
        self._uses = {target: max(found)[0] for target, found in acts.items()}

    def _taken_back(self, ordered: Sequence[Event]) -> dict[str, Event]:
        """Return which events are undone, each with its undo; an undo that is undone itself undoes nothing."""
        undone: dict[str, Event] = {}
        for event in reversed(ordered):
            if event.kind == "undo" and event.id not in undone and self.counts(event):
                for target in event.targets:
                    aim = self._events.get(target)
                    if aim is not None and aim.kind in UNDOABLE and _order(aim) < _order(event):
                        undone[target] = event
        return undone

    def standing(self, event: Event) -> Standing:
        found = self._standings.get(event.id)
        if found is None:
            found = self._standings[event.id] = self._ask(event)
        return found

    def marks_of(self, event_id: str) -> list[str]:
        """Return the marks that an event bears at the moment; none where the book doesn't know it."""
        event = self._events.get(event_id)
        return in_force(self.standing(event).marks, self.moment) if event is not None else []

    def counts(self, event: Event) -> bool:
        """Say whether an event has its effect; what is undone is another question."""
        standing = self.standing(event)
        return standing.applied and standing.trust != "retracted"

    def _lesson(self, event: Event) -> Lesson:
        fields: Mapping[str, object] = event.fields
        standing = self.standing(event)
        outcome = _integer(fields, "outcome")
        lesson = object.__new__(Lesson)
        lesson.id = event.id
        lesson.event = event
        lesson.order = _order(event)
        lesson.scope = event.scope
        lesson.core = lesson.gist = _text(fields, "core")
        lesson.topic = _text(fields, "topic")
        lesson.paths = _texts(fields, "paths")
        lesson.direction = (outcome > 0) - (outcome < 0)
        lesson.severity = _integer(fields, "severity")
        lesson.binding = _text(fields, "binding") or "note"
        lesson.cost = _integer(fields, "cost")
        lesson.trust = standing.trust
        lesson.marks = frozenset(in_force(standing.marks, self.moment))
        lesson.is_gone = bool(event.redacted) or not self.counts(event)
        lesson.commit = commit_key(event)
        lesson.said = {}
        return lesson

    def _chain(self, lesson: Lesson) -> list[str]:
        """Return the lessons that a recurrence repeats: what it targets, what that repeats, and so on."""
        found = []
        at = self._repeated(lesson)
        while at:
            found.append(at)
            at = self._repeated(self.lessons[at])
        return found

    def _live(self, lesson: Lesson, acts: Iterable[tuple[int, int, str, str, str]], marks: Sequence[Event]) -> None:
        born = min(fading.microseconds(lesson.event.recorded_at), self.now)
        sealed = life.stretches(marks, "seal", born, self._saw) if marks else ()
        pinned = life.stretches(marks, "pin", born, self._saw) if marks else ()
        lived = life.Life(self.policy, born, lesson.severity, lesson.binding, sealed, pinned)
        # Before its own statement nothing happened to it, so what says so happened then.
        for at, _, _, what, key in sorted((max(act[0], born), *act[1:]) for act in acts):
            lived.take(what, at, key)
        lesson.life = lived
        lesson.access = lesson.group_access = lived.access(self.now)
        lesson.band = lived.band(self.now)
        if "pin" in lesson.marks and lesson.band == LATENT:
            lesson.band = COLD
        lesson.half_life = lived.half_life
        lesson.uses = lived.uses
        lesson.touches = len(lived.touches)
        lesson.last = fading.time(lived.last)

    def _saw(self, event: Event, other: Event) -> bool:
        """Say whether `event` saw `other`, as far as the events of the book tell (F11)."""
        waiting, met = [event], {event.id}
        while waiting:
            at = waiting.pop()
            for name in (*at.after, *at.supersedes, *at.targets):
                if name == other.id:
                    return True
                there = self._events.get(name)
                if there is not None and name not in met and there.clock > other.clock:
                    met.add(name)
                    waiting.append(there)
        return False

    # --- what sleeps made of it --------------------------------------------------------------

    def after(self, outcomes: Iterable[Outcome]) -> Book:
        """Return the book in which these outcomes stand as well, after all that stand now."""
        twin = object.__new__(Book)
        twin.__dict__.update(self.__dict__)
        twin.lessons = {name: lesson._copy() for name, lesson in self.lessons.items()}
        first = len(self._deeds)
        twin._deeds = [
            *self._deeds,
            *(
                Deed(
                    f"outcome:{number}", (life.ALWAYS, f"{number:09}"), one.action, one.targets, one.becomes,
                    one.scope, self.policy.name, "proposed",
                )
                for number, one in enumerate(outcomes, first)
            ),
        ]  # fmt: skip
        twin._arrange()
        return twin

    def _arrange(self) -> None:
        lessons = self.lessons
        deeds = [deed for deed in self._deeds if deed.action in (ENTER, RETURN) or deed.key not in self.undone]
        absorbed: dict[str, list[str]] = {}
        for deed in deeds:
            if deed.action == ABSORB and len(deed.targets) == 2 and all(one in lessons for one in deed.targets):
                survivor, other = sorted(deed.targets, key=lambda one: lessons[one].order)
                if lessons[survivor].scope == lessons[other].scope:
                    absorbed.setdefault(other, []).append(survivor)
            elif deed.action in (ENTER, RETURN):
                for target in deed.targets:
                    if target in lessons:
                        lessons[target].said[deed.policy] = deed.action
        repeats: dict[str, list[str]] = {}
        tops: dict[str, str] = {}  # the highest that isn't hidden, of a lesson and all that it lies under
        # The earlier come first, so what a lesson lies under has its place before it.
        for lesson in sorted(lessons.values(), key=lambda one: one.order):
            repeated = self._repeated(lesson)
            above = [*([repeated] if repeated else ()), *absorbed.get(lesson.id, ())]
            # The first counts of those that are there to be seen, so nothing is left in the air under what is hidden.
            lesson.under = next((tops[one] for one in above if tops[one]), "")
            tops[lesson.id] = lesson.under or ("" if lesson.is_hidden else lesson.id)
            lesson.topic_key = _topic_key(lesson, *(lessons[one] for one in above[:1]), is_repeat=bool(repeated))
            if lesson.under and not lesson.is_hidden:
                repeats.setdefault(lesson.under, []).append(lesson.id)
        for lesson in lessons.values():
            lesson.repeats = tuple(repeats.get(lesson.id, ()))
            lesson.group_access = max(lesson.access, *(lessons[one].access for one in lesson.repeats), 0)
        self.rules, self.fallen = ladder.climbed(self, deeds)

    def _repeated(self, lesson: Lesson) -> str:
        """Return the lesson that a recurrence names, or ""."""
        for target in lesson.event.targets:
            other = self.lessons.get(target)
            if other is not None and other.order < lesson.order:
                return target
        return ""

    def used(self, rule_ids: Iterable[str]) -> int:
        """Return when one of these was last used, in microseconds; 0 for never."""
        return max((self._uses.get(one, 0) for one in rule_ids), default=0)

    def state(self) -> dict[str, object]:
        """Return all that time, use and sleep made of the lessons, as canonical JSON can spell it."""
        return {
            "fallen": [rule.state() for rule in self.fallen],
            "lessons": {name: self.lessons[name].state() for name in sorted(self.lessons)},
            "rules": [rule.state() for rule in self.rules],
        }


def state_hash(book: Book) -> str:
    """Return the SHA-256 (hex) of the canonical bytes of a book's state."""
    return digests.sha256(canonical.encode(book.state())).hexdigest()


# --- the small print ------------------------------------------------------------------------------


def _order(event: Event) -> tuple[int, str]:
    return (event.clock, event.id)


def _deed(event: Event, trust: str) -> Deed:
    becomes = event.fields.get("becomes")
    policy = _text(event.fields, "policy").partition("/")[0]
    return Deed(
        event.id, _order(event), event.action, event.targets, becomes if isinstance(becomes, dict) else {},
        event.scope, policy, trust,
    )  # fmt: skip


def commit_key(event: Event) -> str:
    """Return what makes a lesson distinct as evidence: the commit that it names or stood on, else its day."""
    for one in _texts(event.fields, "evidence"):
        if one.startswith("commit:"):
            return one.lower()
    base = event.fields.get("base")
    commit = base.get("commit") if isinstance(base, dict) else None
    return f"commit:{commit}" if isinstance(commit, str) and commit else f"day:{event.recorded_at[:10]}"


def use_key(event: Event) -> str:
    """Return what makes a use distinct: its commit, else its session, else its day."""
    commit, session = _text(event.fields, "commit"), _text(event.fields, "session_id")
    return f"commit:{commit}" if commit else f"session:{session}" if session else f"day:{event.recorded_at[:10]}"


def _topic_key(lesson: Lesson, above: Lesson | None = None, *, is_repeat: bool) -> str:
    """Return what a lesson is grouped by. A sleep that puts it under another takes no topic or place from it."""
    if lesson.topic:
        return letters.fold(" ".join(lesson.topic.split()))
    if above is not None and is_repeat:
        return above.topic_key
    return place_key(lesson.paths) or (above.topic_key if above is not None else lesson.id)


def place_key(paths: Sequence[str]) -> str:
    """Return the deepest file or folder that all paths lie in, without case, or "" where there is none."""
    places = [letters.fold(file_of(path) or path.partition(SYMBOL)[0]).split("/") for path in paths]
    if not places:
        return ""
    common = places[0]
    for place in places[1:]:
        shared = next((n for n, pair in enumerate(zip(common, place)) if pair[0] != pair[1]), None)
        common = common[: min(len(common), len(place)) if shared is None else shared]
    return f"path:{'/'.join(common)}" if common else ""


def is_lawful(core: str, event: Event) -> bool:
    """Say whether a gist says nothing that the core doesn't."""
    text = _text(event.fields, "gist")
    if not text or not core:
        return False
    from gitmem.core.lessons import gist

    return not gist.problem(core, text)


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _texts(fields: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = fields.get(name)
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, (list, tuple)) else ()


def _integer(fields: Mapping[str, object], name: str) -> int:
    value = fields.get(name)
    return value if type(value) is int else 0
