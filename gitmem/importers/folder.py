"""The files of a folder that an importer reads, each with its text and the time at which it came to be.

A file's time is that of the oldest commit in HEAD's history that added it: the same in every clone. A file that was
moved as it was, or nearly so, is as old as it was before: a folder that gets another place brings nothing anew.
One that git doesn't know is as old as the file itself, and is counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from gitmem.core import dates
from gitmem.errors import Refused
from gitmem.importers.git_process import ENVIRONMENT, Place, Stream, ask
from gitmem.importers.tally import Tally
from gitmem.store import git

#: A larger file is no migration and no record of a decision.
FILE_MAX = 4 << 20
#: Folders that hold others' files.
_OTHERS = frozenset((".git", "node_modules", ".venv", "venv", "site-packages", "__pycache__", "vendor"))


#: A file that keeps its name on a move may have changed by so much; one that gets another name, not at all.
_MOVED = 80
#: How many moves of one file are followed.
_MOVES_MAX = 8


class Source:
    """One file. `name` is its path from the root of the work tree, `time` a format time.

    Outside of a work tree the name begins with the folder above what was given: no path of a machine is in it.

    commit  the oid of the commit that added it, or empty
    origin  the name that it had then: what its events are known by
    """

    __slots__ = ("commit", "name", "origin", "text", "time")

    def __init__(self, name: str, text: str, time: str, commit: str, origin: str = "") -> None:
        self.name = name
        self.origin = origin or name
        self.text = text
        self.time = time
        self.commit = commit

    def at(self, said: str) -> str:
        """Return when a migration was made that says so of itself: not after it was there."""
        return min(said, self.time) if said else self.time


def files(
    path: str, top: str | None, fits: Callable[[str], bool], tally: Tally, git_dir: str | None = None
) -> Iterator[Source]:
    """Yield the files at or below `path` whose path `fits`, in the order of their names.

    `top` is the root of the work tree, or None. Raises Refused where there is nothing at `path`.
    """
    if not os.path.lexists(path):
        raise Refused(field="PATH", what=f"there is nothing at {path[:200]!r}", hint="give a file or a folder.")
    is_inside = top is not None and not os.path.relpath(os.path.realpath(path), top).startswith(os.pardir)
    added = Added(path, Place(git_dir, top)) if is_inside else None
    outside = os.path.dirname(os.path.dirname(os.path.realpath(path)))
    seen: set[str] = set()
    for found in _walk(path, fits):
        real = os.path.realpath(found)
        name = os.path.relpath(real, top) if top else ".."
        if name.split(os.sep, 1)[0] == os.pardir:
            name = os.path.relpath(real, outside)
        name = name.replace(os.sep, "/")
        tally.saw("files")
        if real in seen:
            tally.once("files that are links to one that was read", found)
            continue
        seen.add(real)
        text = _text(real, name, tally)
        if text is None:
            continue
        time, commit, origin = added.of(name) if added is not None else ("", "", "")
        if not time:
            tally.once("files that no commit has, as old as their own time says", name)
            time = dates.of_seconds(int(os.stat(real).st_mtime))
        yield Source(name, text, time, commit, origin)


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
        if not os.path.isfile(found) and os.path.lexists(found):  # a pipe would be waited for
            tally.skip("files that are no plain files", name)
            return None
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


class Added:
    """Which commit added each file below a path first, through the moves that the file made since."""

    def __init__(self, path: str, place: Place) -> None:
        self._place = place
        self._moves: dict[str, dict[str, str]] = {}  # by commit: new name -> old one
        self._found: dict[str, tuple[str, str]] = {}
        if ask(place, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").rc == 0:
            self._found = self._first(path)

    def of(self, name: str) -> tuple[str, str, str]:
        """Return the time, the commit and the first name of the file `name`; empty texts where no commit has it."""
        time, commit = self._found.get(name, ("", ""))
        first = name
        for _ in range(_MOVES_MAX):
            before = self._moves.get(commit, {}).get(first, "")
            if not before:
                break
            if before not in self._found:
                self._found |= self._first(f":(top,literal){before}")
            if before not in self._found or self._found[before][0] > time:
                break
            first = before
            time, commit = self._found[first]
        return time, commit, first

    def _learn(self, commits: set[str]) -> None:
        """Ask what `commits` moved: the new names, each with the old one. In one go: there may be thousands."""
        asked = sorted(commits - self._moves.keys())
        self._moves.update((commit, {}) for commit in asked)
        args = ["diff-tree", "--stdin", "-r", "-z", f"-M{_MOVED}%", "-l1000", "--diff-filter=R", "--name-status"]
        place = self._place
        lines = "".join(f"{commit}\n" for commit in asked).encode()
        listed = git.attempt(args, git_dir=place.git_dir, cwd=place.cwd, env=ENVIRONMENT, input=lines)
        words = iter(os.fsdecode(word) for word in listed.out.split(b"\0"))
        commit = ""
        for word in words:
            if word in self._moves:
                commit = word
            elif word.startswith("R"):
                old, new = next(words, ""), next(words, "")
                if word == "R100" or old.rpartition("/")[2] == new.rpartition("/")[2]:
                    self._moves[commit][new] = old

    def _first(self, path: str) -> dict[str, tuple[str, str]]:
        # Whatever is configured: a root commit adds files too, and so does a merge (`-c`), where neither side had them.
        # No name begins with a slash, so a commit does.
        args = ["log", "-z", "-c", "--root", "--no-follow", "--no-show-signature", "--no-color", "--no-renames"]
        args += ["--diff-filter=A", "--name-only", "--format=/%H %ct", "HEAD", "--"]
        stream = Stream([*args, path], self._place)
        try:
            pieces = []
            while chunk := stream.read():
                pieces.append(chunk)
            stream.finish()
        finally:
            stream.close()
        found: dict[str, tuple[str, str]] = {}
        commit = time = ""
        end = b""
        for word in b"".join(pieces).split(b"\0"):
            if word.startswith(b"/"):
                commit, _, seconds = word[1:].decode("ascii").partition(" ")
                time = dates.of_seconds(int(seconds))
                end = b"\n"  # of the line about the commit: before the first name
            elif word:
                found[os.fsdecode(word.removeprefix(end))] = (time, commit)  # newest first: the last met is the oldest
                end = b""
        self._learn({commit for _, commit in found.values()})
        return found
