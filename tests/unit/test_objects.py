"""Raw objects of the log, by example; oids, and what git thinks of them, are in tests/golden."""

from __future__ import annotations

import hashlib

import pytest

from gitmem.core import events, objects


def event(clock: int = 1, **fields: object) -> events.Event:
    common = {
        "v": 1,
        "kind": "change",
        "clock": clock,
        "nonce": f"{clock:032x}",
        "recorded_at": "2026-11-30T12:00:00.000000Z",
        "author": "Ada <ada@example.org>",
        "after": [],
        "scope": "",
        "channel": "human",
        "basis": "person",
        "tool": "gitmem",
    }
    if fields.get("kind", "change") == "change":
        common |= {"entity_path": "users.email", "entity_type": "column", "change_type": "add", "reasoning": "Why."}
    return events.build(common | fields)[0]


def test_the_root_is_made_of_constants():
    assert objects.SHA1.root_data == (
        b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
        b"author gitmem <gitmem@gitmem.invalid> 0 +0000\n"
        b"committer gitmem <gitmem@gitmem.invalid> 0 +0000\n"
        b"\n"
        b"root of the decision log, format 1\n"
    )
    for form, hashed in ((objects.SHA1, hashlib.sha1), (objects.SHA256, hashlib.sha256)):
        data = form.root_data
        assert form.root == hashed(b"commit %d\0" % len(data) + data).hexdigest()
        assert form.empty_tree == hashed(b"tree 0\0").hexdigest()
        assert form.zeros == "0" * form.hex_size and len(form.root) == form.hex_size
    assert objects.object_format("sha256") is objects.SHA256
    assert objects.object_format("sha1") is objects.SHA1


def test_a_tree_is_sorted_by_name_whatever_order_it_is_given_in():
    entries = [("b" * 64 + ".json", "1" * 40), ("a" * 64 + ".sig", "2" * 40), ("a" * 64 + ".json", "3" * 40)]
    data = objects.tree(entries)
    assert data == objects.tree(reversed(entries))
    assert data.startswith(b"100644 " + b"a" * 64 + b".json\0" + bytes.fromhex("3" * 40))
    assert objects.tree([]) == b""


def test_author_and_time_of_a_commit_come_from_its_first_event():
    first = event(1, author="Ünï Cöde <u@example.org>", recorded_at="2026-11-30T11:59:59.999999Z")
    second = event(2)
    data = objects.event_commit("1" * 40, "2" * 40, [second, first]).decode()
    assert data == (
        f"tree {'1' * 40}\nparent {'2' * 40}\n"
        "author Ünï Cöde <u@example.org> 1796039999 +0000\n"
        "committer Ünï Cöde <u@example.org> 1796039999 +0000\n"
        f"\nadd users.email ({first.id[:8]}) and 1 more\n"
    )


def test_events_of_one_clock_are_ordered_by_id():
    one, other = event(1), event(1, nonce="f" * 32, author="Bob <bob@example.org>")
    first = min((one, other), key=lambda each: each.id)
    data = objects.event_commit("1" * 40, "2" * 40, [one, other])
    assert f"author {first.author} ".encode() in data
    assert f"({first.id[:8]}) and 1 more".encode() in data


@pytest.mark.parametrize(
    ("fields", "subject"),
    [
        ({}, "add users.email (ID)"),
        ({"entity_path": "Grüße/世界"}, "add Grüße/世界 (ID)"),
        ({"kind": "link", "how": "head", "commit": "c" * 40, "targets": ["a" * 64]}, "link cccccccccccc (ID)"),
        ({"kind": "review", "action": "ratify", "targets": ["a" * 64], "reason": "Yes."}, "ratify aaaaaaaa (ID)"),
        (
            {"kind": "mark", "action": "seal", "targets": [c * 64 for c in "abcde"], "reason": "Old."},
            "seal aaaaaaaa bbbbbbbb cccccccc and 2 more (ID)",
        ),
        ({"kind": "override", "targets": ["a" * 64], "reason": "Once."}, "override aaaaaaaa (ID)"),
        (
            {"kind": "redact", "targets": ["a" * 64], "reason": "A key.", "mode": "plain", "old_tip": "c" * 40},
            "redact aaaaaaaa (ID)",
        ),
        (
            {"kind": "redact", "merkle_root": "a" * 64, "reason": "Old.", "mode": "plain", "old_tip": "c" * 40},
            "redact (ID)",
        ),
    ],
)
def test_a_subject_says_structure_only(fields, subject):
    made = event(**fields)
    assert objects.subject([made]) == subject.replace("ID", made.id[:8])
    for name in ("reasoning", "reason", "approach"):
        assert str(made.fields.get(name, "Why.")) not in objects.subject([made])


def test_a_redacted_event_gives_its_subject_up_and_keeps_its_place():
    made = event(1, approach="a token in our table")
    data = events.canonical.encode(made.fields)
    stone = events.parse_tombstone(events.tombstone(made, data, "entity"))
    assert objects.subject([stone]) == f"redacted ({made.id[:8]})"
    after = objects.event_commit("1" * 40, "2" * 40, [stone, event(2)]).decode()
    before = objects.event_commit("1" * 40, "2" * 40, [made, event(2)]).decode()
    assert after.splitlines()[:-1] == before.splitlines()[:-1]
    assert "users.email" in before and "users.email" not in after


def test_a_tree_as_it_was_holds_blob_and_signature_again():
    made = event(1)
    data, signature = events.canonical.encode(made.fields), b"a signature\n"
    stone = events.tombstone(made, data, "plain", signature=signature)
    for form in (objects.SHA1, objects.SHA256):
        now = [(made.id + ".redacted", form.oid("blob", stone))]
        was = [(made.id + ".json", form.oid("blob", data)), (made.id + ".sig", form.oid("blob", signature))]
        assert objects.restored_tree(form, now, [events.parse_tombstone(stone)]) == objects.tree(was)
        assert objects.restored_tree(form, now, []) == objects.tree(now)


def test_a_join_is_made_of_its_two_parents_alone():
    one, other = ("b" * 40, 1_700_000_000), ("a" * 40, 1_600_000_000)
    data = objects.join_commit(objects.SHA1, [one, other])
    assert data == objects.join_commit(objects.SHA1, [other, one])
    assert data.decode() == (
        f"tree {objects.SHA1.empty_tree}\nparent {'a' * 40}\nparent {'b' * 40}\n"
        "author gitmem <gitmem@gitmem.invalid> 1700000000 +0000\n"
        "committer gitmem <gitmem@gitmem.invalid> 1700000000 +0000\n"
        "\njoin\n"
    )


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        ("1970-01-01T00:00:00.000000Z", 0),
        ("1970-01-01T00:00:00.999999Z", 0),
        ("2000-02-29T12:34:56.000000Z", 951827696),
        ("2038-01-19T03:14:08.000000Z", 2147483648),
        ("9999-12-31T23:59:59.999999Z", 253402300799),
    ],
)
def test_seconds_of_a_time(time, seconds):
    assert objects.seconds(time) == seconds
