"""A canary: does the line that a client runs at its events really reach the gate, from where a client runs it?

The line is run by a shell as desktop programs run it, with a bare PATH, and told of an edit that was made by a session
of its own. That the gate heard it shows in local activity, where nothing else could have written that session's name.
"""

from __future__ import annotations

import json
import os

from gitmem.core.calls import CANARY
from gitmem.store.activity import Activity
from gitmem.store.repository import Repository

#: The PATH of a program that no shell started.
PATH = "/usr/bin:/bin"
#: A client waits longer than this; a hook that needs it is told as slow.
STOP_S = 10


def sent(repository: Repository, line: str) -> str:
    """Run `line` with a payload of its own; return what went wrong, or "" where it was heard."""
    import subprocess

    top = repository.work_tree
    if top is None:
        return "a bare repository has no files that a client edits"
    session = f"canary-{os.urandom(8).hex()}"
    path = os.path.join(top, CANARY)
    payload = {
        "hook_event_name": "PostToolUse",
        "session_id": session,
        "cwd": top,
        "tool_name": "Write",
        "tool_input": {"file_path": path, "content": ""},
        "tool_response": {"filePath": path, "success": True},
        "tool_use_id": session,
    }
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "GITMEM_"))}
    try:
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=top,
            env={**environ, "PATH": PATH},
            input=json.dumps(payload).encode(),
            capture_output=True,
            timeout=STOP_S,
        )
    except subprocess.TimeoutExpired:
        return f"it didn't end within {STOP_S} s"
    except OSError as error:
        return f"sh can't be started: {error.strerror}"
    if done.returncode:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
        return f"it ended with {done.returncode}" + (f": {said}" if said else "")
    with Activity(repository) as kept:
        heard = kept.heard(session)
        can_tell = kept.is_kept
    if not can_tell:
        return "local activity can't be written, so nothing shows whether it was heard"
    return "" if heard else "it ran, and gitmem never heard of the edit"
