"""Versions from lock files, manifests and installed metadata, as people have them."""

# ruff: noqa: E501 (a table reads better with a case on a line)

from __future__ import annotations

import json

import pytest

from gitmem.store.libraries import Libraries
from gitmem.store.repository import locate

LOCKS = [
    ("poetry.lock", '[[package]]\nname = "Flask_Login"\nversion = "0.6.3"\n', "flask-login", "0.6.3"),
    ("uv.lock", 'version = 1\n[[package]]\nname = "httpx"\nversion = "0.27.0"\nsource = { registry = "x" }\n', "HTTPX", "0.27.0"),
    ("Pipfile.lock", json.dumps({"default": {"requests": {"version": "==2.31.0"}}, "develop": {}}), "requests", "2.31.0"),
    ("requirements.txt", "# pinned\n-r other.txt\nDjango[argon2]==5.0.1 ; python_version > '3.9' \\\n  --hash=sha256:ab\n", "django", "5.0.1"),
    ("requirements-dev.txt", "pytest === 8.0.0  # ours\n", "pytest", "8.0.0"),
    ("pyproject.toml", '[project]\ndependencies = ["numpy==1.26.4"]\n', "numpy", "1.26.4"),
    ("package-lock.json", json.dumps({"lockfileVersion": 3, "packages": {
        "": {"dependencies": {"react": "^18"}}, "node_modules/react": {"version": "18.3.1"},
        "node_modules/x/node_modules/react": {"version": "17.0.0"}}}), "react", "18.3.1"),
    ("package-lock.json", json.dumps({"lockfileVersion": 1, "dependencies": {"left-pad": {"version": "1.3.0"}}}), "left-pad", "1.3.0"),
    ("npm-shrinkwrap.json", json.dumps({"packages": {"node_modules/@babel/core": {"version": "7.24.0"}}}), "@babel/core", "7.24.0"),
    ("yarn.lock", '# yarn lockfile v1\n\n"react@^18.0.0", react@^18.2.0:\n  version "18.2.0"\n  resolved "x"\n', "react", "18.2.0"),
    ("yarn.lock", '__metadata:\n  version: 8\n\n"@types/node@npm:^20.0.0":\n  version: 20.11.5\n  resolution: "x"\n', "@types/node", "20.11.5"),
    ("pnpm-lock.yaml", "lockfileVersion: '9.0'\npackages:\n\n  react-dom@19.0.0(react@19.0.0):\n    resolution: {}\n", "react-dom", "19.0.0"),
    ("pnpm-lock.yaml", "lockfileVersion: '6.0'\npackages:\n\n  /@babel/core@7.23.0:\n    resolution: {}\n", "@babel/core", "7.23.0"),
    ("pnpm-lock.yaml", "lockfileVersion: 5.4\npackages:\n\n  /react/18.2.0:\n    resolution: {}\n", "react", "18.2.0"),
    ("bun.lock", '{"packages": {\n    "react": ["react@19.0.0", "", {}, "sha512-x"],\n}}', "react", "19.0.0"),
    ("Cargo.lock", 'version = 3\n[[package]]\nname = "serde_json"\nversion = "1.0.111"\n', "serde-json", "1.0.111"),
    ("go.mod", "module x\n\ngo 1.22\n\nrequire (\n\tgithub.com/jackc/pgx/v5 v5.5.1 // indirect\n)\n", "github.com/jackc/pgx", "5.5.1"),
    ("go.mod", "module x\nrequire github.com/spf13/cobra v1.8.0\n", "cobra", "1.8.0"),
    ("go.mod", "module x\nrequire a.b/c v1.0.0\nreplace a.b/c => d.e/c v2.1.0\n", "a.b/c", "2.1.0"),
    ("Gemfile.lock", "GEM\n  specs:\n    nokogiri (1.16.0-x86_64-linux)\n      racc (~> 1.4)\n    rails (7.1.2)\n", "rails", "7.1.2"),
    ("Gemfile.lock", "GEM\n  specs:\n    nokogiri (1.16.0-x86_64-linux)\n", "nokogiri", "1.16.0"),
    (".nvmrc", "v20.11.0\n", "node", "20.11.0"),
    (".python-version", "3.12.1\n", "python", "3.12.1"),
]  # fmt: skip

LEAST = [
    ("requirements.txt", "django>=4.2,<5\n", "django", "4.2"),
    ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.11"\nflask = {version = "~2.3", extras = []}\n', "flask", "2.3"),
    ("package.json", json.dumps({"dependencies": {"react": "^18.2.0"}}), "react", "18.2.0"),
    ("Cargo.toml", '[dependencies]\ntokio = { version = "1.35", features = [] }\n', "tokio", "1.35"),
    ("Gemfile", "gem 'rails', '~> 7.1'\n", "rails", "7.1"),
    ("go.sum", "github.com/spf13/cobra v1.8.0 h1:abc=\ngithub.com/spf13/cobra v1.8.0/go.mod h1:abc=\n", "cobra", "1.8.0"),
]  # fmt: skip

