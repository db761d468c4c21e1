"""The notes ref: what plain `git log` shows, how it is written, and whose it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.core.events import Event
from gitmem.errors import GitFailed
from gitmem.store import notes_ref
from gitmem.store.repository import locate
from gitmem.sync import notes

REF = "refs/notes/decisions"
ID = "7f3a91c2" + "0" * 56


@pytest.fixture
def commit(git):
    """Commits a file `name`, and returns the new oid."""

    def make(repo: Path, name: str = "file", text: str = "") -> str:
        (repo / name).write_text(text or name)
        git("add", "-A", cwd=repo)
        git("commit", "--quiet", "--allow-empty", "-m", f"touch {name}", cwd=repo)
        return git("rev-parse", "HEAD", cwd=repo)

    return make


def shown(git, repo: Path) -> dict[str, str]:
    """What git itself finds: commit -> note, through `git notes`, whatever the layout."""
    listed = [line.split() for line in git("notes", f"--ref={REF}", "list", cwd=repo).splitlines()]
    return {commit: git("cat-file", "blob", blob, cwd=repo) + "\n" for blob, commit in listed}


def test_a_line_is_the_decision_its_reason_and_its_id():
    line = notes.line("reject", "users.card_token", "PCI scope\n\nand much more", ID)
    assert line == "reject users.card_token: PCI scope (7f3a91c2)"
    assert notes.line("add", "users", "", ID) == "add users (7f3a91c2)"


def test_a_long_reason_is_cut_and_one_of_72_characters_is_not():
    assert notes.line("add", "users", "x" * 72, ID) == f"add users: {'x' * 72} (7f3a91c2)"
    assert notes.line("add", "users", "x" * 73, ID) == f"add users: {'x' * 71}… (7f3a91c2)"


@pytest.mark.parametrize("odd", ["\x1b[31mred\x1b[0m", "a\u202eb", "a\u2028b", "a\tb\x00c", "\n\n  \nlate", "[/bold]"])
def test_no_reason_can_break_the_line_or_the_terminal(odd):
    line = notes.line("add", "users", odd, ID)
    assert line.isprintable() and line.startswith("add users: ") and line.endswith(" (7f3a91c2)")


def change(clock: int, entity: str, reason: str = "why") -> Event:
    fields = {"kind": "change", "clock": clock, "entity_path": entity, "change_type": "add", "reasoning": reason}
    return Event(f"{clock:08d}" + "0" * 56, fields)


def test_the_note_of_several_decisions_has_a_line_for_each_in_the_order_of_the_log():
    assert notes.text([change(2, "b", "x\n\ny"), change(1, "a")]) == "add a: why (00000001)\nadd b: x (00000002)\n"
    assert notes.text([]) == ""


def test_notes_are_written_where_a_pattern_of_the_users_shows_them(make_repo, git, cli, commit):
    repo = make_repo()
    git("config", "notes.displayRef", "refs/notes/*", cwd=repo)
    assert cli("init", cwd=repo).code == 0
    oid = commit(repo, "one")
    assert cli("record", "users.email", "add", "-r", "Login needs it.", "--commit", oid, cwd=repo).code == 0
    assert "Login needs it." in git("log", "-1", cwd=repo)


def test_a_redacted_decision_shows_no_reason():
    event = Event(ID, {"kind": "change", "clock": 1, "entity_path": "a", "change_type": "add"}, redacted="plain")
    assert notes.text([event]) == "add a: [redacted] (7f3a91c2)\n"


@pytest.mark.parametrize(
    ("config", "shown"),
    [((), False), (("notes.displayRef", REF), True), (("notes.displayRef", "refs/notes/*"), True),
     (("notes.displayRef", "refs/notes/commits"), False)],
)  # fmt: skip
def test_notes_are_shown_where_git_shows_them(make_repo, git, commit, config, shown):
    repo = make_repo()
    if config:
        git("config", *config, cwd=repo)
    repository = locate(str(repo))
    assert notes_ref.is_shown(repository) is shown
    notes.write(repository, {commit(repo): [change(1, "a")]})
    assert notes_ref.is_shown(repository) is shown  # that there are some asks for none


@pytest.mark.parametrize("kind", ["plain", "sha256", "reftable", "worktree", "submodule", "alternates"])
def test_git_log_shows_the_note_and_only_at_its_commit(make_repo, git, commit, kind):
    repo = make_repo(kind)
    first, second = commit(repo, "one"), commit(repo, "two")
    assert notes.write(locate(str(repo)), {first: "reject users: why (7f3a91c2)\n"}) == 1
    git("config", "--add", "notes.displayRef", REF, cwd=repo)
    assert "Notes (decisions):\n    reject users: why (7f3a91c2)" in git("log", "-1", first, cwd=repo)
    assert "Notes" not in git("log", "-1", second, cwd=repo)
    git("fsck", "--strict", cwd=repo)


def test_notes_are_written_in_a_bare_repository(make_repo, git):
    repo = make_repo("bare")
    tree = git("mktree", cwd=repo, input="")
    oid = git("commit-tree", "-m", "bare", tree, cwd=repo)
    assert notes.write(locate(str(repo)), {oid: "note\n"}) == 1
    assert shown(git, repo) == {oid: "note\n"}


def test_notes_written_one_by_one_and_all_at_once_are_the_same_commit(make_repo, git, commit):
    repo = make_repo()
    oids = [commit(repo, f"f{number}") for number in range(12)]
    repository = locate(str(repo))
    for number, oid in enumerate(oids):
        assert notes.write(repository, {oid: f"note {number}\n"}) == 1
    one_by_one = git("rev-parse", REF, cwd=repo)
    assert notes.rebuild(repository, {oid: f"note {number}\n" for number, oid in enumerate(oids)}) == 12
    assert git("rev-parse", REF, cwd=repo) == one_by_one
    git("update-ref", "-d", REF, cwd=repo)
    notes.rebuild(repository, {oids[number]: f"note {number}\n" for number in reversed(range(12))})
    assert git("rev-parse", REF, cwd=repo) == one_by_one
    assert git("rev-list", "--count", REF, cwd=repo) == "1"
    assert len(shown(git, repo)) == 12


def test_writing_the_same_note_again_moves_nothing(make_repo, git, commit):
    repo = make_repo()
    oid = commit(repo)
    repository = locate(str(repo))
    notes.write(repository, {oid: "a\n"})
    tip = git("rev-parse", REF, cwd=repo)
    assert notes.write(repository, {oid: "a\n"}) == 0
    assert git("rev-parse", REF, cwd=repo) == tip
    assert notes.write(repository, {oid: "b\n"}) == 1
    assert shown(git, repo) == {oid: "b\n"}


def test_an_empty_text_takes_a_note_away_and_without_any_the_ref_is_empty(make_repo, git, commit):
    repo = make_repo()
    first, second = commit(repo, "one"), commit(repo, "two")
    repository = locate(str(repo))
    notes.write(repository, {first: "a\n", second: "b\n"})
    assert notes.write(repository, {first: ""}) == 1
    assert shown(git, repo) == {second: "b\n"}
    assert notes.write(repository, {second: ""}) == 1
    assert shown(git, repo) == {}
    assert notes.write(repository, {second: ""}) == 0
    git("fsck", "--strict", cwd=repo)


def test_git_log_does_not_complain_of_a_ref_without_notes(make_repo, git):
    repo = make_repo()
    git("config", "notes.displayRef", REF, cwd=repo)
    assert b"invalid" in git.run("log", "-1", cwd=repo).stderr  # why the ref must be there
    assert notes.write(locate(str(repo)), {}) == 0
    assert git("for-each-ref", REF, cwd=repo) == ""
    assert notes.rebuild(locate(str(repo)), {}) == 0
    assert git.run("log", "-1", cwd=repo).stderr == b""


def test_commits_that_are_not_here_get_no_note_and_a_rebuild_drops_theirs(make_repo, git, commit):
    repo = make_repo()
    here = commit(repo)
    repository = locate(str(repo))
    blob = git("rev-parse", "HEAD:file", cwd=repo)
    elsewhere = "1" * 40
    assert notes.write(repository, {here: "a\n", elsewhere: "b\n", blob: "c\n", "main": "d\n", "": "e\n"}) == 1
    assert shown(git, repo) == {here: "a\n"}
    assert notes.rebuild(repository, {elsewhere: "b\n"}) == 0
    assert shown(git, repo) == {}


def test_no_other_ref_and_no_file_of_the_user_is_touched(make_repo, git, commit):
    repo = make_repo()
    oid = commit(repo)
    git("notes", "add", "-m", "my own", oid, cwd=repo)
    git("notes", "--ref=review", "add", "-m", "reviewed", oid, cwd=repo)
    before = git("for-each-ref", cwd=repo)
    notes.write(locate(str(repo)), {oid: "a\n"})
    assert [line for line in git("for-each-ref", cwd=repo).splitlines() if REF not in line] == before.splitlines()
    assert git("status", "--porcelain", cwd=repo) == ""
    git("config", "notes.displayRef", REF, cwd=repo)
    assert "my own" in git("log", "-1", cwd=repo) and "    a" in git("log", "-1", cwd=repo)


def test_what_the_notes_said_is_in_no_history_and_no_reflog(make_repo, git, commit):
    repo = make_repo()
    oid = commit(repo)
    repository = locate(str(repo))
    notes.write(repository, {oid: "a secret\n"})
    notes.write(repository, {oid: "[redacted]\n"})
    assert git("rev-list", "--count", REF, cwd=repo) == "1"
    assert git("reflog", "show", REF, cwd=repo) == ""
    git("-c", "gc.pruneExpire=now", "gc", "--quiet", "--prune=now", cwd=repo)
    secret = git("hash-object", "--stdin", cwd=repo, input="a secret\n")
    assert git.run("cat-file", "-e", secret, cwd=repo, check=False).returncode != 0


def test_a_ref_that_gitmem_did_not_write_is_left_alone_and_named(make_repo, git, commit):
    repo = make_repo()
    oid = commit(repo)
    git("notes", f"--ref={REF}", "add", "-m", "mine", oid, cwd=repo)
    tip = git("rev-parse", REF, cwd=repo)
    repository = locate(str(repo))
    for act in (notes.write, notes.rebuild):
        with pytest.raises(GitFailed, match="did not write"):
            act(repository, {oid: "a\n"})
    assert not notes.is_free(repository) and not notes_ref.drop(repository)
    assert git("rev-parse", REF, cwd=repo) == tip
    git("config", "decisions.notesRef", "gitmem", cwd=repo)
    assert notes.write(repository, {oid: "a\n"}) == 1
    assert git("notes", "--ref=gitmem", "show", oid, cwd=repo) == "a"


def test_a_ref_that_git_notes_laid_out_its_own_way_is_still_ours(make_repo, git, commit):
    repo = make_repo()
    first, second, third = (commit(repo, name) for name in ("one", "two", "three"))
    repository = locate(str(repo))
    notes.write(repository, {first: "a\n", second: "b\n"})
    git("notes", f"--ref={REF}", "add", "-m", "by hand", third, cwd=repo)
    assert notes.write(repository, {second: "c\n"}) == 1
    assert shown(git, repo) == {first: "a\n", second: "c\n", third: "by hand\n"}
    assert notes.rebuild(repository, {first: "a\n"}) == 1
    assert shown(git, repo) == {first: "a\n"}


def test_uninstalling_deletes_our_ref_once(make_repo, git, commit):
    repo = make_repo()
    oid = commit(repo)
    repository = locate(str(repo))
    assert not notes_ref.drop(repository)
    notes.write(repository, {oid: "a\n"})
    assert notes_ref.drop(repository) and not notes_ref.drop(repository)
    assert git("for-each-ref", "refs/notes", cwd=repo) == ""


@pytest.mark.parametrize(
    ("value", "full"),
    [("", REF), ("x", "refs/notes/x"), ("notes/x", "refs/notes/x"), ("refs/notes/x", "refs/notes/x")],
)
def test_the_ref_may_be_named_as_git_notes_takes_names(make_repo, git, value, full):
    repo = make_repo()
    if value:
        git("config", "decisions.notesRef", value, cwd=repo)
    assert notes_ref.name(locate(str(repo))) == full


def test_git_carries_our_note_over_an_amend_and_ours_still_wins(make_repo, git, commit):
    repo = make_repo()
    git("config", "notes.rewriteRef", "refs/notes/*", cwd=repo)
    oid = commit(repo)
    repository = locate(str(repo))
    notes.write(repository, {oid: "a\n"})
    git("commit", "--quiet", "--amend", "-m", "better", cwd=repo)
    new = git("rev-parse", "HEAD", cwd=repo)
    assert shown(git, repo)[new] == "a\n"
    notes.write(repository, {new: "b\n"})
    assert shown(git, repo)[new] == "b\n"


def test_many_writers_at_once_lose_no_note(make_repo, git, commit):
    repo = make_repo()
    oids = [commit(repo, f"f{number}") for number in range(8)]
    program = (
        "import sys; from gitmem.store.repository import locate; from gitmem.sync import notes\n"
        "repository = locate(sys.argv[1])\n"
        "for n in range(3): notes.write(repository, {sys.argv[2]: f'note {n}\\n'}, ref='refs/notes/decisions')"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, repo, oid], stderr=subprocess.PIPE) for oid in oids]
    assert [process.communicate()[1] for process in running] == [b""] * 8
    assert shown(git, repo) == dict.fromkeys(oids, "note 2\n")


@pytest.mark.parametrize("kind", ["plain", "sha256"])
def test_notes_of_many_commits_are_written_in_bulk(make_repo, git, kind):
    repo = make_repo(kind)
    stream = "".join(
        f"commit refs/heads/many\ncommitter A <a@example.org> {number} +0000\ndata 1\nx\n" for number in range(1, 3001)
    )
    git("fast-import", "--quiet", cwd=repo, input=stream)
    oids = git("rev-list", "many", cwd=repo).split()
    repository = locate(str(repo))
    assert notes.rebuild(repository, {oid: f"add users: {oid[:6]} (7f3a91c2)\n" for oid in oids}) == 3000
    assert git("notes", f"--ref={REF}", "show", oids[1234], cwd=repo) == f"add users: {oids[1234][:6]} (7f3a91c2)"
    assert notes.write(repository, {oids[5]: "changed\n"}) == 1
    listed = git("notes", f"--ref={REF}", "list", cwd=repo).splitlines()
    assert len(listed) == 3000
    assert int(git("count-objects", cwd=repo).split()[0]) < 20
    git("fsck", "--strict", cwd=repo)


def test_a_repository_that_can_not_be_written_says_so_and_keeps_its_notes(make_repo, git, commit):
    repo = make_repo()
    first, second = commit(repo, "one"), commit(repo, "two")
    repository = locate(str(repo))
    notes.write(repository, {first: "a\n"})
    (repo / ".git" / "refs" / "notes" / "decisions.lock").touch()
    with pytest.raises(GitFailed, match="no note was written"):
        notes.write(repository, {second: "b\n"})
    (repo / ".git" / "refs" / "notes" / "decisions.lock").unlink()
    assert shown(git, repo) == {first: "a\n"}
    assert notes.write(repository, {second: "b\n"}) == 1
