"""Entity paths: one spelling of a name, its kind, what it lies below.

`users.email`, `users`, `src/auth.py::login`, `src/auth.py`, `api/v1/users`, `deps/stripe`,
`env/STRIPE_KEY`. `deps/`, `env/` and `api/` come first; a known file suffix makes a file, not a column.
The spelling, the relation between a name and what it lies below (a rename joins what is below the two
names, R4) and the list of suffixes are part of format 1 (`docs/format.md`, F18): letters are compared by
frozen tables, and only ASCII letters have a case here.
"""

from __future__ import annotations

from gitmem.core import characters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PATH_MAX_BYTES = 1024

#: The first segment that says what a name is, before anything else is looked at.
PREFIXES = {"deps": "dependency", "env": "env_var", "api": "endpoint"}

# Frozen with format 1: a suffix in this list makes `a/b.suffix` (and `b.suffix`) a file.
FILE_SUFFIXES = frozenset(
    """
    adb adoc ads asm astro avsc awk bash bat bats bazel bib bicep bzl c cabal capnp cc cfg cjs clj cljc cljs
    cmake cmd coffee conf cpp cr cs cshtml csproj css csv cts cu cue cxx cypher d dart dbml dhall dockerfile
    dts dtsi edn eex ejs el elm erb erl ex exs f90 f95 fbs fish fs fsproj fsx gd gemspec geojson gif gitignore
    glsl go gql gradle graphql graphqls groovy h haml hbs hcl heex hh hpp hrl hs htm html hx hxx ico idl ini
    ino ipynb j2 java jinja jl jpeg jpg js json json5 jsonc jsonl jsonnet jsp jsx ksh kt kts lean less
    libsonnet liquid lisp lua m md mdx metal mjs mk ml mli mm mts mustache nim nix njk nu pas pbxproj pem php
    phtml pl plist pm png po podspec pot prisma proto ps1 psm1 pug purs pxd py pyi pyx qml r rake razor rb
    rego resx rkt rmd rs rst ru sass sbt scala scm scss sh slim sln sol sql storyboard styl sv svelte svg
    swift tcl tex tf tfvars thrift tmpl toml tpl ts tsv tsx twig txt v vb vbproj vcxproj vert vhd vim vue wat
    webp wgsl woff woff2 xaml xcconfig xib xml xsd xsl xslt yaml yml zig zon zsh
    """.split()
)
#: Suffixes that are good names for columns too: these make a file only below a folder (`logs/web.log`, but `jobs.log`).
FILE_SUFFIXES_BELOW = frozenset(
    """
    bak bin db diff env example in inc key lock log map mod org patch pdf properties sample service snap spec
    strings sum template zip
    """.split()
)
#: Files that no suffix tells.
FILE_NAMES = frozenset(
    """
    brewfile bun.lock cargo.lock codeowners composer.lock containerfile copying dockerfile earthfile
    flake.lock gemfile gemfile.lock gnumakefile go.mod go.sum go.work jenkinsfile justfile kbuild kconfig
    license makefile mix.lock pdm.lock pipfile pipfile.lock podfile podfile.lock poetry.lock procfile
    pubspec.lock rakefile readme snakefile tiltfile uv.lock vagrantfile yarn.lock
    """.split()
)

SYMBOL = "::"


class BadName(ValueError):
    """The text can't name an entity; the message says why."""


def canonical(text: str) -> str:
    """Return the one spelling of the entity path `text`. Raises BadName.

    NFC, trimmed, `\\` turned to `/`, no `.`, `..`, doubled or trailing separators, no control or
    zero-width characters, at most 1,024 bytes. Letter case is kept; names match without it.
    """
    name = spell(characters.nfc(text))
    if len(name.encode("utf-8")) > PATH_MAX_BYTES:
        raise BadName(f"it is longer than {PATH_MAX_BYTES:,} bytes")
    return name


# Most names: nothing in these that `spell` would change or refuse.
_PLAIN = r"[A-Za-z0-9_@-]+(?:[./][A-Za-z0-9_@-]+)*(?:::[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*)?"
_is_plain: Callable[[str], object] | None = None


def is_spelt(name: str) -> bool:
    """Say whether `name` is spelt as `canonical` would, but for its letters' NFC and its length.

    This much a reader demands of an event: it asks nothing of any Unicode table but the frozen ones.
    """
    global _is_plain
    if _is_plain is None:
        import re  # here: an edit waits for this module, and its names are spelt without it

        _is_plain = re.compile(_PLAIN).fullmatch
    if _is_plain(name):
        return True
    try:
        return spell(name) == name
    except BadName:
        return False


