"""link."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli.commands import command
from gitmem.cli.options import Json

HEADING = "Git history"


@command("link", "commits:link", heading=HEADING)
def link(
    scan: Annotated[
        bool, typer.Option("--scan", help="All branches, and what became of linked commits: after a `git fetch`.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Find the commits of events that have none yet.

    The hooks do this after each commit. Without hooks, or after a tool that runs none, do it by hand. With --scan,
    picks, rebases, rewritten histories, squash merges and reverts are found too; what is another author's to write
    is kept in this clone, and what fits two commits is named and not linked.

    git decisions link --scan
    """
