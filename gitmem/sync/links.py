"""Links: which commit an event belongs to. Found by ancestry and branch, never by a time window.

An event is recorded before its commit exists. It carries its *base*: the commit that HEAD was on and the
branch (on a detached HEAD: the worktree). The next commit made on that base, on that branch, is its
commit. So two worktrees that stand on one commit never take each other's events, and an event an hour
old is as good as one of this second.

Everything here reads git and returns drafts of `link` events; nothing is written, and a link that the log
already has is never drafted again. Where nothing proves the commit, the event stays unlinked:

  `after_commit`   the commit at HEAD was just made (post-commit hook)
  `after_rewrite`  git gave pairs of old and new commits (post-rewrite hook: amend, rebase)
  `scan`           no hook was there: walk each branch from the base to its tip
  `head_touches`   a clean tree, and HEAD changed the very thing: the event belongs to HEAD itself
"""

from __future__ import annotations

import hashlib
import os
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence

from gitmem.core import characters, entities
from gitmem.core.drafts import Draft
from gitmem.errors import GitFailed
from gitmem.store import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.repository import Repository

#: How much of a file must come back under another name to be the same file, in percent; git's own default
#: is 50, and at 50 two short files with one licence text are "renamed".
SIMILARITY = 60
#: Git compares at most this many files with each other, and a link carries at most this many renames.
RENAMES_MAX = 500
#: ... and at most this many bytes of names: an event has 256 KiB in all (F5).
RENAMES_BYTES_MAX = 64 * 1024
#: So many events one link names; more of them make more links.
TARGETS_MAX = 1_000
#: What we give git to look into one commit. Longer means a vendored tree or the like; the link then says less.
LOOK_S = 1.0
#: How far `scan` looks for renames that no event waits for.
SCAN_COMMITS_MAX = 2_000

HEADS = "refs/heads/"
#: No program of the user's has a say in what a commit changed.
_PLAIN = ("--no-ext-diff", "--no-textconv")

Wanted = namedtuple("Wanted", ("commit", "mine", "how", "replaced"))
Wanted.__doc__ = "A link to be: its commit, the ids it takes (none: for its renames alone), how, what it replaces."

Unlinked = namedtuple("Unlinked", ("id", "entity_path", "base", "recorded_at", "author"))
Unlinked.__doc__ = "An event without a commit: its id, what it is about, its `base`, when and by whom it was recorded."

Head = namedtuple("Head", ("oid", "tree", "parents", "ref"))
Head.__doc__ = "Where HEAD is: commit oid ('' when unborn), its tree, its parents, full ref name ('' when detached)."


# --- where we are ----------------------------------------------------------------------------


def head(repository: Repository, asked: git.Process | None = None) -> Head:
    """Return where HEAD is now. One git in the usual case, two on an unborn branch.

    `asked`: a git that was started with `git.HEAD_WORDS` before.
    """
    result = asked.communicate() if asked else repository.try_git(*git.HEAD_WORDS, env=git.RAW)
    lines = result.out.decode("utf-8", "replace").split("\n")[:-1]
    size = repository.form.hex_size
    oids = [line for line in lines if len(line) == size and "/" not in line]
    ref = lines[len(oids)] if len(lines) > len(oids) else ""
    if result.rc != 0:
        oids = []
    if not ref or result.rc != 0:
        # Unborn, or a branch is called HEAD too and rev-parse won't say which one is meant.
        ref = repository.git("symbolic-ref", "-q", "HEAD", check=False).decode("utf-8", "replace").strip()
    elif ref == "HEAD":
        ref = ""
    return Head(oids[0] if oids else "", oids[1] if oids else "", tuple(oids[2:]), ref)


