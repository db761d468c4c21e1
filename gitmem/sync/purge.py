"""Purging: after a log was rewritten, the old objects leave the object store, and nothing else does.

What has to go is a list, made by the rewriting, and never what some query calls unreachable: that would take the user's
own unreachable objects along, or name objects that live. Reachability is only asked whether something on the list is
still in use; then it stays, and is named. The list grows by what gitmem itself left behind unreachable: earlier
notes that quote the reason, and commits of the log that stand on one that goes.

A pack is replaced by one of all its other ids, put in place before the old one is taken away. Files that name
objects (commit-graph, multi-pack-index, FETCH_HEAD) are written anew. The list is kept in a file until it is done, so a
process that was killed leaves nothing behind that the next redaction does not finish.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import re
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from gitmem.core import events
from gitmem.core.rewriting import parents_and_time
from gitmem.errors import GitFailed
from gitmem.store import archive, git, inbox, notes_ref
from gitmem.store.archive import unlink
from gitmem.store.lock import is_running, leftovers
from gitmem.store.log import tree_of
from gitmem.store.plumbing_log import WRITING, chunks
from gitmem.store.repository import LOG_REF, SEEN_REFS, Repository, unwritable
from gitmem.store.upkeep import BUILDING
from gitmem.sync import notes, quarantine

#: What an import writes before it is git's: packs, `importing.<pid>.<number>` in the local directory.
PACKS = "importing"

#: Every place that gitmem copies the content of an event to, and how a redacted event leaves it. A test compares this
#: with the refs, the files and the tables that there are; what is new needs a way out here.
PLACES: dict[str, dict[str, str]] = {
    "ref": {
        LOG_REF: "rewritten; its reflog loses what the old log reached",
        SEEN_REFS + "*/log": "moved to its counterpart; its reflog loses what the old log reached",
        notes_ref.REF: "built anew from the log; it has no history, and its earlier objects are purged",
        archive.REF: "built anew without what was attached to it; it has no history, earlier objects are purged",
    },
    "file": {
        "cache.sqlite": "built anew from the log",
        "found.sqlite": "ids of events and commits, and what shows that they belong together: nothing of any text",
        "lock": "empty",
        "cache.lock": "empty",
        BUILDING + ".*": "gone when a cache is built; what a killed process left goes",
        archive.LEFT + ".*": "gone when a file is attached; what a killed process left goes",
        PACKS + ".*": "gone when a log is imported; what a killed process left goes",
        "local.sqlite": "emptied, table by table",
        "inbox.sqlite": "emptied of all that waits; the ids of lessons that were used stay",
        "maintenance": "empty",
        "purge": "holds oids only, and goes when they are gone",
        "purge.next": "the same, for a redaction that is on its way",
        quarantine.FOLDER: "what a fetch that was killed left there goes",
    },
    "table": dict.fromkeys(
        """
        meta events refs names aliases spans unspanned judged waiting decisions counts links unlinked prints patterns
        closed conditions signatures places findings words lesson_words lesson_paths
        """.split(),
        "goes with the file",
    ),
    "local table": {
        "refusals": "emptied: what was refused may be a hash of what must not stay",
        "signatures": "emptied: worked out anew when it is asked for",
        "answers": "emptied: what the gate said quotes reasons",
        "outcomes": "emptied: what the gate said, in short",
        "shown": "emptied: who was shown which event; the gate tells it once more",
        "let_pass": "emptied: an override that nothing used up is given again",
        "edited": "emptied: paths",
        "additions": "emptied: hashes of lines of the code, worked out anew when they are asked for",
    },
}

#: How long another gc is waited for, in seconds.
WAIT_S = 30.0
#: A gc.pid older than this is a leftover (git's own rule, builtin/gc.c).
GC_STALE_S = 12 * 3600
#: How many refs or objects a sentence names.
NAMED_MAX = 5
#: A note holds a line for each event of its commit; a larger blob is none of ours.
BLOB_MAX = 1 << 20

_SIDES = (".idx", ".pack", ".rev", ".bitmap", ".mtimes", ".promisor")


class Pending:
    """What is to be purged.

    old, new   the tips of the log before and after
    doomed     oid -> kind
    firsts     the doomed commits that no other doomed commit is below
    """

    __slots__ = ("doomed", "firsts", "new", "old")

    def __init__(self, old: str, new: str, doomed: Mapping[str, str], firsts: Sequence[str]) -> None:
        self.old = old
        self.new = new
        self.doomed = dict(doomed)
        self.firsts = list(firsts)


class Purged:
    """What a purge did: objects removed, packs written anew, and `held`, what is left and why, as sentences."""

    __slots__ = ("held", "later", "objects", "packs")

    def __init__(self) -> None:
        self.objects = 0
        self.packs = 0
        self.held: list[str] = []
        #: Whether it is worth trying again once what holds on has let go.
        self.later = False


# --- the list, until it is done ---------------------------------------------------------------


def remember(repository: Repository, pending: Pending, *, happened: bool = False) -> None:
    """Write down what is to be purged; until `happened`, only for the case that the log moves. Raises GitFailed."""
    repository.make_local_dir()
    path = _path(repository) if happened else _path(repository) + ".next"
    before = _load(path) if happened else None
    if before is not None:
        pending.doomed = {**before.doomed, **pending.doomed}
        pending.firsts = list(dict.fromkeys([*before.firsts, *pending.firsts]))
    data = {name: getattr(pending, name) for name in Pending.__slots__}
    try:
        with open(path + ".new", "w", encoding="ascii") as file:
            json.dump(data, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)
    except OSError as error:
        raise unwritable(path, error) from None


def recalled(repository: Repository, has_moved: Callable[[str], bool]) -> Pending | None:
    """Return what is left to do, or None. `has_moved` says whether the log ever got to a tip."""
    path = _path(repository)
    waiting = _load(path + ".next")
    if waiting is not None:
        if has_moved(waiting.new):
            remember(repository, waiting, happened=True)
        unlink(path + ".next")
    return _load(path)


def _load(path: str) -> Pending | None:
    try:
        with open(path, encoding="ascii") as file:
            data = json.load(file)
        return Pending(str(data["old"]), str(data["new"]), dict(data["doomed"]), list(data["firsts"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_pending(repository: Repository) -> bool:
    """Say whether a redaction left something to remove."""
    path = _path(repository)
    return os.path.exists(path) or os.path.exists(path + ".next")


def forget(repository: Repository) -> None:
    unlink(_path(repository))


def _path(repository: Repository) -> str:
    return repository.local_dir + "/purge"


# --- the purge --------------------------------------------------------------------------------


def purge(repository: Repository, pending: Pending, *, keep: bool = False) -> Purged:
    """Remove what `pending` lists, and forget the list where nothing is left to do (with `keep`: not even then).

    The log's ref, the tracking refs and the notes have left the old log already. What can't be removed is told in
    `Purged.held`, never raised: the log itself is as it should be.
    """
    done = Purged()
    try:
        _let_go(repository, pending)
        if _is_precious(repository):
            done.held.append(
                "extensions.preciousObjects is set, so no object was removed: what was redacted is still in the store"
            )
            done.later = True
            return done
        with _Upkeep(repository) as turn:
            if not turn.held:
                done.held.append(f"another git is keeping house here ({turn.path}); no object was removed yet")
                done.later = True
                return done
            _purge(repository, pending, done)
    except GitFailed as error:
        done.held.append(f"objects of the old log are left: {error.message}")
        done.later = True
    except OSError as error:
        done.held.append(f"objects of the old log are left: {error.strerror} ({error.filename})")
        done.later = True
    done.later = done.later or keep
    if not done.later:  # whatever else ends this keeps the list, for the next turn
        forget(repository)
    return done


def _purge(repository: Repository, pending: Pending, done: Purged) -> None:
    store = _Store(repository)
    doomed = dict(pending.doomed)
    left = store.everything()
    used = _used(repository, left, doomed)
    if any(doomed[oid] == "commit" for oid in used):
        done.held += _holders(repository, pending, used)
        done.later = True
        return
    for oid in used:
        done.held.append(f"{doomed.pop(oid)} {oid[:12]} is in use elsewhere in this repository and stays")
    sweep = _Sweep(repository, left, doomed)
    sweep.run()
    done.held += sweep.holders
    if sweep.holds_commit:
        done.later = True
        return
    if sweep.found:
        doomed |= sweep.found
        remember(repository, Pending(pending.old, pending.new, doomed, pending.firsts), happened=True)
    for oid in sweep.kept:
        doomed.pop(oid, None)
    here = store.holding(doomed)
    if not store.has_room(here):
        done.held.append("there is no room for a second copy of the packs that hold the old log; no object was removed")
        done.later = True
        return
    for pack, hits in here.items():
        if os.path.exists(pack + ".keep"):
            done.held.append(f"{os.path.basename(pack)}.pack is kept ({pack}.keep), with {len(hits):,} objects in it")
            done.later = True
            continue
        store.replace(pack, doomed)
        done.packs += 1
    for oid in doomed:
        done.objects += store.remove_loose(oid)
    done.objects += len({oid for pack, hits in here.items() if not os.path.exists(pack + ".keep") for oid in hits})
    store.renew_indexes()
    _check(repository, doomed, done)


def size_of_packs(repository: Repository, doomed: Iterable[str]) -> int:
    """Return how many bytes the packs have that would have to be written anew."""
    store = _Store(repository)
    return sum(os.stat(pack + ".pack").st_size for pack in store.holding(doomed))


def _let_go(repository: Repository, pending: Pending) -> None:
    """Make everything of ours forget the old log: reflogs, and the files in which git notes what it just did."""
    listed = repository.git("for-each-ref", "--format=%(refname)", SEEN_REFS).decode("utf-8", "replace").split()
    for ref in (LOG_REF, archive.REF, *listed):
        words = ("reflog", "expire", "--expire=never", "--expire-unreachable=now", ref)
        repository.try_git(*WRITING, *words)  # 1 where the ref has no reflog
    _empty_local(repository)
    inbox.empty(repository)
    for path in (*leftovers(repository, PACKS), *leftovers(repository, BUILDING)):
        unlink(path)
    quarantine.sweep(repository)
    for place in _git_dirs(repository):
        _strike_out(place + "/FETCH_HEAD", pending.doomed)
        _strike_out(place + "/ORIG_HEAD", pending.doomed)


def _empty_local(repository: Repository) -> None:
    """Forget local activity, of which nobody can say what it quotes. It advises, and nothing depends on it."""
    import sqlite3

    path = repository.local_dir + "/local.sqlite"
    if not os.path.exists(path):
        return
    try:
        db = sqlite3.connect(path, timeout=5.0, isolation_level=None)
        try:
            db.execute("PRAGMA secure_delete = ON")
            there = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            for table in there & PLACES["local table"].keys():
                db.execute(f"DELETE FROM {table}")
            db.execute("VACUUM")
        finally:
            db.close()
    except sqlite3.DatabaseError:
        unlink(path)


def _git_dirs(repository: Repository) -> list[str]:
    trees = repository.common_dir + "/worktrees"
    try:
        return [repository.common_dir, *(f"{trees}/{name}" for name in sorted(os.listdir(trees)))]
    except OSError:
        return [repository.common_dir]


def _strike_out(path: str, doomed: Mapping[str, str]) -> None:
    """Remove the lines that begin with a doomed oid."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.readlines()
    except OSError:
        return
    kept = [line for line in lines if line.split(maxsplit=1)[:1] == [] or line.split(maxsplit=1)[0] not in doomed]
    if len(kept) == len(lines):
        return
    if not kept:
        os.unlink(path)
        return
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.writelines(kept)


