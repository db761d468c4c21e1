"""The report of a bug: what a maintainer needs, and nothing that the user wrote.

Versions, the kind of the exception and the places in the code. No message of an exception, no argument,
no path outside the package: each may hold a reason, a name, a home directory.
"""

from __future__ import annotations

import os
import platform
import sys
import traceback

import gitmem

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(gitmem.__file__)))


def report(error: BaseException, command: str) -> str:
    """Return the report as Markdown, ready to paste."""
    lines = [
        "",
        "```",
        f"gitmem {gitmem.__version__}, command `{command}`" if command else f"gitmem {gitmem.__version__}",
        f"Python {platform.python_version()} ({sys.implementation.name}), {platform.system()} {platform.machine()}",
        f"git {_git_version()}, SQLite {_sqlite_version()}",
        "",
    ]
    chain: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and at not in chain:
        chain.append(at)
        at = at.__cause__ or at.__context__
    for one in reversed(chain):
        lines += [f"  {_place(frame)}" for frame in traceback.extract_tb(one.__traceback__)]
        lines.append(type(one).__name__)
    return "\n".join([*lines, "```", ""])


def _place(frame: traceback.FrameSummary) -> str:
    path = os.path.abspath(frame.filename)
    inside = path.startswith(_ROOT + os.sep)
    name = os.path.relpath(path, _ROOT) if inside and f"{os.sep}gitmem{os.sep}" in path else os.path.basename(path)
    return f"{name.replace(os.sep, '/')}:{frame.lineno} in {frame.name}"


def _git_version() -> str:
    from gitmem.cli import git

    return (git.ask("version") or "not found").removeprefix("git version ")


def _sqlite_version() -> str:
    import sqlite3

    return sqlite3.sqlite_version