def base_of(repository: Repository, at: Head | None = None) -> dict[str, object]:
    """Return the `base` of an event that is recorded now.

    {"commit": oid, "branch": short name}; without "commit" on an unborn branch; on a detached HEAD with
    "worktree" instead of "branch".
    """
    at = at or head(repository)
    base: dict[str, object] = {"commit": at.oid} if at.oid else {}
    if at.ref:
        base["branch"] = short(at.ref)
    else:
        base["worktree"] = worktree_id(repository.git_dir)
    return base


def short(ref: str) -> str:
    return ref.removeprefix(HEADS)


def worktree_id(git_dir: str) -> str:
    """Return the name of a worktree in a `base`: 12 hex digits of SHA-256 over its real git directory."""
    return hashlib.sha256(os.fsencode(os.path.realpath(git_dir))).hexdigest()[:12]


#: In a worktree's git directory while git itself moves commits around. A single cherry-pick leaves
#: CHERRY_PICK_HEAD there until its post-commit hook has run (measured); a finished revert leaves nothing,
#: and rightly so: a revert is a new commit, often the very one that a decision waits for.
BUSY = ("rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD", "sequencer")


def busy(git_dir: str) -> str:
    """Return the sign that a rebase, cherry-pick or revert runs in this worktree, or an empty string."""
    for name in BUSY:
        if os.path.lexists(os.path.join(git_dir, name)):
            return name
    return ""


def head_touches(repository: Repository, entity_path: str, at: Head | None = None) -> bool:
    """Say whether an event about `entity_path` that is recorded now belongs to HEAD rather than to the next commit.

    That is so when HEAD's commit changed the file that the entity names or lies in (or, for an entity that
    is no file, a line with its last identifier), and neither the index nor a tracked file differs from HEAD.
    """
    at = at or head(repository)
    if not at.oid or not _touched(repository, at, entity_path):
        return False
    if busy(repository.git_dir) or os.path.lexists(os.path.join(repository.git_dir, "MERGE_HEAD")):
        return False
    return _clean(repository)


def _clean(repository: Repository) -> bool:
    if repository.work_tree is None:
        return True  # a bare repository: nothing can wait for a commit
    # A changed submodule counts, what is changed inside of one does not (and would take a git for each).
    result = repository.try_git("status", "--porcelain", "-uno", "--ignore-submodules=dirty", work_tree=True)
    return result.rc == 0 and not result.out


def _touched(repository: Repository, at: Head, entity_path: str) -> bool:
    pair = _pair(repository, at)
    if not pair:
        return False
    file = entities.file_of(entity_path)
    inside = entity_path.partition("/")[0].casefold() in entities.PREFIXES
    if file or ("/" in entity_path and not inside):
        wanted = _comparable(file or entity_path)
        names = [_comparable(name) for name in _changed(repository, ("diff-tree",), pair)]
        if wanted in names or (not file and any(name.startswith(wanted + "/") for name in names)):
            return True
    if file:
        return False
    identifier = _identifier(entity_path)
    if len(identifier) < 2:
        return False
    edge = "([^A-Za-z0-9_]|^|$)"
    # Files over a mebibyte (dumps, lock files, bundles) count as binary here: no commit takes long to look into.
    words = ("-c", "core.bigFileThreshold=1m", "diff-tree", "-i", f"-G{edge}{_literally(identifier)}{edge}")
    return bool(_changed(repository, words, pair))


def _changed(repository: Repository, words: Sequence[str], pair: tuple[str, str]) -> list[str]:
    options = ("-r", "--no-renames", *_PLAIN, "--name-only", "-z")
    try:
        result = repository.try_git(*words, *options, *pair, env=git.RAW, timeout_s=LOOK_S)
    except GitFailed:
        return []
    return [name for name in result.out.decode("utf-8", "replace").split("\0") if name] if result.rc == 0 else []


