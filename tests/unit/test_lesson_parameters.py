"""The constants of lessons: the page that lists them, and that each is held by the test that it names.

That each of those tests fails when its constant is one more is seen by `scripts/mutants` (tests/test_mutants.py).
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
from types import ModuleType

import pytest
from conftest import ROOT

from gitmem.core.lessons import policies
from gitmem.core.lessons.policies import AUSTERE, BOUNDS, GRADES, PARAMETERS, TENDER, Policy, named

#: The files in which lessons are worked out, found, kept and told.
FILES = [
    *(f"core/lessons/{path.name}" for path in sorted((ROOT / "gitmem/core/lessons").glob("*.py"))),
    *(f"cases/{name}.py" for name in ("capturing", "cautioning", "recalling", "sleeping", "teaching")),
    *(f"store/{name}.py" for name in ("inbox", "lessons")),
]
#: Numbers that are no choice: units, versions, tables and how tables are read, what the format or a policy says.
UNITS = {
    "core/lessons/fading.py": {"DAY_S", "WHOLE", "_EPOCH", "_HALVING", "_MICROSECOND", "_SHIFT", "_STEPS"},
    "core/lessons/life.py": {"ALWAYS", "_SECOND"},
    "core/lessons/recall.py": {"_CORE_MAX", "_MILLION"},
    "core/lessons/words.py": {"CAUSES", "CONTENT", "DENIES", "OBLIGES", "ORDERS", "SIDES", "_KNOWN"},
    "store/inbox.py": {"KEPT_S", "VERSION"},
}


@pytest.fixture(scope="module")
def docs() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("docs", str(ROOT / "scripts" / "docs"))
    spec = importlib.util.spec_from_loader("docs", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("one", PARAMETERS, ids=lambda one: one.name)
def test_each_constant_has_a_grade_a_reason_and_a_test_that_is_there(one):
    assert one.grade in GRADES
    assert one.unit and one.why.endswith((".", ")"))
    assert type(one.tender) is type(one.austere) is int
    assert one.grade != "contrast" or one.tender != one.austere
    file, _, test = one.test.partition("::")
    assert re.search(rf"^def {test}\(", (ROOT / "tests" / file).read_text("utf-8"), re.MULTILINE)


def test_what_has_the_shape_of_the_literature_names_it():
    for one in PARAMETERS:
        if one.grade == "shape":
            assert re.search(r"\b(1[89]|20)\d\d\b", one.why), one.name


def test_a_policy_has_each_constant_as_an_attribute_and_no_other():
    names = [one.name for one in PARAMETERS]
    assert len(set(names)) == len(names)
    assert set(Policy.__annotations__) == set(names) == set(TENDER.constants) == set(AUSTERE.constants)
    for one in PARAMETERS:
        assert (getattr(TENDER, one.name), getattr(AUSTERE, one.name)) == (one.tender, one.austere)


def test_the_page_lists_every_constant_with_its_values_and_its_test():
    page = (ROOT / "docs" / "parameters.md").read_text("utf-8")
    for one in PARAMETERS:
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{one.name}` |")]
        assert f"| {one.tender:,} | {one.austere:,} | {one.unit} | {one.grade} |" in row
        assert f"`{one.test.partition('::')[2]}`" in row
        assert one.why in row


def test_the_room_has_no_number_beside_them(docs):
    """A name of a module that stands for a number is a bound of the page, or a unit."""
    bounds = {(one.place, one.name) for one in BOUNDS}
    assert len(bounds) == len(BOUNDS)
    found = set()
    for place in FILES:
        if place != "core/lessons/policies.py":
            found |= {(place, name) for name in docs.numbers_of(place) if name not in UNITS.get(place, ())}
    assert found - bounds == set()
    assert bounds - found == set()


def test_the_page_lists_every_bound(docs):
    page = (ROOT / "docs" / "parameters.md").read_text("utf-8")
    for one in BOUNDS:
        value = docs.numbers_of(one.place)[one.name]
        assert one.grade in GRADES and isinstance(value, int | float)
        row = f"| `{one.name}` | {value:,} | {one.grade} | {one.why} | `{one.place}` |"
        assert row in page.splitlines()


def test_a_policy_is_named_versioned_and_hashed():
    assert (named(""), named("tender"), named("austere"), named("Tender")) == (TENDER, TENDER, AUSTERE, None)
    assert re.fullmatch(r"tender/1 [0-9a-f]{12}", TENDER.label)
    assert len({TENDER.digest, AUSTERE.digest, TENDER.varied(merge_cut=61).digest}) == 3
    assert TENDER.varied().digest == TENDER.digest
    with pytest.raises(ValueError):
        TENDER.varied(no_such=1)


def test_austere_is_hard_to_get_into_and_quick_to_fade():
    assert AUSTERE.half_life_days < TENDER.half_life_days
    assert AUSTERE.near_bar > TENDER.near_bar and AUSTERE.latent_bar > TENDER.latent_bar
    assert policies.NAMES == ("tender", "austere")
