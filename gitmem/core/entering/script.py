"""JavaScript and TypeScript: symbols, imports, environment variables, routes, columns of models and migrations."""

from __future__ import annotations

from gitmem.core.entering import environment, known, names, sql
from gitmem.core.entering.found import Found
from gitmem.core.entering.pattern import Pattern
from gitmem.core.entering.source import Source, Span, whole_words, word_before


def read(path: str, text: str, found: Found) -> None:
    source = Source(path, text, "script")
    sql.read_strings(source, found)
    environment.read_strings(source, found)
    _symbols(source, found)
    _imports(source, found)
    _environment(source, found)
    _routes(source, found)
    _tables(source, found)
    _way_back(source, found)


# --- symbols -----------------------------------------------------------------------------------

_DECLARED = Pattern(
    r"function[ \t]{0,9}+\*?[ \t]{0,9}+([\w$]{1,200}+)"
    r"|class[ \t\n]{1,9}+(?!extends\b)([A-Za-z_$][\w$]{0,200}+)"
    r"|const[ \t]{1,9}+([\w$]{1,200}+)[^=;\n]{0,200}?=(?![=>])[ \t\n]{0,50}+"
    r"|let[ \t]{1,9}+([\w$]{1,200}+)[^=;\n]{0,200}?=(?![=>])[ \t\n]{0,50}+"
    r"|var[ \t]{1,9}+([\w$]{1,200}+)[^=;\n]{0,200}?=(?![=>])[ \t\n]{0,50}+"
)
_ARROW = Pattern(r"(?:async\b[ \t]{0,9}+)?(?:function\b|[\w$]{1,200}+[ \t]{0,9}+=>)")
_MEMBER = Pattern(r"([@#]?[\w$]{1,60}+)[ \t]{0,9}+(?:<[^<>()]{0,100}>)?[ \t]{0,9}+$")
_PROPERTY = Pattern(
    r"([#]?[\w$]{1,60}+)[ \t]{0,9}+(?::[^=\n]{0,100}+)?+=[ \t\n]{0,50}+(?:async[ \t]{0,9}+)?(?:<[^<>()]{0,100}>)?$"
)
_NO_MEMBERS = frozenset("if for while switch catch return function await typeof new super import do with".split())


def _symbols(source: Source, found: Found) -> None:
    code = source.code
    declared: list[tuple[int, str, int, bool]] = []  # where it stands, its name, where it ends, whether a class
    for match in whole_words(_DECLARED, code):
        kind = match.lastindex or 1
        name, at = match[kind], match.start(kind)
        if kind == 1:
            opens = code.find("(", match.end(), match.end() + 300)
            end = _body_end(source, opens) if opens >= 0 else match.end()
            declared.append((at, name, end, False))
        elif kind == 2:
            opens = code.find("{", match.end(), match.end() + 500)
            end = source.close(opens) if opens >= 0 else match.end()
            declared.append((at, name, end, True))
            if opens >= 0:
                declared += [(place, member, stop, False) for place, member, stop in _members(source, opens)]
        else:
            end = _function_end(source, match.end())
            if end:
                declared.append((at, name, end, False))
    declared.sort()
    outer: list[tuple[str, int, int]] = []
    for at, name, end, is_class in declared:
        while outer and outer[-1][1] <= at:
            outer.pop()
        chain = [one[0] for one in outer[-20:]] + [name]
        owner = outer[-1][2] if outer else -1
        found.add(names.symbol(source.path, chain), "class" if is_class else "function", at, name.lstrip("#"), owner)
        outer.append((name, end, at))


