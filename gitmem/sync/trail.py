"""Trails: the commits behind a file, or behind one of its lines, as git tells them, whatever name the file had.

`git blame -M -C` says which commit a line came from, through files that it was moved or copied from; from there
`git log -L` follows what the line was before. What git can't tell (an uncommitted line, a folder, a name that isn't
there) is one sentence.
"""

from __future__ import annotations

import os

from gitmem.errors import GitFailed, Usage
from gitmem.store import git
from gitmem.sync.history import LOG, Commit, History, commits_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.repository import Repository

#: How far back a trail goes, in commits, and how long git may take for each half of it.
COMMITS_MAX = 200
LOOK_S = 20.0
#: As much of a file is looked at to tell whether it is text (git's own number).
SNIFFED = 8000


class Trail:
    """What stands behind a line, or a whole file.

    file     from the root of the repository, as it is called now
    line     its number now, or 0 for all of the file; `text` is what stands there
    commits  the newest first
    around   the lines that the line stands in, by their indentation: the innermost first, itself at the front
    note     why there is no more, as a sentence, or ""
    """

    __slots__ = ("around", "commits", "file", "line", "note", "text")

    def __init__(self, file: str, line: int) -> None:
        self.file = file
        self.line = line
        self.text = ""
        self.commits: list[Commit] = []
        self.around: list[str] = []
        self.note = ""


def split(typed: str, is_there: bool) -> tuple[str, int]:
    """Part `FILE:LINE`; a file whose own name ends so (`is_there`) is a file."""
    name, colon, number = typed.rpartition(":")
    if is_there or not colon or not name or name == ":":
        return typed, 0
    if not (number.isascii() and number.isdigit()):
        if number.strip() and not name.endswith(":") and "/" not in number and name != "":
            raise Usage(what=f"{number[:40]!r} is no number of a line (in {typed[:80]!r})", command="why")
        return typed, 0
    if int(number[:10]) < 1:
        raise Usage(what="lines are counted from 1", command="why")
    return name, int(number[:10])


def of(repository: Repository, typed: str, place: str = "") -> Trail:
    """Return the trail of what is typed as `FILE[:LINE]`, from the directory `place`. Raises Usage, GitFailed."""
    if "\0" in typed:
        raise Usage(what="a name holds no NUL byte", command="why")
    finder = _Files(repository, place)
    name, line = split(typed, bool(finder.found(typed)))
    file = finder.found(name)
    if not file:
        return _missing(repository, finder, name, line)
    kind = finder.kind(file)
    if kind in ("tree", "folder"):
        raise Usage(what=f"{name} is a folder", hint=f"`git decisions status {name}` lists what is decided in it.")
    trail = Trail(file, line)
    if kind == "commit":
        raise Usage(what=f"{name} is a submodule", hint="ask in there, or about a file of this repository.")
    if not kind:
        trail.note = f"{file} is not committed yet."
        _look_at(trail, _content(repository, file))
        return trail
    if line:
        _of_line(repository, trail)
    else:
        trail.commits = _commits(repository, "--follow", "--", file)
        if not trail.commits:
            trail.note = f"git has no history of {file}."
    return trail


def _missing(repository: Repository, finder: _Files, name: str, line: int) -> Trail:
    gone = finder.was(name)
    if gone and not line:
        trail = Trail(gone, 0)
        trail.commits = _commits(repository, "--", gone)
        trail.note = f"{gone} is no more; its last commit took it away."
        return trail
    if gone:
        raise Usage(
            what=f"{gone} is no more, so it has no line {line}", hint=f"`git decisions why {name}` tells its history."
        )
    near = finder.nearest(name)
    hint = f"did you mean `{near}`?" if near else "give a file of this repository, from here or from its root."
    raise Usage(what=f"there is no file {name[:200]!r} here", hint=hint)


# --- one line ---------------------------------------------------------------------------------


def _of_line(repository: Repository, trail: Trail) -> None:
    _look_at(trail, _content(repository, trail.file))
    bare = repository.work_tree is None
    number = str(trail.line)
    words = ("blame", "--porcelain", "-M", "-C", "-L", f"{number},{number}", *(("HEAD",) if bare else ()), "--")
    words = ("--literal-pathspecs", "-c", "core.quotePath=false", *words, trail.file)
    result = repository.try_git(*words, work_tree=not bare, timeout_s=LOOK_S)
    if result.rc != 0:
        raise git.failed(("blame",), result.rc, result.err)
    lines = result.out.decode("utf-8", "replace").split("\n")
    oid, origin = lines[0].split(" ")[:2]
    if not oid.strip("0"):
        trail.note = f"line {number} of {trail.file} is not committed yet."
        return
    name = next((_unquoted(line[9:]) for line in lines if line.startswith("filename ")), trail.file)
    try:
        trail.commits = _commits(repository, f"-L{origin},{origin}:{name}", oid)
    except GitFailed:
        trail.commits = []
    if not trail.commits or trail.commits[0].oid != oid:
        # A long history can take git minutes; the commit that the line came from is known all the same.
        first = History(repository).commits([oid])
        trail.commits = [*first.values(), *(commit for commit in trail.commits if commit.oid != oid)]


