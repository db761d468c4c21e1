"""The files of a folder that an importer reads, each with its text and the time at which it came to be.

A file's time is that of the oldest commit in HEAD's history that added it under this name: the same in every clone.
One that git doesn't know is as old as the file itself, and is counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from gitmem.core import dates
from gitmem.errors import Refused
from gitmem.importers.git_process import Place, Stream
from gitmem.importers.tally import Tally

#: A larger file is no migration and no record of a decision.
FILE_MAX = 4 << 20
#: Folders that hold others' files.
_OTHERS = frozenset((".git", "node_modules", ".venv", "venv", "site-packages", "__pycache__", "vendor"))


class Source:
    """One file. `name` is its path from the root of the work tree (or as given, outside of one), `time` a format time.

    commit  the oid of the commit that added it, or empty
    """

    __slots__ = ("commit", "name", "text", "time")

    def __init__(self, name: str, text: str, time: str, commit: str) -> None:
        self.name = name
        self.text = text
        self.time = time
        self.commit = commit


def files(
    path: str, top: str | None, fits: Callable[[str], bool], tally: Tally, git_dir: str | None = None
) -> Iterator[Source]:
    """Yield the files at or below `path` whose path `fits`, in the order of their names.

    `top` is the root of the work tree, or None. Raises Refused where there is nothing at `path`.
    """
    if not os.path.lexists(path):
        raise Refused(field="PATH", what=f"there is nothing at {path[:200]!r}", hint="give a file or a folder.")
    added = _added(path, top, git_dir) if top else {}
    for found in _walk(path, fits):
        name = os.path.relpath(os.path.realpath(found), top) if top else found
        name = found if name.startswith("..") else name
        name = name.replace(os.sep, "/")
        tally.saw("files")
        text = _text(found, name, tally)
        if text is None:
            continue
        time, commit = added.get(name, ("", ""))
        if not time:
            tally.once("files that no commit has, as old as their own time says", name)
            time = dates.of_seconds(int(os.stat(found).st_mtime))
        yield Source(name, text, time, commit)


def _walk(path: str, fits: Callable[[str], bool]) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for folder, below, names in os.walk(path):
        below[:] = sorted(name for name in below if name not in _OTHERS)
        for name in sorted(names):
            found = os.path.join(folder, name)
            if fits(found.replace(os.sep, "/")):
                yield found


def _text(found: str, name: str, tally: Tally) -> str | None:
    try:
        if os.path.getsize(found) > FILE_MAX:
            tally.skip("files over 4 MB", name)
            return None
        with open(found, "rb") as file:
            data = file.read(FILE_MAX + 1)
    except OSError as error:
        tally.skip(f"files that can't be read ({error.strerror})", name)
        return None
    if b"\0" in data:
        tally.skip("files that are no text", name)
        return None
    text = data.decode("utf-8-sig", "replace")
    if "\ufffd" in text:
        tally.once("files that are not UTF-8, read with replacement characters", name)
    return text


def _added(path: str, top: str, git_dir: str | None) -> dict[str, tuple[str, str]]:
    """Return the time and the commit at which each file below `path` was added first."""
    args = ["log", "-z", "--no-renames", "--diff-filter=A", "--name-only", "--format=%x01%H %ct", "HEAD", "--", path]
    stream = Stream(args, Place(git_dir, top))
    try:
        pieces = []
        while chunk := stream.read():
            pieces.append(chunk)
        stream.finish()
    finally:
        stream.close()
    found: dict[str, tuple[str, str]] = {}
    commit = time = ""
    for word in b"".join(pieces).split(b"\0"):
        said = word.lstrip(b"\n")
        if said.startswith(b"\x01"):
            commit, _, seconds = said[1:].decode("ascii").partition(" ")
            time = dates.of_seconds(int(seconds))
        elif said:
            found[os.fsdecode(said)] = (time, commit)  # newest first: what is met last is the oldest
    return found
