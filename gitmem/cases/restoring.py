"""Restoring: a log made again from its jsonl export, and joined with ours."""

from __future__ import annotations

import os
from collections.abc import Callable

from gitmem.cases.results import Restored
from gitmem.core.drafts import Draft
from gitmem.core.events import Event
from gitmem.core.ids import short
from gitmem.errors import NoLog, RuleViolation, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from gitmem.cases.desk import Desk
    from gitmem.store.cache import Cache

#: How many events a warning names.
NAMED_MAX = 5


def import_jsonl(
    desk: Desk,
    path: str,
    *,
    dry_run: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Restored:
    """Do what `Memory.import_jsonl` says."""
    from gitmem.importers import jsonl

    tell = progress or (lambda what, done, total: None)
    try:
        cache: Cache | None = desk.cache()
    except NoLog:
        cache = None
    from gitmem.store import channel

    is_person = channel.detect(desk.environ).channel == "human"  # a restoring machine may have no name in git
    if cache is not None and cache.tip != desk.repository.form.root and not is_person:
        raise RuleViolation(
            what="only a person may import another log into one that isn't empty",
            hint="run this in your own terminal.",
        )
    forms = _redacted(cache) if cache is not None else {}
    counted = _Counted(desk, cache)
    with _opened(path) as file:
        built = jsonl.build(desk.repository, file, forms, seen=counted.see, progress=tell)
    try:
        tips = [built.at(tip) for tip in built.tips]
        tip = cache.tip if cache is not None else ""
        if not dry_run and built.events:
            built.store(tell)
            for one in tips:
                tip = _joined(desk, one)
        return Restored(
            commits=built.commits,
            events=built.events,
            appended=counted.new,
            known=built.events - counted.new - len(built.redacted),
            redacted=sorted(built.redacted),
            skipped=[(why, count, list(examples)) for why, (count, examples) in built.skipped.reasons.items()],
            warnings=counted.warnings(),
            tip=tip,
            dry_run=dry_run,
        )
    finally:
        built.close()


def _opened(path: str) -> BinaryIO:
    try:
        return os.fdopen(0, "rb", closefd=False) if path == "-" else open(path, "rb")
    except OSError as error:
        raise Usage(what=f"can't read {path}: {error.strerror or error}; nothing was written", hint="") from None


def _redacted(cache: Cache) -> dict[str, str]:
    return dict(cache.db.execute("SELECT id, redacted FROM events WHERE redacted <> ''").fetchall())


def _joined(desk: Desk, tip: str) -> str:
    from gitmem.cases import redacting
    from gitmem.sync import adoption, joins

    if adoption.is_needed(desk.model, desk.log(), tip):
        return redacting.adopt(desk, tip, remote="the file").tip
    return joins.join(desk.model, desk.log(), tip)


class _Counted:
    """Counts what is new of what a file holds, and looks at it for secrets: its bytes can't be changed, but told."""

    def __init__(self, desk: Desk, cache: Cache | None) -> None:
        self._cache = cache
        self._own = desk.own_rules()
        self._seen: set[str] = set()
        self._secret: list[str] = []
        self.new = 0

    def see(self, event: Event) -> None:
        if self._cache is not None and self._cache.event_exists(event.id):
            return
        if event.id in self._seen:
            return
        self._seen.add(event.id)
        self.new += 1
        from gitmem.core import secrets

        if event.redacted or "allow_secret" in event.fields:
            return
        hits: list[secrets.Hit] = []
        secrets.cleared(Draft(event.kind, {**event.fields, "source": "jsonl"}), self._own, hits=hits)
        if hits:
            self._secret.append(event.id)

    def warnings(self) -> list[str]:
        if not self._secret:
            return []
        named = ", ".join(map(short, self._secret[:NAMED_MAX]))
        more = f" and {len(self._secret) - NAMED_MAX:,} more" if len(self._secret) > NAMED_MAX else ""
        return [f"what looks like a secret is in {named}{more}: `git decisions redact ID` takes it out"]
