"""Lines on a terminal: colour, and wrapping that knows how wide a character is.

Imported only where stdout is a terminal: Rich costs more than the answer. It gets `Text` objects, never
a string of markup, so nothing in the data is read as a tag, a link or an emoji name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from rich.console import Console
from rich.style import Style
from rich.text import Text

from gitmem.cli.text import Line, visible

#: The names that layouts use. Colours are the terminal's own sixteen, so they follow its theme.
STYLES = {
    "": Style.null(),
    "id": Style.parse("yellow"),
    "label": Style.parse("dim"),
    "heading": Style.parse("bold"),
    "entity": Style.parse("bold"),
    "dim": Style.parse("dim"),
    "commit": Style.parse("yellow"),
    "rail": Style.parse("blue"),
    "contested": Style.parse("bold magenta"),
    "rejected": Style.parse("bold red"),
    "reverted": Style.parse("red"),
    "reopened": Style.parse("yellow"),
    "active": Style.parse("green"),
    "removed": Style.parse("dim"),
    "open": Style.parse("green"),
    "ratified": Style.parse("cyan"),
    "proposed": Style.parse("dim"),
    "disputed": Style.parse("magenta"),
    "retracted": Style.parse("dim"),
    "pending": Style.parse("yellow"),
    "void": Style.parse("dim"),
    "error": Style.parse("bold red"),
    "warning": Style.parse("yellow"),
    "good": Style.parse("green"),
    "yes": Style.parse("bold"),
    "weak": Style.parse("yellow"),
    "nothing": Style.parse("dim"),
}


class Painter:
    """Writes lines to `stream`, which is a terminal or a pager that shows it."""

    def __init__(self, stream: IO[str], *, width: int, colour: bool) -> None:
        self._console = Console(
            file=stream,
            width=width,
            force_terminal=True,
            color_system="standard" if colour else None,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )
        self._width = width
        self._colour = colour

    def write(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self._write(line)

    def _write(self, line: Line) -> None:
        text = Text(no_wrap=False, end="")
        for style, piece in line.pieces:
            text.append(visible(piece), STYLES.get(style) if self._colour else None)
        text.rstrip()
        first, other = line.rail or ("", "")
        room = max(self._width - len(first), 10)
        if line.cut:
            text.truncate(room, overflow="ellipsis")
        for number, row in enumerate(self._rows(text, line.hang, room)):
            rail = first if number == 0 else other
            # Not Text(rail, style): that would be the style of the whole row.
            whole = Text(end="")
            whole.append(rail, STYLES["rail"] if self._colour else None)
            whole.append_text(row)
            whole.rstrip()
            # soft_wrap: we did the wrapping; Rich would count the rail's blanks away at the end of a row.
            self._console.print(whole, soft_wrap=True)

    def _rows(self, text: Text, hang: int, room: int) -> list[Text]:
        if text.cell_len <= room:
            return [text]
        hang = min(hang, room // 2)
        # The first row is as wide as the terminal, the others stand `hang` further in.
        head = text.wrap(self._console, room)[0]
        taken = len(head.plain)
        rest = text[taken:]
        while rest.plain[:1] == " ":
            rest = rest[1:]
        rows = [head]
        for row in rest.wrap(self._console, room - hang):
            rows.append(Text(" " * hang, end="") + row)
        return rows
