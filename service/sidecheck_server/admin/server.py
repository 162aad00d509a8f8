"""The HTTP server of the admin address, in the event loop of the service."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import structlog
import uvicorn
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from sidecheck_server.admin.problems import PROBLEM_TYPE, HttpError
from sidecheck_server.http_servers.listener import HttpServer, open_listener
from sidecheck_server.rpc.sockets import AddressInUseError

__all__ = ["running_admin"]

_GRACE_SECONDS = 5

_PROBES = frozenset({"/livez", "/readyz"})
"""Paths that are served however much else is open: supervisors restart a server without them."""

_log = structlog.get_logger("sidecheck.admin")


@asynccontextmanager
async def running_admin(
    application: ASGIApp, address: str, connections: int
) -> AsyncIterator[None]:
    """Serve *application* at *address*, "host:port", until the block ends.

    Beyond *connections*, those that have been open the longest without a request are closed, and
    further requests get the status 503, but for probes.

    Raises:
        AddressInUseError: the address is taken.
    """
    listener = _listen(address)
    config = uvicorn.Config(
        _Bounded(application, connections),
        log_config=None,
        access_log=False,
        server_header=False,
        # Bounds the size of headers.
        http=_protocol(connections),
        timeout_graceful_shutdown=_GRACE_SECONDS,
        lifespan="off",
    )
    bound_host, bound_port = listener.getsockname()[:2]
    shown = f"[{bound_host}]" if ":" in bound_host else bound_host
    _log.info("admin.ready", address=f"http://{shown}:{bound_port}")
    server = HttpServer(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving
        listener.close()


class _Bounded:
    """Serves at most *requests* of *application* at a time, and any number of probes."""

    def __init__(self, application: ASGIApp, requests: int) -> None:
        self._application = application
        self._most = requests
        self._active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._active >= self._most and scope["path"] not in _PROBES:
            await _unavailable(scope, receive, send)
            return
        self._active += 1
        try:
            await self._application(scope, receive, send)
        finally:
            self._active -= 1


async def _unavailable(scope: Scope, receive: Receive, send: Send) -> None:
    detail = "the server works on as many requests as it may (transport.connections); retry later"
    error = HttpError.plain(HTTPStatus.SERVICE_UNAVAILABLE, detail)
    await Response(error.body, error.status, {"retry-after": "1"}, PROBLEM_TYPE)(
        scope, receive, send
    )


def _protocol(connections: int) -> type[H11Protocol]:
    """Return the protocol of a server with *connections*, of which new ones close idle ones."""

    class Protocol(H11Protocol):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.opened = time.monotonic()

        @property
        def is_idle(self) -> bool:
            """Whether no request is worked on; the head of one may have begun."""
            return self.cycle is None or self.cycle.response_complete

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            if len(self.connections) >= connections:
                idle = [
                    other
                    for other in self.connections
                    if isinstance(other, Protocol)
                    and other.is_idle
                    and not other.transport.is_closing()
                ]
                if idle:
                    min(idle, key=lambda other: other.opened).transport.close()
            super().connection_made(transport)  # type: ignore[arg-type]  # as in uvicorn

    return Protocol


def _listen(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    try:
        return open_listener(host.strip("[]"), int(port))
    except OSError as error:
        raise AddressInUseError(f"cannot listen on {address}: {error.strerror}") from None
