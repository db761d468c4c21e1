"""Patch ids in bulk: what names a change by its lines, whatever it stands on.

Git's stable patch id leaves out line numbers and blanks, and takes three lines of context in. The *lines id* is the
same without context: equal too where somebody changed what stands around. Both are asked of many commits in one go,
and kept (`store/found.py`), for a commit never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem.errors import GitFailed
from gitmem.store import git
from gitmem.sync.commits import PLAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.found import Found
    from gitmem.store.repository import Repository

#: So many names go to one git: their lines fit into a pipe, so feeding it never waits for reading from it.
CHUNK = 400
#: One git that takes longer is ended, and its names are asked in halves; one that takes longer alone has no patch id.
CHUNK_S, ALONE_S = 60.0, 5.0

_DIFF = ("diff-tree", "--stdin", "--root", "-r", "-p", "--full-index", "--no-renames", *PLAIN)
# A pair on stdin is two trees, and the first one of them names the answer: so the newer one goes first, and the
# difference is turned round, prefixes and all.
_RANGE = ("-R", "--src-prefix=b/", "--dst-prefix=a/")
_BARE = "-U0"


class Patches:
    """The patch ids of one repository's commits and ranges of commits; "" for what changes nothing."""

    def __init__(self, repository: Repository, found: Found) -> None:
        self._repository = repository
        self._found = found

    def of(self, commits: Iterable[str]) -> dict[str, str]:
        """Return the patch id of each commit, "" for a merge."""
        return self._kept({oid: oid for oid in commits}, ())

    def lines_of(self, commits: Iterable[str]) -> dict[str, str]:
        """Return the lines id of each commit."""
        asked = {f"lines {oid}": oid for oid in commits}
        return {asked[name]: lines for name, lines in self._kept(asked, (_BARE,)).items()}

    def of_ranges(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the patch id of all that was changed between the trees of each pair, the older one first."""
        return self._ranges(pairs, "", ())

    def lines_of_ranges(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        return self._ranges(pairs, "lines ", (_BARE,))

    def _ranges(
        self, pairs: Sequence[tuple[str, str]], kind: str, options: tuple[str, ...]
    ) -> dict[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        waiting = list(dict.fromkeys(pairs))
        while waiting:
            # Answers are told apart by their newer tree, so each of those goes once.
            part = {tip: base for base, tip in reversed(waiting)}
            names = {f"{kind}{base}..{tip}": f"{tip} {base}" for tip, base in part.items()}
            answers = self._kept(names, (*_RANGE, *options))
            for tip, base in part.items():
                found[base, tip] = answers[f"{kind}{base}..{tip}"]
            waiting = [pair for pair in waiting if pair not in found]
        return found

    def _kept(self, asked: dict[str, str], options: tuple[str, ...]) -> dict[str, str]:
        """Return the answers for `asked`: name in the store -> line for git."""
        known = self._found.patches(list(asked))
        new = [name for name in asked if name not in known]
        for at in range(0, len(new), CHUNK):
            part = new[at : at + CHUNK]
            answers = self._asked([asked[name] for name in part], options)
            fresh = {name: answers.get(asked[name].partition(" ")[0], "") for name in part}
            self._found.keep_patches(fresh.items())
            known.update(fresh)
        return known

    def _asked(self, lines: Sequence[str], options: tuple[str, ...]) -> dict[str, str]:
        """Ask git about some lines; by the first oid of each line."""
        where, environ = self._repository.git_dir, self._repository.environ
        env = {**self._repository.env(), **git.RAW}
        alone = len(lines) == 1
        diff = git.Process([*_DIFF, *options], git_dir=where, environ=environ, env=env, feed=True)
        try:
            git.write(diff, "".join(line + "\n" for line in lines).encode())
            name = git.Process(("patch-id", "--stable"), git_dir=where, environ=environ, env=env, stdin_from=diff)
            result = name.communicate(timeout_s=ALONE_S if alone else CHUNK_S)
        except GitFailed:
            result = None
        finally:
            diff.kill()
        if result is None or result.rc != 0:
            if alone:
                return {}
            half = len(lines) // 2
            return {**self._asked(lines[:half], options), **self._asked(lines[half:], options)}
        found = {}
        for line in result.out.decode("ascii", "replace").splitlines():
            patch, _, oid = line.partition(" ")
            found[oid] = patch
        return found
