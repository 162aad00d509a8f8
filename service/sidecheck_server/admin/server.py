"""HTTP server of the admin address, in the event loop of the service."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final

import structlog
import uvicorn
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sidecheck_server.admin.problems import PROBLEM_TYPE, HttpError
from sidecheck_server.config.addresses import Address
from sidecheck_server.http_servers.connections import Bound, ClientBounds, ConnectionLimits
from sidecheck_server.http_servers.server import HttpServer, open_listener
from sidecheck_server.rpc.sockets import AddressInUseError

__all__ = ["running_admin"]

_GRACE_SECONDS = 5
_HEAD_SECONDS = 10.0
_RESERVE = 64
"""Connections reserved for probes, beyond the limit for requests in progress."""

_PROBES = frozenset({"/livez", "/readyz"})
"""Paths exempt from the limit of requests: supervisors restart a server that fails a probe."""

_REJECTIONS: Final = {
    Bound.CONNECTIONS: (
        HTTPStatus.SERVICE_UNAVAILABLE,
        "too many connections are open (transport.connections); retry later",
    ),
    Bound.HEAD_SECONDS: (
        HTTPStatus.REQUEST_TIMEOUT,
        f"the head of the request did not arrive within {_HEAD_SECONDS:g} seconds",
    ),
}

_log = structlog.get_logger("sidecheck.admin")


@asynccontextmanager
async def running_admin(
    application: ASGIApp, address: str, connections: int
) -> AsyncIterator[None]:
    """Serve *application* at *address*, "host:port", until the block ends.

    Beyond *connections*, the server closes the connections that have been idle the longest, and
    responds to requests other than probes with the status 503.

    Raises:
        AddressInUseError: the address is taken.
    """
    try:
        listener = open_listener(Address.parse(address))
    except OSError as error:
        raise AddressInUseError(f"cannot listen on {address}: {error.strerror}") from None
    config = uvicorn.Config(
        _RequestLimiter(application, connections),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        lifespan="off",
    )
    bound_address = Address(*listener.getsockname()[:2])
    _log.info("admin.ready", address=f"http://{bound_address}")
    limits = ConnectionLimits(
        connections=connections,
        reserve=_RESERVE,
        # A flood then closes its own idle connections, and not that of a probe just connected.
        patience_seconds=0.0,
        head_seconds=_HEAD_SECONDS,
    )
    server = HttpServer(config, ClientBounds(limits, _reject))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving
        listener.close()


class _RequestLimiter:
    """ASGI wrapper that bounds concurrent requests to *application*, except probes."""

    def __init__(self, application: ASGIApp, requests: int) -> None:
        self._application = application
        self._max_requests = requests
        self._active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._active >= self._max_requests and scope["path"] not in _PROBES:
            await _respond_unavailable(scope, receive, send)
            return
        self._active += 1
        try:
            await self._application(scope, receive, send)
        finally:
            self._active -= 1


async def _respond_unavailable(scope: Scope, receive: Receive, send: Send) -> None:
    detail = "too many requests are in progress (transport.connections); retry later"
    await _problem_response(HTTPStatus.SERVICE_UNAVAILABLE, detail)(scope, receive, send)


def _reject(bound: Bound) -> Response:
    return _problem_response(*_REJECTIONS[bound])


def _problem_response(status: HTTPStatus, detail: str) -> Response:
    headers = {"retry-after": "1"} if status is HTTPStatus.SERVICE_UNAVAILABLE else {}
    return Response(HttpError.plain(status, detail).body, status, headers, PROBLEM_TYPE)
