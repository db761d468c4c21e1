"""The documents say what the program does: generated pages are current, and no command is missing from them."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def docs() -> ModuleType:
    """scripts/docs, as a module."""
    loader = importlib.machinery.SourceFileLoader("scripts_docs", str(ROOT / "scripts" / "docs"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_generated_pages_are_current(docs):
    assert sorted(docs.stale()) == [], "run scripts/docs"


def test_the_architecture_names_every_file_of_the_package():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z0-9_]+)(?:\.py)?`", page))
    # Told as a whole: a file for each family of commands, each language, each client, each form.
    told = {"cli", "entering", "agents", "exporters"}
    files = [path.relative_to(ROOT) for path in (ROOT / "gitmem").rglob("*.py") if not path.stem.startswith("__")]
    assert [str(path) for path in files if path.stem not in named and not told & set(path.parts)] == []


@pytest.mark.parametrize("page", ["marks", "invariants", "security"])
def test_what_a_page_says_is_built_or_tested_is_there(page):
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    files = re.findall(r"`((?:tests|scripts|core|store|sync|cases|cli|hooks|importers|exporters)/[\w/]+\.\w+)`", text)
    assert [name for name in files if not ((ROOT / name).exists() or (ROOT / "gitmem" / name).exists())] == []
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = re.findall(r"`(test_\w+)`", text)
    assert [name for name in named if f"def {name}(" not in tests] == []
    assert files or page == "security"


def test_the_page_of_errors_has_each_of_them(docs):
    page = (ROOT / "docs" / "reference" / "errors.md").read_text("utf-8")
    for each in docs.error_classes():
        assert f"### {each.code} · {each.__name__}\n" in page


def test_each_decision_of_the_project_follows_the_template():
    pages = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
    assert [page.name[:4] for page in pages] == [f"{number:04}" for number in range(1, len(pages) + 1)]
    headings = re.findall(r"^## .*$", (ROOT / "docs" / "adr" / "template.md").read_text("utf-8"), re.MULTILINE)
    for page in pages:
        text = page.read_text("utf-8")
        assert text.startswith(f"# {page.name[:4]}. "), page.name
        assert re.search(r"^- Status: (proposed|accepted|superseded by)", text, re.MULTILINE), page.name
        assert re.search(r"^- Date: \d{4}-\d\d-\d\d$", text, re.MULTILINE), page.name
        assert re.findall(r"^## .*$", text, re.MULTILINE) == headings, page.name


def commands() -> list[str]:
    """The names of the commands, from their definitions."""
    from gitmem.cli import catalogue

    return [command.words for command in catalogue.every()]


def test_each_command_has_help_and_a_place_in_the_documents(capsys):
    from gitmem.cli import entry

    names = commands()
    assert {"init", "record", "log", "verify"} <= set(names)
    reference = (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8")
    manual = (ROOT / "docs" / "man" / "git-decisions.1").read_text("utf-8")
    for name in names:
        # In this process; `test_cli_terminal.py` asks the installed command.
        code, (out, err) = entry.run([*name.split(), "-h"]), capsys.readouterr()
        assert (code, err) == (0, "") and name in out, name
        assert re.search(rf"^#+ .*\b{re.escape(name)}\b", reference, re.MULTILINE), f"{name} is not in cli.md"
        assert name in manual.replace("\\-", "-"), f"{name} is not in the man page"


def rows_of_json() -> dict[str, set[str]]:
    """The fields that the reference promises, by command: the table of answers in `docs/reference/cli.md`."""
    page = (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8")
    promised = {}
    for row in re.findall(r"^\| (`.*) \|$", page.split("## JSON")[1].split("## Exit")[0], re.MULTILINE):
        answers, fields = row.split(" | ", 1)
        for name in re.findall(r"`([a-z -]+)", answers):
            promised[name] = set(re.findall(r"`(\w+)`", fields))
    return promised


def test_the_json_of_each_command_is_promised_with_its_fields(cli, make_repo):
    from gitmem.cli import catalogue

    promised = rows_of_json()
    # Said in one row, with others of their kind.
    together = {
        *("ratify", "dispute", "retract", "resolve", "seal", "unseal", "mute", "unmute", "pin", "unpin", "override"),
        *("import sql", "import alembic", "import django", "import adr", "import agent-trace", "import selvedge"),
    }
    takes = {one.words for one in catalogue.every() for option in one.options if "--json" in option.names}
    assert takes - together - set(promised) == set()

    repo = make_repo("plain")
    (repo / "a.py").write_text("x = 1\n", "utf-8")
    written = cli("reject", "a.py", "--whole", "-r", "It was slow.", "--json", cwd=repo).json["events"][0]["id"]
    asked = {
        **{
            name: [name]
            for name in ("log", "stats", "review", "stale", "changeset", "doctor", "digest", "verify", "inbox")
        },
        **{name: [name] for name in ("link", "init")},
        **{name: [name, "a.py"] for name in ("prior", "blame", "status", "why", "reveal")},
        "show": ["show", written],
        "assert": ["assert", written],
        "gate": ["gate", "--staged"],
        "import git": ["import", "git"],
        "reject": ["reject", "b.py", "--whole", "-r", "It was slower."],
        "setup": ["setup", "--check"],
    }
    for name, words in asked.items():
        answer = set(cli(*words, "--json", cwd=repo).json) - {"schema"}
        assert answer <= promised[name], name


def pages() -> list[Path]:
    """Every page of the repository that people read."""
    folders = [ROOT, *(ROOT / name for name in ("docs", "action", "plugin", "githooks", "tests", "changelog.d"))]
    found = {page for folder in folders for page in folder.glob("*.md" if folder == ROOT else "**/*.md")}
    return sorted(found)


def anchors(page: Path) -> set[str]:
    """The names that a forge gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def dead(page: Path) -> list[str]:
    """The links of a page that lead nowhere in the repository: no file, or no heading of that name in it."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    found = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        place = (page.parent / name) if name else page
        if not place.exists() or (anchor and place.suffix == ".md" and anchor not in anchors(place)):
            found.append(target)
    return found


def test_no_link_between_the_documents_is_dead(tmp_path):
    assert {str(page.relative_to(ROOT)): dead(page) for page in pages() if dead(page)} == {}
    broken = tmp_path / "broken.md"
    broken.write_text("# Here\n[a](#here) [b](#there) [c](gone.md) [d](broken.md#here) [e](https://example.org/x)\n")
    assert dead(broken) == ["#there", "gone.md"]


def test_every_page_is_in_the_list_of_documents():
    listed = (ROOT / "docs" / "README.md").read_text("utf-8")
    assert [page.name for page in (ROOT / "docs").glob("*.md") if f"]({page.name})" not in listed] == ["README.md"]


def test_each_invariant_has_its_number_and_names_tests_that_exist():
    page = (ROOT / "docs" / "invariants.md").read_text("utf-8")
    rows = [
        [cell.strip() for cell in row.strip("|").split(" |")] for row in re.findall(r"^(\| \d.*)$", page, re.MULTILINE)
    ]
    assert len({row[0] for row in rows}) == len(rows) > 40
    files = {path.name: path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py")}
    functions = set(re.findall(r"^def (test_\w+)\(", "\n".join(files.values()), re.MULTILINE))
    for row in rows:
        assert len(row) == 5 and row[4], row
        for name in re.findall(r"`((?:tests/|test_)[^`]*)`", row[4]):
            path, _, function = name.partition("::")
            exists = (ROOT / path).exists() if path.startswith("tests/") else path in files or path in functions
            assert exists and (not function or function in functions), (row[0], name)
        for name in re.findall(
            r"`((?:core|store|sync|cases|hooks|cli|mcp|importers|exporters)/[^` ]+)`", " ".join(row)
        ):
            assert (ROOT / "gitmem" / name).exists(), (row[0], name)


def test_a_word_has_one_meaning_and_its_place_in_the_glossary():
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    words = [found.lower() for found in re.findall(r"^\*\*([^*]+)\*\*[^:\n]*:", page, re.MULTILINE)]
    assert len(words) > 60 and len(set(words)) == len(words)
    assert words == sorted(words)


# --- the story of the README ------------------------------------------------------------------


def told(page: str) -> list[tuple[str, str]]:
    """The commands of a page's console blocks, each with what the page says that it prints."""
    story: list[tuple[str, str]] = []
    for block in re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, said = re.sub(r"\\\n\s*", "", step).partition("\n")
            story.append((command, said))
    return story


