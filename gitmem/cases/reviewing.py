"""Reviewing: what waits for a person, and what a person says of it."""

from __future__ import annotations

from gitmem.cases import recording
from gitmem.cases.typed import strings_of
from gitmem.core.drafts import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.cases.results import Recorded
    from gitmem.store.cache import Cache
    from gitmem.store.reviews import Queue


def review(desk: Desk, *, everything: bool = False, all_scopes: bool = False) -> Queue:
    """Do what `Memory.review` says."""
    from gitmem.store import reviews

    scope = desk.seen_from(all_scopes=all_scopes)
    return reviews.queue(desk.cache(), everything=everything, scope=scope)


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
