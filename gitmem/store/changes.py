"""Changes: what git is about to commit, or what a range of commits comes to, as whole texts before and after.

The texts and not the hunks: what is brought in anew is decided by what a file holds, in one way for agents' edits,
for the index and for a range. Nothing of the user's diff settings, filters or attributes has a say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitmem.core.additions import Addition
from gitmem.errors import GitFailed, Refused, Usage
from gitmem.store import git
from gitmem.store.repository import Repository

#: A larger blob is not looked at, in bytes.
BLOB_MAX = 8 << 20
#: How many blobs are asked for at once.
_TOGETHER = 500
#: Asking which files were changed takes no longer: in a large work tree that nobody watches git looks at each.
IN_HAND_S = 2.0

_RAW = ("--raw", "-z", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules")
_MOVED = ("--find-renames=60%", "-l500", "--no-relative")


def staged(repository: Repository, unread: list[str]) -> Iterator[Addition]:
    """Yield what the index would add to HEAD, by file. An index that a hook was given counts.

    `unread` takes in the files whose texts are too large or not here; of a new one its name is told.
    """
    index = repository.environ.get("GIT_INDEX_FILE", "")
    env = {"GIT_INDEX_FILE": index} if index else {}
    head = repository.try_git("rev-parse", "--verify", "--quiet", "HEAD^{commit}").out.decode("ascii").strip()
    base = head or repository.git("hash-object", "-t", "tree", "--stdin").decode("ascii").strip()
    words = ("diff-index", "--cached", *_RAW)
    found = _parsed(repository.git(*words, *_MOVED, base, env=env, work_tree=True))
    # What a merge takes from the other side was looked at there: only what is new to both counts.
    other = repository.try_git("rev-parse", "--verify", "--quiet", "MERGE_HEAD^{commit}").out.decode("ascii").strip()
    if not other:
        yield from _additions(repository, found, unread)
        return
    theirs = {entry[0]: entry[2] for entry in _parsed(repository.git(*words, other, env=env, work_tree=True))}
    both = ((*entry[:4], theirs[entry[0]]) for entry in found if entry[0] in theirs)
    yield from _additions(repository, both, unread)


def over(repository: Repository, typed: str) -> tuple[str, str]:
    """Return the commits that a range `A..B` (or `A...B`) compares: what they share, and its end.

    Raises Usage where it is none, and Refused where something of it isn't here.
    """
    first, dots, last = typed.partition("...") if "..." in typed else typed.partition("..")
    if not dots:
        raise Usage(what=f"--range: {typed[:80]!r} is no range", hint="give two revisions: main..HEAD.")
    start, end = (_commit(repository, one or "HEAD") for one in (first, last))
    base = repository.try_git("merge-base", start, end).out.decode("ascii").strip()
    if not base:
        hint = "fetch the history between them: `git fetch --unshallow`."
        raise Refused(field="--range", what=f"{first} and {last} have no commit in common here", hint=hint)
    return base, end


def between(repository: Repository, base: str, end: str, unread: list[str]) -> Iterator[Addition]:
    """Yield what `end` has that the commit `base` had not, by file. `unread`: as for `staged`."""
    out = repository.git("diff-tree", "-r", *_RAW, *_MOVED, base, end, env=git.RAW)
    yield from _additions(repository, _parsed(out), unread)


def trailers(repository: Repository, base: str, end: str, keys: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Return key -> [(commit, value)] of the trailers of some keys in the commits of a range."""
    fields = "".join(f"%x1e%(trailers:key={key},valueonly,unfold,separator=%x1f)" for key in keys)
    words = (*git.TRAILERS, "log", f"--format=%H{fields}%x1d", "--no-show-signature", f"{base}..{end}")
    out = repository.git(*words, env=git.RAW)
    found: dict[str, list[tuple[str, str]]] = {key: [] for key in keys}
    for entry in out.decode("utf-8", "replace").split("\x1d"):
        commit, *values = entry.strip("\n").split("\x1e")
        for key, value in zip(keys, values):
            found[key] += [(commit, one.strip()) for one in value.split("\x1f") if one.strip()]
    return found


