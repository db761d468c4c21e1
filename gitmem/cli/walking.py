"""The review queue one by one, with a person at the terminal.

Each thing is shown and asked about; each answer needs a reason, and is written before the next question. After each
the queue is read again, since one decision may settle or raise others. Whoever stops, with `q`, the end of input or
Ctrl-C, stops between two whole decisions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from gitmem import presenters
from gitmem.cli import editing, entries, waiting
from gitmem.cli.recording import said
from gitmem.cli.terminal import Io
from gitmem.cli.text import EMPTY, Line, plural
from gitmem.core.drafts import Draft
from gitmem.errors import GitmemError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.cases.results import Recorded
    from gitmem.memory import Memory

    Item = Mapping[str, Any]
    Action = Mapping[str, Any]
    Act = Callable[[str], Recorded]

#: action -> what may be typed for it, and how it is asked. A dispute leaves the event in sight; a retract does not.
_ANSWERS = {
    "ratify": ("r", "[r]atify"),
    "edit": ("e", "[e]dit and ratify"),
    "dispute": ("d", "[d]ispute (it stays, labelled)"),
    "retract": ("t", "re[t]ract (it is taken back)"),
    "reject": ("x", "reject (close this approach) [x]"),
    "supersede": ("s", "[s]upersede (re-open it)"),
    "accept": ("a", "[a]ccept it as it is"),
}
_ENDS = "[l]ater, [q]uit?"


class Ended(Exception):
    """Nobody types any more."""


class Back(Exception):
    """The person went back to the question; the text says why, or is empty."""


class Walk:
    """Goes through the queue. `asked` is what `Memory.review` is asked; `sign`: sign each decision."""

    def __init__(self, memory: Memory, io: Io, asked: Mapping[str, bool], *, sign: bool) -> None:
        self.memory = memory
        self.io = io
        self.asked = asked
        self.sign = sign
        self.seen: set[tuple[str, ...]] = set()
        self.decided = 0
        self.text = ""  # what an editor was left with, and the rules refused

    def go(self) -> int:
        try:
            while item := self._next():
                if not self._decide(item):
                    break
        except Ended:
            self.io.show([EMPTY])
        except KeyboardInterrupt:
            self.io.show([EMPTY])
            self._end()
            raise
        if not self.seen:
            self.io.show([Line(("nothing", "nothing waits for a person."))])
            return 0
        return self._end()

    def _next(self) -> Item | None:
        """Show the next thing that wasn't shown yet, and return it."""
        answer: dict[str, Any] = presenters.review(self.memory.review(**self.asked))
        left: list[Item] = [item for item in answer["items"] if _key(item) not in self.seen]
        if not left:
            return None
        self.seen.add(_key(left[0]))
        self.text = ""
        self.io.show([EMPTY, Line(("heading", f"{plural(len(left), 'thing')} left to look at")), EMPTY])
        self.io.show(waiting.drawn(left[0]))
        return left[0]

    def _end(self) -> int:
        left = presenters.review(self.memory.review(**self.asked))["waiting"]
        self.io.show([EMPTY, Line(("", f"{plural(self.decided, 'decision')} made, {left} still waiting."))])
        return 0

    def _decide(self, item: Item) -> bool:
        """Ask about one thing and do what is answered; False to stop."""
        choices, asked = self._choices(item)
        while True:
            word = self._ask(f"{asked} ").lower()
            if word in ("q", "quit"):
                return False
            if word in ("", "l", "later"):
                return True
            begin = choices.get(word)
            if begin is None:
                continue
            try:
                act = begin()
                why = self._ask("why? ")
                if not why:
                    raise Back("a decision needs a reason; nothing was written.")
                result = act(why)
            except Back as back:
                if str(back):
                    self.io.warn(str(back))
                continue
            except GitmemError as error:
                self.io.warn(f"{error.message} {error.advice}".rstrip())
                continue
            self.decided += 1
            said(self.io, result, as_json=False)
            return True

    def _ask(self, question: str) -> str:
        """Return what was typed. Raises Ended at the end of input."""
        self.io.out.write(question)
        self.io.out.flush()
        typed = sys.stdin.readline()
        if not typed.endswith("\n"):
            raise Ended  # half a line is no answer either
        return typed.strip()

    # --- what may be answered ----------------------------------------------------------------

    def _choices(self, item: Item) -> tuple[dict[str, Callable[[], Act]], str]:
        """Return what may be typed for a thing, with what begins it, and the question."""
        choices: dict[str, Callable[[], Act]] = {}
        asked: list[str] = []
        kept = 0
        for action in item["actions"]:
            word, one = action["do"], action["id"]
            if word == "keep":
                kept += 1
                choices[str(kept)] = self._keeping(item, one)
                asked.append(f"[{kept}] keep {one[: entries.SHORT]}")
            elif word == "both":
                choices["b"] = choices["both"] = self._keeping_both(item)
                if "[b]oth" not in asked:
                    asked.append("[b]oth")
            elif word in _ANSWERS:
                letter, told = _ANSWERS[word]
                choices.setdefault(letter, self._doing(item, word, one))
                choices.setdefault(word, choices[letter])
                if told not in asked:
                    asked.append(told)
        return choices, ", ".join([*asked, _ENDS])

    def _doing(self, item: Item, word: str, one: str) -> Callable[[], Act]:
        if word == "edit":
            return lambda: self._editing(item, one)
        if word == "reject":
            return lambda: self._rejecting(item)
        if word == "supersede":
            return lambda: lambda why: self._record("change", change_type="supersede", supersedes=[one], reasoning=why)
        action = "ratify" if word == "accept" else word
        return lambda: lambda why: self._record("review", action=action, targets=[one], reason=why)

    def _record(self, kind: str, **fields: object) -> Recorded:
        return self.memory.record(Draft(kind, fields, sign=self.sign))

    def _rejecting(self, item: Item) -> Act:
        event = item["event"]
        about = {"entity_path": f":/{event['entity_path']}", "approach": event["approach"], "scope": event["scope"]}
        return lambda why: self._record("change", change_type="reject", reasoning=why, **about)

    def _keeping(self, item: Item, kept: str) -> Callable[[], Act]:
        about = f":/{item['decision']['entity_path']}"
        return lambda: lambda why: self.memory.resolve(about, kept, why, sign=self.sign)

    def _keeping_both(self, item: Item) -> Callable[[], Act]:
        """Ask which of the two is another way, and what it is called; both hold then."""
        about = f":/{item['decision']['entity_path']}"
        several = [action["id"] for action in item["actions"] if action["do"] == "both"]

        def begin() -> Act:
            renamed = several[0]
            if len(several) > 1:
                told = ", ".join(f"[{at}] {one[: entries.SHORT]}" for at, one in enumerate(several, 1))
                word = self._ask(f"which one is another way? {told} ")
                if word not in map(str, range(1, len(several) + 1)):
                    raise Back("")
                renamed = several[int(word) - 1]
            approach = self._ask(f"how is {renamed[: entries.SHORT]} done, in a few words? ")
            if not approach:
                raise Back("")
            return lambda why: self.memory.keep_both(about, renamed, approach, why, sign=self.sign)

        return begin

    def _editing(self, item: Item, one: str) -> Act:
        """Let the person write the event anew. What the rules refuse comes back into the editor the next time."""
        event = item["event"]
        text = editing.edited(self.text or editing.text_of(event), self.memory.repository.local_dir)
        if text is None:
            raise Back("the editor failed; nothing was written.")
        self.text = text
        changes = editing.changes(event, text)
        if changes is None:
            self.text = ""
            raise Back("the reason is empty; nothing was written.")
        if not changes:
            return lambda why: self._record("review", action="ratify", targets=[one], reason=why)
        return lambda why: self.memory.ratify_edited(one, changes, why, sign=self.sign)


def _key(item: Item) -> tuple[str, ...]:
    if item["decision"]:
        return (item["decision"]["entity_path"], item["decision"]["approach"], *item["if_kept"])
    return (item["event"]["id"] if item["event"] else item["finding"]["message"], item["why"])
