"""Ways round the gate: the same thing brought in by another spelling, another place, or several steps at once.

Each of them passed once. Beside each stands what must go on passing.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gitmem.core.calls import Answer, Edit
from gitmem.hooks import gate
from gitmem.hooks.agents.reading import call_of
from tests.integration.test_gate import COLUMN, WHY, World

MODEL = """\
class Payment(Base):
    __tablename__ = 'payments'
    id = Column(Integer)

    note = Column(Text)


class Other(Base):
    __tablename__ = 'others'
    id = Column(Integer)
"""
NEW = "    card_token = Column(Text)\n"
HARMLESS = "    memo = Column(Text)\n"


class Agents(World):
    """Agents that send their own clients' payloads."""

    def claude(self, tool: str, **given) -> Answer:
        return self._told("claude", tool, given)

    def codex(self, patch: str) -> Answer:
        return self._told("codex", "apply_patch", {"command": patch}, turn_id="t")

    def _told(self, agent: str, tool: str, given: dict[str, object], **more: str) -> Answer:
        self._calls += 1
        payload = {"hook_event_name": "PreToolUse", "session_id": "a", "cwd": str(self.repo), "tool_name": tool}
        payload |= {"tool_input": given, "tool_use_id": f"use-{self._calls}", **more}
        return gate.judge(call_of(agent, payload))


@pytest.fixture
def world(make_repo, cli) -> Agents:
    return Agents(make_repo(), cli)


@pytest.fixture
def closed(once, make_repo, cli) -> Agents:
    def make() -> Path:
        world = Agents(make_repo(name="repo"), cli)
        world.person("reject", "payments.card_token", "-r", WHY)
        return world.repo

    return Agents(once("a column is closed", make), cli)


# --- where the new lines go ---------------------------------------------------------------------


@pytest.mark.parametrize("feed", ["\n", "\r\n"])
def test_lines_of_a_windows_file_are_replaced_where_they_stand(closed, feed):
    (closed.repo / "m.py").write_bytes(MODEL.replace("\n", feed).encode())
    old = "    id = Column(Integer)\n\n    note"
    for new, stops in ((NEW, True), (HARMLESS, False)):
        said = closed.claude(
            "Edit", file_path="m.py", old_string=old, new_string=f"    id = Column(Integer)\n{new}    note"
        )
        assert said.stop is stops


def test_what_is_inserted_by_a_lines_number_stands_there(closed):
    closed.write("m.py", MODEL)
    for new, line, stops in ((NEW, 3, True), (HARMLESS, 3, False), (NEW, 10, False)):
        given = {"command": "insert", "path": "m.py", "insert_line": line, "insert_text": new}
        assert closed.claude("str_replace_based_edit_tool", **given).stop is stops


@pytest.mark.parametrize(
    "hunk",
    [
        "@@ class Payment(Base):\n   id = Column(Integer)\n+{}",  # blanks that aren't so in the file
        "@@\n     __tablename__ = 'payments'  \n     id = Column(Integer)\n+{}",
        "@@ class Payment(Base):\n+{}",  # nothing but an anchor
        "@@ class Payment(Base):\n@@     __tablename__ = 'payments'\n     id = Column(Integer)\n+{}",
    ],
)
def test_a_loose_patch_lands_where_its_client_puts_it(closed, hunk):
    closed.write("m.py", MODEL)
    for new, stops in ((NEW, True), (HARMLESS, False)):
        patch = f"*** Begin Patch\n*** Update File: m.py\n{hunk.format(new)}*** End Patch\n"
        assert closed.codex(patch).stop is stops


def test_an_anchor_says_which_of_two_equal_places(closed):
    closed.write("m.py", MODEL.replace("payments", "refunds").replace("others", "payments"))
    for anchor, stops in (("class Other(Base):", True), ("class Payment(Base):", False)):
        hunk = f"@@ {anchor}\n     id = Column(Integer)\n+{NEW}"
        assert closed.codex(f"*** Begin Patch\n*** Update File: m.py\n{hunk}*** End Patch\n").stop is stops


