"""Two clocks: what held at a time (`--as-of`), and what was believed then (`--known-at`)."""

from __future__ import annotations

import json
import random
import sqlite3
import time
from contextlib import closing
from datetime import datetime, timedelta

import pytest

from gitmem import presenters
from gitmem.core.drafts import Draft, Writer
from gitmem.core.query import Query
from gitmem.errors import GitmemError
from gitmem.memory import Memory
from gitmem.store.past import SPANS_FROM

OWN = "keep the token in our own table"


@pytest.fixture
def recorded(cli):
    """Records as a person does, and gives back the event."""

    def record(repo, *words, **options):
        done = cli(*words, "--json", cwd=repo, tty=True, **options)
        assert done.code == 0, done.stderr
        return done.json["events"][-1]

    return record


@pytest.fixture
def asked(cli):
    def ask(repo, *words):
        done = cli(*words, "--json", cwd=repo)
        assert done.code == 0, done.stderr
        return done.json

    return ask


def _verdicts(answer):
    return {(one["entity_path"], one["approach"]): one["verdict"] for one in answer["decisions"]}


def _shift(instant, microseconds):
    return (datetime.fromisoformat(instant) + timedelta(microseconds=microseconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def test_a_back_dated_rejection_imported_today_held_then_and_was_not_believed_then(make_repo, recorded, asked):
    repo = make_repo()
    reject = recorded(
        repo, "reject", "users.token", "--approach", OWN, "-r", "PCI scope.", "--valid-from", "2020-03-01"
    )
    for surface in ("log", "search", "blame", "prior", "status"):
        words = {"search": ["search", "PCI"], "log": ["log"]}.get(surface, [surface, "users.token"])
        held = asked(repo, *words, "--as-of", "2021-01-01")
        assert reject["id"] in str(held), surface
        for before in (["--as-of", "2019-12-31"], ["--known-at", "2021-01-01"]):
            assert reject["id"] not in str(asked(repo, *words, *before)), (surface, before)
        both = asked(repo, *words, "--as-of", "2021-01-01", "--known-at", "2021-01-01")
        assert reject["id"] not in str(both), surface
        both = asked(repo, *words, "--as-of", "2021-01-01", "--known-at", "1h")
        assert reject["id"] not in str(both), surface
        both = asked(repo, *words, "--as-of", "2021-01-01", "--known-at", reject["recorded_at"])
        assert reject["id"] in str(both), surface


def test_what_was_believed_then_differs_from_what_was_true_then(make_repo, recorded, asked):
    repo = make_repo()
    add = recorded(
        repo, "record", "users.token", "add", "--approach", OWN, "-r", "Simple.", "--valid-from", "2020-01-01"
    )
    time.sleep(0.01)
    reject = recorded(
        repo, "reject", "users.token", "--approach", OWN, "-r", "PCI scope.", "--valid-from", "2020-06-01"
    )
    key = ("users.token", OWN)
    true_then = asked(repo, "status", "users.token", "--as-of", "2020-07-01")
    believed = asked(repo, "status", "users.token", "--as-of", "2020-07-01", "--known-at", add["recorded_at"])
    assert _verdicts(true_then) == {key: "rejected"}
    assert _verdicts(believed) == {key: "active"}
    # Before the rejection held, the addition did; and both are told of in their time.
    assert _verdicts(asked(repo, "status", "users.token", "--as-of", "2020-05-01")) == {key: "active"}
    assert _verdicts(asked(repo, "status", "users.token", "--as-of", "2019-05-01")) == {}
    assert _verdicts(asked(repo, "status", "users.token")) == {key: "rejected"}
    log = asked(repo, "log", "users.token", "--as-of", "2020-05-01")["events"]
    assert [(one["id"], one["verdict"]) for one in log] == [(add["id"], "active")]
    blamed = asked(repo, "blame", "users.token", "--as-of", "2020-05-01")["event"]
    assert blamed["id"] == add["id"]
    assert asked(repo, "blame", "users.token")["event"]["id"] == reject["id"]


def test_times_count_at_their_very_instant(make_repo, recorded, asked):
    repo = make_repo()
    event = recorded(
        repo, "record", "users.fax", "add", "-r", "The law.", "--valid-from", "2020-01-01T12:00:00Z",
        "--valid-to", "2021-01-01T12:00:00Z",
    )  # fmt: skip

    def held(instant):
        return [one["id"] for one in asked(repo, "log", "--as-of", instant)["events"]] == [event["id"]]

    assert held("2020-01-01T12:00:00Z") and not held("2020-01-01T11:59:59.999999Z")
    assert held("2021-01-01T11:59:59.999999Z") and not held("2021-01-01T12:00:00Z")
    # A bare day counts whole.
    assert held("2020-01-01") and not held("2019-12-31") and not held("2021-01-01")

    def known(instant):
        return [one["id"] for one in asked(repo, "log", "--known-at", instant)["events"]] == [event["id"]]

    assert known(event["recorded_at"]) and not known(_shift(event["recorded_at"], -1))


def test_history_that_arrives_out_of_order_stands_where_it_belongs(make_repo, recorded, asked):
    repo = make_repo()
    later = recorded(repo, "record", "users.name", "modify", "-r", "Longer.", "--valid-from", "2023-01-01")
    earlier = recorded(repo, "record", "users.name", "add", "-r", "Needed.", "--valid-from", "2020-01-01")
    assert asked(repo, "blame", "users.name", "--as-of", "2024-01-01")["event"]["id"] == later["id"]
    assert asked(repo, "blame", "users.name", "--as-of", "2021-01-01")["event"]["id"] == earlier["id"]
    # Newest first is the order of the log, whatever it tells of.
    log = asked(repo, "log", "users.name", "--as-of", "2024-01-01")["events"]
    assert [one["id"] for one in log] == [earlier["id"], later["id"]]


def test_a_tip_tells_what_this_clone_knew_and_a_time_what_anyone_had_written(make_repo, git, recorded, asked, tmp_path):
    here = make_repo(name="here")
    first = recorded(here, "record", "users.email", "add", "-r", "Login.")
    git("clone", "--quiet", here, tmp_path / "there", cwd=tmp_path)
    there = tmp_path / "there"
    git("fetch", "--quiet", "origin", "refs/decisions/log:refs/decisions/log", cwd=there)
    theirs = recorded(there, "reject", "users.fax", "-r", "Nobody has one.")
    time.sleep(0.01)
    ours = recorded(here, "record", "users.phone", "add", "-r", "Two factors.")
    before = git("rev-parse", "refs/decisions/log", cwd=here)
    git("fetch", "--quiet", there, "refs/decisions/log:refs/decisions-remotes/there/log", cwd=here)
    memory = Memory.open(str(here))
    memory.join(git("rev-parse", "refs/decisions-remotes/there/log", cwd=here))
    memory.close()

    def ids(*words):
        return {one["id"] for one in asked(here, "log", *words)["events"]}

    everything = {first["id"], theirs["id"], ours["id"]}
    assert ids() == everything == ids("--known-at", "refs/decisions/log") == ids("--known-at", ours["recorded_at"])
    assert ids("--known-at", before) == {first["id"], ours["id"]}
    assert ids("--known-at", before[:12]) == {first["id"], ours["id"]}
    assert ids("--known-at", theirs["recorded_at"]) == {first["id"], theirs["id"]}
    assert _verdicts(asked(here, "status", "users.fax", "--known-at", before)) == {}
    assert _verdicts(asked(here, "status", "users.fax")) == {("users.fax", ""): "rejected"}


def test_a_tip_of_another_history_is_refused_and_a_word_that_is_neither_date_nor_tip(make_repo, git, recorded, cli):
    repo = make_repo()
    recorded(repo, "record", "users.email", "add", "-r", "Login.")
    head = git("rev-parse", "HEAD", cwd=repo)
    for typed, said in ((head, "no commit of this log"), ("soonish", "no date, and no commit")):
        done = cli("log", "--known-at", typed, cwd=repo)
        assert done.code == 15 and said in done.stderr, done.stderr
    assert cli("log", "--known-at", "refs/decisions/log", cwd=repo).code == 0
    assert cli("log", "--as-of", head, cwd=repo).code == 2


def test_a_supersede_is_a_turn_of_things_and_a_retraction_says_it_never_was(make_repo, recorded, asked, cli):
    repo = make_repo()
    lifted = recorded(repo, "reject", "users.a", "-r", "No.", "--approach", "one", "--valid-from", "2020-01-01")
    wrong = recorded(repo, "reject", "users.b", "-r", "No.", "--approach", "two", "--valid-from", "2020-01-01")
    recorded(repo, "supersede", lifted["id"], "-r", "Now we can.", "--valid-from", "2022-01-01")
    before = wrong["recorded_at"]
    done = cli("retract", wrong["id"], "-r", "A mistake from the start.", cwd=repo, tty=True)
    assert done.code == 0, done.stderr
    as_of = _verdicts(asked(repo, "status", "--as-of", "2021-01-01"))
    assert as_of == {("users.a", "one"): "rejected"}
    assert _verdicts(asked(repo, "status", "--as-of", "2022-06-01"))[("users.a", "one")] == "reopened"
    known = _verdicts(asked(repo, "status", "--as-of", "2021-01-01", "--known-at", before))
    assert known == {("users.a", "one"): "rejected", ("users.b", "two"): "rejected"}
    assert wrong["id"] not in str(asked(repo, "log", "--as-of", "2021-01-01"))
    kept = asked(repo, "log", "--as-of", "2021-01-01", "--all")["events"]
    assert {one["id"]: one["trust"] for one in kept}[wrong["id"]] == "retracted"


def test_looking_back_counts_as_the_log_of_that_time_did(make_repo, git, recorded, asked):
    """At each tip that the log had, the summary was what `--known-at` says of it now."""
    repo = make_repo()
    steps = [
        ("record", "users.email", "add", "-r", "Login."),
        ("reject", "users.token", "--approach", OWN, "-r", "PCI scope."),
        ("record", "users.mail", "rename", "--rename-from", "users.email", "-r", "One word."),
        ("record", "users.mail", "remove", "-r", "Not needed."),
        ("supersede", "users.token", "-r", "The provider's tokens are safe."),
        ("record", "users.token", "add", "--approach", OWN, "-r", "Safe now."),
    ]
    then = []
    for step in steps:
        recorded(repo, *step)
        then.append((git("rev-parse", "refs/decisions/log", cwd=repo), asked(repo, "status"), asked(repo, "log")))
        time.sleep(0.002)
    for tip, status, log in then:
        moments = [tip, log["events"][0]["recorded_at"]]
        for moment in moments:
            now = asked(repo, "status", "--known-at", moment)
            assert (now["counts"], now["events"]) == (status["counts"], status["events"]), moment
            assert now["decisions"] == status["decisions"]
            assert asked(repo, "log", "--known-at", moment) == log


def test_of_two_imports_of_one_thing_the_one_that_was_known_then_is_told(make_repo, git, asked, tmp_path):
    here = make_repo(name="here")
    there = tmp_path / "there"
    git("clone", "--quiet", here, there, cwd=tmp_path)

    def imported(repo, *more):
        memory = Memory.open(str(repo))
        fields = {
            "entity_path": "users.token", "change_type": "reject", "approach": OWN, "reasoning": "PCI scope.",
            "valid_from": "2020-01-01T00:00:00.000000Z", "source": "adr:7",
        }  # fmt: skip
        for source in (*more, "adr:7"):
            memory.append_history([Draft("change", {**fields, "source": source})])
        memory.close()

    # Theirs comes later in the log's order and was written earlier.
    imported(there, "adr:1", "adr:2", "adr:3")
    time.sleep(0.01)
    imported(here)
    ours = asked(here, "log")["events"][0]
    git("fetch", "--quiet", there, "refs/decisions/log:refs/decisions-remotes/there/log", cwd=here)
    memory = Memory.open(str(here))
    memory.join(git("rev-parse", "refs/decisions-remotes/there/log", cwd=here))
    memory.close()

    def told(*words):
        return [one["id"] for one in asked(here, "log", *words)["events"] if one["source"] == "adr:7"]

    before = _shift(ours["recorded_at"], -1)
    assert told() == [ours["id"]] == told("--as-of", "2021-01-01")
    (theirs,) = told("--known-at", before)
    assert theirs != ours["id"]
    assert theirs in str(asked(here, "search", "PCI", "--known-at", before))


def test_a_summary_of_long_ago_is_counted_and_stays_right_as_the_log_grows(make_repo, recorded, asked):
    repo = make_repo()
    memory = Memory.open(str(repo))
    start = datetime(2020, 1, 1)
    several = 2 * SPANS_FROM

    def told(day, number, change):
        fields = {
            "entity_path": f"users.c{number}", "change_type": change, "approach": OWN, "reasoning": "So.",
            "valid_from": (start + timedelta(days=day)).strftime("%Y-%m-%dT00:00:00.000000Z"),
            "source": f"test:{change}:{number}",
        }  # fmt: skip
        return Draft("change", fields)

    drafts = [told(number, number, "add") for number in range(several)]
    drafts += [told(number + 100, number, "reject") for number in range(0, several, 2)]
    memory.append_history(drafts)
    memory.close()

    def expected(day):
        added = min(several, day + 1)
        rejected = max(0, (min(several + 98, day) - 100) // 2 + 1)
        return {verdict: number for verdict, number in (("active", added - rejected), ("rejected", rejected)) if number}

    def at(day):
        return asked(repo, "status", "--as-of", (start + timedelta(days=day)).strftime("%Y-%m-%dT12:00:00Z"))

    def kept():
        with closing(sqlite3.connect(repo / ".git/gitmem/cache.sqlite")) as db:
            return [db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in ("spans", "unspanned")]

    assert at(several + 200)["counts"] == expected(several + 200)
    assert kept() == [0, 0]  # nothing stood otherwise then
    for day in (150, 0, 99, 100, 101, several - 1, several + 50):
        assert at(day)["counts"] == expected(day)
        assert kept()[0] > several
        assert at(day)["events"] == sum(expected(day).values()) + expected(day).get("rejected", 0)
    assert {one["entity_path"] for one in at(150)["decisions"]} == {f"users.c{number}" for number in range(12, 51, 2)}
    recorded(repo, "supersede", "users.c0", "-r", "A vault since then.", "--valid-from", "2020-05-01")
    assert kept()[1] == 1  # judged anew, and without spans until somebody asks
    counts = at(150)["counts"]
    assert counts == {**expected(150), "rejected": expected(150)["rejected"] - 1, "reopened": 1}
    assert kept()[1] == 0
    assert at(110)["counts"] == expected(110)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_past_is_the_answer_that_a_log_of_that_time_gives(make_repo, git, tmp_path, seed):
    """Random histories of two writers; at each tip the whole state, against a clone whose log ends there."""
    chance = random.Random(seed)
    repo = make_repo()
    memory = Memory.open(str(repo))
    names, approaches = ["a.b", "a", "a.c", "src/x.py::f"], ["", "one way", "other way"]
    ids: list[str] = []
    tips: list[str] = []

    def drafted():
        if ids and chance.random() < 0.35:
            kind = chance.choice(["review", "review", "mark"])
            action = chance.choice(["ratify", "dispute", "retract"] if kind == "review" else ["pin", "unpin"])
            return Draft(kind, {"action": action, "targets": [chance.choice(ids)], "reason": "So."})
        change = chance.choice(["add", "modify", "reject", "reject", "revert", "remove", "supersede", "rename"])
        fields = {"entity_path": chance.choice(names), "change_type": change, "reasoning": "So."}
        if change == "rename":
            if fields["entity_path"] == "a":
                fields["entity_path"] = "a.b"
            fields["renamed_from"] = chance.choice([name for name in names if name not in ("a", fields["entity_path"])])
        elif change != "supersede" and chance.random() < 0.8:
            fields["approach"] = chance.choice(approaches[1:])
        return Draft("change", fields, whole=chance.random() < 0.5)

    for _ in range(80):
        channel = chance.choice(["human", "agent"])
        memory.desk._writer = Writer("Ada <ada@example.org>", channel, tool="test")
        try:
            done = memory.record(drafted())
        except GitmemError:
            continue
        ids += [row.event.id for row in done.rows]
        tips.append(git("rev-parse", "refs/decisions/log", cwd=repo))

    def state(memory, **moment):
        log = memory.log(Query(kinds=("any",), everything=True, **moment))
        status = memory.status(**moment)
        return (
            [(r.event.id, r.effect, r.reason, r.trust, r.verdict, r.superseded_by, r.marks) for r in log.rows],
            (status.counts, status.events),
            [presenters.status(memory.status(name, **moment))["decisions"] for name in names],
            [presenters.prior(memory.prior(name, everything=True, **moment))["attempts"] for name in names],
            [presenters.blame(memory.blame(name, **moment)) for name in names],
        )

    git("clone", "--quiet", "--shared", repo, tmp_path / "then", cwd=tmp_path)
    assert len(tips) > 12
    for tip in tips[::3]:
        git("update-ref", "refs/decisions/log", tip, cwd=tmp_path / "then")
        then = Memory.open(str(tmp_path / "then"))
        expected, found = state(then), state(memory, known_at=tip)
        # What is pinned is of now, wherever one looks from.
        for one, other in zip(expected[0], found[0], strict=True):
            assert one[:-1] == other[:-1]
        assert [_without_marks(part) for part in expected[1:]] == [_without_marks(part) for part in found[1:]]
        then.close()
    memory.close()


def _without_marks(part):
    return json.loads(json.dumps(part), object_hook=lambda one: {k: v for k, v in one.items() if k != "marks"})
