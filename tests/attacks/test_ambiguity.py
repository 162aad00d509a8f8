"""Messages that readers may take for different ones: enforced policies let none of them pass."""

import json
from typing import Any

import pytest
from sidecheck_server.proxy.messages import Direction
from support.running_proxy import Proxied, policies_of, proxied

_HANDSHAKE: list[tuple[Direction, Any]] = [
    (
        "client",
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "client", "version": "1"},
            },
        },
    ),
    (
        "server",
        {
            "id": 1,
            "result": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "server", "version": "1"},
            },
        },
    ),
    ("client", {"method": "notifications/initialized"}),
]
_TOOL = {
    "name": "add",
    "description": "Adds one",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "outputSchema": {
        "type": "object",
        "properties": {"sum": {"type": "integer"}},
        "required": ["sum"],
    },
}
_GOOD = '{"name":"good","description":"Does good","inputSchema":{"type":"object"}}'
_BAD = '{"name":"bad","description":"Does bad","inputSchema":{"type":"int"}}'
_WRONG = '{"content":[],"structuredContent":{"sum":"x"}}'

_ALONE = {
    kind: {**dict.fromkeys(("arguments", "results", "messages", "tools"), "off"), kind: "enforce"}
    for kind in ("arguments", "results", "tools")
}


def call(params: str, rest: str = "") -> str:
    """Return a call with the text of its *params*."""
    return f'{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{params}{rest}}}'


async def passed(proxy: Proxied, sender: Direction, text: str) -> bytes | None:
    """Return what passes of *text*."""
    return (await proxy.session.handle(text.encode(), sender)).forward


