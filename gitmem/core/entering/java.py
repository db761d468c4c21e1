"""Java and Kotlin: symbols, imports, environment variables, routes of Spring and JAX-RS, columns of JPA."""

from __future__ import annotations

from gitmem.core.entering import known, names, sql
from gitmem.core.entering.found import Found
from gitmem.core.entering.pattern import Pattern
from gitmem.core.entering.source import Source, whole_words, word_before

_DECLARED = Pattern(
    r"class[ \t]{1,9}+([A-Z]\w{0,200}+)|interface[ \t]{1,9}+([A-Z]\w{0,200}+)|enum[ \t]{1,9}+([A-Z]\w{0,200}+)"
    r"|record[ \t]{1,9}+([A-Z]\w{0,200}+)|object[ \t]{1,9}+([A-Z]\w{0,200}+)"
    r"|fun[ \t]{1,9}+(?:<[^<>\n]{0,100}+>[ \t]{0,9}+)?(?:[\w.<>?]{1,100}+\.)?([A-Za-z_]\w{0,200}+)[ \t]{0,9}+\("
)
#: What ends the head of a method in Java and begins its body.
_BODY = Pattern(r"\)[ \t\r\n]{0,200}+(?:throws[^{};()]{0,300}+)?\{")
#: Words before `(` that are no method's name, and words before a name that make the whole an expression.
_NO_METHODS = frozenset(
    "if for while switch catch return new throw synchronized try assert do else when super this yield".split()
)
_IMPORT = Pattern(r"(?:^|\n)[ \t]{0,9}+import[ \t]{1,9}+(?:static[ \t]{1,9}+)?([\w.]{1,300}+)")
_PACKAGE = Pattern(r"(?:^|\n)[ \t]{0,9}+package[ \t]{1,9}+([\w.]{1,300}+)")
_ENV = Pattern(r"\bgetenv\([ \t]{0,9}+(?=\")|\bgetenv\(\)(?:\.get\(|\[)[ \t]{0,9}+(?=\")")
_VALUE = Pattern(r"@Value[ \t]{0,9}+\([ \t]{0,9}+(?=\")")
_ROUTE = Pattern(
    r"@(RequestMapping|GetMapping|PostMapping|PutMapping|DeleteMapping|PatchMapping|Path|Controller|Get|Post|Put|Delete)"
    r"\b[ \t]{0,9}+(\()?|\b(class|interface)[ \t]{1,9}+[A-Z]"
)
_JPA = Pattern(r"@(Entity|Table|Column|JoinColumn|Id)\b[ \t]{0,9}+(\()?|\bclass[ \t]{1,9}+([A-Z]\w{0,200}+)")
_FIELD_NAME = Pattern(
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
    for match in _ENV.finditer(code) if "getenv" in code else ():
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
    declared: list[tuple[int, str, int, bool]] = []  # where it stands, its name, where it ends, whether a class
    for match in whole_words(_DECLARED, code):
        kind = match.lastindex or 1
        name, at = match[kind], match.start(kind)
        if kind == 6:
            declared.append((at, name, at, False))
        else:
            opens = code.find("{", match.end(), match.end() + 600)
            declared.append((at, name, source.close(opens) if opens >= 0 else at, True))
    for match in _BODY.finditer(code):
        opens = source.open(match.start())
        if opens < 0:
            continue
        end = opens
        while end > 0 and code[end - 1] in " \t":
            end -= 1
        name = word_before(code, end)
        at = end - len(name)
        before = code[max(0, at - 80) : at].rstrip()
        word = word_before(before, len(before))
        # A method stands after its type, a constructor after a modifier or nothing; `fun` was found above.
        if (
            not name
            or name in _NO_METHODS
            or word in _NO_METHODS
            or word == "fun"
            or before[-1:] in (".", "=", "(", ",")
        ):
            continue
        if word or before[-1:] in (">", "]") or (before[-1:] in ("{", "}", ";", "") and name[0].isupper()):
            declared.append((at, name, source.close(match.end() - 1), False))
    declared.sort()
    outer: list[tuple[str, int, bool, int]] = []
    for at, name, end, is_class in declared:
        while outer and outer[-1][1] <= at:
            outer.pop()
        if not is_class and outer and not outer[-1][2]:
            continue  # within a method: a local function, or an anonymous class
        chain = [one[0] for one in outer[-20:]]
        owner = outer[-1][3] if outer else -1
        found.add(names.symbol(source.path, [*chain, name]), "class" if is_class else "function", at, name, owner)
        outer.append((name, end, is_class, at))


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
                inner = next(source.strings_in(*call.places[0]), -1)  # ({"/a", "/b"})
                said = source.string(inner) or ""
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
