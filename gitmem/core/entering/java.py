"""Java and Kotlin: symbols, imports, environment variables, routes of Spring and JAX-RS, columns of JPA."""

from __future__ import annotations

import re

from gitmem.core.entering import known, names, sql
from gitmem.core.entering.found import Found
from gitmem.core.entering.source import Source

_DECLARED = re.compile(
    r"\b(?:class|interface|enum|record|object)[ \t]{1,9}+([A-Z]\w{0,200}+)"
    r"|\bfun[ \t]{1,9}+(?:<[^<>\n]{0,100}+>[ \t]{0,9}+)?(?:[\w.<>?]{1,100}+\.)?([A-Za-z_]\w{0,200}+)[ \t]{0,9}+\("
    r"|([A-Za-z_]\w{0,200}+)[ \t]{0,9}+(\()"
)
#: Words before `(` that are no method's name, and words before a name that make the whole an expression.
_NO_METHODS = frozenset(
    "if for while switch catch return new throw synchronized try assert do else when super this yield".split()
)
_IMPORT = re.compile(r"(?:^|\n)[ \t]{0,9}+import[ \t]{1,9}+(?:static[ \t]{1,9}+)?([\w.]{1,300}+)")
_PACKAGE = re.compile(r"(?:^|\n)[ \t]{0,9}+package[ \t]{1,9}+([\w.]{1,300}+)")
_ENV = re.compile(r"\bgetenv\([ \t]{0,9}+(?=\")|\bgetenv\(\)(?:\.get\(|\[)[ \t]{0,9}+(?=\")")
_VALUE = re.compile(r"@Value[ \t]{0,9}+\([ \t]{0,9}+(?=\")")
_ROUTE = re.compile(
    r"@(RequestMapping|GetMapping|PostMapping|PutMapping|DeleteMapping|PatchMapping|Path|Controller|Get|Post|Put|Delete)"
    r"\b[ \t]{0,9}+(\()?|\b(class|interface)[ \t]{1,9}+[A-Z]"
)
_JPA = re.compile(r"@(Entity|Table|Column|JoinColumn|Id)\b[ \t]{0,9}+(\()?|\bclass[ \t]{1,9}+([A-Z]\w{0,200}+)")
_FIELD_NAME = re.compile(
    r"(?:(?:val|var)[ \t]{1,9}+([\w]{1,200}+)|[\w<>\[\]?., ]{1,200}?[ \t]{1,9}([A-Za-z_]\w{0,200}+)[ \t]{0,9}+[;=])"
)


def read(path: str, text: str, found: Found) -> None:
    source = Source(path, text, "java")
    sql.read_strings(source, found)
    code = source.code
    _symbols(source, found)
    package = _PACKAGE.search(code)
    own = ".".join(package[1].split(".")[:2]) + "." if package is not None else ""
    for match in _IMPORT.finditer(code):
        module = match[1]
        if not module.startswith(known.JAVA) and not (own and (module + ".").startswith(own)):
            found.add(names.java_package(module), "dependency", match.start(1), module)
    for match in _ENV.finditer(code):
        _variable(found, source.string(match.end()) or "", match.end())
    for match in _VALUE.finditer(code):
        said = source.string(match.end()) or ""
        name = said.partition("${")[2].partition("}")[0].partition(":")[0]
        if name == name.upper():
            _variable(found, name, match.end())
    _routes(source, found)
    if "@Entity" in code:
        _columns(source, found)


def _variable(found: Found, name: str, at: int) -> None:
    if names.is_env(name):
        found.add([f"env/{name}"], "env_var", at, name)


def _symbols(source: Source, found: Found) -> None:
    code = source.code
    outer: list[tuple[str, int, int]] = []  # a class, where its body opens, where it ends
    at = 0
    while True:
        match = _DECLARED.search(code, at)
        if match is None:
            return
        at = match.end()
        while outer and outer[-1][2] <= match.start():
            outer.pop()
        chain = [one[0] for one in outer[-20:]]
        if match[1]:
            opens = code.find("{", match.end(), match.end() + 600)
            found.add(names.symbol(source.path, [*chain, match[1]]), "class", match.start(1), match[1])
            if opens >= 0:
                outer.append((match[1], opens, source.close(opens)))
            continue
        name, place = match[2] or match[3], match.start(2) if match[2] else match.start(3)
        opens = match.end() - 1
        close = source.close(opens)
        if match[3]:
            # Java: a method stands in a class, after its type, and before its body (or `;` in an interface).
            before = code[max(0, place - 80) : place].rstrip()
            word = before[len(before.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")) :]
            body = source.past_blanks(close + 1)
            if code.startswith("throws", body):
                body = code.find("{", body, body + 300)
            typed = before[-1:] in (">", "]") or (word and word not in _NO_METHODS)
            constructs = bool(outer) and name == outer[-1][0]
            if not outer or name in _NO_METHODS or not (typed or constructs) or code[body : body + 1] != "{":
                continue
            at = source.close(body)  # what is called within is no declaration
        found.add(names.symbol(source.path, [*chain, name]), "function", place, name)


def _routes(source: Source, found: Found) -> None:
    code = source.code
    if "Mapping" not in code and "@Path" not in code and "@Controller" not in code:
        return
    prefix, waiting, at_class = "", "", -1
    for match in _ROUTE.finditer(code):
        if match[3]:
            prefix, waiting = waiting, ""
            at_class = match.start()
            continue
        kind = match[1]
        said = ""
        if match[2]:
            call = source.call(match.end() - 1)
            said = call.text(0, "value") or call.text(-1, "path") or call.text(0)
            if not said and call.places:
                inner = list(source.strings_in(*call.places[0]))  # ({"/a", "/b"})
                said = (source.string(inner[0]) or "") if inner else ""
        elif kind in ("Path", "Get", "Post", "Put", "Delete", "Controller"):
            continue
        before_class = code.find("class ", match.end(), match.end() + 400)
        brace = code.find("{", match.end(), match.end() + 600)
        if kind in ("RequestMapping", "Path", "Controller") and 0 <= before_class < brace:
            waiting = said
            if at_class < 0:
                prefix = ""
            continue
        spelt = names.routes(said, prefix)
        if spelt:
            found.add(spelt, "endpoint", match.start(), names.route_word(said))


def _columns(source: Source, found: Found) -> None:
    code = source.code
    is_entity, said = False, ""
    tables: list[str] = []
    owner = 0
    for match in _JPA.finditer(code):
        if match[3]:
            tables = []
            if is_entity:
                tables = names.table(said) if said else names.table_of_class(match[3])
                owner = match.start(3)
                found.add(tables, "table", owner)
            is_entity, said = False, ""
        elif match[1] == "Entity":
            is_entity = True
        elif match[1] == "Table":
            said = source.call(match.end() - 1).text(-1, "name") if match[2] else ""
        elif tables:
            column = source.call(match.end() - 1).text(-1, "name") if match[2] else ""
            after = source.past_blanks(source.close(match.end() - 1) + 1 if match[2] else match.end())
            field = _FIELD_NAME.match(code, after)
            name = (field[1] or field[2]) if field is not None else ""
            if name or column:
                found.add(names.columns(tables, name, column), "column", match.start(), name or column, owner)
