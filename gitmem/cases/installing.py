"""Setting a repository up, and taking all of it away again."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gitmem.cases import noting, reading, redacting, travelling
from gitmem.cases.results import Steps
from gitmem.errors import GitmemError, Writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.cases.results import Standing
    from gitmem.store.installation import Step


def rebuild(desk: Desk) -> Standing:
    """Do what `Memory.rebuild` says."""
    desk.model.rebuild()
    noting.renote(desk)
    from gitmem.sync import purge

    if purge.is_pending(desk.repository):
        redacting.redactor(desk).finish()
    return reading.status(desk)


def init(
    desk: Desk,
    *,
    hooks: bool = True,
    notes: bool = True,
    fetch: bool = True,
    auto_sync: bool = False,
    gate: bool = False,
    trailer: bool = False,
    dry_run: bool = False,
) -> Steps:
    """Do what `Memory.init` says."""
    from gitmem.store import installation
    from gitmem.store.writing import Appender

    steps, remarks = _bring(desk, dry_run=dry_run) if fetch else ([], [])
    there = desk.log().tip() is not None
    steps.append(("start the log at refs/decisions/log", not there and not dry_run, there))
    if not there and not dry_run:
        Appender(desk.model, desk.log).begin()
    plan = installation.plan(desk.repository, hooks=hooks, notes=notes, auto_sync=auto_sync, gate=gate, trailer=trailer)
    if desk.repository.work_tree is not None:
        from gitmem.store.setup import Setup

        clients = Setup(desk.repository)
        plan += clients.plan_here() if clients.present() else []
    more, said = _take(plan, dry_run=dry_run)
    if not dry_run and notes:
        noting.renote(desk)
    return Steps(steps + more, remarks + said, dry_run=dry_run)


def _bring(desk: Desk, *, dry_run: bool) -> tuple[list[tuple[str, bool, bool]], list[str]]:
    """Bring the decisions of the remote that this is a clone of, where nothing was seen of them yet."""
    name = travelling.unseen(desk)
    if not name:
        return [], []
    what = f"bring the decisions of {name} here"
    if dry_run:
        return [(f"{what}, if it has any", False, False)], []
    try:
        done = travelling.fetch(desk, name).done
    except GitmemError as error:
        advice = f" ({error.advice})" if error.advice else ""
        return [(what, False, False)], [f"The decisions of {name} did not come: {error.message}{advice}"]
    if not done.theirs:
        return [], []
    count = f"{done.came:,} event{'' if done.came == 1 else 's'}"
    return [(f"{what} ({count})", True, False)], []


def _take(plan: Iterable[Step], *, dry_run: bool) -> tuple[list[tuple[str, bool, bool]], list[str]]:
    steps: list[tuple[str, bool, bool]] = []
    remarks: list[str] = []
    for step in plan:
        already = step.done
        if not already and not dry_run:
            with Writing():
                step.apply()
        steps.append((step.sentence, step.done and not already, already))
        if step.remark:
            remarks.append(step.remark)
    return steps, remarks


def uninstall(desk: Desk, *, dry_run: bool = False) -> Steps:
    """Do what `Memory.uninstall` says."""
    from gitmem.store import installation
    from gitmem.sync import purge

    steps, remarks = [], []
    plan = installation.plan_removal(desk.repository)
    if desk.repository.work_tree is not None:
        from gitmem.store.setup import Setup

        plan = Setup(desk.repository).plan_removal() + plan
    for step in plan:
        if not dry_run:
            with Writing():
                step.undo()
        steps.append((step.sentence, not dry_run, False))
        if step.remark:
            remarks.append(step.remark)
    for ref, oid in _seen(desk):
        if not dry_run:
            with Writing():
                desk.repository.git("update-ref", "-d", ref, oid)
        steps.append((f"forget what was last seen of a remote ({ref})", not dry_run, False))
    log = desk.log()
    tip = log.tip()
    if purge.is_pending(desk.repository) and not dry_run:
        redacting.redactor(desk).finish()
    is_pending = purge.is_pending(desk.repository)
    desk.model.close()
    if tip == desk.repository.form.root:
        if not dry_run:
            with Writing():
                desk.repository.git("update-ref", "-d", "refs/decisions/log", tip)
        steps.append(("remove the empty log refs/decisions/log", not dry_run, False))
    elif tip is not None:
        remarks.append("the log stays (to delete it for good: `git update-ref -d refs/decisions/log`)")
        remarks.append("so does what was attached to its events, if anything, in refs/decisions-archive/log")
    if is_pending:
        remarks.append(
            f"{desk.repository.local_dir} stays: it lists what a redaction has still to remove; "
            "`git decisions rebuild` goes on with that, then uninstall again"
        )
    elif os.path.isdir(desk.repository.local_dir):
        if not dry_run:
            import shutil

            shutil.rmtree(desk.repository.local_dir, ignore_errors=True)
        steps.append((f"remove the cache in {desk.repository.local_dir}", not dry_run, False))
    return Steps(steps, remarks, dry_run=dry_run)


def _seen(desk: Desk) -> list[tuple[str, str]]:
    """Return the refs of what was last seen of remotes, and their tips: with them, a deleted log would be kept."""
    from gitmem.store.repository import SEEN_REFS

    listed = desk.repository.git("for-each-ref", "--format=%(refname) %(objectname)", SEEN_REFS)
    pairs = (line.partition(" ") for line in listed.decode("utf-8", "surrogateescape").splitlines())
    return [(ref, oid) for ref, _, oid in pairs]
