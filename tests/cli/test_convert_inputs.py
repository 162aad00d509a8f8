"""What `sidecheck convert` reads, and what it does with what it cannot use."""

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


def run(*words: str, stdin: bytes | None = None) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(sidecheck, ["convert", *words], input=stdin, catch_exceptions=False)


def test_of_tools_with_one_name_the_last_counts() -> None:
    """Whatever file it is in."""
    Path("again.json").write_text(json.dumps({**PING, "description": "Answers again."}))
    result = run("--to", "anthropic", "ping.json", "again.json")

    assert ["Answers again."] == [tool["description"] for tool in json.loads(result.stdout)]
    assert (
        "ping.json: ping: not converted: INVALID_REQUEST: a tool after it has the name 'ping' too; "
        "the last one counts\n"
    ) in result.stderr
    assert 1 == result.exit_code


def test_a_tool_without_a_name_is_told_by_its_file() -> None:
    """Nothing else is known of it."""
    Path("nameless.json").write_text('{"type": "function", "function": {"name": "ping"}}')

    assert (
        "nameless.json: not converted: INVALID_TOOL: "
        in run("--to", "gemini", "nameless.json").stderr
    )


def test_documents_may_be_brought() -> None:
    """For references out of a schema."""
    schema = {"type": "object", "properties": {"a": {"$ref": "https://example.com/a"}}}
    Path("far.json").write_text(json.dumps({"name": "far", "inputSchema": schema}))
    Path("a.json").write_text('{"type": "integer"}')
    words = ("--to", "anthropic", "far.json")
    document = ("--document", "https://example.com/a", "a.json")

    assert [1, 0] == [run(*words).exit_code, run(*words, *document).exit_code]
    assert '"integer"' in run(*words, *document).stdout


def test_standard_input_is_read() -> None:
    """Once."""
    result = run("--to", "anthropic", "-", stdin=json.dumps(PING).encode())

    assert (0, ["ping"]) == (result.exit_code, [tool["name"] for tool in json.loads(result.stdout)])


WRONG = [
    pytest.param((), "Missing argument 'FILE...'", id="no file"),
    pytest.param(("ping.json",), "Missing option '--to'", id="no API"),
    pytest.param(("--to", "openai", "ping.json"), "'openai' is not one of", id="no such API"),
    pytest.param(
        ("--to", "gemini", "ping.json", "gone.json"),
        "cannot read gone.json: No such file or directory",
        id="no such file",
    ),
    pytest.param(
        ("--to", "gemini", "--mappings-out", "none/plans.json", "ping.json"),
        "cannot write none/plans.json: No such file or directory",
        id="no such folder",
    ),
    pytest.param(
        ("--to", "gemini", "--mappings-out", "-", "ping.json"),
        "--mappings-out needs a file: the tools are written to standard output",
        id="plans to standard output",
    ),
    pytest.param(
        ("--to", "gemini", "-", "-", "--document", "u", "-"),
        "standard input (-) can be read only once",
        id="standard input twice",
    ),
    pytest.param(
        ("--to", "gemini", "--server-prefix", "always", "ping.json"),
        "--server-prefix always needs --server",
        id="a prefix of nothing",
    ),
    pytest.param(
        ("--to", "gemini", "ping.json", "broken.json"),
        "broken.json:2:1: PAYLOAD_NOT_JSON: not JSON: ",
        id="a file that is not JSON",
    ),
    pytest.param(
        ("--to", "gemini", "answer.json"),
        "answer.json:1:1: TOOLS_MISSING: this answer has no tools",
        id="an answer without tools",
    ),
]


@pytest.mark.parametrize(("words", "said"), WRONG)
def test_a_wrong_command_converts_nothing(folder: Path, words: tuple[str, ...], said: str) -> None:
    """It says what is wrong."""
    (folder / "broken.json").write_text("[\n")
    (folder / "answer.json").write_text('{"jsonrpc": "2.0", "id": 1}')
    result = run(*words)

    assert (2, "") == (result.exit_code, result.stdout)
    assert said in result.stderr
