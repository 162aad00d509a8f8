"""Answers of a server that a client cannot match with its request: audited and enforced."""

import json
from typing import Any

import pytest
from sidecheck_server.config.policies import Policies
from sidecheck_server.proxy.messages import Direction
from support.running_proxy import policies_of, proxied, shake_hands, text_of

AUDIT: dict[str, Any] = {}
ENFORCE = dict.fromkeys(("arguments", "results", "messages", "tools"), "enforce")
TOOL = {"name": "echo", "description": "Returns its arguments", "inputSchema": {"type": "object"}}
PING = {"id": 8, "method": "ping"}
CALL = {"id": 8, "method": "tools/call", "params": {"name": "echo", "arguments": {}}}
CONTENT = {"content": [{"type": "text", "text": "a"}]}
SESSION_ERROR = {"code": -32000, "message": "Session not found: sign in again"}


def error_of(id_: Any, message: str) -> Any:
    """Return the error that the proxy sends."""
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": -32603, "message": message}}


ANSWERS = [
    pytest.param(
        PING,
        {"id": "8", "result": {}},
        'the server answered with id "8", a string; the request has the id 8, a number'
        " (RESPONSE_WITHOUT_REQUEST at /id)",
        ["RESPONSE_WITHOUT_REQUEST"],
        id="the id as a string",
    ),
    pytest.param(
        {**PING, "id": "8"},
        {"id": 8, "result": {}},
        'the server answered with id 8, a number; the request has the id "8", a string'
        " (RESPONSE_WITHOUT_REQUEST at /id)",
        ["RESPONSE_WITHOUT_REQUEST"],
        id="the id as a number",
    ),
    pytest.param(
        CALL,
        {"id": "8", "result": CONTENT},
        'the server answered with id "8", a string; the request has the id 8, a number'
        " (RESPONSE_WITHOUT_REQUEST at /id)",
        ["RESPONSE_WITHOUT_REQUEST"],
        id="the result of a call",
    ),
    pytest.param(
        PING,
        {"id": "8", "error": {"code": -32000, "message": "no"}},
        'the server answered with id "8", a string; the request has the id 8, a number'
        " (RESPONSE_WITHOUT_REQUEST at /id)",
        ["RESPONSE_WITHOUT_REQUEST"],
        id="an error",
    ),
    pytest.param(
        PING,
        [{"id": 8, "result": {}}],
        "the response is invalid: BATCH_UNSUPPORTED at its root",
        ["BATCH_UNSUPPORTED"],
        id="an array",
    ),
    pytest.param(
        PING,
        [{"id": 9, "result": {}}],
        "the server answered with id 9, a number; the request has the id 8, a number",
        ["BATCH_UNSUPPORTED"],
        id="an array with another id",
    ),
    pytest.param(
        PING,
        {"id": 9, "result": {}},
        "the server answered with id 9, a number; the request has the id 8, a number",
        ["RESPONSE_WITHOUT_REQUEST"],
        id="another id",
    ),
    pytest.param(
        PING,
        {"id": None, "result": {}},
        "the server answered with id null; the request has the id 8, a number",
        ["ID_NULL"],
        id="a result with null",
    ),
    pytest.param(
        PING,
        {"result": {}},
        "the server answered without an id; the request has the id 8",
        ["ID_MISSING"],
        id="a result without an id",
    ),
    pytest.param(
        PING,
        b'{"id": 8, "result": {}}',
        "the response is invalid: JSONRPC_VERSION at its root",
        ["JSONRPC_VERSION"],
        id="another protocol",
    ),
    pytest.param(
        PING,
        b'{"id": 9, "result": {}}',
        'the server answered without "jsonrpc": "2.0"',
        ["JSONRPC_VERSION", "RESPONSE_WITHOUT_REQUEST"],
        id="another protocol with another id",
    ),
    pytest.param(
        PING,
        b'{"jsonrpc": "2.0", "id": 8, "result": {',
        "the server answered with text that is not a JSON-RPC message",
        ["PAYLOAD_NOT_JSON"],
        id="half a message",
    ),
    pytest.param(
        PING,
        {"error": {"code": "x"}},
        "the server answered without an id; the request has the id 8",
        ["TYPE"],
        id="a broken error without an id",
    ),
]


