"""Setting up agents' clients in a repository: their files in the work tree, and the way to gitmem in the git directory.

All is planned before anything is written: one file that can't be read or changed without a risk, and nothing is done.
What each file was before is remembered beside the cache, so that taking ours away gives its bytes back; where somebody
changed it since, only ours goes out of it.

The clients' files are shared, so they say nothing of this machine. They call a small program in the git directory of
this clone, which knows by absolute path which Python and which gitmem wrote it: a desktop program's PATH has neither.
"""

from __future__ import annotations

import hashlib
import json
import os

from gitmem.core import fitting
from gitmem.core.clients import CLIENTS, ELSEWHERE, LAUNCHER, OURS, File
from gitmem.errors import Refused
from gitmem.store import files
from gitmem.store.installation import SET_BY_US, Program, Settings, Step, quote
from gitmem.store.repository import Repository, below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ALIAS = "alias.decisions"
#: What each file was before we changed it, and what it was when we had; beside the cache.
RECORD = "setup.json"
#: How a client's own file of instructions says that AGENTS.md belongs to it.
_IMPORTS = {
    "CLAUDE.md": ("@AGENTS.md", "@./AGENTS.md"),
    ".claude/CLAUDE.md": ("@../AGENTS.md",),
    "GEMINI.md": ("@AGENTS.md", "@./AGENTS.md"),
    "QWEN.md": ("@AGENTS.md", "@./AGENTS.md"),
}


class FileStep(Step):
    """A step about one file of the work tree: what it holds, and what it will hold (None: no such file)."""

    def __init__(
        self, setup: Setup, path: str, what: str, before: str | None, after: str | None, *, runs: bool
    ) -> None:
        self._setup = setup
        self.path = path
        self.before = before
        self.after = after
        self._runs = runs
        done = before == after and (not runs or os.access(setup.whole(path), os.X_OK))
        super().__init__(f"{path}: {what}", done=done, apply=self._write, undo=self._restore)

    @property
    def diff(self) -> str:
        """What changes, as a unified diff."""
        import difflib

        def lines(text: str | None) -> list[str]:
            # Of the bytes that are no UTF-8, what a terminal can show.
            shown = (text or "").encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            return shown.replace("\r\n", "\n").splitlines()

        old, new = (
            "/dev/null" if text is None else side + self.path
            for text, side in ((self.before, "a/"), (self.after, "b/"))
        )
        return "\n".join(difflib.unified_diff(lines(self.before), lines(self.after), old, new, lineterm=""))

    def _write(self) -> str:
        # Remembered first: a file that was changed with no record of what it was couldn't get its bytes back.
        kept = self._setup.remember(self.path, self.before, self.after)
        return self._put(kept, is_new=self.before is None, runs=self._runs)

    def _restore(self) -> str:
        kept = self._setup.remember(self.path, None, None)
        return self._put(kept, is_new=False, runs=False)

    def _put(self, kept: Mapping[str, Mapping[str, str | None]], *, is_new: bool, runs: bool) -> str:
        """Write the file; where that fails, `kept` is remembered again, and nothing has changed."""
        try:
            self._setup.write(self.path, self.after, is_new=is_new, runs=runs)
        except OSError:
            self._setup.put_record(kept)
            raise
        return ""