async def shake_hands(proxy: Proxied) -> None:
    """Begin the session."""
    for sender, message in _HANDSHAKE:
        await passed(proxy, sender, json.dumps({"jsonrpc": "2.0", **message}))


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        pytest.param(
            call('{"name":"add","name":"none","arguments":{"a":"x"}}'),
            "tools/call  DUPLICATE_KEY /params/name",
            id="two names, of which the last is not listed",
        ),
        pytest.param(
            call('{"name":"add","arguments":{"a":"x"},"\\ud800":1}'),
            "tools/call  PAYLOAD_NOT_JSON /params",
            id="a key that some readers cannot read",
        ),
        pytest.param(
            call('{"name":"add","arguments":{"a":"x"},}'),
            "tools/call  PAYLOAD_NOT_JSON ",
            id="a trailing comma",
        ),
        pytest.param(
            call('["add",{"a":"x"}]'), "tools/call  PARAMS_TYPE /params", id="params in a list"
        ),
        pytest.param(
            call('{"name":"add","Arguments":{"a":"x"}}'),
            "tools/call  AMBIGUOUS_NAME /params/Arguments",
            id="arguments in another case",
        ),
        pytest.param(
            call('{"name":"add"}', ',"param\u017f":{"name":"add","arguments":{"a":"x"}}'),
            "tools/call  AMBIGUOUS_NAME /param\u017f",
            id="params with a letter that folds to another",
        ),
        pytest.param(
            '{"jsonrpc":"2.0","id":2,"method":"ping","METHOD":"tools/call","params":{}}',
            "ping  AMBIGUOUS_NAME /METHOD",
            id="another method in another case",
        ),
        pytest.param("[1]", "  MESSAGE_NOT_OBJECT ", id="a number in a batch"),
        pytest.param("[null]", "  MESSAGE_NOT_OBJECT ", id="null in a batch"),
        pytest.param("[[]]", "  MESSAGE_NOT_OBJECT ", id="a batch in a batch"),
        pytest.param(
            f"[[{call('{}')}]]", "  MESSAGE_NOT_OBJECT ", id="a call in a batch in a batch"
        ),
    ],
)
@pytest.mark.parametrize("kind", ["arguments", "tools"])
async def test_an_ambiguous_call_does_not_pass(kind: str, text: str, finding: str) -> None:
    """This holds if arguments are validated, and if tools are dropped."""
    async with proxied([_TOOL], policies_of(_ALONE[kind])) as proxy:
        await shake_hands(proxy)

        assert await passed(proxy, "client", text) is None
        assert [f"client {finding} error rejected"] == proxy.findings


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(
            f'{{"jsonrpc":"2.0","id":2,"method":"ping","result":{_WRONG}}}', id="a method"
        ),
        pytest.param(f'{{"jsonrpc":"2.0","id":2,"method":null,"result":{_WRONG}}}', id="no method"),
        pytest.param(f'{{"jsonrpc":"2.0","id":2,"Result":{_WRONG}}}', id="another case"),
        pytest.param(
            '{"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":{"sum":1},'
            '"StructuredContent":{"sum":"x"}}}',
            id="structured content in another case",
        ),
        pytest.param(
            f'{{"jsonrpc":"2.0","id":2,"result":{_WRONG},"result":{{"content":[]}}}}',
            id="two results",
        ),
    ],
)
async def test_an_ambiguous_result_becomes_an_error(response: str) -> None:
    """The error is one of the tool or of JSON-RPC, so the request has a response."""
    async with proxied([_TOOL], policies_of(_ALONE["results"])) as proxy:
        await shake_hands(proxy)
        await passed(proxy, "client", call('{"name":"add","arguments":{"a":1}}'))
        text = await passed(proxy, "server", response)

    assert text is not None
    answer = json.loads(text)
    assert 2 == answer["id"]
    assert "error" in answer or answer["result"]["isError"]
    assert b'"x"' not in text.replace(b'\\"x\\"', b"")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        pytest.param(f'{{"tools":[{_BAD},{_GOOD}]}}', ["good"], id="a broken definition"),
        pytest.param(f'{{"tools":[{_BAD},{_GOOD}],"\\ud800":1}}', None, id="an unreadable key"),
        pytest.param(f'{{"tools":[{_BAD},{_GOOD}],}}', None, id="a trailing comma"),
        pytest.param(f'{{"tools":[{_BAD}],"tools":[{_GOOD}]}}', None, id="two lists"),
        pytest.param(f'{{"Tools":[{_BAD}]}}', None, id="a list in another case"),
        pytest.param(f"[{_BAD}]", None, id="no object"),
        pytest.param(
            f'{{"tools":[{_GOOD},{_BAD},{_GOOD[:-1]},"\\ud800":1}}]}}', ["good"], id="unreadable"
        ),
        pytest.param(
            f'{{"tools":[{_BAD},{_GOOD}],"_meta":{{"a":"\\ud800"}}}}',
            ["good"],
            id="unreadable meta",
        ),
        pytest.param(
            f'{{"tools":[{_GOOD},{_GOOD[:-1]},"a":{"[" * 9_000}{"]" * 9_000}}}]}}',
            ["good"],
            id="nested too deep",
        ),
    ],
)
async def test_a_list_that_cannot_be_checked_as_a_whole(
    result: str, expected: list[str] | None
) -> None:
    """Its broken definitions are dropped, or all of it where readers may take another list."""
    async with proxied([], policies_of(_ALONE["tools"])) as proxy:
        await shake_hands(proxy)
        await passed(proxy, "client", '{"jsonrpc":"2.0","id":2,"method":"tools/list"}')
        text = await passed(proxy, "server", f'{{"jsonrpc":"2.0","id":2,"result":{result}}}')

    assert text is not None
    answer = json.loads(text)
    listed = answer.get("result", {}).get("tools")
    assert expected == (None if listed is None else [tool["name"] for tool in listed])


@pytest.mark.parametrize(
    ("sender", "text", "findings"),
    [
        (
            "client",
            call('{"name":"add","name":"add"}'),
            ["client tools/call add DUPLICATE_KEY /params/name error passed"] * 2,
        ),
        ("client", "[1]", ["client   BATCH_UNSUPPORTED  error passed"]),
        (
            "server",
            '{"jsonrpc":"2.0","id":3,"result":{},"result":{}}',
            ["server   DUPLICATE_KEY /result error passed"],
        ),
        (
            "server",
            '{"jsonrpc":"2.0","method":"notifications/a","method":"notifications/a"}',
            ["server notifications/a  DUPLICATE_KEY /method error passed"],
        ),
    ],
)
async def test_in_audit_ambiguous_messages_pass(
    sender: Direction, text: str, findings: list[str]
) -> None:
    """Ambiguous messages are reported."""
    async with proxied([_TOOL], policies_of({})) as proxy:
        await shake_hands(proxy)

        assert text.encode() == await passed(proxy, sender, text)
        assert findings[0] in proxy.findings
        assert not [finding for finding in proxy.findings if "passed" not in finding]
