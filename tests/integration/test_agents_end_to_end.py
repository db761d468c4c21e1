"""Each client, from its own payload to its own answer: what was rejected is stopped, anything else passes."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem.core.clients import CLIENTS
from gitmem.hooks.agents.dialects import DIALECTS

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "agents"
BACK = "ALTER TABLE users ADD COLUMN card_token TEXT;\n"
FINE = "ALTER TABLE users ADD COLUMN nickname TEXT;\n"
#: Of each client, the payload that writes a whole file or adds to one.
WRITES = {
    "claude": "write",
    "codex": "add-delete-move",
    "cursor": "write",
    "copilot": "create",
    "vscode": "create",
    "gemini": "write",
    "antigravity": "write",
    "windsurf": "write",
    "devin": "edit",
    "goose": "write",
    "cline": "write",
    "kiro": "write",
    "droid": "create",
    "augment": "save",
    "qwen": "write",
    "opencode": "write",
}
#: What one is answered that may go on.
GO_ON = {
    "cursor": '{"permission":"allow"}',
    "antigravity": '{"decision":"allow"}',
    "cline": '{"cancel":false}',
}


def payload(agent: str, repo: Path, text: str, *, session: str = "", call: str = "") -> bytes:
    """The client's own payload, about `db/add.sql` in `repo` and with `text` as what is new in it."""
    case = json.loads((GOLDEN / agent / f"{WRITES[agent]}.json").read_text("utf-8"))
    (edit, *_) = case["call"]["edits"]
    new = edit.get("content") or edit["pairs"][0][1]
    place = f"{repo}/db/add.sql"

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: moved(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [moved(inner) for inner in value]
        if not isinstance(value, str):
            return value
        if value.startswith("*** Begin Patch"):
            return f"*** Begin Patch\n*** Add File: db/add.sql\n+{text}*** End Patch"
        if value in (edit["path"], new):
            return place if value == edit["path"] else text
        return value.replace("/repo", str(repo))

    given = moved(case["given"])
    ids = ("session_id", "sessionId", "conversation_id", "conversationId", "trajectory_id", "taskId", "sessionID")
    for name in ids:
        if name in given and session:
            given[name] = session
    for name in ("tool_use_id", "callID", "tool_call_id"):
        if name in given and call:
            given[name] = call
    return json.dumps(given, ensure_ascii=False).encode()


def is_stopped(agent: str, out: str, err: str, code: int) -> str:
    """The reason, where the client would make no edit; else an empty string. By its documentation, not by our table."""
    if agent in ("windsurf", "kiro", "augment"):
        assert out == "" and code in (0, 2) and bool(err) == (code == 2)
        return err
    assert code == 0 and err == ""
    answer = json.loads(out) if out else {}
    match agent:
        case "claude" | "codex" | "vscode" | "droid" | "devin" | "qwen":
            inner = answer.get("hookSpecificOutput", {})
            assert inner.get("hookEventName", "PreToolUse") == "PreToolUse" and set(answer) <= {"hookSpecificOutput"}
            return inner["permissionDecisionReason"] if inner.get("permissionDecision") == "deny" else ""
        case "cursor":
            assert answer["permission"] in ("allow", "deny")
            return answer.get("agent_message", "") if answer["permission"] == "deny" else ""
        case "copilot":
            return answer.get("permissionDecisionReason", "") if answer.get("permissionDecision") == "deny" else ""
        case "gemini" | "antigravity":
            return answer["reason"] if answer.get("decision") == "deny" else ""
        case "goose":
            assert not answer or answer["decision"] == "block"
            return answer.get("reason", "")
        case "cline":
            return answer["errorMessage"] if answer["cancel"] else ""
        case "opencode":
            return answer["text"] if answer.get("stop") else ""
    raise AssertionError(agent)


@pytest.fixture
def repo(once, make_repo, cli) -> Path:
    def make() -> Path:
        repo = make_repo(name="größe von repo")
        (repo / "db").mkdir()
        words = ("--approach", "own table", "-r", "we must not store card data", "--instead", "the provider's token")
        done = cli("reject", "users.card_token", *words, "--stale-when", "we are certified", cwd=repo, tty=True)
        assert done.code == 0, done.stderr
        return repo

    return once("a rejection for agents", make)


@pytest.fixture
def ask(cli, tmp_path) -> Callable[..., str]:
    """Asks as the client does, from a directory that is no repository; returns the reason of a stop, or ""."""

    def ask(agent: str, data: bytes, *, named: str = "") -> str:
        done = cli("hook", "--agent", named or agent, cwd=tmp_path, input=data)
        return is_stopped(agent, *done)

    return ask


@pytest.mark.parametrize("agent", DIALECTS)
def test_what_was_rejected_is_stopped_in_each_clients_own_words(agent, repo, ask, cli, tmp_path):
    reason = ask(agent, payload(agent, repo, BACK))
    for words in ("users.card_token", "we must not store card data", "the provider's token", "we are certified"):
        assert words in reason
    event = cli("log", "--json", cwd=repo).json["events"][0]["id"]
    assert event[:8] in reason and "git decisions supersede" in reason and "override" not in reason
    # The same edit without that line, and what a client is answered then.
    done = cli("hook", "--agent", agent, cwd=tmp_path, input=payload(agent, repo, FINE))
    assert (done.stdout, done.stderr, done.code) == (GO_ON.get(agent, ""), "", 0)
    # The payload says whose it is, whatever hook it came to (Kiro's, Augment's and Devin's look like Claude Code's).
    if agent not in ("kiro", "augment", "devin"):
        assert ask(agent, payload(agent, repo, BACK, call="other"), named="claude")
    superseded = cli("supersede", event[:8], "-r", "we are certified now", cwd=repo, tty=True)
    assert superseded.code == 0, superseded.stderr
    assert ask(agent, payload(agent, repo, BACK, call="third")) == ""


def test_the_repository_is_the_one_of_the_file_whatever_the_environment_says(repo, make_repo, cli):
    other = make_repo()
    lies = {"GIT_DIR": f"{other}/.git", "GIT_WORK_TREE": str(other), "GIT_INDEX_FILE": "/nowhere", "GIT_PREFIX": "x/"}
    done = cli("hook", "--agent", "claude", cwd=other, env=lies, input=payload("claude", repo, BACK))
    assert is_stopped("claude", *done)
    done = cli("hook", "--agent", "claude", cwd=repo, env=lies, input=payload("claude", other, BACK))
    assert (done.stdout, done.stderr, done.code) == ("", "", 0)


def test_every_client_that_is_set_up_has_a_dialect_and_the_other_way_round():
    assert set(CLIENTS) == set(DIALECTS) == set(WRITES)


def test_what_nobody_ratified_stops_each_session_and_each_subagent_once(make_repo, ask, cli):
    repo = make_repo()
    (repo / "db").mkdir()
    env = {"CLAUDECODE": "1"}
    done = cli("reject", "users.card_token", "--approach", "own table", "-r", "no card data", cwd=repo, env=env)
    assert done.code == 0, done.stderr
    asked = json.loads((GOLDEN / "claude" / "asked-in-the-shell.json").read_text("utf-8"))["given"]
    asked |= {"session_id": "A", "cwd": str(repo)}
    del asked["agent_id"]
    ask_done = cli("hook", "--agent", "claude", cwd=repo, input=json.dumps(asked))
    assert (ask_done.stdout, ask_done.code) == ("", 0)
    assert ask("claude", payload("claude", repo, BACK, session="A", call="1")) == ""
    # B didn't ask, and neither did a subagent of A.
    assert ask("claude", payload("claude", repo, BACK, session="B", call="1"))
    inside = json.loads(payload("claude", repo, BACK, session="A", call="2")) | {"agent_id": "of A"}
    assert ask("claude", json.dumps(inside).encode())
    # The same call again is answered the same, for it may fire twice; the next one passes.
    assert ask("claude", payload("claude", repo, BACK, session="B", call="1"))
    assert ask("claude", payload("claude", repo, BACK, session="B", call="2")) == ""


def test_a_session_is_told_at_its_start_where_the_client_can_be(repo, cli):
    told = {}
    for agent in DIALECTS:
        for name in ("session-start", "task-start", "agent-spawn", "first-turn"):
            place = GOLDEN / agent / f"{name}.json"
            if place.exists():
                given = json.loads(place.read_text("utf-8").replace("/repo", str(repo)))["given"]
                told[agent] = cli("hook", "--agent", agent, cwd=repo, input=json.dumps(given))
    for agent, done in told.items():
        assert done.code == 0 and done.stderr == ""
        if agent == "goose":  # it has no way in
            assert done.stdout == ""
        else:
            assert "users.card_token" in done.stdout and "we must not store card data" in done.stdout, agent
    assert set(told) == set(DIALECTS) - {"windsurf"}


@pytest.mark.parametrize("agent", ["claude", "codex", "droid", "qwen", "opencode"])
def test_what_was_edited_and_not_recorded_is_told_around_compaction(agent, repo, cli):
    """`db/add.sql` is known to the log; who edits it and records nothing is told so, and its neighbour is not."""
    assert cli("record", "db/add.sql", "add", "-r", "so that it is watched", cwd=repo, tty=True).code == 0
    names = {"PreToolUse": "PostToolUse", "tool.execute.before": "tool.execute.after"}
    for session in ("ours", "theirs"):
        given = json.loads(payload(agent, repo, FINE, session=session))
        for name in ("hook_event_name", "event"):
            given |= {name: names[given[name]]} if name in given else {}
        if session == "theirs":
            given = json.loads(json.dumps(given).replace("add.sql", "other.sql"))
        assert cli("hook", "--agent", agent, cwd=repo, input=json.dumps(given)).code == 0

    def told(session: str) -> str:
        base = {"sessionID": session, "directory": str(repo), "event": "experimental.session.compacting"}
        if agent != "opencode":
            base = {"session_id": session, "cwd": str(repo), "hook_event_name": "SessionStart", "source": "compact"}
            base |= {"turn_id": "t"} if agent == "codex" else {}
        return cli("hook", "--agent", agent, cwd=repo, input=json.dumps(base)).stdout

    assert "db/add.sql" in told("ours") and "db/add.sql" not in told("theirs")
    assert cli("record", "db/add.sql", "modify", "-r", "a nickname", cwd=repo, tty=True).code == 0
    assert "db/add.sql" not in told("ours")


FAILS = """
import sys, time
from gitmem.hooks import agent
def judge(call):
    {act}
agent._judge = judge
sys.exit(agent.main(["--agent", "cursor"]))
"""


@pytest.mark.parametrize(
    ("act", "said"), [("raise RuntimeError('a bug')", "RuntimeError: a bug"), ("time.sleep(60)", "stopped after 1 s")]
)
def test_what_went_wrong_lets_pass_and_is_in_local_activity(repo, cli, act, said):
    data = payload("cursor", repo, BACK)
    done = subprocess.run(
        [sys.executable, "-c", FAILS.format(act=act)], input=data, capture_output=True, cwd=repo, timeout=30
    )
    assert (done.stdout.decode(), done.stderr, done.returncode) == (GO_ON["cursor"], b"", 0)
    with contextlib.closing(sqlite3.connect(repo / ".git" / "gitmem" / "local.sqlite")) as local:
        ((agent, noted),) = local.execute("SELECT agent, said FROM outcomes WHERE what = 'open'").fetchall()
    assert agent == "cursor" and said in noted
    # The same payload without the failure is stopped.
    assert is_stopped("cursor", *cli("hook", "--agent", "cursor", cwd=repo, input=data))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"session_id": "1", "tool_in', "no JSON object"),
        (b"not json", "no JSON object"),
        (b"[1]", "no JSON object"),
        (b'{"a": "' + b"x" * (40 << 20) + b'"}', "a payload of 41,943,049 bytes"),
    ],
    ids=["cut", "words", "list", "large"],
)
def test_a_payload_that_cannot_be_read_lets_pass_and_is_in_local_activity(repo, cli, data, why):
    def noted() -> list[tuple[str, str]]:
        with contextlib.closing(sqlite3.connect(repo / ".git" / "gitmem" / "local.sqlite")) as local:
            return local.execute("SELECT agent, said FROM outcomes WHERE what = 'open'").fetchall()

    assert is_stopped("cursor", *cli("hook", "--agent", "cursor", cwd=repo, input=payload("cursor", repo, BACK)))
    for nothing in (b"", b" \n", b"{}"):
        assert cli("hook", "--agent", "cursor", cwd=repo, input=nothing).stdout == GO_ON["cursor"]
    assert noted() == []
    assert cli("hook", "--agent", "cursor", cwd=repo, input=data).stdout == GO_ON["cursor"]
    ((agent, said),) = noted()
    assert agent == "cursor" and why in said and "not json" not in said


def test_the_deadline_answers_in_the_dialect_of_whose_payload_it_is(repo):
    """Cursor starts Claude Code's hooks, and makes no edit at all where it is answered with nothing."""
    act = FAILS.format(act="time.sleep(60)").replace('["--agent", "cursor"]', '["--agent", "claude"]')
    for agent in ("cursor", "claude"):
        data = payload(agent, repo, BACK)
        done = subprocess.run([sys.executable, "-c", act], input=data, capture_output=True, cwd=repo, timeout=30)
        assert (done.stdout.decode(), done.stderr, done.returncode) == (GO_ON.get(agent, ""), b"", 0)
