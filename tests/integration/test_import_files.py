"""Importers of files, through the installed command: what comes in, once, at its own time, never over what stands."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.core import vocabulary


def write(repo: Path, name: str, text: str) -> None:
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def committed(git, repo: Path, *, date: str = "2021-05-06T07:08:09Z") -> None:
    git("add", "-A", cwd=repo)
    env = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    git("commit", "-q", "-m", "Add files", cwd=repo, env=env)


def changes(cli, repo: Path, *words: str) -> list[tuple[str, str, str]]:
    events = cli("log", *words, "--json", "--all", cwd=repo).json["events"]
    return [(one["change_type"], one["entity_path"], one["valid_from"]) for one in reversed(events)]


SQL = """\
-- +goose Up
-- Refunds need the old number.
CREATE TABLE users (id serial PRIMARY KEY, card_pan text);
ALTER TABLE users ADD COLUMN email text, ADD COLUMN "née" text;
CREATE INDEX idx_email ON users (email);
-- +goose Down
DROP TABLE users;
"""


def test_sql_comes_in_at_its_own_time_once_and_with_the_words_before_it(repo, cli, git):
    write(repo, "db/20190314101112_users.sql", SQL)
    write(repo, "db/20190401000000_drop.sql", "DROP INDEX idx_email; ALTER TABLE users DROP COLUMN email;")
    write(repo, "db/20190401000000_drop.down.sql", "ALTER TABLE users ADD COLUMN email text;")
    write(repo, "db/later.sql", "ALTER TABLE users FROB; ALTER TABLE users RENAME TO people;")
    committed(git, repo)
    dry = cli("import", "sql", "db", "--dry-run", "--json", cwd=repo).json
    assert dry["appended"] == 9 and cli("log", cwd=repo).code == 10
    done = cli("import", "sql", "db", "--json", cwd=repo).json
    assert done["read"] == {"files": 3, "statements": 7} and done["appended"] == 9
    assert [(one["count"], one["examples"]) for one in done["skipped"]] == [(1, ["db/later.sql:1"])]
    first, second, by_commit = (
        f"{day}.000000Z" for day in ("2019-03-14T10:11:12", "2019-04-01T00:00:00", "2021-05-06T07:08:09")
    )
    assert changes(cli, repo) == [
        ("create", "users", first),
        ("add", "users.id", first),
        ("add", "users.card_pan", first),
        ("add", "users.email", first),
        ("add", "users.née", first),
        ("index_add", "users.idx_email", first),
        ("index_remove", "users.idx_email", second),
        ("remove", "users.email", second),
        ("rename", "people", by_commit),
    ]  # fmt: skip
    event = cli("log", "users", "--json", "--all", cwd=repo).json["events"][-1]
    assert event["reasoning"] == "Refunds need the old number." and event["channel"] == "import"
    assert event["evidence"] == ["file:db/20190314101112_users.sql:3", f"commit:{git('rev-parse', 'HEAD', cwd=repo)}"]
    again = cli("import", "sql", "db", "--json", cwd=repo).json
    assert (again["appended"], again["known"]) == (0, 9)
    # moved on: a statement more, and the others stay known
    write(repo, "db/later.sql", "-- new\nCREATE TABLE carts (id int);\nALTER TABLE users RENAME TO people;")
    assert cli("import", "sql", "db", "--json", cwd=repo).json["appended"] == 2
    assert cli("verify", cwd=repo).code == 0


def test_a_migration_with_a_folder_of_its_own_goes_forward_and_is_as_old_as_the_folder_says(repo, cli, git):
    write(
        repo, "db/2019-03-14-101112_users/up.sql", "CREATE TABLE users (id int);\nCREATE INDEX by_id ON users (id);\n"
    )
    write(repo, "db/2019-03-14-101112_users/down.sql", "DROP TABLE users;\n")
    write(repo, "db/20190401_names/migration.sql", "ALTER TABLE users RENAME id TO number;\n")
    write(repo, "db/20190402_names/up.sql", "ALTER INDEX by_id RENAME TO by_number; ALTER INDEX x RENAME TO y;\n")
    write(repo, "db/20190402_names/undo.sql", "ALTER INDEX by_number RENAME TO by_id;\n")
    committed(git, repo)
    done = cli("import", "sql", "db", "--json", cwd=repo).json
    assert done["read"] == {"files": 3, "statements": 5}
    assert [(one["count"], one["examples"]) for one in done["skipped"]] == [(1, ["db/20190402_names/up.sql:1"])]
    first, second, third = (f"2019-{day}.000000Z" for day in ("03-14T10:11:12", "04-01T00:00:00", "04-02T00:00:00"))
    assert changes(cli, repo) == [
        ("create", "users", first),
        ("add", "users.id", first),
        ("index_add", "users.by_id", first),
        ("rename", "users.number", second),
        ("rename", "users.by_number", third),
    ]


def test_a_file_that_a_merge_added_is_as_old_as_the_merge_and_others_as_the_commit_that_added_them(repo, cli, git):
    write(repo, "m/1.sql", "CREATE TABLE one (id int);")
    committed(git, repo)
    git("checkout", "-q", "-b", "side", cwd=repo)
    write(repo, "m/2.sql", "CREATE TABLE two (id int);")
    committed(git, repo)
    git("checkout", "-q", "main", cwd=repo)
    then = {"GIT_AUTHOR_DATE": "2022-02-02T02:02:02Z", "GIT_COMMITTER_DATE": "2022-02-02T02:02:02Z"}
    git("merge", "-q", "--no-ff", "--no-commit", "side", cwd=repo)
    write(repo, "m/3.sql", "CREATE TABLE three (id int);")
    git("add", "-A", cwd=repo)
    git("commit", "-q", "-m", "Merge, and a table more", cwd=repo, env=then)
    done = cli("import", "sql", "m", "--json", cwd=repo).json
    assert done["appended"] == 6 and done["skipped"] == []
    commits, merge = "2021-05-06T07:08:09.000000Z", "2022-02-02T02:02:02.000000Z"
    made = {name: time for kind, name, time in changes(cli, repo) if kind == "create"}
    assert made == {"one": commits, "two": commits, "three": merge}


def test_old_migrations_never_reopen_what_was_rejected_since_and_a_new_file_is_never_silently_active(repo, cli, git):
    cli("reject", "users.card_pan", "-r", "No card data in our tables.", cwd=repo, tty=True)
    write(repo, "db/20190314101112_users.sql", SQL)
    committed(git, repo)
    cli("import", "sql", "db", cwd=repo)
    verdicts = {
        one["entity_path"]: one["verdict"] for one in cli("status", "users", "--json", cwd=repo).json["decisions"]
    }
    assert verdicts["users.card_pan"] == "rejected" and verdicts["users.email"] == "active"
    assert cli("record", "users.card_pan", "add", "-r", "Again.", cwd=repo).code == 14
    # and a file that no commit has yet is as old as it says: newer than the rejection, it is contested
    write(repo, "db/now.sql", "ALTER TABLE users ADD COLUMN card_pan text;")
    os.utime(repo / "db/now.sql", (4_000_000_000, 4_000_000_000))
    cli("import", "sql", "db/now.sql", cwd=repo)
    assert cli("status", "users.card_pan", "--json", cwd=repo).json["decisions"][0]["verdict"] == "contested"


ALEMBIC = '''"""Drop the token again.

