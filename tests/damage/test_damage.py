"""One test for each way to break a log: build, break, expect exactly these findings."""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from pathlib import Path

import pytest

REF = "refs/decisions/log"


@pytest.fixture
def log(make_repo, cli):
    """A repository whose log holds four events, recorded one by one."""
    repo = make_repo()
    for change, entity in (
        ("add", "users.email"),
        ("add", "users.name"),
        ("reject", "users.card"),
        ("modify", "users.email"),
    ):
        done = cli("record", entity, change, "-r", f"Because of {entity}.", cwd=repo)
        assert done.code == 0, done.stderr
    return repo


def rules(outcome):
    return [finding["rule"] for finding in outcome.json["findings"] if finding["severity"] == "error"]


def object_path(repo: Path, oid: str) -> Path:
    return repo / ".git" / "objects" / oid[:2] / oid[2:]


def rewrite_loose(repo: Path, oid: str, change) -> None:
    """Put other content under the name of a loose object, as bad disks and bad people do."""
    path = object_path(repo, oid)
    header, zero, body = zlib.decompress(path.read_bytes()).partition(b"\0")
    path.chmod(0o644)
    path.write_bytes(zlib.compress(header + zero + change(body)))


def flipped(body: bytes) -> bytes:
    at = len(body) // 2
    return body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]


def log_oids(git, repo: Path) -> list[str]:
    return git("rev-list", REF, cwd=repo).split()


def objects_of(git, repo: Path, commit: str) -> dict[str, str]:
    tree = git("rev-parse", f"{commit}^{{tree}}", cwd=repo)
    return {"commit": commit, "tree": tree, "blob": git("ls-tree", tree, cwd=repo).split()[2]}


def test_a_whole_log_is_sound(log, cli):
    done = cli("verify", "--json", cwd=log)
    assert done.code == 0
    assert done.json["sound"] is True
    assert done.json["events"] == 4
    assert done.json["commits"] == 5
    assert done.json["findings"] == []


@pytest.mark.parametrize("kind", ["commit", "tree", "blob"])
@pytest.mark.parametrize("age", [0, 2])
def test_one_byte_changed_in_an_object_is_found_and_named(log, cli, git, kind, age):
    assert cli("verify", cwd=log).code == 0
    commit = log_oids(git, log)[age]
    oid = objects_of(git, log, commit)[kind]
    rewrite_loose(log, oid, flipped)
    done = cli("verify", "--json", cwd=log)
    assert done.code == 1
    assert done.json["sound"] is False
    named = " ".join(finding["message"] + str(finding["commit"]) for finding in done.json["findings"])
    assert oid[:12] in named or commit[:12] in named


def rebuilt_chain(git, repo: Path, commits: list[str]) -> str:
    """Chain the trees and messages of `commits` anew, oldest first, below the root; return the tip."""
    parent = git("rev-list", "--max-parents=0", REF, cwd=repo)
    for commit in commits:
        raw = git("cat-file", "commit", commit, cwd=repo)
        lines = raw.split("\n")
        lines = [f"parent {parent}" if line.startswith("parent ") else line for line in lines]
        parent = git("hash-object", "-t", "commit", "-w", "--stdin", cwd=repo, input="\n".join(lines) + "\n")
    return parent


def test_an_event_dropped_is_found_by_its_clock(log, cli, git):
    assert cli("verify", cwd=log).code == 0
    commits = log_oids(git, log)[::-1][1:]
    tip = rebuilt_chain(git, log, [commits[0], *commits[2:]])
    git("update-ref", REF, tip, cwd=log)
    done = cli("verify", "--json", cwd=log)
    assert done.code == 1
    assert "event-clock" in rules(done)


def test_events_reordered_are_found_by_their_clocks(log, cli, git):
    commits = log_oids(git, log)[::-1][1:]
    tip = rebuilt_chain(git, log, [commits[1], commits[0], *commits[2:]])
    git("update-ref", REF, tip, cwd=log)
    done = cli("verify", "--json", cwd=log)
    assert done.code == 1
    assert "event-clock" in rules(done)


def test_a_rewound_log_is_found_by_a_checkpoint(log, cli, git):
    tip = git("rev-parse", REF, cwd=log)
    assert cli("verify", "--since", tip, cwd=log).code == 0
    git("update-ref", REF, f"{tip}~1", cwd=log)
    assert cli("verify", cwd=log).code == 0  # a chain has no key: alone it looks whole
    done = cli("verify", "--since", tip, "--json", cwd=log)
    assert done.code == 1
    assert rules(done) == ["checkpoint"]


