"""The pages that are made from the Typer definitions: the hot table, the reference, the manual page.

python -m gitmem.cli.reference --write     writes them into the source tree
python -m gitmem.cli.reference             exits 1 naming those that are not current
"""

from __future__ import annotations

import os
import pprint
import re
import sys
from collections.abc import Iterator

from gitmem.cli import catalogue, help
from gitmem.cli.catalogue import Command

HOT_TABLE = "gitmem/cli/hot_table.py"
REFERENCE = "docs/reference/cli.md"
MANUAL = "docs/man/git-decisions.1"

#: Exit statuses by their groups; the classes are in `docs/reference/errors.md`.
EXITS = (
    ("0", "done"),
    ("1", "a negative answer: `verify` or `doctor` found something wrong, `gate` stops, `assert` misses an event, "
     "`--check` finds a difference, a file held what could not be imported"),
    ("2", "the command line is not understood"),
    ("3", "a bug in gitmem; a report to paste is printed"),
    ("10-19", "the situation: no log here (10), busy (11), unknown id (12), ambiguous id (13), against a rule (14), "
     "refused content (15), outside a repository (16), an extra that isn't installed (17)"),
    ("20-29", "the data: malformed event (20), broken history (21), written by a newer gitmem (22), incomplete (23)"),
    ("30-39", "git, remotes, keys: git or the network failed (30), a remote lost something (31), it refuses the log "
     "(32), it can't be signed (35)"),
    ("130", "interrupted"),
    ("141", "the reader of the output went away"),
)  # fmt: skip

