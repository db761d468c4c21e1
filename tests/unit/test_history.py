"""The everyday commit is checked in one comparison; whatever is not quite one is told as ever."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gitmem.core import events, objects
from gitmem.core.history import Checker, Entry

FORM = objects.SHA1


def event(**more: object) -> tuple[events.Event, bytes]:
    return events.build(
        {
            "v": 1,
            "kind": "change",
            "clock": 1,
            "nonce": "0" * 32,
            "recorded_at": "2026-11-30T12:00:00.000000Z",
            "author": "Ada <ada@example.org>",
            "after": [],
            "scope": "",
            "channel": "human",
            "basis": "person",
            "tool": "test/1",
            "entity_path": "users.email",
            "entity_type": "column",
            "change_type": "add",
            "reasoning": "Customers sign in with it.",
            **more,
        }
    )


class Commit:
    """A commit of one event on the root, as the log stores it; a case changes what it likes."""

    def __init__(self, **more: object) -> None:
        self.event, self.body = event(**more)
        self.name = self.event.id + ".json"
        self.tree = objects.tree([(self.name, FORM.oid("blob", self.body))])
        self.data = objects.event_commit(FORM.oid("tree", self.tree), FORM.root, [self.event])

    def checked(self, how: type[Checker] = Checker) -> tuple[Entry | None, list[tuple[str, str, str]]]:
        checker = how(FORM)
        assert checker.add(FORM.root, FORM.root_data, b"", {}) is not None
        entry = checker.add(FORM.oid("commit", self.data), self.data, self.tree, {self.name: self.body})
        return entry, [(one.rule, one.message, one.severity) for one in checker.finish()]


class Careful(Checker):
    """A checker that looks at each part of each commit."""

    def _everyday(self, *_: object) -> None:
        return None


def described(entry: Entry | None) -> object:
    if entry is None:
        return None
    found = [(one.id, body) for one, body in entry.events]
    return (entry.oid, entry.parents, entry.clock, entry.time, found, entry.signatures)


def test_it_is_the_same_entry_in_one_comparison_as_part_by_part():
    one = Commit()
    entry, findings = one.checked()
    careful, same = one.checked(Careful)
    assert (described(entry), findings) == (described(careful), same)
    assert entry is not None and findings == []


def _data(change: Callable[[bytes], bytes]) -> Commit:
    one = Commit()
    one.data = change(one.data)
    return one


def _named(name: str) -> Commit:
    one = Commit()
    one.tree = objects.tree([(name, FORM.oid("blob", one.body))])
    one.name, one.data = name, objects.event_commit(FORM.oid("tree", one.tree), FORM.root, [one.event])
    return one


@pytest.mark.parametrize(
    ("one", "rule"),
    [
        (_data(lambda data: data.replace(b"Ada", b"Bob")), "commit-form"),
        (_data(lambda data: data.replace(b"add users.email", b"add users.phone")), "commit-form"),
        (_data(lambda data: data.replace(b"+0000", b"+0100")), "commit-form"),
        (_data(lambda data: data.replace(b"\ncommitter", b"\nencoding x\ncommitter")), "commit-form"),
        (_data(lambda data: data.replace(b"\nauthor", b"\nparent " + b"1" * 40 + b"\nauthor", 1)), "missing-object"),
        (_data(lambda data: data.replace(FORM.root.encode(), b"2" * 40)), "missing-object"),
        (_data(lambda data: data[:30]), "commit-form"),
        (Commit(clock=2), "event-clock"),
        (Commit(after=["a" * 64]), "reference"),
        (_named("b" * 64 + ".json"), "event-name"),
        (_named("b" * 64 + ".redacted"), "event-malformed"),
        (_named("notes.txt"), "tree-form"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_quite_one_is_told_as_ever(one, rule):
    entry, findings = one.checked()
    careful, same = one.checked(Careful)
    assert (described(entry), findings) == (described(careful), same)
    assert [found[0] for found in findings] == [rule]


def test_a_mode_or_a_body_that_is_no_event_is_seen():
    one = Commit()
    one.tree = one.tree.replace(b"100644", b"100755")
    assert [found[0] for found in one.checked()[1]] == ["tree-form"]
    other = Commit()
    other.body = other.body[:-1]
    assert [found[0] for found in other.checked()[1]] == ["event-malformed"]
