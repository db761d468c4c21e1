"""archive add, archive fetch, archive push, audit."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli.commands import command
from gitmem.cli.options import AllowSecret, Json

HEADING = "Archive"

Id = Annotated[str, typer.Argument(metavar="ID", help="The event; any unique prefix of its id.")]


@command("archive add", "archiving:add", heading=HEADING)
def add(
    id: Id,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="What to attach; `-` is stdin.")],
    allow_secret: AllowSecret = False,
    as_json: Json = False,
) -> None:
    """Attach files to an event, sealed: a transcript, a whole diff, a log.

    They lie in a ref of their own, refs/decisions-archive/log, which is pushed only when asked. Nothing reads them
    but `audit`: no listing, no search, no agent. What looks like a secret is refused.

    git decisions archive add 7f3a91c2 transcript.txt
    """


Remote = Annotated[
    str | None, typer.Argument(metavar="REMOTE", help="Default: the branch's, then origin, then the only one.")
]


@command("archive fetch", "archiving:fetch", heading=HEADING)
def fetch(remote: Remote = None, as_json: Json = False) -> None:
    """Bring what is attached at a remote here, and join it with what is attached here.

    What belongs to an event that is redacted here is not stored.
    """


@command("archive push", "archiving:push", heading=HEADING)
def push(remote: Remote = None, as_json: Json = False) -> None:
    """Send what is attached here to a remote, joined with what is attached there.

    Nothing else sends it: `push` and `sync` move the log alone.
    """


@command("audit", "archiving:audit", heading=HEADING)
def audit(
    id: Id,
    raw: Annotated[
        str | None,
        typer.Option(
            "--raw",
            metavar="NAME",
            show_default=False,
            help="Only the bytes of this one: its name, or the beginning of its SHA-256.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what is attached to an event: the only command that reads the archive.

    Each is checked against the SHA-256 that it was stored under; where one is not what it was, exit 1.

    git decisions audit 7f3a91c2
    git decisions audit 7f3a91c2 --raw photo.png > photo.png
    """
