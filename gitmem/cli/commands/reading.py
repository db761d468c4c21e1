"""log, show, status, prior, blame, search, watch, stats, changeset."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli import options as o
from gitmem.cli.commands import command

HEADING = "Read"

MaybeEntity = Annotated[
    str | None,
    typer.Argument(metavar="ENTITY", help="Only this entity, under every name it had, and what lies below it."),
]


@command("log", "reading:log", heading=HEADING, hot=True)
def log(
    entity: MaybeEntity = None,
    oneline: Annotated[bool, typer.Option("--oneline", help="One line for each event.")] = False,
    graph: Annotated[bool, typer.Option("--graph", help="Draw what each event saw when it was written.")] = False,
    stream: Annotated[bool, typer.Option("--stream", help="With --json: one event on each line.")] = False,
    *,
    filters: o.Filters,
    as_json: o.Json = False,
) -> None:
    """Show the log, newest first, as `git log` shows commits.

    git decisions log --oneline -n 20
    git decisions log users.email --graph
    git decisions log --since 7d --type reject --json
    """


@command("show", "reading:show", heading=HEADING, hot=True)
def show(
    id: Annotated[str, typer.Argument(metavar="ID", help="An event id, or its first 4 or more characters.")],
    as_json: o.Json = False,
) -> None:
    """Show one event whole: every field, its commits, what it closed and what closed it."""


@command("status", "reading:status", heading=HEADING, hot=True)
def status(
    entity: Annotated[
        str | None, typer.Argument(metavar="ENTITY", help="An entity; what lies below it is listed as well.")
    ] = None,
    *,
    view: o.View,
    as_json: o.Json = False,
) -> None:
    """Show how each decision stands now, the worst first.

    Of one entity and each of its children, or of the whole repository. An entity that nobody recorded
    gives an empty list, which is no error.
    """


@command("prior", "reading:prior", heading=HEADING, hot=True)
def prior(
    entity: Annotated[str | None, typer.Argument(metavar="ENTITY", help="What you are about to change.")] = None,
    about: Annotated[
        str | None,
        typer.Option("--about", metavar="TEXT", help="What you are about to do, in words.", show_default=False),
    ] = None,
    content: Annotated[
        str | None,
        typer.Option("--content", metavar="FILE|-", help="The lines you are about to add.", show_default=False),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also attempts that are open or that ended long after.")
    ] = False,
    window: Annotated[
        str,
        typer.Option(
            "--window", metavar="TIME", help="How soon a removal must follow to count as the end of an attempt."
        ),
    ] = "7d",
    *,
    view: o.View,
    as_json: o.Json = False,
) -> None:
    """Ask what was tried before and how it ended, before you change something.

    The first line says how much is known: known, weak or nothing known. Then each attempt, with the
    reason, what was chosen instead and what would make it worth another try.

    git decisions prior users.card_token
    git decisions prior --about "keep card tokens in our own table"
    """


@command("blame", "reading:blame", heading=HEADING, hot=True)
def blame(
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="An entity path.")],
    *,
    view: o.View,
    as_json: o.Json = False,
) -> None:
    """Show who last changed an entity, when, in which commit, and why."""


@command("search", "reading:search", heading=HEADING, hot=True)
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in words.")],
    filters: o.Filters,
    as_json: o.Json = False,
) -> None:
    """Search all events for words, the best match first.

    git decisions search "card token" --verdict rejected
    """


@command("watch", "reading:watch", heading=HEADING)
def watch(
    entity: MaybeEntity = None,
    oneline: Annotated[bool, typer.Option("--oneline", help="One line for each event.")] = False,
    interval: Annotated[
        int | None,
        typer.Option(
            "--interval", metavar="SECONDS", min=1, max=86_400, help="How often to look; 1.", show_default=False
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--max-count",
            metavar="N",
            min=1,
            max=999_999_999,
            help="First the newest N of those that are there.",
            show_default=False,
        ),
    ] = None,
    types: o.ChangeTypes = [],
    verdicts: o.Verdicts = [],
    trusts: o.Trusts = [],
    agent: o.OfAgent = None,
    session: o.OfSession = None,
    changeset: o.OfChangeset = None,
    path: o.OfPath = None,
    kinds: o.Kinds = [],
    everything: o.Everything = False,
    all_scopes: o.AllScopes = False,
    as_json: o.Json = False,
) -> None:
    """Show events as they come into the log, whoever writes them, until Ctrl-C.

    From other sessions, other worktrees, a fetch. Oldest first; with --json one event on each line.

    git decisions watch --oneline -n 5
    git decisions watch --type reject --json
    """


@command("stats", "reading:stats", heading=HEADING)
def stats(filters: o.Filters, as_json: o.Json = False) -> None:
    """Count events, decisions and writers, and the commits of HEAD that have a decision.

    Events of every kind, unless --kind says otherwise. Verdicts are counted once for each decision.

    git decisions stats --since 30d
    git decisions stats --agent claude-code --json
    """


@command("changeset", "reading:changeset", heading=HEADING, hot=True)
def changeset(
    id: Annotated[str | None, typer.Argument(metavar="ID", help="The name given with --changeset.")] = None,
    limit: o.Limit = None,
    since: o.Since = None,
    until: o.Until = None,
    all_scopes: o.AllScopes = False,
    as_json: o.Json = False,
) -> None:
    """Show the changes that belong together, or list all changesets."""
