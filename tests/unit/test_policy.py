"""`.decisions.toml`: what it may hold, and which component a thing belongs to."""

from __future__ import annotations

import tomllib

import pytest

from gitmem.core import entities, policy
from gitmem.core.policy import BadPolicy
from gitmem.store import listing

FILE = """
[components]
billing = "services/billing"
bill = "services/bill/"
api = "services/billing/api"
shop = ["services/shop", "libs/shop-ui"]

[watch]
paths = ["db/migrations"]

[policy]
require_signed_reviews = true

[secrets]
anything = ["its reader checks it"]
"""


def _policy(text=FILE):
    return policy.checked(tomllib.loads(text))


def test_a_whole_file_is_understood():
    found = _policy()
    assert [(one.name, one.scope) for one in found.components] == [
        ("billing", "services/billing"),
        ("bill", "services/bill"),
        ("api", "services/billing/api"),
        ("shop", "services/shop"),
    ]
    assert found.watch == ("db/migrations",) and found.require_signed_reviews
    assert found.raw["secrets"] == {"anything": ["its reader checks it"]}
    listed = _policy('components = ["services/billing", "services/bill"]\nwatch = ["db"]\n')
    assert [one.scope for one in listed.components] == ["services/billing", "services/bill"]
    assert listed.watch == ("db",) and not listed.require_signed_reviews
    assert _policy("").components == ()


@pytest.mark.parametrize(
    ("text", "key", "nearest"),
    [
        ("[component]\na = 'b'", "component", "components"),
        ("[watch]\npath = ['a']", "watch.path", "paths"),
        ("[policy]\nrequire_signed_review = true", "policy.require_signed_review", "require_signed_reviews"),
        ("[policy]\nrequire_signed_reviews = 'yes'", "policy.require_signed_reviews", ""),
        ("policy = 3", "policy", ""),
        ("secrets = 3", "secrets", ""),
        ("[components]\na = 3", "components.a", ""),
        ("[components]\na = []", "components.a", ""),
        ("[components]\na = ['x', 3]", "components.a", ""),
        ("[components]\na = '/etc'", "components.a", ""),
        ("[components]\na = '../other'", "components.a", ""),
        ("[components]\na = '.'", "components.a", ""),
        ("[components]\na = 'x::y'", "components.a", ""),
        ("[components]\na = 'x'\nb = './X/'", "components.b", ""),
        ("components = 3", "components", ""),
        ("watch = [3]", "watch", ""),
    ],
)
def test_what_is_not_understood_is_refused_by_the_name_of_its_key(text, key, nearest):
    with pytest.raises(BadPolicy) as error:
        _policy(text)
    assert (error.value.key, error.value.nearest) == (key, nearest)


def test_the_digest_is_of_what_the_file_says_and_not_of_how_it_is_laid_out():
    one = policy.digest(tomllib.loads(FILE))
    again = policy.digest(tomllib.loads("# a comment\n" + FILE.replace("\n\n", "\n")))
    other = policy.digest(tomllib.loads(FILE.replace("true", "false")))
    assert one == again != other and len(one) == 64


@pytest.mark.parametrize(
    ("entity", "place", "scope"),
    [
        ("services/billing/ledger.py", "", "services/billing"),
        ("services/billing/ledger.py::post", "services/shop", "services/billing"),
        ("services/billing/api/routes.py", "", "services/billing/api"),
        ("services/bill/ledger.py", "", "services/bill"),
        # a shared prefix is no component
        ("services/billing2/ledger.py", "", ""),
        ("services/bil/x.py", "", ""),
        # no other spelling leads out
        ("Services/BILLING/ledger.py", "", "services/billing"),
        # a second path belongs to the component of the first
        ("libs/shop-ui/button.tsx", "", "services/shop"),
        ("services/billing", "", "services/billing"),
        # what is no place in the repository belongs to where one stands
        ("users.email", "services/billing/src", "services/billing"),
        ("users.email", "", ""),
        ("deps/stripe", "services/shop", "services/shop"),
        ("api/v1/users", "libs/shop-ui", "services/shop"),
    ],
)
def test_a_thing_belongs_to_the_component_of_its_file_else_of_the_working_directory(entity, place, scope):
    assert _policy().scope_of(entity, place) == scope


def test_a_file_that_is_there_and_in_no_component_belongs_to_the_whole():
    found = _policy()
    assert found.scope_of("setup.py", "services/billing", is_there=True) == ""
    assert found.scope_of("new.py", "services/billing", is_there=False) == "services/billing"


def test_a_component_is_named_by_its_name_or_by_a_path():
    found = _policy()
    for typed in ("billing", "services/billing", "./services/billing/", "SERVICES/Billing"):
        component = found.named(typed)
        assert component is not None and component.scope == "services/billing", typed
    shop = found.named("libs/shop-ui")
    assert shop is not None and shop.name == "shop"
    assert found.named("services") is None and found.nearest("biling") == "billing"


SCOPES = ["", "services", "services/bill", "services/billing", "services/billing/api", "services/bill/x", "s", "libs"]


@pytest.mark.parametrize("scope", SCOPES)
def test_the_predicate_in_python_and_the_one_in_sql_agree(scope):
    import sqlite3

    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE e(scope TEXT)")
    db.executemany("INSERT INTO e VALUES (?)", [(one,) for one in SCOPES])
    condition, values = listing.scope_predicate(scope, all_scopes=False)
    where = f" WHERE {condition}" if condition else ""
    found = {row[0] for row in db.execute(f"SELECT scope FROM e{where}", values)}
    assert found == {other for other in SCOPES if entities.sees(scope, other)}
    assert ("services/bill" in found) == (scope in ("", "services", "services/bill", "services/bill/x"))
