"""`sidecheck check`: files that are unreadable, malformed or hostile."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck

GOOD = b'{"name": "good", "inputSchema": {"type": "object"}}'
COMMON_FIELDS = {"severity": "error", "keyword": "", "keyword_location": "", "suggestion": ""}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a valid tool."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.json").write_bytes(GOOD)
    return tmp_path


def run(*arguments: str) -> Result:
    """Run the command in this process; its exceptions propagate."""
    return CliRunner().invoke(sidecheck, ["check", *arguments], catch_exceptions=False)


def checked(*arguments: str) -> Any:
    """Return the JSON report of the command."""
    return json.loads(run(*arguments, "--format", "json").stdout)


DEEP = 10_000
NOT_TOOLS = [
    pytest.param(b"", "PAYLOAD_NOT_JSON", "not JSON: it is empty", (1, 1), id="empty"),
    pytest.param(
        b'{"name": "a",\n  oops}',
        "PAYLOAD_NOT_JSON",
        "not JSON: a key that is not a string in double quotes at line 2, column 3",
        (2, 3),
        id="not JSON",
    ),
    pytest.param(
        b'{"name": "a",\r\n  oops}',
        "PAYLOAD_NOT_JSON",
        "not JSON: a key that is not a string in double quotes at line 2, column 3",
        (2, 3),
        id="not JSON, with CRLF",
    ),
    pytest.param(
        '{"nämé": "日本",\n "b": "日本", oops}'.encode(),
        "PAYLOAD_NOT_JSON",
        "not JSON: a key that is not a string in double quotes at line 2, column 13",
        (2, 13),
        id="not JSON, beyond ASCII",
    ),
    pytest.param(
        b'[\n"a',
        "PAYLOAD_NOT_JSON",
        "not JSON: it ends before the value is complete at line 2, column 3",
        (2, 3),
        id="truncated",
    ),
    pytest.param(
        b"\x7fELF\n\xff\xfe\x00" * 100,
        "PAYLOAD_NOT_JSON",
        "not JSON: an unexpected character at line 1, column 1",
        (1, 1),
        id="binary",
    ),
    pytest.param(
        b'{\n"name": "\xff"}',
        "PAYLOAD_NOT_JSON",
        "not JSON: it is not UTF-8 text",
        (2, 10),
        id="not UTF-8",
    ),
    pytest.param(
        b"\xef\xbb\xbf{}",
        "PAYLOAD_NOT_JSON",
        "not JSON: it begins with a byte order mark; JSON is UTF-8 without one",
        (1, 1),
        id="a byte order mark",
    ),
    pytest.param(
        b"[" * DEEP + b"]" * DEEP,
        "LIMIT_EXCEEDED",
        "arrays and objects nest too deep: 10,000, more than the limit of 64 (schema_depth)",
        (1, 1),
        id="10,000 deep",
    ),
    pytest.param(
        b'{"tools": [], "tools": []}',
        "DUPLICATE_KEY",
        "duplicate key in the object; JSON parsers disagree on which value counts",
        (1, 15),
        id="a duplicate key outside of tools",
    ),
    pytest.param(
        b'{\n  "tools": 3}',
        "TOOLS_NOT_A_LIST",
        '"tools" must be an array of tool definitions',
        (2, 12),
        id="tools that are not a list",
    ),
    pytest.param(
        b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}',
        "TOOLS_MISSING",
        "the message has no result",
        (1, 1),
        id="a JSON-RPC error",
    ),
    pytest.param(
        b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
        "TOOLS_MISSING",
        'the result has no property "tools"',
        (1, 39),
        id="a result without tools",
    ),
]


@pytest.mark.parametrize(("content", "code", "message", "position"), NOT_TOOLS)
def test_a_file_without_tools_has_an_outcome_with_a_position(
    folder: Path, content: bytes, code: str, message: str, position: tuple[int, int]
) -> None:
    """Other files are checked nevertheless."""
    (folder / "tools").write_bytes(content)
    outcome, good_outcome = checked("tools", "good.json")
    [violation] = outcome.pop("violations")
    # tests/cli/test_check.py tests these three.
    del violation["instance_location"], violation["spec_url"], violation["requirement"]

    assert {"file": "tools", "name": "", "ok": False} == outcome
    assert {"file": "good.json", "name": "good", "ok": True, "violations": []} == good_outcome
    assert {
        **COMMON_FIELDS,
        "code": code,
        "message": message,
        "line": position[0],
        "column": position[1],
    } == violation


@pytest.mark.parametrize(("content", "code", "message", "position"), NOT_TOOLS)
@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_every_format_reports_a_file_without_tools(
    folder: Path, content: bytes, code: str, message: str, position: tuple[int, int], form: str
) -> None:
    """Excerpts are optional; control characters of the file are escaped."""
    (folder / "tools").write_bytes(content)
    for excerpts in ("--excerpts", "--no-excerpts"):
        result = run("tools", "--format", form, excerpts)

        assert (1, "") == (result.exit_code, result.stderr)
        assert code in result.stdout
        assert result.stdout.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("tool", "codes"),
    [
        pytest.param(b"3", ["TYPE"], id="a number"),
        pytest.param(b'{"a": 1, "a": 2}', ["DUPLICATE_KEY"], id="a duplicate key"),
        pytest.param(b"{}", ["REQUIRED", "REQUIRED"], id="an empty object"),
        pytest.param(
            b'{"name": "", "inputSchema": [], "outputSchema": 3}',
            ["TOOL_NAME_EMPTY", "TYPE", "TYPE"],
            id="every property is invalid",
        ),
        pytest.param(
            b'{"name": "t", "inputSchema": {"not": ' + b'{"not": ' * 99 + b"{}" + b"}" * 101,
            ["LIMIT_EXCEEDED"],
            id="a schema too deep",
        ),
        pytest.param(
            b'{"name": "t", "inputSchema": {"type": "object", "description": "'
            + b"x" * 300_000
            + b'"}}',
            ["LIMIT_EXCEEDED"],
            id="a schema too large",
        ),
        pytest.param(
            b'{"name": "t", "inputSchema": {"description": "' + b"x" * 600_000 + b'"}}',
            ["LIMIT_EXCEEDED"],
            id="a tool too large",
        ),
        pytest.param(
            b'{"name": "' + b"n" * 100_000 + b'", "inputSchema": {"type": 3}}',
            ["CONST", "TOOL_NAME_LENGTH"],
            id="a huge name",
        ),
    ],
)
def test_an_invalid_tool_does_not_hide_others(folder: Path, tool: bytes, codes: list[str]) -> None:
    """The invalid tool may be first or last."""
    (folder / "tools").write_bytes(
        b"[" + GOOD + b", " + tool + b', {"name": "z", "inputSchema": {"type": "object"}}]'
    )
    before, outcome, after = checked("tools")

    assert [True, False, True] == [tool["ok"] for tool in (before, outcome, after)]
    assert codes == sorted(violation["code"] for violation in outcome["violations"])
    for excerpts in ("--excerpts", "--no-excerpts"):
        text = run("tools", excerpts)
        assert (1, "") == (text.exit_code, text.stderr)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "give a FILE, --url, or the command of a server after --", id="no file"),
        pytest.param(["-", "-"], "standard input (-) can be read only once", id="stdin twice"),
        pytest.param(
            ["-", "--document", "urn:a", "-"],
            "standard input (-) can be read only once",
            id="stdin as a document too",
        ),
        pytest.param(
            ["gone.json"], "cannot read gone.json: No such file or directory", id="no such file"
        ),
        pytest.param(["/"], "cannot read /: Is a directory", id="a folder"),
        pytest.param(
            ["\udcff"], "cannot read \\udcff: No such file or directory", id="a name not in UTF-8"
        ),
        pytest.param(
            ["good.json", "--document", "urn:a", "gone.json"],
            "cannot read gone.json: No such file or directory",
            id="no such document",
        ),
        pytest.param(["good.json", "--format", "xml"], "'xml' is not one of", id="no such form"),
    ],
)
def test_an_invalid_command_exits_with_2(arguments: list[str], message: str) -> None:
    """The message is on standard error; standard output is empty."""
    result = run(*arguments)

    assert (2, "") == (result.exit_code, result.stdout)
    assert message in result.stderr


def test_an_unreadable_file_does_not_hide_others() -> None:
    """Standard error and the exit code report it."""
    result = run("gone.json", "good.json", "/")

    assert (2, "1 tool, no violations\n") == (result.exit_code, result.stdout)
    assert (
        "Error: cannot read gone.json: No such file or directory\n"
        "Error: cannot read /: Is a directory\n"
    ) == result.stderr


def test_names_do_not_control_the_terminal(folder: Path) -> None:
    """They do not add lines that look like those of the command."""
    name = "\n0 tools, no violations\x1b[2J\u202e"
    tool = {"name": name, "inputSchema": {"type": "object", "properties": {name: {"type": name}}}}
    for ascii_only in (True, False):
        (folder / "a\nb.json").write_text(json.dumps(tool, ensure_ascii=ascii_only))
        text = run("--excerpts", "a\nb.json").stdout

        assert 15 == len(text.splitlines())
        assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_a_closed_pipe_is_not_an_error(folder: Path, form: str) -> None:
    """`sidecheck check ... | head -1` writes nothing to standard error."""
    tools = [{"name": f"t{number}", "inputSchema": {"type": "integr"}} for number in range(300)]
    (folder / "many.json").write_text(json.dumps(tools))
    command = f'"{sys.executable}" -m sidecheck_server check many.json --format {form} | head -1'
    process = subprocess.run(
        ["bash", "-c", command], capture_output=True, timeout=300, check=False, env=os.environ
    )

    assert (0, b"", 1) == (process.returncode, process.stderr, process.stdout.count(b"\n"))
