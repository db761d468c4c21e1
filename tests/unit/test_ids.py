"""Event ids and what people type for them."""

from __future__ import annotations

import hashlib

import pytest

from gitmem.core import ids


def test_an_id_is_sha_256_in_hex():
    assert ids.of(b"{}") == hashlib.sha256(b"{}").hexdigest()
    assert ids.is_id(ids.of(b"{}"))
    assert ids.short(ids.of(b"{}")) == ids.of(b"{}")[: ids.SHORT]


@pytest.mark.parametrize(
    "text", ["", "a" * 63, "a" * 65, "A" * 64, "g" * 64, "a" * 63 + "\n", "à" * 64, None, 7, b"a" * 64]
)
def test_what_is_no_id(text):
    assert ids.is_id("a" * 64)
    assert not ids.is_id(text)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("7f3a", True),
        ("7F3A", True),
        ("a" * 64, True),
        ("7f3", False),
        ("", False),
        ("a" * 65, False),
        ("7f3g", False),
        ("7f3 ", False),
    ],
)
def test_a_prefix_has_four_digits_at_least(text, fits):
    assert ids.is_prefix(text) is fits
