"""Notes: each linked commit's decisions, one line each, where plain `git log` shows them.

A notes ref is the only thing that git displays under a commit, so this one is kept: derived from the log
as the cache is, thrown away and rebuilt at will, never read back. Everything about it is a function of
its content: a fixed layout of the tree (`ab/cdef...`, whatever the number of notes), a fixed author and
time, and no parents. The same notes are the same commit in every clone, written at once or one by one,
and a line that leaves the log leaves nothing behind in the history of the ref. It has no reflog for the
same reason.

Git reads any layout but writes its own, so a ref that `git notes` or `git notes prune` touched is read
whole and laid out anew. A ref that gitmem never wrote is somebody's, and stays as it is.

The tree is made here and not by `git notes` or fast-import: `git notes` moves its ref without looking
whether another process did so meanwhile, and fast-import reads all notes before it adds one (140 ms where
there are 100,000; this takes 11).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence

from gitmem.core import characters, ids
from gitmem.core.events import NOBODY
from gitmem.errors import GitFailed, Writing
from gitmem.store import git, notes_ref, pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.events import Event
    from gitmem.store.repository import Repository

    Note = str | Sequence[Event]

#: How much of a reason a line shows, in characters.
REASON_MAX = 72
#: How often a write that lost against another one starts again, and the longest pause before it does, in seconds.
TRIES = 20
PAUSE_S = 0.05
#: From this many objects on, the pack is kept as it is (git's own transfer.unpackLimit).
PACK_FROM = 100

_MESSAGE = "decisions by commit, derived from the decision log\n"
_WRITING = (
    *git.NO_HOOKS,
    "-c",
    "core.logAllRefUpdates=false",
    "-c",
    "core.filesRefLockTimeout=1000",
)


# --- what a note says ------------------------------------------------------------------------


def line(change_type: str, entity_path: str, reasoning: str, event_id: str) -> str:
    """Return a decision as its line in a note: `reject users.card_token: PCI scope (7f3a91c2)`.

    The reason is its first line, cut at `REASON_MAX`. Nothing in the line can move a terminal's cursor,
    turn the direction of the text or start another line.
    """
    reason = ""
    for part in reasoning.splitlines():
        reason = _plain(part)
        if reason:
            break
    if len(reason) > REASON_MAX:
        reason = reason[: REASON_MAX - 1].rstrip() + "…"
    about = f"{_plain(change_type)} {_plain(entity_path)}".strip()
    return f"{about}: {reason} ({ids.short(event_id)})" if reason else f"{about} ({ids.short(event_id)})"


def _plain(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        text = "".join(" " if c in characters.INVISIBLE else c for c in text)
    return " ".join(text.split())


def text(note: Note) -> str:
    """Return the text of a note: ready text as it is, or a line for each event in the log's order; "" for none."""
    if isinstance(note, str):
        return note
    lines = []
    for event in sorted(note, key=lambda event: (event.clock, event.id)):
        reasoning = event.fields.get("reasoning", "")
        reason = "[redacted]" if event.redacted else reasoning if isinstance(reasoning, str) else ""
        lines.append(line(event.change_type or event.kind, event.entity_path, reason, event.id) + "\n")
    return "".join(lines)


# --- the ref ---------------------------------------------------------------------------------


def write(repository: Repository, notes: Mapping[str, Note], *, ref: str = "") -> int:
    """Put these notes into the ref, by commit oid, beside those that are there; an empty one takes a note away.

    Returns how many commits have another note than before. A commit that isn't in this repository is left
    out. Raises GitFailed where the ref is not gitmem's, or can't be written; nothing was written then.
    """
    return _update(repository, ref or notes_ref.name(repository), notes, whole=False)[0] if notes else 0


def rebuild(repository: Repository, notes: Mapping[str, Note], *, ref: str = "") -> int:
    """Make the ref hold exactly these notes (of commits that are in this repository), and return how many.

    With none it is there all the same, and empty.

    Raises GitFailed as `write` does.
    """
    return _update(repository, ref or notes_ref.name(repository), notes, whole=True)[1]


def is_free(repository: Repository, *, ref: str = "") -> bool:
    """Say whether the ref is gitmem's, or no one's."""
    there = _Notes.read(repository, ref or notes_ref.name(repository), ())
    return not there.tip or _is_ours(repository, there)


