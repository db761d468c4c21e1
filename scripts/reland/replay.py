"""The history once more, with the gate in front of every edit: what it would have stopped, noted, and let pass.

A scratch repository gets the log in commit order, each commit's acts after its own edits, so that nothing is visible
from the future. Every later edit is presented to the gate's own door (`hooks/gate.judge`), in a session of its own.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from gitmem.core import fingerprint
from gitmem.core.calls import Call, Edit
from gitmem.hooks import gate
from gitmem.memory import Memory

from .history import Change, Clone, File
from .mining import BACK, LINES_MIN, Mined, Verdict, added, removed

_ID = re.compile(r"\[([0-9a-f]{8})\]")
DAY_S = 86400
#: The rules that a gate keyed on something else would follow.
BASELINES = ("path", "path for 30 days", "patch id", "git log --grep=Revert -- path")


class Asked:
    """One edit, and what was answered.

    back   verdict event -> explicit or not, of what it brings back in truth
    short  it brings nothing back but, in its own file, a verdict of too few lines to be sure: neither right nor wrong
    first  the id that the answer names first, shortened
    place  commit and path, and `text` the answer: for who looks into it, never in a row
    """

    __slots__ = ("back", "baselines", "first", "ms", "noted", "place", "short", "stopped", "text")

    def __init__(self) -> None:
        self.back: dict[str, bool] = {}
        self.short = False
        self.stopped = False
        self.noted = False
        self.first = ""
        self.ms = 0.0
        self.place = ""
        self.text = ""
        self.baselines: dict[str, bool] = {}

    @property
    def is_caught(self) -> bool:
        """Whether it was stopped by a verdict that it brings back, told first."""
        return self.stopped and any(self.first == event[:8] for event in self.back)


class Replay:
    """One clone, replayed into `scratch` (a folder that isn't there yet). At most about `most` edits are presented."""

    def __init__(self, clone: Clone, scratch: Path, most: int) -> None:
        self.clone = clone
        self.mined = Mined(clone)
        self.asked: list[Asked] = []
        self.edits = 0
        self.verdicts: list[Verdict] = []
        self._most = most
        self._tree = new_repository(scratch)
        self._memory = Memory.open(str(self._tree), environ={}, long_lived=True)
        self._standing: dict[tuple[str, str], Verdict] = {}
        self._lines: dict[int, set[tuple[str, str]]] = {}
        self._patches: set[str] = set()
        self._patch: tuple[str, str] = ("", "")
        self._said_revert: set[str] = set()

    def run(self) -> None:
        mined = self.mined
        changes = list(self.clone.changes())
        by_oid = {change.oid: change for change in changes}
        first = next((at for at, change in enumerate(changes) if change.oid in mined.acts), len(changes))
        later = sum(len(change.files) for change in changes[first:])
        every = max(1, later // self._most) if self._most else 1
        for change in changes:
            if self._standing:
                self._present(change, mined, every)
            if change.oid in mined.acts:
                self._learn(change, mined, by_oid)
            if "evert" in change.message:
                self._said_revert.update(file.path for file in change.files)
        self._memory.close()

    def _present(self, change: Change, mined: Mined, every: int) -> None:
        explicit = mined.landings.get(change.oid, set())
        for number, file in enumerate(change.files):
            if not file.new or fingerprint.generated(file.path):
                continue
            self.edits += 1
            before, after = self.clone.text(file.old), self.clone.text(file.new)
            if before is None or after is None:
                continue
            back, short = self._back(file, self._came(before.split("\n"), after.split("\n")), explicit)
            if not back and not short and (int(change.oid[:8], 16) + number) % every:
                continue
            asked = ask(self._tree, f"{change.oid}.{number}", file.path, before if file.old else None, after)
            asked.place = f"{change.oid[:12]} {file.path}"
            asked.back = {verdict.event: was for verdict, was in back}
            asked.short = short and not back
            asked.baselines = self._by_others(change, file)
            self.asked.append(asked)

    def _came(self, before: list[str], after: list[str]) -> set[int]:
        """Return the distinctive lines that an edit brings in; none where no verdict has one of them."""
        came = fingerprint.marks(set(after).difference(before))
        # Whole files are hashed only where it matters: of most edits nothing was ever taken back.
        return set() if came.isdisjoint(self._lines) else came - fingerprint.marks(before)

    def _back(
        self, file: File, came: set[int], explicit: set[tuple[str, str]]
    ) -> tuple[list[tuple[Verdict, bool]], bool]:
        """Return the verdicts that an edit brings back, each with whether it says so; and whether a short one is."""
        found: dict[tuple[str, str], int] = {}
        for mark in came:
            for key in self._lines.get(mark, ()):
                found[key] = found.get(key, 0) + 1
        back = []
        short = False
        for key, verdict in self._standing.items():
            share = 100 * found.get(key, 0) // max(1, len(verdict.lines))
            is_explicit = key in explicit and key[0] == file.path
            if len(verdict.lines) < LINES_MIN:
                short = short or (key[0] == file.path and (is_explicit or share >= BACK))
            elif is_explicit or share >= BACK:
                back.append((verdict, is_explicit))
        return back, short

    def _by_others(self, change: Change, file: File) -> dict[str, bool]:
        here = [verdict for (path, _), verdict in self._standing.items() if path == file.path]
        return {
            "path": bool(here),
            "path for 30 days": any(change.time - verdict.time <= 30 * DAY_S for verdict in here),
            "patch id": bool(self._patches) and self._patch_id(change.oid) in self._patches,
            "git log --grep=Revert -- path": file.path in self._said_revert,
        }

    def _patch_id(self, oid: str) -> str:
        if self._patch[0] != oid:
            self._patch = (oid, self.clone.patch_id(oid))
        return self._patch[1]

    def _learn(self, change: Change, mined: Mined, by_oid: dict[str, Change]) -> None:
        """Append what this commit says, and know its lines."""
        self._memory.append_history(mined.acts[change.oid])
        cache = self._memory.desk.cache()
        for key in mined.landings.get(change.oid, ()):
            self._forget(key)
        for verdict in mined.verdicts.get(change.oid, ()):
            key = (verdict.path, verdict.approach)
            gone = removed(self.clone, change, verdict.path)
            root = by_oid.get(verdict.root)
            came = added(self.clone, root, verdict.path) if root is not None else set()
            verdict.lines = gone & came or gone
            verdict.event = cache.id_of_source(str(verdict.draft.fields["source"]))
            verdict.time = change.time
            if not verdict.event or not verdict.lines:
                continue
            self._forget(key)
            self.verdicts.append(verdict)
            self._standing[key] = verdict
            for mark in verdict.lines:
                self._lines.setdefault(mark, set()).add(key)
            if root is not None:
                self._patches.add(self.clone.patch_id(root.oid))
        self._patches.discard("")

    def _forget(self, key: tuple[str, str]) -> None:
        verdict = self._standing.pop(key, None)
        for mark in verdict.lines if verdict is not None else ():
            keys = self._lines[mark]
            keys.discard(key)
            if not keys:
                del self._lines[mark]


def new_repository(place: Path) -> Path:
    """Make an empty repository at `place` and return it."""
    import subprocess

    place.mkdir(parents=True)
    for words in (["init", "-q"], ["config", "user.name", "Bench"], ["config", "user.email", "bench@example.org"]):
        subprocess.run(["git", *words], cwd=place, check=True)
    return place


def ask(tree: Path, session: str, path: str, before: str | None, after: str, *, subagent: str = "") -> Asked:
    """Present one edit to the gate, in the work tree `tree`: the file stands there as it was before."""
    place = tree / path
    if before is None:
        place.unlink(missing_ok=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(before, "utf-8", newline="")
    call = Call(
        "claude",
        "edit",
        hook="PreToolUse",
        session=f"claude:{session}",
        subagent=subagent,
        call_id=f"{session}.{time.monotonic_ns()}",
        cwd=str(tree),
        edits=[Edit(str(place), content=after)],
    )
    begun = time.perf_counter()
    answer = gate.judge(call)
    asked = Asked()
    asked.ms = (time.perf_counter() - begun) * 1000
    asked.stopped, asked.noted = answer.stop, bool(answer.text) and not answer.stop
    asked.text = answer.text
    found = _ID.search(answer.text)
    asked.first = found.group(1) if found else ""
    place.unlink(missing_ok=True)
    return asked
