"""What a log becomes when events are taken out, and what it was before: a function of bytes."""

from __future__ import annotations

import hashlib
import random

import pytest

from gitmem.core import events, objects
from gitmem.core.history import Checker
from gitmem.core.objects import SHA1, SHA256, ObjectFormat
from gitmem.core.rewriting import (
    Redactions,
    Rewriting,
    Unreadable,
    hidden_more,
    merkle_root,
    named,
    parents_and_time,
    was,
    with_parents,
)

Raw = tuple[str, bytes, bytes, dict[str, bytes]]


class World:
    """A log in memory: commits by oid, in the order in which they were made."""

    def __init__(self, form: ObjectFormat = SHA1) -> None:
        self.form = form
        self.commits: dict[str, Raw] = {form.root: (form.root, form.root_data, b"", {})}
        self.clock: dict[str, int] = {form.root: 0}
        self.number = 0

    def event(self, parent: str, **fields: object) -> tuple[str, str]:
        """Append an event on `parent`; return (commit, event id)."""
        self.number += 1
        self.clock_of = self.clock[parent] + 1
        usual: dict[str, object] = {
            "v": 1,
            "kind": "change",
            "clock": self.clock_of,
            "nonce": f"{self.number:032x}",
            "recorded_at": f"2026-01-02T03:{self.number // 60 % 60:02}:{self.number % 60:02}.000000Z",
            "author": "Ada Lovelace <ada@example.org>",
            "after": [],
            "scope": "",
            "channel": "human",
            "basis": "person",
            "tool": "test",
        }
        if fields.get("kind") is None:
            usual |= {
                "entity_path": f"users.c{self.number}",
                "entity_type": "column",
                "change_type": "add",
                "approach": f"way {self.number}",
                "reasoning": f"because {self.number}",
            }
        event, data = events.build(usual | {k: v for k, v in fields.items() if k != "signature"})
        files = {event.id + ".json": data}
        if "signature" in fields:
            files[event.id + ".sig"] = bytes(str(fields["signature"]), "ascii")
        return self.put(parent, files, [event]), event.id

    def put(self, parent: str, files: dict[str, bytes], found: list[events.Event], raw: bytes | None = None) -> str:
        form = self.form
        tree = objects.tree([(name, form.oid("blob", data)) for name, data in files.items()])
        commit = raw or objects.event_commit(form.oid("tree", tree), parent, found)
        commit = commit.replace(b"TREE", form.oid("tree", tree).encode())
        oid = form.oid("commit", commit)
        self.commits[oid] = (oid, commit, tree, files)
        self.clock[oid] = max([self.clock[parent], *(event.clock for event in found)])
        return oid

    def join(self, one: str, other: str) -> str:
        form = self.form
        pairs = [(oid, parents_and_time(self.commits[oid][1])[1]) for oid in (one, other)]
        commit = objects.join_commit(form, pairs)
        oid = form.oid("commit", commit)
        self.commits[oid] = (oid, commit, b"", {})
        self.clock[oid] = max(self.clock[one], self.clock[other])
        return oid

    def walk(self, tip: str) -> list[Raw]:
        wanted, waiting = {tip}, [tip]
        while waiting:
            for parent in parents_and_time(self.commits[waiting.pop()][1])[0]:
                if parent not in wanted:
                    wanted.add(parent)
                    waiting.append(parent)
        return [raw for oid, raw in self.commits.items() if oid in wanted]

    def rewritten(self, tip: str, forms: dict[str, str]) -> tuple[Rewriting, str]:
        """Rewrite the log and take the result in; return it, and its tip."""
        work = Rewriting(self.form, forms)
        for raw in self.walk(tip):
            work.add(*raw)
        made = {self.form.oid(kind, data): (kind, data) for kind, data in work.objects}
        stored = {self.form.oid("blob", data): data for raw in self.commits.values() for data in raw[3].values()}
        stored |= {oid: data for oid, (kind, data) in made.items() if kind == "blob"}
        trees = {self.form.oid("tree", raw[2]): raw[2] for raw in self.commits.values()}
        trees |= {oid: data for oid, (kind, data) in made.items() if kind == "tree"}
        from gitmem.core.history import tree_entries

        for oid, (kind, data) in made.items():
            if kind == "commit":
                tree = trees[data[5 : 5 + self.form.hex_size].decode()]
                files = {name: stored[blob] for name, blob in tree_entries(tree, self.form.digest_size)}
                self.commits[oid] = (oid, data, tree, files)
                self.clock[oid] = 0
        self._clocks()
        return work, work.at(tip)

    def _clocks(self) -> None:
        for oid, commit, _, files in self.commits.values():
            here = [e.clock for e in _events(files)]
            below = [self.clock.get(p, 0) for p in parents_and_time(commit)[0]]
            self.clock[oid] = max([*here, *below], default=0)

    def findings(self, tip: str) -> list[str]:
        checker = Checker(self.form)
        for oid, commit, tree, files in self.walk(tip):
            checker.add(oid, commit, tree, dict(files))
        return [finding.rule for finding in checker.finish()]


