"""Tables, columns and indexes that SQL text brings in, takes away or names.

No SQL parser: a tokenizer that knows where names, strings and comments end, and one pass over its tokens
for CREATE TABLE, CREATE INDEX, DROP TABLE, the clauses of ALTER TABLE, and RENAME. Anything else is passed over,
so any dialect and any half-written file can be read, in time linear in the text. The one regular expression has
nothing to go back to: on text from somebody's history, one that backtracks is a way to stop the reader.

`t` is a table, `t.c` a column. Of a qualified name the schema stays (`app.users.email`), but for the
default ones, which nobody writes when talking about a table (`DEFAULT_SCHEMAS`).

Migrations that hold their own way back, after a comment such as `-- +goose Down` or `-- migrate:down`, are
read without it. A file that drops and creates the same thing, as dumps do, brings it in. What a `DO` block or
an `EXEC` of a literal runs is read; the body of a function is not: nothing runs it now.

Importers ask what a change brings in or takes away. The gate's detectors (`core/entering`) ask for the new
names too that a statement gives to what is there already (RENAME, CHANGE, MODIFY), and for indexes.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Iterator

DEFAULT_SCHEMAS = frozenset(("public", "dbo", "main"))
#: Suffixes of the files in which `SQL text` is looked for.
SUFFIXES = frozenset(("sql", "ddl", "psql", "pgsql", "mysql", "plsql", "sqlite"))

BRINGS, TAKES, NAMES, INDEXES = "brings", "takes", "names", "indexes"

Statement = namedtuple("Statement", ("act", "table", "column", "at", "table_at"))
Statement.__doc__ = """What one clause does.

act: `brings` or `takes`; `names`, if it gives the table or column this name (or another type: MODIFY);
`indexes`, with the index in `column`. table; column, or an empty string. at: where the name stands in the
text; table_at: where its table's does.
"""

# A token is (kind, text, place): a WORD may be a keyword or a name, a NAME was quoted and is never a keyword.
# A BODY is what a string with dollar quotes holds, a STRING what one in single quotes does.
_WORD, _NAME, _MARK, _BODY, _STRING = "word", "name", "mark", "body", "string"
_Token = tuple[str, str, int]
_END: _Token = ("end", "", 0)

#: First words of an entry in CREATE TABLE (…), or after ADD and DROP, that are no column.
_NO_COLUMN = frozenset(
    """
    constraint primary foreign unique check key index exclude like fulltext spatial period partition partitions
    default not null identity generated oids system trigger rule statistics subpartition
    """.split()
)
#: What may stand between CREATE and TABLE.
_BEFORE_TABLE = frozenset(
    """
    or replace global local unique fulltext spatial clustered nonclustered bitmap
    temporary temp unlogged external foreign virtual transient volatile set multiset column row
    """.split()
)
#: First words of a clause of ALTER TABLE. After a comma, any other word is one more column of the clause
#: before (`DROP COLUMN a, b`, `ADD a int, b int`, as SQL Server has it).
_CLAUSES = frozenset(
    """
    add drop alter rename modify change set reset enable disable validate owner cluster inherit no attach detach force
    replica engine auto_increment convert comment order algorithm lock row_format character collate default without
    partition replace order with exchange truncate switch rebuild discard import
    """.split()
)
_TEMPORARY = frozenset(("temporary", "temp"))
#: What ends the list of a SELECT.
_AFTER_ITEMS = frozenset("from where union into order group limit having intersect except window with on".split())


def is_sql(path: str) -> bool:
    """Say whether the file at `path` is read for SQL; a migration's way back (`1.down.sql`, `1/down.sql`) is not."""
    stem, _, suffix = path.lower().rpartition(".")
    return suffix in SUFFIXES and not ("/" + stem).endswith((".down", "_down", "-down", "/down"))


def statements(text: str) -> list[Statement]:
    """Return what the SQL `text` brings in, takes away and names, in its order; columns of CREATE TABLE included."""
    found: list[Statement] = []
    _read_all(without_way_back(text), found, nested=False)
    brings = {_key(s) for s in found if s.act == BRINGS}
    return [s for s in found if s.act != TAKES or _key(s) not in brings]


