"""After a clone: one command brings everything; automatic sync where it is asked for; the tips seen are checkpoints."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from taken_out import is_sound, record
from travelling import REF, SEEN, said, script_at, state_of, tip


@pytest.fixture
def fresh(shared, hub, git, tmp_path) -> Path:
    """A new clone of the code, as git makes it: without a log."""
    git("clone", "--quiet", hub, "fresh", cwd=tmp_path)
    assert tip(git, tmp_path / "fresh") == ""
    return tmp_path / "fresh"


def test_one_command_after_a_clone_brings_everything(fresh, shared, hub, cli, git):
    _, _, ids = shared
    for command in (("log",), ("status",), ("prior", "users.c1"), ("search", "reason"), ("review",)):
        error = said(cli, fresh, *command, code=10)
        assert "git decisions init" in error["hint"] and "origin" in error["hint"], command
    before = state_of(git, fresh)
    assert "origin" in said(cli, fresh, "init", "--dry-run")["steps"][0]["what"]
    assert state_of(git, fresh) == before
    done = cli("init", cwd=fresh)
    assert done.code == 0 and "origin here (3 events)" in done.stdout
    assert [event["id"] for event in said(cli, fresh, "log")["events"]] == ids[::-1]
    assert tip(git, fresh) == tip(git, hub) == tip(git, fresh, SEEN)
    assert "nothing to do" in cli("init", cwd=fresh).stdout
    is_sound(git, cli, fresh)


def test_without_a_remote_there_is_nothing_to_hint_at(make_repo, cli):
    assert "starts one" in said(cli, make_repo(), "log", code=10)["hint"]
    assert "init` brings" not in said(cli, make_repo(), "log", code=10)["hint"]


def test_what_was_recorded_before_init_is_joined(fresh, shared, cli, git):
    mine = record(cli, fresh, "record", "a.b", "add", "-r", "Before init.")
    assert cli("init", cwd=fresh).code == 0
    assert {event["id"] for event in said(cli, fresh, "log")["events"]} == {*shared[2], mine}


def test_a_remote_that_can_not_be_reached_keeps_nobody_from_setting_up(fresh, cli, git):
    git("remote", "set-url", "origin", "/nowhere/at/all", cwd=fresh)
    done = cli("init", cwd=fresh)
    assert done.code == 0 and "did not come" in done.stdout and tip(git, fresh)
    assert cli("init", "--no-fetch", cwd=fresh).stdout.count("did not come") == 0


def test_a_remote_without_decisions_is_passed_over_in_silence(clones, cli, git):
    one, _ = clones
    assert "origin" not in cli("init", cwd=one).stdout and tip(git, one)


# --- automatic sync -----------------------------------------------------------------------------


@pytest.fixture
def auto(shared, cli, git):
    one, two, _ = shared
    for repo in (one, two):
        done = cli("init", "--auto-sync", cwd=repo)
        assert done.code == 0 and "decisions.autoSync = true" in done.stdout
    return one, two


def commit(git, repo: Path, name: str) -> None:
    (repo / name).write_text("x\n")
    git("add", name, cwd=repo)
    git("commit", "--quiet", "-m", name, cwd=repo)


def test_decisions_go_along_with_a_push_and_come_along_with_a_pull(auto, hub, cli, git):
    one, two = auto
    mine = record(cli, one, "record", "a.b", "add", "-r", "Mine.")
    commit(git, one, "new")
    done = git.run("push", "origin", "main", cwd=one)
    assert b"gitmem: decisions of origin: " in done.stderr and b" went" in done.stderr
    assert tip(git, hub) == tip(git, one)
    done = git.run("pull", "--no-rebase", cwd=two)
    assert b"came" in done.stderr
    assert mine in {event["id"] for event in said(cli, two, "log")["events"]}
    # Nothing more: silence.
    commit(git, one, "more")
    said(cli, one, "sync")
    assert b"gitmem" not in git.run("push", "origin", "main", cwd=one).stderr


def test_a_merge_that_is_no_pull_asks_no_network(auto, cli, git, tmp_path):
    one, two = auto
    record(cli, two, "record", "a.b", "add", "-r", "Theirs.")
    said(cli, two, "push")
    before = tip(git, one)
    git("checkout", "--quiet", "-b", "side", cwd=one)
    commit(git, one, "side")
    git("checkout", "--quiet", "main", cwd=one)
    git("merge", "--quiet", "--no-ff", "--no-edit", "side", cwd=one)
    assert tip(git, one) == before


def test_without_it_neither_goes_along(shared, hub, cli, git):
    one, _, _ = shared
    assert cli("init", cwd=one).code == 0
    assert not (one / ".git/hooks/pre-push").exists()
    record(cli, one, "record", "a.b", "add", "-r", "Mine.")
    before = tip(git, hub)
    commit(git, one, "new")
    git("push", "--quiet", "origin", "main", cwd=one)
    assert tip(git, hub) == before


def test_switched_off_the_hook_that_is_there_does_nothing(auto, hub, cli, git):
    one, _ = auto
    git("config", "decisions.autoSync", "false", cwd=one)
    record(cli, one, "record", "a.b", "add", "-r", "Mine.")
    before = tip(git, hub)
    commit(git, one, "new")
    assert b"gitmem" not in git.run("push", "origin", "main", cwd=one).stderr
    assert tip(git, hub) == before


def test_a_push_never_fails_for_it_and_is_not_kept_waiting(auto, hub, cli, git, tmp_path):
    one, _ = auto
    record(cli, one, "record", "a.b", "add", "-r", "Mine.")
    commit(git, one, "new")
    # The log is refused, the branch is not.
    script_at(hub / "hooks/update", "case $1 in refs/decisions/*) echo no >&2; exit 1;; esac")
    done = git.run("push", "origin", "main", cwd=one)
    assert b"gitmem: pre-push: " in done.stderr and b"git goes on" in done.stderr
    assert tip(git, hub, "refs/heads/main") == tip(git, one, "refs/heads/main")
    # A remote that takes its time, for decisions only.
    slow = script_at(tmp_path / "slow", 'case "$GITMEM_ACTIVE" in 1) sleep 60;; esac; exec git-receive-pack "$@"')
    both = script_at(tmp_path / "up", 'case "$GITMEM_ACTIVE" in 1) sleep 60;; esac; exec git-upload-pack "$@"')
    git("config", "remote.origin.receivepack", slow, cwd=one)
    git("config", "remote.origin.uploadpack", both, cwd=one)
    (hub / "hooks/update").unlink()
    commit(git, one, "newer")
    began = time.monotonic()
    done = git.run("push", "origin", "main", cwd=one)
    assert time.monotonic() - began < 20  # far below 60: it was ended, and said so
    assert b"did not answer" in done.stderr or b"stopped after" in done.stderr
    assert tip(git, hub, "refs/heads/main") == tip(git, one, "refs/heads/main")
    git("config", "--unset", "remote.origin.receivepack", cwd=one)
    git("config", "--unset", "remote.origin.uploadpack", cwd=one)
    assert said(cli, one, "sync")["sent"] >= 1


def test_the_hook_that_was_there_is_called_first_and_stops_the_push(shared, hub, cli, git, tmp_path):
    one, _, _ = shared
    script_at(one / ".git/hooks/pre-push", f"cat > {tmp_path}/given; exit 3")
    assert cli("init", "--auto-sync", cwd=one).code == 0
    record(cli, one, "record", "a.b", "add", "-r", "Mine.")
    before = tip(git, hub)
    commit(git, one, "new")
    assert git.run("push", "origin", "main", cwd=one, check=False).returncode != 0
    assert (tmp_path / "given").read_text().startswith("refs/heads/main ")
    # Hooks in the configuration (2.54) come before those in the folder, and can't wait for what they say.
    configured = git("config", "hook.gitmem-pre-push.event", cwd=one, check=False) != ""
    assert (tip(git, hub) == before) is not configured
    theirs = "pre-push" if configured else "pre-push.gitmem-prev"
    script_at(one / ".git/hooks" / theirs, f"cat > {tmp_path}/given")
    git("push", "--quiet", "origin", "main", cwd=one)
    assert tip(git, hub) == tip(git, one) != before
    assert cli("uninstall", cwd=one).code == 0
    assert (one / ".git/hooks/pre-push").read_text().endswith("given\n")
    assert git("config", "decisions.autoSync", cwd=one, check=False) == ""
    assert not (one / ".git/hooks/post-merge").exists()
    assert tip(git, one, SEEN) == "" and tip(git, one)  # the log stays; what was seen of others' goes


def test_a_push_to_an_address_without_a_name_is_left_alone(auto, hub, make_repo, cli, git):
    one, _ = auto
    other = make_repo("bare")
    record(cli, one, "record", "a.b", "add", "-r", "Mine.")
    before = tip(git, hub)
    assert b"gitmem" not in git.run("push", other, "main", cwd=one).stderr
    assert tip(git, hub) == before and tip(git, other) == ""


# --- checkpoints --------------------------------------------------------------------------------


def test_verify_holds_the_log_to_what_was_seen_of_each_remote(shared, cli, git):
    one, _, _ = shared
    assert said(cli, one, "verify")["findings"] == []
    whole = tip(git, one)
    git("update-ref", REF, f"{whole}~1", cwd=one)
    for grown in (False, True):
        if grown:
            record(cli, one, "record", "a.b", "add", "-r", "On a log that lost one.")
        done = cli("verify", "--json", cwd=one)
        assert done.code == 1
        (finding,) = done.json["findings"]
        assert finding["rule"] == "checkpoint" and finding["commit"] == whole and "origin" in finding["message"]
    said(cli, one, "fetch")
    assert said(cli, one, "verify")["findings"] == []


def test_a_tip_seen_before_a_redaction_is_still_a_checkpoint_that_holds(shared, cli, git):
    one, _, ids = shared
    seen = tip(git, one, SEEN)
    assert cli("redact", ids[1], "-r", "Not for us.", cwd=one, tty=True).code == 0
    git("update-ref", "refs/decisions-remotes/elsewhere/log", tip(git, one, SEEN), cwd=one)
    assert seen != tip(git, one, SEEN) and said(cli, one, "verify")["findings"] == []
