"""One test for each way in which git or libgit2 is known to mislead whoever reads or writes the log.

The names say what must not happen. Each test also shows that the trap is one: what git itself, or
libgit2's friendlier call, would have answered.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from pathlib import Path

import pygit2
import pytest
from contract.chains import Piece, entry, event, join, line, of_files, root, stored_of

from gitmem.errors import BrokenHistory, GitFailed
from gitmem.store import git as git_program
from gitmem.store import identity, pygit2_log
from gitmem.store.log import LOG_REF, Log, Stored, open_log
from gitmem.store.plumbing_log import PlumbingLog
from gitmem.store.pygit2_log import Pygit2Log
from gitmem.store.repository import locate

IS_ROOT = os.geteuid() == 0
BACKENDS = ("plumbing", "pygit2")


def opened(path: Path, backend: str = "plumbing", **env: str) -> Log:
    repository = locate(str(path), {**os.environ, **env})
    if backend == "plumbing":
        return open_log(repository)
    log = pygit2_log.try_open(repository)
    assert log is not None
    return log


def grown(path: Path, length: int = 3) -> list[Piece]:
    repository = locate(str(path))
    pieces = line(repository.form, length)
    open_log(repository).publish(stored_of(pieces), pieces[-1].oid, None, "append")
    return pieces


def walked(log: Log, *known: str) -> list[Stored]:
    tip = log.tip()
    assert tip is not None
    return list(log.walk(tip, known))


def appended(log: Log, parent: str | None, form=None) -> Piece:
    made = entry(log.form, parent or log.form.root)  # type: ignore[attr-defined]
    stored = made.objects if parent else stored_of([root(log.form), made])  # type: ignore[attr-defined]
    log.publish(stored, made.oid, parent, "append")
    return made


def loosened(path: Path, git) -> None:
    """Every packed object as a file of its own, so that a test can damage one."""
    for pack in (path / ".git/objects/pack").glob("*.pack"):
        data = pack.read_bytes()
        for found in list(pack.parent.glob(pack.stem + ".*")):
            found.unlink()
        git("unpack-objects", "-q", cwd=path, input=data)


def loose(path: Path, oid: str) -> Path:
    return path / ".git/objects" / oid[:2] / oid[2:]


# --- formats of repositories ---------------------------------------------------------------------


def test_sha256_and_reftable_repositories_are_left_to_git(make_repo) -> None:
    path = make_repo("sha256")
    with pytest.raises(pygit2.GitError):
        pygit2.Repository(str(path))
    log = open_log(locate(str(path)), long_lived=True)
    assert type(log) is PlumbingLog
    made = appended(log, None)
    assert len(made.oid) == 64 and walked(log)[-1].files == made.files
    plain = open_log(locate(str(make_repo("plain"))), long_lived=True)
    assert type(plain) is Pygit2Log


def test_a_reftable_repository_gets_no_stray_loose_ref(make_repo) -> None:
    path = make_repo("reftable")
    log = open_log(locate(str(path)), long_lived=True)
    assert type(log) is PlumbingLog
    made = appended(log, None)
    assert log.tip() == made.oid
    assert not (path / ".git" / LOG_REF).exists()


@pytest.mark.parametrize(
    ("settings", "by_libgit2"),
    [
        ({"extensions.preciousObjects": "true", "core.repositoryFormatVersion": "1"}, True),
        ({"extensions.worktreeConfig": "true", "core.repositoryFormatVersion": "1"}, True),
        ({"extensions.noSuchThing": "true", "core.repositoryFormatVersion": "0"}, True),
        ({"extensions.partialClone": "origin", "core.repositoryFormatVersion": "1"}, False),
    ],
    ids=str,
)
def test_extensions_that_git_takes_are_taken_by_one_log_or_the_other(make_repo, git, settings, by_libgit2) -> None:
    path = make_repo("plain")
    for name, value in settings.items():
        git("config", name, value, cwd=path)
    log = open_log(locate(str(path)), long_lived=True)
    assert type(log) is (Pygit2Log if by_libgit2 else PlumbingLog)
    made = appended(log, None)
    assert [stored.oid for stored in walked(opened(path))] == [log.form.root, made.oid]  # type: ignore[attr-defined]


def test_an_extension_that_git_does_not_know_is_refused_in_gits_words(make_repo, git) -> None:
    path = make_repo("plain")
    git("config", "extensions.noSuchThing", "true", cwd=path)
    git("config", "core.repositoryFormatVersion", "1", cwd=path)
    with pytest.raises(GitFailed) as caught:
        open_log(locate(str(path)), long_lived=True).tip()
    assert "nosuchthing" in caught.value.message.lower()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_sparse_or_split_index_does_not_matter_to_the_log(make_repo, git, backend) -> None:
    for option in (("sparse-checkout", "init", "--cone", "--sparse-index"), ("update-index", "--split-index")):
        path = make_repo("plain")
        git(*option, cwd=path)
        log = opened(path, backend)
        made = appended(log, None)
        assert walked(log)[-1].oid == made.oid


# --- what git shows instead of what is there -----------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_graft_file_does_not_hide_an_event(make_repo, git, backend) -> None:
    path = make_repo("plain")
    pieces = grown(path, 5)
    info = path / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "grafts").write_text(f"{pieces[-1].oid} {pieces[0].oid}\n")
    assert len(git("rev-list", LOG_REF, cwd=path).split()) == 2  # git believes it,
    assert [str(oid) for oid in pygit2.Repository(str(path))[pieces[-1].oid].parent_ids] == [pieces[0].oid]  # and so it

    log = opened(path, backend)
    assert [stored.oid for stored in walked(log)] == [piece.oid for piece in pieces]
    assert [stored.oid for stored in walked(log, pieces[-2].oid)] == [pieces[-1].oid]
    assert log.contains(pieces[-1].oid, pieces[2].oid)
    condition = log.condition()
    assert condition.grafts and condition.grafted == {pieces[-1].oid}
    made = appended(log, pieces[-1].oid)
    assert log.tip() == made.oid


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_replace_ref_does_not_hide_an_event(make_repo, git, backend) -> None:
    path = make_repo("plain")
    pieces = grown(path, 5)
    instead = entry(locate(str(path)).form, pieces[0].oid)
    log = opened(path, backend)
    log.publish(instead.objects, instead.oid, pieces[-1].oid, "aside")
    log.publish([], pieces[-1].oid, instead.oid, "back")
    git("replace", pieces[-1].oid, instead.oid, cwd=path)
    assert len(git("rev-list", LOG_REF, cwd=path).split()) == 2

    assert [stored.commit for stored in walked(log)] == [piece.commit for piece in pieces]
    assert [stored.commit for stored in walked(log, pieces[-2].oid)] == [pieces[-1].commit]
    assert log.contains(pieces[-1].oid, pieces[2].oid)
    condition = log.condition()
    assert condition.replaced and condition.replacements == {pieces[-1].oid}
    assert not condition.grafts


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_replaced_blob_is_read_through(make_repo, git, backend) -> None:
    path = make_repo("plain")
    pieces = grown(path, 2)
    (name, data), *_ = pieces[-1].files.items()
    blob = locate(str(path)).form.oid("blob", data)
    forged = git("hash-object", "-w", "--stdin", cwd=path, input="forged")
    git("replace", "-f", blob, forged, cwd=path)
    assert git("cat-file", "blob", blob, cwd=path) == "forged"
    log = opened(path, backend)
    for known in ((), (pieces[-2].oid,)):
        assert walked(log, *known)[-1].files == {name: data}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_forged_commit_graph_does_not_say_what_the_parents_are(make_repo, git, backend) -> None:
    path = make_repo("plain")
    pieces = grown(path, 5)
    git("commit-graph", "write", "--reachable", cwd=path)
    graph = path / ".git/objects/info/commit-graph"
    data = bytearray(graph.read_bytes())
    # The record of a commit (CDAT): its tree, then the places of its two parents in the list. All point to one.
    chunk = data.index(b"CDAT")
    offset = int.from_bytes(data[chunk + 4 : chunk + 12], "big")
    count = (int.from_bytes(data[chunk + 16 : chunk + 24], "big") - offset) // 36
    for number in range(count):
        at = offset + 36 * number + 20
        if data[at : at + 4] != (0x70000000).to_bytes(4, "big"):
            data[at : at + 4] = (0x70000000).to_bytes(4, "big")  # "no parent"
    graph.chmod(0o644)
    graph.write_bytes(data)
    assert len(git("rev-list", LOG_REF, cwd=path).split()) == 1  # git believes it

    log = opened(path, backend)
    assert [stored.oid for stored in walked(log)] == [piece.oid for piece in pieces]
    assert [stored.oid for stored in walked(log, pieces[2].oid)] == [piece.oid for piece in pieces[3:]]
    assert log.contains(pieces[-1].oid, pieces[1].oid)
    graph.unlink()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_symbolic_ref_is_no_log(make_repo, git, backend) -> None:
    path = make_repo("plain")
    pieces = grown(path, 1)
    head = git("rev-parse", "HEAD", cwd=path)
    git("symbolic-ref", LOG_REF, "refs/heads/main", cwd=path)
    log = opened(path, backend)
    with pytest.raises(BrokenHistory) as caught:
        log.tip()
    assert "refs/heads/main" in caught.value.message
    made = entry(locate(str(path)).form, pieces[-1].oid)
    with pytest.raises((BrokenHistory, GitFailed)):
        log.publish(made.objects, made.oid, pieces[-1].oid, "append")
    assert git("rev-parse", "HEAD", cwd=path) == head


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_branch_whose_name_ends_in_the_refs_name_is_no_log(make_repo, git, backend) -> None:
    path = make_repo("plain")
    git("update-ref", f"refs/heads/{LOG_REF}", "HEAD", cwd=path)
    assert git("rev-parse", LOG_REF, cwd=path) == git("rev-parse", "HEAD", cwd=path)  # git guesses
    log = opened(path, backend)
    assert log.tip() is None
    made = appended(log, None)
    assert log.tip() == made.oid


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_git_says_when_it_is_traced_is_no_error(make_repo, backend) -> None:
    path = make_repo("plain")
    log = opened(path, backend, GIT_TRACE="1", GIT_TRACE_SETUP="1", GIT_TRACE2="1")
    assert log.tip() is None
    made = appended(log, None)
    assert walked(log)[-1].files == made.files
    with pytest.raises(GitFailed) as caught:
        locate(str(path), log.repository.environ).git("cat-file", "-p", "nothing")  # type: ignore[attr-defined]
    assert caught.value.message == "git failed: `git cat-file`: Not a valid object name nothing"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_ref_without_an_oid_is_broken_and_not_absent(make_repo, backend) -> None:
    path = make_repo("plain")
    grown(path, 1)
    log = opened(path, backend)
    for content in ("garbage\n", "", "0" * 40 + "\n"):
        (path / ".git" / LOG_REF).write_text(content)
        with pytest.raises(BrokenHistory) as caught:
            log.tip()
        assert LOG_REF in caught.value.message
        if "0" not in content:  # a ref of zeros is none to git's compare-and-swap; `tip` comes before it
            with pytest.raises((BrokenHistory, GitFailed)):
                appended(log, None)
            assert (path / ".git" / LOG_REF).read_text() == content


# --- what is missing, and what is damaged --------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_log_whose_tip_is_not_here_is_no_empty_one(make_repo, git, backend) -> None:
    path = make_repo("plain")
    tip = grown(path, 3)[-1].oid
    loosened(path, git)
    loose(path, tip).unlink()
    log = opened(path, backend)
    (found,) = log.walk(tip)
    assert (found.oid, found.commit, found.missing) == (tip, b"", (tip,))
    assert list(log.walk(tip, [tip])) == []


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("what", ["blob", "tree", "commit"])
def test_a_missing_object_is_named_and_the_rest_is_read(make_repo, git, backend, what) -> None:
    path = make_repo("plain")
    pieces = grown(path, 5)
    loosened(path, git)
    hit = pieces[3]
    form = locate(str(path)).form
    data = {"blob": next(iter(hit.files.values())), "tree": hit.tree, "commit": hit.commit}[what]
    oid = form.oid(what, data)
    loose(path, oid).unlink()

    found = walked(opened(path, backend))
    if what == "commit":
        assert [stored.oid for stored in found] == [
            piece.oid for piece in pieces[3:]
        ]  # what lies below is out of reach
        assert (found[0].commit, found[0].tree, found[0].files) == (b"", None, {})
    else:
        assert [stored.oid for stored in found] == [piece.oid for piece in pieces]
    by_oid = {stored.oid: stored for stored in found}
    assert by_oid[hit.oid].missing == (oid,) and by_oid[hit.oid].damaged == ()
    if what == "blob":
        assert by_oid[hit.oid].files == dict.fromkeys(hit.files)
    for piece in pieces[4:]:
        assert (by_oid[piece.oid].commit, by_oid[piece.oid].files) == (piece.commit, piece.files)
    # a walk of only what is new does not look at it
    assert [stored.missing for stored in walked(opened(path, backend), pieces[4].oid)] == [()]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("what", ["blob", "tree", "commit"])
@pytest.mark.parametrize("how", ["garbage", "empty", "truncated", "other", "longer", "kind"])
def test_a_damaged_object_is_named_and_the_rest_is_read(make_repo, git, backend, what, how) -> None:
    path = make_repo("plain")
    pieces = grown(path, 5)
    loosened(path, git)
    hit = pieces[3]
    form = locate(str(path)).form
    data = {"blob": next(iter(hit.files.values())), "tree": hit.tree, "commit": hit.commit}[what]
    oid = form.oid(what, data)
    file = loose(path, oid)
    whole = file.read_bytes()
    content = {
        "garbage": b"garbage" * 20,
        "empty": b"",
        "truncated": whole[: len(whole) // 2],
        "other": zlib.compress(b"%s %d\0" % (what.encode(), len(data)) + data[:-1] + bytes([data[-1] ^ 1])),
        "longer": zlib.compress(b"%s %d\0" % (what.encode(), len(data) + 9) + data),
        "kind": zlib.compress(b"tag %d\0" % len(data) + data),
    }[how]
    file.chmod(0o644)
    file.write_bytes(content)

    found = walked(opened(path, backend))
    by_oid = {stored.oid: stored for stored in found}
    assert by_oid[hit.oid].damaged == (oid,) and by_oid[hit.oid].missing == ()
    # What lies below a commit that can't be trusted is shown if git finds the way.
    assert [stored.oid for stored in found][-len(pieces[3:]) :] == [piece.oid for piece in pieces[3:]]
    assert len(found) == len(pieces) or what == "commit"
    for piece in pieces:
        if piece.oid in by_oid and piece is not hit:
            assert (by_oid[piece.oid].commit, by_oid[piece.oid].files) == (piece.commit, piece.files)
            assert not by_oid[piece.oid].damaged
    file.write_bytes(whole)
    assert [stored.files for stored in walked(opened(path, backend))] == [piece.files for piece in pieces]


@pytest.mark.parametrize("backend", BACKENDS)
def test_damage_inside_a_pack_is_found_and_named(make_repo, git, backend) -> None:
    path = make_repo("plain")
    pieces = grown(path, 60)
    [pack] = (path / ".git/objects/pack").glob("*.pack")
    whole = pack.read_bytes()
    pack.chmod(0o644)
    index = git("show-index", cwd=path, input=pack.with_suffix(".idx").read_bytes())
    places = {line.split()[1]: int(line.split()[0]) for line in index.splitlines()}
    form = locate(str(path)).form
    hit = pieces[30]
    for what, data in (("blob", next(iter(hit.files.values()))), ("tree", hit.tree), ("commit", hit.commit)):
        oid = form.oid(what, data)
        spoilt = bytearray(whole)
        spoilt[places[oid] + 12] ^= 0xFF
        pack.write_bytes(spoilt)
        found = walked(opened(path, backend))
        by_oid = {stored.oid: stored for stored in found}
        assert by_oid[hit.oid].damaged == (oid,), what
        assert len(found) == (31 if what == "commit" else 61)
        assert sum(bool(stored.damaged or stored.missing) for stored in found) == 1
    pack.write_bytes(whole)
    assert len(walked(opened(path, backend))) == 61


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_missing_commit_in_a_joined_history_leaves_the_other_side_readable(make_repo, git, backend) -> None:
    path = make_repo("plain")
    form = locate(str(path)).form
    base = entry(form, form.root)
    left, right = entry(form, base.oid), entry(form, base.oid)
    joined = join(form, left.oid, right.oid)
    above = entry(form, joined.oid)
    everything = [root(form), base, left, right, joined, above]
    opened(path).publish(stored_of(everything), above.oid, None, "append")
    loosened(path, git)
    loose(path, right.oid).unlink()
    found = walked(opened(path, backend))
    place = {stored.oid: number for number, stored in enumerate(found)}
    assert set(place) == {piece.oid for piece in everything}
    assert [stored.oid for stored in found if stored.missing] == [right.oid]
    assert all(place[parent] < place[stored.oid] for stored in found for parent in stored.parents)
    # what a known commit reaches stays out, as far as that can be seen
    assert [stored.oid for stored in walked(opened(path, backend), left.oid)] == [right.oid, joined.oid, above.oid]


def test_objects_of_an_alternate_that_went_away_are_missing_and_not_damaged(make_repo, git) -> None:
    path = make_repo("alternates")
    source = path.parent / f"{path.name}-main"
    pieces = grown(source, 3)
    git("fetch", "--quiet", "origin", f"{LOG_REF}:{LOG_REF}", cwd=path)
    for backend in BACKENDS:
        assert [stored.files for stored in walked(opened(path, backend))] == [piece.files for piece in pieces]
    # what is appended here is stored here
    made = appended(opened(path), pieces[-1].oid)
    assert git.run("cat-file", "-e", made.oid, cwd=source, check=False).returncode != 0
    # the source forgets them, as a gc does that knows nothing of who borrows
    git("update-ref", "-d", LOG_REF, cwd=source)
    git("reflog", "expire", "--expire=now", "--all", cwd=source)
    git("gc", "--quiet", "--prune=now", cwd=source)
    for backend in BACKENDS:
        found = walked(opened(path, backend))
        assert [stored.oid for stored in found] == [pieces[-1].oid, made.oid]
        assert (found[0].missing, found[0].damaged) == ((pieces[-1].oid,), ())
        assert found[1].files == made.files


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_log_cut_off_by_a_shallow_fetch_is_seen_to_be_cut_off(make_repo, git, tmp_path, backend) -> None:
    source = make_repo("plain")
    pieces = grown(source, 5)
    path = make_repo("plain")
    git("fetch", "--quiet", "--depth=2", source.as_uri(), f"{LOG_REF}:{LOG_REF}", cwd=path)
    log = opened(path, backend)
    found = walked(log)
    assert [stored.oid for stored in found] == [pieces[-2].oid, pieces[-1].oid]
    assert found[0].parents == (pieces[-3].oid,)  # not "a root": its bytes name a parent
    condition = log.condition()
    assert condition.shallow and condition.edges == {pieces[-2].oid}
    # appending goes on, and a full fetch makes it whole
    made = appended(log, pieces[-1].oid)
    git("fetch", "--quiet", "--unshallow", source.as_uri(), LOG_REF, cwd=path)
    assert [stored.oid for stored in walked(opened(path, backend))] == [*(piece.oid for piece in pieces), made.oid]
    assert not opened(path, backend).condition().shallow


@pytest.mark.parametrize("backend", BACKENDS)
def test_in_a_shallow_clone_of_the_code_the_log_is_whole(make_repo, git, backend) -> None:
    path = make_repo("shallow")
    source = path.parent / f"{path.name}-main"
    pieces = grown(source, 3)
    git("fetch", "--quiet", "origin", f"{LOG_REF}:{LOG_REF}", cwd=path)
    log = opened(path, backend)
    assert [stored.oid for stored in walked(log)] == [piece.oid for piece in pieces]
    condition = log.condition()
    assert condition.shallow and not condition.edges & {piece.oid for piece in pieces}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_partial_clone_names_what_it_has_not_and_never_goes_to_the_network(
    make_repo, git, tmp_path, backend, monkeypatch
) -> None:
    source = make_repo("plain")
    pieces = grown(source, 3)
    for setting in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git("config", setting, "true", cwd=source)
    path = tmp_path / "partial"
    git("clone", "--quiet", "--no-checkout", "--filter=blob:none", source.as_uri(), path, cwd=tmp_path)
    git("fetch", "--quiet", "--filter=blob:none", "origin", f"{LOG_REF}:{LOG_REF}", cwd=path)
    packs = sorted((path / ".git/objects/pack").iterdir())
    trace = tmp_path / "trace"
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(trace))

    log = opened(path, backend)
    found = walked(log)
    assert [stored.oid for stored in found] == [piece.oid for piece in pieces]
    form = locate(str(path)).form
    for stored, piece in zip(found[1:], pieces[1:], strict=True):
        assert stored.tree == piece.tree
        assert stored.missing == tuple(form.oid("blob", data) for data in piece.files.values())
        assert stored.files == dict.fromkeys(piece.files)
        assert stored.damaged == ()
    assert log.condition().partial
    assert sorted((path / ".git/objects/pack").iterdir()) == packs
    assert '"fetch"' not in trace.read_text()
    # and an append works
    made = appended(log, pieces[-1].oid)
    assert log.tip() == made.oid
    assert '"fetch"' not in trace.read_text()


# --- whose repository, which environment ---------------------------------------------------------


def test_where_libgit2_refuses_the_owner_and_git_does_not_git_does_the_work(make_repo, git) -> None:
    if not IS_ROOT:
        pytest.skip("only root can give a repository to another user")
    path = make_repo("plain")
    pieces = grown(path, 2)
    for place, folders, files in os.walk(path):
        for name in (".", *folders, *files):
            os.chown(os.path.join(place, name), 12345, 12345, follow_symlinks=False)
    with pytest.raises(GitFailed):
        opened(path)
    trusting = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": str(path)}
    log = open_log(locate(str(path), {**os.environ, **trusting}), long_lived=True)
    assert type(log) is PlumbingLog  # libgit2 does not read configuration from the environment
    assert [stored.oid for stored in walked(log)] == [piece.oid for piece in pieces]
    made = appended(log, pieces[-1].oid)
    assert log.tip() == made.oid


def test_objects_that_the_environment_puts_elsewhere_are_found_and_put_there(make_repo, git, tmp_path) -> None:
    path = make_repo("plain")
    pieces = grown(path, 1)
    elsewhere = tmp_path / "objects"
    elsewhere.mkdir()
    env = {
        "GIT_OBJECT_DIRECTORY": str(elsewhere),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(path / ".git" / "objects"),
    }
    log = open_log(locate(str(path), {**os.environ, **env}), long_lived=True)
    assert type(log) is PlumbingLog
    assert [stored.oid for stored in walked(log)] == [piece.oid for piece in pieces]
    made = entry(locate(str(path)).form, pieces[-1].oid)
    log._store(made.objects, made.oid, many=False)  # type: ignore[attr-defined]
    assert git.run("cat-file", "-e", made.oid, cwd=path, check=False).returncode != 0
    assert git.run("cat-file", "-e", made.oid, cwd=path, env=env, check=False).returncode == 0


#: What a hook of a commit by somebody else finds in its environment.
HOOK = {
    "GIT_AUTHOR_NAME": "Mallory",
    "GIT_AUTHOR_EMAIL": "mallory@example.org",
    "GIT_AUTHOR_DATE": "1000000000 +0000",
    "GIT_COMMITTER_DATE": "1000000000 +0000",
    "GIT_INDEX_FILE": "/nowhere/index.lock",
    "GIT_PREFIX": "sub/",
    "GIT_EDITOR": "false",
    "GIT_REFLOG_ACTION": "rebase",
    "GIT_GRAFT_FILE": "/nowhere",
    "GIT_SHALLOW_FILE": "/nowhere",
    "GIT_NAMESPACE": "other",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_REPLACE_REF_BASE": "refs/elsewhere/",
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_hooks_environment_changes_no_byte_of_what_is_written(make_repo, git, backend) -> None:
    here, there = make_repo("plain"), make_repo("plain")
    made = entry(locate(str(here)).form, locate(str(here)).form.root, event(7, author="Ünï Cöde <u@example.org>"))
    stored = stored_of([root(locate(str(here)).form), made])
    opened(here, backend).publish(stored, made.oid, None, "append")
    awkward = HOOK | {"TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "de"}
    for setting in ("commit.gpgsign=true", "i18n.commitEncoding=ISO-8859-1", "core.autocrlf=true", "gpg.format=ssh"):
        git("config", *setting.split("="), cwd=there)
    opened(there, backend, **awkward).publish(stored, made.oid, None, "append")
    raw = [git.run("cat-file", "commit", LOG_REF, cwd=path).stdout for path in (here, there)]
    assert raw == [made.commit, made.commit]


def test_no_variable_of_a_hook_reaches_a_child(make_repo) -> None:
    path = make_repo("plain")
    repository = locate(str(path), {**os.environ, **HOOK, "GIT_QUARANTINE_PATH": "/q", "GIT_OBJECT_DIRECTORY": ""})
    seen = repository.git("-c", "alias.env=!env", "env").decode()
    names = {line.partition("=")[0] for line in seen.splitlines()}
    leaked = names & (set(HOOK) - {"GIT_PREFIX"})  # an alias gets a prefix of its own
    assert leaked == set()
    assert "GIT_PREFIX=sub/" not in seen
    assert {"GITMEM_ACTIVE", "GIT_QUARANTINE_PATH", "GIT_COMMITTER_NAME"} <= names
    assert "LC_ALL=C\n" in seen and "GIT_TERMINAL_PROMPT=0\n" in seen and "GIT_OPTIONAL_LOCKS=0\n" in seen
    assert git_program.GUARD == "GITMEM_ACTIVE"


def test_inside_a_real_hook_the_author_is_the_committer_and_not_the_commits_author(make_repo, git) -> None:
    """`git commit --author=Mallory` sets GIT_AUTHOR_* for the hook; the one who sits there is Ada."""
    path = make_repo("plain")
    report = path.parent / "report"
    hook = path / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(exist_ok=True)
    script = (
        "import os, sys; from gitmem.store import identity; from gitmem.store.repository import locate;"
        "print(identity.author(locate()), os.environ.get('GIT_AUTHOR_NAME'))"
    )
    hook.write_text(f"#!/bin/sh\n'{sys.executable}' -c \"{script}\" >'{report}' 2>&1\n")
    hook.chmod(0o755)
    git("commit", "--quiet", "--allow-empty", "-m", "x", "--author", "Mallory <m@example.org>", cwd=path)
    assert report.read_text() == "Ada Lovelace <ada@example.org> Mallory\n"


def nameless() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))}


def test_identity_is_gits_own_cleaned_once(make_repo, git) -> None:
    path = make_repo("plain")
    assert identity.author(locate(str(path))) == "Ada Lovelace <ada@example.org>"
    without = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))
    }
    git("config", "user.name", " Bob, Jr. ", cwd=path)
    git("config", "user.email", "bob@example.org", cwd=path)
    assert identity.author(locate(str(path), without)).endswith("<bob@example.org>")
    assert identity.author(locate(str(path), without)).startswith("Bob, Jr")
    git("config", "author.name", "Robert", cwd=path)
    assert identity.author(locate(str(path), without)) == "Robert <bob@example.org>"
    odd = {**without, "GIT_AUTHOR_NAME": "a<b>c\x01", "GIT_AUTHOR_EMAIL": "x y@z"}
    assert "<" not in identity.author(locate(str(path), odd)).split(" <")[0]


def test_without_an_identity_there_is_a_sentence_and_a_hint(make_repo, git) -> None:
    path = make_repo("plain")
    git("config", "user.useConfigOnly", "true", cwd=path)
    without = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))
    }
    with pytest.raises(GitFailed) as caught:
        identity.author(locate(str(path), without))
    assert "does not know who you are" in caught.value.message and "nothing was written" in caught.value.message
    assert "\n" not in caught.value.message
    assert "user.name" in caught.value.advice and "user.email" in caught.value.advice


def test_in_a_receive_hook_the_pushed_log_is_read_and_nothing_is_appended(make_repo, git) -> None:
    """Pushed objects are in quarantine: git forbids moving refs there, libgit2 would leave a dangling one."""
    path, server = make_repo("plain"), make_repo("bare")
    pieces = grown(path, 3)
    report = server.parent / "report"
    hook = server / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    script = """