def without_way_back(text: str) -> str:
    """Return `text` with blanks for what lies behind a comment that begins a migration's way back; places stay."""
    if not any(word in text for word in ("own", "OWN", "@undo", "@UNDO")):
        return text
    silent = False
    lines = text.split("\n")
    for i, line in enumerate(lines):
        said = line.lstrip()
        if said.startswith(("--", "#")):
            words = " ".join(said.lstrip("#").removeprefix("--").lower().split(None, 2)[:2])
            silent = words in WAY_BACK or (silent and words not in WAY_FORWARD)
        if silent:
            lines[i] = " " * len(line)
    return "\n".join(lines)


def _read_all(text: str, found: list[Statement], *, nested: bool) -> None:
    statement: list[_Token] = []
    for token in _tokens(text):
        if token[1] == ";" and token[0] == _MARK:
            _read(statement, found, nested=nested)
            statement = []
        else:
            statement.append(token)
    _read(statement, found, nested=nested)


def brought_in(before: str, after: str) -> list[str]:
    """Return the tables and columns that a change of a file from `before` to `after` brings in.

    They are those that only `after` creates or adds, or only `before` drops. The columns of a table that
    comes or goes as a whole are not named one by one. Names in the order of the text, each once.
    """
    old, new = statements(before), statements(after)
    return _names(_added(old, new, BRINGS) + _added(new, old, TAKES))


def taken_away(before: str, after: str) -> list[str]:
    """Return the tables and columns that a change of a file from `before` to `after` takes away."""
    return brought_in(after, before)


def _added(old: list[Statement], new: list[Statement], act: str) -> list[Statement]:
    known = {_key(s) for s in old if s.act == act}
    return [s for s in new if s.act == act and _key(s) not in known]


def _key(statement: Statement) -> tuple[str, str]:
    return statement.table.lower(), statement.column.lower()


def _names(changed: list[Statement]) -> list[str]:
    whole = {s.table.lower() for s in changed if not s.column}
    names: dict[str, str] = {}
    for s in changed:
        if s.column and s.table.lower() in whole:
            continue
        name = f"{s.table}.{s.column}" if s.column else s.table
        names.setdefault(name.lower(), name)
    return list(names.values())


# --- statements --------------------------------------------------------------------------------


class _Cursor:
    __slots__ = ("at", "tokens")

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self, ahead: int = 0) -> _Token:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else _END

    def word(self, ahead: int = 0) -> str:
        """The keyword here, in lower case, or an empty string."""
        token = self.peek(ahead)
        return token[1].lower() if token[0] == _WORD else ""

    def mark(self) -> str:
        token = self.peek()
        return token[1] if token[0] == _MARK else ""

    def skip(self, *words: str) -> bool:
        """Step over `words` if they stand here, one after the other."""
        if all(self.word(i) == word for i, word in enumerate(words)):
            self.at += len(words)
            return True
        return False

    def skip_mark(self, mark: str) -> bool:
        if self.mark() == mark:
            self.at += 1
            return True
        return False

    def is_quoted(self) -> bool:
        """Say whether a quoted name stands here; SQLite and MySQL take one in single quotes too."""
        return self.peek()[0] in (_NAME, _STRING)

    def name(self) -> str:
        """Step over a name and return it, or return an empty string."""
        kind, text, _ = self.peek()
        if kind not in (_WORD, _NAME, _STRING) or not text:
            return ""
        self.at += 1
        return text

    def table(self) -> str:
        """Step over a possibly qualified table name and return it as we write it, or an empty string."""
        parts = [self.name()]
        while parts[-1] and self.skip_mark("."):
            self.skip_mark(".")  # SQL Server: `database..table`
            parts.append(self.name())
        return _qualified(parts)

    def place(self) -> int:
        return self.peek()[2]

    def skip_clause(self) -> None:
        """Step to what ends this clause: a comma outside of brackets, the bracket around it, the next statement."""
        depth = 0
        while self.at < len(self.tokens):
            mark = self.mark()
            if depth == 0 and self.word(1) == "table" and self.word() in ("create", "drop", "alter"):
                return  # a semicolon is missing
            if mark in ("(", "["):
                depth += 1
            elif mark in (")", "]"):
                if depth == 0:
                    return
                depth -= 1
            elif mark == "," and depth == 0:
                return
            self.at += 1


