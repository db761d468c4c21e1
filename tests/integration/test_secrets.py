"""A secret through the installed command: refused, named, not shown, and nowhere under the git directory."""

from __future__ import annotations

import subprocess
import zlib
from pathlib import Path

import pytest
from secret_samples import INNOCENT

PASSWORD = "Tr0ub4dor&3horse"
SECRET = f"DB_PASSWORD={PASSWORD}"
LOG = "refs/decisions/log"
WHY = "Login needs a stable address."

#: field -> how the command is given it
FIELDS = {
    "reasoning": ["-r", SECRET],
    "approach": ["-r", WHY, "--approach", SECRET],
    "instead": ["-r", WHY, "--instead", SECRET],
    "constraint": ["-r", WHY, "--constraint", SECRET],
    "stale_when": ["-r", WHY, "--stale-when", SECRET],
    "expires_when": ["-r", WHY, "--expires-when", f"manual:{SECRET}"],
    "revisit_after": ["-r", WHY, "--revisit-after", SECRET],
    "patterns": ["-r", WHY, "--pattern", SECRET],
    "evidence": ["-r", WHY, "--evidence", f"url:{SECRET}"],
    "agent": ["-r", WHY, "--agent", SECRET],
    "session_id": ["-r", WHY, "--session", SECRET],
    "changeset_id": ["-r", WHY, "--changeset", SECRET],
    "scope": ["-r", WHY, "--scope", SECRET],
    "commit": ["-r", WHY, "--commit", SECRET],
    "supersedes": ["-r", WHY, "--supersedes", SECRET],
    "valid_from": ["-r", WHY, "--valid-from", SECRET],
    "entity_type": ["-r", WHY, "--entity-type", SECRET],
}


def holds(place: Path, text: str) -> list[str]:
    """Where under the git directory `place` the text stands: in loose or packed objects, or in any file."""
    wanted = text.encode()
    found = []
    for file in sorted(place.rglob("*")):
        if not file.is_file():
            continue
        data = file.read_bytes()
        if wanted in data:
            found.append(str(file))
        elif "objects" in file.parts and len(file.name) >= 38 and file.suffix == "":
            try:
                inner = zlib.decompress(data)
            except zlib.error:
                continue
            if wanted in inner:
                found.append(str(file))
    objects = subprocess.run(
        ["git", "--git-dir", place, "cat-file", "--batch-all-objects", "--unordered", "--batch"],
        capture_output=True, check=True,
    )  # fmt: skip
    return [*found, "packed"] if wanted in objects.stdout else found


def tip(git, repo) -> str:
    return git.run("rev-parse", "--verify", "--quiet", "refs/decisions/log", cwd=repo, check=False).stdout.decode()


@pytest.fixture
def repo(once, make_repo, cli):
    def make() -> Path:
        place = make_repo(name="repo")
        assert cli("record", "users.name", "add", "-r", "People have names.", cwd=place).code == 0
        return place

    return once("people have names", make)


@pytest.mark.parametrize("field", FIELDS)
def test_a_secret_in_any_option_is_refused_named_and_neither_shown_nor_kept(repo, cli, git, field):
    before = tip(git, repo)
    for arguments in (["record", "users.email", "add"], ["reject", "users.phone"]):
        if field == "approach" or arguments[0] == "record":
            outcome = cli(*arguments, *FIELDS[field], cwd=repo)
            assert outcome.code == 15, outcome
            assert f"{field}: looks like a password; nothing was written" in outcome.stderr
            assert "keep the location, never the value" in outcome.stderr
            assert PASSWORD not in outcome.stdout + outcome.stderr
    assert tip(git, repo) == before
    assert holds(repo / ".git", PASSWORD) == []
    assert holds(repo / ".git", "People have names.") != []


@pytest.mark.parametrize("field", ["entity_path", "renamed_from", "diff", "change_type", "stdin"])
def test_a_secret_in_a_name_a_diff_or_on_stdin_is_refused_too(repo, cli, git, field):
    before = tip(git, repo)
    (repo / "change.diff").write_text(f"@@ -1 +1 @@\n-old\n+{SECRET}\n")
    arguments = {
        "entity_path": ["record", f"env/{SECRET}", "add", "-r", WHY],
        "renamed_from": ["record", "users.mail", "rename", "--rename-from", f"env/{SECRET}", "-r", WHY],
        "diff": ["reject", "users.phone", "-r", WHY, "--approach", "plain text", "--diff", "change.diff"],
        "change_type": ["record", "users.email", SECRET, "-r", WHY],
        "stdin": ["record", "users.email", "add", "-F", "-"],
    }[field]
    outcome = cli(*arguments, cwd=repo, input=SECRET if field == "stdin" else None)
    assert outcome.code == 15, outcome
    assert PASSWORD not in outcome.stdout + outcome.stderr
    assert tip(git, repo) == before
    assert holds(repo / ".git", PASSWORD) == []


def test_the_refusal_is_the_same_with_json_and_for_a_dry_run_and_for_a_person(repo, cli, git):
    before = tip(git, repo)
    for more in ({"tty": True}, {}):
        for flag in ("--json", "--dry-run"):
            outcome = cli("record", "users.email", "add", "-r", SECRET, flag, cwd=repo, **more)
            assert outcome.code == 15
            assert PASSWORD not in outcome.stdout + outcome.stderr
            assert "password" in outcome.stdout + outcome.stderr
    assert tip(git, repo) == before


