"""Editing a JSON file as text: what is added or taken away is all that changes.

People write comments and trailing commas into these files, indent them as they like, and end lines with what their
system does. So a file is read into a tree that knows where each value stands, and each edit is a splice of the text.
Reads JSON with `//` and `/* */` comments and trailing commas; whatever else is odd raises BadJson.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

#: No settings file nests so deep.
DEPTH_MAX = 200


class BadJson(ValueError):
    """The text is no JSON, even with comments; the message says where and in what."""


class Node:
    """A value and where it stands: text[start:end]. `value` is what JSON makes of it.

    members  of an object: (name, where the name starts, node), in order; a name may stand twice
    items    of an array
    """

    __slots__ = ("end", "items", "members", "start", "value")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = start
        self.value: Any = None
        self.members: list[tuple[str, int, Node]] | None = None
        self.items: list[Node] | None = None

    def children(self) -> list[tuple[int, Node]]:
        """Return (where it starts, with its name; the value) of each member or item."""
        if self.members is not None:
            return [(start, node) for _, start, node in self.members]
        return [(node.start, node) for node in self.items or ()]

    def get(self, name: str) -> Node | None:
        """Return the value of the member `name`: the last one, as parsers do."""
        found = [node for member, _, node in self.members or () if member == name]
        return found[-1] if found else None


def parsed(text: str) -> Node:
    """Return the tree of `text`. Raises BadJson."""
    reader = _Reader(text)
    at = reader.skip(1 if text[:1] == "\ufeff" else 0)
    node = reader.value(at, 0)
    at = reader.skip(node.end)
    if at < len(text):
        raise reader.bad(at, "something stands after the end")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self._scan = json.JSONDecoder(strict=False).raw_decode

    def bad(self, at: int, what: str) -> BadJson:
        line = self.text.count("\n", 0, at) + 1
        return BadJson(f"line {line}: {what}")

    def skip(self, at: int) -> int:
        """Return where the next thing starts that is neither blank nor comment."""
        text = self.text
        while at < len(text):
            if text[at] in " \t\r\n":
                at += 1
            elif text.startswith("//", at):
                end = text.find("\n", at)
                at = len(text) if end < 0 else end
            elif text.startswith("/*", at):
                end = text.find("*/", at + 2)
                if end < 0:
                    raise self.bad(at, "a comment has no end")
                at = end + 2
            else:
                break
        return at

    def value(self, at: int, depth: int) -> Node:
        if depth > DEPTH_MAX:
            raise self.bad(at, "nested too deep")
        node = Node(at)
        sign = self.text[at : at + 1]
        if sign == "{":
            self._object(node, depth)
        elif sign == "[":
            self._array(node, depth)
        else:
            try:
                node.value, node.end = self._scan(self.text, at)
            except ValueError:
                raise self.bad(at, f"{self.text[at : at + 20]!r} is no value" if sign else "the text ends") from None
        return node

    def _object(self, node: Node, depth: int) -> None:
        node.members, node.value = [], {}
        at = self.skip(node.start + 1)
        while self.text[at : at + 1] != "}":
            name = self.value(at, depth + 1)
            if not isinstance(name.value, str):
                raise self.bad(at, "a name in quotes is missing")
            colon = self.skip(name.end)
            if self.text[colon : colon + 1] != ":":
                raise self.bad(colon, f"a colon is missing after {name.value!r}")
            value = self.value(self.skip(colon + 1), depth + 1)
            node.members.append((name.value, at, value))
            node.value[name.value] = value.value
            at = self._next(value.end, "}")
        node.end = at + 1

    def _array(self, node: Node, depth: int) -> None:
        node.items, node.value = [], []
        at = self.skip(node.start + 1)
        while self.text[at : at + 1] != "]":
            item = self.value(at, depth + 1)
            node.items.append(item)
            node.value.append(item.value)
            at = self._next(item.end, "]")
        node.end = at + 1

    def _next(self, at: int, close: str) -> int:
        at = self.skip(at)
        sign = self.text[at : at + 1]
        if sign == ",":
            return self.skip(at + 1)
        if sign != close:
            raise self.bad(at, f"a comma or {close} is missing" if sign else f"{close} is missing at the end")
        return at


# --- adding ------------------------------------------------------------------------------------


def put(text: str, path: Sequence[str], value: object) -> str:
    """Return `text` with `value` as the member at `path`; what is missing on the way is made.

    An empty text is taken for an empty object. Raises BadJson, also where something else stands in the way.
    """
    return _put(text, path, lambda text, node: replaced(text, node, value), value)


def append(text: str, path: Sequence[str], value: object) -> str:
    """Return `text` with `value` as the last item of the array at `path`, made where it is missing. Raises BadJson."""

    def add(text: str, node: Node) -> str:
        if node.items is None:
            raise BadJson(f"{'.'.join(path)} is no list")
        return _added(text, node, _spelled(value), "")

    return _put(text, path, add, [value])


def _put(text: str, path: Sequence[str], found: Callable[[str, Node], str], fresh: object) -> str:
    if not text.strip("\ufeff \t\r\n"):
        text = text + "{}" + ("" if text.endswith("\n") else "\n")
    node = parsed(text)
    for depth, name in enumerate(path):
        if node.members is None:
            raise BadJson(f"{'.'.join(path[:depth]) or 'the whole'} is no object")
        inner = node.get(name)
        if inner is None:
            for missing in reversed(path[depth + 1 :]):
                fresh = {missing: fresh}
            return _added(text, node, _spelled(fresh), name)
        node = inner
    return found(text, node)


def _spelled(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def replaced(text: str, node: Node, value: object) -> str:
    """Return `text` with `value` in the place of `node`."""
    lines = _spelled(value).split("\n")
    return text[: node.start] + _indented(text, lines, _indent_at(text, node.start)) + text[node.end :]


def _added(text: str, node: Node, spelled: str, name: str) -> str:
    """Add a member (with `name`) or an item at the end of the container `node`."""
    lines = spelled.split("\n")
    if name:
        lines[0] = f"{json.dumps(name, ensure_ascii=False)}: {lines[0]}"
    children = node.children()
    close = node.end - 1
    feed = _feed(text)
    if not children:
        if text[node.start + 1 : close].strip():  # a comment alone
            outer = _indent_at(text, node.start)
            inner = outer + _unit(text)
            end = node.start + 1 + len(text[node.start + 1 : close].rstrip())
            return text[:end] + feed + inner + _indented(text, lines, inner) + feed + outer + text[close:]
        outer = _indent_at(text, node.start)
        inner = outer + _unit(text)
        body = f"{feed}{inner}{_indented(text, lines, inner)}{feed}{outer}"
        return text[: node.start + 1] + body + text[close:]
    last_start, last = children[-1]
    comma = _Reader(text).skip(last.end)
    has_comma = text[comma : comma + 1] == ","
    body = text[node.start + 1 : close]
    if "\n" not in body:  # all on one line
        value = json.dumps(json.loads(spelled), ensure_ascii=False)
        value = f"{json.dumps(name, ensure_ascii=False)}: {value}" if name else value
        if has_comma:
            return text[: comma + 1] + " " + value + "," + text[comma + 1 :]
        return text[: last.end] + ", " + value + text[last.end :]
    indent = _indent_at(text, last_start)
    end = node.start + 1 + len(body.rstrip())  # after the last comment
    added = feed + indent + _indented(text, lines, indent)
    if has_comma:
        return text[:end] + added + "," + text[end:]
    return text[: last.end] + "," + text[last.end : end] + added + text[end:]


def _indented(text: str, lines: list[str], indent: str) -> str:
    unit = _unit(text)
    out = [lines[0]]
    for line in lines[1:]:
        blank = len(line) - len(line.lstrip(" "))
        out.append(indent + unit * (blank // 2) + line[blank:])
    return _feed(text).join(out)


def _feed(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, at: int) -> str:
    """Return the blanks that the line of `at` begins with."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:at].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """Return what one level is indented by in this file: that of the first line that is indented."""
    for line in text.split("\n")[1:]:
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        if blank and line.strip() and line.lstrip()[:1] in '"{[':
            return "\t" if blank[0] == "\t" else blank
    return "  "


# --- taking away -------------------------------------------------------------------------------


def cut(text: str, container: Node, index: int) -> str:
    """Return `text` without the member or item `index` of `container`, and without the comma that it needed."""
    children = container.children()
    start, node = children[index]
    reader = _Reader(text)
    after = reader.skip(node.end)
    has_comma = text[after : after + 1] == ","
    # Comments stay, on either side: they are somebody's.
    rest = text[node.end : after] + text[after + 1 :] if has_comma else text[node.end :]
    low = children[index - 1][1].end if index else container.start + 1
    begin = _blank_from(text, low, start, rest)
    if len(children) == 1:
        inner = text[container.start + 1 : begin] + rest[: len(rest) - (len(text) - container.end + 1)]
        return text[: container.start + 1] + ("" if not inner.strip() else inner) + text[container.end - 1 :]
    if has_comma:
        return text[:begin] + rest
    # The last of several, without a comma after it: the one before it goes.
    comma = reader.skip(low)
    return text[:comma] + text[comma + 1 : begin] + rest


def _blank_from(text: str, low: int, start: int, rest: str) -> int:
    """Return where the blanks before `start` begin, not below `low`; what a line comment ends with stays."""
    begin, is_line = low, False
    at = low
    while at < start:
        if text.startswith("//", at):
            begin = text.find("\n", at)
            begin = begin - 1 if text[begin - 1] == "\r" else begin
            is_line, at = True, max(begin, at + 1)
        elif text.startswith("/*", at):
            begin = at = text.find("*/", at + 2) + 2
            is_line = False
        else:
            at += 1
            if text[at - 1] == ",":
                begin, is_line = at, False
    if is_line and rest.lstrip(" \t")[:1] not in ("\r", "\n"):
        return text.find("\n", begin) + 1
    return begin
