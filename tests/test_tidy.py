"""House rules that a machine can keep: who imports whom, what a hot module may load, where errors end, what is written.

Each rule is a function over the sources that returns the places that break it, so that it can be tried on a source
that does break it (the second half of this file): a rule that never fails is no rule.
"""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem import errors

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "gitmem"

#: From left to right: a layer imports from itself and from those to its left. errors, presenters and the rest of the
#: package's own modules are settled in `_layer`.
ORDER = ("errors", "core", "store", "sync", "cases", "memory", "front")
FRONT = ("cli", "mcp", "hooks", "web")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: core is pure: time, chance, files, processes and the network come in as arguments.
IMPURE = _names(
    "os io time random secrets socket ssl subprocess threading multiprocessing asyncio sqlite3 pathlib shutil tempfile "
    "logging urllib http pygit2 typer rich sys fcntl signal locale platform getpass uuid"
)
#: Each costs milliseconds at every start.
SLOW = _names("typing dataclasses subprocess pathlib argparse inspect tempfile shutil logging typer rich pygit2")
#: The dependencies that only some rooms may load at all.
ROOMS = {
    "markdown_it": ("importers/adr.py",),
    "mcp": ("mcp/",),
    "mcp_types": ("mcp/",),
    "pygit2": ("store/pygit2_log.py",),
    "rfc8785": (),
    "rich": ("cli/",),
    "sqlglot": ("importers/statements.py",),
    "typer": ("cli/",),
}


def hot(module: str) -> bool:
    """Whether the file at `module` (from the package) is loaded by an everyday command or by a hook that lets pass."""
    if module.startswith("store/"):
        return module != "store/pygit2_log.py"
    return module.startswith(("core/", "cases/")) or module in HOT


HOT = (
    "__init__.py",
    "errors.py",
    "memory.py",
    "presenters.py",
    "cli/__init__.py",
    "cli/entry.py",
    "cli/hot_table.py",
    "__main__.py",
)


@functools.cache
def sources() -> list[tuple[str, ast.Module]]:
    found = sorted(PACKAGE.rglob("*.py"))
    return [(str(path.relative_to(PACKAGE)), ast.parse(path.read_text("utf-8"))) for path in found]