def test_a_missing_object_is_incomplete_not_tampered(log, cli, git):
    blob = objects_of(git, log, log_oids(git, log)[1])["blob"]
    object_path(log, blob).unlink()
    done = cli("verify", "--json", cwd=log)
    assert done.code == 23
    assert "missing-object" in rules(done)
    (log / ".git" / "gitmem" / "cache.sqlite").unlink()
    reading = cli("log", cwd=log)
    assert reading.code == 23
    assert blob[:12] in reading.stderr


def test_a_foreign_commit_on_top_is_named(log, cli, git):
    tree = git("mktree", cwd=log, input="")
    tip = git("commit-tree", tree, "-p", REF, "-m", "hello", cwd=log)
    git("update-ref", REF, tip, cwd=log)
    done = cli("verify", "--json", cwd=log)
    assert done.code == 1
    assert done.json["findings"][0]["commit"] == tip
    reading = cli("log", cwd=log)
    assert reading.code == 21
    assert "verify" in reading.stderr


def test_a_log_with_a_root_of_its_own_is_refused(make_repo, cli, git):
    repo = make_repo()
    git("update-ref", REF, "HEAD", cwd=repo)
    assert cli("verify", cwd=repo).code == 1
    assert cli("log", cwd=repo).code == 21
    assert cli("record", "users.email", "add", "-r", "Reason.", cwd=repo).code == 21
    assert git("rev-parse", REF, cwd=repo) == git("rev-parse", "HEAD", cwd=repo)


def event_commit_of(git, repo: Path, name: str, body: bytes) -> str:
    """Append a well-made commit that holds one file; its events need not be any."""
    blob = git("hash-object", "-w", "--stdin", cwd=repo, input=body)
    tree = git("mktree", cwd=repo, input=f"100644 blob {blob}\t{name}\n")
    tip = git("rev-parse", REF, cwd=repo)
    commit = (
        f"tree {tree}\nparent {tip}\nauthor Eve <eve@example.org> 1796040000 +0000\n"
        f"committer Eve <eve@example.org> 1796040000 +0000\n\nadd x (00000000)\n"
    )
    oid = git("hash-object", "-t", "commit", "-w", "--stdin", cwd=repo, input=commit)
    git("update-ref", REF, oid, cwd=repo)
    return oid


def test_one_malformed_blob_in_a_sound_structure_is_quarantined(log, cli, git):
    name = "ab" * 32 + ".json"
    event_commit_of(git, log, name, b'{"not": "canonical"}')
    reading = cli("log", "--json", cwd=log)
    assert reading.code == 0
    assert len(reading.json["events"]) == 4
    assert "verify" in reading.stderr and "1 event" in reading.stderr
    done = cli("verify", "--json", cwd=log)
    assert done.code == 1
    assert rules(done) == ["event-malformed"]
    assert done.json["findings"][0]["event"] == "ab" * 32
    # Writing goes on above it, and what follows is sound.
    assert cli("record", "users.phone", "add", "-r", "Support calls.", cwd=log).code == 0
    assert len(cli("log", "--json", cwd=log).json["events"]) == 5
    assert rules(cli("verify", "--json", cwd=log)) == ["event-malformed"]
    # Whoever asks for it by name is told what it is; a name that nothing has is another answer.
    done = cli("show", "abab", "--json", cwd=log)
    assert done.code == 20 and done.json["error"]["name"] == "MalformedEvent" and "abababab" in done.stdout
    assert cli("show", "abac", cwd=log).code == 12


def test_an_event_under_a_wrong_name_is_quarantined(log, cli, git):
    newest = log_oids(git, log)[0]
    body = git.run("cat-file", "blob", objects_of(git, log, newest)["blob"], cwd=log).stdout
    event_commit_of(git, log, "cd" * 32 + ".json", body)
    done = cli("verify", "--json", cwd=log)
    assert done.code == 1
    assert "event-name" in rules(done)
    assert len(cli("log", "--json", cwd=log).json["events"]) == 4


def test_a_replace_ref_is_read_through_and_named(log, cli, git):
    commits = log_oids(git, log)
    git("replace", commits[1], commits[2], cwd=log)
    done = cli("verify", "--json", cwd=log)
    assert done.code == 0
    assert done.json["events"] == 4
    assert [(f["rule"], f["severity"]) for f in done.json["findings"]] == [("replaced", "warning")]


def test_a_graft_is_read_through_and_named(log, cli, git):
    commits = log_oids(git, log)
    (log / ".git" / "info").mkdir(exist_ok=True)
    (log / ".git" / "info" / "grafts").write_text(f"{commits[0]} {commits[-1]}\n")
    done = cli("verify", "--json", cwd=log)
    assert done.code == 0
    assert done.json["events"] == 4
    assert [(f["rule"], f["severity"]) for f in done.json["findings"]] == [("grafts", "warning")]


