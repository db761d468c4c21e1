"""mcp."""

from __future__ import annotations

from gitmem.cli.commands import command

HEADING = "Agents"


@command("mcp", "serving:mcp", heading=HEADING)
def mcp() -> None:
    """Serve an agent over the Model Context Protocol, on stdin and stdout.

    A client starts it (`git decisions setup` writes how) and closes its stdin to end it. Needs the extra `mcp`:
    pip install 'git-decisions[mcp]'
    """
