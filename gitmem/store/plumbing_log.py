"""The log through git's own programs: right for every repository that git can open, and cheapest for one append.

Reading is one pipeline, `rev-list --objects | cat-file --batch`, whose output is parsed as it comes;
of a long log only the names of its commits are kept in memory. Everything is hashed on the way. Where
an object is missing or bad the pipeline is given up and the rest is fetched object by object, so that
each loss has a name.

Writing is a pack built here, fed to `unpack-objects --strict` (few objects) or `index-pack --strict`
(many), and then `update-ref` with the old value. The order is the promise: objects are on disk before
the ref names them, so a process killed anywhere leaves at most objects that nothing refers to.
"""

from __future__ import annotations

import os
import re
import select
import time
from collections.abc import Iterable, Iterator, Sequence

from gitmem.core.objects import ObjectFormat
from gitmem.errors import BrokenHistory, GitFailed, Writing
from gitmem.store import git, pack
from gitmem.store.log import OBJECT_MAX, Condition, Stored, TipMoved, files_of, parents_of, tree_of
from gitmem.store.repository import LOG_REF, Repository

#: From this many objects on, one pack is kept as it is (git's own transfer.unpackLimit).
PACK_FROM = 100

#: `core.commitGraph`: a stale or forged graph file must not say what a commit's parents are.
#: The advice is what git says about every grafts file, the empty one that we name included.
READING = ("-c", "core.commitGraph=false", "-c", "advice.graftFileDeprecated=false")
#: Acknowledged means durable: git's default leaves out loose objects.
WRITING = (
    *git.NO_HOOKS,
    "-c",
    "core.fsync=committed,loose-object,reference",
    "-c",
    "core.filesRefLockTimeout=1000",
    "-c",
    "core.packedRefsTimeout=1000",
)

#: gc.auto's default, and how git estimates it: one of 256 directories (builtin/gc.c).
LOOSE_MAX = (6700 + 255) // 256
PACKS_MAX = 50
#: One try in this time: where git finds nothing to do, each append would start it anew.
MAINTENANCE_EVERY_S = 600

_CHUNK = 1 << 20


