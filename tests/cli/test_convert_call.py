"""`sidecheck restore`: what it prints, and how it exits."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck

SEARCH = {
    "name": "search.flights",
    "inputSchema": {
        "type": "object",
        "properties": {
            "to": {"type": "string", "minLength": 3},
            "date": {"type": "string", "format": "date"},
            "via": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["to"],
        "additionalProperties": False,
    },
}
PING = {"name": "ping", "inputSchema": {"type": "object"}}
REMOVED = "removed null, which stands for an absent property"
TEXT = (
    "The arguments of the call to search_flights are not valid:\n"
    "- to: expected at least 3 characters, found 1\n"
    "Correct the arguments and call the tool again."
)


def call(arguments: Any) -> dict[str, Any]:
    """Return the call of a model, as Chat Completions gives it."""
    function = {"name": "search_flights", "arguments": json.dumps(arguments)}
    return {"id": "call_1", "type": "function", "function": function}


FILES: dict[str, Any] = {
    "tools.json": {"tools": [PING, SEARCH]},
    "good.json": call({"to": "Oslo", "date": None, "via": ["Bergen"]}),
    "bad.json": call({"to": "O", "date": None, "via": None}),
    "text.json": call({"to": "Oslo", "date": None, "via": '["Bergen"]'}),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which has FILES, and the plans of a conversion of the tools."""
    monkeypatch.chdir(tmp_path)
    for name, value in FILES.items():
        (tmp_path / name).write_text(json.dumps(value))
    words = ["convert", "--to", "openai-chat", "--mode", "strict", "--server", "air"]
    done = CliRunner().invoke(
        sidecheck, [*words, "--mappings-out", "plans.json", "tools.json"], catch_exceptions=False
    )
    assert 0 == done.exit_code
    plan = json.loads((tmp_path / "plans.json").read_text())[1]
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    return tmp_path


def run(*words: str, stdin: bytes | None = None) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(
        sidecheck, ["convert-call", *words], input=stdin, catch_exceptions=False
    )


def restored(*words: str, stdin: bytes | None = None) -> Any:
    """Return what the command says in JSON, with the plans and the tools."""
    every = ("--mappings", "plans.json", "--tools", "tools.json", *words, "--format", "json")
    return json.loads(run(*every, stdin=stdin).stdout)


def printed(arguments: dict[str, Any]) -> str:
    """Return the params of a call as they are printed."""
    return json.dumps({"name": "search.flights", "arguments": arguments}, indent=2) + "\n"


@pytest.mark.parametrize("plan", ["plan.json", "plans.json"])
def test_params_go_to_stdout_and_reports_to_stderr(plan: str) -> None:
    """The mapping is selected by tool or by the name in the call."""
    result = run("--mappings", plan, "--tools", "tools.json", "good.json")

    assert printed({"to": "Oslo", "via": ["Bergen"]}) == result.stdout
    assert (
        f"changed  /date  SYNTHETIC_NULL_REMOVED  {REMOVED}\n"
        "search.flights: valid\n"
        "no violations, 1 change\n"
    ) == result.stderr
    assert 0 == result.exit_code


def test_violations_have_locations_in_the_params() -> None:
    """The original schema applies, which is stricter than the converted schema."""
    result = run("--mappings", "plans.json", "--tools", "tools.json", "bad.json")

    assert printed({"to": "O"}) == result.stdout
    assert (
        f"changed  /date  SYNTHETIC_NULL_REMOVED  {REMOVED}\n"
        f"changed  /via   SYNTHETIC_NULL_REMOVED  {REMOVED}\n"
        "search.flights: invalid\n"
        "params:4:11: error  MIN_LENGTH  /to  expected at least 3 characters, found 1\n"
        "1 error, 2 changes\n"
    ) == result.stderr
    assert 1 == result.exit_code


