"""Headers of HTTP that repeat parts of a message (2026-07-28, streamable-http)."""

from typing import Any

import pytest
from sidecheck_server.core.mcp.http_headers import create_headers, find_header_faults

SCHEMA: Any = {
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "limits": {"properties": {"rows": {"type": "integer", "x-mcp-header": "Rows"}}},
        "fast": {"type": "boolean", "x-mcp-header": "Fast"},
        "query": {"type": "string"},
    }
}
BASE = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "sql"}


def call(**arguments: Any) -> Any:
    """Return a call of a tool."""
    metadata = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    params = {"name": "sql", "arguments": arguments, "_meta": metadata}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


@pytest.mark.parametrize(
    ("arguments", "headers", "expected"),
    [
        ({}, {}, []),
        ({"query": "x"}, {}, []),
        ({"region": "us-west1"}, {"mcp-param-region": "us-west1"}, []),
        ({"region": "us"}, {}, ["the header Mcp-Param-Region is missing"]),
        (
            {"region": "us"},
            {"mcp-param-region": "US"},
            ["the header Mcp-Param-Region differs from the message"],
        ),
        ({"region": None}, {}, []),
        (
            {},
            {"mcp-param-region": "us"},
            ["the header Mcp-Param-Region differs from the message"],
        ),
        ({"region": "Hello, 世界"}, {"mcp-param-region": "=?base64?SGVsbG8sIOS4lueVjA==?="}, []),
        ({"region": " padded "}, {"mcp-param-region": "=?base64?IHBhZGRlZCA=?="}, []),
        (
            {"region": "x"},
            {"mcp-param-region": "=?base64?/w==?="},
            ["the header Mcp-Param-Region is not valid Base64 of UTF-8"],
        ),
        ({"limits": {"rows": 42}}, {"mcp-param-rows": "42"}, []),
        ({"limits": {"rows": 42}}, {"mcp-param-rows": "42.0"}, []),
        (
            {"limits": {"rows": 42}},
            {"mcp-param-rows": "43"},
            ["the header Mcp-Param-Rows differs from the message"],
        ),
        (
            {"limits": {"rows": 42}},
            {"mcp-param-rows": "many"},
            ["the header Mcp-Param-Rows differs from the message"],
        ),
        ({"fast": True}, {"mcp-param-fast": "true"}, []),
        (
            {"fast": True},
            {"mcp-param-fast": "True"},
            ["the header Mcp-Param-Fast differs from the message"],
        ),
        ({}, {"mcp-name": "other"}, ["the header Mcp-Name differs from the message"]),
        ({}, {"mcp-name": "=?base64?c3Fs?="}, []),
        ({}, {"mcp-method": "tools/list"}, ["the header Mcp-Method differs from the message"]),
        (
            {},
            {"mcp-protocol-version": "2026-01-01"},
            ["the header MCP-Protocol-Version differs from the message"],
        ),
    ],
)
def test_a_call(arguments: dict[str, Any], headers: dict[str, str], expected: list[str]) -> None:
    """Arguments are repeated where the schema of the tool says so."""
    faults = find_header_faults({**BASE, **headers}, call(**arguments), SCHEMA)

    assert expected == [fault.message for fault in faults]


@pytest.mark.parametrize("params", [None, {}, {"_meta": {}}])
def test_a_request_without_its_version(params: Any) -> None:
    """It is malformed with any header."""
    message = {"method": "tools/list", "params": params}
    headers = {**BASE, "mcp-method": "tools/list"}

    assert [("MCP-Protocol-Version", True)] == [
        (fault.header, fault.is_malformed) for fault in find_header_faults(headers, message)
    ]


@pytest.mark.parametrize(
    ("method", "params", "name", "expected"),
    [
        ("tools/list", {}, None, []),
        ("prompts/get", {"name": "p"}, "p", []),
        ("prompts/get", {"name": "p"}, None, ["/params/name"]),
        ("resources/read", {"uri": "file:///a"}, "file:///a", []),
        ("resources/read", {"uri": "file:///a"}, "file:///b", ["/params/uri"]),
    ],
)
def test_names_of_other_methods(
    method: str, params: dict[str, Any], name: str | None, expected: list[str]
) -> None:
    """Methods with a name in their params repeat it in the header."""
    metadata = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    message = {"method": method, "params": {**params, "_meta": metadata}}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": method}
    if name is not None:
        headers["mcp-name"] = name

    assert expected == [fault.location for fault in find_header_faults(headers, message)]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, {}),
        ({"region": None, "query": "x"}, {}),
        ({"region": "us"}, {"Mcp-Param-Region": "us"}),
        ({"region": "Île"}, {"Mcp-Param-Region": "=?base64?w45sZQ==?="}),
        ({"region": " padded "}, {"Mcp-Param-Region": "=?base64?IHBhZGRlZCA=?="}),
        ({"region": ""}, {"Mcp-Param-Region": "=?base64??="}),
        ({"region": "=?base64?eA==?="}, {"Mcp-Param-Region": "=?base64?PT9iYXNlNjQ/ZUE9PT89?="}),
        (
            {"limits": {"rows": 42}, "fast": True},
            {"Mcp-Param-Rows": "42", "Mcp-Param-Fast": "true"},
        ),
    ],
)
def test_created_headers_have_no_faults(arguments: Any, expected: dict[str, str]) -> None:
    """They mirror the message, in Base64 where HTTP would change a value."""
    message = call(**arguments)
    headers = create_headers(message, SCHEMA)

    assert {"Mcp-Method": "tools/call", "Mcp-Name": "sql", **expected} == headers
    received = {name.lower(): value for name, value in headers.items()}
    received["mcp-protocol-version"] = "2026-07-28"
    assert [] == [*find_header_faults(received, message, SCHEMA)]
