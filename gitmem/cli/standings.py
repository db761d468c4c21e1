"""Decisions and attempts as people read them: `status` and `prior`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import datetime

from gitmem.cli.entries import COMMIT, SHORT, day
from gitmem.cli.text import EMPTY, Line, Piece, labelled, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: verdict -> (sign, sign where only ASCII is safe); the worst first, as `vocabulary.VERDICTS` has them.
SIGNS = {
    "contested": ("!", "!"),
    "rejected": ("✗", "x"),
    "reverted": ("↶", "<"),
    "reopened": ("↻", "~"),
    "active": ("✓", "+"),
    "removed": ("−", "-"),
}
_COLUMN = max(map(len, SIGNS)) + 1


def status(answer: Mapping[str, Any], entity: str | None, *, unicode: bool) -> Iterator[Line]:
    """Yield the decisions on an entity and its children; without one, how the repository stands."""
    decisions = answer["decisions"]
    if entity is None:
        yield from _summary(answer)
        if decisions:
            yield EMPTY
    elif not decisions:
        yield Line(("nothing", f"nothing is recorded about {entity}."))
    at = None
    for decision in decisions:  # the order is the answer's: the worst first
        name = (decision["scope"], decision["entity_path"])
        if name != at:
            at = name
            scope = f" (in {decision['scope']})" if decision["scope"] else ""
            yield Line(("entity", decision["entity_path"]), ("dim", scope))
        yield _decision(decision, unicode=unicode)
    if entity is None:
        more = sum(answer["counts"].values()) - len(decisions)
        if decisions and more > 0:
            yield EMPTY
            yield Line(("dim", f"and {more:,} more; `git decisions status ENTITY` shows those on an entity."))


def _summary(answer: Mapping[str, Any]) -> Iterator[Line]:
    counts = answer["counts"]
    total = sum(counts.values())
    pieces: list[Piece] = [("heading", plural(total, "decision")), ("", f" from {plural(answer['events'], 'event')}")]
    for verdict in SIGNS:
        if counts.get(verdict):
            pieces += [("", ": " if len(pieces) == 2 else ", "), (verdict, f"{counts[verdict]:,} {verdict}")]
    yield Line(*pieces, hang=4)
    if answer["unlinked"]:
        yield Line(("dim", f"{plural(answer['unlinked'], 'event')} without a commit yet"))
    review = answer.get("review") or {}
    if review.get("waiting"):
        yield Line(("warning", waiting(review["waiting"], review["oldest"])), ("dim", ": git decisions review"), hang=4)


def waiting(count: int, oldest: str | None) -> str:
    """Return what waits for a person in a few words: how much, and since when."""
    if not oldest:
        return f"{plural(count, 'thing')} for a person to decide"
    days = max(0, int((time.time() - datetime.fromisoformat(oldest).timestamp()) // 86400))
    return f"{plural(count, 'thing')} for a person to decide, the oldest since {day(oldest)} ({plural(days, 'day')})"


def _decision(decision: Mapping[str, Any], *, unicode: bool) -> Line:
    verdict = decision["verdict"]
    sign = SIGNS.get(verdict, ("?", "?"))[0 if unicode else 1]
    trust = decision["trust"]
    pieces: list[Piece] = [("", "  "), (verdict, f"{sign} {verdict:<{_COLUMN}}"), ("id", decision["standing"][:SHORT])]
    pieces += [("dim", f" {day(decision.get('since'))} "), (trust, trust)]
    if decision["approach"]:
        pieces.append(("", f"  {decision['approach']}"))
    notes = []
    if decision.get("against"):
        notes.append(f"against {', '.join(id[:SHORT] for id in decision['against'])}")
    if decision.get("closed_by_parent"):
        closing = decision["closed_by_parent"]
        notes.append(f"closed above by {closing[:SHORT]}" if isinstance(closing, str) else "closed above")
    if decision.get("sealed"):
        notes.append("sealed")
    if decision.get("in_head") is False:
        notes.append("its commit is not in HEAD")
    if decision.get("reverted_by"):
        notes.append(f"its commit was reverted by {decision['reverted_by'][:COMMIT]}")
    if notes:
        pieces.append(("warning", f"  [{'; '.join(notes)}]"))
    return Line(*pieces, hang=6)


# --- prior ---

_KNOWN = {
    "yes": "known",
    "weak": "weak",
    "nothing": "nothing known",
}
#: What is told of an attempt: field, label. Both reasons: of the end, and of the attempt that it ended.
FIELDS = (
    ("reasoning", "reason"),
    ("tried_because", "it was tried because"),
    ("instead", "instead"),
    ("constraint", "constraint"),
    ("stale_when", "worth another try when"),
    ("expires_when", "expires when"),
)


def prior(answer: Mapping[str, Any], asked: str) -> Iterator[Line]:
    """Yield what was tried before: first how much is known, then each attempt."""
    known, attempts = answer["known"], answer["attempts"]
    said = _KNOWN.get(known, known)
    count = f": {plural(len(attempts), 'attempt')} on {asked}." if attempts else f" about {asked}."
    yield Line((known, said), ("", count), hang=4)
    for attempt in attempts:
        yield EMPTY
        yield from _attempt(attempt)
    if answer["hidden"]:
        yield EMPTY
        yield Line(("dim", f"{plural(answer['hidden'], 'attempt')} more, open or ended long after: --all shows all."))


def _attempt(attempt: Mapping[str, Any]) -> Iterator[Line]:
    # Labels itself as the one-line form in the JSON does; what that cuts short follows here whole.
    speaking = (attempt["closed_by"] or [attempt["attempt"] or ""])[0]
    approach = f" ({attempt['approach']})" if attempt["approach"] else ""
    trust = attempt.get("trust") or ""
    yield Line(
        ("", "["),
        (attempt["outcome"], attempt["outcome"]),
        ("", f" · {attempt['confidence']} · "),
        ("id", speaking[:SHORT]),
        ("", "] "),
        ("entity", attempt["entity_path"]),
        ("", f"{approach}, {day(attempt['when'])}"),
        *([("", ", "), (trust, trust)] if trust and trust != "ratified" else []),
        hang=4,
    )
    for field, label in FIELDS:
        if attempt[field]:
            yield from labelled(label, attempt[field])
    if attempt["superseded_by"]:
        yield from labelled("re-opened by", ", ".join(id[:SHORT] for id in attempt["superseded_by"]), style="id")
    if attempt["because"]:
        yield from labelled("shown because", attempt["because"], style="dim")
