"""reland-bench over a small history made here: what it mines, what the gate answers, and that its controls can fail."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from reland import report  # noqa: E402
from reland.replay import Asked  # noqa: E402


def code(name: str, lines: int = 24) -> str:
    return "\n".join(f"    {name}_{n} = compute_{name}(step={n}, limit={n * 7})" for n in range(lines)) + "\n"


BASE = "def main():\n    prepare_everything(now=True)\n    return finish_everything(now=True)\n"


@pytest.fixture
def history(make_repo, git) -> Path:
    """Two attempts that are reverted; one comes back by Reapply, one in silence, in another file; and ordinary work."""
    repo = make_repo()
    clock = iter(range(1_600_000_000, 1_700_000_000, 3600))

    def commit(message: str, **files: str) -> str:
        for name, text in files.items():
            (repo / f"{name}.py").write_text(text)
        git("add", "-A", cwd=repo)
        when = f"{next(clock)} +0000"
        git("commit", "-q", "-m", message, cwd=repo, env={"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when})
        return git("rev-parse", "HEAD", cwd=repo)

    def revert(oid: str) -> str:
        git("revert", "--no-edit", oid, cwd=repo)
        return git("rev-parse", "HEAD", cwd=repo)

    commit("Begin", app=BASE, other=BASE)
    cache = commit("Cache rows", app=BASE + code("cache"))
    retry = commit("Retry forever", other=BASE + code("retry"))
    revert(retry)
    back = revert(cache)
    for number in range(6):
        part = code(f"part{number}", 8)
        commit(f"Work {number}", other=BASE + code(f"work{number}", 6), **{f"part{number}": part})
    commit("Bring it in elsewhere", loader=BASE + code("retry"))
    git("revert", "--no-edit", back, cwd=repo)
    return repo


def test_what_comes_back_is_stopped_and_what_does_not_passes(history, tmp_path):
    rows = tmp_path / "rows.json"
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/reland-bench", "--most", "0", "--cases", "2", "--json", rows, history],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
    )
    (row,) = json.loads(rows.read_text())
    assert row["verdicts"] == 2 and row["explicit"] == [1, 1] and row["silent"] == [1, 1], done.stdout
    assert row["false"][0] == 0 and row["false"][1] >= 10
    assert row["baselines"]["path"][2] > 0  # a gate that is keyed on files stops ordinary work
    wrong = {name: found for name, found in row["cases"].items() if any(what.startswith("wrong") for what in found)}
    assert wrong == {}
    exercised = {name for name, found in row["cases"].items() if found.get("right")}
    assert {"as it was", "re-indented", "path renamed", "40 % of it"} <= exercised
    assert {f"N{number}" for number in range(1, 11)} <= {name.split(" ")[0] for name in exercised}
    assert {name: caught for name, (caught, _) in row["controls"].items()} == {
        "an empty store": 0,
        "fingerprints shuffled": 0,
        "one verdict deleted": 0,
        "the gate off": 0,
    }
    assert (
        done.returncode == 0 and "VOID" not in done.stdout and "unexercised" not in done.stdout.partition("| case")[0]
    )
    # It says nothing of the code, and leaves nothing in the clone.
    assert "compute_cache" not in rows.read_text() + done.stdout
    refs = subprocess.run(["git", "for-each-ref", "refs/decisions"], cwd=history, capture_output=True, text=True)
    assert refs.stdout == ""


def test_a_share_has_an_interval_that_holds_what_is_known():
    for right, of in ((0, 10), (5, 10), (10, 10), (95, 100), (1, 1)):
        low, high = report.wilson(right, of)
        assert 0 <= low <= right / of <= high <= 1
    assert report.wilson(0, 0) == (0.0, 1.0)
    assert report.wilson(9, 10)[0] == pytest.approx(0.596, abs=0.01)


def row(**more: object) -> report.Row:
    one = object.__new__(report.Row)
    usual = {"explicit": (9, 9), "silent": (9, 9), "false": (0, 1000), "notes": (0, 1000), "cases": {}, "controls": {}}
    for name, value in {**usual, **more}.items():
        setattr(one, name, value)
    return one


def test_what_is_not_met_fails_and_a_control_that_catches_something_makes_the_run_void():
    def said(one: report.Row) -> dict[str, str]:
        return report.verdicts([one], {})

    well = said(row())
    assert [verdict for name, verdict in well.items() if "without" not in name] == ["pass"] * 4
    assert said(row(explicit=(8, 9)))["explicit re-landings at least 95 %"] == "fail"
    assert said(row(silent=(0, 0)))["silent re-landings at least 85 %"] == "unexercised"
    assert said(row(false=(3, 1000)))["false stops at most 2 in 1,000"] == "fail"
    assert said(row(false=(6, 1000)))["false stops at most 5 in 1,000 in the worst history"] == "fail"
    assert said(row(controls={"an empty store": (2, 4)}))["controls"].startswith("VOID")
    from collections import Counter

    failed = report.verdicts([row()], {"N4 the same bytes after a supersede": Counter({"right": 3, "wrong: stop": 1})})
    assert failed["N4 without a failure"] == "fail" and failed["N5 without a failure"] == "unexercised"


def test_a_catch_counts_only_where_its_own_verdict_comes_first():
    asked = Asked()
    asked.back = {"a" * 64: True}
    asked.stopped = True
    asked.first = "b" * 8
    assert report._caught([asked], explicit=True) == (0, 1)
    asked.first = "a" * 8
    assert report._caught([asked], explicit=True) == (1, 1)
    assert report._caught([asked], explicit=False) == (0, 0)
