"""`sidecheck check`: outcomes of tools in text and JSON, and exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck

GOOD = {"name": "good", "inputSchema": {"type": "object"}}
BAD = {
    "name": "bad",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integr"}}},
    "outputSchema": {"type": "object", "$ref": "#/$defs/gone"},
}
TOOLS = """{
  "tools": [
    {"name": "good", "inputSchema": {"type": "object"}},
    {
      "name": "bad",
      "inputSchema": {"type": "object", "properties": {"a": {"type": "integr"}}},
      "outputSchema": {"type": "object", "properties": {"b": {"$ref": "#/gone"}}}
    },
    {"name": "twice", "inputSchema": {"type": "object", "patternProperties": {"(": {}}}},
    {"name": "twice", "inputSchema": {"type": "object"}}
  ]
}
"""
INTEGR = (
    'expected one of "array", "boolean", "integer", "null", "number", "object" or "string", '
    'found "integr"; did you mean "integer"?'
)
GONE = (
    "the $ref #/gone at /properties/b cannot be resolved: its target does not exist; "
    "references resolve within the schema and the documents sent along, and nothing is ever fetched"
)
PATTERN = (
    "the pattern at /patternProperties/( is not a regular expression of ECMA-262: at offset 0: "
    "a group is not closed; end it with `)`, or write `\\(` for the character"
)
SPECIFICATION = "https://modelcontextprotocol.io/specification/2025-11-25"
DUPLICATE_NAME = "another tool has this name; if both are registered, the last one counts"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the file TOOLS."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(TOOLS)
    (tmp_path / "good.json").write_text(json.dumps(GOOD))
    return tmp_path


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    """Run the command in this process; its exceptions propagate."""
    return CliRunner().invoke(sidecheck, ["check", *arguments], input=stdin, catch_exceptions=False)


def checked(*arguments: str, stdin: bytes | None = None) -> Any:
    """Return the JSON report of the command."""
    return json.loads(run(*arguments, "--format", "json", stdin=stdin).stdout)


def test_text_has_a_row_for_each_violation_and_a_summary() -> None:
    """The rows are aligned and ordered by position."""
    result = run("tools.json")

    assert (
        "tools.json:6:70:  error    ENUM                    "
        f"bad /inputSchema/properties/a/type      {INTEGR}\n"
        "tools.json:7:71:  error    UNRESOLVABLE_REFERENCE  "
        f"bad /outputSchema/properties/b/$ref     {GONE}\n"
        "tools.json:9:14:  warning  TOOL_NAME_DUPLICATE     "
        f"twice /name                             {DUPLICATE_NAME}\n"
        "tools.json:9:79:  error    INVALID_PATTERN         "
        f"twice /inputSchema/patternProperties/(  {PATTERN}\n"
        "tools.json:10:14: warning  TOOL_NAME_DUPLICATE     "
        f"twice /name                             {DUPLICATE_NAME}\n"
        "4 tools, 3 errors, 2 warnings\n"
    ) == result.stdout
    assert (1, "") == (result.exit_code, result.stderr)


def test_excerpts_show_the_position_of_a_violation() -> None:
    """References and patterns have positions too, where the message names the schema only."""
    result = run("tools.json", "--excerpts")

    assert (
        "tools.json:6:70: error ENUM in bad at /inputSchema/properties/a/type\n"
        f"  {INTEGR}\n"
        f"  {SPECIFICATION}/basic#schema-validation\n"
        "   |\n"
        ' 6 |       "inputSchema": {"type": "object", "properties": {"a": {"type": "integr"}}},\n'
        "   |                                                                      ^~~~~~~~\n"
        "\n"
        "tools.json:7:71: error UNRESOLVABLE_REFERENCE in bad at /outputSchema/properties/b/$ref\n"
        f"  {GONE}\n"
        f"  {SPECIFICATION}/basic#schema-validation\n"
        "   |\n"
        ' 7 |       "outputSchema": {"type": "object", "properties": {"b": {"$ref": "#/gone"}}}\n'
        "   |                                                                       ^~~~~~~~\n"
        "\n"
        "tools.json:9:14: warning TOOL_NAME_DUPLICATE in twice at /name\n"
        f"  {DUPLICATE_NAME}\n"
        f"  {SPECIFICATION}/server/tools#tool\n"
        "   |\n"
        ' 9 |     {"name": "twice", "inputSchema": {"type": "object", '
        '"patternProperties": {"(": {}}}},\n'
        "   |              ^~~~~~~\n"
        "\n"
        "tools.json:9:79: error INVALID_PATTERN in twice at /inputSchema/patternProperties/(\n"
        f"  {PATTERN}\n"
        "  https://json-schema.org/draft/2020-12/json-schema-validation#section-6.3.3\n"
        "   |\n"
        ' 9 |     {"name": "twice", "inputSchema": {"type": "object", '
        '"patternProperties": {"(": {}}}},\n'
        "   |                                                                               ^~~\n"
        "\n"
        "tools.json:10:14: warning TOOL_NAME_DUPLICATE in twice at /name\n"
        f"  {DUPLICATE_NAME}\n"
        f"  {SPECIFICATION}/server/tools#tool\n"
        "    |\n"
        ' 10 |     {"name": "twice", "inputSchema": {"type": "object"}}\n'
        "    |              ^~~~~~~\n"
        "\n"
        "4 tools, 3 errors, 2 warnings\n"
    ) == result.stdout


def test_json_has_an_object_for_each_tool_in_order() -> None:
    """Each has its violations in the form of a verdict."""
    duplicate = {
        "code": "TOOL_NAME_DUPLICATE",
        "severity": "warning",
        "keyword": "",
        "instance_location": "/name",
        "keyword_location": "",
        "message": DUPLICATE_NAME,
        "suggestion": "",
        "spec_url": f"{SPECIFICATION}/server/tools#tool",
        "requirement": "The names of the tools of a list SHOULD be unique.",
    }
    outcomes = checked("tools.json")

    assert [
        ("tools.json", "good", True, []),
        ("tools.json", "bad", False, ["ENUM", "UNRESOLVABLE_REFERENCE"]),
        ("tools.json", "twice", False, ["INVALID_PATTERN", "TOOL_NAME_DUPLICATE"]),
        ("tools.json", "twice", True, ["TOOL_NAME_DUPLICATE"]),
    ] == [
        (
            outcome["file"],
            outcome["name"],
            outcome["ok"],
            [violation["code"] for violation in outcome["violations"]],
        )
        for outcome in outcomes
    ]
    assert {**duplicate, "line": 10, "column": 14} == outcomes[3]["violations"][0]


@pytest.mark.parametrize(
    ("tools", "location"),
    [
        pytest.param(BAD, "", id="one definition"),
        pytest.param([GOOD, BAD], "/1", id="a list"),
        pytest.param({"tools": [GOOD, BAD], "nextCursor": "x"}, "/tools/1", id="a result"),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1, "result": {"tools": [BAD]}},
            "/result/tools/0",
            id="a JSON-RPC response",
        ),
    ],
)
def test_tools_are_read_from_every_kind_of_file(folder: Path, tools: Any, location: str) -> None:
    """The violations of both schemas are reported."""
    (folder / "file.json").write_text(json.dumps(tools))
    sarif = json.loads(run("file.json", "--format", "sarif").stdout)

    assert [f"{location}/inputSchema/properties/a/type", f"{location}/outputSchema/$ref"] == [
        result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]
        for result in sarif["runs"][0]["results"]
    ]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        pytest.param(["good.json"], 0, id="valid"),
        pytest.param(["warned.json"], 0, id="a warning"),
        pytest.param(["none.json"], 0, id="no tools"),
        pytest.param(["tools.json", "good.json"], 1, id="an error"),
        pytest.param(["good.json", "gone.json"], 2, id="a missing file"),
        pytest.param(["tools.json", "gone.json"], 2, id="an error and a missing file"),
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_the_exit_code_depends_on_errors_alone(
    folder: Path, files: list[str], code: int, form: str
) -> None:
    """This holds in every format."""
    (folder / "warned.json").write_text(json.dumps([GOOD, GOOD]))
    (folder / "none.json").write_text("[]")

    assert code == run("--format", form, *files).exit_code


def test_names_are_unique_per_file(folder: Path) -> None:
    """A file has the tools of one server."""
    (folder / "other.json").write_text(json.dumps(GOOD))

    assert "2 tools, no violations\n" == run("good.json", "other.json").stdout
    assert "1 tool, no violations\n" == run("good.json", "good.json").stdout


def test_a_dash_is_standard_input() -> None:
    """The report calls it "-"."""
    outcome = {"file": "-", "name": "good", "ok": True, "violations": []}

    assert [outcome] == checked("-", stdin=json.dumps(GOOD).encode())


def test_references_resolve_to_given_documents(folder: Path) -> None:
    """--document gives a document with its URI."""
    (folder / "refers.json").write_text(
        '{"name": "t", "inputSchema": {"type": "object", "$ref": "urn:a"}}'
    )

    assert (1, 0) == (
        run("refers.json").exit_code,
        run("refers.json", "--document", "urn:a", "good.json").exit_code,
    )


ADVISED = """{"tools": [{"name": "a b", "inputSchema": {"type": "object",
  "properties": {"n": {"type": "integer", "default": "1"}}}}], "nextCursor": 3}"""


@pytest.mark.parametrize(
    ("severity", "codes"),
    [
        pytest.param("error", [[], ["TYPE"]], id="error"),
        pytest.param(
            "warning", [["DEFAULT_REFUSED", "TOOL_NAME_CHARACTERS"], ["TYPE"]], id="warning"
        ),
    ],
)
def test_violations_below_the_severity_are_omitted(
    folder: Path, severity: str, codes: list[list[str]]
) -> None:
    """This applies to tools and to the list around them."""
    (folder / "advised.json").write_text(ADVISED)
    tool, tools_list = checked("advised.json", "--min-severity", severity)

    assert codes == [
        [violation["code"] for violation in outcome["violations"]] for outcome in (tool, tools_list)
    ]
    assert [("a b", True), ("", False)] == [
        (outcome["name"], outcome["ok"]) for outcome in (tool, tools_list)
    ]
    assert "/nextCursor" == tools_list["violations"][0]["instance_location"]


def test_advice_of_model_providers_is_shown_on_request(folder: Path) -> None:
    """The option is --min-severity info."""
    (folder / "dotted.json").write_text(json.dumps({**GOOD, "description": "x", "name": "a.b"}))

    assert "1 tool, no violations\n" == run("dotted.json").stdout
    (outcome,) = checked("dotted.json", "--min-severity", "info")
    assert {("info", True)} == {
        (violation["severity"], outcome["ok"]) for violation in outcome["violations"]
    }
    assert "TOOL_NAME_OPENAI_CHAT" in [violation["code"] for violation in outcome["violations"]]


@pytest.mark.parametrize(
    ("version", "locations"),
    [
        pytest.param("2025-11-25", ["/outputSchema/type"], id="an output is an object"),
        pytest.param("2026-07-28", ["", "", "", ""], id="a result has more required properties"),
    ],
)
def test_the_rules_of_a_protocol_version_apply(
    folder: Path, version: str, locations: list[str]
) -> None:
    """They apply to the tools and to the result around them."""
    result = {"tools": [{**GOOD, "outputSchema": {"type": "array"}}]}
    (folder / "result.json").write_text(json.dumps(result))
    outcomes = checked("result.json", "--protocol-version", version)

    assert locations == [
        violation["instance_location"]
        for outcome in outcomes
        for violation in outcome["violations"]
    ]
    assert all(
        version in violation["spec_url"]
        for outcome in outcomes
        for violation in outcome["violations"]
    )


DUMP: Any = {
    "_meta": None,
    "ttlMs": 0,
    "nextCursor": None,
    "tools": [
        {
            **GOOD,
            "title": None,
            "outputSchema": None,
            "annotations": {"title": None, "readOnlyHint": True},
            "_meta": None,
        }
    ],
}


def test_a_dump_of_a_result_of_the_sdk_is_checked_as_it_is(folder: Path) -> None:
    """Nulls of unset fields are an error for each tool, and one for the list around them."""
    (folder / "dump.json").write_text(json.dumps(DUMP))
    result = run("dump.json", "--format", "json")

    assert 1 == result.exit_code
    assert [
        (outcome["name"], violation["code"], violation["instance_location"])
        for outcome in json.loads(result.stdout)
        for violation in outcome["violations"]
    ] == [
        ("good", "NULL_PROPERTY", "/title"),
        ("", "TYPE", "/_meta"),
        ("", "TYPE", "/nextCursor"),
    ]
