"""lesson, gist."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli import options as o
from gitmem.cli.commands import command

HEADING = "Lessons"

Lesson = Annotated[str, typer.Argument(metavar="ID", help="The lesson: its id, or the first 4 or more characters.")]


@command("lesson", "lessons:lesson", heading=HEADING, hot=True)
def lesson(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What was learned, in one sentence of at most 280 characters.")
    ],
    topic: Annotated[
        str | None,
        typer.Option("--topic", metavar="WORD", help="What it is about, in a word or two.", show_default=False),
    ] = None,
    paths: Annotated[
        list[str],
        typer.Option(
            "--path", metavar="FILE", show_default=False, help="Where it belongs. May be given more than once."
        ),
    ] = [],
    outcome: Annotated[
        str | None,
        typer.Option(
            "--outcome",
            metavar="N",
            show_default=False,
            help="How it turned out: from -100 (caused an incident) to 100 (held up).",
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option("--cost", metavar="N", help="What it cost to learn, in minutes.", show_default=False),
    ] = None,
    severity: Annotated[
        str | None,
        typer.Option("--severity", metavar="N", help="How bad it is to forget it: 0 to 100.", show_default=False),
    ] = None,
    binding: Annotated[
        str | None,
        typer.Option(
            "--binding", metavar="HOW", show_default=False, help="How far it binds: note, practice or policy."
        ),
    ] = None,
    verbatim: Annotated[
        list[str],
        typer.Option(
            "--verbatim",
            metavar="FILE",
            show_default=False,
            help="Seal the whole story in the archive: only `audit` reads it. May be given more than once.",
        ),
    ] = [],
    evidence: o.Evidence = [],
    agent: o.Agent = None,
    session: o.Session = None,
    scope: o.Scope = None,
    redact_secrets: o.RedactSecrets = False,
    allow_secret: o.AllowSecret = False,
    sign: o.Sign = False,
    dry_run: o.DryRun = False,
    as_json: o.Json = False,
) -> None:
    """Keep what was learned, in your own words: an experience, which fades where nobody uses it.

    A decision is a fact and never fades: `record` it. A lesson says how something went. What says the same as an
    earlier one is counted as a recurrence of that, and what recurs is proposed as a rule (`sleep`, `rules`).

    git decisions lesson "Retries hid the real error." --topic retries --path src/client.py --outcome -60
    """  # fmt: skip


@command("gist", "lessons:gist", heading=HEADING)
def gist(
    lesson: Lesson,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The same in fewer words, all of them the lesson's own.")],
    reasoning: o.Reasoning = [],
    file: o.ReasoningFile = None,
    dry_run: o.DryRun = False,
    as_json: o.Json = False,
) -> None:
    """Say a lesson in fewer words. Its own sentence stays as it is, and stays what counts.

    Only words that the lesson has: a new word, a new cause, a negation that is lost or added is refused, with the word.

    git decisions gist 7f3a91c2 "The fixture needs the time zone."
    """
