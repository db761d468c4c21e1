"""Go: symbols, imports, environment variables, routes, columns in GORM's tags."""

from __future__ import annotations

from gitmem.core.entering import names, sql
from gitmem.core.entering.found import Found
from gitmem.core.entering.pattern import Pattern
from gitmem.core.entering.source import Source, word_before

_DECLARED = Pattern(
    r"(?:^|\n)(?:func[ \t]{1,9}+(?:\([ \t]{0,9}+(?:\w{1,60}+[ \t]{1,9}+)?"
    r"\*?([A-Za-z_]\w{0,200}+)[^)\n]{0,200}+\)[ \t]{0,9}+)?"
    r"([A-Za-z_]\w{0,200}+)"
    r"|type[ \t]{1,9}+([A-Za-z_]\w{0,200}+)[^\n=]{0,200}?\b(struct|interface)\b)"
)
_IMPORT = Pattern(r"(?:^|\n)import[ \t]{1,9}+(?:[\w.]{1,60}+[ \t]{1,9}+)?(?=[\"`(])")
_GETENV = Pattern(r"\b(?:os|syscall)\.(?:Getenv|LookupEnv|Setenv|Unsetenv)\([ \t]{0,9}+(?=[\"`])")
_TAG = Pattern(r"\b(?:env|envconfig):\"([A-Za-z_]\w{0,200}+)")
_ROUTE = Pattern(
    r"\.(Get|Post|Put|Delete|Patch|Head|Options|GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS|Any|All|Handle"
    r"|HandleFunc|Method|Route|Path|Group|PathPrefix)\([ \t]{0,9}+(?=[\"`])"
)
_GROUP = Pattern(r"\b([A-Za-z_]\w{0,60}+)[ \t]{0,9}+:?=[ \t]{0,9}+$")
_FIELD = Pattern(r"(?:^|\n)[ \t]{0,40}+([A-Z]\w{0,200}+)[ \t]{1,60}+[^\n`\"]{0,200}+(?=`)")


def read(path: str, text: str, found: Found) -> None:
    source = Source(path, text, "go")
    sql.read_strings(source, found)
    code = source.code
    end = 0
    for match in _DECLARED.finditer(code):
        if match[2]:
            chain = [match[1], match[2]] if match[1] else [match[2]]
            found.add(names.symbol(path, chain), "function", match.start(2), match[2])
        else:
            found.add(names.symbol(path, [match[3]]), "class", match.start(3), match[3])
            if match[4] == "struct" and match.start() >= end:
                end = _struct(source, match[3], match.start(3), match.end(), found)
    for match in _IMPORT.finditer(code):
        at = match.end()
        places = source.strings_in(at, source.close(at)) if code[at : at + 1] == "(" else iter((at,))
        for place in places:
            module = source.string(place) or ""
            # The standard library's paths have no dot in their first part; a module's is a host.
            if "." in module.partition("/")[0]:
                found.add(_module(module), "dependency", place, module)
    for match in _GETENV.finditer(code) if "env" in code or "Env" in code else ():
        name = source.string(match.end()) or ""
        if names.is_env(name):
            found.add([f"env/{name}"], "env_var", match.end(), name)
    if "env:" in text or "envconfig:" in text:
        for start, end, _ in source.strings.values():
            if end - start < 500:
                for match in _TAG.finditer(text, start, end):
                    found.add([f"env/{match[1]}"], "env_var", match.start(1), match[1])
    _routes(source, found)


def _module(path: str) -> list[str]:
    """The module that an imported package belongs to: `github.com/a/b/pkg/c` is `github.com/a/b`."""
    parts = path.split("/")
    depth = 3 if parts[0] in ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "golang.org") else 2
    found = names.go_module(path) if len(parts) <= depth + 1 else [f"deps/{path}"]
    if len(parts) > depth:
        found += names.go_module("/".join(parts[:depth]))
        if parts[depth][:1] == "v" and parts[depth][1:].isdigit():
            found += names.go_module("/".join(parts[: depth + 1]))
    return list(dict.fromkeys(found))


def _struct(source: Source, name: str, at: int, after: int, found: Found) -> int:
    """Read a model of GORM: fields of a struct that has its tags. Return where the struct ends."""
    opens = source.code.find("{", after, after + 50)
    if opens < 0:
        return after
    end = source.close(opens)
    if source.text.find("gorm", opens, end) < 0:
        return end
    tables = names.table_of_class(name)
    found.add(tables, "table", at, name)
    for match in _FIELD.finditer(source.code, opens, end):
        tag = source.string(match.end()) or ""
        if 'gorm:"-' in tag:
            continue
        _, has, said = tag.partition("column:")
        column = said.partition(";")[0].partition('"')[0].strip() if has else ""
        found.add(names.columns(tables, column or names.snake(match[1])), "column", match.start(1), "", at)
    return end


def _routes(source: Source, found: Found) -> None:
    code = source.code
    prefixes: dict[str, str] = {}
    for match in _ROUTE.finditer(code):
        said = source.string(match.end()) or ""
        method, space, rest = said.partition(" ")
        if space and method.isupper():
            said = rest.strip()  # "GET /users/{id}", since Go 1.22
        if not said.startswith("/"):
            continue
        receiver = word_before(code, match.start())
        prefix = prefixes.get(receiver, "")
        if match[1] in ("Group", "PathPrefix"):
            variable = _GROUP.search(code, max(0, match.start() - 80), match.start() - len(receiver))
            if variable is not None:
                prefixes[variable[1]] = prefix + said
            continue
        found.add(names.routes(said, prefix), "endpoint", match.end(), names.route_word(said))
