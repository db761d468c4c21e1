"""The table of dialects: how each client names its events, and in what form it wants its answers.

A dialect is a `Dialect`: which form its answers have for each of our events. The forms themselves are in
`answering`. What is the same for all stands once: names of fields, and the event that a client's name means.
"""

from __future__ import annotations

from gitmem.hooks.agents.payloads import an_object, first_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Dialect:
    """How one client is answered: the names of the forms in `answering`; an empty one says nothing.

    stop     an edit that must not be made
    note     text on an edit that may be made
    done     text after a tool call
    start    text at the start of a session, or after compaction
    compact  text before compaction
    neutral  nothing to say, about an edit and about anything else: the bytes
    """

    __slots__ = ("compact", "done", "neutral", "note", "start", "stop")

    def __init__(
        self,
        stop: str,
        *,
        note: str = "",
        done: str = "",
        start: str = "",
        compact: str = "",
        neutral: tuple[bytes, bytes] = (b"", b""),
    ) -> None:
        self.stop = stop
        self.note = note
        self.done = done
        self.start = start
        self.compact = compact
        self.neutral = neutral


#: The envelope of Claude Code, which most have taken over.
_ENVELOPE = Dialect("deny in envelope", note="context", done="context", start="context", compact="to the user")

DIALECTS = {
    "claude": _ENVELOPE,
    "codex": _ENVELOPE,
    "vscode": Dialect("deny in envelope", done="context", start="context", compact="to the user"),
    "droid": _ENVELOPE,
    "devin": _ENVELOPE,
    "qwen": _ENVELOPE,
    "cursor": Dialect(
        "permission",
        note="permission with context",
        done="additional_context",
        start="additional_context",
        compact="user_message",
        # Where an edit is answered with nothing, or with what it doesn't know, Cursor makes no edit at all.
        neutral=(b'{"permission":"allow"}', b"{}"),
    ),
    "copilot": Dialect("deny", start="additionalContext"),
    "gemini": Dialect("decision deny", done="context", start="context", compact="to the user"),
    "antigravity": Dialect("decision deny", start="injected", neutral=(b'{"decision":"allow"}', b"{}")),
    "windsurf": Dialect("exit 2"),
    "augment": Dialect("exit 2", start="plain"),
    "kiro": Dialect("exit 2", start="plain"),
    "goose": Dialect("decision block"),
    "cline": Dialect("cancel", note="modification", start="modification", neutral=(b'{"cancel":false}',) * 2),
    "opencode": Dialect("our stop", note="our text", done="our text", start="our text", compact="our text"),
}

#: Other names that people give an agent.
ALIASES = {
    "claude-code": "claude",
    "copilot-cli": "copilot",
    "code": "vscode",
    "vs-code": "vscode",
    "gemini-cli": "gemini",
    "agy": "antigravity",
    "factory": "droid",
    "factory-droid": "droid",
    "auggie": "augment",
    "qwen-code": "qwen",
    "devin-cli": "devin",
}

#: Whose payloads have the fields of Claude Code: for these, what the command line says is believed.
LIKE_CLAUDE = frozenset(("claude", "codex", "vscode", "droid", "devin", "qwen", "augment", "kiro", "copilot"))

SESSION = ("session_id", "sessionId", "conversation_id", "conversationId", "trajectory_id", "taskId", "sessionID")
SUBAGENT = ("agent_id", "agentId", "subagent_id", "subagentId")
CALL = ("tool_use_id", "toolUseId", "tool_call_id", "toolCallId", "callID", "call_id", "callId")
HOOK = ("hook_event_name", "hookEventName", "agent_action_name", "event", "hookName")
DIRECTORY = ("cwd", "working_dir", "workingDirectory", "directory")
DIRECTORIES = ("workspace_roots", "workspaceRoots", "workspacePaths")
TOOL = ("tool_name", "toolName", "tool")
INPUT = ("tool_input", "toolInput", "toolArgs", "tool_info", "args", "parameters", "input")

