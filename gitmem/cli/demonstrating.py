"""demo: the story of a rejection, told in a repository that is gone afterwards.

Each step is the program itself, started as a user would start it; what a step says is what it really said.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile

from gitmem.cli.terminal import Io
from gitmem.cli.text import EMPTY, Line
from gitmem.errors import GitFailed, MissingExtra, Negative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: No step takes longer, whatever the machine is doing.
STEP_STOP_S = 120
_APPROACH = "store it in our own table"
_COLUMN = "ALTER TABLE users ADD COLUMN card_token TEXT;\n"
#: Nobody's settings, hooks or templates: the story is the same everywhere.
_OWN = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada Lovelace",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada Lovelace",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "NO_COLOR": "1",
}
_HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "demo", "version": "1"}}


def demo(io: Io, *, mcp: bool, as_json: bool) -> int:
    """Tell the story on `io`; with `mcp`, only ask a server started there what was tried. Returns the exit status."""
    with tempfile.TemporaryDirectory(prefix="git-decisions-demo-", ignore_cleanup_errors=True) as place:
        story = Story(os.path.join(os.path.realpath(place), "shop"), None if as_json else io)
        story.prepare()
        if mcp:
            story.serve()
        else:
            story.tell()
    if as_json:
        io.answer({"schema": 1, "steps": story.steps})
    elif not mcp:
        io.show([Line(("dim", "The repository is gone again. To begin in yours: git decisions init"))])
    return 0


class Story:
    """One telling: a repository at `place`, and the steps that were taken in it. `io` is None where only JSON is."""

    def __init__(self, place: str, io: Io | None) -> None:
        self.place = place
        self.io = io
        self.steps: list[dict[str, Any]] = []
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _OWN

    def prepare(self) -> None:
        self._run(["git", "init", "--quiet", self.place], cwd=os.path.dirname(self.place))
        self._write("users.sql", "CREATE TABLE users (id INTEGER PRIMARY KEY);\n")
        self._run(["git", "add", "users.sql"])
        self._run(["git", "commit", "--quiet", "--message", "Users"])

    def tell(self) -> None:
        self._say("A repository is set up, once. Decisions live in git, and never in the work tree.")
        self._step("init")
        self._say("Somebody wants card tokens in our own table. It is turned down, with the reason.")
        self._reject()
        self._say("Months later somebody asks before trying it again ...")
        self._step("prior", "users.card_token")
        self._say("... or doesn't ask, and is told. Nothing is written.")
        self._step(*self._add(), code=14)
        self._say("An agent that writes the column into a file is stopped before the edit, with the same reason.")
        self._edit()
        self._say("The world changes. Nothing is deleted: a new reason stands beside the old one.")
        self._step("supersede", "users.card_token", "-r", "We passed the card audit in spring.")
        self._write("users.sql", _COLUMN, mode="a")
        self._step(*self._add())
        self._step("commit", "--quiet", "--all", "--message", "Keep the card token", program="git")
        self._step("log", "-1", program="git")
        self._say("One changed byte in the log would be found.")
        self._step("verify")

    def serve(self) -> None:
        """Start the local MCP server, and ask it for what was just rejected. Raises Negative where it doesn't know."""
        self._step("init", quiet=True)
        self._reject(quiet=True)
        self._say("The server that an agent's client would start, asked over the protocol what was tried:")
        call = {"name": "prior_attempts", "arguments": {"entity_path": "users.card_token"}}
        asked: list[dict[str, Any]] = [
            {"id": 1, "method": "initialize", "params": _HELLO},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/list"},
            {"id": 3, "method": "tools/call", "params": call},
        ]
        answers = self._converse([{"jsonrpc": "2.0", **one} for one in asked])
        tools = sorted(tool["name"] for tool in answers[2]["tools"])
        text = "\n".join(part["text"] for part in answers[3]["content"] if part.get("type") == "text")
        step = {"command": "git decisions mcp", "exit": 0, "output": text, "tools": tools}
        self.steps.append(step)
        if _APPROACH not in text:
            raise Negative(what="the server answered, and did not know what was just rejected.")
        self._show("git decisions mcp", f"{len(tools)} tools: {', '.join(tools)}\n{text}")

    # --- steps -----------------------------------------------------------------------------------

    def _add(self) -> tuple[str, ...]:
        return ("record", "users.card_token", "add", "--approach", _APPROACH, "-r", "Checkout needs one call less.")

    def _reject(self, *, quiet: bool = False) -> None:
        words = ("reject", "users.card_token", "--approach", _APPROACH, "-r", "It puts our database in the card audit.")
        self._step(*words, "--instead", "the token of the payment provider", quiet=quiet)

    def _step(
        self,
        *words: str,
        program: str = "",
        code: int = 0,
        quiet: bool = False,
    ) -> None:
        command = [program, *words] if program else [*_PROGRAM, *words]
        shown = shlex.join([*(["git"] if program else ["git", "decisions"]), *words])
        exit_code, output = self._run(command, code=code)
        self.steps.append({"command": shown, "exit": exit_code, "output": output})
        if not quiet:
            self._show(shown, output)

    def _edit(self) -> None:
        """Let an agent's client ask about an edit, in the words of Claude Code."""
        path = os.path.join(self.place, "card.sql")
        edit = {"tool_name": "Write", "tool_input": {"file_path": path, "content": _COLUMN}}
        asked = {"hook_event_name": "PreToolUse", "session_id": "demo", "cwd": self.place, **edit}
        _, output = self._run([*_PROGRAM, "hook", "--agent", "claude"], input=json.dumps(asked))
        try:
            ruling = json.loads(output)["hookSpecificOutput"]
            stopped, text = ruling["permissionDecision"] == "deny", str(ruling["permissionDecisionReason"])
        except (ValueError, KeyError, TypeError):
            stopped, text = False, output
        if not stopped:
            raise Negative(what="the gate let an edit pass that brings back what was rejected.")
        shown = "git decisions hook --agent claude"
        self.steps.append({"command": shown, "exit": 0, "output": text})
        self._show(f"{shown} < edit-of-card.sql.json", text)

    def _run(self, command: list[str], *, cwd: str = "", code: int = 0, input: str | None = None) -> tuple[int, str]:
        """Run a command in the repository; return its status and all that it said. Raises GitFailed for another."""
        # stdin stays what it is: at a person's terminal the decisions of the story are a person's.
        done = subprocess.run(
            command,
            cwd=cwd or self.place,
            env=self.environ,
            input=input,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=STEP_STOP_S,
        )
        if done.returncode != code:
            said = done.stdout.strip() or f"exit {done.returncode}"
            raise GitFailed(message=f"the story stops at {shlex.join(command[-3:])}: {said}", written=False)
        return done.returncode, done.stdout

    def _converse(self, asked: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
        answers: dict[int, dict[str, Any]] = {}
        server = subprocess.Popen(
            [*_PROGRAM, "mcp"], cwd=self.place, env=self.environ, encoding="utf-8", stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        try:
            for one in asked:
                server.stdin.write(json.dumps(one) + "\n")
                server.stdin.flush()
                while "id" in one and one["id"] not in answers:
                    line = server.stdout.readline()
                    if not line:
                        raise BrokenPipeError
                    told = json.loads(line)
                    if "result" in told:
                        answers[told["id"]] = told["result"]
                    elif "error" in told:
                        raise Negative(what=f"the server refused {one['method']}: {told['error'].get('message')}.")
        except BrokenPipeError:
            said = server.stderr.read()
            if server.wait(STEP_STOP_S) == MissingExtra.code:
                raise MissingExtra(what="the MCP server", extra="mcp") from None
            raise Negative(what=f"the server ended before it answered: {said.strip()}") from None
        finally:
            server.stdin.close()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
        return answers

    def _write(self, name: str, text: str, mode: str = "w") -> None:
        with open(os.path.join(self.place, name), mode, encoding="utf-8") as file:
            file.write(text)

    # --- telling ---------------------------------------------------------------------------------

    def _say(self, text: str) -> None:
        if self.io is not None:
            self.io.show([Line(("dim", text))])

    def _show(self, command: str, output: str) -> None:
        if self.io is not None:
            rows = [Line(("", row)) for row in output.rstrip("\n").split("\n")] if output else []
            self.io.show([Line(("heading", f"$ {command}"), hang=4), *rows, EMPTY])
            self.io.out.flush()


_PROGRAM = [sys.executable, "-m", "gitmem"]
