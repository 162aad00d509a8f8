"""`sidecheck check`: an outcome for each tool, in text and in JSON, and how it exits."""

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
    "the $ref #/gone at /properties/b does not resolve: nothing is there; references resolve "
    "within the schema and the documents sent along, and nothing is ever fetched"
)
PATTERN = (
    "the pattern at /patternProperties/( is not a regular expression of ECMA-262: at offset 0: "
    "a group is not closed; end it with `)`, or write `\\(` for the character"
)
SPECIFICATION = "https://modelcontextprotocol.io/specification/2025-11-25"
TWICE = "another tool has this name; if both are registered, the last one counts"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the file TOOLS."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(TOOLS)
    (tmp_path / "good.json").write_text(json.dumps(GOOD))
    return tmp_path


def run(*words: str, stdin: bytes | None = None) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(sidecheck, ["check", *words], input=stdin, catch_exceptions=False)


def checked(*words: str, stdin: bytes | None = None) -> Any:
    """Return what the command says in JSON."""
    return json.loads(run(*words, "--format", "json", stdin=stdin).stdout)


def test_text_has_a_row_for_each_problem_and_the_sum() -> None:
    """Aligned, and in the order of the places."""
    result = run("tools.json")

    assert (
        "tools.json:6:70:  error    ENUM                    "
        f"bad /inputSchema/properties/a/type      {INTEGR}\n"
        "tools.json:7:71:  error    UNRESOLVABLE_REFERENCE  "
        f"bad /outputSchema/properties/b/$ref     {GONE}\n"
        "tools.json:9:14:  warning  TOOL_NAME_DUPLICATE     "
        f"twice /name                             {TWICE}\n"
        "tools.json:9:79:  error    INVALID_PATTERN         "
        f"twice /inputSchema/patternProperties/(  {PATTERN}\n"
        "tools.json:10:14: warning  TOOL_NAME_DUPLICATE     "
        f"twice /name                             {TWICE}\n"
        "4 tools, 3 errors, 2 warnings\n"
    ) == result.stdout
    assert (1, "") == (result.exit_code, result.stderr)


def test_excerpts_show_the_very_place() -> None:
    """Also where the message names only the schema: of a reference, or of a pattern."""
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
        f"  {TWICE}\n"
        f"  {SPECIFICATION}/server/tools#tool\n"
        "   |\n"
        ' 9 |     {"name": "twice", "inputSchema": {"type": "object", '
        '"patternProperties": {"(": {}}}},\n'
        "   |              ^~~~~~~\n"
        "\n"
        "tools.json:9:79: error INVALID_PATTERN in twice at /inputSchema/patternProperties/(\n"
        f"  {PATTERN}\n"
        f"  {SPECIFICATION}/basic#schema-validation\n"
        "   |\n"
        ' 9 |     {"name": "twice", "inputSchema": {"type": "object", '
        '"patternProperties": {"(": {}}}},\n'
        "   |                                                                               ^~~\n"
        "\n"
        "tools.json:10:14: warning TOOL_NAME_DUPLICATE in twice at /name\n"
        f"  {TWICE}\n"
        f"  {SPECIFICATION}/server/tools#tool\n"
        "    |\n"
        ' 10 |     {"name": "twice", "inputSchema": {"type": "object"}}\n'
        "    |              ^~~~~~~\n"
        "\n"
        "4 tools, 3 errors, 2 warnings\n"
    ) == result.stdout


def test_json_has_an_object_for_each_tool_in_order() -> None:
    """With all its problems, as a verdict has violations."""
    duplicate = {
        "code": "TOOL_NAME_DUPLICATE",
        "severity": "warning",
        "keyword": "",
        "instance_location": "/name",
        "keyword_location": "",
        "message": TWICE,
        "suggestion": "",
        "spec_url": f"{SPECIFICATION}/server/tools#tool",
        "requirement": "No two tools of a list have the same name.",
    }
    outcomes = checked("tools.json")

    assert [
        ("tools.json", "good", True, []),
        ("tools.json", "bad", False, ["ENUM", "UNRESOLVABLE_REFERENCE"]),
        ("tools.json", "twice", False, ["INVALID_PATTERN", "TOOL_NAME_DUPLICATE"]),
        ("tools.json", "twice", True, ["TOOL_NAME_DUPLICATE"]),
    ] == [
        (one["file"], one["name"], one["ok"], [found["code"] for found in one["violations"]])
        for one in outcomes
    ]
    assert {**duplicate, "line": 10, "column": 14} == outcomes[3]["violations"][0]


