"""Signed events: made only when asked for, checked against the keys that git trusts, each fault told apart."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gitmem.core.drafts import Draft
from gitmem.core.objects import SIGNATURE_MAX
from gitmem.memory import Memory
from gitmem.store import policy
from gitmem.store.repository import locate
from gitmem.store.signing import Signing

WHY = ("-r", "We looked at it together.")
POLICY = "[policy]\nrequire_signed_reviews = true\n"

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen here")


class Keys:
    """Key pairs in a folder outside the repository, made when they are first named."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()

    def __call__(self, name: str) -> Path:
        """The file of the private key."""
        path = self._folder / name
        if not path.exists():
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path], check=True)
        return path

    def public(self, name: str) -> str:
        return self(name).with_suffix(".pub").read_text().strip()

    def signature(self, name: str, data: bytes, namespace: str = "gitmem") -> bytes:
        command = ["ssh-keygen", "-Y", "sign", "-q", "-n", namespace, "-f", self(name)]
        return subprocess.run(command, input=data, capture_output=True, check=True).stdout


@pytest.fixture
def keys(tmp_path) -> Keys:
    return Keys(tmp_path / "keys")


@pytest.fixture
def repo(make_repo, keys, git) -> Path:
    """A repository whose user signs with the key `ada`, which is listed for her."""
    repo: Path = make_repo()
    git("config", "user.signingKey", keys("ada"), cwd=repo)
    trust(git, repo, f"ada@example.org {keys.public('ada')}")
    return repo


def trust(git, repo: Path, *lines: str) -> None:
    (repo / ".allowed").write_text("".join(f"{line}\n" for line in lines))
    git("config", "gpg.ssh.allowedSignersFile", ".allowed", cwd=repo)


def written(outcome) -> str:
    (event,) = outcome.json["events"]
    return str(event["id"])


def found(cli, repo: Path, *options: str) -> tuple[int, dict[str, str]]:
    """The exit status of `verify`, and of each finding its rule and severity."""
    done = cli("verify", "--json", *options, cwd=repo)
    return done.code, {one["rule"]: one["severity"] for one in done.json["findings"]}


def forged(repo: Path, monkeypatch, signature) -> str:
    """Append a reject whose signature is what `signature(bytes)` makes; return its id."""
    memory = Memory.open(str(repo))
    with monkeypatch.context() as patched:
        patched.setattr(Signing, "sign", lambda self, several: {one.id: signature(body) for one, body in several})
        patched.setattr(Signing, "doubts", lambda self, several: [])
        fields = {"entity_path": "users.card", "change_type": "reject", "reasoning": "PCI.", "approach": "own table"}
        done = memory.record(Draft("change", fields, sign=True))
    memory.close()
    return done.rows[0].event.id


# --- made and shown --------------------------------------------------------------------------


def test_a_review_is_signed_when_asked_for_and_everything_says_so(person, cli, git, repo, keys):
    git("config", "commit.gpgsign", "true", cwd=repo)  # says nothing about us
    proposed = written(cli("reject", "users.card", "--approach", "own table", "-r", "PCI.", "--json", cwd=repo))
    outcome = person("ratify", proposed, *WHY, "--sign", "--json")
    ratified = written(outcome)
    assert outcome.json["warnings"] == []
    names = git("ls-tree", "--name-only", "refs/decisions/log", cwd=repo).split()
    assert names == [f"{ratified}.json", f"{ratified}.sig"]
    # Anyone can check it with OpenSSH alone.
    body, signature = (git.run("show", f"refs/decisions/log:{name}", cwd=repo).stdout for name in names)
    (repo / ".sig").write_bytes(signature)
    command = ["ssh-keygen", "-Y", "verify", "-n", "gitmem", "-I", "ada@example.org", "-f", ".allowed", "-s", ".sig"]
    subprocess.run(command, cwd=repo, input=body, check=True, capture_output=True)

    printed = subprocess.run(["ssh-keygen", "-l", "-f", keys("ada")], capture_output=True, text=True).stdout.split()[1]
    expected = {"state": "good", "principal": "ada@example.org", "key": printed}
    events = person("log", "--kind", "any", "--json").json["events"]
    assert {event["id"]: event["signature"] for event in events} == {proposed: None, ratified: expected}
    shown = person("show", proposed, "--json").json
    assert shown["event"]["signature"] is None and shown["reviews"][0]["signature"] == expected
    assert f"signed by ada@example.org, {printed}" in person("show", proposed).stdout
    assert f"Signed: by ada@example.org, {printed}" in person("log", "--kind", "review").stdout
    assert "signed" in person("log", "--kind", "review", "--oneline").stdout
    assert "signed" not in person("log", "--oneline").stdout
    assert found(cli, repo) == (0, {})
    assert person("verify", "--json").json["signatures"] == 1


