"""What the properties are tried on: values of the format, and values that only look like ones.

`events` makes fields that `events.build` takes; `near_misses` spells one value in ways that are not the canonical
one. Letters are drawn so that the odd ones (composed and not, without width, turning the direction) come often.
"""

from __future__ import annotations

import datetime
import json
import string
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from gitmem.core import characters, entities, vocabulary

# --- text -------------------------------------------------------------------------------------

#: Letters that are one character or two, marks in either order, letters of later Unicodes, Hangul, ligatures.
TRICKY = (
    *("é", "e\u0301", "\u212b", "\u00c5", "\u1e9b\u0323", "\uac00", "\u1100\u1161", "\ufb01", "ß", "İ", "ı", "ſ"),
    *("\u037e", "\u2126", "\u0958", "\u2adc", "\U000105c9"),
)
UNSEEN = [c for c in sorted(characters.INVISIBLE) if not "\ud800" <= c <= "\udfff"]

safe_characters = st.characters(exclude_categories=("Cs",), exclude_characters=sorted(characters.CONTROLS))
#: Any text that a JSON string may hold.
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40) | st.lists(
    st.sampled_from([*TRICKY, *UNSEEN[:60], " ", "a", "/", "."]), max_size=8
).map("".join)
#: Text that a writer takes as it is or after trimming: no controls.
prose = st.text(safe_characters, max_size=60) | st.lists(st.sampled_from([*TRICKY, " ", "a"]), max_size=8).map("".join)
meaningful = prose.filter(lambda text: bool(text.strip(characters.BLANKS + "\n")))

# --- values of the canonical subset -------------------------------------------------------------

integers = st.integers(-(2**53) + 1, 2**53 - 1)
keys = st.text(st.characters(max_codepoint=127), max_size=12)
scalars = st.none() | st.booleans() | integers | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
canonical_objects = st.dictionaries(keys, values, max_size=6)

# --- names ------------------------------------------------------------------------------------

_segment = st.text(
    st.sampled_from(string.ascii_letters + string.digits + "_-@.äß世é" + "\u0301 "), min_size=1, max_size=8
)
_separators = st.sampled_from(["/", "/", ".", "::", "//", "/./", "\\", " / ", ":", "/../"])


@st.composite
def typed_names(draw: st.DrawFn) -> str:
    """What people might type for an entity, well or badly."""
    parts = [draw(_segment | texts)]
    for _ in range(draw(st.integers(0, 4))):
        parts += [draw(_separators), draw(_segment | st.sampled_from(["py", "ts", "json", "lock", "", "..", "."]))]
    return draw(st.sampled_from(["", " ", "/", "./", "deps/", "env/", "api/", "\t"])) + "".join(parts)


def _spelt(text: str) -> str:
    try:
        return entities.canonical(text)
    except entities.BadName:
        return "users.email"


entity_paths = typed_names().map(_spelt)

# --- fields of events ---------------------------------------------------------------------------