def _is_precious(repository: Repository) -> bool:
    found = repository.try_git("config", "--type=bool", "--get", "extensions.preciousObjects")
    return found.out.strip() == b"true"


def _used(repository: Repository, left: set[bytes], doomed: Mapping[str, str]) -> list[str]:
    """Take what any ref, worktree, reflog or index reaches out of `left`; return what is doomed of it."""
    wanted = {bytes.fromhex(oid) for oid in doomed}
    found = []
    words = (
        *("rev-list", "--all", "--reflog", "--indexed-objects", "--objects", "--no-object-names"),
        "--missing=allow-any",
    )
    for line in _lines(repository, words):
        oid = bytes.fromhex(line.decode("ascii"))
        left.discard(oid)
        if oid in wanted:
            found.append(oid.hex())
    return found


def _lines(repository: Repository, words: Sequence[str]) -> Iterator[bytes]:
    """Yield the lines of a git, as they come. Raises GitFailed."""
    env = {**repository.env(), **git.RAW}
    process = git.Process(words, git_dir=repository.git_dir, environ=repository.environ, env=env)
    try:
        git.widen(process.stdout)
        rest = b""
        for chunk in chunks(process.stdout, (process.stderr,)):
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()
            yield from lines
        rc = process.wait()
    finally:
        process.kill()
    if rc != 0:
        raise git.failed(words, rc, b"", also="; no object was removed")


