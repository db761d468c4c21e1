"""Reviews, marks and the queue through the installed command: who may, what becomes of it, and where it shows."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from gitmem.memory import Memory

AGENT = {"CLAUDECODE": "1"}
WHY = ("-r", "We looked at it together.")
OWN_TERMINAL = "run this in your own terminal"


@pytest.fixture
def agent(cli, repo):
    def run(*args, cwd=repo, code=0):
        outcome = cli(*args, cwd=cwd, env=AGENT)
        assert outcome.code == code, (args, outcome)
        return outcome

    return run


def written(outcome) -> str:
    """The id of the one event that a command with --json appended."""
    (event,) = outcome.json["events"]
    return event["id"]


def tip(git, repo: Path) -> str:
    return git("rev-parse", "refs/decisions/log", cwd=repo)


def verdicts(outcome) -> dict[str, str]:
    return {decision["approach"]: decision["verdict"] for decision in outcome.json["decisions"]}


# --- proposals -------------------------------------------------------------------------------


def test_what_an_agent_proposes_waits_and_a_person_ratifies_it(person, agent, cli, git, repo):
    added = written(person("record", "users.email", "add", "-r", "Login needs an address.", "--json"))
    rejected = written(agent("reject", "users.email", "--whole", "-r", "Phone numbers instead.", "--json"))
    assert verdicts(person("status", "users.email", "--json")) == {"": "active"}

    answer = person("review", "--json").json
    (item,) = answer["items"]
    assert (item["why"], item["event"]["id"], answer["waiting"]) == ("pending", rejected, 1)
    assert added[:8] in item["effect_reason"]
    assert [(one["before"], one["after"]) for one in item["if_ratified"]] == [("active", "rejected")]
    assert item["if_retracted"] == []
    assert f"git decisions ratify {rejected[:8]} -r WHY" in item["commands"]
    assert person("status", "--json").json["review"] == {"waiting": 1, "oldest": item["since"]}
    assert "1 thing for a person to decide, the oldest since" in person("status").stdout

    before = tip(git, repo)
    for refused in (agent, lambda *args, code: cli(*args, cwd=repo)):
        outcome = refused("ratify", rejected[:8], *WHY, code=14)
        assert outcome.code == 14 and OWN_TERMINAL in outcome.stderr
        error = json.loads(refused("ratify", rejected[:8], *WHY, "--json", code=14).stdout)["error"]
        assert (error["code"], error["written"]) == (14, False) and OWN_TERMINAL in error["hint"]
    assert tip(git, repo) == before

    person("ratify", rejected[:8], *WHY)
    assert verdicts(person("status", "users.email", "--json")) == {"": "rejected"}
    assert person("show", rejected, "--json").json["event"]["trust"] == "ratified"
    assert person("review", "--json").json["items"] == []
    assert "for a person to decide" not in person("status").stdout
    assert "nothing waits" in person("review").stdout


def test_a_proposed_closing_waits_until_somebody_looked_at_it(person, agent):
    for name, decide in (("ratify", "ratified"), ("dispute", "disputed"), ("retract", "retracted")):
        rejected = written(agent("reject", f"users.{name}", "--approach", "md5", "-r", "Too weak.", "--json"))
        (item,) = person("review", "--json").json["items"]
        assert (item["why"], item["event"]["id"]) == ("proposed", rejected)
        assert [(one["before"], one["after"]) for one in item["if_retracted"]] == [("rejected", None)]
        person(name, rejected, *WHY)
        assert person("show", rejected, "--json").json["event"]["trust"] == decide
        assert person("review", "--json").json["items"] == []
    assert verdicts(person("status", "users", "--json")) == {"md5": "rejected"}  # of two; the retracted one is gone
    assert [item["why"] for item in person("review", "--all", "--json").json["items"]] == ["other"]  # the disputed one


def test_an_agents_supersede_of_a_persons_rejection_waits_with_what_it_would_open(person, agent):
    rejected = written(person("reject", "users.card", "--approach", "own table", "-r", "PCI.", "--json"))
    lift = written(agent("supersede", rejected, "-r", "The law changed.", "--json"))
    agent("record", "users.card", "add", "--approach", "own table", "-r", "As the law has it now.")
    (item,) = person("review", "--json").json["items"]  # the opening waits for the supersede: one decision, not two
    assert (item["why"], item["event"]["id"]) == ("pending", lift)
    assert [(one["before"], one["after"]) for one in item["if_ratified"]] == [("rejected", "active")]
    assert verdicts(person("status", "users.card", "--json")) == {"own table": "rejected"}
    person("ratify", lift, *WHY)
    assert verdicts(person("status", "users.card", "--json")) == {"own table": "active"}
    person("retract", lift, *WHY)
    assert verdicts(person("status", "users.card", "--json")) == {"own table": "rejected"}
    person("ratify", lift, *WHY)
    assert verdicts(person("status", "users.card", "--json")) == {"own table": "active"}


def test_an_agent_takes_back_its_own_proposals_and_nobody_elses(person, agent, git, repo):
    own = written(agent("reject", "users.a", "--approach", "md5", "-r", "Too weak.", "--json"))
    persons = written(person("reject", "users.b", "--approach", "md5", "-r", "Too weak.", "--json"))
    before = tip(git, repo)
    for action in ("retract", "mute", "pin", "override"):
        outcome = agent(action, persons, *WHY, code=14)
        assert OWN_TERMINAL in outcome.stderr and persons[:8] in outcome.stderr
    assert tip(git, repo) == before
    for action in ("mute", "unmute", "pin", "unpin", "retract"):
        agent(action, own, *WHY)
    assert person("show", own, "--json").json["event"]["trust"] == "retracted"
    disputed = agent("dispute", persons, *WHY, "--json").json
    assert disputed["events"][0]["effect"] == "pending" and disputed["warnings"]
    assert person("show", persons, "--json").json["event"]["trust"] == "ratified"


# --- several at once -------------------------------------------------------------------------


def test_several_ids_become_one_event_for_each_lineage_in_one_commit_or_nothing(person, agent, git, repo):
    first = [
        written(agent("reject", "users.a", "--approach", way, "-r", "Too weak.", "--json")) for way in ("md5", "sha1")
    ]
    other = written(agent("reject", "users.b", "--approach", "md5", "-r", "Too weak.", "--json"))
    before = tip(git, repo)
    person("ratify", *first, other, "deadbeef", *WHY, code=12)
    assert tip(git, repo) == before

    planned = person("ratify", *first, other, *WHY, "--dry-run", "--json").json
    assert not planned["written"] and len(planned["events"]) == 2
    assert tip(git, repo) == before

    events = person("ratify", *first, other, *WHY, "--json").json["events"]
    assert sorted(sorted(event["targets"]) for event in events) == sorted([sorted(first), [other]])
    assert git("rev-list", "--count", f"{before}..refs/decisions/log", cwd=repo) == "1"
    assert len({event["clock"] for event in events}) == 2
    assert person("verify", "--json").json["sound"]


def test_a_list_is_ratified_by_its_token_and_a_stale_token_is_refused(person, agent, git, repo):
    ids = [written(agent("reject", f"users.{name}", "-r", "Not needed.", "--json")) for name in "abc"]
    token = person("review", "--json").json["token"]
    assert f"--ratify-all {token}" in person("review").stdout
    agent("record", "deps/redis", "add", "-r", "A cache.")  # the tip has moved
    before = tip(git, repo)
    assert "git decisions review" in person("review", "--ratify-all", token, *WHY, code=14).stderr
    assert tip(git, repo) == before

    token = person("review", "--json").json["token"]
    assert OWN_TERMINAL in agent("review", "--ratify-all", token, *WHY, code=14).stderr
    assert tip(git, repo) == before
    events = person("review", "--ratify-all", token, *WHY, "--json").json["events"]
    assert sorted(target for event in events for target in event["targets"]) == sorted(ids)
    assert person("review", "--json").json["items"] == []
    # The token of nothing is a token too, and ratifies nothing.
    empty = person("review", "--json").json["token"]
    person("review", "--ratify-all", empty, *WHY, code=14)


def test_a_component_sees_what_waits_in_it_and_not_what_waits_in_a_sibling(person, agent, cli, git, repo):
    (repo / ".decisions.toml").write_text('components = ["services/bill", "services/billing"]\n')
    ids = []
    for place in ("services/bill", "services/billing"):
        (repo / place).mkdir(parents=True)
        ids.append(written(agent("reject", "users.card", "-r", "Not needed.", "--json", cwd=repo / place)))
    for own, place in zip(ids, ("services/bill", "services/billing"), strict=True):
        answer = person("review", "--json", cwd=repo / place).json
        assert [item["event"]["id"] for item in answer["items"]] == [own]
        assert person("status", "--json", cwd=repo / place).json["review"]["waiting"] == 1
        both = person("review", "--all-scopes", "--json", cwd=repo / place).json
        assert [item["event"]["id"] for item in both["items"]] == ids
    assert person("status", "--json").json["review"]["waiting"] == 2
    # A token is of the list that it stood under: the sibling's list has another.
    token = person("review", "--json", cwd=repo / "services/bill").json["token"]
    person("review", "--ratify-all", token, *WHY, code=14, cwd=repo / "services/billing")
    person("review", "--ratify-all", token, *WHY, cwd=repo / "services/bill")
    assert [item["event"]["id"] for item in person("review", "--json").json["items"]] == ids[1:]


def test_a_reason_is_needed_and_an_empty_one_is_none(person, git, repo):
    rejected = written(person("reject", "users.a", "-r", "Not needed.", "--json"))
    before = tip(git, repo)
    for command in (("ratify", rejected), ("seal", rejected), ("override", rejected), ("review", "--ratify-all", "1")):
        person(*command, code=2)
    for command in (("retract", rejected), ("mute", rejected), ("resolve", "users.a", "--keep", rejected)):
        person(*command, "-r", " ", code=15 if command[0] != "resolve" else 14)
    person("resolve", "users.a", *WHY, code=2)
    assert tip(git, repo) == before
    person("mute", rejected, *WHY)
    assert tip(git, repo) != before


# --- contested -------------------------------------------------------------------------------


def join(git, here: Path, there: Path) -> str:
    """Bring the log of one clone into another."""
    git("fetch", "--quiet", there, "+refs/decisions/log:refs/fetched", cwd=here)
    memory = Memory.open(str(here))
    try:
        return memory.join(git("rev-parse", "refs/fetched", cwd=here))
    finally:
        memory.close()


@pytest.mark.parametrize("kept", ["closing", "opening"])
def test_what_two_clones_contest_is_settled_on_both_by_a_resolve_on_one(kept, person, agent, git, repo, make_repo):
    other = make_repo()
    closing = written(person("reject", "users.card", "--approach", "own table", "-r", "PCI.", "--json"))
    way = ("--approach", "Own  table")
    opening = written(person("record", "users.card", "add", *way, "-r", "Faster.", "--json", cwd=other))
    assert join(git, repo, other) == join(git, other, repo)
    for place in (repo, other):
        (decision,) = person("status", "users.card", "--json", cwd=place).json["decisions"]
        assert (decision["verdict"], decision["standing"], decision["against"]) == ("contested", closing, [opening])
        (item,) = person("review", "--json", cwd=place).json["items"]
        assert item["why"] == "contested" and set(item["if_kept"]) == {closing, opening}
        assert item["if_kept"][closing][0]["after"] == "rejected" and item["if_kept"][opening][0]["after"] == "active"
        assert [event["id"] for event in item["sides"]["closed"]] == [closing]
        assert f"git decisions resolve users.card --keep {opening[:8]} -r WHY" in item["commands"]
        assert person("status", "--json", cwd=place).json["review"]["waiting"] == 1

    elsewhere = written(person("reject", "users.other", "-r", "Not needed.", "--json"))
    before = tip(git, repo)
    said = person("resolve", "users.card", "--keep", elsewhere, *WHY, code=14).stderr
    assert closing[:8] in said and opening[:8] in said
    assert "nothing is contested" in person("resolve", "users.other", "--keep", elsewhere, *WHY, code=14).stderr
    keep = {"closing": closing, "opening": opening}[kept]
    assert OWN_TERMINAL in agent("resolve", "users.card", "--keep", keep, *WHY, code=14).stderr
    assert tip(git, repo) == before

    person("resolve", "USERS.card", "--keep", keep[:8], *WHY)
    assert join(git, other, repo) == join(git, repo, other)
    for place in (repo, other):
        expected = {"closing": "rejected", "opening": "active"}[kept]
        assert set(verdicts(person("status", "users.card", "--json", cwd=place)).values()) == {expected}
        assert [item["why"] for item in person("review", "--json", cwd=place).json["items"]] == []


def test_what_reviews_of_two_clones_contradict_waits_as_disputed(person, agent, git, repo, make_repo):
    other = make_repo()
    rejected = written(agent("reject", "users.card", "-r", "PCI.", "--json"))
    git("fetch", "--quiet", repo, "refs/decisions/log:refs/decisions/log", cwd=other)
    person("ratify", rejected, *WHY)
    person("retract", rejected, *WHY, cwd=other)
    join(git, repo, other)
    (item,) = person("review", "--json").json["items"]
    assert (item["why"], item["event"]["trust"]) == ("disputed", "disputed")
    assert item["if_ratified"][0]["trust_after"] == "ratified" and item["if_retracted"][0]["after"] is None
    person("ratify", rejected, *WHY)
    assert person("review", "--json").json["items"] == []


# --- one by one ------------------------------------------------------------------------------


def test_at_a_terminal_each_is_asked_about_and_needs_a_reason(person, agent, cli, repo):
    ids = [written(agent("reject", f"users.{name}", "-r", "Not needed.", "--json")) for name in "abcd"]
    typed = "r\nYes, we agreed.\nt\n\nt\nNobody agreed.\nx\nl\nq\n"
    outcome = cli("review", cwd=repo, tty="all", input=typed, env={"NO_COLOR": "1"})
    assert outcome.code == 0, outcome
    assert "4 things left to look at" in outcome.stdout and "a decision needs a reason" in outcome.stdout
    assert "2 decisions made, 2 still waiting" in outcome.stdout
    trusts = [person("show", one, "--json").json["event"]["trust"] for one in ids]
    assert trusts == ["ratified", "retracted", "proposed", "proposed"]
    reviews = person("show", ids[0], "--json").json["reviews"]
    assert [review["reason"] for review in reviews] == ["Yes, we agreed."]


def test_an_agent_on_a_terminal_gets_the_list_and_is_asked_nothing(agent, cli, git, repo):
    agent("reject", "users.a", "-r", "Not needed.")
    before = tip(git, repo)
    outcome = cli("review", cwd=repo, tty="all", input="r\nYes\n", env={**AGENT, "NO_COLOR": "1", "GIT_PAGER": "cat"})
    assert outcome.code == 0 and "git decisions ratify" in outcome.stdout and "why?" not in outcome.stdout
    assert tip(git, repo) == before


# --- marks: promise 6 ------------------------------------------------------------------------

#: What each surface is asked, and where in its JSON ids stand.
TEXT = "Card data in every backup, says the auditor zebra."
SIBLING = "Card data in every report, says the auditor zebra."
LINES = """def charge(card_number, cvv, amount):
    token = gateway.tokenize(card_number, cvv)
    database.store("card_tokens", token, expires=None)
    return gateway.charge(token, amount, currency="EUR")