def test_every_command_of_a_person_can_sign_and_one_commit_holds_all_signatures(person, cli, git, repo):
    person("record", "users.email", "add", "-r", "Login.", "--sign")
    ids = [written(person("reject", f"users.{name}", "-r", "No.", "--sign", "--json")) for name in "ab"]
    person("supersede", ids[0], *WHY, "--sign")
    person("dispute", ids[1], *WHY, "--sign")
    for action in ("ratify", "retract"):  # two lineages, so two events in one commit
        person(action, ids[1], written(cli("reject", f"c.{action}", "-r", "No.", "--json", cwd=repo)), *WHY, "--sign")
        assert git("ls-tree", "--name-only", "refs/decisions/log", cwd=repo).count(".sig") == 2
    cli("reject", "users.z", "--approach", "md5", "-r", "Too weak.", cwd=repo)
    token = person("review", "--json").json["token"]
    person("review", "--ratify-all", token, *WHY, "--sign")
    assert found(cli, repo) == (0, {})
    assert person("verify", "--json").json["signatures"] == 10


def test_without_being_asked_nothing_is_signed_and_a_dry_run_signs_nothing(person, git, repo):
    git("config", "commit.gpgsign", "true", cwd=repo)
    git("config", "gpg.format", "ssh", cwd=repo)
    person("reject", "users.card", "-r", "PCI.")
    assert ".sig" not in git("ls-tree", "-r", "--name-only", "refs/decisions/log", cwd=repo)
    before = git("rev-parse", "refs/decisions/log", cwd=repo)
    git("config", "user.signingKey", "/nowhere", cwd=repo)
    assert person("reject", "users.b", "-r", "PCI.", "--sign", "--dry-run", "--json").json["written"] is False
    assert git("rev-parse", "refs/decisions/log", cwd=repo) == before


def test_a_key_that_will_not_verify_is_told_at_once(person, git, repo, keys):
    git("config", "user.signingKey", keys("eve"), cwd=repo)
    said = person("reject", "users.card", "-r", "PCI.", "--sign").stderr
    assert "`git decisions verify` will not take it" in said and "don't list" in said
    git("config", "--unset", "gpg.ssh.allowedSignersFile", cwd=repo)
    assert "nobody can check it here" in person("reject", "users.b", "-r", "PCI.", "--sign").stderr


# --- what keeps one from signing -------------------------------------------------------------


