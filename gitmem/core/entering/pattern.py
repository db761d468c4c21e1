"""Regular expressions that are compiled when they are first needed.

Compiling one takes longer than reading a file with it, and a hook reads one file; loading `re` takes as long as half
the start of an interpreter. None of these can go back far: a test takes each apart
(`tests/property/test_entering_property.py`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator


class Pattern:
    """A regular expression, by its text."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled: re.Pattern[str] | None = None

    def _get(self) -> re.Pattern[str]:
        if self._compiled is None:
            import re

            self._compiled = re.compile(self.text)
        return self._compiled

    def finditer(self, text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
        return self._get().finditer(text, start, len(text) if end is None else end)

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        return self._get().search(text, start, len(text) if end is None else end)

    def match(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        return self._get().match(text, start, len(text) if end is None else end)
