"""Python: symbols, imports, environment variables, routes, columns of models, what migrations bring in."""

from __future__ import annotations

from itertools import islice

from gitmem.core.entering import environment, known, names, sql
from gitmem.core.entering.found import Found
from gitmem.core.entering.pattern import Pattern
from gitmem.core.entering.source import Call, Source, Span

_UP = frozenset(("upgrade", "up", "forwards", "upgrade_", "apply"))
_DOWN = frozenset(("downgrade", "down", "backwards", "rollback"))


def read(path: str, text: str, found: Found) -> None:
    source = Source(path, text, "python")
    sql.read_strings(source, found)
    environment.read_strings(source, found)
    _Lines(source, found).read()
    _calls(source, found)
    _environment(source, found)
    _routes(source, found)


# --- lines: symbols, imports, the bodies of classes --------------------------------------------


class _Scope:
    """A class or a function that a line stands in."""

    __slots__ = ("at", "body", "indent", "is_class", "model", "name")

    def __init__(self, name: str, indent: int, at: int, *, is_class: bool) -> None:
        self.name = name
        self.indent = indent
        self.at = at
        self.is_class = is_class
        self.body = -1  # how far its statements are indented
        self.model: _Model | None = None


class _Model:
    """What the body of a class says about a table."""

    __slots__ = ("app", "at", "bases", "columns", "is_abstract", "is_django", "name", "said", "schema")

    def __init__(self, name: str, at: int, bases: str) -> None:
        self.name = name
        self.at = at
        self.bases = bases
        self.said = ""  # its table's name
        self.schema = ""
        self.app = ""
        self.is_abstract = False
        self.is_django = False
        self.columns: list[tuple[int, list[str]]] = []


#: What offers fields that are no columns.
_NO_MODELS = frozenset("serializers forms filters graphene fields wtforms django_filters ma schema".split())


#: Fields that are called by their bare name in a class of any file, if that is some kind of `Model`.
_PEEWEE = frozenset(
    """
    AutoField BigAutoField IntegerField BigIntegerField SmallIntegerField IdentityField FloatField DoubleField
    DecimalField CharField FixedCharField TextField BlobField BitField UUIDField BinaryUUIDField DateTimeField DateField
    TimeField TimestampField IPField BooleanField ForeignKeyField JSONField BinaryJSONField ArrayField
    """.split()
)


