"""Reverts in a repository's history, as drafts: what was tried, who took it back, when and why.

Only commits that HEAD reaches are read, and of these only what commits say and do about reverting. A file
that is merely deleted is no verdict on anything.

For each file that a revert takes back there are two events with one approach, the subject of the reverted
commit: the attempt (`add` or `modify`, at its own commit's time, in its own words), so that the trail is
told whole, and the `revert`. A revert of a revert lands the attempt again: an opening event, newer than the
revert, which overtakes it (R8c). Tables and columns that a reverted SQL file brought in get the same.

Every draft is a pure function of its commits and their ancestry, and so is `source`, its name: importing
again, or in another clone, finds the same ones. Where the log has one, `known_sources`, it isn't yielded.

Commits may also say what they decided against, in trailers (`git_trailers`): each alternative is a `reject` with its
approach, on what the commit changed.

The parts: `git_history` finds reverts and what they may mean in one pass over all messages (read by
`git_messages`), `git_diffs` says what commits change, `git_reverts` holds the two together.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Container, Generator, Iterator

from gitmem.core import digests, events
from gitmem.core.drafts import Draft
from gitmem.errors import Usage
from gitmem.importers import git_messages, git_trailers
from gitmem.importers.git_diffs import Diffs
from gitmem.importers.git_history import Commit, History
from gitmem.importers.git_process import Place, ask
from gitmem.importers.git_reverts import Act, Entity, Reverts, micros, named
from gitmem.importers.git_summary import Summary

#: progress(what, done, total): `commits` or `reverts` read, how many, of how many (0: not known yet).
Progress = Callable[[str, int, int], None]

_AUTHOR_MAX = 1024
_CONSTRAINT_MAX = 2000
_REVERTS_PER_PROGRESS = 10


def _silent(what: str, done: int, total: int) -> None:
    """Nobody watches."""


class Reading:
    """The drafts, one by one, what is older first; `summary` is complete once there are no more.

    `close` ends it and the processes that it started; so does every exception that passes through it.
    """

    def __init__(self, drafts: Generator[Draft], summary: Summary) -> None:
        self._drafts = drafts
        self.summary = summary

    def __iter__(self) -> Reading:
        return self

    def __next__(self) -> Draft:
        return next(self._drafts)

    def close(self) -> None:
        self._drafts.close()


def read(
    repository_dir: str,
    *,
    since: str | None = None,
    known_sources: Container[str] = (),
    progress: Progress = _silent,
) -> Reading:
    """Return the drafts that the history of HEAD holds, in the repository at `repository_dir`. Writes nothing.

    `repository_dir` is a git directory, or a folder that has one. `since` leaves out older reverts (not the
    attempts that newer ones took back): a commit, whose history is left out, or a date such as `2024-01-31`,
    with a time if wanted, in UTC unless it says otherwise.

    Raises Usage where `since` is neither, and GitFailed, now or while reading, where git can't read the history.
    """
    folder = os.fspath(repository_dir)
    inside = os.path.exists(os.path.join(folder, ".git"))
    place = Place(None if inside else folder, folder if inside else None)
    summary = Summary()
    return Reading(_drafts(place, _newer(place, since), known_sources, progress, summary), summary)


def _newer(place: Place, since: str | None) -> Callable[[Commit | git_trailers.Said], bool]:
    """Return what tells whether a commit is newer than `since`."""
    if since is None:
        return lambda commit: True
    found = ask(place, "rev-parse", "--verify", "--quiet", "--end-of-options", since + "^{commit}")
    if found.rc == 0:
        listed = ask(place, "rev-list", "HEAD", "--not", found.out.decode("ascii").strip(), "--")
        oids = frozenset(listed.out.decode("ascii").split())
        return lambda commit: commit.oid in oids
    try:
        date = datetime.datetime.fromisoformat(since)
    except ValueError:
        what = f"--since {since!r} is neither a commit of this repository nor a date such as 2024-01-31"
        raise Usage(what=what, command="import git") from None
    if date.tzinfo is None:
        date = date.replace(tzinfo=datetime.UTC)
    first = int(date.timestamp())
    return lambda commit: commit.time >= first


def _drafts(
    place: Place,
    newer: Callable[[Commit | git_trailers.Said], bool],
    known: Container[str],
    progress: Progress,
    summary: Summary,
) -> Generator[Draft]:
    if ask(place, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").rc:
        summary.warnings.append("HEAD has no commit yet: there is no history to read.")
        return
    shallow = _shallow(place)
    if shallow:
        summary.warnings.append(
            "this clone is shallow: what was reverted before its history begins is not seen, and a revert may lack "
            "the commit that it took back; `git fetch --unshallow` brings the rest."
        )
    history = History(place)

    def commits_read(done: int) -> None:
        summary.commits = done
        progress("commits", done, 0)

    history.read(commits_read)
    pen = _Pen(known, summary)
    diffs = Diffs(place)
    try:
        reverts = Reverts(history, diffs, shallow, summary)
        total = len(history.reverts)
        for done, revert in enumerate(history.reverts, 1):
            acts = reverts.of(revert)
            if acts and newer(revert.commit):
                _count(summary, revert.commit, closes=any(act.closes for act in acts))
                reason, written = revert.claim.reason, [target.oid for target in revert.claim.targets]
                for act in acts:
                    yield from pen.act(act, reason, written, several=len(acts) > 1)
            if done % _REVERTS_PER_PROGRESS == 0 or done == total:
                progress("reverts", done, total)
        for act in reverts.again():
            if newer(act.commit):
                _count(summary, act.commit, closes=False)
                yield from pen.act(act, git_messages.whole(act.commit.message), [], several=False)
    finally:
        diffs.close()
    for said in git_trailers.read(place):
        if newer(said):
            yield from pen.said(said)


def _shallow(place: Place) -> frozenset[str]:
    """Return the commits whose parents a shallow clone lacks."""
    path = os.fsdecode(ask(place, "rev-parse", "--git-path", "shallow").out.rstrip(b"\n"))
    try:
        with open(os.path.join(place.cwd or "", path), encoding="ascii") as file:
            return frozenset(file.read().split())
    except FileNotFoundError:
        return frozenset()


def _count(summary: Summary, commit: Commit, *, closes: bool) -> None:
    if closes:
        summary.reverts += 1
    else:
        summary.again += 1
    if commit.clamped:
        summary.once("dates outside of 1970-9999, moved to the nearest", named(commit))
    if commit.mended:
        summary.once("messages that are not UTF-8, kept with replacement characters", named(commit))


class _Pen:
    """Writes drafts, each source once."""

    def __init__(self, known: Container[str], summary: Summary) -> None:
        self._known = known
        self._summary = summary
        self._sources: set[str] = set()

    def act(self, act: Act, reason: str, written: list[str], *, several: bool) -> Iterator[Draft]:
        """Yield the events of one act. `written`: the ids in its message; with `several` acts each names its root."""
        oid = act.commit.oid
        name = f"git:{oid}/{act.root.oid}" if several and act.root is not None else f"git:{oid}"
        on = [act.on.oid] if act.on is not None else written
        said = reason or (git_messages.NO_REASON if act.closes else git_messages.NO_REASON_AGAIN)
        verb = "reverts" if act.closes or act.on is not act.root else "repeats"
        evidence = [f"commit:{oid}", *(f"{verb}:{other}" for other in on)]
        for path, entity in act.entities.items():
            if act.root is not None and entity.tried:
                yield from self._attempt(act, act.root, path, entity)
            change = "revert" if act.closes else entity.opened
            yield from self._draft(
                source_of(name, path), path, entity, change, act, said, act.time, evidence, act.commit
            )

    def said(self, said: git_trailers.Said) -> Iterator[Draft]:
        """Yield what a commit's trailers reject, on each thing that it is about, and what they state."""
        oid = said.oid
        if not said.about:
            self._summary.skip("trailers of commits that change too much to say what they are about", oid[:12])
            return
        reason = git_messages.whole(said.message) or said.subject
        rejected = [(number, *pair) for number, pair in enumerate(said.rejected, 1) if pair[0]]
        if len(rejected) < len(said.rejected):
            self._summary.skip("trailers `Rejected:` that name no alternative", oid[:12])
        for path in said.about:
            common: dict[str, object] = {
                "scope": "",
                "entity_path": path,
                "valid_from": _time(said.time * 1_000_000),
                "evidence": [f"commit:{oid}", f"author:{_author(said.author)}"],
                "basis": "evidence",
            }
            if said.constraint:
                common["constraint"] = git_messages.trim(said.constraint, _CONSTRAINT_MAX)
            for number, alternative, why in rejected:
                fields = {
                    **common,
                    "change_type": "reject",
                    "approach": git_messages.approach(alternative, ""),
                    "reasoning": git_messages.trim(why, git_messages.REASON_MAX) or reason,
                    "instead": git_messages.trim(said.subject, _CONSTRAINT_MAX),
                }
                yield from self._write(source_of(f"git:{oid}/rejected{number}", path), fields)
            if not rejected and said.constraint:
                fields = {**common, "change_type": "modify", "reasoning": reason}
                yield from self._write(source_of(f"git:{oid}/constraint", path), fields)

    def _attempt(self, act: Act, root: Commit, path: str, entity: Entity) -> Iterator[Draft]:
        reason = git_messages.whole(root.message) or act.approach
        evidence = [f"commit:{root.oid}"]
        source = source_of(f"git:{root.oid}", path)
        yield from self._draft(source, path, entity, entity.tried, act, reason, micros(root), evidence, root)

    def _draft(
        self,
        source: str,
        path: str,
        entity: Entity,
        change: str,
        act: Act,
        reason: str,
        time: int,
        evidence: list[str],
        commit: Commit,
    ) -> Iterator[Draft]:
        fields: dict[str, object] = {
            "scope": "",
            "entity_path": path,
            "entity_type": entity.kind,
            "change_type": change,
            "approach": act.approach,
            "reasoning": reason,
            "valid_from": _time(time),
            "evidence": [*evidence, f"author:{_author(commit.author)}"],
            "basis": "evidence",
        }
        if change == "revert" and entity.fingerprint is not None:
            fields["fingerprint"] = entity.fingerprint
        yield from self._write(source, fields)

    def _write(self, source: str, fields: dict[str, object]) -> Iterator[Draft]:
        if source in self._sources:
            return
        self._sources.add(source)
        if source in self._known:
            self._summary.known += 1
            return
        self._summary.drafts += 1
        yield Draft("change", {**fields, "source": source})


def _author(name: str) -> str:
    return events.clean_author(git_messages.trim(name, _AUTHOR_MAX))


def source_of(name: str, path: str) -> str:
    """Return the `source` of an event about the entity `path` in the commit that `name` gives.

    It stays in a tombstone, where an entity may have to be hidden, so it holds a hash of the path (F16).
    """
    return f"{name}:{digests.sha256(path.encode()).hexdigest()[:16]}"


_EPOCH = datetime.datetime(1970, 1, 1)


def _time(microseconds: int) -> str:
    moment = _EPOCH + datetime.timedelta(microseconds=microseconds)
    return moment.isoformat(timespec="microseconds") + "Z"
