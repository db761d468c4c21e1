"""markdown: a digest to commit beside the code. The same log gives the same bytes, wherever and whenever it is made.

What stands closed comes first, entity by entity, then the rest; of each decision its events, the newest first. Lessons
have a part of their own at the end. Nothing
that was recorded is markup: each text is escaped and stands in a quotation or behind a label, on lines of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from gitmem.core import characters, ids

Event = Mapping[str, object]
#: Verdicts that forbid something, the worst first.
CLOSED = ("contested", "rejected", "reverted")
LABELS = (
    ("topic", "topic"),
    ("paths", "place"),
    ("instead", "instead"),
    ("constraint", "constraint"),
    ("stale_when", "worth another look when"),
    ("expires_when", "expires when"),
    ("revisit_after", "look again after"),
    ("valid_from", "holds from"),
    ("valid_to", "holds until"),
)
HEAD = """\
# Decisions

<!-- Made by `git decisions export --format markdown`; edit the log and not this file. -->
"""


def pieces(events: Callable[[], Iterable[Event]]) -> Iterator[str]:
    """Yield the digest. `events` begins anew with each call: events by entity, scope and approach, the newest first."""
    yield HEAD
    said = False
    for title in ("Closed", "Standing", "Lessons"):
        entity: object = None
        decision: object = None
        for event in events():
            if _part(event) != title:
                continue
            if entity is None:
                yield f"\n## {title}\n"
            if title == "Lessons":
                entity, said = title, True
                yield from _event(event)
                continue
            here = (event.get("scope"), event.get("entity_path"))
            if here != entity:
                entity = here
                yield f"\n### {_name(event)}\n"
            approach = (here, event.get("approach"), event.get("verdict"), event.get("trust"))
            if approach != decision:
                decision = approach
                yield _standing(event)
            yield from _event(event)
            said = True
    if not said:
        yield "\nNothing is recorded.\n"


def _part(event: Event) -> str:
    if event.get("kind") == "lesson":
        return "Lessons"
    return "Closed" if event.get("verdict") in CLOSED else "Standing"


def _name(event: Event) -> str:
    name = line(event.get("entity_path")) or f"{line(event.get('kind'))} events"
    scope = line(event.get("scope"))
    return f"{name} (in {scope})" if scope else name


def _standing(event: Event) -> str:
    verdict = line(event.get("verdict")) or line(event.get("change_type") or event.get("kind"))
    waits = (
        ", proposed" if event.get("trust") == "proposed" else ", disputed" if event.get("trust") == "disputed" else ""
    )
    approach = line(event.get("approach"))
    return f"\n**{verdict}**{waits}" + (f": {approach}\n" if approach else "\n")


def _event(event: Event) -> Iterator[str]:
    reason = text(event.get("reasoning") or event.get("core") or event.get("reason"))
    if reason:
        yield f"\n{reason}\n"
    yield "\n"
    for name, label in LABELS:
        given = event.get(name)
        value = line(", ".join(map(str, given)) if isinstance(given, list) else given)
        if value:
            yield f"- {label}: {value}\n"
    commits = event.get("commits")
    commit = f", in {str(commits[-1])[:10]}" if isinstance(commits, list) and commits else ""
    author = line(str(event.get("author") or "").partition(" <")[0])
    what = line(event.get("change_type") or event.get("action") or event.get("kind"))
    day = str(event.get("recorded_at") or "")[:10]
    yield f"- {what} {ids.short(str(event.get('id')))}, {day}, {author}{commit}\n"


# --- text that is no markup -------------------------------------------------------------------

#: These mean something wherever they stand.
_ALWAYS = re.compile(r"[\\`*\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_])")
#: And these at the beginning of a line.
_FIRST = re.compile(r"[#+=:-]|\d{1,9}(?=[.)])")


def line(value: object) -> str:
    """Return a value as one line of Markdown that shows it and is no markup."""
    return _escaped(" ".join(_seen(str(value)).split())) if value is not None else ""


def text(value: object) -> str:
    """Return a longer text as a quotation."""
    if not value or not str(value).split():
        return ""
    rows = [_escaped(" ".join(row.split())) for row in str(value).strip().replace("\r", "\n").split("\n")]
    return "\n".join(f"> {row}".rstrip() for row in rows)


def _seen(value: str) -> str:
    return "".join(" " if c in "\n\r\t\u2028\u2029" else c for c in value)


def _escaped(row: str) -> str:
    row = "".join("\ufffd" if c in characters.INVISIBLE and c not in "\u200c\u200d\ufe0f" else c for c in row)
    row = _ALWAYS.sub(lambda found: "\\" + found[0], row)
    first = _FIRST.match(row)
    if first is None:
        return row
    end = first.end()
    return row[:end] + "\\" + row[end:] if first[0].isdigit() else "\\" + row
