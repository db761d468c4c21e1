"""A rehearsal: an import that is decided event by event as the real one is, and of which nothing is written.

`bulk.Bulk` runs as it always does, over a read model whose log nobody else sees: its tip moves in this process only,
and what the cache takes in goes into a private copy, which SQLite keeps in memory, or in a file without a name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType

from gitmem.errors import NoLog
from gitmem.store.cache import Cache
from gitmem.store.log import Condition, Stored, TipMoved
from gitmem.store.readmodel import ReadModel
from gitmem.store.repository import Repository
from gitmem.store.writing import Tries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from gitmem.store.batch import Facts


class Turn(Tries):
    """The turn of a writer that writes nothing: it waits for nobody, and keeps nobody waiting."""

    __slots__ = ()

    def __init__(self, repository: Repository) -> None:
        super().__init__(repository)
        self.held = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Rehearsal(ReadModel):
    """The read model of `model`'s repository as it would become."""

    def __init__(self, model: ReadModel) -> None:
        super().__init__(model.repository, self.log)
        try:
            cache = model.current()
            db = sqlite3.connect("", isolation_level=None)
            cache.db.backup(db)
            self._copy = Cache(db, None)
        except NoLog:
            self._copy = Cache.in_memory()
            self._copy.apply((), model.repository.form.root)
        self._log = _Unwritten(self._copy.tip)
        self._more: list[tuple[Iterable[Facts], str]] = []

    def log(self) -> _Unwritten:
        return self._log

    def current(self) -> Cache:
        """Return the copy, with what was appended so far: asked for seldom, so it is taken in only here."""
        for facts, tip in self._more:
            self._copy.db.execute("BEGIN")
            self._copy.apply(facts, tip)
            self._copy.db.execute("COMMIT")
        self._more = []
        return self._copy

    def take_in(self, facts: Iterable[Facts], below: str, tip: str) -> None:
        self._more.append((facts, tip))

    def close(self) -> None:
        self._copy.close()


class _Unwritten:
    """The log of a rehearsal: a tip, and nothing below it that could be read."""

    def __init__(self, tip: str) -> None:
        self._tip = tip

    def tip(self) -> str:
        return self._tip

    def publish(self, objects: Sequence[tuple[str, bytes]], new: str, old: str | None, message: str) -> None:
        if old != self._tip:
            raise TipMoved(self._tip)
        self._tip = new

    publish_many = publish

    def walk(self, tip: str, known: Iterable[str] = ()) -> Iterator[Stored]:
        raise NotImplementedError

    def contains(self, descendant: str, ancestor: str) -> bool:
        raise NotImplementedError

    def condition(self) -> Condition:
        return Condition()
