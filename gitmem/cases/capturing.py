"""Capturing: what hooks see by themselves, the inbox that it waits in, and which lessons were used.

A hook only notes. At the next commit what it noted is weighed, with the files of that commit in hand: what passes the
policy's bar, and what says again what a lesson says already, becomes events, together with the uses, in one commit
of the log. The rest waits in the inbox of this clone until somebody keeps it, or it expires.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence

from gitmem.cases import glancing, recording, teaching
from gitmem.cases.results import Captured, Weighed
from gitmem.cases.typed import strings_of, text_of
from gitmem.core import dates, entities, ids
from gitmem.core.drafts import Draft, Stamp
from gitmem.core.lessons import capture
from gitmem.core.lessons.capture import Capture
from gitmem.core.lessons.likeness import Sketch
from gitmem.errors import AmbiguousId, NoLog, Refused, RuleViolation, UnknownId
from gitmem.store import changes
from gitmem.store.inbox import Inbox, Item, is_due

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.cases.results import Recorded
    from gitmem.core.calls import Call
    from gitmem.core.drafts import Writer
    from gitmem.core.events import Event
    from gitmem.core.lessons.book import Lesson
    from gitmem.core.lessons.policies import Policy
    from gitmem.importers.git_messages import Claim
    from gitmem.store.cache import Cache
    from gitmem.sync.heads import Head
    from gitmem.sync.messages import Said

#: So many captures are weighed at a commit, the newest.
WEIGHED_MAX = 20
#: A lesson that a hook writes names so many files at most.
PATHS_MAX = 16


# --- seen by a hook ---------------------------------------------------------------------------


def noticed(desk: Desk, call: Call) -> None:
    """Do what `Memory.after_call` says of failing tests."""
    from gitmem.core import failures

    if not call.failing or not os.path.isdir(desk.repository.local_dir):
        return  # nobody keeps decisions here
    key = f"session:{call.session}" if call.session else _today()
    with Inbox(desk.repository) as inbox:
        for line in call.failing:
            file = _file(desk, call.cwd, failures.file_of(line))
            inbox.put(_clean(desk, Capture(capture.FAILURE, capture.cut(line), paths=[file] if file else [])), key)


def overridden(desk: Desk, override: Event, closing: Event) -> None:
    """Take in that a person let pass what `closing` stops, by the event `override`: its reason is the sentence."""
    core = capture.sentence(text_of(override.fields.get("reason")))
    if not core:
        return
    paths = [closing.entity_path] if closing.entity_path else []
    seen = Capture(capture.OVERRIDE, core, paths=paths, evidence=[f"event:{override.id}"])
    with Inbox(desk.repository) as inbox:
        inbox.put(_clean(desk, seen), f"event:{override.id}")


def note_use(desk: Desk, ids: Iterable[str], session: str) -> None:
    """Note in this clone that a session used some lessons (their whole ids); the next commit writes it down."""
    with Inbox(desk.repository) as inbox:
        inbox.use(ids, session)


def after_commit(desk: Desk, head: Head, message: str, said: Said) -> int:
    """Write down what the commit at HEAD tells of lessons, and what waited for a commit; return how many events.

    It names lessons that it used, by trailers; it takes a commit back; and what hooks saw before it is weighed.
    """
    from gitmem.sync import heads

    named = [*said.lessons, *said.decisions]
    waits = is_due(desk.repository)
    if not head.oid or not (named or said.reverted or waits):
        return 0
    cache = desk.cache()
    replaced = heads.replaced(desk.repository.git_dir, head) if named or said.reverted else ""
    uses = _stated_uses(cache, named, head.oid, replaced)
    seen = _taken_back(head.oid, message) if said.reverted and not heads.picking(desk.repository.git_dir) else None
    if not (uses or seen or waits):
        return 0
    with Inbox(desk.repository) as inbox:
        before = f"commit:{replaced}" if replaced else ""
        if seen is not None and before and not inbox.forget(before) and inbox.has_seen(before):
            inbox.see(f"commit:{head.oid}")  # an amend of what is written down already
        elif seen is not None:
            seen.paths = _paths(heads.files(desk.repository, head))
            inbox.put(_clean(desk, seen), f"commit:{head.oid}")
        applied = inbox.uses()
        chosen = _chosen(desk, cache, inbox, head) if inbox.is_kept else []
        return _write(desk, inbox, head.oid, uses, applied, chosen)


def flush_uses(desk: Desk) -> int:
    """Write down which lessons were used since the last commit, in one commit of the log; return how many events."""
    if not is_due(desk.repository):
        return 0
    with Inbox(desk.repository) as inbox:
        applied = inbox.uses()
        return _write(desk, inbox, "", [], applied, []) if applied else 0


# --- what a commit says -----------------------------------------------------------------------


def _stated_uses(cache: Cache, prefixes: Iterable[str], commit: str, replaced: str) -> list[str]:
    """Return the lessons and rules that a commit names and no use of this very commit, or its former self, has yet."""
    found: dict[str, None] = {}
    for prefix in prefixes:
        event_id = lesson_id(cache, prefix)
        if event_id:
            found[event_id] = None
    if not found:
        return []
    have: set[str] = set()
    for event_id in found:
        for event in cache.referring(event_id):
            if event.kind == "use" and event.fields.get("commit") in (commit, replaced or commit):
                have.add(event_id)
    return [event_id for event_id in found if event_id not in have]


def lesson_id(cache: Cache, prefix: str) -> str:
    """Return the id of the one lesson or rule that begins with `prefix`, or ""."""
    found = cache.ids(prefix, 2)
    event = cache.event(found[0]) if len(found) == 1 else None
    if event is None or not (event.kind == "lesson" or (event.kind == "sleep" and event.action == "promote")):
        return ""
    return event.id


def _taken_back(commit: str, message: str) -> Capture | None:
    """Return what a commit says that takes another one back: the first sentence of its writer's own."""
    from gitmem.importers import git_messages

    claim = git_messages.claim(message)
    if claim is None or not claim.targets or _lands(claim):
        return None
    own = capture.sentence(claim.reason)
    core = own or capture.sentence(git_messages.split(message)[0])
    evidence = [f"commit:{commit}", *(f"reverts:{target.oid}" for target in claim.targets[:4])]
    return Capture(capture.REVERT, core, evidence=evidence, is_bare=not own) if core else None


