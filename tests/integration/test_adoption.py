"""Another clone meets a rewritten log: it proves it and adopts it, or raises the alarm and changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from taken_out import REF, SECRET, forged, found_in, is_sound, record

SEEN = "refs/decisions-remotes/origin/log"


def program(repo: Path, code: str, *args: str, env=None):
    """Run some Python on the memory `m` of `repo`; what it prints as JSON comes back, an error by its class."""
    lines = [
        "import json, sys",
        "from gitmem.errors import GitmemError",
        "from gitmem.memory import Memory",
        "m = Memory.open('.')",
        "try:",
        *(f"    {line}" for line in code.splitlines()),
        "except GitmemError as error:",
        "    print(json.dumps({'error': error.name, 'message': error.message}))",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines), *args],
        cwd=repo,
        capture_output=True,
        text=True,
        env={**os.environ, **(env or {})},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def adopt(repo: Path, tip: str, seen: str = ""):
    code = (
        "done = m.adopt(sys.argv[1], seen=sys.argv[2])\n"
        "print(json.dumps({'tip': done.tip, 'redacted': done.redacted, 'brought': done.brought,\n"
        "    'held': done.purged.held if done.purged else []}))"
    )
    return program(repo, code, tip, seen)


def fetched(git, repo: Path, source: Path) -> tuple[str, str]:
    """Fetch the log of `source` into the tracking ref, as plain git does; return (new, what was seen before)."""
    seen = git("rev-parse", "-q", "--verify", SEEN, cwd=repo, check=False)
    git("fetch", "--quiet", source, f"+{REF}:{SEEN}", cwd=repo)
    return git("rev-parse", SEEN, cwd=repo), seen


@pytest.fixture
def clones(once, log, git):
    """(one, other, id): two clones of one log, each of which saw the other's, and the event that must not stay."""

    def make():
        one, bad = log
        other = one.parent / "other"
        git("clone", "--quiet", one, other, cwd=one.parent)
        git("fetch", "--quiet", "origin", f"{REF}:{REF}", cwd=other)
        for repo, source in ((one, other), (other, one)):
            fetched(git, repo, source)
        return one, other, bad

    return once("clones of a log with a secret", make)


def redact(cli, repo: Path, bad: str, *options: str):
    done = cli("redact", bad, "-r", "It quoted a password.", *options, "--json", cwd=repo, tty=True)
    assert done.code == 0, done.stderr
    return done.json


def tip_of(git, repo: Path) -> str:
    return git("rev-parse", REF, cwd=repo)


def test_another_clone_proves_a_redaction_adopts_it_and_purges(clones, cli, git):
    one, other, bad = clones
    redact(cli, one, bad)
    new, seen = fetched(git, other, one)
    done = adopt(other, new, seen)
    assert done == {"tip": new, "redacted": [bad], "brought": [], "held": []}
    assert tip_of(git, other) == tip_of(git, one)
    assert found_in(git, other, SECRET) == [] and found_in(git, other, "We greet people.")
    assert cli("record", "users.card", "add", "--approach", "keep it here", "-r", "x", cwd=other).code == 14
    is_sound(git, cli, other)


def test_own_events_that_were_not_pushed_survive_with_their_ids(clones, cli, git):
    one, other, bad = clones
    own = [record(cli, other, "record", f"own.c{n}", "add", "-r", f"Mine {n}.") for n in range(3)]
    before = {
        name: git.run("cat-file", "blob", f"{REF}~{2 - n}:{name}.json", cwd=other).stdout for n, name in enumerate(own)
    }
    redact(cli, one, bad)
    record(cli, one, "record", "orders.total", "add", "-r", "Theirs.")
    new, seen = fetched(git, other, one)
    done = adopt(other, new, seen)
    assert done["redacted"] == [bad] and done["tip"] == tip_of(git, other) != new
    ids = [event["id"] for event in cli("log", "--json", cwd=other).json["events"]]
    assert set(own) <= set(ids)
    for name, data in before.items():
        commit = program(other, "print(json.dumps(m.show(sys.argv[1]).log_commit))", name)
        assert git.run("cat-file", "blob", f"{commit}:{name}.json", cwd=other).stdout == data
    assert found_in(git, other, SECRET) == []
    is_sound(git, cli, other)
    # and what it pushes then is a fast-forward
    git("push", "--quiet", one, f"{REF}:refs/decisions-remotes/origin/log", "--force", cwd=other)
    assert new in git("rev-list", REF, cwd=other).split()


