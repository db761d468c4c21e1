"""Reviews: what waits for a person, and what deciding it would change. Pure.

A verdict is decided by `verdicts`; this says which events a person should look at. An event waits where a review
of it would change a verdict, or give one that stands a firmer ground:

pending    it goes against what a person ratified, and does nothing until a person ratifies it
proposed   a closing or a supersede that nobody ratified, and that a verdict rests on
disputed   reviews of it contradict each other, or an agent disputes it: it stands, and does not block
void       a writer without our guard wrote it; it does nothing, and somebody should know why it is there

What a person disputed was looked at, and waits no more. Contested decisions wait too: those are of keys, not of
events, and are listed beside these. So are what can't be read, reviews without the signature that the policy
demands, and, as what is no decision to make but worth a look, what came back in a commit though it is closed, and what
is due.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence

from gitmem.core import digests
from gitmem.core.drafts import Draft
from gitmem.core.events import Event
from gitmem.core.verdicts import Decision, Judgement, judge
from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING, SUPERSEDING, VERSION

PENDING, PROPOSED, CONTESTED, DISPUTED, VOID = "pending", "proposed", "contested", "disputed", "void"
QUARANTINED, UNSIGNED, RELANDED, DUE, OTHER = "quarantined", "unsigned", "relanded", "due", "other"
#: Why something is listed, in the order in which it is shown. `other` is what `review --all` adds.
WHYS = (PENDING, PROPOSED, CONTESTED, DISPUTED, VOID, QUARANTINED, UNSIGNED, RELANDED, DUE, OTHER)
#: Those of them that are for another look: nothing waits for a person there.
LOOKS = (RELANDED, DUE, OTHER)
#: What `review --ratify-all` ratifies of what was shown.
RATIFIABLE = (PENDING, PROPOSED, OTHER)

#: Hex digits of a token: long enough that no other list has it by chance, short enough to type.
TOKEN_LENGTH = 16

Change = namedtuple("Change", ("scope", "entity_path", "approach", "before", "after", "trust_before", "trust_after"))
Change.__doc__ = """How a decision would differ: its verdict and its trust before and after, "" where there is none."""

#: The id of an event that is only supposed. No hash comes out so.
_SUPPOSED = "f" * 64


def parts(draft: Draft, component_of: Callable[[str], int | None]) -> list[Draft]:
    """Return `draft` as one draft for each component that its targets lie in, in the order of the ids.

    A review of several lineages would make one component of them for ever, and each later event on any of them
    would judge all (ADR 0004). What lies in no component (a link) is a part by itself.
    """
    targets = draft.fields.get("targets")
    if draft.kind == "change" or not isinstance(targets, (list, tuple)) or len(targets) < 2:
        return [draft]
    groups: dict[object, list[str]] = {}
    for target in targets:
        groups.setdefault(component_of(target) or target, []).append(target)
    return [draft.with_fields({**draft.fields, "targets": group}) for group in groups.values()]


def token(tip: str, ids: Iterable[str]) -> str:
    """Return what names exactly this list, seen at this tip of the log: `--ratify-all` takes nothing else."""
    return digests.sha256("\n".join((tip, *sorted(set(ids)))).encode()).hexdigest()[:TOKEN_LENGTH]


def aimed(judged: Judgement, events: Iterable[Event], kind: str) -> dict[str, list[Event]]:
    """Return the events of a kind by what they target; of copies (R3), by the one that stands for all."""
    found: dict[str, list[Event]] = {}
    for event in events:
        if event.kind == kind:
            for target in event.targets:
                if judged.event(target) is not None:
                    found.setdefault(judged.standing_for(target).id, []).append(event)
    return found


# --- the same in other words ------------------------------------------------------------------

#: The fields of a change that are what somebody said, and go into what is written anew of it.
_CONTENT = """
    entity_path entity_type change_type reasoning approach instead constraint diff supersedes valid_from valid_to
    revisit_after stale_when expires_when changeset_id fingerprint patterns anchors evidence tags scope