def in_hand(repository: Repository) -> list[str]:
    """Return the files that were changed, added or put in the index and are in no commit yet, from the root."""
    if repository.work_tree is None:
        return []
    words = ("status", "--porcelain", "-z", "-uall", "--no-renames", "--ignore-submodules=dirty")
    try:
        result = repository.try_git(*words, work_tree=True, timeout_s=IN_HAND_S)
    except GitFailed:
        return []
    return [line[3:] for line in result.out.decode("utf-8", "replace").split("\0") if len(line) > 3]


def head_time(repository: Repository) -> int:
    """Return when the commit at HEAD was made, in seconds; 0 where there is none."""
    out = repository.try_git("log", "-1", "--format=%ct", "--no-show-signature", "HEAD").out.strip()
    return int(out) if out.isdigit() else 0


def _commit(repository: Repository, revision: str) -> str:
    result = repository.try_git("rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
    oid = result.out.decode("ascii", "replace").strip()
    if result.rc != 0 or not oid:
        hint = "in CI, check the history out in full (fetch-depth: 0)."
        raise Refused(field="--range", what=f"{revision[:80]!r} names no commit here", hint=hint)
    return oid


#: (path, path before, oid before or "", oid after ("": no text), oid before on the other side of a merge or "")
_Entry = tuple[str, str, str, str, str]


def _parsed(out: bytes) -> Iterator[_Entry]:
    """Read `--raw -z`: `:mode mode oid oid status`, NUL, a path, and of what moved the new path."""
    parts = iter(out.split(b"\0"))
    for head in parts:
        if not head.startswith(b":"):
            continue
        old_mode, mode, old, new, status = head[1:].decode("ascii").split(" ")
        source = path = next(parts, b"").decode("utf-8", "replace")
        if status[0] in "RC":
            path = next(parts, b"").decode("utf-8", "replace")
        if mode[:2] != "10" and status[0] == "A":  # a link, a submodule: a name, and no text
            yield path, path, "", "", ""
        elif mode[:2] == "10" and status[0] in "AMRCT":
            yield path, source, old if old_mode[:2] == "10" else "", new, ""


def _additions(repository: Repository, entries: Iterator[_Entry], unread: list[str]) -> Iterator[Addition]:
    waiting: list[_Entry] = []
    for entry in entries:
        waiting.append(entry)
        if len(waiting) == _TOGETHER:
            yield from _read(repository, waiting, unread)
            waiting = []
    yield from _read(repository, waiting, unread)


def _read(repository: Repository, entries: list[_Entry], unread: list[str]) -> Iterator[Addition]:
    if not entries:
        return
    wanted = dict.fromkeys(oid for entry in entries for oid in entry[2:] if oid)
    texts = _texts(repository, list(wanted))
    for path, source, old, new, other in entries:
        had = [oid for oid in (old, other) if oid]
        is_new = not had or (source != path and not other)
        if not all(oid in texts for oid in (new, *had) if oid):  # not all here (a partial clone), or too large
            unread.append(path)
            if is_new:
                yield Addition(path, None, "", is_new=True)
            continue
        before = "\n".join(texts[oid] for oid in had) if had else None
        yield Addition(
            path, before, texts[new] if new else "", is_new=is_new, moved_from=source if source != path else ""
        )


def _texts(repository: Repository, oids: list[str]) -> dict[str, str]:
    from gitmem.core.additions import text_of

    sizes = repository.git("cat-file", "--batch-check=%(objectname) %(objectsize)", input=_lines(oids))
    small = []
    for line in sizes.decode("ascii", "replace").splitlines():
        oid, _, size = line.partition(" ")
        if size.isdigit() and int(size) <= BLOB_MAX:
            small.append(oid)
    out = repository.git("cat-file", "--batch", input=_lines(small))
    found, at = {}, 0
    while at < len(out):
        end = out.index(b"\n", at)
        oid, _, size = out[at:end].decode("ascii").split(" ")
        found[oid] = text_of(out[end + 1 : end + 1 + int(size)])
        at = end + int(size) + 2
    return found


def _lines(oids: list[str]) -> bytes:
    return "".join(f"{oid}\n" for oid in oids).encode()
