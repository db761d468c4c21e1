"""An `Answer` to what a client must read: bytes on stdout or stderr, and an exit status.

JSON is one line of ASCII: some clients read lines, and some terminals can't encode what people write. Only the keys
that a client knows are in it, for some throw an answer away for one more.
"""

from __future__ import annotations

from gitmem.core.calls import Answer, Call
from gitmem.hooks.agents.dialects import DIALECTS, Dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: Longer texts are put into a file by some clients, which the agent then doesn't read. What is told is far shorter.
TEXT_MAX = 9_000
#: For a stop without a reason: a client may take an empty one for none.
NO_REASON = "This edit brings back something that was decided against. `git decisions prior` on the file says what."

#: The events that ask whether something may go on; others take no permission.
_ASKING = frozenset(
    ("preToolUse", "PreToolUse", "subagentStart", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile")
)


class Reply:
    """What the process says: the bytes for stdout and stderr, and its exit status."""

    __slots__ = ("code", "err", "out")

    def __init__(self, out: bytes = b"", err: bytes = b"", code: int = 0) -> None:
        self.out = out
        self.err = err
        self.code = code

    def __repr__(self) -> str:
        return f"Reply({self.out!r}, {self.err!r}, {self.code})"


def neutral(agent: str, *, edit: bool = True) -> Reply:
    """Return what `agent` takes for "go on", asked about an `edit`, or about something that can't be stopped."""
    dialect = DIALECTS.get(agent)
    return Reply(dialect.neutral[0 if edit else 1]) if dialect is not None else Reply()


def reply(call: Call, answer: Answer) -> Reply:
    """Return `answer` in the dialect of the call's agent."""
    dialect = DIALECTS.get(call.agent)
    if dialect is None:
        return Reply()
    text = _short(answer.text)
    if answer.stop and call.event == "edit":
        return _FORMS[dialect.stop](call, text or NO_REASON)
    form = _form(dialect, call) if text else ""
    if form:
        return _FORMS[form](call, text)
    if call.agent == "cursor" and call.hook == "beforeSubmitPrompt":
        return Reply(b'{"continue":true}')
    # A tool that edits nothing is asked about like one that does.
    return neutral(call.agent, edit=call.event == "edit" or call.hook in _ASKING or not call.hook)


def _form(dialect: Dialect, call: Call) -> str:
    forms = {"edit": dialect.note, "done": dialect.done, "start": dialect.start, "compact": dialect.compact}
    if call.agent == "cursor" and call.hook == "subagentStart":
        return ""  # it is only asked whether it may start
    return forms.get(call.event, "")


def _short(text: str) -> str:
    """Return `text` within the limit, in whole lines."""
    if len(text) <= TEXT_MAX:
        return text
    cut = text[:TEXT_MAX]
    return cut[: cut.rfind("\n") if "\n" in cut else TEXT_MAX]


def _json(value: dict[str, object]) -> Reply:
    import json  # here: most edits are answered with nothing

    return Reply(json.dumps(value, separators=(",", ":")).encode("ascii"))


def _plain(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _enveloped(call: Call, **fields: str) -> Reply:
    # Without the event's name Claude Code drops the whole envelope.
    return _json({"hookSpecificOutput": {"hookEventName": call.hook, **fields}})


_FORMS: dict[str, Callable[[Call, str], Reply]] = {
    "deny in envelope": lambda call, text: _enveloped(call, permissionDecision="deny", permissionDecisionReason=text),
    "context": lambda call, text: _enveloped(call, additionalContext=text),
    "to the user": lambda call, text: _json({"systemMessage": text}),
    "permission": lambda call, text: _json({"permission": "deny", "user_message": text, "agent_message": text}),
    "permission with context": lambda call, text: _json({"permission": "allow", "additional_context": text}),
    "additional_context": lambda call, text: _json({"additional_context": text}),
    "user_message": lambda call, text: _json({"user_message": text}),
    "deny": lambda call, text: _json({"permissionDecision": "deny", "permissionDecisionReason": text}),
    "additionalContext": lambda call, text: _json({"additionalContext": text}),
    "decision deny": lambda call, text: _json({"decision": "deny", "reason": text}),
    "decision block": lambda call, text: _json({"decision": "block", "reason": text}),
    "injected": lambda call, text: _json({"injectSteps": [{"ephemeralMessage": text}]}),
    "cancel": lambda call, text: _json({"cancel": True, "errorMessage": text}),
    "modification": lambda call, text: _json(
        {"cancel": False, "context" if call.hook == "tool_call" else "contextModification": text}
    ),
    "exit 2": lambda call, text: Reply(err=_plain(text + "\n"), code=2),
    "plain": lambda call, text: Reply(out=_plain(text + "\n")),
    "our stop": lambda call, text: _json({"stop": True, "text": text}),
    "our text": lambda call, text: _json({"text": text}),
}
