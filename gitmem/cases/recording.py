"""Recording: from what people type to events in the log, or a refusal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from gitmem.cases import noting
from gitmem.cases.desk import Asked
from gitmem.cases.results import Recorded
from gitmem.cases.typed import instant_of, strings_of, text_of
from gitmem.core import dates, digests, entities
from gitmem.core.drafts import Draft, Stamp
from gitmem.core.lineages import entity_key
from gitmem.errors import NoLog, Refused, RuleViolation
from gitmem.store import listing
from gitmem.store.cache import Cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.cases.desk import Desk
    from gitmem.core import rules, secrets
    from gitmem.core.drafts import Writer
    from gitmem.core.events import Event
    from gitmem.core.verdicts import Judgement


def record(
    desk: Desk,
    draft: Draft,
    *,
    dry_run: bool = False,
    prepare: Callable[[Cache, Draft], Draft] | None = None,
    also: Callable[[Cache], Sequence[Draft]] | None = None,
) -> Recorded:
    """Do what `Memory.record` says.

    also   gives drafts for the same commit, in the terms of the format, which are decided after this one and saw it
    """
    with _asking(desk, head=draft.kind == "change") as asked:
        return _record(desk, draft, asked, dry_run=dry_run, prepare=prepare, also=also)


def _record(
    desk: Desk,
    draft: Draft,
    asked: Asked,
    *,
    dry_run: bool,
    prepare: Callable[[Cache, Draft], Draft] | None,
    also: Callable[[Cache], Sequence[Draft]] | None,
) -> Recorded:
    from gitmem.core import secrets
    from gitmem.store.writing import Appender
    from gitmem.sync import commits, heads

    hits: list[secrets.Hit] = []
    draft = secrets.cleared(draft, desk.own_rules(), hits=hits)  # first: whatever reads a field may quote it
    fields = dict(draft.fields)
    writer = desk.writer(
        agent=text_of(fields.pop("agent", "")),
        session=text_of(fields.pop("session", "") or fields.pop("session_id", "")),
        asked=asked,
    )
    secrets.check_writer(writer, draft)
    _check_signed(desk, draft, writer)
    told = [] if draft.allow_secret else secrets.told(hits)
    commit = text_of(fields.pop("commit", ""))
    link_to = named = desk.commit(commit) if commit else ""
    about: dict[str, object] = {}
    at_home = False
    if draft.kind == "change":
        typed_scope = fields.pop("scope", None)
        _complete(desk, fields)
        fields["scope"] = scope_of(desk, text_of(fields.get("entity_path")), typed_scope, writer)
        at_home = typed_scope is None
        head = desk.head(asked)
        base = heads.base_of(desk.repository, head)
        if base:
            fields["base"] = base
        name = text_of(fields.get("entity_path"))
        if not link_to and name and heads.head_touches(desk.repository, name, head):
            link_to = head.oid
            about = commits.about(desk.repository, link_to, tree_oid=head.tree)
    if link_to and not about:
        about = commits.about(desk.repository, link_to)
    wanted = draft.with_fields(fields)
    warnings: list[str] = []

    def decide(cache: Cache) -> list[tuple[Event, bytes]]:
        warnings[:] = told
        resolved = _resolved(desk, cache, wanted)
        if at_home:
            follow(desk, cache, resolved)
        if prepare is not None:
            resolved = prepare(cache, resolved)
        stamp = desk.stamp(cache)
        appends: list[tuple[Event, bytes]] = []
        own = desk.own_rules() if also else ()
        more = [secrets.cleared(one, own) for one in also(cache)] if also else []
        for part in (*_parts(desk, cache, resolved), *more):
            if part.kind != "change":
                follow(desk, cache, part)
            at = Stamp(stamp.clock + len(appends), stamp.now, stamp.nonces)
            before = [event for event, _ in appends] if also else ()
            decided = decide_draft(desk, cache, part, writer, at, before)
            sketch = _sketched(desk, cache, decided.appends[-1][0], named)
            if sketch:
                part = part.with_fields({**part.fields, "fingerprint": sketch})
                decided = decide_draft(desk, cache, part, writer, at, before)
            warnings.extend(decided.warnings)
            appends += decided.appends
        if link_to:
            targets = sorted(event.id for event, _ in appends)
            link = Draft("link", {"targets": targets, "commit": link_to, "how": "head", **about})
            after = Stamp(max(event.clock for event, _ in appends), stamp.now, stamp.nonces)
            appends += loose_events(link, writer, after)
        return appends

    if dry_run:
        try:
            cache = desk.cache()
        except NoLog:
            cache = Cache.in_memory()
        found = decide(cache)
        rows = [listing.unsaved(event) for event, _ in found if event.kind != "link"]
        return Recorded(rows, warnings, dry_run=True)
    signing = desk.signing() if draft.sign else None
    entry = Appender(desk.model, desk.log).append(decide, signing.sign if signing else None)
    assert entry is not None
    wrote = [event.id for event, _ in entry.events if event.kind != "link"]
    if signing is not None:
        warnings += signing.doubts([(*pair, entry.signatures[pair[0].id]) for pair in entry.events])
    if link_to:
        noting.note(desk, [link_to])
    elif draft.kind in ("review", "mark"):
        noting.note_again(desk, (event for event, _ in entry.events))
    return Recorded(list(desk.signed(listing.by_ids(desk.cache(), wrote))), warnings, dry_run=False)


def _check_signed(desk: Desk, draft: Draft, writer: Writer) -> None:
    """Refuse a person's review that isn't to be signed, where the policy in force demands it. Raises RuleViolation."""
    policy = desk.policy() if draft.kind == "review" and writer.is_person and not draft.sign else None
    if policy is not None and policy.require_signed_reviews:
        raise RuleViolation(
            what="reviews have to be signed here (require_signed_reviews in .decisions.toml)",
            hint="add --sign: it signs with the key of git's user.signingKey.",
        )


def _sketched(desk: Desk, cache: Cache, event: Event, named: str) -> dict[str, object] | None:
    """Return the fingerprint of what a closing event closes, where a commit tells and no diff was given."""
    if event.change_type not in ("reject", "revert") or not (named or event.targets):
        return None  # nearly always: nothing is loaded then
    from gitmem.cases import sketching

    return sketching.sketched(desk, cache, event, named)


def _asking(desk: Desk, *, head: bool) -> Asked:
    """Start the questions to git that a write will have answered, while this process loads the rules."""
    asked = Asked()
    if not desk.knows_writer:
        from gitmem.store import identity

        asked.put("author", identity.begin(desk.repository, desk.environ))
    if head:
        desk.ask_head(asked)
    return asked


def completed(desk: Desk, draft: Draft) -> Draft:
    """Return a draft of a change, whose names are from the root, with what a person typed in the format's terms."""
    fields = dict(draft.fields)
    fields["entity_path"] = f":/{fields['entity_path']}"
    expires = text_of(fields.get("expires_when"))
    if expires.startswith("entity:") and not expires.startswith("entity::/"):
        fields["expires_when"] = f"entity::/{expires.removeprefix('entity:')}"
    _complete(desk, fields)
    return draft.with_fields(fields)


