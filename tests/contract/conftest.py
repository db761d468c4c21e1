"""The worlds in which the contract of a log is held: each log on each kind of repository that it takes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from gitmem.core.objects import SHA1, SHA256, ObjectFormat
from gitmem.store import pygit2_log
from gitmem.store.log import Log, open_log
from gitmem.store.memory_log import MemoryLog
from gitmem.store.plumbing_log import PlumbingLog
from gitmem.store.repository import locate


class World(NamedTuple):
    log: Log
    form: ObjectFormat
    #: None for the log in memory.
    path: Path | None
    #: Opens the same log anew, as another process would.
    again: Callable[[], Log]


KINDS = ("plain", "empty", "bare", "worktree", "submodule", "alternates", "shallow", "sha256", "reftable", "foreign")
#: What libgit2 does not open; `open_log` gives the plumbing log there. (It reads `safe.directory` from HOME only.)
ONLY_PLUMBING = ("sha256", "reftable", "foreign")

WORLDS = [
    "memory",
    "memory-sha256",
    *(f"plumbing-{kind}" for kind in KINDS),
    "plumbing-sha256bare",
    *(f"pygit2-{kind}" for kind in KINDS if kind not in ONLY_PLUMBING),
]


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest, make_repo, git, home: Path, tmp_path: Path) -> Iterator[World]:
    """A log with nothing in it. In git, what it leaves behind must pass `git fsck --strict`."""
    name, _, kind = request.param.partition("-")
    if name == "memory":
        form = SHA256 if kind else SHA1
        log = MemoryLog(form)
        yield World(log, form, None, lambda: log)
        return
    if kind == "foreign":
        path = foreign(make_repo, home)
    elif kind == "sha256bare":
        path = tmp_path / "bare256"
        git("init", "--quiet", "--bare", "--object-format=sha256", path, cwd=tmp_path)
    else:
        path = make_repo(kind)

    def again() -> Log:
        repository = locate(str(path))
        if name == "plumbing":
            return open_log(repository)
        opened = pygit2_log.try_open(repository)
        assert opened is not None
        return opened

    log = again()
    assert isinstance(log, PlumbingLog)
    yield World(log, log.form, path, again)
    git("fsck", "--strict", "--no-dangling", cwd=path)


def foreign(make_repo, home: Path) -> Path:
    """A repository of another user that git was told to trust."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a repository to another user")
    path = make_repo("plain")
    for place, folders, files in os.walk(path):
        for entry in (".", *folders, *files):
            os.chown(os.path.join(place, entry), 12345, 12345, follow_symlinks=False)
    config = home / "trusting"
    config.write_text(f"[safe]\n\tdirectory = {path}\n")
    os.environ["GIT_CONFIG_GLOBAL"] = str(config)  # the fixture of the environment takes it back
    return path