def test_what_keeps_one_from_signing_is_said_and_nothing_is_written(person, git, repo, keys, tmp_path):
    person("record", "users.email", "add", "-r", "Login.")
    before = git("rev-parse", "refs/decisions/log", cwd=repo)
    locked = tmp_path / "locked"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "correct horse", "-f", locked], check=True)
    for settings, said in (
        ({"user.signingKey": "/nowhere/key.pub"}, "the key /nowhere/key.pub is not there"),
        ({"user.signingKey": f"key::{keys.public('ada')}"}, "`ssh-add -l` shows"),
        ({"user.signingKey": ".allowed"}, "ssh-keygen and .allowed"),
        ({"gpg.ssh.program": "/nowhere/ssh-keygen"}, "the program `/nowhere/ssh-keygen` can't be started"),
        ({"user.signingKey": "", "gpg.ssh.defaultKeyCommand": "echo nothing"}, "(`echo nothing`) gave no key"),
        ({"user.signingKey": "", "gpg.ssh.defaultKeyCommand": "/nowhere/add -L"}, "gave no key"),
        ({"user.signingKey": ""}, "user.signingKey is not set"),
    ):
        options = [f"GIT_CONFIG_KEY_{at}={name}" for at, name in enumerate(settings)]
        options += [f"GIT_CONFIG_VALUE_{at}={value}" for at, value in enumerate(settings.values())]
        env = dict(option.split("=", 1) for option in options) | {"GIT_CONFIG_COUNT": str(len(settings))}
        outcome = person("reject", "users.card", "-r", "PCI.", "--sign", env={**env, "SSH_AUTH_SOCK": None}, code=35)
        assert said in outcome.stderr and "nothing was written" in outcome.stderr, outcome.stderr
        assert "hint:" in outcome.stderr or "defaultKeyCommand" in said or "gave no key" in said
    assert git("rev-parse", "refs/decisions/log", cwd=repo) == before
    error = person("reject", "a.b", "-r", "x", "--sign", "--json", env={"PATH": git_alone(tmp_path)}, code=35).json
    assert (error["error"]["name"], error["error"]["written"]) == ("SigningFailed", False)
    person("reject", "users.card", "-r", "PCI.", "--sign")  # as it is set, it works
    assert git("rev-parse", "refs/decisions/log", cwd=repo) != before


def git_alone(tmp_path: Path) -> str:
    """A PATH with git on it and no ssh-keygen."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "git").symlink_to(str(shutil.which("git")))
    return str(place)


@pytest.fixture
def ssh_agent(tmp_path):
    """The environment of an agent of the test's own."""
    if shutil.which("ssh-agent") is None:
        pytest.skip("no ssh-agent here")
    socket = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL)
    try:
        for _ in range(500):
            if socket.exists():
                break
            os.sched_yield()
            subprocess.run(["sleep", "0.01"], check=True)
        yield {"SSH_AUTH_SOCK": str(socket)}
    finally:
        process.terminate()
        process.wait()


def test_a_key_in_an_agent_signs_by_its_public_half_and_a_locked_agent_is_told(
    person, cli, git, repo, keys, ssh_agent, tmp_path
):
    env = {**os.environ, **ssh_agent}
    subprocess.run(["ssh-add", "-q", keys("ada")], env=env, check=True)
    git("config", "user.signingKey", f"key::{keys.public('ada')}", cwd=repo)
    person("reject", "users.a", "-r", "No.", "--sign", env=ssh_agent)
    git("config", "--unset", "user.signingKey", cwd=repo)
    git("config", "gpg.ssh.defaultKeyCommand", "ssh-add -L", cwd=repo)
    person("reject", "users.b", "-r", "No.", "--sign", env=ssh_agent)
    assert found(cli, repo) == (0, {}) and person("verify", "--json").json["signatures"] == 2
    git("config", "user.signingKey", f"key::{keys.public('ada')}", cwd=repo)
    subprocess.run(["ssh-add", "-q", "-D"], env=env, check=True)
    said = person("reject", "users.c", "-r", "No.", "--sign", env=ssh_agent, code=35).stderr
    assert "`ssh-add -X` unlocks it" in said


# --- checked ---------------------------------------------------------------------------------


