"""Where the repository is, found without starting git, and whether its log is still what it was.

`locate` walks up as git does (ceilings, file systems, `.git` files of worktrees and submodules, bare
ones, the GIT_* variables) and reads `core` and `extensions` of the config file itself. Whatever it
does not understand wholly it asks `git rev-parse`, and so it does where git might refuse: a directory
that belongs to someone else, or a bare repository found by walking. Git's refusal is final.

`stamp` tells in microseconds that the log has not moved: equal stamps, same tip. Different stamps, or
none, mean nothing: ask git. The content of ref files is compared, never parsed.
"""

from __future__ import annotations

import os
import time

from gitmem.errors import GitFailed, OutsideRepository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitmem.core.objects import ObjectFormat
    from gitmem.store.git import Process, Result

LOG_REF = "refs/decisions/log"
#: Below it, by remote: what was last seen of each remote's log (F20).
SEEN_REFS = "refs/decisions-remotes/"

#: A stat younger than this may belong to two contents (file systems with whole-second times).
RACY_S = 2.0


class Repository:
    """A git repository that git lets us read.

    git_dir     absolute; of a linked worktree its own below `worktrees/`
    common_dir  absolute; what all worktrees share: objects, refs, our local state
    work_tree   absolute, or None (bare, or inside the git directory)
    form        how it names its objects
    refs        "files", "reftable", or "" where only git knows
    environ     the environment that it was found with; every git runs with it, scrubbed
    """

    __slots__ = ("_form", "bare", "common_dir", "environ", "git_dir", "refs", "start", "work_tree")

    def __init__(
        self,
        git_dir: str,
        common_dir: str,
        work_tree: str | None,
        *,
        bare: bool,
        form: ObjectFormat | str,
        refs: str = "files",
        environ: Mapping[str, str] | None = None,
        start: str | None = None,
    ) -> None:
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.work_tree = work_tree
        self.bare = bare
        self._form = form
        self.refs = refs
        self.environ: Mapping[str, str] = os.environ if environ is None else environ
        self.start = work_tree or git_dir if start is None else start

    def __repr__(self) -> str:
        return f"<Repository {self.git_dir} {self.form.name}>"

    @property
    def form(self) -> ObjectFormat:
        form = self._form
        if isinstance(form, str):
            from gitmem.core import objects  # here: a hook that lets pass asks for no object

            form = self._form = objects.object_format(form)
        return form

    @property
    def local_dir(self) -> str:
        """Where gitmem keeps what never travels, shared by all worktrees. Not made until something is written."""
        return self.common_dir + "/gitmem"

    def make_local_dir(self) -> str:
        """Make `local_dir` where it is missing, with the permissions of the common directory, and return it.

        Raises GitFailed where nothing can be written.
        """
        path = self.local_dir
        if not os.path.isdir(path):
            try:
                mode = os.stat(self.common_dir).st_mode & 0o7777
                os.mkdir(path)
                os.chmod(path, mode)  # core.sharedRepository: the other users of it lock and cache here too
            except FileExistsError:
                pass  # another process was first
            except OSError as error:
                raise unwritable(path, error) from None
        return path

    @property
    def objects_dir(self) -> str:
        return self.environ.get("GIT_OBJECT_DIRECTORY") or self.common_dir + "/objects"

    def env(self) -> dict[str, str]:
        """What a git for this repository needs in its environment beyond `--git-dir`."""
        return {"GIT_COMMON_DIR": self.common_dir} if self.environ.get("GIT_COMMON_DIR") else {}

    def git(
        self,
        *args: str,
        input: bytes = b"",
        env: Mapping[str, str] | None = None,
        check: bool = True,
        work_tree: bool = False,
        timeout_s: float | None = None,
    ) -> bytes:
        """Return what `git ARGS` writes, run on this repository; with `work_tree`, at the top of it.

        Raises GitFailed with one sentence where git can't be started, does not end in time, or (with `check`) ends
        with another status than 0.
        """
        result = self.try_git(*args, input=input, env=env, work_tree=work_tree, timeout_s=timeout_s)
        if check and result.rc != 0:
            from gitmem.store import git

            raise git.failed(args, result.rc, result.err)
        return result.out

    def try_git(
        self,
        *args: str,
        input: bytes = b"",
        env: Mapping[str, str] | None = None,
        work_tree: bool = False,
        timeout_s: float | None = None,
    ) -> Result:
        """Run `git ARGS` on this repository and return its status and both outputs. `work_tree`: at the top of it."""
        from gitmem.store import git

        words, cwd = self._words(args, work_tree)
        return git.attempt(
            words,
            git_dir=self.git_dir,
            cwd=cwd,
            input=input,
            environ=self.environ,
            env={**self.env(), **(env or {})},
            timeout_s=timeout_s,
        )

    def begin_git(self, *args: str, env: Mapping[str, str] | None = None) -> Process:
        """Start `git ARGS` on this repository and go on; whoever asks must `communicate` with it, or `kill` it."""
        from gitmem.store.git import Process

        words, cwd = self._words(args, False)
        env = {**self.env(), **(env or {})}
        return Process(words, git_dir=self.git_dir, cwd=cwd, environ=self.environ, env=env)

    def _words(self, args: tuple[str, ...], work_tree: bool) -> tuple[tuple[str, ...], str | None]:
        if not work_tree or self.work_tree is None:
            return args, None
        return ("--work-tree=" + self.work_tree, *args), self.work_tree

    def relative(self, path: str, cwd: str | None = None) -> str:
        """Return the entity path that the typed `path` means, from the root of the work tree.

        A path that exists below the working directory (`cwd`, default: where `locate` started) is taken
        from there; `:/path` is from the root; an absolute path in the work tree loses its front; all else
        stays as it is. What follows `::` names a symbol in the file and is carried along.
        """
        if path.startswith(":/"):
            return path[2:]
        if self.work_tree is None:
            return path
        name, mark, symbol = path.partition("::")
        here = os.path.realpath(cwd if cwd is not None else self.start)
        if not name or "\0" in name:
            return path
        try:
            whole = os.path.join(here, name)
            if not os.path.lexists(whole):
                return path
            # The directory is resolved, the last name is not: a tracked symbolic link is an entity itself.
            front, last = os.path.split(os.path.normpath(whole))
            whole = os.path.join(os.path.realpath(front), last)
        except (OSError, ValueError):
            return path
        inside = below(whole, self.work_tree)
        if not inside:  # outside, or the root itself
            return path
        return inside + mark + symbol


