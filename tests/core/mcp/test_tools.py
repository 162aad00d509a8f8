"""Parsing of tool definitions, and the errors of invalid ones."""

import json
from typing import Any

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition, find_tool, read_tool
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Violation
from support.compiling import LIMITS

CLAUSE = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"b": {}, "a": {}}}
TOOL: dict[str, Any] = {"name": "t", "inputSchema": SCHEMA}


def text_of(value: Any) -> bytes:
    return json.dumps(value).encode()


def error_info_of(text: bytes, limits: Limits = LIMITS) -> RequestError:
    with pytest.raises(RequestError) as excinfo:
        read_tool(text, (), limits)
    return excinfo.value


def test_schemas_of_a_definition_are_extracted() -> None:
    """The text of the definition is unchanged; properties keep their order."""
    tool = {**TOOL, "outputSchema": {"type": "string"}, "_meta": {"x": 1}}
    documents = (Document("urn:d", b"{}"),)
    text = json.dumps(tool, indent=2).encode()

    expected = ToolDefinition(
        name="t",
        json=text,
        digest=digest_of(tool, documents),
        input=SchemaSource(b'{"type":"object","properties":{"b":{},"a":{}}}', documents),
        input_digest=digest_of(SCHEMA, documents),
        output=SchemaSource(b'{"type":"string"}', documents),
        output_digest=digest_of({"type": "string"}, documents),
    )
    assert expected == read_tool(text, documents, LIMITS)


def test_output_schema_is_optional() -> None:
    """Without one, structured content is not validated."""
    tool = read_tool(text_of(TOOL), (), LIMITS)

    assert (None, None) == (tool.output, tool.output_digest)


def test_numbers_in_schemas_are_exact() -> None:
    """Holds for large integers and for doubles."""
    numbers = "[18446744073709551616,-9223372036854775809,9007199254740993,1e+22,1.0,5e-324,0.1]"
    text = f'{{"name": "t", "inputSchema": {{"enum": {numbers}}}}}'.encode()

    enum = json.loads(read_tool(text, (), LIMITS).input.json)["enum"]

    expected = json.loads(numbers)
    assert expected == enum
    assert [type(value) for value in expected] == [type(value) for value in enum]


@pytest.mark.parametrize(
    ("tool", "problems"),
    [
        pytest.param(
            [TOOL],
            [("", "TOOL_NOT_AN_OBJECT", "a tool definition must be a JSON object")],
            id="a list",
        ),
        pytest.param(
            {},
            [
                (
                    "/name",
                    "TOOL_NAME_MISSING",
                    "a tool must have a name: a string that is not empty",
                ),
                ("", "INPUT_SCHEMA_MISSING", "a tool must have an inputSchema"),
            ],
            id="nothing",
        ),
        pytest.param(
            {**TOOL, "name": ""},
            [("/name", "TOOL_NAME_MISSING", "a tool must have a name: a string that is not empty")],
            id="an empty name",
        ),
        pytest.param(
            {**TOOL, "name": 7},
            [("/name", "TOOL_NAME_MISSING", "a tool must have a name: a string that is not empty")],
            id="a number for a name",
        ),
        pytest.param(
            {"name": "t", "inputSchema": True, "outputSchema": None},
            [
                ("/inputSchema", "INPUT_SCHEMA_NOT_AN_OBJECT", "inputSchema must be a JSON object"),
                (
                    "/outputSchema",
                    "OUTPUT_SCHEMA_NOT_AN_OBJECT",
                    "outputSchema must be a JSON object",
                ),
            ],
            id="schemas that are not objects",
        ),
    ],
)
def test_violations_of_an_invalid_definition(tool: Any, problems: list[tuple[str, ...]]) -> None:
    """Message and metadata of the error name the first violation."""
    pointer, code, message = problems[0]
    location = f" (at {pointer})" if pointer else ""
    expected = RequestError(
        ErrorReason.INVALID_TOOL,
        f"invalid tool definition: {message}{location}",
        {"code": code, "pointer": pointer},
        tuple(Violation(at, "", "", code, text, spec_url=CLAUSE) for at, code, text in problems),
    )

    assert expected == error_info_of(text_of(tool))


@pytest.mark.parametrize(
    ("text", "code", "pointer"),
    [
        pytest.param(b'{"name": ', "PAYLOAD_NOT_JSON", "", id="not JSON"),
        pytest.param(
            b'{"name": "t", "inputSchema": {"a": 1, "a": 2}}',
            "DUPLICATE_KEY",
            "/inputSchema/a",
            id="duplicate key",
        ),
        pytest.param(b'{"a": 1e999}', "NUMBER_OUT_OF_RANGE", "", id="a number out of range"),
    ],
)
def test_definition_that_is_not_json_is_an_error(text: bytes, code: str, pointer: str) -> None:
    """So is JSON with duplicate keys."""
    error = error_info_of(text)

    assert ErrorReason.INVALID_TOOL == error.reason
    assert {"code": code, "pointer": pointer} == error.metadata


@pytest.mark.parametrize(
    ("text", "limits", "bound"),
    [
        pytest.param(
            text_of({**TOOL, "x": "y" * 200}), Limits(schema_bytes=100), "schema_bytes", id="bytes"
        ),
        pytest.param(
            b'{"a":' * 11 + b"1" + b"}" * 11, Limits(schema_depth=2), "schema_depth", id="nesting"
        ),
    ],
)
def test_definition_beyond_a_limit_is_an_error(text: bytes, limits: Limits, bound: str) -> None:
    """The limits are twice the length of a schema and slightly more than its depth."""
    error = error_info_of(text, limits)

    assert (ErrorReason.LIMIT_EXCEEDED, bound) == (error.reason, error.metadata["bound"])


@pytest.mark.parametrize(
    "container",
    [
        pytest.param(lambda tools: tools[1], id="the tool alone"),
        pytest.param(lambda tools: tools, id="a list"),
        pytest.param(lambda tools: {"tools": tools}, id="a result"),
        pytest.param(lambda tools: {"tools": tools, "nextCursor": "x"}, id="a page"),
        pytest.param(
            lambda tools: {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}, id="a response"
        ),
    ],
)
def test_select_a_tool_by_name(container: Any) -> None:
    """Accepts a server's response or any part of it that holds the tools."""
    other = {**TOOL, "name": "other"}
    text = text_of(container([other, TOOL, {**TOOL, "name": "third"}]))

    assert TOOL == json.loads(find_tool(text, "t", LIMITS))


@pytest.mark.parametrize(
    "text",
    [b"[]", b"{}", b"1", b"null", b'{"tools": []}', b'{"result": 1}', b'[1, {"name": 2}, "t"]'],
)
def test_unknown_tool_is_an_error(text: bytes) -> None:
    """Holds for every container."""
    with pytest.raises(RequestError) as excinfo:
        find_tool(text, "t", LIMITS)

    assert (
        RequestError(ErrorReason.UNKNOWN_TOOL, "no tool 't' in the file", {"tool": "t"})
        == excinfo.value
    )


def test_similar_tool_name_is_suggested() -> None:
    """A suggestion needs a tool with a similar name."""
    with pytest.raises(RequestError) as excinfo:
        find_tool(text_of([{**TOOL, "name": "get_weather"}]), "get_wether", LIMITS)

    assert "no tool 'get_wether' in the file; did you mean 'get_weather'?" == excinfo.value.message


def test_text_that_is_not_json_is_an_error() -> None:
    """The reason is INVALID_TOOL."""
    with pytest.raises(RequestError) as excinfo:
        find_tool(b"{", "t", LIMITS)

    assert ErrorReason.INVALID_TOOL == excinfo.value.reason
