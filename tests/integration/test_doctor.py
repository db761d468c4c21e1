"""doctor: each thing that can be wrong is made wrong, and named with what to do; and then it is well again."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from gitmem.store import installation
from gitmem.store.repository import locate


@pytest.fixture
def repo(make_repo, git, cli):
    path = make_repo()
    git("commit", "-q", "--allow-empty", "-m", "begin", cwd=path)
    assert cli("init", cwd=path).code == 0
    return path


def found(cli, repo: Path, what: str, **how) -> list[tuple[str, str, str | None]]:
    """The checks of one thing, as (state, what is so, remedy); and that the status fits all of them."""
    done = cli("doctor", "--json", cwd=repo, **how)
    answer = done.json
    wrong = any(one["state"] == "error" for one in answer["checks"])
    assert (done.code, answer["well"]) == ((1, False) if wrong else (0, True))
    assert all(one["remedy"] for one in answer["checks"] if one["state"] in ("warning", "error"))
    return [(one["state"], one["says"], one["remedy"]) for one in answer["checks"] if one["what"] == what]


def test_what_is_well_is_said_to_be(repo, cli):
    cli("record", "users.email", "add", "-r", "Login.", cwd=repo)
    for what in ("versions", "repository", "writer", "log", "cache", "git hooks"):
        assert [state for state, *_ in found(cli, repo, what)] == ["ok"], what
    assert found(cli, repo, "remotes")[0][0] == "note"
    text = cli("doctor", cwd=repo).stdout
    assert "all is well." in text and "git hooks" in text
    (said,) = [says for _, says, _ in found(cli, repo, "writer", tty=True)]
    assert "ratified at once" in said and "Ada Lovelace" in said
    assert "a proposal" in found(cli, repo, "writer", env={"CLAUDECODE": "1"})[0][1]


def test_no_log_and_one_that_a_remote_has(make_repo, cli, git, tmp_path):
    bare = make_repo()
    assert found(cli, bare, "log") == [("error", "there is no log here yet", "git decisions init")]
    origin, first = tmp_path / "origin.git", make_repo()
    git("init", "-q", "--bare", str(origin), cwd=tmp_path)
    git("commit", "-q", "--allow-empty", "-m", "begin", cwd=first)
    git("remote", "add", "origin", str(origin), cwd=first)
    git("push", "-q", "origin", "HEAD", cwd=first)
    cli("record", "users.email", "add", "-r", "Login.", cwd=first)
    assert [state for state, *_ in found(cli, first, "remotes")] == ["warning"]
    cli("sync", cwd=first)
    assert [state for state, *_ in found(cli, first, "remotes")] == ["ok"]
    cli("record", "users.name", "add", "-r", "Greeting.", cwd=first)
    ((state, says, remedy),) = found(cli, first, "remotes")
    assert (state, remedy) == ("warning", "git decisions sync origin") and "1 commit to push" in says
    clone = tmp_path / "clone"
    git("clone", "-q", str(origin), str(clone), cwd=tmp_path)
    ((state, says, remedy),) = found(cli, clone, "log")
    assert (state, remedy) == ("error", "git decisions init") and "remote" in says
    assert cli("init", cwd=clone).code == 0
    assert [state for state, *_ in found(cli, clone, "log")] == ["ok"]


def test_a_mirror_whose_plain_fetch_would_take_the_log_away(repo, cli, git, tmp_path):
    hub, mirror = tmp_path / "hub.git", tmp_path / "mirror.git"
    git("init", "-q", "--bare", str(hub), cwd=tmp_path)
    git("remote", "add", "origin", str(hub), cwd=repo)
    git("push", "-q", "origin", "HEAD", cwd=repo)
    cli("record", "users.email", "add", "-r", "Login.", cwd=repo)
    assert cli("sync", cwd=repo).code == 0
    git("clone", "-q", "--mirror", str(hub), str(mirror), cwd=tmp_path)
    cli("record", "users.name", "add", "-r", "Greeting.", cwd=mirror)
    mine = git("rev-parse", "refs/decisions/log", cwd=mirror)
    states = {says: remedy for state, says, remedy in found(cli, mirror, "remotes") if state == "warning"}
    ((says, remedy),) = [one for one in states.items() if "plain `git fetch`" in one[0]]
    assert "remote.origin.fetch = +refs/*:refs/*" in says and "remote.origin.mirror = true" in says
    git("fetch", "-q", cwd=mirror)
    assert git("rev-parse", "refs/decisions/log", cwd=mirror) != mine, "and it is so"
    git("update-ref", "refs/decisions/log", mine, cwd=mirror)
    for command in remedy.partition("or: ")[2].split(" and "):
        subprocess.run(command, shell=True, cwd=mirror, check=True)
    git("fetch", "-q", "--prune", cwd=mirror)
    assert git("rev-parse", "refs/decisions/log", cwd=mirror) == mine
    for place in (mirror, repo):
        assert not [says for _, says, _ in found(cli, place, "remotes") if "plain `git fetch`" in says]


def test_hooks_that_are_not_set_up(repo, cli, git):
    (repo / ".git/hooks/post-commit").unlink(missing_ok=True)
    git("config", "--unset", "hook.gitmem-post-commit.event", cwd=repo, check=False)  # where git keeps them (2.54)
    ((state, says, remedy),) = found(cli, repo, "git hooks")
    assert (state, remedy) == ("warning", "git decisions init") and "post-commit" in says
    cli("init", cwd=repo)
    assert [state for state, *_ in found(cli, repo, "git hooks")] == ["ok"]


def test_hooks_that_a_manager_keeps_and_that_do_not_call_us(make_repo, cli, git):
    repo = make_repo()
    if installation.version(locate(str(repo))) >= (2, 54):
        pytest.skip("this git runs hooks of its configuration beside a manager's")
    git("config", "core.hooksPath", "tools/hooks", cwd=repo)
    shown = cli("init", cwd=repo).stdout
    for event in ("post-commit", "post-rewrite"):
        says = [says for state, says, _ in found(cli, repo, "git hooks") if state == "warning"]
        assert any(event in one and "not called yet" in one and "core.hooksPath" in one for one in says)
        lines = shown.partition(f"{event}:\n\n")[2].partition("\n\n")[0]
        path = repo / "tools" / "hooks" / event
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + "\n".join(line.strip() for line in lines.split("\n")) + "\n")
        path.chmod(0o755)
    assert [state for state, *_ in found(cli, repo, "git hooks")] == ["ok"]
    cli("record", "users.email", "add", "-r", "Login.", cwd=repo)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    (event,) = cli("log", "--json", cwd=repo).json["events"]
    assert event["commits"] == [git("rev-parse", "HEAD", cwd=repo)], "and it is so"


def test_an_event_that_cannot_be_read_and_one_that_is_newer(repo, cli, git):
    tree = git(
        "mktree",
        cwd=repo,
        input=f"100644 blob {git('hash-object', '-w', '--stdin', cwd=repo, input='{}')}\t{'a' * 64}.json\n",
    )
    tip = git("rev-parse", "refs/decisions/log", cwd=repo)
    bad = git("commit-tree", tree, "-p", tip, "-m", "odd", cwd=repo)
    git("update-ref", "refs/decisions/log", bad, cwd=repo)
    states = found(cli, repo, "log")
    assert "error" in [state for state, *_ in states]


def test_a_cache_that_can_be_kept_nowhere(repo, cli):
    if os.geteuid() == 0:
        local = repo / ".git/gitmem"  # root may write anywhere: a file in the folder's place stops it too
        for path in local.iterdir():
            path.unlink()
        local.rmdir()
        local.write_text("")
    else:
        (repo / ".git/gitmem").chmod(0o500)
    ((state, says, remedy),) = found(cli, repo, "cache")
    assert state == "warning" and "memory" in says and remedy


def test_a_clients_hook_is_really_reached_or_said_not_to_be(repo, cli):
    cli("setup", "--agent", "claude", "--agent", "cursor", cwd=repo)
    before = (repo / ".git/gitmem/local.sqlite").exists()
    assert not before
    for name in ("claude", "cursor"):
        assert found(cli, repo, f"agent {name}")[0][0] == "ok"
    db = sqlite3.connect(repo / ".git/gitmem/local.sqlite")
    assert db.execute("SELECT count(*) FROM edited").fetchone() == (0,)  # the canary left nothing
    db.close()
    launcher = repo / ".git/gitmem/agent"
    launcher.chmod(0o600)
    ((state, says, remedy), *_) = found(cli, repo, "agent claude")
    assert state == "error" and "never heard" in says and remedy == "git decisions setup"
    cli("setup", "--agent", "claude", cwd=repo)
    assert found(cli, repo, "agent claude")[0][0] == "ok"


def test_a_changed_configuration_and_one_that_calls_twice(repo, cli):
    cli("setup", "--agent", "claude", cwd=repo)
    text = (repo / ".claude/settings.json").read_text()
    (repo / ".claude/settings.local.json").write_text(text)
    assert [
        says for state, says, _ in found(cli, repo, "agent claude") if state == "warning" and "more than one" in says
    ]
    (repo / ".claude/settings.local.json").unlink()
    (repo / ".claude/settings.json").write_text(text.replace("PreToolUse", "PreToolUs"))
    warned = [says for state, says, _ in found(cli, repo, "agent claude") if state == "warning"]
    assert len(warned) == 1 and "isn't as" in warned[0]
    (repo / ".claude/settings.json").write_text(text)
    assert not [says for state, says, _ in found(cli, repo, "agent claude") if state == "warning"]


def test_what_the_gate_let_pass_because_it_failed(repo, cli):
    cli("record", "users.email", "add", "-r", "Login.", cwd=repo)
    assert found(cli, repo, "gate") == []
    tip = repo / ".git/refs/decisions/log"
    good = tip.read_text()
    tip.write_text("0" * 39 + "1\n")  # a log that isn't there
    given = {"file_path": f"{repo}/a.sql", "content": "x"}
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Write", "cwd": str(repo)}
    done = cli("hook", "--agent", "claude", cwd=repo, input=json.dumps({**payload, "tool_input": given}))
    assert (done.code, done.stdout) == (0, "")
    assert "error" in [state for state, *_ in found(cli, repo, "log")]
    tip.write_text(good)
    ((state, says, _),) = found(cli, repo, "gate")
    assert state == "warning" and "let 1 edit pass" in says


def test_in_a_bare_repository_and_a_linked_worktree(repo, cli, git, tmp_path):
    other = tmp_path / "日本 tree"
    git("worktree", "add", "-q", "--detach", str(other), cwd=repo)
    assert "linked worktree" in found(cli, other, "repository")[0][1]
    bare = tmp_path / "bare.git"
    git("init", "-q", "--bare", str(bare), cwd=tmp_path)
    assert cli("init", cwd=bare).code == 0
    assert "bare" in found(cli, bare, "repository")[0][1]
    assert cli("record", "a.b", "add", "-r", "So that there is a log.", cwd=bare).code == 0
    assert cli("uninstall", cwd=bare).code == 0
    ((state, says, _),) = found(cli, bare, "git hooks")
    assert state == "note" and "bare" in says, "but where there are worktrees, people commit"
    git("commit", "-q", "--allow-empty", "-m", "begin", cwd=repo)
    git("push", "-q", str(bare), "HEAD:refs/heads/main", cwd=repo)
    git("worktree", "add", "-q", "--detach", str(tmp_path / "tree of a bare one"), "main", cwd=bare)
    assert {state for state, *_ in found(cli, bare, "git hooks")} == {"warning"}
