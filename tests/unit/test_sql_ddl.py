"""The tokenizer and a real SQL parser say the same of statements in several dialects; the parser adds what it knows.

Each statement is put together from parts, so that every clause meets every quoting and every layout.
"""

from __future__ import annotations

import pytest

from gitmem.core import ddl, entering
from gitmem.importers import sql_ddl, statements

# Only where it can't be installed; requirements/test.lock has it.
sqlglot = pytest.importorskip("sqlglot")

QUOTES = {
    "postgres": ("{}", '"{}"'), "mysql": ("{}", "`{}`"), "tsql": ("{}", "[{}]", '"{}"'),
    "sqlite": ("{}", '"{}"', "`{}`"),
    "oracle": ("{}", '"{}"'), "clickhouse": ("{}", "`{}`"), "snowflake": ("{}", '"{}"'), "bigquery": ("{}", "`{}`"),
}  # fmt: skip
#: {t} and {u} are tables, {a}, {b}, {c} columns, {i} an index.
ANY = [
    "CREATE TABLE {t} ({a} INT, {b} VARCHAR(20) DEFAULT 'x, y', {c} DECIMAL(10, 2) NOT NULL)",
    "CREATE TABLE {t} (\n  {a} INT PRIMARY KEY, -- the key\n  {b} INT, /* , {c} INT */\n  {c} INT\n)",
    "CREATE TABLE app.{t} ({a} INT, CHECK ({a} > 0), PRIMARY KEY ({a}), UNIQUE ({a}))",
    "CREATE TABLE {t} ({a} INT, CONSTRAINT {i} FOREIGN KEY ({a}) REFERENCES {u} ({b}))",
    "CREATE TABLE {t} AS SELECT {a}, {b} AS {c}, COUNT(*) AS n FROM {u}",
    "ALTER TABLE {t} ADD {a} INT",
    "CREATE VIEW {t} AS SELECT {a} FROM {u}",
    "DROP TABLE {t}",
    "INSERT INTO {t} ({a}, {b}) VALUES (1, 'CREATE TABLE {u} ({a} INT)')",
    "SELECT {a} FROM {t} WHERE {b} = 'ALTER TABLE {u} ADD {c} INT'",
]
SOME = {
    "CREATE TABLE IF NOT EXISTS {t} ({a} INT)": "postgres mysql sqlite clickhouse snowflake bigquery",
    "ALTER TABLE {t} ADD COLUMN {a} INT": "postgres mysql sqlite clickhouse snowflake bigquery",
    "ALTER TABLE {t} ADD COLUMN IF NOT EXISTS {a} INT, ADD COLUMN {b} INT": "postgres bigquery",
    "ALTER TABLE IF EXISTS ONLY {t} ADD COLUMN {a} INT, DROP COLUMN {b}": "postgres",
    "ALTER TABLE {t} ADD {a} INT, {b} INT": "tsql",
    "ALTER TABLE {t} ADD ({a} INT, {b} INT)": "oracle",
    "ALTER TABLE {t} RENAME COLUMN {a} TO {b}": "postgres mysql sqlite oracle snowflake",
    "ALTER TABLE {t} RENAME TO {u}": "postgres mysql sqlite oracle",
    "ALTER TABLE {t} CHANGE {a} {b} INT": "mysql",
    "ALTER TABLE {t} DROP COLUMN {a}": "postgres mysql tsql sqlite snowflake",
    "ALTER TABLE {t} ADD CONSTRAINT {i} UNIQUE ({a})": "postgres mysql tsql",
    "ALTER TABLE {t} ALTER COLUMN {a} SET NOT NULL": "postgres",
    "CREATE INDEX {i} ON {t} ({a})": "postgres mysql tsql sqlite oracle",
    "CREATE UNIQUE INDEX IF NOT EXISTS {i} ON {t} ({a}, {b} DESC)": "postgres sqlite",
    "CREATE INDEX CONCURRENTLY {i} ON {t} USING gin ({a})": "postgres",
    "CREATE TABLE {t} ({a} INT[], {b} TEXT[3] DEFAULT ARRAY['x'], {c} INT)": "postgres",
    "CREATE TABLE {t} ({a} ENUM('a', 'b'), {b} INT COMMENT 'it''s, {u}')": "mysql",
    "CREATE TABLE {t} ({a} INT IDENTITY(1, 1), {b} NVARCHAR(MAX))": "tsql",
    "CREATE TABLE {t} ({a} INTEGER PRIMARY KEY AUTOINCREMENT, {b} TEXT)": "sqlite",
    "CREATE TABLE {t} ({a} UInt64, {b} LowCardinality(String)) ENGINE = MergeTree ORDER BY {a}": "clickhouse",
    "CREATE UNLOGGED TABLE {t} ({a} INT GENERATED ALWAYS AS IDENTITY)": "postgres",
    "CREATE TEMPORARY TABLE {t} ({a} INT)": "postgres mysql sqlite",
    "CREATE FUNCTION f() RETURNS INT AS $$ SELECT 1; ALTER TABLE {t} ADD {a} INT $$ LANGUAGE sql": "postgres",
}
STATEMENTS = [(dialect, form, quote) for form in ANY for dialect, quotes in QUOTES.items() for quote in quotes] + [
    (dialect, form, quote)
    for form, dialects in SOME.items()
    for dialect in dialects.split()
    for quote in QUOTES[dialect]
]


