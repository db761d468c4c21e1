"""Staleness: what about a recorded decision says that it wants another look. Pure.

Six signals, the strongest first:

relanded           its lines are in the code again, by a commit after it, and nothing supersedes it
code_reverted      its commits in HEAD were all taken back by later ones, and nothing recorded says what that means
expired            the condition `expires_when` is met: a library reached a version, something was recorded on
                   an entity, a day came
revisit_due        `revisit_after` has passed
review_suggested   a later event speaks of what `stale_when` says would change the matter
manual_review      `expires_when` is for a person to judge, or what it asks for can't be seen from here

None of them changes a verdict: they bring a decision back to somebody's attention, who supersedes it, writes it
anew with a later date, or leaves it.

Words are compared without a stemmer. Two are alike where one begins the other, or where they differ in a short
ending only; what makes a change of things (moved, replaced, offers) counts as one word, because people tell one
change in many verbs. Scripts without blanks are compared by pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from gitmem.core import dates, objects, words
from gitmem.core.events import Event
from gitmem.core.vocabulary import CHANGE_TYPES, CLOSING

RELANDED, REVERTED, EXPIRED, REVISIT_DUE = "relanded", "code_reverted", "expired", "revisit_due"
REVIEW_SUGGESTED, MANUAL_REVIEW = "review_suggested", "manual_review"
#: Strongest first.
FLAGS = (RELANDED, REVERTED, EXPIRED, REVISIT_DUE, REVIEW_SUGGESTED, MANUAL_REVIEW)
#: So many words of a `stale_when` are looked for; what follows is explanation.
UNITS_MAX = 12
#: Words that a later event has to share, at least.
SHARED_MIN = 2


class Signal:
    """One reason for another look.

    flag     of `FLAGS`
    why      the reason, in a line
    since    a time of the format: since when it is so, or "" where that can't be known
    event    the id of the later event that gave it, or ""
    words    the words that this event shares with `stale_when`
    commit   the oid of the commit that brought it back, or took its code back, or ""
    """

    __slots__ = ("commit", "event", "flag", "since", "why", "words")

    def __init__(
        self, flag: str, why: str, *, since: str = "", event: str = "", words: Sequence[str] = (), commit: str = ""
    ) -> None:
        self.commit = commit
        self.flag = flag
        self.why = why
        self.since = since
        self.event = event
        self.words = list(words)


def moment(event: Event) -> str:
    """Return when the event took place: its `valid_from`, else when it was recorded."""
    return event.valid_from or event.recorded_at


def order(signals: Iterable[Signal], now: str) -> list[Signal]:
    """Return the signals of one event, the strongest first."""
    return sorted(signals, key=lambda one: (FLAGS.index(one.flag), -overdue_s(one, now)))


def overdue_s(signal: Signal, now: str) -> int:
    """Return for how many seconds a signal has held; 0 where that can't be known."""
    if not signal.since or signal.flag == MANUAL_REVIEW:
        return 0
    return max(0, int(objects.seconds(now) - objects.seconds(signal.since)))


# --- dates ------------------------------------------------------------------------------------


def revisit(event: Event, now: str) -> Signal | None:
    """Return the signal of `revisit_after`: a date, or an offset from when the event took place; due at its instant."""
    text = event.fields.get("revisit_after")
    if not isinstance(text, str) or not text:
        return None
    try:
        due = dates.of_seconds(objects.seconds(moment(event)) + dates.span(text))
        told = f"{text} after {moment(event)[:10]}"
    except dates.BadTime:
        try:
            due = dates.instant(text)
        except dates.BadTime:
            return Signal(MANUAL_REVIEW, f"to be looked at again {_flat(text)}, which is no date that gitmem reads")
        told = "by its date"
    return Signal(REVISIT_DUE, f"due for another look since {due[:10]}, {told}", since=due) if due <= now else None


def day_came(day: str, now: str) -> Signal | None:
    """Return the signal of a condition `date:ISO`."""
    return Signal(EXPIRED, f"the day came: {day[:10]}", since=day) if day <= now else None


def changed(subject: str, later: Event | None) -> Signal | None:
    """Return the signal of a condition `entity:PATH:changes`, given the first event on it since, if any."""
    if later is None:
        return None
    why = f"{subject} changed: {later.change_type} {later.entity_path} on {moment(later)[:10]}"
    return Signal(EXPIRED, why, since=moment(later), event=later.id)


# --- libraries --------------------------------------------------------------------------------


