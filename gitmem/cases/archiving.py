"""Archiving: what is attached to an event, sealed, and read again by `audit` alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence

from gitmem.cases import recording
from gitmem.cases.results import Attached, Carried, Recorded
from gitmem.cases.typed import text_of
from gitmem.core import dates, secrets
from gitmem.core.drafts import Draft
from gitmem.core.events import TEXT_MAX
from gitmem.core.ids import short
from gitmem.errors import GitmemError, LogBusy, NoLog, RuleViolation, Usage
from gitmem.store.archive import REF, Archive, Attachment, Offer, offer, offer_text
from gitmem.store.writing import TRIES_MAX, pause

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core.drafts import Writer
    from gitmem.store.cache import Cache
    from gitmem.sync.remotes import Remote

#: `--attach diff`: the diff of the event itself, whole.
DIFF, DIFF_NAME = "diff", "diff.patch"


def record(
    desk: Desk,
    draft: Draft,
    files: Sequence[str],
    *,
    dry_run: bool = False,
    prepare: Callable[[Cache, Draft], Draft] | None = None,
) -> Recorded:
    """Append what `draft` says and attach `files` to it. The files are looked through before anything is written."""
    secrets.check_writer(desk.writer(), draft)
    offers: list[Offer] = []
    try:
        draft = _offered(desk, draft, files, offers)
        done = recording.record(desk, draft, dry_run=dry_run, prepare=prepare)
        if dry_run:
            done.attached = [_promised(one) for one in offers]
            return done
        event_id = done.rows[-1].event.id  # after a supersede of --reopens comes the change itself
        try:
            done.attached = _attach(desk, event_id, offers, desk.writer())
        except GitmemError as error:
            error.fields = {
                "message": f"{short(event_id)} was recorded, and nothing was attached to it: {error.message}",
                "hint": f"`git decisions archive add {short(event_id)} FILE` attaches it.",
            }
            error.written = True
            raise
        return done
    finally:
        for one in offers:
            one.close()


def _offered(desk: Desk, draft: Draft, files: Sequence[str], offers: list[Offer]) -> Draft:
    """Put what is to be attached into `offers`; return the draft with a diff that an event can hold."""
    own, fields = desk.own_rules(), dict(draft.fields)
    diff = text_of(fields.get("diff"))
    wants_diff = False
    for path in files:
        if path == DIFF and not os.path.lexists(path):
            if not diff:
                raise Usage(what="--attach diff: there is no diff to attach; give --diff as well", command="record")
            wants_diff = True
            continue
        offers.append(offer(desk.repository, path, own=own, allow_secret=draft.allow_secret))
    is_long = len(diff.encode("utf-8", "replace")) > TEXT_MAX
    if is_long or wants_diff:
        whole = offer_text(desk.repository, diff, name=DIFF_NAME, own=own, allow_secret=draft.allow_secret)
        offers.append(whole)
        if len({one.sha256 for one in offers}) < len(offers):
            offers.pop().close()  # it is one of the files
    if is_long:
        if fields.get("change_type") in ("reject", "revert") and "fingerprint" not in fields:
            from gitmem.core import fingerprint

            fields["fingerprint"] = fingerprint.sketch(fingerprint.added_lines(diff))
        fields["diff"] = _beginning(diff)
    return draft.with_fields(fields)


def _beginning(diff: str) -> str:
    """Return as many whole lines of a diff as a field holds."""
    begun = diff.encode("utf-8", "replace")[:TEXT_MAX]
    return begun[: begun.rfind(b"\n") + 1].decode("utf-8", "ignore") or begun.decode("utf-8", "ignore")


def add(desk: Desk, prefix: str, files: Sequence[str], *, allow_secret: bool = False) -> Attached:
    """Do what `Memory.attach` says."""
    writer = desk.writer()
    secrets.check_writer(writer, Draft("change", {}, allow_secret=allow_secret))
    event_id = desk.id(desk.cache(), prefix)
    _check(desk, event_id)
    own = desk.own_rules()
    offers: list[Offer] = []
    try:
        for path in files:
            offers.append(offer(desk.repository, path, own=own, allow_secret=allow_secret))
        new = _attach(desk, event_id, offers, writer)
        return Attached(event_id, new, known=len(offers) - len(new))
    finally:
        for one in offers:
            one.close()


def _attach(desk: Desk, event_id: str, offers: Sequence[Offer], writer: Writer) -> list[Attachment]:
    about: dict[str, object] = {
        "author": writer.author,
        "channel": writer.channel,
        "added_at": dates.of_seconds(time.time()),
    }
    if writer.agent:
        about["agent"] = writer.agent
    return Archive(desk.repository).add(event_id, offers, about, lambda: _check(desk, event_id))


def _check(desk: Desk, event_id: str) -> None:
    event = desk.cache().event(event_id)
    if event is not None and event.redacted:
        raise RuleViolation(what=f"{short(event_id)} was redacted, and nothing can be attached to it")


def _promised(one: Offer) -> Attachment:
    about: dict[str, object] = {"name": one.name, "allow_secret": one.secret}
    return Attachment("", one.sha256, one.blob, about, one.size)


# --- between clones ---------------------------------------------------------------------------


def fetch(desk: Desk, name: str = "") -> Carried:
    """Do what `Memory.fetch_archive` says."""
    remote = _remote(desk, name)
    archive = Archive(desk.repository)
    done = Carried(remote.name, archive.tip() or "")
    done.theirs = remote.tip()
    before = archive.count(archive.tip())
    if done.theirs:
        _bring(desk, archive, remote, done.theirs)
    done.tip = archive.tip() or ""
    done.came = archive.count(done.tip or None) - before
    return done


def push(desk: Desk, name: str = "") -> Carried:
    """Do what `Memory.push_archive` says."""
    remote = _remote(desk, name)
    archive = Archive(desk.repository)
    done = Carried(remote.name, archive.tip() or "")
    before = archive.count(archive.tip())
    for attempt in range(TRIES_MAX):
        done.theirs = remote.tip()
        if done.theirs and done.theirs != archive.tip():
            _bring(desk, archive, remote, done.theirs)
        tip = archive.tip()
        done.tip = tip or ""
        done.came = archive.count(tip) - before
        if tip is None or tip == done.theirs:
            return done
        # What is replaced was joined just now, but for what is redacted here.
        if remote.push(tip, done.theirs):
            done.went = True
            done.theirs = tip
            return done
        pause(attempt, far=True)
    raise LogBusy(message=f"{remote.name} is busy: nothing was pushed", hint="try again in a moment.")


def _remote(desk: Desk, name: str) -> Remote:
    from gitmem.cases import travelling

    remote = travelling.remote(desk, name)
    remote.ref = REF
    return remote


def _bring(desk: Desk, archive: Archive, remote: Remote, theirs: str) -> None:
    """Fetch a remote's archive into a quarantine, and take in what belongs to no redacted event."""
    from gitmem.sync.quarantine import Quarantine

    try:
        cache: Cache | None = desk.cache()
    except NoLog:
        cache = None

    def is_gone(event_id: str) -> bool:
        event = cache.event(event_id) if cache is not None else None
        return event is not None and bool(event.redacted)

    tip = archive.tip()
    with Quarantine(desk.repository) as quarantine:
        remote.fetch([tip] if tip else [], quarantine.env)
        archive.join(theirs, is_gone, Archive(quarantine.log.repository))


# --- reading ----------------------------------------------------------------------------------


def audit(desk: Desk, prefix: str) -> Attached:
    """Do what `Memory.audit` says."""
    event_id = desk.id(desk.cache(), prefix)
    archive = Archive(desk.repository)
    found = archive.of(event_id)
    for one in found:
        archive.check(one)
    return Attached(event_id, found)


def content(desk: Desk, attachment: Attachment) -> Iterator[bytes]:
    """Do what `Memory.attachment` says."""
    return Archive(desk.repository).content(attachment)
