"""gate, digest."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli.commands import command
from gitmem.cli.options import FindingsFormat, Json

HEADING = "Check"


@command("gate", "gating:gate", heading=HEADING, hot=True, needs="--staged|--range A..B")
def gate(
    staged: Annotated[bool, typer.Option("--staged", help="What the index would commit.", show_default=False)] = False,
    over: Annotated[
        str | None,
        typer.Option(
            "--range",
            metavar="A..B",
            show_default=False,
            help="What the commits from A to B come to, from where the two parted.",
        ),
    ] = None,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="With --range: a repository without a log is no failure.")
    ] = False,
    format: FindingsFormat = "text",
    as_json: Json = False,
) -> None:
    """Check whether a commit, or a range of commits, brings back what was rejected or reverted. Exit 1 where it does.

    The same rules stop an agent's edit, where its client has hooks. A range stops for each closing, unless a commit of
    it says `Decision-Override: ID WHY` or `Supersedes-Decision: ID WHY` in its trailers: then it passes with a warning.

    git decisions gate --staged
    git decisions gate --range origin/main..HEAD --format github
    """  # fmt: skip


@command("digest", "gating:digest", heading=HEADING, hot=True)
def digest(
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="NAME", help="Whose session begins.", show_default=False)
    ] = None,
    max_bytes: Annotated[
        int | None,
        typer.Option(
            "--max-bytes", metavar="N", min=200, max=10_000, help="At most N bytes (2048).", show_default=False
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell what a session should know at its start: what is closed here, what is due, what waits.

    Closings on the files that are changed here and on the branch come first. Whole lines, and nothing where there is
    nothing. Agents' clients with hooks get the same without asking.
    """
