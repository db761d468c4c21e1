"""Environment variables in `.env` files, Dockerfiles, and YAML: Compose, workflows, and whatever has an `env:`."""

from __future__ import annotations

from gitmem.core.entering import names
from gitmem.core.entering.found import Found
from gitmem.core.entering.pattern import Pattern

_UPPER = r"[A-Za-z_][A-Za-z0-9_]{0,200}+"
_INTERPOLATED = Pattern(
    rf"\$\{{([A-Z_][A-Z0-9_]{{0,200}}+)(?![a-z])|\$\{{\{{[ ]{{0,5}}+(?:env|secrets|vars)\.({_UPPER})"
)
_ASSIGNED = Pattern(rf"(?:export[ \t]{{1,5}}+)?+({_UPPER})[ \t]{{0,5}}+=")
_INSTRUCTION = Pattern(rf"[ \t]{{0,50}}+(?:ENV|ARG|env|arg)[ \t]{{1,50}}+({_UPPER})(?=[ \t=]|$)")
_MORE = Pattern(rf"[ \t]({_UPPER})=")
_KEY = Pattern(
    rf"(?:-[ \t]{{1,20}}+)?+[\"']?+(?:name:[ \t]{{1,20}}+[\"']?+)?+({_UPPER})[\"']?+"
    rf"(?=[ \t]{{0,20}}+[:=]|[ \t]{{0,20}}+$)"
)
_BLOCKS = ("env:", "environment:", "variables:", "x-environment:")


def read(path: str, text: str, found: Found) -> None:
    name = path.rpartition("/")[2].lower()
    if name.endswith((".yml", ".yaml")):
        interpolates = name.startswith(("docker-compose", "compose")) or ".github/" in path.lower()
        _yaml(text, found, interpolates=interpolates)
    elif "dockerfile" in name or name == "containerfile":
        _lines(text, found, _INSTRUCTION)
    else:
        _lines(text, found, _ASSIGNED)


def _add(found: Found, name: str, at: int) -> None:
    if names.is_env(name):
        found.add([f"env/{name}"], "env_var", at, name)


def _lines(text: str, found: Found, pattern: Pattern) -> None:
    at = 0
    goes_on = False
    for line in text.split("\n"):
        said = line.lstrip()
        if said[:1] != "#":
            match = pattern.match(line)
            if match is not None:
                _add(found, match[1], at + match.start(1))
            if pattern is _INSTRUCTION and (goes_on or match is not None):
                for match in _MORE.finditer(line):
                    _add(found, match[1], at + match.start(1))
                goes_on = line.rstrip().endswith("\\")
            _interpolated(line, at, found)
        at += len(line) + 1


def _interpolated(line: str, at: int, found: Found) -> None:
    if "${" in line:
        for match in _INTERPOLATED.finditer(line):
            _add(found, match[1] or match[2], at + match.start(1 if match[1] else 2))


def _yaml(text: str, found: Found, *, interpolates: bool) -> None:
    at = 0
    block = -1  # how far the `env:` is indented that this line may lie below
    for line in text.split("\n"):
        said = line.strip()
        if said and said[0] != "#":
            indent = len(line) - len(line.lstrip())
            cut = said.find(" #")
            said = said if cut < 0 else said[:cut].rstrip()
            # A list may stand as far to the left as the key that it belongs to.
            if block >= 0 and (indent < block or (indent == block and said[0] != "-")):
                block = -1
            if block >= 0:
                match = _KEY.match(said)
                if match is not None and match[1].upper() == match[1]:
                    _add(found, match[1], at + line.find(match[1]))
            front = said.removeprefix("- ")
            if front in _BLOCKS or (front.startswith(_BLOCKS) and front.partition(":")[2].strip()[:1] == "&"):
                block = indent + (len(said) - len(front))
            if interpolates:
                _interpolated(line, at, found)
        at += len(line) + 1
