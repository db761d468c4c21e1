"""The package as a user gets it: what is in the wheel, what the commands load, what the scripts promise."""

from __future__ import annotations

import email
import email.message
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of this checkout, built without an index."""
    pytest.importorskip("hatchling")
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", place, ROOT], check=True, stdin=subprocess.DEVNULL)
    (built,) = place.glob("*.whl")
    return zipfile.ZipFile(built)


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def description(wheel: zipfile.ZipFile) -> email.message.Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(wheel.read(name))


def test_the_wheel_holds_every_module_and_none_of_the_tests(wheel):
    here = {str(path.relative_to(ROOT)) for path in (ROOT / "gitmem").rglob("*.py")}
    there = {name for name in wheel.namelist() if name.endswith(".py")}
    assert here <= there
    assert [name for name in there - here if not name.startswith("gitmem/")] == []
    assert "gitmem/py.typed" in wheel.namelist()


def test_the_wheel_brings_the_hooks_the_man_page_and_the_licence(wheel):
    names = wheel.namelist()
    for shim in (path for path in (ROOT / "githooks").iterdir() if path.is_file()):
        assert f"gitmem/hooks/shims/{shim.name}" in names
    assert any(name.endswith(".data/data/share/man/man1/git-decisions.1") for name in names)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_wheel_says_what_it_needs_and_is_one_for_all_pythons(wheel):
    assert wheel.filename is not None and wheel.filename.endswith("-py3-none-any.whl")
    about = description(wheel)
    assert about["Name"] == "git-decisions"
    assert about["License-Expression"] == "Apache-2.0"
    assert about["Requires-Python"] == ">=3.11"
    every = {re.split(r"[^a-z0-9-]", need)[0]: need for need in about.get_all("Requires-Dist", [])}
    needs = {name: need for name, need in every.items() if "extra ==" not in need}
    assert set(needs) == {"pygit2", "rich", "typer"}
    assert "<0.29" in needs["typer"]  # 0.29 needs pydantic: 180 ms at each start


def test_the_installed_command_says_the_version_of_the_package(cli, git, tmp_path, wheel):
    version = description(wheel)["Version"]
    outcome = cli("--version", cwd=tmp_path)
    assert outcome.code == 0 and version in outcome.stdout.split()
    assert metadata.version("git-decisions") == version
    # And as people type it: git finds the command on PATH.
    assert git("decisions", "--version", cwd=tmp_path) == outcome.stdout.rstrip("\n")


def loaded_by_python_itself() -> set[str]:
    command = [sys.executable, "-X", "importtime", "-c", "pass"]
    done = subprocess.run(command, capture_output=True, text=True)
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def loaded(arguments: list[str], cwd: Path, script: str = "git-decisions") -> tuple[set[str], int]:
    """The modules that an installed command loads, as the interpreter tells it, and the exit status."""
    program = Path(sys.executable).parent / script
    command = [sys.executable, "-X", "importtime", str(program), *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}, done.returncode


@pytest.mark.parametrize(
    "command",
    [
        ["log"],
        ["log", "-n", "20", "--json"],
        ["status"],
        ["status", "users.email", "--json"],
        ["prior", "users.email", "--json"],
        ["blame", "users.email", "--json"],
        ["search", "email", "--json"],
        ["record", "users.email", "modify", "-r", "It was too short for the addresses of two customers."],
    ],
    ids=" ".join,
)
def test_everyday_commands_load_nothing_slow(cli, make_repo, command):
    repo = make_repo()
    assert cli("init", "--no-hooks", cwd=repo).code == 0
    assert cli("record", "users.email", "add", "-r", "Customers sign in with it.", cwd=repo).code == 0
    modules, code = loaded(command, repo)
    assert code == 0
    assert "gitmem.cli.entry" in modules  # the list is not empty for another reason
    # A link in site-packages to the sources (pip install -e) may load pathlib and its like before us.
    before = loaded_by_python_itself()
    slow = {
        "typer",
        "rich",
        "pygit2",
        "click",
        "typing",
        "dataclasses",
        "argparse",
        "inspect",
        "subprocess",
        "tempfile",
    }
    assert sorted((modules - before) & slow) == []


def test_a_hook_that_lets_pass_loads_nothing_slow(cli, make_repo):
    repo = make_repo()
    assert cli("init", "--no-hooks", cwd=repo).code == 0
    modules, _ = loaded([], repo, script="git-decisions-hook")
    assert "gitmem.hooks.entry" in modules
    assert sorted(modules & {"typer", "rich", "pygit2", "click", "argparse", "inspect"}) == []


# --- what the scripts promise -----------------------------------------------------------------


@pytest.mark.parametrize("lock", ["run", "test"])
def test_each_lock_pins_with_hashes_and_names_no_index(lock):
    text = (ROOT / "requirements" / f"{lock}.lock").read_text("utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) > 10
    for entry in entries:
        assert re.match(r"[a-z0-9-]+==[0-9][\w.]*( ; [^\\]+)? \\\n", entry), entry.splitlines()[0]
        assert "--hash=sha256:" in entry
    assert "://" not in text and "--index" not in text


def pins(lock: str) -> dict[str, str]:
    text = (ROOT / "requirements" / f"{lock}.lock").read_text("utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==([\w.]+)", text, re.MULTILINE))


def test_the_locks_hold_what_the_project_asks_for_and_agree(project):
    asked = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for need in asked:
        name = re.split(r"[^a-z0-9-]", need)[0]
        assert name in pins("run"), name
    for need in project["dependency-groups"]["test"]:
        assert re.split(r"[^a-z0-9-]", need)[0] in pins("test"), need
    assert pins("run").items() <= pins("test").items(), "run scripts/lock"
    assert "pydantic" not in pins("run")


SHELL = [
    path
    for folder in ("scripts", "githooks", ".ci")
    for path in sorted((ROOT / folder).glob("*"))
    if path.is_file() and path.read_bytes().startswith((b"#!/bin/sh", b"#!/usr/bin/env bash"))
]


@pytest.mark.parametrize("script", SHELL, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_each_shell_script_parses_and_can_be_run(script):
    shell = "sh" if script.read_bytes().startswith(b"#!/bin/sh") else "bash"
    checked = subprocess.run([shell, "-n", script], capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert os.access(script, os.X_OK)


def test_an_old_python_is_named_and_nothing_is_made(tmp_path):
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\nif [ "$1" = --version ]; then echo Python 3.9.2; exit 0; fi\nexit 1\n')
    old.chmod(0o755)
    cache = ROOT / ".cache"
    before = sorted(cache.iterdir()) if cache.exists() else []
    done = subprocess.run(
        [ROOT / "scripts" / "environment", "test"],
        env={**os.environ, "PYTHON": str(old)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "Python 3.11" in done.stderr and "3.9.2" in done.stderr and "hint:" in done.stderr
    assert done.stdout == ""
    assert (sorted(cache.iterdir()) if cache.exists() else []) == before


def test_quickstart_refuses_what_is_no_repository_before_it_does_anything(tmp_path):
    done = subprocess.run(
        [ROOT / "scripts" / "quickstart", tmp_path], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 2
    assert str(tmp_path) in done.stderr and "nothing was done" in done.stderr


def quickstart(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "scripts" / "quickstart", *map(str, arguments)],
        env={**os.environ, "GITMEM_VENV": sys.prefix},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def everything_below(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("kind", ["plain", "empty", "bare", "worktree", "sha256"])
def test_quickstart_tells_its_story_on_any_repository_and_leaves_it_untouched(make_repo, kind):
    repo = make_repo(kind, name="with a space")
    before = everything_below(repo)
    done = quickstart(repo)
    assert done.returncode == 0, done.stdout + done.stderr
    for word in ("init", "import git", "reject", "(exit 14)", "supersede", "log", "prior", "status", "verify"):
        assert word in done.stdout
    assert everything_below(repo) == before


def test_quickstart_here_sets_the_repository_itself_up_and_makes_no_decision_up(make_repo, cli, git):
    repo = make_repo()
    done = quickstart("--here", repo)
    assert done.returncode == 0, done.stdout + done.stderr
    assert git("rev-parse", "--verify", "refs/decisions/log", cwd=repo)
    assert cli("log", "--json", cwd=repo).json["events"] == []
    assert git("status", "--porcelain", cwd=repo) == ""
