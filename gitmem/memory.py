"""Memory: one method for each thing that people and agents do. The only thing that front ends call.

    memory = Memory.open(".")
    memory.record(Draft("change", {"entity_path": "users.email", "change_type": "add", "reasoning": "..."}))
    memory.prior("users.email")

What comes back are values; `presenters` turns them into the dicts that `--json`, MCP and HTTP share. Every
write goes through `Appender`; every read through the read model, which may catch up a cache under the git
directory and changes nothing else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from gitmem import __version__
from gitmem.core import dates, entities, ids, vocabulary, words
from gitmem.core.drafts import Draft, Stamp, Writer
from gitmem.core.events import Event
from gitmem.core.lineages import entity_key
from gitmem.core.query import Query
from gitmem.errors import AmbiguousId, GitFailed, NoLog, Refused, RuleViolation, UnknownId
from gitmem.store import git, listing
from gitmem.store.cache import Cache
from gitmem.store.listing import Row
from gitmem.store.log import Log, open_log
from gitmem.store.readmodel import ReadModel
from gitmem.store.repository import Repository, locate
from gitmem.store.repository import below as path_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core import rules
    from gitmem.core.attempts import Attempt
    from gitmem.core.policy import Policy
    from gitmem.core.secrets import Hit
    from gitmem.core.verdicts import Judgement
    from gitmem.store.cache import StoredDecision
    from gitmem.store.installation import Step
    from gitmem.store.reviews import Queue
    from gitmem.store.revisits import Due
    from gitmem.store.verifying import Report
    from gitmem.sync import links
    from gitmem.sync.adoption import Adopted
    from gitmem.sync.redaction import Redacted, Redactor

TOOL = f"git-decisions/{__version__}"
#: Events of one bulk commit: large enough that git objects cost nothing, small enough to retry.
CHUNK = 1000


# --- results ---------------------------------------------------------------------------------


class Recorded:
    """What a write did. `rows` are the events as they stand now; `warnings` what the writer should know."""

    __slots__ = ("dry_run", "rows", "warnings")

    def __init__(self, rows: list[Row], warnings: list[str], *, dry_run: bool) -> None:
        self.rows = rows
        self.warnings = warnings
        self.dry_run = dry_run


class Listing:
    """Rows, newest first, that are fetched as they are read."""

    __slots__ = ("entity", "rows")

    def __init__(self, rows: Iterable[Row], entity: str = "") -> None:
        self.rows = rows
        self.entity = entity


class Shown:
    """One event whole."""

    __slots__ = ("closed", "closed_by", "links", "log_commit", "marks", "reviews", "row")

    def __init__(
        self,
        row: Row,
        links: list[Event],
        reviews: list[Event],
        marks: list[Event],
        closed: list[str],
        closed_by: list[str],
        log_commit: str,
    ) -> None:
        self.row = row
        self.links = links
        self.reviews = reviews
        self.marks = marks
        self.closed = closed
        self.closed_by = closed_by
        self.log_commit = log_commit


class Standing:
    """The decisions on an entity and each child, or (entity "") the summary of the repository.

    waiting   how much waits for a person in the summary, and since when the oldest of it does
    """

    __slots__ = (
        "counts",
        "decisions",
        "entity",
        "events",
        "in_head",
        "newer",
        "quarantined",
        "tip",
        "unlinked",
        "waiting",
        "waiting_since",
    )

    def __init__(
        self,
        entity: str,
        decisions: list[StoredDecision],
        counts: dict[str, int],
        *,
        events: int,
        unlinked: int,
        newer: int,
        quarantined: int,
        tip: str,
        in_head: dict[str, bool],
        waiting: tuple[int, str] = (0, ""),
    ) -> None:
        self.waiting, self.waiting_since = waiting
        self.entity = entity
        self.decisions = decisions
        self.counts = counts
        self.events = events
        self.unlinked = unlinked
        self.newer = newer
        self.quarantined = quarantined
        self.tip = tip
        self.in_head = in_head


class Prior:
    """What was tried before. `known` is yes, weak or nothing; `hidden` counts attempts that `--all` would show."""

    __slots__ = ("attempts", "entity", "hidden", "known")

    def __init__(self, entity: str, known: str, attempts: list[Attempt], hidden: int) -> None:
        self.entity = entity
        self.known = known
        self.attempts = attempts
        self.hidden = hidden


class Stale:
    """What is due for another look at `now`, most overdue first: on `entity` and below it, or everywhere."""

    __slots__ = ("entity", "now", "rows")

    def __init__(self, entity: str, rows: list[Due], now: str) -> None:
        self.entity = entity
        self.rows = rows
        self.now = now


class Changesets:
    """The changesets, newest first, as (id, number of events, first and last `recorded_at`)."""

    __slots__ = ("rows",)

    def __init__(self, rows: list[tuple[str, int, str, str]]) -> None:
        self.rows = rows


class Asserted:
    """Which ids are in the log and which are not."""

    __slots__ = ("missing", "present")

    def __init__(self, present: list[str], missing: list[str]) -> None:
        self.present = present
        self.missing = missing


class Steps:
    """What setting up or taking away did, step by step, as (sentence, done now, was so already)."""

    __slots__ = ("dry_run", "notes", "steps")

    def __init__(self, steps: list[tuple[str, bool, bool]], notes: list[str], *, dry_run: bool) -> None:
        self.steps = steps
        self.notes = notes
        self.dry_run = dry_run


class Imported:
    """What an import brought: counts, and what could not be read, by reason, with examples.

    commits read, reverts found among them, landings (a reverted change that came back), events appended and those
    whose source was known
    """

    __slots__ = ("appended", "commits", "dry_run", "known", "landings", "reverts", "skipped", "warnings")

    def __init__(
        self,
        *,
        commits: int,
        reverts: int,
        landings: int,
        appended: int,
        known: int,
        skipped: list[tuple[str, int, list[str]]],
        warnings: list[str],
        dry_run: bool,
    ) -> None:
        self.commits = commits
        self.reverts = reverts
        self.landings = landings
        self.appended = appended
        self.known = known
        self.skipped = skipped
        self.warnings = warnings
        self.dry_run = dry_run


class Linked:
    """The links that were found: (event ids, commit, how)."""

    __slots__ = ("links", "unlinked")

    def __init__(self, links: list[tuple[tuple[str, ...], str, str]], unlinked: int) -> None:
        self.links = links
        self.unlinked = unlinked


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


# --- the use cases ---------------------------------------------------------------------------


class Memory:
    """The decisions of one repository.

    repository   where git keeps them
    environ      the environment that tells who is writing
    """

    def __init__(
        self, repository: Repository, environ: Mapping[str, str], *, start: str = ".", long_lived: bool = False
    ) -> None:
        self.repository = repository
        self.environ = environ
        self.start = start
        self._long_lived = long_lived
        self._log: Log | None = None
        self._model = ReadModel(repository, self._open_log)
        self._writer: Writer | None = None
        self._policy: tuple[object, Policy | None] | None = None

    @classmethod
    def open(cls, start: str = ".", environ: Mapping[str, str] | None = None, *, long_lived: bool = False) -> Memory:
        """Return the memory of the repository around the directory `start`.

        `long_lived`: many calls will follow (a server); libgit2 is worth its start-up then.
        Raises OutsideRepository.
        """
        environ = os.environ if environ is None else environ
        return cls(locate(start, environ), environ, start=start, long_lived=long_lived)

    def close(self) -> None:
        self._model.close()

    def _open_log(self) -> Log:
        if self._log is None:
            self._log = open_log(self.repository, long_lived=self._long_lived)
        return self._log

    def _cache(self) -> Cache:
        return self._model.current()

    # --- writing ------------------------------------------------------------------------------

    def record(
        self, draft: Draft, *, dry_run: bool = False, prepare: Callable[[Cache, Draft], Draft] | None = None
    ) -> Recorded:
        """Append what `draft` says, or refuse it; with `dry_run`, say what would be appended.

        `fields` may hold what people type: an entity path relative to the working directory, id prefixes,
        ISO dates, `commit` (a revision to link to). Raises RuleViolation, Refused, UnknownId, AmbiguousId, LogBusy.

        `prepare(cache, draft)` completes the draft, or refuses it, by the log that it is decided on: asked again
        with each try. What targets several lineages becomes one event for each (ADR 0004), in one commit.
        """
        with self._asking(head=draft.kind == "change") as asked:
            return self._record(draft, asked, dry_run=dry_run, prepare=prepare)

    def _record(
        self,
        draft: Draft,
        asked: Asked,
        *,
        dry_run: bool,
        prepare: Callable[[Cache, Draft], Draft] | None,
    ) -> Recorded:
        from gitmem.core import secrets
        from gitmem.store.writing import Appender
        from gitmem.sync import links

        hits: list[secrets.Hit] = []
        policy = self.policy()
        own = secrets.own_rules(policy.raw) if policy else ()
        draft = secrets.cleared(draft, own, hits=hits)  # first: whatever reads a field may quote it
        fields = dict(draft.fields)
        writer = self.writer(
            agent=_text(fields.pop("agent", "")),
            session=_text(fields.pop("session", "") or fields.pop("session_id", "")),
            asked=asked,
        )
        secrets.check_writer(writer, draft)
        told = [] if draft.allow_secret else secrets.told(hits)
        commit = _text(fields.pop("commit", ""))
        link_to = self._commit(commit) if commit else ""
        about: dict[str, object] = {}
        at_home = False
        if draft.kind == "change":
            typed_scope = fields.pop("scope", None)
            self._complete(fields)
            fields["scope"] = self._scope_of(fields, typed_scope, writer)
            at_home = typed_scope is None
            head = links.head(self.repository, asked.take("head"))
            base = links.base_of(self.repository, head)
            if base:
                fields["base"] = base
            name = _text(fields.get("entity_path"))
            if not link_to and name and links.head_touches(self.repository, name, head):
                link_to = head.oid
                about = links.about(self.repository, link_to, tree_oid=head.tree)
        if link_to and not about:
            about = links.about(self.repository, link_to)
        wanted = draft.with_fields(fields)
        warnings: list[str] = []

        def decide(cache: Cache) -> list[tuple[Event, bytes]]:
            warnings[:] = told
            resolved = self._resolved(cache, wanted)
            if at_home:
                self._follow(cache, resolved)
            if prepare is not None:
                resolved = prepare(cache, resolved)
            stamp = self._stamp(cache)
            appends: list[tuple[Event, bytes]] = []
            for part in self._parts(cache, resolved):
                if part.kind != "change":
                    self._follow(cache, part)
                at = Stamp(stamp.clock + len(appends), stamp.now, stamp.nonces)
                decided = self._decide(cache, part, writer, at)
                warnings.extend(decided.warnings)
                appends += decided.appends
            if link_to:
                targets = sorted(event.id for event, _ in appends)
                link = Draft("link", {"targets": targets, "commit": link_to, "how": "head", **about})
                after = Stamp(max(event.clock for event, _ in appends), stamp.now, stamp.nonces)
                appends += self._link_events(cache, link, writer, after)
            return appends

        if dry_run:
            try:
                cache = self._cache()
            except NoLog:
                cache = Cache.in_memory()
            found = decide(cache)
            rows = [_unsaved(event) for event, _ in found if event.kind != "link"]
            return Recorded(rows, warnings, dry_run=True)
        entry = Appender(self._model, self._open_log).append(decide)
        assert entry is not None
        wrote = [event.id for event, _ in entry.events if event.kind != "link"]
        if link_to:
            self._note([link_to])
        elif draft.kind in ("review", "mark"):
            self._note_again(event for event, _ in entry.events)
        return Recorded(listing.by_ids(self._cache(), wrote), warnings, dry_run=False)

    def _asking(self, *, head: bool) -> Asked:
        """Start the questions to git that a write will have answered, while this process loads the rules."""
        asked = Asked()
        if self._writer is None:
            from gitmem.store import identity

            asked.put("author", identity.begin(self.repository, self.environ))
        if head:
            asked.put("head", self.repository.begin_git(*git.HEAD_WORDS, env=git.RAW))
        return asked

    def writer(self, *, agent: str = "", session: str = "", asked: Asked | None = None) -> Writer:
        """Return who is writing, as this process sees it. Raises GitFailed where git has no identity."""
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

    def _stamp(self, cache: Cache) -> Stamp:
        return Stamp(cache.clock, dates.of_seconds(time.time()), iter(_nonce, ""))

    def _complete(self, fields: dict[str, object]) -> None:
        """Bring what people type into the format's terms: paths, times."""
        for name in ("entity_path", "renamed_from"):
            typed = fields.get(name)
            if isinstance(typed, str) and typed:
                fields[name] = self._entity(typed)
        for name in ("valid_from", "valid_to"):
            typed = fields.get(name)
            if isinstance(typed, str) and typed:
                fields[name] = _instant(name, typed)
        expires = _text(fields.get("expires_when"))
        if expires.startswith("entity:") and expires.endswith(":changes"):
            path = expires.removeprefix("entity:").removesuffix(":changes")
            fields["expires_when"] = f"entity:{self._entity(path)}:changes"
        due = fields.get("revisit_after")
        if isinstance(due, str) and due:
            try:
                fields["revisit_after"] = dates.due(due)
            except dates.BadTime as error:
                raise Refused(field="revisit_after", what=str(error)) from None
        diff = fields.get("diff")
        if isinstance(diff, str) and fields.get("change_type") in ("reject", "revert") and "fingerprint" not in fields:
            from gitmem.core import fingerprint

            fields["fingerprint"] = fingerprint.sketch(fingerprint.added_lines(diff))

    # --- policy and scope ---------------------------------------------------------------------

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

    def scope(self) -> str:
        """Return the component that the working directory lies in; "" is the whole repository."""
        policy = self.policy()
        return policy.scope_at(self._place()) if policy else ""

    def _seen_from(self, *, all_scopes: bool) -> str:
        """Return the scope that a read is made in; with `all_scopes` that of the whole repository, which sees all."""
        return "" if all_scopes else self.scope()

    def _place(self) -> str:
        """Return the working directory, from the root of the work tree; "" is the root itself."""
        top = self.repository.work_tree
        return path_below(os.path.realpath(self.start), top) if top else ""

    def _scope_of(self, fields: Mapping[str, object], typed: object, writer: Writer) -> str:
        """Return the scope of a change: the component of the entity's file, else of the working directory.

        What is `typed` must be a component that holds the working directory and doesn't take a file out of its own,
        or the writer a person. Raises RuleViolation.
        """
        policy = self.policy()
        place, name = self._place(), _text(fields.get("entity_path"))
        own = ""
        if policy:
            top, path = self.repository.work_tree, entities.place_of(name)
            is_there = bool(top and path and os.path.lexists(f"{top}/{path}"))
            own = policy.scope_of(name, place, is_there=is_there)
        if typed is None:
            return own
        wanted = _text(typed).strip()
        if wanted in ("", ".", "/", ":/"):
            scope, holds = "", own == ""
        else:
            component = policy.named(wanted) if policy else None
            if component is None:
                nearest = policy.nearest(wanted) if policy else ""
                raise RuleViolation(
                    what=f"--scope: `{wanted[:80]}` is no component of this repository",
                    hint=f"did you mean `{nearest}`?" if nearest else "[components] in .decisions.toml names them.",
                )
            at_home = policy.scope_at(entities.place_of(name)) if policy else ""
            scope = component.scope
            holds = component.holds(place) and at_home in ("", scope)
        if not holds and not writer.is_person:
            raise RuleViolation(
                what=f"--scope: `{wanted or '.'}` is not where this belongs ({own or 'the whole repository'})",
                hint="leave it out; only a person, in a terminal, records for another component.",
            )
        return scope

    def _follow(self, cache: Cache, draft: Draft) -> None:
        """Give a supersede the scope of what it names on its own entity, and a review or mark that of its targets.

        Wherever the writer stands: what is said of a component's decisions is as much its own as they are.
        """
        fields = draft.fields
        if draft.kind != "change":
            targets = [cache.event(event_id) for event_id in _strings(fields.get("targets"))]
            scopes = {event.scope for event in targets if event}
            if len(scopes) == 1:
                fields["scope"] = scopes.pop()
            return
        if fields.get("change_type") == "supersede":
            for event_id in _strings(fields.get("supersedes")):
                event = cache.event(event_id)
                if event and entity_key(event.entity_path) == entity_key(_text(fields.get("entity_path"))):
                    fields["scope"] = event.scope
                    return

    def _at_home(self, drafts: Iterable[Draft]) -> Iterable[Draft]:
        """Yield drafts of history, each in the component of its entity's file."""
        policy = self.policy()
        for draft in drafts:
            name = entities.place_of(_text(draft.fields.get("entity_path")))
            if policy and name and not draft.fields.get("scope"):
                draft.fields["scope"] = policy.scope_at(name)
            yield draft

    def _names(self, cache: Cache, name: str, scope: str, *, below: bool = True) -> list[tuple[str, str]]:
        """Return the recorded names of an entity that a read in `scope` sees."""
        return [pair for pair in listing.names_of(cache, name, below=below) if entities.sees(scope, pair[0])]

    def _cache_at(self, as_of: str, known_at: str) -> Cache:
        """Return the cache as of a time (`as_of`), as it was known at one or at a revision of the log (`known_at`)."""
        cache = self._cache()
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
            oid = self._commit(revision)
        except Refused:
            raise Refused(
                field="known-at",
                what=f"{revision[:80]!r} is no date, and no commit here",
                hint="a date, or a tip that the log had: `git reflog show refs/decisions/log` lists them.",
            ) from None
        if not self._open_log().contains(cache.tip, oid):
            raise Refused(
                field="known-at",
                what=f"{revision[:80]!r} is no commit of this log",
                hint="give a tip that the log had: `git reflog show refs/decisions/log` lists them.",
            )
        return oid

    def _entity(self, typed: str) -> str:
        """Return the entity path that `typed` means from the working directory; as typed where it is no path."""
        if "\0" in typed:
            raise Refused(field="entity_path", what="it holds a NUL byte")
        return self.repository.relative(typed, self.start)

    def _canonical(self, typed: str) -> str:
        try:
            return entities.canonical(self._entity(typed))
        except entities.BadName as error:
            raise Refused(field="entity_path", what=f"{typed[:80]!r} names no entity: {error}") from None

    def _resolved(self, cache: Cache, draft: Draft) -> Draft:
        """Return `draft` with whole ids in place of the prefixes that people type."""
        fields = dict(draft.fields)
        for name in ("supersedes", "targets"):
            given = fields.get(name)
            if isinstance(given, (list, tuple)) and given:
                fields[name] = sorted({self._id(cache, str(prefix)) for prefix in given})
        return draft.with_fields(fields)

    def _id(self, cache: Cache, prefix: str) -> str:
        """Return the one event id that begins with `prefix`. Raises UnknownId, AmbiguousId."""
        if not ids.is_prefix(prefix):
            raise UnknownId(id=repr(prefix[:80]), hint="an id is 4 to 64 hex digits; `git decisions log` lists them.")
        found = cache.ids(prefix)
        if not found:
            raise UnknownId(id=prefix)
        if len(found) > 1:
            raise AmbiguousId(
                id=prefix, count=len(found), candidates=", ".join(one[:12] for one in found[:8]), ids=found
            )
        return found[0]

    def _commit(self, revision: str) -> str:
        """Return the oid of the commit that `revision` names. Raises Refused."""
        result = self.repository.try_git("rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
        oid = result.out.decode("ascii", "replace").strip()
        if result.rc != 0 or not oid:
            raise Refused(field="commit", what=f"{revision[:80]!r} names no commit here")
        return oid

    def _decide(self, cache: Cache, draft: Draft, writer: Writer, stamp: Stamp) -> rules.Decided:
        from gitmem.core import rules

        wanted = rules.wanted(draft)
        judgement = self._judged(cache, wanted)
        try:
            return rules.decide(judgement, draft, writer, stamp)
        except RuleViolation as refusal:
            if not refusal.fields.get("once"):
                raise
            from gitmem.store.local import Local

            local, asked = Local(self.repository), _asked(draft, writer)
            if not local.was_refused(asked):
                local.refused(asked)
                raise
        return rules.decide(judgement, draft, writer, stamp, acknowledged=True)

    def _judged(self, cache: Cache, wanted: rules.Wanted) -> Judgement:
        from gitmem.core.verdicts import judge

        components: set[int] = set()
        for scope, name, below in wanted.names:
            key = entity_key(name)
            pairs = [(scope, key)]
            if below:
                pairs += cache.names_below(key, scope)
            components |= cache.components_of(pairs)
        for event_id in wanted.ids:
            component = cache.component_of_event(event_id)
            if component is not None:
                components.add(component)
        found = cache.component_events(components)
        have = {event.id for event in found}
        for event_id in wanted.ids:  # events of no component (links) can be targets too
            if event_id not in have:
                event = cache.event(event_id)
                if event is not None:
                    found.append(event)
        return judge(found, cache.outside)

    def _parts(self, cache: Cache, draft: Draft) -> list[Draft]:
        if draft.kind == "change":
            return [draft]
        from gitmem.core import reviews

        return reviews.parts(draft, cache.component_of_event)

    # --- reviews ------------------------------------------------------------------------------

    @property
    def is_person(self) -> bool:
        """Whether it is a person who writes, as this process sees it."""
        return self.writer().is_person

    def review(self, *, everything: bool = False, all_scopes: bool = False) -> Queue:
        """Return what waits for a person, with what deciding it would change; with `everything`, all proposals."""
        from gitmem.store import reviews

        scope = self._seen_from(all_scopes=all_scopes)
        return reviews.queue(self._cache(), everything=everything, scope=scope)

    def ratify_all(
        self, token: str, reason: str, *, everything: bool = False, all_scopes: bool = False, dry_run: bool = False
    ) -> Recorded:
        """Ratify what `review` listed under `token`, all or none. Raises RuleViolation where the list has changed."""
        from gitmem.store import reviews

        scope = self._seen_from(all_scopes=all_scopes)

        def prepare(cache: Cache, draft: Draft) -> Draft:
            found = reviews.queue(cache, everything=everything, scope=scope)
            return draft.with_fields({**draft.fields, "targets": reviews.ratifiable(found, token)})

        return self.record(Draft("review", {"action": "ratify", "reason": reason}), dry_run=dry_run, prepare=prepare)

    def resolve(self, entity: str, keep: str, reason: str, *, dry_run: bool = False) -> Recorded:
        """Settle what is contested on `entity`, under any name it had, by keeping one side. Raises RuleViolation."""
        from gitmem.store import reviews

        name = self._canonical(entity)
        person = self.is_person  # the guard tells anyone else that it is not theirs, whatever they would keep

        def prepare(cache: Cache, draft: Draft) -> Draft:
            if person:
                reviews.check_side(cache, name, _strings(draft.fields["targets"])[0])
            return draft

        fields: dict[str, object] = {"action": "resolve", "targets": [keep], "reason": reason}
        return self.record(Draft("review", fields), dry_run=dry_run, prepare=prepare)

    def _link_events(self, cache: Cache, draft: Draft, writer: Writer, stamp: Stamp) -> list[tuple[Event, bytes]]:
        """Return the event of a link. A link decides no verdict, so there is nothing to judge."""
        from gitmem.core import rules

        return list(rules.link(draft, writer, stamp).appends)

    # --- reading ------------------------------------------------------------------------------

    def log(self, query: Query) -> Listing:
        """Return the events that `query` asks for, newest first. Raises NoLog."""
        cache = self._cache_at(query.as_of, query.known_at)
        self._narrow(query)
        return Listing(listing.select(cache, query), query.entity)

    def search(self, text: str, query: Query) -> Listing:
        """Return the events that hold the words of `text`, best first."""
        cache = self._cache_at(query.as_of, query.known_at)
        self._narrow(query)
        return Listing(listing.by_word(cache, text, query))

    def _narrow(self, query: Query) -> None:
        query.scope = self._seen_from(all_scopes=query.all_scopes)
        if query.entity:
            query.entity = self._canonical(query.entity)
        if query.path:
            query.path = self._canonical(query.path)
        if query.commit and not (
            len(query.commit) == self.repository.form.hex_size and ids.is_prefix(query.commit[:64])
        ):
            query.commit = self._commit(query.commit)

    def show(self, prefix: str) -> Shown:
        """Return one event whole. Raises UnknownId, AmbiguousId, NoLog."""
        from gitmem.core.verdicts import judge

        cache = self._cache()
        event_id = self._id(cache, prefix)
        row = listing.by_ids(cache, [event_id])[0]
        referring = cache.referring(event_id)
        closed: list[str] = []
        closed_by: list[str] = []
        component = cache.component_of_event(event_id)
        if component is not None:
            judgement = judge(cache.component_events([component]), cache.outside)
            closed = sorted(judgement.closes(event_id))
            closed_by = sorted(judgement.closed_by(event_id))
        return Shown(
            row,
            cache.links_of(event_id),
            [event for event in referring if event.kind == "review"],
            [event for event in referring if event.kind in ("mark", "override", "redact")],
            closed,
            closed_by,
            cache.log_commit(event_id),
        )

    def status(
        self, entity: str | None = None, *, as_of: str = "", known_at: str = "", all_scopes: bool = False
    ) -> Standing:
        """Return the decisions on `entity` and what lies below it, worst first; without one, the summary."""
        from gitmem.store import reviews

        cache = self._cache_at(as_of, known_at)
        scope = self._seen_from(all_scopes=all_scopes)
        name = self._canonical(entity) if entity else ""
        if name:
            decisions = cache.decisions_of(self._names(cache, name, scope))
        else:
            counts, decisions = cache.counts(scope), cache.decisions_worst(20, scope)
        if name:
            counts = {}
            for decision in decisions:
                counts[decision.verdict] = counts.get(decision.verdict, 0) + 1
        decisions.sort(key=_worst_first)
        return Standing(
            name,
            decisions,
            counts,
            events=0 if name else cache.event_count(scope),
            unlinked=0 if cache.counted[0] else cache.unlinked_count(),
            newer=_number(cache.meta("newer")),
            quarantined=cache.quarantined(),
            tip=cache.tip,
            in_head=self._in_head(decisions),
            waiting=(0, "") if name or cache.counted[0] else reviews.length(cache, scope),
        )

    def _in_head(self, decisions: Sequence[StoredDecision]) -> dict[str, bool]:
        """Say of each linked commit that decides something whether HEAD reaches it. One git, if any."""
        commits = sorted({commit for decision in decisions for commit in decision.commits})
        if not commits:
            return {}
        result = self.repository.try_git(
            "rev-list",
            "--no-walk=unsorted",
            "--stdin",
            input="".join(f"{c}\n" for c in commits).encode() + b"--not\nHEAD\n",
        )
        if result.rc != 0:  # a commit is gone, or HEAD is unborn: ask one by one
            return {commit: self._reaches(commit) for commit in commits}
        # --no-walk prints what was named and is not excluded
        outside = set(result.out.decode("ascii", "replace").split())
        return {commit: commit not in outside for commit in commits}

    def _reaches(self, commit: str) -> bool:
        return self.repository.try_git("merge-base", "--is-ancestor", commit, "HEAD").rc == 0

    def prior(
        self,
        entity: str | None = None,
        *,
        about: str | None = None,
        content: str | None = None,
        everything: bool = False,
        window_s: int | None = None,
        as_of: str = "",
        known_at: str = "",
        all_scopes: bool = False,
    ) -> Prior:
        """Return what was tried before on `entity` and below it, and on what `about` speaks of."""
        from gitmem.core import attempts

        cache = self._cache_at(as_of, known_at)
        scope = self._seen_from(all_scopes=all_scopes)
        window = attempts.WINDOW_S if window_s is None else window_s
        name = self._canonical(entity) if entity else ""
        found: list[Attempt] = []
        if name:
            found = self._attempts(cache, self._names(cache, name, scope), window)
            for attempt in found:
                attempt.because = _because(name, attempt.event)
        if content:
            found += self._content(cache, content, window, {attempt.event.id for attempt in found}, scope)
        if about:
            found += self._about(cache, about, window, {attempt.event.id for attempt in found}, scope)
        shown = [a for a in found if everything or a.confidence in ("exact", "proximity_high")]
        return Prior(name, attempts.known(shown), shown, len(found) - len(shown))

    def _attempts(self, cache: Cache, names: Sequence[tuple[str, str]], window_s: int) -> list[Attempt]:
        from gitmem.core import attempts
        from gitmem.core.verdicts import judge

        wanted = set(names)
        numbers = cache.components_of(names)
        found = cache.component_events(numbers)
        if not found:
            return []
        return attempts.of(
            judge(found, cache.outside),
            found,
            lambda event: (event.scope, entity_key(event.entity_path)) in wanted,
            window_s=window_s,
            hidden=listing.hidden(cache, numbers),
        )

    def _content(self, cache: Cache, text: str, window_s: int, have: set[str], scope: str) -> list[Attempt]:
        """Return the closed attempts whose lines `text` brings back, the largest share first."""
        from gitmem.core import fingerprint

        marks = fingerprint.marks(fingerprint.added_lines(text))
        found: list[Attempt] = []
        for closing, _ in cache.closings_like(marks):
            share = fingerprint.share_of_marks(closing.fields.get("fingerprint"), marks)
            if share < SHARE_FLOOR or closing.id in have or not entities.sees(scope, closing.scope):
                continue
            for attempt in self._attempts(cache, [(closing.scope, entity_key(closing.entity_path))], window_s):
                if attempt.closing is not None and attempt.closing.id == closing.id and closing.id not in have:
                    have.add(closing.id)
                    attempt.match = "content"
                    attempt.score = share
                    attempt.because = f"{share} % of the lines that were taken back are in this text"
                    found.append(attempt)
        return found

    def _about(self, cache: Cache, text: str, window_s: int, have: set[str], scope: str) -> list[Attempt]:
        """Return the attempts whose words `text` shares, best first; below half of its words none."""
        asked = words.terms(text)
        if not asked:
            return []
        rows = listing.by_word(cache, text, Query(limit=50, scope=scope))
        found: list[Attempt] = []
        for row in rows:
            held = {
                *words.terms(
                    " ".join((row.event.entity_path, row.event.approach, _text(row.event.fields.get("reasoning"))))
                )
            }
            shared = [word for word in asked if any(other.startswith(word) for other in held)]
            score = 100 * len(shared) // len(asked)
            if score < WORDS_FLOOR:
                continue
            for attempt in self._attempts(cache, [(row.event.scope, entity_key(row.event.entity_path))], window_s):
                mine = (attempt.opening, attempt.closing)
                if attempt.event.id in have or row.event.id not in [event.id for event in mine if event]:
                    continue
                have.add(attempt.event.id)
                attempt.match = "words"
                attempt.score = score
                attempt.because = f"{len(shared)} of {len(asked)} words: {', '.join(shared[:8])}"
                found.append(attempt)
        found.sort(key=lambda attempt: (-(attempt.score or 0), attempt.order))
        return found

    def blame(self, entity: str, *, as_of: str = "", known_at: str = "", all_scopes: bool = False) -> Listing:
        """Return the newest change of `entity`, under every name it had; nothing where nobody recorded it."""
        cache = self._cache_at(as_of, known_at)
        scope = self._seen_from(all_scopes=all_scopes)
        name = self._canonical(entity)
        found = listing.newest_change(cache, self._names(cache, name, scope, below=False))
        return Listing([found] if found else [], name)

    def stale(
        self, entity: str | None = None, *, flags: Sequence[str] = (), all_scopes: bool = False, limit: int = 0
    ) -> Stale:
        """Return what is due for another look, most overdue first; with `flags`, only what is so flagged."""
        from gitmem.store import revisits
        from gitmem.store.libraries import Libraries

        cache = self._cache()
        scope = self._seen_from(all_scopes=all_scopes)
        name = self._canonical(entity) if entity else ""
        now = dates.of_seconds(time.time())
        names = self._names(cache, name, scope) if name else None
        found = revisits.due(cache, Libraries(self.repository), names, scope, now)
        if flags:
            found = [one for one in found if any(signal.flag in flags for signal in one.signals)]
        return Stale(name, found[:limit] if limit else found, now)

    def changeset(self, changeset_id: str | None = None, query: Query | None = None) -> Listing | Changesets:
        """Return the events of one changeset, oldest first, or all changesets."""
        cache = self._cache()
        query = query or Query()
        if changeset_id is None:
            scope = self._seen_from(all_scopes=query.all_scopes)
            return Changesets(cache.changesets(since=query.since, until=query.until, limit=query.limit, scope=scope))
        query.changeset = changeset_id
        self._narrow(query)
        return Listing(list(listing.select(cache, query))[::-1])

    def assert_ids(self, prefixes: Sequence[str]) -> Asserted:
        """Say which of some ids are in the log. A prefix counts where it fits one event."""
        try:
            cache = self._cache()
        except NoLog:
            return Asserted([], list(prefixes))
        present, missing = [], []
        for prefix in prefixes:
            found = cache.ids(prefix) if ids.is_prefix(prefix) else []
            if len(found) == 1:
                present.append(found[0])
            else:
                missing.append(prefix)
        return Asserted(present, missing)

    def notices(self) -> list[str]:
        """Return what a reader should be told besides the answer: quarantined events, newer ones."""
        cache = self._model.opened
        if cache is None:
            return []
        out = []
        quarantined = cache.quarantined()
        if quarantined:
            out.append(f"{_count(quarantined, 'event')} can't be read and left out (`git decisions verify` names them)")
        newer = _number(cache.meta("newer"))
        if newer:
            out.append(f"{_count(newer, 'event')} newer than this gitmem")
        return out

    # --- the log as a whole -------------------------------------------------------------------

    def verify(self, *, since: str | None = None, full: bool = False, allow_missing: bool = False) -> Report:
        """Check the log: every object and every event, or what came after `since`.

        `since` is a revision of the log that must be below the tip (a checkpoint); with `full` the whole log
        is read all the same. `allow_missing`: no log is no finding.
        """
        from gitmem.store import verifying

        return verifying.verify(
            self.repository, self._open_log(), self._model, since=since, full=full, allow_missing=allow_missing
        )

    def redact(self, prefix: str, reason: str, *, mode: str = "plain", dry_run: bool = False) -> Redacted:
        """Take the texts of one event, and of all its copies, out of the log for good; a tombstone stays.

        `mode` is how much is hidden, of `REDACTION_MODES`. A person's alone. Raises RuleViolation, UnknownId,
        AmbiguousId, NewerFormat, Incomplete; nothing was changed then.
        """
        self._check_reason(reason)
        return self._redactor().redact(prefix, mode, reason, dry_run=dry_run)

    def expunge(self, before: str, reason: str, *, dry_run: bool = False) -> Redacted:
        """Take the texts of all events recorded before `before` out of the log, but for what still decides.

        Raises as `redact` does.
        """
        self._check_reason(reason)
        return self._redactor().expunge(_instant("before", before), reason, dry_run=dry_run)

    def _check_reason(self, reason: str) -> None:
        """Refuse a reason that holds a secret itself: whoever takes one out may well quote it."""
        from gitmem.core import secrets

        policy = self.policy()
        secrets.cleared(Draft("redact", {"reason": reason}), secrets.own_rules(policy.raw) if policy else ())

    def adopt(self, tip: str, *, seen: str = "", remote: str = "the remote") -> Adopted:
        """Bring the log that ends in `tip` into ours, though it was rewritten, once that is proved.

        `seen` is what was last seen of where it comes from. Raises RemoteRewound where it is something else than a
        redaction, BrokenHistory or Incomplete where it is not sound; nothing was changed then.
        """
        from gitmem.sync import adoption

        return adoption.adopt(self._model, self._open_log(), tip, seen=seen, remote=remote, renote=self._renote_all)

    def _redactor(self) -> Redactor:
        from gitmem.sync.redaction import Redactor

        writer = self.writer()

        def decide(cache: Cache, draft: Draft) -> rules.Decided:
            return self._decide(cache, draft, writer, self._stamp(cache))

        return Redactor(self._model, self._open_log(), decide, self._renote_all)

    def _renote_all(self) -> None:
        """Build the notes anew wherever there are any of ours, shown or not."""
        from gitmem.sync import notes

        ref = notes.ref_name(self.repository)
        if self.repository.try_git("rev-parse", "-q", "--verify", ref).rc == 0 and notes.is_free(self.repository):
            cache = self._cache()
            notes.rebuild(self.repository, {commit: self._note_of(cache, commit) for commit in cache.linked_commits()})

    def rebuild(self) -> Standing:
        """Throw the cache and the notes away and build them again; finish what a redaction left to do."""
        self._model.rebuild()
        self._renote()
        from gitmem.sync import purge

        if purge.is_pending(self.repository):
            self._redactor().finish()
        return self.status()

    def init(self, *, hooks: bool = True, notes: bool = True, dry_run: bool = False) -> Steps:
        """Set this repository up: the log's root, hooks, notes. Saying what was so already; again is a no-op."""
        from gitmem.store import installation
        from gitmem.store.writing import Appender

        there = self._open_log().tip() is not None
        steps = [("start the log at refs/decisions/log", not there and not dry_run, there)]
        if not there and not dry_run:
            Appender(self._model, self._open_log).begin()
        more, remarks = self._take(installation.plan(self.repository, hooks=hooks, notes=notes), dry_run=dry_run)
        if not dry_run and notes:
            self._renote()
        return Steps(steps + more, remarks, dry_run=dry_run)

    def _take(self, plan: Iterable[Step], *, dry_run: bool) -> tuple[list[tuple[str, bool, bool]], list[str]]:
        steps: list[tuple[str, bool, bool]] = []
        remarks: list[str] = []
        for step in plan:
            already = step.done
            if not already and not dry_run:
                step.apply()
            steps.append((step.sentence, step.done and not already, already))
            if step.remark:
                remarks.append(step.remark)
        return steps, remarks

    def uninstall(self, *, dry_run: bool = False) -> Steps:
        """Take away what `init` set up and what was derived; the log itself stays, unless it is empty."""
        from gitmem.store import installation
        from gitmem.sync import purge

        steps, remarks = [], []
        for step in installation.plan_removal(self.repository):
            if not dry_run:
                step.undo()
            steps.append((step.sentence, not dry_run, False))
            if step.remark:
                remarks.append(step.remark)
        log = self._open_log()
        tip = log.tip()
        if purge.is_pending(self.repository) and not dry_run:
            self._redactor().finish()
        is_pending = purge.is_pending(self.repository)
        self._model.close()
        if tip == self.repository.form.root:
            if not dry_run:
                self.repository.git("update-ref", "-d", "refs/decisions/log", tip)
            steps.append(("remove the empty log refs/decisions/log", not dry_run, False))
        elif tip is not None:
            remarks.append("the log stays (to delete it for good: `git update-ref -d refs/decisions/log`)")
        if is_pending:
            remarks.append(
                f"{self.repository.local_dir} stays: it lists what a redaction has still to remove; "
                "`git decisions rebuild` goes on with that, then uninstall again"
            )
        elif os.path.isdir(self.repository.local_dir):
            if not dry_run:
                import shutil

                shutil.rmtree(self.repository.local_dir, ignore_errors=True)
            steps.append((f"remove the cache in {self.repository.local_dir}", not dry_run, False))
        return Steps(steps, remarks, dry_run=dry_run)

    # --- what history already knows ------------------------------------------------------------

    def import_git(
        self,
        *,
        since: str | None = None,
        dry_run: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Imported:
        """Append what the repository's own history says was tried and reverted. Again appends nothing new."""
        from gitmem.core import secrets
        from gitmem.importers import git as importer

        hits: list[secrets.Hit] = []
        try:
            known: set[str] = self._cache().sources("git:")
        except NoLog:
            known = set()
        tell = progress or (lambda what, done, total: None)
        reading = importer.read(self.repository.git_dir, since=since, known_sources=known, progress=tell)
        try:
            if dry_run:
                policy = self.policy()
                own = secrets.own_rules(policy.raw) if policy else ()
                appended = sum(1 for _ in secrets.cleared_history(reading, own, hits))
            else:
                appended = self.append_history(reading, channel="import", progress=progress, hits=hits)
        finally:
            reading.close()
        summary = reading.summary
        return Imported(
            commits=summary.commits,
            reverts=summary.reverts,
            landings=summary.again,
            appended=appended,
            known=summary.known,
            skipped=[(reason, skipped.count, list(skipped.examples)) for reason, skipped in summary.skipped.items()],
            warnings=[*summary.warnings, *secrets.counted(hits)],
            dry_run=dry_run,
        )

    def append_history(
        self,
        drafts: Iterable[Draft],
        *,
        channel: str = "import",
        progress: Callable[[str, int, int], None] | None = None,
        hits: list[Hit] | None = None,
    ) -> int:
        """Append many drafts with a `source`, in commits of `CHUNK` events; those that are known are passed over.

        Returns how many were appended. Interrupted, what was appended stays, and going on appends the rest.
        A marker stands in the place of each secret; what was found goes into `hits`.
        """
        from gitmem.core import secrets
        from gitmem.store.bulk import Bulk

        base = self.writer()
        writer = Writer(
            base.author, channel, tool=TOOL, agent=base.agent, session_id=base.session_id, policy=base.policy
        )
        bulk = Bulk(self._model, self._open_log, writer, CHUNK, iter(_nonce, ""))
        policy = self.policy()
        own = secrets.own_rules(policy.raw) if policy else ()
        clean = secrets.cleared_history(drafts, own, [] if hits is None else hits)
        return bulk.append(self._at_home(clean), progress)

    def join(self, tip: str) -> str:
        """Bring the log that ends in the commit `tip` (its objects are here) into ours; return the new tip."""
        from gitmem.sync import joins

        return joins.join(self._model, self._open_log(), tip)

    # --- links and notes ------------------------------------------------------------------------

    def link(self, *, scan: bool = False) -> Linked:
        """Find the commits of events that have none yet, as the hooks would have.

        Looks at what was recorded on this branch (on a detached HEAD: in this worktree); with `scan`, everywhere.
        """
        from gitmem.sync import links

        cache = self._cache()
        place = None if scan else self._here(links.head(self.repository))
        drafts = links.scan(
            self.repository,
            self._unlinked(cache, place),
            self._ids_on(cache),
            linked=self._linked_to(cache),
            since=self._scanned(cache),
        )
        return self._append_links(drafts)

    def after_commit(self) -> int:
        """Link what was recorded for the commit that was just made (post-commit hook); returns how many links."""
        from gitmem.sync import links

        try:
            cache = self._cache()
        except NoLog:
            return 0
        head = links.head(self.repository)
        drafts = links.after_commit(
            self.repository,
            self._unlinked(cache, self._here(head)),
            self._ids_on(cache),
            linked=self._linked_to(cache),
            at=head,
        )
        return len(self._append_links(drafts).links)

    def after_rewrite(self, pairs: list[tuple[str, str]], how: str) -> int:
        """Carry links from rewritten commits to what took their place (post-rewrite hook)."""
        from gitmem.sync import links

        try:
            cache = self._cache()
        except NoLog:
            return 0
        drafts = links.after_rewrite(
            self.repository, pairs, how, self._linked_to(cache), self._unlinked(cache), self._ids_on(cache)
        )
        return len(self._append_links(drafts).links)

    def _here(self, head: links.Head) -> str:
        """Return the branch, or on a detached HEAD the worktree, as the bases of events name it."""
        from gitmem.sync import links

        base = links.base_of(self.repository, head)
        return _text(base.get("branch")) or _text(base.get("worktree"))

    def _append_links(self, drafts: Sequence[Draft]) -> Linked:
        done: list[tuple[tuple[str, ...], str, str]] = []
        if drafts:
            from gitmem.store.writing import Appender

            writer = self.writer()

            def decide(cache: Cache) -> list[tuple[Event, bytes]]:
                done.clear()
                out: list[tuple[Event, bytes]] = []
                stamp = self._stamp(cache)
                for draft in drafts:
                    # Another process may have written the same link while we waited for the lock.
                    commit = _text(draft.fields["commit"])
                    have = set(cache.linked_to(commit))
                    targets = [t for t in _strings(draft.fields["targets"]) if t not in have]
                    if not targets:
                        continue
                    fields = {**draft.fields, "targets": targets}
                    at = Stamp(max([stamp.clock, *(event.clock for event, _ in out)]), stamp.now, stamp.nonces)
                    out += self._link_events(cache, draft.with_fields(fields), writer, at)
                    done.append((tuple(targets), commit, _text(fields.get("how"))))
                return out

            Appender(self._model, self._open_log).append(decide)
            self._note([commit for _, commit, _ in done])
        return Linked(done, self._cache().unlinked_count())

    def _unlinked(self, cache: Cache, place: str | None = None) -> list[links.Unlinked]:
        from gitmem.sync import links

        return [
            links.Unlinked(event.id, event.entity_path, event.fields.get("base", {}), event.recorded_at, event.author)
            for event in cache.unlinked(place)
        ]

    def _ids_on(self, cache: Cache) -> Callable[[str], Iterable[str]]:
        def ids_on(path: str) -> Iterable[str]:
            return cache.ids_on([(scope, entity_key(path)) for scope in cache.scopes_of(entity_key(path))])

        return ids_on

    def _linked_to(self, cache: Cache) -> Callable[[str], Iterable[str]]:
        return cache.linked_to

    def _scanned(self, cache: Cache) -> str:
        """Return the commit from which on moved files are looked for: the base of the oldest event without a commit."""
        waiting = cache.unlinked()
        base = waiting[-1].fields.get("base") if waiting else None
        return _text(base.get("commit")) if isinstance(base, dict) else ""

    def _note(self, commits: Sequence[str]) -> None:
        """Write the notes of some commits anew, where notes are wanted; they are derived, so failing is no harm."""
        from gitmem.sync import notes

        if not notes.is_shown(self.repository):
            return
        cache = self._cache()
        try:
            notes.write(self.repository, {commit: self._note_of(cache, commit) for commit in commits})
        except GitFailed:
            pass

    def _note_again(self, found: Iterable[Event]) -> None:
        """Write the notes of the commits anew whose events a review or a mark may have hidden or shown."""
        cache = self._cache()
        targets = [target for event in found for target in event.targets]
        commits = {_text(link.fields.get("commit")) for target in targets for link in cache.links_of(target)}
        if commits:
            self._note(sorted(commits))

    def _renote(self) -> None:
        from gitmem.sync import notes

        if not notes.is_shown(self.repository):
            return
        try:
            cache = self._cache()
        except NoLog:
            return
        notes.rebuild(self.repository, {commit: self._note_of(cache, commit) for commit in cache.linked_commits()})

    def _note_of(self, cache: Cache, commit: str) -> list[Event]:
        """Return the changes that a commit's note tells: not what is void, retracted or about something else."""
        rows = listing.by_ids(cache, cache.linked_to(commit))
        return [row.event for row in rows if row.event.kind == "change" and row.is_shown]


#: Below so many percent of a fingerprint's lines, a text has something in common with it and brings nothing back.
SHARE_FLOOR = 30
#: Below so many percent of the words asked for, a hit is noise.
WORDS_FLOOR = 50


def _asked(draft: Draft, writer: Writer) -> str:
    """Return what names this very request of this writer, in no text of its own."""
    import hashlib

    said = [writer.author, writer.agent, writer.session_id]
    said += [_text(draft.fields.get(name)) for name in ("scope", "entity_path", "change_type", "reasoning")]
    return hashlib.sha256("\0".join(said).encode()).hexdigest()


def _nonce() -> str:
    return os.urandom(16).hex()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _strings(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _instant(field: str, typed: str) -> str:
    if len(typed) == 27 and typed.endswith("Z"):
        return typed
    try:
        return dates.instant(typed)
    except dates.BadTime as error:
        raise Refused(field=field, what=str(error)) from None


def _worst_first(decision: StoredDecision) -> tuple[int, str, str]:
    return (vocabulary.VERDICTS.index(decision.verdict), decision.entity_path, decision.approach)


def _because(name: str, event: Event) -> str:
    key, its = entity_key(name), entity_key(event.entity_path)
    if its == key:
        return f"same entity {event.entity_path}"
    if key in entities.parents(its):
        return f"{event.entity_path} lies below {name}"
    return f"{event.entity_path} is a name that {name} had"


def _unsaved(event: Event) -> Row:
    from gitmem.store.components import birth_trust

    return Row(0, event, birth_trust(event), "applied", "", "", [], [])
