"""Editing people's files: what is added and taken away is all that ever changes, whatever else stands there."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.core import blocks, fitting, jsonc
from gitmem.core.clients import CLIENTS, File

NAMES = st.sampled_from(["hooks", "PreToolUse", "mcpServers", "decisions", "a", "version", "größe", "x y", '"'])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "s", "// no comment", "/* */", "ü\n", "}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
BLANKS = ("", "", " ", "\n", "\n    ", "\r\n\t", " // c\n", "/* c, ] } */", "\n// \u201c}\r\n  ")
JSON_FILES = sorted({file.path: file for client in CLIENTS.values() for file in client.files if file.is_json}.items())
#: Not those that are programs: somebody's own program is nothing that lines can be put into.
TEXT_FILES = sorted(
    {file.path: file for client in CLIENTS.values() for file in client.files if file.body and not file.runs}.items()
)


def spelled(value: object, chance: random.Random) -> str:
    """`value` as JSON with blanks, comments and trailing commas anywhere."""

    def blank() -> str:
        return chance.choice(BLANKS)

    if isinstance(value, dict):
        parts = [
            f"{blank()}{json.dumps(name, ensure_ascii=False)}{blank()}:{blank()}{spelled(inner, chance)}{blank()}"
            for name, inner in value.items()
        ]
    elif isinstance(value, list):
        parts = [f"{blank()}{spelled(item, chance)}{blank()}" for item in value]
    else:
        return json.dumps(value, ensure_ascii=False)
    body = ",".join(parts) + (("," + blank()) * chance.randrange(2) if parts else blank())
    return f"{{{body}}}" if isinstance(value, dict) else f"[{body}]"


def document(value: object, chance: random.Random) -> str:
    return chance.choice(("", "\ufeff")) + chance.choice(BLANKS) + spelled(value, chance) + chance.choice(BLANKS)


DOCUMENTS = st.builds(document, st.dictionaries(NAMES, VALUES, max_size=4), st.integers(0, 2**32).map(random.Random))


def is_part(part: str, whole: str) -> bool:
    """Whether `part`, but for its blanks, is left of `whole` when some characters are taken out."""
    rest = iter(whole)
    return all(character in rest for character in part if not character.isspace())


@given(DOCUMENTS)
def test_a_document_is_read_as_json_reads_it(text):
    node = jsonc.parsed(text)
    for _, child in node.children():
        assert jsonc.parsed(text[child.start : child.end]).value == child.value


@given(DOCUMENTS, st.lists(NAMES, min_size=1, max_size=3), VALUES)
def test_putting_changes_one_member_and_nothing_else(text, path, value):
    before = jsonc.parsed(text).value
    try:
        after = jsonc.put(text, path, value)
    except jsonc.BadJson:
        inner = before
        for name in path[:-1]:
            inner = inner.get(name, {}) if isinstance(inner, dict) else inner
        assert not isinstance(inner, dict)
        return
    expected = json.loads(json.dumps(before))
    inner = expected
    for name in path[:-1]:
        inner = inner.setdefault(name, {})
    is_new = path[-1] not in inner
    inner[path[-1]] = value
    assert jsonc.parsed(after).value == expected
    assert is_part(text, after) or not is_new


@given(DOCUMENTS, NAMES, VALUES)
def test_what_is_added_last_is_cut_to_the_same_bytes(text, name, value):
    node = jsonc.parsed(text)
    if name in node.value or not node.children():
        return
    added = jsonc.put(text, (name,), value)
    again = jsonc.parsed(added)
    assert jsonc.cut(added, again, len(again.children()) - 1) == text


@given(DOCUMENTS, st.data())
def test_cutting_takes_one_and_leaves_the_rest(text, data):
    node = jsonc.parsed(text)
    if not node.members or len(node.value) != len(node.members):
        return
    index = data.draw(st.integers(0, len(node.members) - 1))
    rest = jsonc.parsed(jsonc.cut(text, node, index)).value
    assert rest == {name: each.value for number, (name, _, each) in enumerate(node.members) if number != index}


@given(file=st.sampled_from([file for _, file in JSON_FILES]), text=DOCUMENTS)
@settings(max_examples=300)
def test_fitting_twice_is_fitting_once_and_nothing_of_anybodys_is_lost(file: File, text: str):
    before = jsonc.parsed(text).value
    try:
        fitted = fitting.fitted(file, text)
    except fitting.Misfit:
        return  # something of another kind stands where ours belongs
    assert fitting.fitted(file, fitted) == fitted
    assert is_part(text, fitted)
    assert fitting.holds_ours(file, fitted)
    rest = fitting.bare(file, fitted)
    left = {} if rest is None else jsonc.parsed(rest).value
    assert without_empty(left) == without_empty({**before, **defaults(file, before)}) or rest is None
    assert rest is None or not fitting.holds_ours(file, rest)


def defaults(file: File, before: dict[str, object]) -> dict[str, object]:
    kept: dict[str, object] = {}
    for wanted in file.wanted:
        if wanted.how == "default" and len(wanted.path) == 1 and wanted.path[0] not in before:
            kept[wanted.path[0]] = wanted.value
    if file.path == ".agents/hooks.json":
        group = before.get("gitmem")
        kept["gitmem"] = {**(group if isinstance(group, dict) else {}), "enabled": True}
    return kept


def without_empty(value: object) -> object:
    """`value` without lists and objects that hold nothing: those that ours stood in may have been there or not."""
    if isinstance(value, dict):
        return {name: each for name, inner in value.items() if (each := without_empty(inner)) not in ({}, [])}
    return [without_empty(each) for each in value] if isinstance(value, list) else value


# --- lines -------------------------------------------------------------------------------------

TEXTS = st.text(st.sampled_from(list("ab \n\n\r\t#<>ü\u2028")), max_size=30).map(
    lambda text: text.replace("\r", "\r\n")
)


@pytest.mark.parametrize("style", blocks.STYLES)
@given(text=TEXTS, mark=st.sampled_from(["", "\ufeff"]), body=st.sampled_from(["one", "one\ntwo", "ü\n\n- x"]))
def test_a_block_comes_and_goes_and_leaves_every_byte(style, text, mark, body):
    text = mark + text
    put = blocks.put(text, body, style)
    assert put.startswith(text.rstrip("\r\n")) and put != text
    assert blocks.put(put, body, style) == put
    assert blocks.cut(put, style) == text
    found = blocks.find(put, style)
    assert found is not None and not found.is_edited
    # Another version of the block takes its place, and goes as cleanly.
    assert blocks.cut(blocks.put(put, body + "\nmore", style), style) == text
    # What somebody wrote after it stays where it is.
    if put.endswith("\n"):
        assert blocks.cut(put + "after\n", style) == text + "after\n"


@pytest.mark.parametrize("style", blocks.STYLES)
def test_an_edited_block_is_noticed_and_broken_marks_are_refused(style):
    put = blocks.put("text\n", "one\ntwo", style)
    found = blocks.find(put.replace("two", "2"), style)
    assert found is not None and found.is_edited
    begin, end = blocks.block("x", style).split("\nx\n")
    for broken in (begin, end, f"{end}\n{begin}", f"{begin}\n{end}\n{begin}\n{end}", f"{begin}\n{begin}\n{end}"):
        with pytest.raises(blocks.BadBlock):
            blocks.find(f"a\n{broken}\nb\n", style)
        with pytest.raises(blocks.BadBlock):
            blocks.put(f"a\n{broken}\nb\n", "x", style)
    assert blocks.find("gitmem:begin in the middle of a line\n", style) is None


@pytest.mark.parametrize(("path", "file"), TEXT_FILES, ids=[path for path, _ in TEXT_FILES])
@given(text=TEXTS.filter(lambda text: "#" not in text and "<" not in text))
def test_a_text_file_gets_our_lines_and_loses_them_again(path: str, file: File, text: str):
    if path.endswith(".toml"):
        text = "# a comment\n[x]\ny = 1 # z\n" if text else ""
    fitted = fitting.fitted(file, text)
    assert fitting.fitted(file, fitted) == fitted
    rest = fitting.bare(file, fitted)
    assert rest == text or (
        (rest is None and not text.strip("\ufeff \t\r\n").strip()) or text.strip() == file.head.strip()
    )
    new = fitting.fitted(file, None)
    assert new.startswith(file.head) and fitting.bare(file, new) is None


@pytest.mark.parametrize(
    "text",
    ["{", "{'a': 1}", '{"a" 1}', '{"a": }', "[1 2]", '{"a": 1} x', "/* ", '{"a": 1,, }', '{"a": tru}', "[" * 300,
     '{1: 2}', '"a', "{,}"],
)  # fmt: skip
def test_what_is_no_json_is_refused_with_its_line(text):
    with pytest.raises(jsonc.BadJson, match=r"line \d+: "):
        jsonc.parsed(text)
