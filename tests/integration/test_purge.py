"""Purging: the old objects leave the store whatever they lie in, and nothing of the user's goes with them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from taken_out import REF, SECRET, found_in, is_sound, record


def dangling(git, repo: Path) -> list[str]:
    """A commit, its tree and a blob of the user's that nothing reaches."""
    blob = git("hash-object", "-w", "--stdin", cwd=repo, input="mine")
    tree = git("mktree", cwd=repo, input=f"100644 blob {blob}\tmine\n")
    commit = git("commit-tree", tree, "-m", "mine", cwd=repo)
    loose = git("hash-object", "-w", "--stdin", cwd=repo, input="mine as well")
    return [blob, tree, commit, loose]


def are_there(git, repo: Path, oids: list[str]) -> bool:
    out = git("cat-file", "--batch-check", cwd=repo, input="".join(f"{oid}\n" for oid in oids))
    return "missing" not in out


def redacted(cli, repo: Path, bad: str):
    done = cli("redact", bad, "-r", "x", "--json", cwd=repo, tty=True)
    assert done.code == 0, done.stderr
    return done.json


def test_packed_with_the_users_objects_it_goes_and_theirs_stay(log, cli, git):
    repo, bad = log
    mine = dangling(git, repo)
    # what nothing reaches is packed with all else, as a push or an old gc leaves it
    listed = git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)", cwd=repo)
    git("pack-objects", "-q", ".git/objects/pack/pack", cwd=repo, input=listed)
    git("prune-packed", cwd=repo)
    git("multi-pack-index", "write", cwd=repo)
    git("commit-graph", "write", "--reachable", cwd=repo)
    git("update-server-info", cwd=repo)
    assert are_there(git, repo, mine) and found_in(git, repo, SECRET)
    old = git("rev-list", REF, cwd=repo).split()
    answer = redacted(cli, repo, bad)
    assert answer["packs"] == 1 and answer["held"] == []
    assert found_in(git, repo, SECRET) == []
    assert are_there(git, repo, mine)
    assert not are_there(git, repo, old[:1])
    assert git.run("multi-pack-index", "verify", cwd=repo).returncode == 0
    assert git.run("commit-graph", "verify", cwd=repo).returncode == 0
    assert (repo / ".git/objects/info/commit-graph").exists()
    assert list((repo / ".git/objects/pack").glob("tmp_*")) == []
    is_sound(git, cli, repo)


def test_after_gc_with_everything_in_one_pack_and_a_bitmap(log, cli, git):
    repo, bad = log
    git("config", "repack.writeBitmaps", "true", cwd=repo)
    git("repack", "-adq", "--write-bitmap-index", cwd=repo)
    git("pack-refs", "--all", cwd=repo)
    answer = redacted(cli, repo, bad)
    assert answer["packs"] == 1 and found_in(git, repo, SECRET) == []
    is_sound(git, cli, repo)


def test_tracking_refs_move_to_their_counterparts_and_keep_no_old_log(log, cli, git):
    repo, bad = log
    git("config", "core.logAllRefUpdates", "always", cwd=repo)
    git("update-ref", "refs/decisions-remotes/origin/log", f"{REF}~1", cwd=repo)
    git("update-ref", "refs/decisions-remotes/early/log", f"{REF}~3", cwd=repo)
    early = git("rev-parse", "refs/decisions-remotes/early/log", cwd=repo)
    redacted(cli, repo, bad)
    assert found_in(git, repo, SECRET) == []
    assert git("rev-parse", "refs/decisions-remotes/early/log", cwd=repo) == early
    moved = git("rev-parse", "refs/decisions-remotes/origin/log", cwd=repo)
    assert moved in git("rev-list", REF, cwd=repo).split()
    is_sound(git, cli, repo)


