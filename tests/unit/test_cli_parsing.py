"""Two readers of one command line: what the hot table understands, it understands as Typer does."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.cli import app, catalogue, entry
from gitmem.cli.terminal import Io
from gitmem.errors import Usage

COMMANDS = {command.words: command for command in catalogue.every()}
HOT = [command for command in COMMANDS.values() if command.hot]


def by_typer(argv: list[str]) -> Any:
    """The call that Typer makes of `argv`, "help" or "refused"."""
    silent = Io(io.StringIO(), io.StringIO(), {})
    try:
        answer = app.read(argv, silent)
    except Usage:
        return "refused"
    return "help" if isinstance(answer, int) else answer


EVERYDAY = [
    ["record", "users.email", "add", "-r", "why"],
    ["record", "users.email", "add", "-r", "one", "-r", "two", "--json", "--dry-run"],
    ["record", "-F", "-", "users.email", "add", "--evidence=url:x", "--evidence", "test:y"],
    ["reject", "users.card_token", "--approach", "own table", "--instead=vault", "-r", "why", "--whole"],
    ["reject", "users.card_token", "--reasoning=a=b"],
    ["supersede", "7f3a", "-r", "why"],
    ["log"],
    ["log", "users", "--oneline", "--graph", "-n", "5", "--since", "7d"],
    ["log", "--type", "reject", "--type", "add", "--kind", "any", "--all", "--json", "--stream"],
    ["log", "--max-count=12"],
    ["show", "7f3a", "--json"],
    ["status"],
    ["status", "users"],
    ["prior", "users.email", "--about", "keep it", "--content", "-", "--all", "--window", "24h"],
    ["blame", "users.email"],
    ["search", "card token", "-n", "3"],
    ["search", ""],
    ["changeset"],
    ["changeset", "one", "--json"],
    ["assert", "7f3a", "8888"],
]


@pytest.mark.parametrize("argv", EVERYDAY, ids=" ".join)
def test_an_everyday_command_is_read_without_typer_and_means_the_same(argv: list[str]) -> None:
    call = entry.understood(argv)
    assert call is not None
    assert call == by_typer(argv)


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["-h"],
        ["log", "-h"],
        ["log", "--help"],
        ["log", "-n5"],
        ["log", "-n", "0"],
        ["log", "-n", "-1"],
        ["log", "-n", "99999999999999999999"],
        ["log", "-n", "five"],
        ["log", "-n"],
        ["log", "--onelin"],
        ["log", "--oneline=yes"],
        ["log", "a", "b"],
        ["log", "--", "a"],
        ["log", "--since", "-7d"],
        ["record", "users.email"],
        ["record", "-r=why", "users.email", "add"],
        ["assert"],
        ["recrod", "x"],
        ["uninstall"],
        ["init"],
        ["import", "git"],
        ["verify", "--format", "5"],
        ["verify", "--format", "json"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_anything_else_is_left_to_typer(argv: list[str]) -> None:
    assert entry.understood(argv) is None


def words() -> st.SearchStrategy[str]:
    return st.sampled_from(
        ["users.email", "7f3a", "-", "", "a b", "--json", "-r", "-n", "5", "0", "x=y", "--", "日本", "--about"]
    )


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    command = draw(st.sampled_from(HOT))
    argv: list[str] = []
    for _ in range(draw(st.integers(0, 5))):
        option = draw(st.sampled_from(command.options))
        name = draw(st.sampled_from(option.names))
        value = draw(words())
        match draw(st.integers(0, 3)):
            case 0:
                argv.append(name)
            case 1:
                argv += [name, value]
            case 2:
                argv.append(f"{name}={value}")
            case _:
                argv.append(value)
    return [command.words, *argv]


@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow])
@given(command_lines())
def test_whatever_the_hot_table_understands_typer_understands_alike(argv: list[str]) -> None:
    call = entry.understood(argv)
    if call is not None:
        assert call == by_typer(argv)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.words)
def test_every_definition_has_its_plain_function_with_the_same_arguments(command: catalogue.Command) -> None:
    import importlib
    import inspect

    pytest.importorskip("gitmem.memory")
    module, _, name = command.target.partition(":")
    function = getattr(importlib.import_module(f"gitmem.cli.{module}"), name)
    parameters = inspect.signature(function).parameters
    fields = [argument.field for argument in command.arguments] + [option.field for option in command.options]
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    # `demo` makes a repository of its own, and so needs none.
    given = ["io"] if command.words == "demo" else ["memory", "io"]
    assert list(parameters)[: len(given)] == given
    for field in fields:
        assert takes_any or field in parameters, f"{command.target} does not take {field}"


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.words)
def test_every_command_explains_each_thing_it_takes(command: catalogue.Command) -> None:
    assert command.summary.endswith(".")
    for argument in command.arguments:
        assert argument.help and argument.metavar
    for option in command.options:
        assert option.help
        assert option.kind == catalogue.FLAG or option.metavar


def test_usage_errors_name_what_is_wrong_and_the_nearest_word() -> None:
    silent = Io(io.StringIO(), io.StringIO(), {})

    def said(*argv: str) -> str:
        with pytest.raises(Usage) as refusal:
            app.read(list(argv), silent)
        assert refusal.value.advice
        return refusal.value.message

    assert said("recrod") == "`git decisions` has no command `recrod`; did you mean `record`?"
    assert said("zzz") == "`git decisions` has no command `zzz`"
    assert said("log", "--onelin") == "`git decisions log` has no option --onelin; did you mean --oneline?"
    assert said("record", "x") == "missing argument 'CHANGE_TYPE'"
    assert said("import", "gti") == "`git decisions import` has no command `gti`; did you mean `git`?"
    assert "0 is not in the range" in said("log", "-n", "0")
    assert "'xml' is not one of" in said("verify", "--format", "xml")
    assert "surplus" in said("show", "7f3a", "surplus")
    assert silent.out.getvalue() == ""  # type: ignore[attr-defined]
