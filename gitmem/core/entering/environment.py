"""Environment variables that a string interpolates: `${process.env.X}`, `#{ENV["X"]}`, `{os.environ['X']}`.

The one place where a string is code. Other names are not looked for in there.
"""

from __future__ import annotations

from gitmem.core.entering.found import Found
from gitmem.core.entering.pattern import Pattern
from gitmem.core.entering.source import Source

_READ = Pattern(
    r"(?:process\.env|import\.meta\.env)\??(?:\.|\[[\"'])([A-Za-z_]\w{0,200}+)"
    r"|(?:ENV|environ|getenv|ENV\.fetch|environ\.get)[\[(][\"']([A-Za-z_]\w{0,200}+)"
)


def read_strings(source: Source, found: Found) -> None:
    """Take in the variables that are read in the strings of code."""
    text = source.text
    if "{" not in text or not any(hint in text for hint in ("process.env", "meta.env", "ENV", "environ", "getenv")):
        return
    for start, end, _ in source.strings.values():
        brace = text.find("{", start, end)
        if brace < 0:
            continue
        for match in _READ.finditer(text, brace, end):
            kind = 1 if match[1] else 2
            if _is_open(source, start, match.start()):
                found.add([f"env/{match[kind]}"], "env_var", match.start(kind), match[kind])


def _is_open(source: Source, start: int, at: int) -> bool:
    """Say whether an interpolation of the string that begins at `start` is open at `at`, by the language's own mark."""
    text = source.text
    brace = text.rfind("{", max(start, at - 500), at)
    if brace < 0 or text.find("}", brace, at) >= 0:
        return False
    if source.path.endswith((".py", ".pyi", ".pyw")):
        quote = start - 1
        while quote > 0 and text[quote] in "\"'":
            quote -= 1
        return "f" in text[max(0, quote - 1) : quote + 1].lower()
    return text[brace - 1 : brace] in ("$", "#")
