"""How streams of the Python client end early: by the server, the deadline or the caller."""

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
    StreamEnded,
    StreamUnavailable,
    Unavailable,
)
from sidecheck.streams import Answer
from sidecheck.v1.info_service_pb2 import GetServerInfoResponse, Limits
from sidecheck.v1.validation_service_pb2 import ValidateOutcome, ValidateStreamResponse
from sidecheck.v1.verdict_pb2 import Verdict as VerdictMessage
from sidecheck.wire import rpcs
from support.clients import FACES
from support.stream_readers import collect, items, take, told

Context: TypeAlias = grpc.aio.ServicerContext[Any, Any]
Answering: TypeAlias = Callable[[AsyncIterator[Any], Context], AsyncIterator[Any]]

CODES = grpc.StatusCode


async def tell(request: Any, context: Context) -> GetServerInfoResponse:
    """Answer the question for the limits."""
    return GetServerInfoResponse(limits=Limits(message_bytes=1000))


@asynccontextmanager
async def serving(answer: Answering) -> AsyncIterator[str]:
    """Serve streams with *answer* and yield the address."""
    stream, info = rpcs.VALIDATE_STREAM, rpcs.GET_SERVER_INFO
    streaming = grpc.stream_stream_rpc_method_handler(
        answer, stream.request.FromString, stream.response.SerializeToString
    )
    telling = grpc.unary_unary_rpc_method_handler(
        tell, info.request.FromString, info.response.SerializeToString
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        [
            grpc.method_handlers_generic_handler(stream.service, {stream.name: streaming}),
            grpc.method_handlers_generic_handler(info.service, {info.name: telling}),
        ]
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


def valid(id_: str) -> ValidateStreamResponse:
    """Return the answer that the item called *id_* is valid."""
    verdict = VerdictMessage(valid=True, enforced=True)
    return ValidateStreamResponse(id=id_, outcome=ValidateOutcome(verdict=verdict))


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> str:
    """Return each face of the client in turn."""
    return str(request.param)


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        pytest.param(StreamUnavailable, CODES.UNAVAILABLE, id="the server stops"),
        pytest.param(StreamEnded, CODES.INTERNAL, id="the server fails"),
        pytest.param(StreamEnded, None, id="the server has enough"),
    ],
)
async def test_the_items_without_an_answer_are_named(
    face: str, expected: type[StreamEnded], code: grpc.StatusCode | None
) -> None:
    """In their order, after the answers that came; nothing is tried again."""
    begun = 0

    async def answer(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        nonlocal begun
        begun += 1
        ids = [(await anext(requests)).item.id for _ in range(4)]
        yield valid(ids[1])
        if code is not None:
            await context.abort(code, "not now")

    found: list[Answer] = []
    async with serving(answer) as address:
        with pytest.raises(StreamEnded) as raised:
            await collect(take(face, address, items(1, 2, 3)), found)
    assert (expected, [("0", True)], ("1", "2"), 1) == (
        type(raised.value),
        told(found),
        raised.value.unanswered,
        begun,
    )


async def test_an_item_that_waits_to_be_sent_is_named_too(face: str) -> None:
    """It was taken from the items, and nobody else has it."""

    async def answer(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        for _ in range(3):
            await anext(requests)
        await asyncio.sleep(1)
        await context.abort(CODES.UNAVAILABLE, "not now")
        yield

    async with serving(answer) as address:
        with pytest.raises(StreamUnavailable) as raised:
            await collect(take(face, address, items(*range(9)), outstanding=2), [])
    assert ("0", "1", "2") == raised.value.unanswered


async def test_a_stream_that_never_began_is_not_tried_again(face: str) -> None:
    """Not even where the server had answered nothing, and gRPC itself would repeat it."""
    begun = 0

    async def answer(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        nonlocal begun
        begun += 1
        await context.abort(CODES.UNAVAILABLE, "not now")
        yield

    async with serving(answer) as address:
        with pytest.raises(StreamUnavailable, match="UNAVAILABLE: not now"):
            await collect(take(face, address, items(1)), [])
    assert 1 == begun


async def test_an_answer_out_of_turn_ends_the_stream(face: str) -> None:
    """A verdict is never taken for another item's."""

    async def answer(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        async for request in requests:
            if request.item.id == "1":
                yield valid("1")

    async with serving(answer) as address:
        with pytest.raises(StreamEnded, match="out of turn") as raised:
            await collect(take(face, address, items(1, 2)), [])
    assert ("0", "1") == raised.value.unanswered


async def test_the_deadline_ends_a_stream(face: str) -> None:
    """It is that of the stream as a whole."""

    async def never(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        await asyncio.sleep(60)
        yield

    async with serving(never) as address:
        with pytest.raises(StreamUnavailable) as raised:
            await collect(take(face, address, items(1), timeout=0.5), [])
    assert (CODES.DEADLINE_EXCEEDED, ("0",)) == (raised.value.status, raised.value.unanswered)


async def test_no_server_is_unavailable(face: str) -> None:
    """Before any item was taken."""
    given = iter(items(1, 2))
    with pytest.raises(Unavailable):
        await collect(take(face, "127.0.0.1:1", given), [])
    assert 2 == len(list(given))


async def test_leaving_early_cancels_the_call(face: str) -> None:
    """The server learns of it at once, though more items would come."""
    ended = asyncio.Event()

    async def answer(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        try:
            await anext(requests)
            async for request in requests:
                yield valid(request.item.id)
        finally:
            ended.set()

    endless = ((str(at), Item(Arguments(at))) for at in count())
    async with serving(answer) as address, aclosing(take(face, address, endless)) as answers:
        await anext(answers)
        await answers.aclose()
        await asyncio.wait_for(ended.wait(), 120)


async def test_leaving_by_break_cancels_the_call() -> None:
    """Also where nobody closes the iteration: it is not left to gRPC."""
    ended = asyncio.Event()

    async def answer(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        try:
            async for request in requests:
                if request.HasField("item"):
                    yield valid(request.item.id)
            await asyncio.sleep(60)
        finally:
            ended.set()

    async with serving(answer) as address, Client(address) as client:
        async for _ in client.validate_stream(items(1, 2)):
            break
        await asyncio.wait_for(ended.wait(), 120)


async def test_a_cancelled_taker_cancels_the_call() -> None:
    """And is cancelled itself, with nothing raised in its place."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def answer(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        begun.set()
        try:
            await asyncio.sleep(60)
            yield
        finally:
            ended.set()

    async with serving(answer) as address:
        task = asyncio.create_task(anext(take("asynchronous", address, items(1))))
        await asyncio.wait_for(begun.wait(), 120)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(ended.wait(), 120)


async def test_a_cancelled_sender_ends_the_stream_for_the_taker() -> None:
    """The taker is told, not cancelled."""

    async def answer(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
        await asyncio.sleep(60)
        yield

    async with (
        serving(answer) as address,
        Client(address) as client,
        client.stream(outstanding=10_000) as stream,
    ):

        async def send() -> None:
            # Flow control holds this up for good: the server reads nothing.
            for at in count():
                await stream.send(str(at), Item(Arguments("x" * 800)))

        sender = asyncio.create_task(send())
        taker = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.3)
        sender.cancel()
        with pytest.raises(StreamEnded, match="CANCELLED"):
            await asyncio.wait_for(taker, 120)
        with pytest.raises(asyncio.CancelledError):
            await sender
        with pytest.raises(SidecheckError, match="CANCELLED"):
            await stream.send("late", Item(Arguments(1)))
