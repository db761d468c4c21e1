"""Signing events and checking signatures, with `ssh-keygen` and the settings that git has for it.

A signature is made only where a person asked for it (`--sign`): `commit.gpgsign` means nothing here. It is over the
bytes of one event (F28), and it is checked for the author's address, at the time when the event was recorded.

Checking starts a program for each signature (10 ms). So what came out is remembered beside the cache, by what it is a
function of: the event, the signature, and the two files that say which keys are trusted. Nothing else reads it, and
it may be deleted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gitmem.core import signatures
from gitmem.core.events import Event
from gitmem.core.signatures import BAD, GOOD, NAMESPACE, OTHER, REVOKED, UNCHECKED, UNKNOWN, UNTIMELY
from gitmem.errors import GitFailed, SigningFailed
from gitmem.store import git
from gitmem.store.local import Local
from gitmem.store.repository import Repository

#: Git's settings that are asked, in lower case as `git config` names them.
_SETTINGS = r"^(gpg\.ssh\.(program|allowedsignersfile|revocationfile|defaultkeycommand)|user\.signingkey)$"
#: The times of allowed signers, and ours, are UTC: every clone comes to the same answer.
_UTC = {"TZ": "UTC0"}
#: So many signatures are checked before what came out is remembered.
_AT_ONCE = 256


class Checked:
    """What one signature was found to be.

    state      of `core.signatures.STATES`
    principal  who the key is listed for; of `OTHER` it is not the author
    key        the key's fingerprint
    """

    __slots__ = ("key", "principal", "state")

    def __init__(self, state: str, principal: str, key: str) -> None:
        self.state = state
        self.principal = principal
        self.key = key


#: An event, its bytes and its signature's.
Signed = tuple[Event, bytes, bytes]


class Signing:
    """Signs and checks with the settings of one repository, which are read once."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._local = Local(repository)
        found = _settings(repository)
        self._program = found.get("gpg.ssh.program") or "ssh-keygen"
        self._key = found.get("user.signingkey", "")
        self._key_command = found.get("gpg.ssh.defaultkeycommand", "")
        self.allowed = self._place(found.get("gpg.ssh.allowedsignersfile", ""))
        self.revoked = self._place(found.get("gpg.ssh.revocationfile", ""))
        self._trust: bytes | None = None
        self._why_not: str | None = None

    def _place(self, path: str) -> str:
        """Return a file as git finds it: from the top of the work tree where its name begins nowhere else."""
        return os.path.join(self._repository.work_tree or self._repository.git_dir, path) if path else ""

    # --- signing ------------------------------------------------------------------------------

    def sign(self, several: Sequence[tuple[Event, bytes]]) -> dict[str, bytes]:
        """Return the signature of each event, by its id; one process for all. Raises SigningFailed."""
        key = self._key or self._default_key()
        literal = key[5:] if key.startswith("key::") else key if key.startswith(("ssh-", "ecdsa-", "sk-")) else ""
        with _folder() as folder:
            agent = []
            if literal:
                agent = ["-U"]
                place = f"{folder}/key.pub"
                _write(place, literal.encode() + b"\n")
            else:
                place = os.path.expanduser(key)
                if not os.path.exists(place):
                    raise SigningFailed(
                        what=f"the key {place} is not there",
                        hint="user.signingKey names it: a file, or `key::` and a public key that the agent has.",
                    )
            names = [f"{folder}/{event.id}" for event, _ in several]
            for name, (_, body) in zip(names, several):
                _write(name, body)
            result = self._run("-Y", "sign", "-n", NAMESPACE, "-f", place, *agent, *names, asks=True)
            out: dict[str, bytes] = {}
            for name, (event, _) in zip(names, several):
                try:
                    out[event.id] = _read(name + ".sig")
                    signatures.parse(out[event.id])
                except (OSError, signatures.Malformed):
                    raise _unsigned(result, key if not literal else "the key of user.signingKey") from None
        return out

    def _default_key(self) -> str:
        if self._key_command:
            import shlex

            try:
                program, *args = shlex.split(self._key_command)
                process = git.Process(args, environ=self._repository.environ, program=os.path.expanduser(program))
                said = process.communicate().out.decode("utf-8", "replace")
            except (GitFailed, ValueError) as error:
                raise SigningFailed(what=f"gpg.ssh.defaultKeyCommand gave no key ({error})") from None
            first = said.partition("\n")[0].strip()
            if first.startswith(("key::", "ssh-", "ecdsa-", "sk-")):
                return first
            raise SigningFailed(
                what=f"gpg.ssh.defaultKeyCommand (`{self._key_command[:80]}`) gave no key",
                hint="`ssh-add -l` shows what the agent has; user.signingKey names a key.",
            )
        raise SigningFailed(
            what="there is no key to sign with: user.signingKey is not set",
            hint="`git config user.signingKey ~/.ssh/id_ed25519.pub` names one.",
        )

    def doubts(self, several: Sequence[Signed]) -> list[str]:
        """Return a warning for what was signed just now and would not verify here."""
        problem = self.why_not
        if problem:
            return [f"signed, but nobody can check it here: {problem}."]
        wrong = (reason(event, found) for (event, _, _), found in zip(several, self.check(several)))
        return [f"signed, but `git decisions verify` will not take it: {one}." for one in dict.fromkeys(wrong) if one]

    # --- checking -----------------------------------------------------------------------------

    @property
    def why_not(self) -> str:
        """Why nothing can be checked here, in a sentence, or ""."""
        if not self.allowed:
            return "gpg.ssh.allowedSignersFile is not set, so nobody can say whose keys they are"
        for name, path in (("allowedSignersFile", self.allowed), ("revocationFile", self.revoked)):
            if path and not os.path.isfile(path):
                return f"gpg.ssh.{name} is {path}, which is not there"
        import shutil

        if shutil.which(self._program, path=self._repository.environ.get("PATH")) is None:
            return f"the program `{self._program}` is not on PATH"
        return ""

    def of(self, event: Event, data: bytes) -> Checked:
        """Return what the signature of one event is; `UNCHECKED` where that can't be told here."""
        from gitmem.core import canonical

        if self._why_not is None:
            self._why_not = self.why_not
        if self._why_not:
            return Checked(UNCHECKED, "", signatures.parse(data).fingerprint)
        (found,) = self.check([(event, canonical.encode(event.fields), data)])
        return found

    def check(self, several: Sequence[Signed]) -> Iterator[Checked]:
        """Yield what each signature is, in the order given; `why_not` must be ""."""
        for at in range(0, len(several), _AT_ONCE):
            part = several[at : at + _AT_ONCE]
            keys = [self._memo_key(event, data) for event, _, data in part]
            known = self._local.signatures(keys)
            left = [(key, one) for key, one in zip(keys, part) if key not in known]
            found = dict(zip((key for key, _ in left), self._checked([one for _, one in left])))
            if found:
                self._local.remember_signatures({key: (one.state, one.principal) for key, one in found.items()})
            for key, (_, _, data) in zip(keys, part):
                yield found.get(key) or Checked(*known[key], signatures.parse(data).fingerprint)

    def _memo_key(self, event: Event, data: bytes) -> str:
        import hashlib

        if self._trust is None:
            files = [_read(path) if path and os.path.isfile(path) else b"" for path in (self.allowed, self.revoked)]
            self._trust = b"".join(hashlib.sha256(one).digest() for one in (self._program.encode(), *files))
        return hashlib.sha256(b"\0".join((event.id.encode(), self._trust, data))).hexdigest()

    def _checked(self, several: Sequence[Signed]) -> Iterator[Checked]:
        """Yield what each signature is, as many programs at a time as there are processors."""
        width = os.cpu_count() or 1
        with _folder() as folder:
            for at in range(0, len(several), width):
                part = several[at : at + width]
                places = [f"{folder}/{number}.sig" for number in range(len(part))]
                for place, (_, _, data) in zip(places, part):
                    _write(place, data)
                running = [self._begin(*self._verify(event, place)) for place, (event, _, _) in zip(places, part)]
                try:
                    for place, process, one in zip(places, running, part):
                        done = process.communicate(one[1])
                        yield self._good(one) if done.rc == 0 else self._wrong(place, one)
                finally:
                    for process in running:
                        process.kill()

    def _verify(self, event: Event, place: str, *, revoked: bool = True) -> tuple[str, ...]:
        listed = ("-r", self.revoked) if revoked and self.revoked else ()
        who = signatures.address(event.author)
        return ("-Y", "verify", "-n", NAMESPACE, "-f", self.allowed, "-I", who, "-s", place, _at(event), *listed)

    def _good(self, one: Signed) -> Checked:
        return Checked(GOOD, signatures.address(one[0].author), signatures.parse(one[2]).fingerprint)

    def _wrong(self, place: str, one: Signed) -> Checked:
        """Return why a signature didn't verify: asked step by step, for the program only says that it didn't."""
        event, body, data = one
        found = signatures.parse(data)
        fits = self._run("-Y", "check-novalidate", "-n", NAMESPACE, "-s", place, input=body).rc == 0
        if not fits:
            return Checked(BAD, "", found.fingerprint)
        if self.revoked and self._run(*self._verify(event, place, revoked=False), input=body).rc == 0:
            return Checked(REVOKED, signatures.address(event.author), found.fingerprint)
        named = self._run("-Y", "find-principals", "-f", self.allowed, "-s", place, _at(event))
        if named.rc == 0 and named.out.strip():
            return Checked(OTHER, named.out.decode("utf-8", "replace").split()[0], found.fingerprint)
        listed = found.key.encode() in _read(self.allowed).split()
        return Checked(UNTIMELY if listed else UNKNOWN, "", found.fingerprint)

    # --- the program --------------------------------------------------------------------------

    def _begin(self, *args: str, asks: bool = False) -> git.Process:
        env = _UTC if not asks else {}
        try:
            return git.Process(args, environ=self._repository.environ, env=env, feed=True, program=self._program)
        except GitFailed:
            raise SigningFailed(
                what=f"the program `{self._program}` can't be started",
                hint="it comes with OpenSSH 8.2 or newer; gpg.ssh.program names another one.",
            ) from None

    def _run(self, *args: str, input: bytes = b"", asks: bool = False) -> git.Result:
        return self._begin(*args, asks=asks).communicate(input)


