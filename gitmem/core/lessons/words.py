"""What a sentence is about, and what must not be lost of it: content words, clauses, polarity.

Letters are folded as approaches are (`core/approach`, `core/letters`: frozen tables, no Unicode of the interpreter).
Small words go, the rest lose the plural by the S-stemmer (Harman 1991), and a script that has no blanks between words
is cut into pairs of characters within each run of one kind (Han, hiragana, katakana). Everything here belongs to a
policy's version: another list or another step would make another memory out of one log.

A word may *deny* (not, never, without, rejected, only: to lose it turns the sentence round), *side* (fails, passes,
prefer, more: it has an opposite, and its clause says nothing without it), *order* (to, if: what stands on its two sides
can't change places), name a *cause*, or *oblige* (must, all: it may be lost and not added). A clause that holds one of
the first two, or begins with a cause, is *held*: it stays as it is, or it goes.
Of a script whose words we have no list of, each word denies: some do, and we don't know which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gitmem.core import approach, letters
from gitmem.core.words import is_unspaced

CONTENT, DENIES, SIDES, ORDERS, CAUSES, OBLIGES = 1, 2, 4, 8, 16, 32
#: What a clause keeps if it holds it.
HOLDS = DENIES | SIDES

_NEGATIONS = """
    not no never none nor neither nothing nobody nowhere non
    nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder
    ne pas jamais aucun aucune rien ni nunca ningun ninguna jamas nada
    mai nessun nessuno niente nao nenhum nenhuma niet geen nooit
    inte ikke aldrig aldri ingen inga ei nem nigdy tidak bukan jangan yok
    não ningún jamás né değil không не нет ни нельзя никогда
"""
_DENYING = {
    "not": _NEGATIONS,
    "without": "without ohne sans sin senza sem zonder utan uten uden bez без",
    "unless": "unless except excluding ausser außer sauf excepto tranne кроме",
    "instead": "instead rather statt anstatt stattdessen lieber вместо",
    "only": "only merely solely nur bloss bloß ausschliesslich ausschließlich seulement solo soltanto apenas только",
    "than": "than",
    "from": "from",
    "over": "over above",
    "under": "under below beneath",
    "before": "before until bis bevor avant antes prima до",
    "after": "after nachdem après apres después despues dopo depois после",
    "vs": "vs against gegen contre contra contro против",
    "<": "< <=",
    ">": "> >=",
}
#: The same of words that say something themselves.
_REFUSING = {
    "reject": "reject rejects rejected rejecting rejection verwerfen verworfen",
    "refuse": "refuse refuses refused refusing refusal abgelehnt",
    "forbid": "forbid forbids forbidden forbidding forbade verboten",
    "avoid": "avoid avoids avoided avoiding avoidance vermeiden",
    "prevent": "prevent prevents prevented preventing",
    "prohibit": "prohibit prohibits prohibited prohibiting",
    "disallow": "disallow disallows disallowed disallowing",
    "ban": "ban bans banned banning",
    "deny": "deny denies denied denying",
}
_SIDING = {
    "choose": "choose chooses chose chosen choosing",
    "prefer": "prefer prefers preferred preferring",
    "allow": "allow allows allowed allowing",
    "accept": "accept accepts accepted accepting",
    "enable": "enable enables enabled enabling",
    "disable": "disable disables disabled disabling",
    "fail": "fail fails failed failing failure failures",
    "pass": "pass passes passed passing",
    "succeed": "succeed succeeds succeeded succeeding success",
    "break": "break breaks broke broken breaking",
    "more": "more mehr plus más mas",
    "less": "less fewer weniger moins menos",
    "better": "better besser mieux mejor",
    "worse": "worse schlechter pire peor",
    "faster": "faster quicker schneller",
    "slower": "slower langsamer",
    "higher": "higher höher hoeher",
    "lower": "lower niedriger",
    "safe": "safe sicher",
    "unsafe": "unsafe unsicher",
    "true": "true",
    "false": "false",
    "good": "good gut",
    "bad": "bad schlecht",
    "right": "right richtig",
    "wrong": "wrong falsch",
    "otherwise": "otherwise sonst sinon",
    # Hedges: without them a sentence claims more than it did.
    "perhaps": "may might maybe perhaps possibly probably vielleicht wohl möglicherweise wahrscheinlich peut-être",
    "sometimes": "sometimes occasionally rarely seldom manchmal selten parfois",
    "often": "often usually mostly oft meistens souvent",
    "some": "some few several most einige manche wenige",
}
_ORDERING = "to into onto toward towards with by zu nach vers hacia hasta para verso naar"
_CAUSING = """
    because so therefore since due thus hence why cause causes caused causing
    weil daher deshalb deswegen darum wegen denn also folglich
    parce car donc porque pues perche perché quindi omdat dus потому поэтому из-за
