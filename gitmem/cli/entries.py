"""Events as people read them: the entries of `log`, one-liners, `show`, `blame`, `changeset`.

Each function takes events in the JSON of `presenters` and gives lines. `width` is that of the terminal,
or 0 where nobody looks and ids are given whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitmem.cli.text import EMPTY, Line, Piece, first_line, labelled, paragraphs, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Event = Mapping[str, Any]

SHORT = 8
#: Long enough to be one event's in any log there is, short enough for the header of an entry on 80 columns.
MIDDLE = 16
COMMIT = 10

#: What an event may carry besides its reason: field, label. In the order of the help text.
NOTES = (
    ("approach", "approach"),
    ("instead", "instead"),
    ("constraint", "constraint"),
    ("stale_when", "worth another look when"),
    ("expires_when", "expires when"),
    ("revisit_after", "look again after"),
)


def when(time: str | None) -> str:
    """Return `2026-11-30 12:58:04 UTC` for a time of the format."""
    return f"{time[:10]} {time[11:19]} UTC" if time else ""


def day(time: str | None) -> str:
    return (time or "")[:10]


def title(event: Event) -> str:
    """Return what the event does, to what: `reject users.card_token`, `link 3f2a… to 2 events`."""
    what = event.get("change_type") or event.get("action") or event["kind"]
    about = event.get("entity_path")
    if about:
        old = event.get("renamed_from")
        return f"{what} {old} -> {about}" if old else f"{what} {about}"
    targets = [target[:SHORT] for target in event.get("targets") or ()]
    if event["kind"] == "lesson":
        topic = f" on {event['topic']}" if event.get("topic") else ""
        return f"lesson{topic}{f', once more {targets[0]}' if targets else ''}"
    if event["kind"] == "sleep":
        return _slept(event, targets)
    if event["kind"] == "link":
        return f"link {', '.join(targets)} to {_commits(event)[0][:COMMIT] if _commits(event) else 'a commit'}"
    return f"{what} {', '.join(targets)}".rstrip()


def _slept(event: Event, targets: list[str]) -> str:
    """Return what a sleep found: `absorb 7f3a91c2 under 1b2c3d4e`, `promote to rule by 3`, `latent 7f3a91c2`."""
    action, becomes = event.get("action"), event.get("becomes") or {}
    under = str(becomes.get("under", ""))[:SHORT]
    if action == "absorb" and under in targets:
        return f"absorb {', '.join(one for one in targets if one != under)} under {under}"
    if action == "promote":
        return f"promote {plural(len(targets), 'event')} to a {becomes.get('rank', 'rule')}"
    return "digest of a sleep" if action == "digest" else f"{action} {', '.join(targets)}"


def _commits(event: Event) -> list[str]:
    commit = event.get("commit")
    return [*(event.get("commits") or ()), *([commit] if commit else ())]


def reason(event: Event) -> str:
    return event.get("reasoning") or event.get("core") or event.get("gist") or event.get("reason") or ""


#: state -> how a signature of it is told
_SIGNED = {
    "good": "by {principal}, {key}",
    "unchecked": "not checked, {key} (no gpg.ssh.allowedSignersFile)",
    "bad": "badly: it does not fit the event, {key}",
    "unknown-key": "with a key that is not listed, {key}",
    "other-principal": "with a key of {principal}, {key}",
    "not-valid-then": "with a key that was not valid then, {key}",
    "revoked": "with a revoked key, {key}",
}


def signed(signature: Mapping[str, Any]) -> str:
    """Return by whom, or with what doubt, an event is signed."""
    return _SIGNED[signature["state"]].format_map(signature)


_MARKED = {"seal": "sealed", "mute": "muted", "pin": "pinned"}


def standing(event: Event) -> list[Piece]:
    """Return the words in brackets behind an id: verdict of its decision, trust, an effect to know of, marks."""
    words = [event.get("verdict"), event.get("trust")]
    if event.get("effect") in ("pending", "contested", "void") and event["effect"] not in words:
        words.insert(0, event["effect"])
    if event.get("redacted"):
        words.insert(0, "redacted")
    words += [_MARKED[mark] for mark in event.get("marks") or () if mark in _MARKED]
    if event.get("signature"):
        words.append("signed" if event["signature"]["state"] == "good" else "signature in doubt")
    shown = [word for word in words if word]
    if not shown:
        return []
    pieces: list[Piece] = [("", " (")]
    for number, word in enumerate(shown):
        pieces += [("", ", ")] if number else []
        pieces.append((word, word))
    return [*pieces, ("", ")")]


# --- log ---


def entry(event: Event, width: int) -> Iterator[Line]:
    """Yield an event as an entry of `log`, which reads as git's own does."""
    yield Line(("id", f"event {event['id'] if not width else event['id'][:MIDDLE]}"), *standing(event), hang=6)
    yield from _header(event, width)
    yield EMPTY
    yield from _body(event)


