"""A second opinion on SQL files, by a real parser (sqlglot, the extra `import`): for the gate where time allows.

The hook reads SQL with the tokenizer in `core/ddl`. `gate --staged` and `gate --range` have seconds, so they also ask
a parser that knows each dialect's grammar. It only ever adds names: what it can't parse, the tokenizer has read.
Without the extra, nothing is added.
"""

from __future__ import annotations

from importlib.util import find_spec

from gitmem.core import ddl, entering, entities
from gitmem.core.entering import names
from gitmem.core.entering.found import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlglot import exp

#: A longer text is left to the tokenizer: the parser takes a second for so much.
TEXT_MAX = 300_000
#: Asked in this order; the first that takes the whole text for its own is believed.
DIALECTS = ("postgres", "mysql", "tsql", "sqlite", "oracle", "clickhouse", "snowflake", "bigquery")


def is_available() -> bool:
    """Say whether the parser is installed."""
    return find_spec("sqlglot") is not None


def found(path: str, before: str | None, after: str | None) -> list[entering.Entering]:
    """Return what the edit brings in, as `entering.found` does, and what the parser sees besides, by line."""
    told = entering.found(path, before, after)
    if after is None or after == before or not ddl.is_sql(path) or not is_available():
        return told
    known = {one.name.lower() for one in told} | {name.lower() for name in _names(path, before)}
    text = after[:TEXT_MAX]
    more = Found((before or "")[:TEXT_MAX], text)
    for spelt, kind, at, table_at in parsed(text):
        more.add(spelt, kind, at, "", table_at)
    for one in more.candidates():
        for name in one.names:
            if name.lower() not in known and entities.is_spelt(name):
                known.add(name.lower())
                told.append(entering.Entering(name, one.entity_type, more.line(one.at)))
    told.sort(key=lambda one: one.line)
    return told


def _names(path: str, text: str | None) -> list[str]:
    if not text:
        return []
    mine = [one.name for one in entering.found(path, "", text)]
    return mine + [name for spelt, *_ in parsed(text[:TEXT_MAX]) for name in spelt]


def parsed(text: str) -> list[tuple[list[str], str, int, int]]:
    """Return the names, kind and place (its own, its table's) of what the parser sees created, added or renamed.

    Nothing, where no dialect takes the whole text.
    """
    import logging

    import sqlglot
    from sqlglot.errors import SqlglotError

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it warns of what it passes over
    text = ddl.without_way_back(text)
    for dialect in DIALECTS:
        try:
            statements = sqlglot.parse(text, dialect=dialect)
        except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError):
            continue  # another dialect, or one of the parser's own bugs on an odd text
        if not any(_is_passed_over(one) for one in statements):
            return [seen for one in statements if one is not None for seen in _seen(one)]
    return []


def _is_passed_over(statement: exp.Expr | None) -> bool:
    """Say whether the parser gave up on a statement that we would want to know."""
    from sqlglot import exp

    return isinstance(statement, exp.Command) and str(statement.this).upper() in ("CREATE", "ALTER", "RENAME")


def _seen(statement: exp.Expr) -> list[tuple[list[str], str, int, int]]:
    from sqlglot import exp

    if isinstance(statement, exp.Create):
        kind = str(statement.args.get("kind") or "").upper()
        if kind == "INDEX" and isinstance(statement.this, exp.Index):
            return _index(statement.this)
        if kind == "TABLE" and statement.find(exp.TemporaryProperty) is None:
            return _table(statement)
    if isinstance(statement, exp.Alter) and str(statement.args.get("kind") or "").upper() == "TABLE":
        return _alter(statement)
    return []


def _table(statement: exp.Create) -> list[tuple[list[str], str, int, int]]:
    from sqlglot import exp

    table = statement.find(exp.Table)
    if table is None:
        return []
    tables, owner = _spelt(table), _place(table)
    seen = [(tables, "table", owner, owner)]
    columns: list[exp.Expr] = []
    if isinstance(statement.this, exp.Schema):
        columns = [one for one in statement.this.expressions if isinstance(one, exp.ColumnDef | exp.Identifier)]
        for one in statement.this.expressions:
            if isinstance(one, exp.IndexColumnConstraint) and one.this is not None:
                seen.append(_below(tables, one.name, "index", _place(one), owner))
    if not columns and isinstance(statement.expression, exp.Query):
        columns = [one for one in statement.expression.selects if isinstance(one, exp.Column | exp.Alias)]
    for one in columns:
        name = one.alias if isinstance(one, exp.Alias) else one.name
        if name and name != "*":
            seen.append(_below(tables, name, "column", _place(one), owner))
    return seen


def _alter(statement: exp.Alter) -> list[tuple[list[str], str, int, int]]:
    from sqlglot import exp

    table = statement.this
    if not isinstance(table, exp.Table):
        return []
    tables, owner = _spelt(table), _place(table)
    seen: list[tuple[list[str], str, int, int]] = []
    waiting: list[exp.Expr] = list(statement.args.get("actions") or [])
    for action in waiting:
        if isinstance(action, exp.Schema):
            waiting += action.expressions
        elif isinstance(action, exp.ColumnDef):
            seen.append(_below(tables, action.name, "column", _place(action), owner))
        elif isinstance(action, exp.ModifyColumn):
            seen.append(_below(tables, action.this.name, "column", _place(action.this), owner))
        elif isinstance(action, exp.RenameColumn):
            to = action.args["to"]
            seen.append(_below(tables, to.name, "column", _place(to), owner))
        elif isinstance(action, exp.AlterRename):
            to = action.this
            name = f"{table.db}.{to.name}" if table.db and not to.db else _qualified(to)
            seen.append((names.table(name), "table", _place(to), owner))
    return seen


def _index(index: exp.Index) -> list[tuple[list[str], str, int, int]]:
    table = index.args.get("table")
    if table is None or not index.name:
        return []
    below, kind, at, owner = _below(_spelt(table), index.name, "index", _place(index), _place(table))
    return [([*below, index.name], kind, at, owner)]


def _below(tables: list[str], name: str, kind: str, at: int, owner: int) -> tuple[list[str], str, int, int]:
    return ([f"{one}.{name}" for one in tables], kind, at, owner)


def _qualified(table: exp.Expr) -> str:
    parts = [table.args["catalog"].name] if table.args.get("catalog") else []
    schema = table.args["db"].name if table.args.get("db") else ""
    if schema.lower() in ddl.DEFAULT_SCHEMAS:
        return table.name
    return ".".join([*parts, *([schema] if schema else []), table.name])


def _spelt(table: exp.Expr) -> list[str]:
    return names.table(_qualified(table))


def _place(expression: exp.Expr) -> int:
    """Return where the name of an expression stands; the parser keeps that of each identifier."""
    from sqlglot import exp

    this = expression.args.get("alias") or expression.this
    identifier = this if isinstance(this, exp.Identifier) else expression.find(exp.Identifier)
    return int(identifier.meta.get("start", 0)) if identifier is not None else 0
