"""The one way to append. Every front end, importer, hook and join goes through `Appender`.

decide, write the objects, move the ref from the tip that decide saw, by compare-and-swap. On a lost race
decide is asked **again**, with the state that the winner left: what was allowed a moment ago may be refused
now. Bounded, with jitter; then `LogBusy`, and nothing was written.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

from gitmem.core import objects
from gitmem.core.events import Event
from gitmem.core.history import Entry
from gitmem.errors import LogBusy, NoLog, Writing
from gitmem.store.cache import Cache
from gitmem.store.lock import Lock
from gitmem.store.log import Log, TipMoved
from gitmem.store.readmodel import ReadModel
from gitmem.store.repository import Repository

#: With the advisory lock one try is enough; without one, eight writers needed 4-7 (measured).
TRIES_MAX = 40
#: The first and the longest pause between two tries, here and against a remote.
PAUSES_S, FAR_PAUSES_S = (0.002, 0.05), (0.01, 1.5)

Decided = Sequence[tuple[Event, bytes]]
#: Gives the signatures of events, by their ids.
Sign = Callable[[Decided], dict[str, bytes]]


class Tries(Lock):
    """`with Tries(repository) as tries:` is a writer's turn, and the tries that it has: `tries.begin()` before each.

    A try whose append lost against another writer is followed by the next one, which decides again.
    """

    __slots__ = ("_begun",)

    def __init__(self, repository: Repository) -> None:
        super().__init__(repository)
        self._begun = 0

    def begin(self) -> None:
        """Begin a try, after a pause where the one before was lost. Raises LogBusy where there were enough."""
        if self._begun >= TRIES_MAX:
            held = "" if self.held else f" Another process holds {self.path}."
            raise LogBusy(attempts=TRIES_MAX, lock=held)
        if self._begun:
            pause(self._begun)
        self._begun += 1


def pause(lost: int, *, far: bool = False) -> None:
    """Wait before the next try, after `lost` of them: longer each time, and each process another while."""
    first_s, longest_s = FAR_PAUSES_S if far else PAUSES_S
    time.sleep(os.urandom(1)[0] / 256 * min(longest_s, first_s * 2**lost))


class Appender:
    """Appends to the log of one repository and keeps its cache in step."""

    def __init__(self, model: ReadModel, open_log: Callable[[], Log]) -> None:
        self.model = model
        self.form = model.repository.form
        self._open_log = open_log

    def append(self, decide: Callable[[Cache], Decided], sign: Sign | None = None) -> Entry | None:
        """Append what `decide` makes of the log as it is, as one commit; None where it makes nothing.

        Whatever `decide` or `sign` raises passes through, and nothing was written. Raises LogBusy, GitFailed.
        """
        with Tries(self.model.repository) as tries:
            while True:
                tries.begin()
                cache, tip = self._state()
                decided = decide(cache)
                if not decided:
                    return None
                entry, stored = self.render(decided, tip, sign(decided) if sign else None)
                try:
                    self._publish(stored, entry, tip)
                except TipMoved:
                    continue
                Writing.events += len(decided)
                if tip is not None:
                    self.model.applied([entry])
                return entry

    def begin(self) -> bool:
        """Make sure that there is a log: append the root where there is none. Returns whether it did."""
        if self._open_log().tip() is not None:
            return False
        with Lock(self.model.repository):
            log = self._open_log()
            if log.tip() is not None:
                return False
            try:
                log.publish([("tree", b""), ("commit", self.form.root_data)], self.form.root, None, "root")
            except TipMoved:
                return False
        return True

    def _state(self) -> tuple[Cache, str | None]:
        try:
            cache = self.model.current()
        except NoLog:
            return Cache.in_memory(), None
        return cache, cache.tip

    def render(
        self, decided: Decided, tip: str | None, signatures: dict[str, bytes] | None = None
    ) -> tuple[Entry, list[tuple[str, bytes]]]:
        """Return the entry that holds `decided`, signed, on top of `tip`, and the objects that store it."""
        form = self.form
        stored: list[tuple[str, bytes]] = []
        parent = tip
        if parent is None:
            stored += [("tree", b""), ("commit", form.root_data)]
            parent = form.root
        named = []
        for event, body in decided:
            stored.append(("blob", body))
            named.append((event.id + objects.EVENT_SUFFIX, form.oid("blob", body)))
        for event_id, signature in (signatures or {}).items():
            stored.append(("blob", signature))
            named.append((event_id + objects.SIGNATURE_SUFFIX, form.oid("blob", signature)))
        tree = objects.tree(named)
        tree_oid = form.oid("tree", tree)
        events = [event for event, _ in decided]
        commit = objects.event_commit(tree_oid, parent, events)
        oid = form.oid("commit", commit)
        stored += [("tree", tree), ("commit", commit)]
        ordered = sorted(decided, key=lambda item: objects.order(item[0]))
        first = ordered[0][0]
        clock = max(event.clock for event in events)
        return Entry(oid, (parent,), clock, objects.seconds(first.recorded_at), ordered, signatures), stored

    def _publish(self, stored: list[tuple[str, bytes]], entry: Entry, tip: str | None) -> None:
        log = self._open_log()
        if len(entry.events) > BULK_FROM:
            log.publish_many(stored, entry.oid, tip, "append")
        else:
            log.publish(stored, entry.oid, tip, "append")


#: From so many events on, the objects of a commit are stored as a pack.
BULK_FROM = 30
