"""The Typer application: reads what the hot table does not, shows help, and finds the words for usage errors.

Commands come from `commands/`. Typer's own error output, exits and Rich help are not used: a command line
is turned into a call, a help text, or `errors.Usage`, which ends where every error ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import gitmem
from gitmem.cli import catalogue, help
from gitmem.cli.call import Call
from gitmem.cli.commands import DEFINED
from gitmem.cli.terminal import Io
from gitmem.cli.text import Line
from gitmem.errors import Usage

PROGRAM = "git decisions"
#: The base of all usage errors. Where it is defined differs between Typer's releases (click, a copy of click); this
#: name of one of its classes doesn't.
UsageError: type[Any] = typer.BadParameter.__mro__[1]
_CONTEXT = {"help_option_names": ["-h", "--help"]}


class Help(Exception):
    """Not an error: a text is asked for. Typer would print it itself, and end in its own way on a closed pipe."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = lines


class Command(TyperCommand):
    """A command whose help text is ours."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        words = ctx.command_path.removeprefix(f"{PROGRAM} ")
        raise Help(help.of_command(catalogue.named(words), _width(ctx)))


class Group(TyperGroup):
    """A word with commands below it: its help text is ours, and it knows the nearest command."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        words = ctx.command_path.removeprefix(PROGRAM).strip()
        raise Help(help.of_group(words, _width(ctx)) if words else help.of_all(_width(ctx)))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name not in self.commands and name[:1] != "-":
            import difflib

            nearest = difflib.get_close_matches(name, list(self.commands), n=1)  # nearer than `help` is to `seal`
            asked = f"; did you mean `{nearest[0]}`?" if nearest else ""
            raise Usage(
                what=f"`{ctx.command_path}` has no command `{name}`{asked}",
                hint=f"`{ctx.command_path} -h` lists all commands.",
            )
        return super().resolve_command(ctx, args)


def _width(ctx: Any) -> int:
    io: Io = ctx.find_root().obj
    return io.width if io.terminal else 80


def _version(wanted: bool) -> None:
    if wanted:
        raise Help([Line(("", f"git-decisions {gitmem.__version__}"))])


def make(first: str = "") -> typer.Typer:
    """Return the application with every command; where some begin with the word `first`, with those alone.

    To define one takes Typer 0.6 ms, and there are more than sixty.
    """
    app = typer.Typer(
        cls=Group,
        context_settings=_CONTEXT,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def program(
        version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
        ] = False,
    ) -> None: ...

    groups: dict[str, typer.Typer] = {}
    every = catalogue.defined()
    for defined in [one for one in every if one.words.partition(" ")[0] == first] or every:
        group, _, name = defined.words.rpartition(" ")
        place = app
        if group:
            if group not in groups:
                groups[group] = typer.Typer(cls=Group, context_settings=_CONTEXT, rich_markup_mode=None)
                app.add_typer(groups[group], name=group)
            place = groups[group]
        place.command(name, cls=Command, context_settings=_CONTEXT)(defined.parse())
    return app


def read(argv: list[str], io: Io) -> Call | int:
    """Return the call that `argv` means, or the exit status where a help text was asked for and is shown.

    Raises Usage.
    """
    if not argv:
        io.show(help.of_all(io.width if io.terminal else 80))
        return Usage.code
    try:
        # Not standalone: the value of a command, which is its call, comes back; so does the status of an Exit.
        answer: Call | int = typer.main.get_command(make(argv[0])).main(
            argv, prog_name=PROGRAM, standalone_mode=False, obj=io
        )
    except Help as asked:
        io.show(asked.lines)
        return 0
    except UsageError as error:
        raise _usage(error, argv) from None
    return answer


def _usage(error: Any, argv: list[str]) -> Usage:
    path = error.ctx.command_path if error.ctx is not None else _typed(argv)
    unknown = getattr(error, "option_name", "")
    if unknown == "--json" and path == f"{PROGRAM} export":
        hint = "its form is chosen by --format: `git decisions export --format json`."
        return Usage(what=f"`{path}` has no option --json", hint=hint)
    if unknown and hasattr(error, "possibilities"):
        nearest = list(error.possibilities or ())[:1]
        what = f"`{path}` has no option {unknown}" + (f"; did you mean {nearest[0]}?" if nearest else "")
    else:
        text = error.format_message().rstrip(".").replace("a valid int range", "a whole number")
        text = text.replace("a valid integer range", "a whole number").replace("a valid integer", "a whole number")
        what = text[:1].lower() + text[1:]
    return Usage(what=what, hint=f"`{path} -h` shows what it takes.")


def _typed(argv: list[str]) -> str:
    """Return the command that `argv` begins with, where Typer doesn't say which one was meant."""
    known = {one.words for one in DEFINED}
    words = next((words for words in (" ".join(argv[:2]), argv[0]) if words in known), "")
    return f"{PROGRAM} {words}".rstrip()
