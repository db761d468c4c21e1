"""PHP, C# and Elixir: SQL in strings, environment variables, and the migrations of Laravel and Ecto."""

from __future__ import annotations

from gitmem.core.entering import names, sql
from gitmem.core.entering.found import Found
from gitmem.core.entering.pattern import Pattern
from gitmem.core.entering.source import Source

_ENV = Pattern(
    r"\b(?:getenv|env|GetEnvironmentVariable|get_env|fetch_env!?)[ \t]{0,9}+\([ \t]{0,9}+(?=[\"'])"
    r"|\$_(?:ENV|SERVER)\[[ \t]{0,9}+(?=[\"'])"
)
_LARAVEL = Pattern(r"\bSchema::(create|table|rename)[ \t]{0,9}+\(")
_BLUEPRINT = Pattern(r"->(\w{1,60}+)\([ \t]{0,9}+(?=[\"'])|->(timestamps|id|softDeletes|rememberToken)\([ \t]{0,9}+\)")
_NO_COLUMN = Pattern(
    r"drop|index|unique|primary|foreign$|references|on$|onDelete|onUpdate|comment|default|charset|collation|after|fullText|constrained"
)
_ECTO = Pattern(r"\b(create|alter)(?:_if_not_exists)?[ \t(]{1,9}+table\([ \t]{0,9}+:?+(\w{0,200}+)")
_ADD = Pattern(r"\b(?:add|add_if_not_exists|modify)[ \t(]{1,9}+:(\w{1,200}+)")
_DOWN = Pattern(r"\bfunction[ \t]{1,9}+down\b|\bvoid[ \t]{1,9}+Down\b|\bdef[ \t]{1,9}+down\b")


def read(path: str, text: str, found: Found) -> None:
    elixir = path.endswith((".ex", ".exs"))
    source = Source(path, text, "python" if elixir else "php" if path.endswith(".php") else "java")
    sql.read_strings(source, found)
    code = source.code
    for match in _ENV.finditer(code):
        name = source.string(match.end()) or ""
        if names.is_env(name) and name == name.upper():
            found.add([f"env/{name}"], "env_var", match.end(), name)
    end = 0
    for match in _LARAVEL.finditer(code):
        if match.start() < end:
            continue  # within another one, which reads to its end
        end = source.close(match.end() - 1)
        _laravel(source, match[1], match.end() - 1, found)
    if elixir:
        _ecto(source, found)
    end = 0
    for match in _DOWN.finditer(code):
        if match.start() < end:
            continue
        opens = -1 if match[0].startswith("def") else code.find("{", match.end(), match.end() + 300)
        end = source.close(opens) if opens >= 0 else code.find("\n  end", match.end())
        end = len(code) if end < 0 else end
        found.backward.append((match.start(), end))


def _laravel(source: Source, kind: str, opens: int, found: Found) -> None:
    call = source.call(opens)
    table = call.text(1 if kind == "rename" else 0)
    if not table:
        return
    tables = names.table(table)
    owner = call.places[0][0]
    if kind != "table":
        found.add(tables, "table", owner, table)
    if kind == "rename":
        return
    for match in _BLUEPRINT.finditer(source.code, opens, source.close(opens)):
        spelt: list[str] = []
        if match[2]:
            made = {"timestamps": ("created_at", "updated_at"), "id": ("id",), "softDeletes": ("deleted_at",)}
            spelt = list(made.get(match[2], ("remember_token",)))
        elif match[1] == "renameColumn":
            spelt = [source.call(source.code.find("(", match.start())).text(1)]
        elif _NO_COLUMN.match(match[1]) is None:
            spelt = [source.string(match.end()) or ""]
        for column in spelt:
            if column:
                found.add(names.columns(tables, column), "column", match.start(), "", owner)


def _ecto(source: Source, found: Found) -> None:
    code = source.code
    tables_at = list(_ECTO.finditer(code))
    for i, match in enumerate(tables_at):
        table = match[2] or source.string(source.past_blanks(match.end())) or ""
        if not table:
            continue
        tables = names.table(table)
        if match[1] == "create":
            found.add(tables, "table", match.start(), table)
        end = tables_at[i + 1].start() if i + 1 < len(tables_at) else len(code)
        stop = code.find("\n    end", match.end())
        for column in _ADD.finditer(code, match.end(), min(end, len(code) if stop < 0 else stop)):
            found.add(names.columns(tables, column[1]), "column", column.start(1), column[1], match.start())