def _holders(repository: Repository, pending: Pending, used: Sequence[str]) -> list[str]:
    """Say what holds on to commits of the old log."""
    names: dict[str, None] = {}
    for first in pending.firsts:
        if first not in used:
            continue
        listed = repository.try_git("for-each-ref", "--format=%(refname)", "--contains=" + first, env=git.RAW)
        names.update(dict.fromkeys(listed.out.decode("utf-8", "replace").split()))
        for place, head in _worktree_heads(repository):
            known = repository.try_git("merge-base", "--is-ancestor", first, head, env=git.RAW)
            if known.rc == 0:
                names[f"HEAD of the worktree {place}"] = None
    if not names:
        for path in _logs_naming(repository, set(used)):
            names[f"the reflog {path}"] = None
    told = ", ".join(list(names)[:NAMED_MAX]) or "something that git reaches"
    more = f" and {len(names) - NAMED_MAX} more" if len(names) > NAMED_MAX else ""
    return [f"no object was removed, for the old log is still held by {told}{more}"]


def _worktree_heads(repository: Repository) -> Iterator[tuple[str, str]]:
    listed = repository.git("worktree", "list", "--porcelain", check=False).decode("utf-8", "replace")
    for block in listed.split("\n\n"):
        fields = dict(line.partition(" ")[::2] for line in block.splitlines())
        if "detached" in fields and "worktree" in fields and "HEAD" in fields:
            yield fields["worktree"], fields["HEAD"]


