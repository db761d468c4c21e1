"""What a finished tool call asked of gitmem: our MCP tools, and `git decisions prior` in a shell.

This is the one place where a shell's command is read: only one that has run, and only for our own words in it.
A command that may not have run, or whose answer nobody saw, asked nothing.
"""

from __future__ import annotations

import os

from gitmem.hooks.agents import edits
from gitmem.hooks.agents.payloads import an_object, first_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

#: Our tools whose answer holds what stands against an entity. Clients put a server's name before or after it.
TOOLS = ("priorattempts", "status")
SERVER = "decisions"
#: The options of `prior` that take a value, and so are followed by no entity.
VALUED = frozenset(("--about", "--content", "--window", "--as-of", "--known-at"))

_ENTITY = ("entity_path", "entityPath", "entity")
_COMMAND = ("command", "cmd", "command_line", "commandLine", "CommandLine", "script")
_RESPONSE = ("tool_response", "tool_result", "toolResult", "tool_output", "result", "response", "postToolUse")
_FAILED = ("isError", "is_error", "error", "interrupted", "timed_out")
_EXIT = ("exit_code", "exitCode", "returncode", "code")
#: Ends a command that the next one doesn't depend on, or only by success: whatever comes after has run.
_ENDS = frozenset((";", "\n", "&&", "|", "|&"))