def _lands(claim: Claim) -> bool:
    """Say whether a commit lands something again: it says so, or it takes back what took something back."""
    from gitmem.importers import git_messages

    taken_back = git_messages.claim(claim.subject) if claim.subject else None
    return claim.lands or (taken_back is not None and not _lands(taken_back))


# --- weighing ---------------------------------------------------------------------------------


class _Chosen:
    """A capture that becomes a lesson: its draft, the items that say it, and the lesson that it repeats, or ""."""

    __slots__ = ("draft", "items", "repeats")

    def __init__(self, draft: Draft, items: list[str], repeats: str) -> None:
        self.draft = draft
        self.items = items
        self.repeats = repeats


def _chosen(desk: Desk, cache: Cache, inbox: Inbox, head: Head) -> list[_Chosen]:
    """Return what becomes lessons now, of what waits and might pass; note of the rest what it could come to."""
    from gitmem.sync import heads

    policy = desk.lesson_policy()
    groups = _grouped(inbox.items(), policy)
    left = [group for group in groups if group.may][:WEIGHED_MAX]
    if not left:
        return []
    files = heads.files(desk.repository, head)
    chosen = []
    for group in left:
        weighed = weigh(desk, cache, policy, group, groups, files)
        if weighed.is_gone:
            inbox.settle(group.items, for_good=True)
        elif weighed.repeats or weighed.score.passes:
            draft = lesson_draft(policy, group.capture, head.oid)
            chosen.append(_Chosen(draft, group.items, weighed.repeats))
        else:
            inbox.weighed(group.items, may=weighed.score.at_best >= policy.capture_bar)
    return chosen


class Group:
    """Items that say the same, as one capture: that of the first of them, with the times and places of all.

    may   whether it may pass: it wasn't weighed since it was seen, or was too light for want of its files in hand
    """

    __slots__ = ("capture", "expires", "first", "items", "last", "may", "sketch")

    def __init__(self, items: Sequence[Item], sketch: Sketch) -> None:
        self.sketch = sketch
        self.first = items[0]
        self.items = [item.id for item in items]
        self.last = max(item.last for item in items)
        self.expires = max(item.expires for item in items)
        self.may = any(item.may is not False for item in items)
        own = items[0].capture
        self.capture = Capture(
            own.source,
            own.core,
            paths=dict.fromkeys(path for item in items for path in item.capture.paths),
            evidence=dict.fromkeys(one for item in items for one in item.capture.evidence),
            times=len({key for item in items for key in item.keys}),
            is_bare=own.is_bare,
        )


