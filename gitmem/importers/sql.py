"""DDL and migration folders, as drafts: which tables and columns came, went and changed their names, when and why.

The files are read in the order of their names, which is the order of migrations. What came is `create` and `add`, what
went `delete` and `remove`, which refuses nothing: an old migration is no verdict on anything. Each event is as old as
the migration (by its name, else by the commit that added it), so it never re-opens what was rejected since (R8c).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gitmem.core import dates, ddl
from gitmem.core.drafts import Draft
from gitmem.importers import statements
from gitmem.importers.folder import Source
from gitmem.importers.pen import Pen, named

#: A statement is kept up to here.
DIFF_MAX = 4000
#: How the name of what takes a migration back ends; some tools give each migration a folder, with an `up` and a `down`.
_WAY_BACK = (".down", "_down", "-down", ".undo", ".rollback")
_WAYS_BACK = ("down", "undo", "rollback")
_STAMP = re.compile(r"^[vV]?((?:19|20)\d\d)[_-]?(\d\d)[_-]?(\d\d)[_T.-]?(?:(\d\d)_?(\d\d)_?(\d\d))?")


def fits(path: str) -> bool:
    """Say whether the file at `path` is read: SQL that goes forward."""
    stem, _, suffix = path.rpartition("/")[2].lower().rpartition(".")
    back = stem in _WAYS_BACK or stem.endswith(_WAY_BACK) or re.match(r"u\d", stem)
    return suffix in ("sql", "ddl", "psql", "pgsql") and not back


def read(files: Iterable[Source], pen: Pen, dialect: str = "") -> Iterator[Draft]:
    """Yield the drafts of SQL files. Raises MissingExtra where sqlglot isn't installed."""
    book = Book(pen)
    for source in files:
        yield from book.sql(source, ddl.without_way_back(source.text), dialect, time=source.at(stamp(source.name)))


def stamp(path: str) -> str:
    """Return the time that a migration's name begins with (`20190314_…`, `V2019_03_14_120000__…`), or an empty text.

    Else the one that its folder's begins with, where that is all there is of a name: `2019-03-14-120000_users/up.sql`.
    """
    folder, _, name = path.rpartition("/")
    found = _STAMP.match(name) or _STAMP.match(folder.rpartition("/")[2])
    if not found:
        return ""
    year, month, day, *clock = found.groups()
    hour, minute, second = (part or "00" for part in clock)
    try:
        return dates.instant(f"{year}-{month}-{day}T{hour}:{minute}:{second}Z")
    except dates.BadTime:
        return ""


def _comment(text: str) -> str:
    """Return a comment without the marks of migration tools."""
    for mark in (*ddl.WAY_FORWARD, *ddl.WAY_BACK):
        at = text.lower().find(mark)
        if at >= 0:
            text = text[:at] + text[at + len(mark) :]
    return text.strip(" -#")


class Book:
    """Writes what migrations do, of whatever kind they are; knows what it has seen of indexes."""

    def __init__(self, pen: Pen) -> None:
        self._pen = pen
        self._tables: dict[str, str] = {}  # of indexes, for dialects that drop one by its name alone
        self._counts: dict[tuple[str, str, str], int] = {}

    def sql(self, source: Source, text: str, dialect: str, *, time: str, why: str = "") -> Iterator[Draft]:
        """Yield what the SQL `text` of `source` does; `why` stands where a statement has no comment before it."""
        tally = self._pen.tally
        found = statements.statements(text, dialect)
        if found is None:
            tally.skip("files whose quotes don't close", source.name)
            return
        for statement in found:
            tally.saw("statements")
            where = f"{source.name}:{statement.line}"
            if statement.acts is None:
                tally.skip("statements that define something and can't be read", where)
                continue
            for act in statement.acts:
                yield from self.act(source, act, where, time, _comment(statement.comment) or why, statement.text)

    def act(
        self, source: Source, act: statements.Act, where: str, time: str, why: str, text: str = ""
    ) -> Iterator[Draft]:
        """Yield the change that `act` is; `time` is when, `why` in whose words, `text` what was written."""
        name, former = act.name, act.renamed_from
        if act.kind == "index":
            table, _, index = name.rpartition(".")
            old = former.rpartition(".")[2]
            table = table or self._tables.get(old or index, "")
            if not table:
                self._pen.tally.skip("indexes that are dropped or renamed, on a table that isn't known", where)
                return
            self._tables[index] = table
            name, former = f"{table}.{index}", f"{table}.{old}" if old else ""
        key = (source.origin, act.change, name.lower())
        count = self._counts[key] = self._counts.get(key, 0) + 1
        fields: dict[str, object] = {
            "entity_path": name,
            "entity_type": act.kind,
            "change_type": act.change,
            "reasoning": why.strip() or f"{_SAYS[act.change]} in {source.name}, which says no more.",
            "valid_from": time,
            "evidence": [f"file:{where}", *([f"commit:{source.commit}"] if source.commit else [])],
        }
        if text:
            fields["diff"] = text[:DIFF_MAX]
        if former:
            fields["renamed_from"] = former
        yield from self._pen.change(
            f"sql:{named(source.origin)}:{act.change}:{named(name.lower())}:{count}", where, fields
        )


_SAYS = {
    "create": "Created",
    "add": "Added",
    "delete": "Dropped",
    "remove": "Dropped",
    "rename": "Renamed",
    "retype": "Given another type",
    "modify": "Altered",
    "index_add": "Indexed",
    "index_remove": "No longer indexed",
}
