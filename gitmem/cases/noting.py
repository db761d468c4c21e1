"""Notes: the decisions of each commit, written where plain `git log` shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem.errors import GitFailed, NoLog
from gitmem.store import listing, notes_ref, placing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core.events import Event
    from gitmem.store.cache import Cache


def renote_all(desk: Desk) -> None:
    """Build the notes anew wherever there are any of ours, shown or not."""
    from gitmem.sync import notes

    ref = notes_ref.name(desk.repository)
    if desk.repository.try_git("rev-parse", "-q", "--verify", ref).rc == 0 and notes.is_free(desk.repository):
        cache = desk.cache()
        notes.rebuild(desk.repository, {commit: _note_of(cache, commit) for commit in placing.commits(cache)})


def note(desk: Desk, commits: Sequence[str]) -> None:
    """Write the notes of some commits anew, where notes are wanted; they are derived, so failing is no harm."""
    from gitmem.sync import notes

    if not notes_ref.is_shown(desk.repository):
        return
    cache = desk.cache()
    try:
        notes.write(desk.repository, {commit: _note_of(cache, commit) for commit in commits})
    except GitFailed:
        pass


def note_again(desk: Desk, found: Iterable[Event]) -> None:
    """Write the notes of the commits anew whose events a review or a mark may have hidden or shown."""
    cache = desk.cache()
    targets = [target for event in found for target in event.targets]
    commits = {link.commit for target in targets for link in placing.links_of(cache, target)}
    if commits:
        note(desk, sorted(commits))


def renote(desk: Desk) -> None:
    """Build the notes anew where they are wanted."""
    from gitmem.sync import notes

    if not notes_ref.is_shown(desk.repository):
        return
    try:
        cache = desk.cache()
    except NoLog:
        return
    notes.rebuild(desk.repository, {commit: _note_of(cache, commit) for commit in placing.commits(cache)})


def _note_of(cache: Cache, commit: str) -> list[Event]:
    """Return the changes that a commit's note tells: not what is void, retracted or about something else."""
    rows = listing.by_ids(cache, placing.events_at(cache, commit))
    return [row.event for row in rows if row.event.kind == "change" and row.is_shown]