JSON_SECTION = """\
## JSON

One object for each answer, with `"schema": 1`; fields are added, never changed or taken away. `log --json --stream`
prints one event on each line. Every event has the same fields; what its kind has not is null.

| answer of | fields |
|---|---|
| `log`, `search` | `events` |
| `watch` | one event (below) on each line, as with `log --stream` |
| `show` | `event`, `log_commit`, `links`, `reviews`, `marks`, `closed`, `closed_by` |
| `blame` | `entity_path`, `event` (null where nobody recorded anything) |
| `record`, `reject`, `supersede`, `lesson`, `gist` | `written`, `events`, `warnings` |
| `status` | `decisions`, `counts`, of an entity `entity_path`, and without an entity `events`, `unlinked`, `tip`, \
`review` (`waiting`, `oldest`), `newer`, `quarantined` |
| `rebuild` | as `status` |
| `prior` | `known` (yes, weak, nothing), `entity_path`, `attempts`, `hidden` |
| `recall` | `known` (yes, nothing), `query`, `recalled` (of each `kind`, `id`, `text`, `is_gist`, `score`, \
`relevance`, `shared`, `speaks_for`, `line`), `left_out` (how many), `budget`, `text`; `applied` (ids) |
| `why-not` | `id`, `kind`, `query`, `place` (0: not recalled), `reasons`, `line` |
| `review` | `waiting`, `oldest`, `relanded`, `due`, `token`, `items` (below) |
| `stale` | `now`, `counts` (by flag), `decisions` (below) |
| `inbox` | `policy`, `bar`, `waiting` (captures, below), `events` (what was kept), `dropped` (ids) |
| `reveal` | `path`, `policy`, `caution`, `lessons` (faded ones, below) |
| `stats` | `events`, `entities`, `unlinked`, `by` (counts by `kind`, `change_type`, `verdict` …), `commits` \
(`total`, `with_decisions`) |
| `why` | `known`, `file`, `line`, `text`, `note`, `commits` (`commit`, `subject`, `author`, `date`, `events`: of \
each `id`, `how`, `via`, `confidence`, `reverted_by`), `about` (ids), `events` |
| `ratify` and all that review or mark, `override`, `undo` | as `record` |
| `lessons` | `policy`, `moment`, `counts` (by band), `lessons` (below), `left` (how many `-n` left off) |
| `rules` | `policy`, `rules` and `fallen` (below) |
| `sleep` | `dry_run`, `written`, `policy`, `moment`, `outcomes` (`action`: absorb, latent, return, promote, fall, \
digest; `event`, `scope`, `targets`, `was`, `becomes`, `text`), `before` and `after` (counts) |
| `history` | `policy`, `moment`, `lesson` or `rule` as it stands now, `steps` (`what`, `event`, `kind`, `action`, \
`targets`, `recorded_at`, `author`, `agent`, `commit`, `reason`, `before`, `after`: only what differs) |
| `changeset` | `events`, or without an id `changesets` |
| `assert` | `present`, `missing` |
| `gate` | `where`, `stops`, `has_log`, `files` (how many), `unread`, `findings` (below), `message` |
| `digest` | `text`, `bytes`, `ids` |
| `doctor` | `well`, `checks` (`what`, `state`: ok, note, warning or error, `says`, `remedy`) |
| `verify` | `sound`, `tip`, `events`, `commits`, `newer`, `signatures`, `incremental_from`, `findings` |
| `record --attach`, `archive add` | `attached` (`name`, `size`, `sha256`); `archive add` also `written`, `event`, \
`known` |
| `archive fetch`, `archive push` | `remote`, `old_tip`, `tip`, `remote_tip`, `received` (how many), `sent` (whether) |
| `audit` | `event`, `attachments` (as `attached`; `added_at`, `author`, `channel`, `problem`, and `text` or \
`base64`) |
| `fetch`, `push`, `sync` | `remote`, `ref`, `dry_run`, `old_tip`, `tip`, `remote_tip`, `received` and `sent` (how \
many), `joined`, `redacted`, `replaced`, `linked`, `events` (`received`, `sent`), `held` (what could not be removed, \
and remarks) |
| `push --probe` | `remote`, `ref`, `taken` |
| `redact`, `expunge` | `dry_run`, `written`, `redacted`, `mode`, `event`, `old_tip`, `tip`, `commits`, `objects`, \
`packs`, `bytes`, `held` |
| `init`, `uninstall` | `dry_run`, `steps` (`what`, `done`, `already`), `notes` |
| `setup` | `dry_run`, `steps` (with a `diff`), `notes`, `agents`, `in_order` (with `--check`; else null) |
| `import jsonl` | `dry_run`, `commits`, `events`, `appended`, `known`, `redacted`, `tip`, `skipped`, `warnings` |
| `import git` | `dry_run`, `commits`, `found`, `landings`, `appended`, `known`, `warnings`, `skipped` (`reason`, \
`count`, `examples`, `kept`) |
| `import` of anything else | `dry_run`, `read` (counts by what was read), `appended`, `known`, `warnings`, `skipped` |
| `link` | `links` and `found` (`events`, `commit`, `how`: written, and kept in this clone), `doubts` (`events`, \
`commits`), `unlinked` |
| `demo` | `steps` (`command`, `exit`, `output`) |
| an error | `error` (`code`, `name`, `message`, `hint`, `written`); the exit status is the same as without `--json` |

An event: `id`, `kind`, `change_type`, `entity_path`, `entity_type`, `scope`, `approach`, `reasoning`, `instead`,
`constraint`, `stale_when`, `expires_when`, `revisit_after`, `valid_from`, `valid_to`, `supersedes`, `superseded_by`,
`changeset_id`, `author`, `agent`, `session_id`, `channel`, `basis`, `effect`, `clock`, `recorded_at`, `source`,
`commits`, `trust`, `marks` (of seal, mute, pin, those that it bears now), `verdict`, `redacted`, `signature`
(null, or its `state`, `principal` and `key`; the state is good, unchecked, or what is wrong: bad, unknown-key,
other-principal, not-valid-then, revoked), and what else its kind carries.

A decision: `entity_path`, `scope`, `approach`, `verdict`, `trust`, `standing` (the event that decides), `sealed`
(whether that one is; then no text of it is told), `against` (those that contest it), `closed_by_parent`, `in_head`
(whether the deciding commit is in HEAD; null without one), `since`, `events`. The worst come first: contested,
rejected, reverted, reopened, active, removed.

An attempt: `entity_path`, `approach`, `outcome` (rejected, reverted, removed, open, reopened), `confidence` (exact,
proximity_high, proximity_low, open), `trust`, `match` (entity, approach, content, words), `score` (0-100 for content
and words), `because` (why it matched), `reasoning`, `instead`, `stale_when`, `attempt`, `closed_by` (ids), `line` (all
of it on one line).

A lesson: `id`, `core`, `gist` (null where there is none), `topic`, `paths`, `scope`, `outcome`, `severity`, `binding`,
`trust`, `marks`, `band` (near, cold, latent), `access` (of it and its repeats, in parts per million), `half_life_s`,
`uses`, `touches`, `times`, `repeats`, `under`, `author`, `agent`, `recorded_at`, `last`.

A rule: `id`, `rank` (pattern, rule, principle), `text`, `topic`, `scope`, `direction` (-1, 0, 1), `trust`, `count` (of
commits; of a principle, of rules), `evidence` (`id`, `text`, `commit`, `recorded_at`), `contradicted_by`, `rust` (parts
per million), `last`.

An item of `review`: `why` (pending, proposed, contested, disputed, void, quarantined, unsigned, relanded, due, other),
`since`, one of `event`, `decision` (with `sides`: the events `closed` and `open`) and `finding`; `due` (`flag` and
`signals`, as in `stale`); `rule`, of what a sleep proposed; `if_ratified`, `if_retracted` and, by the id
that is kept, `if_kept`: the decisions that would differ (`entity_path`, `scope`, `approach`, `before`, `after`,
`trust_before`, `trust_after`); `closed_by`, `actions` (`do`, the `id` that it is done to, its `command`), `commands`.

A capture of `inbox`: `id`, `source` (revert, override, failure), `told` (the same in words), `core`, `paths`,
`evidence`, `times`, `first`, `last`, `expires`, `score` (`total`, `bar`, `passes`, and `parts`: `name`, `value`,
`weight`, `points`), `repeats` (the lesson that it says again), `is_gone` (that one was taken back).
A lesson of `reveal`: `id`, `core`, `gist`, `topic`, `paths`, `scope`, `severity`, `trust`, `points` (of caution),
`access` (parts per million), `access_percent`, `times`, `touches`, `last`.
A decision of `stale`: `entity_path`, `scope`, `change_type`, `approach`, `verdict`, `trust`, `standing` (the event that
is due), `since`, `flag` (relanded, code_reverted, expired, revisit_due, review_suggested, manual_review), `why`,
`days_overdue`, `signals` (of each reason `flag`, `why`, `since`, `event`, `words`, `commit`), `reasoning`, `instead`,
`revisit_after`, `stale_when`, `expires_when`.

A finding of `verify`: `rule`, `severity` (error, warning), `commit`, `event`, `message`, `accepted_by` (the review that
did, or null).

A finding of `gate`: `rule` (content, entity, pattern, removed), `severity` (error: it stops; warning: it passes by an
answer; notice), `event` (the closing), `message`, `path`, `line`, `why` (what matched), `entity_path`, `approach`,
`change_type`, `scope`, `person_ratified`, `reasoning`, `instead`, `constraint`, `stale_when`, `expires_when`, `waiting`
(ids of supersedes that wait for a person), `to_go_on`; of a trailer that answers it `answered_by`, `answer`, `commit`.
"""


