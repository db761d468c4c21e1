"""Text on its way to a reader: lines of (style, text) pieces, and what may not pass.

Everything that is shown is a `Line`. Data is never markup: styles are given beside the text, so a
closing tag in somebody's reason is seven characters and no more. What a terminal would obey instead of
show (controls, escape sequences, overrides of the direction of writing, invisible tags) is spelled out,
and text that runs from right to left is isolated, so that it can't rearrange what stands around it.
A `Line` is written as it is where nobody looks (a pipe), and by `paint` on a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

#: A piece: the name of a style of `paint.STYLES` ("" for none), and the text.
Piece = tuple[str, str]


class Line:
    """One line of output: pieces, and how it goes on where a terminal is too narrow for it.

    hang   how many blanks begin each row after the first
    cut    it is to stay one row: what doesn't fit is left out there
    rail   what stands left of the first row and of the others (the lanes of `log --graph`)
    """

    __slots__ = ("cut", "hang", "pieces", "rail")

    def __init__(self, *pieces: Piece, hang: int = 0, cut: bool = False, rail: tuple[str, str] | None = None) -> None:
        self.pieces = pieces
        self.hang = hang
        self.cut = cut
        self.rail = rail

    def plain(self) -> str:
        """Return the line without styles, safe to show."""
        text = "".join([visible(text) for _, text in self.pieces]).rstrip()
        return f"{self.rail[0]}{text}".rstrip() if self.rail else text

    def railed(self, rail: tuple[str, str]) -> Line:
        return Line(*self.pieces, hang=self.hang, cut=self.cut, rail=rail)


EMPTY = Line()

# Controls; soft and invisible separators; marks, embeddings, overrides and isolates of direction; fillers that
# look like nothing; lone surrogates; the block of invisible tags. Joiners (U+200C, U+200D) and variation
# selectors stay: Persian and emoji are made with them.
_LOW = "\x00-\x1f"
_OTHERS = (
    "\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff"
)
_FROM_RIGHT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff"
_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"


def visible(text: str) -> str:
    """Return `text` as one line that shows what it holds and does nothing.

    A tab becomes a blank; other characters that a terminal obeys become `\\x1b`, `\\u202e`, `\\U000e0041`.
    Text that holds a letter written from right to left comes back between two isolating marks.
    """
    if text.isascii() and text.isprintable():
        return text
    # Compiled here and kept by `re`: most commands never need it.
    text = re.sub(f"[{_LOW}{_OTHERS}]", _spelled, text)
    if not text.isascii() and re.search(f"[{_FROM_RIGHT}]", text):
        return f"{_FIRST_STRONG_ISOLATE}{text}{_POP_ISOLATE}"
    return text


def _spelled(match: re.Match[str]) -> str:
    character = match.group()
    if character == "\t":
        return " "
    number = ord(character)
    if number <= 0xFF:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def safe_json(text: str) -> str:
    """Return JSON `text` with what a terminal would obey as JSON's own escapes: another spelling of one value."""
    if text.isascii() and "\x7f" not in text:
        return text  # JSON escapes the other controls itself
    return re.sub(f"[{_OTHERS}]", _escaped, text)


def _escaped(match: re.Match[str]) -> str:
    number = ord(match.group())
    if number <= 0xFFFF:
        return f"\\u{number:04x}"
    number -= 0x10000
    return f"\\u{0xD800 + (number >> 10):04x}\\u{0xDC00 + (number & 0x3FF):04x}"


def paragraphs(text: str, indent: int = 4, style: str = "") -> Iterator[Line]:
    """Yield the lines of a longer text, indented; the blanks and empty lines around it are left out."""
    blanks = " " * indent
    for row in text.strip().replace("\r\n", "\n").split("\n"):
        row = row.rstrip()
        yield Line(("", blanks), (style, row), hang=indent) if row else EMPTY


def labelled(label: str, text: str, indent: int = 4, style: str = "") -> Iterator[Line]:
    """Yield `label: text`, with further lines of the text below its first."""
    rows = [row.rstrip() for row in text.strip().replace("\r\n", "\n").split("\n")]
    hang = indent + 2
    yield Line(("", " " * indent), ("label", f"{label}:"), ("", " "), (style, rows[0]), hang=hang)
    for row in rows[1:]:
        yield Line(("", " " * hang), (style, row), hang=hang) if row else EMPTY


def first_line(text: str) -> str:
    """Return the first line of a text that has something on it."""
    return text.strip().partition("\n")[0].rstrip()


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return `1 event`, `2 events`; numbers of four digits and more get commas."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def joined(lines: Iterable[Line]) -> str:
    """Return plain text, each line ended."""
    return "".join([f"{line.plain()}\n" for line in lines])
