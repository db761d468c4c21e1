"""A closed decision is never silently active again (promise 5): every way round that we know, through every writer.

A is rejected, B adopted instead, and then somebody brings A in again: under another name, in other letters, from a
child, another scope, another channel, after a rename, an import, a join, a redaction, an expunging, a rebuild, or
with rules that know less than ours. It is refused, or it waits, or it is contested; and right beside it stands what
people do every day, which is never refused. A file that moves between components is in `test_scope.py`.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import SCRIPTS

from gitmem.core import rules
from gitmem.core.drafts import Draft, Stamp, Writer
from gitmem.core.verdicts import judge
from gitmem.memory import Memory
from gitmem.store.writing import Appender

REF = "refs/decisions/log"
A, B = "keep the card token", "ask the provider's vault"
AGENT = {"CLAUDECODE": "1"}
WHY = ("-r", "Let us try once more.")


class World:
    """A repository in which A is rejected by a person and B is adopted."""

    def __init__(self, repo: Path, cli, git, rejected: str = "") -> None:
        self.repo, self.cli, self.git, self.rejected = repo, cli, git, rejected
        if not rejected:
            self.rejected = self.person("reject", "users.card", "--approach", A, "-r", "PCI DSS.")[0]["id"]
            self.person("record", "users.card", "add", "--approach", B, "-r", "Nothing is kept here.")

    def run(self, *args, tty=False, env=None, cwd=None, code=0):
        done = self.cli(*args, "--json", cwd=cwd or self.repo, tty=tty, env=env)
        assert done.code == code, (args, done.stdout, done.stderr)
        return done.json["events"] if code == 0 and "events" in done.json else done.json

    def person(self, *args, **how):
        return self.run(*args, tty=True, **how)

    def agent(self, *args, **how):
        return self.run(*args, env=AGENT, **how)

    def decisions(self, entity="users.card", *options):
        return self.cli("status", entity, *options, "--json", cwd=self.repo).json["decisions"]

    def is_closed(self, entity="users.card", approach=A, *options) -> None:
        """The rejected way stands rejected or contested, in what a read of it tells; the other way stands."""
        verdicts = {one["approach"].casefold(): one["verdict"] for one in self.decisions(entity, *options)}
        assert verdicts.get(approach.casefold()) in ("rejected", "contested"), verdicts
        everything = {one["approach"]: one["verdict"] for one in self.decisions("users.card")}
        assert everything.get(B) == "active", everything

    def refused(self, *args) -> None:
        """Everyone is refused, with the id of what stands; nothing is written."""
        before = self.git("rev-parse", REF, cwd=self.repo)
        for tty, env in ((False, AGENT), (False, {}), (False, {"CI": "1"}), (True, {})):
            done = self.cli(*args, *WHY, cwd=self.repo, tty=tty, env=env)
            assert done.code == 14 and self.rejected[:8] in done.stderr, (args, done)
            assert "nothing was written" in done.stderr
        assert self.git("rev-parse", REF, cwd=self.repo) == before


@pytest.fixture
def world(once, make_repo, cli, git) -> World:
    def make() -> tuple[Path, str]:
        world = World(make_repo(name="world"), cli, git)
        return world.repo, world.rejected

    repo, rejected = once("a rejected way", make)
    return World(repo, cli, git, rejected)


# --- in other words --------------------------------------------------------------------------

SAME = (
    A, "Keep the CARD token", "keep  the card\ttoken", "the card token: keep", "keep a card token",
    "kеер thе саrd tоkеn",
    "keep the card\u200b token", "ｋｅｅｐ the card token",
)  # fmt: skip
NAMES = ("users.card", "USERS.Card", " users.card ", "ｕｓｅｒｓ.card")
OTHER = (B, "do not keep the card token", "keep the card number", "カードのトークンを預ける", "カードの番号を預ける")


@pytest.mark.parametrize("approach", SAME, ids=range(len(SAME)))
def test_the_same_way_in_other_letters_is_the_same_way(approach, world):
    world.refused("record", "users.card", "add", "--approach", approach)
    world.is_closed()


@pytest.mark.parametrize("approach", OTHER, ids=range(len(OTHER)))
def test_another_way_is_free(approach, world):
    world.agent("record", "users.card", "modify", "--approach", approach, *WHY)
    assert {one["approach"]: one["verdict"] for one in world.decisions()}[approach] == "active"
    world.is_closed()


@pytest.mark.parametrize("change_type", ["add", "create", "modify", "index_add", "migrate"])
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_no_opening_and_no_spelling_of_the_name_gets_past(change_type, name, world):
    world.refused("record", name, change_type, "--approach", A)
    world.is_closed()


def test_opposite_ways_of_the_same_words_are_two(world):
    for one, other in (("move from redis to kafka", "move from kafka to redis"),):
        world.person("reject", "deps/queue", "--approach", one, "-r", "No.")
        world.agent("record", "deps/queue", "add", "--approach", other, *WHY)
        done = world.cli("record", "deps/queue", "add", "--approach", one, *WHY, cwd=world.repo)
        assert done.code == 14


# --- under other names -----------------------------------------------------------------------


def test_path_aliases_of_a_file_are_the_file(world):
    (world.repo / "src").mkdir()
    (world.repo / "src/pay.py").write_text("x = 1\n")
    world.rejected = world.person("reject", "src/pay.py", "--approach", A, "-r", "No.")[0]["id"]
    for name in ("./src//pay.py", "src/../src/pay.py", ":/src/pay.py", str(world.repo / "src/pay.py"), "SRC/Pay.py"):
        world.refused("record", name, "modify", "--approach", A)
    world.is_closed("src/pay.py")
    world.agent("record", "src/other.py", "add", "--approach", A, *WHY)


def test_a_rename_opens_nothing_under_the_old_the_new_or_a_third_name(world):
    world.agent("record", "users.pan", "rename", "--rename-from", "users.card", "-r", "Shorter.")
    world.agent("record", "accounts", "rename", "--rename-from", "users", "-r", "They are accounts.")
    for name in ("users.card", "users.pan", "accounts.pan", "accounts.card"):
        world.refused("record", name, "add", "--approach", A)
    world.is_closed("accounts.pan")
    # Away and back, and a name that an open thing has.
    world.agent("record", "users.card", "rename", "--rename-from", "users.pan", "-r", "Back.")
    world.refused("record", "users.pan", "add", "--approach", A)
    world.agent("record", "users.free", "add", "--approach", A, *WHY)
    assert world.cli("record", "users.card", "rename", "--rename-from", "users.free", *WHY, cwd=world.repo).code == 14


def test_a_child_of_what_is_closed_as_a_whole_is_closed_and_its_neighbour_is_not(world):
    world.rejected = world.person("reject", "audit", "--whole", "-r", "The provider audits.")[0]["id"]
    world.refused("record", "audit.note", "add")
    world.refused("record", "audit.note", "add", "--approach", "any")
    world.agent("record", "audits.note", "add", *WHY)
    assert [one["verdict"] for one in world.decisions("audit")] == ["rejected"]


def test_a_component_below_is_no_way_round(world):
    (world.repo / ".decisions.toml").write_text('[components]\nbilling = "billing"\n')
    (world.repo / "billing").mkdir()
    below = world.repo / "billing"
    for env in (AGENT, {}):
        done = world.cli("record", "users.card", "add", "--approach", A, *WHY, cwd=below, env=env)
        assert done.code == 14 and world.rejected[:8] in done.stderr
    done = world.cli("record", "users.card", "add", "--approach", A, "--scope", "billing", *WHY, cwd=below, tty=True)
    assert done.code == 14
    assert world.agent("record", "users.card", "add", "--approach", "its own", *WHY, cwd=below)


# --- by what agents may do -------------------------------------------------------------------


def test_what_an_agent_may_do_against_a_person_waits(world):
    (lift,) = world.agent("supersede", world.rejected, "-r", "The law changed.")
    (opened,) = world.agent("record", "users.card", "add", "--approach", A, *WHY)
    assert (lift["effect"], opened["effect"]) == ("pending", "pending")
    world.is_closed()
    (disputed,) = world.agent("dispute", world.rejected, "-r", "Is it so?")
    assert disputed["effect"] == "pending"
    world.is_closed()
    for action in ("retract", "ratify", "seal"):
        assert world.cli(action, world.rejected, *WHY, cwd=world.repo, env=AGENT).code == 14
    assert world.cli("record", "users.card", "add", "--approach", A, "--reopens", *WHY, cwd=world.repo).code in (0, 14)
    world.is_closed()
    # An ending and a new beginning are no way round either.
    world.agent("record", "users.card", "remove", *WHY)
    world.person("retract", lift["id"], "-r", "No.")
    world.refused("record", "users.card", "add", "--approach", A)


def test_a_persons_own_way_on_works_and_says_what_it_does(world):
    events = world.person("record", "users.card", "add", "--approach", A, "--reopens", "-r", "The vault is gone.")
    assert events[0]["supersedes"] == [world.rejected] and events[1]["verdict"] == "active"


# --- through other writers -------------------------------------------------------------------


def test_over_mcp_it_is_refused_with_the_reason_and_another_way_is_taken(world):
    def called(*calls):
        asked = [
            {"method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
             "clientInfo": {"name": "x", "version": "1"}}, "id": 0},
            {"method": "notifications/initialized"},
            *({"method": "tools/call", "params": {"name": "log_change", "arguments": one}, "id": at}
              for at, one in enumerate(calls, 1)),
        ]  # fmt: skip
        command, pipe = [SCRIPTS / "git-decisions", "mcp"], subprocess.PIPE
        answers = {}
        with subprocess.Popen(command, cwd=world.repo, stdin=pipe, stdout=pipe, text=True) as process:
            assert process.stdin is not None and process.stdout is not None
            for one in asked:
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **one}) + "\n")
                process.stdin.flush()
                while "id" in one and one["id"] not in answers:
                    answer = json.loads(process.stdout.readline())
                    answers[answer.get("id")] = answer
        return [answers[at]["result"] for at in range(1, len(calls) + 1)]

    said = {"entity_path": "users.card", "change_type": "add", "reasoning": "Let us try once more."}
    refused, taken = called({**said, "approach": A.upper()}, {**said, "approach": "another way"})
    assert refused.get("isError") and world.rejected[:8] in json.dumps(refused) and "PCI DSS" in json.dumps(refused)
    assert not taken.get("isError") and taken["structuredContent"]["verdict"] == "active"
    world.is_closed()


def test_an_import_brings_nothing_back_and_history_of_other_things_stands(world):
    repo, git = world.repo, world.git
    for name, text in (
        ("card", "ALTER TABLE users ADD COLUMN card text;\n"),
        ("mail", "CREATE TABLE mail (id int);\n"),
    ):
        (repo / f"{name}.sql").write_text(text)
        git("add", "-A", cwd=repo)
        git("commit", "-q", "-m", A if name == "card" else "Mails", cwd=repo)
        git("revert", "--no-edit", "HEAD", cwd=repo)
        git("revert", "--no-edit", "HEAD", cwd=repo)  # landed again
    assert world.run("import", "git")["appended"] > 0
    world.is_closed()
    world.refused("record", "users.card", "add", "--approach", A)
    assert "active" in {one["verdict"] for one in world.decisions("mail.sql")}


def test_a_stale_clones_addition_is_contested_after_a_join_and_never_active(world, make_repo):
    other, git = make_repo(), world.git
    world.cli("record", "users.card", "add", "--approach", A, "-r", "Knew nothing of it.", cwd=other, tty=True)
    for here, there in ((world.repo, other), (other, world.repo)):
        git("fetch", "--quiet", there, f"+{REF}:refs/fetched", cwd=here)
        memory = Memory.open(str(here))
        memory.join(git("rev-parse", "refs/fetched", cwd=here))
        memory.close()
    for repo in (world.repo, other):
        world.repo = repo
        verdicts = {one["approach"]: one["verdict"] for one in world.decisions()}
        assert (verdicts[A], verdicts[B]) == ("contested", "active")
        for tty in (False, True):
            assert world.cli("record", "users.card", "modify", "--approach", A, *WHY, cwd=repo, tty=tty).code == 14


def test_rules_that_know_less_than_ours_write_what_replay_makes_void(world):
    """An older gitmem, or somebody else's: it saw what stands and wrote all the same; or it names no reason at all."""
    memory = Memory.open(str(world.repo))
    for channel in ("agent", "human"):
        writer = Writer("Old <old@example.org>", channel, tool="git-decisions/0.0.1")

        def decide(cache, writer=writer):
            fields = {"entity_path": "users.card", "change_type": "add", "reasoning": "x", "approach": A}
            stamp = Stamp(cache.clock, "2026-11-30T12:00:00.000000Z", iter(["ab" * 16, "cd" * 16]))
            (event, _), *_ = rules.decide(judge([]), Draft("change", fields), writer, stamp).appends
            from gitmem.core import events

            return [events.build({**event.fields, "after": [world.rejected]})]

        entry = Appender(memory.desk.model, memory.desk.log).append(decide)
        assert entry is not None
        assert world.run("show", entry.events[0][0].id)["event"]["effect"] == "void"
        world.is_closed()
    memory.close()
    assert [item["why"] for item in world.run("review")["items"]] == ["void", "void"]


