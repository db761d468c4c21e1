"""The plugin, the marketplace and server.json: what clients and registries demand, and in step with the package.

That they are what `setup` writes, and of this version, is `scripts/docs --check`; here is what they must be at all.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gitmem import __version__
from gitmem.core.clients import CLIENTS, line

ROOT = Path(__file__).resolve().parent.parent.parent
PLUGIN = ROOT / "plugin"


def read(path: str) -> dict[str, Any]:
    value = json.loads((ROOT / path).read_text("utf-8"))
    assert isinstance(value, dict)
    return value


def test_all_versions_are_the_packages():
    assert read("plugin/.claude-plugin/plugin.json")["version"] == __version__
    assert [each["version"] for each in read(".claude-plugin/marketplace.json")["plugins"]] == [__version__]
    server = read("server.json")
    assert {server["version"], *(each["version"] for each in server["packages"])} == {__version__}
    assert re.fullmatch(r"\d+\.\d+\.\d+([a-z.]+\d*)?", __version__)  # a registry takes no range, nor `latest`


def test_the_manifest_has_only_what_a_manifest_may_have():
    manifest = read("plugin/.claude-plugin/plugin.json")
    known = "name displayName version description author homepage repository license keywords skills commands agents"
    assert set(manifest) <= set(known.split()) and re.fullmatch(r"[a-z0-9-]+", manifest["name"])
    # hooks/hooks.json and .mcp.json are found by their names; naming them again is an error.
    assert "hooks" not in manifest and "mcpServers" not in manifest
    assert (PLUGIN / "hooks" / "hooks.json").is_file() and (PLUGIN / ".mcp.json").is_file()
    assert manifest["license"] == "Apache-2.0"


def test_the_marketplace_offers_the_plugin_that_is_there():
    market = read(".claude-plugin/marketplace.json")
    assert set(market) == {"name", "owner", "plugins"} and market["owner"]["name"]
    for offer in market["plugins"]:
        place = (ROOT / offer["source"]).resolve()
        assert offer["source"].startswith("./") and place.is_relative_to(ROOT)
        manifest = json.loads((place / ".claude-plugin" / "plugin.json").read_text("utf-8"))
        assert (offer["name"], offer["description"]) == (manifest["name"], manifest["description"])


def test_the_hooks_are_those_that_setup_writes():
    hooks = read("plugin/hooks/hooks.json")["hooks"]
    wanted = {each.path[-1]: each.value for each in CLIENTS["claude"].files[0].wanted}
    assert {event: groups[0] for event, groups in hooks.items()} == wanted
    for (group,) in hooks.values():
        (handler,) = group["hooks"]
        assert handler == {"type": "command", "command": line("claude"), "timeout": 10}
    # Only letters and bars are a list of names; with anything else a matcher is a pattern without anchors.
    assert re.fullmatch(r"[A-Za-z|]+", hooks["PreToolUse"][0]["matcher"])
    pattern = re.compile(hooks["PostToolUse"][0]["matcher"])
    for tool in ("Bash", "Edit", "mcp__decisions__prior_attempts", "mcp__plugin_git-decisions_decisions__status"):
        assert pattern.search(tool)
    assert not pattern.search("TodoWrite") and not pattern.search("mcp__github__get_issue")
    assert read("plugin/.mcp.json") == {"mcpServers": {"decisions": {"command": "git", "args": ["decisions", "mcp"]}}}


@pytest.mark.parametrize("skill", sorted(PLUGIN.glob("skills/*/SKILL.md")), ids=lambda path: path.parent.name)
def test_a_skill_has_its_frontmatter(skill):
    _, front, body = skill.read_text("utf-8").split("---\n", 2)
    fields = dict(each.split(": ", 1) for each in front.splitlines())
    assert set(fields) == {"name", "description"} and fields["name"] == skill.parent.name
    assert len(fields["description"]) <= 1024 and ": " not in fields["description"]
    assert "git decisions prior" in body


def test_the_commands_have_a_description():
    pages = sorted(PLUGIN.glob("commands/*.md"))
    assert pages
    for page in pages:
        assert page.read_text("utf-8").startswith("---\ndescription: ")


def test_what_the_plugin_tells_people_to_type_exists():
    from gitmem.cli import catalogue

    known = {command.words for command in catalogue.every()}
    for page in PLUGIN.rglob("*.md"):
        for words in re.findall(r"git decisions ([a-z]+)", page.read_text("utf-8")):
            assert words in known | {"for"}, f"{page}: {words}"


def test_server_json_is_what_the_registry_takes():
    server = read("server.json")
    assert server["$schema"].endswith("/schemas/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"]) and 3 <= len(server["name"]) <= 200
    assert 1 <= len(server["description"]) <= 100 and 1 <= len(server["title"]) <= 100
    assert set(server) <= {"$schema", "name", "title", "description", "version", "packages", "repository", "websiteUrl"}
    (package,) = server["packages"]
    assert package["identifier"] == "git-decisions" and package["transport"] == {"type": "stdio"}
    known = "registryType identifier version runtimeHint runtimeArguments packageArguments transport"
    assert set(package) <= set(known.split()) and package["runtimeHint"] == "uvx"
    for argument in (*package["runtimeArguments"], *package["packageArguments"]):
        assert argument["type"] in ("positional", "named") and argument["value"]
        assert (argument["type"] == "named") == ("name" in argument)
    # Its owner is proved by the package's own README.
    assert f"<!-- mcp-name: {server['name']} -->" in (ROOT / "README.md").read_text("utf-8")