def _imports(tree: ast.AST, module: str) -> Iterator[tuple[int, str]]:
    """Each imported name in `tree`, whole: `from a.b import c` is a.b.c; relative ones are resolved."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = ["gitmem", *Path(module).parts[:-1]]
                base = ".".join([*package[: len(package) - node.level + 1], *([base] if base else [])])
            yield from ((node.lineno, f"{base}.{name.name}") for name in node.names)


def _loaded_at_once(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that run when the module is imported: not in a function, not under TYPE_CHECKING."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
            continue
        yield node
        waiting += [child for child in ast.walk(node) if isinstance(child, ast.stmt) and child in _children(node)]


def _children(node: ast.stmt) -> list[ast.stmt]:
    inner: list[ast.stmt] = []
    for field in ("body", "orelse", "finalbody"):
        inner += getattr(node, field, [])
    for handler in getattr(node, "handlers", []):
        inner += handler.body
    return inner


def _layer(name: str) -> str | None:
    """The layer of an imported name of the package; None for what anyone may import."""
    parts = name.split(".")
    if parts[0] != "gitmem":
        return None
    room = parts[1] if len(parts) > 1 else ""
    if room in FRONT:
        return "front"
    if room in ("importers", "exporters"):
        return "sync"  # they stand where sync stands: above the store, below memory
    if room == "presenters":
        return "memory"
    if room in ("Memory", ""):
        return "memory"  # the public API leads there
    return room if room in ORDER else None


# --- the rules --------------------------------------------------------------------------------


def against_the_layers(module: str, tree: ast.Module) -> list[str]:
    own = _layer("gitmem." + module.removesuffix(".py").replace("/", "."))
    if own is None:
        return []
    broken = []
    for line, name in _imports(tree, module):
        other = _layer(name)
        if other is None:
            continue
        if ORDER.index(other) > ORDER.index(own):
            broken.append(f"{module}:{line} {own} imports {name}")
        elif own == "front":
            if other == "front" and name.split(".")[1] != module.split("/")[0]:
                broken.append(f"{module}:{line} a front end imports another: {name}")
            # `results` are values; `glancing` is what a hook loads instead of Memory, to let an edit pass.
            free = ("gitmem.cases.results.", "gitmem.cases.glancing")
            if other in ("store", "sync", "cases") and not name.startswith(free):
                broken.append(f"{module}:{line} a front end imports {name} instead of memory")
    return broken


def impure_imports(module: str, tree: ast.Module) -> list[str]:
    if not module.startswith("core/"):
        return []
    return [
        f"{module}:{line} core imports {name}" for line, name in _imports(tree, module) if name.split(".")[0] in IMPURE
    ]


def slow_imports(module: str, tree: ast.Module) -> list[str]:
    if not hot(module):
        return []
    broken = []
    for statement in _loaded_at_once(tree):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for line, name in _imports(statement, module):
                if name.split(".")[0] in SLOW:
                    broken.append(f"{module}:{line} loads {name} at every start")
    return broken


def strangers(module: str, tree: ast.Module) -> list[str]:
    broken = []
    for line, name in _imports(tree, module):
        rooms = ROOMS.get(name.split(".")[0])
        if rooms is not None and not module.startswith(rooms):
            broken.append(f"{module}:{line} imports {name}, which belongs in {' and '.join(rooms) or 'the tests'}")
    return broken


#: Where an error of any kind may end, and why there.
ENDS = {
    "cli/entry.py": "every command ends here",
    "hooks/entry.py": "a hook fails open",
    "hooks/agent.py": "an agent's hook fails open, in the dialect of its client",
    "hooks/gate.py": "the gate of an edit fails open, and local activity says so",
    "hooks/post_commit.py": "a hook fails open",
    "mcp/server.py": "a bug in one call must not end the session of an agent",
    "store/ahead.py": "the worker hands its error to the process that waits for it, which raises it again",
}


def catch_alls(module: str, tree: ast.Module) -> list[str]:
    if module in ENDS:
        return []
    broken = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            caught = "" if node.type is None else ast.unparse(node.type)
            if re.search(r"\b(Base)?Exception\b", caught) or not caught:
                # Cleaning up and passing it on is no catching.
                if any(isinstance(inner, ast.Raise) and inner.exc is None for inner in ast.walk(node)):
                    continue
                broken.append(f"{module}:{node.lineno} except {caught}")
    return broken


def switches_for_tests(module: str, tree: ast.Module) -> list[str]:
    return [
        f"{module}:{node.lineno} {node.value!r}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"PYTEST\w*|\w*_TEST_\w*|GITMEM_TEST\w*", node.value)
    ]


#: Who may reach the archive, and how: its own room, what takes things out, and the one command that reads it.
ARCHIVE = {
    "names its ref": ("store/archive.py", "cases/installing.py"),
    "imports it": ("store/archive.py", "sync/purge.py", "sync/redaction.py", "cases/archiving.py"),
    "reads it": ("memory.py", "cases/archiving.py", "cli/archiving.py"),
}


def reaches_the_archive(module: str, tree: ast.Module) -> list[str]:
    """Recall, digest, gate and MCP can't: nothing else names its ref, imports its module, or asks Memory for it."""
    broken = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "decisions-archive" in node.value:
            if node.value != ast.get_docstring(tree, clean=False) and not _is_told(tree, node):
                broken.append((node.lineno, "names its ref"))
        elif isinstance(node, ast.Attribute) and node.attr in ("audit", "attachment"):
            broken.append((node.lineno, "reads it"))
    hints = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.If) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in hints:
            for line, name in _imports(node, module):
                if name.startswith(("gitmem.store.archive", "gitmem.cases.archiving")):
                    broken.append((line, "imports it"))
    allowed = ARCHIVE | {"imports it": (*ARCHIVE["imports it"], "memory.py")}
    return [f"{module}:{line} {what}" for line, what in broken if module not in allowed[what]]


