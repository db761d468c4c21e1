"""Approaches by key: when two descriptions of what was done count as the same.

A key is what the verdicts are kept by, so it belongs to format 1 and never changes for it: neither the
steps of `key` nor the word lists below. The steps: letters lose their case and compatibility forms
(`letters.fold`), look-alikes become Latin, what can't be seen goes, punctuation becomes space (but
`+ # . < > =` stay inside a word: c++, c#, node.js, >=2), contractions open (`don't` is `not`), articles
and auxiliaries go, and the words are sorted.

Words that deny or direct (`ORDERING`) keep all words in the order they were written: "from A to B" is not
"from B to A". So does any word of another script: other languages have such words too, and we don't
know them. Nothing is dropped from those, so no script folds to an empty key.
"""

from __future__ import annotations

import re

from gitmem.core import letters
from gitmem.core.characters import INVISIBLE

#: Articles and auxiliaries: they carry nothing. An `a` with no word after it to belong to is a name (option A).
DROPPED = frozenset(
    """
    a an the
    am is are was were be been being do does did doing done have has had having
    will would shall should can could may might must
    """.split()
)
#: Words that deny or direct. Where one stands, the order of words is part of the meaning.
ORDERING = frozenset(
    """
    not no never none nor neither without non from to into onto over under above below instead rather than
    before after until unless except against vs
    nicht kein keine ohne statt von nach vor zu
    ne pas sans vers de du des
    sin desde hasta hacia
    senza dal dalla verso
    niet geen zonder van naar
    sem
    """.split()
)
#: "Replace A with B" is not "replace B with A": one of each, and the order stays.
_EXCHANGING = frozenset(
    """
    replace replaces replaced replacing swap swaps swapped swapping substitute substitutes substituted
    substituting switch switches switched switching exchange exchanges exchanged exchanging
    """.split()
)
_EXCHANGED = frozenset(("with", "by", "for"))
#: Words with another spelling; what is on the right may be dropped or ordering in turn.
SPELLED = {
    "cannot": "not",
    "cant": "not",
    "dont": "not",
    "doesnt": "not",
    "didnt": "not",
    "isnt": "not",
    "arent": "not",
    "wasnt": "not",
    "wont": "not",
    "shouldnt": "not",
    "couldnt": "not",
    "wouldnt": "not",
    "versus": "vs",
}
#: Too common to say that two texts are about one thing (`near`, `mentions`); a key keeps them.
COMMON = frozenset(
    """
    in on at of for with by as and or but if so it its this that these those there here we our us you your
    they their them i my he she when while where which who what how all any some each per via use used uses using
    """.split()
)

