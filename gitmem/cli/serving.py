"""mcp: hand over to its own front end."""

from __future__ import annotations

from gitmem.cli.terminal import Io

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.memory import Memory


def mcp(memory: Memory, io: Io) -> int:
    from gitmem.__main__ import main  # the program hands it over before it comes here; a caller in Python may not

    return main(["mcp"])
