"""Many events at once: an importer's drafts, appended in commits of a thousand.

Only drafts with a `source` come this way. History is never refused for a verdict (G4), so of the state a draft
needs the heads of its lineage, and a closing needs which openings it closes. Lineages are loaded once, carried along
in memory from commit to commit, and judged only where a closing asks; the cache takes many commits in at once.
Another writer's append in between makes it start again from the cache.
"""

from __future__ import annotations

import marshal
import time
from collections.abc import Callable, Iterable, Iterator

from gitmem.core import dates, rules
from gitmem.core.drafts import Draft, Stamp, Writer
from gitmem.core.events import STRUCTURAL, Event
from gitmem.core.lineages import entity_key
from gitmem.core.verdicts import Judgement, judge
from gitmem.errors import GitmemError, Refused, RuleViolation, Writing
from gitmem.store.batch import facts_of
from gitmem.store.cache import Cache
from gitmem.store.collector import Seldom
from gitmem.store.log import Log, TipMoved
from gitmem.store.readmodel import ReadModel
from gitmem.store.repository import Repository
from gitmem.store.writing import Appender, Tries

#: So many events of lineages are carried along, about a kilobyte each; then the cache takes in what was appended, and
#: lineages are loaded again when asked for. It judges each lineage anew then, so the fewer times, the better.
CARRIED_MAX = 100_000

#: How a draft names an event that it supersedes by its source: an importer can't know ids.
NAMED = "source:"

Progress = Callable[[str, int, int], None]
Left = Callable[[Draft, GitmemError], None]


class Bulk:
    """Appends drafts with a source, at most `size` events a commit, for `writer`; each commit is a `turn`."""

    def __init__(
        self,
        model: ReadModel,
        open_log: Callable[[], Log],
        writer: Writer,
        size: int,
        nonces: Iterator[str],
        turn: Callable[[Repository], Tries] = Tries,
    ) -> None:
        self._model = model
        self._open_log = open_log
        self._writer = writer
        self._size = size
        self._nonces = nonces
        self._turn = turn
        self._appender = Appender(model, open_log)
        self._state: _State | None = None
        self._tip = ""
        self._clock = 0
        # What was appended and is not yet in the cache, an entry each, as `marshal` writes its facts: a third of the
        # memory that the events take; and the tip that the cache stands for.
        self._waiting: list[bytes] = []
        self._below = ""
        self._refused: Left | None = None
        self._left: list[tuple[Draft, GitmemError]] = []  # of the chunk that is being decided

    def append(self, drafts: Iterable[Draft], progress: Progress | None = None, refused: Left | None = None) -> int:
        """Append `drafts` but for those whose source the log knows; return how many events were appended.

        `refused` is told of each draft that the rules refuse, once, and the rest goes on; without it the first
        of them ends the import: what raises is its RuleViolation or Refused.
        """
        self._refused = refused
        self._appender.begin()
        done = 0
        with Seldom():
            for part in self._chunks(drafts):
                done += self._append(part)
                if progress is not None:
                    progress("appending", done, 0)
            self._settle()
        return done

    def _chunks(self, drafts: Iterable[Draft]) -> Iterator[list[Draft]]:
        part: list[Draft] = []
        for draft in drafts:
            part.append(draft)
            # A rename joins lineages, which the cache works out; what follows it starts a new chunk.
            if len(part) >= self._size or _is_rename(draft):
                yield part
                part = []
        if part:
            yield part

    def _append(self, drafts: list[Draft]) -> int:
        with self._turn(self._model.repository) as tries:
            while True:
                tries.begin()
                state = self._standing()
                decided = self._decide(state, drafts)
                if not decided:
                    self._tell()
                    return 0
                entry, stored = self._appender.render(decided, self._tip)
                try:
                    self._open_log().publish_many(stored, entry.oid, self._tip, "import")
                except TipMoved:
                    self._state = None  # it took in what was not appended
                    continue
                Writing.events += len(decided)
                self._tell()
                if not self._waiting:
                    self._below = self._tip
                self._waiting.append(marshal.dumps(facts_of(entry)))
                self._tip, self._clock = entry.oid, entry.clock
                if _is_rename(drafts[-1]) or state.events >= CARRIED_MAX:
                    self._settle()
                    self._state = None
                return len(decided)

    def _tell(self) -> None:
        """Say what of this chunk was refused, once it is certain."""
        for draft, error in self._left:
            if self._refused is not None:
                self._refused(draft, error)

    def _standing(self) -> _State:
        """Return what stands at the tip: what this import carries in memory, or the cache's where others were here."""
        if self._state is None or self._open_log().tip() != self._tip:
            self._settle()
            cache = self._model.current()
            self._state, self._tip, self._clock = _State(cache), cache.tip, cache.clock
        return self._state

    def _settle(self) -> None:
        """Give the cache what was appended since it was asked last: a lineage is judged once for many events."""
        if self._waiting:
            self._model.take_in(map(marshal.loads, self._waiting), self._below, self._tip)
        self._waiting = []

    def _decide(self, state: _State, drafts: list[Draft]) -> list[tuple[Event, bytes]]:
        now = dates.of_seconds(time.time())
        clock = self._clock
        out: list[tuple[Event, bytes]] = []
        self._left = []
        for draft in drafts:
            if state.knows(str(draft.fields.get("source", ""))):
                continue
            draft = state.named(draft)
            lineage = state.lineage(draft)
            stamp = Stamp(clock, now, self._nonces)
            try:
                # A lineage answers what a judgement does, and its heads without judging.
                decided = rules.decide(lineage, draft, self._writer, stamp)  # type: ignore[arg-type]
            except (RuleViolation, Refused) as error:
                if self._refused is None:
                    raise
                self._left.append((draft, error))
                continue
            for event, body in decided.appends:
                clock = max(clock, event.clock)
                out.append((event, body))
                lineage.take(_light(event))
                state.took(event)
        return out


