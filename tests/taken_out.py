"""What the tests of redaction, purging and adoption share: a log with something in it that must not stay."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

REF = "refs/decisions/log"
SECRET = "correct-horse-battery-staple"


def git_dir(repo: Path) -> Path:
    return place if (place := repo / ".git").exists() else repo  # a bare one


def found_in(git, repo: Path, text: str) -> list[str]:
    """Where `text` can be read under the git directory: every object, every row, every file."""
    needle = text.encode()
    places = []
    top = git_dir(repo)
    listed = git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)", cwd=repo)
    for line in listed.splitlines():
        oid, kind = line.split()
        if needle in git.run("cat-file", kind, oid, cwd=repo).stdout:
            places.append(f"{kind} {oid}")
    for path in top.rglob("*"):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if needle in data:
            places.append(str(path))
        if len(path.parent.name) == 2 and path.parent.parent.name == "objects" and needle in zlib.decompress(data):
            places.append(f"loose {path}")
        if data.startswith(b"SQLite format 3"):
            db = sqlite3.connect(path)
            for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                try:
                    rows = db.execute(f"SELECT * FROM {table}").fetchall()
                except sqlite3.Error:
                    continue
                cells = [cell if isinstance(cell, bytes) else str(cell).encode() for row in rows for cell in row]
                if any(needle in cell for cell in cells):
                    places.append(f"{path} {table}")
            db.close()
    return places


def is_sound(git, cli, repo: Path) -> None:
    done = git.run("fsck", "--strict", "--full", "--no-dangling", cwd=repo)
    assert done.returncode == 0 and b"missing" not in done.stdout + done.stderr, done.stderr
    done = cli("verify", "--json", cwd=repo)
    assert done.code == 0 and done.json["findings"] == [], done.stdout


def record(cli, repo: Path, *args: str, tty: bool = True) -> str:
    done = cli(*args, "--json", cwd=repo, tty=tty)
    assert done.code == 0, done.stderr + done.stdout
    return done.json["events"][0]["id"]


@pytest.fixture(name="log")
def log_with_a_secret(once, make_repo, cli):
    """A log with events before and after the one whose reason holds what must not stay; returns (repo, its id)."""
    return once("a log with a secret", lambda: _log_with_a_secret(make_repo(name="log"), cli))


def _log_with_a_secret(repo: Path, cli) -> tuple[Path, str]:
    assert cli("init", cwd=repo).code == 0
    record(cli, repo, "record", "users.email", "add", "-r", "Login needs an address.")
    record(cli, repo, "record", "users.card", "add", "--approach", "keep it here", "-r", "The first try.")
    bad = record(
        cli, repo, "reject", "users.card", "--approach", "keep it here", "-r", f"The vault opens with {SECRET} only."
    )
    record(cli, repo, "record", "users.name", "add", "-r", "We greet people.")
    return repo, bad


def forged(repo: Path, bad: str, git) -> str:
    """Put a tombstone for `bad` into the log without a redact event, as somebody who may push could; return the tip."""
    code = (
        "import sys\n"
        "from gitmem.memory import Memory\n"
        "from gitmem.sync.redaction import rewrite\n"
        "m = Memory.open('.'); log = m.desk.log(); tip = log.tip()\n"
        "work = rewrite(log, m.repository, {sys.argv[1]: 'plain'}, [tip])\n"
        "log.publish_many(work.objects, work.at(tip), tip, 'forged')\n"
    )
    subprocess.run([sys.executable, "-c", code, bad], cwd=repo, check=True)
    return git("rev-parse", REF, cwd=repo)
