"""Failures: the lines by which programs that run tests tell that one failed. Pure, and shapes only.

Each program has a form of its own for it, and what has none of these forms is no failing test, whatever words are in
it. Only so much of an output is looked at, and only the first few lines are taken: a run in which everything fails
says one thing.
"""

from __future__ import annotations

#: So many characters at the end of an output are looked through, so many lines, and so many failures are taken.
OUTPUT_MAX, LINES_MAX, FAILURES_MAX = 200_000, 20_000, 3
#: A longer line is not one that tells of a test.
LINE_MAX = 2_000

#: What each line of these forms holds; without one of them in an output, nothing is compiled and nothing looked at.
_MARKS = ("FAIL", "ERROR", "Failed", "failed", "not ok ", "rspec ", "● ", "× ", "✗ ", "✘ ", "::", "Timeout", "SEGFAULT")
_NAME = r"[A-Za-z_][\w.$\\/:-]*"
_FORMS = (
    r"FAILED [\w./\\-]+\.py::\S.*",  # pytest
    r"(?:FAIL|ERROR): \w+ \([\w.]+\)",  # unittest
    r"--- FAIL: \w\S* \(\d+(?:\.\d+)?s\)",  # go
    rf"test {_NAME}(?: - should panic)? \.\.\. FAILED",  # cargo
    r"● .+ › .+",  # jest
    r"(?:FAIL|×|✗|✘) +[\w./@\\-]+\.(?:[cm]?[jt]sx?)(?: > .+|:\d+.*)",  # vitest
    r"not ok \d+ - (?!.*# (?i:todo|skip))\S.*",  # TAP: node, perl, bats
    r"rspec \./\S+:\d+ # .+",  # RSpec
    rf"\[ERROR\] +{_NAME}:\d+ .+",  # Maven
    r"[A-Z]\w+ > \w.* FAILED",  # Gradle
    r"\d+\) [A-Z][\w\\]+::\w+(?: with data set .+)?",  # PHPUnit
    r"Failed [A-Z][\w.]+\.\w+(?:\(.*\))? \[[<\d][^\]]*\]",  # dotnet
    r"Test Case '-\[\S+ \w+\]' failed \(\d+(?:\.\d+)? seconds\)\.?",  # XCTest
    r"\d+ - \S+ \((?:Failed|Timeout|SEGFAULT)\)",  # CTest
    r"\[  FAILED  \] \w+[./]\w\S*(?: \(\d+ ms\))?",  # GoogleTest
)
_STARTS = (
    *("FAIL", "ERROR: ", "--- FAIL", "test ", "● ", "×", "✗", "✘", "not ok ", "rspec ", "[", "Failed ", "Test Case "),
    *"0123456789",
)
_ESCAPES = r"\x1b\[[0-9;?]{0,16}[A-Za-z]"
#: How long it took, at the end: the same failure takes another time tomorrow.
_TOOK = r" [(\[](?:<? ?\d+(?:\.\d+)? ?(?:s|ms|seconds))[)\]]\.?$"
#: A file that such a line names, and in it a test.
_FILE = r"(?<![\w/.])\.?/?((?:[\w@.-]+/)*[\w@.-]+\.[A-Za-z]{1,4})(?=::|:\d| > |\s|$)"


def failures(output: str) -> list[str]:
    """Return the first lines of `output` that tell of a failed test, as they stand there, each once.

    But for the blanks round it, the colours of a terminal in it, and how long the test took.
    """
    if not any(mark in output for mark in _MARKS):
        return []
    import re  # here: nearly no call of an agent tells of a failed test

    form, escapes, took = re.compile("|".join(_FORMS)), re.compile(_ESCAPES), re.compile(_TOOK)
    found: dict[str, None] = {}
    for line in output[-OUTPUT_MAX:].splitlines()[-LINES_MAX:]:
        if len(line) > LINE_MAX:
            continue
        text = escapes.sub("", line).strip() if "\x1b" in line else line.strip()
        if not (text.startswith(_STARTS) or text.endswith(" FAILED")):
            continue
        if form.fullmatch(text):
            found[took.sub("", " ".join(text.split()))] = None
            if len(found) == FAILURES_MAX:
                break
    return list(found)


def file_of(line: str) -> str:
    """Return the file that the line of a failure names, or an empty string."""
    import re

    found = re.search(_FILE, line)
    return found.group(1) if found else ""
