"""Where the policy is read from: `.decisions.toml` at the root of the work tree, of a bare repository from HEAD.

Each worktree has its own, as it has its own branch. Without the file there are no components, and finding
that out costs one look at the file system. The TOML reader is loaded only where there is something to read.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection

from gitmem.core import policy
from gitmem.core.policy import FILE_NAME, Policy
from gitmem.errors import Refused
from gitmem.store import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store.repository import Repository

#: More than this is no policy.
SIZE_MAX_BYTES = 1 << 20


def stamp(repository: Repository) -> object:
    """Return what stays equal while the file does, or None where there is none."""
    if repository.work_tree is None:
        return "HEAD"
    try:
        found = os.stat(f"{repository.work_tree}/{FILE_NAME}")
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return None
        raise _refusal(f"can't be read: {error.strerror}") from None
    return (found.st_mtime_ns, found.st_ino, found.st_size)


def read(repository: Repository) -> Policy | None:
    """Return the policy in force, or None where the repository has none.

    Raises Refused, naming the file and the key, where it can't be followed: what a component may see is not guessed.
    """
    data = _bytes(repository)
    if data is None:
        return None
    try:
        raw = _parsed(data)
    except UnicodeDecodeError:
        raise _refusal("is not UTF-8") from None
    except ValueError as error:
        raise _refusal(f"is no TOML: {error}") from None
    try:
        return policy.checked(raw)
    except policy.BadPolicy as error:
        hint = f"did you mean `{error.nearest}`?" if error.nearest else ""
        raise _refusal(error.what, key=error.key, hint=hint) from None


def demanding(repository: Repository, digests: Collection[str]) -> set[str]:
    """Return those of some digests whose policy demands signed reviews: of the file, or of what it was in any branch.

    A policy that isn't in the repository's history says nothing.
    """
    here = read(repository)
    found = {here.digest: here} if here is not None else {}
    if not found.keys() >= set(digests):
        # Whatever is configured, the root's; and what a merge left out was there all the same.
        words: tuple[str, ...] = (
            "log",
            "--all",
            "--full-history",
            "-m",
            "--root",
            "--no-follow",
            "--no-show-signature",
            "--format=",
        )
        words += ("--raw", "--no-abbrev", "--no-renames", "--", FILE_NAME)
        lines = repository.git(*words, env=git.RAW, check=False).decode("utf-8", "replace").splitlines()
        for oid in dict.fromkeys(line.split()[3] for line in lines if line.startswith(":")):
            data = repository.try_git("cat-file", "blob", oid)
            try:
                older = policy.checked(_parsed(data.out)) if data.rc == 0 else None
            except ValueError:
                continue  # it could not be followed then either
            if older is not None:
                found[older.digest] = older
    return {one for one in digests if one in found and found[one].require_signed_reviews}


def _parsed(data: bytes) -> dict[str, object]:
    """Return what TOML says. Raises ValueError."""
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8"))
    except RecursionError as error:
        raise ValueError(str(error)) from None


def _bytes(repository: Repository) -> bytes | None:
    if repository.work_tree is None:
        result = repository.try_git("cat-file", "blob", f"HEAD:{FILE_NAME}")
        return result.out if result.rc == 0 else None
    try:
        with open(f"{repository.work_tree}/{FILE_NAME}", "rb") as file:
            data = file.read(SIZE_MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refusal(f"can't be read: {error.strerror}") from None
    if len(data) > SIZE_MAX_BYTES:
        raise _refusal(f"is larger than {SIZE_MAX_BYTES:,} bytes")
    return data


def _refusal(what: str, *, key: str = "", hint: str = "") -> Refused:
    return Refused(field=f"{FILE_NAME}: {key}" if key else FILE_NAME, what=what, hint=hint or _HINT)


_HINT = "gitmem's page on scope (docs/scope.md) shows what it holds."
