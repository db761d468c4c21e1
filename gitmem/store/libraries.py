"""Libraries: which versions the files of the work tree say that the project uses. Nothing is run or fetched.

What is locked or pinned is believed first, then what is installed beside it (`.venv`, `node_modules`), then what a
manifest asks for at least. The directory nearest to the entity decides; where none on the way
to the root knows the library, all tracked lock files and manifests are asked.

Readers are tolerant: a file that can't be read or is no longer in a form that they know says nothing. Nothing in
it is more than a name and a version.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from gitmem.core import packages
from gitmem.store.repository import Repository

#: (version, whether it is the very one or the least one that is asked for, file from the root)
Found = tuple[str, bool, str]
#: name -> [(version, exact)]
Versions = dict[str, list[tuple[str, bool]]]

#: A lock file larger than this is not read (the largest seen in public repositories is a tenth of it).
SIZE_MAX_BYTES = 64 << 20
#: More files than this are not asked where no directory near the entity knows the library.
FILES_MAX = 500

PYTHON, NODE, RUST, GO, RUBY, RUNTIME = "python", "node", "rust", "go", "ruby", "runtime"
#: Prefixes that say which of several libraries of one name is meant: `library:npm:redis>=5`.
PREFIXES = {
    "python": PYTHON, "pypi": PYTHON, "pip": PYTHON, "node": NODE, "npm": NODE, "rust": RUST, "cargo": RUST,
    "go": GO, "ruby": RUBY, "gem": RUBY,
}  # fmt: skip
_ENVIRONMENTS = (".venv", "venv", "env")


class Libraries:
    """Answers for one work tree. Each file is read once."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._top = repository.work_tree
        self._files: dict[str, tuple[str, Versions]] = {}
        self._tracked: list[str] | None = None

    def versions(self, name: str, near: Iterable[str] = ()) -> list[Found]:
        """Return what is known of the library `name`, from the directories `near` upwards, then from anywhere.

        `near` are paths from the root, the nearest first; of each its parents are asked as well.
        """
        if self._top is None:
            return []
        prefix, colon, rest = name.partition(":")
        kind = PREFIXES.get(prefix.lower(), "") if colon else ""
        wanted = rest if kind else name
        asked: dict[str, None] = {}
        least: list[Found] = []
        for place in near:
            while place:
                asked[place] = None
                place = place.rpartition("/")[0]
        asked[""] = None
        for directory in asked:
            found = self._in(directory, wanted, kind)
            if any(exact for _, exact, _ in found):
                return found
            least += found
        if least:
            return least
        for directory in self._elsewhere(set(asked)):
            least += self._in(directory, wanted, kind)
        return least

    def _in(self, directory: str, name: str, kind: str) -> list[Found]:
        """Return what one directory knows: what is locked or pinned in it, else installed, else asked for at least."""
        try:
            there = sorted(os.listdir(f"{self._top}/{directory}"))
        except OSError:
            return []
        locks = [(one, reader) for one in there for pattern, reader in _LOCKS if pattern.fullmatch(one)]
        found = list(self._told(directory, locks, name, kind))
        if not any(exact for _, exact, _ in found):
            manifests = [(one, reader) for one in there for pattern, reader in _MANIFESTS if pattern.fullmatch(one)]
            found += self._told(directory, manifests, name, kind)
        pinned = [one for one in found if one[1]]
        return pinned or list(self._installed(directory, there, name, kind)) or found

    def _told(
        self, directory: str, files: list[tuple[str, tuple[str, Reader]]], name: str, kind: str
    ) -> Iterator[Found]:
        for file, (its, reader) in files:
            if kind and its not in (kind, RUNTIME):
                continue
            path = f"{directory}/{file}" if directory else file
            for version, exact in _of(self._read(path, its, reader), its, name):
                yield (version, exact, path)

    def _read(self, path: str, kind: str, reader: Reader) -> Versions:
        if path not in self._files:
            text = _text(f"{self._top}/{path}")
            try:
                self._files[path] = (kind, reader(text) if text is not None else {})
            except (ValueError, RecursionError):  # no JSON, no TOML
                self._files[path] = (kind, {})
        return self._files[path][1]

    def _installed(self, directory: str, there: list[str], name: str, kind: str) -> Iterator[Found]:
        front = f"{directory}/" if directory else ""
        if kind in ("", NODE) and "node_modules" in there and _is_plain(name):
            path = f"{front}node_modules/{name}/package.json"
            version = _json_field(_text(f"{self._top}/{path}"), "version")
            if version:
                yield (version, True, path)
        if kind in ("", PYTHON):
            for environment in _ENVIRONMENTS:
                if environment in there:
                    yield from self._in_site_packages(f"{front}{environment}", name)

    def _in_site_packages(self, environment: str, name: str) -> Iterator[Found]:
        places = [f"{environment}/Lib/site-packages"]
        places += [f"{environment}/lib/{one}/site-packages" for one in _listed(f"{self._top}/{environment}/lib")]
        for place in places:
            for entry in _listed(f"{self._top}/{place}"):
                front, dash, version = entry.removesuffix(".dist-info").partition("-")
                if entry.endswith(".dist-info") and dash and packages.python_name(front) == packages.python_name(name):
                    yield (version, True, f"{place}/{entry}")

    def _elsewhere(self, asked: set[str]) -> list[str]:
        """Return the directories of tracked lock files and manifests that were not asked yet."""
        if self._tracked is None:
            patterns = [f":(glob)**/{one}" for one in _PATHSPECS]
            result = self._repository.try_git("ls-files", "-z", "--cached", "--", *patterns, work_tree=True)
            names = result.out.decode("utf-8", "surrogateescape").split("\0") if result.rc == 0 else []
            self._tracked = sorted({one.rpartition("/")[0] for one in names[:FILES_MAX] if one})
        return [one for one in self._tracked if one not in asked]


