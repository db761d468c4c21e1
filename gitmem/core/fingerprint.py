"""Fingerprints: a sketch of the lines that a change added, to know them when they come back.

The `fingerprint` field of a change is `{"algorithm": NAME, "hashes": [hex, …], "lines": n}`. A name of
an algorithm means the same for ever: events are never rewritten, so a fingerprint made years ago is
compared with lines hashed today. A better algorithm gets a new name beside the old one, and `share`
knows every name ever released. What decides about a line under `lines-1` is all in this module, as
constants and ASCII operations; nothing asks the interpreter's Unicode tables.

`lines-1`, exactly:

1. *Normalise* a line: decode UTF-8 with U+FFFD for what is not UTF-8, and take out every character of
   `SPACES`, wherever it stands. Re-indenting, re-aligning and line endings thus change nothing.
2. Leave a line out unless it is *distinctive*. It is boilerplate, and left out, where the normalised line
   - has fewer than `LETTERS_MIN` letters and digits (ASCII ones; any character beyond ASCII counts as one),
     which takes blank lines, brackets, rules of dashes and lone keywords; or
   - is one of `COMMON` in any ASCII letter case, with or without leading `}` and trailing `{ } ( ) ; : ,`; or
   - holds one of `LICENCE`, in any ASCII letter case; or
   - imports and does no more: see `IMPORTS`. Imports are common to files that have nothing else in common.
3. *Hash* what is left: the first 8 bytes of SHA-256 over its UTF-8 bytes, as 16 lower-case hex digits.
   Equal lines have one hash: the result is a set, so order and repetition change nothing.
4. *Sample*: keep the `HASHES_MAX` smallest hashes, sorted. `lines` is the size of the set before that.

Keeping the smallest values of a hash is min-wise sampling (Broder, "On the resemblance and containment
of documents", 1997): each line is as likely to be kept as any other, and whoever samples two texts keeps
the same lines of what they share. That a fragment is compared by selected hashes and not as a whole is
the idea of winnowing (Schleimer, Wilkerson, Aiken, SIGMOD 2003). With 64 hashes the share that `share`
finds is off by more than 12 of 100 about once in twenty; at 16 digits each the field stays below 1.3 KB.
"""

from __future__ import annotations

from gitmem.core import digests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

ALGORITHM = "lines-1"
HASHES_MAX = 64
LETTERS_MIN = 8

#: ASCII blanks and separators, the no-break space, the other blanks of Unicode, and the byte order mark.
SPACES = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

#: Whole lines, normalised and in lower case, that say nothing about where they come from.
COMMON = frozenset(
    """
    returnfalse returntrue returnnone returnnull returnnil returnself returnthis returnresult returnerr returnerror
    returnvalue returnundefined iferr!=nil elsereturn continue protected publicstatic
    @override @staticmethod @classmethod @property @abstractmethod @deprecated
    beginrescue endfunction endclass endmodule 'usestrict' "usestrict"
    if__name__=="__main__" if__name__=='__main__' super().__init__ #pragmaonce <!doctypehtml>
    #!/usr/bin/envbash #!/usr/bin/envpython #!/usr/bin/envpython3 #!/usr/bin/envnode #!/usr/bin/envruby #!/usr/bin/perl
    #-*-coding:utf-8-*- #frozen_string_literal:true
    """.split()
)

#: Words of licence headers, blanks out, in lower case.
LICENCE = tuple(
    """
    copyright(c) copyright© copyright19 copyright20 spdx-license-identifier spdx-filecopyrighttext
    allrightsreserved licensedunder underthetermsof permissionisherebygranted redistributionanduse withoutwarranty
    withoutwarranties warrantiesorconditions gnu.org/licenses apache.org/licenses/ opensource.org/licenses
    generalpubliclicense thissoftwareisprovided
    """.split()
)

#: How a line that only imports begins (its first word, up to a blank) and goes on: with anything, with one
#: word, or to a semicolon at its end. Besides these: `from`, and later ` import `.
IMPORTS = {
    "import": "any",
    "@import": "any",
    "#include": "any",
    "#import": "any",
    "include": "one",
    "require": "one",
    "require_once": "one",
    "require_relative": "one",
    "package": "one",
    "use": ";",
    "using": ";",
    "extern": ";",
}

_NO_SPACES = {ord(character): None for character in SPACES}
_ONE_SPACE = {ord(character): " " for character in SPACES}
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_FIRST_LETTERS = frozenset(word[0] for word in (*IMPORTS, "from"))
_HEX = frozenset("0123456789abcdef")
_HEX_LENGTH = 16


def normalise(line: str) -> str:
    """Return `line` without its blanks."""
    if line.isascii():
        return "".join(line.split())  # faster, and the same for the ASCII part of SPACES (a test holds them together)
    return line.translate(_NO_SPACES)


def is_distinctive(line: str) -> bool:
    """Say whether `line` says something about where it comes from (step 2)."""
    return distinctive(line, normalise(line))


def distinctive(line: str, bare: str) -> bool:
    """`is_distinctive` for a line whose normalised form is already at hand."""
    letters = 0
    for character in bare:
        if character in _LETTERS or character > "\x7f":
            letters += 1
            if letters == LETTERS_MIN:
                break
    else:
        return False
    if bare[0] in _FIRST_LETTERS and _only_imports(line):
        return False
    lower = bare.translate(_LOWER)
    if lower in COMMON or lower.rstrip("{}();:,") in COMMON or lower.lstrip("}").rstrip("{}();:,") in COMMON:
        return False
    return not any(words in lower for words in LICENCE)


