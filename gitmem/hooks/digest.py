"""The digest's door for agents: what a session is told at its start, and before it is compacted."""

from __future__ import annotations

from gitmem.core.calls import Answer, Call
from gitmem.errors import GitmemError


def digest(call: Call) -> Answer:
    """Return what a session should know; nothing where there is nothing, nor where it only goes on."""
    if call.event == "start" and call.source == "resume":
        return Answer()  # it is in what was said already
    from gitmem.memory import Memory

    try:
        memory = Memory.open(call.cwd or ".")
    except GitmemError:
        return Answer()
    try:
        if call.event == "compact":
            return Answer(memory.reminder(call.session))
        told = [memory.digest(hurried=True).text]
        if call.source == "compact":  # before it, most clients tell only their user
            told.append(memory.reminder(call.session))
        return Answer("\n\n".join(text for text in told if text))
    finally:
        memory.close()
