"""Receiving: what a server lets into its log. It only ever grows, or becomes a proven redaction of itself.

For `pre-receive`, where the pushed objects are in git's own quarantine and can be read through the hook's environment,
and for `update`. Nothing is written but the cache. Whatever can't be checked is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.core.history import ERROR, Checker, Finding
from gitmem.errors import GitmemError
from gitmem.store.log import Log
from gitmem.store.readmodel import ReadModel
from gitmem.store.repository import LOG_REF
from gitmem.sync import adoption
from gitmem.sync.joins import check_end

NAMESPACE = LOG_REF.rpartition("/")[0] + "/"
#: How many findings a refusal names.
NAMED_MAX = 3


class Gatekeeper:
    """Judges pushes to the log of one repository. `ref` is what the log is called here."""

    def __init__(self, model: ReadModel, log: Log, ref: str = LOG_REF) -> None:
        self.model = model
        self.log = log
        self.form = model.repository.form
        self.ref = ref

    def is_concerned(self, ref: str) -> bool:
        """Say whether a ref is ours to judge."""
        return ref == self.ref or ref.startswith(NAMESPACE)

    def problems(self, updates: Iterable[tuple[str, str, str]]) -> list[str]:
        """Return a sentence for each (old, new, ref) of a push that must not be, and why."""
        found = []
        for old, new, ref in updates:
            if self.is_concerned(ref):
                try:
                    problem = self._problem(old, new, ref)
                except GitmemError as error:
                    problem = error.message
                if problem:
                    found.append(f"{ref}: {problem}")
        return found

    def _problem(self, old: str, new: str, ref: str) -> str:
        nothing, root = self.form.zeros, self.form.root
        if ref not in (self.ref, LOG_REF):
            # `push --probe` asks with the root, which says nothing, and takes it away again.
            asks = {old, new} <= {nothing, root}
            return "" if asks else f"decisions travel as {self.ref}, and nothing else is taken below {NAMESPACE}"
        if new == nothing:
            return "the log can't be deleted"
        if old == nothing:
            return self._unsound(new, [])
        if self.log.contains(new, old):
            return self._unsound(new, [old])
        proof = adoption.prove(self.model.repository, self.log, new, seen=old, tip=old)
        if not proof.holds:
            return f"the log would lose something: {proof.problem}. Fetch, then push again (`git decisions sync`)"
        if proof.brought:
            return "it brings back what was redacted. Fetch, then push again (`git decisions sync`)"
        return self._unsound(new, [])

    def _unsound(self, new: str, known: list[str]) -> str:
        """Return what is wrong with the log that ends in `new`, of which what `known` reach was checked before."""
        checker = Checker(self.form)
        if known and self.log.tip() == known[0]:
            checker = self.model.current().checker(self.form)
        else:
            known = []  # pushed to another name than the cache is of: read all of it
        last = ""
        for stored in self.log.walk(new, known):
            if checker.add(stored.oid, stored.commit, stored.tree, stored.files, stored.damaged) is None:
                return _said([checker.findings[-1]])
            last = stored.oid
        check_end(new, last)
        return _said([finding for finding in checker.finish() if finding.severity == ERROR])


def _said(findings: list[Finding]) -> str:
    more = len(findings) - NAMED_MAX
    named = "; ".join(finding.message for finding in findings[:NAMED_MAX])
    return named + (f"; and {more:,} more findings" if more > 0 else "")
