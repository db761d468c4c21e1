"""Where errors end: each kind through the installed command, with its words, its status, and nothing written."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LOG = "refs/decisions/log"


@pytest.fixture
def repo(once, make_repo, cli) -> Path:
    """A repository with a log, and a rejection in it."""

    def make() -> Path:
        place = make_repo(name="repo")
        assert cli("init", cwd=place).code == 0
        done = cli("reject", "users.card_token", "-r", "It would put us in scope of PCI DSS.", cwd=place, tty=True)
        assert done.code == 0, done.stderr
        return place

    return once("a rejection", make)


def fails(cli, git, *args, cwd: Path, code: int, name: str, says: str, hint: str = "", **how) -> None:
    """The command ends so, as text and as JSON, and the log doesn't move."""
    before = git("rev-parse", "--verify", "--quiet", LOG, cwd=cwd, check=False)
    text = cli(*args, cwd=cwd, **how)
    assert (text.code, text.stdout) == (code, ""), text
    assert text.stderr.startswith("error: "), text.stderr
    assert says in text.stderr and hint in text.stderr, text.stderr
    assert "Traceback" not in text.stderr
    assert text.stderr.count("error: ") == 1
    data = cli(*args, "--json", cwd=cwd, **how)
    assert data.code == code
    error = data.json["error"]
    assert data.json["schema"] == 1
    assert (error["code"], error["name"], error["written"]) == (code, name, False)
    assert says in error["message"] and hint in error["hint"]
    if not how.get("tty"):
        assert data.stderr == ""
    assert git("rev-parse", "--verify", "--quiet", LOG, cwd=cwd, check=False) == before


# --- the command line (2) --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["recrod", "a", "add"], "did you mean `record`?"),
        (["log", "--onelin"], "did you mean --oneline?"),
        (["record", "users.email"], "missing argument 'CHANGE_TYPE'"),
        (["record", "users.email", "add"], "record needs a reason"),
        (["record", "users.email", "add", "-r", "a", "-F", "-"], "not from both"),
        (["record", "users.email", "add", "-F", "no such file"], "can't read no such file"),
        (["log", "--type", "rejct"], "did you mean `reject`?"),
        (["log", "--since", "banana"], "is no date"),
        (["log", "--since", "2026-02-02", "--until", "2026-01-01"], "--until lies before --since"),
        (["log", "--stream"], "--stream is for --json"),
        (["prior"], "prior needs an ENTITY, --about or --content"),
        (["prior", "a", "--window", "soon"], "is no span"),
        (["log", "-n", "99999999999999999999"], "is not in the range"),
        (["log", "-n", "-1"], "is not in the range"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_line_that_is_not_understood_is_2(cli, git, repo, args, says):
    if args == ["log", "--stream"]:  # with --json it is understood
        done = cli(*args, cwd=repo)
        assert done.code == 2 and says in done.stderr and done.stdout == ""
        return
    fails(cli, git, *args, cwd=repo, code=2, name="Usage", says=says)


def test_the_help_of_a_usage_error_names_the_command(cli, repo):
    for words in (("log", "--onelin"), ("log", "--since"), ("import", "git", "--since")):
        command = " ".join(words[:-1])
        assert f"hint: `git decisions {command} -h` shows what it takes." in cli(*words, cwd=repo).stderr, words


@pytest.mark.parametrize(
    ("args", "says", "hint"),
    [
        ("import git --since neverland", "--since 'neverland'", "`git decisions import git -h`"),
        ("review --ratify-all 0123456789abcdef", "review --ratify-all needs a reason", "`git decisions review -h`"),
        ("digest --max-bytes few", "'few' is not a whole number", "`git decisions digest -h`"),
        ("log -n few", "'few' is not a whole number", "`git decisions log -h`"),
    ],
)
def test_the_command_in_a_hint_is_one_that_can_be_typed(cli, git, repo, args, says, hint):
    fails(cli, git, *args.split(), cwd=repo, code=2, name="Usage", says=says, hint=hint)
    typed = cli(*args.split(), cwd=repo).stderr.partition("hint: ")[2]
    command = re.search(r"`git decisions ([^`]+)`", typed)
    assert command is not None and cli(*command[1].split(), cwd=repo).code == 0


def test_export_says_which_option_its_json_has(cli, repo):
    error = cli("export", "--json", cwd=repo).json["error"]
    assert error["name"] == "Usage" and "`git decisions export --format json`" in error["hint"]
    assert cli("export", "--format", "json", cwd=repo).json["schema"] == 1


def test_a_reason_that_is_quoted_in_a_sentence_is_whole_and_in_quotes(cli, repo):
    refused = cli("record", "users.card_token", "add", "-r", "It is quick.", cwd=repo)
    assert refused.code == 14 and "in scope of PCI DSS.”; nothing was written." in refused.stderr
    assert "It would put us in scope of PCI DSS." in cli("log", cwd=repo).stdout


def test_help_shows_no_empty_default_and_every_option_that_a_command_cannot_do_without(cli, tmp_path):
    assert "[default: ]" not in cli("hook", "-h", cwd=tmp_path).stdout
    assert "[default: jsonl]" in cli("export", "-h", cwd=tmp_path).stdout
    assert cli("expunge", "-h", cwd=tmp_path).stdout.startswith(
        "usage: git decisions expunge --before DATE -r WHY [options]\n"
    )


# --- the situation (10-19) -------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [["log"], ["status"], ["prior", "users"], ["blame", "users"], ["search", "x"], ["show", "7f3a"], ["why", "a.py"]],
)
def test_a_repository_without_a_log_is_10(cli, git, make_repo, args):
    repo = make_repo()
    (repo / "a.py").write_text("a = 1\n")
    git("add", "a.py", cwd=repo)
    git("commit", "--quiet", "-m", "work", cwd=repo)
    fails(cli, git, *args, cwd=repo, code=10, name="NoLog", says="no decision log", hint="git decisions init")


