"""jsonl: the whole log, line by line, so that the log can be made again from it anywhere, under the same ids.

    {"gitmem":"log","v":1,...}                      once, at the top
    {"after":[],"author":...}                       an event: its canonical bytes, and nothing else on the line
    {"after":[],...,"redacted":"plain",...}         a tombstone, likewise
    {"gitmem":"signature","of":"<id>",...}          of the event on the line above
    {"gitmem":"commit","n":7,"on":3,"events":2}     the next two events stand in commit 7, on top of commit 3
    {"gitmem":"join","n":10,"of":[5,9]}
    {"gitmem":"end","commits":10,"events":9,"sha256":...}

Commits are numbered as they come; 0 is the root. An event with no `commit` line before it stands in a commit of its
own, on top of the commit before it. So a plain log is a list of events, the id of each is the SHA-256 of its line, and
no oid of git is in it: it reads the same whatever git's hash is. What is quarantined goes along as it is, in base64.
The last line has the SHA-256 of all lines above it.

Everything is in it: sealed, muted, retracted and void events as well, for this is the backup. What was redacted is gone
from the log and so from here. What is attached to events is not part of the log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from gitmem.core import events, objects
from gitmem.core.events import Event
from gitmem.errors import Incomplete
from gitmem.store import git
from gitmem.store.log import Log, Stored
from gitmem.store.plumbing_log import chunks, rev_list
from gitmem.store.repository import Repository

VERSION = 1
#: How every line begins that is no event: an event has an `after`, which sorts before.
MARK = b'{"gitmem":'


class Lines:
    """The lines of a log's export; what was counted is known when they have been taken."""

    def __init__(self, repository: Repository, log: Log, tip: str) -> None:
        self._repository = repository
        self._log = log
        self._tip = tip
        self.commits = 0
        self.events = 0
        self.tombstones = 0
        self.quarantined = 0

    @property
    def told(self) -> str:
        """What was in it, as a sentence."""
        parts = [
            f"{self.events:,} event{'' if self.events == 1 else 's'} in "
            f"{self.commits:,} commit{'' if self.commits == 1 else 's'}"
        ]
        if self.tombstones:
            parts.append(f"{self.tombstones:,} of them redacted")
        if self.quarantined:
            parts.append(f"{self.quarantined:,} files that are quarantined")
        return f"{', '.join(parts)}; sealed, muted and retracted ones too. Attachments stay in the archive."

    def __iter__(self) -> Iterator[bytes]:
        import hashlib

        digest = hashlib.sha256()
        for line in self._lines():
            digest.update(line)
            yield line
        yield _line(gitmem="end", commits=self.commits, events=self.events, sha256=digest.hexdigest())

    def _lines(self) -> Iterator[bytes]:
        form = self._repository.form
        named = _named(self._repository, self._tip)
        numbers: dict[str, int] = {}  # only of what a later line has to name: the rest is a line
        before = form.root
        yield _line(gitmem="log", v=VERSION, object_format=form.name, tip=self._tip)
        for stored in self._log.walk(self._tip):
            if stored.oid == form.root:
                numbers[stored.oid] = 0
                continue
            if not stored.commit or stored.tree is None or None in stored.files.values():
                raise Incomplete(what=f"commit {stored.oid[:12]} of the log can't be read")
            self.commits += 1
            if stored.oid in named:
                numbers[stored.oid] = self.commits
            parents = stored.parents
            if len(parents) == 2:
                yield _line(gitmem="join", n=self.commits, of=[numbers[parent] for parent in parents])
            else:
                yield from self._event_commit(stored, -1 if parents[0] == before else numbers[parents[0]])
            before = stored.oid

    def _event_commit(self, stored: Stored, on: int) -> Iterator[bytes]:
        found = sorted(_read(stored), key=lambda one: (one[0] is None, objects.order(one[0]) if one[0] else one[1]))
        if len(found) > 1 or on >= 0:
            yield _line(gitmem="commit", n=self.commits, **({"on": on} if on >= 0 else {}), events=len(found))
        for event, name, data in found:
            if event is None:
                self.quarantined += 1
                yield _line(gitmem="quarantined", name=name, base64=_base64(data))
            else:
                self.events += 1
                self.tombstones += bool(event.redacted)
                yield data + b"\n"
            signature = stored.files.get(name.partition(".")[0] + objects.SIGNATURE_SUFFIX)
            if signature is not None:
                yield _line(gitmem="signature", of=name.partition(".")[0], **_armoured(signature))


def selected() -> bytes:
    """Return the first line of a selection, which is no log: `import jsonl` doesn't take it."""
    return _line(gitmem="log", v=VERSION, selection=True)


def _read(stored: Stored) -> Iterator[tuple[Event | None, str, bytes]]:
    """Yield (event or tombstone, None where it is neither; file name; bytes) of the files of a commit."""
    for name, data in stored.files.items():
        stem, dot, suffix = name.partition(".")
        suffix = dot + suffix
        if suffix == objects.SIGNATURE_SUFFIX:
            continue
        assert data is not None  # looked at by the caller
        try:
            event = events.parse(data) if suffix == objects.EVENT_SUFFIX else events.parse_tombstone(data)
        except events.Malformed:
            yield None, name, data
            continue
        yield (event if event.id == stem else None), name, data


def _named(repository: Repository, tip: str) -> set[str]:
    """Return the commits that a line has to name: parents of joins, and of what doesn't follow in the next line."""
    words = rev_list(tip, (), "--parents")
    env = {**repository.env(), **git.RAW}
    process = git.Process(words, git_dir=repository.git_dir, environ=repository.environ, env=env)
    found: set[str] = set()
    before = rest = b""
    try:
        git.widen(process.stdout)
        for chunk in chunks(process.stdout, (process.stderr,)):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                oid, *parents = line.split()
                if len(parents) > 1 or (parents and parents[0] != before):
                    found.update(parent.decode() for parent in parents)
                before = oid
        rc = process.wait()
    finally:
        process.kill()
    if rc:
        raise git.failed(words, rc, b"")
    return found


def _armoured(signature: bytes) -> dict[str, object]:
    try:
        return {"text": signature.decode("ascii")}
    except UnicodeDecodeError:
        return {"base64": _base64(signature)}


def _base64(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


def _line(**fields: object) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"
