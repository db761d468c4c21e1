"""Small files that people edit too: read with all their bytes, put in place whole or not at all."""

from __future__ import annotations

import os


def listed(folder: str | None) -> list[str]:
    try:
        return sorted(os.listdir(folder)) if folder else []
    except OSError:
        return []


def read(path: str) -> str | None:
    """Return the text of a file with all its bytes, or None where there is no such file or it is no small one."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > 1 << 20:
            return None
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except OSError:
        return None


def write(path: str, text: str, *, mode: int) -> None:
    # umask, and in a shared repository the folder's group, have their say as for git's own files.
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    with open(fd, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)


def replace(path: str, text: str, *, executable: bool = False) -> None:
    """Put `text` in the place of the file `path`, with its mode."""
    mode = os.stat(path).st_mode & 0o7777
    if executable:
        mode |= (mode & 0o444) >> 2
    fresh = path + ".gitmem-new"
    try:
        write(fresh, text, mode=mode)
        os.chmod(fresh, mode)
        os.replace(fresh, path)
    except OSError:
        remove(fresh)
        raise


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def remove_if_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass  # somebody else's hooks, or git's samples
