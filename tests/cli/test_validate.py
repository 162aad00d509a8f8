"""`sidecheck validate`: what it prints, and how it exits."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck

SCHEMA = {
    "type": "object",
    "properties": {"count": {"type": "integer", "minimum": 1}, "when": {"format": "date"}},
    "required": ["count"],
    "additionalProperties": False,
}
TOOL = {"name": "git_log", "inputSchema": SCHEMA}
OTHER = {"name": "git_diff", "inputSchema": {"type": "object"}}
FILES: dict[str, Any] = {
    "schema.json": SCHEMA,
    "tools.json": [OTHER, TOOL],
    "good.json": {"count": 3, "when": "someday"},
    "bad.json": {"count": "three", "whn": 1},
    "wordy.json": "not an object",
}
COUNT = {
    "code": "TYPE",
    "severity": "error",
    "keyword": "type",
    "instance_location": "/count",
    "keyword_location": "/properties/count/type",
    "message": 'expected an integer, found the string "three"',
    "suggestion": "",
    "spec_url": "",
    "line": 1,
    "column": 11,
}
WHN = {
    "code": "ADDITIONAL_PROPERTIES",
    "severity": "error",
    "keyword": "additionalProperties",
    "instance_location": "/whn",
    "keyword_location": "/additionalProperties",
    "message": 'unknown property "whn"; did you mean "when"?',
    "suggestion": "when",
    "spec_url": "",
    "line": 1,
    "column": 20,
}
GOOD = {"payload": "good.json", "valid": True, "truncated": False, "violations": []}
BAD = {"payload": "bad.json", "valid": False, "truncated": False, "violations": [COUNT, WHN]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which has FILES and a payload that nests too deep."""
    monkeypatch.chdir(tmp_path)
    for name, value in FILES.items():
        (tmp_path / name).write_text(json.dumps(value))
    (tmp_path / "deep.json").write_text("[" * 200 + "]" * 200)
    return tmp_path


def run(*words: str, stdin: bytes | None = None) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(sidecheck, ["validate", *words], input=stdin, catch_exceptions=False)


def judged(*words: str, stdin: bytes | None = None) -> Any:
    """Return what the command says in JSON."""
    return json.loads(run(*words, "--format", "json", stdin=stdin).stdout)


def test_json_has_an_object_for_each_payload_in_order() -> None:
    """It is a verdict with violations, or an error."""
    refusal = {
        "reason": "LIMIT_EXCEEDED",
        "message": "arrays and objects nest too deeply: 200, "
        "more than the limit of 128 (payload_depth)",
    }

    assert [BAD, GOOD, {"payload": "deep.json", "error": refusal}] == judged(
        "--schema", "schema.json", "bad.json", "good.json", "deep.json"
    )


def test_text_has_a_block_for_each_payload_in_order() -> None:
    """Violations are aligned rows, with a summary; colours need a terminal."""
    result = run("--schema", "schema.json", "good.json", "bad.json", "deep.json", "wordy.json")

    assert (
        "good.json: valid\n"
        "bad.json: invalid\n"
        "bad.json:1:11:  error  TYPE                   /count  "
        'expected an integer, found the string "three"\n'
        "bad.json:1:20:  error  ADDITIONAL_PROPERTIES  /whn    "
        'unknown property "whn"; did you mean "when"?\n'
        "deep.json: not validated: LIMIT_EXCEEDED: arrays and objects nest too deeply: 200, "
        "more than the limit of 128 (payload_depth)\n"
        "wordy.json: invalid\n"
        "wordy.json:1:1: error  TYPE                   (root)  "
        'expected an object, found the string "not an object"\n'
        "4 payloads, 3 errors, 1 not validated\n"
    ) == result.stdout
    assert "" == result.stderr


def test_excerpts_show_the_place_on_request() -> None:
    """The position is a value, or the key of an unknown property."""
    result = run("--schema", "schema.json", "--excerpts", "bad.json")

    assert (
        "bad.json: invalid\n"
        "bad.json:1:11: error TYPE at /count\n"
        '  expected an integer, found the string "three"\n'
        "   |\n"
        ' 1 | {"count": "three", "whn": 1}\n'
        "   |           ^~~~~~~\n"
        "\n"
        "bad.json:1:20: error ADDITIONAL_PROPERTIES at /whn\n"
        '  unknown property "whn"; did you mean "when"?\n'
        "   |\n"
        ' 1 | {"count": "three", "whn": 1}\n'
        "   |                    ^~~~~\n"
        "\n"
        "1 payload, 2 errors\n"
    ) == result.stdout