class _Lines:
    __slots__ = (
        "_app",
        "_backward",
        "_found",
        "_functions",
        "_in_models",
        "_models",
        "_own",
        "_path",
        "_scopes",
        "_source",
    )

    def __init__(self, source: Source, found: Found) -> None:
        self._source = source
        self._found = found
        self._path = path = source.path
        parts = path.lower().split("/")
        self._in_models = parts[-1] == "models.py" or "models" in parts[:-1]
        self._app = _app(path)
        self._own = {part.removesuffix(".py") for part in path.split("/")}
        self._scopes: list[_Scope] = []
        self._models: list[_Model] = []
        self._functions: set[str] = set()
        self._backward: list[tuple[str, int, int]] = []

    def read(self) -> None:
        at = 0
        scopes = self._scopes
        for line in self._source.code.split("\n"):
            said = line.lstrip(" \t\f\r")
            if said:
                indent = len(line) - len(said)
                while scopes and indent <= scopes[-1].indent and said[0] not in ")]}":
                    self._leave(at)
                first = said[0]
                if first == "d" and said.startswith("def "):
                    self._symbol(said[4:], at + indent + 4, indent, is_class=False)
                elif first == "c" and said.startswith("class "):
                    self._symbol(said[6:], at + indent + 6, indent, is_class=True)
                elif first == "a" and said.startswith("async def "):
                    self._symbol(said[10:], at + indent + 10, indent, is_class=False)
                elif first == "i" and said.startswith("import "):
                    self._import(said[7:], at + indent + 7)
                elif first == "f" and said.startswith("from "):
                    self._import_from(said[5:], at + indent + 5)
                elif scopes and scopes[-1].is_class:
                    scope = scopes[-1]
                    if scope.body < 0:
                        scope.body = indent
                    if indent == scope.body:
                        self._field(said, at + indent)
            at += len(line) + 1
        while scopes:
            self._leave(at)
        if self._backward and self._functions & _UP:
            self._found.backward += [(start, end) for _, start, end in self._backward]
        for model in self._models:
            self._tell(model)

    def _leave(self, at: int) -> None:
        scope = self._scopes.pop()
        if scope.name in _DOWN and not scope.is_class:
            self._backward.append((scope.name, scope.at, at))

    def _symbol(self, said: str, at: int, indent: int, *, is_class: bool) -> None:
        name = _identifier(said)
        if not name:
            return
        scopes = self._scopes
        if scopes and scopes[-1].body < 0:
            scopes[-1].body = indent
        chain = [scope.name for scope in scopes[-20:]] + [name]
        self._found.add(
            names.symbol(self._path, chain),
            "class" if is_class else "function",
            at,
            name,
            scopes[-1].at if scopes else -1,
        )
        scope = _Scope(name, indent, at, is_class=is_class)
        if is_class:
            outer = scopes[-1].model if scopes else None
            if name == "Meta" and outer is not None:
                scope.model = outer
            else:
                bases = ""
                opens = at + len(name)
                if self._source.code[opens : opens + 1] == "(":
                    bases = self._source.code[opens + 1 : self._source.close(opens)]
                scope.model = _Model(name, at, bases)
                self._models.append(scope.model)
        else:
            self._functions.add(name)
        scopes.append(scope)

    def _import(self, said: str, at: int) -> None:
        place = at
        for part in said.split(",")[:50]:
            module = part.strip().partition(" ")[0]
            self._module(module, place + len(part) - len(part.lstrip()))
            place += len(part) + 1

    def _import_from(self, said: str, at: int) -> None:
        module, _, rest = said.partition(" ")
        if rest.lstrip().startswith("import"):
            first = _identifier(rest.lstrip()[6:].lstrip(" (\t"))
            self._module(module, at, first)

    def _module(self, module: str, at: int, imported: str = "") -> None:
        top = module.partition(".")[0]
        if top.isidentifier() and top not in self._own and top not in known.PYTHON and top not in known.PYTHON_OWN:
            self._found.add(import_names(module, imported), "dependency", at, top)

    # --- fields ---

    def _field(self, said: str, at: int) -> None:
        name = _identifier(said)
        rest = said[len(name) :].lstrip(" \t")
        if not name or rest[:1] not in (":", "=") or rest[:2] in ("==", ":="):
            return
        scope = self._scopes[-1]
        model = scope.model
        if model is None:
            return
        annotation = ""
        if rest[0] == ":":
            annotation, equals, value = rest[1:].partition("=")
            annotation = annotation.strip()
            if not equals:
                value = ""
        else:
            value = rest[1:]
        value = value.strip()
        source = self._source
        if scope.name == "Meta" and model.name != "Meta":
            if name in ("db_table", "table_name", "table", "app_label", "abstract", "schema", "db_table_comment"):
                self._option(model, name, value, at)
            return
        if name == "__tablename__":
            model.said = self._value(at) or ""
            return
        callee = value.partition("(")[0].rstrip() if "(" in value else ""
        front, _, last = callee.rpartition(".")
        if last in ("Column", "mapped_column", "deferred") or (
            "Mapped[" in annotation and last not in ("relationship", "association_proxy") and "ist[" not in annotation
        ):
            spelt = [name]
            if last in ("Column", "mapped_column"):
                opens = source.code.find("(", at)
                spelt.append(source.call(opens).text(0, "name"))
            model.columns.append((at, spelt))
        elif annotation and ("SQLModel" in model.bases and "True" in model.bases):
            if last != "Relationship":
                model.columns.append((at, [name]))
        elif annotation and "BaseSettings" in model.bases:
            self._found.add([f"env/{name.upper()}"], "env_var", at, name)
        elif (last.endswith("Field") and last != "Field") or last in ("ForeignKey", "ParentalKey"):
            django = front == "models" or front.endswith(".models")
            if not django and self._in_models and not annotation:
                django = front not in _NO_MODELS and "Serializer" not in model.bases and "Form" not in model.bases
            if not django and not front and last in _PEEWEE:
                django = any(base.strip().endswith("Model") for base in model.bases.split(","))
            if django:
                model.is_django = True
                spelt = [name]
                if last in ("ForeignKey", "OneToOneField", "ParentalKey", "ForeignKeyField"):
                    spelt.append(name + "_id")
                opens = source.code.find("(", at)
                if "db_column" in source.code[opens : source.close(opens)]:
                    spelt.append(source.call(opens).text(-1, "db_column"))
                model.columns.append((at, spelt))

    def _option(self, model: _Model, name: str, value: str, at: int) -> None:
        if name == "abstract":
            model.is_abstract = value.startswith("True")
        elif name == "app_label":
            model.app = self._value(at) or ""
        elif name in ("db_table", "table_name", "table"):
            # Django lets a schema in by quotes within the name: `'app"."users'`.
            model.said = (self._value(at) or "").replace('"', "").strip()

    def _value(self, at: int) -> str | None:
        """Return what the string says that is assigned in the line at `at`."""
        equals = self._source.code.find("=", at)
        return self._source.string(self._source.past_blanks(equals + 1)) if equals >= 0 else None

    def _tell(self, model: _Model) -> None:
        is_model = model.said or model.columns or "models.Model" in model.bases or "db.Model" in model.bases
        if not is_model:
            return
        app = (model.app or self._app) if model.is_django or "models.Model" in model.bases else ""
        tables = names.table(model.said) if model.said else names.table_of_class(model.name, app)
        if not model.is_abstract:
            self._found.add(tables, "table", model.at, model.name if not model.said else "")
        for at, spelt in model.columns:
            self._found.add(names.columns(tables, *spelt), "column", at, spelt[0])