"""


@pytest.fixture
def two(person, git, repo):
    """Two rejections that only their reason tells apart, on one commit: the ids of the one to hide, and its sibling."""
    person("init")
    (repo / "lines.txt").write_text(LINES)
    ids = []
    for name, why in (("users.card", TEXT), ("users.card_copy", SIBLING)):
        extra = ("--approach", f"table of {name}", "--diff", "lines.txt", "--changeset", "audit", "--json")
        ids.append(written(person("reject", name, "-r", why, *extra)))
    (repo / "readme").write_text("2\n")
    git("commit", "--quiet", "-am", "The commit of both", cwd=repo)
    return ids


def told(person, git, repo) -> dict[str, str]:
    """What each surface of recall and listing says, as text and as JSON together."""
    asked = {
        "log": ("log",),
        "log of the entity": ("log", "users"),
        "search": ("search", "auditor zebra"),
        "prior": ("prior", "users", "--all"),
        "prior by words": ("prior", "--about", "auditor zebra backup report"),
        "prior by content": ("prior", "--content", "lines.txt"),
        "blame": ("blame", "users.card"),
        "blame of the other": ("blame", "users.card_copy"),
        "changeset": ("changeset", "audit"),
    }
    said = {name: person(*args).stdout + person(*args, "--json").stdout for name, args in asked.items()}
    said["blame"] += said.pop("blame of the other")
    said["git log"] = git("log", "-1", cwd=repo)
    return said


def test_sealed_is_on_no_surface_its_sibling_is_and_unseal_restores_all_exactly(two, person, git, repo):
    hidden, _ = two
    before = told(person, git, repo)
    for surface, said in before.items():
        assert TEXT in said and SIBLING in said, surface
    standing = person("status", "users", "--json").json

    person("seal", hidden, *WHY)
    for surface, said in told(person, git, repo).items():
        assert TEXT not in said and hidden not in said and 'table of users.card"' not in said, surface
        assert SIBLING in said, surface
    # The verdict holds, and its text is kept back.
    (decision,) = person("status", "users.card", "--json").json["decisions"]
    assert (decision["verdict"], decision["sealed"], decision["approach"]) == ("rejected", True, "[sealed]")
    assert "sealed" in person("status", "users.card").stdout
    (other,) = person("status", "users.card_copy", "--json").json["decisions"]
    assert (other["sealed"], other["approach"]) == (False, "table of users.card_copy")
    # The guard counts it, and quotes the sibling's text alone.
    for name, text in (("users.card", "[sealed]"), ("users.card_copy", SIBLING)):
        add = ("record", name, "add", "--approach", f"table of {name}", "-r", "Again.")
        for refused in (person(*add, code=14), person(*add, "--json", code=14)):
            said = refused.stdout + refused.stderr
            assert text in said and (TEXT in said, hidden[:8] in said) == (False, name == "users.card")
    # It is found where it should be.
    assert TEXT in person("show", hidden).stdout and TEXT in person("log", "--all").stdout
    assert person("show", hidden, "--json").json["event"]["marks"] == ["seal"]
    assert "sealed" in person("log", "--all", "--oneline").stdout
    assert person("verify", "--json").json["sound"]

    person("unseal", hidden, *WHY)
    assert told(person, git, repo) == before
    assert person("status", "users", "--json").json == standing


def test_retracted_is_on_no_surface_its_sibling_is_and_a_ratify_brings_it_back(two, person, git, repo):
    hidden, _ = two
    before = told(person, git, repo)
    person("retract", hidden, *WHY)
    for surface, said in told(person, git, repo).items():
        assert TEXT not in said and hidden not in said, surface
        assert SIBLING in said, surface
    assert person("status", "users.card", "--json").json["decisions"] == []
    assert TEXT in person("show", hidden).stdout and TEXT in person("log", "--all").stdout
    person("ratify", hidden, *WHY)
    assert told(person, git, repo) == before


def test_muted_is_recalled_nowhere_its_verdict_is_told_and_unmute_restores_all_exactly(two, person, git, repo):
    hidden, sibling = two
    before = told(person, git, repo)
    standing = person("status", "users", "--json").json
    person("mute", hidden, *WHY)
    for surface, said in told(person, git, repo).items():
        assert TEXT not in said and hidden not in said, surface
        assert SIBLING in said, surface
    assert person("status", "users", "--json").json == standing  # text and all: a mute is no seal
    assert TEXT in person("log", "--all").stdout and TEXT in person("show", hidden).stdout
    person("unmute", hidden, *WHY)
    assert told(person, git, repo) == before
    person("mute", hidden, *WHY)
    person("pin", sibling, hidden, *WHY)  # another pair of marks: a pin takes no mute off
    assert person("show", hidden, "--json").json["event"]["marks"] == ["mute", "pin"]
    assert SIBLING in person("log").stdout and TEXT not in person("log").stdout


def test_a_sealed_attempt_is_told_by_its_end_and_a_sealed_end_does_not_leave_the_attempt_open(person):
    tried = written(person("record", "users.card", "add", "-r", "Fewer calls to the provider.", "--json"))
    ended = written(person("reject", "users.card", "--whole", "-r", "PCI.", "--json"))
    person("seal", tried, *WHY)
    (attempt,) = person("prior", "users.card", "--all", "--json").json["attempts"]
    assert (attempt["attempt"], attempt["closed_by"], attempt["tried_because"]) == (None, [ended], None)
    person("unseal", tried, *WHY)
    (attempt,) = person("prior", "users.card", "--all", "--json").json["attempts"]
    assert (attempt["attempt"], attempt["tried_because"]) == (tried, "Fewer calls to the provider.")
    person("seal", ended, *WHY)
    answer = person("prior", "users.card", "--all", "--json").json
    assert (answer["attempts"], answer["known"]) == ([], "nothing")


def test_a_seal_and_an_unseal_that_never_met_leave_it_shown(person, git, repo, make_repo):
    other = make_repo()
    rejected = written(person("reject", "users.card", "-r", TEXT, "--json"))
    git("fetch", "--quiet", repo, "refs/decisions/log:refs/decisions/log", cwd=other)
    person("seal", rejected, *WHY)
    assert TEXT not in person("log").stdout
    person("unseal", rejected, *WHY, cwd=other)
    join(git, repo, other)
    assert TEXT in person("log").stdout
    person("seal", rejected, *WHY)  # this one saw both
    assert TEXT not in person("log").stdout


def test_a_mark_with_an_end_ends_when_it_is_read_after_it(person):
    past, future = (written(person("reject", f"users.{name}", "-r", TEXT, "--json")) for name in "ab")
    person("mute", past, *WHY, "--until", "2020-01-01")
    person("seal", future, *WHY, "--until", "2999-01-01")
    assert [event["id"] for event in person("log", "--json").json["events"]] == [past]
    assert person("show", past, "--json").json["event"]["marks"] == []
    assert person("show", future, "--json").json["event"]["marks"] == ["seal"]


def test_the_guard_tells_a_sealed_closing_without_its_text_while_the_seal_holds(person):
    """In a refusal and in a warning; by `--until` the seal on the second is over."""
    over, held = (written(person("reject", f"users.{name}", "--whole", "-r", TEXT, "--json")) for name in "ab")
    person("seal", over, *WHY, "--until", "2020-01-01")
    person("seal", held, *WHY, "--until", "2999-01-01")
    for name, is_told in (("a", True), ("b", False)):
        below = person("record", f"users.{name}.part", "add", "-r", "Below it.", code=14).stderr
        again = person("reject", f"users.{name}", "--whole", "-r", "Still.").stderr
        for said in (below, again):
            assert (TEXT in said, "[sealed]" in said) == (is_told, not is_told)
    person("unseal", held, *WHY)
    assert TEXT in person("record", "users.b", "add", "-r", "Again.", code=14).stderr


def test_a_span_for_the_end_of_a_mark_is_from_now_on(person):
    hidden, shown = (written(person("reject", f"users.{name}", "-r", TEXT, "--json")) for name in "ab")
    person("mute", hidden, *WHY, "--until", "2d")
    person("mute", shown, *WHY, "--until", "yesterday")
    assert person("show", hidden, "--json").json["event"]["marks"] == ["mute"]
    assert [event["id"] for event in person("log", "--json").json["events"]] == [shown]


def test_ratifying_what_was_lifted_says_how_to_close_it_anew_and_that_works(person, repo):
    closed = written(person("reject", "users.card", "--approach", "own table", "-r", TEXT, "--json"))
    person("supersede", closed, *WHY)
    refused = person("ratify", closed, *WHY, code=14).stderr
    command = refused.partition("hint: `git decisions ")[2].partition("`")[0]
    assert command == "record users.card reject --approach 'own table' -r WHY"
    person(*shlex.split(command))
    (decision,) = person("status", "users.card", "--json").json["decisions"]
    assert (decision["verdict"], decision["approach"]) == ("rejected", "own table")


def test_a_supersede_by_entity_tells_what_stands_above_for_the_same_approach(person, repo):
    (repo / ".decisions.toml").write_text('[components]\napi = "api"\n')
    for scope in ("", "api"):
        person("reject", "users.email", "--approach", "use varchar", "--scope", scope, "-r", f"In {scope or 'all'}.")
    lifted = person("supersede", "users.email", "--scope", "api", *WHY).stderr
    assert "still closed: " in lifted and "In all." in lifted


def test_a_sealed_proposal_waits_without_its_text(person, agent):
    rejected = written(agent("reject", "users.card", "-r", TEXT, "--approach", "own table", "--json"))
    assert TEXT in person("review").stdout
    person("seal", rejected, *WHY)
    for said in (person("review").stdout, person("review", "--json").stdout):
        assert rejected[:8] in said and TEXT not in said and "own table" not in said
    person("unseal", rejected, *WHY)
    assert TEXT in person("review").stdout


def test_the_cache_that_was_caught_up_knows_what_a_new_one_knows(two, person, agent):
    hidden, sibling = two
    agent("reject", "users.other", "-r", "Not needed.")
    person("seal", hidden, *WHY)
    person("dispute", sibling, *WHY)
    asked = (("log", "--all", "--json"), ("review", "--all", "--json"), ("status", "users", "--json"))
    before = [person(*args).stdout for args in asked]
    person("rebuild")
    assert [person(*args).stdout for args in asked] == before


# --- overrides -------------------------------------------------------------------------------


def test_an_override_names_its_session_and_the_closing_goes_on_standing(person, agent):
    rejected = written(person("reject", "users.card", "-r", "PCI.", "--json"))
    assert OWN_TERMINAL in agent("override", rejected, *WHY, code=14).stderr
    outcome = person("override", rejected[:8], *WHY, "--session", "s-1", "--json")
    (event,) = outcome.json["events"]
    assert (event["kind"], event["targets"]) == ("override", [rejected])
    assert "names no session" in person("override", rejected, *WHY).stderr
    assert verdicts(person("status", "users.card", "--json")) == {"": "rejected"}
    marks = person("show", rejected, "--json").json["marks"]
    assert [mark["kind"] for mark in marks] == ["override", "override"]


def test_at_a_terminal_a_person_is_told_how_much_waits_where_they_look_anyway(person, agent, cli, repo):
    agent("reject", "users.a", "--approach", "md5", "-r", "Too weak.")
    line = "1 thing for a person to decide, the oldest since "
    env = {"NO_COLOR": "1", "GIT_PAGER": "sed -e 's/^/|/'"}
    for asked in (("log",), ("prior", "users.a"), ("status",)):
        said = cli(*asked, cwd=repo, tty="all", env=env).stdout
        assert line in said, asked
        last = said.rstrip().splitlines()[-1]
        if asked[0] != "status":
            assert last.startswith(line) and last.endswith("git decisions review")  # after the pager, and not in it
    for how in ({"tty": True}, {"tty": "all", "env": env | AGENT}, {}):
        assert line not in cli("log", cwd=repo, **how).stdout  # nobody is there, or no person
    assert line not in cli("log", "--json", cwd=repo, tty=True).stdout
    person("review", "--ratify-all", person("review", "--json").json["token"], *WHY)
    assert line not in cli("log", cwd=repo, tty="all", env=env).stdout