def test_a_remote_that_we_never_joined_is_cleaned_as_well(log, cli, git):
    repo, bad = log
    clone = repo.parent / "clone"
    git("clone", "--quiet", repo, clone, cwd=repo.parent)
    git("fetch", "--quiet", "origin", f"{REF}:{REF}", cwd=clone)
    record(cli, clone, "record", "orders.total", "add", "-r", "Theirs.")
    git("fetch", "--quiet", clone, f"{REF}:refs/decisions-remotes/clone/log", cwd=repo)
    redacted(cli, repo, bad)
    assert found_in(git, repo, SECRET) == [] and found_in(git, repo, "Theirs.")
    # What was seen and never joined is a checkpoint that our log does not hold.
    done = cli("verify", "--json", cwd=repo)
    assert [finding["rule"] for finding in done.json["findings"]] == ["checkpoint"]
    git("update-ref", "-d", "refs/decisions-remotes/clone/log", cwd=repo)
    is_sound(git, cli, repo)


def test_what_holds_the_old_log_is_named_and_nothing_is_removed_until_it_lets_go(log, cli, git):
    repo, bad = log
    git("branch", "keep", REF, cwd=repo)
    answer = redacted(cli, repo, bad)
    assert answer["written"] and "refs/heads/keep" in answer["held"][0]
    assert found_in(git, repo, SECRET)
    assert cli("verify", cwd=repo).code == 0
    assert bad in cli("log", "--all", "--json", cwd=repo).stdout and SECRET not in cli("log", "--all", cwd=repo).stdout
    git("branch", "-D", "-q", "keep", cwd=repo)
    again = redacted(cli, repo, bad)
    assert not again["written"] and again["held"] == [] and again["objects"] > 0
    assert found_in(git, repo, SECRET) == []
    assert not (repo / ".git/gitmem/purge").exists()
    is_sound(git, cli, repo)


def test_a_worktree_that_stands_on_the_log_is_named(log, cli, git):
    repo, bad = log
    place = repo.parent / "side"
    git("worktree", "add", "--quiet", "--detach", place, REF, cwd=repo)
    answer = redacted(cli, repo, bad)
    assert str(place) in answer["held"][0] and found_in(git, repo, SECRET)
    git("checkout", "--quiet", "-B", "side", "main", cwd=place)
    # its reflog still reaches the old log
    answer = redacted(cli, repo, bad)
    assert "reflog" in answer["held"][0] and "worktrees" in answer["held"][0]
    git("reflog", "expire", "--expire=now", "--all", cwd=place)
    answer = redacted(cli, repo, bad)
    assert answer["held"] == [] and found_in(git, repo, SECRET) == []
    is_sound(git, cli, repo)


def test_rebuild_finishes_what_was_left_to_do(log, cli, git):
    repo, bad = log
    git("branch", "keep", REF, cwd=repo)
    redacted(cli, repo, bad)
    git("branch", "-D", "-q", "keep", cwd=repo)
    assert cli("rebuild", cwd=repo).code == 0
    assert found_in(git, repo, SECRET) == []


def test_precious_objects_a_kept_pack_and_an_alternate_are_named_and_left(log, make_repo, cli, git):
    repo, bad = log
    borrower = repo.parent / "borrower"
    git("clone", "--quiet", "--shared", repo, borrower, cwd=repo.parent)
    git("fetch", "--quiet", repo, f"{REF}:{REF}", cwd=borrower)
    answer = redacted(cli, borrower, bad)
    assert str(repo / ".git/objects") in answer["held"][0]
    assert cli("verify", cwd=borrower).code == 0

    git("repack", "-adq", cwd=repo)
    pack = next((repo / ".git/objects/pack").glob("*.pack"))
    pack.with_suffix(".keep").write_text("")
    answer = redacted(cli, repo, bad)
    assert ".keep" in answer["held"][0] and pack.exists()
    pack.with_suffix(".keep").unlink()

    git("config", "core.repositoryFormatVersion", "1", cwd=repo)
    git("config", "extensions.preciousObjects", "true", cwd=repo)
    answer = redacted(cli, repo, bad)
    assert "preciousObjects" in answer["held"][0] and pack.exists()
    git("config", "extensions.preciousObjects", "false", cwd=repo)
    assert redacted(cli, repo, bad)["held"] == []
    assert found_in(git, repo, SECRET) == []
    is_sound(git, cli, repo)


