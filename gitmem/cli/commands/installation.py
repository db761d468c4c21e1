"""init, uninstall, setup, hook."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli.commands import command
from gitmem.cli.options import DryRun, Json

HEADING = "Set up"


@command("init", "installation:init", heading=HEADING)
def init(
    no_hooks: Annotated[
        bool, typer.Option("--no-hooks", help="Install no git hooks; `git decisions link` does their work when asked.")
    ] = False,
    no_notes: Annotated[bool, typer.Option("--no-notes", help="Don't show decisions in plain `git log`.")] = False,
    no_fetch: Annotated[bool, typer.Option("--no-fetch", help="Don't bring the decisions of the remote.")] = False,
    auto_sync: Annotated[
        bool, typer.Option("--auto-sync", help="Share decisions with each `git push` and `git pull`, by hooks.")
    ] = False,
    gate: Annotated[
        bool, typer.Option("--gate", help="Stop a commit that brings back what was rejected, by a hook.")
    ] = False,
    trailer: Annotated[
        bool, typer.Option("--trailer", help="Name a commit's decisions in its message (`Decision-Id:`), by a hook.")
    ] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Set this repository up for decisions, and say each thing that is done.

    Brings the decisions of the remote, or makes the log; installs the hooks that tie decisions to commits, and
    lets plain `git log` show the decisions of each commit. Nothing is written into the work tree, and nothing of
    yours is replaced. A second time it does nothing.

    git decisions init --dry-run
    """


@command("uninstall", "installation:uninstall", heading=HEADING)
def uninstall(dry_run: DryRun = False, as_json: Json = False) -> None:
    """Take away what `init` and `setup` wrote, and only that.

    The log stays, since it is history. What to type to delete it is said at the end.
    """


@command("setup", "installation:setup", heading=HEADING)
def setup(
    agents: Annotated[
        list[str],
        typer.Option(
            "--agent",
            metavar="NAME",
            help="Whose client; without it those that are used here. May be given more than once.",
        ),
    ] = [],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change in which file, and do nothing.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only say whether all is as it should be; exit 1 where a file is not.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Set up agents' clients in this repository, so that they ask before an edit.

    Writes, for each client, the hooks that ask before an edit, the entry of gitmem's tools (MCP), and a few lines of
    instruction. Only what is gitmem's is ever changed in a file: comments, order and line ends of the rest stay. A
    file that can't be read is refused, and then nothing at all is written. `uninstall` gives each file its bytes back.

    NAME is claude, codex, cursor, copilot, vscode, gemini, antigravity, windsurf, devin, goose, cline, kiro, droid,
    augment, qwen or opencode.

    git decisions setup --agent claude --dry-run
    """


@command("hook", "installation:hook", heading=HEADING)
def hook(
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="Whose client calls: claude, codex, cursor, …")
    ] = "",
) -> None:
    """Answer one event of an agent's client: what `git decisions setup` writes into its configuration.

    The event comes on stdin, the answer goes to stdout in that client's own form. It stops an edit that brings back
    what was rejected, and nothing else: whatever goes wrong, the edit goes on.
    """
