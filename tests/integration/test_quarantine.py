"""A file of the log that is no event: left out, named, and an error of `verify` until a person accepts it (F31)."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.memory import Memory

REF = "refs/decisions/log"
NAME = "ab" * 32
WHY = ("-r", "A broken tool wrote it; the file tells nothing.")


def planted(git, repo: Path, name: str = NAME) -> None:
    """Append a commit whose one file is no event, as another program could."""
    blob = git("hash-object", "-w", "--stdin", cwd=repo, input="no event")
    tree = git("mktree", cwd=repo, input=f"100644 blob {blob}\t{name}.json\n")
    who = "A <a@example.org> 1700000000 +0000"
    raw = f"tree {tree}\nparent {git('rev-parse', REF, cwd=repo)}\nauthor {who}\ncommitter {who}\n\nodd\n"
    git("update-ref", REF, git("hash-object", "-t", "commit", "-w", "--stdin", cwd=repo, input=raw), cwd=repo)


@pytest.fixture
def repo(make_repo, cli, git) -> Path:
    repo: Path = make_repo()
    assert cli("reject", "users.card", "-r", "PCI.", cwd=repo, tty=True).code == 0
    planted(git, repo)
    return repo


def found(cli, repo: Path, *options: str) -> tuple[int, list[tuple[str, str, str | None]]]:
    done = cli("verify", "--json", *options, cwd=repo)
    findings = done.json["findings"]
    return done.code, [(one["rule"], one["severity"], one["accepted_by"]) for one in findings]


BAD = (1, [("event-malformed", "error", None)])


def accepted(outcome) -> str:
    (event,) = outcome.json["events"]
    assert event["targets"] == [NAME] and event["effect"] == "applied"
    return str(event["id"])


def test_a_person_accepts_it_verify_is_sound_again_and_every_clone_agrees(person, cli, git, repo, make_repo):
    assert found(cli, repo) == BAD
    assert "1 event can't be read" in person("log").stderr
    (item,) = person("review", "--json").json["items"]
    assert item["why"] == "quarantined" and f"git decisions ratify {NAME[:8]} -r WHY" in item["commands"]
    assert "1 thing for a person to decide" in person("status").stdout
    standing = person("status", "users.card", "--json").json["decisions"]
    before = git("rev-parse", REF, cwd=repo)
    for env in ({"CLAUDECODE": "1"}, {}):
        refused = cli("ratify", NAME[:8], *WHY, cwd=repo, env=env)
        assert refused.code == 14 and NAME[:8] in refused.stderr and "own terminal" in refused.stderr
    for action in ("dispute", "retract", "seal"):  # it is no event that these could say anything of
        assert cli(action, NAME[:8], *WHY, cwd=repo, tty=True).code == 20
    assert git("rev-parse", REF, cwd=repo) == before

    review = accepted(person("ratify", NAME[:8], *WHY, "--json"))
    sound = (0, [("event-malformed", "warning", review)])
    assert found(cli, repo) == sound
    assert f"accepted by {review[:8]}" in cli("verify", cwd=repo).stdout
    assert "can't be read" not in person("log").stderr
    assert person("review", "--json").json["items"] == []
    assert person("status", "--json").json["quarantined"] == 0
    assert person("status", "users.card", "--json").json["decisions"] == standing
    person("rebuild")
    assert person("review", "--json").json["items"] == [] and found(cli, repo) == sound
    other = make_repo()
    git("fetch", "--quiet", repo, f"{REF}:{REF}", cwd=other)
    assert found(cli, other) == sound and "can't be read" not in cli("log", cwd=other).stderr
    # From a checkpoint in between, nothing is missing either.
    assert found(cli, repo, "--since", before) == (0, [])


def test_accepting_can_be_taken_back_and_done_anew(person, cli, git, repo, make_repo):
    review = accepted(person("ratify", NAME, *WHY, "--json"))
    person("retract", review, "-r", "It was no broken tool.")
    assert found(cli, repo) == BAD
    assert [item["why"] for item in person("review", "--json").json["items"]] == ["quarantined"]
    other = make_repo()
    git("fetch", "--quiet", repo, f"{REF}:{REF}", cwd=other)
    assert found(cli, other) == BAD  # from a log read in one go, too
    again = accepted(person("ratify", NAME, *WHY, "--json"))
    assert found(cli, repo) == (0, [("event-malformed", "warning", again)])


def test_one_accepts_two_clones_join_and_both_are_sound(person, cli, git, repo, make_repo):
    other = make_repo()
    git("fetch", "--quiet", repo, f"{REF}:{REF}", cwd=other)
    assert cli("record", "users.email", "add", "-r", "Login.", cwd=other, tty=True).code == 0
    review = accepted(person("ratify", NAME, *WHY, "--json"))
    tips = []
    for here, there in ((repo, other), (other, repo)):
        git("fetch", "--quiet", there, f"+{REF}:refs/fetched", cwd=here)
        memory = Memory.open(str(here))
        tips.append(memory.join(git("rev-parse", "refs/fetched", cwd=here)))
        memory.close()
        assert found(cli, here) == (0, [("event-malformed", "warning", review)])
    assert tips[0] == tips[1]


def test_what_was_accepted_can_still_be_taken_out_and_its_sibling_stays_an_error(person, cli, git, repo):
    planted(git, repo, "cd" * 32)
    review = accepted(person("ratify", NAME, *WHY, "--json"))
    assert found(cli, repo) == (1, [("event-malformed", "warning", review), ("event-malformed", "error", None)])
    assert "1 event can't be read" in person("log").stderr
    person("redact", "cdcd", "-r", "Nobody knows what it is.")
    assert found(cli, repo) == (0, [("event-malformed", "warning", review)])
    person("redact", NAME, "-r", "Nor this.")
    assert found(cli, repo) == (0, [])


def test_what_only_a_writer_without_the_guard_accepts_stays_an_error(cli, git, repo):
    from gitmem.core import rules
    from gitmem.core.drafts import Draft, Stamp, Writer
    from gitmem.core.verdicts import judge
    from gitmem.store.writing import Appender

    memory = Memory.open(str(repo))

    def forged(channel):
        def decide(cache):
            draft = Draft("review", {"action": "ratify", "targets": [NAME], "reason": "So I say."})
            stamp = Stamp(cache.clock, "2026-11-30T12:00:00.000000Z", iter(["ef" * 16]))
            writer = Writer("A <a@example.org>", "human", tool="another")
            (event, _), *_ = rules.decide(judge([]), draft, writer, stamp, quarantined=[NAME]).appends
            from gitmem.core import events

            return [events.build({**event.fields, "channel": channel, "basis": "none"})]

        Appender(memory.desk.model, memory.desk.log).append(decide)

    forged("agent")
    assert found(cli, repo) == BAD
    memory.close()
