"""`sidecheck convert`: inputs, and errors about them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck

PING = {
    "name": "ping",
    "description": "Answers.",
    "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a tool."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ping.json").write_text(json.dumps(PING))
    return tmp_path


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    """Run the command in this process; its exceptions propagate."""
    return CliRunner().invoke(
        sidecheck, ["convert", *arguments], input=stdin, catch_exceptions=False
    )


def test_of_tools_with_the_same_name_the_last_is_converted() -> None:
    """This applies across files too."""
    Path("again.json").write_text(json.dumps({**PING, "description": "Answers again."}))
    result = run("--to", "anthropic", "ping.json", "again.json")

    assert ["Answers again."] == [tool["description"] for tool in json.loads(result.stdout)]
    assert (
        "ping.json: ping: not converted: INVALID_REQUEST: duplicate name 'ping': "
        "a later tool has the same name and is used instead\n"
    ) in result.stderr
    assert 1 == result.exit_code


def test_a_tool_without_a_name_is_reported_by_its_file() -> None:
    """Its name is omitted."""
    Path("nameless.json").write_text('{"type": "function", "function": {"name": "ping"}}')

    assert (
        "nameless.json: not converted: INVALID_TOOL: "
        in run("--to", "gemini", "nameless.json").stderr
    )


def test_references_resolve_to_given_documents() -> None:
    """--document gives a document with its URI."""
    schema = {"type": "object", "properties": {"a": {"$ref": "https://example.com/a"}}}
    Path("remote.json").write_text(json.dumps({"name": "remote", "inputSchema": schema}))
    Path("a.json").write_text('{"type": "integer"}')
    arguments = ("--to", "anthropic", "remote.json")
    document = ("--document", "https://example.com/a", "a.json")

    assert [1, 0] == [run(*arguments).exit_code, run(*arguments, *document).exit_code]
    assert '"integer"' in run(*arguments, *document).stdout


def test_a_dash_is_standard_input() -> None:
    """Other commands have the same convention."""
    result = run("--to", "anthropic", "-", stdin=json.dumps(PING).encode())

    assert (0, ["ping"]) == (result.exit_code, [tool["name"] for tool in json.loads(result.stdout)])


INVALID = [
    pytest.param(
        ("--to", "anthropic"),
        "give a FILE, --url, or the command of a server after --",
        id="no file",
    ),
    pytest.param(("ping.json",), "Missing option '--to'", id="no API"),
    pytest.param(("--to", "openai", "ping.json"), "'openai' is not one of", id="no such API"),
    pytest.param(
        ("--to", "gemini", "ping.json", "gone.json"),
        "cannot read gone.json: No such file or directory",
        id="no such file",
    ),
    pytest.param(
        ("--to", "gemini", "--mappings-out", "none/mappings.json", "ping.json"),
        "cannot write none/mappings.json: No such file or directory",
        id="no such folder",
    ),
    pytest.param(
        ("--to", "gemini", "--mappings-out", "-", "ping.json"),
        "--mappings-out needs a file: the tools are written to standard output",
        id="mappings to standard output",
    ),
    pytest.param(
        ("--to", "gemini", "-", "-", "--document", "u", "-"),
        "standard input (-) can be read only once",
        id="standard input twice",
    ),
    pytest.param(
        ("--to", "gemini", "--server-prefix", "always", "ping.json"),
        "--server-prefix always needs --server",
        id="a prefix without a server",
    ),
    pytest.param(
        ("--to", "gemini", "ping.json", "broken.json"),
        "broken.json:2:1: PAYLOAD_NOT_JSON: not JSON: ",
        id="a file that is not JSON",
    ),
    pytest.param(
        ("--to", "gemini", "response.json"),
        "response.json:1:1: TOOLS_MISSING: the message has no result",
        id="a response without tools",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), INVALID)
def test_an_invalid_command_exits_with_2(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    """The message is on standard error; standard output is empty."""
    (folder / "broken.json").write_text("[\n")
    (folder / "response.json").write_text('{"jsonrpc": "2.0", "id": 1}')
    result = run(*arguments)

    assert (2, "") == (result.exit_code, result.stdout)
    assert message in result.stderr
