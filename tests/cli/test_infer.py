"""`sidecheck infer`: what it prints, and how it exits."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck

GOOD = "@tool\ndef add(a: int, b: int = 1) -> int: ...\n"
MIXED = f"{GOOD}\n@tool\ndef draw(é: str, shape: list[Shape]) -> None: ...\n"
ADD = {
    "name": "add",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}},
        "required": ["a"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"result": {"type": "integer"}},
        "required": ["result"],
        "x-dedalus-box": {"field": "result"},
    },
}
UNKNOWN = "Shape is neither defined in the source nor imported from a known module"


@pytest.fixture(autouse=True)
def _in_a_folder_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.py").write_text(GOOD)
    Path("mixed.py").write_text(MIXED)
    Path("warned.py").write_text("@tool\ndef f(a): ...\n")
    Path("broken.py").write_text("def f(:\n")
    Path("large.py").write_text("#" * 262_145)


def infer(*words: str, stdin: str | None = None) -> Result:
    """Run the command."""
    return CliRunner().invoke(sidecheck, ["infer", *words], input=stdin, catch_exceptions=False)


def test_definitions_go_to_standard_output() -> None:
    """They are a JSON array; without diagnostics, standard error is empty."""
    result = infer("good.py")

    assert (0, "") == (result.exit_code, result.stderr)
    assert [ADD] == json.loads(result.stdout)


@pytest.mark.parametrize("source", ["", "x = 1\n", "class A:\n    def f(self): ...\n"])
def test_a_source_without_tools_is_reported(source: str) -> None:
    """It is not an error; the JSON output has an empty list."""
    result, in_json = infer("-", stdin=source), infer("-", "--format", "json", stdin=source)

    assert (0, "[]\n") == (result.exit_code, result.stdout)
    assert result.stderr.endswith(
        " has no tools: no function has a decorator named tool, and no function of the module "
        "is public; use --function to name one\n"
    )
    assert (0, "") == (in_json.exit_code, in_json.stderr)
    assert {"tools": [], "diagnostics": []} == json.loads(in_json.stdout)


def test_diagnostics_go_to_standard_error() -> None:
    """Each has its line, with the position marked."""
    result = infer("mixed.py")

    assert 1 == result.exit_code
    assert [ADD] == json.loads(result.stdout)
    assert [
        f"mixed.py:5:30: error UNRESOLVED_NAME {UNKNOWN}",
        "   |",
        " 5 | def draw(é: str, shape: list[Shape]) -> None: ...",
        "   |                              ^~~~~",
        "1 tool, 1 error",
    ] == result.stderr.splitlines()


def test_json_is_one_object() -> None:
    """It has definitions and diagnostics."""
    result = infer("mixed.py", "--format", "json")
    report = json.loads(result.stdout)

    assert (1, "") == (result.exit_code, result.stderr)
    (tool,) = report["tools"]
    assert ("add", 2, ADD) == (tool["function"], tool["line"], tool["definition"])
    assert tool["digest"].startswith("sha256:")
    assert [
        {
            "code": "UNRESOLVED_NAME",
            "severity": "error",
            "message": UNKNOWN,
            "line": 5,
            "column": 30,
            "end_line": 5,
            "end_column": 35,
            "function": "draw",
            "parameter": "shape",
        }
    ] == report["diagnostics"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        pytest.param(0, ["good.py"], id="all"),
        pytest.param(0, ["warned.py"], id="a warning"),
        pytest.param(0, ["mixed.py", "--function", "add"], id="one that is good"),
        pytest.param(0, ["mixed.py", "--on-unsupported", "any"], id="anything is admitted"),
        pytest.param(1, ["mixed.py", "--inject-type", "Other"], id="no such type"),
        pytest.param(1, ["mixed.py"], id="an error"),
        pytest.param(1, ["broken.py"], id="no Python"),
        pytest.param(1, ["good.py", "--function", "sub"], id="an unknown function"),
        pytest.param(2, ["large.py"], id="too large"),
        pytest.param(2, ["missing.py"], id="no file"),
        pytest.param(2, [], id="no argument"),
        pytest.param(2, ["good.py", "--format", "xml"], id="a wrong command"),
    ],
)
def test_the_exit_code(code: int, words: list[str]) -> None:
    """0 if all were inferred, 1 if something has an error, 2 if nothing could be read."""
    assert code == infer(*words).exit_code


def test_a_text_beyond_the_limit_is_rejected() -> None:
    """The error has the size and the limit."""
    assert (
        "Error: cannot read large.py: the source text: 262,145, more than the limit of 262,144 "
        "(source_bytes)"
    ) in infer("large.py").stderr


def test_standard_input_is_read() -> None:
    """The file name is `-`."""
    assert [ADD] == json.loads(infer("-", stdin=GOOD).stdout)


def test_inferred_definitions_can_be_checked() -> None:
    """`sidecheck check` accepts it under the version that admits any root."""
    inferred = infer("good.py").stdout
    words = ["check", "-", "--protocol-version", "2026-07-28"]
    checked = CliRunner().invoke(sidecheck, words, input=inferred)

    assert 0 == checked.exit_code