def _look_at(trail: Trail, content: bytes) -> None:
    """Take the line and what stands around it from the file as it is now. Raises Usage where there is none."""
    if not trail.line:
        return
    if b"\0" in content[:SNIFFED]:
        raise Usage(
            what=f"{trail.file} is a binary file and has no lines",
            hint=f"`git decisions why {trail.file}` asks of it all.",
        )
    lines = content.decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    if trail.line > len(lines):
        count = f"{len(lines):,} line" + ("" if len(lines) == 1 else "s")
        raise Usage(what=f"{trail.file} has {count}, and no line {trail.line:,}", hint="")
    trail.text = lines[trail.line - 1].rstrip("\r")
    trail.around = [trail.text]
    depth = _depth(trail.text) if trail.text.strip() else 1 << 30
    for line in reversed(lines[: trail.line - 1]):
        if line.strip() and _depth(line) < depth:
            depth = _depth(line)
            trail.around.append(line)
        if depth == 0:
            break


def _depth(line: str) -> int:
    line = line.expandtabs(8)
    return len(line) - len(line.lstrip())


def _content(repository: Repository, file: str) -> bytes:
    if repository.work_tree is not None:
        try:
            with open(os.path.join(repository.work_tree, file), "rb") as opened:
                return opened.read()
        except OSError:
            pass  # deleted here, or turned into a folder: what HEAD has is asked
    return repository.git("cat-file", "blob", f"HEAD:{file}", check=False)


def _commits(repository: Repository, *words: str) -> list[Commit]:
    args = ("--literal-pathspecs", *LOG, "-s", "--root", f"--max-count={COMMITS_MAX}", *words)
    result = repository.try_git(*args, timeout_s=LOOK_S)
    if result.rc != 0:
        raise git.failed(("log",), result.rc, result.err)
    return commits_of(result.out)


def _unquoted(name: str) -> str:
    if not name.startswith('"'):
        return name
    # With core.quotePath off, git quotes only what holds a quote, a backslash or a control.
    return name[1:-1].replace('\\"', '"').replace("\\\\", "\\")


# --- files ------------------------------------------------------------------------------------


class _Files:
    """The files that a typed name may mean: as git has them in HEAD, as they lie here, as they were."""

    def __init__(self, repository: Repository, place: str) -> None:
        self._repository = repository
        self._place = place
        self._kinds: dict[str, str] = {}

    def names(self, typed: str) -> list[str]:
        """Return what `typed` may be from the root: from the working directory, then from the root itself."""
        if typed.startswith(":/"):
            return [typed[2:]]
        inside = self._repository.relative(typed)
        here = os.path.normpath(os.path.join(self._place, typed)) if self._place else ""
        found = [name for name in (here, inside, os.path.normpath(typed)) if name and not name.startswith(("../", "/"))]
        return list(dict.fromkeys(found))

    def found(self, typed: str) -> str:
        """Return the name from the root of what `typed` means, or ""."""
        names = self.names(typed)
        for name in names:
            if self.kind(name):
                return name
        top = self._repository.work_tree
        return next((name for name in names if top and os.path.lexists(os.path.join(top, name))), "")

    def kind(self, name: str) -> str:
        """Return what HEAD has under a name: blob, tree, commit (a submodule), or ""; a folder here is `folder`."""
        if name not in self._kinds:
            top = self._repository.work_tree
            if top and os.path.isdir(os.path.join(top, name)) and not os.path.islink(os.path.join(top, name)):
                self._kinds[name] = "folder"
            words = ("--literal-pathspecs", "ls-tree", "-z", "HEAD", "--", name.rstrip("/"))
            fields = self._repository.git(*words, check=False).split(b"\t", 1)[0].split(b" ")
            if len(fields) == 3:
                self._kinds[name] = fields[1].decode()
        return self._kinds.get(name, "")

    def was(self, typed: str) -> str:
        """Return the name under which HEAD's history had what `typed` means, or ""."""
        for name in self.names(typed):
            words = ("--literal-pathspecs", "rev-list", "--max-count=1", "HEAD", "--", name)
            if self._repository.git(*words, check=False).strip():
                return name
        return ""

    def nearest(self, typed: str) -> str:
        """Return the file of HEAD whose name is most like `typed`, or ""."""
        import difflib

        out = self._repository.git("ls-tree", "-r", "-z", "--name-only", "HEAD", check=False)
        files = [name for name in out.decode("utf-8", "replace").split("\0") if name]
        wanted = self.names(typed)[0] if self.names(typed) else typed
        same = [name for name in files if os.path.basename(name).casefold() == os.path.basename(wanted).casefold()]
        if len(same) == 1:
            return same[0]
        near = difflib.get_close_matches(wanted, files[:20_000], n=1, cutoff=0.7)
        return near[0] if near else ""