@pytest.mark.parametrize(
    ("header", "context", "stops"),
    [
        ("@@ -3,0 +4,1 @@", "", True),
        ("@@ -10,0 +11,1 @@", "", False),
        ("@@ -3,1 +3,2 @@", "     id = Column(Integer)\n", True),
        ("@@ -10,1 +10,2 @@", "     id = Column(Integer)\n", False),
    ],
)
def test_a_diffs_line_says_which_of_two_equal_places(closed, header, context, stops):
    closed.write("m.py", MODEL)
    assert closed.codex(f"--- a/m.py\n+++ b/m.py\n{header}\n{context}+{NEW}").stop is stops


def test_however_many_places_an_edit_names_little_is_looked_through(monkeypatch):
    from gitmem.core import landing

    looked = []
    land = landing.landed

    def counted(text: str, old: str, new: str, place: int | str) -> str | None:
        looked.append(len(text))
        return land(text, old, new, place)

    monkeypatch.setattr(landing, "landed", counted)
    pairs = [("", f"new {number}\n", False) for number in range(200)]
    places = dict.fromkeys(range(200), "class A:")
    text = "class A:\n" + "    x\n" * 100_000
    after = Edit("a.py", pairs=pairs, places=places).after(text)
    assert after is not None and after.startswith("class A:\nnew ") and all(new in after for _, new, _ in pairs)
    assert 1 < len(looked) < 20 and sum(looked) <= 8_000_000


# --- several steps in one call ------------------------------------------------------------------


def test_a_later_edit_of_a_call_finds_what_an_earlier_one_made(closed):
    note = "    note = Column(Text)\n"
    for new, stops in ((NEW, True), (HARMLESS, False)):
        assert closed.call([Edit("m.py", content=MODEL), Edit("m.py", pairs=[(note, new, False)])]).stop is stops
    closed.write("a.py", MODEL)
    for new, stops in ((NEW, True), (HARMLESS, False)):
        pairs = [(note, new, False)]
        assert closed.call([Edit("m.py", moved_from="a.py"), Edit("m.py", pairs=pairs)]).stop is stops
        assert closed.call([Edit("a.py", pairs=pairs), Edit("m.py", moved_from="a.py")]).stop is stops


def test_what_a_call_takes_out_again_is_not_brought_in(closed):
    closed.write("m.py", MODEL)
    there_and_back = [Edit("m.py", pairs=[("note", "card_token", False)]), Edit("m.py", content=MODEL)]
    assert not closed.call(there_and_back).stop
    assert closed.call(there_and_back[:1]).stop


# --- from elsewhere -----------------------------------------------------------------------------


def test_a_file_that_is_moved_in_is_all_new(closed, tmp_path):
    outside, hidden = tmp_path / "out.sql", closed.repo / ".git" / "out.sql"
    for source in (outside, hidden):
        for text, stops in ((COLUMN, True), (COLUMN.replace("card_token", "note"), False)):
            source.write_text(text)
            assert closed.call([Edit("db/2.sql", moved_from=str(source))]).stop is stops
    # within the repository it was looked at when it was written
    closed.write("db/1.sql", COLUMN)
    assert not closed.call([Edit("db/2.sql", moved_from="db/1.sql")]).stop


def test_a_text_that_becomes_code_by_its_new_name_is_read_as_code(closed, git):
    closed.write("note.txt", COLUMN)
    assert closed.call([Edit("db/2.sql", moved_from="note.txt")]).stop
    assert not closed.call([Edit("db/2.txt", moved_from="note.txt")]).stop
    git("add", "note.txt", cwd=closed.repo)
    git("commit", "-qm", "a note", cwd=closed.repo)
    (closed.repo / "db").mkdir()
    git("mv", "note.txt", "db/2.sql", cwd=closed.repo)
    assert closed._cli("gate", "--staged", cwd=closed.repo, tty=True).code == 1
    git("mv", "db/2.sql", "db/2.txt", cwd=closed.repo)
    assert closed._cli("gate", "--staged", cwd=closed.repo, tty=True).code == 0


def test_a_symbol_of_a_moved_file_has_its_old_and_its_new_name(world):
    world.person("reject", "b.py::charge", "-r", WHY)
    world.write("a.py", "def charge():\n    pass\n")
    world.write("c.py", "def refund():\n    pass\n")
    assert world.call([Edit("b.py", moved_from="a.py")]).stop, "brought by the move"
    assert not world.call([Edit("b.py", moved_from="c.py")]).stop
    world.write("b.py", "def refund():\n    pass\n")
    pairs = [("def refund", "def charge():\n    pass\n\n\ndef refund", False)]
    assert world.call([Edit("d.py", moved_from="b.py", pairs=pairs)]).stop, "new in it, closed under the old name"
    assert not world.call([Edit("d.py", moved_from="b.py")]).stop
    world.write("b.py", "def charge():\n    pass\n")
    assert not world.call([Edit("d.py", moved_from="b.py")]).stop, "it stood there"


