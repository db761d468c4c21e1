"""The world that every test runs in: nothing of the machine's user, real git, real processes.

Before anything is collected, and again for each test, the environment is built from a short list of
names that may stay. So no `GIT_*` of a hook, no agent's or CI's mark (the channel of a writer is read
from those), no user's or system's git configuration reaches a test. HOME and the XDG folders are new
and empty, the zone is UTC, and identity comes from GIT_AUTHOR_* and GIT_COMMITTER_*. The working
directory is an empty folder outside every repository; `git` and `cli` refuse the project's own.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import pty
import re
import selectors
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent
#: Where the console scripts of the interpreter that runs the tests lie (not resolved: a venv's python is a link).
SCRIPTS = Path(sys.executable).parent

#: For a git that runs none of our hooks, as many programs do: neither from a folder nor (2.54) from the configuration.
NO_HOOKS = (
    *("-c", "core.hooksPath=/dev/null"),
    *(
        word
        for event in ("post-commit", "post-rewrite", "commit-msg", "pre-commit", "pre-push", "post-merge")
        for word in ("-c", f"hook.gitmem-{event}.enabled=false")
    ),
)

# What may stay; all else goes, so that a new agent's variable needs no entry here.
_KEPT = re.compile(
    r"PATH|TMPDIR|LD_LIBRARY_PATH|PYTHONHASHSEED|PYTHONWARNINGS|PYTEST_.*|COV_.*|COVERAGE_.*|HYPOTHESIS_.*"
    # for the tests that build a wheel
    r"|PIP_.*|UV_.*|SSL_CERT_FILE|REQUESTS_CA_BUNDLE|(https?|no)_proxy|(HTTPS?|NO)_PROXY"
)


class YouForgotToChooseARepo(AssertionError):
    """A test was about to run in the project's own repository (or left the choice to the working directory)."""


