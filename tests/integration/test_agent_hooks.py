"""What agents' clients start, as they start it: whatever they send, an edit is stopped only where that was meant."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.core.calls import Answer, Call
from gitmem.hooks import agent as entry
from gitmem.hooks.agents import dialects, payloads
from gitmem.hooks.agents.answering import neutral

SCRIPTS = Path(sys.executable).parent
GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "agents"
CASES = [json.loads(path.read_text("utf-8")) for path in sorted(GOLDEN.glob("*/*.json"))]
AGENTS = ("", *dialects.DIALECTS)
#: What a client may be answered that has nothing to be told.
NEUTRAL = {b"", b"{}", b'{"permission":"allow"}', b'{"continue":true}', b'{"decision":"allow"}', b'{"cancel":false}'}


def broken(chance: random.Random) -> Iterator[bytes]:
    """Payloads without end, each made of a client's own and then broken in one of many ways."""
    texts = [json.dumps(case["given"], ensure_ascii=False) for case in CASES]
    odd = [
        "null",
        "true",
        "[]",
        "{}",
        "-1",
        "1e999",
        '""',
        '"\\ud800"',
        "[" * 40 + "]" * 40,
        "9" * 30,
        '{"a":{}}',
        "NaN",
    ]
    while True:
        text = chance.choice(texts)
        data = text.encode()
        match chance.randrange(12):
            case 0:
                data = data[: chance.randrange(len(data) + 1)]
            case 1:
                data = b"\xef\xbb\xbf" + data
            case 2:
                data = text.encode("utf-16")
            case 3:
                at = chance.randrange(len(data))
                data = data[:at] + bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9))) + data[at:]
            case 4:
                data = text.replace('": "', '": "\x00\x1b[31m\x07\t\n').encode()
            case 5:
                deep = chance.choice((10, 1000, 100_000))
                data = b'{"tool_input":' * deep + data + b"}" * deep
            case 6:
                data = (text[:-1] + f', "more": "{"x" * chance.choice((10, 10**5, 10**6))}"}}').encode()
            case 7:
                given = json.loads(text)
                for key in chance.sample(sorted(given), min(2, len(given))):
                    given[key] = json.loads(chance.choice(odd).replace("NaN", "0"))
                data = json.dumps(given).encode()
            case 8:
                given = json.loads(text)
                for key in ("tool_input", "toolArgs", "args", "tool_info", "preToolUse", "toolCall"):
                    if isinstance(given.get(key), dict):
                        inner = given[key]
                        for name in list(inner):
                            inner[name] = json.loads(chance.choice(odd).replace("NaN", "0"))
                data = json.dumps(given).encode()
            case 9:
                data = text.replace('"', chance.choice(("'", "", '"" '))).encode()
            case 10:
                data = chance.choice(odd).encode() + chance.choice((b"", data))
            case 11:
                data = bytes(chance.randrange(256) for _ in range(chance.randrange(200)))
        yield data


def test_ten_thousand_broken_payloads_are_let_pass():
    chance = random.Random(20261130)
    calls: list[Call] = []

    def judge(call: Call) -> Answer:
        calls.append(call)
        if len(calls) % 3 == 0:
            raise RuntimeError("a bug in the gate")
        return Answer()

    for number, data in zip(range(10_000), broken(chance)):
        agent = AGENTS[number % len(AGENTS)]
        said = entry.answer(agent, payloads.decoded(data), judge, judge)
        assert (said.code, said.err) == (0, b"") and said.out in NEUTRAL, (agent, data[:300], said)
    # Many are understood all the same: the gate saw them, with what it can rely on.
    assert len(calls) > 2_000
    for call in calls:
        assert call.agent in dialects.DIALECTS or call.agent == ""
        texts = [call.hook, call.session, call.subagent, call.call_id, call.cwd, call.source, *call.asked]
        texts += [text for edit in call.edits for text in (edit.path, edit.moved_from, edit.content or "")]
        texts += [text for edit in call.edits for old, new, _ in edit.pairs for text in (old, new)]
        assert all(isinstance(text, str) for text in texts)
        assert all(edit.path and "\0" not in edit.path for edit in call.edits)
        for edit in call.edits:
            edit.after("some text\n")


def test_a_stop_gets_through_the_same_way():
    def stop_edits(call: Call) -> Answer:
        return Answer("no", stop=True) if call.event == "edit" else Answer()

    stopped = 0
    for case in CASES:
        said = entry.answer(case["agent"], case["given"], stop_edits, lambda call: Answer())
        stopped += (said.out not in NEUTRAL) or said.code == 2
    assert stopped == sum("stop" in case for case in CASES) > 40


