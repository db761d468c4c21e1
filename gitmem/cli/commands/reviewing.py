"""review, ratify, dispute, retract, resolve; seal, mute, pin and what takes them back; override."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli import options as o
from gitmem.cli.commands import command

HEADING = "Review"

Ids = Annotated[
    list[str], typer.Argument(metavar="ID...", help="Event ids, or their first 4 or more characters.")
]  # fmt: skip
MarkUntil = Annotated[
    str | None,
    typer.Option(
        "--until", metavar="DATE", help="The mark ends by itself then: a date, or 7d from now.", show_default=False
    ),
]


class Review(o.Why):
    ids: Ids
    sign: o.Sign = False
    dry_run: o.DryRun = False
    as_json: o.Json = False


class Unmark(o.Why):
    ids: Ids
    dry_run: o.DryRun = False
    as_json: o.Json = False


class Mark(o.Why):
    ids: Ids
    until: MarkUntil = None
    dry_run: o.DryRun = False
    as_json: o.Json = False


@command("review", "reviewing:review", heading=HEADING, hot=True)
def review(
    everything: Annotated[
        bool, typer.Option("--all", help="Also proposals that no verdict rests on.", show_default=False)
    ] = False,
    ratify_all: Annotated[
        str | None,
        typer.Option(
            "--ratify-all",
            metavar="TOKEN",
            show_default=False,
            help="Ratify all that was listed under this token, if nothing has changed since.",
        ),
    ] = None,
    *,
    why: o.Why,
    all_scopes: o.AllScopes = False,
    sign: o.Sign = False,
    dry_run: o.DryRun = False,
    as_json: o.Json = False,
) -> None:
    """List what waits for a person: what would change a verdict if it were decided, with what it would change.

    Closings and supersedes that were only proposed, what is contested, what is disputed, what has no effect
    though somebody wrote it, what can't be read; then what is closed and came back in a commit, and what is due for
    another look. In a terminal it goes through them one by one, and asks for a reason each time.

    git decisions review
    git decisions review --json
    git decisions review --ratify-all 5f3a91c20b7e4d18 -r "Read them all; they are what we agreed on."
    """  # fmt: skip


@command("ratify", "reviewing:ratify", heading=HEADING, needs="-r WHY")
def ratify(
    ids: Ids,
    edit: Annotated[
        bool,
        typer.Option("--edit", help="Write it anew in your editor; that takes its place.", show_default=False),
    ] = False,
    *,
    why: o.Why,
    sign: o.Sign = False,
    dry_run: o.DryRun = False,
    as_json: o.Json = False,
) -> None:
    """Agree to what was proposed, or to what waits (a person's).

    From then on only a person can lift it. All ids together or none. With --edit, of a rejection, a revert or a
    supersede: your own words take the place of the proposal, which is retracted. The name of a file that `verify`
    calls no event: it stays left out, and is accepted.
    """


@command("dispute", "reviewing:dispute", heading=HEADING, needs="-r WHY")
def dispute(about: Review) -> None:
    """Say what is wrong with an event. It is shown as disputed, and what it closed is not blocked any more.

    Against what a person ratified, anyone else's dispute waits for a person.
    """


@command("retract", "reviewing:retract", heading=HEADING, needs="-r WHY")
def retract(about: Review) -> None:
    """Take an event back: as if it had never acted. It stays in the log, and `ratify` brings it back.

    A person may take back anything, an agent its own proposals.
    """


@command("resolve", "reviewing:resolve", heading=HEADING, needs="--keep ID -r WHY")
def resolve(
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="What is contested.")],
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="ID", help="The event of the side that shall hold.", show_default=False),
    ] = None,
    both: Annotated[
        str | None,
        typer.Option("--both", metavar="ID", help="Keep both sides: this event is another way.", show_default=False),
    ] = None,
    approach: Annotated[
        str | None,
        typer.Option("--approach", metavar="TEXT", help="With --both: which other way it is.", show_default=False),
    ] = None,
    *,
    why: o.Why,
    sign: o.Sign = False,
    dry_run: o.DryRun = False,
    as_json: o.Json = False,
) -> None:
    """Settle what is contested, by keeping one side (a person's).

    Where both are right and only share a name, --both keeps the other side and says this one anew under an approach
    of its own.

    git decisions resolve users.card_token --keep 7f3a91c2 -r "The provider's tokens are safe to keep."
    git decisions resolve users.card_token --both 7f3a91c2 --approach "provider's token" -r "Only card numbers are out."
    """


@command("seal", "reviewing:seal", heading=HEADING, needs="-r WHY")
def seal(about: Mark) -> None:
    """Take an event's text out of sight, until `unseal` (a person's).

    Its verdict holds. `show` and `log --all` still find it. To take text out of the log itself is another thing.
    """


@command("unseal", "reviewing:unseal", heading=HEADING, needs="-r WHY")
def unseal(about: Unmark) -> None:
    """Take a seal off again: everything is as it was (a person's)."""


@command("mute", "reviewing:mute", heading=HEADING, needs="-r WHY")
def mute(about: Mark) -> None:
    """Keep an event out of what is recalled and listed, until `unmute`. Its verdict holds and `status` tells it."""


@command("unmute", "reviewing:unmute", heading=HEADING, needs="-r WHY")
def unmute(about: Unmark) -> None:
    """Take a mute off again: everything is as it was."""


@command("pin", "reviewing:pin", heading=HEADING, needs="-r WHY")
def pin(about: Mark) -> None:
    """Mark an event as one to keep in sight, until `unpin`."""


@command("unpin", "reviewing:unpin", heading=HEADING, needs="-r WHY")
def unpin(about: Unmark) -> None:
    """Take a pin off again."""


@command("override", "reviewing:override", heading=HEADING, needs="-r WHY")
def override(
    id: Annotated[str, typer.Argument(metavar="ID", help="The closing that stops the edit.")],
    why: o.Why,
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="ID",
            show_default=False,
            help="The session whose edit may pass; left out, the one that it stopped last.",
        ),
    ] = None,
    dry_run: o.DryRun = False,
    as_json: o.Json = False,
) -> None:
    """Let one edit pass that a closing would stop, and say why. The closing goes on standing.

    The next edit of that session that it would stop uses it up. What a person ratified only a person may override, in
    their own terminal.

    git decisions override 7f3a91c2 -r "Only on the spike branch, which is thrown away."
    """  # fmt: skip
