"""Gists: a shorter text that says nothing which the core doesn't say, and loses nothing that would turn it round.

The law, word by word (`problem` names the word that breaks it):

1. Each content word of the gist is one of the core's. No cause and no "must", "all", "if", "to" is added.
2. A clause of the core that denies or directs (not, never, without, only, before, rejected …) stays, whole and in its
   order, and the gist denies nothing else.
3. A clause that has a side (fails, passes, prefer, more, perhaps …) or begins with a cause stays whole or goes. A cause
   stays beside what it is the cause of.
4. All else may be left out and moved, inside what the core says outside those clauses; round a "to" or an "if" the
   core's order stays.

So a gist can be silent, and it can't be turned into the opposite with the core's own words. What is not held to: who
does what to whom in a clause without any such word ("the cache clears the index"). That is why a gist says that it is
one, and why what has come far from its core (`share`) is told as the core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from gitmem.core.characters import nfc
from gitmem.core.lessons import words
from gitmem.core.lessons.words import CAUSES, CONTENT, DENIES, HOLDS, OBLIGES, ORDERS, Clause, Word

_ASKING = frozenset("?？؟")
_SORTS = ((CAUSES, 'it adds the cause "{}"'), (OBLIGES | ORDERS, 'it adds "{}"'), (HOLDS, 'it adds "{}"'))


def share(core: str, gist: str) -> int:
    """Return how many percent of the core's content words, with their repeats, the gist has left."""
    whole = Counter(words.content(core))
    if not whole:
        return 100
    return 100 * (whole & Counter(words.content(gist))).total() // whole.total()


def problem(core: str, gist: str) -> str:
    """Return why `gist` is none of `core`, in a clause that names the word; "" where it is one."""
    if gist == core:
        return ""
    theirs, ours = words.clauses(core), words.clauses(gist)
    if not any(word.sort & CONTENT for word in _all(ours)):
        return "it has no word of the core that says something"
    if not _ASKING.isdisjoint(gist) and _ASKING.isdisjoint(core):
        return 'it asks ("?") where the core says'
    # Words are compared taken apart (NFKD); what is shown is put together again.
    return nfc(_added(theirs, ours) or _lost(theirs, ours) or _held(theirs, ours) or _mixed(theirs, ours))


def _all(clauses: Iterable[Clause]) -> list[Word]:
    return [word for clause in clauses for word in clause.words]


def _added(theirs: Sequence[Clause], ours: Sequence[Clause]) -> str:
    """Law 1."""
    have: set[tuple[str, int]] = {(word.stem, word.sort) for word in _all(theirs)}
    for word in _all(ours):
        if (word.stem, word.sort) in have:
            continue
        for sort, said in _SORTS:
            if word.sort & sort:
                return said.format(word.shown)
        return f'it adds "{word.shown}", which the core does not have'
    return ""


def _lost(theirs: Sequence[Clause], ours: Sequence[Clause]) -> str:
    """Law 2: what denies is still there."""
    kept = {clause.stems for clause in ours}
    for clause in theirs:
        if clause.denies and clause.stems not in kept:
            denial = next(word for word in clause.words if word.sort & DENIES)
            return f'"{denial.shown}" must keep all that it stands with: "{clause}"'
    return ""


def _held(theirs: Sequence[Clause], ours: Sequence[Clause]) -> str:
    """Laws 2 and 3: a held clause is one of the core's, and a cause stands beside what it is the cause of."""
    places: dict[tuple[str, ...], list[int]] = {}
    for place, clause in enumerate(theirs):
        places.setdefault(clause.stems, []).append(place)
    for place, clause in enumerate(ours):
        if not clause.is_held:
            continue
        word = next(word for word in clause.words if word.sort & (HOLDS | CAUSES))
        if clause.stems not in places:
            return f'"{word.shown}" stands with other words than in the core: "{clause}"'
        if clause.causes and len(theirs) > 1:
            beside = ours[place - 1] if place else ours[1] if len(ours) > 1 else None
            if beside is None or not any(_is_of(beside, theirs, at) for at in places[clause.stems]):
                return f'"{word.shown}" stands beside something else than in the core'
    return ""


def _is_of(beside: Clause, theirs: Sequence[Clause], at: int) -> bool:
    """Say whether a clause is what stands beside place `at` in the core, or a part of that."""
    whole = theirs[at - 1] if at else theirs[1]
    if beside.is_held or whole.is_held:
        return beside.stems == whole.stems
    return {word.stem for word in beside.words} <= {word.stem for word in whole.words}


def _mixed(theirs: Sequence[Clause], ours: Sequence[Clause]) -> str:
    """Laws 3 and 4: outside the held clauses only what the core says outside them, in order round a "to"."""
    free = {word.stem for word in _all(clause for clause in theirs if not clause.is_held)}
    for clause in ours:
        if clause.is_held:
            continue
        for word in clause.words:
            if word.stem not in free:
                whole = next(other for other in theirs if word.stem in other.stems)
                return f'"{word.shown}" must keep all that it stands with: "{whole}"'
        directs = next((word for word in clause.words if word.sort & ORDERS), None)
        if directs and not any(_is_part(clause.stems, other.stems) for other in theirs):
            return f'the words round "{directs.shown}" are not in the order of the core'
    return ""


def _is_part(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Say whether `part` is what is left of `whole` where some of it is left out."""
    rest = iter(whole)
    return all(stem in rest for stem in part)
