"""Counting: what the log holds by kind, verdict, trust and writer, and how many commits have decisions."""

from __future__ import annotations

from collections import Counter

from gitmem.cases.reading import narrow
from gitmem.cases.results import Stats
from gitmem.core import approach
from gitmem.core.lineages import entity_key
from gitmem.core.query import Query
from gitmem.store import git, listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk


def stats(desk: Desk, query: Query) -> Stats:
    """Do what `Memory.stats` says."""
    cache = desk.cache_at(query.as_of, query.known_at)
    narrow(desk, query)
    by: dict[str, Counter[str]] = {name: Counter() for name in Stats.BY}
    decisions: dict[tuple[str, str, str], str] = {}
    commits: set[str] = set()
    events = unlinked = 0
    for row in listing.select(cache, query):
        event = row.event
        events += 1
        by["kind"][event.kind] += 1
        by["trust"][row.trust] += 1
        by["channel"][event.channel or "none"] += 1
        by["author"][event.author] += 1
        if agent := event.fields.get("agent"):
            by["agent"][str(agent)] += 1
        if event.kind == "change":
            by["change_type"][event.change_type] += 1
            commits.update(row.commits)
            if event.source.startswith("git:"):  # history tells which commit it was read from, and needs no link
                commits.add(event.source.split(":")[1])
            unlinked += not row.commits and not event.source
            if row.verdict:
                key = (event.scope, entity_key(event.entity_path), approach.total_key(event.approach))
                decisions.setdefault(key, row.verdict)
    by["verdict"].update(decisions.values())
    entities = len({key[:2] for key in decisions})
    return Stats(by, events=events, entities=entities, unlinked=unlinked, coverage=_coverage(desk, query, commits))


def _coverage(desk: Desk, query: Query, linked: set[str]) -> tuple[int, int]:
    """Return how many commits of HEAD there are in the time asked for, merges left out, and how many are `linked`."""
    words = ["rev-list", "--no-merges", "HEAD"]
    # To the second: git doesn't read the fraction.
    words += [f"--{name}={moment[:19]}Z" for name, moment in (("since", query.since), ("until", query.until)) if moment]
    result = desk.repository.try_git(*words, "--", env=git.RAW)
    if result.rc:
        return 0, 0  # no commit yet
    commits = result.out.decode("ascii", "replace").split()
    return len(commits), sum(commit in linked for commit in commits)