def spelt(form: str, quote: str) -> str:
    words = {"t": "payments", "u": "refunds", "a": "card_token", "b": "Amount", "c": "état", "i": "by_token"}
    if quote != "{}":
        words["c"], words["b"] = "c d", "order"
    text = form
    for mark, word in words.items():
        text = text.replace("{" + mark + "}", quote.format(word))
    return text


def by_tokens(text: str) -> set[tuple[str, str]]:
    """What the tokenizer sees, without schemas: the parser's reader leaves them out."""
    told = entering.found("m.sql", "", text)
    return {(one.name.removeprefix("app."), one.entity_type) for one in told}


def by_parser(text: str, dialect: str) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for statement in statements.statements(text, dialect) or ():
        for act in statement.acts or ():
            if act.change in sql_ddl._COMES:
                found.add((act.name, act.kind))
                if act.kind == "index":
                    found.add((act.name.rpartition(".")[2], act.kind))
    return found


@pytest.mark.parametrize(("dialect", "form", "quote"), STATEMENTS)
def test_the_tokenizer_and_the_parser_see_the_same(dialect: str, form: str, quote: str) -> None:
    text = spelt(form, quote)
    assert by_tokens(text) == by_parser(text, dialect), text
    shouted = text.replace("table", "TABLE") if "'" in text else text.lower()
    assert {name.lower() for name, _ in by_tokens(shouted)} == {name.lower() for name, _ in by_tokens(text)}


def test_the_statements_are_not_all_empty() -> None:
    seen = [by_tokens(spelt(form, quote)) for _, form, quote in STATEMENTS]
    assert len(seen) >= 300
    assert sum(bool(one) for one in seen) >= 200


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("mysql", "ALTER TABLE t ADD (a INT, b INT)"),
        ("mysql", "ALTER TABLE t MODIFY a INT, MODIFY b INT"),
        ("sqlite", "CREATE TABLE t (a INTEGER, b TEXT) WITHOUT ROWID"),
        ("postgres", "DO $$ BEGIN ALTER TABLE t ADD a int, ADD b int; END $$"),
    ],
)
def test_what_the_parser_gives_up_on_the_tokenizer_reads(dialect: str, text: str) -> None:
    assert by_parser(text, dialect) == set()
    assert by_tokens(text) >= {("t.a", "column"), ("t.b", "column")}


def test_together_they_read_a_whole_file() -> None:
    forms = [form for dialect, form, quote in STATEMENTS if dialect == "postgres" and quote != "{}"]
    text = ";\n".join(spelt(form, '"{}"') for form in forms)
    parsed = {name for names, *_ in sql_ddl.seen(text) for name in names}
    assert parsed == {name for name, _ in by_tokens(text)}
    assert {"payments.card_token", "payments.by_token", "by_token", "refunds"} <= parsed


