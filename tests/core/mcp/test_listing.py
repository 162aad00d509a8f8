"""Extraction of tool definitions from JSON texts, byte for byte."""

import json
from dataclasses import replace

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ToolList
from sidecheck_server.core.mcp.tool_outcomes import ListedTool, read_tools_list
from support.compiling import LIMITS

TOOL_A = b'{ "name":"a",  "inputSchema":{} }'
TOOL_B = b'{"name": "b", "inputSchema": {"const": 1.0}}'


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        pytest.param(b"\n" + TOOL_A + b" ", [("", TOOL_A)], id="one definition"),
        pytest.param(
            b"[" + TOOL_A + b" ,\n" + TOOL_B + b"]",
            [("/0", TOOL_A), ("/1", TOOL_B)],
            id="a list of definitions",
        ),
        pytest.param(b'{"tools": [' + TOOL_B + b"]}", [("/tools/0", TOOL_B)], id="a result"),
        pytest.param(
            b'{"result": {"tools": [' + TOOL_B + b'], "nextCursor": "x"}, "id": 1}',
            [("/result/tools/0", TOOL_B)],
            id="a JSON-RPC response",
        ),
        pytest.param(b"[]", [], id="an empty list"),
        pytest.param(b"3", [("", b"3")], id="not a definition"),
        pytest.param(
            b'[{"a": 1, "a": 2}]', [("/0", b'{"a": 1, "a": 2}')], id="duplicate key in a definition"
        ),
        pytest.param(
            b'{"name": "tools"}', [("", b'{"name": "tools"}')], id="definition without a schema"
        ),
        pytest.param(
            b'{"inputSchema": {}, "tools": 1}',
            [("", b'{"inputSchema": {}, "tools": 1}')],
            id="definition with a tools property",
        ),
        pytest.param(
            b"[" + b"[" * 200 + b"]" * 200 + b"]",
            [("/0", b"[" * 200 + b"]" * 200)],
            id="definition beyond the depth limit",
        ),
    ],
)
def test_tool_texts_are_extracted(text: bytes, tools: list[tuple[str, bytes]]) -> None:
    """MCP, server/tools: Listing Tools."""
    assert (
        tuple(ListedTool(pointer, json) for pointer, json in tools)
        == read_tools_list(text, LIMITS).tools
    )


@pytest.mark.parametrize(
    ("text", "code", "pointer"),
    [
        pytest.param(b"[", "PAYLOAD_NOT_JSON", "", id="not JSON"),
        pytest.param(b'{"tools": {}}', "TOOLS_NOT_A_LIST", "/tools", id="tools is not a list"),
        pytest.param(b'{"result": 3}', "TOOLS_MISSING", "/result", id="result is not an object"),
        pytest.param(b'{"jsonrpc": "2.0"}', "TOOLS_MISSING", "", id="response without a result"),
        pytest.param(
            b'{"id": 1, "id": 1, "tools": []}', "DUPLICATE_KEY", "/id", id="duplicate key"
        ),
    ],
)
def test_text_without_tools_is_an_error(text: bytes, code: str, pointer: str) -> None:
    """The error names the location of the fault."""
    with pytest.raises(RequestError) as excinfo:
        read_tools_list(text, LIMITS)

    assert ErrorReason.INVALID_TOOL is excinfo.value.reason
    assert {"code": code, "pointer": pointer} == excinfo.value.metadata
    assert [(code, pointer)] == [
        (violation.code, violation.instance_location) for violation in excinfo.value.violations
    ]


def test_text_that_nests_too_deeply_is_an_error() -> None:
    """The limit is the one for schemas, as it is for a single tool."""
    with pytest.raises(RequestError) as excinfo:
        read_tools_list(b"[" * 100_000, LIMITS)

    assert ErrorReason.LIMIT_EXCEEDED is excinfo.value.reason
    assert {
        "bound": "schema_depth",
        "limit": "64",
        "found": "100000",
    } == excinfo.value.metadata


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(TOOL_A, None, id="one definition"),
        pytest.param(b"[" + TOOL_A + b"]", None, id="a list of definitions"),
        pytest.param(
            b'{"tools": [' + TOOL_B + b'], "ttlMs": 1.0}',
            ToolList(b'{"tools":[],"ttlMs":1.0}'),
            id="a result",
        ),
        pytest.param(
            b'{"jsonrpc": "2.0", "id": 1, "result": {"x": [1], "tools": [' + TOOL_A + b"]}}",
            ProtocolMessage(
                b'{"jsonrpc":"2.0","id":1,"result":{"x":[1],"tools":[]}}',
                request_method="tools/list",
            ),
            id="a JSON-RPC response",
        ),
    ],
)
def test_container_of_the_tools(text: bytes, expected: ToolList | ProtocolMessage | None) -> None:
    """The container is checked by itself, without the definitions."""
    tools_list = read_tools_list(text, LIMITS)
    container = tools_list.container
    assert type(expected) is type(container)
    if container is not None and expected is not None:
        assert json.loads(expected.json) == json.loads(container.json)
        assert replace(expected, json=b"") == replace(container, json=b"")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        pytest.param(b"1e999", (ListedTool("", b"1e999"),), id="a number"),
        pytest.param(b'"x"', (ListedTool("", b'"x"'),), id="a string"),
        pytest.param(b'{"tools": 1e999}', ("/tools", "TOOLS_NOT_A_LIST"), id="in place of tools"),
        pytest.param(
            b'{"jsonrpc": "2.0", "result": 1e999}', ("/result", "TOOLS_MISSING"), id="of a result"
        ),
        pytest.param(
            b"[1e999, {}]", (ListedTool("/0", b"1e999"), ListedTool("/1", b"{}")), id="of a tool"
        ),
    ],
)
def test_values_that_are_not_lists(text: bytes, outcome: object) -> None:
    """Numbers that no double represents are values like others."""
    tools: object
    try:
        tools = read_tools_list(text, LIMITS).tools
    except RequestError as error:
        tools = (error.metadata["pointer"], error.metadata["code"])

    assert outcome == tools
