"""Pieces of log for tests: events, entries and joins as raw objects, in either object format.

Nothing is random and nothing reads a clock: the same calls give the same oids in every run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.core import objects
from gitmem.core.events import Event, build
from gitmem.core.objects import ObjectFormat

_numbers = itertools.count(1)


class Piece(NamedTuple):
    """A commit of the log with everything that it takes to store it; `files` is what its tree holds."""

    oid: str
    commit: bytes
    parents: tuple[str, ...]
    objects: list[tuple[str, bytes]]
    files: dict[str, bytes]
    tree: bytes


def event(number: int = 0, **fields: object) -> tuple[Event, bytes]:
    """An event that is different for each `number` (0: a new one)."""
    number = number or next(_numbers)
    usual: dict[str, object] = {
        "v": 1,
        "kind": "change",
        "clock": number,
        "nonce": f"{number:032x}",
        "recorded_at": f"2026-01-02T03:{number // 60 % 60:02}:{number % 60:02}.000000Z",
        "author": "Ada Lovelace <ada@example.org>",
        "after": [],
        "scope": "",
        "channel": "human",
        "basis": "person",
        "tool": "gitmem test",
        "entity_path": f"users.column{number}",
        "entity_type": "column",
        "change_type": "add",
        "reasoning": "the provider keeps the token, we keep a handle",
    }
    return build(usual | fields)


def root(form: ObjectFormat) -> Piece:
    stored = [("tree", b""), ("commit", form.root_data)]
    return Piece(form.root, form.root_data, (), stored, {}, b"")


def entry(form: ObjectFormat, parent: str, *events: tuple[Event, bytes]) -> Piece:
    """A commit of `events` (one new event, where none is given) on top of `parent`."""
    given = events or (event(),)
    files = {made.id + ".json": data for made, data in given}
    return of_files(form, parent, files, [made for made, _ in given])


def of_files(form: ObjectFormat, parent: str, files: dict[str, bytes], events: Sequence[Event] = ()) -> Piece:
    """A commit whose tree holds `files`, whatever they are."""
    tree = objects.tree([(name, form.oid("blob", data)) for name, data in files.items()])
    return of_tree(form, parent, tree, files, events)


def of_tree(
    form: ObjectFormat, parent: str, tree: bytes, files: dict[str, bytes], events: Sequence[Event] = ()
) -> Piece:
    tree_oid = form.oid("tree", tree)
    if events:
        commit = objects.event_commit(tree_oid, parent, events)
    else:
        commit = f"tree {tree_oid}\nparent {parent}\nauthor A <a> 7 +0000\ncommitter A <a> 7 +0000\n\nodd\n".encode()
    stored = [("blob", data) for data in files.values()]
    oid = form.oid("commit", commit)
    return Piece(oid, commit, (parent,), [*stored, ("tree", tree), ("commit", commit)], files, tree)


def join(form: ObjectFormat, one: str, other: str) -> Piece:
    commit = objects.join_commit(form, [(one, 1_767_323_045), (other, 1_767_323_045)])
    return Piece(
        form.oid("commit", commit), commit, tuple(sorted((one, other))), [("tree", b""), ("commit", commit)], {}, b""
    )


def stored_of(pieces: Iterable[Piece]) -> list[tuple[str, bytes]]:
    return [item for piece in pieces for item in piece.objects]


def line(form: ObjectFormat, length: int, parent: str | None = None) -> list[Piece]:
    """`length` entries, one on top of the other, above `parent` (default: the root, which comes first then)."""
    made: list[Piece] = [] if parent is not None else [root(form)]
    below = parent if parent is not None else form.root
    for _ in range(length):
        made.append(entry(form, below))
        below = made[-1].oid
    return made
