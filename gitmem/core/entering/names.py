"""The names that one spelling in code may have in the log: each that a person would plausibly have recorded.

Names are matched without letter case, so `CardToken` and `cardtoken` are one; what is listed here differs by more.
"""

from __future__ import annotations

from gitmem.core import packages
from gitmem.core.entities import SYMBOL


def snake(name: str) -> str:
    """Return `name` in lower case with `_` between its words: `cardToken` and `CardToken` are `card_token`."""
    if name == name.lower():
        return name
    found: list[str] = []
    for i, letter in enumerate(name):
        if letter.isupper() and i:
            before, after = name[i - 1], name[i + 1 : i + 2]
            if before != "_" and (not before.isupper() or (after.islower() and after != "")):
                found.append("_")
        found.append(letter.lower())
    return "".join(found)


def plural(name: str) -> str:
    """Return the plural of an English word as the frameworks make it, by their commonest rules."""
    if name[-1:] in "sxz" or name[-2:] in ("ch", "sh"):
        return name + "es" if name[-1:] != "s" or name[-2:] == "ss" else name
    if name[-1:] == "y" and name[-2:-1] not in tuple("aeiou"):
        return name[:-1] + "ies"
    return name + "s"


def table(name: str) -> list[str]:
    """A table as SQL names it: with its schema, and without."""
    last = name.rpartition(".")[2]
    return [name, last] if last != name else [name]


def table_of_class(name: str, app: str = "") -> list[str]:
    """The table of a model class that doesn't say its own.

    `CardToken` in the Django app `payments`: `payments_cardtoken`, `cardtoken`, `card_token`, `card_tokens`.
    """
    words = snake(name)
    found = [f"{app}_{name.lower()}"] if app else []
    found += [name, words, plural(words)]
    return _once(found)


def columns(tables: list[str], *spellings: str) -> list[str]:
    """Each column spelling in each table; of a camel-cased one its words with `_` too."""
    spelt = _once([form for one in spellings if one for form in (one, snake(one))])
    return [f"{one}.{column}" for one in tables for column in spelt]


def python_package(name: str) -> list[str]:
    """`Flask_SQLAlchemy`: as it is written, and as PyPI writes it, with `-` and with `_`."""
    normal = packages.python_name(name)
    return _deps(name, normal, normal.replace("-", "_"))


def node_package(name: str) -> list[str]:
    """`@scope/pkg`: with the mark of the scope, and without."""
    return _deps(name, name.removeprefix("@"))


def rust_crate(name: str) -> list[str]:
    """`serde_json` and `serde-json` are one crate."""
    return _deps(name, packages.rust_name(name), name.replace("-", "_"))


def go_module(path: str) -> list[str]:
    """`github.com/redis/go-redis/v9`: whole, without the major version, and the last name alone."""
    return _deps(path, packages.go_without_major(path), packages.go_last(path))


def ruby_gem(name: str) -> list[str]:
    """`require "aws-sdk/s3"`, the gem `aws-sdk-s3`: the path's first name, and its first two with `-`."""
    first, slash, rest = name.partition("/")
    return _deps(first, f"{first}-{rest.partition('/')[0]}") if slash else _deps(name)


def java_artifact(group: str, artifact: str) -> list[str]:
    """`com.stripe:stripe-java`: group and artifact, and the artifact alone."""
    return _deps(f"{group}:{artifact}" if group else artifact, artifact)


#: Second segments of Java packages that say who hosts, not what it is.
_HOSTS = frozenset("apache google github gitlab amazonaws microsoft oracle eclipse codehaus sourceforge".split())


_TOPS = frozenset("com org net io dev de fr uk ru cn jp me app ai co eu info".split())


def java_package(path: str) -> list[str]:
    """`com.google.gson.Gson`: the first two parts and the first three, and what they end in."""
    parts = [part for part in path.split(".") if part[:1].islower()]
    if len(parts) < 2:
        return []
    host = parts[1] in _HOSTS
    found = [] if host else [".".join(parts[:2]), *(parts[1:2] if parts[0] in _TOPS else [])]
    if len(parts) > 2:
        found += [".".join(parts[:3])]
        found += [parts[2]] if host else []
    return _deps(*found)


def _deps(*names: str) -> list[str]:
    return [f"deps/{name}" for name in _once([one for one in names if one])]


def symbol(path: str, chain: list[str]) -> list[str]:
    """`src/a.py::Class.method`, and with `::` between its parts."""
    found = [path + SYMBOL + ".".join(chain)]
    if len(chain) > 1:
        found.append(path + SYMBOL + SYMBOL.join(chain))
    return found


def routes(path: str, prefix: str = "") -> list[str]:
    """`/v1/users/{id}`: below `api/`, after the prefix that its file tells, and with the ways to write a parameter.

    A path that begins with `api/` itself isn't put below another one.
    """
    whole = "/".join(part for part in f"{prefix}/{path}".split("/") if part)
    if whole and whole != "api" and not whole.startswith("api/"):
        whole = "api/" + whole
    if whole in ("", "api"):
        return []
    found = [whole]
    parts = whole.split("/")
    bare = [_parameter(part) for part in parts]
    if any(bare):
        found += [
            "/".join(form.format(name) if name else part for part, name in zip(parts, bare))
            for form in ("{{{}}}", ":{}", "<{}>")
        ]
    return _once(found)


def route_word(path: str) -> str:
    """Return a word that stands in any text with this route, or nothing."""
    for part in reversed([part for part in path.split("/") if part]):
        if part.replace("-", "a").replace("_", "a").isalnum():
            return part
    return ""


def _parameter(part: str) -> str:
    """Return the name of a parameter in a route: `{id}`, `{id:int}`, `:id`, `<int:id>`, `[id]`, or nothing."""
    first, last = part[:1], part[-1:]
    name = ""
    if first == "{" and last == "}":
        name = part[1:-1].partition(":")[0]
    elif first == "<" and last == ">":
        name = part[1:-1].rpartition(":")[2]
    elif first == "[" and last == "]":
        name = part[1:-1].lstrip(".")
    elif first == ":":
        name = part[1:].partition("(")[0].rstrip("?+*")
    return name.strip("*. ") if name.strip("*. ").replace("-", "_").isidentifier() else ""


def is_env(name: str) -> bool:
    """Say whether `name` can be an environment variable's."""
    return name.isascii() and name.isidentifier()


def _once(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))