def _function_end(source: Source, at: int) -> int:
    """Return where the function ends that a value at `at` is, or 0 if it is none."""
    code = source.code
    match = _ARROW.match(code, at)
    if match is not None:
        if match[0].endswith("function"):
            opens = code.find("(", match.end(), match.end() + 300)
            return _body_end(source, opens) if opens >= 0 else at
        return _arrow_end(source, match.end())
    if code.startswith("async", at):
        at = source.past_blanks(at + 5)
    if code[at : at + 1] == "<":
        opens = code.find("(", at, at + 200)
        at = opens if opens >= 0 else at
    if code[at : at + 1] != "(":
        return 0
    close = source.close(at)
    arrow = code.find("=>", close, close + 300)
    if arrow < 0:
        return 0
    between = code[close + 1 : arrow].strip()
    if between and between[0] != ":":
        return 0
    return _arrow_end(source, arrow + 2)


def _arrow_end(source: Source, at: int) -> int:
    at = source.past_blanks(at)
    return source.close(at) if source.code[at : at + 1] in ("{", "(") else at + 1


def _body_end(source: Source, opens: int) -> int:
    """Return where the body ends of a function whose parameters open at `opens`."""
    close = source.close(opens)
    body = source.code.find("{", close, close + 300)
    return source.close(body) if body >= 0 else close


def _members(source: Source, opens: int) -> list[tuple[int, str, int]]:
    """Return the methods, and the properties that are functions, directly in the class body at `opens`."""
    code = source.code
    end = source.close(opens)
    found: list[tuple[int, str, int]] = []
    at = opens + 1
    while True:
        match = _OPENING.search(code, at, end)
        if match is None:
            return found
        place = match.start()
        close = source.close(place)
        if match[0] == "(":
            start = max(opens + 1, place - 120, at)
            before = code[start:place]
            prop = _PROPERTY.search(before)
            member = None if prop is not None else _MEMBER.search(before)
            if prop is not None:
                arrow = code.find("=>", close, close + 200)
                if arrow >= 0:
                    stop = _arrow_end(source, arrow + 2)
                    found.append((start + prop.start(1), prop[1], stop))
                    close = max(close, stop)
            elif member is not None:
                name = member[1]
                after = source.past_blanks(close + 1)
                previous = before[: member.start()].rstrip()[-1:]
                if name[0] != "@" and name not in _NO_MEMBERS and previous not in ("=", ".", "?", ","):
                    if code[after : after + 1] in ("{", ":"):
                        body = code.find("{", close, close + 300)
                        stop = source.close(body) if body >= 0 else close
                        found.append((start + member.start(1), name, stop))
                        close = max(close, stop)
        at = max(close, place) + 1


_OPENING = Pattern(r"[({\[]")

# --- imports, environment ----------------------------------------------------------------------

_IMPORT = Pattern(
    r"from[ \t\n]{0,50}+(?=[\"'])|import[ \t\n]{0,50}+(?:\([ \t\n]{0,50}+)?(?=[\"'`])"
    r"|require(?:\.resolve)?[ \t]{0,9}+\([ \t\n]{0,50}+(?=[\"'`])"
)


def _imports(source: Source, found: Found) -> None:
    for match in whole_words(_IMPORT, source.code):
        package = package_of(source.string(match.end()) or "")
        if package:
            found.add(names.node_package(package), "dependency", match.end(), package)


def package_of(said: str) -> str:
    """Return the package that an import names, or nothing for a file, an alias and Node's own modules."""
    if not said or said[0] in "./#~$" or said.startswith("@/") or ":" in said or "${" in said or " " in said:
        return ""
    parts = said.split("/")
    if said[0] == "@":
        if len(parts) < 2 or len(parts[0]) < 2 or not parts[1]:
            return ""
        package = "/".join(parts[:2])
    else:
        package = parts[0]
    if package in known.NODE or package != package.lower():
        return ""
    return (
        package
        if package.replace("/", "").lstrip("@").replace("-", "a").replace(".", "a").replace("_", "a").isalnum()
        else ""
    )


_ENV = Pattern(
    r"\b(?:process|Bun|import\.meta)\.env(?:\?\.|\.)?(?:\[[ \t]{0,9}+)?(?:([A-Za-z_]\w{0,200}+)|(?=[\"'`]))"
    r"|\bDeno\.env\.(?:get|has)\([ \t]{0,9}+(?=[\"'`])"
)
_TAKEN_APART = Pattern(r"\}[ \t]{0,9}+=[ \t]{0,9}+(?:process|import\.meta|Bun)\.env\b")


