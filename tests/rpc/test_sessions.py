"""CheckSession, through a real server; what its rules find is tested by their cases."""

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
    sent = v1.ProtocolMessage(json=text, sender=sender)
    return v1.CheckSessionRequest(item=v1.SessionItem(id=id_, message=sent))


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def beginning(version: str) -> list[v1.CheckSessionRequest]:
    """The messages with which a session begins that agrees on *version*."""
    asked = request(0, "initialize", protocolVersion=version, capabilities={}, clientInfo=INFO)
    agreed = {"protocolVersion": version, "capabilities": {}, "serverInfo": INFO}
    return [
        item("asked", asked),
        item("agreed", {"jsonrpc": "2.0", "id": 0, "result": agreed}, v1.SENDER_SERVER),
        item("ready", {"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]


READY: list[Any] = [("asked", []), ("agreed", []), ("ready", [])]


def told(response: v1.CheckSessionResponse) -> tuple[str, Any]:
    """The id, and the codes of the verdict or the reason of the refusal."""
    outcome = response.outcome
    if outcome.HasField("refusal"):
        return response.id, info_of(outcome.error).reason
    return response.id, [found.code for found in outcome.result.verdict.violations]


@pytest.fixture
async def channel(shared_server: RunningServer) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(shared_server.address) as channel:
        yield channel


async def answers(channel: grpc.aio.Channel, *requests: v1.CheckSessionRequest) -> list[Any]:
    """Send *requests* in one stream and return what is told of each answer."""
    stub: Any = ProtocolServiceStub(channel)
    return [told(response) async for response in stub.CheckSession(iter(requests))]


async def test_a_session_holds_to_what_was_agreed(channel: grpc.aio.Channel) -> None:
    """The version, and what was declared: nothing, here."""
    batch = [request(1, "ping")]
    listing = item("list", request(2, "tools/list"))

    for version, has_batches in (("2025-03-26", True), ("2025-06-18", False)):
        got = await answers(channel, *beginning(version), item("batch", batch), listing)
        undeclared = [code for code in got[-1][1] if code.startswith("CAPABILITY_UNDECLARED")]
        assert (READY, has_batches, 1) == (got[:3], got[3][1] == [], len(undeclared))


async def test_a_named_version_holds_whatever_is_agreed_on(channel: grpc.aio.Channel) -> None:
    """Defaults have no answer."""
    batch = item("batch", [request(1, "ping")])
    got = await answers(
        channel, defaults(protocol_version="2025-03-26"), *beginning("2025-06-18"), batch
    )

    assert [("asked", []), ("batch", [])] == [got[0], got[-1]]


async def test_a_response_is_judged_by_its_request(channel: grpc.aio.Channel) -> None:
    """Which the session remembers; another session does not."""
    listing = request(7, "tools/list")
    capable = defaults(server_capabilities=b'{"tools": {}}')
    answer = item("b", {"jsonrpc": "2.0", "id": 7, "result": {"tools": 3}}, v1.SENDER_SERVER)
    got = await answers(channel, capable, item("a", listing), answer)
    alone = await answers(channel, capable, answer)

    assert "TYPE" in got[1][1]
    assert "TYPE" not in alone[0][1]


async def test_a_message_with_an_error_has_its_reply(channel: grpc.aio.Channel) -> None:
    """Also for what only a session knows."""
    stub: Any = ProtocolServiceStub(channel)
    again = item("again", request(0, "ping"))
    call = stub.CheckSession(iter([*beginning("2025-06-18"), again]))
    last = [response async for response in call][-1].outcome.answer

    assert ["REQUEST_ID_REUSED"] == [found.code for found in last.verdict.violations]
    reply = json.loads(last.reply)
    assert (0, json.loads(last.verdict.json_rpc_error)) == (reply["id"], reply["error"])


async def test_a_session_outlives_what_is_wrong_in_it(channel: grpc.aio.Channel) -> None:
    """Each is refused by itself."""
    strange: Any = item("d", request(1, "ping"))
    strange.item.message.sender = 9

    got = await answers(
        channel,
        *beginning("2025-06-18"),
        v1.CheckSessionRequest(),
        defaults(),
        v1.CheckSessionRequest(item=v1.SessionItem(id="a")),
        item("b", b"[" * 10_000),
        item("c", b"x" * (1 << 20) + b"x"),
        strange,
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
    ] == got


async def test_what_was_not_read_is_held_against_nobody(channel: grpc.aio.Channel) -> None:
    """The response to a request that was refused for its size is sound."""
    large = item("large", request(7, "ping", text="x" * (1 << 20)))
    answer = item("answer", {"jsonrpc": "2.0", "id": 7, "result": {}}, v1.SENDER_SERVER)
    got = await answers(channel, *beginning("2025-06-18"), large, answer)
    alone = await answers(channel, *beginning("2025-06-18"), answer)

    assert [*READY, ("large", "LIMIT_EXCEEDED"), ("answer", [])] == got
    assert [*READY, ("answer", ["RESPONSE_WITHOUT_REQUEST"])] == alone


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ({"protocol_version": "1"}, "UNKNOWN_PROTOCOL_VERSION"),
        ({"client_capabilities": b"[]"}, "INVALID_REQUEST"),
    ],
)
async def test_what_is_wrong_with_the_defaults_each_item_says(
    channel: grpc.aio.Channel, context: Any, reason: str
) -> None:
    """The stream goes on."""
    ping = item("a", request(1, "ping"))

    assert [("a", reason)] * 2 == await answers(channel, defaults(**context), ping, ping)


async def test_bytes_that_are_no_message_cost_one_answer(channel: grpc.aio.Channel) -> None:
    """What came first was no defaults, so the defaults came too late."""
    call: Any = channel.stream_stream(METHOD)()
    ping = item("a", request(1, "ping"))
    for sent in (b"\xff", defaults().SerializeToString(), ping.SerializeToString()):
        await call.write(sent)
    await call.done_writing()
    got = []
    while (data := await call.read()) is not grpc.aio.EOF:
        got.append(told(v1.CheckSessionResponse.FromString(data)))

    assert [("", "INVALID_REQUEST"), ("", "INVALID_REQUEST")] == got[:2]
    assert "a" == got[2][0]


async def test_answers_come_while_the_stream_is_open(channel: grpc.aio.Channel) -> None:
    """One for each message, before the next is sent."""
    stub: Any = ProtocolServiceStub(channel)
    call = stub.CheckSession()
    for sent in beginning("2025-11-25"):
        await call.write(sent)
        assert (sent.item.id, []) == told(await call.read())
    for number in range(1, 50):
        await call.write(item(str(number), request(number, "ping")))
        assert (str(number), []) == told(await call.read())
    await call.done_writing()

    assert await call.read() is grpc.aio.EOF