def _header(event: Event, width: int) -> Iterator[Line]:
    agent = f" (by {event['agent']})" if event.get("agent") else ""
    yield Line(("", f"Author: {event['author']}{agent}"), hang=8)
    yield Line(("", f"Date:   {when(event['recorded_at'])}"))
    held = _held(event)
    if held:
        yield Line(("", f"Held:   {held}"), hang=8)
    kind = f" ({event['entity_type']})" if event.get("entity_type") else ""
    scope = f" in {event['scope']}" if event.get("scope") else ""
    if event.get("entity_path"):
        yield Line(("", "Entity: "), ("entity", event["entity_path"]), ("", f"{kind}{scope}"), hang=8)
    what = event.get("change_type")
    old = f" of {event['renamed_from']}" if event.get("renamed_from") else ""
    yield Line(("", f"Change: {what}{old}" if what else f"Event:  {title(event)}"), hang=8)
    yield from _experience(event)
    signature = event.get("signature")
    if signature:
        style = "good" if signature["state"] == "good" else "warning"
        yield Line(("", "Signed: "), (style, signed(signature)), hang=8)
    commits = _commits(event)
    if commits:
        shown = ", ".join(commit[:COMMIT] if width else commit for commit in commits)
        yield Line(("", "Commit: " if len(commits) == 1 else "Commits: "), ("commit", shown), hang=8)


def _experience(event: Event) -> Iterator[Line]:
    """Yield where a lesson belongs, and how it went."""
    paths = event.get("paths") or ()
    if paths:
        yield Line(("", "Place:  "), ("entity", ", ".join(paths)), hang=8)
    told = [event.get("binding") or ""]
    told += [f"{name} {event[name]}" for name in ("outcome", "severity") if event.get(name) is not None]
    if event.get("cost"):
        told.append(f"{event['cost']} minutes to learn")
    if any(told):
        yield Line(("", f"Went:   {', '.join(filter(None, told))}"), hang=8)


def _held(event: Event) -> str:
    begin, end = event.get("valid_from"), event.get("valid_to")
    return " ".join(
        part for part in (f"from {when(begin)}" if begin else "", f"until {when(end)}" if end else "") if part
    )


def _body(event: Event) -> Iterator[Line]:
    text = reason(event)
    if event.get("redacted") and not text:
        yield Line(("dim", "    (redacted)"))
    elif text:
        yield from paragraphs(text)
    notes = [(label, event[field]) for field, label in NOTES if event.get(field)]
    if notes:
        yield EMPTY
        for label, note in notes:
            yield from labelled(label, note)


def oneline(event: Event) -> Line:
    """Return an event on one line: short id, standing, what it did, the first line of why."""
    why = first_line(reason(event))
    pieces: list[Piece] = [("id", event["id"][:SHORT]), *standing(event), ("", " "), ("entity", title(event))]
    return Line(*pieces, *([("", f": {why}")] if why else []), cut=True)


_oneline = oneline  # `log` has an argument of that name


def log(events: Sequence[Event] | Iterator[Event], width: int, *, oneline: bool) -> Iterator[Line]:
    """Yield a listing, as its events come."""
    first = True
    for event in events:
        if oneline:
            yield _oneline(event)
            continue
        if not first:
            yield EMPTY
        first = False
        yield from entry(event, width)


# --- show ---

#: Ids that an event, or the answer of `show`, names: field, and how it is said.
RELATIONS = (
    ("supersedes", "supersedes"),
    ("superseded_by", "superseded by"),
    ("closed", "closes"),
    ("closed_by", "closed by"),
    ("targets", "speaks of"),
    ("after", "written after"),
)


def whole(answer: Mapping[str, Any]) -> Iterator[Line]:
    """Yield everything that is known of one event."""
    event: Event = answer["event"]
    yield Line(("id", f"event {event['id'][:MIDDLE]}"), *standing(event), hang=6)
    yield Line(("", "Id:     "), ("id", event["id"]), hang=8)
    yield from _header(event, 0)
    effect = f"{event['effect']} ({event['effect_reason']})" if event.get("effect_reason") else event["effect"]
    facts = (
        ("By", f"{event['channel']}, basis {event['basis']}"),
        ("Effect", effect),
        ("Session", event["session_id"]),
        ("Set", event["changeset_id"]),
        ("Source", event["source"]),
        ("Log", f"{answer['log_commit']}, clock {event['clock']}"),
    )
    for label, text in facts:
        if text:
            yield Line(("", f"{label + ':':<8}{text}"), hang=8)
    yield EMPTY
    yield from _body(event)
    for field, label in (("patterns", "pattern"), ("evidence", "evidence"), ("tags", "tag")):
        for text in event.get(field) or ():
            yield from labelled(label, text)
    for field in ("was", "becomes"):
        if event.get(field):
            yield from labelled(field, ", ".join(f"{name} {_cut(value)}" for name, value in event[field].items()))
    if event.get("diff"):
        yield EMPTY
        yield from paragraphs(event["diff"])
    trail = list(_trail(answer, event))
    if trail:
        yield EMPTY
        yield from trail


