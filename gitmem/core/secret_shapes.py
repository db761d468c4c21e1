"""What a secret looks like: the second look, at texts in which `secrets` saw a sign of one.

Three families. Tokens whose provider gave them a spelling of their own (`secret_tokens` lists them). Things that
carry a secret by their own syntax: private keys, JSON web tokens, authorization headers, addresses with a password.
And assignments: a name that says password, token or key, a sign, and a value that is neither a placeholder, nor code
that fetches one, nor words.

No rule looks at a keyword alone or at disorder alone. What is an id everywhere (40 or 64 hex digits, a UUID) is never
a value. Each pattern starts at a literal or behind a letter that it can't contain, and what may vary in length comes
last or is bounded, so that no text takes more than a few steps for each of its characters (a test times the worst).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gitmem.core import secret_tokens
from gitmem.errors import Refused

# (kind, start, end) of what was found.
Found = tuple[str, int, int]


def find(text: str, own: Sequence[tuple[str, str, str]] = ()) -> list[Found]:
    """Return what in `text` looks like a secret, from left to right, none within another."""
    found: list[Found] = []
    for kind, sign, pattern in own:
        if sign in text:
            found += ((kind, match.start(), match.end()) for match in re.finditer(pattern, text))
    found += _tokens(text)
    found += _headers(text)
    found += _addresses(text)
    if any(sign in text for sign in "=:>"):
        found += _assignments(text)
    if _SAYS_PASSWORD.search(text):
        found += _phrases(text)
    found.sort(key=lambda one: one[1])
    apart: list[Found] = []
    for kind, start, end in found:
        if apart and start < apart[-1][2]:
            # The rule that knows more came first; what it left uncovered is covered too.
            apart[-1] = (apart[-1][0], apart[-1][1], max(end, apart[-1][2]))
        else:
            apart.append((kind, start, end))
    return apart


# --- a project's own rules ------------------------------------------------------------------------

_LITERAL = re.compile(r"(?:[A-Za-z0-9_:~@/=-]|\\[._+:$/-])+(?![{?*+])")
_LETTERS = r"(?:\[(?:\\.|[^\]\\^])+\]|\\[wd]|[A-Za-z0-9_:~@/=-]|\\[._+:$/-])"
_RULE = re.compile(rf"(?:{_LETTERS}(?:\{{\d{{1,3}}\}})?)*(?:{_LETTERS}\{{\d{{1,3}},\d{{1,4}}\}})?")
OWN_MAX = 64


def own_rules(table: object) -> tuple[tuple[str, str, str], ...]:
    """Return the rules of the table `[secrets]`; see `secrets.own_rules`.

    A rule begins with three letters or more as they are, and goes on with letters and sets of letters, so many of
    each; only the last may vary in number. More is not needed for a token, and this much can't be slow on any text.
    """
    patterns = table.get("patterns", {}) if isinstance(table, dict) and not set(table) - {"patterns"} else None
    if not isinstance(patterns, dict) or len(patterns) > OWN_MAX:
        raise _bad("secrets", f"holds `[secrets.patterns]` and nothing else, at most {OWN_MAX} of them")
    rules = []
    for kind, pattern in patterns.items():
        begins = _LITERAL.match(pattern) if isinstance(pattern, str) else None
        sign = re.sub(r"\\(.)", r"\1", begins.group()) if begins else ""
        if len(sign) < 3 or not _RULE.fullmatch(pattern) or not kind.isprintable() or not 0 < len(kind) <= 60:
            raise _bad(
                f"secrets.patterns.{kind[:60]!r}",
                "begins with three plain letters or more, then letters and sets of them, as in `acme_[A-Za-z0-9]{32}`",
            )
        rules.append((kind, sign, pattern))
    return tuple(rules)


def _bad(key: str, what: str) -> Refused:
    return Refused(field=f".decisions.toml, {key}", what=what)


# --- tokens with a spelling of their own --------------------------------------------------------


def _tokens(text: str) -> Iterator[Found]:
    for signs, kind, pattern in secret_tokens.SHAPED:
        if any(sign in text for sign in signs.split()):
            group = re.compile(pattern).groups
            for match in re.finditer(pattern, text):
                if kind == "Slack webhook" or not _is_blanked(match.group(group)):
                    yield kind, match.start(group), match.end(group)
    for prefixes, kind, letters, least in secret_tokens.PLAIN:
        for prefix in prefixes.split():
            if prefix in text:
                # The literal first: the engine looks for it as for a word, and then at the letter before it.
                literal = re.escape(prefix)
                whole = rf"{literal}(?<![A-Za-z0-9]{literal})([{letters}]{{{least},}}+)(?![A-Za-z0-9])[A-Za-z0-9_=-]*+"
                for match in re.finditer(whole, text):
                    if _is_disordered(match.group(1)):
                        yield kind, match.start(), match.end()


def _is_disordered(body: str) -> bool:
    """Say whether `body` can't be words of a program: it holds digits, or letters of both cases in one long run."""
    if _is_blanked(body):
        return False
    if any(c.isdigit() for c in body):
        return not _is_wordy(body)
    return any(len(run) >= 16 and run != run.lower() and run != run.upper() for run in re.split("[^A-Za-z]+", body))