def _pair(repository: Repository, at: Head) -> tuple[str, str] | tuple[()]:
    """Return the two trees whose difference is what HEAD's commit did; for a merge, what it brought to its branch."""
    if at.parents:
        return (at.parents[0], at.oid)
    # The last commit of a shallow clone looks like a root, and then it would have touched everything.
    raw = repository.git("cat-file", "commit", at.oid, env=git.RAW, check=False)
    if not raw or b"\nparent " in raw.partition(b"\n\n")[0]:
        return ()
    return (repository.form.empty_tree, at.oid)


def _comparable(path: str) -> str:
    if not path.isascii():
        import unicodedata

        path = unicodedata.normalize("NFC", path)
    return path.casefold()


def _identifier(name: str) -> str:
    """Return the word by which code names the entity: `users.email` is `email`, `api/v1/users/{id}` is `users`."""
    parts = [part for part in name.split("/") if part[:1] not in "{<:["]
    last = parts[-1] if parts else ""
    if name.partition("/")[0].casefold() in entities.PREFIXES and "/" in name:
        return last if len(parts) > 1 else ""
    return last.rpartition(".")[2]


def _literally(text: str) -> str:
    return "".join("\\" + c if c in r".[]\()*+?{}|^$" else c for c in text)


# --- about one commit ------------------------------------------------------------------------


def tree(repository: Repository, commit: str) -> str:
    """Return the oid of the tree of `commit`, or an empty string where that commit isn't here."""
    words = ("rev-parse", "-q", "--verify", commit + "^{tree}")
    return repository.git(*words, env=git.RAW, check=False).decode().strip()


def patch_id(repository: Repository, commit: str) -> str:
    """Return git's stable patch id of `commit`: equal for the same change on another parent.

    Empty for a merge, for a commit that changes nothing, and where it would take longer than `LOOK_S`.
    """
    words = ("diff-tree", "--root", "-r", "-p", "--full-index", "--no-renames", *_PLAIN, commit)
    where, environ, env = repository.git_dir, repository.environ, {**repository.env(), **git.RAW}
    diff = git.Process(words, git_dir=where, environ=environ, env=env)
    try:
        # From process to process: the diff of a vendored tree never passes through our memory.
        name = git.Process(("patch-id", "--stable"), git_dir=where, environ=environ, env=env, stdin_from=diff)
        result = name.communicate(timeout_s=LOOK_S)
        whole = diff.wait() == 0 and result.rc == 0
    except GitFailed:
        return ""
    finally:
        diff.kill()
    return result.out.decode().partition(" ")[0].strip() if whole else ""


def renames(repository: Repository, commit: str) -> list[list[str]]:
    """Return the files that `commit` moved, as [old name, new name] pairs sorted by the old name.

    By git's own rename detection at `SIMILARITY` percent, at most `RENAMES_MAX`; none for a merge, whose
    sides have told theirs, nor where it would take longer than `LOOK_S`. A name that can't be an entity
    path (not UTF-8, invisible characters, too long) is left out.
    """
    words = (*_RENAMES, "--root", commit)
    try:
        result = repository.try_git(*words, env=git.RAW, timeout_s=LOOK_S)
    except GitFailed:
        return []
    if result.rc != 0:
        return []
    return _renames_of(result.out).get(commit, [])


_RENAMES = (
    "diff-tree",
    "-r",
    f"-M{SIMILARITY}%",
    f"-l{RENAMES_MAX}",
    "--diff-filter=R",
    "--name-status",
    "-z",
    *_PLAIN,
)


def _renames_of(out: bytes) -> dict[str, list[list[str]]]:
    """Read `diff-tree -z --name-status` of one or many commits: commit -> pairs."""
    found: dict[str, list[list[str]]] = {}
    fields = iter(out.split(b"\0"))
    commit = ""
    for field in fields:
        if field[:1] == b"R" and field[1:].isdigit():
            old, new = _name(next(fields, b"")), _name(next(fields, b""))
            if old and new and old != new:
                found.setdefault(commit, []).append([old, new])
        elif field:
            commit = field.decode("ascii", "replace").strip()
    for commit, pairs in found.items():
        found[commit] = sorted(pairs)
    return found