def _logs_naming(repository: Repository, oids: set[str]) -> Iterator[str]:
    for place in _git_dirs(repository):
        for folder, _, files in os.walk(place + "/logs"):
            for name in files:
                path = f"{folder}/{name}"
                with open(path, encoding="utf-8", errors="replace") as file:
                    if any(not oids.isdisjoint(line.split(" ", 2)[:2]) for line in file):
                        yield path


# --- what gitmem left behind ------------------------------------------------------------------


class _Sweep:
    """Finds what nothing reaches and what belongs to what goes.

    found    oid -> kind of more that is to go
    kept     oids of what has to stay, for an object of the user's that nothing reaches holds it
    holders  sentences about those
    """

    def __init__(self, repository: Repository, left: set[bytes], doomed: Mapping[str, str]) -> None:
        self.repository = repository
        self.size = repository.form.digest_size
        self.doomed = doomed
        self.found: dict[str, str] = {}
        self.kept: set[str] = set()
        self.holders: list[str] = []
        self.holds_commit = False
        self._left = [oid for oid in (raw.hex() for raw in left) if oid not in doomed]
        self._ours: dict[str, bool] = {}

    def run(self) -> None:
        if not self._left:
            return
        texts = _Texts(_read(self.repository, [oid for oid, kind in self.doomed.items() if kind == "blob"]))
        trees: dict[str, bytes] = {}
        commits: dict[str, bytes] = {}
        tags: dict[str, bytes] = {}
        for oid, kind, data in _read(self.repository, self._small()):
            if kind == "blob" and texts.are_in(data):
                self.found[oid] = "blob"
            elif kind == "tree":
                trees[oid] = data
            elif kind == "commit":
                commits[oid] = data
            elif kind == "tag":
                tags[oid] = data
        grown = True
        while grown:
            grown = False
            for oid, data in list(trees.items()):
                entries = _entries(data, self.size)
                held = [inner for _, inner in entries if self._goes(inner)]
                if held:
                    grown = True
                    del trees[oid]
                    if _is_ours(entries):
                        self.found[oid] = "tree"
                    else:
                        self._keep(oid, "tree", held)
            for oid, data in list(commits.items()):
                held = [inner for inner in (tree_of(data), *parents_and_time(data)[0]) if self._goes(inner)]
                if held:
                    grown = True
                    del commits[oid]
                    if self._is_our_commit(data):
                        self.found[oid] = "commit"
                    else:
                        self._keep(oid, "commit", held)
            for oid, data in list(tags.items()):
                named = re.match(rb"object ([0-9a-f]+)\n", data)
                if named is not None and self._goes(named[1].decode()):
                    del tags[oid]
                    self._keep(oid, "tag", [named[1].decode()])

    def _goes(self, oid: str) -> bool:
        return (oid in self.doomed or oid in self.found) and oid not in self.kept

    def _keep(self, oid: str, kind: str, held: list[str]) -> None:
        self.kept.update(held)
        if any(self.doomed.get(one, self.found.get(one)) == "commit" for one in held):
            self.holds_commit = True
        self.holders.append(
            f"{kind} {oid[:12]}, which nothing reaches and gitmem did not write, holds {held[0][:12]}; both stay until "
            "git drops them"
        )

    def _is_our_commit(self, commit: bytes) -> bool:
        tree = tree_of(commit)
        if tree == self.repository.form.empty_tree or self._goes(tree):
            return True
        known = self._ours.get(tree)
        if known is None:
            known = any(_is_ours(_entries(data, self.size)) for _, kind, data in _read(self.repository, [tree]))
            self._ours[tree] = known
        return known

    def _small(self) -> list[str]:
        """The oids that nothing reaches, without blobs that are too large for anything of ours."""
        words = ("cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", "--buffer")
        asked = "".join(f"{oid}\n" for oid in self._left).encode()
        out = []
        for line in self.repository.git(*words, input=asked, env=git.RAW).decode("ascii", "replace").splitlines():
            oid, kind, size = (*line.split(" "), "")[:3]
            if size.isdigit() and (kind != "blob" or int(size) <= BLOB_MAX):
                out.append(oid)
        return out


