"""export, import jsonl."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from gitmem.cli import options as o
from gitmem.cli.commands import command

HEADING = "Export"


@command("export", "transfer:export", heading=HEADING)
def export(
    format: Annotated[
        Literal["jsonl", "json", "csv", "markdown", "agent-trace", "adr"],
        typer.Option("--format", metavar="jsonl|json|csv|markdown|agent-trace|adr", help="What to make of the log."),
    ] = "jsonl",
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            show_default=False,
            help="Write to FILE, whole or not at all (adr: a folder).",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 where FILE is not what would be written.")
    ] = False,
    *,
    filters: o.Filters,
) -> None:
    """Write the log in another form.

    jsonl without filters is the backup: every event with its bytes, sealed, muted and retracted ones too, and
    `import jsonl` makes the same log of it again. The other forms are for reading: they list the changes that `log`
    lists. markdown is a digest to commit beside the code; adr writes one file for each decision.

    git decisions export -o decisions.jsonl
    git decisions export --format markdown -o DECISIONS.md
    git decisions export --format markdown -o DECISIONS.md --check
    """


@command("import jsonl", "transfer:import_jsonl", heading="Import")
def import_jsonl(
    path: Annotated[
        str | None, typer.Argument(metavar="PATH", help="A file that `export` wrote; stdin without one, or for -.")
    ] = None,
    dry_run: o.DryRun = False,
    as_json: o.Json = False,
) -> None:
    """Make a log again from its export, and join it with the one that is here.

    Every event keeps its id, whatever hash this repository uses. Each line is checked as a foreign log is; what can't
    be read is counted and named, and exit is 1. What was redacted here stays redacted. Doing it again appends nothing.
    Into a log that isn't empty only a person may import, in a terminal.

    git decisions import jsonl decisions.jsonl --dry-run
    """
