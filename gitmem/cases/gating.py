"""Gating: whether an edit, a commit or a range of commits brings back what was closed. `core/gate` has the rules.

What an agent's client tells before an edit is looked at here, with the file as it is on the disk. Nothing is written
where nothing is found; where something is, local activity says who was told, so that the next answer can be another.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from gitmem.core import additions, dates, digests, entities, gate
from gitmem.core.additions import Addition
from gitmem.core.calls import Answer
from gitmem.core.gate import Match, Ruling
from gitmem.core.lineages import entity_key
from gitmem.errors import NoLog, Refused
from gitmem.store import activity
from gitmem.store.activity import Activity, Reader
from gitmem.store.closings import Closing, Closings, is_seen
from gitmem.store.glance import Glance
from gitmem.store.repository import below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core.calls import Call
    from gitmem.core.events import Event
    from gitmem.core.policy import Policy
    from gitmem.store.cache import Cache

#: A hook reads so many commits of the log to catch up, and so many events, and leaves more to a command that has time.
BEHIND_MAX, EVENTS_BEHIND_MAX = 300, 2000


class TooFarBehind(Exception):
    """The cache is missing or far behind the log: whoever has a deadline can't wait for it."""


# --- an agent's edit --------------------------------------------------------------------------


def judge(desk: Desk, call: Call, changed: Sequence[Addition]) -> Answer:
    """Return what the agent is answered about what it is about to change, all in this repository."""
    started = time.monotonic()
    cache = _cache(desk) if changed else None
    if cache is None:
        return Answer()
    matches = Finder(desk, cache).matches(changed)
    is_faded = Glance(cache.db).has_old_lessons([one.path for one in changed])
    if not matches and not is_faded:
        return Answer()
    reader = Reader(call.agent, call.session, call.subagent)
    with Activity(desk.repository) as kept:
        name, within_s = _name_of(call, reader)
        before = kept.answered(name, within_s)
        if before is not None:
            return Answer(before[1], stop=before[0])
        ruling, used = _ruled(cache, kept, reader, matches)
        text = gate.message(ruling, gate.AGENT)
        _remember(kept, reader, ruling, used, text, _since_ms(started))
        if is_faded and kept.is_kept and not ruling.is_stop:
            text = _with_cautions(desk, cache, kept, reader, changed, text, started)
        if text or matches:
            kept.answer(name, stop=ruling.is_stop, text=text)
    return Answer(text, stop=ruling.is_stop)


def _with_cautions(
    desk: Desk,
    cache: Cache,
    kept: Activity,
    reader: Reader,
    changed: Sequence[Addition],
    text: str,
    started: float,
) -> str:
    """Return the text of an edit that passes, and what it should know of lessons that faded around its files."""
    from gitmem.cases import cautioning

    notes, paths = cautioning.cautions(desk, cache, changed, kept, reader)
    if notes:
        kept.record(activity.NOTE, reader, path=paths[0], said="; ".join(notes), ms=_since_ms(started))
    return "\n".join([text, *(f"- {note}" for note in notes)] if text else notes)