# --- after what takes texts out, and what builds anew ------------------------------------------


@pytest.mark.parametrize("how", ["redact", "hide the approach", "expunge", "rebuild", "seal", "mute"])
def test_what_takes_texts_away_takes_no_verdict_away(how, world):
    match how:
        case "redact":
            world.person("redact", world.rejected, "-r", "It quoted a customer.")
        case "hide the approach":
            anew = ("--approach", A, "--supersedes", world.rejected)
            new = world.person("reject", "users.card", *anew, "-r", "Not our tables.")[0]["id"]
            world.person("redact", world.rejected, "--hide-approach", "-r", "It was in it.")
            world.rejected = new
        case "expunge":
            world.person("expunge", "--before", "2999-01-01", "-r", "We keep nothing.")
        case "rebuild":
            world.run("rebuild")
        case mark:
            world.person(mark, world.rejected, "-r", "Out of sight.")
    world.refused("record", "users.card", "add", "--approach", A)
    for tty in (False, True):
        assert (
            world.cli("record", "users.card", "add", "--approach", "something else", *WHY, cwd=world.repo, tty=tty).code
            == 0
        )
    verdicts = {one["approach"]: one["verdict"] for one in world.decisions()}
    assert "active" not in [verdict for approach, verdict in verdicts.items() if approach not in (B, "something else")]


