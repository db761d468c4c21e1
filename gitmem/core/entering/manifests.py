"""Dependencies in manifests. A lock file is none: it says what was resolved, not what somebody asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gitmem.core import packages
from gitmem.core.entering import names, toml
from gitmem.core.entering.found import Found
from gitmem.core.entering.pattern import Pattern
from gitmem.core.entering.source import Source


def read(path: str, text: str, found: Found) -> None:
    folder, _, name = path.lower().rpartition("/")
    reader = _READERS.get(name)
    if reader is None:
        if name.endswith(".gemspec"):
            reader = _gems
        elif packages.is_requirements(name) or folder.rpartition("/")[2] == "requirements":
            reader = _requirements
    if reader is not None:
        reader(path, text, found)


def _add(found: Found, spelt: list[str], at: int, word: str) -> None:
    found.add(spelt, "dependency", at, word)


# --- Python ------------------------------------------------------------------------------------

_NAME_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_AFTER_NAME = frozenset(" \t\r[<>=!~;@#(,^:")


def requirement(text: str) -> str:
    """Return the name of the distribution that a requirement (PEP 508) asks for, or an empty string."""
    text = text.strip()
    stop = 0
    while stop < len(text) and text[stop] in _NAME_LETTERS:
        stop += 1
    name = text[:stop].rstrip(".-_")
    if not name or not name[0].isalnum() or (stop < len(text) and text[stop] not in _AFTER_NAME):
        return ""
    if text.startswith(":", stop):
        return ""  # http://…
    return name


def _requirements(path: str, text: str, found: Found) -> None:
    at = 0
    for line in text.split("\n"):
        said = line.strip()
        if said.startswith(("-e ", "--editable")) or "#egg=" in said:
            _, egg, name = said.partition("#egg=")
            name = requirement(name.partition("&")[0]) if egg else ""
        elif said.startswith(("-", "#")):
            name = ""
        else:
            name = requirement(said)
        if name:
            _add(found, names.python_package(name), at + line.find(name), name)
        at += len(line) + 1


_LISTS = (
    ("project", "dependencies"),
    ("project", "optional-dependencies"),
    ("dependency-groups",),
    ("build-system", "requires"),
    ("tool", "pdm", "dev-dependencies"),
    ("tool", "uv", "dev-dependencies"),
    ("tool", "uv", "constraint-dependencies"),
)
_TABLES = (("tool", "poetry"), ("tool", "pixi"))
_TABLE_ENDS = frozenset(("dependencies", "dev-dependencies", "pypi-dependencies"))


def _pyproject(path: str, text: str, found: Found) -> None:
    source = Source(path, text, "python")
    for keys, at, (start, end) in toml.entries(source):
        hatch = keys[:3] == ["tool", "hatch", "envs"] and keys[-1] in ("dependencies", "extra-dependencies")
        if hatch or any(tuple(keys[: len(front)]) == front for front in _LISTS):
            for place in source.strings_in(start, end):
                if source.code[max(start, place - 20) : place].rstrip(" =\t").endswith("include-group"):
                    continue
                name = requirement(source.string(place) or "")
                if name:
                    _add(found, names.python_package(name), place, name)
        elif tuple(keys[:2]) in _TABLES:
            for i in range(2, len(keys) - 1):
                if keys[i] in _TABLE_ENDS:
                    name = requirement(keys[i + 1])
                    if name and name.lower() != "python":
                        _add(found, names.python_package(name), at, name)
                    break


def _pipfile(path: str, text: str, found: Found) -> None:
    source = Source(path, text, "python")
    for keys, at, _ in toml.entries(source):
        if len(keys) > 1 and keys[0] not in ("source", "requires", "scripts", "pipenv"):
            name = requirement(keys[1])
            if name:
                _add(found, names.python_package(name), at, name)


_SETUP = Pattern(
    r"\b(install_requires|setup_requires|tests_require|extras_require)\b[\"']?+\s{0,20}+[=:]\s{0,20}+([\[{(])?"
)
_VARIABLE = Pattern(r"(?:^|\n)(\w{1,120}+)[ \t]{0,20}+=[ \t]{0,20}+([\[{(])")


def _setup_py(path: str, text: str, found: Found) -> None:
    """The lists of `setup(install_requires=[…])`, and of a variable that is called like one."""
    source = Source(path, text, "python")
    for pattern in (_SETUP, _VARIABLE):
        done = 0  # a list that isn't closed yet ends where the next one begins
        for match in pattern.finditer(source.code):
            opens, name = match.start(2), match[1].lower()
            if opens < 0 or not ("require" in name or "depend" in name):
                continue
            for place in source.strings_in(max(opens, done), source.close(opens)):
                done = place + 1
                after = source.past_blanks(source.strings[place][2])
                if source.code[after : after + 1] == ":":
                    continue  # the name of an extra
                name = requirement(source.string(place) or "")
                if name:
                    _add(found, names.python_package(name), place, name)


def _setup_cfg(path: str, text: str, found: Found) -> None:
    section, key = "", ""
    at = 0
    for line in text.split("\n"):
        said = line.strip()
        if line[:1] == "[":
            section, key = said.strip("[]"), ""
        elif said[:1] in ("#", ";"):
            pass
        elif line[:1] not in (" ", "\t", ""):
            key, _, said = said.partition("=")
            key = key.strip()
        if line[:1] not in ("#", ";", "["):
            lists = section == "options" and key in ("install_requires", "setup_requires", "tests_require")
            if (lists or section == "options.extras_require") and said[:1] not in ("#", ";"):
                for one in said.split(";")[0:1]:
                    name = requirement(one)
                    if name:
                        _add(found, names.python_package(name), at + max(line.find(name), 0), name)
        at += len(line) + 1


# --- Node, PHP ---------------------------------------------------------------------------------

_JSON = Pattern(r'"[^"]*+"?+|[{}\[\]]')
_NODE = frozenset(
    """
    dependencies devDependencies peerDependencies optionalDependencies bundledDependencies bundleDependencies
    catalog
    """.split()
)


def _json_strings(source: Source) -> Iterator[tuple[list[str], str, int, str]]:
    """Yield each string in objects and lists: the keys above it, what it says, its place, and the value of a key."""
    code = source.code
    path: list[str] = []
    key = ""
    skip = -1
    for match in _JSON.finditer(code):
        start = match.start()
        mark = match[0]
        if mark in ("{", "["):
            path.append(key)
            key = ""
        elif mark in ("}", "]"):
            if path:
                path.pop()
            key = ""
        elif start > skip:
            said = source.string(start)
            if said is None:
                continue
            after = source.past_blanks(source.strings[start][2])
            value = ""
            if code[after : after + 1] == ":":
                place = source.past_blanks(after + 1)
                if place in source.strings:
                    value = source.string(place) or ""
                    skip = place
                else:
                    key = said
            yield path[:4], said, start, value


def _package_json(path: str, text: str, found: Found) -> None:
    source = Source(path, text, "json")
    for above, said, at, value in _json_strings(source):
        if len(above) == 2 and above[1] in _NODE and said:
            _add(found, names.node_package(said), at, said)
            if value.startswith("npm:"):
                real = value[4:]
                cut = real.find("@", 1)
                real = real if cut < 0 else real[:cut]
                _add(found, names.node_package(real), at, real)


def _composer(path: str, text: str, found: Found) -> None:
    for above, said, at, _ in _json_strings(Source(path, text, "json")):
        if len(above) == 2 and above[1] in ("require", "require-dev") and "/" in said:
            _add(found, [f"deps/{said}", f"deps/{said.rpartition('/')[2]}"], at, said)


# --- Rust --------------------------------------------------------------------------------------

_CRATES = frozenset(
    ("dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies")
)


def _cargo(path: str, text: str, found: Found) -> None:
    source = Source(path, text, "python")
    for keys, at, (start, end) in toml.entries(source):
        if keys[0] in ("package", "profile", "features", "patch", "replace", "lints", "badges"):
            continue
        for i, key in enumerate(keys[:-1]):
            if key in _CRATES:
                name = keys[i + 1]
                if name and len(keys) > i + 2 and start != end:
                    # [dependencies.x] was told by its header; `x.workspace = true` is told here.
                    if keys[i + 2] == "package" and start in source.strings:
                        real = source.string(start) or ""
                        _add(found, names.rust_crate(real), start, real)
                        break
                if name:
                    _add(found, names.rust_crate(name), at, name)
                inner = source.code.find("package", start, end)
                if inner >= 0:
                    place = source.past_blanks(source.code.find("=", inner, end) + 1)
                    real = source.string(place) or ""
                    if real:
                        _add(found, names.rust_crate(real), place, real)
                break


# --- Go ----------------------------------------------------------------------------------------


def _go_mod(path: str, text: str, found: Found) -> None:
    block = ""
    at = 0
    for raw in text.split("\n"):
        line = raw.partition("//")[0].strip()
        words = line.split()
        module = ""
        if line.endswith("("):
            block = words[0] if words else ""
        elif line == ")":
            block = ""
        elif words:
            kind, rest = (block, words) if block else (words[0], words[1:])
            if kind == "replace" and "=>" in rest:
                rest = rest[rest.index("=>") + 1 :]
                module = rest[0] if len(rest) > 1 else ""
            elif kind in ("require", "tool") and rest:
                module = rest[0]
        module = module.strip('"`')
        if "." in module.partition("/")[0] and module[:1] != ".":
            _add(found, names.go_module(module), at + raw.find(module), module)
        at += len(raw) + 1


# --- Ruby --------------------------------------------------------------------------------------

_GEM = Pattern(r"(?<![\w.])gem[ \t(]|\.add_(?:runtime_|development_)?+dependency[ \t(]")


def _gems(path: str, text: str, found: Found) -> None:
    source = Source(path, text, "ruby")
    for match in _GEM.finditer(source.code):
        place = source.past_blanks(match.end())
        name = source.string(place)
        if name:
            _add(found, names.ruby_gem(name), place, name)


# --- Java --------------------------------------------------------------------------------------

_TAG = Pattern(r"<!--|<(/?+)(dependency|exclusion|plugin|extension|parent|groupId|artifactId)[ \t\r\n]{0,20}+>")


def _pom(path: str, text: str, found: Found) -> None:
    group = artifact = ""
    place = 0
    within: list[str] = []
    at = 0
    while True:
        match = _TAG.search(text, at)
        if match is None:
            return
        at = match.end()
        if match[0] == "<!--":
            cut = text.find("-->", at)
            at = len(text) if cut < 0 else cut + 3
            continue
        tag = match[2]
        if tag in ("groupId", "artifactId"):
            if not match[1] and within[-1:] == ["dependency"]:
                cut = text.find("<", at)
                said = text[at : len(text) if cut < 0 else cut].strip()
                if tag == "groupId":
                    group = said
                else:
                    artifact, place = said, at
        elif match[1]:
            if within and within[-1] == tag:
                within.pop()
            if tag == "dependency" and artifact:
                _add(found, names.java_artifact(group, artifact), place, artifact)
                artifact = ""
        elif len(within) < 100:
            within.append(tag)
            if tag == "dependency":
                group = artifact = ""


_CONFIGURATION = Pattern(r"(?<![\w.])([a-zA-Z]\w{0,80}+)(?:[ \t]{1,20}+\(?|\()")
_CONFIGURATIONS = (
    "implementation", "api", "compileonly", "runtimeonly", "compile", "runtime", "annotationprocessor", "kapt", "ksp",
    "classpath", "developmentonly", "corelibrarydesugaring", "platform",
)  # fmt: skip


def _gradle(path: str, text: str, found: Found) -> None:
    source = Source(path, text, "java")
    code = source.code
    for match in _CONFIGURATION.finditer(code):
        if not match[1].lower().endswith(_CONFIGURATIONS):
            continue
        at = source.past_blanks(match.end())
        said = source.string(at)
        if said is not None:
            parts = said.split(":")
            if len(parts) > 1 and parts[0] and parts[1]:
                _add(found, names.java_artifact(parts[0], parts[1]), at, parts[1])
            continue
        line = code.find("\n", at)
        line = min(len(code) if line < 0 else line, at + 500)
        said_of = {}
        for word in ("group", "name"):
            place = code.find(word, at, line)
            if place >= 0:
                place = source.past_blanks(place + len(word))
                if code[place : place + 1] in (":", "="):
                    place = source.past_blanks(place + 1)
                    said_of[word] = (source.string(place) or "", place)
        if "name" in said_of and said_of["name"][0]:
            name, place = said_of["name"]
            _add(found, names.java_artifact(said_of.get("group", ("", 0))[0], name), place, name)


def _catalog(path: str, text: str, found: Found) -> None:
    """libs.versions.toml: `alias = "group:name:1"` or `{ module = "group:name" }` or `{ group = …, name = … }`."""
    source = Source(path, text, "python")
    for keys, _, (start, end) in toml.entries(source):
        if keys[0] != "libraries" or start == end:
            continue
        said: dict[str, str] = {}
        for place in source.strings_in(start, end):
            front = source.code[max(start, place - 40) : place].rstrip(" =\t")
            word = front[len(front.rstrip("abcdefghijklmnopqrstuvwxyz")) :]
            said[word] = source.string(place) or ""
        whole = said.get("module") or said.get("")
        group, _, name = whole.partition(":") if whole else (said.get("group", ""), "", said.get("name", ""))
        name = name.partition(":")[0]
        if name:
            _add(found, names.java_artifact(group, name), start, name)


_READERS: dict[str, Callable[[str, str, Found], None]] = {
    "pyproject.toml": _pyproject,
    "setup.py": _setup_py,
    "setup.cfg": _setup_cfg,
    "pipfile": _pipfile,
    "package.json": _package_json,
    "composer.json": _composer,
    "cargo.toml": _cargo,
    "go.mod": _go_mod,
    "gemfile": _gems,
    "gems.rb": _gems,
    "pom.xml": _pom,
    "build.gradle": _gradle,
    "build.gradle.kts": _gradle,
    "libs.versions.toml": _catalog,
}
