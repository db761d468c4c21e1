"""Results: what the use cases give back. Values, without text or colour; `presenters` turns them into dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.capturing import Group
    from gitmem.core.attempts import Attempt
    from gitmem.core.events import Event
    from gitmem.core.gate import Ruling
    from gitmem.core.lessons.book import Book, Lesson, Outcome
    from gitmem.core.lessons.capture import Score
    from gitmem.core.lessons.ladder import Rule
    from gitmem.core.lessons.policies import Policy
    from gitmem.core.lessons.steps import Step
    from gitmem.store.archive import Attachment
    from gitmem.store.cache import StoredDecision
    from gitmem.store.listing import Row
    from gitmem.store.placing import Link
    from gitmem.store.revisits import Due
    from gitmem.sync.travel import Synced


class Recorded:
    """What a write did. `rows` are the events as they stand now; `warnings` what the writer should know.

    attached   what was attached to the last of them; None where nothing was to be
    """

    __slots__ = ("attached", "dry_run", "rows", "warnings")

    def __init__(self, rows: list[Row], warnings: list[str], *, dry_run: bool) -> None:
        self.attached: list[Attachment] | None = None
        self.rows = rows
        self.warnings = warnings
        self.dry_run = dry_run


class Carried:
    """What became of the archive between here and a remote: tips before and now, what came, whether ours went."""

    __slots__ = ("came", "old_tip", "remote", "theirs", "tip", "went")

    def __init__(self, remote: str, old_tip: str) -> None:
        self.remote = remote
        self.old_tip = self.tip = old_tip
        self.theirs = ""
        self.came = 0
        self.went = False


class Attached:
    """What is, or was just, attached to an event; `known` counts what was attached already."""

    __slots__ = ("attachments", "event", "known")

    def __init__(self, event: str, attachments: list[Attachment], *, known: int = 0) -> None:
        self.event = event
        self.attachments = attachments
        self.known = known


class Listing:
    """Rows, newest first, that are fetched as they are read."""

    __slots__ = ("entity", "rows")

    def __init__(self, rows: Iterable[Row], entity: str = "") -> None:
        self.rows = rows
        self.entity = entity


class Shown:
    """One event whole.

    links       its links, those that only this clone found at the end
    gone        those of its commits that are not in this repository
    taken_back  those of its commits that a later commit reverted, each with that commit
    signatures  the rows of those reviews and marks that are signed, by their ids
    """

    __slots__ = (
        "closed",
        "closed_by",
        "gone",
        "links",
        "log_commit",
        "marks",
        "reviews",
        "row",
        "signatures",
        "taken_back",
    )

    def __init__(
        self,
        row: Row,
        links: list[Link],
        reviews: list[Event],
        marks: list[Event],
        closed: list[str],
        closed_by: list[str],
        log_commit: str,
        signatures: dict[str, Row],
        *,
        gone: set[str],
        taken_back: dict[str, str],
    ) -> None:
        self.gone = gone
        self.taken_back = taken_back
        self.row = row
        self.links = links
        self.reviews = reviews
        self.marks = marks
        self.closed = closed
        self.closed_by = closed_by
        self.log_commit = log_commit
        self.signatures = signatures


class Absence:
    """Why something is not recalled: `place` is 0 then, else the line that tells it is the one at that place.

    kind     decision, lesson, pattern, rule or principle; "" for what no recall tells
    reasons  clauses, what weighs most first
    """

    __slots__ = ("id", "kind", "line", "place", "reasons")

    def __init__(self, id: str, kind: str, place: int, reasons: list[str], line: str) -> None:
        self.id = id
        self.kind = kind
        self.place = place
        self.reasons = reasons
        self.line = line


class Standing:
    """The decisions on an entity and each child, or (entity "") the summary of the repository.

    waiting   how much waits for a person in the summary, and since when the oldest of it does
    reverted  the deciding events whose commit in HEAD was taken back, each with the commit in HEAD that did
    """

    __slots__ = (
        "counts",
        "decisions",
        "entity",
        "events",
        "in_head",
        "newer",
        "quarantined",
        "reverted",
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
        reverted: dict[str, str],
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
        self.reverted = reverted


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


class Stats:
    """How much there is of what.

    by        for each name in `BY`, how many have which value: events, and of `verdict` decisions
    entities  how many the decisions are about
    unlinked  changes without a commit
    coverage  commits of HEAD in the time asked for, and how many of them have a decision that was asked for
    """

    BY = ("kind", "change_type", "verdict", "trust", "channel", "agent", "author")
    __slots__ = ("by", "coverage", "entities", "events", "unlinked")

    def __init__(
        self,
        by: Mapping[str, Mapping[str, int]],
        *,
        events: int,
        entities: int,
        unlinked: int,
        coverage: tuple[int, int],
    ) -> None:
        self.by = by
        self.events = events
        self.entities = entities
        self.unlinked = unlinked
        self.coverage = coverage


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


class SetUp(Steps):
    """The same for agents' clients: which, and of each step what changes in its file.

    diffs        beside `steps`: a unified diff, or ""
    is_in_order  where it was only looked: whether every file of theirs is as it should be; else None
    """

    __slots__ = ("agents", "diffs", "is_in_order")

    def __init__(
        self,
        steps: list[tuple[str, bool, bool]],
        notes: list[str],
        *,
        dry_run: bool,
        agents: list[str],
        diffs: list[str],
        is_in_order: bool | None,
    ) -> None:
        super().__init__(steps, notes, dry_run=dry_run)
        self.agents = agents
        self.diffs = diffs
        self.is_in_order = is_in_order


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
        skipped: list[tuple[str, int, list[str], bool]],
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


class Exported:
    """An export under way: text in `pieces`, or files, as (name, text), in `files`.

    `told` says what was in it, as a sentence; it is known once all was taken. A line of each of the `files` begins
    with `mark`.
    """

    __slots__ = ("files", "mark", "pieces", "told")

    def __init__(
        self,
        pieces: Iterable[bytes] = (),
        *,
        files: Iterable[tuple[str, str]] | None = None,
        mark: str = "",
        told: Callable[[], str] = str,
    ) -> None:
        self.mark = mark
        self.pieces = pieces
        self.files = files
        self.told = told


class Restored:
    """What came of a jsonl file: what it held, what of it was new or known, and what could not be read.

    redacted   ids of events that are redacted here and came in full: their tombstones stand there instead
    skipped    (reason, how often, where)
    """

    __slots__ = ("appended", "commits", "dry_run", "events", "known", "redacted", "skipped", "tip", "warnings")

    def __init__(
        self,
        *,
        commits: int,
        events: int,
        appended: int,
        known: int,
        redacted: list[str],
        skipped: list[tuple[str, int, list[str]]],
        warnings: list[str],
        tip: str,
        dry_run: bool,
    ) -> None:
        self.commits = commits
        self.events = events
        self.appended = appended
        self.known = known
        self.redacted = redacted
        self.skipped = skipped
        self.warnings = warnings
        self.tip = tip
        self.dry_run = dry_run


class Brought:
    """What an import of files brought: what was read, by what it was, and what became of it.

    appended and known count events; skipped has what was left out (or kept with a change), by reason, with examples
    """

    __slots__ = ("appended", "dry_run", "known", "read", "skipped", "warnings")

    def __init__(
        self,
        read: dict[str, int],
        *,
        appended: int,
        known: int,
        skipped: list[tuple[str, int, list[str], bool]],
        warnings: list[str],
        dry_run: bool,
    ) -> None:
        self.read = read
        self.appended = appended
        self.known = known
        self.skipped = skipped
        self.warnings = warnings
        self.dry_run = dry_run


class Check:
    """One thing that `doctor` looked at: its state (ok, note, warning, error), what is so, what to do about it."""

    __slots__ = ("remedy", "says", "state", "what")

    def __init__(self, what: str, state: str, says: str, remedy: str = "") -> None:
        self.what = what
        self.state = state
        self.says = says
        self.remedy = remedy


class Examined:
    """What `doctor` found, in the order in which it looked."""

    __slots__ = ("checks",)

    def __init__(self, checks: list[Check]) -> None:
        self.checks = checks

    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong; warnings and notes are not."""
        return all(check.state != "error" for check in self.checks)


