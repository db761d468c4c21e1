"""Folders of decision records (MADR, Nygard's, log4brains), as drafts.

The entity is the record's file. What was decided is an `add` with the chosen option as its approach, in the record's
own words of why; each option that was considered and not chosen is a `reject` with its approach and what was chosen
instead. A rejected record is a `reject`; one that was superseded is reverted by the one that took its place, at that
one's time; a deprecated one is a `remove`. A record that is only proposed decides nothing, and is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gitmem.core import approach as approaches
from gitmem.core import dates
from gitmem.core.drafts import Draft
from gitmem.errors import MissingExtra
from gitmem.exporters.adr import MARK
from gitmem.importers.folder import Source
from gitmem.importers.pen import Pen, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Texts are kept up to here.
REASON_MAX = 8000
APPROACH_MAX = 300
#: A longer file is no record of a decision; Markdown's marks can take time that grows with the square of the text.
TEXT_MAX = 200_000

_STATUSES = {
    "accepted": "accepted",
    "approved": "accepted",
    "adopted": "accepted",
    "decided": "accepted",
    "done": "accepted",
    "implemented": "accepted",
    "active": "accepted",
    "amended": "accepted",
    "rejected": "rejected",
    "declined": "rejected",
    "withdrawn": "rejected",
    "deprecated": "deprecated",
    "obsolete": "deprecated",
    "retired": "deprecated",
    "superseded": "superseded",
    "superceded": "superseded",
    "replaced": "superseded",
    "proposed": "proposed",
    "draft": "proposed",
    "pending": "proposed",
    "open": "proposed",
    "wip": "proposed",
}
_FIELD = re.compile(r"^\W*(status|date|superseded[ -]by|supersedes)\W*:\s*(.+)$", re.IGNORECASE)
_CHOSEN = re.compile(r"chosen\s+(?:option|alternative|solution)s?\s*:?\s*(.*)", re.IGNORECASE | re.DOTALL)
_BECAUSE = re.compile(r"\bbecause\b[:\s]*(.*)", re.IGNORECASE | re.DOTALL)
#: Bounded, so that a text of nothing but brackets is not looked through from each of them to its end.
_LINK = re.compile(r"\[([^\[\]]{0,300})\]\(([^()]{0,1000})\)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBERED = re.compile(r"^(?:ADR[- ]?)?\d+[.:)]?\s+(?:[-–—]\s+)?")
_NUMBER = re.compile(r"^(?:adr[-_ ]?)?(\d+)")


class Record:
    """One decision record, as read."""

    __slots__ = (
        "because",
        "chosen",
        "date",
        "name",
        "options",
        "source",
        "status",
        "superseded_by",
        "supersedes",
        "title",
    )

    def __init__(self, source: Source) -> None:
        self.source = source
        self.name = source.name.rpartition("/")[2].lower()
        self.title = ""
        self.status = ""
        self.date = ""
        self.chosen = ""
        self.because = ""
        self.options: list[tuple[str, str]] = []
        self.superseded_by: list[str] = []
        self.supersedes: list[str] = []

    @property
    def time(self) -> str:
        return self.date or self.source.time

    @property
    def number(self) -> int | None:
        found = _NUMBER.match(self.name)
        return int(found.group(1)) if found else None


#: What a record is begun from (`template.md`, `adr-template-bare.md`, `0000-template.md`) decides nothing.
_TEMPLATE = re.compile(r"(?:0+-)?(?:m?adr-|decision-(?:record-)?)?template(?:-(?:bare|long|minimal|short))*\.")


def fits(path: str) -> bool:
    """Say whether the file at `path` may be a record."""
    lower = path.rpartition("/")[2].lower()
    is_record = lower not in ("readme.md", "index.md") and not _TEMPLATE.match(lower)
    return is_record and lower.endswith((".md", ".markdown"))


def read(files: Iterable[Source], pen: Pen, dialect: str = "") -> Iterator[Draft]:
    """Yield the drafts of a folder of records. Raises MissingExtra where the Markdown reader isn't installed."""
    records: list[Record] = []
    for source in files:
        if f"\n{MARK}" in source.text:  # `export` made it of what the log knows
            pen.tally.saw("records of gitmem's own")
            continue
        if len(source.text) > TEXT_MAX:
            pen.tally.skip("Markdown files over 200 KB", source.name)
            continue
        record = parsed(source)
        if record is None:
            pen.tally.skip("Markdown files that are no decision records", source.name)
        else:
            pen.tally.saw("records")
            records.append(record)
    replaced = _graph(records, pen)
    for record in records:
        yield from _drafts(record, replaced.get(id(record)), pen)