def test_what_is_left_to_remove_is_kept_in_mind_past_a_broken_pack_and_an_uninstall(log, cli, git):
    repo, bad = log
    empty = repo / ".git/objects/pack" / f"pack-{'a' * 40}.idx"  # as a crash leaves it
    empty.parent.mkdir(exist_ok=True)
    empty.touch()
    (held,) = redacted(cli, repo, bad)["held"]
    assert "not a pack index" in held and empty.name in held
    done = cli("uninstall", cwd=repo)
    assert done.code == 0 and "stays" in done.stdout + done.stderr and (repo / ".git/gitmem/purge").exists()
    empty.unlink()
    assert found_in(git, repo, SECRET)
    assert cli("uninstall", cwd=repo).code == 0
    assert found_in(git, repo, SECRET) == [] and not (repo / ".git/gitmem").exists()


def test_another_gc_is_waited_for_and_named(log, cli, git, monkeypatch):
    repo, bad = log
    import socket

    (repo / ".git/gc.pid").write_text(f"{os.getpid()} {socket.gethostname()}")
    code = (
        "import sys; from gitmem.sync import purge; purge.WAIT_S = 0.3; from gitmem.sync.redaction import Redactor\n"
        "from gitmem.cli.entry import main; sys.exit(main(sys.argv[1:]))"
    )
    done = on_a_terminal([sys.executable, "-c", code, "redact", bad, "-r", "x"], repo)
    assert "keeping house" in done, done
    assert found_in(git, repo, SECRET)
    (repo / ".git/gc.pid").write_text("999999999 " + socket.gethostname())  # it is gone
    assert redacted(cli, repo, bad)["held"] == []
    assert found_in(git, repo, SECRET) == []
    assert not (repo / ".git/gc.pid").exists()


def on_a_terminal(command: list[str], cwd: Path) -> str:
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, cwd=cwd, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    os.close(theirs)
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    return out.decode()


def test_fetch_head_and_orig_head_lose_the_old_tip(log, cli, git):
    repo, bad = log
    old = git("rev-parse", REF, cwd=repo)
    head = git("rev-parse", "HEAD", cwd=repo)
    (repo / ".git/FETCH_HEAD").write_text(f"{old}\tnot-for-merge\tthe log\n{head}\t\tbranch main\n")
    (repo / ".git/ORIG_HEAD").write_text(f"{old}\n")
    redacted(cli, repo, bad)
    assert (repo / ".git/FETCH_HEAD").read_text() == f"{head}\t\tbranch main\n"
    assert not (repo / ".git/ORIG_HEAD").exists()


def test_a_file_of_the_users_with_the_same_bytes_stays_and_is_named(log, cli, git):
    repo, bad = log
    text = git.run("cat-file", "blob", f"{REF}~1:{bad}.json", cwd=repo).stdout
    (repo / "export.json").write_bytes(text)
    git("add", "export.json", cwd=repo)
    answer = redacted(cli, repo, bad)
    assert "in use elsewhere" in answer["held"][0]
    assert git.run("cat-file", "blob", ":export.json", cwd=repo).stdout == text
    is_sound(git, cli, repo)


def test_a_dangling_tree_of_the_users_that_holds_it_keeps_it_and_is_named(log, cli, git):
    repo, bad = log
    blob = git("rev-parse", f"{REF}~1:{bad}.json", cwd=repo)
    tree = git("mktree", cwd=repo, input=f"100644 blob {blob}\tmine.txt\n")
    answer = redacted(cli, repo, bad)
    assert tree[:12] in answer["held"][0] and are_there(git, repo, [tree, blob])
    is_sound(git, cli, repo)


def test_what_lost_a_race_goes_with_what_was_written_in_its_place(log, cli, git):
    repo, bad = log
    # The same draft under another nonce, stored but never acknowledged, and a commit on top of the old tip.
    text = git.run("cat-file", "blob", f"{REF}~1:{bad}.json", cwd=repo).stdout.decode()
    at = text.index('"nonce":"') + 9
    import hashlib

    text = text[:at] + "0" * 32 + text[at + 32 :]
    name = hashlib.sha256(text.encode()).hexdigest()
    blob = git("hash-object", "-w", "--stdin", cwd=repo, input=text)
    tree = git("mktree", cwd=repo, input=f"100644 blob {blob}\t{name}.json\n")
    for parent in (f"{REF}~2", REF):
        git("commit-tree", tree, "-p", git("rev-parse", parent, cwd=repo), "-m", "lost", cwd=repo)
    assert redacted(cli, repo, bad)["held"] == []
    assert found_in(git, repo, SECRET) == []
    is_sound(git, cli, repo)