#: What a client's name of an event, in small letters without separators, means to us.
EVENTS = {
    # about to be made
    "pretooluse": "edit",
    "beforetool": "edit",
    "prewritecode": "edit",
    "toolexecutebefore": "edit",
    "toolcall": "edit",
    # made
    "posttooluse": "done",
    "aftertool": "done",
    "afterfileedit": "done",
    "aftermcpexecution": "done",
    "aftershellexecution": "done",
    "postwritecode": "done",
    "postruncommand": "done",
    "postmcptooluse": "done",
    "toolexecuteafter": "done",
    "toolresult": "done",
    # tried, and failed: what a shell said is all that came of it
    "posttoolusefailure": "failed",
    # a session begins, or goes on
    "sessionstart": "start",
    "subagentstart": "start",
    "agentspawn": "start",
    "taskstart": "start",
    "taskresume": "start",
    "preinvocation": "start",
    "sessioncreated": "start",
    # it will be shortened
    "precompact": "compact",
    "precompress": "compact",
    "experimentalsessioncompacting": "compact",
}


def known(name: str) -> str:
    """Return the dialect's name that `name` means, or an empty string."""
    name = name.strip().lower().replace("_", "-")
    name = ALIASES.get(name, name)
    return name if name in DIALECTS else ""


def event_of(hook: str) -> str:
    """Return the event that a client's name for it means; "other" for what is nothing to us."""
    return EVENTS.get("".join(c for c in hook.lower() if c.isalnum()), "other")


def recognised(agent: str, payload: Mapping[str, Any]) -> str:
    """Return whose payload this is, by its shape; `agent` (a dialect, or empty) where the shape doesn't say.

    Clients start each other's hooks, and each must be answered in its own dialect.
    """
    has = payload.__contains__
    if has("cursor_version") or (has("conversation_id") and has("generation_id")):
        return "cursor"
    if has("agent_action_name"):
        return "windsurf"
    if has("working_dir") and has("event"):
        return "goose"
    if has("toolCall") or (has("conversationId") and has("workspacePaths")):
        return "antigravity"
    if has("clineVersion"):
        return "cline"
    if has("sessionID"):
        return "opencode"
    if has("turn_id"):
        return "codex"
    transcript = first_text(payload, ("transcript_path", "transcriptPath")).replace("\\", "/")
    for mark, owner in (
        ("/.cursor/", "cursor"),
        ("github.copilot", "vscode"),
        ("/.copilot/", "copilot"),
        ("/.codex/", "codex"),
        ("/.claude/", "claude"),
        ("/.gemini/", "gemini"),
        ("/.qwen/", "qwen"),
        ("/.factory/", "droid"),
        ("/.augment/", "augment"),
    ):
        if mark in transcript:
            return owner
    if has("sessionId") and has("hookEventName"):
        return "vscode"
    if has("sessionId") and has("toolName") and agent != "kiro":
        return "copilot"
    hook = first_text(payload, HOOK)
    if hook in ("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "PreCompress"):
        return "gemini"
    if has("hook_event_name") and (
        not agent
        or (agent == "gemini" and hook in ("PreToolUse", "PostToolUse"))
        or (agent != "gemini" and agent not in LIKE_CLAUDE)
    ):
        return "claude"
    return agent


def tool_of(payload: Mapping[str, Any]) -> tuple[str, object]:
    """Return the name of the tool that a payload is about, and its input as the client gave it."""
    inner = next(
        (an_object(payload[key]) for key in ("toolCall", "tool_call", "preToolUse", "postToolUse") if key in payload),
        {},
    )
    if inner:
        name = first_text(inner, ("name", "toolName", "tool"))
        return name, next((inner[key] for key in ("args", "parameters", "input") if key in inner), None)
    given = next((payload[key] for key in INPUT if key in payload), None)
    if isinstance(given, str) and given.lstrip()[:1] == "{":
        given = an_object(given) or given
    return first_text(payload, TOOL), payload if given is None else given
