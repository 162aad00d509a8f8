"""Unusable and hostile inputs of `sidecheck validate`."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck

SCHEMA = {"properties": {"count": {"type": "integer"}}, "additionalProperties": False}
DEEP = 100_000
CONTENTS = {
    "garbage": bytes(range(256)) * 40,
    "nothing": b"",
    "a null byte": b"\x00",
    "10 MB": b'"' + b"x" * 10_000_000 + b'"',
    "deep": b"[" * DEEP + b"]" * DEEP,
    "deep and cut off": b'{"items":' * DEEP,
    "no UTF-8": b'{"title": "\xff"}',
    "half a surrogate pair": b'{"title": "\\ud800"}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "a key twice": b'{"title": "a", "title": "b"}',
    "a number too large": b'{"minimum": 1e400}',
    "a number of 5,000 digits": b'{"minimum": ' + b"9" * 5000 + b"}",
    "no schema": b"3",
    "an endless schema": b'{"$ref": "#"}',
    "a URI that is none": b'{"$id": "http://[::bad", "$ref": "http://[::"}',
    "a tool that is none": b'{"name": {}, "inputSchema": 3}',
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a schema, a payload, and a reference to a document."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "tools.json").write_text(json.dumps({"name": "t", "inputSchema": SCHEMA}))
    (tmp_path / "refers.json").write_text('{"$ref": "urn:document"}')
    (tmp_path / "good.json").write_text('{"count": 3}')
    return tmp_path


def run(*words: str, color: bool = False) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(sidecheck, ["validate", *words], catch_exceptions=False, color=color)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--schema", "schema.json", "it"], id="as a payload"),
        pytest.param(["--schema", "it", "good.json"], id="as a schema"),
        pytest.param(["--tools", "it", "--tool", "t", "good.json"], id="as tools"),
        pytest.param(
            ["--schema", "refers.json", "--document", "urn:document", "it", "good.json"],
            id="as a document",
        ),
    ],
)
@pytest.mark.parametrize("content", CONTENTS)
def test_any_file_content_has_a_verdict_or_an_error(
    folder: Path, content: str, words: list[str]
) -> None:
    """It never raises, and text and JSON agree."""
    (folder / "it").write_bytes(CONTENTS[content])
    text = run(*words)
    result = run("--format", "json", *words)
    [report] = json.loads(result.stdout)

    assert ("", "") == (text.stderr, result.stderr)
    assert text.exit_code == result.exit_code == (0 if report.get("valid") else 1)
    assert {report["payload"], text.stdout.splitlines()[-1]} == {
        line.partition(":")[0] for line in text.stdout.splitlines()
    }
    assert ("violations" in report) is not ("error" in report)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["good.json"], "give either --schema or --tools", id="no schema"),
        pytest.param(
            ["--schema", "schema.json", "--tools", "tools.json", "--tool", "x", "good.json"],
            "give either --schema or --tools",
            id="two schemas",
        ),
        pytest.param(
            ["--tools", "tools.json", "good.json"],
            "--tools and --tool belong together",
            id="no tool named",
        ),
        pytest.param(
            ["--schema", "schema.json", "--tool", "x", "good.json"],
            "--tools and --tool belong together",
            id="a tool of no file",
        ),
        pytest.param(["--schema", "schema.json"], "Missing argument", id="no payload"),
        pytest.param(
            ["--schema", "-", "-"], "standard input (-) can be read only once", id="stdin twice"
        ),
        pytest.param(
            ["--schema", "schema.json", "--document", "urn:a", "-", "-"],
            "standard input (-) can be read only once",
            id="stdin as document and payload",
        ),
        pytest.param(
            ["--schema", "schema.json", "gone.json"],
            "cannot read gone.json: No such file or directory",
            id="no such payload",
        ),
        pytest.param(
            ["--schema", "gone.json", "good.json"],
            "cannot read gone.json: No such file or directory",
            id="no such schema",
        ),
        pytest.param(
            ["--schema", "schema.json", "good.json", "/"],
            "cannot read /: Is a directory",
            id="a folder",
        ),
        pytest.param(
            ["--schema", "schema.json", "/proc/self/mem"],
            "cannot read /proc/self/mem: Input/output error",
            id="an unreadable file",
            marks=pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs Linux"),
        ),
        pytest.param(
            ["--schema", "schema.json", "--document", "urn:a", "\udcff", "good.json"],
            "cannot read \\udcff: No such file or directory",
            id="a name that is not UTF-8",
        ),
        pytest.param(
            ["--schema", "schema.json", "--max-violations", "0", "good.json"],
            "0 is not in the range",
            id="no violations wanted",
        ),
    ],
)
def test_a_wrong_command_exits_with_2(words: list[str], message: str) -> None:
    """Standard error has the fault only."""
    result = run(*words)

    assert (2, "") == (result.exit_code, result.stdout)
    assert message in result.stderr


@pytest.mark.parametrize("color", [False, True])
def test_names_of_a_payload_do_not_control_the_terminal(folder: Path, color: bool) -> None:
    """Property and file names do not start lines that look like those of the command."""
    key = "\nok.json: valid \x1b[2J\u202e"
    (folder / "key.json").write_text(json.dumps({key: 1}))
    (folder / "a\nb.json").write_text('{"count": 1}')
    output = run(
        "--schema", "schema.json", "--excerpts", "key.json", "a\nb.json", color=color
    ).stdout

    assert 9 == len(output.splitlines())
    assert [] == [bad for bad in ("\x1b[2J", "\u202e") if bad in output]
    assert "/\\nok.json: valid \\u001b[2J\\u202e" in output


def test_names_that_are_not_utf8_are_reported(folder: Path) -> None:
    """A POSIX file name is bytes."""
    name = os.fsdecode(b"n\xff.json")
    (folder / name).write_text('{"count": 1}')

    assert (
        "n\\udcff.json: valid\n1 payload, no violations\n"
        == run("--schema", "schema.json", name).stdout
    )
    assert (
        name
        == json.loads(run("--format", "json", "--schema", "schema.json", name).stdout)[0]["payload"]
    )


def start(*words: str, **streams: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "sidecheck_server", "validate", "--schema", "schema.json", *words],
        stderr=subprocess.PIPE,
        timeout=300,
        check=False,
        **streams,
    )


def test_a_pipe_gets_plain_text() -> None:
    """Characters outside its encoding are escaped."""
    done = start(
        "-",
        input='{"count": "é"}'.encode(),
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )

    assert (1, b"") == (done.returncode, done.stderr)
    assert (
        b"-: invalid\n"
        b'-:1:11: error  TYPE  /count  expected an integer, found the string "\\xe9"\n'
        b"1 payload, 1 error\n" == done.stdout
    )


@pytest.mark.parametrize(
    ("redirected", "message"),
    [
        pytest.param("-- - <&-", b"cannot read standard input: it is closed", id="no input"),
        pytest.param(
            "good.json >/dev/full",
            b"cannot write the result: No space left on device",
            id="a full disk",
        ),
    ],
)
def test_a_failed_stream_is_reported_without_a_traceback(redirected: str, message: bytes) -> None:
    """The exit code is that of an unreadable file."""
    command = f'"{sys.executable}" -m sidecheck_server validate --schema schema.json {redirected}'
    done = subprocess.run(command, shell=True, capture_output=True, timeout=300, check=False)

    assert 2 == done.returncode
    assert message in done.stderr
    assert b"Traceback" not in done.stderr
