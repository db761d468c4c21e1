"""Joins: two histories of one log become one, the same commit in every clone that joins the same tips.

A join carries no event and decides nothing: state is a function of the set of events. What comes from elsewhere
is verified before it is joined; a structurally broken log never is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from gitmem.core import objects
from gitmem.core.events import Event
from gitmem.core.history import Checker
from gitmem.errors import BrokenHistory, NoLog
from gitmem.store.cache import Cache
from gitmem.store.components import event_of
from gitmem.store.log import Log, Stored, TipMoved
from gitmem.store.readmodel import ReadModel
from gitmem.store.upkeep import brought_back, refusal
from gitmem.store.writing import Tries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.batch import Facts
    from gitmem.store.plumbing_log import PlumbingLog

#: How many events of what came are remembered; the rest is counted.
FOUND_MAX = 1_000


class Rewritten(Exception):
    """What is to be joined had something taken out, or brings it back: it has to be adopted (see `adoption`)."""


class Joined:
    """What a join brought.

    tip, old_tip     of our log, now and before ("" for none)
    commits, events  how many came
    found            the events that came, the last of them, at most `FOUND_MAX`
    linked           the code commits that links among them are about
    is_join          whether a commit of two parents was made
    """

    __slots__ = ("commits", "events", "found", "is_join", "linked", "old_tip", "tip")

    def __init__(self, tip: str, old_tip: str) -> None:
        self.tip = tip
        self.old_tip = old_tip
        self.commits = 0
        self.events = 0
        self.found: list[Event] = []
        self.linked: set[str] = set()
        self.is_join = False


def check_end(end: str, last: str) -> None:
    """Hold the end of a log to the last commit of its walk: git walks through a tag as if it were what it names."""
    if last != end:
        raise BrokenHistory(place=end[:12], what="its ref names a tag or something else; a log ends in a commit of it")


def join(model: ReadModel, log: Log, other: str) -> str:
    """Bring the log that ends in `other` into ours; return the tip that holds both.

    `other` is the oid of a log commit whose objects are here. Equal or older: nothing happens. Newer: our ref
    moves to it. Else a join is appended. Raises BrokenHistory or Incomplete where either can't be read.
    """
    with Tries(model.repository) as tries:
        while True:
            tries.begin()
            tip = log.tip()
            try:
                return onto(model, log, other, tip).tip
            except TipMoved:
                continue


def onto(
    model: ReadModel,
    log: Log,
    other: str,
    tip: str | None,
    *,
    reader: PlumbingLog | None = None,
    keep: Callable[[Joined], None] = lambda joined: None,
    watch: Callable[[Cache | None, Stored], bool] = lambda cache, stored: False,
    dry_run: bool = False,
) -> Joined:
    """Try once to bring `other` into the log that ends in `tip`. Raises TipMoved, BrokenHistory, Incomplete.

    reader   reads what `other` reaches, where that is not in our store yet; if we have no log, the cache of it is built
             while it is verified
    keep     takes it into our store, once it is verified and before the log moves
    watch    says of a commit that it can't simply be joined; raises Rewritten then
    """
    if tip is None and reader is not None and not dry_run:
        done = _first(model, log, other, reader, keep)
        if done is not None:
            return done
    return _onto(model, log, other, tip, reader or log, keep, watch, dry_run=dry_run)


def _first(
    model: ReadModel, log: Log, other: str, reader: PlumbingLog, keep: Callable[[Joined], None]
) -> Joined | None:
    """Bring in a log where there is none yet, reading it once, to verify it and to cache it.

    None: no cache can be kept here.
    """
    from gitmem.store.upkeep import Upkeep

    done = Joined(other, "")
    found: list[tuple[str, bytes, str]] = []
    last = ""

    def see(facts: Facts) -> None:
        nonlocal last
        last = facts[0]
        done.commits += 1
        done.events += len(facts[4])
        for fact in facts[4]:
            found.append((fact[0], fact[5], fact[3]))
            link = fact[11]
            if link is not None:
                done.linked.add(link[0] or "")
        if len(found) > 2 * FOUND_MAX:
            del found[:-FOUND_MAX]

    upkeep = Upkeep(model)
    try:
        cache, findings = upkeep.ahead_of(reader, other, see)
    except (sqlite3.OperationalError, OSError):
        return None
    try:
        check_end(other, last)
        if brought_back(findings):
            raise Rewritten
        done.found = [event_of(*one) for one in found[-FOUND_MAX:]]
        keep(done)
        log.publish([], other, None, "join")
    except BaseException:
        upkeep.drop(cache)
        raise
    upkeep.settle(cache, findings)
    return done


def _onto(
    model: ReadModel,
    log: Log,
    other: str,
    tip: str | None,
    reader: Log,
    keep: Callable[[Joined], None],
    watch: Callable[[Cache | None, Stored], bool],
    *,
    dry_run: bool,
) -> Joined:
    form = model.repository.form
    done = Joined(tip or "", tip or "")
    if tip is not None and log.contains(tip, other):
        return done
    cache: Cache | None = None
    checker = Checker(form)
    if tip is not None:
        try:
            cache = model.current()
            checker = cache.checker(form)
        except NoLog:
            raise TipMoved(None) from None
        if cache.tip != tip:
            raise TipMoved(cache.tip)
    time = 0
    last = ""
    for stored in reader.walk(other, [tip] if tip else []):
        entry = checker.add(stored.oid, stored.commit, stored.tree, stored.files, stored.damaged)
        if entry is None:
            raise refusal(checker.findings[-1], shallow=reader.condition().shallow)
        if watch(cache, stored):
            raise Rewritten
        time = entry.time
        last = stored.oid
        done.commits += 1
        done.events += len(entry.events)
        done.found += [event for event, _ in entry.events]
        if len(done.found) > 2 * FOUND_MAX:
            del done.found[:-FOUND_MAX]
        for event, _ in entry.events:
            if event.kind == "link":
                done.linked.add(str(event.fields.get("commit", "")))
    check_end(other, last)
    checker.finish()
    if reader is not log and brought_back(checker.findings):
        raise Rewritten
    del done.found[:-FOUND_MAX]
    stored_: list[tuple[str, bytes]] = []
    done.tip = other
    if tip is not None and cache is not None and not reader.contains(other, tip):
        commit = objects.join_commit(form, [(tip, cache.clock_and_time()[1]), (other, time)])
        done.tip = form.oid("commit", commit)
        done.is_join = True
        stored_ = [("tree", b""), ("commit", commit)]
    if not dry_run:
        keep(done)
        log.publish(stored_, done.tip, tip, "join")
    return done