def _environment(source: Source, found: Found) -> None:
    code = source.code
    if ".env" not in code:
        return
    for match in _ENV.finditer(code):
        name, at = match[1], match.start(1)
        if not name:
            name, at = source.string(match.end()) or "", match.end()
        if names.is_env(name):
            found.add([f"env/{name}"], "env_var", at, name)
    for match in _TAKEN_APART.finditer(code):
        opens = code.rfind("{", max(0, match.start() - 2000), match.start())
        if opens >= 0:
            for name, (at, _) in source.items(opens).items():
                if names.is_env(name):
                    found.add([f"env/{name}"], "env_var", at, name)


# --- routes ------------------------------------------------------------------------------------

#: What answers requests, by the names that people give it; `axios.get("/users")` asks.
_ANSWERS = frozenset("app server fastify api koa hono route routes".split())
_ROUTE_HINTS = ("outer.", "app.", "App.", "server.", "fastify.", "api.", "koa.", "hono.", "route.", "outes.")
_ROUTE = Pattern(
    r"\.(?:get|post|put|delete|patch|all|head|options|route|use|del)"
    r"[ \t]{0,9}+(?:<[^<>()]{0,100}+>)?+\([ \t\n]{0,50}+(?=[\"'`])"
)
_URL = Pattern(r"\.route[ \t]{0,9}+\([ \t\n]{0,50}+(?=\{)")
_NEST = Pattern(r"@(Controller|Get|Post|Put|Delete|Patch|All|Head|Options)[ \t]{0,9}+\(")


def _routes(source: Source, found: Found) -> None:
    code = source.code
    for match in _ROUTE.finditer(code) if any(hint in code for hint in _ROUTE_HINTS) else ():
        receiver = word_before(code, match.start())
        if receiver not in _ANSWERS and not receiver.endswith(("outer", "outes", "App")):
            continue
        said = source.string(match.end()) or ""
        if said.startswith("/") and "${" not in said:
            _route(found, said, "", match.end())
    for match in _URL.finditer(code) if "url:" in code else ():
        at = source.items(match.end()).get("url", (0, (0, 0)))[1][0]
        said = source.string(at) or "" if at else ""
        if said.startswith("/"):
            _route(found, said, "", at)
    prefix = ""
    if "@Controller" in code:
        for match in _NEST.finditer(code):
            call = source.call(match.end() - 1)
            said = call.text(0) or call.text(-1, "path")
            if not said and call.places and code[call.places[0][0]] == "{":
                at = source.items(call.places[0][0]).get("path", (0, (0, 0)))[1][0]
                said = (source.string(at) or "") if at else ""
            if match[1] == "Controller":
                prefix = said
            else:
                _route(found, said, prefix, match.start())
    _file_route(source.path, found)


def _route(found: Found, said: str, prefix: str, at: int) -> None:
    found.add(names.routes(said, prefix), "endpoint", at, names.route_word(said))


def _file_route(path: str, found: Found) -> None:
    """A file of Next.js, Nuxt or SvelteKit that is a route: `app/api/users/[id]/route.ts`, `pages/api/users.ts`."""
    stem = path.rpartition(".")[0]
    for front, end in (("app/api/", "/route"), ("pages/api/", ""), ("server/api/", ""), ("routes/api/", "/+server")):
        at = stem.find(front)
        if at >= 0 and (at == 0 or stem[at - 1] == "/") and stem.endswith(end):
            route = stem[at + len(front) : len(stem) - len(end)].removesuffix("/index")
            parts = [part for part in route.split("/") if not (part.startswith("(") and part.endswith(")"))]
            found.add(names.routes("/".join(["api", *parts])), "endpoint", 0)
            return


# --- tables ------------------------------------------------------------------------------------