def test_the_second_opinion_adds_and_takes_nothing_away(monkeypatch: pytest.MonkeyPatch) -> None:
    before = "CREATE TABLE t (a int);\n"
    after = before + "ALTER TABLE t ADD b int;\nCREATE TABLE broken (((\n"
    assert sql_ddl.found("m.sql", before, after) == entering.found("m.sql", before, after)
    assert [one.name for one in sql_ddl.found("m.sql", before, after)] == ["t.b", "broken"]
    # A tokenizer that missed a clause is made up for, with the same kinds and lines.
    whole = entering.found("m.sql", before, before + "ALTER TABLE t\n  ADD b int;")
    monkeypatch.setattr(ddl, "statements", lambda text: [])
    assert entering.found("m.sql", before, before + "ALTER TABLE t\n  ADD b int;") == []
    assert sql_ddl.found("m.sql", before, before + "ALTER TABLE t\n  ADD b int;") == whole
    assert [tuple(one) for one in whole] == [("t.b", "column", 3)]


def test_what_was_there_is_not_new_to_the_parser() -> None:
    whole = "CREATE TABLE t (a int);\nCREATE INDEX i ON t (a);\n"
    assert sql_ddl.found("m.sql", "", whole) == entering.found("m.sql", "", whole)
    assert sql_ddl.found("m.sql", "CREATE TABLE t (a int, b int);", "CREATE TABLE t (b int, a int);") == []
    text = "CREATE TABLE t (a int, b int);\n"
    assert sql_ddl.found("m.sql", text, "-- x\n" + text) == []
    assert sql_ddl.found("m.sql", text, text) == []
    assert sql_ddl.found("m.py", None, "x = 1")[0].name == "m.py"
    down = "-- +goose Down\nALTER TABLE t ADD c int;\n"
    assert sql_ddl.found("m.sql", text, text + down) == []
    assert sql_ddl.found("m.sql", text, text + down.replace("Down", "Up"))[0].name == "t.c"


def test_what_goes_or_changes_its_type_is_not_brought_in() -> None:
    text = "DROP TABLE t; ALTER TABLE u DROP COLUMN a; ALTER TABLE u ALTER COLUMN b TYPE bigint; DROP INDEX i"
    assert sql_ddl.found("m.sql", "", text) == []
    assert [one.name for one in sql_ddl.found("m.sql", "", text + "; ALTER TABLE u ADD c int")] == ["u.c"]


def test_what_the_parser_alone_saw_before_is_not_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ddl, "statements", lambda text: [])
    told = sql_ddl.found("m.sql", "CREATE TABLE t (a int, c int);", "CREATE TABLE t (b int, a int, c int);")
    assert [one.name for one in told] == ["t.b"]


def test_without_the_parser_the_tokenizer_alone_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_ddl, "find_spec", lambda name: None)
    assert not sql_ddl.is_available()
    assert [one.name for one in sql_ddl.found("m.sql", "", "ALTER TABLE t ADD b int")] == ["t.b"]


def test_the_gate_for_commits_asks_the_parser_and_keeps_no_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    from gitmem.cases import checking
    from gitmem.core.additions import Addition

    asked: list[str] = []
    told = sql_ddl.found

    def spy(path: str, before: str | None, after: str | None) -> list[entering.Entering]:
        asked.append(path)
        return told(path, before, after)

    monkeypatch.setattr(sql_ddl, "found", spy)
    files = {"db/1.sql": "ALTER TABLE t ADD a int;", "app.py": "import redis\n"}
    read = checking._read_well(Addition(path, "", text, is_new=False) for path, text in files.items())
    assert asked == ["db/1.sql"]
    assert [[name for name, *_ in one.entered()] for one in read] == [["t.a"], ["deps/redis"]]
    assert all(one.before is None and one.after is None and one.lines for one in read)
