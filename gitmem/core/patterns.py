"""Patterns: texts that a rejection carries, by which to know the thing again. Pure, and without expressions.

A pattern is a *literal*, which must stand in the added text letter by letter, or a *set of words*, which must all
stand within `WINDOW` added lines of each other, in any order and case. Both are found through an index: each
pattern has one *anchor*, a part of it that is in every text that it is in. An edit asks for the anchors that it
has itself, so it costs the same whether the log has ten patterns or ten thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem.core import words

#: Letters of a literal that make its anchor.
GRAM = 4
#: A set of words must stand within so many added lines.
WINDOW = 5
#: The anchor of what has nothing to be found by: literals of fewer letters, words in scripts without blanks.
ANYWHERE = "*"
#: So much of an edit's added text is looked through; who adds more brings in more than one thing.
TEXT_MAX = 400_000

#: Letters that say something: rare ones. Digits, blanks and signs are everywhere in code.
_RARE = frozenset("bcdfghjklmpquvwxyzBCDFGHJKLMPQUVWXYZ")

Lines = Sequence[tuple[int, str]]


def anchors(patterns: object) -> list[tuple[str, str]]:
    """Return (anchor, entry) of each pattern in the field `patterns` of an event, sorted.

    An entry is what `may_stand` takes. A pattern in a form that is not known has none.
    """
    found = set()
    for pattern in patterns if isinstance(patterns, list) else ():
        anchor = _anchor(pattern)
        if anchor:
            entry = f"={pattern}" if isinstance(pattern, str) else "+" + " ".join(_words(pattern))
            found.add((anchor, entry))
    return sorted(found)


def may_stand(entry: str, text: str, lower: str) -> bool:
    """Say whether a pattern may stand in a text (and the same in lower case); where it may not, it doesn't."""
    if entry[:1] == "=":
        return entry[1:] in text
    return all(word in lower for word in entry[1:].split(" "))


def _anchor(pattern: object) -> str:
    if isinstance(pattern, str):
        line = max(pattern.split("\n"), key=len)
        grams = [line[at : at + GRAM] for at in range(len(line) - GRAM + 1)]
        if not line.strip():
            return ""
        return "=" + max(grams, key=_rarity) if grams else ANYWHERE
    wanted = _words(pattern)
    if not wanted:
        return ""
    longest = max(wanted, key=lambda word: (len(word), word))
    return "+" + longest if longest.isascii() else ANYWHERE


def _rarity(gram: str) -> tuple[int, str]:
    letters = set(gram)
    return len(letters & _RARE) + sum(c > "\x7f" for c in letters), gram


def probes(lines: Lines) -> set[str]:
    """Return every anchor that a pattern which stands in the added `lines` can have."""
    found = {ANYWHERE}
    left = TEXT_MAX
    for _, line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        found.update(["=" + line[at : at + GRAM] for at in range(len(line) - GRAM + 1)])
        found.update(["+" + word for word in words.terms(line)])
    return found


def found(patterns: object, lines: Lines) -> tuple[str, int] | None:
    """Return the first of `patterns` that stands in the added `lines`, as it was written, and the line; else None."""
    for pattern in patterns if isinstance(patterns, list) else ():
        at = _literal(pattern, lines) if isinstance(pattern, str) else _together(_words(pattern), lines)
        if at:
            return (pattern if isinstance(pattern, str) else " ".join(map(str, pattern))), at
    return None


def _literal(pattern: str, lines: Lines) -> int:
    if not pattern.strip():
        return 0
    if "\n" not in pattern:
        return next((number for number, line in lines if pattern in line), 0)
    # Lines that were added one after the other; what stands between two of them in the file breaks the run.
    run: list[str] = []
    first, last = 0, -9
    for number, line in [*lines, (-1, "")]:
        if number != last + 1:
            at = "\n".join(run).find(pattern)
            if at >= 0:
                return first + "\n".join(run).count("\n", 0, at)
            run, first = [], number
        run.append(line)
        last = number
    return 0


def _together(wanted: Iterable[str], lines: Lines) -> int:
    """Return the line from which on all `wanted` words stand within `WINDOW` added lines, or 0."""
    missing = set(wanted)
    if not missing:
        return 0
    places: list[tuple[int, str]] = []  # (number, word), in order
    for number, line in lines:
        low = line.lower()
        have = set(words.terms(line))
        for word in missing:
            if word in have or (not word.isascii() and word in low):
                places.append((number, word))
        while places and places[0][0] <= number - WINDOW:
            places.pop(0)
        if len({word for _, word in places}) == len(missing):
            return places[0][0]
    return 0


def _words(pattern: object) -> list[str]:
    """Return the words of a set; of anything else (an object is newer) none."""
    if not isinstance(pattern, list):
        return []
    return words.terms(" ".join(word for word in pattern if isinstance(word, str)))
