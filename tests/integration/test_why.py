"""`git decisions why FILE[:LINE]`: from a line through its history to the decisions behind it."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

AUTH = """import time

class Session:
    def token(self):
        return make()

    def other(self):
        return 1
"""


@pytest.fixture
def repo(make_repo, git, cli):
    """Sessions, decided on `topic`, squashed into main by other words, and the file moved."""
    repo = make_repo()
    cli("init", cwd=repo)
    (repo / "src").mkdir()
    (repo / "src" / "auth.py").write_text(AUTH)
    git("add", "-A", cwd=repo)
    git("commit", "--quiet", "-m", "sessions", cwd=repo)
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    (repo / "src" / "auth.py").write_text(AUTH.replace("return make()", "return rotate(make())"))
    return repo


def record(cli, repo, entity: str, *words: str) -> str:
    done = cli("record", entity, "modify", "-r", f"why {entity}", "--json", *words, cwd=repo, tty=True)
    return done.json["events"][0]["id"]


def why(cli, repo, place: str, **options: Any) -> dict[str, Any]:
    return cli("why", place, "--json", cwd=repo, **options).json


def behind(answer: dict[str, Any]) -> list[tuple[str, list[str]]]:
    return [(one["subject"], [event["id"] for event in one["events"]]) for one in answer["commits"]]


def test_from_a_line_through_move_squash_and_amend_to_the_decision(repo, git, cli):
    column = record(cli, repo, "sessions.token", "--approach", "rotate on login")
    git("commit", "--quiet", "-am", "rotate", cwd=repo)
    git("commit", "--quiet", "--amend", "-m", "rotate tokens", cwd=repo)
    git("checkout", "--quiet", "main", cwd=repo)
    git("merge", "--quiet", "--squash", "topic", cwd=repo)
    # A minute later: within one second a squash of one commit can't be told from a rebase.
    later = {"GIT_AUTHOR_DATE": f"@{int(time.time()) + 60} +0000"}
    git("commit", "--quiet", "-m", "all of it (#12)", cwd=repo, env=later)
    git("branch", "--quiet", "-D", "topic", cwd=repo)
    git("mv", "src/auth.py", "src/session.py", cwd=repo)
    git("commit", "--quiet", "-m", "move", cwd=repo)
    assert behind(why(cli, repo, "src/session.py:5")) == [("all of it (#12)", []), ("sessions", [])]
    assert "link --scan" in cli("why", "src/session.py:5", cwd=repo).stdout
    cli("link", "--scan", cwd=repo)
    answer = why(cli, repo, "src/session.py:5")
    assert answer["known"] is True and answer["text"].strip() == "return rotate(make())"
    assert behind(answer) == [("all of it (#12)", [column]), ("sessions", [])]
    told = answer["commits"][0]["events"][0]
    assert (told["how"], told["confidence"], told["reverted_by"]) == ("squash", "exact", None)
    assert answer["events"][0]["approach"] == "rotate on login"
    text = cli("why", "src/session.py:5", cwd=repo).stdout
    assert "all of it (#12)" in text and "why sessions.token" in text and "[by squash, from " in text
    # Its neighbour has another history, and so has the file as a whole.
    assert behind(why(cli, repo, "src/session.py:8")) == [("sessions", [])]
    assert [column] in [events for _, events in behind(why(cli, repo, "src/session.py"))]
    # A revert is told where the line's decision is.
    git("revert", "--no-edit", "HEAD~1", cwd=repo)
    by = git("rev-parse", "HEAD", cwd=repo)
    events = [event for one in why(cli, repo, "src/session.py")["commits"] for event in one["events"]]
    assert [event["reverted_by"] for event in events if event["id"] == column] == [by]


def test_decisions_on_the_file_and_on_the_symbol_around_the_line_are_told_too(repo, git, cli):
    token = record(cli, repo, "src/auth.py::Session.token")
    other = record(cli, repo, "src/auth.py::Session.other")
    whole = record(cli, repo, "src/auth.py")
    assert set(why(cli, repo, "src/auth.py:8")["about"]) == {other, whole}
    assert set(why(cli, repo, "src/auth.py:5")["about"]) == {token, whole}
    assert set(why(cli, repo, "src/auth.py:1")["about"]) == {whole}
    assert set(why(cli, repo, "src/auth.py")["about"]) == {token, other, whole}
    # What was taken back is on no surface; the sibling stays.
    cli("retract", other, "-r", "no", cwd=repo, tty=True)
    assert set(why(cli, repo, "src/auth.py:8")["about"]) == {whole}


def test_every_way_of_naming_a_file_and_one_clear_sentence_for_each_that_is_wrong(repo, git, cli):
    (repo / "new.py").write_text("x = 1\n")
    (repo / "日本.txt").write_text("一\n")
    (repo / "a:3").write_text("odd\n")
    (repo / "bin").write_bytes(b"\0\1\2\n")
    git("add", "日本.txt", "a:3", "bin", cwd=repo)
    git("commit", "--quiet", "-m", "names", cwd=repo)
    good = {
        ("src/auth.py:4", repo): ("src/auth.py", 4, None),
        ("auth.py:4", repo / "src"): ("src/auth.py", 4, None),
        (":/src/auth.py:4", repo / "src"): ("src/auth.py", 4, None),
        ("../readme:1", repo / "src"): ("readme", 1, None),
        ("日本.txt:1", repo): ("日本.txt", 1, None),
        ("a:3", repo): ("a:3", None, None),
        ("a:3:1", repo): ("a:3", 1, None),
        ("bin", repo): ("bin", None, None),
        ("src/auth.py:5", repo): ("src/auth.py", 5, "line 5 of src/auth.py is not committed yet."),
        ("new.py:1", repo): ("new.py", 1, "new.py is not committed yet."),
    }
    for (place, at), (file, line, note) in good.items():
        answer = why(cli, at, place)
        assert (answer["file"], answer["line"], answer["note"]) == (file, line, note), place
        assert bool(answer["commits"]) == (note is None), place
    wrong = {
        "src/auth.py:99": "src/auth.py has 8 lines, and no line 99",
        "src/auth.py:0": "lines are counted from 1",
        "src/auth.py:x": "'x' is no number of a line (in 'src/auth.py:x')",
        "src/atuh.py": "there is no file 'src/atuh.py' here",
        "auth.py": "there is no file 'auth.py' here",
        "src": "src is a folder",
        "bin:1": "bin is a binary file and has no lines",
        "/etc/hostname": "there is no file '/etc/hostname' here",
    }
    for place, sentence in wrong.items():
        done = cli("why", place, cwd=repo)
        assert (done.code, done.stdout) == (2, ""), place
        assert done.stderr.splitlines()[0] == f"error: {sentence}", place
    assert "did you mean `src/auth.py`?" in cli("why", "src/atuh.py", cwd=repo).stderr
    assert "did you mean `src/auth.py`?" in cli("why", "auth.py", cwd=repo).stderr
    error = cli("why", "src", "--json", cwd=repo)
    assert error.code == 2 and error.json["error"]["name"] == "Usage"


def test_a_deleted_file_still_has_its_history(repo, git, cli):
    git("checkout", "--quiet", "--", "src", cwd=repo)
    git("rm", "--quiet", "src/auth.py", cwd=repo)
    event = record(cli, repo, "sessions")
    git("commit", "--quiet", "-m", "no more sessions", cwd=repo)
    answer = why(cli, repo, "src/auth.py")
    assert behind(answer) == [("no more sessions", [event]), ("sessions", [])]
    assert answer["note"] == "src/auth.py is no more; its last commit took it away."
    assert "it has no line 3" in cli("why", "src/auth.py:3", cwd=repo).stderr


def test_the_first_commit_is_told_whatever_git_is_told_to_show(make_repo, git, cli):
    repo = make_repo("empty")
    (repo / "auth.py").write_text(AUTH)
    git("add", "-A", cwd=repo)
    git("commit", "--quiet", "-m", "sessions", cwd=repo)
    cli("init", cwd=repo)
    git("config", "log.showRoot", "false", cwd=repo)
    assert [one["subject"] for one in why(cli, repo, "auth.py")["commits"]] == ["sessions"]


@pytest.mark.parametrize("kind", ["plain", "worktree", "sha256", "empty", "bare"])
@pytest.mark.parametrize("log", [True, False], ids=["log", "no log"])
def test_it_works_wherever_git_does_and_reading_writes_nothing(make_repo, git, cli, kind, log):
    repo = make_repo(kind)
    if log:
        assert cli("record", "a.b", "add", "-r", "Reason.", cwd=repo).code == 0
        assert cli("log", cwd=repo).code == 0  # the cache stands
    before = {path: path.stat().st_mtime_ns for path in sorted(repo.rglob("*")) if path.is_file()}
    done = cli("why", "readme:1", cwd=repo)
    if kind in ("empty", "bare"):
        assert done.code == 2 and "there is no file 'readme' here" in done.stderr
    elif log:
        assert done.code == 0 and "commit 1" in done.stdout
    else:  # a fresh clone: saying that nothing is known would be wrong
        assert done.code == 10 and "git decisions init" in done.stderr
    assert {path: path.stat().st_mtime_ns for path in sorted(repo.rglob("*")) if path.is_file()} == before
    assert log or not os.path.exists(repo / ".git" / "gitmem")
