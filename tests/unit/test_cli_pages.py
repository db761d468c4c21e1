"""What the commands print, from the JSON of the presenters: the log, standings, attempts, findings."""

from __future__ import annotations

import io
from typing import Any

from gitmem.cli import entries, findings, standings
from gitmem.cli.paint import Painter
from gitmem.cli.text import joined


def event(number: int = 7, **fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": f"{number:x}" * 64,
        "kind": "change",
        "scope": "",
        "change_type": "reject",
        "entity_path": "users.card_token",
        "entity_type": "column",
        "approach": "keep the token in our own table",
        "reasoning": "It would put us in scope of PCI DSS.\n\nEvery backup would hold card data.",
        "instead": "the vault",
        "constraint": None,
        "diff": None,
        "stale_when": "tokens are safe to keep",
        "expires_when": None,
        "revisit_after": None,
        "valid_from": None,
        "valid_to": None,
        "renamed_from": None,
        "changeset_id": None,
        "patterns": None,
        "evidence": None,
        "tags": None,
        "supersedes": [],
        "superseded_by": [],
        "targets": [],
        "author": "Ada <ada@example.org>",
        "agent": None,
        "session_id": None,
        "channel": "human",
        "basis": "person",
        "effect": "applied",
        "clock": number,
        "recorded_at": "2026-11-30T12:58:04.000000Z",
        "after": [],
        "source": None,
        "commits": ["3f2a91c2d4e5f60718293a4b5c6d7e8f90123456"],
        "trust": "ratified",
        "verdict": "rejected",
        "redacted": False,
    }
    return made | fields


def decision(**fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "entity_path": "users.card_token",
        "scope": "",
        "approach": "",
        "verdict": "rejected",
        "trust": "ratified",
        "standing": "7" * 64,
        "against": [],
        "closed_by_parent": None,
        "in_head": None,
        "since": "2026-11-30T12:58:04.000000Z",
        "events": ["7" * 64],
    }
    return made | fields


def attempt(**fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "entity_path": "users.card_token",
        "scope": "",
        "approach": "own table",
        "outcome": "rejected",
        "confidence": "exact",
        "match": "entity",
        "score": None,
        "because": "same entity users.card_token",
        "reasoning": "PCI DSS.",
        "tried_because": "One table less.",
        "instead": "the vault",
        "constraint": None,
        "stale_when": "tokens are safe",
        "expires_when": None,
        "attempt": "6" * 64,
        "closed_by": ["7" * 64],
        "superseded_by": [],
        "when": "2026-11-30T12:58:04.000000Z",
        "line": "[rejected]",
    }
    return made | fields


# --- log, show, blame, search ----------------------------------------------------------------


def test_an_entry_reads_as_git_log_does() -> None:
    assert joined(entries.entry(event(), 0)) == (
        f"event {'7' * 64} (rejected, ratified)\n"
        "Author: Ada <ada@example.org>\n"
        "Date:   2026-11-30 12:58:04 UTC\n"
        "Entity: users.card_token (column)\n"
        "Change: reject\n"
        "Commit: 3f2a91c2d4e5f60718293a4b5c6d7e8f90123456\n"
        "\n"
        "    It would put us in scope of PCI DSS.\n"
        "\n"
        "    Every backup would hold card data.\n"
        "\n"
        "    approach: keep the token in our own table\n"
        "    instead: the vault\n"
        "    worth another look when: tokens are safe to keep\n"
    )


def test_the_header_of_an_entry_fits_eighty_columns() -> None:
    lines = list(entries.entry(event(effect="contested", trust="disputed"), 80))
    assert all(len(line.plain()) <= 80 for line in lines)


def test_an_entry_says_what_is_out_of_the_ordinary() -> None:
    text = joined(
        entries.entry(
            event(
                effect="pending",
                agent="claude-code",
                scope="billing",
                change_type="rename",
                renamed_from="users.token",
                commits=["a" * 40, "b" * 40],
                valid_from="2020-01-01T00:00:00.000000Z",
            ),
            80,
        )
    )
    assert "(pending, rejected, ratified)" in text
    assert "Author: Ada <ada@example.org> (by claude-code)" in text
    assert "Entity: users.card_token (column) in billing" in text
    assert "Change: rename of users.token" in text
    assert "Commits: aaaaaaaaaa, bbbbbbbbbb" in text
    assert "Held:   from 2020-01-01 00:00:00 UTC" in text


def test_events_of_other_kinds_have_a_title_too() -> None:
    link = event(kind="link", change_type=None, entity_path=None, reasoning=None, targets=["8" * 64], commit="c" * 40)
    link["commits"] = []
    assert entries.title(link) == "link 88888888 to cccccccccc"
    review = event(
        kind="review",
        change_type=None,
        entity_path=None,
        action="ratify",
        reason="Agreed.",
        targets=["8" * 64],
        reasoning=None,
    )
    assert entries.oneline(review).plain().endswith("ratify 88888888: Agreed.")


