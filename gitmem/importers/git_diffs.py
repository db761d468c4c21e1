"""What commits change, line by line, as sets of hashes: one `git diff-tree` answers for all of them.

A line is kept as a hash only, of a file at most `KEPT_MAX` on either side, and of a commit's lines at most
`LINES_MAX` are looked at: no diff, however large, takes more memory than that. Where a side is cut it
keeps the *smallest* hashes, so two cut sides are still compared fairly (as fingerprints are).

No renames are asked for: whether git takes a file for a renamed one depends on its version and on
settings, and what is found here has to be the same in every clone. A line that one commit takes out in
one place and puts in at another counts as moved, and is in no fingerprint.
"""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.core import fingerprint
from gitmem.importers.git_process import Ended, Place, Stream

KEPT_MAX = 4096
LINES_MAX = 400_000
FILES_MAX = 2000
#: A longer line is compared by its beginning, and is in no fingerprint.
LINE_MAX = 16 * 1024
#: A larger file is not read as a whole.
BLOB_MAX = 1 << 20

_SUBMODULE = "160000"
_END = b"end of diff"
_ALL = 1 << 64


class Unreadable(Exception):
    """Git can't say what a commit changes; the message says why."""


class Lines:
    """The hashes of some lines: all, or where they are many the smallest, those below `limit`."""

    __slots__ = ("hashes", "limit")

    def __init__(self) -> None:
        self.hashes: set[int] = set()
        self.limit = _ALL

    def add(self, value: int) -> None:
        if value < self.limit:
            self.hashes.add(value)
            while len(self.hashes) > KEPT_MAX:
                self.limit >>= 1
                self.hashes = {kept for kept in self.hashes if kept < self.limit}


class Side:
    """What one commit adds to a file, or removes from it: `lines` with a letter in them, and the distinctive ones."""

    __slots__ = ("lines", "marks")

    def __init__(self) -> None:
        self.lines = Lines()
        self.marks = Lines()


class File:
    """One changed file. `old` and `new` are its blobs (all zeros: none), `status` is git's letter."""

    __slots__ = ("added", "modes", "new", "old", "path", "removed", "status")

    def __init__(self, path: bytes, status: str, old: str, new: str, modes: tuple[str, str]) -> None:
        self.path = path
        self.status = status
        self.old = old
        self.new = new
        self.modes = modes
        self.added = Side()
        self.removed = Side()

    @property
    def is_submodule(self) -> bool:
        return _SUBMODULE in self.modes