def _cut(value: object) -> str:
    """Return a value of an outcome; of an id or a hash as much as people are shown."""
    text = str(value)
    return (text[:SHORT] if len(text) == 64 else text) or "nothing"


def _trail(answer: Mapping[str, Any], event: Event) -> Iterator[Line]:
    for field, label in RELATIONS:
        ids = answer.get(field) or event.get(field) or ()
        if ids:
            yield Line(("label", f"{label} "), ("id", ", ".join(id[:SHORT] for id in ids)), hang=4)
    for link in answer["links"]:
        yield _link(link)
    for other in (*answer["reviews"], *answer["marks"]):
        what = other["action"] or other["kind"]
        why = f": {first_line(other['reason'])}" if other["reason"] else ""
        whom = f" by {other['author']}, {when(other['recorded_at'])}"
        if other.get("signature"):
            whom += f", signed {signed(other['signature'])}"
        yield Line(("label", f"{what} "), ("id", other["id"][:SHORT]), ("", f"{whom}{why}"), hang=4)


#: What is said of a link's evidence, by what its text begins with; without one: by its `how` alone.
_SHOWN_BY = {
    "patch-id": "the same change",
    "tree": "the same files",
    "lines": "the same lines",
    "pull": "pull request",
    "trailer": "its message names the event",
    "picked": "picked from",
    "squashed": "squashed from",
    "commit-map": "as git-filter-repo noted",
}


def _link(link: Mapping[str, Any]) -> Line:
    commit = (link["commit"] or "")[:COMMIT]
    if link["how"] == "revert":
        backs = ", ".join(back[:COMMIT] for back in link["replaces"])
        return Line(("label", "reverted by "), ("commit", commit), ("dim", f" (which takes {backs} back)"), hang=4)
    notes = [link["how"] or "", *_shown_by(link["evidence"])]
    if not link["id"]:
        notes.append("found here")
    pieces: list[Piece] = [("label", "linked to "), ("commit", commit), ("dim", f" ({'; '.join(notes)})")]
    if link["gone"]:
        pieces.append(("warning", " [commit gone]"))
    if link["reverted_by"]:
        pieces.append(("warning", f" [reverted by {link['reverted_by'][:COMMIT]}]"))
    return Line(*pieces, hang=4)


def _shown_by(evidence: Sequence[str]) -> Iterator[str]:
    """Yield the evidence of a link in words, each kind once."""
    kinds: dict[str, list[str]] = {}
    for one in evidence:
        kind, _, what = one.partition(":")
        kinds.setdefault(kind, []).append(what)
    for kind, whats in kinds.items():
        if kind in ("picked", "squashed"):
            yield f"{_SHOWN_BY[kind]} {', '.join(what[:COMMIT] for what in whats)}"
        elif kind == "pull":
            yield f"{_SHOWN_BY[kind]} #{whats[0]}"
        elif kind in _SHOWN_BY:
            yield _SHOWN_BY[kind]


# --- blame, search, changeset ---


def blame(event: Event | None, entity: str) -> Iterator[Line]:
    """Yield who last changed the entity, or that nobody did."""
    if event is None:
        yield Line(("nothing", f"nothing is recorded about {entity}."))
        return
    agent = f" (by {event['agent']})" if event.get("agent") else ""
    commits = ", ".join(commit[:COMMIT] for commit in event["commits"])
    yield Line(("entity", event["entity_path"]), ("", f": {event['change_type']}"), *standing(event), hang=4)
    yield Line(("", f"    {event['author']}{agent}, {when(event['recorded_at'])}"), hang=4)
    place = [("", "in "), ("commit", commits)] if commits else [("dim", "in no commit yet")]
    yield Line(("", "    event "), ("id", event["id"][:SHORT]), ("", ", "), *place, hang=4)
    yield EMPTY
    yield from _body(event)


def found(events: Sequence[Event]) -> Iterator[Line]:
    """Yield search results: a line that names each, and why it was written."""
    for event in events:
        yield Line(("id", event["id"][:SHORT]), *standing(event), ("", " "), ("entity", title(event)), hang=9)
        text = first_line(reason(event))
        if text:
            yield from paragraphs(text)


def changesets(rows: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    """Yield the list of all changesets."""
    if not rows:
        yield Line(("nothing", "no changesets."))
    for row in rows:
        first, last = day(row["first"]), day(row["last"])
        span = first if first == last else f"{first} to {last}"
        yield Line(("entity", row["id"]), ("", f"  {plural(row['events'], 'event')}, {span}"), hang=4)
