"""Answers: how a reply says a thing once, to clients that read different halves of it.

A reply has text (`content`) and data (`structuredContent`). Some clients hand their model the data alone, some the
text alone; a reply with everything in both costs a context window twice. So: a client that is known to prefer data
gets the data and a headline; one that is known to read text alone gets the text alone, and no output schemas; any
other gets the data, and as text one line for each thing in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitmem import presenters
from gitmem.core import ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Json = dict[str, object]

#: How the names of clients begin (lower case) that give their model `structuredContent` where there is any.
DATA = ("claude-code", "claude-ai", "codex", "visual studio code", "vscode")
#: Those that give it `content` only.
TEXT = ("cursor", "gemini", "qwen", "cline", "roo", "windsurf", "goose", "opencode", "kiro", "zed", "antigravity")


def reads_data(client: str) -> bool:
    """Say whether `client` (the name that it gave) can use `structuredContent` at all."""
    return not client.lower().startswith(TEXT)


def text_of(client: str, answer: Mapping[str, Any]) -> str:
    """Return the text half of `answer` for `client`."""
    found = list(lines(answer))
    if client.lower().startswith(DATA):
        return found[0]
    return "\n".join(found)


def data_of(answer: Mapping[str, Any]) -> Json:
    """Return `answer` without what says nothing inside it (nulls, empty lists), and the lines that text has."""
    return {name: _pruned(value) for name, value in answer.items() if name != "schema" and value is not None}


def _pruned(value: object) -> object:
    if isinstance(value, dict):
        kept = {name: _pruned(one) for name, one in value.items() if name not in ("line", "fingerprint", "after")}
        return {name: one for name, one in kept.items() if one is not None and one != "" and one != [] and one != {}}
    return [_pruned(one) for one in value] if isinstance(value, list) else value


def lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the answer line by line, the first of them a headline. Recorded text is data, and stays on its line."""
    flat = presenters.flat
    warnings = answer.get("warnings") or []
    if "attempts" in answer:
        attempts = answer["attempts"]
        more = f"; {answer['hidden']} more at a lower confidence" if answer.get("hidden") else ""
        yield f"known: {answer['known']} ({_counted(len(attempts), 'attempt')}{more})"
        yield from (str(one["line"]) for one in attempts)
    elif "text" in answer:  # what was recalled: quoted and cut already
        yield f"known: {answer['known']}"
        yield from str(answer["text"]).split("\n")
    elif answer.get("status") == "logged":
        yield f"logged: {_counted(len(answer['events']), 'event')}"
        yield from (_event(one) for one in answer["events"])
    elif "now" in answer:
        yield f"{_counted(len(answer['decisions']), 'decision')} due for another look"
        yield from (
            f"{_decision(one)}: {flat(one['flag'], 40)}, {flat(one['why'], 240)}" for one in answer["decisions"]
        )
    elif "decisions" in answer:
        counts = ", ".join(f"{number} {name}" for name, number in answer["counts"].items())
        yield counts or "nothing is recorded"
        yield from (_decision(one) for one in answer["decisions"])
    elif "events" in answer:
        yield _counted(len(answer["events"]), "event")
        yield from (_event(one) for one in answer["events"])
    else:
        event = answer.get("event")
        yield _event(event) if event else f"nothing is recorded on {answer.get('entity_path')}"
    yield from (f"warning: {flat(one, 400)}" for one in warnings)


def _event(event: Mapping[str, Any]) -> str:
    flat = presenters.flat
    about = [event.get("change_type") or event.get("action") or event["kind"], event.get("trust")]
    if event.get("effect") not in (None, "applied"):
        about.append(event["effect"])
    about += [ids.short(event["id"]), str(event.get("valid_from") or event["recorded_at"])[:10]]
    approach = f" ({flat(event['approach'], 120)})" if event.get("approach") else ""
    why = flat(event.get("reasoning") or event.get("reason") or event.get("core"), 280) or "no reason is left"
    name = flat(event.get("entity_path") or ", ".join(event.get("paths") or ()) or event.get("topic"), 200)
    parts = [f"[{' · '.join(str(one) for one in about if one)}] {name}{approach}{': ' * bool(name)}{why}"]
    if event.get("instead"):
        parts.append(f"instead: {flat(event['instead'], 160)}")
    if event.get("stale_when"):
        parts.append(f"worth another look when: {flat(event['stale_when'], 160)}")
    return " | ".join(parts)


def _decision(decision: Mapping[str, Any]) -> str:
    flat = presenters.flat
    approach = f" ({flat(decision['approach'], 120)})" if decision.get("approach") else ""
    about = [decision.get("verdict"), decision.get("trust"), ids.short(str(decision.get("standing") or ""))]
    return f"[{' · '.join(str(one) for one in about if one)}] {flat(decision['entity_path'], 200)}{approach}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
