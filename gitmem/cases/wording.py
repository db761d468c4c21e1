"""Trailers: the decisions of a commit, named in its message. Asked for by `decisions.trailer`, and never in the way."""

from __future__ import annotations

import os
import re

from gitmem.cases import linking
from gitmem.cases.typed import text_of
from gitmem.errors import NoLog
from gitmem.store import placing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.store.cache import Cache

#: So many hex digits of an id: one event's in any log there is, on a line that no rule for messages finds too long.
DIGITS = 16
#: More decisions than this are not named; the links have them all.
TRAILERS_MAX = 20
#: Where `git commit --verbose` cuts a message off; the first character is `core.commentChar`.
_SCISSORS = re.compile(rb"^. -{8,} >8 -{8,}$", re.MULTILINE)


def word_message(desk: Desk, path: str) -> int:
    """Do what `Memory.word_message` says."""
    from gitmem.sync import messages

    try:
        cache = desk.cache()
    except NoLog:
        return 0
    repository = desk.repository
    top = repository.work_tree or repository.git_dir
    file = os.path.join(top, path)  # git gives the name from the top of the work tree
    with open(file, "rb") as opened:
        message = opened.read()
    wanted = _decisions(desk, cache)
    have = messages.Said(message.decode("utf-8", "replace")).decisions
    new = [event for event in wanted if not any(event.startswith(prefix) for prefix in have)][:TRAILERS_MAX]
    if not new or not _says_something(desk, message):
        return 0
    words = [f"--trailer={messages.TRAILER}: {event[:DIGITS]}" for event in new]
    repository.git("interpret-trailers", "--in-place", "--if-exists=addIfDifferent", *words, file)
    return len(new)


def _decisions(desk: Desk, cache: Cache) -> list[str]:
    """Return the ids of the events that wait for this commit, then those of the commits that it is squashed from."""
    from gitmem.sync import heads, messages

    repository = desk.repository
    if heads.rebasing(repository.git_dir) or heads.picking(repository.git_dir):
        return []
    head = heads.head(repository)
    here = heads.base_of(repository, head)
    found: dict[str, None] = {}
    for event in reversed(cache.unlinked(text_of(here.get("branch")) or text_of(here.get("worktree")))):
        base = event.fields.get("base")
        if isinstance(base, dict) and text_of(base.get("commit")) == head.oid and heads.is_same_place(base, here):
            found[event.id] = None
    said = messages.Said(_squash_message(repository.git_dir))
    for oid in reversed(said.squashed):  # git lists the newest first
        found.update(dict.fromkeys(placing.events_at(cache, oid)))
    for prefix in said.decisions:
        event_id = linking.named(cache, prefix)
        if event_id:
            found[event_id] = None
    return list(found)


def _squash_message(git_dir: str) -> str:
    try:
        with open(os.path.join(git_dir, "SQUASH_MSG"), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _says_something(desk: Desk, message: bytes) -> bool:
    """Say whether git will make a commit of a message: what it holds besides comments, and besides its template.

    A trailer in an empty message would make a commit of one that was called off.
    """
    repository = desk.repository
    cut = _SCISSORS.search(message)
    said = _stripped(desk, message[: cut.start()] if cut else message)
    template = repository.git("config", "--type=path", "--get", "commit.template", check=False).strip()
    if not said or not template:
        return bool(said)
    try:
        with open(os.path.join(repository.work_tree or repository.git_dir, os.fsdecode(template)), "rb") as file:
            return said != _stripped(desk, file.read())
    except OSError:
        return True


def _stripped(desk: Desk, message: bytes) -> bytes:
    return desk.repository.git("stripspace", "--strip-comments", input=message).strip() if message.strip() else b""
