"""export, import jsonl: write the log in another form, and make it again from one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from gitmem import presenters
from gitmem.cli.terminal import Io
from gitmem.cli.text import Line, plural, safe_json
from gitmem.errors import GitFailed, Negative, Usage, Writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.cases.results import Exported
    from gitmem.memory import Memory


def export(
    memory: Memory, io: Io, *, format: str, output: str | None, check: bool, limit: int | None, **filters: Any
) -> int:
    if check and output is None:
        raise Usage(what="--check needs the file to compare with: -o FILE", command="export")
    if format == "adr" and output in (None, "-"):
        raise Usage(what="adr writes one file for each decision: -o FOLDER", command="export")
    from gitmem.cli import reading

    # What only widens is no filter: the whole log has it all.
    narrow = {name: value for name, value in filters.items() if name not in ("everything", "all_scopes")}
    if "any" in narrow["kinds"]:
        del narrow["kinds"]
    filtered = limit is not None or any(narrow.values())
    query = reading.query(limit=limit, **filters) if filtered or format != "jsonl" else None
    made = memory.export(format, query)
    if made.files is not None:
        return _folder(io, str(output), made, check=check, whole=not filtered)
    if output is None or output == "-":
        for piece in made.pieces:
            if io.terminal:
                io.out.write(safe_json(piece.decode("utf-8", "replace")))
            else:
                io.out.buffer.write(piece)
        return 0
    again = f"git decisions export --format {format} -o {output}"
    if check:
        if not _is_same(output, made.pieces):
            raise Negative(what=f"{output} is not what the log says now", hint=f"`{again}` writes it anew.")
        return 0
    _write(output, made.pieces)
    told = made.told()
    io.tell(Line(("good", f"wrote {output}"), ("dim", f": {told}" if told else "")))
    return 0


def _write(path: str, pieces: Iterable[bytes]) -> None:
    """Write a file whole or not at all: it is made beside the old one and takes its place. Raises GitFailed."""
    path = os.path.realpath(path)
    beside = f"{path}.{os.getpid()}.new"
    try:
        with open(beside, "xb") as file:
            file.writelines(pieces)
        if os.path.exists(path):
            os.chmod(beside, os.stat(path).st_mode & 0o7777)
        with Writing():
            os.replace(beside, path)
    except OSError as error:
        raise GitFailed(message=f"can't write {path}: {error.strerror or error}; it is as it was") from None
    finally:
        if os.path.exists(beside):
            os.unlink(beside)


def _is_same(path: str, pieces: Iterable[bytes]) -> bool:
    try:
        with open(path, "rb") as file:
            for piece in pieces:
                if file.read(len(piece)) != piece:
                    return False
            return not file.read(1)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Usage(what=f"can't read {path}: {error.strerror or error}", hint="") from None


def _folder(io: Io, folder: str, export: Exported, *, check: bool, whole: bool) -> int:
    """Write one file for each decision; of ours, those that the log has no decision for any more go."""
    made: set[str] = set()
    written = 0
    differ: list[str] = []
    if not check:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise GitFailed(message=f"can't write {folder}: {error.strerror or error}") from None
    for name, text in export.files or ():
        made.add(name)
        path = os.path.join(folder, name)
        data = text.encode("utf-8", "backslashreplace")
        if _is_same(path, (data,)):
            continue
        if check:
            differ.append(name)
        else:
            _write(path, (data,))
            written += 1
    gone = sorted(_ours(folder, export.mark) - made) if whole else []
    if check:
        differ += gone
        if differ:
            named = ", ".join(differ[:3]) + (f" and {len(differ) - 3:,} more" if len(differ) > 3 else "")
            hint = f"`git decisions export --format adr -o {folder}` writes it anew."
            raise Negative(what=f"{folder} is not what the log says now ({named})", hint=hint)
        return 0
    for name in gone:
        with Writing():
            os.unlink(os.path.join(folder, name))
    left = f", {plural(len(gone), 'file')} taken away" if gone else ""
    told = f": {plural(len(made), 'decision')}, {plural(written, 'file')} written{left}"
    io.tell(Line(("good", f"wrote {folder}"), ("dim", told)))
    return 0


def _ours(folder: str, mark: str) -> set[str]:
    """Return the names of the files in a folder that an earlier export wrote."""
    found: set[str] = set()
    try:
        names = os.listdir(folder)
    except OSError:
        return found
    for name in names:
        path = os.path.join(folder, name)
        if name.endswith(".md") and os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                if any(line.startswith(mark) for line in file.readlines(2000)):
                    found.add(name)
    return found


def import_jsonl(memory: Memory, io: Io, *, path: str | None, dry_run: bool, as_json: bool) -> int:
    if path is None and os.isatty(0):
        raise Usage(what="import jsonl needs a file: PATH, or an export on stdin", command="import jsonl")

    def progress(what: str, done: int, total: int) -> None:
        io.progress(f"{what}: {done:,} of {total:,}" if total else f"{what}: {done:,} events")

    try:
        result = memory.import_jsonl(path or "-", dry_run=dry_run, progress=progress)
    finally:
        io.progress_ends()
    answer: dict[str, Any] = presenters.import_jsonl(result)
    if as_json:
        io.answer(answer)
    else:
        io.show(_imported(answer))
    for warning in answer["warnings"]:
        io.warn(warning)
    return 1 if answer["skipped"] else 0


def _imported(answer: Mapping[str, Any]) -> Iterator[Line]:
    yield Line(("", f"read {plural(answer['events'], 'event')} in {plural(answer['commits'], 'commit')}."))
    verb = "would be appended" if answer["dry_run"] else "appended"
    known = f"; {answer['known']:,} known already" if answer["known"] else ""
    kept_out = f"; {len(answer['redacted']):,} redacted here, and left so" if answer["redacted"] else ""
    style = "good" if answer["appended"] else "dim"
    yield Line((style, f"{plural(answer['appended'], 'event')} {verb}{known}{kept_out}."))
    for skipped in answer["skipped"]:
        more = ", …" if skipped["count"] > len(skipped["examples"]) else ""
        yield Line(
            ("bad", f"left out {skipped['count']:,}: {skipped['reason']} ({'; '.join(skipped['examples'])}{more})"),
            hang=4,
        )