def test_an_absent_log_is_not_sound(make_repo, cli):
    repo = make_repo()
    done = cli("verify", "--json", cwd=repo)
    assert done.code == 10
    assert done.json["sound"] is False
    assert rules(done) == ["absent"]
    assert cli("verify", "--allow-missing", cwd=repo).code == 0
    assert cli("log", cwd=repo).code == 10


def test_a_shallow_log_is_truncated_not_sound(log, cli, git, tmp_path):
    clone = tmp_path / "shallow"
    git("clone", "-q", "--no-local", "--depth=1", f"file://{log}", clone, cwd=tmp_path)
    git("fetch", "-q", "--depth=2", "origin", f"{REF}:{REF}", cwd=clone)
    done = cli("verify", "--json", cwd=clone)
    assert done.code == 23
    assert rules(done) == ["truncated"]
    assert cli("log", cwd=clone).code == 23
    git("fetch", "-q", "--unshallow", "origin", f"+{REF}:{REF}", cwd=clone)
    assert cli("verify", cwd=clone).code == 0
    assert cli("log", cwd=clone).code == 0


def test_the_same_findings_full_and_incremental(log, cli, git):
    start = git("rev-parse", f"{REF}~2", cwd=log)
    event_commit_of(git, log, "ab" * 32 + ".json", b"{}")
    full = cli("verify", "--json", cwd=log)
    incremental = cli("verify", "--since", start, "--json", cwd=log)
    assert full.code == incremental.code == 1
    assert full.json["findings"] == incremental.json["findings"]
    assert full.json["incremental_from"] is None
    assert incremental.json["incremental_from"] == start


# --- the cache --------------------------------------------------------------------------------


def answers(cli, repo: Path) -> list[str]:
    commands = (
        ("log", "--json", "--all", "--kind", "any"),
        ("status", "--json"),
        ("status", "users", "--json"),
        ("prior", "users", "--all", "--json"),
        ("search", "because", "--json"),
        ("blame", "users.email", "--json"),
    )
    out = []
    for command in commands:
        done = cli(*command, cwd=repo)
        assert done.code == 0, done.stderr
        assert done.stderr == ""
        out.append(done.stdout)
    return out


def test_a_cache_deleted_at_any_moment_changes_no_answer(log, cli):
    before = answers(cli, log)
    for path in (log / ".git" / "gitmem").iterdir():
        path.unlink()
    assert answers(cli, log) == before


@pytest.mark.parametrize(
    "what", ["text", "zeros", "empty", "overwritten", "other schema", "another boot", "of another log"]
)
def test_a_corrupt_cache_is_built_anew_and_changes_no_answer(log, cli, what, make_repo):
    before = answers(cli, log)
    cache = log / ".git" / "gitmem" / "cache.sqlite"
    data = cache.read_bytes()
    match what:
        case "text":
            cache.write_text("this is no database\n" * 100)
        case "zeros":
            cache.write_bytes(bytes(len(data)))
        case "empty":
            cache.write_bytes(b"")
        case "overwritten":
            cache.write_bytes(data[:4096] + os.urandom(len(data) - 4096))
        case "other schema":
            db = sqlite3.connect(cache)
            db.execute("UPDATE meta SET value = 999 WHERE key = 'schema'")
            db.commit()
            db.close()
        case "another boot":
            db = sqlite3.connect(cache)
            db.execute("DELETE FROM names")  # what a torn write might leave, and no checksum tells
            db.execute("INSERT OR REPLACE INTO meta VALUES ('boot', 'a machine that went down')")
            db.commit()
            db.close()
        case "of another log":
            other = make_repo()
            assert cli("record", "a.b", "add", "-r", "Other.", cwd=other).code == 0
            assert cli("log", cwd=other).code == 0
            cache.write_bytes((other / ".git" / "gitmem" / "cache.sqlite").read_bytes())
    assert answers(cli, log) == before
    assert cli("record", "users.phone", "add", "-r", "Support calls.", cwd=log).code == 0
    assert len(cli("log", "--json", cwd=log).json["events"]) == 5


def test_git_fsck_strict_is_clean(log, git):
    done = git.run("fsck", "--strict", "--full", cwd=log)
    assert b"error" not in done.stderr and b"warning" not in done.stderr


def test_the_event_blob_is_canonical_and_its_name_its_sha256(log, git):
    import hashlib

    for commit in log_oids(git, log)[:-1]:
        (name,) = git("ls-tree", "--name-only", commit, cwd=log).split()
        body = git.run("cat-file", "blob", f"{commit}:{name}", cwd=log).stdout
        assert name == hashlib.sha256(body).hexdigest() + ".json"
        spelt = json.dumps(json.loads(body), sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
        assert body == spelt
