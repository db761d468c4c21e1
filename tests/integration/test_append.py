"""Appending when things go wrong: killed at every step, a full disk, a read-only place, a lock left behind.

The faults are real ones: processes are killed, file systems are small, files are locked. A `git` in
front of the real one on PATH does the killing between two steps, so that nothing in gitmem knows of it.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from contract.chains import Piece, entry, line, root, stored_of

from gitmem.errors import GitFailed
from gitmem.store import pygit2_log
from gitmem.store.lock import Lock
from gitmem.store.log import LOG_REF, Log, open_log
from gitmem.store.pack import build as build_pack
from gitmem.store.repository import Repository, locate

IS_ROOT = os.geteuid() == 0
BACKENDS = ("plumbing", "pygit2")
#: Lets a process of its own import the tests' helpers.
HELPERS = {"PYTHONPATH": str(Path(__file__).parent.parent)}


def opened(path: Path, backend: str = "plumbing") -> Log:
    if backend == "plumbing":
        return open_log(locate(str(path)))
    log = pygit2_log.try_open(locate(str(path)))
    assert log is not None
    return log


def begun(path: Path, length: int = 1) -> list[Piece]:
    """A log of `length` entries in the repository at `path`."""
    repository = locate(str(path))
    pieces = line(repository.form, length)
    open_log(repository).publish(stored_of(pieces), pieces[-1].oid, None, "append")
    return pieces


# --- killed --------------------------------------------------------------------------------------

#: In a process of its own: one append on top of the tip, and word of it on stdout.
APPENDER = """
    import os, sys
    from contract.chains import entry, root, stored_of
    from gitmem.store import pygit2_log
    from gitmem.store.log import open_log
    from gitmem.store.repository import locate

    repository = locate(sys.argv[1])
    log = open_log(repository) if sys.argv[2] == "plumbing" else pygit2_log.try_open(repository)
    tip = log.tip()
    piece = entry(repository.form, tip or repository.form.root)
    stored = piece.objects if tip else stored_of([root(repository.form), piece])
    {between}
    log.publish(stored, piece.oid, tip, "append")
    print("acknowledged", piece.oid, flush=True)
"""

#: A `git` that kills whoever started it (and itself, with `git:`) before or after the step that KILL_AT names.
KILLER = """\
    #!/bin/sh
    real={real}
    for word; do
        case "$word" in unpack-objects|index-pack|update-ref) step=$word ;; esac
    done
    case "$KILL_AT" in
        before:"$step") kill -9 $PPID; exit 1 ;;
        during:"$step") exec 3<&0; "$real" "$@" <&3 & sleep 0.00{delay}; kill -9 $! $PPID; exit 1 ;;
        git:"$step") kill -9 $$ ;;
        after:"$step") "$real" "$@"; kill -9 $PPID; exit 1 ;;
        interrupt:"$step") kill -INT $PPID; sleep 1 ;;
    esac
    exec "$real" "$@"
