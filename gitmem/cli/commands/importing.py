"""import git, sql, alembic, django, adr, agent-trace, selvedge."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli.commands import command
from gitmem.cli.options import DryRun, Json

HEADING = "Import"

Path = Annotated[str, typer.Argument(metavar="PATH", help="A file or a folder, from the working directory.")]
Dialect = Annotated[
    str | None,
    typer.Option("--dialect", metavar="NAME", help="Of the SQL: postgres, mysql, sqlite, …", show_default=False),
]


@command("import git", "importing:import_git", heading=HEADING)
def import_git(
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="REV|DATE", help="Only commits after this one.", show_default=False),
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Read what the history already knows: what was reverted, by whom, when and why.

    Reading it again appends nothing.
    """


@command("import sql", "importing:import_sql", heading=HEADING)
def import_sql(path: Path, dialect: Dialect = None, dry_run: DryRun = False, as_json: Json = False) -> None:
    """Read DDL or a folder of SQL migrations: which tables and columns came, went and changed their names.

    Nothing of it re-opens what was rejected since. Needs the extra `import`.
    """


@command("import alembic", "importing:import_alembic", heading=HEADING)
def import_alembic(path: Path, dialect: Dialect = None, dry_run: DryRun = False, as_json: Json = False) -> None:
    """Read Alembic migrations, without running them. Needs the extra `import`."""


@command("import django", "importing:import_django", heading=HEADING)
def import_django(path: Path, dialect: Dialect = None, dry_run: DryRun = False, as_json: Json = False) -> None:
    """Read Django migrations, without running them. Needs the extra `import`."""


@command("import adr", "importing:import_adr", heading=HEADING)
def import_adr(path: Path, dry_run: DryRun = False, as_json: Json = False) -> None:
    """Read a folder of decision records (MADR, Nygard's, log4brains).

    Options that were considered and not chosen become rejections. Needs the extra `import`.
    """


@command("import agent-trace", "importing:import_agent_trace", heading=HEADING)
def import_agent_trace(path: Path, dry_run: DryRun = False, as_json: Json = False) -> None:
    """Read Agent Trace records (0.1.0), as JSON or one a line."""


@command("import selvedge", "importing:import_selvedge", heading=HEADING)
def import_selvedge(path: Path, dry_run: DryRun = False, as_json: Json = False) -> None:
    """Read a Selvedge store: its file, or the folder that has .selvedge/selvedge.db. It is not changed."""