def run(
    *words: str, data: bytes = b"", cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    command = [str(SCRIPTS / words[0]), *words[1:]]
    return subprocess.run(
        command, input=data, capture_output=True, cwd=cwd, env={**os.environ, **(env or {})}, timeout=60
    )


@pytest.mark.slow
def test_broken_payloads_through_the_installed_command(tmp_path):
    chance = random.Random(4)
    for number, data in zip(range(200), broken(chance)):
        agent = AGENTS[number % len(AGENTS)]
        done = run("git-decisions", "hook", "--agent", agent, data=data, cwd=tmp_path)
        assert done.returncode == 0 and done.stdout in NEUTRAL and done.stderr == b"", (agent, data[:300], done)


@pytest.mark.parametrize(
    "words",
    [
        ("git-decisions", "hook", "--agnet", "cursor", "--agent", "cursor"),
        ("git-decisions", "hook", "--agent=cursor", "--json", "--no-such-flag", "extra"),
        ("git-decisions", "hook", "cursor", "-x"),
        ("git-decisions-hook", "agent", "cursor"),
        ("git-decisions-hook", "agent", "--agent", "cursor", "--agent"),
    ],
)
def test_a_mistyped_flag_blocks_no_edit(tmp_path, words):
    done = run(*words, data=b"{}", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b'{"permission":"allow"}', b"")


@pytest.mark.parametrize("words", [("hook",), ("hook", "--agent"), ("hook", "--agent", "vim"), ("hook", "--", "-")])
def test_an_agent_that_nobody_knows_is_let_pass(tmp_path, words):
    done = run("git-decisions", *words, data=b"not json", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_help_is_still_there(cli, make_repo):
    told = cli("hook", "--help", cwd=make_repo())
    assert told.code == 0 and "--agent" in told.stdout


@pytest.mark.parametrize("agent", ["claude", "cursor"])
@pytest.mark.parametrize("data", [b"", b'{"session_id": "1"', b'{"session_id": "1"}'])
def test_a_stdin_that_is_never_closed(tmp_path, agent, data):
    command = [str(SCRIPTS / "git-decisions"), "hook", "--agent", agent]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(data)
        process.stdin.flush()
        try:
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()
        # What can be read is read, though the end never came: this one is no Cursor's.
        expected = b"" if data.endswith(b"}") and agent != "cursor" else neutral(agent).out
        assert process.stdout.read() == expected
        assert process.stderr.read() == b""


def test_a_closed_stdin_and_a_terminal(tmp_path):
    shell = f"exec '{SCRIPTS / 'git-decisions'}' hook --agent cursor"
    closed = subprocess.run(["sh", "-c", shell + " <&-"], capture_output=True, timeout=60, cwd=tmp_path)
    assert (closed.returncode, closed.stdout, closed.stderr) == (0, b'{"permission":"allow"}', b"")
    ours, theirs = os.openpty()
    try:
        told = subprocess.run(["sh", "-c", shell], stdin=theirs, capture_output=True, timeout=60, cwd=tmp_path)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (told.returncode, told.stdout, told.stderr) == (0, b'{"permission":"allow"}', b"")


def test_kiros_editor_before_1_0_gives_its_payload_in_the_environment(monkeypatch):
    prompt = json.dumps({"toolName": "strReplace", "toolArgs": {"path": "a.py", "oldStr": "x", "newStr": "y"}})
    given = entry.payload("kiro", {"USER_PROMPT": prompt})
    seen: list[Call] = []
    said = entry.answer("kiro", given, lambda call: seen.append(call) or Answer("no", stop=True), lambda call: Answer())
    assert [edit.path for call in seen for edit in call.edits] == ["a.py"]
    assert (said.out, said.err, said.code) == (b"", b"no\n", 2)


HANGS = """
import sys, time
from gitmem.hooks import agent
from gitmem.core.calls import Answer
def judge(call):
    {act}
agent._judge = judge
sys.exit(agent.main(["--agent", "windsurf"]))
"""
WINDSURF = json.dumps(next(case["given"] for case in CASES if case["call"]["hook"] == "pre_write_code")).encode()


@pytest.mark.parametrize(
    ("act", "code", "err"),
    [
        ("time.sleep(60)", 0, b""),
        ("return Answer('no', stop=True)", 2, b"no\n"),
        ("raise KeyboardInterrupt", 0, b""),
        ("sys.exit(2)", 0, b""),
        ("raise MemoryError", 0, b""),
        ("print('noise', file=sys.stderr) if False else None; return None", 0, b""),
        ("\n    def deeper(): deeper()\n    deeper()", 0, b""),
    ],
)
def test_only_an_answer_that_was_meant_stops_an_edit(tmp_path, act, code, err):
    program = HANGS.format(act=act)
    done = subprocess.run(
        [sys.executable, "-c", program], input=WINDSURF, capture_output=True, cwd=tmp_path, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", err)


def test_whoever_answers_first_is_the_only_one():
    from gitmem.hooks.agents.answering import Reply

    once = entry._Once()
    ours, theirs = os.pipe()
    before = os.dup(1)
    os.dup2(theirs, 1)
    try:
        assert once.say(Reply(b"first", b"", 2)) == 2
        started = time.monotonic()
        entry.STOP_S, stop = 0.01, entry.STOP_S
        assert once.say(Reply(b"second", b"", 2)) == 0 and time.monotonic() > started
        entry.STOP_S = stop
    finally:
        os.dup2(before, 1)
        os.close(before)
        os.close(theirs)
    assert os.read(ours, 100) == b"first"
    os.close(ours)


def test_the_hook_loads_nothing_of_the_command_line(tmp_path):
    program = (
        "import sys, os\n"
        "from gitmem.__main__ import main\n"
        "code = main(['hook', '--agent', 'claude'])\n"
        "heavy = set('typer rich pygit2 click subprocess typing argparse pathlib gitmem.cli.entry'.split())\n"
        "os.write(2, ' '.join(sorted(heavy & set(sys.modules))).encode())\n"
        "sys.exit(code)\n"
    )
    data = json.dumps(next(case["given"] for case in CASES if case["agent"] == "claude" and "stop" in case)).encode()
    command = [sys.executable, "-I", "-S", "-c", f"import sys\nsys.path.insert(0, {str(package())!r})\n{program}"]
    done = subprocess.run(command, input=data, capture_output=True, cwd=tmp_path, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def package() -> Path:
    import gitmem

    return Path(gitmem.__file__).resolve().parent.parent
