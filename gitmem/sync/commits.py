"""One commit of the code: its tree, its patch id, the files that it moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gitmem.core import characters, entities
from gitmem.errors import GitFailed
from gitmem.store import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.repository import Repository

#: How much of a file must come back under another name to be the same file, in percent; git's own default
#: is 50, and at 50 two short files with one licence text are "renamed".
SIMILARITY = 60
#: Git compares at most this many files with each other, and a link carries at most this many renames.
RENAMES_MAX = 500
#: ... and at most this many bytes of names: an event has 256 KiB in all (F5).
RENAMES_BYTES_MAX = 64 * 1024
#: What we give git to look into one commit. Longer means a vendored tree or the like; the link then says less.
LOOK_S = 1.0
#: No program of the user's has a say in what a commit changed.
PLAIN = ("--no-ext-diff", "--no-textconv")


def tree(repository: Repository, commit: str) -> str:
    """Return the oid of the tree of `commit`, or an empty string where that commit isn't here."""
    words = ("rev-parse", "-q", "--verify", commit + "^{tree}")
    return repository.git(*words, env=git.RAW, check=False).decode().strip()


def patch_id(repository: Repository, commit: str) -> str:
    """Return git's stable patch id of `commit`: equal for the same change on another parent.

    Empty for a merge, for a commit that changes nothing, and where it would take longer than `LOOK_S`.
    """
    words = ("diff-tree", "--root", "-r", "-p", "--full-index", "--no-renames", *PLAIN, commit)
    where, environ, env = repository.git_dir, repository.environ, {**repository.env(), **git.RAW}
    diff = git.Process(words, git_dir=where, environ=environ, env=env)
    try:
        # From process to process: the diff of a vendored tree never passes through our memory.
        name = git.Process(("patch-id", "--stable"), git_dir=where, environ=environ, env=env, stdin_from=diff)
        result = name.communicate(timeout_s=LOOK_S)
        whole = diff.wait() == 0 and result.rc == 0
    except GitFailed:
        return ""
    finally:
        diff.kill()
    return result.out.decode().partition(" ")[0].strip() if whole else ""


def renames(repository: Repository, commit: str) -> list[list[str]]:
    """Return the files that `commit` moved, as [old name, new name] pairs sorted by the old name.

    By git's own rename detection at `SIMILARITY` percent, at most `RENAMES_MAX`; none for a merge, whose
    sides have told theirs, nor where it would take longer than `LOOK_S`. A name that can't be an entity
    path (not UTF-8, invisible characters, too long) is left out.
    """
    words = (*RENAMES, "--root", commit)
    try:
        result = repository.try_git(*words, env=git.RAW, timeout_s=LOOK_S)
    except GitFailed:
        return []
    if result.rc != 0:
        return []
    return renames_of(result.out).get(commit, [])


RENAMES = (
    "diff-tree",
    "-r",
    f"-M{SIMILARITY}%",
    f"-l{RENAMES_MAX}",
    "--diff-filter=R",
    "--name-status",
    "-z",
    *PLAIN,
)


def renames_of(out: bytes) -> dict[str, list[list[str]]]:
    """Read `diff-tree -z --name-status` of one or many commits: commit -> pairs."""
    found: dict[str, list[list[str]]] = {}
    fields = iter(out.split(b"\0"))
    commit = ""
    for field in fields:
        if field[:1] == b"R" and field[1:].isdigit():
            old, new = _name(next(fields, b"")), _name(next(fields, b""))
            if old and new and old != new:
                found.setdefault(commit, []).append([old, new])
        elif field:
            commit = field.decode("ascii", "replace").strip()
    for commit, pairs in found.items():
        found[commit] = sorted(pairs)
    return found


def _name(raw: bytes) -> str:
    try:
        name = raw.decode("utf-8")
        if characters.first_invisible(name):
            return ""
        return entities.canonical(name)
    except (UnicodeDecodeError, entities.BadName):
        return ""


def bounded(pairs: list[list[str]], known: Callable[[str], Iterable[str]]) -> list[list[str]]:
    """Cut `pairs` to what one event may carry; those that the log knows go first."""
    sizes = [len(old.encode()) + len(new.encode()) for old, new in pairs]
    if len(pairs) <= RENAMES_MAX and sum(sizes) <= RENAMES_BYTES_MAX:
        return pairs
    order = sorted(
        range(len(pairs)), key=lambda i: not (any_known(known, pairs[i][0]) or any_known(known, pairs[i][1]))
    )
    kept: list[list[str]] = []
    room = RENAMES_BYTES_MAX
    for i in order[:RENAMES_MAX]:
        if sizes[i] > room:
            break
        room -= sizes[i]
        kept.append(pairs[i])
    return sorted(kept)


def any_known(known: Callable[[str], Iterable[str]], name: str) -> bool:
    return any(True for _ in known(name))


def about(
    repository: Repository,
    commit: str,
    known: Callable[[str], Iterable[str]] = lambda name: (),
    *,
    tree_oid: str = "",
    moved: list[list[str]] | None = None,
) -> dict[str, object]:
    """Return what a link says of its commit besides the oid: `tree`, `patch_id` and `renames`, those that it has.

    `tree_oid` and `moved` save a git where the caller knows them already.
    """
    pairs = bounded(renames(repository, commit), known) if moved is None else moved
    found = {
        "tree": tree_oid or tree(repository, commit),
        "patch_id": patch_id(repository, commit),
        "renames": pairs,
    }
    return {name: value for name, value in found.items() if value}