def _qualified(parts: list[str]) -> str:
    if not all(parts):
        return ""
    if len(parts) > 1 and parts[-2].lower() in DEFAULT_SCHEMAS:
        parts = parts[-1:]
    return ".".join(parts)


def _read(tokens: list[_Token], found: list[Statement], *, nested: bool) -> None:
    """Add to `found` what one statement does. A missing semicolon doesn't hide the next statement.

    `nested`: it stands in a string of another one. Strings in it are not looked into.
    """
    at = _Cursor(tokens)
    while at.at < len(tokens):
        word = at.word()
        if word == "create":
            if _create(at, found):
                continue
        elif word == "drop" and at.word(1) == "table":
            _drop_table(at, found)
            continue
        elif word == "alter" and at.word(1) in ("table", "foreign"):
            _alter_table(at, found)
            continue
        elif word == "rename" and at.word(1) == "table":
            _rename_tables(at, found)
            continue
        elif word in ("do", "exec", "execute") and not nested:
            _run(at, found)
            continue
        at.at += 1


def _create(at: _Cursor, found: list[Statement]) -> bool:
    start = at.at
    at.at += 1
    temporary = False
    while at.word() in _BEFORE_TABLE:
        temporary = temporary or at.word() in _TEMPORARY
        at.at += 1
    if at.word() == "table":
        at.at += 1
    elif at.skip("index"):
        return _create_index(at, found)
    else:
        at.at = start
        return False
    at.skip("if", "not", "exists")
    table_at = at.place()
    table = at.table()
    if not table or temporary:
        return True
    found.append(Statement(BRINGS, table, "", table_at, table_at))
    columns = False
    if at.skip_mark("("):
        while at.at < len(at.tokens) and not at.skip_mark(")"):
            columns = _entry(at, table, table_at, found) or columns
            at.skip_clause()
            at.skip_mark(",")
    if not columns:
        _selected(at, table, table_at, found)
    return True


def _entry(at: _Cursor, table: str, table_at: int, found: list[Statement]) -> bool:
    """Read the first words of an entry of CREATE TABLE (…), and say whether it is a column."""
    if at.peek()[0] == _NAME or at.peek()[0] == _STRING or (at.word() and at.word() not in _NO_COLUMN):
        # A word alone is a column of CREATE TABLE t (a, b) AS SELECT …
        place = at.place()
        column = at.name()
        if column:
            found.append(Statement(BRINGS, table, column, place, table_at))
        return bool(column)
    _index_within(at, table, table_at, found)
    return False


def _index_within(at: _Cursor, table: str, table_at: int, found: list[Statement]) -> None:
    """Read `[UNIQUE | FULLTEXT | SPATIAL] {INDEX | KEY} name (…)`, as MySQL has it in CREATE and ALTER TABLE."""
    ahead = 1 if at.word() in ("unique", "fulltext", "spatial") else 0
    if at.word(ahead) not in ("index", "key"):
        return
    at.at += ahead + 1
    at.skip("if", "not", "exists")
    place = at.place()
    kind = at.peek()[0]
    if (kind == _NAME or (kind == _WORD and at.word() != "using")) and at.peek(1)[1] in ("(", "USING", "using"):
        found.append(Statement(INDEXES, table, at.name(), place, table_at))


def _create_index(at: _Cursor, found: list[Statement]) -> bool:
    at.skip("concurrently")
    at.skip("if", "not", "exists")
    place = at.place()
    index = "" if at.word() == "on" and at.peek(1)[1] != "on" else at.table()
    if not at.skip("on"):
        return True
    at.skip("only")
    table_at = at.place()
    table = at.table()
    if index and table:
        found.append(Statement(INDEXES, table, index.rpartition(".")[2], place, table_at))
    return True


