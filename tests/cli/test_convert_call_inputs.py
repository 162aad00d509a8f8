"""`sidecheck convert-call`: inputs, and errors about them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck

SEARCH = {
    "name": "search.flights",
    "inputSchema": {"type": "object", "properties": {"to": {"type": "string"}}},
}
PING = {"name": "ping", "inputSchema": {"type": "object"}}


def call(name: str, text: str) -> dict[str, Any]:
    """Return the call of a model in the format of Chat Completions."""
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": text}}


FILES: dict[str, Any] = {
    "tools.json": {"tools": [PING, SEARCH]},
    "other.json": [{**SEARCH, "description": "Another one."}],
    "ping.json": PING,
    "good.json": call("search_flights", '{"to": "Oslo"}'),
    "cut.json": call("search_flights", '{"to": "Oslo", "date": nul}'),
    "list.json": call("search_flights", "[]"),
    "unknown.json": call("search_fligts", "{}"),
    "nameless.json": {"function": {"arguments": "{}"}},
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with FILES and the mappings of the converted tools."""
    monkeypatch.chdir(tmp_path)
    for name, value in FILES.items():
        (tmp_path / name).write_text(json.dumps(value))
    arguments = ["convert", "--to", "openai-chat", "--mappings-out", "mappings.json", "tools.json"]
    assert 0 == CliRunner().invoke(sidecheck, arguments, catch_exceptions=False).exit_code
    mapping = json.loads((tmp_path / "mappings.json").read_text())[1]
    (tmp_path / "mapping.json").write_text(json.dumps(mapping))
    (tmp_path / "later.json").write_text(json.dumps({**mapping, "sidecheck_mapping": 2}))
    (tmp_path / "truncated-mappings.json").write_text(json.dumps([mapping])[:-1])
    return tmp_path


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    """Run the command in this process; its exceptions propagate."""
    return CliRunner().invoke(
        sidecheck, ["convert-call", *arguments], input=stdin, catch_exceptions=False
    )


def report(*arguments: str) -> Any:
    """Return the JSON report of the command, run with all mappings and tools."""
    options = (
        "--mappings",
        "mappings.json",
        "--tools",
        "tools.json",
        *arguments,
        "--format",
        "json",
    )
    return json.loads(run(*options).stdout)


@pytest.mark.parametrize(
    ("code", "location", "name"),
    [
        pytest.param("PAYLOAD_NOT_JSON", "/function/arguments", "cut.json", id="truncated"),
        pytest.param(
            "CALL_ARGUMENTS_NOT_AN_OBJECT", "/function/arguments", "list.json", id="a list"
        ),
        pytest.param("CALL_NAME_MISSING", "/function", "nameless.json", id="no name"),
    ],
)
def test_an_unreadable_call_has_no_params(code: str, location: str, name: str) -> None:
    """The violation has its location in the call."""
    result = run("--mappings", "mappings.json", "--tools", "tools.json", name)
    call_report = report(name)

    assert (1, "") == (result.exit_code, result.stdout)
    assert f"{name}:1:" in result.stderr
    assert (None, False, [(code, location)]) == (
        call_report["params"],
        call_report["valid"],
        [
            (violation["code"], violation["instance_location"])
            for violation in call_report["violations"]
        ],
    )
    assert call_report["tool_error_text"]


def test_an_error_in_a_string_of_json_has_two_positions() -> None:
    """The location is that of the string; the message has the position in the string."""
    result = run("--mappings", "mapping.json", "--tools", "tools.json", "cut.json")

    assert "" == result.stdout
    assert (
        "search.flights: invalid\n"
        "cut.json:1:90: error  PAYLOAD_NOT_JSON  /function/arguments  "
        "not JSON: an unexpected character at line 1, column 28\n"
        "1 error\n"
    ) == result.stderr


def test_a_call_that_is_not_json_has_a_violation() -> None:
    """The call comes from standard input."""
    result = run("--mappings", "mappings.json", "--tools", "tools.json", "-", stdin=b"{")

    assert (1, "") == (result.exit_code, result.stdout)
    assert (
        "-: invalid\n"
        "-:1:2: error  PAYLOAD_NOT_JSON  (root)  "
        "not JSON: it ends before the value is complete at line 1, column 2\n"
        "1 error\n"
    ) == result.stderr


def test_the_tools_can_be_in_several_files() -> None:
    """The files are read as for a conversion."""
    result = run(
        "--mappings", "mapping.json", "--tools", "ping.json", "--tools", "tools.json", "good.json"
    )

    assert 0 == result.exit_code


WITH_MAPPINGS = ("--mappings", "mappings.json")
WITH_BOTH = (*WITH_MAPPINGS, "--tools", "tools.json")
INVALID = [
    pytest.param(WITH_BOTH, "Missing argument 'CALL'", id="no call"),
    pytest.param(("good.json",), "Missing option '--mappings'", id="no mapping"),
    pytest.param(
        (*WITH_MAPPINGS, "good.json"),
        "give --tools: the original definitions that the arguments are validated against",
        id="no tools",
    ),
    pytest.param((*WITH_BOTH, "none.json"), "cannot read none.json", id="no such file"),
    pytest.param(
        (*WITH_MAPPINGS, "--tools", "-", "-"),
        "standard input (-) can be read only once",
        id="standard input twice",
    ),
    pytest.param(
        ("--mappings", "tools.json", "--tools", "tools.json", "good.json"),
        "INVALID_MAPPING: ",
        id="a file that is not a mapping",
    ),
    pytest.param(
        ("--mappings", "later.json", "--tools", "tools.json", "good.json"),
        "unknown version; expected 1, found version 2",
        id="a mapping of a later version",
    ),
    pytest.param(
        ("--mappings", "truncated-mappings.json", "--tools", "tools.json", "good.json"),
        "INVALID_MAPPING: truncated-mappings.json is not a JSON array of mappings: ",
        id="truncated mappings",
    ),
    pytest.param(
        (*WITH_BOTH, "unknown.json"),
        'MAPPING_MISMATCH: no mapping is for a tool with the name "search_fligts"; '
        'did you mean "search_flights"?',
        id="a call of a tool that was not converted",
    ),
    pytest.param(
        (*WITH_MAPPINGS, "--tools", "other.json", "good.json"),
        "UNKNOWN_DEFINITION: no file of --tools has the definition that the mapping was made from",
        id="another definition",
    ),
    pytest.param(
        (*WITH_MAPPINGS, "--tools", "ping.json", "good.json"),
        "UNKNOWN_DEFINITION: no file of --tools has the definition that the mapping was made from",
        id="no definition",
    ),
    pytest.param(
        (*WITH_MAPPINGS, "--tools", "truncated-mappings.json", "good.json"),
        "truncated-mappings.json:1:",
        id="truncated tools",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), INVALID)
def test_an_invalid_command_exits_with_2(arguments: tuple[str, ...], message: str) -> None:
    """The message is on standard error; standard output is empty."""
    result = run(*arguments)

    assert (2, "") == (result.exit_code, result.stdout)
    assert message in result.stderr