def spell(text: str) -> str:
    """Return `text` with its separators, blanks and dots in their one spelling. Raises BadName."""
    text = text.strip(characters.BLANKS)
    bad = characters.first_invisible(text)
    if bad:
        raise BadName(f"it holds the character U+{ord(bad):04X}, which can't be seen")
    path, mark, symbol = text.replace("\\", "/").partition(SYMBOL)
    parts: list[str] = []
    for part in path.split("/"):
        part = part.strip(characters.BLANKS)
        if part in ("", "."):
            continue
        if part == "..":
            if not parts:
                raise BadName("it leads out of the repository")
            parts.pop()
            continue
        parts.append(part)
    name = "/".join(parts)
    symbol = symbol.strip(_AROUND_SYMBOL)
    if not name.strip("./:"):
        raise BadName(f"nothing stands before `{SYMBOL}`" if mark and symbol else "it is empty")
    if not mark:
        return name
    if not symbol:
        raise BadName(f"nothing follows `{SYMBOL}`")
    return name + SYMBOL + symbol


_AROUND_SYMBOL = characters.BLANKS + ":"


def parents(name: str) -> list[str]:
    """Return what the canonical `name` lies below, nearest first: `src/a.py::f` lies below `src/a.py` and `src`."""
    found = []
    at = _parent(name)
    while at:
        if at.strip("./:"):  # `:` above `:/x` is no name
            found.append(at)
        at = _parent(at)
    return found


def _parent(name: str) -> str:
    path, mark, symbol = name.partition(SYMBOL)
    if mark:
        cut = max(symbol.rfind("."), symbol.rfind(SYMBOL))
        outer = symbol[:cut].rstrip(_AROUND_OUTER) if cut > 0 else ""
        return f"{path}{SYMBOL}{outer}" if outer else path
    folder, slash, last = path.rpartition("/")
    if not _names_file(path) and not _has_prefix(path):
        outer, dot, _ = last.rpartition(".")
        outer = outer.rstrip(_AROUND_OUTER)
        if dot and outer:
            return f"{folder}{slash}{outer}"
    return folder


# What is left of a cut at a dot: `a..b` lies below `a`, and no parent ends in what `spell` would trim.
_AROUND_OUTER = _AROUND_SYMBOL + "."


def _has_prefix(path: str) -> bool:
    return _lower(path.partition("/")[0]) in PREFIXES


def _names_file(path: str) -> bool:
    folder, _, last = path.rpartition("/")
    last = _lower(last)
    _, dot, suffix = last.rpartition(".")
    if dot and (suffix in FILE_SUFFIXES or (folder and suffix in FILE_SUFFIXES_BELOW)):
        return True
    return last in FILE_NAMES or last.startswith(".")


def _lower(text: str) -> str:
    # ASCII letters only: what the tables above don't hold needs no case, and Unicode's case tables change.
    return text.lower() if text.isascii() else text


def is_file(name: str) -> bool:
    """Say whether the canonical `name` is written as a file (`deps/x.js` is a dependency)."""
    return SYMBOL not in name and _names_file(name) and not ("/" in name and _has_prefix(name))


def entity_type(name: str) -> str:
    """Return the kind of thing that the canonical `name` is, judged by its spelling (for a writer that isn't told)."""
    if SYMBOL in name:
        last = name.partition(SYMBOL)[2].replace(SYMBOL, ".").rpartition(".")[2]
        return "class" if last[:1].isupper() and not last.isupper() else "function"
    if "/" in name and _has_prefix(name):
        return PREFIXES[_lower(name.partition("/")[0])]
    if _names_file(name):
        return "file"
    if "." in name.rpartition("/")[2]:
        return "column"
    return "other" if "/" in name else "table"


def file_of(name: str) -> str:
    """Return the file that an entity path may name or lie in, or an empty string.

    Looks at the suffix only: `api/users.py` is the name of an endpoint and may well be that file.
    """
    path = name.partition(SYMBOL)[0]
    return path if _names_file(path) else ""


def place_of(name: str) -> str:
    """Return where in the repository the thing named by an entity path may lie, or "" where the name tells no place.

    A file, a folder, what lies in them; not a table, a dependency or an endpoint.
    """
    path = name.partition(SYMBOL)[0]
    if _names_file(path):
        return path
    return path if "/" in path and not _has_prefix(path) else ""


def typed(name: str) -> str:
    """Return an entity path as a shell takes it anywhere in the repository: a place in it is named from the root."""
    import shlex

    return shlex.quote(f":/{name}" if place_of(name) else name)


def sees(scope: str, other: str) -> bool:
    """Say whether a read in `scope` sees what was recorded in `other`: its own, those above and those below it.

    A sibling's never. `store.listing.scope_predicate` is the same in SQL.
    """
    if not scope or not other or scope == other:
        return True
    return scope.startswith(other + "/") or other.startswith(scope + "/")


def ancestors_scope(scope: str) -> list[str]:
    """Return the scopes above `scope`, nearest first, ending with the whole repository ("")."""
    found = []
    while scope:
        scope = scope.rpartition("/")[0]
        found.append(scope)
    return found
