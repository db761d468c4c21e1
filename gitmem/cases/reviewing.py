"""Reviewing: what waits for a person, and what a person says of it."""

from __future__ import annotations

import time
from collections.abc import Mapping

from gitmem.cases import recording
from gitmem.cases.typed import strings_of
from gitmem.core import dates
from gitmem.core.drafts import Draft
from gitmem.core.marks import SEAL
from gitmem.core.reviews import OTHER
from gitmem.errors import RuleViolation
from gitmem.store import listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.cases.results import Recorded
    from gitmem.core.events import Event
    from gitmem.store.cache import Cache
    from gitmem.store.reviews import Queue


def review(desk: Desk, *, everything: bool = False, all_scopes: bool = False) -> Queue:
    """Do what `Memory.review` says."""
    from gitmem.cases import reading
    from gitmem.store import policy, reviews

    cache = desk.cache()
    scope = desk.seen_from(all_scopes=all_scopes)
    rules = desk.policy()
    unsigned: list[str] = []
    if rules is not None and rules.require_signed_reviews:
        unsigned = reviews.unsigned(cache, lambda digests: policy.demanding(desk.repository, digests))
    found = reviews.queue(cache, everything=everything, scope=scope, unsigned=unsigned)
    now = dates.of_seconds(time.time())
    looks = list(reviews.for_another_look(reading.due(desk, cache, None, scope, now)))
    at = next((at for at, item in enumerate(found.items) if item.why == OTHER), len(found.items))
    found.items[at:at] = looks
    rows = [row for item in found.items for row in (item.row, *(row for _, row in item.sides)) if row is not None]
    for _ in desk.signed(rows):
        pass
    return found


def waiting(desk: Desk) -> tuple[int, str]:
    """Do what `Memory.waiting` says."""
    from gitmem.store import channel, reviews

    cache = desk.model.opened
    if cache is None or channel.detect(desk.environ).channel != "human":
        return 0, ""
    return reviews.length(cache, desk.scope())


def ratify_all(
    desk: Desk,
    token: str,
    reason: str,
    *,
    everything: bool = False,
    all_scopes: bool = False,
    sign: bool = False,
    dry_run: bool = False,
) -> Recorded:
    """Do what `Memory.ratify_all` says."""
    from gitmem.store import reviews

    scope = desk.seen_from(all_scopes=all_scopes)

    def prepare(cache: Cache, draft: Draft) -> Draft:
        found = reviews.queue(cache, everything=everything, scope=scope)
        return draft.with_fields({**draft.fields, "targets": reviews.ratifiable(found, token)})

    draft = Draft("review", {"action": "ratify", "reason": reason}, sign=sign)
    return recording.record(desk, draft, dry_run=dry_run, prepare=prepare)


def resolve(desk: Desk, entity: str, keep: str, reason: str, *, sign: bool = False, dry_run: bool = False) -> Recorded:
    """Do what `Memory.resolve` says."""
    from gitmem.store import reviews

    name = desk.canonical(entity)
    person = desk.writer().is_person  # the guard tells anyone else that it is not theirs, whatever they would keep

    def prepare(cache: Cache, draft: Draft) -> Draft:
        if person:
            reviews.check_side(cache, name, strings_of(draft.fields["targets"])[0])
        return draft

    fields: dict[str, object] = {"action": "resolve", "targets": [keep], "reason": reason}
    return recording.record(desk, Draft("review", fields, sign=sign), dry_run=dry_run, prepare=prepare)


def ratify_edited(
    desk: Desk, prefix: str, changes: Mapping[str, object], reason: str, *, sign: bool = False, dry_run: bool = False
) -> Recorded:
    """Do what `Memory.ratify_edited` says."""
    from gitmem.core import reviews

    if not desk.writer().is_person:
        raise RuleViolation(
            what="only a person may write a proposal anew and ratify it",
            hint="run this in your own terminal, by hand: no agent and no script may do it for you.",
        )

    def also(cache: Cache) -> list[Draft]:
        event = _sayable(desk, cache, prefix)
        if not reviews.is_editable(event):
            raise RuleViolation(
                what=f"{prefix[:80]} is no rejection, revert or supersede whose text could be written anew",
                hint="`git decisions ratify ID -r WHY` takes it as it is.",
            )
        anew = [reviews.anew(event, changes, _commits(cache, event.id))]
        for behind in _waiting_behind(cache, event):
            # It was opened in the hope of what is retracted now: said once more, it stands on what takes its place.
            whose = {"evidence": [*strings_of(behind.fields.get("evidence")), f"author:{behind.author}"]}
            anew.append(reviews.anew(behind, whose, _commits(cache, behind.id)))
        return [recording.completed(desk, one) for one in anew]

    draft = Draft("review", {"action": "retract", "targets": [prefix], "reason": reason}, sign=sign)
    return recording.record(desk, draft, dry_run=dry_run, also=also)


def keep_both(
    desk: Desk, entity: str, prefix: str, approach: str, reason: str, *, sign: bool = False, dry_run: bool = False
) -> Recorded:
    """Do what `Memory.keep_both` says."""
    from gitmem.core import reviews as pure
    from gitmem.store import reviews

    name = desk.canonical(entity)
    person = desk.writer().is_person

    def prepare(cache: Cache, draft: Draft) -> Draft:
        if not person:
            return draft.with_fields({**draft.fields, "targets": [desk.id(cache, prefix)]})  # the guard says why not
        kept = reviews.beside(cache, name, desk.id(cache, prefix), approach)
        return draft.with_fields({**draft.fields, "targets": [kept]})

    def also(cache: Cache) -> list[Draft]:
        event = _sayable(desk, cache, prefix)
        return [recording.completed(desk, pure.anew(event, {"approach": approach}, _commits(cache, event.id)))]

    fields: dict[str, object] = {"action": "resolve", "targets": [prefix], "reason": reason}
    return recording.record(desk, Draft("review", fields, sign=sign), dry_run=dry_run, prepare=prepare, also=also)


def _waiting_behind(cache: Cache, lift: Event) -> list[Event]:
    """Return the openings that wait for the supersede `lift`, in the log's order."""
    from gitmem.core.verdicts import judge
    from gitmem.core.vocabulary import CHANGE_TYPES, OPENING

    component = cache.component_of_event(lift.id)
    events = cache.component_events([component] if component is not None else [])
    judged = judge(events, cache.outside)
    return [
        event
        for event in events
        if CHANGE_TYPES.get(event.change_type) == OPENING
        and not event.redacted
        and judged.effect(event.id)[0] == "pending"
        and judged.saw(event.id, lift.id)
    ]


def _sayable(desk: Desk, cache: Cache, prefix: str) -> Event:
    """Return an event whose text may be said once more. Raises RuleViolation for a sealed one."""
    (row,) = listing.by_ids(cache, [desk.id(cache, prefix)])
    if SEAL in row.marks:
        raise RuleViolation(
            what=f"{row.event.id[:8]} is sealed, and writing it anew would tell its text",
            hint=f"`git decisions unseal {row.event.id[:8]} -r WHY` first.",
            ids=[row.event.id],
        )
    return row.event


def _commits(cache: Cache, event_id: str) -> list[str]:
    return [commit for row in listing.by_ids(cache, [event_id]) for commit in row.commits]
