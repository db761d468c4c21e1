"""`Decision-Id:` trailers: written where they were asked for, read wherever they stand, and never in the way."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import NO_HOOKS

from gitmem.store import installation as install
from gitmem.store.installation import Program


@pytest.fixture
def repo(make_repo, git, cli) -> Path:
    repo = make_repo()
    done = cli("init", "--trailer", cwd=repo)
    assert done.code == 0 and "decisions.trailer = true" in done.stdout
    return repo


@pytest.fixture
def record(cli):
    def make(repo: Path, entity: str) -> str:
        return cli("record", entity, "add", "-r", "why", "--json", cwd=repo, tty=True).json["events"][0]["id"]

    return make


def message(git, repo: Path, name: str = "HEAD") -> list[str]:
    return git("log", "-1", "--format=%B", name, cwd=repo).splitlines()


def change(git, repo: Path, name: str) -> None:
    (repo / name).write_text(f"{name}\n")
    git("add", "-A", cwd=repo)


def test_a_commit_names_what_was_recorded_for_it_and_a_commit_without_decisions_nothing(repo, git, cli, record):
    event = record(repo, "users.one")
    change(git, repo, "one")
    git("commit", "--quiet", "-m", "one\n\nReviewed-by: Bob <bob@example.org>", cwd=repo)
    assert message(git, repo) == ["one", "", "Reviewed-by: Bob <bob@example.org>", f"Decision-Id: {event[:16]}"]
    links = cli("show", event, "--json", cwd=repo).json["links"]
    assert [link["how"] for link in links] == ["post-commit"]  # once: the trailer adds no second link
    change(git, repo, "two")
    git("commit", "--quiet", "-m", "two", cwd=repo)
    assert message(git, repo) == ["two"]
    # Written again, the message has it once.
    git("commit", "--quiet", "--amend", "--no-edit", cwd=repo)
    git("commit", "--quiet", "--amend", "-C", "HEAD~1", cwd=repo)
    assert message(git, repo).count(f"Decision-Id: {event[:16]}") == 1


def test_a_message_without_a_word_stays_without_one(repo, git, record):
    record(repo, "users.one")
    change(git, repo, "one")
    for words in (("commit",), ("commit", "--verbose"), ("commit", "-m", "")):
        done = git.run(*words, cwd=repo, env={"GIT_EDITOR": "true"}, check=False)
        assert done.returncode == 1 and b"empty commit message" in done.stderr
    (repo / ".template").write_text("Subject:\n# say why\n")
    git("config", "commit.template", ".template", cwd=repo)
    done = git.run("commit", cwd=repo, env={"GIT_EDITOR": "true"}, check=False)
    assert done.returncode == 1 and b"did not edit the message" in done.stderr
    assert git("rev-list", "--count", "HEAD", cwd=repo) == "1"
    git("commit", "--quiet", "--verbose", cwd=repo, env={"GIT_EDITOR": "sed -i '1s/$/ said/'"})
    assert message(git, repo)[0] == "Subject: said" and message(git, repo)[-1].startswith("Decision-Id: ")


def test_a_squash_names_the_decisions_of_all_its_commits(repo, git, cli, record):
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    events = []
    for name in ("one", "two"):
        events.append(record(repo, f"users.{name}"))
        change(git, repo, name)
        git("commit", "--quiet", "-m", name, cwd=repo)
    git("checkout", "--quiet", "main", cwd=repo)
    git("merge", "--quiet", "--squash", "topic", cwd=repo)
    git("commit", "--quiet", "-m", "other words", cwd=repo)
    assert message(git, repo)[2:] == [f"Decision-Id: {event[:16]}" for event in events]
    head = git("rev-parse", "HEAD", cwd=repo)
    for event in events:
        link = cli("show", event, "--json", cwd=repo).json["links"][-1]
        assert (link["commit"], link["how"], link["confidence"]) == (head, "trailer", "stated")


def test_a_scan_reads_trailers_anywhere_in_a_message_and_believes_no_unknown_id(repo, git, cli, record):
    event = record(repo, "users.one")
    change(git, repo, "one")
    named, unknown = f"Decision-Id: {event[:16]}", f"Decision-Id: {'0' * 16}"
    body = f"* one\n\n    {named}\n\n* two\n\n{unknown}\n\nas {named} says"
    git(*NO_HOOKS, "commit", "--quiet", "-m", f"squash (#12)\n\n{body}", cwd=repo)
    git(*NO_HOOKS, "commit", "--quiet", "--allow-empty", "-m", f"{event}", cwd=repo)
    git("checkout", "--quiet", "--detach", cwd=repo)
    links = cli("link", "--scan", "--json", cwd=repo).json["links"]
    squash = git("rev-parse", "HEAD~1", cwd=repo)
    assert [(link["commit"], link["events"]) for link in links] == [(squash, [event])]


@pytest.mark.parametrize("what", ["no log", "broken log", "no file", "read-only"])
def test_whatever_is_wrong_the_commit_is_made(repo, git, record, what):
    record(repo, "users.one")
    change(git, repo, "one")
    env = {}
    if what == "no log":
        git("update-ref", "-d", "refs/decisions/log", cwd=repo)
    elif what == "broken log":
        git("update-ref", "refs/decisions/log", "HEAD", cwd=repo)
    elif what == "no file":
        command = git("config", "hook.gitmem-commit-msg.command", cwd=repo, check=False)
        if command:  # git 2.54 and newer
            git("config", "hook.gitmem-commit-msg.command", f'set -- "$1.gone"; {command}', cwd=repo)
        else:
            hook = repo / ".git" / "hooks" / "commit-msg"
            hook.write_text(hook.read_text().replace('commit-msg "$@"', 'commit-msg "$@.gone"'))
    else:
        env = {"PATH": os.environ["PATH"], "TMPDIR": "/nonexistent"}
    git("commit", "--quiet", "-m", "one", cwd=repo, env=env)
    assert message(git, repo)[0] == "one"


def test_the_hook_before_decides_and_comes_back(make_repo, git, cli, record):
    repo = make_repo()
    path = repo / ".git" / "hooks" / "commit-msg"
    path.parent.mkdir(exist_ok=True)
    path.write_text('#!/bin/sh\ngrep -q "^[a-z]*: " "$1"\n')
    path.chmod(0o755)
    before = path.read_bytes()
    cli("init", "--trailer", cwd=repo)
    event = record(repo, "users.one")
    change(git, repo, "one")
    assert git.run("commit", "-m", "no kind", cwd=repo, check=False).returncode == 1
    git("commit", "--quiet", "-m", "feat: one", cwd=repo)
    assert message(git, repo) == ["feat: one", "", f"Decision-Id: {event[:16]}"]
    cli("uninstall", cwd=repo)
    assert path.read_bytes() == before and git("config", "--get", "decisions.trailer", cwd=repo, check=False) == ""


def _is_installed(repo: Path, git) -> bool:
    configured = git("config", "hook.gitmem-commit-msg.event", cwd=repo, check=False)
    return bool(configured) or (repo / ".git" / "hooks" / "commit-msg").exists()


def test_it_is_not_there_unless_it_was_asked_for(make_repo, git, cli, record):
    repo = make_repo()
    cli("init", cwd=repo)
    assert not _is_installed(repo, git)
    record(repo, "users.one")
    change(git, repo, "one")
    git("commit", "--quiet", "-m", "one", cwd=repo)
    assert message(git, repo) == ["one"]
    git("config", "decisions.trailer", "true", cwd=repo)
    cli("init", cwd=repo)
    assert _is_installed(repo, git)
    assert cli("init", "--trailer", "--no-hooks", cwd=repo).code == 2


@pytest.mark.parametrize("event", ["post-commit", "commit-msg"])
def test_hooks_in_the_configuration_start_nothing_while_a_rebase_runs_and_pass_on_no_failure(tmp_path, event):
    called = tmp_path / "called"
    program = tmp_path / "git-decisions-hook"
    program.write_text(f"#!/bin/sh\necho $1 >>{called}\nexit 7\n")
    program.chmod(0o755)
    git_dir = tmp_path / ".git"
    git_dir.mkdir()
    command = install.config_command(event, Program(script=str(program)))

    def run(**env: str) -> int:
        return subprocess.run(["sh", "-c", command], cwd=tmp_path, env={**os.environ, **env}).returncode

    for sign in ("rebase-merge", "rebase-apply"):
        (git_dir / sign).mkdir()
        assert run() == 0 and not called.exists()
        assert run(GIT_DIR=str(git_dir)) == 0 and not called.exists()
        (git_dir / sign).rmdir()
    assert run(GITMEM_ACTIVE="1") == 0 and not called.exists()
    assert run() == 0 and called.read_text() == f"{event}\n"
    gone = install.config_command(event, Program(script=str(tmp_path / "gone")))
    assert subprocess.run(["sh", "-c", gone], cwd=tmp_path, env={**os.environ, "PATH": "/usr/bin:/bin"}).returncode == 0