def test_each_way_for_a_signature_to_be_wrong_is_told_apart_and_decides_nothing(cli, git, repo, keys, monkeypatch):
    def bad(body: bytes) -> bytes:
        return keys.signature("ada", body + b" ")

    good = keys.signature
    for make, rule in (
        (lambda body: good("ada", body), None),
        (bad, "signature-bad"),
        (lambda body: good("eve", body), "signature-unknown-key"),
        (lambda body: good("bob", body), "signature-other-principal"),
        (lambda body: good("old", body), "signature-not-valid-then"),
        (lambda body: good("lost", body), "signature-revoked"),
        (lambda body: good("ada", body, "git"), "signature-form"),
        (lambda body: good("ada", body)[:60], "signature-form"),
        (lambda body: b"signed, Ada", "signature-form"),
        (lambda body: good("ada", body) + b" " * SIGNATURE_MAX, "signature-form"),
    ):
        git("update-ref", "-d", "refs/decisions/log", cwd=repo)
        trust(
            git,
            repo,
            f"ada@example.org {keys.public('ada')}",
            f"bob@example.org {keys.public('bob')}",
            f'ada@example.org valid-before="20200101" {keys.public("old")}',
            f"ada@example.org {keys.public('lost')}",
        )
        (repo / ".revoked").write_text(keys.public("lost") + "\n")
        git("config", "gpg.ssh.revocationFile", ".revoked", cwd=repo)
        event = forged(repo, monkeypatch, make)
        assert found(cli, repo) == ((1, {rule: "error"}) if rule else (0, {})), rule
        if rule:
            (finding,) = cli("verify", "--json", cwd=repo).json["findings"]
            assert finding["event"] == event and finding["commit"]
        # Replay knows nothing of signatures.
        (decision,) = cli("status", "users.card", "--json", cwd=repo).json["decisions"]
        assert (decision["verdict"], decision["standing"]) == ("rejected", event)
        told = cli("show", event, "--json", cwd=repo).json["event"]["signature"]
        if rule == "signature-form":
            assert told is None
        else:
            assert told["state"] == (rule or "signature-good").removeprefix("signature-")
            assert cli("show", event, cwd=repo).stdout.count("signature in doubt") == (1 if rule else 0)


def test_the_longest_signature_that_the_format_allows_is_taken_and_one_more_byte_is_not(
    cli, git, repo, keys, monkeypatch
):
    def filled(size):
        return lambda body: keys.signature("ada", body).ljust(size, b"\n")

    forged(repo, monkeypatch, filled(SIGNATURE_MAX))
    assert found(cli, repo) == (0, {})
    git("update-ref", "-d", "refs/decisions/log", cwd=repo)
    forged(repo, monkeypatch, filled(SIGNATURE_MAX + 1))
    assert found(cli, repo) == (1, {"signature-form": "error"})


def test_without_allowed_signers_nothing_is_checked_and_a_warning_says_so(person, cli, git, repo):
    person("reject", "users.card", "-r", "PCI.", "--sign")
    git("config", "--unset", "gpg.ssh.allowedSignersFile", cwd=repo)
    assert found(cli, repo) == (0, {"signature-unchecked": "warning"})
    (event,) = person("log", "--json").json["events"]
    assert event["signature"]["state"] == "unchecked" and event["signature"]["key"].startswith("SHA256:")
    git("config", "gpg.ssh.allowedSignersFile", "nowhere", cwd=repo)
    done = cli("verify", cwd=repo)
    assert done.code == 0 and f"{repo / 'nowhere'}, which is not there" in done.stdout


def test_a_key_that_was_valid_when_it_signed_stays_good_and_of_a_wildcard_too(person, cli, git, repo, keys):
    person("reject", "users.card", "-r", "PCI.", "--sign")
    trust(git, repo, f'*@example.org valid-after="20200101",valid-before="29990101" {keys.public("ada")}')
    assert found(cli, repo) == (0, {})
    trust(git, repo, f'ada@example.org namespaces="git" {keys.public("ada")}')
    assert found(cli, repo) == (1, {"signature-other-principal": "error"})