def _selected(at: _Cursor, table: str, table_at: int, found: list[Statement]) -> None:
    """Read the columns of `CREATE TABLE t AS SELECT …`: what an expression is called, or a bare column's name."""
    start = at.at
    # Options may stand between the name and AS; a query in brackets is one too.
    while at.at < len(at.tokens) and at.word() not in ("as", "select", "create", "alter", "drop"):
        at.at += 1
    at.skip("as")
    while at.skip_mark("("):
        pass
    if at.skip("with"):
        depth = 0
        while at.at < len(at.tokens) and (depth or at.word() != "select"):
            depth += (at.mark() == "(") - (at.mark() == ")")
            at.at += 1
    if not at.skip("select"):
        at.at = start
        return
    if not at.skip("distinct"):
        at.skip("all")
    depth = 0
    item: list[_Token] = []
    while True:
        token = at.peek()
        ends = token is _END or (
            depth == 0 and (at.word() in _AFTER_ITEMS or (token[1] in (",", ")") and token[0] == _MARK))
        )
        if ends:
            column = _called(item)
            if column:
                found.append(Statement(BRINGS, table, column[1], column[2], table_at))
            item = []
            if token[1] != "," or token[0] != _MARK:
                return
        else:
            if token[0] == _MARK:
                depth += (token[1] in "([") - (token[1] in ")]")
            item.append(token)
        at.at += 1


def _called(item: list[_Token]) -> _Token | None:
    """Return the name that an entry of a SELECT's list has: its alias, or the last part of a plain column."""
    if not item or item[-1][0] not in (_WORD, _NAME):
        return None
    if len(item) > 1 and item[-2][0] == _WORD and item[-2][1].lower() == "as":
        return item[-1]
    plain = len(item) % 2 == 1 and all(
        (token[0] in (_WORD, _NAME)) if i % 2 == 0 else token[1] == "." for i, token in enumerate(item)
    )
    return item[-1] if plain else None


def _drop_table(at: _Cursor, found: list[Statement]) -> None:
    at.at += 2
    at.skip("if", "exists")
    while True:
        place = at.place()
        table = at.table()
        if table:
            found.append(Statement(TAKES, table, "", place, place))
        if not table or not at.skip_mark(","):
            return


def _rename_tables(at: _Cursor, found: list[Statement]) -> None:
    at.at += 2
    while at.table() and at.skip("to"):
        place = at.place()
        table = at.table()
        if table:
            found.append(Statement(NAMES, table, "", place, place))
        if not at.skip_mark(","):
            return


def _alter_table(at: _Cursor, found: list[Statement]) -> None:
    at.at += 1
    at.skip("foreign")
    at.skip("table")
    at.skip("if", "exists")
    at.skip("only")
    table_at = at.place()
    table = at.table()
    if not table:
        return
    at.skip_mark("*")
    act = ""
    while at.at < len(at.tokens):
        word = at.word()
        if word in ("add", "drop"):
            if at.word(1) == "table":
                return  # the next statement, its semicolon missing
            act = BRINGS if word == "add" else TAKES
            at.at += 1
            named = at.skip("column") or at.skip("columns")
            _clause(at, table, table_at, act, found, named=named)
        elif word in ("change", "modify"):
            act = NAMES
            at.at += 1
            named = at.skip("column")
            if word == "change":
                at.name()
            _clause(at, table, table_at, act, found, named=named)
        elif word == "rename":
            act = ""
            _rename(at, table, table_at, found)
        elif word == "create" or (word == "alter" and at.word(1) == "table"):
            return
        elif act and word not in _CLAUSES:
            _clause(at, table, table_at, act, found, named=False)
        else:
            act = ""
            at.skip_clause()
        if not at.skip_mark(","):
            return


