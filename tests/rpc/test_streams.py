"""ValidateStream with a real server."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck.v1 import options_pb2, target_pb2
from sidecheck.v1.validation_service_pb2 import (
    StreamDefaults,
    StreamItem,
    ValidateItem,
    ValidateStreamRequest,
    ValidateStreamResponse,
)
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer
from support.wire import info_of

METHOD = "/sidecheck.v1.ValidationService/ValidateStream"


def schema(text: str) -> target_pb2.Target:
    return target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=text.encode()))


INTEGER, STRING = schema('{"type": "integer"}'), schema('{"type": "string"}')
DEFAULTS = ValidateStreamRequest(defaults=StreamDefaults(target=INTEGER))


def item(id_: str, payload: Any, **more: Any) -> ValidateStreamRequest:
    subject = target_pb2.Subject(arguments=json.dumps(payload).encode())
    return ValidateStreamRequest(
        item=StreamItem(id=id_, item=ValidateItem(subject=subject, **more))
    )


def reported(response: ValidateStreamResponse) -> tuple[str, Any]:
    """Return the id, and the codes of the verdict or the reason of the error."""
    outcome = response.outcome
    if outcome.HasField("error"):
        return response.id, info_of(outcome.error).reason
    return response.id, [violation.code for violation in outcome.verdict.violations]


@pytest.fixture
async def channel(shared_server: RunningServer) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(shared_server.address) as channel:
        yield channel


async def stream_outcomes(channel: grpc.aio.Channel, *requests: ValidateStreamRequest) -> list[Any]:
    """Send *requests* in one stream; return id and outcome of each response."""
    stub: Any = ValidationServiceStub(channel)
    call = stub.ValidateStream(iter(requests))
    return [reported(response) async for response in call]


async def test_responses_are_in_order_with_their_ids(channel: grpc.aio.Channel) -> None:
    """Target or options of an item replace the default entirely; defaults have no response."""
    verdict_only = options_pb2.ValidationOptions(detail=options_pb2.DETAIL_VERDICT_ONLY)

    assert [("a", []), ("b", ["TYPE"]), ("b", []), ("", []), ("c", [])] == await stream_outcomes(
        channel,
        DEFAULTS,
        item("a", 1),
        item("b", "x"),
        item("b", "x", target=STRING),
        item("", 2),
        item("c", "x", options=verdict_only),
    )


async def test_a_stream_needs_no_defaults(channel: grpc.aio.Channel) -> None:
    """Without defaults, each item needs a target."""
    assert [("a", []), ("b", "INVALID_REQUEST")] == await stream_outcomes(
        channel, item("a", 1, target=INTEGER), item("b", 1)
    )


async def test_invalid_items_do_not_end_a_stream(channel: grpc.aio.Channel) -> None:
    """Each invalid item has its own error."""
    broken = options_pb2.ValidationOptions(protocol_version="1999-01-01")
    unknown = target_pb2.Target(
        registered_tool=target_pb2.RegisteredTool(server="nobody", name="nothing")
    )

    assert [
        ("a", "INVALID_SCHEMA"),
        ("b", "UNKNOWN_PROTOCOL_VERSION"),
        ("c", "UNKNOWN_TOOL"),
        ("", "INVALID_REQUEST"),
        ("", "INVALID_REQUEST"),
        ("d", "LIMIT_EXCEEDED"),
        ("e", []),
    ] == await stream_outcomes(
        channel,
        DEFAULTS,
        item("a", 1, target=schema('{"type": "any"}')),
        item("b", 1, options=broken),
        item("c", 1, target=unknown),
        ValidateStreamRequest(),
        DEFAULTS,
        item("d", "x" * (1 << 20)),
        item("e", 1),
    )


async def test_malformed_bytes_cost_one_response(channel: grpc.aio.Channel) -> None:
    """The stream continues."""
    call: Any = channel.stream_stream(METHOD)()
    results = []
    for data in (b"\xff", DEFAULTS.SerializeToString(), item("a", 1).SerializeToString()):
        await call.write(data)
    await call.done_writing()
    while (data := await call.read()) is not grpc.aio.EOF:
        results.append(reported(ValidateStreamResponse.FromString(data)))

    # The first message was not the defaults, so later defaults are invalid.
    expected = ["INVALID_REQUEST", "INVALID_REQUEST", "INVALID_REQUEST"]
    assert expected == [reason for _, reason in results]


async def test_responses_are_sent_while_the_stream_is_open(channel: grpc.aio.Channel) -> None:
    """Each item has its response before the next is sent."""
    stub: Any = ValidationServiceStub(channel)
    call = stub.ValidateStream()
    await call.write(DEFAULTS)
    for number in range(50):
        await call.write(item(str(number), number))
        assert (str(number), []) == reported(await call.read())
    await call.done_writing()

    assert await call.read() is grpc.aio.EOF


async def test_a_client_that_does_not_read_is_blocked(channel: grpc.aio.Channel) -> None:
    """Flow control: the server stops reading while responses are unread."""
    stub: Any = ValidationServiceStub(channel)
    call = stub.ValidateStream()
    await call.write(ValidateStreamRequest(defaults=StreamDefaults(target=STRING)))
    payload = "x" * 60_000
    written = 0

    async def write() -> None:
        nonlocal written
        while True:
            # The response repeats the id, which is large, and not the payload.
            await call.write(item("i" * 60_000, payload))
            written += 1

    writing = asyncio.create_task(write())
    previous = -1
    while previous != written < 500:
        previous = written
        await asyncio.sleep(1)

    assert written < 500
    writing.cancel()
    call.cancel()
    await asyncio.gather(writing, return_exceptions=True)


async def test_a_cancelled_stream_ends_on_the_server(server: RunningServer) -> None:
    """The stream is logged when its caller cancels it."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub: Any = ValidationServiceStub(channel)
        call = stub.ValidateStream()
        await call.write(DEFAULTS)
        await call.write(item("a", 1))
        await call.read()
        call.cancel()
        ended = await asyncio.to_thread(server.wait_for, "rpc.streamed")

    assert (1, 0, 0) == tuple(ended[field] for field in ("items", "invalid", "errors"))


async def test_shutdown_ends_idle_streams(server: RunningServer) -> None:
    """Streams end with UNAVAILABLE; earlier items have responses."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub: Any = ValidationServiceStub(channel)
        call = stub.ValidateStream()
        await call.write(DEFAULTS)
        await call.write(item("a", 1))
        outcome = reported(await call.read())
        code = await asyncio.to_thread(server.terminate)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call.read()

    assert (("a", []), 0) == (outcome, code)
    assert grpc.StatusCode.UNAVAILABLE is raised.value.code()
    trailers: Any = dict(raised.value.trailing_metadata() or ())
    status = Status.FromString(trailers["grpc-status-details-bin"])
    assert "SHUTTING_DOWN" == info_of(status).reason
