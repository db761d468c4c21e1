"""Source text with its comments and strings told apart, and what stands in its brackets.

One pass of a regular expression that knows where comments and strings end. Every alternative of it is possessive
and can't fail after its first characters, so each character is looked at once, whatever the text. Python's is read by
hand: much of what a hook reads is Python, and loading `re` takes longer than reading it. It is no parser: code that is
unfinished or in a dialect of its own is read as far as it goes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from gitmem.core.entering.pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

#: What is read of a call whose bracket never closes.
UNCLOSED_MAX = 2000
#: A shorter text is looked through for brackets letter by letter.
SHORT = 16_000

Span = tuple[int, int]

_C_COMMENTS = r"/(?:/[^\n]*+|\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?+)"
# A regular expression literal of JavaScript stands where a value may; it is bounded, so that a division costs little.
_JS_SLASH = (
    r"/(?:/[^\n]*+|\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?+"
    r"|(?:(?<=[=(,:;!&|?{}\[\n]/)|(?<=[=(,:;!&|?{\[] /))"
    r"(?:[^/\\\n\[*]|\\[^\n])(?:[^/\\\n\[]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n]){0,40}+\]){0,120}+/)"
)
_DOUBLE = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?+'
_SINGLE = r"'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?+"
_DOUBLE_LINES = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+'
_SINGLE_LINES = r"'[^'\\]*+(?:\\.[^'\\]*+)*+'?+"
_TRIPLE = r'"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+(?:""")?+'
_BACKTICK = r"`[^`\\]*+(?:\\.[^`\\]*+)*+`?+"
_HEREDOC = r"<<<?[~-]?(?:[A-Z_][A-Za-z0-9_]{0,60}+|([\"'`])[A-Za-z_][A-Za-z0-9_]{0,60}+[\"'`])"

_LEXES = {
    "script": rf"{_JS_SLASH}|{_DOUBLE}|{_SINGLE}|{_BACKTICK}",
    "json": rf"{_C_COMMENTS}|{_DOUBLE}",
    "go": rf"{_C_COMMENTS}|{_DOUBLE}|`[^`]*+`?+|'(?:[^'\\\n]|\\[^\n]){{1,10}}+'",
    "rust": (
        rf"{_C_COMMENTS}|(?<!\w)r(?:\"[^\"]*+\"?+|\#\"[^\"]*+(?:\"(?!\#)[^\"]*+)*+(?:\"\#)?+)|{_DOUBLE_LINES}"
        r"|'(?:[^'\\\n]|\\[^\n]{1,10}?)'"
    ),
    "java": rf"{_C_COMMENTS}|{_TRIPLE}|{_DOUBLE}|{_SINGLE}",
    "php": rf"\#(?!\[)[^\n]*+|{_C_COMMENTS}|{_DOUBLE_LINES}|{_SINGLE_LINES}|{_HEREDOC}",
    "ruby": (
        r"\#[^\n]*+|(?<![^\n])=begin(?:[^\n]*+\n(?!=end))*+[^\n]*+(?:\n=end)?+"
        rf"|{_DOUBLE_LINES}|{_SINGLE}|{_HEREDOC}|%[qQ]?+(?:\([^)]{{0,5000}}+\)?+|\{{[^}}]{{0,5000}}+\}}?+)"
    ),
}  # fmt: skip
_patterns = {name: Pattern(f"(?s){lex}") for name, lex in _LEXES.items()}
_BRACKETS = Pattern(r"[()\[\]{}]")
_WORD = Pattern(r"[A-Za-z_$][\w$]{0,200}+")
_SEPARATORS = Pattern(r"[,;()\[\]{}]")
_CLOSES = {")": "(", "]": "[", "}": "{"}


