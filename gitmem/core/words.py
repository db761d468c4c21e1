"""Words for the full-text index and for queries against it: the same splitting on both sides.

SQLite's tokenizer takes a run of Chinese, Japanese or Thai for one word, so that nothing inside it could be
found. Each such character is made a word of its own here; a query for several of them asks for them in a row.
"""

from __future__ import annotations

# Scripts that put no blanks between words: Thai to Khmer, kana, Han, Hangul is left out (it has blanks).
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


def searchable(text: str) -> str:
    """Return `text` with a blank round every character of a script that has none."""
    if text.isascii():
        return text
    return "".join(f" {c} " if is_unspaced(c) else c for c in text)


def match_all(text: str, *, exactly: bool = False) -> str:
    """Return the FTS5 query for rows that hold every word of `text`, or an empty string where it has none.

    A word that begins with one of `text` counts too, unless `exactly`.
    """
    return " ".join(_terms(text, exactly))


def match_any(text: str, *, exactly: bool = False) -> str:
    """Return the FTS5 query for rows that hold some word of `text`, or an empty string where it has none."""
    return " OR ".join(_terms(text, exactly))


def terms(text: str) -> list[str]:
    """Return the words of `text` as a query sees them, lower-cased, each once, in order."""
    return list(dict.fromkeys(_split(text)))


def _terms(text: str, exactly: bool) -> list[str]:
    # Quoted: nothing of a user's text is query syntax. The star lets `token` find `tokens`.
    return [
        f'"{searchable(word).strip()}"{"" if exactly or len(word) < 3 or is_unspaced(word[0]) else " *"}'
        for word in terms(text)
    ]


def _split(text: str) -> list[str]:
    out: list[str] = []
    word = ""
    for c in text.lower():
        if c.isalnum() or c == "_":
            word += c
        elif word:
            out.append(word)
            word = ""
    if word:
        out.append(word)
    return out


def is_unspaced(character: str) -> bool:
    """Say whether a character belongs to a script that puts no blanks between words."""
    code = ord(character)
    return code >= 0x0E00 and any(low <= code <= high for low, high in _UNSPACED)
