"""Paths as clients spell them: URIs, Windows separators, drives. What comes out has `/` between its parts."""

from __future__ import annotations


def plain(text: str) -> str:
    """Return `text` as a path: without `file://`, with `/` for `\\`, and a drive without a slash before it."""
    path = text.strip()
    if path[:7].lower() == "file://":
        rest = path[7:]
        host, slash, below = rest.partition("/")
        path = unquoted(slash + below if host.lower() in ("", "localhost") else "//" + rest)
    if "\\" in path:
        path = path.replace("\\", "/")
    if path[:1] == "/" and path[2:3] == ":" and path[1:2].isalpha() and path[3:4] in ("/", ""):
        path = path[1:]  # /c:/src, as Cursor writes it on Windows
    return path


def unquoted(text: str) -> str:
    """Return `text` with `%20` and the like made into what they stand for (urllib costs ten milliseconds)."""
    if "%" not in text:
        return text
    first, *parts = text.encode("utf-8", "surrogatepass").split(b"%")
    out = [first]
    for part in parts:
        try:
            out.append(bytes((int(part[:2], 16),)) + part[2:] if part[:2].isalnum() else b"%" + part)
        except ValueError:
            out.append(b"%" + part)
    return b"".join(out).decode("utf-8", "replace")
