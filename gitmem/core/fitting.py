"""Fitting what a client wants into a file's text, and taking it out again. Pure: text in, text out."""

from __future__ import annotations

import json

from gitmem.core import blocks, jsonc
from gitmem.core.clients import OURS, SERVER, File, Wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Path = tuple[str, ...]


#: No such member; null is one.
_MISSING = object()


class Misfit(ValueError):
    """The file can't be changed without a risk for what is in it; the message says why, and what to do."""


def fitted(file: File, text: str | None) -> str:
    """Return the text of the file with what `file` wants in it; `text` as it is where all of it is there.

    `None`: there is no such file yet. Raises Misfit.
    """
    if not file.is_json:
        return _with_lines(file, text)
    try:
        keep = [(wanted.path, wanted.value) for wanted in file.wanted if wanted.how == "item"]
        result = text or ""
        for path, value in keep:
            result = _renewed(result, path, value, keep)
        if keep:  # a client's hooks and its server may be in one file: each looks after its own
            result = _without(result, keep)
        for wanted in file.wanted:
            result = _with_entry(result, wanted)
    except jsonc.BadJson as error:
        raise Misfit(f"it can't be read as JSON ({error})") from None
    return result


def bare(file: File, text: str) -> str | None:
    """Return the text without what is ours in it; None where nothing of anybody else's is left. Raises Misfit."""
    if not file.is_json:
        return _without_lines(file, text)
    if text == fitted(file, None):
        return None
    try:
        text = _without(text)
        for wanted in file.wanted:
            if wanted.how == "member" and _is_same(_at(text, wanted.path), wanted):
                text = _cut(text, wanted.path)
    except jsonc.BadJson as error:
        raise Misfit(f"it can't be read as JSON ({error})") from None
    return text


def holds_ours(file: File, text: str) -> bool:
    """Say whether there is something of ours in the text."""
    if file.is_json:
        members = [wanted for wanted in file.wanted if wanted.how == "member"]
        return OURS in text or (bool(members) and all(_is_ours_at(text, wanted) for wanted in members))
    try:
        return blocks.find(text, file.style) is not None
    except blocks.BadBlock:
        return True


# --- lines -------------------------------------------------------------------------------------


def _with_lines(file: File, text: str | None) -> str:
    try:
        found = blocks.find(text, file.style) if text is not None else None
        if found is not None and found.is_edited:
            raise Misfit(
                "somebody edited gitmem's lines in it; move the edits out of the marks, or delete the lines with "
                "their marks, and run it again"
            )
        if file.runs and text is not None and found is None:
            raise Misfit("it is a program of somebody's own; let it start `git-decisions-hook agent` too, or move it")
        if file.style == "hash" and file.path.endswith(".toml"):
            _check_toml(text or "", found)
        return blocks.put(file.head if text is None else text, file.body, file.style)
    except blocks.BadBlock as error:
        raise Misfit(str(error)) from None


def _without_lines(file: File, text: str) -> str | None:
    try:
        found = blocks.find(text, file.style)
        if found is None:
            return text
        if found.is_edited:
            raise Misfit("somebody edited gitmem's lines in it; they stay")
        rest = blocks.cut(text, file.style)
    except blocks.BadBlock as error:
        raise Misfit(str(error)) from None
    return None if rest.strip("\ufeff \t\r\n") == file.head.strip() else rest