def test_two_clones_that_redact_one_event_come_to_one_tip(clones, cli, git):
    one, other, bad = clones
    redact(cli, one, bad)
    redact(cli, other, bad)
    for repo, source in ((one, other), (other, one)):
        git("fetch", "--quiet", source, f"{REF}:refs/heads/theirs", cwd=repo)
    theirs = [git("rev-parse", "refs/heads/theirs", cwd=repo) for repo in (one, other)]
    seen = [git("rev-parse", SEEN, cwd=repo) for repo in (one, other)]
    adopt(one, theirs[0], seen[0])
    adopt(other, theirs[1], seen[1])
    assert tip_of(git, one) == tip_of(git, other)
    assert len(git("rev-list", f"{theirs[0]}..{REF}", cwd=one).split()) == 2  # our redact event, and the join
    for repo in (one, other):
        is_sound(git, cli, repo)
        assert found_in(git, repo, SECRET) == []


@pytest.mark.parametrize("first", [0, 1])
def test_where_one_hides_more_than_the_other_both_come_to_hide_it(clones, cli, git, first):
    one, other, bad = clones
    pair = (one, other)
    redact(cli, pair[first], bad)
    redact(cli, pair[1 - first], bad, "--hide-approach")
    for repo, source in ((one, other), (other, one)):
        git("fetch", "--quiet", source, f"{REF}:refs/heads/theirs", cwd=repo)
    for repo in pair:
        result = adopt(repo, git("rev-parse", "refs/heads/theirs", cwd=repo), git("rev-parse", SEEN, cwd=repo))
        assert "error" not in result
        git("update-ref", "-d", "refs/heads/theirs", cwd=repo)
    assert tip_of(git, one) == tip_of(git, other)
    assert cli("show", bad, "--json", cwd=one).json["event"]["approach"] is None
    for repo in pair:
        is_sound(git, cli, repo)


def test_two_redactions_and_a_clone_that_saw_neither(clones, cli, git):
    one, other, bad = clones
    second = record(cli, one, "record", "users.phone", "add", "-r", f"Call {SECRET}.")
    new, seen = fetched(git, other, one)
    assert adopt(other, new, seen)["tip"] == new
    record(cli, other, "record", "own.c", "add", "-r", "Mine.")
    redact(cli, one, bad)
    redact(cli, one, second)
    new, seen = fetched(git, other, one)
    assert adopt(other, new, seen)["redacted"] == sorted([bad, second])
    assert found_in(git, other, SECRET) == []
    is_sound(git, cli, other)


# --- the stale clone --------------------------------------------------------------------------


def test_a_stale_log_brings_nothing_back(clones, cli, git):
    one, other, bad = clones
    late = record(cli, other, "record", "late.c", "add", "-r", "Written on the old log.")
    redact(cli, one, bad)
    new, seen = fetched(git, one, other)
    done = adopt(one, new, seen)
    assert done["brought"] == [bad] and done["redacted"] == []
    assert late in [event["id"] for event in cli("log", "--json", cwd=one).json["events"]]
    assert found_in(git, one, SECRET) == []
    is_sound(git, cli, one)


def test_fetching_the_old_log_again_leaves_nothing_of_it_here(clones, cli, git):
    one, other, bad = clones
    redact(cli, one, bad)
    tip = tip_of(git, one)
    new, seen = fetched(git, one, other)
    assert found_in(git, one, SECRET)
    assert adopt(one, new, seen) == {"tip": tip, "redacted": [], "brought": [bad], "held": []}
    assert found_in(git, one, SECRET) == [] and tip_of(git, one) == tip
    assert not (one / ".git/gitmem/purge").exists() and not (one / ".git/gitmem/purge.next").exists()
    is_sound(git, cli, one)


def test_another_tools_join_of_a_stale_tip_is_found_by_verify_and_undone_by_adopting(clones, cli, git):
    one, other, bad = clones
    record(cli, other, "record", "late.c", "add", "-r", "Written on the old log.")
    redact(cli, one, bad)
    clean = tip_of(git, one)
    # A program that knows nothing of redactions joins the two and pushes: a fast-forward for every host.
    git("fetch", "--quiet", one, REF, cwd=other)
    program(other, "print(json.dumps(m.join(sys.argv[1])))", clean)
    done = cli("verify", "--json", cwd=other)
    assert done.code == 1 and [f["rule"] for f in done.json["findings"]] == ["redacted-present"]
    joined = tip_of(git, other)
    for cached in (True, False):  # caught up, and built anew: what was redacted is shown by neither
        if not cached:
            assert cli("rebuild", cwd=other).code == 0
        said = cli("log", "--all", "--json", cwd=other).stdout + cli("show", bad, cwd=other).stdout
        assert bad in said and SECRET not in said and "Written on the old log." in said
    git("fetch", "--quiet", other, f"{REF}:{SEEN}", "--force", cwd=one)
    result = adopt(one, joined, clean)
    assert result["brought"] == [bad]
    assert found_in(git, one, SECRET) == [] and found_in(git, one, "Written on the old log.")
    is_sound(git, cli, one)
    # and the stale clone becomes clean the same way
    git("fetch", "--quiet", one, f"{REF}:{SEEN}", "--force", cwd=other)
    result = adopt(other, result["tip"], joined)
    assert result["tip"] == tip_of(git, one) and found_in(git, other, SECRET) == []
    is_sound(git, cli, other)


