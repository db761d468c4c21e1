"""Which attempt each revert took back, and in which files: messages say it, diffs confirm it.

A commit that says that it reverts another one does so in a file where it takes that one's lines back.
Squashed branches carry the messages of reverts that undid something within the branch; reverts touch
change logs and tests besides; subjects repeat. All of these fall away here, and no file is named in
which nothing went back.

A chain is followed to its *root*: a revert of a revert lands the root again, and a revert of that closes
it again. All have one approach, the root's subject. Times never run backwards along a chain: where a
clock was wrong, what came later is put a microsecond after what it acts on, as in history only times
decide (R8c).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from gitmem.core import approach, ddl, entities, fingerprint
from gitmem.importers import git_messages
from gitmem.importers.git_diffs import Diff, Diffs, File, Unreadable, done_again, taken_back
from gitmem.importers.git_history import TIME_MAX, Commit, History, Revert
from gitmem.importers.git_summary import Summary

#: A revert takes a file's change back where at least this many percent of the changed lines go back.
TAKEN_BACK_MIN = 40
#: Found under another path (the file was renamed since), or landed again: where this many are the same.
SAME_MIN = 60
#: Of one reverted commit, at most this many files become entities; the rest is counted.
ENTITIES_MAX = 50
#: How many commits with the subject of a reverted one are looked at, of one subject and in all.
AGAIN_MAX, AGAIN_ALL_MAX = 8, 5000

_SECOND = 1_000_000


class Entity:
    """One name that a commit closed or landed.

    kind         file, table, column
    opened       how the acting commit opens it, where it lands something: add or modify
    tried        how the root opened it, or an empty string where that isn't known
    fingerprint  of the lines that were taken back
    """

    __slots__ = ("fingerprint", "kind", "opened", "tried")

    def __init__(self, kind: str, *, opened: str, tried: str, fingerprint: dict[str, object] | None = None) -> None:
        self.kind = kind
        self.opened = opened
        self.tried = tried
        self.fingerprint = fingerprint


class Act:
    """What `commit` did to one attempt, the `root` (None: not in its history), on some entities.

    closes     it took the attempt back; else it landed it again
    on         the commit that it reverted (or repeated)
    time       when, in microseconds
    """

    __slots__ = ("approach", "closes", "commit", "entities", "on", "root", "time")

    def __init__(
        self, commit: Commit, on: Commit | None, root: Commit | None, approach: str, time: int, *, closes: bool
    ) -> None:
        self.commit = commit
        self.on = on
        self.root = root
        self.approach = approach
        self.time = time
        self.closes = closes
        self.entities: dict[str, Entity] = {}


def micros(commit: Commit) -> int:
    return commit.time * _SECOND


def _after(commit: Commit, time: int) -> int:
    """When `commit` acted on what happened at `time`."""
    return min(max(micros(commit), time + 1), TIME_MAX * _SECOND + _SECOND - 1)


def _approach(commit: Commit) -> str:
    return _with_key(git_messages.approach(*git_messages.split(commit.message)), commit)


def _with_key(text: str, commit: Commit) -> str:
    """Return `text` as an approach; where it says nothing that one could be told by, the commit is named."""
    try:
        found = approach.key(text)
    except approach.NoKey:
        found = ""
    return text if found else f"{text} (commit {commit.oid[:12]})".strip()


def named(commit: Commit) -> str:
    """A commit as summaries name it."""
    return f"{commit.oid[:12]} {commit.subject}"[:120]


class Reverts:
    """Finds what the reverts of a history did. `shallow` are the commits at the border of a shallow clone."""

    def __init__(self, history: History, diffs: Diffs, shallow: frozenset[str], summary: Summary) -> None:
        self._history = history
        self._diffs = diffs
        self._shallow = shallow
        self._summary = summary
        self._acts: dict[str, list[Act]] = {}  # by the id of the commit
        self._closings: dict[str, list[Act]] = {}  # by the id of the root

    def of(self, revert: Revert) -> list[Act]:
        """Return what a revert did; to be asked of all, parents before children."""
        acts = self._of(revert)
        if acts:
            self._acts[revert.commit.oid] = acts
        for act in acts:
            if act.closes and act.root is not None:
                self._closings.setdefault(act.root.oid, []).append(act)
        return acts

    def _of(self, revert: Revert) -> list[Act]:
        commit, claim, name = revert.commit, revert.claim, named(revert.commit)
        skip = self._summary.skip
        if claim.loose and not (claim.targets or claim.pulls or claim.ranges or revert.titled):
            return []  # `revert: fix a leak` is about a part of the project called so, not about another commit
        for written in claim.ranges:
            skip("ranges of commits in a message", f"{name}: {written}")
        if len(commit.parents) > 1:
            skip("merges that speak of a revert, which is in their history", name)
            return []
        if claim.partial:
            skip("reverts of a part only, by their own words", name)
            return []
        if commit.oid in self._shallow:
            skip("reverts at the border of a shallow clone, whose changes can't be told", name)
            return []
        diff = self._diff(commit, name)
        if diff is None:
            return []
        if not diff.files:
            skip("reverts that change nothing", name)
            return []
        targets = self._targets(revert, name)
        acts: list[Act] = []
        for choices, mainline in targets:
            found: list[Act] = []
            # Of several the one counts whose own files go back, before one whose lines stand elsewhere now.
            for renames in (True,) if len(choices) == 1 else (False, True):
                for target in choices:
                    found = found or self._pair(revert, diff, target, mainline, renames=renames)
            acts += found
            if not found:
                skip(
                    "commits whose lines don't go back in the one that says it reverts them",
                    f"{name}: {choices[0].oid[:12]}",
                )
        return acts if targets else self._alone(revert, diff, name)

    def _targets(self, revert: Revert, name: str) -> list[tuple[list[Commit], str]]:
        """Return the commits that a revert means: for each the choices, best first, and the parent that it names."""
        claim, skip = revert.claim, self._summary.skip
        found: list[tuple[list[Commit], str]] = []
        seen: set[str] = set()
        # Where a subject is quoted too, a missing commit is no loss yet.
        spoken = bool(revert.titled) or bool(claim.subject and not claim.loose)
        for target, commits in zip(claim.targets, revert.named, strict=True):
            if len(commits) > 1:
                skip("abbreviated ids that fit several commits", f"{name}: {target.oid}")
            elif commits and commits[0].oid not in seen:
                seen.add(commits[0].oid)
                found.append((commits, target.mainline))
            elif not commits and not spoken:
                skip("reverted commits that are not in the history of the revert", f"{name}: {target.oid[:12]}")
        for number, commits in zip(claim.pulls, revert.pulled, strict=True):
            if commits and not any(commit.oid in seen for commit in commits):
                seen.update(commit.oid for commit in commits)
                found.append((commits, ""))
            elif not commits and not spoken and not found:
                skip("reverted pull requests that are not in the history of the revert", f"{name}: #{number}")
        if not found and revert.titled:
            found.append((revert.titled, ""))
        return found

    def _diff(self, commit: Commit, name: str, parent: str | None = None) -> Diff | None:
        if parent is None:
            parent = commit.parents[0] if commit.parents else ""
        try:
            diff = self._diffs.of(commit.oid, parent)
        except Unreadable as error:
            self._summary.once("commits whose changes git can't read", f"{name}: {error}")
            return None
        if diff.cut:
            self._summary.once(f"commits of which only the beginning was looked at ({diff.cut})", name)
        return diff

    # --- pairs -------------------------------------------------------------------------------

    def _pair(self, revert: Revert, diff: Diff, target: Commit, mainline: str, *, renames: bool) -> list[Act]:
        """Return what a revert does to the attempt that `target` is, or to those that it closed or landed."""
        commit, lands = revert.commit, revert.claim.lands
        name = named(target)
        if target.oid in self._shallow:
            act = Act(commit, target, target, _approach(target), _after(commit, micros(target)), closes=True)
            self._take(act, diff, name)
            return [act] if act.entities and not lands else []
        parent = next((oid for oid in target.parents if mainline and oid.startswith(mainline)), None)
        original = self._diff(target, name, parent)
        if original is None:
            return []
        earlier = self._acts.get(target.oid)
        if earlier is None:
            act = Act(commit, target, target, _approach(target), _after(commit, micros(target)), closes=not lands)
            self._match(act, diff, original, name, again=lands, renames=renames and not lands)
            return [act] if act.entities else []
        acts = []
        for before in earlier:
            act = Act(
                commit, target, before.root, before.approach, _after(commit, before.time), closes=not before.closes
            )
            self._match(act, diff, original, name, renames=renames)
            act.entities = {path: entity for path, entity in act.entities.items() if path in before.entities}
            for path, entity in act.entities.items():
                entity.tried = before.entities[path].tried
            if act.entities:
                acts.append(act)
        return acts

    def _alone(self, revert: Revert, diff: Diff, name: str) -> list[Act]:
        """Return what a revert did of something that is not in its history: by its lines and the quoted subject."""
        claim = revert.claim
        if not claim.subject or claim.loose:
            return []
        if claim.lands or claim.subject.lower().startswith(('revert "', "revert '")):
            self._summary.skip("landings of something whose revert is not in their history", name)
            return []
        tried = _with_key(git_messages.trim(claim.subject, git_messages.SUBJECT_MAX), revert.commit)
        act = Act(revert.commit, None, None, tried, micros(revert.commit), closes=True)
        self._take(act, diff, name)
        return [act] if act.entities else []

    # --- entities ----------------------------------------------------------------------------

    def _match(
        self, act: Act, diff: Diff, original: Diff, name: str, *, again: bool = False, renames: bool = False
    ) -> None:
        """Put into `act` the files in which `diff` undoes (or with `again` repeats) what `original` did.

        With `renames` also those in which it undoes it under another name.
        """
        pairs: list[tuple[File, File]] = []
        strangers: list[File] = []
        for file in diff.files.values():
            twin = original.files.get(file.path)
            if twin is None:
                strangers.append(file)
            elif _goes_back(file, twin) if not again else _repeats(file, twin):
                pairs.append((file, twin))
        if renames:
            left = [file for file in original.files.values() if file.path not in diff.files]
            pairs += _renamed(strangers[:ENTITIES_MAX], left[:ENTITIES_MAX])
        pairs.sort(key=lambda pair: pair[0].path)
        for file, twin in self._bounded(pairs, name):
            path = self._entity_path(file, name)
            if path:
                entity = Entity("file", opened=_opens(file), tried=_opens(twin))
                if act.closes:
                    standing = self._diffs.text(file.new)
                    entity.fingerprint = original.fingerprint(twin, back=file.removed, standing=standing)
                act.entities[path] = entity
        self._tables(act, diff, original)

    def _take(self, act: Act, diff: Diff, name: str) -> None:
        """Put into `act` all files of a revert `diff`, where the reverted commit can't be looked at."""
        files = sorted(diff.files.values(), key=lambda file: file.path)
        for file, _ in self._bounded([(file, file) for file in files], name):
            path = self._entity_path(file, name)
            if path:
                sketch = diff.fingerprint(file, removed=True, standing=self._diffs.text(file.new))
                act.entities[path] = Entity("file", opened=_opens(file), tried="", fingerprint=sketch)
        self._tables(act, diff, None)

    def _bounded(self, pairs: list[tuple[File, File]], name: str) -> list[tuple[File, File]]:
        kept = []
        for file, twin in pairs:
            path = file.path.decode("utf-8", "replace")
            if file.is_submodule or twin.is_submodule:
                self._summary.once("submodules", f"{name}: {path}")
            elif fingerprint.generated(path):
                self._summary.once("lock, generated or vendored files", f"{name}: {path}")
            else:
                kept.append((file, twin))
        if len(kept) > ENTITIES_MAX:
            first = ascii(kept[ENTITIES_MAX][0].path.decode("utf-8", "replace"))
            over = len(kept) - ENTITIES_MAX
            self._summary.skip(f"files beyond the first {ENTITIES_MAX} of a commit", f"{name}: from {first} on", over)
        return kept[:ENTITIES_MAX]

    def _entity_path(self, file: File, name: str) -> str:
        """Return the entity that a file is, or an empty string where its path can't name one."""
        try:
            path = file.path.decode("utf-8")
        except UnicodeDecodeError:
            path = file.path.decode("utf-8", "replace")
            self._summary.once("paths that are not UTF-8, kept with replacement characters", f"{name}: {path}")
        path = unicodedata.normalize("NFC", path)
        try:
            same = entities.canonical(path) == path
        except entities.BadName as error:
            self._summary.once(f"paths that can't name an entity: {error}", f"{name}: {path!a}")
            return ""
        if not same or entities.SYMBOL in path:
            self._summary.once("paths that would name another entity", f"{name}: {path!a}")
            return ""
        return path

    def _tables(self, act: Act, diff: Diff, original: Diff | None) -> None:
        """Put into `act` the tables and columns that SQL files of `diff` take away (or, where it lands, bring in)."""
        names: dict[str, str] = {}
        for file in diff.files.values():
            before, after = self._sql(file)
            for name in ddl.taken_away(before, after) if act.closes else ddl.brought_in(before, after):
                names.setdefault(name.lower(), name)
        if not names:
            return
        tried: set[str] = set()
        for file in original.files.values() if original is not None else ():
            before, after = self._sql(file)
            tried.update(name.lower() for name in ddl.brought_in(before, after))
        for lower, name in list(names.items())[:ENTITIES_MAX]:
            try:
                fits = entities.canonical(name) == name and entities.SYMBOL not in name
            except entities.BadName:
                fits = False
            if fits:
                kind = "column" if "." in name else "table"
                act.entities.setdefault(name, Entity(kind, opened="add", tried="add" if lower in tried else ""))
            else:
                self._summary.once("tables or columns whose name can't be an entity's", ascii(name))

    def _sql(self, file: File) -> tuple[str, str]:
        path = file.path.decode("utf-8", "replace")
        if not ddl.is_sql(path) or file.is_submodule:
            return "", ""
        before, after = self._diffs.text(file.old), self._diffs.text(file.new)
        if before is None or after is None:
            self._summary.once("SQL files that are too large or can't be read", path)
            return "", ""
        return before, after

    # --- landing again without saying so -------------------------------------------------------

    def again(self) -> Iterator[Act]:
        """Yield what lands again in commits that repeat a reverted one, under its subject and on top of the revert."""
        roots: dict[str, list[Act]] = {}
        for acts in self._closings.values():
            root = acts[0].root
            if root is not None and root.oid not in self._shallow:
                roots.setdefault(git_messages.without_number(root.subject)[0], []).extend(acts)
        found = [
            (subject, oid)
            for subject, oid in self._history.again(dict.fromkeys(roots, AGAIN_MAX))
            if oid not in self._closings and oid not in self._acts and oid not in self._shallow
        ]
        if len(found) > AGAIN_ALL_MAX:
            self._summary.warnings.append(
                f"{len(found):,} commits have the subject of a reverted one; only {AGAIN_ALL_MAX:,} were looked at."
            )
        commits = self._history.show(sorted({oid for _, oid in found[:AGAIN_ALL_MAX]}))
        for subject, oid in reversed(found[:AGAIN_ALL_MAX]):
            commit = commits.get(oid)
            if commit is not None and len(commit.parents) < 2:
                yield from self._landed(commit, roots[subject])

    def _landed(self, commit: Commit, closings: list[Act]) -> Iterator[Act]:
        diff = None
        made: dict[str, Act] = {}
        for closing in closings:
            root = closing.root
            assert root is not None
            if micros(commit) < micros(root):
                continue
            diff = diff or self._diff(commit, named(commit))
            original = self._diff(root, named(root)) if diff is not None else None
            if diff is None or original is None:
                return
            act = Act(commit, root, root, closing.approach, _after(commit, closing.time), closes=False)
            self._match(act, diff, original, named(commit), again=True)
            act.entities = {path: entity for path, entity in act.entities.items() if path in closing.entities}
            if not act.entities or not self._history.is_ancestor(closing.commit.oid, commit.oid):
                continue
            earlier = made.setdefault(root.oid, act)
            earlier.time = max(earlier.time, act.time)
            earlier.entities = {**act.entities, **earlier.entities}
        yield from made.values()


def _opens(file: File) -> str:
    return "add" if file.status == "A" else "modify"


def _goes_back(revert: File, original: File) -> bool:
    if revert.old == original.new and revert.new == original.old:
        return True  # to the byte: binary files too
    share = taken_back(revert, original)
    return share is not None and share >= TAKEN_BACK_MIN


def _repeats(later: File, original: File) -> bool:
    share = done_again(later, original)
    return share is not None and share >= SAME_MIN


def _renamed(strangers: list[File], left: list[File]) -> list[tuple[File, File]]:
    """Pair files of a revert with files of the reverted commit whose lines they take back under a newer name."""
    pairs = []
    for file in strangers:
        shares = [(taken_back(file, twin) or 0, place) for place, twin in enumerate(left)]
        share, place = max(shares, default=(0, 0))
        if share >= SAME_MIN:
            pairs.append((file, left[place]))
    return pairs