def library(name: str, bound: str, found: Sequence[tuple[str, bool, str]]) -> Signal | None:
    """Return the signal of a condition `library:NAME>=VERSION`.

    found   what the project's files say of it: (version, whether it is the very version or the least one, file)
    """
    if not found:
        return Signal(MANUAL_REVIEW, f"{name} is in no lock file or manifest here, so nobody knows about >={bound}")
    unsure = ""
    exact = False
    for version, is_exact, file in found:
        reached = at_least(version, bound)
        if reached:
            return Signal(EXPIRED, f"{name} reached {bound}: {'' if is_exact else 'at least '}{version} in {file}")
        if reached is None or not is_exact:
            unsure = unsure or f"{'' if is_exact else 'at least '}{version} in {file}"
        else:
            exact = True
    if exact or not unsure:
        return None
    return Signal(MANUAL_REVIEW, f"whether {name} reached {bound} can't be told from {unsure}")


_VERSION = re.compile(r"[vV=\s]*(?:\d+!)?(\d+(?:\.\d+)*)(.*)", re.DOTALL)
_LATER = re.compile(r"\+.*|[.-]?(?:post|rev|r)[.-]?\d*(?:\+.*)?|-\d+", re.IGNORECASE)
_EARLIER = re.compile(r"[.\-_]?(?:a|b|c|rc|alpha|beta|pre|preview|dev|canary|next|nightly|snapshot|m)\b.*|"
                      r"[.\-_]?(?:a|b|c|rc|alpha|beta|pre|preview|dev)[.\-_]?\d.*|-.*", re.IGNORECASE)  # fmt: skip


def at_least(version: str, bound: str) -> bool | None:
    """Say whether `version` is `bound` (numbers and dots) or a later one; None where it can't be compared.

    What is before a release (`5.0rc1`, `5.0.0-beta.2`) is not that release; what is built or posted after it is.
    """
    given = _VERSION.fullmatch(version.strip())
    if given is None or len(version) > 256:
        return None
    ours, theirs = (tuple(int(part) for part in text.split(".")) for text in (given[1], bound))
    width = max(len(ours), len(theirs))
    ours += (0,) * (width - len(ours))
    theirs += (0,) * (width - len(theirs))
    if ours != theirs:
        return ours > theirs
    rest = given[2].strip()
    if not rest or _LATER.fullmatch(rest):
        return True
    return False if _EARLIER.fullmatch(rest) else None


# --- words ------------------------------------------------------------------------------------

_STOP = frozenset(
    """
    a an the and or but if when once while until unless as at by for from in into of off on onto out over per than then
    to up upon via with within without after before again also any all both each every few more most much many other
    another same some such no nor not only own so too very just still yet ever never now later soon we us our ours you
    your they them their it its this that these those there here who whom which what why how i me my he she his her
    is are was were be been being am do does did done doing has have had having will would shall should can could may
    might must need needs needed get gets got getting let lets make makes made making use uses used using want wants
    become becomes became longer new old else one ever someone something anyone anything everyone everything us
    """.split()
)
#: What people call a change of things. `go` is none: it is a language; `provider` and `address` are things.
_TURN = re.compile(
    "(?:chang|replac|mov|migrat|switch|swapp?|dropp?|remov|delet|upgrad|updat|bump|renam|adopt|introduc|deprecat|retir|"
    "leav|rewrit|convert|merg|splitt?|support|offer|allow|enabl|shipp?|releas|add|provid|gain|exist)"
    "(?:e|es|ed|s|ing|ion|ions|ement|ements|al)?|left|rewrote|rewritten|available"
)
_HANGUL = (0x1100, 0xD7FF)