class _Texts:
    """By what a blob is known to quote an event that goes: its line in a note; or all of its texts, in a draft that
    lost a race and was written again with another nonce."""

    def __init__(self, blobs: Iterable[tuple[str, str, bytes]]) -> None:
        self.lines: list[bytes] = []
        self.contents: set[str] = set()
        for _, _, data in blobs:
            try:
                event = events.parse(data)
            except events.Malformed:
                continue
            if event.kind == "change":
                self.lines.append(notes.text([event]).encode("utf-8", "replace"))
            content = _content(event)
            if content:
                self.contents.add(content)

    def are_in(self, data: bytes) -> bool:
        if any(line in data for line in self.lines):
            return True
        if not self.contents or not data.startswith(b"{") or b'"kind"' not in data:
            return False
        try:
            return _content(events.parse(data)) in self.contents
        except events.Malformed:
            return False


def _content(event: events.Event) -> str:
    """Return what a person wrote into an event and a tombstone does not keep, or "" where that is nothing."""
    texts = ("reasoning", "reason", "instead", "constraint", "diff", "stale_when")
    found = {name: event.fields[name] for name in texts if name in event.fields}
    return json.dumps([event.kind, event.entity_path, found], sort_keys=True) if found else ""


def _entries(tree: bytes, size: int) -> list[tuple[str, str]]:
    """Return (name, oid) of whatever a tree holds."""
    found = []
    at = 0
    while at < len(tree):
        space, nul = tree.find(b" ", at), tree.find(b"\0", at)
        if space < 0 or nul < 0:
            return []
        found.append((tree[space + 1 : nul].decode("utf-8", "replace"), tree[nul + 1 : nul + 1 + size].hex()))
        at = nul + 1 + size
    return found


