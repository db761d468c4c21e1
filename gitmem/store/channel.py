"""The channel: who is really writing, as this process sees it, never as a flag says it.

A person has a terminal on stdin or stderr and no agent's mark in the environment. Agents often run
commands under a pseudo-terminal, so the mark counts for more than the terminal, and so does that of
a CI service. An unknown agent that leaves no mark and gives its commands a terminal can't be told from
a person; the security page says so.
"""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Mapping

#: Set by our own hook shims, to the hook's name.
HOOK = "GITMEM_HOOK"

#: agent -> the variables that it sets for what it starts (not those by which users configure it: an
#: API key or a model name in a person's profile is no agent).
AGENTS = {
    "claude-code": (
        "CLAUDECODE",
        "CLAUDE_CODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_REMOTE",
    ),
    "codex": ("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_CI", "CODEX_SESSION_ID"),
    # The trace id is also in the editor's own terminal, where a person may type: better a person who
    # has to use another terminal than an agent with a person's rights.
    "cursor": ("CURSOR_AGENT", "CURSOR_TRACE_ID", "CURSOR_PROJECT_DIR"),
    "gemini": ("GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR"),
    "qwen-code": ("QWEN_CODE",),
    "opencode": ("OPENCODE", "OPENCODE_SESSION_ID"),
    "copilot": ("COPILOT_AGENT_SESSION_ID", "COPILOT_CLI", "GITHUB_COPILOT_AGENT"),
    "cline": ("CLINE_ACTIVE", "CLINE_TASK_ID"),
    "goose": ("GOOSE_TERMINAL",),
    "augment": ("AUGMENT_AGENT",),
    "antigravity": ("ANTIGRAVITY_AGENT",),
    "amp": ("AMP_CURRENT_THREAD_ID",),
    "crush": ("CRUSH",),
    "devin": ("DEVIN_SESSION_ID",),
    "windsurf": ("WINDSURF_AGENT",),
    "aider": ("AIDER_ACTIVE",),
    # Hooks of several agents get this one, as an alias.
    "agent": ("CLAUDE_PROJECT_DIR",),
}
#: Variables whose value is an agent's name, by convention between agents.
NAMING = ("GITMEM_AGENT", "AI_AGENT")
#: The same, but a word that others use too: only these values count.
AGENT_VALUES = frozenset(
    "amp augment claude claude-code cline codex crush cursor gemini goose opencode qwen-code".split()
)

SESSIONS = (
    "GITMEM_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_SESSION_ID",
    "GEMINI_SESSION_ID",
    "OPENCODE_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID",
    "AMP_CURRENT_THREAD_ID",
    "CLINE_TASK_ID",
    "CURSOR_TRACE_ID",
    "DEVIN_SESSION_ID",
)

CI = (
    "CI",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "BUILDKITE",
    "CIRCLECI",
    "TRAVIS",
    "JENKINS_URL",
    "TEAMCITY_VERSION",
    "TF_BUILD",
    "CODEBUILD_BUILD_ID",
    "BITBUCKET_BUILD_NUMBER",
    "DRONE",
    "CIRRUS_CI",
    "WOODPECKER",
    "FORGEJO_ACTIONS",
    "GITEA_ACTIONS",
)

Seen = namedtuple("Seen", ("channel", "agent", "session_id"))
Seen.__doc__ = "The channel of the writer, and the agent's name and session where there is one (else empty)."


def detect(environ: Mapping[str, str] | None = None, *, terminal: bool | None = None) -> Seen:
    """Return the channel (human, agent, hook, ci or script), the agent's name and its session id.

    `terminal`: whether stdin or stderr is one (default: look). A hook that an agent's commit started is
    a hook, with the agent's name. MCP and importers know their channel themselves.
    """
    if environ is None:
        environ = os.environ
    agent = agent_of(environ)
    session = next((environ[name] for name in SESSIONS if environ.get(name)), "") if agent else ""
    if in_hook(environ):
        return Seen("hook", agent, session)
    if agent:
        return Seen("agent", agent, session)
    if any(_set(environ, name) for name in CI):
        return Seen("ci", "", "")
    if terminal is None:
        terminal = _is_terminal(0) or _is_terminal(2)
    return Seen("human" if terminal else "script", "", "")


def agent_of(environ: Mapping[str, str]) -> str:
    """Return the name of the agent whose marks are in `environ`, or an empty string."""
    for name in NAMING:
        if _set(environ, name):
            return environ[name].strip()
    for agent, names in AGENTS.items():
        if any(_set(environ, name) for name in names):
            return agent
    value = environ.get("AGENT", "").strip().lower()
    return value if value in AGENT_VALUES else ""


def in_hook(environ: Mapping[str, str]) -> bool:
    """Say whether a git hook runs us: our shim says so, or git's own variables do."""
    return any(environ.get(name) for name in (HOOK, "GIT_INDEX_FILE", "GIT_QUARANTINE_PATH"))


def _set(environ: Mapping[str, str], name: str) -> bool:
    return environ.get(name, "").strip().lower() not in ("", "0", "false", "no", "off")


def _is_terminal(fd: int) -> bool:
    try:
        return os.isatty(fd)
    except OSError:
        return False