def _name(raw: bytes) -> str:
    try:
        name = raw.decode("utf-8")
        if characters.first_invisible(name):
            return ""
        return entities.canonical(name)
    except (UnicodeDecodeError, entities.BadName):
        return ""


def _bounded(pairs: list[list[str]], known: Callable[[str], Iterable[str]]) -> list[list[str]]:
    """Cut `pairs` to what one event may carry; those that the log knows go first."""
    sizes = [len(old.encode()) + len(new.encode()) for old, new in pairs]
    if len(pairs) <= RENAMES_MAX and sum(sizes) <= RENAMES_BYTES_MAX:
        return pairs
    order = sorted(range(len(pairs)), key=lambda i: not (_any(known, pairs[i][0]) or _any(known, pairs[i][1])))
    kept: list[list[str]] = []
    room = RENAMES_BYTES_MAX
    for i in order[:RENAMES_MAX]:
        if sizes[i] > room:
            break
        room -= sizes[i]
        kept.append(pairs[i])
    return sorted(kept)


def _any(known: Callable[[str], Iterable[str]], name: str) -> bool:
    return any(True for _ in known(name))


# --- the drafts ------------------------------------------------------------------------------


def after_commit(
    repository: Repository,
    unlinked: Iterable[Unlinked],
    known: Callable[[str], Iterable[str]] = lambda name: (),
    *,
    linked: Callable[[str], Iterable[str]] = lambda commit: (),
    at: Head | None = None,
) -> list[Draft]:
    """Return the links to the commit at HEAD, which was just made; usually one or none.

    It takes the events of `unlinked` that were recorded on its first parent (a root commit: on nothing) and
    on this branch, or, on a detached HEAD, in this worktree. A commit that takes no event gets a link all the
    same where it moves a file that the log knows, so that the file's decisions go with it: `known(path)`
    gives the ids of the events on that entity, and they are its targets. `linked(commit)` gives the ids
    that already have a link to a commit; they get no second one.
    """
    at = at or head(repository)
    if not at.oid or busy(repository.git_dir):
        return []
    here = base_of(repository, at)
    parent = at.parents[0] if at.parents else None
    waiting = [event for event in unlinked if _same_place(event.base, here)]
    done = set(linked(at.oid))
    mine = {event.id for event in waiting if event.base.get("commit") == parent} - done
    others = [event for event in waiting if event.base.get("commit") not in (parent, at.oid)]
    wanted: list[Wanted] = [Wanted(at.oid, mine, "post-commit", ())] if mine else []
    # An amend runs this hook first and post-rewrite (where that is installed) after it. What was recorded on
    # the commit as it was belongs to the commit as it is.
    replaced = _amended(repository, at) if others else ""
    if replaced:
        mine = {event.id for event in others if event.base.get("commit") == replaced} - done
        wanted += [Wanted(at.oid, mine, "amend", (replaced,))] if mine else []
    if not wanted and not done:
        wanted = [Wanted(at.oid, set(), "post-commit", ())]
    return _drafts(repository, wanted, known, trees={at.oid: at.tree})


def after_rewrite(
    repository: Repository,
    pairs: Iterable[tuple[str, str]],
    how: str,
    linked: Callable[[str], Iterable[str]],
    unlinked: Iterable[Unlinked] = (),
    known: Callable[[str], Iterable[str]] = lambda name: (),
) -> list[Draft]:
    """Return the links to the commits that took the place of others; one for each new commit that takes events.

    `pairs` are (old, new) commit oids as post-rewrite gives them, many olds for one new where commits were
    squashed; `how` is "amend" or "rebase". What was linked to an old commit is linked to the new one, and an
    amended commit takes what was recorded on it here and never linked.
    """
    if how == "amend" and busy(repository.git_dir):
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
                here = here or base_of(repository)
                if _same_place(event.base, here):
                    mine.add(event.id)
        mine -= set(linked(new))
        if mine:
            wanted.append(Wanted(new, mine, how, replaced))
    return _drafts(repository, wanted, known)