@pytest.mark.parametrize("kind", ["sha256", "worktree", "bare", "reftable"])
def test_in_every_kind_of_repository(make_repo, cli, git, kind):
    repo = make_repo(kind)
    common = Path(git("rev-parse", "--path-format=absolute", "--git-common-dir", cwd=repo))
    bad = record(cli, repo, "reject", "users.card", "--approach", "keep it here", "-r", f"It is {SECRET}.")
    record(cli, repo, "record", "users.name", "add", "-r", "We greet people.")
    git("gc", "--quiet", cwd=repo)
    holder = common.parent if common.name == ".git" else common
    assert found_in(git, holder, SECRET) != []
    assert redacted(cli, repo, bad)["held"] == []
    assert found_in(git, holder, SECRET) == []
    is_sound(git, cli, repo)


# --- killed on the way ------------------------------------------------------------------------

STEPS = {
    "before the ref moves": "plumbing_log.PlumbingLog._move",
    "before the tracking refs move": "redaction.move_tracking",
    "before the cache is built": "redaction.settle",
    "before objects go": "purge._purge",
    "between two packs": "purge._Store.replace",
    "before loose objects go": "purge._Store.remove_loose",
    "before the graph is written": "purge._Store.renew_indexes",
}


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_point_leaves_a_log_that_verifies_and_doing_it_again_finishes(log, cli, git, step):
    repo, bad = log
    mine = dangling(git, repo)
    git("repack", "-aq", cwd=repo)
    git("commit-graph", "write", "--reachable", cwd=repo)
    where = STEPS[step]
    code = (
        "import os, sys, signal\n"
        "from gitmem.store import plumbing_log\n"
        "from gitmem.sync import purge, redaction\n"
        "def end(*_, **__): os.kill(os.getpid(), signal.SIGKILL)\n"
        f"{where} = end\n"
        "from gitmem.cli.entry import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    tip = git("rev-parse", REF, cwd=repo)
    on_a_terminal([sys.executable, "-c", code, "redact", bad, "-r", "x"], repo)
    moved = git("rev-parse", REF, cwd=repo) != tip
    assert moved == (step != "before the ref moves")
    assert cli("verify", "--json", cwd=repo).json["findings"] == []
    assert (SECRET in cli("log", "--all", cwd=repo).stdout) == (not moved)
    redacted(cli, repo, bad)
    assert found_in(git, repo, SECRET) == [] and are_there(git, repo, mine)
    is_sound(git, cli, repo)


@pytest.mark.parametrize("packed", [False, True])
def test_earlier_notes_that_quote_the_reason_go_as_well(make_repo, cli, git, packed):
    repo = make_repo()
    assert cli("init", cwd=repo).code == 0
    bad = record(cli, repo, "record", "users.card", "add", "-r", f"It is {SECRET}.", "--commit", "HEAD")
    for number in range(3):  # each makes the note anew; the one before is left unreachable
        record(cli, repo, "record", f"users.c{number}", "add", "-r", f"Number {number}.", "--commit", "HEAD")
        if packed:
            git("repack", "-adkq", cwd=repo)
    mine = dangling(git, repo)
    notes = [place for place in found_in(git, repo, f"add users.card: It is {SECRET}.") if place.startswith("blob")]
    assert len(notes) == 4
    assert redacted(cli, repo, bad)["held"] == []
    assert found_in(git, repo, SECRET) == []
    assert "Number 1." in git("log", "-1", cwd=repo) and are_there(git, repo, mine)
    is_sound(git, cli, repo)


def test_notes_that_somebody_else_wrote_are_left_alone(make_repo, cli, git):
    repo = make_repo()
    git("notes", "--ref", "decisions", "add", "-m", "mine", "HEAD", cwd=repo)
    bad = record(cli, repo, "record", "users.card", "add", "-r", f"It is {SECRET}.", "--commit", "HEAD")
    assert redacted(cli, repo, bad)["held"] == []
    assert git("notes", "--ref", "decisions", "show", "HEAD", cwd=repo) == "mine"
    assert found_in(git, repo, SECRET) == []
