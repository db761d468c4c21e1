"""The log as the rest of gitmem sees it: a tip, the entries below it, and one way to append.

Three logs keep this protocol: `plumbing_log` (git's own programs), `pygit2_log` (libgit2, for processes
that live long) and `memory_log` (tests). One contract suite runs on all of them. They deal in raw
bytes: what a commit's parents are, or what a tree holds, is read from the object itself and from
nothing that a graft, a replace ref or a commit-graph file can bend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gitmem.store.repository import LOG_REF, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object

__all__ = ("LOG_REF", "Condition", "Log", "Stored", "TipMoved", "open_log", "parents_of", "tree_of")

#: An object larger than this is not read, and counts as damaged. No event, tree or commit of ours comes
#: near it; a gigabyte that someone pushed must not end the process.
OBJECT_MAX = 4 << 20


class Stored:
    """One commit of the log, as it is stored.

    oid      its name in git
    commit   its bytes; b"" where it can't be read
    tree     the bytes of its tree; None where that can't be read
    files    name -> content of each plain file in the tree; None where that can't be read. Names are
             decoded with surrogateescape; what else a tree holds is in its bytes only.
    missing  oids of the objects that are not here (partial clone, pruned, alternate gone)
    damaged  oids of the objects that are here but can't be read, or are not what their name says

    What has bytes has the right ones: each object was hashed and is what its oid says.
    """

    __slots__ = ("commit", "damaged", "files", "missing", "oid", "tree")

    def __init__(
        self,
        oid: str,
        commit: bytes,
        tree: bytes | None,
        files: dict[str, bytes | None],
        missing: tuple[str, ...] = (),
        damaged: tuple[str, ...] = (),
    ) -> None:
        self.oid = oid
        self.commit = commit
        self.tree = tree
        self.files = files
        self.missing = missing
        self.damaged = damaged

    def __repr__(self) -> str:
        return f"<Stored {self.oid[:12]} {len(self.files)} files>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stored):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    @property
    def parents(self) -> tuple[str, ...]:
        return parents_of(self.commit)


class TipMoved(Exception):
    """The ref is not where the writer thought it was; `tip` is where it is. The ref was left alone."""

    def __init__(self, tip: str | None) -> None:
        super().__init__(f"the tip of the log is {tip}")
        self.tip = tip


class Condition:
    """What may come between git and a whole log.

    shallow   this clone was cut off at the commits `edges`
    partial   a promisor remote is configured: objects may be missing by design
    grafts    a grafts file gives other parents to the commits `grafted` (read through)
    replaced  the objects `replacements` have a replace ref (read through)
    """

    __slots__ = ("edges", "grafted", "partial", "replacements")

    def __init__(
        self,
        edges: frozenset[str] = frozenset(),
        partial: bool = False,
        grafted: frozenset[str] = frozenset(),
        replacements: frozenset[str] = frozenset(),
    ) -> None:
        self.edges = edges
        self.partial = partial
        self.grafted = grafted
        self.replacements = replacements

    @property
    def shallow(self) -> bool:
        return bool(self.edges)

    @property
    def grafts(self) -> bool:
        return bool(self.grafted)

    @property
    def replaced(self) -> bool:
        return bool(self.replacements)

    def __repr__(self) -> str:
        words = [name for name in ("shallow", "partial", "grafts", "replaced") if getattr(self, name)]
        return f"<Condition {' '.join(words) or 'whole'}>"


class Log(Protocol):
    """What a log can do."""

    def tip(self) -> str | None:
        """Return the oid that the log's ref holds, or None where there is no log.

        Raises BrokenHistory where the ref exists and holds no oid, GitFailed where git fails.
        """

    def walk(self, tip: str, known: Iterable[str] = ()) -> Iterator[Stored]:
        """Yield every commit that `tip` reaches and no commit in `known` reaches, parents first.

        A shallow clone's walk ends where the clone was cut off (`condition`). A commit that can't be
        read is yielded too, empty, and what only it would lead to may be left out. `known` commits
        that are not here count as reaching nothing. Raises GitFailed.
        """

    def contains(self, descendant: str, ancestor: str) -> bool:
        """Say whether `descendant` is, or descends from, `ancestor`; False where either is not here."""

    def publish(self, objects: Sequence[tuple[str, bytes]], new: str, old: str | None, message: str) -> None:
        """Store `objects`, (kind, bytes) pairs, and move the log's ref from `old` to `new`, both or neither.

        `old` None: the ref must not exist. `message` is for the reflog and must quote no text of an event.
        On return the objects and the ref are durable. Raises TipMoved where the ref is not at `old`, and
        GitFailed, with one sentence, where anything can't be written; the ref has not moved then.
        """

    def publish_many(self, objects: Sequence[tuple[str, bytes]], new: str, old: str | None, message: str) -> None:
        """As `publish`, storing the objects as one pack: for importers, joins and rewrites."""

    def condition(self) -> Condition:
        """Return what may come between git and a whole log."""


def tree_of(commit: bytes) -> str:
    """Return the oid of the tree that the raw `commit` names, or "" where it names none."""
    line, _, _ = commit.partition(b"\n")
    return line[5:].decode("ascii", "replace") if line.startswith(b"tree ") else ""


def parents_of(commit: bytes) -> tuple[str, ...]:
    """Return the oids of the parents that the raw `commit` names."""
    lines = commit.partition(b"\n\n")[0].split(b"\n")
    found = []
    for line in lines[1:]:
        if not line.startswith(b"parent "):
            break
        found.append(line[7:].decode("ascii", "replace"))
    return tuple(found)


def files_of(tree: bytes, digest_size: int) -> list[tuple[str, str]] | None:
    """Return (name, blob oid) of each plain file in the raw `tree`; None where it is no tree."""
    found = []
    at, end = 0, len(tree)
    while at < end:
        space = tree.find(b" ", at)
        nul = tree.find(b"\0", space)
        stop = nul + 1 + digest_size
        if space < 0 or nul < 0 or stop > end:
            return None
        if tree.startswith(b"100", at):
            found.append((tree[space + 1 : nul].decode("utf-8", "surrogateescape"), tree[nul + 1 : stop].hex()))
        at = stop
    return found


def open_log(repository: Repository, *, long_lived: bool = False) -> Log:
    """Return the log of `repository`, by whatever reads it best.

    `long_lived`: a server, or a process that appends often; it is worth the import of libgit2. Where
    libgit2 can't open the repository (SHA-256, reftable, an extension or an owner that it does not
    take), or would see another one than git does, git's own programs do the work.
    """
    if long_lived:
        from gitmem.store import pygit2_log

        log = pygit2_log.try_open(repository)
        if log is not None:
            return log
    from gitmem.store.plumbing_log import PlumbingLog

    return PlumbingLog(repository)
