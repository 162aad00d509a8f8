"""What `sidecheck restore` reads, and what it does with what it cannot use."""

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
    """Return the call of a model, as Chat Completions gives it."""
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
    """The current folder, which has FILES, and the plans of a conversion of the tools."""
    monkeypatch.chdir(tmp_path)
    for name, value in FILES.items():
        (tmp_path / name).write_text(json.dumps(value))
    words = ["convert", "--to", "openai-chat", "--mappings-out", "plans.json", "tools.json"]
    assert 0 == CliRunner().invoke(sidecheck, words, catch_exceptions=False).exit_code
    plan = json.loads((tmp_path / "plans.json").read_text())[1]
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    (tmp_path / "later.json").write_text(json.dumps({**plan, "sidecheck_plan": 2}))
    (tmp_path / "cut-plans.json").write_text(json.dumps([plan])[:-1])
    return tmp_path


def run(*words: str, stdin: bytes | None = None) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(
        sidecheck, ["convert-call", *words], input=stdin, catch_exceptions=False
    )


def restored(*words: str) -> Any:
    """Return what the command says in JSON, with the plans and the tools."""
    every = ("--mappings", "plans.json", "--tools", "tools.json", *words, "--format", "json")
    return json.loads(run(*every).stdout)


@pytest.mark.parametrize(
    ("code", "pointer", "name"),
    [
        pytest.param("PAYLOAD_NOT_JSON", "/function/arguments", "cut.json", id="cut off"),
        pytest.param(
            "CALL_ARGUMENTS_NOT_AN_OBJECT", "/function/arguments", "list.json", id="a list"
        ),
        pytest.param("CALL_NAME_MISSING", "/function", "nameless.json", id="no name"),
    ],
)
def test_a_call_that_cannot_be_read_has_no_params(code: str, pointer: str, name: str) -> None:
    """What is wrong has its place in the call; nobody makes up arguments."""
    result = run("--mappings", "plans.json", "--tools", "tools.json", name)
    found = restored(name)

    assert (1, "") == (result.exit_code, result.stdout)
    assert f"{name}:1:" in result.stderr
    assert (None, False, [(code, pointer)]) == (
        found["params"],
        found["valid"],
        [(each["code"], each["instance_location"]) for each in found["violations"]],
    )
    assert found["tool_error_text"]


def test_a_place_in_a_text_is_told_of_the_text() -> None:
    """The place of the string in the file, and that in the string in the message."""
    result = run("--mappings", "plan.json", "--tools", "tools.json", "cut.json")

    assert "" == result.stdout
    assert (
        "search.flights: invalid\n"
        "cut.json:1:90: error  PAYLOAD_NOT_JSON  /function/arguments  "
        "not JSON: a character that cannot stand there at line 1, column 28\n"
        "1 error\n"
    ) == result.stderr


def test_a_call_that_is_not_json_is_an_answer() -> None:
    """Standard input is read."""
    result = run("--mappings", "plans.json", "--tools", "tools.json", "-", stdin=b"{")

    assert (1, "") == (result.exit_code, result.stdout)
    assert (
        "-: invalid\n"
        "-:1:2: error  PAYLOAD_NOT_JSON  (root)  "
        "not JSON: it ends before the value is complete at line 1, column 2\n"
        "1 error\n"
    ) == result.stderr


def test_the_tools_may_be_in_several_files() -> None:
    """As those that were converted."""
    result = run(
        "--mappings", "plan.json", "--tools", "ping.json", "--tools", "tools.json", "good.json"
    )

    assert 0 == result.exit_code


WITH_PLANS = ("--mappings", "plans.json")
WITH_BOTH = (*WITH_PLANS, "--tools", "tools.json")
WRONG = [
    pytest.param(WITH_BOTH, "Missing argument 'CALL'", id="no call"),
    pytest.param(("good.json",), "Missing option '--mappings'", id="no plan"),
    pytest.param(
        (*WITH_PLANS, "good.json"),
        "give --tools: the original definitions that the arguments are validated against",
        id="no tools",
    ),
    pytest.param((*WITH_BOTH, "none.json"), "cannot read none.json", id="no such file"),
    pytest.param(
        (*WITH_PLANS, "--tools", "-", "-"),
        "standard input (-) can be read only once",
        id="standard input twice",
    ),
    pytest.param(
        ("--mappings", "tools.json", "--tools", "tools.json", "good.json"),
        "INVALID_MAPPING: ",
        id="another file for a plan",
    ),
    pytest.param(
        ("--mappings", "later.json", "--tools", "tools.json", "good.json"),
        "INVALID_MAPPING: ",
        id="a plan of a later version",
    ),
    pytest.param(
        ("--mappings", "cut-plans.json", "--tools", "tools.json", "good.json"),
        "INVALID_MAPPING: cut-plans.json is not a JSON array of mappings: ",
        id="plans that are cut off",
    ),
    pytest.param(
        (*WITH_BOTH, "unknown.json"),
        'MAPPING_MISMATCH: no plan is of a tool that the model knows as "search_fligts"; '
        'is it "search_flights"?',
        id="a call of a tool that was not converted",
    ),
    pytest.param(
        (*WITH_PLANS, "--tools", "other.json", "good.json"),
        "UNKNOWN_DEFINITION: the definition that the mapping was made from is in none of the files",
        id="another definition",
    ),
    pytest.param(
        (*WITH_PLANS, "--tools", "ping.json", "good.json"),
        "UNKNOWN_DEFINITION: the definition that the mapping was made from is in none of the files",
        id="no definition",
    ),
    pytest.param(
        (*WITH_PLANS, "--tools", "cut-plans.json", "good.json"),
        "cut-plans.json:1:",
        id="tools that are cut off",
    ),
]


@pytest.mark.parametrize(("words", "said"), WRONG)
def test_a_wrong_command_restores_nothing(words: tuple[str, ...], said: str) -> None:
    """It says what is wrong."""
    result = run(*words)

    assert (2, "") == (result.exit_code, result.stdout)
    assert said in result.stderr