def _app(path: str) -> str:
    """Return the Django app that a file of models or migrations belongs to: the folder that holds it."""
    parts = path.split("/")
    for i in range(len(parts) - 1, 0, -1):
        if parts[i] in ("models", "migrations", "models.py"):
            return parts[i - 1].lower()
    return ""


def _identifier(said: str) -> str:
    stop = 0
    while stop < len(said) and (said[stop].isalnum() or said[stop] == "_"):
        stop += 1
    return said[:stop] if not said[:1].isdigit() else ""


def import_names(module: str, imported: str = "") -> list[str]:
    """Return the names of the dependencies that `import module` (or `from module import imported`) may come from."""
    parts = module.split(".")
    top = parts[0]
    found = names.python_package(top)
    for distribution in known.DISTRIBUTIONS.get(top, ()):
        found += names.python_package(distribution)
    if top in known.PYTHON_SHARED:
        parts = [*parts, imported] if imported else parts
        found += [f"deps/{'-'.join(parts[:n])}".replace("_", "-") for n in (2, 3) if len(parts) >= n]
    return list(dict.fromkeys(found))


# --- calls: migrations, tables -----------------------------------------------------------------

_CALL = Pattern(
    r"\b(AddField|CreateModel|RenameField|RenameModel|AlterModelTable|AddIndex|RunSQL|step"
    r"|add_column|create_table|rename_table|alter_column|create_index|batch_alter_table|Table)[ \t]{0,20}+\("
)
_CALLEE = Pattern(r"(?:\w{1,60}+\.){0,5}+(\w{1,60}+)[ \t\r\n]{0,50}+\(")
_HINTS = ("migrations.", "op.", "batch_op", "Table(", "create_table", "step(")


