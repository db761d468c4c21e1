"""What every log does, in memory, through git's programs and through libgit2, on every kind of repository."""

from __future__ import annotations

import pytest
from contract.chains import Piece, entry, event, join, line, of_files, of_tree, root, stored_of
from contract.conftest import World

from gitmem.core import objects
from gitmem.errors import GitFailed
from gitmem.store.log import OBJECT_MAX, TipMoved


def test_without_a_log_there_is_no_tip_and_the_first_append_makes_both(world: World) -> None:
    assert world.log.tip() is None

    piece = entry(world.form, world.form.root)
    world.log.publish(stored_of([root(world.form), piece]), piece.oid, None, "append")

    assert world.log.tip() == piece.oid
    assert world.again().tip() == piece.oid
    assert oids(world) == [world.form.root, piece.oid]


def test_a_walk_gives_back_the_very_bytes_parents_first(world: World) -> None:
    pieces = grow(world, 3)
    found = list(world.log.walk(pieces[-1].oid))
    assert [stored.oid for stored in found] == [piece.oid for piece in pieces]
    for stored, piece in zip(found, pieces, strict=True):
        assert stored.commit == piece.commit
        assert stored.tree == piece.tree
        assert stored.files == piece.files
        assert stored.parents == piece.parents
        assert (stored.missing, stored.damaged) == ((), ())


def test_a_walk_shows_each_commit_of_a_joined_history_once_and_after_its_parents(world: World) -> None:
    pieces = forked(world)
    found = list(world.log.walk(pieces[-1].oid))
    assert sorted(stored.oid for stored in found) == sorted([world.form.root, *(piece.oid for piece in pieces)])
    place = {stored.oid: number for number, stored in enumerate(found)}
    assert all(place[parent] < place[stored.oid] for stored in found for parent in stored.parents)


def test_a_walk_leaves_out_exactly_what_known_commits_reach(world: World) -> None:
    base, left, right, joined, above = forked(world)
    tip = above.oid

    def new(*known: str) -> list[str]:
        return [stored.oid for stored in world.log.walk(tip, known)]

    assert new(tip) == []
    assert new(joined.oid) == [above.oid]
    assert new(left.oid) == [right.oid, joined.oid, above.oid]  # the base is below both
    assert new(left.oid, right.oid) == [joined.oid, above.oid]
    assert sorted(new(base.oid)) == sorted([left.oid, right.oid, joined.oid, above.oid])
    assert len(new(world.form.root)) == 5
    assert [stored.oid for stored in world.log.walk(left.oid, [right.oid])] == [left.oid]


def test_known_commits_that_are_not_here_reach_nothing(world: World) -> None:
    pieces = grow(world, 2)
    unknown = entry(world.form, world.form.root).oid
    everything = [piece.oid for piece in pieces]
    assert [stored.oid for stored in world.log.walk(pieces[-1].oid, [unknown])] == everything
    assert [stored.oid for stored in world.log.walk(pieces[-1].oid, [unknown, pieces[-2].oid])] == everything[-1:]


def test_a_walk_that_is_given_up_halfway_leaves_the_log_usable(world: World) -> None:
    pieces = grow(world, 5)
    walk = world.log.walk(pieces[-1].oid)
    assert next(walk).oid == world.form.root
    walk.close()  # type: ignore[attr-defined]
    assert len(oids(world)) == 6


def test_append_on_a_stale_tip_writes_nothing(world: World) -> None:
    first = grow(world, 1)[-1]
    second, late = entry(world.form, first.oid), entry(world.form, first.oid)
    world.log.publish(second.objects, second.oid, first.oid, "append")

    with pytest.raises(TipMoved) as caught:
        world.log.publish(late.objects, late.oid, first.oid, "append")

    assert caught.value.tip == second.oid
    assert world.log.tip() == second.oid
    assert late.oid not in oids(world)
    # and on the tip that it is told of, it goes through
    again = entry(world.form, second.oid)
    world.log.publish(again.objects, again.oid, second.oid, "append")
    assert oids(world)[-2:] == [second.oid, again.oid]


def test_a_first_append_does_not_overwrite_a_log_that_came_meanwhile(world: World) -> None:
    mine, theirs = entry(world.form, world.form.root), entry(world.form, world.form.root)
    world.again().publish(stored_of([root(world.form), theirs]), theirs.oid, None, "append")

    with pytest.raises(TipMoved) as caught:
        world.log.publish(stored_of([root(world.form), mine]), mine.oid, None, "append")

    assert caught.value.tip == world.log.tip() == theirs.oid


