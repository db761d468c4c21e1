"""What a second process reads ahead: its values, and its errors as they were raised there."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.errors import BrokenHistory, GitmemError
from gitmem.store.ahead import Ahead
from gitmem.store.glance import uri


def test_an_error_of_the_other_process_comes_out_as_itself() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise BrokenHistory(place="commit 1234", what="a tree is no tree", hint="Look again.")

    got: list[int] = []
    with pytest.raises(GitmemError) as caught:
        got.extend(Ahead(broken))
    error = caught.value
    assert (type(error), error.message) == (BrokenHistory, "the log is broken at commit 1234: a tree is no tree")
    assert (error.code, error.advice) == (21, "Look again.")
    assert list(Ahead(lambda: iter((1, 2)))) == [1, 2]


@pytest.mark.parametrize("at", [0, 1, 700, 1000])
def test_what_a_killed_process_leaves_over_is_made_here(at: int) -> None:
    here = os.getpid()

    def numbers() -> Iterator[tuple[int, str]]:
        for number in range(1000):
            if number == at and os.getpid() != here:
                os.kill(os.getpid(), signal.SIGKILL)
            yield number, "x" * 5000  # more than a buffer holds: some of it arrives, some of it torn

    def result() -> int:
        if at == 1000 and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return 7

    worker = Ahead(numbers, result)
    assert [number for number, _ in worker] == list(range(1000))
    assert worker.result == 7


def test_where_no_process_can_be_started_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise OSError(errno.EAGAIN, "no more processes")

    monkeypatch.setattr(os, "fork", refused)
    worker = Ahead(lambda: range(3), lambda: "done")
    assert (list(worker), worker.result) == ([0, 1, 2], "done")


@pytest.mark.parametrize("folder", ["plain", "a#b", "what?", "100%25"])
def test_the_uri_of_a_file_names_it_whatever_its_folder_is_called(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    path = str(tmp_path / folder / "cache.db")
    sqlite3.connect(path).execute("CREATE TABLE here (n)")
    assert sqlite3.connect(uri(path, "ro"), uri=True).execute("SELECT name FROM sqlite_master").fetchall() == [
        ("here",)
    ]
