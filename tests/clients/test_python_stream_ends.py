"""Streams that end early: by the server, the deadline or the caller."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from itertools import count
from typing import Any, TypeAlias

import grpc
import grpc.aio
import pytest
from sidecheck import (
    Arguments,
    Client,
    Item,
    SidecheckError,
    StreamClosed,
    StreamOutcome,
    StreamUnavailable,
    Unavailable,
)
from sidecheck.v1.info_service_pb2 import GetServerInfoRequest, GetServerInfoResponse, Limits
from sidecheck.v1.validation_service_pb2 import (
    ValidateOutcome,
    ValidateStreamRequest,
    ValidateStreamResponse,
)
from sidecheck.v1.verdict_pb2 import Verdict as VerdictMessage
from sidecheck.wire.rpcs import find_rpc
from support.clients import CLIENT_KINDS
from support.stream_readers import collect, items, read, summarize

Context: TypeAlias = grpc.aio.ServicerContext[Any, Any]
StreamHandler: TypeAlias = Callable[[AsyncIterator[Any], Context], AsyncIterator[Any]]

CODES = grpc.StatusCode


async def get_server_info(request: Any, context: Context) -> GetServerInfoResponse:
    """Return limits."""
    return GetServerInfoResponse(limits=Limits(message_bytes=1000))


@asynccontextmanager
async def serving(handler: StreamHandler) -> AsyncIterator[str]:
    """Serve streams with *handler* and yield the address."""
    stream, info = (
        find_rpc(ValidateStreamRequest),
        find_rpc(GetServerInfoRequest),
    )
    stream_handler = grpc.stream_stream_rpc_method_handler(
        handler, stream.request.FromString, stream.response.SerializeToString
    )
    info_handler = grpc.unary_unary_rpc_method_handler(
        get_server_info, info.request.FromString, info.response.SerializeToString
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        [
            grpc.method_handlers_generic_handler(stream.service, {stream.name: stream_handler}),
            grpc.method_handlers_generic_handler(info.service, {info.name: info_handler}),
        ]
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


def valid(id_: str) -> ValidateStreamResponse:
    """Return the response that the item *id_* is valid."""
    verdict = VerdictMessage(valid=True, enforced=True)
    return ValidateStreamResponse(id=id_, outcome=ValidateOutcome(verdict=verdict))


@pytest.fixture(params=CLIENT_KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return a kind of client."""
    return str(request.param)


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        pytest.param(StreamUnavailable, CODES.UNAVAILABLE, id="the server stops"),
        pytest.param(StreamUnavailable, CODES.INTERNAL, id="the transport fails"),
        pytest.param(StreamClosed, CODES.ABORTED, id="the server fails"),
        pytest.param(StreamClosed, None, id="the server ends the call"),
    ],
)
async def test_the_unanswered_items_are_listed(
    kind: str, expected: type[StreamClosed], code: grpc.StatusCode | None
) -> None:
    """They are in order and follow the outcomes that arrived; nothing is retried."""
    calls = 0

    async def handler(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        nonlocal calls
        calls += 1
        ids = [(await anext(requests)).item.id for _ in range(4)]
        yield valid(ids[1])
        if code is not None:
            await context.abort(code, "not now")

    outcomes: list[StreamOutcome] = []
    async with serving(handler) as address:
        with pytest.raises(StreamClosed) as raised:
            await collect(read(kind, address, items(1, 2, 3)), outcomes)
    assert (expected, [("0", True)], ("1", "2"), 1) == (
        type(raised.value),
        summarize(outcomes),
        raised.value.unanswered,
        calls,
    )


async def test_an_item_that_waits_to_be_sent_is_listed_too(kind: str) -> None:
    """The item was already read from the iterable."""

    async def handler(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        for _ in range(3):
            await anext(requests)
        await asyncio.sleep(1)
        await context.abort(CODES.UNAVAILABLE, "not now")
        yield

    async with serving(handler) as address:
        with pytest.raises(StreamUnavailable) as raised:
            await collect(read(kind, address, items(*range(9)), outstanding=2), [])
    assert ("0", "1", "2") == raised.value.unanswered


async def test_a_stream_that_failed_at_once_is_not_retried(kind: str) -> None:
    """The server had not responded yet, a case in which gRPC would retry."""
    calls = 0

    async def handler(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        nonlocal calls
        calls += 1
        await context.abort(CODES.UNAVAILABLE, "not now")
        yield

    async with serving(handler) as address:
        with pytest.raises(StreamUnavailable, match="UNAVAILABLE: not now"):
            await collect(read(kind, address, items(1)), [])
    assert 1 == calls


async def test_a_response_out_of_order_ends_the_stream(kind: str) -> None:
    """A verdict is never assigned to another item."""

    async def handler(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        async for request in requests:
            if request.item.id == "1":
                yield valid("1")

    async with serving(handler) as address:
        with pytest.raises(StreamClosed, match="out of order") as raised:
            await collect(read(kind, address, items(1, 2)), [])
    assert ("0", "1") == raised.value.unanswered


async def test_the_deadline_ends_a_stream(kind: str) -> None:
    """The timeout applies to the whole stream."""

    async def never(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        await asyncio.sleep(60)
        yield

    async with serving(never) as address:
        with pytest.raises(StreamUnavailable) as raised:
            await collect(read(kind, address, items(1), timeout=0.5), [])
    assert (CODES.DEADLINE_EXCEEDED, ("0",)) == (raised.value.status, raised.value.unanswered)


async def test_no_server_is_unavailable(kind: str) -> None:
    """The error is raised before any item is read."""
    unread = iter(items(1, 2))
    with pytest.raises(Unavailable):
        await collect(read(kind, "127.0.0.1:1", unread), [])
    assert 2 == len(list(unread))


async def test_leaving_early_cancels_the_call(kind: str) -> None:
    """The server is notified at once, even if items remain."""
    ended = asyncio.Event()

    async def handler(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        try:
            await anext(requests)
            async for request in requests:
                yield valid(request.item.id)
        finally:
            ended.set()

    endless = ((str(index), Item(Arguments(index))) for index in count())
    async with serving(handler) as address, aclosing(read(kind, address, endless)) as outcomes:
        await anext(outcomes)
        await outcomes.aclose()
        await asyncio.wait_for(ended.wait(), 120)


async def test_leaving_by_break_cancels_the_call() -> None:
    """This applies even if the iterator is not closed explicitly."""
    ended = asyncio.Event()

    async def handler(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        try:
            async for request in requests:
                if request.HasField("item"):
                    yield valid(request.item.id)
            await asyncio.sleep(60)
        finally:
            ended.set()

    async with serving(handler) as address, Client(address) as client:
        async for _ in client.validate_stream(items(1, 2)):
            break
        await asyncio.wait_for(ended.wait(), 120)


async def test_a_cancelled_reader_cancels_the_call() -> None:
    """The task is cancelled too."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def handler(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        begun.set()
        try:
            await asyncio.sleep(60)
            yield
        finally:
            ended.set()

    async with serving(handler) as address:
        task = asyncio.create_task(anext(read("asynchronous", address, items(1))))
        await asyncio.wait_for(begun.wait(), 120)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(ended.wait(), 120)


async def test_a_cancelled_sender_ends_the_stream_for_the_reader() -> None:
    """The reader gets an error and is not cancelled."""

    async def handler(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        await asyncio.sleep(60)
        yield

    async with (
        serving(handler) as address,
        Client(address) as client,
        client.stream(outstanding=10_000) as stream,
    ):

        async def send() -> None:
            # Flow control blocks this forever, since the server reads nothing.
            for index in count():
                await stream.send(str(index), Item(Arguments("x" * 800)))

        sender = asyncio.create_task(send())
        reader = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.3)
        sender.cancel()
        with pytest.raises(StreamClosed, match="CANCELLED"):
            await asyncio.wait_for(reader, 120)
        with pytest.raises(asyncio.CancelledError):
            await sender
        with pytest.raises(SidecheckError, match="CANCELLED"):
            await stream.send("late", Item(Arguments(1)))
