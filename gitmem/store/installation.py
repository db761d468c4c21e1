"""Setting a repository up and taking it away again: git hooks, and the display of notes.

Somebody's hooks are not ours to replace. So there are three ways, and the first that fits is taken:

  git 2.54 and newer      hooks in the repository's configuration, which git runs beside all others
  no manager of hooks     a script in the hooks folder; a hook that was there is kept beside it as
                          `<hook>.gitmem-prev`, called first, and its exit status is the hook's
  a manager of hooks      nothing is written: the lines to add are shown (husky, lefthook, pre-commit,
                          simple-git-hooks, overcommit, or `core.hooksPath` set anywhere)

What is ours is known by its marks, and only that is ever taken away: a hook that was kept comes back with
its bytes and its mode, lines that the user wrote around ours stay. `plan` and `plan_removal` look and say
what there is to do; a step does it when its `apply` or `undo` is called, and says afterwards in `remark`
what the user must know or do.

The script knows by absolute path which Python and which gitmem installed it, for a desktop program's
commit has another PATH than the shell that ran `init`. Where that is gone it tries PATH, and says in one
line when that fails too.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence

from gitmem.errors import GitFailed
from gitmem.store import files, notes_ref
from gitmem.store.repository import Repository

#: The hooks that gitmem needs; those of automatic sync and of the gate, only where they are asked for; those to
#: which git gives something on stdin.
EVENTS = ("post-commit", "post-rewrite")
SYNC_EVENTS = ("pre-push", "post-merge")
GATE_EVENTS = ("pre-commit",)
READS_STDIN = ("post-rewrite", "pre-push")
AUTO_SYNC, GATE = "decisions.autoSync", "decisions.gate"
#: The hook that writes `Decision-Id:` trailers, and the setting that asks for it. Not prepare-commit-msg: what that
#: puts into an empty message makes a commit of one that was called off by leaving the editor without a word.
TRAILER_EVENTS = ("commit-msg",)
TRAILER = "decisions.trailer"
ALL_EVENTS = (*EVENTS, *SYNC_EVENTS, *GATE_EVENTS, *TRAILER_EVENTS)

BEGIN = "# >>> gitmem >>>"
END = "# <<< gitmem <<<"
PREVIOUS = ".gitmem-prev"
PROGRAM = "git-decisions-hook"

#: From this git on hooks can stand in the configuration.
CONFIG_HOOKS = (2, 54)

#: Where we note which settings were made by us, and not by the user before us.
SET_BY_US = "decisions.installed"


class Step:
    """One thing to set up or to take away.

    sentence  what it does, as an order: "call gitmem after each commit (…)"
    done      it is so already
    remark    what the user has to know or do about it, or ""; may come with `apply` and `undo`
    """

    def __init__(
        self,
        sentence: str,
        *,
        done: bool,
        apply: Callable[[], str] | None = None,
        undo: Callable[[], str] | None = None,
        remark: str = "",
    ) -> None:
        self.sentence = sentence
        self.done = done
        self.remark = remark
        self._apply = apply
        self._undo = undo

    def apply(self) -> None:
        """Do it, unless it is so already. Raises GitFailed where it can't be done."""
        if self._apply is not None and not self.done:
            self._run(self._apply)
            self.done = True

    def undo(self) -> None:
        """Take it away, and nothing else. Raises GitFailed where it can't be done."""
        if self._undo is not None:
            self._run(self._undo)
            self.done = False

    def _run(self, act: Callable[[], str]) -> None:
        try:
            self.remark = act() or self.remark
        except OSError as error:
            why = f"{error.strerror} ({error.filename})"
            raise GitFailed(
                message=f"can't be done: {self.sentence}: {why}; this step changed nothing",
                hint="the steps before it are done; run the command again once that can be written.",
            ) from None