def pages() -> dict[str, str]:
    """Return the text of each generated page by its path in the source tree."""
    every = catalogue.every()
    return {HOT_TABLE: _hot_table(every), REFERENCE: _reference(every), MANUAL: _manual(every)}


# --- the hot table ---------------------------------------------------------------------------


def _hot_table(every: list[Command]) -> str:
    table: dict[str, object] = {}
    for command in every:
        if command.hot:
            options = {name: (option.field, option.kind) for option in command.options for name in option.names}
            defaults: dict[str, object] = {
                argument.field: None for argument in command.arguments if argument.kind == catalogue.MAYBE
            }
            defaults |= {option.field: option.default for option in command.options}
            positionals = tuple((argument.field, argument.kind) for argument in command.arguments)
            table[command.words] = (command.target, positionals, options, defaults)
    literal = pprint.pformat(table, width=116, sort_dicts=False)
    return (
        '"""Generated by `python -m gitmem.cli.reference --write` from the Typer definitions: don\'t edit.\n\n'
        "command: (target, positionals, options by name, defaults); `entry.understood` reads it.\n"
        '"""\n\n'
        "from __future__ import annotations\n\n"
        "Entry = tuple[str, tuple[tuple[str, str], ...], dict[str, tuple[str, str]], dict[str, object]]\n\n"
        f"# fmt: off\nHOT: dict[str, Entry] = {literal}\n"
    )


# --- the reference ---------------------------------------------------------------------------


