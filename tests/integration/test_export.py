"""Exports for reading: what is in them, that nothing recorded is markup or a formula, and --check."""

from __future__ import annotations

import csv
import io
import json
import re
import tracemalloc
import uuid
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from taken_out import record

from gitmem.exporters import adr, agent_trace, markdown
from gitmem.exporters import csv as csv_exporter
from gitmem.exporters import json as json_exporter

READABLE = ("json", "csv", "markdown", "agent-trace")
WHY = ("-r", "Login needs a stable address.")
HOSTILE = """# heading
1. one
- list
---
===
> quote
```
fence
~~~
    code
| a | b |
|---|---|
<script>alert(1)</script> <!-- open
[x](http://example.org) ![y](z) [ref]: /url
*a* **b** _c_ `d` $e$ &amp; &lt; \\
+ plus
* star
-->
"""


def exported(cli, repo: Path, form: str, *more: str) -> str:
    done = cli("export", "--format", form, *more, cwd=repo)
    assert done.code == 0, done.stderr
    return done.stdout


def event(**fields: object) -> dict[str, object]:
    base: dict[str, object] = {
        "id": "7f" * 32, "kind": "change", "change_type": "reject", "entity_path": "users.email", "scope": "",
        "approach": None, "reasoning": "Why.", "verdict": "rejected", "trust": "ratified", "commits": [],
        "author": "Ada <ada@example.org>", "recorded_at": "2026-11-30T12:00:00.000000Z", "channel": "human",
    }  # fmt: skip
    return base | fields


# --- marks ------------------------------------------------------------------------------------


def test_each_obeys_the_marks_as_log_does(make_repo, cli):
    repo = make_repo()
    ids = {}
    for name in ("kept", "sealed", "muted", "retracted", "redacted"):
        ids[name] = record(cli, repo, "record", f"users.{name}", "add", "-r", f"the words of {name}")
    for command, name in (("seal", "sealed"), ("mute", "muted"), ("retract", "retracted"), ("redact", "redacted")):
        assert cli(command, ids[name], "-r", "Because.", cwd=repo, tty=True).code == 0
    for form in READABLE:
        text = exported(cli, repo, form)
        assert "the words of kept" in text
        for name in ("sealed", "muted", "retracted", "redacted"):
            assert f"the words of {name}" not in text, (form, name)
            assert ids[name] not in text and ids[name][:8] not in text.replace(ids["kept"], ""), (form, name)
        everything = exported(cli, repo, form, "--all")
        assert "the words of muted" in everything and "the words of redacted" not in everything
    done = cli("export", "--format", "adr", "-o", repo / "adr", cwd=repo)
    assert done.code == 0 and "1 decision" in done.stderr
    backup = exported(cli, repo, "jsonl")
    assert "the words of sealed" in backup and "the words of redacted" not in backup


def test_filters_and_both_clocks(make_repo, cli):
    repo = make_repo()
    record(cli, repo, "record", "users.old", "add", *WHY, "--valid-from", "2020-01-01")
    record(cli, repo, "record", "users.new", "add", *WHY, "--valid-from", "2024-01-01")
    record(cli, repo, "reject", "users.old", "--approach", "again", *WHY)
    for form in READABLE:
        assert "users.new" not in exported(cli, repo, form, "--as-of", "2022-01-01")
        assert "users.old" in exported(cli, repo, form, "--as-of", "2022-01-01")
        assert "users.old" not in exported(cli, repo, form, "--known-at", "2021-01-01")
        assert "users.new" not in exported(cli, repo, form, "--type", "reject")
    assert len(json.loads(exported(cli, repo, "json", "-n", "1"))["events"]) == 1
    assert json.loads(exported(cli, repo, "json")) == cli("log", "--json", cwd=repo).json
    assert cli("export", "--format", "xml", cwd=repo).code == 2
    assert cli("export", "--type", "frob", cwd=repo).code == 2


def test_an_empty_log_gives_an_empty_export(make_repo, cli):
    repo = make_repo()
    assert cli("export", cwd=repo).code == 10
    assert cli("init", cwd=repo).code == 0
    for form in (*READABLE, "jsonl"):
        assert cli("export", "--format", form, cwd=repo).code == 0


# --- files and --check ------------------------------------------------------------------------