def _calls(source: Source, found: Found) -> None:
    code = source.code
    if not any(hint in code for hint in _HINTS):
        return
    app = _app(source.path)
    batches: dict[str, tuple[str, int]] = {}
    for match in _CALL.finditer(code):
        kind = match[1]
        call = source.call(match.end() - 1)
        if kind in ("RunSQL", "step"):
            back = call.place(1, "reverse_sql")
            if back is not None:
                found.backward.append(back)
        elif kind[0].isupper() and kind != "Table":
            _django(call, kind, app, found)
        else:
            _alembic(source, call, kind, match.start(), batches, found)


def _django(call: Call, kind: str, app: str, found: Found) -> None:
    source = call.source
    if kind == "CreateModel":
        name, place = call.text(0, "name"), call.place(0, "name")
        if not name or place is None:
            return
        tables = names.table_of_class(name, app)
        options = call.place(-1, "options")
        if options is not None:
            at = _key(source, options, "db_table")
            said = source.string(at) if at >= 0 else ""
            if said:
                tables = names.table(said.replace('"', ""))
        found.add(tables, "table", place[0], name)
        fields = call.place(1, "fields")
        if fields is not None and source.code[fields[0]] == "[":
            for span in source.parts(fields[0]):
                if source.code[span[0]] == "(":
                    field = source.call(span[0])
                    column = field.text(0)
                    if column:
                        spelt = [column, *_more(source, field.place(1), column)]
                        found.add(names.columns(tables, *spelt), "column", span[0], column, place[0])
    elif kind in ("AddField", "RenameField"):
        model = call.text(0, "model_name")
        index, word = (1, "name") if kind == "AddField" else (2, "new_name")
        column, place = call.text(index, word), call.place(index, word)
        if model and column and place is not None:
            spelt = [column, *(_more(source, call.place(2, "field"), column) if kind == "AddField" else ())]
            owner = call.place(0, "model_name") or place
            found.add(names.columns(names.table_of_class(model, app), *spelt), "column", place[0], column, owner[0])
    elif kind == "RenameModel":
        name, place = call.text(1, "new_name"), call.place(1, "new_name")
        if name and place is not None:
            found.add(names.table_of_class(name, app), "table", place[0], name)
    elif kind == "AlterModelTable":
        name, place = call.text(1, "table"), call.place(1, "table")
        if name and place is not None:
            found.add(names.table(name), "table", place[0], name)
    elif kind == "AddIndex":
        model, place = call.text(0, "model_name"), call.place(1, "index")
        inner = _inner(source, place)
        if model and inner is not None and place is not None:
            index_name = inner.text(-1, "name")
            if index_name:
                tables = names.table_of_class(model, app)
                found.add([*(f"{one}.{index_name}" for one in tables), index_name], "index", place[0], index_name)


def _more(source: Source, span: Span | None, column: str) -> list[str]:
    """Return the other names of a Django column: of a foreign key, and where the field says one."""
    if span is None:
        return []
    match = _CALLEE.match(source.code, span[0], span[1])
    if match is None:
        return []
    found = [column + "_id"] if match[1] in ("ForeignKey", "OneToOneField", "ParentalKey") else []
    said = source.call(match.end() - 1).text(-1, "db_column")
    return [*found, said] if said else found


def _key(source: Source, span: Span, key: str) -> int:
    """Return where the value of `key` stands in the dict in `span`, or -1."""
    for place in islice(source.strings_in(*span), 200):
        if source.string(place) == key:
            after = source.past_blanks(source.strings[place][2])
            if source.code[after : after + 1] == ":":
                return source.past_blanks(after + 1)
    return -1


def _inner(source: Source, span: Span | None) -> Call | None:
    """Return the call that an argument is."""
    if span is None:
        return None
    match = _CALLEE.match(source.code, span[0], span[1])
    return None if match is None else source.call(match.end() - 1)