def _reference(every: list[Command]) -> str:
    lines = [
        "# Commands",
        "",
        "<!-- Generated by `python -m gitmem.cli.reference --write`: don't edit. -->",
        "",
        help.INTRODUCTION,
        "",
        "Data goes to stdout, all else to stderr. Every command has `-h`; every command that shows something has",
        "`--json`, which prints one object (see [JSON](#json)). Colour and pager follow git: `color.decisions`,",
        "`core.pager`, `NO_COLOR`. Times are UTC.",
        "",
        "An entity is named by a path: `users.email`, `src/auth.py::login`, `deps/stripe`, `env/STRIPE_KEY`. A path",
        "that exists below the working directory is taken from there, and `:/path` is from the root of the repository.",
        "",
        "An event is named by its id or its first 4 or more characters.",
        "",
    ]
    heading = ""
    for command in every:
        if command.heading != heading:
            heading = command.heading
            lines += [f"## {heading}", ""]
        lines += [f"### {command.words}", "", "```", command.usage, "```", ""]
        for paragraph in (command.summary, *command.details):
            lines += [paragraph, ""]
        rows: list[tuple[str, str, object]] = [(argument.usage, argument.help, None) for argument in command.arguments]
        rows += [(option.usage, option.help, option.default) for option in command.options]
        if rows:
            lines += ["| | |", "|---|---|"]
            lines += [
                f"| `{_cell(name)}` | {_cell(help.with_default(text, default))} |" for name, text, default in rows
            ]
            lines.append("")
        if command.examples:
            lines += ["```sh", *command.examples, "```", ""]
    lines += [JSON_SECTION, "## Exit status", "", "| | |", "|---|---|"]
    lines += [f"| {code} | {text} |" for code, text in EXITS]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# --- the manual page -------------------------------------------------------------------------


def _manual(every: list[Command]) -> str:
    return "\n".join(_man(every)) + "\n"


def _man(every: list[Command]) -> Iterator[str]:
    yield ".\\\" Generated by `python -m gitmem.cli.reference --write`: don't edit."
    yield '.TH GIT-DECISIONS 1 "" "gitmem" "gitmem manual"'
    yield ".SH NAME"
    yield "git-decisions \\- what was decided in this repository, and why"
    yield ".SH SYNOPSIS"
    for command in every:
        yield ".br"
        name = f"git decisions {command.words}"
        yield f"\\fB{_roff(name)}\\fR{_roff(command.usage.removeprefix(name))}"
    yield ".SH DESCRIPTION"
    yield _roff(help.INTRODUCTION)
    yield ".PP"
    yield _roff(
        "Decisions are events in the repository itself, on refs/decisions/log. Data goes to stdout, all else to "
        "stderr. Colour and pager follow git (color.decisions, core.pager, NO_COLOR). Times are UTC."
    )
    yield ".PP"
    yield _roff(
        "An entity is named by a path: users.email, src/auth.py::login, deps/stripe, env/STRIPE_KEY. A path that "
        "exists below the working directory is taken from there; :/path is from the root. An event is named by its "
        "id or its first 4 or more characters."
    )
    yield ".SH COMMANDS"
    heading = ""
    for command in every:
        if command.heading != heading:
            heading = command.heading
            yield f".SS {heading}"
        yield ".PP"
        yield f"\\fB{_roff(command.words)}\\fR"
        yield ".RS 4"
        yield _roff(command.summary)
        for paragraph in command.details:
            yield ".PP"
            yield _roff(paragraph)
        for argument in command.arguments:
            yield ".TP"
            yield f"\\fI{_roff(argument.metavar)}\\fR"
            yield _roff(argument.help)
        for option in command.options:
            yield ".TP"
            names = ", ".join(f"\\fB{_roff(name)}\\fR" for name in option.names)
            yield f"{names} \\fI{_roff(option.metavar)}\\fR" if option.metavar else names
            yield _roff(help.with_default(option.help, option.default))
        if command.examples:
            yield ".PP"
            yield ".nf"
            for example in command.examples:
                yield from (_roff(row) for row in example.split("\n"))
            yield ".fi"
        yield ".RE"
    yield ".SH EXIT STATUS"
    for code, text in EXITS:
        yield ".TP"
        yield f"\\fB{_roff(code)}\\fR"
        yield _roff(text.replace("`", ""))
    yield ".SH SEE ALSO"
    yield "\\fBgit-log\\fR(1), \\fBgit-notes\\fR(1), \\fBgithooks\\fR(5)"


def _roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)
    return f"\\&{text}" if text[:1] in (".", "'") else text


# --- by hand ---------------------------------------------------------------------------------


def main(argv: list[str]) -> int:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    stale = []
    for path, text in pages().items():
        place = os.path.join(root, path)
        try:
            with open(place, encoding="utf-8") as file:
                current = file.read()
        except FileNotFoundError:
            current = ""
        if current != text:
            stale.append(path)
            if "--write" in argv:
                os.makedirs(os.path.dirname(place), exist_ok=True)
                with open(place, "w", encoding="utf-8") as file:
                    file.write(text)
    for path in stale:
        print(path)
    return 1 if stale and "--write" not in argv else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
