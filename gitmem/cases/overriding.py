"""Overriding: a person lets one stopped edit of one session pass. The closing goes on standing."""

from __future__ import annotations

from gitmem.cases import recording
from gitmem.core.drafts import Draft
from gitmem.core.ids import short
from gitmem.store.activity import Activity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.cases.results import Recorded


def override(desk: Desk, prefix: str, reason: str, *, session: str | None = None, dry_run: bool = False) -> Recorded:
    """Do what `Memory.override` says."""
    event_id = desk.id(desk.cache(), prefix)
    with Activity(desk.repository) as kept:
        whose = kept.stopped_last(event_id) if session is None else kept.session_like(session, event_id)
    fields: dict[str, object] = {"targets": [event_id], "reason": reason}
    named = whose is not None and whose[:1] != "?"
    if whose and named:
        fields["for_session"] = whose
    done = recording.record(desk, Draft("override", fields), dry_run=dry_run)
    if whose is None:
        done.warnings.append("it names no session: none is known to have been stopped; --session names one.")
    elif not dry_run:
        with Activity(desk.repository) as kept:
            for row in done.rows:
                kept.let(row.event.id, whose, event_id)
        who = whose if named else f"{whose[1:]} (its client names no session)"
        told = f"the next edit of {who} that {short(event_id)} would stop passes, once."
        if not kept.is_kept:
            told = "local activity can't be written here, so no edit will pass by this."
        done.warnings.append(told)
    if not dry_run:
        from gitmem.cases import capturing

        closing = desk.cache().event(event_id)
        if closing is not None:
            for row in done.rows:
                capturing.overridden(desk, row.event, closing)
    return done
