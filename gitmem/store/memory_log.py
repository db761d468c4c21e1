"""A log in memory: the protocol without git, for tests and for trying things out.

It keeps real objects under real oids, so a log can be copied object by object between this and git.
Objects can be lost on purpose (`lose`). The contract suite holds it to what the
two git logs do, which is what makes it a trustworthy double.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gitmem.core.objects import SHA1, ObjectFormat
from gitmem.store.log import OBJECT_MAX, Condition, Stored, TipMoved, files_of, parents_of, tree_of


class MemoryLog:
    """The log of no repository. `objects` maps oid -> (kind, bytes); `reflog` holds (old, new, message)."""

    def __init__(self, form: ObjectFormat = SHA1) -> None:
        self.form = form
        self.objects: dict[str, tuple[str, bytes]] = {form.empty_tree: ("tree", b"")}
        self.reflog: list[tuple[str | None, str, str]] = []
        self.state = Condition()
        self._tip: str | None = None

    def tip(self) -> str | None:
        return self._tip

    def walk(self, tip: str, known: Iterable[str] = ()) -> Iterator[Stored]:
        hidden: set[str] = set()
        waiting = [oid for oid in known if oid in self.objects]
        while waiting:
            oid = waiting.pop()
            if oid not in hidden:
                hidden.add(oid)
                waiting.extend(self._parents(oid))
        stack = [(tip, False)]
        while stack:
            oid, done = stack.pop()
            if done:
                yield self._stored(oid)
            elif oid not in hidden:
                hidden.add(oid)
                stack.append((oid, True))
                stack.extend((parent, False) for parent in reversed(self._parents(oid)))

    def contains(self, descendant: str, ancestor: str) -> bool:
        if ancestor not in self.objects or descendant not in self.objects:
            return False
        seen: set[str] = set()
        waiting = [descendant]
        while waiting:
            oid = waiting.pop()
            if oid == ancestor:
                return True
            if oid not in seen:
                seen.add(oid)
                waiting.extend(self._parents(oid))
        return False

    def publish(self, objects: Sequence[tuple[str, bytes]], new: str, old: str | None, message: str) -> None:
        for kind, data in objects:
            self.objects[self.form.oid(kind, data)] = (kind, data)
        if objects and new not in {self.form.oid(kind, data) for kind, data in objects}:
            raise ValueError(f"the new tip {new} is none of the objects given")
        if self._tip != old:
            raise TipMoved(self._tip)
        if new not in self.objects:
            raise ValueError(f"there is no object {new}")
        self._tip = new
        self.reflog.append((old, new, message))

    publish_many = publish

    def condition(self) -> Condition:
        return self.state

    # --- what tests do to it -----------------------------------------------------------------

    def lose(self, oid: str) -> None:
        """Take the object `oid` away, as a partial clone or a prune would."""
        del self.objects[oid]

    def move(self, tip: str | None) -> None:
        """Put the ref somewhere else behind everybody's back, as a forced push or `update-ref` would."""
        self._tip = tip

    def _read(self, oid: str, wanted: str) -> tuple[str, bytes]:
        if oid not in self.objects:
            return "missing", b""
        kind, data = self.objects[oid]
        return (kind, data) if kind == wanted and len(data) <= OBJECT_MAX else ("damaged", b"")

    def _parents(self, oid: str) -> tuple[str, ...]:
        kind, commit = self._read(oid, "commit")
        return parents_of(commit) if kind == "commit" and oid not in self.state.edges else ()

    def _stored(self, oid: str) -> Stored:
        lost: dict[str, list[str]] = {"missing": [], "damaged": []}

        def get(name: str, wanted: str) -> bytes | None:
            kind, data = self._read(name, wanted)
            if kind == wanted:
                return data
            lost[kind].append(name)
            return None

        commit = get(oid, "commit")
        tree = None
        files: dict[str, bytes | None] = {}
        if commit is not None:
            tree = get(tree_of(commit), "tree")
            for name, blob in files_of(tree or b"", self.form.digest_size) or ():
                files[name] = get(blob, "blob")
        return Stored(oid, commit or b"", tree, files, tuple(lost["missing"]), tuple(lost["damaged"]))