def unwritable(path: str, error: OSError) -> GitFailed:
    """Return the error for a file that can't be written, in the words used for git's own failures."""
    from gitmem.store import git

    what, hint = git.cause((error.strerror or "").encode())
    return GitFailed(what=f"{what or error.strerror} ({path}); nothing was written", hint=hint, rc=None)


def below(path: str, top: str) -> str:
    """Return `path` relative to `top` where it lies below it, else an empty string. Both absolute and real."""
    front = top if top.endswith("/") else top + "/"
    return path[len(front) :] if path.startswith(front) else ""


# --- finding it --------------------------------------------------------------------------------


def locate(start: str = ".", environ: Mapping[str, str] | None = None) -> Repository:
    """Return the repository that a git command run in `start` would use.

    Raises OutsideRepository where there is none, and GitFailed where git refuses to read it (it belongs
    to someone else, or is a bare one that `safe.bareRepository` excludes).
    """
    if environ is None:
        environ = os.environ
    try:
        start = os.path.abspath(start)
    except FileNotFoundError:  # the working directory itself is gone
        raise OutsideRepository(where="a directory that no longer exists") from None
    found = _by_environment(start, environ) if "GIT_DIR" in environ else _by_walking(start, environ)
    return found if found is not None else _ask(start, environ)


def _by_environment(start: str, environ: Mapping[str, str]) -> Repository | None:
    """The repository that GIT_DIR names. Git trusts whoever set it, so nobody's ownership is asked."""
    git_dir = os.path.join(start, environ["GIT_DIR"])
    pointed = _pointer(git_dir)
    if pointed is not None:
        git_dir = pointed
    return _built(git_dir, environ, start=start, top=None)