class Source:
    """A text, and the same as code: as long, its comments blank and its strings empty (the quotes stay)."""

    __slots__ = ("_lines", "_opens", "_pairs", "_starts", "code", "path", "strings", "text")

    def __init__(self, path: str, text: str, language: str) -> None:
        self.path = path
        self.text = text
        #: Where a string begins (its quote) -> where its content begins, where that ends, where the string ends.
        self.strings: dict[int, tuple[int, int, int]] = {}
        self.code = self._mask(language)
        self._starts: list[int] | None = None
        self._pairs: dict[int, int] | None = None
        self._opens: dict[int, int] | None = None
        self._lines: list[int] | None = None

    def _mask(self, language: str) -> str:
        text = self.text
        search = _Python(text).search if language == "python" else _Lexed(text, language).search
        parts: list[str] = []
        at = 0
        body: tuple[int, int, int] | None = None  # of a heredoc: its opening, its first line, where it ends
        lost = 0
        token_at = search(0)
        while token_at is not None or body is not None:
            if body is not None and (token_at is None or token_at[0] >= body[1]):
                opening, first, end = body
                body = None
                parts.append(text[at:first])
                parts.append(_blank(text[first:end]))
                self.strings[opening] = (first, end, opening)
                at = end
                token_at = search(at)
                continue
            assert token_at is not None
            start, stop = token_at
            token = text[start:stop]
            if token.startswith("<<"):
                # 20 openings without an end are enough to know that `<<` means something else here.
                if body is None and lost < 20:
                    body = _heredoc(text, start, token)
                    lost += body is None
                token_at = search(stop)
                continue
            parts.append(text[at:start])
            if token[0] in "\"'`%r" and (token[0] != "r" or stop - start > 1):
                opens, closes = _quotes(token)
                closed = stop - start >= len(opens) + len(closes) and token.endswith(closes)
                end = stop - len(closes) if closed else stop
                self.strings[start] = (start + len(opens), end, stop)
                mark = token[0] if token[0] in "\"'`" else '"'
                parts.append(mark + _blank(token[1:-1]) + mark if closed else mark + _blank(token[1:]))
            else:
                parts.append(_blank(token))
            at = stop
            token_at = search(at)
        parts.append(text[at:])
        return "".join(parts)

    # --- places --------------------------------------------------------------------------------

    def line(self, at: int) -> int:
        """Return the number of the line of the place `at`, from 1."""
        if self._lines is None:
            self._lines = line_starts(self.text)
        return bisect_right(self._lines, at)

    def past_blanks(self, at: int) -> int:
        code, end = self.code, len(self.code)
        while at < end and code[at] in " \t\r\n":
            at += 1
        return at

    def string(self, at: int) -> str | None:
        """Return the content of the string that begins at `at`, or None."""
        found = self.strings.get(at)
        return None if found is None else self.text[found[0] : found[1]]

    def strings_in(self, start: int, end: int) -> Iterator[int]:
        """Yield where the strings between two places begin."""
        if self._starts is None:
            self._starts = sorted(self.strings)
        starts = self._starts
        for i in range(bisect_left(starts, start), len(starts)):
            if starts[i] >= end:
                return
            yield starts[i]

    # --- brackets ------------------------------------------------------------------------------

    def close(self, at: int) -> int:
        """Return the place of what closes the bracket at `at`; of an unclosed one, where reading it ends."""
        if self._pairs is None:
            self._pairs = self._match_brackets()
        found = self._pairs.get(at)
        return min(len(self.code), at + UNCLOSED_MAX) if found is None else found

    def open(self, at: int) -> int:
        """Return the place of what the closing bracket at `at` closes, or -1."""
        if self._opens is None:
            self.close(0)
            self._opens = {close: opens for opens, close in (self._pairs or {}).items()}
        return self._opens.get(at, -1)

    def _match_brackets(self) -> dict[int, int]:
        pairs: dict[int, int] = {}
        waiting: list[tuple[str, int]] = []
        opened = {"(": 0, "[": 0, "{": 0}
        for at, mark in _brackets(self.code):
            if mark in opened:
                opened[mark] += 1
                waiting.append((mark, at))
                continue
            mark = _CLOSES[mark]
            if not opened[mark]:
                continue  # closes nothing
            while True:  # what is still open in between never closes
                last, place = waiting.pop()
                opened[last] -= 1
                if last == mark:
                    pairs[place] = at
                    break
        return pairs

    def parts(self, at: int) -> list[Span]:
        """Return the spans between the commas in the bracket at `at`, blanks trimmed, inner brackets whole."""
        return self.split(at + 1, self.close(at))

    def split(self, start: int, end: int) -> list[Span]:
        """Return the spans between the commas (or semicolons) from `start` to `end`."""
        found: list[Span] = []
        place = start
        search = _SEPARATORS.search
        while True:
            match = search(self.code, place, end)
            if match is None:
                break
            place = match.start()
            mark = match[0]
            if mark in ",;":
                found.append(self._trimmed(start, place))
                place += 1
                start = place
            elif mark in "([{":
                place = min(self.close(place), end) + 1
            else:
                place += 1
        found.append(self._trimmed(start, end))
        return [span for span in found if span[0] < span[1]]

    def items(self, at: int) -> dict[str, tuple[int, Span]]:
        """Return the keys of the object (or dict) in the bracket at `at`: where each stands, the span of its value."""
        found: dict[str, tuple[int, Span]] = {}
        for start, end in self.parts(at):
            key, after = self.string(start), 0
            if key is None:
                match = _WORD.match(self.code, start, end)
                if match is None:
                    continue
                key, after = match[0], match.end()
            else:
                after = self.strings[start][2]
            after = self.past_blanks(after)
            if self.code[after : after + 1] == ":":
                found.setdefault(key, (start, (self.past_blanks(after + 1), end)))
            elif after >= end:
                found.setdefault(key, (start, (start, end)))  # { token } is { token: token }
        return found

    def _trimmed(self, start: int, end: int) -> Span:
        code = self.code
        while start < end and code[start] in " \t\r\n":
            start += 1
        while end > start and code[end - 1] in " \t\r\n":
            end -= 1
        return start, end

    def call(self, at: int) -> Call:
        """Return the arguments in the bracket at `at`."""
        return Call(self, self.parts(at))