def _only_imports(line: str) -> bool:
    first, _, rest = " ".join(filter(None, line.translate(_ONE_SPACE).split(" "))).partition(" ")
    if first == "from":
        return " import " in rest
    match IMPORTS.get(first):
        case "any":
            return bool(rest)
        case "one":
            return bool(rest) and " " not in rest
        case ";":
            return rest.endswith(";")
    return False


def hash_of(bare: str) -> int:
    """Return the 64-bit hash of a normalised line (step 3)."""
    return int.from_bytes(digests.sha256(bare.encode("utf-8", "replace")).digest()[:8], "big")


def marks(lines: Iterable[str]) -> set[int]:
    """Return the hashes of the distinctive lines among `lines`: what fingerprints are looked up in."""
    found = set()
    for line in lines:
        bare = normalise(line)
        if distinctive(line, bare):
            found.add(hash_of(bare))
    return found


def of_marks(found: Iterable[int], *, lines: int | None = None) -> dict[str, object] | None:
    """Return the fingerprint of lines that are already hashed, or None where there are none.

    `lines` is how many there were where `found` is itself a sample of the smallest.
    """
    some = sorted(set(found))
    if not some:
        return None
    hashes: list[object] = [f"{value:016x}" for value in some[:HASHES_MAX]]
    return {"algorithm": ALGORITHM, "hashes": hashes, "lines": len(some) if lines is None else lines}


def sketch(added_lines: Iterable[str]) -> dict[str, object] | None:
    """Return the `fingerprint` of a change that adds `added_lines`; None where none is distinctive."""
    return of_marks(marks(added_lines))


def added_lines(text: str) -> list[str]:
    """Return the lines that `text` adds: of a unified diff those with a plus, files nobody wrote left out; else all."""
    lines = text.split("\n")
    if not any(line.startswith(("@@ ", "diff --git ")) for line in lines):
        return lines
    found: list[str] = []
    skipped = False
    for line in lines:
        if line.startswith("+++ "):
            skipped = generated(line[4:].strip().removeprefix("b/"))
        elif line.startswith("+") and not skipped:
            found.append(line[1:])
    return found


def hashes(fingerprint: object) -> tuple[int, ...]:
    """Return the hashes that a fingerprint field holds; none for an algorithm that this gitmem doesn't know.

    Total: a field of another shape (the format asks only for an object) holds no hashes.
    """
    if type(fingerprint) is not dict or fingerprint.get("algorithm") != ALGORITHM:
        return ()
    listed = fingerprint.get("hashes")
    if type(listed) is not list:
        return ()
    return tuple(
        int(text, 16)
        for text in listed[:HASHES_MAX]
        if type(text) is str and len(text) == _HEX_LENGTH and _HEX.issuperset(text)
    )


def share(fingerprint: object, lines: Iterable[str]) -> int:
    """Return how many percent of the fingerprint's lines are among `lines`, rounded down (0 to 100)."""
    return share_of_marks(fingerprint, marks(lines))


def share_of_marks(fingerprint: object, found: set[int]) -> int:
    """`share` for lines that are already hashed by `marks`."""
    wanted = set(hashes(fingerprint))
    return 100 * len(wanted & found) // len(wanted) if wanted else 0


# --- files whose lines nobody wrote -----------------------------------------------------------

_GENERATED_NAMES = frozenset(
    """
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock composer.lock
    gemfile.lock cargo.lock poetry.lock pipfile.lock uv.lock pdm.lock
    pixi.lock conda-lock.yml go.sum go.work.sum flake.lock mix.lock
    pubspec.lock podfile.lock cartfile.resolved package.resolved packages.lock.json project.assets.json gradle.lockfile
    .terraform.lock.hcl chart.lock shard.lock rebar.lock stack.yaml.lock cabal.project.freeze module.bazel.lock
    berksfile.lock paket.lock
    """.split()
)
_GENERATED_ENDS = (
    ".min.js", ".min.mjs", ".min.css", "-min.js", "-min.css", ".bundle.js", ".chunk.js", ".map",
    "_pb2.py", "_pb2.pyi", "_pb2_grpc.py", ".pb.go", ".pb.cc", ".pb.h", ".pb.dart", ".pb.swift", "_pb.js", "_pb.d.ts",
    ".g.dart", ".freezed.dart", ".designer.cs", ".g.cs", ".generated.cs", ".generated.ts", ".generated.go",
    "_generated.go", ".pyc", ".class", ".snap", ".po", ".pot", ".mo", ".xlf", ".ipynb",
)  # fmt: skip
_GENERATED_FOLDERS = frozenset(
    """
    node_modules bower_components vendor vendored third_party third-party thirdparty _vendor site-packages
    dist __pycache__ .yarn pods carthage __snapshots__ deriveddata .next .nuxt .svelte-kit
    __generated__ generated
    """.split()
)


def generated(path: str) -> bool:
    """Say whether the file at `path` is not written by hand: a lock file, minified, vendored or generated.

    By its name alone. The lines of such files change in bulk and come back for no reason, so nothing is
    fingerprinted or imported from them. Unlike `lines-1` this list may grow.
    """
    lower = path.lower()
    folder, _, name = lower.rpartition("/")
    return (
        name in _GENERATED_NAMES
        or name.endswith(_GENERATED_ENDS)
        or not _GENERATED_FOLDERS.isdisjoint(folder.split("/"))
    )
