"""The advisory lock of writers: it saves them lost races, and nothing depends on it.

What keeps the log right is the compare-and-swap of the ref. Eight writers without a lock lose most of
their tries, though; with it they wait in line. So a lock that can't be had in time, or a file system
that knows no locks, is no error: the writer goes on without it. The kernel frees the lock of a process
that dies.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from types import TracebackType

from gitmem.store.repository import Repository, unwritable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

TIMEOUT_S = 10.0
#: The first pause between two tries, and the longest one.
PAUSE_S = (0.001, 0.05)


class Lock:
    """`with Lock(repository):` waits for its turn to write. `held` says whether the turn came in time.

    Raises GitFailed on entering where the repository's local directory can't be written.
    """

    __slots__ = ("_fd", "held", "repository", "timeout_s")

    def __init__(self, repository: Repository, timeout_s: float = TIMEOUT_S) -> None:
        self.repository = repository
        self.timeout_s = timeout_s
        self.held = False
        self._fd = -1

    @property
    def path(self) -> str:
        return self.repository.local_dir + "/lock"

    def __enter__(self) -> Self:
        self.repository.make_local_dir()
        try:
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise unwritable(self.path, error) from None
        try:
            self.held = self._wait()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _wait(self) -> bool:
        end = time.monotonic() + self.timeout_s
        pause, longest = PAUSE_S
        while True:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                    return False  # no locks here (ENOLCK, ENOTSUP)
            left = end - time.monotonic()
            if left <= 0:
                return False
            # Jitter: writers that started together must not try together (`random` would cost an import).
            time.sleep(min(left, pause * (0.5 + os.urandom(1)[0] / 256)))
            pause = min(2 * pause, longest)

    def _close(self) -> None:
        fd, self._fd, self.held = self._fd, -1, False
        if fd >= 0:
            os.close(fd)


def is_running(pid: int) -> bool:
    """Say whether there is a process of that number."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass
    return True


def leftovers(repository: Repository, kind: str) -> list[str]:
    """Return the local files `<kind>.<pid>...` of processes that were killed before they removed them."""
    try:
        names = os.listdir(repository.local_dir)
    except OSError:
        return []
    found = []
    front = kind + "."
    for name in names:
        pid = name[len(front) :].split(".")[0].partition("-")[0] if name.startswith(front) else ""
        if pid.isdigit() and not is_running(int(pid)):
            found.append(f"{repository.local_dir}/{name}")
    return found
