"""Sidecheck gone, and back: what passes Envoy then, fail closed and fail open."""

import asyncio
import http.client
import json
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.responses import JSONResponse
from support.gateway import ENFORCE, Gateway, ext_proc_settings, running_gateway
from support.http_mcp_server import HttpMcpServer
from support.running import RunningServer
from support.running_envoy import Configuration

_SECONDS = 180
EVENT = b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"x"}}\n\n'


class Restartable:
    """A Sidecheck that can be killed and started again, at the same address."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self._start: Callable[..., RunningServer] = lambda *more: RunningServer(
            folder, *flags, *more, **ext_proc_settings(**ENFORCE)
        )
        self.running = self._start()
        self.address = self.running.address

    def kill(self) -> None:
        """Kill it, and wait."""
        self.running.process.kill()
        self.running.close()

    def stop(self) -> int:
        """Let it end, and return its exit code."""
        exit_code = self.running.terminate()
        self.running.close()
        return exit_code

    def restart(self) -> None:
        """Start it again."""
        self.running = self._start("--listen", self.address)


class Held(JSONResponse):
    """The result of a call, once *released*."""

    def __init__(self, message: Any, reached: threading.Event, released: threading.Event) -> None:
        result = {"content": [{"type": "text", "text": '{"n":1}'}], "structuredContent": {"n": 1}}
        super().__init__({"jsonrpc": "2.0", "id": message["id"], "result": result})
        self._reached, self._released = reached, released

    async def __call__(self, *arguments: Any) -> None:
        self._reached.set()
        await asyncio.to_thread(self._released.wait, _SECONDS)
        await super().__call__(*arguments)


@contextmanager
def blocked_calls(server: HttpMcpServer) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Hold calls in the block; yield an event of arrival and an event that releases them."""
    reached, released = threading.Event(), threading.Event()
    server.replace = lambda message: Held(message, reached, released)
    try:
        yield reached, released
    finally:
        released.set()
        server.replace = lambda _: None


@dataclass(frozen=True)
class Stream:
    """The stream of a GET: what the server sends, until None, and what the client gets."""

    parts: "queue.SimpleQueue[bytes | None]"
    received: Iterator[bytes]


@contextmanager
def open_stream(gateway: Gateway) -> Iterator[Stream]:
    """Yield the stream of a GET, after a first comment."""
    gateway.server.parts = parts = queue.SimpleQueue[bytes | None]()
    parts.put(b": hello\n\n")
    try:
        with gateway.client.stream("GET", gateway.url()) as response:
            received = response.iter_raw()
            assert b": hello\n\n" == next(received)
            yield Stream(parts, received)
    finally:
        parts.put(None)


def fail_open(configuration: Configuration) -> None:
    configuration.processor["failure_mode_allow"] = True


@contextmanager
def gateways(
    folder: Path, server: HttpMcpServer, address: str
) -> Iterator[tuple[Gateway, Gateway]]:
    """Yield a gateway that fails closed, as deployed, and one that fails open."""
    for name in ("closed", "open"):
        (folder / name).mkdir()
    with (
        running_gateway(folder / "closed", server, address) as closed,
        running_gateway(folder / "open", server, address, change=fail_open) as opened,
    ):
        for gateway in (closed, opened):
            gateway.begin()
        yield closed, opened


def codes(*responses: httpx.Response) -> list[tuple[int, Any]]:
    """Return the status of each response, and the code of its error, or its content."""
    return [
        (
            response.status_code,
            response.content
            and (
                response.json().get("error", {}).get("code")
                or response.json()["result"].get("structuredContent", "rejected")
            ),
        )
        for response in responses
    ]


def test_killed_and_started_again_with_a_registry_file(
    tmp_path: Path, scripted: HttpMcpServer
) -> None:
    """Tools are known at once; without Sidecheck, calls are refused, or pass."""
    sidecheck = Restartable(tmp_path, "--registry", str(tmp_path / "registry.db"))
    try:
        with gateways(tmp_path, scripted, sidecheck.address) as (closed, opened):
            before = codes(closed.call(do=3), opened.call(do=3))
            sidecheck.kill()
            scripted.requests.clear()
            without = codes(closed.call(do=3), opened.call(do=3), closed.call(), opened.call())
            passed = len(opened.received())
            sidecheck.restart()
            again = codes(closed.call(do=3), opened.call(do=3), closed.call(), opened.call())
    finally:
        sidecheck.running.close()

    assert [(200, "rejected")] * 2 == before
    assert [(500, b""), (200, {"n": 1})] * 2 == without
    assert 2 == passed
    assert [(200, "rejected")] * 2 + [(200, {"n": 1})] * 2 == again


