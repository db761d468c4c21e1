"""Finding the repository as git finds it, saying no as git says it, and knowing that the log stood still."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from contract.chains import entry, line, stored_of

from gitmem.errors import GitFailed, OutsideRepository
from gitmem.store import git as git_program
from gitmem.store import repository as repository_module
from gitmem.store.git import Result
from gitmem.store.log import LOG_REF, open_log
from gitmem.store.repository import Repository, locate, stamp

IS_ROOT = os.geteuid() == 0
KINDS = ("plain", "empty", "bare", "worktree", "submodule", "alternates", "shallow", "sha256", "reftable")


def as_git_sees_it(git, cwd: Path, **env: str) -> tuple[str, str, str | None, str]:
    """(git dir, common dir, work tree, object format) by `git rev-parse`, run where a user would."""
    asked = ("--absolute-git-dir", "--git-common-dir", "--show-object-format")
    git_dir, common, form = git("rev-parse", *asked, cwd=cwd, env=env).splitlines()
    top = git.run("rev-parse", "--show-toplevel", cwd=cwd, env=env, check=False)
    work_tree = top.stdout.decode().strip() or None
    real = os.path.realpath
    return real(git_dir), real(cwd / common), real(work_tree) if work_tree else None, form


def as_we_see_it(found: Repository) -> tuple[str, str, str | None, str]:
    return found.git_dir, found.common_dir, found.work_tree, found.form.name


@pytest.fixture
def no_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No git to be asked."""
    empty = tmp_path / "empty-path"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))


# --- where it is ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_layout_is_found_where_git_finds_it_from_the_top_and_from_below(make_repo, git, kind) -> None:
    path = make_repo(kind)
    below = path / "refs" / "heads" if kind == "bare" else path / "a b" / "ü"
    below.mkdir(parents=True, exist_ok=True)
    for cwd in (path, below):
        assert as_we_see_it(locate(str(cwd))) == as_git_sees_it(git, cwd)
        assert locate(str(cwd)).bare == (kind == "bare")
    assert locate(str(path)).refs == ("reftable" if kind == "reftable" else "files")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "bare"])
def test_an_ordinary_layout_is_found_without_starting_git(make_repo, kind, request) -> None:
    path = make_repo(kind)
    (path / "below").mkdir()
    request.getfixturevalue("no_git")
    assert locate(str(path / "below")).work_tree == os.path.realpath(path)


def test_from_inside_the_git_directory_there_is_no_work_tree(make_repo, git) -> None:
    path = make_repo("plain")
    for cwd in (path / ".git", path / ".git" / "objects"):
        found = locate(str(cwd))
        assert (found.git_dir, found.work_tree) == (os.path.realpath(path / ".git"), None)
        assert as_we_see_it(found) == as_git_sees_it(git, cwd)


def test_a_separate_git_directory_and_a_symbolic_link_are_followed(tmp_path, git) -> None:
    git("init", "--quiet", "--separate-git-dir", tmp_path / "elsewhere", tmp_path / "work", cwd=tmp_path)
    assert as_we_see_it(locate(str(tmp_path / "work"))) == as_git_sees_it(git, tmp_path / "work")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".git").symlink_to(tmp_path / "elsewhere")
    assert as_we_see_it(locate(str(linked))) == as_git_sees_it(git, linked)
    (tmp_path / "way").symlink_to(tmp_path / "work")
    assert as_we_see_it(locate(str(tmp_path / "way"))) == as_git_sees_it(git, tmp_path / "way")