def _is_blanked(token: str) -> bool:
    """Say whether what follows the prefix of `token` was crossed out: one letter again and again, or dots."""
    tail = token[-12:].lower()
    return len(set(tail)) == 1 and tail[0] in "x0*.-_"


# --- headers and addresses ----------------------------------------------------------------------

_BEARER = re.compile(r"(?i:\bbearer)[ \t]{1,4}([A-Za-z0-9._~+/-]{16,}+={0,2})")
_BASIC = re.compile(
    r"(?i:\bauthorization[\"']?[ \t]{0,2}[:=][ \t]{0,2}[\"']?basic)[ \t]{1,4}([A-Za-z0-9+/]{8,}+={0,2})"
)


def _headers(text: str) -> Iterator[Found]:
    low = text.lower()
    if "bearer" in low:
        for match in _BEARER.finditer(text):
            token = match.group(1)
            if any(c.isdigit() for c in token) and any(c.isalpha() for c in token):
                if not (_is_wordy(token) or _is_id(token) or _is_placeholder(token)):
                    yield "bearer token", match.start(1), match.end(1)
    if "authorization" in low and "basic" in low:
        for match in _BASIC.finditer(text):
            if not _is_wordy(match.group(1)) or match.group(1).endswith("="):
                yield "authorization header", match.start(1), match.end(1)


_ADDRESS = re.compile(r"://([^\s/?#:@'\"<>`]{0,128}):([^\s/?#@'\"<>`]{1,256})@(?=[\w\[$%{])")


def _addresses(text: str) -> Iterator[Found]:
    if "://" not in text or "@" not in text:
        return
    for match in _ADDRESS.finditer(text):
        user, password = match.groups()
        if "[" in user or password.lower() == user.lower() or _is_placeholder(password) or _is_reference(password):
            continue
        if len(password) < 3 or set(password) <= set("*.x"):
            continue
        yield "password in an address", match.start(2), match.end(2)


# --- assignments --------------------------------------------------------------------------------

_KEY = r"(?:api|access|secret|private|auth|encryption|signing|account|client|shared|master|service|license)[ _-]?key"
_ASSIGNMENT = re.compile(
    rf"""(?xi)
    ( pass(?:word|wd|phrase|code)? | pwd | (?:secret[ _-]?)?access[ _-]?key | {_KEY}(?:[_-]base)?
    | secret(?:[_-]?token)? | token )
    (?:[_-]?\d{{1,2}})?
    (["'`\]]{{0,2}})                                    # the end of a quoted name
    ([ \t]{{0,4}} (?: =>? | := | : (?!:) ) [ \t]{{0,4}} | >)
    (?: "([^"\n]{{4,512}})" | '([^'\n]{{4,512}})' | `([^`\n]{{4,512}})`
      | ([^\s"'`,;<>=~(){{}}\[\]|\\][^\s"'`,;<>|\\]{{5,255}}) )
    """
)
_NAME = re.compile(r"[A-Za-z0-9_.-]*")
_QUERY = re.compile(r"&(?:amp;)?\w{1,40}=")  # where the next parameter of a query begins


