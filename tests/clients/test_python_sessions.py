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
    RepeatedViolation,
    SessionSummary,
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
    """Open a session and yield its `check`; blocking calls run in a thread."""
    if kind == "blocking":
        with BlockingClient(address, timeout=120) as client:
            blocking_session = await asyncio.to_thread(
                client.protocol.session(**settings).__enter__
            )

            async def check(*arguments: Any, **options: Any) -> CheckResult:
                return await asyncio.to_thread(blocking_session.check, *arguments, **options)

            try:
                yield check
            finally:
                await asyncio.to_thread(blocking_session.__exit__)
    else:
        async with Client(address, timeout=120) as aio, aio.protocol.session(**settings) as opened:
            yield opened.check


@pytest.fixture(params=CLIENT_KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return a kind of client."""
    return str(request.param)


def ping(id_: int) -> dict[str, Any]:
    """Return a ping request with this id."""
    return {"jsonrpc": "2.0", "id": id_, "method": "ping"}


def codes(result: CheckResult) -> list[str]:
    """Return the codes of the errors of a check result."""
    return [
        violation.code
        for violation in result.verdict.violations
        if violation.severity is Severity.ERROR
    ]


async def test_a_session_remembers_request_ids(kind: str, shared_server: RunningServer) -> None:
    """Each side may use an id once; the result has the error response to send."""
    async with session(kind, shared_server.address, context=ProtocolContext("2025-11-25")) as check:
        first = await check(ping(1), sender="client")
        response = await check(ping(1), sender="server")
        repeated = await check(ping(1), sender="client")
    assert [[], [], ["REQUEST_ID_REUSED"]] == [
        codes(result) for result in (first, response, repeated)
    ]
    assert 1 == repeated.error_response.value["id"]


async def test_sessions_are_independent(kind: str, shared_server: RunningServer) -> None:
    """Concurrent sessions do not share request ids."""
    async with (
        session(kind, shared_server.address) as first_check,
        session(kind, shared_server.address) as second_check,
    ):
        assert [[], []] == [
            codes(await check(ping(1), sender="client")) for check in (first_check, second_check)
        ]


async def test_options_hold_for_a_session(kind: str, shared_server: RunningServer) -> None:
    """Options are passed when the session is opened."""
    broken = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    counts = []
    for options in (None, CheckOptions(max_violations=1)):
        async with session(kind, shared_server.address, options=options) as check:
            counts.append(len((await check(broken, sender="client")).verdict.violations))
    assert counts[0] > 1
    assert 1 == counts[1]


async def test_a_message_that_cannot_be_checked_does_not_end_the_session(
    kind: str, shared_server: RunningServer
) -> None:
    """The message cannot be encoded, is too large, or is not JSON."""
    async with session(kind, shared_server.address) as check:
        with pytest.raises(ValueError, match="message: /id is of type complex, which has no JSON"):
            await check({"id": 1j}, sender="client")
        with pytest.raises(SidecheckError, match="LIMIT_EXCEEDED"):
            await check(b'"%s"' % (b"x" * (5 << 20)), sender="client")
        assert ["PAYLOAD_NOT_JSON"] == codes(await check(b"{", sender="client"))
        assert [] == codes(await check(ping(1), sender="client"))


LOG = {
    "jsonrpc": "2.0",
    "method": "notifications/message",
    "params": {"level": "info", "data": "ready"},
}
REPEATED = SessionSummary(
    repeated_violations=(
        RepeatedViolation(code="LOGGING_DEPRECATED", tool="", count=3, first_item=1),
    )
)


async def test_a_finished_session_counts_repeated_violations(shared_server: RunningServer) -> None:
    """The verdict on the first message has the violation, and the summary the count."""
    context = ProtocolContext("2026-07-28")
    async with (
        Client(shared_server.address, timeout=120) as client,
        client.protocol.session(context=context, from_beginning=False) as opened,
    ):
        await opened.check(ping(1), sender="client")
        first, *others = [await opened.check(LOG, sender="server") for _ in range(3)]
        assert ["LOGGING_DEPRECATED"] == [violation.code for violation in first.verdict.violations]
        assert [(), ()] == [outcome.verdict.violations for outcome in others]
        assert REPEATED == await opened.finish()
        with pytest.raises(ValueError, match="the stream is finished"):
            await opened.check(LOG, sender="server")


def test_a_finished_session_counts_repeated_violations_blocking(
    shared_server: RunningServer,
) -> None:
    """A session without such violations has an empty summary."""
    context = ProtocolContext("2026-07-28")
    with BlockingClient(shared_server.address, timeout=120) as client:
        with client.protocol.session(context=context, from_beginning=False) as opened:
            opened.check(ping(1), sender="client")
            for _ in range(3):
                opened.check(LOG, sender="server")
            assert REPEATED == opened.finish()
        with client.protocol.session() as opened:
            assert SessionSummary(repeated_violations=()) == opened.finish()


async def test_a_rejected_message_may_be_sent_again(
    kind: str, shared_server: RunningServer
) -> None:
    """The status of the HTTP response tells that it was rejected."""
    async with session(kind, shared_server.address, context=ProtocolContext("2025-11-25")) as check:
        rejected = await check(ping(1), sender="client", http_status=401)
        repeated = await check(ping(1), sender="client")
        again = await check(ping(1), sender="client", http_status=200)
        with pytest.raises(SidecheckError, match="http_status must be a status of HTTP"):
            await check(ping(2), sender="client", http_status=7)
    assert [[], [], ["REQUEST_ID_REUSED"]] == [
        codes(outcome) for outcome in (rejected, repeated, again)
    ]


@pytest.mark.parametrize("outstanding", [1, 64])
async def test_tasks_share_a_session(shared_server: RunningServer, outstanding: int) -> None:
    """Every task has its own result; messages are checked in the order of the calls."""
    settings: dict[str, Any] = {
        "context": ProtocolContext("2025-11-25"),
        "outstanding": outstanding,
    }
    async with session("asynchronous", shared_server.address, **settings) as check:
        results = await asyncio.gather(
            *(check(ping(index // 2), sender="client") for index in range(400))
        )
    expected = [["REQUEST_ID_REUSED"] if index % 2 else [] for index in range(400)]
    assert expected == [codes(result) for result in results]


@pytest.mark.parametrize("outstanding", [1, 64])
def test_threads_share_a_session(shared_server: RunningServer, outstanding: int) -> None:
    """Every thread gets the result of its own message."""
    with (
        BlockingClient(shared_server.address, timeout=120) as client,
        client.protocol.session(
            context=ProtocolContext("2025-11-25"), outstanding=outstanding
        ) as blocking_session,
        ThreadPoolExecutor(8) as threads,
    ):
        results = threads.map(
            lambda index: blocking_session.check(
                ping(index) if index % 3 else b"{", sender="client"
            ),
            range(300),
        )
        expected = [[] if index % 3 else ["PAYLOAD_NOT_JSON"] for index in range(300)]
        assert expected == [codes(result) for result in results]


@pytest.mark.parametrize("seconds", [0, 0.001, 0.02])
async def test_a_cancelled_caller_does_not_affect_the_others(
    shared_server: RunningServer, seconds: float
) -> None:
    """Cancelled before sending, while reading or while waiting: its message is checked."""
    # Large enough that all other messages are sent before its check is complete.
    large = {**ping(0), "params": {"_meta": {"n": [0] * 500_000}}}
    async with session("asynchronous", shared_server.address) as check:
        messages = [large, *map(ping, range(1, 8))]
        tasks = [asyncio.create_task(check(message, sender="client")) for message in messages]
        last = asyncio.create_task(check(b"{", sender="client"))
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()
        assert ["PAYLOAD_NOT_JSON"] == codes(await last)
        assert all(task.cancelled() for task in tasks)
        assert ["REQUEST_ID_REUSED"] == codes(await check(ping(0), sender="client"))


async def test_the_end_of_the_server_is_the_end_of_a_session(
    kind: str, server: RunningServer
) -> None:
    """The current and all later messages raise an error."""
    async with session(kind, server.address) as check:
        assert [] == codes(await check(ping(1), sender="client"))
        server.process.kill()
        server.process.wait()
        for index in (2, 3):
            with pytest.raises(StreamUnavailable):
                await check(ping(index), sender="client")


async def test_a_closed_session_checks_no_messages(shared_server: RunningServer) -> None:
    """A check after the session was closed raises `StreamClosed`."""
    async with session("asynchronous", shared_server.address) as check:
        await check(ping(1), sender="client")
    with pytest.raises(StreamClosed):
        await check(ping(2), sender="client")


async def test_a_session_must_be_entered(shared_server: RunningServer) -> None:
    """A check before the session is entered is an error."""
    message = "the stream is not open; enter it using with first"
    async with Client(shared_server.address, timeout=120) as client:
        with pytest.raises(RuntimeError, match=message):
            await client.protocol.session().check(ping(1))
    with (
        BlockingClient(shared_server.address, timeout=120) as blocking,
        pytest.raises(RuntimeError, match=message),
    ):
        blocking.protocol.session().check(ping(1))


async def test_messages_of_an_unknown_version_are_not_checked(
    kind: str, shared_server: RunningServer
) -> None:
    """Every check raises an error."""
    async with session(kind, shared_server.address, context=ProtocolContext("2020-01-01")) as check:
        for index in (1, 2):
            with pytest.raises(SidecheckError, match="UNKNOWN_PROTOCOL_VERSION"):
                await check(ping(index), sender="client")