def _events(files):
    from gitmem.core.rewriting import readable

    return readable(files)


@pytest.fixture(params=[SHA1, SHA256], ids=["sha1", "sha256"])
def world(request):
    return World(request.param)


def line(world: World, length: int, parent: str | None = None) -> tuple[str, list[str]]:
    tip, ids = parent or world.form.root, []
    for _ in range(length):
        tip, event_id = world.event(tip)
        ids.append(event_id)
    return tip, ids


def test_only_commits_from_the_event_on_change_and_all_events_stay(world):
    tip, ids = line(world, 6)
    work, new = world.rewritten(tip, {ids[3]: "plain"})
    assert len(work.moved) == 3 and work.taken == {ids[3]: "plain"} and len(work.firsts) == 1
    assert sorted(kind for kind in work.doomed.values()) == ["blob", "commit", "commit", "commit", "tree"]
    names = {name for raw in world.walk(new) for name in raw[3]}
    assert names == {f"{one}.json" for one in ids if one != ids[3]} | {f"{ids[3]}.redacted"}
    assert world.findings(new) == []
    assert all(f"because {4}".encode() not in b"".join(raw[3].values()) for raw in world.walk(new))


def test_a_signature_goes_with_its_event(world):
    tip, _ = line(world, 1)
    tip, signed = world.event(tip, signature="sig")
    work, new = world.rewritten(tip, {signed: "plain"})
    assert list(world.commits[new][3]) == [f"{signed}.redacted"]
    assert sorted(work.doomed.values()) == ["blob", "blob", "commit", "tree"]
    assert was(world.form, world.walk(new), tip) is False  # nobody answers for it


def test_a_join_above_sorts_its_parents_anew(world):
    base, ids = line(world, 2)
    for _ in range(8):
        one, _ = world.event(base)
        other, _ = world.event(base)
        joined = world.join(one, other)
        _, new = world.rewritten(joined, {ids[0]: "plain"})
        parents, _ = parents_and_time(world.commits[new][1])
        assert list(parents) == sorted(parents) and len(parents) == 2
        assert world.findings(new) == []


def test_rewriting_again_changes_nothing(world):
    tip, ids = line(world, 4)
    _, new = world.rewritten(tip, {ids[1]: "plain"})
    work, again = world.rewritten(new, {ids[1]: "plain"})
    assert again == new and not work.moved and not work.doomed and not work.objects
    _, more = world.rewritten(new, {ids[1]: "approach"})
    assert more != new
    assert world.rewritten(more, {ids[1]: "plain"})[1] == more


def test_redactions_commute(world):
    tip, ids = line(world, 5)
    one = world.rewritten(world.rewritten(tip, {ids[1]: "plain"})[1], {ids[3]: "entity"})[1]
    other = world.rewritten(world.rewritten(tip, {ids[3]: "entity"})[1], {ids[1]: "plain"})[1]
    assert one == other == world.rewritten(tip, {ids[1]: "plain", ids[3]: "entity"})[1]


