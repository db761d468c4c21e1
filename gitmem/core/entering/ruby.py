"""Ruby: symbols, requires, environment variables, routes, and what migrations of Rails bring in.

Blocks are known by their indentation: nearly all Ruby is laid out by one style, and matching every `do` and `if`
with its `end` would take a parser.
"""

from __future__ import annotations

from gitmem.core.entering import environment, known, names, sql
from gitmem.core.entering.found import Found
from gitmem.core.entering.pattern import Pattern
from gitmem.core.entering.source import Call, Source


def read(path: str, text: str, found: Found) -> None:
    source = Source(path, text, "ruby")
    sql.read_strings(source, found)
    environment.read_strings(source, found)
    _Lines(source, found).read()
    _environment(source, found)


#: Methods of a table's block that make a column.
_TYPES = frozenset(
    """
    string text integer bigint float decimal numeric datetime timestamp time date binary blob boolean json jsonb uuid
    inet cidr macaddr hstore citext primary_key virtual xml tsvector enum serial bigserial column daterange numrange
    tsrange tstzrange int4range int8range bit bit_varying interval ltree money oid point line lseg box path polygon
    circle timestamptz virtual longtext mediumtext tinytext unsigned_integer unsigned_bigint
    """.split()
)
_REFERENCES = frozenset(("references", "belongs_to", "add_reference", "add_belongs_to"))
_SYMBOL = Pattern(r"(def|class|module)[ \t]{1,20}+(self\.)?+([A-Za-z_][\w:]{0,200}+[?!=]?)")
_REQUIRE = Pattern(r"require[ \t(]{1,5}+(?=[\"'])")
_STATEMENT = Pattern(
    r"(?:\w{1,60}+\.){0,3}?(add_column|add_columns|add_reference|add_belongs_to|add_timestamps|rename_column|rename_table|add_index"
    r"|create_table|change_table|create_join_table|create_virtual_table)\b(?![ \t]{0,9}+=)"
)
_BLOCK = Pattern(r"\bdo[ \t]{0,9}+\|[ \t]{0,9}+(\w{1,60}+)[ \t]{0,9}+\|")
_NAME = Pattern(r":([A-Za-z_]\w{0,200}+)(?![\w?!])")
_OPTION = Pattern(r"[ \t]{0,50}+(?:\r?+\n|$|\#|,[ \t]{1,50}+[a-z_]{1,60}+:(?!:))")
_COLUMN = Pattern(r"(\w{1,60}+)\.(\w{1,60}+)")
_ROUTE = Pattern(
    r"(?:\w{1,60}+\.)?(get|post|put|patch|delete|match|resources?|namespace|scope|root)[ \t(]{1,9}+(?=[:\"'])"
)


class _Block:
    """A block that lines lie in, by their indentation: a class, a method, a table, a part of the routes."""

    __slots__ = ("at", "indent", "kind", "name", "owner_at", "tables")

    def __init__(self, kind: str, name: str, indent: int, at: int) -> None:
        self.kind = kind
        self.name = name
        self.indent = indent
        self.at = at
        self.owner_at = at
        self.tables: list[str] = []