def plan(
    repository: Repository,
    *,
    hooks: bool = True,
    notes: bool = True,
    auto_sync: bool = False,
    gate: bool = False,
    trailer: bool = False,
    git_version: tuple[int, ...] | None = None,
    program: Program | None = None,
) -> list[Step]:
    """Return the steps that set `repository` up, those that are done already included.

    `auto_sync`: also those of automatic sync, which are there as well where `decisions.autoSync` is set already.
    `gate`: also the one that may stop a commit, or where `decisions.gate` is set.
    `trailer`: also the one that names decisions in messages, likewise with `decisions.trailer`.
    `git_version` and `program` (who is to be called) are found out where they are not given.
    """
    steps = []
    settings = Settings(repository)
    if auto_sync:
        steps.append(_plan_setting(settings, AUTO_SYNC, "share decisions with each push and pull"))
    if gate:
        steps.append(_plan_setting(settings, GATE, "stop a commit that brings back what was rejected"))
    if trailer:
        steps.append(_plan_setting(settings, TRAILER, "name a commit's decisions in its message"))
    if hooks:
        events = EVENTS
        for asked, setting, more in (
            (auto_sync, AUTO_SYNC, SYNC_EVENTS),
            (gate, GATE, GATE_EVENTS),
            (trailer, TRAILER, TRAILER_EVENTS),
        ):
            if asked or settings.effective(setting, kind="bool") == "true":
                events = (*events, *more)
        steps += _plan_hooks(repository, events, git_version or version(repository), program or Program.running())
    if notes:
        steps.append(_plan_notes(repository))
    return steps


def plan_removal(repository: Repository) -> list[Step]:
    """Return a step for each thing of ours that is there; `undo` takes it away."""
    steps: list[Step] = []
    settings = Settings(repository)
    for event in ALL_EVENTS:
        if settings.has(f"hook.{_name(event)}.command"):
            step = Step(
                f"remove the {event} hook from the configuration", done=True, undo=_config_hook(settings, event)[1]
            )
            steps.append(step)
        for path in _scripts(repository, event):
            steps.append(Step(f"remove gitmem from {path}", done=True, undo=_Script(path, event, "").undo))
        for place, _ in _places(repository, _folder(repository), event):
            if _calls_us(place, event):
                steps.append(
                    Step(
                        f"leave {place} as it is",
                        done=True,
                        remark=f"{place} calls {PROGRAM}: take those lines out of it, nobody but you writes that file.",
                    )
                )
    ref = notes_ref.name(repository)
    if notes_ref.is_ours(repository, ref):
        steps.append(Step(f"delete {ref} (derived from the log)", done=True, undo=_drop_notes(repository, ref)))
    for value in settings.values(SET_BY_US):
        name, _, wanted = value.partition("=")
        shown = wanted if len(wanted) <= 60 else wanted[:57] + "..."
        steps.append(Step(f"unset {name} ({shown})", done=True, undo=_unset(settings, name, wanted)))
    return steps


# --- what is called --------------------------------------------------------------------------


class Program:
    """Who the hook calls, by absolute path: python and entry file, and the console script; "" for what there isn't."""

    def __init__(self, python: str = "", entry: str = "", script: str = "") -> None:
        self.python = python
        self.entry = entry
        self.script = script

    @classmethod
    def running(cls) -> Program:
        """The gitmem that runs now."""
        python = sys.executable or ""
        entry = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "hooks", "entry.py")
        script = os.path.join(os.path.dirname(python), PROGRAM) if python else ""
        return cls(
            python,
            entry if os.path.isfile(entry) else "",  # in a zip archive there is no such file
            script if os.access(script, os.X_OK) else "",
        )