BROKEN = [
    "",
    "{",
    "[[package]]\nname = 3\n",
    "\x00\xff",
    '{"packages": []}',
    '{"packages": {"node_modules/react": 3}}',
    "[" * 5000,
]


def _asked(repo, name, *near):
    return Libraries(locate(str(repo))).versions(name, near)


@pytest.mark.parametrize(("file", "text", "name", "version"), LOCKS)
def test_what_is_locked_or_pinned_is_the_very_version(make_repo, file, text, name, version):
    repo = make_repo()
    (repo / file).write_text(text)
    assert _asked(repo, name) == [(version, True, file)]
    assert _asked(repo, "no-such-library") == []


@pytest.mark.parametrize(("file", "text", "name", "version"), LEAST)
def test_what_a_manifest_asks_for_is_the_least_version(make_repo, file, text, name, version):
    repo = make_repo()
    (repo / file).write_text(text)
    assert _asked(repo, name) == [(version, False, file)]


@pytest.mark.parametrize("file", sorted({file for file, *_ in LOCKS + LEAST}))
def test_a_file_that_is_broken_says_nothing_and_stops_nothing(make_repo, file):
    repo = make_repo()
    (repo / "sound").mkdir()
    for text in BROKEN:
        (repo / file).write_text(text, encoding="latin-1")
        assert _asked(repo, "react") == []
    (repo / "Gemfile.lock" if file != "Gemfile.lock" else repo / "yarn.lock").write_text(
        "GEM\n  specs:\n    react (1.0.0)\n" if file != "Gemfile.lock" else 'react@^1:\n  version "1.0.0"\n'
    )
    assert [version for version, _, _ in _asked(repo, "react")] == ["1.0.0"]


def test_what_is_installed_counts_where_nothing_is_locked(make_repo):
    repo = make_repo()
    (repo / "node_modules" / "@scope" / "thing").mkdir(parents=True)
    (repo / "node_modules" / "@scope" / "thing" / "package.json").write_text('{"version": "2.0.0"}')
    (repo / ".venv" / "lib" / "python3.11" / "site-packages" / "Some_Thing-3.1.dist-info").mkdir(parents=True)
    assert _asked(repo, "@scope/thing") == [("2.0.0", True, "node_modules/@scope/thing/package.json")]
    found = _asked(repo, "some.thing")
    assert [(version, exact) for version, exact, _ in found] == [("3.1", True)]
    (repo / "requirements.txt").write_text("some-thing>=1\n")
    assert [version for version, exact, _ in _asked(repo, "some-thing") if exact] == ["3.1"]
    (repo / "requirements.txt").write_text("some-thing==2.5\n")
    assert [version for version, exact, _ in _asked(repo, "some-thing") if exact] == ["2.5"]
    # A name is no way out of the folder.
    (repo / "package.json").write_text('{"version": "9"}')
    assert _asked(repo, "..") == [] == _asked(repo, "../x")


def test_the_nearest_directory_decides_and_where_none_knows_all_tracked_files_are_asked(make_repo, git):
    repo = make_repo()
    for place, version in (("services/billing", "5.0.0"), ("services/bill", "6.0.0"), ("", "4.0.0")):
        (repo / place).mkdir(parents=True, exist_ok=True)
        (repo / place / "yarn.lock").write_text(f'redis@^1:\n  version "{version}"\n')
    (repo / "services/bill/Cargo.lock").write_text('[[package]]\nname = "tokio"\nversion = "1.0.0"\n')
    (repo / "untracked").mkdir()
    (repo / "untracked" / "Cargo.lock").write_text('[[package]]\nname = "serde"\nversion = "1.0.0"\n')
    git("add", "services", cwd=repo)
    assert _asked(repo, "redis", "services/billing/src/a.js") == [("5.0.0", True, "services/billing/yarn.lock")]
    assert _asked(repo, "redis", "services/other") == [("4.0.0", True, "yarn.lock")]
    assert _asked(repo, "tokio", "services/billing") == [("1.0.0", True, "services/bill/Cargo.lock")]
    assert _asked(repo, "serde") == []


def test_a_prefix_says_which_of_two_libraries_of_one_name_is_meant(make_repo):
    repo = make_repo()
    (repo / "yarn.lock").write_text('redis@^4:\n  version "4.6.0"\n')
    (repo / "requirements.txt").write_text("redis==5.0.0\n")
    assert {version for version, _, _ in _asked(repo, "redis")} == {"4.6.0", "5.0.0"}
    assert [version for version, _, _ in _asked(repo, "npm:redis")] == ["4.6.0"]
    assert [version for version, _, _ in _asked(repo, "pypi:redis")] == ["5.0.0"]
