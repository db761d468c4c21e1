"""Capture: what a hook saw, and whether it is worth a lesson. Pure, and integers only.

A hook sees three things by themselves: a commit that takes another one back, a stop that a person let pass, a test
that fails. Its text is a sentence that stands there already; nothing is reworded, and nothing is guessed from the mood
of words. What the score brings over the policy's bar becomes a lesson, proposed; the rest waits in the inbox of this
clone. What a person or an agent states is never weighed.
"""

from __future__ import annotations

from gitmem.core.events import LINE_MAX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gitmem.core.lessons.policies import Policy

REVERT, OVERRIDE, FAILURE = "revert", "override", "failure"
SOURCES = (REVERT, OVERRIDE, FAILURE)
#: What they are to people.
TOLD = {REVERT: "a commit was taken back", OVERRIDE: "a stop was let pass", FAILURE: "a test failed"}

_ENDS = ".!?"
_ENDS_ALONE = "。！？"
_CLOSING = "\"')]»”’」』）"


class Capture:
    """What a hook saw.

    source    one of SOURCES
    core      the sentence, as it stood where it was seen
    paths     what it is about: entity paths
    evidence  where it was seen: `commit:OID`, `event:ID`
    times     in how many commits, sessions or days it was seen
    is_bare   of a revert: its message gives no reason of its own
    """

    __slots__ = ("core", "evidence", "is_bare", "paths", "source", "times")

    def __init__(
        self,
        source: str,
        core: str,
        *,
        paths: Iterable[str] = (),
        evidence: Iterable[str] = (),
        times: int = 1,
        is_bare: bool = False,
    ) -> None:
        self.source = source
        self.core = core
        self.paths = list(paths)
        self.evidence = list(evidence)
        self.times = times
        self.is_bare = is_bare


class Part:
    """One part of a score: what it was found to be (0 to 100), its weight in percent, and what that comes to."""

    __slots__ = ("name", "points", "value", "weight")

    def __init__(self, name: str, value: int, weight: int) -> None:
        self.name = name
        self.value = value
        self.weight = weight
        self.points = -(value * -weight // 100) if weight < 0 else value * weight // 100

    def __str__(self) -> str:
        return f"{self.name} {self.value} × {self.weight} % = {self.points}"


class Score:
    """What a capture is worth: its parts, their sum, and the bar that it has to reach."""

    __slots__ = ("bar", "parts", "total")

    def __init__(self, parts: Iterable[Part], bar: int) -> None:
        self.parts = list(parts)
        self.bar = bar
        self.total = max(0, sum(part.points for part in self.parts))

    @property
    def at_best(self) -> int:
        """What it would come to with its files in hand."""
        best = [Part(part.name, 100, part.weight) if part.name == "nearness" else part for part in self.parts]
        return Score(best, self.bar).total

    @property
    def passes(self) -> bool:
        return self.total >= self.bar


def score(capture: Capture, policy: Policy, *, known: int, waiting: int, in_hand: Collection[str]) -> Score:
    """Return what a capture is worth.

    known    how like it the most alike of the lessons is, in percent
    waiting  how like it the most alike of what else waits in the inbox is
    in_hand  the files that are being worked on: those of the commit, or what was changed
    """
    parts = (
        Part("severity", severity(capture, policy), policy.capture_severity),
        Part("novelty", 100 - known, policy.capture_novelty),
        Part("nearness", nearness(capture.paths, in_hand, policy), policy.capture_nearness),
        Part("reuse", min(100, policy.capture_again * (capture.times - 1)), policy.capture_reuse),
        Part("redundancy", waiting, -policy.capture_redundancy),
    )
    return Score(parts, policy.capture_bar)


def severity(capture: Capture, policy: Policy) -> int:
    """Return what the kind of a capture weighs by itself."""
    if capture.source == REVERT:
        return policy.severity_bare if capture.is_bare else policy.severity_revert
    return policy.severity_override if capture.source == OVERRIDE else policy.severity_failure


def outcome(capture: Capture, policy: Policy) -> int:
    """Return how it turned out, by what was seen: what was taken back did not hold, nor what failed."""
    known = {REVERT: policy.outcome_revert, FAILURE: policy.outcome_failure}
    return known.get(capture.source, 0)


def nearness(paths: Iterable[str], in_hand: Collection[str], policy: Policy) -> int:
    """Return how near some entity paths are to the files in hand, in percent."""
    files = {file.casefold() for file in in_hand}
    folders = {file.rpartition("/")[0] for file in files}
    found = 0
    for path in paths:
        file = path.partition("::")[0].casefold()
        if file in files:
            return 100
        if file.rpartition("/")[0] in folders:
            found = policy.capture_beside
    return found


def sentence(text: str) -> str:
    """Return the first sentence of a text as it stands there, on one line; cut where it is too long for a lesson."""
    paragraph: list[str] = []
    for line in text.split("\n"):
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            break
    words = " ".join(" ".join(paragraph).split())
    return cut(words[: _end(words)])


def cut(line: str) -> str:
    """Return a line of at most `LINE_MAX` characters, cut between words where it can be."""
    if len(line) <= LINE_MAX:
        return line
    head, _, _ = line[:LINE_MAX].rpartition(" ")
    kept = head if len(head) > LINE_MAX // 2 else line[: LINE_MAX - 1]
    return kept.rstrip()[: LINE_MAX - 1] + "…"


def _end(words: str) -> int:
    """Return where the first sentence of a line ends: after a stop that something other than a small letter follows."""
    for at, character in enumerate(words):
        if character in _ENDS_ALONE:
            return _closed(words, at + 1)
        if character in _ENDS:
            end = _closed(words, at + 1)
            rest = words[end : end + 2]
            if not rest or (rest[0] == " " and not rest[1:].islower()):
                return end
    return len(words)


def _closed(words: str, at: int) -> int:
    while at < len(words) and words[at] in _CLOSING:
        at += 1
    return at
