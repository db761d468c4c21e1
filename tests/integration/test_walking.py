"""`review` one by one, typed at a terminal: editing, keeping both, accepting, stopping in the middle."""

from __future__ import annotations

import os
import pty
import select
import time
from pathlib import Path

import pytest
from conftest import SCRIPTS

from gitmem.memory import Memory

AGENT = {"CLAUDECODE": "1"}
WHY = ("-r", "We looked at it together.")
REF = "refs/decisions/log"


@pytest.fixture
def agent(cli, repo):
    def run(*args, cwd=repo):
        outcome = cli(*args, "--json", cwd=cwd, env=AGENT)
        assert outcome.code == 0, (args, outcome)
        return outcome.json["events"][0]["id"]

    return run


@pytest.fixture
def walk(cli, repo):
    """Types lines into `review`, and returns what it said."""

    def run(*lines, editor=None, options=(), cwd=repo):
        env = {"NO_COLOR": "1"} | ({"GIT_EDITOR": editor} if editor else {})
        outcome = cli("review", *options, cwd=cwd, tty="all", input="".join(f"{line}\n" for line in lines), env=env)
        assert outcome.code == 0, outcome
        return outcome.stdout

    return run


def tip(git, repo: Path) -> str:
    return git("rev-parse", REF, cwd=repo)


def decisions(person, name: str, cwd=None) -> dict[str, tuple[str, str]]:
    found = person("status", name, "--json", **({"cwd": cwd} if cwd else {})).json["decisions"]
    return {one["approach"]: (one["verdict"], one["trust"]) for one in found}


# --- edit and ratify -------------------------------------------------------------------------


def test_a_persons_words_take_the_place_of_a_proposal_and_hold_as_theirs(person, agent, walk, repo, tmp_path):
    proposed = agent(
        "reject", "users.card", "--approach", "own tabel", "-r", "PCI", "--stale-when", "x", "--evidence", "url:a"
    )
    editor = "sed -i -e 's/own tabel/own table/' -e 's/^PCI$/PCI DSS forbids it./' -e 's/^stale-when: x/stale-when:/'"
    said = walk("e", "Spelt right.", "q", editor=editor)
    assert "1 decision made, 0 still waiting" in said
    assert decisions(person, "users.card") == {"own table": ("rejected", "ratified")}
    newest = person("log", "--json").json["events"][0]
    assert (newest["reasoning"], newest["stale_when"], newest["evidence"]) == ("PCI DSS forbids it.", None, ["url:a"])
    assert (newest["basis"], newest["channel"]) == ("person", "human")
    shown = person("show", proposed, "--json").json
    assert shown["event"]["trust"] == "retracted" and shown["reviews"][0]["reason"] == "Spelt right."
    assert person("review", "--all", "--json").json["items"] == []
    # It refuses what the proposal would have refused, for agents too.
    assert "PCI DSS" in person("record", "users.card", "add", "--approach", "own table", "-r", "Again.", code=14).stderr


def test_where_nothing_waits_that_is_said_and_no_count(person, agent, walk):
    person("record", "a.b", "add", *WHY)
    assert walk().strip() == "nothing waits for a person."
    agent("reject", "a.c", "--approach", "that way", *WHY)
    assert "1 thing left to look at" in walk("q")


@pytest.mark.parametrize("whole", [False, True])
def test_an_edited_rejection_closes_what_the_proposal_would_have_closed(whole, person, agent, walk):
    way = () if whole else ("--approach", "own table")
    person("record", "users.card", "add", *way, "-r", "Faster.")
    agent("reject", "users.card", *way, *(("--whole",) if whole else ()), "-r", "PCI")
    approach = "" if whole else "own table"
    assert decisions(person, "users.card")[approach] == ("active", "ratified")  # an agent's waits
    walk("e", "Right.", editor="sed -i 's/^PCI$/PCI DSS./'")
    assert decisions(person, "users.card")[approach] == ("rejected", "ratified")