def asked(tool: str, given: object, payload: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the entity paths that a finished call of `tool` asked about, as they were typed, each with where.

    That is a directory, seen from the call's own; an empty one is that itself.
    """
    if _failed(payload):
        return []
    inner = an_object(given)
    name, arguments = _mcp(tool, inner)
    if name:
        entity = first_text(arguments, _ENTITY)
        return [(entity, "")] if entity else []
    command = next((inner[key] for key in _COMMAND if key in inner), None)
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        if words[:1] and words[0].rpartition("/")[2] in ("bash", "sh", "zsh") and words[1:2] in (["-c"], ["-lc"]):
            return _list(words[2] if words[2:] else "")
        return _prior(words, "")
    if isinstance(command, str) and (edits.is_shell(tool) or not tool):
        return _list(command)
    return []


def _failed(payload: Mapping[str, Any]) -> bool:
    for key in _RESPONSE:
        answer = payload.get(key)
        if isinstance(answer, dict):
            if any(answer.get(mark) for mark in _FAILED) or answer.get("success") is False:
                return True
            if any(answer.get(mark) for mark in _EXIT):
                return True
    return bool(payload.get("error")) or payload.get("success") is False


def _mcp(tool: str, given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the name of our tool that was called, and its arguments; an empty name for any other."""
    named = first_text(given, ("mcp_tool_name", "tool_name", "toolName"))
    server = first_text(given, ("mcp_server_name", "server_name", "serverName"))
    if named and server:  # Windsurf and Cline: one tool for all servers
        inner = next((given[key] for key in ("mcp_tool_arguments", "arguments", "args") if key in given), None)
        return (edits.bare(named) if _is_ours(f"{server}/{named}") else "", an_object(inner))
    return (tool if _is_ours(tool) else "", given)


def _is_ours(tool: str) -> bool:
    name = edits.bare(tool)
    ours = next((each for each in TOOLS if each in name), "")
    # `status` alone is everybody's word; `prior_attempts` is nobody else's.
    return bool(ours) and (SERVER in name.replace(ours, "", 1) or name in ("priorattempts", "mcppriorattempts"))


# --- a shell's command ---------------------------------------------------------------------------


def _list(text: str) -> list[tuple[str, str]]:
    """Return what the commands of `text` asked. Where it can't be known in which directory, nothing was asked."""
    found: list[tuple[str, str]] = []
    place = ""
    for words in _commands(text):
        if words[:1] in (["pushd"], ["popd"]):
            break
        if words[:1] == ["cd"]:
            to = [word for word in words[1:] if word not in ("-P", "-L", "--")]
            if len(to) != 1 or to[0][:1] in ("", "-", "~"):
                break
            place = os.path.join(place, to[0])
        else:
            found += _prior(words, place)
    return found


def _commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each simple command in `text` that has run for certain and wrote to where it was read."""
    words: list[str] = []
    seen = True
    for word, is_sign in _tokens(text):
        if not is_sign:
            words.append(word)
        elif word in _ENDS:
            if seen:
                yield words
            words = []
            seen = True
        elif word in ("||", "&"):
            if word == "||" and seen:
                yield words
            return  # what follows may not have run, or not yet
        elif word in ("2>", "2>&1", "<"):
            continue
        elif word == ">":
            seen = False  # nobody read the answer
        else:
            return  # a grammar that is more than a list of commands
    if seen:
        yield words


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the words of a shell command, and its signs. Ends at what it doesn't understand wholly."""
    word = ""
    is_word = False
    at = 0
    text = text[:65536].replace("\\\n", "")
    while at < len(text):
        character = text[at]
        if character == "'":
            end = text.find("'", at + 1)
            if end < 0:
                return
            word, is_word, at = word + text[at + 1 : end], True, end + 1
        elif character == '"':
            at += 1
            while at < len(text) and text[at] != '"':
                if text[at] in "$`":
                    yield "(", True
                    return
                if text[at] == "\\" and text[at + 1 : at + 2] in ('"', "\\", "$", "`"):
                    at += 1
                word += text[at]
                at += 1
            is_word = True
            at += 1
        elif character == "\\":
            word, is_word, at = word + text[at + 1 : at + 2], True, at + 2
        elif character == "#" and not is_word:
            end = text.find("\n", at)
            at = end if end >= 0 else len(text)
        elif character in " \t\r":
            if is_word:
                yield word, False
            word, is_word, at = "", False, at + 1
        elif character in "$`(){}":
            yield "(", True
            return
        elif character in ";|&\n<>":
            fd = word if is_word and character == ">" and word in ("1", "2") else ""
            if is_word and not fd:
                yield word, False
            word, is_word = "", False
            sign = text[at : at + 2] if text[at : at + 2] in ("&&", "||", "|&", "&>", ">>", "<<", ";;") else character
            at += len(sign)
            if fd == "2" and text[at : at + 2] == "&1":
                sign, at = "2>&1", at + 2
            elif sign in ("&>", ">>", ">"):
                sign = "2>" if fd == "2" else ">"
            yield sign, True
            if sign in ("2>", ">", "<"):  # the file's name is no argument
                while at < len(text) and text[at] in " \t&":
                    at += 1
                while at < len(text) and text[at] not in " \t\r\n;|&<>":
                    at += 1
        else:
            word, is_word, at = word + character, True, at + 1
    if is_word:
        yield word, False


def _prior(words: list[str], place: str) -> list[tuple[str, str]]:
    """Return the entities of a `git decisions prior ENTITY` in `place`, with where; nothing of any other command."""
    at = 0
    while at < len(words) and "=" in words[at] and words[at].partition("=")[0].isidentifier():
        if words[at].startswith("GIT_"):
            return []  # it may be another repository
        at += 1
    program = words[at].replace("\\", "/").rpartition("/")[2].removesuffix(".exe") if at < len(words) else ""
    at += 1
    if program == "git":
        while at < len(words) and words[at].startswith("-"):
            if words[at].startswith(("--git-dir", "--work-tree")):
                return []
            if words[at] == "-C":
                place = os.path.join(place, *words[at + 1 : at + 2])
            at += 2 if words[at] in ("-C", "-c") else 1
        if words[at : at + 1] != ["decisions"]:
            return []
        at += 1
    elif program != "git-decisions":
        return []
    if words[at : at + 1] != ["prior"]:
        return []
    entities = []
    rest = iter(words[at + 1 :])
    for word in rest:
        if word in ("--help", "-h"):
            return []
        if word in VALUED:
            next(rest, "")
        elif not word.startswith("-"):
            entities.append((word, place))
    return entities