""".split()


def is_editable(event: Event) -> bool:
    """Say whether the event can be written anew in other words: a closing, or what lifts one."""
    return CHANGE_TYPES.get(event.change_type) in (CLOSING, SUPERSEDING) and not event.newer and not event.redacted


def anew(event: Event, other: Mapping[str, object], commits: Iterable[str] = ()) -> Draft:
    """Return the draft that says what a change said, but for the fields in `other`; "" takes one away.

    The commits that the change is linked to become evidence. What a closing closes is for the guard to find out.
    """
    fields = {name: event.fields[name] for name in _CONTENT if name in event.fields}
    fields |= other
    whole = event.change_type == "reject" and not event.approach
    evidence = [*_strings(fields.get("evidence")), *(f"commit:{commit}" for commit in commits)]
    fields["evidence"] = list(dict.fromkeys(evidence))
    return Draft("change", {name: value for name, value in fields.items() if value}, whole=whole)


def _strings(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, (list, tuple)) else []


# --- what waits ------------------------------------------------------------------------------


def why(judged: Judgement, event: Event, effect: str, trust: str, reviewed: Mapping[str, Sequence[Event]]) -> str:
    """Return why `event` waits for a person, of `WHYS`, or "" where it doesn't.

    effect, trust   as `judged` has them
    reviewed        the reviews of the set by what they target, see `aimed`
    """
    if event.newer or trust == "retracted" or judged.standing_for(event.id).id != event.id:
        return ""
    reviews = reviewed.get(event.id, ())
    if effect == VOID:
        return "" if _disputed_by_person(judged, reviews) else VOID
    role = CHANGE_TYPES.get(event.change_type)
    acts = event.kind == "review" or role in (CLOSING, SUPERSEDING) or bool(event.supersedes)
    if not acts:
        return ""  # an opening that waits, waits for a supersede; that one is listed
    if effect == PENDING:
        settled = _disputed_by_person(judged, reviews) or _answered(judged, event, reviewed)
        return "" if settled else PENDING
    if effect == CONTESTED and event.kind == "change":
        return ""  # told with the decision
    bears = judged.is_standing(event.id) if role == CLOSING else _lifts_alone(judged, event)
    if not bears:
        return ""
    if trust == DISPUTED:
        return "" if _disputed_by_person(judged, reviews) else DISPUTED
    return PROPOSED if trust == PROPOSED else ""


def _disputed_by_person(judged: Judgement, reviews: Sequence[Event]) -> bool:
    """Say whether a person's dispute of it is in force and uncontradicted: then somebody looked at it."""
    disputes = [one for one in reviews if one.action == "dispute" and one.channel == "human" and one.basis == "person"]
    return any(judged.effect(one.id)[0] == "applied" for one in disputes)


def _answered(judged: Judgement, review: Event, reviewed: Mapping[str, Sequence[Event]]) -> bool:
    """Say whether a person who saw this review decided on what it is about."""
    return review.kind == "review" and any(
        one.channel == "human" and one.basis == "person" and judged.saw(one.id, review.id)
        for target in review.targets
        if judged.event(target) is not None
        for one in reviewed.get(judged.standing_for(target).id, ())
    )


def _lifts_alone(judged: Judgement, event: Event) -> bool:
    """Say whether a closing would stand again without this event."""
    return any(
        judged.lifted_by(closing) == [event.id] for closing in event.supersedes if judged.event(closing) is not None
    )


# --- what it would change --------------------------------------------------------------------


def outcome(
    judged: Judgement,
    events: Sequence[Event],
    outside: Callable[[str], Iterable[str]],
    action: str,
    target: str,
) -> list[Change]:
    """Return how decisions would differ if a person did `action` (ratify, dispute, retract, resolve) to `target` now.

    judged   what `events`, whole components, come to
    """
    event = Event(
        _SUPPOSED,
        {
            "v": VERSION,
            "kind": "review",
            "action": action,
            "targets": [target],
            "after": judged.heads("", (), [target]),
            "clock": max((event.clock for event in events), default=0) + 1,
            "recorded_at": max((event.recorded_at for event in events), default=""),
            "author": "",
            "scope": "",
            "channel": "human",
            "basis": "person",
        },
    )
    return changes(judged.decisions(), judge([*events, event], outside).decisions())


def changes(before: Iterable[Decision], after: Iterable[Decision]) -> list[Change]:
    """Return the decisions whose verdict or trust differs, in the order of `after`, those that are gone last."""
    was = {_key(decision): decision for decision in before}
    found = []
    for decision in after:
        old = was.pop(_key(decision), None)
        verdict, trust = (old.verdict, old.trust) if old else ("", "")
        if (verdict, trust) != (decision.verdict, decision.trust):
            found.append(_change(decision, verdict, decision.verdict, trust, decision.trust))
    return [*found, *(_change(gone, gone.verdict, "", gone.trust, "") for gone in was.values())]


def _key(decision: Decision) -> tuple[str, frozenset[str], str]:
    return (decision.scope, decision.names, decision.approach_key)


def _change(decision: Decision, before: str, after: str, trust_before: str, trust_after: str) -> Change:
    return Change(decision.scope, decision.entity_path, decision.approach, before, after, trust_before, trust_after)
