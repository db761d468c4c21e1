"""record, reject, supersede: make a draft, hand it in, say what was stored."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gitmem import presenters
from gitmem.cli import entries
from gitmem.cli.terminal import Io
from gitmem.cli.text import Line
from gitmem.core import ids
from gitmem.core.drafts import Draft
from gitmem.errors import NoLog, UnknownId, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.cases.results import Recorded
    from gitmem.memory import Memory


def record(memory: Memory, io: Io, *, entity: str, change_type: str, **options: Any) -> int:
    return _append(memory, io, {"entity_path": entity, "change_type": change_type}, command="record", **options)


def reject(memory: Memory, io: Io, *, entity: str, **options: Any) -> int:
    return _append(memory, io, {"entity_path": entity, "change_type": "reject"}, command="reject", **options)


def supersede(memory: Memory, io: Io, *, subject: str, supersedes: Sequence[str], **options: Any) -> int:
    entity, named = _subject(memory, subject)
    fields: dict[str, object] = {"entity_path": entity, "change_type": "supersede"}
    return _append(memory, io, fields, command="supersede", supersedes=[*named, *supersedes], **options)


def _subject(memory: Memory, subject: str) -> tuple[str, list[str]]:
    """Return the entity and the ids that `subject` names: an id its own entity and itself, else an entity alone.

    `added`, `face`, `feed` could be both. A name that something is recorded about is the name.
    """
    if not ids.is_prefix(subject):
        return subject, []
    if len(subject) < ids.LENGTH and memory.status(subject).decisions:
        return subject, []
    try:
        event = memory.show(subject).row.event
    except (UnknownId, NoLog):
        if any(character.isdigit() for character in subject):
            raise
        return subject, []
    if not event.entity_path:
        raise Usage(what=f"{subject} is a {event.kind}, and only a change can be superseded", command="supersede")
    return event.entity_path, [event.id]


def _append(
    memory: Memory,
    io: Io,
    fields: dict[str, object],
    *,
    command: str,
    reasoning: Sequence[str],
    file: str | None,
    diff: str | None,
    valid_from: str | None,
    valid_to: str | None,
    dry_run: bool,
    as_json: bool,
    rename_from: str | None = None,
    reopens: bool = False,
    whole: bool = False,
    redact_secrets: bool = False,
    allow_secret: bool = False,
    sign: bool = False,
    changeset: str | None = None,
    pattern: Sequence[str] = (),
    session: str | None = None,
    attach: Sequence[str] = (),
    **others: Any,
) -> int:
    if redact_secrets and allow_secret:
        raise Usage(what="--redact-secrets or --allow-secret, not both", command=command)
    if file == "-" and diff == "-":
        raise Usage(what="stdin can be the reasoning or the diff, not both", command=command)
    if "-" in attach and "-" in (file, diff):
        raise Usage(what="stdin can be what is attached or another field, not both", command=command)
    # Named as the format names them. What was not given is left out; what was given empty is for the rules to judge.
    draft = {**fields, "reasoning": reason(io, reasoning, file, command)}
    given = {
        **others,
        "renamed_from": rename_from,
        "changeset_id": changeset,
        "session_id": session,
        "patterns": list(pattern),
    }
    draft |= {name: value for name, value in given.items() if value is not None and value != []}
    for name, typed in (("valid_from", valid_from), ("valid_to", valid_to)):
        if typed is not None:
            draft[name] = _moment(typed)
    if diff is not None:
        draft["diff"] = _diff(io, diff)
    wanted = Draft(
        "change",
        draft,
        reopens=reopens,
        whole=whole,
        redact_secrets=redact_secrets,
        allow_secret=allow_secret,
        sign=sign,
    )
    return said(io, memory.record(wanted, dry_run=dry_run, attach=attach), as_json=as_json)


def said(io: Io, result: Recorded, *, as_json: bool) -> int:
    """Say what was written, and what its writer should know; return the exit status."""
    answer: dict[str, Any] = presenters.record(result)
    if as_json:
        io.answer(answer)
    else:
        io.show(_stored(answer["events"], dry_run=result.dry_run))
        if answer.get("attached"):
            from gitmem.cli import archiving

            io.show(archiving.told(answer["attached"], answer["events"][-1]["id"], dry_run=result.dry_run))
    for warning in result.warnings:
        io.warn(warning)
    return 0


def reason(io: Io, paragraphs: Sequence[str], file: str | None, command: str) -> str:
    """Return what -r or -F says; each -r is a paragraph. Raises Usage where there is neither or both."""
    if file is not None:
        if paragraphs:
            raise Usage(what="the reasoning comes from -r or from -F, not from both", command=command)
        return io.read(file, "reasoning").strip()
    if not paragraphs:
        raise Usage(what=f"{command} needs a reason: -r WHY, or -F FILE", command=command.partition(" -")[0])
    return "\n\n".join(paragraphs)


def _moment(typed: str) -> str:
    from gitmem.cli.dates import moment

    try:
        return moment(typed, "")
    except Usage:
        return typed  # no form that we read: the rules refuse it, in the words of every front end


def _diff(io: Io, what: str) -> str:
    if what == "-" or (what != "staged" and os.path.isfile(what)):
        return io.read(what, "diff")
    from gitmem.cli import git

    if what != "staged" and not git.is_revision(what):
        raise Usage(what=f"--diff: {what} is no file, and no commit either; nothing was written", hint="")
    return git.diff(what)


def _stored(events: Sequence[dict[str, Any]], *, dry_run: bool) -> list[Line]:
    lines = []
    for event in events:
        pieces = [("id", event["id"][: entries.SHORT]), ("", " "), ("entity", entries.title(event))]
        if event.get("effect") in ("pending", "contested", "void"):
            pieces.append((event["effect"], f" ({event['effect']})"))
        lines.append(Line(*pieces))
    if dry_run:
        lines = [Line(("dim", "would append "), *line.pieces[2:]) for line in lines]
    return lines