class Setup:
    """The setup of one repository with a work tree."""

    def __init__(self, repository: Repository, program: Program | None = None) -> None:
        if repository.work_tree is None:
            raise Refused(
                field="setup",
                what="a bare repository has no work tree for the files of agents' clients",
                hint="run it in a clone that has one.",
            )
        self.repository = repository
        self.top = repository.work_tree
        self._program = program or Program.running()

    # --- who is here -----------------------------------------------------------------------------

    def detected(self) -> list[str]:
        """Return the clients that are used here, or installed for this person."""
        import shutil

        home = os.path.expanduser("~")

        def is_there(mark: str) -> bool:
            if mark.startswith("~/"):
                return os.path.exists(os.path.join(home, mark[2:]))
            if "/" in mark or "." in mark:
                return os.path.lexists(os.path.join(self.top, mark))
            return shutil.which(mark) is not None

        return [name for name, client in CLIENTS.items() if any(map(is_there, client.marks))]

    def present(self) -> list[str]:
        """Return the clients whose hooks call us here."""
        return [
            name
            for name, client in CLIENTS.items()
            if any(f"{OURS}" in text and f"agent {name}" in text for text in map(self._hooks, client.files))
        ]

    def twice(self, name: str) -> list[str]:
        """Return the files besides ours that call us for the client `name` too; empty where none does."""
        found = []
        for path in ELSEWHERE.get(name, ()):
            whole = os.path.expanduser(path) if path.startswith("~") else self.whole(path)
            text = files.read(whole) or ""
            if OURS in text and f"agent {name}" in text:
                found.append(path)
        return found

    def _hooks(self, file: File) -> str:
        if not file.wanted and file.style == "markdown":
            return ""
        try:
            return files.read(self.whole(self._place(file))) or ""
        except Refused:  # a link out of here: nothing that we wrote
            return ""

    # --- planning --------------------------------------------------------------------------------

    def plan(self, agents: Iterable[str]) -> list[Step]:
        """Return the steps for `agents`, those that are done included.

        Raises Refused; then nothing may be written.
        """
        steps: list[Step] = list(self._files(agents))
        return steps + self.plan_here()

    def _files(self, agents: Iterable[str]) -> Iterable[FileStep]:
        texts: dict[str, str | None] = {}
        before: dict[str, str | None] = {}
        whats: dict[str, list[str]] = {}
        runs: dict[str, bool] = {}
        for agent in agents:
            for file in CLIENTS[agent].files:
                path = self._place(file)
                if path not in texts:
                    texts[path] = before[path] = self._read(path)
                    whats[path], runs[path] = [], file.runs
                texts[path] = self._fitted(file, path, texts[path])
                if file.what not in whats[path]:
                    whats[path].append(file.what)
        for path, text in texts.items():
            yield FileStep(self, path, ", ".join(whats[path]), before[path], text, runs=runs[path])

    def _fitted(self, file: File, path: str, text: str | None) -> str:
        try:
            return fitting.fitted(file, text)
        except fitting.Misfit as error:
            raise Refused(field=path, what=str(error)) from None

    def plan_here(self) -> list[Step]:
        """Return the steps for this clone alone: the program that the clients' files call, and git's way to us."""
        steps = [self._plan_launcher()]
        if self._program.script:
            steps.append(self._plan_alias())
        return steps

    def _plan_launcher(self) -> Step:
        path = f"{self.repository.local_dir}/{LAUNCHER}"
        wanted = launcher(self._program)

        def apply() -> str:
            self.repository.make_local_dir()
            _put(path, wanted, mode=0o777)
            return ""

        def undo() -> str:
            files.remove(path)
            return ""

        done = files.read(path) == wanted and os.access(path, os.X_OK)
        return Step(
            f"remember where gitmem is, for programs with another PATH ({path})", done=done, apply=apply, undo=undo
        )

    def _plan_alias(self) -> Step:
        settings = Settings(self.repository)
        wanted = alias(self._program.script)
        current = settings.values(ALIAS)
        is_ours = any(value == f"{ALIAS}={each}" for each in current for value in settings.values(SET_BY_US))

        def apply() -> str:
            for each in current:
                settings.unset(SET_BY_US, f"{ALIAS}={each}")
            settings.set(ALIAS, wanted)
            settings.add(SET_BY_US, f"{ALIAS}={wanted}")
            return ""

        sentence = f"let git find `git decisions` where PATH doesn't have it ({ALIAS} in this clone's configuration)"
        done = current == [wanted] or bool(current and not is_ours)
        return Step(sentence, done=done, apply=apply)

    def plan_removal(self) -> list[Step]:
        """Return a step for each file that has something of ours; `undo` takes it out."""
        steps: list[Step] = []
        record = self._record()
        everything: dict[str, list[File]] = {}
        for client in CLIENTS.values():
            for file in client.files:
                for path in filter(None, map(self._real, (file.path, *file.others))):  # none that leads out of here
                    everything.setdefault(path, []).append(file)
        for path, wanting in everything.items():
            try:
                text = self._read(path)
            except Refused:
                continue  # no file: we didn't write it
            if text is None or not any(fitting.holds_ours(file, text) for file in wanting):
                continue
            steps.append(self._removal(path, text, wanting, record))
        launcher_step = self._plan_launcher()
        if os.path.lexists(f"{self.repository.local_dir}/{LAUNCHER}"):
            launcher_step.sentence = f"remove {self.repository.local_dir}/{LAUNCHER}"
            steps.append(launcher_step)
        return steps

    def _removal(
        self, path: str, text: str, wanting: Sequence[File], record: Mapping[str, Mapping[str, str | None]]
    ) -> Step:
        kept = record.get(path)
        if kept is not None and kept.get("after") == _hash(text):
            rest = kept.get("before")
        else:
            try:
                rest = _without(wanting, text)
            except fitting.Misfit as error:
                return Step(f"leave {path} as it is", done=True, remark=f"{path}: {error}.")
        what = "take gitmem out" if rest is not None else "remove it"
        step = FileStep(self, path, what, text, rest, runs=False)
        step.done = True
        return step

    # --- files -----------------------------------------------------------------------------------

    def whole(self, path: str) -> str:
        return os.path.join(self.top, path)

    def _place(self, file: File) -> str:
        """Return where the file is: under the first of its names that exists, and where its links lead.

        Raises Refused where that is outside the work tree.
        """
        name = file.path
        if not os.path.lexists(self.whole(name)):
            name = next((other for other in file.others if os.path.lexists(self.whole(other))), name)
        imports = _IMPORTS.get(name, ())
        if imports and any(line.strip() in imports for line in (files.read(self.whole(name)) or "").splitlines()):
            name = "AGENTS.md"  # whoever reads the one reads the other with it: told once
        real = self._real(name)
        if not real:
            link = os.path.realpath(self.whole(name))
            raise Refused(
                field=name,
                what=f"it is a link to {link}, outside this repository",
                hint="put a file in its place, or add gitmem's lines there yourself (`git decisions setup --dry-run` "
                "in another repository shows them).",
            )
        return real

    def _real(self, path: str) -> str:
        """Return `path` with its links followed, from the root of the work tree; "" where they lead out of it."""
        return below(os.path.realpath(self.whole(path)), self.top)

    def _read(self, path: str) -> str | None:
        whole = self.whole(path)
        if not os.path.lexists(whole):
            return None
        text = files.read(whole)
        if text is None:
            raise Refused(field=path, what="it is no file that can be read, or larger than a megabyte")
        return text

    def write(self, path: str, text: str | None, *, is_new: bool, runs: bool) -> None:
        """Put `text` in the place of the file; None takes it away, and the folders that it leaves empty."""
        whole = self.whole(path)
        if text is None:
            files.remove(whole)
            self._remove_empty_folders(os.path.dirname(whole))
        elif is_new:
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            _put(whole, text, mode=0o777 if runs else 0o666)
        else:
            files.replace(whole, text, executable=runs)

    def _remove_empty_folders(self, folder: str) -> None:
        while below(folder, self.top):
            files.remove_if_empty(folder)
            if os.path.isdir(folder):
                return
            folder = os.path.dirname(folder)

    def _record(self) -> dict[str, dict[str, str | None]]:
        try:
            with open(f"{self.repository.local_dir}/{RECORD}", encoding="utf-8") as file:
                kept = json.load(file)
        except (OSError, ValueError):
            return {}
        return kept if isinstance(kept, dict) else {}

    def remember(self, path: str, before: str | None, after: str | None) -> Mapping[str, Mapping[str, str | None]]:
        """Remember what a file was before all of ours, and what it is now; with `after` None, forget it.

        Returns what was remembered of all files until then.
        """
        was = self._record()
        record = dict(was)
        kept = record.pop(path, None)
        if after is not None:
            if kept is not None and before is not None and kept.get("after") == _hash(before):
                before = kept.get("before")  # ours upon ours: what was there before stays what it was
            if before is None or OURS not in before:
                record[path] = {"before": before, "after": _hash(after)}
        self.put_record(record)
        return was

    def put_record(self, record: Mapping[str, Mapping[str, str | None]]) -> None:
        """Remember this, and nothing else, of the files."""
        self.repository.make_local_dir()
        # Nobody else's to read: it holds other people's settings. ASCII: what is no UTF-8 is kept as it was read.
        _put(f"{self.repository.local_dir}/{RECORD}", json.dumps(record), mode=0o600)


