"""What sqlglot makes of DDL, as acts; the table has each form and each oddity that was met in real migrations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.importers import statements


def acts(text: str, dialect: str = "") -> list[str]:
    found = statements.statements(text, dialect)
    assert found is not None
    return [str(act)[4:-1] for one in found for act in (one.acts or [])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CREATE TABLE users (id int, c text)", ["create table users", "add column users.id", "add column users.c"]),
        ("create table if not exists s.users (id serial primary key)", ["create table users", "add column users.id"]),
        ("CREATE TABLE t (a int, CONSTRAINT u UNIQUE (a), FOREIGN KEY (a) REFERENCES y(z))",
         ["create table t", "add column t.a"]),
        ("CREATE TABLE t AS SELECT a, b AS c FROM x", ["create table t", "add column t.a", "add column t.c"]),
        ("CREATE TABLE x (a, b)", ["create table x", "add column x.a", "add column x.b"]),
        ("CREATE TABLE `o` (`id` int, KEY `ix` (`id`)) ENGINE=InnoDB", ["create table o", "add column o.id"]),
        ("ALTER TABLE ONLY users ADD COLUMN a int, ADD COLUMN IF NOT EXISTS \"Weird Name\" text",
         ["add column users.a", "add column users.Weird Name"]),
        ("ALTER TABLE users ADD CONSTRAINT uq UNIQUE (a)", []),
        ("ALTER TABLE users DROP COLUMN IF EXISTS legacy, DROP CONSTRAINT x", ["remove column users.legacy"]),
        ("ALTER TABLE users ADD (a NUMBER, b VARCHAR2(20))", ["add column users.a", "add column users.b"]),
        ("ALTER TABLE users ADD a", ["add column users.a"]),
        ("ALTER TABLE `users` CHANGE COLUMN a b INT NOT NULL", ["rename column users.b from users.a"]),
        ("ALTER TABLE `users` CHANGE a a BIGINT", ["retype column users.a"]),
        ("ALTER TABLE `users` MODIFY c BIGINT, ADD INDEX idx (c), DROP INDEX i, DROP d",
         ["retype column users.c", "index_add index users.idx", "index_remove index users.i", "remove column users.d"]),
        ("ALTER TABLE users RENAME COLUMN a TO b", ["rename column users.b from users.a"]),
        ("ALTER TABLE users RENAME TO people", ["rename table people from users"]),
        ("ALTER TABLE users RENAME a TO b", ["rename column users.b from users.a"]),
        ("ALTER TABLE IF EXISTS ONLY s.users RENAME \"to\" TO \"né e\", ADD c int",
         ["rename column users.né e from users.to", "add column users.c"]),
        ("ALTER TABLE users RENAME COLUMN a TO b, RENAME c TO d",
         ["rename column users.b from users.a", "rename column users.d from users.c"]),
        ("ALTER TABLE users RENAME AS people", ["rename table people from users"]),
        ("ALTER TABLE s.users RENAME INDEX a TO b", ["rename index users.b from users.a"]),
        ("ALTER TABLE `u` ADD c int, RENAME KEY a TO b", ["add column u.c", "rename index u.b from u.a"]),
        ("ALTER INDEX IF EXISTS s.a RENAME TO b", ["rename index b from a"]),
        ("ALTER INDEX a SET (fillfactor = 90)", []),
        ("ALTER TABLE users RENAME CONSTRAINT a TO b", []),
        ("RENAME TABLE a TO b, `c` TO s.d", ["rename table b from a", "rename table d from c"]),
        ("EXEC sp_rename 'dbo.users.a', 'b', 'COLUMN'", ["rename column users.b from users.a"]),
        ("EXEC sp_rename 'users', 'people'", ["rename table people from users"]),
        ("EXEC sp_help 'users'", []),
        ("ALTER TABLE users ALTER COLUMN a TYPE bigint", ["retype column users.a"]),
        ("ALTER TABLE users ALTER COLUMN a SET NOT NULL", ["modify column users.a"]),
        ("DROP TABLE IF EXISTS a, b CASCADE", ["delete table a", "delete table b"]),
        ("CREATE UNIQUE INDEX CONCURRENTLY idx ON public.users (email)", ["index_add index users.idx"]),
        ("DROP INDEX idx ON users", ["index_remove index users.idx"]),
        ("CREATE VIEW v AS SELECT 1; CREATE TYPE mood AS ENUM ('a'); ALTER TYPE mood ADD VALUE 'b'", []),
        ("INSERT INTO x VALUES ('; DROP TABLE y; --')", []),
        ("CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN ALTER TABLE q ADD z int; END $$ LANGUAGE plpgsql", []),
        ("-- CREATE TABLE a (b int)\n/* DROP TABLE c; */ SELECT 1", []),
        ("SELECT 1\nGO\nCREATE TABLE t (a int)\nGO\n", ["create table t", "add column t.a"]),
        ("\\connect shop\nCREATE TABLE t (a int);", ["create table t", "add column t.a"]),
    ],
)  # fmt: skip
def test_what_a_statement_does(text: str, expected: list[str]) -> None:
    assert acts(text) == expected


def test_a_definition_that_cannot_be_read_is_told_from_one_that_defines_nothing() -> None:
    found = list(statements.statements("ALTER TABLE users FROBNICATE x; GRANT ALL ON x TO y; DROP TABLE z") or ())
    assert [one.acts if one.acts is None else [str(act) for act in one.acts] for one in found] == [
        None,
        [],
        ["Act(delete table z)"],
    ]
    assert statements.statements("CREATE TABLE t (a text DEFAULT 'x") is None


def test_the_comment_before_a_statement_and_its_line_are_told() -> None:
    text = "-- for the\n-- refunds\nALTER TABLE a ADD b int;\n\nALTER TABLE a ADD c int;\n"
    found = list(statements.statements(text) or ())
    assert [(one.line, one.comment) for one in found] == [(3, "for the refunds"), (5, "")]
    assert found[0].text == "ALTER TABLE a ADD b int"


@given(st.text(st.sampled_from("abcCREATEALTERDROP table;()'\"`,.-\n$[]1 "), max_size=120))
def test_no_text_makes_it_raise(text: str) -> None:
    for one in statements.statements(text) or ():
        assert one.line >= 1