import sys
from contract.chains import entry, root, stored_of
from gitmem.errors import GitFailed
from gitmem.store.log import open_log
from gitmem.store.repository import locate
repository = locate()
log = open_log(repository, long_lived=True)
new = sys.stdin.read().split()[1]
print(type(log).__name__, log.tip(), [stored.oid for stored in log.walk(new)])
made = entry(repository.form, repository.form.root)
try:
    log.publish(stored_of([root(repository.form), made]), made.oid, None, "append")
except GitFailed as error:
    print(error.message)
"""
    (server.parent / "script.py").write_text(script)
    helpers = Path(__file__).parent.parent
    hook.write_text(
        f"#!/bin/sh\nPYTHONPATH='{helpers}' '{sys.executable}' '{server.parent}/script.py' >'{report}' 2>&1\n"
    )
    hook.chmod(0o755)
    git("push", "--quiet", server, LOG_REF, cwd=path)
    first, second = report.read_text().splitlines()
    assert first == f"PlumbingLog None {[piece.oid for piece in pieces]}"
    assert "quarantine" in second and "nothing was written" in second
    assert git("for-each-ref", "--format=%(objectname)", cwd=server) == pieces[-1].oid


def test_a_configured_lazy_hook_or_alias_can_not_redirect_our_commands(make_repo, git) -> None:
    """git ignores aliases that hide its own commands; ours must stay among those."""
    path = make_repo("plain")
    for command in ("rev-list", "cat-file", "update-ref", "unpack-objects", "for-each-ref"):
        git("config", f"alias.{command}", "!false", cwd=path)
    pieces = grown(path, 2)
    assert [stored.oid for stored in walked(opened(path))] == [piece.oid for piece in pieces]


# --- git's own housekeeping ----------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_gc_and_packed_refs_change_nothing_about_the_log(make_repo, git, backend) -> None:
    path = make_repo("plain")
    log = opened(path, backend)
    pieces = grown(path, 3)
    assert log.tip() == pieces[-1].oid
    git("gc", "--quiet", "--prune=now", cwd=path)
    assert not (path / ".git" / LOG_REF).exists()
    assert log.tip() == pieces[-1].oid
    assert [stored.files for stored in walked(log)] == [piece.files for piece in pieces]
    made = appended(log, pieces[-1].oid)
    assert log.tip() == opened(path).tip() == made.oid
    assert [stored.oid for stored in walked(log, pieces[-1].oid)] == [made.oid]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_long_lived_log_sees_what_others_appended_and_packed(make_repo, git, backend) -> None:
    path = make_repo("plain")
    log = opened(path, backend)
    pieces = grown(path, 1)
    tip = pieces[-1].oid
    for number in range(6):
        made = appended(opened(path, BACKENDS[number % 2]), tip)
        if number % 2:
            git("repack", "-adq", cwd=path)
            git("pack-refs", "--all", cwd=path)
        assert log.tip() == made.oid
        assert [stored.files for stored in walked(log, tip)] == [made.files]
        tip = made.oid


def test_wall_clocks_that_run_backwards_do_not_confuse_a_walk(make_repo) -> None:
    """rev-list walks by commit dates first; a parent from the future must still come before its child."""
    path = make_repo("plain")
    form = locate(str(path)).form
    pieces = [root(form)]
    for number, year in enumerate(("2099", "1970", "2050", "1971", "2026", "1999")):
        made = event(500 + number, recorded_at=f"{year}-01-02T03:04:05.000000Z")
        pieces.append(entry(form, pieces[-1].oid, made))
    side = entry(form, pieces[2].oid, event(600, recorded_at="1980-01-01T00:00:00.000000Z"))
    joined = join(form, pieces[-1].oid, side.oid)
    log = opened(path)
    log.publish(stored_of([*pieces, side, joined]), joined.oid, None, "append")
    for known in ((), (pieces[3].oid,), (side.oid,), (pieces[1].oid, side.oid)):
        found = walked(log, *known)
        place = {stored.oid: number for number, stored in enumerate(found)}
        for stored in found:
            assert all(place[parent] < place[stored.oid] for parent in stored.parents if parent in place)
    assert [stored.oid for stored in walked(log, pieces[-1].oid)] == [side.oid, joined.oid]
    assert len(walked(log)) == 9


def test_a_ref_below_the_logs_name_is_reported_as_what_it_is(make_repo, git) -> None:
    path = make_repo("plain")
    git("update-ref", LOG_REF + "/below", "HEAD", cwd=path)
    for backend in BACKENDS:
        log = opened(path, backend)
        assert log.tip() is None
        with pytest.raises(GitFailed) as caught:
            appended(log, None)
        assert "nothing was appended" in caught.value.message
    git("update-ref", "-d", LOG_REF + "/below", cwd=path)
    assert appended(opened(path), None).oid == opened(path).tip()


def test_a_tag_or_another_branch_is_not_touched_by_an_append(make_repo, git) -> None:
    path = make_repo("plain")
    git("tag", "v1", cwd=path)
    before = git("for-each-ref", cwd=path), git("status", "--porcelain", "-uall", cwd=path)
    grown(path, 2)
    after = git("for-each-ref", "--exclude=refs/decisions", cwd=path) if _knows_exclude(git, path) else None
    lines = [line for line in git("for-each-ref", cwd=path).splitlines() if LOG_REF not in line]
    assert "\n".join(lines) == before[0] and after in (None, before[0])
    assert git("status", "--porcelain", "-uall", cwd=path) == before[1]


def _knows_exclude(git, path: Path) -> bool:
    return git.run("for-each-ref", "--exclude=x", cwd=path, check=False).returncode == 0


def test_names_of_authors_are_written_as_they_were_cleaned_and_no_other_way(make_repo, git) -> None:
    """git, fast-import and libgit2 clean a name in three ways; raw bytes come through all of them alike."""
    for backend in BACKENDS:
        path = make_repo("plain")
        form = locate(str(path)).form
        names = [".Bob.", "Bob, Jr.", "\"Q\" 'x'", "Bob;", "Ünï Cöde", "x" * 200]
        pieces = [root(form)]
        for number, name in enumerate(names):
            pieces.append(entry(form, pieces[-1].oid, event(700 + number, author=f"{name} <a@b>")))
        opened(path, backend).publish(stored_of(pieces), pieces[-1].oid, None, "append")
        for piece, name in zip(pieces[1:], names, strict=True):
            raw = git.run("cat-file", "commit", piece.oid, cwd=path).stdout
            assert raw == piece.commit and f"author {name} <a@b> ".encode() in raw
        git("fsck", "--strict", "--no-dangling", cwd=path)


def test_the_log_passes_the_checks_of_a_strict_server(make_repo, git) -> None:
    path, server = make_repo("plain"), make_repo("bare")
    git("config", "receive.fsckObjects", "true", cwd=server)
    pieces = grown(path, 3)
    more = of_files(locate(str(path)).form, pieces[-1].oid, {"note": b"x"})
    opened(path).publish(more.objects, more.oid, pieces[-1].oid, "append")
    git("push", "--quiet", server, LOG_REF, cwd=path)
    assert git("rev-parse", LOG_REF, cwd=server) == more.oid


def test_a_process_that_git_started_for_us_knows_that_it_is_ours(make_repo) -> None:
    """The guard against a hook that starts gitmem, which starts git, which starts the hook."""
    path = make_repo("plain")
    hook = path / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho \"$GITMEM_ACTIVE\" >'{path.parent}/seen'\n")
    hook.chmod(0o755)
    locate(str(path)).git("update-ref", "refs/heads/new", "HEAD")
    assert (path.parent / "seen").read_text() == "1\n"
    subprocess.run(["git", "update-ref", "refs/heads/newer", "HEAD"], cwd=path, check=True)
    assert (path.parent / "seen").read_text() == "\n"