def _by_walking(start: str, environ: Mapping[str, str]) -> Repository | None:
    """Walk up from `start`. None: ask git."""
    try:
        here = os.path.realpath(start)
        device = os.stat(here).st_dev
    except OSError:
        raise OutsideRepository(where=start) from None
    if not os.path.isdir(here):
        here = os.path.dirname(here)
    ceiling = _ceiling(here, environ)
    across = environ.get("GIT_DISCOVERY_ACROSS_FILESYSTEM", "").lower() not in ("", "0", "false", "no", "off")
    at = here
    while True:
        dot = at + "/.git" if at != "/" else "/.git"
        pointed = _pointer(dot)
        if pointed is not None:
            mine = _owned((dot, at, pointed), environ)
            return _built(pointed, environ, start=start, top=at) if mine else None
        if os.path.isdir(dot):
            if _is_git_dir(dot, environ):
                mine = _owned((at, dot), environ)
                return _built(dot, environ, start=start, top=at) if mine else None
        elif os.path.lexists(dot):
            return None  # a `.git` that is neither a directory nor a pointer: git says what it thinks of it
        if _is_git_dir(at, environ):
            return None  # bare, or inside one: `safe.bareRepository` is git's to read
        parent = os.path.dirname(at)
        if parent == at or len(at) <= ceiling:
            raise OutsideRepository(where=start)
        try:
            if not across and os.stat(parent).st_dev != device:
                raise OutsideRepository(where=start)
        except OSError:
            return None
        at = parent


def _ceiling(here: str, environ: Mapping[str, str]) -> int:
    """Return the length of the highest directory that may be looked at (0: any).

    Git never looks *into* a ceiling directory or above it, but for the directory that it starts in.
    """
    highest = 0
    resolve = True
    for entry in environ.get("GIT_CEILING_DIRECTORIES", "").split(":"):
        if not entry:
            resolve = False  # what follows an empty entry is taken as it is written
            continue
        if not os.path.isabs(entry):
            continue
        path = os.path.realpath(entry) if resolve else os.path.normpath(entry)
        if path == "/" or here.startswith(path + "/"):
            child = here[len(path.rstrip("/")) + 1 :].split("/", 1)[0]
            highest = max(highest, len(path.rstrip("/")) + 1 + len(child))
    return highest


def _pointer(path: str) -> str | None:
    """Return where the `.git` file `path` points to, or None if it is no such file."""
    try:
        with open(path, "rb") as file:
            data = file.read(8192)
    except OSError:
        return None
    if not data.startswith(b"gitdir: "):
        return None
    target = os.fsdecode(data[8:].rstrip(b"\r\n"))
    return os.path.normpath(os.path.join(os.path.dirname(path), target))


def _is_git_dir(path: str, environ: Mapping[str, str]) -> bool:
    """Say whether git would take `path` for a git directory: HEAD, objects and refs."""
    try:
        os.lstat(path + "/HEAD")
    except OSError:
        return False
    common = _common_dir(path, environ)
    store = environ.get("GIT_OBJECT_DIRECTORY") or common + "/objects"
    return os.path.isdir(store) and os.path.isdir(common + "/refs")


def _common_dir(git_dir: str, environ: Mapping[str, str]) -> str:
    named = environ.get("GIT_COMMON_DIR")
    if named:
        return named
    try:
        with open(git_dir + "/commondir", "rb") as file:
            return os.path.normpath(os.path.join(git_dir, os.fsdecode(file.read(8192).rstrip(b"\r\n"))))
    except OSError:
        return git_dir


def _owned(paths: tuple[str, ...], environ: Mapping[str, str]) -> bool:
    """Say whether all `paths` are ours as git sees it; where not, git decides (`safe.directory`)."""
    uid = os.geteuid()
    for path in paths:
        try:
            owner = os.lstat(path).st_uid
        except OSError:
            return False
        if owner == uid:
            continue
        # root also trusts what belongs to the user who called sudo, as git does.
        if uid == 0 and environ.get("SUDO_UID") == str(owner):
            continue
        return False
    return True