def _is_told(tree: ast.Module, constant: ast.Constant) -> bool:
    """Whether a text is only said: the docstring of a function is what help texts are made of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.body and isinstance(node.body[0], ast.Expr):
            if node.body[0].value is constant:
                return True
    return False


def undocumented(module: str, tree: ast.Module) -> list[str]:
    return [] if ast.get_docstring(tree) or not tree.body else [f"{module} says nothing at its top"]


RULES = (
    against_the_layers,
    impure_imports,
    slow_imports,
    strangers,
    catch_alls,
    switches_for_tests,
    reaches_the_archive,
    undocumented,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_sources_keep_each_rule(rule):
    assert [place for module, tree in sources() for place in rule(module, tree)] == []


@pytest.mark.parametrize(
    ("rule", "module", "source", "fine"),
    [
        (against_the_layers, "core/events.py", "from gitmem.store import git", "from gitmem.core import ids"),
        (against_the_layers, "core/events.py", "from ..store import git", "from . import ids"),
        (against_the_layers, "store/log.py", "from gitmem.memory import Memory", "from gitmem.core import objects"),
        (against_the_layers, "store/log.py", "from gitmem import Memory", "import gitmem.errors"),
        (against_the_layers, "importers/git.py", "from gitmem import memory", "from gitmem.store import git"),
        (against_the_layers, "cli/log.py", "from gitmem.store import git", "from gitmem.memory import Memory"),
        (against_the_layers, "cli/log.py", "from gitmem.cases import reading", "from gitmem.cases.results import Row"),
        (against_the_layers, "sync/notes.py", "from gitmem.cases import noting", "from gitmem.store import git"),
        (against_the_layers, "hooks/gate.py", "import gitmem.cli.entry", "import gitmem.hooks.entry"),
        (impure_imports, "core/events.py", "def f():\n    import os", "import re"),
        (
            slow_imports,
            "memory.py",
            "from typing import Protocol",
            "if TYPE_CHECKING:\n    from typing import Protocol",
        ),
        (slow_imports, "memory.py", "class A:\n    import inspect", "def f():\n    import inspect"),
        (slow_imports, "store/git.py", "try:\n    import shutil\nexcept ImportError: pass", "import os"),
        (strangers, "store/cache.py", "def f():\n    import rich.table", "def f():\n    import sqlite3"),
        (strangers, "hooks/gate.py", "def f():\n    import pygit2", "import json"),
        (catch_alls, "store/git.py", "try: f()\nexcept Exception: pass", "try: f()\nexcept ValueError: pass"),
        (catch_alls, "store/git.py", "try: f()\nexcept: pass", "try: f()\nexcept BaseException:\n    g()\n    raise"),
        (
            catch_alls,
            "store/git.py",
            "try: f()\nexcept (OSError, Exception): pass",
            "try: f()\nexcept (OSError, KeyError): pass",
        ),
        (switches_for_tests, "memory.py", "environ['GITMEM_TEST_CLOCK']", "environ['GIT_DIR']"),
        (reaches_the_archive, "cases/prior.py", "REF = 'refs/decisions-archive/log'", "REF = 'refs/decisions/log'"),
        (reaches_the_archive, "sync/notes.py", "def f():\n    from gitmem.store.archive import Archive", "import os"),
        (reaches_the_archive, "mcp/tools.py", "def f(memory): memory.audit('7f3a')", "def f(m): m.show('7f3a')"),
        (undocumented, "memory.py", "import os", "'''Says what it is for.'''\nimport os"),
    ],
)
def test_a_rule_sees_what_breaks_it_and_nothing_else(rule, module, source, fine):
    assert rule(module, ast.parse(source))
    assert not rule(module, ast.parse(fine))


# --- errors -----------------------------------------------------------------------------------


def error_classes() -> list[type[errors.GitmemError]]:
    found, waiting = [], [errors.GitmemError]
    while waiting:
        children = waiting.pop().__subclasses__()
        found += children
        waiting += children
    return found


def test_each_error_has_its_own_code_and_says_what_happened():
    classes = error_classes()
    assert len(classes) > 15
    codes = [each.code for each in classes]
    assert sorted(codes) == sorted(set(codes))
    for each in classes:
        assert each.__module__ == "gitmem.errors", f"{each.__name__} lives outside gitmem/errors.py"
        assert each.__doc__ and "code" in vars(each), each.__name__
        # 3 is a bug and 126 to 255 are the shell's, but for Ctrl-C.
        assert each.code in (1, 2, 130) or 10 <= each.code <= 39, each.__name__


def test_only_errors_of_the_package_say_their_templates_without_fields():
    # A field that a raiser forgot must not end in a KeyError in the middle of an error message.
    for each in error_classes():
        assert "{" not in each().message
        assert "{" not in each().advice


# --- what is written in the checkout ----------------------------------------------------------


def tracked() -> list[Path]:
    """The files of the checkout that git tracks or would."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    paths = [ROOT / name.decode() for name in done.stdout.split(b"\0") if name]
    return [path for path in paths if path.is_file()]


