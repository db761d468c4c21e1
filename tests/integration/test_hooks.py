"""Hooks as git runs them: how they are installed, whose they are, and that git never notices a broken gitmem."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitmem.errors import GitFailed
from gitmem.hooks import entry, post_commit
from gitmem.store import installation as install
from gitmem.store.installation import BEGIN, Program
from gitmem.store.repository import locate

OLD, NEW = (2, 39), (2, 54)
SHIMS = Path(__file__).resolve().parent.parent.parent / "githooks"


@pytest.fixture
def recorder(tmp_path: Path) -> Path:
    """A program that writes down how it was called, where the call itself is the subject."""
    script = tmp_path / "it's a program" / "git-decisions-hook"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\n{{ echo "$@"; cat; }} >>"{tmp_path}/calls"\n')
    script.chmod(0o755)
    return script


@pytest.fixture
def calls(tmp_path: Path):
    def read() -> list[str]:
        path = tmp_path / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    return read


def set_up(
    repo: Path, program: Path | None = None, version: tuple[int, int] = OLD, **options: bool
) -> list[install.Step]:
    """Does what `init` does about hooks and notes; returns the steps that were not done before."""
    who = Program(script=str(program)) if program else None
    steps = install.plan(locate(str(repo)), git_version=version, program=who, **options)
    new = [step for step in steps if not step.done]
    for step in new:
        step.apply()
    return new


def take_away(repo: Path) -> list[install.Step]:
    steps = install.plan_removal(locate(str(repo)))
    for step in steps:
        step.undo()
    return steps


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder with its mode and bytes; where a link leads."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = (0, os.readlink(path).encode())
        elif path.is_file() and path.name != "maintenance.lock":  # git's own upkeep, which it starts when it likes
            found[name] = (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
    return found


def hook(repo: Path, event: str, text: str, mode: int = 0o755) -> Path:
    path = repo / ".git" / "hooks" / event
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


# --- set up, again, and away ------------------------------------------------------------------


def test_setting_up_twice_does_nothing_the_second_time(make_repo):
    repo = make_repo()
    assert len(set_up(repo)) == 3
    before = everything(repo / ".git")
    steps = install.plan(locate(str(repo)), git_version=OLD)
    assert all(step.done for step in steps)
    assert set_up(repo) == [] and everything(repo / ".git") == before


def test_nothing_is_written_before_a_step_is_applied(make_repo):
    repo = make_repo()
    before = everything(repo / ".git")
    assert [step.done for step in install.plan(locate(str(repo)), git_version=OLD)] == [False] * 3
    assert everything(repo / ".git") == before


@pytest.mark.parametrize("version", [OLD, NEW], ids=["script", "config"])
@pytest.mark.parametrize("mode", [0o755, 0o700, 0o644, None])
def test_taking_away_restores_every_byte_and_mode(make_repo, git, version, mode):
    repo = make_repo()
    git("config", "notes.displayRef", "refs/notes/mine", cwd=repo)
    git("config", "user.name", "Grace", cwd=repo)
    if mode is not None:
        hook(repo, "post-commit", "#!/bin/sh\necho mine  \n\n", mode)
    before = everything(repo / ".git")
    set_up(repo, version=version)
    assert everything(repo / ".git") != before
    take_away(repo)
    assert everything(repo / ".git") == before
    assert take_away(repo) == []


def test_a_hooks_folder_that_was_not_there_is_gone_again(make_repo, git):
    repo = make_repo()
    for name in (repo / ".git" / "hooks").iterdir():
        name.unlink()
    (repo / ".git" / "hooks").rmdir()
    set_up(repo)
    assert (repo / ".git" / "hooks" / "post-commit").exists()
    take_away(repo)
    assert not (repo / ".git" / "hooks").exists()


def test_a_hook_that_is_a_link_comes_back_as_a_link(make_repo, git, recorder, calls, tmp_path):
    repo = make_repo()
    target = tmp_path / "shared-hook"
    target.write_text(f'#!/bin/sh\necho linked >>"{tmp_path}/calls"\n')
    target.chmod(0o755)
    (repo / ".git" / "hooks").mkdir(exist_ok=True)
    (repo / ".git" / "hooks" / "post-commit").symlink_to(target)
    before = everything(repo / ".git")
    set_up(repo, recorder)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["linked", "post-commit"]
    take_away(repo)
    changed = everything(repo / ".git")
    assert changed["hooks/post-commit"] == before["hooks/post-commit"]
    assert not any("gitmem" in name for name in changed)


def test_lines_that_the_user_wrote_around_ours_stay(make_repo, git, recorder, calls, tmp_path):
    repo = make_repo()
    set_up(repo, recorder)
    path = repo / ".git" / "hooks" / "post-commit"
    path.write_text(path.read_text() + f'echo after >>"{tmp_path}/calls"\n')
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["post-commit", "after"]
    assert set_up(repo, recorder) == []  # still ours, still current
    steps = take_away(repo)
    assert any("they stay" in step.remark for step in steps)
    assert path.read_text() == f'#!/bin/sh\necho after >>"{tmp_path}/calls"\n'
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["after"]


def test_with_lines_around_ours_the_kept_hook_goes_on_being_called(make_repo, git, recorder, calls, tmp_path):
    repo = make_repo()
    hook(repo, "post-commit", f'#!/bin/sh\necho before >>"{tmp_path}/calls"\n')
    set_up(repo, recorder)
    path = repo / ".git" / "hooks" / "post-commit"
    path.write_text(path.read_text() + f'echo after >>"{tmp_path}/calls"\n')
    take_away(repo)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["before", "after"]
    assert "gitmem >>>" not in path.read_text()
    set_up(repo, recorder)  # and it can be set up once more, with both kept
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["before", "after", "post-commit"]
    take_away(repo)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["before", "after"]


def test_a_hook_of_an_older_gitmem_is_brought_up_to_date_in_its_place(make_repo, git, recorder, calls):
    repo = make_repo()
    hook(repo, "post-commit", "#!/bin/sh\nexit 5\n")
    set_up(repo, Path("/nowhere/git-decisions-hook"))
    assert len(set_up(repo, recorder)) == 2
    assert set_up(repo, recorder) == []
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["post-commit"]
    take_away(repo)
    assert (repo / ".git" / "hooks" / "post-commit").read_text() == "#!/bin/sh\nexit 5\n"


def test_a_hook_of_another_tool_in_the_place_of_ours_is_chained_too(make_repo, git, recorder, calls, tmp_path):
    repo = make_repo()
    first = hook(repo, "post-commit", f'#!/bin/sh\necho first >>"{tmp_path}/calls"\n').read_bytes()
    set_up(repo, recorder)
    second = hook(repo, "post-commit", f'#!/bin/sh\necho second >>"{tmp_path}/calls"\n').read_bytes()
    set_up(repo, recorder)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["second", "post-commit"]
    take_away(repo)
    hooks = repo / ".git" / "hooks"
    assert (hooks / "post-commit").read_bytes() == second
    assert (hooks / "post-commit.gitmem-prev").read_bytes() == first  # nobody's hook is ever deleted


def test_a_shim_that_another_tool_moved_aside_is_found_and_taken_away(make_repo, git, recorder, calls, tmp_path):
    repo = make_repo()
    hook(repo, "post-commit", f'#!/bin/sh\necho first >>"{tmp_path}/calls"\n')
    set_up(repo, recorder)
    hooks = repo / ".git" / "hooks"
    (hooks / "post-commit").rename(hooks / "post-commit.legacy")
    hook(repo, "post-commit", f'#!/bin/sh\necho other >>"{tmp_path}/calls"\n"${{0}}.legacy"\n')
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["other", "first", "post-commit"]
    take_away(repo)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["other", "first"]


def test_hooks_and_notes_can_each_be_left_out(make_repo, git):
    repo = make_repo()
    assert [step.sentence for step in set_up(repo, hooks=False, notes=False)] == []
    set_up(repo, hooks=False)
    assert not (repo / ".git" / "hooks" / "post-commit").exists()
    assert git("config", "notes.displayRef", cwd=repo) == "refs/notes/decisions"
    repo = make_repo()
    set_up(repo, notes=False)
    assert (repo / ".git" / "hooks" / "post-commit").exists()
    assert git("config", "--get", "notes.displayRef", cwd=repo, check=False) == ""


def test_a_repository_may_refuse_hooks_for_good(make_repo, git):
    repo = make_repo()
    git("config", "decisions.installHooks", "no", cwd=repo)
    set_up(repo)
    assert not (repo / ".git" / "hooks" / "post-commit").exists()
    git("config", "decisions.installHooks", "yes", cwd=repo)
    set_up(repo)
    assert (repo / ".git" / "hooks" / "post-commit").exists()


def test_a_place_that_can_not_be_written_is_named(make_repo):
    repo = make_repo()
    hooks = repo / ".git" / "hooks"
    for path in hooks.iterdir():
        path.unlink()
    hooks.rmdir()
    hooks.write_text("a file")
    with pytest.raises(GitFailed, match=r"hooks.*this step changed nothing"):
        set_up(repo)
    assert hooks.read_text() == "a file"


# --- the display of notes ---------------------------------------------------------------------


def test_the_users_own_displayed_notes_stay_displayed(make_repo, git):
    repo = make_repo()
    git("config", "notes.displayRef", "refs/notes/review", cwd=repo)
    set_up(repo, hooks=False)
    assert git("config", "--get-all", "notes.displayRef", cwd=repo).split() == [
        "refs/notes/review",
        "refs/notes/decisions",
    ]
    take_away(repo)
    assert git("config", "--get-all", "notes.displayRef", cwd=repo).split() == ["refs/notes/review"]


@pytest.mark.parametrize("value", ["refs/notes/*", "refs/notes/decisions"])
def test_where_the_user_shows_the_notes_already_nothing_is_set_or_taken_away(make_repo, git, value):
    repo = make_repo()
    git("config", "notes.displayRef", value, cwd=repo)
    before = (repo / ".git" / "config").read_bytes()
    assert set_up(repo, hooks=False) == []
    take_away(repo)
    assert (repo / ".git" / "config").read_bytes() == before


def test_another_notes_ref_is_displayed_where_one_is_configured(make_repo, git):
    repo = make_repo()
    git("config", "decisions.notesRef", "team", cwd=repo)
    set_up(repo, hooks=False)
    assert git("config", "notes.displayRef", cwd=repo) == "refs/notes/team"
    take_away(repo)
    assert git("config", "decisions.notesRef", cwd=repo) == "team"
    assert git("config", "--get", "notes.displayRef", cwd=repo, check=False) == ""


# --- what git runs ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "sha256", "worktree", "submodule"])
def test_git_calls_us_after_a_commit_and_an_amend(make_repo, git, recorder, calls, kind):
    repo = make_repo(kind)
    set_up(repo, recorder)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["post-commit"]
    old = git("rev-parse", "HEAD", cwd=repo)
    git("commit", "--quiet", "--allow-empty", "--amend", "-m", "y", cwd=repo)
    assert calls() == ["post-commit", "post-rewrite amend", f"{old} {git('rev-parse', 'HEAD', cwd=repo)}"]


def test_a_hook_installed_from_a_worktree_or_a_bare_repository_serves_all_worktrees(make_repo, git, recorder, calls):
    bare = make_repo("bare")
    tree = git("mktree", cwd=bare, input="")
    git("update-ref", "refs/heads/main", git("commit-tree", "-m", "root", tree, cwd=bare), cwd=bare)
    set_up(bare, recorder)
    one = bare.parent / "one"
    git("worktree", "add", "--quiet", one, "main", cwd=bare)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=one)
    assert calls() == ["post-commit"]
    assert set_up(one, recorder) == []
    take_away(one)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=one)
    assert calls() == []


def test_commits_in_the_middle_of_a_rebase_are_reported_once_at_its_end(make_repo, git, recorder, calls):
    repo = make_repo()
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    for name in "abc":
        (repo / name).write_text(name)
        git("add", name, cwd=repo)
        git("commit", "--quiet", "-m", name, cwd=repo)
    git("checkout", "--quiet", "main", cwd=repo)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    git("checkout", "--quiet", "topic", cwd=repo)
    set_up(repo, recorder)
    git("rebase", "--quiet", "main", cwd=repo)
    assert calls()[0] == "post-rewrite rebase"
    git("rebase", "--quiet", "HEAD~2", "--exec", "git commit --quiet --allow-empty -m between", cwd=repo)
    assert not [line for line in calls() if line.startswith("post-commit")]
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["post-commit"]


def test_the_hook_that_was_there_is_called_first_with_its_arguments_and_input(
    make_repo, git, recorder, calls, tmp_path
):
    repo = make_repo()
    hook(repo, "post-rewrite", f'#!/bin/sh\n{{ echo "theirs $*"; cat; pwd; }} >>"{tmp_path}/calls"\n')
    set_up(repo, recorder)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    calls()
    old = git("rev-parse", "HEAD", cwd=repo)
    git("commit", "--quiet", "--allow-empty", "--amend", "-m", "y", cwd=repo)
    pair = f"{old} {git('rev-parse', 'HEAD', cwd=repo)}"
    assert calls() == ["post-commit", "theirs amend", pair, str(repo), "post-rewrite amend", pair]


def test_the_input_of_a_hook_is_passed_on_byte_for_byte(make_repo, recorder, tmp_path):
    repo = make_repo()
    hook(repo, "post-rewrite", f'#!/bin/sh\ncat >"{tmp_path}/theirs"\n')
    set_up(repo, recorder)
    for given in (b"", b"a b\n", b"a b\n\n\n", b"no end", b"a%sb\\n  c\n" * 30_000):
        (tmp_path / "calls").unlink(missing_ok=True)
        script = repo / ".git" / "hooks" / "post-rewrite"
        done = subprocess.run([script, "rebase"], input=given, cwd=repo, capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert (tmp_path / "theirs").read_bytes() == given
        assert (tmp_path / "calls").read_bytes() == b"post-rewrite rebase\n" + given


def test_a_hook_that_does_not_read_its_input_breaks_nothing(make_repo, recorder):
    repo = make_repo()
    hook(repo, "post-rewrite", "#!/bin/sh\nexit 0\n")
    recorder.write_text("#!/bin/sh\nexit 3\n")
    set_up(repo, recorder)
    script = repo / ".git" / "hooks" / "post-rewrite"
    done = subprocess.run([script, "rebase"], input=b"a b\n" * 100_000, cwd=repo, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("status", [0, 1, 5, 127])
@pytest.mark.parametrize("event", install.EVENTS)
def test_the_exit_status_is_that_of_the_hook_that_was_there_whatever_ours_does(make_repo, recorder, event, status):
    repo = make_repo()
    hook(repo, event, f"#!/bin/sh\nexit {status}\n")
    recorder.write_text("#!/bin/sh\nexit 9\n")
    set_up(repo, recorder)
    script = repo / ".git" / "hooks" / event
    for shell in ((), ("sh",), ("sh", "-eu")):
        done = subprocess.run([*shell, script, "amend"], input=b"", cwd=repo, capture_output=True)
        assert (done.returncode, done.stderr) == (status, b"")


def test_a_hook_without_the_executable_bit_is_not_called_as_git_would_not(make_repo, git, recorder, calls, tmp_path):
    repo = make_repo()
    hook(repo, "post-commit", f'#!/bin/sh\necho theirs >>"{tmp_path}/calls"\n', 0o644)
    set_up(repo, recorder)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["post-commit"]


def test_a_hook_without_an_interpreter_line_still_runs(make_repo, git, recorder, calls, tmp_path):
    repo = make_repo()
    hook(repo, "post-commit", f'echo theirs >>"{tmp_path}/calls"\n')
    set_up(repo, recorder)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["theirs", "post-commit"]


# --- where gitmem is not -----------------------------------------------------------------------


def test_off_path_the_hook_finds_gitmem_by_its_absolute_path(make_repo, git, recorder, calls, path_without_gitmem):
    repo = make_repo()
    set_up(repo, recorder)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo, env={"PATH": path_without_gitmem})
    assert calls() == ["post-commit"]


def test_where_the_installed_one_is_gone_the_one_on_path_is_called(
    make_repo, git, recorder, calls, path_without_gitmem
):
    repo = make_repo()
    set_up(repo, Path("/nowhere/git-decisions-hook"))
    path = f"{recorder.parent}{os.pathsep}{path_without_gitmem}"
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo, env={"PATH": path})
    assert calls() == ["post-commit"]


@pytest.mark.parametrize("version", [OLD, NEW], ids=["script", "config"])
def test_where_gitmem_is_gone_the_hook_says_so_in_one_line_and_git_goes_on(
    make_repo, git, version, path_without_gitmem
):
    repo = make_repo()
    set_up(repo, Path("/nowhere/git-decisions-hook"), version=version)
    env = {**os.environ, "PATH": path_without_gitmem}
    if version == NEW:  # as git runs it: through a shell, with the hook's arguments behind it
        command = git("config", "hook.gitmem-post-commit.command", cwd=repo)
        done = subprocess.run(["sh", "-c", f'{command} "$@"', command], cwd=repo, capture_output=True, env=env)
    else:
        done = git.run("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo, env=env)
    assert done.returncode == 0
    assert done.stderr.decode().splitlines() == [
        "gitmem: git-decisions-hook was not found; git is done, and `git decisions link` finds this commit later"
    ]


def test_a_python_that_is_gone_or_broken_fails_no_commit(make_repo, git, tmp_path, path_without_gitmem):
    repo = make_repo()
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nkill -SEGV $$\n")
    broken.chmod(0o755)
    for python in (str(broken), "/nowhere/python"):
        program = Program(python, entry.__file__, "/nowhere/git-decisions-hook")
        for step in install.plan(locate(str(repo)), git_version=OLD, program=program):
            step.apply()
        done = git.run("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo, env={"PATH": path_without_gitmem})
        assert done.returncode == 0


# --- managers of hooks -------------------------------------------------------------------------


def manage(git, repo: Path, manager: str) -> str:
    """Sets the repository up as the manager leaves it, and returns the file to which its user adds."""
    if manager == "husky":
        (repo / ".husky" / "_").mkdir(parents=True)
        git("config", "core.hooksPath", ".husky/_", cwd=repo)
        return ".husky/post-commit"
    if manager == "husky, not yet installed":
        (repo / ".husky").mkdir()
        return ".husky/post-commit"
    if manager == "core.hooksPath":
        git("config", "core.hooksPath", "tools/hooks", cwd=repo)
        return str(repo / "tools" / "hooks" / "post-commit")
    if manager == "a linked folder":
        hooks = repo / ".git" / "hooks"
        hooks.rename(repo / "hooks")
        hooks.symlink_to(repo / "hooks")
        return str(hooks / "post-commit")
    if manager == "lefthook":
        (repo / "lefthook.yml").write_text("pre-commit: {}\n")
        return "lefthook.yml"
    if manager == "simple-git-hooks":
        (repo / "package.json").write_text('{"simple-git-hooks": {}}\n')
        return "its configuration"
    if manager == "overcommit":
        (repo / ".overcommit.yml").write_text("")
        return ".overcommit.yml"
    (repo / ".pre-commit-config.yaml").write_text("repos: []\n")
    hook(repo, "pre-commit", "#!/bin/sh\n# File generated by pre-commit: https://pre-commit.com\n")
    return ".pre-commit-config.yaml"


MANAGERS = (
    "husky", "husky, not yet installed", "core.hooksPath", "a linked folder", "lefthook", "simple-git-hooks",
    "overcommit", "pre-commit",
)  # fmt: skip


@pytest.mark.parametrize("manager", MANAGERS)
def test_where_a_manager_rules_no_hook_is_written_and_the_lines_to_add_are_said(make_repo, git, manager):
    repo = make_repo()
    place = manage(git, repo, manager)
    config = (repo / ".git" / "config").read_bytes()
    before = everything(repo)
    steps = install.plan(locate(str(repo)), git_version=OLD, notes=False)
    for step in steps:
        step.apply()
    after = everything(repo)
    after[".git/config"] = before[".git/config"]
    assert after == before
    for event in install.EVENTS:
        remark = next(step.remark for step in steps if event in step.sentence)
        assert place.replace("post-commit", event) in remark and "git-decisions-hook" in remark and event in remark
    take_away(repo)
    assert (repo / ".git" / "config").read_bytes() == config


@pytest.mark.parametrize("manager", MANAGERS)
def test_a_new_git_needs_no_manager(make_repo, git, manager):
    repo = make_repo()
    manage(git, repo, manager)
    steps = set_up(repo, version=NEW)
    assert not any(step.remark for step in steps)
    assert git("config", "hook.gitmem-post-commit.event", cwd=repo) == "post-commit"
    assert set_up(repo, version=NEW) == []


def test_a_manager_that_is_only_configured_for_is_none(make_repo, git):
    repo = make_repo()
    (repo / ".pre-commit-config.yaml").write_text("repos: []\n")
    (repo / "package.json").write_text("{}")
    git("config", "core.hooksPath", ".git/hooks", cwd=repo)  # where they are anyway
    assert len(set_up(repo)) == 3
    assert BEGIN in (repo / ".git" / "hooks" / "post-commit").read_text()


@pytest.mark.parametrize("manager", ["husky", "core.hooksPath"])
def test_the_lines_for_a_manager_work_as_they_are_said(make_repo, git, manager, recorder, calls, path_without_gitmem):
    repo = make_repo()
    manage(git, repo, manager)
    set_up(repo, recorder)
    folder = repo / git("rev-parse", "--git-path", "hooks", cwd=repo)
    folder.mkdir(parents=True, exist_ok=True)
    for event in install.EVENTS:
        # husky runs the user's file so.
        (folder / event).write_text(f"#!/bin/sh -e\n{install.snippet(event)}echo reached >&2\n")
        (folder / event).chmod(0o755)
    env = {"PATH": path_without_gitmem}
    done = git.run("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo, env=env)
    assert calls() == ["post-commit"] and done.stderr == b"reached\n"
    git("commit", "--quiet", "--allow-empty", "--amend", "-m", "y", cwd=repo, env=env)
    assert [line.split()[0] for line in calls()[:2]] == ["post-commit", "post-rewrite"]
    steps = install.plan(locate(str(repo)), git_version=OLD, program=Program(script=str(recorder)))
    assert all(step.done and not step.remark for step in steps)
    recorder.unlink()
    done = git.run("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo, env=env)
    assert done.stderr == b"gitmem: git-decisions-hook was not found\nreached\n"
    assert any("take those lines out" in step.remark for step in take_away(repo))


def test_a_manager_that_came_after_us_and_left_our_script_alone_changes_nothing(make_repo, git):
    repo = make_repo()
    set_up(repo)
    manage(git, repo, "lefthook")
    assert set_up(repo) == []
    assert len(take_away(repo)) == 3


# --- hooks in the configuration ----------------------------------------------------------------


def test_a_new_git_gets_its_hooks_in_the_configuration_and_loses_the_script(make_repo, git, recorder):
    repo = make_repo()
    theirs = hook(repo, "post-commit", "#!/bin/sh\nexit 0\n").read_bytes()
    set_up(repo, recorder)
    set_up(repo, recorder, version=NEW)
    assert (repo / ".git" / "hooks" / "post-commit").read_bytes() == theirs
    assert not (repo / ".git" / "hooks" / "post-rewrite").exists()
    assert git("config", "hook.gitmem-post-rewrite.event", cwd=repo) == "post-rewrite"
    assert set_up(repo, recorder, version=NEW) == []


def test_the_configured_command_passes_on_arguments_and_input(make_repo, git, recorder, calls):
    repo = make_repo()
    set_up(repo, recorder, version=NEW)
    command = git("config", "hook.gitmem-post-rewrite.command", cwd=repo)
    done = subprocess.run(["sh", "-c", f'{command} "$@"', command, "amend"], input=b"a b\n", cwd=repo)
    assert done.returncode == 0
    assert calls() == ["post-rewrite amend", "a b"]


def test_git_runs_the_hooks_of_the_configuration_beside_all_others(make_repo, git, recorder, calls, tmp_path):
    repo = make_repo()
    installed = install.version(locate(str(repo)))
    if installed < NEW:
        pytest.skip(f"git {'.'.join(map(str, installed))} has no hooks in its configuration (2.54 has)")
    hook(repo, "post-commit", f'#!/bin/sh\necho theirs >>"{tmp_path}/calls"\n')
    set_up(repo, recorder, version=installed)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert sorted(calls()) == ["post-commit", "theirs"]
    git("config", "core.hooksPath", "/dev/null", cwd=repo)
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo)
    assert calls() == ["post-commit"]


# --- the runner --------------------------------------------------------------------------------


def run_hook(cwd: Path, *args: str, input: bytes = b"", env: dict[str, str] | None = None, isolated: bool = True):
    flags = ("-I", "-S") if isolated else ()
    command = [sys.executable, *flags, entry.__file__, *args]
    return subprocess.run(command, cwd=cwd, input=input, capture_output=True, env={**os.environ, **(env or {})})


def test_inside_a_git_that_gitmem_started_the_hook_does_nothing(tmp_path):
    done = run_hook(tmp_path, "no such event", env={"GITMEM_ACTIVE": "1"})
    assert (done.returncode, done.stderr) == (0, b"")
    done = run_hook(tmp_path, "no such event")
    assert done.returncode == 0 and b"no hook for" in done.stderr


@pytest.mark.parametrize("args", [(), ("post-commit",), ("post-rewrite", "amend"), ("post-nothing", "x", "y")])
def test_whatever_happens_the_status_is_0_and_at_most_one_line_is_said(make_repo, tmp_path, args):
    repo = make_repo()
    (repo / ".git" / "config").write_text("[broken\n")
    for place in (repo, tmp_path):
        done = run_hook(place, *args, input=b"garbage \xff\n" * 10)
        assert (done.returncode, done.stdout) == (0, b"")
        assert len(done.stderr.splitlines()) <= 1 and b"Traceback" not in done.stderr


def test_a_hook_ends_in_time_whatever_it_waits_for(make_repo):
    repo = make_repo()
    waiting = subprocess.Popen(
        [sys.executable, "-I", "-S", entry.__file__, "post-rewrite", "amend"],
        cwd=repo, stdin=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    started = time.monotonic()
    try:
        assert waiting.wait(30) == 0  # nothing was ever written to its stdin
        assert time.monotonic() - started < entry.STOP_S + 5
        assert waiting.stderr is not None and b"stopped after 2 s" in waiting.stderr.read()
    finally:
        waiting.kill()
        for stream in (waiting.stdin, waiting.stderr):
            if stream is not None:
                stream.close()


def test_pairs_are_read_as_git_writes_them():
    a, b, c = "a" * 40, "b" * 40, "c" * 64
    given = f"{a} {b}\n{a} {b} more to come\n{c} {c}\nnonsense\n{a}\n{a} {'x' * 40}\n\n".encode()
    assert post_commit.pairs_of(given) == [(a, b), (a, b), (c, c)]
    assert post_commit.pairs_of(b"") == []


def test_automatic_sync_is_installed_in_each_of_the_three_ways_and_only_when_asked_for(make_repo, git, recorder):
    for version, managed in ((NEW, False), (OLD, False), (OLD, True)):
        repo = make_repo()
        if managed:
            manage(git, repo, "husky")
        before = everything(repo)
        set_up(repo, recorder, version, notes=False)
        plain = install.plan(locate(str(repo)), git_version=version, notes=False)
        assert not any(event in step.sentence for step in plain for event in install.SYNC_EVENTS)
        steps = set_up(repo, recorder, version, notes=False, auto_sync=True)
        assert git("config", "decisions.autoSync", cwd=repo) == "true"
        for event in install.SYNC_EVENTS:
            if version == NEW:
                assert git("config", f"hook.gitmem-{event}.event", cwd=repo) == event
                assert f" {event} " in git("config", f"hook.gitmem-{event}.command", cwd=repo)
            elif managed:
                plan = install.plan(locate(str(repo)), git_version=OLD, notes=False)
                (remark,) = [step.remark for step in plan if event in step.sentence]
                assert f".husky/{event}" in remark and f'"$p" {event} "$@"' in remark
            else:
                assert BEGIN in (repo / ".git/hooks" / event).read_text()
        assert steps and set_up(repo, recorder, version, notes=False) == []  # from then on the setting asks for it
        take_away(repo)
        after = everything(repo)
        config = ".git/config"
        assert b"autoSync" not in after[config][1] and b"gitmem" not in after[config][1]
        assert {**after, config: ()} == {**before, config: ()}


# --- the files in githooks/ --------------------------------------------------------------------


def test_the_shims_of_the_project_are_the_scripts_that_are_installed():
    assert {path.name: path.read_text() for path in SHIMS.iterdir() if path.is_file()} == install.shims()
    assert all(os.access(path, os.X_OK) for path in SHIMS.rglob("*"))


def test_the_shims_find_gitmem_on_path_without_any_installation(make_repo, git, recorder, calls, path_without_gitmem):
    repo = make_repo()
    git("config", "core.hooksPath", SHIMS, cwd=repo)
    path = f"{recorder.parent}{os.pathsep}{path_without_gitmem}"
    git("commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo, env={"PATH": path})
    assert calls() == ["pre-commit", "commit-msg .git/COMMIT_EDITMSG", "post-commit"]


# --- the whole way, with the installed program ---------------------------------------------------


@pytest.fixture
def day(git, cli):
    """A repository in use: `record`, `commit` a file, and `commits` of each event by its entity."""

    class Day:
        def record(self, repo: Path, entity: str, reason: str = "the reason") -> None:
            done = cli("record", entity, "add", "-r", reason, cwd=repo)
            assert done.code == 0, done.stderr

        def commit(self, repo: Path, name: str, *options: str, env: dict[str, str] | None = None) -> str:
            with (repo / name).open("a") as file:
                file.write(f"{name}\n")
            git("add", "-A", cwd=repo)
            done = git.run("commit", "--quiet", "-m", f"touch {name}", *options, cwd=repo, env=env)
            assert done.stderr == b""
            return git("rev-parse", "HEAD", cwd=repo)

        def commits(self, repo: Path) -> dict[str, list[str]]:
            return {event["entity_path"]: event["commits"] for event in cli("log", "--json", cwd=repo).json["events"]}

        def links(self, repo: Path) -> list[str]:
            events = cli("log", "--json", "--kind", "link", cwd=repo).json["events"]
            return [event["how"] for event in reversed(events)]

    return Day()


@pytest.mark.parametrize("kind", ["plain", "empty", "worktree", "sha256", "submodule", "alternates", "shallow"])
def test_a_first_day_ends_with_the_decision_under_its_commit(make_repo, git, cli, day, kind, path_without_gitmem):
    repo = make_repo(kind)
    assert cli("init", cwd=repo).code == 0
    day.record(repo, "users.email", "we write to people")
    made = day.commit(repo, "schema.sql", env={"PATH": path_without_gitmem})
    assert day.commits(repo) == {"users.email": [made]}
    assert "Notes (decisions):\n    add users.email: we write to people (" in git("log", "-1", cwd=repo)
    day.commit(repo, "unrelated")
    assert day.commits(repo) == {"users.email": [made]} and "Notes" not in git("log", "-1", cwd=repo)
    assert cli("verify", cwd=repo).code == 0
    git("fsck", "--strict", cwd=repo)


@pytest.mark.parametrize("kind", ["plain", "empty", "worktree", "sha256"])
def test_without_hooks_link_finds_the_same(make_repo, git, cli, day, kind):
    repo = make_repo(kind)
    assert cli("init", "--no-hooks", cwd=repo).code == 0
    day.record(repo, "users.email")
    first = day.commit(repo, "a")
    day.record(repo, "users.name")
    second = day.commit(repo, "b")
    day.record(repo, "users.age")
    assert day.commits(repo) == {"users.email": [], "users.name": [], "users.age": []}
    assert cli("link", cwd=repo).code == 0
    assert day.commits(repo) == {"users.email": [first], "users.name": [second], "users.age": []}
    assert "users.email" in git("log", "-1", first, cwd=repo) and "users.name" in git("log", "-1", second, cwd=repo)
    assert cli("link", cwd=repo).code == 0
    assert len(day.links(repo)) == 2


def test_in_a_bare_repository_link_finds_the_commit_that_was_pushed(make_repo, git, cli, day):
    bare = make_repo("bare")
    assert cli("init", cwd=bare).code == 0
    day.record(bare, "users.email")
    clone = bare.parent / "clone"
    git("clone", "--quiet", bare, clone, cwd=bare)
    made = day.commit(clone, "a")
    git("push", "--quiet", "origin", "HEAD:main", cwd=clone)
    assert cli("link", cwd=bare).code == 0
    assert day.commits(bare) == {"users.email": [made]}
    assert "users.email" in git("log", "-1", made, cwd=bare)


def test_an_amend_and_a_rebase_take_the_decision_and_its_note_along(make_repo, git, cli, day):
    repo = make_repo()
    cli("init", cwd=repo)
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    day.record(repo, "users.email")
    day.commit(repo, "a")
    day.record(repo, "users.name")
    amended = day.commit(repo, "b", "--amend")
    commits = day.commits(repo)
    assert amended in commits["users.email"] and amended in commits["users.name"]
    shown = git("log", "-1", cwd=repo)
    assert "users.email" in shown and "users.name" in shown
    git("checkout", "--quiet", "main", cwd=repo)
    day.commit(repo, "c")
    git("checkout", "--quiet", "topic", cwd=repo)
    git("rebase", "--quiet", "main", cwd=repo)
    rebased = git("rev-parse", "HEAD", cwd=repo)
    assert rebased != amended and all(rebased in oids for oids in day.commits(repo).values())
    shown = git("log", "-1", cwd=repo)
    assert "users.email" in shown and "users.name" in shown
    assert "rebase" in day.links(repo)


def test_a_cherry_pick_does_not_take_what_waits_for_the_next_commit(make_repo, git, cli, day):
    repo = make_repo()
    cli("init", cwd=repo)
    git("checkout", "--quiet", "-b", "topic", cwd=repo)
    picked = day.commit(repo, "b")
    git("checkout", "--quiet", "main", cwd=repo)
    day.record(repo, "users.email")
    assert git.run("cherry-pick", picked, cwd=repo).returncode == 0
    assert day.commits(repo) == {"users.email": []}
    day.record(repo, "users.name")
    made = day.commit(repo, "c")
    assert day.commits(repo) == {"users.email": [], "users.name": [made]}


def test_two_worktrees_at_one_commit_each_get_their_own(make_repo, git, cli, day):
    here = make_repo()
    there = here.parent / "there"
    git("worktree", "add", "--quiet", "-b", "other", there, cwd=here)
    cli("init", cwd=here)
    day.record(here, "users.email")
    day.record(there, "users.name")
    made_there = day.commit(there, "b")
    assert day.commits(here) == {"users.email": [], "users.name": [made_there]}
    made_here = day.commit(here, "a")
    assert day.commits(there) == {"users.email": [made_here], "users.name": [made_there]}


def test_what_is_recorded_after_its_commit_belongs_to_that_commit_at_once(make_repo, git, cli, day):
    repo = make_repo()
    cli("init", cwd=repo)
    made = day.commit(repo, "schema.sql")
    day.record(repo, "schema.sql")
    assert day.commits(repo) == {"schema.sql": [made]} and day.links(repo) == ["head"]
    assert "add schema.sql" in git("log", "-1", cwd=repo)
    day.commit(repo, "unrelated")
    assert day.commits(repo) == {"schema.sql": [made]}


def test_a_hook_writes_as_a_hook_and_as_the_committer(make_repo, git, cli, day):
    repo = make_repo()
    cli("init", cwd=repo)
    day.record(repo, "users.email")
    day.commit(repo, "a", "--author", "Somebody Else <else@example.org>", "--date", "2001-01-01T00:00:00Z")
    [event] = cli("log", "--json", "--kind", "link", cwd=repo).json["events"]
    assert event["channel"] == "hook" and event["author"] == "Ada Lovelace <ada@example.org>"
    assert event["recorded_at"] > "2020"


def test_a_moved_file_takes_its_decisions_along(make_repo, git, cli, day):
    repo = make_repo()
    (repo / "old.py").write_text("".join(f"line {number}\n" for number in range(50)))
    git("add", "-A", cwd=repo)
    git("commit", "--quiet", "-m", "old", cwd=repo)
    cli("init", cwd=repo)
    assert cli("reject", "old.py", "--whole", "-r", "too slow", cwd=repo).code == 0
    git("mv", "old.py", "new.py", cwd=repo)
    day.commit(repo, "a")
    found = cli("prior", "new.py", "--json", cwd=repo).json
    assert found["known"] == "yes" and found["attempts"]


def test_a_broken_log_fails_no_commit_and_is_said_in_one_line(make_repo, git, cli, day):
    repo = make_repo()
    cli("init", cwd=repo)
    day.record(repo, "users.email")
    git("update-ref", "refs/decisions/log", "HEAD", cwd=repo)  # no log at all
    (repo / "a").write_text("a")
    git("add", "a", cwd=repo)
    done = git.run("commit", "--quiet", "-m", "x", cwd=repo)
    assert done.returncode == 0
    [line] = done.stderr.decode().splitlines()
    assert line.startswith("gitmem: post-commit: ")


def test_without_a_log_a_commit_is_silent(make_repo, git, cli, day):
    repo = make_repo()
    set_up(repo)
    assert day.commit(repo, "a")
    assert git("for-each-ref", "refs/decisions", cwd=repo) == ""
    assert not (repo / ".git" / "gitmem").exists()


def test_init_twice_and_uninstall_leave_the_repository_as_it_was(make_repo, git, cli):
    repo = make_repo()
    hook(repo, "post-commit", "#!/bin/sh\nexit 0\n", 0o700)
    before = everything(repo)
    assert cli("init", cwd=repo).code == 0
    assert git.run("log", "-1", cwd=repo).stderr == b""
    after = everything(repo)
    again = cli("init", "--json", cwd=repo)
    assert again.code == 0 and not any(step["done"] for step in again.json["steps"])
    assert everything(repo) == after
    assert cli("uninstall", cwd=repo).code == 0
    left = {name: what for name, what in everything(repo).items() if "/objects/" not in name and "/logs/" not in name}
    assert left == {name: what for name, what in before.items() if "/objects/" not in name and "/logs/" not in name}
