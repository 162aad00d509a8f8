"""`sidecheck diff`: formats, gates and exit codes."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from click.testing import CliRunner, Result
from sidecheck_server import __version__
from sidecheck_server.cli import sidecheck
from sidecheck_server.workers.tasks import CompareTools
from support.comparison_cases import CASES, in_short

OLD = """{"tools": [
  {"name": "search", "description": "Search the notes.",
   "inputSchema": {"type": "object",
     "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "maximum": 100}}}},
  {"name": "read", "inputSchema": {"type": "object", "properties": {}},
   "annotations": {"readOnlyHint": true}},
  {"name": "purge", "inputSchema": {"type": "object"}}
]}
"""
NEW = """{"tools": [
  {"name": "search", "description": "Search all notes.",
   "inputSchema": {"type": "object",
     "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "maximum": 50},
                    "folder": {"type": "string"}}}},
  {"name": "read", "inputSchema": {"type": "object", "properties": {}}}
]}
"""
HARMLESS = {"name": "t", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}
WIDER = {
    "name": "t",
    "inputSchema": {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with an old and a new file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.json").write_text(OLD)
    (tmp_path / "new.json").write_text(NEW)
    return tmp_path


def run(*arguments: str) -> Result:
    """Run the command in this process; its exceptions propagate."""
    return CliRunner().invoke(sidecheck, ["diff", *arguments], catch_exceptions=False)


def test_text_has_changes_and_their_reasons() -> None:
    """Each differing tool has a block, the worst change first; a summary follows."""
    result = run("old.json", "new.json")

    assert (
        "search: breaking\n"
        "  new.json:4:90: breaking MAXIMUM_LOWERED /inputSchema/properties/limit/maximum\n"
        "    maximum was lowered from 100 to 50\n"
        '    {"limit":100} was valid, and is not: expected at most 50, found 100\n'
        "  new.json:5:31: compatible PROPERTY_ADDED /inputSchema/properties/folder\n"
        '    the optional property "folder" was added\n'
        '    as written: {"folder":1} was valid, and is not: expected a string, found 1\n'
        "  1 further change is cosmetic\n"
        "read: risky\n"
        "  old.json:6:36: risky READ_ONLY_HINT_REMOVED /annotations/readOnlyHint\n"
        "    the tool may now modify its environment\n"
        "purge: breaking\n"
        "  old.json:7:3: breaking TOOL_REMOVED\n"
        "    the tool was removed\n"
        "3 tools: 2 breaking, 1 risky (assume-closed)\n"
    ) == result.stdout
    assert (1, "") == (result.exit_code, result.stderr)


def test_as_written_an_optional_property_breaks_an_open_object() -> None:
    """The report does not repeat the other reading."""
    (Path("old.json")).write_text(json.dumps(HARMLESS))
    added = json.loads(json.dumps(HARMLESS))
    added["inputSchema"]["properties"]["limit"] = {"type": "integer"}
    (Path("new.json")).write_text(json.dumps(added))

    closed, written = (
        run("old.json", "new.json"),
        run("old.json", "new.json", "--reading", "as-written"),
    )

    assert (0, 1) == (closed.exit_code, written.exit_code)
    assert "t: breaking\n" in written.stdout
    assert "as written:" not in written.stdout


def test_markdown_escapes_texts_of_definitions() -> None:
    """Names and messages neither end a cell nor become markup."""
    name = "<img src=x>|`a`\n# b"
    tools = [{**tool, "name": name} for tool in (HARMLESS, WIDER)]
    Path("old.json").write_text(json.dumps(tools[0]))
    Path("new.json").write_text(json.dumps(tools[1]))

    assert (
        "### Changes of tools\n"
        "\n"
        "1 tool: 1 compatible (assume-closed).\n"
        "\n"
        "#### <code>&lt;img src=x>&#124;`a`\\n# b</code>: compatible\n"
        "\n"
        "| Level | Change | Where | What |\n"
        "| --- | --- | --- | --- |\n"
        "| compatible | <code>TYPE_WIDENED</code> | <code>/inputSchema/properties/a/type</code> | "
        'type changed from "string" to \\["string", "null"\\] |\n'
    ) == run("old.json", "new.json", "--format", "markdown").stdout


def test_sarif_has_the_changes_that_are_not_harmless() -> None:
    """Rules are stable; results have locations in the new file, and the payload as proof.

    A removed part has the location of its parent: a scanner may not have the old file.
    """
    log = json.loads(run("old.json", "new.json", "--format", "sarif").stdout)
    driver = log["runs"][0]["tool"]["driver"]
    results = log["runs"][0]["results"]

    assert ("sidecheck", __version__) == (driver["name"], driver["version"])
    assert ["MAXIMUM_LOWERED", "READ_ONLY_HINT_REMOVED", "TOOL_REMOVED"] == [
        rule["id"] for rule in driver["rules"]
    ]
    assert ["error", "warning", "error"] == [result["level"] for result in results]
    assert [
        (("new.json", 4, 90, 4, 92), ("old.json", 4, 90, 4, 93)),
        (("new.json", 6, 3, 6, 4), ("old.json", 6, 36, 6, 40)),
        (("new.json", 1, 2, 1, 9), ("old.json", 7, 3, 7, 55)),
    ] == [
        tuple(map(_place, (result["locations"][0], result["relatedLocations"][0])))
        for result in results
    ]
    assert ["/tools/0/inputSchema/properties/limit/maximum", "/tools/1", "/tools"] == [
        result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] for result in results
    ]
    specification = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools"
    assert {
        "id": "TOOL_REMOVED",
        "shortDescription": {"text": "A tool was removed."},
        "fullDescription": {"text": "A tool was removed."},
        "help": {"text": f"A tool was removed. See {specification}"},
        "helpUri": specification,
    } == driver["rules"][2]
    assert {
        "level": "breaking",
        "old_location": "/inputSchema/properties/limit/maximum",
        "new_location": "/inputSchema/properties/limit/maximum",
        "witness": '{"limit":100}',
    } == results[0]["properties"]
    assert (
        "search: maximum was lowered from 100 to 50. "
        '{"limit":100} was valid, and is not: expected at most 50, found 100'
    ) == results[0]["message"]["text"]


def _place(location: dict[str, Any]) -> tuple[Any, ...]:
    physical = location["physicalLocation"]
    names = ("startLine", "startColumn", "endLine", "endColumn")
    return (physical["artifactLocation"]["uri"], *(physical["region"][name] for name in names))


@pytest.mark.parametrize("case", CASES)
def test_a_shared_case_through_the_command(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The JSON has the whole comparison for any exit code."""
    # To start a process for each of many cases takes minutes.
    monkeypatch.setattr(CompareTools, "needs_process", False)
    Path("old.json").write_text(json.dumps({"tools": case["old"]}))
    Path("new.json").write_text(json.dumps({"tools": case["new"]}))
    result = run("old.json", "new.json", "--format", "json")
    compared = json.loads(result.stdout)

    assert case["want"] == in_short(compared)
    assert (compared["level"] == "breaking") is (result.exit_code == 1)


def test_two_other_validators_confirm_a_witness() -> None:
    """Cases in 2020-12 whose patterns the other validators read alike are tested."""
    count = 0
    for parameters in CASES:
        if str(parameters.id).startswith(("patterns:", "numbers:")):
            continue
        case: Any = parameters.values[0]
        for old, new in zip(case["old"], case["new"], strict=False):
            for tool in case["want"]:
                witness = _witness_as_written(tool)
                schemas = [side.get("inputSchema") for side in (old, new)]
                if witness is None or any("$schema" in schema for schema in schemas):
                    continue
                count += 1
                assert [True, False] == [
                    jsonschema_rs.is_valid(schema, witness, offline=True) for schema in schemas
                ]

    assert count > 50


def _witness_as_written(tool: dict[str, Any]) -> Any:
    verdict = tool.get("inputSchema", [[]])[0]
    return verdict[2] if len(verdict) == 4 else None


@pytest.mark.parametrize(
    ("gate", "exit_codes"),
    [
        ("breaking", [1, 0, 0, 0, 0]),
        ("undecided", [1, 1, 0, 0, 0]),
        ("risky", [1, 1, 1, 0, 0]),
        ("any", [1, 1, 1, 1, 0]),
        ("never", [0, 0, 0, 0, 0]),
    ],
)
def test_a_gate_fails_on_its_level_and_on_worse_ones(gate: str, exit_codes: list[int]) -> None:
    """The default is breaking."""
    undecided = json.loads(json.dumps(HARMLESS))
    undecided["inputSchema"]["properties"]["a"]["pattern"] = "^[a-f]+$"
    matched = json.loads(json.dumps(undecided))
    matched["inputSchema"]["properties"]["a"]["pattern"] = "^[a-z]+$"
    pairs: list[tuple[Any, Any]] = [
        (WIDER, HARMLESS),
        (undecided, matched),
        ({**HARMLESS, "annotations": {"readOnlyHint": True}}, HARMLESS),
        (HARMLESS, WIDER),
        (HARMLESS, HARMLESS),
    ]
    codes = []
    for old, new in pairs:
        Path("old.json").write_text(json.dumps(old))
        Path("new.json").write_text(json.dumps(new))
        codes.append(run("old.json", "new.json", "--fail-on", gate).exit_code)

    assert exit_codes == codes
