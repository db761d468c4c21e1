"""Fingerprints: laws first, then what is boilerplate, then the frozen bytes of `lines-1`."""

from __future__ import annotations

import hashlib
import sys

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from gitmem.core import fingerprint

CODE = [f"total_{i} = compute(order_{i}, rate={i})" for i in range(500)]

_blanks = st.text(st.sampled_from(fingerprint.SPACES), min_size=1, max_size=4)
_word = st.text(st.sampled_from("abcxyz019_=(){};.é\u4e2d\"'#/<>@-"), min_size=1, max_size=9)
_words = st.lists(
    _word | st.sampled_from(["import", "from", "use", "require", "package", "total_amount", "order;"]), max_size=6
)
_lines = _words.map(" ".join)
_texts = st.lists(_lines, max_size=120)


@given(_texts, st.randoms())
def test_the_order_and_repetition_of_lines_change_nothing(lines: list[str], random: object) -> None:
    shuffled = lines + lines[:5]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fingerprint.sketch(shuffled) == fingerprint.sketch(lines)


@example(["from", "import", "abc"], "  ", " ", " ")  # no Python, and no import however far its words are apart
@given(_words, _blanks, _blanks, _blanks)
def test_other_blanks_between_and_around_the_words_change_nothing(
    words: list[str], between: str, before: str, after: str
) -> None:
    assert fingerprint.sketch([before + between.join(words) + after]) == fingerprint.sketch([" ".join(words)])


@given(_texts)
def test_a_fingerprint_is_found_whole_in_its_own_text_and_in_any_text_that_holds_it(lines: list[str]) -> None:
    made = fingerprint.sketch(lines)
    assume(made is not None)
    assert fingerprint.share(made, lines) == 100
    assert fingerprint.share(made, CODE + ["    " + line + "\r" for line in lines] + CODE) == 100
    assert fingerprint.share(made, []) == 0


@given(st.sets(st.integers(0, 2**64 - 1), max_size=300), st.sets(st.integers(0, 2**64 - 1), max_size=300))
def test_what_the_sample_of_a_union_keeps_of_a_part_the_sample_of_the_part_keeps_too(a: set[int], b: set[int]) -> None:
    of_part, of_union = fingerprint.of_marks(a), fingerprint.of_marks(a | b)
    kept = set(fingerprint.hashes(of_union)) & a
    assert kept <= set(fingerprint.hashes(of_part))