@pytest.mark.parametrize(
    "settings",
    [
        {"core.worktree": "../../other"},
        {"core.bare": "true"},
        {"extensions.worktreeConfig": "true", "core.repositoryFormatVersion": "1"},
        {"extensions.preciousObjects": "true", "core.repositoryFormatVersion": "1"},
        {"extensions.unknownToAll": "true", "core.repositoryFormatVersion": "0"},
        {"alias.x": "!echo \\\n [extensions]\n objectformat=sha256", "core.quotePath": "false"},
        {'remote.a"b].url': "[extensions]", "core.editor": 'vim "quoted" # no comment'},
        {"include.path": "more"},
    ],
    ids=str,
)
def test_what_the_config_says_is_read_as_git_reads_it(make_repo, git, settings) -> None:
    path = make_repo("plain")
    (path.parent / "other").mkdir()
    (path / ".git" / "more").write_text("[core]\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n")
    for name, value in settings.items():
        git("config", name, value, cwd=path)
    assert as_we_see_it(locate(str(path))) == as_git_sees_it(git, path)


@pytest.mark.parametrize(
    "text",
    [
        "[core]\n repositoryformatversion=1\n[extensions]\nobjectFormat=sha256",
        "[core] bare = false\n[CORE]\n\tRepositoryFormatVersion = 1 ; x\n[extensions]\n\tobjectformat = sha256 # y\n",
        '[core]\n\trepositoryformatversion = "1"\n[extensions]\n\tobjectformat = sha256\n',
        "[core]\n\trepositoryformatversion = \\\n1\n[extensions]\n\tobjectformat = sha256\n",
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha1\n\tobjectformat = sha256\n",
        '[a "[extensions]"]\n\tb = c\n[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n',
    ],
)
def test_any_spelling_of_the_config_gives_the_format_that_git_sees(make_repo, git, text) -> None:
    path = make_repo("sha256")
    (path / ".git" / "config").write_text(text)
    assert as_we_see_it(locate(str(path))) == as_git_sees_it(git, path)
    assert locate(str(path)).form.name == "sha256"


def test_a_worktree_with_a_config_of_its_own_is_read_as_git_reads_it(make_repo, git) -> None:
    side = make_repo("worktree")
    main = side.parent / f"{side.name}-main"
    git("config", "extensions.worktreeConfig", "true", cwd=main)
    git("config", "core.repositoryFormatVersion", "1", cwd=main)
    git("config", "--worktree", "core.bare", "false", cwd=side)
    for cwd in (side, main):
        assert as_we_see_it(locate(str(cwd))) == as_git_sees_it(git, cwd)
    # A bare main repository whose worktrees say that they are none.
    git("config", "core.bare", "true", cwd=main)
    git(
        "config", "--worktree", "core.bare", "false", cwd=side, env={"GIT_DIR": git("rev-parse", "--git-dir", cwd=side)}
    )
    assert as_we_see_it(locate(str(side))) == as_git_sees_it(git, side)


# --- the environment -----------------------------------------------------------------------------


def test_git_dir_and_its_companions_count_for_us_as_for_git(make_repo, git, tmp_path) -> None:
    path, bare, elsewhere = make_repo("plain"), make_repo("bare"), tmp_path / "elsewhere"
    (path / "below").mkdir()
    elsewhere.mkdir()
    side = make_repo("worktree")
    for cwd, env in [
        (elsewhere, {"GIT_DIR": str(path / ".git")}),
        (path, {"GIT_DIR": ".git"}),
        (path / "below", {"GIT_DIR": "../.git"}),
        (elsewhere, {"GIT_DIR": str(path / ".git"), "GIT_WORK_TREE": str(path)}),
        (path / "below", {"GIT_WORK_TREE": str(path / "below")}),
        (elsewhere, {"GIT_DIR": str(bare)}),
        (elsewhere, {"GIT_DIR": str(side / ".git")}),  # a file
        (elsewhere, {"GIT_DIR": git("rev-parse", "--git-dir", cwd=side)}),
        (elsewhere, {"GIT_DIR": str(path / ".git"), "GIT_COMMON_DIR": str(path / ".git")}),
    ]:
        found = locate(str(cwd), {**os.environ, **env})
        assert as_we_see_it(found) == as_git_sees_it(git, cwd, **env), env
        assert found.git("rev-parse", "--absolute-git-dir").decode().strip() == found.git_dir


