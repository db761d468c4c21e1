"""TOML as far as a manifest needs it: which key stands in which table, and where its value is.

Not `tomllib`: that takes a whole and correct file, tells no places, and costs a hook milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.core.entering.source import Source, Span

#: The path of a key (its table's, then its own parts), where it stands, and the span of its value.
Entry = tuple[list[str], int, Span]


def entries(source: Source) -> Iterator[Entry]:
    """Yield each key with its value, and each header of a table with an empty span."""
    code, text = source.code, source.text
    table: list[str] = []
    at, end = 0, len(code)
    while at < end:
        stop = code.find("\n", at)
        stop = end if stop < 0 else stop
        first = source.past_blanks(at)
        if first >= stop:
            at = max(stop, at) + 1
            continue
        if code[first] == "[":
            inner = first + (2 if code.startswith("[[", first) else 1)
            close = code.find("]", inner, stop)
            table = _parts(text[inner : stop if close < 0 else close])
            yield table, inner, (inner, inner)
            at = stop + 1
            continue
        equals = code.find("=", first, stop)
        if equals < 0:
            at = stop + 1
            continue
        value = equals + 1
        while value < stop and code[value] in " \t\r":
            value += 1
        last = stop
        if code[value : value + 1] in ("[", "{"):
            last = max(source.close(value) + 1, value + 1)
        elif value in source.strings:
            last = source.strings[value][2]
        yield table + _parts(text[first:equals]), first, (value, min(last, end))
        stop = code.find("\n", max(last - 1, value))
        at = end if stop < 0 else stop + 1


def _parts(text: str) -> list[str]:
    """Split a dotted key; a quoted part may hold a dot."""
    found: list[str] = []
    part, quote = "", ""
    for letter in text[:1000]:
        if quote:
            if letter == quote:
                quote = ""
            else:
                part += letter
        elif letter in "\"'":
            quote = letter
        elif letter == ".":
            found.append(part.strip())
            part = ""
        else:
            part += letter
    found.append(part.strip())
    return found
