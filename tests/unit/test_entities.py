"""Entity paths by example; the laws are in tests/property/test_entities_property.py, the table in tests/golden."""

from __future__ import annotations

import pytest

from gitmem.core import entities


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("users.email", "users.email"),
        ("  users.email \n", "users.email"),
        ("src\\auth.py", "src/auth.py"),
        ("./src//auth.py/", "src/auth.py"),
        ("/src/auth.py", "src/auth.py"),
        ("src/x/../auth.py", "src/auth.py"),
        ("src/auth.py :: login", "src/auth.py::login"),
        ("src/auth.py::login:", "src/auth.py::login"),
        ("cafe\u0301.name", "café.name"),
        ("Users.Email", "Users.Email"),
        ("a / b", "a/b"),
        ("\u3000a\u00a0/\u2003b\u1680", "a/b"),
        ("a b.c", "a b.c"),
    ],
)
def test_a_name_has_one_spelling(typed, name):
    assert entities.canonical(typed) == name
    assert entities.is_spelt(name)
    assert entities.is_spelt(typed) == (typed == name or typed == "cafe\u0301.name")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("", "it is empty"),
        (" \t", "it is empty"),
        (".", "it is empty"),
        ("a/..", "it is empty"),
        ("::", "it is empty"),
        ("::f", "nothing stands before `::`"),
        ("a.py::", "nothing follows `::`"),
        ("../a", "leads out of the repository"),
        ("a/../../b", "leads out of the repository"),
        ("users\nemail", r"U\+000A"),
        ("users\x1b[31m", r"U\+001B"),
        ("users\u200bemail", r"U\+200B"),
        ("users\u202eliame", r"U\+202E"),
        ("users\ufe0f", r"U\+FE0F"),
        ("users\U000e0041", r"U\+E0041"),
        ("users\ud800", r"U\+D800"),
        ("x" * 1025, "longer than 1,024 bytes"),
        ("é" * 513, "longer than 1,024 bytes"),
    ],
)
def test_what_is_no_name_is_refused_with_the_reason(typed, message):
    with pytest.raises(entities.BadName, match=message):
        entities.canonical(typed)


def test_the_longest_name_is_a_name():
    assert entities.canonical("x" * 1024) == "x" * 1024
    assert entities.canonical("é" * 512) == "é" * 512


@pytest.mark.parametrize(
    ("name", "above"),
    [
        ("users", []),
        ("users.email", ["users"]),
        ("public.users.email", ["public.users", "public"]),
        ("src/auth.py", ["src"]),
        ("src/auth.py::login", ["src/auth.py", "src"]),
        ("src/auth.py::Session.close", ["src/auth.py::Session", "src/auth.py", "src"]),
        ("src/m.rs::Mod::f", ["src/m.rs::Mod", "src/m.rs", "src"]),
        ("src/db/users.email", ["src/db/users", "src/db", "src"]),
        ("api/v1/users.json", ["api/v1", "api"]),
        ("deps/@scope/pkg", ["deps/@scope", "deps"]),
        ("deps/lodash.merge", ["deps"]),
        ("env/STRIPE_KEY", ["env"]),
        (".github/workflows", [".github"]),
        ("Makefile", []),
        ("package.json", []),
        ("jobs.log", ["jobs"]),
        ("logs/jobs.log", ["logs"]),
        ("go.sum", []),
        ("orders.sum", ["orders"]),
        ("users..email", ["users"]),
        ("users.", ["users"]),
        ("x .y", ["x"]),
        (":/x", []),
        (".../x/y", [".../x"]),
    ],
)
def test_a_name_lies_below_others(name, above):
    assert entities.canonical(name) == name
    assert entities.parents(name) == above


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("users", "table"),
        ("users.email", "column"),
        ("src/auth.py", "file"),
        ("SRC/AUTH.PY", "file"),
        ("Dockerfile", "file"),
        (".env", "file"),
        ("src/auth.py::login", "function"),
        ("src/auth.py::Session", "class"),
        ("src/auth.py::Session.close", "function"),
        ("src/auth.py::MAX", "function"),
        ("api/v1/users", "endpoint"),
        ("api/users.py", "endpoint"),
        ("api/users.py::get", "function"),
        ("deps/stripe", "dependency"),
        ("deps/chart.js", "dependency"),
        ("env/STRIPE_KEY", "env_var"),
        ("deps", "table"),
        ("services/billing", "other"),
        ("jobs.log", "column"),
        ("\u212a.kt", "file"),
        ("a.\u212at", "column"),
    ],
)
def test_the_spelling_of_a_name_tells_its_kind(name, kind):
    assert entities.entity_type(name) == kind
    assert entities.is_file(name) is (kind == "file")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("src/auth.py", "src/auth.py"),
        ("src/auth.py::login", "src/auth.py"),
        ("api/users.py", "api/users.py"),
        ("users.email", ""),
        ("users", ""),
        ("src/auth::login", ""),
    ],
)
def test_the_file_of_a_name(name, file):
    assert entities.file_of(name) == file


def test_scopes_above_end_with_the_whole():
    assert entities.ancestors_scope("services/billing/api") == ["services/billing", "services", ""]
    assert entities.ancestors_scope("services") == [""]
    assert entities.ancestors_scope("") == []


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("users.email", "users.email"),
        ("deps/stripe", "deps/stripe"),
        ("src/a.py::f", ":/src/a.py::f"),
        ("a.py", ":/a.py"),
        ("src/my file.py", "':/src/my file.py'"),
    ],
)
def test_a_path_is_told_as_a_shell_takes_it_in_any_folder(name, word):
    assert entities.typed(name) == word
