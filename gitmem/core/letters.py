"""Letters without case, the same in every interpreter: what entity names and approaches are matched by.

`str.lower`, `str.casefold` and `unicodedata` follow the Unicode version of the interpreter, so two Pythons
may fold one name in two ways and see two states. The tables used here are frozen with format 1
(`letter_tables`), and loaded only for text that is not ASCII. Folded text is decomposed (NFKD), never
composed again: it is compared, not shown.
"""

from __future__ import annotations

# Hangul syllables decompose by arithmetic (The Unicode Standard, §3.12).
_S, _L, _V, _T = 0xAC00, 0x1100, 0x1161, 0x11A7
_V_COUNT, _T_COUNT, _S_COUNT = 21, 28, 11172

# (decompositions, foldings, classes), made on first use
_tables: tuple[dict[int, str], dict[int, str], dict[str, int]] | None = None


def fold(text: str) -> str:
    """Return `text` without case: compatibility forms taken apart, case folded, marks in their one order.

    `fold(fold(text)) == fold(text)`, and canonically equal texts fold to one. ASCII stays ASCII.
    """
    if text.isascii():
        return text.lower()
    decomposed, folded, classes = _load()
    text = _ordered(text.translate(decomposed), classes)
    return _ordered(text.translate(folded), classes)


class _Decompositions(dict[int, str]):
    """The table, and Hangul; what is in neither stays."""

    def __missing__(self, point: int) -> str:
        if _S <= point < _S + _S_COUNT:
            rank, tail = divmod(point - _S, _T_COUNT)
            lead, vowel = divmod(rank, _V_COUNT)
            return chr(_L + lead) + chr(_V + vowel) + (chr(_T + tail) if tail else "")
        raise LookupError  # str.translate takes it as "stays"


def _load() -> tuple[dict[int, str], dict[int, str], dict[str, int]]:
    global _tables
    if _tables is None:
        from gitmem.core import letter_tables

        classes: dict[str, int] = {}
        for token in letter_tables.CLASSES.split():
            run, _, number = token.partition(":")
            start, _, count = run.partition("*")
            for point in range(int(start, 16), int(start, 16) + int(count or 1)):
                classes[chr(point)] = int(number)
        _tables = (_Decompositions(_runs(letter_tables.DECOMPOSED)), _runs(letter_tables.FOLDED), classes)
    return _tables


def _runs(tokens: str) -> dict[int, str]:
    table: dict[int, str] = {}
    for token in tokens.split():
        run, _, target = token.partition(":")
        start, _, count = run.partition("*")
        first = int(start, 16)
        if count:
            to = int(target, 16)
            for step in range(int(count)):
                table[first + step] = chr(to + step)
        else:
            table[first] = "".join(chr(int(point, 16)) for point in target.split("."))
    return table


def _ordered(text: str, classes: dict[str, int]) -> str:
    """Put each run of combining marks into canonical order: by class, within a class as they stood."""
    if classes.keys().isdisjoint(text):
        return text
    out: list[str] = []
    marks: list[str] = []
    for character in text:
        if character in classes:
            marks.append(character)
        else:
            if marks:
                out += sorted(marks, key=classes.__getitem__)
                marks.clear()
            out.append(character)
    out += sorted(marks, key=classes.__getitem__)
    return "".join(out)