Revision ID: {revision}
Revises: {down}
Create Date: {date}

"""
import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{down}"


def upgrade():
{body}


def downgrade():
    op.drop_table("users")
'''


def test_alembic_is_read_and_never_run(repo, cli, git):
    bodies = {
        "b2": (
            "2020-02-02 02:02:02",
            ['with op.batch_alter_table("users") as batch:', '    batch.add_column(sa.Column("token", sa.Text()))',
             '    batch.drop_column("fax")'],
        ),
        "a1": (
            "2020-01-01 01:01:01",
            ['op.create_table("users", sa.Column("id", sa.Integer()), sa.Column("fax", sa.Text()))',
             'open("proof", "w")', 'op.execute("""ALTER TABLE users ADD COLUMN nick text""")'],
        ),
        "c3": (
            "2020-03-03 03:03:03",
            ['op.alter_column("users", "token", new_column_name="secret")',
             'op.alter_column("users", "id", type_=sa.BigInteger())',
             'op.drop_column(TABLE, "x")', 'op.rename_table("users", "people")'],
        ),
    }  # fmt: skip
    for name, (date, body) in bodies.items():
        text = ALEMBIC.format(revision=name, down="", date=date, body="\n".join(f"    {line}" for line in body))
        write(repo, f"migrations/versions/{name}_x.py", text)
    write(repo, "migrations/env.py", "raise SystemExit")
    write(repo, "migrations/versions/helper.py", "x = 1")
    write(repo, "migrations/versions/broken.py", "def (")
    committed(git, repo)
    done = cli("import", "alembic", "migrations", "--json", cwd=repo).json
    assert done["read"]["migrations"] == 3 and not (repo / "proof").exists()
    assert changes(cli, repo) == [
        ("create", "users", "2020-01-01T01:01:01.000000Z"),
        ("add", "users.id", "2020-01-01T01:01:01.000000Z"),
        ("add", "users.fax", "2020-01-01T01:01:01.000000Z"),
        ("add", "users.nick", "2020-01-01T01:01:01.000000Z"),
        ("add", "users.token", "2020-02-02T02:02:02.000000Z"),
        ("remove", "users.fax", "2020-02-02T02:02:02.000000Z"),
        ("rename", "users.secret", "2020-03-03T03:03:03.000000Z"),
        ("retype", "users.id", "2020-03-03T03:03:03.000000Z"),
        ("rename", "people", "2020-03-03T03:03:03.000000Z"),
    ]
    assert {one["reason"]: one["count"] for one in done["skipped"]} == {
        "files that are no Python": 1,
        "operations that can't be read without running them": 1,
    }
    assert cli("log", "users.token", "--json", cwd=repo).json["events"][-1]["reasoning"] == "Drop the token again."
    assert cli("import", "alembic", "migrations", "--json", cwd=repo).json["appended"] == 0


DJANGO = """\
# Generated by Django 4.2 on {date}
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [{depends}]
    operations = [
{body}
    ]