_CALL = Pattern(
    r"\b(addColumn|createTable|createTableIfNotExists|alterTable|table|renameColumn|renameTable|addIndex|define|init"
    r"|pgTable|mysqlTable|sqliteTable|addColumns)[ \t]{0,9}+(?:<[^<>()]{0,100}>)?\("
)
_BLOCKS = frozenset(("createTable", "createTableIfNotExists", "alterTable"))
_HINTS = ("addColumn", "createTable", "alterTable", ".table(", "rename", "define(", ".init(", "Table(")
_DRIZZLE = frozenset(("pgTable", "mysqlTable", "sqliteTable"))
#: Methods of a table in a Knex migration that make a column.
_KNEX = frozenset(
    """
    increments integer bigInteger bigint tinyint smallint mediumint text string float double decimal boolean date
    datetime time timestamp binary enum enu json jsonb uuid geometry specificType bigIncrements point
    """.split()
)
_KNEX_CALL = Pattern(r"\.(\w{1,60}+)[ \t]{0,9}+\([ \t\n]{0,50}+(?=[\"'`])|\.(timestamps)\b")


def _tables(source: Source, found: Found) -> None:
    code = source.code
    if any(hint in code for hint in _HINTS):
        end = 0
        for match in _CALL.finditer(code):
            if match[1] in _BLOCKS:
                if match.start() < end:
                    continue  # within another one, which reads to its end
                end = source.close(match.end() - 1)
            _table_call(source, match[1], match.start(), match.end() - 1, found)
    if "@Column" in code or "@PrimaryGeneratedColumn" in code or "@PrimaryColumn" in code or "@Entity" in code:
        _typeorm(source, found)


def _table_call(source: Source, kind: str, start: int, opens: int, found: Found) -> None:
    code = source.code
    is_method = code[start - 1 : start] == "."
    if kind in ("init", "define"):
        if is_method:
            _sequelize(source, kind, start, opens, found)
        return
    spans = source.parts(opens)
    if not spans:
        return
    said = [source.string(span[0]) or "" for span in spans[:3]]
    if kind in _DRIZZLE or (kind == "table" and is_method and len(spans) > 1 and code[spans[1][0]] == "{"):
        if said[0] and len(spans) > 1 and code[spans[1][0]] == "{":
            tables = names.table(said[0])
            found.add(tables, "table", spans[0][0], said[0])
            for key, (at, value) in source.items(spans[1][0]).items():
                column = _first_string(source, value)
                found.add(names.columns(tables, key, column), "column", at, key, spans[0][0])
    elif kind == "addColumn" and len(spans) > 1:
        column, at = said[1], spans[1][0]
        if not column:
            at = code.find("{", spans[1][0], spans[1][1])
            column = _name_in(source, at)
        if said[0] and column:
            found.add(names.columns(names.table(said[0]), column), "column", at, column, spans[0][0])
    elif kind == "addColumns" and said[0] and len(spans) > 1 and code[spans[1][0]] == "[":
        _columns_in(source, names.table(said[0]), spans[1], spans[0][0], found)
    elif kind == "renameColumn" and len(spans) > 2 and said[0] and said[2]:
        found.add(names.columns(names.table(said[0]), said[2]), "column", spans[2][0], said[2], spans[0][0])
    elif kind == "renameTable" and len(spans) > 1 and said[1]:
        found.add(names.table(said[1]), "table", spans[1][0], said[1])
    elif kind == "addIndex" and said[0]:
        at = code.find("{", opens, source.close(opens))
        index = _name_in(source, at)
        if index:
            found.add([f"{one}.{index}" for one in names.table(said[0])] + [index], "index", at, index)
    elif kind in ("createTable", "createTableIfNotExists", "alterTable", "table") and is_method:
        _create(source, kind, spans, said, found)


