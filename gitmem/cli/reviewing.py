"""Reviews and marks: hand in the draft, say what was stored; and the queue, as a list or one by one.

One by one only where a person sits: a terminal on stdin and on stdout, and a channel that is a person's. After each
answer the queue is read again, since one decision may settle or raise others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from gitmem import presenters
from gitmem.cli import entries, standings
from gitmem.cli.recording import reason
from gitmem.cli.terminal import Io
from gitmem.cli.text import EMPTY, Line, Piece, labelled, paragraphs, plural
from gitmem.core.drafts import Draft
from gitmem.errors import GitmemError, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.cases.results import Recorded
    from gitmem.memory import Memory

    Item = Mapping[str, Any]

#: why -> what it means, in a few words
WHYS = {
    "pending": "waits for a person; it does nothing until it is ratified",
    "proposed": "proposed, and a verdict rests on it",
    "contested": "contested: two sides that did not know of each other",
    "disputed": "disputed: it stands, and blocks nothing",
    "void": "without effect",
    "quarantined": "can't be read, and is left out",
    "other": "proposed",
}


# --- one command, one event ------------------------------------------------------------------


def ratify(memory: Memory, io: Io, **options: Any) -> int:
    return _review(memory, io, "ratify", **options)


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
    return _said(io, memory.record(draft, dry_run=dry_run), as_json=as_json)


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
    return _said(io, memory.record(Draft("mark", fields), dry_run=dry_run), as_json=as_json)


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
    return _said(io, result, as_json=as_json)


def resolve(
    memory: Memory,
    io: Io,
    *,
    entity: str,
    keep: str | None,
    reasoning: Sequence[str],
    file: str | None,
    sign: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    if keep is None:
        raise Usage(what="resolve needs the event of the side that shall hold: --keep ID", command="resolve")
    result = memory.resolve(entity, keep, reason(io, reasoning, file, "resolve"), sign=sign, dry_run=dry_run)
    return _said(io, result, as_json=as_json)


def _said(io: Io, result: Recorded, *, as_json: bool) -> int:
    answer: dict[str, Any] = presenters.record(result)
    if as_json:
        io.answer(answer)
    else:
        io.show(_stored(answer["events"], dry_run=result.dry_run))
    for warning in result.warnings:
        io.warn(warning)
    return 0


def _stored(events: Sequence[Mapping[str, Any]], *, dry_run: bool) -> Iterator[Line]:
    for event in events:
        begins: tuple[Piece, ...] = (("dim", "would append "),)
        if not dry_run:
            begins = (("id", event["id"][: entries.SHORT]), ("", " "))
        effect = event["effect"]
        ends: tuple[Piece, ...] = ((effect, f" ({effect})"),) if effect != "applied" else ()
        yield Line(*begins, ("entity", entries.title(event)), *ends)


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
        return _said(io, memory.ratify_all(ratify_all, why, sign=sign, dry_run=dry_run, **asked), as_json=as_json)
    if reasoning or file is not None or dry_run:
        raise Usage(what="a reason and --dry-run are for --ratify-all", command="review")
    if not as_json and _is_attended(io) and memory.is_person:
        return _Walk(memory, io, asked, sign=sign).go()
    answer: dict[str, Any] = presenters.review(memory.review(**asked))
    if as_json:
        io.answer(answer)
    else:
        io.show(_listed(answer), paged=True)
    for notice in memory.notices():
        io.warn(notice)
    return 0


def _is_attended(io: Io) -> bool:
    return bool(io.out.isatty() and sys.stdin and sys.stdin.isatty())


def _listed(answer: Mapping[str, Any]) -> Iterator[Line]:
    from gitmem.core.reviews import RATIFIABLE

    items = answer["items"]
    if not items:
        yield Line(("nothing", "nothing waits for a person."))
        return
    yield Line(("heading", f"{standings.waiting(answer['waiting'], answer['oldest'])}."))
    for item in items:
        yield EMPTY
        yield from _drawn(item)
        yield from (Line(("", "    "), ("dim", command)) for command in item["commands"])
    if any(item["why"] in RATIFIABLE for item in items):
        yield EMPTY
        command = f"git decisions review --ratify-all {answer['token']} -r WHY"
        yield Line(("dim", f"to ratify all of these that were proposed: {command}"))


def _drawn(item: Item) -> Iterator[Line]:
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
    yield from _event(item["event"])
    known = f" ({item['effect_reason']})" if item["effect_reason"] else ""
    yield Line(("", "    "), (why, f"{WHYS[why]}{known}"), hang=4)
    if why != "void":
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


# --- one by one ------------------------------------------------------------------------------

#: action -> what may be typed for it, and how it is asked. A dispute leaves the event in sight; a retract does not.
_ANSWERS = {
    "ratify": ("r", "[r]atify"),
    "dispute": ("d", "[d]ispute (it stays, labelled)"),
    "retract": ("t", "re[t]ract (it is taken back)"),
}
#: What is read where nobody types any more.
_ENDED = "quit"


class _Walk:
    """Goes through the queue with a person."""

    def __init__(self, memory: Memory, io: Io, asked: Mapping[str, bool], *, sign: bool) -> None:
        self.memory = memory
        self.sign = sign
        self.io = io
        self.asked = asked
        self.seen: set[tuple[str, ...]] = set()
        self.decided = 0

    def go(self) -> int:
        while True:
            answer: dict[str, Any] = presenters.review(self.memory.review(**self.asked))
            left = [item for item in answer["items"] if _key(item) not in self.seen]
            if not left:
                return self._end()
            item = left[0]
            self.seen.add(_key(item))
            self.io.show([EMPTY, Line(("heading", f"{plural(len(left), 'thing')} left to look at")), EMPTY])
            self.io.show(_drawn(item))
            if not self._decide(item):
                return self._end()

    def _end(self) -> int:
        waiting = presenters.review(self.memory.review(**self.asked))["waiting"]
        self.io.show([EMPTY, Line(("", f"{plural(self.decided, 'decision')} made, {waiting} still waiting."))])
        return 0

    def _decide(self, item: Item) -> bool:
        """Ask about one item and do what is answered; False to stop."""
        choices, asked = _choices(item)
        while True:
            word = self._ask(f"{asked} ").strip().lower()
            if word in ("q", _ENDED):
                return False
            if word in ("", "l", "later"):
                return True
            act = choices.get(word)
            if act is None:
                continue
            why = self._ask("why? ").strip()
            if not why:
                self.io.warn("a decision needs a reason; nothing was written.")
                continue
            try:
                self._tell(act(self.memory, why, self.sign))
            except GitmemError as error:
                self.io.warn(f"{error.message} {error.advice}".rstrip())
                continue
            return True

    def _tell(self, result: Recorded) -> None:
        self.decided += 1
        _said(self.io, result, as_json=False)

    def _ask(self, question: str) -> str:
        """Return a line that was typed; the end of input is a wish to stop."""
        self.io.out.write(question)
        self.io.out.flush()
        typed = sys.stdin.readline()
        return typed or _ENDED


def _key(item: Item) -> tuple[str, ...]:
    if item["decision"]:
        return (item["decision"]["entity_path"], item["decision"]["approach"], *item["if_kept"])
    return (item["event"]["id"] if item["event"] else item["finding"]["message"], item["why"])


Act = Callable[["Memory", str, bool], "Recorded"]


def _choices(item: Item) -> tuple[dict[str, Act], str]:
    """Return what may be typed for an item, and the question."""
    ends = "[l]ater, [q]uit?"
    if item["finding"]:
        return {}, ends
    if item["decision"]:
        kept = {str(number): _keeping(item, one) for number, one in enumerate(item["if_kept"], 1)}
        asked = ", ".join(f"[{number}] keep {one[: entries.SHORT]}" for number, one in enumerate(item["if_kept"], 1))
        return kept, f"{asked}, {ends}"
    words = ("dispute", "retract") if item["why"] == "void" else ("ratify", "dispute", "retract")
    choices: dict[str, Act] = {}
    for word in words:
        choices[_ANSWERS[word][0]] = choices[word] = _reviewing(item, word)
    return choices, f"{', '.join(_ANSWERS[word][1] for word in words)}, {ends}"


def _reviewing(item: Item, action: str) -> Act:
    def act(memory: Memory, why: str, sign: bool) -> Recorded:
        fields: dict[str, object] = {"action": action, "targets": [item["event"]["id"]], "reason": why}
        return memory.record(Draft("review", fields, sign=sign))

    return act


def _keeping(item: Item, kept: str) -> Act:
    def act(memory: Memory, why: str, sign: bool) -> Recorded:
        return memory.resolve(f":/{item['decision']['entity_path']}", kept, why, sign=sign)

    return act
