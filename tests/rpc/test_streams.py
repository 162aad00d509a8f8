"""ValidateStream, through a real server."""

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


def told(response: ValidateStreamResponse) -> tuple[str, Any]:
    """The id, and the codes of the verdict or the reason of the refusal."""
    outcome = response.outcome
    if outcome.HasField("refusal"):
        return response.id, info_of(outcome.error).reason
    return response.id, [found.code for found in outcome.verdict.violations]


@pytest.fixture
async def channel(shared_server: RunningServer) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(shared_server.address) as channel:
        yield channel


async def answers(channel: grpc.aio.Channel, *requests: ValidateStreamRequest) -> list[Any]:
    """Send *requests* in one stream and return what is told of each answer."""
    stub: Any = ValidationServiceStub(channel)
    call = stub.ValidateStream(iter(requests))
    return [told(response) async for response in call]


async def test_items_are_answered_in_order_by_their_ids(channel: grpc.aio.Channel) -> None:
    """The defaults have no answer; an item may replace them whole."""
    mute = options_pb2.ValidationOptions(detail=options_pb2.DETAIL_VERDICT_ONLY)

    assert [("a", []), ("b", ["TYPE"]), ("b", []), ("", []), ("c", [])] == await answers(
        channel,
        DEFAULTS,
        item("a", 1),
        item("b", "x"),
        item("b", "x", target=STRING),
        item("", 2),
        item("c", "x", options=mute),
    )


async def test_a_stream_needs_no_defaults(channel: grpc.aio.Channel) -> None:
    """If each item has a target of its own."""
    assert [("a", []), ("b", "INVALID_REQUEST")] == await answers(
        channel, item("a", 1, target=INTEGER), item("b", 1)
    )


async def test_a_stream_outlives_what_is_wrong_in_it(channel: grpc.aio.Channel) -> None:
    """Each is refused by itself."""
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
    ] == await answers(
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


async def test_bytes_that_are_no_message_cost_one_answer(channel: grpc.aio.Channel) -> None:
    """The stream goes on."""
    call: Any = channel.stream_stream(METHOD)()
    got = []
    for sent in (b"\xff", DEFAULTS.SerializeToString(), item("a", 1).SerializeToString()):
        await call.write(sent)
    await call.done_writing()
    while (data := await call.read()) is not grpc.aio.EOF:
        got.append(told(ValidateStreamResponse.FromString(data)))

    # What came first was no defaults, so the defaults came too late.
    expected = ["INVALID_REQUEST", "INVALID_REQUEST", "INVALID_REQUEST"]
    assert expected == [reason for _, reason in got]


async def test_answers_come_while_the_stream_is_open(channel: grpc.aio.Channel) -> None:
    """One for each item, before the next is sent."""
    stub: Any = ValidationServiceStub(channel)
    call = stub.ValidateStream()
    await call.write(DEFAULTS)
    for number in range(50):
        await call.write(item(str(number), number))
        assert (str(number), []) == told(await call.read())
    await call.done_writing()

    assert await call.read() is grpc.aio.EOF


async def test_who_does_not_read_is_held_up(channel: grpc.aio.Channel) -> None:
    """By flow control: the server reads no further than it answers."""
    stub: Any = ValidationServiceStub(channel)
    call = stub.ValidateStream()
    await call.write(ValidateStreamRequest(defaults=StreamDefaults(target=STRING)))
    payload = "x" * 60_000
    written = 0

    async def write() -> None:
        nonlocal written
        while True:
            # An invalid one, whose answer repeats nothing of it, and a large id, which it does.
            await call.write(item("i" * 60_000, payload))
            written += 1

    writing = asyncio.create_task(write())
    held_at = -1
    while held_at != written < 500:
        held_at = written
        await asyncio.sleep(1)

    assert written < 500
    writing.cancel()
    call.cancel()
    await asyncio.gather(writing, return_exceptions=True)


async def test_a_caller_who_goes_away_stops_the_work(server: RunningServer) -> None:
    """The stream is over for the server too, and so are batches and single calls."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub: Any = ValidationServiceStub(channel)
        call = stub.ValidateStream()
        await call.write(DEFAULTS)
        await call.write(item("a", 1))
        await call.read()
        call.cancel()
        ended = await asyncio.to_thread(server.wait_for, "rpc.streamed")

    assert (1, 0, 0) == tuple(ended[fact] for fact in ("items", "invalid", "refused"))


async def test_a_server_that_stops_ends_idle_streams(server: RunningServer) -> None:
    """With UNAVAILABLE, and at once; what was sent before is answered."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub: Any = ValidationServiceStub(channel)
        call = stub.ValidateStream()
        await call.write(DEFAULTS)
        await call.write(item("a", 1))
        answered = told(await call.read())
        code = await asyncio.to_thread(server.terminate)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call.read()

    assert (("a", []), 0) == (answered, code)
    assert grpc.StatusCode.UNAVAILABLE is caught.value.code()
    trailers: Any = dict(caught.value.trailing_metadata() or ())
    status = Status.FromString(trailers["grpc-status-details-bin"])
    assert "SHUTTING_DOWN" == info_of(status).reason
