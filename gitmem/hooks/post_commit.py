"""Around a commit, an amend or a rebase: give the events their commits, the commits their notes, messages a trailer.

What belongs together is decided by `sync/links.py`; this is the way there from a hook.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.memory import Memory

#: What post-rewrite calls what it reports.
HOWS = ("amend", "rebase")
_HEX = frozenset("0123456789abcdef")


def committed() -> int:
    """Link what was recorded for the commit at HEAD; returns the number of links."""
    memory = _memory()
    try:
        return memory.after_commit()
    finally:
        memory.close()


def rewritten(how: str, given: bytes) -> int:
    """Carry links over to rewritten commits; `given` is what git gives post-rewrite. Returns the number of links."""
    pairs = pairs_of(given)
    if how not in HOWS or not pairs:
        return 0
    memory = _memory()
    try:
        return memory.after_rewrite(pairs, how)
    finally:
        memory.close()


def worded(path: str) -> int:
    """Name the decisions of the commit that is being made in its message, the file `path`; returns how many."""
    if not path:
        return 0
    memory = _memory()
    try:
        return memory.word_message(path)
    finally:
        memory.close()


def _memory() -> Memory:
    from gitmem.memory import Memory  # here: a rewrite of nothing needs none

    return Memory.open()


def pairs_of(given: bytes) -> list[tuple[str, str]]:
    """Read the lines `OLD NEW[ MORE]` of post-rewrite; git says that MORE may come one day."""
    pairs = []
    for line in given.decode("ascii", "replace").splitlines():
        words = line.split(" ")
        if len(words) >= 2 and all(len(word) in (40, 64) and _HEX.issuperset(word) for word in words[:2]):
            pairs.append((words[0], words[1]))
    return pairs
