"""Reviews and marks: hand in the draft, say what was stored; and the queue, as a list or one by one.

One by one only where a person sits: a terminal on stdin and on stdout, and a channel that is a person's.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gitmem import presenters
from gitmem.cli.recording import reason, said
from gitmem.cli.terminal import Io
from gitmem.core.drafts import Draft
from gitmem.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory


# --- one command, one event ------------------------------------------------------------------


def ratify(memory: Memory, io: Io, *, ids: Sequence[str], edit: bool, **options: Any) -> int:
    if edit:
        return _ratify_edited(memory, io, ids=ids, **options)
    return _review(memory, io, "ratify", ids=ids, **options)


def _ratify_edited(
    memory: Memory,
    io: Io,
    *,
    ids: Sequence[str],
    reasoning: Sequence[str],
    file: str | None,
    sign: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Ratify what the person makes of one event in their editor."""
    from gitmem.cli import editing

    why = reason(io, reasoning, file, "ratify --edit")
    if len(ids) != 1:
        raise Usage(what="--edit takes one event at a time", command="ratify")
    if not memory.is_person:
        return said(io, memory.ratify_edited(ids[0], {}, why), as_json=as_json)  # refused, in the words of the rules
    event: dict[str, Any] = presenters.event(memory.show(ids[0]).row)
    text = editing.edited(editing.text_of(event), memory.repository.local_dir)
    if text is None:
        raise Usage(what="the editor failed; nothing was written", hint="")
    changes = editing.changes(event, text)
    if changes is None:
        raise Usage(what="the reason is empty; nothing was written", hint="")
    if not changes:
        fields: dict[str, object] = {"action": "ratify", "targets": list(ids), "reason": why}
        return said(io, memory.record(Draft("review", fields, sign=sign), dry_run=dry_run), as_json=as_json)
    return said(io, memory.ratify_edited(ids[0], changes, why, sign=sign, dry_run=dry_run), as_json=as_json)


def dispute(memory: Memory, io: Io, **options: Any) -> int:
    return _review(memory, io, "dispute", **options)


def retract(memory: Memory, io: Io, **options: Any) -> int:
    return _review(memory, io, "retract", **options)


def seal(memory: Memory, io: Io, **options: Any) -> int:
    return _mark(memory, io, "seal", **options)


def unseal(memory: Memory, io: Io, **options: Any) -> int:
    return _mark(memory, io, "unseal", **options)


def mute(memory: Memory, io: Io, **options: Any) -> int:
    return _mark(memory, io, "mute", **options)


def unmute(memory: Memory, io: Io, **options: Any) -> int:
    return _mark(memory, io, "unmute", **options)


def pin(memory: Memory, io: Io, **options: Any) -> int:
    return _mark(memory, io, "pin", **options)


def unpin(memory: Memory, io: Io, **options: Any) -> int:
    return _mark(memory, io, "unpin", **options)


def _review(
    memory: Memory,
    io: Io,
    action: str,
    *,
    ids: Sequence[str],
    reasoning: Sequence[str],
    file: str | None,
    sign: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    fields: dict[str, object] = {"action": action, "targets": list(ids), "reason": reason(io, reasoning, file, action)}
    draft = Draft("review", fields, sign=sign)
    return said(io, memory.record(draft, dry_run=dry_run), as_json=as_json)


def _mark(
    memory: Memory,
    io: Io,
    action: str,
    *,
    ids: Sequence[str],
    reasoning: Sequence[str],
    file: str | None,
    dry_run: bool,
    as_json: bool,
    until: str | None = None,
) -> int:
    fields: dict[str, object] = {"action": action, "targets": list(ids), "reason": reason(io, reasoning, file, action)}
    if until is not None:
        from gitmem.cli.dates import moment

        fields["until"] = moment(until, "--until", end_of_day=True, ahead=True)
    return said(io, memory.record(Draft("mark", fields), dry_run=dry_run), as_json=as_json)


def override(
    memory: Memory,
    io: Io,
    *,
    id: str,
    reasoning: Sequence[str],
    file: str | None,
    session: str | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    result = memory.override(id, reason(io, reasoning, file, "override"), session=session, dry_run=dry_run)
    return said(io, result, as_json=as_json)


def resolve(
    memory: Memory,
    io: Io,
    *,
    entity: str,
    keep: str | None,
    both: str | None,
    approach: str | None,
    reasoning: Sequence[str],
    file: str | None,
    sign: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    if (both is None) != (approach is None):
        raise Usage(what="--both ID and --approach TEXT go together", command="resolve")
    if both is not None and approach is not None:
        if keep is not None:
            raise Usage(what="--keep or --both, not both of them", command="resolve")
        why = reason(io, reasoning, file, "resolve")
        return said(io, memory.keep_both(entity, both, approach, why, sign=sign, dry_run=dry_run), as_json=as_json)
    if keep is None:
        raise Usage(what="resolve needs the event of the side that shall hold: --keep ID", command="resolve")
    result = memory.resolve(entity, keep, reason(io, reasoning, file, "resolve"), sign=sign, dry_run=dry_run)
    return said(io, result, as_json=as_json)


# --- the queue -------------------------------------------------------------------------------


def review(
    memory: Memory,
    io: Io,
    *,
    everything: bool,
    ratify_all: str | None,
    reasoning: Sequence[str],
    file: str | None,
    all_scopes: bool,
    sign: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    asked = {"everything": everything, "all_scopes": all_scopes}
    if ratify_all is not None:
        why = reason(io, reasoning, file, "review --ratify-all")
        return said(io, memory.ratify_all(ratify_all, why, sign=sign, dry_run=dry_run, **asked), as_json=as_json)
    if reasoning or file is not None or dry_run:
        raise Usage(what="a reason and --dry-run are for --ratify-all", command="review")
    if not as_json and _is_attended(io) and memory.is_person:
        from gitmem.cli.walking import Walk

        return Walk(memory, io, asked, sign=sign).go()
    answer: dict[str, Any] = presenters.review(memory.review(**asked))
    if as_json:
        io.answer(answer)
    else:
        from gitmem.cli import waiting

        io.show(waiting.listed(answer), paged=True)
    for notice in memory.notices():
        io.warn(notice)
    return 0


def _is_attended(io: Io) -> bool:
    return bool(io.out.isatty() and sys.stdin and sys.stdin.isatty())