def _of(versions: Versions, kind: str, name: str) -> list[tuple[str, bool]]:
    """Return what a file says of a library, by the rules of names of its language."""
    if kind == PYTHON:
        return versions.get(packages.python_name(name), [])
    if kind == RUST:
        return versions.get(packages.rust_name(name), [])
    if kind == GO:
        wanted = name.lower()
        return [
            one
            for path, found in versions.items()
            if path == wanted or path.startswith(wanted + "/v") or packages.go_last(path) == wanted
            for one in found
        ]
    return versions.get(name.lower(), [])


def _is_plain(name: str) -> bool:
    """Say whether an npm name leads nowhere else."""
    return re.fullmatch(r"(?:@[\w.~-]+/)?[\w~-][\w.~-]*", name) is not None


# --- files ------------------------------------------------------------------------------------


def _text(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            data = file.read(SIZE_MAX_BYTES + 1)
    except OSError:
        return None
    return data.decode("utf-8", "replace").removeprefix("\ufeff") if len(data) <= SIZE_MAX_BYTES else None


def _listed(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def _json_field(text: str | None, name: str) -> str:
    try:
        found = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return ""
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, str) else ""


def _toml(text: str) -> Mapping[str, object]:
    import tomllib

    return tomllib.loads(text)


def _table(value: object, *path: str) -> Mapping[str, object]:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _add(found: Versions, name: object, version: object, *, exact: bool = True) -> None:
    if isinstance(name, str) and isinstance(version, str) and version:
        one = (version, exact)
        mine = found.setdefault(name, [])
        if one not in mine:
            mine.append(one)


# --- Python -----------------------------------------------------------------------------------


def _toml_packages(text: str, named: Callable[[str], str] = packages.python_name) -> Versions:
    """poetry.lock, uv.lock, pdm.lock"""
    found: Versions = {}
    for package in _list(_toml(text).get("package")):
        one = _table(package)
        _add(found, named(str(one.get("name", ""))), one.get("version"))
    return found


def _pipfile_lock(text: str) -> Versions:
    found: Versions = {}
    whole = json.loads(text)
    for section in ("default", "develop"):
        for name, about in _table(whole, section).items():
            version = _table(about).get("version")
            if isinstance(version, str):
                _add(found, packages.python_name(name), version.removeprefix("=="))
    return found


_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#)]*)")


def _requirement(found: Versions, text: object) -> None:
    match = _REQUIREMENT.match(text) if isinstance(text, str) else None
    if match:
        _python_bounds(found, match[1], match[2].partition(" --")[0])


def _python_bounds(found: Versions, name: str, specifiers: str) -> None:
    for part in specifiers.split(","):
        match = re.match(r"\s*(===|==|>=|~=|>|\^|~)?\s*v?(\d[\w.!+-]*?)(\.\*)?\s*$", part)
        if match:
            exact = match[1] in ("==", "===") and not match[3]
            if match[1] is not None:
                _add(found, packages.python_name(name), match[2], exact=exact)


def _requirements(text: str) -> Versions:
    found: Versions = {}
    for line in text.replace("\\\n", " ").split("\n"):
        if not line.lstrip().startswith(("-", "#")):
            _requirement(found, line)
    return found


def _pyproject(text: str) -> Versions:
    found: Versions = {}
    whole = _toml(text)
    project = _table(whole, "project")
    listed = [*_list(project.get("dependencies"))]
    for table in (_table(project, "optional-dependencies"), _table(whole, "dependency-groups")):
        listed += [one for group in table.values() for one in _list(group)]
    for one in listed:
        _requirement(found, one)
    needed = project.get("requires-python")
    if isinstance(needed, str):
        _python_bounds(found, "python", needed)
    poetry = _table(whole, "tool", "poetry")
    tables = [_table(poetry, "dependencies"), _table(poetry, "dev-dependencies")]
    tables += [_table(group, "dependencies") for group in _table(poetry, "group").values()]
    for table in tables:
        for name, given in table.items():
            version = given if isinstance(given, str) else _table(given).get("version")
            if isinstance(version, str):
                bare = re.fullmatch(r"\d[\w.]*", version)
                _python_bounds(found, name, f"=={version}" if bare else version)
    return found


# --- Node -------------------------------------------------------------------------------------


def _package_lock(text: str) -> Versions:
    found: Versions = {}
    nested: Versions = {}
    whole = json.loads(text)
    for path, about in _table(whole, "packages").items():
        name = path.rpartition("node_modules/")[2]
        if path.startswith("node_modules/"):
            direct = path == f"node_modules/{name}"
            _add(found if direct else nested, name.lower(), _table(about).get("version"))
    if not found:
        for name, about in _table(whole, "dependencies").items():
            _add(found, name.lower(), _table(about).get("version"))
    return {**nested, **found}


_YARN_HEAD = re.compile(r'"?((?:@[^/@\s"]+/)?[^@\s",]+)@[^:]*?.*:\s*$')
_YARN_VERSION = re.compile(r'  version:? "?([^"\s]+)"?\s*$')


def _yarn_lock(text: str) -> Versions:
    found: Versions = {}
    name = ""
    for line in text.split("\n"):
        if line[:1] not in (" ", "#", ""):
            match = _YARN_HEAD.match(line)
            name = match[1].lower() if match else ""
        elif name:
            match = _YARN_VERSION.match(line)
            if match:
                _add(found, name, match[1])
                name = ""
    return found


_PNPM = re.compile(r"""  ['"]?/?((?:@[^/@\s]+/)?[^@/\s'"(]+)[@/](\d[^\s:('"_]*)(?:[(_][^:]*)?['"]?:(?:\s|$)""")


def _pnpm_lock(text: str) -> Versions:
    """Keys of `packages:`, as `/react/18.2.0`, `/react@18.2.0(...)` and `react@19.0.0` in the versions of the form."""
    found: Versions = {}
    within = False
    for line in text.split("\n"):
        if line[:1] not in (" ", "#", ""):
            within = line.startswith(("packages:", "snapshots:"))
        elif within:
            match = _PNPM.match(line)
            if match:
                _add(found, match[1].lower(), match[2])
    return found


_BUN = re.compile(r'"(?:[^"]*/)?((?:@[^/"]+/)?[^/"@]+)": \["((?:@[^/"]+/)?[^@"]+)@(\d[^"]*)"')


def _bun_lock(text: str) -> Versions:
    found: Versions = {}
    for match in _BUN.finditer(text):
        _add(found, match[2].lower(), match[3])
    return found


def _package_json(text: str) -> Versions:
    found: Versions = {}
    whole = json.loads(text)
    for section in ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "engines"):
        for name, given in _table(whole, section).items():
            match = re.match(r"\s*(\^|~|>=?|=|v)?\s*v?(\d+(?:\.\d+)*(?:[-+][\w.+-]+)?)\s*$", str(given).split("||")[0])
            if match:
                exact = match[1] in (None, "=", "v") and match[2].count(".") == 2 and "||" not in str(given)
                _add(found, name.lower(), match[2], exact=exact)
    return found