def _built(git_dir: str, environ: Mapping[str, str], *, start: str, top: str | None) -> Repository | None:
    """The repository at `git_dir`; `top` is the directory in which `.git` was found. None: ask git."""
    try:
        git_dir = os.path.realpath(git_dir)
    except (OSError, ValueError):
        return None
    if not _is_git_dir(git_dir, environ):
        return None
    common_dir = os.path.realpath(os.path.join(start, _common_dir(git_dir, environ)))
    config = _config(common_dir + "/config")
    if config is None:
        return None
    alone = git_dir == common_dir  # the common config's core.bare and core.worktree are about the main one only ...
    if _true(config.get("extensions.worktreeconfig")):
        alone = True  # ... unless each worktree may have its own
        own = _config(git_dir + "/config.worktree", missing={})
        if own is None:
            return None
        # A worktree's own config may move the work tree; the format of the repository is the common one.
        for name in ("core.bare", "core.worktree"):
            if name in own:
                config[name] = own[name]
    known = _format(config, environ)
    if known is None:
        return None
    form, refs = known
    bare = _true(config.get("core.bare"))
    named = environ.get("GIT_WORK_TREE")
    work_tree: str | None
    if named:
        work_tree, bare = os.path.join(start, named), False
    elif alone and config.get("core.worktree"):
        if bare:
            return None
        work_tree = os.path.join(git_dir, config["core.worktree"])
    elif alone and bare:
        if git_dir != common_dir:
            return None
        work_tree = None
    else:
        # GIT_DIR without a work tree: git takes the directory it stands in.
        work_tree, bare = (top if top is not None else start), False
    if work_tree is not None:
        work_tree = os.path.realpath(work_tree)
        if not os.path.isdir(work_tree):
            return None
    return Repository(git_dir, common_dir, work_tree, bare=bare, form=form, refs=refs, environ=environ, start=start)


