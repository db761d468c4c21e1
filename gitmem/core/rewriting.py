"""Rewriting: what a log becomes when events are taken out of it, and what it was before (F26, F27). Pure.

Only commits change: the commit that held a redacted event gets another tree and another subject, and every commit
above it other parents. All else keeps its bytes. The result is a function of the old log and of which events are
hidden how, so whoever has the old log and the tombstones of the new one can compute the new one, and compare a single
oid: that is the whole proof of a redaction. The other way round, a tombstone keeps the oids of what it stands for, and
so the oids that commits had before come out of the log as it is now.

Commits go in parents first, as raw bytes. Two commits may become one (a log that still had the event was joined with
one that had not); a join of such two is no join any more and goes as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitmem.core import digests, events, ids, objects
from gitmem.core.events import Event
from gitmem.core.history import TIME_DIGITS_MAX, tree_entries
from gitmem.core.objects import EVENT_SUFFIX, SIGNATURE_SUFFIX, TOMBSTONE_SUFFIX, ObjectFormat
from gitmem.core.vocabulary import REDACTION_MODES

#: (oid, commit, tree, files) of one commit of a log, as `store.log.Stored` has them.
Raw = tuple[str, bytes, bytes | None, Mapping[str, bytes | None]]


class Unreadable(ValueError):
    """An object that the rewriting needs is not here; `oid` is its commit."""

    def __init__(self, oid: str) -> None:
        super().__init__(f"an object of commit {oid[:12]} is not here")
        self.oid = oid


class Rewriting:
    """One log on its way to another, commit by commit.

    forms      event id -> the form that its tombstone is to have at least (of `REDACTION_MODES`)
    moved      old oid of each commit that changes -> the oid of what takes its place
    objects    (kind, bytes) of what has to be stored for the result
    doomed     oid -> kind of what the result has no place for: old commits, and trees and blobs that held an event
    firsts     the doomed commits that no doomed commit is below
    taken      event id -> the form that it has now, of events that this rewriting changed
    """

    def __init__(self, form: ObjectFormat, forms: Mapping[str, str]) -> None:
        self.form = form
        self.forms = forms
        self.moved: dict[str, str] = {}
        self.objects: list[tuple[str, bytes]] = []
        self.firsts: list[str] = []
        self.taken: dict[str, str] = {}
        self._doomed: dict[str, str] = {}
        self._made: set[str] = set()
        # of every commit of the result: its parents, its time, the length of the longest way down
        self._parents: dict[str, tuple[str, ...]] = {}
        self._times: dict[str, int] = {}
        self._depths: dict[str, int] = {}
        self._collapsed = False

    @property
    def doomed(self) -> dict[str, str]:
        return {oid: kind for oid, kind in self._doomed.items() if oid not in self._parents and oid not in self._made}

    def at(self, oid: str) -> str:
        """Return the commit that stands for the commit `oid` in the result."""
        return self.moved.get(oid, oid)

    def holds(self, oid: str) -> bool:
        """Say whether `oid` is a commit of the result."""
        return oid in self._parents

    def below(self, oid: str, other: str) -> bool:
        """Say whether the commit `oid` of the result is `other`, or an ancestor of it."""
        floor = self._depths[oid]
        waiting, seen = [other], {other}
        while waiting:
            at = waiting.pop()
            if at == oid:
                return True
            for parent in self._parents[at]:
                if parent not in seen and self._depths[parent] >= floor:
                    seen.add(parent)
                    waiting.append(parent)
        return False

    def time(self, oid: str) -> int:
        """Return the time of a commit of the result, in seconds."""
        return self._times[oid]

    def add(self, oid: str, commit: bytes, tree: bytes | None, files: Mapping[str, bytes | None]) -> str:
        """Take in one commit, after its parents; return what takes its place.

        Raises Unreadable, and Malformed for an event of a higher `v`.
        """
        if not commit or tree is None:
            raise Unreadable(oid)
        before, time = parents_and_time(commit)
        parents = tuple(self.moved.get(parent, parent) for parent in before)
        held = [entry for entry in tree_entries(tree, self.form.digest_size) if entry[0][: ids.LENGTH] in self.forms]
        changed = self._without(oid, tree, files) if held else None
        if changed is None and parents == before:
            return self._placed(oid, parents, time)
        self._doomed[oid] = "commit"
        if parents == before:
            self.firsts.append(oid)
        if changed is not None:
            new_tree, inside = changed
            tree_oid = self._make("tree", new_tree)
            data, time = _spelt(tree_oid, parents[0], inside, time)
        elif len(parents) == 2:
            one, other = parents
            survivor = self._survivor(one, other)
            if survivor:
                self._collapsed = True
                self.moved[oid] = survivor
                return survivor
            data = objects.join_commit(self.form, [(one, self._times[one]), (other, self._times[other])])
            time = max(self._times[one], self._times[other])
        else:
            data = with_parents(commit, parents)
        new = self._make("commit", data)
        self.moved[oid] = new
        return self._placed(new, parents, time)

    def _placed(self, oid: str, parents: tuple[str, ...], time: int) -> str:
        if oid in self._parents:
            self._collapsed = True
        else:
            self._parents[oid] = parents
            self._times[oid] = time
            self._depths[oid] = 1 + max((self._depths[parent] for parent in parents), default=0)
        return oid

    def _survivor(self, one: str, other: str) -> str:
        """Return the one of two parents that the other one is below, or "": then they are to be joined (F24)."""
        if not self._collapsed:
            return ""  # every commit has a counterpart of its own, so they stand to each other as they stood
        if self._depths[one] > self._depths[other]:
            one, other = other, one
        return other if self.below(one, other) else ""

    def _make(self, kind: str, data: bytes) -> str:
        oid = self.form.oid(kind, data)
        if oid not in self._made and oid not in self._parents:
            self._made.add(oid)
            self.objects.append((kind, data))
        return oid

    def _without(
        self, oid: str, tree: bytes, files: Mapping[str, bytes | None]
    ) -> tuple[bytes, dict[str, bytes]] | None:
        """Return the tree without the texts that are to go, and what it holds; None where they are gone already."""
        entries = dict(tree_entries(tree, self.form.digest_size))
        inside: dict[str, bytes] = {}
        for name in entries:
            data = files.get(name)
            if data is None:
                raise Unreadable(oid)
            inside[name] = data
        gone: dict[str, str] = {}
        made: dict[str, bytes] = {}
        for name, data in inside.items():
            stem, suffix = name[: ids.LENGTH], name[ids.LENGTH :]
            wanted = self.forms.get(stem)
            if wanted is None or suffix == SIGNATURE_SUFFIX:
                continue
            stone = _stone(stem, data, inside.get(stem + SIGNATURE_SUFFIX), wanted, was=suffix)
            if stone == data:
                continue
            gone[name] = entries[name]
            if stem + SIGNATURE_SUFFIX in entries:
                gone[stem + SIGNATURE_SUFFIX] = entries[stem + SIGNATURE_SUFFIX]
            made[stem + TOMBSTONE_SUFFIX] = stone
            self.taken[stem] = events.parse_tombstone(stone).redacted
        if not gone:
            return None
        for blob in gone.values():
            self._doomed[blob] = "blob"
        self._doomed[self.form.oid("tree", tree)] = "tree"
        after = {name: entries[name] for name in entries if name not in gone}
        for name, data in made.items():
            after[name] = self._make("blob", data)
        left = {name: data for name, data in inside.items() if name not in gone} | made
        return objects.tree(after.items()), left


def _stone(event_id: str, data: bytes, signature: bytes | None, form: str, *, was: str) -> bytes:
    """Return what is to stand for the file `<event_id><was>`; `data` itself where nothing has to change."""
    if was == TOMBSTONE_SUFFIX:
        try:
            return events.hide(data, form) if form in REDACTION_MODES else data
        except events.Malformed:
            return data  # it is no tombstone: quarantined, and nobody can say what it stands for
    try:
        event = events.parse(data)
    except events.Malformed:
        return events.tombstone_of_bytes(event_id, data, signature=signature)
    if event.id != event_id:
        return events.tombstone_of_bytes(event_id, data, signature=signature)
    return events.tombstone(event, data, form if form in REDACTION_MODES else "plain", signature=signature)


def _spelt(tree_oid: str, parent: str, inside: Mapping[str, bytes], time: int) -> tuple[bytes, int]:
    """Return the commit of a tree that something was taken from, and its time.

    A function of what is left, so that it is the same in whatever order things were taken out. Of a commit without one
    readable event nobody can say how it should be spelt (F31); what a stranger wrote into its author and its
    message may be what had to go.
    """
    good = readable(inside)
    if good:
        return objects.event_commit(tree_oid, parent, good), min(
            (objects.order(event), objects.seconds(event.recorded_at)) for event in good
        )[1]
    stems = sorted({name[: ids.LENGTH] for name in inside})
    more = f" and {len(stems) - 1} more" if len(stems) > 1 else ""
    who = f"{events.NOBODY} {time} +0000"
    text = f"redacted ({ids.short(stems[0])}){more}"
    return f"tree {tree_oid}\nparent {parent}\nauthor {who}\ncommitter {who}\n\n{text}\n".encode(), time


def readable(files: Mapping[str, bytes | None]) -> list[Event]:
    """Return the events and tombstones among the files of a commit; what is quarantined for its bytes is left out."""
    found = []
    for name, data in files.items():
        stem, suffix = name[: ids.LENGTH], name[ids.LENGTH :]
        if suffix == SIGNATURE_SUFFIX or data is None:
            continue
        try:
            event = events.parse(data) if suffix == EVENT_SUFFIX else events.parse_tombstone(data)
        except events.Malformed:
            continue
        if event.id == stem and event.redacted != events.UNREADABLE:
            found.append(event)
    return found


def parents_and_time(commit: bytes) -> tuple[tuple[str, ...], int]:
    """Return the parents and the committer's time of a raw commit; 0 where it has none that we can read."""
    head = commit.partition(b"\n\n")[0].split(b"\n")
    parents = tuple(line[7:].decode("ascii", "replace") for line in head if line.startswith(b"parent "))
    digits = head[-1].rpartition(b" ")[0].rpartition(b" ")[2]
    return parents, int(digits) if digits.isdigit() and len(digits) <= TIME_DIGITS_MAX else 0