def test_an_edited_supersede_lifts_what_the_proposal_would_have_lifted(person, agent, walk):
    person("reject", "users.card", "--approach", "own table", "-r", "PCI.")
    lift = agent("supersede", "users.card", "-r", "New law")
    agent("record", "users.card", "add", "--approach", "own table", "-r", "As the law has it.")
    walk("e", "Right, with the law's name.", editor="sed -i 's/^New law$/PSD3 allows it./'")
    assert decisions(person, "users.card")["own table"][0] == "active"
    (old,) = [event for event in person("log", "--json", "--all").json["events"] if event["id"] == lift]
    assert old["trust"] == "retracted"
    newest = next(e for e in person("log", "--json").json["events"] if e["change_type"] == "supersede")
    assert newest["reasoning"] == "PSD3 allows it." and newest["basis"] == "person"
    # What was opened in the hope of it stands on it now, and whose words it is in is told.
    (said,) = [
        e for e in person("log", "--json").json["events"] if e["change_type"] == "add" and e["basis"] == "person"
    ]
    assert said["reasoning"] == "As the law has it." and "author:Ada Lovelace <ada@example.org>" in said["evidence"]


def test_what_the_editor_leaves_decides_and_nothing_is_written_where_it_says_no(person, agent, walk, git, repo):
    proposed = agent("reject", "users.card", "--approach", "own table", "-r", "PCI")
    before = tip(git, repo)
    for editor, said in (
        ("false", "the editor failed"),
        ("sed -i 's/^PCI$//'", "the reason is empty"),
        ("sed -i 's/^approach/aproach/'", "`aproach: own table` is none of approach, instead"),
        ("sed -i 's/^PCI$/The token is ghp_0123456789abcdefghijABCDEFGHIJ012345/'", "nothing was written"),
    ):
        told = walk("e", *(["Why."] if "token" in editor else []), "q", editor=editor)
        assert said in told and "0 decisions made, 1 still waiting" in told, told
    assert tip(git, repo) == before
    assert [path.name for path in (repo / ".git/gitmem").iterdir() if "EDITMSG" in path.name] == []
    walk("e", "As it is.", editor="true")  # nothing changed: it is ratified itself
    shown = person("show", proposed, "--json").json
    assert shown["event"]["trust"] == "ratified" and [r["action"] for r in shown["reviews"]] == ["ratify"]


def test_what_was_refused_is_in_the_editor_again_the_next_time(person, agent, walk, tmp_path):
    agent("reject", "users.card", "--approach", "own table", "-r", "PCI")
    seen = tmp_path / "seen"
    editor = tmp_path / "editor"
    editor.write_text(
        f"#!/bin/sh\ncat \"$1\" >> {seen}\nsed -i -e 's/^Mine..$/Mine./' -e 's/^PCI$/Mine\\x07./' \"$1\"\n"
    )
    editor.chmod(0o755)
    said = walk("e", "Why.", "e", "Why.", "q", editor=str(editor))
    assert "1 decision made" in said
    assert seen.read_text().count("Mine") == 1
    assert person("log", "--json").json["events"][0]["reasoning"] == "Mine."


def test_ratify_edit_does_the_same_from_the_command_line_and_is_a_persons(person, agent, cli, git, repo):
    proposed = agent("reject", "users.card", "--approach", "own table", "-r", "PCI")
    env = {"GIT_EDITOR": "sed -i 's/^PCI$/PCI DSS./'"}
    before = tip(git, repo)
    refused = cli("ratify", "--edit", proposed, *WHY, cwd=repo, env=AGENT | env)
    assert refused.code == 14 and "in your own terminal" in refused.stderr
    person("ratify", "--edit", proposed, *WHY, "--dry-run", env=env)
    assert tip(git, repo) == before
    person("ratify", "--edit", proposed, proposed, *WHY, code=2)
    opening = agent("record", "users.email", "add", "-r", "Login.")
    assert (
        "no rejection"
        in person("ratify", "--edit", opening, *WHY, code=14, env={"GIT_EDITOR": "sed -i s/Login/L/"}).stderr
    )
    assert len(person("ratify", "--edit", proposed[:8], *WHY, "--json", env=env).json["events"]) == 2
    assert git("ls-tree", "--name-only", REF, cwd=repo).count(".json") == 2  # in one commit
    assert decisions(person, "users.card") == {"own table": ("rejected", "ratified")}
    sealed = agent("reject", "users.pin", "--approach", "plain", "-r", "Known to all.")
    person("seal", sealed, *WHY)
    assert (
        "is sealed" in person("ratify", "--edit", sealed, *WHY, code=14, env={"GIT_EDITOR": "sed -i s/Known/K/"}).stderr
    )