def _alembic(source: Source, call: Call, kind: str, at: int, batches: dict[str, tuple[str, int]], found: Found) -> None:
    code = source.code
    front = code[max(0, at - 60) : at].rpartition("\n")[2].rstrip(". \t")
    variable = front[len(front.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")) :]
    if kind == "batch_alter_table":
        close = source.past_blanks(source.close(code.find("(", at)) + 1)
        if code.startswith("as ", close):
            batches[_identifier(code[close + 3 : close + 60].lstrip())] = (call.text(0), at)
        return
    first = 0
    if variable in batches and code[at - 1 : at] == ".":
        table, owner = batches[variable]
        first = -1
    else:
        span = call.place(0, "table_name")
        table, owner = call.text(0, "table_name"), span[0] if span else at
        if kind == "create_table" and not table:
            table = call.text(0, "name")
    if kind == "create_index":
        _index(call, found, batched=first < 0)
        return
    if not table:
        return
    tables = names.table(f"{schema}.{table}" if (schema := call.text(-1, "schema")) else table)
    if kind == "rename_table":
        new, place = call.text(1, "new_table_name"), call.place(1, "new_table_name")
        if new and place is not None:
            found.add(names.table(new), "table", place[0], new)
    elif kind == "alter_column":
        new, place = call.text(-1, "new_column_name"), call.place(-1, "new_column_name")
        if new and place is not None:
            found.add(names.columns(tables, new), "column", place[0], new, owner)
    else:
        columns = []
        for span in call.places[first + 1 :] + [call.named[n] for n in ("column", "columns") if n in call.named]:
            match = _CALLEE.match(code, span[0], span[1])
            if match is not None and match[1] == "Column":
                inner = source.call(match.end() - 1)
                column, place = inner.text(0, "name"), inner.place(0, "name")
                if column and place is not None:
                    columns.append((column, place[0]))
        if kind == "create_table" or (kind == "Table" and columns):
            found.add(tables, "table", owner, table)
        for column, column_at in columns:
            found.add(names.columns(tables, column), "column", column_at, column, owner)


def _index(call: Call, found: Found, *, batched: bool) -> None:
    index, table = call.text(0, "index_name"), "" if batched else call.text(1, "table_name")
    place = call.place(0, "index_name")
    if index and place is not None:
        spelt = [f"{one}.{index}" for one in names.table(table)] if table else []
        found.add([*spelt, index], "index", place[0], index)


# --- environment -------------------------------------------------------------------------------

_ENVIRON = Pattern(
    r"\benviron(?:b?[ \t]{0,9}+\[|b?\.(?:get|pop|setdefault)[ \t]{0,9}+\()|\bgetenvb?+[ \t]{0,9}+\("
    r"|\benv(?:\.\w{1,20}+)?[ \t]{0,9}+\(|\bconfig[ \t]{0,9}+\(|\bin[ \t]{1,9}+os\.environ\b"
)


def _environment(source: Source, found: Found) -> None:
    code = source.code
    if not any(hint in code for hint in ("environ", "getenv", "env(", "env.", "config(")):
        return
    for match in _ENVIRON.finditer(code):
        said = match[0]
        if said.startswith("in"):
            quote = (
                code[: match.start()].rstrip()[-1:]
                if match.start() < 200
                else code[match.start() - 200 : match.start()].rstrip()[-1:]
            )
            if quote in ("'", '"'):
                before = list(source.strings_in(max(0, match.start() - 200), match.start()))
                if before:
                    _variable(source, before[-1], found)
            continue
        at = source.past_blanks(match.end())
        while code[at : at + 1] in ("b", "r", "u") and at not in source.strings:
            at += 1
        if said.startswith(("env.", "env(", "env ", "config")):
            name = source.string(at)
            if not name or name != name.upper():
                continue
        _variable(source, at, found)


def _variable(source: Source, at: int, found: Found) -> None:
    name = source.string(at)
    if name and names.is_env(name):
        found.add([f"env/{name}"], "env_var", at, name)


# --- routes ------------------------------------------------------------------------------------

# Two patterns that each begin with a letter of their own: the engine passes over the rest of the text at once.
_DECORATOR = Pattern(
    r"@[ \t]{0,9}+(\w{1,60}+)\.(?:route|get|post|put|delete|patch|head|options|websocket|api_route)[ \t]{0,9}+\("
)
_ADDED = Pattern(
    r"\b(path|re_path|url|Route|WebSocketRoute|APIRoute|add_url_rule|add_api_route|add_route|register"
    r"|add_get|add_post|add_put|add_delete|add_patch|add_resource)[ \t]{0,9}+\("
)
_ADDED_HINTS = (
    "Route(",
    "add_url",
    "add_api",
    "add_route",
    "add_get",
    "add_post",
    "add_put",
    "add_delete",
    "add_patch",
    "add_res",
)
_PREFIX = Pattern(
    r"\b(\w{1,60}+)(?:[ \t]{0,9}+:[ \t]{0,9}+\w{1,60}+)?+[ \t]{0,9}+=[ \t]{0,9}+"
    r"(?:\w{1,60}+\.)?+(?:APIRouter|Blueprint|Router)[ \t]{0,9}+\("
)


def _routes(source: Source, found: Found) -> None:
    code, text = source.code, source.text
    prefixes: dict[str, str] = {}
    has_prefix = "prefix" in code and any(hint in code for hint in ("Router(", "Blueprint("))
    if has_prefix:
        for match in _PREFIX.finditer(code):
            call = source.call(match.end() - 1)
            prefix = call.text(-1, "prefix") or call.text(-1, "url_prefix")
            if prefix:
                prefixes[match[1]] = prefix
    for match in _DECORATOR.finditer(code) if has_prefix or '"/' in text or "'/" in text else ():
        call = source.call(match.end() - 1)
        span = call.place(0, "rule") or call.place(0, "path")
        said = call.text(0, "rule") or call.text(0, "path")
        prefix = prefixes.get(match[1], "")
        # `@mock.patch("a.b")` is no route; `@router.get("")` is one below its prefix.
        if span is not None and (said.startswith("/") or (not said and prefix)):
            found.add(names.routes(said, prefix), "endpoint", span[0], names.route_word(said))
    is_urls = "urlpatterns" in code or source.path.endswith("urls.py")
    if not is_urls and not any(hint in code for hint in _ADDED_HINTS):
        return
    for match in _ADDED.finditer(code):
        word = match[1]
        django = word in ("path", "re_path", "url", "register")
        if django and not is_urls:
            continue
        call = source.call(match.end() - 1)
        index = 1 if word == "add_resource" else 0
        span = call.place(index, "rule") or call.place(index, "path")
        said = call.text(index, "rule") or call.text(index, "path")
        if span is None or (not django and said[:1] != "/"):
            continue
        if django and word != "path" and said[:1] != "/":
            said = pattern_route(said)
        found.add(names.routes(said), "endpoint", span[0], names.route_word(said))


def pattern_route(pattern: str) -> str:
    """Turn a regular expression of a route into a route: `^users/(?P<id>\\d+)/$` is `users/{id}/`."""
    out: list[str] = []
    depth, at = 0, 0
    pattern = pattern[:1000].strip("^$").removesuffix("/?").removesuffix("\\Z")
    while at < len(pattern):
        letter = pattern[at]
        if letter == "\\":
            if depth == 0 and pattern[at + 1 : at + 2] in (".", "-", "/"):
                out.append(pattern[at + 1])
            at += 2
            continue
        if letter == "(":
            if depth == 0 and pattern.startswith("(?P<", at):
                close = pattern.find(">", at)
                out.append("{" + pattern[at + 4 : close if close > 0 else len(pattern)] + "}")
            depth += 1
        elif letter == ")":
            depth = max(depth - 1, 0)
        elif depth == 0 and letter not in "^$?+*":
            out.append(letter)
        at += 1
    return "".join(out)
