"""`sidecheck check --format sarif`: SARIF 2.1.0, as scanners read it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sidecheck_server import __version__
from sidecheck_server.cli import sidecheck

TOOLS = """[
  {"name": "t", "inputSchema": {"type": "object", "properties": {"a": {"type": "integr"}}}},
  {"name": "u", "inputSchema": {"type": "object"}},
  {"name": "u", "inputSchema": {"type": "object"}}
]"""
ENUM = (
    't: expected one of "array", "boolean", "integer", "null", "number", "object" or "string", '
    'found "integr"; did you mean "integer"?'
)
SPECIFICATION = "https://modelcontextprotocol.io/specification/2025-11-25"
VALID, UNIQUE = "basic#schema-validation", "server/tools#tool"
TWICE = "u: another tool has this name; if both are registered, the last one counts"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def log(*words: str) -> Any:
    """Return the log of a check."""
    run = CliRunner().invoke(
        sidecheck, ["check", "--format", "sarif", *words], catch_exceptions=False
    )
    return json.loads(run.stdout)


def result(
    code: str,
    index: int,
    level: str,
    output: str,
    pointer: str,
    region: tuple[int, int, int, int],
    clause: str,
) -> Any:
    """Return a result in the file `my tools.json`."""
    names = ("startLine", "startColumn", "endLine", "endColumn")
    return {
        "properties": {"spec_url": f"{SPECIFICATION}/{clause}"},
        "ruleId": code,
        "ruleIndex": index,
        "level": level,
        "message": {"text": output},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "my%20tools.json", "index": 0},
                    "region": dict(zip(names, region, strict=True)),
                },
                "logicalLocations": [{"fullyQualifiedName": pointer, "kind": "value"}],
            }
        ],
    }


def described(code: str, level: str, sentence: str, clause: str) -> Any:
    """Return a rule of the catalogue."""
    return {
        "id": code,
        "shortDescription": {"text": sentence},
        "fullDescription": {"text": sentence},
        "defaultConfiguration": {"level": level},
        "properties": {"spec_url": f"{SPECIFICATION}/{clause}"},
        "help": {"text": f"{sentence} See {SPECIFICATION}/{clause}"},
        "helpUri": f"{SPECIFICATION}/{clause}",
    }


def test_the_log_has_a_rule_for_each_code_and_a_result_for_each_problem(folder: Path) -> None:
    """It has the required members of the published schema, and locations by line and pointer."""
    (folder / "my tools.json").write_text(TOOLS)
    enum = described(
        "ENUM", "error", "A property with a list of allowed values MUST have one of them.", "schema"
    )
    twice = described(
        "TOOL_NAME_DUPLICATE",
        "warning",
        "The names of the tools of a list SHOULD be unique.",
        UNIQUE,
    )
    driver = {"name": "sidecheck", "version": __version__, "rules": [enum, twice]}
    at = "/0/inputSchema/properties/a/type"

    assert {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
        "sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "invocations": [{"executionSuccessful": True}],
                "artifacts": [{"location": {"uri": "my%20tools.json"}}],
                "columnKind": "unicodeCodePoints",
                "results": [
                    result("ENUM", 0, "error", ENUM, at, (2, 80, 2, 88), VALID),
                    result(
                        "TOOL_NAME_DUPLICATE",
                        1,
                        "warning",
                        TWICE,
                        "/1/name",
                        (3, 12, 3, 15),
                        UNIQUE,
                    ),
                    result(
                        "TOOL_NAME_DUPLICATE",
                        1,
                        "warning",
                        TWICE,
                        "/2/name",
                        (4, 12, 4, 15),
                        UNIQUE,
                    ),
                ],
            }
        ],
    } == log("my tools.json")


def test_a_file_that_cannot_be_read_is_a_notification(folder: Path) -> None:
    """The run is not successful (SARIF, section 3.20.14)."""
    (folder / "none.json").write_text("[]")
    run = log("none.json", "gone.json")["runs"][0]
    message = "cannot read gone.json: No such file or directory"

    assert [
        {
            "executionSuccessful": False,
            "toolExecutionNotifications": [{"level": "error", "message": {"text": message}}],
        }
    ] == run["invocations"]
    assert ([], []) == (run["results"], run["tool"]["driver"]["rules"])


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        pytest.param("a/b.json", "a/b.json", id="in a folder"),
        pytest.param("a:b%.json", "a%3Ab%25.json", id="with characters that URIs reserve"),
        pytest.param("é\n.json", "%C3%A9%0A.json", id="beyond ASCII"),
        pytest.param("\udcff.json", "%FF.json", id="not in UTF-8"),
    ],
)
def test_artifacts_have_a_uri(folder: Path, name: str, uri: str) -> None:
    """An absolute path has a file URI (RFC 8089)."""
    (folder / "a").mkdir()
    (folder / name).write_text("[]")
    (artifact,) = log(name)["runs"][0]["artifacts"]
    (absolute,) = log(f"{folder}/{name}")["runs"][0]["artifacts"]

    assert {"location": {"uri": uri}} == artifact
    assert {"location": {"uri": f"file://{folder}/{uri}"}} == absolute
