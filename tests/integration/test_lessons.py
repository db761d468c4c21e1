"""Lessons through the installed command: stated, said once more, put in fewer words, listed, marked, taken out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from taken_out import found_in, is_sound

CORE = "The fixture needs the time zone set; without it the due dates are a day off."
RETRIES = "Retries hid the real error: the client does not log the first attempt. It cost a day."


def taught(cli, repo: Path, *words: str, agent: bool = False) -> dict:
    done = cli("lesson", *words, "--json", cwd=repo, tty=not agent, env={"CLAUDECODE": "1"} if agent else None)
    assert done.code == 0, done.stderr
    return done.json["events"][-1]


@pytest.mark.parametrize("kind", ["plain", "sha256", "bare", "worktree", "reftable"])
def test_a_lesson_is_kept_whole_in_every_repository(make_repo, cli, kind):
    repo = make_repo(kind)
    words = ("--topic", "tests", "--outcome", "-60", "--severity", "40", "--cost", "90", "--binding", "practice")
    event = taught(cli, repo, CORE, *words, "--path", "tests/fixtures.py", "--evidence", "test:test_due")
    assert event["core"] == CORE and event["kind"] == "lesson"
    assert (event["topic"], event["outcome"], event["severity"], event["cost"]) == ("tests", -60, 40, 90)
    assert (event["binding"], event["paths"]) == ("practice", ["tests/fixtures.py"])
    assert event["trust"] == "ratified" and event["channel"] == "human"
    shown = cli("show", event["id"], cwd=repo)
    assert CORE in shown.stdout and "tests/fixtures.py" in shown.stdout
    listed = cli("log", "--json", cwd=repo).json["events"]
    assert [one["id"] for one in listed] == [event["id"]]
    assert cli("verify", cwd=repo).code == 0


def test_a_lesson_is_what_its_writer_said(make_repo, cli):
    repo = make_repo()
    japanese = taught(cli, repo, "再試行は本当のエラーを隠す。", "--topic", "再試行")
    assert japanese["core"] == "再試行は本当のエラーを隠す。" and japanese["topic"] == "再試行"
    found = cli("search", "エラー", "--json", cwd=repo).json["events"]
    assert [one["id"] for one in found] == [japanese["id"]]
    # an agent's is a proposal
    assert taught(cli, repo, RETRIES, agent=True)["trust"] == "proposed"


def test_what_says_the_same_again_is_a_recurrence_and_never_a_loss(make_repo, cli):
    repo = make_repo()
    first = taught(cli, repo, CORE)
    done = cli(
        "lesson",
        "The fixture needs the time zone set: without it due dates are a day off",
        "--json",
        cwd=repo,
        tty=True,
    )
    again = done.json["events"][-1]
    assert again["targets"] == [first["id"]] and again["core"].startswith("The fixture needs the time zone set: with")
    assert f"L-{first['id'][:8]}" in done.stderr and "2 times now" in done.stderr
    third = taught(cli, repo, CORE)
    assert third["targets"] == [first["id"]]
    # what says something else, the contrary, or turned out otherwise, is a lesson of its own
    assert taught(cli, repo, RETRIES)["targets"] == []
    assert taught(cli, repo, CORE, "--outcome", "80")["targets"] == []
    assert (
        taught(cli, repo, "The fixture does not need the time zone set; without it due dates are right")["targets"]
        == []
    )
    assert len(cli("log", "--json", cwd=repo).json["events"]) == 6


def test_a_gist_has_only_words_of_its_lesson(make_repo, cli):
    repo = make_repo()
    lesson = taught(cli, repo, RETRIES)
    for text, word in (("Retries hid the actual error.", "actual"), ("The client does log the first attempt.", "not")):
        done = cli("gist", lesson["id"][:8], text, cwd=repo, tty=True)
        assert done.code == 15 and word in done.stderr and "nothing was written" in done.stderr, done.stderr
    done = cli(
        "gist",
        f"L-{lesson['id'][:8]}",
        "Retries hid the real error: the client does not log the first attempt.",
        "--json",
        cwd=repo,
        tty=True,
    )
    assert done.code == 0, done.stderr
    assert done.json["events"][0]["gist"] == "Retries hid the real error: the client does not log the first attempt."
    # the core stays
    assert cli("show", lesson["id"], "--json", cwd=repo).json["event"]["core"] == RETRIES
    # only of a lesson; of a person's, only by a person
    decision = cli("record", "users.email", "add", "-r", "Why.", "--json", cwd=repo).json["events"][0]["id"]
    refused = cli("gist", decision, "Why.", cwd=repo, tty=True)
    assert refused.code == 14 and "no lesson" in refused.stderr
    refused = cli("gist", lesson["id"], "The real error.", cwd=repo, env={"CLAUDECODE": "1"})
    assert refused.code == 14 and "only a person" in refused.stderr
    own = taught(cli, repo, "Alpine images lack the certificates.", agent=True)
    assert cli("gist", own["id"], "Alpine lacks certificates.", cwd=repo, env={"CLAUDECODE": "1"}).code in (0, 15)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["x" * 281], 15, "281 characters"),
        (["  "], 15, "core"),
        (["Fine.", "--outcome", "101"], 15, "from -100 to 100"),
        (["Fine.", "--outcome", "bad"], 2, "whole number"),
        (["Fine.", "--severity", "-1"], 15, "from 0 to 100"),
        (["Fine.", "--binding", "law"], 15, "note, practice, policy"),
        (["Fine.", "--path", "../outside"], 15, "outside"),
        (["The token is ghp_" + "aB3dE6gH9j" * 3 + "kL2mN5"], 15, "GitHub"),
        (["Fine.", "--verbatim", "nowhere.txt"], 2, "nowhere.txt"),
    ],
)
def test_what_is_no_lesson_is_refused_and_nothing_is_written(make_repo, cli, words, code, said):
    repo = make_repo()
    done = cli("lesson", *words, cwd=repo)
    assert done.code == code, done.stderr
    assert said in done.stderr and "nothing was written" in done.stderr and "Traceback" not in done.stderr
    assert cli("log", cwd=repo).stdout == ""
    assert taught(cli, repo, "Fine.")


def test_the_verbatim_is_sealed_and_only_audit_reads_it(make_repo, cli, tmp_path):
    repo = make_repo()
    (tmp_path / "story.txt").write_text("It began with quokka on a Tuesday.\n")
    event = taught(cli, repo, CORE, "--verbatim", str(tmp_path / "story.txt"))
    assert "quokka" in cli("audit", event["id"], cwd=repo).stdout
    for words in (["log", "--json"], ["show", event["id"]], ["export", "--format", "markdown"], ["export"]):
        said = cli(*words, cwd=repo).stdout
        assert "quokka" not in said and "due dates" in said, words
    assert cli("search", "quokka", "--json", cwd=repo).json["events"] == []


def test_marks_reviews_and_redaction_hold_for_lessons(make_repo, cli):
    repo = make_repo()
    lesson = taught(cli, repo, CORE, agent=True)
    assert cli("ratify", lesson["id"], "-r", "So it is.", cwd=repo, tty=True).code == 0
    assert cli("show", lesson["id"], "--json", cwd=repo).json["event"]["trust"] == "ratified"
    assert cli("mute", lesson["id"], "-r", "Enough of it.", cwd=repo, tty=True).code == 0
    assert cli("log", cwd=repo).stdout == "" and CORE in cli("log", "--all", cwd=repo).stdout
    assert cli("unmute", lesson["id"], "-r", "It is back.", cwd=repo, tty=True).code == 0
    assert cli("retract", lesson["id"], "-r", "Wrong.", cwd=repo, env={"CLAUDECODE": "1"}).code == 14
    redacted = cli("redact", lesson["id"], "-r", "Names a customer.", cwd=repo, tty=True)
    assert redacted.code == 0, redacted.stderr
    for words in (["log", "--all", "--json"], ["show", lesson["id"]], ["search", "fixture"]):
        assert "time zone" not in cli(*words, cwd=repo).stdout, words
    objects = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=repo, capture_output=True, check=True
    ).stdout
    assert b"time zone" not in objects
    assert cli("verify", cwd=repo).code == 0
    # what is gone says nothing again: this is a new lesson
    assert taught(cli, repo, CORE)["targets"] == []


def test_eight_agents_teach_at_once_and_nothing_is_lost(make_repo, cli):
    repo = make_repo()
    program = str(Path(sys.executable).parent / "git-decisions")
    environment = os.environ | {"CLAUDECODE": "1"}
    running = [
        subprocess.Popen([program, "lesson", CORE], cwd=repo, env=environment, stdout=subprocess.DEVNULL)
        for _ in range(8)
    ]
    assert [one.wait() for one in running] == [0] * 8
    events = cli("log", "--json", cwd=repo).json["events"]
    assert len(events) == 8
    # each of a later try saw the first, and says so
    (first,) = [one["id"] for one in events if not one["targets"]]
    assert all(one["targets"] == [first] for one in events if one["id"] != first)
    assert cli("verify", cwd=repo).code == 0


def test_a_redaction_of_a_lesson_takes_its_gists_along_and_names_what_repeats_it(make_repo, cli, git):
    repo = make_repo()
    lesson = taught(cli, repo, RETRIES)
    other = taught(cli, repo, CORE)
    short = "The client does not log the first attempt."
    assert cli("gist", lesson["id"], short, cwd=repo, tty=True).code == 0
    again = taught(cli, repo, RETRIES.replace("Retries", "The retries"))
    assert again["targets"] == [lesson["id"]]
    done = cli("redact", lesson["id"], "-r", "Names a customer.", "--json", cwd=repo, tty=True)
    assert done.code == 0 and len(done.json["redacted"]) == 2, done.stderr
    assert any(again["id"][:8] in sentence for sentence in done.json["held"])
    assert found_in(git, repo, short) == []
    assert found_in(git, repo, again["core"]) and found_in(git, repo, other["core"])
    assert cli("redact", again["id"], "-r", "The same.", cwd=repo, tty=True).code == 0
    assert found_in(git, repo, "the first attempt") == []
    is_sound(git, cli, repo)


def test_a_gist_that_comes_back_after_its_lesson_was_redacted_is_warned_of(make_repo, cli, git):
    repo, elsewhere = make_repo(), make_repo(name="elsewhere")
    lesson = taught(cli, repo, RETRIES)
    git("fetch", "--quiet", repo, "+refs/decisions/log:refs/decisions/log", cwd=elsewhere)
    assert cli("gist", lesson["id"], "The client does not log the first attempt.", cwd=elsewhere, tty=True).code == 0
    assert cli("redact", lesson["id"], "-r", "Names a customer.", cwd=repo, tty=True).code == 0
    is_sound(git, cli, repo)
    git("remote", "add", "other", elsewhere, cwd=repo)
    cli("fetch", "other", cwd=repo, tty=True)
    found = cli("verify", "--json", cwd=repo).json["findings"]
    assert [one["rule"] for one in found if one["severity"] == "warning"] == ["redacted-gist"], found


def test_the_policy_of_lessons_is_the_clone_s_else_the_repository_s(make_repo, cli, git):
    repo = make_repo()
    taught(cli, repo, CORE)

    def policy(*words: str) -> str:
        done = cli("sleep", "--dry-run", "--json", *words, cwd=repo)
        assert done.code == 0, done.stderr
        return done.json["policy"].partition(" ")[0]

    assert policy() == "tender/1"
    (repo / ".decisions.toml").write_text('[lessons]\npolicy = "austere"\n')
    assert policy() == "austere/1"
    git("config", "decisions.lessonPolicy", "tender", cwd=repo)
    assert policy() == "tender/1" and policy("--policy", "austere") == "austere/1"
    git("config", "decisions.lessonPolicy", "tendr", cwd=repo)
    refused = cli("sleep", cwd=repo)
    assert refused.code == 15 and "'tendr'" in refused.stderr and "tender, austere" in refused.stderr
    git("config", "--unset", "decisions.lessonPolicy", cwd=repo)
    (repo / ".decisions.toml").write_text("[lessons]\npolcy = 1\n")
    refused = cli("sleep", cwd=repo)
    assert refused.code == 15 and "lessons.polcy" in refused.stderr and "policy" in refused.stderr


def test_what_another_component_learned_is_not_repeated(make_repo, cli):
    repo = make_repo()
    (repo / ".decisions.toml").write_text('[components]\nshop = "shop"\nbilling = "billing"\n')
    for name in ("shop", "billing"):
        (repo / name).mkdir()
    first = taught(cli, repo / "shop", CORE)
    assert first["scope"] == "shop"
    assert taught(cli, repo / "billing", CORE)["targets"] == []
    assert taught(cli, repo / "shop", CORE)["targets"] == [first["id"]]
