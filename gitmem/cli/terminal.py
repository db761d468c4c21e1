"""The outside of a command: what it reads and writes, and on what.

`Io` is handed to every command; a test makes one over streams of its own. Whether stdout is a terminal
is decided once, here: if it isn't, output is plain UTF-8 and nothing of Rich, of the pager or of git's
settings is loaded or asked.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable, Mapping

from gitmem.cli.text import Line, joined, safe_json, visible
from gitmem.errors import Refused, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen
    from typing import IO, TextIO

#: The longest text that is read from a file or stdin before it is judged. The limits of the fields are far
#: below; this one only keeps an endless stream from filling the memory.
READ_MAX_BYTES = 16 * 1024 * 1024
#: What git gives its pager (less: quit on one screen, colours, leave the screen alone).
PAGER_ENVIRONMENT = {"LESS": "FRX", "LV": "-c"}


class Io:
    """Standard streams, and what is known about them.

    terminal   stdout is shown to somebody: it is a terminal, or git has put its pager there
    """

    def __init__(self, out: TextIO, err: TextIO, environ: Mapping[str, str], *, terminal: bool = False) -> None:
        self.out = out
        self.err = err
        self.environ = environ
        self.terminal = terminal
        self._pager: Popen[str] | None = None
        self._last: list[Line] = []

    @classmethod
    def standard(cls) -> Io:
        """Return the streams of this process, made safe for any text."""
        out, err = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115
        terminal = out.isatty()
        # JSON and pipes are UTF-8 whatever the locale says; a terminal gets what it can show.
        _reconfigure(out, encoding=None if terminal else "utf-8")
        _reconfigure(err, encoding=None)
        # `git -p decisions …` has put a pager on stdout and says so, as it does for its own commands.
        terminal = terminal or os.environ.get("GIT_PAGER_IN_USE", "") in ("true", "1")
        return cls(out, err, os.environ, terminal=terminal)

    # --- writing ---

    def show(self, lines: Iterable[Line], *, paged: bool = False) -> None:
        """Write lines to stdout; on a terminal with colour and, where asked for, through the pager."""
        if not self.terminal:
            for line in lines:
                self.out.write(f"{line.plain()}\n")
            return
        from gitmem.cli.paint import Painter

        stream = self._paged() if paged else self.out
        Painter(stream, width=self.width, colour=self.colour).write(lines)

    def answer(self, answer: Mapping[str, object]) -> None:
        """Write one JSON object: on one line, or indented for a terminal."""
        text = json.dumps(answer, ensure_ascii=False, indent=2 if self.terminal else None)
        self.out.write(f"{safe_json(text)}\n")

    def stream(self, answers: Iterable[Mapping[str, object]]) -> None:
        """Write JSON objects, each on its own line."""
        for answer in answers:
            self.out.write(f"{safe_json(json.dumps(answer, ensure_ascii=False))}\n")

    def tell(self, *lines: Line) -> None:
        """Write lines to stderr, plain."""
        self.err.write(joined(lines))

    def tell_last(self, line: Line) -> None:
        """Write a line to stderr once everything else is out and a pager is left."""
        self._last.append(line)

    def warn(self, text: str) -> None:
        self.err.write(f"warning: {visible(text)}\n")

    def progress(self, text: str) -> None:
        """Show how far a long work is, on one line of a terminal; nothing elsewhere."""
        if self.err.isatty():
            self.err.write(f"\r{visible(text)}\x1b[K")
            self.err.flush()

    def progress_ends(self) -> None:
        if self.err.isatty():
            self.err.write("\r\x1b[K")
            self.err.flush()

    @property
    def is_paged(self) -> bool:
        return self._pager is not None

    def close(self) -> None:
        """Bring everything out, and wait until the pager is left. Raises OSError, BrokenPipeError among it."""
        if self._pager is not None:
            pager, self._pager = self._pager, None
            try:
                if pager.stdin is not None:
                    pager.stdin.close()
            finally:
                _wait(pager)
        self.out.flush()
        last, self._last = self._last, []
        if last:
            self.tell(*last)
        self.err.flush()

    def _paged(self) -> IO[str]:
        from gitmem.cli import git

        # Not below git's own pager, and not where stdout is a terminal only by its word.
        command = git.pager() if self.out.isatty() else ""
        if not command:
            return self.out
        import subprocess

        self.out.flush()
        environment = {**PAGER_ENVIRONMENT, **self.environ}
        try:
            self._pager = subprocess.Popen(
                command, shell=True, stdin=subprocess.PIPE, env=environment, text=True, encoding="utf-8",
                errors="backslashreplace",
            )  # fmt: skip
        except OSError:
            return self.out
        assert self._pager.stdin is not None
        return self._pager.stdin

    def wait(self, seconds: float) -> None:
        """Sleep. Raises BrokenPipeError where nobody reads stdout any more: who waits would never notice."""
        import select

        try:
            poll = select.poll()
            poll.register(self.out.fileno(), 0)
        except (OSError, ValueError):  # a stream without a file
            import time

            time.sleep(seconds)
            return
        if any(state & (select.POLLERR | select.POLLHUP) for _, state in poll.poll(seconds * 1000)):
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    # --- what the terminal is like ---

    @property
    def colour(self) -> bool:
        if self.environ.get("NO_COLOR") or self.environ.get("TERM", "dumb") == "dumb":
            return False
        from gitmem.cli import git

        return git.wants_colour()

    @property
    def width(self) -> int:
        columns = self.environ.get("COLUMNS", "")
        if columns.isascii() and columns.isdigit() and int(columns) > 0:
            return int(columns)
        for stream in (self.out, self.err):
            try:
                return os.get_terminal_size(stream.fileno()).columns or 80
            except (OSError, ValueError):
                continue
        return 80

    @property
    def unicode(self) -> bool:
        """Whether signs beyond ASCII may be drawn: only on a terminal that says it can."""
        return self.terminal and (self.out.encoding or "").lower().replace("-", "") == "utf8"

    # --- reading ---

    def read(self, path: str, field: str) -> str:
        """Return the text of the file `path`, or of stdin for `-`, for the field of that name.

        Raises Usage where it can't be read, Refused where it is no UTF-8 or longer than 16 MiB.
        """
        try:
            if path == "-":
                data = sys.stdin.buffer.read(READ_MAX_BYTES + 1) if sys.stdin else b""
            else:
                with open(path, "rb") as file:
                    data = file.read(READ_MAX_BYTES + 1)
        except OSError as error:
            raise Usage(what=f"can't read {path}: {error.strerror or error}; nothing was written", hint="") from None
        if len(data) > READ_MAX_BYTES:
            raise Refused(field=field, what=f"{path} is longer than {READ_MAX_BYTES >> 20} MiB")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Refused(field=field, what=f"{path} is not UTF-8 at byte {error.start}") from None


def _reconfigure(stream: TextIO, *, encoding: str | None) -> None:
    reconfigure = getattr(stream, "reconfigure", None)  # a test's StringIO has none
    if reconfigure is not None:
        reconfigure(encoding=encoding, errors="backslashreplace")


def _wait(pager: Popen[str]) -> None:
    # Ctrl-C is the pager's: less stops a search with it. Git waits as well.
    while True:
        try:
            pager.wait()
            return
        except KeyboardInterrupt:
            continue
