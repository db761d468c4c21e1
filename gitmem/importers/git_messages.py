"""What a commit message says about reverting: which commits it takes back, why, and whether it lands one again.

Pure, and words only: whether the commit does what it says is decided by its lines (`importers/git.py`).
So the forms are read generously, but only as statements of this commit about itself. `This reverts
commit X` counts; `the last patch reverts X`, `add a revert button` and quoted lines don't. No regular
expressions: a message is somebody else's text, and is read in time linear in it.

    This reverts commit X, reversing changes made to Y.     git revert, of a merge with Y
    This reverts commits X, Y and Z ("…").                  several, abbreviated, with titles
    Reverts owner/repository#N / Revert #N                  a forge's button: the number stands in a subject
    Revert "subject"  area: revert 'subject'                no id at all: the subject is looked up
    Revert: subject                                         likewise, but only if there is such a commit
    Reapply "subject"  Reland "subject"  Revert^2 "subject" landing again
"""

from __future__ import annotations

from collections import namedtuple

#: Bounds of what is kept of a message, in bytes. A reason stands in one event per file.
REASON_MAX = 8 * 1024
SUBJECT_MAX = 1024

NO_REASON = "Reverted without a stated reason."
NO_REASON_AGAIN = "Landed again without a stated reason."
CUT = " […]"

Target = namedtuple("Target", ("oid", "mainline"))
Target.__doc__ = (
    "A commit id as the message has it (lower case, 7 digits or more), and the parent it names, or an empty string."
)


class Claim:
    """What one message says.

    targets  the commits that it names, in its order, each once
    pulls    numbers of pull requests that it names instead
    subject  the subject that it quotes (or, with `loose`, may mean), without a pull request's number
    loose    the subject, or that there is one, is a guess: it only counts if there is such a commit
    lands    it lands something again
    partial  by its own words it takes back a part
    ranges   ranges of commits that it names, as written
    reason   the rest of the message: why
    """

    __slots__ = ("lands", "loose", "partial", "pulls", "ranges", "reason", "seen", "subject", "targets")

    def __init__(self) -> None:
        self.targets: list[Target] = []
        self.pulls: list[int] = []
        self.seen: set[str] = set()  # the ids and numbers among them
        self.subject = ""
        self.loose = False
        self.lands = False
        self.partial = False
        self.ranges: list[str] = []
        self.reason = ""


# --- subjects ----------------------------------------------------------------------------------


def split(message: str) -> tuple[str, str]:
    """Return subject (the first paragraph on one line, as git has it) and body of a message.

    A forge cuts a long title with `…` and goes on in the body; it is put together again. And the line that git
    writes into a revert begins a paragraph, also where somebody took out the blank line before it.
    """
    lines = message.splitlines()
    at = 0
    while at < len(lines) and not lines[at].strip():
        at += 1
    start = at
    while at < len(lines) and lines[at].strip() and not (at > start and lines[at].startswith("This reverts commit")):
        at += 1
    subject = " ".join(" ".join(lines[start:at]).split())
    rest = lines[at:]
    while rest and not rest[0].strip():
        rest.pop(0)
    if subject.endswith("…") and rest and rest[0].startswith("…"):
        subject = subject[:-1] + rest.pop(0)[1:].rstrip()
    return subject, "\n".join(rest)


def without_number(subject: str) -> tuple[str, int]:
    """Return `subject` without the pull requests' numbers at its end, `(#12)`, and the last of them (0: none)."""
    number = 0
    while subject.endswith(")"):
        head, mark, tail = subject.rpartition("(#")
        if not mark or not tail[:-1].isdecimal() or not head.strip():
            break
        subject = head.rstrip()
        number = number or _number(tail[:-1])
    return subject, number


def approach(subject: str, body: str) -> str:
    """Return what a commit did, in its own few words: its subject, without a pull request's number.

    Of a forge's merge, whose subject only names branches, the title in the body.
    """
    first = body.lstrip().partition("\n")[0].strip()
    of_forge = subject.startswith("Merge pull request #") or (
        subject.startswith("Merge branch '") and "' into '" in subject
    )
    if of_forge and first and not first.startswith(("*", "See merge request", "Signed-off-by")):
        subject = first
    return trim(without_number(" ".join(subject.split()))[0], SUBJECT_MAX)


