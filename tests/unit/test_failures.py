"""What tells of a failed test, by its shape and by nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.core import failures

#: Of each program its line, what is kept of it, and the file in it.
LINES = (
    ("FAILED tests/test_a.py::test_x[1-2] - assert 1 == 2", "", "tests/test_a.py"),
    ("FAIL: test_y (tests.test_b.Case.test_y)", "", ""),
    ("ERROR: test_y (tests.test_b.Case)", "", ""),
    ("    --- FAIL: TestFoo/sub_case (0.02s)", "--- FAIL: TestFoo/sub_case", ""),
    ("test parser::tests::rejects_empty ... FAILED", "", ""),
    ("  ● Cart › adds twice", "● Cart › adds twice", ""),
    (" FAIL  src/cart.test.ts > cart > adds", "FAIL src/cart.test.ts > cart > adds", "src/cart.test.ts"),
    ("not ok 4 - gives it back", "", ""),
    ("rspec ./spec/pool_spec.rb:12 # Pool gives back", "", "spec/pool_spec.rb"),
    (
        "[ERROR]   FooTest.testBar:42 expected:<1> but was:<2>",
        "[ERROR] FooTest.testBar:42 expected:<1> but was:<2>",
        "",
    ),
    ("FooTest > testBar() FAILED", "", ""),
    ("1) Tests\\FooTest::testBar", "", ""),
    ("  Failed My.Tests.FooTest.Bar(x: 1) [12 ms]", "Failed My.Tests.FooTest.Bar(x: 1)", ""),
    ("Test Case '-[MyTests testIt]' failed (0.101 seconds).", "Test Case '-[MyTests testIt]' failed", ""),
    ("\t  3 - unit (Failed)", "3 - unit (Failed)", ""),
    ("[  FAILED  ] Foo.Bar (3 ms)", "[ FAILED ] Foo.Bar", ""),
)
#: Of the same words, and no failed test.
OTHERS = (
    "FAILED to connect to tests/test_a.py",
    "the build FAILED",
    "FAIL",
    "1 failed, 3 passed in 0.1s",
    "--- PASS: TestFoo (0.02s)",
    "not ok 5 - later # TODO not yet",
    "not ok 5 - elsewhere # skip no network",
    "ok 4 - gives it back",
    "Failed to fetch [12 packages]",
    "ERROR: something broke terribly, this is a disaster",
    "def test_failed(): assert FAILED",
    "[ERROR] cannot find symbol",
)


@pytest.mark.parametrize(("line", "kept", "file"), LINES, ids=[line.strip()[:24] for line, _, _ in LINES])
def test_a_failed_test_is_known_by_the_line_of_its_program(line, kept, file):
    output = f"collecting ...\n{line}\nsome more FAILED words\n"
    assert failures.failures(output) == [kept or line]
    assert failures.failures(f"\x1b[31m{line}\x1b[0m\r\n") == [kept or line]
    assert failures.file_of(kept or line).removeprefix("Foo.Bar") == file  # whether there is such a file is asked later


@pytest.mark.parametrize("line", OTHERS)
def test_words_alone_are_no_failed_test(line):
    assert failures.failures(f"{line}\n") == []
    assert failures.failures(f"{line}\nFAIL: test_y (tests.test_b.Case)\n") == ["FAIL: test_y (tests.test_b.Case)"]


def test_of_a_run_in_which_all_fails_the_first_few_are_taken_each_once():
    output = "".join(f"FAILED tests/test_a.py::test_{n // 2} - no\n" for n in range(100))
    assert failures.failures(output) == [f"FAILED tests/test_a.py::test_{n} - no" for n in range(failures.FAILURES_MAX)]


def test_a_failure_takes_the_same_line_whatever_time_it_took():
    assert failures.failures("--- FAIL: TestA (0.02s)") == failures.failures("--- FAIL: TestA (1.30s)")
    assert failures.failures("--- FAIL: TestA (0.02s)") != failures.failures("--- FAIL: TestB (0.02s)")


@given(st.text(max_size=400))
def test_any_output_is_read_and_what_is_taken_stands_in_it(output):
    for line in failures.failures(output + "\nFAILED a.py::b\n"):
        assert set(line.split()) <= set(output.split()) | {"FAILED", "a.py::b"}
        assert "\n" not in line
