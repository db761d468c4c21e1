"""The guard: the worked cases, what it says, and what it finds wrong with a draft by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import rule_cases
from rule_cases import event, letters_of, long_id

from gitmem.core import rules
from gitmem.core.drafts import Draft, Writer
from gitmem.core.events import Event
from gitmem.core.verdicts import judge
from gitmem.core.vocabulary import EFFECTS, VERDICTS
from gitmem.errors import AmbiguousId, GitmemError, Refused, RuleViolation, UnknownId

CASES = [case for case in rule_cases.cases() if "draft" in case]
_IDS = ("after", "supersedes", "targets")

PERSON = Writer("Ada <ada@example.org>", "human", tool="test/1")
AGENT = Writer("Bot <bot@example.org>", "agent", tool="test/1")
IMPORTER = Writer("Git <git@example.org>", "import", tool="test/1")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['file']}: {case['name']}")
def test_case(case: dict[str, Any]) -> None:
    events = rule_cases.log(case)
    draft, writer = rule_cases.draft(case["draft"])
    expect = case["expect"]
    for order in (events, events[::-1]):
        judged = judge(order)
        if "code" in expect:
            with pytest.raises(GitmemError) as caught:
                rules.decide(judged, draft, writer, rule_cases.stamp())
            assert caught.value.code == expect["code"], caught.value.message
            named = [letters_of(one) for one in caught.value.fields["ids"]]  # type: ignore[attr-defined]
            assert set(expect["names"]) <= set(named)
            assert "nothing was written" in caught.value.message
            assert caught.value.advice
            said = caught.value.message + caught.value.advice
            assert all(long_id(letters)[:8] in said for letters in expect["names"])
            assert "because" in said or caught.value.code == 12 or not expect["names"] or draft.kind == "redact"
            continue
        decided = rules.decide(judged, draft, writer, rule_cases.stamp())
        given = [one for one, _ in decided.appends]
        letters = dict(zip((one.id for one in given), ["zs", "z"] if len(given) == 2 else ["z"]))
        assert len(given) == len(expect["appends"])
        for one, wanted in zip(given, expect["appends"]):
            for name, value in wanted.items():
                found = letters[one.id] if name == "id" else getattr(one, name)
                if name in _IDS:
                    found = sorted(letters.get(step) or letters_of(step) for step in found)
                assert found == value, name
        after = judge([*events, *given])
        for one in given:
            assert after.effect(one.id)[0] != "void"
        for letter, effect in expect.get("effects", {}).items():
            assert after.effect(next(key for key, value in letters.items() if value == letter))[0] == effect


# --- helpers ------------------------------------------------------------------------------------------


def change(letter: str, change_type: str, after: str = "", **fields: Any) -> Event:
    given = {"entity_path": "users.card_token", "author": "Ada <ada@example.org>", "channel": "human", **fields}
    return event({"id": letter, "kind": "change", "change_type": change_type, "after": list(after), **given})


def draft(change_type: str, *, reopens: bool = False, whole: bool = False, **fields: Any) -> Draft:
    given = {"change_type": change_type, "entity_path": "users.card_token", "reasoning": "it is needed", **fields}
    return Draft("change", given, reopens=reopens, whole=whole)


def decide(events: list[Event], one: Draft, writer: Writer = AGENT, **how: Any) -> rules.Decided:
    return rules.decide(judge(events), one, writer, rule_cases.stamp(), **how)


def refused(events: list[Event], one: Draft, writer: Writer = AGENT) -> GitmemError:
    with pytest.raises(GitmemError) as caught:
        decide(events, one, writer)
    return caught.value


# --- what is written ------------------------------------------------------------------------------------


def test_an_event_says_who_wrote_it_when_and_by_what() -> None:
    writer = Writer("Ada <ada@example.org>", "agent", tool="t/2", agent="helper", session_id="s1", policy="p")
    ((made, data),) = decide([], draft("add", approach=" Hash  it "), writer).appends
    assert data == made_bytes(made)
    assert made.fields == {
        "v": 1,
        "kind": "change",
        "clock": 10,
        "nonce": "0" * 32,
        "recorded_at": "1970-01-01T00:08:20.000000Z",
        "author": "Ada <ada@example.org>",
        "after": [],
        "scope": "",
        "channel": "agent",
        "basis": "none",
        "tool": "t/2",
        "agent": "helper",
        "session_id": "s1",
        "policy": "p",
        "entity_path": "users.card_token",
        "entity_type": "column",
        "change_type": "add",
        "approach": "Hash  it",
        "reasoning": "it is needed",
    }


def made_bytes(made: Event) -> bytes:
    from gitmem.core import canonical

    return canonical.encode(made.fields)


@pytest.mark.parametrize(
    ("writer", "source", "basis"),
    [(PERSON, "", "person"), (AGENT, "", "none"), (IMPORTER, "git:1", "none"), (IMPORTER, "git:1", "evidence")],
)
def test_the_basis_follows_from_the_writer(writer: Writer, source: str, basis: str) -> None:
    given = {"source": source, "basis": "evidence"} if basis == "evidence" else {"source": source}
    ((made, _),) = decide([], draft("add", **given), writer).appends
    assert made.basis == basis


@pytest.mark.parametrize(
    ("writer", "fields"),
    [
        (AGENT, {"basis": "person"}),
        (AGENT, {"basis": "evidence", "source": "git:1"}),
        (IMPORTER, {"basis": "evidence"}),
    ],
)
def test_nobody_gives_a_draft_a_better_basis(writer: Writer, fields: dict[str, str]) -> None:
    assert isinstance(refused([], draft("add", **fields), writer), Refused)
    assert decide([], draft("add"), writer).appends


def test_reopening_writes_two_events_whose_clocks_follow_each_other() -> None:
    first, second = decide([change("c", "reject")], draft("add", reopens=True, changeset_id="x"), PERSON).appends
    assert (first[0].clock, second[0].clock) == (10, 11)
    assert first[0].fields["nonce"] != second[0].fields["nonce"]
    assert first[0].fields["reasoning"] == second[0].fields["reasoning"] == "it is needed"
    assert first[0].fields["changeset_id"] == "x"


def test_a_link_is_written_without_judging() -> None:
    given = Draft("link", {"targets": [long_id("c")], "commit": "1" * 40, "how": "head"})
    ((made, _),) = rules.loose(given, AGENT, rule_cases.stamp()).appends
    assert (made.after, made.targets, made.scope) == ((), (long_id("c"),), "")


def test_the_draft_itself_is_left_as_it_was() -> None:
    given = draft("supersede")
    before = dict(given.fields)
    decide([change("c", "reject")], given)
    assert given.fields == before


# --- what is said -----------------------------------------------------------------------------------------


def test_a_refusal_tells_the_reason_what_was_chosen_instead_and_the_way_on() -> None:
    closing = change("c", "reject", approach="store it", reasoning="PCI scope", instead="the provider's token")
    error = refused([closing], draft("add", approach="Store it"))
    assert error.message == (
        "“Store it” on users.card_token is closed: 63000000 reject of “store it”: “PCI scope” "
        "(instead: “the provider's token”); nothing was written."
    )
    assert error.advice.startswith("`git decisions supersede 63000000 -r WHY` proposes to re-open it")
    assert error.code == 14
    assert error.fields["ids"] == [long_id("c")]


def test_an_agent_is_shown_no_command_that_only_a_person_may_run() -> None:
    contested = [change("o", "add"), change("c", "reject")]
    on_contested = refused(contested, draft("modify")).advice
    on_closed = refused([change("c", "reject")], draft("add")).advice
    for advice in (on_contested, on_closed):
        assert "git decisions resolve" not in advice
        assert "ratify" not in advice.replace("for a person to ratify", "")
        assert "--reopens" not in advice
    assert "ask a person to resolve it" in on_contested
    to_a_person = refused(contested, draft("modify"), PERSON).advice
    assert "git decisions resolve users.card_token --keep ID -r WHY" in to_a_person
    on_a_file = [change("o", "add", entity_path="src/a b.py"), change("c", "reject", entity_path="src/a b.py")]
    in_any_folder = refused(on_a_file, draft("modify", entity_path="src/a b.py"), PERSON).advice
    assert "git decisions resolve ':/src/a b.py' --keep ID -r WHY" in in_any_folder
    assert "--reopens" in refused([change("c", "reject")], draft("add"), PERSON).advice


def test_a_person_is_told_to_do_it_in_their_own_terminal() -> None:
    review = Draft("review", {"action": "ratify", "targets": [long_id("c")], "reason": "fine"})
    assert "ask a person to ratify it" in refused([change("c", "reject")], review, AGENT).advice
    script = Writer("Ada <ada@example.org>", "script", tool="t")
    for writer in (AGENT, script):
        assert "in your own terminal" in refused([change("c", "reject")], review, writer).advice
    assert "ask a person" not in refused([change("c", "reject")], review, script).advice


def test_a_redacted_reason_is_not_told() -> None:
    error = refused([change("c", "reject", redacted="plain")], draft("add"))
    assert "63000000 reject: [redacted]" in error.message


def test_a_long_or_odd_reason_is_told_in_one_short_line() -> None:
    error = refused([change("c", "reject", reasoning="a\nb \x1b[31m" + "x" * 900)], draft("add"))
    assert "a b ?[31mxxx" in error.message
    assert len(error.message) < 400


def test_what_waits_for_a_person_is_said() -> None:
    events = [change("o", "add")]
    assert "waits for a person, who ratified 6f000000" in decide(events, draft("reject", whole=True)).warnings[0]
    assert decide(events, draft("reject", whole=True), PERSON).warnings == []
    closed = [change("c", "reject")]
    assert "stands until a person ratifies this" in decide(closed, draft("supersede")).warnings[0]
    assert decide(closed, draft("supersede"), PERSON).warnings == []


def test_what_still_stands_besides_is_said() -> None:
    closed = [
        change("c", "reject", approach="x"),
        change("d", "reject", approach="y"),
        change("e", "reject", entity_path="users"),
    ]
    (warning,) = decide(closed, draft("supersede", approach="x"), PERSON).warnings
    assert "64000000" in warning
    assert "65000000" in warning
    assert "63000000" not in warning


def test_near_approaches_are_named_and_not_refused() -> None:
    closed = [change("c", "reject", approach="store the card token in our own table")]
    (warning,) = decide(closed, draft("add", approach="keep the card token in our own vault")).warnings
    assert "63000000" in warning
    assert decide(closed, draft("add", approach="hash it")).warnings == []


def test_an_opening_without_approach_is_told_what_is_closed_and_stopped_once_where_its_reason_sounds_like_it() -> None:
    closed = [change("c", "reject", approach="store the card token in our own table")]
    plain = decide(closed, draft("modify", reasoning="Make it nullable."))
    assert "63000000" in plain.warnings[0]
    alike = draft("modify", reasoning="We keep the card token in a table after all.")
    error = refused(closed, alike)
    assert isinstance(error, RuleViolation)
    assert error.fields["ids"] == [long_id("c")]
    assert "--approach TEXT" in error.advice
    assert decide(closed, alike, acknowledged=True).appends
    assert decide(closed, draft("modify", reasoning="card token table", approach="make it nullable")).appends


def test_an_ambiguous_supersede_lists_the_closings() -> None:
    error = refused([change("c", "reject", approach="x"), change("d", "revert", approach="y")], draft("supersede"))
    assert isinstance(error, AmbiguousId)
    assert "63000000 reject of “x”: “because”; 64000000 revert of “y”: “because”" in error.message


# --- what is wanted -----------------------------------------------------------------------------------------


def test_an_opening_wants_what_lies_above_it() -> None:
    wanted = rules.wanted(draft("add", scope="services/a"))
    assert set(wanted.names) == {
        (scope, name, False) for scope in ("services/a", "services", "") for name in ("users.card_token", "users")
    }
    assert wanted.ids == []


def test_other_changes_want_their_names_and_what_they_point_at() -> None:
    assert rules.wanted(draft("reject")).names == [("", "users.card_token", False)]
    rename = draft("rename", renamed_from="users.tok")
    assert rules.wanted(rename).names == [("", "users.card_token", True), ("", "users.tok", True)]
    history = draft("add", source="git:1")
    assert rules.wanted(history).names == [("", "users.card_token", False)]
    review = Draft("review", {"action": "ratify", "targets": [long_id("c")], "reason": "fine"})
    assert (rules.wanted(review).names, rules.wanted(review).ids) == ([], [long_id("c")])


def test_names_are_wanted_in_their_canonical_spelling() -> None:
    assert rules.wanted(draft("reject", entity_path=" src//a.py ")).names == [("", "src/a.py", False)]


# --- the draft itself -----------------------------------------------------------------------------------------


def wrong(kind: str = "change", **fields: Any) -> Refused:
    given: dict[str, Any] = {"change_type": "add", "entity_path": "users.email", "reasoning": "why"}
    if kind != "change":
        given = {"targets": [long_id("c")], "reason": "why"}
    with pytest.raises(Refused) as caught:
        decide([change("c", "reject", entity_path="other")], Draft(kind, {**given, **fields}))
    assert caught.value.code == 15
    assert "nothing was written" in caught.value.message
    with pytest.raises(GitmemError):  # found without looking at the log, wherever it can be
        rules.wanted(Draft(kind, {**given, **fields}))
        raise caught.value
    return caught.value


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b", None])
def test_an_empty_reason_is_refused(text: str | None) -> None:
    assert wrong(reasoning=text).fields["field"] == "reasoning"
    assert wrong("review", action="dispute", reason=text).fields["field"] == "reason"


@pytest.mark.parametrize(
    ("kind", "fields", "field", "nearest"),
    [
        ("change", {"change_type": "rejct"}, "change_type", "reject"),
        ("change", {"change_type": "Index-Add"}, "change_type", "index_add"),
        ("change", {"change_type": "zzz"}, "change_type", ""),
        ("change", {"change_type": ""}, "change_type", ""),
        ("change", {"entity_type": "colunm"}, "entity_type", "column"),
        ("review", {"action": "ratfy"}, "action", "ratify"),
        ("mark", {"action": "unmte"}, "action", "unmute"),
        ("chnge", {}, "kind", "change"),
        ("xyzzy", {}, "kind", ""),
    ],
)
def test_an_unknown_word_is_refused_with_the_nearest_one(
    kind: str, fields: dict[str, str], field: str, nearest: str
) -> None:
    error = wrong(kind, **fields)
    assert (error.fields["field"], error.fields["nearest"]) == (field, nearest)
    assert (f"`{nearest}`" in error.advice) == bool(nearest)


@pytest.mark.parametrize("name", ["", "..", "a\nb", "::", "x" * 1100, "a\u200bb", "../../etc"])
def test_what_names_no_entity_is_refused(name: str) -> None:
    assert wrong(entity_path=name).fields["field"] == "entity_path"
    assert "\n" not in wrong(entity_path=name).message


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"approach": "the"}, "approach"),
        ({"approach": "  "}, "approach"),
        ({"approach": "x" * 5000}, "approach"),
        ({"reasoning": "x" * 70_000}, "reasoning"),
        ({"reasoning": "a\0b"}, "reasoning"),
        ({"reasoning": "a\udcffb"}, "reasoning"),
        ({"valid_from": "2026-01-02T00:00:00.000000Z", "valid_to": "2026-01-01T00:00:00.000000Z"}, "valid_to"),
        ({"valid_from": "99999-01-01"}, "valid_from"),
        ({"change_type": "rename"}, "renamed_from"),
        ({"renamed_from": "users.mail"}, "renamed_from"),
        ({"clock": 7}, "clock"),
        ({"effect": "now"}, "effect"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_what_the_format_or_sense_forbids_is_refused_with_its_field(fields: dict[str, Any], field: str) -> None:
    assert wrong(**fields).fields["field"] == field


def test_history_is_taken_with_an_approach_that_has_no_word() -> None:
    ((made, _),) = decide([], draft("revert", approach="!!!", source="git:1"), IMPORTER).appends
    assert made.approach == "!!!"


def test_an_unknown_id_is_named() -> None:
    error = refused([change("c", "reject")], draft("add", supersedes=[long_id("x")]))
    assert isinstance(error, UnknownId)
    assert error.fields["ids"] == [long_id("x")]


# --- the page -------------------------------------------------------------------------------------------------


def rows() -> list[list[str]]:
    page = (Path(__file__).parents[2] / "docs" / "rules.md").read_text("utf-8")
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")]


def test_each_row_of_the_page_of_rules_is_a_worked_case() -> None:
    known = {f"{case['file']}: {case['name']}": case for case in rule_cases.cases()}
    cited = [(row, row[-1].strip("`")) for row in rows() if row[-1].startswith("`") and ": " in row[-1]]
    assert len(cited) > 60
    for row, name in cited:
        assert name in known, name
        expect = known[name]["expect"]
        if len(row) == 4 and row[2] in EFFECTS:  # what an event does
            assert row[2] in expect["effects"].values(), name
        if len(row) == 3 and row[1] in VERDICTS:  # two that never met
            assert row[1] in {one["verdict"] for one in expect["decisions"]}, name
        if len(row) == 5:  # the guard
            code = expect.get("code")
            both = row[2] + row[3]
            assert (str(code) in both) if code else any(not cell.startswith("1") for cell in (row[2], row[3])), name


def test_the_page_of_rules_has_each_rule() -> None:
    page = (Path(__file__).parents[2] / "docs" / "rules.md").read_text("utf-8")
    for number in range(1, 14):
        assert f"**R{number} " in page
    for number in range(12):
        assert f"| G{number} |" in page


# --- a file in other components, and what is quarantined ----------------------------------------------


def test_what_closes_a_file_in_another_component_refuses_an_opening_of_it_and_of_what_is_in_it() -> None:
    old, new = "a/pay.py", "b/pay.py"
    closed = change("c", "reject", entity_path=old, scope="a", approach="own table")
    way = {"entity_path": new, "scope": "b", "approach": "own table"}
    with pytest.raises(RuleViolation) as caught:
        decide([closed], draft("add", **way), elsewhere=[("a", old)])
    assert closed.id[:8] in caught.value.message and "in scope a" in caught.value.message
    assert decide([closed], draft("add", **way)).appends  # without a move it is another file
    assert decide([closed], draft("add", **way | {"approach": "ask"}), elsewhere=[("a", old)]).appends
    whole = change("w", "reject", entity_path=old, scope="a")
    inside = {"entity_path": f"{new}::charge", "scope": "b"}
    with pytest.raises(RuleViolation):
        decide([whole], draft("add", **inside), elsewhere=[("a", f"{old}::charge")])
    folder = change("f", "reject", entity_path="a", scope="a")
    assert decide([folder], draft("add", **way), elsewhere=[("a", old)]).appends  # it left the folder
    both = decide([closed], draft("add", reopens=True, **way), PERSON, elsewhere=[("a", old)]).appends
    assert [list(one.supersedes) for one, _ in both] == [[closed.id], []]


def test_only_a_person_accepts_what_is_quarantined_and_nothing_else_is_said_of_it() -> None:
    name = long_id("q")

    def review(action: str) -> Draft:
        return Draft("review", {"action": action, "targets": [name], "reason": "It tells nothing."})

    (accepted, _), *_ = decide([], review("ratify"), PERSON, quarantined=[name]).appends
    assert (accepted.targets, accepted.basis) == ((name,), "person")
    with pytest.raises(RuleViolation) as caught:
        decide([], review("ratify"), AGENT, quarantined=[name])
    assert name[:8] in caught.value.message
    for action in ("dispute", "retract"):
        with pytest.raises(UnknownId):
            decide([], review(action), PERSON, quarantined=[name])
    with pytest.raises(UnknownId):
        decide([], review("ratify"), PERSON)
