"""What is generated from the Typer definitions is current, and says what they say."""

from __future__ import annotations

from pathlib import Path

from gitmem.cli import catalogue, reference
from gitmem.cli.hot_table import HOT

ROOT = Path(reference.__file__).resolve().parent.parent.parent

#: These are answered without Typer.
EVERYDAY = {
    "record", "reject", "supersede", "lesson", "recall", "log", "show", "status", "prior", "blame", "search",
    "changeset", "assert", "verify", "review", "stale", "rebuild", "gate", "digest", "why",
}  # fmt: skip


def test_the_hot_table_is_what_the_definitions_make() -> None:
    written = Path(reference.__file__).with_name("hot_table.py").read_text("utf-8")
    assert reference.pages()[reference.HOT_TABLE] == written, "run python -m gitmem.cli.reference --write"
    assert set(HOT) == EVERYDAY


def test_every_command_and_option_is_in_the_reference_and_in_the_manual() -> None:
    pages = reference.pages()
    page, manual = pages[reference.REFERENCE], pages[reference.MANUAL].replace("\\-", "-")
    for command in catalogue.every():
        assert f"\n### {command.words}\n" in page
        assert f"\\fB{command.words}\\fR" in manual
        section = page.split(f"\n### {command.words}\n")[1].split("\n### ")[0]
        for option in command.options:
            for name in option.names:
                assert f"`{name}" in section or f", {name}" in section
                assert f"\\fB{name}\\fR" in manual


def test_the_manual_is_well_formed() -> None:
    rows = reference.pages()[reference.MANUAL].splitlines()
    assert rows[1].startswith(".TH GIT-DECISIONS 1")
    for row in rows:
        assert not row.startswith("'") and row.strip()
        if row.startswith("."):
            assert row.split()[0] in ('.\\"', ".TH", ".SH", ".SS", ".PP", ".TP", ".br", ".RS", ".RE", ".nf", ".fi")
    assert rows.count(".nf") == rows.count(".fi")


def test_no_generated_page_names_this_machine() -> None:
    for text in reference.pages().values():
        assert str(ROOT) not in text and "/home/" not in text and "/work" not in text
