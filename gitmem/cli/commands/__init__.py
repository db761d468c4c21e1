"""What people type: the Typer definitions, one module for each family of commands.

They are the only source of names, options and help texts. A definition has no body: its signature is
read, and `command` makes it into the call of a plain function in the module of the same name one level up.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from gitmem.cli.call import Call

Definition = Callable[..., None]


class Defined(NamedTuple):
    """One command: the words that call it, its definition, the plain function that answers."""

    words: str
    definition: Definition
    target: str
    heading: str
    hot: bool
    needs: str

    def parse(self) -> Callable[..., Call]:
        """Return what Typer shall call: it gives back the call instead of making it."""

        @functools.wraps(self.definition)
        def call(**values: Any) -> Call:
            return self.target, values

        return call


#: Every command, in the order of the help text.
DEFINED: list[Defined] = []


def command(
    words: str, target: str, *, heading: str, hot: bool = False, needs: str = ""
) -> Callable[[Definition], Definition]:
    """Define the command `words`, answered by the function `target` (`module:name` below `gitmem.cli`).

    heading   the part of the command list that it stands in
    hot       everyday: gets into the hot table
    needs     options that can't be left out, for the usage line
    """

    def define(definition: Definition) -> Definition:
        DEFINED.append(Defined(words, definition, target, heading, hot, needs))
        return definition

    return define