def _light(event: Event) -> Event:
    """Return the event without its texts: all that verdicts are made of, and little to carry along."""
    return Event(event.id, {name: event.fields[name] for name in STRUCTURAL if name in event.fields})


def _is_rename(draft: Draft) -> bool:
    return draft.fields.get("change_type") == "rename"


class _Lineage:
    """The events of one lineage on their way; judged when more than its heads is asked for."""

    def __init__(self, cache: Cache, events: list[Event]) -> None:
        self._cache = cache
        self._events = events
        self._judgement: Judgement | None = None
        # What no event of the lineage refers to. A head of `Judgement.heads` is never missing; one that was seen by
        # way of an event outside may be here too, which says nothing new to who names it in `after`.
        self._heads = {event.id for event in events if event.kind != "link"}
        for event in events:
            self._heads.difference_update(event.after, event.supersedes, event.targets)

    def take(self, event: Event) -> None:
        self._events.append(event)
        self._judgement = None
        self._heads = {event.id}

    def heads(self, scope: str, names: Iterable[str] = (), ids: Iterable[str] = ()) -> list[str]:
        """See `Judgement.heads`."""
        return self._judged().heads(scope, names, ids) if tuple(ids) else sorted(self._heads)

    def _judged(self) -> Judgement:
        if self._judgement is None:
            self._judgement = judge(self._events, self._cache.outside)
        return self._judgement

    def __getattr__(self, name: str) -> object:
        return getattr(self._judged(), name)


class _State:
    """The lineages that a chunk touches, this chunk's events included."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._lineages: dict[tuple[str, str], _Lineage] = {}
        self._sources: set[str] = set()
        self._ids: dict[str, str] = {}
        self.events = 0

    def took(self, event: Event) -> None:
        """Count an event of this chunk, and know its source by its id."""
        self.events += 1
        if event.source:
            self._ids[event.source] = event.id

    def named(self, draft: Draft) -> Draft:
        """Return `draft` with ids in place of the sources (`source:…`) that it supersedes; unknown ones go."""
        given = draft.fields.get("supersedes")
        if not isinstance(given, list):
            return draft
        found = [self._id(str(name).removeprefix(NAMED)) if str(name).startswith(NAMED) else name for name in given]
        return draft.with_fields({**draft.fields, "supersedes": [event_id for event_id in found if event_id]})

    def _id(self, source: str) -> str:
        return self._ids.get(source) or self._cache.id_of_source(source)

    def knows(self, source: str) -> bool:
        """Say whether the log or this chunk has an event of `source`; from now on it has."""
        if source in self._sources:
            return True
        self._sources.add(source)
        return self._cache.has_source(source)

    def lineage(self, draft: Draft) -> _Lineage:
        scope = str(draft.fields.get("scope", ""))
        names = [str(draft.fields[name]) for name in ("entity_path", "renamed_from") if draft.fields.get(name)]
        keys = [(scope, entity_key(name)) for name in names]
        found = self._lineages.get(keys[0]) if len(keys) == 1 else None
        if found is None:
            events: dict[str, Event] = {}
            for key in keys:
                if key in self._lineages:
                    events.update((event.id, event) for event in self._lineages[key]._events)
            for event in self._cache.component_events(self._cache.components_of(keys)):
                events.setdefault(event.id, event)
            self.events += len(events)
            found = _Lineage(self._cache, [event if event.redacted else _light(event) for event in events.values()])
            for key in keys:
                self._lineages[key] = found
            for event in events.values():
                if event.entity_path:
                    self._lineages[event.scope, entity_key(event.entity_path)] = found
        return found
