"""Working ahead: a process of its own makes values while this one uses them.

Building the cache of a long log is two jobs of equal size: reading and checking what git has, and putting it into
SQLite. On two processors they need not wait for each other. The values must be what `marshal` carries: numbers,
strings, bytes, tuples and lists of them. An error of the worker comes out here, as itself.
"""

from __future__ import annotations

import marshal
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.store.repository import Repository

_VALUE, _RESULT, _ERROR = b"v", b"r", b"e"


#: A store of more than this may hold a long log; a second process costs a few milliseconds where it doesn't.
LONG_BYTES, LONG_OBJECTS = 1 << 20, 3000


def is_worthwhile(repository: Repository) -> bool:
    """Say whether a second process helps to read this repository's log.

    Guessed from the size of the object store alone; and not where there is one processor, or a thread that a fork
    would lose.
    """
    if not hasattr(os, "fork") or (os.cpu_count() or 1) < 2 or threading.active_count() > 1:
        return False
    packed, loose = 0, 0
    try:
        packed = sum(entry.stat().st_size for entry in os.scandir(f"{repository.objects_dir}/pack"))
        loose = 256 * len(os.listdir(f"{repository.objects_dir}/17"))  # as git guesses it for `gc --auto`
    except OSError:
        pass
    return packed > LONG_BYTES or loose > LONG_OBJECTS


class Ahead:
    """The values of `make()`, made by another process, in order.

    `result` is what `finish()` returned after the last value (None before). Closing it, or leaving the iteration early,
    ends the worker. Where there can be no worker, or it is killed, `make()` is called here for what is missing: it
    must give the same values in the same order each time.
    """

    def __init__(self, make: Callable[[], Iterable[Any]], finish: Callable[[], object] = lambda: None) -> None:
        self.result: Any = None
        self._make, self._finish = make, finish
        self._read, write = os.pipe()
        try:
            self._pid = os.fork()
        except OSError:  # no process, or no memory for one
            self._pid = -1
        if self._pid == 0:
            os.close(self._read)
            _work(make, finish, write)
        os.close(write)

    def __iter__(self) -> Iterator[Any]:
        done = 0
        try:
            with os.fdopen(self._read, "rb", buffering=1 << 20) as pipe:
                while (message := _message(pipe)) is not None:
                    kind, data = message
                    if kind == _VALUE:
                        yield marshal.loads(data)
                        done += 1
                    elif kind == _RESULT:
                        self.result = pickle.loads(data)
                        return
                    else:
                        raise pickle.loads(data)
        finally:
            self._end()
        yield from islice(self._make(), done, None)
        self.result = self._finish()

    def _end(self) -> None:
        pid, self._pid = self._pid, -1
        if pid > 0:
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
            os.waitpid(pid, 0)


def _work(make: Callable[[], Iterable[Any]], finish: Callable[[], object], write: int) -> None:
    """The whole life of the worker."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent has it too, and ends us
        with os.fdopen(write, "wb", buffering=1 << 20) as pipe:
            try:
                for value in make():
                    _send(pipe, _VALUE, marshal.dumps(value))
                _send(pipe, _RESULT, pickle.dumps(finish()))
            except BaseException as error:
                _send(pipe, _ERROR, pickle.dumps(error))
        status = 0
    finally:
        os._exit(status)


def _message(pipe: Any) -> tuple[bytes, bytes] | None:
    """Return the next message of the worker, None where it ended without saying that it was done."""
    head = pipe.read(9)
    if len(head) < 9:
        return None
    size = int.from_bytes(head[1:], "big")
    data = pipe.read(size)
    return (head[:1], data) if len(data) == size else None


def _send(pipe: Any, kind: bytes, data: bytes) -> None:
    pipe.write(kind + len(data).to_bytes(8, "big"))
    pipe.write(data)
