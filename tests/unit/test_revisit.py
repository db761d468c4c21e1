import pytest

from gitmem.core import revisit


@pytest.mark.parametrize(
    ("typed", "spelt"),
    [
        ("library:react>=19", "library:react>=19"),
        (" Library: react >= 19.1 ", "library:react>=19.1"),
        ("entity:./src//pay.py:changes", "entity:src/pay.py:changes"),
        ("entity:src/pay.py::charge:changes", "entity:src/pay.py::charge:changes"),
        ("date:2026-11-30", "date:2026-11-30T00:00:00.000000Z"),
        ("manual:when the auditors are gone", "manual:when the auditors are gone"),
    ],
)
def test_a_condition_has_one_spelling(typed, spelt):
    assert str(revisit.condition(typed)) == spelt
    assert str(revisit.condition(spelt)) == spelt


@pytest.mark.parametrize(
    "typed",
    ["", "someday", "library:react", "library:react>=next", "library:>=1", "entity:a.b", "entity:../..:changes",
     "date:tomorrow", "date:99999-01-01", "manual:", "manual:   ", "version:1"],
)  # fmt: skip
def test_anything_else_is_refused_with_the_forms(typed):
    with pytest.raises(revisit.BadCondition) as error:
        revisit.condition(typed)
    assert str(error.value)
