"""What an edit brings in anew: the entities that its added lines name and that its file didn't have before.

Pure functions of a path and two texts. What a name is depends on the kind of file (`docs/detection.md` has the whole
table): DDL in SQL files and in the strings of migrations, the columns of models, dependencies in manifests and
imports, environment variables, routes, symbols, and the file itself. Prose names nothing but its own file.

No parser of any language: a reader for each that knows comments from strings from code and looks for a few forms.
So a fragment is read as far as it goes, in linear time, and an odd text gives no names rather than an error.
Forms that compute a name (`getattr`, string concatenation, macros) are not seen.

Each reader is imported when a file of its kind is met; a hook pays for one of them.
"""

from __future__ import annotations

from collections import namedtuple

from gitmem.core import entities
from gitmem.core.entering.found import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Reader = Callable[[str, str, Found], None]

#: Of a longer text only so many characters are read.
TEXT_MAX = 1_000_000
#: So many characters before the first change say what it belongs to.
LEAD = 200_000
#: More names than this are not told of one edit.
ENTERING_MAX = 5_000

Entering = namedtuple("Entering", ("name", "entity_type", "line"))
Entering.__doc__ = """An entity that an edit brings in.

name: its canonical entity path. entity_type: a word of `vocabulary.ENTITY_TYPES`. line: where `after` names it, from 1.
"""


def found(path: str, before: str | None, after: str | None) -> list[Entering]:
    """Return the entities that the change of the file at `path` from `before` to `after` brings in, by line.

    `path` is from the root of the repository, with `/`; `before` and `after` are the whole text of the file, None
    where there is no such file. What stood in the file before, at another place or indented otherwise, isn't brought
    in, nor is what is taken away, commented out, or only quoted (but for SQL in strings). Symbols are told where their
    line is new; other things too where the line that says what they belong to is (`ALTER TABLE` before `ADD COLUMN`).

    One thing may have several names, all told with the same line, since people record it under any of them:

    - a table with a schema: `app.users`, `users`; an index: `users.by_email`, `by_email`
    - a model: its own table name if it says one, else `payments_cardtoken` (Django), `CardToken`, `card_token` and
      `card_tokens`, and its columns below each; a column as the class spells it, in snake case, and with `_id` if it
      is a foreign key
    - a Python package: as written, and normalised with `-` and with `_`; an import also by the name of its
      distribution (`yaml` is `pyyaml`); npm: `@scope/pkg` and `scope/pkg`; a crate with `-` and with `_`; a Go module
      whole, without its major version, and its last part; Java: `group:artifact` and `artifact`
    - a route: as written below `api/`, with the prefix of its router, and with its parameters as `{id}`, `:id`, `<id>`
    - a method: `a.py::Class.method` and `a.py::Class::method`

    Of a longer text only TEXT_MAX characters are read, from LEAD before the first change on; at most ENTERING_MAX names
    are told. A notebook is read as the code of its cells; its lines have no numbers (0).
    """
    if after is None or after == before:
        return []
    told: dict[str, Entering] = {}
    if before is None:
        _tell(told, [path], "file", 1)
    readers = _readers(path)
    if readers:
        is_notebook = path[-6:].lower() == ".ipynb"
        if is_notebook:
            from gitmem.core.entering import notebook

            before, after = notebook.code(before or ""), notebook.code(after)
        old, text, skipped = _window((before or "").removeprefix("\ufeff"), after.removeprefix("\ufeff"))
        now = Found(old, text)
        for reader in readers:
            reader(path, text, now)
        new = now.candidates()
        # Looking for many words in the text before takes longer than reading it.
        if new and (len(new) > 200 or not all(now.is_unseen(one) for one in new)):
            then = Found("", old)
            for reader in readers:
                reader(path, old, then)
            known = {name.lower() for one in then.forward() for name in one.names}
            new = [one for one in new if one.names[0].lower() not in known]
        for one in sorted(new, key=lambda one: one.at):
            _tell(told, one.names, one.entity_type, 0 if is_notebook else now.line(one.at) + skipped)
    return list(told.values())