# A named argument: `name=` (Python), `name:` (Ruby, JavaScript's objects), `:name =>` and `"name" =>` (Ruby).
_NAMED = Pattern(r":?+([A-Za-z_]\w{0,80}+)[ \t]?+(?:=>|=(?![=~])|:(?!:))[ \t\r\n]{0,200}+")


class Call:
    """The arguments of a call: in their order, and by name."""

    __slots__ = ("named", "places", "source")

    def __init__(self, source: Source, spans: list[Span]) -> None:
        self.source = source
        self.places: list[Span] = []
        self.named: dict[str, Span] = {}
        for span in spans:
            match = _NAMED.match(source.code, span[0], span[1])
            if match is not None and match.end() < span[1]:
                self.named.setdefault(match[1], (match.end(), span[1]))
            else:
                self.places.append(span)

    def place(self, index: int, name: str = "") -> Span | None:
        """Return the span of an argument, by its name or its number."""
        if name and name in self.named:
            return self.named[name]
        return self.places[index] if 0 <= index < len(self.places) else None

    def text(self, index: int, name: str = "") -> str:
        """Return what a literal argument says: a string, or a symbol of Ruby; of anything else an empty string."""
        span = self.place(index, name)
        return "" if span is None else literal(self.source, span)


def whole_words(pattern: Pattern, code: str) -> Iterator[re.Match[str]]:
    """Yield the matches of `pattern` in `code` that don't begin within a word.

    The same as `\\b` at its beginning; but a pattern that begins with letters is looked for many times as fast.
    """
    for match in pattern.finditer(code):
        at = match.start()
        if not at or not (code[at - 1].isalnum() or code[at - 1] in "_$"):
            yield match


def word_before(code: str, at: int) -> str:
    """Return the identifier that ends at `at`, or nothing."""
    start = at
    while start > 0 and at - start < 200 and (code[start - 1].isalnum() or code[start - 1] in "_$"):
        start -= 1
    return code[start:at]


def literal(source: Source, span: Span) -> str:
    """Return what the string or the Ruby symbol in `span` says, or an empty string."""
    start, end = span
    code = source.code
    if start < end and code[start] == ":":
        if code[start + 1 : start + 2] in ('"', "'"):
            return source.string(start + 1) or ""
        word = code[start + 1 : end]
        return word if _is_word(word) else ""
    while start < end and code[start] in "rbuRBUfFN@" and code[start + 1 : start + 2] in ('"', "'"):
        start += 1  # a prefix of Python, C#
    said = source.string(start)
    return "" if said is None or source.strings[start][2] < end else said


