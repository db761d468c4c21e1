"""The log through libgit2: for processes that live long enough to pay for its import (about 0.1 s).

It appends, and reads the few commits that are new since a known one, without starting git. All else
is `plumbing_log`'s: a whole walk streams faster there, and what libgit2 can't read, git explains
better. Objects come raw from the object database; libgit2's commit API follows grafts.

libgit2 does not look at git's environment variables, so a process that has those that move objects
or refs elsewhere gets the plumbing log.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence

from gitmem.errors import GitFailed
from gitmem.store import git
from gitmem.store.log import OBJECT_MAX, Stored, TipMoved, files_of, parents_of, tree_of
from gitmem.store.plumbing_log import PACK_FROM, PlumbingLog, is_hex, lock_in_the_way
from gitmem.store.repository import LOG_REF, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pygit2

#: How far back an in-process walk looks for a known commit before it leaves the walk to git.
STEPS_MAX = 2_000
#: How long to try for the ref's lock file, which is held for a moment by whoever moves the ref.
LOCK_TIMEOUT_S = 1.0

#: These move objects or refs, and libgit2 does not read them.
_ELSEWHERE = (
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_COMMON_DIR",
    "GIT_REFERENCE_BACKEND",
)


def try_open(repository: Repository) -> Pygit2Log | None:
    """Return the log of `repository` if libgit2 is installed and reads this repository as git does."""
    if repository.form.name != "sha1" or repository.refs != "files":
        return None
    if any(repository.environ.get(name) for name in _ELSEWHERE):
        return None
    try:
        import pygit2
    except ImportError:
        return None
    try:
        # Its check of the owner stays on: where libgit2 refuses and git does not (`safe.directory` with
        # a `/*`, or from the environment), git's programs do the work.
        opened = pygit2.Repository(repository.git_dir, pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
    except (pygit2.GitError, KeyError, ValueError, OSError):
        return None
    return Pygit2Log(repository, opened)


class Pygit2Log(PlumbingLog):
    """The log of `repository`, read and written in this process. For one thread at a time."""

    def __init__(self, repository: Repository, opened: pygit2.Repository) -> None:
        import pygit2

        super().__init__(repository)
        self._opened = opened
        self._pygit2 = pygit2
        self._kinds = {
            pygit2.enums.ObjectType.COMMIT: "commit",
            pygit2.enums.ObjectType.TREE: "tree",
            pygit2.enums.ObjectType.BLOB: "blob",
        }
        self._types = {kind: number for number, kind in self._kinds.items()}
        # A method, and for the whole process; assigning to it raises.
        pygit2.settings.enable_fsync_gitdir(True)

    # --- reading ---------------------------------------------------------------------------

    def tip(self) -> str | None:
        try:
            reference = self._opened.lookup_reference(LOG_REF)
        except KeyError:
            return super().tip()  # None, or git's explanation of a ref that libgit2 takes for none
        except (self._pygit2.GitError, ValueError):
            return super().tip()
        target = reference.target
        if isinstance(target, str) or str(target) == self.form.zeros:
            return super().tip()  # a str is a symbolic ref; of zeros git says what they are
        return str(target)

    def walk(self, tip: str, known: Iterable[str] = ()) -> Iterator[Stored]:
        known = tuple(known)
        line = self._line(tip, known)
        if line is None:
            return super().walk(tip, known)
        return iter(line)

    def _line(self, tip: str, known: tuple[str, ...]) -> list[Stored] | None:
        """The commits from a known one up to `tip` if they are whole and a plain line, else None.

        On a line without joins, what is above a known commit is exactly what it does not reach.
        """
        if not known:
            return None
        ends = set(known)
        found: list[Stored] = []
        oid = tip
        while oid not in ends:
            if len(found) >= STEPS_MAX:
                return None
            stored = self._stored(oid)
            if stored is None:
                return None
            parents = parents_of(stored.commit)
            if len(parents) != 1:
                return None
            found.append(stored)
            oid = parents[0]
        found.reverse()
        return found

    def _stored(self, oid: str) -> Stored | None:
        """The commit `oid`, or None where something of it can't be read: git says what and why."""
        commit = self._read("commit", oid)
        if commit is None:
            return None
        tree_oid = tree_of(commit)
        tree = b"" if tree_oid == self.form.empty_tree else self._read("tree", tree_oid)
        if tree is None:
            return None
        files: dict[str, bytes | None] = {}
        for name, blob in files_of(tree, self.form.digest_size) or ():
            files[name] = self._read("blob", blob)
            if files[name] is None:
                return None
        return Stored(oid, commit, tree, files)

    def _read(self, kind: str, oid: str) -> bytes | None:
        if len(oid) != self.form.hex_size or not is_hex(oid):
            return None
        try:
            if self._opened.odb.read_header(oid)[1] > OBJECT_MAX:
                return None
            number, data = self._opened.odb.read(oid)  # hashes what it reads
        except (KeyError, self._pygit2.GitError, ValueError):
            return None
        return data if self._kinds.get(number) == kind else None

    def contains(self, descendant: str, ancestor: str) -> bool:
        # libgit2's own answer would follow grafts.
        if self._read("commit", ancestor) is not None and self._line(descendant, (ancestor,)) is not None:
            return True
        return super().contains(descendant, ancestor)

    def has(self, oid: str) -> bool:
        return is_hex(oid) and len(oid) == self.form.hex_size and oid in self._opened.odb

    # --- writing ---------------------------------------------------------------------------

    def _store(self, objects: Sequence[tuple[str, bytes]], new: str, *, many: bool) -> None:
        if many or len(objects) >= PACK_FROM:
            super()._store(objects, new, many=True)
            return
        names = set()
        for kind, data in objects:
            wanted = self.form.oid(kind, data)
            try:
                got = str(self._opened.odb.write(self._types[kind], data))
            except (self._pygit2.GitError, OSError) as error:
                raise self._failed(error) from None
            if got != wanted:
                what = f"libgit2 stored a {kind} as {got} instead of {wanted}; nothing was appended"
                raise GitFailed(what=what, rc=None)
            names.add(got)
        if objects and new not in names:
            raise ValueError(f"the new tip {new} is none of the objects given")

    def _move(self, new: str, old: str | None, message: str) -> None:
        if self._read("commit", new) is None:
            raise GitFailed(what=f"the new tip {new} is not a commit here; nothing was appended", rc=None)
        end = time.monotonic() + LOCK_TIMEOUT_S
        while True:
            try:
                self._move_once(new, old, message)
                return
            except (self._pygit2.GitError, OSError) as error:
                # "failed to lock file", or "failed to create locked file ...: File exists" where another was
                # faster between its look and its try.
                said = str(error)
                if git.cause(said.encode())[0] or not ("failed to lock" in said or "File exists" in said):
                    raise self._failed(error) from None
                if time.monotonic() >= end:
                    path = f"{self.repository.common_dir}/{LOG_REF}.lock"
                    raise (lock_in_the_way(path) if os.path.lexists(path) else self._failed(error)) from None
            time.sleep(0.002 + os.urandom(1)[0] / 25_600)  # jitter of up to 10 ms

    def _move_once(self, new: str, old: str | None, message: str) -> None:
        """Compare and swap under the ref's lock. libgit2's other ways look first and lock then."""
        # libgit2 keeps no reflog for refs of this name unless there is one.
        self._pygit2.RefdbFsBackend(self._opened).ensure_log(LOG_REF)
        with self._opened.transaction() as transaction:
            transaction.lock_ref(LOG_REF)
            tip = self.tip()
            if tip != old:
                raise TipMoved(tip)
            transaction.set_target(LOG_REF, new, message=message)

    def _failed(self, error: Exception) -> GitFailed:
        said = str(error).strip().rstrip(":")
        what, hint = git.cause(said.encode())
        sentence = f"{what} ({said})" if what else said
        return GitFailed(what=sentence + "; nothing was appended", hint=hint, rc=None)
