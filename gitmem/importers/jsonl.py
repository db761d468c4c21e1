"""jsonl: a log made again from its export, commit by commit, checked as a foreign log is.

Nothing is taken on trust. Each line has to be an event or a tombstone, byte for byte as the format spells it; its id is
what the line hashes to. Each commit goes through the checker that reads a log (clocks, structure, one that was redacted
standing there in full). What can't be read is counted and named with its line; what stands on it has no place without
it, and is counted too. A whole file, and nothing else, gives the same commits as the log that it was made of.

What is redacted here is never taken in: its tombstone stands there instead, as if the other log had been rewritten.

Objects go into packs beside the object store first, and into it when all of the file is known to be sound.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from gitmem.core import events, ids, objects
from gitmem.core.events import Event
from gitmem.core.history import ERROR, Checker
from gitmem.core.ids import short
from gitmem.core.objects import EVENT_SUFFIX, SIGNATURE_SUFFIX, TOMBSTONE_SUFFIX
from gitmem.core.rewriting import Rewriting
from gitmem.errors import NewerFormat, Refused
from gitmem.exporters.jsonl import MARK, VERSION
from gitmem.store import git, pack
from gitmem.store.lock import leftovers
from gitmem.store.plumbing_log import WRITING
from gitmem.store.repository import Repository, unwritable
from gitmem.sync.purge import PACKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

#: The longest line: the base64 of a quarantined object, which is no larger than what a log reads.
LINE_MAX = 6 << 20
#: A pack holds at least so many objects, the last one fewer.
PACKED = 30_000
#: How the lines begin that say which events stand in which commit.
_STRUCTURE = (MARK + b'"commit"', MARK + b'"join"')
#: How many lines are named of each kind of trouble.
EXAMPLES_MAX = 5

Progress = Callable[[str, int, int], None]


class Group:
    """What stands in one commit: on top of `on` (-1: of the one before), or a join `of` two.

    number    of the commit, in the file
    files     name -> bytes, as the tree of the commit holds them
    found     the events and tombstones among them, as read
    line      where it begins
    lacks     how many events are still to come
    problems  (line, what is wrong with it); then nothing of it can be used
    """

    __slots__ = ("files", "found", "lacks", "line", "number", "of", "on", "problems")

    def __init__(self, number: int, line: int, *, on: int = -1, of: tuple[int, ...] = (), lacks: int = 1) -> None:
        self.number = number
        self.line = line
        self.on = on
        self.of = of
        self.lacks = lacks
        self.files: dict[str, bytes] = {}
        self.found: list[Event] = []
        self.problems: list[tuple[int, str]] = []

    def close(self) -> Group:
        if self.lacks > 0:
            self.problems.append((self.line, "a commit of which events are missing"))
        return self


# --- reading ----------------------------------------------------------------------------------


class Reading:
    """The commits that the lines of a file spell, one after the other.

    begins, ends   how many logs begin in it, and how many of them come to their end: one file may hold several
    changed        the lines of one are not those that its end has the hash of
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._number = 0
        self._digest = hashlib.sha256()
        self.begins = 0
        self.ends = 0
        self.changed = False

    def __iter__(self) -> Iterator[Group]:
        """Raises Refused where it is no such file, NewerFormat."""
        lines = _lines(self._file)
        first = next(lines, None)
        if first is None:
            return
        if first[1] is not None and first[1].startswith(MARK):
            yield from self._groups(chain((first,), lines))
            return
        every = [first, *lines]
        if any(data is not None and data.startswith(_STRUCTURE) for _, data in every):
            yield from self._groups(every)
        else:
            yield from _by_clock(self._groups(every))

    def _groups(self, lines: Iterable[tuple[int, bytes | None]]) -> Iterator[Group]:
        group: Group | None = None
        for line, data in lines:
            said = _said(data) if data is not None and data.startswith(MARK) else None
            kind = said.get("gitmem") if said is not None else None
            if kind == "log":
                self._digest = hashlib.sha256()
            elif said is not None and kind == "end":
                self.changed |= said.get("sha256", self._digest.hexdigest()) != self._digest.hexdigest()
            self._digest.update((data or b"") + b"\n")
            if said is not None and kind == "signature" and group is not None:
                _sign(group, line, said)
                continue
            if group is not None and (group.lacks <= 0 or kind in ("log", "commit", "join", "end")):
                yield group.close()
                group = None
            if said is None or kind == "quarantined":
                group = group or Group(self._next(), line)
                group.lacks -= 1
                if data is None:
                    group.problems.append((line, f"longer than {LINE_MAX:,} bytes"))
                elif said is None:
                    _take(group, line, data)
                else:
                    group.problems.append((line, "quarantined in the log that it comes from"))
            elif kind == "log":
                _check_header(said)
                self.begins += 1
                self._number = 0
                yield Group(0, line, lacks=0)  # the root
            elif kind == "end":
                self.ends += 1
            elif kind in ("commit", "join"):
                of = _numbers(said.get("of")) if kind == "join" else ()
                lacks = 0 if kind == "join" else max(1, _number(said.get("events")))
                self._number = _number(said.get("n")) - 1 if "n" in said else self._number
                group = Group(self._next(), line, on=_number(said.get("on")), of=of, lacks=lacks)
                if kind == "join" and len(of) != 2:
                    group.problems.append((line, "a line that can't be understood"))
            else:
                group = group or Group(self._next(), line, lacks=0)
                group.problems.append((line, "a line that can't be understood"))
        if group is not None:
            yield group.close()

    def _next(self) -> int:
        self._number += 1
        return self._number


