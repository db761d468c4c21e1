"""The gate's door for agents: one call in, one answer out, whatever the client.

Opens the repository of each file that is edited, which need not be the one that the client stands in. It fails open:
where it can't look, the edit passes, and local activity says so.
"""

from __future__ import annotations

import os

from gitmem.core.calls import Answer, Call, Edit
from gitmem.errors import GitmemError, OutsideRepository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.memory import Memory


def judge(call: Call) -> Answer:
    """Return what is answered before an edit; after a call, note what it asked and edited, and say nothing."""
    memories = _Memories(call.cwd)
    try:
        if call.event == "done":
            memory = memories.at(call.cwd or ".")
            if memory is not None:
                _after(memory, call)
            return Answer()
        return _joined([_one(memory, call, edits) for memory, edits in memories.holding(call.edits)])
    finally:
        memories.close()


def _one(memory: Memory, call: Call, edits: list[Edit]) -> Answer:
    try:
        return memory.judge(call, edits)
    except Exception as error:  # fails open
        said = f"{type(error).__name__}: {error}"
        memory.gate_failed(call.agent, said)
        return Answer()


def _after(memory: Memory, call: Call) -> None:
    try:
        memory.after_call(call)
    except Exception as error:  # what was asked is not known then, and is told once more
        memory.gate_failed(call.agent, f"{type(error).__name__}: {error}")


def _joined(answers: list[Answer]) -> Answer:
    """One call may edit files of several repositories; one stop stops it."""
    if len(answers) == 1:
        return answers[0]
    stop = any(answer.stop for answer in answers)
    return Answer("\n\n".join(answer.text for answer in answers if answer.text and answer.stop == stop), stop=stop)


def note_failure(agent: str, what: str, cwd: str = "") -> None:
    """Note that something failed before the gate could look. Raises nothing that matters to the client."""
    memories = _Memories(cwd)
    try:
        memory = memories.at(cwd or ".")
        if memory is not None:
            memory.gate_failed(agent, what)
    finally:
        memories.close()


class _Memories:
    """The memories of the repositories that a call touches, each opened once."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._by_place: dict[str, Memory | None] = {}
        self._by_repository: dict[str, Memory] = {}

    def at(self, place: str) -> Memory | None:
        """Return the memory of the repository around a directory that exists; None outside of every repository."""
        if place not in self._by_place:
            self._by_place[place] = self._opened(place)
        return self._by_place[place]

    def _opened(self, place: str) -> Memory | None:
        from gitmem.memory import Memory

        try:
            memory = Memory.open(place)
        except (OutsideRepository, GitmemError):
            return None
        return self._by_repository.setdefault(memory.repository.git_dir, memory)

    def holding(self, edits: object) -> list[tuple[Memory, list[Edit]]]:
        """Return the edits by repository."""
        found: dict[str, tuple[Memory, list[Edit]]] = {}
        for edit in edits:  # type: ignore[attr-defined]
            place = os.path.dirname(os.path.normpath(os.path.join(self._cwd or ".", edit.path)))
            while place and not os.path.isdir(place) and place != os.path.dirname(place):
                place = os.path.dirname(place)
            memory = None if f"{os.sep}.git{os.sep}" in place + os.sep else self.at(place or ".")
            if memory is not None:
                found.setdefault(memory.repository.git_dir, (memory, []))[1].append(edit)
        return list(found.values())

    def close(self) -> None:
        for memory in self._by_repository.values():
            memory.close()
