"""One pass over the history of HEAD: the commits that revert, and the ones that they may mean.

`git log` gives every commit before its parents. On the way down each claim (a message about reverting)
puts its bit into a mask that goes from child to parents, so that at every commit the mask says which
claims it is an ancestor of. A claim's commit is found when it is met, by id, by the number of its pull
request or by its subject, and only among the claim's own ancestors. Two things follow. The memory is
that of the claims, not of the history (28 bytes a commit besides, for `again`). And what a revert means
is decided by its ancestry alone, so that every clone that has the revert finds the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

from gitmem.importers import git_messages
from gitmem.importers.git_messages import Claim
from gitmem.importers.git_process import Place, Stream, ask, records

#: The times that the format can hold: 1970 to 9999, in seconds.
TIME_MAX = 253402300799
#: How many commits of one subject a revert may mean; the newest are kept.
CANDIDATES_MAX = 4
MESSAGE_MAX = 256 * 1024
_PROGRESS_EVERY = 5000

_FORMAT = "--format=%H%x00%P%x00%ct%x00%an <%ae>%x00%B"
_FIELDS = 5
# A message without any of these says nothing about reverting; asked of each commit, so it must be cheap.
_SIGNS = (
    b"evert",
    b"eappl",
    b"e-appl",
    b"eland",
    b"e-land",
    b"ack out",
    b"ackout",
    b"acked out",
    b"oll back",
    b"ollback",
)


class Commit:
    """A commit that matters: a revert, or one that a revert may mean. Times in seconds, within the format's years."""

    __slots__ = ("author", "clamped", "mended", "message", "oid", "parents", "time")

    def __init__(self, fields: list[bytes]) -> None:
        oid, parents, time, author, message = fields
        self.oid = oid.decode("ascii")
        self.parents = parents.decode("ascii").split()
        self.time, self.clamped = _time(time)
        self.author, mended = _text(author)
        self.message, self.mended = _text(message[:MESSAGE_MAX])
        self.mended = self.mended or mended

    @property
    def subject(self) -> str:
        return git_messages.split(self.message)[0]


class Revert:
    """A claim, its commit, and the ancestors that it may mean, by each way of naming them."""

    __slots__ = ("bit", "claim", "commit", "named", "pulled", "titled")

    def __init__(self, commit: Commit, claim: Claim, bit: int) -> None:
        self.commit = commit
        self.claim = claim
        self.bit = bit
        self.named: list[list[Commit]] = [[] for _ in claim.targets]
        self.pulled: list[list[Commit]] = [[] for _ in claim.pulls]
        self.titled: list[Commit] = []


