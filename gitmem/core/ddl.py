"""Tables and columns that SQL text brings in or takes away.

No SQL parser: a tokenizer that knows where names, strings and comments end, and one pass over its tokens
for CREATE TABLE, DROP TABLE and the clauses of ALTER TABLE. Anything else is passed over, so any dialect
and any half-written file can be read, in time linear in the text. Regular expressions are not used: on
text from somebody's history, one that backtracks is a way to stop the reader.

`t` is a table, `t.c` a column. Of a qualified name the schema stays (`app.users.email`), but for the
default ones, which nobody writes when talking about a table (`DEFAULT_SCHEMAS`).

Migrations that hold their own way back, after a comment such as `-- +goose Down` or `-- migrate:down`, are
read without it. A file that drops and creates the same thing, as dumps do, brings it in.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator

DEFAULT_SCHEMAS = frozenset(("public", "dbo", "main"))
#: Suffixes of the files in which `SQL text` is looked for.
SUFFIXES = frozenset(("sql", "ddl", "psql", "pgsql", "mysql", "plsql", "sqlite"))

BRINGS, TAKES = "brings", "takes"

Statement = namedtuple("Statement", ("act", "table", "column"))
Statement.__doc__ = "What one clause does: act (`brings` or `takes`), the table, and the column or an empty string."

# A token is (kind, text): a WORD may be a keyword or a name, a NAME was quoted and is never a keyword.
_WORD, _NAME, _MARK = "word", "name", "mark"
_Token = tuple[str, str]
_END: _Token = ("end", "")

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
    or replace global local temporary temp unlogged external foreign virtual transient volatile set multiset column row
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


def is_sql(path: str) -> bool:
    """Say whether the file at `path` is read for SQL; the way back of a migration (`1.down.sql`) is not."""
    stem, _, suffix = path.lower().rpartition(".")
    return suffix in SUFFIXES and not stem.endswith((".down", "_down", "-down"))


def statements(text: str) -> list[Statement]:
    """Return what the SQL `text` brings in and takes away, in its order; columns of CREATE TABLE included."""
    found: list[Statement] = []
    statement: list[_Token] = []
    for token in _tokens(text):
        if token == (_MARK, ";"):
            _read(statement, found)
            statement = []
        else:
            statement.append(token)
    _read(statement, found)
    brings = {_key(s) for s in found if s.act == BRINGS}
    return [s for s in found if s.act == BRINGS or _key(s) not in brings]


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
        kind, text = self.peek(ahead)
        return text.lower() if kind == _WORD else ""

    def mark(self) -> str:
        kind, text = self.peek()
        return text if kind == _MARK else ""

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

    def name(self) -> str:
        """Step over a name and return it, or return an empty string."""
        kind, text = self.peek()
        if kind not in (_WORD, _NAME) or not text:
            return ""
        self.at += 1
        return text

    def table(self) -> str:
        """Step over a possibly qualified table name and return it as we write it, or an empty string."""
        parts = [self.name()]
        while parts[-1] and self.skip_mark("."):
            parts.append(self.name())
        if not all(parts):
            return ""
        if len(parts) > 1 and parts[-2].lower() in DEFAULT_SCHEMAS:
            parts = parts[-1:]
        return ".".join(parts)

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


def _read(tokens: list[_Token], found: list[Statement]) -> None:
    """Add to `found` what one statement does. A missing semicolon doesn't hide the next statement."""
    at = _Cursor(tokens)
    while at.at < len(tokens):
        word = at.word()
        if word == "create" and _create(at, found):
            continue
        if word == "drop" and at.word(1) == "table":
            _drop_table(at, found)
            continue
        if word == "alter" and at.word(1) in ("table", "foreign"):
            _alter_table(at, found)
            continue
        at.at += 1