def test_one_line_is_one_line_whatever_the_reason() -> None:
    listing = joined(
        entries.log([event(reasoning="a\nb"), event(8, reasoning="[/red]\x1b[31m\r\n" + "x" * 200)], 0, oneline=True)
    )
    first, second = listing.splitlines()
    assert first == "77777777 (rejected, ratified) reject users.card_token: a"
    assert second.startswith("88888888 ") and "[/red]\\x1b[31m" in second


def test_a_redacted_event_says_so() -> None:
    text = joined(entries.entry(event(redacted=True, reasoning="[redacted]", approach=None), 0))
    assert "(redacted, rejected, ratified)" in text


#: A link in the JSON of `show`, without anything to it.
LINK = {"id": None, "evidence": [], "replaces": [], "gone": False, "reverted_by": None}


def test_show_tells_the_whole_trail() -> None:
    answer = {
        "event": event(supersedes=["1" * 64], superseded_by=["9" * 64], evidence=["url:https://x"], diff="+a\n-b"),
        "log_commit": "d" * 40,
        "links": [
            LINK | {"id": "e" * 64, "commit": "f" * 40, "how": "post-commit", "reverted_by": "d" * 40},
            LINK | {"commit": "c" * 40, "how": "squash", "evidence": ["patch-id:1", "pull:12"], "gone": True},
            LINK | {"id": "b" * 64, "commit": "d" * 40, "how": "revert", "replaces": ["f" * 40]},
        ],
        "reviews": [
            {
                "id": "a" * 64, "kind": "review", "action": "ratify", "reason": "Agreed.", "author": "Bob <b@x>",
                "channel": "human", "recorded_at": "2026-12-01T00:00:00.000000Z",
            }
        ],
        "marks": [],
        "closed": ["2" * 64],
        "closed_by": [],
    }  # fmt: skip
    text = joined(entries.whole(answer))
    for said in (
        "Id:     " + "7" * 64,
        "supersedes 11111111",
        "superseded by 99999999",
        "closes 22222222",
        "linked to ffffffffff (post-commit) [reverted by dddddddddd]\n",
        "linked to cccccccccc (squash; the same change; pull request #12; found here) [commit gone]\n",
        "reverted by dddddddddd (which takes ffffffffff back)\n",
        "ratify aaaaaaaa by Bob <b@x>, 2026-12-01 00:00:00 UTC: Agreed.",
        "    evidence: url:https://x",
        "    +a\n    -b",
        "By:     human, basis person",
    ):
        assert said in text, said


def test_blame_names_who_when_where_and_why() -> None:
    text = joined(entries.blame(event(), "users.card_token"))
    assert text.startswith(
        "users.card_token: reject (rejected, ratified)\n    Ada <ada@example.org>, 2026-11-30 12:58:04 UTC\n"
    )
    assert "event 77777777, in 3f2a91c2d4" in text and "PCI DSS" in text
    assert joined(entries.blame(None, "users.x")) == "nothing is recorded about users.x.\n"


def test_changesets_are_listed() -> None:
    rows = [{"id": "one", "events": 2, "first": "2026-11-29T00:00:00.000000Z", "last": "2026-11-30T00:00:00.000000Z"}]
    assert joined(entries.changesets(rows)) == "one  2 events, 2026-11-29 to 2026-11-30\n"
    assert joined(entries.changesets([])) == "no changesets.\n"


# --- status, prior ---------------------------------------------------------------------------


def test_status_groups_decisions_by_entity_and_marks_each_verdict_with_a_word_and_a_sign() -> None:
    answer = {
        "decisions": [
            decision(verdict="contested", approach="own table", against=["8" * 64]),
            decision(in_head=False),
            decision(entity_path="users.email", verdict="active", closed_by_parent="9" * 64),
        ],
        "counts": {},
    }
    text = joined(standings.status(answer, "users", unicode=False))
    assert text == (
        "users.card_token\n"
        "  ! contested 77777777 2026-11-30 ratified  own table  [against 88888888]\n"
        "  x rejected  77777777 2026-11-30 ratified  [its commit is not in HEAD]\n"
        "users.email\n"
        "  + active    77777777 2026-11-30 ratified  [closed above by 99999999]\n"
    )
    assert "✗ rejected" in joined(standings.status(answer, "users", unicode=True))


def test_every_verdict_has_a_sign_and_a_style() -> None:
    from gitmem.cli.paint import STYLES
    from gitmem.core import vocabulary

    assert tuple(standings.SIGNS) == vocabulary.VERDICTS
    assert set(vocabulary.VERDICTS) | set(vocabulary.TRUSTS) | {"pending", "void"} <= set(STYLES)


