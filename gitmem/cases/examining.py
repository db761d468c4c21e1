"""Examining: does everything that gitmem needs work here, each thing with what to do about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from gitmem import __version__
from gitmem.cases.results import Check, Examined
from gitmem.cases.typed import counted, number_of
from gitmem.errors import GitmemError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk

OK, NOTE, WARNING, ERROR = "ok", "note", "warning", "error"


def examine(desk: Desk) -> Examined:
    """Do what `Memory.doctor` says."""
    checks: list[Check] = []
    for part in (_versions, _repository, _writer, _log, _cache, _hooks, _travel, _agents, _waiting):
        try:
            checks += part(desk)
        except GitmemError as error:
            name = part.__name__.strip("_")
            checks.append(Check(name, ERROR, error.message, error.advice))
    return Examined(checks)


def _versions(desk: Desk) -> Iterator[Check]:
    import sqlite3
    from importlib.util import find_spec

    from gitmem.store import installation

    git = ".".join(str(part) for part in installation.version(desk.repository))
    python = ".".join(str(part) for part in sys.version_info[:3])
    yield Check("versions", OK, f"gitmem {__version__}, git {git}, Python {python}, SQLite {sqlite3.sqlite_version}")
    extras = {"mcp": "mcp", "import": "sqlglot"}
    missing = [extra for extra, module in extras.items() if find_spec(module) is None]
    if missing:
        yield Check(
            "extras",
            NOTE,
            f"not installed: {', '.join(missing)} (the server for agents, the importers)",
            f"if you want them: pip install 'git-decisions[{','.join(missing)}]'",
        )


def _repository(desk: Desk) -> Iterator[Check]:
    repository = desk.repository
    kind = "bare" if repository.bare else "work tree" if repository.work_tree else "git directory"
    if os.path.realpath(repository.git_dir) != os.path.realpath(repository.common_dir):
        kind = "linked worktree"
    yield Check("repository", OK, f"{kind}, {repository.form.name}, {repository.refs} refs: {repository.common_dir}")
    if os.path.exists(f"{repository.common_dir}/shallow"):
        yield Check(
            "repository",
            WARNING,
            "this clone is shallow: links and history before its first commits are not seen",
            "git fetch --unshallow",
        )
    promisor = repository.try_git("config", "--get-regexp", r"^remote\..*\.promisor$")
    if promisor.rc == 0 and promisor.out.strip():
        yield Check(
            "repository",
            NOTE,
            "this clone is partial: what was left out is fetched when it is asked for, and importers leave it out",
            "git fetch --refetch --no-filter, if you want all of it",
        )


def _writer(desk: Desk) -> Iterator[Check]:
    writer = desk.writer()
    who = f"{writer.author}, as {'an' if writer.channel in ('agent', 'import') else 'a'} {writer.channel}"
    if writer.agent:
        who += f" ({writer.agent})"
    said = "ratified at once" if writer.is_person else "a proposal"
    yield Check("writer", OK, f"what is recorded from here is {said}: {who}")
    policy = desk.policy()
    if policy is not None:
        here = desk.scope() or "the whole repository"
        yield Check("policy", OK, f".decisions.toml is followed ({policy.digest[:12]}); the scope here is {here}")


def _log(desk: Desk) -> Iterator[Check]:
    tip = desk.log().tip()
    if tip is None:
        from gitmem.cases import travelling

        name = travelling.unseen(desk)
        seen = desk.repository.try_git("for-each-ref", "--format=%(refname)", "refs/decisions-remotes").out.strip()
        if seen or name:
            yield Check("log", ERROR, "there is no log here yet; a remote may have one", "git decisions init")
        else:
            yield Check("log", ERROR, "there is no log here yet", "git decisions init")
        return
    cache = desk.cache()
    yield Check("log", OK, f"{counted(cache.event_count(), 'event')}, tip {tip[:12]}")
    quarantined = cache.quarantined()
    if quarantined:
        yield Check(
            "log",
            ERROR,
            f"{counted(quarantined, 'event')} can't be read and left out",
            "git decisions verify names them; git decisions review accepts one, redact takes it out",
        )
    newer = number_of(cache.meta("newer"))
    if newer:
        yield Check("log", NOTE, f"{counted(newer, 'event')} newer than this gitmem", "upgrade git-decisions")
    from gitmem.sync import purge

    if purge.is_pending(desk.repository):
        yield Check("log", WARNING, "a redaction has not removed everything yet", "git decisions rebuild")


def _cache(desk: Desk) -> Iterator[Check]:
    repository = desk.repository
    path = desk.model.path
    if desk.log().tip() is None:
        return
    if not os.path.exists(path):
        yield Check(
            "cache",
            WARNING,
            f"it lives in memory: nothing can be written in {repository.local_dir}, so each command reads the log anew",
            "make that folder writable",
        )
        return
    yield Check("cache", OK, f"fresh, {os.path.getsize(path) / 1e6:.1f} MB")


def _hooks(desk: Desk) -> Iterator[Check]:
    from gitmem.store import installation

    if desk.log().tip() is None:
        return
    steps = installation.plan(desk.repository)
    missing = [step for step in steps if not step.done]
    left = [step for step in steps if step.done and step.remark]  # to a manager of hooks that nobody told of us
    if desk.repository.work_tree is None and not os.path.isdir(f"{desk.repository.common_dir}/worktrees"):
        if missing:
            says = "nobody commits in a bare repository; where people push to one, a server's hook keeps the log whole"
            yield Check("git hooks", NOTE, f"{says} (docs/ci.md)")
            missing = left = []
    elif not missing and not left:
        yield Check("git hooks", OK, "commits get their decisions linked, and plain `git log` shows them")
    for step in missing:
        told = f" ({step.remark})" if step.remark else ""
        yield Check("git hooks", WARNING, f"not set up: {step.sentence}{told}", "git decisions init")
    for step in left:
        yield Check(
            "git hooks",
            WARNING,
            f"not called yet ({step.sentence})",
            "add the lines that `git decisions init` shows",
        )
    unlinked = desk.cache().unlinked_count()
    if unlinked:
        yield Check(
            "links",
            NOTE,
            f"{counted(unlinked, 'event')} without a commit yet",
            "git decisions link --scan, once they are committed",
        )


def _travel(desk: Desk) -> Iterator[Check]:
    import shlex

    from gitmem.sync.remotes import Settings

    if desk.log().tip() is None:
        return
    settings = Settings(desk.repository)
    if not settings.names:
        yield Check("remotes", NOTE, "this repository has no remote: its decisions are here only")
    for name in settings.names:
        told = settings.replacing(name)
        if told:
            quoted = shlex.quote(f"remote.{name}.fetch")
            yield Check(
                "remotes",
                WARNING,
                f"{name}: plain `git fetch` and `git push` put one log in the place of the other, and what only that "
                f"one has is gone ({', '.join(told)})",
                f"record in a clone that is no mirror; or: git config --add {quoted} '^refs/decisions*' and "
                f"git config --unset {shlex.quote(f'remote.{name}.mirror')}",
            )
        remedy = f"git decisions sync {shlex.quote(name)}"
        ref = f"refs/decisions-remotes/{name}/log"
        there = desk.repository.try_git("rev-parse", "-q", "--verify", ref)
        if there.rc:
            yield Check("remotes", WARNING, f"{name}: nothing was pushed or fetched yet", remedy)
            continue
        ahead = _count(desk, "refs/decisions/log", ref)
        behind = _count(desk, ref, "refs/decisions/log")
        if ahead or behind:
            said = [counted(ahead, "commit") + " to push"] if ahead else []
            said += [counted(behind, "commit") + " to join"] if behind else []
            yield Check("remotes", WARNING, f"{name}: {', '.join(said)}", remedy)
        else:
            yield Check("remotes", OK, f"{name}: as it was last seen")


def _count(desk: Desk, tip: str, other: str) -> int:
    found = desk.repository.try_git("rev-list", "--count", tip, f"^{other}")
    return int(found.out) if found.rc == 0 and found.out.strip().isdigit() else 0


def _agents(desk: Desk) -> Iterator[Check]:
    if desk.repository.work_tree is None:
        return
    from gitmem.core.clients import CLIENTS, line
    from gitmem.store import canary
    from gitmem.store.setup import FileStep, Setup

    place = Setup(desk.repository)
    present = place.present()
    others = [name for name in place.detected() if name not in present]
    if others:
        names = ", ".join(CLIENTS[name].name for name in others)
        yield Check("agents", NOTE, f"found and not set up: {names}", "git decisions setup")
    for name in present:
        client = CLIENTS[name]
        drifted = [step.path for step in place.plan([name]) if isinstance(step, FileStep) and not step.done]
        if drifted:
            yield Check(
                f"agent {name}",
                WARNING,
                f"{client.name}: {', '.join(drifted)} isn't as `setup` writes it",
                f"git decisions setup --agent {name}",
            )
        if desk.log().tip() is None:
            continue  # nothing is heard where nothing is kept
        wrong = canary.sent(desk.repository, line(name))
        if wrong:
            yield Check(
                f"agent {name}", ERROR, f"{client.name}: its hook doesn't reach gitmem: {wrong}", "git decisions setup"
            )
        else:
            yield Check(f"agent {name}", OK, f"{client.name}: a made-up edit reached the gate")
        twice = place.twice(name)
        if twice:
            yield Check(
                f"agent {name}",
                WARNING,
                f"{client.name}: its hook is called from more than one file: {', '.join(twice)}",
                "take it out of all but one; an edit is answered once all the same",
            )
        if client.by_hand:
            yield Check(f"agent {name}", NOTE, f"{client.name}: can't be seen from here: {client.by_hand}")


def _waiting(desk: Desk) -> Iterator[Check]:
    from gitmem.store import reviews
    from gitmem.store.activity import Activity

    if desk.log().tip() is None:
        return
    number, since = reviews.length(desk.cache(), desk.scope())
    if number:
        told = f"{counted(number, 'thing')} for a person to decide, the oldest since {since[:10]}"
        yield Check("review", NOTE, told, "git decisions review")
    with Activity(desk.repository) as kept:
        number, last = kept.failures()
    if number:
        yield Check(
            "gate",
            WARNING,
            f"it let {counted(number, 'edit')} pass because it failed or was too slow; last: {last}",
            "git decisions rebuild, if the cache is the reason",
        )
