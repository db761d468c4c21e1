"""Additions: what a change of one file brings into it, line by line. Pure.

Whatever knows a rejected thing when it comes back looks at these lines and at no others: what was in the file
before may stay there, move about in it, and be edited around.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitmem.core.entering import Entering

    Reader = Callable[[str, str | None, str | None], list[Entering]]

#: Entity path, kind, line.
Entered = tuple[str, str, int]

#: More names than this, of one edit, are a move or an import of code.
NAMES_MAX = 5000


class Addition:
    """One file as a change leaves it.

    path    from the root of the repository, separators `/`
    before  the text that it had (None: there was no such file); of a moved file, the text that it had elsewhere
    after   the text that it gets (None: the file goes)
    lines   (number from 1, text) of each line of `after` that was nowhere in `before`
    is_new  there was no file at this path
    moved_from  of a moved file, the path that it had; else empty
    """

    __slots__ = ("_entered", "after", "before", "is_new", "lines", "moved_from", "path")

    def __init__(self, path: str, before: str | None, after: str | None, *, is_new: bool, moved_from: str = "") -> None:
        self.path = path
        self.moved_from = moved_from
        self.before = before
        self.after = after
        self.is_new = is_new
        self.lines = added(before, after)
        self._entered: list[Entered] | None = None

    def entered(self, read: Reader | None = None) -> list[Entered]:
        """Return (entity path, kind, line) of what the change brings in anew; of very much, the first names.

        `read` takes the place of `entering.found`, for who has the time to read closer; who asks first decides.
        """
        if self._entered is None:
            from gitmem.core import entering

            reads = read or entering.found
            before = self.before
            if self.moved_from and not entering.is_read_alike(self.moved_from, self.path):
                before = ""  # what was only text there names things here
            found = reads(self.path, before, self.after)[:NAMES_MAX]
            self._entered = [(str(one.name), str(one.entity_type), int(one.line)) for one in found]
            if self.moved_from:
                self._entered += self._symbols(reads(self.path, "", self.after))
            if self.is_new and self.before is not None:  # moved here
                self._entered.insert(0, (self.path, "file", 0))
        return self._entered

    def _symbols(self, everything: list[Entering]) -> list[Entered]:
        """Return the symbols that a moved file brings along, and the former names of those that are new in it."""
        had = {name.lower() for name, _, _ in self._entered or ()}
        found: list[Entered] = []
        for one in everything[:NAMES_MAX]:
            if not one.name.startswith(self.path + "::"):
                continue
            is_new = one.name.lower() in had
            name = self.moved_from + one.name[len(self.path) :] if is_new else one.name
            found.append((str(name), str(one.entity_type), int(one.line)))
        return found

    def came_along(self, name: str) -> str:
        """Return the name that a symbol had before its file was moved with it; "" for what didn't come so."""
        if not self.moved_from or not name.startswith(self.path + "::"):
            return ""
        former = self.moved_from + name[len(self.path) :]
        return "" if any(each == former for each, _, _ in self._entered or ()) else former

    def forget_texts(self) -> Addition:
        """Keep what the change brings in, and not the texts that it was found by; return itself."""
        self.entered()
        self.before = self.after = None
        return self


def added(before: str | None, after: str | None) -> list[tuple[int, str]]:
    """Return the lines of `after` that are not in `before`, blanks at their ends aside, with their numbers from 1."""
    if not after:
        return []
    known = {line.rstrip() for line in before.split("\n")} if before else set()
    known.add("")
    return [(number, line) for number, line in enumerate(after.split("\n"), 1) if line.rstrip() not in known]


def marked(additions: Iterable[Addition]) -> dict[int, tuple[Addition, int]]:
    """Return the marks (see `fingerprint`) of all added lines, each with the first file and line that has it.

    Files that nobody writes by hand have none.
    """
    from gitmem.core import fingerprint

    found: dict[int, tuple[Addition, int]] = {}
    for addition in additions:
        if fingerprint.generated(addition.path):
            continue
        for number, line in addition.lines:
            bare = fingerprint.normalise(line)
            if fingerprint.distinctive(line, bare):
                found.setdefault(fingerprint.hash_of(bare), (addition, number))
    return found


def whole(text: str) -> str:
    """Return `text` with a replacement for each lone surrogate: nothing that keeps or compares it takes one."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def text_of(data: bytes) -> str:
    """Return what the bytes of a file say as text; nothing where they are none."""
    return "" if b"\0" in data[:8000] else data.decode("utf-8", "replace")
