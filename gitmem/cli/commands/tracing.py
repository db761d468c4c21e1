"""why."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli import options as o
from gitmem.cli.commands import command
from gitmem.cli.commands.reading import HEADING


@command("why", "tracing:why", heading=HEADING, hot=True)
def why(
    place: Annotated[
        str,
        typer.Argument(metavar="FILE[:LINE]", help="A file, from here or (:/FILE) from the root, and a line."),
    ],
    all_scopes: o.AllScopes = False,
    as_json: o.Json = False,
) -> None:
    """Tell the decisions behind a line of a file, through its history.

    Goes from the line to the commits that made it, through moves, copies, amends, rebases, picks and squash merges,
    and from those to their decisions. Without a line, from all commits of the file. The decisions on the file itself,
    and on the function or class that the line stands in, are told too.

    git decisions why src/auth.py:42
    git decisions why src/auth.py --json
    """
