"""Dates as people type them."""

from __future__ import annotations

import re

import pytest

from gitmem.cli.dates import duration_s, moment
from gitmem.errors import Usage

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        ("2026-11-30", "2026-11-30T00:00:00.000000Z"),
        ("2026-11-30T12:00+01:00", "2026-11-30T11:00:00.000000Z"),
        ("2026-11-30 12:00", "2026-11-30T12:00:00.000000Z"),
        ("2026-11-30T12:00:01.5Z", "2026-11-30T12:00:01.500000Z"),
    ],
)
def test_an_iso_date_is_utc(typed: str, means: str) -> None:
    assert moment(typed, "--since") == means


def test_until_a_day_takes_the_whole_day() -> None:
    assert moment("2026-12-31", "--until", end_of_day=True) == "2027-01-01T00:00:00.000000Z"
    assert moment("2026-12-31T10:00", "--until", end_of_day=True) == "2026-12-31T10:00:00.000000Z"


def test_an_offset_is_that_long_ago() -> None:
    assert moment("7d", "--since") < moment("24h", "--since") < moment("1m", "--since")


@pytest.mark.parametrize("typed", ["yesterday", "2 weeks ago", "last friday", "Nov 30 2020", "10.11.2020", "noon"])
def test_the_forms_of_git_are_known(typed: str, tmp_path: object) -> None:
    import os
    import subprocess

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    os.chdir(str(tmp_path))
    assert TIME.fullmatch(moment(typed, "--since"))


@pytest.mark.parametrize(
    "typed", ["", "banana", "5x", "1999-02-31", "99999-01-01", "-1", "ten o'clock", "999999y", "9" * 400, "7d 3"]
)
def test_what_is_no_date_is_refused_where_git_would_answer_now(typed: str) -> None:
    with pytest.raises(Usage) as refusal:
        moment(typed, "--since")
    assert refusal.value.message.startswith("--since: ")
    assert refusal.value.advice


def test_a_duration_is_seconds() -> None:
    assert duration_s("7d", "--window") == 7 * 86400
    assert duration_s("24h", "--window") == 86400
    for bad in ("", "7", "d7", "7 days", "9" * 30 + "d", "-7d"):
        with pytest.raises(Usage):
            duration_s(bad, "--window")