def _since_ms(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def _ruled(
    cache: Cache, kept: Activity, reader: Reader, matches: Sequence[Match], *, person: bool = False
) -> tuple[Ruling, dict[str, str]]:
    """Return the ruling of one reader's edit, and the overrides (by event) that it would use up."""
    ids = gate.ids(matches)
    shown = kept.shown(reader, ids, activity.STOPPED, activity.ASKED)
    noted = kept.shown(reader, ids, activity.NOTED)
    lets = {
        event_id: override
        for event_id, override in kept.lets(reader.bucket, ids).items()
        if is_in_log(cache, override, event_id, matches)
    }
    if not kept.is_kept and not person:
        # Who can't remember must not stop for ever what stops once.
        for match in matches:
            match.holds = match.holds and match.strength == gate.FIRM
    return gate.ruled(matches, shown=shown, noted=noted, let_pass=lets), lets


def is_in_log(cache: Cache, override: str, event_id: str, matches: Iterable[Match]) -> bool:
    """Say whether an override of local activity is an event of the log, and a person's where it must be one."""
    event = cache.event(override)
    if event is None or event.kind != "override" or event_id not in event.targets:
        return False
    firm = any(match.event.id == event_id and match.strength == gate.FIRM for match in matches)
    return not firm or (event.channel == "human" and event.basis == "person")


def _remember(kept: Activity, reader: Reader, ruling: Ruling, used: dict[str, str], text: str, took_ms: int) -> None:
    if ruling.is_stop:
        told = gate.ids([*ruling.stops, *ruling.again])
        kept.show(reader, told, activity.STOPPED)
        place = [*ruling.stops, *ruling.again][0].path
        kept.record(activity.STOP, reader, path=place, events=told, said=text, ms=took_ms)
        return
    passed = gate.ids(ruling.passed)
    let = [event_id for event_id in passed if event_id in used]
    if let:
        kept.use(used[event_id] for event_id in let)
        kept.record(activity.OVERRIDE, reader, path=ruling.passed[0].path, events=let, ms=took_ms)
    on = [event_id for event_id in passed if event_id not in used]
    if on:
        kept.record(activity.PASS, reader, path=ruling.passed[0].path, events=on, ms=took_ms)
    if ruling.notes:
        noted = gate.ids(ruling.notes)
        kept.show(reader, noted, activity.NOTED)
        kept.record(activity.NOTE, reader, path=ruling.notes[0].path, events=noted, said=text, ms=took_ms)


def _name_of(call: Call, reader: Reader) -> tuple[str, int]:
    """Return what names this very call, and for how many seconds the same again is the same call."""
    # What it edits too: some clients count their calls anew in each turn, and an answer is about what was asked.
    edits = [repr((e.path, e.content, e.pairs, e.is_deletion, e.moved_from)) for e in call.edits]
    said = (reader.key, call.call_id, *edits)
    within_s = activity.TWICE_S if call.call_id else activity.TWICE_UNNAMED_S
    return digests.sha256("\0".join(said).encode("utf-8", "surrogatepass")).hexdigest(), within_s


def soon(desk: Desk) -> Cache | None:
    """Return the cache where a hook can wait for it, else None. Raises NoLog."""
    return desk.model.current_within(BEHIND_MAX, EVENTS_BEHIND_MAX)


def _cache(desk: Desk) -> Cache | None:
    """Return the cache, or None where there is no log. Raises TooFarBehind."""
    try:
        cache = soon(desk)
    except NoLog:
        return None
    if cache is None:
        raise TooFarBehind("the cache is missing or far behind the log; the next `git decisions` command builds it")
    return cache


# --- finding ----------------------------------------------------------------------------------


class Finder:
    """Looks up what some changes of files bring back. `is_edit`: one edit, of which each file is its own matter."""

    def __init__(self, desk: Desk, cache: Cache) -> None:
        self._desk = desk
        self._cache = cache
        self._now = dates.of_seconds(time.time())
        self._closings = Closings(cache, self._now)
        self._policy: Policy | None = None
        self._policy_read = False
        self._scopes: dict[str, str] = {}

    def matches(self, changed: Sequence[Addition]) -> list[Match]:
        """Return all matches of one edit (or one commit, or one range), one or more for an event."""
        found = [*self._by_content(changed), *self._by_patterns(changed)]
        for addition in changed:
            found += self._by_names(addition)
        return [match for match in found if not self._has_ended(match)]

    def _by_content(self, changed: Sequence[Addition]) -> Iterator[Match]:
        if not self._closings.glance.has_prints():
            return
        from gitmem.core import fingerprint

        marked = additions.marked(changed)
        for closing, share in self._closings.by_content(marked, gate.NOTE_SHARE):
            hashes = fingerprint.hashes(closing.event.fields.get("fingerprint"))
            back = [marked[mark] for mark in hashes if mark in marked]
            holds = share >= gate.STOP_SHARE
            why = f"{share} % of the lines that were taken out are back"
            home = gate.home(closing.event) if len(set(hashes)) < gate.FEW_LINES else ""
            if holds and home:
                at_home = additions.marked([one for one in changed if self._lies_in(one, home)])
                back = [at_home[mark] for mark in hashes if mark in at_home] or back
                holds = not at_home.keys().isdisjoint(hashes)
                why += "" if holds else ", in another file"
            addition, line = min(back, key=lambda one: (one[0].path, one[1]))
            yield from self._match(closing, gate.CONTENT, why, addition, line, holds=holds, share=share)

    def _lies_in(self, addition: Addition, home: str) -> bool:
        """Say whether a file is the one that the folded name `home` means, or lies in it; or did, before it moved."""
        paths = (addition.path, addition.moved_from) if addition.moved_from else (addition.path,)
        names = {name for path in paths for _, name in self._closings.names(entity_key(path))}
        return any(gate.is_home(home, name) for name in names)

    def _by_patterns(self, changed: Sequence[Addition]) -> Iterator[Match]:
        if not self._closings.glance.has_patterns():
            return
        from gitmem.core import patterns

        for addition in changed:
            for closing in self._closings.by_patterns(addition.lines):
                hit = patterns.found(closing.event.fields.get("patterns"), addition.lines)
                if hit:
                    why = f"its pattern {gate.said(hit[0], 80)} is in an added line"
                    yield from self._match(closing, gate.PATTERN, why, addition, hit[1])

    def _by_names(self, addition: Addition) -> Iterator[Match]:
        entered = addition.entered()
        asked = set(self._closings.glance.worth_asking([name for name, _, _ in entered]))
        for name, kind, line in entered:
            if name not in asked:
                continue
            told = f"{kind.replace('_', ' ')} {gate.named(name)}"
            scope = self._scope_of(addition.path)
            known = [one for one in self._closings.standings(name) if is_seen(scope, one[0])[1]]
            live = any(verdict in ("active", "reopened") for _, verdict, _, _ in known)
            closed = False
            former = addition.came_along(name)
            along = {closing.event.id for closing, _ in self._closings.on(former)} if former else ()
            for closing, by in self._closings.on(name, scope=scope):
                closed = True
                if closing.event.id in along:
                    continue  # it stood under its former name, closed as it was
                why = f"brings in the {told}"
                holds = True
                if by != entity_key(name) and by in entities.parents(entity_key(name)):
                    why += f", which lies below {gate.named(closing.event.entity_path)}"
                elif live:
                    holds = False
                    why += ", which stands otherwise"
                elif self._only_changed(closing.event):
                    holds = False
                    why += ", which was only changed then"
                here = self._is_the_file(addition.path, name, by)
                yield from self._match(closing, gate.ENTITY, why, addition, line, holds=holds, here=here)
            if closed or live:
                continue
            for _, verdict, _, deciding in known:
                event = self._closings.event(deciding) if verdict == "removed" else None
                if event is not None:
                    why = f"brings in the {told}"
                    yield Match(
                        event, gate.REMOVED, why, path=addition.path, line=line, strength=gate.DISPUTED, holds=False
                    )

    def _only_changed(self, closing: Event) -> bool:
        """Say whether history took back a change to what had been there before: its name is no sign of that change.

        What somebody recorded as `modify` may have been its beginning; of history, git knows.
        """
        if closing.change_type != "revert" or closing.basis != "evidence":
            return False
        found = [self._cache.event(one) for one in closing.targets]
        return bool(found) and all(one is not None and one.change_type == "modify" for one in found)

    def _is_the_file(self, path: str, name: str, by: str) -> bool:
        """Say whether what was found `by` another name is this file or lies in it: it moved between components."""
        key = entity_key(name)
        is_own = entities.file_of(name) == path and bool(entities.file_of(by))
        return is_own and by != key and by not in entities.parents(key)

    def _match(
        self,
        closing: Closing,
        how: str,
        why: str,
        addition: Addition,
        line: int,
        *,
        holds: bool = True,
        here: bool = False,
        share: int = 100,
    ) -> Iterator[Match]:
        path = addition.path
        sees, may_stop = is_seen(self._scope_of(path), closing.scope)
        if not may_stop and (here or below(entity_key(path), entity_key(closing.scope))):
            sees = may_stop = True  # it lies there, whatever the policy says of it now
        if sees:
            yield Match(
                closing.event,
                how,
                why,
                path=path,
                line=line,
                strength=closing.strength,
                holds=holds and may_stop,
                share=share,
                waiting=closing.waiting,
            )

    def _scope_of(self, path: str) -> str:
        """Return the component of a file. A policy that can't be read has none: nothing is opened by breaking it."""
        if not self._policy_read:
            self._policy_read = True
            try:
                self._policy = self._desk.policy()
            except Refused:
                pass
        if self._policy is None:
            return ""
        if path not in self._scopes:
            self._scopes[path] = self._policy.scope_at(path)
        return self._scopes[path]

    def _has_ended(self, match: Match) -> bool:
        """Say whether the closing's own condition is met (`expires_when`)."""
        event = match.event
        if match.how == gate.REMOVED or not event.fields.get("expires_when"):
            return False
        from gitmem.store import listing, revisits
        from gitmem.store.libraries import Libraries

        rows = listing.by_ids(self._cache, [event.id])
        return bool(rows) and revisits.has_ended(
            self._cache, Libraries(self._desk.repository), rows[0], self._now, firm=match.strength == gate.FIRM
        )
