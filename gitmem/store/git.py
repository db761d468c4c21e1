"""Running the git program: one way in, so that every call has the same clean environment.

Children are started by `posix_spawn` (the import of `subprocess` alone costs more than the git it
starts). What a hook's environment leaks (the index of the commit being made, its author and date, an
editor, a quarantine's ref namespace …) never reaches them; where the repository is, is always said
with `--git-dir` or `-C`. Git speaks English here (LC_ALL=C), asks nobody for a password, takes no
optional lock, and never goes to the network to complete a partial clone.
"""

from __future__ import annotations

import fcntl
import os
import select
import time
from collections.abc import Mapping, Sequence

from gitmem.errors import GitFailed

#: Set for every git that we start, so that a hook which starts gitmem again knows to do nothing.
GUARD = "GITMEM_ACTIVE"

#: Git sets these for its hooks and aliases, or they would make two commands see two repositories.
#: GIT_OBJECT_DIRECTORY, GIT_ALTERNATE_OBJECT_DIRECTORIES and GIT_QUARANTINE_PATH stay: a receive hook
#: sees the pushed objects only through them.
SCRUBBED = frozenset(
    """
    GIT_DIR GIT_COMMON_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_INTERNAL_SUPER_PREFIX GIT_NAMESPACE
    GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_DATE GIT_REFLOG_ACTION
    GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_PAGER_IN_USE GIT_EXTERNAL_DIFF GIT_DIFF_OPTS
    GIT_GRAFT_FILE GIT_SHALLOW_FILE GIT_REPLACE_REF_BASE GIT_NO_REPLACE_OBJECTS GIT_ATTR_SOURCE
    GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS
    """.split()
)
_SET = {
    "LC_ALL": "C",
    "LANGUAGE": "",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    GUARD: "1",
}
#: Read what is there: not what grafts and replace refs show instead, nor what a partial clone could fetch
#: (GIT_NO_LAZY_FETCH came with 2.45; an older git is left without a protocol to fetch by).
RAW = {"GIT_GRAFT_FILE": os.devnull, "GIT_NO_REPLACE_OBJECTS": "1", "GIT_ALLOW_PROTOCOL": "none"}
#: No hook of the user's runs for a ref of ours: neither from a folder nor, with git 2.55 and newer, from the
#: configuration (2.54 has such hooks too, and no way to leave them out that needs no names).
NO_HOOKS = ("-c", "core.hooksPath=" + os.devnull, "-c", "hook.reference-transaction.enabled=false")
#: Before a `log` that shows trailers: what may stand for their colon is no matter of who reads them.
TRAILERS = ("-c", "trailer.separators=:")
#: Asks where HEAD is: its commit, tree, parents (^@ gives all, and none for a root commit), and the branch, or HEAD
#: when detached. `sync.heads.head` reads the answer.
HEAD_WORDS = ("rev-parse", "HEAD^0", "HEAD^{tree}", "HEAD^@", "--symbolic-full-name", "HEAD")

# POSIX.1; the module `signal` is not worth its import
_SIGKILL, _SIGPIPE, _SIGTERM = 9, 13, 15
_GRACE_S = 2.0
_CHUNK = 1 << 16
_PIPE_SIZE = 1 << 20
_F_SETPIPE_SZ = getattr(fcntl, "F_SETPIPE_SZ", 0)


class Result:
    """How a git ended: its exit status (negative: the signal), its stdout and stderr."""

    __slots__ = ("err", "out", "rc")

    def __init__(self, rc: int, out: bytes, err: bytes) -> None:
        self.rc = rc
        self.out = out
        self.err = err


