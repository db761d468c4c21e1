"""Links: the commits of events, found by the hooks or afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gitmem.cases import noting, recording
from gitmem.cases.results import Linked
from gitmem.cases.typed import strings_of, text_of
from gitmem.core.drafts import Stamp
from gitmem.core.lineages import entity_key
from gitmem.errors import GitFailed, NoLog
from gitmem.store import git, placing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core.drafts import Draft
    from gitmem.core.events import Event
    from gitmem.store.cache import Cache
    from gitmem.sync import copies, heads, links
    from gitmem.sync.messages import Said


#: So many commits that came since the last scan are looked at by one that nobody asked for: about a second.
NEWS_MAX = 500


def after_fetch(desk: Desk) -> Linked | None:
    """Do a scan that nobody asked for, where little came since the last one; None: too much."""
    from gitmem.core import objects
    from gitmem.sync.copies import EARLIER_S
    from gitmem.sync.history import History

    cache, history = desk.cache(), History(desk.repository)
    tips, scanned, since = history.tips(), desk.model.found.scanned(), cache.oldest()
    if not since or scanned.issuperset((cache.tip, *tips)):
        return Linked([], 0)
    news = history.count(tips, scanned, objects.seconds(since) - EARLIER_S, NEWS_MAX + 1)
    return link(desk, scan=True) if news <= NEWS_MAX else None


def link(desk: Desk, *, scan: bool = False, progress: Callable[[str, int, int], None] | None = None) -> Linked:
    """Do what `Memory.link` says."""
    from gitmem.sync import heads, links

    cache = desk.cache()
    place = None if scan else _here(desk, heads.head(desk.repository))
    tips: list[str] = []
    if scan:
        from gitmem.sync.history import History

        tips = History(desk.repository).tips()
    wanted = links.scan(
        desk.repository,
        _unlinked(desk, cache, place),
        _ids_on(desk, cache),
        linked=cache.linked_to,
        since=_scanned(desk, cache),
    )
    doubts: list[copies.Doubt] = []
    if scan:
        wanted, doubts = _with_copies(desk, cache, wanted, progress)
    own, others = _owned(desk, cache, wanted)
    linked = _append(desk, own)
    linked.doubts = [(doubt.mine, doubt.commits) for doubt in doubts]
    if scan:
        linked.found = _keep(desk, others)
        desk.model.found.keep_scanned((desk.cache().tip, *tips))
    return linked


def after_commit(desk: Desk) -> int:
    """Do what `Memory.after_commit` says."""
    from gitmem.sync import heads, links
    from gitmem.sync.messages import Said

    if heads.rebasing(desk.repository.git_dir):
        return 0
    try:
        cache = desk.cache()
    except NoLog:
        return 0
    asked = desk.repository.begin_git("log", "-1", "--no-show-signature", "--no-notes", "--format=%B", env=git.RAW)
    try:
        head = heads.head(desk.repository)
        message = asked.communicate().out.decode("utf-8", "replace")
    finally:
        asked.kill()
    waiting = _unlinked(desk, cache, _here(desk, head))
    wanted = links.after_commit(desk.repository, waiting, linked=cache.linked_to, at=head)
    taken = {event for one in wanted for event in one.mine if one.commit == head.oid}
    said = Said(message)
    wanted += _stated(desk, cache, head, said, taken)
    done = len(_append(desk, wanted, at=head).links)
    if said.lessons or said.decisions or said.reverted or _is_inbox_due(desk):
        from gitmem.cases import capturing  # here: most commits say nothing of lessons

        done += capturing.after_commit(desk, head, message, said)
    return done


def _is_inbox_due(desk: Desk) -> bool:
    from gitmem.store.local import INBOX_NAME, has_file

    if not has_file(desk.repository, INBOX_NAME):
        return False
    from gitmem.store import inbox

    return inbox.is_due(desk.repository)


def after_rewrite(desk: Desk, pairs: list[tuple[str, str]], how: str) -> int:
    """Do what `Memory.after_rewrite` says."""
    from gitmem.sync import links

    try:
        cache = desk.cache()
    except NoLog:
        return 0

    def linked(commit: str) -> list[str]:
        return placing.events_at(cache, commit)

    wanted = links.after_rewrite(desk.repository, pairs, how, linked, _unlinked(desk, cache))
    new_of = dict(pairs)
    for old, new in pairs:  # a reverting commit was rewritten, perhaps together with what it takes back
        for back, mine in _reverting(cache, old).items():
            backs = [new_of.get(one, one) for one in back]
            if new not in backs and not mine <= _reverted_by(cache, new):
                evidence = [f"reverts:{one}" for one in back]
                wanted.append(links.Wanted(new, mine, "revert", backs, confidence="stated", evidence=evidence))
    return len(_append(desk, wanted).links)


def _here(desk: Desk, head: heads.Head) -> str:
    """Return the branch, or on a detached HEAD the worktree, as the bases of events name it."""
    from gitmem.sync import heads

    base = heads.base_of(desk.repository, head)
    return text_of(base.get("branch")) or text_of(base.get("worktree"))


# --- what messages and other commits tell -----------------------------------------------------


def _stated(desk: Desk, cache: Cache, head: heads.Head, said: Said, taken: set[str]) -> list[links.Wanted]:
    """Return the links that the commit at HEAD itself tells: what it was made from, names, or takes back.

    `taken` are the events that it has already.
    """
    from gitmem.sync import copies, heads, links
    from gitmem.sync.history import History

    picked = heads.picking(desk.repository.git_dir)
    if not head.oid or not (said or picked):
        return []
    have = {*cache.linked_to(head.oid), *taken}
    wanted = []

    def want(how: str, mine: Iterable[str], replaces: Sequence[str], evidence: list[str]) -> None:
        new = set(mine) - have
        if new:
            have.update(new)
            wanted.append(links.Wanted(head.oid, new, how, replaces, confidence="stated", evidence=evidence))

    for old in dict.fromkeys([*([picked] if picked else []), *said.picked]):
        want("cherry-pick", placing.events_at(cache, old), [old], [f"picked:{old}"])
    squashed = [old for old in said.squashed if placing.events_at(cache, old)]
    mine = {event for old in squashed for event in placing.events_at(cache, old)}
    want("squash", mine, squashed, [f"squashed:{old}" for old in squashed])
    for prefix in said.decisions:
        event = named(cache, prefix)
        want("trailer", [event] if event else [], (), [f"trailer:{event}"])
    for name in said.reverted:
        placed = _placed(cache, name)
        found = copies.taken_back(placed, name, head.oid, History(desk.repository).is_ancestor)
        if found is not None:
            wanted.append(_wanted(found, here=True))
    return wanted


def named(cache: Cache, prefix: str) -> str:
    """Return the id of the one change that begins with `prefix`, or ""."""
    found = cache.ids(prefix, 2)
    event = cache.event(found[0]) if len(found) == 1 else None
    return event.id if event is not None and event.kind == "change" else ""


def _wanted(found: copies.Copy, *, here: bool) -> links.Wanted:
    from gitmem.sync import links

    return links.Wanted(
        found.commit,
        found.mine,
        found.how,
        found.replaces,
        here=here,
        confidence=found.confidence,
        evidence=found.evidence,
    )


def _placed(cache: Cache, prefix: str = "") -> copies.Placed:
    """Return where events are; with `prefix`, those of the commits that begin so, and all the places of theirs."""
    from gitmem.sync import copies

    placed = copies.Placed()
    commits = [commit for commit in [*placing.commits(cache), *_reverts(cache)] if commit.startswith(prefix)]
    for commit in dict.fromkeys(commits):
        placed.put(commit, placing.events_at(cache, commit))
        for mine in _reverting(cache, commit).values():
            placed.reverting.setdefault(commit, set()).update(mine)
    for event_id in list(placed.homes):
        if prefix:
            for one in placing.links_of(cache, event_id):
                if one.how != placing.REVERT:
                    placed.put(one.commit, [event_id])
    return placed


def _reverts(cache: Cache) -> list[str]:
    """Return the commits that take another one back."""
    rows = cache.db.execute("SELECT DISTINCT commit_oid FROM links WHERE how = ?", (placing.REVERT,)).fetchall()
    found = [one.commit for one in cache.found.links() if one.how == placing.REVERT] if cache.found else []
    return list(dict.fromkeys([*(row[0] for row in rows), *found]))


def _reverting(cache: Cache, commit: str) -> dict[tuple[str, ...], set[str]]:
    """Return what a commit takes back: the commits -> the events that belong to them."""
    found: dict[tuple[str, ...], set[str]] = {}
    rows = cache.db.execute(
        "SELECT DISTINCT event FROM links WHERE commit_oid = ? AND how = ?", (commit, placing.REVERT)
    ).fetchall()
    events = [row[0] for row in rows] + [
        one.event for one in (cache.found.linked_to(commit) if cache.found else ()) if one.how == placing.REVERT
    ]
    for event_id in dict.fromkeys(events):
        for one in placing.links_of(cache, event_id):
            if one.how == placing.REVERT and one.commit == commit:
                found.setdefault(tuple(one.replaces), set()).add(event_id)
    return found


def _reverted_by(cache: Cache, commit: str) -> set[str]:
    return {event for mine in _reverting(cache, commit).values() for event in mine}


def _with_copies(
    desk: Desk, cache: Cache, wanted: list[links.Wanted], progress: Callable[[str, int, int], None] | None
) -> tuple[list[links.Wanted], list[copies.Doubt]]:
    """Return `wanted` and the links to copies of all linked commits, and the doubts."""
    from gitmem.core import objects
    from gitmem.sync import copies
    from gitmem.sync.branches import address
    from gitmem.sync.patches import Patches

    placed = _placed(cache)
    for one in wanted:
        placed.put(one.commit, one.mine)
        placed.follow(one.replaces, one.commit)
    oldest = ""
    for event_id in placed.homes:
        event = cache.event(event_id)
        if event is not None:
            placed.authors[event_id] = address(event.author)
            oldest = min(oldest or event.recorded_at, event.recorded_at)
        for known in placing.links_of(cache, event_id):
            if known.patch_id:
                placed.patches[known.commit] = known.patch_id
            if known.how != placing.REVERT:
                placed.follow(known.replaces, known.commit)
    found, doubts = copies.find(
        desk.repository,
        Patches(desk.repository, desk.model.found),
        placed,
        lambda prefix: named(cache, prefix),
        since_s=objects.seconds(oldest) if oldest else 0,
        progress=progress,
    )
    return [*wanted, *(_wanted(one, here=False) for one in found)], doubts


# --- whose they are to write ------------------------------------------------------------------


def _owned(desk: Desk, cache: Cache, wanted: Iterable[links.Wanted]) -> tuple[list[links.Wanted], list[links.Wanted]]:
    """Part what is wanted: what this clone writes, and what is another author's to write.

    Twenty clones that fetch one squash merge find the same. Each writes what its own author recorded.
    """
    from gitmem.sync import links
    from gitmem.sync.branches import address

    try:
        me = address(desk.writer().author).casefold()
    except GitFailed:
        me = ""  # nobody: what was not made here stays here
    own: list[links.Wanted] = []
    others: list[links.Wanted] = []
    for one in wanted:
        if one.here:
            own.append(one)
            continue
        events = {event_id: cache.event(event_id) for event_id in one.mine}
        mine = {id for id, event in events.items() if me and event and address(event.author).casefold() == me}
        for part, into in ((mine, own), (one.mine - mine, others)):
            if part:
                into.append(
                    links.Wanted(
                        one.commit,
                        part,
                        one.how,
                        one.replaces,
                        here=False,
                        confidence=one.confidence,
                        evidence=one.evidence,
                    )
                )
    return own, others


def _keep(desk: Desk, others: Iterable[links.Wanted]) -> list[tuple[tuple[str, ...], str, str]]:
    """Keep in this clone what is not its own to write, beside what it found before; return what is new."""
    from gitmem.store.found import FoundLink

    cache, found = desk.cache(), desk.model.found
    before = {(one.event, one.commit, one.how): one for one in found.links()}
    kept = dict(before)
    new: list[tuple[tuple[str, ...], str, str]] = []
    for one in others:
        fresh = []
        for event in sorted(one.mine):
            key = (event, one.commit, one.how)
            if key not in kept:
                fresh.append(event)
                kept[key] = FoundLink(event, one.commit, one.how, one.confidence, one.evidence, one.replaces)
        if fresh:
            new.append((tuple(fresh), one.commit, one.how))
    for event, commit, how in list(kept):  # its author wrote it meanwhile, or the event is gone
        told = {(text_of(link.fields.get("commit")), text_of(link.fields.get("how"))) for link in cache.links_of(event)}
        if (commit, how) in told or cache.event(event) is None:
            del kept[event, commit, how]
    if kept != before:
        found.keep(kept.values())
        noting.note(desk, sorted({commit for _, commit, _ in {*before, *kept}}))
    return new


def _append(desk: Desk, wanted: Sequence[links.Wanted], *, at: heads.Head | None = None) -> Linked:
    from gitmem.sync import links

    cache = desk.cache()
    return _append_links(desk, links.drafts(desk.repository, wanted, _ids_on(desk, cache), at=at))


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
                commit, how = text_of(draft.fields["commit"]), text_of(draft.fields["how"])
                have = _reverted_by(cache, commit) if how == placing.REVERT else set(cache.linked_to(commit))
                targets = [t for t in strings_of(draft.fields["targets"]) if t not in have]
                if not targets:
                    continue
                fields = {**draft.fields, "targets": targets}
                at = Stamp(max([stamp.clock, *(event.clock for event, _ in out)]), stamp.now, stamp.nonces)
                out += recording.loose_events(draft.with_fields(fields), writer, at)
                done.append((tuple(targets), commit, how))
            return out

        Appender(desk.model, desk.log).append(decide)
        noting.note(desk, [commit for _, commit, _ in done])
    return Linked(done, desk.cache().unlinked_count())


def _unlinked(desk: Desk, cache: Cache, place: str | None = None) -> list[links.Unlinked]:
    from gitmem.sync import links

    found = []
    for event in cache.unlinked(place):
        base = event.fields.get("base")
        if isinstance(base, dict):
            found.append(links.Unlinked(event.id, event.entity_path, base, event.recorded_at, event.author))
    return found


def _ids_on(desk: Desk, cache: Cache) -> Callable[[str], Iterable[str]]:
    def ids_on(path: str) -> Iterable[str]:
        return cache.ids_on([(scope, entity_key(path)) for scope in cache.scopes_of(entity_key(path))])

    return ids_on


def _scanned(desk: Desk, cache: Cache) -> str:
    """Return the commit from which on moved files are looked for: the base of the oldest event without a commit."""
    waiting = cache.unlinked()
    base = waiting[-1].fields.get("base") if waiting else None
    return text_of(base.get("commit")) if isinstance(base, dict) else ""
