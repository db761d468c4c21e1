"""Words and likeness by example: what a sentence is about, and what is one."""

from __future__ import annotations

import pytest

from gitmem.core.lessons import words
from gitmem.core.lessons.likeness import alike
from gitmem.core.letters import fold


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The fixtures need the time zone set", ["fixture", "need", "time", "zone", "set"]),
        ("Retries, queries and classes", ["retry", "query", "classe"]),
        ("buses, caches, aloes, trees, gas, class, status", "buse cache aloe tree ga class status".split()),
        ("TZ=UTC in src/auth.py::login", ["tz", "utc", "src", "auth", "py", "login"]),
        ("c++ and c# on node.js 3.10", ["c++", "c#", "node", "js", "3.10"]),
        ("users.card_token -> vault", ["user", "card", "token", "vault"]),
        ("Do not log tokens", ["log", "token"]),
        ("Die Fixture braucht die Zeitzone", ["fixture", "braucht", "zeitzone"]),
        ("ログを消さない", ["ログ", "消"]),
        ("タイムを測定して保存", ["タイ", "イム", "測定", "保存"]),
        ("DBの接続", ["db", "接続"]),
        ("the", []),
    ],
)
def test_content_words(text: str, found: list[str]) -> None:
    assert words.content(text) == [fold(word) for word in found]


def test_halfwidth_and_voiced_kana_are_one_with_the_usual_ones() -> None:
    assert words.content("ﾛｸﾞ") == words.content("ログ") != words.content("ロク")


@pytest.mark.parametrize(
    ("one", "other", "percent"),
    [
        ("The fixture needs the time zone", "the fixtures need a time-zone", 100),
        ("retries hid the real error", "retries hid the error", 75),
        ("retries hid the real error", "the colour of buttons", 0),
        # what shares all its words and says the opposite
        ("log tokens", "do not log tokens", 0),
        ("never log tokens", "do not log tokens", 100),
        ("tests fail on windows in the long suite", "tests pass on windows in the long suite", 0),
        ("move rows from mysql to postgres", "move rows from postgres to mysql", 0),
        ("move rows to postgres", "move the rows to postgres", 100),
        ("ログを消す", "ログを消さない", 0),
        ("ログを消す", "ログは消す", 100),
        ("the", "the", 0),
    ],
)
def test_alike(one: str, other: str, percent: int) -> None:
    assert alike(one, other) == alike(other, one) == percent
