"""`git decisions setup`: what it writes into people's files, that it takes just that away, and that it really works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gitmem.core.clients import CLIENTS
from gitmem.core.jsonc import parsed

#: The PATH of a desktop program: no environment, no ~/.local/bin.
BARE = "/usr/bin:/bin"
CURSOR = {
    "cursor_version": "3",
    "conversation_id": "c",
    "generation_id": "g",
    "hook_event_name": "preToolUse",
    "tool_name": "Write",
    "tool_input": {"file_path": "a.py", "content": "x\n"},
}
#: Only our own program says this to a payload of Cursor's at another client's hook.
SEEN = '{"permission":"allow"}'

#: Files as people have them: comments, trailing commas, tabs, CRLF, byte order marks, no line feed at the end.
FOREIGN = {
    ".claude/settings.json": (
        b'{\n\t"permissions": {"allow": ["Bash(ls:*)"]},\n\t"hooks": {\n\t\t"PreToolUse": [\n'
        b'\t\t\t{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}\n\t\t]\n\t}\n}'
    ),
    ".mcp.json": b"{}",
    "CLAUDE.md": b"# Mine\r\n\r\nWords.\r\n",
    "AGENTS.md": "# Größe".encode(),
    "GEMINI.md": b"\xef\xbb\xbf# Gem\n\n\n",
    "QWEN.md": b"",
    ".codex/config.toml": b'# mine\nmodel = "m" # why\n\n[mcp_servers.other]\ncommand = "x"\r\n',
    ".codex/hooks.json": b'{\r\n  "hooks": {}\r\n}\r\n',
    ".cursor/hooks.json": b'{ "version": 1, "hooks": { "stop": [ { "command": "mine" } ] } }\n',
    ".cursor/mcp.json": b'{\n  // servers\n  "mcpServers": {\n    "a": {"command": "a"}, // first\n  },\n}\n',
    ".vscode/mcp.json": b'{\n    "servers": {\n    }\n}\n',
    ".gemini/settings.json": b'\xef\xbb\xbf{"theme": "x"}',
    ".qwen/settings.json": b'/* all */ {"hooks": {"PreToolUse": []}, "mcpServers": {"b": {"command": "b"}}}',
    ".windsurf/hooks.json": b"\n\n{\n}\n",
    ".devin/hooks.v1.json": b'{"Stop": []}\n',
    ".factory/mcp.json": b'{"mcpServers": {"decisions-of-others": {"command": "c"}}}\n',
    "opencode.jsonc": b'{\n  "$schema": "s", // keep\n  /* end */\n}\n',
    ".clinerules/mine.md": b"mine\n",
}


def tree(repo: Path) -> dict[str, tuple[bytes | str, int]]:
    """Every file of the work tree: its bytes, or where it links to, and its mode."""
    found: dict[str, tuple[bytes | str, int]] = {}
    for path in sorted(repo.rglob("*")):
        name = str(path.relative_to(repo))
        if name == ".git" or name.startswith(".git/") or (path.is_dir() and not path.is_symlink()):
            continue
        found[name] = (os.readlink(path) if path.is_symlink() else path.read_bytes(), path.lstat().st_mode & 0o777)
    return found


def fill(repo: Path, files: dict[str, bytes] = FOREIGN) -> dict[str, tuple[bytes | str, int]]:
    for name, data in files.items():
        place = repo / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return tree(repo)


def all_agents() -> list[str]:
    return [word for name in CLIENTS for word in ("--agent", name)]


@pytest.mark.parametrize("files", [{}, FOREIGN], ids=["nothing there", "people's files there"])
def test_every_client_is_set_up_and_taken_away_byte_for_byte(cli, make_repo, files):
    repo = make_repo()
    (repo / "readme").chmod(0o640)
    before = fill(repo, files)
    done = cli("setup", *all_agents(), cwd=repo)
    assert done.code == 0, done.stderr
    after = tree(repo)
    for name, client in CLIENTS.items():
        for file in client.files:
            there = [path for path in (file.path, *file.others) if path in after]
            assert there, (name, file.path)
            data = after[there[0]][0]
            assert isinstance(data, bytes)
            if file.is_json:
                whole = parsed(data.decode("utf-8"))
                for wanted in file.wanted:
                    node = whole
                    for part in wanted.path:
                        node = node.get(part)
                    assert wanted.how == "default" or wanted.value in [
                        node.value,
                        *(item.value for item in node.items or ()),
                    ]
            if file.runs:
                assert after[there[0]][1] & 0o100
    for name, data in files.items():
        assert after[name][0] != data or name == ".clinerules/mine.md"
    # Again: nothing to do, and no file is touched.
    stamps = {path: (repo / path).stat().st_mtime_ns for path in after}
    again = cli("setup", *all_agents(), "--json", cwd=repo).json
    assert all(step["already"] and not step["done"] for step in again["steps"])
    assert len(again["notes"]) == 1 and "git decisions init" in again["notes"][0]
    assert {path: (repo / path).stat().st_mtime_ns for path in tree(repo)} == stamps
    assert cli("setup", "--check", "--json", cwd=repo).json["agents"] == list(CLIENTS)
    assert cli("uninstall", cwd=repo).code == 0
    assert tree(repo) == before
    assert not [
        path for path in repo.rglob("*") if path.is_dir() and ".git" not in path.parts and not any(path.iterdir())
    ]
    assert "alias" not in (repo / ".git" / "config").read_text()


def test_a_clone_that_set_nothing_up_takes_only_ours_away(cli, git, make_repo, tmp_path):
    # It doesn't know what was there before, so what ours stood in may stay, empty.
    repo = make_repo()
    before = fill(repo)
    cli("setup", *all_agents(), cwd=repo)
    git("add", "-A", cwd=repo)
    git("commit", "-q", "-m", "agents", cwd=repo)
    clone = tmp_path / "clone"
    git("clone", "-q", repo, clone, cwd=tmp_path)
    assert cli("setup", "--check", cwd=clone).code == 0
    assert cli("uninstall", cwd=clone).code == 0
    left = tree(clone)
    for name, (data, _) in before.items():
        if name in ("readme", "QWEN.md"):
            continue  # QWEN.md held nothing: who could know that it was there?
        now = left.pop(name)[0]
        assert isinstance(data, bytes) and isinstance(now, bytes)
        if name.endswith((".json", ".jsonc")):
            old, new = (parsed(each.decode("utf-8")).value for each in (data, now))
            assert without_empty(new) == without_empty(old), name
            assert [c for c in (b"// servers", b"// first", b"/* all */", b"// keep", b"/* end */") if c in data] == [
                c for c in (b"// servers", b"// first", b"/* all */", b"// keep", b"/* end */") if c in now
            ]
        else:
            assert now == data, name
    assert [name for name, (data, _) in left.items() if name != "readme"] == []


def without_empty(value: object) -> object:
    if isinstance(value, dict):
        found = {name: without_empty(inner) for name, inner in value.items() if name not in ("version", "enabled")}
        return {name: inner for name, inner in found.items() if inner not in ({}, [])}
    return value


def test_what_somebody_changes_afterwards_stays(cli, make_repo):
    repo = make_repo()
    cli("setup", "--agent", "claude", cwd=repo)
    settings = repo / ".claude" / "settings.json"
    text = settings.read_text().replace('"hooks": {\n', '"mine": true, // why\n  "hooks": {\n', 1)
    group = '{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]},\n'
    settings.write_text(text.replace('"PreToolUse": [\n', '"PreToolUse": [\n' + group, 1))
    memory = repo / "CLAUDE.md"
    memory.write_text("# Before\n" + memory.read_text() + "# After\n")
    assert cli("setup", "--check", cwd=repo).code == 0
    assert cli("uninstall", cwd=repo).code == 0
    assert parsed(settings.read_text()).value == {
        "mine": True,
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}]},
    }
    assert "// why" in settings.read_text()
    assert memory.read_text() == "# Before\n# After\n"
    assert not (repo / ".mcp.json").exists()


def test_a_dry_run_shows_what_it_would_do_and_does_nothing(cli, make_repo):
    repo = make_repo()
    before, config = fill(repo), (repo / ".git" / "config").read_bytes()
    done = cli("setup", "--agent", "claude", "--agent", "codex", "--dry-run", cwd=repo)
    assert done.code == 0 and "nothing was done" in done.stdout
    assert "+++ b/CLAUDE.md" in done.stdout and '"command": "git"' in done.stdout and "+[mcp_servers.dec" in done.stdout
    assert "--- /dev/null" not in done.stdout
    assert tree(repo) == before and (repo / ".git" / "config").read_bytes() == config
    assert not (repo / ".git" / "gitmem" / "agent").exists()


def test_check_tells_each_way_to_drift(cli, git, make_repo, home):
    repo = make_repo()
    (home / ".gemini").mkdir()  # that this person has Gemini is no matter of the repository's
    nothing = cli("setup", "--check", cwd=repo)
    assert nothing.code == 1 and "no agent's client is set up" in nothing.stdout
    cli("setup", "--agent", "claude", "--agent", "codex", cwd=repo)
    assert cli("setup", "--check", cwd=repo).code == 0
    sound = tree(repo)
    changes = {
        ".claude/settings.json": lambda text: text.replace("NotebookEdit", "Notebook"),
        ".mcp.json": lambda text: text.replace('"mcp"', '"mcp", "-v"'),
        "CLAUDE.md": lambda text: "",
        ".codex/hooks.json": lambda text: text.replace('"timeout": 10', '"timeout": 11'),
        ".codex/config.toml": lambda text: "# empty\n",
    }
    for name, change in changes.items():
        place = repo / name
        text = place.read_text()
        assert change(text) != text
        place.write_text(change(text))
        told = cli("setup", "--check", cwd=repo)
        assert told.code == 1 and name in told.stdout, name
        as_json = cli("setup", "--check", "--json", cwd=repo)
        assert as_json.code == 1 and as_json.json["in_order"] is False
        assert cli("setup", "--agent", "claude", "--agent", "codex", cwd=repo).code == 0
        assert cli("setup", "--check", cwd=repo).code == 0, name
        if name.endswith("json"):  # where it stood before, in the bytes that it had
            assert place.read_text() == text
        place.write_text(text)
    (repo / "AGENTS.md").unlink()
    assert cli("setup", "--check", cwd=repo).code == 1
    assert set(tree(repo)) == set(sound) - {"AGENTS.md"}


@pytest.mark.parametrize(
    ("name", "data", "agent", "said"),
    [
        (".claude/settings.json", b'{"hooks": {"PreToolUse": [}}', "claude", "line 1"),
        (".claude/settings.json", b'{"hooks": []}', "claude", "hooks"),
        (".claude/settings.json", b'{"hooks": {"PreToolUse": {}}}', "claude", "PreToolUse"),
        (".claude/settings.json", b"// only a comment", "claude", "line 1"),
        (".mcp.json", b'{"mcpServers": {"decisions": {"command": "other"}}}', "claude", "something else"),
        (".mcp.json", b'{"mcpServers": null}', "claude", "mcpServers"),
        (".codex/config.toml", b"[x\n", "codex", "TOML"),
        (".codex/config.toml", b'[mcp_servers.decisions]\ncommand = "y"\n', "codex", "already"),
        ("CLAUDE.md", b"<!-- gitmem:begin 1 -->\nx\n", "claude", "marks"),
        ("CLAUDE.md", b"<!-- gitmem:begin 12345678 -->\nx\n<!-- gitmem:end -->\n", "claude", "somebody edited"),
        ("CLAUDE.md", b"<!-- gitmem:end -->\nx\n<!-- gitmem:begin 1 -->\n", "claude", "marks"),
        ("AGENTS.md", b"x" * (1 << 20) + b"x", "codex", "megabyte"),
        (".clinerules/hooks/PreToolUse", b"#!/bin/sh\n# gitmem:begin\n", "cline", "marks"),
    ],
)
def test_a_file_that_cannot_be_changed_is_refused_and_nothing_is_written(cli, make_repo, name, data, agent, said):
    repo = make_repo()
    before = fill(repo, {name: data})
    done = cli("setup", "--agent", "cursor", "--agent", agent, cwd=repo)
    assert done.code == 15 and name in done.stderr and said in done.stderr and "nothing was written" in done.stderr
    assert tree(repo) == before and not (repo / ".git" / "gitmem" / "agent").exists()
    # The others can be set up without it.
    assert cli("setup", "--agent", "cursor", cwd=repo).code == 0


@pytest.mark.parametrize(
    ("stuck", "written"), [(".git/gitmem/setup.json", set()), (".mcp.json.gitmem-new", {".claude/settings.json"})]
)
def test_no_file_is_changed_without_remembering_what_it_was_nor_remembered_unchanged(cli, make_repo, stuck, written):
    repo = make_repo()
    before = fill(repo, {"CLAUDE.md": b"mine\n"})
    place = repo / stuck
    place.mkdir(parents=True)  # what is to be written there can't be, not even by root
    done = cli("setup", "--agent", "claude", cwd=repo)
    assert done.code == 30 and "this step changed nothing" in done.stderr
    assert done.stderr.startswith("error: can't be done: ") and "git failed" not in done.stderr  # git had no part in it
    assert "hint: the steps before it are done" in done.stderr
    assert {name for name, held in tree(repo).items() if before.get(name) != held} == written
    place.rmdir()
    record = repo / ".git" / "gitmem" / "setup.json"
    assert set(json.loads(record.read_text()) if record.exists() else {}) == written
    assert cli("setup", "--agent", "claude", cwd=repo).code == 0
    set_up = tree(repo)
    kept = record.read_bytes()
    (record.parent / "setup.json.gitmem-new").mkdir()  # and taking away can't forget
    done = cli("uninstall", cwd=repo)
    assert done.code == 30 and "this step changed nothing" in done.stderr
    assert tree(repo) == set_up and record.read_bytes() == kept
    (record.parent / "setup.json.gitmem-new").rmdir()
    assert cli("uninstall", cwd=repo).code == 0 and tree(repo) == before


def test_somebodys_own_hook_program_of_cline_is_not_taken_over(cli, make_repo):
    repo = make_repo()
    before = fill(repo, {".clinerules/hooks/PreToolUse": b"#!/usr/bin/env python3\nprint('{}')\n"})
    done = cli("setup", "--agent", "cline", cwd=repo)
    assert done.code == 15 and ".clinerules/hooks/PreToolUse" in done.stderr and tree(repo) == before


def test_links_are_followed_inside_the_repository_and_nowhere_else(cli, make_repo, tmp_path):
    repo = make_repo()
    (repo / "AGENTS.md").write_text("# All\n")
    (repo / "CLAUDE.md").symlink_to("AGENTS.md")
    before = tree(repo)
    assert cli("setup", "--agent", "claude", "--agent", "codex", cwd=repo).code == 0
    assert (repo / "CLAUDE.md").is_symlink() and (repo / "AGENTS.md").read_text().count("gitmem:begin") == 1
    cli("uninstall", cwd=repo)
    assert tree(repo) == before
    # A memory that reads AGENTS.md with it.
    (repo / "CLAUDE.md").unlink()
    (repo / "CLAUDE.md").write_text("@AGENTS.md\n")
    assert cli("setup", "--agent", "claude", cwd=repo).code == 0
    assert (repo / "CLAUDE.md").read_text() == "@AGENTS.md\n" and "gitmem:begin" in (repo / "AGENTS.md").read_text()
    cli("uninstall", cwd=repo)
    (repo / ".claude").mkdir()
    (repo / "CLAUDE.md").rename(repo / ".claude" / "CLAUDE.md")
    (repo / ".claude" / "CLAUDE.md").write_text("@../AGENTS.md\n")
    assert cli("setup", "--agent", "claude", cwd=repo).code == 0
    assert (repo / ".claude" / "CLAUDE.md").read_text() == "@../AGENTS.md\n" and not (repo / "CLAUDE.md").exists()
    cli("uninstall", cwd=repo)
    (repo / ".claude" / "CLAUDE.md").rename(repo / "CLAUDE.md")
    (repo / ".claude").rmdir()
    # Out of the repository, and into nothing.
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    for target in (outside, tmp_path / "gone.md"):
        (repo / "CLAUDE.md").unlink()
        (repo / "CLAUDE.md").symlink_to(target)
        done = cli("setup", "--agent", "claude", cwd=repo)
        assert done.code == 15 and "CLAUDE.md" in done.stderr and "outside this repository" in done.stderr
        assert cli("uninstall", cwd=repo).code == 0
    assert outside.read_text() == "mine\n" and not (tmp_path / "gone.md").exists()
    # A whole folder that leads away is no matter of `init`, though it is full of what looks like ours.
    (repo / "CLAUDE.md").unlink()
    elsewhere = make_repo()
    cli("setup", "--agent", "claude", cwd=elsewhere)
    (repo / ".claude").symlink_to(elsewhere / ".claude")
    assert cli("init", cwd=repo).code == 0 and not (repo / ".git" / "gitmem" / "agent").exists()
    assert cli("setup", "--agent", "claude", cwd=repo).code == 15
    assert cli("uninstall", cwd=repo).code == 0 and (elsewhere / ".claude" / "settings.json").exists()
    (repo / ".claude").unlink()
    assert not (repo / ".claude").exists()


def test_a_file_keeps_its_mode_and_bytes_that_are_no_utf_8(cli, make_repo):
    repo = make_repo()
    (repo / "CLAUDE.md").write_bytes(b"caf\xe9\n")
    (repo / "CLAUDE.md").chmod(0o600)
    assert cli("setup", "--agent", "claude", cwd=repo).code == 0
    assert (repo / "CLAUDE.md").read_bytes().startswith(b"caf\xe9\n")
    assert (repo / "CLAUDE.md").stat().st_mode & 0o777 == 0o600
    assert (repo / ".git" / "gitmem" / "setup.json").stat().st_mode & 0o777 == 0o600
    cli("uninstall", cwd=repo)
    assert (repo / "CLAUDE.md").read_bytes() == b"caf\xe9\n"


def test_it_finds_who_is_used_here_and_says_so_where_nobody_is(cli, make_repo, home, tmp_path):
    repo = make_repo()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "")
    env = {"PATH": str(programs)}
    none = cli("setup", cwd=repo, env=env)
    assert none.code == 15 and "no agent's client was found" in none.stderr and "--agent claude" in none.stderr
    # By a folder in the repository, one in somebody's home, a program.
    (repo / ".cursor").mkdir()
    (home / ".codex").mkdir()
    (programs / "gemini").write_text("#!/bin/sh\n")
    (programs / "gemini").chmod(0o755)
    found = cli("setup", "--dry-run", "--json", cwd=repo, env=env).json
    assert found["agents"] == ["codex", "cursor", "gemini"]
    wrong = cli("setup", "--agent", "claud", cwd=repo)
    assert wrong.code == 2 and "'claud' is no agent that gitmem knows; did you mean `claude`?" in wrong.stderr


@pytest.mark.parametrize("kind", ["bare", "empty", "worktree", "submodule", "sha256"])
def test_in_other_repositories(cli, make_repo, kind):
    repo = make_repo(kind)
    if kind == "sha256":
        (repo / ".git" / "gitmem").mkdir()  # an empty folder of ours is no sign that something was set up
    done = cli("setup", "--agent", "claude", cwd=repo)
    if kind == "bare":
        assert done.code == 15 and "bare" in done.stderr
        return
    assert done.code == 0, done.stderr
    assert run_line(command_of(repo, ".claude/settings.json"), repo) == (SEEN, 0)


# --- it works ----------------------------------------------------------------------------------


def command_of(repo: Path, name: str) -> str:
    """The command of the first hook before an edit, out of the file that setup wrote."""
    value = json.loads((repo / name).read_text("utf-8"))
    groups = value["hooks"].get("PreToolUse") or value["hooks"]["preToolUse"]
    command = groups[0].get("command") or groups[0]["hooks"][0]["command"]
    assert isinstance(command, str)
    return command


def run_line(
    command: str,
    cwd: Path,
    *,
    path: str = BARE,
    payload: dict[str, object] = CURSOR,
    shell: str = "sh",
    option: str = "-c",
) -> tuple[str, int]:
    env = {"PATH": path, "HOME": os.environ["HOME"], "GIT_CONFIG_NOSYSTEM": "1"}
    data = json.dumps(payload).encode()
    done = subprocess.run([shell, option, command], cwd=cwd, env=env, input=data, capture_output=True, timeout=60)
    assert done.stderr == b""
    return done.stdout.decode().strip(), done.returncode


@pytest.fixture
def far(make_repo, cli) -> Path:
    """A repository in a directory with a space and a letter that is no ASCII, set up for the four."""
    repo = make_repo(name="Öl & Wein's (1)")
    assert cli("setup", *"--agent claude --agent codex --agent cursor --agent cline".split(), cwd=repo).code == 0
    return repo


FILES = (".claude/settings.json", ".codex/hooks.json", ".cursor/hooks.json")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "zsh", "fish"])
def test_the_settings_start_the_gate_with_a_bare_path(far, git, name, shell, tmp_path):
    if shutil.which(shell, path=BARE) is None:
        pytest.skip(f"no {shell} here")
    command = command_of(far, name)
    assert shutil.which("git-decisions", path=BARE) is None
    assert run_line(command, far, shell=shell) == (SEEN, 0)
    below = far / "unter Ordner"
    below.mkdir()
    assert run_line(command, below, shell=shell) == (SEEN, 0)
    beside = tmp_path / "neben baum ü"
    git("worktree", "add", "-q", "-b", "side", beside, cwd=far)
    assert run_line(command, beside, shell=shell) == (SEEN, 0)


@pytest.mark.parametrize("name", FILES)
def test_where_there_is_no_gitmem_every_edit_passes_in_the_clients_words(far, name, tmp_path):
    command = command_of(far, name)
    go_on = SEEN if "cursor" in name else ""
    # The Python that the launcher knows is gone, and so is the launcher; and outside of every repository.
    launcher = far / ".git" / "gitmem" / "agent"
    text = launcher.read_text()
    launcher.write_text(text.replace("[ -x '", "[ -x '/gone").replace("command -v '", "command -v '/gone"))
    assert run_line(command, far) == (go_on, 0)
    launcher.write_text(text)
    assert run_line(command, far) == (SEEN, 0)
    launcher.unlink()
    assert run_line(command, far) == (go_on, 0)
    assert run_line(command, tmp_path) == (go_on, 0)


def test_without_the_launcher_it_is_found_on_path_or_among_a_persons_programs(far, cli, home):
    import sys

    (far / ".git" / "gitmem" / "agent").unlink()
    command = command_of(far, ".claude/settings.json")
    assert run_line(command, far, path=f"{Path(sys.executable).parent}:{BARE}") == (SEEN, 0)
    assert run_line(command, far) == ("", 0)
    (home / ".local" / "bin").mkdir(parents=True)
    (home / ".local" / "bin" / "git-decisions-hook").symlink_to(Path(sys.executable).parent / "git-decisions-hook")
    assert run_line(command, far) == (SEEN, 0)


def test_the_launcher_finds_a_gitmem_in_a_directory_of_any_name(tmp_path):
    from gitmem.store.installation import Program
    from gitmem.store.setup import alias, launcher

    place = tmp_path / 'Öl & Wein\'s $(touch x) `touch y` \\ "z"'
    place.mkdir()
    for name in ("python", "entry.py", "git-decisions", "git-decisions-hook"):
        (place / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (place / name).chmod(0o755)
    program = Program(f"{place}/python", f"{place}/entry.py", f"{place}/git-decisions-hook")
    here = tmp_path / "agent"
    here.write_text(launcher(program))
    here.chmod(0o755)

    def said() -> str:
        done = subprocess.run([here, "agent", "claude"], env={"PATH": BARE}, cwd=tmp_path, capture_output=True)
        assert done.returncode == 0 and done.stderr == b""
        return done.stdout.decode().strip()

    assert said() == f"python -I -S {place}/entry.py agent claude"
    (place / "entry.py").unlink()
    assert said() == "git-decisions-hook agent claude"
    (place / "git-decisions-hook").unlink()
    assert said() == ""
    git = ["git", "-c", f"alias.dd={alias(program.script)}", "dd", "prior", "x y"]
    done = subprocess.run(git, env={"PATH": BARE}, cwd=tmp_path, capture_output=True)
    assert (done.stdout, done.returncode) == (b"git-decisions prior x y\n", 0)
    assert {path.name for path in tmp_path.iterdir()} == {place.name, "agent"}


def test_clines_programs_run_as_they_are(far):
    program = far / ".clinerules" / "hooks" / "PreToolUse"
    done = subprocess.run(
        [program], cwd=far, env={"PATH": BARE}, input=json.dumps(CURSOR).encode(), capture_output=True
    )
    assert (done.stdout.strip(), done.returncode) == (SEEN.encode(), 0)
    (far / ".git" / "gitmem" / "agent").unlink()
    done = subprocess.run([program], cwd=far, env={"PATH": BARE}, input=b"{}", capture_output=True)
    assert (done.stdout.strip(), done.returncode) == (b'{"cancel":false}', 0)


def test_git_finds_the_command_with_a_bare_path_from_where_it_is_typed(far, git, tmp_path):
    below = far / "unter Ordner"
    below.mkdir()
    (below / "größe.py").write_text("x\n")
    beside = tmp_path / "neben baum"
    git("worktree", "add", "-q", "-b", "side", beside, cwd=far)
    (beside / "unter Ordner").mkdir()
    (beside / "unter Ordner" / "größe.py").write_text("x\n")
    env = {**os.environ, "PATH": BARE}
    words = ["git", "decisions", "record", "größe.py", "add", "-r", "so that it's there", "--json"]
    for place in (below, beside / "unter Ordner"):
        done = subprocess.run(words, cwd=place, env=env, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["events"][0]["entity_path"] == "unter Ordner/größe.py"


def test_the_tools_start_with_a_bare_path_and_setup_says_what_they_need(far, monkeypatch):
    pytest.importorskip("mcp")
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode() + b"\n"
    server = json.loads((far / ".mcp.json").read_text())["mcpServers"]["decisions"]
    env = {"PATH": BARE, "HOME": os.environ["HOME"]}
    done = subprocess.run([server["command"], *server["args"]], cwd=far, env=env, input=line, capture_output=True)
    assert done.returncode == 0 and json.loads(done.stdout)["result"]["serverInfo"]["name"]

    from gitmem import Memory

    notes = Memory.open(str(far)).setup(["gemini"], dry_run=True).notes
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    without = Memory.open(str(far)).setup(["gemini"], dry_run=True).notes
    assert [note for note in without if note not in notes] == [
        'gitmem\'s tools need one package more: `pip install "git-decisions[mcp]"`.'
    ]


def test_init_in_a_clone_of_a_repository_that_is_set_up_knows_where_gitmem_is(far, git, cli, tmp_path):
    git("add", "-A", cwd=far)
    git("commit", "-q", "-m", "agents", cwd=far)
    clone = tmp_path / "klon"
    git("clone", "-q", far, clone, cwd=tmp_path)
    command = command_of(clone, ".claude/settings.json")
    assert run_line(command, clone) == ("", 0)
    assert cli("init", cwd=clone).code == 0
    assert run_line(command, clone) == (SEEN, 0)
    assert git("status", "--short", cwd=clone) == ""


def test_the_line_is_the_same_in_every_version_and_names_no_machine():
    # Codex asks its user anew for each change of it.
    lines = {
        wanted.value["hooks"][0]["command"]
        for file in CLIENTS["codex"].files
        for wanted in file.wanted
        if wanted.how == "item"
    }
    assert lines == {
        "sh -c 'h=.git/gitmem/agent; [ -x $h ] || h=$(git rev-parse --git-common-dir 2>/dev/null)/gitmem/agent; "
        '[ -x "$h" ] || h=$(command -v git-decisions-hook || command -v "$HOME/.local/bin/git-decisions-hook") && '
        'exec "$h" agent codex; exit 0\''
    }


def test_opencodes_plugin_stops_and_lets_pass(cli, make_repo, tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here")
    repo = make_repo()
    cli("setup", "--agent", "opencode", cwd=repo)
    # The plugin is TypeScript without a type; Node reads it as it is.
    shutil.copy(repo / ".opencode" / "plugins" / "gitmem.ts", tmp_path / "plugin.mjs")
    program = """