def with_parents(commit: bytes, parents: Sequence[str]) -> bytes:
    """Return a raw commit with other parents, as many as it had, and every other byte as it was."""
    lines = commit.split(b"\n", len(parents) + 1)
    return b"\n".join([lines[0], *(b"parent " + parent.encode() for parent in parents), lines[-1]])


# --- what a log says about what was taken out of it ------------------------------------------


class Redactions:
    """What a log holds of redactions: tombstones, and the events that say who took them out and why.

    stones    event id -> its tombstone, the one that hides most
    redacts   the `redact` events, and of each the commit that holds it
    """

    def __init__(self) -> None:
        self.stones: dict[str, Event] = {}
        self.redacts: dict[str, tuple[Event, str]] = {}

    def add(self, oid: str, files: Mapping[str, bytes | None]) -> None:
        """Take in the files of one commit; what is no event and no tombstone is passed over."""
        for name, data in files.items():
            stem, suffix = name[: ids.LENGTH], name[ids.LENGTH :]
            if data is None:
                continue
            if suffix == TOMBSTONE_SUFFIX:
                try:
                    stone = events.parse_tombstone(data)
                except events.Malformed:
                    continue
                if stone.id != stem:
                    continue
                known = self.stones.get(stem)
                if known is None or events.hides(stone.redacted) > events.hides(known.redacted):
                    self.stones[stem] = stone
                if stone.kind == "redact":
                    self.redacts[stem] = (stone, oid)
            elif suffix == EVENT_SUFFIX:
                if b'"kind":"redact"' not in data:
                    continue
                try:
                    event = events.parse(data)
                except events.Malformed:
                    continue
                if event.id == stem and event.kind == "redact" and not event.newer:
                    self.redacts[stem] = (event, oid)

    @property
    def forms(self) -> dict[str, str]:
        """What `Rewriting` takes: event id -> the form of its tombstone."""
        return {event_id: stone.redacted for event_id, stone in self.stones.items()}


