"""The input of a tool that edits files, in every spelling that clients have, to edits.

A tool is known by the shape of its input: a path, and a text or what replaces what. Names decide only where the
shape doesn't: whether a bare path is deleted, whether two paths are a move, and that a shell's command is never read.
"""

from __future__ import annotations

from gitmem.core.calls import Edit
from gitmem.hooks.agents import patches, paths
from gitmem.hooks.agents.payloads import first_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

Pair = tuple[str, str, bool]


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: What clients call the file, the whole new text, the text to replace and what replaces it, in the order looked for.
PATH = _names(
    "file_path filePath path notebook_path notebookPath absolute_path absolutePath AbsolutePath target_file targetFile "
    "TargetFile relative_workspace_path relativePath filename fileName file uri"
)
CONTENT = _names("content contents file_text fileText file_content fileContent CodeContent newContent code text")
OLD = _names("old_string oldString old_str oldStr old_text oldText before search TargetContent old")
NEW = _names("new_string newString new_str newStr new_text newText after replace replacement ReplacementContent new")
EVERYWHERE = _names("replace_all replaceAll change_all allow_multiple AllowMultiple")
SEVERAL = _names(
    "edits replacements ReplacementChunks str_replace_entries insert_line_entries operations changes chunks files"
)
PATHS = _names("file_paths filePaths paths files")
#: What is added somewhere, by line number: `insert_line` says so, the text is under one of these.
INSERTED = _names("new_str newStr insert_text insertText text content new_text")
INSERT_AT = _names("insert_line insertLine line lineNumber")
PATCH = _names("input patch patchText patch_text diff changes arguments text content command")
SOURCE, TARGET = (
    _names("source source_path sourcePath old_path oldPath from src"),
    _names("destination destination_path destinationPath target new_path newPath to dst"),
)

DELETING = frozenset(_names("delete deletefile deletefiles removefile removefiles remove fsdelete unlink filedelete"))
MOVING = frozenset(_names("move movefile rename renamefile fsmove filemove"))
PATCHING = frozenset(_names("applypatch patch editpatch"))
#: Tools that run a command: what they are given is never looked at, whatever it is called.
SHELLS = frozenset(
    _names(
        "bash shell powershell execute exec execcommand executebash executecommand executepwsh runcommand runincmd "
        "runinterminal runshellcommand runterminalcmd runterminalcommand launchprocess localshell terminal cmd "
        "developershell shellcommand unifiedexec writestdin"
    )
)
APPENDING = frozenset(_names("append fsappend appendfile insert"))


def bare(tool: str) -> str:
    """Return the name of a tool as letters and digits in lower case, so that one entry knows all spellings of it."""
    return "".join(character for character in tool.lower() if character.isalnum())


def is_shell(tool: str) -> bool:
    """Say whether the tool runs a command."""
    return bare(tool) in SHELLS


def edits_of(tool: str, given: object) -> list[Edit]:
    """Return what a call of `tool` with the input `given` edits; nothing where it is no edit of files."""
    name = bare(tool)
    if name in SHELLS:
        return []
    if isinstance(given, str):
        return patches.edits_of(given) if patches.is_patch(given) else []
    if isinstance(given, list):
        return [edit for item in given if isinstance(item, dict) for edit in edits_of(tool, item)]
    if not isinstance(given, dict):
        return []
    found = list(_patched(name, given)) or list(_moved(name, given)) or _plain(name, given)
    return [edit for edit in found if edit.path and "\0" not in edit.path]


def _patched(name: str, given: Mapping[str, Any]) -> Iterator[Edit]:
    """The edits of a patch that names its files itself."""
    own_path = bool(first_text(given, PATH))
    for key in PATCH:
        value = given.get(key)
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            value = "\n".join(value)  # Codex once sent the words of a command
        if not isinstance(value, str) or not patches.is_patch(value):
            continue
        # A document may be about patches. Where the tool says which file it writes, the text is that file's.
        if name in PATCHING or (key not in ("text", "content", "command") and not (own_path and key != "diff")):
            yield from patches.edits_of(value)
            return