"""


def append_in_a_process(
    path: Path,
    backend: str = "plumbing",
    *,
    between: str = "pass",
    env: dict[str, str] | None = None,
    **options: object,
) -> subprocess.CompletedProcess[str]:
    script = textwrap.dedent(APPENDER).format(between=between)
    return subprocess.run(
        [sys.executable, "-c", script, str(path), backend],
        env={**os.environ, **HELPERS, **(env or {})},
        capture_output=True,
        text=True,
        **options,  # type: ignore[call-overload]
    )


@pytest.fixture
def killer(tmp_path: Path, request: pytest.FixtureRequest) -> dict[str, str]:
    folder = tmp_path / "killer"
    folder.mkdir()
    program = folder / "git"
    program.write_text(textwrap.dedent(KILLER).format(real=shutil.which("git"), delay=getattr(request, "param", 2)))
    program.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize("exists", [False, True], ids=["first", "later"])
@pytest.mark.parametrize(
    ("kill_at", "moved"),
    [
        ("before:unpack-objects", False),
        ("during:unpack-objects", False),
        ("git:unpack-objects", False),
        ("after:unpack-objects", False),
        ("before:update-ref", False),
        ("git:update-ref", False),
        ("after:update-ref", True),
    ],
)
def test_a_kill_between_any_two_steps_leaves_the_log_whole(make_repo, git, killer, kill_at, moved, exists) -> None:
    path = make_repo("plain")
    before = begun(path)[-1].oid if exists else None

    done = append_in_a_process(path, env=killer | {"KILL_AT": kill_at})

    assert "acknowledged" not in done.stdout
    tip = opened(path).tip()
    assert (tip != before) == moved
    assert_whole(path, git)
    # and the next one goes through as if nothing had been
    again = append_in_a_process(path)
    assert again.stdout.startswith("acknowledged"), again.stderr
    assert opened(path).contains(opened(path).tip() or "", tip or locate(str(path)).form.root)
    assert_whole(path, git)


@pytest.mark.parametrize("killer", range(5), indirect=True)
def test_a_kill_while_the_ref_moves_leaves_it_here_or_there(make_repo, git, killer) -> None:
    path = make_repo("plain")
    before = begun(path)[-1].oid
    append_in_a_process(path, env=killer | {"KILL_AT": "during:update-ref"})
    tip = opened(path).tip()
    assert tip == before or opened(path).contains(tip or "", before)
    assert_whole(path, git)
    lock = path / ".git" / (LOG_REF + ".lock")
    if lock.exists():  # the git that held it is dead
        lock.unlink()
    assert append_in_a_process(path).stdout.startswith("acknowledged")


@pytest.mark.parametrize("step", ["unpack-objects", "update-ref"])
def test_ctrl_c_in_the_middle_leaves_no_lock_and_a_whole_log(make_repo, git, killer, step) -> None:
    path = make_repo("plain")
    before = begun(path)[-1].oid
    done = append_in_a_process(path, env=killer | {"KILL_AT": f"interrupt:{step}"})
    assert "KeyboardInterrupt" in done.stderr and "acknowledged" not in done.stdout
    assert not list((path / ".git").rglob("*.lock"))
    assert opened(path).tip() == before
    assert append_in_a_process(path).stdout.startswith("acknowledged")
    assert_whole(path, git)


@pytest.mark.parametrize("step", ["_store", "_move"])
def test_a_kill_of_the_libgit2_log_before_each_step_leaves_the_log_whole(make_repo, git, step) -> None:
    path = make_repo("plain")
    before = begun(path)[-1].oid
    between = f"setattr(type(log), {step!r}, lambda *_, **__: os.kill(os.getpid(), 9))"
    done = append_in_a_process(path, "pygit2", between=between)
    assert done.returncode == -signal.SIGKILL and "acknowledged" not in done.stdout
    assert opened(path).tip() == before
    assert_whole(path, git)
    assert append_in_a_process(path, "pygit2").stdout.startswith("acknowledged")
    assert_whole(path, git)


@pytest.mark.parametrize("backend", BACKENDS)
def test_whatever_was_acknowledged_before_a_kill_is_in_the_log(make_repo, git, backend) -> None:
    """A writer that appends as fast as it can, killed at a moment of nobody's choosing, ten times over."""
    path = make_repo("plain")
    begun(path)
    script = textwrap.dedent(APPENDER).format(between="")
    head, tail = script.split("tip = log.tip()")
    looped = head + "while True:\n" + textwrap.indent("tip = log.tip()" + tail, "    ")
    acknowledged: set[str] = set()
    for number in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", looped, str(path), backend],
            env={**os.environ, **HELPERS},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        said = [process.stdout.readline()]
        time.sleep(0.003 * number)
        process.kill()
        said += process.stdout.read().splitlines()
        process.stdout.close()
        process.wait()
        acknowledged |= {text.split()[1] for text in said if len(text.split()) == 2}
        time.sleep(0.05)  # a git that it had started may still be at work
        lock = path / ".git" / (LOG_REF + ".lock")
        lock.unlink(missing_ok=True)
    assert len(acknowledged) >= 10
    assert acknowledged <= set(all_oids(path))
    assert_whole(path, git)


