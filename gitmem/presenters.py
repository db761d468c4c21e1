"""Results as plain dicts: the JSON of `--json`, MCP and HTTP is this one, and text is drawn from it.

Every answer is an object with `"schema": 1`; lists stand under `events`, `decisions`, `attempts`, `findings`.
An event has every common field; what its kind has not is null. Fields are added, never changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitmem.core import characters, dates, ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.results import (
        Absence,
        Asserted,
        Attached,
        Brought,
        Captured,
        Carried,
        Changesets,
        Digest,
        Examined,
        Faded,
        Gated,
        History,
        Imported,
        Lessons,
        Linked,
        Listing,
        Prior,
        Recorded,
        Restored,
        Revealed,
        Rules,
        SetUp,
        Shown,
        Slept,
        Stale,
        Standing,
        Stats,
        Steps,
        Travelled,
        Weighed,
    )
    from gitmem.cases.tracing import Why
    from gitmem.core.attempts import Attempt
    from gitmem.core.events import Event
    from gitmem.core.gate import Match
    from gitmem.core.history import Finding
    from gitmem.core.lessons.book import Book, Lesson
    from gitmem.core.lessons.ladder import Rule
    from gitmem.core.lessons.recall import Item as Told
    from gitmem.core.lessons.recall import Recalled
    from gitmem.core.reviews import Change
    from gitmem.errors import GitmemError
    from gitmem.store.archive import Attachment
    from gitmem.store.cache import StoredDecision
    from gitmem.store.listing import Row
    from gitmem.store.placing import Link
    from gitmem.store.reviews import Item, Queue
    from gitmem.store.revisits import Due
    from gitmem.store.verifying import Report
    from gitmem.sync.redaction import Redacted

SCHEMA = 1
Json = dict[str, object]

_CHANGE_FIELDS = (
    "change_type",
    "entity_path",
    "entity_type",
    "approach",
    "reasoning",
    "instead",
    "constraint",
    "diff",
    "stale_when",
    "expires_when",
    "revisit_after",
    "valid_from",
    "valid_to",
    "renamed_from",
    "changeset_id",
    "fingerprint",
    "patterns",
    "base",
    "evidence",
    "tags",
)
_OTHER_FIELDS = (
    *("action", "reason", "until", "commit", "how", "renames", "replaces", "mode", "allow_secret"),
    *("core", "gist", "topic", "paths", "outcome", "cost", "severity", "binding", "was", "becomes", "policy"),
)


def event(row: Row) -> Json:
    """Return the JSON of an event as it stands now."""
    e = row.event
    get = e.fields.get
    out: Json = {"id": e.id, "kind": e.kind, "scope": e.scope}
    for name in _CHANGE_FIELDS:
        out[name] = get(name)
    if e.redacted:
        out["reasoning"] = "[redacted]" if e.kind == "change" else None
    for name in _OTHER_FIELDS:
        if name in e.fields:
            out[name] = get(name)
    out["supersedes"] = list(e.supersedes)
    out["superseded_by"] = row.superseded_by
    out["targets"] = list(e.targets)
    out["author"] = e.author
    out["agent"] = get("agent")
    out["session_id"] = get("session_id")
    out["channel"] = e.channel or None
    out["basis"] = e.basis or None
    out["effect"] = row.effect
    if row.reason:
        out["effect_reason"] = row.reason
    out["clock"] = e.clock
    out["recorded_at"] = e.recorded_at
    out["after"] = list(e.after)
    out["source"] = e.source or None
    out["commits"] = row.commits
    if row.found:
        out["commits_found"] = row.found
    out["trust"] = row.trust
    out["marks"] = row.marks
    out["verdict"] = row.verdict or None
    out["redacted"] = bool(e.redacted)
    out["signature"] = _signature(row)
    if e.newer:
        out["newer"] = True
    if row.score is not None:
        out["score"] = row.score
    return out


def _signature(row: Row) -> Json | None:
    """Return what is known of an event's signature: `state` is good, unchecked, or what is wrong with it."""
    found = row.checked
    if found is None:
        return None
    return {"state": found.state, "principal": found.principal or None, "key": found.key}