def environment(base: Mapping[str, str] | None = None, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for a git started on behalf of a process with the environment `base`."""
    if base is None:
        base = os.environ
    env = {name: value for name, value in base.items() if name not in SCRUBBED}
    env.update(_SET)
    if extra:
        env.update(extra)
    return env


def attempt(
    args: Sequence[str],
    *,
    git_dir: str | None = None,
    cwd: str | None = None,
    input: bytes = b"",
    environ: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
) -> Result:
    """Run `git ARGS` to its end and return how it ended. Raises GitFailed where it can't be run or isn't over in time.

    `git_dir` names the repository, `cwd` the directory to run in (`-C`); `environ` is the environment
    to start from (default: ours), `env` what to add to it.
    """
    process = Process(args, git_dir=git_dir, cwd=cwd, environ=environ, env=env, feed=bool(input))
    return process.communicate(input, timeout_s)


class Process:
    """A running git with its pipes: `stdin` (with `feed`), `stdout` and `stderr` are file descriptors.

    `program` is another one to run in git's place, such as the one that git signs with.
    `stdin_from` connects its input to the stdout of another process, and closes that end here.
    Whoever starts one must end it, with `communicate`, `wait` or `kill`.
    """

    __slots__ = ("args", "pid", "rc", "stderr", "stdin", "stdout")

    def __init__(
        self,
        args: Sequence[str],
        *,
        git_dir: str | None = None,
        cwd: str | None = None,
        environ: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        feed: bool = False,
        stdin_from: Process | None = None,
        program: str = "",
    ) -> None:
        self.args = args
        self.rc: int | None = None
        self.stdin = self.stdout = self.stderr = -1
        ours: list[int] = []
        theirs: list[int] = []
        try:
            actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = []
            if stdin_from is not None:
                actions.append((os.POSIX_SPAWN_DUP2, stdin_from.stdout, 0))
            elif feed:
                read, self.stdin = _pipe()
                theirs.append(read)
                ours.append(self.stdin)
                actions.append((os.POSIX_SPAWN_DUP2, read, 0))
            else:
                actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
            self.stdout, write = _pipe()
            ours.append(self.stdout)
            theirs.append(write)
            actions.append((os.POSIX_SPAWN_DUP2, write, 1))
            self.stderr, write = _pipe()
            ours.append(self.stderr)
            theirs.append(write)
            actions.append((os.POSIX_SPAWN_DUP2, write, 2))
            words = [program, *args] if program else command(args, git_dir, cwd)
            self.pid = _spawn(words, environment(environ, env), actions)
        except BaseException:
            for fd in ours:
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        if stdin_from is not None:
            os.close(stdin_from.stdout)
            stdin_from.stdout = -1

    def communicate(self, data: bytes = b"", timeout_s: float | None = None) -> Result:
        """Feed `data`, collect both outputs, wait for the end. Raises GitFailed when `timeout_s` is over."""
        out: list[bytes] = []
        err: list[bytes] = []
        try:
            _exchange(self, data, out, err, timeout_s)
            rc = self.wait()
        except BaseException:
            self.kill()
            raise
        return Result(rc, b"".join(out), b"".join(err))

    def close(self, name: str) -> None:
        fd = getattr(self, name)
        if fd >= 0:
            setattr(self, name, -1)
            os.close(fd)

    def wait(self) -> int:
        """Close our ends and return the exit status (negative: the signal that ended it)."""
        for name in ("stdin", "stdout", "stderr"):
            self.close(name)
        if self.rc is None:
            self.rc = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.rc

    def kill(self) -> None:
        """End it, whatever it does: git is given a moment to take its lock files away."""
        if self.rc is not None:
            return
        for name in ("stdin", "stdout", "stderr"):
            self.close(name)
        os.kill(self.pid, _SIGTERM)
        end = time.monotonic() + _GRACE_S
        while self.rc is None and time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.rc = os.waitstatus_to_exitcode(status)
            else:
                time.sleep(0.0005)
        if self.rc is None:
            os.kill(self.pid, _SIGKILL)
            self.wait()


def write(process: Process, data: bytes) -> None:
    """Feed `data` to a process whose output goes to another one, and close its input; it must fit into a pipe."""
    widen(process.stdin)
    view = memoryview(data)
    while view:
        view = view[os.write(process.stdin, view) :]
    process.close("stdin")


def command(args: Sequence[str], git_dir: str | None = None, cwd: str | None = None) -> list[str]:
    words = ["git"]
    if cwd is not None:
        words += ["-C", cwd]
    if git_dir is not None:
        words.append("--git-dir=" + git_dir)
    words += args
    return words


def spawn_detached(args: Sequence[str], *, git_dir: str, environ: Mapping[str, str] | None = None) -> int:
    """Start `git ARGS` in a session of its own, with no input and no output, and return its process id."""
    actions = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    return _spawn(command(args, git_dir), environment(environ), actions, setsid=True)


def _spawn(
    words: list[str], env: dict[str, str], actions: Sequence[tuple[object, ...]], *, setsid: bool = False
) -> int:
    try:
        # Python ignores SIGPIPE and an ignored signal is inherited; a git that writes into a closed
        # pipe must end quietly.
        if setsid:
            try:
                return os.posix_spawnp(words[0], words, env, file_actions=actions, setsigdef=[_SIGPIPE], setsid=True)
            except NotImplementedError:
                pass  # a libc without POSIX_SPAWN_SETSID: stay in our session
        return os.posix_spawnp(words[0], words, env, file_actions=actions, setsigdef=[_SIGPIPE])
    except FileNotFoundError:
        hint = "install git, 2.36 or newer." if words[0] == "git" else ""
        what = f"the program `{words[0]}` is not on PATH; nothing was written"
        raise GitFailed(what=what, hint=hint, rc=None) from None
    except OSError as error:
        what = f"`{words[0]}` can't be started ({error.strerror}); nothing was written"
        raise GitFailed(what=what, rc=None) from None
    except ValueError as error:  # a NUL in an argument
        raise GitFailed(what=f"`{words[0]}` can't be started ({error}); nothing was written", rc=None) from None


def _pipe() -> tuple[int, int]:
    """Return a pipe whose ends are above the three standard descriptors, even where those are closed."""
    ends = list(os.pipe())
    for i, fd in enumerate(ends):
        if fd < 3:
            ends[i] = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
            os.close(fd)
    return ends[0], ends[1]


def widen(fd: int) -> None:
    """Let a pipe hold as much as the system allows; without this, big streams change process per 64 KiB."""
    if _F_SETPIPE_SZ:
        try:
            fcntl.fcntl(fd, _F_SETPIPE_SZ, _PIPE_SIZE)
        except OSError:
            pass  # over this user's limit for pipes


def _exchange(process: Process, data: bytes, out: list[bytes], err: list[bytes], timeout_s: float | None) -> None:
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    poll = select.poll()
    sinks = {process.stdout: ("stdout", out), process.stderr: ("stderr", err)}
    for fd in sinks:
        poll.register(fd, select.POLLIN)
    view = memoryview(data)
    if process.stdin >= 0:
        if view:
            os.set_blocking(process.stdin, False)
            poll.register(process.stdin, select.POLLOUT)
        else:
            process.close("stdin")
    while sinks or process.stdin >= 0:
        wait_ms = None
        if deadline is not None:
            wait_ms = max(0, int(1000 * (deadline - time.monotonic())))
            if wait_ms == 0:
                raise GitFailed(
                    what=f"`git {verb(process.args)}` took longer than {timeout_s:g} s", rc=None, timed_out=True
                )
        for fd, _ in poll.poll(wait_ms):
            if fd == process.stdin:
                try:
                    view = view[os.write(fd, view[:_PIPE_SIZE]) :]
                except BlockingIOError:
                    continue
                except BrokenPipeError:
                    view = view[:0]  # it ended early; its status and stderr say why
                if not view:
                    poll.unregister(fd)
                    process.close("stdin")
                continue
            chunk = os.read(fd, _CHUNK)
            name, sink = sinks[fd]
            if chunk:
                sink.append(chunk)
            else:
                poll.unregister(fd)
                del sinks[fd]
                process.close(name)


# --- what went wrong, in one sentence ----------------------------------------------------------

#: What git (or the system through it) says -> what we say, and what to do.
_CAUSES = (
    (b"No space left on device", "the disk is full", "make room and do it again."),
    (b"Disk quota exceeded", "the disk quota is used up", "make room and do it again."),
    (b"File too large", "a file would be larger than this process may write", "raise the limit (`ulimit -f`)."),
    (b"Read-only file system", "the file system is read-only", "reading still works; write in another clone."),
    (b"insufficient permission", "no permission to write to the repository", "check who owns it."),
    (b"Permission denied", "no permission to write to the repository", "check who owns it."),
)


def cause(err: bytes) -> tuple[str, str]:
    """Return (what, hint) where `err` has a cause that a user can do something about, else two empty strings."""
    for sign, what, hint in _CAUSES:
        if sign in err:
            return what, hint
    return "", ""


def first_line(err: bytes) -> str:
    """Return git's own first error line, without its prefix; a fatal one before mere errors and warnings."""
    lines = [line.strip() for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    for prefix in ("fatal: ", "error: ", ""):
        for number, line in enumerate(lines):
            if line.startswith(prefix):
                if line.endswith(":") and number + 1 < len(lines):
                    line += " " + lines[number + 1]  # "unknown repository extension found:", and which
                return line[len(prefix) :]
    return ""


def failed(args: Sequence[str], rc: int, err: bytes, *, also: str = "") -> GitFailed:
    """Return the error for a git that ended with `rc`; `also` ends the sentence (say whether anything was written)."""
    name = verb(args)
    what, hint = cause(err)
    said = first_line(err)
    if what:
        sentence = f"{what} (`git {name}`: {said})"
    elif said:
        sentence = f"`git {name}`: {said}"
    elif rc < 0:
        sentence = f"`git {name}` was ended by signal {-rc}"
    else:
        sentence = f"`git {name}` ended with status {rc}"
    return GitFailed(what=sentence + also, hint=hint, rc=rc, stderr=err)


def verb(args: Sequence[str]) -> str:
    """The subcommand in `args`, past git's own options."""
    skip = False
    for word in args:
        if skip:
            skip = False
        elif word in ("-c", "-C"):
            skip = True
        elif not word.startswith("-"):
            return word
    return args[0] if args else ""
