"""Laws of what an edit brings in: nothing from a text that stays, nothing from blank lines, no error, no long work."""

from __future__ import annotations

import re
import sys
from re import _constants as codes
from re import _parser as parser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitmem.core import ddl, entering
from gitmem.core.entering import (
    environment,
    go,
    java,
    manifests,
    others,
    prisma,
    python,
    ruby,
    rust,
    script,
    settings,
    source,
)
from gitmem.core.entering.pattern import Pattern

PATHS = [
    "m.sql",
    "a/models.py",
    "a/migrations/1.py",
    "a.ts",
    "b.vue",
    "db/migrate/1.rb",
    "config/routes.rb",
    "a.go",
    "a.rs",
    "A.java",
    "a.kt",
    "a.php",
    "a.cs",
    "a.exs",
    "schema.prisma",
    "requirements.txt",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "Pipfile",
    "package.json",
    "composer.json",
    "Cargo.toml",
    "go.mod",
    "Gemfile",
    "x.gemspec",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "libs.versions.toml",
    ".env",
    "Dockerfile",
    "docker-compose.yml",
    ".github/workflows/a.yml",
    "README.md",
    "x",
]
_PLAIN = r"""
    CREATE TABLE ALTER ADD COLUMN RENAME TO INDEX ON DO AS SELECT users card_token a B 1 é import from require def class
    function const fn func type struct impl module use self models.CharField Column Table migrations.AddField do |t| |
    op.add_column create_table add_column t.string end up down name gem dependencies [project] [dependencies] redis
    left-pad @a/b github.com/a/b <dependency> <artifactId> </dependency> implementation env ENV process.env. os.environ
    getenv ${X} X= environment: @app.get /v1/users/{id} resources router.get @Entity @Column model pgTable gorm:
    <<~SQL SQL � \ # // /* */ -- " ' ` """
WORDS = [
    *_PLAIN.split(),
    '"""',
    "'''",
    "$$",
    'r#"',
    *"()[]{},;:=.<>@",
    "=>",
    "->",
    "%q(",
    ":a",
    "-- +goose Down",
    "\0",
    "\t",
    *["\n", "\n  ", "\n    ", " "] * 3,
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=60).map("".join)


@given(st.sampled_from(PATHS), TEXTS)
@example("a.ts", "/(")
@example("a.rs", "'\\")
@example("a.rb", "<<~A")
def test_a_text_that_stays_brings_in_nothing(path: str, text: str) -> None:
    assert entering.found(path, text, text) == []
    assert entering.found(path, text, None) == []
    told = entering.found(path, None, text)
    assert told[0] == entering.Entering(path, "file", 1)
    assert told == entering.found(path, None, text)
    assert len({one.name.lower() for one in told}) == len(told)


@given(st.sampled_from(PATHS), TEXTS, TEXTS, st.text(max_size=20))
def test_any_edit_is_read_without_an_error(path: str, before: str, after: str, odd: str) -> None:
    told = entering.found(path, before + odd, odd + after)
    assert [one.line for one in told] == sorted(one.line for one in told)
    whole = {one.name.lower() for one in entering.found(path, None, odd + after)}
    assert {one.name.lower() for one in told} <= whole


SAMPLES = {
    "m.sql": "CREATE TABLE t (\n  a int,\n  b text\n);\nALTER TABLE u\n  ADD COLUMN c int;\n",
    "a/models.py": "import redis\n\nclass A(models.Model):\n    x = models.CharField(\n        max_length=1,\n    )\n\n"
    "    def f(self):\n        return os.environ['K']\n",
    "db/migrate/1.rb": "class X\n  def up\n    add_column :t,\n      :c, :string\n    create_table :u do |t|\n"
    "      t.string :d\n    end\n  end\nend\n",
    "a.ts": "import a from 'left-pad'\nexport class A {\n  async f(\n    x\n  ) {\n    return process.env.K\n"
    "  }\n}\nconst g = () => {\n}\n",
    "a.go": 'package a\nimport (\n\t"github.com/a/b"\n)\nfunc F() {\n\tos.Getenv("K")\n}\n',
    "a.rs": "use redis::A;\nimpl T {\n    fn f() {\n    }\n}\n",
    "A.java": "import com.stripe.X;\nclass A {\n  int f() {\n    return 1;\n  }\n}\n",
    "schema.prisma": "model A {\n  id Int\n  cardToken String\n}\n",
    "requirements.txt": "redis\nblack==1\n",
    "pyproject.toml": '[project]\ndependencies = [\n  "redis",\n]\n[tool.poetry.dependencies]\nx = "1"\n',
    "package.json": '{\n  "dependencies": {\n    "a": "1"\n  }\n}\n',
    "Cargo.toml": '[dependencies]\na = "1"\n',
    "go.mod": "module m\nrequire (\n\tgithub.com/a/b v1\n)\n",
    "Gemfile": "gem 'a'\n",
    "pom.xml": "<dependency>\n<groupId>g</groupId>\n<artifactId>a</artifactId>\n</dependency>\n",
    ".env": "A=1\n",
    "docker-compose.yml": "services:\n  a:\n    environment:\n      - A\n",
}
COMMENTS = {
    ".sql": "-- {}",
    ".py": "# {}",
    ".rb": "# {}",
    ".ts": "// {}",
    ".go": "// {}",
    ".rs": "// {}",
    ".java": "// {}",
    ".prisma": "// {}",
    ".txt": "# {}",
    ".toml": "# {}",
    ".json": "// {}",
    ".mod": "// {}",
    ".xml": "<!-- {} -->",
    ".env": "# {}",
    ".yml": "# {}",
    "Gemfile": "# {}",
}