_EVENT_FILE = re.compile(r"[0-9a-f]{64}\.(json|sig|redacted)")
_NOTE_FILE = re.compile(r"[0-9a-f]{2,64}")
_ATTACHED_FILE = re.compile(r"[0-9a-f]{64}(\.json)?")


def _is_ours(entries: list[tuple[str, str]]) -> bool:
    """Say whether a tree with these entries is one of the log's, one of notes, or one of the archive's."""
    return any(
        all(pattern.fullmatch(name) for name, _ in entries) for pattern in (_EVENT_FILE, _NOTE_FILE, _ATTACHED_FILE)
    )


def _read(repository: Repository, oids: Sequence[str]) -> Iterator[tuple[str, str, bytes]]:
    """Yield (oid, kind, bytes) of those objects that are here."""
    for start in range(0, len(oids), 2000):
        asked = "".join(f"{oid}\n" for oid in oids[start : start + 2000]).encode()
        out = repository.git("cat-file", "--batch", "--buffer", input=asked, env=git.RAW)
        at = 0
        while at < len(out):
            end = out.index(b"\n", at)
            words = out[at:end].decode("ascii", "replace").split(" ")
            at = end + 1
            if len(words) == 3 and words[2].isdigit():
                length = int(words[2])
                yield words[0], words[1], out[at : at + length]
                at += length + 1


# --- the store --------------------------------------------------------------------------------


