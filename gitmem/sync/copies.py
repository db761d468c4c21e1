"""Copies: the commits into which a commit's decisions went on, wherever no hook saw it. From git alone, never a guess.

A commit that the log links is looked for again in what HEAD and the branches have now:

  what messages say   `Decision-Id:` trailers, "(cherry picked from commit …)", the list that `merge --squash` writes,
                      and "This reverts commit …", which takes a commit back and places nothing
  commit-map          what git-filter-repo leaves behind: every old commit and its new one
  the same change     an equal patch id, and the same author at the same time (a pick and a rebase keep both)
  squash merges       all of a branch in one commit (`sync/squashes.py`)

Two commits on one line of history that fit equally well are a *doubt*, and give no link.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from gitmem.sync import squashes
from gitmem.sync.history import Commit, History

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.repository import Repository
    from gitmem.sync.patches import Patches

#: So many commits of HEAD and the branches are looked at, the newest.
COMMITS_MAX = 5_000
#: So many linked commits that no trunk has are followed to their branches, so many tips, and so many old HEADs.
STRAYS_MAX, TIPS_MAX, REFLOG_MAX = 500, 500, 200
#: A branch of more commits than this is none that is squashed.
SPAN_MAX = 2_000
#: More commits than this that are equal to one are a doubt, whatever lies between them.
EQUAL_MAX = 8
#: A commit may bear a time before that of the event that was recorded for it, in seconds.
EARLIER_S = 86_400


class Copy:
    """A commit to which events belong besides the one that they are linked to (or, of a revert, that takes it back).

    mine      ids of the events
    replaces  the commits they were linked to; of a revert, those that it takes back
    """

    __slots__ = ("commit", "confidence", "evidence", "how", "mine", "replaces")

    def __init__(
        self, commit: str, how: str, mine: Iterable[str], replaces: Iterable[str], confidence: str, evidence: list[str]
    ) -> None:
        self.commit = commit
        self.how = how
        self.mine = set(mine)
        self.replaces = sorted(set(replaces))
        self.confidence = confidence
        self.evidence = evidence


class Doubt:
    """Events that may belong to one of several commits."""

    __slots__ = ("commits", "mine")

    def __init__(self, mine: Iterable[str], commits: Iterable[str]) -> None:
        self.mine = sorted(set(mine))
        self.commits = sorted(set(commits))


class Placed:
    """Which commits events are linked to, as the log and this clone know it.

    commits    commit -> the ids of its events
    reverting  commit -> the ids of the events whose commit it takes back
    patches    commit -> its patch id, as its link tells it
    authors    event -> the address of its author
    homes      event -> its commits
    followed   commit -> those that took its place
    """

    __slots__ = ("authors", "commits", "followed", "homes", "patches", "reverting")

    def __init__(self) -> None:
        self.commits: dict[str, set[str]] = {}
        self.reverting: dict[str, set[str]] = {}
        self.patches: dict[str, str] = {}
        self.authors: dict[str, str] = {}
        self.homes: dict[str, set[str]] = {}
        self.followed: dict[str, set[str]] = {}

    def put(self, commit: str, events: Iterable[str]) -> None:
        for event in events:
            self.commits.setdefault(commit, set()).add(event)
            self.homes.setdefault(event, set()).add(commit)

    def follow(self, olds: Iterable[str], new: str) -> None:
        for old in olds:
            self.followed.setdefault(old, set()).add(new)

    def went_on(self, commit: str) -> set[str]:
        """Return all the commits that took the place of a commit, or of one that did."""
        found: set[str] = set()
        waiting = [commit]
        while waiting:
            new = self.followed.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found

    def at(self, commit: str) -> set[str]:
        return self.commits.get(commit, set())


def find(
    repository: Repository,
    patches: Patches,
    placed: Placed,
    event_of: Callable[[str], str],
    *,
    since_s: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[list[Copy], list[Doubt]]:
    """Return the copies of the commits in `placed` that it doesn't have, and the doubts.

    `event_of` gives the id of the one change event that begins with some digits, or "". Commits older than `since_s`
    (and `EARLIER_S` before it) are not looked at. `placed` is extended with what is found.
    """
    return _Search(repository, patches, placed, event_of, progress or (lambda what, done, total: None)).run(since_s)


class _Search:
    def __init__(
        self,
        repository: Repository,
        patches: Patches,
        placed: Placed,
        event_of: Callable[[str], str],
        progress: Callable[[str, int, int], None],
    ) -> None:
        self._repository = repository
        self._patches = patches
        self._placed = placed
        self._event_of = event_of
        self._progress = progress
        self._history = History(repository)
        self._commits: list[Commit] = []
        self._by_oid: dict[str, Commit] = {}
        self._patch_of: dict[str, str] = {}
        self._copies: list[Copy] = []
        self._doubts: list[Doubt] = []

    def run(self, since_s: int) -> tuple[list[Copy], list[Doubt]]:
        self._progress("reading commits", 0, 0)
        self._commits = self._history.newest(COMMITS_MAX, since_s - EARLIER_S)
        self._by_oid = {commit.oid: commit for commit in self._commits}
        for commit in self._commits:
            self._stated(commit)
        self._mapped()
        if self._placed.commits:
            single = [commit.oid for commit in self._commits if len(commit.parents) <= 1]
            self._progress("comparing changes", 0, len(single))
            self._patch_of = self._patches.of(single)
            self._equal()
            self._squashed()
        for commit in self._commits:  # at the end: a revert may be of a commit that was only found now
            self._reverts(commit)
        return self._copies, self._doubts

    def _add(
        self, commit: str, how: str, mine: Iterable[str], replaces: Iterable[str], confidence: str, evidence: list[str]
    ) -> None:
        new = set(mine) - self._placed.at(commit)
        if not new:
            return
        olds = {old for old in replaces if self._placed.at(old) & new}
        self._placed.put(commit, new)
        self._placed.follow(olds, commit)
        for copy in self._copies[-1:]:
            if (copy.commit, copy.how, copy.confidence) == (commit, how, confidence):
                copy.mine |= new
                copy.replaces = sorted({*copy.replaces, *olds})
                copy.evidence += [one for one in evidence if one not in copy.evidence]
                return
        self._copies.append(Copy(commit, how, new, olds, confidence, evidence))

    # --- what messages say --------------------------------------------------------------------

    def _stated(self, commit: Commit) -> None:
        said = commit.said
        for prefix in said.decisions:
            event = self._event_of(prefix)
            if event:
                self._add(commit.oid, "trailer", [event], (), "stated", [f"trailer:{event}"])
        for old in said.picked:
            self._add(commit.oid, "cherry-pick", self._placed.at(old), [old], "stated", [f"picked:{old}"])
        for old in said.squashed:
            self._add(commit.oid, "squash", self._placed.at(old), [old], "stated", [f"squashed:{old}"])

    def _reverts(self, commit: Commit) -> None:
        for name in commit.said.reverted:
            found = taken_back(self._placed, name, commit.oid, self._history.is_ancestor)
            if found is not None:
                self._copies.append(found)
                self._placed.reverting.setdefault(commit.oid, set()).update(found.mine)

    # --- git-filter-repo ----------------------------------------------------------------------

    def _mapped(self) -> None:
        pairs = commit_map(self._repository.common_dir)
        olds = [old for old in pairs if self._placed.at(old)]
        here = self._history.here(pairs[old] for old in olds)
        for old in olds:
            if pairs[old] in here:
                self._add(pairs[old], "rebase", self._placed.at(old), [old], "exact", ["commit-map"])

    # --- the same change ----------------------------------------------------------------------

    def _equal(self) -> None:
        by_patch: dict[str, list[Commit]] = {}
        for commit in self._commits:
            patch_id = self._patch_of.get(commit.oid)
            if patch_id:
                by_patch.setdefault(patch_id, []).append(commit)
        olds = [old for old in self._placed.commits if self._patch(old) in by_patch]
        known = self._history.commits(olds)
        for old in olds:
            patch_id = self._patch(old)
            mine = self._placed.at(old)
            fitting = [new for new in by_patch[patch_id] if new.oid != old and mine - self._placed.at(new.oid)]
            fitting = [new for new in fitting if self._is_copy(old, known.get(old), new)]
            if not fitting:
                continue
            if not self._apart(fitting):
                self._doubts.append(Doubt(mine, [new.oid for new in fitting]))
                continue
            is_there = old in self._by_oid or (old in known and self._is_on_a_branch(old))
            for new in fitting:
                how = "cherry-pick" if is_there else "rebase"
                self._add(new.oid, how, mine, [old], "exact", [f"patch-id:{patch_id}"])

    def _patch(self, commit: str) -> str:
        return self._placed.patches.get(commit) or self._patch_of.get(commit, "")

    def _is_copy(self, old: str, known: Commit | None, new: Commit) -> bool:
        """Say whether `new`, which changes the same as `old`, is it once more and not somebody else's same idea."""
        if known is None:  # it is gone; what is left is whose decisions it had
            return new.author in {self._placed.authors.get(event) for event in self._placed.at(old)}
        if not known.is_same_work(new):
            return False
        history = self._history
        return not history.is_ancestor(old, new.oid) and not history.is_ancestor(new.oid, old)

    def _apart(self, commits: list[Commit]) -> bool:
        """Say whether no one of some commits has another one in its history."""
        if len(commits) > EQUAL_MAX:
            return False
        return not any(
            one is not other and self._history.is_ancestor(one.oid, other.oid) for one in commits for other in commits
        )

    def _is_on_a_branch(self, commit: str) -> bool:
        tips = self._history.containing([commit])
        return any(name.startswith("refs/heads/") for names in tips.values() for name in names)

    # --- squash merges ------------------------------------------------------------------------

    def _squashed(self) -> None:
        finder = squashes.Squashes(self._history, self._patches, self._commits, self._patch_of)
        here = self._history.here(self._placed.commits)
        for trunk in self._history.trunks():
            strays, there = self._strays(here, trunk)
            if not strays:
                continue
            branches, spans = self._branches(strays, trunk)
            became: dict[str, dict[str, tuple[squashes.Squash, str]]] = {}
            for branch, squash in finder.of(branches):
                if self._placed.went_on(squash.commit.oid) & spans[branch.tip.oid]:
                    continue  # the other way round: the branch holds what this commit became
                for old in strays & spans[branch.tip.oid]:
                    became.setdefault(old, {})[squash.commit.oid] = (squash, branch.tip.oid)
            together: dict[str, tuple[squashes.Squash, set[str]]] = {}
            for old, found in became.items():
                if len(found) > 1:  # as the tip of one branch and as a part of another
                    self._doubts.append(Doubt(self._placed.at(old), found))
                    continue
                for squash, _ in found.values():
                    together.setdefault(squash.commit.oid, (squash, set()))[1].add(old)
            for squash, olds in together.values():
                mine = {event for old in olds for event in self._placed.at(old)} - there
                self._add(squash.commit.oid, "squash", mine, olds, squash.confidence, squash.evidence)
        for branch, fitting in finder.doubts:
            self._doubts.append(Doubt(self._placed.at(branch.tip.oid), [commit.oid for commit in fitting]))

    def _strays(self, here: set[str], trunk: str) -> tuple[set[str], set[str]]:
        """Return the linked commits that `trunk` does not reach, nor what took their place, and the events it has.

        An event that has a commit on the trunk needs no other there: seen from the branch, its squash merge is a
        commit that the branch doesn't have, and that one was not squashed into the branch.
        """
        placed = self._placed
        outside = self._history.outside(here, trunk)
        arrived = here - outside
        there = {event for commit in arrived for event in placed.at(commit)}
        strays = [commit for commit in placed.commits if commit in outside and placed.at(commit) - there]
        return {commit for commit in strays[-STRAYS_MAX:] if not placed.went_on(commit) & arrived}, there

    def _branches(self, strays: set[str], trunk: str) -> tuple[list[squashes.Branch], dict[str, set[str]]]:
        """Return the branches that hold some linked commits, and the commits of each by its tip."""
        history = self._history
        names = history.containing(sorted(strays))
        tips = [*names, *sorted(strays)]
        old_heads = [oid for oid in history.reflog(REFLOG_MAX) if oid not in names]
        if old_heads:
            tips += sorted(history.outside(history.here(old_heads), trunk))
        spans: dict[str, set[str]] = {}
        for tip in dict.fromkeys(tips[:TIPS_MAX]):
            span = history.span(tip, trunk, SPAN_MAX)
            if span & strays and len(span) < SPAN_MAX:
                spans[tip] = span
        bases = {tip: history.base(tip, trunk) for tip in spans}
        commits = history.commits([*spans, *(base for base in bases.values() if base)])
        branches = [
            squashes.Branch(commits[tip], names.get(tip, ()), trunk, commits[bases[tip]])
            for tip in spans
            if tip in commits and bases[tip] in commits
        ]
        return branches, spans