import { GitDecisions } from "./plugin.mjs"
const hooks = await GitDecisions({ directory: process.argv[2] })
const call = { tool: "write", sessionID: "s", callID: "1" }
const args = { args: { filePath: process.argv[2] + "/a.py", content: "x" } }
try {
  await hooks["tool.execute.before"](call, args)
  console.log("passed")
} catch (error) {
  console.log("stopped: " + error.message)
}
const other = { ...call, tool: "bash", callID: "2" }
await hooks["tool.execute.before"](other, { args: { command: "git decisions prior a" } })
await hooks["tool.execute.after"](other, {})
const system = { system: [] }
await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, system)
console.log(JSON.stringify(system.system))
"""
    (tmp_path / "run.mjs").write_text(program)
    launcher = repo / ".git" / "gitmem" / "agent"
    fake = "#!/bin/sh\ncat >> '%s'; echo >> '%s'; echo '%s'\n"
    log = tmp_path / "log"
    for answer, said in (
        ('{"stop":true,"text":"7f3a"}', ["stopped: 7f3a", '["7f3a"]']),
        ('{"text":"told"}', ["passed", '["told"]']),
        ("junk {", ["passed", "[]"]),
    ):
        launcher.write_text(fake % (log, log, answer))
        done = subprocess.run([node, "run.mjs", str(repo)], cwd=tmp_path, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode().splitlines() == said
    events = [json.loads(line)["event"] for line in log.read_text().splitlines() if line.strip()]
    assert set(events) == {"tool.execute.before", "tool.execute.after", "session.created"}
    launcher.unlink()
    done = subprocess.run([node, "run.mjs", str(repo)], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.stdout.decode().splitlines()[0] == "passed"
