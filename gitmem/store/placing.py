"""Where events belong, as readers are told: by the log's links, by what only this clone found, and what took it back.

The log and `Found` are two sources, and stay two: the cache is a function of the log alone. They come together here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.core.events import Event
    from gitmem.store.cache import Cache

REVERT = "revert"


class Link:
    """One link of an event. `id` is that of the link's event, "" where only this clone knows it.

    The other fields are those of the format (`tree` to `confidence` may be empty); `recorded_at` is "" without an id.
    """

    __slots__ = (
        "commit",
        "confidence",
        "evidence",
        "how",
        "id",
        "patch_id",
        "recorded_at",
        "renames",
        "replaces",
        "tree",
    )

    def __init__(
        self,
        commit: str,
        how: str,
        *,
        id: str = "",
        recorded_at: str = "",
        tree: str = "",
        patch_id: str = "",
        replaces: Iterable[str] = (),
        renames: object = None,
        evidence: Iterable[str] = (),
        confidence: str = "",
    ) -> None:
        self.id = id
        self.recorded_at = recorded_at
        self.tree = tree
        self.patch_id = patch_id
        self.commit = commit
        self.how = how
        self.replaces = list(replaces)
        self.renames = renames
        self.evidence = list(evidence)
        self.confidence = confidence


def link_of(event: Event) -> Link:
    """Return what a link event says."""
    get = event.fields.get
    return Link(
        _text(get("commit")),
        _text(get("how")),
        id=event.id,
        recorded_at=event.recorded_at,
        tree=_text(get("tree")),
        patch_id=_text(get("patch_id")),
        replaces=_strings(get("replaces")),
        renames=get("renames"),
        evidence=_strings(get("evidence")),
        confidence=_text(get("confidence")),
    )


def links_of(cache: Cache, event_id: str) -> list[Link]:
    """Return the links of an event, reverts too: those of the log, oldest first, then those that this clone found."""
    told = [link_of(event) for event in cache.links_of(event_id)]
    have = {(link.commit, link.how) for link in told}
    return told + [
        Link(one.commit, one.how, replaces=one.replaces, evidence=one.evidence, confidence=one.confidence)
        for one in (cache.found.links_of(event_id) if cache.found else ())
        if (one.commit, one.how) not in have
    ]


def found_commits(cache: Cache, event_id: str, told: Sequence[str]) -> list[str]:
    """Return the commits of an event that only this clone found, beside those that the log tells."""
    if cache.found is None:
        return []
    found = [one.commit for one in cache.found.links_of(event_id) if one.how != REVERT]
    return [commit for commit in dict.fromkeys(found) if commit not in told]


def events_at(cache: Cache, commit: str) -> list[str]:
    """Return the ids of the events that belong to a commit: those of the log, then those that this clone found."""
    told = cache.linked_to(commit)
    if cache.found is None:
        return told
    more = [one.event for one in cache.found.linked_to(commit) if one.how != REVERT]
    return told + [event for event in dict.fromkeys(more) if event not in told and cache.event(event) is not None]


def commits(cache: Cache) -> list[str]:
    """Return every commit that an event belongs to, sorted."""
    found = {one.commit for one in cache.found.links() if one.how != REVERT} if cache.found else set()
    return sorted({*cache.linked_commits(), *found})


def has_reverts(cache: Cache) -> bool:
    """Say whether any commit of an event is known to be taken back."""
    row = cache.db.execute("SELECT 1 FROM links WHERE how = ? LIMIT 1", (REVERT,)).fetchone()
    return row is not None or (cache.found is not None and any(one.how == REVERT for one in cache.found.links()))


def reverted_events(cache: Cache) -> list[str]:
    """Return the ids of the events of which a commit is known to be taken back, in no order."""
    rows = cache.db.execute("SELECT DISTINCT event FROM links WHERE how = ?", (REVERT,)).fetchall()
    found = [one.event for one in cache.found.links() if one.how == REVERT] if cache.found else []
    return list(dict.fromkeys([*(row[0] for row in rows), *found]))


def taken_back(links: Iterable[Link]) -> dict[str, str]:
    """Return which of an event's commits are taken back, and by which commit: what was itself taken back doesn't count.

    A revert of a revert lands the first commit again, and so on along the chain.
    """
    by: dict[str, list[str]] = {}
    for link in links:
        if link.how == REVERT:
            for old in link.replaces:
                by.setdefault(old, []).append(link.commit)

    def taker(commit: str, above: tuple[str, ...]) -> str:
        """Return a commit that takes `commit` back and stands, or ""."""
        for revert in by.get(commit, ()):
            if revert not in above and not taker(revert, (*above, commit)):
                return revert
        return ""

    placed = dict.fromkeys(link.commit for link in links if link.how != REVERT)
    return {commit: found for commit in placed if (found := taker(commit, ()))}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _strings(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []
