"""Many writers at once, as processes of their own: what was acknowledged is in the log, whoever raced whom."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from contract.chains import entry, line, root, stored_of

from gitmem.store.log import LOG_REF, open_log
from gitmem.store.repository import locate

HELPERS = {"PYTHONPATH": str(Path(__file__).parent.parent)}
WRITERS = 8

#: Appends COUNT entries of its own, again on top of whoever won, and says which went in. Events are numbered
#: by writer, so that each is there once or not at all. With a barrier, all writers read the tip before any moves it.
WRITER = """
    import contextlib, os, sys, time
    from contract.chains import entry, event, root, stored_of
    from gitmem.store import pygit2_log
    from gitmem.store.lock import Lock
    from gitmem.store.log import TipMoved, open_log
    from gitmem.store.repository import locate

    path, backend, number, count, locking, barrier = sys.argv[1:]
    repository = locate(path)
    log = open_log(repository) if backend == "plumbing" else pygit2_log.try_open(repository)

    def wait_for_all():
        open(os.path.join(barrier, number), "w").close()
        while len(os.listdir(barrier)) < {writers}:
            time.sleep(0.001)

    lost = 0
    for done in range(int(count)):
        made = event(1 + int(number) * 1000 + done)
        while True:
            with Lock(repository) if locking == "locking" else contextlib.nullcontext():
                tip = log.tip()
                piece = entry(repository.form, tip or repository.form.root, made)
                stored = piece.objects if tip else stored_of([root(repository.form), piece])
                if barrier and not done and not lost:
                    wait_for_all()
                try:
                    log.publish(stored, piece.oid, tip, "append")
                except TipMoved:
                    lost += 1
                    assert lost < 2000
                    continue
            print(made[0].id, flush=True)
            break
    print("lost", lost, flush=True)
"""


def race(
    path: Path, backends: list[str], count: int, *, locking: bool = False, barrier: Path | None = None
) -> tuple[set[str], list[int]]:
    """Let a writer of each of `backends` loose on `path`; the ids they had acknowledged, and how often each lost."""
    script = textwrap.dedent(WRITER).format(writers=len(backends))
    if barrier is not None:
        barrier.mkdir()
    writers = [
        subprocess.Popen(
            [
                *(sys.executable, "-c", script, str(path), backend, str(number), str(count)),
                *("locking" if locking else "racing", str(barrier or "")),
            ],
            env={**os.environ, **HELPERS},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number, backend in enumerate(backends)
    ]
    said = [writer.communicate(timeout=120) for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * len(writers), said
    words = [out.split() for out, _ in said]
    return {word for writer in words for word in writer[:-2]}, [int(writer[-1]) for writer in words]


def events_in(path: Path) -> list[str]:
    """The ids of all events, as a process that was not there reads them."""
    log = open_log(locate(str(path)))
    found = []
    roots = 0
    for stored in log.walk(log.tip() or ""):
        assert not stored.missing and not stored.damaged
        roots += not stored.parents
        found += [name.removesuffix(".json") for name in stored.files]
    assert roots == 1
    return found


@pytest.mark.parametrize("kind", ["plain", "bare", "sha256", "reftable"])
@pytest.mark.parametrize("exists", [False, True], ids=["missing", "existing"])
def test_eight_writers_that_saw_one_tip_lose_no_event(make_repo, git, tmp_path, kind, exists) -> None:
    """The window held open: every writer has read the tip before the first one moves it, so seven must lose."""
    path = make_repo(kind)
    if exists:
        repository = locate(str(path))
        pieces = line(repository.form, 0)
        open_log(repository).publish(stored_of(pieces), pieces[-1].oid, None, "root")
    acknowledged, lost = race(path, ["plumbing"] * WRITERS, 2, barrier=tmp_path / "barrier")
    assert len(acknowledged) == 2 * WRITERS
    assert sum(lost) >= WRITERS - 1
    assert sorted(events_in(path)) == sorted(acknowledged)
    git("fsck", "--strict", "--no-dangling", cwd=path)


@pytest.mark.parametrize("exists", [False, True], ids=["missing", "existing"])
@pytest.mark.parametrize("mixed", [False, True], ids=["libgit2", "mixed"])
def test_libgit2_writers_lose_no_event_to_each_other_or_to_git(make_repo, git, tmp_path, mixed, exists) -> None:
    path = make_repo("plain")
    if exists:
        repository = locate(str(path))
        pieces = line(repository.form, 0)
        open_log(repository).publish(stored_of(pieces), pieces[-1].oid, None, "root")
    backends = ["pygit2", "plumbing"] * (WRITERS // 2) if mixed else ["pygit2"] * WRITERS
    acknowledged, lost = race(path, backends, 4, barrier=tmp_path / "barrier")
    assert len(acknowledged) == 4 * WRITERS
    assert sum(lost) >= WRITERS - 1
    assert sorted(events_in(path)) == sorted(acknowledged)
    git("fsck", "--strict", "--no-dangling", cwd=path)


def test_with_the_advisory_lock_nobody_loses_a_race(make_repo, git) -> None:
    path = make_repo("plain")
    acknowledged, lost = race(path, ["plumbing", "pygit2"] * (WRITERS // 2), 10, locking=True)
    assert len(acknowledged) == 10 * WRITERS
    assert lost == [0] * WRITERS
    assert sorted(events_in(path)) == sorted(acknowledged)
    git("fsck", "--strict", "--no-dangling", cwd=path)


def test_writers_in_two_worktrees_share_one_log(make_repo, git) -> None:
    side = make_repo("worktree")
    main = side.parent / f"{side.name}-main"
    script = textwrap.dedent(WRITER).format(writers=2)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(path), "plumbing", str(number), "5", "locking", ""],
            env={**os.environ, **HELPERS},
            stdout=subprocess.PIPE,
            text=True,
        )
        for number, path in enumerate((side, main))
    ]
    said = [writer.communicate(timeout=60)[0].split() for writer in writers]
    assert sorted(events_in(main)) == sorted(word for words in said for word in words[:-2])
    assert events_in(main) == events_in(side)
    assert len(events_in(main)) == 10


def test_a_reader_during_appends_and_packing_never_sees_a_torn_log(make_repo, git) -> None:
    """Git packs refs and objects while others append: each tip that a reader sees is whole and above the last."""
    path = make_repo("plain")
    repository = locate(str(path))
    log = open_log(repository)
    first = entry(repository.form, repository.form.root)
    log.publish(stored_of([root(repository.form), first]), first.oid, None, "append")
    script = textwrap.dedent(WRITER).format(writers=1)
    writer = subprocess.Popen(
        [sys.executable, "-c", script, str(path), "plumbing", "0", "60", "racing", ""],
        env={**os.environ, **HELPERS},
        stdout=subprocess.DEVNULL,
    )
    last, seen, rounds = first.oid, 2, 0
    while writer.poll() is None:
        rounds += 1
        if rounds % 3 == 0:
            git("pack-refs", "--all", cwd=path)
        if rounds % 5 == 0:
            git("repack", "-adq", cwd=path)
        tip = log.tip()
        assert tip is not None
        new = list(log.walk(tip, [last]))
        assert all(not stored.missing and not stored.damaged for stored in new)
        assert log.contains(tip, last)
        last, seen = tip, seen + len(new)
    assert writer.returncode == 0
    tip = log.tip()
    assert tip is not None
    assert seen + len(list(log.walk(tip, [last]))) == 62
    assert git("rev-parse", LOG_REF, cwd=path) == tip
    git("fsck", "--strict", "--no-dangling", cwd=path)
