"""The commits that links may lead to: read in one go, and what is asked about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem.store import git
from gitmem.sync.messages import Said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.repository import Repository

#: Branches that others are merged into, where nothing names one (`refs/remotes/*/HEAD` does).
TRUNKS = ("main", "master", "trunk", "develop")
#: Where forges keep the tips of what was proposed, where they were fetched.
PULLS = (("refs/pull/", "/head"), ("refs/merge-requests/", "/head"))

_FORMAT = "--format=%H%x00%T%x00%P%x00%ae%x00%at%x00%ct%x00%B%x01"
LOG = ("-c", "log.showSignature=false", "log", "--encoding=UTF-8", "--no-color", "--no-notes", _FORMAT)


class Commit:
    """A commit of the code. Times are in seconds, `author` is an address."""

    __slots__ = ("author", "authored", "committed", "message", "oid", "parents", "tree")

    def __init__(self, record: str) -> None:
        fields = record.split("\0")
        self.oid, self.tree, parents, self.author, authored, committed = fields[:6]
        self.parents = tuple(parents.split())
        self.authored = int(authored or 0)
        self.committed = int(committed or 0)
        self.message = "\0".join(fields[6:])

    @property
    def said(self) -> Said:
        return Said(self.message)

    @property
    def subject(self) -> str:
        return self.message.lstrip().partition("\n")[0].rstrip()

    def is_same_work(self, other: Commit) -> bool:
        """Say whether both have one author and one moment of writing, which a pick and a rebase keep."""
        return self.author == other.author and self.authored == other.authored


def commits_of(out: bytes) -> list[Commit]:
    records = out.decode("utf-8", "replace").split("\x01")
    return [Commit(record.lstrip("\n")) for record in records if record.count("\0") >= 6]


class History:
    """A repository's commits, as far as they are asked about."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._ancestry: dict[tuple[str, str], bool] = {}

    def newest(self, most: int, since_s: int) -> list[Commit]:
        """Return the commits of HEAD and of every branch, the newest first."""
        head = self.repository.git("rev-parse", "-q", "--verify", "HEAD^0", env=git.RAW, check=False).decode().strip()
        words = [*LOG, f"--max-count={most}", f"--max-age={max(0, since_s)}", "--branches", "--remotes"]
        return commits_of(self.repository.git(*words, *([head] if head else []), "--", env=git.RAW, check=False))

    def tips(self) -> list[str]:
        """Return where HEAD, the branches and what was fetched of pull requests stand."""
        places = ("refs/heads", "refs/remotes", *(prefix for prefix, _ in PULLS))
        out = self.repository.git("for-each-ref", "--format=%(objectname)", *places, env=git.RAW, check=False)
        head = self.repository.git("rev-parse", "-q", "--verify", "HEAD^0", env=git.RAW, check=False)
        return list(dict.fromkeys([*head.decode("ascii").split(), *out.decode("ascii").split()]))

    def count(self, tips: Iterable[str], known: Iterable[str], since_s: int, most: int) -> int:
        """Return how many commits, at most `most`, some tips reach and others don't, none older than `since_s`."""
        words = ("rev-list", "--count", f"--max-count={most}", f"--max-age={max(0, since_s)}", "--ignore-missing")
        lines = "".join(f"{oid}\n" for oid in (*tips, *("^" + oid for oid in known))).encode()
        out = self.repository.git(*words, "--stdin", env=git.RAW, input=lines, check=False).strip()
        return int(out) if out.isdigit() else 0

    def commits(self, oids: Iterable[str]) -> dict[str, Commit]:
        """Return those of some commits that are here."""
        here = self.here(oids)
        if not here:
            return {}
        lines = "".join(oid + "\n" for oid in sorted(here)).encode()
        out = self.repository.git(*LOG, "--no-walk=unsorted", "--stdin", env=git.RAW, input=lines, check=False)
        return {commit.oid: commit for commit in commits_of(out)}

    def here(self, oids: Iterable[str]) -> set[str]:
        """Return which of some commits are in this repository."""
        asked = sorted({oid for oid in oids if oid})
        if not asked:
            return set()
        lines = "".join(oid + "\n" for oid in asked).encode()
        words = ("cat-file", "--batch-check=%(objectname) %(objecttype)", "--buffer")
        out = self.repository.git(*words, env=git.RAW, input=lines, check=False).decode("ascii", "replace")
        return {line.partition(" ")[0] for line in out.splitlines() if line.endswith(" commit")}

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Say whether `newer` has `older` in its history; a commit has itself."""
        pair = (older, newer)
        if pair not in self._ancestry:
            words = ("merge-base", "--is-ancestor", older, newer)
            self._ancestry[pair] = self.repository.try_git(*words, env=git.RAW).rc == 0
        return self._ancestry[pair]

    def outside(self, oids: Iterable[str], tip: str) -> set[str]:
        """Return those of some commits (which are here) that `tip` does not reach."""
        asked = set(oids)
        if not asked:
            return set()
        lines = "".join(oid + "\n" for oid in sorted(asked)) + f"^{tip}\n"
        out = self.repository.git("rev-list", "--stdin", env=git.RAW, input=lines.encode(), check=False)
        return asked & set(out.decode("ascii").split())

    def span(self, tip: str, trunk: str, most: int) -> set[str]:
        """Return the commits of `tip` that `trunk` does not reach."""
        words = ("rev-list", f"--max-count={most}", tip, "^" + trunk, "--")
        return set(self.repository.git(*words, env=git.RAW, check=False).decode("ascii").split())

    def base(self, one: str, other: str) -> str:
        """Return where two histories parted, or "" where they never met."""
        found = self.repository.git("merge-base", one, other, env=git.RAW, check=False).decode("ascii").split()
        return found[0] if found else ""

    def trunks(self) -> list[str]:
        """Return the tips of the branches that others are merged into: HEAD, what remotes call theirs, `TRUNKS`."""
        names = [f"refs/heads/{name}" for name in TRUNKS] + [f"refs/remotes/*/{name}" for name in (*TRUNKS, "HEAD")]
        out = self.repository.git("for-each-ref", "--format=%(objectname)", *names, env=git.RAW, check=False)
        head = self.repository.git("rev-parse", "-q", "--verify", "HEAD^0", env=git.RAW, check=False)
        return list(dict.fromkeys([*out.decode("ascii").split(), *head.decode("ascii").split()]))

    def containing(self, oids: Sequence[str]) -> dict[str, list[str]]:
        """Return the tips of branches and pull requests that hold one of some commits: tip -> names of refs."""
        found: dict[str, list[str]] = {}
        places = ("refs/heads", "refs/remotes", *(prefix for prefix, _ in PULLS))
        for at in range(0, len(oids), 200):
            words = [word for oid in oids[at : at + 200] for word in ("--contains", oid)]
            words += ["--format=%(objectname) %(refname)", *places]
            out = self.repository.git("for-each-ref", *words, env=git.RAW, check=False).decode("utf-8", "replace")
            for line in out.splitlines():
                tip, _, name = line.partition(" ")
                found.setdefault(tip, []).append(name)
        return found

    def reflog(self, most: int) -> list[str]:
        """Return where HEAD of this worktree was, the newest first: tips of branches that are gone, among others."""
        words = ("-c", "log.showSignature=false", "log", "-g", "--format=%H", f"--max-count={most}", "HEAD", "--")
        return list(dict.fromkeys(self.repository.git(*words, env=git.RAW, check=False).decode("ascii").split()))

    def names(self, older: str, newer: str) -> list[str]:
        """Return the files that differ between two commits."""
        words = ("diff-tree", "-r", "--no-renames", "--name-only", "-z", older, newer)
        out = self.repository.git(*words, env=git.RAW, check=False).decode("utf-8", "surrogateescape")
        return [name for name in out.split("\0") if name]

    def lines(self, older: str, newer: str) -> list[bytes]:
        """Return the lines that differ between two commits, each with its file and its sign, sorted."""
        from gitmem.sync.commits import PLAIN

        words = ("diff-tree", "-r", "-p", "-U0", "--no-renames", *PLAIN, older, newer)
        found: list[bytes] = []
        name = b""
        for line in self.repository.git(*words, env=git.RAW, check=False).split(b"\n"):
            if line.startswith(b"diff --git "):
                name = line
            elif line[:1] in (b"+", b"-") and line[1:].strip() and not line.startswith((b"+++ ", b"--- ")):
                found.append(name + b"\0" + line[:1] + b"".join(line[1:].split()))
        return sorted(found)

    def touching(self, names: Sequence[str], base: str, trunk: str, most: int) -> list[str]:
        """Return the commits (no merges) from `base` to `trunk` that touch one of some files, the newest first."""
        words = ("--literal-pathspecs", "rev-list", "--no-merges", f"--max-count={most}", trunk, "^" + base, "--")
        return self.repository.git(*words, *names, env=git.RAW, check=False).decode("ascii", "replace").split()


def pull_of(name: str) -> int:
    """Return the number of the pull request whose tip the ref `name` is; 0 for any other ref."""
    for prefix, suffix in PULLS:
        if name.startswith(prefix) and name.endswith(suffix):
            number = name[len(prefix) : -len(suffix)]
            return int(number) if number.isascii() and number.isdigit() else 0
    return 0