#: Letters that look like Latin ones, as `letters.fold` leaves them. Of a letter whose two cases look like
#: two Latin letters the small one counts, but for н, т, м, в and к, which are drawn as small capitals.
_LOOK_ALIKES = (
    ("авеѕіјкмнорстухԁԛԝһӏԍ", "abesijkmhopctyxdqwhlg"),  # Cyrillic
    ("αβεζηικμνορτυχϳ", "abezhikmvoptyxj"),  # Greek
    ("օսհցյոզ", "ouhgjnq"),  # Armenian
    ("ıɑɡɩʟᴀʙᴄᴅᴇꜰɢʜɪᴊᴋᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "iagilabcdefghijkmnoprstuvwyz"),  # Latin and phonetic
)
#: Signs that say what ASCII says otherwise.
_SIGNS = {
    "≥": ">=",
    "≤": "<=",
    "→": "->",
    "⇒": "->",
    "➔": "->",
    "➜": "->",
    "⟶": "->",
    "’": "'",
    "‘": "'",
    "ʼ": "'",
    "‛": "'",
    "´": "'",
    "‐": "-",
    "‑": "-",
    "‒": "-",
    "–": "-",
    "—": "-",
    "―": "-",
    "−": "-",
}
#: Punctuation and space outside ASCII.
_PUNCTUATION = (
    "¡¢£¤¥¦§©«¬®°±¶·»¿×÷"
    "“”„‟‚†‡•‣․‧‰′″‴‵‹›※‽‿⁀⁂⁃⁄⁊⁌⁍⁎⁏⁑⁓⁕"
    "\u1680\u2002\u2003\u3000"
    "、。〃〈〉《》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰・゠"
    "،؛؟٪٫٬٭۔۝۞՚՛՜՝՞՟։֊־׀׃׳״।॥॰၊။።፣፤፥፦፧፨᠂᠃᠈᠉"
    "⟨⟩⟪⟫⸺⸻"
)

# Patterns are compiled where they are used first: everyday text needs none, and together they cost 4 ms.
_NOT = r"\b(?:can|won|shan)'t\b|n't\b"
_OWN = r"'s\b"
_WITHOUT = r"\bw/o\b"
_WITH = r"\bw/(?=\s|$)"
_ARROW = "[-=~]+>+(?!=)"
_ARROW_BACK = "<+-+"
_UNEQUAL = "!==?|=\u0338"  # U+0338 is what is left of ≠ once it is taken apart
_MINUS_SIGN = r"(?<![a-z0-9\x80-\U0010ffff])-(?=\d)"
_GROUPED = r"(?<=\d)[,_](?=\d{3}(?!\d))"
# A comparison has one spelling: `x >= 2`, `x>= 2` and `x >=2` are `x>=2`.
_LONE_COMPARISON = r"(?<=\S) +([<>]=?|={1,3}) +(?=\S)"
_BEFORE_NUMBER = r"([<>]=?|={1,3}) +(?=\d)"
_AFTER_WORD = r"(?<=[a-z0-9]) +(?=(?:[<>]=?|={1,3})\d)"
_LATIN_LETTER = "[a-z]"
#: All of ASCII that is neither a letter, a digit, nor one of the signs that stay inside a word.
_SPACED = {ord(c): " " for c in map(chr, range(128)) if not c.isalnum() and c not in "+#.<>="}

#: Stands for a minus sign while the hyphens go; nothing else is left of it by then.
_MINUS = "−"
_JOINING = ORDERING | {"and", "or"}

# str.translate's tables for text that is not ASCII, made on first use: what goes or is spelled in ASCII, look-alikes
_tables: tuple[dict[int, str | None], dict[int, str]] | None = None


class NoKey(ValueError):
    """The approach is not empty, but nothing in it can be told apart from nothing."""


def key(text: str) -> str:
    """Return the key of the approach `text`: "" for an empty one. Raises NoKey where only the key is empty.

    A key is lower case, single-spaced, and never starts with `[`.
    """
    if not text:
        return ""
    words, ordered = _words(text)
    if not words:
        raise NoKey(text)
    exchanging = not (_EXCHANGED.isdisjoint(words) or _EXCHANGING.isdisjoint(words))
    if not (ordered or exchanging) and ORDERING.isdisjoint(words):
        words.sort(key=_place)
    return " ".join(words)


def _place(word: str) -> tuple[bool, str]:
    return (word == "a", word)  # last, where it still is a name: so a key is the key of itself


def total_key(text: str) -> str:
    """Return the key of any approach, for replay: one that `key` refuses stands for itself alone."""
    try:
        return key(text)
    except NoKey:
        return f"[{text}]"


def near(one: str, other: str) -> bool:
    """Say whether two keys share half of their words, counted on the longer one, and are not the same."""
    if one == other:
        return False
    mine, theirs = _telling(one), _telling(other)
    return 2 * len(mine & theirs) >= max(len(mine), len(theirs)) > 0


def mentions(text: str, other: str) -> bool:
    """Say whether `text` (a reason) holds half of the words of the key `other`."""
    theirs = _telling(other)
    return bool(theirs) and 2 * len(theirs.intersection(_words(text)[0])) >= len(theirs)


def _telling(of_key: str) -> frozenset[str]:
    words = frozenset(of_key.split())
    return words - COMMON - ORDERING or words


def _words(text: str) -> tuple[list[str], bool]:
    """Return the words of `text` that count, as written, and whether another script holds them to their order."""
    ordered = False
    in_ascii = text.isascii()
    text = plain(text)
    if not in_ascii:
        # Seen before look-alikes go: "с MySQL на Postgres" is Russian, though each of its letters has a Latin twin.
        ordered = any(not word.isascii() and re.search(_LATIN_LETTER, word) is None for word in text.split())
        text = latin(text)
        ordered = ordered or not text.isascii()
    text = opened(text)
    comparing = ">" in text or "<" in text or "=" in text
    if comparing:
        text = re.sub(_ARROW_BACK, " from ", re.sub(_ARROW, " to ", re.sub(_UNEQUAL, " not ", text)))
    if "-" in text:
        text = re.sub(_MINUS_SIGN, _MINUS, text)
    if "," in text or "_" in text:
        text = re.sub(_GROUPED, "", text)
    text = text.translate(_SPACED).replace(_MINUS, "-")
    if comparing and (">" in text or "<" in text or "=" in text):
        text = " ".join(text.split())
        text = re.sub(_AFTER_WORD, "", re.sub(_BEFORE_NUMBER, r"\1", re.sub(_LONE_COMPARISON, r"\1", text)))
    words = []
    article = False
    for word in text.split():
        if not word.isalnum():
            word = _trimmed(word)
            if not word:
                continue
        word = SPELLED.get(word, word)
        if article and word in _JOINING:
            words.append("a")
        article = word == "a"
        if word not in DROPPED:
            words.append(word)
    if article:
        words.append("a")
    return words, ordered


def plain(text: str) -> str:
    """Return `text` without case, with the signs of other keyboards as ASCII has them and nothing that isn't seen."""
    if text.isascii():
        return text.lower()
    dull, _ = _load()
    return letters.fold(text.translate(dull)).translate(dull)


def latin(text: str) -> str:
    """Return a `plain` text with Latin letters in place of those that look like them."""
    return text.translate(_load()[1])


def opened(text: str) -> str:
    """Return a `plain` text with its contractions opened: `don't` is `not`, `w/o` is `without`."""
    if "'" in text:
        text = re.sub(_OWN, " ", re.sub(_NOT, " not ", text))
    if "w/" in text:
        text = re.sub(_WITH, " with ", re.sub(_WITHOUT, " without ", text))
    return text


def _trimmed(word: str) -> str:
    """Take the dots off a word's end (and off its start but for `.net`); nothing is left of signs alone."""
    word = word.rstrip(".")
    if word.startswith(".."):
        word = word.lstrip(".")
    return word if word.strip("+#.<>=") else ""


def _load() -> tuple[dict[int, str | None], dict[int, str]]:
    global _tables
    if _tables is None:
        dull: dict[int, str | None] = {ord(character): None for character in INVISIBLE if ord(character) > 0x7F}
        dull.update(dict.fromkeys((0x85, 0x2028, 0x2029), " "))
        dull.update(dict.fromkeys(map(ord, _PUNCTUATION), " "))
        dull.update((ord(sign), spelled) for sign, spelled in _SIGNS.items())
        dull[0x640] = None
        latin: dict[int, str] = {}
        for strange, alike in _LOOK_ALIKES:
            latin.update(zip(map(ord, strange), alike, strict=True))
        _tables = (dull, latin)
    return _tables
