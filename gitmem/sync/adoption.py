"""Adoption: another log arrives that ours is no part of. Was something taken out of it, or was it forged?

The proof is one comparison. The log that we knew, rewritten with the tombstones that either side has, must come out
as a commit of the new one, rewritten likewise; its oid then vouches for every byte, id, author, time and place at once.
And each tombstone whose original we hold must be answered for by a `redact` event. What fails that is an alarm, and
nothing is changed. What passes is adopted: what we have not pushed yet is written anew on its place in the rewritten
log, with its ids, clocks and authors, and joined; and then the old objects are purged here too, in this order, for
whoever has purged can prove nothing any more.

Nothing redacted comes back with it: what a stale clone brings along is rewritten on the way in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gitmem.core import ids, objects, rewriting
from gitmem.core.events import Event
from gitmem.core.history import Checker
from gitmem.core.ids import short
from gitmem.core.rewriting import Redactions, Rewriting
from gitmem.errors import NoLog, RemoteRewound
from gitmem.store import git
from gitmem.store.cache import Cache
from gitmem.store.log import Log, Stored, TipMoved
from gitmem.store.readmodel import ReadModel
from gitmem.store.repository import Repository
from gitmem.store.upkeep import refusal
from gitmem.store.writing import Tries
from gitmem.sync import purge
from gitmem.sync.joins import FOUND_MAX, check_end
from gitmem.sync.purge import Pending, Purged
from gitmem.sync.redaction import move_tracking, recall, settle, take_in, tracking

#: How many ids or commits an alarm names.
NAMED_MAX = 5


class Proof:
    """What became of the comparison.

    forms     event id -> form: the tombstones of both sides
    work      the rewriting of all of both sides with these
    seen      what the log that we knew has become
    new       what the other log has become; another oid than it had where it brought back what was redacted
    old       what our own log has become, unpushed events included
    problem   "" where it is proved; else what differs, in a sentence
    brought   ids that are redacted here and that the other log holds in full
    lost      the events that were seen there and that it holds no more
    """

    __slots__ = ("brought", "forms", "lost", "new", "old", "problem", "seen", "work")

    def __init__(self, forms: dict[str, str], work: Rewriting, seen: str, new: str, old: str) -> None:
        self.forms = forms
        self.work = work
        self.seen = seen
        self.new = new
        self.old = old
        self.problem = ""
        self.brought: list[str] = []
        self.lost: list[Event] = []

    @property
    def holds(self) -> bool:
        return not self.problem


class Adopted:
    """The log after adopting.

    tip, old_tip   of our log, now and before
    redacted       ids that were taken out here with it
    brought        ids that the other log still has in full, or has again: it wants to be pushed to
    theirs         what stands for the other log's tip in ours
    commits, events   how many of the other log's were new
    found          those events, the last of them
    linked         the code commits that links among them are about
    purged         what became of the old objects; None where there were none
    """

    __slots__ = ("brought", "commits", "events", "found", "linked", "old_tip", "purged", "redacted", "theirs", "tip")

    def __init__(self, tip: str, old_tip: str, redacted: list[str], brought: list[str]) -> None:
        self.tip = tip
        self.theirs = ""
        self.commits = 0
        self.events = 0
        self.found: list[Event] = []
        self.linked: set[str] = set()
        self.old_tip = old_tip
        self.redacted = redacted
        self.brought = brought
        self.purged: Purged | None = None


def prove(
    repository: Repository, log: Log, new: str, *, seen: str = "", tip: str | None = None, incoming: Log | None = None
) -> Proof:
    """Compare the log that ends in `new` with the one that we knew.

    seen      what we last saw of where it comes from; "": nothing, so it can't have been rewound
    tip       our own log (default: as it is); None where there is none
    incoming  reads what `new` reaches, where that is not in our store yet (a quarantine)

    Raises BrokenHistory or Incomplete where the other log is not sound, whatever it claims; Incomplete where ours
    can't be read in full.
    """
    reader = incoming or log
    tip = tip if tip is not None else log.tip()
    ends = [one for one in dict.fromkeys((tip, seen)) if one]
    theirs = list(reader.walk(new))
    check_end(new, theirs[-1].oid if theirs else "")
    ours = _ours(reader, ends, new)
    shared = _below(theirs, {*ends, *(parent for stored in ours for parent in stored.parents)})

    checker = Checker(repository.form)
    there = Redactions()
    for stored in theirs:
        entry = checker.add(stored.oid, stored.commit, stored.tree, stored.files, stored.damaged)
        if entry is None:
            raise refusal(checker.findings[-1], shallow=reader.condition().shallow)
        there.add(stored.oid, stored.files)
    here = Redactions()
    held: set[str] = set()
    for stored in (*(one for one in theirs if one.oid in shared), *ours):
        here.add(stored.oid, stored.files)
        held.update(name[: ids.LENGTH] for name in stored.files if name.endswith(objects.EVENT_SUFFIX))

    forms = rewriting.hidden_more(here.forms, there.forms)
    work = Rewriting(repository.form, forms)
    # The other log first: what ours becomes is there already then, and needs no storing.
    take_in(work, theirs)
    take_in(work, ours)
    proof = Proof(forms, work, work.at(seen) if seen else "", work.at(new), work.at(tip) if tip else "")
    proof.brought = sorted(
        {
            name[: ids.LENGTH]
            for stored in theirs
            for name in stored.files
            if name.endswith(objects.EVENT_SUFFIX) and name[: ids.LENGTH] in here.stones
        }
    )
    answers = rewriting.named(there.stones, [event for event, _ in there.redacts.values()])
    answered: set[str] = set().union(*answers.values())
    # What we hold in full, or hidden less: it was taken out, or hidden more, over there.
    news = {one for one in there.stones if one in held or here.forms.get(one, forms[one]) != forms[one]}
    unanswered = sorted(news - answered)
    if seen and not work.below(proof.seen, proof.new):
        first, proof.lost = _lost(work, theirs, ours, seen)
        proof.problem = _parting(first, proof.lost)
    elif unanswered:
        proof.problem = f"no person's redact event answers for the tombstone of {_few(unanswered)}"
    return proof


def _ours(reader: Log, ends: list[str], new: str) -> list[Stored]:
    """Return the commits of our side that the other one has not, parents first."""
    out: list[Stored] = []
    known = [new]
    for end in ends:
        out += reader.walk(end, known)
        known.append(end)
    return out


def _below(commits: list[Stored], tops: set[str]) -> set[str]:
    """Return the oids of those commits that any of `tops` reaches."""
    found = set(tops)
    for stored in reversed(commits):
        if stored.oid in found:
            found.update(stored.parents)
    return found


def adopt(
    model: ReadModel,
    log: Log,
    new: str,
    *,
    seen: str = "",
    remote: str = "the remote",
    incoming: Log | None = None,
    renote: Callable[[], None] = lambda: None,
) -> Adopted:
    """Bring the log that ends in `new` into ours, once it is proved (see `prove`).

    Raises RemoteRewound where it is not, with where the logs part; BrokenHistory, Incomplete, LogBusy, GitFailed. The
    log has not moved then.
    """
    repository = model.repository
    with Tries(repository) as tries:
        recall(repository, log)
        while True:
            tries.begin()
            tip = log.tip()
            proof = prove(repository, log, new, seen=seen, tip=tip, incoming=incoming)
            if not proof.holds:
                raise rewound(remote, proof.problem, proof.lost)
            target, stored = _joined(repository, proof)
            work = proof.work
            redacted = sorted(one for one in work.taken if one not in proof.brought)
            done = Adopted(target, tip or "", redacted, proof.brought)
            done.theirs = proof.new
            _count(done, incoming or log, new, tip)
            tracked = tracking(log, repository, work, *filter(None, (new, tip)))
            doomed = work.doomed if incoming is None else _here(repository, work.doomed)
            if doomed:
                firsts = [one for one in work.firsts if one in doomed]
                pending = Pending(tip or new, target, doomed, firsts)
                purge.remember(repository, pending, happened=target == tip)
            if target == tip:
                # It had nothing for us, but fetching it may have brought back what was redacted.
                move_tracking(repository, tracked)
                done.purged = settle(model, log, renote)
                return done
            objects_ = [*work.objects, *stored]
            if incoming is not None:
                objects_ = [*_fetched(log, incoming, work, new), *objects_]
            try:
                _publish(log, repository, objects_, target, tip)
            except TipMoved:
                continue
            move_tracking(repository, tracked)
            done.purged = settle(model, log, renote)
            return done


def rewound(remote: str, what: str, lost: list[Event]) -> RemoteRewound:
    """Return the alarm, with what is lost there and the ways on."""
    return RemoteRewound(
        remote=remote,
        what=what,
        ids=[event.id for event in lost],
        hint="ask who pushed it. Your log still has all of it: "
        f"`git decisions push {remote} --restore` joins the two and pushes both.",
    )


def _count(done: Adopted, reader: Log, new: str, tip: str | None) -> None:
    """Count what of the other log is new here; what only changed its place is not."""
    done.commits = done.events = 0
    done.found = []
    known = {done.old_tip} - {""}
    ours = {name[: ids.LENGTH] for stored in (reader.walk(tip, [new]) if tip else ()) for name in stored.files}
    for stored in reader.walk(new, list(known)):
        fresh = [event for event in rewriting.readable(stored.files) if event.id not in ours]
        done.commits += 1
        done.events += len(fresh)
        done.found += fresh
        done.linked.update(str(event.fields.get("commit", "")) for event in fresh if event.kind == "link")
    del done.found[:-FOUND_MAX]


def _here(repository: Repository, doomed: Mapping[str, str]) -> dict[str, str]:
    """Return what of `doomed` is in our store: what came into a quarantine goes with it."""
    asked = "".join(f"{oid}\n" for oid in doomed).encode()
    listed = repository.git("cat-file", "--batch-check=%(objectname)", input=asked, env=git.RAW)
    here = {line for line in listed.decode("ascii", "replace").splitlines() if " " not in line}
    return {oid: kind for oid, kind in doomed.items() if oid in here}


def _joined(repository: Repository, proof: Proof) -> tuple[str, list[tuple[str, bytes]]]:
    """Return the tip that holds both sides, and what has to be stored for it."""
    one, other, work = proof.old, proof.new, proof.work
    if not one or work.below(one, other):
        return other, []
    if work.below(other, one):
        return one, []
    commit = objects.join_commit(repository.form, [(one, work.time(one)), (other, work.time(other))])
    return repository.form.oid("commit", commit), [("tree", b""), ("commit", commit)]


def _publish(log: Log, repository: Repository, given: list[tuple[str, bytes]], target: str, tip: str | None) -> None:
    form = repository.form
    if given and target not in {form.oid(kind, data) for kind, data in given}:
        # A fast-forward, while other refs need what was rewritten: the log stores only with what it moves to.
        given = [*given, ("commit", repository.git("cat-file", "commit", target, env=git.RAW))]
    log.publish_many(given, target, tip, "adopt")


def _fetched(log: Log, incoming: Log, work: Rewriting, new: str) -> list[tuple[str, bytes]]:
    """Return the objects of commits that are new and stay as they came: nothing else of a quarantine is taken in."""
    tip = log.tip()
    doomed = work.doomed
    out: list[tuple[str, bytes]] = []
    for stored in incoming.walk(new, [tip] if tip else []):
        # A commit that changes leaves here what has to go; the other events of it may be new all the same.
        inside = [("tree", stored.tree or b""), *(("blob", data) for data in stored.files.values() if data is not None)]
        out += [one for one in inside if work.form.oid(*one) not in doomed]
        if work.at(stored.oid) == stored.oid:
            out.append(("commit", stored.commit))
    return out


def _lost(work: Rewriting, theirs: list[Stored], ours: list[Stored], seen: str) -> tuple[str, list[Event]]:
    """Return the first commit seen there of which it holds neither itself nor a counterpart, and the events gone."""
    have = {work.at(stored.oid) for stored in theirs}
    there = {name[: ids.LENGTH] for stored in theirs for name in stored.files}
    mine = _below(ours, {seen})
    gone = [stored for stored in ours if stored.oid in mine and work.at(stored.oid) not in have]
    found = [event for stored in gone for event in rewriting.readable(stored.files) if event.id not in there]
    return gone[0].oid if gone else seen, sorted(found, key=objects.order)


def _parting(first: str, lost: list[Event]) -> str:
    """Say what is gone: how many events, the newest of them, and from where on."""
    where = f"it has no counterpart of commit {first[:12]}"
    if not lost:
        return f"{where}, though every event is there"
    newest = lost[-1]
    count = f"{len(lost):,} events that it had are gone" if len(lost) > 1 else "an event that it had is gone"
    what = " ".join(filter(None, (newest.change_type or newest.kind, newest.entity_path)))
    last = "the newest: " if len(lost) > 1 else ""
    return f"{count} ({last}{what}, {newest.recorded_at[:10]}, {short(newest.id)}); {where}"


def _few(several: list[str]) -> str:
    more = f" and {len(several) - NAMED_MAX:,} more" if len(several) > NAMED_MAX else ""
    return ", ".join(map(short, several[:NAMED_MAX])) + more


def is_needed(model: ReadModel, log: Log, new: str, *, seen: str = "") -> bool:
    """Say whether `new` has to be adopted rather than simply joined: it was rewound, or one side took something out.

    Cheap where neither is so: looks at what is new only. Raises nothing that `joins.join` would not raise.
    """
    if seen and not log.contains(new, seen):
        return True
    tip = log.tip()
    try:
        cache = model.current()
    except NoLog:
        return False
    return any(touches(cache, stored) for stored in log.walk(new, [tip] if tip else []))


def touches(cache: Cache, stored: Stored) -> bool:
    """Say whether a commit that is new here takes something out, or brings back what was taken out here."""
    for name in stored.files:
        if name.endswith(objects.TOMBSTONE_SUFFIX):
            return True
        event = cache.event(name[: ids.LENGTH])
        if event is not None and event.redacted:
            return True
    return False
