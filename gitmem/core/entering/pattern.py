"""Regular expressions that are compiled when they are first needed.

Compiling one takes longer than reading a file with it, and a hook reads one file. None of these can go back far: a
test takes each apart (`tests/property/test_entering_property.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator


class Pattern:
    """A regular expression, by its text."""

    __slots__ = ("_compiled", "_flags", "text")

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    def _get(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self.text, self._flags)
        return self._compiled

    def finditer(self, text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
        return self._get().finditer(text, start, len(text) if end is None else end)

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        return self._get().search(text, start, len(text) if end is None else end)

    def match(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        return self._get().match(text, start, len(text) if end is None else end)
