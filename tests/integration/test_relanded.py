"""What is closed and whose lines a later commit brought back: `stale` and `review` say so until it is settled."""

from __future__ import annotations

import pytest

LINES = """def charge(card_number, cvv, amount):
    token = gateway.tokenize(card_number, cvv)
    database.store("card_tokens", token, expires=None)
    return gateway.charge(token, amount, currency="EUR")
"""
LATER = {"GIT_COMMITTER_DATE": "2090-01-01T00:00:00Z", "GIT_AUTHOR_DATE": "2090-01-01T00:00:00Z"}
EARLIER = {"GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z", "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z"}


@pytest.fixture
def commit(git, repo):
    def commit(text: str | None, *, name="pay.py", env=LATER) -> str:
        if text is None:
            (repo / name).unlink()
        else:
            (repo / name).write_text(text)
        git("add", "-A", cwd=repo)
        git("commit", "--quiet", "-m", "A commit", cwd=repo, env=env)
        return git("rev-parse", "HEAD", cwd=repo)

    return commit


@pytest.fixture
def closed(person, repo, tmp_path):
    (tmp_path / "lines").write_text(LINES)
    words = ("reject", "users.card", "--approach", "own table", "-r", "PCI.", "--diff", tmp_path / "lines", "--json")
    return person(*words).json["events"][0]["id"]


def flags(person) -> dict[str, list[str]]:
    found = person("stale", "--json").json["decisions"]
    return {one["standing"]: [signal["flag"] for signal in one["signals"]] for one in found}


def test_a_commit_that_brings_closed_lines_back_is_told_until_a_supersede(person, closed, commit, cli, repo):
    assert flags(person) == {}
    back = commit("import gateway\n\n\n" + LINES)
    assert flags(person) == {closed: ["relanded"]}
    (decision,) = person("stale", "--flag", "relanded", "--json").json["decisions"]
    (signal,) = decision["signals"]
    assert signal["commit"] == back and signal["since"].startswith("2090-01-01") and back[:10] in signal["why"]
    (item,) = person("review", "--json").json["items"]
    assert (item["why"], item["event"]["id"], item["due"]["signals"]) == ("relanded", closed, [signal])
    assert item["commands"] == [f"git decisions supersede {closed[:8]} -r WHY"]
    answer = person("review", "--json").json
    assert (answer["waiting"], answer["relanded"], answer["due"]) == (0, 1, 0)
    assert "1 closed and back in a commit" in person("review").stdout
    assert "100 % of its lines are back" in person("stale").stdout
    outcome = cli("review", cwd=repo, tty="all", input="s\nThe vault is ours now.\n", env={"NO_COLOR": "1"})
    assert "1 decision made" in outcome.stdout
    assert flags(person) == {} and person("review", "--json").json["items"] == []


def test_what_was_there_before_what_is_gone_again_and_what_is_little_is_not_told(person, closed, commit, tmp_path):
    commit(LINES, name="old.py", env=EARLIER)  # the attempt that was rejected
    assert flags(person) == {}
    # Another closing is older than that commit; each is held against what came after itself.
    (tmp_path / "others").write_text(LINES.replace("card", "fax").replace("token", "image").replace("charge", "send"))
    older = ("--diff", tmp_path / "others", "--valid-from", "2019-01-01")
    person("reject", "users.fax", "--approach", "own table", "-r", "Nobody has one.", *older)
    assert flags(person) == {}
    commit(LINES.splitlines(keepends=True)[0] + "    return None\n", name="other.py")  # one line of four
    assert flags(person) == {}
    commit(LINES)
    assert flags(person) == {closed: ["relanded"]}
    commit(None)  # taken back once more
    assert flags(person) == {}
    commit(LINES, name="again.py")
    assert flags(person) == {closed: ["relanded"]}


def test_a_line_or_two_come_back_in_their_own_file_only(person, commit, tmp_path):
    (tmp_path / "line").write_text(LINES.splitlines(keepends=True)[1])
    words = ("reject", "pay.py", "--approach", "own table", "-r", "PCI.", "--diff", tmp_path / "line", "--json")
    one = person(*words).json["events"][0]["id"]
    commit(LINES, name="other.py")
    assert flags(person) == {}
    commit(LINES)
    assert flags(person) == {one: ["relanded"]}


def test_a_file_that_only_moves_brings_nothing_back(person, closed, commit, git, repo):
    commit(LINES, name="old.py", env=EARLIER)
    git("mv", "old.py", "new.py", cwd=repo)
    git("commit", "--quiet", "-m", "move", cwd=repo, env=LATER)
    assert flags(person) == {}
    commit(LINES, name="copy.py")
    assert flags(person) == {closed: ["relanded"]}


def test_another_branch_is_no_matter_here_and_other_conditions_are_told_beside(person, closed, commit, git, repo):
    git("checkout", "--quiet", "-b", "side", cwd=repo)
    commit(LINES)
    git("checkout", "--quiet", "main", cwd=repo)
    assert flags(person) == {}
    git("checkout", "--quiet", "side", cwd=repo)
    assert flags(person) == {closed: ["relanded"]}
    due = ("--revisit-after", "2020-01-01", "--diff", "pay.py")
    both = person("reject", "users.pin", "--approach", "plain", "-r", "No.", *due, "--json").json["events"][0]["id"]
    assert flags(person) == {closed: ["relanded"], both: ["relanded", "revisit_due"]}
    assert {item["event"]["id"]: item["why"] for item in person("review", "--json").json["items"]} == {
        closed: "relanded",
        both: "relanded",
    }


def test_what_is_muted_disputed_or_in_a_siblings_component_is_not_told(person, closed, commit, repo, cli):
    commit(LINES)
    person("mute", closed, "-r", "Known.")
    assert flags(person) == {}
    person("unmute", closed, "-r", "Not so.")
    person("dispute", closed, "-r", "Is it so?")
    assert flags(person) == {}
    person("ratify", closed, "-r", "It is.")
    assert flags(person) == {closed: ["relanded"]}


def test_what_commits_add_is_read_once(person, closed, commit, repo):
    import sqlite3

    commit(LINES)
    assert flags(person) == {closed: ["relanded"]}
    db = sqlite3.connect(repo / ".git/gitmem/local.sqlite")
    assert db.execute("SELECT COUNT(*) FROM additions").fetchone()[0] >= 1
    db.execute("UPDATE additions SET marks = ?", (b"",))
    db.commit()
    assert flags(person) == {}  # so it is not read again
    db.execute("DELETE FROM additions")
    db.commit()
    db.close()
    assert flags(person) == {closed: ["relanded"]}
