"""A running git whose output is read as it comes, with its errors kept and its end certain."""

from __future__ import annotations

import os
import select
from collections import namedtuple
from collections.abc import Iterator, Sequence

from gitmem.store import git

CHUNK = 1 << 18
_ERRORS_MAX = 1 << 16

#: What is read here must be the same in every clone: no grafts, no replace refs, nothing fetched on the way.
ENVIRONMENT = {**git.RAW, "GIT_ALLOW_PROTOCOL": "none"}


Place = namedtuple("Place", ("git_dir", "cwd"))
Place.__doc__ = "Where a repository is: its git directory, or else a folder that has one (the other is None)."


def ask(place: Place, *args: str) -> git.Result:
    """Run a short git to its end."""
    return git.attempt(args, git_dir=place.git_dir, cwd=place.cwd, env=ENVIRONMENT)


class Ended(Exception):
    """The process ended before it had said everything; the message is git's own first line."""


class Stream:
    """One git; its stdout comes in chunks. Ends with `close`, whatever it is doing."""

    def __init__(self, args: Sequence[str], place: Place, *, feed: bool = False) -> None:
        self.args = args
        self._process = git.Process(args, git_dir=place.git_dir, cwd=place.cwd, env=ENVIRONMENT, feed=feed)
        git.widen(self._process.stdout)
        self._errors = b""
        self._poll = select.poll()
        for fd in (self._process.stdout, self._process.stderr):
            self._poll.register(fd, select.POLLIN)

    def ask(self, line: bytes) -> None:
        """Write one short line to the process. Raises Ended where it is gone."""
        try:
            os.write(self._process.stdin, line)
        except BrokenPipeError:
            raise Ended(self.said()) from None

    def read(self) -> bytes:
        """Return the next bytes of stdout, empty at its end. Errors are read on the side, so that none can block."""
        process = self._process
        while True:
            for fd, _ in self._poll.poll():
                chunk = os.read(fd, CHUNK)
                if fd == process.stdout:
                    if not chunk:
                        self._poll.unregister(fd)
                    return chunk
                if chunk:
                    self._errors = (self._errors + chunk)[-_ERRORS_MAX:]
                else:
                    self._poll.unregister(fd)

    def said(self) -> str:
        """Git's first line of errors, or how it ended."""
        rest = b""
        if self._process.stderr >= 0:
            os.set_blocking(self._process.stderr, False)
            try:
                rest = os.read(self._process.stderr, _ERRORS_MAX)
            except BlockingIOError:
                pass
        return git.first_line(self._errors + rest) or f"`git {git.verb(self.args)}` ended early"

    def finish(self) -> None:
        """Wait for the end of a process whose output was read to its end. Raises GitFailed where it failed."""
        errors = self._errors
        if self._process.stderr >= 0:
            while chunk := os.read(self._process.stderr, CHUNK):
                errors = (errors + chunk)[-_ERRORS_MAX:]
        rc = self._process.wait()
        if rc:
            raise git.failed(self.args, rc, errors, also="; nothing was written")

    def close(self) -> None:
        self._process.kill()


def records(stream: Stream, size: int) -> Iterator[list[bytes]]:
    """Yield what `stream` says as records of `size` fields, each of which ends with a NUL."""
    left: list[bytes] = []  # pieces of the field that goes on in the next chunk
    fields: list[bytes] = []
    while chunk := stream.read():
        first, *more = chunk.split(b"\0")
        left.append(first)
        if not more:
            continue
        fields.append(b"".join(left))
        left = [more.pop()]
        fields += more
        whole = len(fields) - len(fields) % size
        for at in range(0, whole, size):
            yield fields[at : at + size]
        del fields[:whole]
    stream.finish()