_REVERTS = ("revert", "reverts", "reverted", "reverting", "back out", "backout", "backed out", "roll back", "rollback")
_LANDS = ("reapply", "re-apply", "reland", "re-land", "relanding", "re-landing", "reapplied")
_OPENING = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`", "«": "»"}


def _read_subject(subject: str, claim: Claim) -> tuple[str, bool]:
    """Read the subject into `claim`; return what it says besides (a reason), and whether it is about reverting."""
    for start in _starts(subject):
        text = subject[start:]
        lower = text.lower()
        for verbs, lands in ((_REVERTS, False), (_LANDS, True)):
            verb = max(
                (v for v in verbs if lower.startswith(v) and not lower[len(v) : len(v) + 1].isalnum()),
                key=len,
                default="",
            )
            if not verb:
                continue
            rest = text[len(verb) :]
            power, rest = _power(rest)
            if rest.startswith("(") and "): " in rest:  # a conventional commit's scope
                rest = rest.partition(")")[2]
            colon = rest.startswith(":")
            rest = rest.removeprefix(":").strip()
            close = _OPENING.get(rest[:1], "")
            end = rest.rfind(close) if close else -1
            if end > 0 and rest[1:end].strip():
                claim.subject = rest[1:end].strip()
                if power > 1:
                    claim.subject = (
                        f'Revert^{power - 1} "{claim.subject}"' if power > 2 else f'Revert "{claim.subject}"'
                    )
                claim.lands = lands or power % 2 == 0
                beside = without_number("x " + rest[end + 1 :].strip())[0][1:].strip(" .:;,-")
                # `revert "changed" simplification` quotes a word, not a subject: only a commit can tell.
                claim.loose = bool(beside) or close not in '"”'
                return beside, True
            if start == 0 and not lands and rest and (colon or not verb.endswith("ing")):
                claim.subject, claim.loose = without_number(rest)[0], True
                return subject, True
    return subject, False


def _starts(subject: str) -> list[int]:
    """Where the verb may stand: first, or after `area: ` or `[tag] ` (the first few)."""
    starts = [0]
    at = 0
    while len(starts) < 4:
        colon, bracket = subject.find(": ", at), subject.find("] ", at)
        found = min((place for place in (colon, bracket) if place >= 0), default=-1)
        if found < 0:
            break
        at = found + 2
        starts.append(at)
    return starts


def _power(rest: str) -> tuple[int, str]:
    if rest.startswith("^"):
        digits, _, after = rest[1:].partition(" ")
        if digits.isdecimal() and len(digits) < 3:
            return int(digits), after
    return 1, rest


# --- bodies ------------------------------------------------------------------------------------


class _Word:
    __slots__ = ("bare", "end", "lower", "raw", "start", "starts")

    def __init__(self, raw: str, start: int, starts: bool) -> None:
        self.raw = raw
        self.bare = raw.strip("()[]{}<>\"'`*_,.;:!“”‘’")
        self.lower = self.bare.lower()
        self.start = start
        self.end = start + len(raw)
        self.starts = starts  # a sentence, a paragraph or a list's item begins here


_BULLETS = frozenset(("*", "-", "+", "•"))


def _words(body: str) -> list[_Word]:
    words: list[_Word] = []
    place = 0
    fresh = True
    for line in body.splitlines(keepends=True):
        text = line.strip()
        if not text or text.startswith(">"):
            fresh = True
        else:
            at = 0
            while at < len(line):
                if line[at].isspace():
                    at += 1
                    continue
                stop = at + 1
                while stop < len(line) and not line[stop].isspace():
                    stop += 1
                raw = line[at:stop]
                if raw in _BULLETS and not line[:at].strip():
                    fresh = True
                else:
                    words.append(_Word(raw, place + at, fresh))
                    fresh = raw[-1] in ".:!?;"
                at = stop
        place += len(line)
    return words


