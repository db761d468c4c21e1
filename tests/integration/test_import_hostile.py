"""What a hostile, broken or odd source does to an importer: it is counted, in bounded time, and lifts nothing."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

COLUMNS = "id timestamp entity_type entity_path change_type reasoning supersedes".split()


def write(repo: Path, name: str, text: str) -> None:
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def commit(git, repo: Path, date: str = "2021-05-06T07:08:09Z") -> None:
    git("add", "-A", cwd=repo)
    env = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    git("commit", "-q", "-m", "Add files", cwd=repo, env=env)


def reasons(done: dict) -> dict[str, int]:
    return {one["reason"]: one["count"] for one in done["skipped"]}


def selvedge(path: Path, *rows: tuple[str, ...]) -> None:
    db = sqlite3.connect(path)
    db.execute(f"CREATE TABLE IF NOT EXISTS events ({', '.join(COLUMNS)})")
    db.executemany(f"INSERT INTO events VALUES ({', '.join('?' * len(COLUMNS))})", rows)
    db.commit()
    db.close()


def test_an_import_lifts_nothing_that_a_person_ratified(repo, cli):
    store = repo / "selvedge.db"
    time = "2026-01-01T00:00:0{}.000000Z"
    for number, name in enumerate(("users.card_token", "users.pan")):
        selvedge(store, (f"r{number}", time.format(number), "column", name, "reject", "Keep it elsewhere.", ""))
    cli("import", "selvedge", str(store), cwd=repo)
    event = cli("log", "users.card_token", "--json", cwd=repo).json["events"][0]
    cli("ratify", event["id"], "-r", "Yes.", tty=True, cwd=repo)
    for number, name in enumerate(("users.card_token", "users.pan")):
        selvedge(store, (f"s{number}", time.format(5), "column", name, "supersede", "It is fine now.", f"r{number}"))
        selvedge(store, (f"a{number}", time.format(6), "column", name, "add", "Put it back.", ""))
    done = cli("import", "selvedge", str(store), "--json", cwd=repo).json
    assert done["skipped"] == []
    verdicts = {
        name: cli("status", name, "--json", cwd=repo).json["decisions"][0]["verdict"]
        for name in ("users.card_token", "users.pan")
    }
    # The one that nobody ratified is history, of which the newer wins.
    assert verdicts["users.pan"] == "active"
    assert verdicts["users.card_token"] in ("rejected", "contested")
    # The other waits for a person, and says so; ratified, it lifts.
    events = cli("log", "users.card_token", "--json", cwd=repo).json["events"]
    (lift,) = [one for one in events if one["change_type"] == "supersede"]
    assert lift["effect"] == "pending" and lift["id"] in cli("review", "--json", cwd=repo).stdout
    cli("ratify", lift["id"], "-r", "Then so.", tty=True, cwd=repo)
    assert cli("status", "users.card_token", "--json", cwd=repo).json["decisions"][0]["verdict"] == "active"


def test_an_import_in_a_clone_that_had_not_seen_the_ratification_lifts_nothing(make_repo, cli, git, tmp_path):
    here = make_repo(name="here")
    store = tmp_path / "selvedge.db"
    time = "2026-01-01T00:00:0{}.000000Z"
    selvedge(store, ("r1", time.format(1), "column", "users.card_token", "reject", "Keep it elsewhere.", ""))
    selvedge(store, ("r2", time.format(2), "column", "users.pan", "reject", "Keep it elsewhere.", ""))
    cli("import", "selvedge", str(store), cwd=here)
    git("init", "--quiet", "--bare", tmp_path / "hub.git", cwd=tmp_path)
    git("remote", "add", "hub", tmp_path / "hub.git", cwd=here)
    cli("push", "hub", cwd=here)
    there = tmp_path / "there"
    git("clone", "--quiet", here, there, cwd=tmp_path)
    git("remote", "add", "hub", tmp_path / "hub.git", cwd=there)
    cli("init", "--remote", "hub", cwd=there)
    cli("fetch", "hub", cwd=there)
    (event,) = cli("log", "users.card_token", "--json", cwd=here).json["events"]
    cli("ratify", event["id"], "-r", "Yes.", tty=True, cwd=here)
    for number in (1, 2):
        name = ("users.card_token", "users.pan")[number - 1]
        selvedge(store, (f"s{number}", time.format(5), "column", name, "supersede", "It is fine now.", f"r{number}"))
    cli("import", "selvedge", str(store), cwd=there)

    def verdicts(repo):
        found = cli("status", "--json", cwd=repo).json["decisions"]
        return {one["entity_path"]: one["verdict"] for one in found}

    assert verdicts(there) == {"users.card_token": "reopened", "users.pan": "reopened"}
    for one in (there, here, there):
        assert cli("sync", "hub", cwd=one).code == 0
    assert verdicts(here) == verdicts(there) == {"users.card_token": "rejected", "users.pan": "reopened"}


def test_a_repository_without_a_commit_imports_files(make_repo, cli):
    fresh = make_repo("empty")
    write(fresh, "m/001.sql", "CREATE TABLE users (id int);\n")
    done = cli("import", "sql", "m", "--json", cwd=fresh).json
    assert done["appended"] == 2


@pytest.mark.parametrize(
    "conversations", [5, "x", [7], [{"ranges": 7}], [{"ranges": [7]}], [{"contributor": 3, "url": 4}], {"a": 1}]
)
def test_a_trace_of_the_wrong_shape_is_read_as_far_as_it_goes(repo, cli, conversations):
    record = {
        "version": "0.1.0",
        "id": "x",
        "timestamp": "2025-01-01T00:00:00Z",
        "files": [{"path": "a.py", "conversations": conversations}, 3],
    }
    write(repo, "t.json", json.dumps(record))
    done = cli("import", "agent-trace", "t.json", "--json", cwd=repo).json
    assert done["appended"] == 1 and reasons(done) == {"files without a path": 1}


def test_a_line_separator_inside_of_a_text_ends_no_record(repo, cli):
    records = [
        {"id": str(number), "timestamp": "2025-01-01T00:00:00Z", "files": [{"path": f"{number}.py"}],
         "metadata": {"note": "one\u2028two\x85three"}}
        for number in (1, 2)
    ]  # fmt: skip
    write(repo, "t.ndjson", "".join(json.dumps(one, ensure_ascii=False) + "\r\n" for one in records))
    done = cli("import", "agent-trace", "t.ndjson", "--json", cwd=repo).json
    assert done["appended"] == 2 and done["skipped"] == []


@pytest.mark.parametrize("kind", ["alembic", "django"])
def test_python_too_deep_to_read_is_counted_and_the_next_file_read(repo, cli, git, kind):
    head = 'revision = "1"\n'
    write(repo, "shop/migrations/0001_minus.py", f"{head}x = {'-' * 60_000}1\n")
    write(repo, "shop/migrations/0002_dots.py", f"{head}x = a{'.b' * 90_000}\n")
    deep = " + ".join(['"a"'] * 3000)
    write(
        repo,
        "shop/migrations/0003_sum.py",
        f"{head}def upgrade():\n    op.execute({deep})\n\n"
        f"class Migration:\n    operations = [migrations.RunSQL({deep})]\n",
    )
    write(
        repo,
        "shop/migrations/0004_sound.py",
        f'{head}def upgrade():\n    op.execute("CREATE TABLE t (a int)")\n\n'
        'class Migration:\n    operations = [migrations.RunSQL("CREATE TABLE t (a int)")]\n',
    )
    commit(git, repo)
    done = cli("import", kind, ".", "--json", cwd=repo).json
    assert done["appended"] == 2
    assert sum(reasons(done).values()) >= 2 and reasons(done)["files that are no Python"] >= 1


@pytest.mark.parametrize(
    "text",
    [
        "Chosen option: " + "." * 200_000,
        "Chosen option: x" + " ,;" * 70_000 + "y",
        "[" * 100_000,
        "[a](" * 50_000,
        "* " + "[" * 100_000,
        "_" * 100_000 + "a",
        "> " * 20_000 + "x",
    ],
    ids=["dots", "blanks", "brackets", "links", "items", "emphasis", "quotes"],
)
def test_a_record_of_hostile_marks_is_read_in_bounded_time(repo, cli, git, text):
    write(
        repo,
        "adr/1.md",
        f"# Use it\n\n## Status\n\nAccepted\n\n## Considered Options\n\n* x\n\n## Decision\n\n{text}\n",
    )
    write(repo, "adr/2.md", "# Sound\n\n## Status\n\nAccepted\n\n## Decision\n\nChosen option: it, because it works.\n")
    commit(git, repo)
    done = cli("import", "adr", "adr", "--json", cwd=repo, timeout_s=20).json
    found = cli("log", "adr/2.md", "--json", cwd=repo).json["events"]
    assert done["read"]["files"] == 2 and [one["reasoning"] for one in found] == ["it works."]


def test_what_is_no_plain_file_is_counted_and_not_waited_for(repo, cli):
    os.mkdir(repo / "m")
    os.mkfifo(repo / "m" / "001.sql")
    os.symlink("/dev/zero", repo / "m" / "002.sql")
    write(repo, "m/003.sql", "CREATE TABLE users (id int);\n")
    os.symlink("003.sql", repo / "m" / "004.sql")
    done = cli("import", "sql", "m", "--json", cwd=repo, timeout_s=20).json
    assert done["appended"] == 2
    assert reasons(done)["files that are no plain files"] == 2


def test_what_a_record_says_is_not_told_where_it_can_not_be_followed(repo, cli, git):
    write(repo, "adr/1.md", "# B\n\n## Status\n\nSuperseded by \x1b[2J password=hunter2hunter2 nowhere\n")
    commit(git, repo)
    done = cli("import", "adr", "adr", cwd=repo)
    assert "adr/1.md" in done.stdout + done.stderr and "hunter2" not in done.stdout + done.stderr


def test_a_record_that_is_rejected_later_or_gets_more_options_brings_that_in(repo, cli, git):
    record = "# Use X\n\n## Status\n\n{}\n\n## Considered Options\n\n* {}\n* Y\n\n## Decision\n\nChosen option: X.\n"
    write(repo, "adr/1.md", record.format("Accepted", "Z"))
    commit(git, repo)
    assert cli("import", "adr", "adr", "--json", cwd=repo).json["appended"] == 3
    assert cli("import", "adr", "adr", "--json", cwd=repo).json["appended"] == 0
    write(repo, "adr/1.md", record.format("Accepted", "W\n* Z"))  # the second option is now the first, the third new
    assert cli("import", "adr", "adr", "--json", cwd=repo).json["appended"] == 1
    write(repo, "adr/1.md", record.format("Rejected", "W\n* Z"))
    cli("import", "adr", "adr", cwd=repo)
    found = {one["approach"]: one["verdict"] for one in cli("status", "adr/1.md", "--json", cwd=repo).json["decisions"]}
    assert found == {"X": "rejected", "Y": "rejected", "Z": "rejected", "W": "rejected"}


def test_a_folder_that_was_moved_brings_nothing_again(repo, cli, git):
    write(repo, "m/001.sql", "CREATE TABLE users (id int, card_token text);\n")
    write(repo, "docs/adr/1.md", "# Use it\n\n## Status\n\nAccepted\n")
    commit(git, repo)
    cli("import", "sql", "m", cwd=repo)
    cli("import", "adr", "docs/adr", cwd=repo)
    cli("reject", "users.card_token", "--whole", "-r", "Tokens leak.", tty=True, cwd=repo)
    os.makedirs(repo / "db")
    git("mv", "m", "db/migrations", cwd=repo)
    git("mv", "docs/adr", "decisions", cwd=repo)
    commit(git, repo, "2030-01-01T00:00:00Z")
    write(repo, "db/migrations/002.sql", "CREATE TABLE orders (id int);\n")
    commit(git, repo, "2030-02-01T00:00:00Z")
    done = cli("import", "sql", "db", "--json", cwd=repo).json
    assert (done["appended"], done["known"]) == (2, 3)  # the new file, and the one that was moved
    assert cli("import", "adr", "decisions", "--json", cwd=repo).json["appended"] == 0
    status = cli("status", "users.card_token", "--json", cwd=repo).json["decisions"]
    assert {one["verdict"] for one in status} == {"rejected"}


def test_when_a_file_came_is_the_same_whatever_git_is_told_to_show(repo, cli, git):
    for name in ("\x01", "\x010123 456", "\n/0123 456", "adr/\n/1.md"):  # git lists all of them
        write(repo, name, "")
    write(repo, "adr/1.md", "# Use it\n\n## Status\n\nAccepted\n")
    commit(git, repo, "2020-01-01T00:00:00Z")
    for key, value in (("log.showRoot", "false"), ("log.follow", "true"), ("log.showSignature", "true")):
        git("config", key, value, cwd=repo)
    done = cli("import", "adr", ".", "--json", cwd=repo).json
    assert done["appended"] == 1 and "files that no commit has, as old as their own time says" not in reasons(done)
    (event,) = cli("log", "--json", cwd=repo).json["events"]
    assert event["valid_from"] == "2020-01-01T00:00:00.000000Z"


def test_a_folder_outside_of_the_repository_goes_by_one_name_however_it_is_typed(repo, cli, tmp_path):
    other = tmp_path / "elsewhere" / "db"
    write(other, "001.sql", "CREATE TABLE users (id int);\n")
    assert cli("import", "sql", str(other), "--json", cwd=repo).json["appended"] == 2
    typed = os.path.relpath(other, repo)
    assert cli("import", "sql", typed, "--json", cwd=repo).json["appended"] == 0
    event = cli("log", "users", "--json", cwd=repo).json["events"][-1]
    assert str(tmp_path) not in json.dumps(event)


def test_a_column_belongs_to_the_component_of_its_migration(repo, cli, git):
    write(repo, ".decisions.toml", '[components]\nbilling = "services/billing"\nshop = "services/shop"\n')
    for name in ("billing", "shop"):
        write(repo, f"services/{name}/001.sql", "CREATE TABLE users (id int);\n")
    commit(git, repo)
    cli("import", "sql", "services", cwd=repo)
    events = cli("log", "users", "--json", "--all-scopes", cwd=repo).json["events"]
    assert {one["scope"] for one in events} == {"services/billing", "services/shop"}


def test_a_date_that_is_none_ends_no_import(repo, cli, git):
    for number, day in enumerate(("2019-02-31 10:00", "2019-02-03 10:00")):
        write(
            repo,
            f"shop/migrations/000{number + 1}_x.py",
            f"# Generated by Django 2.0 on {day}\nclass Migration:\n"
            f'    operations = [migrations.RunSQL("CREATE TABLE t{number} (a int)")]\n',
        )
    commit(git, repo)
    done = cli("import", "django", ".", "--json", cwd=repo).json
    assert done["appended"] == 4 and reasons(done) == {"dates that are none, as old as the commit says": 1}
    assert cli("log", "t0", "--json", cwd=repo).json["events"][0]["valid_from"].startswith("2021-05-06")
    assert cli("log", "t1", "--json", cwd=repo).json["events"][0]["valid_from"].startswith("2019-02-03")


def test_what_a_source_says_twice_is_counted(repo, cli):
    record = {"id": "x", "timestamp": "2025-01-01T00:00:00Z", "files": [{"path": "a.py"}, {"path": "a.py"}]}
    write(repo, "t.json", json.dumps(record))
    done = cli("import", "agent-trace", "t.json", "--json", cwd=repo).json
    assert done["appended"] == 1 and reasons(done) == {"said twice, under one name": 1}
    store = repo / "selvedge.db"
    time = "2026-01-01T00:00:00.000000Z"
    selvedge(store, *(("", time, "column", name, "add", "Why.", "") for name in ("t.a", "t.b")))
    done = cli("import", "selvedge", str(store), "--json", cwd=repo).json
    assert done["appended"] == 1 and reasons(done)["said twice, under one name"] == 1


def test_records_without_an_id_are_known_by_what_they_say(repo, cli):
    one, two = ({"timestamp": "2025-01-01T00:00:00Z", "files": [{"path": name}]} for name in ("a.py", "b.py"))
    write(repo, "t.json", json.dumps([one]))
    assert cli("import", "agent-trace", "t.json", "--json", cwd=repo).json["appended"] == 1
    write(repo, "t.json", json.dumps([two, one]))
    done = cli("import", "agent-trace", "t.json", "--json", cwd=repo).json
    assert (done["appended"], done["known"]) == (1, 1)


def test_a_trace_of_selvedge_s_is_known_again_and_counted(repo, cli):
    own = {"entity_path": "users.email", "change_type": "add", "reasoning": "Mail."}
    record = {"id": "x", "timestamp": "2025-01-01T00:00:00Z", "files": [], "metadata": {"dev.selvedge": own}}
    write(repo, "t.json", json.dumps(record))
    assert cli("import", "agent-trace", "t.json", "--json", cwd=repo).json["appended"] == 1
    done = cli("import", "agent-trace", "t.json", "--json", cwd=repo).json
    assert (done["appended"], done["known"]) == (0, 1)


def test_a_secret_is_stored_in_no_field_whichever_field_of_the_source_it_stands_in(repo, cli, git):
    secret = "ghp_" + "A1b2C3d4E5" * 3 + "f6G7h8"
    store = repo / "selvedge.db"
    time = "2026-01-01T00:00:00.000000Z"
    selvedge(
        store,
        (secret, time, "column", "t.a", "add", "Why.", ""),
        ("2", time, "column", f"t.{secret}", "add", "Why.", ""),
        ("3", time, "column", "t.c", "add", f"It is {secret}.", ""),
    )
    trace = {
        "id": secret, "timestamp": "2025-01-01T00:00:00Z", "tool": {"name": secret}, "vcs": {"revision": secret},
        "files": [{"path": f"{secret}.py", "conversations": [{"url": secret}]}],
    }  # fmt: skip
    write(repo, "t.json", json.dumps(trace))
    record = "# Use {0}\n\n## Status\n\nAccepted\n\n## Considered Options\n\n* {0} - x\n* Y - {0}\n"
    write(repo, f"adr/{secret}.md", record.format(secret))
    write(repo, "m/001.sql", f"-- {secret}\nCREATE TABLE {secret} (a int DEFAULT '{secret}');\n")
    commands = (("selvedge", str(store)), ("agent-trace", "t.json"), ("adr", "adr"), ("sql", "m"))
    said = [cli("import", *words, cwd=repo) for words in commands]
    assert all(one.code == 0 for one in said)
    assert [one for one in said if secret in one.stdout + one.stderr] == []
    log = cli("export", "--format", "jsonl", cwd=repo).stdout
    assert secret not in log and log.count("secret") > 8
    again = [cli("import", *words, "--json", cwd=repo).json["appended"] for words in commands]
    assert again == [0, 0, 0, 0]


@pytest.mark.parametrize("kind", ["sql", "adr", "agent-trace", "selvedge"])
def test_a_dry_run_writes_nothing_and_then_it_comes_in(repo, cli, git, kind):
    write(repo, "s/001.sql", "CREATE TABLE users (id int);\n")
    write(repo, "s/1.md", "# Use it\n\n## Status\n\nAccepted\n")
    write(repo, "t.json", json.dumps({"id": "x", "timestamp": "2025-01-01T00:00:00Z", "files": [{"path": "a.py"}]}))
    selvedge(repo / "x.db", ("1", "2026-01-01T00:00:00.000000Z", "column", "t.a", "add", "Why.", ""))
    path = {"sql": "s", "adr": "s", "agent-trace": "t.json", "selvedge": "x.db"}[kind]
    before = sorted(str(one) for one in repo.rglob("*"))
    dry = cli("import", kind, path, "--dry-run", "--json", cwd=repo).json
    refs = git("for-each-ref", "refs/decisions*", cwd=repo)
    assert sorted(str(one) for one in repo.rglob("*")) == before and refs == ""
    real = cli("import", kind, path, "--json", cwd=repo).json
    assert dry["appended"] == real["appended"] > 0


def test_two_clones_that_import_one_folder_have_each_thing_once(make_repo, cli, git, tmp_path):
    one = make_repo("plain", name="one")
    write(one, "m/20210506_users.sql", "-- Why.\nCREATE TABLE users (id int);\n")
    write(one, "adr/1.md", "# Use it\n\n## Status\n\nAccepted\n\n## Considered Options\n\n* Y\n")
    commit(git, one)
    git("clone", "-q", one, tmp_path / "two", cwd=tmp_path)
    two = tmp_path / "two"
    write(two, "m/20210506_users.sql", "-- Why.\r\nCREATE TABLE users (id int);\r\n")
    for repo in (one, two):
        for words in (("sql", "m"), ("adr", "adr")):
            cli("import", *words, cwd=repo)
    git("fetch", "-q", one, "+refs/decisions/log:refs/x", cwd=two)
    cli("sync", cwd=two)
    events = cli("log", "--json", cwd=two).json["events"]
    assert len({one["source"] for one in events}) == len(events) == 4
    verdicts = {
        name: sorted(one["verdict"] for one in cli("status", name, "--json", cwd=two).json["decisions"])
        for name in ("adr/1.md", "users.id")
    }
    assert verdicts == {"adr/1.md": ["active", "rejected"], "users.id": ["active"]}
    assert cli("verify", cwd=two).code == 0


def test_no_migration_is_newer_than_its_file(repo, cli, git):
    write(repo, "m/20990101_users.sql", "CREATE TABLE users (id int);\n")
    write(repo, "m/20190101_orders.sql", "CREATE TABLE orders (id int);\n")
    commit(git, repo)
    cli("import", "sql", "m", cwd=repo)
    found = {
        name: cli("log", name, "--json", cwd=repo).json["events"][0]["valid_from"][:10] for name in ("users", "orders")
    }
    assert found == {"users": "2021-05-06", "orders": "2019-01-01"}


def test_a_trailer_of_any_length_or_without_an_alternative_ends_no_import(repo, cli, git):
    def said(name: str, *trailers: str) -> None:
        write(repo, name, "x\n")
        git("add", "-A", cwd=repo)
        (repo / "message").write_text("Do it\n\n" + "\n".join(trailers) + "\n", "utf-8")
        git("commit", "-q", "-F", "message", cwd=repo)
        os.unlink(repo / "message")

    said("a.py", "Rejected: long | " + "w " * 40_000)
    said("b.py", "Rejected: | nothing")
    said("c.py", "Rejected: polling | too slow")
    done = cli("import", "git", "--json", cwd=repo).json
    assert done["appended"] == 2
    assert reasons(done) == {"trailers `Rejected:` that name no alternative": 1}
    found = cli("log", "--json", cwd=repo).json["events"]
    assert [(one["change_type"], one["approach"]) for one in found] == [("reject", "polling"), ("reject", "long")]


def test_a_store_with_a_journal_is_read_whole_and_left_as_it_is(repo, cli, tmp_path):
    db = sqlite3.connect(tmp_path / "live.db")
    db.execute("PRAGMA journal_mode = wal")
    db.execute(f"CREATE TABLE events ({', '.join(COLUMNS)})")
    db.execute("INSERT INTO events VALUES ('1', '2026-01-01T00:00:00.000000Z', 'column', 't.a', 'add', 'Why.', '')")
    db.commit()
    store = tmp_path / "store"
    store.mkdir()
    for end in ("", "-wal"):  # as they lie after a crash
        shutil.copy(tmp_path / f"live.db{end}", store / f"selvedge.db{end}")
    db.close()
    before = {one.name: one.read_bytes() for one in store.iterdir()}
    assert cli("import", "selvedge", str(store), "--json", cwd=repo).json["appended"] == 1
    assert {one.name: one.read_bytes() for one in store.iterdir()} == before
