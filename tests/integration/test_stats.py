"""`stats`: what is counted, and that its filters are those of `log`."""

from __future__ import annotations

from collections import Counter

import pytest

AGENT = {"CLAUDECODE": "1"}


@pytest.fixture
def repo(make_repo, cli, git):
    """Two decisions of a person and one of an agent, of which one is linked to a commit."""
    place = make_repo()
    assert cli("init", cwd=place).code == 0
    assert cli("record", "users.email", "add", "-r", "Needed.", "--approach", "plain", cwd=place, tty=True).code == 0
    assert cli("record", "users.email", "modify", "-r", "Wider.", "--approach", "plain", cwd=place, tty=True).code == 0
    (place / "email.sql").write_text("ALTER TABLE users ADD COLUMN email TEXT;\n")
    git("add", "email.sql", cwd=place)
    git("commit", "--quiet", "-m", "email", cwd=place)
    assert cli("reject", "users.card", "-r", "No.", "--whole", cwd=place, tty=True).code == 0
    assert cli("reject", "users.phone", "--approach", "own", "-r", "No.", cwd=place, env=AGENT).code == 0
    return place


def test_it_counts_what_log_lists_and_a_decision_once(repo, cli, git):
    counted = cli("stats", "--json", cwd=repo).json
    listed = cli("log", "--kind", "any", "--json", cwd=repo).json["events"]
    assert counted["events"] == len(listed) > 4
    for name in ("kind", "trust", "channel", "author"):
        assert counted["by"][name] == Counter(event[name] for event in listed), name
    assert counted["by"]["change_type"] == {"reject": 2, "add": 1, "modify": 1}
    assert counted["by"]["verdict"] == {"rejected": 2, "active": 1}  # the add and the modify are one decision
    assert counted["by"]["agent"] == {"claude-code": 1}
    assert counted["entities"] == 3 and counted["unlinked"] == 2
    commits = int(git("rev-list", "--count", "HEAD", cwd=repo))
    assert counted["commits"] == {"total": commits, "with_decisions": 1}
    told = cli("stats", cwd=repo).stdout
    assert told.startswith("3 decisions on 3 entities, from ")
    assert f"commits with a decision: 1 of {commits}" in told and "verdict  2 rejected, 1 active" in told


@pytest.mark.parametrize(
    ("filters", "events"),
    [
        (["--agent", "claude-code"], 1),
        (["--type", "reject"], 2),
        (["--verdict", "active"], 2),
        (["--trust", "proposed", "--kind", "change"], 1),
        (["--kind", "change", "--path", "email.sql"], 0),
        (["--kind", "change", "--until", "2001-01-01"], 0),
    ],
)
def test_its_filters_are_those_of_log(repo, cli, filters, events):
    counted = cli("stats", "--json", *filters, cwd=repo).json
    assert counted["events"] == events
    assert len(cli("log", "--json", *filters, cwd=repo).json["events"]) == events
    if "--until" in filters:
        assert counted["commits"] == {"total": 0, "with_decisions": 0}


def test_what_was_read_from_history_belongs_to_the_commit_that_it_was_read_from(make_repo, cli, git):
    repo = make_repo()
    (repo / "cache.py").write_text("def cached():\n    return 1\n")
    git("add", "cache.py", cwd=repo)
    git("commit", "--quiet", "-m", "Cache", cwd=repo)
    git("revert", "--no-edit", "HEAD", cwd=repo)
    assert cli("import", "git", "--json", cwd=repo).json["appended"] == 2
    counted = cli("stats", "--json", cwd=repo).json
    assert counted["by"]["verdict"] == {"reverted": 1} and counted["by"]["channel"] == {"import": 2}
    assert counted["commits"]["with_decisions"] == 2 and counted["unlinked"] == 0
    assert cli("record", "a.b", "add", "-r", "Reason.", cwd=repo).code == 0
    assert cli("stats", "--json", cwd=repo).json["unlinked"] == 1


@pytest.mark.parametrize("kind", ["empty", "bare", "sha256", "worktree"])
def test_it_counts_wherever_git_works(make_repo, cli, kind):
    place = make_repo(kind)
    assert cli("stats", "--json", cwd=place).json["error"]["name"] == "NoLog"
    assert cli("record", "a.b", "add", "-r", "Reason.", cwd=place).code == 0
    counted = cli("stats", "--json", cwd=place).json
    assert counted["by"]["verdict"] == {"active": 1} and counted["commits"]["with_decisions"] == 0
