"""Alembic migrations, read as syntax trees and never run: what their `upgrade` does to tables and columns.

The reason of each is the migration's own message. Operations whose names are worked out when the migration runs
can't be read; each is counted.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from gitmem.core import dates
from gitmem.core.drafts import Draft
from gitmem.importers.folder import Source
from gitmem.importers.pen import Pen
from gitmem.importers.sql import Book, stamp
from gitmem.importers.statements import Act
from gitmem.importers.syntax import keyword, literal, named, tree_of

_CREATED = re.compile(r"^Create Date:\s*(.+)$", re.MULTILINE)
#: Operations that change nothing that has a name of ours.
_OTHERS = frozenset(
    """
    get_bind get_context f create_unique_constraint create_foreign_key create_primary_key create_check_constraint
    drop_constraint create_table_comment drop_table_comment bulk_insert inline_literal invoke run_async
    create_exclude_constraint implementation_for register_operation
    """.split()
)


def fits(path: str) -> bool:
    """Say whether the file at `path` may be a migration."""
    return path.endswith(".py") and path.rpartition("/")[2] not in ("env.py", "__init__.py")


def read(files: Iterable[Source], pen: Pen, dialect: str = "") -> Iterator[Draft]:
    """Yield the drafts of Alembic migrations; `dialect` is that of SQL that they execute."""
    book = Book(pen)
    found = [one for one in (_migration(source, pen) for source in files) if one is not None]
    for time, source, tree, why in sorted(found, key=lambda one: (one[0], one[1].name)):
        upgrade = next(
            (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "upgrade"), None
        )
        if upgrade is not None:
            yield from _Reader(book, pen, source, time, why, dialect).body(upgrade.body, {})


def _migration(source: Source, pen: Pen) -> tuple[str, Source, ast.Module, str] | None:
    tree = tree_of(source.text)
    if tree is None:
        pen.tally.skip("files that are no Python", source.name)
        return None
    names = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    if "revision" not in names:
        return None  # a helper beside the migrations
    pen.tally.saw("migrations")
    doc = ast.get_docstring(tree) or ""
    created = _CREATED.search(doc)
    time = ""
    if created:
        try:
            time = dates.instant(created.group(1).strip())
        except dates.BadTime:
            pass
    why = re.split(r"\n\s*(?:Revision ID|Revises|Create Date):", doc)[0].strip()
    return source.at(time or stamp(source.name)), source, tree, why


class _Reader:
    """Reads the body of one `upgrade`."""

    def __init__(self, book: Book, pen: Pen, source: Source, time: str, why: str, dialect: str) -> None:
        self._book = book
        self._pen = pen
        self._source = source
        self._time = time
        self._why = why
        self._dialect = dialect

    def body(self, body: Iterable[ast.stmt], batches: dict[str, str]) -> Iterator[Draft]:
        """Yield what the statements of `body` do; `batches` maps the names of batch operations to their tables."""
        for node in body:
            if isinstance(node, ast.With):
                inner = dict(batches)
                for item in node.items:
                    call = item.context_expr
                    if isinstance(call, ast.Call) and named(call.func) == "batch_alter_table":
                        table = literal(call.args[0] if call.args else keyword(call, "table_name"))
                        if isinstance(item.optional_vars, ast.Name) and table:
                            inner[item.optional_vars.id] = table
                yield from self.body(node.body, inner)
            elif isinstance(node, ast.If | ast.For | ast.Try | ast.While):
                for part in (node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])):
                    yield from self.body(part, batches)
            elif isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Call):
                yield from self._call(node.value, batches)

    def _call(self, call: ast.Call, batches: dict[str, str]) -> Iterator[Draft]:
        if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
            return
        owner, operation = call.func.value.id, call.func.attr
        table = batches.get(owner, "")
        if owner != "op" and not table:
            return
        self._pen.tally.saw("operations")
        where = f"{self._source.name}:{call.lineno}"
        if operation == "execute":
            text = literal(call.args[0] if call.args else keyword(call, "sqltext"))
            if text:
                yield from self._book.sql(self._source, text, self._dialect, time=self._time, why=self._why)
            else:
                self._pen.tally.skip("SQL that is worked out when the migration runs", where)
            return
        acts = _acts(operation, call, table)
        if acts is None:
            if operation not in _OTHERS:
                self._pen.tally.skip("operations that can't be read without running them", f"{where} {operation}")
            return
        text = ast.get_source_segment(self._source.text, call) or ""
        for act in acts:
            yield from self._book.act(self._source, act, where, self._time, self._why, text)


def _acts(operation: str, call: ast.Call, table: str) -> list[Act] | None:
    """Return what an operation does; None where it has no name of ours, or one that can't be read."""
    args = list(call.args)

    def taken(name: str) -> str:
        given = args.pop(0) if args else keyword(call, name)
        return literal(given)

    if operation == "create_table":
        table = taken("table_name")
        columns = [_column(arg) for arg in args if named(getattr(arg, "func", None)) == "Column"]
        if not table or not all(columns):
            return None
        return [Act("create", table, "table"), *(Act("add", f"{table}.{name}", "column") for name in columns)]
    if operation in ("drop_table", "rename_table"):
        first = taken("table_name" if operation == "drop_table" else "old_table_name")
        if operation == "drop_table":
            return [Act("delete", first, "table")] if first else None
        second = taken("new_table_name")
        return [Act("rename", second, "table", first)] if first and second else None
    if operation in ("create_index", "drop_index"):
        index = taken("index_name")
        table = table or taken("table_name")
        if not index:
            return None
        change = "index_add" if operation == "create_index" else "index_remove"
        return [Act(change, f"{table}.{index}" if table else index, "index")]
    if operation not in ("add_column", "drop_column", "alter_column"):
        return None
    table = table or taken("table_name")
    if operation == "add_column":
        name = _column(args[0] if args else keyword(call, "column"))
        return [Act("add", f"{table}.{name}", "column")] if table and name else None
    name = taken("column_name")
    if not table or not name:
        return None
    if operation == "drop_column":
        return [Act("remove", f"{table}.{name}", "column")]
    renamed = literal(keyword(call, "new_column_name") or keyword(call, "name"))
    if renamed and renamed != name:
        return [Act("rename", f"{table}.{renamed}", "column", f"{table}.{name}")]
    changed = "retype" if keyword(call, "type_") is not None else "modify"
    return [Act(changed, f"{table}.{name}", "column")]


def _column(node: ast.expr | None) -> str:
    """Return the name in `sa.Column("name", …)`, or an empty text."""
    if not isinstance(node, ast.Call) or named(node.func) != "Column":
        return ""
    return literal(node.args[0] if node.args else keyword(node, "name"))
