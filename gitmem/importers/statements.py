"""What SQL statements do to tables and columns, read by sqlglot in several dialects.

One statement can do many things; each is an `Act`. A statement that looks like a definition and can't be read is
counted by whoever asks; one that defines nothing (INSERT, GRANT, a view) has no acts.
"""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Iterator, Sequence

from gitmem.errors import MissingExtra, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Tried in this order where none is given.
DIALECTS = ("postgres", "mysql", "sqlite", "tsql", "oracle")
_DEFINES = ("CREATE", "ALTER", "DROP", "RENAME", "EXEC", "EXECUTE")


class Act:
    """One thing that a statement does.

    change        a change type
    name          `table` or `table.column`, as written, without a schema
    kind          table, column or index
    renamed_from  the name it had
    """

    __slots__ = ("change", "kind", "name", "renamed_from")

    def __init__(self, change: str, name: str, kind: str, renamed_from: str = "") -> None:
        self.change = change
        self.name = name
        self.kind = kind
        self.renamed_from = renamed_from

    def __repr__(self) -> str:
        return f"Act({self.change} {self.kind} {self.name}{f' from {self.renamed_from}' if self.renamed_from else ''})"


class Statement:
    """A statement as written, the comment before it, its line, and what it does (None: it can't be read)."""

    __slots__ = ("acts", "comment", "line", "text")

    def __init__(self, text: str, comment: str, line: int, acts: list[Act] | None) -> None:
        self.text = text
        self.comment = comment
        self.line = line
        self.acts = acts


def statements(text: str, dialect: str = "") -> Iterator[Statement] | None:
    """Return the statements of `text`, or None where its quotes don't even close. Raises MissingExtra.

    `dialect` is one of sqlglot's names; without it the usual ones are tried.
    """
    sqlglot = _sqlglot()
    dialects = (dialect,) if dialect else _likely(text)
    for one in dialects:
        try:
            tokens = sqlglot.tokenize(_plain(text), read=one)
        except sqlglot.errors.TokenError:
            continue
        return _split(_plain(text), tokens, dialects)
    return None


def dialect_of(dialect: str) -> str:
    """Return a dialect as the parser spells it. Raises Refused where it knows none such, MissingExtra without it."""
    sqlglot = _sqlglot()
    known = sorted(one.value for one in sqlglot.dialects.Dialects if one.value)
    spelt = {"postgresql": "postgres", "mssql": "tsql", "sqlserver": "tsql"}.get(dialect.lower(), dialect.lower())
    if spelt in known:
        return spelt
    nearest = difflib.get_close_matches(spelt, known, n=1, cutoff=0.5)
    raise Refused(
        field="--dialect",
        what=f"{dialect[:80]!r} is no dialect of SQL",
        hint=f"did you mean `{nearest[0]}`?" if nearest else f"it knows {', '.join(known)}.",
    )


def _sqlglot() -> Any:
    try:
        import sqlglot
    except ModuleNotFoundError as error:
        if error.name != "sqlglot":
            raise
        raise MissingExtra(what="reading SQL", extra="import") from None
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it says what it makes of odd statements; we count them
    return sqlglot


def _likely(text: str) -> Sequence[str]:
    first = "mysql" if "`" in text else "tsql" if "\nGO\n" in text.replace("\r", "") else DIALECTS[0]
    return (first, *(one for one in DIALECTS if one != first))


def _plain(text: str) -> str:
    """Return `text` without what is for a client and not for the database, every line in its place."""
    out = []
    for line in text.replace("\r\n", "\n").split("\n"):
        bare = line.strip()
        if bare.upper() == "GO":
            line = ";"
        elif bare.startswith("\\") or bare.upper().startswith("DELIMITER "):
            line = ""
        out.append(line)
    return "\n".join(out)


def _split(text: str, tokens: Sequence[Any], dialects: Sequence[str]) -> Iterator[Statement]:
    group: list[Any] = []
    for token in tokens:
        if token.token_type.name == "SEMICOLON":
            if group:
                yield _statement(text, group, dialects)
            group = []
        else:
            group.append(token)
    if group:
        yield _statement(text, group, dialects)


def _statement(text: str, group: Sequence[Any], dialects: Sequence[str]) -> Statement:
    first, last = group[0], group[-1]
    said = text[first.start : last.end + 1]
    comment = " ".join(" ".join(one.split()) for one in first.comments)
    acts: list[Act] | None = []
    if first.text.upper() in _DEFINES:
        acts = _read(said, group, dialects)
    return Statement(said, comment, first.line, acts)