def _format(config: Mapping[str, str], environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the object format and the ref storage that `config` declares, or None: ask git."""
    version = config.get("core.repositoryformatversion", "0")
    extensions = {name for name in config if name.startswith("extensions.")}
    if version == "0":
        if extensions & {"extensions.objectformat", "extensions.refstorage", "extensions.compatobjectformat"}:
            return None  # an error to some gits, ignored by others
        form, refs = "sha1", "files"
    elif version == "1":
        form = config.get("extensions.objectformat", "sha1")
        refs = config.get("extensions.refstorage", "files")
    else:
        return None
    if form not in ("sha1", "sha256"):
        return None
    if refs not in ("files", "reftable") or environ.get("GIT_REFERENCE_BACKEND"):
        refs = ""
    return form, refs


def _true(value: str | None) -> bool:
    return value is not None and value.lower() in ("true", "yes", "on", "1", "")


def _config(path: str, missing: dict[str, str] | None = None) -> dict[str, str] | None:
    """Return the plain entries of `[core]` and `[extensions]` in the file `path`, or None: ask git.

    Git reads these two without following includes, and so do we. Only what has one reading is read:
    a quote, a backslash or a line that is neither section, entry nor comment sends us to git.
    """
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
    except FileNotFoundError:
        return missing
    except OSError:
        return None
    found: dict[str, str] = {}
    section = ""
    for line in text.split("\n"):
        line = line.strip()
        if line.endswith("\\"):
            return None
        if not line or line[0] in "#;":
            continue
        if line[0] == "[":
            head, bracket, rest = line.partition("]")
            if not bracket or ('"' in head and head.count('"') != 2) or (rest.strip() and rest.strip()[0] not in "#;"):
                return None
            section = head[1:].strip().lower()
            continue
        if section not in ("core", "extensions"):
            continue
        if '"' in line or "\\" in line:
            return None
        name, equals, value = line.partition("=")
        for sign in "#;":
            value = value.partition(sign)[0]
        name = name.strip().lower()
        if not equals:
            name, value = name.partition("#")[0].partition(";")[0].strip(), "true"
        if not name.replace("-", "").isalnum():
            return None
        found[f"{section}.{name}"] = value.strip()
    return found


def _ask(start: str, environ: Mapping[str, str]) -> Repository:
    """The repository as `git rev-parse` has it. Raises OutsideRepository, GitFailed."""
    from gitmem.store import git

    env = {name: environ[name] for name in ("GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE") if name in environ}
    directory = start if os.path.isdir(start) else os.path.dirname(start)
    args = ["rev-parse", "--absolute-git-dir", "--git-common-dir", "--is-bare-repository", "--show-object-format"]
    result = git.attempt(args, cwd=directory, environ=environ, env=env)
    if result.rc != 0:
        raise _refusal(start, result)
    git_dir, common, bare, form = os.fsdecode(result.out).rstrip("\n").split("\n")
    git_dir = os.path.realpath(os.path.join(directory, git_dir))
    common_dir = os.path.realpath(os.path.join(directory, common))
    top = git.attempt(["rev-parse", "--show-toplevel"], cwd=directory, environ=environ, env=env)
    work_tree = os.path.realpath(os.fsdecode(top.out[:-1])) if top.rc == 0 and top.out.strip() else None
    config = _config(common_dir + "/config")
    known = _format(config, environ) if config is not None else None
    return Repository(
        git_dir,
        common_dir,
        work_tree,
        bare=bare == "true",
        form=form,
        refs=known[1] if known is not None else "",
        environ=environ,
        start=start,
    )


def _refusal(start: str, result: Result) -> GitFailed | OutsideRepository:
    from gitmem.store import git

    said = git.first_line(result.err)
    if b"not a git repository" in result.err:
        if "GIT_DIR" in result.err.decode("utf-8", "replace") or "(or any" not in said:
            return OutsideRepository(where=start, hint=f"git says: {said}")
        return OutsideRepository(where=start)
    if b"dubious ownership" in result.err or b"safe.directory" in result.err:
        import shlex

        where = said.partition("'")[2].rpartition("'")[0] or start
        return GitFailed(
            what=f"the repository at {where} belongs to another user, and git reads no such repository unasked",
            hint=f"if you trust it: `git config --global --add safe.directory {shlex.quote(where)}`.",
            rc=result.rc,
            stderr=result.err,
        )
    if b"safe.bareRepository" in result.err:
        return GitFailed(
            what=f"{said}; `safe.bareRepository` lets no bare repository be found by walking",
            hint="name it: `GIT_DIR=PATH git decisions ...`.",
            rc=result.rc,
            stderr=result.err,
        )
    return git.failed(["rev-parse"], result.rc, result.err)


# --- freshness -----------------------------------------------------------------------------------


def stamp(repository: Repository, now: float | None = None, *, ref: str = LOG_REF) -> bytes | None:
    """Return bytes that stay equal while the log (or another `ref`) has not moved; None: can't be known, ask git.

    Take the stamp first, then read the tip, then build what depends on it, never the other way round.
    `now` is the file system's time, in seconds (default: the clock's).
    """
    if not repository.refs:
        return None
    common = repository.common_dir
    if repository.refs == "reftable":
        # One line per table; a name carries its update indices and a random part.
        content = _content(common + "/reftable/tables.list")
        return None if content is None else b"reftable " + content
    content = _content(f"{common}/{ref}")
    if content is not None:
        # A symbolic ref ("ref: ...") moves without its file changing.
        return b"loose " + content if not content.startswith(b"ref:") else None
    # pack-refs writes the packed file first and removes the loose one then: in this order the packed
    # file that we look at is new enough.
    try:
        found = os.stat(common + "/packed-refs")
    except FileNotFoundError:
        return b"none"
    except OSError:
        return None
    if now is None:
        now = time.time()
    if now - found.st_mtime < RACY_S:  # a time in the future is racy as well
        return None
    return b"packed %d %d %d %d" % (found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size)


def has_no_log(repository: Repository) -> bool:
    """Say whether the files show that there is no log here; False where only git can tell."""
    if repository.refs != "files" or os.path.lexists(f"{repository.common_dir}/{LOG_REF}"):
        return False
    try:
        with open(repository.common_dir + "/packed-refs", "rb") as file:
            return LOG_REF.encode() not in file.read()
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _content(path: str) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(fd, 1 << 16)
    except OSError:
        return None
    finally:
        os.close(fd)
