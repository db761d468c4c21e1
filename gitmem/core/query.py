"""What a listing asks for. Values only; `store.listing` turns a query into rows."""

from __future__ import annotations

from collections.abc import Sequence

#: The kinds that a listing lists where none is asked for: what people and agents said.
LISTED = ("change", "lesson")


class Query:
    """The filters of `log`, `search`, `export` and `stats`; an empty value asks for nothing.

    entity      an entity path, as typed and brought to canonical form
    since/until format times; since is inclusive, until exclusive; by `recorded_at`
    types       change types; verdicts, trusts: of the decision, the event
    ids         only these events
    commit      a full commit oid that events are linked to
    path        a file: events on it and below it
    kinds       event kinds, ("any",) for all
    everything  also what is void, retracted, sealed, muted or redacted
    limit       at most so many rows; 0 means all
    as_of       a format time: what held then
    known_at    a format time, or a revision of the log: what was believed then
    """

    __slots__ = (
        "agent",
        "all_scopes",
        "as_of",
        "changeset",
        "commit",
        "entity",
        "everything",
        "ids",
        "kinds",
        "known_at",
        "limit",
        "path",
        "scope",
        "session",
        "since",
        "trusts",
        "types",
        "until",
        "verdicts",
    )

    def __init__(
        self,
        *,
        entity: str = "",
        since: str = "",
        until: str = "",
        types: Sequence[str] = (),
        verdicts: Sequence[str] = (),
        trusts: Sequence[str] = (),
        agent: str = "",
        session: str = "",
        changeset: str = "",
        commit: str = "",
        path: str = "",
        kinds: Sequence[str] = LISTED,
        scope: str = "",
        everything: bool = False,
        all_scopes: bool = False,
        limit: int = 0,
        as_of: str = "",
        known_at: str = "",
    ) -> None:
        self.ids: Sequence[str] = ()
        self.as_of = as_of
        self.known_at = known_at
        self.entity = entity
        self.since = since
        self.until = until
        self.types = tuple(types)
        self.verdicts = tuple(verdicts)
        self.trusts = tuple(trusts)
        self.agent = agent
        self.session = session
        self.changeset = changeset
        self.commit = commit
        self.path = path
        self.kinds = tuple(kinds)
        self.scope = scope
        self.everything = everything
        self.all_scopes = all_scopes
        self.limit = limit
