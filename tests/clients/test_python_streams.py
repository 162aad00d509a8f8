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


async def streamed(kind: str, address: str, given: Any, **settings: Any) -> list[StreamOutcome]:
    """Return all outcomes."""
    return [answer async for answer in read(kind, address, given, **settings)]


@pytest.fixture(params=CLIENT_KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return each kind of client in turn."""
    return str(request.param)


async def test_a_stream_has_one_outcome_per_item(kind: str, shared_server: RunningServer) -> None:
    """In order and with the caller's ids; errors are outcomes."""
    largest = b'"%s"' % (b"x" * (5 << 20))
    given = [
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
    ] == summarize(await streamed(kind, shared_server.address, given, target=STRING))


async def test_options_hold_for_a_stream(kind: str, shared_server: RunningServer) -> None:
    """Those of an item replace them as a whole."""
    given = [
        ("shared", Item(Arguments(1))),
        ("own", Item(Arguments(1), options=Options(max_violations=1))),
    ]
    options = Options(detail=Detail.VERDICT_ONLY)
    found = await streamed(kind, shared_server.address, given, target=STRING, options=options)
    assert [("shared", 0), ("own", 1)] == [
        (id_, len(outcome.violations)) for id_, outcome in found if isinstance(outcome, Verdict)
    ]


@pytest.mark.parametrize("outstanding", [1, 64])
async def test_a_stream_may_be_long(
    kind: str, shared_server: RunningServer, outstanding: int
) -> None:
    """With any number of items outstanding."""
    many = items(*[at if at % 7 == 0 else "x" for at in range(500)])
    found = await streamed(
        kind, shared_server.address, many, target=STRING, outstanding=outstanding
    )
    assert [(str(at), at % 7 != 0) for at in range(500)] == summarize(found)


async def test_an_empty_stream_has_no_outcomes(kind: str, shared_server: RunningServer) -> None:
    """The iteration ends."""
    assert [] == await streamed(kind, shared_server.address, [])


async def test_items_may_come_as_they_arise(shared_server: RunningServer) -> None:
    """An outcome arrives before the next item is sent."""
    answered = asyncio.Event()

    async def arise() -> AsyncIterator[tuple[str, Item]]:
        for at in range(3):
            yield str(at), Item(Arguments("x"))
            await answered.wait()
            answered.clear()

    found = []
    async with Client(shared_server.address, timeout=120) as client:
        async for id_, _ in client.validate_stream(arise(), target=STRING):
            found.append(id_)
            answered.set()
    assert ["0", "1", "2"] == found


async def test_a_slow_reader_blocks_the_sender(kind: str, shared_server: RunningServer) -> None:
    """At most *outstanding* items and the waiting item are taken."""
    taken: list[int] = []

    def endless() -> Iterator[tuple[str, Item]]:
        for at in count():
            taken.append(at)
            yield str(at), Item(Arguments("x"))

    answers = read(kind, shared_server.address, endless(), target=STRING, outstanding=5)
    async with aclosing(answers):
        for _ in range(3):
            await anext(answers)
        while len(taken) < 3 + 5 + 1:  # noqa: ASYNC110  (they are taken in another thread)
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        assert 3 + 5 + 1 == len(taken)


async def test_an_error_of_the_items_is_raised_after_the_outcomes(
    kind: str, shared_server: RunningServer
) -> None:
    """Items sent before have outcomes."""

    def failing() -> Iterator[tuple[str, Item]]:
        yield from items("x", 1)
        raise LookupError("no more")

    found: list[StreamOutcome] = []
    with pytest.raises(LookupError, match="no more"):
        await collect(read(kind, shared_server.address, failing(), target=STRING), found)
    assert [("0", True), ("1", False)] == summarize(found)


async def test_a_server_that_stops_ends_the_stream(kind: str, server: RunningServer) -> None:
    """Earlier outcomes are kept; the reader gets the error even if no item is sent."""
    stopped = threading.Event()
    found: list[StreamOutcome] = []

    def idle() -> Iterator[tuple[str, Item]]:
        yield from items("x")
        while not found:
            stopped.wait(0.01)
        server.process.terminate()
        stopped.wait(120)

    async def idle_in_the_loop() -> AsyncIterator[tuple[str, Item]]:
        yield items("x")[0]
        while not found:  # noqa: ASYNC110  (it is a list)
            await asyncio.sleep(0.01)
        server.process.terminate()
        await asyncio.sleep(120)

    given: Any = idle() if kind == "blocking" else idle_in_the_loop()
    with pytest.raises(StreamUnavailable) as raised:
        await collect(read(kind, server.address, given, target=STRING), found)
    stopped.set()
    assert ([("0", True)], "SHUTTING_DOWN", ()) == (
        summarize(found),
        raised.value.reason,
        raised.value.unanswered,
    )


async def test_streams_can_be_driven_by_hand(shared_server: RunningServer) -> None:
    """One task sends and another reads."""
    async with (
        Client(shared_server.address, timeout=120) as client,
        client.stream(target=STRING) as stream,
    ):
        for id_, item in items("x", 1):
            await stream.send(id_, item)
        first = await anext(stream)
        await stream.finish()
        assert [("0", True), ("1", False)] == summarize(
            [first, *[answer async for answer in stream]]
        )
        with pytest.raises(ValueError, match="accepts no more items"):
            await stream.send("2", Item(Arguments(1)))


def test_blocking_streams_can_be_driven_by_hand(
    shared_server: RunningServer,
) -> None:
    """With threads."""
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


async def test_bounds_of_no_items_are_errors() -> None:
    """The number of outstanding items must be positive."""
    async with Client("127.0.0.1:1") as client:
        with pytest.raises(ValueError, match="outstanding"):
            client.stream(outstanding=0)
