"""Travelling: what is recorded here gets to a remote, and what was recorded elsewhere gets here.

A fetch goes into a quarantine of objects, is verified there, and is then joined, or adopted where something was taken
out. Only then does the ref of what was last seen move. A push is never forced but for one case: the remote's log,
rewritten with the tombstones that we know, is part of ours; then it is replaced, with a lease on the very tip that was
proved. Whoever loses a race fetches, joins and tries again.

The tip that was last seen of a remote is a checkpoint. A log that neither descends from it nor is a proven redaction of
it stops everything here, with what differs, and nothing is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gitmem.core import ids, rewriting, secrets
from gitmem.core.events import Event
from gitmem.core.objects import EVENT_SUFFIX, TOMBSTONE_SUFFIX
from gitmem.errors import BrokenHistory, GitFailed, Incomplete, LogBusy, NoLog, Refused, RemoteRewound
from gitmem.store import git
from gitmem.store.components import event_of
from gitmem.store.lock import Lock
from gitmem.store.log import Log, TipMoved
from gitmem.store.plumbing_log import READING
from gitmem.store.readmodel import ReadModel
from gitmem.store.repository import SEEN_REFS, Repository
from gitmem.store.writing import TRIES_MAX, pause
from gitmem.sync import adoption, joins
from gitmem.sync.purge import Purged
from gitmem.sync.quarantine import Quarantine
from gitmem.sync.remotes import Remote

#: How often a log that was replaced meanwhile is fetched again.
FETCHES_MAX = 3
#: How often a fetch or a push is begun anew because our own log was rewritten meanwhile.
STEADY_MAX = 3
#: How often a push that lost a race fetches, joins and tries again.
PUSHES_MAX = 12


class Synced:
    """What a fetch, a push or both did, or with `dry_run` would do.

    remote, ref   whose log, and what it is called there
    old_tip, tip  of our log, before and now; "" for none
    theirs        the tip that the remote has now; "" where it has no log
    came          how many events came; `came_found` the last of them
    went          how many events went; `went_found` the last of them
    joined        a join was made
    redacted      ids that were taken out here because they were over there
    replaced      the remote's log was replaced by one without what was redacted
    linked        code commits that links among what came are about
    purged        what became of the objects of redacted events; None where there were none
    common, there   with `dry_run`: commits that both have, and ids that the remote has above them
    """

    __slots__ = (
        *(
            "came",
            "came_found",
            "common",
            "dry_run",
            "joined",
            "linked",
            "old_tip",
            "purged",
            "redacted",
            "ref",
            "remote",
        ),
        *("replaced", "theirs", "there", "tip", "went", "went_found"),
    )

    def __init__(self, remote: Remote, tip: str, *, dry_run: bool) -> None:
        self.remote = remote.name
        self.ref = remote.ref
        self.dry_run = dry_run
        self.old_tip = tip
        self.tip = tip
        self.theirs = ""
        self.came = 0
        self.came_found: list[Event] = []
        self.went = 0
        self.went_found: list[Event] = []
        self.joined = False
        self.redacted: list[str] = []
        self.replaced = False
        self.linked: set[str] = set()
        self.purged: Purged | None = None
        self.common: list[str] = []
        self.there: set[str] = set()


class Traveller:
    """Moves the log of one repository.

    renote   builds the notes anew, where there are any (after an adoption)
    own      the project's own shapes of secrets
    """

    def __init__(self, model: ReadModel, log: Log, renote: Callable[[], None], own: Sequence[secrets.Own] = ()) -> None:
        self.model = model
        self.log = log
        self.repository: Repository = model.repository
        self._renote = renote
        self._own = own

    # --- fetch -------------------------------------------------------------------------------

    def fetch(self, remote: Remote, *, dry_run: bool = False) -> Synced:
        """Bring the remote's log into ours.

        Raises RemoteRewound, BrokenHistory, Incomplete, LogBusy, GitFailed; nothing was changed then.
        """
        return self._steadily(lambda: self._fetch(remote, dry_run=dry_run))

    def _steadily(self, act: Callable[[], Synced]) -> Synced:
        """Do `act` anew where our log was moved under it: a redaction takes the objects of the old one away."""
        for attempt in range(STEADY_MAX):
            before = self.log.tip()
            try:
                return act()
            except (Incomplete, BrokenHistory, GitFailed):
                if attempt == STEADY_MAX - 1 or self.log.tip() == before:
                    raise
        raise AssertionError("unreachable")

    def _fetch(self, remote: Remote, *, dry_run: bool) -> Synced:
        done = Synced(remote, self.log.tip() or "", dry_run=dry_run)
        done.theirs = remote.tip()
        self._arrive(remote, done, remote.seen())
        return done

    def _arrive(self, remote: Remote, done: Synced, seen: str) -> str:
        """Bring the log that ends in `done.theirs` into ours; return what stands for that tip here.

        `seen` is what was last seen there, "" where nothing was or it is to be forgotten.
        """
        new = done.theirs
        if not new:
            if seen:
                raise self._gone(remote, seen)
            return ""
        tip = self.log.tip()
        if self._is_known(tip, new, seen):
            self._saw(remote, new, dry_run=done.dry_run)
            return new
        with Quarantine(self.repository) as quarantine:
            self._fetch_into(quarantine, remote, done, [oid for oid in dict.fromkeys((tip, seen)) if oid])
            for attempt in range(TRIES_MAX):
                try:
                    here = self._bring_in(remote, done, seen, quarantine)
                    break
                except TipMoved:
                    pause(attempt)
            else:
                raise LogBusy(attempts=TRIES_MAX)
            if done.dry_run:
                self._compare(quarantine, tip or "", done)
        self._saw(remote, here, dry_run=done.dry_run)
        return here

    def _fetch_into(self, quarantine: Quarantine, remote: Remote, done: Synced, known: list[str]) -> None:
        """Fetch until what came has the tip that was asked about: a log may be replaced between the two questions."""
        for _ in range(FETCHES_MAX):
            remote.fetch(known, quarantine.env)
            if quarantine.log.has(done.theirs):
                return
            done.theirs = remote.tip()
        raise LogBusy(
            message=f"the log of {remote.name} is replaced faster than it can be fetched; nothing was changed",
            hint="try again in a moment.",
        )

    def _compare(self, quarantine: Quarantine, tip: str, done: Synced) -> None:
        """Note what both have, while what came can be read: for a dry run nothing of it is kept."""
        words = ("merge-base", "--all", tip, done.theirs)
        reader = quarantine.log
        done.common = reader.repository.git(*words, env=git.RAW, check=False).decode("ascii", "replace").split()
        for stored in reader.walk(done.theirs, done.common):
            done.there |= {name[: ids.LENGTH] for name in stored.files}

    def _is_known(self, tip: str | None, theirs: str, seen: str) -> bool:
        """Say whether the log that ends in `theirs` is part of ours, and has lost nothing that was seen there."""
        if not theirs or tip is None or not self.log.contains(tip, theirs):
            return False
        return not seen or self.log.contains(theirs, seen)

    def _bring_in(self, remote: Remote, done: Synced, seen: str, quarantine: Quarantine) -> str:
        new, incoming = done.theirs, quarantine.log
        tip = self.log.tip()
        rewritten = bool(seen) and not incoming.contains(new, seen)
        if not rewritten:
            try:
                with Lock(self.repository):
                    joined = joins.onto(
                        self.model,
                        self.log,
                        new,
                        tip,
                        reader=incoming,
                        keep=lambda joined: quarantine.keep(new, [tip] if tip else [], joined.commits),
                        watch=lambda cache, stored: cache is not None and adoption.touches(cache, stored),
                        dry_run=done.dry_run,
                    )
            except joins.Rewritten:
                rewritten = True
            else:
                _came(done, joined)
                done.joined = done.joined or joined.is_join
                return new
        if done.dry_run:
            proof = adoption.prove(self.repository, self.log, new, seen=seen, tip=tip, incoming=incoming)
            if not proof.holds:
                raise adoption.rewound(remote.name, proof.problem, proof.lost)
            done.redacted = sorted(one for one in proof.work.taken if one not in proof.brought)
            return proof.new
        adopted = adoption.adopt(
            self.model, self.log, new, seen=seen, remote=remote.name, incoming=incoming, renote=self._renote
        )
        _came(done, adopted)
        done.redacted = sorted({*done.redacted, *adopted.redacted})
        done.purged = adopted.purged
        return adopted.theirs

    def _gone(self, remote: Remote, seen: str) -> RemoteRewound:
        """The alarm for a remote that has no log any more."""
        lost = [event for stored in self.log.walk(seen) for event in rewriting.readable(stored.files)]
        count = f"{len(lost):,} event{'' if len(lost) == 1 else 's'}"
        return adoption.rewound(remote.name, f"it is gone, and {count} that it had with it", lost)

    def _saw(self, remote: Remote, tip: str, *, dry_run: bool) -> None:
        before = remote.seen()
        # Another process may have seen a newer tip meanwhile: that one stays.
        if not dry_run and tip and (not before or not self.log.contains(before, tip)):
            remote.saw(tip, before)

    # --- push --------------------------------------------------------------------------------

    def push(self, remote: Remote, *, dry_run: bool = False, restore: bool = False, fetch: bool = False) -> Synced:
        """Bring our log to the remote; what is there already is fetched and joined where that is needed.

        restore   what the remote lost is pushed back: its log and ours are joined, whatever was seen of it
        fetch     fetch in any case (`sync`)

        Raises NoLog, Refused, RemoteRewound, RemoteRefused, BrokenHistory, Incomplete, LogBusy, GitFailed. What came
        until then stays; nothing was lost.
        """
        return self._steadily(lambda: self._push(remote, dry_run=dry_run, restore=restore, fetch=fetch))

    def _push(self, remote: Remote, *, dry_run: bool, restore: bool, fetch: bool) -> Synced:
        tip = self.log.tip()
        done = Synced(remote, tip or "", dry_run=dry_run)
        for attempt in range(PUSHES_MAX):
            done.theirs = remote.tip()
            seen = self._forgotten(remote, dry_run=dry_run) if restore else remote.seen()
            here = done.theirs
            tip = self.log.tip()
            if fetch or not self._is_known(tip, here, seen):
                here = self._arrive(remote, done, seen)
            else:
                self._saw(remote, here, dry_run=dry_run)
            tip = self.log.tip()
            if tip is None:
                if fetch:
                    return done  # neither has one
                raise NoLog()
            done.tip = tip
            leaving = self._leaving(tip, here, done)
            if not leaving and (here == done.theirs or not here) and (here == tip or not self._differs(tip, here)):
                return done
            if dry_run:
                done.replaced = bool(here) and here != done.theirs
                return done
            lease = done.theirs if here != done.theirs else ""
            if remote.push(tip, lease):
                done.theirs = tip
                done.replaced = bool(lease)
                self._saw(remote, tip, dry_run=False)
                return done
            pause(attempt, far=True)
        raise LogBusy(
            message=f"{remote.name} is busy: {PUSHES_MAX} tries to push lost against others; nothing was pushed",
            hint="try again in a moment; what is recorded here stays here until then.",
        )

    def _differs(self, tip: str, here: str) -> bool:
        """Say whether our log has more than the remote's: joins as well, or the two would never be one."""
        if here:
            return not self.log.contains(here, tip)
        return tip != self.repository.form.root

    def _forgotten(self, remote: Remote, *, dry_run: bool) -> str:
        """Bring what was last seen of a remote into our log, so that it may be forgotten; return ""."""
        seen = remote.seen()
        if seen and not dry_run:
            joins.join(self.model, self.log, seen)
        return ""

    def _leaving(self, tip: str, here: str, done: Synced) -> int:
        """Find the events that the remote has not. Raises Refused where one of them holds a secret."""
        known = done.common or ([here] if here else [])
        pushed = [oid for oid in dict.fromkeys(self._seen_anywhere()) if oid != here]
        done.went, done.went_found = 0, []
        last: list[tuple[str, bytes, str]] = []  # the newest of them
        for event_id, body, redacted, is_new in self._above(tip, known, pushed):
            if event_id in done.there:
                continue
            if is_new and not redacted:
                self._check(event_of(event_id, body, redacted))
            done.went += 1
            last.append((event_id, body, redacted))
            if len(last) > 2 * joins.FOUND_MAX:
                del last[: -joins.FOUND_MAX]
        done.went_found = [event_of(*one) for one in last[-joins.FOUND_MAX :]]
        return done.went

    def _above(self, tip: str, known: list[str], pushed: list[str]) -> Iterator[tuple[str, bytes, str, bool]]:
        """Yield (id, bytes, redacted, is it new) of the events of `tip` that `known` has not; new: nor has `pushed`.

        The cache has them at hand, where it has all of them. An event that can't be read as one, or that came back
        after it was redacted, is not in it and goes along with a push all the same: then git is asked.
        """
        new = set(self._commits(tip, [*known, *pushed])) if pushed else None
        cache = self.model.current()
        if cache.tip == tip and cache.is_whole():
            for event_id, body, redacted, oid in cache.rows_in(self._commits(tip, known) if known else None):
                yield event_id, body, redacted, new is None or oid in new
            return
        for stored in self.log.walk(tip, known):
            for event in rewriting.readable(stored.files):
                suffix = TOMBSTONE_SUFFIX if event.redacted else EVENT_SUFFIX
                body = stored.files[event.id + suffix] or b""
                yield event.id, body, event.redacted, new is None or stored.oid in new

    def _commits(self, tip: str, known: list[str]) -> list[str]:
        """Return the commits of `tip` that none of `known` reaches, parents first."""
        words = (*READING, "rev-list", "--topo-order", "--reverse", "--ignore-missing", "--stdin")
        lines = "".join(f"{oid}\n" for oid in (tip, *("^" + oid for oid in known))).encode()
        return self.repository.git(*words, input=lines, env=git.RAW).decode("ascii").split()

    def _seen_anywhere(self) -> list[str]:
        listed = self.repository.git("for-each-ref", "--format=%(objectname)", SEEN_REFS)
        return listed.decode("ascii", "replace").split()

    def _check(self, event: Event) -> None:
        """Refuse to send a secret: the shapes that are known may be more than when it was recorded."""
        for hit in secrets.held(event.fields, self._own):
            short = ids.short(event.id)
            raise Refused(
                message=f"event {short} holds what looks like {hit.kind} in its field {hit.field}; nothing was pushed",
                field=hit.field,
                secret=hit.kind,
                id=event.id,
                hint=f"take it out, in your own terminal: `git decisions redact {short} -r WHY`; then push again.",
            )


def _came(done: Synced, came: joins.Joined | adoption.Adopted) -> None:
    done.tip = came.tip
    done.came += came.events
    done.came_found = [*done.came_found, *came.found][-joins.FOUND_MAX :]
    done.linked |= came.linked - {""}