# --- nowhere to write ----------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, half a megabyte large."""
    if not IS_ROOT:
        pytest.skip("only root can mount a file system")
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_full_disk_is_one_clear_sentence_and_nothing_is_appended(small_disk: Path, git, backend, many) -> None:
    path = small_disk / "repo"
    git("init", "--quiet", "--template=", path, cwd=small_disk)
    before = begun(path)[-1]
    log = opened(path, backend)
    piece = entry(log.form, before.oid)  # type: ignore[attr-defined]
    (small_disk / "ballast").write_bytes(b"\0" * shutil.disk_usage(small_disk).free)

    with pytest.raises(GitFailed) as caught:
        (log.publish_many if many else log.publish)(piece.objects, piece.oid, before.oid, "append")

    assert caught.value.message.startswith("git failed: the disk is full")
    assert "nothing was appended" in caught.value.message and "make room" in caught.value.advice
    assert "\n" not in caught.value.message
    assert opened(path, backend).tip() == before.oid
    assert_whole(path, git)
    leftovers = list((path / ".git" / "objects").rglob("tmp_*"))
    (small_disk / "ballast").unlink()
    log.publish(piece.objects, piece.oid, before.oid, "append")
    assert all_oids(path)[-1] == piece.oid
    assert len(leftovers) <= 1, leftovers
    assert_whole(path, git)


def test_a_limit_on_file_sizes_is_one_clear_sentence_and_nothing_is_appended(make_repo, git) -> None:
    """What `ulimit -f` does; it stands in for a full disk where nothing can be mounted."""
    path = make_repo("plain")
    before = begun(path)[-1].oid

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    done = append_in_a_process(path, preexec_fn=limit)
    assert "GitFailed: git failed: a file would be larger than this process may write" in done.stderr
    assert opened(path).tip() == before
    assert_whole(path, git)
    assert append_in_a_process(path).stdout.startswith("acknowledged")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_read_only_file_system_can_be_read_and_says_why_not_more(small_disk: Path, git, backend) -> None:
    path = small_disk / "repo"
    git("init", "--quiet", "--template=", path, cwd=small_disk)
    pieces = begun(path, 2)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    log = opened(path, backend)
    piece = entry(log.form, pieces[-1].oid)  # type: ignore[attr-defined]

    for publish in (log.publish, log.publish_many):
        with pytest.raises(GitFailed) as caught:
            publish(piece.objects, piece.oid, pieces[-1].oid, "append")
        assert caught.value.message.startswith("git failed: the file system is read-only"), caught.value.message
    with pytest.raises(GitFailed) as caught, Lock(locate(str(path))):
        pass
    assert "read-only" in caught.value.message and "nothing was written" in caught.value.message

    assert log.tip() == pieces[-1].oid
    assert [stored.oid for stored in log.walk(pieces[-1].oid)] == [one.oid for one in pieces]


