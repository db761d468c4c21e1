"""The gate's door for agents: one call in, one answer out, whatever the client.

Looks into the repository of each file that is edited, which need not be the one that the client stands in. Most edits
pass after a glance, and then nothing more is loaded. It fails open: where it can't look, the edit passes, and local
activity says so.
"""

from __future__ import annotations

from gitmem.core.calls import Answer, Call
from gitmem.errors import GitmemError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.glancing import Look
    from gitmem.memory import Memory


def judge(call: Call) -> Answer:
    """Return what is answered before an edit; after a call, note what it asked and edited, and say nothing."""
    if call.event == "done":
        _after(call)
        return Answer()
    try:
        from gitmem.cases import glancing

        looks = [look for look in glancing.looks(call) if not look.is_nothing]
    except Exception as error:  # fails open
        note_failure(call.agent, f"{type(error).__name__}: {error}", call.cwd)
        return Answer()
    return _joined([_answer(call, look) for look in looks])


def _answer(call: Call, look: Look) -> Answer:
    repository = look.repository
    memory = _memory(repository.work_tree or repository.git_dir)
    if memory is None:
        return Answer()
    try:
        return memory.judge(call, look.changed)
    except Exception as error:  # fails open
        memory.gate_failed(call.agent, f"{type(error).__name__}: {error}")
        return Answer()
    finally:
        memory.close()


def _joined(answers: list[Answer]) -> Answer:
    """One call may edit files of several repositories; one stop stops it."""
    if len(answers) == 1:
        return answers[0]
    stop = any(answer.stop for answer in answers)
    return Answer("\n\n".join(answer.text for answer in answers if answer.text and answer.stop == stop), stop=stop)


def _after(call: Call) -> None:
    from gitmem.cases import glancing

    for repository in glancing.repositories(call):
        memory = _memory(repository.work_tree or repository.git_dir)
        if memory is None:
            continue
        try:
            memory.after_call(call)
        except Exception as error:  # what was asked is not known then, and is told once more
            memory.gate_failed(call.agent, f"{type(error).__name__}: {error}")
        finally:
            memory.close()


def note_failure(agent: str, what: str, cwd: str = "") -> None:
    """Note that something failed before the gate could look."""
    memory = _memory(cwd or ".")
    if memory is not None:
        try:
            memory.gate_failed(agent, what)
        finally:
            memory.close()


def _memory(place: str) -> Memory | None:
    from gitmem.memory import Memory

    try:
        return Memory.open(place)
    except GitmemError:
        return None
