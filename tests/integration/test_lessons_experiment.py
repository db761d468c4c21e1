"""The experiments with lessons, small: what is selected, what a dull twin isn't, and that a year changes no size."""

from __future__ import annotations

import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from types import ModuleType

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

YES, LEFT, NO = [True, True, True], [True, False, False], [False, False, False]


def script(name: str) -> ModuleType:
    loader = SourceFileLoader(name.replace("-", "_"), str(ROOT / "scripts" / name))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The whole experiment, once; in store, selected, injected."""
    before = dict(os.environ)
    try:
        return script("lessons-experiment").experiment(tmp_path_factory.mktemp("experiment"))
    finally:
        os.environ.clear()
        os.environ.update(before)


def column(found, clone: str, probe: str, name: str) -> dict[str, list[bool]]:
    return {cell: probes[probe][name] for cell, probes in found["table"][clone].items()}


def test_the_incident_and_its_twin_are_of_one_length(found):
    assert len(set(found["lengths"])) == 1


def test_ours_selects_the_incident_near_it_and_nothing_far_from_it(found):
    near = column(found, "A", "near", "marked")
    assert near == {
        "none": NO,
        "last 8": NO,
        "ours": YES,
        "no ladder": YES,
        "no fading": YES,
        "no incident": NO,
        "no lineage": NO,
    }
    for probe in ("far", "far at hand"):
        far = column(found, "A", probe, "marked")
        assert far == {**dict.fromkeys(("ours", "no ladder", "no fading"), LEFT),
                       **dict.fromkeys(("none", "last 8", "no incident", "no lineage"), NO)}  # fmt: skip
        for cell in ("ours", "no fading", "no lineage"):
            assert found["texts"]["A"][cell][probe].startswith("Nothing relevant")


def test_the_dull_twin_is_in_store_and_opens_no_gap(found):
    twin = column(found, "B", "near", "marked")
    assert twin["ours"] == twin["no fading"] == LEFT and twin["last 8"] == twin["no lineage"] == NO
    gap = found["gap"]
    assert len(gap["A"]["near"]) == 1 and "ultramarine" in gap["A"]["near"][0]
    assert gap["B"]["near"] == gap["A"]["far"] == gap["B"]["far"] == []
    assert found["texts"]["B"]["ours"]["near"] == found["texts"]["B"]["no lineage"]["near"]


def test_with_the_incident_gone_its_lineage_tells_it_and_with_that_gone_nothing_does(found):
    repeat = column(found, "A", "near", "repeat")
    # It is kept under the incident, which tells for both; without that it speaks for itself.
    assert repeat["ours"] == LEFT and repeat["no incident"] == YES and repeat["no lineage"] == NO
    assert "2 times" in found["texts"]["A"]["ours"]["near"]


def test_what_nobody_used_is_let_go_and_only_where_things_fade(found):
    old = column(found, "A", "near", "old")
    assert old["ours"] == LEFT and old["no fading"] == YES and old["last 8"] == NO


def test_a_rule_is_there_only_with_the_ladder(found):
    rule = column(found, "A", "fixture", "rule")
    assert rule["ours"] == YES and rule["no ladder"] == NO and rule["last 8"] == NO
    assert "[rule, 3 lessons, proposed]" in found["texts"]["A"]["ours"]["fixture"]


def test_a_fact_is_answered_exactly_whatever_is_remembered(found):
    for clone in ("A", "B"):
        answers = {found["texts"][clone][cell]["fact"] for cell in ("ours", "no ladder", "no fading", "no lineage")}
        (answer,) = answers
        assert answer.splitlines()[1].startswith("[exact] D-… deps/redis") and "survive a restart" in answer
        assert "deps/redis" not in found["texts"][clone]["last 8"]["fact"]


def test_a_year_of_lessons_keeps_the_size_of_what_is_told(tmp_path):
    year = script("lessons-year")
    found = year.year(tmp_path, lessons=150, weeks=52, ask=8)
    rows = found["rows"]
    assert [row["week"] for row in rows] == [1, 13, 26, 39, 52]
    assert rows[-1]["latent"] > 0 and rows[-1]["near"] < rows[-1]["lessons"]
    for row in rows:
        assert 0 < row["recall_max"] <= found["budget"] and 0 < row["digest"] <= 2048
        assert row["answered"] == "8/8"
    assert rows[-1]["told"] > 0
    assert found["first_day"] == ["rejected"] and found["fact"][0].startswith("[exact] D-")
    assert set(found["unknown"]) == {"nothing"}