def record(result: Recorded) -> Json:
    rows = [event(row) for row in result.rows]
    out: Json = {"schema": SCHEMA, "written": not result.dry_run, "events": rows, "warnings": result.warnings}
    if result.attached is not None:
        out["attached"] = [_attachment(one) for one in result.attached]
    return out


def attach(result: Attached) -> Json:
    new = [_attachment(one) for one in result.attachments]
    return {"schema": SCHEMA, "written": bool(new), "event": result.event, "attached": new, "known": result.known}


def carry(result: Carried) -> Json:
    return {
        "schema": SCHEMA,
        "remote": result.remote,
        "old_tip": result.old_tip or None,
        "tip": result.tip or None,
        "remote_tip": result.theirs or None,
        "received": result.came,
        "sent": result.went,
    }


def _attachment(one: Attachment) -> Json:
    return {"name": one.name, "size": one.size, "sha256": one.sha256}


def audit(result: Attached) -> Json:
    """Return the JSON of `audit` but for the contents, which are too large to be held: `audited` has the rest."""
    return {"schema": SCHEMA, "event": result.event, "attachments": [audited(one) for one in result.attachments]}


def audited(one: Attachment) -> Json:
    """Return what is told of an attachment; its content follows it as `text`, or as `base64` where it is none."""
    return {
        **_attachment(one),
        "added_at": one.added_at or None,
        "author": one.author or None,
        "channel": one.channel or None,
        "allow_secret": one.secret,
        "problem": one.problem or None,
    }


def inbox(result: Captured) -> Json:
    """Return what waits in the inbox, each with its score part by part, and what was kept and dropped just now."""
    waiting = [_captured(one) for one in result.waiting]
    events = [event(row) for recorded in result.recorded for row in recorded.rows]
    return {
        "schema": SCHEMA,
        "policy": result.policy,
        "bar": result.bar,
        "waiting": waiting,
        "events": events,
        "dropped": result.dropped,
    }


def _captured(one: Weighed) -> Json:
    from gitmem.core.dates import of_seconds
    from gitmem.core.lessons.capture import TOLD

    group, score = one.group, one.score
    seen = group.capture
    parts = [
        {"name": part.name, "value": part.value, "weight": part.weight, "points": part.points} for part in score.parts
    ]
    return {
        "id": group.first.id,
        "source": seen.source,
        "told": TOLD[seen.source],
        "core": seen.core,
        "paths": seen.paths,
        "evidence": seen.evidence,
        "times": seen.times,
        "first": of_seconds(group.first.first),
        "last": of_seconds(group.last),
        "expires": of_seconds(group.expires),
        "score": {"total": score.total, "bar": score.bar, "passes": score.passes, "parts": parts},
        "repeats": one.repeats or None,
        "is_gone": one.is_gone,
    }


def reveal(result: Revealed) -> Json:
    """Return what has faded around a path, and the caution that an edit there is told."""
    return {
        "schema": SCHEMA,
        "path": result.path,
        "policy": result.policy,
        "caution": result.caution,
        "lessons": [_faded(one) for one in result.lessons],
    }


def _faded(one: Faded) -> Json:
    lesson = one.lesson
    return {
        "id": lesson.id,
        "core": lesson.core,
        "gist": lesson.gist if lesson.gist != lesson.core else None,
        "topic": lesson.topic or None,
        "paths": list(lesson.paths),
        "scope": lesson.scope,
        "severity": lesson.severity,
        "trust": lesson.trust,
        "points": one.points,
        "access": lesson.group_access,
        "access_percent": lesson.group_access // 10_000,
        "times": lesson.times,
        "touches": lesson.touches,
        "last": lesson.last,
    }


def listing(result: Listing) -> Json:
    out: Json = {"schema": SCHEMA, "events": list(events(result))}
    if result.entity:
        out["entity_path"] = result.entity
    return out


def events(result: Listing) -> Iterator[Json]:
    """Yield the events of a listing one by one (`--stream`, and text that needs no whole list)."""
    for row in result.rows:
        yield event(row)


log = search = listing


def blame(result: Listing) -> Json:
    found = next(iter(result.rows), None)
    return {"schema": SCHEMA, "entity_path": result.entity, "event": event(found) if found else None}


