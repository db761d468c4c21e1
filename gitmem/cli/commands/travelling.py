"""fetch, push, sync, receive."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli.commands import command
from gitmem.cli.options import DryRun, Json

HEADING = "Share"

_REMOTE = typer.Argument(metavar="REMOTE", help="Default: the branch's, then origin, then the only one.")
_RESTORE = typer.Option("--restore", help="Push back what the remote lost: its log and yours are joined.")


@command("fetch", "travelling:fetch", heading=HEADING)
def fetch(remote: Annotated[str | None, _REMOTE] = None, dry_run: DryRun = False, as_json: Json = False) -> None:
    """Bring the decisions of a remote here.

    What comes is checked before anything of it is kept, then joined with yours. A remote that lost something
    stops this, with nothing changed (exit 31); one that redacted something is followed once that is proved.
    """


@command("push", "travelling:push", heading=HEADING)
def push(
    remote: Annotated[str | None, _REMOTE] = None,
    restore: Annotated[bool, _RESTORE] = False,
    probe: Annotated[bool, typer.Option("--probe", help="Only ask whether it takes them; sends no decision.")] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Send your decisions to a remote.

    What others sent meanwhile is fetched and joined first. It is never forced, but to replace a log by the
    same one without what was redacted. Your branches are not pushed, and no hook of yours runs.

    git decisions push --dry-run
    """


@command("sync", "travelling:sync", heading=HEADING)
def sync(
    remote: Annotated[str | None, _REMOTE] = None,
    restore: Annotated[bool, _RESTORE] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Fetch, join and push."""


@command("receive", "receiving:receive", heading=HEADING)
def receive(
    ref: Annotated[str | None, typer.Argument(metavar="REF", help="What is pushed to (in an update hook).")] = None,
    old: Annotated[str | None, typer.Argument(metavar="OLD", help="Where it stands.")] = None,
    new: Annotated[str | None, typer.Argument(metavar="NEW", help="Where it is to go.")] = None,
) -> None:
    """Say whether a push may change the log of a server: for its pre-receive or update hook. Exit 1 where not.

    Without REF it reads lines `OLD NEW REF`, as pre-receive gets them. The log may grow, or become a proven
    redaction of itself; it can't be rewound, replaced or deleted, and nothing unsound is taken.
    """