_hex = st.sampled_from("0123456789abcdef")
ids = st.text(_hex, min_size=64, max_size=64)
oids = st.text(_hex, min_size=40, max_size=40) | ids
id_sets = st.sets(ids, max_size=3).map(sorted)
some_ids = st.sets(ids, min_size=1, max_size=3).map(sorted)
times = st.datetimes(min_value=datetime.datetime(1970, 1, 1)).map(lambda when: when.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
authors = st.builds("{} <{}>".format, texts, texts)


def _common(kind: str) -> dict[str, st.SearchStrategy[Any]]:
    return {
        "v": st.just(1),
        "kind": st.just(kind),
        "clock": st.integers(1, 2**53 - 1),
        "nonce": st.text(_hex, min_size=32, max_size=32),
        "recorded_at": times,
        "author": authors,
        "after": id_sets,
        "scope": st.just("") | entity_paths,
        "channel": st.sampled_from(vocabulary.CHANNELS),
        "basis": st.sampled_from(vocabulary.BASES),
        "tool": prose,
    }


def _changes() -> st.SearchStrategy[dict[str, Any]]:
    fields = _common("change") | {
        "entity_path": entity_paths,
        "entity_type": st.sampled_from(vocabulary.ENTITY_TYPES),
        "change_type": st.sampled_from(sorted(vocabulary.CHANGE_TYPES)),
        "reasoning": meaningful,
    }
    line = prose.map(lambda text: text.replace("\n", " "))
    optional = {
        "approach": line,
        "instead": line,
        "constraint": line,
        "diff": texts.map(lambda text: text.replace("\0", "")),
        "supersedes": some_ids,
        "targets": some_ids,
        "effect": st.sampled_from(vocabulary.EFFECTS_WRITTEN),
        "renamed_from": entity_paths,
        "valid_from": times,
        "stale_when": line,
        "fingerprint": st.fixed_dictionaries({"algorithm": st.just("lines-1"), "lines": st.lists(ids, max_size=3)}),
        "patterns": st.lists(line | st.lists(line, min_size=1, max_size=2), max_size=2),
        "base": st.fixed_dictionaries({"branch": line}, optional={"commit": oids}),
        "evidence": st.lists(line, max_size=2),
        "tags": st.lists(line, max_size=2),
        "source": line,
        "agent": line,
        "allow_secret": st.just(True),
    }
    return st.fixed_dictionaries(fields, optional=optional)


def _acts() -> st.SearchStrategy[dict[str, Any]]:
    acts = [
        _common("review") | {"action": st.sampled_from(vocabulary.REVIEW_ACTIONS)},
        _common("mark") | {"action": st.sampled_from(vocabulary.MARK_ACTIONS)},
        _common("override"),
        _common("redact") | {"mode": st.sampled_from(vocabulary.REDACTION_MODES), "old_tip": oids},
    ]
    links = _common("link") | {"commit": oids, "how": st.sampled_from(vocabulary.LINK_HOWS), "targets": some_ids}
    renames = {"renames": st.lists(st.tuples(entity_paths, entity_paths).map(list), min_size=1, max_size=2)}
    return st.one_of(
        *(st.fixed_dictionaries(act | {"targets": some_ids, "reason": meaningful}) for act in acts),
        st.fixed_dictionaries(links, optional=renames),
    )


#: Fields that `events.build` takes, of changes and of every kind.
changes = _changes()
events = changes | _acts()

# --- bytes that are no event ------------------------------------------------------------------

junk = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.integers(1, 5000).map(lambda n: b"[" * n),
    st.integers(1, 5000).map(lambda n: b'{"a":' * n + b"1" + b"}" * n),
    st.integers(1, 6000).map(lambda n: b'{"v":' + b"9" * n + b"}"),
    st.sampled_from(
        [b"", b"null", b"NaN", b"[]", b"{}", b'""', b"-0", b"1e400", b"\xff", b"\xef\xbb\xbf{}", b'"\\ud800"']
    ),
    # JSON of any sort under the names that an event has: every shape meets every type
    st.dictionaries(
        st.sampled_from(
            [
                "v",
                "kind",
                "clock",
                "after",
                "author",
                "recorded_at",
                "supersedes",
                "targets",
                "entity_path",
                "action",
                "renames",
            ]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | ids,
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
            max_leaves=6,
        ),
    ).map(
        lambda value: json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(
            "utf-8", "replace"
        )
    ),
)

#: Ways to spell a value that are not the one; each takes a non-empty object and its canonical text.
OTHER_SPELLINGS: dict[str, Callable[[dict[str, Any], str], str]] = {
    "a blank after a colon": lambda value, text: json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ": ")
    ),
    "a blank in front": lambda value, text: " " + text,
    "a line feed at the end": lambda value, text: text + "\n",
    "a mark at the start": lambda value, text: "\ufeff" + text,
    "keys in another order": lambda value, text: json.dumps(
        dict(sorted({**value, "A": 0, "a": 0}.items(), reverse=True)), ensure_ascii=False, separators=(",", ":")
    ),
    "a key twice": lambda value, text: '{"":0,' + text[1:] if "" in value else '{"":0,"":0,' + text[1:],
    "a letter escaped": lambda value, text: '{"\\u0021":0,' + text[1:],
    "a slash escaped": lambda value, text: '{"!":"\\/",' + text[1:],
    "a pair of surrogates escaped": lambda value, text: '{"!":"\\ud83d\\ude00",' + text[1:],
    "half a pair escaped": lambda value, text: '{"!":"\\ud83d",' + text[1:],
    "an escape in capitals": lambda value, text: '{"!":"\\u001B",' + text[1:],
    "a long escape": lambda value, text: '{"!":"\\u000a",' + text[1:],
    "a fraction": lambda value, text: '{"!":1.0,' + text[1:],
    "an exponent": lambda value, text: '{"!":1e2,' + text[1:],
    "minus zero": lambda value, text: '{"!":-0,' + text[1:],
    "a large number": lambda value, text: '{"!":9007199254740992,' + text[1:],
    "not a number": lambda value, text: '{"!":NaN,' + text[1:],
    "infinity": lambda value, text: '{"!":-Infinity,' + text[1:],
}
