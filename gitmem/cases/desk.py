"""The desk: what every use case works with. One repository, its log and cache, who writes, where they stand."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping

from gitmem import __version__
from gitmem.core import dates, entities, ids
from gitmem.errors import Refused
from gitmem.store.readmodel import ReadModel
from gitmem.store.repository import below, locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.drafts import Stamp, Writer
    from gitmem.core.lessons.policies import Policy as LessonPolicy
    from gitmem.core.policy import Policy
    from gitmem.core.secrets import Own
    from gitmem.store import git
    from gitmem.store.cache import Cache
    from gitmem.store.listing import Row
    from gitmem.store.log import Log
    from gitmem.store.repository import Repository
    from gitmem.store.signing import Signing
    from gitmem.sync.heads import Head

#: What wrote an event, in its field `tool`.
TOOL = f"git-decisions/{__version__}"


class Asked:
    """Questions to git that were asked ahead, by name. What nobody took is ended with the block."""

    def __init__(self) -> None:
        self._running: dict[str, git.Process] = {}

    def put(self, name: str, process: git.Process | None) -> None:
        if process is not None:
            self._running[name] = process

    def take(self, name: str) -> git.Process | None:
        """Return the running question, once; None: ask it now."""
        return self._running.pop(name, None)

    def __enter__(self) -> Asked:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        for process in self._running.values():
            process.kill()


class Desk:
    """What a use case works with: the repository, its log and cache, who writes, and from where.

    repository   where git keeps the decisions
    environ      the environment that tells who is writing
    start        the directory that relative paths start from
    long_lived   many calls will follow (a server); libgit2 is worth its start-up then
    """

    def __init__(
        self, repository: Repository, environ: Mapping[str, str], *, start: str = ".", long_lived: bool = False
    ) -> None:
        self.repository = repository
        self.environ = environ
        self.start = start
        self._long_lived = long_lived
        self._log: Log | None = None
        self.model = ReadModel(repository, self.log)
        self._writer: Writer | None = None
        self._policy: tuple[object, Policy | None] | None = None
        self._head: tuple[object, Head | None] = (None, None)

    @classmethod
    def open(cls, start: str = ".", environ: Mapping[str, str] | None = None, *, long_lived: bool = False) -> Desk:
        """Return the desk of the repository around the directory `start`. Raises OutsideRepository."""
        environ = os.environ if environ is None else environ
        return cls(locate(start, environ), environ, start=start, long_lived=long_lived)

    def close(self) -> None:
        self.model.close()

    def log(self) -> Log:
        if self._log is None:
            from gitmem.store.log import open_log

            self._log = open_log(self.repository, long_lived=self._long_lived)
        return self._log

    def cache(self) -> Cache:
        return self.model.current()

    def writer(self, *, agent: str = "", session: str = "", asked: Asked | None = None) -> Writer:
        """Return who is writing, as this process sees it. Raises GitFailed where git has no identity."""
        from gitmem.core.drafts import Writer

        if self._writer is None:
            from gitmem.store import channel, identity

            seen = channel.detect(self.environ)
            self._writer = Writer(
                identity.author(self.repository, asked=asked.take("author") if asked else None),
                seen.channel,
                tool=TOOL,
                agent=seen.agent,
                session_id=seen.session_id,
            )
        base = self._writer
        policy = self.policy()
        base.policy = policy.digest if policy else ""
        if not agent and not session:
            return base
        return Writer(
            base.author,
            base.channel,
            tool=TOOL,
            agent=agent or base.agent,
            session_id=session or base.session_id,
            policy=base.policy,
        )

    @property
    def knows_writer(self) -> bool:
        """Whether `writer` has its answer already, and asks git nothing."""
        return self._writer is not None

    def ask_head(self, asked: Asked) -> None:
        """Start asking git where HEAD is, for `head`; a server only where its files hold something new."""
        from gitmem.store import git

        seen = None
        if self._long_lived:
            from gitmem.sync import heads

            seen = heads.stamp(self.repository)  # before git looks: what it says is of then, or later
            if seen is not None and seen == self._head[0]:
                return
        self._head = (seen, None)
        asked.put("head", self.repository.begin_git(*git.HEAD_WORDS, env=git.RAW))

    def head(self, asked: Asked) -> Head:
        """Return where HEAD is, as it was when `ask_head` looked."""
        seen, head = self._head
        if head is None:
            from gitmem.sync import heads

            head = heads.head(self.repository, asked.take("head"))
            self._head = (seen, head)
        return head

    def stamp(self, cache: Cache) -> Stamp:
        from gitmem.cases.typed import nonce
        from gitmem.core.drafts import Stamp

        return Stamp(cache.clock, dates.of_seconds(time.time()), iter(nonce, ""))

    def policy(self) -> Policy | None:
        """Return what `.decisions.toml` says, or None where there is none. Raises Refused if it can't be followed."""
        top = self.repository.work_tree
        if top is not None and not os.path.lexists(f"{top}/.decisions.toml"):
            return None  # nearly always: nothing is loaded then
        from gitmem.store import policy

        seen = policy.stamp(self.repository)
        if seen is None:
            self._policy = (None, None)
        elif self._policy is None or self._policy[0] != seen:
            self._policy = (seen, policy.read(self.repository))
        return self._policy[1]

    def lesson_policy(self, name: str = "") -> LessonPolicy:
        """Return by which policy lessons fade: the one of this `name`, else this clone's, else this repository's.

        Raises Refused for one that isn't known.
        """
        from gitmem.core.lessons import policies

        where = "--policy"
        if not name:
            where = "decisions.lessonPolicy"
            name = self.repository.try_git("config", "--get", where).out.decode("utf-8", "replace").strip()
        if not name:
            where = ".decisions.toml: lessons.policy"
            policy = self.policy()
            name = policy.lessons if policy else ""
        found = policies.named(name)
        if found is None:
            raise Refused(
                field=where,
                what=f"{name[:80]!r} is no policy",
                hint=f"one of {', '.join(policies.NAMES)}.",
            )
        return found

    def own_rules(self) -> tuple[Own, ...]:
        """Return what this project calls a secret besides what everyone does."""
        policy = self.policy()
        if policy is None:
            return ()
        from gitmem.core import secrets

        return secrets.own_rules(policy.raw)

    def signing(self) -> Signing:
        """Return what signs and checks, with git's settings as they are now."""
        from gitmem.store.signing import Signing

        return Signing(self.repository)

    def signed(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield rows, each signature checked as its row comes; of rows without any, nothing is asked."""
        signing: Signing | None = None
        for row in rows:
            if row.signature is not None:
                signing = signing or self.signing()
                row.checked = signing.of(row.event, row.signature)
            yield row

    def scope(self) -> str:
        """Return the component that the working directory lies in; "" is the whole repository."""
        policy = self.policy()
        return policy.scope_at(self.place()) if policy else ""

    def seen_from(self, *, all_scopes: bool) -> str:
        """Return the scope that a read is made in; with `all_scopes` that of the whole repository, which sees all."""
        return "" if all_scopes else self.scope()

    def place(self) -> str:
        """Return the working directory, from the root of the work tree; "" is the root itself."""
        top = self.repository.work_tree
        return below(os.path.realpath(self.start), top) if top else ""

    def names(self, cache: Cache, name: str, scope: str, *, below: bool = True) -> list[tuple[str, str]]:
        """Return the recorded names of an entity that a read in `scope` sees.

        Of a file that it sees, also those that it had in other components, or before the components were drawn so.
        """
        from gitmem.store import listing

        found = [pair for pair in listing.names_of(cache, name, below=below) if entities.sees(scope, pair[0])]
        policy = self.policy() if entities.file_of(name) and cache.scopes() else None
        own = policy.scope_at(entities.file_of(name)) if policy else ""
        if policy is not None and entities.sees(scope, own):  # the same names as the guard asks
            found += [pair for pair in listing.elsewhere(cache, own, name) if pair not in found]
        return found

    def cache_at(self, as_of: str, known_at: str) -> Cache:
        """Return the cache as of a time (`as_of`), as it was known at one or at a revision of the log (`known_at`)."""
        cache = self.cache()
        if not as_of and not known_at:
            return cache
        from gitmem.store import past

        moment = past.Moment(as_of)
        if len(known_at) == len(dates.of_seconds(0)) and known_at.endswith("Z"):
            moment.known_at = known_at
        elif known_at:
            moment.unknown = past.not_reached(self.repository, cache.tip, self._log_commit(cache, known_at))
        return past.Past(cache, moment)

    def _log_commit(self, cache: Cache, revision: str) -> str:
        """Return the oid of the commit of our log that `revision` names. Raises Refused."""
        try:
            oid = self.commit(revision)
        except Refused:
            raise Refused(
                field="known-at",
                what=f"{revision[:80]!r} is no date, and no commit here",
                hint="a date, or a tip that the log had: `git reflog show refs/decisions/log` lists them.",
            ) from None
        if not self.log().contains(cache.tip, oid):
            raise Refused(
                field="known-at",
                what=f"{revision[:80]!r} is no commit of this log",
                hint="give a tip that the log had: `git reflog show refs/decisions/log` lists them.",
            )
        return oid

    def entity(self, typed: str) -> str:
        """Return the entity path that `typed` means from the working directory; as typed where it is no path."""
        if "\0" in typed:
            raise Refused(field="entity_path", what="it holds a NUL byte")
        return self.repository.relative(typed, self.start)

    def canonical(self, typed: str) -> str:
        try:
            return entities.canonical(self.entity(typed))
        except entities.BadName as error:
            raise Refused(field="entity_path", what=f"{typed[:80]!r} names no entity: {error}") from None

    def id(self, cache: Cache, prefix: str, *, quarantined: bool = False) -> str:
        """Return the one event id that begins with `prefix`; or the name of what is quarantined.

        Raises UnknownId, AmbiguousId.
        """
        from gitmem.store import listing

        if prefix[1:2] == "-" and prefix[:1] in ids.LETTERS:
            prefix = prefix[2:]  # as a recall names what it recalls
        return listing.one_id(cache, prefix, quarantined=quarantined)

    def commit(self, revision: str) -> str:
        """Return the oid of the commit that `revision` names. Raises Refused."""
        result = self.repository.try_git("rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
        oid = result.out.decode("ascii", "replace").strip()
        if result.rc != 0 or not oid:
            raise Refused(field="commit", what=f"{revision[:80]!r} names no commit here")
        return oid