def test_a_repository_that_may_only_be_read_can_be_read_and_says_why_not_more(make_repo, git) -> None:
    path = make_repo("plain")
    pieces = begun(path, 2)
    git("config", "--global", "safe.directory", path, cwd=path, env={"GIT_CONFIG_GLOBAL": str(path.parent / "config")})
    script = textwrap.dedent(
        """
        import sys
        from contract.chains import entry
        from gitmem.errors import GitFailed
        from gitmem.store.lock import Lock
        from gitmem.store.log import open_log
        from gitmem.store.repository import locate
        repository = locate(sys.argv[1])
        log = open_log(repository)
        tip = log.tip()
        print(len(list(log.walk(tip))))
        piece = entry(repository.form, tip)
        try:
            log.publish(piece.objects, piece.oid, tip, "append")
        except GitFailed as error:
            print(error.message)
        try:
            with Lock(repository):
                print("locked")
        except GitFailed as error:
            print(error.message)
        """
    )
    command = [sys.executable, "-c", script, str(path)]
    env = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parent.parent),
        "GIT_CONFIG_GLOBAL": str(path.parent / "config"),
    }
    if IS_ROOT:
        if shutil.which("setpriv") is None:
            pytest.skip("root can write everywhere, and there is no setpriv to be somebody else")
        for place in (path, *path.parents):
            if place.stat().st_uid == 0 and len(place.parts) > 2:
                place.chmod(place.stat().st_mode | 0o055)
        (path.parent / "config").chmod(0o644)
        command = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", *command]
    else:
        for place in [*(path / ".git").rglob("*"), path / ".git"]:
            place.chmod(0o555 if place.is_dir() else 0o444)
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True)
    finally:
        if not IS_ROOT:
            for place in [path / ".git", *(path / ".git").rglob("*")]:
                place.chmod(0o755 if place.is_dir() else 0o644)
    if IS_ROOT and not done.stdout and ("No module named" in done.stderr or "ermission denied" in done.stderr):
        pytest.skip("this Python is installed where only root can read it")
    assert done.returncode == 0, done.stderr
    count, append, lock = done.stdout.splitlines()
    assert count == "3"
    assert append.startswith("git failed: no permission to write to the repository")
    assert lock.startswith("git failed: no permission to write to the repository")
    assert opened(path).tip() == pieces[-1].oid


# --- locked, durable, tidy -----------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_ref_lock_left_behind_is_named_with_its_age_and_never_removed(make_repo, git, backend) -> None:
    path = make_repo("plain")
    before = begun(path)[-1].oid
    log = opened(path, backend)
    piece = entry(log.form, before)  # type: ignore[attr-defined]
    lock = path / ".git" / (LOG_REF + ".lock")
    lock.touch()
    os.utime(lock, (time.time() - 3600, time.time() - 3600))

    with pytest.raises(GitFailed) as caught:
        log.publish(piece.objects, piece.oid, before, "append")

    assert str(lock) in caught.value.message and "360" in caught.value.message
    assert "nothing was appended" in caught.value.message and "remove that file" in caught.value.advice
    assert lock.exists()
    assert opened(path).tip() == before
    lock.unlink()
    log.publish(piece.objects, piece.oid, before, "append")
    assert opened(path).tip() == piece.oid
    assert_whole(path, git)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_ref_lock_that_goes_away_in_time_is_waited_for(make_repo, backend) -> None:
    path = make_repo("plain")
    before = begun(path)[-1].oid
    log = opened(path, backend)
    piece = entry(log.form, before)  # type: ignore[attr-defined]
    lock = path / ".git" / (LOG_REF + ".lock")
    lock.touch()
    process = subprocess.Popen(["sh", "-c", f"sleep 0.3; rm '{lock}'"])
    log.publish(piece.objects, piece.oid, before, "append")
    assert process.wait() == 0
    assert log.tip() == piece.oid


def test_an_acknowledged_append_was_flushed_to_the_disk(make_repo, tmp_path, monkeypatch) -> None:
    """Git's own count of its flushes: each loose object, and the ref."""
    path = make_repo("plain")
    before = begun(path)[-1].oid
    for number, publish in enumerate(("publish", "publish_many")):
        trace = tmp_path / f"trace{number}"
        monkeypatch.setenv("GIT_TRACE2_EVENT", str(trace))
        log = opened(path)
        piece = entry(log.form, before)  # type: ignore[attr-defined]
        getattr(log, publish)(piece.objects, piece.oid, before, "append")
        before = piece.oid
        events = [json.loads(text) for text in trace.read_text().splitlines()]
        flushes = {event["sid"]: int(event["value"]) for event in events if event.get("key") == "fsync/hardware-flush"}
        # three objects, or a pack and its index; one ref
        assert sorted(flushes.values()) == ([1, 3] if publish == "publish" else [1, 2]), flushes


