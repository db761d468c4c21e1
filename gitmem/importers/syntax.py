"""What importers of migrations ask of Python syntax trees; nothing is ever run."""

from __future__ import annotations

import ast

#: What a text is wrapped in without becoming another.
_WRAPS = ("text", "f", "DDL", "quoted_name", "dedent")


def tree_of(text: str) -> ast.Module | None:
    """Return the syntax tree of `text`, or None where it is no Python, or nested deeper than can be read."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """Return the value of the keyword argument `name`, or None."""
    return next((one.value for one in call.keywords if one.arg == name), None)


def named(node: object) -> str:
    """Return the last name of `a.b.c` or of `c`; of anything else an empty text."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def literal(node: ast.expr | None) -> str:
    """Return the text that an expression plainly is: a literal, a sum of them, `text("…")`, `op.f("…")`; else none."""
    pieces: list[str] = []
    waiting = [node]
    while waiting:  # not by recursion: a sum may have thousands of terms
        one = waiting.pop()
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            pieces.append(one.value)
        elif isinstance(one, ast.Call) and named(one.func) in _WRAPS and one.args:
            waiting.append(one.args[0])
        elif isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add):
            waiting += (one.right, one.left)
        else:
            return ""
    return "".join(pieces)
