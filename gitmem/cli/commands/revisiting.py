"""stale."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli import options as o
from gitmem.cli.commands import command
from gitmem.cli.commands.reading import HEADING, MaybeEntity


@command("stale", "revisiting:stale", heading=HEADING, hot=True)
def stale(
    entity: MaybeEntity = None,
    flags: Annotated[
        list[str],
        typer.Option(
            "--flag",
            metavar="FLAG",
            show_default=False,
            help="Only what is so flagged: relanded, code_reverted, expired, revisit_due, review_suggested or "
            "manual_review. May be given more than once.",
        ),
    ] = [],
    limit: o.Limit = None,
    all_scopes: o.AllScopes = False,
    as_json: o.Json = False,
) -> None:
    """List the decisions that are due for another look, the most overdue first, each with the reason.

    Due is what was given a condition with --expires-when, --revisit-after or --stale-when that is met now, and what
    stands closed while its lines are back in a commit. A verdict stays as it is until somebody supersedes it or writes
    it anew.

    git decisions stale
    git decisions stale src/auth.py --flag expired --json
    """
