"""The notes ref: what it is called, whether git shows it, whether it is ours. What is in it: `sync/notes`."""

from __future__ import annotations

from gitmem.core.events import NOBODY
from gitmem.store import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.repository import Repository

#: `decisions.notesRef` names another one.
REF = "refs/notes/decisions"


def name(repository: Repository) -> str:
    """Return the full name of the notes ref: `decisions.notesRef` spelled out as git spells out `--ref`, or `REF`."""
    name = repository.git("config", "--get", "decisions.notesRef", check=False).decode("utf-8", "replace").strip()
    if not name:
        return REF
    if name.startswith("refs/notes/"):
        return name
    return "refs/" + name if name.startswith("notes/") else "refs/notes/" + name


def is_shown(repository: Repository, ref: str = "") -> bool:
    """Say whether git is set up to show the notes: `notes.displayRef`, as `init` sets it, or as the user does."""
    import fnmatch

    ref = ref or name(repository)
    shown = repository.git("config", "-z", "--get-all", "notes.displayRef", check=False).decode("utf-8", "replace")
    return any(fnmatch.fnmatchcase(ref, pattern) for pattern in shown.split("\0"))


def is_ours(repository: Repository, tip: str) -> bool:
    """Say whether gitmem wrote the notes at `tip`, or had a part: `git notes prune` puts a commit on top of ours."""
    address = NOBODY.partition("<")[2].rstrip(">")
    words = ("rev-list", "--max-count=1", "--fixed-strings", f"--committer={address}", tip, "--")
    return bool(repository.git(*words, env=git.RAW, check=False).strip())


def drop(repository: Repository, ref: str = "") -> bool:
    """Delete the ref, and say whether there was one of ours to delete. Raises GitFailed."""
    ref = ref or name(repository)
    tip = repository.git("rev-parse", "-q", "--verify", ref, check=False).decode("ascii", "replace").strip()
    if not tip or not is_ours(repository, tip):
        return False
    repository.git("update-ref", "--no-deref", "-d", ref, tip)
    return True