def quote(text: str) -> str:
    """Return `text` as one word of a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def shim(event: str, program: Program, previous: str = "") -> str:
    """Return the script that git runs as the hook `event`; it calls the hook `previous` beside it first.

    POSIX sh, and nothing that a strict shell could stumble over (`-e`, `-u`): lines of the user's may stand
    around it, and a manager may run it.
    """
    reads = event in READS_STDIN
    read = ["gitmem_stdin=$(cat; echo .)", "gitmem_stdin=${gitmem_stdin%.}"] if reads else []
    give = "{ printf '%s' \"$gitmem_stdin\"; } 2>/dev/null | " if reads else ""
    busy = _REBASING if event in OF_EACH_COMMIT else ""
    failed = "gitmem_status=1" if event in GATE_EVENTS else ":"
    if event in ("pre-push", *GATE_EVENTS, *TRAILER_EVENTS):
        busy += ' || [ "$gitmem_status" -ne 0 ]'  # the hook before stopped it
    lines = [
        "#!/bin/sh",
        f"{BEGIN} tells gitmem; `git decisions uninstall` takes these lines out again and nothing else",
        *read,
        "gitmem_status=0",
        f"gitmem_previous=${{0%/*}}/{previous or event + PREVIOUS}",
        'if [ -f "$gitmem_previous" ] && [ -x "$gitmem_previous" ]; then',
        f'    {give}"$gitmem_previous" "$@" || gitmem_status=$?',
        "fi",
        f"gitmem_python={quote(program.python)}",
        f"gitmem_entry={quote(program.entry)}",
        f"gitmem_script={quote(program.script)}",
        f'if [ -n "${{GITMEM_ACTIVE-}}" ]{busy}; then',
        "    :",
        'elif [ -x "$gitmem_python" ] && [ -f "$gitmem_entry" ]; then',
        f'    {give}"$gitmem_python" -I -S "$gitmem_entry" {event} "$@" || {failed}',
        f'elif gitmem_script=$(command -v "$gitmem_script" || command -v {PROGRAM}); then',
        f'    {give}"$gitmem_script" {event} "$@" || {failed}',
        "else",
        f'    echo "{_not_found(event)}" >&2',
        "fi",
        "(exit $gitmem_status)",
        END,
    ]
    return "\n".join(lines) + "\n"


def _without(event: str) -> str:
    if event in TRAILER_EVENTS:
        return "Without it messages name no decisions; the links in the log are the same."
    return f"Without it `git decisions {_BY_HAND.get(event, 'link')}` does the same."


#: While a rebase runs each of its commits comes by these; post-rewrite gets them all at the end.
OF_EACH_COMMIT = ("post-commit", "commit-msg")
_REBASING = ' || [ -d "${GIT_DIR:-.git}/rebase-merge" ] || [ -d "${GIT_DIR:-.git}/rebase-apply" ]'


def _not_found(event: str) -> str:
    if event in TRAILER_EVENTS:
        return f"gitmem: {PROGRAM} was not found; the message stays as it is"
    if event in SYNC_EVENTS:
        return f"gitmem: {PROGRAM} was not found; git goes on, and \\`git decisions sync\\` does it later"
    if event in GATE_EVENTS:
        return f"gitmem: {PROGRAM} was not found; this commit was not looked at"
    return f"gitmem: {PROGRAM} was not found; git is done, and \\`git decisions link\\` finds this commit later"


def snippet(event: str) -> str:
    """Return the lines that call gitmem from a hook file that a team shares: without a path of this machine."""
    does = "shares decisions" if event in SYNC_EVENTS else "gives decisions their commit"
    does = "names decisions in the message" if event in TRAILER_EVENTS else does
    does, failed = f"{does}, and never fails git", " || :"
    if event in GATE_EVENTS:
        does, failed = "stops a commit that brings back what was rejected", ""
    # Short lines, to be copied from a terminal; right under `sh -e`, as husky runs them.
    return (
        f"# gitmem: {does}\n"
        f"p=$(git config decisions.program || command -v {PROGRAM} || :)\n"
        'if [ -x "$p" ]; then\n'
        f'    "$p" {event} "$@"{failed}\n'
        "else\n"
        f'    echo "gitmem: {PROGRAM} was not found" >&2\n'
        "fi\n"
    )


# --- hooks -----------------------------------------------------------------------------------


def version(repository: Repository) -> tuple[int, ...]:
    """Return the version of the installed git."""
    found = re.search(rb"(\d+)\.(\d+)", repository.git("version"))
    return tuple(int(part) for part in found.groups()) if found else (0,)


def _plan_hooks(
    repository: Repository, events: Sequence[str], git_version: tuple[int, ...], program: Program
) -> list[Step]:
    settings = Settings(repository)
    if settings.effective("decisions.installHooks", kind="bool") == "false":
        return [Step("leave the hooks alone (decisions.installHooks is false)", done=True)]
    folder = _folder(repository)
    if git_version >= CONFIG_HOOKS:
        return [_plan_config_hook(repository, settings, event, program) for event in events]
    manager = _manager(repository, folder)
    # A manager that came after us and left our script in its place is no reason to take it away.
    if manager and not all(_block(files.read(os.path.join(folder, event)) or "") for event in events):
        steps = [_plan_program(settings, program)] if program.script else []
        return steps + [_plan_snippet(repository, folder, event, manager) for event in events]
    return [_plan_script(folder, event, program) for event in events]


def _what(event: str) -> str:
    return _WHEN[event]


_WHEN = {
    "post-commit": "after each commit",
    "post-rewrite": "after an amend or a rebase",
    "commit-msg": "for each commit message, to name its decisions",
    "pre-push": "before each push, so that decisions go along",
    "post-merge": "after each pull, so that decisions come along",
    "pre-commit": "before each commit, which it may stop",
}


def _plan_setting(settings: Settings, name: str, does: str) -> Step:
    def apply() -> str:
        settings.set(name, "true")
        settings.add(SET_BY_US, f"{name}=true")
        return ""

    done = settings.effective(name, kind="bool") == "true"
    return Step(f"{does} ({name} = true)", done=done, apply=apply, undo=_unset(settings, name, "true"))


# 1. in the configuration


def _name(event: str) -> str:
    # The name must differ from the event's, and it is what `git hook list` shows.
    return f"gitmem-{event}"


def config_command(event: str, program: Program) -> str:
    """Return the command of a hook in the configuration: it must not fail, least of all where gitmem is gone.

    Like the script it starts no Python inside a git that gitmem started, nor for each commit of a rebase.
    """
    busy = _REBASING if event in OF_EACH_COMMIT else ""
    failed = "exit 1" if event in GATE_EVENTS else ":"  # of the gate, that is its answer
    calls = [f'if [ -n "${{GITMEM_ACTIVE-}}" ]{busy}; then :']
    if program.python and program.entry:
        python, entry = quote(program.python), quote(program.entry)
        calls.append(f'elif [ -x {python} ] && [ -f {entry} ]; then {python} -I -S {entry} {event} "$@" || {failed}')
    for name in (program.script, PROGRAM):
        if name:
            calls.append(f'elif command -v {quote(name)} >/dev/null; then {quote(name)} {event} "$@" || {failed}')
    calls.append(f'else echo "{_not_found(event)}" >&2; fi')
    return f"sh -c {quote('; '.join(calls))} gitmem"


def _plan_config_hook(repository: Repository, settings: Settings, event: str, program: Program) -> Step:
    wanted = config_command(event, program)
    name = f"hook.{_name(event)}"
    done = settings.values(f"{name}.command") == [wanted] and settings.values(f"{name}.event") == [event]
    apply, undo = _config_hook(settings, event, wanted)
    # An older git left its script here: one of the two is enough.
    scripts = _scripts(repository, event)

    def switch() -> str:
        remark = apply()
        for path in scripts:
            remark = _Script(path, event, "").undo() or remark
        return remark

    sentence = f"call gitmem {_what(event)} (hook.{_name(event)} in the repository's configuration)"
    return Step(sentence, done=done and not scripts, apply=switch, undo=undo)


def _config_hook(settings: Settings, event: str, command: str = "") -> tuple[Callable[[], str], Callable[[], str]]:
    section = f"hook.{_name(event)}"

    def apply() -> str:
        settings.set(f"{section}.event", event)
        settings.set(f"{section}.command", command)
        return ""

    def undo() -> str:
        settings.remove_section(section)
        return ""

    return apply, undo


# 2. a script in the hooks folder


def _folder(repository: Repository) -> str:
    """Return the folder where git looks for hooks: the common one for all worktrees, or `core.hooksPath`."""
    given = os.fsdecode(repository.git("rev-parse", "--git-path", "hooks", work_tree=True)).removesuffix("\n")
    return os.path.normpath(os.path.join(repository.work_tree or repository.git_dir, given))


def _plan_script(folder: str, event: str, program: Program) -> Step:
    path = os.path.join(folder, event)
    script = _Script(path, event, shim(event, program))
    sentence = f"call gitmem {_what(event)} ({path}"
    if script.stranger:
        sentence += f"; the hook that is there stays, as {os.path.basename(script.kept)}, and is called first"
    return Step(sentence + ")", done=script.done, apply=script.apply, undo=script.undo)


class _Script:
    """A hook file, ours or not yet ours."""

    def __init__(self, path: str, event: str, wanted: str) -> None:
        self.path = path
        self.event = event
        self.text = files.read(path)
        self.stranger = os.path.lexists(path) and BEGIN not in (self.text or "")
        self.kept = self._kept()
        self.wanted = _naming(wanted, os.path.basename(self.kept)) if wanted else ""
        self.done = bool(wanted) and _block(self.text or "") == _block(self.wanted) and os.access(path, os.X_OK)

    def _kept(self) -> str:
        """Return where the hook that was here is, or would be, kept."""
        named = re.search(r"^gitmem_previous=\$\{0%/\*\}/(.+)$", self.text or "", re.MULTILINE)
        folder = os.path.dirname(self.path)
        if named and not self.stranger:
            return os.path.join(folder, named.group(1))
        path = os.path.join(folder, self.event + PREVIOUS)
        number = 1
        # Somebody put a hook in the place of ours and left the kept one where it was: it stays kept.
        while self.stranger and os.path.lexists(path):
            number += 1
            path = os.path.join(folder, f"{self.event}{PREVIOUS}-{number}")
        return path

    def apply(self) -> str:
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        if self.text is not None and not self.stranger:
            # Ours from before, perhaps with lines of the user's around it: only our lines change.
            files.replace(self.path, self.text.replace(_block(self.text), _block(self.wanted)), executable=True)
            return ""
        fresh = self.path + ".gitmem-new"
        files.write(fresh, self.wanted, mode=0o777)
        try:
            if self.stranger:
                os.rename(self.path, self.kept)  # bytes, mode and, of a link, the link
            os.rename(fresh, self.path)
        except OSError:
            files.remove(fresh)
            if self.stranger and not os.path.lexists(self.path):
                os.rename(self.kept, self.path)
            raise
        return ""

    def undo(self) -> str:
        text = self.text or ""
        ours = _block(text)
        if not ours:
            return ""
        rest = text.replace(ours, "")
        kept = os.path.lexists(self.kept)
        if rest.strip() in ("", "#!/bin/sh"):
            if kept:
                os.replace(self.kept, self.path)
            else:
                os.unlink(self.path)
                files.remove_if_empty(os.path.dirname(self.path))
            return ""
        if not kept:
            files.replace(self.path, rest)
            return f"{self.path} has lines that are not gitmem's; they stay."
        # The kept hook must go on being called, and the user's lines be run: all that goes is gitmem.
        files.replace(self.path, text.replace(ours, _chain(ours)))
        name = os.path.basename(self.kept)
        return (
            f"{self.path} has lines that are not gitmem's; they stay, and it goes on calling {name}, the hook before."
        )


def _block(text: str) -> str:
    """Return our lines in a hook file, marks included, or ""."""
    start = text.find(BEGIN)
    end = text.find(END, start)
    if start < 0 or end < 0:
        return ""
    end += len(END)
    return text[start : end + 1] if text[end : end + 1] == "\n" else text[start:end]


def _chain(block: str) -> str:
    """Return what of our lines calls the hook that was there before."""
    start = block.index("\n") + 1
    return block[start : block.index("gitmem_python=")] + "(exit $gitmem_status)\n"


def _naming(text: str, previous: str) -> str:
    return re.sub(
        r"^(gitmem_previous=\$\{0%/\*\}/).+$", lambda found: found.group(1) + previous, text, flags=re.MULTILINE
    )


def _scripts(repository: Repository, event: str) -> list[str]:
    """Return the files in the hooks folders that have our lines for `event`; some tools move what they find aside."""
    found = []
    for folder in dict.fromkeys((os.path.join(repository.common_dir, "hooks"), _folder(repository))):
        for name in files.listed(folder):
            path = os.path.join(folder, name)
            if name.partition(".")[0] == event and not os.path.islink(path) and _block(files.read(path) or ""):
                found.append(path)
    return found


# 3. where a manager rules


def _manager(repository: Repository, folder: str) -> str:
    """Return the name of what manages the hooks here, or ""."""
    top = repository.work_tree
    names = set(files.listed(top)) if top else set()
    if ".husky" in names or "/.husky" in folder:
        return "husky"
    if any(name.removeprefix(".").startswith("lefthook.") for name in names):
        return "lefthook"
    if ".overcommit.yml" in names:
        return "overcommit"
    if any(name.removeprefix(".").startswith("simple-git-hooks.") for name in names):
        return "simple-git-hooks"
    if (
        top
        and "package.json" in names
        and '"simple-git-hooks"' in (files.read(os.path.join(top, "package.json")) or "")
    ):
        return "simple-git-hooks"
    if ".pre-commit-config.yaml" in names and any(
        "generated by pre-commit" in (files.read(os.path.join(folder, name)) or "").lower()
        for name in files.listed(folder)
    ):
        return "pre-commit"
    # Whoever set core.hooksPath, or made the folder a link into the work tree, wants the say in it.
    if os.path.realpath(folder) != os.path.realpath(os.path.join(repository.common_dir, "hooks")) or os.path.islink(
        folder
    ):
        return "core.hooksPath"
    return ""


def _places(repository: Repository, folder: str, event: str) -> list[tuple[str, str]]:
    """Return the files that could call us where a manager rules, each with the manager it belongs to."""
    places = []
    if os.path.realpath(folder) != os.path.realpath(os.path.join(repository.common_dir, "hooks")):
        places.append((os.path.join(folder, event), "core.hooksPath"))
    top = repository.work_tree
    for name in files.listed(top) if top else []:
        path = os.path.join(str(top), name)
        if name == ".husky":
            places.append((os.path.join(path, event), "husky"))
        elif name.removeprefix(".").startswith("lefthook."):
            places.append((path, "lefthook"))
        elif name == ".overcommit.yml":
            places.append((path, "overcommit"))
        elif name.removeprefix(".").startswith("simple-git-hooks.") or name == "package.json":
            places.append((path, "simple-git-hooks"))
        elif name == ".pre-commit-config.yaml":
            places.append((path, "pre-commit"))
    return places


def _calls_us(path: str, event: str) -> bool:
    text = files.read(path) or ""
    return PROGRAM in text and event in text and BEGIN not in text


def _plan_snippet(repository: Repository, folder: str, event: str, manager: str) -> Step:
    places = _places(repository, folder, event)
    calling = [path for path, _ in places if _calls_us(path, event)]
    if calling:
        return Step(f"call gitmem {_what(event)} ({calling[0]})", done=True)
    where, lines = _to_add(folder, event, manager)
    remark = (
        f"{manager} manages the hooks here. To have gitmem called {_what(event)}, add to {where}:\n\n"
        f"{_indented(lines)}\n{_without(event)}"
    )
    sentence = f"leave {event} to {manager}, which manages the hooks here"
    return Step(sentence, done=True, remark=remark)


_BY_HAND = dict.fromkeys(SYNC_EVENTS, "sync") | dict.fromkeys(GATE_EVENTS, "gate --staged")


def _to_add(folder: str, event: str, manager: str) -> tuple[str, str]:
    """Return the file to add to, and what."""
    if manager == "husky":
        return f".husky/{event}", snippet(event)
    if manager == "lefthook":
        give = "{1}\n      use_stdin: true" if event in READS_STDIN else "{1}" if event in TRAILER_EVENTS else ""
        run = f"{PROGRAM} {event} {give}".rstrip()
        return "lefthook.yml", f"{event}:\n  commands:\n    gitmem:\n      run: {run}\n"
    if manager == "overcommit":
        name = "".join(part.capitalize() for part in event.split("-"))
        return ".overcommit.yml", (
            f"{name}:\n  Gitmem:\n    enabled: true\n    required_executable: {PROGRAM}\n    flags: ['{event}']\n"
        )
    if manager == "simple-git-hooks":
        return "its configuration", f'"{event}": "{PROGRAM} {event} \\"$@\\""\n'
    if manager == "pre-commit":
        return f".pre-commit-config.yaml (and run `pre-commit install --hook-type {event}`)", (
            f"- repo: local\n  hooks:\n  - id: gitmem-{event}\n    name: gitmem\n    entry: {PROGRAM} {event}\n"
            f"    language: system\n    stages: [{event}]\n    always_run: true\n    pass_filenames: false\n"
        )
    return os.path.join(folder, event), snippet(event)


def _indented(lines: str) -> str:
    return "".join(f"    {line}\n" for line in lines.splitlines())


def _plan_program(settings: Settings, program: Program) -> Step:
    name = "decisions.program"
    current = settings.values(name)

    def apply() -> str:
        settings.set(name, program.script)
        for value in settings.values(SET_BY_US):
            if value.startswith(name + "="):
                settings.unset(SET_BY_US, value)
        settings.add(SET_BY_US, f"{name}={program.script}")
        return ""

    return Step(
        f"remember where gitmem is ({name} = {program.script})",
        done=current == [program.script],
        apply=apply,
        undo=_unset(settings, name, program.script),
    )


# --- notes -----------------------------------------------------------------------------------


def _plan_notes(repository: Repository) -> Step:
    settings = Settings(repository)
    ref = notes_ref.name(repository)
    name = "notes.displayRef"

    def apply() -> str:
        settings.add(name, ref)
        settings.add(SET_BY_US, f"{name}={ref}")
        return ""

    sentence = f"let plain `git log` show each commit's decisions ({name} gets {ref})"
    return Step(sentence, done=notes_ref.is_shown(repository, ref), apply=apply, undo=_unset(settings, name, ref))


def _drop_notes(repository: Repository, ref: str) -> Callable[[], str]:
    def undo() -> str:
        notes_ref.drop(repository, ref)
        return ""

    return undo


def _unset(settings: Settings, name: str, value: str) -> Callable[[], str]:
    def undo() -> str:
        mark = f"{name}={value}"
        if mark in settings.values(SET_BY_US):
            settings.unset(name, value)
            settings.unset(SET_BY_US, mark)
        return ""

    return undo


# --- git's configuration ---------------------------------------------------------------------


class Settings:
    """The repository's own configuration, and what git makes of all of it."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def effective(self, name: str, *, kind: str = "") -> str:
        typed = (f"--type={kind}",) if kind else ()
        return os.fsdecode(self._repository.git("config", *typed, "--get", name, check=False)).removesuffix("\n")

    def values(self, name: str) -> list[str]:
        out = self._repository.git("config", "--local", "-z", "--get-all", name, check=False)
        return [os.fsdecode(value) for value in out.split(b"\0")[:-1]]

    def has(self, name: str) -> bool:
        return bool(self.values(name))

    def set(self, name: str, value: str) -> None:
        self._repository.git("config", "--local", "--replace-all", name, value)

    def add(self, name: str, value: str) -> None:
        if value not in self.values(name):
            self._repository.git("config", "--local", "--add", name, value)

    def unset(self, name: str, value: str) -> None:
        """Remove `value` of `name`, however often it is there; other values stay."""
        if value in self.values(name):
            self._repository.git("config", "--local", "--unset-all", name, f"^{_literally(value)}$")

    def remove_section(self, name: str) -> None:
        self._repository.git("config", "--local", "--remove-section", name)


def _literally(value: str) -> str:
    """Quote `value` for the extended regular expressions of `git config` (--fixed-value needs git 2.30)."""
    return "".join("\\" + c if c in r".[]\()*+?{}|^$" else c for c in value)


def shims() -> Mapping[str, str]:
    """Return the files of `githooks/`: the same scripts for a hook folder that is shared, without paths."""
    return {event: shim(event, Program()) for event in ALL_EVENTS}