def _grouped(items: Iterable[Item], policy: Policy) -> list[Group]:
    """Return what waits as groups of what says the same, the newest first."""
    groups: list[tuple[Sketch, list[Item]]] = []
    for item in sorted(items, key=lambda item: (item.first, item.id)):
        sketch = Sketch(item.capture.core)
        for own, group in groups:
            if group[0].capture.source == item.capture.source and own.alike(sketch) >= policy.merge_cut:
                group.append(item)
                break
        else:
            groups.append((sketch, [item]))
    found = [Group(group, own) for own, group in groups]
    return sorted(found, key=lambda group: (-group.last, group.first.id))


def weigh(
    desk: Desk, cache: Cache | None, policy: Policy, group: Group, groups: Iterable[Group], files: Sequence[str]
) -> Weighed:
    """Return what a group of captures is worth now, and which lesson of its scope it repeats."""
    near: list[tuple[int, Lesson]] = []
    again: Lesson | None = None
    if cache is not None:
        known, near = teaching.alike(cache, policy, group.sketch, _scope(desk, group.capture.paths))
        again = teaching.repeated(known, near, capture.outcome(group.capture, policy))
    percent, first = near[0] if near else (0, None)
    others = [group.sketch.alike(other.sketch) for other in groups if other is not group]
    score = capture.score(group.capture, policy, known=percent, waiting=max(others, default=0), in_hand=files)
    is_gone = first is not None and first.is_gone and percent >= policy.merge_cut
    return Weighed(group, score, again.id if again is not None and not is_gone else "", is_gone=is_gone)


def _scope(desk: Desk, paths: Iterable[str]) -> str:
    return recording.home_of(desk, next((path for path in paths if entities.place_of(path)), ""))


# --- writing ----------------------------------------------------------------------------------


def _write(
    desk: Desk,
    inbox: Inbox,
    commit: str,
    uses: Sequence[str],
    applied: dict[str, list[str]],
    chosen: Sequence[_Chosen],
) -> int:
    """Append lessons and uses as one commit of the log, and take them out of the inbox; return how many events."""
    if not (uses or applied or chosen):
        return 0
    from gitmem.core import secrets
    from gitmem.store.writing import Appender

    own = desk.own_rules()
    writer = desk.writer()

    def decide(cache: Cache) -> list[tuple[Event, bytes]]:
        out: list[tuple[Event, bytes]] = []
        stamp = desk.stamp(cache)
        for draft, by in _drafts(desk, cache, writer, commit, uses, applied, chosen):
            at = Stamp(stamp.clock + len(out), stamp.now, stamp.nonces)
            clear = secrets.cleared(draft, own)
            if draft.kind == "use":
                out += recording.loose_events(clear, by, at)
            else:
                try:
                    out += recording.decide_draft(desk, cache, clear, by, at).appends
                except (Refused, RuleViolation):
                    continue  # what it repeats went meanwhile, or its text is none
        return out

    entry = Appender(desk.model, desk.log).append(decide)
    inbox.used(applied.items())
    inbox.settle([item for one in chosen for item in one.items])
    return len(entry.events) if entry is not None else 0


def _drafts(
    desk: Desk,
    cache: Cache,
    writer: Writer,
    commit: str,
    uses: Sequence[str],
    applied: dict[str, list[str]],
    chosen: Sequence[_Chosen],
) -> list[tuple[Draft, Writer]]:
    found: list[tuple[Draft, Writer]] = []
    if uses:
        fields: dict[str, object] = {"targets": sorted(uses), "how": "commit", "commit": commit}
        found.append((Draft("use", fields), writer))
    for session, lessons in applied.items():
        there = [one for one in lessons if cache.event(one) is not None]
        if there:
            by = desk.writer(session=session) if session else writer
            found.append((Draft("use", {"targets": there, "how": "applied"}), by))
    for one in chosen:
        fields = dict(one.draft.fields)
        fields["scope"] = _scope(desk, strings_of(fields.get("paths")))
        repeated = cache.event(one.repeats) if one.repeats else None
        if repeated is not None:
            fields |= {"targets": [repeated.id], "scope": repeated.scope}
        found.append((one.draft.with_fields(fields), writer))
    return found