# --- Rust, Go, Ruby ---------------------------------------------------------------------------


def _cargo_lock(text: str) -> Versions:
    return _toml_packages(text, packages.rust_name)


def _cargo_toml(text: str) -> Versions:
    found: Versions = {}
    whole = _toml(text)
    for table in (whole, _table(whole, "workspace")):
        for section in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, given in _table(table, section).items():
                version = given if isinstance(given, str) else _table(given).get("version")
                match = re.match(r"\s*(=|\^|~|>=?)?\s*(\d[\w.+-]*)", version) if isinstance(version, str) else None
                if match:
                    _add(found, packages.rust_name(name), match[2], exact=match[1] == "=")
    needed = _table(whole, "package").get("rust-version")
    _add(found, "rust", needed, exact=False)
    return found


_GO_REQUIRE = re.compile(r"(?:require\s+)?([\w.~-]+(?:/[\w.~-]+)*)\s+v(\d[^\s/]*)")


def _go_mod(text: str) -> Versions:
    found: Versions = {}
    block = ""
    for raw in text.split("\n"):
        line = raw.partition("//")[0].strip()
        if line.endswith("("):
            block = line[:-1].strip()
        elif line == ")":
            block = ""
        elif line.startswith("go "):
            _add(found, "go", line[3:].strip(), exact=False)
        elif "=>" in line:
            match = re.match(r"(?:replace\s+)?(\S+)(?:\s+\S+)?\s+=>\s+\S+\s+v(\d\S*)", line)
            if match and (block == "replace" or line.startswith("replace")):
                found[match[1].lower()] = [(match[2], True)]
        elif block == "require" or line.startswith("require "):
            match = _GO_REQUIRE.fullmatch(line)
            if match and match[1].lower() not in found:
                _add(found, match[1].lower(), match[2].removesuffix("+incompatible"))
    return found


