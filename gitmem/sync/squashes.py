"""Squash merges: the one commit that all of a branch became. Found offline, from the branch and the trunk alone.

What a squash merge brings is what the branch changed since it left the trunk, whoever made it and whatever it says.
So the *cumulative* patch id of the branch is looked for among the commits of the trunk. In this order, and the next
only where the one before finds nothing:

  patch-id   the commit changes the same, in the same surroundings
  tree       the commit has the very files of the branch's tip
  lines      the same lines, in other surroundings (a neighbour changed them first): three lines at the least
  pull       it ends in `(#12)`, the branch is the head of pull request 12, and most of its lines are the same

One commit on a trunk, or none: where two fit, nothing is said but that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from gitmem.sync.history import pull_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.sync.history import Commit, History
    from gitmem.sync.patches import Patches

#: Fewer lines than this are the same by chance.
LINES_MIN = 3
#: Of the lines of either side, so many percent are the other's.
SHARED_MIN = 80
#: How many commits that touch the files of a branch are compared line by line, and in how many files.
COMPARED_MAX, FILES_MAX = 200, 200


class Branch:
    """A tip that may have been squashed: the commit, the pull requests it is the head of, and where it left a trunk."""

    __slots__ = ("base", "pulls", "tip", "trunk")

    def __init__(self, tip: Commit, names: Iterable[str], trunk: str, base: Commit) -> None:
        self.tip = tip
        self.pulls = frozenset(number for number in map(pull_of, names) if number)
        self.trunk = trunk
        self.base = base


class Squash:
    """What a branch became: its commit, how sure that is, and what shows it."""

    __slots__ = ("commit", "confidence", "evidence")

    def __init__(self, commit: Commit, confidence: str, evidence: list[str]) -> None:
        self.commit = commit
        self.confidence = confidence
        self.evidence = evidence


class Squashes:
    """Looks for squash merges among `commits`. `doubts` are the branches for which two commits fit."""

    def __init__(self, history: History, patches: Patches, commits: Sequence[Commit], patch_of: dict[str, str]) -> None:
        self._history = history
        self._patches = patches
        self._by_patch: dict[str, list[Commit]] = {}
        self._by_tree: dict[str, list[Commit]] = {}
        self._by_oid = {commit.oid: commit for commit in commits}
        self._by_pull: dict[int, list[Commit]] = {}
        for commit in commits:
            if len(commit.parents) == 1:
                if patch_of.get(commit.oid):
                    self._by_patch.setdefault(patch_of[commit.oid], []).append(commit)
                self._by_tree.setdefault(commit.tree, []).append(commit)
                number = commit.said.pull
                if number:
                    self._by_pull.setdefault(number, []).append(commit)
        self.doubts: list[tuple[Branch, list[Commit]]] = []

    def of(self, branches: Sequence[Branch]) -> list[tuple[Branch, Squash]]:
        """Return what some branches became, those of which that can be told."""
        pairs = [(branch.base.tree, branch.tip.tree) for branch in branches]
        patch_ids = self._patches.of_ranges(pairs)
        found = []
        for branch, pair in zip(branches, pairs, strict=True):
            squash = self._of(branch, patch_ids[pair]) if patch_ids[pair] else None
            if squash is not None:
                squash.evidence.append(f"range:{branch.base.oid}..{branch.tip.oid}")
                found.append((branch, squash))
        return found

    def _of(self, branch: Branch, patch_id: str) -> Squash | None:
        for confidence, evidence, candidates in self._stages(branch, patch_id):
            fitting = [commit for commit in candidates if self._may_be(branch, commit)]
            if len(fitting) > 1:
                numbered = [commit for commit in fitting if commit.said.pull in branch.pulls]
                fitting = numbered if len(numbered) == 1 else fitting
            if len(fitting) > 1:
                self.doubts.append((branch, fitting))
                return None
            if fitting:
                commit = fitting[0]
                number = commit.said.pull
                pull = [f"pull:{number}"] if number in branch.pulls else []
                return Squash(commit, confidence, ([evidence] if evidence else []) + pull)
        return None

    def _stages(self, branch: Branch, patch_id: str) -> Iterator[tuple[str, str, Sequence[Commit]]]:
        """Yield how sure each kind of evidence is, what it is, and which commits have it."""
        yield "exact", f"patch-id:{patch_id}", self._by_patch.get(patch_id, ())
        yield "exact", f"tree:{branch.tip.tree}", self._by_tree.get(branch.tip.tree, ())
        yield ("lines", *self._with_lines(branch))
        yield "stated", "", self._with_number(branch)

    def _may_be(self, branch: Branch, commit: Commit) -> bool:
        """Say whether `commit` lies on the trunk, after the branch left it, and isn't one of the branch's own."""
        # Older than the tip it can't be made from it. Clocks differ, and a squash may be missed for it; without this,
        # a branch could be taken for what its own squash became, where the branch is checked out.
        if commit.committed < branch.tip.committed:
            return False
        history = self._history
        return history.is_ancestor(commit.oid, branch.trunk) and not history.is_ancestor(commit.oid, branch.tip.oid)

    def _with_lines(self, branch: Branch) -> tuple[str, list[Commit]]:
        names = self._history.names(branch.base.oid, branch.tip.oid)
        if not 0 < len(names) <= FILES_MAX:
            return "", []
        near = self._history.touching(names, branch.base.oid, branch.trunk, COMPARED_MAX)
        near = [oid for oid in near if oid in self._by_oid]
        wanted = self._patches.lines_of_ranges([(branch.base.tree, branch.tip.tree)])
        lines = wanted[branch.base.tree, branch.tip.tree]
        if not near or not lines:
            return "", []
        found = [self._by_oid[oid] for oid, its in self._patches.lines_of(near).items() if its == lines]
        if found and len(self._history.lines(branch.base.oid, branch.tip.oid)) < LINES_MIN:
            return "", []
        return f"lines:{lines}", found

    def _with_number(self, branch: Branch) -> list[Commit]:
        stated = [commit for number in sorted(branch.pulls) for commit in self._by_pull.get(number, [])]
        if not stated:
            return []
        mine = self._history.lines(branch.base.oid, branch.tip.oid)
        return [commit for commit in stated if _is_mostly(mine, self._history.lines(commit.parents[0], commit.oid))]


def _is_mostly(mine: list[bytes], its: list[bytes]) -> bool:
    shared = sum((Counter(mine) & Counter(its)).values())
    return shared >= LINES_MIN and 100 * shared >= SHARED_MIN * max(len(mine), len(its))
