"""Calls: what an agent's client tells of one event, in one shape for every agent, and what it is answered.

An adapter (`hooks/agents`) reads a client's payload into a `Call` and writes an `Answer` in its dialect; the gate
and the digest know nothing of either. Plain classes, because a hook pays for every import.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


#: What a call is about: an edit that is about to be made, a tool call that was made, the start of a session (or its
#: going on after compaction), a compaction to come, anything else.
EVENTS = ("edit", "done", "start", "compact", "other")


#: The file that `doctor` says it edited, to see that a client's hook is heard; there is none of this name.
CANARY = ".gitmem-canary"

#: So many characters are looked through for where an edit lands: a hook has a second.
LANDING_MAX = 8_000_000


class Edit:
    """One file that an edit touches.

    path         as the client gave it: absolute, or relative to the call's directory; separators are `/`
    content      the whole new text; None where `pairs` say what changes, or the file is deleted
    pairs        (old, new, everywhere): texts that are replaced, in this order; an empty `old` adds at the end
    is_deletion  the file goes
    moved_from   the path that it had, where the edit also moves it; else empty
    places       of some of `pairs`, by their number from 0: where in the file they are (see `landing.landed`)
    """

    __slots__ = ("content", "is_deletion", "moved_from", "pairs", "path", "places")

    def __init__(
        self,
        path: str,
        *,
        content: str | None = None,
        pairs: Sequence[tuple[str, str, bool]] = (),
        is_deletion: bool = False,
        moved_from: str = "",
        places: Mapping[int, int | str] | None = None,
    ) -> None:
        self.path = path
        self.places = places or {}
        self.content = content
        self.pairs = pairs
        self.is_deletion = is_deletion
        self.moved_from = moved_from

    def after(self, before: str | None) -> str | None:
        """Return the text of the file once the edit is made, from the text `before` (None: no such file).

        An old text that isn't there letter by letter is looked for as lenient clients do (`landing`). Where it isn't
        there at all (the client will refuse the edit, or normalises more than we do), the new one is added at the end:
        better to look at lines that never come than to miss some that do.
        """
        if self.is_deletion:
            return None
        if self.content is not None:
            return self.content
        text = before or ""
        left = LANDING_MAX
        for number, (old, new, everywhere) in enumerate(self.pairs):
            place = self.places.get(number, "")
            is_there = bool(old) and old in text
            is_sure = is_there and (place == "" or text.count(old) == 1)
            done = None
            if not is_sure and text and (old or place != "") and len(text) <= left:
                from gitmem.core import landing  # here: most edits fit as they are

                left -= len(text)
                done = landing.landed(text, old, new, place)
            if done is None and is_there:
                text = text.replace(old, new) if everywhere else text.replace(old, new, 1)
                continue
            # What is only added below an anchor is put there by some clients and at the end by others.
            if done is None or (not old and isinstance(place, str)):
                text = done or text
                done = f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{new}"
            text = done
        return text


class Call:
    """One event of one agent.

    agent     whose client it is, as `hook --agent` names it; the payload's shape decides where they differ
    event     one of EVENTS
    hook      the event's own name in the client ("PreToolUse"), for the answer
    session   `<agent>:<id>`, or empty where the client names none
    subagent  the id of the subagent within the session, or empty
    call_id   what names this very call, so that one that fires twice is answered once; or empty
    cwd       the directory that relative paths start from
    edits     what is about to change (event edit), or was changed (event done)
    asked     what a finished call of our own asked `prior` about (event done): entity paths as typed
    places    of some of `asked`, by their number from 0: the directory that they were asked in, from `cwd`
    source    how a session starts: startup, resume, clear, compact; or empty
    failing   what the output of a shell's finished command says of tests that failed: its lines (event done)
    """

    __slots__ = (
        "agent",
        "asked",
        "call_id",
        "cwd",
        "edits",
        "event",
        "failing",
        "hook",
        "places",
        "session",
        "source",
        "subagent",
    )

    def __init__(
        self,
        agent: str,
        event: str,
        *,
        hook: str = "",
        session: str = "",
        subagent: str = "",
        call_id: str = "",
        cwd: str = "",
        edits: Sequence[Edit] = (),
        asked: Sequence[str] = (),
        places: Mapping[int, str] | None = None,
        source: str = "",
        failing: Sequence[str] = (),
    ) -> None:
        self.agent = agent
        self.event = event
        self.hook = hook
        self.session = session
        self.subagent = subagent
        self.call_id = call_id
        self.cwd = cwd
        self.edits = edits
        self.asked = asked
        self.places = places or {}
        self.source = source
        self.failing = failing


class Answer:
    """What a call is answered: nothing, text for the agent, or a stop with its reason.

    stop   the edit must not be made; `text` says why and how to go on
    text   what the agent should read; empty: nothing to say
    """

    __slots__ = ("stop", "text")

    def __init__(self, text: str = "", *, stop: bool = False) -> None:
        self.text = text
        self.stop = stop
