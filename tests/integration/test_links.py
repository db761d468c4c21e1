"""Which commit an event belongs to: by ancestry and branch, in real repositories."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from gitmem.core import events
from gitmem.core.drafts import Draft
from gitmem.store.repository import Repository, locate
from gitmem.sync import commits, heads, links

ADA = "Ada Lovelace <ada@example.org>"


def event_id(number: int) -> str:
    return f"{number:064x}"


class Recorder:
    """Stands for the log: remembers what was recorded on which base, and which links were drafted."""

    def __init__(self) -> None:
        self.waiting: dict[str, links.Unlinked] = {}
        self.links: list[Draft] = []
        self.entities: dict[str, list[str]] = {}

    def record(self, repo: Path, entity: str = "users", author: str = ADA) -> str:
        new = event_id(len(self.waiting) + len(self.links) + 1 + 100 * len(self.entities))
        base = heads.base_of(locate(str(repo)))
        self.waiting[new] = links.Unlinked(new, entity, base, "2026-11-30T12:00:00.000000Z", author)
        self.entities.setdefault(entity, []).append(new)
        return new

    def known(self, name: str) -> list[str]:
        return self.entities.get(name, [])

    def linked(self, commit: str) -> set[str]:
        return {
            target for draft in self.links if draft.fields["commit"] == commit for target in draft.fields["targets"]
        }

    def take(self, repository: Repository, wanted: Iterable[links.Wanted]) -> dict[str, tuple[str, str]]:
        """Put the links into the log; returns event -> (commit, how)."""
        found = {}
        for draft in links.drafts(repository, wanted, self.known):
            assert draft.kind == "link"
            fields = {
                "v": 1, "clock": 1, "nonce": "0" * 32, "recorded_at": "2026-11-30T12:00:00.000000Z", "author": ADA,
                "after": [], "scope": "", "channel": "hook", "basis": "none", "tool": "gitmem test", "kind": "link",
            }  # fmt: skip
            events.build({**fields, **draft.fields})  # each draft makes an event of the format
            self.links.append(draft)
            for target in draft.fields["targets"]:
                self.waiting.pop(target, None)
                found[target] = (draft.fields["commit"], draft.fields["how"])
        return found

    def after_commit(self, repo: Path) -> dict[str, tuple[str, str]]:
        repository = locate(str(repo))
        return self.take(repository, links.after_commit(repository, self.waiting.values(), linked=self.linked))

    def after_rewrite(self, repo: Path, pairs: list[tuple[str, str]], how: str) -> dict[str, tuple[str, str]]:
        waiting = list(self.waiting.values())
        at = locate(str(repo))
        return self.take(at, links.after_rewrite(at, pairs, how, self.linked, waiting))

    def scan(self, repo: Path, since: str = "") -> dict[str, tuple[str, str]]:
        waiting = list(self.waiting.values())
        at = locate(str(repo))
        return self.take(at, links.scan(at, waiting, self.known, linked=self.linked, since=since))


@pytest.fixture
def log() -> Recorder:
    return Recorder()


@pytest.fixture
def commit(git):
    def make(repo: Path, name: str = "file", text: str = "", *options: str) -> str:
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        with (repo / name).open("a") as file:
            file.write((text or f"{name} {len(git('rev-list', '--all', cwd=repo))}") + "\n")
        git("add", "-A", cwd=repo)
        git("commit", "--quiet", "-m", f"touch {name}", *options, cwd=repo)
        return git("rev-parse", "HEAD", cwd=repo)

    return make


def at(repo: Path) -> Repository:
    return locate(str(repo))


# --- the base ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "sha256", "reftable", "worktree", "alternates", "shallow"])
def test_the_base_is_the_commit_and_the_branch(make_repo, git, kind):
    repo = make_repo(kind)
    branch = "side" if kind == "worktree" else "main"
    assert heads.base_of(at(repo)) == {"commit": git("rev-parse", "HEAD", cwd=repo), "branch": branch}


@pytest.mark.parametrize("kind", ["empty", "bare"])
def test_the_base_on_an_unborn_branch_is_the_branch_alone(make_repo, kind):
    assert heads.base_of(at(make_repo(kind))) == {"branch": "main"}


def test_the_base_on_a_detached_head_names_the_worktree(make_repo, git):
    repo = make_repo("worktree")
    git("checkout", "--quiet", "--detach", cwd=repo)
    base = heads.base_of(at(repo))
    assert base == {"commit": git("rev-parse", "HEAD", cwd=repo), "worktree": heads.worktree_id(at(repo).git_dir)}
    assert len(base["worktree"]) == 12
    main = Path(f"{repo}-main")
    git("checkout", "--quiet", "--detach", cwd=main)
    assert heads.base_of(at(main))["worktree"] != base["worktree"]


def test_the_base_is_right_where_names_are_odd(make_repo, git):
    repo = make_repo()
    oid = git("rev-parse", "HEAD", cwd=repo)
    for branch in ("feature/a", oid, "HEAD", "mañana"):
        git("update-ref", f"refs/heads/{branch}", oid, cwd=repo)
        git("symbolic-ref", "HEAD", f"refs/heads/{branch}", cwd=repo)
        (repo / "HEAD").write_text("a file of that name")
        assert heads.base_of(at(repo)) == {"commit": oid, "branch": branch}


# --- after a commit ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "sha256", "reftable", "worktree", "submodule", "shallow"])
def test_the_next_commit_on_the_base_takes_the_event(make_repo, git, commit, log, kind):
    repo = make_repo(kind)
    if kind == "submodule":
        git("checkout", "--quiet", "-B", "main", cwd=repo)
    event = log.record(repo)
    made = commit(repo)
    assert log.after_commit(repo) == {event: (made, "post-commit")}
    fields = log.links[0].fields
    assert fields["tree"] == git("rev-parse", "HEAD^{tree}", cwd=repo)
    diff = git("diff-tree", "-p", "HEAD", cwd=repo) + "\n"
    assert fields["patch_id"] == git("patch-id", "--stable", cwd=repo, input=diff).split()[0]


def test_asked_again_the_same_commit_gives_no_second_link(make_repo, commit, log):
    repo = make_repo()
    log.record(repo)
    commit(repo)
    assert log.after_commit(repo)
    assert log.after_commit(repo) == {} and log.scan(repo) == {}


def test_the_root_commit_takes_what_was_recorded_before_there_was_any(make_repo, commit, log):
    repo = make_repo("empty")
    event = log.record(repo)
    made = commit(repo)
    assert log.after_commit(repo) == {event: (made, "post-commit")}
    later = log.record(repo)
    assert log.after_commit(repo) == {}
    assert log.after_commit(repo) == {} and later in log.waiting


def test_an_event_that_is_an_hour_and_a_commit_old_is_not_given_to_the_next_commit(make_repo, commit, log):
    repo = make_repo()
    old = log.record(repo)
    first = commit(repo)  # no hook ran
    new = log.record(repo)
    second = commit(repo)
    assert log.after_commit(repo) == {new: (second, "post-commit")}
    assert log.scan(repo) == {old: (first, "post-commit")}


def test_two_worktrees_at_one_commit_do_not_take_each_others_events(make_repo, git, commit, log):
    here = make_repo()
    there = here.parent / "there"
    git("worktree", "add", "--quiet", "-b", "other", there, cwd=here)
    mine, theirs = log.record(here), log.record(there)
    made_there = commit(there, "b")
    assert log.after_commit(there) == {theirs: (made_there, "post-commit")}
    made_here = commit(here, "a")
    assert log.after_commit(here) == {mine: (made_here, "post-commit")}


def test_two_detached_worktrees_at_one_commit_do_not_take_each_others_events(make_repo, git, commit, log):
    here = make_repo()
    there = here.parent / "there"
    git("worktree", "add", "--quiet", "--detach", there, cwd=here)
    git("checkout", "--quiet", "--detach", cwd=here)
    mine, theirs = log.record(here), log.record(there)
    made_there = commit(there, "b")
    assert log.after_commit(there) == {theirs: (made_there, "post-commit")}
    made_here = commit(here, "a")
    assert log.after_commit(here) == {mine: (made_here, "post-commit")}


def test_an_event_of_another_branch_stays_with_that_branch(make_repo, git, commit, log):
    repo = make_repo()
    event = log.record(repo)
    git("checkout", "--quiet", "-b", "other", cwd=repo)
    commit(repo, "b")
    assert log.after_commit(repo) == {} and log.scan(repo) == {}
    git("checkout", "--quiet", "main", cwd=repo)
    made = commit(repo, "a")
    assert log.after_commit(repo) == {event: (made, "post-commit")}


@pytest.mark.parametrize("sign", heads.BUSY)
def test_nothing_is_linked_while_git_moves_commits_around(make_repo, commit, log, sign):
    repo = make_repo()
    event = log.record(repo)
    made = commit(repo)
    (repo / ".git" / sign).mkdir()
    assert log.after_commit(repo) == {}
    assert heads.busy(at(repo).git_dir) == sign
    (repo / ".git" / sign).rmdir()
    assert log.after_commit(repo) == {event: (made, "post-commit")}


def test_thousands_of_events_make_links_of_bounded_size(make_repo, commit, log):
    repo = make_repo()
    recorded = {log.record(repo, f"t{number}") for number in range(2500)}
    commit(repo)
    wanted = links.after_commit(at(repo), log.waiting.values(), linked=log.linked)
    drafts = links.drafts(at(repo), wanted, log.known)
    assert [len(draft.fields["targets"]) for draft in drafts] == [1000, 1000, 500]
    assert log.take(at(repo), wanted).keys() == recorded


# --- renames ----------------------------------------------------------------------------------

LINES = "".join(f"line {number}\n" for number in range(40))


def test_a_link_carries_the_files_that_its_commit_moved(make_repo, git, commit, log):
    repo = make_repo()
    commit(repo, "src/a.py", LINES)
    event = log.record(repo)
    git("mv", "src/a.py", "lib.py", cwd=repo)
    commit(repo)
    assert log.after_commit(repo).keys() == {event}
    assert log.links[0].fields["renames"] == [["src/a.py", "lib.py"]]


def test_a_commit_without_events_is_linked_where_it_moves_a_file_that_the_log_knows(make_repo, git, commit, log):
    repo = make_repo()
    commit(repo, "known.py", LINES)
    commit(repo, "unknown.py", LINES[::-1])
    event = log.record(repo, "known.py")
    first = commit(repo, "else")
    assert log.after_commit(repo) == {event: (first, "post-commit")}
    git("mv", "unknown.py", "unknown2.py", cwd=repo)
    commit(repo)
    assert log.after_commit(repo) == {}
    git("mv", "known.py", "moved.py", cwd=repo)
    moved = commit(repo)
    assert log.after_commit(repo) == {event: (moved, "post-commit")}
    assert log.links[-1].fields["renames"] == [["known.py", "moved.py"]]
    assert log.after_commit(repo) == {}


def test_a_scan_follows_moved_files_too_and_finds_each_once(make_repo, git, commit, log):
    repo = make_repo()
    base = commit(repo, "known.py", LINES)
    event = log.record(repo, "known.py")
    commit(repo, "else")
    log.after_commit(repo)
    git("mv", "known.py", "moved.py", cwd=repo)
    moved = commit(repo)
    commit(repo, "later")
    assert log.scan(repo) == {}
    assert log.scan(repo, since=base) == {event: (moved, "post-commit")}
    assert log.scan(repo, since=base) == {}


def test_a_file_that_is_mostly_another_one_is_not_a_rename(make_repo, git, commit):
    repo = make_repo()
    commit(repo, "a.py", LINES)
    git("rm", "--quiet", "a.py", cwd=repo)
    half = "".join(LINES.splitlines(keepends=True)[:20]) + "".join(f"other {number}\n" for number in range(20))
    made = commit(repo, "b.py", half)
    assert commits.renames(at(repo), made) == []
    git("mv", "b.py", "c.py", cwd=repo)
    made = commit(repo, "else")
    assert commits.renames(at(repo), made) == [["b.py", "c.py"]]


def test_moved_names_that_can_not_be_entities_are_left_out(make_repo, git, commit):
    repo = make_repo()
    odd = [b"bad\xff.py", b"bell\x07.py", "a\u202eb.py".encode()]
    for number, name in enumerate([b"good.py", *odd]):
        (repo.joinpath(name.decode("utf-8", "surrogateescape"))).write_text(f"{number} {number * 77}\n" * 30)
    git("add", "-A", cwd=repo)
    git("commit", "--quiet", "-m", "odd names", cwd=repo)
    for number, name in enumerate([b"good.py", *odd]):
        (repo / name.decode("utf-8", "surrogateescape")).rename(repo / f"new{number}.py")
    made = commit(repo, "else")
    assert commits.renames(at(repo), made) == [["good.py", "new0.py"]]


def test_a_commit_that_moves_a_whole_tree_carries_a_bounded_list_with_the_known_ones_in_it(make_repo, git, commit, log):
    repo = make_repo()
    (repo / "old").mkdir()
    for number in range(700):
        (repo / "old" / f"{number:03}.py").write_text(f"content of {number}\n")
    commit(repo)
    event = log.record(repo, "old/699.py")
    git("mv", "old", "new", cwd=repo)
    made = commit(repo)
    assert log.after_commit(repo) == {event: (made, "post-commit")}
    pairs = log.links[0].fields["renames"]
    assert len(pairs) == commits.RENAMES_MAX and ["old/699.py", "new/699.py"] in pairs


# --- amend and rebase -------------------------------------------------------------------------


def test_an_amended_commit_takes_what_was_linked_to_it_and_what_was_recorded_on_it(make_repo, git, commit, log):
    repo = make_repo()
    before = log.record(repo)
    old = commit(repo)
    log.after_commit(repo)
    after = log.record(repo)
    new = commit(repo, "more", "", "--amend")
    assert log.after_commit(repo) == {after: (new, "amend")}  # post-commit runs first
    assert log.after_rewrite(repo, [(old, new)], "amend") == {before: (new, "amend")}
    assert log.links[-1].fields["replaces"] == [old]
    assert log.after_rewrite(repo, [(old, new)], "amend") == {}


def test_post_rewrite_alone_finds_the_same(make_repo, commit, log):
    repo = make_repo()
    before = log.record(repo)
    old = commit(repo)
    log.after_commit(repo)
    after = log.record(repo)
    new = commit(repo, "more", "", "--amend")
    assert log.after_rewrite(repo, [(old, new)], "amend") == {before: (new, "amend"), after: (new, "amend")}


def test_an_amend_in_one_worktree_takes_nothing_of_another_on_the_same_commit(make_repo, git, commit, log):
    here = make_repo()
    old = commit(here)
    there = here.parent / "there"
    git("worktree", "add", "--quiet", "-b", "other", there, cwd=here)
    theirs = log.record(there)
    new = commit(here, "more", "", "--amend")
    assert log.after_commit(here) == {} and log.after_rewrite(here, [(old, new)], "amend") == {}
    made = commit(there, "b")
    assert log.after_commit(there) == {theirs: (made, "post-commit")}


def test_a_rebase_carries_links_over_and_many_commits_squashed_into_one_give_one_link(make_repo, git, commit, log):
    repo = make_repo()
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    recorded = []
    for name in ("a", "b"):
        recorded.append(log.record(repo))
        commit(repo, name)
        log.after_commit(repo)
    olds = git("rev-list", "main..topic", cwd=repo).split()
    git("checkout", "--quiet", "main", cwd=repo)
    commit(repo, "other")
    git("checkout", "--quiet", "topic", cwd=repo)
    git("rebase", "--quiet", "main", cwd=repo)
    news = git("rev-list", "main..topic", cwd=repo).split()
    found = log.after_rewrite(repo, list(zip(olds, news, strict=True)), "rebase")
    assert found == {recorded[1]: (news[0], "rebase"), recorded[0]: (news[1], "rebase")}
    git("reset", "--quiet", "--soft", "main", cwd=repo)
    squashed = commit(repo, "c")
    found = log.after_rewrite(repo, [(news[0], squashed), (news[1], squashed)], "rebase")
    assert found == dict.fromkeys(recorded, (squashed, "rebase"))
    assert log.links[-1].fields["replaces"] == sorted(news)


# --- the scan ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "sha256", "worktree", "shallow", "empty"])
def test_a_scan_finds_what_the_hook_would_have(make_repo, commit, log, kind):
    repo = make_repo(kind)
    expected = {}
    for name in ("a", "b", "c"):
        event = log.record(repo)
        expected[event] = (commit(repo, name), "post-commit")
    waiting = log.record(repo)
    assert log.scan(repo) == expected
    assert list(log.waiting) == [waiting]


def test_a_scan_looks_at_every_branch_and_worktree(make_repo, git, commit, log):
    repo = make_repo()
    there = repo.parent / "there"
    git("worktree", "add", "--quiet", "--detach", there, cwd=repo)
    expected = {}
    event = log.record(there)
    expected[event] = (commit(there, "a"), "post-commit")
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    event = log.record(repo)
    expected[event] = (commit(repo, "b"), "post-commit")
    git("checkout", "--quiet", "main", cwd=repo)
    event = log.record(repo)
    expected[event] = (commit(repo, "c"), "post-commit")
    gone = log.record(repo)
    git("checkout", "--quiet", "-b", "elsewhere", cwd=repo)
    assert log.scan(repo) == expected
    assert list(log.waiting) == [gone]


def test_a_scan_follows_an_amend(make_repo, commit, log):
    repo = make_repo()
    first = log.record(repo)
    commit(repo)
    second = log.record(repo)
    commit(repo, "more", "", "--amend")
    new = commit(repo, "most", "", "--amend")
    assert log.scan(repo) == {first: (new, "post-commit"), second: (new, "amend")}


def test_a_scan_carries_links_over_an_amend_that_no_hook_saw(make_repo, commit, log):
    repo = make_repo()
    event = log.record(repo)
    old = commit(repo)
    log.after_commit(repo)
    new = commit(repo, "more", "", "--amend")
    assert log.scan(repo) == {event: (new, "amend")}
    assert log.links[-1].fields["replaces"] == [old]
    assert log.scan(repo) == {}


def test_a_scan_takes_the_merge_that_was_made_here(make_repo, git, commit, log):
    repo = make_repo()
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    commit(repo, "b")
    git("checkout", "--quiet", "main", cwd=repo)
    event = log.record(repo)
    git("merge", "--quiet", "--no-ff", "-m", "merge", "topic", cwd=repo)
    assert log.scan(repo) == {event: (git("rev-parse", "HEAD", cwd=repo), "post-commit")}


@pytest.mark.parametrize("number", [1, 2])
def test_a_scan_never_takes_a_commit_that_came_by_a_fast_forward(make_repo, git, commit, log, number):
    repo = make_repo()
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    for count in range(number):
        commit(repo, f"b{count}")
    git("checkout", "--quiet", "main", cwd=repo)
    event = log.record(repo)
    git("merge", "--quiet", "--ff-only", "topic", cwd=repo)
    commit(repo, "c")
    assert log.scan(repo) == {} and event in log.waiting


def test_a_scan_never_takes_a_cherry_picked_commit(make_repo, git, commit, log):
    repo = make_repo()
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    picked = commit(repo, "b")
    git("checkout", "--quiet", "main", cwd=repo)
    event = log.record(repo)
    git("cherry-pick", picked, cwd=repo, env={"GIT_COMMITTER_DATE": "2027-01-01T00:00:00Z"})
    assert git("rev-parse", "HEAD", cwd=repo) != picked
    assert log.scan(repo) == {} and event in log.waiting
    made = log.record(repo)
    reverted = git("revert", "--no-edit", "HEAD", cwd=repo) and git("rev-parse", "HEAD", cwd=repo)
    assert log.scan(repo) == {made: (reverted, "post-commit")}


def test_without_a_reflog_only_a_commit_of_the_events_author_is_taken(make_repo, git, commit, log):
    repo = make_repo()
    mine, theirs = log.record(repo), log.record(repo, author="Grace Hopper <grace@example.org>")
    made = commit(repo)
    clone = repo.parent / "clone"
    git("clone", "--quiet", repo, clone, cwd=repo)
    assert log.scan(clone) == {mine: (made, "post-commit")}
    assert theirs in log.waiting
    assert log.scan(repo) == {theirs: (made, "post-commit")}  # the reflog here knows that it was made on this branch


def test_the_first_commit_of_a_shallow_clone_is_not_the_root(make_repo, log, git):
    repo = make_repo("empty")
    event = log.record(repo)
    shallow = make_repo("shallow")
    assert log.scan(shallow) == {} and event in log.waiting


def test_events_without_a_place_wait_and_hurt_nobody(make_repo, commit, log):
    repo = make_repo()
    good = log.record(repo)
    odd = [{}, {"commit": "1" * 40}, {"branch": "nope"}, {"commit": "1" * 40, "branch": "main"}, {"worktree": "abc"}]
    for number, base in enumerate(odd, 9000):
        log.waiting[event_id(number)] = links.Unlinked(event_id(number), "users", base, "", ADA)
    made = commit(repo)
    assert log.scan(repo) == {good: (made, "post-commit")}
    assert len(log.waiting) == len(odd)


# --- HEAD itself ------------------------------------------------------------------------------


def test_on_a_clean_tree_an_event_about_what_head_changed_belongs_to_head(make_repo, git, commit):
    repo = make_repo()
    commit(repo, "src/auth.py", "def login(): pass")
    commit(repo, "schema.sql", "ALTER TABLE users ADD card_token text;\nimport stripe  # from deps")
    for touched in ("schema.sql", "SCHEMA.sql", "schema.sql::users", "users.card_token", "users", "deps/stripe"):
        assert heads.head_touches(at(repo), touched), touched
    for untouched in (
        "src/auth.py",
        "src/auth.py::login",
        "users.card",
        "token",
        "deps/strip",
        "env/STRIPE_KEY",
        "a.x",
    ):
        assert not heads.head_touches(at(repo), untouched), untouched


def test_a_removed_line_and_a_folder_count_as_touched(make_repo, git, commit):
    repo = make_repo()
    commit(repo, "src/app/a.sql", "drop_me text")
    git("rm", "--quiet", "-r", "src", cwd=repo)
    commit(repo, "else")
    assert heads.head_touches(at(repo), "users.drop_me")
    assert heads.head_touches(at(repo), "src/app")
    assert not heads.head_touches(at(repo), "src/ap")


@pytest.mark.parametrize("how", ["unstaged", "staged"])
def test_with_anything_uncommitted_the_event_waits_for_its_commit(make_repo, git, commit, how):
    repo = make_repo()
    commit(repo, "schema.sql")
    assert heads.head_touches(at(repo), "schema.sql")
    (repo / "new.txt").write_text("not tracked: no commit waits for it")
    assert heads.head_touches(at(repo), "schema.sql")
    (repo / "readme").write_text("changed")
    if how == "staged":
        git("add", "readme", cwd=repo)
    assert not heads.head_touches(at(repo), "schema.sql")


def test_a_root_commit_touches_everything_in_it_but_a_shallow_one_does_not(make_repo):
    assert heads.head_touches(at(make_repo()), "readme")
    assert not heads.head_touches(at(make_repo("shallow")), "readme")
    assert not heads.head_touches(at(make_repo("empty")), "readme")


def test_a_merge_touches_what_it_brought_to_its_branch(make_repo, git, commit):
    repo = make_repo()
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    commit(repo, "theirs.py")
    git("checkout", "--quiet", "main", cwd=repo)
    commit(repo, "ours.py")
    git("merge", "--quiet", "--no-ff", "-m", "merge", "topic", cwd=repo)
    assert heads.head_touches(at(repo), "theirs.py") and not heads.head_touches(at(repo), "ours.py")


def test_looking_changes_nothing_in_the_repository(make_repo, git, commit):
    repo = make_repo()
    commit(repo, "schema.sql")
    index = repo / ".git" / "index"
    before = (index.stat().st_mtime_ns, sorted(str(path) for path in (repo / ".git").rglob("*")))
    (repo / "readme").touch()  # git would like to refresh its index now
    assert heads.head_touches(at(repo), "schema.sql")
    assert (index.stat().st_mtime_ns, sorted(str(path) for path in (repo / ".git").rglob("*"))) == before
