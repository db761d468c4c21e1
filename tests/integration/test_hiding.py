"""What is hidden is on no surface, whoever wrote it and wherever it came from (promise 6), and its sibling is.

By each writer (a person, an agent over MCP, an importer, a join) and each way of hiding; asked through the command line
and through the tools that agents call. `show` and `log --all` still find it, but for what was redacted.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitmem.mcp import tools
from gitmem.memory import Memory

REF = "refs/decisions/log"
TEXT, SIBLING = "Zebra crossing of card data.", "Yak crossing of card data."
WHY = ("-r", "We looked at it together.")
DUE = ("--revisit-after", "2020-01-01")


def by_cli(repo, cli, git, make_repo) -> tuple[str, str]:
    return tuple(
        cli("reject", name, "--approach", "own table", "-r", why, *DUE, "--json", cwd=repo, tty=True).json["events"][0][
            "id"
        ]
        for name, why in (("users.card", TEXT), ("users.pin", SIBLING))
    )  # type: ignore[return-value]


def by_mcp(repo, cli, git, make_repo) -> tuple[str, str]:
    memory = Memory.open(str(repo), {"CLAUDECODE": "1", **_identity()})
    ids = []
    for name, why in (("users.card", TEXT), ("users.pin", SIBLING)):
        said = {"entity_path": name, "change_type": "reject", "reasoning": why, "approach": "own table"}
        ids.append(str(tools.log_change(memory, {**said, "revisit_after": "2020-01-01"})["id"]))
    memory.close()
    return ids[0], ids[1]


def by_join(repo, cli, git, make_repo) -> tuple[str, str]:
    other = make_repo()
    ids = by_cli(other, cli, git, make_repo)
    cli("record", "users.here", "add", "-r", "Something of our own.", cwd=repo, tty=True)
    git("fetch", "--quiet", other, f"{REF}:refs/fetched", cwd=repo)
    memory = Memory.open(str(repo))
    memory.join(git("rev-parse", "refs/fetched", cwd=repo))
    memory.close()
    return ids


def by_import(repo, cli, git, make_repo) -> tuple[str, str]:
    for name, why in (("card", TEXT), ("pin", SIBLING)):
        (repo / f"{name}.py").write_text(f"def {name}(number, code):\n    return table.store_for_ever(number, code)\n")
        git("add", "-A", cwd=repo)
        git("commit", "-q", "-m", f"Keep the {name}", cwd=repo)
        git("revert", "--no-edit", "HEAD", cwd=repo)
        message = git("log", "-1", "--format=%B", cwd=repo)
        git("commit", "-q", "--amend", "-m", f"{message}\n\n{why}", cwd=repo)
    assert cli("import", "git", "--json", cwd=repo).json["appended"] > 0
    events = cli("log", "--json", cwd=repo).json["events"]
    found = [next(one["id"] for one in events if why in (one["reasoning"] or "")) for why in (TEXT, SIBLING)]
    return found[0], found[1]


def _identity() -> dict[str, str]:
    import os

    return dict(os.environ)


def told(repo: Path, cli) -> dict[str, str]:
    """What each surface says that knows the two events."""
    asked = {
        "log": ("log",), "search": ("search", "crossing"), "status": ("status",), "digest": ("digest",),
        "prior by words": ("prior", "--about", "crossing of card data"), "stale": ("stale",),
    }  # fmt: skip
    said = {}
    for name, args in asked.items():
        done = cli(*args, cwd=repo)
        assert done.code == 0, done.stderr
        said[name] = done.stdout
    memory = Memory.open(str(repo))
    said["MCP search"] = json.dumps(tools.search(memory, {"query": "crossing"}))
    said["MCP prior"] = json.dumps(tools.prior_attempts(memory, {"description": "crossing of card data"}))
    said["MCP history"] = json.dumps(tools.history(memory, {}))
    said["MCP stale"] = json.dumps(tools.stale_decisions(memory, {}))
    memory.close()
    return said


@pytest.mark.parametrize("hide", ["retract", "redact", "seal", "mute"])
@pytest.mark.parametrize("write", [by_cli, by_mcp, by_join, by_import], ids=lambda one: one.__name__[3:])
def test_what_is_hidden_is_nowhere_and_its_sibling_is_everywhere(write, hide, make_repo, cli, git):
    repo = make_repo()
    hidden, _ = write(repo, cli, git, make_repo)
    before = told(repo, cli)
    knows = [surface for surface, said in before.items() if TEXT in said]
    assert {"log", "search", "prior by words", "MCP search", "MCP prior", "MCP history"} <= set(knows)
    assert [surface for surface, said in before.items() if SIBLING in said] == knows
    standing = cli("status", "--json", cwd=repo).json["counts"]
    done = cli(hide, hidden, *WHY, cwd=repo, tty=True)
    assert done.code == 0, done.stderr
    for surface, said in told(repo, cli).items():
        if hide != "mute" or surface != "status":  # a mute is no seal: a verdict is told
            assert TEXT not in said and (hide == "redact" or hidden not in said), surface
        assert (SIBLING in said) == (surface in knows), surface
    if hide != "retract":
        assert cli("status", "--json", cwd=repo).json["counts"] == standing  # the verdict holds
    shown = cli("show", hidden, cwd=repo).stdout + cli("log", "--all", cwd=repo).stdout
    assert (TEXT in shown) == (hide != "redact") and hidden[:8] in shown
    assert cli("verify", cwd=repo).code == 0