# --- contested: keep one, keep both ----------------------------------------------------------


def join(git, here: Path, there: Path) -> str:
    git("fetch", "--quiet", there, f"+{REF}:refs/fetched", cwd=here)
    memory = Memory.open(str(here))
    try:
        return memory.join(git("rev-parse", "refs/fetched", cwd=here))
    finally:
        memory.close()


@pytest.fixture
def contested(person, git, repo, make_repo):
    """(other clone, closing, opening): one rejected an approach while the other adopted it; both were joined."""
    other = make_repo()
    way = ("--approach", "own table", "--json")
    closing = person("reject", "users.card", *way, "-r", "PCI.").json["events"][0]["id"]
    opening = person("record", "users.card", "add", *way, "-r", "Tokens.", cwd=other).json["events"][0]["id"]
    join(git, repo, other)
    join(git, other, repo)
    assert decisions(person, "users.card")["own table"][0] == "contested"
    return other, closing, opening


@pytest.mark.parametrize("number", [1, 2])
def test_one_side_of_what_is_contested_is_kept_by_its_number(number, contested, person, walk, git, repo):
    other, *_ = contested
    walk(str(number), "That one.")
    for cwd in (repo, other):
        join(git, other, repo)
        assert decisions(person, "users.card", cwd)["own table"][0] == ("rejected", "active")[number - 1]


@pytest.mark.parametrize("renamed", ["closing", "opening"])
def test_both_sides_are_kept_where_one_of_them_is_another_way(renamed, contested, person, walk, git, repo):
    other, closing, opening = contested
    which = "1" if renamed == "closing" else "2"
    said = walk("b", which, "own table for tokens", "They are two things.")
    assert f"[1] {closing[:8]}, [2] {opening[:8]}" in said and "1 decision made, 0 still waiting" in said
    join(git, other, repo)
    for cwd in (repo, other):
        verdicts = {approach: verdict for approach, (verdict, _) in decisions(person, "users.card", cwd).items()}
        if renamed == "closing":
            assert verdicts == {"own table": "active", "own table for tokens": "rejected"}
        else:
            assert verdicts == {"own table": "rejected", "own table for tokens": "active"}
    closed = "own table for tokens" if renamed == "closing" else "own table"
    assert person("record", "users.card", "modify", "--approach", closed, "-r", "Again.", code=14)
    assert person("verify", "--json").json["sound"]


def test_both_needs_another_approach_and_one_side_that_stands_alone(contested, person, walk, cli, git, repo):
    _, closing, opening = contested
    before = tip(git, repo)
    for approach, said in (("The own  TABLE", "is the approach that is contested"), ("", "")):
        told = walk("b", "2", approach, *(["Why."] if approach else []), "q")
        assert said in told and "0 decisions made" in told
    walk("b", "7", "q")
    both = ("resolve", "users.card", "--both")
    assert person(*both, opening, *WHY, code=2) and person(*both, opening, "--approach", "x", "--keep", closing, code=2)
    agent = cli(*both, opening, "--approach", "x", *WHY, cwd=repo, env=AGENT)
    assert agent.code == 14 and "own terminal" in agent.stderr
    assert tip(git, repo) == before
    person(*both, opening, "--approach", "own table for tokens", *WHY)


def test_beside_a_rejection_of_the_whole_another_approach_is_no_way_out(person, git, repo, make_repo, walk):
    other = make_repo()
    closing = person("reject", "users.card", "-r", "PCI.", "--json").json["events"][0]["id"]
    way = ("--approach", "own table", "--json")
    opening = person("record", "users.card", "add", *way, "-r", "Tokens.", cwd=other).json["events"][0]["id"]
    join(git, repo, other)
    (item,) = person("review", "--json").json["items"]
    assert [(one["do"], one["id"]) for one in item["actions"]] == [
        ("keep", closing), ("keep", opening), ("both", closing),
    ]  # fmt: skip
    said = person("resolve", "users.card", "--both", opening, "--approach", "tokens", *WHY, code=14).stderr
    assert f"`--keep {opening[:8]}` keeps this one open" in said
    person("resolve", "users.card", "--keep", opening, *WHY)
    assert decisions(person, "users.card")["own table"][0] == "active"
    assert person("record", "users.card", "add", "--approach", "another", "-r", "x", code=14)  # all others stay closed


