"""`sidecheck adapt`, and the commands that read a protocol version."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck

OLD, NEW = "2025-06-18", "2026-07-28"
LIST: Any = {
    "name": "primes",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "array", "items": {"type": "integer"}},
}
WRAPPED: Any = {
    "type": "object",
    "properties": {"result": LIST["outputSchema"]},
    "required": ["result"],
    "x-dedalus-box": {"field": "result"},
}
SOURCE = "@tool\ndef primes() -> list[int]: ...\n"


@pytest.fixture(autouse=True)
def _in_a_folder_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tools.json").write_text(json.dumps([LIST]))
    Path("icons.json").write_text(json.dumps({"tools": [{**LIST, "icons": []}]}))
    Path("broken.json").write_text(json.dumps([{"name": "broken"}, LIST]))
    Path("server.py").write_text(SOURCE)


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(sidecheck, words, input=stdin, catch_exceptions=False)


def test_definitions_go_to_standard_output_and_changes_to_standard_error() -> None:
    result = run("adapt", "--protocol-version", OLD, "icons.json")

    assert 0 == result.exit_code
    assert [{**LIST, "outputSchema": WRAPPED}] == json.loads(result.stdout)
    assert (
        "primes: dropped icons\n"
        'primes: wrapped the output schema as "result"\n'
        f"1 tool in the form for {OLD}\n"
    ) == result.stderr


def test_an_adapted_definition_is_adapted_back() -> None:
    wrapped = run("adapt", "--protocol-version", OLD, "tools.json").stdout
    result = run("adapt", "--protocol-version", NEW, "-", stdin=wrapped)

    assert [LIST] == json.loads(result.stdout)
    assert "primes: unwrapped the output schema\n" in result.stderr


def test_an_unreadable_definition_does_not_affect_others() -> None:
    result = run("adapt", "--protocol-version", NEW, "--format", "json", "broken.json")
    output = json.loads(result.stdout)

    assert 1 == result.exit_code
    assert ["INVALID_TOOL", None] == [
        tool.get("error", {}).get("reason") for tool in output["tools"]
    ]
    assert {
        "name": "primes",
        "definition": LIST,
        "wrapped_property": "",
        "dropped_properties": [],
    } == output["tools"][1]


@pytest.mark.parametrize(("version", "expected"), [(OLD, WRAPPED), (NEW, LIST["outputSchema"])])
def test_inferred_definitions_have_the_form_for_a_version(version: str, expected: Any) -> None:
    """It is the form that adapting them gives."""
    inferred = run("infer", "--protocol-version", version, "server.py")
    adapted = run(
        "adapt", "--protocol-version", version, "-", stdin=run("infer", "server.py").stdout
    )

    assert expected == json.loads(inferred.stdout)[0]["outputSchema"]
    assert json.loads(adapted.stdout) == json.loads(inferred.stdout)


@pytest.mark.parametrize(("version", "expected"), [(OLD, WRAPPED), (NEW, LIST["outputSchema"])])
def test_included_output_schemas_have_the_form_for_a_version(version: str, expected: Any) -> None:
    result = run(
        *("convert", "--to", "openai-responses", "--include-output-schema"),
        *("--protocol-version", version, "tools.json"),
    )

    assert expected == json.loads(result.stdout)[0]["output_schema"]


@pytest.mark.parametrize(
    ("subject", "version", "payload", "exit_code"),
    [
        ("arguments", NEW, {}, 0),
        ("arguments", NEW, [], 1),
        ("structured-content", OLD, {"result": [2]}, 0),
        ("structured-content", OLD, [2], 1),
        ("structured-content", NEW, [2], 0),
        ("structured-content", NEW, {"result": [2]}, 1),
        ("call-params", OLD, {"name": "primes"}, 0),
        ("call-params", OLD, {"name": "other"}, 1),
        ("call-result", OLD, {"content": [], "structuredContent": {"result": [2]}}, 0),
        ("call-result", OLD, {"content": []}, 1),
    ],
)
def test_subjects_are_validated_in_the_form_for_a_version(
    subject: str, version: str, payload: Any, exit_code: int
) -> None:
    result = run(
        *("validate", "--tools", "tools.json", "--tool", "primes", "--subject", subject),
        *("--protocol-version", version, "-"),
        stdin=json.dumps(payload),
    )

    assert exit_code == result.exit_code, result.stdout


def test_whole_calls_and_results_need_a_tool() -> None:
    result = run("validate", "--schema", "tools.json", "--subject", "call-result", "-", stdin="{}")

    assert 2 == result.exit_code
    assert "--subject call-result needs --tools and --tool" in result.stderr