def _drafts(record: Record, by: Record | None, pen: Pen) -> Iterator[Draft]:
    name, status = record.source.name, record.status
    if status == "proposed":
        pen.tally.skip("records that are only proposed", name)
        return
    if not status:
        pen.tally.once("records without a status, taken as accepted", name)
    chosen = (record.chosen or record.title)[:APPROACH_MAX]
    closed = status == "rejected"
    role = "rejected" if closed else "decision"
    yield from _draft(
        record, role, "reject" if closed else "add", chosen, record.because or record.title, record.time, pen
    )
    mine = approaches.key(chosen)
    for option, text in record.options:
        if approaches.key(option) == mine or (record.chosen and _same(option, record.chosen)):
            continue
        reason = text or f"Considered in “{record.title}”, and not chosen."
        extra = {} if closed else {"instead": chosen}
        yield from _draft(record, "option", "reject", option[:APPROACH_MAX], reason, record.time, pen, extra)
    if by is not None:
        later = max(by.time, _after(record.time))
        reason = f"Superseded by “{by.title}”." + (f" {by.because}" if by.because else "")
        extra = {"instead": (by.chosen or by.title)[:APPROACH_MAX]}
        yield from _draft(record, "superseded", "revert", chosen, reason, later, pen, extra)
    elif status == "superseded":
        pen.tally.once("records that don't say by what they were superseded", name)
        yield from _draft(record, "superseded", "revert", chosen, "Superseded.", _after(record.time), pen)
    elif status == "deprecated":
        yield from _draft(record, "deprecated", "remove", chosen, "Deprecated.", _after(record.time), pen)


def _draft(
    record: Record,
    role: str,
    change: str,
    approach: str,
    reason: str,
    time: str,
    pen: Pen,
    extra: dict[str, object] | dict[str, str] | None = None,
) -> Iterator[Draft]:
    name, commit = record.source.name, record.source.commit
    fields: dict[str, object] = {
        "entity_path": name,
        "entity_type": "file",
        "change_type": change,
        "approach": approach,
        "reasoning": reason[:REASON_MAX],
        "valid_from": time,
        "evidence": [f"file:{name}", *([f"commit:{commit}"] if commit else [])],
        **(extra or {}),
    }
    # By what is said and not by its place: a record that says more later, or something else, brings that in.
    said = named(approaches.total_key(approach))
    yield from pen.change(f"adr:{named(record.source.origin)}:{role}:{said}", f"{name} ({role})", fields)


