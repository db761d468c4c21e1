"""History: what a log says once it has been checked. The only way in is `Checker.add`.

A commit of the log is checked as raw bytes, which the log has hashed: that it is spelt exactly as
`objects` would spell it. So there is little to parse and nothing to be lenient about:
a commit is the root, a join or a commit of events, byte for byte, or the structure is broken.

Two kinds of trouble are told apart. *Broken structure* (a commit that is not ours, an object that is
missing or does not hash to its name, two roots) means that nothing can be read. A *bad event* in sound
structure is quarantined: it is left out, named, and reads go on.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Collection, Iterable, Sequence

from gitmem.core import events, ids, objects
from gitmem.core.approach import total_key
from gitmem.core.events import Event
from gitmem.core.lineages import entity_key

ERROR, WARNING = "error", "warning"

#: Rules that a finding can name, with what they mean.
RULES = {
    "absent": "there is no log",
    "truncated": "history was cut off (a shallow clone); older entries can't be seen",
    "missing-object": "an object of the log is not here (partial clone, pruned, or an alternate that went away)",
    "object-hash": "the content of an object does not hash to its name",
    "commit-form": "a commit of the log is not spelt as the format spells it",
    "tree-form": "a tree of the log is not spelt as the format spells it, or holds a file that has no place there",
    "root": "the log does not begin at the one root that every log shares",
    "join": "a join is not made of its two parents alone",
    "event-name": "an event's bytes do not hash to its name",
    "event-malformed": "a file of the log is no event",
    "event-clock": "an event's clock is outside what its place in the log allows",
    "reference": "an event refers to an id that is not in the log",
    "redacted-present": "an event that was redacted is in the log again",
    "redacted-copy": "of two copies of one imported thing one was redacted and the other was not",
    "redacted-gist": "a lesson was redacted, and a gist that holds words of it was not",
    "source-differs": "two events name the same source but differ in structure",
    "checkpoint": "the log does not descend from a tip that was seen before",
    "replaced": "refs/replace exists; the log is read through it",
    "grafts": "a grafts file exists; the log is read through it",
    "newer": "written by a newer gitmem; kept, and without effect here",
    "signature-form": "a signature is too large, or no SSH signature in the namespace gitmem",
    "signature-bad": "a signature does not fit the bytes of its event",
    "signature-unknown-key": "a signature was made with a key that gpg.ssh.allowedSignersFile does not list",
    "signature-other-principal": "a signature was made with a key that is listed for somebody else than the author",
    "signature-not-valid-then": "a signature was made with a key that was not valid when the event was recorded",
    "signature-revoked": "a signature was made with a key that gpg.ssh.revocationFile lists",
    "signature-unchecked": "signatures could not be checked: no allowed signers are set, or there is no ssh-keygen",
    "signature-missing": "a review is not signed, and the policy that it names demands it",
}


class Finding:
    """One thing that checking noticed: rule, place, severity.

    rule      of `RULES`
    severity  "error" or "warning"
    commit    oid of the log commit, or ""
    event     event id, or ""
    accepted  id of the review by which a person accepted it, or ""; then it is a warning
    """

    __slots__ = ("accepted", "commit", "event", "message", "rule", "severity")

    def __init__(self, rule: str, message: str, *, severity: str = ERROR, commit: str = "", event: str = "") -> None:
        self.rule = rule
        self.message = message
        self.severity = severity
        self.commit = commit
        self.event = event
        self.accepted = ""

    def __repr__(self) -> str:
        return f"<Finding {self.rule} {self.severity} {self.commit[:8]} {self.event[:8]}: {self.message}>"


class Entry:
    """A verified commit of the log.

    events      (event, its bytes) in (clock, id) order; empty for the root and for joins
    clock       the highest clock in the ancestry, this entry included
    time        the commit's time, in seconds
    signatures  event id -> its signature's bytes, of those that have a well-formed one; not yet checked against a key
    """

    __slots__ = ("clock", "events", "oid", "parents", "signatures", "time")

    def __init__(
        self,
        oid: str,
        parents: tuple[str, ...],
        clock: int,
        time: int,
        found: list[tuple[Event, bytes]],
        signatures: dict[str, bytes] | None = None,
    ) -> None:
        self.oid = oid
        self.parents = parents
        self.clock = clock
        self.time = time
        self.events = found
        self.signatures = signatures or _UNSIGNED


_UNSIGNED: dict[str, bytes] = {}


class Checker:
    """Turns raw commits, parents first, into entries, and collects findings; never stops at the first.

    form     how the repository names objects
    place    (highest clock, commit time) of a commit that was verified before, or None if it is unknown
    known    "event", "tombstone" or "" for an event id, by what was verified before
    source   an event with that `source` that was verified before, or None
    bad      the names of files that were quarantined before
    """

    def __init__(
        self,
        form: objects.ObjectFormat,
        place: Callable[[str], tuple[int, int] | None] = lambda oid: None,
        known: Callable[[str], str] = lambda event_id: "",
        source: Callable[[str], Event | None] = lambda name: None,
        bad: Collection[str] = (),
    ) -> None:
        self.form = form
        self.findings: list[Finding] = []
        self.commits = 0
        self.newer = 0
        self._place_of = place
        self._known = known
        self._source = source
        self._places: dict[str, tuple[int, int]] = {}  # oid -> (highest clock, commit time)
        self._ids: set[str] = set()
        self._tombstones: set[str] = set()
        self._wanted: dict[str, tuple[str, str]] = {}  # id referred to -> (commit, event) that did
        self._sources: dict[str, _Copy] = {}
        self._gists: dict[str, list[tuple[str, str]]] = {}  # lesson -> (commit, id) of its gists
        self._bad = bad
        self._personal: list[Event] = []  # the reviews that may accept a quarantined file, or take that back

    @property
    def broken(self) -> bool:
        """Whether the structure has damage; then nothing that was read may be used."""
        return any(f.rule in BREAKING and f.severity == ERROR for f in self.findings)

    @property
    def events(self) -> int:
        return len(self._ids)

    # --- one commit --------------------------------------------------------------------------

    def add(
        self,
        oid: str,
        commit: bytes,
        tree: bytes | None,
        files: dict[str, bytes | None],
        damaged: Sequence[str] = (),
    ) -> Entry | None:
        """Check one commit; its parents must have been added before. None where it can't be used.

        commit, tree, files   raw bytes that hash to their oids; empty or None where there are none
        damaged               oids of its objects that are there but don't hash to their names
        """
        self.commits += 1
        form = self.form
        if len(files) == 1 and tree and not damaged:
            entry = self._everyday(oid, commit, tree, files)
            if entry is not None:
                return entry
        if damaged:
            what = "commit" if damaged[0] == oid else "object"
            self._broken("object-hash", f"{what} {damaged[0][:12]} is damaged: it is not what its name says", oid)
            return None
        if not commit:
            self._broken("missing-object", f"commit {oid[:12]} is not here", oid)
            return None
        if oid == form.root:
            self._places[oid] = (0, 0)
            return Entry(oid, (), 0, 0, [])
        tree_oid, parents, time = _header(commit, form.hex_size)
        if tree_oid is None:
            self._broken("commit-form", f"commit {oid[:12]} is not a commit of a decision log", oid)
            return None
        if not parents:
            self._broken("root", f"commit {oid[:12]} begins a history of its own; the root is {form.root[:12]}", oid)
            return None
        places = []
        for parent in parents:
            place = self._places.get(parent) or self._place_of(parent)
            if place is None:
                self._broken("missing-object", f"commit {parent[:12]}, a parent of {oid[:12]}, is not here", oid)
                return None
            places.append(place)
        floor = max(clock for clock, _ in places)
        unplaced = UNKNOWN_PLACE in places  # below damage that was named: neither times nor clocks can be checked
        if len(parents) == 2:
            if parents[0] == parents[1]:
                self._broken("join", f"join {oid[:12]} has one parent twice", oid)
                return None
            if unplaced:
                self._places[oid] = UNKNOWN_PLACE
                return Entry(oid, parents, floor, time, [])
            known = zip(parents, (when for _, when in places))
            if objects.join_commit(form, known) != commit:
                self._broken("join", f"join {oid[:12]} is not made of its two parents alone", oid)
                return None
            self._places[oid] = (floor, time)
            return Entry(oid, parents, floor, time, [])
        if len(parents) > 2:
            self._broken("join", f"commit {oid[:12]} has {len(parents)} parents", oid)
            return None
        if tree is None:
            self._broken("missing-object", f"tree {tree_oid[:12]} of commit {oid[:12]} is not here", oid)
            return None
        names = tree_entries(tree, form.digest_size)
        problem = _tree_problem(names)
        if not problem and objects.tree(names) != tree:
            problem = "is not a plain list of events"
        if problem:
            self._broken("tree-form", f"the tree of commit {oid[:12]} {problem}", oid)
            return None
        good, bad, signatures = self._read_events(oid, names, files)
        if good is None:
            return None
        # Of a commit that holds a quarantined event nobody can say how it should be spelt (F31).
        if not bad and objects.event_commit(tree_oid, parents[0], [event for event, _ in good]) != commit:
            self._broken("commit-form", f"commit {oid[:12]} is not spelt as its events spell it", oid)
            return None
        if unplaced:
            floor = min((event.clock for event, _ in good), default=1) - 1
        clock = self._place(oid, good, floor, len(good) + bad)
        self._places[oid] = (clock, time)
        return Entry(oid, parents, clock, time, good, signatures)

    def _everyday(self, oid: str, commit: bytes, tree: bytes, files: dict[str, bytes | None]) -> Entry | None:
        """Return the entry of a commit of one good event on one parent; None where it may be anything else.

        What is rendered anew from the event has the same bytes, so no part of the commit has to be looked at: that
        takes half of the time of `add`, which says what is wrong with any other commit.
        """
        (name, data), size = next(iter(files.items())), self.form.hex_size
        if not data or len(name) != _EVENT_NAME or name[ids.LENGTH :] != objects.EVENT_SUFFIX:
            return None
        parent = commit[13 + size : 13 + 2 * size].decode("ascii", "replace")
        place = self._places.get(parent, UNKNOWN_PLACE)
        begins = b"100644 %s\0" % name.encode("utf-8", "replace")
        if place is UNKNOWN_PLACE or not tree.startswith(begins) or len(tree) != len(begins) + self.form.digest_size:
            return None
        try:
            event = events.parse(data)
        except events.Malformed:
            return None
        tree_oid = commit[5 : 5 + size].decode("ascii", "replace")
        if event.id != name[: ids.LENGTH] or event.clock != place[0] + 1:
            return None
        if objects.event_commit(tree_oid, parent, (event,)) != commit:
            return None
        if event.newer:
            self.newer += 1
        self._remember(oid, event)
        time = objects.seconds(event.recorded_at)
        self._places[oid] = (event.clock, time)
        return Entry(oid, (parent,), event.clock, time, [(event, data)])

    def _read_events(
        self, oid: str, names: list[tuple[str, str]], files: dict[str, bytes | None]
    ) -> tuple[list[tuple[Event, bytes]] | None, int, dict[str, bytes]]:
        good: list[tuple[Event, bytes]] = []
        bad = 0
        signatures: dict[str, bytes] = {}
        for name, blob_oid in names:
            stem, dot, suffix = name.partition(".")
            suffix = dot + suffix
            data = files.get(name)
            if data is None:
                self._broken("missing-object", f"blob {blob_oid[:12]} ({name[:16]}…) is not here", oid)
                return None, 0, {}
            if suffix == objects.SIGNATURE_SUFFIX:
                if self._is_signature(oid, stem, data):
                    signatures[stem] = data
                continue
            try:
                event = events.parse(data) if suffix == objects.EVENT_SUFFIX else events.parse_tombstone(data)
            except events.Malformed as error:
                bad += 1
                self._ids.add(stem)
                self.find("event-malformed", f"event {stem[:8]} is no event: {error}", oid, stem)
                continue
            if event.id != stem:
                bad += 1
                self._ids.add(stem)
                self.find("event-name", f"the bytes of event {stem[:8]} hash to {event.id[:8]}", oid, stem)
                continue
            if event.redacted == events.UNREADABLE:  # it was quarantined, and then redacted: only its name is left
                bad += 1
                self._ids.add(stem)
                self._tombstones.add(stem)
                continue
            good.append((event, data))
        good.sort(key=_entry_order)
        return good, bad, signatures

    def _is_signature(self, oid: str, event_id: str, data: bytes) -> bool:
        """Say whether a `.sig` holds what F28 allows; what it holds otherwise is no fault of the event."""
        from gitmem.core import signatures  # here: few events are signed

        try:
            signatures.parse(data)
        except signatures.Malformed as error:
            self.find("signature-form", f"the signature of event {event_id[:8]} is none: {error}", oid, event_id)
            return False
        return True

    def _place(self, oid: str, good: list[tuple[Event, bytes]], floor: int, count: int) -> int:
        """Check clocks and references of the events of one commit; bad ones leave `good`."""
        clock = floor
        for item in tuple(good):
            event = item[0]
            if not floor < event.clock <= floor + count:  # F12
                good.remove(item)
                self._ids.add(event.id)
                self.find(
                    "event-clock",
                    f"event {event.id[:8]} has clock {event.clock}, outside {floor + 1}-{floor + count}",
                    oid,
                    event.id,
                )
                continue
            clock = max(clock, event.clock)
            if event.newer:
                self.newer += 1
            self._remember(oid, event)
        return clock

    def _remember(self, oid: str, event: Event) -> None:
        before = (
            "tombstone" if event.id in self._tombstones else "event" if event.id in self._ids else self._known(event.id)
        )
        if before and before != ("tombstone" if event.redacted else "event"):
            self.find("redacted-present", f"event {event.id[:8]} was redacted and is in the log again", oid, event.id)
        self._ids.add(event.id)
        if event.redacted:
            self._tombstones.add(event.id)
        for reference in (*event.after, *event.supersedes, *event.targets):
            if reference not in self._ids:
                self._wanted.setdefault(reference, (oid, event.id))
        if event.kind == "gist" and not event.redacted:
            for lesson in event.targets:
                self._gists.setdefault(lesson, []).append((oid, event.id))
        if event.source:
            self._compare_copies(oid, event)
        if event.action in _ACCEPTING and is_personal_review(event):
            self._personal.append(event)

    def _compare_copies(self, oid: str, event: Event) -> None:
        """Copies of one source agree in structure, and where one is redacted all are (F16)."""
        first = self._sources.get(event.source)
        if first is None:
            known = self._source(event.source)
            first = _copy(known) if known is not None else None
            self._sources[event.source] = first or _copy(event)
        if first is None or first.id == event.id:
            return
        both = f"events {first.id[:8]} and {event.id[:8]} name the same source"
        if bool(first.redacted) != bool(event.redacted):
            shown = event if first.redacted else first
            what = f"{both}, and only one of them is redacted"
            self.find("redacted-copy", what, oid, shown.id, severity=WARNING)
        elif not event.redacted and structure(first) != structure(event):
            self.find("source-differs", f"{both} and differ", oid, event.id, severity=WARNING)

    # --- the whole ---------------------------------------------------------------------------

    def finish(self) -> list[Finding]:
        """Return all findings, those that only the whole log shows included."""
        if self.broken:
            return self.findings  # what is missing below damage was not left out by who referred to it
        accept(self.findings, self._personal)
        for reference, (oid, event_id) in self._wanted.items():
            if reference not in self._ids and reference not in self._bad and not self._known(reference):
                self.find(
                    "reference",
                    f"event {event_id[:8]} refers to {reference[:8]}, which is not in the log",
                    oid,
                    event_id,
                )
        for lesson, gists in self._gists.items():
            if lesson in self._tombstones or self._known(lesson) == "tombstone":
                for oid, event_id in gists:
                    what = f"event {event_id[:8]} holds words of {lesson[:8]}, which was redacted"
                    self.find("redacted-gist", what, oid, event_id, severity=WARNING)
        return self.findings

    def skip(self, oid: str) -> None:
        """Go on above a commit that could not be used: what stands on it is checked as far as it can be."""
        self._places.setdefault(oid, UNKNOWN_PLACE)

    def find(self, rule: str, message: str, commit: str = "", event: str = "", *, severity: str = ERROR) -> None:
        self.findings.append(Finding(rule, message, severity=severity, commit=commit, event=event))

    def _broken(self, rule: str, message: str, oid: str) -> None:
        self.find(rule, message, oid)


#: Where a commit that could not be read stands: nothing is known of its clock.
UNKNOWN_PLACE = (-1, -1)

#: Findings of these rules mean that the structure is broken.
BREAKING = frozenset(
    ("absent", "truncated", "missing-object", "object-hash", "commit-form", "tree-form", "root", "join")
)
#: Findings of these rules mean that one event was quarantined.
QUARANTINING = frozenset(("event-name", "event-malformed", "event-clock"))

_ACCEPTING = ("ratify", "retract")


def is_personal_review(event: Event) -> bool:
    """Say whether a person reviewed something with this event."""
    return event.kind == "review" and event.channel == "human" and event.basis == "person" and not event.newer


def accept(findings: Iterable[Finding], reviews: Iterable[Event]) -> None:
    """Make warnings of those quarantined files that a person accepted (F31): no verdict hangs on it.

    A ratify of the file's name accepts it, unless a person retracted that ratify.
    """
    bad: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.rule in QUARANTINING:
            finding.severity, finding.accepted = ERROR, ""
            bad.setdefault(finding.event, []).append(finding)
    if not bad:
        return
    several = list(reviews)
    withdrawn = {target for review in several if review.action == "retract" for target in review.targets}
    for review in sorted(several, key=objects.order):
        if review.action == "ratify" and review.id not in withdrawn:
            for finding in (one for target in review.targets for one in bad.get(target, ())):
                if not finding.accepted:
                    finding.severity = WARNING
                    finding.accepted = review.id


#: How long the name of an event's file is.
_EVENT_NAME = ids.LENGTH + len(objects.EVENT_SUFFIX)
_SUFFIXES = (objects.EVENT_SUFFIX, objects.SIGNATURE_SUFFIX, objects.TOMBSTONE_SUFFIX)
#: What a tree may hold of one event: itself, itself signed, or its tombstone.
_HOLDINGS = (
    {objects.EVENT_SUFFIX},
    {objects.EVENT_SUFFIX, objects.SIGNATURE_SUFFIX},
    {objects.TOMBSTONE_SUFFIX},
)


def _entry_order(item: tuple[Event, bytes]) -> tuple[int, str]:
    return objects.order(item[0])


#: What is kept of an event to compare its copies with: a hundred thousand events themselves would fill the memory.
_Copy = namedtuple(
    "_Copy",
    (
        "id",
        "redacted",
        "kind",
        "change_type",
        "action",
        "scope",
        "entity_path",
        "approach",
        "valid_from",
        "renamed_from",
    ),
)


def _copy(event: Event) -> _Copy:
    return _Copy(*(getattr(event, name) for name in _Copy._fields))


def structure(event: Event | _Copy) -> tuple[object, ...]:
    """What copies of one source must agree in (R3): not content, for one of them may be redacted."""
    return (
        event.kind,
        event.change_type,
        event.action,
        event.scope,
        entity_key(event.entity_path),
        total_key(event.approach),
        event.valid_from,
        entity_key(event.renamed_from),
    )


def _tree_problem(names: list[tuple[str, str]]) -> str:
    """Return what keeps these files from being the tree of an event commit (F23), or an empty string."""
    if not names:
        return "is not a plain list of events"
    if len(names) > objects.FILES_MAX:
        return f"holds {len(names):,} files, more than {objects.FILES_MAX:,}"
    held: dict[str, set[str]] = {}
    for name, _ in names:
        stem, dot, suffix = name.partition(".")
        if not ids.is_id(stem) or dot + suffix not in _SUFFIXES:
            return f"holds the file {name[:80]!r}"
        there = held.setdefault(stem, set())
        if dot + suffix in there:
            return f"holds {name[:16]}… twice"
        there.add(dot + suffix)
    for stem, suffixes in held.items():
        if suffixes not in _HOLDINGS:
            return f"holds {' and '.join(sorted(suffixes))} of {stem[:8]}"
    return ""


#: The year 9999 has 12 digits; Python refuses to read numbers of thousands.
TIME_DIGITS_MAX = 15


def _header(commit: bytes, hex_size: int) -> tuple[str | None, tuple[str, ...], int]:
    """Return (tree, parents, time) of a raw commit, or (None, (), 0) where it isn't spelt as ours are."""
    head, blank, _ = commit.partition(b"\n\n")
    try:
        lines = head.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None, (), 0
    if not blank or not lines[0].startswith("tree ") or len(lines[0]) != 5 + hex_size:
        return None, (), 0
    at = 1
    while at < len(lines) and lines[at].startswith("parent "):
        at += 1
    rest = lines[at:]
    if len(rest) != 2 or not rest[0].startswith("author ") or rest[1] != "committer " + rest[0][7:]:
        return None, (), 0
    who, _, zone = rest[0].rpartition(" ")
    digits = who.rpartition(" ")[2]
    if zone != "+0000" or not (digits.isascii() and digits.isdigit()) or len(digits) > TIME_DIGITS_MAX:
        return None, (), 0
    return lines[0][5:], tuple(line[7:] for line in lines[1:at]), int(digits)


def tree_entries(tree: bytes, digest_size: int) -> list[tuple[str, str]]:
    """Return the (name, hex oid) pairs of a tree of plain files; empty where it is no such tree."""
    found: list[tuple[str, str]] = []
    at, end = 0, len(tree)
    while at < end:
        zero = tree.find(b"\0", at)
        if zero < 0 or zero + 1 + digest_size > end or tree[at : at + 7] != b"100644 ":
            return []
        try:
            name = tree[at + 7 : zero].decode("ascii")
        except UnicodeDecodeError:
            return []
        at = zero + 1 + digest_size
        found.append((name, tree[zero + 1 : at].hex()))
    return found