"""
_OBLIGING = "as da must should shall all every each always any both muss müssen soll sollen alle jede jeder jedes immer"
#: A clause that begins with one of these belongs to the clause that it bounds.
_CONDITIONS = frozenset(
    "if when whenever while where unless once wenn falls sobald solange si cuando wanneer als".split()
)
#: What starts a clause in the middle of a sentence.
_OPENERS = frozenset(
    "but because so since due therefore although though whereas hence thus aber weil denn sondern obwohl mais".split()
)
_AND = frozenset("and or then und oder et y".split())
#: Small words besides those that approaches drop.
_SMALL = frozenset(
    """
    about again also already am an been being but cannot else ever get gets got how however just let like made make many
    me most much myself now off on once one our out own same see still such take them too up very was well were yet
    your yours please let's want wants wanted thing things way ways
    der die das den dem ein eine einen einem einer und oder ist sind war waren wird werden wurde wurden hat haben hatte
    im am an zum zur bei als wenn dass es er sie wir ihr man auch noch schon so da dann aus um
    le la les un une et ou est sont il elle on que qui dans sur pour ce cette ces
    el los las una y o es son que en por para con se su lo al
    """.split()
)

#: Negations inside runs of scripts without blanks; each found one counts.
_DENSE_DENYING = {
    "not": "ない なく なかっ ません ずに せず れず らず わず 不 無 非 未 没 无 别 勿 否 莫",
    "forbid": "禁 拒 避",
    "only": "だけ のみ しか 只 仅 僅",
    "unless": "以外 除",
    "instead": "代わり 代替",
    "before": "前 まで",
    "after": "後 后",
    "from": "より 从",
}
_DENSE_CAUSING = "から ので ため 因 所以"
_DENSE_SIDING = {"fail": "失敗 失败", "succeed": "成功", "perhaps": "かも 可能", "more": "多", "less": "少"}
#: Pairs of hiragana that are grammar and no content, where a run of it stands first.
_GRAMMAR = """
    です ます まし した して てい いる いた たい から まで ので のに こと もの ため よう うに なる なり なら れる
    られ せる させ ある あり あっ った する すれ しな でき きる きな ここ それ その この これ では には とは への
    での との にも でも のは のが のを とき たら ばな らな けれ れば くだ ださ さい なに など ない なく なか かっ
    ませ せん いま とし しま しょ ょう うと いう ると たと えば