def _assignments(text: str) -> Iterator[Found]:
    for match in _ASSIGNMENT.finditer(text):
        word, _, sign, double, single, tick, bare = match.groups()
        group = 4 if double is not None else 5 if single is not None else 6 if tick is not None else 7
        value = match.group(group)
        start = match.start(group)
        if bare is not None:
            value = _bare(_QUERY.split(value, maxsplit=1)[0])
        before = _NAME.match(text[max(0, match.start() - 40) : match.start()][::-1])
        name = (before.group()[::-1] if before else "") + word
        if sign == ">" and not _name_in_tag(text, match.start() - len(name) + len(word)):
            continue
        if word.lower() == "pass" and name.lower() != "pass" and not name.lower().endswith(("_pass", "-pass", ".pass")):
            continue  # compass, bypass
        kind = _kind(word)
        env = name == name.upper() and sign == "="
        if _is_secret(value, kind, quoted=bare is None, env=env, tight=sign == "="):
            yield _named(name, kind, value), start, start + len(value)


_SAYS_PASSWORD = re.compile(r"[Pp]ass(?:word|wd|phrase)?\s|PASS(?:WORD|WD|PHRASE)?\s|pwd\s")
_PHRASE = re.compile(
    r"""(?xi)
    (?: \b(?:password|passphrase|passwd|pwd)\ (?:is|was|=|:)\ (?:now\ )?["'`]? | --?(?:password|passwd|pass)\ ["']? )
    ([^\s"'`<>()\[\]{}$/][^\s"'`<>]{5,255})
    """
)


def _phrases(text: str) -> Iterator[Found]:
    """The password that a sentence or a command tells: `the password is ...`, `--password ...`."""
    for match in _PHRASE.finditer(text):
        value = _bare(match.group(1))
        if _is_secret(value, "password", quoted=False, env=False, tight=False):
            yield "password", match.start(1), match.start(1) + len(value)


def _name_in_tag(text: str, at: int) -> bool:
    """Say whether the name at `at` opens an element: `<password>`."""
    return at > 0 and text[at - 1] == "<"


def _bare(value: str) -> str:
    """Return `value` without the signs that end a sentence or a list; a `!` behind digits is more likely its own."""
    value = value.rstrip(".,:;)]}*")
    return value if any(c.isdigit() for c in value) else value.rstrip("!?.")


def _kind(word: str) -> str:
    low = word.lower()
    if low.startswith(("pass", "pwd")):
        return "password"
    if low.endswith("token"):
        return "token"
    return "secret" if low.startswith("secret") and "key" not in low else "key"


def _named(name: str, kind: str, value: str) -> str:
    low = name.lower()
    if kind == "key" and len(value) == 40 and ("aws" in low or "secretaccesskey" in re.sub("[ _-]", "", low)):
        return "AWS secret access key"
    if "twilio" in low:
        return "Twilio token"
    return {"key": "API key" if "api" in low else "secret key", "secret": "secret"}.get(kind, kind)


_SYMBOLS = frozenset("!@#$%^&*+=?~")


def _is_secret(value: str, kind: str, *, quoted: bool, env: bool, tight: bool) -> bool:
    least = {"password": 6, "secret": 8}.get(kind, 12)
    if len(value) < least or " " in value or _is_id(value) or _is_placeholder(value) or _is_reference(value):
        return False
    letters = any(c.isalpha() for c in value)
    digits = any(c.isdigit() for c in value)
    if kind != "password":
        return letters and digits and not _is_wordy(value)
    if letters and (digits or not _SYMBOLS.isdisjoint(value)) and not _is_wordy(value):
        return True
    if tight and digits:
        return True
    return (quoted or env) and not _IDENTIFIER.fullmatch(value)


