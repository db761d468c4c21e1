"""What an agent's client starts at each of its events: `git decisions hook --agent NAME`, or
`git-decisions-hook agent NAME`. The payload comes on stdin, the answer goes to stdout.

Whatever happens here, the agent goes on. An edit is stopped only by an answer that was meant as one: any error, a
payload that nobody understands, and more than `STOP_S` end in the answer that this client takes for "go on", with a
line in local activity. Nothing is on stdout but that answer, never a traceback; 2, by which half of the clients
stop an edit, is never the status by accident; and an option that isn't known is passed over.

Only the standard library is needed, and no git is started while the cache is fresh.
"""

from __future__ import annotations

import os
import sys

from gitmem.hooks.agents import dialects
from gitmem.hooks.agents.answering import Reply, neutral

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gitmem.core.calls import Answer, Call

#: An edit never waits longer than this.
STOP_S = 1.0
#: How long the first byte may take, and how long the next. A client that doesn't close stdin (Kiro's editor before
#: 1.0) has sent all that it will by then.
FIRST_S = 0.7
NEXT_S = 0.25

#: Where git's own variables would send us: the repository is the one of the edited file, not of who started us.
_GIT_PLACES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
)


def main(argv: list[str]) -> int:
    """Answer one event, and return the exit status. `argv`: `--agent NAME`, or just `NAME`."""
    agent = named(argv)
    once = _Once(agent)
    _answer_in_time(agent, once)
    try:
        for name in _GIT_PLACES:
            os.environ.pop(name, None)
        given = payload(agent, os.environ)
        once.agent = owner(agent, given)
        said = answer(agent, given, _judge, _digest)
    except BaseException as error:  # fails open, whatever it was
        _note(agent, f"{type(error).__name__}: {error}")
        said = neutral(once.agent)
    return once.say(said)


def owner(agent: str, given: Mapping[str, Any] | None) -> str:
    """Return whose dialect an answer to the payload `given` has: clients start each other's hooks."""
    return dialects.recognised(agent, given) if given is not None else agent


def named(argv: list[str]) -> str:
    """Return the dialect that the command line names, or an empty string."""
    agent = ""
    words = iter(argv)
    for word in words:
        if word == "--agent":
            word = next(words, "")
        elif word.startswith("--agent="):
            word = word[8:]
        elif word.startswith("-"):
            continue
        agent = dialects.known(word) or agent
    return agent


def answer(
    agent: str,
    given: Mapping[str, Any] | None,
    judge: Callable[[Call], Answer],
    digest: Callable[[Call], Answer],
) -> Reply:
    """Return what `agent` is told about the payload `given` (None: one that can't be read)."""
    from gitmem.core.calls import Answer
    from gitmem.hooks.agents.answering import reply
    from gitmem.hooks.agents.reading import call_of

    if given is None:
        return neutral(agent)
    call = call_of(agent, given)
    try:
        if call.event in ("edit", "done"):
            said = judge(call) if call.edits or call.asked or call.failing else Answer()
        elif call.event in ("start", "compact"):
            said = digest(call)
        else:
            said = Answer()
    except Exception as error:  # fails open, in the dialect of whose payload it is
        _note(call.agent, f"{type(error).__name__}: {error}", cwd=call.cwd)
        said = Answer()
    return reply(call, said)


def payload(agent: str, environ: Mapping[str, str]) -> dict[str, Any] | None:
    """Return what the client sent, or None where it is no object or there is nothing."""
    from gitmem.hooks.agents import payloads

    if agent == "kiro" and "toolName" in environ.get("USER_PROMPT", ""):
        # Kiro's editor before 1.0: in the environment, and a stdin that is never closed.
        return payloads.parsed(environ["USER_PROMPT"])
    data, size = _stdin(payloads.SIZE_MAX)
    if size > payloads.SIZE_MAX:
        _note(agent, f"a payload of {size:,} bytes, of which no more than {payloads.SIZE_MAX:,} are looked at")
        return None
    if not data.strip():
        return None
    given = payloads.decoded(data)
    if given is None:
        _note(agent, f"a payload of {len(data)} bytes that is no JSON object, or not all of one")
    return given


def _stdin(size_max: int) -> tuple[bytes, int]:
    """Return what is on stdin up to its end, or what came in time, and how much that was; never a terminal's.

    What is too much is read all the same, for whoever writes it would fail if we left; but it isn't kept.
    """
    import select
    import time

    chunks: list[bytes] = []
    size = 0
    try:
        if os.isatty(0):
            return b"", 0
        until = time.monotonic() + FIRST_S
        while True:
            ready, _, _ = select.select((0,), (), (), max(0.0, until - time.monotonic()))
            chunk = os.read(0, 1 << 20) if ready else b""
            if not chunk:
                break
            size += len(chunk)
            if size <= size_max:
                chunks.append(chunk)
            until = time.monotonic() + NEXT_S
    except (OSError, ValueError):  # closed
        return b"", 0
    return b"".join(chunks), size


def _judge(call: Call) -> Answer:
    def judge() -> Answer:
        from gitmem.hooks import gate

        return gate.judge(call)

    return _with_packages(judge)


def _digest(call: Call) -> Answer:
    def digest() -> Answer:
        from gitmem.hooks import digest

        return digest.digest(call)

    return _with_packages(digest)


def _with_packages(act: Callable[[], Answer]) -> Answer:
    try:
        return act()
    except ModuleNotFoundError:
        # Started without `site` there are no packages but our own; what is rarely needed may need one more.
        if not sys.flags.no_site:
            raise
        import site

        site.main()
        return act()


# --- one answer, in time -------------------------------------------------------------------------


class _Once:
    """Writes one reply, whoever comes first: the answer, or the deadline."""

    def __init__(self, agent: str = "") -> None:
        import _thread

        #: In whose dialect the deadline answers.
        self.agent = agent
        self._taken = _thread.allocate_lock()

    def say(self, said: Reply) -> int:
        """Write `said` and return its status. Where the other was faster, wait for the end that it brings."""
        if not self._taken.acquire(blocking=False):
            import time

            time.sleep(5 * STOP_S)
            return 0
        for fd, data in ((1, said.out), (2, said.err)):
            try:
                while data:
                    data = data[os.write(fd, data) :]
            except OSError:
                # Nobody hears the reason; the status may still stop the edit, and that is what was meant.
                break
        return said.code


def _answer_in_time(agent: str, once: _Once) -> None:
    """End this process after `STOP_S` with the neutral answer, wherever it is."""
    # A thread and not an alarm signal, and not `threading`: see hooks/entry.py.
    import _thread
    import time

    def stop() -> None:
        time.sleep(STOP_S)
        once.say(neutral(once.agent))
        # The answer is out, but the client may wait for our end: what is still to note gets a moment.
        _thread.start_new_thread(_note, (agent, f"stopped after {STOP_S:g} s, and let pass"))
        time.sleep(0.1)
        os._exit(0)

    _thread.start_new_thread(stop, ())


def _note(agent: str, what: str, *, cwd: str = "") -> None:
    """Leave a line in local activity, where there is one to be left in."""
    try:
        from gitmem.hooks import gate

        gate.note_failure(agent, " ".join(what.split())[:400], cwd)
    except BaseException:  # telling of a failure is no reason to fail
        pass
