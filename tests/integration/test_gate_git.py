"""The gate for commits and ranges, as typed: what stops, where it says so, who may go on, and that it fails closed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

COLUMN = "select 1;\nALTER TABLE payments ADD COLUMN card_token text;\n"
OTHER = "select 1;\nALTER TABLE payments ADD COLUMN note text;\n"
WHY = "we must not store card data"


@pytest.fixture
def reject(cli):
    def reject(repo: Path, entity: str = "payments.card_token", *more: str, person: bool = True) -> str:
        done = cli("reject", entity, "-r", WHY, *more, "--json", cwd=repo, tty=person)
        assert done.code == 0, done.stderr
        return done.json["events"][0]["id"]

    return reject


def write(repo: Path, path: str, text: str) -> None:
    (repo / path).parent.mkdir(parents=True, exist_ok=True)
    (repo / path).write_text(text, "utf-8")


@pytest.fixture
def commit(git):
    def commit(repo: Path, path: str, text: str, message: str = "a commit") -> str:
        write(repo, path, text)
        git("add", "-A", cwd=repo)
        git("commit", "--quiet", "-m", message, cwd=repo)
        return git("rev-parse", "HEAD", cwd=repo)

    return commit


# --- what is staged ---------------------------------------------------------------------------


def test_what_is_staged_stops_and_what_is_only_in_the_work_tree_does_not(repo, reject, cli, git):
    rejected = reject(repo)
    write(repo, "db/1.sql", COLUMN)
    assert cli("gate", "--staged", cwd=repo).code == 0
    git("add", "db", cwd=repo)
    stopped = cli("gate", "--staged", cwd=repo, tty=True)
    assert stopped.code == 1
    for told in (rejected[:8], WHY, "db/1.sql:2", f"git decisions supersede {rejected[:8]}", "git decisions override"):
        assert told in stopped.stdout
    agent = cli("gate", "--staged", cwd=repo, env={"CLAUDECODE": "1"})
    assert agent.code == 1 and "override" not in agent.stdout and "supersede" in agent.stdout
    write(repo, "db/1.sql", OTHER)
    git("add", "db", cwd=repo)
    assert cli("gate", "--staged", cwd=repo).code == 0


def test_a_persons_override_covers_the_commit_and_the_next_one_stops_again(repo, reject, cli, git):
    rejected = reject(repo)
    write(repo, "db/1.sql", COLUMN)
    git("add", "db", cwd=repo)
    assert cli("gate", "--staged", cwd=repo, tty=True).code == 1
    assert cli("override", rejected, "-r", "a spike", cwd=repo, tty=True).code == 0
    passes = cli("gate", "--staged", cwd=repo, tty=True)
    assert passes.code == 0 and rejected[:8] in passes.stdout
    git("commit", "--quiet", "-m", "spike", cwd=repo, env={"GIT_COMMITTER_DATE": "2099-01-01T00:00:00Z"})
    write(repo, "db/2.sql", COLUMN)
    git("add", "db", cwd=repo)
    assert cli("gate", "--staged", cwd=repo, tty=True).code == 1
    assert cli("supersede", rejected, "-r", "allowed now", cwd=repo, tty=True).code == 0
    assert cli("gate", "--staged", cwd=repo, tty=True).code == 0


def test_what_a_session_went_on_with_is_not_asked_twice_when_it_commits(repo, reject, cli, git):
    from gitmem.core.calls import Call, Edit
    from gitmem.hooks import gate

    reject(repo, person=False)
    firm = reject(repo, "payments.card_pan")
    for number in ("1", "2"):
        edit = Edit("db/1.sql", content=COLUMN)
        gate.judge(Call("claude", "edit", edits=[edit], session="claude:abc", call_id=number, cwd=str(repo)))
    edit = Edit("db/2.sql", content="ALTER TABLE payments ADD COLUMN card_pan text;\n")
    assert gate.judge(Call("claude", "edit", edits=[edit], session="claude:abc", call_id="3", cwd=str(repo))).stop
    write(repo, "db/1.sql", COLUMN)
    git("add", "db", cwd=repo)
    assert cli("gate", "--staged", cwd=repo, env={"CLAUDE_CODE_SESSION_ID": "abc"}).code == 0
    assert cli("gate", "--staged", cwd=repo, env={"CLAUDE_CODE_SESSION_ID": "other"}).code == 1
    assert cli("gate", "--staged", cwd=repo, env={"CLAUDE_CODE_SESSION_ID": "other"}).code == 0, "once"
    assert cli("gate", "--staged", cwd=repo, env={"CLAUDE_CODE_SESSION_ID": "third"}).code == 1
    assert cli("gate", "--staged", cwd=repo).code == 1
    write(repo, "db/1.sql", COLUMN + "ALTER TABLE payments ADD COLUMN card_pan text;\n")
    git("add", "db", cwd=repo)
    stopped = cli("gate", "--staged", cwd=repo, env={"CLAUDE_CODE_SESSION_ID": "abc"})
    assert stopped.code == 1 and firm[:8] in stopped.stdout and WHY in stopped.stdout


def test_a_repository_without_commits_or_without_a_log(make_repo, reject, cli, git):
    empty = make_repo("empty")
    write(empty, "db/1.sql", COLUMN)
    git("add", "db", cwd=empty)
    quiet = cli("gate", "--staged", cwd=empty)
    assert quiet.code == 0 and "no decision log" in quiet.stderr
    reject(empty)
    assert cli("gate", "--staged", cwd=empty).code == 1


# --- ranges -----------------------------------------------------------------------------------


def test_a_range_stops_on_the_right_line_in_every_format(repo, reject, commit, cli, git):
    rejected = reject(repo)
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    commit(repo, "db/1.sql", COLUMN)
    text = cli("gate", "--range", "main..topic", cwd=repo)
    assert text.code == 1 and "db/1.sql:2" in text.stdout and f"Supersedes-Decision: {rejected[:8]}" in text.stdout
    github = cli("gate", "--range", "main..topic", "--format", "github", cwd=repo)
    assert github.code == 1
    (line,) = github.stdout.splitlines()
    assert line.startswith("::error file=db/1.sql,line=2,title=") and WHY in line
    answer = cli("gate", "--range", "main...topic", "--json", cwd=repo).json
    (finding,) = answer["findings"]
    assert answer["stops"] and finding["event"] == rejected
    assert (finding["severity"], finding["path"], finding["line"]) == ("error", "db/1.sql", 2)
    assert finding["person_ratified"] and finding["reasoning"] == WHY
    commit(repo, "db/1.sql", OTHER)
    quiet = cli("gate", "--range", "main..topic", "--format", "github", cwd=repo)
    assert (quiet.code, quiet.stdout) == (0, "")


def test_a_range_is_what_the_branch_brings_and_not_what_the_trunk_had_or_got(repo, reject, commit, cli, git):
    commit(repo, "db/0.sql", COLUMN)
    reject(repo)
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    commit(repo, "db/0.sql", COLUMN + "select 2;\n")
    git("checkout", "--quiet", "main", cwd=repo)
    commit(repo, "db/3.sql", COLUMN)
    assert cli("gate", "--range", "main..topic", cwd=repo).code == 0
    git("checkout", "--quiet", "topic", cwd=repo)
    git("mv", "db/0.sql", "db/moved.sql", cwd=repo)
    git("commit", "--quiet", "-m", "move", cwd=repo)
    assert cli("gate", "--range", "main..topic", cwd=repo).code == 0, "a file that moved brings nothing back"
    commit(repo, "db/4.sql", COLUMN)
    assert cli("gate", "--range", "main..topic", cwd=repo).code == 1


@pytest.mark.parametrize("key", ["Decision-Override", "Supersedes-Decision"])
def test_a_trailer_in_the_range_passes_and_says_so(repo, reject, commit, cli, git, key):
    rejected = reject(repo)
    other = reject(repo, "payments.card_pan")
    git("config", "trailer.separators", "=", cwd=repo)  # how somebody writes theirs
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    oid = commit(repo, "db/1.sql", COLUMN, f"add it\n\n{key}: {rejected[:10]} the provider asks for it")
    passes = cli("gate", "--range", "main..topic", "--format", "github", cwd=repo)
    assert passes.code == 0 and passes.stdout.startswith("::warning file=db/1.sql,line=2")
    answer = cli("gate", "--range", "main..topic", "--json", cwd=repo).json
    (finding,) = answer["findings"]
    assert (finding["severity"], finding["commit"], finding["answered_by"]) == ("warning", oid, key)
    assert finding["answer"] == "the provider asks for it"
    commit(repo, "db/2.sql", "ALTER TABLE payments ADD COLUMN card_pan text;\n", f"another\n\n{key}: {rejected[:10]} x")
    stopped = cli("gate", "--range", "main..topic", "--json", cwd=repo)
    assert stopped.code == 1
    assert {f["event"]: f["severity"] for f in stopped.json["findings"]} == {rejected: "warning", other: "error"}


def test_lines_of_a_range_count_together_over_all_its_files(repo, cli, commit, git):
    lines = [f"total_{n} = rate_{n} * quantity_{n} + surcharge_{n}\n" for n in range(10)]
    write(repo, "the.diff", "--- a/p.py\n+++ b/p.py\n@@ -0,0 +1,10 @@\n" + "".join("+" + line for line in lines))
    done = cli("reject", "p.py", "-r", WHY, "--diff", "the.diff", "--json", cwd=repo, tty=True)
    (repo / "the.diff").unlink()
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    commit(repo, "one.py", "".join(lines[:3]))
    noted = cli("gate", "--range", "main..topic", "--json", cwd=repo)
    assert noted.code == 0 and noted.json["findings"][0]["severity"] == "notice"
    commit(repo, "two.py", "".join(lines[3:7]))
    stopped = cli("gate", "--range", "main..topic", "--json", cwd=repo)
    assert stopped.code == 1 and stopped.json["findings"][0]["event"] == done.json["events"][0]["id"]
    assert "70 %" in stopped.json["findings"][0]["why"]


def test_ci_fails_closed_where_the_log_is_absent_broken_or_cut_off(repo, reject, commit, cli, git, tmp_path):
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    commit(repo, "db/1.sql", COLUMN)
    missing = cli("gate", "--range", "main..topic", "--json", cwd=repo)
    assert missing.code == 10 and missing.json["error"]["name"] == "NoLog"
    asked = cli("gate", "--range", "main..topic", "--allow-missing", "--json", cwd=repo)
    assert asked.code == 0 and not asked.json["has_log"]
    reject(repo)
    reject(repo, "payments.card_pan")
    cut = tmp_path / "cut"
    git("clone", "--quiet", "--branch", "topic", repo.as_uri(), cut, cwd=tmp_path)
    git("fetch", "--quiet", "--depth=1", "origin", "refs/decisions/log:refs/decisions/log", cwd=cut)
    assert cli("gate", "--range", "origin/main..topic", cwd=cut).code not in (0, 1)
    whole = tmp_path / "whole"
    git("clone", "--quiet", "--branch", "topic", repo.as_uri(), whole, cwd=tmp_path)
    git("fetch", "--quiet", "origin", "refs/decisions/log:refs/decisions/log", cwd=whole)
    assert cli("gate", "--range", "origin/main..topic", cwd=whole).code == 1
    assert cli("gate", "--range", "nonsense", cwd=whole).code == 2, "it is no range"
    assert cli("gate", "--range", "main..nowhere", cwd=whole).code == 15, "one that isn't here"
    assert cli("gate", cwd=whole).code == 2
    assert cli("gate", "--staged", "--range", "main..topic", cwd=whole).code == 2


def test_odd_names_and_bytes_and_a_bare_repository(make_repo, reject, commit, cli, git):
    repo = make_repo(name="日本語 リポ")
    rejected = reject(repo, "ソース/古い ファイル.py")
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    (repo / "image.bin").write_bytes(b"\0\1\2" * 1000)
    (repo / "latin.txt").write_bytes("caf\xe9\n".encode("latin-1"))
    Path(os.fsdecode(os.fsencode(repo) + b"/caf\xe9.py")).write_text("y = 2\n")
    commit(repo, "ソース/古い ファイル.py", "x = 1\n")
    answer = cli("gate", "--range", "main..topic", "--json", cwd=repo)
    assert answer.code == 1 and answer.json["findings"][0]["path"] == "ソース/古い ファイル.py"
    line = cli("gate", "--range", "main..topic", "--format", "github", cwd=repo).stdout
    assert line.startswith("::error file=ソース/古い ファイル.py,line=1,")
    bare = repo.parent / "bare.git"
    shutil.copytree(repo / ".git", bare)
    git("config", "core.bare", "true", cwd=bare)
    there = cli("gate", "--range", "main..topic", "--json", cwd=bare, env={"GIT_DIR": str(bare)})
    assert there.code == 1 and there.json["findings"][0]["event"] == rejected


def test_what_is_printed_is_one_object_and_in_head_nothing_breaks(repo, reject, commit, cli, git, shell):
    reject(repo)
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    commit(repo, "db/1.sql", COLUMN)
    assert json.loads(cli("gate", "--range", "main..topic", "--format", "json", cwd=repo).stdout)["schema"] == 1
    told = shell("git-decisions gate --range main..topic | head -1", cwd=repo)
    assert told.stdout.splitlines() == ["Stopped: this brings back what was decided against."]


# --- as a hook before a commit ------------------------------------------------------------------


def test_a_commit_is_stopped_where_init_was_told_so_and_nowhere_else(repo, reject, cli, git):
    rejected = reject(repo)
    assert cli("init", cwd=repo).code == 0
    write(repo, "db/1.sql", COLUMN)
    git("add", "-A", cwd=repo)
    git("commit", "--quiet", "-m", "not asked for", cwd=repo)
    before = {path.name: path.read_bytes() for path in (repo / ".git" / "hooks").iterdir()}
    config = git("config", "--local", "--list", cwd=repo)
    assert "stop a commit" in cli("init", "--gate", cwd=repo).stdout
    again = cli("init", "--json", cwd=repo).json
    assert all(step["already"] for step in again["steps"])
    write(repo, "db/2.sql", COLUMN)
    git("add", "-A", cwd=repo)
    stopped = git.run("commit", "-m", "stopped", cwd=repo, check=False)
    said = stopped.stderr.decode()
    assert stopped.returncode == 1 and rejected[:8] in said and WHY in said and "db/2.sql:2" in said
    assert git("log", "-1", "--format=%s", cwd=repo) == "not asked for"
    git("commit", "--quiet", "--no-verify", "-m", "knowingly", cwd=repo)
    write(repo, "db/3.sql", OTHER)
    git("add", "-A", cwd=repo)
    git("commit", "--quiet", "-m", "another", cwd=repo)
    write(repo, "db/4.sql", COLUMN)
    git("add", "-A", cwd=repo)
    partly = git.run(
        "commit", "-m", "only the other file", "--only", "db/3.sql", "--allow-empty", cwd=repo, check=False
    )
    assert partly.returncode == 0, "what this commit doesn't take is not looked at"
    assert git.run("commit", "-m", "stopped", cwd=repo, check=False).returncode == 1
    assert cli("supersede", rejected, "-r", "allowed now", cwd=repo, tty=True).code == 0
    git("commit", "--quiet", "-m", "passes", cwd=repo)
    assert cli("uninstall", cwd=repo).code == 0 and cli("init", cwd=repo).code == 0
    after = {path.name: path.read_bytes() for path in (repo / ".git" / "hooks").iterdir()}
    assert after == before and git("config", "--local", "--list", cwd=repo) == config


def test_a_hook_that_was_there_is_asked_first_and_a_broken_gitmem_stops_nothing(repo, reject, cli, git):
    reject(repo)
    hook = repo / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho theirs >&2\n[ ! -e no ] || exit 7\n")
    hook.chmod(0o755)
    theirs = hook.read_bytes()
    assert cli("init", "--gate", cwd=repo).code == 0
    write(repo, "db/1.sql", COLUMN)
    git("add", "-A", cwd=repo)
    stopped = git.run("commit", "-m", "x", cwd=repo, check=False)
    assert stopped.returncode == 1 and b"theirs" in stopped.stderr and WHY.encode() in stopped.stderr
    (repo / "no").write_text("")
    stopped = git.run("commit", "-m", "x", cwd=repo, check=False)
    assert stopped.returncode == 1 and WHY.encode() not in stopped.stderr, "theirs stopped it"
    (repo / "no").unlink()
    log = repo / ".git" / "refs" / "decisions" / "log"
    sound = log.read_bytes()
    log.write_bytes(b"0123456789" * 4 + b"\n")
    passes = git.run("commit", "-m", "x", cwd=repo, check=False)
    assert passes.returncode == 0 and b"was not looked at" in passes.stderr
    log.write_bytes(sound)
    assert cli("uninstall", cwd=repo).code == 0
    assert hook.read_bytes() == theirs


def test_a_merge_is_asked_about_what_is_new_to_both_sides(repo, reject, commit, cli, git):
    git("checkout", "--quiet", "-b", "side", cwd=repo)
    commit(repo, "db/1.sql", COLUMN)
    commit(repo, "readme", "theirs\n")
    git("checkout", "--quiet", "main", cwd=repo)
    commit(repo, "readme", "ours\n")
    rejected = reject(repo)
    assert git.run("merge", "side", cwd=repo, check=False).returncode == 1, "a conflict"
    write(repo, "readme", "both\n")
    git("add", "-A", cwd=repo)
    assert cli("gate", "--staged", cwd=repo).code == 0, "it was looked at where it was committed"
    write(repo, "db/2.sql", COLUMN)
    write(repo, "db/1.sql", COLUMN + "select 3;\n")
    git("add", "-A", cwd=repo)
    stopped = cli("gate", "--staged", "--json", cwd=repo)
    assert stopped.code == 1
    assert [(f["event"], f["path"]) for f in stopped.json["findings"]] == [(rejected, "db/2.sql")]


def test_the_pre_commit_frameworks_file_names_commands_that_there_are(cli, repo):
    text = (Path(__file__).resolve().parent.parent.parent / ".pre-commit-hooks.yaml").read_text("utf-8")
    entries = [line.partition("entry: ")[2] for line in text.splitlines() if "entry: " in line]
    assert len(entries) == 2
    for entry in entries:
        program, *words = entry.split()
        assert program == "git-decisions"
        assert cli(*words, cwd=repo).code == 0


def test_what_is_not_read_is_said_and_its_name_counts(repo, reject, cli, git, commit):
    """A file over eight megabytes, and a link: neither has a text that is looked at."""
    commit(repo, "README", "x\n")
    reject(repo)
    reject(repo, "db/dump.sql", "--whole")
    large = "-- a line\n" * 900_000 + COLUMN
    write(repo, "db/2.sql", large)
    git("add", "-A", cwd=repo)
    done = cli("gate", "--staged", cwd=repo, tty=True)
    assert done.code == 0 and "1 file not read" in done.stderr + done.stdout and "db/2.sql" in done.stderr + done.stdout
    assert cli("gate", "--staged", "--json", cwd=repo).json["unread"] == ["db/2.sql"]
    git("commit", "-qm", "large", cwd=repo)
    assert cli("gate", "--range", "HEAD~1..HEAD", "--json", cwd=repo).json["unread"] == ["db/2.sql"]
    for path in ("db/other.sql", "db/dump.sql"):
        os.symlink("2.sql", repo / path)
        git("add", path, cwd=repo)
        link = cli("gate", "--staged", "--json", cwd=repo).json
        git("reset", "-q", "--hard", cwd=repo)
        write(repo, path, large)
        git("add", path, cwd=repo)
        text = cli("gate", "--staged", "--json", cwd=repo).json
        git("reset", "-q", "--hard", cwd=repo)
        assert (link["stops"], text["stops"]) == ((True, True) if path == "db/dump.sql" else (False, False))
        assert (link["unread"], text["unread"]) == ([], [path])
