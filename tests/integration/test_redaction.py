"""An event that is taken out: gone from every place under the git directory, while what it decided stays."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys

import pytest
from taken_out import REF, SECRET, forged, found_in, git_dir, is_sound, record

from gitmem.store.activity import Activity, Reader
from gitmem.store.local import Local
from gitmem.store.repository import locate
from gitmem.sync.purge import PLACES


def commit_of(cli, repo, git, entity="users.card"):
    git("commit", "--quiet", "--allow-empty", "-m", "work", cwd=repo)
    return git("rev-parse", "HEAD", cwd=repo)


def test_what_is_redacted_is_found_nowhere_and_still_closes(log, cli, git):
    repo, bad = log
    (repo / "x").write_text("x")
    git("add", "x", cwd=repo)
    git("commit", "--quiet", "-m", "work", cwd=repo)  # the hook links the events; notes quote the reason
    assert SECRET in git("log", "-1", cwd=repo)
    assert len(found_in(git, repo, SECRET)) >= 3
    old = git("rev-parse", REF, cwd=repo)
    before = cli("status", "users.card", "--json", cwd=repo).json["decisions"]

    done = cli("redact", bad[:8], "-r", "It quoted a password.", "--json", cwd=repo, tty=True)
    assert done.code == 0, done.stderr + done.stdout
    answer = done.json
    assert answer["written"] and answer["redacted"] == [bad] and answer["old_tip"] == old and answer["held"] == []

    assert found_in(git, repo, SECRET) == []
    assert found_in(git, repo, "We greet people.") != []
    is_sound(git, cli, repo)
    after = cli("status", "users.card", "--json", cwd=repo).json["decisions"]
    assert [(d["verdict"], d["standing"], d["trust"]) for d in after] == [
        (d["verdict"], d["standing"], d["trust"]) for d in before
    ]
    refused = cli("record", "users.card", "add", "--approach", "keep it here", "-r", "Again.", cwd=repo)
    assert refused.code == 14 and "[redacted]" in refused.stderr and bad[:8] in refused.stderr
    shown = cli("show", bad, "--json", cwd=repo).json
    assert shown["event"]["redacted"] is True and shown["event"]["approach"] == "keep it here"
    assert [mark["reason"] for mark in shown["marks"]] == ["It quoted a password."]
    noted = git("log", "-1", cwd=repo)
    assert "We greet people." in noted and bad[:8] not in noted
    assert git("rev-list", REF, cwd=repo).split()[0] == answer["tip"]
    assert old not in git("reflog", "show", REF, cwd=repo)


def test_who_wrote_it_out_why_and_from_where_is_in_the_log(log, cli, git):
    repo, bad = log
    old = git("rev-parse", REF, cwd=repo)
    answer = cli("redact", bad, "-r", "It quoted a password.", "--json", cwd=repo, tty=True).json
    name = f"{REF}:{answer['event']}.json"
    event = json.loads(git("cat-file", "blob", name, cwd=repo))
    assert event["kind"] == "redact" and event["targets"] == [bad] and event["old_tip"] == old
    assert event["reason"] == "It quoted a password." and event["mode"] == "plain" and event["channel"] == "human"


@pytest.mark.parametrize("env", [{}, {"CLAUDECODE": "1"}])
def test_only_a_person_redacts_and_the_text_is_not_quoted(log, cli, git, env):
    repo, bad = log
    tip = git("rev-parse", REF, cwd=repo)
    for command in (["redact", bad, "-r", "x"], ["expunge", "--before", "2099-01-01", "-r", "x"]):
        done = cli(*command, cwd=repo, env=env)
        assert done.code == 14, done.stdout + done.stderr
        assert SECRET not in done.stderr and "terminal" in done.stderr
    assert git("rev-parse", REF, cwd=repo) == tip
    assert cli("redact", bad, "-r", "x", cwd=repo, tty=True).code == 0


def test_a_dry_run_says_what_it_would_do_and_changes_nothing(log, cli, git):
    repo, bad = log
    tip = git("rev-parse", REF, cwd=repo)
    done = cli("redact", bad, "-r", "x", "--dry-run", "--json", cwd=repo, tty=True)
    assert done.code == 0 and done.json["dry_run"] and not done.json["written"]
    assert done.json["redacted"] == [bad] and done.json["commits"] == 2
    assert git("rev-parse", REF, cwd=repo) == tip
    assert found_in(git, repo, SECRET)
    assert not (git_dir(repo) / "gitmem" / "purge.next").exists()


def test_redacting_again_does_nothing(log, cli, git):
    repo, bad = log
    assert cli("redact", bad, "-r", "x", cwd=repo, tty=True).code == 0
    tip = git("rev-parse", REF, cwd=repo)
    done = cli("redact", bad, "-r", "x", "--json", cwd=repo, tty=True)
    assert done.code == 0 and not done.json["written"]
    assert git("rev-parse", REF, cwd=repo) == tip


def test_an_unknown_id_is_named(log, cli, git):
    repo, _ = log
    assert cli("redact", "0000000", "-r", "x", cwd=repo, tty=True).code == 12


# --- the harder forms -------------------------------------------------------------------------


def test_a_hidden_approach_keeps_the_place_that_a_target_gives_it(make_repo, cli, git):
    repo = make_repo()
    record(cli, repo, "record", "users.card", "add", "--approach", "keep it here", "-r", "The first try.")
    bad = record(cli, repo, "reject", "users.card", "--approach", "keep it here", "-r", SECRET)
    done = cli("redact", bad, "-r", "x", "--hide-approach", "--json", cwd=repo, tty=True)
    assert done.code == 0, done.stderr
    assert cli("show", bad, "--json", cwd=repo).json["event"]["approach"] is None
    assert cli("record", "users.card", "add", "--approach", "keep it here", "-r", "Again.", cwd=repo).code == 14
    assert cli("record", "users.card", "add", "--approach", "another way", "-r", "Other.", cwd=repo).code == 0
    is_sound(git, cli, repo)


def test_an_approach_that_nothing_shares_asks_for_a_new_reject_first(make_repo, cli, git):
    repo = make_repo()
    bad = record(cli, repo, "reject", "users.card", "--approach", f"open with {SECRET}", "-r", "No.")
    tip = git("rev-parse", REF, cwd=repo)
    done = cli("redact", bad, "-r", "x", "--hide-approach", cwd=repo, tty=True)
    assert done.code == 14 and "--supersedes" in done.stderr and SECRET not in done.stderr
    assert git("rev-parse", REF, cwd=repo) == tip
    again = ("reject", "users.card", "--approach", "open with a fixed password", "--supersedes", bad, "-r", "No.")
    record(cli, repo, *again)
    done = cli("redact", bad, "-r", "x", "--hide-approach", cwd=repo, tty=True)
    assert done.code == 0, done.stderr
    assert found_in(git, repo, SECRET) == []
    closed = ("record", "users.card", "add", "--approach", "open with a fixed password", "-r", "Again.")
    assert cli(*closed, cwd=repo).code == 14
    is_sound(git, cli, repo)


def test_a_hidden_entity_of_what_stands_closed_asks_for_a_new_reject_first(make_repo, cli, git):
    repo = make_repo()
    bad = record(cli, repo, "reject", f"env/{SECRET}", "-r", "No.")
    done = cli("redact", bad, "-r", "x", "--hide-entity", cwd=repo, tty=True)
    assert done.code == 14 and SECRET not in done.stderr
    record(cli, repo, "reject", "env/VAULT_PASSWORD", "--supersedes", bad, "-r", "No.")
    done = cli("redact", bad, "-r", "x", "--hide-entity", cwd=repo, tty=True)
    assert done.code == 0, done.stderr
    assert found_in(git, repo, SECRET) == []
    assert cli("record", "env/VAULT_PASSWORD", "add", "-r", "Again.", cwd=repo).code == 14
    is_sound(git, cli, repo)


def test_a_tombstone_can_be_made_to_hide_more_and_not_less(make_repo, cli, git):
    repo = make_repo()
    bad = record(cli, repo, "record", "users.card", "add", "--approach", f"open with {SECRET}", "-r", "No.")
    assert cli("redact", bad, "-r", "x", cwd=repo, tty=True).code == 0
    assert found_in(git, repo, SECRET)
    assert cli("redact", bad, "-r", "x", "--hide-approach", cwd=repo, tty=True).code == 0
    assert found_in(git, repo, SECRET) == []
    done = cli("redact", bad, "-r", "x", "--json", cwd=repo, tty=True)
    assert done.code == 0 and not done.json["written"]
    is_sound(git, cli, repo)


# --- places -----------------------------------------------------------------------------------


def test_every_ref_file_and_table_that_copies_content_has_a_way_out(log, cli, git):
    repo, bad = log
    commit_of(cli, repo, git)
    git("update-ref", "refs/decisions-remotes/origin/log", REF, cwd=repo)
    cli("status", cwd=repo)
    refs = git("for-each-ref", "--format=%(refname)", "refs/decisions", "refs/decisions-*", "refs/notes", cwd=repo)
    known = [name.replace("*", "origin") for name in PLACES["ref"]]
    assert set(refs.split()) <= set(known) and REF in refs.split()
    files = {path.name for path in (git_dir(repo) / "gitmem").iterdir()}
    assert files <= set(PLACES["file"]) | {"cache.sqlite-wal", "cache.sqlite-shm"} and "cache.sqlite" in files
    db = sqlite3.connect(git_dir(repo) / "gitmem" / "cache.sqlite")
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    db.close()
    assert {table for table in tables if not table.startswith("words_")} == set(PLACES["table"])
    Local(locate(repo)).refused("something")
    with Activity(locate(repo)) as kept:
        kept.record("stop", Reader("claude", "a"), said=f"it quotes {SECRET}")
    db = sqlite3.connect(git_dir(repo) / "gitmem" / "local.sqlite")
    assert {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")} == set(
        PLACES["local table"]
    )
    db.close()
    assert cli("redact", bad, "-r", "x", cwd=repo, tty=True).code == 0
    assert not Local(locate(repo)).was_refused("something")
    with Activity(locate(repo)) as kept:
        assert kept.outcomes() == []


def test_a_quarantined_file_is_taken_out_by_its_name(log, cli, git):
    repo, _ = log
    name = "ab" * 32
    blob = git("hash-object", "-w", "--stdin", cwd=repo, input=f"no event, but {SECRET}")
    tree = git("mktree", cwd=repo, input=f"100644 blob {blob}\t{name}.json\n")
    tip = git("rev-parse", REF, cwd=repo)
    who = "A <a@example.org> 1700000000 +0000"
    raw = f"tree {tree}\nparent {tip}\nauthor {who}\ncommitter {who}\n\nodd {SECRET}\n"
    odd = git("hash-object", "-t", "commit", "-w", "--stdin", cwd=repo, input=raw)
    git("update-ref", REF, odd, cwd=repo)
    assert cli("verify", cwd=repo).code == 1
    done = cli("redact", name[:10], "-r", "x", cwd=repo, tty=True)
    assert done.code == 0, done.stderr
    assert found_in(git, repo, f"odd {SECRET}") == []
    assert found_in(git, repo, f"but {SECRET}") == []
    is_sound(git, cli, repo)


def test_all_copies_of_a_source_go_together(make_repo, cli, git):
    repo = make_repo()
    (repo / "f.py").write_text("a = 1\n")
    git("add", "f.py", cwd=repo)
    git("commit", "--quiet", "-m", "Keep a", cwd=repo)
    git("revert", "--no-edit", "HEAD", cwd=repo)
    clone = repo.parent / "clone"
    git("clone", "--quiet", repo, clone, cwd=repo.parent)
    for place in (repo, clone):
        assert cli("import", "git", cwd=place).code == 0
    git("fetch", "--quiet", clone, f"+{REF}:refs/decisions-remotes/clone/log", cwd=repo)
    code = "import sys; from gitmem.memory import Memory; m = Memory.open('.'); m.join(sys.argv[1])"
    other = git("rev-parse", "refs/decisions-remotes/clone/log", cwd=repo)
    subprocess.run([sys.executable, "-c", code, other], cwd=repo, check=True)
    events = cli("log", "--json", "--kind", "any", cwd=repo).json["events"]
    source = next(e["source"] for e in events if e["source"])
    db = sqlite3.connect(git_dir(repo) / "gitmem" / "cache.sqlite")
    both = sorted(row[0] for row in db.execute("SELECT id FROM events WHERE source = ?", (source,)))
    db.close()
    assert len(both) == 2  # a listing tells them as one
    done = cli("redact", both[0], "-r", "x", "--json", cwd=repo, tty=True)
    assert done.code == 0 and done.json["redacted"] == both
    is_sound(git, cli, repo)


# --- checkpoints ------------------------------------------------------------------------------


def rules(outcome):
    return [finding["rule"] for finding in outcome.json["findings"]]


def test_tips_from_before_between_and_after_redactions_are_proved_from_the_log_alone(log, cli, git):
    repo, bad = log
    tips = [git("rev-parse", REF, cwd=repo)]
    other = record(cli, repo, "record", "users.phone", "add", "--approach", "plain text", "-r", "Call them.")
    tips.append(git("rev-parse", REF, cwd=repo))
    assert cli("redact", bad, "-r", "x", cwd=repo, tty=True).code == 0
    tips.append(git("rev-parse", REF, cwd=repo))
    record(cli, repo, "record", "users.street", "add", "-r", "Write to them.")
    tips.append(git("rev-parse", REF, cwd=repo))
    assert cli("redact", other, "-r", "x", "--hide-approach", cwd=repo, tty=True).code == 0
    tips.append(git("rev-parse", REF, cwd=repo))
    clone = repo.parent / "fresh"
    git("clone", "--quiet", repo, clone, cwd=repo.parent)
    git("fetch", "--quiet", "origin", f"{REF}:{REF}", cwd=clone)
    for place in (repo, clone):
        for tip in tips:
            done = cli("verify", "--since", tip, "--json", cwd=place)
            assert done.code == 0 and done.json["findings"] == [], (tip, done.stdout)
        done = cli("verify", "--since", "0" * 40, "--json", cwd=place)
        assert done.code == 1 and rules(done) == ["checkpoint"]


def test_a_tombstone_that_no_person_answers_for_proves_no_checkpoint(log, cli, git):
    repo, bad = log
    tip = git("rev-parse", REF, cwd=repo)
    forged(repo, bad, git)
    done = cli("verify", "--since", tip, "--json", cwd=repo)
    assert done.code == 1 and rules(done) == ["checkpoint"]


def test_with_the_entity_hidden_an_older_tip_is_not_proved_and_verify_says_so(make_repo, cli, git):
    repo = make_repo()
    record(cli, repo, "record", "users.email", "add", "-r", "Login.")
    early = git("rev-parse", REF, cwd=repo)
    bad = record(cli, repo, "record", f"env/{SECRET}", "add", "-r", "x")
    tip = git("rev-parse", REF, cwd=repo)
    assert cli("redact", bad, "-r", "x", "--hide-entity", cwd=repo, tty=True).code == 0
    assert cli("verify", "--since", early, cwd=repo).code == 0
    done = cli("verify", "--since", tip, "--json", cwd=repo)
    assert done.code == 1 and rules(done) == ["checkpoint"]


# --- many at once -----------------------------------------------------------------------------


def test_expunging_leaves_what_still_decides_and_all_that_it_rests_on(log, cli, git):
    repo, bad = log
    old = git("rev-parse", REF, cwd=repo)
    dry = cli("expunge", "--before", "2099-01-01", "-r", "Old.", "--dry-run", "--json", cwd=repo, tty=True)
    assert dry.code == 0 and len(dry.json["redacted"]) == 2 and git("rev-parse", REF, cwd=repo) == old
    before = cli("status", "--json", cwd=repo).json
    done = cli("expunge", "--before", "2099-01-01", "-r", "Old.", "--json", cwd=repo, tty=True)
    assert done.code == 0 and done.json["redacted"] == dry.json["redacted"] and bad not in done.json["redacted"]
    after = cli("status", "--json", cwd=repo).json
    assert [(d["entity_path"], d["verdict"]) for d in after["decisions"]] == [
        (d["entity_path"], d["verdict"]) for d in before["decisions"]
    ]
    assert after["counts"] == before["counts"]
    assert found_in(git, repo, "We greet people.") == [] and found_in(git, repo, "Login needs an address.") == []
    assert found_in(git, repo, SECRET) and found_in(git, repo, "The first try.")
    event = json.loads(git("cat-file", "blob", f"{REF}:{done.json['event']}.json", cwd=repo))
    assert event["count"] == 2 and len(event["merkle_root"]) == 64 and "targets" not in event
    assert event["before"] == "2099-01-01T00:00:00.000000Z"
    is_sound(git, cli, repo)
    assert cli("verify", "--since", old, cwd=repo).code == 0
    again = cli("expunge", "--before", "2099-01-01", "-r", "Old.", "--json", cwd=repo, tty=True)
    assert again.code == 0 and not again.json["written"]


def test_what_proves_an_expunging_is_not_redacted_and_what_is_newer_stays(log, cli, git):
    repo, _ = log
    nothing = cli("expunge", "--before", "2020-01-01", "-r", "Old.", "--json", cwd=repo, tty=True)
    assert nothing.code == 0 and not nothing.json["written"] and nothing.json["redacted"] == []
    done = cli("expunge", "--before", "2099-01-01", "-r", "Old.", "--json", cwd=repo, tty=True)
    refused = cli("redact", done.json["event"], "-r", "x", cwd=repo, tty=True)
    assert refused.code == 14 and "expunging" in refused.stderr


def test_a_pinned_event_is_not_expunged(log, cli, git):
    repo, _ = log
    name = cli("log", "users.name", "--json", cwd=repo).json["events"][0]["id"]
    code = (
        "import sys; from gitmem.memory import Memory; from gitmem.core.drafts import Draft, Writer\n"
        "m = Memory.open('.'); w = m.writer(); m.desk._writer = Writer(w.author, 'human', tool=w.tool)\n"
        "m.record(Draft('mark', {'action': 'pin', 'targets': [sys.argv[1]], 'reason': 'Keep.'}))"
    )
    subprocess.run([sys.executable, "-c", code, name], cwd=repo, check=True)
    done = cli("expunge", "--before", "2099-01-01", "-r", "Old.", "--json", cwd=repo, tty=True)
    assert done.code == 0 and name not in done.json["redacted"] and done.json["redacted"]
    assert found_in(git, repo, "We greet people.")


def test_a_secret_in_the_reason_of_a_redaction_is_refused_as_everywhere(log, cli, git):
    repo, bad = log
    tip = git("rev-parse", REF, cwd=repo)
    token = "ghp_" + "Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j"
    done = cli("redact", bad, "-r", f"It quoted {token}.", cwd=repo, tty=True)
    assert done.code == 15 and token not in done.stderr and "reason" in done.stderr
    assert git("rev-parse", REF, cwd=repo) == tip
    assert cli("redact", bad, "-r", "It quoted a token.", cwd=repo, tty=True).code == 0


def test_writers_at_work_meanwhile_lose_nothing(log, cli, git):
    repo, bad = log
    code = (
        "import sys\n"
        "from gitmem.memory import Memory\n"
        "from gitmem.core.drafts import Draft\n"
        "for n in range(8):\n"
        "    m = Memory.open('.')\n"
        "    fields = {'entity_path': f'busy.w{sys.argv[1]}', 'change_type': 'add', 'reasoning': f'number {n}'}\n"
        "    print(m.record(Draft('change', fields)).rows[0].event.id, flush=True)\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(n)], cwd=repo, stdout=subprocess.PIPE, text=True)
        for n in range(3)
    ]
    assert writers[0].stdout is not None and writers[0].stdout.readline()  # they are under way
    done = cli("redact", bad, "-r", "x", "--json", cwd=repo, tty=True)
    assert done.code == 0 and done.json["held"] == [], done.stdout + done.stderr
    said = [writer.communicate()[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    wrote = [one for ids in said for one in ids]
    assert len(wrote) == 23
    assert cli("assert", *wrote, cwd=repo).code == 0
    assert found_in(git, repo, SECRET) == []
    is_sound(git, cli, repo)


def test_a_log_that_was_cut_off_is_not_rewritten(log, cli, git):
    repo, bad = log
    cut = repo.parent / "cut"
    git("clone", "--quiet", repo, cut, cwd=repo.parent)
    git("fetch", "--quiet", "--depth=3", repo.as_uri(), f"{REF}:{REF}", cwd=cut)
    tip = git("rev-parse", REF, cwd=cut)
    assert cli("redact", bad, "-r", "x", cwd=cut, tty=True).code == 23
    assert git("rev-parse", REF, cwd=cut) == tip
