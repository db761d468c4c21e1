"""The golden files are what the code makes, and what the standards and git themselves make of the format's words.

The first half runs `scripts/golden --check`, under odd surroundings too. The second half uses nothing of gitmem:
hashlib, json and git are the other implementation, so an error that code and files share would show there.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
EVENTS = ROOT / "tests" / "golden" / "events"
OBJECTS = ROOT / "tests" / "golden" / "objects"


def table(name: str, folder: Path = EVENTS) -> Any:
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


# --- against the code ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONHASHSEED": "7"},
        {"TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "random", "GIT_AUTHOR_NAME": "Mallory"},
    ],
    ids=["here", "Kathmandu in C", "Newfoundland in Turkish"],
)
def test_the_code_makes_each_golden_file_byte_for_byte(odd):
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "golden"), "--check"],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} | odd,
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_the_check_sees_a_changed_a_missing_and_a_superfluous_file(tmp_path):
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    shutil.copytree(ROOT / "gitmem", tmp_path / "gitmem", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(EVENTS.parent, tmp_path / "tests" / "golden")
    check = [sys.executable, str(tmp_path / "scripts" / "golden"), "--check"]
    assert subprocess.run(check, capture_output=True).returncode == 0
    written = tmp_path / "tests" / "golden" / "events" / "written"
    changed = written / "override.json"
    changed.write_bytes(changed.read_bytes() + b"\n")
    (written / "letters.id").unlink()
    (written / "stray.json").write_bytes(b"{}")
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 1
    for name in ("override.json", "letters.id", "stray.json"):
        assert f"differs: tests/golden/events/written/{name}" in done.stdout
    assert not (written / "letters.id").exists()


# --- without the code ---------------------------------------------------------------------------

HAPPY = [*sorted((EVENTS / "written").glob("*.json")), *sorted((EVENTS / "read").glob("*.json"))]


@pytest.mark.parametrize("path", HAPPY, ids=lambda path: path.stem)
def test_an_id_is_the_sha_256_of_canonical_bytes(path):
    data = path.read_bytes()
    assert path.with_suffix(".id").read_text() == hashlib.sha256(data).hexdigest() + "\n"
    value = json.loads(data)
    assert json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode() == data
    described = table(path.parent.name)[path.stem]
    assert described["id"] == hashlib.sha256(data).hexdigest()
    assert (described["kind"], described["clock"]) == (value["kind"], value["clock"])
    named = {*value.get("after", ()), *value.get("supersedes", ()), *value.get("targets", ())}
    assert described["refers_to"] == sorted(named)
    assert described["subject"].endswith(f"({described['id'][:8]})")


def test_every_word_of_the_format_has_a_golden_event():
    seen: dict[str, set[str]] = {}
    for path in (EVENTS / "written").glob("*.json"):
        event = json.loads(path.read_bytes())
        for name in ("kind", "change_type", "how", "action", "channel", "basis", "effect", "mode"):
            seen.setdefault(name, set()).add(event.get(name, ""))
    page = (ROOT / "docs" / "format.md").read_text("utf-8")
    for name, words in seen.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| words of `{name}` "))
        assert set(re.findall(r"`([a-z_-]+)`", row.partition("|")[2].partition("|")[2])) == words - {""}, name


def test_derived_nonces_come_from_the_hash_alone():
    for case in table("nonces"):
        inputs = [case["kind"], case["policy"], case["moment"], sorted(case["inputs"])]
        data = json.dumps(inputs, ensure_ascii=False, separators=(",", ":")).encode()
        assert case["nonce"] == hashlib.sha256(data).hexdigest()[:32]


def test_the_page_of_the_format_has_the_tables_and_the_roots():
    page = (ROOT / "docs" / "format.md").read_text("utf-8")
    printed = dict(re.findall(r"^`([a-z ]+)`: .*\n\n```\n([^`]+)\n```$", page, re.MULTILINE))
    assert {name: text.split() for name, text in printed.items()} == table("tables")
    for form in ("sha1", "sha256"):
        root = next(row for row in table(form, OBJECTS) if row["name"] == "root")
        assert f"`{root['oid']}`" in page
        assert "".join(f"  {line}".rstrip() + "\n" for line in root["text"].splitlines()[1:]) in page


def test_each_rule_that_the_code_cites_is_in_the_page_of_the_format():
    page = (ROOT / "docs" / "format.md").read_text("utf-8")
    rules = re.findall(r"^- \*\*(F\d+)\*\*", page, re.MULTILINE)
    assert len(rules) == len(set(rules)) >= 30
    cited = {}
    for path in (ROOT / "gitmem").rglob("*.py"):
        for rule in re.findall(r"\bF[1-9][0-9]?\b", path.read_text("utf-8")):
            cited.setdefault(rule, path.name)
    assert {"F2", "F5", "F12", "F18", "F26"} <= cited.keys()
    assert {rule: name for rule, name in cited.items() if rule not in rules} == {}


def test_each_refused_file_is_listed_with_its_rule_and_message():
    listed = table("refused")
    files = {path.stem for path in (EVENTS / "refused").glob("*.json")}
    assert {case["name"] for case in listed if "made_of" not in case} == files
    rules = set(re.findall(r"^- \*\*(F\d+)\*\*", (ROOT / "docs" / "format.md").read_text("utf-8"), re.MULTILINE))
    for case in listed:
        assert case["message"] and case["rule"] in rules, case
    assert len({case["name"] for case in listed}) == len(listed)


@pytest.mark.parametrize("case", table("tombstones"))
def test_a_tombstone_is_a_pure_function_of_its_event(case):
    row = table("tombstones")[case]
    data, stone = row["of"].encode(), json.loads((EVENTS / "tombstones" / f"{case}.redacted").read_bytes())
    for name, hashed in (("sha1", hashlib.sha1), ("sha256", hashlib.sha256)):
        assert stone[f"blob_{name}"] == hashed(b"blob %d\0" % len(data) + data).hexdigest()
        if row.get("signed"):
            signature = (EVENTS / "signed" / "event.sig").read_bytes()
            assert stone[f"signature_{name}"] == hashed(b"blob %d\0" % len(signature) + signature).hexdigest()
    assert (stone["id"], stone["redacted"]) == (row["id"], row["form"])
    own = {"id", "redacted", "blob_sha1", "blob_sha256", "signature_sha1", "signature_sha256"}
    if row["form"] == "unreadable":
        assert set(stone) == own - {"signature_sha1", "signature_sha256"}
        return
    assert stone["id"] == hashlib.sha256(data).hexdigest()
    event = json.loads(data)
    assert all(event[name] == value for name, value in stone.items() if name not in own)
    assert not set(stone) & {"nonce", "reasoning", "reason", "text", "diff", "patterns", "fingerprint", "tool"}
    assert ("approach" in stone) == (row["form"] == "plain" and "approach" in event)
    assert ("entity_path" in stone) == (row["form"] != "entity" and "entity_path" in event)


# --- with git -----------------------------------------------------------------------------------


def _git(place: Path, *arguments: str, data: bytes = b"") -> str:
    done = subprocess.run(["git", *arguments], cwd=place, input=data, capture_output=True)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout.decode().strip()


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_git_gives_each_object_the_golden_name_and_finds_the_log_sound(tmp_path, form):
    _git(tmp_path, "init", "-q", "--bare", f"--object-format={form}", ".")
    rows = table(form, OBJECTS)
    by_name = {row["name"]: row["oid"] for row in rows}
    # what a tombstone replaced isn't in the new log, so each tip is looked at alone, in the order of the table
    for row in rows:
        data = bytes.fromhex(row["hex"])
        assert row.get("text", data.decode("latin-1") if row["type"] == "tree" else None) is not None
        if "text" in row:
            assert row["text"].encode() == data
        assert _git(tmp_path, "hash-object", "-w", "-t", row["type"], "--stdin", data=data) == row["oid"]
    for tip in ("after-join", "redacted-plain-tip", "redacted-approach-tip", "redacted-entity-tip", "redacted-signed"):
        _git(tmp_path, "update-ref", "refs/decisions/log", by_name[tip])
        assert _git(tmp_path, "fsck", "--strict", "--no-dangling") == ""
        assert _git(tmp_path, "rev-list", "--max-parents=0", "refs/decisions/log") == by_name["root"]
    _git(tmp_path, "update-ref", "refs/decisions/log", by_name["after-join"])
    subjects = _git(tmp_path, "log", "--format=%an <%ae> %at %ct: %s", "refs/decisions/log").splitlines()
    assert len(subjects) == 7
    assert subjects[-1] == "gitmem <gitmem@gitmem.invalid> 0 0: root of the decision log, format 1"
    assert any(line.startswith("Ünï Cöde <uni@example.org>") and "add Grüße/世界 (" in line for line in subjects)
    assert not any("hunter2" in line or "token in our table" in line for line in subjects)


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_join_sorts_its_parents_and_takes_the_later_time(form):
    rows = {row["name"]: row for row in table(form, OBJECTS)}
    for name in ("join", "redacted-plain-join", "redacted-approach-join", "redacted-entity-join"):
        header = rows[name]["text"].partition("\n\n")[0].splitlines()
        parents = [line.removeprefix("parent ") for line in header if line.startswith("parent ")]
        assert len(parents) == 2 and parents == sorted(parents)
        times = []
        for parent in parents:
            row = next(row for row in rows.values() if row["oid"] == parent)
            times.append(int(row["text"].partition("\n\n")[0].split()[-2]))
        assert header[-1] == f"committer gitmem <gitmem@gitmem.invalid> {max(times)} +0000"
        assert header[0] == f"tree {rows['empty-tree']['oid']}"


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen here")
def test_a_signature_is_over_the_canonical_bytes_in_the_namespace_gitmem(tmp_path):
    signed = EVENTS / "signed"
    data = (signed / "event.json").read_bytes()

    def verified(data: bytes, namespace: str = "gitmem", principal: str = "ada@example.org") -> bool:
        command = ["ssh-keygen", "-Y", "verify", "-n", namespace, "-I", principal]
        command += ["-f", str(signed / "allowed_signers"), "-s", str(signed / "event.sig")]
        return subprocess.run(command, input=data, capture_output=True).returncode == 0

    assert verified(data)
    assert not verified(data + b"\n")
    assert not verified(data, namespace="git")
    assert not verified(data, principal="bob@example.org")
    assert json.loads(data)["author"].endswith(" <ada@example.org>")