def test_a_log_that_still_had_the_event_falls_together_with_one_that_had_not(world):
    base, ids = line(world, 4)
    late, kept = world.event(base)
    _, clean = world.rewritten(base, {ids[1]: "plain"})
    clean, redact = world.event(clean)
    stale = world.join(clean, late)
    assert "redacted-present" in world.findings(stale)
    _, new = world.rewritten(stale, {ids[1]: "plain"})
    assert world.findings(new) == []
    names = [name for raw in world.walk(new) for name in raw[3]]
    assert len(names) == len(set(names)) and f"{ids[1]}.json" not in names
    assert f"{kept}.json" in names and f"{redact}.json" in names
    # joined with nothing of its own, the stale log leaves no join behind
    assert world.rewritten(world.join(clean, base), {ids[1]: "plain"})[1] == clean


def test_a_file_that_is_no_event_is_taken_out_with_whatever_its_commit_says(world):
    tip, _ = line(world, 1)
    raw = f"tree TREE\nparent {tip}\nauthor Spy <s@x> 7 +0000\ncommitter Spy <s@x> 7 +0000\n\nsecret\n".encode()
    odd = world.put(tip, {"ab" * 32 + ".json": b"a secret"}, [], raw)
    top, _ = world.event(odd)
    assert world.findings(top) == ["event-malformed"]
    work, new = world.rewritten(top, {"ab" * 32: "plain"})
    assert work.taken == {"ab" * 32: "unreadable"} and world.findings(new) == []
    assert all(b"secret" not in raw[1] + b"".join(raw[3].values()) for raw in world.walk(new))
    assert world.rewritten(new, {"ab" * 32: "entity"})[1] == new


def test_an_event_of_a_higher_version_is_not_redacted(world):
    tip, _ = line(world, 1)
    from gitmem.core import canonical, ids

    data = canonical.encode(
        {"v": 2, "kind": "dream", "clock": 2, "recorded_at": "2026-01-02T03:00:00.000000Z", "author": "A <a@b>",
         "after": []}
    )  # fmt: skip
    event = events.parse(data)
    top = world.put(tip, {ids.of(data) + ".json": data}, [event])
    with pytest.raises(events.Malformed):
        world.rewritten(top, {event.id: "plain"})


def test_an_object_that_is_not_here_stops_it(world):
    tip, ids = line(world, 2)
    work = Rewriting(world.form, {ids[1]: "plain"})
    for oid, commit, tree, files in world.walk(tip)[:-1]:
        work.add(oid, commit, tree, files)
    oid, commit, tree, files = world.walk(tip)[-1]
    with pytest.raises(Unreadable):
        work.add(oid, commit, tree, dict.fromkeys(files))
    with pytest.raises(Unreadable):
        work.add(oid, b"", None, {})


def redact_event(world: World, parent: str, targets: list[str], old: str, mode: str = "plain", **fields: object):
    fields = {"kind": "redact", "targets": sorted(targets), "reason": "x", "mode": mode, "old_tip": old, **fields}
    return world.event(parent, **fields)


def test_old_tips_are_computed_from_the_log_alone_whichever_redactions_they_knew(world):
    rng = random.Random(7)
    proved = 0
    for _ in range(12):
        ids: list[str] = []
        tip = world.form.root
        seen: list[str] = []
        for _ in range(14):
            what = rng.random()
            if what < 0.55 or not ids:
                tip, made = world.event(tip)
                ids.append(made)
            elif what < 0.7:
                side, made = world.event(rng.choice([tip, tip]))
                tip, other = world.event(tip)
                ids += [made, other]
                tip = world.join(side, tip)
            else:
                gone = rng.choice(ids)
                ids.remove(gone)
                old = tip
                mode = rng.choice(["plain", "approach"])
                _, tip = world.rewritten(tip, {gone: mode})
                tip, _ = redact_event(world, tip, [gone], old, mode)
            seen.append(tip)
        commits = world.walk(tip)
        for one in seen:
            below = {raw[0] for raw in commits}
            assert one in below or was(world.form, commits, one)
            proved += one not in below
        assert not was(world.form, commits, "0" * world.form.hex_size)
    assert proved


