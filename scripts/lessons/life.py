"""A life: a repository, and what is committed, decided and learned in it, day by day of a time that is made up."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gitmem.cases import recording
from gitmem.core.drafts import Draft, Stamp
from gitmem.core.events import Event
from gitmem.core.lessons.policies import Policy
from gitmem.memory import Memory
from gitmem.store.cache import Cache
from gitmem.store.writing import Appender

DAY_S = 86_400
#: Day 0, a Monday. In a time to come, so that no file of the machine is younger than what looks at it.
START = 4_102_617_600
#: Nothing of the user's git, and one identity.
ENVIRON = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


@contextmanager
def stopped() -> Iterator[list[float]]:
    """A clock that stands still until it is set: `with stopped() as clock: clock[0] = …`."""
    real = time.time
    clock = [float(START)]
    time.time = lambda: clock[0]
    try:
        yield clock
    finally:
        time.time = real


class Life:
    """One repository. Every act is of a day, and the clock stands there."""

    def __init__(self, place: Path, clock: list[float]) -> None:
        self.place = place
        self.clock = clock
        os.environ.update(ENVIRON)
        place.mkdir(parents=True)
        self._git("init", "-q")
        self.memory = Memory.open(str(place))
        self.memory.init(hooks=False, notes=False)

    def _git(self, *words: str, **more: Any) -> str:
        return subprocess.run(
            ["git", *words], cwd=self.place, check=True, stdout=subprocess.PIPE, text=True, **more
        ).stdout

    def on(self, day: float) -> None:
        self.clock[0] = START + day * DAY_S

    def commit(self, day: float, number: int, *files: str) -> None:
        self.on(day)
        for file in files:
            path = self.place / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"step = {number}\n", "utf-8")
        self._git("add", ".")
        when = f"@{int(self.clock[0])} +0000"
        env = {**os.environ, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        self._git("commit", "-q", "-m", f"Step {number}", env=env)

    def decide(self, day: float, entity: str, change: str, why: str, **fields: object) -> str:
        self.on(day)
        fields |= {"entity_path": entity, "change_type": change, "reasoning": why}
        return self.memory.record(Draft("change", fields)).rows[-1].event.id

    def learn(self, day: float, core: str, **fields: object) -> str:
        self.on(day)
        return self.memory.teach(Draft("lesson", {"core": core, **fields})).rows[-1].event.id

    def learn_many(self, day: float, cores: Sequence[dict[str, object]]) -> None:
        """A day's lessons in one commit of the log, as an importer would write them."""
        self.on(day)
        desk = self.memory.desk
        writer = desk.writer()

        def decide(cache: Cache) -> list[tuple[Event, bytes]]:
            out: list[tuple[Event, bytes]] = []
            stamp = desk.stamp(cache)
            for fields in cores:
                at = Stamp(stamp.clock + len(out), stamp.now, stamp.nonces)
                out += recording.decide_draft(desk, cache, Draft("lesson", dict(fields)), writer, at).appends
            return out

        Appender(desk.model, desk.log).append(decide)

    def follow(self, policy: Policy) -> None:
        """Look at lessons by another policy from now on; the log stays as it is."""
        self.memory.desk.lesson_policy = lambda name="": policy  # type: ignore[method-assign]

    def close(self) -> None:
        self.memory.close()
