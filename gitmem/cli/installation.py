"""init, uninstall, setup, hook: do it, and say each thing that was done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitmem import presenters
from gitmem.cli.terminal import Io
from gitmem.cli.text import EMPTY, Line, paragraphs
from gitmem.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory


def init(
    memory: Memory,
    io: Io,
    *,
    no_hooks: bool,
    no_notes: bool,
    no_fetch: bool,
    auto_sync: bool,
    gate: bool,
    trailer: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    if gate and no_hooks:
        raise Usage(what="--gate is done by a hook, so it goes not with --no-hooks", command="init")
    if auto_sync and no_hooks:
        raise Usage(what="--auto-sync is done by hooks, so it goes not with --no-hooks", command="init")
    if trailer and no_hooks:
        raise Usage(what="--trailer is done by a hook, so it goes not with --no-hooks", command="init")
    result = memory.init(
        hooks=not no_hooks,
        notes=not no_notes,
        fetch=not no_fetch,
        auto_sync=auto_sync,
        gate=gate,
        trailer=trailer,
        dry_run=dry_run,
    )
    answer = presenters.init(result)
    return _told(io, answer, as_json=as_json)


def uninstall(memory: Memory, io: Io, *, dry_run: bool, as_json: bool) -> int:
    return _told(io, presenters.uninstall(memory.uninstall(dry_run=dry_run)), as_json=as_json)


def setup(memory: Memory, io: Io, *, agents: list[str], dry_run: bool, check: bool, as_json: bool) -> int:
    answer = presenters.set_up(memory.setup(agents, dry_run=dry_run, check=check))
    if as_json:
        io.answer(answer)
    else:
        io.show(_checked(answer, unicode=io.unicode) if check else _steps(answer, unicode=io.unicode))
    return 1 if answer["in_order"] is False else 0


def _checked(answer: Mapping[str, Any], *, unicode: bool) -> Iterator[Line]:
    """Yield each step that is not as it should be, with what differs."""
    for step in answer["steps"]:
        if not step["already"]:
            yield Line(("error" if step["diff"] else "pending", "✗ " if unicode else "- "), ("", step["what"]), hang=2)
            yield from _changed(step["diff"])
    if answer["in_order"]:
        yield Line(("good", "✓ " if unicode else "+ "), ("", f"set up: {', '.join(answer['agents'])}"), hang=2)
    elif answer["agents"]:
        yield Line(("dim", "`git decisions setup` puts it in order."))
    for note in answer["notes"]:
        yield from paragraphs(note, indent=0)


def _changed(diff: str) -> Iterator[Line]:
    styles = {"+": "good", "-": "error", "@": "dim"}
    for text in diff.splitlines():
        yield Line(("", "  "), (styles.get(text[:1], ""), text), hang=4)


def hook(memory: Memory, io: Io, *, agent: str) -> int:
    from gitmem.__main__ import main  # the program hands it over before it comes here; a caller in Python may not

    return main(["hook", "--agent", agent])


def _told(io: Io, answer: Mapping[str, Any], *, as_json: bool) -> int:
    if as_json:
        io.answer(answer)
    else:
        io.show(_steps(answer, unicode=io.unicode))
    return 0


def _steps(answer: Mapping[str, Any], *, unicode: bool) -> Iterator[Line]:
    """Yield each step: done now, done before, or (with --dry-run) still to do."""
    for step in answer["steps"]:
        if step["done"]:
            yield Line(("good", "✓ " if unicode else "+ "), ("", step["what"]), hang=2)
        elif step["already"]:
            yield Line(("dim", f"{'·' if unicode else '='} {step['what']} (so already)"), hang=2)
        else:
            yield Line(("pending", f"{'→' if unicode else '>'} "), ("", step["what"]), hang=2)
            yield from _changed(step.get("diff", ""))
    if not any(step["done"] or not step["already"] for step in answer["steps"]):
        yield Line(("dim", "nothing to do."))
    elif answer["dry_run"]:
        yield Line(("dim", "nothing was done (--dry-run)."))
    for note in answer["notes"]:
        yield EMPTY
        yield from paragraphs(note, indent=2)
