"""demo."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli.commands import command
from gitmem.cli.options import Json

HEADING = "Set up"


@command("demo", "demonstrating:demo", heading=HEADING)
def demo(
    mcp: Annotated[
        bool, typer.Option("--mcp", help="Instead start the MCP server, and ask it what was tried: does it work here?")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tell the story in a few seconds, in a repository that is gone afterwards. Nothing of yours is touched.

    git decisions demo
    git decisions demo --mcp
    """
