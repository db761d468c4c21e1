"""What hooks see: kept as a proposal where it is worth it, in the inbox where not, and never in the way."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path

import pytest
from taken_out import found_in

from gitmem.cases import capturing
from gitmem.core.calls import Call, Edit
from gitmem.core.drafts import Draft
from gitmem.hooks import gate
from gitmem.memory import Memory
from gitmem.store.inbox import is_due
from gitmem.store.repository import locate

REASON = "Pooled connections lose the time zone of the session."
FAILING = "FAILED tests/test_pool.py::test_it_is_given_back - assert 1 == 0"


class World:
    """A repository with our hooks, and what people and agents do in it."""

    def __init__(self, repo: Path, cli, git) -> None:
        self.repo = repo
        self.cli = cli
        self.git = git
        assert cli("init", cwd=repo).code == 0

    def commit(self, message: str, *paths: str, amend: bool = False) -> str:
        for path in paths or ("src/pool.py",):
            place = self.repo / path
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("a", encoding="utf-8") as file:
                file.write(f"# {time.monotonic_ns()}\n")
        self.git("add", ".", cwd=self.repo)
        done = self.git.run("commit", "-q", *(["--amend"] if amend else []), "-F", "-", cwd=self.repo, input=message)
        assert done.returncode == 0 and done.stderr == b"", done.stderr
        return self.git("rev-parse", "HEAD", cwd=self.repo)

    def revert(self, why: str = "") -> str:
        """Commit something, and take it back."""
        bad = self.commit("Pool the connections")
        self.git("revert", "--no-commit", bad, cwd=self.repo)
        text = f'Revert "Pool the connections"\n\nThis reverts commit {bad}.\n' + (f"\n{why}\n" if why else "")
        assert self.git.run("commit", "-q", "-F", "-", cwd=self.repo, input=text).returncode == 0
        return self.git("rev-parse", "HEAD", cwd=self.repo)

    def fails(self, *lines: str, session: str = "s1", agent: str = "claude") -> None:
        given = {
            "session_id": session,
            "cwd": str(self.repo),
            "hook_event_name": "PostToolUseFailure",
            "tool_name": "Bash",
            "tool_input": {"command": "pytest -q"},
            "error": "\n".join(("Exit code 1", *(lines or (FAILING,)))),
        }
        done = self.cli("hook", "--agent", agent, cwd=self.repo, input=json.dumps(given))
        assert (done.code, done.stdout, done.stderr) == (0, "", "")

    def lessons(self) -> list[dict]:
        return self.events("lesson")

    def events(self, kind: str) -> list[dict]:
        return self.cli("log", "--kind", kind, "--json", cwd=self.repo).json["events"]

    def waiting(self) -> list[dict]:
        return self.cli("inbox", "--json", cwd=self.repo).json["waiting"]

    def teach(self, monkeypatch, core: str, *, days: int = 0, **fields) -> str:
        """A lesson of so many days ago, as somebody stated it then."""
        at = time.time() - days * 86400
        with monkeypatch.context() as patch:
            patch.setattr("gitmem.cases.desk.time.time", lambda: at)
            memory = Memory.open(str(self.repo))
            try:
                return memory.teach(Draft("lesson", {"core": core, **fields})).rows[-1].event.id
            finally:
                memory.close()

    def edit(self, path: str, *, session: str = "claude:a", call: str = "") -> str:
        content = f"x = {time.monotonic_ns()}\n"
        answer = gate.judge(
            Call("claude", "edit", edits=[Edit(path, content=content)], session=session, call_id=call,
                 cwd=str(self.repo))
        )  # fmt: skip
        assert not answer.stop
        return answer.text


@pytest.fixture
def world(make_repo, cli, git) -> World:
    return World(make_repo(), cli, git)


# --- what hooks see -----------------------------------------------------------------------------


def test_a_revert_with_its_reason_becomes_a_proposed_lesson_in_its_own_words(world):
    head = world.revert(f"{REASON} We saw it on Monday.")
    (lesson,) = world.lessons()
    assert lesson["core"] == REASON
    assert (lesson["channel"], lesson["trust"], lesson["basis"]) == ("hook", "proposed", "none")
    assert lesson["paths"] == ["src/pool.py"] and lesson["outcome"] < 0 and lesson["severity"] == 70
    assert lesson["evidence"][0] == f"commit:{head}" and lesson["evidence"][1].startswith("reverts:")
    assert world.waiting() == []
    # A commit that takes nothing back tells nothing, whatever its words.
    world.commit(f"Revert to the old habit of bad, terrible, disastrous pools\n\n{REASON}")
    assert len(world.lessons()) == 1 and world.waiting() == []


def test_a_revert_without_a_reason_waits_in_the_inbox_with_its_score(world):
    world.revert()
    assert world.lessons() == []
    (item,) = world.waiting()
    assert item["core"] == 'Revert "Pool the connections"' and item["source"] == "revert"
    assert {part["name"] for part in item["score"]["parts"]} == {
        *("severity", "novelty", "nearness", "reuse", "redundancy")
    }
    assert item["score"]["total"] == sum(part["points"] for part in item["score"]["parts"]) < item["score"]["bar"]
    told = world.cli("inbox", cwd=world.repo)
    assert told.code == 0 and "severity" in told.stdout and item["id"][:8] in told.stdout
    world.commit("Something else")
    assert world.lessons() == [] and len(world.waiting()) == 1


def test_a_revert_of_a_revert_tells_nothing(world, git):
    head = world.revert(REASON)
    (lesson,) = world.lessons()
    git("revert", "--no-edit", head, cwd=world.repo)
    assert [one["id"] for one in world.lessons()] == [lesson["id"]] and world.waiting() == []
    git("revert", "--no-edit", "HEAD", cwd=world.repo)  # taken back once more, and that is one
    assert len(world.lessons()) + len(world.waiting()) == 2


def test_the_same_again_is_a_recurrence_and_not_a_new_lesson(world):
    world.revert(REASON)
    (first,) = world.lessons()
    second_commit = world.revert("Pooled connections lose the time zone of each session.")
    later, again = world.lessons()
    assert again["id"] == first["id"] and first["targets"] == []
    assert later["targets"] == [first["id"]] and f"commit:{second_commit}" in later["evidence"]


def test_what_turned_out_otherwise_is_not_repeated(world):
    taught = world.cli("lesson", REASON, "--outcome", "80", "--json", cwd=world.repo, tty=True).json["events"][-1]
    world.revert(REASON)
    seen = [one for one in world.lessons() if one["id"] != taught["id"]]
    assert all(one["targets"] == [] for one in seen) and (seen or world.waiting())


def test_a_failure_is_noted_where_it_was_and_not_where_something_was_asked(world, make_repo):
    elsewhere = make_repo(name="elsewhere")
    assert world.cli("record", "users.email", "add", "-r", "so", cwd=elsewhere).code == 0
    given = {
        "session_id": "s1",
        "cwd": str(world.repo),
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": f"cd {elsewhere} && git decisions prior users.email; pytest -q || true"},
        "tool_response": {"stdout": FAILING},
    }
    assert world.cli("hook", "--agent", "claude", cwd=world.repo, input=json.dumps(given)).code == 0
    assert len(world.waiting()) == 1
    assert world.cli("inbox", "--json", cwd=elsewhere).json["waiting"] == []


def test_an_amend_of_a_revert_doesnt_say_it_twice(world, git):
    world.revert(REASON)
    assert len(world.lessons()) == 1
    message = git("log", "-1", "--format=%B", cwd=world.repo)
    world.commit(message + "\n", amend=True)
    world.commit(message + "\n", amend=True)
    assert len(world.lessons()) == 1 and world.waiting() == []
    # One that waits is told by the words that stand in the end.
    world.revert()
    message = git("log", "-1", "--format=%B", cwd=world.repo)
    world.commit(f"{message}\n\nThe cache has no such lock in it.\n", amend=True)
    assert world.lessons()[0]["core"] == "The cache has no such lock in it."
    assert world.waiting() == []


def test_a_failing_test_waits_and_becomes_a_lesson_when_it_comes_back(world):
    world.commit("a test", "tests/test_pool.py")
    world.fails()
    world.fails()
    (item,) = world.waiting()
    assert item["core"] == FAILING and item["times"] == 1 and item["paths"] == ["tests/test_pool.py"]
    world.commit("work", "tests/test_pool.py")
    assert world.lessons() == []
    world.fails(session="s2")
    world.commit("more work", "tests/test_pool.py")
    (lesson,) = world.lessons()
    assert lesson["core"] == FAILING and lesson["channel"] == "hook" and world.waiting() == []
    # Words of failure are no failing test.
    world.fails("everything FAILED, it is a disaster: the tests are broken")
    assert world.waiting() == []


def test_an_override_tells_its_reason(world):
    done = world.cli(
        "reject", "src/pool.py", "--approach", "a global pool", "-r", "It leaks.", "--json", cwd=world.repo, tty=True
    )
    rejected = done.json["events"][0]["id"]
    done = world.cli("override", rejected, "-r", "The demo needs it today. Nothing else.", cwd=world.repo, tty=True)
    assert done.code == 0
    (item,) = world.waiting()
    assert item["core"] == "The demo needs it today." and item["source"] == "override"
    assert item["paths"] == ["src/pool.py"] and item["evidence"][0].startswith("event:")
    head = world.commit("The demo")
    (lesson,) = world.lessons()
    assert lesson["core"] == "The demo needs it today." and f"commit:{head}" in lesson["evidence"]
    assert lesson["trust"] == "proposed"  # a machine kept it, whoever said it


def test_what_looks_like_a_secret_is_nowhere_in_the_clear(world, git):
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    world.fails(f"FAILED tests/test_a.py::test_it - got {secret}")
    (item,) = world.waiting()
    assert item["core"].startswith("FAILED tests/test_a.py::test_it - got [secret:")
    bad = world.commit("Pool")
    git("revert", "--no-commit", bad, cwd=world.repo)
    text = f'Revert "Pool"\n\nThis reverts commit {bad}.\n\nThe token {secret} was in it.\n'
    git.run("commit", "-q", "-F", "-", cwd=world.repo, input=text)
    (lesson,) = world.lessons()
    assert "[secret:" in lesson["core"]
    places = [place for place in found_in(git, world.repo, secret) if not place.startswith(("commit", "loose"))]
    assert [place for place in places if "COMMIT_EDITMSG" not in place] == []  # git's own, of the commit


# --- keeping and dropping -----------------------------------------------------------------------


def test_what_is_kept_is_stated_by_who_keeps_it_and_what_is_dropped_stays_away(world):
    world.fails("FAILED tests/test_a.py::test_one - no")
    world.fails("--- FAIL: TestOther (0.1s)")
    one, other = sorted(world.waiting(), key=lambda item: item["core"], reverse=True)
    done = world.cli("inbox", "--keep", one["id"][:8], "--drop", other["id"][:8], "--json", cwd=world.repo, tty=True)
    assert done.code == 0 and done.json["dropped"] == [other["id"]] and done.json["waiting"] == []
    (lesson,) = world.lessons()
    assert lesson["core"] == one["core"] and (lesson["channel"], lesson["trust"]) == ("human", "ratified")
    world.fails("--- FAIL: TestOther (0.1s)", session="s2")
    assert world.waiting() == []
    world.fails("--- FAIL: TestAnother (0.1s)", session="s2")
    assert len(world.waiting()) == 1


def test_an_id_that_waits_nowhere_is_told_and_nothing_is_written(world):
    world.fails()
    before = (world.repo / ".git" / "gitmem" / "inbox.sqlite").read_bytes()
    done = world.cli("inbox", "--keep", "ffff", cwd=world.repo)
    assert done.code == 12 and "git decisions inbox" in done.stderr and "nothing was written" in done.stderr
    done = world.cli("inbox", "--keep", world.waiting()[0]["id"], "--drop", world.waiting()[0]["id"], cwd=world.repo)
    assert done.code == 15 and world.lessons() == []
    world.cli("inbox", cwd=world.repo)
    world.cli("inbox", "--json", cwd=world.repo)
    assert (world.repo / ".git" / "gitmem" / "inbox.sqlite").read_bytes() == before  # looking changes nothing
    assert world.cli("inbox", "--keep", world.waiting()[0]["id"][:4], cwd=world.repo).code == 0


def test_the_inbox_never_travels_and_a_redaction_empties_it(world, git, tmp_path):
    git("init", "-q", "--bare", str(tmp_path / "far.git"), cwd=tmp_path)
    git("remote", "add", "origin", str(tmp_path / "far.git"), cwd=world.repo)
    git("push", "-q", "origin", "HEAD:main", cwd=world.repo)
    world.fails("FAILED tests/test_a.py::test_one - correct-horse-battery-staple")
    lesson = world.cli("lesson", "The horse is a staple.", "--json", cwd=world.repo, tty=True).json["events"][0]["id"]
    assert world.cli("push", cwd=world.repo).code == 0
    assert found_in(git, tmp_path / "far.git", "correct-horse-battery-staple") == []
    assert found_in(git, tmp_path / "far.git", "The horse is a staple.") != []
    assert found_in(git, world.repo, "correct-horse-battery-staple") != []
    world.cli("recall", "horse", cwd=world.repo)
    memory = Memory.open(str(world.repo))
    capturing.note_use(memory.desk, [lesson], "s1")
    memory.close()
    assert world.cli("redact", lesson, "-r", "a secret", cwd=world.repo, tty=True).code == 0
    assert world.waiting() == [] and found_in(git, world.repo, "correct-horse-battery-staple") == []


# --- use --------------------------------------------------------------------------------------


def test_a_commit_that_names_lessons_writes_one_use_for_all(world, monkeypatch):
    one = world.teach(monkeypatch, "The fixture needs the time zone set.")
    other = world.teach(monkeypatch, "Retries hid the real error of the client.")
    head = world.commit(f"Mend the fixture\n\nLesson: L-{one[:8]}\nDecision-Id: {other[:16]}\nLesson: ffffffff\n")
    (use,) = world.events("use")
    assert use["targets"] == sorted((one, other)) and (use["how"], use["commit"]) == ("commit", head)
    assert use["channel"] == "hook"
    world.commit(f"Mend the fixture\n\nLesson: {one[:8]}\n", amend=True)
    world.cli("hook", cwd=world.repo)
    assert len(world.events("use")) == 1  # the same commit, worded anew
    world.commit(f"Something else\n\nLesson: {one}\n")
    assert len(world.events("use")) == 2


def test_uses_of_recalls_are_written_in_one_batch_at_the_next_commit(world, monkeypatch):
    one = world.teach(monkeypatch, "The fixture needs the time zone set.")
    other = world.teach(monkeypatch, "Retries hid the real error of the client.")
    memory = Memory.open(str(world.repo))
    capturing.note_use(memory.desk, [one], "claude:s1")
    capturing.note_use(memory.desk, [one, other], "claude:s1")
    capturing.note_use(memory.desk, [one, "f" * 64], "")
    memory.close()
    assert world.events("use") == []
    tip = world.git("rev-parse", "refs/decisions/log", cwd=world.repo)
    world.commit("work")
    uses = world.events("use")
    assert sorted((use["session_id"] or "", use["targets"]) for use in uses) == [
        ("", [one]),
        ("claude:s1", sorted((one, other))),
    ]
    assert {use["how"] for use in uses} == {"applied"}
    assert world.git("rev-list", "--count", f"{tip}..refs/decisions/log", cwd=world.repo) == "1"
    world.commit("more")
    assert len(world.events("use")) == 2
    memory = Memory.open(str(world.repo))
    capturing.note_use(memory.desk, [other], "claude:s2")
    memory.sleep(dry_run=True)
    assert len(world.events("use")) == 2
    memory.sleep()
    memory.close()
    assert len(world.events("use")) == 3 and not is_due(locate(world.repo))


# --- caution --------------------------------------------------------------------------------


def test_an_edit_near_faded_lessons_asks_for_care_once_and_tells_nothing_of_them(world, monkeypatch):
    old = world.teach(monkeypatch, "Xylophones rust in the pool.", days=200, paths=["src/pool.py"], severity=20)
    world.teach(monkeypatch, "Zebras deadlock at noon.", days=160, paths=["src"])
    world.teach(monkeypatch, "Near and fresh, and told by recall.", paths=["src/pool.py"])
    world.teach(monkeypatch, "Elsewhere it faded too.", days=300, paths=["docs/a.md"])
    tip = world.git("rev-parse", "refs/decisions/log", cwd=world.repo)
    said = world.edit("src/pool.py")
    shown = world.cli("reveal", "src/pool.py", "--json", cwd=world.repo).json
    points, number = shown["caution"], len(shown["lessons"])
    assert number == 2 and points > 0
    assert said == f"caution +{points} from 2 faded lessons (`git decisions reveal src/pool.py`)"
    assert "ylophone" not in said and "ebra" not in said
    assert world.edit("src/pool.py") == ""  # once in a session, for each file
    assert "from 1 faded lesson (" in world.edit("src/other.py")
    assert world.edit("src/pool.py", session="claude:b") == said
    assert world.edit("lib/pool.py") == world.edit("README") == ""
    told = world.cli("reveal", "src/pool.py", cwd=world.repo).stdout
    assert "Xylophones rust" in told and "Zebras" in told and "Near and fresh" not in told and "Elsewhere" not in told
    below = world.cli("reveal", "docs", "--json", cwd=world.repo).json
    assert ["Elsewhere" in one["core"] for one in below["lessons"]] == [True] and below["caution"] == 0
    assert len(world.cli("reveal", ".", "--json", cwd=world.repo).json["lessons"]) == 3
    assert world.cli("reveal", "", cwd=world.repo).code == 15
    assert "no lesson has faded" in world.cli("reveal", "lib", cwd=world.repo).stdout
    assert world.git("rev-parse", "refs/decisions/log", cwd=world.repo) == tip  # looking changes nothing
    again = world.cli("reveal", "src/pool.py", "--json", cwd=world.repo).json
    assert [one["id"] for one in again["lessons"]] == [one["id"] for one in shown["lessons"]]
    assert world.cli("seal", old, "-r", "not now", cwd=world.repo, tty=True).code == 0
    assert len(world.cli("reveal", "src/pool.py", "--json", cwd=world.repo).json["lessons"]) == 1


def test_a_latent_lesson_that_is_used_twice_asks_for_no_care_any_more(world, monkeypatch):
    old = world.teach(monkeypatch, "Xylophones rust in the pool.", days=200, paths=["src/pool.py"])
    world.commit(f"one\n\nLesson: {old[:12]}\n")
    (lesson,) = world.cli("reveal", "src/pool.py", "--json", cwd=world.repo).json["lessons"]
    assert lesson["touches"] == 1
    world.commit(f"two\n\nLesson: {old[:12]}\n")
    assert world.cli("reveal", "src/pool.py", "--json", cwd=world.repo).json["lessons"] == []
    assert world.edit("src/pool.py") == ""


def test_no_policy_lets_a_lesson_fade_before_a_glance_looks_at_it():
    from lesson_events import World as Events

    from gitmem.core.lessons.policies import LATENT, POLICIES
    from gitmem.store.glance import FADES_AFTER_DAYS

    for policy in POLICIES:
        world = Events()
        lesson = world.lesson("It fades.", 0)
        assert world.book(FADES_AFTER_DAYS, policy).lessons[lesson].band != LATENT
    assert world.book(FADES_AFTER_DAYS + 1, policy).lessons[lesson].band == LATENT


# --- never in the way -----------------------------------------------------------------------------


def test_a_hook_fails_for_nothing_that_is_broken_here(world, git):
    world.fails()
    place = world.repo / ".git" / "gitmem" / "inbox.sqlite"
    place.write_bytes(b"no database at all" * 50)
    world.commit("work")  # and no word of it
    world.revert(REASON)
    assert len(world.lessons()) == 1
    place.unlink()
    place.mkdir()
    world.commit("work")
    world.revert("The cache holds a lock that nobody gives back.")
    world.fails()
    place.rmdir()
    db = sqlite3.connect(place, isolation_level=None)
    db.execute("CREATE TABLE t(x)")
    db.execute("BEGIN EXCLUSIVE")
    try:
        world.commit("while somebody has it")
    finally:
        db.close()


def test_where_nobody_keeps_decisions_nothing_is_noted(make_repo, cli, git):
    repo = make_repo()
    given = {"session_id": "s", "cwd": str(repo), "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
             "tool_input": {}, "error": FAILING}  # fmt: skip
    assert cli("hook", "--agent", "claude", cwd=repo, input=json.dumps(given)).code == 0
    assert not (repo / ".git" / "gitmem").exists()
    told = cli("inbox", cwd=repo)
    assert told.code == 0 and "empty" in told.stdout and not (repo / ".git" / "gitmem" / "inbox.sqlite").exists()
    told = cli("reveal", "a.py", cwd=repo)
    assert told.code == 10 and "no decision log" in told.stderr


def test_a_worktree_shares_the_inbox_and_a_bare_repository_has_one(world, git, cli, tmp_path):
    git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other", cwd=world.repo)
    world.fails()
    assert [one["core"] for one in cli("inbox", "--json", cwd=tmp_path / "tree").json["waiting"]] == [FAILING]
    git("clone", "-q", "--bare", str(world.repo), str(tmp_path / "bare.git"), cwd=tmp_path)
    assert cli("inbox", cwd=tmp_path / "bare.git").code == 0
    assert cli("reveal", "src/pool.py", cwd=tmp_path / "bare.git").code == 10  # a bare clone has no log
    git("fetch", "-q", "origin", "refs/decisions/log:refs/decisions/log", cwd=tmp_path / "bare.git")
    assert cli("reveal", "src/pool.py", cwd=tmp_path / "bare.git").code == 0


def test_japanese_is_captured_as_it_stands(world):
    world.revert("接続を共有すると時刻帯が失われる。昨日わかった。")
    (lesson,) = world.lessons()
    assert lesson["core"] == "接続を共有すると時刻帯が失われる。"
    assert os.environ["LC_ALL"] == "C.UTF-8"
