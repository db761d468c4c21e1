"""A quarantine of objects: what came from elsewhere can be read here, and is not ours until it is kept.

It is a folder beside our own objects, and a git that writes into it reads both. So whatever a remote sends can be
checked, rewritten and refused, and what is refused was never in the repository. What is kept is a pack of exactly what
a tip reaches: nothing that merely came along is taken in.

A process that was killed leaves its folder; the next fetch removes it, and so does a redaction, for it may hold what
had to go.
"""

from __future__ import annotations

import os
from types import TracebackType

from gitmem.store import git
from gitmem.store.plumbing_log import PACK_FROM, READING, WRITING, PlumbingLog
from gitmem.store.repository import Repository, unwritable

FOLDER = "incoming"


class Quarantine:
    """`with Quarantine(repository) as one:` is a place for objects; it is gone afterwards.

    env   what a git needs in its environment to write there
    log   reads what is there, and what is ours
    """

    __slots__ = ("env", "log", "path", "repository")

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.path = f"{_folder(repository)}/{os.getpid()}-{os.urandom(4).hex()}"
        others = [_quoted(repository.objects_dir)]
        given = repository.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "")
        if given:
            others.append(given)
        self.env = {"GIT_OBJECT_DIRECTORY": self.path, "GIT_ALTERNATE_OBJECT_DIRECTORIES": ":".join(others)}
        self.log = PlumbingLog(_seen_from(repository, self.env))

    def __enter__(self) -> Quarantine:
        sweep(self.repository)
        self.repository.make_local_dir()
        try:
            os.makedirs(self.path, mode=0o700)
        except OSError as error:
            raise unwritable(self.path, error) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _remove(self.path)
        try:
            os.rmdir(_folder(self.repository))
        except OSError:
            pass  # another fetch is at work

    def keep(self, tip: str, known: list[str], commits: int) -> None:
        """Take into our store what `tip` reaches and no commit of `known` does. No ref moves.

        `commits` is about how many these are: few become loose objects, many a pack. Raises GitFailed.
        """
        few = 3 * commits < PACK_FROM
        if not few and self._moved_whole(tip, known):
            return
        taking = ("unpack-objects", "-q", "--strict") if few else ("index-pack", "--stdin", "--strict")
        words = ("pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset")
        give = self.log.repository
        giver = git.Process(
            words,
            git_dir=give.git_dir,
            environ=give.environ,
            env={**give.env(), **git.RAW},
            feed=True,
        )
        ours = self.repository
        taker = None
        try:
            wanted = "".join([f"{tip}\n", *(f"^{oid}\n" for oid in known)]).encode()
            os.write(giver.stdin, wanted)
            giver.close("stdin")
            taker = git.Process(
                (*WRITING, *taking),
                git_dir=ours.git_dir,
                environ=ours.environ,
                env={**ours.env(), **git.RAW},
                stdin_from=giver,
            )
            done = taker.communicate()
            said = _rest(giver.stderr)
            rc = giver.wait()
        finally:
            giver.kill()
            if taker is not None:
                taker.kill()
        if rc != 0:
            raise git.failed(words, rc, said, also="; nothing was changed")
        if done.rc != 0:
            raise git.failed(taking, done.rc, done.err, also="; nothing was changed")

    def _moved_whole(self, tip: str, known: list[str]) -> bool:
        """Move what came into our store as it is, if it is one pack of just what is to be kept; else do nothing.

        Git has hashed all of it as it came, and whoever calls has held it to more than git's own checks do.
        """
        try:
            (found,) = [name[:-5] for name in os.listdir(f"{self.path}/pack") if name.endswith(".pack")]
            loose = any(len(name) == 2 for name in os.listdir(self.path))
        except (OSError, ValueError):
            return False
        source, place = f"{self.path}/pack/{found}", f"{self.repository.objects_dir}/pack"
        if loose or os.path.exists(f"{place}/{found}.pack") or not os.path.exists(f"{source}.idx"):
            return False
        here = self.log.repository
        words = (*READING, "rev-list", "--objects", "--no-object-names", tip, *("^" + oid for oid in known), "--")
        listed = here.git(*words, env=git.RAW, check=False)
        with open(f"{source}.idx", "rb") as file:
            index = file.read()
        names = here.git("show-index", f"--object-format={here.form.name}", input=index, check=False)
        if not listed or {line.split()[1] for line in names.splitlines()} != set(listed.split()):
            return False
        kinds = [kind for kind in (".pack", ".rev", ".idx") if os.path.exists(source + kind)]  # git looks for the last
        try:
            os.makedirs(place, exist_ok=True)
            for kind in kinds:
                _flush(source + kind)
            for kind in kinds:
                os.rename(source + kind, f"{place}/{found}{kind}")
            _flush(place)
        except OSError:  # another file system, say: then what is left goes the other way
            for kind in kinds:
                if os.path.exists(f"{place}/{found}{kind}") and not os.path.exists(source + kind):
                    os.rename(f"{place}/{found}{kind}", source + kind)
            return False
        return True


def _flush(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep(repository: Repository) -> None:
    """Remove what processes left here that are no more."""
    folder = _folder(repository)
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        pid = name.partition("-")[0]
        if not (pid.isdigit() and _lives(int(pid))):
            _remove(f"{folder}/{name}")
    try:
        os.rmdir(folder)
    except OSError:
        pass  # one is at work


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # somebody else's
    return True


def _folder(repository: Repository) -> str:
    return f"{repository.local_dir}/{FOLDER}"


def _remove(path: str) -> None:
    import shutil

    shutil.rmtree(path, ignore_errors=True)


def _rest(fd: int) -> bytes:
    said = b""
    while chunk := os.read(fd, 1 << 16):
        said += chunk
    return said


def _quoted(path: str) -> str:
    """Spell a path for GIT_ALTERNATE_OBJECT_DIRECTORIES: in quotes, as C has them, where a plain one would be cut."""
    if ":" not in path and not path.startswith('"'):
        return path
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _seen_from(repository: Repository, env: dict[str, str]) -> Repository:
    return Repository(
        repository.git_dir,
        repository.common_dir,
        repository.work_tree,
        bare=repository.bare,
        form=repository.form,
        refs=repository.refs,
        environ={**repository.environ, **env},
        start=repository.start,
    )