class Wish:
    """What a `stale_when` waits for, as units to look for in later events.

    units   its distinctive words, and pairs of characters where a script has no blanks; each once, in order
    turns   it speaks of a change, so what meets it has to as well
    verbs   changes that it speaks of in words of its own (`exported`)
    """

    __slots__ = ("turns", "units", "verbs")

    def __init__(self, text: str) -> None:
        found: dict[str, None] = {}
        self.turns = False
        self.verbs: list[str] = []
        for word in _words(text):
            if word in _STOP:
                continue
            if _is_turn(word):
                self.turns = True
            elif word.endswith("ed") and len(word) > 4:
                self.turns = True
                self.verbs.append(word)
            else:
                found[word] = None
        self.units = list(found)[:UNITS_MAX]

    def without(self, common: Iterable[str]) -> Wish:
        """Return the wish without units that are too common to tell anything."""
        other = Wish("")
        left = set(common)
        other.turns, other.verbs = self.turns, self.verbs
        other.units = [unit for unit in self.units if unit not in left]
        return other

    @property
    def wanted(self) -> int:
        """How many units an event has to share; more than there are where the wish is too vague to be met."""
        number = self._number(self.units)
        if number < SHARED_MIN:
            return 1 if self.turns and number else SHARED_MIN
        return max(SHARED_MIN, -(-number // 3))

    def _number(self, units: Sequence[str]) -> int:
        """Return how many words the units are: of pairs that overlap, three characters are one word, four are two."""
        number = chain = 0
        for at, unit in enumerate(units):
            linked = at > 0 and _is_pair(unit) and _is_pair(units[at - 1]) and units[at - 1][1] == unit[0]
            chain = chain + 1 if linked else 1
            number += chain % 2
        return number

    def query(self) -> str:
        """Return the FTS5 query for the rows that may meet it, or "" where none can."""
        if self.wanted > len(self.units):
            return ""
        terms = [query_of(unit) for unit in self.units]
        if self.wanted == 1:
            found = terms
        else:
            found = [f"({one} AND ({' OR '.join(terms[at + 1 :])}))" for at, one in enumerate(terms[:-1])]
        # Not in what else is indexed: there a twin of the decision holds the very same `stale_when`.
        return f"{{entity approach reasoning}} : ({' OR '.join(found)})"

    def met_by(self, event: Event) -> list[str]:
        """Return the words that the event shares, if they are enough, else nothing."""
        text = text_of(event)
        have = _words(text)
        if self.turns and not any(_is_turn(word) or any(alike(word, verb) for verb in self.verbs) for word in have):
            return []
        shared = [unit for unit in self.units if any(alike(unit, word) for word in have)]
        return shared if self._number(shared) >= self.wanted else []


def text_of(event: Event) -> str:
    """Return what an event says happened. What a closing calls its approach is what does *not* happen."""
    fields = event.fields
    own = [fields.get("reasoning"), fields.get("instead")]
    if CHANGE_TYPES.get(event.change_type) != CLOSING:
        own += [event.entity_path, event.approach]
    return "\n".join(part for part in own if isinstance(part, str))


def query_of(unit: str) -> str:
    """Return the FTS5 term that finds the words that are like `unit`."""
    if _is_pair(unit):
        return f'"{unit[0]} {unit[1]}"'
    if _is_hangul(unit):
        return f'"{unit[:2]}" *'
    if len(unit) < 3:
        return f'"{unit}"'
    return f'"{unit[:3] if len(unit) < 5 else unit[: max(4, len(unit) - 3)]}" *'


def alike(one: str, other: str) -> bool:
    """Say whether two words differ in a short ending at most."""
    if one == other:
        return True
    same = 0
    for a, b in zip(one, other):
        if a != b:
            break
        same += 1
    rests = (len(one) - same, len(other) - same)
    if max(rests) > 3:
        return False
    if _is_hangul(one):
        return same >= 2
    if same == 3:
        return sorted(rests) == [0, 1] and max(one, other, key=len).endswith("s")
    return same >= 5 or (same >= 4 and 0 in rests)


def _is_turn(word: str) -> bool:
    return _TURN.fullmatch(word) is not None


def _words(text: str) -> list[str]:
    """Return the words of a text, folded; the parts of `card_token` too, and pairs of characters without blanks."""
    found: dict[str, None] = {}
    for term in words.terms(_folded(text)):
        for part in (term, *term.split("_")) if "_" in term else (term,):
            run = ""
            for c in part:
                if _is_unspaced(c):
                    if run and not _is_unspaced(run[-1]):
                        found[run] = None
                        run = ""
                elif run and _is_unspaced(run[-1]):
                    _pairs(run, found)
                    run = ""
                run += c
            if run and _is_unspaced(run[-1]):
                _pairs(run, found)
            elif run:
                found[run] = None
    return list(found)


def _pairs(run: str, found: dict[str, None]) -> None:
    for at in range(len(run) - 1):
        pair = run[at : at + 2]
        if not all("\u3041" <= c <= "\u309f" for c in pair):  # endings and particles
            found[pair] = None


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    # As the index has it: accents of letters go, the marks of kana and other scripts stay.
    plain = unicodedata.normalize("NFD", text.lower())
    return unicodedata.normalize("NFC", "".join(c for c in plain if not "\u0300" <= c <= "\u036f"))


def _is_unspaced(character: str) -> bool:
    return len(words.searchable(character)) > 1


def _is_pair(unit: str) -> bool:
    return len(unit) == 2 and _is_unspaced(unit[0])


def _is_hangul(word: str) -> bool:
    return bool(word) and _HANGUL[0] <= ord(word[0]) <= _HANGUL[1] and not _is_unspaced(word[0])


def _flat(text: str) -> str:
    return " ".join(text.split())[:80]
