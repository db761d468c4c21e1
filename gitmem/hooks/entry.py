"""What a git hook starts: `git-decisions-hook EVENT [ARGUMENT...]`. Whatever happens here, git goes on.

An agent's client starts the same program as `git-decisions-hook agent NAME`: that is `hooks/agent.py`'s, which has
rules of its own.

The rules of a guest in somebody's `git commit`: the exit status is always 0, but where `init --gate` was asked for and
the gate stops a commit; what went wrong is one line
on stderr; after `STOP_S` it is over; nothing is started over the network; and nothing happens at all inside
a hook that gitmem's own git started. A commit whose hook failed is found later by `git decisions link`.
Automatic sync, which is only there where somebody asked for it, uses the network, and has `SYNC_STOP_S`.

The shim starts this file by its path with `python -I -S`, so that neither the user's environment nor a
slow `.pth` file has a say; only the standard library is needed until something must be written.
"""

from __future__ import annotations

import gc
import os
import sys

#: Set in each process that gitmem's own git starts (`store/git.py`).
GUARD = "GITMEM_ACTIVE"
#: Tells the rest of gitmem that a hook writes, and which (`store/channel.py`).
HOOK = "GITMEM_HOOK"
#: A commit never waits longer than this.
STOP_S = 2.0

#: A push or a pull with automatic sync waits so long at most; its network has a little less.
SYNC_STOP_S = 6.0

EVENTS = ("post-commit", "post-rewrite", "commit-msg")
SYNC_EVENTS = ("pre-push", "post-merge")
GATE_EVENTS = ("pre-commit",)
READS_STDIN = ("post-rewrite", "pre-push")


def main(argv: list[str] | None = None) -> int:
    """Handle one hook event; return 0, or 1 where the gate stops a commit, or what stops an agent's edit."""
    argv = sys.argv[1:] if argv is None else argv
    event = argv[0] if argv else ""
    if event == "agent":
        return _agent(argv[1:])
    if os.environ.get(GUARD):
        return 0
    _stop_in_time(event)
    try:
        os.environ[HOOK] = event
        given = sys.stdin.buffer.read() if event in READS_STDIN else b""
        try:
            return _handle(event, argv[1:], given)
        except ModuleNotFoundError:
            # Without `site` there are no packages but those beside our own; whoever writes needs one more.
            if not sys.flags.no_site:
                raise
            import site

            site.main()
            return _handle(event, argv[1:], given)
    except BaseException as error:  # the hook runner: nothing may reach git
        _say(event, error)
    return 0


def _agent(argv: list[str]) -> int:
    gc.disable()  # nothing here lives long enough to be worth looking for: a tenth of the whole
    try:
        from gitmem.hooks import agent

        return agent.main(argv)
    except BaseException:  # half an installation: an edit is not stopped for it
        return 0


def _handle(event: str, args: list[str], given: bytes) -> int:
    if event in GATE_EVENTS:
        from gitmem.hooks import pre_commit

        said = pre_commit.check()
        if said:
            _write(f"{said}\n")
        return 1 if said else 0
    if event in SYNC_EVENTS:
        from gitmem.hooks import auto_sync

        told = auto_sync.before_push(args[0] if args else "") if event == "pre-push" else auto_sync.after_merge()
        if told:
            _write(f"gitmem: {told}\n")
        return 0
    if event not in EVENTS:
        raise ValueError(f"this gitmem has no hook for {event!r}")
    from gitmem.hooks import post_commit

    if event == "post-commit":
        post_commit.committed()
    elif event == "commit-msg":
        post_commit.worded(args[0] if args else "")
    else:
        post_commit.rewritten(args[0] if args else "", given)
    return 0


def _say(event: str, error: BaseException) -> None:
    """One line, whatever the error: a hook is no place for a traceback."""
    said = " ".join(str(error).split()) or type(error).__name__
    if not hasattr(error, "hint"):  # no GitmemError: a bug, whose class is half of what is known of it
        said = f"{type(error).__name__}: {said}"
    _write(f"gitmem: {event or 'hook'}: {said[:400]} ({_later(event)})\n")


def _later(event: str) -> str:
    if event in SYNC_EVENTS:
        return "git goes on; `git decisions sync` does it later"
    if event in GATE_EVENTS:
        return "git goes on; this commit was not looked at"
    if event == "commit-msg":
        return "the message stays as it is"
    return "git is done; `git decisions link` finds what is missing"


def _write(text: str) -> None:
    try:
        os.write(2, text.encode("utf-8", "replace"))
    except OSError:
        pass  # stderr is closed


def _stop_in_time(event: str) -> None:
    """End this process after `STOP_S`, wherever it is: an append is done or not done at any moment."""
    # A thread and not an alarm signal: a signal's handler waits while SQLite or flock does. And not the module
    # `threading`, whose import costs more than the rest of this file.
    import _thread
    import time

    stop_s = SYNC_STOP_S if event in SYNC_EVENTS else STOP_S

    def stop() -> None:
        time.sleep(stop_s)
        _write(f"gitmem: {event}: stopped after {stop_s:g} s ({_later(event)})\n")
        os._exit(0)

    _thread.start_new_thread(stop, ())


if __name__ == "__main__":
    # Started by path and isolated: this folder is not on sys.path, and the package must be.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    # Nothing is left to do, and taking the interpreter down would cost the commit another 2 ms.
    os._exit(main())