def test_what_lies_in_a_quarantine_is_taken_in_without_what_was_redacted(clones, cli, git, tmp_path):
    one, other, bad = clones
    late = record(cli, other, "record", "late.c", "add", "-r", "Written on the old log.")
    redact(cli, one, bad)
    seen = git("rev-parse", SEEN, cwd=one)
    store = tmp_path / "quarantine"
    (store / "pack").mkdir(parents=True)
    env = {
        "GIT_OBJECT_DIRECTORY": str(store),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(one / ".git/objects"),
    }
    git("fetch", "--quiet", "--no-auto-gc", "--no-write-fetch-head", other, REF, cwd=one, env=env)
    code = (
        "from gitmem.store.log import open_log\n"
        "from gitmem.store.repository import locate\n"
        "from gitmem.sync.adoption import adopt\n"
        "import os\n"
        "inside = open_log(locate('.', {**os.environ, **json.loads(sys.argv[3])}))\n"
        "done = adopt(m.desk.model, m.desk.log(), sys.argv[1], seen=sys.argv[2], incoming=inside)\n"
        "print(json.dumps({'brought': done.brought, 'tip': done.tip}))"
    )
    done = program(one, code, tip_of(git, other), seen, json.dumps(env))
    assert done["brought"] == [bad]
    assert late in [event["id"] for event in cli("log", "--json", cwd=one).json["events"]]
    assert found_in(git, one, SECRET) == []
    is_sound(git, cli, one)


# --- the alarm --------------------------------------------------------------------------------


def remade(repo: Path, tip: str, bad: str, what: str) -> str:
    """The log that ends in `tip`, with valid spelling and one thing in it that is not a redaction; returns the tip."""
    code = """
from gitmem.core import events, objects
from gitmem.core.rewriting import parents_and_time, readable, with_parents
form, log, what, bad = m.repository.form, m.desk.log(), sys.argv[2], sys.argv[3]
new, stored, done, made = {}, [], False, sys.argv[1]
for one in log.walk(sys.argv[1]):
    parents = [new.get(p, p) for p in one.parents]
    files = dict(one.files)
    found = readable(files)
    number = len(new) + 1
    if found and not done and what != 'tombstone':
        event = found[0]
        fields = dict(event.fields)
        if what == 'dropped' and not event.redacted and event.id != bad and number == 2:
            new[one.oid] = parents[0]; done = True
            continue
        if what == 'author' and not event.redacted:
            fields['author'] = 'Eve <eve@example.org>'
        elif what == 'byte' and 'reasoning' in fields:
            fields['reasoning'] += '!'
        elif what == 'smuggled':
            more = dict(fields) | {'nonce': '0' * 32}
            event2, data2 = events.build(more)
            files[event2.id + '.json'] = data2
            found.append(event2); done = True
        if fields != event.fields:
            event2, data2 = events.build(fields)
            files = {event2.id + '.json': data2}
            found = [event2]; done = True
    if found:
        names = [(name, form.oid('blob', data)) for name, data in files.items()]
        tree = objects.tree(names)
        commit = objects.event_commit(form.oid('tree', tree), parents[0], found)
        stored += [('blob', data) for data in files.values()] + [('tree', tree), ('commit', commit)]
    elif parents:
        commit = with_parents(one.commit, parents)
        stored.append(('commit', commit))
    else:
        commit = one.commit
    new[one.oid] = made = form.oid('commit', commit)
from gitmem.store import pack
once = {form.oid(kind, data): (kind, data) for kind, data in stored}
m.repository.git('unpack-objects', '-q', input=pack.build(form, once.values()))
print(json.dumps(made))
"""
    return program(repo, code.strip(), tip, what, bad)


