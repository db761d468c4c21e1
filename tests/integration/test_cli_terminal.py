"""On a terminal: colour, pager and width as git has them; elsewhere plain text, whatever the data holds."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from gitmem.core import canonical, events, objects

LOG = "refs/decisions/log"
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
#: What our own writer refuses, and another one may have written.
POISON = "[/red] \x1b[2J\x1b[31m \u202eevil\u202c app/[/bold]/x.ts \U000e0041 " + "w" * 200


@pytest.fixture
def repo(once, make_repo, cli) -> Path:
    def make() -> Path:
        place = make_repo(name="repo")
        assert cli("init", cwd=place).code == 0
        words = ("--approach", "own table", "-r", "It would put us in scope of PCI DSS. " * 4)
        done = cli("reject", "users.card_token", *words, cwd=place, tty=True)
        assert done.code == 0, done.stderr
        return place

    return once("a rejection on a terminal", make)


@pytest.fixture
def foreign(git):
    """Appends a change as a writer without our rules would: well-formed bytes in a sound log, and nothing else."""

    def write(repo: Path, **fields: object) -> str:
        tip = git("rev-parse", LOG, cwd=repo)
        number = int(git("rev-list", "--count", LOG, cwd=repo))  # the root, then one event in each commit
        common = {
            "v": 1,
            "kind": "change",
            "clock": number,
            "nonce": f"{number:032x}",
            "recorded_at": "2026-01-02T03:04:05.000000Z",
            "author": "Eve <eve@example.org>",
            "after": [],
            "scope": "",
            "channel": "script",
            "basis": "none",
            "tool": "other/1",
            "entity_type": "other",
        }
        data = canonical.encode(common | fields)
        event = events.parse(data)
        blob = git("hash-object", "-w", "--stdin", cwd=repo, input=data)
        tree = objects.tree([(f"{event.id}.json", blob)])
        tree_oid = git("hash-object", "-w", "-t", "tree", "--stdin", cwd=repo, input=tree)
        commit = objects.event_commit(tree_oid, tip, [event])
        oid = git("hash-object", "-w", "-t", "commit", "--stdin", cwd=repo, input=commit)
        git("update-ref", LOG, oid, tip, cwd=repo)
        return event.id

    return write


PAGES = [
    ["log"],
    ["log", "--oneline"],
    ["log", "--graph"],
    ["status"],
    ["status", "users"],
    ["prior", "users.card_token"],
    ["blame", "users.card_token"],
    ["search", "PCI"],
    ["verify"],
    ["changeset"],
]


@pytest.mark.parametrize("args", PAGES, ids=" ".join)
def test_a_pipe_gets_plain_text(cli, repo, args):
    done = cli(*args, cwd=repo)
    assert done.code == 0 and "\x1b" not in done.stdout and done.stdout


@pytest.mark.parametrize("args", PAGES, ids=" ".join)
def test_a_terminal_gets_colour_and_rows_that_fit(cli, repo, args):
    done = cli(*args, cwd=repo, tty="all", env={"GIT_PAGER": "cat"})
    assert done.code == 0
    assert "\x1b[" in done.stdout or args[0] == "changeset"
    rows = ESCAPE.sub("", done.stdout).splitlines()
    assert max(len(row) for row in rows) <= 80


@pytest.mark.parametrize("how", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, "color.decisions", "color.ui"])
def test_colour_is_off_where_someone_says_so(cli, git, repo, how):
    env = {"GIT_PAGER": "cat"}
    if isinstance(how, dict):
        env |= how
    else:
        git("config", how, "never" if how == "color.ui" else "false", cwd=repo)
    done = cli("log", cwd=repo, tty="all", env=env)
    assert done.code == 0 and "\x1b" not in done.stdout and "users.card_token" in done.stdout


def test_color_decisions_is_stronger_than_color_ui(cli, git, repo):
    git("config", "color.ui", "never", cwd=repo)
    git("config", "color.decisions", "auto", cwd=repo)
    assert "\x1b[" in cli("log", cwd=repo, tty="all", env={"GIT_PAGER": "cat"}).stdout


@pytest.mark.parametrize(
    ("setting", "expected"),
    [({"GIT_PAGER": "sed s/^/G:/"}, "G:"), ({"PAGER": "sed s/^/P:/"}, "P:"), ("core.pager", "C:")],
)
def test_the_pager_is_gits(cli, git, repo, setting, expected):
    env = dict(setting) if isinstance(setting, dict) else {}
    if not env:
        git("config", setting, "sed s/^/C:/", cwd=repo)
        env = {"PAGER": "sed s/^/P:/"}
    done = cli("log", cwd=repo, tty="all", env=env)
    rows = ESCAPE.sub("", done.stdout).splitlines()
    assert done.code == 0 and rows and all(row.startswith(expected) for row in rows)


def test_no_pager_runs_where_output_is_a_pipe(cli, repo):
    assert "G:" not in cli("log", cwd=repo, env={"GIT_PAGER": "sed s/^/G:/"}).stdout


def test_less_gets_what_git_gives_it(cli, repo):
    shown = cli("log", cwd=repo, tty="all", env={"GIT_PAGER": 'echo "LESS=$LESS LV=$LV"; cat >/dev/null'})
    assert "LESS=FRX LV=-c" in shown.stdout
    own = cli("log", cwd=repo, tty="all", env={"GIT_PAGER": 'echo "LESS=$LESS"; cat >/dev/null', "LESS": "R"})
    assert "LESS=R" in own.stdout


def test_leaving_the_pager_early_is_no_error(cli, repo):
    for number in range(20):
        assert cli("record", f"a{number}", "add", "-r", "x" * 20000, cwd=repo).code == 0
    done = cli("log", cwd=repo, tty="all", env={"GIT_PAGER": "head -n 1"})
    assert done.code == 0 and "Traceback" not in done.stdout and "rror" not in done.stdout


def test_a_pager_that_is_missing_does_not_swallow_the_answer(cli, repo):
    done = cli("log", cwd=repo, tty="all", env={"GIT_PAGER": "no-such-pager-anywhere"})
    assert done.code == 0 and "Traceback" not in done.stdout


def test_git_may_put_its_own_pager_on_the_output(git, repo):
    shown = git("-c", "core.pager=cat", "-p", "decisions", "log", cwd=repo, env={"GIT_PAGER": "cat"})
    assert "users.card_token" in shown


@pytest.mark.parametrize("args", PAGES, ids=" ".join)
@pytest.mark.parametrize("tty", [False, "all"], ids=["pipe", "terminal"])
def test_no_text_breaks_or_empties_a_listing(cli, repo, foreign, args, tty):
    fields = {"entity_path": "app/[/bold]/x.ts", "change_type": "reject", "reasoning": f"PCI {POISON}"}
    foreign(repo, **fields, approach=POISON[:60], agent=POISON[:60], changeset_id=POISON, instead=POISON)
    done = cli(*args, cwd=repo, tty=tty, env={"GIT_PAGER": "cat"})
    assert done.code == 0
    shown = ESCAPE.sub("", done.stdout)
    assert "\x1b" not in shown and "\u202e" not in shown and "\U000e0041" not in shown
    if args[0] in ("log", "search", "status"):
        assert "users.card_token" in shown or args == ["status", "users"]
        assert "[/bold]" in shown or args == ["status", "users"]


def test_json_of_poison_is_the_text_itself_and_obeyed_by_no_terminal(cli, repo, foreign):
    foreign(repo, entity_path="users.evil", change_type="add", reasoning=POISON)
    for tty in (False, "all"):
        done = cli("log", "-n", "1", "--json", cwd=repo, tty=tty, env={"GIT_PAGER": "cat"})
        assert done.json["events"][0]["reasoning"] == POISON
        assert "\x1b" not in done.stdout and "\u202e" not in done.stdout


def test_text_from_right_to_left_stands_isolated(cli, repo):
    assert cli("record", "users.rtl", "add", "-r", "שלום עולם", cwd=repo).code == 0
    for tty in (False, "all"):
        shown = cli("log", "-n", "1", cwd=repo, tty=tty, env={"GIT_PAGER": "cat"}).stdout
        assert "\u2068שלום עולם\u2069" in shown


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1", "C.UTF-8"])
def test_a_pipe_gets_utf8_whatever_the_locale(cli, repo, locale):
    assert cli("record", "users.ja", "add", "-F", "-", cwd=repo, input="日本語の理由").code == 0
    done = cli(
        "log", "-n", "1", cwd=repo, env={"LC_ALL": locale, "LANG": locale, "PYTHONUTF8": "0", "PYTHONIOENCODING": None}
    )
    assert done.code == 0 and "日本語の理由" in done.stdout


def test_a_terminal_that_cannot_show_a_character_gets_it_spelled_out(cli, repo):
    assert cli("record", "users.ja", "add", "-r", "日本語", cwd=repo).code == 0
    done = cli("log", "-n", "1", cwd=repo, tty="all", env={"GIT_PAGER": "cat", "PYTHONIOENCODING": "ascii"})
    assert done.code == 0 and "\\u65e5\\u672c\\u8a9e" in done.stdout


@pytest.mark.parametrize("columns", ["20", "40", "200", "0", "banana"])
def test_any_width_will_do(cli, repo, columns):
    done = cli("log", cwd=repo, tty="all", env={"GIT_PAGER": "cat", "COLUMNS": columns})
    assert done.code == 0 and "PCI" in done.stdout
    if columns in ("20", "40"):
        assert max(len(row) for row in ESCAPE.sub("", done.stdout).splitlines()) <= int(columns)


def test_help_is_coloured_on_a_terminal_and_plain_in_a_pipe(cli, repo):
    plain = cli("log", "-h", cwd=repo)
    assert (
        plain.code == 0 and plain.stdout.startswith("usage: git decisions log [ENTITY]") and "\x1b" not in plain.stdout
    )
    shown = cli("log", "-h", cwd=repo, tty="all")
    assert ESCAPE.sub("", shown.stdout) == plain.stdout and "\x1b[1m" in shown.stdout


def test_every_command_has_help_and_the_same_under_both_names(cli, tmp_path, capsys):
    from gitmem.cli import catalogue, entry

    for command in catalogue.every():
        long = cli(*command.words.split(), "--help", cwd=tmp_path)
        assert long.code == 0 and command.summary.split()[0] in long.stdout and long.stderr == ""
        # The other name in this process: to load Typer takes a tenth of a second, and there are sixty commands.
        assert entry.run([*command.words.split(), "-h"]) == 0
        assert capsys.readouterr() == (long.stdout, "")
    assert cli("log", "-h", cwd=tmp_path) == cli("log", "--help", cwd=tmp_path)
    everything = cli("-h", cwd=tmp_path)
    assert everything.code == 0 and all(command.words in everything.stdout for command in catalogue.every())
    nothing = cli(cwd=tmp_path)
    assert nothing.code == 2 and nothing.stdout == everything.stdout
    version = cli("--version", cwd=tmp_path)
    assert version.code == 0 and re.fullmatch(r"git-decisions \d+\.\d+\S*\n", version.stdout)


def test_record_says_what_was_stored_and_where_from(cli, repo):
    folder = repo / "src"
    folder.mkdir()
    (folder / "auth.py").write_text("x\n")
    done = cli("record", "auth.py", "modify", "-r", "why", cwd=folder)
    assert done.code == 0
    id = cli("log", "-n", "1", "--json", cwd=repo).json["events"][0]["id"]
    assert done.stdout == f"{id[:8]} modify src/auth.py\n"
    dry = cli("record", "auth.py", "modify", "-r", "why", "--dry-run", cwd=folder)
    assert dry.code == 0 and dry.stdout == "would append modify src/auth.py\n"
    assert cli("log", "-n", "1", "--json", cwd=repo).json["events"][0]["id"] == id


def test_paragraphs_join_as_they_do_for_commit(cli, repo):
    assert cli("record", "a", "add", "-r", "One.", "-r", "Two.", cwd=repo).code == 0
    assert cli("log", "-n", "1", "--json", cwd=repo).json["events"][0]["reasoning"] == "One.\n\nTwo."


def test_a_reason_from_a_file_or_stdin_is_trimmed(cli, repo):
    (repo / "why").write_text("\n\nBecause.\n\nAnd so.\n\n")
    assert cli("record", "a", "add", "-F", "why", cwd=repo).code == 0
    assert cli("record", "b", "add", "-F", "-", cwd=repo, input="  Because.\r\n").code == 0
    second, first = cli("log", "-n", "2", "--json", cwd=repo).json["events"]
    assert first["reasoning"] == "Because.\n\nAnd so."
    assert second["reasoning"] == "Because."


def test_a_diff_comes_from_the_index_a_commit_a_file_or_stdin(cli, git, repo):
    (repo / "readme").write_text("changed\n")
    git("add", "readme", cwd=repo)
    (repo / "d.diff").write_text("+from a file\n")
    sources = {"staged": "+changed", "HEAD": "+1", "d.diff": "+from a file", "-": "+from stdin"}
    for number, (source, held) in enumerate(sources.items()):
        done = cli("record", f"a{number}", "add", "-r", "w", "--diff", source, cwd=repo, input="+from stdin\n")
        assert done.code == 0, done.stderr
        assert held in cli("log", "-n", "1", "--json", cwd=repo).json["events"][0]["diff"]
    bad = cli("record", "a", "add", "-r", "w", "--diff", "no-such-thing", cwd=repo)
    assert bad.code == 2 and "is no file, and no commit either" in bad.stderr


def test_stream_is_one_event_a_line(cli, repo, foreign):
    for number in range(3):
        foreign(repo, entity_path=f"a{number}", change_type="add", reasoning="why\nand\u2028so")
    rows = cli("log", "--json", "--stream", cwd=repo).stdout.splitlines()
    assert [json.loads(row)["entity_path"] for row in rows] == ["a2", "a1", "a0", "users.card_token"]


def test_filters_take_dates_as_people_and_as_git_write_them(cli, repo):
    for since in ("7d", "24h", "2020-01-01", "yesterday", "2 weeks ago"):
        assert len(cli("log", "--since", since, "--json", cwd=repo).json["events"]) == 1, since
        assert cli("log", "--until", since, "--json", cwd=repo).json["events"] == [], since
    import datetime

    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    assert len(cli("log", "--until", today, "--json", cwd=repo).json["events"]) == 1


def test_assert_names_each_id_that_is_not_there(cli, repo):
    id = cli("log", "--json", cwd=repo).json["events"][0]["id"]
    assert cli("assert", id, id[:8], cwd=repo) == ("recorded: 2 events\n", "", 0)
    done = cli("assert", id, "deadbeef", "nonsense", cwd=repo)
    assert done.code == 1 and done.stdout == "not in the log: deadbeef\nnot in the log: nonsense\n"
    data = cli("assert", id, "deadbeef", "--json", cwd=repo)
    assert data.code == 1 and data.json["missing"] == ["deadbeef"] and data.json["present"] == [id]


def test_everything_works_from_a_subdirectory(cli, repo):
    deep = repo / "a" / "b"
    deep.mkdir(parents=True)
    for args in PAGES:
        assert cli(*args, cwd=deep).stdout == cli(*args, cwd=repo).stdout


def test_verify_for_github_is_a_command_a_line(cli, git, repo):
    assert cli("verify", "--format", "github", cwd=repo).stdout.startswith("::notice file=refs/decisions/log,")
    assert cli("verify", "--format", "json", cwd=repo).json["sound"] is True
    git("update-ref", "refs/decisions/log", "HEAD", cwd=repo)
    done = cli("verify", "--format", "github", cwd=repo)
    assert done.code == 1 and done.stdout.startswith("::error file=refs/decisions/log,title=gitmem verify%3A ")


def test_git_itself_finds_the_command(repo):
    done = subprocess.run(["git", "decisions", "status", "users.card_token"], cwd=repo, capture_output=True, text=True)
    assert done.returncode == 0 and "rejected" in done.stdout


def test_an_event_that_breaks_the_format_is_left_out_and_said_in_one_line(cli, repo, foreign):
    foreign(repo, entity_path="users.odd", change_type="add", reasoning="why", clock=10**6)
    for args in (["log"], ["status"], ["search", "PCI"], ["prior", "users.card_token"]):
        done = cli(*args, cwd=repo)
        assert done.code == 0 and "users.card_token" in done.stdout, args
        assert done.stderr.count("\n") == 1 and done.stderr.startswith("warning: 1 event "), args
    assert cli("verify", cwd=repo).code == 1


def test_a_name_that_could_be_an_id_is_the_name_where_something_is_recorded_about_it(cli, repo):
    assert cli("reject", "added", "-r", "no", cwd=repo).code == 0
    id = cli("log", "-n", "1", "--json", cwd=repo).json["events"][0]["id"]
    done = cli("supersede", "added", "-r", "yes", "--json", cwd=repo)
    assert done.code == 0 and done.json["events"][-1]["supersedes"] == [id]
    unknown = cli("supersede", "feed", "-r", "yes", cwd=repo)
    assert unknown.code == 14 and "feed" in unknown.stderr


def test_supersede_takes_an_id_of_any_length(cli, repo):
    event = cli("log", "--json", cwd=repo).json["events"][0]
    done = cli("supersede", event["id"][:10], "-r", "why", "--json", cwd=repo, tty=True)
    assert done.code == 0, done.stderr
    [made] = done.json["events"]
    assert (made["change_type"], made["entity_path"], made["supersedes"]) == (
        "supersede",
        event["entity_path"],
        [event["id"]],
    )
