"""Streams of the Python client with a real server, asynchronous and blocking."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from itertools import count
from typing import Any

import pytest
from sidecheck import (
    Arguments,
    BlockingClient,
    Client,
    Detail,
    Item,
    Options,
    RegisteredTool,
    Schema,
    StreamOutcome,
    StreamUnavailable,
    Verdict,
)
from support.clients import CLIENT_KINDS
from support.running import RunningServer
from support.stream_readers import collect, items, read, summarize

STRING = Schema({"type": "string"})
TIDES = RegisteredTool("weather", "get_tides")


async def stream_outcomes(
    kind: str, address: str, stream_items: Any, **settings: Any
) -> list[StreamOutcome]:
    """Return all outcomes of a stream."""
    return [outcome async for outcome in read(kind, address, stream_items, **settings)]


@pytest.fixture(params=CLIENT_KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return a kind of client."""
    return str(request.param)


async def test_a_stream_has_one_outcome_per_item(kind: str, shared_server: RunningServer) -> None:
    """Outcomes are in order and have the caller's ids; errors are outcomes."""
    largest = b'"%s"' % (b"x" * (5 << 20))
    stream_items = [
        ("yes", Item(Arguments(b'"Oslo"'))),
        ("no", Item(Arguments(7))),
        ("tides", Item(Arguments({}), TIDES)),
        ("nan", Item(Arguments(float("nan")))),
        ("large", Item(Arguments(largest))),
        ("own schema", Item(Arguments(7), Schema({"type": "integer"}))),
        ("yes", Item(Arguments(b'"Bergen"'))),
    ]
    assert [
        ("yes", True),
        ("no", False),
        ("tides", "UNKNOWN_TOOL"),
        ("nan", "INVALID_REQUEST"),
        ("large", "LIMIT_EXCEEDED"),
        ("own schema", True),
        ("yes", True),
    ] == summarize(await stream_outcomes(kind, shared_server.address, stream_items, target=STRING))


async def test_options_hold_for_a_stream(kind: str, shared_server: RunningServer) -> None:
    """Options of an item replace all options of the stream."""
    stream_items = [
        ("shared", Item(Arguments(1))),
        ("own", Item(Arguments(1), options=Options(max_violations=1))),
    ]
    options = Options(detail=Detail.VERDICT_ONLY)
    outcomes = await stream_outcomes(
        kind, shared_server.address, stream_items, target=STRING, options=options
    )
    assert [("shared", 0), ("own", 1)] == [
        (id_, len(outcome.violations)) for id_, outcome in outcomes if isinstance(outcome, Verdict)
    ]


@pytest.mark.parametrize("outstanding", [1, 64])
async def test_a_stream_may_be_long(
    kind: str, shared_server: RunningServer, outstanding: int
) -> None:
    """The number of outstanding items does not matter."""
    stream_items = items(*[index if index % 7 == 0 else "x" for index in range(500)])
    outcomes = await stream_outcomes(
        kind, shared_server.address, stream_items, target=STRING, outstanding=outstanding
    )
    assert [(str(index), index % 7 != 0) for index in range(500)] == summarize(outcomes)


async def test_an_empty_stream_has_no_outcomes(kind: str, shared_server: RunningServer) -> None:
    """The iteration ends without a request for more items."""
    assert [] == await stream_outcomes(kind, shared_server.address, [])


async def test_items_may_be_produced_as_outcomes_arrive(shared_server: RunningServer) -> None:
    """An outcome arrives before the next item is sent."""
    received = asyncio.Event()

    async def produce() -> AsyncIterator[tuple[str, Item]]:
        for index in range(3):
            yield str(index), Item(Arguments("x"))
            await received.wait()
            received.clear()

    outcomes = []
    async with Client(shared_server.address, timeout=120) as client:
        async for id_, _ in client.validate_stream(produce(), target=STRING):
            outcomes.append(id_)
            received.set()
    assert ["0", "1", "2"] == outcomes