_ACTS = frozenset(("reverts", "revert", "reverting", "reverted"))
_LANDS_AGAIN = frozenset(("relands", "re-lands", "reapplies", "re-applies", "reland", "re-land"))
_ADVERBS = frozenset("also effectively essentially basically simply just fully completely cleanly manually".split())
_PARTIAL = frozenset("partially partly mostly largely morally".split())
_PARTS = frozenset("part parts most some portion portions half piece pieces bits one".split())
_ITSELF = frozenset("commit patch change pr cl diff".split())
_BETWEEN = frozenset(
    "my the our commit commits merge change changes changeset following two three four both of pr".split()
)
_MORE = frozenset(("and", "&", "commit", "commits", "also", "plus"))
_TITLE_MAX = 80  # words in the title after an id


def _read_body(body: str, claim: Claim) -> list[tuple[int, int]]:
    """Read the body's statements into `claim`; return the places of what they say, which is no reason."""
    words = _words(body)
    said: list[tuple[int, int]] = []
    at = 0
    while at < len(words):
        lands = words[at].lower in _LANDS_AGAIN
        if lands or words[at].lower in _ACTS:
            begin, partial = _begin(words, at)
            if begin >= 0:
                end = _targets(words, at + 1, claim, partial=partial)
                if end > 0:
                    claim.lands = claim.lands or lands
                    said.append((words[begin].start, words[end - 1].end))
                    at = end
                    continue
        at += 1
    return said


def _begin(words: list[_Word], at: int) -> tuple[int, bool]:
    """Return where the statement whose verb stands at `at` begins (-1: it is about something else), and if in part."""
    partial = False
    while not words[at].starts and at > 0:
        before = words[at - 1].lower
        if before not in _ADVERBS and before not in _PARTIAL:
            break
        partial = partial or before in _PARTIAL
        at -= 1
    if words[at].starts:
        return at, partial
    before = words[at - 1].lower
    if before in ("is", "a") and at > 2:  # this is a revert of X
        at -= 2 if words[at - 2].lower == "is" else 1
        before = words[at - 1].lower
    if before in _ITSELF and at > 1:
        at -= 1
        before = words[at - 1].lower
    return (at - 1 if before == "this" else -1), partial


def _targets(words: list[_Word], at: int, claim: Claim, *, partial: bool) -> int:
    """Read the commits named from `at` on; return where the text goes on, or 0 where none is named."""
    start = at
    while (
        at < len(words)
        and at - start < 5
        and (words[at].lower in _BETWEEN or words[at].lower in _PARTS or words[at].lower == "a")
    ):
        partial = partial or words[at].lower in _PARTS
        at += 1
    end = 0
    while at < len(words):
        word = words[at]
        oid = _oid(word.bare)
        number = _pull(word.bare)
        if oid:
            at, title_end = at + 1, at + 1
            if not word.raw.endswith("."):
                at = title_end = _past_title(words, at)
            mainline = ""
            if [w.lower for w in words[at : at + 4]] == ["reversing", "changes", "made", "to"] and at + 4 < len(words):
                mainline = _oid(words[at + 4].bare)
                title_end = at = at + 5
            if oid not in claim.seen:
                claim.seen.add(oid)
                claim.targets.append(Target(oid, mainline))
            end = title_end
        elif number:
            if str(number) not in claim.seen:
                claim.seen.add(str(number))
                claim.pulls.append(number)
            at = end = at + 1
        elif ".." in word.bare and all(_oid(side) for side in word.bare.replace("...", "..").split("..", 1)):
            claim.ranges.append(word.bare)
            at = end = at + 1
        else:
            break
        if words[end - 1].raw.endswith("."):
            break
        more = at
        while more < len(words) and more - at < 3 and words[more].lower in _MORE:
            more += 1
        at = more
    if end and partial:
        claim.partial = True
    return end


def _past_title(words: list[_Word], at: int) -> int:
    """Step over the title that may follow an id: ("…"), (…, date), "…"."""
    if at >= len(words):
        return at
    raw = words[at].raw
    if raw[0] == "(":
        depth = 0
        for stop in range(at, min(len(words), at + _TITLE_MAX)):
            depth += words[stop].raw.count("(") - words[stop].raw.count(")")
            if depth <= 0:
                return stop + 1
    elif raw[0] in _OPENING:
        close = _OPENING[raw[0]]
        for stop in range(at, min(len(words), at + _TITLE_MAX)):
            if words[stop].raw.rstrip(".,;:)").endswith(close) and (stop > at or len(raw) > 1):
                return stop + 1
    return at


_HEX = frozenset("0123456789abcdef")


