"""Rust: symbols, crates in use, environment variables, routes, tables of Diesel's schema."""

from __future__ import annotations

from gitmem.core.entering import known, names, sql
from gitmem.core.entering.found import Found
from gitmem.core.entering.pattern import Pattern
from gitmem.core.entering.source import Source, whole_words

_DECLARED = Pattern(
    r"fn[ \t]{1,9}+([A-Za-z_]\w{0,200}+)|struct[ \t]{1,9}+([A-Z]\w{0,200}+)|enum[ \t]{1,9}+([A-Z]\w{0,200}+)"
    r"|trait[ \t]{1,9}+([A-Z]\w{0,200}+)|union[ \t]{1,9}+([A-Z]\w{0,200}+)"
    r"|impl(?=[ \t<])([^{};()]{0,500}+)\{|mod[ \t]{1,9}+([a-z_]\w{0,200}+)[ \t]{0,9}+(?:\{|;)"
)
_USE = Pattern(
    r"(?:^|\n)[ \t]{0,40}+(?:pub(?:\([^)\n]{0,60}+\))?+[ \t]{1,9}+)?"
    r"(?:use[ \t]{1,9}+(?:::)?|extern[ \t]{1,9}+crate[ \t]{1,9}+)([a-z_]\w{0,200}+)"
)
_ENV = Pattern(
    r"\benv::(?:var|var_os|set_var|remove_var)\([ \t]{0,9}+(?=\")|\b(?:option_env|env)!\([ \t]{0,9}+(?=\")"
    r"|\b(?:dotenvy?|dotenv)::var\([ \t]{0,9}+(?=\")"
)
_ROUTE = Pattern(
    r"\.route\([ \t\n]{0,60}+(?=\")"
    r"|\#\[(?:\w{1,60}+::)?(?:get|post|put|delete|patch|head|options|route)\([ \t]{0,9}+(?=\")"
)
_TABLE = Pattern(r"\btable![ \t]{0,9}+\{")
_NAMED = Pattern(r"([a-z_][\w.]{0,200}+)[ \t]{0,9}+(?:\(|\{|->)")


def read(path: str, text: str, found: Found) -> None:
    source = Source(path, text, "rust")
    sql.read_strings(source, found)
    code = source.code
    modules: set[str] = set()
    outer: list[tuple[str, int, int]] = []
    for match in whole_words(_DECLARED, code):
        at = match.start()
        while outer and outer[-1][1] <= at:
            outer.pop()
        kind = match.lastindex or 1
        name, place = match[kind], match.start(kind)
        if kind == 6:
            name = _implements(name)
            if name:
                outer.append((name, source.close(match.end() - 1), at))
        elif kind == 7:
            modules.add(name)
            if code[match.end() - 1] == "{" and name != "tests":
                outer.append((name, source.close(match.end() - 1), at))
        else:
            chain = [one[0] for one in outer[-20:]] + [name]
            owner = outer[-1][2] if outer else -1
            found.add(names.symbol(path, chain), "function" if kind == 1 else "class", place, name, owner)
    for match in _USE.finditer(code):
        crate = match[1]
        if crate not in known.RUST and crate not in modules:
            found.add(names.rust_crate(crate), "dependency", match.start(1), crate)
    for match in _ENV.finditer(code) if "env" in code else ():
        name = source.string(match.end()) or ""
        if names.is_env(name):
            found.add([f"env/{name}"], "env_var", match.end(), name)
    for match in _ROUTE.finditer(code):
        said = source.string(match.end()) or ""
        if said.startswith("/"):
            found.add(names.routes(said), "endpoint", match.end(), names.route_word(said))
    for match in _TABLE.finditer(code) if "table!" in code else ():
        _diesel(source, match.end() - 1, found)


def _implements(said: str) -> str:
    """Return the type that `impl … {` is about: `<T> Display for a::Token<T>` is `Token`."""
    said = said.partition(" where ")[0].strip()
    if said[:1] == "<":
        depth = 0
        for i, letter in enumerate(said):
            depth += (letter == "<") - (letter == ">" and said[i - 1] != "-")
            if depth == 0:
                said = said[i + 1 :]
                break
    said = said.rpartition(" for ")[2].strip().lstrip("&").partition("<")[0].strip()
    name = said.rpartition("::")[2].strip()
    return name if name.isidentifier() else ""


def _diesel(source: Source, opens: int, found: Found) -> None:
    """`table! { users (id) { id -> Int4, card_token -> Text, } }`"""
    code = source.code
    end = source.close(opens)
    match = _NAMED.search(code, opens, end)
    if match is None:
        return
    tables = names.table(match[1].removeprefix("public."))
    owner = match.start(1)
    found.add(tables, "table", owner, match[1].rpartition(".")[2])
    body = code.find("{", owner, end)
    if body < 0:
        return
    for start, stop in source.parts(body):
        field = _NAMED.search(code, start, stop)
        if field is not None and code.find("->", start, stop) >= 0:
            found.add(names.columns(tables, field[1]), "column", field.start(1), field[1], owner)
