"""The Python client holds sessions with a real server, with both of its faces."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import pytest
from sidecheck import (
    BlockingClient,
    CheckOptions,
    CheckResult,
    Client,
    ProtocolContext,
    Severity,
    SidecheckError,
    StreamEnded,
    StreamUnavailable,
)
from support.clients import FACES
from support.running import RunningServer

Check: TypeAlias = Callable[..., Any]


@asynccontextmanager
async def session(face: str, address: str, **settings: Any) -> AsyncIterator[Check]:
    """Open a session and yield its `check`; a blocking one waits in a thread."""
    if face == "blocking":
        with BlockingClient(address, timeout=120) as client:
            held = await asyncio.to_thread(client.protocol.session(**settings).__enter__)

            async def check(*arguments: Any, **how: Any) -> CheckResult:
                return await asyncio.to_thread(held.check, *arguments, **how)

            try:
                yield check
            finally:
                await asyncio.to_thread(held.__exit__)
    else:
        async with Client(address, timeout=120) as aio, aio.protocol.session(**settings) as opened:
            yield opened.check


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> str:
    """Return each face of the client in turn."""
    return str(request.param)


def ping(id_: int) -> dict[str, Any]:
    """Return a request with that id."""
    return {"jsonrpc": "2.0", "id": id_, "method": "ping"}


def codes(answer: CheckResult) -> list[str]:
    """Return the codes of the errors that were found."""
    return [found.code for found in answer.verdict.violations if found.severity is Severity.ERROR]


async def test_a_session_remembers(face: str, shared_server: RunningServer) -> None:
    """An id is used once by each side, and the reply is ready."""
    async with session(face, shared_server.address, peers=ProtocolContext("2025-11-25")) as check:
        first = await check(ping(1), sender="client")
        other = await check(ping(1), sender="server")
        again = await check(ping(1), sender="client")
    assert [[], [], ["REQUEST_ID_REUSED"]] == [codes(one) for one in (first, other, again)]
    assert 1 == again.reply.value["id"]


async def test_sessions_know_nothing_of_each_other(face: str, shared_server: RunningServer) -> None:
    """Also those of one client at one time."""
    async with (
        session(face, shared_server.address) as one,
        session(face, shared_server.address) as other,
    ):
        assert [[], []] == [codes(await check(ping(1), sender="client")) for check in (one, other)]


async def test_options_hold_for_a_session(face: str, shared_server: RunningServer) -> None:
    """They are said once."""
    broken = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    told = []
    for options in (None, CheckOptions(max_violations=1)):
        async with session(face, shared_server.address, options=options) as check:
            told.append(len((await check(broken, sender="client")).verdict.violations))
    assert told[0] > 1
    assert 1 == told[1]


async def test_a_message_that_cannot_be_checked_costs_the_session_nothing(
    face: str, shared_server: RunningServer
) -> None:
    """Whether it cannot be sent, is too large, or is no JSON."""
    async with session(face, shared_server.address) as check:
        with pytest.raises(TypeError, match="a set has no form in JSON"):
            await check({"id": {1}}, sender="client")
        with pytest.raises(SidecheckError, match="LIMIT_EXCEEDED"):
            await check(b'"%s"' % (b"x" * (5 << 20)), sender="client")
        assert ["PAYLOAD_NOT_JSON"] == codes(await check(b"{", sender="client"))
        assert [] == codes(await check(ping(1), sender="client"))


@pytest.mark.parametrize("outstanding", [1, 64])
async def test_tasks_share_a_session(shared_server: RunningServer, outstanding: int) -> None:
    """Each has its own answer, and messages are checked in the order of the calls."""
    settings: dict[str, Any] = {"peers": ProtocolContext("2025-11-25"), "outstanding": outstanding}
    async with session("asynchronous", shared_server.address, **settings) as check:
        answers = await asyncio.gather(
            *(check(ping(at // 2), sender="client") for at in range(400))
        )
    expected = [["REQUEST_ID_REUSED"] if at % 2 else [] for at in range(400)]
    assert expected == [codes(answer) for answer in answers]


@pytest.mark.parametrize("outstanding", [1, 64])
def test_threads_share_a_session(shared_server: RunningServer, outstanding: int) -> None:
    """Each has the answer to its own message."""
    with (
        BlockingClient(shared_server.address, timeout=120) as client,
        client.protocol.session(
            peers=ProtocolContext("2025-11-25"), outstanding=outstanding
        ) as held,
        ThreadPoolExecutor(8) as threads,
    ):
        answers = threads.map(
            lambda at: held.check(ping(at) if at % 3 else b"{", sender="client"), range(300)
        )
        expected = [[] if at % 3 else ["PAYLOAD_NOT_JSON"] for at in range(300)]
        assert expected == [codes(answer) for answer in answers]


@pytest.mark.parametrize("seconds", [0, 0.001, 0.02])
async def test_who_waits_no_more_costs_the_others_nothing(
    shared_server: RunningServer, seconds: float
) -> None:
    """Cancelled before it sent, while it read or while it waited: its message is checked."""
    # It takes the server long enough for all others to be sent behind it.
    large = {**ping(0), "params": {"_meta": {"n": [0] * 500_000}}}
    async with session("asynchronous", shared_server.address) as check:
        messages = [large, *map(ping, range(1, 8))]
        waiting = [asyncio.create_task(check(one, sender="client")) for one in messages]
        last = asyncio.create_task(check(b"{", sender="client"))
        await asyncio.sleep(seconds)
        for task in waiting:
            task.cancel()
        assert ["PAYLOAD_NOT_JSON"] == codes(await last)
        assert all(task.cancelled() for task in waiting)
        assert ["REQUEST_ID_REUSED"] == codes(await check(ping(0), sender="client"))


async def test_the_end_of_the_server_is_the_end_of_a_session(
    face: str, server: RunningServer
) -> None:
    """For the message at hand and every later one, and whatever the policy says."""
    async with session(face, server.address) as check:
        assert [] == codes(await check(ping(1), sender="client"))
        server.process.kill()
        server.process.wait()
        for at in (2, 3):
            with pytest.raises(StreamUnavailable):
                await check(ping(at), sender="client")


async def test_a_session_that_was_left_is_over(shared_server: RunningServer) -> None:
    """What was learned in it is gone."""
    async with session("asynchronous", shared_server.address) as check:
        await check(ping(1), sender="client")
    with pytest.raises(StreamEnded):
        await check(ping(2), sender="client")


async def test_a_session_that_was_not_entered_says_so(shared_server: RunningServer) -> None:
    """With either face."""
    said = "a stream is entered, using with, before it is used"
    async with Client(shared_server.address, timeout=120) as client:
        with pytest.raises(RuntimeError, match=said):
            await client.protocol.session().check(ping(1))
    with (
        BlockingClient(shared_server.address, timeout=120) as blocking,
        pytest.raises(RuntimeError, match=said),
    ):
        blocking.protocol.session().check(ping(1))


async def test_under_an_unknown_version_nothing_is_checked(
    face: str, shared_server: RunningServer
) -> None:
    """Every message is refused."""
    async with session(face, shared_server.address, peers=ProtocolContext("2020-01-01")) as check:
        for at in (1, 2):
            with pytest.raises(SidecheckError, match="UNKNOWN_PROTOCOL_VERSION"):
                await check(ping(at), sender="client")