def test_verify_of_an_absent_log_is_10_and_not_sound_unless_it_may_be_missing(cli, make_repo):
    repo = make_repo()
    done = cli("verify", "--json", cwd=repo)
    assert done.code == 10 and done.json["sound"] is False
    assert cli("verify", cwd=repo).code == 10
    assert cli("verify", "--allow-missing", cwd=repo).code == 0


@pytest.mark.parametrize("args", [["log"], ["record", "a", "add", "-r", "why"], ["init"], ["verify"]])
def test_outside_a_repository_is_16(cli, tmp_path, args):
    done = cli(*args, cwd=tmp_path)
    assert done.code == 16 and "is not inside a git repository" in done.stderr and done.stdout == ""
    assert cli(*args, "--json", cwd=tmp_path).json["error"]["name"] == "OutsideRepository"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "args",
    [
        ["show", "deadbeef"],
        ["supersede", "deadbeef1", "-r", "why"],
        ["record", "a", "add", "-r", "w", "--supersedes", "dead"],
    ],
)
def test_an_unknown_id_is_12(cli, git, repo, args):
    fails(cli, git, *args, cwd=repo, code=12, name="UnknownId", says="dead")


def test_an_id_that_fits_several_is_13(cli, git, repo):
    for approach in ("one way", "another way"):
        assert cli("reject", "users.key", "--approach", approach, "-r", "no", cwd=repo, tty=True).code == 0
    says = "closed for several approaches"
    fails(cli, git, "supersede", "users.key", "-r", "why", cwd=repo, code=13, name="AmbiguousId", says=says)