def _put(path: str, text: str, *, mode: int) -> None:
    fresh = path + ".gitmem-new"
    try:
        files.write(fresh, text, mode=mode)
        os.replace(fresh, path)
    except OSError:
        files.remove(fresh)
        raise


def _without(wanting: Sequence[File], text: str) -> str | None:
    """Return the text without what is ours of all that may be in it."""
    rest: str | None = text
    for file in wanting:
        if rest is not None and fitting.holds_ours(file, rest):
            rest = fitting.bare(file, rest)
    return rest


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def launcher(program: Program) -> str:
    """Return the program in the git directory that the clients' files call: `agent NAME`, with an event on stdin."""
    python, entry, script = (quote(each) for each in (program.python, program.entry, program.script))
    return f"""\
#!/bin/sh
# gitmem: agents' clients call this; `git decisions setup` writes it and `git decisions uninstall` removes it.
if [ -x {python} ] && [ -f {entry} ]; then
    exec {python} -I -S {entry} "$@"
fi
script=$(command -v {script} || command -v git-decisions-hook) && exec "$script" "$@"
# gitmem is gone: every edit passes, in the words of who asks.
case $2 in
cursor) echo '{{"permission":"allow"}}' ;;
antigravity) echo '{{"decision":"allow"}}' ;;
cline) echo '{{"cancel":false}}' ;;
esac
exit 0
"""


def alias(script: str) -> str:
    """Return what `git decisions` runs where PATH has no git-decisions; from the directory where it was typed.

    In a linked worktree git sets GIT_DIR for an alias and not GIT_WORK_TREE, and would take a folder for the root.
    """
    program = os.path.join(os.path.dirname(script), "git-decisions")
    return (
        f'!f() {{ cd "./$GIT_PREFIX" || exit; [ "$GIT_WORK_TREE" ] || unset GIT_DIR; exec {quote(program)} "$@"; }}; f'
    )