class Diff:
    """What one commit changes. `cut` says what was too much to look at whole, or is empty."""

    __slots__ = ("cut", "files", "lines")

    def __init__(self) -> None:
        self.files: dict[bytes, File] = {}
        self.lines = 0
        self.cut = ""

    def fingerprint(
        self, file: File, *, removed: bool = False, back: Side | None = None, standing: str | None = None
    ) -> dict[str, object] | None:
        """Return the fingerprint of the lines that the commit adds to `file`, without those that it moves.

        With `removed`, of those that it removes: what an unknown earlier commit had added. With `back`, only of those
        that a revert took out again, where it took out any: what had changed before, or stayed, was not rejected.
        `standing` is the text that the revert left, where it can be read: a line of it is no sign of what it took out.
        """
        marks = (file.removed if removed else file.added).marks
        limit = marks.limit
        kept = set(marks.hashes)
        for other in self.files.values():
            opposite = (other.added if removed else other.removed).lines
            limit = min(limit, opposite.limit)
            kept -= opposite.hashes
        if back is not None and kept & back.marks.hashes:
            limit = min(limit, back.marks.limit)
            kept &= back.marks.hashes
        kept = {value for value in kept if value < limit}
        if kept and standing:
            kept -= fingerprint.marks(standing.split("\n"))
        # What was cut off was as dense as what was kept.
        return fingerprint.of_marks(kept, lines=len(kept) * (_ALL // limit))


def taken_back(revert: File, original: File) -> int | None:
    """Return how many percent of the lines that `original` changed `revert` changes back.

    None where there is nothing to compare by: no line with a letter in it.
    """
    return _share((original.added, revert.removed), (original.removed, revert.added))


def done_again(later: File, original: File) -> int | None:
    """Return how many percent of the lines that `original` changed `later` changes likewise; None as above."""
    return _share((original.added, later.added), (original.removed, later.removed))


def _share(*pairs: tuple[Side, Side]) -> int | None:
    wanted = there = 0
    for did, found in pairs:
        limit = min(did.lines.limit, found.lines.limit)
        lines = {value for value in did.lines.hashes if value < limit}
        weight = _ALL // limit  # a side that was cut stands for more lines than it keeps
        wanted += weight * len(lines)
        there += weight * len(lines & found.lines.hashes)
    return 100 * there // wanted if wanted else None


class Diffs:
    """Answers `of` for one commit after the other."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._stream: Stream | None = None
        self._blobs: Stream | None = None
        self._kept: dict[tuple[str, str], Diff] = {}

    def close(self) -> None:
        for stream in (self._stream, self._blobs):
            if stream is not None:
                stream.close()
        self._stream = self._blobs = None

    def of(self, commit: str, parent: str) -> Diff:
        """Return what `commit` changes against `parent` ("": against nothing). Raises Unreadable."""
        key = (commit, parent)
        diff = self._kept.pop(key, None)
        if diff is None:
            diff = self._ask(commit, parent)
        self._kept[key] = diff  # the last few: series of reverts, and reverts of reverts, ask again
        while len(self._kept) > 1 and (len(self._kept) > 16 or sum(d.lines for d in self._kept.values()) > LINES_MAX):
            del self._kept[next(iter(self._kept))]
        return diff

    def _ask(self, commit: str, parent: str) -> Diff:
        if self._stream is None:
            options = ["--patch-with-raw", "--unified=0", "--no-abbrev", "--no-commit-id", "--no-renames", "--no-color"]
            options += ["--no-ext-diff", "--no-textconv", "--diff-algorithm=myers", "--no-indent-heuristic"]
            options += ["--src-prefix=a/", "--dst-prefix=b/", "--inter-hunk-context=0", "--submodule=short"]
            args = ["-c", "core.quotePath=false", "diff-tree", "--stdin", "-r", "--root", *options]
            self._stream = Stream(args, self._place, feed=True)
        diff = Diff()
        whole = False
        try:
            # Git hands a line that is no object id back, after what it had to say before: our end mark.
            self._stream.ask(f"{commit} {parent}".rstrip().encode() + b"\n" + _END + b"\n")
            whole = _read(diff, _lines(self._stream))
        except Ended as error:
            raise Unreadable(str(error)) from None
        finally:
            if not whole:  # what it still has to say belongs to this answer: the next one needs a new process
                self._stream.close()
                self._stream = None
        return diff

    def text(self, blob: str) -> str | None:
        """Return a file's content as text; "" for an id of zeros, None where it is too large or can't be read."""
        if not blob.strip("0"):
            return ""
        if self._blobs is None:
            self._blobs = Stream(["cat-file", "--batch"], self._place, feed=True)
        try:
            self._blobs.ask(blob.encode() + b"\n")
            data = b""
            while b"\n" not in data:
                data += self._some(self._blobs)
            head, _, data = data.partition(b"\n")
            words = head.split()
            if len(words) != 3 or words[1] != b"blob":
                return None
            size = int(words[2])
            kept, have = [data], len(data)
            while have < size + 1:
                chunk = self._some(self._blobs)
                have += len(chunk)
                if size <= BLOB_MAX:
                    kept.append(chunk)
        except Ended:
            self._blobs.close()
            self._blobs = None
            return None
        return b"".join(kept)[:size].decode("utf-8", "replace") if size <= BLOB_MAX else None

    @staticmethod
    def _some(stream: Stream) -> bytes:
        chunk = stream.read()
        if not chunk:
            raise Ended(stream.said())
        return chunk


def _lines(stream: Stream) -> Iterator[bytes]:
    """Yield the lines of one answer without their ends, long ones cut. Raises Ended where the process ends."""
    left = b""
    over = False  # the line goes on, but what is kept of it is full
    while True:
        chunk = stream.read()
        if not chunk:
            raise Ended(stream.said())
        first, *more = chunk.split(b"\n")
        if not over:
            left += first
        if not more:
            if len(left) > LINE_MAX:
                left, over = left[:LINE_MAX], True
            continue
        yield left[:LINE_MAX]
        left, over = more.pop(), False
        for line in more:
            yield line[:LINE_MAX]
        # The end mark is the last that the process says, so nothing of the next answer is in this chunk.


def _read(diff: Diff, lines: Iterator[bytes]) -> bool:
    """Read one answer into `diff`. False where it was left before its end because it is too large."""
    normalise, hash_of, distinctive = fingerprint.normalise, fingerprint.hash_of, fingerprint.distinctive
    file: File | None = None
    in_hunk = False
    for line in lines:
        first = line[:1]
        if first in (b"+", b"-"):
            if file is None or not in_hunk:
                continue
            diff.lines += 1
            if diff.lines > LINES_MAX:
                diff.cut = f"more than {LINES_MAX:,} lines"
                return False
            text = line[1:].decode("utf-8", "replace")
            bare = normalise(text)
            if not _says_something(bare):
                continue
            value = hash_of(bare)
            side = file.added if first == b"+" else file.removed
            side.lines.add(value)
            if len(line) < LINE_MAX and distinctive(text, bare):  # of what was cut the hash would be another
                side.marks.add(value)
        elif first == b"@":
            in_hunk = True
        elif line.startswith(b"diff --git "):
            in_hunk = False
            names = line[11:]
            name = _unquoted(names[: len(names) // 2])
            file = diff.files.get(name[2:])  # without a/
            if file is not None and (file.is_submodule or fingerprint.generated(name.decode("utf-8", "replace"))):
                file = None
        elif first == b":" and not in_hunk:
            what, _, path = line.partition(b"\t")
            old_mode, new_mode, old, new, status = what[1:].decode("ascii").split()
            if len(diff.files) < FILES_MAX:
                path = _unquoted(path)
                diff.files[path] = File(path, status, old, new, (old_mode, new_mode))
            else:
                diff.cut = f"more than {FILES_MAX:,} files"
        elif line == _END:
            return True
    return True


def _says_something(bare: str) -> bool:
    """Whether a normalised line holds a letter, a digit or anything beyond ASCII."""
    return not bare.isascii() or any(character.isalnum() for character in bare)


_ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


def _unquoted(name: bytes) -> bytes:
    """Return a path as it is, where git wrote it in quotes with C's escapes."""
    if not (len(name) > 1 and name.startswith(b'"') and name.endswith(b'"')):
        return name
    parts: list[bytes] = []
    inner = name[1:-1]
    at = 0
    while at < len(inner):
        stop = inner.find(b"\\", at)
        if stop < 0:
            parts.append(inner[at:])
            break
        parts.append(inner[at:stop])
        octal = inner[stop + 1 : stop + 4]
        if len(octal) == 3 and octal.isdigit():
            parts.append(bytes((int(octal, 8) & 0xFF,)))
            at = stop + 4
        else:
            letter = inner[stop + 1 : stop + 2]
            parts.append(_ESCAPES.get(letter, letter))
            at = stop + 2
    return b"".join(parts)
