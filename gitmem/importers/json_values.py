"""The JSON values of a file, one after the other, in bounded memory: a document, or one value a line.

A document is an array, an object whose `records` is one, or a single value, however it is broken into lines. What
can't be read is told (`unread`), with its place, and reading goes on with the next line: what was whole before and
after it is read.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

#: A value much longer than this is not read, in characters.
VALUE_MAX = 4 << 20
_CHUNK = 1 << 16
#: What ends so near to the end of what was read may only be cut off there: `tru`, `"\\u00`, `1.`
_CUT = 16
_BLANKS = " \t\r\n"

#: unread(what, where)
Unread = Callable[[str, str], None]


class _Bad(Exception):
    """No JSON value stands here; the message says what does."""


class Values:
    """Iterates over (where, value) of the values in `file`."""

    def __init__(self, file: BinaryIO, unread: Unread) -> None:
        self._file = file
        self._unread = unread
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._decode = json.JSONDecoder().raw_decode
        self._text = ""
        self._at = 0
        self._line = 1
        self._ended = False
        self._held = False  # nothing of the text is let go of

    def __iter__(self) -> Iterator[tuple[str, object]]:
        opener = self._next()
        if opener == "[" or (opener == "{" and self._is_long_bundle()):
            try:
                yield from self._elements()
                if opener == "{":
                    self._end_bundle()
            except _Bad as error:
                self._leave_line(str(error))
        while self._next():
            line = self._line
            try:
                value = self._value()
                self._end_of_line()
            except _Bad as error:
                self._leave_line(str(error))
                continue
            records = value.get("records") if isinstance(value, dict) else None
            if isinstance(records, list):
                yield from ((f"record {number}", one) for number, one in enumerate(records, 1))
            else:
                yield f"line {line}", value

    # --- what stands next ---------------------------------------------------------------------

    def _elements(self) -> Iterator[tuple[str, object]]:
        """Yield the elements of the array that begins here. Raises _Bad where it is none, up to there."""
        self._take("[")
        number = 0
        while self._next() != "]":
            if number:
                self._take(",")
            value = self._value()
            number += 1
            yield f"record {number}", value
        self._take("]")

    def _end_bundle(self) -> None:
        while self._next() == ",":
            self._take(",")
            self._value()
            self._take(":")
            self._value()
        self._take("}")

    def _is_long_bundle(self) -> bool:
        """Go to the array of `records` in an object that is too long to be read at once; else stay, and say no."""
        while not self._ended and len(self._text) <= VALUE_MAX:
            self._fill()
        if self._ended:
            return False
        begin = self._at, self._line
        self._held = True
        try:
            self._take("{")
            while self._at - begin[0] < VALUE_MAX:
                key = self._value()
                self._take(":")
                if key == "records" and self._next() == "[":
                    return True
                self._value()
                self._take(",")
        except _Bad:
            pass
        finally:
            self._held = False
        self._at, self._line = begin
        return False

    def _value(self) -> object:
        """Return the value that begins here, and go behind it."""
        self._next()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                where = getattr(error, "pos", 0)
                cut = where >= len(self._text) - _CUT or str(error).startswith("Unterminated string")
                if self._ended or isinstance(error, RecursionError) or not cut:
                    raise _Bad("lines that are no JSON") from None
            else:
                may_go_on = isinstance(value, (int, float)) and end + _CUT > len(self._text)
                if self._ended or not may_go_on:
                    self._go(end)
                    return value
            if len(self._text) - self._at > VALUE_MAX:
                raise _Bad(f"values of more than {VALUE_MAX >> 20} MB")
            self._fill()

    def _take(self, mark: str) -> None:
        if self._next() != mark:
            raise _Bad("lines that are no JSON")
        self._go(self._at + 1)

    def _next(self) -> str:
        """Go over blanks and return the character that stands there; "" at the end."""
        while True:
            text, at = self._text, self._at
            while at < len(text) and text[at] in _BLANKS:
                at += 1
            self._go(at)
            if at < len(text):
                return text[at]
            if self._ended:
                return ""
            self._let_go()
            self._fill()

    def _end_of_line(self) -> None:
        """Raise _Bad where something else stands on the line that a value ended on; a comma may."""
        line = self._line
        if self._next() == "," and self._line == line:
            self._take(",")
        if self._next() and self._line == line:
            raise _Bad("lines that are no JSON")

    def _leave_line(self, what: str) -> None:
        """Tell that the line here can't be read, and go behind it."""
        self._unread(what, f"line {self._line}")
        while (end := self._text.find("\n", self._at)) < 0 and not self._ended:
            self._at = len(self._text)
            self._let_go()
            self._fill()
        self._go(end + 1 if end >= 0 else len(self._text))

    # --- the text -----------------------------------------------------------------------------

    def _go(self, at: int) -> None:
        self._line += self._text.count("\n", self._at, at)
        self._at = at
        if at > 4 * _CHUNK and at * 2 > len(self._text):
            self._let_go()

    def _let_go(self) -> None:
        if not self._held:
            self._text, self._at = self._text[self._at :], 0

    def _fill(self) -> None:
        data = self._file.read(max(_CHUNK, len(self._text) - self._at))
        self._ended = not data
        self._text += self._decoder.decode(data, final=not data)
