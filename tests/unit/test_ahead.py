"""What a second process reads ahead: its values, and its errors as they were raised there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.errors import BrokenHistory, GitmemError
from gitmem.store.ahead import Ahead
from gitmem.store.cache import uri


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


@pytest.mark.parametrize("folder", ["plain", "a#b", "what?", "100%25"])
def test_the_uri_of_a_file_names_it_whatever_its_folder_is_called(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    path = str(tmp_path / folder / "cache.db")
    sqlite3.connect(path).execute("CREATE TABLE here (n)")
    assert sqlite3.connect(uri(path, "ro"), uri=True).execute("SELECT name FROM sqlite_master").fetchall() == [
        ("here",)
    ]