"""

_BREAK = "[.,;:!?]+(?=\\s|$)|[、。，；：！？…\n()（）「」『』\u2014\u2013]+|\\s-{1,3}\\s"
_STOP = frozenset(".;!?。；！？\n")
_W = "a-z0-9_\u0080-\U0010ffff"
_TOKEN = f"(?:(?<![{_W})\\]])-(?=\\d))?[{_W}]+(?:(?<=\\d)[.,][0-9]+)*(?:[+#]{{1,2}}(?![{_W}]))?|[-=~]+>|<-+|!==?|[<>]=?"
_HIRAGANA, _KATAKANA, _HAN, _OTHER = "h", "k", "c", "o"
_VOICED = "\u3099\u309a"
#: Scripts with blanks between words that the lists above speak of: Latin with its accents, Cyrillic, Greek, Hangul.
_KNOWN = ((0x00, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x1100, 0x11FF), (0x1E00, 0x1EFF), (0xAC00, 0xD7A3))
_HANGUL_DENYING = ("안", "못", "말")
_HANGUL_STARTS = ("않", "없", "아니", "금지")


class Word:
    """One word of a text: `stem` is what it is compared by, `shown` how it was written, `sort` what it does."""

    __slots__ = ("shown", "sort", "stem")

    def __init__(self, stem: str, shown: str, sort: int) -> None:
        self.stem = stem
        self.shown = shown
        self.sort = sort

    def __repr__(self) -> str:
        return f"Word({self.stem!r}, {self.sort})"


class Clause:
    """Words that belong together. A held clause stays as it is or goes; one that denies must not go."""

    __slots__ = ("words",)

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words

    @property
    def denies(self) -> bool:
        return any(word.sort & DENIES for word in self.words)

    @property
    def causes(self) -> bool:
        return any(word.sort & CAUSES for word in self.words)

    @property
    def is_held(self) -> bool:
        return any(word.sort & (HOLDS | CAUSES) for word in self.words)

    @property
    def stems(self) -> tuple[str, ...]:
        """What a held clause is compared by: whatever says something, in its order."""
        return tuple(word.stem for word in self.words)

    def __str__(self) -> str:
        return " ".join(word.shown for word in self.words)


def content(text: str) -> list[str]:
    """Return the content words of `text`, folded and stemmed, in order and with repeats."""
    return [word.stem for word in words(text) if word.sort & CONTENT]


def causes(text: str) -> list[str]:
    """Return the words of cause in `text`, in order."""
    return [word.stem for word in words(text) if word.sort & CAUSES]


def polarity(text: str) -> frozenset[str]:
    """Return what `text` denies, directs and sides with, each by its one name ("never" and "kein" are "not")."""
    return frozenset(word.stem for word in words(text) if word.sort & HOLDS)


def words(text: str) -> list[Word]:
    """Return the words of `text` that say something, in order."""
    found: list[Word] = []
    for piece, _ in _pieces(text):
        found += _words(piece)
    return found


def clauses(text: str) -> list[Clause]:
    """Return the clauses of `text`; what bounds a clause ("if …", a denial between commas) is in it."""
    found: list[Clause] = []
    for sentence in _sentences(text):
        if any(_is_bare(part) for part in sentence):
            sentence = [[word for part in sentence for word in part]]
        found += [Clause([word for word in part if word.sort]) for part in _bound(sentence)]
    return [clause for clause in found if clause.words]


# --- cutting ----------------------------------------------------------------------------------


def _pieces(text: str) -> list[tuple[str, bool]]:
    """Return the pieces of `text` between its marks, as written, each with whether a sentence ends after it."""
    found: list[tuple[str, bool]] = []
    at = 0
    for mark in re.finditer(_BREAK, text):
        found.append((text[at : mark.start()], not _STOP.isdisjoint(mark.group())))
        at = mark.end()
    found.append((text[at:], True))
    return found


def _sentences(text: str) -> Iterable[list[list[Word]]]:
    sentence: list[list[Word]] = []
    for piece, ends in _pieces(text):
        sentence += _opened(_all_words(piece))
        if ends:
            if sentence:
                yield sentence
            sentence = []


def _opened(found: list[Word]) -> list[list[Word]]:
    """Cut before words that begin a clause, and before an "and" that a denial follows."""
    parts: list[list[Word]] = [[]]
    for place, word in enumerate(found):
        after = next((other for other in found[place + 1 :] if other.sort), None)
        joins = word.shown in _AND and after is not None and after.sort & DENIES
        if parts[-1] and (word.shown in _OPENERS or joins):
            parts.append([])
        parts[-1].append(word)
    return [part for part in parts if part]


def _is_bare(part: list[Word]) -> bool:
    """Say whether a part denies and has nothing to deny: what it means is said beside it."""
    said = [word for word in part if word.sort]
    return any(word.sort & DENIES for word in said) and not any(_is_plain(word) for word in said)


def _is_plain(word: Word) -> bool:
    return bool(word.sort & CONTENT) and not word.sort & DENIES


def _bound(parts: list[list[Word]]) -> list[list[Word]]:
    """Put a condition to the clause that it bounds: the one after it where it comes first, else the one before."""
    found: list[list[Word]] = []
    waiting: list[Word] = []
    for part in parts:
        if part[0].shown in _CONDITIONS:
            if found:
                found[-1] = found[-1] + part
            else:
                waiting = waiting + part
        else:
            found.append(waiting + part)
            waiting = []
    return [*found, waiting] if waiting else found


# --- words ------------------------------------------------------------------------------------


def _words(piece: str) -> list[Word]:
    return [word for word in _all_words(piece) if word.sort]


def _all_words(piece: str) -> list[Word]:
    """Return all words of a piece; those that say nothing are of sort 0."""
    found: list[Word] = []
    for token in re.findall(_TOKEN, approach.opened(approach.plain(piece))):
        if token.isascii():
            for word in token.split("_"):
                if word:
                    found.append(_latin(word))
        else:
            for word in token.split("_"):
                found += _strange(word)
    return found


def _latin(word: str) -> Word:
    listed = _listed().get(word)
    if listed is not None:
        return Word(listed[0], word, listed[1])
    if word[-1] == ">":  # -> or =>
        return Word("to", word, ORDERS)
    if word[0] in "<!":  # <- or !=
        return Word("from" if word[0] == "<" else "not", word, DENIES)
    return Word(stem(word), word, CONTENT)


def stem(word: str) -> str:
    """Return an ASCII word without the plural's s, as the S-stemmer has it."""
    if len(word) < 3 or word[-1] != "s":
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word if word.endswith(("us", "ss")) else word[:-1]