def _complete(desk: Desk, fields: dict[str, object]) -> None:
    """Bring what people type into the format's terms: paths, times."""
    for name in ("entity_path", "renamed_from"):
        typed = fields.get(name)
        if isinstance(typed, str) and typed:
            fields[name] = desk.entity(typed)
    for name in ("valid_from", "valid_to"):
        typed = fields.get(name)
        if isinstance(typed, str) and typed:
            fields[name] = instant_of(name, typed)
    expires = text_of(fields.get("expires_when"))
    if expires.startswith("entity:") and expires.endswith(":changes"):
        path = expires.removeprefix("entity:").removesuffix(":changes")
        fields["expires_when"] = f"entity:{desk.entity(path)}:changes"
    due = fields.get("revisit_after")
    if isinstance(due, str) and due:
        try:
            fields["revisit_after"] = dates.due(due)
        except dates.BadTime as error:
            raise Refused(field="revisit_after", what=str(error)) from None
    diff = fields.get("diff")
    if isinstance(diff, str) and fields.get("change_type") in ("reject", "revert") and "fingerprint" not in fields:
        from gitmem.core import fingerprint

        fields["fingerprint"] = fingerprint.sketch(fingerprint.added_lines(diff))


def home_of(desk: Desk, name: str) -> str:
    """Return the component of an entity's file, else of the working directory."""
    policy = desk.policy()
    if policy is None:
        return ""
    top, path = desk.repository.work_tree, entities.place_of(name)
    is_there = bool(top and path and os.path.lexists(f"{top}/{path}"))
    return policy.scope_of(name, desk.place(), is_there=is_there)


def scope_of(desk: Desk, name: str, typed: object, writer: Writer) -> str:
    """Return the scope of what is said of an entity: the component of its file, else of the working directory.

    What is `typed` must be a component that holds the working directory and doesn't take a file out of its own,
    or the writer a person. Raises RuleViolation.
    """
    own = home_of(desk, name)
    if typed is None:
        return own
    policy, place = desk.policy(), desk.place()
    wanted = text_of(typed).strip()
    if wanted in ("", ".", "/", ":/"):
        scope, holds = "", own == ""
    else:
        component = policy.named(wanted) if policy else None
        if component is None:
            nearest = policy.nearest(wanted) if policy else ""
            raise RuleViolation(
                what=f"--scope: `{wanted[:80]}` is no component of this repository",
                hint=f"did you mean `{nearest}`?" if nearest else "[components] in .decisions.toml names them.",
            )
        at_home = policy.scope_at(entities.place_of(name)) if policy else ""
        scope = component.scope
        holds = component.holds(place) and at_home in ("", scope)
    if not holds and not writer.is_person:
        raise RuleViolation(
            what=f"--scope: `{wanted or '.'}` is not where this belongs ({own or 'the whole repository'})",
            hint="leave it out; only a person, in a terminal, records for another component.",
        )
    return scope


