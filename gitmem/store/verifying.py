"""Verifying: the whole log, or what came after a checkpoint, read as it is stored.

Never through the cache: what a cache was built from may have rotted since. An incremental run asks the cache
only for what lies below the checkpoint (which ids there are, how high the clocks stood), which the
checkpoint's own oid vouches for.
"""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.core.history import BREAKING, ERROR, WARNING, Checker, Entry, Finding, is_personal_review
from gitmem.errors import GitmemError, Refused
from gitmem.store import ahead
from gitmem.store.ahead import Ahead
from gitmem.store.log import Condition, Log
from gitmem.store.readmodel import ReadModel
from gitmem.store.repository import LOG_REF, SEEN_REFS, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.events import Event
    from gitmem.store.signing import Signing

#: Exit statuses by the findings of severity error, the first that applies.
EXIT_ABSENT, EXIT_INCOMPLETE, EXIT_FINDINGS = 10, 23, 1


class Report:
    """What was checked and what was noticed; `code` is the exit status, 0 where the log is sound."""

    __slots__ = ("code", "commits", "events", "findings", "incremental_from", "newer", "signatures", "tip")

    def __init__(self, tip: str, incremental_from: str) -> None:
        self.tip = tip
        self.incremental_from = incremental_from
        self.findings: list[Finding] = []
        self.events = 0
        self.commits = 0
        self.newer = 0
        self.signatures = 0
        self.code = 0

    @property
    def sound(self) -> bool:
        return self.code == 0


def verify(
    repository: Repository,
    log: Log,
    model: ReadModel,
    *,
    since: str | None = None,
    full: bool = False,
    allow_missing: bool = False,
) -> Report:
    """Check the log and report; see `Memory.verify`. Raises Refused where `since` names nothing."""
    checkpoint = _checkpoint(repository, since) if since else ""
    try:
        tip = log.tip()
    except GitmemError as error:
        report = Report("", "")
        report.findings.append(Finding("root", error.message))
        report.code = EXIT_FINDINGS
        return report
    if tip is None:
        report = Report("", "")
        seen = checkpoint or next(_seen(repository), ("", ""))[1]
        what = f"there is no decision log: {LOG_REF} does not exist"
        if seen:  # a log that was there before is not one that never was
            what += f", and it did when {seen[:12]} was its tip"
        allowed = allow_missing and not seen
        report.findings.append(Finding("absent", what, severity=WARNING if allowed else ERROR))
        report.code = 0 if allowed else EXIT_ABSENT
        return report
    condition = log.condition()
    report = Report(tip, "")
    if checkpoint and not log.contains(tip, checkpoint):
        if not _was_redacted_since(repository, log, tip, checkpoint):
            report.findings.append(
                Finding(
                    "checkpoint",
                    f"the tip {tip[:12]} does not descend from {checkpoint[:12]}, which was seen before",
                    commit=checkpoint,
                )
            )
        checkpoint = ""  # what is below it is not below the tip: read everything
    _compare_seen(repository, log, tip, report)
    checker = Checker(repository.form)
    known: list[str] = []
    if checkpoint and not full:
        try:
            checker = model.current().checker(repository.form)
        except GitmemError:
            pass  # the cache can't be built from a damaged log: read everything and say what is wrong
        else:
            known = [checkpoint]
            report.incremental_from = checkpoint
    _read(repository, log, tip, known, checker, report, condition)
    report.findings += _condition_findings(condition)
    report.events = checker.events
    report.commits = checker.commits
    report.newer = checker.newer
    report.code = _exit(report.findings)
    return report


def _compare_seen(repository: Repository, log: Log, tip: str, report: Report) -> None:
    """Hold the log to what was last seen of each remote: those tips are checkpoints, too."""
    for ref, oid in _seen(repository):
        if log.contains(tip, oid) or _was_redacted_since(repository, log, tip, oid):
            continue
        name = ref.removeprefix(SEEN_REFS).removesuffix("/log")
        report.findings.append(
            Finding(
                "checkpoint",
                f"the tip {tip[:12]} does not hold what was last seen of {name}, {oid[:12]} "
                f"(`git decisions fetch {name}` joins the two)",
                commit=oid,
            )
        )


def _seen(repository: Repository) -> Iterator[tuple[str, str]]:
    """Yield the refs of what was last seen of remotes, and their tips."""
    listed = repository.git("for-each-ref", "--format=%(refname) %(objectname)", SEEN_REFS, check=False)
    for line in listed.decode("utf-8", "replace").splitlines():
        ref, _, oid = line.partition(" ")
        yield ref, oid