def _by_clock(groups: Iterable[Group]) -> Iterator[Group]:
    """Yield the events of a list without structure in the order of their clocks, those of one in one commit (F35)."""
    clocks: dict[int, Group] = {}
    for group in groups:
        if group.problems:
            yield group  # it has no place, and what follows will miss it
            continue
        clock = group.found[0].clock
        together = clocks.setdefault(clock, group)
        if together is not group:
            together.files |= group.files
            together.found = list({event.id: event for event in (*together.found, *group.found)}.values())
    for number, clock in enumerate(sorted(clocks), 1):
        clocks[clock].number = number
        clocks[clock].on = number - 1
        yield clocks[clock]


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yield (number, line without its end) of all that are not empty; None for one that is too long."""
    number = 0
    while line := file.readline(LINE_MAX):
        number += 1
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if len(line) == LINE_MAX and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = file.readline(LINE_MAX)
            yield number, None
            continue
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        if line:
            yield number, line


def _said(line: bytes) -> dict[str, object]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _number(value: object) -> int:
    return value if type(value) is int and value >= 0 else -1


def _numbers(value: object) -> tuple[int, ...]:
    return tuple(_number(one) for one in value) if isinstance(value, list) else ()


def _check_header(said: Mapping[str, object]) -> None:
    version = _number(said.get("v"))
    if version > VERSION:
        raise NewerFormat(what=f"the file is of version {version}; nothing was written")
    if said.get("selection"):
        raise Refused(
            field="import jsonl",
            what="the file holds a selection of events, and no log can be made of it",
            hint="export it again without filters.",
        )


def _take(group: Group, number: int, line: bytes) -> None:
    """Put an event or a tombstone into `group`, or what is wrong with the line."""
    event: Event | None = None
    if b'"redacted":"' in line and b'"blob_sha1":"' in line:
        try:
            event = events.parse_tombstone(line)
        except events.Malformed:
            event = None
    try:
        event = event or events.parse(line)
    except events.Malformed as error:
        group.problems.append((number, f"no event: {error}"))
        return
    name = event.id + (TOMBSTONE_SUFFIX if event.redacted else EVENT_SUFFIX)
    if name in group.files:
        group.problems.append((number, f"{short(event.id)} stands there twice"))
    group.files[name] = line
    group.found.append(event)


def _sign(group: Group, number: int, said: Mapping[str, object]) -> None:
    import base64
    import binascii

    of, text, coded = said.get("of"), said.get("text"), said.get("base64")
    try:
        data = text.encode("ascii") if isinstance(text, str) else base64.b64decode(str(coded), validate=True)
    except (UnicodeEncodeError, binascii.Error, ValueError):
        data = b""
    if f"{of}{EVENT_SUFFIX}" not in group.files or not 0 < len(data) <= objects.SIGNATURE_MAX:
        group.problems.append((number, "a signature of nothing that stands before it"))
        return
    group.files[f"{of}{SIGNATURE_SUFFIX}"] = data


# --- building ---------------------------------------------------------------------------------


class Skipped:
    """What could not be taken in, by reason: how often, and where."""

    def __init__(self) -> None:
        self.reasons: dict[str, tuple[int, list[str]]] = {}

    def add(self, reason: str, example: str) -> None:
        count, examples = self.reasons.get(reason, (0, []))
        if len(examples) < EXAMPLES_MAX:
            examples.append(example)
        self.reasons[reason] = (count + 1, examples)


class Built:
    """A log made from a file, whose objects wait in packs of our own. Close it.

    tip      the commit that all of it is below; the root where there was nothing
    tips     the commits that nothing stands on: one, unless lines were left out
    commits, events   that were read and found sound
    redacted ids of events that are redacted here, and came in full
    """

    def __init__(self, repository: Repository, forms: Mapping[str, str]) -> None:
        self.repository = repository
        self.form = repository.form
        self.commits = 0
        self.events = 0
        self.redacted: set[str] = set()
        self.skipped = Skipped()
        self.tips: dict[str, None] = {self.form.root: None}
        self._checker = Checker(self.form)
        self._work = Rewriting(self.form, forms) if forms else None
        self._packs: list[str] = []
        self._objects: dict[str, tuple[str, bytes]] = {}
        self._has_empty_tree = False
        self._numbers: dict[int, str] = {0: self.form.root}  # number in the file -> oid; not of what can't be used
        self._times: dict[str, int] = {self.form.root: 0}
        self._kept: set[str] = set()
        self._left_out: set[str] = set()
        self._awaited: dict[str, str] = {}  # an id that has not come yet -> the event that refers to it
        root = self.form.root_data
        self._add("tree", b"")
        self._add("commit", root)
        self._checker.add(self.form.root, root, b"", {})
        if self._work is not None:
            self._work.add(self.form.root, root, b"", {})

    @property
    def is_whole(self) -> bool:
        return not self.skipped.reasons

    def take(self, group: Group, seen: Callable[[Event], None]) -> None:
        """Make one commit, or count why not. `seen` is told each event that is taken in."""
        if not group.number:
            self._numbers = {0: self.form.root}  # another log begins
            return
        oid = self._made(group, seen)
        if oid:
            self._numbers[group.number] = oid
        else:
            self._left_out.update(event.id for event in group.found if event.id not in self._kept)
        if len(self._objects) >= PACKED:
            self._pack()

    def _made(self, group: Group, seen: Callable[[Event], None]) -> str:
        for number, problem in group.problems:
            self.skipped.add(problem, f"line {number}")
        if group.problems:
            return ""
        wanted = group.of or (group.on if group.on >= 0 else group.number - 1,)
        parents = [self._numbers.get(number, "") for number in wanted]
        if not all(parents) or self._refers_to_left_out(group.found):
            self.skipped.add("stands on what could not be read", f"line {group.line}")
            return ""
        blobs = {name: self.form.oid("blob", data) for name, data in group.files.items()}
        tree = objects.tree(blobs.items())
        tree_oid = self.form.oid("tree", tree)
        if group.of:
            commit = objects.join_commit(self.form, [(parent, self._times[parent]) for parent in parents])
        else:
            commit = objects.event_commit(tree_oid, parents[0], group.found)
        oid = self.form.oid("commit", commit)
        before = len(self._checker.findings)
        entry = self._checker.add(oid, commit, tree, dict(group.files))
        wrong = [finding for finding in self._checker.findings[before:] if finding.severity == ERROR]
        if entry is None or wrong:
            self.skipped.add("breaks a rule of the log", f"line {group.line}: {wrong[0].message}")
            return ""
        self._times[oid] = entry.time
        self.commits += 1
        self.events += len(group.found)
        self._remember(group.found, seen)
        for parent in parents:
            self.tips.pop(parent, None)
        self.tips[oid] = None
        self._keep(oid, commit, tree_oid, tree, group, blobs)
        return oid

    def _refers_to_left_out(self, found: Iterable[Event]) -> bool:
        return any(
            reference in self._left_out and reference not in self._kept
            for event in found
            for reference in _references(event)
        )

    def _remember(self, found: Iterable[Event], seen: Callable[[Event], None]) -> None:
        self._kept.update(event.id for event in found)
        for event in found:
            seen(event)
            for reference in _references(event):
                if reference not in self._kept:
                    self._awaited.setdefault(reference, event.id)

    def _keep(
        self, oid: str, commit: bytes, tree_oid: str, tree: bytes, group: Group, blobs: Mapping[str, str]
    ) -> None:
        work = self._work
        gone: set[str] = set()
        stands = oid
        if work is not None:
            gone = {event.id for event in group.found if event.id in work.forms}
            self.redacted.update(event.id for event in group.found if event.id in gone and not event.redacted)
            stands = work.add(oid, commit, tree, group.files)
        # What a commit names goes first: each pack has to hold on to nothing that comes later.
        for name, blob in blobs.items():
            if name[: ids.LENGTH] not in gone or stands == oid:
                self._put(blob, "blob", group.files[name])
        if work is not None:
            for kind, data in work.objects:
                self._add(kind, data)
            work.objects = []
        if stands == oid or not gone:
            self._put(tree_oid, "tree", tree)
        if stands == oid:
            self._put(oid, "commit", commit)

    def finish(self) -> None:
        """Check what only the whole shows. Raises Refused: then nothing of it may be used.

        The checker can't tell: it knows what was left out here from what was kept as little as what a log quarantines.
        """
        wrong = [(event, to) for to, event in self._awaited.items() if to not in self._kept]
        if not wrong:
            self._pack()
            return
        event, to = wrong[0]
        what = f"event {short(event)} refers to {short(to)}, "
        what += "which could not be taken in" if to in self._left_out else "which is not in the file"
        more = f" (and {len(wrong) - 1:,} more)" if len(wrong) > 1 else ""
        raise Refused(
            field="import jsonl", what=f"{what}{more}", hint="the file is not a whole log: take another copy of it."
        )

    def at(self, oid: str) -> str:
        """Return what the commit `oid` of the file is here, once what is redacted is left out."""
        return self._work.at(oid) if self._work is not None else oid

    # --- objects ------------------------------------------------------------------------------

    def _add(self, kind: str, data: bytes) -> None:
        self._put(self.form.oid(kind, data), kind, data)

    def _put(self, oid: str, kind: str, data: bytes) -> None:
        if kind == "tree" and not data:
            if self._has_empty_tree:
                return
            self._has_empty_tree = True
        self._objects[oid] = (kind, data)

    def _pack(self) -> None:
        if not self._objects:
            return
        path = f"{self.repository.make_local_dir()}/{PACKS}.{os.getpid()}.{len(self._packs)}"
        self._packs.append(path)
        try:
            with open(path, "wb") as file:
                file.write(pack.build(self.form, self._objects.values()))
        except OSError as error:
            raise unwritable(path, error) from None
        self._objects = {}

    def store(self, progress: Progress) -> None:
        """Give git what was built; nothing refers to it yet. Raises GitFailed."""
        words = (*WRITING, "index-pack", "--stdin", "--strict")
        for number, path in enumerate(self._packs):
            progress("storing", number, len(self._packs))
            with open(path, "rb") as file:
                self.repository.git(*words, input=file.read(), env=git.RAW)

    def close(self) -> None:
        for path in self._packs:
            if os.path.exists(path):
                os.unlink(path)
        self._packs = []


def _references(event: Event) -> Iterable[str]:
    return (*event.after, *event.supersedes, *event.targets)


def build(
    repository: Repository,
    file: BinaryIO,
    forms: Mapping[str, str],
    *,
    seen: Callable[[Event], None],
    progress: Progress,
) -> Built:
    """Read `file` and return the log that it spells. Raises Refused, NewerFormat; nothing was written then.

    forms   event id -> form, of what is redacted here
    """
    for path in leftovers(repository, PACKS):
        os.unlink(path)
    built = Built(repository, forms)
    try:
        reading = Reading(file)
        for group in reading:
            built.take(group, seen)
            if built.commits % 2000 == 0:
                progress("reading", built.events, 0)
        if reading.ends < reading.begins:
            built.skipped.add("the file was cut off: its end is missing", "the last line")
        if reading.changed and built.is_whole:
            # An event that was changed is another event, and may be as sound as the first.
            raise Refused(
                field="import jsonl",
                what="the file is not what was exported: a line of it was changed, left out or moved",
                hint="take another copy of it.",
            )
        built.finish()
    except BaseException:
        built.close()
        raise
    return built
