"""Memory: one method for each thing that people and agents do. The only thing that front ends call.

    memory = Memory.open(".")
    memory.record(Draft("change", {"entity_path": "users.email", "change_type": "add", "reasoning": "..."}))
    memory.prior("users.email")

What comes back are values (`cases/results`); `presenters` turns them into the dicts that `--json`, MCP and HTTP
share. What each method does is in `cases/`, one file for a family. Every write goes through `Appender`; every read
through the read model, which may catch up a cache under the git directory and changes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from gitmem.cases.desk import Desk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.results import (
        Absence,
        Asserted,
        Attached,
        Brought,
        Captured,
        Carried,
        Changesets,
        Digest,
        Examined,
        Exported,
        Gated,
        History,
        Imported,
        Lessons,
        Linked,
        Listing,
        Prior,
        Recorded,
        Restored,
        Revealed,
        Rules,
        SetUp,
        Shown,
        Slept,
        Stale,
        Standing,
        Stats,
        Steps,
        Travelled,
    )
    from gitmem.cases.tracing import Why
    from gitmem.core.additions import Addition
    from gitmem.core.calls import Answer, Call
    from gitmem.core.drafts import Draft, Writer
    from gitmem.core.lessons.recall import Recalled
    from gitmem.core.policy import Policy
    from gitmem.core.query import Query
    from gitmem.core.secrets import Hit
    from gitmem.store.archive import Attachment
    from gitmem.store.cache import Cache
    from gitmem.store.repository import Repository
    from gitmem.store.reviews import Queue
    from gitmem.store.verifying import Report
    from gitmem.sync.adoption import Adopted
    from gitmem.sync.redaction import Redacted


class Memory:
    """The decisions of one repository, as seen from one desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @classmethod
    def open(cls, start: str = ".", environ: Mapping[str, str] | None = None, *, long_lived: bool = False) -> Memory:
        """Return the memory of the repository around the directory `start`.

        `long_lived`: many calls will follow (a server); libgit2 is worth its start-up then.
        Raises OutsideRepository.
        """
        return cls(Desk.open(start, environ, long_lived=long_lived))

    @property
    def repository(self) -> Repository:
        """Where git keeps the decisions."""
        return self.desk.repository

    def close(self) -> None:
        self.desk.close()

    # --- writing ---------------------------------------------------------------------------------------

    def record(
        self,
        draft: Draft,
        *,
        dry_run: bool = False,
        prepare: Callable[[Cache, Draft], Draft] | None = None,
        attach: Sequence[str] = (),
    ) -> Recorded:
        """Append what `draft` says, or refuse it; with `dry_run`, say what would be appended.

        `fields` may hold what people type: an entity path relative to the working directory, id prefixes,
        ISO dates, `commit` (a revision to link to). Raises RuleViolation, Refused, UnknownId, AmbiguousId, LogBusy.

        `prepare(cache, draft)` completes the draft, or refuses it, by the log that it is decided on: asked again
        with each try. What targets several lineages becomes one event for each (ADR 0004), in one commit.

        `attach` names files (`-`: stdin, `diff`: the diff itself) that go to the archive, sealed, under its id.
        """
        if attach:
            from gitmem.cases import archiving

            return archiving.record(self.desk, draft, attach, dry_run=dry_run, prepare=prepare)
        from gitmem.cases import recording

        return recording.record(self.desk, draft, dry_run=dry_run, prepare=prepare)

    # --- lessons ---------------------------------------------------------------------------------------

    def teach(self, draft: Draft, *, verbatim: Sequence[str] = (), dry_run: bool = False) -> Recorded:
        """Append a lesson as `draft` states it: always kept, whole, in the writer's own words.

        `fields` has `core`, and `paths` as people type them. What says the same as another lesson, in nearly the same
        words, names that one in `targets`. `verbatim` are files for the archive.
        Raises Refused, RuleViolation, LogBusy.
        """
        from gitmem.cases import teaching

        return teaching.teach(self.desk, draft, verbatim=verbatim, dry_run=dry_run)

    def shorten(self, prefix: str, text: str, *, reason: str = "", dry_run: bool = False) -> Recorded:
        """Give a lesson a gist: fewer words, and none that the lesson itself hasn't. Raises Refused, RuleViolation."""
        from gitmem.cases import teaching

        return teaching.shorten(self.desk, prefix, text, reason=reason, dry_run=dry_run)

    def sleep(self, *, as_of: str = "", policy: str = "", dry_run: bool = False) -> Slept:
        """Put the lessons in order: append what a sleep finds, as one commit; with `dry_run`, say what it would find.

        As of a moment (a time of the format; "" is now) and under a policy ("" is the one in force). Sleeping again
        appends nothing. Raises NoLog, Refused (a moment to come, an unknown policy), LogBusy.
        """
        from gitmem.cases import sleeping

        return sleeping.sleep(self.desk, as_of=as_of, policy=policy, dry_run=dry_run)

    def lessons(
        self,
        *,
        band: str = "",
        topic: str = "",
        path: str = "",
        limit: int | None = None,
        all_scopes: bool = False,
    ) -> Lessons:
        """Return lessons, the nearest first: those in a band (near, cold, latent, all; "" is what is told)."""
        from gitmem.cases import sleeping

        return sleeping.lessons(self.desk, band=band, topic=topic, path=path, limit=limit, all_scopes=all_scopes)

    def rules(self, *, everything: bool = False, all_scopes: bool = False) -> Rules:
        """Return rules and principles with their evidence; with `everything` also patterns, and what has fallen."""
        from gitmem.cases import sleeping

        return sleeping.rules(self.desk, everything=everything, all_scopes=all_scopes)

    def history(self, prefix: str) -> History:
        """Return every change to a lesson or rule, with before and after. Raises UnknownId, RuleViolation, NoLog."""
        from gitmem.cases import sleeping

        return sleeping.history(self.desk, prefix)

    def undo(self, prefix: str, reason: str, *, dry_run: bool = False) -> Recorded:
        """Append the inverse of what a sleep found, of a gist, a use or an undo. Raises RuleViolation, UnknownId."""
        from gitmem.cases import sleeping

        return sleeping.undo(self.desk, prefix, reason, dry_run=dry_run)

    def recall(self, text: str, *, paths: Sequence[str] = (), budget: int = 0, all_scopes: bool = False) -> Recalled:
        """Return what is worth knowing about `text` and the files in hand: decisions that it names, rules, lessons.

        Within a budget of tokens (0: the usual one), counted as bytes. Says so where nothing is relevant. Changes
        nothing. Raises NoLog, Refused, Usage.
        """
        from gitmem.cases import recalling

        return recalling.recall(self.desk, text, paths=paths, budget=budget, all_scopes=all_scopes)

    def applied(self, prefixes: Sequence[str]) -> list[str]:
        """Note in this clone that lessons or rules were applied, and return their ids; the next commit writes it down.

        All of them or none. Raises UnknownId, AmbiguousId, RuleViolation for what is neither.
        """
        from gitmem.cases import recalling

        return recalling.applied(self.desk, prefixes)

    def why_not(
        self, prefix: str, text: str, *, paths: Sequence[str] = (), budget: int = 0, all_scopes: bool = False
    ) -> Absence:
        """Return why `recall` with the same question does not tell an event, or at which place it does.

        Raises as `recall` does, and UnknownId, AmbiguousId.
        """
        from gitmem.cases import recalling

        return recalling.why_not(self.desk, prefix, text, paths=paths, budget=budget, all_scopes=all_scopes)

    def inbox(self, *, keep: Sequence[str] = (), drop: Sequence[str] = ()) -> Captured:
        """Return what hooks saw and nobody has kept yet, each with its score; keep some of it as lessons, drop some.

        Without `keep` and `drop` nothing is changed. Raises UnknownId, AmbiguousId, Refused, RuleViolation.
        """
        from gitmem.cases import capturing

        return capturing.inbox(self.desk, keep, drop)

    def reveal(self, path: str) -> Revealed:
        """Return the lessons that have faded around a file, a folder or an entity. Looking changes nothing.

        Raises NoLog, Refused.
        """
        from gitmem.cases import cautioning

        return cautioning.reveal(self.desk, path)

    @property
    def is_person(self) -> bool:
        """Whether it is a person who writes, as this process sees it."""
        return self.desk.writer().is_person

    def policy(self) -> Policy | None:
        """Return what `.decisions.toml` says, or None where there is none. Raises Refused if it can't be followed."""
        return self.desk.policy()

    def scope(self) -> str:
        """Return the component that the working directory lies in; "" is the whole repository."""
        return self.desk.scope()

    def writer(self, *, agent: str = "", session: str = "") -> Writer:
        """Return who is writing, as this process sees it. Raises GitFailed where git has no identity."""
        return self.desk.writer(agent=agent, session=session)

    # --- reviews ---------------------------------------------------------------------------------------

    def review(self, *, everything: bool = False, all_scopes: bool = False) -> Queue:
        """Return what waits for a person, with what deciding it would change; with `everything`, all proposals."""
        from gitmem.cases import reviewing

        return reviewing.review(self.desk, everything=everything, all_scopes=all_scopes)

    def waiting(self) -> tuple[int, str]:
        """Return how much waits for a person here, and since when the oldest of it does; nothing for anyone else."""
        from gitmem.cases import reviewing

        return reviewing.waiting(self.desk)

    def ratify_all(
        self,
        token: str,
        reason: str,
        *,
        everything: bool = False,
        all_scopes: bool = False,
        sign: bool = False,
        dry_run: bool = False,
    ) -> Recorded:
        """Ratify what `review` listed under `token`, all or none. Raises RuleViolation where the list has changed."""
        from gitmem.cases import reviewing

        return reviewing.ratify_all(
            self.desk, token, reason, everything=everything, all_scopes=all_scopes, sign=sign, dry_run=dry_run
        )

    def ratify_edited(
        self,
        prefix: str,
        changes: Mapping[str, object],
        reason: str,
        *,
        sign: bool = False,
        dry_run: bool = False,
    ) -> Recorded:
        """Write a closing or a supersede anew, with `changes` to its fields, as the person's own; retract the old one.

        Both events in one commit. A person's alone. Raises RuleViolation, Refused.
        """
        from gitmem.cases import reviewing

        return reviewing.ratify_edited(self.desk, prefix, changes, reason, sign=sign, dry_run=dry_run)

    def keep_both(
        self, entity: str, prefix: str, approach: str, reason: str, *, sign: bool = False, dry_run: bool = False
    ) -> Recorded:
        """Settle what is contested on `entity` for both sides: the event `prefix` goes on as another `approach`.

        The other side is kept (a resolve), and the event is said anew under its new approach, in one commit.
        Raises RuleViolation.
        """
        from gitmem.cases import reviewing

        return reviewing.keep_both(self.desk, entity, prefix, approach, reason, sign=sign, dry_run=dry_run)

    def resolve(self, entity: str, keep: str, reason: str, *, sign: bool = False, dry_run: bool = False) -> Recorded:
        """Settle what is contested on `entity`, under any name it had, by keeping one side. Raises RuleViolation."""
        from gitmem.cases import reviewing

        return reviewing.resolve(self.desk, entity, keep, reason, sign=sign, dry_run=dry_run)

    # --- reading ---------------------------------------------------------------------------------------

    def log(self, query: Query) -> Listing:
        """Return the events that `query` asks for, newest first. Raises NoLog."""
        from gitmem.cases import reading

        return reading.log(self.desk, query)

    def watch(self, query: Query, *, every_s: float, wait: Callable[[float], None]) -> Iterator[Listing]:
        """Yield the events that `query` asks for as they come into the log, oldest first; it ends when asked to.

        First the newest `query.limit` of those that are there. `wait(every_s)` comes before each look. Raises NoLog,
        also later.
        """
        from gitmem.cases import watching

        return watching.watch(self.desk, query, every_s=every_s, wait=wait)

    def search(self, text: str, query: Query) -> Listing:
        """Return the events that hold the words of `text`, best first."""
        from gitmem.cases import reading

        return reading.search(self.desk, text, query)

    def show(self, prefix: str) -> Shown:
        """Return one event whole. Raises UnknownId, AmbiguousId, NoLog."""
        from gitmem.cases import reading

        return reading.show(self.desk, prefix)

    def status(
        self, entity: str | None = None, *, as_of: str = "", known_at: str = "", all_scopes: bool = False
    ) -> Standing:
        """Return the decisions on `entity` and what lies below it, worst first; without one, the summary."""
        from gitmem.cases import reading

        return reading.status(self.desk, entity, as_of=as_of, known_at=known_at, all_scopes=all_scopes)

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
        from gitmem.cases import prior

        return prior.prior(
            self.desk,
            entity,
            about=about,
            content=content,
            everything=everything,
            window_s=window_s,
            as_of=as_of,
            known_at=known_at,
            all_scopes=all_scopes,
        )

    def blame(self, entity: str, *, as_of: str = "", known_at: str = "", all_scopes: bool = False) -> Listing:
        """Return the newest change of `entity`, under every name it had; nothing where nobody recorded it."""
        from gitmem.cases import reading

        return reading.blame(self.desk, entity, as_of=as_of, known_at=known_at, all_scopes=all_scopes)

    def why(self, typed: str, *, all_scopes: bool = False) -> Why:
        """Return the decisions behind `FILE[:LINE]`: through its history and the links, and those on the file itself.

        Raises Usage for what is no file, or has no such line; GitFailed.
        """
        from gitmem.cases import tracing

        return tracing.why(self.desk, typed, all_scopes=all_scopes)

    def stale(
        self, entity: str | None = None, *, flags: Sequence[str] = (), all_scopes: bool = False, limit: int = 0
    ) -> Stale:
        """Return what is due for another look, most overdue first; with `flags`, only what is so flagged."""
        from gitmem.cases import reading

        return reading.stale(self.desk, entity, flags=flags, all_scopes=all_scopes, limit=limit)

    def changeset(self, changeset_id: str | None = None, query: Query | None = None) -> Listing | Changesets:
        """Return the events of one changeset, oldest first, or all changesets."""
        from gitmem.cases import reading

        return reading.changeset(self.desk, changeset_id, query)

    def stats(self, query: Query) -> Stats:
        """Count the events that `query` asks for, their decisions, and the commits that have some. Raises NoLog."""
        from gitmem.cases import counting

        return counting.stats(self.desk, query)

    def assert_ids(self, prefixes: Sequence[str]) -> Asserted:
        """Say which of some ids are in the log. A prefix counts where it fits one event."""
        from gitmem.cases import reading

        return reading.assert_ids(self.desk, prefixes)

    def notices(self) -> list[str]:
        """Return what a reader should be told besides the answer: quarantined events, newer ones."""
        from gitmem.cases import reading

        return reading.notices(self.desk)

    # --- the log as a whole ----------------------------------------------------------------------------

    def verify(self, *, since: str | None = None, full: bool = False, allow_missing: bool = False) -> Report:
        """Check the log: every object and every event, or what came after `since`.

        `since` is a revision of the log that must be below the tip (a checkpoint); with `full` the whole log
        is read all the same. `allow_missing`: a log that never was is no error (one that `since` or what was seen of
        a remote tells of is).
        """
        from gitmem.store import verifying

        desk = self.desk
        return verifying.verify(
            desk.repository, desk.log(), desk.model, since=since, full=full, allow_missing=allow_missing
        )

    def redact(self, prefix: str, reason: str, *, mode: str = "plain", dry_run: bool = False) -> Redacted:
        """Take the texts of one event, and of all its copies, out of the log for good; a tombstone stays.

        `mode` is how much is hidden, of `REDACTION_MODES`. A person's alone. Raises RuleViolation, UnknownId,
        AmbiguousId, NewerFormat, Incomplete; nothing was changed then.
        """
        from gitmem.cases import redacting

        return redacting.redact(self.desk, prefix, reason, mode=mode, dry_run=dry_run)

    def expunge(self, before: str, reason: str, *, dry_run: bool = False) -> Redacted:
        """Take the texts of all events recorded before `before` out of the log, but for what still decides.

        Raises as `redact` does.
        """
        from gitmem.cases import redacting

        return redacting.expunge(self.desk, before, reason, dry_run=dry_run)

    def adopt(self, tip: str, *, seen: str = "", remote: str = "the remote") -> Adopted:
        """Bring the log that ends in `tip` into ours, though it was rewritten, once that is proved.

        `seen` is what was last seen of where it comes from. Raises RemoteRewound where it is something else than a
        redaction, BrokenHistory or Incomplete where it is not sound; nothing was changed then.
        """
        from gitmem.cases import redacting

        return redacting.adopt(self.desk, tip, seen=seen, remote=remote)

    def join(self, tip: str) -> str:
        """Bring the log that ends in the commit `tip` (its objects are here) into ours; return the new tip."""
        from gitmem.cases import importing

        return importing.join(self.desk, tip)

    def rebuild(self) -> Standing:
        """Throw the cache and the notes away and build them again; finish what a redaction left to do."""
        from gitmem.cases import installing

        return installing.rebuild(self.desk)

    def init(
        self,
        *,
        hooks: bool = True,
        notes: bool = True,
        fetch: bool = True,
        auto_sync: bool = False,
        gate: bool = False,
        trailer: bool = False,
        dry_run: bool = False,
    ) -> Steps:
        """Set this repository up: the log, from a remote if there is one, hooks, notes. Again is a no-op.

        `auto_sync`: also the hooks that share decisions with each push and pull; `gate`: also the one that may stop a
        commit; `trailer`: also the one that names a commit's decisions in its message. Says what was so already.
        """
        from gitmem.cases import installing

        return installing.init(
            self.desk,
            hooks=hooks,
            notes=notes,
            fetch=fetch,
            auto_sync=auto_sync,
            gate=gate,
            trailer=trailer,
            dry_run=dry_run,
        )

    def uninstall(self, *, dry_run: bool = False) -> Steps:
        """Take away what `init` set up and what was derived; the log itself stays, unless it is empty."""
        from gitmem.cases import installing

        return installing.uninstall(self.desk, dry_run=dry_run)

    # --- other places ----------------------------------------------------------------------------------

    def fetch(self, remote: str = "", *, dry_run: bool = False, deadline_s: float | None = None) -> Travelled:
        """Bring the log of a remote into ours; without a name, of the one that git would take.

        What comes is verified before anything is kept, then joined, or adopted where something was taken out.
        `deadline_s`: give up after so many seconds. Raises RemoteRewound, BrokenHistory, Incomplete, LogBusy,
        GitFailed, Usage; nothing was changed then.
        """
        from gitmem.cases import travelling

        return travelling.fetch(self.desk, remote, dry_run=dry_run, deadline_s=deadline_s)

    def push(self, remote: str = "", *, dry_run: bool = False, restore: bool = False) -> Travelled:
        """Bring our log to a remote, after joining what is there where that is needed; never forced.

        `restore`: what the remote lost is pushed back. Raises NoLog, RemoteRefused, Refused (an event holds a
        secret), and what `fetch` raises.
        """
        from gitmem.cases import travelling

        return travelling.push(self.desk, remote, dry_run=dry_run, restore=restore)

    def sync(
        self, remote: str = "", *, dry_run: bool = False, restore: bool = False, deadline_s: float | None = None
    ) -> Travelled:
        """Fetch, join and push. Raises what they raise, but for NoLog: where neither has a log, nothing is done."""
        from gitmem.cases import travelling

        return travelling.sync(self.desk, remote, dry_run=dry_run, restore=restore, deadline_s=deadline_s)

    def auto_sync(self, remote: str = "", *, push: bool, deadline_s: float) -> Travelled | None:
        """Do what `sync` does, or without `push` what `fetch` does, if `decisions.autoSync` asks for it; else None."""
        from gitmem.cases import travelling

        return travelling.auto_sync(self.desk, remote, push=push, deadline_s=deadline_s)

    def probe(self, remote: str = "") -> tuple[str, str]:
        """Ask a remote whether it takes the log, without sending a decision; return its name and the ref.

        Raises RemoteRefused, GitFailed, Usage.
        """
        from gitmem.cases import travelling

        return travelling.probe(self.desk, remote)

    def receive(self, updates: Iterable[tuple[str, str, str]]) -> list[str]:
        """Judge a push to this repository, as its hook sees it: (old, new, ref) each. Returns what must not be.

        Where something can't be checked, it is refused.
        """
        from gitmem.cases import travelling

        return travelling.receive(self.desk, updates)

    def setup(self, agents: Sequence[str] = (), *, dry_run: bool = False, check: bool = False) -> SetUp:
        """Set up agents' clients in this repository: their hooks, gitmem's tools, and a few lines of instruction.

        `agents`: keys of `core/clients`; without any, those that are used here. `check`: only say whether the files of
        those that are set up are as they should be. Raises Refused where a file can't be changed; nothing is written.
        """
        from gitmem.cases import clients

        return clients.setup(self.desk, agents, dry_run=dry_run, check=check)

    # --- what history already knows --------------------------------------------------------------------

    def import_git(
        self,
        *,
        since: str | None = None,
        dry_run: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Imported:
        """Append what the repository's own history says was tried and reverted. Again appends nothing new."""
        from gitmem.cases import importing

        return importing.import_git(self.desk, since=since, dry_run=dry_run, progress=progress)

    def import_from(
        self,
        kind: str,
        path: str,
        *,
        dialect: str = "",
        dry_run: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Brought:
        """Append what files say; `kind` is sql, alembic, django, adr, agent-trace or selvedge. Again adds nothing.

        `path` is a file or a folder, from the working directory; `dialect` one of sqlglot's for SQL.
        Raises Refused where there is nothing to read, MissingExtra where the reader isn't installed.
        """
        from gitmem.cases import importing

        return importing.import_from(self.desk, kind, path, dialect=dialect, dry_run=dry_run, progress=progress)

    def doctor(self) -> Examined:
        """Look whether everything that gitmem needs works here: log, cache, hooks, remotes, agents' clients.

        Each client that is set up gets a made-up edit through its own command line. Changes nothing but local activity.
        """
        from gitmem.cases import examining

        return examining.examine(self.desk)

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
        from gitmem.cases import importing

        return importing.append_history(self.desk, drafts, channel=channel, progress=progress, hits=hits)

    def import_jsonl(
        self, path: str, *, dry_run: bool = False, progress: Callable[[str, int, int], None] | None = None
    ) -> Restored:
        """Make the log again that the file `path` (`-`: stdin) was exported from, and join it with ours.

        Again appends nothing. What can't be read is left out, with what stands on it, and named. Raises RuleViolation
        (a log that isn't empty, and no person), Usage, Refused, NewerFormat, RemoteRewound; nothing was written then.
        """
        from gitmem.cases import restoring

        return restoring.import_jsonl(self.desk, path, dry_run=dry_run, progress=progress)

    def export(self, form: str, query: Query | None = None) -> Exported:
        """Return the log in another form (of `cases.exporting.FORMATS`), in pieces.

        jsonl without a query is the whole log, as `import_jsonl` takes it; anything else is what `log` lists.
        """
        from gitmem import presenters
        from gitmem.cases import exporting

        return exporting.export(self.desk, form, query, presenters.event)

    # --- the archive -----------------------------------------------------------------------------------

    def attach(self, prefix: str, files: Sequence[str], *, allow_secret: bool = False) -> Attached:
        """Attach files (`-`: stdin) to an event, sealed; what is attached already stays as it is.

        Raises UnknownId, AmbiguousId, Usage, Refused (a secret), RuleViolation (it was redacted), LogBusy, GitFailed;
        nothing was written then.
        """
        from gitmem.cases import archiving

        return archiving.add(self.desk, prefix, files, allow_secret=allow_secret)

    def fetch_archive(self, remote: str = "") -> Carried:
        """Bring the attachments of a remote's archive here, but for those of events that are redacted here.

        Raises Usage, Incomplete, LogBusy, GitFailed; nothing was attached then.
        """
        from gitmem.cases import archiving

        return archiving.fetch(self.desk, remote)

    def push_archive(self, remote: str = "") -> Carried:
        """Send the archive to a remote, joined with the one that is there. Nothing else ever sends it."""
        from gitmem.cases import archiving

        return archiving.push(self.desk, remote)

    def audit(self, prefix: str) -> Attached:
        """Return what is attached to an event, each looked through. Nothing else reads the archive."""
        from gitmem.cases import archiving

        return archiving.audit(self.desk, prefix)

    def attachment(self, one: Attachment) -> Iterator[bytes]:
        """Yield the bytes of what `audit` found, as they come."""
        from gitmem.cases import archiving

        return archiving.content(self.desk, one)

    # --- the gate --------------------------------------------------------------------------------------

    def judge(self, call: Call, changed: Sequence[Addition]) -> Answer:
        """Return what an agent is answered that is about to change files of this repository."""
        from gitmem.cases import gating

        return gating.judge(self.desk, call, changed)

    def gate_staged(self) -> Gated:
        """Return what the gate says of what the index would commit."""
        from gitmem.cases import checking

        return checking.staged(self.desk)

    def gate_range(self, typed: str, *, allow_missing: bool = False) -> Gated:
        """Return what the gate says of the commits of a range `A..B`, taken together.

        Raises NoLog where there is no log to ask (unless `allow_missing`), Refused where the range can't be read.
        """
        from gitmem.cases import checking

        return checking.over(self.desk, typed, allow_missing=allow_missing)

    def override(self, prefix: str, reason: str, *, session: str | None = None, dry_run: bool = False) -> Recorded:
        """Let the next edit that a closing would stop pass, of one session: by default the one last stopped on it.

        Over what a person ratified a person's alone. Raises RuleViolation, UnknownId, AmbiguousId.
        """
        from gitmem.cases import overriding

        return overriding.override(self.desk, prefix, reason, session=session, dry_run=dry_run)

    def digest(self, *, most: int = 2048, hurried: bool = False) -> Digest:
        """Return what a session should know at its start, in at most so many bytes; "" where there is nothing.

        `hurried`: for a hook, which can't wait until much of the log is read; then it says that.
        """
        from gitmem.cases import digesting

        return digesting.digest_of(self.desk, most=most, hurried=hurried)

    def reminder(self, session: str) -> str:
        """Return which watched files a session edited without a decision recorded since; "" where there are none."""
        from gitmem.cases import digesting

        return digesting.reminder(self.desk, session)

    def after_call(self, call: Call) -> None:
        """Note what a finished call of an agent asked about here, what it edited here, and which tests failed."""
        from gitmem.cases import asking

        asking.after_call(self.desk, call)

    def gate_failed(self, agent: str, what: str) -> None:
        """Note that the gate let an edit pass without looking at it, and why."""
        from gitmem.cases import asking

        asking.gate_failed(self.desk, agent, what)

    # --- links -----------------------------------------------------------------------------------------

    def link(self, *, scan: bool = False, progress: Callable[[str, int, int], None] | None = None) -> Linked:
        """Find the commits of events that have none yet, as the hooks would have.

        Looks at what was recorded on this branch (on a detached HEAD: in this worktree); with `scan`, everywhere, and
        for what became of linked commits too: picks, rebases, squash merges, reverts. What another author's clone is
        to write is kept here, and what fits two commits is told and not linked.
        """
        from gitmem.cases import linking

        return linking.link(self.desk, scan=scan, progress=progress)

    def after_commit(self) -> int:
        """Link what was recorded for the commit that was just made (post-commit hook); returns how many links."""
        from gitmem.cases import linking

        return linking.after_commit(self.desk)

    def word_message(self, path: str) -> int:
        """Name the decisions of the commit that is being made in its message, the file `path` (commit-msg hook).

        Returns how many `Decision-Id:` trailers were added. A message without a word stays without one.
        """
        from gitmem.cases import wording

        return wording.word_message(self.desk, path)

    def after_rewrite(self, pairs: list[tuple[str, str]], how: str) -> int:
        """Carry links from rewritten commits to what took their place (post-rewrite hook)."""
        from gitmem.cases import linking

        return linking.after_rewrite(self.desk, pairs, how)