"""


def test_django_is_read_and_never_run(repo, cli, git):
    first = """\
        migrations.CreateModel("Order", fields=[("id", models.AutoField(primary_key=True)),
            ("total", models.IntegerField()), ("owner", models.ForeignKey("auth.User", models.CASCADE)),
            ("tags", models.ManyToManyField("shop.Tag"))]),
        migrations.CreateModel(name="Tag", fields=[("id", models.AutoField())], options={"db_table": "labels"}),
        migrations.RunPython(lambda apps, editor: open("proof", "w")),
"""  # fmt: skip
    second = """\
        migrations.AddField("order", "note", models.TextField(db_column="remark")),
        migrations.RemoveField(model_name="order", name="total"),
        migrations.RenameField("order", "owner", "buyer"),
        migrations.AlterField("order", "note", models.CharField(max_length=9, db_column="remark")),
        migrations.RenameModel("Order", "Purchase"),
        migrations.AddIndex("purchase", models.Index(fields=["buyer"], name="idx_buyer")),
        migrations.RunSQL(["ALTER TABLE labels ADD COLUMN colour text", ("ALTER TABLE labels DROP COLUMN id", None)]),
        migrations.DeleteModel("Tag"),
        migrations.AddField(MODEL, "x", models.TextField()),
"""
    write(repo, "apps/shopping/migrations/__init__.py", "")
    write(
        repo, "apps/shopping/migrations/0001_initial.py", DJANGO.format(date="2022-01-02 03:04", depends="", body=first)
    )
    text = DJANGO.format(date="2023-01-02 03:04", depends='("shop", "0001_initial")', body=second)
    write(repo, "apps/shopping/migrations/0002_drop_total.py", text)
    committed(git, repo, date="2023-05-06T07:08:09Z")
    done = cli("import", "django", ".", "--json", cwd=repo).json
    assert done["read"]["migrations"] == 2 and not (repo / "proof").exists()
    assert [(change, name) for change, name, _ in changes(cli, repo)] == [
        ("create", "shop_order"),
        ("add", "shop_order.id"),
        ("add", "shop_order.total"),
        ("add", "shop_order.owner_id"),
        ("create", "shop_order_tags"),
        ("create", "labels"),
        ("add", "labels.id"),
        ("add", "shop_order.remark"),
        ("remove", "shop_order.total"),
        ("rename", "shop_order.buyer_id"),
        ("retype", "shop_order.remark"),
        ("rename", "shop_purchase"),
        ("index_add", "shop_purchase.idx_buyer"),
        ("add", "labels.colour"),
        ("remove", "labels.id"),
        ("delete", "labels"),
    ]
    assert [(one["count"], one["reason"]) for one in done["skipped"]] == [
        (1, "operations that can't be read without running them")
    ]
    event = cli("log", "shop_order.total", "--json", "--all", cwd=repo).json["events"][0]
    assert (event["reasoning"], event["valid_from"]) == ("drop total", "2023-01-02T03:04:00.000000Z")
    assert cli("import", "django", ".", "--json", cwd=repo).json["appended"] == 0


MADR = """\
---
status: accepted
date: 2022-03-04
---