def hermetic(home: Path, base: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a test whose HOME is `home`, made of what may stay of `base`."""
    kept = {name: value for name, value in base.items() if _KEPT.fullmatch(name)}
    path = kept.get("PATH", os.defpath)
    if str(SCRIPTS) not in path.split(os.pathsep):
        path = f"{SCRIPTS}{os.pathsep}{path}"
    return kept | {
        "PATH": path,
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "Ada Lovelace",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada Lovelace",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "xterm-256color",
    }


def _become(environment: Mapping[str, str]) -> None:
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update(environment)
    time.tzset()


def pytest_configure(config: pytest.Config) -> None:
    # On shared cores anything that looks at the time is a coin toss. In CI the same examples each time, at a desk
    # new ones.
    hypothesis.settings.register_profile(
        "here",
        deadline=None,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
        database=None,
        derandomize="CI" in os.environ,
        print_blob=True,
    )
    hypothesis.settings.load_profile("here")
    # For what runs before any fixture: collection, session fixtures. /dev/null is no folder, so nothing can be kept.
    _become(hermetic(Path("/dev/null/home"), os.environ))
    # A shell that starts the tests in the background has them ignore Ctrl-C, and so would all that they start.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def new_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new folder for each test. `mktemp` looks through all that it made before, which is 8 ms after 3,000 tests."""
    place = tmp_path_factory.mktemp("of-tests")
    return (place / str(number) for number in itertools.count(1))


@pytest.fixture(autouse=True)
def hermetic_environment(
    new_folders: Iterator[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """Each test: a new HOME, the environment above, and a working directory outside every repository."""
    before, cwd = dict(os.environ), os.getcwd()
    place = next(new_folders)
    home, nowhere = place / "home", place / "nowhere"
    for folder in (place, home, nowhere):
        folder.mkdir(mode=0o700)
    environment = hermetic(home, before) | {"GIT_CEILING_DIRECTORIES": str(tmp_path_factory.getbasetemp())}
    _become(environment)
    os.chdir(nowhere)
    try:
        yield environment
    finally:
        os.chdir(cwd)
        _become(before)


@pytest.fixture
def home() -> Path:
    """The test's own HOME, empty at the start."""
    return Path(os.environ["HOME"])


def _chosen(cwd: str | os.PathLike[str]) -> Path:
    """`cwd` as a path, refused where it lies in the project's own repository."""
    place = Path(cwd).resolve()
    if place == ROOT or ROOT in place.parents:
        raise YouForgotToChooseARepo(f"{place} is the project's own repository; use make_repo")
    return place


# --- git --------------------------------------------------------------------------------------


class Git:
    """Runs git: `git("log", "-1", cwd=repo)` is its output as text, without the last line feed."""

    def __call__(
        self,
        *args: str | os.PathLike[str],
        cwd: str | os.PathLike[str],
        input: str | bytes | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> str:
        done = self.run(*args, cwd=cwd, input=input, env=env, check=check)
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def run(
        self,
        *args: str | os.PathLike[str],
        cwd: str | os.PathLike[str],
        input: str | bytes | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> subprocess.CompletedProcess[bytes]:
        """The finished process with its raw bytes; with `check`, a failure fails the test with git's own words."""
        data = input.encode() if isinstance(input, str) else input
        command = ["git", *(os.fspath(arg) for arg in args)]
        done = subprocess.run(
            command, cwd=_chosen(cwd), input=data or b"", capture_output=True, env={**os.environ, **(env or {})}
        )
        if check and done.returncode:
            pytest.fail(f"{command} in {cwd}: exit {done.returncode}\n{done.stderr.decode('utf-8', 'replace')}")
        return done


@pytest.fixture
def git() -> Git:
    """Runs git in a repository that the test chose."""
    return Git()


Kind = Literal["plain", "empty", "bare", "worktree", "sha256", "reftable", "submodule", "alternates", "shallow"]


class MakeRepo(Protocol):
    def __call__(self, kind: Kind = "plain", *, name: str | None = None) -> Path: ...


@pytest.fixture
def make_repo(tmp_path: Path, git: Git) -> MakeRepo:
    """Makes a real repository, outside every other, and returns its work tree (of a bare one, its git directory).

    plain       one commit on `main` with the file `readme`
    empty       `main` is unborn
    bare        bare, with no commit
    worktree    a linked worktree on the branch `side` of a plain one (which is its sibling `<name>-main`)
    sha256      plain, with SHA-256 objects
    reftable    plain, with the reftable backend; skips the test where the installed git has none
    submodule   the work tree of a submodule in a plain one (`<name>-main/<name>`)
    alternates  a clone that borrows the objects of its sibling `<name>-main`
    shallow     a clone of depth 1 of `<name>-main`, which has three commits
    """
    numbers = itertools.count(1)

    def plain(place: Path, *options: str, commits: int = 1) -> Path:
        git("init", "--quiet", "-b", "main", *options, place, cwd=tmp_path)
        for number in range(1, commits + 1):
            (place / "readme").write_text(f"{number}\n")
            git("add", "readme", cwd=place)
            git("commit", "--quiet", "-m", f"commit {number}", cwd=place)
        return place

    def make(kind: Kind = "plain", *, name: str | None = None) -> Path:
        name = name or f"repo{next(numbers)}"
        place, sibling = tmp_path / name, tmp_path / f"{name}-main"
        match kind:
            case "plain":
                return plain(place)
            case "empty":
                return plain(place, commits=0)
            case "bare":
                git("init", "--quiet", "--bare", "-b", "main", place, cwd=tmp_path)
            case "worktree":
                git("worktree", "add", "--quiet", "-b", "side", place, cwd=plain(sibling))
            case "sha256":
                return plain(place, "--object-format=sha256")
            case "reftable":
                known = git.run("init", "--ref-format=reftable", tmp_path / "try", cwd=tmp_path, check=False)
                if known.returncode:
                    pytest.skip("this git has no reftable")
                return plain(place, "--ref-format=reftable")
            case "submodule":
                source = plain(tmp_path / f"{name}-source")
                allow = ("-c", "protocol.file.allow=always")
                git(*allow, "submodule", "--quiet", "add", source, name, cwd=plain(sibling))
                return sibling / name
            case "alternates":
                git("clone", "--quiet", "--shared", plain(sibling), place, cwd=tmp_path)
            case "shallow":
                source = plain(sibling, commits=3)
                git("clone", "--quiet", "--depth=1", source.as_uri(), place, cwd=tmp_path)
        return place

    return make


@pytest.fixture
def repo(make_repo: MakeRepo) -> Path:
    """A plain repository."""
    return make_repo()


T = TypeVar("T")


class Once(Protocol):
    def __call__(self, name: str, make: Callable[[], T]) -> T: ...


#: What was made in this process: name -> (a copy of the folder, where it stood, what was returned).
_kept: dict[str, tuple[Path, Path, Any]] = {}


@pytest.fixture
def once(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, git: Git) -> Once:
    """Makes repositories once for all tests that begin with them: `once("a log", make)` is what `make()` returns.

    The first test that asks runs `make`, on its still empty `tmp_path` (or on top of what was made once for it);
    each later one gets a copy of that folder in its own, with the remotes of the copies, and the same answer with its
    own paths. Name the repositories: `make_repo` gives out its numbers anew in each test.
    """
    known: set[Path] = set()

    def run(name: str, make: Callable[[], T]) -> T:
        assert set(tmp_path.iterdir()) <= known, "what is made once is made first"
        made = begun(name, make)
        known.update(tmp_path.iterdir())
        return made

    def begun(name: str, make: Callable[[], T]) -> T:
        if name not in _kept:
            made = make()
            place = tmp_path_factory.mktemp("kept") / "folder"
            shutil.copytree(tmp_path, place, symlinks=True)
            _kept[name] = place, tmp_path, made
            return made
        place, old, made = _kept[name]
        for path in known:
            shutil.rmtree(path)
        shutil.copytree(place, tmp_path, symlinks=True, dirs_exist_ok=True)
        for config in tmp_path.rglob("config"):
            text = config.read_text("utf-8")
            if str(old) in text:
                config.write_text(text.replace(str(old), str(tmp_path)), "utf-8")
        for index in tmp_path.glob("*/.git/index"):
            git("update-index", "-q", "--refresh", cwd=index.parent.parent)  # it knows files by inode
        moved: T = _moved(made, old, tmp_path)
        return moved

    return run


def _moved(made: Any, old: Path, new: Path) -> Any:
    if isinstance(made, Path):
        return new / made.relative_to(old) if made.is_relative_to(old) else made
    if isinstance(made, dict):
        return {name: _moved(one, old, new) for name, one in made.items()}
    return type(made)(_moved(one, old, new) for one in made) if isinstance(made, (tuple, list)) else made


# --- the command line -------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What a command said and how it ended. With `tty="all"` everything it said is in `stdout`."""

    stdout: str
    stderr: str
    code: int

    @property
    def json(self) -> Any:
        """stdout, as the one JSON document that it must be."""
        return json.loads(self.stdout)


class Cli(Protocol):
    def __call__(
        self,
        *args: str | os.PathLike[str],
        cwd: str | os.PathLike[str],
        tty: bool | Literal["all"] = False,
        input: str | bytes | None = None,
        env: Mapping[str, str | None] | None = None,
        timeout_s: float = 60,
        script: str = "git-decisions",
    ) -> Outcome: ...


@pytest.fixture
def cli() -> Cli:
    """Runs the installed command as a process of its own: `cli("log", "--json", cwd=repo).json`.

    tty      False: no terminal anywhere, the channel is *script*. True: a terminal on stdin and stderr, so
             that the writer is a person, while stdout stays a pipe. "all": stdout is the terminal too
    input    for stdin; without it stdin is empty (a silent terminal with `tty`)
    env      laid over the test's environment; None takes a name away
    script   another console script of the package
    """

    def run(
        *args: str | os.PathLike[str],
        cwd: str | os.PathLike[str],
        tty: bool | Literal["all"] = False,
        input: str | bytes | None = None,
        env: Mapping[str, str | None] | None = None,
        timeout_s: float = 60,
        script: str = "git-decisions",
    ) -> Outcome:
        program = SCRIPTS / script
        if not program.exists():
            pytest.fail(f"{program} is not installed: run scripts/test, or pip install -e . into this environment")
        command = [os.fspath(program), *(os.fspath(arg) for arg in args)]
        laid = {**os.environ, **(env or {})}
        environment = {name: value for name, value in laid.items() if value is not None}
        data = input.encode() if isinstance(input, str) else input or b""
        if tty:
            return _on_a_terminal(command, _chosen(cwd), environment, data, timeout_s, everything=tty == "all")
        done = subprocess.run(
            command, cwd=_chosen(cwd), env=environment, input=data, capture_output=True, timeout=timeout_s
        )
        return Outcome(_text(done.stdout), _text(done.stderr), done.returncode)

    return run


class Person(Protocol):
    def __call__(
        self,
        *args: str | os.PathLike[str],
        cwd: str | os.PathLike[str] = ...,
        code: int = 0,
        env: Mapping[str, str | None] | None = None,
    ) -> Outcome: ...


@pytest.fixture
def person(cli: Cli, repo: Path) -> Person:
    """Runs the installed command as a person, in `repo`, stdout a pipe; fails the test where it ends otherwise."""

    def run(
        *args: str | os.PathLike[str],
        cwd: str | os.PathLike[str] = repo,
        code: int = 0,
        env: Mapping[str, str | None] | None = None,
    ) -> Outcome:
        outcome = cli(*args, cwd=cwd, tty=True, env=env)
        assert outcome.code == code, (args, outcome)
        return outcome

    return run


class Shell(Protocol):
    def __call__(
        self, command: str, *, cwd: str | os.PathLike[str], env: Mapping[str, str] | None = None, timeout_s: float = 60
    ) -> Outcome: ...


@pytest.fixture
def shell() -> Shell:
    """Runs a line of shell as a person would, all on one terminal; what it says comes in `stdout`, in order."""

    def run(
        command: str, *, cwd: str | os.PathLike[str], env: Mapping[str, str] | None = None, timeout_s: float = 60
    ) -> Outcome:
        environment = {**os.environ, **(env or {})}
        return _on_a_terminal(["sh", "-c", command], _chosen(cwd), environment, b"", timeout_s, everything=True)

    return run


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _on_a_terminal(
    command: list[str], cwd: Path, environment: Mapping[str, str], data: bytes, timeout_s: float, *, everything: bool
) -> Outcome:
    """Runs `command` with a pseudo-terminal of 80 columns; works without one of our own, as under xdist and in CI."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    modes = termios.tcgetattr(theirs)
    modes[1] &= ~termios.OPOST  # line feeds stay as they are
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=theirs,
        stdout=theirs if everything else subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said: dict[int, bytearray] = {ours: bytearray()}
    if process.stdout is not None:
        said[process.stdout.fileno()] = bytearray()
    deadline = time.monotonic() + timeout_s
    try:
        with selectors.DefaultSelector() as selector:
            for fd in said:
                selector.register(fd, selectors.EVENT_READ)
            if data:
                os.write(ours, data)
            while selector.get_map():
                # Not until the end of the streams: a process left in the background may hold them open.
                ended = process.poll() is not None
                ready = selector.select(0 if ended else 0.05)
                if ended and not ready:
                    break
                if time.monotonic() > deadline:
                    raise subprocess.TimeoutExpired(command, timeout_s, bytes(said[ours]))
                for key, _ in ready:
                    chunk = b""
                    with contextlib.suppress(OSError):  # EIO: the last process closed its side of the terminal
                        chunk = os.read(key.fd, 65536)
                    if chunk:
                        said[key.fd] += chunk
                    else:
                        selector.unregister(key.fd)
            code = process.wait(max(0.1, deadline - time.monotonic()))
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        piped = process.stdout.fileno() if process.stdout is not None else ours
        if process.stdout is not None:
            process.stdout.close()
        os.close(ours)
    if everything:
        return Outcome(_text(bytes(said[ours])), "", code)
    return Outcome(_text(bytes(said[piped])), _text(bytes(said[ours])), code)


@pytest.fixture
def path_without_gitmem() -> str:
    """A PATH with git but without the package's commands, as a desktop program's hook has it."""
    return os.pathsep.join(
        place for place in os.environ["PATH"].split(os.pathsep) if not (Path(place) / "git-decisions").exists()
    )


# --- time -------------------------------------------------------------------------------------


class Clock:
    """A clock that a test owns: one second more at each reading; nonces that count up.

    For code that takes its time and nonces as arguments. The product has no switch for it.
    """

    def __init__(self, start: str = "2026-01-02T03:04:05.000000Z") -> None:
        from datetime import datetime

        self._next = datetime.fromisoformat(start)
        self._nonces = itertools.count(1)

    def now(self) -> str:
        """The time in the format's spelling: UTC, microseconds, `Z`."""
        from datetime import timedelta

        now, self._next = self._next, self._next + timedelta(seconds=1)
        return now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def nonce(self) -> str:
        """32 hex digits, each time others, in each run the same."""
        return f"{next(self._nonces):032x}"

    def nonces(self) -> Iterator[str]:
        while True:
            yield self.nonce()


@pytest.fixture
def clock() -> Clock:
    """A fixed clock that starts on 2 January 2026."""
    return Clock()
