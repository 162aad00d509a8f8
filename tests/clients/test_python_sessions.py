"""Sessions of the Python client with a real server, asynchronous and blocking."""

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
    StreamClosed,
    StreamUnavailable,
)
from support.clients import CLIENT_KINDS
from support.running import RunningServer

Check: TypeAlias = Callable[..., Any]


@asynccontextmanager
async def session(kind: str, address: str, **settings: Any) -> AsyncIterator[Check]:
    """Open a session and yield its `check`; a blocking one waits in a thread."""
    if kind == "blocking":
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


@pytest.fixture(params=CLIENT_KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return each kind of client in turn."""
    return str(request.param)


def ping(id_: int) -> dict[str, Any]:
    """Return a request with that id."""
    return {"jsonrpc": "2.0", "id": id_, "method": "ping"}


def codes(answer: CheckResult) -> list[str]:
    """Return the codes of the errors."""
    return [found.code for found in answer.verdict.violations if found.severity is Severity.ERROR]


async def test_a_session_remembers(kind: str, shared_server: RunningServer) -> None:
    """Each side may use an id once; the error response is returned."""
    async with session(kind, shared_server.address, context=ProtocolContext("2025-11-25")) as check:
        first = await check(ping(1), sender="client")
        other = await check(ping(1), sender="server")
        again = await check(ping(1), sender="client")
    assert [[], [], ["REQUEST_ID_REUSED"]] == [codes(one) for one in (first, other, again)]
    assert 1 == again.error_response.value["id"]


async def test_sessions_are_independent(kind: str, shared_server: RunningServer) -> None:
    """Even concurrent sessions of one client."""
    async with (
        session(kind, shared_server.address) as one,
        session(kind, shared_server.address) as other,
    ):
        assert [[], []] == [codes(await check(ping(1), sender="client")) for check in (one, other)]


async def test_options_hold_for_a_session(kind: str, shared_server: RunningServer) -> None:
    """They are given once."""
    broken = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    told = []
    for options in (None, CheckOptions(max_violations=1)):
        async with session(kind, shared_server.address, options=options) as check:
            told.append(len((await check(broken, sender="client")).verdict.violations))
    assert told[0] > 1
    assert 1 == told[1]


async def test_a_message_that_cannot_be_checked_does_not_end_the_session(
    kind: str, shared_server: RunningServer
) -> None:
    """Because it cannot be encoded, is too large, or is not JSON."""
    async with session(kind, shared_server.address) as check:
        with pytest.raises(TypeError, match="values of type set have no JSON form"):
            await check({"id": {1}}, sender="client")
        with pytest.raises(SidecheckError, match="LIMIT_EXCEEDED"):
            await check(b'"%s"' % (b"x" * (5 << 20)), sender="client")
        assert ["PAYLOAD_NOT_JSON"] == codes(await check(b"{", sender="client"))
        assert [] == codes(await check(ping(1), sender="client"))


@pytest.mark.parametrize("outstanding", [1, 64])
async def test_tasks_share_a_session(shared_server: RunningServer, outstanding: int) -> None:
    """Each gets its own result, and messages are checked in the order of the calls."""
    settings: dict[str, Any] = {
        "context": ProtocolContext("2025-11-25"),
        "outstanding": outstanding,
    }
    async with session("asynchronous", shared_server.address, **settings) as check:
        answers = await asyncio.gather(
            *(check(ping(at // 2), sender="client") for at in range(400))
        )
    expected = [["REQUEST_ID_REUSED"] if at % 2 else [] for at in range(400)]
    assert expected == [codes(answer) for answer in answers]


@pytest.mark.parametrize("outstanding", [1, 64])
def test_threads_share_a_session(shared_server: RunningServer, outstanding: int) -> None:
    """Each gets the result of its own message."""
    with (
        BlockingClient(shared_server.address, timeout=120) as client,
        client.protocol.session(
            context=ProtocolContext("2025-11-25"), outstanding=outstanding
        ) as held,
        ThreadPoolExecutor(8) as threads,
    ):
        answers = threads.map(
            lambda at: held.check(ping(at) if at % 3 else b"{", sender="client"), range(300)
        )
        expected = [[] if at % 3 else ["PAYLOAD_NOT_JSON"] for at in range(300)]
        assert expected == [codes(answer) for answer in answers]


@pytest.mark.parametrize("seconds", [0, 0.001, 0.02])
async def test_a_cancelled_caller_does_not_affect_the_others(
    shared_server: RunningServer, seconds: float
) -> None:
    """Cancelled before sending, while reading or while waiting: its message is checked."""
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
    kind: str, server: RunningServer
) -> None:
    """For the current and all later messages, under every policy."""
    async with session(kind, server.address) as check:
        assert [] == codes(await check(ping(1), sender="client"))
        server.process.kill()
        server.process.wait()
        for at in (2, 3):
            with pytest.raises(StreamUnavailable):
                await check(ping(at), sender="client")


async def test_leaving_a_session_forgets_its_state(shared_server: RunningServer) -> None:
    """A new session starts anew."""
    async with session("asynchronous", shared_server.address) as check:
        await check(ping(1), sender="client")
    with pytest.raises(StreamClosed):
        await check(ping(2), sender="client")


async def test_a_session_must_be_entered(shared_server: RunningServer) -> None:
    """Of either kind."""
    said = "the stream is not open; enter it using with first"
    async with Client(shared_server.address, timeout=120) as client:
        with pytest.raises(RuntimeError, match=said):
            await client.protocol.session().check(ping(1))
    with (
        BlockingClient(shared_server.address, timeout=120) as blocking,
        pytest.raises(RuntimeError, match=said),
    ):
        blocking.protocol.session().check(ping(1))


async def test_under_an_unknown_version_nothing_is_checked(
    kind: str, shared_server: RunningServer
) -> None:
    """Every message is an error."""
    async with session(kind, shared_server.address, context=ProtocolContext("2020-01-01")) as check:
        for at in (1, 2):
            with pytest.raises(SidecheckError, match="UNKNOWN_PROTOCOL_VERSION"):
                await check(ping(at), sender="client")