def hidden_more(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    """Return the forms of both; where they differ, the one that hides more."""
    both = dict(one)
    for event_id, form in other.items():
        if event_id not in both or events.hides(form) > events.hides(both[event_id]):
            both[event_id] = form
    return both


def named(stones: Mapping[str, Event], redacts: Iterable[Event]) -> dict[str, set[str]]:
    """Return which tombstones each redact event answers for, by the event's id.

    By name, or, where it took out many, by their number and Merkle root: then its tombstones are those of events that
    were recorded before its date and that no other one names. An event that a person did not write answers for
    nothing (a redaction is a person's), nor does one whose form hides less than the tombstone does.
    """
    found: dict[str, set[str]] = {}
    many: list[Event] = []
    for redact in redacts:
        if redact.channel != "human":
            continue
        if "merkle_root" in redact.fields:
            many.append(redact)
            continue
        mode = str(redact.fields.get("mode", REDACTION_MODES[-1]))  # its own tombstone has lost it
        found[redact.id] = {
            target
            for target in redact.targets
            if target in stones and events.hides(stones[target].redacted) <= events.hides(mode)
        }
    many.sort(key=objects.order)
    by_name: set[str] = set().union(*found.values())
    taken = set(by_name)
    for redact in many:
        before = str(redact.fields.get("before", ""))
        old = {stone.id for stone in stones.values() if stone.recorded_at and stone.recorded_at < before}
        for candidates in (old - taken, old - by_name, old):
            count = redact.fields.get("count")
            if len(candidates) == count and merkle_root(candidates) == redact.fields["merkle_root"]:
                found[redact.id] = candidates
                taken |= candidates
                break
    return found


def merkle_root(event_ids: Iterable[str]) -> str:
    """Return the hash of the SHA-256 tree of RFC 6962, section 2.1, over ids as 32 raw bytes, ascending; in hex."""
    level = [digests.sha256(b"\0" + bytes.fromhex(one)).digest() for one in sorted(set(event_ids))]
    if not level:
        return digests.sha256(b"").hexdigest()
    # The tree splits at the largest power of two, which is pairing from the left, an odd last one going up alone.
    while len(level) > 1:
        paired = [digests.sha256(b"\1" + level[at] + level[at + 1]).digest() for at in range(0, len(level) - 1, 2)]
        level = paired + ([level[-1]] if len(level) % 2 else [])
    return level[0].hex()


# --- what a log was --------------------------------------------------------------------------


def was(form: ObjectFormat, commits: Sequence[Raw], wanted: str) -> bool:
    """Say whether a commit of this log had the oid `wanted` before something was taken out of the log (F27).

    Whoever remembered `wanted` did so in a log that knew some redactions and not others, namely those in its own
    ancestry. So for each set of redactions that any commit of this log knows, what all others took out is put back,
    and the oids are computed anew; the commits that know just that set are compared.
    """
    found = Redactions()
    for oid, _, _, files in commits:
        found.add(oid, files)
    if not found.stones:
        return False
    numbers = {event_id: 1 << at for at, event_id in enumerate(found.redacts)}
    masks: dict[str, int] = {}
    by_commit: dict[str, int] = {}
    for event_id, (_, oid) in found.redacts.items():
        by_commit[oid] = by_commit.get(oid, 0) | numbers[event_id]
    for oid, commit, _, _ in commits:
        mask = by_commit.get(oid, 0)
        for parent in parents_and_time(commit)[0]:
            mask |= masks.get(parent, 0)
        masks[oid] = mask
    answers = named(found.stones, [event for event, _ in found.redacts.values()])
    answered: set[str] = set().union(*answers.values())  # what no redaction answers for is not put back
    for mask in sorted(set(masks.values()), key=lambda one: -one.bit_count()):
        known: set[str] = set()
        for event_id, number in numbers.items():
            if mask & number:
                known |= answers.get(event_id, set())
        restored = answered - known
        if restored and any(old == wanted and masks[oid] == mask for oid, old in _restored(form, commits, restored)):
            return True
    return False


def _restored(form: ObjectFormat, commits: Iterable[Raw], wanted: set[str]) -> Iterator[tuple[str, str]]:
    """Yield (oid, the oid that it had while the events `wanted` were there) of each commit, parents first."""
    olds: dict[str, str] = {}
    times: dict[str, int] = {}
    for oid, commit, tree, files in commits:
        before, time = parents_and_time(commit)
        parents = [olds.get(parent, parent) for parent in before]
        times[oid] = time
        stones = []
        if tree:
            for name, _ in tree_entries(tree, form.digest_size):
                stem = name[: ids.LENGTH]
                if name[ids.LENGTH :] == TOMBSTONE_SUFFIX and stem in wanted:
                    try:
                        stones.append(events.parse_tombstone(files.get(name) or b""))
                    except events.Malformed:
                        continue
        if stones and tree:
            old_tree = objects.restored_tree(form, tree_entries(tree, form.digest_size), stones)
            tree_oid = form.oid("tree", old_tree)
            good = readable(files)
            if not good:
                continue  # what it was is not told by what is left; nothing above it is found either
            data = objects.event_commit(tree_oid, parents[0], good, restored={stone.id for stone in stones})
        elif tuple(parents) == before:
            yield oid, oid
            continue
        elif len(parents) == 2:
            pairs = [(parent, times.get(raw, 0)) for parent, raw in zip(parents, before, strict=True)]
            data = objects.join_commit(form, pairs)
        else:
            data = with_parents(commit, parents)
        olds[oid] = form.oid("commit", data)
        yield oid, olds[oid]
