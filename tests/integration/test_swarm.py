"""Many clones of one repository that record and sync as they please, some killed on the way: nothing is lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from travelling import SEEN, said, tip

#: Records the events that this clone still lacks of its COUNT, and syncs at random moments; again after a kill.
WORKER = """
    import random, sys, time
    from gitmem.core.drafts import Draft
    from gitmem.core.query import Query
    from gitmem.errors import GitmemError, LogBusy, NoLog
    from gitmem.memory import Memory

    path, number, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random()

    def names():
        memory = Memory.open(path)
        try:
            return {row.event.entity_path for row in memory.log(Query()).rows}
        except NoLog:
            return set()
        finally:
            memory.close()

    def sync():
        memory = Memory.open(path)
        try:
            memory.sync()
        except LogBusy:
            pass
        finally:
            memory.close()

    have = names()
    for at in range(count):
        name = f"clone{number}.event{at}"
        if name in have:
            continue
        memory = Memory.open(path)
        memory.record(Draft("change", {"entity_path": name, "change_type": "add", "reasoning": f"Number {at}."}))
        memory.close()
        print(name, flush=True)
        while chance.random() < 0.4:
            sync()
    sync()
"""


def start(place: Path, number: int, count: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", textwrap.dedent(WORKER), str(place), str(number), str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def swarm(git, cli, tmp_path: Path, clones: int, count: int, kills: int) -> None:
    hub = tmp_path / "hub"
    git("init", "--quiet", "--bare", hub, cwd=tmp_path)
    places = [tmp_path / f"clone{number}" for number in range(clones)]
    for number, place in enumerate(places):
        git("clone", "--quiet", hub, place, cwd=tmp_path)
        git("config", "user.name", f"Writer {number}", cwd=place)
    os.environ.pop("GIT_AUTHOR_NAME", None)
    chance = random.Random(f"{clones} {count} {kills}")
    acknowledged: set[str] = set()
    running = {number: start(place, number, count) for number, place in enumerate(places)}
    left = kills
    while running:
        for number, worker in list(running.items()):
            if left and worker.poll() is None and chance.random() < 0.15:
                left -= 1
                worker.send_signal(signal.SIGKILL)
            if worker.poll() is None:
                continue
            out, err = worker.communicate()
            acknowledged.update(out.split())
            del running[number]
            if worker.returncode == -signal.SIGKILL:
                running[number] = start(places[number], number, count)  # somebody starts it again
            else:
                assert worker.returncode == 0, err
        time.sleep(0.1)
    for _ in range(2):  # until quiet: the first round brings all there, the second brings all here
        for place in places:
            said(cli, place, "sync")
    assert left == 0
    wanted = {f"clone{number}.event{at}" for number in range(clones) for at in range(count)}
    assert acknowledged <= wanted and (kills or acknowledged == wanted)  # one may be killed before it can say so
    tips = {tip(git, place) for place in (hub, *places)} | {tip(git, place, SEEN) for place in places}
    assert len(tips) == 1
    for place in (places[0], places[-1]):
        events = said(cli, place, "log", "--all")["events"]
        assert sorted(event["entity_path"] for event in events) == sorted(wanted)
        assert said(cli, place, "verify")["findings"] == []
    assert said(cli, places[0], "sync")["tip"] == tips.pop()
    git("fsck", "--strict", "--no-dangling", cwd=hub)
    assert not list(tmp_path.glob("clone*/.git/gitmem/incoming/*"))


def test_six_clones_that_sync_at_random_moments_end_with_one_tip_and_every_event(git, cli, tmp_path):
    swarm(git, cli, tmp_path, clones=6, count=6, kills=0)


def test_killed_on_the_way_they_go_on_and_nothing_is_lost(git, cli, tmp_path):
    swarm(git, cli, tmp_path, clones=6, count=6, kills=6)


@pytest.mark.slow
def test_twenty_clones_of_twenty_events_with_twenty_kills(git, cli, tmp_path):
    swarm(git, cli, tmp_path, clones=20, count=20, kills=20)
