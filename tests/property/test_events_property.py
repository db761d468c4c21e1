"""Laws of events: what is written is read again, nothing else is, and no bytes break the reader."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from strategies import authors, canonical_objects, changes, junk, texts, times, values
from strategies import events as event_fields
from strategies import ids as event_ids

from gitmem.core import canonical, characters, events, ids, objects, vocabulary


@given(event_fields)
def test_what_is_built_parses_to_the_same_event(fields):
    event, data = events.build(fields)
    again = events.parse(data)
    assert again.id == event.id == ids.of(data)
    assert again.fields == event.fields
    assert not again.newer and not again.redacted
    assert (again.kind, again.clock) == (fields["kind"], fields["clock"])


@given(event_fields)
def test_building_what_was_built_changes_nothing(fields):
    event, data = events.build(fields)
    assert events.build(event.fields)[1] == data


@given(event_fields, st.sampled_from(["mood", "zeal", "x-1", "A"]), values)
def test_unknown_fields_survive(fields, name, value):
    event, _ = events.build(fields)
    more = canonical.encode(event.fields | {name: value})
    again = events.parse(more)
    assert again.fields[name] == value
    assert canonical.encode(again.fields) == more
    assert again.id != event.id and not again.newer
    # and they don't act: all else is as without them
    assert [getattr(again, slot) for slot in _ATTRIBUTES] == [getattr(event, slot) for slot in _ATTRIBUTES]


_ATTRIBUTES = [slot for slot in events.Event.__slots__ if slot not in ("fields", "id")]


@given(event_fields, st.sampled_from(["wager", "dream", "tomorrow"]), st.integers(2, 9))
def test_what_a_newer_gitmem_wrote_is_kept_and_has_no_effect(fields, kind, version):
    event, _ = events.build(fields)
    for newer in (event.fields | {"kind": kind}, event.fields | {"v": version}):
        data = canonical.encode(newer)
        again = events.parse(data)
        assert again.newer and canonical.encode(again.fields) == data
        # *saw* runs through it, and its commit can be spelt
        assert (again.after, again.targets) == (event.after, event.targets)
        assert again.author == event.author and again.recorded_at == event.recorded_at
        assert objects.subject([again])
    assert not events.parse(canonical.encode(event.fields)).newer


@given(junk)
@example(b'{"a":' * 100_000)
@example(b"[" * 300_000)
@example(b'{"v":' + b"9" * 300_000 + b"}")
@example(b" " * 300_000)
def test_parse_is_total(data):
    for reader in (events.parse, events.parse_tombstone):
        try:
            event = reader(data)
        except events.Malformed as error:
            assert str(error)
        else:
            assert canonical.encode(event.fields) == data
            assert repr(event)


@given(event_fields, st.sampled_from(sorted(events.SHAPES)), values | st.floats(allow_nan=False) | st.integers())
def test_any_value_under_any_name_is_taken_or_malformed(fields, name, value):
    event, _ = events.build(fields)
    spelt = json.dumps(event.fields | {name: value}, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    try:
        again = events.parse(spelt.encode("utf-8", "surrogatepass"))
    except events.Malformed as error:
        assert str(error)
    else:
        assert again.fields[name] == value
        assert objects.subject([again]).isprintable() or not spelt.isascii()
    assert events.parse(canonical.encode(event.fields)).fields == event.fields


@given(event_fields, st.data())
def test_one_flipped_bit_never_parses_to_the_same_id(fields, data):
    event, whole = events.build(fields)
    at = data.draw(st.integers(0, len(whole) - 1))
    flipped = bytearray(whole)
    flipped[at] ^= 1 << data.draw(st.integers(0, 7))
    with contextlib.suppress(events.Malformed):
        assert events.parse(bytes(flipped)).id != event.id
    assert events.parse(whole).id == event.id


@given(event_fields, st.data())
def test_a_cut_event_is_malformed(fields, data):
    _, whole = events.build(fields)
    with pytest.raises(events.Malformed):
        events.parse(whole[: data.draw(st.integers(0, len(whole) - 1))])
    assert events.parse(whole)


# --- writing ----------------------------------------------------------------------------------


@given(changes, texts)
def test_no_control_gets_into_a_written_text(fields, text):
    given = {key: value for key, value in fields.items() if key != "source"} | {"reasoning": f"a{text}b"}
    try:
        written = events.build(given)[0].fields["reasoning"]
    except events.Malformed as error:
        assert "control character" in str(error)
        assert not characters.CONTROLS.isdisjoint(text.replace("\r", "\n"))
    else:
        assert characters.CONTROLS.isdisjoint(written)
        assert written == characters.nfc(written)
    # of what came from elsewhere nothing is refused for a control, and none gets in
    foreign = events.build(given | {"source": "git:1"})[0].fields["reasoning"]
    assert characters.CONTROLS.isdisjoint(foreign)


@given(changes, texts)
def test_a_written_field_is_one_line(fields, text):
    try:
        event, _ = events.build(fields | {"approach": f"a{text}b"})
    except events.Malformed as error:
        assert str(error).startswith("approach: ")
    else:
        assert not set(event.approach) & set("\n\r\t\v\f\u2028\u2029")
        assert event.approach == event.approach.strip(characters.BLANKS)


@given(texts | authors)
def test_an_author_is_cleaned_once(text):
    clean = characters.nfc(events.clean_author(text))
    assert events.clean_author(clean) == clean == characters.nfc(clean)
    name, opened, address = clean.partition(" <")
    assert opened and name.strip() and address.endswith(">") and len(address) > 1
    assert clean.count("<") == clean.count(">") == 1
    assert characters.INVISIBLE.isdisjoint(clean) and "\n" not in clean
    assert not set(address) & set(characters.BLANKS)


@given(st.sampled_from(["Ada", "Ü\u0308n", "a b"]), st.sampled_from(["ada@example.org", "ü@x"]))
def test_a_clean_author_stays_as_it_is(name, address):
    assert events.clean_author(f"{name} <{address}>") == f"{name} <{address}>"


# --- derived events ----------------------------------------------------------------------------


@given(st.lists(event_ids, max_size=4, unique=True), times, texts, st.randoms())
def test_a_derived_nonce_asks_for_the_set_of_inputs_only(inputs, moment, policy, chance):
    shuffled = list(inputs)
    chance.shuffle(shuffled)
    nonce = events.derived_nonce("sleep", policy, moment, inputs)
    assert nonce == events.derived_nonce("sleep", policy, moment, shuffled)
    assert len(nonce) == 32 and ids.is_id(nonce * 2)
    assert nonce != events.derived_nonce("lesson", policy, moment, inputs)
    assert nonce != events.derived_nonce("sleep", policy + ".", moment, inputs)


# --- tombstones ---------------------------------------------------------------------------------

forms = st.sampled_from(vocabulary.REDACTION_MODES)


@given(event_fields, forms)
def test_a_tombstone_keeps_the_structure_and_nothing_else(fields, form):
    event, data = events.build(fields)
    stone = events.parse_tombstone(events.tombstone(event, data, form))
    assert stone.id == event.id and stone.redacted == form and not stone.newer
    assert (stone.after, stone.supersedes, stone.targets) == (event.after, event.supersedes, event.targets)
    for name in (
        "clock",
        "kind",
        "change_type",
        "action",
        "author",
        "channel",
        "basis",
        "effect",
        "recorded_at",
        "source",
    ):
        assert getattr(stone, name) == getattr(event, name)
    assert stone.approach == ("" if form != "plain" else event.approach)
    assert stone.entity_path == ("" if form == "entity" else event.entity_path)
    assert stone.renamed_from == ("" if form == "entity" else event.renamed_from)
    assert stone.fields.get("renames") == (None if form == "entity" else event.fields.get("renames"))
    for name in (
        "nonce",
        "reasoning",
        "reason",
        "diff",
        "instead",
        "fingerprint",
        "patterns",
        "evidence",
        "tags",
        "base",
    ):
        assert name not in stone.fields


@given(event_fields, forms, forms)
def test_redactions_of_one_event_commute_and_the_more_hidden_wins(fields, one, other):
    event, data = events.build(fields)
    plain, first = events.tombstone(event, data, "plain"), events.tombstone(event, data, one)
    both = max(one, other, key=vocabulary.REDACTION_MODES.index)
    assert events.hide(plain, one) == first
    assert events.hide(first, other) == events.hide(events.tombstone(event, data, other), one)
    assert events.hide(first, other) == events.tombstone(event, data, both)
    assert events.hide(first, one) == first


@given(event_fields, st.sampled_from(["reasoning", "nonce", "mood", "diff"]), values)
def test_a_tombstone_with_anything_more_is_none(fields, name, value):
    event, data = events.build(fields)
    stone = events.tombstone(event, data, "plain")
    with pytest.raises(events.Malformed):
        events.parse_tombstone(canonical.encode(json.loads(stone) | {name: value}))
    assert events.parse_tombstone(stone).id == event.id


@given(st.lists(event_fields, min_size=1, max_size=3), st.data(), st.sampled_from([objects.SHA1, objects.SHA256]))
def test_a_commit_as_it_was_comes_out_of_its_tombstones(several, data, form):
    built = [events.build(fields) for fields in several]
    assume(len({event.id for event, _ in built}) == len(built))
    signature = b"-----BEGIN SSH SIGNATURE-----\n"

    def commit(files: dict[str, bytes], found: list[events.Event]) -> tuple[list[tuple[str, str]], bytes]:
        entries = [(name, form.oid("blob", content)) for name, content in files.items()]
        return entries, objects.event_commit(form.oid("tree", objects.tree(entries)), form.root, found)

    files = {event.id + ".json": content for event, content in built}
    files[built[0][0].id + ".sig"] = signature
    _, before = commit(files, [event for event, _ in built])

    gone = set(data.draw(st.lists(st.sampled_from(range(len(built))), min_size=1, unique=True)))
    how = data.draw(st.sampled_from(["plain", "approach"]))
    left, stones = [], []
    for at, (event, content) in enumerate(built):
        if at not in gone:
            left.append(event)
            continue
        del files[event.id + ".json"]
        signed = files.pop(event.id + ".sig", None)
        files[event.id + ".redacted"] = stone = events.tombstone(event, content, how, signature=signed)
        stones.append(events.parse_tombstone(stone))
    entries, after = commit(files, left + stones)
    assert after != before
    tree = objects.restored_tree(form, entries, stones)
    again = objects.event_commit(
        form.oid("tree", tree), form.root, left + stones, restored={stone.id for stone in stones}
    )
    assert again == before


# --- objects ------------------------------------------------------------------------------------


@given(st.lists(event_fields, min_size=1, max_size=3), st.randoms())
def test_a_commit_does_not_depend_on_the_order_in_which_its_events_are_given(several, chance):
    built = [events.build(fields)[0] for fields in several]
    shuffled = list(built)
    chance.shuffle(shuffled)
    tree = objects.SHA1.empty_tree
    data = objects.event_commit(tree, objects.SHA1.root, built)
    assert objects.event_commit(tree, objects.SHA1.root, shuffled) == data
    header, _, message = data.decode().partition("\n\n")
    lines = header.split("\n")
    assert [line.split(" ")[0] for line in lines] == ["tree", "parent", "author", "committer"]
    assert lines[2].removeprefix("author") == lines[3].removeprefix("committer")
    assert message.endswith("\n") and message.count("\n") == 1
    assert characters.INVISIBLE.isdisjoint(message[:-1])


@given(times)
def test_seconds_are_posix_time(time):
    when = datetime.datetime.strptime(time, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.UTC)
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    assert objects.seconds(time) == (when - epoch) // datetime.timedelta(seconds=1)


@given(st.text("0123456789abcdef", min_size=40, max_size=40), st.text("0123456789abcdef", min_size=40, max_size=40))
def test_a_join_does_not_depend_on_who_makes_it(one, other):
    there = objects.join_commit(objects.SHA1, [(one, 5), (other, 7)])
    assert there == objects.join_commit(objects.SHA1, [(other, 7), (one, 5)])
    assert b" 7 +0000" in there


@given(canonical_objects)
def test_oids_are_those_of_git(value):
    data = canonical.encode(value)
    assert objects.SHA1.oid("blob", data) == hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    assert objects.SHA256.oid("blob", data) == hashlib.sha256(b"blob %d\0" % len(data) + data).hexdigest()