@pytest.mark.parametrize("path", SAMPLES)
def test_a_blank_line_or_a_comment_brings_in_nothing(path: str) -> None:
    text = SAMPLES[path]
    lines = text.split("\n")
    said = "ALTER TABLE z ADD z int; import z; gem 'z'; def z(): pass; Z=1 "
    comment = next(form for end, form in COMMENTS.items() if path.endswith(end)).format(said)
    assert len(entering.found(path, "", text)) >= 1
    for at in range(len(lines)):
        for line in ("", "  ", comment):
            after = "\n".join([*lines[:at], line, *lines[at:]])
            assert entering.found(path, text, after) == [], (at, line)
    # What the comment says, said in earnest, is seen in one kind of file at least: the loop above isn't deaf.
    assert entering.found("m.sql", SAMPLES["m.sql"], SAMPLES["m.sql"] + said)


# --- linear time ------------------------------------------------------------------------------


#: What one pattern may cost at one place. The most that a reader's costs on real text is a hundredth of it.
STEPS_MAX = 3_000_000


def _patterns() -> list[tuple[str, str, bool]]:
    """Every regular expression of the detectors, by name; True for those that read a text from end to end."""
    found: list[tuple[str, str, bool]] = [(f"lex {name}", lex, True) for name, lex in source._LEXES.items()]
    for module in (ddl, environment, go, java, manifests, others, prisma, python, ruby, rust, script, settings, source):
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern | Pattern):
                text = value.text if isinstance(value, Pattern) else value.pattern
                found.append((f"{module.__name__}.{name}", text, name in ("_NEXT", "_JSON")))
    assert len(found) > 60
    return found


def _steps(tree: object, *, total: bool) -> tuple[int, int, list[str]]:
    """Return in how many ways a pattern can go on at one place, what the longest costs, and what has no bound."""
    ways, cost, unbound = 1, 1, []
    for op, value in tree:  # type: ignore[attr-defined]
        if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _, most, inner = value
            inside, each, more = _steps(inner, total=total)
            unbound += more
            if most == codes.MAXREPEAT:
                if not (total and op is codes.POSSESSIVE_REPEAT):
                    unbound.append(str(op))
                continue
            if op is codes.POSSESSIVE_REPEAT:
                cost += most * inside * each
            else:
                cost += most * each
                ways *= sum(inside**n for n in range(min(most, 30) + 1)) if inside > 1 else most + 1
        elif op is codes.BRANCH:
            branches = [_steps(branch, total=total) for branch in value[1]]
            ways *= sum(one[0] for one in branches)
            cost += max(one[1] for one in branches)
            unbound += [one for _, _, more in branches for one in more]
        elif op in (codes.SUBPATTERN, codes.ATOMIC_GROUP, codes.ASSERT, codes.ASSERT_NOT):
            inside, each, more = _steps(value if op is codes.ATOMIC_GROUP else value[-1], total=total)
            ways *= inside if op is codes.SUBPATTERN else 1
            cost += inside * each
            unbound += more
    return ways, cost, unbound


@pytest.mark.parametrize(
    ("name", "pattern", "total"),
    _patterns(),
    ids=lambda value: value if isinstance(value, str) and " " not in value and len(value) < 60 else "",
)
def test_no_pattern_can_go_back_far(name: str, pattern: str, total: bool) -> None:
    ways, cost, unbound = _steps(parser.parse(pattern), total=total)
    assert unbound == [], name
    assert ways * cost < STEPS_MAX, name


