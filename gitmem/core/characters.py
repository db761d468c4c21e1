"""Letters that need care, as frozen tables: the interpreter's Unicode data changes with each release, ours don't.

Whatever the format decides by a character is decided here: what a name may not hold, what a text may
not hold when it is written, what counts as a blank, and which composed form (NFC) a letter has. The
tables are those of Unicode 14, the oldest that a supported Python ships, and belong to format 1: two
clones with different interpreters must see one name where there is one (`docs/format.md`, F3).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Characters:
    """A frozen set of characters, given in ranges of code points and spelt out when it is first asked."""

    __slots__ = ("_all", "_ranges")

    def __init__(self, *ranges: tuple[int, int]) -> None:
        self._ranges = ranges
        self._all: frozenset[str] = frozenset()

    def __contains__(self, character: object) -> bool:
        return character in (self._all or self._spelt_out())

    def __iter__(self) -> Iterator[str]:
        return iter(self._all or self._spelt_out())

    def isdisjoint(self, text: str) -> bool:
        """Say whether none of the set is in `text`."""
        return (self._all or self._spelt_out()).isdisjoint(text)

    def _spelt_out(self) -> frozenset[str]:
        self._all = frozenset(chr(c) for low, high in self._ranges for c in range(low, high + 1))
        return self._all


#: What no name may hold: controls, line separators, surrogates, noncharacters, and characters that have no
#: width or turn the direction of text. A name that holds one looks like another name, or breaks a listing.
INVISIBLE = Characters(
    (0x00, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),  # soft hyphen
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0x2800, 0x2800),  # the empty Braille pattern
    (0x3164, 0x3164),
    (0xD800, 0xDFFF),
    (0xFDD0, 0xFDEF),
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),  # tags and more variation selectors
    *((plane + 0xFFFE, plane + 0xFFFF) for plane in range(0, 0x110000, 0x10000)),
)

#: What no text may hold when it is written: controls other than tab and line feed, line separators, overrides
#: and isolates of direction, surrogates, and tags (a language model reads those, a person doesn't see them).
#: Joiners, direction marks and variation selectors stay: words of living languages need them.
CONTROLS = Characters(
    (0x00, 0x08),
    (0x0B, 0x1F),
    (0x7F, 0x9F),
    (0x2028, 0x202E),
    (0x2066, 0x2069),
    (0xD800, 0xDFFF),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE007F),
)

#: What is trimmed from the ends of names and texts: Unicode's space separators and ASCII's white space.
BLANKS = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"

# Characters that Unicode 15 to 18 added and that composing or ordering would touch: combining marks, what
# decomposes, and what it decomposes into. A newer interpreter knows them, Unicode 14 doesn't, so `nfc` steps
# over them. A test compares this list with the running interpreter's tables, so a new Unicode shows up there.
_LATER = Characters(
    (0x5C8, 0x5C9),
    (0x897, 0x897),
    (0x1ACF, 0x1AF0),
    (0x105C9, 0x105C9),
    (0x105D2, 0x105D2),
    (0x105DA, 0x105DA),
    (0x105E4, 0x105E4),
    (0x10D69, 0x10D6D),
    (0x10ECB, 0x10ECF),
    (0x10EF0, 0x10EFB),
    (0x10EFD, 0x10EFF),
    (0x11382, 0x11385),
    (0x1138B, 0x1138B),
    (0x1138E, 0x1138E),
    (0x11390, 0x11391),
    (0x113B8, 0x113B8),
    (0x113BB, 0x113BB),
    (0x113C2, 0x113C2),
    (0x113C5, 0x113C5),
    (0x113C7, 0x113C9),
    (0x113CE, 0x113D0),
    (0x11F41, 0x11F42),
    (0x1611E, 0x16129),
    (0x1612F, 0x1612F),
    (0x16D63, 0x16D63),
    (0x16D67, 0x16D6A),
    (0x1D127, 0x1D128),
    (0x1D250, 0x1D252),
    (0x1D25B, 0x1D25C),
    (0x1D25F, 0x1D25F),
    (0x1D280, 0x1D281),
    (0x1E08F, 0x1E08F),
    (0x1E4EC, 0x1E4EF),
    (0x1E5EE, 0x1E5EF),
    (0x1E6E3, 0x1E6E3),
    (0x1E6E6, 0x1E6E6),
    (0x1E6EE, 0x1E6EF),
    (0x1E6F5, 0x1E6F5),
)


def nfc(text: str) -> str:
    """Return `text` in NFC as Unicode 14 has it, whatever the interpreter's own Unicode is.

    Characters that Unicode 14 doesn't know stay as they are, and nothing composes or moves across them.
    """
    if text.isascii():
        return text
    import unicodedata  # here: most text is ASCII, and a reader never needs it

    if _LATER.isdisjoint(text):
        return unicodedata.normalize("NFC", text)
    found: list[str] = []
    run: list[str] = []
    for character in text:
        if character in _LATER:
            found.append(unicodedata.normalize("NFC", "".join(run)))
            found.append(character)
            run = []
        else:
            run.append(character)
    found.append(unicodedata.normalize("NFC", "".join(run)))
    return "".join(found)


def first_invisible(text: str) -> str:
    """Return the first character of `text` that no name may hold, or an empty string."""
    return _first(text, INVISIBLE)


def first_control(text: str) -> str:
    """Return the first character of `text` that no text may hold when it is written, or an empty string."""
    return _first(text, CONTROLS)


def _first(text: str, unwanted: Characters) -> str:
    if (text.isascii() and text.isprintable()) or unwanted.isdisjoint(text):
        return ""
    return next(character for character in text if character in unwanted)