def _read(said: str, group: Sequence[Any], dialects: Sequence[str]) -> list[Act] | None:
    sqlglot = _sqlglot()
    words = [token.text for token in group]
    upper = [word.upper() for word in words]
    if upper[0] == "RENAME":
        return _renamed_tables(said)
    if upper[0] in ("EXEC", "EXECUTE"):
        return _sp_rename(said)
    said, acts, is_all = _renames(said, group)
    if is_all:
        return acts
    for dialect in dialects:
        try:
            tree = sqlglot.parse_one(said, read=dialect)
        except (sqlglot.errors.SqlglotError, RecursionError):
            continue
        if isinstance(tree, sqlglot.exp.Command):
            continue  # it gave up
        return [*_acts(tree, sqlglot.exp), *acts]
    if upper[0] == "ALTER" and "TABLE" in upper[1:3]:
        return _added_plainly(words, upper)
    return None if upper[1:2] in (["TABLE"], ["INDEX"], ["UNIQUE"], ["TEMPORARY"], ["TEMP"]) else []


#: What stands between RENAME and a name where it isn't a column that is renamed.
_RENAMED = frozenset(("TO", "AS", "COLUMN", "INDEX", "KEY", "CONSTRAINT"))


def _renames(said: str, group: Sequence[Any]) -> tuple[str, list[Act], bool]:
    """Return an ALTER as sqlglot reads its renames, those of indexes, and whether there is nothing else in it.

    It takes `RENAME a TO b`, which needs no COLUMN, for the table's own, and leaves out what becomes of an index.
    """
    raw = [said[token.start - group[0].start : token.end + 1 - group[0].start] for token in group]
    upper = [word.upper() for word in raw]
    names = [token.text for token in group]
    if upper[0] != "ALTER":
        return said, [], False
    if upper[1:2] == ["INDEX"]:
        return said, [Act("rename", names[-1], "index", names[-4])] if upper[-3:-1] == ["RENAME", "TO"] else [], True
    acts: list[Act] = []
    table = _altered_table(names, upper)
    beside = others = 0
    for at in range(len(upper) - 2, 0, -1):  # from behind: places before it stay
        if upper[at] != "RENAME":
            continue
        end = group[at].end + 1 - group[0].start
        if upper[at + 1] == "AS":
            said = f"{said[:end]} TO{said[group[at + 1].end + 1 - group[0].start :]}"
        elif upper[at + 1] not in _RENAMED and upper[at + 2 : at + 3] == ["TO"]:
            said = f"{said[:end]} COLUMN{said[end:]}"
        elif upper[at + 1] in ("INDEX", "KEY", "CONSTRAINT") and upper[at + 3 : at + 4] == ["TO"]:
            beside += 1
            if upper[at + 1] != "CONSTRAINT":
                acts.append(Act("rename", f"{table}.{names[at + 4]}", "index", f"{table}.{names[at + 2]}"))
            continue
        others += 1
    return said, acts, beside == 1 and not others and "," not in raw


def _altered_table(names: Sequence[str], upper: Sequence[str]) -> str:
    """Return the table that an ALTER TABLE is about, without its schema."""
    at = 1
    while at < len(upper) - 1 and upper[at] in ("TABLE", "IF", "EXISTS", "ONLY"):
        at += 1
    while names[at + 1 : at + 2] == ["."] and at + 2 < len(names):
        at += 2
    return names[at]


def _acts(tree: Any, exp: Any) -> Iterator[Act]:
    if isinstance(tree, exp.Create):
        yield from _created(tree, exp)
    elif isinstance(tree, exp.Drop):
        yield from _dropped(tree, exp)
    elif isinstance(tree, exp.Alter):
        if str(tree.args.get("kind") or "TABLE").upper() == "TABLE":
            table = tree.this.name
            for action in tree.args.get("actions") or ():
                yield from _altered(table, action, exp)


def _created(tree: Any, exp: Any) -> Iterator[Act]:
    kind = str(tree.args.get("kind") or "").upper()
    if kind == "TABLE" and tree.find(exp.TemporaryProperty) is not None:
        return  # gone with the session
    if kind == "TABLE":
        schema = tree.this
        table = schema.this.name if isinstance(schema, exp.Schema) else schema.name
        yield Act("create", table, "table")
        columns = schema.expressions if isinstance(schema, exp.Schema) else []
        for column in columns:
            if isinstance(column, exp.ColumnDef | exp.Identifier):  # without types: SQLite, CREATE TABLE t (a, b) AS …
                yield Act("add", f"{table}.{column.name}", "column")
        query = tree.expression
        if not columns and query is not None:
            for name in query.named_selects if hasattr(query, "named_selects") else ():
                if name and name != "*":
                    yield Act("add", f"{table}.{name}", "column")
    elif kind == "INDEX":
        index = tree.this
        table = index.args.get("table")
        if table is not None and index.name:
            yield Act("index_add", f"{table.name}.{index.name}", "index")


