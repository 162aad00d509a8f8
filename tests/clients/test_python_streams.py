"""The Python client holds streams with a real server, with both of its faces."""

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
    StreamUnavailable,
    Verdict,
)
from sidecheck.streams import Answer
from support.clients import FACES
from support.running import RunningServer
from support.stream_readers import collect, items, take, told

STRING = Schema({"type": "string"})
TIDES = RegisteredTool("weather", "get_tides")


async def streamed(face: str, address: str, given: Any, **settings: Any) -> list[Answer]:
    """Return all answers to the items *given*."""
    return [answer async for answer in take(face, address, given, **settings)]


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> str:
    """Return each face of the client in turn."""
    return str(request.param)


async def test_a_stream_is_answered_item_by_item(face: str, shared_server: RunningServer) -> None:
    """In its order and under the caller's ids; refusals stand where verdicts would."""
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
    ] == told(await streamed(face, shared_server.address, given, target=STRING))


async def test_options_hold_for_a_stream(face: str, shared_server: RunningServer) -> None:
    """An item's own replace them as a whole."""
    given = [
        ("shared", Item(Arguments(1))),
        ("own", Item(Arguments(1), options=Options(max_violations=1))),
    ]
    options = Options(detail=Detail.VERDICT_ONLY)
    found = await streamed(face, shared_server.address, given, target=STRING, options=options)
    assert [("shared", 0), ("own", 1)] == [
        (id_, len(outcome.violations)) for id_, outcome in found if isinstance(outcome, Verdict)
    ]


@pytest.mark.parametrize("outstanding", [1, 64])
async def test_a_stream_may_be_long(
    face: str, shared_server: RunningServer, outstanding: int
) -> None:
    """Every item has its answer, however many are on their way."""
    many = items(*[at if at % 7 == 0 else "x" for at in range(500)])
    found = await streamed(
        face, shared_server.address, many, target=STRING, outstanding=outstanding
    )
    assert [(str(at), at % 7 != 0) for at in range(500)] == told(found)


async def test_an_empty_stream_has_no_answers(face: str, shared_server: RunningServer) -> None:
    """It ends."""
    assert [] == await streamed(face, shared_server.address, [])


async def test_items_may_come_as_they_arise(shared_server: RunningServer) -> None:
    """An answer is there before the next item is."""
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


async def test_a_slow_taker_holds_up_the_sender(face: str, shared_server: RunningServer) -> None:
    """No more items are taken than may be outstanding, and the one that waits."""
    taken: list[int] = []

    def endless() -> Iterator[tuple[str, Item]]:
        for at in count():
            taken.append(at)
            yield str(at), Item(Arguments("x"))

    answers = take(face, shared_server.address, endless(), target=STRING, outstanding=5)
    async with aclosing(answers):
        for _ in range(3):
            await anext(answers)
        while len(taken) < 3 + 5 + 1:  # noqa: ASYNC110  (they are taken in another thread)
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        assert 3 + 5 + 1 == len(taken)


async def test_what_the_items_raise_is_raised_after_the_answers(
    face: str, shared_server: RunningServer
) -> None:
    """What was sent by then is worth its answer."""

    def failing() -> Iterator[tuple[str, Item]]:
        yield from items("x", 1)
        raise LookupError("no more")

    found: list[Answer] = []
    with pytest.raises(LookupError, match="no more"):
        await collect(take(face, shared_server.address, failing(), target=STRING), found)
    assert [("0", True), ("1", False)] == told(found)


async def test_a_server_that_stops_ends_the_stream(face: str, server: RunningServer) -> None:
    """What was answered before stays; whoever takes is told at once, though no item is sent."""
    stopped = threading.Event()
    found: list[Answer] = []

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

    given: Any = idle() if face == "blocking" else idle_in_the_loop()
    with pytest.raises(StreamUnavailable) as raised:
        await collect(take(face, server.address, given, target=STRING), found)
    stopped.set()
    assert ([("0", True)], "SHUTTING_DOWN", ()) == (
        told(found),
        raised.value.reason,
        raised.value.unanswered,
    )


async def test_items_are_sent_and_answers_taken_by_hand(shared_server: RunningServer) -> None:
    """One task or thread sends, another one takes."""
    async with (
        Client(shared_server.address, timeout=120) as client,
        client.stream(target=STRING) as stream,
    ):
        for id_, item in items("x", 1):
            await stream.send(id_, item)
        first = await anext(stream)
        await stream.finish()
        assert [("0", True), ("1", False)] == told([first, *[answer async for answer in stream]])
        with pytest.raises(ValueError, match="takes no more items"):
            await stream.send("2", Item(Arguments(1)))


def test_items_are_sent_and_answers_taken_by_hand_while_waiting(
    shared_server: RunningServer,
) -> None:
    """The blocking stream is the mirror image of the other."""
    with (
        BlockingClient(shared_server.address, timeout=120) as client,
        client.stream(target=STRING) as stream,
    ):
        for id_, item in items("x", 1):
            stream.send(id_, item)
        first = next(stream)
        stream.finish()
        assert [("0", True), ("1", False)] == told([first, *stream])
        with pytest.raises(ValueError, match="takes no more items"):
            stream.send("2", Item(Arguments(1)))


async def test_bounds_of_no_items_are_errors() -> None:
    """A stream that could never take an item is not made."""
    async with Client("127.0.0.1:1") as client:
        with pytest.raises(ValueError, match="outstanding"):
            client.stream(outstanding=0)
