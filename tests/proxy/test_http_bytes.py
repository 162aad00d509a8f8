"""The budget of the bytes of large messages that the proxy over HTTP holds."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from sidecheck_server.config.policies import Policies, Policy
from sidecheck_server.proxy.http.bounds import HttpBounds
from sidecheck_server.proxy.http.bytes import SMALL, ByteBudgetError, BytesInFlight, HeldBytes
from sidecheck_server.proxy.http.checks import CallerCheck
from sidecheck_server.proxy.http.connections import HttpConnections
from sidecheck_server.proxy.http.listing import HttpListings
from sidecheck_server.proxy.http.proxy import HttpProxy
from sidecheck_server.proxy.http.sse_transport import SseTransport
from sidecheck_server.proxy.http.upstream import Upstream
from sidecheck_server.proxy.http_limits import HttpLimits
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.report import Report
from sidecheck_server.proxy.rulings.listings import Listings
from sidecheck_server.proxy.rulings.pins import PinnedTools
from sidecheck_server.proxy.rulings.session import ProxySession
from starlette.requests import Request
from starlette.responses import Response
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import ACCEPT, CALL_HEADERS, call
from support.running_proxy import local_checks

KIB = 1 << 10
CAPACITY = 64 * KIB
MESSAGE = 30 * KIB
CLIENTS = 60
LIMITS = HttpLimits(bytes_in_flight=CAPACITY, write_seconds=0.2)


def test_small_messages_are_not_counted() -> None:
    """All of a message is, once it is larger."""

    async def run() -> list[int]:
        budget = BytesInFlight(CAPACITY)
        small, large = HeldBytes(budget), HeldBytes(budget)
        held_bytes = []
        await small.grow(SMALL)
        await large.grow(SMALL)
        held_bytes.append(budget.held_bytes)
        await large.grow(1)
        held_bytes.append(budget.held_bytes)
        large.shrink()
        held_bytes.append(budget.held_bytes)
        return held_bytes

    assert [0, SMALL + 1, 0] == asyncio.run(run())


def test_a_message_beyond_the_limit_is_rejected() -> None:
    """Its bytes count until it is released."""

    async def run() -> list[int]:
        budget = BytesInFlight(CAPACITY)
        first, second = HeldBytes(budget), HeldBytes(budget)
        await first.grow(40 * KIB)
        await second.grow(24 * KIB)
        with pytest.raises(ByteBudgetError):
            await second.grow(1)
        held_bytes = [budget.held_bytes]
        second.shrink()
        await first.grow(24 * KIB)
        return [*held_bytes, budget.held_bytes]

    assert [64 * KIB, 64 * KIB] == asyncio.run(run())


def test_messages_that_each_hold_a_part_do_not_wait_for_each_other() -> None:
    """One at a time may exceed the capacity; they end in the order of waiting."""

    async def run() -> tuple[list[str], int]:
        budget = BytesInFlight(CAPACITY, seconds=3600)
        ended, most = [], 0

        async def receive(name: str) -> None:
            nonlocal most
            message = HeldBytes(budget)
            for _ in range(4):
                await message.grow(16 * KIB)
                most = max(most, budget.held_bytes)
                await asyncio.sleep(0)
            message.shrink()
            ended.append(name)

        await asyncio.gather(*map(receive, "abcdef"))
        assert 0 == budget.held_bytes
        return ended, most

    ended, most = asyncio.run(run())

    assert sorted("abcdef") == sorted(ended)
    assert most <= CAPACITY + 4 * 16 * KIB


def test_an_abandoned_message_releases_its_bytes() -> None:
    """The messages behind it proceed."""

    async def run() -> int:
        budget = BytesInFlight(CAPACITY, seconds=3600)
        exempt, holder, waiting, last = (HeldBytes(budget) for _ in range(4))
        await holder.grow(CAPACITY)
        await exempt.grow(CAPACITY)
        task = asyncio.create_task(waiting.grow(CAPACITY))
        growing = asyncio.create_task(last.grow(CAPACITY))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        waiting.shrink()
        for message in (holder, exempt):
            message.shrink()
        await growing
        return budget.held_bytes

    assert CAPACITY == asyncio.run(run())


def test_a_message_waits_no_longer_than_its_time() -> None:
    """It is refused then."""

    async def run() -> int:
        budget = BytesInFlight(CAPACITY, seconds=0.01)
        holder, exempt, late = (HeldBytes(budget) for _ in range(3))
        await holder.grow(CAPACITY)
        await exempt.grow(CAPACITY)
        with pytest.raises(ByteBudgetError):
            await late.grow(CAPACITY)
        return budget.held_bytes

    assert 2 * CAPACITY == asyncio.run(run())


@asynccontextmanager
async def running_proxy(server: HttpMcpServer) -> AsyncIterator[tuple[HttpProxy, HttpBounds]]:
    """Yield a proxy before *server* as an application, and its bounds."""
    policies = Policies(Policy.AUDIT, Policy.AUDIT, Policy.AUDIT, Policy.AUDIT)
    pins = PinnedTools()
    report = Report(lambda _: None)
    options = ProxyOptions(
        policies, pins, None, None, "error", None, None, False, "warning", MESSAGE + KIB
    )
    bounds = HttpBounds(LIMITS, report)
    upstream = Upstream(server.url)
    with local_checks() as checks:
        make_listings = partial(Listings, checks, policies.tools, pins, report)
        listings = HttpListings(upstream, make_listings, options.max_message_bytes)
        make_session = partial(ProxySession, checks, policies, report)
        sessions = HttpConnections(listings, make_session)
        callers = CallerCheck("127.0.0.1", frozenset())
        sse = SseTransport(upstream, make_listings, make_session, report, None, options)
        yield HttpProxy(upstream, sessions, callers, report, None, options, bounds, sse), bounds
        await sessions.close()
        await upstream.close()


class Caller:
    """A client that may leave its body unfinished, and reads a response if *reads* is set."""

    def __init__(self, body: bytes, reads: asyncio.Event, *, finishes: bool) -> None:
        self._body = body
        self._reads = reads
        self._more_body = not finishes
        self._is_sent = False
        self.status = 0
        self.size = 0

    async def receive(self) -> Any:
        """Return the body, and end the request when the client reads."""
        if not self._is_sent:
            self._is_sent = True
            return {"type": "http.request", "body": self._body, "more_body": self._more_body}
        await self._reads.wait()
        if self._more_body:
            return {"type": "http.disconnect"}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(self, message: Any) -> None:
        """Take a part of the response; return when it is read."""
        self.status = message.get("status", self.status)
        if message.get("body"):
            self.size += len(message["body"])
            await self._reads.wait()

    async def call(self, proxy: HttpProxy) -> None:
        """Send the request."""
        headers = {"host": "127.0.0.1", "content-type": "application/json", **CALL_HEADERS}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "query_string": b"",
            "headers": [
                (name.encode(), value.encode()) for name, value in {**headers, **ACCEPT}.items()
            ],
        }
        await proxy(scope, self.receive, self.send)


@pytest.mark.parametrize("kind", ["bodies", "a response", "an event"])
def test_many_clients_with_unfinished_messages(server: HttpMcpServer, kind: str) -> None:
    """The bytes in memory never exceed the capacity by more than one message."""

    async def answer(request: Request, body: bytes) -> Response | None:
        if b"tools/call" not in body:
            return None
        text = json.dumps({"jsonrpc": "2.0", "id": 2, "result": {"text": "x" * 29 * KIB}})
        if kind == "an event":
            return Response(f"data: {text}\n\n", media_type="text/event-stream")
        return Response(text, media_type="application/json")

    async def run() -> None:
        reads = asyncio.Event()
        body = b'"' + b"x" * MESSAGE if kind == "bodies" else json.dumps(call()).encode()
        callers = [Caller(body, reads, finishes=kind != "bodies") for _ in range(CLIENTS)]
        async with running_proxy(server) as (proxy, bounds):
            tasks = [asyncio.create_task(caller.call(proxy)) for caller in callers]
            # All have a response that they do not read, or hold bytes and wait for the others.
            while sum(bool(caller.size) for caller in callers) < (
                CLIENTS - 2 if kind == "bodies" else CLIENTS
            ):
                await asyncio.sleep(0)
                most.append(max(bounds.requests.held_bytes, bounds.responses.held_bytes))
            reads.set()
            await asyncio.gather(*tasks)
            left.extend([bounds.requests.held_bytes, bounds.responses.held_bytes])
        statuses.update(caller.status for caller in callers)

    most: list[int] = []
    left: list[int] = []
    statuses: set[int] = set()
    server.answer = answer
    asyncio.run(run())

    assert MESSAGE < max(most) <= CAPACITY + MESSAGE + KIB
    assert [0, 0] == left
    assert {"bodies": {499, 503}, "a response": {200, 502}, "an event": {200}}[kind] == statuses
