"""What a history itself says: changes that were undone, and those that came back.

The *acts* of a commit are the drafts that `import git` makes of it, so the log of the replay is the log that a user
would have. The *verdicts* keep every distinctive line that a revert took back, and not the sample that a fingerprint
keeps: what counts as come back is decided without asking what is measured.
"""

from __future__ import annotations

from gitmem.core import fingerprint
from gitmem.core.drafts import Draft
from gitmem.importers import git as importer

from .history import Change, Clone

#: So much of the lines of a verdict makes a silent re-landing, in percent.
BACK = 60
#: A verdict of fewer distinctive lines says too little to be known by them: unexercised.
LINES_MIN = 3


class Verdict:
    """One file of a revert: its lines, and the event that the log has of it once it is appended."""

    __slots__ = ("approach", "draft", "event", "lines", "oid", "path", "root", "time")

    def __init__(self, draft: Draft, oid: str, root: str) -> None:
        fields = draft.fields
        self.draft = draft
        self.oid = oid
        self.root = root
        self.path = str(fields["entity_path"])
        self.approach = str(fields.get("approach", ""))
        self.lines: set[int] = set()
        self.event = ""
        self.time = 0


class Mined:
    """The acts of a clone by commit. `landings` maps a commit to the (path, approach) that it brings back."""

    def __init__(self, clone: Clone) -> None:
        self.acts: dict[str, list[Draft]] = {}
        self.verdicts: dict[str, list[Verdict]] = {}
        self.landings: dict[str, set[tuple[str, str]]] = {}
        waiting: list[Draft] = []
        roots: dict[tuple[str, str], str] = {}
        for draft in importer.read(str(clone.place)):
            evidence = [str(one) for one in draft.fields["evidence"]]  # type: ignore[attr-defined]
            oid = evidence[0].removeprefix("commit:")
            key = (str(draft.fields["entity_path"]), str(draft.fields.get("approach", "")))
            closes = draft.fields["change_type"] in ("revert", "reject")
            lands = not closes and any(one.startswith(("reverts:", "repeats:")) for one in evidence)
            if not closes and not lands:
                roots[key] = oid
                waiting.append(draft)
                continue
            self.acts.setdefault(oid, []).extend([*waiting, draft])
            waiting = []
            if lands:
                self.landings.setdefault(oid, set()).add(key)
            elif draft.fields["change_type"] == "revert":
                self.verdicts.setdefault(oid, []).append(Verdict(draft, oid, roots.get(key, "")))


def added(clone: Clone, change: Change, path: str) -> set[int]:
    """Return the distinctive lines that a change adds to a file."""
    return _sides(clone, change, path)[1]


def removed(clone: Clone, change: Change, path: str) -> set[int]:
    """Return the distinctive lines that a change takes out of a file."""
    return _sides(clone, change, path)[0]


def _sides(clone: Clone, change: Change, path: str) -> tuple[set[int], set[int]]:
    for file in change.files:
        if file.path == path:
            before, after = clone.text(file.old), clone.text(file.new)
            if before is None or after is None:
                return set(), set()
            old, new = fingerprint.marks(before.split("\n")), fingerprint.marks(after.split("\n"))
            return old - new, new - old
    return set(), set()