# --- what people do every day ----------------------------------------------------------------


def test_what_people_do_every_day_is_never_refused(world):
    """Adding, taking away and adding again, on branches too; another way; the same word for another thing."""
    repo, git = world.repo, world.git
    for branch in ("main", "side", "main", "other"):
        git("checkout", "-q", *(() if branch == "main" else ("-B",)), branch, cwd=repo)
        for name in ("users.phone", "src/api.py", "deps/stripe", "env/STRIPE_KEY", "api/v1/pay", "src/api.py::pay"):
            world.agent("record", name, "add", "-r", f"On {branch}.")
            world.agent("record", name, "modify", "-r", "Better.")
            world.agent("record", name, "remove", "-r", "Not on this branch.")
            world.agent("record", name, "add", "-r", "Again, on this one.")
    world.agent("record", "users.phone", "reject", "--approach", "store as integer", "-r", "Leading zeros.")
    world.agent("record", "users.phone", "modify", "--approach", "store as text", "-r", "With the plus sign.")
    world.agent("record", "users.phone_hash", "add", "--approach", "store as integer", "-r", "It is a number.")
    world.agent("record", "users.tel", "rename", "--rename-from", "users.phone", "-r", "Shorter.")
    verdicts = {one["approach"]: one["verdict"] for one in world.decisions("users.tel")}
    assert verdicts == {"": "active", "store as integer": "rejected", "store as text": "active"}
    world.is_closed()