def _rename(at: _Cursor, table: str, table_at: int, found: list[Statement]) -> None:
    """Read what follows ALTER TABLE t: `RENAME [COLUMN] a TO b`, `RENAME [TO | AS] t`, `RENAME INDEX i TO j`."""
    at.at += 1
    if at.word() in ("to", "as"):
        at.at += 1
        place = at.place()
        name = at.table()
        if name and "." not in name and "." in table:
            name = table.rpartition(".")[0] + "." + name
        if name:
            found.append(Statement(NAMES, name, "", place, table_at))
    elif at.word() in ("constraint", "partition"):
        pass
    else:
        act = NAMES
        if at.word() in ("index", "key") and at.word(2) == "to":
            act = INDEXES
            at.at += 1
        else:
            at.skip("column")
            at.skip("if", "exists")
        at.name()
        if at.skip("to"):
            place = at.place()
            name = at.name()
            if name:
                found.append(Statement(act, table, name, place, table_at))
    at.skip_clause()


def _clause(at: _Cursor, table: str, table_at: int, act: str, found: list[Statement], *, named: bool) -> None:
    """Read what follows ADD [COLUMN], DROP [COLUMN] and the like: one column, or several in brackets."""
    at.skip("if", "not", "exists")
    at.skip("if", "exists")
    several = at.skip_mark("(")
    while at.at < len(at.tokens):
        if at.is_quoted() or named or (at.word() and at.word() not in _NO_COLUMN):
            place = at.place()
            column = at.name()
            if column:
                found.append(Statement(act, table, column, place, table_at))
        elif act == BRINGS:
            _index_within(at, table, table_at, found)
        at.skip_clause()
        if not several or not at.skip_mark(","):
            break
    if several:
        at.skip_mark(")")
        at.skip_clause()


def _run(at: _Cursor, found: list[Statement]) -> None:
    """Read what `DO $$ … $$` or `EXEC[UTE] '…'` runs, and `EXEC sp_rename 't.a', 'b', 'COLUMN'`."""
    word = at.word()
    at.at += 1
    if word == "do":
        while at.word() and at.word() not in ("create", "alter", "drop"):
            at.at += 1  # LANGUAGE plpgsql
        kind, text, place = at.peek()
        if kind in (_BODY, _STRING):
            at.at += 1
            _read_within(text, place, found)
        return
    at.skip("immediate")
    if at.word() == "sys" and at.peek(1)[1] == ".":
        at.at += 2
    if at.skip("sp_rename"):
        _sp_rename(at, found)
        return
    while at.mark() == "(" or at.word() == "format":
        at.at += 1
    kind, text, place = at.peek()
    if kind in (_BODY, _STRING):
        at.at += 1
        _read_within(text, place, found)


def _read_within(text: str, place: int, found: list[Statement]) -> None:
    inner: list[Statement] = []
    # The literal's `''` became `'`, so places in it are near, not exact; a line is all that is made of them.
    _read_all(text, inner, nested=True)
    found += [s._replace(at=s.at + place, table_at=s.table_at + place) for s in inner]


def _sp_rename(at: _Cursor, found: list[Statement]) -> None:
    said: list[_Token] = []
    while len(said) < 3 and at.at < len(at.tokens):
        token = at.peek()
        if token[0] == _STRING:
            said.append(token)
        elif token[0] not in (_MARK, _WORD):
            break
        at.at += 1
    if len(said) < 2 or not said[1][1]:
        return
    parts = [part.strip('[]"') for part in said[0][1].split(".")]
    new, place = said[1][1], said[1][2]
    kind = said[2][1].lower() if len(said) > 2 else ""
    if kind == "column" and len(parts) > 1:
        table = _qualified(parts[:-1])
        if table:
            found.append(Statement(NAMES, table, new, place, said[0][2]))
    elif kind in ("", "object"):
        table = _qualified([*parts[:-1], new])
        if table:
            found.append(Statement(NAMES, table, "", place, said[0][2]))


# --- tokens ------------------------------------------------------------------------------------

