"""Where a decision points after what people do to commits: the matrix, by real git with the hooks that `init` installs.

Each case records two decisions for one branch (and one of another matter, on another branch, which must stay where it
is), does to the commits what it is about, and says where each decision's link points afterwards.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from conftest import NO_HOOKS

GRACE = {"GIT_AUTHOR_NAME": "Grace Hopper", "GIT_AUTHOR_EMAIL": "grace@example.org"}
FORGE = {
    "GIT_AUTHOR_NAME": "A Forge", "GIT_AUTHOR_EMAIL": "noreply@forge.example",
    "GIT_COMMITTER_NAME": "A Forge", "GIT_COMMITTER_EMAIL": "noreply@forge.example",
}  # fmt: skip
BODY = "".join(f"line {number}\n" for number in range(20))


class World:
    """A repository with decisions on a branch `topic` of two commits, and one on a branch `other`."""

    def __init__(self, repo: Path, git: Any, cli: Any) -> None:
        self.repo, self.git, self.cli = repo, git, cli

    def run(self, *words: str, env: dict[str, str] | None = None, **options: Any) -> str:
        return self.git(*words, cwd=self.repo, env=env, **options)

    def oid(self, name: str = "HEAD") -> str:
        return self.run("rev-parse", name)

    def write(self, name: str, text: str) -> None:
        (self.repo / name).write_text(text)
        self.run("add", "-A")

    def commit(self, name: str, text: str, message: str, env: dict[str, str] | None = None) -> str:
        self.write(name, text)
        self.run("commit", "--quiet", "-m", message, env=env)
        return self.oid()

    def record(self, entity: str, env: dict[str, str] | None = None, at: Path | None = None) -> str:
        words = ("record", entity, "add", "-r", f"why {entity}", "--json")
        return self.cli(*words, cwd=at or self.repo, tty=True, env=env).json["events"][0]["id"]

    def show(self, event: str, at: Path | None = None) -> dict[str, Any]:
        return self.cli("show", event, "--json", cwd=at or self.repo).json

    def commits(self, event: str, at: Path | None = None) -> list[str]:
        return self.show(event, at)["event"]["commits"]

    def hows(self, event: str, at: Path | None = None) -> dict[str, str]:
        return {link["commit"]: link["how"] for link in self.show(event, at)["links"]}

    def scan(self, at: Path | None = None, env: dict[str, str] | None = None) -> dict[str, Any]:
        return self.cli("link", "--scan", "--json", cwd=at or self.repo, env=env).json


@pytest.fixture
def world(once, make_repo, git, cli) -> World:
    world = World(Path(), git, cli)
    vars(world).update(once("decisions on two branches", lambda: _made(World(make_repo(name="repo"), git, cli))))
    return world


def _made(world: World) -> dict[str, Any]:
    assert world.cli("init", cwd=world.repo).code == 0
    world.write("base", BODY)
    world.run("commit", "--quiet", "-m", "base")
    world.run("checkout", "--quiet", "-b", "other")
    world.elsewhere = world.record("els.ewhere")
    world.else_at = world.commit("elsewhere", "e\n", "elsewhere")
    world.run("checkout", "--quiet", "-b", "topic", "main")
    world.one = world.record("users.one")
    world.first = world.commit("one", BODY, "first")
    world.two = world.record("users.two")
    world.second = world.commit("two", "2\n" * 5, "second")
    assert world.commits(world.one) == [world.first] and world.commits(world.two) == [world.second]
    return {name: made for name, made in vars(world).items() if name not in ("git", "cli")}


def untouched(world: World, at: Path | None = None) -> None:
    """What has nothing to do with it stays where it was, and a scan finds nothing more, however often it looks."""
    assert world.commits(world.elsewhere, at) == [world.else_at]
    again = world.scan(at)
    assert again["links"] == [] and again["found"] == []


# --- in one clone, with hooks -----------------------------------------------------------------


@pytest.mark.parametrize("message", [(), ("-m", "another message")], ids=["amend", "amend -m"])
def test_amend(world, message):
    world.write("two", "22\n" * 5)
    world.run("commit", "--quiet", "--amend", *(message or ("--no-edit",)))
    assert world.hows(world.two) == {world.second: "post-commit", world.oid(): "amend"}
    assert world.commits(world.two)[-1] == world.oid()
    assert world.commits(world.one) == [world.first]
    untouched(world)


def test_rebase(world):
    world.run("checkout", "--quiet", "main")
    world.commit("more", "m\n", "more")
    world.run("rebase", "--quiet", "main", "topic")
    assert world.commits(world.one) == [world.first, world.oid("HEAD~1")]
    assert world.commits(world.two) == [world.second, world.oid()]
    assert world.hows(world.two)[world.oid()] == "rebase"
    untouched(world)


def edited(world: World, *commands: str) -> dict[str, str]:
    """An environment in which `git rebase -i` gets this list of commands and takes every message as it is."""
    script = world.repo.parent / "todo"
    script.write_text("".join(command + "\n" for command in commands))
    return {"GIT_SEQUENCE_EDITOR": f"cp {script}", "GIT_EDITOR": "true"}


def test_interactive_fixup_many_to_one(world):
    third = world.commit("three", "3\n", "third")
    env = edited(world, f"pick {world.first}", f"fixup {world.second}", f"pick {third}")
    world.run("rebase", "--quiet", "-i", "main", env=env)
    assert world.commits(world.one) == [world.first, world.oid("HEAD~1")]
    assert world.commits(world.two) == [world.second, world.oid("HEAD~1")]
    untouched(world)


def test_reword_in_a_rebase(world):
    env = edited(world, f"reword {world.first}", f"pick {world.second}") | {"GIT_EDITOR": "echo reworded >"}
    world.run("rebase", "--quiet", "-i", "main", env=env)
    assert world.run("log", "-1", "--format=%s", "HEAD~1") == "reworded"
    assert world.commits(world.one)[-1] == world.oid("HEAD~1") and world.commits(world.two)[-1] == world.oid()
    untouched(world)


def test_a_dropped_commit_leaves_its_decision_where_it_was(world):
    env = edited(world, f"drop {world.first}", f"pick {world.second}")
    world.run("rebase", "--quiet", "-i", "main", env=env)
    assert world.commits(world.one) == [world.first]  # and nowhere else: status says that it isn't in HEAD
    assert world.commits(world.two)[-1] == world.oid()
    untouched(world)


@pytest.mark.parametrize("options", [(), ("-x",)], ids=["plain", "-x"])
def test_cherry_pick(world, options):
    world.run("checkout", "--quiet", "-b", "release", "main")
    waits = world.record("users.waits")  # a pick carries somebody else's change: it takes nothing that waits here
    world.run("cherry-pick", *options, world.second)
    assert world.hows(world.two) == {world.second: "post-commit", world.oid(): "cherry-pick"}
    assert world.commits(world.one) == [world.first] and world.commits(waits) == []
    untouched(world)


def test_several_cherry_picks_at_once(world):
    world.run("checkout", "--quiet", "-b", "release", "main")
    world.commit("more", "m\n", "more")
    world.run("cherry-pick", world.first, world.second)
    assert world.commits(world.one) == [world.first, world.oid("HEAD~1")]
    assert world.commits(world.two) == [world.second, world.oid()]
    untouched(world)


def test_cherry_pick_without_hooks_is_found_by_its_patch_id(world):
    world.run("checkout", "--quiet", "-b", "release", "main")
    world.commit("more", "m\n", "more")
    world.run(*NO_HOOKS, "cherry-pick", world.second)
    assert world.commits(world.two) == [world.second]
    found = world.scan()["links"]
    assert [(link["events"], link["commit"], link["how"]) for link in found] == [
        ([world.two], world.oid(), "cherry-pick")
    ]
    link = world.show(world.two)["links"][-1]
    assert link["confidence"] == "exact" and link["evidence"] == [f"patch-id:{link['patch_id']}"]
    untouched(world)


def test_the_same_change_by_somebody_else_is_no_pick(world):
    world.run("checkout", "--quiet", "-b", "release", "main")
    made = world.commit("two", "2\n" * 5, "my own idea", env=GRACE)
    assert made not in world.commits(world.two)
    assert world.scan()["links"] == [] and world.commits(world.two) == [world.second]
    # The very same work, picked: that one is found.
    world.run("checkout", "--quiet", "-b", "release2", "main")
    world.commit("more", "m\n", "more")
    world.run(*NO_HOOKS, "cherry-pick", world.second)
    assert [link["commit"] for link in world.scan()["links"]] == [world.oid()]


def test_landing_again_on_the_same_branch_is_no_pick(world):
    world.run("revert", "--no-edit", world.second)
    world.run(*NO_HOOKS, "cherry-pick", world.second)
    assert world.oid() not in world.commits(world.two)
    world.scan()
    assert world.commits(world.two) == [world.second]


# --- reverts ----------------------------------------------------------------------------------


def test_revert_is_told_and_changes_no_verdict(world):
    world.run("revert", "--no-edit", world.second)
    by = world.oid()
    shown = world.show(world.two)
    assert shown["event"]["commits"] == [world.second] and shown["event"]["verdict"] == "active"
    assert [(link["how"], link["reverted_by"]) for link in shown["links"]] == [("post-commit", by), ("revert", None)]
    assert shown["links"][1]["replaces"] == [world.second]
    told = world.cli("status", "users", cwd=world.repo)
    lines = [line for line in told.stdout.splitlines() if "was reverted by" in line]
    assert len(lines) == 1 and by[:10] in lines[0] and world.two[:8] in lines[0]
    decisions = {
        one["standing"]: one for one in world.cli("status", "users", "--json", cwd=world.repo).json["decisions"]
    }
    assert decisions[world.two]["reverted_by"] == by and decisions[world.one]["reverted_by"] is None
    (due,) = world.cli("stale", "--json", cwd=world.repo).json["decisions"]
    assert due["flag"] == "code_reverted" and due["standing"] == world.two
    assert due["signals"][0]["commit"] == by and world.second[:10] in due["signals"][0]["why"]
    (item,) = [one for one in world.cli("review", "--json", cwd=world.repo).json["items"] if one["why"] == "due"]
    assert item["event"]["id"] == world.two and item["due"]["flag"] == "code_reverted"
    assert world.cli("stale", "users.one", "--json", cwd=world.repo).json["decisions"] == []
    assert f"[reverted by {by[:10]}]" in world.cli("show", world.two, cwd=world.repo).stdout
    untouched(world)
    # Not in HEAD, no word in status: code is per branch.
    world.run("checkout", "--quiet", "other")
    assert "was reverted" not in world.cli("status", "users", cwd=world.repo).stdout
    assert world.cli("stale", "--json", cwd=world.repo).json["decisions"] == []
    world.run("checkout", "--quiet", "topic")
    # The revert of the revert brings it back.
    world.run("revert", "--no-edit", by)
    assert "was reverted" not in world.cli("status", "users", cwd=world.repo).stdout
    assert all(link["reverted_by"] is None for link in world.show(world.two)["links"])
    assert world.cli("stale", "--json", cwd=world.repo).json["decisions"] == []


def test_what_was_reverted_and_picked_once_more_or_recorded_as_reverted_is_no_news(world):
    world.run("revert", "--no-edit", world.second)
    before = world.oid()
    world.run("cherry-pick", world.second)
    assert world.hows(world.two)[world.oid()] == "cherry-pick"
    assert "was reverted" not in world.cli("status", "users", cwd=world.repo).stdout
    assert world.cli("stale", "--json", cwd=world.repo).json["decisions"] == []
    world.run("reset", "--quiet", "--hard", before)
    assert len(world.cli("stale", "--json", cwd=world.repo).json["decisions"]) == 1
    assert (
        world.cli("record", "users.two", "revert", "-r", "It went with its code.", cwd=world.repo, tty=True).code == 0
    )
    assert world.cli("stale", "--json", cwd=world.repo).json["decisions"] == []


def test_a_revert_without_hooks_is_found_by_a_scan(world):
    world.run(*NO_HOOKS, "revert", "--no-edit", world.second)
    assert world.show(world.two)["links"][0]["reverted_by"] is None
    assert [link["how"] for link in world.scan()["links"]] == ["revert"]
    assert world.show(world.two)["links"][0]["reverted_by"] == world.oid()
    untouched(world)


def test_a_revert_that_is_rebased_goes_on_reverting(world):
    world.run("revert", "--no-edit", world.second)
    old = world.oid()
    world.run("checkout", "--quiet", "main")
    world.commit("more", "m\n", "more")
    world.run("rebase", "--quiet", "main", "topic")
    assert world.oid() != old
    by = {link["commit"]: link["reverted_by"] for link in world.show(world.two)["links"] if link["how"] != "revert"}
    assert by == {world.second: old, world.oid("HEAD~1"): world.oid()}
    untouched(world)


def test_what_a_squashed_branch_reverted_within_itself_reverts_nothing_of_the_squash(world):
    world.run("revert", "--no-edit", world.second)
    world.run("checkout", "--quiet", "main")
    world.run("merge", "--quiet", "--squash", "topic")
    message = world.run("log", "--format=%B", "main..topic")  # as forges write them, one after the other
    world.run("commit", "--quiet", "-m", f"all of topic\n\n{message}")
    world.scan()
    shown = world.show(world.two)
    assert {link["commit"]: link["how"] for link in shown["links"]}[world.oid()] == "squash"
    assert [link["reverted_by"] for link in shown["links"] if link["commit"] == world.oid()] == [None]
    assert "was reverted" not in world.cli("status", "users.two", cwd=world.repo).stdout


# --- squashes ---------------------------------------------------------------------------------


def test_local_squash_with_gits_own_message(world):
    world.run("checkout", "--quiet", "main")
    world.run("merge", "--quiet", "--squash", "topic")
    world.run("commit", "--quiet", "--no-edit")
    assert world.hows(world.one) == {world.first: "post-commit", world.oid(): "squash"}
    assert world.hows(world.two) == {world.second: "post-commit", world.oid(): "squash"}
    link = world.show(world.two)["links"][-1]
    assert link["confidence"] == "stated" and link["replaces"] == sorted([world.first, world.second])
    untouched(world)


def test_local_squash_with_another_message_is_found_by_a_scan(world):
    world.run("checkout", "--quiet", "main")
    world.run("merge", "--quiet", "--squash", "topic")
    world.run("commit", "--quiet", "-m", "all of it")
    assert world.oid() not in world.commits(world.one)
    world.run("branch", "--quiet", "-D", "topic")
    world.scan()
    assert world.commits(world.one)[-1] == world.commits(world.two)[-1] == world.oid()
    untouched(world)


class Forge:
    """A bare repository that others clone, with a work tree in which it does what its buttons do."""

    def __init__(self, world: World, git: Any) -> None:
        self.git, self.world = git, world
        self.bare = world.repo.parent / "forge.git"
        self.desk = world.repo.parent / "forge-desk"
        git("clone", "--quiet", "--bare", world.repo, self.bare, cwd=world.repo)
        world.run("remote", "add", "origin", str(self.bare))
        world.run("fetch", "--quiet", "origin")
        git("clone", "--quiet", self.bare, self.desk, cwd=world.repo)
        for branch in ("topic", "main"):
            git("checkout", "--quiet", branch, cwd=self.desk)

    def run(self, *words: str) -> str:
        return self.git(*words, cwd=self.desk, env=FORGE)

    def squash(self, message: str, *, after: str = "") -> str:
        """What the button does; `after` is put into the file `base` on main before."""
        if after:
            (self.desk / "base").write_text(after)
            self.run("commit", "--quiet", "-am", "meanwhile")
        self.run("merge", "--quiet", "--squash", "topic")
        self.run("commit", "--quiet", "-m", message)
        self.run("push", "--quiet", "origin", "main")
        return self.run("rev-parse", "HEAD")


@pytest.fixture
def forge(world, git) -> Forge:
    return Forge(world, git)


def test_a_squash_is_not_looked_for_in_the_branch_that_it_was_made_of(world, forge):
    # Of the two commits only the first has a decision, and all is of one second, so no clock tells which was first.
    world.run("checkout", "--quiet", "-b", "short", "main")
    event = world.record("users.short")
    first = world.commit("short", "1\n" * 5, "first of two")
    world.commit("shorter", "2\n" * 5, "second of two")
    world.run("push", "--quiet", "origin", "short")
    forge.run("fetch", "--quiet", "origin")
    forge.run("merge", "--quiet", "--squash", "origin/short")
    date = world.run("log", "-1", "--format=%cI", "HEAD")
    forge.git("commit", "--quiet", "-m", "All of it", cwd=forge.desk, env={**FORGE, "GIT_COMMITTER_DATE": date})
    forge.run("push", "--quiet", "origin", "main")
    world.run("fetch", "--quiet", "origin")
    assert [link["how"] for link in world.scan()["links"]] == ["squash"]
    untouched(world)
    assert world.commits(event) == [first, world.oid("origin/main")]


def test_a_scan_goes_on_where_another_process_keeps_what_was_found(world, forge):
    import sqlite3

    made = forge.squash("Something else entirely")
    world.run("fetch", "--quiet", "origin")
    world.scan()
    kept = sqlite3.connect(world.repo / ".git/gitmem/found.sqlite", isolation_level=None)
    place = world.repo / ".git/gitmem/found.sqlite"
    inode = place.stat().st_ino
    for kind in ("IMMEDIATE", "EXCLUSIVE"):
        kept.execute(f"BEGIN {kind}")
        world.commit(kind, "late\n", kind)
        done = world.cli("link", "--scan", "--json", cwd=world.repo)
        assert done.code == 0 and done.json["links"] == [], done.stderr
        kept.execute("ROLLBACK")
        assert place.stat().st_ino == inode  # it was busy, not broken
    kept.close()
    untouched(world)
    assert made in world.commits(world.one)


def test_forge_squash_with_an_edited_message(world, forge):
    made = forge.squash("Something else entirely (#12)", after=BODY + "more\n")
    world.run("fetch", "--quiet", "origin")
    result = world.scan()
    assert [(link["commit"], link["how"], sorted(link["events"])) for link in result["links"]] == [
        (made, "squash", sorted([world.one, world.two]))
    ]
    link = world.show(world.one)["links"][-1]
    assert link["confidence"] == "exact" and link["replaces"] == sorted([world.first, world.second])
    assert [one.partition(":")[0] for one in link["evidence"]] == ["patch-id", "range"]
    untouched(world)


def test_forge_squash_when_a_neighbour_was_changed_meanwhile(world, forge, git):
    # The branch changes the middle of a file, main its neighbourhood: another context, the same lines.
    changed = BODY.replace("line 10\n", "line ten\nline ten and a half\nline eleven, nearly\n")
    third = world.record("users.three")
    world.commit("base", changed, "third")
    world.run("push", "--quiet", "origin", "topic")
    git("fetch", "--quiet", "origin", "topic:topic", cwd=forge.desk)
    made = forge.squash(
        "Other words (#12)", after=BODY.replace("line 12\n", "line twelve\n").replace("line 7\n", "l7\n")
    )
    world.run("fetch", "--quiet", "origin")
    world.scan()
    assert world.commits(third)[-1] == world.commits(world.one)[-1] == made
    link = world.show(third)["links"][-1]
    assert link["confidence"] == "lines" and link["how"] == "squash"
    untouched(world)


def test_a_branch_that_was_not_merged_is_linked_nowhere(world, forge, git):
    (forge.desk / "two").write_text("2\n" * 4 + "and something else\n")
    forge.run("add", "-A")
    forge.run("commit", "--quiet", "-m", "second (#12)")
    forge.run("push", "--quiet", "origin", "main")
    world.run("fetch", "--quiet", "origin")
    assert world.scan()["links"] == [] and world.commits(world.two) == [world.second]
    # Its twin, which was merged, is.
    forge.run("revert", "--no-edit", "HEAD")
    made = forge.squash("other words")
    world.run("fetch", "--quiet", "origin")
    world.scan()
    assert world.commits(world.two)[-1] == made


def test_two_commits_that_fit_give_no_link_and_are_named(world, forge):
    first = forge.squash("squash")
    forge.run("revert", "--no-edit", "HEAD")
    second = forge.squash("squash once more")
    world.run("fetch", "--quiet", "origin")
    result = world.scan()
    assert [link for link in result["links"] if link["how"] == "squash"] == []
    doubt = next(one for one in result["doubts"] if world.two in one["events"])
    assert doubt["commits"] == sorted([first, second])
    assert "not linked: " in world.cli("link", "--scan", cwd=world.repo).stdout
    assert world.commits(world.two) == [world.second]


def test_the_number_of_a_pull_request_tells_which_of_two(world, forge):
    world.run("update-ref", "refs/pull/12/head", "topic")
    first = forge.squash("squash (#12)")
    forge.run("revert", "--no-edit", "HEAD")
    forge.squash("squash once more (#13)")
    world.run("fetch", "--quiet", "origin")
    world.scan()
    assert world.commits(world.two) == [world.second, first]
    assert "pull:12" in world.show(world.two)["links"][-2]["evidence"] + world.show(world.two)["links"][-1]["evidence"]


def test_a_number_alone_links_nothing(world, forge):
    world.run("update-ref", "refs/pull/12/head", "topic")
    (forge.desk / "fix").write_text("a follow-up of the request, with its number\n")
    forge.run("add", "-A")
    forge.run("commit", "--quiet", "-m", "Mend what came in with (#12)")
    forge.run("push", "--quiet", "origin", "main")
    world.run("fetch", "--quiet", "origin")
    assert world.scan()["links"] == []


def test_a_conflict_that_was_resolved_is_found_by_number_where_most_lines_are_the_same(world, forge):
    world.run("update-ref", "refs/pull/12/head", "topic")
    forge.run("merge", "--quiet", "--squash", "topic")
    (forge.desk / "two").write_text("2\n" * 5 + "resolved by hand\n")
    forge.run("commit", "--quiet", "-am", "squash (#12)")
    forge.run("push", "--quiet", "origin", "main")
    world.run("fetch", "--quiet", "origin")
    world.scan()
    link = world.show(world.two)["links"][-1]
    assert (link["commit"], link["confidence"]) == (world.oid("origin/main"), "stated")
    assert "pull:12" in link["evidence"]


def test_rebase_merge_by_a_forge(world, forge):
    (forge.desk / "base").write_text(BODY + "more\n")
    forge.run("commit", "--quiet", "-am", "meanwhile")
    forge.run("rebase", "--quiet", "main", "topic")
    forge.run("push", "--quiet", "origin", "topic:main")
    world.run("fetch", "--quiet", "origin")
    world.scan()
    assert world.commits(world.one)[-1] == world.oid("origin/main~1")
    assert world.commits(world.two)[-1] == world.oid("origin/main")
    untouched(world)


def test_merge_commit_by_a_forge_needs_no_link(world, forge):
    forge.run("merge", "--quiet", "--no-ff", "-m", "Merge pull request #12", "topic")
    forge.run("push", "--quiet", "origin", "main")
    world.run("fetch", "--quiet", "origin")
    assert world.scan()["links"] == []
    world.run("checkout", "--quiet", "main")
    world.run("merge", "--quiet", "--ff-only", "origin/main")
    decisions = world.cli("status", "users", "--json", cwd=world.repo).json["decisions"]
    assert [one["in_head"] for one in decisions] == [True, True]


# --- whose link it is -------------------------------------------------------------------------


def test_another_clone_keeps_what_it_finds_and_writes_nothing(world, forge, git, cli):
    made = forge.squash("Something else entirely (#12)")
    there = world.repo.parent / "there"
    git("clone", "--quiet", forge.bare, there, cwd=world.repo)
    git("fetch", "--quiet", world.repo, "refs/decisions/log:refs/decisions/log", cwd=there)
    tip = git("rev-parse", "refs/decisions/log", cwd=there)
    stranger = {**GRACE, "GIT_COMMITTER_EMAIL": "grace@example.org"}
    result = world.scan(there, env=stranger)
    assert result["links"] == [] and [link["commit"] for link in result["found"]] == [made]
    assert git("rev-parse", "refs/decisions/log", cwd=there) == tip
    # Readers are told, and told that it is from here.
    event = world.show(world.one, there)["event"]
    assert event["commits"] == [world.first, made] and event["commits_found"] == [made]
    link = world.show(world.one, there)["links"][-1]
    assert (link["id"], link["commit"], link["how"], link["confidence"]) == (None, made, "squash", "exact")
    assert "found here" in cli("show", world.one, cwd=there).stdout
    assert [e["id"] for e in cli("log", "--commit", made, "--json", cwd=there).json["events"]] == [world.two, world.one]
    # The cache is what the log makes it, found or not; a rebuild finds the same again.
    assert world.scan(there, env=stranger)["found"] == []
    assert cli("rebuild", cwd=there, env=stranger).code == 0
    assert world.commits(world.one, there) == [world.first, made]
    # The author's own clone writes it, and then it is the log's.
    world.run("fetch", "--quiet", "origin")
    assert [link["commit"] for link in world.scan()["links"]] == [made]
    git("fetch", "--quiet", world.repo, "refs/decisions/log:refs/decisions/log", cwd=there)
    assert world.scan(there, env=stranger)["found"] == []
    event = world.show(world.one, there)["event"]
    assert event["commits"] == [world.first, made] and "commits_found" not in event


# --- rewritten histories ----------------------------------------------------------------------


def test_filter_branch_and_a_gc(world):
    """What git-filter-repo does, by the tool that git brings: every commit anew, and the old ones gone."""
    env = {"FILTER_BRANCH_SQUELCH_WARNING": "1"}
    filtered = ("filter-branch", "-f", "--index-filter", "git rm -q --cached --ignore-unmatch readme", "--")
    world.run(*filtered, "main", "topic", "other", env=env)
    for ref in world.run("for-each-ref", "--format=%(refname)", "refs/original").splitlines():
        world.run("update-ref", "-d", ref)
    world.run("reflog", "expire", "--expire=now", "--all")
    world.run("gc", "--quiet", "--prune=now")
    assert [link["gone"] for link in world.show(world.two)["links"]] == [True]
    decisions = world.cli("status", "users", "--json", cwd=world.repo).json["decisions"]
    assert [one["in_head"] for one in decisions] == [False, False]
    assert "[commit gone]" in world.cli("show", world.two, cwd=world.repo).stdout
    world.scan()
    assert world.commits(world.one) == [world.first, world.oid("topic~1")]
    assert world.commits(world.two) == [world.second, world.oid("topic")]
    assert [link["gone"] for link in world.show(world.two)["links"]] == [True, False]
    decisions = world.cli("status", "users", "--json", cwd=world.repo).json["decisions"]
    assert [one["in_head"] for one in decisions] == [True, True]
    assert world.commits(world.elsewhere) == [world.else_at, world.oid("other")]
    assert world.scan()["links"] == []


def test_filter_repos_own_map_is_believed(world):
    """Where paths were changed no patch id is the same; git-filter-repo writes down what became of what."""
    env = {"FILTER_BRANCH_SQUELCH_WARNING": "1"}
    moved = (
        "git ls-files -s | sed 's-\\t-&sub/-' | GIT_INDEX_FILE=$GIT_INDEX_FILE.new git update-index --index-info && "
    )
    moved += 'mv "$GIT_INDEX_FILE.new" "$GIT_INDEX_FILE"'
    world.run("filter-branch", "-f", "--index-filter", moved, "--", "topic", env=env)
    new = {world.first: world.oid("topic~1"), world.second: world.oid("topic")}
    assert world.scan()["links"] == []
    folder = Path(world.repo, ".git", "filter-repo")
    folder.mkdir()
    lines = [f"{old} {new}\n" for old, new in new.items()]
    (folder / "commit-map").write_text(f"{'old':<40} new\n{'1' * 40} {'0' * 40}\n" + "".join(lines))
    world.scan()
    assert world.commits(world.two) == [world.second, world.oid("topic")]
    assert world.show(world.two)["links"][-1]["evidence"] == ["commit-map"]
    untouched(world)


def test_no_hooks_at_all_and_one_scan_finds_amend_rebase_fixup_and_pick(world):
    """What a program that runs no hooks did is found afterwards, each at its place."""
    world.run("checkout", "--quiet", "main")
    world.commit("more", "m\n", "more")
    world.run(*NO_HOOKS, "rebase", "--quiet", "main", "topic")
    rebased = (world.oid("HEAD~1"), world.oid())
    world.run("checkout", "--quiet", "-b", "release", "main~1")
    world.run(*NO_HOOKS, "cherry-pick", "-x", world.second)
    world.scan()
    assert world.commits(world.one) == [world.first, rebased[0]]
    assert sorted(world.commits(world.two)) == sorted([world.second, rebased[1], world.oid()])
    assert world.hows(world.two)[world.oid()] == "cherry-pick"
    untouched(world)


@pytest.mark.parametrize("what", ["broken", "a folder", "read-only"])
def test_the_file_of_what_was_found_may_be_anything(world, forge, what):
    made = forge.squash("words")
    world.run("fetch", "--quiet", "origin")
    path = Path(world.repo, ".git", "gitmem", "found.sqlite")
    if what == "broken":
        path.write_bytes(b"no database" * 100)
    elif what == "a folder":
        path.mkdir()
    else:
        path.touch()
        path.chmod(0o444)
    assert os.path.lexists(path)
    world.scan()
    assert world.commits(world.one) == [world.first, made]


# --- a link that was wrong --------------------------------------------------------------------


def test_retracting_a_link_takes_it_and_the_names_that_it_joined_back(make_repo, git, cli):
    repo = make_repo()
    world = World(repo, git, cli)
    assert cli("init", cwd=repo).code == 0
    world.commit("old.py", BODY, "old")
    cli("reject", "old.py", "-r", "no", "--approach", "one big file", cwd=repo, tty=True)
    world.run("mv", "old.py", "new.py")
    moved = world.commit("else", "e\n", "move")
    event = world.cli("log", "--json", cwd=repo).json["events"][0]["id"]
    link = next(one for one in world.show(event)["links"] if one["commit"] == moved)
    assert link["renames"] == [["old.py", "new.py"]] and moved in world.commits(event)

    def refused() -> int:
        words = ("record", "new.py", "add", "-r", "x", "--approach", "one big file", "--dry-run")
        return cli(*words, cwd=repo, tty=True).code

    assert refused() == 14
    assert cli("retract", link["id"], "-r", "another file of that name", cwd=repo, tty=True).code == 0
    assert moved not in world.commits(event) and link["id"] not in [one["id"] for one in world.show(event)["links"]]
    assert cli("show", link["id"], "--json", cwd=repo).json["event"]["trust"] == "retracted"
    caught_up = cli("status", "new.py", "--json", cwd=repo).json
    assert caught_up["decisions"] == [] and refused() == 0
    assert cli("rebuild", cwd=repo).code == 0  # the fold of the whole log says the same
    assert cli("status", "new.py", "--json", cwd=repo).json == caught_up and refused() == 0
    # Ratified again, it joins again.
    assert cli("ratify", link["id"], "-r", "it was", cwd=repo, tty=True).code == 0
    assert refused() == 14 and moved in world.commits(event)
    stood = cli("status", "new.py", "--json", cwd=repo).json
    assert [one["verdict"] for one in stood["decisions"]] == ["rejected"]
    cli("rebuild", cwd=repo)
    assert cli("status", "new.py", "--json", cwd=repo).json == stood
