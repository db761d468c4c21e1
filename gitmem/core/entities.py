"""Entity paths: one spelling of a name, its kind, what it lies below.

`users.email`, `users`, `src/auth.py::login`, `src/auth.py`, `api/v1/users`, `deps/stripe`,
`env/STRIPE_KEY`. `deps/`, `env/` and `api/` come first; a known file suffix makes a file, not a column.
The relation between a name and what it lies below is part of format 1 (a rename joins what is below the
two names, R4), and so is the list of suffixes.
"""

from __future__ import annotations

import unicodedata

from gitmem.core import characters

PATH_MAX_BYTES = 1024

#: The first segment that says what a name is, before anything else is looked at.
PREFIXES = {"deps": "dependency", "env": "env_var", "api": "endpoint"}

# Frozen with format 1: a suffix in this list makes `a/b.suffix` (and `b.suffix`) a file.
FILE_SUFFIXES = frozenset(
    """
    adoc asm astro avsc awk bash bat bazel bib bicep bzl c cc cfg cjs clj cljs cmake cmd coffee conf cpp cr
    cs cshtml csproj css csv cts cu cue cxx d dart dhall diff dockerfile ejs el elm env erb erl ex exs f90
    fish fs fsx gemspec gitignore glsl go gql gradle graphql groovy h haml hbs hcl hh hpp hrl hs htm html
    hxx idl inc ini ino ipynb j2 java jinja jl js json json5 jsonc jsonl jsp jsx kt kts lean less lisp lock
    log lua m md mdx mjs mk ml mli mm mod mts nim nix nu pas patch php pl plist pm po proto prisma ps1 psm1
    pug pxd py pyi pyx r rake rb rego rkt rmd rs rst ru sass sbt scala scm scss sh sol sql sum sv svelte svg
    swift tcl tex tf tfvars thrift tmpl toml ts tsv tsx txt v vb vhd vim vue wat wgsl xml xsd xsl yaml yml
    zig zsh
    """.split()
)
#: Files that have no suffix.
FILE_NAMES = frozenset(
    "dockerfile makefile gemfile rakefile procfile jenkinsfile vagrantfile justfile brewfile pipfile license readme codeowners".split()
)

SYMBOL = "::"


class BadName(ValueError):
    """The text can't name an entity; the message says why."""


def canonical(text: str) -> str:
    """Return the one spelling of the entity path `text`. Raises BadName.

    NFC, trimmed, `\\` turned to `/`, no `.`, `..`, doubled or trailing separators, no control or
    zero-width characters, at most 1,024 bytes. Letter case is kept; names match without it (`key`).
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    bad = characters.first_invisible(text.strip())
    if bad:
        raise BadName(f"it holds the character U+{ord(bad):04X}, which can't be seen")
    path, mark, symbol = text.strip().replace("\\", "/").partition(SYMBOL)
    parts: list[str] = []
    for part in path.split("/"):
        part = part.strip()
        if part in ("", "."):
            continue
        if part == "..":
            if not parts:
                raise BadName("it leads out of the repository")
            parts.pop()
            continue
        parts.append(part)
    name = "/".join(parts)
    symbol = symbol.strip().strip(":")
    if mark and symbol:
        name += SYMBOL + symbol
    elif mark:
        raise BadName(f"nothing follows `{SYMBOL}`")
    if not name or not name.strip("./:"):
        raise BadName("it is empty")
    if len(name.encode("utf-8", "replace")) > PATH_MAX_BYTES:
        raise BadName(f"it is longer than {PATH_MAX_BYTES:,} bytes")
    return name


def parents(name: str) -> list[str]:
    """Return what `name` lies below, nearest first: `src/a.py::f` lies below `src/a.py` and `src`."""
    found = []
    at = _parent(name)
    while at:
        found.append(at)
        at = _parent(at)
    return found


def _parent(name: str) -> str:
    path, mark, symbol = name.partition(SYMBOL)
    if mark:
        outer, dot, _ = symbol.rpartition(".")
        return f"{path}{SYMBOL}{outer}" if dot and outer else path
    folder, slash, last = path.rpartition("/")
    if not _is_file_name(last) and path.partition("/")[0].lower() not in PREFIXES:
        outer, dot, _ = last.rpartition(".")
        if dot and outer:
            return f"{folder}{slash}{outer}"
    return folder


def _is_file_name(last: str) -> bool:
    stem, dot, suffix = last.rpartition(".")
    lower = last.lower()
    return lower in FILE_NAMES or (bool(dot) and suffix.lower() in FILE_SUFFIXES) or lower.startswith(".")


def is_file(name: str) -> bool:
    """Say whether `name` is written as a file."""
    first = name.partition("/")[0].lower()
    return SYMBOL not in name and _is_file_name(name.rpartition("/")[2]) and not (first in PREFIXES and "/" in name)


def entity_type(name: str) -> str:
    """Return the kind of thing that the canonical `name` is, judged by its spelling."""
    first, slash, _ = name.partition("/")
    if slash and first.lower() in PREFIXES:
        return PREFIXES[first.lower()]
    if SYMBOL in name:
        last = name.rpartition(SYMBOL)[2].rpartition(".")[2]
        return "class" if last[:1].isupper() and not last.isupper() else "function"
    if is_file(name):
        return "file"
    if "." in name.rpartition("/")[2]:
        return "column"
    return "other" if slash else "table"


def file_of(name: str) -> str:
    """Return the file that an entity path names or lies in, or an empty string."""
    path = name.partition(SYMBOL)[0]
    return path if is_file(path) else ""


def ancestors_scope(scope: str) -> list[str]:
    """Return the scopes above `scope`, nearest first, ending with the whole repository ("")."""
    found = []
    while scope:
        scope = scope.rpartition("/")[0]
        found.append(scope)
    return found
