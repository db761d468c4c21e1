"""Prisma's schema: models with their fields, and the variables it reads."""

from __future__ import annotations

from gitmem.core.entering import names
from gitmem.core.entering.found import Found
from gitmem.core.entering.pattern import Pattern
from gitmem.core.entering.source import Source

_MODEL = Pattern(r"(?:^|\n)[ \t]{0,20}+model[ \t]{1,9}+([A-Za-z_]\w{0,200}+)[ \t]{0,9}+\{")
_MAPPED = Pattern(r"@@map[ \t]{0,9}+\([ \t]{0,9}+(?:name:[ \t]{0,9}+)?(?=\")")
_FIELD = Pattern(r"\n[ \t]{0,40}+([A-Za-z_]\w{0,200}+)[ \t]{1,60}+([A-Za-z_]\w{0,200}+)")
_COLUMN = Pattern(r"(?<!@)@map[ \t]{0,9}+\([ \t]{0,9}+(?:name:[ \t]{0,9}+)?(?=\")")
_ENV = Pattern(r"\benv\([ \t]{0,9}+(?=\")")


def read(path: str, text: str, found: Found) -> None:
    source = Source(path, text, "java")
    code = source.code
    models = list(_MODEL.finditer(code))
    known = {match[1] for match in models}
    for i, match in enumerate(models):
        opens = match.end() - 1
        end = source.close(opens)
        if i + 1 < len(models):
            end = min(end, models[i + 1].start())  # of a model that isn't closed yet
        mapped = _MAPPED.search(code, opens, end)
        said = (source.string(mapped.end()) or "") if mapped is not None else ""
        tables = names.table(said) if said else names.table_of_class(match[1])
        owner = match.start(1)
        found.add(tables, "table", owner, "" if said else match[1])
        for field in _FIELD.finditer(code, opens, end):
            if field[2] in known:
                continue  # a relation has no column; the scalar beside it does
            line = code.find("\n", field.end(), end)
            column = _COLUMN.search(code, field.end(), end if line < 0 else line)
            column_said = (source.string(column.end()) or "") if column is not None else ""
            found.add(names.columns(tables, field[1], column_said), "column", field.start(1), field[1], owner)
    for match in _ENV.finditer(code):
        name = source.string(match.end()) or ""
        if names.is_env(name):
            found.add([f"env/{name}"], "env_var", match.end(), name)