def _moved(name: str, given: Mapping[str, Any]) -> Iterator[Edit]:
    if name in MOVING:
        source, target = first_text(given, SOURCE), first_text(given, TARGET)
        if source and target:
            yield Edit(paths.plain(target), moved_from=paths.plain(source))


def _plain(name: str, given: Mapping[str, Any]) -> list[Edit]:
    """The edits of an input that says which file and what is new in it."""
    path = first_text(given, PATH)
    if not path:
        many = [path for key in PATHS for path in _texts(given.get(key))]
        if many:
            deleted = name in DELETING
            return [Edit(paths.plain(path), is_deletion=deleted) for path in many]
    elif name in DELETING or given.get("edit_mode") == "delete_file":
        return [Edit(paths.plain(path), is_deletion=True)]
    by_path: dict[str, list[Pair]] = {}
    for item, item_path in _items(given, path):
        pair = _pair(item)
        if pair is not None and item_path:
            by_path.setdefault(paths.plain(item_path), []).append(pair)
    if by_path:
        return [Edit(path, pairs=pairs) for path, pairs in by_path.items()]
    if not path:
        return [edit for item in _dicts(given.get("files")) for edit in _plain(name, item)]
    plain = paths.plain(path)
    pairs = _own_pairs(name, given)
    if pairs:
        return [Edit(plain, pairs=pairs, places=_places(given, pairs))]
    for key in CONTENT:
        content = given.get(key)
        if isinstance(content, str):
            return [Edit(plain, content=content)]
    return []


def _own_pairs(name: str, given: Mapping[str, Any]) -> list[Pair]:
    """What an input replaces or adds in its one file."""
    if isinstance(given.get("new_source"), str):  # a cell of a notebook; the client knows what was in it
        return [("", given["new_source"], False)]
    diff = given.get("diff")
    if isinstance(diff, str):
        return patches.blocks_of(diff)
    numbered: list[Pair] = []
    for number in range(1, 100):  # Augment: old_str_1, new_str_1, ...
        new = given.get(f"new_str_{number}")
        if not isinstance(new, str):
            break
        old = given.get(f"old_str_{number}")
        numbered.append((old if isinstance(old, str) else "", new, False))
    if numbered:
        return numbered
    verb = bare(str(given.get("command", "")))  # of editors that are one tool: create, str_replace, insert, append
    is_at_a_line = any(isinstance(given.get(key), int) for key in INSERT_AT) and not any(key in given for key in OLD)
    if verb in APPENDING or name in APPENDING or is_at_a_line:
        added = first_text(given, INSERTED)
        return [("", added, False)] if added else []
    pair = _pair(given)
    return [pair] if pair is not None else []


def _places(given: Mapping[str, Any], pairs: list[Pair]) -> dict[int, int | str]:
    """Return the line that something is added after, where the input says it."""
    line = next((given[key] for key in INSERT_AT if isinstance(given.get(key), int)), None)
    return {0: line} if line is not None and line >= 0 and len(pairs) == 1 and not pairs[0][0] else {}


def _items(given: Mapping[str, Any], path: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield each of several replacements, and the file that it is in: its own, or that of the whole."""
    for key in SEVERAL:
        for item in _dicts(given.get(key)):
            own = first_text(item, PATH) or path
            inner = [(each, first_text(each, PATH) or own) for inside in SEVERAL for each in _dicts(item.get(inside))]
            yield from inner or [(item, own)]


def _pair(item: Mapping[str, Any]) -> Pair | None:
    """Return (old, new, everywhere) of one replacement, or None where nothing is replaced."""
    old = next((item[key] for key in OLD if isinstance(item.get(key), str)), None)
    new = next((item[key] for key in NEW if isinstance(item.get(key), str)), None)
    if new is None:
        return None  # `search` alone is a search
    if old is None and not any(isinstance(item.get(key), int) for key in INSERT_AT):
        return None  # a new text alone is the content of something
    times = item.get("expected_replacements")
    everywhere = any(item.get(key) is True for key in EVERYWHERE) or (isinstance(times, int) and times > 1)
    return (old or "", new, everywhere)


def _dicts(value: object) -> list[Mapping[str, Any]]:
    if isinstance(value, dict):
        value = list(value.values())
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str) and item] if isinstance(value, list) else []
