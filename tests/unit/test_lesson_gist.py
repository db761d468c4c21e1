"""The gist's law: each way to lie with a core's own words next to an honest shortening of the same core."""

from __future__ import annotations

import pytest

from gitmem.core.lessons.gist import problem, share

#: core, what is refused of it, the word that the refusal names, and what passes.
CASES = [
    # another verb, another word
    ("We rejected retries in the client", "We chose retries in the client", "chose", "rejected retries in the client"),
    ("The fixture needs the time zone set", "The fixture needs the locale set", "locale", "fixture needs time zone"),
    # a denial lost, added, moved, put to other words
    ("Retries do not hide the real error", "Retries hide the real error", "not", "Retries don't hide the real error"),
    ("The cache is shared by all workers", "The cache is not shared", "not", "The cache is shared"),
    ("Do not log tokens, log ids", "Do not log ids", "not", "log ids, do not log tokens"),
    ("Do not log tokens, log ids", "log ids", "not", "never log tokens; ids"),
    ("Do not log tokens, log ids", "Do not log tokens ids", "not", "Do not log tokens: log ids"),
    (
        "Do not retry; log the error at once",
        "retry; do not log the error at once",
        "not",
        "log the error; do not retry",
    ),
    ("Never, under load, retry", "Retry, never under load", "never", "never under load retry"),
    ("If the queue is full, do not retry", "Do not retry", "not", "if queue is full: do not retry"),
    ("Never cache tokens. Cache pages for an hour", "Never cache pages", "never", "Cache pages; never cache tokens"),
    ("Never cache tokens. Cache pages for an hour", "Cache tokens. Never cache tokens", "tokens", "Never cache tokens"),
    ("Log ids (not tokens)", "Log tokens, not ids", "not", "ids, not tokens"),
    ("Never cache tokens, ids, or keys", "never cache tokens; cache keys", "cache", "keys, ids; never cache tokens"),
    ("Use a queue without retries", "use a queue", "without", "Use queue without retries"),
    ("Deploy only after the migration", "Deploy after the migration", "only", "deploy only after migration"),
    ("Timeouts >= 30 broke the upload", "timeouts <= 30 broke the upload", "<=", "timeouts >= 30 broke upload"),
    # a side, a hedge, an obligation
    ("Tests fail on Windows, pass on Linux", "Tests pass on Windows", "pass", "Tests fail on Windows"),
    ("Tests fail on Windows, pass on Linux", "Tests on Windows", "tests", "pass on Linux"),
    ("Give it more memory, less CPU", "less memory, more CPU", "less", "less CPU, give it more memory"),
    ("The index may be stale; rebuild it at night", "The index is stale", "index", "rebuild at night"),
    ("The index is rebuilt at night", "The index must be rebuilt", "must", "The index is rebuilt"),
    ("Fixtures share one database", "All fixtures share one database", "all", "fixtures share a database"),
    # causes
    ("Retries hid the real error. Nobody looked", "Nobody looked because retries hid the error", "because", None),
    ("The upload broke. The disk was full", "The upload broke, so the disk was full", "so", "The upload broke"),
    (
        "The log was empty because the disk was full",
        "the disk was full because the log was empty",
        "because",
        "log empty",
    ),
    ("It rained. Uploads stall because disks fill", "It rained because disks fill", "because", "uploads stall"),
    # order
    ("Migrate from MySQL to Postgres", "Migrate from Postgres to MySQL", "from", "migrate from MySQL to Postgres"),
    ("Moved the rows to the queue at night", "Moved the queue to the rows", "to", "Moved rows to queue"),
    ("Rows move. The queue waits", "Rows move to the queue", "to", "the queue waits, rows move"),
    ("Replace moment with luxon everywhere", "replace luxon with moment", "with", "replace moment with luxon"),
    # another mood
    (
        "The fixture needs the time zone set",
        "The fixture needs the time zone set?",
        "?",
        "set the time zone in the fixture",
    ),
    # other languages
    ("Tokens nicht loggen, IDs loggen", "IDs nicht loggen", "nicht", "IDs loggen; Tokens nicht loggen"),
    ("Die Zeitzone fehlt im Test", "Die Zeitzone fehlt im Test nicht", "nicht", "Zeitzone fehlt"),
    ("Der Test braucht die Zeitzone", "Der Test braucht keine Zeitzone", "keine", "Test braucht Zeitzone"),
    ("トークンは記録しない。番号は記録する", "番号は記録しない", "ない", "番号は記録。トークンは記録しない"),
    ("タイムゾーンを設定する。毎回確認", "タイムゾーンを設定しない", "ない", "タイムゾーンを設定"),
    ("不要记录令牌，记录编号", "不要记录编号", "不", "记录编号，不要记录令牌"),
    ("Ne pas garder les jetons, garder les numéros", "garder les jetons", "ne", "garder numéros, ne pas garder jetons"),
    ("Не писать токены, писать номера", "Не писать номера", "не", "писать номера, не писать токены"),
    (
        "로그에 토큰을 남기지 않는다. 번호를 남긴다",
        "토큰을 남긴다",
        "않는다",
        "번호를 남긴다. 로그에 토큰을 남기지 않는다",
    ),
    # dodges: look-alikes, invisible letters, typographic quotes
    ("We rejected retries", "We сhоse retries", "chose", "we rejected retries"),
    ("We don’t retry payments", "We do retry payments", "not", "we don't retry payments"),
    ("We do not retry payments", "We do n\u200bot retry payments, payments retry", "payments", "never retry payments"),
]


@pytest.mark.parametrize(("core", "lie", "word", "honest"), CASES)
def test_a_lie_with_the_cores_words_is_refused_by_the_word_and_an_honest_shortening_passes(
    core: str, lie: str, word: str, honest: str | None
) -> None:
    said = problem(core, lie)
    assert f'"{word}"' in said
    assert problem(core, honest or core) == ""


def test_share_counts_what_is_left_of_the_core() -> None:
    assert share("retries hid the real error", "retries hid the real error") == 100
    assert share("retries hid the real error", "retries hid the error") == 75
    assert share("log log log", "log") == 33
    assert share("it is what it is", "it is") == 100


def test_a_gist_without_a_word_that_says_something_is_none() -> None:
    assert problem("The fixture needs the time zone", "the") == "it has no word of the core that says something"
    assert problem("The fixture needs the time zone", "the fixture") == ""