# Blanks, then a word, or a character that is looked at in code. Neither part can be matched in two ways, and both
# are possessive: each character is looked at once.
# A word is told by what it is not, in ASCII: naming all the rest takes the compiler four milliseconds.
_NEXT = re.compile(
    r"([ \t\r\n\x0b\x0c]*+)(?:([^\x00-@\[-\^`{-\x7f][^\x00-\x22\x25-/:-@\[-\^`{-\x7f]*+)|(.)|)", re.DOTALL
)
_QUOTES = {'"': '"', "`": "`", "[": "]"}
#: Comments that say which way the statements below them lead, as the tools that read them spell it.
WAY_FORWARD = frozenset(("+goose up", "+migrate up", "migrate:up", "--- !ups"))
WAY_BACK = frozenset(("+goose down", "+migrate down", "migrate:down", "--- !downs", "//@undo"))


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the tokens of `text`: names, words, marks, strings. Comments are passed over."""
    at, end = 0, len(text)
    first = True  # nothing stands before this on its line
    next_token = _NEXT.match
    while at < end:
        match = next_token(text, at)
        if match is None:
            return
        blanks, word, character = match.groups()
        stop = match.end()
        if word is not None:
            first = False
            yield (_WORD, word, stop - len(word))
            at = stop
            continue
        if character is None:
            return
        at = stop - 1
        first = first or "\n" in blanks
        if (character == "-" and text.startswith("-", stop)) or (character == "#" and first):
            stop = _past(text, "\n", at)
            first = True
            at = stop
            continue
        first = False
        token = _END
        if character == "/" and text.startswith("*", stop):
            stop = _past_comment(text, at)
        elif character == "'":
            stop = _past_quoted(text, "'", at + 1)
            token = (_STRING, text[at + 1 : stop - 1].replace("''", "'"), at + 1)
        elif character == "$" and (tag := _dollar_tag(text, at)):
            stop = _past(text, tag, at + len(tag))
            token = (_BODY, text[at + len(tag) : max(stop - len(tag), at + len(tag))], at + len(tag))
        elif character in _QUOTES and (character != "[" or _opens_name(text, at)):
            close = _QUOTES[character]
            stop = _past_quoted(text, close, at + 1)
            token = (_NAME, text[at + 1 : stop - 1].replace(close * 2, close), at)
        else:
            token = (_MARK, character, at)
        if token is not _END:
            yield token
        at = stop


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_" or character > "\x7f"


def _opens_name(text: str, at: int) -> bool:
    """Whether `[` opens a name, as in SQL Server, and not an array's subscript or type."""
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    return (
        not (before and (_in_word(before) or before in '])"'))
        and bool(after)
        and _in_word(after)
        and not after.isdigit()
    )


def _past(text: str, mark: str, at: int) -> int:
    """Where the text goes on after the next `mark`, or its end."""
    stop = text.find(mark, at)
    return len(text) if stop < 0 else stop + len(mark)


def _past_comment(text: str, at: int) -> int:
    """Past a block comment; they nest in PostgreSQL and SQL Server, and an inner opening is rare elsewhere."""
    depth, at, close = 1, at + 2, -1
    while depth:
        if close < at:
            close = text.find("*/", at)
        if close < 0:
            return len(text)
        opening = text.find("/*", at, close)
        if opening >= 0:
            depth, at = depth + 1, opening + 2
        else:
            depth, at = depth - 1, close + 2
    return at


def _past_quoted(text: str, close: str, at: int) -> int:
    """Past the closing quote. A doubled one stands for itself, and so does one after a backslash before a word.

    Standard SQL has no backslashes (`ESCAPE '\\'` ends there), MySQL has (`'it\\'s'`), and files don't say which.
    """
    while True:
        stop = text.find(close, at)
        if stop < 0:
            return len(text)
        if text.startswith(close, stop + 1):
            at = stop + 2
        elif close == "'" and text[stop - 1] == "\\" and stop > at and _in_word(text[stop + 1 : stop + 2] or " "):
            at = stop + 1
        else:
            return stop + 1


def _dollar_tag(text: str, at: int) -> str:
    """Return the tag `$…$` that opens a dollar-quoted string here, or an empty string."""
    stop = at + 1
    while stop < len(text) and stop - at <= 64 and (text[stop].isalnum() or text[stop] == "_"):
        stop += 1
    if text.startswith("$", stop) and not text[at + 1 : at + 2].isdigit():
        return text[at : stop + 1]
    return ""
