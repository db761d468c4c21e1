"""import: read something, say what was found, what was appended and what was passed over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from gitmem import presenters
from gitmem.cli.terminal import Io
from gitmem.cli.text import Line, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory

#: So much of an example is shown.
EXAMPLE_MAX = 60


def import_git(memory: Memory, io: Io, *, since: str | None, dry_run: bool, as_json: bool) -> int:
    answer = _watched(
        io, lambda progress: presenters.import_git(memory.import_git(since=since, dry_run=dry_run, progress=progress))
    )
    read = f"read {plural(answer['commits'], 'commit')}; {plural(answer['found'], 'revert')} found."
    return _told(io, answer, read, as_json=as_json)


def import_sql(memory: Memory, io: Io, **options: Any) -> int:
    return _from(memory, io, "sql", **options)


def import_alembic(memory: Memory, io: Io, **options: Any) -> int:
    return _from(memory, io, "alembic", **options)


def import_django(memory: Memory, io: Io, **options: Any) -> int:
    return _from(memory, io, "django", **options)


def import_adr(memory: Memory, io: Io, **options: Any) -> int:
    return _from(memory, io, "adr", **options)


def import_agent_trace(memory: Memory, io: Io, **options: Any) -> int:
    return _from(memory, io, "agent-trace", **options)


def import_selvedge(memory: Memory, io: Io, **options: Any) -> int:
    return _from(memory, io, "selvedge", **options)


def _from(
    memory: Memory, io: Io, kind: str, *, path: str, dry_run: bool, as_json: bool, dialect: str | None = None
) -> int:
    answer = _watched(
        io,
        lambda progress: presenters.import_from(
            memory.import_from(kind, path, dialect=dialect or "", dry_run=dry_run, progress=progress)
        ),
    )
    counts = ", ".join(f"{number:,} {what}" for what, number in answer["read"].items())
    return _told(io, answer, f"read {counts}." if counts else "nothing there to read.", as_json=as_json)


Progress = Callable[[str, int, int], None]


def _watched(io: Io, task: Callable[[Progress], dict[str, Any]]) -> dict[str, Any]:
    """Return what `task` gives, its progress shown meanwhile."""

    def progress(what: str, done: int, total: int) -> None:
        io.progress(f"{what}: {done:,} of {total:,}" if total else f"{what}: {done:,}")

    try:
        return task(progress)
    finally:
        io.progress_ends()


def _told(io: Io, answer: Mapping[str, Any], read: str, *, as_json: bool) -> int:
    if as_json:
        io.answer(dict(answer))
        return 0
    io.show(_lines(answer, read))
    for warning in answer["warnings"]:
        io.warn(warning)
    return 0


def _lines(answer: Mapping[str, Any], read: str) -> Iterator[Line]:
    yield Line(("", read))
    verb = "would be appended" if answer["dry_run"] else "appended"
    known = f"; {answer['known']:,} known already" if answer["known"] else ""
    yield Line(("good" if answer["appended"] else "dim", f"{plural(answer['appended'], 'event')} {verb}{known}."))
    for skipped in answer["skipped"]:
        examples = ", ".join(str(example)[:EXAMPLE_MAX] for example in skipped["examples"][:3])
        more = f" ({examples}{', …' if skipped['count'] > 3 else ''})" if examples else ""
        verb = "noted" if skipped["kept"] else "passed over"
        yield Line(("dim", f"{verb} {skipped['count']:,}: {skipped['reason']}{more}"), hang=4)