def show(result: Shown) -> Json:
    return {
        "schema": SCHEMA,
        "event": event(result.row),
        "log_commit": result.log_commit,
        "links": [_link(one, result.gone, result.taken_back) for one in result.links],
        "reviews": [_review(review, result.signatures) for review in result.reviews],
        "marks": [_review(mark, result.signatures) for mark in result.marks],
        "closed": result.closed,
        "closed_by": result.closed_by,
    }


def _link(found: Link, gone: set[str], taken_back: dict[str, str]) -> Json:
    return {
        "id": found.id or None,
        "commit": found.commit or None,
        "how": found.how or None,
        "tree": found.tree or None,
        "patch_id": found.patch_id or None,
        "renames": found.renames or [],
        "replaces": found.replaces,
        "evidence": found.evidence,
        "confidence": found.confidence or None,
        "recorded_at": found.recorded_at or None,
        "gone": found.commit in gone,
        "reverted_by": None if found.how == "revert" else taken_back.get(found.commit),
    }


def _review(review: Event, signatures: dict[str, Row]) -> Json:
    row = signatures.get(review.id)
    return {
        "id": review.id,
        "kind": review.kind,
        "action": review.action or None,
        "reason": review.fields.get("reason"),
        "author": review.author,
        "channel": review.channel,
        "recorded_at": review.recorded_at,
        "signature": _signature(row) if row else None,
    }


def status(result: Standing) -> Json:
    out: Json = {"schema": SCHEMA}
    if result.entity:
        out["entity_path"] = result.entity
    out["counts"] = result.counts
    out["decisions"] = [_decision(decision, result.in_head, result.reverted) for decision in result.decisions]
    if not result.entity:
        out["events"] = result.events
        out["unlinked"] = result.unlinked
        out["tip"] = result.tip
        out["review"] = {"waiting": result.waiting, "oldest": result.waiting_since or None}
    out["newer"] = result.newer
    out["quarantined"] = result.quarantined
    return out


def _decision(decision: StoredDecision, in_head: Mapping[str, bool], reverted: Mapping[str, str]) -> Json:
    commits = decision.commits
    return {
        "entity_path": decision.entity_path,
        "entity_names": decision.names,
        "scope": decision.scope,
        "approach": decision.approach,
        "verdict": decision.verdict,
        "trust": decision.trust,
        "sealed": decision.sealed,
        "standing": decision.standing,
        "against": decision.against,
        "closed_by_parent": decision.closed_by_parent or None,
        "in_head": any(in_head.get(commit, False) for commit in commits) if commits else None,
        "reverted_by": reverted.get(decision.standing),
        "since": decision.since,
        "events": decision.events,
    }


def review(result: Queue) -> Json:
    from gitmem.core.reviews import LOOKS

    waiting = [item for item in result.items if item.why not in LOOKS]
    return {
        "schema": SCHEMA,
        "waiting": len(waiting),
        "oldest": min((item.since for item in waiting if item.since), default=None),
        "relanded": sum(item.why == "relanded" for item in result.items),
        "due": sum(item.why == "due" for item in result.items),
        "token": result.token,
        "items": [_item(item) for item in result.items],
    }


def _item(item: Item) -> Json:
    sides: dict[str, list[Json]] = {"closed": [], "open": []}
    for side, row in item.sides:
        sides[side].append(_unless_sealed(event(row)))
    actions = list(_actions(item))
    return {
        "why": item.why,
        "since": item.since or None,
        "event": _unless_sealed(event(item.row)) if item.row else None,
        "effect_reason": item.row.reason or None if item.row else None,
        "decision": _decision(item.decision, {}, {}) if item.decision else None,
        "sides": sides if item.decision else None,
        "finding": finding(item.finding) if item.finding else None,
        "rule": rule(*item.rule) if item.rule else None,
        "due": {"flag": item.due.flag, "signals": _signals(item.due)} if item.due else None,
        "if_ratified": [_difference(one) for one in item.if_ratified],
        "if_retracted": [_difference(one) for one in item.if_retracted],
        "if_kept": {kept: [_difference(one) for one in changes] for kept, changes in item.if_kept.items()},
        "closed_by": item.blockers,
        "actions": actions,
        "commands": [action["command"] for action in actions],
    }


def _difference(change: Change) -> Json:
    out: Json = change._asdict()
    for name in ("before", "after", "trust_before", "trust_after"):
        out[name] = out[name] or None
    return out