@pytest.mark.parametrize("percent", [0, 10, 30, 60, 90, 100])
def test_the_share_of_a_sample_is_the_share_of_the_whole(percent: int) -> None:
    made = fingerprint.sketch(CODE)
    kept = [line for i, line in enumerate(CODE) if i % 10 < percent // 10]
    assert abs(fingerprint.share(made, kept) - percent) <= 15  # the bound is that of 64 hashes; these are fixed lines


def test_a_share_is_rounded_down_so_that_a_threshold_is_never_met_by_rounding() -> None:
    made = fingerprint.sketch(CODE[:3])
    assert fingerprint.share(made, CODE[:2]) == 66


@pytest.mark.parametrize(
    "line",
    [
        "",
        "   \t",
        "}",
        "});",
        "------------",
        "/* ******************* */",
        "return x",
        "else {",
        "i += 1",
        "return False",
        "    return None;",
        "} continue;",
        "@Override",
        "'use strict';",
        "\ufeff#!/usr/bin/env python3",
        "import os, sys",
        "from a.b import (c,",
        "#include <stdio.h>",
        "use std::collections::HashMap;",
        "package main_program",
        "require 'active_support'",
        "using System.Collections;",
        "import {A, B} from './modules/c'",
        "\timport\tmodule_name",
        "# Copyright 2014 The Authors",
        " * Licensed under the Apache License",
        "// SPDX-License-Identifier: MIT",
    ],
)
def test_boilerplate_is_left_out(line: str) -> None:
    assert not fingerprint.is_distinctive(line)
    assert fingerprint.sketch([line]) is None


@pytest.mark.parametrize(
    "line",
    [
        "total = compute(order)",
        "return compute(order)",
        "use the second connection",
        "requires two factors to log in",
        "from users where id = 1",
        "continue_after(error)",
        "include the whole table",
        "合计 = 计算(订单, 费率)",
    ],
)
def test_what_says_something_is_kept(line: str) -> None:
    assert fingerprint.is_distinctive(line)


def test_the_fast_way_for_ascii_takes_out_the_same_blanks() -> None:
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        if character.isspace():
            assert character in fingerprint.SPACES
    for point in range(128):
        line = f"a{chr(point)}b"
        assert fingerprint.normalise(line) == fingerprint.normalise(line + "\u2003")


def test_lines_1_means_the_same_for_ever() -> None:
    # Made once, by the rules of the docstring and hand. Where this fails, the algorithm needs a new name.
    lines = [
        "  total = compute(order, rate)\r",
        "}",
        "return   compute( order )",
        "import os",
        "\u5408\u8ba1 = \u8ba1\u7b97(\u8ba2\u5355, \u8d39\u7387)",
    ]
    expected = sorted(
        hashlib.sha256(bare.encode()).hexdigest()[:16]
        for bare in (
            "total=compute(order,rate)",
            "returncompute(order)",
            "\u5408\u8ba1=\u8ba1\u7b97(\u8ba2\u5355,\u8d39\u7387)",
        )
    )
    assert fingerprint.sketch(lines) == {"algorithm": "lines-1", "hashes": expected, "lines": 3}
    assert fingerprint.sketch(["total = compute(order, rate)"]) == {
        "algorithm": "lines-1",
        "hashes": ["d7bf3768e5916317"],
        "lines": 1,
    }
    digest = hashlib.sha256("\n".join(sorted(fingerprint.COMMON) + sorted(fingerprint.LICENCE)).encode())
    for word, goes_on in sorted(fingerprint.IMPORTS.items()):
        digest.update(f"\n{word} {goes_on}".encode())
    digest.update(f"\n{fingerprint.LETTERS_MIN} {fingerprint.HASHES_MAX} {sorted(fingerprint.SPACES)}".encode())
    assert digest.hexdigest()[:16] == "9a96bbc5c9fabf06"


def test_a_large_change_is_sampled_and_its_size_is_kept() -> None:
    made = fingerprint.sketch(CODE)
    assert made is not None
    assert made["lines"] == 500
    assert len(fingerprint.hashes(made)) == fingerprint.HASHES_MAX
    assert made["hashes"] == sorted(made["hashes"])  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "field",
    [None, 1, [], {}, {"algorithm": "lines-9", "hashes": ["0" * 16]}, {"algorithm": "lines-1"}]
    + [{"algorithm": "lines-1", "hashes": h} for h in (None, "abc", [1, None, "xyz", "A" * 16, "0" * 17, {}])],
)
def test_a_field_of_another_shape_or_a_newer_algorithm_is_found_nowhere(field: object) -> None:
    assert fingerprint.hashes(field) == ()
    assert fingerprint.share(field, CODE) == 0


@pytest.mark.parametrize(
    "path",
    [
        "yarn.lock",
        "web/package-lock.json",
        "Cargo.lock",
        "go.sum",
        "static/jquery.min.js",
        "app.css.map",
        "a/vendor/x/y.go",
        "node_modules/left-pad/index.js",
        "api/user_pb2.py",
        "api/user.pb.go",
        "locale/de/django.po",
        "web/dist/app.js",
    ],
)
def test_files_that_nobody_writes_are_known_by_name(path: str) -> None:
    assert fingerprint.generated(path)


@pytest.mark.parametrize(
    "path", ["src/lock.py", "vendor.py", "src/admin.js", "docs/distribution.md", "Makefile", "map.c"]
)
def test_files_with_like_names_are_not_taken_for_generated(path: str) -> None:
    assert not fingerprint.generated(path)
