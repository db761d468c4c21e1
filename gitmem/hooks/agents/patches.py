"""The text of a patch to edits: the `*** Begin Patch` form of apply_patch, unified diffs, and SEARCH/REPLACE blocks.

Only what an edit adds and takes away is read, and what says where. Whether the patch fits is the client's to find out.
"""

from __future__ import annotations

from gitmem.core.calls import Edit
from gitmem.hooks.agents import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

Pair = tuple[str, str, bool]

BEGIN = "*** Begin Patch"
ADD, UPDATE, DELETE, MOVE = "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "
LAST = "*** End of File"
_SEARCHES = ("------- SEARCH", "<<<<<<< SEARCH", "<<<<<<< ORIGINAL")
_REPLACES = ("+++++++ REPLACE", ">>>>>>> REPLACE", ">>>>>>> UPDATED")


def is_patch(text: str) -> bool:
    """Say whether `text` holds a patch that names its files: apply_patch's form, or a unified diff."""
    return BEGIN in text or (("\n+++ " in text or text.startswith("+++ ")) and "@@" in text)


def edits_of(text: str) -> list[Edit]:
    """Return the edits of a patch that `is_patch` knows; a broken one gives what can be read of it."""
    return _begun(text) if BEGIN in text else _unified(text)


def _lines(text: str) -> list[str]:
    # Not splitlines: a form feed or a line separator within a line is no end of it.
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


# --- apply_patch ---------------------------------------------------------------------------------


def _begun(text: str) -> list[Edit]:
    edits: list[Edit] = []
    lines = _lines(text[text.index(BEGIN) :])
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith(ADD):
            added = []
            while at < len(lines) and not _is_header(lines[at]):
                if lines[at][:1] == "+":
                    added.append(lines[at][1:] + "\n")
                at += 1
            edits.append(Edit(paths.plain(line[len(ADD) :]), content="".join(added)))
        elif line.startswith(DELETE):
            edits.append(Edit(paths.plain(line[len(DELETE) :]), is_deletion=True))
        elif line.startswith(UPDATE):
            path, moved_from = paths.plain(line[len(UPDATE) :]), ""
            if at < len(lines) and lines[at].startswith(MOVE):
                path, moved_from = paths.plain(lines[at][len(MOVE) :]), path
                at += 1
            begin = at
            while at < len(lines) and not _is_header(lines[at]):
                at += 1
            edits.append(_edit(path, lines[begin:at], moved_from))
    return edits


def _is_header(line: str) -> bool:
    return line.startswith(("*** Add", "*** Update", "*** Delete", "*** End Patch", BEGIN))


def _edit(path: str, lines: list[str], moved_from: str) -> Edit:
    found = list(_hunks(lines))
    places = {number: place for number, (_, place) in enumerate(found) if place}
    return Edit(path, pairs=[pair for pair, _ in found], places=places, moved_from=moved_from)


def _hunks(lines: list[str]) -> Iterator[tuple[Pair, int | str]]:
    """Yield what each hunk replaces: its context and what it takes away, by its context and what it adds; and where."""
    old: list[str] = []
    new: list[str] = []
    changed = ends = False
    anchors: list[str] = []
    for line in [*lines, "@@"]:
        if line.startswith("@@"):
            if changed:
                yield _pair(old, new, ends), _place(anchors)
                anchors = []
            anchors.append(line)
            old, new, changed, ends = [], [], False, False
        elif line.startswith(LAST):
            ends = True
        elif line[:1] == "+":
            new.append(line[1:])
            changed = True
        elif line[:1] == "-":
            old.append(line[1:])
            changed = True
        elif not line.startswith("\\"):  # "\ No newline at end of file"
            # Models forget the space before an empty line of context.
            old.append(line[1:])
            new.append(line[1:])


def _place(anchors: list[str]) -> int | str:
    """Return the line that a header `@@ -3,4 +3,5 @@` names, or the lines before the hunk that apply_patch names."""
    header = anchors[-1] if anchors else ""
    if header.startswith("@@ -") and "@@" in header[3:]:
        number = header[4:].split(",")[0].split(" ")[0]
        return int(number) if number.isascii() and number.isdigit() and len(number) < 9 else ""
    # Some end them with the sign that they begin with.
    return "\n".join(filter(None, (anchor[2:].strip().removesuffix("@@").strip() for anchor in anchors)))


def _pair(old: list[str], new: list[str], ends: bool) -> Pair:
    # With its line feeds, so that a line is not found in the middle of another; the last line of a file may have none.
    feed = "" if ends else "\n"
    return ("\n".join(old) + feed if old else "", "\n".join(new) + feed if new else "", False)


# --- unified diffs -------------------------------------------------------------------------------


def _unified(text: str) -> list[Edit]:
    edits: list[Edit] = []
    before = ""
    path = ""
    hunk: list[str] = []
    left = right = 0  # lines of the hunk that are still to come: a line "--- a" may be one that is taken away

    def close() -> None:
        if path and path != "/dev/null":
            moved = before if before not in ("", path, "/dev/null") else ""
            edits.append(_edit(paths.plain(path), hunk, paths.plain(moved)))
        elif path and before:
            edits.append(Edit(paths.plain(before), is_deletion=True))

    for line in _lines(text):
        if left > 0 or right > 0:
            hunk.append(line)
            left -= line[:1] not in ("+", "\\")
            right -= line[:1] not in ("-", "\\")
        elif line.startswith("--- "):
            close()
            before, path, hunk = _side(line), "", []
        elif line.startswith("+++ "):
            path = _side(line)
        elif line.startswith("@@"):
            hunk.append(line)
            left, right = _counts(line)
        elif hunk and line[:1] in ("+", "-", " "):
            hunk.append(line)  # a hunk whose header counted wrong, or not at all
    close()
    return edits


def _side(line: str) -> str:
    name = line[4:].partition("\t")[0].strip()
    return name[2:] if name[:2] in ("a/", "b/") else name


def _counts(line: str) -> tuple[int, int]:
    """Return how many lines a hunk has on either side, by its header `@@ -1,3 +1,4 @@`; 0 where it doesn't say."""
    counts = []
    for word in line.split()[1:3]:
        number = word[1:].partition(",")[2] or "1"
        counts.append(
            int(number) if word[:1] in ("-", "+") and number.isascii() and number.isdigit() and len(number) < 9 else 0
        )
    return (counts[0], counts[1]) if len(counts) == 2 else (0, 0)


# --- blocks --------------------------------------------------------------------------------------


def blocks_of(text: str) -> list[Pair]:
    """Return what the SEARCH/REPLACE blocks in `text` replace (Cline); empty where there is none."""
    pairs: list[Pair] = []
    old: list[str] | None = None
    new: list[str] | None = None
    for line in _lines(text):
        bare = line.rstrip()
        if bare in _SEARCHES:
            old, new = [], None
        elif bare in _REPLACES and new is not None and old is not None:
            pairs.append(_pair(old, new, False))
            old = new = None
        elif old is not None and new is None and bare == "=======":
            new = []
        elif new is not None:
            new.append(line)
        elif old is not None:
            old.append(line)
    return pairs