#: What of an event is text, and so is kept back where it is sealed.
_TEXTS = ("approach", "reasoning", "instead", "constraint", "diff", "stale_when", "expires_when", "reason")


def _unless_sealed(one: Json) -> Json:
    """Return an event without its text where it is sealed: it waits all the same, and `show` has it."""
    marks = one["marks"]
    if isinstance(marks, list) and "seal" in marks:
        hidden: Json = {name: "[sealed]" for name in _TEXTS if one.get(name)}
        return {**one, **hidden, "patterns": None, "evidence": None, "tags": None, "fingerprint": None}
    return one


def _actions(item: Item) -> Iterator[Json]:
    """Yield what may be done with an item, each a person's: `do`, the id that it is done to, and the command for it."""
    from gitmem.core import entities, reviews
    from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING, OPENING

    def action(word: str, one: str, command: str) -> Json:
        return {"do": word, "id": one, "command": f"git decisions {command} -r WHY"}

    if item.decision is not None:
        about = entities.typed(item.decision.entity_path)
        for one in item.ids:
            yield action("keep", one, f"resolve {about} --keep {ids.short(one)}")
        for one in _renamable(item):
            yield action("both", one, f"resolve {about} --both {ids.short(one)} --approach TEXT")
        return
    (one,) = item.ids
    short = ids.short(one)
    if item.finding is not None:
        yield action("accept", one, f"ratify {short}")
        yield action("redact", one, f"redact {short}")
        return
    assert item.row is not None
    told = item.row.event
    role = CHANGE_TYPES.get(told.change_type)
    editable = reviews.is_editable(told) and "seal" not in item.row.marks
    if item.due is not None:
        if role == CLOSING:
            yield action("supersede", one, f"supersede {short}")
        if editable and item.why == reviews.DUE:
            yield action("edit", one, f"ratify --edit {short}")
        return
    if item.why == reviews.UNSIGNED:
        yield action("ratify", one, f"ratify {short} --sign")
        yield action("retract", one, f"retract {short} --sign")
        return
    if item.why == reviews.VOID:
        words: tuple[str, ...] = ("retract", "dispute")
    else:
        words = ("ratify", "edit", "dispute", "retract") if editable else ("ratify", "dispute", "retract")
    for word in words:
        yield action(word, one, f"ratify --edit {short}" if word == "edit" else f"{word} {short}")
    if role == OPENING and told.approach and item.why == reviews.OTHER and "seal" not in item.row.marks:
        import shlex

        about = entities.typed(told.entity_path)
        yield action("reject", one, f"reject {about} --approach {shlex.quote(told.approach)}")
    for blocker in item.blockers:
        yield action("supersede", blocker, f"supersede {ids.short(blocker)}")


def _renamable(item: Item) -> list[str]:
    """Return the ids of a contested decision that can go on as another approach beside the other side."""
    from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING, OPENING

    by_side: dict[str, list[Row]] = {"closed": [], "open": []}
    for side, row in item.sides:
        by_side[side].append(row)
    whole = any(row.event.change_type == "reject" and not row.event.approach for row in by_side["closed"])
    found = []
    for side, rows in by_side.items():
        alone = len(rows) == 1 and CHANGE_TYPES.get(rows[0].event.change_type) in (CLOSING, OPENING)
        if alone and "seal" not in rows[0].marks and not (side == "open" and whole):
            found.append(rows[0].event.id)
    return found


def prior(result: Prior) -> Json:
    out: Json = {"schema": SCHEMA, "known": result.known}
    if result.entity:
        out["entity_path"] = result.entity
    out["attempts"] = [_attempt(attempt) for attempt in result.attempts]
    out["hidden"] = result.hidden
    return out


def _attempt(attempt: Attempt) -> Json:
    speaking = attempt.event
    opening, closing = attempt.opening, attempt.closing
    get = speaking.fields.get
    reason = "[redacted]" if speaking.redacted else get("reasoning")
    approach = speaking.approach or (opening.approach if opening else "")
    out: Json = {
        "entity_path": speaking.entity_path,
        "scope": speaking.scope,
        "approach": approach,
        "outcome": attempt.outcome,
        "confidence": attempt.confidence,
        "trust": attempt.trust,
        "match": attempt.match,
        "score": attempt.score,
        "because": attempt.because,
        "reasoning": reason,
        "tried_because": opening.fields.get("reasoning") if opening and closing else None,
        "instead": get("instead"),
        "constraint": get("constraint"),
        "stale_when": get("stale_when"),
        "expires_when": get("expires_when"),
        "attempt": opening.id if opening else None,
        "closed_by": [closing.id] if closing else [],
        "superseded_by": attempt.lifted_by,
        "when": speaking.valid_from or speaking.recorded_at,
    }
    out["line"] = _attempt_line(out, speaking.id)
    return out


