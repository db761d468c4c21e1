"""Links: which commit an event belongs to. Found by ancestry and branch, never by a time window.

An event is recorded before its commit exists. It carries its *base*: the commit that HEAD was on and the
branch (on a detached HEAD: the worktree). The next commit made on that base, on that branch, is its
commit. So two worktrees that stand on one commit never take each other's events, and an event an hour
old is as good as one of this second.

Everything here reads git and says which links are wanted, without those that the log has already; nothing is written.
Where nothing proves the commit, the event stays unlinked:

  `after_commit`   the commit at HEAD was just made (post-commit hook)
  `after_rewrite`  git gave pairs of old and new commits (post-rewrite hook: amend, rebase)
  `scan`           no hook was there: walk each branch from the base to its tip

An event about what HEAD itself changed, recorded on a clean tree, is linked at once (`heads.head_touches`). Commits
that are copies of linked ones are the business of `copies`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from gitmem.core.drafts import Draft
from gitmem.store import git
from gitmem.sync import branches, commits, heads
from gitmem.sync.heads import HEADS, Head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.repository import Repository

#: So many events one link names; more of them make more links.
TARGETS_MAX = 1_000
#: How far `scan` looks for renames that no event waits for.
SCAN_COMMITS_MAX = 2_000


class Wanted:
    """A link to be.

    commit      of the code
    mine        the ids of the events that it takes; none: it is made for the files that the commit moved
    how         what found it
    replaces    the commits that it replaces; of a revert, those that it takes back
    here        it happened in this clone, so that no other one knows it: whoever the events' author is, it is written
    confidence, evidence   what shows it, where that is not the very making of the commit
    """

    __slots__ = ("commit", "confidence", "evidence", "here", "how", "mine", "replaces")

    def __init__(
        self,
        commit: str,
        mine: Iterable[str],
        how: str,
        replaces: Iterable[str] = (),
        *,
        here: bool = True,
        confidence: str = "",
        evidence: Sequence[str] = (),
    ) -> None:
        self.commit = commit
        self.mine = set(mine)
        self.how = how
        self.replaces = sorted(set(replaces))
        self.here = here
        self.confidence = confidence
        self.evidence = list(evidence)


class Unlinked:
    """An event without a commit: its id, what it is about, its `base`, when and by whom it was recorded."""

    __slots__ = ("author", "base", "entity_path", "id", "recorded_at")

    def __init__(self, id: str, entity_path: str, base: Mapping[str, object], recorded_at: str, author: str) -> None:
        self.id = id
        self.entity_path = entity_path
        self.base = base
        self.recorded_at = recorded_at
        self.author = author


def after_commit(
    repository: Repository,
    unlinked: Iterable[Unlinked],
    *,
    linked: Callable[[str], Iterable[str]] = lambda commit: (),
    at: Head | None = None,
) -> list[Wanted]:
    """Return the links to the commit at HEAD, which was just made; usually one or none.

    It takes the events of `unlinked` that were recorded on its first parent (a root commit: on nothing) and
    on this branch, or, on a detached HEAD, in this worktree. A commit that takes no event is wanted all the
    same: it may move a file that the log knows (see `drafts`). `linked(commit)` gives the ids that already have a
    link to a commit; they get no second one.
    """
    at = at or heads.head(repository)
    if not at.oid or heads.busy(repository.git_dir):
        return []
    here = heads.base_of(repository, at)
    parent = at.parents[0] if at.parents else None
    waiting = [event for event in unlinked if heads.is_same_place(event.base, here)]
    done = set(linked(at.oid))
    mine = {event.id for event in waiting if event.base.get("commit") == parent} - done
    others = [event for event in waiting if event.base.get("commit") not in (parent, at.oid)]
    wanted = [Wanted(at.oid, mine, "post-commit")] if mine else []
    # An amend runs this hook first and post-rewrite (where that is installed) after it. What was recorded on
    # the commit as it was belongs to the commit as it is.
    replaced = branches.amended_one(repository, at) if others else ""
    if replaced:
        mine = {event.id for event in others if event.base.get("commit") == replaced} - done
        wanted += [Wanted(at.oid, mine, "amend", (replaced,))] if mine else []
    if not wanted and not done:
        wanted = [Wanted(at.oid, (), "post-commit")]
    return wanted


def after_rewrite(
    repository: Repository,
    pairs: Iterable[tuple[str, str]],
    how: str,
    linked: Callable[[str], Iterable[str]],
    unlinked: Iterable[Unlinked] = (),
) -> list[Wanted]:
    """Return the links to the commits that took the place of others; one for each new commit that takes events.

    `pairs` are (old, new) commit oids as post-rewrite gives them, many olds for one new where commits were
    squashed; `how` is "amend" or "rebase". What was linked to an old commit is linked to the new one, and an
    amended commit takes what was recorded on it here and never linked.
    """
    if how == "amend" and heads.busy(repository.git_dir):
        return []  # in the middle of a rebase, which tells all its pairs at its end
    olds: dict[str, list[str]] = {}
    for old, new in pairs:
        if old != new:
            olds.setdefault(new, []).append(old)
    wanted: list[Wanted] = []
    here: dict[str, object] | None = None
    waiting = list(unlinked) if how == "amend" else []
    for new, replaced in olds.items():
        mine = {event_id for old in replaced for event_id in linked(old)}
        for event in waiting:
            if event.base.get("commit") in replaced:
                here = here or heads.base_of(repository)
                if heads.is_same_place(event.base, here):
                    mine.add(event.id)
        mine -= set(linked(new))
        if mine:
            wanted.append(Wanted(new, mine, how, replaced))
    return wanted


def scan(
    repository: Repository,
    unlinked: Iterable[Unlinked],
    known: Callable[[str], Iterable[str]] = lambda name: (),
    *,
    linked: Callable[[str], Iterable[str]] = lambda commit: (),
    since: str = "",
) -> list[Wanted]:
    """Return the links that the hooks would have made, found afterwards from git alone.

    For each event the first-parent chain of its branch (or of its worktree's detached HEAD) is walked from its
    base to the tip, and the first commit on it is the event's, unless the reflog says that this commit
    was not made here but came by a fast-forward, a pull, a reset, a rebase or a cherry-pick. Where no reflog
    knows (a fresh clone), author or committer of the commit must be the author of the event.
    A commit of this branch that was amended takes what was linked to it before.
    With `since` (a commit), files moved in later commits of this branch are followed too (see `after_commit`).
    """
    places: dict[tuple[str, str], list[Unlinked]] = {}
    worktrees = branches.worktrees(repository)
    for event in unlinked:
        branch, worktree = event.base.get("branch"), event.base.get("worktree")
        if branch:
            places.setdefault((repository.git_dir, HEADS + str(branch)), []).append(event)
        elif worktree:
            git_dir = worktrees.get(str(worktree))
            if git_dir:
                places.setdefault((git_dir, "HEAD"), []).append(event)
    found: dict[tuple[str, str, bool], set[str]] = {}
    for (git_dir, ref), events in places.items():
        for event_id, commit, how, here in branches.along(branches.Place(repository, git_dir, ref), events):
            found.setdefault((commit, how, here), set()).add(event_id)
    wanted: list[Wanted] = []
    for (commit, how, here), mine in found.items():
        mine -= set(linked(commit))
        if mine:
            wanted.append(Wanted(commit, mine, how, here=here))
    for new, replaced in branches.amended_before(repository).items():
        mine = {event_id for old in replaced for event_id in linked(old)} - set(linked(new))
        if mine:
            wanted.append(Wanted(new, mine, "amend", replaced))
    if since:
        wanted += _moved_since(repository, since, known, linked, {one.commit for one in wanted})
    return wanted


def drafts(
    repository: Repository,
    wanted: Iterable[Wanted],
    known: Callable[[str], Iterable[str]] = lambda name: (),
    *,
    at: Head | None = None,
) -> list[Draft]:
    """Return the drafts of wanted links, with what a link says of its commit.

    One that takes no event is made where its commit moves a file that the log knows, so that the file's decisions
    go with it: `known(path)` gives the ids of the events on that entity, and they are its targets.
    """
    found = []
    for one in wanted:
        common: dict[str, object] = {
            "commit": one.commit,
            "how": one.how,
            "replaces": one.replaces,
            "confidence": one.confidence,
            "evidence": one.evidence,
        }
        pairs: list[list[str]] = []
        if one.how != "revert":  # where the reverting commit itself belongs is another link's to say
            pairs = commits.bounded(commits.renames(repository, one.commit), known)
        targets = sorted(one.mine or _followers(pairs, known))
        if not targets:
            continue
        if one.how != "revert":
            tree = at.tree if at and at.oid == one.commit else ""
            common |= commits.about(repository, one.commit, known, tree_oid=tree, moved=pairs)
        for start in range(0, len(targets), TARGETS_MAX):
            fields = {**common, "targets": targets[start : start + TARGETS_MAX]}
            if start:
                fields.pop("renames", None)  # once is enough
            found.append(Draft("link", {name: value for name, value in fields.items() if value}))
    return found


def _followers(pairs: Iterable[Sequence[str]], known: Callable[[str], Iterable[str]]) -> list[str]:
    """Return what a link can hang on that is made for its renames alone."""
    return sorted({event_id for old, _ in pairs for event_id in known(old)})[:TARGETS_MAX]


def _moved_since(
    repository: Repository,
    since: str,
    known: Callable[[str], Iterable[str]],
    linked: Callable[[str], Iterable[str]],
    done: set[str],
) -> list[Wanted]:
    words = ("rev-list", "--first-parent", "--no-merges", f"--max-count={SCAN_COMMITS_MAX}", "HEAD", "^" + since, "--")
    found = repository.git(*words, env=git.RAW, check=False)
    if not found:
        return []
    out = repository.git(*commits.RENAMES, "--stdin", env=git.RAW, input=found, check=False)
    wanted: list[Wanted] = []
    for commit, pairs in commits.renames_of(out).items():
        followers = _followers(pairs, known)
        if commit not in done and followers and not commits.any_known(linked, commit):
            wanted.append(Wanted(commit, followers, "post-commit", here=False))
    return wanted