def _is_word(text: str) -> bool:
    return text.isidentifier() or (text[-1:] in "?!" and text[:-1].isidentifier())


# --- comments and strings ------------------------------------------------------------------------


class _Lexed:
    """The comments and strings of a language that has a regular expression for them."""

    __slots__ = ("_search", "_text")

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._search = _patterns[language].search

    def search(self, at: int) -> Span | None:
        """Return the span of the first from `at` on."""
        match = self._search(self._text, at)
        return None if match is None else match.span()


class _Python:
    """The comments and strings of Python; to be asked for in their order."""

    __slots__ = ("_next", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        #: Where each sign stands that begins one, the first that isn't passed yet; -1: nowhere.
        self._next = {sign: text.find(sign) for sign in ("#", '"', "'")}

    def search(self, at: int) -> Span | None:
        """Return the span of the first from `at` on."""
        text, places = self._text, self._next
        start = end = len(text)
        for sign, place in places.items():
            if 0 <= place < at:
                place = places[sign] = text.find(sign, at)
            if 0 <= place < start:
                start = place
        if start == end:
            return None
        sign = text[start]
        if sign == "#":
            stop = text.find("\n", start)
            return start, stop if stop >= 0 else end
        if text.startswith(sign * 3, start):
            return start, _string_end(text, start + 3, sign * 3)
        return start, _string_end(text, start + 1, sign, within_line=True)


def _string_end(text: str, at: int, quotes: str, *, within_line: bool = False) -> int:
    """Return where a string ends whose content begins at `at`: behind its `quotes`, or where it breaks off.

    What was found once is not looked for again: a text of nothing but escapes is passed over once.
    """
    end = len(text)
    close = line = -1
    while True:
        if close < at:
            close = text.find(quotes, at)
            close = end if close < 0 else close
        stop = close
        if within_line:
            if line < at:
                line = text.find("\n", at, close)
                line = close if line < 0 else line
            stop = line
        escape = text.find("\\", at, stop)
        if escape < 0:
            return stop + len(quotes) if stop == close < end else stop
        if escape + 1 == end:
            return escape
        at = escape + 2


def line_starts(text: str) -> list[int]:
    """Return where each line of `text` begins."""
    found = [0]
    at = text.find("\n")
    while at >= 0:
        found.append(at + 1)
        at = text.find("\n", at + 1)
    return found


def _brackets(code: str) -> Iterator[tuple[int, str]]:
    """Yield each bracket of `code` and where it stands. Of a short one by hand: `re` isn't worth loading for it."""
    if len(code) > SHORT:
        return ((match.start(), match[0]) for match in _BRACKETS.finditer(code))
    return ((at, mark) for at, mark in enumerate(code) if mark in "()[]{}")


def _quotes(token: str) -> tuple[str, str]:
    """Return what opens and what closes the string `token`."""
    first = token[0]
    if first == "r":
        return ('r#"', '"#') if token.startswith("r#") else ('r"', '"')
    if first == "%":
        opens = token[:3] if token[1:2] in ("q", "Q") else token[:2]
        return opens, ")" if opens[-1] == "(" else "}"
    if token.startswith(first * 3) and first != "`" and len(token) > 3:
        return first * 3, first * 3
    return first, first


def _blank(text: str) -> str:
    if "\n" not in text:
        return " " * len(text)
    return "\n".join([" " * len(line) for line in text.split("\n")])


def _heredoc(text: str, start: int, token: str) -> tuple[int, int, int] | None:
    """Return a heredoc's opening, the place of its first line, and where it ends; None if it has no end."""
    word = token.lstrip("<").lstrip("~-").strip("\"'`")
    first = text.find("\n", start) + 1
    if not first:
        return None
    at = text.find(word, first)
    while at >= 0:
        # No end is indented by more: looking back to the start of each line would cost the square of a long one.
        before = text[max(first - 1, at - 100) : at]
        line = before.rfind("\n")
        after = text[at + len(word) : at + len(word) + 1]
        if line >= 0 and not before[line:].strip() and not (after.isalnum() or after == "_"):
            return start, first, at - len(before) + line + 1
        at = text.find(word, at + len(word))
    return None