@pytest.mark.parametrize(("request_", "answer", "error", "codes"), ANSWERS)
async def test_the_open_request_is_answered_at_once(
    request_: Any, answer: Any, error: str, codes: list[str]
) -> None:
    """Audit passes the answer byte for byte; enforcement answers the request with the reason."""
    for values in (AUDIT, ENFORCE):
        async with proxied([TOOL], policies_of(values)) as proxy:
            await shake_hands(proxy)
            await proxy.session.handle(text_of(request_), "client")
            text = text_of(answer)
            ruling = await proxy.session.handle(text, "server")
            pending = proxy.session.fail_pending("open")

        if values is AUDIT:
            assert (text, None) == (ruling.forward, ruling.reply)
        else:
            assert ruling.forward is not None
            assert error_of(request_["id"], error) == json.loads(ruling.forward)
            assert (None, []) == (ruling.reply, pending)
        reported = [finding.split()[-4:] for finding in proxy.findings]
        if codes is not None:
            assert sorted(codes) == sorted(
                {words for line in reported for words in line} & {*codes}
            )


@pytest.mark.parametrize("values", [AUDIT, ENFORCE])
async def test_responses_of_the_client_by_a_similar_id(values: Any) -> None:
    """The server gets an error under the id of its request."""
    async with proxied([TOOL], policies_of(values)) as proxy:
        await shake_hands(proxy)
        await proxy.session.handle(text_of(PING), "server")
        text = text_of({"id": "8", "result": {}})
        ruling = await proxy.session.handle(text, "client")

    error = (
        'the client answered with id "8", a string; the request has the id 8, a number'
        " (RESPONSE_WITHOUT_REQUEST at /id)"
    )
    expected = text if values is AUDIT else error_of(8, error)
    assert ruling.forward is not None
    assert expected == (text if values is AUDIT else json.loads(ruling.forward))
    action = "passed" if values is AUDIT else "rejected"
    assert [f"client ping  RESPONSE_WITHOUT_REQUEST /id error {action}"] == proxy.findings


@pytest.mark.parametrize("method", [{}, {"method": "ping"}], ids=["", "with a method"])
async def test_a_result_by_a_similar_id_is_validated(method: Any) -> None:
    """Where such an id passes, the result is that of the request."""
    policies = policies_of({"results": "enforce"})
    tool = {**TOOL, "outputSchema": {"type": "object", "required": ["n"]}}
    async with proxied([tool], policies) as proxy:
        await shake_hands(proxy)
        await proxy.session.handle(text_of(CALL), "client")
        answer = {"id": "8", **method, "result": {"content": [], "structuredContent": {}}}
        ruling = await proxy.session.handle(text_of(answer), "server")

    assert ruling.forward is not None
    response = json.loads(ruling.forward)
    assert (8, True) == (response["id"], response["result"]["isError"])


@pytest.mark.parametrize("id_", [{}, {"id": None}])
@pytest.mark.parametrize(("values", "open_requests"), [(AUDIT, 1), (ENFORCE, 1), (ENFORCE, 2)])
async def test_an_error_without_an_id(id_: Any, values: Any, open_requests: int) -> None:
    """Its text reaches the only open request; otherwise it passes as it is."""
    async with proxied([TOOL], policies_of(values)) as proxy:
        await shake_hands(proxy)
        for number in range(10, 10 + open_requests):
            await proxy.session.handle(text_of({**PING, "id": number}), "client")
        text = text_of({**id_, "error": SESSION_ERROR})
        ruling = await proxy.session.handle(text, "server")

    if values is ENFORCE and open_requests == 1:
        assert ruling.forward is not None
        expected = {"jsonrpc": "2.0", "id": 10, "error": SESSION_ERROR}
        assert expected == json.loads(ruling.forward)
        assert "server ping  ERROR_WITHOUT_ID /id warning repaired" in proxy.findings
    else:
        assert text == ruling.forward


