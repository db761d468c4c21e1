"""lesson, gist; recall, why-not; lessons, rules, history; sleep, undo."""

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


@command("lessons", "sleeping:lessons", heading=HEADING)
def lessons(
    band: Annotated[
        str | None,
        typer.Option(
            "--band",
            metavar="near|cold|latent|all",
            show_default=False,
            help="Only those in this band. Without it, what is told: near and cold.",
        ),
    ] = None,
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="WORD", help="Only those on this topic.", show_default=False)
    ] = None,
    path: o.OfPath = None,
    limit: o.Limit = None,
    all_scopes: o.AllScopes = False,
    as_json: o.Json = False,
) -> None:
    """List lessons, the nearest first: what is used stays near, what is not fades from view and never from the log.

    The number is how much of a lesson is left: 1.00 when it was stated or used, half of that with each half-life
    since. A latent one is not told any more; two uses bring it back.

    git decisions lessons
    git decisions lessons --band latent --path src/client.py
    """


@command("rules", "sleeping:rules", heading=HEADING)
def rules(
    everything: Annotated[
        bool, typer.Option("--all", help="Also patterns, and what has fallen.", show_default=False)
    ] = False,
    all_scopes: o.AllScopes = False,
    as_json: o.Json = False,
) -> None:
    """List what recurred: rules and principles, with the lessons that they rest on.

    Three commits that taught the same make a rule, which `sleep` proposes; two ratified rules of one direction a
    principle. Only a person ratifies one: `git decisions ratify ID -r WHY`.
    """


@command("history", "sleeping:history", heading=HEADING)
def history(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="A lesson or a rule: its id, or the first 4 or more characters.")
    ],
    as_json: o.Json = False,
) -> None:
    """Tell everything that happened to a lesson or a rule, step by step, each with before and after."""


@command("sleep", "sleeping:sleep", heading=HEADING)
def sleep(
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", metavar="DATE", show_default=False, help="As it would have been done then. A day counts whole."
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="NAME", show_default=False, help="Under this policy: tender or austere."),
    ] = None,
    dry_run: o.DryRun = False,
    as_json: o.Json = False,
) -> None:
    """Put the lessons in order: what says the same goes together, what recurred is proposed as a rule.

    What it finds is appended, each thing with its exact before and after, and `undo` takes any of it back. No lesson
    changes a word, and how near one is hangs on no sleep. On the same log, under the same policy, at the same moment
    every clone finds the same; sleeping again finds nothing.

    git decisions sleep --dry-run
    """


@command("undo", "sleeping:undo", heading=HEADING, needs="-r WHY")
def undo(
    id: Annotated[str, typer.Argument(metavar="EVENT", help="What a sleep found, a gist, a use, or an undo.")],
    *,
    why: o.Why,
    dry_run: o.DryRun = False,
    as_json: o.Json = False,
) -> None:
    """Take back what a sleep found, a gist or a use, by its exact inverse. No sleep does it again.

    `git decisions history ID` tells the events of a lesson. An undo can be undone.
    """


Query = Annotated[str, typer.Argument(metavar="QUERY", help="What you are about to do, or want to know, in words.")]
InHand = Annotated[
    list[str],
    typer.Option(
        "--path", metavar="FILE", show_default=False, help="A file that you have in hand. May be given more than once."
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget",
        metavar="TOKENS",
        min=1,
        max=100_000,
        show_default=False,
        help="At most so many tokens (2000); a byte counts as one, so that no tokenizer makes more.",
    ),
]


@command("recall", "recalling:recall", heading=HEADING, hot=True)
def recall(
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERY", help="What you are about to do, or want to know, in words.", show_default=False
        ),
    ] = None,
    paths: InHand = [],
    budget: Budget = None,
    applied: Annotated[
        list[str],
        typer.Option(
            "--applied",
            metavar="ID",
            show_default=False,
            help="A lesson or rule that helped: it stays near. May be given more than once, and without a query.",
        ),
    ] = [],
    all_scopes: o.AllScopes = False,
    as_json: o.Json = False,
) -> None:
    """Tell what is worth knowing here: decisions that the query names, rules, and the lessons that meet it.

    Each line says how far to trust it. Where nothing is relevant it says so. Asking changes nothing; what helped is
    noted with --applied, and the next commit writes that down.

    git decisions recall "add retries to the payment client" --path src/payments/client.py
    git decisions recall --applied L-7f3a91c2
    """


@command("why-not", "recalling:why_not", heading=HEADING)
def why_not(
    id: Annotated[str, typer.Argument(metavar="ID", help="A lesson, a rule or a decision.")],
    query: Query,
    paths: InHand = [],
    budget: Budget = None,
    all_scopes: o.AllScopes = False,
    as_json: o.Json = False,
) -> None:
    """Tell why `recall` with the same query does not tell a lesson, a rule or a decision."""


@command("inbox", "capturing:inbox", heading=HEADING)
def inbox(
    keep: Annotated[
        list[str],
        typer.Option(
            "--keep", metavar="ID", show_default=False, help="Make a lesson of it. May be given more than once."
        ),
    ] = [],
    drop: Annotated[
        list[str],
        typer.Option(
            "--drop",
            metavar="ID",
            show_default=False,
            help="Nobody needs it: it doesn't come back. May be given more than once.",
        ),
    ] = [],
    as_json: o.Json = False,
) -> None:
    """Show what hooks saw and nobody has kept yet: a commit taken back, a stop let pass, a test that failed.

    Each is weighed part by part. At a commit, what reaches the bar becomes a lesson, proposed; what says again what a
    lesson says is counted there; the rest waits here for 30 days. The inbox is this clone's and never travels.

    git decisions inbox

    git decisions inbox --keep 3f2a91c2
    """


@command("reveal", "capturing:reveal", heading=HEADING)
def reveal(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A file, a folder, or what is in a file; . at the root is all.")
    ],
    as_json: o.Json = False,
) -> None:
    """Show the lessons that have faded around a file. Looking changes nothing.

    A faded lesson is not recalled, and still asks for care: an edit near it is told "caution +18 from 2 faded lessons".
    One that is of use again comes back when it was used twice, on two different occasions.

    git decisions reveal src/pool.py
    """
