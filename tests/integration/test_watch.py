"""`git decisions watch`: what comes into the log is shown once, whoever wrote it, until somebody ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitmem.core.query import Query
from gitmem.memory import Memory

PROGRAM = str(Path(sys.executable).with_name("git-decisions"))


class Ended(Exception):
    pass


def watched(repo: Path, *between, limit: int = 0, **filters) -> list[list[str]]:
    """What a watch shows of each listing, where `between` are done one after the other while it waits."""
    memory = Memory.open(str(repo), os.environ)
    left = iter(between)

    def wait(_: float) -> None:
        act = next(left, None)
        if act is None:
            raise Ended
        act()

    shown: list[list[str]] = []
    try:
        for listing in memory.watch(Query(limit=limit, **filters), every_s=1, wait=wait):
            shown.append([row.event.entity_path or row.event.kind for row in listing.rows])
    except Ended:
        pass
    finally:
        memory.close()
    return shown


def test_each_event_is_shown_once_oldest_first_whoever_wrote_it(make_repo, cli, git, tmp_path):
    repo = make_repo()
    side = tmp_path / "side"
    git("worktree", "add", "--quiet", "-b", "side", side, cwd=repo)

    def record(name: str, at: Path = repo, kind: str = "add"):
        return lambda: cli("record", name, kind, "-r", "Asked for.", "--json", cwd=at).json

    first = record("a.one")()["events"][0]["id"]
    record("a.two")()

    def both() -> None:
        record("b.one")()
        record("b.two", side)()

    def rebuilt() -> None:
        assert cli("rebuild", cwd=repo).code == 0

    def redacted() -> None:
        assert cli("redact", first[:8], "-r", "Not for others.", cwd=repo, tty=True).code == 0

    shown = watched(repo, lambda: None, both, rebuilt, record("c.one", kind="reject"), redacted, record("d.one"))
    assert shown == [["b.one", "b.two"], ["c.one"], ["d.one"]], "not what a redaction puts in its place"
    assert watched(repo, record("e.one"), limit=2) == [["c.one", "d.one"], ["e.one"]]
    assert watched(repo, both, record("x.no", kind="reject"), types=("reject",)) == [["x.no"]]
    assert watched(repo, record("f.one"), record("f.two"), entity="f.two") == [["f.two"]]


def test_what_a_fetch_brings_is_shown_too(make_repo, cli, git, tmp_path):
    repo = make_repo()
    hub, other = tmp_path / "hub.git", tmp_path / "other"
    git("init", "-q", "--bare", hub, cwd=tmp_path)
    git("remote", "add", "origin", hub, cwd=repo)
    cli("record", "a.one", "add", "-r", "Asked for.", cwd=repo)
    git("push", "-q", "origin", "HEAD", cwd=repo)
    assert cli("push", cwd=repo).code == 0
    git("clone", "-q", hub, other, cwd=tmp_path)
    assert cli("fetch", cwd=other).code == 0
    for number in range(3):
        cli("record", f"b.{number}", "add", "-r", "From the other clone.", cwd=other)
    assert cli("push", cwd=other).code == 0

    def meet() -> None:
        cli("record", "a.two", "add", "-r", "At the same time.", cwd=repo)
        assert cli("sync", cwd=repo).code == 0

    ((*shown,),) = watched(repo, meet)
    assert sorted(shown) == ["a.two", "b.0", "b.1", "b.2"]


@contextmanager
def started(repo: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [PROGRAM, "watch", *words], cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_the_program_writes_each_event_at_once_and_ends_by_ctrl_c_without_a_word(make_repo, cli):
    repo = make_repo()
    cli("record", "a.one", "add", "-r", "Asked for.", cwd=repo)
    with started(repo, "--json", "-n", "1") as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["entity_path"] == "a.one", "it is watching from here on"
        cli("record", "b.one", "add", "-r", "Meanwhile.", cwd=repo)
        assert json.loads(process.stdout.readline())["entity_path"] == "b.one"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20) == ("", "") and process.returncode == 130


def test_it_ends_when_nobody_reads_it_though_nothing_comes(make_repo, cli):
    repo = make_repo()
    cli("record", "a.one", "add", "-r", "Asked for.", cwd=repo)
    with started(repo, "--oneline", "-n", "1") as process:
        assert process.stdout is not None and process.stdout.readline().endswith("add a.one: Asked for.\n")
        process.stdout.close()
        assert process.wait(timeout=20) == 141


def test_what_can_not_be_watched_is_said(make_repo, cli, tmp_path):
    repo = make_repo()
    assert cli("watch", cwd=repo).code == 10
    assert cli("watch", cwd=tmp_path).code == 16
    for words in (("--interval", "0"), ("-n", "0"), ("--type", "rejekt"), ("--nonsense",)):
        done = cli("watch", *words, cwd=repo)
        assert done.code == 2 and done.stderr.startswith("error: "), words