def reason(event: Event, found: Checked) -> str:
    """Return what is wrong with a signature, in a sentence; "" where nothing is."""
    who = signatures.address(event.author)
    return {
        BAD: f"its signature does not fit its bytes (key {found.key})",
        UNKNOWN: f"it is signed with a key that the allowed signers don't list: {found.key}",
        OTHER: f"it is signed with a key of {found.principal} that may not sign as {who} in gitmem: {found.key}",
        UNTIMELY: f"it is signed with a key that {who} did not have at that time: {found.key}",
        REVOKED: f"it is signed with a revoked key: {found.key}",
    }.get(found.state, "")


def _at(event: Event) -> str:
    digits = "".join(c for c in event.recorded_at[:19] if c.isdigit())
    return f"-Overify-time={digits}"


def _settings(repository: Repository) -> dict[str, str]:
    """Return git's settings by name; of several values the last one counts."""
    words = ("config", "--null", "--get-regexp", _SETTINGS)
    result = repository.try_git("config", "--type=path", *words[1:])
    if result.rc not in (0, 1):  # a path that can't be expanded: another value must not suffer for it
        result = repository.try_git(*words)
    found: dict[str, str] = {}
    for item in result.out.decode("utf-8", "surrogateescape").split("\0"):
        name, _, value = item.partition("\n")
        if name:
            found[name.lower()] = value
    return found


_AGENT = "`ssh-add -l` shows what the agent has; `ssh-add` gives it a key, `ssh-add -X` unlocks it."


def _unsigned(result: git.Result, key: str) -> SigningFailed:
    """Return what ssh-keygen's failure means."""
    said = " ".join(result.err.decode("utf-8", "replace").split())
    hint = "`ssh-keygen -Y sign -n gitmem -f KEY FILE` shows it by hand."
    for sign, advice in (
        ("usage:", "signing needs OpenSSH 8.2 or newer."),
        ("passphrase", "the passphrase was wrong, or nobody could be asked: `ssh-add` gives the key to an agent."),
        ("agent", _AGENT),
        ("No private key", _AGENT),
        ("Permission", "only you may be able to read a private key."),
    ):
        if sign in said:
            hint = advice
            break
    return SigningFailed(what=f"ssh-keygen and {key}: {said[:200] or f'status {result.rc}'}", hint=hint)


@contextmanager
def _folder() -> Iterator[str]:
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="gitmem-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