def _update(repository: Repository, ref: str, notes: Mapping[str, Note], *, whole: bool) -> tuple[int, int]:
    """Return how many notes changed, and how many of `notes` there are now."""
    wanted = {oid: text(note).encode("utf-8", "replace") for oid, note in notes.items()}
    for tries in range(TRIES):
        if tries:
            time.sleep(PAUSE_S * os.urandom(1)[0] / 255)  # so that two that met don't meet again
        there = _Notes.read(repository, ref, wanted)
        if there.tip and not _is_ours(repository, there):
            raise GitFailed(
                what=f"{ref} holds notes that gitmem did not write; they were left alone",
                hint="name another ref for the decisions: `git config decisions.notesRef refs/notes/NAME`.",
                rc=None,
            )
        here = {oid: note for oid, note in wanted.items() if oid in there.commits}
        number, new = there.changed(here, whole=whole), there.made
        kept = sum(note != b"" for note in here.values())
        if new == there.tip:
            return number, kept
        _store(repository, there.written)
        if _move(repository, ref, new, there.tip):
            return number, kept
    raise GitFailed(
        what=f"{ref} was moved by another process {TRIES} times in a row; its notes are incomplete",
        hint="`git decisions rebuild` writes them anew.",
        rc=None,
    )


def _store(repository: Repository, written: Mapping[str, tuple[str, bytes]]) -> None:
    if not written:
        return
    many = len(written) >= PACK_FROM
    args = [*_WRITING, *(("index-pack", "--stdin") if many else ("unpack-objects", "-q"))]
    result = repository.try_git(*args, input=pack.build(repository.form, written.values()))
    if result.rc != 0:
        raise git.failed(args, result.rc, result.err, also="; no note was written")


def _move(repository: Repository, ref: str, new: str, old: str) -> bool:
    """Move the ref by compare-and-swap; False where another process was faster. Raises GitFailed."""
    zeros = repository.form.zeros
    order = f"delete {ref} {old}\n" if new == zeros else f"update {ref} {new} {old or zeros}\n"
    args = [*_WRITING, "update-ref", "--stdin"]
    with Writing():
        result = repository.try_git(*args, input=b"option no-deref\n" + order.encode("utf-8", "replace"))
    if result.rc == 0:
        return True
    now = repository.git("rev-parse", "-q", "--verify", ref, check=False).decode().strip()
    if now != old:
        return False
    raise git.failed(args, result.rc, result.err, also="; no note was written")


def _is_ours(repository: Repository, there: _Notes) -> bool:
    """Say whether gitmem wrote the ref, or had a part in it: `git notes prune` puts a commit on top of ours."""
    if f"committer {NOBODY} ".encode() in there.commit.partition(b"\n\n")[0]:
        return True
    return notes_ref.is_ours(repository, there.tip)


