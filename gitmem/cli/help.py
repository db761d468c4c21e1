"""Help texts: what `-h` shows, as lines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from gitmem.cli.catalogue import Command, every
from gitmem.cli.text import EMPTY, Line

WIDTH_MAX = 100
#: A name longer than this gets a line of its own, and the text begins on the next.
NAMES_MAX = 26

INTRODUCTION = "What was decided in this repository, and why: rejected ways, reverts, changes, and what stands now."


def of_all(width: int) -> Iterator[Line]:
    """Yield the list of commands, by heading."""
    yield Line(("heading", "usage: "), ("", "git decisions COMMAND [options]"))
    yield EMPTY
    yield from _text(INTRODUCTION, width)
    heading = ""
    for command in every():
        if command.heading != heading:
            heading = command.heading
            yield EMPTY
            yield Line(("heading", heading))
        yield from _row(command.words, command.summary, width, column=14)
    yield EMPTY
    yield from _text(
        "`git decisions COMMAND -h` shows what a command takes. Every command that shows something has --json.", width
    )


def of_group(name: str, width: int) -> Iterator[Line]:
    """Yield the list of the commands that begin with the word `name`."""
    yield Line(("heading", "usage: "), ("", f"git decisions {name} COMMAND [options]"))
    yield EMPTY
    for command in every():
        if command.words.startswith(f"{name} "):
            yield from _row(command.words, command.summary, width, column=14)


def of_command(command: Command, width: int) -> Iterator[Line]:
    """Yield the help text of one command."""
    yield Line(("heading", "usage: "), ("", command.usage), hang=7)
    for paragraph in (command.summary, *command.details):
        yield EMPTY
        yield from _text(paragraph, width)
    rows = [(argument.usage, argument.help) for argument in command.arguments]
    if rows:
        yield EMPTY
        yield from _rows(rows, width)
    yield EMPTY
    yield Line(("heading", "Options"))
    options = [
        (_names(option.names, option.metavar), with_default(option.help, option.default)) for option in command.options
    ]
    yield from _rows([*options, ("-h, --help", "Show this.")], width)
    if command.examples:
        yield EMPTY
        yield Line(("heading", "Examples"))
        for example in command.examples:
            for row in example.split("\n"):
                yield Line(("", f"  {row}"), hang=6)


def _names(names: tuple[str, ...], metavar: str) -> str:
    # Long names line up, whether or not there is a short one.
    text = ", ".join(names) if names[0][:2] != "--" else f"    {names[0]}"
    return f"{text} {metavar}" if metavar else text


def with_default(text: str, default: object) -> str:
    return f"{text} [default: {default}]" if default not in (None, False, "", "text") and default != [] else text


def _rows(rows: Iterable[tuple[str, str]], width: int) -> Iterator[Line]:
    rows = list(rows)
    column = max((len(name) for name, _ in rows if len(name) <= NAMES_MAX), default=NAMES_MAX) + 2
    for name, text in rows:
        yield from _row(name, text, width, column)


def _row(name: str, text: str, width: int, column: int) -> Iterator[Line]:
    blanks = " " * (2 + column)
    wrapped = _wrapped(text, min(width, WIDTH_MAX) - len(blanks))
    if len(name) < column - 1:
        yield Line(("entity", f"  {name}".ljust(len(blanks))), ("", wrapped.pop(0)))
    else:
        yield Line(("entity", f"  {name}"))
    for row in wrapped:
        yield Line(("", f"{blanks}{row}"))


def _text(text: str, width: int) -> Iterator[Line]:
    for row in _wrapped(text, min(width, WIDTH_MAX)):
        yield Line(("", row))


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 20), break_on_hyphens=False)
