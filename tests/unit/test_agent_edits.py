"""What clients' tools edit, spelling by spelling."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitmem.core.calls import Edit
from gitmem.hooks.agents import asking, dialects, edits, patches, paths, payloads

ROOT = Path(__file__).resolve().parents[2]


def shown(found: list[Edit]) -> list[tuple[object, ...]]:
    return [(edit.path, edit.content, list(edit.pairs), edit.is_deletion, edit.moved_from) for edit in found]


@pytest.mark.parametrize("path_key", edits.PATH)
@pytest.mark.parametrize("content_key", edits.CONTENT)
def test_a_whole_file_in_every_spelling(path_key, content_key):
    given = {path_key: "src/a.py", content_key: "x = 1\n"}
    assert shown(edits.edits_of("anything", given)) == [("src/a.py", "x = 1\n", [], False, "")]
    assert edits.edits_of("Bash", given) == []


@pytest.mark.parametrize("old_key", edits.OLD)
@pytest.mark.parametrize("new_key", edits.NEW)
def test_a_replacement_in_every_spelling_alone_or_in_a_list(old_key, new_key):
    pair = {old_key: "x", new_key: "y"}
    expected = [("a.py", None, [("x", "y", False)], False, "")]
    assert shown(edits.edits_of("edit", {"path": "a.py", **pair})) == expected
    for several in edits.SEVERAL:
        assert shown(edits.edits_of("edit", {"path": "a.py", several: [pair]})) == expected
    assert edits.edits_of("edit", {"path": "a.py", old_key: "x"}) == []


@pytest.mark.parametrize("key", edits.EVERYWHERE)
def test_everywhere_is_true_and_nothing_else(key):
    def everywhere(value: object) -> bool:
        (edit,) = edits.edits_of("edit", {"path": "a", "old_string": "x", "new_string": "y", key: value})
        return edit.pairs[0][2]

    assert everywhere(True) and not everywhere(False) and not everywhere("yes")


@pytest.mark.parametrize("tool", ["delete", "Delete", "delete_file", "deleteFile", "remove-files"])
def test_a_deletion_is_known_by_the_tools_name(tool):
    assert shown(edits.edits_of(tool, {"path": "a.py"})) == [("a.py", None, [], True, "")]
    assert edits.edits_of("read_file", {"path": "a.py"}) == []


@pytest.mark.parametrize(("source", "target"), list(zip(edits.SOURCE, edits.TARGET)))
def test_a_move_is_known_by_the_tools_name(source, target):
    assert shown(edits.edits_of("move_file", {source: "a.py", target: "b.py"})) == [("b.py", None, [], False, "a.py")]
    assert edits.edits_of("compare", {source: "a.py", target: "b.py"}) == []


@pytest.mark.parametrize("tool", ["Bash", "shell", "PowerShell", "run_in_terminal", "developer__shell", "execute_bash"])
def test_a_shells_command_is_never_read(tool):
    patch = "*** Begin Patch\n*** Delete File: a.py\n*** End Patch"
    for key in ("command", "input", "patch", "content"):
        assert edits.edits_of(tool, {key: patch, "path": "a.py"}) == []
        assert edits.edits_of("apply_patch", {key: patch})


def test_a_file_about_patches_is_a_file():
    patch = "*** Begin Patch\n*** Delete File: a.py\n*** End Patch"
    assert shown(edits.edits_of("Write", {"file_path": "notes.md", "content": patch})) == [
        ("notes.md", patch, [], False, "")
    ]


@pytest.mark.parametrize(
    ("given", "pairs"),
    [
        ({"command": "insert", "insert_line": 3, "new_str": "x\n"}, [("", "x\n", False)]),
        ({"command": "insert", "insert_line_1": 3, "new_str_1": "x\n"}, [("", "x\n", False)]),
        ({"command": "append", "new_str": "x"}, [("", "x", False)]),
        ({"line": 3, "old_str": "a", "new_str": "b"}, [("a", "b", False)]),
        (
            {"old_str_1": "a", "new_str_1": "b", "old_str_2": "c", "new_str_2": "d"},
            [("a", "b", False), ("c", "d", False)],
        ),
        ({"str_replace_entries": [{"old_str": "a", "new_str": "b"}]}, [("a", "b", False)]),
        ({"insert_line_entries": [{"insert_line": 3, "new_str": "x"}]}, [("", "x", False)]),
    ],
)
def test_tools_that_are_several_in_one(given, pairs):
    assert shown(edits.edits_of("str-replace-editor", {"path": "a.py", **given})) == [("a.py", None, pairs, False, "")]


def test_a_cell_of_a_notebook_is_added_text():
    given = {"notebook_path": "n.ipynb", "new_source": "import x", "edit_mode": "replace"}
    assert shown(edits.edits_of("NotebookEdit", given)) == [("n.ipynb", None, [("", "import x", False)], False, "")]


@pytest.mark.parametrize(
    "given",
    [
        *(None, 3, [], {}, "text"),
        {"path": 3, "content": "x"},
        {"path": "", "content": "x"},
        {"path": "a\0b", "content": "x"},
        {"path": "a", "content": {"x": 1}},
        {"edits": "x", "path": "a"},
        {"edits": [1, None, [], "x"], "path": "a"},
        {"path": "a", "edits": [{"old_string": 1, "new_string": None}]},
    ],
)
def test_what_is_no_edit_is_none(given):
    assert edits.edits_of("edit", given) == []


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("src/a.py", "src/a.py"),
        (" a.py\n", "a.py"),
        ("src\\a.py", "src/a.py"),
        ("C:\\repo\\a b.py", "C:/repo/a b.py"),
        ("/c:/repo/a.py", "c:/repo/a.py"),
        ("file:///repo/a%20b.py", "/repo/a b.py"),
        ("file:///c%3A/repo/gr%C3%B6%C3%9Fe.py", "c:/repo/größe.py"),
        ("file://localhost/repo/a.py", "/repo/a.py"),
        ("file://server/share/a.py", "//server/share/a.py"),
        ("\\\\server\\share\\a.py", "//server/share/a.py"),
        ("/repo/100%.py", "/repo/100%.py"),
        ("file:///repo/100%25%zz%", "/repo/100%%zz%"),
        ("/日本/メモ.py", "/日本/メモ.py"),
    ],
)
def test_paths_in_every_spelling(given, path):
    assert paths.plain(given) == path


# --- bytes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": "x"}', "x"),
        (b'\xef\xbb\xbf{"a": "x"}\r\n', "x"),
        (b'{"a": "x\x00\ty\nz\x1b[0m"}', "x\0\ty\nz\x1b[0m"),
        (b'{"a": "caf\xe9"}', "caf\ufffd"),
        (b'{"a": "\\ud83d"}', "\ud83d"),
        ('{"a": "größe"}'.encode(), "größe"),
        (b'{"a": "x", "a": "y"}', "y"),
        (b'{"a": "x", "n": NaN}', "x"),
    ],
)
def test_an_object_is_read_however_it_is_spelled(data, value):
    given = payloads.decoded(data)
    assert given is not None and given["a"] == value


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"[]", b'"x"', b"3", b"null", b"{", b'{"a": "x"} x', b"\xff\xfe{\x00}\x00", b"{'a': 1}"),
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"a": ' + b"9" * 10_000 + b"}",
        b'{"a": "' + b"x" * payloads.SIZE_MAX + b'"}',
    ],
)
def test_anything_else_is_nothing(data):
    assert payloads.decoded(data) is None
    # In the hook nothing has loaded `json`, whose error the scanner would raise.
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from gitmem.hooks.agents import payloads;"
        "print(payloads.decoded(b'{}'), 'json' in sys.modules, payloads.decoded(sys.stdin.buffer.read()))"
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(ROOT)]
    done = subprocess.run(command, input=data, capture_output=True)
    assert (done.stdout, done.stderr) == (b"{} False None\n", b"")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
)


@given(_JSON.map(json.dumps) | st.dictionaries(st.text(), _JSON).map(lambda one: json.dumps(one, indent=1)) | st.text())
@example(' \t{"a": Infinity, "b": -Infinity, "c": 1e400}\r\n')
@example('{"a": "\x1f"}')
@example("\x0b{}")
@example('{"a": 1}\u00a0')
@example('{"a" : 01}')
@example("nan")
def test_a_payload_is_read_as_json_reads_it(text):
    try:
        value = json.loads(text, strict=False)
    except ValueError:
        value = None
    assert payloads.parsed(text) == (value if isinstance(value, dict) else None)


# --- patches -----------------------------------------------------------------------------------


def test_a_patch_does_to_a_file_what_it_says():
    before = "a\nb\nc\nd\ne"
    patch = """*** Begin Patch
