"""What history and other logs already know, brought in."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gitmem.cases.desk import TOOL
from gitmem.cases.results import Imported
from gitmem.cases.typed import nonce, text_of
from gitmem.core import entities
from gitmem.core.drafts import Writer
from gitmem.errors import NoLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core import secrets
    from gitmem.core.drafts import Draft
    from gitmem.core.secrets import Hit

#: Events of one bulk commit: large enough that git objects cost nothing, small enough to retry.
CHUNK = 1000


def import_git(
    desk: Desk,
    *,
    since: str | None = None,
    dry_run: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Imported:
    """Do what `Memory.import_git` says."""
    from gitmem.core import secrets
    from gitmem.importers import git as importer

    hits: list[secrets.Hit] = []
    try:
        known: set[str] = desk.cache().sources("git:")
    except NoLog:
        known = set()
    tell = progress or (lambda what, done, total: None)
    reading = importer.read(desk.repository.git_dir, since=since, known_sources=known, progress=tell)
    try:
        if dry_run:
            appended = sum(1 for _ in secrets.cleared_history(reading, desk.own_rules(), hits))
        else:
            appended = append_history(desk, reading, channel="import", progress=progress, hits=hits)
    finally:
        reading.close()
    summary = reading.summary
    return Imported(
        commits=summary.commits,
        reverts=summary.reverts,
        landings=summary.again,
        appended=appended,
        known=summary.known,
        skipped=[(reason, skipped.count, list(skipped.examples)) for reason, skipped in summary.skipped.items()],
        warnings=[*summary.warnings, *secrets.counted(hits)],
        dry_run=dry_run,
    )


def append_history(
    desk: Desk,
    drafts: Iterable[Draft],
    *,
    channel: str = "import",
    progress: Callable[[str, int, int], None] | None = None,
    hits: list[Hit] | None = None,
) -> int:
    """Do what `Memory.append_history` says."""
    from gitmem.core import secrets
    from gitmem.store.bulk import Bulk

    base = desk.writer()
    writer = Writer(base.author, channel, tool=TOOL, agent=base.agent, session_id=base.session_id, policy=base.policy)
    bulk = Bulk(desk.model, desk.log, writer, CHUNK, iter(nonce, ""))
    clean = secrets.cleared_history(drafts, desk.own_rules(), [] if hits is None else hits)
    return bulk.append(_at_home(desk, clean), progress)


def _at_home(desk: Desk, drafts: Iterable[Draft]) -> Iterable[Draft]:
    """Yield drafts of history, each in the component of its entity's file."""
    policy = desk.policy()
    for draft in drafts:
        name = entities.place_of(text_of(draft.fields.get("entity_path")))
        if policy and name and not draft.fields.get("scope"):
            draft.fields["scope"] = policy.scope_at(name)
        yield draft


def join(desk: Desk, tip: str) -> str:
    """Do what `Memory.join` says."""
    from gitmem.sync import joins

    return joins.join(desk.model, desk.log(), tip)
