"""Landing: where in a file a client puts what an edit replaces, when the old text doesn't stand there letter by letter.

Clients are lenient, each in its own way: the ends of lines, blanks at the ends or the beginnings of lines, a line
that a patch names as an anchor. Whoever puts the new text elsewhere than they will takes a column for another table's.
Pure. Loaded for the few edits that need it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


#: In a file of more lines only what stands there letter by letter is found: a hook has a second.
LOOSE_MAX = 100_000


def landed(text: str, old: str, new: str, place: int | str) -> str | None:
    """Return `text` with `new` in the place of `old`, or None where that stands nowhere, blanks aside.

    place  the number of the line that `old` is near, or (where `old` is empty) that `new` comes after; or the lines,
           one below the other, that stand before it in the file; "" where nothing is known
    """
    feed = "\r\n" if "\r\n" in text else "\n"
    lines = text.replace("\r\n", "\n").split("\n")
    wanted = old.replace("\r\n", "\n").split("\n")
    fresh = new.replace("\r\n", "\n").split("\n")
    if not old:
        at = _after(lines, place)
        if at is None:
            return None
        if fresh[-1] == "":
            fresh.pop()
        return feed.join([*lines[:at], *fresh, *lines[at:]])
    if wanted[-1] == "" and fresh[-1] == "":
        wanted.pop()
        fresh.pop()
    at = _found(lines, wanted, place)
    if at is None:
        return _within(lines, wanted, fresh, feed)
    return feed.join([*lines[:at], *fresh, *lines[at + len(wanted) :]])


def _after(lines: Sequence[str], place: int | str) -> int | None:
    if isinstance(place, int):
        return max(0, min(place, len(lines)))
    return _anchored(lines, place) if place else None


def _anchored(lines: Sequence[str], place: str) -> int | None:
    """Return the number of lines up to the last of those that `place` names, each looked for below the one before."""
    at = 0
    for anchor in place.split("\n"):
        wanted = anchor.strip()
        found = next((number for number in range(at, len(lines)) if lines[number].strip() == wanted), None)
        if found is None:
            return None
        at = found + 1
    return at


def _found(lines: Sequence[str], wanted: Sequence[str], place: int | str) -> int | None:
    """Return where the lines `wanted` begin: the nearest to `place`, as exactly as they stand anywhere."""
    start = (_anchored(lines, place) or 0) if isinstance(place, str) and place else 0
    exact: Callable[[str], str] = str
    loose = (str.rstrip, str.strip) if len(lines) <= LOOSE_MAX else ()
    for form in (exact, *loose):
        have = [form(line) for line in lines]
        want = [form(line) for line in wanted]
        if not any(want):
            return None  # blank lines stand everywhere
        found = [
            at for at in range(len(have) - len(want) + 1) if have[at] == want[0] and have[at : at + len(want)] == want
        ]
        if not found:
            continue
        if isinstance(place, int):
            return min(found, key=lambda at: abs(at + 1 - place))
        return next((at for at in found if at >= start), found[0])
    return None


def _within(lines: Sequence[str], wanted: Sequence[str], fresh: Sequence[str], feed: str) -> str | None:
    """Replace what begins and ends within lines."""
    text = "\n".join(lines)
    old = "\n".join(wanted)
    return text.replace(old, "\n".join(fresh), 1).replace("\n", feed) if old and old in text else None