def _attempt_line(attempt: Json, event_id: str) -> str:
    """Return the one-line, self-labelled text that an agent reads."""
    label = f"[{attempt['outcome']} · {attempt['confidence']} · {ids.short(event_id)}]"
    approach = f" ({flat(attempt['approach'], 120)})" if attempt["approach"] else ""
    reason = flat(attempt["reasoning"], 240) or "no reason is left"
    parts = [f"{label} {flat(attempt['entity_path'], 200)}{approach}: {reason}"]
    if attempt["instead"]:
        parts.append(f"instead: {flat(attempt['instead'], 160)}")
    if attempt["stale_when"]:
        parts.append(f"worth another look when: {flat(attempt['stale_when'], 160)}")
    lifted = attempt["superseded_by"]
    if isinstance(lifted, list) and lifted:
        parts.append(f"re-opened by {', '.join(ids.short(one) for one in lifted)}")
    return " | ".join(parts)


def flat(text: object, most: int) -> str:
    """Bring text to one line of at most `most` characters; recorded text is data, and stays on its line."""
    from gitmem.core import gate

    return gate.one_line(str(text or ""), most)


def why(result: Why) -> Json:
    trail = result.trail
    rows: dict[str, Row] = {}
    commits = []
    for commit in trail.commits:
        behind = result.behind.get(commit.oid, [])
        rows.update({one.row.event.id: one.row for one in behind})
        commits.append(
            {
                "commit": commit.oid,
                "subject": commit.subject,
                "author": commit.author,
                "date": dates.of_seconds(commit.authored),
                "events": [
                    {
                        "id": one.row.event.id,
                        "how": one.how,
                        "via": one.via or None,
                        "confidence": one.confidence or None,
                        "reverted_by": one.reverted_by or None,
                    }
                    for one in behind
                ],
            }
        )
    rows.update({row.event.id: row for row in result.about})
    return {
        "schema": SCHEMA,
        "known": bool(rows),
        "file": trail.file,
        "line": trail.line or None,
        "text": trail.text if trail.line else None,
        "note": trail.note or None,
        "commits": commits,
        "about": [row.event.id for row in result.about],
        "events": [event(row) for row in rows.values()],
    }


def stale(result: Stale) -> Json:
    counts: dict[str, int] = {}
    for due in result.rows:
        counts[due.flag] = counts.get(due.flag, 0) + 1
    out: Json = {"schema": SCHEMA, "now": result.now, "counts": counts}
    if result.entity:
        out["entity_path"] = result.entity
    out["decisions"] = [_due(due) for due in result.rows]
    return out


def _due(due: Due) -> Json:
    row = due.row
    event = row.event
    get = event.fields.get
    first = due.signals[0]
    return {
        "entity_path": event.entity_path,
        "scope": event.scope,
        "change_type": event.change_type,
        "approach": event.approach or None,
        "verdict": row.verdict or None,
        "trust": row.trust,
        "standing": event.id,
        "since": event.valid_from or event.recorded_at,
        "flag": first.flag,
        "why": first.why,
        "days_overdue": due.overdue_s // 86400,
        "signals": _signals(due),
        "reasoning": get("reasoning"),
        "instead": get("instead"),
        "revisit_after": get("revisit_after"),
        "stale_when": get("stale_when"),
        "expires_when": get("expires_when"),
    }


def _signals(due: Due) -> list[Json]:
    return [
        {
            "flag": signal.flag,
            "why": signal.why,
            "since": signal.since or None,
            "event": signal.event or None,
            "words": signal.words,
            "commit": signal.commit or None,
        }
        for signal in due.signals
    ]


def changeset(result: Listing | Changesets) -> Json:
    from gitmem.cases.results import Changesets

    if isinstance(result, Changesets):
        rows = [
            {"id": name, "events": number, "first": first, "last": last} for name, number, first, last in result.rows
        ]
        return {"schema": SCHEMA, "changesets": rows}
    return listing(result)


