"""import git, link."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli.commands import command
from gitmem.cli.options import DryRun, Json

HEADING = "Git history"


@command("import git", "commits:import_git", heading=HEADING)
def import_git(
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="REV|DATE", help="Only commits after this one.", show_default=False),
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Read what the history already knows: what was reverted, by whom, when and why.

    Reading it again appends nothing.
    """


@command("link", "commits:link", heading=HEADING)
def link(
    scan: Annotated[bool, typer.Option("--scan", help="Look through the whole history, not only at HEAD.")] = False,
    as_json: Json = False,
) -> None:
    """Find the commits of events that have none yet.

    The hooks do this after each commit. Without hooks, or after a tool that runs none, do it by hand.
    """
