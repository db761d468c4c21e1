"""Characters that names may not hold, as a frozen set: the interpreter's Unicode tables change, ours don't."""

from __future__ import annotations


def _chars(*ranges: tuple[int, int]) -> frozenset[str]:
    return frozenset(chr(c) for low, high in ranges for c in range(low, high + 1))


#: Controls, line separators, and characters without width or that turn the direction of text (Unicode 15,
#: categories Cc, Zl, Zp, Cs and the format characters that matter here). Part of format 1.
INVISIBLE = _chars(
    (0x00, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xD800, 0xDFFF),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0xE0000, 0xE0FFF),
)


def first_invisible(text: str) -> str:
    """Return the first invisible character of `text`, or an empty string."""
    if text.isascii() and text.isprintable():
        return ""
    for character in text:
        if character in INVISIBLE:
            return character
    return ""