def _dropped(tree: Any, exp: Any) -> Iterator[Act]:
    kind = str(tree.args.get("kind") or "").upper()
    named = tree.args.get("tables") or ([tree.this] if tree.this is not None else [])
    if kind == "TABLE":
        yield from (Act("delete", table.name, "table") for table in named if table.name)
    elif kind == "INDEX":
        on = tree.args.get("cluster")
        table = on.this.name if on is not None and on.this is not None else ""
        yield from (Act("index_remove", f"{table}.{index.name}" if table else index.name, "index") for index in named)


def _altered(table: str, action: Any, exp: Any) -> Iterator[Act]:
    if isinstance(action, exp.ColumnDef):
        yield Act("add", f"{table}.{action.name}", "column")
    elif isinstance(action, exp.Schema):
        for column in action.expressions:
            yield from _altered(table, column, exp)
    elif isinstance(action, exp.Drop):
        if str(action.args.get("kind") or "COLUMN").upper() == "COLUMN":
            for column in action.args.get("tables") or [action.this]:
                yield Act("remove", f"{table}.{column.name}", "column")
        elif str(action.args.get("kind")).upper() == "INDEX":
            for index in action.args.get("tables") or [action.this]:
                yield Act("index_remove", f"{table}.{index.name}", "index")
    elif isinstance(action, exp.RenameColumn):
        yield Act("rename", f"{table}.{action.args['to'].name}", "column", f"{table}.{action.this.name}")
    elif isinstance(action, exp.AlterRename):
        yield Act("rename", action.this.name, "table", table)
    elif isinstance(action, exp.AlterColumn):
        change = "retype" if action.args.get("dtype") is not None else "modify"
        yield Act(change, f"{table}.{action.name}", "column")
    elif type(action).__name__ == "ModifyColumn":
        new = action.this.name
        old = action.args.get("rename_from")
        if old is not None and old.name != new:
            yield Act("rename", f"{table}.{new}", "column", f"{table}.{old.name}")
        else:
            yield Act("retype", f"{table}.{new}", "column")
    elif isinstance(action, exp.AddConstraint):
        for one in action.expressions:
            if type(one).__name__ == "IndexColumnConstraint" and one.this is not None:
                yield Act("index_add", f"{table}.{one.this.name}", "index")


_WORD = re.compile(r"`([^`]*)`|\"([^\"]*)\"|\[([^\]]*)\]|N?'([^']*)'|([\w.@$#]+)|(,)")


def _words(said: str) -> list[str]:
    """Return the names, strings and commas of a statement that sqlglot leaves in one piece."""
    return [next(part for part in found if part) if any(found) else "" for found in _WORD.findall(said)]


def _renamed_tables(said: str) -> list[Act] | None:
    """RENAME TABLE a TO b, c TO d."""
    acts = []
    pairs: list[list[str]] = [[]]
    for word in _words(said)[2:]:
        if word == ",":
            pairs.append([])
        else:
            pairs[-1].append(word)
    for pair in pairs:
        if len(pair) != 3 or pair[1].upper() != "TO":
            return None
        acts.append(Act("rename", pair[2].rpartition(".")[2], "table", pair[0].rpartition(".")[2]))
    return acts


def _sp_rename(said: str) -> list[Act] | None:
    """EXEC sp_rename 'users.a', 'b', 'COLUMN'; anything else that is executed is not ours to read."""
    words = [word for word in _words(said) if word != ","]
    if len(words) < 2 or words[1].rpartition(".")[2].lower() != "sp_rename":
        return []
    given = [word for word in words[2:] if not word.startswith("@")]
    if len(given) < 2:
        return None
    parts = [part.strip("[]") for part in given[0].split(".")]
    if len(given) == 2:
        return [Act("rename", given[1], "table", parts[-1])]
    if given[2].upper() != "COLUMN":
        return []
    return [Act("rename", f"{parts[-2]}.{given[1]}", "column", ".".join(parts[-2:]))] if len(parts) > 1 else None


def _added_plainly(words: Sequence[str], upper: Sequence[str]) -> list[Act] | None:
    """ALTER TABLE t ADD [COLUMN] c, where no type follows (SQLite allows it)."""
    if "ADD" not in upper:
        return None
    at = upper.index("ADD")
    table = words[at - 1]
    rest = words[at + 1 :]
    if rest and rest[0].upper() == "COLUMN":
        rest = rest[1:]
    return [Act("add", f"{table}.{rest[0]}", "column")] if len(rest) == 1 else None