async def test_a_slow_reader_blocks_the_sender(kind: str, shared_server: RunningServer) -> None:
    """At most *outstanding* items and one waiting item are read."""
    produced: list[int] = []

    def endless() -> Iterator[tuple[str, Item]]:
        for index in count():
            produced.append(index)
            yield str(index), Item(Arguments("x"))

    outcomes = read(kind, shared_server.address, endless(), target=STRING, outstanding=5)
    async with aclosing(outcomes):
        for _ in range(3):
            await anext(outcomes)
        while len(produced) < 3 + 5 + 1:  # noqa: ASYNC110  (items are read in another thread)
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        assert 3 + 5 + 1 == len(produced)


async def test_an_error_of_the_items_is_raised_after_the_outcomes(
    kind: str, shared_server: RunningServer
) -> None:
    """Items sent before the error have outcomes."""

    def failing() -> Iterator[tuple[str, Item]]:
        yield from items("x", 1)
        raise LookupError("no more")

    outcomes: list[StreamOutcome] = []
    with pytest.raises(LookupError, match="no more"):
        await collect(read(kind, shared_server.address, failing(), target=STRING), outcomes)
    assert [("0", True), ("1", False)] == summarize(outcomes)


async def test_a_server_that_stops_ends_the_stream(kind: str, server: RunningServer) -> None:
    """Earlier outcomes are returned; the error is raised even if no item is sent."""
    stopped = threading.Event()
    outcomes: list[StreamOutcome] = []

    def idle() -> Iterator[tuple[str, Item]]:
        yield from items("x")
        while not outcomes:
            stopped.wait(0.01)
        server.process.terminate()
        stopped.wait(120)

    async def idle_in_the_loop() -> AsyncIterator[tuple[str, Item]]:
        yield items("x")[0]
        while not outcomes:  # noqa: ASYNC110  (it is a list)
            await asyncio.sleep(0.01)
        server.process.terminate()
        await asyncio.sleep(120)

    stream_items: Any = idle() if kind == "blocking" else idle_in_the_loop()
    with pytest.raises(StreamUnavailable) as raised:
        await collect(read(kind, server.address, stream_items, target=STRING), outcomes)
    stopped.set()
    assert ([("0", True)], "SHUTTING_DOWN", ()) == (
        summarize(outcomes),
        raised.value.reason,
        raised.value.unanswered,
    )


async def test_streams_can_be_used_with_explicit_sends(shared_server: RunningServer) -> None:
    """Items are sent and outcomes read by separate calls."""
    async with (
        Client(shared_server.address, timeout=120) as client,
        client.stream(target=STRING) as stream,
    ):
        for id_, item in items("x", 1):
            await stream.send(id_, item)
        first = await anext(stream)
        await stream.finish()
        assert [("0", True), ("1", False)] == summarize(
            [first, *[outcome async for outcome in stream]]
        )
        with pytest.raises(ValueError, match="accepts no more items"):
            await stream.send("2", Item(Arguments(1)))


def test_blocking_streams_can_be_used_with_explicit_sends(
    shared_server: RunningServer,
) -> None:
    """Items are sent and outcomes read by separate calls."""
    with (
        BlockingClient(shared_server.address, timeout=120) as client,
        client.stream(target=STRING) as stream,
    ):
        for id_, item in items("x", 1):
            stream.send(id_, item)
        first = next(stream)
        stream.finish()
        assert [("0", True), ("1", False)] == summarize([first, *stream])
        with pytest.raises(ValueError, match="accepts no more items"):
            stream.send("2", Item(Arguments(1)))


async def test_an_outstanding_bound_of_zero_is_an_error() -> None:
    """The number of outstanding items must be positive."""
    async with Client("127.0.0.1:1") as client:
        with pytest.raises(ValueError, match="outstanding"):
            client.stream(outstanding=0)