def _window(old: str, text: str) -> tuple[str, str, int]:
    """Return what is read of two texts, and how many lines before it are not."""
    if len(text) <= TEXT_MAX and len(old) <= TEXT_MAX:
        return old, text, 0
    from gitmem.core.entering.found import common

    begin = max(0, common(old, text, min(len(old), len(text))) - LEAD)
    begin = text.rfind("\n", 0, begin) + 1
    return old[begin : begin + TEXT_MAX], text[begin : begin + TEXT_MAX], text.count("\n", 0, begin)


def _tell(told: dict[str, Entering], names: list[str], entity_type: str, line: int) -> None:
    for name in names:
        if len(told) >= ENTERING_MAX:
            return
        try:
            name = entities.canonical(name)
        except entities.BadName:
            continue
        told.setdefault(name.lower(), Entering(name, entity_type, line))


# --- which reader reads what -------------------------------------------------------------------

_SCRIPTS = frozenset("js jsx mjs cjs ts tsx mts cts vue svelte astro".split())
_JAVA = frozenset("java kt kts groovy gradle scala".split())
_RUBY = frozenset("rb rake ru gemspec podspec jbuilder builder thor".split())
_RUBY_NAMES = frozenset("gemfile rakefile capfile guardfile vagrantfile fastfile brewfile".split())
_MANIFESTS = frozenset(
    """
    pyproject.toml setup.py setup.cfg pipfile package.json composer.json cargo.toml go.mod go.work gemfile gems.rb
    pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts libs.versions.toml
    """.split()
)


def _readers(path: str) -> list[Reader]:
    name = path.rpartition("/")[2].lower()
    _, dot, suffix = name.rpartition(".")
    suffix = suffix if dot else ""
    found: list[Reader] = []
    if name in _MANIFESTS or suffix == "gemspec" or _is_requirements(path, name, suffix):
        from gitmem.core.entering import manifests

        found.append(manifests.read)
    if suffix in ("sql", "ddl", "psql", "pgsql", "mysql", "plsql", "sqlite"):
        from gitmem.core.entering import sql

        found.append(sql.read)
    elif suffix in ("py", "pyi", "pyw", "ipynb"):
        from gitmem.core.entering import python

        found.append(python.read)
    elif suffix in _SCRIPTS:
        from gitmem.core.entering import script

        found.append(script.read)
    elif suffix in _RUBY or name in _RUBY_NAMES:
        from gitmem.core.entering import ruby

        found.append(ruby.read)
    elif suffix == "go":
        from gitmem.core.entering import go

        found.append(go.read)
    elif suffix == "rs":
        from gitmem.core.entering import rust

        found.append(rust.read)
    elif suffix in _JAVA:
        from gitmem.core.entering import java

        found.append(java.read)
    elif suffix in ("php", "cs", "ex", "exs"):
        from gitmem.core.entering import others

        found.append(others.read)
    elif suffix == "prisma":
        from gitmem.core.entering import prisma

        found.append(prisma.read)
    if suffix in ("yml", "yaml") or name in (".env", ".envrc", "dockerfile", "containerfile") or _is_settings(name):
        from gitmem.core.entering import settings

        found.append(settings.read)
    return found


def is_read_alike(path: str, other: str) -> bool:
    """Say whether two files are read by the same readers."""
    return path.rpartition(".")[2] == other.rpartition(".")[2] or _readers(path) == _readers(other)


def _is_requirements(path: str, name: str, suffix: str) -> bool:
    if suffix not in ("txt", "in"):
        return False
    from gitmem.core import packages

    folder = path.rpartition("/")[0].rpartition("/")[2].lower()
    return packages.is_requirements(name) or folder == "requirements"


def _is_settings(name: str) -> bool:
    return name.startswith((".env.", "dockerfile.")) or name.endswith((".env", ".dockerfile"))
