"""What the DDL tokenizer finds in SQL, and what it must not take for a table or a column."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.core import ddl

MARKS = {ddl.BRINGS: "+", ddl.TAKES: "-", ddl.NAMES: ">", ddl.INDEXES: "#"}


def found(text: str) -> list[str]:
    return [f"{MARKS[s.act]}{s.table}{'.' if s.column else ''}{s.column}" for s in ddl.statements(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CREATE TABLE users (id int, email text)", ["+users", "+users.id", "+users.email"]),
        ("create table if not exists users (id int);", ["+users", "+users.id"]),
        ("CREATE UNLOGGED TABLE t (a int)", ["+t", "+t.a"]),
        ("DROP TABLE users;", ["-users"]),
        ("DROP TABLE IF EXISTS a, b CASCADE;", ["-a", "-b"]),
        ("ALTER TABLE users ADD COLUMN token text", ["+users.token"]),
        ("ALTER TABLE users ADD token text NOT NULL DEFAULT ('a, b')", ["+users.token"]),
        ("ALTER TABLE IF EXISTS ONLY users ADD COLUMN IF NOT EXISTS token text", ["+users.token"]),
        ("alter table users drop column if exists legacy", ["-users.legacy"]),
        ("ALTER TABLE users DROP COLUMN a, DROP COLUMN b, ADD COLUMN c numeric(10, 2), ADD d int",
         ["-users.a", "-users.b", "+users.c", "+users.d"]),
        ("ALTER TABLE users ADD (a int, b varchar(3), CONSTRAINT u UNIQUE (a))", ["+users.a", "+users.b"]),
        ("ALTER TABLE users DROP (a, b)", ["-users.a", "-users.b"]),
        ("ALTER TABLE [dbo].[Users] DROP COLUMN [Weird Name], other", ["-Users.Weird Name", "-Users.other"]),
        ("ALTER TABLE t ADD a int, b int", ["+t.a", "+t.b"]),
        ('ALTER TABLE "Users" ADD COLUMN "Weird ""Name" text', ['+Users.Weird "Name']),
        ("ALTER TABLE `users` ADD COLUMN `key` int AFTER `id`, ADD INDEX `i` (`key`)", ["+users.key", "#users.i"]),
        ("ALTER TABLE app.users ADD COLUMN a int", ["+app.users.a"]),
        ("ALTER TABLE public.users ADD COLUMN a int", ["+users.a"]),
        ("ALTER TABLE users ALTER COLUMN a TYPE text, RENAME TO people, ADD COLUMN b int", [">people", "+users.b"]),
        ("DROP TABLE a\nDROP TABLE b\nALTER TABLE c DROP COLUMN d\nCREATE TABLE e (f int)",
         ["-a", "-b", "-c.d", "+e", "+e.f"]),
        ("ALTER TABLE t RENAME COLUMN a TO b, RENAME c TO d", [">t.b", ">t.d"]),
        ("ALTER TABLE app.t RENAME TO u; RENAME TABLE a TO b, x.c TO x.d", [">app.u", ">b", ">x.d"]),
        ("ALTER TABLE t RENAME CONSTRAINT a TO b, RENAME INDEX i TO j", ["#t.j"]),
        ("ALTER TABLE t CHANGE COLUMN a b int, CHANGE c d text FIRST, MODIFY e bigint", [">t.b", ">t.d", ">t.e"]),
        ("ALTER TABLE t MODIFY (a int, b int)", [">t.a", ">t.b"]),
        ("EXEC sp_rename 'dbo.t.a', 'b', 'COLUMN'; EXEC sys.sp_rename N'dbo.t', N'u'", [">t.b", ">u"]),
        ("CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON ONLY app.t USING btree (a)", ["#app.t.i"]),
        ("CREATE TABLE t (a int, INDEX i (a), UNIQUE KEY `k` (a), KEY (a), PRIMARY KEY (a))",
         ["+t", "+t.a", "#t.i", "#t.k"]),
        ("CREATE TABLE t AS SELECT a, u.b, count(*) AS n, 1, x.* FROM u", ["+t", "+t.a", "+t.b", "+t.n"]),
        ("CREATE TABLE t WITH (fillfactor = 70) AS (SELECT DISTINCT f(a, b) AS c)", ["+t", "+t.c"]),
        ("CREATE TABLE t AS WITH x AS (SELECT a FROM u) SELECT b FROM x", ["+t", "+t.b"]),
        ("CREATE TABLE t (a, b) AS SELECT c, d FROM u", ["+t", "+t.a", "+t.b"]),
        ("CREATE TABLE 't' ('a' INTEGER)", ["+t", "+t.a"]),
        ("DO $$ BEGIN ALTER TABLE t ADD COLUMN a int; END $$;", ["+t.a"]),
        ("DO LANGUAGE plpgsql $x$ BEGIN EXECUTE 'DROP TABLE u'; CREATE TABLE t (a int); END $x$", ["+t", "+t.a"]),
        ("EXEC('ALTER TABLE t ADD a int'); EXECUTE IMMEDIATE 'DROP TABLE u'", ["+t.a", "-u"]),
    ],
)  # fmt: skip
def test_clauses_of_every_dialect_are_read(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE users ADD CONSTRAINT uq UNIQUE (email)",
        "ALTER TABLE users DROP CONSTRAINT uq, DROP PRIMARY KEY, ADD FOREIGN KEY (a) REFERENCES b (c)",
        "ALTER TABLE users ALTER COLUMN a DROP NOT NULL",
        "-- DROP TABLE users;",
        "/* DROP TABLE a; /* nested */ DROP TABLE b; */",
        "# DROP TABLE users",
        "INSERT INTO t VALUES ('DROP TABLE users; it''s', 'ADD COLUMN it\\'s; DROP TABLE b')",
        "CREATE FUNCTION f() AS $body$ DROP TABLE users; $body$ LANGUAGE sql",
        "DROP INDEX i; CREATE INDEX ON t (a); DROP VIEW v; CREATE TYPE t AS (a int); CREATE VIEW v AS SELECT a FROM t",
        "CREATE TEMP TABLE scratch (a int)",
        "DROP TABLE",
        "ALTER TABLE",
        "CREATE TABLE (",
        "",
    ],
)
def test_what_is_no_table_and_no_column_is_passed_over(text: str) -> None:
    assert found(text) == []


def test_a_quote_after_a_backslash_ends_a_string_where_no_word_follows() -> None:
    assert found(r"SELECT 1 WHERE a LIKE '%' ESCAPE '\'; DROP TABLE t") == ["-t"]
    assert found(r"INSERT INTO a VALUES ('it\'s'); DROP TABLE t") == ["-t"]


def test_each_name_has_its_place() -> None:
    text = "-- one\nALTER TABLE users\n  ADD COLUMN token text,\n  ADD COLUMN age int;\nDO $$ DROP TABLE old $$"
    assert [text[s.at :].split()[0] for s in ddl.statements(text)] == ["token", "age", "old"]
    assert {text[s.table_at :].split()[0] for s in ddl.statements(text)} == {"users", "old"}


def test_what_only_names_or_indexes_is_not_brought_in_for_importers() -> None:
    after = "ALTER TABLE t RENAME a TO b; CREATE INDEX i ON t (b); ALTER TABLE t ADD c int"
    assert ddl.brought_in("", after) == ["t.c"]
    assert ddl.taken_away("", after) == []


def test_arrays_are_no_quoted_names() -> None:
    assert found("CREATE TABLE t (a int[], b text[3] DEFAULT ARRAY['x'], c int)") == ["+t", "+t.a", "+t.b", "+t.c"]


def test_operators_with_a_hash_are_no_comments() -> None:
    assert found("SELECT a #>> '{b}' FROM c; DROP TABLE t") == ["-t"]


@pytest.mark.parametrize("mark", ["+goose {}", "+migrate {}", "migrate:{}"])
def test_the_way_back_of_a_migration_is_not_read(mark: str) -> None:
    up, down = "-- " + mark.format("up"), "-- " + mark.format("down")
    assert found(f"{up}\nALTER TABLE t ADD COLUMN a int;\n{down}\nALTER TABLE t DROP COLUMN b;") == ["+t.a"]
    assert found(f"{down}\nDROP TABLE b;\n{up}\nDROP TABLE a;") == ["-a"]
    assert not ddl.is_sql("db/1_users.down.sql")
    assert not ddl.is_sql("db/1_users/down.sql") and not ddl.is_sql("down.sql")
    assert ddl.is_sql("db/1_users.up.SQL") and ddl.is_sql("db/countdown.sql")
    assert not ddl.is_sql("db/models.py")


def test_a_dump_that_drops_and_creates_a_table_brings_it_in() -> None:
    dump = "DROP TABLE IF EXISTS t; CREATE TABLE t (a int);"
    assert ddl.brought_in("", dump) == ["t"]
    assert ddl.taken_away("", dump) == []
    assert ddl.taken_away(dump, "") == ["t"]


def test_what_a_change_of_a_file_takes_away() -> None:
    before = "CREATE TABLE users (id int, email text, token text); ALTER TABLE a ADD COLUMN b int;"
    after = "CREATE TABLE USERS (id int, email text); ALTER TABLE a ADD COLUMN b int; DROP TABLE legacy;"
    assert ddl.taken_away(before, after) == ["users.token", "legacy"]
    assert ddl.brought_in(before, after) == []
    assert ddl.brought_in(after, before) == ["users.token", "legacy"]
    assert ddl.taken_away(before, before) == []


def test_the_columns_of_a_table_that_goes_as_a_whole_are_not_named() -> None:
    assert ddl.taken_away("CREATE TABLE t (a int, b int); CREATE TABLE u (c int)", "CREATE TABLE u (c int)") == ["t"]


_PIECES = st.sampled_from(
    [
        "CREATE TABLE ",
        "DROP TABLE ",
        "ALTER TABLE ",
        "ADD COLUMN ",
        "DROP ",
        "t",
        "a",
        ".",
        ",",
        "(",
        ")",
        "[",
        "]",
        ";",
        "'",
        '"',
        "`",
        "$$",
        "$x$",
        "--",
        "/*",
        "*/",
        "\n",
        "#",
        "\\",
        " ",
        "é",
        "�",
        "1",
        "IF EXISTS ",
        "-- +goose Down\n",
    ]
)


@given(st.lists(_PIECES, max_size=60).map("".join))
def test_any_text_is_read_without_an_error_and_a_change_to_itself_takes_nothing(text: str) -> None:
    ddl.statements(text)
    assert ddl.taken_away(text, text) == []
    assert set(ddl.taken_away(text, "")) == set(ddl.brought_in("", text))


@pytest.mark.parametrize(
    "piece", ["/*", "(", "'", "''", "$a$ $", "[a", "ALTER TABLE t ADD (", "CREATE ", "DROP TABLE a,", "-", "a.", "\\'x"]
)
def test_the_time_is_linear_in_the_text(piece: str) -> None:
    start = time.process_time()
    ddl.statements(piece * 20_000)
    assert time.process_time() - start < 5  # a quadratic reader needs minutes
