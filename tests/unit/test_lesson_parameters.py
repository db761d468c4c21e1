"""The constants of lessons: the page that lists them, and that each is held by the test that it names.

That each of those tests fails when its constant is one more is seen by `scripts/mutants` (tests/test_mutants.py).
"""

from __future__ import annotations

import ast
import re

import pytest
from conftest import ROOT

from gitmem.core.lessons import policies
from gitmem.core.lessons.policies import AUSTERE, GRADES, PARAMETERS, TENDER, Policy, named

ROOM = ROOT / "gitmem" / "core" / "lessons"
#: Numbers of the room that are no choice: units, tables and how tables are read.
UNITS = {
    "ALWAYS",
    "DAY_S",
    "WHOLE",
    "_EPOCH",
    "_HALVING",
    "_KNOWN",
    "_MICROSECOND",
    "_SECOND",
    "_SHIFT",
    "_STEPS",
}


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


def test_the_room_has_no_number_beside_them():
    """A constant of a module that is a number, or made of one, is a parameter or a unit."""
    found = set()
    for path in sorted(ROOM.glob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            value = getattr(node, "value", None)
            if value is not None and path.name != "policies.py":
                numbers = [n for n in ast.walk(value) if isinstance(n, ast.Constant) and type(n.value) in (int, float)]
                if numbers:
                    found |= {target.id for target in targets if isinstance(target, ast.Name)}
    assert found - UNITS == set()
    assert found & UNITS


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
