"""Remotes: which one is meant, what its log is called there, and git run on it over the network.

All that goes over a network goes through the git program, so that whatever lets the user fetch and push (keys, helpers,
proxies, `insteadOf`) does so here. Refspecs and settings of the user's are neither used nor changed: a fetch is one
exact ref into a quarantine, a push one exact ref, and what was last seen is kept in a ref of its own.

What can go wrong with a network goes wrong in one sentence, with nothing changed here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from gitmem.errors import GitFailed, Refused, RemoteRefused, Usage, Writing
from gitmem.store import git
from gitmem.store.git import Result
from gitmem.store.repository import LOG_REF, SEEN_REFS, Repository

#: How long a remote may keep a process waiting that nobody watches; `decisions.timeout` says otherwise.
TIMEOUT_S = 120.0
#: Names to try where a host does not take ours, the least odd first.
OTHER_REFS = ("refs/notes/decisions-log", "refs/heads/decisions")

# Fetching and pushing is one ref, whatever else is configured: no tags, no submodules, no upkeep of ours to wait for,
# and no hook of the user's, who did not push.
_FETCH = (
    *git.NO_HOOKS,
    *("-c", "fetch.writeCommitGraph=false", "-c", "fetch.bundleURI=", "fetch", "--dry-run", "--quiet", "--no-tags"),
    *("--no-prune", "--no-recurse-submodules", "--no-auto-gc", "--refmap=", "--no-filter"),
)
_PUSH = ("push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-atomic")


class Remote:
    """One remote, as git knows it by name.

    name      as it is configured
    ref       its log there
    seen_ref  where we keep what was last seen of it
    """

    __slots__ = ("_deadline", "_interactive", "_timeout_s", "name", "ref", "repository", "seen_ref")

    def __init__(
        self,
        repository: Repository,
        name: str,
        ref: str = LOG_REF,
        *,
        timeout_s: float | None = None,
        deadline_s: float | None = None,
    ) -> None:
        self.repository = repository
        self.name = name
        self.ref = ref
        self.seen_ref = f"{SEEN_REFS}{name}/log"
        self._interactive = os.isatty(2) and deadline_s is None
        self._timeout_s = timeout_s if timeout_s or self._interactive else TIMEOUT_S
        self._deadline = None if deadline_s is None else time.monotonic() + deadline_s

    # --- what we know of it ------------------------------------------------------------------

    def seen(self) -> str:
        """Return the tip that was last seen there, or ""."""
        listed = self.repository.git("for-each-ref", "--format=%(refname) %(objectname)", self.seen_ref)
        for line in listed.decode("utf-8", "replace").splitlines():
            ref, _, oid = line.partition(" ")
            if ref == self.seen_ref:
                return oid
        return ""

    def saw(self, tip: str, before: str) -> None:
        """Remember `tip`, which is here, as what was last seen; where another process was faster, its word stands."""
        if tip == before:
            return
        from gitmem.store.plumbing_log import WRITING

        order = f"option no-deref\nupdate {self.seen_ref} {tip} {before or self.repository.form.zeros}\n"
        words = (*WRITING, "update-ref", "--create-reflog", "-m", "seen", "--stdin")
        with Writing():
            self.repository.try_git(*words, input=order.encode())

    # --- the network -------------------------------------------------------------------------

    def tip(self) -> str:
        """Return the tip of its log as it is there now, or "" where it has none. Raises GitFailed."""
        words = ("ls-remote", "--quiet", "--", self.name, self.ref)
        result = self._git(words)
        if result.rc != 0:
            raise self._failure(words, result)
        for line in result.out.decode("utf-8", "replace").splitlines():
            oid, _, ref = line.partition("\t")
            if ref == self.ref:
                if len(oid) != self.repository.form.hex_size:
                    raise self._other_form()
                return oid
        return ""

    def fetch(self, known: list[str], env: Mapping[str, str]) -> None:
        """Bring the objects of its log to where `env` says that objects go; no ref moves. Raises GitFailed.

        `known` are tips of ours: what they reach need not come.
        """
        tips = [f"--negotiation-tip={oid}" for oid in known]
        words = (*_FETCH, *tips, "--", self.name, self.ref)
        result = self._git(words, env)
        if result.rc != 0:
            raise self._failure(words, result)

    def push(self, tip: str, lease: str = "") -> bool:
        """Let its log be `tip`; False where it moved meanwhile. Raises RemoteRefused, GitFailed.

        Never forced, unless `lease` is what stands there now and is to be replaced.
        """
        with Writing():
            return self._push(f"{tip}:{self.ref}", self.ref, lease)

    def probe(self) -> None:
        """Ask whether it takes a ref beside its log: push the root, which says nothing, and take it away again.

        Raises RemoteRefused, GitFailed.
        """
        form = self.repository.form
        for kind, data in (("tree", b""), ("commit", form.root_data)):  # no ref of ours is made for it
            self.repository.git("hash-object", "-t", kind, "-w", "--stdin", input=data)
        ref = f"{self.ref.rpartition('/')[0]}/probe"
        with Writing():
            self._push(f"{form.root}:{ref}", ref, "")
            self._git((*self._plain(), "push", "--quiet", "--no-verify", "--", self.name, f":{ref}"))

    def _push(self, refspec: str, ref: str, lease: str) -> bool:
        forced = (f"--force-with-lease={ref}:{lease}",) if lease else ()
        words = (*self._plain(), *_PUSH, *forced, "--", self.name, refspec)
        result = self._git(words)
        verdict = _verdict(result.out, ref)
        if verdict is None and result.rc == 0:
            return True
        if verdict is None:
            raise self._failure(words, result)
        flag, summary = verdict
        if flag in " *+=":
            return True
        if not summary.startswith("[remote rejected]"):
            return False  # git itself saw that it had moved: "fetch first", "non-fast-forward", "stale info"
        reason = summary.partition("(")[2].rpartition(")")[0]
        if any(sign in reason for sign in _RACES):
            return False
        raise self._refusal(reason, result.err)

    def _plain(self) -> tuple[str, ...]:
        # A mirror takes no refspec; this one push is none of a mirror's.
        return (*git.NO_HOOKS, "-c", f"remote.{self.name}.mirror=false", "-c", "push.followTags=false")

    def _git(self, words: tuple[str, ...], env: Mapping[str, str] | None = None) -> Result:
        repository = self.repository
        args: tuple[str, ...] = words
        if repository.work_tree is not None:
            args = ("--work-tree=" + repository.work_tree, *words)
        limits = [self._timeout_s] if self._timeout_s else []
        if self._deadline is not None:
            limits.append(max(0.001, self._deadline - time.monotonic()))
        limit = min(limits) if limits else None
        try:
            return git.attempt(
                args,
                git_dir=repository.git_dir,
                cwd=repository.work_tree or repository.git_dir,  # a remote may be a path from there
                environ=repository.environ,
                env={**repository.env(), **self._manners(), **(env or {})},
                timeout_s=limit,
            )
        except GitFailed as error:
            if not error.fields.get("timed_out"):
                raise
            raise GitFailed(
                message=f"{self.name} did not answer within {limit:g} s; nothing was changed",
                hint="try again, or give it longer: `git config decisions.timeout SECONDS`.",
                rc=None,
            ) from None

    def _manners(self) -> dict[str, str]:
        """How git asks for a password: as the user has it at a terminal, and never where nobody would see it."""
        environ = self.repository.environ
        if self._interactive:
            return {"GIT_TERMINAL_PROMPT": environ.get("GIT_TERMINAL_PROMPT", "1")}
        asked = {"GIT_TERMINAL_PROMPT": "0"}
        if not (environ.get("GIT_SSH_COMMAND") or environ.get("GIT_SSH")):
            own = self.repository.try_git("config", "--get", "core.sshCommand")
            if not own.out.strip():
                asked["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes"
        return asked

    # --- what went wrong ---------------------------------------------------------------------

    def _failure(self, words: tuple[str, ...], result: Result) -> GitFailed:
        low = result.err.lower()
        said = _said(result.err)
        for signs, what, hint in _FAILURES:
            if any(sign in low for sign in signs):
                return GitFailed(
                    message=f"{self.name} {what}{f' ({said})' if said else ''}; nothing was changed",
                    hint=hint.format(name=self.name, verb="push" if "push" in words else "fetch"),
                    rc=result.rc,
                    stderr=result.err,
                )
        if b"mismatched algorithms" in low or b"object format" in low or b"hash algorithm" in low:
            return self._other_form()
        return git.failed(words, result.rc, result.err, also=f" ({self.name}); nothing was changed")

    def _other_form(self) -> GitFailed:
        return GitFailed(
            message=f"{self.name} names its objects by another hash than this repository "
            f"({self.repository.form.name}), and git moves nothing between the two; nothing was changed",
            hint="push to a remote of the same format.",
            rc=None,
        )

    def _refusal(self, reason: str, err: bytes) -> RemoteRefused:
        told = [line[7:].strip() for line in err.decode("utf-8", "replace").splitlines() if line.startswith("remote:")]
        told = [_printable(line) for line in told if line][:3]
        reason = _printable(reason)
        what = f"{self.ref}: {reason}" if reason else self.ref
        if "hook" in reason or "declined" in reason:
            hint = "its hook says: " + " ".join(told) if told else "ask who keeps its hooks."
        else:
            others = " or ".join(f"`git config decisions.remoteRef {ref}`" for ref in OTHER_REFS if ref != self.ref)
            hint = f"it may take another name: {others}, then `git decisions push --probe`, which sends no decision."
        return RemoteRefused(remote=self.name, what=what, hint=hint, said=told)


#: What a push that lost a race is told by receive-pack of this git and of others, and by hosts.
_RACES = (
    *("failed to update ref", "cannot lock ref", "failed to lock", "incorrect old value"),
    "reference already exists",
)

_LATER = "your decisions are safe here; `git decisions sync` when it is there again."
#: Signs in what git and its helpers say (lower case) -> what we say, and what to do.
_FAILURES: tuple[tuple[tuple[bytes, ...], str, str], ...] = (
    (
        (b"host key verification failed",),
        "is not known to ssh by its host key",
        "connect once by hand and check the key; then again.",
    ),
    (
        (
            *(b"authentication failed", b"could not read username", b"could not read password", b"publickey"),
            *(b"terminal prompts disabled", b"error: 401", b"error: 403", b"invalid credentials", b"access denied"),
            *(
                b"permission to",
                b"not authorized",
                b"bad credentials",
                b"no matching host key",
                b"keyboard-interactive",
            ),
        ),
        "does not let you in",
        "do what `git {verb} {name}` needs (a key, a token, a login), then again.",
    ),
    (
        (
            *(b"could not resolve host", b"network is unreachable", b"connection refused", b"connection timed out"),
            *(b"no route to host", b"name resolution", b"failed to connect", b"couldn't connect", b"connection reset"),
            *(b"could not connect", b"operation timed out", b"unable to connect", b"name or service not known"),
            *(b"host is down", b"connection closed", b"early eof", b"unable to look up", b"error: 502", b"error: 503"),
        ),
        "can't be reached",
        _LATER,
    ),
    (
        (
            *(b"does not appear to be a git repository", b"repository not found", b"no such file or directory"),
            *(b"could not read from remote repository", b"not found", b"project you were looking for"),
        ),
        "is no repository, or none that you may read",
        "`git remote get-url {name}` says where it is looked for.",
    ),
)


def _said(err: bytes) -> str:
    """Return the line that says most: ssh's or the server's own, without git's advice on it."""
    line = git.first_line(err)
    for text in err.decode("utf-8", "replace").splitlines():
        if text.startswith("ssh: ") or "Permission denied" in text or "Host key" in text:
            line = text
            break
    return _printable(line)[:200].rstrip(".")