def scan(
    repository: Repository,
    unlinked: Iterable[Unlinked],
    known: Callable[[str], Iterable[str]] = lambda name: (),
    *,
    linked: Callable[[str], Iterable[str]] = lambda commit: (),
    since: str = "",
) -> list[Draft]:
    """Return the links that the hooks would have made, found afterwards from git alone.

    For each event the first-parent chain of its branch (or of its worktree's detached HEAD) is walked from its
    base to the tip, and the first commit on it is the event's, unless the reflog says that this commit
    was not made here but came by a fast-forward, a pull, a reset, a rebase or a cherry-pick. Where no reflog
    knows (a fresh clone), author or committer of the commit must be the author of the event.
    A commit of this branch that was amended takes what was linked to it before.
    With `since` (a commit), files moved in later commits of this branch are followed too (see `after_commit`).
    """
    places: dict[tuple[str, str], list[Unlinked]] = {}
    worktrees = _worktrees(repository)
    for event in unlinked:
        branch, worktree = event.base.get("branch"), event.base.get("worktree")
        if branch:
            places.setdefault((repository.git_dir, HEADS + str(branch)), []).append(event)
        elif worktree:
            git_dir = worktrees.get(str(worktree))
            if git_dir:
                places.setdefault((git_dir, "HEAD"), []).append(event)
    found: dict[tuple[str, str], set[str]] = {}
    for (git_dir, ref), events in places.items():
        for event_id, commit, how in _along(Place(repository, git_dir, ref), events):
            found.setdefault((commit, how), set()).add(event_id)
    wanted: list[Wanted] = []
    for (commit, how), mine in found.items():
        mine -= set(linked(commit))
        if mine:
            wanted.append(Wanted(commit, mine, how, ()))
    for new, replaced in _amended_before(repository).items():
        mine = {event_id for old in replaced for event_id in linked(old)} - set(linked(new))
        if mine:
            wanted.append(Wanted(new, mine, "amend", replaced))
    drafts = _drafts(repository, wanted, known)
    if since:
        done = {str(draft.fields["commit"]) for draft in drafts}
        drafts += _moved_since(repository, since, known, linked, done)
    return drafts


def _same_place(base: Mapping[str, object], here: Mapping[str, object]) -> bool:
    if "branch" in here:
        return base.get("branch") == here["branch"]
    return "branch" not in base and base.get("worktree") == here["worktree"]


def _drafts(
    repository: Repository,
    wanted: Iterable[Wanted],
    known: Callable[[str], Iterable[str]],
    trees: Mapping[str, str] | None = None,
) -> list[Draft]:
    drafts = []
    for commit, mine, how, replaced in wanted:
        pairs = _bounded(renames(repository, commit), known)
        targets = sorted(mine or _followers(pairs, known))
        if not targets:
            continue
        common = {
            "commit": commit,
            "how": how,
            "replaces": sorted(set(replaced)),
            **about(repository, commit, known, tree_oid=(trees or {}).get(commit, ""), moved=pairs),
        }
        for start in range(0, len(targets), TARGETS_MAX):
            fields = {**common, "targets": targets[start : start + TARGETS_MAX]}
            if start:
                fields.pop("renames", None)  # once is enough
            drafts.append(Draft("link", {name: value for name, value in fields.items() if value}))
    return drafts


def about(
    repository: Repository,
    commit: str,
    known: Callable[[str], Iterable[str]] = lambda name: (),
    *,
    tree_oid: str = "",
    moved: list[list[str]] | None = None,
) -> dict[str, object]:
    """Return what a link says of its commit besides the oid: `tree`, `patch_id` and `renames`, those that it has.

    `tree_oid` and `moved` save a git where the caller knows them already.
    """
    pairs = _bounded(renames(repository, commit), known) if moved is None else moved
    found = {
        "tree": tree_oid or tree(repository, commit),
        "patch_id": patch_id(repository, commit),
        "renames": pairs,
    }
    return {name: value for name, value in found.items() if value}


