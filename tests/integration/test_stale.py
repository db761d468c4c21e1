"""`git decisions stale`: what is due for another look, and why."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def record(cli):
    def record(repo, *words, cwd=None):
        done = cli(*words, "--json", cwd=cwd or repo, tty=True)
        assert done.code == 0, done.stderr
        return done.json["events"][-1]["id"]

    return record


@pytest.fixture
def stale(cli):
    def stale(repo, *words, cwd=None):
        done = cli("stale", *words, "--json", cwd=cwd or repo)
        assert done.code == 0, done.stderr
        return done.json["decisions"]

    return stale


def _flags(rows):
    return {row["standing"]: row["flag"] for row in rows}


def test_a_date_that_passed_is_due_by_age_alone_and_one_to_come_is_not(make_repo, record, stale, cli):
    repo = make_repo()
    passed = record(repo, "reject", "a.b", "-r", "No.", "--approach", "x", "--revisit-after", "2020-01-01")
    offset = record(repo, "record", "a.c", "add", "-r", "Try.", "--revisit-after", "90d", "--valid-from", "2021-01-01")
    day = record(repo, "reject", "a.d", "-r", "No.", "--approach", "x", "--expires-when", "date:2022-01-01")
    record(repo, "reject", "a.e", "-r", "No.", "--approach", "x", "--revisit-after", "2999-01-01")
    record(repo, "reject", "a.f", "-r", "No.", "--approach", "x", "--revisit-after", "90d")
    record(repo, "reject", "a.g", "-r", "No.", "--approach", "x", "--expires-when", "date:2999-01-01")
    rows = stale(repo)
    # Most overdue first, whatever the flag.
    assert [(row["standing"], row["flag"]) for row in rows] == [
        (passed, "revisit_due"),
        (offset, "revisit_due"),
        (day, "expired"),
    ]
    assert rows[0]["days_overdue"] > rows[1]["days_overdue"] > rows[2]["days_overdue"] > 0
    assert "2021-04-01" in rows[1]["why"]
    assert [row["standing"] for row in stale(repo, "--flag", "expired")] == [day]
    assert [row["standing"] for row in stale(repo, "a.c")] == [offset]
    assert [row["standing"] for row in stale(repo, "-n", "1")] == [passed]
    text = cli("stale", cwd=repo).stdout
    assert "3 decisions due" in text and "2020-01-01" in text
    assert cli("stale", "--flag", "old", cwd=repo).code == 2


def test_what_was_superseded_retracted_or_muted_does_not_nag_and_its_sibling_does(make_repo, record, stale, cli):
    repo = make_repo()
    due = ("--approach", "x", "--revisit-after", "2020-01-01")
    lifted = record(repo, "reject", "a.b", "-r", "No.", *due)
    retracted = record(repo, "reject", "a.c", "-r", "No.", *due)
    muted = record(repo, "reject", "a.d", "-r", "No.", *due)
    closed = record(repo, "record", "a.e", "add", "-r", "Try.", *due)
    stands = record(repo, "reject", "a.f", "-r", "No.", *due)
    assert set(_flags(stale(repo))) == {lifted, retracted, muted, closed, stands}
    record(repo, "supersede", lifted, "-r", "Things changed.")
    for command, id in (("retract", retracted), ("mute", muted)):
        assert cli(command, id, "-r", "Enough.", cwd=repo, tty=True).code == 0
    record(repo, "reject", "a.e", "-r", "Did not work.", "--approach", "x")
    assert _flags(stale(repo)) == {stands: "revisit_due"}
    # `show` still finds each.
    assert all(cli("show", id, cwd=repo).code == 0 for id in (lifted, retracted, muted, closed))


def test_a_supersede_that_waits_for_a_person_does_not_silence_what_stands(make_repo, record, stale, cli):
    repo = make_repo()
    stands = record(repo, "reject", "a.b", "-r", "No.", "--approach", "x", "--revisit-after", "2020-01-01")
    done = cli("supersede", stands, "-r", "I would like to.", cwd=repo)  # a script's: pending
    assert done.code == 0, done.stderr
    assert _flags(stale(repo)) == {stands: "revisit_due"}


def test_a_decision_written_anew_with_a_later_date_is_not_due_any_more(make_repo, record, stale):
    repo = make_repo()
    words = ("reject", "a.b", "-r", "No.", "--approach", "x")
    old = record(repo, *words, "--revisit-after", "2020-01-01", "--expires-when", "manual:legal says so")
    assert _flags(stale(repo)) == {old: "revisit_due"}
    record(repo, *words, "--revisit-after", "2999-01-01")
    # The date was replaced; the other condition of the first still stands.
    assert _flags(stale(repo)) == {old: "manual_review"}


def test_a_library_condition_looks_at_the_projects_lock_files_and_not_at_our_own_environment(
    make_repo, record, stale, git
):
    repo = make_repo()
    # gitmem itself has typer installed: that says nothing about this project.
    ours = record(repo, "reject", "cli", "-r", "No.", "--approach", "x", "--expires-when", "library:typer>=0.1")
    theirs = record(repo, "reject", "ui", "-r", "No.", "--approach", "x", "--expires-when", "library:react>=19")
    assert _flags(stale(repo)) == {ours: "manual_review", theirs: "manual_review"}
    lock = {"lockfileVersion": 3, "packages": {"": {}, "node_modules/react": {"version": "18.3.1"}}}
    (repo / "frontend").mkdir()
    (repo / "frontend" / "package-lock.json").write_text(json.dumps(lock))
    git("add", ".", cwd=repo)
    assert _flags(stale(repo)) == {ours: "manual_review"}
    lock["packages"]["node_modules/react"]["version"] = "19.0.0"
    (repo / "frontend" / "package-lock.json").write_text(json.dumps(lock))
    row = next(row for row in stale(repo) if row["standing"] == theirs)
    assert row["flag"] == "expired" and "19.0.0 in frontend/package-lock.json" in row["why"]


def test_an_entity_condition_fires_on_it_and_below_it_and_not_beside_it(make_repo, record, stale):
    repo = make_repo()
    record(repo, "record", "src/pay.py", "add", "-r", "It was there before.")
    reject = record(
        repo, "reject", "billing", "-r", "No.", "--approach", "x", "--expires-when", "entity:src/pay.py:changes"
    )
    record(repo, "record", "src/payroll.py", "modify", "-r", "A neighbour.")
    record(repo, "record", "src/pay.py::refund", "modify", "-r", "Long ago.", "--valid-from", "2020-01-01")
    assert stale(repo) == []
    below = record(repo, "record", "src/pay.py::charge", "modify", "-r", "Rounds up.")
    (row,) = stale(repo)
    assert (row["standing"], row["flag"], row["signals"][0]["event"]) == (reject, "expired", below)


def test_words_of_a_later_event_suggest_a_review_in_any_script(make_repo, record, stale):
    repo = make_repo()
    waits = {
        "payment provider changed": ("We changed our payment provider to Adyen.", True),
        "move to Go": ("we did move to Go", True),
        "Stripe replaced": ("Replaced Stripes with Adyen", True),
        "支付提供商更换": ("我们更换了支付提供商", True),
        "the invoice archive is exported": ("Fixed a typo in the invoice archive section.", False),
    }
    ids = {}
    for number, wish in enumerate(waits):
        ids[wish] = record(repo, "reject", f"a.c{number}", "-r", "No.", "--approach", "x", "--stale-when", wish)
    record(repo, "record", "docs/faq.md", "modify", "-r", "Fixed a typo in the payment provider section of the FAQ")
    # A twin with the same wish doesn't speak of its coming true.
    record(repo, "reject", "a.twin", "-r", "No.", "--approach", "y", "--stale-when", "payment provider changed")
    assert stale(repo) == []
    later = {wish: record(repo, "record", "notes", "modify", "-r", text) for wish, (text, _) in waits.items()}
    rows = {row["standing"]: row for row in stale(repo)}
    for wish, (_, meets) in waits.items():
        assert (ids[wish] in rows) == meets, wish
        if meets:
            (signal,) = rows[ids[wish]]["signals"]
            assert signal["flag"] == "review_suggested" and signal["event"] == later[wish] and signal["words"]


def test_each_script_reads_the_whole_history_and_not_a_window(make_repo, stale, record, cli):
    repo = make_repo()
    waits = record(repo, "reject", "a.b", "-r", "No.", "--approach", "x", "--stale-when", "payment provider changed")
    record(repo, "record", "pay", "modify", "-r", "Changed the payment provider.")
    from gitmem.core.drafts import Draft
    from gitmem.memory import Memory

    memory = Memory.open(str(repo))
    memory.append_history(
        Draft(
            "change",
            {
                "entity_path": f"t{number}.c", "change_type": "modify", "reasoning": f"Step {number}.",
                "source": f"test:{number}", "scope": "",
            },
        )
        for number in range(700)
    )  # fmt: skip
    memory.close()
    assert _flags(stale(repo)) == {waits: "review_suggested"}
