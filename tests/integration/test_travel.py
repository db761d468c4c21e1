"""Decisions go where the repository goes: fetch, push and sync between real clones, and what stops them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from taken_out import SECRET, found_in, is_sound, record
from travelling import REF, SEEN, objects_of, said, script_at, state_of, tip

from gitmem.core.drafts import Draft
from gitmem.memory import Memory
from gitmem.store.repository import locate
from gitmem.sync.quarantine import Quarantine

# --- there and back ---------------------------------------------------------------------------


def test_what_is_recorded_here_arrives_there_and_both_end_at_one_tip(clones, hub, cli, git):
    one, two = clones
    first = record(cli, one, "record", "users.email", "add", "-r", "Login needs it.")
    answer = said(cli, one, "push", "--dry-run")
    assert answer["sent"] == 1 and answer["events"]["sent"][0]["id"] == first and tip(git, hub) == ""
    answer = said(cli, one, "push")
    assert answer["sent"] == 1 and tip(git, hub) == tip(git, one) == answer["remote_tip"]
    before = state_of(git, two)
    assert said(cli, two, "fetch", "--dry-run")["events"]["received"][0]["id"] == first
    assert state_of(git, two) == before
    assert said(cli, two, "fetch")["received"] == 1
    second = record(cli, two, "record", "users.name", "add", "-r", "We greet people.")
    third = record(cli, one, "record", "users.zip", "add", "-r", "We send letters.")
    assert said(cli, one, "sync")["sent"] == 1
    answer = said(cli, two, "sync")
    assert (answer["received"], answer["sent"], answer["joined"]) == (1, 1, True)
    assert said(cli, one, "sync")["received"] == 1
    assert tip(git, one) == tip(git, two) == tip(git, hub) == tip(git, one, SEEN) == tip(git, two, SEEN)
    for repo in clones:
        assert {event["id"] for event in said(cli, repo, "log")["events"]} == {first, second, third}
        is_sound(git, cli, repo)
    answer = said(cli, one, "sync")
    assert (answer["received"], answer["sent"], answer["joined"]) == (0, 0, False)


def test_a_push_that_is_behind_joins_first(shared, hub, cli, git):
    one, two, _ = shared
    record(cli, one, "record", "a.b", "add", "-r", "One.")
    mine = record(cli, two, "record", "a.c", "add", "-r", "Two.")
    said(cli, one, "push")
    before = state_of(git, two)
    for command in ("push", "sync"):
        answer = said(cli, two, command, "--dry-run")
        assert (answer["received"], [event["id"] for event in answer["events"]["sent"]]) == (1, [mine])
    assert state_of(git, two) == before
    answer = said(cli, two, "push")
    assert (answer["received"], answer["sent"], answer["joined"]) == (1, 1, True)
    assert tip(git, hub) == tip(git, two)


def test_nothing_of_the_users_is_touched_and_no_hook_of_theirs_runs(shared, hub, cli, git):
    one, two, _ = shared
    git("tag", "-a", "-m", "x", "v1", cwd=one)
    for name in ("pre-push", "reference-transaction", "post-merge"):
        hook = one / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch '{one}/ran-{name}'\nexit 1\n")
        hook.chmod(0o755)
    git("config", "hook.theirs.event", "reference-transaction", cwd=one)  # an older git knows no such hooks
    git("config", "hook.theirs.command", f"touch '{one}/ran-configured'; false", cwd=one)
    git("config", "remote.origin.push", "refs/heads/main:refs/heads/elsewhere", cwd=one)
    git("config", "fetch.prune", "true", cwd=one)
    git("config", "push.followTags", "true", cwd=one)
    (one / ".git/FETCH_HEAD").write_text("mine\n")
    record(cli, two, "record", "a.c", "add", "-r", "Two.")
    said(cli, two, "push")
    record(cli, one, "record", "a.b", "add", "-r", "One.")
    config = (one / ".git/config").read_text()
    heads = git("for-each-ref", "refs/heads", "refs/remotes", "refs/tags", cwd=one)
    answer = said(cli, one, "sync")
    assert (answer["received"], answer["sent"]) == (1, 1)
    assert (one / ".git/config").read_text() == config
    assert (one / ".git/FETCH_HEAD").read_text() == "mine\n"
    assert git("for-each-ref", "refs/heads", "refs/remotes", "refs/tags", cwd=one) == heads
    assert not list(one.glob("ran-*"))
    assert git("for-each-ref", "--format=%(refname)", cwd=hub).split() == [REF, "refs/heads/main"]


def test_plain_git_behaves_as_without_gitmem(shared, hub, cli, git, tmp_path):
    one, two, ids = shared
    (one / "new").write_text("x\n")
    git("add", "new", cwd=one)
    git("commit", "--quiet", "-m", "New", cwd=one)
    git("push", "--quiet", cwd=one)
    git("fetch", "--quiet", "--prune", cwd=two)
    git("pull", "--quiet", "--rebase", cwd=two)
    assert git("branch", "--all", "--format=%(refname)", cwd=two).split() == [
        *("refs/heads/main", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    ]
    git("gc", "--quiet", "--prune=now", cwd=two)
    git("fsck", "--strict", cwd=two)
    git("clone", "--quiet", "--depth=1", hub.as_uri(), tmp_path / "shallow", cwd=tmp_path)
    assert git("for-each-ref", "refs/decisions*", cwd=tmp_path / "shallow") == ""
    for repo in (one, two):
        is_sound(git, cli, repo)
        assert [event["id"] for event in said(cli, repo, "log")["events"]] == ids[::-1]


def test_a_thousand_events_go_in_one_push(clones, hub, cli, git):
    one, two = clones
    memory = Memory.open(str(one))
    fields = {"change_type": "add", "reasoning": "One of many."}
    drafts = [Draft("change", {"entity_path": f"t.c{n}", "source": f"many:{n}", **fields}) for n in range(1000)]
    memory.append_history(drafts, channel="import")
    memory.close()
    dry = said(cli, one, "push", "--dry-run")
    assert dry["sent"] == 1000 and tip(git, hub) == ""
    assert said(cli, one, "push")["sent"] == 1000 and tip(git, hub) == tip(git, one)
    assert said(cli, two, "fetch")["received"] == 1000
    is_sound(git, cli, two)


def test_several_remotes_are_kept_apart_and_the_default_is_gits(shared, make_repo, cli, git):
    one, _, _ = shared
    other = make_repo("bare", name="other")
    git("remote", "add", "backup", other, cwd=one)
    assert said(cli, one, "push", "backup")["remote"] == "backup"
    assert tip(git, other) == tip(git, one)
    record(cli, one, "record", "a.b", "add", "-r", "One.")
    assert said(cli, one, "push")["remote"] == "origin"
    assert tip(git, other) == tip(git, one, "refs/decisions-remotes/backup/log") != tip(git, one, SEEN)
    git("config", "branch.main.remote", "backup", cwd=one)
    assert said(cli, one, "push", "--dry-run")["remote"] == "backup"
    error = said(cli, one, "push", "orign", code=2)
    assert "orign" in error["message"] and "origin" in error["hint"]


def test_what_was_seen_is_kept_whatever_the_remote_is_called_or_it_says_so(shared, hub, cli, git):
    one, _, _ = shared
    for name in ("team/origin", "a;touch${IFS}x", "--upload-pack=touch"):
        git("config", f"remote.{name}.url", hub, cwd=one)
        done = cli("push", "--json", "--", name, cwd=one)
        assert done.code == 0 and done.json["sent"] == 0
        assert tip(git, one, f"refs/decisions-remotes/{name}/log") == tip(git, hub)
    for name in ("we ird", "x.lock", ".", "$(touch x)~"):
        git("config", f"remote.{name}.url", hub, cwd=one)
        assert "can't be part of a ref" in said(cli, one, "sync", name, code=15)["message"]
    assert not (one / "x").exists()
    is_sound(git, cli, one)


def test_without_a_remote_it_says_what_to_do(make_repo, cli, git):
    repo = make_repo()
    record(cli, repo, "record", "a.b", "add", "-r", "One.")
    error = said(cli, repo, "sync", code=2)
    assert "no remote" in error["message"] and "git remote add" in error["hint"]


def test_neither_side_has_a_log(clones, cli, git):
    one, _ = clones
    before = state_of(git, one)
    for command in ("fetch", "sync"):
        answer = said(cli, one, command)
        assert (answer["received"], answer["sent"], answer["remote_tip"]) == (0, 0, None)
    assert said(cli, one, "push", code=10)["name"] == "NoLog"
    assert state_of(git, one) == before


# --- what is not taken ------------------------------------------------------------------------


def test_a_broken_log_is_not_taken_and_nothing_of_it_is_kept(shared, hub, cli, git, tmp_path):
    _one, two, _ids = shared
    whole = tip(git, hub)
    foreign = git("commit-tree", git("mktree", cwd=hub, input=""), "-p", tip(git, hub), "-m", "hello", cwd=hub)
    git("update-ref", REF, foreign, cwd=hub)
    record(cli, two, "record", "a.b", "add", "-r", "Mine.")
    git("clone", "--quiet", "--no-local", hub, "three", cwd=tmp_path)
    for repo, log in ((two, True), (tmp_path / "three", False)):
        before = state_of(git, repo)
        for command in ("fetch", "push", "sync"):
            error = said(cli, repo, command, code=21)
            assert foreign[:12] in error["message"]
        assert state_of(git, repo) == before and tip(git, hub) == foreign
        assert foreign not in objects_of(git, repo)
        left = {path.name for path in (repo / ".git/gitmem").iterdir() if path.name.startswith(("incoming", "cach"))}
        assert left == ({"cache.sqlite", "cache.lock"} if log else set())
    # Mended, it comes to both alike, and the one that had none needs no second look at what it has just read.
    git("update-ref", REF, whole, cwd=hub)
    three = tmp_path / "three"
    assert said(cli, three, "fetch")["received"] == 3
    assert cli("verify", "--full", cwd=three).code == 0
    cached = said(cli, three, "log")["events"]
    assert cli("rebuild", cwd=three).code == 0 and said(cli, three, "log")["events"] == cached


@pytest.mark.parametrize("kind", ["tag", "blob"])
def test_a_ref_that_names_no_commit_is_no_log_though_git_walks_through_it(shared, hub, cli, git, kind):
    one, _, _ = shared
    whole = tip(git, hub)
    text = f"object {whole}\ntype commit\ntag log\ntagger A U Thor <a@example.com> 0 +0000\n\nx\n"
    oid = git("hash-object", "-w", "-t", kind, "--stdin", cwd=hub, input=text)
    git("update-ref", REF, oid, cwd=hub)
    before = state_of(git, one)
    for verb in ("fetch", "push", "sync"):
        assert "a log ends in a commit" in said(cli, one, verb, code=21)["message"]
    assert state_of(git, one) == before
    git("update-ref", REF, whole, cwd=hub)
    record(cli, one, "record", "a.b", "add", "-r", "One.")
    assert said(cli, one, "sync")["sent"] == 1
    is_sound(git, cli, one)


def test_a_rewound_remote_stops_everything_and_says_what_is_gone(shared, hub, cli, git):
    one, two, ids = shared
    git("update-ref", REF, tip(git, hub) + "~2", cwd=hub)
    mine = record(cli, two, "record", "a.b", "add", "-r", "Mine.")
    before, there = state_of(git, two), tip(git, hub)
    for command in ("fetch", "push", "sync"):
        error = said(cli, two, command, code=31)
        assert "2 events" in error["message"] and ids[2][:8] in error["message"] and "users.c2" in error["message"]
        assert "--restore" in error["hint"] and mine[:8] not in error["message"]
    assert state_of(git, two) == before and tip(git, hub) == there
    answer = said(cli, two, "push", "--restore")
    assert answer["sent"] == 3 and tip(git, hub) == tip(git, two)
    assert {event["id"] for event in said(cli, two, "log")["events"]} == {*ids, mine}
    assert said(cli, one, "fetch")["received"] == 1


def test_a_remote_that_was_replaced_stops_and_the_union_is_pushed_when_asked(shared, hub, make_repo, cli, git):
    _one, two, ids = shared
    stranger = make_repo(name="stranger")
    theirs = record(cli, stranger, "record", "b.c", "add", "-r", "Other.")
    git("push", "--quiet", "--force", hub, REF, cwd=stranger)
    before = state_of(git, two)
    error = said(cli, two, "sync", code=31)
    assert "3 events" in error["message"]
    assert state_of(git, two) == before
    answer = said(cli, two, "sync", "--restore")
    assert (answer["received"], answer["sent"], answer["joined"]) == (1, 3, True)
    assert {event["id"] for event in said(cli, two, "log")["events"]} == {*ids, theirs}
    is_sound(git, cli, two)


def test_a_remote_whose_log_is_gone_stops_until_it_is_restored(shared, hub, cli, git):
    _one, two, _ids = shared
    git("update-ref", "-d", REF, cwd=hub)
    before = state_of(git, two)
    for command in ("fetch", "push", "sync"):
        assert "3 events" in said(cli, two, command, code=31)["message"]
    assert state_of(git, two) == before and tip(git, hub) == ""
    assert said(cli, two, "push", "--restore")["sent"] == 3
    assert tip(git, hub) == tip(git, two)


def test_a_secret_that_is_known_by_now_does_not_leave(shared, hub, cli, git):
    one, _, _ = shared
    bad = record(cli, one, "record", "a.b", "add", "-r", "The door opens with swordfish47114711.")
    (one / ".decisions.toml").write_text('[secrets.patterns]\n"door code" = "swordfish[0-9]{8}"\n')
    before, there = tip(git, one), tip(git, hub)
    done = cli("push", cwd=one)
    assert done.code == 15 and bad[:8] in done.stderr and "door code" in done.stderr and "reasoning" in done.stderr
    assert "swordfish4711" not in done.stderr + done.stdout and "redact" in done.stderr
    assert cli("push", "--dry-run", cwd=one).code == 15
    assert (tip(git, one), tip(git, hub)) == (before, there)
    assert cli("redact", bad, "-r", "It quoted the code.", cwd=one, tty=True).code == 0
    assert said(cli, one, "push")["sent"] >= 1 and found_in(git, hub, "swordfish4711") == []


@pytest.mark.parametrize("more", [False, True], ids=["just the log", "something besides"])
def test_a_pack_is_moved_as_it_came_where_it_holds_what_is_kept_and_nothing_besides(clones, cli, git, more):
    one, two = clones
    memory = Memory.open(str(one))
    for number in range(40):
        fields = {"entity_path": f"t.c{number}", "change_type": "add", "reasoning": "One of many."}
        memory.record(Draft("change", fields))
    memory.close()
    junk = git("hash-object", "-w", "--stdin", cwd=one, input="it merely came along")
    wanted = git("rev-list", "--objects", "--no-object-names", REF, cwd=one).split()
    packed = subprocess.run(
        ["git", "pack-objects", "--stdout", "-q"], cwd=one, capture_output=True, check=True,
        input="".join(f"{oid}\n" for oid in [*wanted, *([junk] if more else [])]).encode(),
    ).stdout  # fmt: skip
    store, before = two / ".git/objects/pack", objects_of(git, two)
    with Quarantine(locate(str(two))) as quarantine:
        there = {**os.environ, **quarantine.env}
        subprocess.run(["git", "index-pack", "--stdin"], cwd=two, input=packed, env=there, check=True, stdout=-3)
        (came,) = Path(quarantine.path).glob("pack/*.pack")
        quarantine.keep(tip(git, one), [], 41)
        assert came.exists() is more and (store / came.name).exists() is not more
    assert objects_of(git, two) == before | set(wanted)
    git("update-ref", REF, tip(git, one), cwd=two)
    is_sound(git, cli, two)


# --- redaction --------------------------------------------------------------------------------


@pytest.fixture
def leaked(shared, cli, git):
    """A secret that both clones and the hub have; (one, two, its id)."""
    one, two, _ = shared
    bad = record(cli, one, "reject", "users.card", "--approach", "keep it", "-r", f"It opens with {SECRET} only.")
    said(cli, one, "push")
    said(cli, two, "fetch")
    return one, two, bad


def redact(cli, repo: Path, event_id: str) -> None:
    assert cli("redact", event_id, "-r", "It quoted a password.", cwd=repo, tty=True).code == 0


def test_a_redaction_replaces_the_remotes_log_with_a_lease_and_the_other_clone_follows(leaked, hub, cli, git):
    one, two, bad = leaked
    mine = record(cli, two, "record", "a.b", "add", "-r", "Mine, not pushed yet.")
    redact(cli, one, bad)
    old = tip(git, hub)
    assert said(cli, one, "push", "--dry-run")["replaced"] and tip(git, hub) == old
    answer = said(cli, one, "push")
    assert answer["replaced"] and tip(git, hub) == tip(git, one)
    assert git.run("merge-base", "--is-ancestor", old, REF, cwd=hub, check=False).returncode != 0
    assert said(cli, two, "fetch", "--dry-run")["redacted"] == [bad] and found_in(git, two, SECRET)
    answer = said(cli, two, "sync", "--dry-run")
    assert [event["id"] for event in answer["events"]["sent"]] == [mine] and found_in(git, two, SECRET)
    answer = said(cli, two, "sync")
    assert answer["redacted"] == [bad] and not answer["replaced"] and answer["held"] == []
    assert said(cli, one, "sync")["received"] == 1
    for repo in (one, two):
        assert found_in(git, repo, SECRET) == []
        assert mine in {event["id"] for event in said(cli, repo, "log")["events"]}
        assert tip(git, repo) == tip(git, hub) == tip(git, repo, SEEN)
        is_sound(git, cli, repo)


def test_what_was_pushed_onto_the_old_log_meanwhile_survives_a_redaction(leaked, hub, cli, git):
    one, two, bad = leaked
    redact(cli, one, bad)
    theirs = record(cli, two, "record", "a.b", "add", "-r", "Pushed onto the old log.")
    said(cli, two, "push")
    answer = said(cli, one, "push")
    assert answer["replaced"] and answer["received"] == 1
    assert found_in(git, one, SECRET) == [] and not (one / ".git/gitmem/incoming").exists()
    assert said(cli, two, "fetch")["redacted"] == [bad]
    for repo in (one, two):
        assert theirs in {event["id"] for event in said(cli, repo, "log")["events"]}
        assert tip(git, repo) == tip(git, hub)
        is_sound(git, cli, repo)


def test_a_stale_clone_brings_nothing_back(leaked, hub, cli, git):
    one, two, bad = leaked
    redact(cli, one, bad)
    said(cli, one, "push")
    # A program that knows nothing of redactions: plain git refuses its push, its own join is a fast-forward.
    clean = tip(git, hub)
    refused = git.run("push", "--quiet", "origin", REF, cwd=two, check=False)
    assert refused.returncode != 0 and tip(git, hub) == clean
    git("fetch", "--quiet", hub, REF, cwd=two)
    program = "import sys\nfrom gitmem.memory import Memory\nMemory.open('.').join(sys.argv[1])\n"
    subprocess.run([sys.executable, "-c", program, clean], cwd=two, check=True)
    git("push", "--quiet", "origin", REF, cwd=two)
    assert found_in(git, hub, SECRET)
    # It comes through no fetch, and the next push takes it off the hub's log again.
    answer = said(cli, one, "sync")
    assert answer["replaced"] and found_in(git, one, SECRET) == []
    assert tip(git, hub) == tip(git, one)
    is_sound(git, cli, one)
    assert said(cli, two, "sync")["redacted"] == [bad]
    assert found_in(git, two, SECRET) == [] and tip(git, two) == tip(git, hub)
    is_sound(git, cli, two)


def test_a_new_clone_of_a_log_in_which_it_was_brought_back_takes_only_the_tombstone(leaked, hub, cli, git, tmp_path):
    one, two, bad = leaked
    redact(cli, one, bad)
    said(cli, one, "push")
    clean = tip(git, hub)
    git("fetch", "--quiet", hub, REF, cwd=two)
    program = "import sys\nfrom gitmem.memory import Memory\nMemory.open('.').join(sys.argv[1])\n"
    subprocess.run([sys.executable, "-c", program, clean], cwd=two, check=True)
    git("push", "--quiet", "origin", REF, cwd=two)
    git("clone", "--quiet", hub, "three", cwd=tmp_path)
    three = tmp_path / "three"
    said(cli, three, "fetch")
    assert found_in(git, three, SECRET) == []
    assert {event["id"] for event in said(cli, three, "log", "--all")["events"]} >= {bad}
    is_sound(git, cli, three)
    assert said(cli, three, "sync")["replaced"] and tip(git, hub) == tip(git, three)


def test_other_events_of_a_commit_come_though_one_of_them_was_redacted_here(clones, hub, make_repo, cli, git):
    one, two = clones
    lines, ids = [], []
    for n, text in enumerate([f"It opens with {SECRET} only.", "We greet people."]):
        source = make_repo(name=f"elsewhere{n}")
        ids.append(record(cli, source, "record", f"users.c{n}", "add", "-r", text))
        exported = cli("export", cwd=source).stdout
        lines.append(next(line for line in exported.splitlines(True) if "reasoning" in line))
    (bad, good), whole, part = ids, "".join(lines), lines[0]
    for repo, text in ((one, whole), (two, part)):
        (repo / "log.jsonl").write_text(text)
        assert cli("import", "jsonl", repo / "log.jsonl", cwd=repo, tty=True).code == 0
    assert len(git("ls-tree", REF, cwd=one).splitlines()) == 2
    assert cli("redact", bad, "-r", "It quoted a password.", cwd=two, tty=True).code == 0
    said(cli, one, "push")
    said(cli, two, "sync")
    assert good in [event["id"] for event in cli("log", "--json", cwd=two).json["events"]]
    assert found_in(git, two, SECRET) == []
    is_sound(git, cli, two)
    said(cli, one, "sync")
    assert tip(git, one) == tip(git, two) == tip(git, hub)
    is_sound(git, cli, one)


def test_a_sync_under_which_the_log_is_rewritten_begins_anew(leaked, hub, cli, git, monkeypatch):
    from gitmem.memory import Memory
    from gitmem.sync.remotes import Remote

    one, two, bad = leaked
    record(cli, two, "record", "a.b", "add", "-r", "Theirs.")
    assert said(cli, two, "sync")["sent"] == 1
    real, fetches = Remote.fetch, []

    def fetch(self, known, env):
        if not fetches:  # between the look at our log and the use of it
            redact(cli, one, bad)
        fetches.append(known)
        real(self, known, env)

    monkeypatch.setattr(Remote, "fetch", fetch)
    memory = Memory.open(str(one))
    done = memory.sync().done
    memory.close()
    assert len(fetches) > 1 and done.came == 1 and done.replaced
    assert tip(git, one) == tip(git, hub) and found_in(git, one, SECRET) == []
    is_sound(git, cli, one)


def test_a_redaction_is_not_forced_over_what_nobody_proved(leaked, hub, cli, git):
    one, _two, bad = leaked
    redact(cli, one, bad)
    there = tip(git, hub) + "~2"
    git("update-ref", REF, there, cwd=hub)
    there = tip(git, hub)
    assert said(cli, one, "push", code=31)
    assert tip(git, hub) == there


def test_what_is_pushed_at_the_very_moment_of_a_forced_push_is_not_lost(leaked, hub, cli, git, tmp_path):
    one, two, bad = leaked
    theirs = record(cli, two, "record", "a.b", "add", "-r", "Pushed while the other one pushed.")
    git("push", "--quiet", "origin", f"{REF}:refs/heads/waiting", cwd=two)
    redact(cli, one, bad)
    first = tmp_path / "first"
    moves = f"git --git-dir={hub} update-ref {REF} refs/heads/waiting"
    wrapped = script_at(
        tmp_path / "pack", f'[ -e {first} ] || {{ touch {first}; {moves}; }}; exec git-receive-pack "$@"'
    )
    git("config", "remote.origin.receivepack", wrapped, cwd=one)
    answer = said(cli, one, "push")
    assert first.exists() and answer["replaced"] and answer["received"] == 1
    assert theirs in {event["id"] for event in said(cli, one, "log")["events"]}
    assert tip(git, hub) == tip(git, one)
    is_sound(git, cli, one)


def test_a_quarantined_file_that_was_taken_out_over_there_goes_here_whatever_was_seen(shared, hub, cli, git):
    one, two, _ = shared
    blob = git("hash-object", "-w", "--stdin", cwd=one, input=f"no event, but {SECRET}")
    tree = git("mktree", cwd=one, input=f"100644 blob {blob}\t{'ab' * 32}.json\n")
    who = "gitmem <gitmem@gitmem.invalid> 0 +0000"
    text = f"tree {tree}\nparent {tip(git, one)}\nauthor {who}\ncommitter {who}\n\nx\n"
    git("update-ref", REF, git("hash-object", "-t", "commit", "-w", "--stdin", cwd=one, input=text), cwd=one)
    said(cli, one, "push")
    said(cli, two, "fetch")
    git("update-ref", "-d", SEEN, cwd=two)  # as if it had come another way
    mine = record(cli, two, "record", "a.b", "add", "-r", "Mine.")
    assert found_in(git, two, SECRET)
    redact(cli, one, "abab")
    assert said(cli, one, "push")["replaced"]
    assert said(cli, two, "sync")["redacted"] == ["ab" * 32]
    for repo in (one, two):
        assert found_in(git, repo, SECRET) == []
    assert mine in {event["id"] for event in said(cli, two, "log")["events"]}
    assert tip(git, two) == tip(git, hub)


# --- the network ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ssh", "words"),
    [
        ("echo 'git@example.org: Permission denied (publickey).' >&2; exit 255", "does not let you in"),
        ("echo 'ssh: Could not resolve hostname example.org: Name or service not known' >&2; exit 255", "reached"),
        ("echo 'ssh: connect to host example.org port 22: Connection refused' >&2; exit 255", "can't be reached"),
        ("echo 'Host key verification failed.' >&2; exit 255", "host key"),
        ("echo 'ERROR: Repository not found.' >&2; exit 1", "no repository"),
        ("sleep 30", "within 1 s"),
    ],
)
def test_what_goes_wrong_with_a_network_is_one_sentence_and_nothing_changed(shared, tmp_path, cli, git, ssh, words):
    one, _, _ = shared
    git("remote", "add", "far", "git@example.org:team/x.git", cwd=one)
    git("config", "decisions.timeout", "1", cwd=one)
    record(cli, one, "record", "a.b", "add", "-r", "Mine.")
    before = state_of(git, one)
    env = {"GIT_SSH_COMMAND": script_at(tmp_path / "ssh", ssh), "GIT_SSH_VARIANT": "ssh"}
    for command in ("fetch", "push", "sync"):
        done = cli(command, "far", cwd=one, env=env)
        assert done.code == 30 and done.stdout == ""
        lines = done.stderr.splitlines()
        assert lines[0].startswith("error: far ") and words in lines[0] and len(lines) == 2, done.stderr
        assert "nothing was changed" in lines[0] and lines[1].startswith("hint: ")
    assert state_of(git, one) == before
    assert said(cli, one, "sync")["sent"] == 1


def test_no_password_is_asked_for_where_nobody_would_see_it(shared, tmp_path, cli, git):
    one, _, _ = shared
    note = tmp_path / "asked"
    ssh = script_at(tmp_path / "ssh", f'echo "prompt=$GIT_TERMINAL_PROMPT" > {note}; exit 255')
    git("remote", "add", "far", "git@example.org:team/x.git", cwd=one)
    env = {"GIT_SSH_COMMAND": ssh, "GIT_SSH_VARIANT": "ssh", "GIT_TERMINAL_PROMPT": None}
    cli("fetch", "far", cwd=one, env=env)
    assert note.read_text() == "prompt=0\n"
    cli("fetch", "far", cwd=one, env=env, tty=True)
    assert note.read_text() == "prompt=1\n"
    cli("fetch", "far", cwd=one, env={**env, "GIT_TERMINAL_PROMPT": "0"}, tty=True)
    assert note.read_text() == "prompt=0\n"


def test_a_host_that_hides_the_ref_is_told_with_the_setting_to_try(clones, hub, cli, git):
    one, two = clones
    git("config", "receive.hideRefs", "refs/decisions", cwd=hub)
    record(cli, one, "record", "a.b", "add", "-r", "Mine.")
    before = state_of(git, one)
    error = said(cli, one, "push", code=32)
    assert "decisions.remoteRef" in error["hint"] and "origin" in error["message"] and REF in error["message"]
    assert said(cli, one, "push", "--probe", code=32)
    assert "--probe" not in cli("push", "--probe", cwd=two).stdout and tip(git, two) == ""  # asked, and nothing made
    assert state_of(git, one) == before
    git("config", "decisions.remoteRef", "refs/notes/decisions-log", cwd=one)
    assert said(cli, one, "push", "--probe")["taken"]
    assert git("for-each-ref", "refs/notes", "refs/decisions", cwd=hub) == ""
    assert said(cli, one, "push")["sent"] == 1
    assert tip(git, hub, "refs/notes/decisions-log") == tip(git, one)
    git("config", "decisions.origin.remoteRef", "refs/notes/decisions-log", cwd=two)
    assert said(cli, two, "fetch")["received"] == 1


def test_a_hook_of_the_host_is_quoted(clones, hub, cli, git):
    one, _ = clones
    script_at(hub / "hooks/pre-receive", "printf 'only on \\033[31mMondays\\n' >&2; exit 1")
    record(cli, one, "record", "a.b", "add", "-r", "Mine.")
    error = said(cli, one, "push", code=32)
    assert "only on [31mMondays" in error["hint"] and "\x1b" not in error["hint"] and tip(git, hub) == ""


# --- places -----------------------------------------------------------------------------------


def test_what_a_killed_fetch_left_is_removed_by_the_next_and_by_a_redaction(leaked, hub, cli, git):
    one, two, bad = leaked
    left = one / ".git/gitmem/incoming/999999999-00000000"
    left.mkdir(parents=True)
    (left / "x").write_text(SECRET)
    alive = one / f".git/gitmem/incoming/{os.getpid()}-00000000"
    alive.mkdir()
    built = one / ".git/gitmem/caching.999999999"  # of a first fetch, or of any process that built a cache
    built.write_text(SECRET)
    redact(cli, one, bad)
    assert not left.exists() and not built.exists() and alive.exists()
    left.mkdir()
    record(cli, two, "record", "a.b", "add", "-r", "Mine.")
    said(cli, two, "push")
    said(cli, one, "fetch")
    assert not left.exists() and alive.exists()


@pytest.mark.parametrize("kind", ["sha256", "reftable", "worktree", "submodule", "alternates", "shallow", "bare"])
def test_it_works_in_every_kind_of_repository(make_repo, cli, git, tmp_path, kind):
    repo = make_repo(kind, name="here")
    options = ("--object-format=sha256",) if kind == "sha256" else ()
    other = tmp_path / "other"
    for place, more in ((tmp_path / "hub", ("--bare",)), (other, ())):
        git("init", "--quiet", *more, *options, place, cwd=tmp_path)
    for place in (repo, other):
        known = "origin" in git("remote", cwd=place).split()
        # relative to the top of the work tree, as git has it; a submodule lies one deeper
        url = "../../hub" if kind == "submodule" and place == repo else "../hub"
        git("remote", "set-url" if known else "add", "origin", url, cwd=place)
    record(cli, other, "record", "users.email", "add", "-r", "There.")
    said(cli, other, "push")
    record(cli, repo, "record", "users.name", "add", "-r", "Here.")
    answer = said(cli, repo, "sync")
    assert (answer["received"], answer["sent"], answer["joined"]) == (1, 1, True)
    assert said(cli, other, "sync")["received"] == 1
    assert tip(git, repo) == tip(git, other)
    git("gc", "--quiet", "--prune=now", cwd=repo)
    for place in (repo, other):
        is_sound(git, cli, place)


def test_a_partial_clone_gets_the_whole_log(shared, hub, cli, git, tmp_path):
    _, _, ids = shared
    git("config", "uploadpack.allowFilter", "true", cwd=hub)
    git("clone", "--quiet", "--filter=blob:none", "--depth=1", hub.as_uri(), "partial", cwd=tmp_path)
    partial = tmp_path / "partial"
    assert said(cli, partial, "fetch")["received"] == 3
    assert [event["id"] for event in said(cli, partial, "log")["events"]] == ids[::-1]
    assert cli("verify", cwd=partial).code == 0


def test_in_a_hook_that_git_started_it_is_the_same_repository(shared, hub, cli, git):
    one, _, _ = shared
    record(cli, one, "record", "a.b", "add", "-r", "Mine.")
    script_at(one / ".git/hooks/post-commit", 'cd / && "$GITMEM" sync --json > "$OUT" 2>&1')
    out = one.parent / "out"
    from conftest import SCRIPTS

    env = {"GITMEM": str(SCRIPTS / "git-decisions"), "OUT": str(out), "GIT_DIR": str(one / ".git")}
    git("--work-tree", one, "commit", "--quiet", "--allow-empty", "-m", "x", cwd=one, env=env)
    assert '"sent": 2' in out.read_text() and tip(git, hub) == tip(git, one)  # and the link to that commit


def test_a_bare_clone_with_worktrees_is_one_repository(shared, hub, cli, git, tmp_path):
    git("clone", "--quiet", "--bare", hub, "base", cwd=tmp_path)
    git("worktree", "add", "--quiet", "-b", "side", tmp_path / "side", "main", cwd=tmp_path / "base")
    assert said(cli, tmp_path / "side", "fetch")["received"] == 3
    record(cli, tmp_path / "side", "record", "a.b", "add", "-r", "Mine.")
    assert said(cli, tmp_path / "base", "push")["sent"] == 1
    assert tip(git, tmp_path / "base") == tip(git, tmp_path / "side") == tip(git, hub)
    is_sound(git, cli, tmp_path / "side")


def test_a_sparse_checkout_with_a_sparse_index_makes_no_difference(shared, hub, cli, git):
    one, _, _ = shared
    (one / "deep/er").mkdir(parents=True)
    (one / "deep/er/file").write_text("x")
    git("add", "deep", cwd=one)
    git("commit", "--quiet", "-m", "Deep", cwd=one)
    git("sparse-checkout", "set", "--cone", "--sparse-index", "none", cwd=one)
    record(cli, one, "record", "a.b", "add", "-r", "Mine.")
    answer = said(cli, one, "sync")
    assert (answer["sent"], answer["linked"]) == (2, 1) and tip(git, hub) == tip(git, one)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to somebody else")
def test_somebody_elses_repository_is_read_where_git_reads_it(shared, hub, cli, git):
    one, _, _ = shared
    for place, _, files in os.walk(one):
        for name in (".", *files):
            os.chown(os.path.join(place, name), 12345, 12345, follow_symlinks=False)
    record_ = ("record", "a.b", "add", "-r", "Mine.")
    done = cli(*record_, cwd=one, env={"SUDO_UID": None})
    assert done.code == 30 and "safe.directory" in done.stderr
    trusted = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    assert cli(*record_, cwd=one, env=trusted).code == 0
    assert said(cli, one, "sync", env=trusted)["sent"] == 1
    assert tip(git, hub) == git("rev-parse", REF, cwd=one, env=trusted)


def test_two_formats_of_objects_are_told_apart(clones, hub, make_repo, cli, git):
    repo = make_repo("sha256", name="other-format")
    git("remote", "add", "origin", hub, cwd=repo)
    record(cli, clones[0], "record", "a.b", "add", "-r", "Mine.")
    said(cli, clones[0], "push")
    record(cli, repo, "record", "a.b", "add", "-r", "Mine.")
    before = state_of(git, repo)
    for command in ("fetch", "push"):
        assert "another hash" in said(cli, repo, command, code=30)["message"]
    assert state_of(git, repo) == before


# --- decisions that parted -------------------------------------------------------------------


@pytest.mark.parametrize("kept", ["closing", "opening"])
@pytest.mark.parametrize("first", [0, 1])
def test_one_rejects_the_other_adopts_both_offline_and_a_resolve_settles_it_on_both(
    kept, first, shared, cli, git, monkeypatch
):
    """In either order of syncing, with the clocks a day apart: contested on both, the same tip, explained, settled."""
    one, two, _ = shared
    way = ("--approach", "own table")
    closing = record(cli, one, "reject", "users.card", *way, "-r", "PCI.")
    tomorrow = time.time() + 86400  # a clock is what an event says; nothing is decided by it
    with monkeypatch.context() as patched:
        patched.setattr("gitmem.cases.desk.time.time", lambda: tomorrow)
        memory = Memory.open(str(two))
        fields = {"entity_path": "users.card", "change_type": "add", "approach": way[1], "reasoning": "Faster."}
        opening = memory.record(Draft("change", fields)).rows[0].event.id
        memory.close()
    order = [one, two] if first == 0 else [two, one]
    for repo in (*order, order[0]):
        said(cli, repo, "sync")
    assert tip(git, one) == tip(git, two)
    for repo in (one, two):
        (decision,) = said(cli, repo, "status", "users.card")["decisions"]
        assert (decision["verdict"], decision["standing"], decision["against"]) == ("contested", closing, [opening])
        (item,) = said(cli, repo, "review")["items"]
        assert item["why"] == "contested" and set(item["if_kept"]) == {closing, opening}
        text = cli("status", "users.card", cwd=repo).stdout + cli("review", cwd=repo).stdout
        assert "contested" in text and closing[:8] in text and opening[:8] in text
        assert f"git decisions resolve users.card --keep {closing[:8]}" in text
    settler, other = order
    keep = {"closing": closing, "opening": opening}[kept]
    said(cli, settler, "resolve", "users.card", "--keep", keep[:8], "-r", "We talked.", tty=True)
    said(cli, settler, "sync")
    said(cli, other, "sync")
    assert tip(git, one) == tip(git, two)
    for repo in (one, two):
        (decision,) = said(cli, repo, "status", "users.card")["decisions"]
        assert decision["verdict"] == {"closing": "rejected", "opening": "active"}[kept]
        assert said(cli, repo, "review")["items"] == []
        is_sound(git, cli, repo)


def test_signatures_and_an_accepted_file_travel_and_both_clones_say_the_same(shared, cli, git, tmp_path):
    one, two, _ = shared
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    (tmp_path / "allowed").write_text("ada@example.org " + (tmp_path / "key.pub").read_text())
    for repo in (one, two):
        git("config", "user.signingKey", tmp_path / "key", cwd=repo)
        git("config", "gpg.ssh.allowedSignersFile", tmp_path / "allowed", cwd=repo)
    signed = said(cli, one, "reject", "users.card", "-r", "PCI.", "--sign", tty=True)["events"][0]
    assert signed["signature"]["state"] == "good"
    said(cli, two, "record", "users.zip", "add", "-r", "Letters.", tty=True)
    for repo in (one, two, one):
        said(cli, repo, "sync")
    for repo in (one, two):
        assert said(cli, repo, "show", signed["id"])["event"]["signature"] == signed["signature"]
        assert said(cli, repo, "verify")["signatures"] == 1


# --- links, with a fetch ------------------------------------------------------------------------


@pytest.fixture
def squashed(shared, git, cli):
    """A decision whose branch was squashed by a forge: (one, its event, the squash merge), which `one` has fetched."""
    one, two, _ = shared
    git("checkout", "--quiet", "-b", "topic", cwd=one)
    event = record(cli, one, "record", "src.topic", "add", "-r", "For the topic.")
    for n in range(2):
        (one / f"topic{n}").write_text(f"{n}\n" * 5)
        git("add", "-A", cwd=one)
        git("commit", "--quiet", "-m", f"part {n}", cwd=one)
    assert cli("link", cwd=one).code == 0
    git("push", "--quiet", "origin", "topic", cwd=one)
    assert said(cli, one, "sync")["linked"] == 0
    git("fetch", "--quiet", cwd=two)  # what a forge does
    git("merge", "--quiet", "--squash", "origin/topic", cwd=two)
    git("commit", "--quiet", "-m", "All of it (#7)", cwd=two)
    git("push", "--quiet", "origin", "HEAD:main", cwd=two)
    git("fetch", "--quiet", cwd=one)
    return one, event, git("rev-parse", "HEAD", cwd=two)


def test_a_sync_looks_for_links_among_what_came_and_sends_them_along(squashed, shared, hub, cli, git):
    one, event, squash = squashed
    two = shared[1]
    before = tip(git, one)
    assert said(cli, one, "sync", "--dry-run")["linked"] is None and tip(git, one) == before
    done = said(cli, one, "sync")
    assert (done["linked"], done["sent"]) == (1, 1) and tip(git, one) == tip(git, hub) == done["tip"] != before
    assert said(cli, one, "sync")["linked"] == 0 and tip(git, one) == done["tip"]
    said(cli, two, "fetch")
    for repo in (one, two):
        assert squash in said(cli, repo, "show", event)["event"]["commits"]


@pytest.mark.parametrize("why", ["switched off", "in CI", "too much came", "by an automatic sync"])
def test_nobody_is_kept_waiting_by_a_scan_that_was_not_asked_for(squashed, cli, git, why):
    one, event, squash = squashed
    before, env, remarks = tip(git, one), {}, []
    if why == "switched off":
        git("config", "decisions.scan", "false", cwd=one)
    elif why == "in CI":
        env = {"CI": "true"}
    elif why == "too much came":
        tree, head = git("rev-parse", "HEAD^{tree}", cwd=one), git("rev-parse", "HEAD", cwd=one)
        lines = [f"commit refs/heads/busy\ncommitter A <a@example.org> {2_000_000_000 + n} +0000\ndata 1\nx"
                 + (f"\nfrom {head}" if n == 0 else "") for n in range(501)]  # fmt: skip
        git("fast-import", "--quiet", cwd=one, input="\n".join(lines) + "\n")
        assert git("rev-parse", "busy^{tree}", cwd=one) == tree
        remarks = ["more than 500 commits came since links were looked for: `git decisions link --scan`"]
    if why == "by an automatic sync":
        git("config", "decisions.autoSync", "true", cwd=one)
        assert cli("init", "--auto-sync", cwd=one).code == 0
        git("push", "--quiet", "origin", "HEAD:refs/heads/elsewhere", cwd=one)
    else:
        answer = said(cli, one, "fetch", env=env)
        assert answer["linked"] is None and answer["held"] == remarks
    assert tip(git, one) == before and squash not in said(cli, one, "show", event)["event"]["commits"]
    # What was left is found by the next one that may, or is asked to.
    git("config", "decisions.scan", "true", cwd=one)
    assert said(cli, one, "fetch")["linked"] == 1
    assert squash in said(cli, one, "show", event)["event"]["commits"]
