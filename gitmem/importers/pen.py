"""The pen: writes an importer's drafts, each source once, and counts those that the log knows."""

from __future__ import annotations

from collections.abc import Container, Iterator

from gitmem.core import digests, entities
from gitmem.core.drafts import Draft
from gitmem.importers.tally import Tally


class Pen:
    """Writes the drafts of one import. `known` are the sources that the log has."""

    def __init__(self, known: Container[str], tally: Tally) -> None:
        self._known = known
        self._sources: set[str] = set()
        self.tally = tally

    def change(self, source: str, where: str, fields: dict[str, object]) -> Iterator[Draft]:
        """Yield the draft of a change with these `fields`, unless its `source` was written or is known.

        `where` is what the source is called in the tally when the change can't be held.
        """
        if source in self._sources:
            self.tally.skip("said twice, under one name", where)
            return
        self._sources.add(source)
        try:
            for name in ("entity_path", "renamed_from"):
                if name in fields:
                    fields[name] = entities.canonical(str(fields[name]))
        except entities.BadName as error:
            self.tally.skip(f"names that can't name an entity ({error})", where)
            return
        if source in self._known:
            self.tally.known += 1
            return
        self.tally.drafts += 1
        yield Draft("change", {"scope": "", **fields, "source": source})


def named(*parts: str) -> str:
    """Return a short name of `parts` that tells none of them: a source survives redaction (F16)."""
    return digests.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