#: Spelled so that this file does not hold them itself.
MACHINE = re.compile(r"(?<![\w.~-])/(?:wo[r]k|ro[o]t|ho[m]e)/\w|/opt/(?:py[p]i|wh[e]els)")
REGISTRY = re.compile(r"py[p]i\.org|pytho[n]hosted|registry\.np[m]js|de[b]\.debian|artifac[t]ory", re.IGNORECASE)


def test_no_path_of_a_machine_and_no_registry_host_is_written_anywhere():
    found = []
    for path in tracked():
        if path.name == "LICENSE":
            continue
        for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").splitlines(), 1):
            if MACHINE.search(line) or REGISTRY.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number} {line.strip()[:100]}")
    assert found == []
    assert MACHINE.search("in /ho" + "me/ada/src") and MACHINE.search("'/wo" + "rk/x'")
    assert not MACHINE.search("a/home/b") and not MACHINE.search("~/work")
    assert REGISTRY.search("https://PYP" + "I.org/simple")


def test_each_page_is_reached_from_the_readme():
    pages = {path for path in tracked() if path.suffix == ".md" and "docs" in path.relative_to(ROOT).parts[:1]}
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    broken = []
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for target in links(page.read_text("utf-8")):
            place = (page.parent / target).resolve()
            if not place.exists():
                broken.append(f"{page.relative_to(ROOT)} links to {target}")
            elif place.is_dir() and (place / "README.md").exists():
                waiting.append(place / "README.md")
            elif place.suffix == ".md":
                waiting.append(place)
    assert broken == []
    assert sorted(str(page.relative_to(ROOT)) for page in pages - reached) == []


def links(text: str) -> list[str]:
    """The targets of a page's links to files, without fragments; code is no link."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", prose)
    return [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:|#", target)]


def test_links_are_found_and_code_is_none():
    text = "[a](one.md) [`b`](two.md#part) `[c](three.md)`\n```\n[d](four.md)\n```\n[e](https://example.org) [f](#here)"
    assert links(text) == ["one.md", "two.md"]


def test_each_changelog_fragment_is_one_sentence_a_line():
    fragments = [path for path in (ROOT / "changelog.d").glob("*.md") if path.name != "README.md"]
    for fragment in fragments:
        lines = fragment.read_text("utf-8").splitlines()
        assert lines, fragment.name
        for line in lines:
            assert line == line.strip() and line.endswith("."), f"{fragment.name}: {line}"
