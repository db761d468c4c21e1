"""record, reject, supersede."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli import options as o
from gitmem.cli.commands import command

HEADING = "Write"

Entity = Annotated[
    str, typer.Argument(metavar="ENTITY", help="What it is about: users.email, src/auth.py::login, deps/stripe.")
]


@command("record", "recording:record", heading=HEADING, hot=True, needs="-r WHY")
def record(
    entity: Entity,
    change_type: Annotated[
        str,
        typer.Argument(
            metavar="CHANGE_TYPE",
            help="add, create, modify, index_add, migrate; reject, revert; remove, delete, index_remove; "
            "rename, retype; supersede.",
        ),
    ],
    *,
    content: o.Content,
    reopens: o.Reopens = False,
    whole: o.Whole = False,
    rename_from: o.RenameFrom = None,
    pattern: o.Pattern = [],
    context: o.Context,
) -> None:
    """Append a change: what was done to an entity, and why.

    A change that would bring back what stands rejected or reverted is refused (exit 14), with the reason
    that stands, its id and the way on.

    git decisions record users.email add -r "Login needs a stable address."
    git decisions record users.mail rename --rename-from users.email -r "One word in the whole schema."
    """


@command("reject", "recording:reject", heading=HEADING, hot=True, needs="-r WHY")
def reject(
    entity: Entity,
    *,
    content: o.Content,
    whole: o.Whole = False,
    pattern: o.Pattern = [],
    context: o.Context,
) -> None:
    """Close an approach to an entity, so that nobody takes it again unknowingly.

    With --approach only that way is closed, and another to the same end is free. Without, the entity is
    closed as a whole. It stands until a supersede names it. Short for `record ENTITY reject`.

    git decisions reject users.card_token --approach "keep the token in our own table" \\
        --instead "the payment provider's vault" -r "It would put us in scope of PCI DSS."
    """


@command("supersede", "recording:supersede", heading=HEADING, hot=True, needs="-r WHY")
def supersede(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="ENTITY|ID", help="The entity that stands closed, or the id of the event that closes it."
        ),
    ],
    *,
    content: o.Content,
    context: o.Context,
) -> None:
    """Re-open what stands rejected or reverted.

    What was written stays in the log; the trail shows both. What a person ratified is re-opened once a
    person agrees: an agent's supersede of it waits.

    git decisions supersede users.card_token -r "The provider now gives tokens that are safe to keep."
    """
