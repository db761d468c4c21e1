"""Two histories of one log: whoever joins them, in whatever order and surroundings, ends with one commit."""

from __future__ import annotations

from pathlib import Path

from gitmem.memory import Memory

REF = "refs/decisions/log"


def bring(git, repo: Path, other: Path) -> str:
    """Fetch the other clone's log beside ours; return its tip."""
    git("fetch", "-q", other, f"+{REF}:refs/decisions-remotes/other/log", cwd=repo)
    return git("rev-parse", "refs/decisions-remotes/other/log", cwd=repo)


def join(repo: Path, tip: str) -> str:
    memory = Memory.open(str(repo))
    try:
        return memory.join(tip)
    finally:
        memory.close()


def two_clones(make_repo, git, tmp_path) -> tuple[Path, Path]:
    one = make_repo()
    git("clone", "-q", one, tmp_path / "two", cwd=tmp_path)
    return one, tmp_path / "two"


def listed(cli, repo: Path) -> list[str]:
    return sorted(event["id"] for event in cli("log", "--json", "--all", "--kind", "any", cwd=repo).json["events"])


def test_two_clones_that_join_each_other_end_with_one_tip(make_repo, cli, git, tmp_path, monkeypatch):
    one, two = two_clones(make_repo, git, tmp_path)
    for repo, entity in ((one, "a.b"), (one, "a.c"), (two, "d.e")):
        assert cli("record", entity, "add", "-r", "Reason.", cwd=repo).code == 0
    tip_one, tip_two = bring(git, two, one), bring(git, one, two)
    first = join(one, tip_two)
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody Else")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "other@example.org")
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    for name in ("LC_ALL", "LANG", "LANGUAGE"):
        monkeypatch.setenv(name, "tr_TR.UTF-8")
    git("config", "commit.gpgsign", "true", cwd=two)
    git("config", "i18n.commitEncoding", "ISO-8859-1", cwd=two)
    assert join(two, tip_one) == first
    assert listed(cli, one) == listed(cli, two) and len(listed(cli, one)) == 3
    assert join(one, tip_two) == first  # what we have is not joined again
    for repo in (one, two):
        done = cli("verify", "--json", cwd=repo)
        assert done.code == 0 and done.json["events"] == 3
        assert git.run("fsck", "--strict", cwd=repo).returncode == 0


def test_a_log_that_is_only_behind_moves_forward_without_a_join(make_repo, cli, git, tmp_path):
    one, two = two_clones(make_repo, git, tmp_path)
    assert cli("record", "a.b", "add", "-r", "Reason.", cwd=one).code == 0
    tip = bring(git, two, one)
    assert join(two, tip) == tip
    assert listed(cli, two) == listed(cli, one)


def test_a_rejection_and_an_adoption_that_never_met_are_contested_in_both_clones(make_repo, cli, git, tmp_path):
    one, two = two_clones(make_repo, git, tmp_path)
    assert cli("reject", "users.card", "-r", "No.", cwd=one, tty=True).code == 0
    assert cli("record", "users.card", "add", "-r", "Yes.", cwd=two, tty=True).code == 0
    tips = bring(git, one, two), bring(git, two, one)
    assert join(one, tips[0]) == join(two, tips[1])
    for repo in (one, two):
        (decision,) = cli("status", "users.card", "--json", cwd=repo).json["decisions"]
        assert decision["verdict"] == "contested"
        refused = cli("record", "users.card", "modify", "-r", "More.", cwd=repo)
        assert refused.code == 14


def test_two_clones_that_imported_one_history_show_each_thing_once(make_repo, cli, git, tmp_path):
    one = make_repo()
    (one / "a.py").write_text("def tried_and_reverted(argument):\n    return argument.value\n")
    git("add", "a.py", cwd=one)
    git("commit", "-q", "-m", "Try it", cwd=one)
    git("revert", "--no-edit", "HEAD", cwd=one)
    git("clone", "-q", one, tmp_path / "two", cwd=tmp_path)
    two = tmp_path / "two"
    for repo in (one, two):
        assert cli("import", "git", cwd=repo).code == 0
    before = cli("log", "--json", cwd=one).json["events"]
    tips = bring(git, one, two), bring(git, two, one)
    assert join(one, tips[0]) == join(two, tips[1])
    for repo in (one, two):
        events = cli("log", "--json", cwd=repo).json["events"]
        assert sorted(e["source"] for e in events) == sorted(e["source"] for e in before)
        assert len({e["source"] for e in events}) == len(events)
        assert len(cli("log", "--json", "--all", cwd=repo).json["events"]) == 2 * len(before)
        attempts = cli("prior", "a.py", "--all", "--json", cwd=repo).json["attempts"]
        assert len(attempts) == 1
        assert len(cli("status", "a.py", "--json", cwd=repo).json["decisions"]) == 1
        assert len(cli("search", "Try", "--json", cwd=repo).json["events"]) == len(events)
        assert cli("verify", cwd=repo).code == 0
        assert cli("import", "git", "--json", cwd=repo).json["appended"] == 0


def test_a_broken_log_is_never_joined(make_repo, cli, git):
    one = make_repo()
    assert cli("record", "a.b", "add", "-r", "Reason.", cwd=one).code == 0
    before = git("rev-parse", REF, cwd=one)
    foreign = git("commit-tree", git("mktree", cwd=one, input=""), "-p", before, "-m", "hello", cwd=one)
    from gitmem.errors import BrokenHistory

    try:
        join(one, foreign)
    except BrokenHistory as error:
        assert foreign[:12] in error.message
    else:
        raise AssertionError("joined")
    assert git("rev-parse", REF, cwd=one) == before
