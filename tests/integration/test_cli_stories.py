"""The stories in tests/golden/cli: what a person types and sees, word for word.

A story is Markdown. In its `console` blocks, a line that begins with `$ ` is run by the shell in one repository
of the story's own, and what follows it is everything that it said, stdout and stderr together, and last `[exit N]`
where that is not 0. Ids, object ids and times are not the same twice: they are shown as <id-1>, <commit-1>, <time>
and <day>, numbered as they come. With PYTEST_UPDATE_STORIES=1 the stories are written anew: read the difference.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

STORIES = sorted((Path(__file__).resolve().parent.parent / "golden" / "cli").glob("*.md"))
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( UTC|Z)?")
DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
HEX = re.compile(r"\b[0-9a-f]{8,64}\b")


class Teller:
    """Runs the commands of one story and gives what changes from run to run a name."""

    def __init__(self, repo: Path) -> None:
        self.repo = repo
        self.typed = ""
        self.names: dict[str, str] = {}
        self.values: dict[str, str] = {}

    def run(self, command: str) -> str:
        typed = re.sub(r"<(id|commit)-\d+>", lambda match: self.values.get(match.group(), match.group()), command)
        done = subprocess.run(
            ["sh", "-c", typed],
            cwd=self.repo,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.typed = typed
        said = self.named(done.stdout.decode())
        if said and not said.endswith("\n"):
            said += "\n"
        return said + (f"[exit {done.returncode}]\n" if done.returncode else "")

    def named(self, text: str) -> str:
        text = TIME.sub("<time>", text.replace(str(self.repo), "<repository>"))
        return HEX.sub(self._name, DAY.sub("<day>", text))

    def _name(self, match: re.Match[str]) -> str:
        value = match.group()
        if value in self.typed and value not in self.values.values():
            return value  # typed in the story itself, so it is the same each time
        for known, name in self.names.items():
            if known.startswith(value) or value.startswith(known):
                return name
        kind = "commit" if len(value) in (10, 40) else "id"
        name = f"<{kind}-{sum(one.startswith(f'<{kind}') for one in self.names.values()) + 1}>"
        self.names[value] = name
        self.values[name] = value
        return name


def told(story: str, teller: Teller) -> str:
    def block(match: re.Match[str]) -> str:
        commands = re.findall(r"^\$ ((?:.*\\\n)*.*)$", match.group(), re.MULTILINE)
        return "".join(f"$ {command}\n{teller.run(command)}" for command in commands)

    return BLOCK.sub(block, story)


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_the_story_is_what_happens(path, make_repo):
    story = path.read_text("utf-8")
    now = told(story, Teller(make_repo(name="shop")))
    if os.environ.get("PYTEST_UPDATE_STORIES"):
        path.write_text(now, "utf-8")
    assert now == story


def test_there_are_stories():
    assert STORIES