def _check_toml(text: str, found: blocks.Found | None) -> None:
    """Raise Misfit where a TOML file can't be read, or has a server of our name that isn't ours."""
    import tomllib

    rest = text if found is None else text[: found.start] + text[found.end :]
    try:
        values = tomllib.loads(rest.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise Misfit(f"it can't be read as TOML ({error})") from None
    servers = values.get("mcp_servers", {})
    if not isinstance(servers, dict) or SERVER in servers:
        raise Misfit(f"it has a server {SERVER} already; remove [mcp_servers.{SERVER}], or give it another name")


# --- entries of JSON ---------------------------------------------------------------------------


def _with_entry(text: str, wanted: Wanted) -> str:
    there = _at(text, wanted.path)
    if wanted.how == "item":
        items = there if isinstance(there, list) else []
        if there is not _MISSING and not isinstance(there, list):
            raise Misfit(f"{'.'.join(wanted.path)} is no list")
        if wanted.value in items or any(_is_mixed(item, wanted.value) for item in items):
            return text
        return jsonc.append(text, wanted.path, wanted.value)
    if there is _MISSING:
        return jsonc.put(text, wanted.path, wanted.value)
    if wanted.how == "default" or there == wanted.value:
        return text
    if not _is_same(there, wanted):
        raise Misfit(f"{'.'.join(wanted.path)} is something else; remove it, or give it another name")
    return jsonc.put(text, wanted.path, wanted.value)


def _is_same(there: Any, wanted: Wanted) -> bool:
    """Say whether a member is ours, of whatever version: for a server, that it starts `git decisions mcp`."""
    if there == wanted.value:
        return True
    words = " ".join(str(value) for value in _leaves(there)).replace("git-decisions", "git decisions").split()
    return wanted.path[-1] == SERVER and "decisions" in words and "mcp" in words


def _is_ours_at(text: str, wanted: Wanted) -> bool:
    try:
        return _is_same(_at(text, wanted.path), wanted)
    except jsonc.BadJson:
        return False


def _is_mixed(item: Any, value: Any) -> bool:
    """Say whether `item` holds our command beside somebody's own: then it is theirs to keep in order."""
    ours = [leaf for leaf in _leaves(value) if isinstance(leaf, str) and OURS in leaf]
    return _is_ours(item) and not _is_all_ours(item) and set(ours) <= set(map(str, _leaves(item)))


def _is_ours(value: Any) -> bool:
    return OURS in json.dumps(value, ensure_ascii=False)


def _is_all_ours(value: Any) -> bool:
    """Say whether an item is ours and holds no command of anybody else's."""
    if not _is_ours(value):
        return False
    inner = (
        [each for part in value.values() if isinstance(part, list) for each in part] if isinstance(value, dict) else []
    )
    return all(_is_ours(each) for each in inner)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in _leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _leaves(inner)]
    return [value]


def _at(text: str, path: tuple[str, ...]) -> Any:
    if not text.strip("\ufeff \t\r\n"):
        return _MISSING
    node = jsonc.parsed(text)
    for name in path:
        found = node.get(name)
        if found is None:
            return _MISSING
        node = found
    return node.value


def _renewed(text: str, path: Path, value: Any, keep: list[tuple[Path, Any]]) -> str:
    """Put `value` in the place of an older item of ours in the list at `path`, so that it stays where it was."""
    if OURS not in text:
        return text
    node: jsonc.Node | None = jsonc.parsed(text)
    for name in path:
        node = node.get(name) if node is not None else None
    items = (node.items or []) if node is not None else []
    if any(item.value == value for item in items):
        return text
    for item in items:
        if _is_all_ours(item.value) and (path, item.value) not in keep:
            return jsonc.replaced(text, item, value)
    return text


def _without(text: str, keep: list[tuple[Path, Any]] | None = None) -> str:
    """Cut each item of ours, and the lists that this leaves empty.

    `keep`: of these, by path and value, the first stays, and so does a command of ours in an item of somebody else's.
    """
    while OURS in text:
        found = list(_ours_in(jsonc.parsed(text), (), list(keep) if keep is not None else None))
        if not found:
            break
        container, index, path = found[-1]  # the last: what stands before it keeps its place
        is_only = len(container.children()) == 1
        text = _cut(text, path) if is_only and path else jsonc.cut(text, container, index)
    return text


def _ours_in(
    node: jsonc.Node, path: Path, keep: list[tuple[Path, Any]] | None
) -> Iterator[tuple[jsonc.Node, int, Path]]:
    """Yield each item of ours in the order of the text: its list, its number in it, and the path of the list."""
    for name, _, inner in node.members or ():
        yield from _ours_in(inner, (*path, name), keep)
    for index, item in enumerate(node.items or ()):
        if not _is_ours(item.value):
            continue
        if not _is_all_ours(item.value):
            if keep is None:
                # Beside a command of somebody's: only ours goes, and no list of theirs with it.
                for _, _, inner in item.members or ():
                    for place, handler in enumerate(inner.items or ()):
                        if _is_ours(handler.value):
                            yield inner, place, ()
        elif keep is None or (path, item.value) not in keep:
            yield node, index, path
        else:
            keep.remove((path, item.value))


def _cut(text: str, path: tuple[str, ...]) -> str:
    """Take the member at `path` away, and what holds nothing but it."""
    node = jsonc.parsed(text)
    above: list[tuple[jsonc.Node, int]] = []
    for name in path:
        index = max((number for number, (each, _, _) in enumerate(node.members or ()) if each == name), default=-1)
        if index < 0:
            return text
        above.append((node, index))
        node = (node.members or [])[index][2]
    while len(above) > 1 and len(above[-1][0].children()) == 1:
        above.pop()
    container, index = above[-1]
    return jsonc.cut(text, container, index)
