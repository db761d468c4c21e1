"""Prompts and resources: what a person may pick in a client that shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from gitmem import presenters
from gitmem.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.memory import Memory

#: name -> (title, what it is for, its one argument, what that is, the text)
PROMPTS = {
    "before_editing": (
        "Before editing",
        "Look up what was tried, rejected and reverted before a change is planned.",
        "entity",
        "users.email, src/auth.py, deps/redis …",
        "Before you plan the change of {entity}, call `prior_attempts` with entity_path {entity}, and once more with "
        "a description of what you mean to do. Tell me what was tried, what was rejected and why, and whether the "
        "condition that would change it holds now. If what you mean to do was rejected, propose another way, or "
        "argue for a `supersede` and wait for my answer.",
    ),
    "record_decisions": (
        "Record decisions",
        "Record what this session decided, with its reasons.",
        "changeset",
        "a slug that groups them, such as add-stripe-billing",
        "Go through what you changed and what you decided against in this session. For each entity call `log_change` "
        "with changeset_id {changeset}: the reason in my words where I gave one, what was chosen instead of what, "
        "and what would make it worth another look. Rejected approaches are change_type reject with `approach`. "
        "Then list the ids.",
    ),
}

#: uri -> (title, what it is)
RESOURCES = {"decisions://status": ("What stands", "Counts of verdicts, the worst decisions, what waits for review.")}
#: uri template -> (title, what it is)
TEMPLATES = {
    "decisions://event/{id}": ("One event", "An event whole: its links, reviews, what it closed and what closed it."),
    "decisions://entity/{path}": ("One entity", "The verdicts on an entity and on what lies below it."),
}


def prompt(name: str, given: Mapping[str, str]) -> str:
    """Return the text of a prompt. Raises Refused."""
    if name not in PROMPTS:
        raise Refused(field="name", what=f"there is no prompt {name[:80]!r}")
    argument, text = PROMPTS[name][2], PROMPTS[name][4]
    if not given.get(argument):
        raise Refused(field=argument, what="it is missing")
    return text.replace("{" + argument + "}", presenters.flat(given[argument], 200))


def resource(memory: Memory, uri: str) -> str:
    """Return the JSON of a resource. Raises Refused, UnknownId, AmbiguousId, NoLog."""
    from urllib.parse import unquote

    kind, _, rest = uri.removeprefix("decisions://").partition("/")
    name = unquote(rest)
    if uri == "decisions://status":
        found = presenters.status(memory.status())
    elif kind == "event" and name:
        found = presenters.show(memory.show(name))
    elif kind == "entity" and name:
        found = presenters.status(memory.status(name))
    else:
        raise Refused(field="uri", what=f"there is no resource {uri[:120]!r}")
    return json.dumps(found, ensure_ascii=False)
