"""What commits say in trailers: `Rejected: alternative | reason` and `Constraint: text`.

A rejection is about what its commit changed: each of its files, or where they are many the folder that holds them all.
"""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.importers import git_messages
from gitmem.importers.git_history import TIME_MAX
from gitmem.importers.git_process import Place, Stream, ask, records
from gitmem.store import git

#: A commit with more files is about the folder that holds them.
FILES_MAX = 5
_KEYS = ("Rejected", "Constraint")
_VALUES = "%x00".join(f"%(trailers:key={key},valueonly,unfold,separator=%x1f)" for key in _KEYS)
_FORMAT = f"--format=%H%x00%ct%x00%an <%ae>%x00%B%x00{_VALUES}"
_FIELDS = 6


class Said:
    """A commit with such trailers. `rejected` holds pairs of an alternative and a reason, which may be empty.

    about   the files or the folder that it is about; empty where they have nothing in common
    time    in seconds, within the format's years
    """

    __slots__ = ("about", "author", "constraint", "message", "oid", "rejected", "time")

    def __init__(self, fields: list[bytes]) -> None:
        oid, time, author, message, rejected, constraint = (one.decode("utf-8", "replace") for one in fields)
        self.oid = oid.strip()
        self.time = min(max(int(time), 0), TIME_MAX)
        self.author = author
        self.message = message
        self.rejected = [_parted(one) for one in rejected.split("\x1f") if one.strip()]
        self.constraint = "\n".join(one.strip() for one in constraint.split("\x1f") if one.strip())
        self.about: list[str] = []

    @property
    def subject(self) -> str:
        return git_messages.split(self.message)[0]


def read(place: Place) -> Iterator[Said]:
    """Yield the commits of HEAD that have such trailers, what is older first. Raises GitFailed."""
    args = [*git.TRAILERS, "log", "-z", "--reverse", "--topo-order", "--no-show-signature", "--no-color"]
    greps = [f"--grep=^{key}:" for key in _KEYS]
    stream = Stream([*args, "--encoding=UTF-8", _FORMAT, "-i", "-E", *greps, "HEAD", "--"], place)
    try:
        found = [Said(fields) for fields in records(stream, _FIELDS)]
    finally:
        stream.close()
    for said in found:
        if said.rejected or said.constraint:
            said.about = _about(place, said.oid)
            yield said


def _parted(value: str) -> tuple[str, str]:
    alternative, _, reason = value.partition("|")
    return alternative.strip(), reason.strip()


def _about(place: Place, oid: str) -> list[str]:
    listed = ask(place, "diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only", "--no-renames", "-m", oid)
    files = sorted({name.decode("utf-8", "replace") for name in listed.out.split(b"\0") if name})
    if len(files) <= FILES_MAX:
        return files
    shared = files[0].split("/")[:-1]
    for name in files[1:]:
        folders = name.split("/")[:-1]
        same = 0
        while same < min(len(shared), len(folders)) and shared[same] == folders[same]:
            same += 1
        shared = shared[:same]
    return ["/".join(shared)] if shared else []