_latin_lists: dict[str, tuple[str, int]] | None = None
_foreign: dict[str, tuple[str, int]] | None = None
_dense: tuple[list[tuple[str, str, int]], frozenset[str]] | None = None


def _listed() -> dict[str, tuple[str, int]]:
    """Return what the lists say of ASCII words: its one name, its sort (0: it says nothing)."""
    global _latin_lists
    if _latin_lists is None:
        _latin_lists = {word: entry for word, entry in _entries() if word.isascii()}
    return _latin_lists


def _entries() -> list[tuple[str, tuple[str, int]]]:
    """All lists; what stands later counts."""
    found: list[tuple[str, tuple[str, int]]] = []
    found += [
        (word, (word, 0)) for listed in (approach.DROPPED, approach.COMMON, _SMALL, _AND, _OPENERS) for word in listed
    ]
    found += [(word, ("if", ORDERS)) for word in _CONDITIONS]
    found += [(word, (word, ORDERS)) for word in _ORDERING.split()]
    found += [(word, (word, OBLIGES)) for word in _OBLIGING.split()]
    found += [(word, (word, CAUSES)) for word in _CAUSING.split()]
    found += _forms(_SIDING, SIDES | CONTENT)
    found += _forms(_DENYING, DENIES)
    found += _forms(_REFUSING, DENIES | CONTENT)
    found += [(word, ("not", DENIES)) for word, spelled in approach.SPELLED.items() if spelled == "not"]
    return found


def _forms(listed: dict[str, str], sort: int) -> list[tuple[str, tuple[str, int]]]:
    return [(form, (name, sort)) for name, forms in listed.items() for form in forms.split()]