class _Notes:
    """The notes that are there: the tip of the ref, its tree, and as much of what is below as was asked for.

    tip      the commit that the ref names, or ""
    commit   its bytes
    commits  those of the commits asked about that are in this repository
    made     the commit that `changed` made; "" where there was no ref and is no note
    written  the objects that `changed` made: oid -> (kind, bytes)
    """

    def __init__(self, repository: Repository, ref: str) -> None:
        self.repository = repository
        self.form = repository.form
        self.ref = ref
        self.tip = ""
        self.commit = b""
        self.commits: set[str] = set()
        self.made = ""
        self.written: dict[str, tuple[str, bytes]] = {}
        #: Two hex digits -> oid of that folder. None: laid out by someone else, `_all` has the notes.
        self._folders: dict[str, str] | None = {}
        self._trees: dict[str, bytes] = {}
        self._all: dict[str, str] = {}

    @classmethod
    def read(cls, repository: Repository, ref: str, commits: Iterable[str]) -> _Notes:
        self = cls(repository, ref)
        size = self.form.hex_size
        asked = [oid for oid in commits if len(oid) == size and _HEX.issuperset(oid)]
        prefixes = sorted({oid[:2] for oid in asked})
        # One git tells it all: the tip, its tree, the folders we may touch. Of the commits only whether they are here.
        names = [ref, f"{ref}^{{tree}}", *(f"{ref}:{prefix}" for prefix in prefixes)]
        out = _batch(repository, ("--batch",), names)
        found: list[tuple[str, str, bytes]] = []
        at = 0
        for _ in names:
            head, at = _header(out, at)
            if head is None:
                found.append(("", "", b""))
                continue
            oid, kind, length = head
            found.append((oid, kind, out[at : at + length]))
            at += length + 1
        checked = _batch(repository, ("--batch-check=%(objectname) %(objecttype)", "--buffer"), asked)
        self.commits = {one[:size].decode() for one in checked.split(b"\n") if one.endswith(b" commit")}
        tip, kind, commit = found[0]
        if kind != "commit":
            return self
        self.tip, self.commit = tip, commit
        entries = _entries(found[1][2], self.form.digest_size)
        if all(mode == "40000" and len(name) == 2 and _HEX.issuperset(name) for mode, name, _ in entries):
            self._folders = {name: oid for _, name, oid in entries}
            self._trees = {prefix: data for prefix, (_, _, data) in zip(prefixes, found[2:], strict=True)}
            for data in self._trees.values():
                if any(mode != "100644" or len(name) != size - 2 for mode, name, _ in _entries(data, size // 2)):
                    self._folders = None
        else:
            self._folders = None
        if self._folders is None:
            self._all = self._listed()
        return self

    def all(self) -> dict[str, str]:
        """Return all notes: commit oid -> blob oid."""
        return self._listed() if self._folders is not None and self.tip else self._all

    def _listed(self) -> dict[str, str]:
        out = self.repository.git("ls-tree", "-r", "-z", self.tip, env=git.RAW)
        notes = {}
        for record in out.split(b"\0"):
            meta, _, path = record.partition(b"\t")
            name = path.replace(b"/", b"").decode("ascii", "replace")
            if len(name) == self.form.hex_size and _HEX.issuperset(name):
                notes[name] = meta.split(b" ")[2].decode()
        return notes

    def changed(self, wanted: Mapping[str, bytes], *, whole: bool) -> int:
        """Make the commit with the `wanted` notes, and return how many differ from what is there."""
        blobs = {oid: self._write("blob", note) if note else "" for oid, note in wanted.items()}
        if whole or self._folders is None:
            before = self.all()
            after = {**({} if whole else before), **blobs}
            number = sum(before.get(oid, "") != after.get(oid, "") for oid in {*before, *after})
            folders: dict[str, dict[str, str]] = {}
            for oid, blob in after.items():
                if blob:
                    folders.setdefault(oid[:2], {})[oid[2:]] = blob
            root = {prefix: self._folder(notes) for prefix, notes in folders.items()}
        else:
            number = 0
            root = dict(self._folders)
            for prefix in sorted({oid[:2] for oid in blobs}):
                notes = {name: blob for _, name, blob in _entries(self._trees.get(prefix, b""), self.form.digest_size)}
                for oid, blob in blobs.items():
                    if oid[:2] != prefix or notes.get(oid[2:], "") == blob:
                        continue
                    number += 1
                    if blob:
                        notes[oid[2:]] = blob
                    else:
                        del notes[oid[2:]]
                if notes:
                    root[prefix] = self._folder(notes)
                else:
                    root.pop(prefix, None)
        if not root and not whole and not self.tip:
            self.written.clear()
            return number
        # With no note left the ref stays: git warns at each `git log` of a displayed ref that isn't there.
        tree = self._write("tree", b"".join(_entry("40000", *pair) for pair in sorted(root.items())))
        who = f"{NOBODY} 0 +0000"
        commit = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n{_MESSAGE}"
        self.made = self._write("commit", commit.encode())
        return number

    def _folder(self, notes: Mapping[str, str]) -> str:
        return self._write("tree", b"".join(_entry("100644", *pair) for pair in sorted(notes.items())))

    def _write(self, kind: str, data: bytes) -> str:
        oid = self.form.oid(kind, data)
        self.written[oid] = (kind, data)
        return oid


_HEX = frozenset("0123456789abcdef")


def _batch(repository: Repository, options: tuple[str, ...], names: list[str]) -> bytes:
    if not names:
        return b""
    lines = "".join(name + "\n" for name in names).encode("utf-8", "replace")
    return repository.git("cat-file", *options, env=git.RAW, input=lines)


def _header(out: bytes, at: int) -> tuple[tuple[str, str, int] | None, int]:
    """Read a header line of `cat-file --batch`: what it says (None: no such object), and where the content starts."""
    end = out.find(b"\n", at)
    words = out[at:end].decode("utf-8", "replace").split(" ")
    if len(words) == 3 and words[2].isdigit():
        return (words[0], words[1], int(words[2])), end + 1
    return None, end + 1


def _entry(mode: str, name: str, oid: str) -> bytes:
    return f"{mode} {name}\0".encode() + bytes.fromhex(oid)


def _entries(data: bytes, digest_size: int) -> list[tuple[str, str, str]]:
    """Read the bytes of a tree: (mode, name, hex oid) of each entry."""
    found = []
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        at = end + 1 + digest_size
        found.append((mode.decode("ascii", "replace"), name.decode("utf-8", "replace"), data[end + 1 : at].hex()))
    return found
