"""Sleep, rules, history and undo through the installed command: what people see, in every repository, with races."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from conftest import SCRIPTS

from gitmem.cases.typed import nonce
from gitmem.core import dates, events
from gitmem.core.lessons.steps import replay
from gitmem.memory import Memory
from gitmem.store import lessons as shelf
from gitmem.store.writing import Appender

SAME = "The fixture needs the time zone set."
OTHERS = ("Retries hid the first error.", "Retries hid the timeout.", "Retries made the outage longer.")
AUTHOR = "Ada Lovelace <ada@example.org>"


def ago(days: float) -> str:
    return dates.of_seconds(time.time() - days * 86_400)


def written(repo: Path, *drafts: dict[str, object]) -> list[str]:
    """Append events with times of their own, as clones of long ago did; returns their ids."""
    memory = Memory.open(os.fspath(repo))
    ids: list[str] = []
    try:
        for draft in drafts:
            fields = {
                "v": 1, "kind": "lesson", "nonce": nonce(), "recorded_at": ago(0), "author": AUTHOR, "after": [],
                "scope": "", "channel": "human", "basis": "person", "tool": "t", **draft,
            }  # fmt: skip
            made: list[str] = []

            def decide(cache, fields=fields, made=made):
                event, data = events.build({**fields, "clock": cache.clock + 1})
                made[:] = [event.id]
                return [(event, data)]

            Appender(memory.desk.model, memory.desk.log).append(decide)
            ids += made
    finally:
        memory.close()
    return ids


def lesson(core: str, days: float, *, commit: int = 0, **fields: object) -> dict[str, object]:
    base = {"base": {"commit": f"{commit:040x}"}} if commit else {}
    return {"kind": "lesson", "core": core, "recorded_at": ago(days), **base, **fields}


def use(target: str, days: float, commit: int) -> dict[str, object]:
    return {"kind": "use", "targets": [target], "how": "commit", "commit": f"{commit:040x}", "recorded_at": ago(days)}


def a_rule(repo: Path) -> list[str]:
    """Three lessons of one topic in three commits."""
    return written(repo, *(lesson(core, 3, commit=n, topic="retries") for n, core in enumerate(OTHERS, 1)))


def tip(git, repo: Path) -> str:
    return git("rev-parse", "refs/decisions/log", cwd=repo).strip()


def actions(answer: dict) -> list[str]:
    return [one["action"] for one in answer["outcomes"]]


@pytest.mark.parametrize("kind", ["plain", "sha256", "bare", "worktree", "reftable"])
def test_a_sleep_in_every_repository_and_a_second_one_finds_nothing(make_repo, cli, kind):
    repo = make_repo(kind)
    written(repo, lesson(SAME, 9, commit=1), lesson("The time zone: the fixture needs it set!", 8, commit=1))
    faded = written(repo, lesson("The cache is cleared before the index.", 300, commit=1))[0]
    planned = cli("sleep", "--dry-run", "--json", cwd=repo).json
    assert (planned["written"], actions(planned)) == (False, ["absorb", "latent", "digest"])
    done = cli("sleep", "--json", cwd=repo)
    assert (done.code, actions(done.json), done.json["written"]) == (0, ["absorb", "latent", "digest"], True)
    assert all(len(one["event"]) == 64 for one in done.json["outcomes"])
    again = cli("sleep", "--json", cwd=repo).json
    assert (again["outcomes"], again["written"], again["after"]) == ([], False, done.json["after"])
    assert [one["id"] for one in cli("lessons", "--band", "latent", "--json", cwd=repo).json["lessons"]] == [faded]
    told = cli("lessons", "--json", cwd=repo).json
    assert [(one["core"], one["times"]) for one in told["lessons"]] == [(SAME, 2)]
    assert told["counts"] == {"near": 1, "cold": 0, "latent": 1}
    assert cli("verify", cwd=repo).code == 0


def test_without_a_log_or_without_lessons_it_says_so(repo, cli, git):
    listing = (["lessons"], ["rules"], ["sleep", "--dry-run"])
    for words, code in (*((words, 10) for words in listing), (["sleep"], 10), (["history", "7f3a"], 10),
                        (["undo", "7f3a", "-r", "so"], 12)):  # fmt: skip
        assert cli(*words, cwd=repo).code == code, words
    cli("record", "users.email", "add", "-r", "so", cwd=repo)
    for words in listing:
        done = cli(*words, cwd=repo)
        assert (done.code, done.stderr) == (0, ""), words
        assert done.stdout.startswith(("no lessons", "no rules", "nothing to put in order"))
    before = tip(git, repo)
    assert cli("sleep", cwd=repo).stdout == "nothing to put in order: there are no lessons.\n"
    assert tip(git, repo) == before


def test_reading_writes_nothing(repo, cli, git):
    ids = a_rule(repo)
    cli("sleep", cwd=repo)
    before = tip(git, repo)
    for words in (["lessons"], ["lessons", "--band", "all"], ["rules", "--all"], ["history", ids[0]], ["review"],
                  ["sleep", "--dry-run"], ["sleep", "--dry-run", "--as-of", "2090-01-01"], ["status"]):  # fmt: skip
        assert cli(*words, cwd=repo).code == 0, words
        assert cli(*words, "--json", cwd=repo).json["schema"] == 1
    assert tip(git, repo) == before


def test_eight_processes_sleep_at_once_and_each_thing_is_done_once(repo, cli, git):
    for n in range(6):
        written(repo, lesson(f"{SAME} {n}", 9, commit=1), lesson(f"word{n} that nobody{n} used", 300, commit=1))
    a_rule(repo)
    before = cli("status", "--json", cwd=repo).json["events"]
    command = [os.fspath(SCRIPTS / "git-decisions"), "sleep", "--json"]
    running = [subprocess.Popen(command, cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(8)]
    ended = [(process.communicate(timeout=120), process.returncode) for process in running]
    assert [code for _, code in ended] == [0] * 8, ended
    answers = [json.loads(out) for (out, _), _ in ended]
    wrote = [answer for answer in answers if answer["written"]]
    assert len(wrote) == 1
    assert cli("status", "--json", cwd=repo).json["events"] == before + len(wrote[0]["outcomes"])
    done = [(one["action"], tuple(one["targets"])) for one in wrote[0]["outcomes"]]
    assert len(set(done)) == len(done) >= 12
    assert cli("verify", cwd=repo).code == 0


def test_who_loses_the_race_decides_again_and_does_nothing_twice(repo, cli, monkeypatch):
    """The window is held open: the other one sleeps between our decision and the move of the ref."""
    a_rule(repo)
    memory = Memory.open(os.fspath(repo))
    publish = Appender._publish
    raced: list[int] = []

    def late(self, stored, entry, tip):
        if not raced:
            raced.append(len(cli("sleep", "--json", cwd=repo).json["outcomes"]))
        publish(self, stored, entry, tip)

    monkeypatch.setattr("gitmem.store.writing.Tries.__enter__", lambda self: self)  # without the advisory lock
    monkeypatch.setattr("gitmem.store.writing.Tries.__exit__", lambda self, *_: None)
    monkeypatch.setattr(Appender, "_publish", late)
    done = memory.sleep()
    memory.close()
    assert (raced, done.outcomes, done.ids) == ([2], [], [])
    assert [rule["rank"] for rule in cli("rules", "--all", "--json", cwd=repo).json["rules"]] == ["rule"]


def test_two_clones_that_sleep_on_the_same_events_write_the_same_bytes(make_repo, cli, git):
    """And after they met, there is one of each, and a sleep has nothing to do."""
    one, other = make_repo(), make_repo()
    a_rule(one)
    written(one, lesson(SAME, 9, commit=1), lesson(f"{SAME}!", 8, commit=1), lesson("Nobody used this one.", 300))
    git("remote", "add", "origin", one, cwd=other)
    assert cli("fetch", cwd=other).code == 0
    moment = ago(0)
    asleep = [cli("sleep", "--as-of", moment, "--json", cwd=repo).json for repo in (one, other)]
    assert asleep[0] == asleep[1]
    assert len(asleep[0]["outcomes"]) == 4
    assert tip(git, one) == tip(git, other)
    # apart, at other moments: the same things, found twice, count once
    for repo, core in ((one, "Pin the linter."), (other, "Ask before a force push.")):
        written(repo, lesson(core, 1), lesson(f"{core}!", 1))
        assert actions(cli("sleep", "--json", cwd=repo).json) == ["absorb", "digest"]
    assert cli("sync", cwd=other).code == 0
    assert actions(cli("sleep", "--json", cwd=other).json) == []
    assert cli("verify", cwd=other).code == 0


def test_a_rule_waits_for_a_person_and_only_a_person_ratifies_it(repo, cli, person):
    ids = a_rule(repo)
    person("sleep")
    queue = person("review", "--json").json
    (item,) = queue["items"]
    rule = item["rule"]["id"]
    assert (item["why"], item["event"]["id"], queue["waiting"]) == ("proposed", rule, 1)
    assert [one["id"] for one in item["rule"]["evidence"]] == ids
    assert person("status", "--json").json["review"]["waiting"] == 1
    drawn = cli("review", cwd=repo).stdout
    assert all(text in drawn for text in (*OTHERS, f"git decisions ratify {rule[:8]} -r WHY"))
    refused = cli("ratify", f"R-{rule[:8]}", "-r", "so", cwd=repo)
    assert refused.code == 14 and "only a person may ratify" in refused.stderr
    assert "“”" not in refused.stderr
    person("ratify", f"R-{rule[:8]}", "-r", "Seen it three times.")
    assert [(one["trust"], one["count"]) for one in person("rules", "--json").json["rules"]] == [("ratified", 3)]
    assert person("review", "--json").json["waiting"] == 0
    assert person("status", "--json").json["review"]["waiting"] == 0


def test_a_rule_is_decided_on_in_the_walk_through_the_queue(repo, cli, person):
    a_rule(repo)
    person("sleep")
    said = cli("review", cwd=repo, tty="all", input="r\nSeen it three times.\n")
    assert said.code == 0 and OTHERS[0] in said.stdout and "1 decision made, 0 still waiting" in said.stdout
    assert [one["trust"] for one in person("rules", "--json").json["rules"]] == ["ratified"]


def test_an_agents_dispute_of_a_rule_waits_and_a_persons_does_not(repo, cli, person):
    a_rule(repo)
    person("sleep")
    (rule,) = person("rules", "--json").json["rules"]
    assert cli("dispute", rule["id"], "-r", "Not so.", cwd=repo, env={"CLAUDECODE": "1"}).code == 0
    (item,) = person("review", "--json").json["items"]
    assert (item["why"], item["rule"]["trust"]) == ("disputed", "disputed")
    person("dispute", rule["id"], "-r", "Not so.")
    assert person("review", "--json").json["items"] == []
    assert [one["trust"] for one in person("rules", "--json").json["rules"]] == ["disputed"]


def test_a_component_sees_its_own_lessons_and_rules_and_those_above(repo, cli, person):
    (repo / ".decisions.toml").write_text('[components]\nbilling = "services/billing"\nshop = "services/shop"\n')
    for place in ("services/billing", "services/shop"):
        (repo / place).mkdir(parents=True)
    for n, core in enumerate(OTHERS, 1):
        written(repo, lesson(core, 3, commit=n, topic="retries", scope="services/billing"))
    written(repo, lesson(SAME, 3, commit=1))
    person("sleep")
    seen = {}
    for place in ("services/billing", "services/shop", "."):
        at = repo / place
        listed = [one["core"] for one in cli("lessons", "--json", cwd=at).json["lessons"]]
        waiting = person("review", "--json", cwd=at).json["waiting"]
        assert waiting == person("status", "--json", cwd=at).json["review"]["waiting"]
        seen[place] = (len(listed), len(cli("rules", "--json", cwd=at).json["rules"]), waiting)
    assert seen == {"services/billing": (4, 1, 1), "services/shop": (1, 0, 0), ".": (4, 1, 1)}
    shop = repo / "services/shop"
    assert len(cli("lessons", "--all-scopes", "--json", cwd=shop).json["lessons"]) == 4
    assert len(cli("rules", "--all-scopes", "--json", cwd=shop).json["rules"]) == 1


def test_all_that_waits_is_ratified_together_rules_among_it(repo, cli, person):
    a_rule(repo)
    person("sleep")
    cli("reject", "users.email", "-r", "so", "--approach", "in clear", cwd=repo)
    token = person("review", "--json").json["token"]
    person("review", "--ratify-all", token, "-r", "Read them all.")
    assert person("review", "--json").json["items"] == []
    assert [one["trust"] for one in person("rules", "--json").json["rules"]] == ["ratified"]


def test_a_retracted_or_undone_rule_waits_no_more_and_is_not_proposed_again(repo, cli, person):
    a_rule(repo)
    for words in (["retract"], ["undo"]):
        person("sleep")
        proposed = person("rules", "--json").json["rules"]
        if words == ["undo"]:
            assert proposed == []
            written(repo, lesson("Retries again.", 1, commit=9, topic="retries"))
            person("sleep")
            proposed = person("rules", "--json").json["rules"]
        (rule,) = proposed
        assert person("review", "--json").json["waiting"] == 1
        person(*words, rule["id"], "-r", "Not a rule.")
        assert person("review", "--json").json["waiting"] == 0
        assert actions(cli("sleep", "--json", cwd=repo).json) == []


def test_an_undo_is_the_inverse_and_of_an_undo_too(repo, cli, person):
    first, second = written(repo, lesson(SAME, 9, commit=1), lesson(f"{SAME}!", 8, commit=1))
    before = person("lessons", "--json").json["lessons"]
    absorbed = person("sleep", "--json").json["outcomes"][0]
    assert [one["id"] for one in person("lessons", "--json").json["lessons"]] == [first]
    undone = person("undo", absorbed["event"][:8], "-r", "Two things.", "--json").json["events"][0]
    assert (undone["was"], undone["becomes"]) == (absorbed["becomes"], absorbed["was"])
    left = person("lessons", "--json").json["lessons"]
    assert [one["id"] for one in left] == [one["id"] for one in before] == [second, first]
    assert person("sleep", "--json").json["outcomes"] == []
    person("undo", undone["id"][:8], "-r", "One thing after all.")
    assert [one["id"] for one in person("lessons", "--json").json["lessons"]] == [first]
    again = person("undo", undone["id"], "-r", "so", code=14)
    assert "is undone already, by" in again.stderr and "nothing was written" in again.stderr
    refused = person("undo", first, "-r", "so", code=14)
    assert "only what a sleep found, a gist, a use or an undo can be undone" in refused.stderr
    assert "nothing was written" in refused.stderr


def test_a_history_tells_each_change_with_before_and_after_and_ends_in_what_is(repo, cli, person):
    (a,) = written(repo, lesson(SAME, 400, commit=1, topic="tests"))
    written(
        repo,
        use(a, 390, 2),
        use(a, 380, 2),
        lesson("Once more: the fixture, the zone.", 370, commit=3, targets=[a]),
        {"kind": "gist", "targets": [a], "gist": "The fixture needs the time zone", "recorded_at": ago(360)},
        use(a, 20, 4),
        use(a, 10, 5),
    )
    written(repo, lesson(f"{SAME}!", 5, commit=6, topic="tests"))
    person("sleep")
    person("pin", a, "-r", "Keep it.")
    person("ratify", a, "-r", "So it is.")
    answer = person("history", f"L-{a[:8]}", "--json").json
    steps = [(one["what"], one["before"].get("uses"), one["after"].get("uses")) for one in answer["steps"]]
    assert [what for what, _, _ in steps] == [
        "stated", "use", "use, counted before", "recurrence", "gist", "touch", "revival", "takes in another",
        "evidence of a pattern", "pin", "ratify",
    ]  # fmt: skip
    assert steps[1] == ("use", 0, 1) and steps[3] == ("recurrence", 1, 2)
    by_what = {one["what"]: one for one in answer["steps"]}
    assert by_what["gist"]["before"] == {"gist": SAME}
    assert by_what["touch"]["after"] == {"touches": 1}
    revival = by_what["revival"]
    assert revival["before"]["band"] == "latent" and revival["after"]["band"] in ("cold", "near")
    assert revival["before"]["access"] < 62_500 <= revival["after"]["access"]
    assert by_what["pin"]["after"] == {"marks": ["pin"]}
    # ... and all steps, one on the other, are the state of the book
    memory = Memory.open(os.fspath(repo))
    cache, policy, now = memory.desk.cache(), memory.desk.lesson_policy(), ago(0)
    state: dict[str, object] = {}
    for step in replay(shelf.concerning(cache, [a]), a, policy, now):
        state |= step.after
    found = shelf.book(cache, policy, now).lessons[a].state()
    memory.close()
    fading = {"access", "group_access", "band"}  # they went on fading since the last step
    assert {name: state[name] for name in found if name not in fading} == {
        name: value for name, value in found.items() if name not in fading
    }
    drawn = person("history", a).stdout
    assert "uses: 0 -> 1" in drawn and "-> 48 days" in drawn


def test_the_history_of_a_rule_tells_its_evidence_coming_and_going(repo, person):
    ids = a_rule(repo)
    person("sleep")
    (rule,) = person("rules", "--json").json["rules"]
    person("ratify", rule["id"], "-r", "So it is.")
    written(repo, lesson("Retries, again.", 0, commit=4, topic="retries"))
    for one in ids[1:3]:
        person("retract", one, "-r", "Wrong.")
    person("sleep")
    steps = person("history", f"R-{rule['id'][:8]}", "--json").json["steps"]
    assert [one["what"] for one in steps] == [
        "promoted", "ratify", "more evidence", "retract of another", "retract of another", "fell",
    ]  # fmt: skip
    assert steps[2]["after"]["count"] == 4
    assert steps[4]["after"]["fallen"] is True
    assert person("rules", "--json").json["rules"] == []
    (fallen,) = person("rules", "--all", "--json").json["fallen"]
    assert (fallen["id"], fallen["count"]) == (rule["id"], 2)


def test_a_redacted_lesson_leaves_no_word_in_what_a_sleep_wrote(repo, cli, person, git):
    secret = "wombat"
    ids = written(
        repo,
        lesson(f"Retries hid the {secret}.", 9, commit=1, topic=f"{secret}s"),
        *(lesson(core, 8, commit=n, topic=f"{secret}s") for n, core in enumerate(OTHERS[1:], 2)),
    )
    person("sleep")
    (rule,) = person("rules", "--json").json["rules"]
    assert secret in rule["text"] and secret in json.dumps(person("history", rule["id"], "--json").json)
    for one in ids:
        person("redact", one, "-r", "It names a customer.")
    for words in (["rules", "--all"], ["lessons", "--band", "all"], ["history", ids[0]], ["history", rule["id"]],
                  ["review"], ["log", "--kind", "any", "--all"]):  # fmt: skip
        done = cli(*words, "--json", cwd=repo)
        assert done.code == 0 and secret not in done.stdout, words
    assert [one["count"] for one in cli("rules", "--all", "--json", cwd=repo).json["fallen"]] == [0]
    for line in git("cat-file", "--batch-all-objects", "--batch-check", cwd=repo).splitlines():
        assert secret not in git("cat-file", "-p", line.split()[0], cwd=repo)


def test_a_sealed_lesson_is_told_nowhere_and_its_sibling_is(repo, cli, person):
    ids = a_rule(repo)
    person("sleep")
    person("seal", ids[0], "-r", "Not for all.")
    for words in (["rules"], ["lessons"], ["review"], ["sleep", "--dry-run"]):
        for more in ([], ["--json"]):
            said = cli(*words, *more, cwd=repo).stdout
            assert OTHERS[0] not in said, words
            assert OTHERS[1] in said or words[0] == "sleep", words
    assert OTHERS[0] in cli("history", ids[0], cwd=repo).stdout
    person("unseal", ids[0], "-r", "For all.")
    assert OTHERS[0] in cli("rules", cwd=repo).stdout


def test_the_policy_is_this_clones_or_the_repositorys_or_as_it_is_asked(repo, cli, git):
    written(repo, lesson(SAME, 50))
    assert cli("lessons", "--json", cwd=repo).json["lessons"][0]["band"] == "cold"
    (repo / ".decisions.toml").write_text('[lessons]\npolicy = "austere"\n')
    assert cli("lessons", "--json", cwd=repo).json["counts"] == {"near": 0, "cold": 0, "latent": 1}
    assert actions(cli("sleep", "--dry-run", "--policy", "tender", "--json", cwd=repo).json) == []
    outcomes = cli("sleep", "--json", cwd=repo).json
    assert outcomes["policy"].startswith("austere/1 ")
    written_event = cli("show", outcomes["outcomes"][0]["event"], "--json", cwd=repo).json["event"]
    assert written_event["policy"] == outcomes["policy"]
    git("config", "decisions.lessonPolicy", "tender", cwd=repo)
    assert cli("lessons", "--json", cwd=repo).json["policy"].startswith("tender/1 ")
    refused = cli("sleep", "--policy", "tendr", cwd=repo)
    assert refused.code == 15 and "one of tender, austere" in refused.stderr and "nothing was written" in refused.stderr


def test_what_cannot_be_done_is_said_in_a_sentence(repo, cli, person, git):
    (a,) = written(repo, lesson(SAME, 5))
    before = tip(git, repo)
    for words, code, said in (
        (["sleep", "--as-of", "2090-01-01"], 15, "has not come yet"),
        (["sleep", "--as-of", "someday"], 2, "--as-of"),
        (["lessons", "--band", "nearish"], 2, "none of near, cold, latent, all"),
        (["history", "zzzz"], 12, "no event has the id"),
        (["undo", a], 2, "needs a reason"),
        (["undo", "abcdef12", "-r", "so"], 12, "no event has the id"),
    ):
        done = person(*words, code=code)
        assert said in done.stderr and "Traceback" not in done.stderr, words
    person("record", "users.email", "add", "-r", "so")
    change = person("log", "--json", "--kind", "change").json["events"][0]["id"]
    assert "no lesson and no rule: it is a change" in person("history", change, code=14).stderr
    assert tip(git, repo) != before


def test_lessons_are_listed_by_topic_and_by_place_their_repeats_among_them(repo, cli):
    a, b = written(
        repo,
        lesson(SAME, 2, commit=1, paths=["tests/conftest.py"], topic="Time zones"),
        lesson("Retries hid the error.", 2, commit=1, paths=["src/client.py::call"]),
    )
    written(repo, lesson("Once more.", 1, commit=2, targets=[a], paths=["tests/more/conftest.py"]))

    def listed(*words: str) -> list[str]:
        return [one["id"] for one in cli("lessons", *words, "--json", cwd=repo).json["lessons"]]

    assert listed("--topic", "time  ZONES") == listed("--path", "tests") == listed("--path", "tests/more") == [a]
    assert listed("--path", "src/client.py") == listed("--path", "src/client.py::call") == [b]
    assert listed("--path", "src/other.py") == listed("--topic", "zones") == []
    assert set(listed()) == {a, b} and len(listed("-n", "1")) == 1
    assert "and 1 more" in cli("lessons", "-n", "1", cwd=repo).stdout


def test_as_of_then_is_what_was_known_then(repo, cli):
    first, second = written(repo, lesson(SAME, 300, commit=1), lesson(f"{SAME}!", 10, commit=1))
    then = cli("sleep", "--dry-run", "--as-of", ago(100), "--json", cwd=repo).json
    assert [(one["action"], one["targets"]) for one in then["outcomes"][:-1]] == [("latent", [first])]
    assert actions(cli("sleep", "--as-of", ago(100), "--json", cwd=repo).json) == ["latent", "digest"]
    assert actions(cli("sleep", "--json", cwd=repo).json) == ["absorb", "digest"]
    assert cli("show", second, cwd=repo).code == 0


def test_people_read_it_in_their_language_and_on_a_narrow_pipe(repo, cli, shell):
    written(repo, lesson("再試行は本当のエラーを隠す。", 1, topic="再試行"), lesson("再試行は本当のエラーを隠す!", 1))
    assert "再試行は本当のエラーを隠す。" in cli("lessons", cwd=repo).stdout
    assert "1 lesson" in cli("sleep", cwd=repo).stdout
    assert [one["times"] for one in cli("lessons", "--topic", "再試行", "--json", cwd=repo).json["lessons"]] == [2]
    done = shell("git decisions lessons --band all | head -n 1; git decisions history $(git decisions log --json "
                 "| sed 's/.*\"id\": \"\\([0-9a-f]*\\)\".*/\\1/') | head -n 1", cwd=repo)  # fmt: skip
    assert done.code == 0 and "rror:" not in done.stdout, done.stdout


def test_a_principle_waits_for_a_person_as_well(repo, person):
    """Two rules of one direction, ratified; it speaks the words of the one with more behind it."""
    for topic, several in (
        ("retries", OTHERS),
        ("migrations", ("A migration locked the table.", *OTHERS[:2], OTHERS[2])),
    ):
        written(
            repo,
            *(lesson(f"{core} ({topic})", 3, commit=n, topic=topic, outcome=-40) for n, core in enumerate(several, 1)),
        )
    person("sleep")
    for rule in person("rules", "--json").json["rules"]:
        person("ratify", rule["id"], "-r", "So it is.")
    done = person("sleep", "--json").json["outcomes"]
    assert [one["action"] for one in done] == ["promote", "digest"]
    (item,) = person("review", "--json").json["items"]
    principle = item["rule"]
    assert (principle["rank"], principle["count"], principle["direction"]) == ("principle", 2, -1)
    assert principle["text"] == "A migration locked the table. (migrations)"
    assert {one["text"] for one in principle["evidence"]} == {principle["text"], f"{OTHERS[0]} (retries)"}
    person("ratify", f"R-{principle['id'][:8]}", "-r", "In general, too.")
    told = person("rules", "--json").json["rules"]
    assert [(one["rank"], one["trust"]) for one in told] == [("rule", "ratified")] * 2 + [("principle", "ratified")]
    person("retract", told[0]["id"], "-r", "Not any more.")
    assert [one["rank"] for one in person("rules", "--json").json["rules"]] == ["rule"]


def test_a_rule_waits_on_evidence_that_nobody_had_when_it_was_promoted(repo, person):
    ids = a_rule(repo)
    person("sleep")
    person("retract", ids[1], "-r", "Wrong.")
    assert person("review", "--json").json["waiting"] == 0
    written(repo, lesson("Retries, again.", 0, commit=9, topic="retries"))
    assert person("review", "--json").json["waiting"] == 1
    assert person("status", "--json").json["review"]["waiting"] == 1


def test_400_days_with_a_seal_and_three_sleeps_leave_a_lesson_as_it_was(repo, cli):
    """Its derived state, byte for byte, as the cache gives it; its twin has faded."""
    sealed, twin = written(
        repo,
        lesson("The fixture needs the time zone set.", 420, commit=1, severity=30),
        lesson("Retries hid the first error.", 420, commit=1, severity=30),
    )
    written(repo, use(sealed, 415, 2), use(twin, 415, 2))
    mark = {"kind": "mark", "targets": [sealed], "reason": "so"}
    start, end = ago(410), ago(10)
    (seal,) = written(repo, mark | {"action": "seal", "recorded_at": start, "after": [sealed]})
    for days in (300, 200, 100):
        assert cli("sleep", "--as-of", ago(days), cwd=repo).code == 0
        written(repo, use(sealed, days, 1000 + days))
    written(repo, mark | {"action": "unseal", "recorded_at": end, "after": [seal]})
    memory = Memory.open(os.fspath(repo))
    policy, cache = memory.desk.lesson_policy(), memory.desk.cache()
    before = shelf.book(cache, policy, start, is_past=True).lessons
    after = shelf.book(cache, policy, end).lessons
    memory.close()
    as_bytes = [json.dumps(one[sealed].state(), sort_keys=True) for one in (before, after)]
    assert as_bytes[0] == as_bytes[1]
    assert (before[twin].band, after[twin].band, after[twin].said) == ("near", "latent", {"tender": "latent"})
