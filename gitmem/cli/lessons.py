"""lesson, gist: make a draft, hand it in, say what was stored."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.cli.recording import reason, said
from gitmem.cli.terminal import Io
from gitmem.core.drafts import Draft
from gitmem.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory


def lesson(
    memory: Memory,
    io: Io,
    *,
    text: str,
    outcome: str | None,
    cost: str | None,
    severity: str | None,
    verbatim: Sequence[str],
    session: str | None,
    redact_secrets: bool,
    allow_secret: bool,
    sign: bool,
    dry_run: bool,
    as_json: bool,
    **others: Any,
) -> int:
    if redact_secrets and allow_secret:
        raise Usage(what="--redact-secrets or --allow-secret, not both", command="lesson")
    fields: dict[str, object] = {name: value for name, value in others.items() if value is not None and value != []}
    fields["core"] = text
    for name, typed in (("outcome", outcome), ("cost", cost), ("severity", severity)):
        if typed is not None:
            fields[name] = _whole(name, typed)
    if session is not None:
        fields["session_id"] = session
    draft = Draft("lesson", fields, redact_secrets=redact_secrets, allow_secret=allow_secret, sign=sign)
    return said(io, memory.teach(draft, verbatim=verbatim, dry_run=dry_run), as_json=as_json)


def _whole(name: str, typed: str) -> int:
    try:
        return int(typed.replace("−", "-"))
    except ValueError:
        raise Usage(
            what=f"--{name}: {typed[:40]!r} is no whole number; nothing was written", command="lesson"
        ) from None


def gist(
    memory: Memory,
    io: Io,
    *,
    lesson: str,
    text: str,
    reasoning: Sequence[str],
    file: str | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    why = reason(io, reasoning, file, "gist") if reasoning or file is not None else ""
    return said(io, memory.shorten(lesson, text, reason=why, dry_run=dry_run), as_json=as_json)
