"""Tables, columns and indexes in SQL: in files of it, and in the strings of code that run it."""

from __future__ import annotations

from gitmem.core.entering import names
from gitmem.core.entering.found import Found
from gitmem.core.entering.source import Source

#: What a string of SQL begins with. A sentence about a table (`could not alter table t`) doesn't.
_FIRST = frozenset(
    "create alter do begin rename exec execute set if use start drop insert update with pragma truncate lock".split()
)
_WORDS = ("table", "index", "sp_rename", "TABLE", "INDEX", "SP_RENAME", "Table", "Index")


def read(path: str, text: str, found: Found) -> None:
    from gitmem.core import ddl

    if ddl.is_sql(path):
        read_text(text, 0, found)


def read_text(text: str, start: int, found: Found) -> None:
    """Take in what the SQL `text`, which stands at `start`, creates, adds, renames and indexes."""
    from gitmem.core import ddl  # here: most code has no SQL in its strings

    for statement in ddl.statements(text):
        act, table, column, at, table_at = statement
        if act == ddl.TAKES:
            continue
        tables = names.table(table)
        at, table_at = at + start, table_at + start
        if act == ddl.INDEXES:
            found.add([f"{one}.{column}" for one in tables] + [column], "index", at, _word(column), table_at)
        elif column:
            found.add([f"{one}.{column}" for one in tables], "column", at, _word(column), table_at)
        else:
            found.add(tables, "table", at, _word(table.rpartition(".")[2]), table_at)


def read_strings(source: Source, found: Found) -> None:
    """Take in the SQL in the strings of code."""
    text = source.text
    if not any(word in text for word in _WORDS):
        return
    for start, end, _ in source.strings.values():
        if end - start < 12:
            continue
        said = text[start:end]
        if any(word in said for word in _WORDS) and _first_word(said) in _FIRST:
            read_text(said, start, found)


def _first_word(said: str) -> str:
    """Return the first word of SQL after its comments, in lower case."""
    at = 0
    while at < len(said):
        if said[at] in " \t\r\n":
            at += 1
        elif said.startswith("--", at):
            cut = said.find("\n", at)
            at = len(said) if cut < 0 else cut + 1
        elif said.startswith("/*", at):
            cut = said.find("*/", at)
            at = len(said) if cut < 0 else cut + 2
        elif said.startswith(("\\n", "\\t"), at):
            at += 2
        else:
            break
    stop = at
    while stop < len(said) and stop - at < 12 and said[stop].isalpha():
        stop += 1
    return said[at:stop].lower()


def _word(name: str) -> str:
    # A quote in a name is doubled in the text.
    return name if name.replace("_", "a").isalnum() else ""