def test_a_secret_in_the_agents_own_variables_is_refused(repo, cli, git):
    outcome = cli("record", "users.email", "add", "-r", WHY, cwd=repo, env={"AI_AGENT": SECRET})
    assert (outcome.code, PASSWORD in outcome.stderr) == (15, False)
    assert "agent: looks like a password" in outcome.stderr
    assert cli("record", "users.email", "add", "-r", WHY, cwd=repo, env={"AI_AGENT": "coder"}).code == 0


def test_sentences_about_tokens_and_passwords_are_recorded(repo, cli, git):
    everything = "\n\n".join(INNOCENT)
    assert cli("record", "users.email", "add", "-F", "-", cwd=repo, input=everything).code == 0
    assert cli("record", "users.phone", "add", "-F", "-", cwd=repo, input=f"{everything}\n\n{SECRET}").code == 15
    assert holds(repo / ".git", "authentication-middleware-v2") != []
    assert holds(repo / ".git", PASSWORD) == []


def test_an_agent_stores_a_marker_in_the_secrets_place(repo, cli, git):
    arguments = ("record", "env/DB", "modify", "-r", f"The file said {SECRET} until May.", "--redact-secrets")
    outcome = cli(*arguments, "--json", cwd=repo, env={"AI_AGENT": "coder"})
    assert outcome.code == 0, outcome
    assert outcome.json["warnings"] == ["reasoning: a marker stands in the place of what looks like a password"]
    event = outcome.json["events"][0]
    assert event["reasoning"] == "The file said DB_PASSWORD=[secret: password] until May."
    assert "allow_secret" not in event
    assert holds(repo / ".git", PASSWORD) == []


def test_a_person_lets_a_secret_through_and_the_event_says_so(repo, cli, git):
    before = tip(git, repo)
    arguments = ("record", "env/DB", "modify", "-r", f"An example: {SECRET}", "--allow-secret")
    outcome = cli(*arguments, cwd=repo, env={"AI_AGENT": "coder"})
    assert outcome.code == 14
    assert "run this in your own terminal" in outcome.stderr
    assert PASSWORD not in outcome.stderr
    assert tip(git, repo) == before
    outcome = cli(*arguments, "--json", cwd=repo, tty=True)
    assert outcome.code == 0, outcome
    assert holds(repo / ".git", PASSWORD) != []
    event = git("cat-file", "blob", f"{LOG}:{git('ls-tree', '--name-only', '-r', LOG, cwd=repo)}", cwd=repo)
    assert '"allow_secret":true' in event and PASSWORD in event
    assert cli("verify", cwd=repo).code == 0
    shown = cli("log", "--all", "--json", cwd=repo).json["events"]
    assert [one["entity_path"] for one in shown if one.get("allow_secret")] == ["env/DB"]


def test_the_two_flags_exclude_each_other(repo, cli):
    outcome = cli("record", "env/DB", "modify", "-r", WHY, "--allow-secret", "--redact-secrets", cwd=repo, tty=True)
    assert outcome.code == 2


def test_a_secret_in_the_history_is_imported_as_a_marker_and_counted(make_repo, cli, git):
    repo = make_repo()
    (repo / "app.py").write_text("".join(f"rows_{i} = cache.load(order_{i})\n" for i in range(20)))
    git("add", "app.py", cwd=repo)
    git("commit", "--quiet", "-m", f"Cache the orders with {SECRET} in plain sight", cwd=repo)
    git("revert", "--no-edit", "HEAD", cwd=repo)
    outcome = cli("import", "git", "--dry-run", "--json", cwd=repo)
    assert "replaced by markers (password" in str(outcome.json["warnings"])
    outcome = cli("import", "git", "--dry-run", cwd=repo)
    assert "warning: " in outcome.stderr and "replaced by markers (password" in outcome.stderr
    assert PASSWORD not in outcome.stdout + outcome.stderr
    outcome = cli("import", "git", "--json", cwd=repo)
    assert outcome.code == 0, outcome
    assert "replaced by markers (password" in str(outcome.json["warnings"])
    log = cli("log", "--all", "--json", cwd=repo).stdout
    assert PASSWORD not in log and "[secret: password]" in log
    assert cli("import", "git", cwd=repo).code == 0
    assert cli("log", "--all", "--json", cwd=repo).stdout == log


def test_a_projects_own_rule_refuses_its_own_tokens(repo, cli):
    token = "acme" + "_" + "0a1b2c3d"
    (repo / ".decisions.toml").write_text('[secrets.patterns]\n"build token" = "acme_[a-z0-9]{8}"\n')
    outcome = cli("record", "users.email", "add", "-r", f"It was {token}.", cwd=repo)
    assert outcome.code == 15
    assert "reasoning: looks like a build token" in outcome.stderr and token not in outcome.stderr
    (repo / ".decisions.toml").write_text('[secrets.patterns]\n"build token" = "(a+)+"\n')
    outcome = cli("record", "users.email", "add", "-r", WHY, cwd=repo)
    assert (outcome.code, "secrets.patterns" in outcome.stderr) == (15, True)
    (repo / ".decisions.toml").write_text('[policy]\nsecret_patterns = ["acme_[a-z0-9]{8}"]\n')
    outcome = cli("record", "users.email", "add", "-r", WHY, cwd=repo)
    assert (outcome.code != 0, "secret_patterns" in outcome.stderr) == (True, True)
