"""Git objects of the log, as raw bytes: root, event commits, joins. One rendering, every writer.

`commit-tree` and libgit2's `create_commit` add headers and clean names each in their own way, so no log
uses them: bytes are rendered here, written as they are, and the oid that comes back is compared. The
same input gives the same oid whatever the locale, time zone, identity or signing settings (F20-F29).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from gitmem.core.events import Event
from gitmem.core.ids import short

EVENT_SUFFIX = ".json"
SIGNATURE_SUFFIX = ".sig"
TOMBSTONE_SUFFIX = ".redacted"

#: The fixed author of what no person wrote: the root and joins.
NOBODY = "gitmem <gitmem@gitmem.invalid>"
ROOT_MESSAGE = "root of the decision log, format 1\n"
JOIN_MESSAGE = "join\n"


def _commit(tree_oid: str, parents: Sequence[str], author: str, time: int, message: str) -> bytes:
    lines = [f"tree {tree_oid}", *(f"parent {parent}" for parent in parents)]
    who = f"{author} {time} +0000"
    return "\n".join([*lines, f"author {who}", f"committer {who}", "", message]).encode()


class ObjectFormat:
    """How a repository names its objects: "sha1" or "sha256"."""

    __slots__ = ("digest_size", "empty_tree", "hex_size", "name", "root", "root_data", "zeros")

    def __init__(self, name: str) -> None:
        self.name = name
        self.digest_size = 32 if name == "sha256" else 20
        self.hex_size = 2 * self.digest_size
        self.zeros = "0" * self.hex_size
        self.empty_tree = self.oid("tree", b"")
        self.root_data = _commit(self.empty_tree, (), NOBODY, 0, ROOT_MESSAGE)
        self.root = self.oid("commit", self.root_data)

    def oid(self, kind: str, data: bytes) -> str:
        """Return the hex oid of an object of `kind` ("blob", "tree", "commit") with the content `data`."""
        header = b"%s %d\0" % (kind.encode(), len(data))
        if self.name == "sha256":
            return hashlib.sha256(header + data).hexdigest()
        return hashlib.sha1(header + data, usedforsecurity=False).hexdigest()


SHA1 = ObjectFormat("sha1")
SHA256 = ObjectFormat("sha256")


def object_format(name: str) -> ObjectFormat:
    return SHA256 if name == "sha256" else SHA1


def tree(entries: Iterable[tuple[str, str]]) -> bytes:
    """Return the bytes of a tree of plain files, from (name, hex oid) pairs in any order."""
    return b"".join(b"100644 %s\0%s" % (name.encode(), bytes.fromhex(oid)) for name, oid in sorted(entries))


def event_commit(tree_oid: str, parent: str, events: Sequence[Event]) -> bytes:
    """Return the bytes of the commit that holds `events` on top of `parent`.

    Author and time come from the first event in (clock, id) order (F22).
    """
    first = min(events, key=order)
    return _commit(tree_oid, (parent,), first.author, seconds(first.recorded_at), subject(events) + "\n")


def join_commit(form: ObjectFormat, parents: Iterable[tuple[str, int]]) -> bytes:
    """Return the bytes of the join of two log commits, given as (oid, commit time in seconds)."""
    both = sorted(parents)
    return _commit(form.empty_tree, [oid for oid, _ in both], NOBODY, max(time for _, time in both), JOIN_MESSAGE)


def order(event: Event) -> tuple[int, str]:
    """The order of output, the same in every clone (F13). It never decides a verdict."""
    return (event.clock, event.id)


def subject(events: Sequence[Event]) -> str:
    """Return the first line of a log commit: structure only, nothing that a redaction would have to chase.

    `reject users.card_token (7f3a91c2)`, and ` and 2 more` where the commit holds three events.
    """
    first = min(events, key=order)
    more = f" and {len(events) - 1} more" if len(events) > 1 else ""
    if first.redacted:
        return f"redacted ({short(first.id)}){more}"
    fields = first.fields
    what = first.change_type or first.action or first.kind
    about = first.entity_path
    if not about and first.kind == "link":
        about = str(fields.get("commit", ""))[:12]
    if not about and first.targets:
        about = " ".join(short(target) for target in first.targets[:3])
        if len(first.targets) > 3:
            about += f" and {len(first.targets) - 3} more"
    if first.kind == "link":
        what = "link"
    return f"{_plain(what)} {_plain(about)} ({short(first.id)}){more}".replace("  ", " ")


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)


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

