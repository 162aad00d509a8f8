"""`sidecheck check`: targets, severities, exit codes, and `server.json`."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck

LOOK_AROUND = """[
  {
    "name": "send",
    "description": "Sends a file.",
    "inputSchema": {
      "type": "object",
      "properties": {"key": {"type": "string", "pattern": "^(?!null$)"}}
    }
  }
]
"""
MISSPELT: Any = {
    "name": "wait",
    "inputSchema": {"type": "object", "properties": {}, "requried": []},
}
SERVER: Any = {
    "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    "name": "weather",
    "description": "Weather of any place.",
    "version": "1.0.2",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with one file of each kind."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(LOOK_AROUND)
    (tmp_path / "misspelt.json").write_text(json.dumps(MISSPELT))
    (tmp_path / "server.json").write_text(json.dumps(SERVER))
    return tmp_path


def run(*arguments: str) -> Result:
    """Run the command in this process; its exceptions propagate."""
    return CliRunner().invoke(sidecheck, ["check", *arguments], catch_exceptions=False)


def test_a_named_target_that_refuses_is_an_error() -> None:
    """The message names place, target, effect, source and remedy."""
    result = run("--for", "openai", "--for", "vscode", "tools.json")

    assert (1, "") == (result.exit_code, result.stderr)
    assert (
        "tools.json:7:59: error  PATTERN_LOOK_AROUND  send /inputSchema/properties/key/pattern  "
        "look-around in a pattern: openai: the whole request is refused "
        "[https://github.com/tombii/better-ccflare/issues/357 (2026-07-30)]; write the pattern "
        "without (?=, (?!, (?<= and (?<!, or move it to the description\n"
        "1 tool, 1 error\n"
    ) == result.stdout


def test_targets_are_objects_in_json() -> None:
    """Each fact has its source and date."""
    result = run("--for", "openai", "tools.json", "--format", "json")
    (violation,) = json.loads(result.stdout)[0]["violations"]

    assert [
        {
            "target": "openai",
            "effect": "REQUEST_REFUSED",
            "source": "https://github.com/tombii/better-ccflare/issues/357",
            "date": "2026-07-30",
        }
    ] == violation["targets"]
    assert "A pattern has no look-ahead and no look-behind." == violation["requirement"]


def test_sarif_has_the_place_of_a_target() -> None:
    """A result of a target has a location like any violation."""
    result = run("--for", "openai", "tools.json", "--format", "sarif")
    (finding,) = json.loads(result.stdout)["runs"][0]["results"]

    (rule,) = json.loads(result.stdout)["runs"][0]["tool"]["driver"]["rules"]
    requirement = "A pattern has no look-ahead and no look-behind."
    assert requirement == rule["shortDescription"]["text"]
    assert ("PATTERN_LOOK_AROUND", "error", 7) == (
        finding["ruleId"],
        finding["level"],
        finding["locations"][0]["physicalLocation"]["region"]["startLine"],
    )


@pytest.mark.parametrize("arguments", [["--min-severity", "info"], ["--for", "all"]])
def test_all_targets_are_advice(arguments: list[str]) -> None:
    """All targets are the default."""
    result = run(*arguments, "tools.json", "--format", "json")
    violations = json.loads(result.stdout)[0]["violations"]

    assert 0 == result.exit_code
    assert {"info"} == {violation["severity"] for violation in violations}
    assert "PATTERN_LOOK_AROUND" in [violation["code"] for violation in violations]


@pytest.mark.parametrize(
    ("exit_code", "arguments"),
    [
        (0, ["misspelt.json"]),
        (1, ["--fail-on", "warning", "misspelt.json"]),
        (1, ["--for", "openai", "tools.json"]),
        (0, ["--for", "openai", "--fail-on", "never", "tools.json"]),
        (1, ["--min-severity", "info", "--fail-on", "info", "tools.json"]),
        (0, ["--for", "ollama", "tools.json"]),
        (1, ["--for", "ollama", "--fail-on", "warning", "tools.json"]),
    ],
)
def test_exit_code_follows_fail_on(exit_code: int, arguments: list[str]) -> None:
    """A misspelt keyword and an ignored constraint are warnings, a refusal an error."""
    assert exit_code == run(*arguments).exit_code


def test_fail_on_needs_violations_that_are_reported() -> None:
    """Otherwise a pipeline would never fail."""
    result = run("--fail-on", "info", "tools.json")

    assert 2 == result.exit_code
    assert "--fail-on info needs --min-severity info" in result.stderr


def test_the_error_for_an_unknown_target_lists_the_known_targets() -> None:
    """click writes the message."""
    result = run("--for", "opanai", "tools.json")

    assert 2 == result.exit_code
    assert "'openai'" in result.stderr


def test_server_json_is_checked_by_its_schema() -> None:
    """The target may be named or left out."""
    text = "server.json:1:101: error  PATTERN  /name  "
    for arguments in ([], ["--for", "mcp-registry"]):
        result = run(*arguments, "server.json")
        assert 1 == result.exit_code
        assert result.stdout.startswith(text)
        assert result.stdout.endswith("0 tools, 1 error\n")


def test_inferred_tools_pass(folder: Path) -> None:
    """A result that is not an object is wrapped for the version by which they are checked."""
    (folder / "add.py").write_text("def add(a: int) -> int:\n    return a\n")
    inferred = CliRunner().invoke(sidecheck, ["infer", "add.py"], catch_exceptions=False)
    (folder / "add.json").write_text(inferred.stdout)

    assert (0, "1 tool, no violations\n") == (run("add.json").exit_code, run("add.json").stdout)
