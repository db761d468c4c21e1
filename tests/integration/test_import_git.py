"""Reverts in real histories become drafts: the attempt and what took it back, file by file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem.core import approach, events, fingerprint, verdicts
from gitmem.core.drafts import Draft
from gitmem.errors import Usage
from gitmem.importers import git as importer
from gitmem.importers import git_diffs, git_reverts
from gitmem.importers.git import source_of

CODE = [f"rows_{i} = cache.load(order_{i}, limit={i})" for i in range(40)]
CACHE = "\n".join(CODE[:10]) + "\n"


class Project:
    """A repository whose history a test writes commit by commit, a minute apart from 2020-01-01T00:00:00Z on."""

    def __init__(self, place: Path, git: Any) -> None:
        self.place = place
        self._git = git
        self.time = 1577836800

    def git(self, *args: str, **more: Any) -> str:
        return str(self._git(*args, cwd=self.place, **more))

    def write(self, path: str, text: str) -> None:
        file = self.place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def commit(self, message: str, files: dict[str, str | None] | None = None, *, at: int | None = None) -> str:
        """Commit `files` (None: deleted) under `message`; returns the commit's id."""
        for path, text in (files or {}).items():
            if text is None:
                (self.place / path).unlink()
            else:
                self.write(path, text)
        self.git("add", "--all")
        self.git(
            "commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-F", "-", input=message, env=self._dated(at)
        )
        return self.git("rev-parse", "HEAD")

    def revert(self, commit: str, reason: str = "", *options: str, at: int | None = None) -> str:
        """Revert as git does, with its own message and then `reason`."""
        self.git("revert", "--no-edit", *options, commit, env=self._dated(at))
        if reason:
            message = self.git("log", "-1", "--format=%B") + f"\n{reason}\n"
            self.git("commit", "--quiet", "--amend", "-F", "-", input=message, env=self._dated(at or self.time))
        return self.git("rev-parse", "HEAD")

    def _dated(self, at: int | None) -> dict[str, str]:
        if at is None:
            self.time += 60
            at = self.time
        return {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"}

    def read(self, **options: Any) -> tuple[list[dict[str, Any]], Any]:
        return read(self.place, **options)


def read(place: Path, **options: Any) -> tuple[list[dict[str, Any]], Any]:
    """The fields of all drafts, each checked against the format, and the summary."""
    reading = importer.read(str(place), **options)
    found = []
    for draft in reading:
        assert isinstance(draft, Draft)
        assert draft.kind == "change"
        found.append(check(dict(draft.fields)))
    assert reading.summary.drafts == len(found)
    return found, reading.summary


def event(fields: dict[str, Any], number: int) -> events.Event:
    """The event that a draft becomes in a log that has no other on its lineage."""
    common: dict[str, Any] = {"v": 1, "kind": "change", "clock": number, "nonce": f"{number:032x}", "after": []}
    common |= {"recorded_at": "2026-01-01T00:00:00.000000Z", "author": "Ada <ada@example.org>", "tool": "test"}
    return events.build(common | {"channel": "import"} | fields)[0]


def verdicts_of(drafts: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """(entity, approach) -> verdict, of the drafts appended in any order (here: the newest first)."""
    made = [event(fields, number) for number, fields in enumerate(reversed(drafts), 1)]
    return {(d.entity_path, d.approach): d.verdict for d in verdicts.judge(made).decisions()}


def check(fields: dict[str, Any]) -> dict[str, Any]:
    event(fields, 1)
    assert approach.key(fields["approach"])
    assert fields["basis"] == "evidence"
    return fields


def brief(drafts: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(d["change_type"], d["entity_path"], d["approach"]) for d in drafts]


def skipped(summary: Any) -> dict[str, int]:
    return {reason: entry.count for reason, entry in summary.skipped.items()}


@pytest.fixture
def project(make_repo: Any, git: Any) -> Project:
    return Project(make_repo("plain"), git)


# --- what a revert becomes -----------------------------------------------------------------------


def test_a_revert_becomes_the_attempt_and_what_took_it_back(project: Project) -> None:
    attempt = project.commit("Cache rows (#12)\n\nLoading was slow.\n", {"src/rows.py": CACHE})
    revert = project.revert(attempt, "It served stale rows.")
    drafts, summary = project.read()
    assert drafts == [
        {
            "scope": "",
            "entity_path": "src/rows.py",
            "entity_type": "file",
            "change_type": "add",
            "approach": "Cache rows",
            "reasoning": "Cache rows (#12)\n\nLoading was slow.",
            "valid_from": "2020-01-01T00:01:00.000000Z",
            "evidence": [f"commit:{attempt}", "author:Ada Lovelace <ada@example.org>"],
            "basis": "evidence",
            "source": source_of(f"git:{attempt}", "src/rows.py"),
        },
        {
            "scope": "",
            "entity_path": "src/rows.py",
            "entity_type": "file",
            "change_type": "revert",
            "approach": "Cache rows",
            "reasoning": "It served stale rows.",
            "valid_from": "2020-01-01T00:02:00.000000Z",
            "evidence": [f"commit:{revert}", f"reverts:{attempt}", "author:Ada Lovelace <ada@example.org>"],
            "basis": "evidence",
            "source": source_of(f"git:{revert}", "src/rows.py"),
            "fingerprint": fingerprint.sketch(CODE[:10]),
        },
    ]
    assert (summary.commits, summary.reverts, summary.again, summary.skipped) == (3, 1, 0, {})


def test_a_revert_without_a_reason_says_so_in_words(project: Project) -> None:
    project.revert(project.commit("Cache rows", {"rows.py": CACHE}))
    drafts, _ = project.read()
    assert drafts[1]["reasoning"] == "Reverted without a stated reason."


def test_an_attempt_on_a_file_that_was_there_is_a_modify_and_its_fingerprint_leaves_out_what_it_moved(
    project: Project,
) -> None:
    project.commit("Rows", {"rows.py": "\n".join(CODE[:3]) + "\n", "old.py": CODE[20] + "\n"})
    attempt = project.commit(
        "Cache rows", {"rows.py": "\n".join([*CODE[3:6], *CODE[:2], CODE[20]]) + "\n", "old.py": ""}
    )
    project.revert(attempt)
    drafts, _ = project.read()
    assert brief(drafts)[2:] == [("modify", "rows.py", "Cache rows"), ("revert", "rows.py", "Cache rows")]
    assert drafts[3]["fingerprint"] == fingerprint.sketch(CODE[3:6])


def test_only_files_that_went_back_are_reverted(project: Project) -> None:
    project.commit("Begin", {"log.md": "# Log\n"})
    attempt = project.commit(
        "Cache rows", {"rows.py": CACHE, "more.py": CACHE, "log.md": "# Log\nWe cache all rows now.\n"}
    )
    files = {"rows.py": None, "log.md": "# Log\nWe cache all rows now.\nNo, we do not cache rows.\n", "other.py": CACHE}
    project.commit(f'Revert "Cache rows"\n\nThis reverts commit {attempt}.', files)
    drafts, _ = project.read()
    assert brief(drafts) == [("add", "rows.py", "Cache rows"), ("revert", "rows.py", "Cache rows")]


def test_a_file_renamed_since_is_found_by_its_lines(project: Project) -> None:
    project.commit("Begin", {"rows.py": "\n".join(CODE[20:]) + "\n"})
    attempt = project.commit("Cache rows", {"rows.py": "\n".join(CODE[20:]) + "\n" + CACHE})
    project.commit("Move", {"rows.py": None, "db/rows.py": "\n".join(CODE[20:]) + "\n" + CACHE})
    project.commit(f"Go back\n\nThis reverts commit {attempt}.", {"db/rows.py": "\n".join(CODE[20:]) + "\n"})
    drafts, _ = project.read()
    assert brief(drafts) == [("modify", "db/rows.py", "Cache rows"), ("revert", "db/rows.py", "Cache rows")]
    assert drafts[1]["fingerprint"] == fingerprint.sketch(CODE[:10])


def test_several_abbreviated_ids_in_one_message_are_told_apart(project: Project) -> None:
    one = project.commit("Cache rows", {"rows.py": CACHE})
    two = project.commit("Log rows", {"rows.py": CACHE + CODE[30] + "\n"})
    revert = project.commit(f"Go back\n\nThis reverts commits {one[:9]} and {two[:9]}: too much.", {"rows.py": None})
    drafts, _ = project.read()
    assert brief(drafts) == [
        ("add", "rows.py", "Cache rows"),
        ("revert", "rows.py", "Cache rows"),
        ("modify", "rows.py", "Log rows"),
        ("revert", "rows.py", "Log rows"),
    ]
    assert [d["source"] for d in drafts if d["change_type"] == "revert"] == [
        source_of(f"git:{revert}/{one}", "rows.py"),
        source_of(f"git:{revert}/{two}", "rows.py"),
    ]
    assert drafts[3]["reasoning"] == "Go back\n\ntoo much."


def test_a_reverted_merge_is_what_it_brought_in(project: Project) -> None:
    project.commit("Begin", {"a.py": "begin_all_things()\n"})
    project.git("checkout", "--quiet", "-b", "side")
    project.commit("Cache rows", {"rows.py": CACHE})
    project.commit("Use the cache", {"use.py": CODE[30] + "\n"})
    project.git("checkout", "--quiet", "main")
    project.commit("Meanwhile", {"a.py": "begin_all_things()\nmeanwhile_do_others()\n"})
    project.git("merge", "--quiet", "--no-ff", "-m", "Merge pull request #7 from ada/cache\n\nCache all rows", "side")
    revert = project.revert("HEAD", "", "-m", "1")
    assert "reversing" in project.git("log", "-1", "--format=%B")
    drafts, _ = project.read()
    assert brief(drafts) == [
        ("add", "rows.py", "Cache all rows"),
        ("revert", "rows.py", "Cache all rows"),
        ("add", "use.py", "Cache all rows"),
        ("revert", "use.py", "Cache all rows"),
    ]
    assert drafts[1]["source"] == source_of(f"git:{revert}", "rows.py")


def test_a_merge_that_speaks_of_a_revert_is_counted_once_with_the_revert(project: Project) -> None:
    attempt = project.commit("Cache rows", {"rows.py": CACHE})
    project.git("checkout", "--quiet", "-b", "side")
    project.revert(attempt)
    project.git("checkout", "--quiet", "main")
    project.commit("Meanwhile", {"a.py": CODE[30]})
    project.git("merge", "--quiet", "--no-ff", "-m", f"Merge the revert\n\nThis reverts commit {attempt}.", "side")
    drafts, summary = project.read()
    assert brief(drafts) == [("add", "rows.py", "Cache rows"), ("revert", "rows.py", "Cache rows")]
    assert skipped(summary) == {"merges that speak of a revert, which is in their history": 1}


def test_the_first_commit_of_all_can_be_reverted(make_repo: Any, git: Any) -> None:
    project = Project(make_repo("empty"), git)
    attempt = project.commit("Cache rows", {"rows.py": CACHE})
    project.commit(f'Revert "Cache rows"\n\nThis reverts commit {attempt}.', {"rows.py": None})
    assert brief(project.read()[0]) == [("add", "rows.py", "Cache rows"), ("revert", "rows.py", "Cache rows")]


# --- which commit is meant ------------------------------------------------------------------------


def test_a_subject_alone_means_the_newest_ancestor_that_has_it(project: Project) -> None:
    project.commit("Tidy", {"a.py": CACHE})
    newest = project.commit("Tidy", {"b.py": CACHE + CODE[30] + "\n"})
    project.git("checkout", "--quiet", "-b", "side")
    project.commit("Tidy", {"c.py": CACHE})
    project.git("checkout", "--quiet", "main")
    revert = project.commit('Revert "Tidy"', {"b.py": None})
    project.git("merge", "--quiet", "--no-ff", "-m", "Merge side", "side")
    drafts, _ = project.read()
    assert [d["source"] for d in drafts] == [source_of(f"git:{newest}", "b.py"), source_of(f"git:{revert}", "b.py")]


def test_of_several_with_one_subject_the_one_whose_lines_go_back_is_meant(project: Project) -> None:
    older = project.commit("Tidy", {"a.py": CACHE})
    project.commit("Tidy", {"b.py": CACHE + CODE[30] + "\n"})
    project.commit('Revert "Tidy"', {"a.py": None})
    drafts, _ = project.read()
    assert drafts[0]["source"] == source_of(f"git:{older}", "a.py")


def test_a_forges_revert_by_number_finds_the_squashed_commit(project: Project) -> None:
    attempt = project.commit("Cache all rows of orders (#12)", {"rows.py": CACHE})
    project.commit("Other (#13)", {"other.py": CACHE})
    project.commit('Revert "Cache all rows" (#14)\n\nReverts acme/shop#12', {"rows.py": None})
    drafts, _ = project.read()
    assert drafts[0]["source"] == source_of(f"git:{attempt}", "rows.py")
    assert drafts[1]["approach"] == "Cache all rows of orders"


def test_a_revert_whose_commit_is_not_in_its_history_stands_by_its_own_lines(project: Project) -> None:
    project.commit("Begin", {"rows.py": CACHE, "other.py": CODE[30] + "\n"})
    revert = project.commit(f'Revert "Cache rows"\n\nThis reverts commit {"12ab" * 10}.', {"rows.py": None})
    drafts, _ = project.read()
    assert brief(drafts) == [("revert", "rows.py", "Cache rows")]
    assert drafts[0]["evidence"][:2] == [f"commit:{revert}", f"reverts:{'12ab' * 10}"]
    assert drafts[0]["fingerprint"] == fingerprint.sketch(CODE[:10])


def test_a_commit_on_a_branch_that_head_does_not_reach_is_not_read(project: Project) -> None:
    attempt = project.commit("Cache rows", {"rows.py": CACHE})
    project.git("checkout", "--quiet", "-b", "side")
    project.revert(attempt)
    assert len(project.read()[0]) == 2
    project.git("checkout", "--quiet", "main")
    assert project.read()[0] == []


def test_an_abbreviation_that_fits_several_commits_is_counted_not_guessed(project: Project) -> None:
    # Two ids with seven digits in common need a search; the pass over the history is asked directly.
    attempt = project.commit("Cache rows", {"rows.py": CACHE})
    from gitmem.importers.git_history import History
    from gitmem.importers.git_process import Place
    from gitmem.importers.git_summary import Summary

    project.commit(f"Go back\n\nThis reverts commit {attempt[:7]}.", {"rows.py": None})
    place = Place(None, str(project.place))
    history = History(place)
    history.read(lambda done: None)
    (revert,) = history.reverts
    revert.named[0] *= 2
    diffs, summary = git_diffs.Diffs(place), Summary()
    try:
        assert git_reverts.Reverts(history, diffs, frozenset(), summary).of(revert) == []
    finally:
        diffs.close()
    assert skipped(summary) == {"abbreviated ids that fit several commits": 1}


# --- landing again ---------------------------------------------------------------------------------


def _times(drafts: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(d["change_type"], d["valid_from"][11:]) for d in drafts]


def test_a_revert_of_a_revert_lands_the_first_attempt_again_and_so_on(project: Project) -> None:
    attempt = project.commit("Cache rows", {"rows.py": CACHE})
    first = project.revert(attempt)
    second = project.revert(first, "The cache is right now.")
    third = project.revert(second)
    drafts, summary = project.read()
    assert brief(drafts) == [
        ("add", "rows.py", "Cache rows"),
        ("revert", "rows.py", "Cache rows"),
        ("add", "rows.py", "Cache rows"),
        ("revert", "rows.py", "Cache rows"),
    ]
    assert [d["source"] for d in drafts] == [
        source_of(f"git:{oid}", "rows.py") for oid in (attempt, first, second, third)
    ]
    trail = [verdicts_of(drafts[:length])["rows.py", "Cache rows"] for length in (1, 2, 3, 4)]
    assert trail == ["active", "reverted", "active", "reverted"]
    assert drafts[2]["evidence"][:2] == [f"commit:{second}", f"reverts:{first}"]
    assert drafts[2]["reasoning"] == "The cache is right now."
    assert drafts[3]["fingerprint"] == fingerprint.sketch(CODE[:10])
    assert (summary.reverts, summary.again) == (2, 1)


@pytest.mark.parametrize(
    "message", ['Reapply "Cache rows"', 'Reland "Cache rows" (#15)', 'Revert "Revert "Cache rows""']
)
def test_landing_again_by_subject_alone(project: Project, message: str) -> None:
    project.revert(project.commit("Cache rows", {"rows.py": CACHE}))
    project.commit(message, {"rows.py": CACHE})
    drafts, _ = project.read()
    assert [d["change_type"] for d in drafts] == ["add", "revert", "add"]
    assert {d["approach"] for d in drafts} == {"Cache rows"}


def test_the_same_lines_under_the_same_subject_landed_again(project: Project) -> None:
    attempt = project.commit("Cache rows", {"rows.py": CACHE})
    project.revert(attempt)
    other = project.commit("Cache rows", {"rows.py": "\n".join(CODE[30:]) + "\n"})
    again = project.commit("Cache rows (#16)", {"rows.py": CACHE + CODE[20] + "\n"})
    drafts, summary = project.read()
    assert [d["source"] for d in drafts][2:] == [source_of(f"git:{again}", "rows.py")]
    assert other not in str(drafts)
    assert drafts[2]["evidence"][:2] == [f"commit:{again}", f"repeats:{attempt}"]
    assert drafts[2]["change_type"] == "modify"
    assert summary.again == 1


def test_the_same_change_on_a_parallel_branch_did_not_land_again(project: Project) -> None:
    attempt = project.commit("Cache rows", {"rows.py": CACHE})
    project.git("checkout", "--quiet", "-b", "stable", "HEAD~1")
    project.git("checkout", "--quiet", "main")
    project.revert(attempt)
    project.git("checkout", "--quiet", "stable")
    project.commit("Cache rows", {"rows.py": CACHE})
    project.git("checkout", "--quiet", "main")
    project.git("merge", "--quiet", "--no-ff", "-s", "ours", "-m", "Merge stable", "stable")
    assert [d["change_type"] for d in project.read()[0]] == ["add", "revert"]


def test_in_one_second_and_under_wrong_clocks_what_acts_on_something_is_later_than_it(project: Project) -> None:
    attempt = project.commit("Cache rows", {"rows.py": CACHE}, at=1577880000)
    first = project.revert(attempt, at=1577880000)
    second = project.revert(first, at=1577870000)
    project.revert(second, at=1577890000)
    assert _times(project.read()[0]) == [
        ("add", "12:00:00.000000Z"),
        ("revert", "12:00:00.000001Z"),
        ("add", "12:00:00.000002Z"),
        ("revert", "14:46:40.000000Z"),
    ]
    assert list(verdicts_of(project.read()[0][:3]).values()) == ["active"]


# --- what is no revert -------------------------------------------------------------------------------


def test_a_deleted_file_is_no_verdict(project: Project) -> None:
    project.commit("Cache rows", {"rows.py": CACHE})
    project.commit("Drop the dead module", {"rows.py": None})
    drafts, summary = project.read()
    assert drafts == []
    assert summary.skipped == {}
    project.revert("HEAD")
    assert brief(project.read()[0]) == [
        ("modify", "rows.py", "Drop the dead module"),
        ("revert", "rows.py", "Drop the dead module"),
    ]


def test_messages_that_only_speak_of_reverting_make_nothing(project: Project) -> None:
    attempt = project.commit("Cache rows", {"rows.py": CACHE})
    project.commit("Add a revert button", {"button.py": CODE[30]})
    project.commit("revert: fix a leak", {"rows.py": None})
    project.commit(f"Fix\n\nCommit {'12ab' * 10} reverts commit {attempt}.", {"x.py": CODE[31]})
    drafts, summary = project.read()
    assert drafts == []
    assert summary.skipped == {}


def test_a_squashed_branch_that_carries_the_message_of_a_revert_reverts_nothing(project: Project) -> None:
    attempt = project.commit("Cache rows", {"rows.py": CACHE})
    project.commit(
        f'Feature (#9)\n\n* Try\n\n* Revert "Try"\n\n  This reverts commit {"12ab" * 10}.', {"f.py": CODE[30]}
    )
    project.commit(f"More (#10)\n\nThis reverts commit {attempt}.", {"g.py": CODE[31]})
    drafts, summary = project.read()
    assert drafts == []
    assert skipped(summary) == {
        "reverted commits that are not in the history of the revert": 1,
        "commits whose lines don't go back in the one that says it reverts them": 1,
    }


def test_what_is_left_out_is_counted_by_reason_and_named(project: Project) -> None:
    attempt = project.commit("Cache rows", {"rows.py": CACHE})
    project.commit(f"Part\n\nThis partially reverts commit {attempt}.", {"rows.py": "\n".join(CODE[:9])})
    range_ = project.commit(f"Range\n\nThis reverts commits {attempt[:8]}..{attempt[:9]}.", {"y.py": CODE[33]})
    empty = project.commit(f'Revert "Cache rows"\n\nThis reverts commit {attempt}.')
    drafts, summary = project.read()
    assert drafts == []
    assert skipped(summary) == {
        "reverts of a part only, by their own words": 1,
        "ranges of commits in a message": 1,
        "reverts that change nothing": 1,
    }
    assert summary.skipped["reverts that change nothing"].examples == [f'{empty[:12]} Revert "Cache rows"']
    assert summary.skipped["ranges of commits in a message"].examples[0].startswith(f"{range_[:12]} Range: ")


# --- entities ------------------------------------------------------------------------------------------


def test_lock_files_and_vendored_ones_are_left_out_and_counted(project: Project) -> None:
    attempt = project.commit("Use left-pad", {"yarn.lock": CACHE, "vendor/pad.js": CACHE, "package.json": CACHE})
    project.revert(attempt)
    drafts, summary = project.read()
    assert {d["entity_path"] for d in drafts} == {"package.json"}
    assert skipped(summary) == {"lock, generated or vendored files": 2}


def test_paths_that_can_not_name_an_entity_are_counted_and_the_others_read(project: Project) -> None:
    names = {"two\nlines.py": CACHE, "a::b.py": CACHE, " blank.py": CACHE, 'tab\t"q".py': CACHE, "é ü.py": CACHE}
    project.revert(project.commit("Cache rows", names))
    drafts, summary = project.read()
    assert {d["entity_path"] for d in drafts} == {"é ü.py"}
    assert sum(skipped(summary).values()) == 4
    assert any("'two\\nlines.py'" in example for entry in summary.skipped.values() for example in entry.examples)


def test_a_path_that_is_not_utf_8_is_kept_readable(project: Project) -> None:
    name = os.fsencode(project.place) + b"/caf\xe9.py"
    with open(name, "w") as file:
        file.write(CACHE)
    project.revert(project.commit("Cache rows"))
    drafts, summary = project.read()
    assert {d["entity_path"] for d in drafts} == {"caf\ufffd.py"}
    assert drafts[1]["fingerprint"] == fingerprint.sketch(CODE[:10])
    assert skipped(summary) == {"paths that are not UTF-8, kept with replacement characters": 1}


def test_of_a_commit_with_very_many_files_the_first_are_taken_and_the_rest_is_counted(project: Project) -> None:
    project.revert(project.commit("Cache rows", {f"rows/{i:03}.py": f"{CODE[0]} # {i}\n" for i in range(60)}))
    drafts, summary = project.read()
    assert len(drafts) == 2 * git_reverts.ENTITIES_MAX
    assert skipped(summary) == {"files beyond the first 50 of a commit": 10}
    assert "rows/050.py" in next(iter(summary.skipped.values())).examples[0]


def test_binary_files_and_modes_go_back_too_without_a_fingerprint(project: Project) -> None:
    (project.place / "logo.png").write_bytes(b"\x89PNG\0\0" * 20)
    project.commit("Logo", {"run.sh": CACHE})
    (project.place / "logo.png").write_bytes(b"\x89PNG\0\1" * 20)
    (project.place / "run.sh").chmod(0o755)
    project.revert(project.commit("New logo"))
    drafts, _ = project.read()
    assert brief(drafts) == [
        ("modify", "logo.png", "New logo"),
        ("revert", "logo.png", "New logo"),
        ("modify", "run.sh", "New logo"),
        ("revert", "run.sh", "New logo"),
    ]
    assert not any("fingerprint" in d for d in drafts)


def test_a_submodule_is_counted(project: Project, make_repo: Any) -> None:
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(make_repo("plain")), "lib")
    project.revert(project.commit("Use a submodule", {"rows.py": CACHE}))
    drafts, summary = project.read()
    assert {d["entity_path"] for d in drafts} == {"rows.py", ".gitmodules"}
    assert skipped(summary) == {"submodules": 1}


def test_tables_and_columns_that_a_revert_takes_away_are_entities(project: Project) -> None:
    project.commit("Begin", {"schema.sql": "CREATE TABLE users (id int);\n"})
    files: dict[str, str | None] = {
        "schema.sql": "CREATE TABLE users (id int, card_token text);\n",
        "db/2.sql": "CREATE TABLE IF NOT EXISTS public.cards (id int);\n",
    }
    attempt = project.commit("Store the card's token", files)
    reverted: dict[str, str | None] = {"schema.sql": "CREATE TABLE users (id int);\n", "db/2.sql": None}
    reverted["db/3.sql"] = "ALTER TABLE IF EXISTS ONLY users DROP COLUMN IF EXISTS legacy;\n"
    message = f'Revert "Store the card\'s token"\n\nThis reverts commit {attempt}.'
    first = project.commit(message, reverted)
    drafts, _ = project.read()
    named = [(d["change_type"], d["entity_path"], d["entity_type"]) for d in drafts if d["entity_type"] != "file"]
    assert sorted(named) == [
        ("add", "cards", "table"),
        ("add", "users.card_token", "column"),
        ("revert", "cards", "table"),
        ("revert", "users.card_token", "column"),
        ("revert", "users.legacy", "column"),
    ]
    again = project.revert(first)
    landed = [d["entity_path"] for d in project.read()[0] if d["source"].startswith(f"git:{again}")]
    assert "users.card_token" in landed
    assert "cards" in landed


# --- odd histories ----------------------------------------------------------------------------------------


def _raw_commit(
    project: Project, message: bytes, *, date: str = "1577900000 +0000", header: bytes = b"", name: bytes = b"Ada"
) -> str:
    """Commit the index with bytes that git itself would not write, and put HEAD there."""
    tree = project.git("write-tree")
    parent = project.git("rev-parse", "HEAD")
    who = name + b" <ada@example.org> " + date.encode()
    data = (
        f"tree {tree}\nparent {parent}\n".encode()
        + b"author "
        + who
        + b"\ncommitter "
        + who
        + b"\n"
        + header
        + b"\n"
        + message
    )
    oid = project.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", input=data)
    project.git("update-ref", "HEAD", oid)
    return oid


def test_messages_in_other_encodings_are_read(project: Project) -> None:
    project.write("rows.py", CACHE)
    project.git("add", "rows.py")
    attempt = _raw_commit(
        project, "Größe".encode("latin-1"), header=b"encoding ISO-8859-1\n", name="Zoë".encode("latin-1")
    )
    project.git("rm", "--quiet", "rows.py")
    message = b'Revert "Gr\xf6\xdfe"\n\nThis reverts commit ' + attempt.encode() + b".\n\nCaf\xe9 not found."
    _raw_commit(project, message, name=b"Zo\xeb")  # says that it is UTF-8, and isn't
    drafts, summary = project.read()
    assert [d["approach"] for d in drafts] == ["Größe", "Größe"]
    assert drafts[0]["evidence"][-1] == "author:Zoë <ada@example.org>"
    assert drafts[1]["reasoning"] == "Caf\ufffd not found."
    assert drafts[1]["evidence"][-1] == "author:Zo\ufffd <ada@example.org>"
    assert skipped(summary) == {"messages that are not UTF-8, kept with replacement characters": 1}


@pytest.mark.parametrize(
    ("date", "expected"),
    [("99999999999999 +0000", "9999-12-31T23:59:59.000000Z"), ("nonsense", "2020-01-01T00:01:00.000001Z")],
)
def test_dates_that_the_format_can_not_hold_are_moved_and_counted(project: Project, date: str, expected: str) -> None:
    attempt = project.commit("Cache rows", {"rows.py": CACHE})
    project.git("rm", "--quiet", "rows.py")
    _raw_commit(project, f"Go back\n\nThis reverts commit {attempt}.".encode(), date=date)
    drafts, summary = project.read()
    assert drafts[1]["valid_from"] == expected
    assert skipped(summary) == {"dates outside of 1970-9999, moved to the nearest": 1}


def test_a_subject_that_says_nothing_is_told_by_its_commit(project: Project) -> None:
    attempt = project.commit("...", {"rows.py": CACHE})
    project.revert(attempt)
    nameless = _raw_commit(project, b"") if project.git("rm", "-q", "readme") == "" else ""
    project.revert(nameless)
    drafts, _ = project.read()
    assert drafts[0]["approach"] == f"... (commit {attempt[:12]})"
    assert drafts[2]["approach"] == f"(commit {nameless[:12]})"


_IN_A_PROCESS = """
import json, sys
from gitmem.importers import git
reading = git.read(sys.argv[1])
drafts = [draft.fields for draft in reading]
skipped = {reason: entry.count for reason, entry in reading.summary.skipped.items()}
status = dict(line.split(":", 1) for line in open("/proc/self/status"))  # rusage has the parent's peak in it
print(json.dumps([drafts, skipped, int(status["VmHWM"].split()[0]) // 1024]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peak memory is read from /proc")
def test_a_very_long_line_and_a_very_long_diff_take_bounded_memory_and_the_next_commit_is_read(
    project: Project,
) -> None:
    huge = "\n".join(f"row {i} of the table = {i * 7919}" for i in range(git_diffs.LINES_MAX + 50_000))
    project.revert(project.commit("Huge", {"huge.txt": huge, "line.txt": "x = cached_row(1); " * 4_000_000}))
    project.revert(project.commit("Cache rows", {"rows.py": CACHE}))
    command = [sys.executable, "-c", _IN_A_PROCESS, str(project.place)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    drafts, left_out, peak_mb = json.loads(done.stdout)
    assert [d for d in brief(drafts) if d[2] == "Cache rows"] == [
        ("add", "rows.py", "Cache rows"),
        ("revert", "rows.py", "Cache rows"),
    ]
    made = next(d["fingerprint"] for d in drafts if d["entity_path"] == "huge.txt" and d["change_type"] == "revert")
    assert len(made["hashes"]) == fingerprint.HASHES_MAX
    assert fingerprint.share(made, huge.splitlines()) == 100
    assert left_out == {"commits of which only the beginning was looked at (more than 400,000 lines)": 2}
    assert peak_mb < 64  # the two files have 90 MB


def test_objects_that_are_missing_cost_their_own_commit_only(project: Project) -> None:
    lost = project.commit("Lost", {"lost.py": CACHE})
    blob = project.git("rev-parse", "HEAD:lost.py")
    project.revert(lost)
    project.revert(project.commit("Cache rows", {"rows.py": CACHE + CODE[30] + "\n"}))
    (project.place / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    drafts, summary = project.read()
    assert {d["entity_path"] for d in drafts} == {"rows.py"}
    assert skipped(summary) == {"commits whose changes git can't read": 1}


def test_grafts_replace_refs_and_the_users_settings_change_nothing(project: Project) -> None:
    attempt = project.commit("Cache rows", {"rows.py": CACHE, "gr\u00f6\u00dfe.py": CACHE})
    other = project.commit("Other", {"other.py": CACHE})
    project.revert(attempt)
    before = project.read()[0]
    project.git("replace", attempt, other)
    (project.place / ".git" / "info").mkdir(exist_ok=True)
    (project.place / ".git" / "info" / "grafts").write_text(f"{other}\n")
    for setting in (
        "log.showSignature=true",
        "format.pretty=oneline",
        "color.ui=always",
        "diff.noprefix=true",
        "diff.mnemonicPrefix=true",
        "diff.renames=copies",
        "diff.external=false",
        "diff.algorithm=patience",
        "diff.context=20",
        "diff.submodule=log",
        "core.quotePath=true",
        "i18n.logOutputEncoding=latin1",
        "log.mailmap=true",
    ):
        project.git("config", *setting.split("="))
    assert project.read()[0] == before


def test_a_shallow_clone_says_that_history_is_incomplete(project: Project, git: Any, tmp_path: Path) -> None:
    project.commit("Begin", {"begin.py": CODE[30] + "\n"})
    attempt = project.commit("Cache rows", {"rows.py": CACHE})
    project.commit("Other", {"other.py": CODE[31] + "\n"})
    revert = project.revert(attempt)
    for depth, expected in ((1, []), (2, ["revert"]), (3, ["revert"]), (4, ["add", "revert"])):
        clone = tmp_path / f"shallow-{depth}"
        git("clone", "--quiet", f"--depth={depth}", project.place.as_uri(), clone, cwd=tmp_path)
        drafts, summary = read(clone)
        assert [d["change_type"] for d in drafts] == expected, depth
        assert len(summary.warnings) == 1
        assert "shallow" in summary.warnings[0]
        if drafts:
            assert drafts[-1]["source"] == source_of(f"git:{revert}", "rows.py")
            assert drafts[-1]["approach"] == "Cache rows"
    assert skipped(read(tmp_path / "shallow-1")[1]) == {
        "reverts at the border of a shallow clone, whose changes can't be told": 1
    }
    assert project.read()[1].warnings == []


# --- where, and again -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "worktree", "sha256", "submodule", "alternates", "reftable"])
def test_every_kind_of_repository_is_read(make_repo: Any, git: Any, kind: str) -> None:
    project = Project(make_repo(kind), git)
    project.revert(project.commit("Cache rows", {"rows.py": CACHE}))
    drafts, _ = project.read()
    assert [d["change_type"] for d in drafts] == ["add", "revert"]
    git_dir = Path(project.git("rev-parse", "--absolute-git-dir"))
    assert read(git_dir)[0] == drafts


def test_a_bare_clone_finds_the_same_under_the_same_names(project: Project, git: Any, tmp_path: Path) -> None:
    project.revert(project.commit("Cache rows", {"rows.py": CACHE}))
    git("clone", "--quiet", "--bare", project.place, tmp_path / "bare", cwd=tmp_path)
    assert read(tmp_path / "bare")[0] == project.read()[0]


def test_two_clones_with_different_heads_give_one_thing_one_name(project: Project) -> None:
    attempt = project.commit("Cache rows", {"rows.py": CACHE})
    project.revert(attempt)
    before = {d["source"]: d for d in project.read()[0]}
    project.git("checkout", "--quiet", "-b", "side")
    project.commit("Cache rows", {"rows.py": CACHE, "more.py": CODE[30]})
    project.revert("HEAD")
    after = {d["source"]: d for d in project.read()[0]}
    assert set(before) < set(after)
    assert {source: after[source] for source in before} == before


def test_what_the_log_has_is_not_yielded_again(project: Project) -> None:
    project.revert(project.commit("Cache rows", {"rows.py": CACHE}))
    first, _ = project.read()
    known = {d["source"] for d in first}
    drafts, summary = project.read(known_sources=known)
    assert drafts == []
    assert (summary.known, summary.drafts, summary.reverts) == (2, 0, 1)
    project.revert(project.commit("Log rows", {"log.py": CACHE}))
    drafts, _ = project.read(known_sources=known)
    assert [d["approach"] for d in drafts] == ["Log rows", "Log rows"]


def test_an_empty_repository_has_no_history(make_repo: Any) -> None:
    for kind in ("empty", "bare"):
        drafts, summary = read(make_repo(kind))
        assert drafts == []
        assert summary.commits == 0
        assert "no commit yet" in summary.warnings[0]


def test_since_leaves_out_older_reverts_but_not_the_attempts_of_newer_ones(project: Project) -> None:
    old = project.commit("Log rows", {"log.py": CACHE})
    project.revert(old)
    attempt = project.commit("Cache rows", {"rows.py": CACHE + CODE[30] + "\n"})
    project.git("tag", "v1")
    project.time += 86400
    project.revert(attempt)
    expected = [("add", "rows.py", "Cache rows"), ("revert", "rows.py", "Cache rows")]
    assert len(project.read()[0]) == 4
    for since in ("v1", attempt[:10], "2020-01-02", "2020-01-02T00:00:00+02:00", "2020-01-01 12:00"):
        assert brief(project.read(since=since)[0]) == expected, since
    assert project.read(since="HEAD")[0] == []
    assert project.read(since="2020-01-03")[0] == []


@pytest.mark.parametrize("since", ["no-such-branch", "yesterday", "-n1", ""])
def test_a_since_that_is_neither_commit_nor_date_is_refused_at_once(project: Project, since: str) -> None:
    with pytest.raises(Usage, match="neither a commit"):
        importer.read(str(project.place), since=since)


def test_progress_tells_commits_then_reverts(project: Project) -> None:
    project.revert(project.commit("Cache rows", {"rows.py": CACHE}))
    told: list[tuple[str, int, int]] = []
    project.read(progress=lambda what, done, total: told.append((what, done, total)))
    assert told == [("commits", 3, 0), ("reverts", 1, 1)]


# --- leaving in the middle ----------------------------------------------------------------------------------


def _children() -> set[str]:
    listed = subprocess.run(["ps", "-o", "pid=,ppid=,comm="], capture_output=True, text=True, check=False).stdout
    rows = (line.split(None, 2) for line in listed.splitlines())
    return {row[0] for row in rows if row[1] == str(os.getpid()) and row[2].startswith("git")}


@pytest.fixture
def long_project(project: Project) -> Project:
    for i in range(3):
        project.revert(project.commit(f"Cache rows {i}", {"rows.py": CACHE, f"rows{i}.py": CACHE}))
    return project


def _interrupted(at: str) -> Callable[[str, int, int], None]:
    def progress(what: str, done: int, total: int) -> None:
        if what == at:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("at", ["commits", "reverts"])
def test_an_interrupt_leaves_no_git_behind(long_project: Project, at: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        list(importer.read(str(long_project.place), progress=_interrupted(at)))
    assert _children() == set()
    assert len(long_project.read()[0]) == 12


def test_a_reader_that_stops_in_the_middle_leaves_no_git_behind(long_project: Project) -> None:
    reading = importer.read(str(long_project.place))
    drafts: Iterator[Draft] = iter(reading)
    next(drafts)
    assert _children() != set()
    reading.close()
    assert _children() == set()
    assert list(reading) == []


def test_reading_writes_nothing(long_project: Project) -> None:
    def content() -> dict[Path, tuple[int, int]]:
        return {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in sorted(long_project.place.rglob("*"))}

    before = content()
    long_project.read()
    assert content() == before


def test_a_fingerprint_keeps_what_the_revert_took_out_and_not_what_stayed(project: Project) -> None:
    project.commit("Begin", {"rows.py": "x = 1\n"})
    project.commit("Cache rows", {"rows.py": "x = 1\n" + "\n".join(CODE[:10]) + "\n"})
    cached = project.git("rev-parse", "HEAD")
    # Two lines are kept, and one had been changed in between: what was rejected is the other seven.
    project.commit(
        "Rename", {"rows.py": "x = 1\n" + "\n".join([*CODE[:9], "renamed_row = cache.load(last_order)"]) + "\n"}
    )
    message = f'Revert "Cache rows"\n\nThis reverts commit {cached}.\n'
    project.commit(message, {"rows.py": "x = 1\n" + "\n".join(CODE[:2]) + "\n"})
    made = [draft.fields for draft in importer.read(str(project.place)) if draft.fields["change_type"] == "revert"]
    assert [one["fingerprint"] for one in made] == [fingerprint.sketch(CODE[2:9])]


def test_a_line_that_stands_in_the_file_after_the_revert_is_no_sign_of_what_was_reverted(project: Project) -> None:
    guard = "if not rows_are_valid(orders):"
    before = f"{guard}\n    pass\n"
    project.commit("Begin", {"rows.py": before, "other.py": "y = 1\n"})
    cached = project.commit(
        "Cache rows", {"rows.py": before + CACHE + f"    {guard}\n", "other.py": "y = 1\n" + guard + "\n"}
    )
    project.revert(cached)
    made = {one["entity_path"]: one for one in project.read()[0] if one["change_type"] == "revert"}
    assert made["rows.py"]["fingerprint"] == fingerprint.sketch(CODE[:10])
    assert made["other.py"]["fingerprint"] == fingerprint.sketch([guard])


def test_a_line_too_long_to_be_read_whole_is_in_no_fingerprint(project: Project) -> None:
    project.commit("Begin", {"app.js": "x = 1\n"})
    long = "var bundle = [" + "1234567890, " * 3000 + "];"
    cached = project.commit("Cache rows", {"app.js": "x = 1\n" + CACHE + long + "\n"})
    project.revert(cached)
    (made,) = [one["fingerprint"] for one in project.read()[0] if one["change_type"] == "revert"]
    assert made == fingerprint.sketch(CODE[:10])
    assert fingerprint.share(made, CACHE.splitlines()) == 100


# --- trailers -----------------------------------------------------------------------------------

CHOSE = """\
Cache sessions in memory

They are few and short.

Rejected: Redis | one more service to run
Rejected: a table of their own
Constraint: no service that needs
  a licence
Signed-off-by: Ada <ada@example.org>
"""


def test_what_a_commit_rejects_in_its_trailers_is_a_rejection_with_its_approach(project, cli):
    project.git("config", "trailer.separators", "=")  # how somebody writes theirs
    project.commit("Begin", {"src/session.py": "x = 1\n", "src/other.py": "y = 1\n"})
    oid = project.commit(CHOSE, {"src/session.py": "x = 2\n"})
    project.commit(
        "Talk about it\n\nWe rejected: nothing.\nRejected: not a trailer\n\nThe last word.", {"src/other.py": "y = 2\n"}
    )
    project.commit("Keep it\n\nConstraint: ten requests a second", {"src/other.py": "y = 3\n"})
    many = {f"lib/part{number}/a.py": "z\n" for number in range(7)}
    project.commit("Split\n\nRejected: one file | too long", many)
    project.commit("Everything\n\nRejected: leave it", {f"top{number}/a.py": "z\n" for number in range(7)})
    done = cli("import", "git", "--json", cwd=project.place).json
    assert done["appended"] == 4
    assert [one["count"] for one in done["skipped"] if "trailers" in one["reason"]] == [1]
    events = {
        (one["change_type"], one["entity_path"], one["approach"]): one
        for one in cli("log", "--json", "--all", cwd=project.place).json["events"]
    }
    assert set(events) == {
        ("reject", "src/session.py", "Redis"),
        ("reject", "src/session.py", "a table of their own"),
        ("modify", "src/other.py", None),
        ("reject", "lib", "one file"),
    }
    redis = events["reject", "src/session.py", "Redis"]
    assert redis["reasoning"] == "one more service to run" and redis["instead"] == "Cache sessions in memory"
    assert redis["constraint"] == "no service that needs a licence" and redis["basis"] == "evidence"
    assert redis["valid_from"] == "2020-01-01T00:02:00.000000Z" and f"commit:{oid}" in redis["evidence"]
    assert "few and short" in events["reject", "src/session.py", "a table of their own"]["reasoning"]
    assert events["modify", "src/other.py", None]["constraint"] == "ten requests a second"
    assert cli("import", "git", "--json", cwd=project.place).json["appended"] == 0
    # it closes its approach and no other: the file itself goes on
    assert (
        cli("record", "src/session.py", "modify", "-r", "Faster.", "--approach", "redis", cwd=project.place).code == 14
    )
    assert (
        cli("record", "src/session.py", "modify", "-r", "Faster.", "--approach", "an LRU", cwd=project.place).code == 0
    )