def test_killed_in_a_call_and_stopped_in_a_stream(tmp_path: Path, scripted: HttpMcpServer) -> None:
    """Open exchanges are aborted, or continue unvalidated, by the policy."""
    sidecheck = Restartable(tmp_path)
    pool = ThreadPoolExecutor(2)
    try:
        with gateways(tmp_path, scripted, sidecheck.address) as (closed, opened):
            with blocked_calls(scripted) as (reached, released):
                calls = []
                for gateway in (closed, opened):
                    calls.append(pool.submit(gateway.call))
                    assert reached.wait(_SECONDS)
                    reached.clear()
                sidecheck.kill()
                released.set()
                in_call = codes(*(call.result(_SECONDS) for call in calls))
            sidecheck.restart()
            # Its registry is empty.
            again = codes(closed.call(), closed.post("tools/list"), closed.call())
            with open_stream(closed) as broken, open_stream(opened) as whole:
                exit_code = sidecheck.stop()
                with pytest.raises(httpx.RemoteProtocolError):
                    next(broken.received)
                broken.parts.put(None)
                whole.parts.put(EVENT)
                whole.parts.put(None)
                rest = b"".join(whole.received)
    finally:
        pool.shutdown()
        sidecheck.running.close()

    assert [(500, b""), (200, {"n": 1})] == in_call
    assert [(200, -32603), (200, "rejected"), (200, {"n": 1})] == again
    assert 0 == exit_code
    assert EVENT == rest


def test_exchanges_that_clients_leave_open_are_closed(
    tmp_path: Path, scripted: HttpMcpServer
) -> None:
    """Sidecheck admits one exchange, so an open one would block the next."""
    settings = ext_proc_settings(**ENFORCE)
    sidecheck = RunningServer(tmp_path, **settings, SIDECHECK_TRANSPORT__GATEWAY_STREAMS="1")
    try:
        with running_gateway(tmp_path, scripted, sidecheck) as gateway:
            gateway.begin()
            for _ in range(3):
                sidecheck.wait_for("gateway.completed")
            for _ in range(3):
                with blocked_calls(scripted) as (reached, _):
                    leaving = begin_call(gateway)
                    assert reached.wait(_SECONDS)
                    overload = gateway.call()
                    failed = sidecheck.wait_for("gateway.failed")
                    completed = sidecheck.wait_for("gateway.completed")
                    leaving.close()
                    sidecheck.wait_for("gateway.completed")
                assert (500, b"") == (overload.status_code, overload.content)
                assert "OVERLOADED" == failed["reason"]
                assert ["OVERLOADED"] == completed["codes"]
                assert "failed" == completed["verdict"]
            last = gateway.call()
    finally:
        sidecheck.close()

    assert [(200, {"n": 1})] == codes(last)


def begin_call(gateway: Gateway) -> http.client.HTTPConnection:
    """Send a call; return the connection on which the response would come."""
    address = urlsplit(gateway.url())
    connection = http.client.HTTPConnection(address.netloc, timeout=_SECONDS)
    message = {"jsonrpc": "2.0", "id": next(gateway.ids), "method": "tools/call"}
    body = json.dumps({**message, "params": {"name": "echo", "arguments": {}}})
    headers = {**gateway.client.headers, "content-type": "application/json"}
    connection.request("POST", address.path, body, headers)
    return connection


def test_large_bodies_beyond_the_limit(tmp_path: Path, scripted: HttpMcpServer) -> None:
    """A second request, and a large response to a small request, are rejected by id."""
    settings = ext_proc_settings(**ENFORCE)
    sidecheck = RunningServer(
        tmp_path, **settings, SIDECHECK_TRANSPORT__BYTES_IN_FLIGHT=str(1 << 20)
    )
    large = "x" * 900_000
    pool = ThreadPoolExecutor(1)
    try:
        with running_gateway(tmp_path, scripted, sidecheck) as gateway:
            gateway.begin()
            with blocked_calls(scripted) as (reached, _):
                first = pool.submit(gateway.call, other=large)
                assert reached.wait(_SECONDS)
                second = gateway.call(other=large)
                scripted.replace = lambda message: JSONResponse(
                    {"jsonrpc": "2.0", "id": message["id"], "result": {"x": large}}
                )
                third = gateway.call()
            statuses = [second.status_code, third.status_code, first.result(_SECONDS).status_code]
    finally:
        pool.shutdown()
        sidecheck.close()

    assert [503, 503, 200] == statuses
    reason = "not validated by Sidecheck: OVERLOADED; try again later"
    for response in (second, third):
        assert {"code": -32603, "message": reason} == response.json()["error"]
        assert isinstance(response.json()["id"], int)
