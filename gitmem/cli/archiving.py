"""archive add, audit: attach files to an event, print what is attached."""

from __future__ import annotations

import base64
import codecs
import json
from collections.abc import Iterable, Iterator, Sequence

from gitmem import presenters
from gitmem.cli import entries
from gitmem.cli.terminal import Io
from gitmem.cli.text import EMPTY, Line, plural, safe_json
from gitmem.core import ids
from gitmem.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory

    Attachment = Any

#: A line longer than this is shown in pieces.
ROW_MAX = 1 << 16


def add(memory: Memory, io: Io, *, id: str, files: Sequence[str], allow_secret: bool, as_json: bool) -> int:
    answer: dict[str, Any] = presenters.attach(memory.attach(id, files, allow_secret=allow_secret))
    if as_json:
        io.answer(answer)
        return 0
    io.show(told(answer["attached"], answer["event"]))
    if answer["known"]:
        io.show([Line(("dim", f"{plural(answer['known'], 'file')} attached already, and left as it was"))])
    return 0


def fetch(memory: Memory, io: Io, *, remote: str | None, as_json: bool) -> int:
    return _carried(io, presenters.carry(memory.fetch_archive(remote or "")), as_json=as_json)


def push(memory: Memory, io: Io, *, remote: str | None, as_json: bool) -> int:
    return _carried(io, presenters.carry(memory.push_archive(remote or "")), as_json=as_json)


def _carried(io: Io, answer: dict[str, Any], *, as_json: bool) -> int:
    if as_json:
        io.answer(answer)
        return 0
    parts = [f"{plural(answer['received'], 'attachment')} came"] if answer["received"] else []
    parts += ["the archive went"] if answer["sent"] else []
    told = ", ".join(parts) or ("it has no archive" if answer["remote_tip"] is None else "up to date")
    io.show([Line(("id", answer["remote"]), ("good" if parts else "dim", f": {told}"))])
    return 0


def told(attached: Iterable[dict[str, Any]], event: str, *, dry_run: bool = False) -> Iterator[Line]:
    """Yield a line for each file that was attached to an event, or would be."""
    for one in attached:
        verb = "would attach " if dry_run else "attached "
        where = "" if dry_run else f" to {event[: entries.SHORT]}"
        yield Line(("dim" if dry_run else "good", verb), ("", one["name"]), ("dim", f" ({_size(one['size'])}){where}"))


def audit(memory: Memory, io: Io, *, id: str, raw: str | None, as_json: bool) -> int:
    if raw is not None and as_json:
        raise Usage(what="--raw gives bytes, and --json doesn't", command="audit")
    found = memory.audit(id)
    if raw is not None:
        one = _chosen(found.attachments, raw)
        io.out.flush()
        for chunk in memory.attachment(one):
            io.out.buffer.write(chunk)
        found.attachments = [one]
    elif as_json:
        for piece in _json(memory, presenters.audit(found), found.attachments):
            io.out.write(piece)
    else:
        io.show(_shown(memory, found.event, found.attachments), paged=True)
    bad = [one for one in found.attachments if one.problem]
    for one in bad:
        io.warn(f"{one.name}: {one.problem}")
    return 1 if bad else 0


def _chosen(attachments: Sequence[Attachment], wanted: str) -> Attachment:
    found = [one for one in attachments if one.name == wanted]
    if not found and ids.is_prefix(wanted):
        found = [one for one in attachments if one.sha256.startswith(wanted.lower())]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"{one.name} ({one.sha256[: entries.SHORT]})" for one in found or attachments)
    if found:
        raise Usage(what=f"--raw: {len(found)} attachments are called {wanted}: {names}", hint="give the number.")
    hint = f"there is {names}." if attachments else "nothing is attached to this event."
    raise Usage(what=f"--raw: nothing that is attached is called {wanted}", hint=hint)


def _size(number: int) -> str:
    return plural(number, "byte") if number >= 0 else "missing"


# --- text -------------------------------------------------------------------------------------


def _shown(memory: Memory, event: str, attachments: Sequence[Attachment]) -> Iterator[Line]:
    short = event[: entries.SHORT]
    if not attachments:
        yield Line(("nothing", f"nothing is attached to {short}."))
        return
    for number, one in enumerate(attachments):
        if number:
            yield EMPTY
        yield Line(("id", one.name), ("dim", f"  {_size(one.size)}"), hang=4)
        when = f", {entries.when(one.added_at)}" if one.added_at else ""
        yield Line(("dim", f"attached to {short} by {one.author or 'nobody knows whom'} ({one.channel}){when}"), hang=4)
        yield Line(("dim", f"SHA-256 {one.sha256}"), hang=4)
        if one.secret:
            yield Line(("dim", "stored with --allow-secret"))
        if one.problem:
            yield Line(("bad", one.problem))
        yield EMPTY
        if one.is_text:
            for row in _rows(memory.attachment(one)):
                yield Line(("", "    "), ("", row), hang=4) if row else EMPTY
        elif one.size >= 0:
            yield Line(("dim", f"    not text; `git decisions audit {short} --raw {one.sha256[:8]} > FILE` gives it"))


def _rows(chunks: Iterable[bytes]) -> Iterator[str]:
    left = ""
    for text in _decoded(chunks):
        *rows, left = (left + text).split("\n")
        yield from (row.removesuffix("\r") for row in rows)
        while len(left) > ROW_MAX:
            yield left[:ROW_MAX]
            left = left[ROW_MAX:]
    if left:
        yield left


def _decoded(chunks: Iterable[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for chunk in chunks:
        yield decoder.decode(chunk)
    yield decoder.decode(b"", True)


# --- JSON, with contents of any size ----------------------------------------------------------


def _json(memory: Memory, answer: dict[str, Any], attachments: Sequence[Attachment]) -> Iterator[str]:
    """Yield one JSON object piece by piece: no content is ever held whole."""
    head = {name: value for name, value in answer.items() if name != "attachments"}
    yield _open(head) + ', "attachments": ['
    for number, (told, one) in enumerate(zip(answer["attachments"], attachments)):
        yield (", " if number else "") + _open(told)
        if one.is_text:
            yield ', "base64": null, "text": "'
            for text in _decoded(memory.attachment(one)):
                yield safe_json(json.dumps(text, ensure_ascii=False)[1:-1])
            yield '"}'
        elif one.size >= 0:
            yield ', "text": null, "base64": "'
            yield from _base64(memory.attachment(one))
            yield '"}'
        else:
            yield ', "text": null, "base64": null}'
    yield "]}\n"


def _open(told: dict[str, Any]) -> str:
    """Return a JSON object without the bracket at its end."""
    return safe_json(json.dumps(told, ensure_ascii=False))[:-1]


def _base64(chunks: Iterable[bytes]) -> Iterator[str]:
    left = b""
    for chunk in chunks:
        left += chunk
        whole = len(left) - len(left) % 3
        yield base64.b64encode(left[:whole]).decode()
        left = left[whole:]
    yield base64.b64encode(left).decode()