def test_what_was_checked_is_remembered_until_the_trusted_keys_change(person, cli, git, repo, keys, tmp_path):
    for name in "abc":
        person("reject", f"users.{name}", "-r", "PCI.", "--sign")
    calls = tmp_path / "calls"
    program = tmp_path / "keygen"
    program.write_text(f'#!/bin/sh\necho call >> {calls}\nexec ssh-keygen "$@"\n')
    program.chmod(0o755)
    git("config", "gpg.ssh.program", program, cwd=repo)

    def asked() -> int:
        calls.write_text("")
        assert found(cli, repo) == (0, {})
        return calls.read_text().count("call")

    assert asked() == 3
    assert asked() == 0
    person("log", "--json")
    assert calls.read_text() == ""
    trust(git, repo, f"ada@example.org {keys.public('ada')}", f"bob@example.org {keys.public('bob')}")
    assert asked() == 3


def test_from_a_checkpoint_on_only_what_came_after_it_is_checked(person, cli, git, repo):
    person("reject", "users.a", "-r", "PCI.", "--sign")
    since = git("rev-parse", "refs/decisions/log", cwd=repo)
    person("reject", "users.b", "-r", "PCI.", "--sign")
    assert cli("verify", "--since", since, "--json", cwd=repo).json["signatures"] == 1
    assert cli("verify", "--json", cwd=repo).json["signatures"] == 2


# --- they travel -----------------------------------------------------------------------------


def test_signatures_survive_a_join_the_redaction_of_others_a_rebuild_and_a_clone(person, cli, git, repo, make_repo):
    signed = written(person("reject", "users.a", "-r", "No.", "--sign", "--json"))
    loud = written(person("reject", "users.b", "-r", "The office is at Blue Street 12.", "--json"))
    both = [event["id"] for event in person("ratify", signed, loud, *WHY, "--sign", "--json").json["events"]]
    other = make_repo()
    git("fetch", "--quiet", repo, "refs/decisions/log:refs/decisions/log", cwd=other)
    person("reject", "users.c", "-r", "Here.")
    cli("reject", "users.d", "-r", "There.", cwd=other, tty=True)
    git("fetch", "--quiet", other, "+refs/decisions/log:refs/fetched", cwd=repo)
    memory = Memory.open(str(repo))
    memory.join(git("rev-parse", "refs/fetched", cwd=repo))
    memory.close()
    person("redact", loud, "-r", "It told an address.")
    person("rebuild")
    states = {
        event["id"]: (event["signature"] or {}).get("state")
        for event in person("log", "--kind", "any", "--all", "--json").json["events"]
    }
    assert {states[one] for one in (signed, *both)} == {"good"} and states[loud] is None
    assert found(cli, repo) == (0, {})
    assert person("verify", "--json").json["signatures"] == 3
    person("redact", signed, "-r", "This one too.")  # its own signature goes with it
    assert found(cli, repo) == (0, {}) and person("verify", "--json").json["signatures"] == 2


# --- a policy that demands them --------------------------------------------------------------


def test_a_policy_demands_that_reviews_are_signed(person, cli, git, repo):
    proposed = written(cli("reject", "users.card", "--approach", "x", "-r", "PCI.", "--json", cwd=repo))
    (repo / ".decisions.toml").write_text(POLICY)
    before = git("rev-parse", "refs/decisions/log", cwd=repo)
    for action in ("ratify", "dispute", "retract"):
        said = person(action, proposed, *WHY, code=14).stderr
        assert "require_signed_reviews" in said and "add --sign" in said and "nothing was written" in said
    token = person("review", "--json").json["token"]
    assert person("review", "--ratify-all", token, *WHY, code=14)
    assert git("rev-parse", "refs/decisions/log", cwd=repo) == before
    # A record is no review, and an agent's dispute is no person's.
    person("record", "users.email", "add", "-r", "Login.")
    assert cli("dispute", proposed, *WHY, cwd=repo, env={"CLAUDECODE": "1"}).code == 0
    person("ratify", proposed, *WHY, "--sign")
    assert found(cli, repo) == (0, {})


