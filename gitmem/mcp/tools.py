"""The tools: what an agent may ask and write, as a table of data, and what each does with `Memory`.

Names and parameters are Selvedge's where it has them, so that prompts and configurations of its users go on
working. Schemas keep to what every client reads: no references, no alternatives, one type for each value.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping

from gitmem import presenters
from gitmem.core import dates, vocabulary
from gitmem.core.drafts import Draft
from gitmem.core.query import Query
from gitmem.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.memory import Memory

Json = dict[str, object]

#: The most rows that a tool gives, whatever is asked for: a reply goes into a context window.
LIMIT_MAX = 200
#: Fields of `log_change` that go into the draft under their own name.
_PLAIN = (
    "entity_path",
    "change_type",
    "entity_type",
    "reasoning",
    "approach",
    "instead",
    "constraint",
    "diff",
    "stale_when",
    "expires_when",
    "revisit_after",
    "changeset_id",
    "agent",
    "session_id",
)
#: The same, under another name.
_NAMED = {"git_commit": "commit", "rename_from": "renamed_from"}


class Tool:
    """One tool as a client sees it, and the function that answers it.

    properties  of its arguments, as JSON Schema; `required` names those that must be there
    gives       the properties of its answer
    """

    __slots__ = ("about", "answer", "gives", "name", "properties", "reads", "required", "title")

    def __init__(
        self,
        name: str,
        title: str,
        about: str,
        answer: Callable[[Memory, Mapping[str, Any]], Json],
        properties: Mapping[str, Mapping[str, object]],
        gives: Mapping[str, Mapping[str, object]],
        *,
        required: tuple[str, ...] = (),
        reads: bool = True,
    ) -> None:
        self.name = name
        self.title = title
        self.about = about
        self.answer = answer
        self.properties = properties
        self.gives = gives
        self.required = required
        self.reads = reads


# --- what each does ---------------------------------------------------------------------------


def log_change(memory: Memory, given: Mapping[str, Any]) -> Json:
    fields: dict[str, object] = {name: given[name] for name in _PLAIN if given.get(name) not in (None, "")}
    for name, ours in _NAMED.items():
        if given.get(name):
            fields[ours] = given[name]
    fields.setdefault("reasoning", "")
    supersedes = _ids(given.get("supersedes"))
    if supersedes:
        fields["supersedes"] = supersedes
    evidence = _lines(given.get("evidence"))
    if evidence:
        fields["evidence"] = evidence
    if fields.get("entity_type") == "other":
        del fields["entity_type"]  # Selvedge's default: nothing is known
    draft = Draft("change", fields, whole=bool(given.get("whole")), redact_secrets=bool(given.get("redact_secrets")))
    answer = presenters.record(memory.record(draft))
    warnings = list(_list(answer["warnings"]))
    if given.get("project"):
        warnings.append("`project` was not recorded: a decision's component comes from .decisions.toml")
    events = _list(answer["events"])
    told = _dict(events[-1]) if events else {}
    return {
        "status": "logged",
        "id": told.get("id"),
        "timestamp": told.get("recorded_at"),
        "supersedes": told.get("supersedes") or [],
        "effect": told.get("effect"),
        "trust": told.get("trust"),
        "verdict": told.get("verdict"),
        "events": events,
        "warnings": warnings,
    }


def retract(memory: Memory, given: Mapping[str, Any]) -> Json:
    fields: dict[str, object] = {
        "action": "retract",
        "targets": _ids(given.get("ids")),
        "reason": str(given.get("reason") or ""),
    }
    answer = presenters.record(memory.record(Draft("review", fields)))
    return {"status": "logged", "events": answer["events"], "warnings": answer["warnings"]}


def prior_attempts(memory: Memory, given: Mapping[str, Any]) -> Json:
    about = " ".join(str(given[name]) for name in ("description", "fuzzy") if given.get(name))
    entity = str(given.get("entity_path") or "")
    content = str(given.get("content") or "")
    if not (about or entity or content):
        raise Refused(
            field="entity_path", what="nothing was asked for", hint="give entity_path, description or content."
        )
    found = memory.prior(
        entity or None,
        about=about,
        content=content,
        everything=given.get("min_confidence") in ("proximity_low", "open"),
        window_s=_count(given, "window_minutes", 10080) * 60,
    )
    found.attempts = found.attempts[: _count(given, "limit", 20)]
    return presenters.prior(found)


def status(memory: Memory, given: Mapping[str, Any]) -> Json:
    return presenters.status(memory.status(str(given.get("entity_path") or "") or None))


def blame(memory: Memory, given: Mapping[str, Any]) -> Json:
    return presenters.blame(memory.blame(str(given["entity_path"])))


def diff(memory: Memory, given: Mapping[str, Any]) -> Json:
    return presenters.log(memory.log(Query(entity=str(given["entity_path"]), limit=_count(given, "limit", 20))))


def history(memory: Memory, given: Mapping[str, Any]) -> Json:
    query = Query(
        entity=str(given.get("entity_path") or ""),
        since=_since(str(given.get("since") or "")),
        changeset=str(given.get("changeset_id") or ""),
        limit=_count(given, "limit", 50),
    )
    return presenters.log(memory.log(query))


def changeset(memory: Memory, given: Mapping[str, Any]) -> Json:
    return presenters.changeset(memory.changeset(str(given["changeset_id"]), Query(limit=LIMIT_MAX)))


def search(memory: Memory, given: Mapping[str, Any]) -> Json:
    return presenters.search(memory.search(str(given["query"]), Query(limit=_count(given, "limit", 20))))


def stale_decisions(memory: Memory, given: Mapping[str, Any]) -> Json:
    found = memory.stale(str(given.get("entity_path") or "") or None)
    agent = str(given.get("agent") or "")
    if agent:
        found.rows = [due for due in found.rows if due.row.event.fields.get("agent") == agent]
    found.rows = found.rows[: _count(given, "limit", 20)]
    return presenters.stale(found)


def recall(memory: Memory, given: Mapping[str, Any]) -> Json:
    paths = [part.strip() for part in re.split(r"[\n,]+", str(given.get("paths") or "")) if part.strip()]
    query = str(given["query"])
    used = _ids(given.get("applied"))
    if used:
        memory.applied(used)
    answer = presenters.recall(memory.recall(query, paths=paths, budget=int(given.get("budget") or 0)), query)
    # The budget holds for what the model reads, so nothing is said twice: the text, and no list beside it.
    return {name: answer[name] for name in ("known", "left_out", "text")}


def log_lesson(memory: Memory, given: Mapping[str, Any]) -> Json:
    names = ("topic", "outcome", "severity", "cost", "binding", "agent", "session_id")
    fields: dict[str, object] = {name: given[name] for name in names if given.get(name) not in (None, "")}
    fields["core"] = str(given["lesson"])
    for name, separator in (("paths", r"[\n,]+"), ("evidence", r"\n+")):
        parts = [part.strip() for part in re.split(separator, str(given.get(name) or "")) if part.strip()]
        if parts:
            fields[name] = parts
    draft = Draft("lesson", fields, redact_secrets=bool(given.get("redact_secrets")))
    answer = presenters.record(memory.teach(draft))
    return {"status": "logged", "events": answer["events"], "warnings": answer["warnings"]}


# --- the table --------------------------------------------------------------------------------


def _text(about: str) -> dict[str, object]:
    return {"type": "string", "description": about}


def _number(about: str, default: int, most: int = LIMIT_MAX) -> dict[str, object]:
    return {"type": "integer", "minimum": 1, "maximum": most, "default": default, "description": about}


def _flag(about: str) -> dict[str, object]:
    return {"type": "boolean", "default": False, "description": about}


_ENTITY = _text("users.email, users, src/auth.py, src/auth.py::login, api/v1/users, deps/stripe or env/STRIPE_KEY")
_OBJECTS = {"type": "array", "items": {"type": "object"}}
_STRINGS = {"type": "array", "items": {"type": "string"}}
_STRING = {"type": "string"}
_OBJECT = {"type": "object"}
_WHOLE = {"type": "integer"}

TOOLS = (
    Tool(
        "prior_attempts",
        "What was tried before",
        "Ask BEFORE you edit: what was tried on this entity, what was rejected or reverted, why, what was chosen "
        "instead, and what would change that. `known` says yes, weak or nothing.",
        prior_attempts,
        {
            "entity_path": _ENTITY,
            "description": _text("what you are about to do, in words; finds attempts elsewhere too"),
            "content": _text("the lines or the diff that you are about to write; finds what they bring back"),
            "fuzzy": _text("more words to look for"),
            "min_confidence": {
                "type": "string",
                "enum": ["exact", "proximity_high", "proximity_low", "open"],
                "default": "proximity_high",
                "description": "proximity_low and open add what was removed late, and what still stands",
            },
            "window_minutes": _number("how soon a removal must follow to count as proximity_high", 10080, 525_600),
            "limit": _number("at most so many", 20),
        },
        {"known": _STRING, "attempts": _OBJECTS, "hidden": _WHOLE},
    ),
    Tool(
        "log_change",
        "Record a decision",
        "Record AFTER you add, change, remove or reject a column, table, function, route, dependency, variable or "
        "file: why it is so, what was chosen instead, what would change that. One call for each entity.",
        log_change,
        {
            "entity_path": _ENTITY,
            "change_type": {
                "type": "string",
                "enum": list(vocabulary.CHANGE_TYPES),
                "description": "reject: an approach is not to be taken; supersede: re-open what stands closed",
            },
            "reasoning": _text("why: the request, the constraint or the bug behind it; not what the diff shows"),
            "approach": _text("what was tried or rejected, in a few words; a reject with it closes that approach only"),
            "instead": _text("what was chosen instead"),
            "constraint": _text("the principle behind it"),
            "stale_when": _text("what would make this worth another look, in words"),
            "expires_when": _text("library:NAME>=VERSION, entity:PATH:changes, date:ISO or manual:LABEL"),
            "revisit_after": _text("an ISO date or an offset such as 90d"),
            "diff": _text("the change itself, where its lines should be known when they come back"),
            "entity_type": _text("column, table, function, …; by default told from the path"),
            "supersedes": _text("ids of what is re-opened, separated by blanks"),
            "rename_from": _text("the name it had"),
            "changeset_id": _text("a slug that groups the changes of one feature"),
            "evidence": _text("a commit, test, CI run or URL; one a line"),
            "git_commit": _text("the commit that this belongs to, where it is made already"),
            "whole": _flag("a reject without an approach closes the entity with everything on it"),
            "redact_secrets": _flag("store a marker in the place of what looks like a secret"),
            "agent": _text("your name"),
            "session_id": _text("your session"),
            "project": _text("not recorded"),
        },
        {
            "status": _STRING,
            "id": _STRING,
            "timestamp": _STRING,
            "effect": _STRING,
            "trust": _STRING,
            "verdict": _STRING,
            "supersedes": _STRINGS,
            "events": _OBJECTS,
            "warnings": _STRINGS,
        },
        required=("entity_path", "change_type", "reasoning"),
        reads=False,
    ),
    Tool(
        "recall",
        "What is worth knowing",
        "Ask at the start of a task, in its own words: decisions that it names, rules, and lessons from what went "
        "wrong or held up. Each line says how far to trust it. `known` is yes or nothing, and nothing is an answer.",
        recall,
        {
            "query": _text("what you are about to do, in words"),
            "paths": _text("the files in hand, separated by commas"),
            "budget": {
                "type": "integer",
                "minimum": 1,
                "maximum": 100_000,
                "default": 2000,
                "description": "at most so many tokens; a byte counts as one",
            },
            "applied": _text("ids of lessons and rules told before that helped, separated by blanks: they stay near"),
        },
        {"known": _STRING, "left_out": _WHOLE, "text": _STRING},
        required=("query",),
    ),
    Tool(
        "log_lesson",
        "Keep what was learned",
        "After something cost you time, went wrong or held up: one sentence that would have helped you. An experience, "
        "which fades unless it recurs; what was decided goes to log_change.",
        log_lesson,
        {
            "lesson": _text("one sentence, at most 280 characters; no later event changes a word of it"),
            "topic": _text("what it is about, in a word or two"),
            "paths": _text("the files that it belongs to, separated by commas"),
            "outcome": {
                "type": "integer",
                "minimum": -100,
                "maximum": 100,
                "description": "from -100 (caused an incident) to 100 (held up)",
            },
            "severity": {
                "type": "integer",
                "minimum": 0,
                "maximum": 100,
                "description": "how bad it is to forget it",
            },
            "cost": {
                "type": "integer",
                "minimum": 0,
                "maximum": 2_147_483_647,
                "description": "minutes that it cost",
            },
            "binding": {"type": "string", "enum": ["note", "practice", "policy"], "description": "how far it binds"},
            "evidence": _text("a commit, test, CI run or URL; one a line"),
            "redact_secrets": _flag("store a marker in the place of what looks like a secret"),
            "agent": _text("your name"),
            "session_id": _text("your session"),
        },
        {"status": _STRING, "events": _OBJECTS, "warnings": _STRINGS},
        required=("lesson",),
        reads=False,
    ),
    Tool(
        "status",
        "What stands",
        "The verdict on an entity and on each child (active, rejected, reverted, reopened, removed, contested), or "
        "without one a summary of the repository.",
        status,
        {"entity_path": _ENTITY},
        {"entity_path": _STRING, "counts": _OBJECT, "decisions": _OBJECTS},
    ),
    Tool(
        "blame",
        "Who last changed it",
        "The newest change of exactly this entity: who, when, in which commit, why.",
        blame,
        {"entity_path": _ENTITY},
        {"entity_path": _STRING, "event": _OBJECT},
        required=("entity_path",),
    ),
    Tool(
        "diff",
        "The trail of an entity",
        "The changes of an entity and of what lies below it, newest first, with the diffs that were recorded.",
        diff,
        {"entity_path": _ENTITY, "limit": _number("at most so many", 20)},
        {"entity_path": _STRING, "events": _OBJECTS},
        required=("entity_path",),
    ),
    Tool(
        "history",
        "The log",
        "The newest changes, of everything or of one entity or changeset.",
        history,
        {
            "since": _text("an ISO date, or an offset back from now such as 7d"),
            "entity_path": _ENTITY,
            "changeset_id": _text("only this changeset"),
            "project": _text("ignored: a read sees its own component"),
            "limit": _number("at most so many", 50),
        },
        {"events": _OBJECTS},
    ),
    Tool(
        "changeset",
        "One changeset",
        "The changes that one changeset_id groups, oldest first.",
        changeset,
        {"changeset_id": _text("its slug")},
        {"events": _OBJECTS},
        required=("changeset_id",),
    ),
    Tool(
        "search",
        "Search",
        "Changes by words in their entity, approach, reason and condition, best first.",
        search,
        {"query": _text("words"), "limit": _number("at most so many", 20)},
        {"events": _OBJECTS},
        required=("query",),
    ),
    Tool(
        "stale_decisions",
        "What is due for another look",
        "Decisions whose condition has come, whose date has passed, or whose rejected lines came back.",
        stale_decisions,
        {
            "entity_path": _ENTITY,
            "project": _text("ignored: a read sees its own component"),
            "agent": _text("only those that this agent recorded"),
            "limit": _number("at most so many", 20),
        },
        {"now": _STRING, "counts": _OBJECT, "decisions": _OBJECTS},
    ),
    Tool(
        "retract",
        "Take back what you recorded",
        "Take back proposals of your own that were a mistake. What a person ratified is theirs to take back.",
        retract,
        {"ids": _text("ids or their beginnings, separated by blanks"), "reason": _text("why they were wrong")},
        {"status": _STRING, "events": _OBJECTS, "warnings": _STRINGS},
        required=("ids", "reason"),
        reads=False,
    ),
)


# --- what clients send ------------------------------------------------------------------------


def check(tool: Tool, given: Mapping[str, Any]) -> None:
    """Raise Refused where an argument is missing, has another type than the tool says, or isn't known."""
    for name in tool.required:
        if given.get(name) in (None, ""):
            raise Refused(field=name, what="it is missing", hint=f"{tool.name} needs {', '.join(tool.required)}.")
    for name, value in given.items():
        about = tool.properties.get(name)
        if about is None:
            known = ", ".join(tool.properties)
            raise Refused(field=name, what=f"{tool.name} has no such argument", hint=f"it takes {known}.")
        if value is not None and not _fits(value, str(about["type"]), name):
            raise Refused(field=name, what=f"it must be a {about['type']}, not {value!r:.80}")
        least, most = about.get("minimum"), about.get("maximum")
        if isinstance(least, int) and isinstance(most, int) and value is not None and not least <= value <= most:
            raise Refused(field=name, what=f"it must lie between {least} and {most}, and is {value}")


def _fits(value: object, kind: str, name: str) -> bool:
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name in ("supersedes", "ids", "evidence") and isinstance(value, list):
        return all(isinstance(item, str) for item in value)  # what many clients make of "ids"
    return isinstance(value, str)


def _ids(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(item) for item in value]
    return re.split(r"[\s,]+", value.strip()) if isinstance(value, str) and value.strip() else []


def _lines(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(item) for item in value]
    return [line.strip() for line in str(value or "").splitlines() if line.strip()]


def _count(given: Mapping[str, Any], name: str, default: int) -> int:
    value = given.get(name)
    return default if value is None else int(value)


def _since(typed: str) -> str:
    if not typed:
        return ""
    try:
        return dates.of_seconds(time.time() - dates.span(typed))
    except dates.BadTime:
        pass
    try:
        return dates.instant(typed)
    except dates.BadTime as error:
        raise Refused(field="since", what=str(error), hint="or an offset back from now such as 7d.") from None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