def test_an_append_does_not_bring_a_deleted_log_back(world: World, git) -> None:
    pieces = grow(world, 2)
    behind_the_back(world, git, None)
    late = entry(world.form, pieces[-1].oid)
    with pytest.raises(TipMoved) as caught:
        world.log.publish(late.objects, late.oid, pieces[-1].oid, "append")
    assert caught.value.tip is None
    assert world.log.tip() is None


def test_an_append_does_not_overwrite_a_log_that_was_rewound_behind_its_back(world: World, git) -> None:
    """A fast-forward test would let this pass: the new commit descends from where the ref is now."""
    pieces = grow(world, 3)
    behind_the_back(world, git, pieces[1].oid)
    late = entry(world.form, pieces[-1].oid)
    with pytest.raises(TipMoved) as caught:
        world.log.publish(late.objects, late.oid, pieces[-1].oid, "append")
    assert caught.value.tip == world.log.tip() == pieces[1].oid


def test_many_objects_are_published_like_few(world: World) -> None:
    pieces = line(world.form, 200)
    world.log.publish(stored_of(pieces[:150]), pieces[149].oid, None, "import")
    world.log.publish_many(stored_of(pieces[150:]), pieces[-1].oid, pieces[149].oid, "import")
    assert oids(world) == [piece.oid for piece in pieces]


def test_one_object_given_twice_is_stored_once(world: World) -> None:
    made, data = event()
    one = of_files(world.form, world.form.root, {made.id + ".json": data, "copy": data}, [made])
    for publish, piece, old in (
        (world.log.publish, one, None),
        (world.log.publish_many, entry(world.form, one.oid, (made, data)), one.oid),
    ):
        publish(stored_of([root(world.form), piece, piece]), piece.oid, old, "append")
        assert world.log.tip() == piece.oid


def test_a_tip_can_move_to_a_commit_that_is_already_here(world: World) -> None:
    pieces = grow(world, 1)
    ahead = line(world.form, 2, pieces[-1].oid)
    world.log.publish(stored_of(ahead), ahead[-1].oid, pieces[-1].oid, "append")
    world.log.publish([], pieces[-1].oid, ahead[-1].oid, "undo")
    assert world.log.tip() == pieces[-1].oid
    world.log.publish([], ahead[-1].oid, pieces[-1].oid, "fetch")
    assert world.log.tip() == ahead[-1].oid


def test_a_new_tip_that_is_not_among_the_objects_is_the_callers_mistake(world: World) -> None:
    first, other = grow(world, 1)[-1], entry(world.form, world.form.root)
    with pytest.raises(ValueError):
        world.log.publish(entry(world.form, first.oid).objects, other.oid, first.oid, "append")
    assert world.log.tip() == first.oid


def test_a_new_tip_that_exists_nowhere_moves_nothing(world: World) -> None:
    first, nowhere = grow(world, 1)[-1], entry(world.form, world.form.root)
    with pytest.raises((GitFailed, ValueError)):
        world.log.publish([], nowhere.oid, first.oid, "append")
    assert world.log.tip() == first.oid


def test_contains_is_about_ancestry_and_knows_no_strangers(world: World) -> None:
    base, left, right, _, above = forked(world)
    contains = world.log.contains
    assert contains(above.oid, base.oid) and contains(above.oid, right.oid) and contains(above.oid, world.form.root)
    assert contains(left.oid, left.oid)
    assert not contains(base.oid, above.oid)
    assert not contains(left.oid, right.oid)
    stranger = entry(world.form, world.form.root).oid
    assert not contains(above.oid, stranger)
    assert not contains(stranger, above.oid)
    assert not contains(stranger, stranger)


def test_a_commit_of_many_events_and_signatures_is_read_whole(world: World) -> None:
    made = [event() for _ in range(40)]
    files = {one.id + ".json": data for one, data in made} | {
        made[0][0].id + ".sig": b"-----BEGIN SSH SIGNATURE-----\n"
    }
    piece = of_files(world.form, world.form.root, files, [one for one, _ in made])
    publish(world, piece)
    assert list(world.log.walk(piece.oid))[-1].files == files