def lesson_draft(policy: Policy, seen: Capture, commit: str = "") -> Draft:
    """Return the draft of the lesson that a capture becomes, with its evidence: what saw it, and the commit it met."""
    evidence = list(seen.evidence)
    if commit and f"commit:{commit}" not in evidence:
        evidence.append(f"commit:{commit}")
    fields: dict[str, object] = {"core": seen.core, "severity": capture.severity(seen, policy)}
    if seen.paths:
        fields["paths"] = seen.paths[:PATHS_MAX]
    outcome = capture.outcome(seen, policy)
    if outcome:
        fields["outcome"] = outcome
    if evidence:
        fields["evidence"] = evidence
    return Draft("lesson", fields, redact_secrets=True)


# --- the inbox, for people --------------------------------------------------------------------


def inbox(desk: Desk, keep: Sequence[str] = (), drop: Sequence[str] = ()) -> Captured:
    """Do what `Memory.inbox` says."""
    policy = desk.lesson_policy()
    try:
        cache: Cache | None = desk.cache()
    except NoLog:
        cache = None
    recorded: list[Recorded] = []
    with Inbox(desk.repository, is_read_only=not (keep or drop)) as box:
        groups = _grouped(box.items(), policy)
        kept = [_named(groups, prefix) for prefix in dict.fromkeys(keep)]
        dropped = [_named(groups, prefix) for prefix in dict.fromkeys(drop)]
        if any(group in dropped for group in kept):
            raise Refused(field="--drop", what="what is to be kept is not dropped at the same time")
        for group in kept:
            draft = lesson_draft(policy, group.capture)
            at_root = [f":/{path}" for path in strings_of(draft.fields.get("paths"))]
            recorded.append(teaching.teach(desk, draft.with_fields({**draft.fields, "paths": at_root})))
            box.settle(group.items)
        for group in dropped:
            box.settle(group.items, for_good=True)
    left = [group for group in groups if group not in kept and group not in dropped]
    files = changes.in_hand(desk.repository) if left else []
    waiting = [weigh(desk, cache, policy, group, left, files) for group in left]
    return Captured(waiting, recorded, [group.first.id for group in dropped], policy)


def _named(groups: Iterable[Group], prefix: str) -> Group:
    """Return the group of the one item whose id begins with `prefix`. Raises UnknownId, AmbiguousId."""
    found = [group for group in groups if any(item.startswith(prefix.lower()) for item in group.items)]
    if not ids.is_prefix(prefix) or not found:
        raise UnknownId(id=repr(prefix[:80]), hint="`git decisions inbox` lists what waits, with ids.")
    if len(found) > 1:
        told = ", ".join(group.first.id[:12] for group in found[:8])
        raise AmbiguousId(id=prefix, count=len(found), candidates=told, ids=[group.first.id for group in found])
    return found[0]


def _clean(desk: Desk, seen: Capture) -> Capture:
    """Return a capture with a marker in the place of whatever looks like a secret: this file is kept in the clear."""
    from gitmem.core import secrets

    try:
        own = desk.own_rules()
    except Refused:  # a policy that can't be read names no secrets of its own
        own = ()
    hits = secrets.scan("core", seen.core, own)
    if hits:
        seen.core = capture.cut(secrets.redacted(seen.core, hits))
    seen.paths = [path for path in seen.paths if not secrets.scan("paths", path, own)]
    return seen


def _paths(files: Iterable[str]) -> list[str]:
    """Return some files as entity paths, the first few of those that can be any."""
    found: list[str] = []
    for file in files:
        try:
            found.append(entities.canonical(file))
        except entities.BadName:
            continue
        if len(found) == PATHS_MAX:
            break
    return found


def _file(desk: Desk, cwd: str, named: str) -> str:
    """Return the file of the work tree that the line of a failure names, from the root, or ""."""
    top = desk.repository.work_tree
    if not (top and named) or not glancing.is_path(named):
        return ""
    for place in dict.fromkeys((cwd, top)):
        whole = glancing.whole_path(named, place)
        path = glancing.inside(desk.repository, whole) if os.path.isfile(whole) else ""
        if path:
            return next(iter(_paths([path])), "")
    return ""


def _today() -> str:
    return f"day:{dates.of_seconds(time.time())[:10]}"