class Linked:
    """The links that were found: (event ids, commit, how).

    found    those that are another author's to write, and are kept in this clone
    doubts   what two commits fit, and which got no link: (event ids, commits)
    """

    __slots__ = ("doubts", "found", "links", "unlinked")

    def __init__(self, links: list[tuple[tuple[str, ...], str, str]], unlinked: int) -> None:
        self.links = links
        self.found: list[tuple[tuple[str, ...], str, str]] = []
        self.doubts: list[tuple[list[str], list[str]]] = []
        self.unlinked = unlinked


class Travelled:
    """What a fetch, a push or both did: `done`, and the newest of the events that came and went, as rows.

    linked   how many links `decisions.scan` found with it; None where it was not asked for
    remarks  what kept it from looking, as sentences
    """

    __slots__ = ("came", "done", "linked", "remarks", "went")

    def __init__(self, done: Synced) -> None:
        self.done = done
        self.came: list[Row] = []
        self.went: list[Row] = []
        self.linked: int | None = None
        self.remarks: list[str] = []


class Gated:
    """What the gate says of a commit to be (`staged`), or of a range of commits.

    where    "staged", or the range as it was typed
    ruling   what stops, what passes, what is worth a line
    reader   who is told; see `core.gate`
    files    how many changed files were looked at
    answers  of what passes by a trailer: event id -> (key, commit, what it says)
    has_log  whether there was a log to ask
    unread   changed files whose text was not looked at: it is too large, or not here
    """

    __slots__ = ("answers", "files", "has_log", "reader", "ruling", "unread", "where")

    def __init__(
        self,
        where: str,
        ruling: Ruling,
        reader: str,
        *,
        files: int,
        answers: Mapping[str, tuple[str, str, str]] | None = None,
        has_log: bool = True,
        unread: Sequence[str] = (),
    ) -> None:
        self.where = where
        self.unread = unread
        self.ruling = ruling
        self.reader = reader
        self.files = files
        self.answers = answers or {}
        self.has_log = has_log


