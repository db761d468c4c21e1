"""Starting fast: what an everyday command does not load when nobody looks at its output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

#: `subprocess` and the rest cost less, but a reader has no use for them either.
NEVER = {"typer", "rich", "pygit2", "typing", "inspect", "dataclasses", "argparse", "subprocess", "pathlib", "shutil"}
READERS = [
    ["log"],
    ["log", "users", "-n", "5", "--oneline"],
    ["log", "--json", "--type", "reject"],
    ["show", "{id}", "--json"],
    ["status"],
    ["status", "users.card_token"],
    ["prior", "users.card_token", "--json"],
    ["prior", "--about", "store card tokens"],
    ["blame", "users.card_token"],
    ["search", "card"],
    ["changeset"],
    ["assert", "{id}"],
]
WRITERS = [
    ["record", "users.email{n}", "add", "-r", "why"],
    ["reject", "users.pin{n}", "-r", "why", "--json"],
]


@pytest.fixture
def repo(make_repo, cli) -> Path:
    place = make_repo()
    assert cli("init", cwd=place).code == 0
    assert cli("reject", "users.card_token", "-r", "PCI DSS.", cwd=place, tty=True).code == 0
    assert cli("log", cwd=place).code == 0
    return place


def loaded(args: list[str], repo: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gitmem", *args], cwd=repo, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return set(re.findall(r"\|\s+(\S+)$", done.stderr, re.MULTILINE))


def bare(repo: Path) -> set[str]:
    """What Python itself loads here (a `.pth` file of the environment may load anything)."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import runpy, sqlite3, json"],
        cwd=repo,
        capture_output=True,
        text=True,
    )
    return set(re.findall(r"\|\s+(\S+)$", done.stderr, re.MULTILINE))


@pytest.mark.parametrize("args", [*READERS, *WRITERS], ids=lambda args: " ".join(args))
def test_an_everyday_command_loads_neither_typer_nor_rich_nor_pygit2(repo, cli, args):
    id = cli("log", "--json", cwd=repo).json["events"][0]["id"]
    found = loaded([word.format(id=id[:8], n=os.getpid()) for word in args], repo) - bare(repo)
    assert "gitmem.cli.entry" in found and "gitmem.memory" in found
    assert found & NEVER == set()


def test_the_same_command_through_typer_answers_the_same(repo, cli):
    for hot, cold in ((["log", "-n", "1"], ["log", "-n1"]), (["status", "--json"], ["status", "--js"])):
        fast, slow = cli(*hot, cwd=repo), cli(*cold, cwd=repo)
        if slow.code == 2:  # this Typer has no shortened options
            continue
        assert (fast.stdout, fast.stderr, fast.code) == (slow.stdout, slow.stderr, slow.code)
    assert "typer" in loaded(["log", "-n1"], repo)
