"""Digests: SHA-1 and SHA-256 of a few bytes at the price of the work alone.

`hashlib` loads OpenSSL, which takes 2.5 ms: as long as hashing a megabyte, and a command that records one event hashes
six kilobytes. Python has both functions built in besides, a quarter as fast and loaded in a tenth of a millisecond.
So the first few digests of a process are made with those, and from then on OpenSSL is worth its price.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Digest(Protocol):
        def digest(self) -> bytes: ...
        def hexdigest(self) -> str: ...


#: So many digests are made with what is built in.
FEW = 64

_left = FEW
_constructors: dict[str, Callable[[bytes], Digest]] = {}


def sha256(data: bytes) -> Digest:
    """Return the SHA-256 of `data`; ask it for its `hexdigest()` or `digest()`."""
    if _left > 0:
        return _early("sha256")(data)
    return _constructors["sha256"](data)


def sha1(data: bytes) -> Digest:
    """Return the SHA-1 of `data`, a name of git's and no proof of anything."""
    if _left > 0:
        return _early("sha1")(data)
    return _constructors["sha1"](data)


def many() -> None:
    """Say that many digests are to come."""
    global _left
    if _left:
        import hashlib

        _constructors["sha256"] = hashlib.sha256
        _constructors["sha1"] = _plain_sha1(hashlib.sha1)
        _left = 0


def _early(name: str) -> Callable[[bytes], Digest]:
    """Return the constructor for one of the first digests."""
    global _left
    if _left == 1:
        many()
        return _constructors[name]
    _left -= 1
    if not _constructors:
        try:
            try:
                from _sha2 import sha256  # type: ignore[import-not-found]  # Python 3.12 and later
            except ImportError:
                from _sha256 import sha256  # type: ignore[import-not-found]
            from _sha1 import sha1  # type: ignore[import-not-found]
        except ImportError:  # a Python that was built without them
            many()
        else:
            _constructors["sha256"] = sha256
            _constructors["sha1"] = _plain_sha1(sha1)
    return _constructors[name]


def _plain_sha1(constructor: Callable[..., Digest]) -> Callable[[bytes], Digest]:
    def plain(data: bytes) -> Digest:
        return constructor(data, usedforsecurity=False)

    return plain