@pytest.mark.parametrize(
    ("tools", "pointer"),
    [
        pytest.param(BAD, "", id="one definition"),
        pytest.param([GOOD, BAD], "/1", id="a list"),
        pytest.param({"tools": [GOOD, BAD], "nextCursor": "x"}, "/tools/1", id="a result"),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1, "result": {"tools": [BAD]}},
            "/result/tools/0",
            id="a JSON-RPC answer",
        ),
    ],
)
def test_tools_are_found_wherever_they_stand(folder: Path, tools: Any, pointer: str) -> None:
    """Each with every problem of both of its schemas."""
    (folder / "it.json").write_text(json.dumps(tools))
    sarif = json.loads(run("it.json", "--format", "sarif").stdout)

    assert [f"{pointer}/inputSchema/properties/a/type", f"{pointer}/outputSchema/$ref"] == [
        found["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]
        for found in sarif["runs"][0]["results"]
    ]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        pytest.param(["good.json"], 0, id="all fine"),
        pytest.param(["warned.json"], 0, id="a warning"),
        pytest.param(["none.json"], 0, id="no tools"),
        pytest.param(["tools.json", "good.json"], 1, id="an error"),
        pytest.param(["good.json", "gone.json"], 2, id="a file that is not there"),
        pytest.param(["tools.json", "gone.json"], 2, id="an error, and a file that is not there"),
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_the_exit_code_says_whether_all_tools_are_fine(
    folder: Path, files: list[str], code: int, form: str
) -> None:
    """In any form."""
    (folder / "warned.json").write_text(json.dumps([GOOD, GOOD]))
    (folder / "none.json").write_text("[]")

    assert code == run("--format", form, *files).exit_code


def test_a_name_counts_once_in_each_file(folder: Path) -> None:
    """A file is what one server offers."""
    (folder / "other.json").write_text(json.dumps(GOOD))

    assert "2 tools, no violations\n" == run("good.json", "other.json").stdout
    assert "1 tool, no violations\n" == run("good.json", "good.json").stdout


def test_a_dash_is_standard_input() -> None:
    """By that name."""
    outcome = {"file": "-", "name": "good", "ok": True, "violations": []}

    assert [outcome] == checked("-", stdin=json.dumps(GOOD).encode())


def test_documents_are_found_by_their_uri(folder: Path) -> None:
    """As those that are registered along with a tool."""
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
def test_what_is_less_grave_is_left_out(
    folder: Path, severity: str, codes: list[list[str]]
) -> None:
    """The tool, and what stands around it; the exit code is by errors alone."""
    (folder / "advised.json").write_text(ADVISED)
    tool, around = checked("advised.json", "--severity", severity)

    assert codes == [[found["code"] for found in one["violations"]] for one in (tool, around)]
    assert [("a b", True), ("", False)] == [(one["name"], one["ok"]) for one in (tool, around)]
    assert "/nextCursor" == around["violations"][0]["instance_location"]


def test_advice_is_shown_if_asked_for(folder: Path) -> None:
    """Of providers of models; it is no problem by default."""
    (folder / "dotted.json").write_text(json.dumps({**GOOD, "description": "x", "name": "a.b"}))

    assert "1 tool, no violations\n" == run("dotted.json").stdout
    (outcome,) = checked("dotted.json", "--severity", "info")
    assert {("info", True)} == {(one["severity"], outcome["ok"]) for one in outcome["violations"]}
    assert "TOOL_NAME_OPENAI_CHAT" in [one["code"] for one in outcome["violations"]]


@pytest.mark.parametrize(
    ("version", "pointers"),
    [
        pytest.param("2025-11-25", ["/outputSchema/type"], id="an output must be an object"),
        pytest.param("2026-07-28", ["", "", "", ""], id="an answer has more members"),
    ],
)
def test_the_rules_of_a_protocol_version_hold(
    folder: Path, version: str, pointers: list[str]
) -> None:
    """For the tools as for the answer around them."""
    answer = {"tools": [{**GOOD, "outputSchema": {"type": "array"}}]}
    (folder / "answer.json").write_text(json.dumps(answer))
    outcomes = checked("answer.json", "--protocol-version", version)

    assert pointers == [
        found["instance_location"] for one in outcomes for found in one["violations"]
    ]
    assert all(version in found["spec_url"] for one in outcomes for found in one["violations"])
