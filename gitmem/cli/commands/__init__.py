"""What people type: the Typer definitions, one module for each family of commands.

They are the only source of names, options and help texts. A definition has no body: its signature is
read, and `command` makes it into the call of a plain function in the module of the same name one level up.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import Any, NamedTuple, get_type_hints

from gitmem.cli.call import Call

Definition = Callable[..., None]


class Together:
    """Arguments and options that several commands take: a parameter of such a type stands for them, in their order."""


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

        def call(**values: Any) -> Call:
            return self.target, values

        vars(call)["__signature__"] = inspect.Signature(self.parameters())
        return call

    def parameters(self) -> list[Parameter]:
        """Return what it takes, in the order of its help text, with annotations that are no strings any more."""
        return [one for parameter in _parameters(self.definition) for one in _spread(parameter)]


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


def _parameters(definition: Callable[..., object]) -> list[Parameter]:
    hints = get_type_hints(definition, include_extras=True)
    # By keyword, so that one without a default may follow one that has it.
    return [
        parameter.replace(annotation=hints[parameter.name], kind=Parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(definition).parameters.values()
    ]


def _spread(parameter: Parameter) -> list[Parameter]:
    several = parameter.annotation
    if not (isinstance(several, type) and issubclass(several, Together)):
        return [parameter]
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=getattr(several, name, Parameter.empty), annotation=hint)
        for name, hint in get_type_hints(several, include_extras=True).items()
    ]
