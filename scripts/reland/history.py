"""A clone's history as changes with the texts before and after, oldest first. Reads git and writes nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

#: A larger text is no code that somebody edits.
TEXT_MAX = 400_000


class File:
    """One file of a change; `old` and `new` are blob ids, empty where there is none."""

    __slots__ = ("new", "old", "path")

    def __init__(self, path: str, old: str, new: str) -> None:
        self.path = path
        self.old = old
        self.new = new


class Change:
    """A commit that is no merge, with the files that it changes."""

    __slots__ = ("files", "message", "oid", "time")

    def __init__(self, oid: str, time: int, message: str) -> None:
        self.oid = oid
        self.time = time
        self.message = message
        self.files: list[File] = []


class Clone:
    """A repository on this machine."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._blobs: subprocess.Popen[bytes] | None = None

    def git(self, *args: str, data: bytes | None = None) -> bytes:
        return subprocess.run(["git", *args], cwd=self.place, input=data, capture_output=True, check=True).stdout

    def changes(self) -> Iterator[Change]:
        """Yield the commits that HEAD reaches, parents first."""
        args = ["git", "log", "-z", "--reverse", "--topo-order", "--no-merges", "--raw", "-r", "--no-renames"]
        args += ["--no-abbrev", "--no-color", "--no-show-signature", "--format=%x01%H%x02%ct%x02%B%x03", "HEAD", "--"]
        process = subprocess.Popen(args, cwd=self.place, stdout=subprocess.PIPE)
        assert process.stdout is not None
        change: Change | None = None
        raw = ""
        for word in _words(process.stdout):
            if "\x01" in word:
                _, _, rest = word.partition("\x01")
                about, _, after = rest.partition("\x03")
                if change is not None:
                    yield change
                oid, time, message = about.split("\x02", 2)
                change = Change(oid, int(time), message)
                word = after
            word = word.lstrip("\n")
            if word.startswith(":"):
                raw = word
            elif raw and change is not None and word:
                modes = raw[1:].rpartition(" ")[0]
                old_mode, new_mode, old, new = modes.split(" ")
                if "160000" not in (old_mode, new_mode) and "120000" not in (old_mode, new_mode):
                    change.files.append(File(word, _blob(old), _blob(new)))
                raw = ""
        if change is not None:
            yield change
        process.wait()

    def text(self, blob: str) -> str | None:
        """Return the text of a blob; None where it is too large or none. Of no blob, the empty text."""
        if not blob:
            return ""
        if self._blobs is None:
            self._blobs = subprocess.Popen(
                ["git", "cat-file", "--batch"], cwd=self.place, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        process = self._blobs
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(blob.encode() + b"\n")
        process.stdin.flush()
        head = process.stdout.readline().split()
        if len(head) < 3:
            return None
        data = process.stdout.read(int(head[2]) + 1)[:-1]
        if len(data) > TEXT_MAX or b"\0" in data:
            return None
        return data.decode("utf-8", "replace")

    def patch_id(self, oid: str) -> str:
        """Return the stable patch id of a commit; empty where its files are not all here."""
        args = ["git", "diff-tree", "-p", "--no-ext-diff", "--no-textconv", oid]
        diff = subprocess.run(args, cwd=self.place, capture_output=True)
        return "" if diff.returncode else self.git("patch-id", "--stable", data=diff.stdout).decode().partition(" ")[0]

    def close(self) -> None:
        if self._blobs is not None:
            self._blobs.kill()
            self._blobs.wait()


def _blob(oid: str) -> str:
    return oid if oid.strip("0") else ""


def _words(stream: object) -> Iterator[str]:
    left = b""
    while chunk := stream.read(1 << 16):  # type: ignore[attr-defined]
        *whole, left = (left + chunk).split(b"\0")
        for word in whole:
            yield word.decode("utf-8", "replace")
    if left:
        yield left.decode("utf-8", "replace")
