"""A second opinion on SQL files, by a real parser (sqlglot, the extra `import`): for the gate where time allows.

The hook reads SQL with the tokenizer in `core/ddl`. `gate --staged` and `gate --range` have seconds, so they also ask
a parser that knows each dialect's grammar (`statements`, as the importers do). It only ever adds names: what it can't
parse, the tokenizer has read. Without the extra, nothing is added.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from gitmem.core import ddl, entering, entities
from gitmem.core.entering.found import Found
from gitmem.core.entering.source import line_starts
from gitmem.importers import statements

#: A longer text is left to the tokenizer: the parser takes a second for so much.
TEXT_MAX = 300_000
#: What brings a name in. A new type doesn't: the column was there.
_COMES = frozenset(("create", "add", "index_add", "rename"))

#: The names of a thing, its kind, where it stands, where its statement begins.
Seen = tuple[list[str], str, int, int]


def is_available() -> bool:
    """Say whether the parser is installed."""
    return find_spec("sqlglot") is not None


def found(path: str, before: str | None, after: str | None) -> list[entering.Entering]:
    """Return what the edit brings in, as `entering.found` does, and what the parser sees besides, by line."""
    told = entering.found(path, before, after)
    if after is None or after == before or not ddl.is_sql(path) or not is_available():
        return told
    old, text = (before or "")[:TEXT_MAX], after[:TEXT_MAX]
    known = {one.name.lower() for one in told}
    known |= {one.name.lower() for one in entering.found(path, "", old)}
    known |= {name.lower() for names, *_ in seen(old) for name in names}
    more = Found(old, text)
    for names, kind, at, statement_at in seen(text):
        more.add(names, kind, at, "", statement_at)
    for one in more.candidates():
        for name in one.names:
            if name.lower() not in known and entities.is_spelt(name):
                known.add(name.lower())
                told.append(entering.Entering(name, one.entity_type, more.line(one.at)))
    told.sort(key=lambda one: one.line)
    return told


def seen(text: str) -> Iterator[Seen]:
    """Yield what the parser sees created, added, indexed or renamed; of a statement that it can't read, nothing."""
    starts = line_starts(text)
    for statement in statements.statements(ddl.without_way_back(text)) or ():
        begin = starts[min(statement.line, len(starts)) - 1]
        for act in statement.acts or ():
            if act.change in _COMES:
                last = act.name.rpartition(".")[2]
                names = [act.name, last] if act.kind == "index" else [act.name]
                yield names, act.kind, max(text.find(last, begin), begin), begin
