"""The options that several commands share: name, help text and type, each written once; and those that go together."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

from gitmem.cli.commands import Together


def _text(*names: str, help: str, metavar: str) -> object:
    return typer.Option(*names, help=help, metavar=metavar, show_default=False)


def _texts(*names: str, help: str, metavar: str) -> object:
    return typer.Option(*names, help=f"{help} May be given more than once.", metavar=metavar, show_default=False)


def _flag(*names: str, help: str) -> object:
    return typer.Option(*names, help=help, show_default=False)


Json: TypeAlias = Annotated[bool, _flag("--json", help="Print one JSON object.")]
DryRun: TypeAlias = Annotated[bool, _flag("--dry-run", help="Say what would be done, and do nothing.")]
Sign: TypeAlias = Annotated[bool, _flag("--sign", help="Sign it with your SSH key (git's user.signingKey).")]
FindingsFormat: TypeAlias = Annotated[
    Literal["text", "json", "github"],
    typer.Option("--format", metavar="text|json|github", help="How to print findings.", show_default=False),
]

# --- what an event carries: record, reject, supersede ---

Reasoning: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "-r", "--reasoning", metavar="WHY", show_default=False,
        help="Why. Given more than once, each is a paragraph.",
    ),
]  # fmt: skip
ReasoningFile: TypeAlias = Annotated[
    str | None, _text("-F", "--file", metavar="FILE", help="Take the reasoning from FILE, or from stdin (-).")
]
Approach: TypeAlias = Annotated[
    str | None,
    _text("--approach", metavar="TEXT", help="What was done, tried or considered on the entity, in a few words."),
]
Instead: TypeAlias = Annotated[str | None, _text("--instead", metavar="TEXT", help="What was chosen instead.")]
Constraint: TypeAlias = Annotated[
    str | None, _text("--constraint", metavar="TEXT", help="The condition that any solution has to meet.")
]
StaleWhen: TypeAlias = Annotated[
    str | None, _text("--stale-when", metavar="TEXT", help="What would make this worth another look, in words.")
]
ExpiresWhen: TypeAlias = Annotated[
    str | None,
    _text(
        "--expires-when", metavar="CONDITION",
        help="library:NAME>=VERSION, entity:PATH:changes, date:ISO or manual:LABEL.",
    ),
]  # fmt: skip
RevisitAfter: TypeAlias = Annotated[
    str | None,
    _text("--revisit-after", metavar="WHEN", help="Look again after this: a date, or an offset such as 90d."),
]
ValidFrom: TypeAlias = Annotated[
    str | None, _text("--valid-from", metavar="DATE", help="Since when it held, where that is not now.")
]
ValidTo: TypeAlias = Annotated[str | None, _text("--valid-to", metavar="DATE", help="Until when it held.")]
Supersedes: TypeAlias = Annotated[
    list[str], _texts("--supersedes", metavar="ID", help="An event that this one takes the place of.")
]
Reopens: TypeAlias = Annotated[
    bool,
    _flag(
        "--reopens", help="Re-open what stands closed and append the change, in one step (a person's, in a terminal)."
    ),
]
Whole: TypeAlias = Annotated[
    bool, _flag("--whole", help="A reject without an approach: close the entity with every approach to it.")
]
RedactSecrets: TypeAlias = Annotated[
    bool, _flag("--redact-secrets", help="Store a marker in the place of what looks like a secret.")
]
AllowSecret: TypeAlias = Annotated[
    bool,
    _flag("--allow-secret", help="Store what looks like a secret and is none (a person's, in a terminal; recorded)."),
]
RenameFrom: TypeAlias = Annotated[
    str | None, _text("--rename-from", metavar="ENTITY", help="With `rename`: the name it had until now.")
]
Changeset: TypeAlias = Annotated[
    str | None, _text("--changeset", metavar="ID", help="A name of your own for changes that belong together.")
]
EntityType: TypeAlias = Annotated[
    str | None, _text("--entity-type", metavar="TYPE", help="What the entity is, where its spelling doesn't say.")
]
Diff: TypeAlias = Annotated[
    str | None,
    _text("--diff", metavar="FILE|-|staged|REV", help="A diff: from a file, stdin, the index, a commit or a range."),
]
Pattern: TypeAlias = Annotated[
    list[str], _texts("--pattern", metavar="TEXT", help="A string to know the rejected thing by, should it come back.")
]
Commit: TypeAlias = Annotated[
    str | None, _text("--commit", metavar="REV", help="The commit that this belongs to.")
]  # fmt: skip
Evidence: TypeAlias = Annotated[
    list[str], _texts("--evidence", metavar="TEXT", help="What it rests on: commit:OID, test:NAME, url:ADDRESS.")
]
Attach: TypeAlias = Annotated[
    list[str],
    _texts(
        "--attach", metavar="FILE",
        help="Seal this file in the archive under the event's id: `-` is stdin, `diff` the whole of a long --diff.",
    ),
]  # fmt: skip
Agent: TypeAlias = Annotated[str | None, _text("--agent", metavar="NAME", help="The agent that decided.")]
Session: TypeAlias = Annotated[str | None, _text("--session", metavar="ID", help="Its session.")]
Scope: TypeAlias = Annotated[
    str | None, _text("--scope", metavar="COMPONENT", help="The component of the repository that it is about.")
]

# --- filters: log, search, changeset ---

Since: TypeAlias = Annotated[
    str | None,
    _text("--since", metavar="DATE", help="Not older than: 2026-11-30, 7d, 24h, or any date that git understands."),
]
Until: TypeAlias = Annotated[str | None, _text("--until", metavar="DATE", help="Not newer than. A day counts whole.")]
ChangeTypes: TypeAlias = Annotated[
    list[str], _texts("--type", metavar="CHANGE_TYPE", help="Only changes of this type.")
]  # fmt: skip
Verdicts: TypeAlias = Annotated[
    list[str], _texts("--verdict", metavar="VERDICT", help="Only where the decision stands so now.")
]
Trusts: TypeAlias = Annotated[list[str], _texts("--trust", metavar="TRUST", help="Only events of this trust.")]
OfAgent: TypeAlias = Annotated[str | None, _text("--agent", metavar="NAME", help="Only what this agent wrote.")]
OfSession: TypeAlias = Annotated[
    str | None, _text("--session", metavar="ID", help="Only what was written in this session.")
]
OfChangeset: TypeAlias = Annotated[
    str | None, _text("--changeset", metavar="ID", help="Only what belongs to this changeset.")
]
OfCommit: TypeAlias = Annotated[
    str | None, _text("--commit", metavar="REV", help="Only what is linked to this commit.")
]
OfPath: TypeAlias = Annotated[
    str | None, _text("--path", metavar="FILE", help="Only what is about this file or lies in it.")
]
Kinds: TypeAlias = Annotated[
    list[str],
    _texts(
        "--kind",
        metavar="KIND|any",
        help="Events of this kind instead of changes and lessons: link, review, mark, …, or any.",
    ),
]
Everything: TypeAlias = Annotated[
    bool, _flag("--all", help="Also what is void, retracted, sealed, muted or redacted.")
]  # fmt: skip
AsOf: TypeAlias = Annotated[
    str | None,
    _text("--as-of", metavar="DATE", help="What held then, by what is known now. A day counts whole."),
]
KnownAt: TypeAlias = Annotated[
    str | None,
    _text(
        "--known-at", metavar="DATE|TIP", help="What was believed then: recorded by a date, or in the log up to a tip."
    ),
]  # fmt: skip
AllScopes: TypeAlias = Annotated[bool, _flag("--all-scopes", help="Also the components beside the one you are in.")]
Limit: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "-n", "--max-count", metavar="N", min=1, max=999_999_999, help="At most N events.", show_default=False
    ),
]

# --- what goes together -----------------------------------------------------------------------


class Why(Together):
    reasoning: Reasoning = []
    file: ReasoningFile = None


class Content(Why):
    """What a change says: record, reject, supersede."""

    approach: Approach = None
    instead: Instead = None
    constraint: Constraint = None
    stale_when: StaleWhen = None
    expires_when: ExpiresWhen = None
    revisit_after: RevisitAfter = None
    valid_from: ValidFrom = None
    valid_to: ValidTo = None
    supersedes: Supersedes = []


class Context(Together):
    """What a change belongs to and comes with, and how it is written: record, reject, supersede."""

    changeset: Changeset = None
    entity_type: EntityType = None
    diff: Diff = None
    commit: Commit = None
    evidence: Evidence = []
    agent: Agent = None
    session: Session = None
    scope: Scope = None
    attach: Attach = []
    redact_secrets: RedactSecrets = False
    allow_secret: AllowSecret = False
    sign: Sign = False
    dry_run: DryRun = False
    as_json: Json = False


class View(Together):
    """As of when, and how wide, one looks: status, prior, blame."""

    as_of: AsOf = None
    known_at: KnownAt = None
    all_scopes: AllScopes = False


class Filters(Together):
    """Which events: log, search, stats, export."""

    limit: Limit = None
    since: Since = None
    until: Until = None
    as_of: AsOf = None
    known_at: KnownAt = None
    types: ChangeTypes = []
    verdicts: Verdicts = []
    trusts: Trusts = []
    agent: OfAgent = None
    session: OfSession = None
    changeset: OfChangeset = None
    commit: OfCommit = None
    path: OfPath = None
    kinds: Kinds = []
    everything: Everything = False
    all_scopes: AllScopes = False