def alike(said: str, place: Path) -> str:
    """`said` without what differs from run to run: ids, dates, the folder, colours, and so where lines are broken."""
    said = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", said)
    said = re.sub(r"^.*\r", "", said, flags=re.MULTILINE)  # progress that was drawn over
    said = re.sub(r"\b[0-9a-f]{8,64}\b", "ID", said)
    said = re.sub(r"\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}|\d{4}-\d\d-\d\d", "DATE", said)
    return "".join(said.split()).replace(str(place), "~/shop")


def test_the_readme_shows_what_the_commands_say(make_repo, git, shell):
    repo = make_repo(name="shop")
    (repo / "sessions.py").write_text("import redis\n\nstore = redis.Redis()\nlifetime_s = 3600\n")
    git("add", "sessions.py", cwd=repo)
    git("commit", "--quiet", "-m", "Keep sessions in Redis", cwd=repo)
    git("revert", "--no-edit", "HEAD", cwd=repo)
    reverted = git("rev-parse", "HEAD^", cwd=repo)
    why = f'Revert "Keep sessions in Redis"\n\nThe failover lost every login.\n\nThis reverts commit {reverted}.'
    git("commit", "--quiet", "--amend", "-m", why, cwd=repo)
    (repo / "schema.sql").write_text("CREATE TABLE users (id INTEGER);\n")
    git("add", "schema.sql", cwd=repo)
    git("commit", "--quiet", "-m", "Begin with users", cwd=repo)
    (repo / "schema.sql").write_text("CREATE TABLE users (id INTEGER, card_token TEXT);\n")

    story = told((ROOT / "README.md").read_text("utf-8"))
    assert len(story) > 8
    for command, said in story:
        outcome = shell(command, cwd=repo, env={"NO_COLOR": "1", "GIT_PAGER": "cat"})
        assert alike(outcome.stdout, repo) == alike(said, repo), command
        assert outcome.code == (14 if said.startswith("error:") else 0), command


def test_the_page_of_agents_tells_each_client_its_files_and_the_line_that_it_runs():
    from gitmem.core.clients import CLIENTS, line

    page = (ROOT / "docs" / "agents" / "README.md").read_text("utf-8")
    assert line("claude") in page
    for client in CLIENTS.values():
        assert f"\n| {client.name} |" in page, client.name
        section = page.partition(f"\n## {client.name}\n")[2].partition("\n## ")[0]
        assert section, client.name
        for file in client.files:
            place = next(
                (folder for folder in (".agents/plugins/gitmem", ".clinerules/hooks") if folder in file.path), ""
            )
            assert f"`{place or file.path}`" in section, (client.name, file.path)