def taken_back(
    placed: Placed, name: str, by: str, is_ancestor: Callable[[str, str], bool], also: Mapping[str, str] | None = None
) -> Copy | None:
    """Return the revert that the commit `by` states of the commit `name` (or of the one that begins so); None for none.

    It counts for the events that have a commit in the history of `by`: a message that was squashed or rebased along
    with what it speaks of names commits that never were there. `also`: commits that took the place of others just now.
    """
    olds = [commit for commit in (*placed.commits, *placed.reverting) if commit.startswith(name)]
    if len(set(olds)) != 1:
        return None
    old = olds[0]
    back: set[str] = set()
    mine: set[str] = set()
    if old in placed.reverting and is_ancestor(old, by) and old != by:
        mine, back = set(placed.reverting[old]), {old}  # the revert of a revert
    for event in placed.at(old):
        homes = {(also or {}).get(home, home) for home in placed.homes[event]}
        reached = {home for home in homes if home != by and is_ancestor(home, by)}
        if reached:
            mine.add(event)
            back |= {old} if old in reached else reached
    mine -= placed.reverting.get(by, set())
    if not mine:
        return None
    return Copy(by, "revert", mine, back, "stated", [f"reverts:{old}"])


def commit_map(common_dir: str) -> dict[str, str]:
    """Return what git-filter-repo wrote down of its last run: old commit -> new commit."""
    try:
        with open(os.path.join(common_dir, "filter-repo", "commit-map"), encoding="ascii", errors="replace") as file:
            lines = [line.split() for line in file]
    except OSError:
        return {}
    pairs = {line[0]: line[1] for line in lines if len(line) == 2 and len(line[0]) in (40, 64)}
    return {old: new for old, new in pairs.items() if old != new and new.strip("0")}