def stats(result: Stats) -> Json:
    of, covered = result.coverage
    by = {name: dict(sorted(counts.items(), key=lambda one: (-one[1], one[0]))) for name, counts in result.by.items()}
    return {
        "schema": SCHEMA,
        "events": result.events,
        "entities": result.entities,
        "unlinked": result.unlinked,
        "by": by,
        "commits": {"total": of, "with_decisions": covered},
    }


def assert_ids(result: Asserted) -> Json:
    return {"schema": SCHEMA, "present": result.present, "missing": result.missing}


def verify(result: Report) -> Json:
    return {
        "schema": SCHEMA,
        "sound": result.sound,
        "tip": result.tip or None,
        "events": result.events,
        "commits": result.commits,
        "newer": result.newer,
        "signatures": result.signatures,
        "incremental_from": result.incremental_from or None,
        "findings": [finding(one) for one in result.findings],
    }


def finding(one: Finding) -> Json:
    return {
        "rule": one.rule,
        "severity": one.severity,
        "commit": one.commit or None,
        "event": one.event or None,
        "message": f"{one.message}; accepted by {ids.short(one.accepted)}" if one.accepted else one.message,
        "accepted_by": one.accepted or None,
    }


def steps(result: Steps) -> Json:
    return {
        "schema": SCHEMA,
        "dry_run": result.dry_run,
        "steps": [{"what": what, "done": done, "already": already} for what, done, already in result.steps],
        "notes": result.notes,
    }


def set_up(result: SetUp) -> Json:
    told = [
        {"what": what, "done": done, "already": already, "diff": diff}
        for (what, done, already), diff in zip(result.steps, result.diffs)
    ]
    return {**steps(result), "agents": result.agents, "in_order": result.is_in_order, "steps": told}


def travelled(result: Travelled) -> Json:
    done = result.done
    return {
        "schema": SCHEMA,
        "remote": done.remote,
        "ref": done.ref,
        "dry_run": done.dry_run,
        "old_tip": done.old_tip or None,
        "tip": done.tip or None,
        "remote_tip": done.theirs or None,
        "received": done.came,
        "sent": done.went,
        "joined": done.joined,
        "redacted": done.redacted,
        "replaced": done.replaced,
        "linked": result.linked,
        "events": {"received": [event(row) for row in result.came], "sent": [event(row) for row in result.went]},
        "held": [*(done.purged.held if done.purged else []), *result.remarks],
    }


def redact(result: Redacted) -> Json:
    purged = result.purged
    return {
        "schema": SCHEMA,
        "dry_run": result.dry_run,
        "written": bool(result.event),
        "redacted": result.ids,
        "mode": result.mode,
        "event": result.event or None,
        "old_tip": result.old_tip,
        "tip": result.tip,
        "commits": result.commits,
        "objects": result.doomed if result.dry_run else purged.objects if purged else 0,
        "packs": purged.packs if purged else 0,
        "bytes": result.bytes,
        "held": [*(purged.held if purged else []), *result.remarks],
    }


expunge = redact


init = uninstall = steps
rebuild = status


def doctor(result: Examined) -> Json:
    return {
        "schema": SCHEMA,
        "well": result.is_well,
        "checks": [
            {"what": one.what, "state": one.state, "says": one.says, "remedy": one.remedy or None}
            for one in result.checks
        ],
    }


def import_from(result: Brought) -> Json:
    return {
        "schema": SCHEMA,
        "dry_run": result.dry_run,
        "read": result.read,
        "appended": result.appended,
        "known": result.known,
        "warnings": result.warnings,
        "skipped": _skipped(result.skipped),
    }


def _skipped(rows: list[tuple[str, int, list[str], bool]]) -> list[Json]:
    return [
        {"reason": reason, "count": count, "examples": examples, "kept": kept} for reason, count, examples, kept in rows
    ]


def import_git(result: Imported) -> Json:
    return {
        "schema": SCHEMA,
        "dry_run": result.dry_run,
        "commits": result.commits,
        "found": result.reverts,
        "landings": result.landings,
        "appended": result.appended,
        "known": result.known,
        "warnings": result.warnings,
        "skipped": _skipped(result.skipped),
    }


