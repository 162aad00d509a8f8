"""`sidecheck adapt --portable`: what it writes, and how calls come back."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck

TOOL: Any = {
    "name": "search",
    "title": "Search",
    "description": "Searches.",
    "inputSchema": {
        "type": "object",
        "properties": {"filter": {"type": "object"}, "size": {"type": ["integer", "null"]}},
        "required": ["filter"],
    },
}
CALL: Any = {"name": "search", "arguments": {"filter": '{"a": 1}', "size": None}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a definition and a call."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps([TOOL]))
    (tmp_path / "call.json").write_text(json.dumps(CALL))
    return tmp_path


def run(*arguments: str) -> Result:
    """Run a command in this process; its exceptions propagate."""
    return CliRunner().invoke(sidecheck, arguments, catch_exceptions=False)


def test_definitions_go_to_standard_output_and_losses_to_standard_error() -> None:
    """The definition keeps its title."""
    result = run("adapt", "--portable", "tools.json")

    assert 0 == result.exit_code
    assert [
        {
            "name": "search",
            "title": "Search",
            "description": "Searches.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "filter": {
                        "type": "string",
                        "description": "(any JSON object, as JSON text)",
                    },
                    "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                },
                "required": ["filter"],
            },
        }
    ] == json.loads(result.stdout)
    assert result.stderr.endswith("1 tool for MCP clients, 2 losses (2 equivalent)\n")


def test_named_targets_keep_more() -> None:
    """Anthropic takes the definition as it is."""
    result = run("adapt", "--portable", "--for", "anthropic", "tools.json")

    assert [TOOL] == json.loads(result.stdout)
    assert "1 tool for MCP clients, no losses\n" == result.stderr


def test_check_passes_for_every_target() -> None:
    """Of those that the definition is made for."""
    adapted = run("adapt", "--portable", "tools.json")
    Path("portable.json").write_text(adapted.stdout)
    names = ("openai", "anthropic", "gemini", "vertex", "bedrock", "llama.cpp", "claude-code")
    targets = [argument for name in names for argument in ("--for", name)]

    assert (0, "1 tool, no violations\n") == (
        (result := run("check", *targets, "portable.json")).exit_code,
        result.stdout,
    )


def test_the_mapping_converts_a_call_back() -> None:
    """With `sidecheck convert-call`."""
    run("adapt", "--portable", "--mappings-out", "mappings.json", "tools.json")
    result = run(
        "convert-call", "--mappings", "mappings.json", "--tools", "tools.json", "call.json"
    )

    assert 0 == result.exit_code
    assert {"name": "search", "arguments": {"filter": {"a": 1}, "size": None}} == json.loads(
        result.stdout
    )


CLOSED: Any = {
    "name": "get",
    "inputSchema": {
        "type": "object",
        "properties": {"item id": {"type": "integer"}},
        "required": ["item id"],
        "additionalProperties": False,
    },
}
PROVED = "search: wider: proved to accept all calls of the original, and possibly others"
NARROWER = (
    'arguments were valid, and are not: "size" is required and missing; expected an integer or null'
)


@pytest.mark.parametrize(
    ("tool", "targets", "rows", "exit_code"),
    [
        (TOOL, [], [PROVED], 0),
        (CLOSED, ["anthropic"], ["get: equivalent: proved to accept the same calls"], 0),
        (TOOL, ["openai-strict"], [f"search: narrower: {NARROWER}", '  {"filter":{}}'], 1),
    ],
)
def test_proofs_follow_the_losses(
    tool: Any, targets: list[str], rows: list[str], exit_code: int
) -> None:
    """A narrower form fails, with arguments that show it."""
    Path("tools.json").write_text(json.dumps([tool]))
    options = [option for target in targets for option in ("--for", target)]
    result = run("adapt", "--portable", "--prove", *options, "tools.json")

    assert (exit_code, rows) == (
        result.exit_code,
        result.stderr.splitlines()[-1 - len(rows) : -1],
    )


def test_proofs_in_json() -> None:
    """A tool that cannot be converted has none."""
    Path("tools.json").write_text(json.dumps([TOOL, CLOSED, {"name": "broken"}]))
    result = run(
        "adapt", "--portable", "--prove", "--for", "openai-strict", "--format", "json", "tools.json"
    )
    witness = {
        "payload": {"filter": {}},
        "message": '"size" is required and missing; expected an integer or null',
        "instance_location": "",
        "keyword_location": "/required",
    }

    assert 1 == result.exit_code
    assert [
        {"tool": "search", "outcome": "narrower", "message": NARROWER, "witness": witness},
        {"tool": "get", "outcome": "equivalent", "message": "", "witness": None},
    ] == json.loads(result.stdout)["proofs"]


@pytest.mark.parametrize(
    "arguments", [["--for", "openai"], ["--mappings-out", "m.json"], ["--prove"]]
)
def test_options_that_need_portable(arguments: list[str]) -> None:
    """They would have no effect."""
    result = run("adapt", *arguments, "tools.json")

    assert 2 == result.exit_code
    assert "--for, --prove and --mappings-out need --portable" in result.stderr
