"""What a branch did: its chain of commits, its reflog, and which of them an event was recorded for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from gitmem.store import git
from gitmem.sync.heads import Head, head, worktree_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.repository import Repository
    from gitmem.sync.links import Unlinked


class Place:
    """A branch, or the HEAD of one worktree, to be asked what it did."""

    __slots__ = ("git_dir", "ref", "repository")

    def __init__(self, repository: Repository, git_dir: str, ref: str) -> None:
        self.repository = repository
        self.git_dir = git_dir
        self.ref = ref

    def git(self, *words: str, input: bytes = b"") -> str:
        env = {**self.repository.env(), **git.RAW}
        environ = self.repository.environ
        result = git.attempt(words, git_dir=self.git_dir, environ=environ, env=env, input=input)
        return result.out.decode("utf-8", "replace")

    def chain(self) -> list[str]:
        """Return the commits along first parents, the tip first; empty where the ref isn't here.

        In a shallow clone the last one is not the root, and what was recorded before any commit must not
        go to it: an empty name then stands in the root's place.
        """
        chain = self.git("rev-list", "--first-parent", self.ref, "--").split()
        if chain and "\nparent " in self.git("cat-file", "commit", chain[-1]).partition("\n\n")[0]:
            chain.append("")
        return chain

    def moves(self) -> list[tuple[str, str, str]]:
        """Return the reflog as (old oid, new oid, message), the newest first."""
        entries = _entries(self.git(*_REFLOG, self.ref, "--"))
        olds = [*[new for new, _ in entries][1:], ""][: len(entries)]
        return [(old, new, message) for old, (new, message) in zip(olds, entries, strict=True)]

    def people(self, commits: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Return the addresses of author and committer of each commit."""
        words = ("rev-list", "--no-walk=unsorted", "--stdin", "--format== %H%x00%ae%x00%ce")
        out = self.git(*words, input="".join(commit + "\n" for commit in sorted(commits)).encode())
        lines = [line[2:].split("\0") for line in out.split("\n") if line.startswith("= ")]
        return {oid: (author, committer) for oid, author, committer in lines}


# Plumbing can't do this: `rev-list -g` knows no %gs.
_REFLOG = ("-c", "log.showSignature=false", "log", "-g", "-s", "--format== %H %gs")


def _entries(out: str) -> list[tuple[str, str]]:
    """Read the output of `_REFLOG`: (oid, message), the newest first."""
    lines = [line[2:].partition(" ") for line in out.split("\n") if line.startswith("= ")]
    return [(oid, message) for oid, _, message in lines]


def along(place: Place, events: Sequence[Unlinked]) -> list[tuple[str, str, str, bool]]:
    """Return (event id, commit, how, made here) for those of `events` whose commit the chain of `place` shows."""
    chain = place.chain()
    if not chain:
        return []
    older: list[str | None] = [*chain[1:], None]
    child = dict(zip(older, chain, strict=True))
    moves = place.moves()
    came: dict[str, list[str]] = {}
    for _, new, message in moves:
        came.setdefault(new, []).append(message)
    amended = {old: new for old, new, message in moves if message.startswith(_AMEND)}
    on_chain = set(chain)
    found = []
    doubtful: list[tuple[Unlinked, str]] = []
    for event in events:
        base = event.base.get("commit")
        if base is not None and base not in on_chain:
            new = _followed(str(base), amended)
            if new in on_chain:
                found.append((event.id, new, "amend", True))
            continue
        commit = child.get(base)
        if not commit:
            continue
        arrived = came.get(commit, [])
        if any(_made_here(message) for message in arrived):
            found.append((event.id, commit, "post-commit", True))
        elif base not in came and all(message.startswith(_BEGAN) for message in arrived):
            doubtful.append((event, commit))
        # else: the branch was on the base here, and this commit came from elsewhere, alone or among others.
    if doubtful:
        people = place.people({commit for _, commit in doubtful})
        for event, commit in doubtful:
            if address(event.author) in people.get(commit, ()):
                found.append((event.id, commit, "post-commit", False))
    return found


#: Reflog messages of moves that make no commit, or make one that carries somebody else's change. Git never
#: translates them.
_AMEND = "commit (amend)"
_BROUGHT = (
    "am:",
    "branch:",
    "Branch:",
    "checkout",
    "cherry-pick",
    "clone",
    "commit (cherry-pick)",
    "commit (rebase)",
    "fetch",
    "merge",
    "pull",
    "rebase",
    "reset",
    "update by push",
)


#: ... and those with which a branch begins: they say nothing about what is older.
_BEGAN = ("branch:", "Branch:", "clone")


def _made_here(message: str) -> bool:
    """Say whether a reflog message tells of a commit made here for what was recorded before it."""
    return "Merge made by" in message or not message.startswith(_BROUGHT)


def amended_one(repository: Repository, at: Head) -> str:
    """Return the commit that HEAD's commit is an amended version of, or an empty string."""
    out = repository.git(*_REFLOG, "--max-count=2", "HEAD", "--", env=git.RAW, check=False)
    entries = _entries(out.decode("utf-8", "replace"))
    if len(entries) == 2 and entries[0][0] == at.oid and entries[0][1].startswith(_AMEND):
        return entries[1][0]
    return ""


def amended_before(repository: Repository) -> dict[str, list[str]]:
    """Return the commits of HEAD's branch that are amended ones, each with those that it replaced."""
    place = Place(repository, repository.git_dir, head(repository).ref or "HEAD")
    amended = {old: new for old, new, message in place.moves() if message.startswith(_AMEND)}
    if not amended:
        return {}
    chain = set(place.chain())
    found: dict[str, list[str]] = {}
    for old in amended:
        new = _followed(old, amended)
        if new in chain:
            found.setdefault(new, []).append(old)
    return found


def _followed(commit: str, amended: Mapping[str, str]) -> str:
    for _ in range(len(amended)):  # a chain of amends; bounded, for a reflog may hold a circle
        if commit not in amended:
            break
        commit = amended[commit]
    return commit


def address(author: str) -> str:
    return author.partition("<")[2].rstrip(">")


def worktrees(repository: Repository) -> dict[str, str]:
    """Return the git directory of each worktree of this repository, by its name in a `base`."""
    found = [repository.common_dir, repository.git_dir]
    folder = os.path.join(repository.common_dir, "worktrees")
    try:
        found += [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        pass
    return {worktree_id(git_dir): git_dir for git_dir in found}
