"""What importers of migrations ask of Python syntax trees; nothing is ever run."""

from __future__ import annotations

import ast


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """Return the value of the keyword argument `name`, or None."""
    return next((one.value for one in call.keywords if one.arg == name), None)


def named(node: object) -> str:
    """Return the last name of `a.b.c` or of `c`; of anything else an empty text."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def literal(node: ast.expr | None) -> str:
    """Return the text that an expression plainly is: a literal, a sum of them, `text("…")`, `op.f("…")`; else none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Call) and named(node.func) in ("text", "f", "DDL", "quoted_name", "dedent") and node.args:
        return literal(node.args[0])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = literal(node.left), literal(node.right)
        return left + right if left and right else ""
    return ""
