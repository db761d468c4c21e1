"""Scope: each component sees its own decisions, those above it and those below it, and never a sibling's."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path

import pytest

COMPONENTS = """
[components]
billing = "services/billing"
bill = "services/bill"
"""
WORDS = ("-r", "Tokens must not be kept here.", "--approach", "keep tokens")


@pytest.fixture
def shop(make_repo, git):
    """A repository with two components whose paths share a prefix; their policy is committed."""

    def make(kind="plain"):
        repo = make_repo(kind)
        for place in ("services/billing/src", "services/bill/src", "docs"):
            (repo / place).mkdir(parents=True)
            (repo / place / "code.py").write_text("x = 1\n")
        (repo / ".decisions.toml").write_text(COMPONENTS)
        git("add", ".", cwd=repo)
        git("commit", "-q", "-m", "layout", cwd=repo)
        return repo

    return make


@pytest.fixture
def record(cli):
    def record(cwd, *words, tty=False):
        done = cli(*words, "--json", cwd=cwd, tty=tty)
        assert done.code == 0, done.stderr
        return done.json["events"][-1]

    return record


SURFACES = (
    ("log",),
    ("log", "users.token"),
    ("search", "tokens"),
    ("status",),
    ("status", "users.token"),
    ("prior", "users.token"),
    ("prior", "--about", "keep tokens"),
    ("prior", "--content", "-"),
    ("blame", "users.token"),
    ("changeset",),
    ("changeset", "set"),
    ("stale",),
    ("stale", "users.token"),
)
LINES = "".join(f"token_{number} = keep(card_{number}, forever=True)\n" for number in range(8))


def _seen(cli, cwd, words, *more):
    done = cli(*words, *more, "--json", cwd=cwd, input=LINES)
    assert done.code == 0, (words, done.stderr)
    return done.stdout


def test_identical_text_in_two_components_is_seen_in_its_own_and_not_in_its_sibling(shop, cli, tmp_path):
    repo = shop()
    (tmp_path / "lines").write_text(LINES)
    billing, bill = repo / "services/billing/src", repo / "services/bill/src"
    ids = {}
    for place, name in ((billing, "in-billing"), (bill, "in-bill"), (repo, "in-all")):
        done = cli(
            "reject", "users.token", *WORDS, "--instead", name, "--changeset", "set" if place != repo else "all",
            "--revisit-after", "2020-01-01", "--diff", tmp_path / "lines", "--json", cwd=place,
        )  # fmt: skip
        assert done.code == 0, done.stderr
        ids[name] = done.json["events"][0]["id"]
    for words in SURFACES:
        here = _seen(cli, billing, words)
        there = _seen(cli, bill, words)
        whole = _seen(cli, repo, words)
        typed = _seen(cli, bill, words, "--all-scopes")
        if words == ("changeset",):  # names no event; each sees its own set once
            for said in (here, there):
                assert {one["id"]: one["events"] for one in json.loads(said)["changesets"]} == {"set": 1, "all": 1}
            assert {one["id"]: one["events"] for one in json.loads(typed)["changesets"]} == {"set": 2, "all": 1}
            continue
        if words[0] == "blame":
            assert ids["in-billing"] in here or ids["in-all"] in here
            assert ids["in-bill"] in there or ids["in-all"] in there
            assert ids["in-bill"] not in here and ids["in-billing"] not in there
            continue
        assert ids["in-billing"] in here and ids["in-bill"] not in here, words
        assert ids["in-bill"] in there and ids["in-billing"] not in there, words
        for one in ("in-billing", "in-bill"):
            assert ids[one] in whole and ids[one] in typed, words
        if words[-1] != "set":
            assert ids["in-all"] in here and ids["in-all"] in there, words


def test_a_shared_prefix_is_no_component_and_other_spellings_lead_out_of_none(shop, record, cli):
    repo = shop()
    reject = record(repo, "reject", "services/billing/src/code.py", *WORDS)
    assert reject["scope"] == "services/billing"
    bill, billing = repo / "services/bill", repo / "services/billing"
    absent = cli("prior", ":/services/billing/src/code.py", "--json", cwd=bill).json
    present = cli("prior", "src/code.py", "--json", cwd=billing).json
    assert (absent["known"], present["known"]) == ("nothing", "yes")
    again = ("-r", "Let us try.", "--approach", "keep tokens")
    for spelling in ("services/billing/src/code.py", "Services/Billing/src/code.py", "./services//billing/src/code.py"):
        done = cli("record", spelling, "add", *again, cwd=repo)
        assert done.code == 14 and reject["id"][:8] in done.stderr, spelling
    # The same words about the sibling's own file are its own matter.
    assert record(repo, "record", "services/bill/src/code.py", "add", *again)["scope"] == "services/bill"
    assert record(repo, "record", "services/billing2/code.py", "add", *again)["scope"] == ""


def test_the_guard_refuses_for_its_own_scope_and_those_above_and_lets_a_sibling_be(shop, record, cli):
    repo = shop()
    billing, bill = repo / "services/billing", repo / "services/bill"
    own = record(billing, "reject", "users.token", *WORDS)
    above = record(repo, "reject", "users.pin", *WORDS)
    again = ("add", "-r", "Let us try.", "--approach", "keep tokens")
    assert own["id"][:8] in cli("record", "users.token", *again, cwd=billing / "src").stderr
    assert cli("record", "users.token", *again, cwd=billing / "src").code == 14
    assert (
        cli("record", "users.pin", *again, cwd=billing).code == 14 == cli("record", "users.pin", *again, cwd=bill).code
    )
    assert record(bill, "record", "users.token", *again)["scope"] == "services/bill"
    assert above["scope"] == ""


def test_a_scope_is_typed_where_one_stands_in_it_or_by_a_person(shop, record, cli):
    repo = shop()
    billing = repo / "services/billing/src"
    words = ("record", "users.email", "add", "-r", "Login.", "--scope")
    assert record(billing, *words, "billing")["scope"] == "services/billing"
    assert record(billing, *words, "services/billing")["scope"] == "services/billing"
    before = cli("log", "--json", cwd=repo).stdout
    for scope in ("bill", "services/bill", ".", ""):
        done = cli(*words, scope, cwd=billing)
        assert done.code == 14 and "nothing was written" in done.stderr, scope
    done = cli(*words, "biling", cwd=billing, tty=True)
    assert done.code == 14 and "did you mean `billing`" in done.stderr
    # A file stays in its own component, wherever an agent stands.
    taken = ("record", ":/services/bill/src/code.py", "add", "-r", "Mine.", "--scope", "billing")
    assert cli(*taken, cwd=billing).code == 14
    assert cli("log", "--json", cwd=repo).stdout == before
    assert record(billing, *words, "bill", tty=True)["scope"] == "services/bill"
    assert record(billing, *words, ".", tty=True)["scope"] == ""


def test_a_supersede_by_id_is_about_the_component_of_what_it_names(shop, record, cli):
    repo = shop()
    reject = record(repo / "services/billing", "reject", "users.token", *WORDS)
    lifted = record(repo, "supersede", reject["id"], "-r", "The vault is gone.")
    assert lifted["scope"] == "services/billing"
    status = cli("status", "users.token", "--json", cwd=repo / "services/billing").json["decisions"]
    assert [one["verdict"] for one in status] == ["reopened"]


def test_a_worktree_is_the_same_log_seen_from_its_own_directory_and_branch(shop, record, cli, git, tmp_path):
    repo = shop()
    git("worktree", "add", "-q", "-b", "side", tmp_path / "side", cwd=repo)
    side = tmp_path / "side"
    own = record(side / "services/billing", "reject", "users.token", *WORDS)
    assert own["scope"] == "services/billing"
    for place, there in (
        (repo, True),
        (repo / "services/billing", True),
        (repo / "services/bill", False),
        (side / "services/bill", False),
        (side / "services/billing/src", True),
    ):
        assert (own["id"] in _seen(cli, place, ("log",))) == there, place
    # On a branch whose policy has no components, there are none.
    (side / ".decisions.toml").write_text("")
    assert own["id"] in _seen(cli, side / "services/bill", ("log",))
    assert own["id"] not in _seen(cli, repo / "services/bill", ("log",))


def test_a_submodule_is_a_repository_of_its_own_and_so_is_its_log(make_repo, record, cli):
    inner = make_repo("submodule", name="vendored")
    outer = inner.parent
    (outer / ".decisions.toml").write_text('[components]\nvendored = "vendored"\n')
    ours = record(outer, "reject", "users.token", *WORDS)
    theirs = record(inner, "reject", "users.token", *WORDS)
    assert theirs["scope"] == ""  # the policy of the repository around it says nothing here
    assert ours["id"] in _seen(cli, outer, ("log",)) and theirs["id"] not in _seen(cli, outer, ("log",))
    assert theirs["id"] in _seen(cli, inner, ("log",)) and ours["id"] not in _seen(cli, inner, ("log",))


def test_a_bare_repository_reads_the_policy_of_its_head(shop, record, cli, git, tmp_path):
    repo = shop()
    git("clone", "-q", "--bare", repo, tmp_path / "bare.git", cwd=tmp_path)
    bare = tmp_path / "bare.git"
    event = record(bare, "record", "services/billing/src/code.py", "modify", "-r", "From the server.")
    assert event["scope"] == "services/billing"


def _policies(git, repo):
    found = []
    for name in git("log", "--format=", "--name-only", "refs/decisions/log", cwd=repo).split():
        commit = git("log", "--format=%H", "-1", "refs/decisions/log", "--", name, cwd=repo)
        found.append(json.loads(git("show", f"{commit}:{name}", cwd=repo)).get("policy"))
    return found


def test_each_event_bears_the_digest_of_the_policy_that_it_was_written_under(shop, record, git, make_repo):
    repo = shop()
    record(repo, "record", "users.email", "add", "-r", "Login.")
    text = json.dumps(tomllib.loads(COMPONENTS), sort_keys=True, separators=(",", ":"))
    assert _policies(git, repo) == [hashlib.sha256(text.encode()).hexdigest()]
    bare = make_repo()
    record(bare, "record", "users.email", "add", "-r", "Login.")
    assert _policies(git, bare) == [None]


def test_a_policy_that_cannot_be_followed_stops_reads_and_writes_and_says_where(shop, cli, record):
    repo = shop()
    record(repo, "record", "users.email", "add", "-r", "Login.")
    before = cli("log", "--json", "--kind", "any", cwd=repo).stdout
    for text, said in (
        ("[component]\n", "did you mean `components`?"),
        ("[components]\na = 3\n", "components.a"),
        ("[components\n", "is no TOML"),
        ("[watch]\npath = []\n", "did you mean `paths`?"),
    ):
        (repo / ".decisions.toml").write_text(text)
        for words in (("log",), ("status",), ("record", "a.b", "add", "-r", "x")):
            done = cli(*words, cwd=repo)
            assert done.code == 15 and ".decisions.toml" in done.stderr and said in done.stderr, done.stderr
    (repo / ".decisions.toml").unlink()
    assert cli("log", "--json", "--kind", "any", cwd=repo).stdout == before


def test_imported_history_lies_in_the_components_of_its_files(shop, cli, git):
    repo: Path = shop()
    path = repo / "services/billing/src/code.py"
    path.write_text("x = 1\ntoken = keep(card)\nvault = None\n")
    git("commit", "-q", "-am", "Keep card tokens", cwd=repo)
    git("revert", "--no-edit", "HEAD", cwd=repo)
    done = cli("import", "git", "--json", cwd=repo)
    assert done.code == 0 and done.json["appended"] > 0, done.stderr
    events = cli("log", "--json", "--path", "services/billing/src/code.py", cwd=repo).json["events"]
    assert events and {event["scope"] for event in events} == {"services/billing"}
    assert cli("log", "--json", cwd=repo / "services/bill").json["events"] == []
    assert cli("import", "git", "--json", cwd=repo).json["appended"] == 0


def test_what_is_said_of_a_components_decisions_is_its_own_too(shop, record, cli):
    repo = shop()
    billing, bill = repo / "services/billing", repo / "services/bill"
    reject = record(billing, "reject", "users.token", *WORDS, tty=True)
    reviewed = record(repo, "dispute", reject["id"], "-r", "Confidential: the auditors said so.", tty=True)
    marked = record(repo, "pin", reject["id"], "-r", "Confidential: for the audit.", tty=True)
    words = ("log", "--kind", "any", "--all")
    for event in (reviewed, marked):
        assert event["scope"] == "services/billing"
        assert event["id"] in _seen(cli, billing, words)
        assert event["id"] in _seen(cli, repo, words)
    there = _seen(cli, bill, words)
    assert "Confidential" not in there and "Confidential" in _seen(cli, bill, words, "--all-scopes")


# --- a file that moves -----------------------------------------------------------------------


@pytest.fixture
def moved(shop, record, cli, git):
    """(repository, id): a rejection of one way to do a file of billing, and the file moved to bill by git."""
    repo = shop()
    closed = record(repo, "reject", "services/billing/src/code.py", *WORDS, tty=True)
    assert closed["scope"] == "services/billing"
    # A plain move of a clean file, recorded for the commit that makes it: the link carries what git saw.
    git("mv", "services/billing/src/code.py", "services/bill/src/moved.py", cwd=repo)
    record(repo, "record", "services/bill/src/moved.py", "create", "-r", "It belongs to bill.", "--approach", "move it")
    git("commit", "-q", "-m", "move", cwd=repo)
    assert cli("link", "--scan", cwd=repo).code == 0
    return repo, closed["id"]


AGAIN = ("add", "-r", "Let us try.", "--approach", "keep tokens")


@pytest.mark.parametrize("name", ["services/bill/src/moved.py", "services/bill/src/moved.py::Vault.keep"])
def test_a_rejection_goes_with_its_file_into_another_component(name, moved, record, cli):
    repo, closed = moved
    bill = repo / "services/bill"
    if "::" in name:  # the file as a whole, so that what is in it is closed too
        assert cli("record", f":/{name}", *AGAIN, cwd=bill).code == 0  # it was one way to do the file
        closed = record(repo, "reject", ":/services/billing/src/code.py", "--whole", "-r", "All of it.", tty=True)["id"]
    refused = cli("record", f":/{name}", *AGAIN, cwd=bill)
    assert refused.code == 14 and closed[:8] in refused.stderr and "in scope services/billing" in refused.stderr
    assert f"git decisions supersede {closed[:8]}" in refused.stderr
    for tty in (False, True):  # neither an agent's add nor a person's, and no supersede by the new name alone
        assert cli("record", f":/{name}", *AGAIN, cwd=bill, tty=tty).code == 14
        unlifted = cli("supersede", f":/{name}", "-r", "It is ours now.", cwd=bill, tty=tty)
        assert unlifted.code == 14 and closed[:8] in unlifted.stderr
    # Another way is free, and so is a file of bill's own.
    assert record(bill, "record", ":/services/bill/src/code.py", *AGAIN)["scope"] == "services/bill"
    if "::" not in name:
        record(bill, "record", f":/{name}", "add", "-r", "Another way.", "--approach", "ask the vault")
    record(bill, "supersede", closed, "-r", "The vault is gone.", tty=True)
    record(bill, "record", f":/{name}", *AGAIN)


def test_what_closes_a_moved_file_is_told_before_it_is_edited(moved, cli):
    repo, closed = moved
    bill, billing = repo / "services/bill", repo / "services/billing"
    told = cli("prior", "src/moved.py", "--json", cwd=bill).json
    assert told["known"] == "yes" and closed in json.dumps(told)
    decisions = cli("status", "src/moved.py", "--json", cwd=bill).json["decisions"]
    assert ("rejected", "services/billing") in {(one["verdict"], one["scope"]) for one in decisions}
    # A sibling's file stays unseen, and so does everything that isn't about this file.
    assert closed not in cli("log", "--json", cwd=bill).stdout
    assert cli("prior", ":/services/billing/src/code.py", "--json", cwd=bill).json["known"] == "nothing"
    assert closed in cli("prior", ":/services/billing/src/code.py", "--json", cwd=billing).stdout


def test_a_person_reopens_a_moved_file_with_the_change(moved, record, cli):
    repo, closed = moved
    bill = repo / "services/bill"
    done = cli("record", "src/moved.py", *AGAIN, "--reopens", "--json", cwd=bill, tty=True)
    assert done.code == 0, done.stderr
    lift, added = done.json["events"]
    assert (lift["supersedes"], added["effect"], added["verdict"]) == ([closed], "applied", "active")
    assert cli("verify", cwd=repo).code == 0


def test_a_rejection_holds_where_the_components_are_drawn_anew(shop, record, cli):
    repo = shop()
    closed = record(repo, "reject", "services/billing/src/code.py", *WORDS)["id"]
    own = record(repo / "services/billing", "reject", "code.py", *WORDS)  # a file of that name at its own place
    for policy in ("", '[components]\nshop = "services"\n', '[components]\nbilling = ["libs/x", "services/billing"]\n'):
        (repo / ".decisions.toml").write_text(policy)
        refused = cli("record", ":/services/billing/src/code.py", *AGAIN, cwd=repo)
        assert refused.code == 14 and closed[:8] in refused.stderr, policy
    (repo / ".decisions.toml").write_text(COMPONENTS)
    # What somebody else meant by a short name is theirs.
    assert own["scope"] == "services/billing" and own["entity_path"] == "code.py"
    assert record(repo / "services/bill", "record", "code.py", *AGAIN)["scope"] == "services/bill"
