"""Blocks: lines of ours in a file of somebody else's, between two marks.

Markdown, TOML, shell and TypeScript differ in how a comment is written and in nothing else. The first mark carries a
hash of what stands between, so that an older block of ours is told from one that somebody edited. Everything around a
block stays as it is: line ends, a byte order mark, a missing line feed at the end.
"""

from __future__ import annotations

import hashlib

#: How a mark is written, by the kind of file: before and after its words.
STYLES = {"markdown": ("<!-- ", " -->"), "hash": ("# ", ""), "slashes": ("// ", "")}
_BEGIN, _END = "gitmem:begin", "gitmem:end"


class BadBlock(ValueError):
    """The marks don't make one block; the message says how."""


class Found:
    """A block in a text: text[start:end] with its marks and the blank line before it, and whether it was edited."""

    __slots__ = ("end", "is_edited", "start")

    def __init__(self, start: int, end: int, *, is_edited: bool) -> None:
        self.start = start
        self.end = end
        self.is_edited = is_edited


def block(body: str, style: str, feed: str = "\n") -> str:
    """Return the lines `body` between their marks, without a line feed at the end."""
    before, after = STYLES[style]
    body = body.strip("\n")
    lines = [f"{before}{_BEGIN} {_hash(body)}{after}", *body.split("\n"), f"{before}{_END}{after}"]
    return feed.join(lines)


def find(text: str, style: str) -> Found | None:
    """Return our block in `text`, or None. Raises BadBlock where the marks are broken."""
    before, after = STYLES[style]
    lines = text.split("\n")
    begins = [number for number, line in enumerate(lines) if _is_mark(line, before + _BEGIN)]
    ends = [number for number, line in enumerate(lines) if _is_mark(line, before + _END)]
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        counts = f"{len(begins)} of `{before}{_BEGIN}` and {len(ends)} of `{before}{_END}`"
        raise BadBlock(f"the marks of gitmem's lines are broken: {counts}, where one of each belongs")
    first, last = begins[0], ends[0]
    start = sum(len(line) + 1 for line in lines[:first])
    end = start + sum(len(line) + 1 for line in lines[first : last + 1])
    end = min(end, len(text))
    words = lines[first].replace("\ufeff", "").strip().removeprefix(before).removesuffix(after).split()
    body = "\n".join(line.removesuffix("\r") for line in lines[first + 1 : last])
    return Found(start, end, is_edited=len(words) < 2 or words[1] != _hash(body))


def put(text: str, body: str, style: str) -> str:
    """Return `text` with the block: in the place of an older one, else at the end. Raises BadBlock."""
    feed = "\r\n" if "\r\n" in text else "\n"
    found = find(text, style)
    if found is not None:
        ends = "\n" if text[: found.end].endswith("\n") else ""
        ours = block(body, style, feed) + (feed if ends else "")
        mark = "\ufeff" if text[found.start : found.start + 1] == "\ufeff" else ""
        return text[: found.start] + mark + ours + text[found.end :]
    if not text.strip("\ufeff"):
        return text + block(body, style, feed) + feed
    if text.endswith("\n"):
        return text + feed + block(body, style, feed) + feed
    # A file without a line feed at its end stays one: that is how taking the block away knows what was there.
    return text + feed + feed + block(body, style, feed)


def cut(text: str, style: str) -> str:
    """Return `text` as it was before `put`. Raises BadBlock."""
    found = find(text, style)
    if found is None:
        return text
    before, after = text[: found.start], text[found.end :]
    mark = "\ufeff" if text[found.start : found.start + 1] == "\ufeff" else ""
    times = 1 if after or text.endswith("\n") else 2
    for _ in range(times):  # the blank line that set the block off
        shorter = before.removesuffix("\n").removesuffix("\r")
        if times == 1 and not shorter.endswith("\n"):
            break
        before = shorter
    return before + mark + after


def _is_mark(line: str, mark: str) -> bool:
    line = line.replace("\ufeff", "").rstrip()
    return line == mark or line.startswith((mark + " ",))


def _hash(body: str) -> str:
    return hashlib.sha256(body.strip("\n").encode("utf-8", "surrogatepass")).hexdigest()[:8]