# Use PostgreSQL for orders

## Considered Options

* PostgreSQL
* MongoDB
* [DynamoDB](https://example.org) - somebody else's servers

## Decision Outcome

Chosen option: "PostgreSQL", because *transactions* span tables.

## Pros and Cons of the Options

### MongoDB

* Good, because it is quick to start with
* Bad, because orders span documents
"""
NYGARD = """\
# 1. Record in files

Date: 2020-01-02

## Status

Accepted

Superseded by [2. Record in the log](0002-record-in-the-log.md)

## Context

We forget.

## Decision

Every decision is a file.
"""
SUCCESSOR = """\
# 2. Record in the log

Date: 2021-03-04

## Status

Accepted

Supersedes [1. Record in files](0001-record-in-files.md)

## Decision

Files went stale.
"""
PLAIN = """\
# Run our own mail server

- Status: {status}
- Date: 2023-05-06

## Decision

It is too much work.
"""


@pytest.mark.parametrize(
    ("name", "is_read"),
    [("0007-template-engine", True), ("0007-email-template", True), ("adr-template-minimal", False)]
    + [(name, False) for name in ("template", "0000-template", "ADR-Template", "madr-template-bare-minimal", "README")],
)
def test_what_records_are_begun_from_is_none(repo, cli, name, is_read):
    write(repo, f"adr/{name}.md", "# Use it\n\n## Status\n\nAccepted\n")
    done = cli("import", "adr", "adr", "--json", cwd=repo).json
    assert done["appended"] == is_read and all(one["kept"] for one in done["skipped"])


def test_decision_records_bring_what_was_rejected_with_its_approach(repo, cli, git):
    write(repo, "docs/adr/0001-record-in-files.md", NYGARD)
    write(repo, "docs/adr/0002-record-in-the-log.md", SUCCESSOR)
    write(repo, "docs/adr/0003-postgres.md", MADR)
    for number, status in enumerate(("rejected", "proposed", "deprecated"), 4):
        write(repo, f"docs/adr/000{number}-mail-{status}.md", PLAIN.format(status=status))
    write(repo, "docs/adr/README.md", "# Decisions\n\n## Status\n\nAccepted\n")
    write(repo, "docs/adr/notes.md", "Only notes.\n")
    committed(git, repo)
    done = cli("import", "adr", "docs/adr", "--json", cwd=repo).json
    assert done["read"] == {"files": 7, "records": 6}
    assert {one["reason"]: one["examples"] for one in done["skipped"]} == {
        "Markdown files that are no decision records": ["docs/adr/notes.md"],
        "records that are only proposed": ["docs/adr/0005-mail-proposed.md"],
    }
    found = cli("status", "docs/adr", "--json", cwd=repo).json["decisions"]
    verdicts = {(Path(one["entity_path"]).name[:4], one["approach"]): one["verdict"] for one in found}
    assert verdicts == {
        ("0001", "Record in files"): "reverted",
        ("0002", "Record in the log"): "active",
        ("0003", "PostgreSQL"): "active",
        ("0003", "MongoDB"): "rejected",
        ("0003", "DynamoDB"): "rejected",
        ("0004", "Run our own mail server"): "rejected",
        ("0006", "Run our own mail server"): "removed",
    }
    prior = cli("prior", "--about", "mongodb orders", "--json", cwd=repo).json
    (attempt,) = [one for one in prior["attempts"] if one["approach"] == "MongoDB"]
    assert attempt["instead"] == "PostgreSQL" and "orders span documents" in attempt["reasoning"]
    reverted = cli("log", "docs/adr/0001-record-in-files.md", "--json", cwd=repo).json["events"][0]
    assert reverted["valid_from"].startswith("2021-03-04") and reverted["instead"] == "Record in the log"
    assert "Files went stale." in reverted["reasoning"]
    assert cli("import", "adr", "docs/adr", "--json", cwd=repo).json["appended"] == 0


def trace(**more: object) -> dict[str, object]:
    return {
        "version": "0.1.0",
        "id": "6f1c4c0e-0000-4000-8000-000000000001",
        "timestamp": "2026-01-02T03:04:05Z",
        "vcs": {"type": "git", "revision": "a" * 40},
        "tool": {"name": "somecoder", "version": "1"},
        "files": [
            {"path": "src/a.py", "conversations": [
                {"url": "https://example.org/c/1", "contributor": {"type": "ai", "model_id": "maker/model"},
                 "ranges": [{"start_line": 3, "end_line": 9}]}]},
        ],
        **more,
    }  # fmt: skip


def test_agent_traces_say_who_wrote_what(repo, cli):
    own = {
        "dev.selvedge": {
            "entity_path": "users.email",
            "change_type": "add",
            "reasoning": "Login.",
            "entity_type": "column",
        }
    }
    records = [trace(), trace(id="2", metadata=own), trace(id="3", metadata={"dev.gitmem": {}}), {"version": "0.1.0"}]
    write(repo, "traces.jsonl", "".join(json.dumps(one) + "\n" for one in records) + "no json\n")
    done = cli("import", "agent-trace", "traces.jsonl", "--json", cwd=repo).json
    assert done["appended"] == 2
    assert {one["reason"] for one in done["skipped"]} == {
        "lines that are no JSON",
        "records that are not Agent Trace 0.1.0",
    }
    assert [(one[0], one[1]) for one in changes(cli, repo)] == [("modify", "src/a.py"), ("add", "users.email")]
    event = cli("log", "src/a.py", "--json", cwd=repo).json["events"][0]
    assert event["agent"] == "somecoder" and event["valid_from"] == "2026-01-02T03:04:05.000000Z"
    assert "7 lines written by maker/model" in event["reasoning"] and f"commit:{'a' * 40}" in event["evidence"]
    write(repo, "bundle.json", json.dumps({"records": records}))
    assert cli("import", "agent-trace", "bundle.json", "--json", cwd=repo).json["appended"] == 0


# --- Selvedge ---------------------------------------------------------------------------------

COLUMNS = (
    "id timestamp entity_type entity_path change_type diff reasoning agent session_id git_commit project changeset_id "
    "metadata revisit_after expires_when supersedes constraint stale_when"
).split()


def store(path: Path, rows: list[dict[str, str]]) -> None:
    """A store of Selvedge's shape, made here: one row for each event, nothing else that an importer reads."""
    db = sqlite3.connect(path)
    columns = ", ".join(f'"{name}" TEXT' for name in COLUMNS)
    db.execute(f"CREATE TABLE events ({columns})")
    for number, row in enumerate(rows):
        whole = {
            "id": f"00000000-0000-4000-8000-{number:012}",
            "entity_type": "other",
            "metadata": "{}",
            "reasoning": f"Reason {number}.",
        }
        whole |= {"timestamp": f"2026-01-01T00:00:{number:02}.000000Z"} | row
        db.execute(
            f"INSERT INTO events VALUES ({', '.join('?' * len(COLUMNS))})", [whole.get(name) for name in COLUMNS]
        )
    db.commit()
    db.close()


def test_every_change_type_of_selvedge_comes_in_with_counts_that_add_up(repo, cli, tmp_path):
    types = (
        "add remove modify rename retype create delete index_add index_remove migrate revert reject supersede".split()
    )
    assert set(types) == set(vocabulary.CHANGE_TYPES)
    rows = [{"entity_path": f"t.{kind}", "change_type": kind} for kind in types if kind not in ("rename", "supersede")]
    rows += [
        {"entity_path": "t.old", "change_type": "rename", "reasoning": "Shorter."},
        {"entity_path": "t.new", "change_type": "create", "reasoning": "Shorter.",
         "metadata": '{"renamed_from": "t.old"}'},
        {"entity_path": "t.reject", "change_type": "supersede"},  # without an id: what the path has newest
        {"entity_path": "t.lost", "change_type": "supersede"},
        {"entity_path": "t.odd", "change_type": "explode"},
        {"entity_path": "t.more", "change_type": "add", "revisit_after": "90d", "expires_when": "library:django>=5.0",
         "constraint": "c", "stale_when": "s", "changeset_id": "cs", "agent": "bot", "git_commit": "abc", "diff": "+x"},
        {"entity_path": "t.bad", "change_type": "add", "expires_when": "whenever", "reasoning": ""},
    ]  # fmt: skip
    store(tmp_path / "s.db", rows)
    before = (tmp_path / "s.db").read_bytes()
    done = cli("import", "selvedge", tmp_path / "s.db", "--json", cwd=repo).json
    left_out = sum(one["count"] for one in done["skipped"] if not one["kept"] and "expires_when" not in one["reason"])
    assert done["read"] == {"events": len(rows), "old halves of renames": 1}
    assert done["appended"] == len(rows) - 1 - left_out and left_out == 2
    assert (tmp_path / "s.db").read_bytes() == before and not list(tmp_path.glob("s.db-*"))
    events = {one["entity_path"]: one for one in cli("log", "--json", "--all", cwd=repo).json["events"][::-1]}
    assert events["t.more"]["expires_when"] == "library:django>=5.0" and events["t.more"]["revisit_after"] == "90d"
    assert events["t.more"]["changeset_id"] == "cs" and events["t.more"]["agent"] == "bot"
    assert "selvedge:00000000-0000-4000-8000-000000000016" in events["t.more"]["evidence"]
    assert events["t.new"]["renamed_from"] == "t.old" and events["t.bad"]["expires_when"] is None
    assert cli("status", "t.reject", "--json", cwd=repo).json["decisions"][0]["verdict"] == "reopened"
    assert cli("import", "selvedge", tmp_path / "s.db", "--json", cwd=repo).json["appended"] == 0
    assert cli("verify", cwd=repo).code == 0


ENDS = ("revert", "reject", "remove", "delete")


@pytest.mark.parametrize("seed", range(4))
def test_prior_answers_no_less_than_the_store_for_every_entity(repo, cli, tmp_path, seed):
    """Selvedge's own rule: of attempts those that a revert or reject closed, and rejects of their own, are shown."""
    import random

    chance = random.Random(seed)
    kinds = ["add", "modify", "create", "retype", "rename", "revert", "reject", "remove", "delete", "supersede"]
    rows = [{"entity_path": f"t.c{chance.randrange(4)}", "change_type": chance.choice(kinds)} for _ in range(40)]
    store(tmp_path / "s.db", rows)
    cli("import", "selvedge", tmp_path / "s.db", cwd=repo)
    for path in {row["entity_path"] for row in rows}:
        told = {row["change_type"] for row in rows if row["entity_path"] == path}
        found = cli("prior", path, "--all", "--json", cwd=repo).json
        if told - {"supersede"}:
            assert found["known"] == "yes", path
        closed = sum(1 for row in rows if row["entity_path"] == path and row["change_type"] in ("revert", "reject"))
        named = {closing for attempt in found["attempts"] for closing in attempt["closed_by"]}
        assert named or not closed, path
        # Selvedge pairs each event with the first removal after it, and tells both.
        mine = [(number, row["change_type"]) for number, row in enumerate(rows) if row["entity_path"] == path]
        ends = [number for number, kind in mine if kind in ENDS]
        tried = [number for number, kind in mine if number < max(ends, default=0) and kind not in ("supersede", *ENDS)]
        text = json.dumps(found)
        assert [number for number in tried if f'"Reason {number}."' not in text] == [], path


def test_the_store_s_own_chain_says_which_rows_were_changed(repo, cli, tmp_path):
    selvedge = shutil.which("selvedge")
    if selvedge is None:
        pytest.skip("Selvedge is not installed here")
    env = {**os.environ, "SELVEDGE_DB": str(tmp_path / "s.db")}
    for words in (
        ["log", "a.b", "add", "-r", "One reason for it."],
        ["log", "a.c", "add", "-r", "Another reason for it."],
    ):
        subprocess.run([selvedge, *words], env=env, check=True, capture_output=True, cwd=tmp_path)
    db = sqlite3.connect(tmp_path / "s.db")
    db.execute("UPDATE events SET reasoning = 'Changed later.' WHERE entity_path = 'a.b'")
    db.commit()
    db.close()
    done = cli("import", "selvedge", tmp_path / "s.db", "--json", cwd=repo).json
    assert [one["count"] for one in done["skipped"] if "chain" in one["reason"]] == [1] and done["appended"] == 2


# --- what can go wrong ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sql", "alembic", "django", "adr", "agent-trace", "selvedge"])
def test_nothing_there_is_said_in_a_sentence(repo, cli, git, kind):
    said = cli("import", kind, "no such place", cwd=repo)
    assert said.code == 15 and "no such place" in said.stderr and "Traceback" not in said.stderr
    assert git("for-each-ref", "refs/decisions", cwd=repo) == ""
    (repo / "empty").mkdir()
    if kind in ("sql", "alembic", "django", "adr"):
        assert cli("import", kind, "empty", "--json", cwd=repo).json["appended"] == 0
        assert cli("import", kind, "empty", cwd=repo).code == 0


@pytest.mark.parametrize("kind", ["sql", "alembic", "django"])
def test_a_dialect_is_known_by_its_names_and_nothing_is_read_in_none(repo, cli, kind):
    write(repo, "m/001.sql", "CREATE TABLE users (id int);")
    for word, hint in (("postgrs", "did you mean `postgres`?"), ("?", "mysql")):
        done = cli("import", kind, "m", "--dialect", word, cwd=repo)
        assert done.code == 15 and f"{word!r} is no dialect of SQL" in done.stderr and hint in done.stderr
    for word in ("postgres", "PostgreSQL", "MySQL", "mssql"):
        done = cli("import", kind, "m", "--dialect", word, "--dry-run", "--json", cwd=repo)
        assert done.code == 0 and done.json["appended"] == (2 if kind == "sql" else 0)


def test_odd_files_are_counted_and_break_nothing(repo, cli):
    write(repo, "db/a.sql", "CREATE TABLE ok (id int);")
    (repo / "db/b.sql").write_bytes(b"CREATE TABLE \xff\xfe (id int);")
    (repo / "db/c.sql").write_bytes(b"\0\1\2")
    (repo / "db/d.sql").write_bytes(b"CREATE TABLE t (a text DEFAULT 'x")
    (repo / "db/e.sql").symlink_to("nowhere")
    write(repo, "db/f.sql", f"CREATE TABLE {'x' * 2000} (id int);")
    done = cli("import", "sql", "db", "--json", cwd=repo).json
    reasons = " ".join(one["reason"] for one in done["skipped"])
    assert "no text" in reasons and "quotes" in reasons and "can't be read" in reasons and "not UTF-8" in reasons
    assert "longer than" in reasons
    assert ("create", "ok") in [(one[0], one[1]) for one in changes(cli, repo)]


def test_a_secret_in_a_comment_is_stored_as_a_marker(repo, cli):
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    write(repo, "db/a.sql", f"-- token {secret}\nCREATE TABLE t (a int);")
    done = cli("import", "sql", "db", "--json", cwd=repo).json
    assert done["appended"] == 2 and done["warnings"]
    assert secret not in cli("log", "--json", cwd=repo).stdout


def test_without_the_extra_one_sentence_says_what_to_install(repo, tmp_path):
    for module, kind in (("sqlglot", "sql"), ("markdown_it", "adr")):
        write(repo, "x/a.sql", "SELECT 1;")
        write(repo, "x/a.md", "# A\n\n## Status\n\nAccepted\n")
        stub = tmp_path / module
        stub.mkdir()
        (stub / f"{module}.py").write_text(f"raise ModuleNotFoundError('none', name='{module}')\n")
        code = "import sys; from gitmem.__main__ import main; sys.exit(main(sys.argv[1:]))"
        done = subprocess.run(
            [sys.executable, "-c", code, "import", kind, "x"],
            cwd=repo,
            env={**os.environ, "PYTHONPATH": str(stub)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 17 and "git-decisions[import]" in done.stderr, done.stderr
