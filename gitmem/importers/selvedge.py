"""A Selvedge store, as drafts: one for each of its events, in its words and at its time. Its file is only read.

Its ids are kept as evidence. What it calls a rename, an event on the old name and a `create` on the new one, is one
rename here. A supersede names what it re-opened; one that names nothing re-opens the newest closing of its path, which
is what Selvedge makes of it. What was merely removed is not closed here: a supersede of that is an `add`. The store's
chain holds a hash of each row: a row that says something else now is counted.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator

from gitmem.core import dates, entities, vocabulary
from gitmem.core.drafts import Draft
from gitmem.errors import Refused
from gitmem.importers.pen import Pen

#: Of a store that is given as a folder.
DEFAULT = (".selvedge/selvedge.db", "selvedge.db")
_CLOSING = ("revert", "reject")
_ENDING = ("remove", "delete", "index_remove")
_TEXTS = ("changeset_id", "constraint", "stale_when", "agent", "session_id")
#: Columns that came with later versions of a store.
_COLUMNS = (
    "id timestamp entity_type entity_path change_type diff reasoning agent session_id git_commit project changeset_id "
    "metadata revisit_after expires_when supersedes constraint stale_when"
).split()
#: A diff is kept up to here.
DIFF_MAX = 60_000

Row = dict[str, str]


def read(path: str, pen: Pen) -> Iterator[Draft]:
    """Yield the drafts of the store at `path`, or in the folder `path`. Raises Refused where there is none."""
    rows, chained = _rows(_found(path))
    tally = pen.tally
    tally.saw("events", len(rows))
    _check_chain(rows, chained, pen)
    renames = {
        (row["metadata_from"], row["reasoning"]): row for row in rows if row["metadata_from"] and row["entity_path"]
    }
    types = {row["id"]: row["change_type"] for row in rows}
    newest: dict[str, str] = {}
    for row in rows:
        key = row["entity_path"].lower()
        if row["change_type"] == "rename" and not row["metadata_from"]:
            if (row["entity_path"], row["reasoning"]) in renames:
                tally.saw("old halves of renames")
                continue
            tally.skip("renames that don't say to what, taken as changes", row["id"], kept=True)
            row["change_type"] = "modify"
        if row["change_type"] not in vocabulary.CHANGE_TYPES:
            tally.skip(f"events of a kind that is none here ({row['change_type'][:40]})", row["id"])
            continue
        fields = _fields(row, pen)
        if row["metadata_from"]:
            fields["change_type"] = "rename"
            fields["renamed_from"] = row["metadata_from"]
        if row["change_type"] == "supersede":
            named = row["supersedes"] if row["supersedes"] in types else newest.get(key, "")
            if not named:
                tally.skip("supersedes of nothing", row["id"])
                continue
            if types[named] in _CLOSING:
                fields["supersedes"] = [f"source:{_source(named)}"]
            else:
                fields["change_type"] = "add"
        if row["change_type"] in (*_CLOSING, *_ENDING):
            newest[key] = row["id"]
        yield from pen.change(_source(row["id"]), row["id"], fields)


def _source(event_id: str) -> str:
    return f"selvedge:{event_id}"


def _found(path: str) -> str:
    for candidate in (path, *(os.path.join(path, name) for name in DEFAULT)):
        if os.path.isfile(candidate):
            return candidate
    raise Refused(
        field="PATH",
        what=f"there is no Selvedge store at {path[:200]!r}",
        hint="give its file, or the folder that has .selvedge/selvedge.db.",
    )


def _rows(path: str) -> tuple[list[Row], dict[str, str]]:
    """Return the events, oldest first, and the hash that the chain has of each."""
    with tempfile.TemporaryDirectory(prefix="gitmem-") as folder:
        rows, chained = _read_rows(path, folder)
    for row in rows:
        row["metadata_from"] = _renamed_from(row["metadata"])
    return rows, chained


def _read_rows(path: str, folder: str) -> tuple[list[Row], dict[str, str]]:
    try:
        place = path
        if os.path.exists(f"{path}-wal") and not os.path.exists(f"{path}-shm"):
            # Left behind by a writer that is gone. To read it, SQLite would make a file beside it: a copy may have one.
            place = os.path.join(folder, "store.db")
            shutil.copyfile(path, place)
            shutil.copyfile(f"{path}-wal", f"{place}-wal")
        # immutable: without it SQLite writes a journal beside a store that another process left open.
        uri = f"file:{_quoted(place)}?mode=ro" + ("" if os.path.exists(f"{place}-wal") else "&immutable=1")
        db = sqlite3.connect(uri, uri=True)
        try:
            has = {name for _, name, *_ in db.execute("PRAGMA table_info(events)")}
            if not {"id", "timestamp", "entity_path", "change_type"} <= has:
                raise Refused(field="PATH", what=f"{path[:200]!r} is no Selvedge store: it has no table of events")
            wanted = ", ".join(f'"{name}"' if name in has else f"'' AS \"{name}\"" for name in _COLUMNS)
            rows = [
                {name: "" if value is None else str(value) for name, value in zip(_COLUMNS, row)}
                for row in db.execute(f"SELECT {wanted} FROM events ORDER BY timestamp, rowid")
            ]
            chained: dict[str, str] = {}
            if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'event_chain'").fetchone():
                chained = dict(db.execute("SELECT event_id, core_hash FROM event_chain WHERE event_id != ''"))
        finally:
            db.close()
    except sqlite3.Error as error:
        raise Refused(field="PATH", what=f"{path[:200]!r} can't be read as a SQLite file: {error}") from None
    except OSError as error:
        raise Refused(field="PATH", what=f"{path[:200]!r} can't be read: {error.strerror}") from None
    return rows, chained


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(os.path.abspath(path))


def _renamed_from(metadata: str) -> str:
    try:
        found = json.loads(metadata or "{}")
    except (ValueError, RecursionError):
        return ""
    name = found.get("renamed_from") if isinstance(found, dict) else None
    return name if isinstance(name, str) else ""


def _check_chain(rows: list[Row], chained: dict[str, str], pen: Pen) -> None:
    """Say of how many rows the store's own chain holds: a hash over everything but the commit."""
    import hashlib

    if not chained:
        pen.tally.warnings.append("the store has no chain: nothing shows whether its rows are as they were written.")
        return
    for row in rows:
        core = {name: row[name] for name in _COLUMNS if name != "git_commit"}
        spelt = json.dumps(core, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        if row["id"] not in chained:
            pen.tally.once("events that the store's chain doesn't know, imported all the same", row["id"])
        elif hashlib.sha256(spelt.encode("utf-8", "surrogatepass")).hexdigest() != chained[row["id"]]:
            pen.tally.once("events that say something else than the store's chain, imported all the same", row["id"])
    gone = len(set(chained) - {row["id"] for row in rows})
    if gone:
        pen.tally.warnings.append(f"the store's chain knows {gone:,} more events, which are gone from it.")


def _fields(row: Row, pen: Pen) -> dict[str, object]:
    reason = row["reasoning"].strip()
    fields: dict[str, object] = {
        "entity_path": row["entity_path"],
        "change_type": row["change_type"],
        "reasoning": reason or "Recorded in Selvedge without a reason.",
        "evidence": [
            f"selvedge:{row['id']}",
            *([f"commit:{row['git_commit']}"] if row["git_commit"] else []),
            *([f"project:{row['project']}"] if row["project"] else []),
        ],
    }
    if not reason:
        pen.tally.once("events without a reason", row["id"])
    try:
        fields["valid_from"] = dates.instant(row["timestamp"])
    except dates.BadTime:
        pen.tally.once("times that are none, taken for now", row["id"])
    if row["entity_type"] in vocabulary.ENTITY_TYPES and row["entity_type"] != "other":
        fields["entity_type"] = row["entity_type"]
    fields |= {name: row[name] for name in _TEXTS if row[name]}
    if row["diff"]:
        fields["diff"] = row["diff"][:DIFF_MAX]
    for name, check in (("revisit_after", dates.due), ("expires_when", _condition)):
        if row[name]:
            try:
                fields[name] = check(row[name])
            except (dates.BadTime, ValueError) as error:
                pen.tally.skip(f"{name} that can't be followed here ({error})", row["id"])
    return fields


def _condition(text: str) -> str:
    """Return an `expires_when` in our spelling; the grammar is Selvedge's own. Raises ValueError."""
    from gitmem.core import revisit

    if text.startswith("entity:") and text.endswith(":changes"):
        text = f"entity:{entities.canonical(text.removeprefix('entity:').removesuffix(':changes'))}:changes"
    return str(revisit.condition(text))
