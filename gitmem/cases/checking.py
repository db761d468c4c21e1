"""Checking: the gate for what git is about to commit, and for a range of commits. The rules are those of an edit.

Who commits is not asked twice: what a session was stopped for, and went on with, passes when it is committed, and
an override covers the commit that takes the edit in. A range has no reader, so there each closing stops, unless a
commit of it says in a trailer that it knows: then it passes, for a maintainer to see.
"""

from __future__ import annotations

from gitmem.cases.gating import Finder, is_in_log
from gitmem.cases.results import Gated
from gitmem.core import gate, ids
from gitmem.errors import NoLog
from gitmem.store import activity, changes
from gitmem.store.activity import Activity, Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitmem.cases.desk import Desk
    from gitmem.core.additions import Addition
    from gitmem.core.gate import Match
    from gitmem.store.cache import Cache

#: The session of who commits without one.
COMMITS = "git:commit"
OVERRIDE, SUPERSEDES = "Decision-Override", "Supersedes-Decision"


def staged(desk: Desk) -> Gated:
    """Do what `Memory.gate_staged` says."""
    try:
        cache = desk.cache()
    except NoLog:
        return Gated("staged", gate.ruled([]), gate.PERSON, files=0, has_log=False)
    unread: list[str] = []
    changed = _read_well(changes.staged(desk.repository, unread))
    matches = Finder(desk, cache).matches(changed)
    if not matches:
        return Gated("staged", gate.ruled([]), gate.PERSON, files=len(changed), unread=unread)
    from gitmem.store import channel

    seen = channel.detect(desk.environ)
    found = gate.ids(matches)
    with Activity(desk.repository) as kept:
        shown = kept.shown_to_session(seen.session_id, found) if seen.session_id else set()
        let = kept.lets_since(found, changes.head_time(desk.repository))
        firm = {match.event.id for match in matches if match.strength == gate.FIRM}
        ruling = gate.ruled(matches, shown=shown - firm, let_pass=_in_log(cache, let, matches))
        reader = Reader(seen.agent or "git", f"{seen.agent}:{seen.session_id}" if seen.session_id else COMMITS)
        passed = gate.ids(ruling.passed)
        if passed:
            kept.record(activity.PASS, reader, path=ruling.passed[0].path, events=passed)
        told = gate.ids([*ruling.stops, *ruling.again])
        if told:
            kept.record(activity.STOP, reader, path=ruling.stops[0].path, events=told)
            kept.show(reader, told, activity.STOPPED)
    return Gated("staged", ruling, gate.AGENT if seen.agent else gate.PERSON, files=len(changed), unread=unread)


def _read_well(found: Iterable[Addition]) -> list[Addition]:
    """Return the additions without their texts, once what they bring in is known.

    SQL is read by a real parser too, where there is one: nobody waits here as for an edit.
    """
    from gitmem.core import ddl, entering
    from gitmem.importers import sql_ddl

    changed = []
    for addition in found:
        addition.entered(sql_ddl.found if ddl.is_sql(addition.path) else entering.found)
        changed.append(addition.forget_texts())
    return changed


def _in_log(cache: Cache, let: Mapping[str, str], matches: Iterable[Match]) -> list[str]:
    return [event_id for event_id, override in let.items() if is_in_log(cache, override, event_id, matches)]


def over(desk: Desk, typed: str, *, allow_missing: bool = False) -> Gated:
    """Do what `Memory.gate_range` says."""
    base, end = changes.over(desk.repository, typed)
    try:
        cache = desk.cache()
    except NoLog:
        if not allow_missing:
            raise NoLog(
                hint="fetch it (`git decisions fetch`, or `git fetch origin refs/decisions/log:refs/decisions/log`), "
                "or say --allow-missing."
            ) from None
        return Gated(typed, gate.ruled([]), gate.CI, files=0, has_log=False)
    unread: list[str] = []
    changed = _read_well(changes.between(desk.repository, base, end, unread))
    matches = Finder(desk, cache).matches(changed)
    answers = _answers(matches, changes.trailers(desk.repository, base, end, (OVERRIDE, SUPERSEDES))) if matches else {}
    ruling = gate.ruled(matches, let_pass=answers)
    return Gated(typed, ruling, gate.CI, files=len(changed), answers=answers, unread=unread)


def _answers(
    matches: Iterable[Match], trailers: Mapping[str, list[tuple[str, str]]]
) -> dict[str, tuple[str, str, str]]:
    """Return event -> (key, commit, what it says) of the trailers that name what was matched."""
    found = {}
    for match in matches:
        for key, values in trailers.items():
            for commit, value in values:
                prefix, _, reason = value.partition(" ")
                if ids.is_prefix(prefix) and match.event.id.startswith(prefix.lower()):
                    found[match.event.id] = (key, commit, reason.strip())
    return found
