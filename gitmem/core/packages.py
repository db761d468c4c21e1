"""Names of packages: how each ecosystem spells them, and which spellings are one.

A manifest, an import and a person may write one library in different ways (`Flask_SQLAlchemy`,
`flask-sqlalchemy`; `github.com/redis/go-redis/v9`, `go-redis`). What reads versions and what looks for
entities that an edit brings in ask here.
"""

from __future__ import annotations


def python_name(name: str) -> str:
    """Return the normal form of a Python distribution's name (PEP 503): runs of `-`, `_` and `.` are one `-`."""
    parts = name.lower().replace("_", "-").replace(".", "-").split("-")
    inner = [part for part in parts[1:-1] if part]
    return "-".join([parts[0], *inner, parts[-1]] if len(parts) > 1 else parts)


def rust_name(name: str) -> str:
    """Return a crate's name with `-`, which its manifest may write and its code can't."""
    return name.replace("_", "-")


def go_without_major(path: str) -> str:
    """Return the path of a Go module without its major version (`/v9`, or `.v3` of gopkg.in)."""
    front, slash, last = path.rpartition("/")
    if slash and last[:1] == "v" and last[1:].isdigit():
        return front
    stem, dot, version = last.rpartition(".")
    if dot and path.startswith("gopkg.in/") and version[:1] == "v" and version[1:].isdigit():
        return f"{front}/{stem}"
    return path


def go_last(path: str) -> str:
    """Return the name of a Go module without its place and its major version."""
    return go_without_major(path).rpartition("/")[2]


def is_requirements(name: str) -> bool:
    """Say whether a file of this name lists Python requirements, as pip reads them (`dev-requirements.txt`)."""
    stem, dot, suffix = name.lower().rpartition(".")
    if not dot or suffix not in ("txt", "in"):
        return False
    for word in ("requirements", "constraints"):
        at = stem.find(word)
        while at >= 0:
            before, after = stem[at - 1 : at] if at else "", stem[at + len(word) : at + len(word) + 1]
            if before in ("", "-", "_", ".") and after in ("", "-", "_", "."):
                return True
            at = stem.find(word, at + 1)
    return False
