"""Digesting: what a session is told at its start, and before what it said is compacted."""

from __future__ import annotations

import time

from gitmem.cases import gating
from gitmem.cases.results import Digest
from gitmem.core import dates, digest, entities, gate
from gitmem.core.digest import Section
from gitmem.core.ids import short
from gitmem.errors import NoLog, Refused
from gitmem.store.activity import Activity
from gitmem.store.briefing import COUNTED_MAX, NEWEST_MAX, Briefing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitmem.cases.desk import Desk
    from gitmem.core.lessons.recall import Item
    from gitmem.store.cache import Cache
    from gitmem.store.closings import Closing

#: The title of what is listed as far as there is room.
REST = "Closed here, a person's first:"
#: So many rules are told, and so many lessons: the memory may grow, and what a session is told does not.
LESSONS_MAX = 5
#: Said in the place of everything where a hook can't wait for what is read.
BEHIND = (
    "Nothing can be told yet, and no edit is looked at: the cache is missing, or far behind the log. "
    "`git decisions status` builds it, once."
)
#: Said where the repository is set up for agents, and its decisions are still in its remote.
NONE_HERE = (
    "This repository is set up for git decisions and has none here yet, so no edit is looked at. "
    "`git decisions init` gets those of its remote."
)
#: What git is given to say what was changed here.
ASKING_S = 0.6
#: The branches that others start from, the first that there is.
TRUNKS = ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master", "refs/heads/trunk")


def digest_of(desk: Desk, *, most: int = digest.BYTES_MAX, hurried: bool = False) -> Digest:
    """Do what `Memory.digest` says."""
    try:
        cache = gating.soon(desk) if hurried else desk.cache()
    except NoLog:
        return Digest(NONE_HERE if hurried and _is_set_up(desk) else "", [])
    if cache is None:
        return Digest(f"{digest.HEAD}\n{BEHIND}", [])
    now = dates.of_seconds(time.time())
    briefing = Briefing(cache, desk.scope(), now)
    branch, paths = _work(desk)
    sections: list[Section] = []
    told: set[str] = set()

    def closings(title: str, found: Iterable[Closing], *, at_least: bool = False) -> None:
        new = [one for one in found if one.event.id not in told and not _has_ended(one, now)]
        told.update(one.event.id for one in new)
        lines = [digest.closed_line(one.event, one.strength) for one in new]
        sections.append(Section(title, lines, at_least=at_least))

    closings("Closed, on files that are changed here:", _firm_first(briefing.on_files(paths)))
    rules, near = _lessons(desk, cache, paths, now)
    for title, items in (("Rules that recurred:", rules), ("Lessons about files that are changed here:", near)):
        told.update(item.id for item in items[:LESSONS_MAX])
        lines = [f"- {item.line}" for item in items[:LESSONS_MAX]]
        sections.append(Section(title, lines, max(0, len(items) - LESSONS_MAX)))
    pinned = [row for row in briefing.pinned() if row.event.id not in told]
    told.update(row.event.id for row in pinned)
    sections.append(Section("Pinned:", [digest.event_line(row.event, "") for row in pinned]))
    newest = briefing.newest()
    if branch and f"refs/heads/{branch}" not in TRUNKS:
        closings(f"Closed, on the branch {gate.named(branch, 60)}:", _of_branch(newest, branch))
    closings(REST, _firm_first(newest), at_least=len(newest) >= NEWEST_MAX)
    due = briefing.due()
    lines = [digest.event_line(row.event, f", due since {since[:10]}") for since, row in due[:5]]
    sections.append(Section("Due for another look (`git decisions stale`):", lines, max(0, len(due) - 5)))
    waiting = briefing.waiting()
    if waiting:
        least = " or more" if waiting >= COUNTED_MAX else ""
        sections.append(Section("Waiting for a person:", [f"- {waiting:,}{least} in `git decisions review`"]))
    text = digest.text(_shared_out(sections), most)
    return Digest(text, sorted(one for one in told if f"[{short(one)}]" in text or f"-{short(one)}" in text))


def _lessons(desk: Desk, cache: Cache, paths: list[str], now: str) -> tuple[list[Item], list[Item]]:
    """Return the rules, and the lessons about the files in hand; nothing is loaded where there are none."""
    if cache.db.execute("SELECT 1 FROM lesson_words LIMIT 1").fetchone() is None:
        return [], []
    from gitmem.cases import recalling

    try:
        return recalling.at_hand(desk, cache, paths, now)
    except Refused:  # of a policy that nobody knows `recall` complains; a session begins all the same
        return [], []