def _create(source: Source, kind: str, spans: list[Span], said: list[str], found: Found) -> None:
    """`createTable` of Sequelize (an object), TypeORM (`new Table({…})`) and Knex (a function)."""
    code = source.code
    creates = kind.startswith("create")
    if not said[0]:
        at = code.find("{", *spans[0])
        if creates and at >= 0 and "Table" in code[spans[0][0] : at]:
            table = _name_in(source, at)
            if table:
                tables = names.table(table)
                found.add(tables, "table", spans[0][0], table)
                columns = source.items(at).get("columns")
                if columns is not None:
                    _columns_in(source, tables, columns[1], spans[0][0], found)
        return
    tables = names.table(said[0])
    if creates:
        found.add(tables, "table", spans[0][0], said[0])
    if len(spans) < 2:
        return
    if code[spans[1][0]] == "{":
        if creates:
            for key, (at, value) in source.items(spans[1][0]).items():
                field = _field_in(source, value)
                found.add(names.columns(tables, key, field), "column", at, key, spans[0][0])
        return
    for match in _KNEX_CALL.finditer(code, *spans[1]):
        if match[2]:
            for column in ("created_at", "updated_at"):
                found.add(names.columns(tables, column), "column", match.start(), "", spans[0][0])
            continue
        column, at = source.string(match.end()) or "", match.end()
        if match[1] == "renameColumn":
            more = source.call(code.find("(", match.start()))
            column, at = more.text(1), more.places[1][0] if len(more.places) > 1 else at
        elif match[1] not in _KNEX:
            continue
        if column:
            found.add(names.columns(tables, column), "column", at, column, spans[0][0])


def _columns_in(source: Source, tables: list[str], span: Span, owner: int, found: Found) -> None:
    """Take in `[{ name: "a" }, new TableColumn({ name: "b" })]`."""
    if source.code[span[0] : span[0] + 1] != "[":
        return
    for start, end in source.parts(span[0]):
        at = source.code.find("{", start, end)
        column = _name_in(source, at)
        if column:
            found.add(names.columns(tables, column), "column", at, column, owner)