def test_excerpts_show_the_location_in_the_params() -> None:
    """The option is --excerpts."""
    result = run("--mappings", "plan.json", "--tools", "tools.json", "--excerpts", "bad.json")

    assert (
        "search.flights: invalid\n"
        "params:4:11: error MIN_LENGTH at /to\n"
        "  expected at least 3 characters, found 1\n"
        "   |\n"
        ' 4 |     "to": "O"\n'
        "   |           ^~~\n"
        "\n"
        "1 error, 2 changes\n"
    ) in result.stderr


def test_json_is_one_object() -> None:
    """It has the text for the model."""
    change = {"code": "SYNTHETIC_NULL_REMOVED", "message": REMOVED}

    assert {
        "server": "air",
        "tool": "search.flights",
        "call_id": "call_1",
        "params": {"name": "search.flights", "arguments": {"to": "O"}},
        "valid": False,
        "violations": [
            {
                "code": "MIN_LENGTH",
                "severity": "error",
                "keyword": "minLength",
                "instance_location": "/to",
                "keyword_location": "/properties/to/minLength",
                "message": "expected at least 3 characters, found 1",
                "suggestion": "",
                "spec_url": "",
            }
        ],
        "changes": [
            {"instance_location": "/date", **change},
            {"instance_location": "/via", **change},
        ],
        "tool_error_text": TEXT,
    } == restored("bad.json")


def test_texts_are_decoded_where_the_schema_demands_it() -> None:
    """Models encode twice."""
    restoration = restored("text.json")

    assert ({"to": "Oslo", "via": ["Bergen"]}, True) == (
        restoration["params"]["arguments"],
        restoration["valid"],
    )
    assert ["SYNTHETIC_NULL_REMOVED", "JSON_STRING_DECODED"] == [
        change["code"] for change in restoration["changes"]
    ]


def test_remaining_violations_have_locations_in_the_sent_call() -> None:
    """Decoding would change the arguments and leave them invalid."""
    restoration = restored("-", stdin=json.dumps(call({"to": "O", "via": "[]"})).encode())

    assert {"to": "O", "via": "[]"} == restoration["params"]["arguments"]
    assert ["/to", "/via"] == [
        violation["instance_location"] for violation in restoration["violations"]
    ]
    assert [] == restoration["changes"]


def test_arguments_that_are_not_an_object_have_no_params(folder: Path) -> None:
    """A wrapped payload may hold any value."""
    either = [
        {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
        for name in ("city", "place")
    ]
    tool = {"name": "where", "inputSchema": {"anyOf": either}}
    (folder / "where.json").write_text(json.dumps(tool))
    words = ["convert", "--to", "anthropic", "--mappings-out", "where-plan.json", "where.json"]
    assert 0 == CliRunner().invoke(sidecheck, words, catch_exceptions=False).exit_code
    words = ["--mappings", "where-plan.json", "--tools", "where.json", "-"]
    results = [
        run(*words, stdin=json.dumps({"name": "where", "input": {"input": value}}).encode())
        for value in ({"city": "Oslo"}, "Oslo")
    ]

    assert [0, 1] == [result.exit_code for result in results]
    assert {"name": "where", "arguments": {"city": "Oslo"}} == json.loads(results[0].stdout)
    assert "" == results[1].stdout
    assert (
        "where: invalid\n"
        'arguments:1:1: error  ANY_OF  (root)  expected an object with "city" or an object with '
        '"place", found the string "Oslo"\n'
        "1 error, 1 change\n"
    ) in results[1].stderr


def test_a_terminal_gets_excerpts_and_colours(on_terminal: Any) -> None:
    """The report has them; the params are plain JSON."""
    words = ("convert-call", "--mappings", "plan.json", "--tools", "tools.json", "bad.json")
    code, output = on_terminal(*words)

    assert 1 == code
    assert output.startswith(printed({"to": "O"}))
    assert "search.flights: \x1b[0m\x1b[1;31minvalid\x1b[0m\n" in output
    assert "\x1b[1;31m^~~\x1b[0m\n" in output
