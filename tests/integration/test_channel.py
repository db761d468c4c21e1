"""Who is writing, as the process sees it: a person needs a terminal, and no agent's mark around it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from gitmem.core.vocabulary import CHANNELS
from gitmem.store.channel import AGENTS, CI, Seen, detect


def test_a_person_has_a_terminal_and_a_script_has_none() -> None:
    assert detect({}, terminal=True) == Seen("human", "", "")
    assert detect({}, terminal=False) == Seen("script", "", "")


@pytest.mark.parametrize(("agent", "name"), [(agent, name) for agent, names in AGENTS.items() for name in names])
def test_an_agents_mark_counts_for_more_than_its_terminal(agent, name) -> None:
    assert detect({name: "1"}, terminal=True)[:2] == ("agent", agent)
    for unset in ("", "0", "false"):
        assert detect({name: unset}, terminal=True) == Seen("human", "", "")


def test_an_agent_may_name_itself() -> None:
    assert detect({"AI_AGENT": "somebody-new"}, terminal=True) == Seen("agent", "somebody-new", "")
    assert detect({"AGENT": "goose"}, terminal=True) == Seen("agent", "goose", "")
    assert detect({"AGENT": "ssh-agent-of-a-person"}, terminal=True) == Seen("human", "", "")


def test_what_a_person_configures_an_agent_with_makes_no_agent() -> None:
    configured = {
        "CLAUDE_CODE_USE_BEDROCK": "1",
        "CODEX_HOME": "~/.codex",
        "GEMINI_API_KEY": "x",
        "EDITOR": "cursor",
    }
    assert detect(configured, terminal=True) == Seen("human", "", "")


def test_the_session_comes_with_the_agent_and_not_without() -> None:
    assert detect({"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}, terminal=False) == Seen(
        "agent", "claude-code", "s1"
    )
    assert detect({"CODEX_THREAD_ID": "t1"}, terminal=False) == Seen("agent", "codex", "t1")
    assert detect({"GITMEM_SESSION": "mine"}, terminal=True) == Seen("human", "", "")


@pytest.mark.parametrize("name", CI)
def test_a_ci_service_is_no_person_even_where_it_gives_a_terminal(name) -> None:
    assert detect({name: "true"}, terminal=True) == Seen("ci", "", "")
    assert detect({name: "false"}, terminal=True) == Seen("human", "", "")


def test_an_agent_in_a_ci_service_is_an_agent() -> None:
    assert detect({"CI": "true", "CODEX_SANDBOX": "seatbelt"}, terminal=False)[:2] == ("agent", "codex")


@pytest.mark.parametrize("name", ["GITMEM_HOOK", "GIT_INDEX_FILE", "GIT_QUARANTINE_PATH"])
def test_a_git_hook_is_a_hook_whoever_committed(name) -> None:
    assert detect({name: "x"}, terminal=True) == Seen("hook", "", "")
    assert detect({name: "x", "CLAUDECODE": "1"}, terminal=True)[:2] == ("hook", "claude-code")
    assert detect({"GIT_DIR": "x"}, terminal=True).channel == "human"


def test_every_channel_it_gives_is_in_the_vocabulary() -> None:
    given = [{}, {"CI": "1"}, {"CLAUDECODE": "1"}, {"GITMEM_HOOK": "post-commit"}]
    seen = {detect(environ, terminal=terminal).channel for environ in given for terminal in (True, False)}
    assert seen == {"human", "script", "ci", "agent", "hook"}
    assert seen < set(CHANNELS)


SHOW = [sys.executable, "-c", "from gitmem.store.channel import detect; print(detect().channel)"]


@pytest.mark.parametrize("stream", ["stdin", "stderr", "stdout"])
def test_a_real_terminal_on_stdin_or_stderr_makes_a_person_and_one_on_stdout_does_not(stream) -> None:
    ours, theirs = pty.openpty()
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(SHOW, **{**streams, stream: theirs})  # type: ignore[call-overload]
    os.close(theirs)
    said = process.stdout.read() if process.stdout is not None else os.read(ours, 100)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
    os.close(ours)
    assert said.decode().strip() == ("script" if stream == "stdout" else "human")


def test_closed_streams_are_no_terminal() -> None:
    ended = subprocess.run(["sh", "-c", '"$@" <&- 2>&-', "sh", *SHOW], stdout=subprocess.PIPE, text=True)
    assert ended.stdout.strip() == "script"