def test_two_commits_with_one_tree_both_have_it(world: World) -> None:
    """A stream of objects names each one once; the second commit must not come out empty."""
    made = event()
    first = entry(world.form, world.form.root, made)
    second = entry(world.form, first.oid, made)
    third = of_files(world.form, second.oid, {made[0].id + ".json": made[1], "more": b"more"})
    publish(world, first, second, third)
    found = {stored.oid: stored.files for stored in world.log.walk(third.oid)}
    assert found[first.oid] == found[second.oid] == first.files
    assert found[third.oid] == third.files
    # also where the first of them is known already
    assert [stored.files for stored in world.log.walk(third.oid, [first.oid])] == [second.files, third.files]


def test_odd_trees_are_handed_over_as_they_are(world: World) -> None:
    form = world.form
    blob, inner = b"text", objects.tree([("x", form.oid("blob", b"text"))])
    raw = bytes.fromhex
    tree = (
        b"100755 run\0" + raw(form.oid("blob", blob))
        + b"40000 sub\0" + raw(form.oid("tree", inner))
        + b"100644 \xff\xfe.json\0" + raw(form.oid("blob", blob))
    )  # fmt: skip
    odd = of_tree(form, form.root, tree, {})
    publish(world, odd._replace(objects=[("blob", blob), ("tree", inner), *odd.objects]))
    found = list(world.log.walk(odd.oid))[-1]
    assert found.tree == tree
    assert found.files == {"run": blob, "\udcff\udcfe.json": blob}
    assert found.damaged == ()


def test_an_object_that_is_too_large_counts_as_damaged_and_ends_nothing(world: World) -> None:
    large = b"x" * (OBJECT_MAX + 1)
    odd = of_files(world.form, world.form.root, {"large": large, "small": b"small"})
    above = entry(world.form, odd.oid)
    publish(world, odd, above)
    found = {stored.oid: stored for stored in world.log.walk(above.oid)}
    assert found[odd.oid].files == {"large": None, "small": b"small"}
    assert found[odd.oid].damaged == (world.form.oid("blob", large),)
    assert found[above.oid].files == above.files
    just_fits = of_files(world.form, above.oid, {"large": large[:-1]})
    publish(world, just_fits)
    assert next(iter(world.log.walk(just_fits.oid, [above.oid]))).files == {"large": large[:-1]}


def test_a_whole_log_is_in_no_condition(world: World) -> None:
    grow(world, 1)
    condition = world.log.condition()
    assert (condition.partial, condition.grafts, condition.replaced) == (False, False, False)
    # The code of a shallow clone is cut off; its log is not, and `edges` lets one tell.
    assert not condition.edges & set(oids(world))


# --- helpers -----------------------------------------------------------------------------------


def oids(world: World) -> list[str]:
    tip = world.again().tip()
    assert tip is not None
    return [stored.oid for stored in world.again().walk(tip)]


def publish(world: World, *pieces: Piece) -> None:
    """Append `pieces`, the root before them where there is no log."""
    tip = world.log.tip()
    given = pieces if tip is not None else (root(world.form), *pieces)
    world.log.publish(stored_of(given), pieces[-1].oid, tip, "append")


def grow(world: World, length: int) -> list[Piece]:
    pieces = line(world.form, length)
    old = None
    for number, piece in enumerate(pieces[1:]):
        world.log.publish(stored_of(pieces[:2]) if number == 0 else piece.objects, piece.oid, old, "append")
        old = piece.oid
    return pieces


def forked(world: World) -> list[Piece]:
    """root - base - left - joined - above, with right beside left; returned without the root."""
    form = world.form
    base = entry(form, form.root)
    left, right = entry(form, base.oid), entry(form, base.oid)
    joined = join(form, left.oid, right.oid)
    above = entry(form, joined.oid)
    publish(world, base, left)
    world.log.publish(stored_of([right, joined, above]), above.oid, left.oid, "join")
    return [base, left, right, joined, above]


def behind_the_back(world: World, git, tip: str | None) -> None:
    if world.path is None:
        world.log.move(tip)  # type: ignore[attr-defined]
    elif tip is None:
        git("update-ref", "-d", "refs/decisions/log", cwd=world.path)
    else:
        git("update-ref", "refs/decisions/log", tip, cwd=world.path)
