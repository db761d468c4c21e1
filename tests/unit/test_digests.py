"""Digests: whatever makes them, they are the standard's; and the first few come without OpenSSL."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest

SAY = """
import sys
from gitmem.core import digests
{before}
made = [digests.sha256(b"%d" % n).hexdigest() + digests.sha1(b"%d" % n).hexdigest() for n in range({many})]
print("hashlib" in sys.modules, *made)
"""


def digests_of(many: int, before: str = "") -> tuple[bool, list[str]]:
    script = SAY.format(many=many, before=before)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded, *made = done.stdout.split()
    return loaded == "True", made


@pytest.mark.parametrize(
    ("many", "before", "openssl"),
    [
        (10, "", False),
        (200, "", True),
        (10, "digests.many(); digests.many()", True),
        (10, "sys.modules['_sha1'] = None", True),
    ],
    ids=["a few", "many", "said to be many", "a Python without them"],
)
def test_digests_are_right_whoever_makes_them(many, before, openssl):
    loaded, made = digests_of(many, before)
    assert made == [hashlib.sha256(b"%d" % n).hexdigest() + hashlib.sha1(b"%d" % n).hexdigest() for n in range(many)]
    assert loaded is openssl