def test_what_a_policy_demanded_is_found_in_the_first_commit_and_in_what_a_merge_left_out(make_repo, git):
    repo = make_repo("empty")
    file, loose = repo / ".decisions.toml", '[components]\na = "a"\n'

    def commit(text: str) -> str:
        file.write_text(text)
        git("add", "-A", cwd=repo)
        git("commit", "-q", "-m", "policy", cwd=repo)
        return policy.read(locate(repo)).digest

    first = commit(POLICY)
    plain = commit(loose)
    git("checkout", "-q", "-b", "topic", cwd=repo)
    second = commit(POLICY + loose)
    git("checkout", "-q", "-", cwd=repo)
    git("commit", "-q", "--allow-empty", "-m", "meanwhile", cwd=repo)
    git("merge", "-q", "-s", "ours", "-m", "not theirs", "topic", cwd=repo)
    git("branch", "-q", "-D", "topic", cwd=repo)
    for key in ("log.showRoot", "log.follow"):
        git("config", key, str(key == "log.follow").lower(), cwd=repo)
    assert policy.demanding(locate(repo), {first, plain, second}) == {first, second}


@pytest.mark.parametrize("gone", [False, True])
def test_an_unsigned_review_under_such_a_policy_is_an_error_until_a_signed_one_answers(gone, person, cli, git, repo):
    """Another writer may leave the guard out; and the policy that the event names may have changed since."""
    proposed = written(cli("reject", "users.card", "--approach", "x", "-r", "PCI.", "--json", cwd=repo))
    unasked = written(person("ratify", proposed, *WHY, "--json"))  # no policy then
    (repo / ".decisions.toml").write_text(POLICY)
    git("add", ".decisions.toml", cwd=repo)
    git("commit", "-q", "-m", "policy", cwd=repo)
    digest = written(person("dispute", proposed, *WHY, "--sign", "--json"))
    policy = json.loads(git("show", f"refs/decisions/log:{digest}.json", cwd=repo))["policy"]
    (repo / ".decisions.toml").write_text("")
    review = without_guard(repo, proposed, policy)
    (repo / ".decisions.toml").write_text("" if gone else POLICY)
    if gone:
        git("commit", "-q", "-am", "no policy", cwd=repo)
    assert found(cli, repo) == (1, {"signature-missing": "error"})
    (finding,) = cli("verify", "--json", cwd=repo).json["findings"]
    assert finding["event"] == review != unasked
    (decision,) = cli("status", "users.card", "--json", cwd=repo).json["decisions"]
    assert decision["verdict"] == "rejected"  # a verdict hangs on no signature
    if not gone:  # as the policy has it now
        (item,) = person("review", "--json").json["items"]
        assert (item["why"], item["event"]["id"]) == ("unsigned", review)
        assert f"git decisions ratify {review[:8]} --sign -r WHY" in item["commands"]
        assert "is not signed" in person("review").stdout
    person("ratify", review, *WHY, "--sign")
    assert found(cli, repo) == (0, {})
    assert person("review", "--json").json["items"] == []


def without_guard(repo: Path, target: str, policy: str) -> str:
    """Append a person's unsigned ratify that names `policy`, as a writer without our guard could; return its id."""
    from gitmem.core import rules
    from gitmem.core.drafts import Stamp, Writer
    from gitmem.core.verdicts import judge
    from gitmem.store.writing import Appender

    memory = Memory.open(str(repo))
    writer = Writer("Ada <ada@example.org>", "human", tool="another", policy=policy)

    def decide(cache):
        events = list(cache.component_events([cache.component_of_event(target)]))
        draft = Draft("review", {"action": "ratify", "targets": [target], "reason": "Mine."})
        stamp = Stamp(cache.clock, "2026-11-30T12:00:00.000000Z", iter(["ab" * 16]))
        return rules.decide(judge(events, cache.outside), draft, writer, stamp).appends

    entry = Appender(memory.desk.model, memory.desk.log).append(decide)
    memory.close()
    assert entry is not None
    return entry.events[0][0].id
