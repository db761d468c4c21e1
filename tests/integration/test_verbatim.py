"""The whole story of a lesson lies sealed in the archive: `audit` reads it, and nothing that remembers can."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gitmem.cli import entry
from gitmem.core.calls import Call, Edit
from gitmem.exporters import __path__ as exporters
from gitmem.hooks import gate
from gitmem.mcp import tools
from gitmem.memory import Memory

ARCHIVE = "refs/decisions-archive/log"
WORD, OTHER = "xylophone", "glockenspiel"
CORE = "Retries hid the real error of the payment client: the first attempt is not logged."
FORMATS = ("jsonl", "json", "csv", "markdown", "agent-trace", "adr")


@pytest.fixture
def still(monkeypatch):
    """Time stands still, so that what fades is the same twice; it is moved by hand."""
    at = [1_700_000_000.0]
    monkeypatch.setattr(time, "time", lambda: at[0])
    return at


def run(capfd, *argv: str) -> str:
    """What a command says in this process, where time stands still."""
    code = entry.run(list(argv))
    said = capfd.readouterr()
    assert code == 0, (argv, said)
    return f"{said.out}\n{said.err}"


def told(capfd, repo: Path, lesson: str, folder: Path) -> dict[str, str]:
    """All that is said of lessons, in every way that there is to ask."""
    found = {}
    asked = {
        "recall": ("recall", "retries in the payment client", "--path", "src/client.py"),
        "recall word": ("recall", f"{WORD} {OTHER}"),
        "why-not": ("why-not", lesson, "retries in the payment client"),
        "lessons": ("lessons", "--band", "all"),
        "history": ("history", lesson),
        "rules": ("rules", "--all"),
        "sleep": ("sleep", "--dry-run"),
        "reveal": ("reveal", "src/client.py"),
        "inbox": ("inbox",),
        "digest": ("digest",),
        "log": ("log", "--kind", "any", "--all"),
        "search": ("search", "retries"),
        "search word": ("search", WORD),
        "review": ("review", "--all"),
        "status": ("status",),
        "stats": ("stats",),
    }
    for name, words in asked.items():
        found[name] = run(capfd, *words)
        found[f"{name} --json"] = run(capfd, *words, "--json")
    for form in FORMATS:
        place = folder / form
        run(capfd, "export", "--format", form, "-o", str(place))
        files = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
        found[f"export {form}"] = "\n".join(path.read_text("utf-8") for path in files)
        for path in files:
            path.unlink()
    memory = Memory.open(str(repo))
    for tool in tools.TOOLS:
        if tool.name in ("recall", "prior_attempts", "history", "search", "stale", "status", "digest"):
            given = {"query": "retries in the payment client", "entity_path": "src/client.py", "paths": "src/client.py"}
            found[f"mcp {tool.name}"] = repr(tool.answer(memory, given))
    memory.close()
    session = f"claude:{time.monotonic_ns()}"  # each is told once
    edits = [Edit("src/client.py", content="retries = 3\n")]
    found["gate"] = gate.judge(Call("claude", "edit", edits=edits, session=session, cwd=str(repo))).text
    return found


def test_the_verbatim_is_told_by_audit_and_by_nothing_else(repo, cli, git, tmp_path, still, capfd):
    assert {name.replace("-", "_") for name in FORMATS} == {path.stem for path in Path(exporters[0]).glob("[a-z]*.py")}
    assert cli("init", cwd=repo).code == 0
    (repo / "src").mkdir()
    (repo / "src" / "client.py").write_text("retries = 1\n", "utf-8")
    git("add", ".", cwd=repo)
    git("commit", "-qm", "a client", cwd=repo)
    story = tmp_path / "story.txt"
    story.write_text(f"At noon the {WORD} fell on the deploy, and nobody had logged the first attempt.\n", "utf-8")
    os.chdir(repo)
    at = ("--path", "src/client.py", "--topic", "retries", "--outcome", "-60", "--severity", "40")
    run(capfd, "lesson", "Faded long ago: the pool leaks sockets at night.", "--path", "src/client.py")
    still[0] += 150 * 86400
    run(capfd, "lesson", CORE, *at, "--verbatim", str(story))
    memory = Memory.open(".")
    (lesson,) = [one for one in memory.lessons().found if one.core == CORE]
    memory.close()
    run(capfd, "gist", lesson.id, "The first attempt is not logged.")

    whole = told(capfd, repo, lesson.id, tmp_path)
    assert WORD in run(capfd, "audit", lesson.id)

    # Each of them was asked for real: what may be told of the lesson is.
    for name in ("recall", "lessons --json", "log", "export jsonl", "export markdown", "mcp recall", "history"):
        assert "first attempt is not logged" in whole[name], name
    assert "caution +" in whole["gate"] and "Nothing relevant" in whole["recall word"]

    git("update-ref", "-d", ARCHIVE, cwd=repo)
    story.write_text(f"At noon the {OTHER} fell on the deploy, and nobody had logged the first attempt.\n", "utf-8")
    run(capfd, "archive", "add", lesson.id, str(story))
    other = told(capfd, repo, lesson.id, tmp_path)
    assert OTHER in (audited := run(capfd, "audit", lesson.id)) and WORD not in audited

    git("update-ref", "-d", ARCHIVE, cwd=repo)
    gone = told(capfd, repo, lesson.id, tmp_path)
    assert WORD not in (audited := run(capfd, "audit", lesson.id)) and OTHER not in audited

    assert whole == other == gone
    for name, text in whole.items():
        if name not in ("recall word --json", "search word --json", "recall word", "search word"):  # they quote a query
            assert WORD not in text and OTHER not in text, name
        assert "At noon" not in text, name