def import_jsonl(result: Restored) -> Json:
    return {
        "schema": SCHEMA,
        "dry_run": result.dry_run,
        "commits": result.commits,
        "events": result.events,
        "appended": result.appended,
        "known": result.known,
        "redacted": result.redacted,
        "tip": result.tip or None,
        "warnings": result.warnings,
        "skipped": [
            {"reason": reason, "count": count, "examples": examples} for reason, count, examples in result.skipped
        ],
    }


def link(result: Linked) -> Json:
    return {
        "schema": SCHEMA,
        "links": [{"events": list(found), "commit": commit, "how": how} for found, commit, how in result.links],
        "found": [{"events": list(found), "commit": commit, "how": how} for found, commit, how in result.found],
        "doubts": [{"events": found, "commits": commits} for found, commits in result.doubts],
        "unlinked": result.unlinked,
    }


def error(problem: GitmemError) -> Json:
    """Return the error object of `--json`."""
    return {
        "schema": SCHEMA,
        "error": {
            "code": problem.code,
            "name": problem.name,
            "message": problem.message,
            "hint": problem.advice,
            "written": problem.written,
        },
    }


def gated(result: Gated) -> Json:
    """The gate's findings: error stops, warning passes by a trailer or an override, notice is worth a line."""
    from gitmem.core import gate

    ruling = result.ruling
    severities = (
        ("error", (*ruling.stops, *ruling.again)),
        ("warning", ruling.passed),
        ("notice", ruling.notes),
    )
    return {
        "schema": SCHEMA,
        "where": result.where,
        "stops": ruling.is_stop,
        "has_log": result.has_log,
        "files": result.files,
        "unread": list(result.unread),
        "findings": [_gated(one, severity, result) for severity, matches in severities for one in matches],
        "message": gate.message(ruling, result.reader),
    }


def recall(result: Recalled, query: str) -> Json:
    return {
        "schema": SCHEMA,
        "known": result.known,
        "query": query,
        "recalled": [_recalled(item) for item in result.items],
        "left_out": len(result.left_out),
        "budget": result.budget,
        "text": result.text,
    }


def _recalled(item: Told) -> Json:
    met = item.match
    return {
        "kind": item.kind,
        "id": item.id,
        "text": item.text,
        "is_gist": item.is_gist,
        "score": item.score,
        "relevance": met.relevance if met else None,
        "shared": [characters.nfc(stem) for stem in met.shared] if met else [],
        "speaks_for": list(item.spoken_for),
        "line": item.line,
    }


def why_not(result: Absence, query: str) -> Json:
    return {
        "schema": SCHEMA,
        "id": result.id,
        "kind": result.kind,
        "query": query,
        "place": result.place,
        "reasons": result.reasons,
        "line": result.line,
    }


def digest(result: Digest) -> Json:
    return {"schema": SCHEMA, "text": result.text, "bytes": len(result.text.encode("utf-8")), "ids": result.ids}


def _gated(match: Match, severity: str, result: Gated) -> Json:
    from gitmem.core import gate

    event = match.event
    key, commit, said = result.answers.get(event.id, (None, None, None))
    return {
        "rule": match.how,
        "severity": severity,
        "commit": commit,
        "event": event.id,
        "message": gate.line(match),
        "path": match.path,
        "line": match.line or None,
        "why": match.why,
        "entity_path": event.entity_path,
        "approach": event.approach,
        "change_type": event.change_type,
        "scope": event.scope,
        "person_ratified": match.strength == gate.FIRM,
        **{
            name: event.fields.get(name)
            for name in ("reasoning", "instead", "constraint", "stale_when", "expires_when")
        },
        "waiting": list(match.waiting),
        "to_go_on": gate.way_on(match, result.reader),
        "answered_by": key,
        "answer": said,
    }


# --- lessons -------------------------------------------------------------------------------------


