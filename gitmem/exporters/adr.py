"""adr: one MADR file for each decision, named so that the name stays.

A decision is one approach to one entity. Its file tells how it stands, why, what was chosen instead, and what happened
to it, the newest event first. The name is made of the entity, the approach, and the id of
its oldest event. Lessons have no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitmem.core import ids
from gitmem.exporters.markdown import line, text

Event = Mapping[str, object]
#: How the first lines of our files are known again, so that no other is ever taken away.
MARK = "<!-- Made by `git decisions export --format adr`"
#: How MADR says how a decision stands.
STATUS = {
    "active": "accepted",
    "reopened": "accepted",
    "rejected": "rejected",
    "reverted": "rejected",
    "removed": "deprecated",
    "contested": "proposed",
}


def files(events: Iterable[tuple[object, Event]]) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of each decision, from events by decision, the newest first, each with what tells it apart."""
    group: list[Event] = []
    decision: object = None
    for which, event in events:
        if event.get("kind") == "lesson":
            continue  # an experience is no decision
        if group and which != decision:
            yield _name(group), _file(group)
            group = []
        decision = which
        group.append(event)
    if group:
        yield _name(group), _file(group)


def _name(group: Sequence[Event]) -> str:
    first = group[0]
    words = "-".join(filter(None, (_slug(first.get("entity_path"), 40), _slug(first.get("approach"), 40))))
    return f"{words or 'decision'}-{ids.short(str(group[-1]['id']))}.md"


def _slug(value: object, most: int) -> str:
    kept = "".join(c if c.isalnum() and c.isascii() else " " for c in str(value or "").lower())
    return "-".join(kept.split())[:most].strip("-")


def _file(group: Sequence[Event]) -> str:
    # What closes or opens decides; a supersede or a rename only leads there.
    speaking = next((one for one in group if one.get("verdict")), group[0])
    verdict = str(speaking.get("verdict") or "")
    entity, approach = line(speaking.get("entity_path")), line(speaking.get("approach"))
    status = STATUS.get(verdict, "proposed" if speaking.get("trust") == "proposed" else "accepted")
    superseded = speaking.get("superseded_by")
    if isinstance(superseded, list) and superseded:
        status = f"superseded by {', '.join(ids.short(str(one)) for one in superseded)}"
    people = dict.fromkeys(line(str(one.get("author") or "").partition(" <")[0]) for one in group)
    out = [
        "---",
        f'status: "{status}"',
        f"date: {str(speaking.get('valid_from') or speaking.get('recorded_at'))[:10]}",
        f"decision-makers: {_quoted(', '.join(people))}",
        "---",
        f"{MARK}; edit the log and not this file. -->",
        "",
        f"# {entity}: {approach}" if approach else f"# {entity}",
        "",
        "## Context and Problem Statement",
        "",
        text(group[-1].get("reasoning")) or "Nothing is said.",
        "",
    ]
    options = [one for one in (approach, line(speaking.get("instead"))) if one]
    if options:
        out += ["## Considered Options", "", *(f"* {one}" for one in options), ""]
    out += ["## Decision Outcome", "", f"{entity}: **{verdict or line(speaking.get('change_type'))}**.", ""]
    if speaking is not group[-1]:
        out += [text(speaking.get("reasoning")), ""]
    if speaking.get("instead"):
        out += [f'Chosen instead: "{line(speaking["instead"])}".', ""]
    conditions = [
        f"* {label}: {line(speaking[name])}"
        for name, label in (
            ("constraint", "Any solution has to meet"),
            ("stale_when", "Worth another look when"),
            ("expires_when", "Expires when"),
            ("revisit_after", "Look again after"),
        )
        if speaking.get(name)
    ]
    if conditions:
        out += ["### Confirmation", "", *conditions, ""]
    out += ["## More Information", ""]
    for one in group:
        what = line(one.get("change_type"))
        day = str(one.get("recorded_at"))[:10]
        author = line(str(one.get("author") or "").partition(" <")[0])
        out.append(f"* {day} {what} `{ids.short(str(one['id']))}` by {author}, {line(one.get('trust'))}")
    return "\n".join(out) + "\n"


def _quoted(value: str) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