class PlumbingLog:
    """The log of `repository`, read and written by the git program; `ref` is another one that is moved alike."""

    def __init__(self, repository: Repository, ref: str = LOG_REF) -> None:
        self.repository = repository
        self.ref = ref
        self.form: ObjectFormat = repository.form
        self._children: list[int] = []

    # --- reading ---------------------------------------------------------------------------

    def tip(self) -> str | None:
        # rev-parse would also try refs/heads/refs/decisions/log and the like; for-each-ref does not guess.
        result = self.repository.try_git("for-each-ref", "--format=%(refname) %(objectname) %(symref)", self.ref)
        if result.rc != 0:
            raise git.failed(("for-each-ref",), result.rc, result.err)
        for line in result.out.decode("utf-8", "replace").splitlines():
            name, oid, symref = line.split(" ", 2)
            if name != self.ref:
                continue  # one below it
            if symref:
                raise BrokenHistory(
                    place=self.ref, what=f"it is a symbolic ref to {symref}; a log has a tip of its own"
                )
            return oid
        for line in result.err.decode("utf-8", "replace").splitlines():
            if line.startswith("warning: ignoring") and line.endswith(self.ref):
                raise BrokenHistory(place=self.ref, what=f"the ref can't be read (git: {line[9:]})")
        return None

    def walk(self, tip: str, known: Iterable[str] = ()) -> Iterator[Stored]:
        known = tuple(known)
        if tip in known:
            return
        reader = Reader(self.repository)
        try:
            while True:
                reader.expects(tip, known)
                done: set[str] = set()
                whole = True
                for stored in _pipeline(self.repository, tip, known, reader):
                    if stored is None or not _stands(stored, done, known, reader):
                        whole = False
                        break
                    done.add(stored.oid)
                    yield stored
                if whole and (done or reader.has(tip)):
                    return
                here = tuple(oid for oid in known if reader.has(oid))
                if done or here == known:
                    break
                known = here  # git knows nothing of the others, and had not begun
            yield from self._walk_slowly(tip, known, reader, done)
        finally:
            reader.close()

    def _walk_slowly(self, tip: str, known: tuple[str, ...], reader: Reader, done: set[str]) -> Iterator[Stored]:
        """The rest of a walk that has given the commits `done`, one object at a time."""
        result = self.repository.try_git(*rev_list(tip, known), env=git.RAW)
        order = result.out.decode().split() if result.rc == 0 else _order_by_hand(tip, known, reader)
        for oid in order:
            if oid not in done:
                yield reader.stored(oid)

    def contains(self, descendant: str, ancestor: str) -> bool:
        if descendant == ancestor:
            return self.has(descendant)
        result = self.repository.try_git(*READING, "merge-base", "--is-ancestor", ancestor, descendant, env=git.RAW)
        return result.rc == 0

    def has(self, oid: str) -> bool:
        return self.repository.try_git("cat-file", "-e", oid, env=git.RAW).rc == 0

    def condition(self) -> Condition:
        common = self.repository.common_dir
        refs = self.repository.git("for-each-ref", "--format=%(refname)", "refs/replace/").decode()
        return Condition(
            edges=_first_words(common + "/shallow"),
            partial=_is_partial(self.repository),
            grafted=_first_words(common + "/info/grafts"),
            replacements=frozenset(name.rpartition("/")[2] for name in refs.split()),
        )

    # --- writing ---------------------------------------------------------------------------

    def publish(self, objects: Sequence[tuple[str, bytes]], new: str, old: str | None, message: str) -> None:
        if len(objects) >= PACK_FROM:
            self.publish_many(objects, new, old, message)
        else:
            self._publish(objects, new, old, message, many=False)

    def publish_many(self, objects: Sequence[tuple[str, bytes]], new: str, old: str | None, message: str) -> None:
        self._publish(objects, new, old, message, many=True)

    def _publish(
        self, objects: Sequence[tuple[str, bytes]], new: str, old: str | None, message: str, *, many: bool
    ) -> None:
        self._refuse_quarantine()
        self._store(objects, new, many=many)
        with Writing():
            self._move(new, old, " ".join(message.split()) or "append")
        try:
            self._maintain()
        except GitFailed:
            pass  # what is appended is appended; the next append tries again

    def _refuse_quarantine(self) -> None:
        # Git forbids ref updates in a receive hook: the objects that they would name may yet be dropped.
        if self.repository.environ.get("GIT_QUARANTINE_PATH"):
            raise GitFailed(
                what="in a receive hook pushed objects are in quarantine and no ref may move; nothing was written",
                hint="append from a post-receive hook, or from a clone.",
                rc=None,
            )

    def _store(self, objects: Sequence[tuple[str, bytes]], new: str, *, many: bool) -> None:
        """Write `objects`, each once. Git hashes them itself, and follows the links from each."""
        once = {self.form.oid(kind, data): (kind, data) for kind, data in objects}
        if not once:
            return
        if new not in once:
            raise ValueError(f"the new tip {new} is none of the objects given")
        if many:
            args = [*WRITING, "index-pack", "--stdin", "--strict"]
        else:
            args = [*WRITING, "unpack-objects", "-q", "--strict"]
        result = self.repository.try_git(*args, input=pack.build(self.form, once.values()), env=git.RAW)
        if result.rc != 0:
            raise git.failed(args, result.rc, result.err, also="; nothing was appended")

    def _move(self, new: str, old: str | None, message: str) -> None:
        """Move the ref by compare-and-swap, with a reflog. Raises TipMoved, GitFailed."""
        args = [*WRITING, "update-ref", "--create-reflog", "-m", message, "--stdin"]
        order = f"option no-deref\nupdate {self.ref} {new} {old or self.form.zeros}\n"
        result = self.repository.try_git(*args, input=order.encode())
        if result.rc == 0:
            return
        # What git says differs between versions and ref storages; where the ref is now, does not.
        tip = self.tip()
        if tip != old:
            if result.rc < 0 and tip is not None and self.contains(tip, new):
                return  # it had moved the ref, and was killed before it could say so
            raise TipMoved(tip)
        raise _locked(result.err, self.ref) or git.failed(args, result.rc, result.err, also="; nothing was appended")

    def _maintain(self) -> None:
        """Start git's own housekeeping, detached, once loose objects or packs have piled up."""
        self._children = [pid for pid in self._children if not _ended(pid)]
        store = self.repository.objects_dir
        if _count(store + "/17") <= LOOSE_MAX and _count(store + "/pack", ".pack") <= PACKS_MAX:
            return
        if not self._is_due():
            return
        wanted = self.repository.try_git("config", "--type=bool", "--get", "maintenance.auto")
        if wanted.out.strip() == b"false":
            return
        args = ["maintenance", "run", "--auto", "--quiet"]
        self._children.append(
            git.spawn_detached(args, git_dir=self.repository.git_dir, environ=self.repository.environ)
        )

    def _is_due(self) -> bool:
        path = self.repository.local_dir + "/maintenance"
        try:
            if 0 <= time.time() - os.stat(path).st_mtime < MAINTENANCE_EVERY_S:
                return False
        except OSError:
            pass
        try:
            self.repository.make_local_dir()
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666))
            os.utime(path)
        except (OSError, GitFailed):
            return False
        return True