def test_what_was_rejected_is_refused_with_the_reason_the_id_and_the_way_on(cli, git, repo):
    id = cli("log", "--json", cwd=repo).json["events"][0]["id"]
    refused = cli("record", "users.card_token", "add", "-r", "we need it", cwd=repo)
    assert refused.code == 14
    said = refused.stderr
    assert "PCI DSS" in said and id[:8] in said and "git decisions supersede" in said and "nothing was written" in said
    fails(
        cli,
        git,
        "record",
        "users.card_token",
        "add",
        "-r",
        "x",
        cwd=repo,
        code=14,
        name="RuleViolation",
        says="PCI DSS",
    )


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["record", "users.email", "add", "-r", ""], "reason"),
        (["record", "users.email", "add", "-r", "  \n "], "reason"),
        (["record", "users.email", "ad", "-r", "why"], "add"),
        (["record", " ", "add", "-r", "why"], "entity"),
        (["record", "a\nb", "add", "-r", "why"], "entity"),
        (["record", "users.email", "add", "-r", "why", "--valid-from", "99999-01-01"], "valid_from"),
        (
            ["record", "users.email", "add", "-r", "why", "--valid-from", "2026-02-01", "--valid-to", "2026-01-01"],
            "valid",
        ),
        (["record", "users.email", "add", "-r", "why", "--revisit-after", "99999y"], "revisit_after"),
        (["record", "users.email", "add", "-r", "why", "--instead", "x" * 5000], "instead"),
        (["record", "users.email", "add", "-r", "why", "--commit", "no-such-rev"], "commit"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_refused_content_is_15_and_named(cli, git, repo, args, says):
    fails(cli, git, *args, cwd=repo, code=15, name="Refused", says=says)


def test_two_megabytes_of_reason_are_refused(cli, git, repo):
    command = ("record", "a", "add", "-F", "-")
    fails(cli, git, *command, cwd=repo, code=15, name="Refused", says="reasoning", input="x" * 2_000_000)


def test_an_endless_reason_is_refused_before_it_fills_the_memory(cli, git, repo):
    fails(
        cli, git, "record", "a", "add", "-F", "/dev/zero", cwd=repo, code=15, name="Refused", says="longer than 16 MiB"
    )


def test_a_nul_byte_in_a_reason_is_no_bug(cli, repo):
    done = cli("record", "users.nul", "add", "-F", "-", cwd=repo, input=b"a\0b")
    assert done.code in (0, 15) and "Traceback" not in done.stderr
    assert cli("log", cwd=repo).code == 0


@pytest.mark.parametrize(
    ("args", "names"),
    [
        ([b"record", b"users.email", b"add", b"-r", b"caf\xe9"], "-r:"),
        ([b"record", b"users.email", b"add", b"--reasoning=caf\xe9"], "--reasoning:"),
        ([b"record", b"caf\xe9", b"add", b"-r", b"why"], "the command line:"),
        ([b"search", b"\xff\xfe"], "the command line:"),
        ([b"verify", b"--since", b"\xff"], "--since:"),
    ],
)
def test_bytes_that_are_no_text_are_one_sentence_and_15(cli, git, repo, args, names):
    before = git("rev-parse", LOG, cwd=repo)
    done = cli(*(os.fsdecode(arg) for arg in args), cwd=repo)
    assert done.code == 15
    assert done.stderr.startswith(f"error: {names} it is not valid UTF-8; nothing was written.\n")
    assert git("rev-parse", LOG, cwd=repo) == before


def test_a_file_that_is_no_text_is_one_sentence_and_15(cli, git, repo):
    command = ("record", "a", "add", "-F", "-")
    fails(cli, git, *command, cwd=repo, code=15, name="Refused", says="not UTF-8 at byte 3", input=b"caf\xe9")


# --- the data (20-29), git (30) --------------------------------------------------------------


def test_a_log_that_is_none_of_ours_is_21_and_verify_names_it(cli, git, repo):
    git("update-ref", LOG, "HEAD", cwd=repo)
    fails(cli, git, "log", cwd=repo, code=21, name="BrokenHistory", says="broken")
    done = cli("verify", "--json", cwd=repo)
    assert done.code == 1 and done.json["sound"] is False and done.json["findings"]


def test_a_log_that_was_cut_off_is_23_and_not_sound(cli, git, make_repo, repo):
    clone = make_repo("empty")
    git("fetch", "--quiet", "--depth=1", repo.as_uri(), f"{LOG}:{LOG}", cwd=clone)
    fails(cli, git, "log", cwd=clone, code=23, name="Incomplete", says="incomplete")
    done = cli("verify", "--json", cwd=clone)
    assert done.code == 23 and done.json["sound"] is False


def test_without_git_a_write_is_30_and_says_so(cli, git, repo, tmp_path):
    before = git("rev-parse", LOG, cwd=repo)
    done = cli("record", "users.email", "add", "-r", "why", cwd=repo, env={"PATH": str(tmp_path)})
    assert done.code == 30 and done.stderr.startswith("error: ") and "Traceback" not in done.stderr
    assert git("rev-parse", LOG, cwd=repo) == before


def test_a_full_disk_below_the_output_is_an_error_and_not_silence(repo):
    from conftest import SCRIPTS

    with open("/dev/full", "wb") as full:
        done = subprocess.run([SCRIPTS / "git-decisions", "log"], cwd=repo, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 30
    assert done.stderr.decode().startswith("error: can't write the output: ")


# --- interrupted (130), the reader gone (141), a bug (3) -------------------------------------


def test_ctrl_c_is_130_and_writes_nothing(git, repo):
    from conftest import SCRIPTS

    before = git("rev-parse", LOG, cwd=repo)
    waiting = subprocess.Popen(
        [SCRIPTS / "git-decisions", "record", "users.email", "add", "-F", "-"],
        cwd=repo, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(0.5)  # it waits for its reason
    waiting.send_signal(signal.SIGINT)
    out, err = waiting.communicate(timeout=20)
    assert (waiting.returncode, out, err.decode()) == (130, b"", "error: interrupted; nothing was written.\n")
    assert git("rev-parse", LOG, cwd=repo) == before


def test_ctrl_c_while_modules_load_is_130_too(monkeypatch, capfd):
    from gitmem import __main__

    def interrupted(argv):
        raise KeyboardInterrupt

    monkeypatch.setattr(__main__, "_main", interrupted)
    assert __main__.main() == 130
    assert capfd.readouterr() == ("", "error: interrupted; nothing was written.\n")


@pytest.fixture
def long_log(once, repo, cli) -> Path:
    """More than a pipe holds."""

    def make() -> Path:
        for number in range(30):
            assert cli("record", f"a{number}", "add", "-r", "PCI " + "x" * 5000, cwd=repo).code == 0
        return repo

    return once("more than a pipe holds", make)


@pytest.mark.parametrize(
    "command", ["log", "log --json", "log --json --stream", "log --graph", "log --oneline", "search PCI"]
)
def test_into_head_a_listing_ends_quietly(long_log, command):
    repo = long_log
    script = f'git-decisions {command} | head -c 20; echo " ${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", script], cwd=repo, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.split()[-1] in ("0", "141")
    gone = subprocess.run(["bash", "-c", f"git-decisions {command} | true"], cwd=repo, capture_output=True, text=True)
    assert gone.stderr == ""


def test_with_nobody_at_all_to_read_a_command_still_ends(repo):
    done = subprocess.run(
        ["bash", "-c", "git-decisions log >&- 2>&-; echo $?"], cwd=repo, capture_output=True, text=True
    )
    assert done.stdout.strip() in ("0", "141", "30")


def test_a_bug_is_3_with_a_report_that_holds_no_text_of_the_user(repo):
    program = (
        "import sys, gitmem.memory as m\n"
        "def broken(*a, **k): raise ValueError('a secret of ' + sys.argv[1])\n"
        "m.Memory.status = broken\n"
        "from gitmem.cli.entry import main\n"
        "sys.exit(main(['status', sys.argv[1], *sys.argv[2:]]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, "users.hidden"], cwd=repo, capture_output=True, text=True)
    assert done.returncode == 3 and done.stdout == ""
    said, report = done.stderr.split("```")[:2]
    assert said.startswith("error: a bug in gitmem: ValueError: ")
    assert "gitmem/cli/reading.py:" in report and "ValueError" in report and "Python 3" in report and "git 2" in report
    assert "hidden" not in report and "secret" not in report and str(repo) not in report
    data = subprocess.run([sys.executable, "-c", program, "x", "--json"], cwd=repo, capture_output=True, text=True)
    assert data.returncode == 3 and '"name": "Bug"' in data.stdout
