"""`sidecheck proxy --portable`: rewritten lists, and calls that come back."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sidecheck_server.cli import sidecheck
from support.stdio_proxy import Proxy, codes

#: Lists one tool with a free-form object, and returns the params of each call as text.
SERVER = """
import json, sys
TOOL = {
    "name": "search.index",
    "description": "Searches.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "filter": {
                "type": "object",
                "properties": {"a": {"type": "integer"}},
                "minProperties": 1,
            },
            "anything": {},
        },
        "required": ["filter"],
    },
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"},
        }
    elif method == "tools/list":
        result = {"tools": [TOOL]}
    else:
        text = json.dumps(message.get("params"), sort_keys=True)
        result = {"content": [{"type": "text", "text": text}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    """Return the command of the server."""
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return [sys.executable, str(path)]


def list_tools(proxy: Proxy) -> Any:
    """Return the tools that the client gets."""
    proxy.send({"id": 2, "method": "tools/list"})
    return proxy.receive()["result"]["tools"]


def call(proxy: Proxy, arguments: Any) -> Any:
    """Return the response to a call with metadata."""
    params = {"name": "search.index", "arguments": arguments, "_meta": {"progressToken": 1}}
    proxy.send({"id": 3, "method": "tools/call", "params": params})
    return proxy.receive()


@pytest.mark.parametrize("policy", [[], ["--enforce"]], ids=["audit", "enforced"])
def test_a_call_of_a_rewritten_tool_comes_back(server: list[str], policy: list[str]) -> None:
    """The server gets what its own definition describes, and the session has no findings."""
    proxy = Proxy("--portable", *policy, server=server)
    proxy.shake_hands()
    tools = list_tools(proxy)
    response = call(proxy, {"filter": {"a": 1}, "anything": "[1]"})
    code, _, err = proxy.end()

    assert {
        "name": "search.index",
        "description": "Searches.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "filter": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "minProperties": 1,
                },
                "anything": {"type": "string", "description": "(any JSON value, as JSON text)"},
            },
            "required": ["filter"],
        },
    } == tools[0]
    assert {
        "name": "search.index",
        "arguments": {"filter": {"a": 1}, "anything": [1]},
        "_meta": {"progressToken": 1},
    } == json.loads(response["result"]["content"][0]["text"])
    assert (0, []) == (code, codes(err))


def test_arguments_are_validated_by_the_original_definition(server: list[str]) -> None:
    """Under enforcement the server never sees them."""
    proxy = Proxy("--portable", "--enforce", server=server)
    proxy.shake_hands()
    list_tools(proxy)
    response = call(proxy, {"filter": {"a": "x"}})
    _, _, err = proxy.end()

    assert response["result"]["isError"]
    assert [
        "client->server tools/call search.index TYPE /params/arguments/filter/a error, rejected"
    ] == codes(err)


def test_named_targets_keep_what_they_take(server: list[str]) -> None:
    """Anthropic takes the definition as it is."""
    proxy = Proxy("--portable", "--for", "anthropic", server=server)
    proxy.shake_hands()
    (tool,) = list_tools(proxy)
    proxy.end()

    assert {} == tool["inputSchema"]["properties"]["anything"]


@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        ("--for has no effect without --portable", ["--for", "openai", "--", "x"]),
        (
            "--portable works over stdio only, not with --listen",
            ["--portable", "--upstream", "http://x/mcp", "--listen", "127.0.0.1:0"],
        ),
    ],
)
def test_wrong_combinations(expected: str, arguments: list[str]) -> None:
    """Each is one sentence."""
    result = CliRunner().invoke(sidecheck, ["proxy", *arguments], catch_exceptions=False)

    assert 2 == result.exit_code
    assert expected in result.stderr
