"""A client's payload to a `Call`."""

from __future__ import annotations

from gitmem.core.calls import Call
from gitmem.hooks.agents import dialects, edits, paths
from gitmem.hooks.agents.payloads import first_id, first_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: How clients say why a session starts, in our words; others stay as they are.
SOURCES = {"new": "startup", "compaction": "compact", "compacted": "compact"}
_SOURCE_OF_EVENT = {"taskresume": "resume", "taskstart": "startup", "agentspawn": "startup", "subagentstart": "startup"}


def call_of(agent: str, payload: Mapping[str, Any]) -> Call:
    """Return what `payload` tells. `agent` is whose hook it came to; the payload's shape has the last word."""
    owner = dialects.recognised(agent, payload)
    hook = _hook(owner, payload)
    event = dialects.event_of(hook)
    tool, given = dialects.tool_of(payload)
    source = ""
    if event == "start":
        source = first_text(payload, ("source", "trigger", "reason")).lower()
        source = SOURCES.get(source, source) or _SOURCE_OF_EVENT.get(hook.lower(), "startup")
        if owner == "antigravity" and payload.get("stepIdx") not in (None, 0):
            event = "other"  # PreInvocation comes before each turn; a session starts with the first
    changes = edits.edits_of(tool, given) if event in ("edit", "done") else []
    if not changes and isinstance(given, dict) and isinstance(given.get("tool_input"), dict):
        changes = edits.edits_of(tool, given["tool_input"])
    asked = _asked(tool, given, payload) if event == "done" else []
    failing = _failing(tool, hook, payload) if event in ("done", "failed") else []
    session = first_id(payload, dialects.SESSION)
    return Call(
        owner,
        # A call of a tool that edits nothing is none of ours.
        "other" if event == "edit" and not changes else "done" if event == "failed" else event,
        hook=hook,
        session=f"{owner}:{session}" if session else "",
        subagent=first_id(payload, dialects.SUBAGENT),
        call_id=_call_id(payload),
        cwd=_directory(payload, given),
        edits=changes,
        asked=[entity for entity, _ in asked],
        places={number: place for number, (_, place) in enumerate(asked) if place},
        source=source,
        failing=failing,
    )


def _failing(tool: str, hook: str, payload: Mapping[str, Any]) -> list[str]:
    from gitmem.hooks.agents import failing  # here: before an edit nothing failed

    return failing.failing(tool, hook, payload)


def _asked(tool: str, given: object, payload: Mapping[str, Any]) -> list[tuple[str, str]]:
    from gitmem.hooks.agents import asking  # here: before an edit nobody asked anything

    return asking.asked(tool, given, payload)


def _hook(owner: str, payload: Mapping[str, Any]) -> str:
    """Return the client's own name of the event. Some say it only by what else is there."""
    hook = first_text(payload, dialects.HOOK)
    if hook or owner not in ("antigravity", "copilot", "kiro", "opencode"):
        return hook
    has = payload.__contains__
    if owner == "antigravity":
        if has("toolCall"):
            return "PostToolUse" if has("toolResult") or has("result") or has("error") else "PreToolUse"
        return "PreInvocation"
    if has("toolName") or has("tool"):
        return "postToolUse" if has("toolResult") or has("toolOutput") else "preToolUse"
    if owner == "copilot" and has("trigger"):
        return "preCompact"
    return "sessionStart" if has("source") or has("initialPrompt") else ""


def _call_id(payload: Mapping[str, Any]) -> str:
    inner = payload.get("tool_call")
    return first_id(payload, dialects.CALL) or (first_id(inner, ("id",)) if isinstance(inner, dict) else "")


def _directory(payload: Mapping[str, Any], given: object) -> str:
    directory = first_text(payload, dialects.DIRECTORY)
    if not directory and isinstance(given, dict):
        directory = first_text(given, ("cwd",))
    if not directory:
        roots = (payload[key] for key in dialects.DIRECTORIES if isinstance(payload.get(key), list))
        directory = next((root for each in roots for root in each if isinstance(root, str) and root), "")
    return paths.plain(directory)