def test_who_writes_to_a_link_writes_to_what_it_leads_to(world, tmp_path):
    world.person("reject", "src/m.py::charge", "-r", WHY)
    world.write("src/m.py", "x = 1\n")
    os.symlink("src/m.py", world.repo / "link.py")
    os.symlink(world.repo / "src" / "m.py", tmp_path / "out.py")
    os.symlink(world.repo / "src", tmp_path / "folder")
    for path in ("link.py", str(tmp_path / "out.py"), str(tmp_path / "folder" / "m.py"), "SRC/../src/./M.py"):
        assert world.edit(path, "x = 1\ndef charge():\n    pass\n").stop, path
        assert not world.edit(path, "x = 1\ndef refund():\n    pass\n").stop, path
    # what leads out of the repository is another's
    (tmp_path / "mine.py").write_text("x = 1\n")
    os.symlink(tmp_path / "mine.py", world.repo / "src" / "theirs.py")
    world.person("reject", "src/theirs.py::charge", "-r", WHY)
    assert not world.edit("src/theirs.py", "x = 1\ndef charge():\n    pass\n").stop


# --- other bytes --------------------------------------------------------------------------------


def test_a_notebook_is_read_as_the_code_of_its_cells(world):
    world.person("reject", "deps/stripe", "-r", WHY)

    def book(*lines: str, kind: str = "code") -> str:
        return json.dumps({"cells": [{"cell_type": kind, "source": list(lines)}], "nbformat": 4}, indent=1)

    world.write("n.ipynb", book("import os\n"))
    for name, stops in (("stripe", True), ("httpx", False)):
        given = {"notebook_path": str(world.repo / "n.ipynb"), "new_source": f"import {name}\n"}
        assert world.claude("NotebookEdit", **given).stop is stops
        text = book("import os\n", f"import {name}\n")
        assert world.claude("Write", file_path="n.ipynb", content=text).stop is stops
    assert not world.claude("Write", file_path="n.ipynb", content=book("import stripe\n", kind="markdown")).stop
    world.write("n.ipynb", book("import stripe\n"))
    assert not world.claude("Write", file_path="n.ipynb", content=book("import stripe\n", "import os\n")).stop


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", "-- caf\xe9\n".encode("latin-1"), "-- x\n".encode("utf-16")])
def test_marks_and_other_encodings_hide_nothing(closed, before):
    (closed.repo / "m.sql").write_bytes(before)
    for text, stops in ((COLUMN, True), (COLUMN.replace("card_token", "note"), False)):
        assert closed.claude("Write", file_path="m.sql", content=f"\ufeff{text}").stop is stops


def test_a_change_far_down_in_a_large_file_is_read(closed):
    closed.write("m.sql", "-- x\n" * 300_000)
    whole = "-- x\n" * 299_999
    for text, stops in ((COLUMN, True), (COLUMN.replace("card_token", "note"), False)):
        said = closed.claude("Edit", file_path="m.sql", old_string=whole, new_string=whole + text)
        assert said.stop is stops
        assert not stops or "m.sql:300000" in said.text


def test_one_thing_among_thousands_is_found(closed):
    many = "".join(f"ALTER TABLE t{number} ADD COLUMN c{number} text;\n" for number in range(3000))
    assert closed.claude("Write", file_path="m.sql", content=many + COLUMN).stop
    assert not closed.claude("Write", file_path="m.sql", content=many).stop


# --- one id for two calls -----------------------------------------------------------------------


def test_an_answer_is_about_the_edit_and_not_about_its_number(closed):
    """Some clients count their calls anew in each turn."""
    closed.agent("reject", "payments.note", "-r", "one text is enough")
    note = COLUMN.replace("card_token", "note")
    assert closed.edit("db/1.sql", note, call_id="1").stop
    passed = closed.edit("db/1.sql", note, call_id="2")
    assert not passed.stop
    assert closed.edit("db/1.sql", COLUMN, call_id="2").stop, "another edit under the number of one that passed"
    assert not closed.edit("db/1.sql", note, call_id="2").stop, "the same twice is answered the same"
