"""Every command as data, read from the Typer definitions.

Help texts, the reference page, the manual page and the hot table are all made from this, so that none of
them can say anything else than the definitions do. It asks `inspect` and the public `typer.Option` and
`typer.Argument` values, not the classes below Typer, which change between its releases.
"""

from __future__ import annotations

import inspect
import typing
from importlib import import_module
from typing import Literal, NamedTuple

from gitmem.cli import commands
from gitmem.cli.commands import Defined

ONE, MAYBE, MANY = "one", "maybe", "many"
FLAG, TEXT, TEXTS, COUNT, CHOICE = "flag", "text", "texts", "count", "choice"


class Argument(NamedTuple):
    """A positional argument. kind: one, maybe (may be left out), many (one or more)."""

    field: str
    metavar: str
    kind: str
    help: str

    @property
    def usage(self) -> str:
        return f"[{self.metavar}]" if self.kind == MAYBE else self.metavar


class Option(NamedTuple):
    """An option. kind: flag, text, texts (repeatable), count (an integer from 1), choice."""

    field: str
    names: tuple[str, ...]
    metavar: str
    kind: str
    help: str
    default: object

    @property
    def usage(self) -> str:
        return ", ".join(self.names) + (f" {self.metavar}" if self.metavar else "")


class Command(NamedTuple):
    """One command: what is typed, what it says about itself, what it takes, what answers it."""

    words: str
    heading: str
    summary: str
    details: list[str]
    examples: list[str]
    arguments: list[Argument]
    options: list[Option]
    target: str
    hot: bool
    needs: str

    @property
    def usage(self) -> str:
        arguments = [argument.usage for argument in self.arguments]
        return " ".join(["git decisions", self.words, *arguments, *filter(None, [self.needs]), "[options]"])


#: The families of commands, in the order of the help text.
FAMILIES = (
    "demonstrating",
    "installation",
    "recording",
    "reading",
    "tracing",
    "revisiting",
    "lessons",
    "reviewing",
    "archiving",
    "redacting",
    "travelling",
    "integrity",
    "examining",
    "gating",
    "commits",
    "importing",
    "transfer",
    "serving",
)


def every() -> list[Command]:
    """Return all commands in the order of the help text."""
    return [_described(one) for one in defined()]


def named(words: str) -> Command:
    """Return the command that is called by `words`."""
    return next(_described(one) for one in defined() if one.words == words)


def defined() -> list[Defined]:
    """Return the definitions of all commands in the order of the help text."""
    # Importing a family defines its commands.
    headings = [import_module(f"gitmem.cli.commands.{name}").HEADING for name in FAMILIES]
    return sorted(commands.DEFINED, key=lambda one: headings.index(one.heading))


def _described(defined: Defined) -> Command:
    summary, details, examples = _told(inspect.getdoc(defined.definition) or "")
    arguments: list[Argument] = []
    options: list[Option] = []
    for parameter in defined.parameters():
        base, about = typing.get_args(parameter.annotation)[:2]
        # In `Annotated`, the first name of an option stands where a default would.
        names = tuple(name for name in (about.default, *(about.param_decls or ())) if isinstance(name, str))
        if names:
            kind = _option_kind(base)
            metavar = "" if kind == FLAG else about.metavar
            default = None if parameter.default is inspect.Parameter.empty else parameter.default
            options.append(Option(parameter.name, names, metavar, kind, about.help, default))
        else:
            kind = MANY if base == list[str] else ONE if parameter.default is inspect.Parameter.empty else MAYBE
            arguments.append(Argument(parameter.name, about.metavar, kind, about.help))
    return Command(
        defined.words,
        defined.heading,
        summary,
        details,
        examples,
        arguments,
        options,
        defined.target,
        defined.hot,
        defined.needs,
    )


def _option_kind(base: object) -> str:
    kinds: dict[object, str] = {bool: FLAG, str: TEXT, str | None: TEXT, list[str]: TEXTS, int | None: COUNT}
    if typing.get_origin(base) is Literal:
        return CHOICE
    return kinds[base]


def _told(doc: str) -> tuple[str, list[str], list[str]]:
    """Split a docstring into its first sentence, its other paragraphs, and the examples at its end."""
    blocks = [block for block in doc.split("\n\n") if block.strip()]
    examples: list[str] = []
    if len(blocks) > 1 and blocks[-1].startswith("git decisions "):
        for row in blocks.pop().split("\n"):
            if row.startswith("git decisions "):
                examples.append(row)
            else:
                examples[-1] += f"\n{row}"
    return " ".join(blocks[0].split()), [" ".join(block.split()) for block in blocks[1:]], examples
