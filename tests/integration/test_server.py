"""The hooks of a server: its log grows or becomes a proven redaction of itself, and nothing else gets in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import ROOT, SCRIPTS
from taken_out import SECRET, is_sound, record
from travelling import REF, SEEN, said, script_at, tip

HOOKS = ROOT / "githooks" / "server"
NAMES = ("pre-receive", "update")


def guard(git, hub: Path, name: str) -> None:
    shutil.copy(HOOKS / name, hub / "hooks" / name)
    git("config", "decisions.command", SCRIPTS / "git-decisions", cwd=hub)


@pytest.fixture(params=NAMES)
def guarded(request, shared, hub, git):
    """Two clones that share three events, and the hub with one of the hooks."""
    guard(git, hub, request.param)
    one, two, ids = shared
    return one, two, ids


def refused(git, repo: Path, *refspecs: str, force: bool = False, env=None) -> str:
    """Push as plain git does, and be refused; what the server said."""
    words = ("push", "--quiet", *(("--force",) if force else ()), "origin", *refspecs)
    done = git.run(*words, cwd=repo, check=False, env=env)
    assert done.returncode != 0
    return done.stderr.decode()


def test_the_log_grows_by_pushes_and_code_is_none_of_its_business(guarded, hub, cli, git):
    one, two, _ = guarded
    record(cli, one, "record", "a.b", "add", "-r", "One.")
    assert said(cli, one, "push")["sent"] == 1
    record(cli, two, "record", "a.c", "add", "-r", "Two.")
    assert said(cli, two, "sync")["joined"]
    (one / "new").write_text("x\n")
    git("add", "new", cwd=one)
    git("commit", "--quiet", "-m", "New", cwd=one)
    git("push", "--quiet", "origin", "main", cwd=one)
    git("push", "--quiet", "--force", "origin", "main~1:refs/heads/main", cwd=one)
    assert tip(git, hub) == tip(git, two)
    is_sound(git, cli, hub)


def test_a_first_push_is_checked_as_well(make_repo, clones, hub, cli, git):
    guard(git, hub, "pre-receive")
    one, two = clones
    foreign = git("rev-parse", "main", cwd=one)
    assert "gitmem" in refused(git, one, f"{foreign}:{REF}") and tip(git, hub) == ""
    record(cli, two, "record", "a.b", "add", "-r", "One.")
    assert said(cli, two, "push")["sent"] == 1


def test_it_is_not_rewound_deleted_or_replaced_even_by_force(guarded, hub, make_repo, cli, git):
    one, _, _ = guarded
    whole = tip(git, hub)
    for refspecs in ((f"{whole}~1:{REF}",), (f":{REF}",)):
        assert "gitmem: refs/decisions/log: " in refused(git, one, *refspecs, force=True)
    stranger = make_repo(name="stranger")
    record(cli, stranger, "record", "b.c", "add", "-r", "Other.")
    git("remote", "add", "origin", hub, cwd=stranger)
    assert "would lose" in refused(git, stranger, REF, force=True)
    assert tip(git, hub) == whole


def test_nothing_unsound_gets_in(guarded, hub, cli, git):
    one, _, _ = guarded
    whole = tip(git, hub)
    foreign = git("commit-tree", git("mktree", cwd=one, input=""), "-p", whole, "-m", "hello", cwd=one)
    assert foreign[:12] in refused(git, one, f"{foreign}:{REF}")
    # A file that is no event, in a commit that is otherwise one.
    blob = git("hash-object", "-w", "--stdin", cwd=one, input="{}")
    tree = git("mktree", cwd=one, input=f"100644 blob {blob}\t{'ab' * 32}.json\n")
    who = "gitmem <gitmem@gitmem.invalid> 0 +0000"
    text = f"tree {tree}\nparent {whole}\nauthor {who}\ncommitter {who}\n\nx\n"
    bad = git("hash-object", "-t", "commit", "-w", "--stdin", cwd=one, input=text)
    assert "gitmem" in refused(git, one, f"{bad}:{REF}")
    # A tag of the very tip, through which git walks as if it were the tip.
    git("tag", "-a", "-m", "x", "log", whole, cwd=one)
    assert "a log ends in a commit" in refused(git, one, f"refs/tags/log:{REF}", force=True)
    assert tip(git, hub) == whole
    assert "nothing else is taken" in refused(git, one, f"{whole}:refs/decisions/other")
    assert said(cli, one, "push", "--probe")["taken"]


def test_one_bad_ref_of_a_push_does_not_let_the_others_of_pre_receive_in(shared, hub, cli, git):
    one, _, _ = shared
    guard(git, hub, "pre-receive")
    whole = tip(git, hub)
    refused(git, one, f"+{whole}~1:{REF}", "main:refs/heads/side")
    assert tip(git, hub, "refs/heads/side") == "" and tip(git, hub) == whole


def test_a_proven_redaction_gets_in_and_what_it_took_out_does_not_come_back(guarded, hub, cli, git):
    one, two, _ = guarded
    bad = record(cli, one, "reject", "users.card", "--approach", "keep it", "-r", f"It opens with {SECRET} only.")
    said(cli, one, "push")
    said(cli, two, "fetch")
    old = tip(git, hub)
    assert cli("redact", bad, "-r", "It quoted a password.", cwd=one, tty=True).code == 0
    assert said(cli, one, "push")["replaced"]
    assert tip(git, hub) == tip(git, one)
    # The stale clone: by force, and by the join of a tool that knows nothing of redactions.
    assert "gitmem" in refused(git, two, f"{old}:{REF}", force=True)
    git("fetch", "--quiet", hub, REF, cwd=two)
    import subprocess
    import sys

    program = "import sys\nfrom gitmem.memory import Memory\nMemory.open('.').join(sys.argv[1])\n"
    subprocess.run([sys.executable, "-c", program, tip(git, hub)], cwd=two, check=True)
    assert "redacted" in refused(git, two, REF)
    assert tip(git, hub) == tip(git, one)
    assert said(cli, two, "sync")["redacted"] == [bad] and tip(git, hub) == tip(git, two)


def test_a_tombstone_that_nobody_answers_for_does_not_get_in(guarded, hub, cli, git):
    from taken_out import forged

    one, _, ids = guarded
    whole = tip(git, hub)
    forged(one, ids[1], git)
    assert "tombstone" in refused(git, one, REF, force=True)
    assert tip(git, hub) == whole


def test_where_gitmem_is_missing_decisions_are_refused_and_nothing_else(guarded, hub, cli, git):
    one, _, _ = guarded
    record(cli, one, "record", "a.b", "add", "-r", "One.")
    whole = tip(git, hub)
    for command in ("/nowhere/git-decisions", script_at(hub / "broken", "exit 70")):
        git("config", "decisions.command", command, cwd=hub)
        refused(git, one, REF)
        assert tip(git, hub) == whole
        git("push", "--quiet", "origin", f"main:refs/heads/{Path(command).parent.name}", cwd=one)
    git("config", "decisions.command", SCRIPTS / "git-decisions", cwd=hub)
    git("push", "--quiet", "origin", REF, cwd=one)


def test_gitlab_shows_what_it_says_to_the_user(guarded, hub, git):
    one, _, _ = guarded
    said = refused(git, one, f":{REF}", force=True, env={"GL_ID": "key-1"})
    assert "GL-HOOK-ERR: gitmem: " in said
    assert "GL-HOOK-ERR" not in refused(git, one, f":{REF}", force=True)


def test_another_name_of_the_log_is_kept_by_the_same_rules(shared, hub, cli, git):
    one, _, _ = shared
    guard(git, hub, "pre-receive")
    for repo in (one, hub):
        git("config", "decisions.remoteRef", "refs/heads/decisions", cwd=repo)
    git("update-ref", "-d", REF, cwd=hub)
    git("update-ref", "-d", SEEN, cwd=one)
    assert said(cli, one, "push")["sent"] == 3
    whole = tip(git, hub, "refs/heads/decisions")
    assert "gitmem" in refused(git, one, f"{whole}~1:refs/heads/decisions", force=True)
    record(cli, one, "record", "a.b", "add", "-r", "One.")
    assert said(cli, one, "push")["sent"] == 1
