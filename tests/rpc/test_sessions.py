"""CheckSession with a real server; rules are tested with their cases."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import protocol_service_pb2 as v1
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from support.running import RunningServer
from support.wire import info_of

METHOD = "/sidecheck.v1.ProtocolService/CheckSession"
INFO = {"name": "desk", "version": "1"}


def defaults(**context: Any) -> v1.CheckSessionRequest:
    return v1.CheckSessionRequest(
        defaults=v1.SessionDefaults(context=v1.ProtocolContext(**context))
    )


def item(id_: str, message: Any, sender: v1.Sender = v1.SENDER_CLIENT) -> v1.CheckSessionRequest:
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    protocol_message = v1.ProtocolMessage(json=text, sender=sender)
    return v1.CheckSessionRequest(item=v1.SessionItem(id=id_, message=protocol_message))


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def handshake(version: str) -> list[v1.CheckSessionRequest]:
    """Return the messages that initialize a session with *version*."""
    initialize = request(0, "initialize", protocolVersion=version, capabilities={}, clientInfo=INFO)
    initialize_result = {"protocolVersion": version, "capabilities": {}, "serverInfo": INFO}
    return [
        item("asked", initialize),
        item("agreed", {"jsonrpc": "2.0", "id": 0, "result": initialize_result}, v1.SENDER_SERVER),
        item("ready", {"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]


READY: list[Any] = [("asked", []), ("agreed", []), ("ready", [])]


def reported(response: v1.CheckSessionResponse) -> tuple[str, Any]:
    """Return the id, and the codes of the verdict or the reason of the error."""
    outcome = response.outcome
    if outcome.HasField("error"):
        return response.id, info_of(outcome.error).reason
    return response.id, [violation.code for violation in outcome.result.verdict.violations]


@pytest.fixture
async def channel(shared_server: RunningServer) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(shared_server.address) as channel:
        yield channel


async def session_outcomes(
    channel: grpc.aio.Channel, *requests: v1.CheckSessionRequest
) -> list[Any]:
    """Send *requests* in one stream; return id and outcome of each response to an item."""
    stub: Any = ProtocolServiceStub(channel)
    *responses, summary = [response async for response in stub.CheckSession(iter(requests))]
    assert ("", True) == (summary.id, summary.HasField("summary"))
    return [reported(response) for response in responses]


async def test_a_session_uses_the_negotiated_version(channel: grpc.aio.Channel) -> None:
    """Undeclared capabilities are violations."""
    batch = [request(1, "ping")]
    list_tools = item("list", request(2, "tools/list"))

    for version, has_batches in (("2025-03-26", True), ("2025-06-18", False)):
        results = await session_outcomes(
            channel, *handshake(version), item("batch", batch), list_tools
        )
        undeclared = [code for code in results[-1][1] if code.startswith("CAPABILITY_UNDECLARED")]
        assert (READY, has_batches, 1) == (results[:3], results[3][1] == [], len(undeclared))


async def test_a_configured_version_overrides_the_negotiated_one(channel: grpc.aio.Channel) -> None:
    """Defaults have no response."""
    batch = item("batch", [request(1, "ping")])
    results = await session_outcomes(
        channel, defaults(protocol_version="2025-03-26"), *handshake("2025-06-18"), batch
    )

    assert [("asked", []), ("batch", [])] == [results[0], results[-1]]


async def test_a_response_is_validated_by_its_request(channel: grpc.aio.Channel) -> None:
    """Requests are remembered per session."""
    list_tools = request(7, "tools/list")
    capable = defaults(server_capabilities=b'{"tools": {}}')
    response = item("b", {"jsonrpc": "2.0", "id": 7, "result": {"tools": 3}}, v1.SENDER_SERVER)
    results = await session_outcomes(channel, capable, item("a", list_tools), response)
    without_request = await session_outcomes(channel, capable, response)

    assert "TYPE" in results[1][1]
    assert "TYPE" not in without_request[0][1]


async def test_an_invalid_request_has_an_error_response(channel: grpc.aio.Channel) -> None:
    """Violations of session rules have error responses too."""
    stub: Any = ProtocolServiceStub(channel)
    repeated = item("again", request(0, "ping"))
    call = stub.CheckSession(iter([*handshake("2025-06-18"), repeated]))
    result = [response async for response in call][-2].outcome.result

    assert ["REQUEST_ID_REUSED"] == [violation.code for violation in result.verdict.violations]
    error_response = json.loads(result.error_response)
    assert (0, json.loads(result.verdict.json_rpc_error)) == (
        error_response["id"],
        error_response["error"],
    )


async def test_invalid_items_do_not_end_a_session(channel: grpc.aio.Channel) -> None:
    """Each invalid item has its own error."""
    invalid_sender: Any = item("d", request(1, "ping"))
    invalid_sender.item.message.sender = 9

    results = await session_outcomes(
        channel,
        *handshake("2025-06-18"),
        v1.CheckSessionRequest(),
        defaults(),
        v1.CheckSessionRequest(item=v1.SessionItem(id="a")),
        item("b", b"[" * 10_000),
        item("c", b"x" * (1 << 20) + b"x"),
        invalid_sender,
        item("e", b"{"),
        item("f", request(2, "ping")),
    )
    assert [
        *READY,
        ("", "INVALID_REQUEST"),
        ("", "INVALID_REQUEST"),
        ("a", "INVALID_REQUEST"),
        ("b", "LIMIT_EXCEEDED"),
        ("c", "LIMIT_EXCEEDED"),
        ("d", "INVALID_REQUEST"),
        ("e", ["PAYLOAD_NOT_JSON"]),
        ("f", []),
    ] == results


async def test_rejected_messages_do_not_affect_later_ones(channel: grpc.aio.Channel) -> None:
    """A response to a request that was rejected for its size is valid."""
    large = item("large", request(7, "ping", text="x" * (1 << 20)))
    response = item("answer", {"jsonrpc": "2.0", "id": 7, "result": {}}, v1.SENDER_SERVER)
    results = await session_outcomes(channel, *handshake("2025-06-18"), large, response)
    without_request = await session_outcomes(channel, *handshake("2025-06-18"), response)

    assert [*READY, ("large", "LIMIT_EXCEEDED"), ("answer", [])] == results
    assert [*READY, ("answer", ["RESPONSE_WITHOUT_REQUEST"])] == without_request


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ({"protocol_version": "1"}, "UNKNOWN_PROTOCOL_VERSION"),
        ({"client_capabilities": b"[]"}, "INVALID_REQUEST"),
    ],
)
async def test_invalid_defaults_fail_each_item(
    channel: grpc.aio.Channel, context: Any, reason: str
) -> None:
    """The stream continues."""
    ping = item("a", request(1, "ping"))

    assert [("a", reason)] * 2 == await session_outcomes(channel, defaults(**context), ping, ping)


async def test_malformed_bytes_cost_one_response(channel: grpc.aio.Channel) -> None:
    """The first message was not the defaults, so later defaults are invalid."""
    call: Any = channel.stream_stream(METHOD)()
    ping = item("a", request(1, "ping"))
    for data in (b"\xff", defaults().SerializeToString(), ping.SerializeToString()):
        await call.write(data)
    await call.done_writing()
    results = []
    while (data := await call.read()) is not grpc.aio.EOF:
        results.append(reported(v1.CheckSessionResponse.FromString(data)))

    assert [("", "INVALID_REQUEST"), ("", "INVALID_REQUEST")] == results[:2]
    assert "a" == results[2][0]


async def test_responses_are_sent_while_the_stream_is_open(channel: grpc.aio.Channel) -> None:
    """Each message has its response before the next is sent."""
    stub: Any = ProtocolServiceStub(channel)
    call = stub.CheckSession()
    for message in handshake("2025-11-25"):
        await call.write(message)
        assert (message.item.id, []) == reported(await call.read())
    for number in range(1, 50):
        await call.write(item(str(number), request(number, "ping")))
        assert (str(number), []) == reported(await call.read())
    await call.done_writing()

    assert (await call.read()).HasField("summary")
    assert await call.read() is grpc.aio.EOF


async def test_odd_http_statuses_are_invalid(channel: grpc.aio.Channel) -> None:
    """Such an item costs one response; those that HTTP has are taken."""
    requests = []
    for number, status in enumerate((0, 100, 200, 401, 599, 1, 99, 600, 1000, 2**32 - 1)):
        one_item = item(str(status), request(10 + number, "ping"))
        one_item.item.http_status = status
        requests.append(one_item)
    results = await session_outcomes(channel, *handshake("2025-11-25"), *requests)

    assert [[]] * 5 == [reported for _, reported in results[3:8]]
    assert ["INVALID_REQUEST"] * 5 == [reported for _, reported in results[8:]]


async def test_a_summary_fits_into_a_message(channel: grpc.aio.Channel) -> None:
    """Any number of tools with long names may have the same violation."""
    stub: Any = ProtocolServiceStub(channel)
    requests = handshake("2025-11-25")
    result = {"content": [], "structuredContent": {"a": 1}}
    for number in range(1, 4001):
        name = chr(0x1F600) * 200 if number % 2 else f"{number}{chr(0x1F600) * 124}"
        for id_ in (2 * number, 2 * number + 1):
            requests.append(item("", request(id_, "tools/call", name=name)))
            answer = {"jsonrpc": "2.0", "id": id_, "result": result}
            requests.append(item("", answer, v1.SENDER_SERVER))
    *_, summary = [response async for response in stub.CheckSession(iter(requests))]

    repeated = summary.summary.repeated_violations
    assert len(repeated) > 1000
    assert summary.ByteSize() < 2 << 20


async def test_a_session_without_items_has_an_empty_summary(channel: grpc.aio.Channel) -> None:
    for requests in ([], [defaults(protocol_version="2025-11-25")]):
        assert [] == await session_outcomes(channel, *requests)


async def test_a_session_that_is_cut_off_has_no_summary(server: RunningServer) -> None:
    """The client cancels it, or the server stops."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub: Any = ProtocolServiceStub(channel)
        cancelled, open_ = stub.CheckSession(), stub.CheckSession()
        for call in (cancelled, open_):
            await call.write(item("a", request(1, "tools/list")))
            assert "a" == (await call.read()).id
        cancelled.cancel()
        logged = await asyncio.to_thread(server.wait_for, "rpc.streamed")
        code = await asyncio.to_thread(server.terminate)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await open_.read()

    assert (1, 0) == (logged["items"], code)
    assert grpc.StatusCode.UNAVAILABLE is raised.value.code()
