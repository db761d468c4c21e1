"""Git objects of the log, as raw bytes: root, event commits, joins. One rendering, every writer.

`commit-tree` and libgit2's `create_commit` add headers and clean names each in their own way, so no log
uses them: bytes are rendered here, written as they are, and the oid that comes back is compared. The
same input gives the same oid whatever the locale, time zone, identity or signing settings (F20-F29).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence

from gitmem.core import digests
from gitmem.core.events import NOBODY, Event
from gitmem.core.ids import short

EVENT_SUFFIX = ".json"
SIGNATURE_SUFFIX = ".sig"
TOMBSTONE_SUFFIX = ".redacted"

#: How many files the tree of one commit may hold (F23): a reader has to be able to say no to a tree before it reads it.
FILES_MAX = 16_384
#: The largest signature, in bytes (F28).
SIGNATURE_MAX = 16_384

#: F21
ROOT_MESSAGE = "root of the decision log, format 1\n"
JOIN_MESSAGE = "join\n"


def _commit(tree_oid: str, parents: Sequence[str], author: str, time: int, message: str) -> bytes:
    lines = [f"tree {tree_oid}", *(f"parent {parent}" for parent in parents)]
    who = f"{author} {time} +0000"
    return "\n".join([*lines, f"author {who}", f"committer {who}", "", message]).encode()


class ObjectFormat:
    """How a repository names its objects: "sha1" or "sha256"; and what the log's constants are called there."""

    __slots__ = ("_empty_tree", "_root", "digest_size", "hex_size", "name", "zeros")

    def __init__(self, name: str) -> None:
        self.name = name
        self.digest_size = 32 if name == "sha256" else 20
        self.hex_size = 2 * self.digest_size
        self.zeros = "0" * self.hex_size
        self._empty_tree = ""
        self._root = ""

    @property
    def empty_tree(self) -> str:
        """The oid of the tree of the root and of joins."""
        if not self._empty_tree:
            self._empty_tree = self.oid("tree", b"")
        return self._empty_tree

    @property
    def root_data(self) -> bytes:
        """The bytes of the root commit (F21)."""
        return _commit(self.empty_tree, (), NOBODY, 0, ROOT_MESSAGE)

    @property
    def root(self) -> str:
        """The oid of the root commit."""
        if not self._root:
            self._root = self.oid("commit", self.root_data)
        return self._root

    def oid(self, kind: str, data: bytes) -> str:
        """Return the hex oid of an object of `kind` ("blob", "tree", "commit") with the content `data`."""
        header = b"%s %d\0" % (kind.encode(), len(data))
        return self.digest(header + data).hexdigest()

    @property
    def digest(self) -> Callable[[bytes], digests.Digest]:
        """The function that names objects, of an object's header and content; of a pack's bytes too."""
        return digests.sha256 if self.name == "sha256" else digests.sha1


SHA1 = ObjectFormat("sha1")
SHA256 = ObjectFormat("sha256")


def object_format(name: str) -> ObjectFormat:
    return SHA256 if name == "sha256" else SHA1


def tree(entries: Iterable[tuple[str, str]]) -> bytes:
    """Return the bytes of a tree of plain files, from (name, hex oid) pairs in any order (F23)."""
    return b"".join(b"100644 %s\0%s" % (name.encode(), bytes.fromhex(oid)) for name, oid in sorted(entries))


def restored_tree(form: ObjectFormat, entries: Iterable[tuple[str, str]], tombstones: Iterable[Event]) -> bytes:
    """Return the bytes of the tree `entries` as it was before the events of `tombstones` were redacted (F27)."""
    names = dict(entries)
    for stone in tombstones:
        del names[stone.id + TOMBSTONE_SUFFIX]
        names[stone.id + EVENT_SUFFIX] = str(stone.fields[f"blob_{form.name}"])
        signature = stone.fields.get(f"signature_{form.name}")
        if signature:
            names[stone.id + SIGNATURE_SUFFIX] = str(signature)
    return tree(names.items())


def event_commit(tree_oid: str, parent: str, events: Sequence[Event], *, restored: Container[str] = ()) -> bytes:
    """Return the bytes of the commit that holds `events` (at least one) on top of `parent`.

    Author and time come from the first event in (clock, id) order (F22). With the ids of tombstones in `restored`,
    the commit as it was before those were redacted (F27).
    """
    first = min(events, key=order)
    message = subject(events, restored=restored) + "\n"
    return _commit(tree_oid, (parent,), first.author, seconds(first.recorded_at), message)


def join_commit(form: ObjectFormat, parents: Iterable[tuple[str, int]]) -> bytes:
    """Return the bytes of the join of two log commits, given as (oid, commit time in seconds) (F24)."""
    both = sorted(parents)
    return _commit(form.empty_tree, [oid for oid, _ in both], NOBODY, max(time for _, time in both), JOIN_MESSAGE)


def order(event: Event) -> tuple[int, str]:
    """The order of output, the same in every clone (F13). It never decides a verdict."""
    return (event.clock, event.id)


def subject(events: Sequence[Event], *, restored: Container[str] = ()) -> str:
    """Return the first line of a log commit: structure only, nothing that a plain redaction would have to chase (F25).

    `reject users.card_token (7f3a91c2)`, and ` and 2 more` where the commit holds three events. Asks for names
    of fields and nothing else, so that it is the same for an event that this gitmem doesn't know.
    """
    first = min(events, key=order)
    more = f" and {len(events) - 1} more" if len(events) > 1 else ""
    if first.redacted and first.id not in restored:
        return f"redacted ({short(first.id)}){more}"
    get = first.fields.get
    what = get("change_type") or get("action") or first.kind
    about = get("entity_path") or str(get("commit", ""))[:12]
    if not about and first.targets:
        about = " ".join(short(target) for target in first.targets[:3])
        if len(first.targets) > 3:
            about += f" and {len(first.targets) - 3} more"
    return f"{what} {about} ({short(first.id)}){more}" if about else f"{what} ({short(first.id)}){more}"


def seconds(time: str) -> int:
    """Return the POSIX time, in whole seconds, of a format time (`2026-11-30T12:00:00.000000Z`)."""
    # datetime costs nothing extra (sqlite3 imports it), but not in the pure hook path: days by hand,
    # after Howard Hinnant's days_from_civil.
    year, month, day = int(time[0:4]), int(time[5:7]), int(time[8:10])
    year -= month <= 2
    era = year // 400
    yoe = year - era * 400
    doy = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    days = era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468
    return days * 86400 + int(time[11:13]) * 3600 + int(time[14:16]) * 60 + int(time[17:19])
