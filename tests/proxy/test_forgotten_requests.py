"""Results whose requests the session of messages does not know: nothing is taken for checked."""

import json
from typing import Any

import pytest
from support.running_proxy import policies_of, proxied

TOOL = {
    "name": "t",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
}
VERSION = "2025-11-25"


def text_of(**properties: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, **properties}).encode()


@pytest.mark.parametrize("forgets", [False, True])
async def test_a_result_that_is_not_a_call_result(*, forgets: bool) -> None:
    """It is rejected, although its structured content is valid."""
    policies = policies_of({"results": "enforce", "messages": "audit"})
    async with proxied([TOOL], policies) as proxy:
        hello = {
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        }
        await proxy.session.handle(text_of(method="initialize", params=hello), "client")
        welcome = {
            "protocolVersion": VERSION,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"},
        }
        await proxy.session.handle(text_of(result=welcome), "server")
        await proxy.session.handle(text_of(method="tools/call", params={"name": "t"}), "client")
        if forgets:
            await proxy.session.reset()
        result = {"content": "no list", "structuredContent": {"n": 1}}
        ruling = await proxy.session.handle(text_of(result=result), "server")

    assert ruling.forward is not None
    assert json.loads(ruling.forward)["result"]["isError"]