*** Update File: f.txt
@@ anchor
 a
-b
+B
 c
@@
 d
-e
+E
*** End of File
*** End Patch
"""
    (edit,) = patches.edits_of(patch)
    assert edit.path == "f.txt" and edit.after(before) == "a\nB\nc\nd\nE"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_patch_of_every_kind_of_change(end):
    patch = end.join(
        ["*** Begin Patch", "*** Add File: new.py", "+a", "+", "+b", "*** Delete File: gone.py",
         "*** Update File: old.py", "*** Move to: moved.py", "@@", " keep", "", "-x", "+y", "*** End Patch", ""]
    )  # fmt: skip
    assert shown(patches.edits_of(patch)) == [
        ("new.py", "a\n\nb\n", [], False, ""),
        ("gone.py", None, [], True, ""),
        ("moved.py", None, [("keep\n\nx\n", "keep\n\ny\n", False)], False, "old.py"),
    ]


def test_a_form_feed_in_a_line_ends_no_line():
    (edit,) = patches.edits_of("*** Begin Patch\n*** Add File: a\n+x\x0cy\u2028z\n*** End Patch")
    assert edit.content == "x\x0cy\u2028z\n"


@pytest.mark.parametrize("cut", range(0, 90, 7))
def test_a_patch_that_is_cut_off_gives_what_is_there(cut):
    patch = "*** Begin Patch\n*** Add File: a.py\n+x = 1\n*** Update File: b.py\n@@\n-x\n+y\n*** End Patch"
    for edit in patches.edits_of(patch[: 16 + cut]):
        assert edit.path in ("a.py", "b.py", "b", "a", "b.", "a.", "")


def test_unified_diffs():
    diff = """diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,3 +1,3 @@ def f():
 keep
