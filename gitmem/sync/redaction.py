"""Redaction: an event is taken out of the log, and out of every place that its content was copied to.

The order is what keeps it safe. The rewritten commits are stored and the log's ref is moved by compare-and-swap, to
the `redact` event that says who did it and why; a process killed before that has changed nothing, one killed after it
leaves a sound log and a list of what is still to be purged. Then the tracking refs move to their counterparts, the
cache and the notes are built anew, and the old objects go (`purge`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from gitmem.core import events, rewriting, rules
from gitmem.core.drafts import Draft
from gitmem.core.events import Event
from gitmem.core.ids import short
from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING, VERSION
from gitmem.errors import (
    GitFailed,
    Incomplete,
    NewerFormat,
    RuleViolation,
    Writing,
)
from gitmem.store import listing
from gitmem.store.archive import Archive
from gitmem.store.cache import Cache
from gitmem.store.log import Log, Stored, TipMoved
from gitmem.store.plumbing_log import WRITING
from gitmem.store.readmodel import ReadModel
from gitmem.store.repository import SEEN_REFS, Repository
from gitmem.store.writing import TRIES_MAX, Appender, Tries, pause
from gitmem.sync import purge
from gitmem.sync.purge import Pending, Purged


class Redacted:
    """What a redaction did, or with `dry_run` would do.

    ids       the events that were taken out, copies among them
    mode      how much of each is hidden
    event     the id of the `redact` event; "" where nothing had to be done, for they were redacted before
    old_tip, tip   of the log, before and after
    commits   how many commits were written anew
    doomed    how many objects have to leave the store
    bytes     how large the packs are that have to be written anew for that (`dry_run`)
    purged    what became of it; None with `dry_run`
    remarks   what else may say the same, as sentences
    """

    __slots__ = ("bytes", "commits", "doomed", "dry_run", "event", "ids", "mode", "old_tip", "purged", "remarks", "tip")

    def __init__(self, ids: list[str], mode: str, old_tip: str, *, dry_run: bool) -> None:
        self.ids = ids
        self.mode = mode
        self.old_tip = old_tip
        self.dry_run = dry_run
        self.tip = old_tip
        self.event = ""
        self.commits = 0
        self.doomed = 0
        self.bytes = 0
        self.purged: Purged | None = None
        self.remarks: list[str] = []


class Order:
    """What is to be taken out: event id -> form, and the fields of the `redact` event but for what the result says."""

    __slots__ = ("fields", "forms")

    def __init__(self, forms: dict[str, str], fields: dict[str, object]) -> None:
        self.forms = forms
        self.fields = fields


class Redactor:
    """Takes events out of the log of one repository.

    decide   what `rules.decide` makes of a draft, on the state of a cache
    renote   builds the notes anew, where there are any
    """

    def __init__(
        self,
        model: ReadModel,
        log: Log,
        decide: Callable[[Cache, Draft], rules.Decided],
        renote: Callable[[], None],
    ) -> None:
        self.model = model
        self.log = log
        self.repository: Repository = model.repository
        self._decide = decide
        self._renote = renote

    # --- one event ----------------------------------------------------------------------------

    def redact(self, prefix: str, mode: str, reason: str, *, dry_run: bool = False) -> Redacted:
        """Take out the event that `prefix` names, with all its copies, and of a lesson its gists.

        Raises UnknownId, AmbiguousId, RuleViolation, Refused, NewerFormat, Incomplete, LogBusy, GitFailed; the log has
        not moved then.
        """

        def order(cache: Cache) -> Order:
            one = listing.one_id(cache, prefix, quarantined=True)
            forms: dict[str, str] = {}
            scope = ""
            for event_id in quoting(cache, one):
                event = cache.event(event_id)
                forms[event_id] = "plain" if event is None else _form(event, mode)
                scope = event.scope if event is not None else scope
            return Order(forms, {"targets": sorted(forms), "mode": mode, "reason": reason, "scope": scope})

        return self._take(order, mode, dry_run=dry_run)

    # --- many ---------------------------------------------------------------------------------

    def expunge(self, before: str, reason: str, *, dry_run: bool = False) -> Redacted:
        """Take out the texts of all events recorded before `before` (a format time), but for what still decides.

        Raises as `redact` does.
        """

        def order(cache: Cache) -> Order:
            forms = dict.fromkeys(expungible(cache, before), "plain")
            return Order(forms, {"mode": "plain", "reason": reason, "before": before})

        return self._take(order, "plain", dry_run=dry_run)

    # --- the way ------------------------------------------------------------------------------

    def _take(self, order: Callable[[Cache], Order], mode: str, *, dry_run: bool) -> Redacted:
        with Tries(self.repository) as tries:
            if not dry_run:
                recall(self.repository, self.log)
            while True:
                tries.begin()
                cache = self.model.current()
                tip = cache.tip
                wanted = order(cache)
                done = Redacted(sorted(wanted.forms), mode, tip, dry_run=dry_run)
                done.remarks = list(said_again(cache, wanted.forms)) if "targets" in wanted.fields else []
                work = self._rewritten(wanted.forms, tip)
                tracked = self._tracked(work, tip)
                if "targets" not in wanted.fields:
                    done.ids = sorted(work.taken)
                    wanted.fields |= {"count": len(done.ids), "merkle_root": rewriting.merkle_root(done.ids)}
                    if not done.ids:
                        wanted.fields |= {"count": 1}  # for the guard: whoever may not, is told so first
                decided = self._decide(cache, Draft("redact", {**wanted.fields, "old_tip": tip}))
                done.commits, done.doomed = len(work.moved), len(work.doomed)
                if not work.taken:
                    if not dry_run:
                        done.purged = self.finish()
                    return done
                if dry_run:
                    done.bytes = purge.size_of_packs(self.repository, work.doomed)
                    return done
                entry, stored = Appender(self.model, lambda: self.log).render(decided.appends, work.at(tip))
                purge.remember(self.repository, Pending(tip, entry.oid, work.doomed, work.firsts))
                try:
                    self.log.publish_many([*work.objects, *stored], entry.oid, tip, "redact")
                except TipMoved:
                    continue
                done.tip, done.event = entry.oid, decided.appends[-1][0].id
                move_tracking(self.repository, tracked)
                done.purged = self.finish()
                return done

    def finish(self) -> Purged | None:
        """Bring everything that is derived in step with the log, and purge what is left to purge; None: nothing was."""
        return settle(self.model, self.log, self._renote)

    def _rewritten(self, forms: dict[str, str], tip: str) -> rewriting.Rewriting:
        return rewrite(self.log, self.repository, forms, [tip])

    def _tracked(self, work: rewriting.Rewriting, tip: str) -> dict[str, tuple[str, str]]:
        return tracking(self.log, self.repository, work, tip)


def rewrite(log: Log, repository: Repository, forms: dict[str, str], tips: Iterable[str]) -> rewriting.Rewriting:
    """Return the rewriting of everything that `tips` reach. Raises Incomplete, NewerFormat."""
    work = rewriting.Rewriting(repository.form, forms)
    done: list[str] = []
    for tip in tips:
        take_in(work, log.walk(tip, done))
        done.append(tip)
    return work


def take_in(work: rewriting.Rewriting, commits: Iterable[Stored]) -> None:
    """Let a rewriting have commits, parents first. Raises Incomplete, NewerFormat."""
    try:
        for stored in commits:
            work.add(stored.oid, stored.commit, stored.tree, stored.files)
    except rewriting.Unreadable as error:
        raise Incomplete(what=str(error)) from None
    except events.Malformed as error:
        raise NewerFormat(what=f"an event that is to go can't be redacted here ({error})") from None
    except KeyError as error:  # a parent that was not walked: cut off, or gone
        raise Incomplete(what=f"commit {str(error.args[0])[:12]} is not here") from None


def tracking(log: Log, repository: Repository, work: rewriting.Rewriting, *known: str) -> dict[str, tuple[str, str]]:
    """Return where the refs of what was last seen of remotes have to go: ref -> (now, then)."""
    found = {}
    format = "--format=%(refname) %(objectname)"
    listed = repository.git("for-each-ref", format, SEEN_REFS).decode("utf-8", "replace")
    walked = list(known)
    for line in listed.splitlines():
        ref, _, oid = line.partition(" ")
        if not work.holds(work.at(oid)):
            try:
                take_in(work, log.walk(oid, walked))
            except (Incomplete, NewerFormat):
                continue  # it stays, and the purge names it
            walked.append(oid)
        if work.at(oid) != oid:
            found[ref] = (oid, work.at(oid))
    return found


def move_tracking(repository: Repository, tracked: dict[str, tuple[str, str]]) -> None:
    """Move refs by compare-and-swap, each for itself; one that another process moved stays, and the purge names it."""
    for ref, (now, then) in tracked.items():
        order = f"option no-deref\nupdate {ref} {then} {now}\n".encode()
        with Writing():
            repository.try_git(*WRITING, "update-ref", "-m", "redact", "--stdin", input=order)


def recall(repository: Repository, log: Log) -> Pending | None:
    """Return what an earlier redaction, finished or killed, has left to purge."""

    def has_moved(new: str) -> bool:
        tip = log.tip()
        return tip is not None and log.contains(tip, new)

    return purge.recalled(repository, has_moved)


def settle(model: ReadModel, log: Log, renote: Callable[[], None]) -> Purged | None:
    """Finish what a redaction began: cache, notes, object store. None where nothing was left to do."""
    repository = model.repository
    pending = recall(repository, log)
    if pending is None:
        return None
    model.rebuild()
    problems = []
    try:
        renote()
    except GitFailed as error:
        problems.append(f"the notes could not be built anew: {error.message}")
    attached = detach(model.current(), repository, pending)
    if attached:
        problems.append(attached)
    done = purge.purge(repository, pending, keep=bool(attached))
    done.held += problems
    return done


def detach(cache: Cache, repository: Repository, pending: Pending) -> str:
    """Take what is attached to redacted events out of the archive; return what kept it from that, as a sentence."""

    def is_gone(event_id: str) -> bool:
        event = cache.event(event_id)
        return event is not None and bool(event.redacted)

    sealed = Archive(repository)
    for attempt in range(TRIES_MAX):
        try:
            left = sealed.without(is_gone)
            if left is None:
                return ""
            pending.doomed |= left.doomed  # on the list before the ref moves: a kill in between loses nothing
            purge.remember(repository, pending, happened=True)
            sealed.put(left)
        except TipMoved:
            pause(attempt)
            continue
        except (GitFailed, Incomplete) as error:
            return f"what was attached could not be taken out of the archive: {error.message}"
        return ""
    return "what was attached could not be taken out of the archive: others write to it all the time"


# --- what is meant ----------------------------------------------------------------------------


def copies(cache: Cache, event_id: str) -> list[str]:
    """Return the ids of an event and of everything that was imported from the same source (F16)."""
    event = cache.event(event_id)
    if event is None or not event.source:
        return [event_id]
    rows = cache.db.execute("SELECT id FROM events WHERE source = ?", (event.source,)).fetchall()
    return sorted({event_id, *(row[0] for row in rows)})


def quoting(cache: Cache, event_id: str) -> list[str]:
    """Return the ids of all events that hold the text of one: its copies; of a lesson its gists, and what a sleep
    made of its topic, unless another lesson that is still there has given that topic as well.
    """
    found = set(copies(cache, event_id))
    for one in tuple(found):
        event = cache.event(one)
        if event is None or event.kind != "lesson":
            continue
        for other in cache.referring(one):
            if other.redacted or one not in other.targets:
                continue
            others = (cache.event(target) for target in other.targets if target not in found)
            alone = not any(lesson is not None and not lesson.redacted for lesson in others)
            if other.kind == "gist" or (other.kind == "sleep" and "topic" in other.fields and alone):
                found.add(other.id)
    return sorted(found)


def said_again(cache: Cache, ids: Collection[str]) -> Iterator[str]:
    """Yield what somebody should know who redacts some events: other lessons that repeat one of them."""
    for one in ids:
        event = cache.event(one)
        if event is None or event.kind != "lesson":
            continue
        again = [other for other in cache.referring(one) if other.kind == "lesson" and not other.redacted]
        again += [other for target in event.targets if (other := cache.event(target)) and not other.redacted]
        for other in again:
            if other.id not in ids:
                yield (
                    f"{short(other.id)} says the same as {short(one)} in nearly the same words, and stays: "
                    f"`git decisions redact {short(other.id)} -r WHY` takes it out as well."
                )


def _form(event: Event, mode: str) -> str:
    """Return the form of an event's tombstone. Raises NewerFormat, RuleViolation."""
    if event.fields["v"] != VERSION:
        raise NewerFormat(what=f"event {short(event.id)} is of format {event.fields['v']}, and may be redacted by that")
    if event.kind == "redact" and "merkle_root" in event.fields:
        raise RuleViolation(
            what=f"{short(event.id)} is what proves an expunging, and other clones need it as it is", ids=[event.id]
        )
    # What has no approach has none to hide: a whole reject would lose what makes it one.
    return "plain" if mode == "approach" and not event.approach and not event.redacted else mode