def _read(
    repository: Repository,
    log: Log,
    tip: str,
    known: list[str],
    checker: Checker,
    report: Report,
    condition: Condition,
) -> None:
    """Walk and check. A commit that can't be used hides what stands on it; that much is said once."""

    def parts() -> Iterator[tuple[str, bytes, bytes | None, dict[str, bytes | None], tuple[str, ...]]]:
        for stored in log.walk(tip, known):
            yield stored.oid, stored.commit, stored.tree, stored.files, stored.damaged

    found = _Signatures(repository)
    for oid, commit, tree, files, damaged in parts() if known or not ahead.is_worthwhile(repository) else Ahead(parts):
        before = len(checker.findings)
        entry = checker.add(oid, commit, tree, files, damaged)
        if entry is None:
            checker.skip(oid)
            _explain(checker.findings[before:], condition)
        else:
            found.add(entry)
    report.findings += checker.finish()
    report.findings += found.finish()
    report.signatures = found.count


class _Signatures:
    """The signatures of what was read, checked against the keys that this repository trusts; and those that lack."""

    def __init__(self, repository: Repository) -> None:
        self.count = 0
        self._repository = repository
        self._signing: Signing | None = None
        self._why_not = ""
        self._waiting: list[tuple[Event, bytes, bytes]] = []
        self._at: list[str] = []
        self._findings: list[Finding] = []
        self._unsigned: list[tuple[Event, str]] = []
        self._answered: set[str] = set()  # what a signed review is about

    def add(self, entry: Entry) -> None:
        for event, body in entry.events:
            signature = entry.signatures.get(event.id)
            if signature is not None:
                self.count += 1
                self._waiting.append((event, body, signature))
                self._at.append(entry.oid)
                if is_personal_review(event):
                    self._answered.update(event.targets)
            elif is_personal_review(event) and event.fields.get("policy"):
                self._unsigned.append((event, entry.oid))
        if len(self._waiting) >= 256:
            self._check()

    def finish(self) -> list[Finding]:
        self._check()
        if self._why_not:
            what = f"{self.count:,} signature{'s' if self.count > 1 else ''} not checked: {self._why_not}"
            self._findings.append(Finding("signature-unchecked", what, severity=WARNING))
        left = [(event, oid) for event, oid in self._unsigned if event.id not in self._answered]
        if left:
            from gitmem.store import policy

            demanding = policy.demanding(self._repository, {str(event.fields["policy"]) for event, _ in left})
            for event, oid in left:
                if event.fields["policy"] in demanding:
                    what = f"event {event.id[:8]} ({event.action}) is not signed, which its policy demands"
                    self._findings.append(Finding("signature-missing", what, commit=oid, event=event.id))
        return self._findings

    def _check(self) -> None:
        waiting, self._waiting = self._waiting, []
        places, self._at = self._at, []
        if not waiting:
            return
        from gitmem.store import signing

        if self._signing is None:
            self._signing = signing.Signing(self._repository)
            self._why_not = self._signing.why_not
        if self._why_not:
            return
        for (event, _, _), oid, found in zip(waiting, places, self._signing.check(waiting)):
            wrong = signing.reason(event, found)
            if wrong:
                rule = f"signature-{found.state}"
                self._findings.append(Finding(rule, f"event {event.id[:8]}: {wrong}", commit=oid, event=event.id))


def _explain(findings: list[Finding], condition: Condition) -> None:
    for finding in findings:
        if finding.rule == "missing-object" and condition.shallow:
            finding.rule = "truncated"
            finding.message += "; this clone was cut off (shallow)"


def _condition_findings(condition: Condition) -> list[Finding]:
    out = []
    if condition.replaced:
        out.append(
            Finding("replaced", "refs/replace replaces objects here; the log was read through it", severity=WARNING)
        )
    if condition.grafts:
        out.append(
            Finding("grafts", "a grafts file changes parents here; the log was read through it", severity=WARNING)
        )
    return out


def _exit(findings: list[Finding]) -> int:
    errors = [finding.rule for finding in findings if finding.severity == ERROR]
    if not errors:
        return 0
    if all(rule in ("truncated", "missing-object") for rule in errors if rule in BREAKING) and any(
        rule in BREAKING for rule in errors
    ):
        return EXIT_INCOMPLETE
    return EXIT_FINDINGS


def _was_redacted_since(repository: Repository, log: Log, tip: str, checkpoint: str) -> bool:
    """Say whether the log had the tip `checkpoint` before something was redacted: computed from the log alone (F27)."""
    from gitmem.core import rewriting

    raw = ((stored.oid, stored.commit, stored.tree, stored.files) for stored in log.walk(tip))
    return rewriting.was(repository.form, list(raw), checkpoint)


def _checkpoint(repository: Repository, since: str) -> str:
    result = repository.try_git("rev-parse", "--verify", "--quiet", "--end-of-options", since + "^{commit}")
    oid = result.out.decode("ascii", "replace").strip()
    if result.rc != 0 or not oid:
        if len(since) == repository.form.hex_size and set(since) <= set("0123456789abcdef"):
            return since  # a tip that a redaction took away; the log may still prove that it had it
        raise Refused(
            field="--since",
            what=f"{since[:80]!r} names no commit here",
            hint="give the oid of an earlier tip of the log.",
        )
    return oid
