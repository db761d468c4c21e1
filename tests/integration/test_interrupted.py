"""Ctrl-C at any moment: what is said of what was written is true, and what was not done is done by calling it again."""

from __future__ import annotations

import json
import os
import shutil
import textwrap
from pathlib import Path

import pytest

REF = "refs/decisions/log"
#: A `git` that sends its parent a Ctrl-C (or fails) at the time `AT` that the step `STEP` comes, before or after it.
SHIM = """\
    #!/bin/sh
    for word; do
        case "$word" in unpack-objects|index-pack) step=store ;; update-ref|push) step=$word ;; esac
    done
    if [ "$step" = "$STEP" ]; then
        echo >>{seen}
        if [ "$(wc -l <{seen})" -eq "$AT" ]; then
            case "$HOW" in
                before) kill -INT $PPID; exec sleep 5 ;;
                after) {git} "$@"; kill -INT $PPID; exec sleep 5 ;;
                fails) echo "fatal: the disk is on fire" >&2; exit 1 ;;
            esac
        fi
    fi
    exec {git} "$@"
"""
#: A rename ends what is appended at once: so four appends, after the one that begins the log.
SQL = """\
CREATE TABLE carts (id int);
ALTER TABLE carts RENAME TO baskets;
CREATE TABLE users (id int, email text);
ALTER TABLE users RENAME TO people;
CREATE TABLE orders (id int);
ALTER TABLE orders RENAME TO sales;
CREATE TABLE coupons (id int);
"""


@pytest.fixture
def at(tmp_path):
    """Returns the environment in which something happens at one step of git's."""

    def at(step: str, number: int, how: str = "before") -> dict[str, str]:
        folder = tmp_path / "shim"
        folder.mkdir(exist_ok=True)
        seen = folder / "seen"
        seen.write_text("")
        program = folder / "git"
        program.write_text(textwrap.dedent(SHIM).format(git=shutil.which("git"), seen=seen))
        program.chmod(0o755)
        path = f"{folder}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "STEP": step, "AT": str(number), "HOW": how}

    return at


@pytest.fixture
def source(repo, git) -> Path:
    (repo / "db").mkdir()
    (repo / "db/1_all.sql").write_text(SQL)
    git("add", "-A", cwd=repo)
    git("commit", "-qm", "migrations", cwd=repo)
    return repo


def recorded(cli, repo: Path) -> list[str]:
    done = cli("log", "--all", "--json", cwd=repo)
    return [one["entity_path"] for one in done.json["events"]] if done.code == 0 else []


IMPORT = ("import", "sql", "db", "--json")


def test_between_two_appends_what_was_appended_is_counted(cli, source, git, at, tmp_path):
    whole = tmp_path / "whole"
    shutil.copytree(source, whole)
    assert cli(*IMPORT, cwd=whole).json["appended"] == 12
    # before anything; when the log has begun; then between appends
    for number, count in ((1, 0), (2, 0), (3, 3), (4, 7)):
        repo = tmp_path / f"try{number}"
        shutil.copytree(source, repo)
        done = cli(*IMPORT, cwd=repo, env=at("store", number))
        error = done.json["error"]
        assert (done.code, error["name"], error["written"]) == (130, "Interrupted", number > 1), done.stdout
        assert len(recorded(cli, repo)) == count
        if count:
            assert f"{count} events were appended before that, and stay" in error["message"]
            assert "calling it again" in error["hint"]
        else:
            said = "what was done before that stays" if number > 1 else "nothing was written"
            assert said in error["message"] and bool(git("for-each-ref", REF, cwd=repo)) == (number > 1)
        again = cli(*IMPORT, cwd=repo)
        assert again.code == 0 and again.json["appended"] == 12 - count
        assert recorded(cli, repo) == recorded(cli, whole)
        assert cli("verify", cwd=repo).code == 0


@pytest.mark.parametrize("how", ["before", "after"])
def test_in_the_middle_of_one_append_nobody_knows_and_that_is_said(cli, repo, at, how):
    assert cli("record", "users.email", "add", "-r", "one", cwd=repo).code == 0
    words = ("record", "users.name", "add", "-r", "two")
    done = cli(*words, "--json", cwd=repo, env=at("update-ref", 1, how))
    error = done.json["error"]
    assert (done.code, error["written"]) == (130, None) and "may be done or not" in error["message"]
    assert "git decisions log" in error["hint"]
    assert ("users.name" in recorded(cli, repo)) == (how == "after")
    # and before it, nothing was written
    done = cli("record", "users.zip", "add", "-r", "three", cwd=repo, env=at("store", 1))
    assert (done.code, done.stderr) == (130, "error: interrupted; nothing was written.\n")
    assert "users.zip" not in recorded(cli, repo)
    assert cli("verify", cwd=repo).code == 0


def test_in_the_middle_of_a_later_append_both_are_said(cli, source, at):
    done = cli("import", "sql", "db", cwd=source, env=at("update-ref", 3))
    assert done.code == 130 and recorded(cli, source)[::-1] == ["carts", "carts.id", "baskets"]
    first, second = done.stderr.splitlines()
    assert "may be done or not; 3 events were appended before that, and stay" in first
    assert second.startswith("hint: `git decisions log")


def test_what_failed_after_some_appends_says_what_was_appended(cli, source, at):
    done = cli(*IMPORT, cwd=source, env=at("store", 3, "fails"))
    error = done.json["error"]
    assert (done.code, error["name"], error["written"]) == (30, "GitFailed", True)
    assert len(recorded(cli, source)) == 3
    done = cli("import", "sql", "db", cwd=source, env=at("store", 2, "fails"))
    assert done.code == 30 and "the disk is on fire" in done.stderr
    assert done.stderr.splitlines()[-1] == "note: 4 events were appended before that, and stay."
    # and where it was the first, as the sentence has it
    done = cli(*IMPORT, cwd=source, env=at("store", 1, "fails"))
    assert json.loads(done.stdout)["error"]["written"] is False and "nothing was" in done.stdout


def test_a_push_that_was_under_way_may_have_come(cli, make_repo, git, at):
    hub, repo = make_repo("bare"), make_repo()
    git("remote", "add", "origin", hub, cwd=repo)
    assert cli("record", "users.email", "add", "-r", "one", cwd=repo).code == 0
    for how in ("before", "after"):
        done = cli("push", "--json", cwd=repo, env=at("push", 1, how))
        assert (done.code, done.json["error"]["written"]) == (130, None), done
        assert bool(git("for-each-ref", REF, cwd=hub)) == (how == "after")
    done = cli("push", "--json", cwd=repo)
    assert done.code == 0 and git("rev-parse", REF, cwd=hub) == git("rev-parse", REF, cwd=repo)