_IDENTIFIER = re.compile(r"[A-Za-z]++(?:_[A-Za-z]++)+")
_ID = re.compile(r"(?i)(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")


def _is_id(value: str) -> bool:
    """Say whether `value` is spelt as an id of a commit or an event, or as a UUID."""
    return len(value) in (36, 40, 64) and _ID.fullmatch(value) is not None


_HASHED = re.compile(r"(?i)(?:sha\d{1,3}|md5|blake2[bs]?|bcrypt|scrypt|argon2\w{0,2}|pbkdf2\w{0,10}|crypt)[:$~-]")
_FETCHED = re.compile(
    r"""(?x)
    [$@%&*:/~.\\<{\[(!?#^|=+-]                      # a variable, a symbol, a path, a template
    | [A-Za-z_][\w.:-]{0,120}[(\[{]                   # a call, an index
    | [A-Za-z_]\w*+(?:(?:\.|::|->)[A-Za-z_]\w*+[?!]?)+\Z  # a name in a name
    | [\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}\Z        # an e-mail address
    | \w{1,32}://                                     # an address
    """
)


def _is_reference(value: str) -> bool:
    """Say whether `value` is code, or a place, or a hash: something from which the secret can't be read."""
    return (_FETCHED.match(value) or _HASHED.match(value)) is not None


_PLACEHOLDERS = frozenset(
    """
    the a an my your our some any new old this that no not none null nil true false undefined empty blank unset default
    required optional missing invalid wrong correct valid bad good real fake dummy sample example test testing tests
    todo tbd fixme changeme change me replace insert here redacted removed hidden masked omitted placeholder
    foo bar baz qux quux foobar foobarbaz spam eggs hello world blah abc abcdef abcdefg xyz string text value var
    variable arg param parameter field column name env
    password passwords passwd passphrase pass pwd pw passcode secret secrets token tokens key keys credential
    credentials api access auth client private public user username login admin root db database mysql postgres
    postgresql redis super very strong secure plain cleartext encrypted hashed hash digest salt
    oauth oauth2 jwt bearer basic sha1 sha256 sha512 md5 base64 utf8 utf-8 x509 rs256 hs256 es256 aes256 rsa2048 http2
    vault sops ldap kerberos yes off enabled disabled ansible django rails flask github gitlab
    something anything whatever simple mypassword mytoken mypass yourpassword
    """.split()
)
_PLAIN = re.compile(r"[\w. -]+")
_RUN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _is_placeholder(value: str) -> bool:
    """Say whether `value` stands for a secret: crossed out, cut, or made of the words that people use for one."""
    low = value.lower()
    if low in _PLACEHOLDERS or len(set(low)) <= 2 or "..." in value or "…" in value or "xxxx" in low or "****" in low:
        return True
    if len(value) > 48 or not _PLAIN.fullmatch(value):
        return False
    stem = low.rstrip("0123456789")
    if len(low) - len(stem) <= 3 and stem.rstrip("-_") in _PLACEHOLDERS:
        return True
    if sum(map(str.isdigit, value)) > 4:
        return False
    runs = [run.lower() for run in _RUN.findall(value)]
    return all(run in _PLACEHOLDERS or (run.isdigit() and len(run) <= 2) for run in runs)


_WORDY = re.compile(r"(?:[A-Za-z]++[0-9]{0,3}|[0-9]{1,4}|[vV]?[0-9]{1,4}(?:\.[0-9]{1,4}){1,3}|[A-Za-z][0-9]{1,2})")


def _is_wordy(value: str) -> bool:
    """Say whether `value` is words with signs between them, as names, versions and paths are: `sign-in-v2`."""
    parts = [part for part in re.split(r"[-_./:+@=]+", value) if part]
    if len(parts) == 1:
        return parts[0].isalpha() and len(parts[0]) < 24
    return all(_WORDY.fullmatch(part) and len(part) <= 20 for part in parts)
