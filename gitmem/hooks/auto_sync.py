"""Automatic sync, where `decisions.autoSync` asks for it: decisions go along with a push, and come along with a pull.

A merge of a branch that is here already is no occasion for the network, so only `git pull` fetches.
"""

from __future__ import annotations

import os

#: What the network may take of the time that the hook has (`entry.SYNC_STOP_S`): ending git takes a moment as well.
DEADLINE_S = 4.0


def before_push(remote: str) -> str:
    """Sync with the remote that is being pushed to; return what to tell, or ""."""
    return _sync(remote, push=True)


def after_merge() -> str:
    """Fetch from the default remote if this merge belongs to a pull; return what to tell, or ""."""
    action = os.environ.get("GIT_REFLOG_ACTION", "").split(" ")[0]
    return _sync("", push=False) if action == "pull" else ""


def _sync(remote: str, *, push: bool) -> str:
    from gitmem.memory import Memory

    memory = Memory.open()
    try:
        moved = memory.auto_sync(remote, push=push, deadline_s=DEADLINE_S)
    finally:
        memory.close()
    if moved is None:
        return ""
    done = moved.done
    parts = [f"{done.came:,} came" if done.came else "", f"{done.went:,} went" if done.went else ""]
    told = " and ".join(filter(None, parts))
    return f"decisions of {done.remote}: {told}" if told else ""
