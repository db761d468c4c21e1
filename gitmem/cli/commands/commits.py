"""link."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli.commands import command
from gitmem.cli.options import Json

HEADING = "Git history"


@command("link", "commits:link", heading=HEADING)
def link(
    scan: Annotated[bool, typer.Option("--scan", help="Look through the whole history, not only at HEAD.")] = False,
    as_json: Json = False,
) -> None:
    """Find the commits of events that have none yet.

    The hooks do this after each commit. Without hooks, or after a tool that runs none, do it by hand.
    """