def _after(time: str) -> str:
    """Return the moment after `time`: what ends something comes after it, whatever the dates say to the day."""
    from datetime import datetime, timedelta

    return (datetime.fromisoformat(time) + timedelta(microseconds=1)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _same(option: str, chosen: str) -> bool:
    """Say whether a list names the chosen option in other words: one of them begins with the other."""
    one, two = " ".join(option.lower().split()), " ".join(chosen.lower().split())
    return min(len(one), len(two)) >= 4 and (one.startswith(two) or two.startswith(one))


def _graph(records: list[Record], pen: Pen) -> dict[int, Record]:
    """Return what took each superseded record's place, by either one's word."""
    by_name = {record.name: record for record in records}
    by_number = {record.number: record for record in records if record.number is not None}

    def meant(words: str) -> Record | None:
        for _, target in _LINK.findall(words):
            found = by_name.get(target.partition("#")[0].rpartition("/")[2].lower())
            if found:
                return found
        bare = words.strip(" .`'\"").lower()
        found = by_name.get(bare) or by_name.get(f"{bare}.md")
        digits = re.search(r"\d+", bare)
        return found or (by_number.get(int(digits.group())) if digits and len(digits.group()) < 8 else None)

    replaced: dict[int, Record] = {}
    for record in records:
        for words in record.superseded_by:
            later = meant(words)
            if later is None or later is record:
                pen.tally.once("records superseded by one that isn't here", record.source.name)
            else:
                replaced[id(record)] = later
        for words in record.supersedes:
            earlier = meant(words)
            if earlier is not None and earlier is not record:
                replaced.setdefault(id(earlier), record)
    return replaced


# --- reading one ------------------------------------------------------------------------------


def parsed(source: Source) -> Record | None:
    """Return the record that `source` is, or None where it is none: it has a title, and a status or a decision."""
    front, text = _front_matter(source.text)
    record = Record(source)
    sections = _sections(text)
    if not sections:
        return None
    title = sections[0].title
    record.title = _NUMBERED.sub("", title).strip() or title
    for line in front:
        _field(record, line)
    for section in sections:
        _section(record, section)
    is_record = bool(record.status or record.chosen or record.options)
    return record if is_record and record.title else None


class Section:
    """A heading and what stands below it, up to the next: paragraphs and items, as plain text."""

    __slots__ = ("items", "level", "paragraphs", "title", "within")

    def __init__(self, level: int, title: str, within: str) -> None:
        self.level = level
        self.title = title
        self.within = within
        self.paragraphs: list[str] = []
        self.items: list[str] = []


def _front_matter(text: str) -> tuple[list[str], str]:
    lines = text.splitlines()
    if lines[:1] == ["---"]:
        for at, line in enumerate(lines[1:], 1):
            if line.strip() in ("---", "..."):
                return lines[1:at], "\n".join(lines[at + 1 :])
    return [], text


def _sections(text: str) -> list[Section]:
    try:
        from markdown_it import MarkdownIt
    except ModuleNotFoundError:
        raise MissingExtra(what="reading decision records", extra="import") from None
    sections: list[Section] = []
    tokens: list[Any] = MarkdownIt("commonmark").parse(text)
    above: dict[int, str] = {}
    depth = 0
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            level = int(token.tag[1:])
            title = " ".join(tokens[at + 1].content.split())
            above = {one: name for one, name in above.items() if one < level}
            sections.append(Section(level, title, above.get(max(above), "") if above else ""))
            above[level] = title
        elif token.type == "list_item_open":
            depth += 1
            if sections and depth == 1:
                sections[-1].items.append("")
        elif token.type == "list_item_close":
            depth -= 1
        elif token.type == "inline" and sections and tokens[at - 1].type == "paragraph_open":
            said = token.content.strip()
            if depth:
                items = sections[-1].items
                items[-1] = f"{items[-1]}\n{said}" if items[-1] else said
            else:
                sections[-1].paragraphs.append(said)
        elif token.type in ("fence", "code_block") and sections and not depth:
            sections[-1].paragraphs.append(token.content.strip())
    return sections


def _section(record: Record, section: Section) -> None:
    title = section.title.lower()
    lines = [line for part in (*section.paragraphs, *section.items) for line in part.splitlines()]
    if section.level == 1 or title in ("metadata", "meta"):
        for line in lines:
            _field(record, line)
    if title == "status":
        for line in lines:
            if not _field(record, line):
                _status(record, line)
    elif title == "date" and lines:
        _field(record, f"date: {lines[0]}")
    elif re.match(r"(considered )?(options|alternatives)( considered)?$", title):
        record.options += [(_plain(_first(item)), _rest(item)) for item in section.items]
    elif title in ("decision outcome", "decision", "outcome"):
        _outcome(record, "\n\n".join([*section.paragraphs, *section.items]))
    elif re.match(r"pros and cons of the (options|alternatives)", section.within.lower()):
        said = "\n".join([*section.paragraphs, *(f"- {item}" for item in section.items)])
        name = _plain(section.title)
        for at, (option, text) in enumerate(record.options):
            if _same(option, name):
                record.options[at] = (option, f"{text}\n{said}".strip())
                return
        record.options.append((name, said.strip()))


def _field(record: Record, line: str) -> bool:
    found = _FIELD.match(line.strip())
    if not found:
        return False
    name, value = found.group(1).lower().replace("-", " "), found.group(2).strip().strip("\"'")
    if name == "status":
        _status(record, value)
    elif name == "date":
        day = _DATE.search(value)
        if day:
            try:
                record.date = dates.instant(day.group())
            except dates.BadTime:
                pass
    elif name == "superseded by":
        record.superseded_by.append(value)
        record.status = "superseded"
    else:
        record.supersedes.append(value)
    return True


def _status(record: Record, line: str) -> None:
    words = _plain(line).lower()
    first = re.match(r"\W*([a-z]+)", words)
    known = _STATUSES.get(first.group(1)) if first else None
    if known:
        record.status = known if record.status != "superseded" else "superseded"
    if re.search(r"\bsuper[sc]eded\b|\breplaced\b", words):
        record.status = "superseded"
        _, _, by = re.sub(r"\s+", " ", line).partition("by ")
        if by.strip():
            record.superseded_by.append(by.strip())
    elif re.search(r"\bsuper[sc]edes\b|\breplaces\b", words):
        record.supersedes.append(line)


def _outcome(record: Record, text: str) -> None:
    found = _CHOSEN.search(text)
    if not found:
        record.because = record.because or _plain(text)
        return
    said = found.group(1).strip()
    quoted = re.match(r"[\"“*_`']+(.+?)[\"”*_`']+(?=[\s,;:.–—-]|$)", said[:APPROACH_MAX])
    split = _BECAUSE.search(said)
    if quoted:
        record.chosen = _plain(quoted.group(1))
    else:
        record.chosen = _plain(re.split(r"[,.;\n]|\bbecause\b", said, maxsplit=1)[0])
    record.because = _plain(split.group(1) if split else text)


def _first(item: str) -> str:
    head = item.partition("\n")[0]
    return re.split(r"\s[-–—]\s|:\s", head, maxsplit=1)[0]


def _rest(item: str) -> str:
    head, _, below = item.partition("\n")
    parts = re.split(r"\s[-–—]\s|:\s", head, maxsplit=1)
    return "\n".join(part for part in (parts[1].strip() if len(parts) > 1 else "", below.strip()) if part)


def _plain(text: str) -> str:
    """Return Markdown without its marks: links by their words, no emphasis, no code ticks."""
    text = _LINK.sub(lambda link: link.group(1), text)
    return re.sub(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}", "", text).strip()