class _Store:
    """The object store of one repository, alternates left out."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.size = repository.form.digest_size
        self.objects = repository.objects_dir
        self.folder = self.objects + "/pack"

    def packs(self) -> list[str]:
        """Return the paths of the packs, without suffix."""
        try:
            names = sorted(os.listdir(self.folder))
        except OSError:
            return []
        return [f"{self.folder}/{name[:-4]}" for name in names if name.startswith("pack-") and name.endswith(".idx")]

    def everything(self) -> set[bytes]:
        """Return the oids of all objects here."""
        found: set[bytes] = set()
        for pack in self.packs():
            with _Index(pack + ".idx", self.size) as index:
                found.update(index)
        rest = 2 * self.size - 2
        for folder in os.listdir(self.objects):
            if len(folder) == 2 and _HEX.issuperset(folder):
                for name in os.listdir(f"{self.objects}/{folder}"):
                    if len(name) == rest and _HEX.issuperset(name):
                        found.add(bytes.fromhex(folder + name))
        return found

    def holding(self, doomed: Iterable[str]) -> dict[str, list[str]]:
        """Return the packs that hold any of these objects, and which."""
        wanted = [(oid, bytes.fromhex(oid)) for oid in doomed]
        found = {}
        for pack in self.packs():
            with _Index(pack + ".idx", self.size) as index:
                hits = [oid for oid, raw in wanted if raw in index]
            if hits:
                found[pack] = hits
        return found

    def has_room(self, packs: Iterable[str]) -> bool:
        sizes = [os.stat(pack + ".pack").st_size for pack in packs]
        if not sizes:
            return True
        free = os.statvfs(self.folder)
        return free.f_bavail * free.f_frsize > max(sizes) + (16 << 20)

    def replace(self, pack: str, doomed: Mapping[str, str]) -> None:
        """Put a pack of everything else in this one's place."""
        with _Index(pack + ".idx", self.size) as index:
            wanted = [oid for raw in index if (oid := raw.hex()) not in doomed]
        base = f"{self.folder}/tmp_gitmem_{os.getpid()}"
        try:
            name = ""
            if wanted:
                # Ids, not reachability: that would drop what is the user's and nothing reaches.
                words = (*WRITING, "-c", "pack.packSizeLimit=0", "pack-objects", "-q", "--delta-base-offset", base)
                asked = "".join(f"{oid}\n" for oid in wanted).encode()
                name = self.repository.git(*words, input=asked, env=git.RAW).decode("ascii").strip()
                made = f"{self.folder}/pack-{name}"
                if os.path.exists(pack + ".promisor") and made != pack:
                    _copy(pack + ".promisor", f"{base}-{name}.promisor")
                for side in (".pack", ".rev", ".promisor", ".idx"):  # with its index it can be seen
                    if os.path.exists(f"{base}-{name}{side}"):
                        os.replace(f"{base}-{name}{side}", made + side)
                _sync(self.folder)
            self._drop_midx()
            if name and pack == f"{self.folder}/pack-{name}":
                return
            for side in _SIDES:
                unlink(pack + side)
        finally:
            for leftover in os.listdir(self.folder):
                if leftover.startswith(os.path.basename(base)):
                    unlink(f"{self.folder}/{leftover}")

    def remove_loose(self, oid: str) -> int:
        return unlink(f"{self.objects}/{oid[:2]}/{oid[2:]}")

    def _drop_midx(self) -> None:
        import shutil

        for name in os.listdir(self.folder):
            if name == "multi-pack-index.d":
                shutil.rmtree(f"{self.folder}/{name}", ignore_errors=True)
            elif name.startswith("multi-pack-index"):
                self._had_midx = True
                unlink(f"{self.folder}/{name}")

    _had_midx = False

    def renew_indexes(self) -> None:
        """Write anew what names objects: they are caches of git's, and are gone where that fails."""
        info = self.objects + "/info"
        single, chain = info + "/commit-graph", info + "/commit-graphs"
        if os.path.exists(single) or os.path.isdir(chain):
            import shutil

            unlink(single)
            shutil.rmtree(chain, ignore_errors=True)
            self.repository.try_git("commit-graph", "write", "--reachable", env=git.RAW)
        if self._had_midx:
            self.repository.try_git("multi-pack-index", "write")
        if os.path.exists(info + "/packs"):
            self.repository.try_git("update-server-info")


_HEX = frozenset("0123456789abcdef")


class _Index:
    """The ids in a pack's index (gitformat-pack, versions 1 and 2), read where they lie."""

    def __init__(self, path: str, size: int) -> None:
        self.size = size
        with open(path, "rb") as file:
            try:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:  # of no length: what a crash or a full disk left
                raise OSError(errno.EINVAL, "not a pack index", path) from None
        second = self._map[:4] == b"\xfftOc"
        fanout = 8 if second else 0
        self._first = fanout + 1024
        self._step = size if second else size + 4
        self._skip = 0 if second else 4
        self._count = int.from_bytes(self._map[fanout + 1020 : fanout + 1024], "big")

    def __enter__(self) -> _Index:
        return self

    def __exit__(self, *problem: object) -> None:
        self._map.close()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: int) -> bytes:
        if at >= self._count:
            raise IndexError
        start = self._first + at * self._step + self._skip
        return self._map[start : start + self.size]

    def __contains__(self, oid: bytes) -> bool:
        at = bisect_left(self, oid)
        return at < self._count and self[at] == oid

    def __iter__(self) -> Iterator[bytes]:
        for at in range(self._count):
            yield self[at]