def _sequelize(source: Source, kind: str, start: int, opens: int, found: Found) -> None:
    code = source.code
    spans = source.parts(opens)
    first = 0 if kind == "init" else 1
    if len(spans) < first + 1 or code[spans[first][0]] != "{":
        return
    if kind == "init":
        front = code[max(0, start - 61) : start - 1]
        name = front[len(front.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$")) :]
        if not name[:1].isupper() or len(spans) < 2:
            return
    else:
        name = source.string(spans[0][0]) or ""
        if not name:
            return
    tables: list[str] = []
    if len(spans) > first + 1 and code[spans[first + 1][0]] == "{":
        options = source.items(spans[first + 1][0])
        for key in ("tableName", "modelName"):
            if key in options and not tables:
                said = source.string(options[key][1][0]) or ""
                if said:
                    tables = names.table(said) if key == "tableName" else names.table_of_class(said)
        if kind == "init" and not ("sequelize" in options or tables):
            return
    elif kind == "init":
        return
    tables = tables or names.table_of_class(name)
    found.add(tables, "table", start)
    for key, (at, value) in source.items(spans[first][0]).items():
        found.add(names.columns(tables, key, _field_in(source, value)), "column", at, key, start)


def _field_in(source: Source, value: Span) -> str:
    """Return the `field` of a Sequelize attribute: its column."""
    if source.code[value[0] : value[0] + 1] == "{":
        found = source.items(value[0]).get("field")
        if found is not None:
            return source.string(found[1][0]) or ""
    return ""


def _name_in(source: Source, at: int) -> str:
    """Return the `name` of the object at `at`."""
    if at < 0:
        return ""
    found = source.items(at).get("name")
    return "" if found is None else source.string(found[1][0]) or ""


def _first_string(source: Source, value: Span) -> str:
    """Return the literal that a call begins with: `text("card_token")`."""
    opens = source.code.find("(", *value)
    if opens < 0:
        return ""
    return source.string(source.past_blanks(opens + 1)) or ""


_DECORATED = Pattern(
    r"@(Entity|Column|PrimaryColumn|PrimaryGeneratedColumn|CreateDateColumn|UpdateDateColumn|DeleteDateColumn"
    r"|VersionColumn|JoinColumn|ObjectIdColumn|ManyToOne|OneToOne|AllowNull|Table)\b[ \t]{0,9}+\(?"
    r"|\bclass[ \t]{1,9}+([\w$]{1,200}+)"
)
_PROPERTY_NAME = Pattern(
    r"[ \t\n]{0,200}+(?:(?:public|private|protected|readonly|declare|static)[ \t\n]{1,50}+){0,4}+"
    r"([\w$]{1,200}+)[ \t]{0,9}+[?!:;=]"
)


def _typeorm(source: Source, found: Found) -> None:
    """`@Entity("users") class User { @Column({ name: "card_token" }) cardToken: string }`"""
    code = source.code
    said: str | None = None  # what the last @Entity says, before its class
    tables: list[str] = []
    owner = 0
    for match in _DECORATED.finditer(code):
        if match[2]:
            tables = []
            if said is not None:
                tables = names.table(said) if said else names.table_of_class(match[2])
                owner = match.start()
                found.add(tables, "table", owner)
            said = None
            continue
        kind = match[1]
        opens = match.end() - 1 if match[0].endswith("(") else -1
        if kind in ("Entity", "Table"):
            said = _said(source, opens)
            continue
        if not tables or kind == "AllowNull":
            continue
        after = source.close(opens) + 1 if opens >= 0 else match.end()
        # Other decorators may stand between this one and the property.
        for _ in range(10):
            after = source.past_blanks(after)
            if code[after : after + 1] != "@":
                break
            paren = code.find("(", after, after + 80)
            line = code.find("\n", after)
            after = source.close(paren) + 1 if paren >= 0 and (line < 0 or paren < line) else max(line, after + 1)
        name = _PROPERTY_NAME.match(code, after)
        column = _said(source, opens)
        if name is None or (kind in ("ManyToOne", "OneToOne") and not column):
            continue
        spelt = [name[1], column]
        if kind == "JoinColumn":
            spelt = [column] if column else [name[1] + "Id", name[1] + "_id"]
        found.add(
            names.columns(tables, *spelt), "column", name.start(1), "" if kind == "JoinColumn" else name[1], owner
        )


def _said(source: Source, opens: int) -> str:
    """Return the name that a decorator says: `("users")`, `({ name: "users" })`."""
    if opens < 0:
        return ""
    at = source.past_blanks(opens + 1)
    said = source.string(at)
    if said is not None:
        brace = source.code.find("{", at, source.close(opens))
        return said if brace < 0 else _name_in(source, brace) or said
    if source.code[at : at + 1] == "{":
        items = source.items(at)
        for key in ("name", "tableName", "field"):
            if key in items:
                return source.string(items[key][1][0]) or ""
    return ""


# --- the way back ------------------------------------------------------------------------------

_DOWN = Pattern(r"\b(?:down|rollback)\b(?=[ \t]{0,9}+[(:=]|[ \t]{0,9}+\()")
_UP = Pattern(r"\bup\b[ \t]{0,9}+[(:=]")


def _way_back(source: Source, found: Found) -> None:
    """`down` of a migration undoes what its `up` does."""
    code = source.code
    if not ("down" in code or "rollback" in code) or _UP.search(code) is None:
        return
    end = 0
    for match in _DOWN.finditer(code):
        at = match.end()
        if match.start() < end:
            continue  # a call within it
        opens = code.find("(", at, at + 100)
        after = source.close(opens) + 1 if opens >= 0 else at
        stop = code.find("\n", after)
        body = code.find("{", after, len(code) if stop < 0 else stop + 1)
        if body >= 0:
            end = source.close(body)
        else:
            cuts = [cut for cut in (code.find("\nexport", after), code.find("\nmodule", after)) if cut >= 0]
            end = min(cuts) if cuts else len(code)
        found.backward.append((match.start(), end))
