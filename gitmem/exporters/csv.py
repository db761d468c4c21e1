"""csv: one row for each event, as RFC 4180 has it, and safe to open in a spreadsheet.

A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, whatever its quotes; formulas can read
other cells, start programs and talk to the network. Such a cell gets an apostrophe in front, which spreadsheets show as
text and don't show at all. So do cells that begin with the full-width forms of these signs, or with blanks before them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping

COLUMNS = (
    "id", "recorded_at", "kind", "change_type", "action", "entity_path", "entity_type", "scope", "approach", "verdict",
    "trust", "effect", "reasoning", "reason", "instead", "constraint", "stale_when", "expires_when", "revisit_after",
    "valid_from", "valid_to", "renamed_from", "changeset_id", "author", "agent", "session_id", "channel", "basis",
    "commits", "supersedes", "superseded_by", "targets", "evidence", "tags", "marks", "source", "clock", "redacted",
    "core", "gist", "topic", "paths", "outcome", "severity", "cost", "binding",
)  # fmt: skip
#: What a formula begins with, in any spreadsheet.
_FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20"


def pieces(events: Iterable[Mapping[str, object]]) -> Iterator[str]:
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    for event in events:
        writer.writerow([cell(event.get(name)) for name in COLUMNS])
        yield out.getvalue()
        out.seek(0)
        out.truncate()
    yield out.getvalue()


def cell(value: object) -> str:
    """Return a value as the text of a cell that is no formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        value = " ".join(str(one) for one in value) if all(" " not in str(one) for one in value) else _listed(value)
    text = "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in str(value).replace("\r\n", "\n"))
    if text[:1] in ("\t", "\n") or text.lstrip()[:1] in tuple(_FORMULA):
        return "'" + text
    return text


def _listed(values: Iterable[object]) -> str:
    return "\n".join(str(one) for one in values)