class _Upkeep:
    """`with _Upkeep(repository) as turn:` keeps git's own housekeeping out; `held` says whether the turn came."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.held = False
        self.path = repository.common_dir + "/gc.pid"
        self._maintenance = repository.objects_dir + "/maintenance.lock"
        self._made: list[str] = []

    def __enter__(self) -> _Upkeep:
        end = time.monotonic() + WAIT_S
        try:
            while not self._try():
                self._release()
                if time.monotonic() > end:
                    return self
                time.sleep(0.1)
        except BaseException:  # `__exit__` is not called then, and git would wait for these for ever
            self._release()
            raise
        self.held = True
        return self

    def __exit__(self, *problem: object) -> None:
        self._release()

    def _try(self) -> bool:
        import socket

        here = socket.gethostname()
        for path in (self._maintenance, self.path + ".lock"):
            if not self._make(path, f"{os.getpid()} {here}") and not (
                self._was_ours(path, here) and self._make(path, f"{os.getpid()} {here}")
            ):
                return False
        if self._is_gc_running(here):
            return False
        os.replace(self.path + ".lock", self.path)
        self._made.remove(self.path + ".lock")
        self._made.append(self.path)
        return True

    def _is_gc_running(self, here: str) -> bool:
        try:
            age = time.time() - os.stat(self.path).st_mtime
        except OSError:
            return False
        pid, host = _owner(self.path)
        return age <= GC_STALE_S and bool(pid) and (host != here or is_running(pid))

    def _was_ours(self, path: str, here: str) -> bool:
        """Take away a lock of a gitmem of this machine that was killed. Git writes no owner into these two."""
        pid, host = _owner(path)
        if not pid or host != here or is_running(pid):
            return False
        unlink(path)
        return True

    def _make(self, path: str, content: str) -> bool:
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            return False
        self._made.append(path)
        try:
            os.write(fd, content.encode())
        finally:
            os.close(fd)
        return True

    def _release(self) -> None:
        for path in self._made:
            unlink(path)
        self._made = []


def _owner(path: str) -> tuple[int, str]:
    """Return the process and the machine that a lock file names, (0, "") where it names none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            pid, _, host = file.read(300).strip().partition(" ")
    except OSError:
        return 0, ""
    return (int(pid), host) if pid.isascii() and pid.isdigit() and len(pid) < 12 else (0, "")


def _check(repository: Repository, doomed: Mapping[str, str], done: Purged) -> None:
    """Look whether anything that was to go can still be read."""
    asked = "".join(f"{oid}\n" for oid in doomed).encode()
    out = repository.git("cat-file", "--batch-check", "--buffer", input=asked, env=git.RAW).decode("ascii", "replace")
    still = [line.split(" ")[0] for line in out.splitlines() if not line.endswith(" missing")]
    if not still:
        return
    own = _Store(repository).everything()
    borrowed = [oid for oid in still if bytes.fromhex(oid) not in own]
    if borrowed:
        paths = ", ".join(_alternates(repository)) or "an alternate"
        done.held.append(f"{len(borrowed):,} objects of the old log can still be read through {paths}")


def _alternates(repository: Repository) -> list[str]:
    try:
        with open(repository.objects_dir + "/info/alternates", encoding="utf-8", errors="surrogateescape") as file:
            return [line.strip() for line in file if line.strip() and not line.startswith("#")]
    except OSError:
        return []


def _copy(source: str, target: str) -> None:
    with open(source, "rb") as file:
        data = file.read()
    with open(target, "wb") as file:
        file.write(data)


def _sync(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
