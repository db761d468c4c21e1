"""Notebooks: the code of their cells as one text. Another language's kernel gives little, and nothing wrong."""

from __future__ import annotations

import json


def code(text: str) -> str:
    """Return the code of a notebook's cells, and of a cell that an edit adds to its text; "" of anything else."""
    begin = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, begin)
    except (ValueError, RecursionError):
        return text  # half of one: its lines are strings, and a reader for code finds what isn't
    cells = value.get("cells") if isinstance(value, dict) else None
    found = [_source(cell) for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []
    return "\n".join([*found, text[end:].lstrip("\r\n")])


def _source(cell: dict[str, object]) -> str:
    source = cell.get("source")
    if cell.get("cell_type") != "code":
        return ""
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""