def expungible(cache: Cache, before: str) -> list[str]:
    """Return the ids of what expunging may take: recorded before `before`, and not needed.

    Never a closing that stands, what that saw or supersedes, what is pinned, a copy of one of these, or a redaction.
    """
    from gitmem.core.verdicts import judge

    pinned: set[str] = set()
    waiting: list[str] = []
    rows = cache.db.execute(
        "SELECT DISTINCT component FROM events WHERE component IS NOT NULL AND (word IN (?, ?) OR kind = 'mark')",
        tuple(word for word, role in CHANGE_TYPES.items() if role == CLOSING),
    ).fetchall()
    for (component,) in rows:
        found = list(cache.component_events([component]))
        judged = judge(found, cache.outside)
        for event in found:
            closing = CHANGE_TYPES.get(event.change_type) == CLOSING and not event.newer
            if closing and judged.is_standing(event.id):
                waiting.append(event.id)
            if "pin" in judged.marks(event.id):
                pinned.add(event.id)
    kept: set[str] = set()
    while waiting:
        one = waiting.pop()
        if one not in kept:
            kept.add(one)
            waiting += cache.outside(one)
    out, sources = [], set()
    for event_id, source in cache.db.execute(
        "SELECT id, source FROM events WHERE recorded_at < ? AND redacted = '' AND newer = 0 AND kind <> 'redact' "
        "ORDER BY n",
        (before,),
    ):
        if event_id in kept or event_id in pinned:
            if source:
                sources.add(source)
            continue
        out.append((event_id, source))
    return [event_id for event_id, source in out if not source or source not in sources]