def test_the_measure_sees_a_pattern_that_can() -> None:
    assert _steps(parser.parse("(a+)+b"), total=True)[2]
    assert _steps(parser.parse("a*+b"), total=False)[2] and not _steps(parser.parse("a*+b"), total=True)[2]
    ways, cost, _ = _steps(parser.parse("(?:a{0,99}){0,99}(?:a{0,99})b"), total=False)
    assert ways * cost > STEPS_MAX
    assert _steps(parser.parse("a{0,60}+b"), total=False) == (1, 61, [])


#: What the search by hand for Python's comments and strings has to find, as a regular expression says it.
_PYTHON = re.compile(
    r"(?s)\#[^\n]*+"
    r'|"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+(?:""")?+'
    r"|'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+(?:''')?+"
    r'|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?+'
    r"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?+"
)


class _Counted(str):
    """A text that counts how many of its letters were looked through."""

    looked = 0

    def find(self, part: str, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        end = len(self) if end is None else min(end, len(self))
        at = super().find(part, start, end)
        type(self).looked += max(0, (end if at < 0 else at) - start) + len(part)
        return at


def _of_python(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    tokens, at = source._Python(text), 0
    while (span := tokens.search(at)) is not None:
        found.append(span)
        at = span[1]
    return found


@given(st.text(alphabet="\"'\\#\na ", max_size=40))
@example('"""a""""""b"')
@example("'''\\''''")
@example('"a\\\nb"')
@example('"""\\')
@example("'\\")
def test_python_is_read_by_hand_as_a_pattern_would_read_it(text: str) -> None:
    assert _of_python(text) == [match.span() for match in _PYTHON.finditer(text)]


_OFTEN = ["'", '"', "\\", "'\\", "\\'", "#", "#'", "'\n", "\"'", '"\\\n', '\\"""', "a'a#\n", "'a' ", '"" ', "'a'\n"]


@pytest.mark.parametrize("part", [*_OFTEN, "\\a"])
@pytest.mark.parametrize(("before", "after"), [("", ""), ('"""', ""), ('"""', '"""'), ("'", "'"), ("", '"')])
def test_no_text_of_python_is_looked_through_again_and_again(before: str, part: str, after: str) -> None:
    text = before + part * 3000 + after
    _Counted.looked = 0
    _of_python(_Counted(text))
    assert len(text) <= _Counted.looked < 20 * len(text)


def _lines_run(path: str, text: str) -> int:
    """Count the lines of the detectors that run; a regular expression's own work is bounded by the test above."""
    count = 0

    def local(frame: object, event: str, arg: object) -> object:
        nonlocal count
        count += 1
        return local

    def trace(frame: object, event: str, arg: object) -> object:
        name = frame.f_code.co_filename  # type: ignore[attr-defined]
        return local if "entering" in name or name.endswith("ddl.py") else None

    old = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        entering.found(path, None, text)
    finally:
        sys.settrace(old)
    return count


HARD = [
    "migrations.CreateModel('a', [], options={'b': 1,\n",
    "install_requires=['a',\n",
    'x = ["a",\n',
    "(",
    "[{(",
    ")",
    "'",
    '"',
    "`",
    "\\",
    "/*",
    "//",
    "#",
    "<<~A\n",
    "<<",
    "%q(",
    "$$",
    "$a$ $",
    "a.",
    "a(",
    "import ",
    "{\n",
    "class A:\n x = Column(\n",
    "def f(\n",
    "  def f\n",
    "const a = (",
    "ALTER TABLE t ADD (",
    "CREATE TABLE a AS SELECT (",
    "CREATE TABLE a ",
    "add_column :t,\n",
    "create_table :t do |t|\n",
    "<dependency>",
    "env:\n - A\n",
    "[a.b]\nc = [\n",
    '{"a":',
    "@Entity()\nclass A {\n@Column(\n",
    "op.add_column(",
    "Table(",
    "urlpatterns = path(",
    "router.get('/",
    "implementation ",
    "impl A {",
    "fn a(",
    "func (s *S) F(",
    "DO $$ ",
    "EXEC '",
    "model A {\n",
    "in os.environ ",
    "} = process.env",
    "=begin\n",
    "down(",
    "up: down: ",
    "export const down = ",
    "async ",
    "<",
    "=> ",
    "%(",
    "a = b => ",
]


@pytest.mark.parametrize("piece", HARD)
def test_the_work_is_linear_in_the_text(piece: str) -> None:
    for path in PATHS:
        small, large = _lines_run(path, piece * 150), _lines_run(path, piece * 600)
        assert large < 4.6 * small + 2_000, (path, small, large)
