"""Taking events out, and taking in what others took out."""

from __future__ import annotations

from gitmem.cases import noting, recording
from gitmem.cases.typed import instant_of
from gitmem.core.drafts import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core import rules
    from gitmem.store.cache import Cache
    from gitmem.sync.adoption import Adopted
    from gitmem.sync.redaction import Redacted, Redactor


def redact(desk: Desk, prefix: str, reason: str, *, mode: str = "plain", dry_run: bool = False) -> Redacted:
    """Do what `Memory.redact` says."""
    _check_reason(desk, reason)
    return redactor(desk).redact(prefix, mode, reason, dry_run=dry_run)


def expunge(desk: Desk, before: str, reason: str, *, dry_run: bool = False) -> Redacted:
    """Do what `Memory.expunge` says."""
    _check_reason(desk, reason)
    return redactor(desk).expunge(instant_of("before", before), reason, dry_run=dry_run)


def _check_reason(desk: Desk, reason: str) -> None:
    """Refuse a reason that holds a secret itself: whoever takes one out may well quote it."""
    from gitmem.core import secrets

    secrets.cleared(Draft("redact", {"reason": reason}), desk.own_rules())


def adopt(desk: Desk, tip: str, *, seen: str = "", remote: str = "the remote") -> Adopted:
    """Do what `Memory.adopt` says."""
    from gitmem.sync import adoption

    return adoption.adopt(desk.model, desk.log(), tip, seen=seen, remote=remote, renote=lambda: noting.renote_all(desk))


def redactor(desk: Desk) -> Redactor:
    """Return what takes events out of the log of this desk."""
    from gitmem.sync.redaction import Redactor

    writer = desk.writer()

    def decide(cache: Cache, draft: Draft) -> rules.Decided:
        return recording.decide_draft(desk, cache, draft, writer, desk.stamp(cache))

    return Redactor(desk.model, desk.log(), decide, lambda: noting.renote_all(desk))
