"""Where HEAD is, and what an event that is recorded now stands on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from gitmem.core import digests, entities
from gitmem.errors import GitFailed
from gitmem.store import git
from gitmem.store.repository import stamp as of_ref
from gitmem.sync.commits import LOOK_S, PLAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.repository import Repository

HEADS = "refs/heads/"
#: So many answers about one commit are kept.
ANSWERS_MAX = 200


class Head:
    """Where HEAD is: commit oid ('' when unborn), its tree, its parents, full ref name ('' when detached)."""

    __slots__ = ("changed", "oid", "parents", "ref", "tree")

    def __init__(self, oid: str, tree: str, parents: tuple[str, ...], ref: str) -> None:
        self.oid = oid
        self.tree = tree
        self.parents = parents
        self.ref = ref
        #: What git said of what its commit changed, by the question: a commit doesn't change any more.
        self.changed: dict[tuple[str, ...], list[str]] = {}


def head(repository: Repository, asked: git.Process | None = None) -> Head:
    """Return where HEAD is now. One git in the usual case, two on an unborn branch.

    `asked`: a git that was started with `git.HEAD_WORDS` before.
    """
    result = asked.communicate() if asked else repository.try_git(*git.HEAD_WORDS, env=git.RAW)
    lines = result.out.decode("utf-8", "replace").split("\n")[:-1]
    size = repository.form.hex_size
    oids = [line for line in lines if len(line) == size and "/" not in line]
    ref = lines[len(oids)] if len(lines) > len(oids) else ""
    if result.rc != 0:
        oids = []
    if not ref or result.rc != 0:
        # Unborn, or a branch is called HEAD too and rev-parse won't say which one is meant.
        ref = repository.git("symbolic-ref", "-q", "HEAD", check=False).decode("utf-8", "replace").strip()
    elif ref == "HEAD":
        ref = ""
    return Head(oids[0] if oids else "", oids[1] if oids else "", tuple(oids[2:]), ref)


def stamp(repository: Repository) -> tuple[str, bytes] | None:
    """Return what tells that HEAD has moved: while that is the same, it is where it was. None: only git knows."""
    if repository.refs != "files" or any(
        os.path.lexists(f"{repository.common_dir}/{name}") for name in ("shallow", "info/grafts")
    ):
        return None
    try:
        with open(f"{repository.git_dir}/HEAD", encoding="utf-8", errors="surrogateescape") as file:
            held = file.read(4096)
    except OSError:
        return None
    if not held.startswith("ref: " + HEADS):
        return None if held.startswith("ref:") or not held else (held, b"")
    seen = of_ref(repository, ref=held[5:].rstrip())
    return None if seen is None else (held, seen)


def base_of(repository: Repository, at: Head | None = None) -> dict[str, object]:
    """Return the `base` of an event that is recorded now.

    {"commit": oid, "branch": short name}; without "commit" on an unborn branch; on a detached HEAD with
    "worktree" instead of "branch".
    """
    at = at or head(repository)
    base: dict[str, object] = {"commit": at.oid} if at.oid else {}
    if at.ref:
        base["branch"] = short(at.ref)
    else:
        base["worktree"] = worktree_id(repository.git_dir)
    return base


def short(ref: str) -> str:
    return ref.removeprefix(HEADS)


def worktree_id(git_dir: str) -> str:
    """Return the name of a worktree in a `base`: 12 hex digits of SHA-256 over its real git directory."""
    return digests.sha256(os.fsencode(os.path.realpath(git_dir))).hexdigest()[:12]


#: In a worktree's git directory while git itself moves commits around. A single cherry-pick leaves
#: CHERRY_PICK_HEAD there until its post-commit hook has run (measured); a finished revert leaves nothing,
#: and rightly so: a revert is a new commit, often the very one that a decision waits for.
BUSY = ("rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD", "sequencer")


def busy(git_dir: str) -> str:
    """Return the sign that a rebase, cherry-pick or revert runs in this worktree, or an empty string."""
    for name in BUSY:
        if os.path.lexists(os.path.join(git_dir, name)):
            return name
    return ""


def picking(git_dir: str) -> str:
    """Return the commit that a cherry-pick just made a commit of in this worktree, or an empty string."""
    if rebasing(git_dir):
        return ""
    try:
        with open(os.path.join(git_dir, "CHERRY_PICK_HEAD"), encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def rebasing(git_dir: str) -> bool:
    """Say whether a rebase runs in this worktree: it tells all its commits at its end."""
    return any(os.path.lexists(os.path.join(git_dir, name)) for name in ("rebase-merge", "rebase-apply"))


def is_same_place(base: Mapping[str, object], here: Mapping[str, object]) -> bool:
    """Say whether an event of the base `base` was recorded on the branch, or detached in the worktree, of `here`."""
    if "branch" in here:
        return base.get("branch") == here["branch"]
    return "branch" not in base and base.get("worktree") == here["worktree"]


def head_touches(repository: Repository, entity_path: str, at: Head | None = None) -> bool:
    """Say whether an event about `entity_path` that is recorded now belongs to HEAD rather than to the next commit.

    That is so when HEAD's commit changed the file that the entity names or lies in (or, for an entity that
    is no file, a line with its last identifier), and neither the index nor a tracked file differs from HEAD.
    """
    at = at or head(repository)
    if not at.oid or not _touched(repository, at, entity_path):
        return False
    if busy(repository.git_dir) or os.path.lexists(os.path.join(repository.git_dir, "MERGE_HEAD")):
        return False
    return _clean(repository)


def _clean(repository: Repository) -> bool:
    if repository.work_tree is None:
        return True  # a bare repository: nothing can wait for a commit
    # A changed submodule counts, what is changed inside of one does not (and would take a git for each).
    result = repository.try_git("status", "--porcelain", "-uno", "--ignore-submodules=dirty", work_tree=True)
    return result.rc == 0 and not result.out


def _touched(repository: Repository, at: Head, entity_path: str) -> bool:
    pair = _pair(repository, at)
    if not pair:
        return False
    file = entities.file_of(entity_path)
    inside = entity_path.partition("/")[0].casefold() in entities.PREFIXES
    if file or ("/" in entity_path and not inside):
        wanted = _comparable(file or entity_path)
        names = [_comparable(name) for name in _changed(repository, ("diff-tree",), pair, at)]
        if wanted in names or (not file and any(name.startswith(wanted + "/") for name in names)):
            return True
    if file:
        return False
    identifier = _identifier(entity_path)
    if len(identifier) < 2:
        return False
    edge = "([^A-Za-z0-9_]|^|$)"
    # Files over a mebibyte (dumps, lock files, bundles) count as binary here: no commit takes long to look into.
    words = ("-c", "core.bigFileThreshold=1m", "diff-tree", "-i", f"-G{edge}{_literally(identifier)}{edge}")
    return bool(_changed(repository, words, pair, at))


def files(repository: Repository, at: Head) -> list[str]:
    """Return the files that HEAD's commit changed, from the root; none where that can't be known or takes too long."""
    pair = _pair(repository, at) if at.oid else ()
    return _changed(repository, ("diff-tree",), pair, at) if pair else []


def replaced(git_dir: str, at: Head) -> str:
    """Return the commit that HEAD's took the place of where an amend just made it, or an empty string.

    As the reflog tells it. Where that is in no file of its own (reftable), an amend looks like any other commit.
    """
    try:
        with open(os.path.join(git_dir, "logs", "HEAD"), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 8192))
            line = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    except OSError:
        return ""
    words, _, what = line.decode("ascii", "replace").partition("\t")
    old, new = (*words.split(" "), "", "")[:2]
    return old if new == at.oid and what.startswith("commit (amend)") else ""


def _changed(repository: Repository, words: Sequence[str], pair: tuple[str, str], at: Head) -> list[str]:
    words = tuple(words)
    if words not in at.changed:
        options = ("-r", "--no-renames", *PLAIN, "--name-only", "-z")
        try:
            result = repository.try_git(*words, *options, *pair, env=git.RAW, timeout_s=LOOK_S)
        except GitFailed:
            return []
        if result.rc != 0:
            return []
        if len(at.changed) >= ANSWERS_MAX:  # of a server: each entity asks its own question
            at.changed.clear()
        at.changed[words] = [name for name in result.out.decode("utf-8", "replace").split("\0") if name]
    return at.changed[words]


def _pair(repository: Repository, at: Head) -> tuple[str, str] | tuple[()]:
    """Return the two trees whose difference is what HEAD's commit did; for a merge, what it brought to its branch."""
    if at.parents:
        return (at.parents[0], at.oid)
    if not os.path.lexists(f"{repository.common_dir}/shallow"):
        return (repository.form.empty_tree, at.oid)
    # The last commit of a shallow clone looks like a root, and then it would have touched everything.
    raw = repository.git("cat-file", "commit", at.oid, env=git.RAW, check=False)
    if not raw or b"\nparent " in raw.partition(b"\n\n")[0]:
        return ()
    return (repository.form.empty_tree, at.oid)


def _comparable(path: str) -> str:
    if not path.isascii():
        import unicodedata

        path = unicodedata.normalize("NFC", path)
    return path.casefold()


def _identifier(name: str) -> str:
    """Return the word by which code names the entity: `users.email` is `email`, `api/v1/users/{id}` is `users`."""
    parts = [part for part in name.split("/") if part[:1] not in "{<:["]
    last = parts[-1] if parts else ""
    if name.partition("/")[0].casefold() in entities.PREFIXES and "/" in name:
        return last if len(parts) > 1 else ""
    return last.rpartition(".")[2]


def _literally(text: str) -> str:
    return "".join("\\" + c if c in r".[]\()*+?{}|^$" else c for c in text)
