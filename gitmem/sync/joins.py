"""Joins: two histories of one log become one, the same commit in every clone that joins the same tips.

A join carries no event and decides nothing: state is a function of the set of events. What comes from elsewhere
is verified before it is joined; a structurally broken log never is.
"""

from __future__ import annotations

from gitmem.core import objects
from gitmem.core.history import Entry
from gitmem.errors import LogBusy, NoLog
from gitmem.store.lock import Lock
from gitmem.store.log import Log, TipMoved
from gitmem.store.readmodel import ReadModel
from gitmem.store.upkeep import checked
from gitmem.store.writing import TRIES_MAX


def join(model: ReadModel, log: Log, other: str) -> str:
    """Bring the log that ends in `other` into ours; return the tip that holds both.

    `other` is the oid of a log commit whose objects are here. Equal or older: nothing happens. Newer: our ref
    moves to it. Else a join is appended. Raises BrokenHistory or Incomplete where either can't be read.
    """
    form = model.repository.form
    with Lock(model.repository):
        for _ in range(TRIES_MAX):
            tip = log.tip()
            if tip is not None and log.contains(tip, other):
                return tip
            try:
                cache = model.current()
                checker = cache.checker(form)
            except NoLog:
                cache, checker = None, None
            theirs = _entry(log, other, [tip] if tip else [], checker, form)
            stored: list[tuple[str, bytes]] = []
            new = other
            if tip is not None and cache is not None and not log.contains(other, tip):
                commit = objects.join_commit(form, [(tip, cache.clock_and_time()[1]), (other, theirs.time)])
                new = form.oid("commit", commit)
                stored = [("tree", b""), ("commit", commit)]
            try:
                log.publish(stored, new, tip, "join")
            except TipMoved:
                continue
            return new
    raise LogBusy(attempts=TRIES_MAX)


def _entry(log: Log, other: str, known: list[str], checker: object, form: objects.ObjectFormat) -> Entry:
    from gitmem.core.history import Checker

    found: Entry | None = None
    for entry in checked(log, other, known, checker if isinstance(checker, Checker) else Checker(form)):
        if entry.oid == other:
            found = entry
    assert found is not None  # `other` is walked, or `checked` raised
    return found
