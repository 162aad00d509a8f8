"""What `sidecheck check` does with what it cannot use, and with what is hostile."""

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
CLAUSE_FREE = {"severity": "error", "keyword": "", "keyword_location": "", "suggestion": ""}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a tool that is fine."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.json").write_bytes(GOOD)
    return tmp_path


def run(*words: str) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(sidecheck, ["check", *words], catch_exceptions=False)


def checked(*words: str) -> Any:
    """Return what the command says in JSON."""
    return json.loads(run(*words, "--format", "json").stdout)


DEEP = 10_000
NOT_TOOLS = [
    pytest.param(b"", "PAYLOAD_NOT_JSON", "not JSON: it is empty", (1, 1), id="nothing"),
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
        id="cut off",
    ),
    pytest.param(
        b"\x7fELF\n\xff\xfe\x00" * 100,
        "PAYLOAD_NOT_JSON",
        "not JSON: a character that cannot stand there at line 1, column 1",
        (1, 1),
        id="binary",
    ),
    pytest.param(
        b'{\n"name": "\xff"}',
        "PAYLOAD_NOT_JSON",
        "not JSON: it is not UTF-8 text",
        (2, 10),
        id="no UTF-8",
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
        "the object has this key more than once; readers would disagree which one counts",
        (1, 15),
        id="a key twice, outside of tools",
    ),
    pytest.param(
        b'{\n  "tools": 3}',
        "TOOLS_NOT_A_LIST",
        "the tools must be a list of definitions",
        (2, 12),
        id="tools that are no list",
    ),
    pytest.param(
        b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}',
        "TOOLS_MISSING",
        "this answer has no tools",
        (1, 1),
        id="a JSON-RPC error",
    ),
    pytest.param(
        b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
        "TOOLS_MISSING",
        "this answer has no tools",
        (1, 39),
        id="a result without tools",
    ),
]


@pytest.mark.parametrize(("content", "code", "message", "place"), NOT_TOOLS)
def test_a_file_without_tools_has_an_outcome_with_a_place(
    folder: Path, content: bytes, code: str, message: str, place: tuple[int, int]
) -> None:
    """And hides no other file."""
    (folder / "it").write_bytes(content)
    outcome, other = checked("it", "good.json")
    [problem] = outcome.pop("violations")
    # Two of them stand in the tests of sound files, whole.
    del problem["instance_location"], problem["spec_url"], problem["requirement"]

    assert {"file": "it", "name": "", "ok": False} == outcome
    assert {"file": "good.json", "name": "good", "ok": True, "violations": []} == other
    assert {
        **CLAUSE_FREE,
        "code": code,
        "message": message,
        "line": place[0],
        "column": place[1],
    } == problem


@pytest.mark.parametrize(("content", "code", "message", "place"), NOT_TOOLS)
@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_any_form_can_tell_of_it(
    folder: Path, content: bytes, code: str, message: str, place: tuple[int, int], form: str
) -> None:
    """With or without excerpts, and nothing of the file that a terminal would obey."""
    (folder / "it").write_bytes(content)
    for excerpts in ("--excerpts", "--no-excerpts"):
        result = run("it", "--format", form, excerpts)

        assert (1, "") == (result.exit_code, result.stderr)
        assert code in result.stdout
        assert result.stdout.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("tool", "codes"),
    [
        pytest.param(b"3", ["TYPE"], id="a number"),
        pytest.param(b'{"a": 1, "a": 2}', ["DUPLICATE_KEY"], id="a key twice"),
        pytest.param(b"{}", ["REQUIRED", "REQUIRED"], id="nothing in it"),
        pytest.param(
            b'{"name": "", "inputSchema": [], "outputSchema": 3}',
            ["TOOL_NAME_EMPTY", "TYPE", "TYPE"],
            id="nothing right in it",
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
def test_a_faulty_tool_hides_no_other(folder: Path, tool: bytes, codes: list[str]) -> None:
    """Before or after it."""
    (folder / "it").write_bytes(
        b"[" + GOOD + b", " + tool + b', {"name": "z", "inputSchema": {"type": "object"}}]'
    )
    first, outcome, last = checked("it")

    assert [True, False, True] == [one["ok"] for one in (first, outcome, last)]
    assert codes == sorted(found["code"] for found in outcome["violations"])
    for excerpts in ("--excerpts", "--no-excerpts"):
        text = run("it", excerpts)
        assert (1, "") == (text.exit_code, text.stderr)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param([], "Missing argument 'FILE...'", id="no file"),
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
def test_a_wrong_command_exits_with_2(words: list[str], said: str) -> None:
    """It says what is wrong on standard error, and nothing else."""
    result = run(*words)

    assert (2, "") == (result.exit_code, result.stdout)
    assert said in result.stderr


def test_a_file_that_cannot_be_read_hides_no_other() -> None:
    """It is told on standard error, and by the exit code."""
    result = run("gone.json", "good.json", "/")

    assert (2, "1 tool, no violations\n") == (result.exit_code, result.stdout)
    assert (
        "Error: cannot read gone.json: No such file or directory\n"
        "Error: cannot read /: Is a directory\n"
    ) == result.stderr


def test_names_do_not_talk_to_the_terminal(folder: Path) -> None:
    """Nor do they start lines that look like the command's own."""
    name = "\n0 tools, no violations\x1b[2J\u202e"
    tool = {"name": name, "inputSchema": {"type": "object", "properties": {name: {"type": name}}}}
    for ascii_only in (True, False):
        (folder / "a\nb.json").write_text(json.dumps(tool, ensure_ascii=ascii_only))
        said = run("--excerpts", "a\nb.json").stdout

        assert 15 == len(said.splitlines())
        assert said.replace("\n", "").isprintable()


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_a_reader_that_leaves_early_is_no_fault(folder: Path, form: str) -> None:
    """As in `sidecheck check ... | head -1`: no traceback, nor a word of it."""
    tools = [{"name": f"t{number}", "inputSchema": {"type": "integr"}} for number in range(300)]
    (folder / "many.json").write_text(json.dumps(tools))
    command = f'"{sys.executable}" -m sidecheck_server check many.json --format {form} | head -1'
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, timeout=300, check=False, env=os.environ
    )

    assert (0, b"", 1) == (done.returncode, done.stderr, done.stdout.count(b"\n"))
