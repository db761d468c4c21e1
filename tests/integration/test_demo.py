"""`demo`: the story is really told, touches nothing of the user's, and leaves nothing behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def temporary(tmp_path) -> Path:
    place = tmp_path / "temporary files"
    place.mkdir()
    return place


@pytest.mark.parametrize("tty", [False, True], ids=["script", "person"])
@pytest.mark.parametrize("where", ["in a repository", "outside of any"])
def test_the_story_is_what_the_program_says_and_is_gone_afterwards(
    cli, make_repo, tmp_path, temporary, home, where, tty
):
    cwd = make_repo() if where == "in a repository" else tmp_path
    before = bytes_of(cwd), bytes_of(home)
    env = {"TMPDIR": str(temporary), "GIT_DIR": "/nowhere", "GIT_WORK_TREE": "/nowhere"}
    done = cli("demo", cwd=cwd, env=env, tty=tty)
    assert done.code == 0, done
    order = [
        "start the log", "known: 1 attempt", "is closed: ", "Stopped by a decision", "brings in the column",
        "Keep the card token", "add users.card_token: Checkout needs one call less.", "sound: ",
    ]  # fmt: skip
    places = [done.stdout.index(words) for words in order]
    assert places == sorted(places)
    assert ("ratified by a person" in done.stdout) == tty
    assert list(temporary.iterdir()) == []
    assert (bytes_of(cwd), bytes_of(home)) == before


def test_as_json_it_is_one_object_with_each_step(cli, tmp_path, temporary):
    done = cli("demo", "--json", cwd=tmp_path, env={"TMPDIR": str(temporary)})
    assert done.code == 0 and done.stderr == ""
    steps = done.json["steps"]
    assert [step["exit"] for step in steps].count(14) == 1 and steps[-1]["command"] == "git decisions verify"
    assert all(step["command"].startswith("git ") for step in steps)


def test_with_mcp_the_local_server_is_asked(cli, tmp_path, temporary):
    done = cli("demo", "--mcp", "--json", cwd=tmp_path, env={"TMPDIR": str(temporary)})
    assert done.code == 0, done
    answer = json.loads(done.stdout)["steps"][-1]
    assert answer["command"] == "git decisions mcp" and "prior_attempts" in answer["tools"]
    assert "It puts our database in the card audit." in answer["output"]
    assert list(temporary.iterdir()) == []


def test_where_the_server_cannot_start_that_is_said_and_nothing_is_left(cli, tmp_path, temporary):
    stub = tmp_path / "stub"
    stub.mkdir()
    (stub / "mcp_types.py").write_text("raise ModuleNotFoundError('no module', name='mcp_types')\n")
    env = {"TMPDIR": str(temporary), "PYTHONPATH": str(stub)}
    done = cli("demo", "--mcp", cwd=tmp_path, env=env)
    assert done.code == 17 and "git-decisions[mcp]" in done.stderr and done.stdout.count("\n") == 1
    assert cli("demo", "--mcp", "--json", cwd=tmp_path, env=env).json["error"]["name"] == "MissingExtra"
    assert list(temporary.iterdir()) == []


def test_where_git_fails_the_story_says_at_which_step(cli, tmp_path, temporary):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").write_text("#!/bin/sh\necho no git today >&2\nexit 9\n")
    (programs / "git").chmod(0o755)
    done = cli("demo", cwd=tmp_path, env={"TMPDIR": str(temporary), "PATH": f"{programs}:/usr/bin:/bin"})
    assert done.code == 30 and "no git today" in done.stderr and "Traceback" not in done.stderr
    assert list(temporary.iterdir()) == []