class Digest:
    """What a session is told at its start, and the ids of the events in it."""

    __slots__ = ("ids", "text")

    def __init__(self, text: str, ids: list[str]) -> None:
        self.text = text
        self.ids = ids


class Slept:
    """What a sleep did, or with `dry_run` would do: the book before and after, and the outcomes with their events.

    ids   of the events that were written, in the order of `outcomes`; "" where none was
    """

    __slots__ = ("after", "before", "dry_run", "ids", "outcomes")

    def __init__(self, before: Book, after: Book, outcomes: list[Outcome], ids: list[str], *, dry_run: bool) -> None:
        self.before = before
        self.after = after
        self.outcomes = outcomes
        self.ids = ids
        self.dry_run = dry_run


class Lessons:
    """Lessons by how near they are: those that were asked for, how many are in each band, and how many were left off.

    bands   of each lesson that is shown, by id: the band in which it is told
    """

    __slots__ = ("bands", "book", "counts", "found", "left")

    def __init__(
        self, book: Book, found: list[Lesson], counts: dict[str, int], bands: dict[str, str], *, left: int
    ) -> None:
        self.book = book
        self.found = found
        self.counts = counts
        self.bands = bands
        self.left = left


class Rules:
    """Rules, principles and, where asked for, patterns that stand, and what has fallen."""

    __slots__ = ("book", "fallen", "standing")

    def __init__(self, book: Book, standing: list[Rule], fallen: list[Rule]) -> None:
        self.book = book
        self.standing = standing
        self.fallen = fallen


class History:
    """Every change to a lesson or a rule, step by step, and the book that it comes to now."""

    __slots__ = ("book", "event", "steps", "subject")

    def __init__(self, book: Book, subject: str, event: Event, steps: list[Step]) -> None:
        self.book = book
        self.subject = subject
        self.event = event
        self.steps = steps


class Weighed:
    """What waits in the inbox (`capturing.Group`), what it is worth now, and the lesson that it repeats, or "".

    is_gone   it repeats one that was taken back: nobody wants it told
    """

    __slots__ = ("group", "is_gone", "repeats", "score")

    def __init__(self, group: Group, score: Score, repeats: str, *, is_gone: bool = False) -> None:
        self.group = group
        self.score = score
        self.repeats = repeats
        self.is_gone = is_gone


class Captured:
    """What waits in the inbox, newest first; what was kept of it just now, and the ids of what was dropped."""

    __slots__ = ("bar", "dropped", "policy", "recorded", "waiting")

    def __init__(self, waiting: list[Weighed], recorded: list[Recorded], dropped: list[str], policy: Policy) -> None:
        self.waiting = waiting
        self.recorded = recorded
        self.dropped = dropped
        self.policy = policy.label
        self.bar = policy.capture_bar


class Faded:
    """A latent lesson (`book.Lesson`), and the points of caution that it raises."""

    __slots__ = ("lesson", "points")

    def __init__(self, lesson: Lesson, points: int) -> None:
        self.lesson = lesson
        self.points = points


class Revealed:
    """What has faded around a path: those that raise most caution first, and the caution for an edit there."""

    __slots__ = ("caution", "lessons", "path", "policy")

    def __init__(self, path: str, lessons: list[Faded], caution: int, policy: str) -> None:
        self.path = path
        self.lessons = lessons
        self.caution = caution
        self.policy = policy
