"""The gate on anything: whatever a call holds, there is an answer, and it stops nothing that it should not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.core.calls import Answer, Call, Edit
from gitmem.core.gate import MESSAGE_MAX
from gitmem.hooks import digest, gate

TEXT = st.text(st.characters(codec=None), max_size=60)
PATHS = st.one_of(
    TEXT,
    st.sampled_from(
        ["", ".", "..", "/", "a/b.py", "db/1.sql", "\0", "~", "/dev/null", "/proc/self/mem", "a" * 5000, "-x"]
    ),
    st.lists(st.sampled_from(["..", "a", "", "日本", " ", "\udcff"]), max_size=8).map("/".join),
)
EDITS = st.builds(
    Edit,
    PATHS,
    content=st.none() | TEXT | st.just("ALTER TABLE payments ADD COLUMN card_token text;\n" * 50),
    pairs=st.lists(st.tuples(TEXT, TEXT, st.booleans()), max_size=4),
    is_deletion=st.booleans(),
    moved_from=PATHS,
)


@pytest.fixture(scope="module")
def places(tmp_path_factory) -> list[str]:
    """A repository with a closed column, and a folder outside of every one."""
    import os
    import subprocess

    from gitmem.core.drafts import Draft
    from gitmem.memory import Memory

    repo, nowhere = tmp_path_factory.mktemp("repo"), tmp_path_factory.mktemp("nowhere")
    subprocess.run(["git", "init", "--quiet", repo], check=True)
    memory = Memory.open(str(repo), dict(os.environ))
    fields: dict[str, object] = {"entity_path": "payments.card_token", "change_type": "reject", "reasoning": "no"}
    memory.record(Draft("change", fields))
    memory.close()
    return [str(repo), str(nowhere), "", "/nonexistent/place"]


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_any_call_has_an_answer(places, data):
    call = Call(
        data.draw(TEXT),
        data.draw(st.sampled_from(["edit", "edit", "edit", "done", "start", "compact", "other"])),
        session=data.draw(TEXT),
        subagent=data.draw(TEXT),
        call_id=data.draw(TEXT),
        cwd=data.draw(st.sampled_from(places)),
        edits=data.draw(st.lists(EDITS, max_size=4)),
        asked=data.draw(st.lists(PATHS, max_size=3)),
        source=data.draw(TEXT),
    )
    answer = digest.digest(call) if call.event in ("start", "compact") else gate.judge(call)
    assert isinstance(answer, Answer) and len(answer.text) <= MESSAGE_MAX + 10
    if answer.stop:
        assert answer.text and any("card_token" in str((e.content, e.pairs)) for e in call.edits)


def test_it_does_stop(places: list[str]) -> None:
    edit = Edit("db/1.sql", content="ALTER TABLE payments ADD COLUMN card_token text;\n")
    call = Call("claude", "edit", edits=[edit], session="claude:must", cwd=places[0])
    assert gate.judge(call).stop and Path(places[0]).is_dir()
