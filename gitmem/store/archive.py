"""The archive: what is too long or too raw for an event, sealed, and kept by the event's id.

The ref `refs/decisions-archive/log` holds one commit, and that a tree of all attachments:

    7f/3a91c2…/<SHA-256 of the content>        the bytes of a file, as they came
    7f/3a91c2…/<SHA-256 of the content>.json   what it is called, who attached it, when

It is a set and no history: attachments are added, never changed, and the commit is a pure function of the set, with a
fixed author and no parent. So two archives meet by union, in any order, and what is taken out leaves nothing behind in
older commits. The ref moves by compare-and-swap, as the log's does, and has a reflog.

Nothing is decided by what is in here, and nothing reads it but `audit` and the purge.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from gitmem.core import canonical, characters, ids, objects, secrets
from gitmem.core.events import NOBODY
from gitmem.core.objects import ObjectFormat
from gitmem.errors import Incomplete, Refused, Usage, Writing
from gitmem.store import git
from gitmem.store.lock import leftovers
from gitmem.store.log import TipMoved
from gitmem.store.plumbing_log import WRITING, PlumbingLog, Reader, chunks
from gitmem.store.repository import Repository, unwritable
from gitmem.store.writing import Tries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import BufferedReader

REF = "refs/decisions-archive/log"
ABOUT_SUFFIX = ".json"
#: What a file is called, in characters.
NAME_MAX = 255
#: How much of a file is looked at in one go for secrets, and how much of it is looked at again with what follows.
WINDOW = 1 << 20
OVERLAP = 1 << 14
#: In the local directory, while something is attached: which objects a killed process may have left, and its copy of
#: what can be read only once.
LEFT, LISTED = "attaching", ".oids"

_MESSAGE = "attachments of the decision log, sealed\n"

#: event id -> file name -> blob oid
Held = dict[str, dict[str, str]]


class Attachment:
    """One sealed file of an event.

    event    the id of the event
    sha256   of its content, which is its name in the archive
    size     in bytes
    name     what the file was called, without its folders
    author, channel, added_at   who attached it, and when (format time)
    secret   it was attached though it looked like a secret, by a person who said so
    blob     its oid in git
    problem  what is wrong with it, as a clause; "" where its bytes are what its name says. Known after `check`
    is_text  whether it is UTF-8 without a NUL. Known after `check`
    """

    __slots__ = (
        "added_at",
        "author",
        "blob",
        "channel",
        "event",
        "is_text",
        "name",
        "problem",
        "secret",
        "sha256",
        "size",
    )

    def __init__(self, event: str, sha256: str, blob: str, about: Mapping[str, object], size: int) -> None:
        self.event = event
        self.sha256 = sha256
        self.blob = blob
        self.name = str(about.get("name") or "")
        self.author = str(about.get("author") or "")
        self.channel = str(about.get("channel") or "")
        self.added_at = str(about.get("added_at") or "")
        self.secret = about.get("allow_secret") is True
        self.size = size
        self.problem = ""
        self.is_text = False

    @property
    def order(self) -> tuple[str, str, str]:
        return (self.added_at, self.name, self.sha256)


class Offer:
    """A file that somebody wants to attach: looked through, and not stored yet. Close it."""

    __slots__ = ("_spooled", "blob", "name", "path", "secret", "sha256", "size")

    def __init__(self, name: str, path: str, size: int, sha256: str, blob: str, *, spooled: bool) -> None:
        self.name = name
        self.path = path
        self.size = size
        self.sha256 = sha256
        self.blob = blob
        self.secret = False
        self._spooled = spooled

    def close(self) -> None:
        if self._spooled:
            unlink(self.path)
            self._spooled = False


class Stripped:
    """What is left of the archive without some events: `doomed` (oid -> kind) is what has no place in it any more."""

    __slots__ = ("count", "doomed", "new", "objects", "old")

    def __init__(self, old: str, new: str, stored: list[tuple[str, bytes]], doomed: dict[str, str], count: int) -> None:
        self.old = old
        self.new = new
        self.objects = stored
        self.doomed = doomed
        self.count = count


# --- what is offered --------------------------------------------------------------------------


def offer(
    repository: Repository, path: str, *, name: str = "", own: Sequence[secrets.Own] = (), allow_secret: bool = False
) -> Offer:
    """Look through the file at `path` (or stdin, for `-`) and return it as what can be attached.

    Raises Usage where it can't be read, Refused where it looks like it holds a secret. Nothing was stored then.
    """
    label = _label(name or ("stdin" if path == "-" else os.path.basename(path)))
    _check_name(label, own)
    spool = ""
    try:
        if path == "-" or not os.path.isfile(path):  # what can be read once only (a pipe) is kept for the second time
            spool = _spooled(repository, path)
        source = spool or os.path.abspath(path)
        with _opened(source) as file:
            found = _looked_through(file, repository.form, label, own, allow_secret=allow_secret)
    except BaseException:
        if spool:
            unlink(spool)
        raise
    size, sha256, blob, kind = found
    made = Offer(label, source, size, sha256, blob, spooled=bool(spool))
    made.secret = bool(kind)
    return made


def offer_text(
    repository: Repository, text: str, *, name: str, own: Sequence[secrets.Own] = (), allow_secret: bool = False
) -> Offer:
    """Return a text as what can be attached under `name`. Raises as `offer` does."""
    path = _spool_path(repository)
    data = text.encode("utf-8", "surrogatepass")
    try:
        _write(path, iter((data,)))
        made = offer(repository, path, name=name, own=own, allow_secret=allow_secret)
    except BaseException:
        unlink(path)
        raise
    made._spooled = True
    return made


def _label(name: str) -> str:
    clean = "".join("\ufffd" if c in characters.INVISIBLE or "\ud800" <= c <= "\udfff" else c for c in name)
    return characters.nfc(clean)[:NAME_MAX].strip() or "unnamed"


def _check_name(label: str, own: Sequence[secrets.Own]) -> None:
    for hit in secrets.scan("the name of the attachment", label, own):
        raise secrets.refusal(hit, change=False)


def _opened(path: str) -> BufferedReader:
    try:
        return open(path, "rb")
    except OSError as error:
        raise Usage(what=f"can't read {path}: {error.strerror or error}; nothing was written", hint="") from None


def _spool_path(repository: Repository) -> str:
    return f"{repository.make_local_dir()}/{LEFT}.{os.getpid()}.{os.urandom(4).hex()}"


def _spooled(repository: Repository, path: str) -> str:
    target = _spool_path(repository)
    if path == "-":
        _write(target, iter(lambda: os.read(0, WINDOW), b""))
        return target
    with _opened(path) as file:
        try:
            _write(target, iter(lambda: file.read(WINDOW), b""))
        except IsADirectoryError:
            raise Usage(what=f"{path} is a directory; nothing was written", hint="") from None
    return target


def _write(path: str, data: Iterator[bytes]) -> None:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unwritable(path, error) from None
    with os.fdopen(fd, "wb") as file:
        try:
            for chunk in data:
                file.write(chunk)
        except OSError as error:
            if error.filename is None and not isinstance(error, IsADirectoryError):
                raise unwritable(path, error) from None
            raise


def _looked_through(
    file: BufferedReader, form: ObjectFormat, label: str, own: Sequence[secrets.Own], *, allow_secret: bool
) -> tuple[int, str, str, str]:
    """Return (size, SHA-256, blob oid, kind of the first secret) of an open file. Raises Refused."""
    import hashlib

    size = os.fstat(file.fileno()).st_size
    sha256 = hashlib.sha256()
    blob = hashlib.sha256() if form.name == "sha256" else hashlib.sha1(usedforsecurity=False)
    blob.update(b"blob %d\0" % size)
    scanner = _Scanner(own)
    read, kind, line = 0, "", 0
    while chunk := file.read(WINDOW):
        read += len(chunk)
        sha256.update(chunk)
        blob.update(chunk)
        if not kind:
            kind, line = scanner.feed(chunk)
    if not kind:
        kind, line = scanner.feed(b"", last=True)
    if read != size:
        raise _changing(label)
    if kind and not allow_secret:
        about = secrets.refusal(secrets.Hit(kind, f"attachment {label}", 0, 0), change=False).fields
        hint = f"{about['hint']} A person may store it as it is, in a terminal: --allow-secret."
        raise Refused(**{**about, "what": f"line {line:,} {about['what']}", "hint": hint})
    return size, sha256.hexdigest(), blob.hexdigest(), kind


def _changing(label: str) -> Refused:
    return Refused(field=f"attachment {label}", what="it changed while it was read", hint="do it again.")


class _Scanner:
    """Looks for secrets in a text that comes in pieces. Windows end where a line does, and overlap."""

    __slots__ = ("_decoder", "_line", "_own", "_text")

    def __init__(self, own: Sequence[secrets.Own]) -> None:
        self._own = own
        self._text = ""
        self._line = 1
        self._decoder: codecs.IncrementalDecoder | None = None

    def feed(self, data: bytes, *, last: bool = False) -> tuple[str, int]:
        """Return the kind of the first secret and its line, or ("", 0)."""
        if self._decoder is None:
            wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # what a Windows shell writes
            self._decoder = codecs.getincrementaldecoder("utf-16" if wide else "utf-8")("replace")
        text = self._text + self._decoder.decode(data, last)
        end = len(text)
        if not last:
            # Half of a word may look like what the whole doesn't.
            cut = max(text.rfind("\n", -OVERLAP), text.rfind(" ", -OVERLAP))
            end = cut if cut > 0 else end
        for hit in secrets.scan("attachment", text[:end], self._own):
            return hit.kind, self._line + text.count("\n", 0, hit.start)
        start = max(0, end - OVERLAP)
        start = max(text.find("\n", start, end), start)
        self._line += text.count("\n", 0, start)
        self._text = text[start:]
        return "", 0


# --- the archive ------------------------------------------------------------------------------


class Archive:
    """The attachments of one repository."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.form = repository.form
        self._ref = PlumbingLog(repository, REF)

    def tip(self) -> str | None:
        """Return the commit that the archive's ref holds, or None where nothing was ever attached."""
        return self._ref.tip()

    # --- reading ------------------------------------------------------------------------------

    def of(self, event_id: str) -> list[Attachment]:
        """Return what is attached to an event, the oldest first. Raises Incomplete where it can't be read."""
        tip = self.tip()
        if tip is None:
            return []
        reader = Reader(self.repository)
        try:
            files = self._files(reader, tip, event_id)
            found = []
            for name, oid in files.items():
                if not ids.is_id(name):
                    continue
                found.append(Attachment(event_id, name, oid, self._about(reader, files, name), self._size(oid)))
        finally:
            reader.close()
        return sorted(found, key=lambda one: one.order)

    def _about(self, reader: Reader, files: Mapping[str, str], name: str) -> dict[str, object]:
        oid = files.get(name + ABOUT_SUFFIX, "")
        kind, data = reader.read(oid) if oid else ("missing", b"")
        try:
            return canonical.decode(data) if kind == "blob" else {}
        except canonical.NotCanonical:
            return {}

    def _size(self, oid: str) -> int:
        answer = self.repository.try_git("cat-file", "-s", oid, env=git.RAW)
        text = answer.out.strip().decode("ascii", "replace")
        return int(text) if answer.rc == 0 and text.isdigit() else -1

    def content(self, attachment: Attachment) -> Iterator[bytes]:
        """Yield the bytes of an attachment as they come. Raises Incomplete where they are not here."""
        words = ("cat-file", "blob", attachment.blob)
        env = {**self.repository.env(), **git.RAW}
        process = git.Process(words, git_dir=self.repository.git_dir, environ=self.repository.environ, env=env)
        try:
            git.widen(process.stdout)
            yield from chunks(process.stdout, (process.stderr,))
            rc = process.wait()
        finally:
            process.kill()
        if rc:
            raise Incomplete(what=f"the attachment {attachment.sha256[:12]} is not here", hint="fetch the archive.")

    def check(self, attachment: Attachment) -> None:
        """Read an attachment through once: are its bytes what its name says, and are they text?"""
        import hashlib

        digest = hashlib.sha256()
        decoder = codecs.getincrementaldecoder("utf-8")("strict")
        is_text = True
        try:
            for chunk in self.content(attachment):
                digest.update(chunk)
                if is_text:
                    is_text = _is_text(decoder, chunk)
            is_text = is_text and _is_text(decoder, b"", last=True)
        except Incomplete as error:
            attachment.problem = str(error.fields["what"])
            return
        attachment.is_text = is_text
        if digest.hexdigest() != attachment.sha256:
            attachment.problem = "its content is not what was attached: it hashes to " + digest.hexdigest()[:12]

    # --- adding -------------------------------------------------------------------------------

    def add(
        self,
        event_id: str,
        offers: Sequence[Offer],
        about: Mapping[str, object],
        check: Callable[[], None] = lambda: None,
    ) -> list[Attachment]:
        """Attach what is offered to an event; return what is new of it. What is attached already stays as it is.

        `check` raises where the event may have no attachments (any more); it is asked before each try. Raises Refused,
        LogBusy, GitFailed; the archive was not changed then.
        """
        note = ""
        with Tries(self.repository) as tries:
            while True:
                tries.begin()
                check()
                tip = self.tip()
                reader = Reader(self.repository)
                try:
                    files = self._files(reader, tip, event_id) if tip else {}
                    new = [one for one in {one.sha256: one for one in offers}.values() if one.sha256 not in files]
                    if not new:
                        if note:
                            unlink(note)
                        return []
                    if not note:
                        note = _spool_path(self.repository) + LISTED
                        _write(note, (f"{event_id} {one.blob}\n".encode() for one in new))
                        self._store(new)
                    stored: list[tuple[str, bytes]] = []
                    made = []
                    for one in new:
                        said = {**about, "v": 1, "name": one.name, "size": one.size}
                        if one.secret:
                            said["allow_secret"] = True
                        body = canonical.encode(said)
                        stored.append(("blob", body))
                        files = {**files, one.sha256: one.blob, one.sha256 + ABOUT_SUFFIX: self.form.oid("blob", body)}
                        made.append(Attachment(event_id, one.sha256, one.blob, said, one.size))
                    target = self._changed(reader, tip, {event_id: files}, stored, {})
                    self._ref.publish(stored, target, tip, "attach")
                except TipMoved:
                    continue
                finally:
                    reader.close()
                unlink(note)
                return made

    def _store(self, offers: Sequence[Offer]) -> None:
        for one in offers:
            words = (*WRITING, "hash-object", "-w", "--no-filters", "--", one.path)
            oid = self.repository.git(*words, env=git.RAW).decode("ascii", "replace").strip()
            if oid != one.blob:
                raise _changing(one.name)

    # --- meeting another, and taking out ---------------------------------------------------------

    def count(self, tip: str | None) -> int:
        """Return how many attachments the archive commit `tip` holds."""
        held = self._all(tip).values() if tip else ()
        return sum(not name.endswith(ABOUT_SUFFIX) for files in held for name in files)

    def join(self, other: str, is_gone: Callable[[str], bool], source: Archive | None = None) -> str | None:
        """Bring all attachments of the archive commit `other` into ours; return the new tip.

        What belongs to an event of which `is_gone` says so (it was redacted here) stays out, and is never stored.
        `source` reads what is not in our own store yet (a quarantine). The other way, ours takes the place of a
        remote's by a push with a lease on what was joined: there is no history that could be fast-forwarded.
        Raises Incomplete, LogBusy, GitFailed.
        """
        reading = source or self
        theirs = {event_id: files for event_id, files in reading._all(other).items() if not is_gone(event_id)}
        with Tries(self.repository) as tries:
            while True:
                tries.begin()
                tip = self.tip()
                ours = self._all(tip) if tip else {}
                changes: Held = {}
                for event_id, files in theirs.items():
                    have = ours.get(event_id, {})
                    both = {name: min(oid, have.get(name, oid)) for name, oid in files.items()}
                    if {**have, **both} != have:
                        changes[event_id] = {**have, **both}
                if not changes:
                    return tip
                if source is not None:
                    wanted = {oid for event_id, files in changes.items() for oid in files.values()}
                    self._take(source, wanted - {oid for files in ours.values() for oid in files.values()})
                stored: list[tuple[str, bytes]] = []
                reader = Reader(self.repository)
                try:
                    target = self._changed(reader, tip, changes, stored, {})
                    self._ref.publish_many(stored, target, tip, "join")
                except TipMoved:
                    continue
                finally:
                    reader.close()
                return target

    def _take(self, source: Archive, blobs: Collection[str]) -> None:
        """Store some blobs that `source` has, and nothing else of it. From process to process: they may be large."""
        if not blobs:
            return
        there, words = source.repository, ("pack-objects", "-q", "--stdout")
        env = {**there.env(), **git.RAW}
        giver = git.Process(words, git_dir=there.git_dir, environ=there.environ, env=env, feed=True)
        taker = None
        try:
            taking = (*WRITING, "index-pack", "--stdin")
            here = self.repository
            env = {**here.env(), **git.RAW}
            taker = git.Process(taking, git_dir=here.git_dir, environ=here.environ, env=env, stdin_from=giver)
            os.write(giver.stdin, "".join(f"{oid}\n" for oid in sorted(blobs)).encode())
            giver.close("stdin")
            result = taker.communicate()
            rc = giver.wait()
        finally:
            giver.kill()
            if taker is not None:
                taker.kill()
        if result.rc or rc:
            raise git.failed(taking, result.rc or rc, result.err, also="; nothing was attached")

    def without(self, is_gone: Callable[[str], bool]) -> Stripped | None:
        """Return the archive without what belongs to events of which `is_gone` says so; None: there is nothing."""
        doomed = dict.fromkeys(self._left_behind(is_gone), "blob")
        tip = self.tip()
        held = self._all(tip) if tip else {}
        gone: Held = {event_id: {} for event_id in held if is_gone(event_id)}
        if tip is None or not gone:
            return Stripped("", "", [], doomed, 0) if doomed else None
        stored: list[tuple[str, bytes]] = []
        reader = Reader(self.repository)
        try:
            target = self._changed(reader, tip, gone, stored, doomed)
        finally:
            reader.close()
        staying = {oid for event_id, files in held.items() if event_id not in gone for oid in files.values()}
        for event_id in gone:
            doomed |= {oid: "blob" for oid in held[event_id].values() if oid not in staying}
        return Stripped(tip, target, stored, doomed, sum(len(held[one]) for one in gone) // 2)

    def put(self, stripped: Stripped) -> None:
        """Let the ref stand for what `without` returned. Raises TipMoved where it was another meanwhile, GitFailed."""
        if stripped.new:
            self._ref.publish(stripped.objects, stripped.new, stripped.old, "redact")
        elif stripped.old:
            order = f"option no-deref\ndelete {REF} {stripped.old}\n".encode()
            with Writing():
                result = self.repository.try_git(*WRITING, "update-ref", "--stdin", input=order)
                if result.rc:
                    tip = self.tip()
                    if tip != stripped.old:
                        raise TipMoved(tip)
                    raise git.failed(("update-ref",), result.rc, result.err)

    def _left_behind(self, is_gone: Callable[[str], bool]) -> Iterator[str]:
        """Yield what processes that were killed may have stored for such events; take their copies away."""
        for path in leftovers(self.repository, LEFT):
            if not path.endswith(LISTED):
                unlink(path)
                continue
            with open(path, encoding="ascii", errors="replace") as file:
                pairs = [line.split() for line in file]
            for event_id, oid in (pair for pair in pairs if len(pair) == 2):
                if is_gone(event_id):
                    yield oid

    # --- trees --------------------------------------------------------------------------------

    def _files(self, reader: Reader, tip: str, event_id: str) -> dict[str, str]:
        """Return file name -> oid of what is attached to an event."""
        folder = self._tree(reader, self._tree_of(reader, tip)).get(event_id[:2])
        rest = self._tree(reader, folder).get(event_id[2:]) if folder else None
        return self._tree(reader, rest) if rest else {}

    def _tree_of(self, reader: Reader, tip: str) -> str:
        kind, commit = reader.read(tip)
        if kind != "commit":
            raise Incomplete(what=f"the archive's commit {tip[:12]} is {kind}", hint="fetch the archive again.")
        return commit[5 : 5 + self.form.hex_size].decode("ascii", "replace")

    def _tree(self, reader: Reader, oid: str) -> dict[str, str]:
        if oid == self.form.empty_tree:
            return {}
        kind, data = reader.read(oid)
        if kind != "tree":
            raise Incomplete(what=f"the tree {oid[:12]} of the archive is {kind}", hint="fetch the archive again.")
        found = {}
        at = 0
        while at < len(data):
            space, nul = data.find(b" ", at), data.find(b"\0", at)
            stop = nul + 1 + self.form.digest_size
            if space < 0 or nul < 0 or stop > len(data):
                raise Incomplete(what=f"the tree {oid[:12]} of the archive is damaged", hint="")
            found[data[space + 1 : nul].decode("utf-8", "surrogateescape")] = data[nul + 1 : stop].hex()
            at = stop
        return found

    def _all(self, tip: str) -> Held:
        """Return everything in an archive; what has no place in one is left out."""
        result = self.repository.try_git("ls-tree", "-r", "-z", "--full-tree", tip, env=git.RAW)
        if result.rc:
            raise Incomplete(what=f"the archive's commit {tip[:12]} can't be read", hint="fetch the archive again.")
        held: Held = {}
        for line in result.out.decode("utf-8", "surrogateescape").split("\0"):
            about, _, path = line.partition("\t")
            folders, _, name = path.rpartition("/")
            event_id = folders.replace("/", "", 1)
            kind = about.split(" ")[1:2]
            if kind == ["blob"] and ids.is_id(event_id) and ids.is_id(name.removesuffix(ABOUT_SUFFIX)):
                held.setdefault(event_id, {})[name] = about.split(" ")[2]
        return held

    def _changed(
        self,
        reader: Reader,
        tip: str | None,
        changes: Held,
        stored: list[tuple[str, bytes]],
        doomed: dict[str, str],
    ) -> str:
        """Return the commit of the archive with other files for some events (none: without them), "" if it is empty.

        What has to be stored for it goes into `stored`, what it takes the place of into `doomed`.
        """
        root: dict[str, str] = {}
        if tip:
            tree = self._tree_of(reader, tip)
            root = self._tree(reader, tree)
            doomed |= {tip: "commit", tree: "tree"}
        made: dict[str, bytes] = {}

        def make(data: bytes) -> str:
            oid = self.form.oid("tree", data)
            made[oid] = data
            return oid

        for first in sorted({event_id[:2] for event_id in changes}):
            folder = {}
            if first in root:
                folder = self._tree(reader, root[first])
                doomed[root.pop(first)] = "tree"
            for event_id, files in changes.items():
                if event_id[:2] != first:
                    continue
                before = folder.pop(event_id[2:], "")
                if before:
                    doomed[before] = "tree"
                if files:
                    folder[event_id[2:]] = make(objects.tree(files.items()))
            if folder:
                root[first] = make(_folder(folder))
        if not root:
            return ""
        tree = make(_folder(root))
        who = f"{NOBODY} 0 +0000"
        commit = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n{_MESSAGE}".encode()
        stored += [("tree", data) for data in made.values()]
        stored.append(("commit", commit))
        for oid in (*made, self.form.oid("commit", commit)):
            doomed.pop(oid, None)
        return self.form.oid("commit", commit)


def _folder(entries: Mapping[str, str]) -> bytes:
    """Return the bytes of a tree of trees; all names are of one length, so that their order is plain."""
    return b"".join(b"40000 %s\0%s" % (name.encode(), bytes.fromhex(oid)) for name, oid in sorted(entries.items()))


def _is_text(decoder: codecs.IncrementalDecoder, chunk: bytes, *, last: bool = False) -> bool:
    if b"\0" in chunk:
        return False
    try:
        decoder.decode(chunk, last)
    except UnicodeDecodeError:
        return False
    return True


def unlink(path: str) -> int:
    """Remove a file; return how many that were, 0 or 1."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return 0
    return 1