def _printable(text: str) -> str:
    """What another machine said, as one line that does nothing on a terminal."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())


def _verdict(out: bytes, ref: str) -> tuple[str, str] | None:
    """Return (flag, summary) of `ref` in the output of `push --porcelain`."""
    for line in out.decode("utf-8", "replace").splitlines():
        parts = line.split("\t")
        if len(parts) == 3 and len(parts[0]) == 1 and parts[1].rpartition(":")[2] == ref:
            return parts[0], parts[2]
    return None


def _between(name: str) -> str:
    """Return the subsection of a setting: `remote.origin.url` -> `origin`."""
    return name.split(".", 1)[1].rpartition(".")[0]


def _matches(pattern: str, ref: str) -> bool:
    """Say whether one side of a refspec means `ref`."""
    before, star, after = pattern.partition("*")
    if not star:
        return pattern == ref
    return len(ref) >= len(before) + len(after) and ref.startswith(before) and ref.endswith(after)


# --- which one ---------------------------------------------------------------------------------


class Settings:
    """What git's configuration says of remotes and of how decisions travel."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        wanted = r"^(remote\..*\.(url|pushurl|vcs|fetch|mirror)|branch\..*\.remote|decisions\..*)$"
        out = repository.git("config", "-z", "--get-regexp", wanted, check=False).decode("utf-8", "surrogateescape")
        self._values: dict[str, str] = {}
        self._fetches: dict[str, list[str]] = {}
        for item in out.split("\0"):
            name, _, value = item.partition("\n")
            if name:
                self._values[name] = value
            if name.startswith("remote.") and name.endswith(".fetch"):
                self._fetches.setdefault(_between(name), []).append(value)
        places = (
            name for name in self._values if name.startswith("remote.") and not name.endswith((".fetch", ".mirror"))
        )
        self.names: list[str] = list(dict.fromkeys(map(_between, places)))

    def get(self, name: str) -> str:
        """Return the value of `name`, a key in lower case but for what a subsection spells."""
        return self._values.get(name, "")

    def is_set(self, name: str) -> bool:
        return self.get(name).lower() in ("true", "yes", "on", "1")

    def replacing(self, name: str) -> list[str]:
        """Return the settings by which plain git moves our log to that of a remote, or the other way, whatever is lost.

        A mirror has such: `git clone --mirror` fetches all refs into the place of ours, and pushes all likewise.
        """
        found = []
        spared = any(one.startswith("^") and _matches(one[1:], LOG_REF) for one in self._fetches.get(name, ()))
        for one in self._fetches.get(name, ()):
            if not spared and not one.startswith("^") and _matches(one.rpartition(":")[2], LOG_REF):
                found.append(f"remote.{name}.fetch = {one}")
        if self.is_set(f"remote.{name}.mirror"):
            found.append(f"remote.{name}.mirror = true")
        return found

    def default(self) -> str:
        """Return the remote that git would take here: the branch's, then origin, then the only one; "" for none."""
        head = self.repository.try_git("symbolic-ref", "--quiet", "--short", "HEAD")
        branch = head.out.decode("utf-8", "surrogateescape").strip()
        own = self.get(f"branch.{branch}.remote") if branch else ""
        if own in self.names:
            return own
        if "origin" in self.names:
            return "origin"
        return self.names[0] if len(self.names) == 1 else ""

    def remote(self, name: str = "", *, deadline_s: float | None = None) -> Remote:
        """Return the remote called `name`, or the one that git would take. Raises Usage, Refused."""
        name = name or self.default()
        if not name:
            listed = ", ".join(self.names)
            raise Usage(
                what=f"which remote? {listed}" if listed else "this repository has no remote",
                hint="name one." if listed else "add one: `git remote add origin URL`.",
            )
        if name not in self.names:
            listed = ", ".join(self.names)
            raise Usage(
                what=f"there is no remote called `{name[:80]}`",
                hint=f"there is {listed}." if listed else "add it: `git remote add NAME URL`.",
            )
        if self.repository.try_git("check-ref-format", f"{SEEN_REFS}{name}/log").rc != 0:
            raise Refused(
                field="remote",
                what=f"the remote's name `{name[:80]}` can't be part of a ref, in which to keep what was seen of it",
                hint="give it another name: `git remote rename`, or in git's configuration.",
            )
        ref = self.get(f"decisions.{name}.remoteref") or self.get("decisions.remoteref") or LOG_REF
        if self.repository.try_git("check-ref-format", ref).rc != 0 or not ref.startswith("refs/"):
            raise Refused(
                field="decisions.remoteRef",
                what=f"{ref[:80]!r} is no name of a ref",
                hint="it is whole, as in refs/heads/decisions.",
            )
        given = self.get("decisions.timeout")
        timeout_s = float(given) if given.isascii() and given.isdigit() and int(given) else None
        return Remote(self.repository, name, ref, timeout_s=timeout_s, deadline_s=deadline_s)
