"""What a shell's finished command says of failing tests: the lines of its output, in whatever a client wraps it.

The command itself is not read: what ran is known by what it says. Clients that tell no output (Windsurf, Augment) tell
no failing test either.
"""

from __future__ import annotations

from gitmem.core import failures
from gitmem.hooks.agents import edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

#: Under these a client tells what came of a call. `error`: Claude Code tells of a command that failed so, and so only.
RESULTS = (
    "tool_response",
    "tool_result",
    "toolResult",
    "tool_output",
    "toolOutput",
    "result",
    "response",
    "output",
    "postToolUse",
    "tool_call",
    "error",
)
#: ... but for these, which say what was asked.
_ASKED = frozenset(("command", "parameters", "input", "args", "description", "name", "toolName", "id"))
#: The events that are about a shell whatever else they say.
SHELL_EVENTS = frozenset(("aftershellexecution", "postruncommand"))
DEPTH_MAX = 4


def failing(tool: str, hook: str, payload: Mapping[str, Any]) -> list[str]:
    """Return the lines that tell of failed tests, of a finished call of a shell; nothing of any other call."""
    if not edits.is_shell(tool) and edits.bare(hook) not in SHELL_EVENTS:
        return []
    found: dict[str, None] = {}
    for key in RESULTS:
        for text in _texts(payload.get(key), 0):
            found.update(dict.fromkeys(failures.failures(text)))
    return list(found)[: failures.FAILURES_MAX]


def _texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < DEPTH_MAX:
        if isinstance(value, dict):
            for name, inner in value.items():
                if name not in _ASKED:
                    yield from _texts(inner, depth + 1)
        elif isinstance(value, list):
            for inner in value[:100]:
                yield from _texts(inner, depth + 1)
