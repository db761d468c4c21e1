"""What the tests of fetching and pushing share: a bare repository, two clones of it, and how to ask them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from taken_out import git_dir, record

REF = "refs/decisions/log"
SEEN = "refs/decisions-remotes/origin/log"


def tip(git, repo: Path, ref: str = REF) -> str:
    return git("rev-parse", "-q", "--verify", ref, cwd=repo, check=False)


def said(cli, repo: Path, *args: str, code: int = 0, tty: bool = False, env=None):
    """Run a command that speaks JSON; its answer, or its error."""
    done = cli(*args, "--json", cwd=repo, tty=tty, env=env)
    assert done.code == code, done.stdout + done.stderr
    return done.json if code == 0 else done.json["error"]


def objects_of(git, repo: Path) -> set[str]:
    return set(git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)", cwd=repo).split())


def state_of(git, repo: Path) -> tuple[str, set[str], str, list[str]]:
    """All that a refusal must leave as it was: refs, objects, configuration, and git's notes of what it did."""
    top = git_dir(repo)
    loose = [name for name in ("FETCH_HEAD", "ORIG_HEAD", "packed-refs") if (top / name).exists()]
    return git("for-each-ref", cwd=repo), objects_of(git, repo), (top / "config").read_text(), loose


@pytest.fixture
def hub_and_clones(request, once, make_repo, git, cli, tmp_path) -> tuple[Path, list[str]]:
    """A bare repository; where the test asks for them, two clones of it, and what these share. Made once for each."""
    asked = request.fixturenames

    def make() -> tuple[Path, list[str]]:
        hub, ids = make_repo("bare", name="hub"), []
        if "clones" in asked:
            source = make_repo(name="source")
            git("push", "--quiet", hub, "main", cwd=source)
            for name in ("one", "two"):
                git("clone", "--quiet", hub, name, cwd=tmp_path)
        if "shared" in asked:
            one, two = tmp_path / "one", tmp_path / "two"
            ids = [record(cli, one, "record", f"users.c{n}", "add", "-r", f"Reason {n}.") for n in range(3)]
            assert said(cli, one, "push")["sent"] == 3
            assert said(cli, two, "fetch")["received"] == 3
        return hub, ids

    return once(f"hub; clones: {'clones' in asked}; shared: {'shared' in asked}", make)


@pytest.fixture(name="hub")
def a_hub(hub_and_clones) -> Path:
    return hub_and_clones[0]


@pytest.fixture(name="clones")
def two_clones(hub_and_clones, tmp_path) -> tuple[Path, Path]:
    """Two clones of one bare repository with some code in it."""
    return tmp_path / "one", tmp_path / "two"


@pytest.fixture(name="shared")
def clones_that_share(hub_and_clones, clones) -> tuple[Path, Path, list[str]]:
    """Two clones that have the same three events, and the hub too."""
    return *clones, hub_and_clones[1]


def script_at(place: Path, text: str) -> str:
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return str(place)