def _is_set_up(desk: Desk) -> bool:
    """Say whether agents' clients call us here by what the work tree holds, and there is a remote."""
    from gitmem.store.setup import Setup

    repository = desk.repository
    if repository.work_tree is None or not Setup(repository).present():
        return False
    return bool(repository.try_git("remote", timeout_s=ASKING_S).out.strip())


def _shared_out(sections: list[Section]) -> list[Section]:
    """Put the short sections before the long list of what is closed: they must not be crowded out."""
    last = [one for one in sections if one.title == REST]
    return [*(one for one in sections if one not in last), *last]


def _firm_first(closings: Iterable[Closing]) -> list[Closing]:
    return sorted(closings, key=lambda one: (-one.strength, -one.n))


def _of_branch(closings: Iterable[Closing], branch: str) -> list[Closing]:
    found = []
    for one in closings:
        base = one.event.fields.get("base")
        if isinstance(base, dict) and base.get("branch") == branch:
            found.append(one)
    return _firm_first(found)


def _has_ended(closing: Closing, now: str) -> bool:
    from gitmem.core import revisit

    expires = closing.event.fields.get("expires_when")
    if not isinstance(expires, str) or not expires:
        return False
    try:
        condition = revisit.condition(expires)
    except revisit.BadCondition:
        return False
    return condition.kind == "date" and condition.subject <= now


def _work(desk: Desk) -> tuple[str, list[str]]:
    """Return the branch (as events name it), and the files that are changed here: in the work tree, and on it."""
    repository = desk.repository
    if repository.work_tree is None:
        return "", []
    words = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--no-renames")
    status = repository.try_git(*words, work_tree=True, timeout_s=ASKING_S)
    branch, paths = "", []
    for part in status.out.decode("utf-8", "surrogateescape").split("\0"):
        if part.startswith("# branch.head ") and part != "# branch.head (detached)":
            branch = part[14:]
        elif part[:2] in ("1 ", "u "):
            paths.append(part.split(" ", 8 if part[0] == "1" else 10)[-1])
        elif part.startswith("? "):
            paths.append(part[2:].rstrip("/"))
    trunks = repository.try_git("for-each-ref", "--format=%(refname)", *TRUNKS).out.decode("utf-8", "replace").split()
    trunk = next((one for one in TRUNKS if one in trunks and one != f"refs/heads/{branch}"), "")
    if trunk and branch:
        diff = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", f"{trunk}...HEAD")
        out = repository.try_git(*diff, timeout_s=ASKING_S).out.decode("utf-8", "surrogateescape")
        paths += [path for path in out.split("\0") if path]
    return branch, list(dict.fromkeys(paths))


# --- before compaction ------------------------------------------------------------------------

REMINDER = "Edited in this session, and no decision recorded about it since (git decisions):"
REMINDER_TAIL = (
    "If something was decided there, record it before it is forgotten: `git decisions record ENTITY CHANGE_TYPE "
    "-r WHY`, or `git decisions reject ENTITY -r WHY` for what was tried and not kept."
)


def reminder(desk: Desk, session: str) -> str:
    """Do what `Memory.reminder` says."""
    if not session:
        return ""
    try:
        cache = gating.soon(desk)
    except NoLog:
        return ""
    if cache is None:
        return ""
    with Activity(desk.repository) as kept:
        edits = kept.edits(session)
    if not edits:
        return ""
    first = dates.of_seconds(min(at for _, at in edits))
    recorded = Briefing(cache, "", first).recorded_since(first)
    left = [path for path, at in edits if not _is_recorded(path, dates.of_seconds(at), session, recorded)]
    lines = [f"- {gate.named(path)}" for path in left]
    return digest.text([Section(REMINDER, lines)], head="", tail=REMINDER_TAIL)


def _is_recorded(path: str, at: str, session: str, recorded: Iterable[tuple[str, str, str]]) -> bool:
    """Say whether something was recorded since about a file, what lies in it, or, by this session, what has no file."""
    for name, when, its_session in recorded:
        if when < at:
            continue
        file = entities.file_of(name)
        if file.lower() == path.lower() or (not file and its_session in ("", session, session.partition(":")[2])):
            return True
    return False
