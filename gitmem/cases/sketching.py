"""Sketching: what a closing event closes, as a fingerprint, where nobody gave it a diff.

The openings that it closes may be linked to commits: then those commits are the change, and their added lines are it.
Else `--commit` may name the change. It may as well name what came instead, or the commit that took the change back, and
lines that stand must never be known as rejected ones: so only those of its lines count that are gone again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gitmem.core import entities, fingerprint
from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING
from gitmem.errors import GitFailed
from gitmem.store import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core.events import Event
    from gitmem.store.cache import Cache
    from gitmem.store.repository import Repository

#: What we give git to look into one commit, and how many commits are looked into.
LOOK_S = 1.0
COMMITS_MAX = 20

_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "-U0")
_REVERTS = re.compile(rb"^This reverts commit ([0-9a-f]{40,64})", re.MULTILINE)


def sketched(desk: Desk, cache: Cache, closing: Event, named: str) -> dict[str, object] | None:
    """Return the fingerprint of what `closing` closes, None where no commit tells.

    named   the commit that its writer gave with it, or ""
    """
    if CHANGE_TYPES.get(closing.change_type) != CLOSING:
        return None
    if "fingerprint" in closing.fields or "diff" in closing.fields:
        return None
    repository = desk.repository
    path = entities.place_of(closing.entity_path)
    linked = _linked(cache, closing.targets)
    if linked:
        return fingerprint.sketch(line for commit in linked for line in _added(repository, commit, path))
    if not named:
        return None
    reverted = _reverted(repository, named)
    gone: list[str] = []
    for commit in dict.fromkeys((named, *reverted)):
        added = _added(repository, commit, path)
        if added:
            left = {fingerprint.normalise(line) for line in _removed_since(repository, commit)}
            gone += [line for line in added if fingerprint.normalise(line) in left]
    return fingerprint.sketch(gone)


def _linked(cache: Cache, openings: Iterable[str]) -> list[str]:
    """Return the commits that some openings came with, the newest of each: what it became after a rebase."""
    found: dict[str, None] = {}
    for event_id in openings:
        links = cache.links_of(event_id)
        commit = links[-1].fields.get("commit") if links else None
        if isinstance(commit, str):
            found[commit] = None
    return list(found)[-COMMITS_MAX:]


def _added(repository: Repository, commit: str, path: str) -> list[str]:
    """Return the lines that a commit adds: to the file `path` if it changes that, else to all."""
    words = ("diff-tree", "--root", "-r", "-p", *_PLAIN, commit)
    if path:
        found = fingerprint.added_lines(_said(repository, *words, "--", f":(top,literal){path}"))
        if any(found):
            return found
    text = _said(repository, *words)
    return fingerprint.added_lines(text) if text else []


def _removed_since(repository: Repository, commit: str) -> list[str]:
    """Return the lines of the tree of a commit that are not in the work tree any more (of a bare one: in HEAD)."""
    if repository.work_tree is not None:
        text = _said(repository, "diff", *_PLAIN, commit, work_tree=True)
    else:
        text = _said(repository, "diff", *_PLAIN, commit, "HEAD")
    return [row[1:] for row in text.split("\n") if row.startswith("-") and not row.startswith("--- ")]


def _reverted(repository: Repository, commit: str) -> list[str]:
    """Return the commits that the message of a commit says it reverts, those that are here."""
    message = _said(repository, "cat-file", "commit", commit).encode("utf-8", "surrogateescape")
    return [oid.decode() for oid in _REVERTS.findall(message)][:COMMITS_MAX]


def _said(repository: Repository, *words: str, work_tree: bool = False) -> str:
    """Return what git says, "" where it can't, or not in time: a closing without a fingerprint is one all the same."""
    try:
        result = repository.try_git(*words, work_tree=work_tree, env=git.RAW, timeout_s=LOOK_S)
    except GitFailed:
        return ""
    return result.out.decode("utf-8", "replace") if result.rc == 0 else ""
