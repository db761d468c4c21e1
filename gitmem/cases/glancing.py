"""Glancing: what a call is about to change, and whether the log knows anything of it. The gate's way for most edits.

Loaded before anything else of `cases`, by the hook that agents wait for at each edit: it finds the repository of each
file, reads the file, and asks the cache whether anything is known of what comes in. Where nothing is, that is all.
"""

from __future__ import annotations

import os

from gitmem.core import additions
from gitmem.core.additions import Addition
from gitmem.errors import GitFailed, OutsideRepository
from gitmem.store.glance import Error, Glance
from gitmem.store.repository import Repository, below, has_no_log, locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitmem.core.calls import Call

#: A larger file is not looked at, in bytes.
FILE_MAX = 8 << 20


class Look:
    """What a call changes in one repository."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._changed: dict[str, Addition] = {}

    @property
    def changed(self) -> list[Addition]:
        return list(self._changed.values())

    def take(self, files: _Files, whole: str, source: str, after: str | None) -> None:
        """Take in that the file `whole` becomes `after` (None: it goes), moved from `source` where that isn't empty.

        Of several edits of one file the last text counts, against what is on the disk.
        """
        path = inside(self.repository, whole)
        if not path:
            return
        earlier = self._changed.pop(path, None)
        # What comes from elsewhere is all new here: nobody looked at it when it was written.
        came = inside(self.repository, source) if source else ""
        moved_from, before = earlier.moved_from if earlier else "", files.was(whole)
        if came:
            passed = self._changed.pop(came, None)  # it was edited before it was moved
            moved_from = (passed.moved_from if passed else "") or came
        if moved_from:
            before = files.was(os.path.join(self.repository.work_tree or "", moved_from))
        if after is None or (after == before and not moved_from):
            return
        is_new = not os.path.lexists(whole)
        self._changed[path] = Addition(path, before, after, is_new=is_new, moved_from=moved_from)

    @property
    def is_nothing(self) -> bool:
        """Whether the gate has nothing to say: surely so, as far as the cache can be known to be fresh."""
        if not self.changed or has_no_log(self.repository):
            return True
        glance = Glance.open(self.repository)
        if glance is None:
            return False
        try:
            return not _is_known(glance, self.changed)
        except Error:
            return False
        finally:
            glance.db.close()


def looks(call: Call) -> list[Look]:
    """Return what the edits of a call change, by repository; what lies in none is passed over."""
    found: dict[str, Look] = {}
    by_place: dict[str, Look | None] = {}
    files = _Files()
    for edit in call.edits:
        if not is_path(edit.path) or not is_path(edit.moved_from):
            continue
        whole = whole_path(edit.path, call.cwd)
        source = whole_path(edit.moved_from, call.cwd) if edit.moved_from else ""
        place = _place_of(whole)
        if place not in by_place:
            repository = _repository(place)
            by_place[place] = found.setdefault(repository.git_dir, Look(repository)) if repository else None
        look = by_place[place]
        after = edit.after(files.now(source or whole))
        after = None if after is None else additions.whole(after)
        if source:
            files.put(source, None)
        files.put(whole, after)
        if look is not None:
            look.take(files, whole, source, after)
    return list(found.values())


class _Files:
    """What files hold, each read once: on the disk, and after the earlier edits of the call."""

    def __init__(self) -> None:
        self._was: dict[str, str | None] = {}
        self._now: dict[str, str | None] = {}

    def was(self, whole: str) -> str | None:
        if whole not in self._was:
            self._was[whole] = _text_of(whole)
        return self._was[whole]

    def now(self, whole: str) -> str | None:
        return self._now[whole] if whole in self._now else self.was(whole)

    def put(self, whole: str, text: str | None) -> None:
        self._now[whole] = text


def is_path(text: str) -> bool:
    """Say whether a file can have that path: no file is made where not."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def repository_of(whole: str) -> Repository | None:
    """Return the repository that the file `whole` lies in, or None; no matter whether there is such a file."""
    return _repository(_place_of(whole))


def repository_at(place: str) -> Repository | None:
    """Return the repository of the directory `place`, or None; where it is gone, that of the one around it."""
    return _repository(_there(os.path.abspath(place))) if is_path(place) else None


def repositories(call: Call) -> list[Repository]:
    """Return the repositories that a finished call has to do with: where it was made, asked in, and what it edited."""
    found = [repository_at(os.path.join(call.cwd, place)) for place in ("", *call.places.values())]
    found += [repository_of(whole_path(one.path, call.cwd)) for one in call.edits if is_path(one.path)]
    return list({one.git_dir: one for one in found if one is not None}.values())


def _place_of(whole: str) -> str:
    """Return the innermost directory that exists of those that hold the file `whole`, or what it leads to."""
    return _there(os.path.dirname(os.path.realpath(whole) if os.path.islink(whole) else whole))


def _there(place: str) -> str:
    """Return the innermost directory on the way to `place` that exists."""
    while not os.path.isdir(place):
        outer = os.path.dirname(place)
        if outer == place:
            break
        place = outer
    return place


def _repository(place: str) -> Repository | None:
    if f"{os.sep}.git{os.sep}" in place + os.sep:
        return None  # git's own files are nobody's work
    try:
        return locate(place)
    except (OutsideRepository, GitFailed):
        return None


def _is_known(glance: Glance, changed: Sequence[Addition]) -> bool:
    if glance.has_old_lessons([one.path for one in changed]):
        return True
    if glance.has_prints() and glance.knows_lines(additions.marked(changed)):
        return True
    if glance.has_patterns() and any(glance.with_patterns(one.lines) for one in changed):
        return True
    return bool(glance.worth_asking([name for one in changed for name, _, _ in one.entered()]))


def whole_path(path: str, cwd: str) -> str:
    """Return the absolute path of an edit's `path`."""
    return os.path.abspath(os.path.join(cwd, path) if cwd else path)


def inside(repository: Repository, whole: str) -> str:
    """Return the path from the root of the work tree, or "" for what lies outside of it or in git's own folder."""
    top = repository.work_tree
    if top is None:
        return ""
    folder, name = os.path.split(whole)
    path = below(os.path.join(os.path.realpath(folder), name), top)
    if os.path.islink(whole):
        path = below(os.path.realpath(whole), top)  # who writes to a link writes to the file that it leads to
    if path == ".git" or path.startswith(".git/"):
        return ""
    return additions.whole(path.replace(os.sep, "/"))


def _text_of(path: str) -> str | None:
    """Return the text of a file, None where there is none; of one that is too large or no file, the empty text."""
    try:
        with open(path, "rb") as file:
            data = file.read(FILE_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    return "" if len(data) > FILE_MAX else additions.text_of(data)
