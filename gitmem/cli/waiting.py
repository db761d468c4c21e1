"""The review queue as people read it: each thing that waits, with what deciding it would change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitmem.cli import entries, standings
from gitmem.cli.text import EMPTY, Line, labelled, paragraphs, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Item = Mapping[str, Any]

#: why -> what it means, in a few words
WHYS = {
    "pending": "waits for a person; it does nothing until it is ratified",
    "proposed": "proposed, and a verdict rests on it",
    "contested": "contested: two sides that did not know of each other",
    "disputed": "disputed: it stands, and blocks nothing",
    "void": "without effect",
    "quarantined": "can't be read, and is left out",
    "unsigned": "is not signed, and the policy that it names demands it",
    "relanded": "is closed, and came back",
    "due": "due for another look",
    "other": "proposed",
}


def listed(answer: Mapping[str, Any]) -> Iterator[Line]:
    from gitmem.core.reviews import RATIFIABLE

    items = answer["items"]
    if not items:
        yield Line(("nothing", "nothing waits for a person."))
        return
    yield Line(("heading", f"{summary(answer)}."), hang=4)
    for item in items:
        yield EMPTY
        yield from drawn(item)
        yield from (Line(("", "    "), ("dim", command)) for command in item["commands"])
    if any(item["why"] in RATIFIABLE for item in items):
        yield EMPTY
        command = f"git decisions review --ratify-all {answer['token']} -r WHY"
        yield Line(("dim", f"to ratify all of these that were proposed: {command}"))


def summary(answer: Mapping[str, Any]) -> str:
    """Return how long the list is, in a line: what waits and since when, and what is for another look."""
    parts = [standings.waiting(answer["waiting"], answer["oldest"])] if answer["waiting"] else []
    if answer["relanded"]:
        parts.append(f"{answer['relanded']:,} closed and back in a commit")
    if answer["due"]:
        parts.append(f"{answer['due']:,} due for another look")
    others = len(answer["items"]) - answer["waiting"] - answer["relanded"] - answer["due"]
    if others:
        parts.append(f"{plural(others, 'proposal')} that nothing hangs on")
    return "; ".join(parts)


def drawn(item: Item) -> Iterator[Line]:
    why = item["why"]
    if item["finding"]:
        found = item["finding"]
        yield Line(("id", (found["event"] or found["commit"] or "")[: entries.SHORT]), ("", f" {WHYS[why]}"), hang=4)
        yield from paragraphs(found["message"])
        return
    if item["decision"]:
        decision = item["decision"]
        approach = f" ({decision['approach']})" if decision["approach"] else ""
        yield Line(("entity", decision["entity_path"]), ("", f"{approach} is {WHYS[why]}"), hang=4)
        for side in ("closed", "open"):
            for event in item["sides"][side]:
                yield from _event(event, indent="  ")
                yield from _changes("if this is kept", item["if_kept"][event["id"]])
        return
    if item["rule"]:
        from gitmem.cli import sleeping

        yield from sleeping.rule(item["rule"], is_waiting=True)
        yield from labelled("if ratified", "it is told first, as ratified, wherever it fits")
        return
    yield from _event(item["event"])
    known = (item["effect_reason"] or "").removeprefix("waits for a person: ")  # said already
    known = f" ({known})" if known else ""
    yield Line(("", "    "), (why, f"{WHYS[why]}{known}"), hang=4)
    if item["due"]:
        for signal in item["due"]["signals"]:
            yield from labelled(signal["flag"].replace("_", " "), signal["why"])
        return
    if why not in ("void", "unsigned"):
        yield from _changes("if ratified", item["if_ratified"])
    yield from _changes("if retracted", item["if_retracted"])
    if not any(item["event"].get(field) for field in ("stale_when", "expires_when", "revisit_after")):
        if item["event"]["change_type"] == "reject":
            yield from labelled("no condition", "nothing says what would make it worth another look", style="dim")


def _event(event: Mapping[str, Any], indent: str = "") -> Iterator[Line]:
    yield Line(
        ("", indent), ("id", event["id"][: entries.SHORT]), *entries.standing(event), ("", " "),
        ("entity", entries.title(event)), hang=len(indent) + 2,
    )  # fmt: skip
    agent = f" (by {event['agent']})" if event["agent"] else ""
    by = f"{event['author']}{agent}, {event['channel']}, {entries.when(event['recorded_at'])}"
    yield Line(("dim", f"    {by}"), hang=4)
    text = entries.reason(event)
    if text:
        yield from paragraphs(text)
    for label, field in (("approach", "approach"), ("instead", "instead"), ("worth another look when", "stale_when")):
        if event[field]:
            yield from labelled(label, event[field])
    for text in event["evidence"] or ():
        yield from labelled("evidence", text)
    if event["commits"]:
        commits = ", ".join(commit[: entries.COMMIT] for commit in event["commits"])
        yield from labelled("commit", commits, style="commit")


def _changes(label: str, changes: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    said = "; ".join(_change(change) for change in changes[:5]) or "no verdict changes"
    more = f"; and {len(changes) - 5} more" if len(changes) > 5 else ""
    yield from labelled(label, said + more)


def _change(change: Mapping[str, Any]) -> str:
    approach = f" ({change['approach']})" if change["approach"] else ""
    before, after = change["before"] or "nothing", change["after"] or "nothing"
    if before == after:
        return f"{change['entity_path']}{approach}: {after}, {change['trust_before']} -> {change['trust_after']}"
    return f"{change['entity_path']}{approach}: {before} -> {after}"
