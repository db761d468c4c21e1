"""redact, expunge."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli.commands import command
from gitmem.cli.options import DryRun, Json, Reasoning, ReasoningFile

HEADING = "Take out"


@command("redact", "redacting:redact", heading=HEADING, needs="-r WHY")
def redact(
    id: Annotated[str, typer.Argument(metavar="ID", help="The event; any unique prefix of its id.")],
    reasoning: Reasoning = [],
    file: ReasoningFile = None,
    hide_approach: Annotated[
        bool, typer.Option("--hide-approach", help="The approach goes too: what must not stay is in it.")
    ] = False,
    hide_entity: Annotated[
        bool,
        typer.Option("--hide-entity", help="The entity's name and the approach go too, and the verdict with them."),
    ] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Take the texts of an event out of the log for good, with all copies of it here.

    A tombstone stays in its place, so what it closes stays closed. The log is rewritten from that event on, and
    other clones adopt it once they have proved that nothing else was changed. A person's, in a terminal.

    A secret that was pushed is known to others: change it first. Do it again with the same id to finish what
    could not be removed yet.

    git decisions redact 7f3a91c2 -r "The reason quoted a password."
    """


@command("expunge", "redacting:expunge", heading=HEADING, needs="--before DATE -r WHY")
def expunge(
    before: Annotated[
        str | None,
        typer.Option(
            "--before", metavar="DATE", show_default=False, help="Events recorded before this. A day is not counted."
        ),
    ] = None,
    reasoning: Reasoning = [],
    file: ReasoningFile = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Take the texts of all old events out of the log, but for what still decides.

    What stands closed, all that it rests on, and what is pinned are left alone. A person's, in a terminal.

    git decisions expunge --before 2024-01-01 -r "We keep reasons for two years."
    """
