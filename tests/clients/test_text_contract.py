"""Text contract: the schema of the client, its predicate and the server agree."""

import json
from typing import Any

import jsonschema
import pytest
from sidecheck import MCP_TOOL_RESULT_SCHEMA_V1, BlockingClient, Severity, ToolResult
from sidecheck.text_contract import (
    build_result,
    get_schema_path,
    get_validator,
    is_canonical,
    validate,
)
from support.running import RunningServer

TEXT = {"type": "text", "text": "12 °C"}

PAYLOADS: list[Any] = [
    pytest.param(True, {"content": [TEXT], "isError": False}, id="one text"),
    pytest.param(True, {"content": [TEXT, TEXT], "isError": True}, id="two texts, failed"),
    pytest.param(True, {"content": [{**TEXT, "text": ""}], "isError": False}, id="empty text"),
    pytest.param(True, {"content": [], "isError": False}, id="no items"),
    pytest.param(False, {"content": [TEXT]}, id="isError missing"),
    pytest.param(False, {"isError": False}, id="content missing"),
    pytest.param(False, {"content": None, "isError": False}, id="content null"),
    pytest.param(False, {"content": TEXT, "isError": False}, id="content not a list"),
    pytest.param(False, {"content": [TEXT], "isError": None}, id="isError null"),
    pytest.param(False, {"content": [TEXT], "isError": 0}, id="isError a number"),
    pytest.param(
        False, {"content": [TEXT], "isError": False, "_meta": {}}, id="additional property"
    ),
    pytest.param(
        False,
        {"content": [TEXT], "isError": False, "structuredContent": {}},
        id="structured content",
    ),
    pytest.param(
        False,
        {
            "content": [TEXT, {"type": "image", "data": "", "mimeType": "image/png"}],
            "isError": False,
        },
        id="second item an image",
    ),
    pytest.param(
        False,
        {"content": [TEXT, {**TEXT, "annotations": {}}], "isError": False},
        id="second item with an additional property",
    ),
    pytest.param(
        False,
        {"content": [TEXT, {"type": "text"}], "isError": False},
        id="second item without text",
    ),
    pytest.param(False, {"content": [{**TEXT, "text": None}], "isError": False}, id="text null"),
    pytest.param(False, {"content": ["12 °C"], "isError": False}, id="bare text"),
    pytest.param(False, "12 °C", id="a text"),
    pytest.param(False, None, id="null"),
    pytest.param(False, [TEXT], id="a list"),
]


@pytest.mark.parametrize(("expected", "payload"), PAYLOADS)
def test_schema_and_predicate_agree(expected: bool, payload: Any) -> None:
    """`get_validator` and `is_canonical` give the same results."""
    assert (expected, expected) == (get_validator().is_valid(payload), is_canonical(payload))


def test_the_server_agrees(shared_server: RunningServer) -> None:
    """The profile ``text`` of the server gives the same results as the schema."""
    expected = [case.values[0] for case in PAYLOADS]
    # Encoded here, since the client accepts no string as a result.
    items = [ToolResult(json.dumps(case.values[1]).encode(), "text") for case in PAYLOADS]
    with BlockingClient(shared_server.address, timeout=120) as client:
        results: list[Any] = client.protocol.check_batch(items)
    assert expected == [result.verdict.valid for result in results]
    assert {Severity.ERROR} == {
        violation.severity for result in results for violation in result.verdict.violations
    }


def test_validate_raises_for_violations() -> None:
    """A valid result raises nothing."""
    validate({"content": [TEXT], "isError": False})
    with pytest.raises(jsonschema.ValidationError, match="'isError' is a required property"):
        validate({"content": [TEXT]})


def test_the_schema_is_a_file_of_the_package() -> None:
    """The schema is valid against its meta-schema."""
    assert get_schema_path() == MCP_TOOL_RESULT_SCHEMA_V1
    schema = json.loads(MCP_TOOL_RESULT_SCHEMA_V1.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "https://json-schema.org/draft/2020-12/schema" == schema["$schema"]


def test_results_are_built() -> None:
    """The default is a successful result; the text must be a str."""
    assert {"content": [TEXT], "isError": False} == build_result("12 °C")
    assert {"content": [{"type": "text", "text": ""}], "isError": True} == build_result("", True)
    broken: Any = None
    with pytest.raises(TypeError, match="must be a str"):
        build_result(broken)
