"""Where code is merged: the scripts of the Action and of the GitLab job, on checkouts as CI makes them."""

from __future__ import annotations

import http.server
import json
import os
import re
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import ClassVar

import pytest
from conftest import ROOT, SCRIPTS
from taken_out import record
from travelling import REF, said, script_at, tip

ACTION = ROOT / "action"


class Ci:
    """A checkout of a branch, and what `action/check` made of it."""

    def __init__(self, git, hub: Path, place: Path, branch: str, *options: str) -> None:
        git("clone", "--quiet", *options, "--branch", branch, hub.as_uri(), place, cwd=place.parent)
        self.place = place
        self.out = place.parent / f"{place.name}-out"
        self.summary = self.out / "step-summary"
        self.checkpoint = place.parent / "checkpoint"

    def check(self, **env: str) -> tuple[int, str]:
        done = subprocess.run(
            ["sh", ACTION / "check"],
            cwd=self.place,
            env={
                **os.environ,
                "DECISIONS": str(SCRIPTS / "git-decisions"),
                "OUT": str(self.out),
                "CHECKPOINT": str(self.checkpoint),
                "GITHUB_STEP_SUMMARY": str(self.out / "step-summary"),
                "GITHUB_OUTPUT": str(self.out / "output"),
                **env,
            },
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout

    @property
    def told(self) -> str:
        return (self.out / "comment.md").read_text()


@pytest.fixture
def pull(once, shared, cli, git) -> str:
    """A rejected column, and a branch that brings it back in line 2 of a file; returns the id of the rejection."""
    return once("a pull request", lambda: _pull(shared[1], cli, git))


def _pull(two: Path, cli, git) -> str:
    (two / "db").mkdir()
    (two / "db/1.sql").write_text("CREATE TABLE users (id int);\n")
    git("add", "db", cwd=two)
    git("commit", "--quiet", "-m", "Users", cwd=two)
    git("push", "--quiet", "origin", "main", cwd=two)
    record(cli, two, "record", "users.card", "add", "--approach", "own table", "-r", "For payments.")
    bad = record(cli, two, "reject", "users.card", "--approach", "own table", "-r", "No card data, <b>ever</b> @all.")
    record(cli, two, "record", "db/1.sql", "modify", "-r", "The table of users.")
    said(cli, two, "push")
    for branch, line in (("bad", "ALTER TABLE users ADD COLUMN card text;\n"), ("good", "-- nothing\n")):
        git("checkout", "--quiet", "-b", branch, "main", cwd=two)
        (two / "db/2.sql").write_text(f"CREATE TABLE orders (id int);\n{line}")
        (two / "db/1.sql").write_text("CREATE TABLE users (id int, name text);\n")
        git("add", "db", cwd=two)
        git("commit", "--quiet", "-m", branch, cwd=two)
        git("push", "--quiet", "origin", branch, cwd=two)
    return bad


def test_a_pull_request_that_brings_back_a_rejected_column_fails_on_its_line(pull, hub, git, tmp_path):
    ci = Ci(git, hub, tmp_path / "ci", "bad")
    code, out = ci.check(BASE="origin/main", HEAD="origin/bad")
    assert code == 1
    (error,) = [line for line in out.splitlines() if line.startswith("::error ")]
    assert error.startswith("::error file=db/2.sql,line=2,") and pull[:8] in error
    assert "Stopped" in ci.told and "db/2.sql:2" in ci.told and "check failed" in ci.told
    # What somebody wrote is text, and the decisions on the touched files are there.
    assert "<b>" not in ci.told and "@all" not in ci.told and "The table of users" in ci.told
    assert ci.told.splitlines()[0] == "<!-- git-decisions -->"
    assert ci.summary.read_text() == "\n".join(ci.told.splitlines()[1:]) + "\n"


def test_one_that_does_not_passes_and_leaves_a_checkpoint(pull, hub, git, tmp_path):
    ci = Ci(git, hub, tmp_path / "ci", "good")
    code, out = ci.check(RANGE="origin/main..HEAD")
    assert code == 0 and "::error" not in out and "::notice" in out
    assert ci.checkpoint.read_text().strip() == tip(git, hub)
    assert (ci.out / "output").read_text() == f"tip={tip(git, hub)}\n"
    assert "Nothing that was rejected comes back" in ci.told and "The table of users" in ci.told


def test_a_trailer_of_somebody_who_can_not_push_the_log_passes_as_a_proposal(pull, hub, shared, git, tmp_path):
    _, two, _ = shared
    git("checkout", "--quiet", "bad", cwd=two)
    git("commit", "--quiet", "--amend", "-m", f"Again\n\nSupersedes-Decision: {pull[:8]} we have a vault now", cwd=two)
    git("push", "--quiet", "--force", "origin", "bad", cwd=two)
    ci = Ci(git, hub, tmp_path / "ci", "bad")
    code, out = ci.check(RANGE="origin/main..origin/bad")
    assert code == 0 and "::warning file=db/2.sql,line=2," in out and "::error" not in out
    assert "for a maintainer to decide" in ci.told and "we have a vault now" in ci.told


def test_it_fails_closed_where_the_log_is_absent_cut_off_or_the_range_is_not_here(pull, hub, git, cli, tmp_path):
    ci = Ci(git, hub, tmp_path / "ci", "good")
    shallow = Ci(git, hub, tmp_path / "shallow", "good", "--depth=1")
    code, out = shallow.check(BASE=git("rev-parse", "refs/heads/main", cwd=hub), HEAD="HEAD")
    assert code == 1 and "fetch-depth" in out
    assert shallow.check()[0] == 0  # the log itself is whole there
    whole = tip(git, hub)
    git("update-ref", "-d", REF, cwd=hub)
    code, out = ci.check(RANGE="origin/main..HEAD")
    assert code == 1 and "::error" in out and "no decision log" in out
    # A log that was there in the last good run is not one that never was.
    code, out = ci.check(ALLOW_MISSING="true")
    assert code == 1 and "no decision log" in out and f"{whole[:12]} was its tip" in out
    ci.checkpoint.unlink()
    assert ci.check(RANGE="origin/main..HEAD", ALLOW_MISSING="true")[0] == 0
    git("update-ref", REF, whole, cwd=hub)
    git("remote", "set-url", "origin", "/nowhere", cwd=ci.place)
    code, out = ci.check(RANGE="origin/main..HEAD")
    assert code == 1 and "::error title=gitmem fetch::" in out
    git("remote", "set-url", "origin", hub.as_uri(), cwd=ci.place)
    assert ci.check(RANGE="origin/main..HEAD")[0] == 0


@pytest.mark.parametrize("how", ["cut off", "filtered"])
def test_a_clone_in_which_the_log_is_not_whole_is_not_taken_for_it(pull, hub, git, tmp_path, how):
    git("config", "uploadpack.allowFilter", "true", cwd=hub)
    ci = Ci(git, hub, tmp_path / "ci", "good", *(("--filter=blob:none",) if how == "filtered" else ()))
    depth = ("--depth=1",) if how == "cut off" else ()
    git("fetch", "--quiet", *depth, "origin", f"{REF}:{REF}", cwd=ci.place)
    code, out = ci.check(RANGE="origin/main..HEAD")
    assert code == 1 and "::error" in out


def test_a_log_that_was_replaced_since_the_last_good_run_shows_itself(pull, hub, shared, make_repo, cli, git, tmp_path):
    ci = Ci(git, hub, tmp_path / "ci", "good")
    assert ci.check()[0] == 0
    good = ci.checkpoint.read_text()
    record(cli, shared[1], "record", "a.b", "add", "-r", "One more.")
    said(cli, shared[1], "push")
    later = Ci(git, hub, tmp_path / "later", "good")
    assert later.check()[0] == 0 and later.checkpoint.read_text() != good
    git("update-ref", REF, f"{tip(git, hub)}~2", cwd=hub)
    after = Ci(git, hub, tmp_path / "after", "good")
    code, out = after.check()
    assert code == 1 and "checkpoint" in out and later.checkpoint.read_text() == after.checkpoint.read_text()


def test_a_redaction_since_the_last_good_run_is_no_alarm(pull, hub, shared, cli, git, tmp_path):
    ci = Ci(git, hub, tmp_path / "ci", "good")
    assert ci.check()[0] == 0
    _one, two, ids = shared
    assert cli("redact", ids[0], "-r", "Not for us.", cwd=two, tty=True).code == 0
    assert said(cli, two, "push")["replaced"]
    assert Ci(git, hub, tmp_path / "after", "good").check()[0] == 0


def test_the_gitlab_job_does_the_same(pull, hub, git, tmp_path):
    text = (ACTION / "gitlab.yml").read_text()
    block = textwrap.dedent(re.search(r"    - \|\n(.*)", text, re.DOTALL)[1])
    for branch, wanted in (("good", 0), ("bad", 1)):
        ci = Ci(git, hub, tmp_path / branch, branch)
        env = {
            "DECISIONS": str(SCRIPTS / "git-decisions"),
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": git("rev-parse", "origin/main", cwd=ci.place),
            "CI_COMMIT_SHA": git("rev-parse", "HEAD", cwd=ci.place),
        }
        done = subprocess.run(["sh", "-c", block], cwd=ci.place, env={**os.environ, **env}, capture_output=True)
        assert done.returncode == wanted, done.stderr
        assert (ci.place / ".decisions-tip").exists() == (wanted == 0)
    git("update-ref", "-d", REF, cwd=hub)
    ci = Ci(git, hub, tmp_path / "none", "good")
    assert subprocess.run(["sh", "-c", block], cwd=ci.place, env={**os.environ, **env}, capture_output=True).returncode


def test_the_files_that_the_action_names_are_there_and_nothing_untrusted_is_pasted_into_a_script():
    text = (ACTION / "action.yml").read_text()
    for name in re.findall(r"\$GITHUB_ACTION_PATH/([\w.]+)", text):
        assert (ACTION / name).is_file(), name
    for line in text.splitlines():
        if line.strip().startswith("run:"):
            assert "${{" not in line, line
    assert text.count("shell: sh") == text.count("run: ")


def test_installing_prints_the_command_for_the_steps_that_follow(tmp_path):
    command = SCRIPTS / "git-decisions"
    env = {**os.environ, "DECISIONS": str(command)}
    done = subprocess.run(["sh", ACTION / "install"], env=env, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"command={command}\n")
    env["DECISIONS"] = script_at(tmp_path / "broken", "exit 3")
    assert subprocess.run(["sh", ACTION / "install"], env=env, capture_output=True, cwd=tmp_path).returncode == 3


# --- the comment --------------------------------------------------------------------------------


class Forge(http.server.BaseHTTPRequestHandler):
    """The part of GitHub that keeps the comments of one pull request."""

    comments: ClassVar[list[dict]] = []
    writes: ClassVar[list[str]] = []
    status = 200
    login = ""

    def _answer(self, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        if self.path == "/user":
            self.status = 200 if self.login else 403
            self._answer({"login": self.login})
            return
        page = int(self.path.rpartition("page=")[2])
        self._answer(self.comments[100 * (page - 1) : 100 * page])

    def _written(self) -> str:
        self.writes.append(f"{self.command} {self.path}")
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

    def do_POST(self) -> None:
        body = self._written()
        if self.status == 200:
            self.comments.append({"id": 1000 + len(self.comments), "body": body, "user": {"type": "Bot"}})
        self._answer({})

    def do_PATCH(self) -> None:
        body = self._written()
        number = int(self.path.rpartition("/")[2])
        next(one for one in self.comments if one["id"] == number)["body"] = body
        self._answer({})

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def forge():
    Forge.comments, Forge.writes, Forge.status, Forge.login = [], [], 200, ""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forge)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_one_comment_is_kept_up_to_date_and_nobody_elses_is_touched(forge, tmp_path):
    def post(text: str) -> subprocess.CompletedProcess[str]:
        path = tmp_path / "comment.md"
        path.write_text(f"<!-- git-decisions -->\n{text}\n")
        env = {"GITHUB_API_URL": forge, "GITHUB_REPOSITORY": "team/x", "NUMBER": "7", "TOKEN": "t"}
        return subprocess.run(
            [sys.executable, ACTION / "comment.py", path], env={**os.environ, **env}, capture_output=True, text=True
        )

    Forge.comments = [{"id": at, "body": f"Hello {at}", "user": {"type": "User"}} for at in range(130)]
    Forge.comments[5]["body"] = "<!-- git-decisions -->\nmine, says a person"
    for text in ("first", "first", "second"):
        assert post(text).returncode == 0
    assert Forge.writes == ["POST /repos/team/x/issues/7/comments", "PATCH /repos/team/x/issues/comments/1130"]
    assert [one["body"] for one in Forge.comments[130:]] == ["<!-- git-decisions -->\nsecond\n"]
    assert Forge.comments[5]["body"].endswith("says a person")
    # With the token of a person the comment is theirs, and found again.
    Forge.login = "ada"
    Forge.comments = [{"id": 1, "body": "<!-- git-decisions -->\nold", "user": {"type": "User", "login": "ada"}}]
    assert post("new").returncode == 0 and Forge.comments[0]["body"].endswith("new\n")
    # A fork's token may read only.
    Forge.comments, Forge.status = [], 403
    done = post("third")
    assert done.returncode == 0 and "::notice" in done.stdout and Forge.comments == []