def _go_sum(text: str) -> Versions:
    """All versions that were looked at: the one in use is one of them."""
    found: Versions = {}
    for line in text.split("\n"):
        match = re.match(r"(\S+) v(\d[^\s/]*?)(?:\+incompatible)? h1:", line)
        if match:
            _add(found, match[1].lower(), match[2], exact=False)
    return {name: versions for name, versions in found.items() if len(versions) == 1}


_PLATFORM = re.compile(r"-(?:x86|x64|arm|aarch|java|universal|mingw|mswin).*")


def _gemfile_lock(text: str) -> Versions:
    found: Versions = {}
    for match in re.finditer(r"^    ([\w.-]+) \((\d[^)\s,]*)\)\s*$", text, re.MULTILINE):
        _add(found, match[1].lower(), _PLATFORM.sub("", match[2]))
    ruby = re.search(r"^RUBY VERSION\n\s+ruby (\d[\d.]*)", text, re.MULTILINE)
    if ruby:
        _add(found, "ruby", ruby[1])
    return found


def _gemfile(text: str) -> Versions:
    found: Versions = {}
    for match in re.finditer(r"""^\s*gem\s+['"]([\w.-]+)['"]\s*,\s*['"](=|~>|>=)?\s*(\d[\w.]*)['"]""", text, re.M):
        _add(found, match[1].lower(), match[3], exact=match[2] in (None, "="))
    return found


def _one_version(name: str) -> Reader:
    def read(text: str) -> Versions:
        match = re.match(r"\s*(?:[a-z]+-)?v?(\d+(?:\.\d+)*)\s*$", text)
        return {name: [(match[1], True)]} if match else {}

    return read


Reader = Callable[[str], Versions]

_LOCKS: list[tuple[re.Pattern[str], tuple[str, Reader]]] = [
    (re.compile(name), about)
    for name, about in (
        (r"(?:poetry|uv|pdm)\.lock", (PYTHON, _toml_packages)),
        (r"(?:[\w.-]*[-_.])?(?:requirements|constraints)(?:[-_.][\w.-]*)?\.txt", (PYTHON, _requirements)),
        (r"Pipfile\.lock", (PYTHON, _pipfile_lock)),
        (r"package-lock\.json|npm-shrinkwrap\.json", (NODE, _package_lock)),
        (r"yarn\.lock", (NODE, _yarn_lock)),
        (r"pnpm-lock\.yaml", (NODE, _pnpm_lock)),
        (r"bun\.lock", (NODE, _bun_lock)),
        (r"Cargo\.lock", (RUST, _cargo_lock)),
        (r"go\.mod", (GO, _go_mod)),
        (r"Gemfile\.lock", (RUBY, _gemfile_lock)),
        (r"\.python-version", (RUNTIME, _one_version("python"))),
        (r"\.nvmrc|\.node-version", (RUNTIME, _one_version("node"))),
        (r"\.ruby-version", (RUNTIME, _one_version("ruby"))),
    )
]
_MANIFESTS: list[tuple[re.Pattern[str], tuple[str, Reader]]] = [
    (re.compile(name), about)
    for name, about in (
        (r"pyproject\.toml", (PYTHON, _pyproject)),
        (r"package\.json", (NODE, _package_json)),
        (r"Cargo\.toml", (RUST, _cargo_toml)),
        (r"go\.sum", (GO, _go_sum)),
        (r"Gemfile", (RUBY, _gemfile)),
    )
]
_PATHSPECS = (
    "*.lock", "Pipfile.lock", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.mod",
    "*requirements*.txt",
    "*constraints*.txt", "pyproject.toml", "package.json", "Cargo.toml", "go.sum", "Gemfile",
)  # fmt: skip
