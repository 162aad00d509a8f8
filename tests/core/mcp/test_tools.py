"""Tool definitions: what is read of them, and what makes them unusable."""

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


def test_a_definition_is_read_with_its_schemas_apart() -> None:
    """Its own text stays as it is; properties keep their order."""
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


def test_a_definition_need_not_have_an_output_schema() -> None:
    """Then there is nothing to judge structured content under."""
    found = read_tool(text_of(TOOL), (), LIMITS)

    assert (None, None) == (found.output, found.output_digest)


def test_numbers_of_schemas_arrive_as_they_were_written() -> None:
    """Large integers and doubles alike."""
    numbers = "[18446744073709551616,-9223372036854775809,9007199254740993,1e+22,1.0,5e-324,0.1]"
    text = f'{{"name": "t", "inputSchema": {{"enum": {numbers}}}}}'.encode()

    sent = json.loads(read_tool(text, (), LIMITS).input.json)["enum"]

    expected = json.loads(numbers)
    assert expected == sent
    assert [type(one) for one in expected] == [type(one) for one in sent]


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
            id="schemas that are no objects",
        ),
    ],
)
def test_every_fault_of_a_definition_is_told(tool: Any, problems: list[tuple[str, ...]]) -> None:
    """The first one in the message and the metadata too."""
    pointer, code, message = problems[0]
    at = f" (at {pointer})" if pointer else ""
    expected = RequestError(
        ErrorReason.INVALID_TOOL,
        f"invalid tool definition: {message}{at}",
        {"code": code, "pointer": pointer},
        tuple(Violation(at, "", "", named, said, spec_url=CLAUSE) for at, named, said in problems),
    )

    assert expected == error_info_of(text_of(tool))


@pytest.mark.parametrize(
    ("text", "code", "pointer"),
    [
        pytest.param(b'{"name": ', "PAYLOAD_NOT_JSON", "", id="no JSON"),
        pytest.param(
            b'{"name": "t", "inputSchema": {"a": 1, "a": 2}}',
            "DUPLICATE_KEY",
            "/inputSchema/a",
            id="a repeated key",
        ),
        pytest.param(b'{"a": 1e999}', "NUMBER_OUT_OF_RANGE", "", id="a number out of range"),
    ],
)
def test_a_definition_that_is_not_json_is_no_tool(text: bytes, code: str, pointer: str) -> None:
    """Or JSON with more than one meaning."""
    refusal = error_info_of(text)

    assert ErrorReason.INVALID_TOOL == refusal.reason
    assert {"code": code, "pointer": pointer} == refusal.metadata


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
def test_a_definition_beyond_a_bound_is_refused(text: bytes, limits: Limits, bound: str) -> None:
    """Twice as long and a little deeper than a schema may be."""
    refusal = error_info_of(text, limits)

    assert (ErrorReason.LIMIT_EXCEEDED, bound) == (refusal.reason, refusal.metadata["bound"])


@pytest.mark.parametrize(
    "around",
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
def test_a_tool_is_found_among_several(around: Any) -> None:
    """In what a server answers, or a part of it."""
    other = {**TOOL, "name": "other"}
    text = text_of(around([other, TOOL, {**TOOL, "name": "third"}]))

    assert TOOL == json.loads(find_tool(text, "t", LIMITS))


@pytest.mark.parametrize(
    "text",
    [b"[]", b"{}", b"1", b"null", b'{"tools": []}', b'{"result": 1}', b'[1, {"name": 2}, "t"]'],
)
def test_a_tool_that_is_not_there_is_not_found(text: bytes) -> None:
    """Whatever is there."""
    with pytest.raises(RequestError) as excinfo:
        find_tool(text, "t", LIMITS)

    assert (
        RequestError(ErrorReason.UNKNOWN_TOOL, "no tool 't' in the file", {"tool": "t"})
        == excinfo.value
    )


def test_the_nearest_name_is_told() -> None:
    """Where a tool of nearly that name is there."""
    with pytest.raises(RequestError) as excinfo:
        find_tool(text_of([{**TOOL, "name": "get_weather"}]), "get_wether", LIMITS)

    assert "no tool 'get_wether' in the file; did you mean 'get_weather'?" == excinfo.value.message


def test_what_is_no_json_holds_no_tool() -> None:
    """And is not usable."""
    with pytest.raises(RequestError) as excinfo:
        find_tool(b"{", "t", LIMITS)

    assert ErrorReason.INVALID_TOOL == excinfo.value.reason
