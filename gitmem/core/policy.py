"""Policy: what `.decisions.toml` says, checked. Pure: it is handed the parsed file.

    [components]                                   # or: components = ["services/billing", "services/bill"]
    billing = "services/billing"
    shop = ["services/shop", "libs/shop-ui"]

    [watch]
    paths = ["db/migrations"]

    [policy]
    require_signed_reviews = true

    [lessons]
    policy = "austere"

    [secrets]                                      # read where secrets are looked for

A *scope* is the path of a component, its first one where it has several; the empty scope is the whole repository.
A component lies below another one where its path does. Paths are matched without case, as entities are, so that
no other spelling of a file's name leads out of its component.

The file decides who sees what, so nothing in it is passed over: a key that isn't known is refused, with the
nearest one that is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from gitmem.core import digests, entities
from gitmem.core.lineages import entity_key

FILE_NAME = ".decisions.toml"
#: Tables, and the keys of those that are closed. `secrets` is checked by its reader, and kept in `Policy.raw`.
_TABLES = ("components", "watch", "policy", "lessons", "secrets")
_WATCH_KEYS = ("paths",)
_POLICY_KEYS = ("require_signed_reviews",)
_LESSONS_KEYS = ("policy",)
COMPONENTS_MAX = 4096


class BadPolicy(ValueError):
    """The file can't be followed. `key` names the place, `what` says why, `nearest` a known key that is like it."""

    def __init__(self, key: str, what: str, nearest: str = "") -> None:
        super().__init__(f"{key}: {what}" if key else what)
        self.key = key
        self.what = what
        self.nearest = nearest


class Component:
    """A part of the repository whose decisions are its own. `scope` is the first of its `paths`."""

    __slots__ = ("name", "paths", "scope")

    def __init__(self, name: str, paths: tuple[str, ...]) -> None:
        self.name = name
        self.paths = paths
        self.scope = paths[0]

    def holds(self, path: str) -> bool:
        """Say whether the path, from the root of the repository, is one of the component's or lies below one."""
        return bool(_depth(self, path))


class Policy:
    """A checked policy file.

    components               in the order of the file
    watch                    paths whose changes want a decision
    require_signed_reviews   only a signed review counts as a person's
    lessons                  the name of the policy by which lessons fade; "" is the default
    raw                      the whole file as parsed, for readers of their own tables
    digest                   what goes into the field `policy` of each event: SHA-256 (hex) of the file's canonical JSON
    """

    __slots__ = ("components", "digest", "lessons", "raw", "require_signed_reviews", "watch")

    def __init__(
        self,
        components: tuple[Component, ...],
        watch: tuple[str, ...],
        raw: Mapping[str, object],
        *,
        require_signed_reviews: bool,
        lessons: str = "",
    ) -> None:
        self.lessons = lessons
        self.components = components
        self.watch = watch
        self.raw = raw
        self.require_signed_reviews = require_signed_reviews
        self.digest = digest(raw)

    def scope_at(self, path: str) -> str:
        """Return the scope of the innermost component that holds `path`, or ""."""
        found = max(self.components, key=lambda one: _depth(one, path), default=None)
        return found.scope if found is not None and found.holds(path) else ""

    def scope_of(self, entity: str, place: str, *, is_there: bool = False) -> str:
        """Return the scope of an event: the component of the entity's file, else of the directory `place`.

        is_there   the file exists: where it lies in no component, it belongs to the whole repository
        """
        path = entities.place_of(entity)
        if path:
            scope = self.scope_at(path)
            if scope or is_there:
                return scope
        return self.scope_at(place)

    def named(self, typed: str) -> Component | None:
        """Return the component that `typed` means, by its name or by one of its paths."""
        wanted = typed.strip().removeprefix("./").strip("/")
        for one in self.components:
            if typed.strip() == one.name:
                return one
        for one in self.components:
            if entity_key(wanted) in map(entity_key, one.paths):
                return one
        return None

    def nearest(self, typed: str) -> str:
        """Return the name of a component that is like `typed`, or ""."""
        return _nearest(typed, [word for one in self.components for word in (one.name, *one.paths)])