def follow(desk: Desk, cache: Cache, draft: Draft) -> None:
    """Give a supersede the scope of what it names on its own entity, and a review or mark that of its targets.

    Wherever the writer stands: what is said of a component's decisions is as much its own as they are.
    """
    fields = draft.fields
    if draft.kind != "change":
        targets = [cache.event(event_id) for event_id in strings_of(fields.get("targets"))]
        scopes = {event.scope for event in targets if event}
        if len(scopes) == 1:
            fields["scope"] = scopes.pop()
        return
    if fields.get("change_type") == "supersede":
        for event_id in strings_of(fields.get("supersedes")):
            event = cache.event(event_id)
            if event and entity_key(event.entity_path) == entity_key(text_of(fields.get("entity_path"))):
                fields["scope"] = event.scope
                return


def _resolved(desk: Desk, cache: Cache, draft: Draft) -> Draft:
    """Return `draft` with whole ids in place of the prefixes that people type; a ratify may accept what is no event."""
    fields = dict(draft.fields)
    ratifies = fields.get("action") == "ratify"
    for name in ("supersedes", "targets"):
        given = fields.get(name)
        if isinstance(given, (list, tuple)) and given:
            fields[name] = sorted({desk.id(cache, str(prefix), quarantined=ratifies) for prefix in given})
    return draft.with_fields(fields)


def decide_draft(
    desk: Desk, cache: Cache, draft: Draft, writer: Writer, stamp: Stamp, besides: Sequence[Event] = ()
) -> rules.Decided:
    """Return what the rules make of a draft, on top of the log and of the events `besides` it in the same commit."""
    from gitmem.core import rules

    wanted = rules.wanted(draft)
    moved = listing.elsewhere(cache, *wanted.own) if wanted.own else []
    bad = cache.quarantined_ids() if draft.kind == "review" else ()
    judgement = judged(desk, cache, wanted, besides, moved)
    try:
        return rules.decide(judgement, draft, writer, stamp, elsewhere=moved, quarantined=bad)
    except RuleViolation as refusal:
        if not refusal.fields.get("once"):
            raise
        from gitmem.store.local import Local

        local, asked = Local(desk.repository), _asked(draft, writer)
        if not local.was_refused(asked):
            local.refused(asked)
            raise
    return rules.decide(judgement, draft, writer, stamp, acknowledged=True, elsewhere=moved, quarantined=bad)


def judged(
    desk: Desk,
    cache: Cache,
    wanted: rules.Wanted,
    besides: Sequence[Event] = (),
    elsewhere: Iterable[tuple[str, str]] = (),
) -> Judgement:
    """Return what the part of the log comes to that a draft hangs on: `wanted`, and its file `elsewhere`."""
    from gitmem.core.verdicts import judge

    components: set[int] = set()
    for scope, name in elsewhere:
        components |= cache.components_of([(scope, one) for one in (name, *entities.parents(name))])
    for scope, name, below in wanted.names:
        key = entity_key(name)
        pairs = [(scope, key)]
        if below:
            pairs += cache.names_below(key, scope)
        components |= cache.components_of(pairs)
    for event_id in wanted.ids:
        component = cache.component_of_event(event_id)
        if component is not None:
            components.add(component)
    found = cache.component_events(components)
    have = {event.id for event in found}
    for event_id in wanted.ids:  # events of no component (links) can be targets too
        if event_id not in have:
            event = cache.event(event_id)
            if event is not None:
                found.append(event)
    return judge([*found, *besides], cache.outside)


def _parts(desk: Desk, cache: Cache, draft: Draft) -> list[Draft]:
    if draft.kind == "change":
        return [draft]
    from gitmem.core import reviews

    return reviews.parts(draft, cache.component_of_event)


def loose_events(draft: Draft, writer: Writer, stamp: Stamp) -> list[tuple[Event, bytes]]:
    """Return the event of a link or a use. It decides no verdict, so there is nothing to judge."""
    from gitmem.core import rules

    return list(rules.loose(draft, writer, stamp).appends)


def _asked(draft: Draft, writer: Writer) -> str:
    """Return what names this very request of this writer, in no text of its own."""
    said = [writer.author, writer.agent, writer.session_id]
    said += [text_of(draft.fields.get(name)) for name in ("scope", "entity_path", "change_type", "reasoning")]
    return digests.sha256("\0".join(said).encode()).hexdigest()