def _followers(pairs: Iterable[Sequence[str]], known: Callable[[str], Iterable[str]]) -> list[str]:
    """Return what a link can hang on that is made for its renames alone."""
    return sorted({event_id for old, _ in pairs for event_id in known(old)})[:TARGETS_MAX]


def _moved_since(
    repository: Repository,
    since: str,
    known: Callable[[str], Iterable[str]],
    linked: Callable[[str], Iterable[str]],
    done: set[str],
) -> list[Draft]:
    words = ("rev-list", "--first-parent", "--no-merges", f"--max-count={SCAN_COMMITS_MAX}", "HEAD", "^" + since, "--")
    commits = repository.git(*words, env=git.RAW, check=False)
    if not commits:
        return []
    out = repository.git(*_RENAMES, "--stdin", env=git.RAW, input=commits, check=False)
    wanted: list[Wanted] = []
    for commit, pairs in _renames_of(out).items():
        if commit not in done and _followers(pairs, known) and not _any(linked, commit):
            wanted.append(Wanted(commit, set(), "post-commit", ()))
    return _drafts(repository, wanted, known)


# --- what a branch did -----------------------------------------------------------------------


class Place:
    """A branch, or the HEAD of one worktree, to be asked what it did."""

    __slots__ = ("git_dir", "ref", "repository")

    def __init__(self, repository: Repository, git_dir: str, ref: str) -> None:
        self.repository = repository
        self.git_dir = git_dir
        self.ref = ref

    def git(self, *words: str, input: bytes = b"") -> str:
        env = {**self.repository.env(), **git.RAW}
        environ = self.repository.environ
        out = git.run(words, git_dir=self.git_dir, environ=environ, env=env, input=input, check=False)
        return out.decode("utf-8", "replace")

    def chain(self) -> list[str]:
        """Return the commits along first parents, the tip first; empty where the ref isn't here.

        In a shallow clone the last one is not the root, and what was recorded before any commit must not
        go to it: an empty name then stands in the root's place.
        """
        chain = self.git("rev-list", "--first-parent", self.ref, "--").split()
        if chain and "\nparent " in self.git("cat-file", "commit", chain[-1]).partition("\n\n")[0]:
            chain.append("")
        return chain

    def moves(self) -> list[tuple[str, str, str]]:
        """Return the reflog as (old oid, new oid, message), the newest first."""
        entries = _entries(self.git(*_REFLOG, self.ref, "--"))
        olds = [*[new for new, _ in entries][1:], ""][: len(entries)]
        return [(old, new, message) for old, (new, message) in zip(olds, entries, strict=True)]

    def people(self, commits: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Return the addresses of author and committer of each commit."""
        words = ("rev-list", "--no-walk=unsorted", "--stdin", "--format== %H%x00%ae%x00%ce")
        out = self.git(*words, input="".join(commit + "\n" for commit in sorted(commits)).encode())
        lines = [line[2:].split("\0") for line in out.split("\n") if line.startswith("= ")]
        return {oid: (author, committer) for oid, author, committer in lines}


# Plumbing can't do this: `rev-list -g` knows no %gs.
_REFLOG = ("-c", "log.showSignature=false", "log", "-g", "-s", "--format== %H %gs")


def _entries(out: str) -> list[tuple[str, str]]:
    """Read the output of `_REFLOG`: (oid, message), the newest first."""
    lines = [line[2:].partition(" ") for line in out.split("\n") if line.startswith("= ")]
    return [(oid, message) for oid, _, message in lines]


def _along(place: Place, events: Sequence[Unlinked]) -> list[tuple[str, str, str]]:
    """Return (event id, commit, how) for those of `events` whose commit the chain of `place` shows."""
    chain = place.chain()
    if not chain:
        return []
    older: list[str | None] = [*chain[1:], None]
    child = dict(zip(older, chain, strict=True))
    moves = place.moves()
    came: dict[str, list[str]] = {}
    for _, new, message in moves:
        came.setdefault(new, []).append(message)
    amended = {old: new for old, new, message in moves if message.startswith(_AMEND)}
    on_chain = set(chain)
    found = []
    doubtful: list[tuple[Unlinked, str]] = []
    for event in events:
        base = event.base.get("commit")
        if base is not None and base not in on_chain:
            new = _followed(base, amended)
            if new in on_chain:
                found.append((event.id, new, "amend"))
            continue
        commit = child.get(base)
        if not commit:
            continue
        arrived = came.get(commit, [])
        if any(_made_here(message) for message in arrived):
            found.append((event.id, commit, "post-commit"))
        elif base not in came and all(message.startswith(_BEGAN) for message in arrived):
            doubtful.append((event, commit))
        # else: the branch was on the base here, and this commit came from elsewhere, alone or among others.
    if doubtful:
        people = place.people({commit for _, commit in doubtful})
        for event, commit in doubtful:
            if _address(event.author) in people.get(commit, ()):
                found.append((event.id, commit, "post-commit"))
    return found


#: Reflog messages of moves that make no commit, or make one that carries somebody else's change. Git never
#: translates them.
_AMEND = "commit (amend)"
_BROUGHT = (
    "am:",
    "branch:",
    "Branch:",
    "checkout",
    "cherry-pick",
    "clone",
    "commit (cherry-pick)",
    "commit (rebase)",
    "fetch",
    "merge",
    "pull",
    "rebase",
    "reset",
    "update by push",
)


#: ... and those with which a branch begins: they say nothing about what is older.
_BEGAN = ("branch:", "Branch:", "clone")


def _made_here(message: str) -> bool:
    """Say whether a reflog message tells of a commit made here for what was recorded before it."""
    return "Merge made by" in message or not message.startswith(_BROUGHT)


def _amended(repository: Repository, at: Head) -> str:
    """Return the commit that HEAD's commit is an amended version of, or an empty string."""
    out = repository.git(*_REFLOG, "--max-count=2", "HEAD", "--", env=git.RAW, check=False)
    entries = _entries(out.decode("utf-8", "replace"))
    if len(entries) == 2 and entries[0][0] == at.oid and entries[0][1].startswith(_AMEND):
        return entries[1][0]
    return ""


def _amended_before(repository: Repository) -> dict[str, list[str]]:
    """Return the commits of HEAD's branch that are amended ones, each with those that it replaced."""
    place = Place(repository, repository.git_dir, head(repository).ref or "HEAD")
    amended = {old: new for old, new, message in place.moves() if message.startswith(_AMEND)}
    if not amended:
        return {}
    chain = set(place.chain())
    found: dict[str, list[str]] = {}
    for old in amended:
        new = _followed(old, amended)
        if new in chain:
            found.setdefault(new, []).append(old)
    return found


def _followed(commit: str, amended: Mapping[str, str]) -> str:
    for _ in range(len(amended)):  # a chain of amends; bounded, for a reflog may hold a circle
        if commit not in amended:
            break
        commit = amended[commit]
    return commit


def _address(author: str) -> str:
    return author.partition("<")[2].rstrip(">")


def _worktrees(repository: Repository) -> dict[str, str]:
    """Return the git directory of each worktree of this repository, by its name in a `base`."""
    found = [repository.common_dir, repository.git_dir]
    folder = os.path.join(repository.common_dir, "worktrees")
    try:
        found += [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        pass
    return {worktree_id(git_dir): git_dir for git_dir in found}