def test_a_git_dir_that_is_none_is_outside_whatever_surrounds_it(make_repo, tmp_path) -> None:
    path = make_repo("plain")
    with pytest.raises(OutsideRepository):
        locate(str(path), {**os.environ, "GIT_DIR": str(tmp_path / "nothing")})
    assert locate(str(path)).work_tree == os.path.realpath(path)


def test_outside_a_repository_there_is_no_store(tmp_path) -> None:
    place = tmp_path / "nothing"
    place.mkdir()
    with pytest.raises(OutsideRepository) as caught:
        locate(str(place))
    assert str(place) in caught.value.message and "git init" in caught.value.advice
    assert list(place.iterdir()) == []
    for gone in (place / "no such", place / "no" / "such"):
        with pytest.raises(OutsideRepository):
            locate(str(gone))


def test_a_working_directory_that_was_removed_is_outside(tmp_path) -> None:
    script = (
        "import os, sys\nfrom gitmem.errors import OutsideRepository\nfrom gitmem.store.repository import locate\n"
        "os.mkdir(sys.argv[1]); os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])\n"
        "try:\n    locate()\nexcept OutsideRepository as error:\n    print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "gone")], capture_output=True, text=True)
    assert "no longer exists" in done.stdout, done.stderr


def test_ceilings_stop_the_way_up_where_they_stop_git(make_repo, git) -> None:
    path = make_repo("plain")
    deep = path / "a" / "b"
    deep.mkdir(parents=True)
    link = path.parent / "link"
    link.symlink_to(path)
    for cwd in (path, path / "a", deep):
        for ceiling in (
            str(path.parent),
            str(path),
            str(path / "a"),
            str(deep),
            f"{path}:{path / 'a'}",
            "/",
            str(link / "a"),
            f":{link / 'a'}",
            "relative",
            f"{path}/",
        ):
            env = {"GIT_CEILING_DIRECTORIES": ceiling}
            finds = git.run("rev-parse", "--git-dir", cwd=cwd, env=env, check=False).returncode == 0
            try:
                locate(str(cwd), {**os.environ, **env})
                found = True
            except OutsideRepository:
                found = False
            assert found == finds, (cwd, ceiling)


def test_a_file_system_boundary_is_not_crossed_unless_git_would(tmp_path, git) -> None:
    if not IS_ROOT:
        pytest.skip("only root can mount a file system")
    git("init", "--quiet", tmp_path / "repo", cwd=tmp_path)
    inner = tmp_path / "repo" / "inner"
    inner.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", inner], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        with pytest.raises(OutsideRepository):
            locate(str(inner))
        assert git.run("rev-parse", cwd=inner, check=False).returncode != 0
        across = {**os.environ, "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1"}
        assert locate(str(inner), across).work_tree == os.path.realpath(tmp_path / "repo")
    finally:
        subprocess.run(["umount", "--lazy", inner], check=True)


def test_a_broken_git_file_is_reported_in_gits_words(tmp_path) -> None:
    place = tmp_path / "broken"
    place.mkdir()
    for content in ("gitdir: nowhere\n", "nonsense\n"):
        (place / ".git").write_text(content)
        with pytest.raises((OutsideRepository, GitFailed)) as caught:
            locate(str(place))
        assert "\n" not in caught.value.message


# --- whose it is ---------------------------------------------------------------------------------


def given_away(path: Path) -> None:
    if not IS_ROOT:
        pytest.skip("only root can give a repository to another user")
    for place, folders, files in os.walk(path):
        for name in (".", *folders, *files):
            os.chown(os.path.join(place, name), 12345, 12345, follow_symlinks=False)


@pytest.mark.parametrize("kind", ["plain", "bare", "worktree", "submodule"])
def test_a_repository_of_another_user_is_refused_with_the_command_that_allows_it(make_repo, git, home, kind) -> None:
    path = make_repo(kind)
    given_away(path)
    with pytest.raises(GitFailed) as caught:
        locate(str(path))
    assert "belongs to another user" in caught.value.message and str(path) in caught.value.message
    assert "safe.directory" in caught.value.advice

    command = caught.value.advice.split("`")[1]
    assert command.startswith("git config --global --add safe.directory ")
    config = {"GIT_CONFIG_GLOBAL": str(home / "trusting")}
    subprocess.run(command, shell=True, env={**os.environ, **config}, cwd=home, check=True)
    assert locate(str(path), {**os.environ, **config}).git_dir.startswith(os.path.realpath(path.parent))


def test_whoever_sets_git_dir_vouches_for_it(make_repo) -> None:
    path = make_repo("plain")
    given_away(path)
    found = locate(str(path), {**os.environ, "GIT_DIR": str(path / ".git")})
    assert found.git_dir == os.path.realpath(path / ".git")


def test_root_by_sudo_may_read_the_callers_own_repository_and_no_strangers(make_repo, git) -> None:
    path = make_repo("plain")
    given_away(path)
    assert locate(str(path), {**os.environ, "SUDO_UID": "12345"}).work_tree == os.path.realpath(path)
    for uid in ("54321", "nonsense", ""):
        with pytest.raises(GitFailed):
            locate(str(path), {**os.environ, "SUDO_UID": uid})


def test_a_bare_repository_found_by_walking_obeys_safe_bare_repository(make_repo, git, home) -> None:
    path = make_repo("bare")
    (home / "explicit").write_text("[safe]\n\tbareRepository = explicit\n")
    explicit = {**os.environ, "GIT_CONFIG_GLOBAL": str(home / "explicit")}
    if git.run("rev-parse", cwd=path, env=explicit, check=False).returncode == 0:
        pytest.skip("this git does not know safe.bareRepository")
    with pytest.raises(GitFailed) as caught:
        locate(str(path), explicit)
    assert "GIT_DIR" in caught.value.advice
    assert locate(str(path), {**explicit, "GIT_DIR": str(path)}).bare
    assert locate(str(path)).bare


# --- typed paths ---------------------------------------------------------------------------------


def test_a_path_that_exists_below_the_working_directory_is_taken_from_there(make_repo) -> None:
    path = make_repo("plain")
    (path / "src" / "inner").mkdir(parents=True)
    (path / "src" / "auth.py").touch()
    (path / "src" / "link.py").symlink_to("auth.py")
    here = locate(str(path / "src"))
    assert here.relative("auth.py") == "src/auth.py"
    assert here.relative("auth.py::login") == "src/auth.py::login"
    assert here.relative("inner") == here.relative("./inner/") == "src/inner"
    assert here.relative("link.py") == "src/link.py"
    assert here.relative("../readme") == "readme"
    assert here.relative(str(path / "src" / "auth.py")) == "src/auth.py"
    # and what does not exist there, or says that it is from the root, stays what it is
    assert here.relative("users.email") == "users.email"
    assert here.relative("src/auth.py") == "src/auth.py"
    assert here.relative(":/auth.py") == "auth.py"
    assert here.relative("deps/stripe") == "deps/stripe"
    assert here.relative("..") == ".."
    assert here.relative("/etc") == "/etc"
    assert here.relative("a\0b") == "a\0b"
    assert here.relative("") == ""
    assert locate(str(path)).relative("src/auth.py") == "src/auth.py"
    assert locate(str(path)).relative("auth.py", cwd=str(path / "src")) == "src/auth.py"


def test_a_bare_repository_has_no_paths_to_resolve(make_repo) -> None:
    path = make_repo("bare")
    assert locate(str(path / "refs")).relative("heads") == "heads"


def test_through_a_symbolic_link_a_path_is_still_from_the_root(make_repo) -> None:
    path = make_repo("plain")
    (path / "src").mkdir()
    (path / "src" / "auth.py").touch()
    (path.parent / "way").symlink_to(path / "src")
    assert locate(str(path.parent / "way")).relative("auth.py") == "src/auth.py"


# --- stamps --------------------------------------------------------------------------------------


def grown(path: Path, length: int) -> list[str]:
    repository = locate(str(path))
    pieces = line(repository.form, length)
    open_log(repository).publish(stored_of(pieces), pieces[-1].oid, None, "append")
    return [piece.oid for piece in pieces]


@pytest.mark.parametrize("kind", ["plain", "bare", "worktree", "sha256", "reftable"])
def test_a_stamp_changes_with_every_move_of_the_log(make_repo, git, kind) -> None:
    path = make_repo(kind)
    repository = locate(str(path))
    seen = [stamp(repository)]
    for oid in grown(path, 5)[1:]:
        git("update-ref", LOG_REF, oid, cwd=path)
        seen.append(stamp(repository))
    git("update-ref", "-d", LOG_REF, cwd=path)
    assert None not in seen
    assert len(set(seen)) == len(seen)
    assert stamp(repository) == stamp(locate(str(path)))


def test_all_worktrees_have_one_stamp(make_repo) -> None:
    side = make_repo("worktree")
    main = side.parent / f"{side.name}-main"
    grown(side, 1)
    assert stamp(locate(str(side))) == stamp(locate(str(main))) is not None


def test_a_young_packed_refs_file_gives_no_stamp_and_an_old_one_does(make_repo, git) -> None:
    """A file system with whole-second times could give two contents one time, so a young one proves nothing."""
    path = make_repo("plain")
    grown(path, 1)
    loose = stamp(locate(str(path)))
    git("pack-refs", "--all", cwd=path)
    packed = path / ".git" / "packed-refs"
    written = packed.stat().st_mtime
    repository = locate(str(path))
    assert stamp(repository) is None
    assert stamp(repository, now=written + 1.9) is None
    assert stamp(repository, now=written - 10) is None  # from the future: a clock is wrong
    old = stamp(repository, now=written + 2.1)
    assert old is not None and old != loose
    # the same bytes once more are another file
    git("update-ref", "refs/heads/other", "HEAD", cwd=path)
    git("pack-refs", "--all", cwd=path)
    assert stamp(repository, now=packed.stat().st_mtime + 3) != old


def test_what_only_git_can_resolve_gives_no_stamp(make_repo, git) -> None:
    path = make_repo("plain")
    grown(path, 1)
    git("symbolic-ref", LOG_REF, "refs/heads/main", cwd=path)
    assert stamp(locate(str(path))) is None
    git("symbolic-ref", "--delete", LOG_REF, cwd=path)
    elsewhere = {**os.environ, "GIT_REFERENCE_BACKEND": "files:///somewhere"}
    assert stamp(locate(str(path), elsewhere)) is None
    assert stamp(locate(str(path))) is not None


def test_equal_stamps_never_hide_a_move_while_others_write_and_pack(make_repo, git) -> None:
    """Stamp first, then the tip: whenever a later stamp equals an earlier one, so do the tips."""
    path = make_repo("plain")
    repository = locate(str(path))
    oids = grown(path, 60)
    log = open_log(repository)
    tips: dict[bytes, str | None] = {}
    done = threading.Event()

    def write() -> None:
        for number, oid in enumerate(oids):
            git("update-ref", LOG_REF, oid, cwd=path)
            if number % 3 == 0:
                git("pack-refs", "--all", cwd=path)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    checked = 0
    try:
        while not done.is_set():
            before = stamp(repository)
            tip = log.tip()
            after = stamp(repository)
            if before is not None and before == after:
                assert tips.setdefault(before, tip) == tip
                checked += 1
    finally:
        writer.join()
    assert checked > 5


def test_a_stamp_starts_no_git(make_repo, request) -> None:
    path = make_repo("plain")
    grown(path, 1)
    repository = locate(str(path))
    before = stamp(repository)
    request.getfixturevalue("no_git")
    assert stamp(repository) == before
    with pytest.raises(GitFailed):
        repository.git("version")


# --- the git program -----------------------------------------------------------------------------


def test_large_input_and_large_output_at_once_do_not_block(make_repo) -> None:
    data = b"a line of text\n" * 2_000_000
    assert git_program.attempt(["stripspace"], input=data).out == data


def test_without_git_there_is_one_clear_sentence(make_repo, request) -> None:
    path = make_repo("plain")
    request.getfixturevalue("no_git")
    with pytest.raises(GitFailed) as caught:
        open_log(locate(str(path))).tip()
    assert "not on PATH" in caught.value.message and "install git" in caught.value.advice


def test_a_failure_is_told_in_gits_own_first_words(make_repo) -> None:
    path = make_repo("plain")
    with pytest.raises(GitFailed) as caught:
        locate(str(path)).git("cat-file", "-p", "refs/heads/nothing")
    assert caught.value.message.startswith("git failed: `git cat-file`: Not a valid object name")
    assert caught.value.fields["rc"] == 128
    assert locate(str(path)).git("cat-file", "-p", "refs/heads/nothing", check=False) == b""


def test_a_git_that_takes_too_long_is_ended(make_repo) -> None:
    repository = locate(str(make_repo("plain")))
    start = time.monotonic()
    with pytest.raises(GitFailed) as caught:
        repository.git("-c", "alias.wait=!sleep 60", "wait", timeout_s=0.2)
    assert "longer than 0.2 s" in caught.value.message
    assert time.monotonic() - start < 30


def test_git_can_be_run_by_a_process_without_standard_streams(make_repo) -> None:
    """Descriptors 0, 1 and 2 are then the first that a pipe gets."""
    path = make_repo("plain")
    grown(path, 2)
    script = (
        "import os, sys\nfrom gitmem.store.log import open_log\nfrom gitmem.store.repository import locate\n"
        "path, report = sys.argv[1:]\nout = os.open(report, os.O_WRONLY | os.O_CREAT)\n"
        "out = os.dup2(out, 9)\nos.closerange(0, 9)\n"
        "log = open_log(locate(path))\n"
        "os.write(out, str(len(list(log.walk(log.tip())))).encode())\n"
    )
    report = path.parent / "report"
    subprocess.run([sys.executable, "-c", script, str(path), str(report)], check=True)
    assert report.read_text() == "3"


def test_no_descriptor_and_no_process_is_left_behind(make_repo) -> None:
    path = make_repo("plain")
    oids = grown(path, 3)
    log = open_log(locate(str(path)))
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    for _ in range(5):
        log.tip()
        list(log.walk(oids[-1]))
        walk = log.walk(oids[-1])
        next(walk)
        walk.close()  # type: ignore[attr-defined]
        with pytest.raises(GitFailed):
            log.publish([], entry(log.form, oids[0]).oid, oids[-1], "x")  # type: ignore[attr-defined]
    if before is None:
        pytest.skip("open descriptors can't be counted here")
    assert len(os.listdir("/proc/self/fd")) == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_the_module_starts_no_slow_import() -> None:
    slow = ("typing", "dataclasses", "subprocess", "pathlib", "argparse", "inspect", "tempfile", "shutil", "random")
    script = (
        "import sys\nimport gitmem.store.log, gitmem.store.plumbing_log, gitmem.store.lock, gitmem.store.identity\n"
        f"print([name for name in {slow!r} if name in sys.modules])"
    )
    # -S: what this environment's own start-up files import is not ours.
    command = [sys.executable, "-I", "-S", "-c", f"import sys\nsys.path = {sys.path!r}\n{script}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("path", ["/srv/it's here", "/srv/repo-1_2.git", "/srv/$(id) `id`", "/srv/デ ータ"])
def test_a_dubious_path_is_one_word_of_the_command_that_allows_it(path: str) -> None:
    said = f"fatal: detected dubious ownership in repository at '{path}'\nTo add an exception …\n"
    refusal = repository_module._refusal("/elsewhere", Result(128, b"", said.encode()))
    command = refusal.advice.split("if you trust it: `")[1].removesuffix("`.")
    assert shlex.split(command) == ["git", "config", "--global", "--add", "safe.directory", path]
