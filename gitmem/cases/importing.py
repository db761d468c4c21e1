"""What history and other logs already know, brought in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

from gitmem.cases.desk import TOOL
from gitmem.cases.results import Brought, Imported
from gitmem.cases.typed import nonce, strings_of, text_of
from gitmem.core import entities
from gitmem.core.drafts import Writer
from gitmem.errors import GitmemError, NoLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core import secrets
    from gitmem.core.drafts import Draft
    from gitmem.core.secrets import Hit
    from gitmem.importers.pen import Pen
    from gitmem.importers.tally import Tally
    from gitmem.store.bulk import Left

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
        left = _left(reading.summary)
        appended = append_history(desk, reading, progress=progress, hits=hits, refused=left, dry_run=dry_run)
    finally:
        reading.close()
    summary = reading.summary
    return Imported(
        commits=summary.commits,
        reverts=summary.reverts,
        landings=summary.again,
        appended=appended,
        known=summary.known,
        skipped=_skipped(desk, summary),
        warnings=[*summary.warnings, *secrets.counted(hits)],
        dry_run=dry_run,
    )


def import_from(
    desk: Desk,
    kind: str,
    path: str,
    *,
    dialect: str = "",
    dry_run: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Brought:
    """Do what `Memory.import_from` says."""
    from gitmem.core import secrets
    from gitmem.importers.pen import Pen
    from gitmem.importers.tally import Tally

    tally = Tally()
    try:
        cache = desk.cache()
        known = {source for name in _SOURCES.get(kind, (kind,)) for source in cache.sources(f"{name}:")}
    except NoLog:
        known = set()
    drafts = _read(desk, kind, os.path.join(desk.start, path), dialect, Pen(known, tally))
    hits: list[secrets.Hit] = []
    first = list(islice(drafts, 1))  # what is refused as a whole is refused before a log is begun for it
    drafts = chain(first, drafts)
    appended = 0
    if first:
        left = _left(tally)
        appended = append_history(desk, drafts, progress=progress, hits=hits, refused=left, dry_run=dry_run)
    return Brought(
        tally.read,
        appended=appended,
        known=tally.known,
        skipped=_skipped(desk, tally),
        warnings=[*tally.warnings, *secrets.counted(hits)],
        dry_run=dry_run,
    )


def _left(tally: Tally) -> Left:
    def left(draft: Draft, error: GitmemError) -> None:
        evidence = strings_of(draft.fields.get("evidence"))
        tally.skip(f"refused: {error.message}", evidence[0] if evidence else text_of(draft.fields.get("source")))

    return left


def _skipped(desk: Desk, tally: Tally) -> list[tuple[str, int, list[str], bool]]:
    """Return what was left out or changed, by reason; a name that looks like a secret is not told."""
    from gitmem.core import secrets

    own = desk.own_rules()

    def told(text: str) -> str:
        return secrets.redacted(text, secrets.scan("example", text, own))

    return [(told(reason), one.count, [*map(told, one.examples)], one.kept) for reason, one in tally.skipped.items()]


#: How the sources of an importer begin, where that is not its own name.
_SOURCES = {"alembic": ("sql",), "django": ("sql",), "agent-trace": ("agent-trace", "selvedge")}
#: Importers of folders of files; each has `fits` and `read`.
_OF_FOLDERS = ("sql", "alembic", "django", "adr")


def _read(desk: Desk, kind: str, path: str, dialect: str, pen: Pen) -> Iterator[Draft]:
    from importlib import import_module

    importer = import_module(f"gitmem.importers.{kind.replace('-', '_')}")
    read: Callable[..., Iterator[Draft]] = importer.read
    if kind not in _OF_FOLDERS:
        return read(path, pen)
    from gitmem.importers import folder

    if dialect:
        from gitmem.importers import statements

        dialect = statements.dialect_of(dialect)
    found = folder.files(path, desk.repository.work_tree, importer.fits, pen.tally)
    return read(found, pen, dialect)


def append_history(
    desk: Desk,
    drafts: Iterable[Draft],
    *,
    channel: str = "import",
    progress: Callable[[str, int, int], None] | None = None,
    hits: list[Hit] | None = None,
    refused: Left | None = None,
    dry_run: bool = False,
) -> int:
    """Do what `Memory.append_history` says; `refused` is told of each draft that the rules refuse.

    With `dry_run` all is decided in the same way, and nothing is written.
    """
    from gitmem.core import secrets
    from gitmem.store.bulk import Bulk

    base = desk.writer()
    writer = Writer(base.author, channel, tool=TOOL, agent=base.agent, session_id=base.session_id, policy=base.policy)
    clean = secrets.cleared_history(drafts, desk.own_rules(), [] if hits is None else hits)
    drafts = _at_home(desk, clean)
    if not dry_run:
        return Bulk(desk.model, desk.log, writer, CHUNK, iter(nonce, "")).append(drafts, progress, refused)
    from gitmem.store.rehearsal import Rehearsal, Turn

    rehearsal = Rehearsal(desk.model)
    try:
        bulk = Bulk(rehearsal, rehearsal.log, writer, CHUNK, iter(nonce, ""), Turn)
        tell = progress and (lambda _, done, total: progress("deciding", done, total))
        return bulk.append(drafts, tell, refused)
    finally:
        rehearsal.close()


def _at_home(desk: Desk, drafts: Iterable[Draft]) -> Iterable[Draft]:
    """Yield drafts of history, each in the component of its entity's file, else of the file that it was read from."""
    policy = desk.policy()
    for draft in drafts:
        name = entities.place_of(text_of(draft.fields.get("entity_path"))) or _read_from(draft)
        if policy and name and not draft.fields.get("scope"):
            draft.fields["scope"] = policy.scope_at(name)
        yield draft


def _read_from(draft: Draft) -> str:
    for one in strings_of(draft.fields.get("evidence")):
        if one.startswith("file:"):
            name, _, line = one.removeprefix("file:").rpartition(":")
            return name if name and line.isdigit() else one.removeprefix("file:")
    return ""


def join(desk: Desk, tip: str) -> str:
    """Do what `Memory.join` says."""
    from gitmem.sync import joins

    return joins.join(desk.model, desk.log(), tip)
