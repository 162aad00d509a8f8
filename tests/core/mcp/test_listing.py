"""Texts with several tool definitions, taken apart byte for byte."""

import json
from dataclasses import replace

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ToolList
from sidecheck_server.core.mcp.tool_lists import ListedTool, read_tool_texts, read_tools_list
from support.compiling import LIMITS

ONE = b'{ "name":"a",  "inputSchema":{} }'
TWO = b'{"name": "b", "inputSchema": {"const": 1.0}}'


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        pytest.param(b"\n" + ONE + b" ", [("", ONE)], id="one definition"),
        pytest.param(
            b"[" + ONE + b" ,\n" + TWO + b"]", [("/0", ONE), ("/1", TWO)], id="a list of them"
        ),
        pytest.param(b'{"tools": [' + TWO + b"]}", [("/tools/0", TWO)], id="a result"),
        pytest.param(
            b'{"result": {"tools": [' + TWO + b'], "nextCursor": "x"}, "id": 1}',
            [("/result/tools/0", TWO)],
            id="a JSON-RPC answer",
        ),
        pytest.param(b"[]", [], id="none"),
        pytest.param(b"3", [("", b"3")], id="what is no definition"),
        pytest.param(b'[{"a": 1, "a": 2}]', [("/0", b'{"a": 1, "a": 2}')], id="a key twice in one"),
        pytest.param(b'{"name": "tools"}', [("", b'{"name": "tools"}')], id="one without a schema"),
        pytest.param(
            b'{"inputSchema": {}, "tools": 1}',
            [("", b'{"inputSchema": {}, "tools": 1}')],
            id="one that has tools",
        ),
        pytest.param(
            b"[" + b"[" * 200 + b"]" * 200 + b"]",
            [("/0", b"[" * 200 + b"]" * 200)],
            id="one that is beyond a limit",
        ),
    ],
)
def test_a_text_is_taken_apart(text: bytes, tools: list[tuple[str, bytes]]) -> None:
    """MCP, server/tools: Listing Tools."""
    assert tuple(ListedTool(pointer, json) for pointer, json in tools) == read_tool_texts(
        text, LIMITS
    )


@pytest.mark.parametrize(
    ("text", "code", "pointer"),
    [
        pytest.param(b"[", "PAYLOAD_NOT_JSON", "", id="not JSON"),
        pytest.param(b"[1e999]", "NUMBER_OUT_OF_RANGE", "", id="a number too large"),
        pytest.param(b'{"tools": {}}', "TOOLS_NOT_A_LIST", "/tools", id="no list"),
        pytest.param(b'{"result": 3}', "TOOLS_MISSING", "/result", id="a result that is none"),
        pytest.param(b'{"jsonrpc": "2.0"}', "TOOLS_MISSING", "", id="an answer without a result"),
        pytest.param(b'{"id": 1, "id": 1, "tools": []}', "DUPLICATE_KEY", "/id", id="a key twice"),
    ],
)
def test_a_text_without_tools_is_refused(text: bytes, code: str, pointer: str) -> None:
    """With the place of the fault."""
    with pytest.raises(RequestError) as excinfo:
        read_tool_texts(text, LIMITS)

    assert ErrorReason.INVALID_TOOL is excinfo.value.reason
    assert {"code": code, "pointer": pointer} == excinfo.value.metadata
    assert [(code, pointer)] == [
        (violation.code, violation.instance_location) for violation in excinfo.value.violations
    ]


def test_a_text_that_is_too_deep_to_be_read_is_refused() -> None:
    """By the bound that any tool in it would be refused by."""
    with pytest.raises(RequestError) as excinfo:
        read_tool_texts(b"[" * 100_000, LIMITS)

    assert ErrorReason.LIMIT_EXCEEDED is excinfo.value.reason
    assert {"bound": "schema_depth", "limit": "64", "found": "100000"} == excinfo.value.metadata


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param(ONE, None, id="one definition"),
        pytest.param(b"[" + ONE + b"]", None, id="a list of them"),
        pytest.param(
            b'{"tools": [' + TWO + b'], "ttlMs": 1.0}',
            ToolList(b'{"tools":[],"ttlMs":1.0}'),
            id="a result",
        ),
        pytest.param(
            b'{"jsonrpc": "2.0", "id": 1, "result": {"x": [1], "tools": [' + ONE + b"]}}",
            ProtocolMessage(
                b'{"jsonrpc":"2.0","id":1,"result":{"x":[1],"tools":[]}}',
                request_method="tools/list",
            ),
            id="a JSON-RPC answer",
        ),
    ],
)
def test_what_stands_around_the_tools_is_apart(
    text: bytes, answer: ToolList | ProtocolMessage | None
) -> None:
    """To be checked by itself, without the definitions."""
    found = read_tools_list(text, LIMITS)
    around = found.container
    assert type(answer) is type(around)
    if around is not None and answer is not None:
        assert json.loads(answer.json) == json.loads(around.json)
        assert replace(answer, json=b"") == replace(around, json=b"")