def _create(at: _Cursor, found: list[Statement]) -> bool:
    start = at.at
    at.at += 1
    temporary = False
    while at.word() in _BEFORE_TABLE:
        temporary = temporary or at.word() in _TEMPORARY
        at.at += 1
    if not at.skip("table"):
        at.at = start
        return False
    at.skip("if", "not", "exists")
    table = at.table()
    if not table or temporary:
        return True
    found.append(Statement(BRINGS, table, ""))
    if at.skip_mark("("):
        while at.at < len(at.tokens) and not at.skip_mark(")"):
            if at.peek()[0] == _NAME or (at.word() and at.word() not in _NO_COLUMN):
                # A word alone is a column of CREATE TABLE t (a, b) AS SELECT …
                found.append(Statement(BRINGS, table, at.name()))
            at.skip_clause()
            at.skip_mark(",")
    return True


def _drop_table(at: _Cursor, found: list[Statement]) -> None:
    at.at += 2
    at.skip("if", "exists")
    while True:
        table = at.table()
        if table:
            found.append(Statement(TAKES, table, ""))
        if not table or not at.skip_mark(","):
            return


def _alter_table(at: _Cursor, found: list[Statement]) -> None:
    at.at += 1
    at.skip("foreign")
    at.skip("table")
    at.skip("if", "exists")
    at.skip("only")
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
            _clause(at, table, act, found, named=named)
        elif word == "create" or (word == "alter" and at.word(1) == "table"):
            return
        elif act and word not in _CLAUSES:
            _clause(at, table, act, found, named=False)
        else:
            act = ""
            at.skip_clause()
        if not at.skip_mark(","):
            return


def _clause(at: _Cursor, table: str, act: str, found: list[Statement], *, named: bool) -> None:
    """Read what follows ADD [COLUMN] or DROP [COLUMN]: one column, or several in brackets."""
    at.skip("if", "not", "exists")
    at.skip("if", "exists")
    several = at.skip_mark("(")
    while at.at < len(at.tokens):
        quoted = at.peek()[0] == _NAME
        if quoted or named or (at.word() and at.word() not in _NO_COLUMN):
            column = at.name()
            if column:
                found.append(Statement(act, table, column))
        at.skip_clause()
        if not several or not at.skip_mark(","):
            break
    if several:
        at.skip_mark(")")
        at.skip_clause()


# --- tokens ------------------------------------------------------------------------------------

_BLANKS = frozenset(" \t\r\n\x0b\x0c")
_QUOTES = {'"': '"', "`": "`", "[": "]"}
#: Comments that say which way the statements below them lead, as the tools that read them spell it.
_UP = frozenset(("+goose up", "+migrate up", "migrate:up", "--- !ups"))
_DOWN = frozenset(("+goose down", "+migrate down", "migrate:down", "--- !downs"))


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the tokens of `text`: names, words, marks. Strings, comments and ways back are passed over."""
    at, end = 0, len(text)
    first = True  # nothing stands before this on its line
    silent = False  # on the way back
    while at < end:
        character = text[at]
        if character in _BLANKS:
            first = first or character == "\n"
            at += 1
            continue
        if text.startswith("--", at) or (character == "#" and first):
            stop = _past(text, "\n", at)
            said = " ".join(text[at + (2 if character == "-" else 1) : stop].lower().split()[:2])
            silent = said in _DOWN or (silent and said not in _UP)
            first = True
            at = stop
            continue
        first = False
        token = _END
        if text.startswith("/*", at):
            stop = _past_comment(text, at)
        elif character == "'":
            stop = _past_quoted(text, "'", at + 1)
        elif character == "$" and (tag := _dollar_tag(text, at)):
            stop = _past(text, tag, at + len(tag))
        elif character in _QUOTES and (character != "[" or _opens_name(text, at)):
            close = _QUOTES[character]
            stop = _past_quoted(text, close, at + 1)
            token = (_NAME, text[at + 1 : stop - 1].replace(close * 2, close))
        elif _in_word(character) and not character.isdigit():
            stop = at + 1
            while stop < end and (_in_word(text[stop]) or text[stop] in "$#"):
                stop += 1
            token = (_WORD, text[at:stop])
        else:
            stop = at + 1
            token = (_MARK, character)
        if token is not _END and not silent:
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