def _oid(text: str) -> str:
    """Return the commit id that `text` is or links to, or an empty string."""
    if "/commit/" in text and text.startswith("http"):
        text = text.rpartition("/commit/")[2]
    text = text.lower()
    fits = (7 <= len(text) <= 40 or len(text) == 64) and _HEX.issuperset(text)
    return text if fits and (len(text) >= 40 or not text.isalpha()) else ""


def _pull(text: str) -> int:
    """Return the pull request that `text` is or links to (`#12`, `owner/name#12`, `…/pull/12`), or 0."""
    if text.startswith("http"):
        before, mark, number = text.rpartition("/pull/")
        return _number(number) if mark and before else 0
    before, mark, number = text.rpartition("#")
    if not mark or not number.isdecimal() or (before and before.count("/") != 1):
        return 0
    return _number(number)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else 0


# --- the whole ---------------------------------------------------------------------------------


def claim(message: str) -> Claim | None:
    """Return what `message` says about reverting, or None where it says nothing."""
    subject, body = split(message)
    found = Claim()
    found.partial = subject.lower().startswith(("partial", "partly"))
    beside, about = _read_subject(subject, found)
    if subject.lower().startswith("this reverts "):
        beside, body = "", f"{subject}\n\n{body}"
    said = _read_body(body, found)
    words = _words(found.subject)
    if words and (found.loose or len(words) == 1) and _targets(words, 0, found, partial=False):
        # `Revert abc1234 (title)` and `Revert #12` have the form of a statement in a body.
        found.subject, found.loose = "", True
    if not (about or found.targets or found.pulls or found.ranges):
        return None
    found.subject = without_number(" ".join(found.subject.split()))[0]
    found.reason = _reason(beside, body, said)
    return found


#: Trailers about the making of a commit. Those that say why (Fixes, Closes, Link, Bug, Reported-by) stay.
_TRAILERS = frozenset(
    """
    signed-off-by reviewed-by acked-by tested-by co-authored-by co-developed-by change-id reviewed-on cc git-svn-id
    commit-queue auto-submit pull-request pull-request-url approved-by differential cq-include-trybots tbr
    tested lint committed-by
    """.split()
)


#: How a sentence goes on that began with what it reverts.
_GOES_ON = frozenset("as because due for since so to until which while in".split())


def _reason(beside: str, body: str, said: list[tuple[int, int]]) -> str:
    for start, end in reversed(said):
        body = body[:start] + "\x00" + body[end:]
    kept: list[str] = []
    conflicts = False  # the list that git used to leave in messages
    for line in body.splitlines():
        conflicts = line.strip("# ").lower() == "conflicts:" or (conflicts and line[:1] in ("", "\t", "#"))
        if conflicts:
            continue
        cut = "\x00" in line
        # What follows a statement on its line goes on with it: `…; it broke the build`.
        line = line.replace("\x00", "").rstrip()
        if cut:
            line = line.strip().lstrip("*-+•").lstrip(" ,.;:-–—").strip()
            if line.partition(" ")[0] in _GOES_ON:
                line = f"Reverted {line}"
        text = line.strip().lstrip("*-+• ")
        key = text.partition(":")[0].lower()
        if (cut and not text) or key in _TRAILERS or text.lower().startswith("(cherry picked from commit"):
            continue
        if _is_revert_title(text):
            continue
        if line or (kept and kept[-1]):
            kept.append(line)
    reason = "\n".join(([beside, ""] if beside else []) + kept).strip()
    return trim(reason, REASON_MAX) if any(c.isalnum() for c in reason) else ""


def _is_revert_title(text: str) -> bool:
    """Say whether a line is only the title of a revert, as in the list that a squashed commit carries."""
    lower = text.lower()
    return lower.startswith(('revert "', "revert '", 'reapply "')) and without_number(lower)[0].endswith(
        ('"', "'", '".')
    )


def whole(message: str) -> str:
    """Return a message as a reason: without the trailers about its making, trimmed."""
    subject, body = split(message)
    return _reason(subject, body, [])


def trim(text: str, most: int) -> str:
    """Return `text` with at most `most` bytes, cut between characters and marked where it was cut."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return text
    return data[: most - len(CUT.encode())].decode("utf-8", "ignore").rstrip() + CUT