@pytest.mark.parametrize("forgery", ["dropped", "author", "byte", "smuggled", "tombstone", "truncated", "by an agent"])
def test_what_is_no_redaction_is_an_alarm_and_changes_nothing(clones, cli, git, forgery):
    one, other, bad = clones
    if forgery == "tombstone":
        forged(one, bad, git)
        git("fetch", "--quiet", one, REF, cwd=other)
        new = tip_of(git, one)
    elif forgery == "by an agent":
        code = (
            "from gitmem.core import rules\n"
            "from gitmem.core.drafts import Draft, Writer\n"
            "rules._Guard._redact = lambda self: None\n"
            "w = m.writer(); m.desk._writer = Writer(w.author, 'agent', tool=w.tool)\n"
            "print(json.dumps(m.redact(sys.argv[1], 'I may not').tip))"
        )
        program(one, code, bad)
        git("fetch", "--quiet", one, REF, cwd=other)
        new = tip_of(git, one)
    else:
        redact(cli, one, bad)
        git("fetch", "--quiet", one, REF, cwd=other)
        new = git("rev-parse", "FETCH_HEAD", cwd=other)
        if forgery == "truncated":
            new = git("rev-parse", f"{new}~2", cwd=other)
        else:
            new = remade(other, new, bad, forgery)
    seen = git("rev-parse", SEEN, cwd=other)
    before = git("for-each-ref", cwd=other), cli("log", "--json", "--kind", "any", "--all", cwd=other).stdout
    result = adopt(other, new, seen)
    assert result["error"] in ("RemoteRewound", "BrokenHistory"), result
    if forgery not in ("tombstone", "by an agent"):
        assert "counterpart" in result["message"] or result["error"] == "BrokenHistory", result
    assert SECRET not in result["message"]
    assert (git("for-each-ref", cwd=other), cli("log", "--json", "--kind", "any", "--all", cwd=other).stdout) == before
    assert not (other / ".git/gitmem/purge").exists() and not (other / ".git/gitmem/purge.next").exists()
    is_sound(git, cli, other)


def test_a_log_that_simply_grew_or_parted_is_joined_as_ever(clones, cli, git):
    one, other, _ = clones
    record(cli, one, "record", "orders.total", "add", "-r", "Theirs.")
    new, seen = fetched(git, other, one)
    assert adopt(other, new, seen) == {"tip": new, "redacted": [], "brought": [], "held": []}
    record(cli, one, "record", "orders.net", "add", "-r", "Theirs.")
    record(cli, other, "record", "own.c", "add", "-r", "Mine.")
    new, seen = fetched(git, other, one)
    joined = adopt(other, new, seen)["tip"]
    assert git("rev-list", "--parents", "-1", joined, cwd=other).count(" ") == 2
    git("fetch", "--quiet", other, REF, cwd=one)
    assert adopt(one, joined)["tip"] == joined
    is_sound(git, cli, one)


def test_a_repository_without_a_log_takes_what_it_is_given(clones, make_repo, cli, git):
    one, _, bad = clones
    redact(cli, one, bad)
    empty = make_repo()
    git("fetch", "--quiet", one, REF, cwd=empty)
    assert adopt(empty, tip_of(git, one))["tip"] == tip_of(git, one)
    assert cli("log", "--json", cwd=empty).json["events"]


def test_whether_a_log_has_to_be_adopted_is_told_without_reading_it_all(clones, cli, git):
    one, other, bad = clones
    ask = (
        "from gitmem.sync.adoption import is_needed\n"
        "print(json.dumps(is_needed(m.desk.model, m.desk.log(), sys.argv[1], seen=sys.argv[2])))"
    )
    record(cli, one, "record", "orders.total", "add", "-r", "Theirs.")
    new, seen = fetched(git, other, one)
    assert program(other, ask, new, seen) is False
    redact(cli, one, bad)
    new, seen = fetched(git, other, one)
    assert program(other, ask, new, seen) is True
    assert program(other, ask, new, "") is True


def test_an_expunging_is_proved_by_its_number_and_its_root(clones, cli, git):
    one, other, bad = clones
    done = cli("expunge", "--before", "2099-01-01", "-r", "Old.", "--json", cwd=one, tty=True)
    assert done.code == 0 and len(done.json["redacted"]) == 2, done.stdout
    new, seen = fetched(git, other, one)
    result = adopt(other, new, seen)
    assert result["redacted"] == done.json["redacted"]
    assert found_in(git, other, "We greet people.") == [] and found_in(git, other, SECRET)
    assert tip_of(git, other) == tip_of(git, one)
    is_sound(git, cli, other)
    # one tombstone more than it answers for is an alarm
    git("fetch", "--quiet", one, REF, cwd=other)
    new = forged(one, bad, git)
    git("fetch", "--quiet", one, REF, cwd=other)
    assert adopt(other, new, tip_of(git, other))["error"] == "RemoteRewound"
