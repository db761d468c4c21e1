"""Each guard switched off makes a named test fail: the quick rows of `scripts/mutants`, and that the script can fail.

The slow ones (through the installed command) run with `scripts/mutants`; here it is only seen that each still fits.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import sys
from types import ModuleType

import pytest
from conftest import ROOT

SCRIPT = ROOT / "scripts" / "mutants"


@pytest.fixture(scope="module")
def mutants() -> ModuleType:
    spec = importlib.util.spec_from_loader("mutants", importlib.machinery.SourceFileLoader("mutants", str(SCRIPT)))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_each_guard_that_is_quick_to_try_is_held_by_its_test():
    done = subprocess.run([sys.executable, str(SCRIPT), "--quick"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.count("caught") >= 25


def test_each_row_still_fits_the_sources(mutants):
    rows = {(mutant.file, mutant.old) for mutant in mutants.MUTANTS}
    assert len(rows) == len(mutants.MUTANTS) > 30
    for mutant in mutants.MUTANTS:
        assert mutant.old in (ROOT / mutant.file).read_text("utf-8"), mutant.guard
        assert mutant.new != mutant.old
        file, _, test = mutant.test.partition("::")
        assert f"def {test.partition('[')[0]}" in (ROOT / file).read_text("utf-8"), mutant.guard
    rooms = {mutant.file.removeprefix("gitmem/") for mutant in mutants.MUTANTS}
    wanted = {
        f"core/{name}.py" for name in ("rules", "inspection", "secrets", "settled", "keys", "rewriting", "history")
    }
    assert rooms >= wanted | {"sync/adoption.py", "sync/redaction.py"}


def test_what_no_test_holds_is_named(mutants, monkeypatch, capfd):
    def row(guard: str, new: str) -> object:
        return mutants.Mutant(guard, "core/ids.py", "LENGTH = 64", new, "tests/unit/test_ids.py::test_what_is_no_id[")

    monkeypatch.setattr(mutants, "MUTANTS", (row("harmless", "LENGTH = 32 * 2"), row("deadly", "LENGTH = 63")))
    monkeypatch.setattr(sys, "argv", ["mutants"])
    # Neither what the environment wants of pytest nor where it sends Python makes a difference.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-v --no-such-option")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert mutants.main() == 1
    out, err = capfd.readouterr()
    assert "SURVIVED harmless" in out and "caught   deadly" in out
    assert "harmless: switched off in gitmem/core/ids.py" in err and "deadly" not in err
