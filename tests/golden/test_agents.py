"""Each client's payloads, as its documentation has them, and the bytes that it must be answered with.

A file of `agents/AGENT/` holds one payload (`given`), the agent that the command line names, the call that is read from
it, and the answers: to a stop, to a text, and to nothing to say. They are looked up by `agent`, not by folder: a
client's payload may come to another's hook.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitmem.core.calls import Answer, Call, Edit
from gitmem.hooks import agent as entry
from gitmem.hooks.agents import dialects, payloads
from gitmem.hooks.agents.answering import Reply
from gitmem.hooks.agents.reading import call_of

FOLDER = Path(__file__).resolve().parent / "agents"
FILES = sorted(FOLDER.glob("*/*.json"))
TEXT = "7f3a91c2: “keep no card data”"


def golden(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))


def as_dict(call: Call) -> dict[str, Any]:
    """What is said of a call, without what is empty."""
    told = {name: getattr(call, name) for name in Call.__slots__ if name not in ("edits", "asked", "places")}
    told |= {"edits": [edited(edit) for edit in call.edits], "asked": list(call.asked)}
    told["places"] = {str(number): place for number, place in call.places.items()}  # as JSON has it
    return {name: value for name, value in told.items() if value not in ("", [], {})}


def edited(edit: Edit) -> dict[str, Any]:
    told: dict[str, Any] = {"path": edit.path}
    if edit.content is not None:
        told["content"] = edit.content
    if edit.pairs:
        told["pairs"] = [list(pair) for pair in edit.pairs]
    if edit.is_deletion:
        told["is_deletion"] = True
    return told | ({"moved_from": edit.moved_from} if edit.moved_from else {})


def said(reply: Reply) -> dict[str, Any]:
    told: dict[str, Any] = {"out": reply.out.decode("utf-8")}
    if reply.err:
        told["err"] = reply.err.decode("utf-8")
    return told | ({"code": reply.code} if reply.code else {})


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
@pytest.mark.parametrize("spelling", ["as it comes", "with a byte order mark, spaces and a line feed"])
def test_a_clients_payload_is_read_and_answered_in_its_own_words(path, spelling):
    case = golden(path)
    data = json.dumps(case["given"], ensure_ascii=False).encode()
    if spelling != "as it comes":
        data = b"\xef\xbb\xbf" + json.dumps(case["given"], indent=2).encode() + b"\r\n"
    given = payloads.decoded(data)
    assert given is not None
    call = call_of(case["agent"], given)
    assert as_dict(call) == case["call"]
    for name, answer in (("text", Answer(TEXT)), ("nothing", Answer()), ("stop", Answer(TEXT, stop=True))):
        asked: list[Call] = []

        def answering(call: Call, answer: Answer = answer, asked: list[Call] = asked) -> Answer:
            asked.append(call)
            return answer

        reply = entry.answer(case["agent"], given, answering, answering)
        if asked:
            # Only an edit can be stopped; a stop of anything else is a text.
            assert said(reply) == case[name if name in case else "text"], name
        if call.event == "other" or (call.event == "done" and not call.edits and not call.asked and not call.failing):
            assert not asked and said(reply) == case["nothing"]
        else:
            assert [as_dict(each) for each in asked] == [case["call"]]


@pytest.mark.parametrize("name", dialects.DIALECTS)
def test_each_dialect_has_a_stop_that_is_no_go_and_a_go_that_is_no_stop(name):
    edits = [case for path in FILES if "stop" in (case := golden(path)) and case["call"]["agent"] == name]
    shells = [path for path in FILES if path.parent.name == name and path.stem.endswith("-is-not-read")]
    asked = [path for path in FILES if path.parent.name == name and golden(path)["call"].get("asked")]
    assert len(edits) >= 1 and asked
    assert shells or name == "cursor"  # whose shell has an event of its own, that setup doesn't ask for
    for case in edits:
        assert case["stop"] != case["nothing"]
        assert TEXT in (case["stop"].get("err", "") or json.loads(case["stop"]["out"]).__repr__())
        assert "code" not in case["nothing"] and "err" not in case["nothing"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_answer_is_nothing_a_line_of_ascii_or_plain_text(path):
    case = golden(path)
    for name in ("stop", "text", "nothing"):
        out = case.get(name, {}).get("out", "")
        if out.startswith("{"):
            assert out.isascii() and "\n" not in out and isinstance(json.loads(out), dict)
        else:
            assert out in ("", TEXT + "\n")
        # "ask" is answered for people who aren't there, and "allow" would skip the user's own question.
        assert '"ask"' not in out and '"permissionDecision":"allow"' not in out