def lesson(one: Lesson, band: str = "") -> Json:
    """Return a lesson as it stands at its book's moment; `band`, where it is told in another than its own."""
    fields = one.event.fields
    return {
        "id": one.id,
        "core": one.core or None,
        "gist": one.gist if one.gist != one.core else None,
        "topic": one.topic or None,
        "paths": list(one.paths),
        "scope": one.scope,
        "outcome": fields.get("outcome"),
        "severity": fields.get("severity"),
        "binding": one.binding,
        "trust": one.trust,
        "marks": sorted(one.marks),
        "band": band or one.band,
        "access": one.group_access,
        "half_life_s": one.half_life,
        "uses": one.uses,
        "touches": one.touches,
        "times": one.times,
        "repeats": list(one.repeats),
        "under": one.under or None,
        "author": one.event.author,
        "agent": fields.get("agent"),
        "recorded_at": one.event.recorded_at,
        "last": one.last,
    }


def rule(one: Rule, book: Book) -> Json:
    """Return a pattern, rule or principle with its evidence; a sealed lesson is told by its id alone."""
    told: list[Json] = []
    for name in one.evidence:
        known = book.lessons.get(name)
        if known is not None:
            text = None if known.is_hidden else known.gist
            told.append({"id": name, "text": text, "commit": known.commit, "recorded_at": known.event.recorded_at})
        else:
            below = next((rule for rule in book.rules if rule.id == name), None)
            told.append({"id": name, "text": below.text if below else None, "commit": None, "recorded_at": None})
    return {
        "id": one.id,
        "rank": one.rank,
        "text": one.text or None,
        "topic": one.topic or None,
        "scope": one.scope,
        "direction": one.direction,
        "trust": one.trust,
        "count": one.count,
        "evidence": told,
        "contradicted_by": list(one.contradicted_by),
        "rust": one.rust,
        "last": one.last,
    }


def lessons(result: Lessons) -> Json:
    return {
        "schema": SCHEMA,
        "policy": result.book.policy.label,
        "moment": result.book.moment,
        "counts": result.counts,
        "lessons": [lesson(one, result.bands[one.id]) for one in result.found],
        "left": result.left,
    }


def rules(result: Rules) -> Json:
    return {
        "schema": SCHEMA,
        "policy": result.book.policy.label,
        "rules": [rule(one, result.book) for one in result.standing],
        "fallen": [rule(one, result.book) for one in result.fallen],
    }


def sleep(result: Slept) -> Json:
    from gitmem.core.lessons.sleep import counts

    outcomes: list[Json] = []
    for one, event_id in zip(result.outcomes, result.ids):
        under = one.becomes.get("under")
        about = [
            _text(result.before, name) for name in (one.becomes.get("representative"), *one.targets) if name != under
        ]
        outcomes.append(
            {
                "action": one.action,
                "event": event_id or None,
                "scope": one.scope,
                "targets": list(one.targets),
                "was": one.was,
                "becomes": one.becomes,
                "text": next(filter(None, about), None) if one.action in _TOLD else None,
            }
        )
    return {
        "schema": SCHEMA,
        "dry_run": result.dry_run,
        "written": bool(result.outcomes) and not result.dry_run,
        "policy": result.before.policy.label,
        "moment": result.before.moment,
        "outcomes": outcomes,
        "before": counts(result.before),
        "after": counts(result.after),
    }


#: Outcomes that are about one lesson, or speak the words of one.
_TOLD = ("absorb", "latent", "return", "promote")


def _text(book: Book, name: object) -> str:
    """Return what the lesson or rule of that id says, "" where it isn't to be told."""
    known = book.lessons.get(str(name))
    if known is not None:
        return "" if known.is_hidden else known.gist
    return next((one.text for one in book.rules if one.id == name), "")


def history(result: History) -> Json:
    book = result.book
    found = book.lessons.get(result.subject)
    rising = next((one for one in (*book.rules, *book.fallen) if result.subject in (one.id, *one.also)), None)
    steps: list[Json] = []
    for step in result.steps:
        e = step.event
        steps.append(
            {
                "what": step.what,
                "event": e.id,
                "kind": e.kind,
                "action": e.action or None,
                "targets": list(e.targets),
                "recorded_at": e.recorded_at,
                "author": e.author,
                "agent": e.fields.get("agent"),
                "commit": e.fields.get("commit"),
                "reason": e.fields.get("reason"),
                "before": step.before,
                "after": step.after,
            }
        )
    return {
        "schema": SCHEMA,
        "policy": book.policy.label,
        "moment": book.moment,
        "lesson": lesson(found) if found else None,
        "rule": rule(rising, book) if rising else None,
        "steps": steps,
    }
