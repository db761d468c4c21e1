"""export jsonl, import jsonl: the same log again, under any hash; and nothing that is not sound gets in."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from taken_out import REF, SECRET, found_in, is_sound, record

from gitmem.memory import Memory

WHY = ("-r", "Login needs a stable address.")


def exported(cli, repo: Path) -> str:
    done = cli("export", cwd=repo)
    assert done.code == 0, done.stderr
    return done.stdout


def state(cli, repo: Path) -> str:
    """Everything that the log means: each event, of each kind, with what became of it."""
    done = cli("export", "--format", "json", "--kind", "any", "--all", "--all-scopes", cwd=repo)
    assert done.code == 0, done.stderr
    status = cli("status", "--json", cwd=repo).json
    del status["tip"]
    return done.stdout + json.dumps(status)


def taken_in(cli, repo: Path, text: str, *, tty: bool = False, code: int = 0):
    (repo / "log.jsonl").write_text(text)
    done = cli("import", "jsonl", repo / "log.jsonl", "--json", cwd=repo, tty=tty)
    assert done.code == code, done.stderr + done.stdout
    return done.json


_made: list[Path] = []


@pytest.fixture(name="source")
def copy_of_a_log_with_everything(make_repo, cli, git, tmp_path, tmp_path_factory):
    """A repository that a test may do anything to; the log in it is made once."""
    if not _made:
        kept = tmp_path_factory.mktemp("kept") / "source"
        shutil.copytree(log_with_everything(make_repo, cli, git, tmp_path), kept)
        _made.append(kept)
    repo = tmp_path / "a-log"
    shutil.copytree(_made[0], repo)
    return repo


def log_with_everything(make_repo, cli, git, tmp_path) -> Path:
    """Two histories that met, commits of several events, every mark, a tombstone, and text in several scripts."""
    repo = make_repo(name="source")
    first = record(cli, repo, "record", "users.email", "add", *WHY, "--approach", "ein Wort, 一言")
    other = tmp_path / "other"
    git("clone", "-q", repo, other, cwd=tmp_path)
    git("fetch", "-q", "origin", f"{REF}:{REF}", cwd=other)
    closed = record(
        cli, repo, "reject", "users.card", "--approach", "keep it here", "-r", 'Line one.\n"Line" two. \\ \t'
    )
    record(cli, repo, "record", "users.card", "add", "--approach", "keep it here", *WHY, "--reopens")
    for number in range(3):
        record(cli, other, "record", f"there.c{number}", "add", "-r", f"Written there, {number}.")
    record(cli, other, "reject", "users.email", "--approach", "ein Wort, 一言", *WHY)
    git("fetch", "-q", other, f"{REF}:refs/theirs", cwd=repo)
    memory = Memory.open(str(repo))
    memory.join(git("rev-parse", "refs/theirs", cwd=repo))
    memory.close()
    git("update-ref", "-d", "refs/theirs", cwd=repo)
    secret = record(cli, repo, "record", "users.pin", "add", "-r", f"It is {SECRET}.")
    sealed = record(cli, repo, "record", "users.seal", "add", "-r", "sealed words")
    for command in (("seal", sealed), ("mute", first), ("pin", closed), ("retract", sealed), ("dispute", closed)):
        assert cli(*command, "-r", "Because.", cwd=repo, tty=True).code == 0
    assert cli("redact", secret, "-r", "x", cwd=repo, tty=True).code == 0
    record(cli, repo, "record", "users.last", "add", *WHY, "--commit", "HEAD")
    return repo


# --- there and back ---------------------------------------------------------------------------


def test_the_whole_log_comes_back_and_keeps_every_id_through_another_hash(source, make_repo, cli, git):
    text = exported(cli, source)
    assert '"gitmem":"join"' in text and '"gitmem":"commit"' in text and '"redacted":"plain"' in text
    assert "sealed words" in text and SECRET not in text
    tip, wanted = git("rev-parse", REF, cwd=source), state(cli, source)
    # one hash, then the other, then the first again
    first = text
    for kind in ("plain", "sha256", "bare"):
        repo = make_repo(kind)
        answer = taken_in(cli, repo, text)
        assert answer["skipped"] == [] and answer["known"] == 0 and answer["appended"] == answer["events"]
        assert state(cli, repo) == wanted
        if kind != "sha256":
            assert git("rev-parse", REF, cwd=repo) == tip
        is_sound(git, cli, repo)
        again = exported(cli, repo)
        assert _events(again) == _events(text)
        text = again
    assert text == first


def _events(text: str) -> set[str]:
    return {line for line in text.split("\n") if not line.startswith('{"gitmem":')}


def test_each_line_of_an_event_is_its_bytes_and_hashes_to_its_id(source, cli):
    import hashlib

    lines = exported(cli, source).encode().split(b"\n")
    found = {hashlib.sha256(line).hexdigest() for line in lines if line and not line.startswith(b'{"gitmem":')}
    listed = cli("log", "--kind", "any", "--all", "--json", cwd=source).json["events"]
    assert {one["id"] for one in listed if not one["redacted"]} <= found and len(listed) > 15


def test_doing_it_again_appends_nothing(source, make_repo, cli, git):
    text = exported(cli, source)
    repo = make_repo()
    taken_in(cli, repo, text)
    tip = git("rev-parse", REF, cwd=repo)
    for tty in (True, True):
        answer = taken_in(cli, repo, text, tty=tty)
        assert answer["appended"] == 0 and answer["known"] == answer["events"]
    # an older export of the same log, and the log's own
    older = "\n".join(text.split("\n")[:2]) + '\n{"gitmem":"end","commits":1,"events":1}\n'
    assert taken_in(cli, repo, older, tty=True)["appended"] == 0
    assert git("rev-parse", REF, cwd=repo) == tip and git("rev-parse", REF, cwd=source) == tip


def test_two_logs_that_began_apart_are_joined(source, make_repo, cli, git):
    repo = make_repo()
    mine = record(cli, repo, "record", "mine.own", "add", *WHY)
    answer = taken_in(cli, repo, exported(cli, source), tty=True)
    assert answer["appended"] == answer["events"]
    listed = {one["id"] for one in cli("log", "--kind", "any", "--all", "--json", cwd=repo).json["events"]}
    assert mine in listed and len(listed) == answer["events"] + 1
    assert len(git("rev-list", "--parents", "-1", REF, cwd=repo).split()) == 3
    is_sound(git, cli, repo)


def test_a_plain_list_of_events_is_a_log_too(make_repo, cli):
    source = make_repo()
    for number in range(3):
        record(cli, source, "record", f"users.c{number}", "add", *WHY)
    events = [line for line in exported(cli, source).split("\n") if line and not line.startswith('{"gitmem":')]
    repo = make_repo()
    answer = taken_in(cli, repo, "\r\n".join(["\ufeff" + events[0], *events[1:]]))
    assert (answer["events"], answer["appended"], answer["skipped"]) == (3, 3, [])


def test_a_list_of_events_in_any_order_means_the_same_though_it_tells_no_structure(source, make_repo, cli, git):
    events = sorted(_events(exported(cli, source)))
    chance = random.Random(7)
    tips = set()
    for _ in range(2):
        chance.shuffle(events)
        repo = make_repo()
        answer = taken_in(cli, repo, "\n".join([*events, events[0]]))
        assert answer["skipped"] == [] and answer["known"] == 0
        assert state(cli, repo) == state(cli, source)
        is_sound(git, cli, repo)
        tips.add(git("rev-parse", REF, cwd=repo))
    assert len(tips) == 1
    # a part of it has gaps, and is none
    part = make_repo()
    (part / "log.jsonl").write_text("\n".join(line for line in events if '"clock":3,' not in line))
    assert cli("import", "jsonl", "log.jsonl", cwd=part).code in (1, 15)
    assert cli("verify", "--allow-missing", cwd=part).code == 0


def test_a_line_that_was_changed_into_another_event_is_noticed(source, make_repo, cli, git):
    text = exported(cli, source)
    changed = text.replace("sealed words", "healed words")
    assert changed != text
    repo = make_repo()
    (repo / "log.jsonl").write_text(changed)
    done = cli("import", "jsonl", "log.jsonl", cwd=repo)
    assert done.code == 15 and "nothing was written" in done.stderr
    assert git("for-each-ref", "refs/decisions*", cwd=repo) == ""
    taken_in(cli, repo, text)


def test_signatures_come_along(make_repo, cli, git):
    repo = make_repo()
    event = record(cli, repo, "record", "users.email", "add", *WHY)
    armour = (ROOT / "tests/golden/events/signed/event.sig").read_text()
    line = next(line for line in exported(cli, repo).split("\n") if '"kind":"change"' in line)
    signature = json.dumps({"gitmem": "signature", "of": event, "text": armour}, separators=(",", ":"))
    signed = make_repo()
    taken_in(cli, signed, f"{line}\n{signature}\n")
    assert git("show", f"{REF}:{event}.sig", cwd=signed) + "\n" == armour
    assert signature in exported(cli, signed)


# --- who may, and what is told ----------------------------------------------------------------


def test_only_a_person_imports_into_a_log_that_is_not_empty(source, make_repo, cli, git):
    text = exported(cli, source)
    repo = make_repo()
    record(cli, repo, "record", "mine.own", "add", *WHY)
    tip = git("rev-parse", REF, cwd=repo)
    (repo / "log.jsonl").write_text(text)
    for env in ({}, {"CI": "true"}, {"CLAUDECODE": "1"}):
        done = cli("import", "jsonl", "log.jsonl", cwd=repo, env=env, tty="CLAUDECODE" in env)
        assert done.code == 14 and "nothing was written" in done.stderr, env
    assert git("rev-parse", REF, cwd=repo) == tip
    assert cli("import", "jsonl", "log.jsonl", cwd=repo, tty=True).code == 0
    # into an empty one, as a restoring machine does, anybody; and from stdin
    empty = make_repo()
    assert cli("init", cwd=empty).code == 0
    assert cli("import", "jsonl", cwd=empty, input=text, env={"CI": "true"}).code == 0
    assert state(cli, empty) == state(cli, source)


def test_a_dry_run_counts_and_writes_nothing(source, make_repo, cli, git):
    repo = make_repo()
    text = exported(cli, source)
    (repo / "log.jsonl").write_text(text)
    done = cli("import", "jsonl", "log.jsonl", "--dry-run", cwd=repo)
    assert done.code == 0 and "would be appended" in done.stdout
    assert git("for-each-ref", "refs/decisions*", cwd=repo) == ""
    assert "count: 3" in git("count-objects", "-v", cwd=repo) and "packs: 0" in git("count-objects", "-v", cwd=repo)
    assert not list((repo / ".git" / "gitmem").glob("importing.*"))


def test_what_is_no_log_is_said_to_be_none(source, make_repo, cli, git):
    repo = make_repo()
    selection = cli("export", "--type", "reject", cwd=source).stdout
    assert '"selection":true' in selection and selection.count("\n") > 1
    for text, code, words in (
        (selection, 15, "selection"),
        ('{"gitmem":"log","v":9}\n', 22, "version 9"),
        ("id,reason\n1,because\n", 1, ""),
        ("", 0, ""),
    ):
        (repo / "log.jsonl").write_text(text)
        done = cli("import", "jsonl", "log.jsonl", cwd=repo)
        assert done.code == code and words in done.stderr, done.stderr
    assert cli("import", "jsonl", "missing.jsonl", cwd=repo).code == 2
    assert cli("import", "jsonl", cwd=repo, tty=True, timeout_s=20).code == 2  # nobody is left waiting
    assert git("for-each-ref", "refs/decisions*", cwd=repo) == ""


def test_asking_for_all_of_it_is_no_filter(source, cli):
    whole = exported(cli, source)
    for more in (["--all"], ["--all-scopes"], ["--kind", "any", "--all", "--all-scopes"]):
        assert cli("export", *more, cwd=source).stdout == whole
    done = cli("export", "--kind", "review", "-o", "part.jsonl", cwd=source)
    assert done.code == 0 and "selection" in done.stderr


def test_what_looks_like_a_secret_is_told(make_repo, cli):
    source, repo = make_repo(), make_repo()
    token = "ghp_" + "aB3dE6gH9j" * 3 + "kL2mN5"
    record(cli, source, "record", "users.email", "add", "-r", f"It is {token}.", "--allow-secret")
    text = exported(cli, source)
    assert taken_in(cli, repo, text)["warnings"] == []  # a person said that it may stay
    forged = [json.loads(line) for line in text.split("\n") if '"kind"' in line]
    del forged[0]["allow_secret"]
    line = json.dumps(forged[0], separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    (warning,) = taken_in(cli, make_repo(), line + "\n")["warnings"]
    assert "looks like a secret" in warning and token not in warning


# --- nothing bad gets in ----------------------------------------------------------------------


def test_a_line_that_can_not_be_read_is_named_with_what_stands_on_it(source, make_repo, cli, git):
    lines = exported(cli, source).split("\n")
    at = next(number for number, line in enumerate(lines) if '"kind":"review"' in line or '"kind":"mark"' in line)
    broken = [*lines]
    broken[at] = broken[at].replace('"v":1', '"v": 1')
    repo = make_repo()
    answer = taken_in(cli, repo, "\n".join(broken), code=1)
    reasons = {one["reason"]: one for one in answer["skipped"]}
    assert reasons["no event: not the canonical spelling (RFC 8785)"]["examples"] == [f"line {at + 1}"]
    assert reasons["stands on what could not be read"]["count"] >= 1
    assert 0 < answer["appended"] < len([line for line in lines if line and '{"gitmem"' not in line])
    is_sound(git, cli, repo)
    # the repaired file brings the rest, under the ids that it always had
    taken_in(cli, repo, "\n".join(lines), tty=True)
    assert state(cli, repo) == state(cli, source)


def test_a_file_that_was_cut_off_says_so(source, make_repo, cli, git):
    text = exported(cli, source)
    repo = make_repo()
    answer = taken_in(cli, repo, text[: len(text) // 2], code=1)
    assert any("cut off" in one["reason"] for one in answer["skipped"]) and answer["appended"]
    is_sound(git, cli, repo)


def test_whatever_is_done_to_a_file_nothing_bad_gets_in(source, cli, git, tmp_path):
    lines = exported(cli, source).encode().split(b"\n")
    good = {one["id"] for one in cli("log", "--kind", "any", "--all", "--json", cwd=source).json["events"]}
    places = iter(range(10**6))

    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(st.randoms(use_true_random=False), st.sampled_from(["drop", "twice", "swap", "flip", "cut", "glue", "none"]))
    def holds(chance: random.Random, how: str) -> None:
        changed = [*lines]
        at, other = chance.randrange(len(changed) - 1), chance.randrange(len(changed) - 1)
        if how == "drop":
            del changed[at]
        elif how == "twice":
            changed.insert(other, changed[at])
        elif how == "swap":
            changed[at], changed[other] = changed[other], changed[at]
        elif how == "flip":
            line = bytearray(changed[at])
            line[chance.randrange(len(line))] ^= 1 << chance.randrange(8)
            changed[at] = bytes(line)
        elif how == "cut":
            changed[at] = changed[at][: len(changed[at]) // 2]
        elif how == "glue":
            changed[at] += b"\xff"
        repo = tmp_path / f"try{next(places)}"
        git("init", "-q", repo, cwd=tmp_path)
        (repo / "log.jsonl").write_bytes(b"\n".join(changed))
        done = cli("import", "jsonl", repo / "log.jsonl", cwd=repo)
        assert done.code in (0, 1, 15, 22), done.stderr
        if done.code == 0 and how not in ("none", "swap", "twice"):
            changed_lines = {line for line in changed if line}
            assert {line for line in lines if line} - changed_lines <= {line for line in lines if b'"gitmem"' in line}
        verified = cli("verify", "--allow-missing", "--json", cwd=repo)
        assert verified.code == 0 and [one for one in verified.json["findings"] if one["severity"] == "error"] == []
        listed = cli("log", "--kind", "any", "--all", "--json", cwd=repo)
        if listed.code == 0:
            assert {one["id"] for one in listed.json["events"]} <= good
        if how == "none":
            assert {one["id"] for one in listed.json["events"]} == good

    holds()


def test_where_an_event_was_left_out_that_one_taken_in_before_refers_to_nothing_is_taken_in(make_repo, cli, git):
    source = make_repo()
    record(cli, source, "reject", "users.card", "--approach", "here", *WHY)
    record(cli, source, "record", "users.card", "add", "--approach", "here", *WHY, "--reopens")
    head, first, _, lifts, opens, _, _ = exported(cli, source).split("\n")
    other = make_repo()
    taken_in(cli, other, first)
    for name in ("one", "two"):
        record(cli, other, "record", f"there.{name}", "add", *WHY)
    _, _, one, two, _, _ = exported(cli, other).split("\n")
    assert [json.loads(line)["clock"] for line in (first, lifts, opens, one, two)] == [1, 2, 3, 2, 3]

    def file(*commits: tuple[int, list[str]]) -> str:
        lines = [head, first]
        for number, (on, found) in enumerate(commits, 2):
            lines += [f'{{"gitmem":"commit","n":{number},"on":{on},"events":{len(found)}}}', *found]
        return "\n".join([*lines, '{"gitmem":"end"}\n'])

    # `lifts` has no place on top of `one`; `opens`, which refers to it, fits where it is
    bad = ((1, [two, opens]), (1, [one]), (3, [lifts]))
    repo = make_repo()
    (repo / "log.jsonl").write_text(file(*bad))
    done = cli("import", "jsonl", "log.jsonl", cwd=repo)
    assert done.code == 15 and "refers to" in done.stderr and "nothing was written" in done.stderr, done.stderr
    assert git("for-each-ref", "refs/decisions*", cwd=repo) == ""
    # it comes to its place further on; or is there, and once more where it has none
    answer = taken_in(cli, repo, file(*bad, (1, [lifts])), code=1)
    assert answer["appended"] == 5 and [reason["count"] for reason in answer["skipped"]] == [1]
    is_sound(git, cli, repo)
    repo = make_repo()
    answer = taken_in(cli, repo, file((1, [lifts, opens]), (1, [one]), (3, [lifts]), (3, [two])), code=1)
    assert answer["appended"] == 5 and [reason["count"] for reason in answer["skipped"]] == [1]
    is_sound(git, cli, repo)
    # each in its place
    repo = make_repo()
    assert taken_in(cli, repo, file((1, [lifts, opens]), (1, [one]), (3, [two])))["appended"] == 5
    is_sound(git, cli, repo)


def test_an_event_that_refers_to_nothing_is_not_taken_in(make_repo, cli, git):
    source = make_repo()
    record(cli, source, "record", "users.email", "add", *WHY)
    record(cli, source, "record", "users.email", "modify", *WHY)
    lines = [line for line in exported(cli, source).split("\n") if '"kind"' in line]
    alone = json.loads(lines[1])
    alone["clock"] = 1
    text = json.dumps(alone, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    repo = make_repo()
    (repo / "log.jsonl").write_text(text)
    done = cli("import", "jsonl", "log.jsonl", cwd=repo)
    assert done.code == 15 and "refers to" in done.stderr and "nothing was written" in done.stderr
    assert git("for-each-ref", "refs/decisions*", cwd=repo) == ""


def test_a_quarantined_file_is_in_the_backup_and_is_not_taken_in(source, make_repo, cli, git):
    name = "ab" * 32
    blob = git("hash-object", "-w", "--stdin", cwd=source, input="no event\n{")
    tree = git("mktree", cwd=source, input=f"100644 blob {blob}\t{name}.json\n")
    who = "A <a@example.org> 1700000000 +0000"
    raw = f"tree {tree}\nparent {git('rev-parse', REF, cwd=source)}\nauthor {who}\ncommitter {who}\n\nodd\n"
    git("update-ref", REF, git("hash-object", "-t", "commit", "-w", "--stdin", cwd=source, input=raw), cwd=source)
    text = exported(cli, source)
    assert '"gitmem":"quarantined"' in text
    repo = make_repo()
    answer = taken_in(cli, repo, text, code=1)
    assert [one["reason"] for one in answer["skipped"]] == ["quarantined in the log that it comes from"]
    is_sound(git, cli, repo)


# --- what was taken out stays out -------------------------------------------------------------


@pytest.mark.parametrize("more", [False, True])
def test_what_is_redacted_here_is_never_taken_back_in(make_repo, cli, git, more):
    repo = make_repo()
    bad = record(cli, repo, "reject", "users.card", "--approach", "here", "-r", f"It is {SECRET}.")
    record(cli, repo, "record", "users.card", "add", "--approach", "here", *WHY, "--reopens")
    if more:
        other = make_repo()
        taken_in(cli, other, exported(cli, repo))
        new = record(cli, other, "record", "users.new", "add", *WHY)
        text = exported(cli, other)
    else:
        text = exported(cli, repo)
    assert cli("redact", bad, "-r", "x", cwd=repo, tty=True).code == 0
    assert found_in(git, repo, SECRET) == [] and SECRET in text
    place = repo.parent / "outside.jsonl"
    place.write_text(text)
    done = cli("import", "jsonl", place, "--json", cwd=repo, tty=True)
    assert done.code == 0, done.stderr
    assert done.json["redacted"] == [bad] and done.json["appended"] == (1 if more else 0)
    assert found_in(git, repo, SECRET) == []
    assert cli("show", bad, "--json", cwd=repo).json["event"]["redacted"]
    if more:
        assert cli("show", new, cwd=repo).code == 0
    is_sound(git, cli, repo)


def test_a_redaction_in_the_file_is_adopted_once_it_is_proved(make_repo, cli, git):
    repo, other = make_repo(), make_repo()
    bad = record(cli, repo, "reject", "users.card", "--approach", "here", "-r", f"It is {SECRET}.")
    taken_in(cli, other, exported(cli, repo))
    assert cli("redact", bad, "-r", "x", cwd=other, tty=True).code == 0
    (other / "log.jsonl").unlink()
    mine = record(cli, repo, "record", "users.mine", "add", *WHY)
    lines = exported(cli, other).split("\n")
    forged = [line for line in lines if '"kind":"redact"' not in line or '"redacted"' in line]
    forged[-2] = '{"gitmem":"end","commits":1,"events":1}'
    place = repo.parent / "outside.jsonl"
    place.write_text("\n".join(forged))
    tip = git("rev-parse", REF, cwd=repo)
    done = cli("import", "jsonl", place, cwd=repo, tty=True)
    assert done.code == 31 and "nothing was changed" in done.stderr, done.stderr
    assert git("rev-parse", REF, cwd=repo) == tip and SECRET in cli("show", bad, cwd=repo).stdout
    place.write_text("\n".join(lines))
    done = cli("import", "jsonl", place, cwd=repo, tty=True)
    assert done.code == 0, done.stderr
    assert found_in(git, repo, SECRET) == [] and cli("show", mine, cwd=repo).code == 0
    is_sound(git, cli, repo)


# --- killed -----------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["jsonl.Built.store", "plumbing_log.PlumbingLog._move"])
def test_a_kill_leaves_nothing_half_done(source, make_repo, cli, git, step):
    repo = make_repo()
    (repo / "log.jsonl").write_text(exported(cli, source))
    code = (
        "import os, sys, signal\n"
        "from gitmem.importers import jsonl\n"
        "from gitmem.store import plumbing_log\n"
        f"{step} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from gitmem.cli.entry import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, "import", "jsonl", "log.jsonl"], cwd=repo)
    assert done.returncode == -9 and git("for-each-ref", "refs/decisions*", cwd=repo) == ""
    assert cli("import", "jsonl", "log.jsonl", cwd=repo).code == 0
    assert state(cli, repo) == state(cli, source)
    assert not list((repo / ".git" / "gitmem").glob("importing.*")) and os.path.exists(repo)