@pytest.mark.parametrize("second", [8, "8"])
async def test_a_second_response_fails_no_other_request(second: Any) -> None:
    """It is dropped, and the request that is open now stays so."""
    async with proxied([TOOL], policies_of(ENFORCE)) as proxy:
        await shake_hands(proxy)
        await proxy.session.handle(text_of(PING), "client")
        await proxy.session.handle(text_of({"id": 8, "result": {}}), "server")
        await proxy.session.handle(text_of({**PING, "id": 9}), "client")
        ruling = await proxy.session.handle(text_of({"id": second, "result": {}}), "server")
        text = text_of({"id": 9, "result": {}})
        answer = await proxy.session.handle(text, "server")

    assert (None, text) == (ruling.forward, answer.forward)


async def test_responses_in_an_array_are_errors_of_their_own() -> None:
    """A client without batches cannot read an array."""
    async with proxied([TOOL], policies_of(ENFORCE)) as proxy:
        await shake_hands(proxy)
        for number in (10, 11, 12):
            await proxy.session.handle(text_of({**PING, "id": number}), "client")
        answers: list[Any] = [{"id": number, "result": {}} for number in (10, 11, 12)]
        ruling = await proxy.session.handle(text_of(answers), "server")

    assert ruling.forward is not None
    errors = [json.loads(text) for text in (ruling.forward, *ruling.others)]
    assert [10, 11, 12] == [error["id"] for error in errors]


POLICIES = [
    pytest.param({"messages": "off"}, id="off"),
    pytest.param(AUDIT, id="audit"),
    pytest.param(ENFORCE, id="enforce"),
    pytest.param({"arguments": "enforce"}, id="arguments"),
]
LOG_LINES = [
    pytest.param(b'{"id":1,"method":"GET","level":30}', id="a request"),
    pytest.param(b'{"jsonrpc":"1.0","id":2,"method":"tools/list"}', id="another version"),
    pytest.param(b'{"jsonrpc":2.0,"id":2,"method":"tools/list"}', id="a number"),
    pytest.param(b'{"id":3,"method":"tools/call","params":{"name":"echo"}}', id="a call"),
    pytest.param(b'{"id":3,"method":5}', id="a method that is a number"),
    pytest.param(b'[{"id":1,"method":"GET"}]', id="an array"),
    pytest.param(b'{"level":30,"msg":"started"}', id="neither id nor method"),
]


@pytest.mark.parametrize("sender", ["client", "server"])
@pytest.mark.parametrize("values", POLICIES)
@pytest.mark.parametrize("text", LOG_LINES)
async def test_other_json_gets_no_reply(text: bytes, values: Any, sender: Direction) -> None:
    """Two programs that log what they receive would answer each other without end."""
    policies: Policies = policies_of(values)
    schema = {"type": "object", "required": ["a"]}
    async with proxied([{**TOOL, "inputSchema": schema}], policies) as proxy:
        await shake_hands(proxy)
        ruling = await proxy.session.handle(text, sender)

    assert None is ruling.reply
    if values is ENFORCE:
        assert None is ruling.forward
        assert any("JSONRPC_VERSION" in finding for finding in proxy.findings) or b"[" in text[:1]
        assert any("rejected" in finding for finding in proxy.findings)
    if values is AUDIT:
        assert text == ruling.forward


@pytest.mark.parametrize("sender", ["client", "server"])
@pytest.mark.parametrize("values", [AUDIT, ENFORCE])
async def test_a_byte_order_mark(values: Any, sender: Direction) -> None:
    """It passes in audit; enforcement removes it, and validates the message."""
    text = b"\xef\xbb\xbf" + text_of({"method": "notifications/message", "params": {"data": 1}})
    async with proxied([TOOL], policies_of(values)) as proxy:
        await shake_hands(proxy)
        ping = b"\xef\xbb\xbf" + text_of(PING)
        ruling = await proxy.session.handle(ping, sender)
        broken = await proxy.session.handle(text, sender)

    is_audit = values is AUDIT
    assert (ping if is_audit else ping[3:]) == ruling.forward
    assert (text if is_audit else None) == broken.forward
    action = "passed" if is_audit else "repaired"
    assert f"{sender}   BYTE_ORDER_MARK  warning {action}" in proxy.findings