def _locked(err: bytes, ref: str) -> GitFailed | None:
    """The error for a lock file that stood in git's way, or None where that was not it."""
    found = re.search(rb"'([^']+\.lock)': File exists", err)
    return lock_in_the_way(os.fsdecode(found[1]), ref) if found is not None else None


def lock_in_the_way(path: str, ref: str = LOG_REF) -> GitFailed:
    """The error for the lock file `path`, with its age. It may be somebody's; it is never removed from here."""
    try:
        age = f", {max(0, time.time() - os.stat(path).st_mtime):.0f} s old"
    except OSError:
        age = ""
    return GitFailed(
        what=f"the ref {ref} is locked by {path}{age}; nothing was appended",
        hint="another git is at work, or one was killed: if none runs, remove that file.",
        rc=None,
        lock=path,
    )


def _ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _count(directory: str, suffix: str = "") -> int:
    try:
        return sum(name.endswith(suffix) for name in os.listdir(directory))
    except OSError:
        return 0


def _is_partial(repository: Repository) -> bool:
    wanted = r"^(remote\..*\.promisor|extensions\.partialclone)$"
    found = repository.git("config", "--get-regexp", wanted, check=False).decode("utf-8", "replace")
    return any(not line.endswith(" false") for line in found.splitlines())


def _first_words(path: str) -> frozenset[str]:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return frozenset(line.split()[0] for line in file if line.strip() and not line.startswith("#"))
    except OSError:
        return frozenset()


# --- the pipeline ------------------------------------------------------------------------------


def rev_list(tip: str, known: tuple[str, ...], *more: str) -> tuple[str, ...]:
    """Return the words that ask git for the commits of a walk, in the order of `Log.walk`."""
    return (*READING, "rev-list", "--topo-order", "--reverse", *more, tip, *("^" + oid for oid in known), "--")