def _strange(word: str) -> list[Word]:
    """Return the words in a token that is not all ASCII."""
    if re.search("[a-z]", word) is not None and not any(map(is_unspaced, word)):
        word = approach.latin(word)  # a letter of another script among Latin ones only looks like one of them
        if word.isascii():
            return [_latin(word)]
    listed = _listed_abroad().get(word)
    if listed is not None:
        return [Word(listed[0], word, listed[1])]
    found: list[Word] = []
    for place, (kind, run) in enumerate(_runs(word)):
        if kind == "":
            found.append(_latin(run) if run.isascii() else Word(run, run, _sort_of(run)))
        elif kind != _HIRAGANA or not place:  # after something else hiragana is its ending, or a particle
            found += _pairs(kind, run)
    if any(map(is_unspaced, word)):
        found += _said_densely(word)
    return found


def _listed_abroad() -> dict[str, tuple[str, int]]:
    global _foreign
    if _foreign is None:
        _foreign = {letters.fold(word): entry for word, entry in _entries() if not word.isascii()}
    return _foreign


def _sort_of(word: str) -> int:
    """What a word does that is in no list: of a script that we have no list of, each may deny."""
    if not all(any(low <= ord(c) <= high for low, high in _KNOWN) for c in word):
        return CONTENT | DENIES
    denies = word in _hangul_words() or word.startswith(_hangul_starts())
    return CONTENT | DENIES if denies else CONTENT


def _hangul_words() -> tuple[str, ...]:
    return tuple(map(letters.fold, _HANGUL_DENYING))


def _hangul_starts() -> tuple[str, ...]:
    return tuple(map(letters.fold, _HANGUL_STARTS))


# --- scripts without blanks -------------------------------------------------------------------


def _runs(word: str) -> list[tuple[str, str]]:
    """Cut a token where the kind of its characters changes; "" is the kind of those that have blanks."""
    found: list[tuple[str, str]] = []
    kind, run = "", ""
    for c in word:
        its = kind if run and c in _VOICED else _kind(c, kind)
        if run and its != kind:
            found.append((kind, run))
            run = ""
        kind, run = its, run + c
    return [*found, (kind, run)] if run else found


def _kind(c: str, before: str) -> str:
    code = ord(c)
    if code == 0x30FC:  # the mark of a long vowel goes with what is before it
        return before or _KATAKANA
    if 0x3040 <= code <= 0x309F:
        return _HIRAGANA
    if 0x30A0 <= code <= 0x30FF:
        return _KATAKANA
    if 0x3400 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or code >= 0x20000 or code == 0x3005:
        return _HAN
    return _OTHER if is_unspaced(c) else ""


def _pairs(kind: str, run: str) -> list[Word]:
    """Return a run as pairs of characters; one of a single character as itself."""
    clusters: list[str] = []
    for c in run:
        if c in _VOICED and clusters:
            clusters[-1] += c
        else:
            clusters.append(c)
    pairs = clusters if len(clusters) == 1 else [one + two for one, two in zip(clusters, clusters[1:])]
    if kind == _HIRAGANA:
        grammar = _densely()[1]
        return [Word(pair, pair, 0 if len(clusters) == 1 or pair in grammar else CONTENT) for pair in pairs]
    return [Word(pair, pair, CONTENT | DENIES if kind == _OTHER else CONTENT) for pair in pairs]


def _said_densely(word: str) -> list[Word]:
    """Return what a token without blanks denies, sides with and gives as a cause."""
    return [Word(name, sign, sort) for sign, name, sort in _densely()[0] for _ in range(word.count(sign))]


def _densely() -> tuple[list[tuple[str, str, int]], frozenset[str]]:
    global _dense
    if _dense is None:
        signs = [(sign, name, DENIES) for name, listed in _DENSE_DENYING.items() for sign in listed.split()]
        signs += [(sign, name, SIDES) for name, listed in _DENSE_SIDING.items() for sign in listed.split()]
        signs += [(sign, sign, CAUSES) for sign in _DENSE_CAUSING.split()]
        folded = [(letters.fold(sign), name, sort) for sign, name, sort in signs]
        _dense = (folded, frozenset(map(letters.fold, _GRAMMAR.split())))
    return _dense