@pytest.mark.parametrize("form", [*READABLE, "jsonl"])
def test_check_says_whether_the_file_is_what_the_log_says(make_repo, cli, form):
    repo = make_repo()
    record(cli, repo, "record", "users.email", "add", *WHY)
    arguments = ("export", "--format", form, "-o", "out", "--check")
    assert cli(*arguments, cwd=repo).code == 1  # there is none yet, and none was made
    assert not (repo / "out").exists()
    assert cli(*arguments[:-1], cwd=repo).code == 0
    written = (repo / "out").read_bytes()
    assert cli(*arguments, cwd=repo).code == 0
    assert cli("export", "--format", form, cwd=repo).stdout.encode() == written
    for other in (written + b"\n", written[:-1], b"", b"x" + written[1:]):
        (repo / "out").write_bytes(other)
        done = cli(*arguments, cwd=repo)
        assert done.code == 1 and "out" in done.stdout + done.stderr and (repo / "out").read_bytes() == other
    record(cli, repo, "record", "users.name", "add", *WHY)
    (repo / "out").write_bytes(written)
    assert cli(*arguments, cwd=repo).code == 1
    assert cli("export", "--format", form, "--check", cwd=repo).code == 2


def test_a_file_is_written_whole_or_not_at_all(make_repo, cli):
    repo = make_repo()
    record(cli, repo, "record", "users.email", "add", *WHY)
    (repo / "out").write_text("as it was")
    (repo / "out").chmod(0o640)
    (repo / "link").symlink_to("out")
    assert cli("export", "-o", "missing/out", cwd=repo).code == 30
    assert cli("export", "--known-at", "no-such-rev", "-o", "out", cwd=repo).code == 15
    assert (repo / "out").read_text() == "as it was"
    assert cli("export", "-o", "link", cwd=repo).code == 0
    assert (repo / "link").is_symlink() and (repo / "out").read_text().startswith('{"gitmem"')
    assert (repo / "out").stat().st_mode & 0o777 == 0o640
    assert [path.name for path in repo.glob("*.new")] == []


def test_a_folder_of_records_is_kept_in_step_and_nothing_else_is_touched(make_repo, cli):
    repo = make_repo()
    record(cli, repo, "record", "src/auth.py", "add", *WHY)
    gone = record(cli, repo, "reject", "users.card", "--approach", "keep = it", "-r", HOSTILE, "--instead", "a vault")
    (repo / "adr").mkdir()
    (repo / "adr" / "0001-mine.md").write_text("# Mine\n")
    arguments = ("export", "--format", "adr", "-o", "adr")
    assert cli("export", "--format", "adr", cwd=repo).code == 2
    assert cli(*arguments, "--check", cwd=repo).code == 1 and len(list((repo / "adr").iterdir())) == 1
    assert cli(*arguments, cwd=repo).code == 0
    names = sorted(path.name for path in (repo / "adr").iterdir())
    assert len(names) == 3 and f"users-card-keep-it-{gone[:8]}.md" in names
    text = (repo / "adr" / f"users-card-keep-it-{gone[:8]}.md").read_text()
    assert 'status: "rejected"' in text and "a vault" in text and "\n# users.card: keep = it\n" in text
    assert cli(*arguments, "--check", cwd=repo).code == 0
    assert cli("retract", gone, "-r", "No.", cwd=repo, tty=True).code == 0
    assert cli(*arguments, "--check", cwd=repo).code == 1
    assert cli(*arguments, cwd=repo).code == 0
    assert sorted(path.name for path in (repo / "adr").iterdir()) == [n for n in names if gone[:8] not in n]
    assert (repo / "adr" / "0001-mine.md").read_text() == "# Mine\n"


def test_what_was_exported_is_not_imported_as_something_new(make_repo, cli):
    repo = make_repo()
    record(cli, repo, "record", "src/auth.py", "add", *WHY)
    record(cli, repo, "reject", "users.card", "--approach", "keep it", *WHY)
    assert cli("export", "--format", "adr", "-o", "adr", cwd=repo).code == 0
    assert cli("export", "--format", "agent-trace", "-o", "traces.jsonl", cwd=repo).code == 0
    (repo / "adr" / "0001-mine.md").write_text("# Mine\n\n## Status\n\nAccepted\n\n## Decision\n\nWe do it.\n")
    done = cli("import", "adr", "adr", "--json", cwd=repo)
    assert done.code == 0 and done.json["appended"] == 1, done.stdout
    done = cli("import", "agent-trace", "traces.jsonl", "--json", cwd=repo)
    assert done.code == 0 and done.json["appended"] == 0, done.stdout


# --- csv --------------------------------------------------------------------------------------


