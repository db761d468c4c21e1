"""Fetching and pushing the log."""

from __future__ import annotations

from gitmem.cases import noting
from gitmem.cases.results import Travelled
from gitmem.errors import GitmemError, NoLog
from gitmem.store import listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gitmem.cases.desk import Desk
    from gitmem.core.events import Event
    from gitmem.store.listing import Row
    from gitmem.sync.remotes import Remote
    from gitmem.sync.travel import Synced, Traveller

#: How many events an answer lists; the rest is counted.
LISTED_MAX = 100


def fetch(desk: Desk, name: str = "", *, dry_run: bool = False, deadline_s: float | None = None) -> Travelled:
    """Do what `Memory.fetch` says."""
    out = _told(desk, traveller(desk).fetch(remote(desk, name, deadline_s), dry_run=dry_run))
    if not dry_run and deadline_s is None:
        _scanned(desk, out)
    return out


def push(desk: Desk, name: str = "", *, dry_run: bool = False, restore: bool = False) -> Travelled:
    """Do what `Memory.push` says."""
    return _told(desk, traveller(desk).push(remote(desk, name), dry_run=dry_run, restore=restore))


def sync(
    desk: Desk,
    name: str = "",
    *,
    dry_run: bool = False,
    restore: bool = False,
    deadline_s: float | None = None,
) -> Travelled:
    """Do what `Memory.sync` says."""
    one = remote(desk, name, deadline_s)
    out = _told(desk, traveller(desk).push(one, dry_run=dry_run, restore=restore, fetch=True))
    if not dry_run and deadline_s is None and _scanned(desk, out):
        later = traveller(desk).push(one)  # the links go along
        out.done.tip, out.done.theirs = later.tip, later.theirs
        out.done.went += later.went
    return out


def auto_sync(desk: Desk, name: str, *, push: bool, deadline_s: float) -> Travelled | None:
    """Do what `Memory.auto_sync` says."""
    from gitmem.sync.remotes import Settings

    settings = Settings(desk.repository)
    name = name or settings.default()
    if not settings.is_set("decisions.autosync") or name not in settings.names:
        return None
    return sync(desk, name, deadline_s=deadline_s) if push else fetch(desk, name, deadline_s=deadline_s)


def unseen(desk: Desk) -> str:
    """Return the remote that git would take, if nothing was seen of its log yet; else ""."""
    from gitmem.sync.remotes import Settings

    settings = Settings(desk.repository)
    name = settings.default()
    return name if name and not settings.remote(name).seen() else ""


def probe(desk: Desk, name: str = "") -> tuple[str, str]:
    """Do what `Memory.probe` says."""
    one = remote(desk, name)
    one.probe()
    return one.name, one.ref


def receive(desk: Desk, updates: Iterable[tuple[str, str, str]]) -> list[str]:
    """Do what `Memory.receive` says."""
    from gitmem.store.repository import LOG_REF
    from gitmem.sync.receiving import Gatekeeper
    from gitmem.sync.remotes import Settings

    ref = Settings(desk.repository).get("decisions.remoteref") or LOG_REF
    return Gatekeeper(desk.model, desk.log(), ref).problems(updates)


def remote(desk: Desk, name: str, deadline_s: float | None = None) -> Remote:
    """Return the remote called `name`, or the one that git would take. Raises Usage, Refused."""
    from gitmem.sync.remotes import Settings

    return Settings(desk.repository).remote(name, deadline_s=deadline_s)


def traveller(desk: Desk) -> Traveller:
    """Return what moves the log of this desk."""
    from gitmem.sync.travel import Traveller

    return Traveller(desk.model, desk.log(), lambda: noting.renote_all(desk), desk.own_rules())


def _scanned(desk: Desk, out: Travelled) -> int:
    """Look for links after a fetch, as `decisions.scan` says; return how many were written into the log.

    Unset: where little came since the last scan, and not in CI, where a fetch writes nothing.
    """
    from gitmem.store import channel
    from gitmem.sync.remotes import Settings

    settings = Settings(desk.repository)
    wanted = settings.is_set("decisions.scan")
    unset = not settings.get("decisions.scan") and channel.detect(desk.environ).channel != "ci"
    if desk.log().tip() is None or not (wanted or unset):
        return 0
    from gitmem.cases import linking

    try:
        linked = linking.link(desk, scan=True) if wanted else linking.after_fetch(desk)
    except GitmemError as error:  # what came has come
        out.remarks.append(f"no links were looked for: {error.message}")
        return 0
    if linked is None:
        out.remarks.append(
            f"more than {linking.NEWS_MAX} commits came since links were looked for: `git decisions link --scan`"
        )
        return 0
    out.linked = len(linked.links) + len(linked.found)
    return len(linked.links)


def _told(desk: Desk, done: Synced) -> Travelled:
    if done.linked and not done.dry_run:
        noting.note(desk, sorted(done.linked))
    out = Travelled(done)
    out.came = _rows(desk, done.came_found)
    out.went = _rows(desk, done.went_found)
    return out


def _rows(desk: Desk, found: Sequence[Event]) -> list[Row]:
    """Return the newest of some events, newest first: as they stand now, or as they were born if they are not here."""
    if not found:
        return []
    newest = list(found[-LISTED_MAX:])
    try:
        cache = desk.cache()
    except NoLog:
        here: dict[str, Row] = {}
    else:
        here = {
            row.event.id: row for row in listing.by_ids(cache, [event.id for event in newest if cache.event(event.id)])
        }
    rows = [here.get(event.id) or listing.unsaved(event) for event in newest]
    rows.sort(key=lambda row: (row.event.clock, row.event.id), reverse=True)
    return rows
