"""receive: what a server's hook asks."""

from __future__ import annotations

import sys

from gitmem.cli.terminal import Io
from gitmem.cli.text import visible
from gitmem.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.memory import Memory

#: GitLab shows its users only what begins so; it sets one of these for its hooks.
GITLAB, GITLAB_SIGNS = "GL-HOOK-ERR: ", ("GL_ID", "GL_REPOSITORY", "GL_PROTOCOL")


def receive(memory: Memory, io: Io, *, ref: str | None, old: str | None, new: str | None) -> int:
    if ref is None:
        updates = _pushed()
    elif old is None or new is None:
        raise Usage(what="receive needs REF, OLD and NEW, or lines `OLD NEW REF` on stdin", command="receive")
    else:
        updates = [(old, new, ref)]
    front = GITLAB if any(io.environ.get(sign) for sign in GITLAB_SIGNS) else ""
    problems = memory.receive(updates)
    for problem in problems:
        io.err.write(f"{front}gitmem: {visible(problem)}\n")
    return 1 if problems else 0


def _pushed() -> list[tuple[str, str, str]]:
    lines = sys.stdin.buffer.read().decode("utf-8", "surrogateescape").splitlines() if sys.stdin else []
    updates = []
    for line in lines:
        words = line.split(" ", 2)
        if len(words) != 3:
            raise Usage(what="a line on stdin is not `OLD NEW REF`", command="receive")
        updates.append((words[0], words[1], words[2]))
    return updates
