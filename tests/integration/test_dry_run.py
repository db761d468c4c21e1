"""A dry run of an import says what the import then says, to the last number, and writes nothing."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

LONG = "because " * 9000  # more than a reason may hold
TIME = "2026-01-01T00:00:0{}.000000Z"


def write(repo: Path, name: str, text: str) -> str:
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return name.split("/")[0]


def selvedge(path: Path, *rows: tuple[str, ...]) -> None:
    columns = "id timestamp entity_type entity_path change_type reasoning supersedes".split()
    db = sqlite3.connect(path)
    db.execute(f"CREATE TABLE IF NOT EXISTS events ({', '.join(columns)})")
    db.executemany(f"INSERT INTO events VALUES ({', '.join('?' * len(columns))})", rows)
    db.commit()
    db.close()


def of_git(repo: Path, cli, git) -> str:
    write(repo, "app.py", "".join(f"rows_{n} = cache.load(order_{n})\n" for n in range(9)))
    git("add", "-A", cwd=repo)
    git("commit", "-q", "-m", "Cache rows", cwd=repo)
    git("revert", "--no-edit", "HEAD", cwd=repo)
    for number, alternative in enumerate(("redis", "", "a queue of its own")):
        write(repo, "other.py", f"{number}\n")
        git("add", "-A", cwd=repo)
        git("commit", "-q", "-m", f"Work {number}\n\nRejected: {alternative} | Too much.", cwd=repo)
    return ""


def of_sql(repo: Path, cli, git) -> str:
    write(repo, "m/001.sql", "CREATE TABLE users (id int, mail text);\nCREATE TABLE users (id int, mail text);\n")
    write(repo, "m/002.sql", f"-- {LONG}\nCREATE TABLE orders (id int);\nALTER TABLE users RENAME TO people;\n")
    write(repo, "m/003.sql", "ALTER TABLE people ADD COLUMN age int;\nALTER TABLE people RENAME COLUMN age TO years;\n")
    return write(repo, "m/004.sql", "ALTER TABLE people DROP COLUMN years;\n")


def of_alembic(repo: Path, cli, git) -> str:
    text = '"""{}\n\nRevision ID: a{}\nCreate Date: 2021-05-06 07:08:09\n"""\nrevision = "a{}"\ndown_revision = {}\n'
    text += 'def upgrade():\n    op.add_column("users", sa.Column("c{}", sa.Text()))\n'
    write(repo, "m/a1.py", text.format("One", 1, 1, None, 1))
    return write(repo, "m/a2.py", text.format(LONG, 2, 2, '"a1"', 2))


def of_django(repo: Path, cli, git) -> str:
    text = "from django.db import migrations, models\nclass Migration(migrations.Migration):\n    operations = ["
    text += 'migrations.CreateModel("User", [("id", models.AutoField(primary_key=True))]),'
    text += f'migrations.RunSQL("-- {LONG}\\nALTER TABLE shop_user ADD COLUMN pan text")]\n'
    write(repo, "shop/migrations/__init__.py", "")
    return write(repo, "shop/migrations/0001_initial.py", text)


def of_adr(repo: Path, cli, git) -> str:
    record = "# Use {}\n\n## Status\n\nAccepted\n\n## Context\n\n{}\n\n## Considered Options\n\n* Y\n* {}\n"
    write(repo, "adr/1.md", record.format("SQLite", "It is small.", "Redis"))
    write(repo, "adr/2.md", "## Status\n\nWhat is this?\n")
    return write(repo, "adr/3.md", record.format("Kafka", LONG, "Z"))


def of_agent_trace(repo: Path, cli, git) -> str:
    def record(name: str, **more: object) -> str:
        return json.dumps({"id": name, "timestamp": TIME.format(1), "files": [{"path": "a.py"}], **more})

    own = {"entity_path": "users.b", "change_type": "add", "reasoning": LONG}
    lines = [record("1"), record("2", metadata={"dev.selvedge": own}), "{", record("3")]
    return write(repo, "t.ndjson", "\n".join(lines))


def of_selvedge(repo: Path, cli, git) -> str:
    place = repo / "selvedge.db"
    selvedge(place, ("r", TIME.format(1), "column", "users.pan", "reject", "Keep it elsewhere.", ""))
    assert cli("import", "selvedge", "selvedge.db", cwd=repo).code == 0
    event = cli("log", "users.pan", "--json", cwd=repo).json["events"][0]
    assert cli("ratify", event["id"], "-r", "Yes.", tty=True, cwd=repo).code == 0
    selvedge(
        place,
        ("s", TIME.format(5), "column", "users.pan", "supersede", "It is fine now.", "r"),
        ("a", TIME.format(6), "column", "users.pan", "add", "Put it back.", ""),
        ("n", TIME.format(7), "column", "users.name", "rename", "From users.pan", ""),
        ("l", TIME.format(8), "column", "users.long", "add", LONG, ""),
    )
    return "selvedge.db"


def of_jsonl(repo: Path, cli, git) -> str:
    cli("record", "users.mail", "add", "-r", "Login.", cwd=repo)
    cli("reject", "users.pan", "-r", "Never.", cwd=repo)
    text = cli("export", cwd=repo).stdout
    git("update-ref", "-d", "refs/decisions/log", cwd=repo)
    return write(repo, "log.jsonl", text.replace('"Never."', '"Never'))


KINDS = {
    "git": of_git,
    "sql": of_sql,
    "alembic": of_alembic,
    "django": of_django,
    "adr": of_adr,
    "agent-trace": of_agent_trace,
    "selvedge": of_selvedge,
    "jsonl": of_jsonl,
}


def numbers(answer: dict) -> dict:
    return {name: value for name, value in answer.items() if name not in ("dry_run", "tip")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("began", [False, True])
def test_a_dry_run_says_what_the_import_then_says(make_repo, cli, git, kind, began):
    repo = make_repo()
    if began:
        assert cli("reject", "users.mail", "--approach", "in plain text", "-r", "No.", cwd=repo, tty=True).code == 0
    path = KINDS[kind](repo, cli, git)
    words = ["import", kind, *([path] if path else []), "--json"]

    def everything() -> list[tuple[str, bytes]]:
        files = (one for one in repo.rglob("*") if one.is_file() and not one.name.startswith(("cache.", "local.")))
        return sorted((str(one), one.read_bytes()) for one in files)

    before = everything()
    dry = cli(*words, "--dry-run", cwd=repo, tty=kind == "jsonl")
    assert everything() == before
    real = cli(*words, cwd=repo, tty=kind == "jsonl")
    assert dry.json["dry_run"] is True and real.json["dry_run"] is False
    assert numbers(dry.json) == numbers(real.json) and dry.code == real.code
    assert real.json["appended"] > 0
    passed_over = {one["reason"]: one["count"] for one in real.json["skipped"] if not one.get("kept")}
    assert passed_over, "each kind has something that doesn't come in"
    again = cli(*words, "--dry-run", cwd=repo, tty=kind == "jsonl")
    assert again.json["appended"] == 0


def test_a_dry_run_takes_no_turn_of_a_writer(make_repo, cli, git):
    repo = make_repo()
    path = of_sql(repo, cli, git)
    (repo / ".git/gitmem/lock").mkdir(parents=True)  # nobody can hold this one
    dry = cli("import", "sql", path, "--dry-run", cwd=repo)
    assert dry.code == 0 and "would be appended" in dry.stdout
    assert cli("import", "sql", path, cwd=repo).code == 30
