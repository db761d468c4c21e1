"""assert, verify, rebuild."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli.commands import command
from gitmem.cli.options import FindingsFormat, Json

HEADING = "Check"


@command("assert", "integrity:assert_recorded", heading=HEADING, hot=True)
def assert_recorded(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Event ids, as an agent reported them.")],
    as_json: Json = False,
) -> None:
    """Check that events are in the log; exit 1 naming each that is not.

    For a script that wants to know whether what an agent says it recorded was recorded.
    """


@command("verify", "integrity:verify", heading=HEADING, hot=True)
def verify(
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="REV",
            show_default=False,
            help="A tip of the log that you remember: the log must descend from it, and what came after it is read.",
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="With --since: read the whole log all the same.")] = False,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="A repository that never had a log is no failure.")
    ] = False,
    format: FindingsFormat = "text",
    as_json: Json = False,
) -> None:
    """Check that the log is whole and that nobody changed it.

    Exit 1 where something is wrong; warnings alone are 0. 10: no log here. 23: it is not all here.

    git decisions verify --format github --since "$LAST_KNOWN_TIP"
    """  # fmt: skip


@command("rebuild", "integrity:rebuild", heading=HEADING, hot=True)
def rebuild(as_json: Json = False) -> None:
    """Throw the cache and the notes away and build them again from the log."""