class History:
    """What the pass found. `reverts` has parents before children."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.commits = 0
        self.reverts: list[Revert] = []
        self._oids = bytearray()
        self._subjects = array("q")
        self._oid_size = 20

    def read(self, progress: Callable[[int], None]) -> None:
        """Make the pass. Raises GitFailed where git can't read the history."""
        args = [
            "log",
            "-z",
            "--topo-order",
            "--encoding=UTF-8",
            "--no-show-signature",
            "--no-color",
            _FORMAT,
            "HEAD",
            "--",
        ]
        stream = Stream(args, self._place)
        try:
            self._read(stream, progress)
        finally:
            stream.close()
        self.reverts.reverse()

    def _read(self, stream: Stream, progress: Callable[[int], None]) -> None:
        masks: dict[bytes, int] = {}
        by_oid: dict[bytes, list[tuple[Revert, int]]] = {}
        lengths: set[int] = set()
        by_pull: dict[int, list[tuple[Revert, int]]] = {}
        by_subject: dict[bytes, list[Revert]] = {}
        for fields in records(stream, _FIELDS):
            oid, parents, _, _, message = fields
            mask = masks.pop(oid, 0)
            key, number = _subject_key(message)
            self._oids += bytes.fromhex(oid.decode("ascii"))
            self._subjects.append(hash(key))
            self.commits += 1
            if self.commits % _PROGRESS_EVERY == 0:
                progress(self.commits)
            commit = None
            if mask:
                for length in lengths:
                    for revert, slot in by_oid.get(oid[:length], ()):
                        if mask & revert.bit:
                            commit = commit or Commit(fields)
                            revert.named[slot].append(commit)
                for revert in by_subject.get(key, ()):
                    if mask & revert.bit:
                        commit = commit or Commit(fields)
                        _keep_newest(revert.titled, commit)
                for revert, slot in by_pull.get(number, ()) if number else ():
                    if mask & revert.bit:
                        commit = commit or Commit(fields)
                        _keep_newest(revert.pulled[slot], commit)
            if any(sign in message for sign in _SIGNS):
                commit = commit or Commit(fields)
                claim = git_messages.claim(commit.message)
                if claim is not None:
                    revert = Revert(commit, claim, 1 << len(self.reverts))
                    self.reverts.append(revert)
                    mask |= revert.bit
                    for slot, target in enumerate(claim.targets):
                        name = target.oid.encode()
                        by_oid.setdefault(name, []).append((revert, slot))
                        lengths.add(len(name))
                    for slot, pull in enumerate(claim.pulls):
                        by_pull.setdefault(pull, []).append((revert, slot))
                    if claim.subject:
                        by_subject.setdefault(_squeezed(claim.subject.encode("utf-8", "replace")), []).append(revert)
            if mask:
                for parent in parents.split():
                    masks[parent] = masks.get(parent, 0) | mask
        if self._oids and self.commits:
            self._oid_size = len(self._oids) // self.commits
        progress(self.commits)

    def again(self, wanted: dict[str, int]) -> Iterator[tuple[str, str]]:
        """Yield (subject, oid) of the commits that have one of the subjects `wanted`, newest first.

        `wanted` maps a subject (without a pull request's number) to how many at most.
        """
        left = {
            hash(_squeezed(subject.encode("utf-8", "replace"))): [subject, most] for subject, most in wanted.items()
        }
        size = self._oid_size
        for place, subject_hash in enumerate(self._subjects):
            entry = left.get(subject_hash)
            if entry is not None and entry[1]:
                entry[1] -= 1  # type: ignore[operator]
                yield entry[0], self._oids[place * size : place * size + size].hex()  # type: ignore[misc]

    def show(self, oids: list[str]) -> dict[str, Commit]:
        """Return the commits with these ids."""
        found = {}
        for at in range(0, len(oids), 500):
            args = ["log", "-z", "--no-walk=unsorted", "--encoding=UTF-8", "--no-show-signature", "--no-color", _FORMAT]
            stream = Stream([*args, *oids[at : at + 500], "--"], self._place)
            try:
                for fields in records(stream, _FIELDS):
                    commit = Commit(fields)
                    found[commit.oid] = commit
            finally:
                stream.close()
        return found

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Say whether `newer` has `older` in its history."""
        return bool(ask(self._place, "merge-base", "--is-ancestor", older, newer).rc == 0)


def _keep_newest(kept: list[Commit], commit: Commit) -> None:
    """Keep the newest few, by what is the same in every clone: time, then id."""
    kept.append(commit)
    kept.sort(key=lambda c: (c.time, c.oid), reverse=True)
    del kept[CANDIDATES_MAX:]


def _subject_key(message: bytes) -> tuple[bytes, int]:
    """Return what subjects are compared by, and the number of the pull request that was taken off it (0: none).

    It is the first paragraph with its blanks squeezed.
    """
    subject = message[:MESSAGE_MAX].replace(b"\r\n", b"\n").lstrip().partition(b"\n\n")[0]
    number = 0
    if subject.startswith(b"Merge pull request #"):
        digits = subject[20:32].partition(b" ")[0]
        number = int(digits) if digits.isdigit() else 0
    while subject.endswith(b")"):
        head, mark, tail = subject.rpartition(b"(#")
        if not mark or not tail[:-1].isdigit() or not head.strip():
            break
        number = number or (int(tail[:-1]) if len(tail) <= 10 else 0)
        subject = head.rstrip()
    return _squeezed(subject), number


def _squeezed(subject: bytes) -> bytes:
    return b" ".join(subject.split())


def _text(data: bytes) -> tuple[str, bool]:
    """Return `data` as text, and whether something in it was no UTF-8 and had to be replaced."""
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), True


def _time(text: bytes) -> tuple[int, bool]:
    """Return a commit's time in seconds, moved into the format's years, and whether it had to be."""
    try:
        time = int(text)
    except ValueError:
        return 0, True
    kept = min(max(time, 0), TIME_MAX)
    return kept, kept != time