@pytest.mark.parametrize(
    ("payloads", "summary"),
    [
        pytest.param(["good.json"], "1 payload, no violations", id="one that is valid"),
        pytest.param(["good.json", "good.json"], "2 payloads, no violations", id="two"),
        pytest.param(["deep.json"], "1 payload, 1 not validated", id="a refusal"),
        pytest.param(["bad.json", "wordy.json"], "2 payloads, 3 errors", id="errors"),
    ],
)
def test_the_last_line_sums_up(payloads: list[str], summary: str) -> None:
    """The text ends with a summary."""
    assert summary == run("--schema", "schema.json", *payloads).stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("payloads", "code"),
    [
        pytest.param(["good.json", "good.json"], 0, id="all valid"),
        pytest.param(["good.json", "bad.json"], 1, id="a violation"),
        pytest.param(["deep.json", "good.json"], 1, id="a refusal"),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_exit_code_is_0_only_if_all_are_valid(
    payloads: list[str], code: int, form: str
) -> None:
    """It is the same in text and JSON."""
    assert code == run("--schema", "schema.json", "--format", form, *payloads).exit_code


@pytest.mark.parametrize(
    "tools",
    [
        pytest.param(TOOL, id="one definition"),
        pytest.param([OTHER, TOOL], id="a list"),
        pytest.param({"tools": [OTHER, TOOL], "nextCursor": "x"}, id="a tools-list result"),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}}, id="a JSON-RPC response"
        ),
    ],
)
def test_a_tool_is_found_in_every_form_of_definitions(folder: Path, tools: Any) -> None:
    """The payload is validated against its input schema."""
    (folder / "tools.json").write_text(json.dumps(tools))

    assert [BAD, GOOD] == judged(
        "--tools", "tools.json", "--tool", "git_log", "bad.json", "good.json"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("gitlog", "no tool 'gitlog' in the file; did you mean 'git_log'?", id="near"),
        pytest.param("weather", "no tool 'weather' in the file", id="far"),
    ],
)
def test_an_unknown_tool_is_refused_with_the_nearest_name(name: str, message: str) -> None:
    """Every payload has this error."""
    refusal = {"reason": "UNKNOWN_TOOL", "message": message}

    assert [
        {"payload": "good.json", "error": refusal},
        {"payload": "bad.json", "error": refusal},
    ] == judged("--tools", "tools.json", "--tool", name, "good.json", "bad.json")


def test_a_dash_is_standard_input(folder: Path) -> None:
    """The payload or the schema may be standard input."""
    piped = [{**BAD, "payload": "-"}]

    assert piped == judged("--schema", "schema.json", "-", stdin=(folder / "bad.json").read_bytes())
    assert [BAD] == judged("--schema", "-", "bad.json", stdin=json.dumps(SCHEMA).encode())


def test_documents_are_found_by_their_uri(folder: Path) -> None:
    """References to other URIs are not resolved."""
    (folder / "refers.json").write_text('{"$ref": "https://example.com/x.json"}')
    schema = ["--schema", "refers.json"]
    brought = ["--document", "https://example.com/x.json", "schema.json"]

    assert (0, 1) == (
        run(*schema, *brought, "good.json").exit_code,
        run(*schema, "good.json").exit_code,
    )
    error = judged(*schema, "good.json")[0]["error"]
    assert ("UNRESOLVABLE_REFERENCE", ["/$ref"]) == (
        error["reason"],
        [violation["instance_location"] for violation in error["violations"]],
    )


def test_formats_are_asserted_on_request() -> None:
    """Else they are annotations, as in 2020-12."""
    asserted = judged("--schema", "schema.json", "--assert-formats", "good.json")

    assert [GOOD] == judged("--schema", "schema.json", "good.json")
    assert [("/when", "FORMAT")] == [
        (violation["instance_location"], violation["code"])
        for violation in asserted[0]["violations"]
    ]


def test_values_are_left_out_on_request() -> None:
    """Messages and suggestions have no values; pointers stay."""
    hidden = judged("--schema", "schema.json", "--hide-values", "bad.json")[0]["violations"]

    assert ["/count", "/whn"] == [violation["instance_location"] for violation in hidden]
    assert [] == [
        violation
        for violation in hidden
        if "three" in str(violation) or "whn" in violation["message"]
    ]


def test_values_that_are_hidden_are_in_no_excerpt() -> None:
    """--hide-values takes precedence over other options."""
    shown = run("--schema", "schema.json", "--hide-values", "--excerpts", "bad.json").stdout

    assert "three" not in shown


def test_the_number_of_violations_is_limited() -> None:
    """The text says that there may be more."""
    assert [{**BAD, "truncated": True, "violations": [COUNT]}] == judged(
        "--schema", "schema.json", "--max-violations", "1", "bad.json"
    )
    assert run("--schema", "schema.json", "--max-violations", "1", "bad.json").stdout.endswith(
        "\n... there may be more; see --max-violations\n1 payload, 1 error\n"
    )
