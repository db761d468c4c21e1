"""A closing without a diff takes its fingerprint from the commit of what it closes, without the lines that stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from taken_out import record

BAD = "".join(f"def charge_{word}(card): return gateway.charge(card, '{word}')\n" for word in ("now", "later", "twice"))
GOOD = "".join(f"def vault_{word}(card): return vault.token(card, '{word}')\n" for word in ("one", "two", "three"))
WHY = ("-r", "It would put us in scope of PCI DSS.")


def commit(repo: Path, git, text: str, *, name: str = "src/pay.py", message: str = "work") -> str:
    (repo / name).parent.mkdir(exist_ok=True)
    (repo / name).write_text(text)
    git("add", ".", cwd=repo)
    git("commit", "-qm", message, cwd=repo)
    return git("rev-parse", "HEAD", cwd=repo)


def known(cli, repo: Path, text: str) -> int:
    """How much of a closed change `text` brings back, in percent."""
    done = cli("prior", "--content", "-", "--json", cwd=repo, input=text)
    assert done.code == 0, done.stderr
    return max((attempt["score"] or 0 for attempt in done.json["attempts"]), default=0)


def fingerprint(cli, repo: Path, event: str):
    return cli("show", event, "--json", cwd=repo).json["event"]["fingerprint"]


@pytest.mark.parametrize("entity", ["src/pay.py", "users.card"])
@pytest.mark.parametrize("word", ["reject", "revert"])
def test_from_the_commit_of_the_opening_that_it_closes(make_repo, cli, git, entity, word):
    repo = make_repo()
    bad = commit(repo, git, BAD)
    record(cli, repo, "record", entity, "add", "--approach", "charge it", *WHY, "--commit", bad)
    commit(repo, git, GOOD)
    closing = record(cli, repo, "record", entity, word, "--approach", "charge it", *WHY)
    assert fingerprint(cli, repo, closing)["lines"] == 3
    assert known(cli, repo, BAD) == 100 and known(cli, repo, GOOD) == 0


def test_a_file_s_closing_knows_the_lines_of_that_file_alone(make_repo, cli, git):
    repo = make_repo()
    (repo / "other.py").write_text(GOOD)
    bad = commit(repo, git, BAD)
    record(cli, repo, "record", "src/pay.py", "add", "--approach", "charge it", *WHY, "--commit", bad)
    record(cli, repo, "reject", "src/pay.py", "--approach", "charge it", *WHY)
    assert known(cli, repo, BAD) == 100 and known(cli, repo, GOOD) == 0


@pytest.mark.parametrize("kind", ["plain", "sha256", "worktree"])
def test_from_the_commit_that_is_named_once_its_lines_are_gone(make_repo, cli, git, kind):
    repo = make_repo(kind)
    bad = commit(repo, git, GOOD + BAD)
    commit(repo, git, GOOD)
    closing = record(cli, repo, "reject", "users.card", "--approach", "charge it", *WHY, "--commit", bad)
    assert fingerprint(cli, repo, closing)["lines"] == 3
    assert known(cli, repo, BAD) == 100 and known(cli, repo, GOOD) == 0


def test_lines_that_stand_are_never_known_as_rejected(make_repo, cli, git):
    repo = make_repo()
    good = commit(repo, git, GOOD)
    closing = record(cli, repo, "reject", "users.card", "--approach", "charge it", *WHY, "--commit", good)
    assert fingerprint(cli, repo, closing) is None and known(cli, repo, GOOD) == 0
    # taken back in the work tree, and not committed yet: that is gone, too
    (repo / "src/pay.py").write_text("")
    later = record(cli, repo, "reject", "users.other", "--approach", "charge it", *WHY, "--commit", good)
    assert fingerprint(cli, repo, later)["lines"] == 3


def test_the_commit_that_took_it_back_leads_to_what_it_took_back(make_repo, cli, git):
    repo = make_repo()
    commit(repo, git, GOOD)
    commit(repo, git, BAD)
    git("revert", "--no-edit", "HEAD", cwd=repo)
    closing = record(cli, repo, "record", "users.card", "revert", "--approach", "charge it", *WHY, "--commit", "HEAD")
    assert fingerprint(cli, repo, closing)["lines"] == 3
    assert known(cli, repo, BAD) == 100 and known(cli, repo, GOOD) == 0


def test_a_diff_that_is_given_decides_and_other_changes_have_none(make_repo, cli, git):
    repo = make_repo()
    bad = commit(repo, git, BAD)
    commit(repo, git, "")
    (repo / "d.txt").write_text(GOOD)
    closing = record(cli, repo, "reject", "users.card", "--approach", "a", *WHY, "--commit", bad, "--diff", "d.txt")
    assert known(cli, repo, GOOD) == 100 and known(cli, repo, BAD) == 0
    assert fingerprint(cli, repo, closing)["lines"] == 3
    opening = record(cli, repo, "record", "users.name", "add", *WHY, "--commit", bad)
    assert fingerprint(cli, repo, opening) is None
    dry = cli("reject", "users.x", "--approach", "a", *WHY, "--commit", bad, "--dry-run", "--json", cwd=repo)
    assert dry.json["events"][0]["fingerprint"]["lines"] == 3


def test_a_commit_that_can_not_be_looked_into_costs_the_fingerprint_and_nothing_else(make_repo, cli, git):
    repo = make_repo()
    git("checkout", "-qb", "side", cwd=repo)
    commit(repo, git, BAD)
    git("checkout", "-q", "main", cwd=repo)
    commit(repo, git, GOOD, name="b.py")
    git("merge", "-q", "--no-ff", "-m", "merge", "side", cwd=repo)
    closing = record(cli, repo, "reject", "users.card", "--approach", "a", *WHY, "--commit", "HEAD")
    assert fingerprint(cli, repo, closing) is None
    bare = repo.parent / "bare"
    git("clone", "-q", "--bare", repo, bare, cwd=repo.parent)
    git("fetch", "-q", repo, "refs/decisions/log:refs/decisions/log", cwd=bare)
    later = record(cli, bare, "reject", "users.name", "--approach", "a", *WHY, "--commit", "side")
    assert fingerprint(cli, bare, later) is None