def test_the_libgit2_log_flushes_to_the_disk(make_repo) -> None:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("there is no strace to see it with")
    path = make_repo("plain")
    begun(path)
    script = textwrap.dedent(APPENDER).format(between="")
    done = subprocess.run(
        [strace, "-f", "-e", "trace=fsync,fdatasync", sys.executable, "-c", script, str(path), "pygit2"],
        env={**os.environ, **HELPERS},
        capture_output=True,
        text=True,
    )
    if "ptrace" in done.stderr and "acknowledged" not in done.stdout:
        pytest.skip("processes can't be traced here")
    assert done.stdout.startswith("acknowledged")
    assert done.stderr.count("sync(") >= 4  # three objects and the ref


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_ref_has_a_reflog_that_quotes_no_event(make_repo, git, backend) -> None:
    path = make_repo("plain")
    log = opened(path, backend)
    first = entry(log.form, log.form.root)  # type: ignore[attr-defined]
    log.publish(stored_of([root(log.form), first]), first.oid, None, "append")  # type: ignore[attr-defined]
    second = entry(log.form, first.oid)  # type: ignore[attr-defined]
    log.publish(second.objects, second.oid, first.oid, "append\nsecond line")
    lines = git("reflog", "show", "--format=%H %gs", LOG_REF, cwd=path).splitlines()
    assert lines == [f"{second.oid} append second line", f"{first.oid} append"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_log_that_came_without_a_reflog_gets_one_with_the_next_append(make_repo, git, backend) -> None:
    path = make_repo("plain")
    before = begun(path)[-1].oid
    (path / ".git" / "logs" / LOG_REF).unlink()
    log = opened(path, backend)
    piece = entry(log.form, before)  # type: ignore[attr-defined]
    log.publish(piece.objects, piece.oid, before, "append")
    assert git("reflog", "show", "--format=%H", LOG_REF, cwd=path).splitlines() == [piece.oid]


@pytest.mark.parametrize("backend", BACKENDS)
def test_housekeeping_starts_by_itself_once_loose_objects_pile_up(make_repo, git, backend) -> None:
    path = make_repo("plain")
    git("config", "gc.auto", "20", cwd=path)
    git("config", "gc.autoDetach", "false", cwd=path)
    before = begun(path, 40)[-1].oid  # one pack, from which the objects are taken again
    for pack in (path / ".git/objects/pack").glob("*.pack"):
        data = pack.read_bytes()
        for found in pack.parent.glob(pack.stem + ".*"):
            found.unlink()
        git("unpack-objects", "-q", cwd=path, input=data)
    crowd(path)
    log = opened(path, backend)
    piece = entry(log.form, before)  # type: ignore[attr-defined]
    log.publish(piece.objects, piece.oid, before, "append")
    wait_until(lambda: list((path / ".git/objects/pack").glob("*.pack")))
    wait_until(lambda: not (path / ".git/gc.pid").exists() and not (path / ".git/objects/maintenance.lock").exists())
    assert len(all_oids(path)) == 42
    assert_whole(path, git)
    # not again at once: where git finds nothing to do, each append would start it anew
    crowd(path)
    more = entry(log.form, piece.oid)  # type: ignore[attr-defined]
    log.publish(more.objects, more.oid, piece.oid, "append")
    assert not log._children or all_ended(log._children)  # type: ignore[attr-defined]


def test_housekeeping_is_left_alone_where_the_user_switched_it_off(make_repo, git) -> None:
    path = make_repo("plain")
    git("config", "maintenance.auto", "false", cwd=path)
    git("config", "gc.auto", "20", cwd=path)
    before = begun(path)[-1].oid
    crowd(path)
    log = opened(path)
    piece = entry(log.form, before)  # type: ignore[attr-defined]
    log.publish(piece.objects, piece.oid, before, "append")
    assert log._children == []  # type: ignore[attr-defined]
    assert not list((path / ".git/objects/pack").glob("*.pack"))


def test_no_hook_of_the_repository_runs_when_the_log_moves(make_repo) -> None:
    path = make_repo("plain")
    hooks = path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    hook = hooks / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch '{path}/ran'\nexit 1\n")
    hook.chmod(0o755)
    before = begun(path, 2)[-1].oid
    assert opened(path).tip() == before
    assert not (path / "ran").exists()


def test_a_pack_holds_exactly_what_was_put_in(make_repo, git) -> None:
    """Sizes around each length of the size field, in both formats, read back by git."""
    for kind in ("plain", "sha256"):
        path = make_repo(kind)
        form = locate(str(path)).form
        blobs = [b"x" * size for size in (0, 1, 15, 16, 17, 2047, 2048, 2049, 262_143, 262_144, 300_000)]
        git("index-pack", "--stdin", "--strict", cwd=path, input=build_pack(form, [("blob", data) for data in blobs]))
        for data in blobs:
            assert git.run("cat-file", "blob", form.oid("blob", data), cwd=path).stdout == data


def test_objects_that_git_would_refuse_are_refused_before_the_ref_moves(make_repo) -> None:
    path = make_repo("plain")
    before = begun(path)[-1].oid
    log = opened(path)
    form = locate(str(path)).form
    good = entry(form, before)
    unlinked = [item for item in good.objects if item[0] != "blob"]  # the tree names a blob that is nowhere
    for objects in (unlinked, [("blob", b"x"), ("tree", b"garbage"), *good.objects]):
        for publish in (log.publish, log.publish_many):
            with pytest.raises(GitFailed) as caught:
                publish(objects, good.oid, before, "append")
            assert "nothing was appended" in caught.value.message
            assert log.tip() == before


# --- the advisory lock ---------------------------------------------------------------------------


def test_the_lock_lets_one_in_at_a_time_and_a_second_goes_on_without_it(make_repo) -> None:
    repository = locate(str(make_repo("plain")))
    with Lock(repository) as first, Lock(repository, timeout_s=0.1) as second:
        assert first.held and not second.held
    with Lock(repository, timeout_s=0.1) as third:
        assert third.held


def test_the_lock_of_a_killed_process_is_free(make_repo) -> None:
    repository = locate(str(make_repo("plain")))
    script = (
        "import sys, time\nfrom gitmem.store.lock import Lock\nfrom gitmem.store.repository import locate\n"
        "with Lock(locate(sys.argv[1])) as lock:\n print(lock.held, flush=True)\n time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, repository.git_dir], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    with Lock(repository, timeout_s=0.05) as lock:
        assert not lock.held
    process.kill()
    process.wait()
    process.stdout.close()
    with Lock(repository, timeout_s=1) as lock:
        assert lock.held


def test_all_worktrees_share_the_lock_and_a_reader_makes_no_folder(make_repo) -> None:
    path = make_repo("worktree")
    side, main = locate(str(path)), locate(str(path.parent / f"{path.name}-main"))
    assert side.local_dir == main.local_dir
    opened(path).tip()
    assert not os.path.exists(side.local_dir)
    with Lock(side), Lock(main, timeout_s=0.05) as lock:
        assert not lock.held


# --- helpers -------------------------------------------------------------------------------------


def assert_whole(path: Path, git) -> None:
    git("fsck", "--strict", "--no-dangling", cwd=path)
    log = opened(path)
    tip = log.tip()
    if tip is not None:
        for stored in log.walk(tip):
            assert not stored.missing and not stored.damaged
            assert None not in stored.files.values()


def all_oids(path: Path) -> list[str]:
    log = opened(path)
    return [stored.oid for stored in log.walk(log.tip() or "")]


def crowd(path: Path) -> None:
    """Loose objects in the one directory that git's estimate looks at."""
    repository: Repository = locate(str(path))
    folder = Path(repository.objects_dir) / "17"
    folder.mkdir(exist_ok=True)
    number = 0
    while len(list(folder.iterdir())) < 40:
        number += 1
        data = b"%d" % number
        oid = repository.form.oid("blob", data)
        if oid.startswith("17"):
            repository.git("hash-object", "-w", "--stdin", input=data)


def wait_until(condition, timeout_s: float = 20) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def all_ended(children: list[int]) -> bool:
    return all(not os.path.exists(f"/proc/{child}") for child in children)