def test_an_entity_that_nobody_recorded_is_said_in_words() -> None:
    assert joined(standings.status({"decisions": [], "counts": {}}, "users.x", unicode=False)) == (
        "nothing is recorded about users.x.\n"
    )


def test_the_summary_counts_and_says_what_it_leaves_out() -> None:
    answer = {"decisions": [decision()], "counts": {"active": 12, "rejected": 1}, "events": 40, "unlinked": 1}
    text = joined(standings.status(answer, None, unicode=False))
    assert text.startswith(
        "13 decisions from 40 events: 1 rejected, 12 active\n1 event without a commit yet\n\nusers.card_token\n"
    )
    assert "and 12 more" in text


def test_prior_says_first_how_much_is_known() -> None:
    text = joined(standings.prior({"known": "yes", "attempts": [attempt()], "hidden": 2}, "users.card_token"))
    assert text == (
        "known: 1 attempt on users.card_token.\n"
        "\n"
        "[rejected · exact · 77777777] users.card_token (own table), 2026-11-30\n"
        "    reason: PCI DSS.\n"
        "    it was tried because: One table less.\n"
        "    instead: the vault\n"
        "    worth another try when: tokens are safe\n"
        "    shown because: same entity users.card_token\n"
        "\n"
        "2 attempts more, open or ended long after: --all shows all.\n"
    )
    weak = joined(standings.prior({"known": "weak", "attempts": [attempt(closed_by=[])], "hidden": 0}, '"x"'))
    assert weak.startswith('weak: 1 attempt on "x".\n') and "66666666" in weak
    nothing = joined(standings.prior({"known": "nothing", "attempts": [], "hidden": 0}, "users.x"))
    assert nothing == "nothing known about users.x.\n"


def test_poison_in_any_field_breaks_no_page() -> None:
    evil = "[/red] \x1b[2J\u202e \U000e0041 " + "x" * 200
    one = event(
        entity_path=evil, approach=evil, reasoning=evil, instead=evil, author=evil, agent=evil, verdict=evil, trust=evil
    )
    pages = [
        entries.entry(one, 80),
        [entries.oneline(one)],
        entries.found([one]),
        entries.blame(one, evil),
        standings.status(
            {"decisions": [decision(entity_path=evil, approach=evil, verdict=evil, trust=evil)], "counts": {}},
            evil,
            unicode=True,
        ),
        standings.prior(
            {"known": evil, "attempts": [attempt(outcome=evil, reasoning=evil, because=evil)], "hidden": 0}, evil
        ),
    ]
    for page in pages:
        lines = list(page)
        stream = io.StringIO()
        Painter(stream, width=40, colour=True).write(lines)
        for out in (joined(lines), stream.getvalue()):
            assert "[/red]" in out
            assert "\x1b[2J" not in out and "\u202e" not in out and "\U000e0041" not in out


# --- verify ----------------------------------------------------------------------------------


def report(**fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "sound": True, "tip": "a" * 40, "events": 4, "commits": 5, "newer": 0, "incremental_from": None, "findings": [],
    }  # fmt: skip
    return made | fields


ERROR = {
    "rule": "canonical",
    "severity": "error",
    "commit": "b" * 40,
    "event": "9" * 64,
    "message": "100% wrong,\nsee: here",
}
WARNING = {"rule": "replaced", "severity": "warning", "commit": None, "event": None, "message": "read through"}


def test_verify_says_sound_only_where_it_is() -> None:
    assert joined(findings.text(report())) == f"sound: 4 events in 5 commits, tip {'a' * 40}\n"
    assert joined(findings.text(report(findings=[WARNING]))).endswith("; 1 warning\n")
    bad = joined(findings.text(report(sound=False, findings=[ERROR, WARNING])))
    assert bad.splitlines()[0] == "error canonical: 100% wrong,\\x0asee: here (commit bbbbbbbbbb event 99999999)"
    assert bad.splitlines()[-1].startswith("not sound: 1 error and 1 warning in 4 events")


def test_findings_for_github_are_one_command_each_with_nothing_left_to_inject() -> None:
    commands = list(findings.github(report(sound=False, findings=[ERROR, WARNING])))
    assert commands == [
        "::error file=refs/decisions/log,title=gitmem verify%3A canonical::100%25 wrong,%0Asee: here "
        f"(commit {'b' * 40} event {'9' * 64})",
        "::warning file=refs/decisions/log,title=gitmem verify%3A replaced::read through",
    ]
    assert list(findings.github(report())) == [
        f"::notice file=refs/decisions/log,title=gitmem verify::sound: 4 events in 5 commits, tip {'a' * 40}"
    ]