# --- other things that wait ------------------------------------------------------------------


def test_an_opening_is_rejected_and_a_supersede_of_what_is_due_re_opens(person, agent, walk):
    agent("record", "users.card", "add", "--approach", "own table", "-r", "Faster.")
    said = walk("x", "Against the rules.", options=("--all",))
    assert "reject (close this approach) [x]" in said
    assert decisions(person, "users.card") == {"own table": ("rejected", "ratified")}
    due = ("--revisit-after", "2020-01-01", "--approach", "md5", "-r", "Weak.")
    person("reject", "users.hash", *due)
    person("reject", "users.key", *due)
    answer = person("review", "--json").json
    assert (answer["waiting"], answer["due"], [item["why"] for item in answer["items"]]) == (0, 2, ["due", "due"])
    assert answer["items"][0]["due"]["flag"] == "revisit_due"
    assert "2 due for another look" in person("review").stdout
    editor = "sed -i -e 's/^revisit-after: .*/revisit-after: 2999-01-01/'"
    walk("s", "Good enough here.", "e", "Still weak.", editor=editor)
    assert decisions(person, "users.hash")["md5"][0] == "reopened"
    assert decisions(person, "users.key") == {"md5": ("rejected", "ratified")}
    assert person("review", "--json").json["items"] == [] == person("stale", "--json").json["decisions"]


def test_every_decision_of_a_walk_is_signed_where_that_was_asked_for(person, agent, walk, git, repo, tmp_path):
    import subprocess

    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    git("config", "user.signingKey", tmp_path / "key", cwd=repo)
    for name in "ab":
        agent("reject", f"users.{name}", "--approach", "md5", "-r", "Weak")
    walk("r", "Yes.", "e", "Yes.", options=("--sign",), editor="sed -i 's/^Weak$/Too weak./'")
    assert person("verify", "--json").json["signatures"] == 3  # the ratify; the retract and what takes its place


# --- stopping --------------------------------------------------------------------------------


class Terminal:
    """A command on a terminal of its own, which it may be interrupted from."""

    def __init__(self, *args: str, cwd: Path) -> None:
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.environ["NO_COLOR"] = "1"
            os.execv(SCRIPTS / "git-decisions", ["git-decisions", *args])
        self.said = ""

    def until(self, text: str) -> None:
        end = time.monotonic() + 60
        while text not in self.said:
            assert time.monotonic() < end, self.said
            if select.select([self._fd], [], [], 0.2)[0]:
                self.said += os.read(self._fd, 4096).decode("utf-8", "replace")

    def type(self, text: str) -> None:
        self.said = ""
        os.write(self._fd, text.encode())

    def end(self) -> int:
        while True:
            try:
                chunk = os.read(self._fd, 4096)
            except OSError:
                break
            if not chunk:
                break
            self.said += chunk.decode("utf-8", "replace")
        os.close(self._fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.mark.parametrize("at", ["the question", "the reason"])
@pytest.mark.parametrize("how", ["\x03", "\x04", "half a reaso\x04\x04"])
def test_ctrl_c_and_the_end_of_input_stop_between_two_decisions(at, how, person, agent, git, repo):
    ids = [agent("reject", f"users.{name}", "--approach", "md5", "-r", "Weak.") for name in "abc"]
    terminal = Terminal("review", cwd=repo)
    terminal.until("[q]uit?")
    terminal.type("r\n")
    terminal.until("why?")
    terminal.type("Yes.\n")
    terminal.until("[q]uit?")
    before = tip(git, repo)
    if at == "the reason":
        terminal.type("r\n")
        terminal.until("why?")
    terminal.type(how)
    terminal.until("1 decision made, 2 still waiting")
    code = terminal.end()
    assert code == (130 if how == "\x03" else 0) and "Traceback" not in terminal.said
    assert tip(git, repo) == before
    trusts = [person("show", one, "--json").json["event"]["trust"] for one in ids]
    assert trusts == ["ratified", "proposed", "proposed"]
