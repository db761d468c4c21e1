"""Links: the commits of events, found by the hooks or afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gitmem.cases import noting, recording
from gitmem.cases.results import Linked
from gitmem.cases.typed import strings_of, text_of
from gitmem.core.drafts import Stamp
from gitmem.core.lineages import entity_key
from gitmem.errors import NoLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core.drafts import Draft
    from gitmem.core.events import Event
    from gitmem.store.cache import Cache
    from gitmem.sync import heads, links


def link(desk: Desk, *, scan: bool = False) -> Linked:
    """Do what `Memory.link` says."""
    from gitmem.sync import heads, links

    cache = desk.cache()
    place = None if scan else _here(desk, heads.head(desk.repository))
    drafts = links.scan(
        desk.repository,
        _unlinked(desk, cache, place),
        _ids_on(desk, cache),
        linked=cache.linked_to,
        since=_scanned(desk, cache),
    )
    return _append_links(desk, drafts)


def after_commit(desk: Desk) -> int:
    """Do what `Memory.after_commit` says."""
    from gitmem.sync import heads, links

    try:
        cache = desk.cache()
    except NoLog:
        return 0
    head = heads.head(desk.repository)
    drafts = links.after_commit(
        desk.repository,
        _unlinked(desk, cache, _here(desk, head)),
        _ids_on(desk, cache),
        linked=cache.linked_to,
        at=head,
    )
    return len(_append_links(desk, drafts).links)


def after_rewrite(desk: Desk, pairs: list[tuple[str, str]], how: str) -> int:
    """Do what `Memory.after_rewrite` says."""
    from gitmem.sync import links

    try:
        cache = desk.cache()
    except NoLog:
        return 0
    drafts = links.after_rewrite(
        desk.repository, pairs, how, cache.linked_to, _unlinked(desk, cache), _ids_on(desk, cache)
    )
    return len(_append_links(desk, drafts).links)


def _here(desk: Desk, head: heads.Head) -> str:
    """Return the branch, or on a detached HEAD the worktree, as the bases of events name it."""
    from gitmem.sync import heads

    base = heads.base_of(desk.repository, head)
    return text_of(base.get("branch")) or text_of(base.get("worktree"))


def _append_links(desk: Desk, drafts: Sequence[Draft]) -> Linked:
    done: list[tuple[tuple[str, ...], str, str]] = []
    if drafts:
        from gitmem.store.writing import Appender

        writer = desk.writer()

        def decide(cache: Cache) -> list[tuple[Event, bytes]]:
            done.clear()
            out: list[tuple[Event, bytes]] = []
            stamp = desk.stamp(cache)
            for draft in drafts:
                # Another process may have written the same link while we waited for the lock.
                commit = text_of(draft.fields["commit"])
                have = set(cache.linked_to(commit))
                targets = [t for t in strings_of(draft.fields["targets"]) if t not in have]
                if not targets:
                    continue
                fields = {**draft.fields, "targets": targets}
                at = Stamp(max([stamp.clock, *(event.clock for event, _ in out)]), stamp.now, stamp.nonces)
                out += recording.link_events(draft.with_fields(fields), writer, at)
                done.append((tuple(targets), commit, text_of(fields.get("how"))))
            return out

        Appender(desk.model, desk.log).append(decide)
        noting.note(desk, [commit for _, commit, _ in done])
    return Linked(done, desk.cache().unlinked_count())


def _unlinked(desk: Desk, cache: Cache, place: str | None = None) -> list[links.Unlinked]:
    from gitmem.sync import links

    return [
        links.Unlinked(event.id, event.entity_path, event.fields.get("base", {}), event.recorded_at, event.author)
        for event in cache.unlinked(place)
    ]


def _ids_on(desk: Desk, cache: Cache) -> Callable[[str], Iterable[str]]:
    def ids_on(path: str) -> Iterable[str]:
        return cache.ids_on([(scope, entity_key(path)) for scope in cache.scopes_of(entity_key(path))])

    return ids_on


def _scanned(desk: Desk, cache: Cache) -> str:
    """Return the commit from which on moved files are looked for: the base of the oldest event without a commit."""
    waiting = cache.unlinked()
    base = waiting[-1].fields.get("base") if waiting else None
    return text_of(base.get("commit")) if isinstance(base, dict) else ""