def _pipeline(repository: Repository, tip: str, known: tuple[str, ...], reader: Reader) -> Iterator[Stored | None]:
    """Yield the walk from one stream of objects; a last None where it broke off.

    `--in-commit-order` gives each commit, then its tree, then what the tree names, each object once:
    what an earlier commit also had (or `known` has) is asked for separately.
    """
    form = repository.form
    env = {**repository.env(), **git.RAW}
    more = ("--objects", "--in-commit-order", "--no-object-names", "--missing=allow-any")
    lister = git.Process(rev_list(tip, known, *more), git_dir=repository.git_dir, environ=repository.environ, env=env)
    cat = None
    try:
        git.widen(lister.stdout)
        cat = git.Process(
            ("cat-file", "--batch", "--buffer"),
            git_dir=repository.git_dir,
            environ=repository.environ,
            env=env,
            stdin_from=lister,
        )
        git.widen(cat.stdout)
        objects: dict[str, bytes] = {}
        head = ""
        commit = b""
        whole = True
        for oid, kind, data in _objects(cat.stdout, (lister.stderr, cat.stderr), form):
            if kind == b"commit":
                if head:
                    yield _assembled(form, head, commit, objects, reader)
                    objects = {}
                head, commit = oid, data
            elif kind:
                objects[oid] = data
            else:
                whole = False  # one that can't be read, or is not what its name says
                break
        if whole:
            for name in ("stdout", "stderr"):
                cat.close(name)
            lister.close("stderr")
            whole = cat.wait() == 0 and lister.wait() == 0
        if whole and head:
            yield _assembled(form, head, commit, objects, reader)
        if not whole:
            yield None
    finally:
        if cat is not None:
            cat.kill()
        lister.kill()


def _objects(fd: int, others: tuple[int, ...], form: ObjectFormat) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield (oid, kind, data) from the output of `cat-file --batch`; kind b"" for what is not right, and last.

    Every object is hashed. `others` are descriptors to keep empty meanwhile, so that nobody waits on them.
    """
    import hashlib  # not `digests`: it gives way to this after a few objects

    digest = hashlib.sha256 if form.name == "sha256" else hashlib.sha1
    hex_size = form.hex_size
    buffer = b""
    at = 0
    for chunk in chunks(fd, others):
        buffer = buffer[at:] + chunk if at < len(buffer) else chunk
        at = 0
        end = len(buffer)
        while True:
            line_end = buffer.find(b"\n", at)
            if line_end < 0:
                break
            header = buffer[at:line_end]
            # "<oid> <kind> <size>"; "<oid> missing" has two words
            kind = header[hex_size + 1 : header.rfind(b" ")]
            size_text = header[hex_size + 2 + len(kind) :]
            if not size_text.isdigit():
                yield header[:hex_size].decode("ascii", "replace"), b"", b""
                return
            start = line_end + 1
            stop = start + int(size_text)
            if stop >= end:
                if stop - start > OBJECT_MAX:
                    yield header[:hex_size].decode("ascii", "replace"), b"", b""
                    return
                break
            data = buffer[start:stop]
            oid = digest(header[hex_size + 1 :] + b"\0" + data, usedforsecurity=False).hexdigest()
            if oid.encode() != header[:hex_size] or buffer[stop] != 10:
                yield header[:hex_size].decode("ascii", "replace"), b"", b""
                return
            yield oid, kind, data
            at = stop + 1
    if at < len(buffer):
        yield "", b"", b""  # it ended in the middle of an object


def chunks(fd: int, others: tuple[int, ...]) -> Iterator[bytes]:
    """Yield what can be read from `fd` as it comes; `others` are kept empty meanwhile."""
    poll = select.poll()
    for one in (fd, *others):
        poll.register(one, select.POLLIN)
    while True:
        for ready, _ in poll.poll():
            chunk = os.read(ready, _CHUNK)
            if ready == fd:
                if not chunk:
                    return
                yield chunk
            elif not chunk:
                poll.unregister(ready)


def _assembled(form: ObjectFormat, oid: str, commit: bytes, objects: dict[str, bytes], reader: Reader) -> Stored:
    """Put one commit together from the objects that came with it."""
    tree_oid = tree_of(commit)
    tree = objects.get(tree_oid)
    if tree is None:
        if tree_oid == form.empty_tree:
            return Stored(oid, commit, b"", {})
        return reader.assembled(oid, commit, objects)
    size = form.digest_size
    nul = tree.find(b"\0")
    if nul + 1 + size == len(tree) and tree.startswith(b"100644 "):  # the usual one file, without a loop
        blob = objects.get(tree[nul + 1 :].hex())
        if blob is not None:
            return Stored(oid, commit, tree, {tree[7:nul].decode("utf-8", "surrogateescape"): blob})
    return reader.assembled(oid, commit, objects)


def _stands(stored: Stored, done: set[str], known: tuple[str, ...], reader: Reader) -> bool:
    """Say whether the parents of a commit came before it, or are here below `known`.

    Told to bear with missing objects, git from 2.44 on passes over a missing commit as well, without a word: even over
    the one that it is to begin with.
    """
    for parent in parents_of(stored.commit):
        if parent not in done and parent not in known and not (known and reader.has(parent)):
            return stored.oid in _first_words(reader.repository.common_dir + "/shallow")
    return True


# --- one object at a time ------------------------------------------------------------------------


class Reader:
    """Reads single objects through one `cat-file --batch`, and says of each why it can't be read.

    The process is started when it is first needed, and anew when a bad object has ended it.
    """

    __slots__ = ("_absent", "_buffer", "_errors", "_mark", "_process", "_range", "form", "repository")

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.form: ObjectFormat = repository.form
        self._process: git.Process | None = None
        self._buffer = b""
        self._errors = b""
        self._range: tuple[str, tuple[str, ...]] | None = None
        self._absent: frozenset[str] | None = None
        # Asked after each object: it is answered "<mark> missing", and so every answer has an end. An object
        # whose header promises more bytes than there are would be waited for in vain.
        self._mark = b"mark-" + os.urandom(8).hex().encode()

    def close(self) -> None:
        process, self._process, self._buffer = self._process, None, b""
        if process is not None:
            process.kill()

    def has(self, oid: str) -> bool:
        return self.read(oid)[0] != "missing"

    def expects(self, tip: str, known: tuple[str, ...]) -> None:
        """Say that what will be asked for belongs to the walk of `tip` without `known`."""
        self._range = (tip, known)

    def _known_absent(self) -> frozenset[str]:
        """The objects of the expected walk that a partial clone left out; asking for each would cost a process."""
        if self._absent is None:
            if self._range is None:
                return frozenset()
            self._absent = frozenset()
            if _is_partial(self.repository):
                words = rev_list(*self._range, "--objects", "--no-object-names", "--missing=print")
                listed = self.repository.git(*words, env=git.RAW, check=False)
                self._absent = frozenset(line[1:] for line in listed.decode().splitlines() if line.startswith("?"))
        return self._absent

    def read(self, oid: str) -> tuple[str, bytes]:
        """Return (kind, bytes) of the object `oid`; kind is "missing", "damaged" or "oversized" where there is none."""
        if len(oid) != self.form.hex_size or not is_hex(oid):
            return "damaged", b""
        if oid in self._known_absent():
            return "missing", b""
        process = self._process
        if process is None:
            process = self._process = git.Process(
                ("cat-file", "--batch"),
                git_dir=self.repository.git_dir,
                environ=self.repository.environ,
                env={**self.repository.env(), **git.RAW},
                feed=True,
            )
        self._buffer = self._errors = b""
        try:
            os.write(process.stdin, oid.encode() + b"\n" + self._mark + b"\n")
        except BrokenPipeError:
            self.close()
            raise git.failed(("cat-file",), 128, self._errors) from None
        answer = self._answer()
        if answer is None:
            return "oversized", b""
        header, _, content = answer.partition(b"\n")
        words = header.split(b" ")
        if len(words) != 3 or not words[2].isdigit():
            return ("damaged" if words[-1] != b"missing" or self._is_here(oid) else "missing"), b""
        kind, data = words[1].decode("ascii", "replace"), content[:-1]
        if len(data) > OBJECT_MAX:
            return "oversized", b""
        # A bad object may be shorter than its own header says.
        right = len(data) == int(words[2]) and self.form.oid(kind, data) == oid
        return (kind, data) if right else ("damaged", b"")

    def _answer(self) -> bytes | None:
        """Return what cat-file says to one question, up to its answer to the mark; None: too much to take in."""
        end = self._mark + b" missing\n"
        while not self._buffer.endswith(end):
            if not self._more():
                # It died of this object. What it had said is no answer.
                self.close()
                return b"missing" if b"from promisor remote" in self._errors else b""
            if len(self._buffer) > OBJECT_MAX + 1024:
                self.close()
                return None
        return self._buffer[: -len(end)]

    def stored(self, oid: str) -> Stored:
        """Return the commit `oid` with all that can be read of it."""
        kind, commit = self.read(oid)
        if kind == "commit":
            return self.assembled(oid, commit, {})
        missing, damaged = ((oid,), ()) if kind == "missing" else ((), (oid,))
        return Stored(oid, b"", None, {}, missing, damaged)

    def assembled(self, oid: str, commit: bytes, objects: dict[str, bytes]) -> Stored:
        """Put one commit together from `objects` and from what it takes to read besides."""
        missing: list[str] = []
        damaged: list[str] = []

        def get(name: str, wanted: str) -> bytes | None:
            data = objects.get(name)
            if data is not None:
                return data
            kind, data = self.read(name)
            if kind == wanted:
                return data
            (missing if kind == "missing" else damaged).append(name)
            return None

        tree_oid = tree_of(commit)
        tree = b"" if tree_oid == self.form.empty_tree else get(tree_oid, "tree")
        files: dict[str, bytes | None] = {}
        if tree:
            for name, blob in files_of(tree, self.form.digest_size) or ():
                files[name] = get(blob, "blob")
        return Stored(oid, commit, tree, files, tuple(missing), tuple(damaged))

    def _more(self) -> bool:
        """Wait for more output; False where there will be none."""
        process = self._process
        assert process is not None
        poll = select.poll()
        poll.register(process.stdout, select.POLLIN)
        poll.register(process.stderr, select.POLLIN)
        while True:
            ready = dict(poll.poll())
            if process.stderr in ready:
                said = os.read(process.stderr, _CHUNK)
                self._errors += said
                if not said:
                    poll.unregister(process.stderr)
            if process.stdout in ready:
                chunk = os.read(process.stdout, _CHUNK)
                self._buffer += chunk
                if not chunk:
                    while said := os.read(process.stderr, _CHUNK):
                        self._errors += said
                return bool(chunk)

    def _is_here(self, oid: str) -> bool:
        """Say whether an object that git calls missing is only unreadable: git complained of it, or there is a file."""
        said = [line for line in self._errors.split(b"\n") if line.startswith((b"error: ", b"fatal: "))]
        named = any(oid.encode() in line for line in said)
        return named or os.path.lexists(f"{self.repository.objects_dir}/{oid[:2]}/{oid[2:]}")


def is_hex(text: str) -> bool:
    return set(text) <= set("0123456789abcdef")


def _order_by_hand(tip: str, known: tuple[str, ...], reader: Reader) -> Iterator[str]:
    """Yield the commits of a walk, parents first, where rev-list can't: some commit on the way is unreadable.

    Needs memory for the oids of the whole log.
    """
    edges = _first_words(reader.repository.common_dir + "/shallow")

    def parents(oid: str) -> tuple[str, ...]:
        if oid in edges:
            return ()
        kind, commit = reader.read(oid)
        return parents_of(commit) if kind == "commit" else ()

    seen: set[str] = set()
    waiting = list(known)
    while waiting:
        oid = waiting.pop()
        if oid not in seen:
            seen.add(oid)
            waiting.extend(parents(oid))
    # Depth first, a commit after its parents; the second visit of a commit is when they are done.
    stack: list[tuple[str, bool]] = [(tip, False)]
    while stack:
        oid, done = stack.pop()
        if done:
            yield oid
        elif oid not in seen:
            seen.add(oid)
            stack.append((oid, True))
            stack.extend((parent, False) for parent in reversed(parents(oid)))