def test_two_clones_redact_two_events_and_tips_of_either_are_proved(world):
    base, ids = line(world, 5)
    found = []
    for gone in (ids[1], ids[3]):
        _, tip = world.rewritten(base, {gone: "plain"})
        tip, _ = redact_event(world, tip, [gone], base)
        found.append(tip)
    both = {ids[1]: "plain", ids[3]: "plain"}
    ends = [world.rewritten(tip, both)[1] for tip in found]
    tip = world.join(*ends)
    commits = world.walk(tip)
    assert world.findings(tip) == []
    assert all(was(world.form, commits, one) for one in (base, *found))


def test_a_redact_event_answers_by_name_if_a_person_wrote_it_and_it_hides_enough(world):
    tip, ids = line(world, 3)
    for mode, channel, form, answers in (
        ("plain", "human", "plain", True),
        ("plain", "agent", "plain", False),
        ("plain", "human", "approach", False),
        ("entity", "human", "approach", True),
    ):
        _, new = world.rewritten(tip, {ids[1]: form})
        basis = "person" if channel == "human" else "none"
        new, redact = redact_event(world, new, [ids[1]], tip, mode, channel=channel, basis=basis)
        found = Redactions()
        for raw in world.walk(new):
            found.add(raw[0], raw[3])
        given = named(found.stones, [event for event, _ in found.redacts.values()])
        assert (ids[1] in given.get(redact, ())) is answers


def test_a_redact_event_answers_for_many_by_their_root(world):
    tip, ids = line(world, 6)
    gone = ids[:4]
    forms = dict.fromkeys(gone, "plain")
    _, new = world.rewritten(tip, forms)
    many = {"count": 4, "merkle_root": merkle_root(gone), "before": "2027-01-01T00:00:00.000000Z"}
    new, redact = redact_event(world, new, [], tip, **many)
    found = Redactions()
    for raw in world.walk(new):
        found.add(raw[0], raw[3])
    assert named(found.stones, [event for event, _ in found.redacts.values()]) == {redact: set(gone)}
    assert was(world.form, world.walk(new), tip)
    del found.stones[gone[0]]
    assert named(found.stones, [event for event, _ in found.redacts.values()]) == {}


def test_the_root_of_many_is_that_of_rfc_6962():
    leaf = [hashlib.sha256(b"\0" + bytes([n]) * 32).digest() for n in range(7)]
    ids = [f"{n:02x}" * 32 for n in range(7)]

    def tree(leaves: list[bytes]) -> bytes:  # the definition of the RFC, with its split
        if len(leaves) == 1:
            return leaves[0]
        k = 1
        while k * 2 < len(leaves):
            k *= 2
        return hashlib.sha256(b"\1" + tree(leaves[:k]) + tree(leaves[k:])).digest()

    assert merkle_root([]) == hashlib.sha256(b"").hexdigest()
    for count in range(1, 8):
        assert merkle_root(reversed(ids[:count])) == tree(leaf[:count]).hex()


def test_the_form_that_hides_more_wins():
    assert hidden_more({"a": "plain", "b": "entity"}, {"a": "approach", "b": "plain", "c": "plain"}) == {
        "a": "approach",
        "b": "entity",
        "c": "plain",
    }


def test_parents_are_replaced_and_no_other_byte():
    raw = b"tree t\nparent a\nparent b\nauthor A\ncommitter A 1 +0000\n\nparent x\n"
    assert with_parents(raw, ["1", "2"]) == raw.replace(b"parent a\nparent b", b"parent 1\nparent 2")
    assert with_parents(b"tree t\nauthor A\n", []) == b"tree t\nauthor A\n"