--- sql comment
+++ counter
 end
@@ -9 +9,2 @@
 z
+zz
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+x
--- a/old.py\t2026-01-01
+++ b/moved.py\t2026-01-01
@@ -1 +1 @@
-x
+y
\\ No newline at end of file
"""
    assert shown(patches.edits_of(diff)) == [
        ("a.py", None, [("keep\n-- sql comment\nend\n", "keep\n++ counter\nend\n", False), ("z\n", "z\nzz\n", False)],
         False, ""),
        ("gone.py", None, [], True, ""),
        ("new.py", None, [("", "x\n", False)], False, ""),
        ("moved.py", None, [("x\n", "y\n", False)], False, "old.py"),
    ]  # fmt: skip


def test_search_and_replace_blocks():
    text = "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n<<<<<<< SEARCH\nc\nd\n=======\n>>>>>>> REPLACE\n"
    assert patches.blocks_of(text) == [("a\n", "b\n", False), ("c\nd\n", "", False)]
    assert patches.blocks_of("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n") == []


# --- what was asked ----------------------------------------------------------------------------


def asked(command: object, tool: str = "Bash", **payload: object) -> list[str]:
    return [entity for entity, _ in asking.asked(tool, {"command": command}, payload)]


@pytest.mark.parametrize(
    "command",
    [
        "git decisions prior users.email",
        "git-decisions prior users.email",
        "git decisions prior 'users.email' --json",
        'git decisions prior --about "keep tokens; all" "users.email"',
        "cd /repo/src && git decisions prior users.email | head -20",
        "A=1 git decisions prior users.email 2>/dev/null",
        "git -C /repo decisions prior users.email 2>&1 | cat",
        "/opt/tools/bin/git-decisions prior users.email; echo done",
        "git status\ngit decisions prior \\\n  users.email",
        "git decisions prior users.email || true",
        ["git", "decisions", "prior", "users.email"],
        ["bash", "-lc", "cd x && git decisions prior users.email"],
    ],
)
def test_a_finished_prior_is_seen(command):
    assert asked(command) == ["users.email"]


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("git decisions prior a.b", ""),
        ("cd sub && git decisions prior a.b", "sub"),
        ("cd /one; cd two && git -C three -c x.y=1 decisions prior a.b", "/one/two/three"),
        ("git decisions prior a.b; cd /other", ""),
        ("cd -P -- 'a b' && git decisions prior a.b", "a b"),
        (["git", "-C", "/other", "decisions", "prior", "a.b"], "/other"),
        (["bash", "-c", "cd /other && git decisions prior a.b"], "/other"),
        ("cd && git decisions prior a.b", None),
        ("cd - && git decisions prior a.b", None),
        ("cd ~/other && git decisions prior a.b", None),
        ("pushd /other && git decisions prior a.b", None),
        ("GIT_DIR=/other git decisions prior a.b", None),
        ("git --git-dir=/other decisions prior a.b", None),
        ("git --git-dir /other decisions prior a.b", None),
    ],
)
def test_a_prior_was_asked_where_it_ran(command, place):
    assert asking.asked("Bash", {"command": command}, {}) == ([] if place is None else [("a.b", place)])


@pytest.mark.parametrize(
    "command",
    [
        "echo git decisions prior users.email",
        "echo 'git decisions prior users.email'",
        "# git decisions prior users.email",
        "git decisions prior users.email > /dev/null",
        "git decisions prior users.email >> notes",
        "git decisions prior users.email &>/dev/null",
        "false || git decisions prior users.email",
        "git decisions prior users.email &",
        "if true; then git decisions prior users.email; fi",
        "$(git decisions prior users.email)",
        "git decisions prior --help users.email",
        "git decisions record users.email add -r prior",
        "git log prior users.email",
        "git decisions prior",
        "cat <<E\ngit decisions prior users.email\nE",
        ["echo", "git", "decisions", "prior", "users.email"],
        {"git": 1},
        "git decisions prior 'users.email",
    ],
)
def test_what_did_not_run_or_was_not_read_asked_nothing(command):
    assert asked(command) == []


@pytest.mark.parametrize(
    "response",
    [{"isError": True}, {"interrupted": True}, {"exit_code": 1}, {"success": False}, {"error": "no"}],
)
def test_a_failed_call_asked_nothing(response):
    assert asked("git decisions prior users.email", tool_response=response) == []
    assert asked("git decisions prior users.email", tool_response={"stdout": "…"}) == ["users.email"]


def test_only_a_shells_command_is_read():
    assert asked("git decisions prior users.email", tool="mcp__notes__add") == []
    assert asked("git decisions prior users.email", tool="Bash") == ["users.email"]


@pytest.mark.parametrize(
    "tool",
    ["mcp__decisions__prior_attempts", "mcp__plugin_git-decisions_decisions__prior_attempts", "mcp_decisions_status",
     "decisions-prior_attempts", "decisions__status", "@decisions/prior_attempts", "decisions___prior_attempts",
     "prior_attempts_decisions", "MCP:prior_attempts", "prior_attempts", "git-decisions:status"],
)  # fmt: skip
def test_our_tools_in_each_clients_spelling(tool):
    assert asking.asked(tool, {"entity_path": "users.email"}, {}) == [("users.email", "")]
    assert asking.asked(tool, '{"entity_path": "users.email"}', {}) == [("users.email", "")]
    assert asking.asked(tool, {"description": "no entity"}, {}) == []


@pytest.mark.parametrize(
    "tool",
    ["mcp__selvedge__prior_attempts", "status", "git_status", "mcp__github__status", "mcp__decisions__log_change"],
)
def test_others_tools_asked_nothing_of_us(tool):
    assert asking.asked(tool, {"entity_path": "users.email"}, {}) == []
    assert asking.asked("mcp__decisions__prior_attempts", {"entity_path": "users.email"}, {}) == [("users.email", "")]


def test_the_options_of_prior_that_take_a_value_are_known():
    # They stand before an entity that would else be taken for their value, or the other way round.
    from gitmem.cli.hot_table import HOT

    options = HOT["prior"][2]
    assert {name for name, (_, kind) in options.items() if kind != "flag"} == asking.VALUED


# --- whose payload it is -----------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["", *dialects.DIALECTS])
@pytest.mark.parametrize(
    ("payload", "owner"),
    [
        ({"cursor_version": "3", "hook_event_name": "preToolUse"}, "cursor"),
        ({"turn_id": "t", "hook_event_name": "PreToolUse"}, "codex"),
        ({"agent_action_name": "pre_write_code"}, "windsurf"),
        ({"event": "PreToolUse", "working_dir": "/repo"}, "goose"),
        ({"toolCall": {}, "stepIdx": 1}, "antigravity"),
        ({"clineVersion": "3"}, "cline"),
        ({"sessionID": "s", "tool": "edit"}, "opencode"),
        ({"hook_event_name": "BeforeTool"}, "gemini"),
        ({"hook_event_name": "PreToolUse", "transcript_path": "/u/.claude/projects/x.jsonl"}, "claude"),
        ({"hook_event_name": "PreToolUse", "transcript_path": "C:\\u\\.cursor\\x.jsonl"}, "cursor"),
        ({"hookEventName": "PreToolUse", "sessionId": "1"}, "vscode"),
    ],
)
def test_a_payload_is_whose_it_looks_like(agent, payload, owner):
    assert dialects.recognised(agent, payload) == owner


@pytest.mark.parametrize("agent", sorted(dialects.LIKE_CLAUDE))
def test_where_the_shape_does_not_say_the_command_line_does(agent):
    payload = {"hook_event_name": "PreToolUse", "session_id": "1", "cwd": "/repo", "tool_name": "Edit"}
    assert dialects.recognised(agent, payload) == agent
    for other in ("cursor", "goose", "windsurf", "cline", ""):
        assert dialects.recognised(other, payload) == "claude"


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("claude", "claude"),
        ("Claude-Code", "claude"),
        ("vs_code", "vscode"),
        ("factory", "droid"),
        ("", ""),
        ("vim", ""),
    ],
)
def test_names_of_agents(typed, name):
    assert dialects.known(typed) == name