def digest(raw: Mapping[str, object]) -> str:
    """Return the SHA-256 (hex) of the one JSON spelling of a parsed file: comments and layout don't count."""
    text = json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return digests.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def checked(raw: Mapping[str, object]) -> Policy:
    """Return the policy that a parsed file states. Raises BadPolicy."""
    _known("", raw, _TABLES)
    watch = raw.get("watch", {})
    if isinstance(watch, Mapping):
        _known("watch", watch, _WATCH_KEYS)
        watched = _paths("watch.paths", watch.get("paths", []), empty=True)
    else:
        watched = _paths("watch", watch, empty=True)
    rules = raw.get("policy", {})
    if not isinstance(rules, Mapping):
        raise BadPolicy("policy", "is a table, written [policy]")
    _known("policy", rules, _POLICY_KEYS)
    signed = rules.get("require_signed_reviews", False)
    if not isinstance(signed, bool):
        raise BadPolicy("policy.require_signed_reviews", "is true or false")
    taught = raw.get("lessons", {})
    if not isinstance(taught, Mapping):
        raise BadPolicy("lessons", "is a table, written [lessons]")
    _known("lessons", taught, _LESSONS_KEYS)
    lessons = taught.get("policy", "")
    if not isinstance(lessons, str):
        raise BadPolicy("lessons.policy", 'is a name, such as "austere"')
    if not isinstance(raw.get("secrets", {}), Mapping):
        raise BadPolicy("secrets", "is a table, written [secrets]")
    return Policy(_components(raw.get("components", {})), watched, raw, require_signed_reviews=signed, lessons=lessons)


def _components(given: object) -> tuple[Component, ...]:
    found: list[Component] = []
    if isinstance(given, Mapping):
        for name, paths in given.items():
            if not str(name).strip():
                raise BadPolicy("components", "a component has no name")
            found.append(Component(str(name), _paths(f"components.{name}", paths)))
    elif isinstance(given, list):
        found = [Component(path, (path,)) for path in _paths("components", given, empty=True)]
    else:
        raise BadPolicy("components", 'is a table of names and paths, or a list of paths such as ["services/billing"]')
    if len(found) > COMPONENTS_MAX:
        raise BadPolicy("components", f"has more than {COMPONENTS_MAX:,} entries")
    owners: dict[str, str] = {}
    for one in found:
        for path in one.paths:
            other = owners.setdefault(entity_key(path), one.name)
            if other != one.name:
                raise BadPolicy(f"components.{one.name}", f"{path} belongs to {other} already")
    return tuple(found)


def _paths(key: str, given: object, *, empty: bool = False) -> tuple[str, ...]:
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, list) or not all(isinstance(path, str) for path in several):
        raise BadPolicy(key, 'is a path such as "services/billing", or a list of paths')
    if not several and not empty:
        raise BadPolicy(key, "names no path")
    found: dict[str, None] = {}
    for path in several:
        if path.startswith(("/", "~")) or entities.SYMBOL in path or "\\" in path:
            raise BadPolicy(key, f"{path!r} is no path from the root of the repository")
        try:
            found[entities.canonical(path)] = None
        except entities.BadName as error:
            raise BadPolicy(key, f"{path!r} is no path below the root of the repository: {error}") from None
    return tuple(found)


def _known(table: str, given: Mapping[str, object], keys: Iterable[str]) -> None:
    known = list(keys)
    for key in given:
        if key not in known:
            where = f"{table}.{key}" if table else str(key)
            raise BadPolicy(where, f"no such key; known are {', '.join(known)}", _nearest(str(key), known))


def _nearest(word: str, known: list[str]) -> str:
    import difflib  # here: only a refusal needs it

    near = difflib.get_close_matches(word.lower(), known, 1, 0.5)
    return near[0] if near else ""


def _depth(component: Component, path: str) -> int:
    """Return how long the component's path that holds `path` is, or 0."""
    key = entity_key(path) if path else ""
    return max(
        (len(own) for own in map(entity_key, component.paths) if key == own or key.startswith(own + "/")), default=0
    )
