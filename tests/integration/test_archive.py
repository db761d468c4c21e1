"""The archive: sealed attachments, whoever races whom; read by `audit` alone, and taken out with their event."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from taken_out import REF, SECRET, found_in, is_sound, record

from gitmem.cli import catalogue
from gitmem.store.archive import REF as ARCHIVE
from gitmem.store.archive import WINDOW, Archive
from gitmem.store.repository import locate

TOKEN = "ghp_" + "aB3dE6gH9j" * 3 + "kL2mN5"
WHY = ("-r", "Login needs a stable address.")


def audited(cli, repo: Path, event: str) -> list[dict]:
    done = cli("audit", event, "--json", cwd=repo)
    assert done.code == 0, done.stderr
    return done.json["attachments"]


def attached(cli, repo: Path, data: bytes, name: str = "notes.txt") -> str:
    (repo / name).write_bytes(data)
    return record(cli, repo, "record", "users.email", "add", *WHY, "--attach", str(repo / name))


# --- what it holds ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "sha256", "bare", "worktree", "reftable"])
def test_what_is_attached_comes_back_byte_for_byte(make_repo, cli, git, tmp_path, kind):
    repo = make_repo(kind)
    contents = {
        "notes.txt": "Grüße 世界\r\n\n  \x1b[31mred\n".encode(),
        "binary.dat": bytes(range(256)) * 300,
        "empty": b"",
        "no-end.txt": "a line without an end, 中".encode(),
    }
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    files = [word for name in contents for word in ("--attach", str(tmp_path / name))]
    event = record(cli, repo, "record", "users.email", "add", *WHY, *files)
    found = {one["name"]: one for one in audited(cli, repo, event)}
    assert found.keys() == contents.keys()
    for name, data in contents.items():
        one = found[name]
        assert one["size"] == len(data) and one["problem"] is None and one["channel"] == "human"
        told = one["text"].encode() if one["text"] is not None else base64.b64decode(one["base64"])
        assert told == data
        assert (one["text"] is None) == (name == "binary.dat")
    program = [Path(sys.executable).parent / "git-decisions", "audit", event, "--raw", "binary.dat"]
    assert subprocess.run(program, cwd=repo, capture_output=True).stdout == contents["binary.dat"]
    text = cli("audit", event, cwd=repo).stdout
    assert "\x1b" not in text and "\\x1b[31mred" in text and "世界" in text and "--raw" in text
    is_sound(git, cli, repo)


def test_more_is_attached_later_and_the_same_again_is_not(make_repo, cli, git):
    repo = make_repo()
    event = attached(cli, repo, b"first")
    (repo / "second.txt").write_bytes(b"second")
    done = cli("archive", "add", event[:8], repo / "second.txt", repo / "notes.txt", "--json", cwd=repo)
    assert [one["name"] for one in done.json["attached"]] == ["second.txt"] and done.json["known"] == 1
    done = cli("archive", "add", event[:8], "-", "--json", cwd=repo, input="from a pipe")
    assert [one["name"] for one in done.json["attached"]] == ["stdin"]
    before = git("rev-parse", ARCHIVE, cwd=repo)
    assert cli("archive", "add", event, repo / "second.txt", cwd=repo).code == 0
    assert git("rev-parse", ARCHIVE, cwd=repo) == before
    assert {one["name"] for one in audited(cli, repo, event)} == {"notes.txt", "second.txt", "stdin"}


def test_a_diff_that_is_too_long_is_cut_in_the_event_and_whole_in_the_archive(make_repo, cli):
    repo = make_repo()
    diff = "".join(f"+def function_{number}(value): return value * {number}\n" for number in range(4000))
    (repo / "long.diff").write_text(diff)
    command = ("reject", "src/auth.py", "--approach", "one function each", *WHY, "--diff", "long.diff")
    done = cli(*command, cwd=repo)
    assert done.code == 15 and "--attach diff" in done.stderr and cli("log", "--json", cwd=repo).code != 0
    event = record(cli, repo, *command, "--attach", "diff")
    held = cli("show", event, "--json", cwd=repo).json["event"]
    assert held["diff"] == diff[: len(held["diff"])] and held["diff"].endswith("\n") and len(held["diff"]) > 60_000
    (one,) = audited(cli, repo, event)
    assert (one["name"], one["text"]) == ("diff.patch", diff)
    # the fingerprint is of the whole: what stands at its end is known when it comes back
    (repo / "tail").write_text(diff[len(held["diff"]) :])
    assert cli("prior", "--content", "tail", "--json", cwd=repo).json["known"] != "nothing"


def test_a_dry_run_attaches_nothing_and_a_refused_event_leaves_nothing(make_repo, cli, git):
    repo = make_repo()
    (repo / "notes.txt").write_text(SECRET)
    done = cli("record", "users.email", "add", *WHY, "--attach", "notes.txt", "--dry-run", cwd=repo)
    assert done.code == 0 and "would attach notes.txt" in done.stdout
    assert cli("record", "users.email", "frob", *WHY, "--attach", "notes.txt", cwd=repo).code == 15
    assert cli("record", "users.email", "add", *WHY, "--attach", "missing.txt", cwd=repo).code == 2
    assert cli("record", "users.email", "add", *WHY, "--attach", ".", cwd=repo).code == 2
    assert git("for-each-ref", "refs/decisions*", cwd=repo) == ""
    assert found_in(git, repo, SECRET) == []


def test_audit_says_what_is_no_longer_what_was_attached(make_repo, cli, git):
    repo = make_repo()
    event = attached(cli, repo, b"as it was")
    assert cli("audit", event, cwd=repo).code == 0
    _tamper(git, repo, event)
    done = cli("audit", event, cwd=repo)
    assert done.code == 1 and "not what was attached" in done.stderr
    assert cli("audit", event, "--json", cwd=repo).json["attachments"][0]["problem"]
    assert cli("audit", "0" * 8, cwd=repo).code == 12


def _tamper(git, repo: Path, event: str) -> None:
    """Put other bytes under the name of what is attached, as somebody who may push could."""
    names = git("ls-tree", "-r", "--name-only", ARCHIVE, cwd=repo).splitlines()
    path = next(name for name in names if name.startswith(f"{event[:2]}/{event[2:]}") and not name.endswith(".json"))
    index = {"GIT_INDEX_FILE": str(repo / "index-of-the-test")}
    git("read-tree", ARCHIVE, cwd=repo, env=index)
    blob = git("hash-object", "-w", "--stdin", cwd=repo, input="another story")
    git("update-index", "--cacheinfo", f"100644,{blob},{path}", cwd=repo, env=index)
    tree = git("write-tree", cwd=repo, env=index)
    git("update-ref", ARCHIVE, git("commit-tree", tree, "-m", "x", cwd=repo), cwd=repo)
    (repo / "index-of-the-test").unlink()


def test_a_large_file_is_not_held_in_memory(make_repo, cli):
    repo = make_repo()
    event = record(cli, repo, "record", "users.email", "add", *WHY)
    size = 96 << 20
    with (repo / "large").open("wb") as file:
        for number in range(size >> 20):
            file.write(bytes([number]) * (1 << 20))

    def peak(*args: str) -> int:
        """The peak of the command's own memory, in KiB (its children are git's)."""
        code = (
            "import re, sys\n"
            "from gitmem.cli.entry import run\n"
            "code = run(sys.argv[1:])\n"
            "sys.stderr.write(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])\n"
            "sys.exit(code)\n"
        )
        program = [sys.executable, "-c", code, *args]
        done = subprocess.run(program, cwd=repo, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert done.returncode == 0, done.stderr
        return int(done.stderr)

    assert peak("archive", "add", event, "large") < 80 << 10
    assert peak("audit", event, "--json") < 80 << 10
    assert peak("audit", event, "--raw", "large") < 80 << 10


# --- secrets ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        f"my token is {TOKEN}\n".encode(),
        f"first\nmy token is {TOKEN}\n".encode("utf-16"),
        b"x y\n" * (WINDOW // 4 - 4) + f"    {TOKEN}\n".encode(),
        b"\0binary\xff " + TOKEN.encode(),
    ],
    ids=["text", "utf-16", "across two windows", "binary"],
)
def test_a_secret_in_a_file_is_refused_named_and_not_stored(make_repo, cli, git, data):
    repo = make_repo()
    event = record(cli, repo, "record", "users.email", "add", *WHY)
    (repo / "notes.txt").write_bytes(data)
    for command in (("archive", "add", event), ("record", "users.name", "add", *WHY, "--attach")):
        done = cli(*command, "notes.txt", cwd=repo, tty=True)
        assert done.code == 15 and "GitHub token" in done.stderr and "nothing was written" in done.stderr
        assert TOKEN not in done.stdout + done.stderr
    (repo / "notes.txt").unlink()
    assert found_in(git, repo, TOKEN) == [] and git("for-each-ref", ARCHIVE, cwd=repo) == ""
    assert cli("log", "users.name", "--json", cwd=repo).json["events"] == []


def test_only_a_person_stores_it_all_the_same(make_repo, cli, git):
    repo = make_repo()
    event = record(cli, repo, "record", "users.email", "add", *WHY)
    (repo / "notes.txt").write_text(TOKEN)
    assert cli("archive", "add", event, "notes.txt", "--allow-secret", cwd=repo).code == 14
    assert cli("record", "a.b", "add", *WHY, "--attach", "notes.txt", "--allow-secret", cwd=repo).code == 14
    assert git("for-each-ref", ARCHIVE, cwd=repo) == ""
    assert cli("archive", "add", event, "notes.txt", "--allow-secret", cwd=repo, tty=True).code == 0
    (one,) = audited(cli, repo, event)
    assert one["allow_secret"] and one["text"] == TOKEN


def test_a_secret_in_the_name_of_a_file_is_refused(make_repo, cli, git):
    repo = make_repo()
    event = record(cli, repo, "record", "users.email", "add", *WHY)
    (repo / TOKEN).write_text("harmless")
    done = cli("archive", "add", event, TOKEN, cwd=repo)
    assert done.code == 15 and TOKEN not in done.stderr and git("for-each-ref", ARCHIVE, cwd=repo) == ""


# --- races and kills --------------------------------------------------------------------------


def test_eight_writers_lose_nothing(make_repo, cli, git, tmp_path):
    repo = make_repo()
    event = record(cli, repo, "record", "users.email", "add", *WHY)
    program = str(Path(sys.executable).parent / "git-decisions")
    running = []
    for number in range(8):
        names = [tmp_path / f"{number}-{part}.txt" for part in range(3)]
        for name in names:
            name.write_text(name.name)
        running.append(subprocess.Popen([program, "archive", "add", event, *names], cwd=repo))
    assert [one.wait() for one in running] == [0] * 8
    found = {one["name"]: one["text"] for one in audited(cli, repo, event)}
    assert found == {f"{n}-{part}.txt": f"{n}-{part}.txt" for n in range(8) for part in range(3)}
    assert git("rev-list", "--count", ARCHIVE, cwd=repo) == "1"
    is_sound(git, cli, repo)


@pytest.mark.parametrize("step", ["Archive._store", "Archive._changed", "plumbing_log.PlumbingLog._move"])
def test_a_kill_at_any_point_leaves_nothing_that_a_redaction_does_not_reach(make_repo, cli, git, step):
    repo = make_repo()
    event = record(cli, repo, "record", "users.email", "add", *WHY)
    (repo / "notes.txt").write_text(SECRET)
    where = step if step.startswith("plumbing") else "archive." + step
    code = (
        "import os, sys, signal\n"
        "from gitmem.store import archive, plumbing_log\n"
        f"was = {where}\n"
        "def end(*given, **named):\n"
        "    if was.__name__ == '_store': was(*given, **named)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        f"{where} = end\n"
        "from gitmem.cli.entry import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, "archive", "add", event, "-"], cwd=repo, input=SECRET.encode())
    assert done.returncode == -9
    assert audited(cli, repo, event) == [] and found_in(git, repo, SECRET) != []
    is_sound(git, cli, repo)
    assert cli("redact", event, "-r", "x", cwd=repo, tty=True).code == 0
    (repo / "notes.txt").unlink()
    assert found_in(git, repo, SECRET) == []


# --- taken out --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "sha256", "bare", "worktree"])
@pytest.mark.parametrize("packed", [False, True])
def test_redaction_takes_what_is_attached_and_leaves_what_is_attached_to_others(
    make_repo, cli, git, tmp_path, kind, packed
):
    repo = make_repo(kind)
    (tmp_path / "bad.txt").write_text(SECRET)
    (tmp_path / "good.txt").write_text("harmless")
    good = record(cli, repo, "record", "users.name", "add", *WHY, "--attach", str(tmp_path / "good.txt"))
    bad = record(cli, repo, "record", "users.email", "add", *WHY, "--attach", str(tmp_path / "bad.txt"))
    cli("archive", "add", good, "-", cwd=repo, input="more")  # the archive's commit from before is unreachable now
    if packed:
        git("gc", "--quiet", cwd=repo)
    common = Path(git("rev-parse", "--path-format=absolute", "--git-common-dir", cwd=repo))
    holder = common.parent if common.name == ".git" else common
    assert found_in(git, holder, SECRET) != []
    done = cli("redact", bad, "-r", "x", "--json", cwd=repo, tty=True)
    assert done.code == 0 and done.json["held"] == []
    assert found_in(git, holder, SECRET) == []
    assert audited(cli, repo, bad) == [] and len(audited(cli, repo, good)) == 2
    done = cli("archive", "add", bad, tmp_path / "good.txt", cwd=repo)
    assert done.code == 14 and "redacted" in done.stderr
    is_sound(git, cli, repo)


def test_the_last_attachment_takes_the_ref_with_it(make_repo, cli, git):
    repo = make_repo()
    bad = attached(cli, repo, SECRET.encode())
    (repo / "notes.txt").unlink()
    assert cli("redact", bad, "-r", "x", "--json", cwd=repo, tty=True).json["held"] == []
    assert found_in(git, repo, SECRET) == [] and git("for-each-ref", ARCHIVE, cwd=repo) == ""


def test_content_that_another_event_has_too_stays_there(make_repo, cli, git):
    repo = make_repo()
    bad = attached(cli, repo, b"shared by two")
    good = record(cli, repo, "record", "users.name", "add", *WHY, "--attach", str(repo / "notes.txt"))
    done = cli("redact", bad, "-r", "x", "--json", cwd=repo, tty=True)
    assert done.json["held"] == [] and audited(cli, repo, bad) == []
    assert [one["text"] for one in audited(cli, repo, good)] == ["shared by two"]
    is_sound(git, cli, repo)


def test_two_archives_meet_in_any_order_and_nothing_redacted_comes_back(make_repo, cli, git, tmp_path):
    repo = make_repo()
    one = attached(cli, repo, b"one")
    two = record(cli, repo, "record", "users.name", "add", *WHY)
    other = tmp_path / "other"
    git("clone", "-q", repo, other, cwd=tmp_path)
    git("fetch", "-q", "origin", f"{REF}:{REF}", f"{ARCHIVE}:{ARCHIVE}", cwd=other)
    assert [found["text"] for found in audited(cli, other, one)] == ["one"]
    cli("archive", "add", two, "-", cwd=repo, input="from here")
    cli("archive", "add", two, "-", cwd=other, input="from there")
    git("fetch", "-q", other, f"{ARCHIVE}:refs/other", cwd=repo)
    git("fetch", "-q", repo, f"{ARCHIVE}:refs/other", cwd=other)
    tips = []
    for place in (repo, other):
        archive = Archive(locate(str(place)))
        tips.append(archive.join(git("rev-parse", "refs/other", cwd=place), lambda event: False))
        assert archive.join(git("rev-parse", "refs/other", cwd=place), lambda event: False) == tips[-1]
        assert {found["text"] for found in audited(cli, place, two)} == {"from here", "from there"}
    assert tips[0] == tips[1]
    # redacted in one; the other's archive still has it
    git("update-ref", "-d", "refs/other", cwd=repo)
    assert cli("redact", one, "-r", "x", cwd=repo, tty=True).code == 0
    (repo / "notes.txt").unlink()
    git("fetch", "-q", other, f"{ARCHIVE}:refs/other", cwd=repo)
    Archive(locate(str(repo))).join(git("rev-parse", "refs/other", cwd=repo), lambda event: event == one)
    assert audited(cli, repo, one) == [] and len(audited(cli, repo, two)) == 2


# --- nothing else reads it --------------------------------------------------------------------

#: What an argument is given, by its name in the help text. A command that is new is asked with these.
GIVEN = {
    "ENTITY": ["users.email"],
    "ENTITY|ID": ["users.card"],
    "CHANGE_TYPE": ["modify"],
    "QUERY": ["address"],
    "FILE[:LINE]": ["readme"],
    "TEXT": ["a text"],
}
#: Options without which a command says only that it needs them.
BESIDES = {
    "prior": ["--about", "card token", "--all"],
    "log": ["--all", "--graph"],
    "record": ["--approach", "another way"],
    "resolve": ["--keep", "ID"],
    "gate": ["--staged"],
}
#: These change the archive, or read it: what they say has to differ. Then one that never ends.
SET_APART = {"archive add", "audit", "redact", "expunge", "watch"}
#: These read what a program sends them, to its end.
READERS = {"mcp", "hook", "receive"}


def _argv(command: catalogue.Command, event: str) -> list[str]:
    words = command.words.split()
    for argument in command.arguments:
        if argument.kind != catalogue.MAYBE or argument.metavar == "ENTITY":
            words += GIVEN.get(argument.metavar, [event])
    if "-r WHY" in command.needs:
        words += ["-r", "Because it has to be said."]
    return words + [event if word == "ID" else word for word in BESIDES.get(command.words, [])]


def _masked(text: str) -> str:
    """What is new in each run: ids of what is appended, and times."""
    text = re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.]+(Z| UTC)?", "TIME", text)
    text = re.sub(r"git-decisions-demo-\w+", "DEMO", text)  # a folder of its own
    text = re.sub(r"\d\d:\d\d:\d\d", "TIME", text)
    return re.sub(r"\b[0-9a-f]{7,64}\b", "HEX", text)


def test_without_the_archive_or_with_another_every_other_command_says_the_same(make_repo, cli, git, tmp_path):
    template = make_repo(name="template")
    git("config", "user.name", "Ada", cwd=template)
    assert cli("init", cwd=template).code == 0
    event = attached(cli, template, b"what nobody else may know: xylophone")
    record(cli, template, "reject", "users.card", "--approach", "keep the card token", *WHY)
    cli("status", cwd=template)
    names = [command.words for command in catalogue.every()]
    assert SET_APART - {"watch"} <= set(names) and len(names) > 25
    said: dict[str, dict[str, str]] = {}
    audits = []
    for variant in ("whole", "gone", "other"):
        said[variant] = {}
        for command in catalogue.every():
            if command.words in SET_APART:
                continue
            repo = tmp_path / "here"
            shutil.rmtree(repo, ignore_errors=True)
            shutil.copytree(template, repo, symlinks=True)
            if variant == "gone":
                git("update-ref", "-d", ARCHIVE, cwd=repo)
            elif variant == "other":
                _tamper(git, repo, event)
            done = cli(*_argv(command, event), cwd=repo, tty=command.words not in READERS)
            text = f"{done.code}\n{done.stdout}\n{done.stderr}"
            reads = command.heading in ("Read", "Check") and command.words != "rebuild"
            said[variant][command.words] = text if reads else _masked(text)
            assert "xylophone" not in text
        audits.append(cli("audit", event, cwd=repo))
    assert said["gone"] == said["whole"] and said["other"] == said["whole"]
    assert len({done.stdout for done in audits}) == 3 and "xylophone" in audits[0].stdout
    # the comparison is of answers, not of refusals to answer
    assert sum(text.startswith("0\n") for text in said["whole"].values()) > len(names) // 2


def test_uninstall_says_that_it_stays(make_repo, cli, git):
    repo = make_repo()
    assert cli("init", cwd=repo).code == 0
    event = attached(cli, repo, b"kept")
    assert ARCHIVE in "".join(cli("uninstall", "--json", cwd=repo).json["notes"])
    assert [one["text"] for one in audited(cli, repo, event)] == ["kept"]


# --- between clones ---------------------------------------------------------------------------


@pytest.fixture(name="clones")
def two_clones_and_what_they_share(make_repo, cli, git, tmp_path):
    """Two repositories with one log, a bare one that both push to, and the ids of two events."""
    one, shared, other = make_repo(), make_repo("bare"), tmp_path / "other"
    git("remote", "add", "origin", shared, cwd=one)
    ids = [record(cli, one, "record", f"users.{name}", "add", *WHY) for name in ("email", "name")]
    assert cli("push", cwd=one).code == 0
    git("clone", "-q", one, other, cwd=tmp_path)
    git("remote", "set-url", "origin", shared, cwd=other)
    assert cli("fetch", cwd=other).code == 0
    return one, other, shared, ids


def test_the_archive_travels_when_it_is_asked_to_and_no_other_time(clones, cli, git):
    one, other, shared, (email, name) = clones
    cli("archive", "add", email, "-", cwd=one, input="from one")
    assert cli("push", cwd=one).code == 0 and cli("sync", cwd=one).code == 0
    assert git("for-each-ref", ARCHIVE, cwd=shared) == ""
    assert cli("archive", "fetch", "--json", cwd=other).json["remote_tip"] is None
    assert cli("archive", "push", "--json", cwd=one).json["sent"] is True
    assert cli("archive", "push", "--json", cwd=one).json["sent"] is False
    cli("archive", "add", name, "-", cwd=other, input=bytes(range(256)))
    done = cli("archive", "push", "--json", cwd=other)
    assert done.code == 0 and done.json["sent"] and done.json["received"] == 1
    assert cli("archive", "fetch", "--json", cwd=one).json["received"] == 1
    for place in (one, other):
        assert [found["text"] for found in audited(cli, place, email)] == ["from one"]
        assert audited(cli, place, name)[0]["size"] == 256
        assert git("rev-parse", ARCHIVE, cwd=place) == git("rev-parse", ARCHIVE, cwd=shared)
        assert cli("archive", "fetch", cwd=place).stdout == "origin: up to date\n"
        is_sound(git, cli, place)


def test_four_pushers_lose_nothing(clones, cli, git, tmp_path):
    one, _, shared, (email, _) = clones
    program = str(Path(sys.executable).parent / "git-decisions")
    places = []
    for number in range(4):
        place = tmp_path / f"clone{number}"
        shutil.copytree(one, place)
        cli("archive", "add", email, "-", cwd=place, input=f"from {number}")
        places.append(place)
    running = [subprocess.Popen([program, "archive", "push"], cwd=place) for place in places]
    assert [process.wait() for process in running] == [0] * 4
    assert cli("archive", "fetch", cwd=one).code == 0
    assert {found["text"] for found in audited(cli, one, email)} == {f"from {number}" for number in range(4)}
    assert git("rev-parse", ARCHIVE, cwd=one) == git("rev-parse", ARCHIVE, cwd=shared)


def test_what_is_attached_to_a_redacted_event_never_comes_back_and_leaves_the_remote(clones, cli, git):
    one, other, shared, (email, name) = clones
    cli("archive", "add", email, "-", cwd=one, input=SECRET)
    cli("archive", "add", name, "-", cwd=one, input="harmless")
    assert cli("archive", "push", cwd=one).code == 0 and cli("archive", "fetch", cwd=other).code == 0
    assert cli("redact", email, "-r", "x", cwd=one, tty=True).code == 0
    assert found_in(git, one, SECRET) == [] and found_in(git, other, SECRET) != []
    assert cli("archive", "fetch", cwd=one).code == 0  # the remote still has it
    assert found_in(git, one, SECRET) == []
    done = cli("archive", "push", "--json", cwd=one)
    assert done.json["sent"] and [found["text"] for found in audited(cli, one, name)] == ["harmless"]
    listed = git("ls-tree", "-r", "--name-only", ARCHIVE, cwd=shared)
    assert email[2:] not in listed and name[2:] in listed
    # the other clone follows the redaction, and its attachment goes with it
    assert cli("push", cwd=one).code == 0 and cli("sync", cwd=other).code == 0
    assert found_in(git, other, SECRET) == []
    assert cli("archive", "push", cwd=other).code == 0 and found_in(git, other, SECRET) == []
    is_sound(git, cli, one)
    is_sound(git, cli, other)