@given(st.lists(st.one_of(st.text(), st.sampled_from(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r=1", "＝1"]))))
def test_no_cell_is_a_formula_and_every_text_comes_back(texts):
    rows = [event(reasoning=text, approach=text, evidence=[text], tags=[text, text]) for text in texts]
    read = list(csv.reader(io.StringIO("".join(csv_exporter.pieces(rows)), newline="")))
    assert len(read) == len(texts) + 1 and read[0] == list(csv_exporter.COLUMNS)
    for text, row in zip(texts, read[1:], strict=True):
        assert len(row) == len(csv_exporter.COLUMNS)
        for cell in row:
            assert cell.lstrip(" \t\r\n\u3000")[:1] not in tuple("=+-@＝＋－＠") and cell[:1] not in ("\t", "\r", "\n")
        cell = row[csv_exporter.COLUMNS.index("reasoning")]
        if text.isprintable():
            assert cell in (text, "'" + text)


def test_through_the_command_a_formula_stays_text(make_repo, cli):
    repo = make_repo()
    record(
        cli,
        repo,
        "record",
        "users.email",
        "add",
        "-r",
        '=HYPERLINK("http://x","y")',
        "--approach",
        "+cmd|' /C calc'!A0",
    )
    (row,) = csv.DictReader(io.StringIO(exported(cli, repo, "csv"), newline=""))
    assert row["reasoning"] == '\'=HYPERLINK("http://x","y")' and row["approach"].startswith("'+cmd")
    assert row["entity_path"] == "users.email"


# --- markdown ---------------------------------------------------------------------------------

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def shape(text: str) -> list[tuple[str, str]]:
    """What a Markdown reader makes of a text: its blocks, and what is within lines, without the words."""
    found = []
    for token in PARSER.parse(text):
        found.append((token.type, token.tag))
        found += [(inner.type, inner.tag) for inner in token.children or () if inner.type not in ("text", "softbreak")]
    return found


def words(text: str) -> str:
    """What a reader of the rendered digest reads."""
    inline = [token for token in PARSER.parse(text) if token.type == "inline"]
    return "\n".join("".join(t.content if t.type == "text" else "\n" for t in token.children or ()) for token in inline)


NASTY = st.text(st.sampled_from("#*_`~<>[]()!|\\-+=>&$:1.) \n\tab\u202e@\"'"), min_size=1, max_size=40)


@given(NASTY, NASTY, NASTY)
def test_no_recorded_text_changes_the_shape_of_the_digest(reason, approach, name):
    plain = event(reasoning="a\n\na", approach="a", instead="a", entity_path="a")
    shown = [part for part in re.split(r"\n[ \t]*\n", reason.replace("\t", " ")) if part.strip()]
    harmless = event(
        reasoning="\n\n".join("a" for _ in shown),
        approach="a" if approach.split() else "",
        instead="a" if approach.split() else "",
        entity_path="a" if name.split() else "",
    )
    hostile = event(reasoning=reason, approach=approach, instead=approach, entity_path=name)
    text = "".join(markdown.pieces(lambda: [hostile]))
    assert shape(text) == shape("".join(markdown.pieces(lambda: [harmless])))
    assert shape("".join(markdown.pieces(lambda: [plain])))
    for part in shown:
        for row in part.split("\n"):
            assert " ".join(row.replace("\u202e", "\ufffd").split()) in words(text)
    for file_name, record_text in adr.files([(1, hostile)]):
        kinds = [kind for kind, _ in shape(record_text.split("---\n", 2)[2])]
        assert re.fullmatch(r"[a-z0-9-]+\.md", file_name) and kinds.count("heading_open") in (4, 5)
        assert "html_inline" not in kinds and "fence" not in kinds and "table_open" not in kinds


def test_through_the_command_a_hostile_reason_breaks_nothing(make_repo, cli):
    repo = make_repo()
    record(cli, repo, "reject", "users.email", "--approach", "<b>", "-r", HOSTILE)
    record(cli, repo, "record", "users.name", "add", *WHY)
    text = exported(cli, repo, "markdown")
    headings = re.findall(r"^#+ .*", text, re.MULTILINE)
    assert headings == ["# Decisions", "## Closed", "### users.email", "## Standing", "### users.name"]
    assert "html_inline" not in [kind for kind, _ in shape(text)]
    for row in HOSTILE.strip().split("\n"):
        assert " ".join(row.split()) in words(text)


def test_the_digest_is_the_same_in_every_clone(make_repo, cli, git, tmp_path):
    repo = make_repo()
    record(cli, repo, "reject", "users.email", "--approach", "one", *WHY)
    record(cli, repo, "record", "users.name", "add", *WHY)
    other = tmp_path / "other"
    git("clone", "-q", repo, other, cwd=tmp_path)
    git("fetch", "-q", "origin", "refs/decisions/log:refs/decisions/log", cwd=other)
    env = {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    for form in ("markdown", "csv", "json", "agent-trace"):
        there = cli("export", "--format", form, cwd=other, env=env)
        assert there.stdout == exported(cli, repo, form)


# --- agent-trace ------------------------------------------------------------------------------

STRING = re.compile(r"(?s).*").fullmatch


def is_url(value: str) -> bool:
    return bool(urlsplit(value).scheme) and " " not in value


#: The schema of Agent Trace 0.1.0: name -> (required, what its value is).
CONTRIBUTOR = {
    "type": (True, re.compile("human|ai|mixed|unknown").fullmatch),
    "model_id": (False, re.compile(".{0,250}").fullmatch),
}
RANGE = {
    "start_line": (True, lambda value: type(value) is int and value >= 1),
    "end_line": (True, lambda value: type(value) is int and value >= 1),
    "content_hash": (False, STRING),
    "contributor": (False, CONTRIBUTOR),
}
CONVERSATION = {
    "url": (False, is_url),
    "contributor": (False, CONTRIBUTOR),
    "ranges": (True, [RANGE]),
    "related": (False, [{"type": (True, STRING), "url": (True, is_url)}]),
}
RECORD = {
    "version": (True, re.compile(r"\d+\.\d+\.\d+").fullmatch),
    "id": (True, lambda value: str(uuid.UUID(value)) == value),
    "timestamp": (True, lambda value: value.endswith("Z") and datetime.fromisoformat(value)),
    "vcs": (False, {"type": (True, re.compile("git|jj|hg|svn").fullmatch), "revision": (True, STRING)}),
    "tool": (False, {"name": (True, STRING), "version": (True, STRING)}),
    "files": (True, [{"path": (True, STRING), "conversations": (True, [CONVERSATION])}]),
    "metadata": (
        False,
        lambda value: type(value) is dict and all(re.fullmatch(r"[\w-]+(\.[\w-]+)+", k) for k in value),
    ),
}


def check(value: object, schema: object, place: str = "record") -> None:
    if isinstance(schema, dict):
        assert isinstance(value, dict), place
        assert set(value) <= set(schema), (place, set(value) - set(schema))
        for name, (required, inner) in schema.items():
            assert name in value or not required, f"{place}.{name} is missing"
            if name in value:
                check(value[name], inner, f"{place}.{name}")
    elif isinstance(schema, list):
        assert isinstance(value, list), place
        for one in value:
            check(one, schema[0], place + "[]")
    else:
        assert schema(value), (place, value)  # type: ignore[operator]


DIFF = """diff --git a/src/auth.py b/src/auth.py
--- a/src/auth.py
+++ b/src/auth.py
@@ -1,2 +1,4 @@
 import os
+import hmac
+--- no header
 x = 1
+++ y
@@ -9,0 +12,1 @@ def f():
+last
diff --git a/old b/old
--- a/old
+++ /dev/null
@@ -1 +0,0 @@
-gone
"""


def test_each_record_is_valid_and_names_its_decision(make_repo, cli, git):
    repo = make_repo()
    (repo / "d.diff").write_text(DIFF)
    first = record(cli, repo, "record", "src/auth.py::login", "add", *WHY, "--diff", "d.diff", "--commit", "HEAD")
    record(cli, repo, "record", "users.email", "add", *WHY)
    closed = record(cli, repo, "reject", "src/auth.py", "--approach", "no", "-r", HOSTILE)
    record(cli, repo, "supersede", closed, *WHY)
    found = [json.loads(line) for line in exported(cli, repo, "agent-trace").splitlines()]
    assert len(found) == 4 and len({one["id"] for one in found}) == 4
    for one in found:
        check(one, RECORD)
    by_event = {one["metadata"]["dev.gitmem"]["event"]: one for one in found}
    traced = by_event[first]
    (file,) = traced["files"]
    assert file["path"] == "src/auth.py" and traced["vcs"]["revision"] == git("rev-parse", "HEAD", cwd=repo)
    (conversation,) = file["conversations"]
    assert conversation["contributor"] == {"type": "human"}
    assert conversation["ranges"] == [
        {"start_line": 2, "end_line": 3},
        {"start_line": 5, "end_line": 5},
        {"start_line": 12, "end_line": 12},
    ]
    assert {"type": "decision", "url": f"urn:gitmem:{first}"} in conversation["related"]
    superseded = by_event[closed]["files"][0]["conversations"][0]["related"]
    assert [one["type"] for one in superseded] == ["decision", "superseded-by"]


def test_the_check_of_records_sees_what_is_wrong():
    good = agent_trace.record(event(entity_path="src/auth.py", diff=DIFF))
    check(good, RECORD)
    for wrong in (
        {**good, "version": "1"},
        {**good, "extra": 1},
        {name: value for name, value in good.items() if name != "files"},
        {**good, "metadata": {"plain": 1}},
        {**good, "id": "7f"},
    ):
        with pytest.raises((AssertionError, ValueError)):
            check(wrong, RECORD)


# --- memory -----------------------------------------------------------------------------------


@pytest.mark.parametrize("pieces", [json_exporter.pieces, csv_exporter.pieces, agent_trace.pieces])
def test_any_number_of_events_takes_no_more_memory(pieces):
    def peak(count: int) -> int:
        tracemalloc.start()
        for _ in pieces(event(clock=number, reasoning="why " * 50) for number in range(count)):
            pass
        _, high = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return high

    few, many = peak(100), peak(4000)
    assert many < few + 100_000