class _Lines:
    __slots__ = ("_backward", "_blocks", "_found", "_has_up", "_is_routes", "_own", "_source")

    def __init__(self, source: Source, found: Found) -> None:
        self._source = source
        self._found = found
        self._blocks: list[_Block] = []
        self._backward: list[tuple[int, int]] = []
        self._has_up = False
        path = source.path.lower()
        self._is_routes = path.endswith("routes.rb") or "config/routes/" in path
        self._own = {part.removesuffix(".rb") for part in path.split("/")}

    def read(self) -> None:
        at = 0
        for line in self._source.code.split("\n"):
            said = line.strip()
            if said:
                indent = len(line) - len(line.lstrip())
                while self._blocks and indent <= self._blocks[-1].indent and said[0] not in ")]}":
                    self._leave(at)
                self._line(said, at + indent, indent)
            at += len(line) + 1
        while self._blocks:
            self._leave(at)
        self._found.backward += self._backward

    def _leave(self, at: int) -> None:
        block = self._blocks.pop()
        if block.kind == "down":
            self._backward.append((block.at, at))

    def _line(self, said: str, at: int, indent: int) -> None:
        first = said[0]
        if first in "dcm" and said.startswith(("def ", "class ", "module ")):
            self._symbol(said, at, indent)
            return
        if first == "r" and said.startswith("require"):
            match = _REQUIRE.match(said)
            if match is not None:
                self._require(self._source.string(at + match.end()) or "", at)
                return
        block = self._blocks[-1] if self._blocks else None
        if ".down " in said and ("do" in said or "{" in said):
            self._blocks.append(_Block("down", "", indent, at))
            return
        match = _STATEMENT.match(said)
        if match is not None:
            self._statement(match[1], at + match.end(), said, at, indent)
        elif block is not None and block.kind == "table":
            match = _COLUMN.match(said)
            if match is not None and match[1] == block.name:
                self._column(match[2], at + match.end(), block, at)
        elif self._is_routes and said in ("member do", "collection do"):
            self._blocks.append(_Block(said.partition(" ")[0], "", indent, at))
        elif self._is_routes or (said.endswith((" do", "|")) and first in "gpd"):
            match = _ROUTE.match(said)
            if match is not None:
                self._route(match[1], at + match.end(), said, indent)

    def _symbol(self, said: str, at: int, indent: int) -> None:
        match = _SYMBOL.match(said)
        if match is None:
            return
        kind, name = match[1], match[3]
        outer = [one for one in self._blocks[-20:] if one.kind in ("class", "module", "def")]
        chain = [one.name for one in outer]
        path = self._source.path
        spelt = names.symbol(path, [*chain, name])
        if kind == "def":
            if chain:
                spelt.append(f"{path}::{'::'.join(chain)}#{name}")
            migration = name in ("up", "down") and indent > 0
            self._has_up = self._has_up or (migration and name == "up")
            down = name == "down" and (self._has_up or "migrat" in path.lower())
            self._blocks.append(_Block("down" if down else "def", name, indent, at))
        else:
            self._blocks.append(_Block(kind, name, indent, at))
        owner = outer[-1].at if outer else -1
        self._found.add(spelt, "function" if kind == "def" else "class", at + match.start(3), name, owner)

    def _require(self, said: str, at: int) -> None:
        top = said.partition("/")[0]
        if not said or said[0] in "./" or top in known.RUBY or said in known.RUBY or top in self._own or " " in said:
            return
        gem = known.GEMS.get(said) or known.GEMS.get(top)
        spelt = names.ruby_gem(said)
        self._found.add([*spelt, f"deps/{gem}"] if gem else spelt, "dependency", at, top)

    # --- migrations ---

    def _call(self, at: int) -> Call:
        """Return the arguments of a call that may have no brackets: to the end of its line, and on after a comma."""
        source = self._source
        code = source.code
        opens = at
        while code[opens : opens + 1] in (" ", "\t"):
            opens += 1
        if code[opens : opens + 1] == "(":
            return source.call(opens)
        end = code.find("\n", at)
        for _ in range(40):
            if end < 1 or code[end - 1] not in ",\\":
                break
            end = code.find("\n", end + 1)
        end = len(code) if end < 0 else end
        block = code.find(" do", at, end)
        if block >= 0 and code[block + 3 : block + 4] in (" ", "\n", ""):
            end = block
        return Call(source, source.split(at, end))

    def _statement(self, kind: str, at: int, said: str, start: int, indent: int) -> None:
        call = self._call(at)
        table = call.text(0)
        found = self._found
        if kind == "create_join_table":
            pair = [call.text(0), call.text(1)]
            table = call.text(-1, "table_name") or ("_".join(sorted(pair)) if all(pair) else "")
        if not table:
            return
        tables = names.table(table)
        owner = start
        if kind in ("create_table", "change_table", "create_join_table", "create_virtual_table"):
            if kind != "change_table":
                found.add(tables, "table", start, call.text(0))
            block = _BLOCK.search(said) or _BLOCK.search(self._source.code[at : at + 400].partition("\n\n")[0])
            if block is not None:
                inner = _Block("table", block[1], indent, start)
                inner.tables = tables
                self._blocks.append(inner)
        elif kind in ("add_column", "add_columns"):
            # add_columns takes several, and a type by name; add_column one, and its type.
            for i in range(1, len(call.places) if kind == "add_columns" else 2):
                column = call.text(i)
                if column:
                    found.add(names.columns(tables, column), "column", call.places[i][0], column, owner)
        elif kind in ("add_reference", "add_belongs_to"):
            self._reference(call, 1, tables, owner)
        elif kind == "add_timestamps":
            for column in ("created_at", "updated_at"):
                found.add(names.columns(tables, column), "column", start, "", owner)
        elif kind == "rename_column":
            column = call.text(2)
            if column:
                found.add(names.columns(tables, column), "column", call.places[2][0], column, owner)
        elif kind == "rename_table":
            new = call.text(1)
            if new:
                found.add(names.table(new), "table", call.places[1][0], new)
        elif kind == "add_index":
            self._index(call, 1, tables, start)

    def _reference(self, call: Call, first: int, tables: list[str], owner: int) -> None:
        for i in range(first, len(call.places)):
            name = call.text(i)
            if name:
                spelt = [name + "_id", name]
                if "polymorphic" in call.named:
                    spelt.append(name + "_type")
                self._found.add(names.columns(tables, *spelt), "column", call.places[i][0], name, owner)

    def _index(self, call: Call, first: int, tables: list[str], start: int) -> None:
        index = call.text(-1, "name")
        if not index:
            span = call.place(first)
            if span is None:
                return
            source = self._source
            columns = [call.text(first)]
            if source.code[span[0]] == "[":
                columns = [Call(source, [one]).text(0) for one in source.parts(span[0])]
            if not all(columns):
                return
            index = f"index_{tables[0].rpartition('.')[2]}_on_{'_and_'.join(columns)}"
        self._found.add([*(f"{one}.{index}" for one in tables), index], "index", start)

    def _column(self, kind: str, at: int, block: _Block, start: int) -> None:
        found, tables, owner = self._found, block.tables, block.owner_at
        if not found.wants(at, owner):
            return
        if kind == "timestamps":
            for column in ("created_at", "updated_at"):
                found.add(names.columns(tables, column), "column", start, "", owner)
            return
        if kind in _REFERENCES:
            self._reference(self._call(at), 0, tables, owner)
        elif kind == "index":
            self._index(self._call(at), 0, tables, start)
        elif kind == "rename":
            call = self._call(at)
            if call.text(1):
                found.add(names.columns(tables, call.text(1)), "column", call.places[1][0], call.text(1), owner)
        elif kind in _TYPES:
            only = self._only_name(at)
            if only is not None:
                found.add(names.columns(tables, only[0]), "column", only[1], only[0], owner)
                return
            call = self._call(at)
            for i in range(1 if kind == "column" else len(call.places)):
                column = call.text(i)
                if column:
                    found.add(names.columns(tables, column), "column", call.places[i][0], column, owner)

    def _only_name(self, at: int) -> tuple[str, int] | None:
        """Return the name of a column and its place, where one name and at most options follow: nearly every line.

        None: read the whole call.
        """
        code, strings = self._source.code, self._source.strings
        while code[at : at + 1] == " ":
            at += 1
        if at in strings:
            start, end, after = strings[at]
            name = self._source.text[start:end]
        else:
            match = _NAME.match(code, at)
            if match is None:
                return None
            name, after = match[1], match.end()
        option = _OPTION.match(code, after)
        return (name, at) if name and option is not None else None

    # --- routes ---

    def _route(self, kind: str, at: int, said: str, indent: int) -> None:
        call = self._call(at)
        path = call.text(0) or (call.text(-1, "path") if kind == "scope" else "")
        if not path and call.places:
            path = self._source.string(call.places[0][0]) or ""  # get "/health" => "status#show"
        opens = said.endswith((" do", "|"))
        path = _without_options(path)
        outer = "/".join(block.name for block in self._blocks if block.kind == "routes")
        on = call.text(-1, "on") or (self._blocks[-1].kind if self._blocks else "")
        if on in ("member", "collection"):
            # In `resources :users`: its members are users/:id, nested resources are below users/:user_id.
            outer = outer.rpartition("/")[0] + ("/:id" if on == "member" else "")
        if kind in ("namespace", "scope"):
            if opens and (path or kind == "scope"):
                self._blocks.append(_Block("routes", call.text(-1, "path") or path, indent, at))
            return
        if not self._is_routes and (not path.startswith("/") or not opens):
            return
        if not path or kind == "root":
            return
        word = names.route_word(path)
        self._found.add(names.routes(path, outer), "endpoint", at, word)
        if kind == "resources":
            self._found.add(names.routes(f"{path}/:id", outer), "endpoint", at, word)
        if opens and kind in ("resources", "resource"):
            single = path[:-3] + "y" if path.endswith("ies") else path.removesuffix("s")
            inner = f"{path}/:{single}_id" if kind == "resources" else path
            self._blocks.append(_Block("routes", inner, indent, at))


def _without_options(path: str) -> str:
    """Take the parts out of a route that may be left out: `/top(/:length)(.:format)` is `/top`."""
    found: list[str] = []
    depth = 0
    for letter in path:
        if letter == "(":
            depth += 1
        elif letter == ")":
            depth = max(depth - 1, 0)
        elif not depth:
            found.append(letter)
    return "".join(found)


_ENV = Pattern(r"\bENV(?:\[|\.(?:fetch|key\?|delete|has_key\?|include\?|dig)[ \t(]{1,3}+)(?=[\"'])")


def _environment(source: Source, found: Found) -> None:
    if "ENV" not in source.code:
        return
    for match in _ENV.finditer(source.code):
        name = source.string(match.end()) or ""
        if names.is_env(name):
            found.add([f"env/{name}"], "env_var", match.end(), name)
