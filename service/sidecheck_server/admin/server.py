"""The HTTP server of the admin address, in the event loop of the service."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
import uvicorn
from starlette.applications import Starlette

from sidecheck_server.http_listener import HttpServer, open_listener
from sidecheck_server.rpc.sockets import AddressInUseError

__all__ = ["running_admin"]

_GRACE_SECONDS = 5

_log = structlog.get_logger("sidecheck.admin")


@asynccontextmanager
async def running_admin(
    application: Starlette, address: str, connections: int
) -> AsyncIterator[None]:
    """Serve *application* at *address*, "host:port", until the block ends.

    Beyond *connections* that are open, requests get the status 503.

    Raises:
        AddressInUseError: the address is taken.
    """
    listener = _listen(address)
    config = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        server_header=False,
        # Bounds the size of headers.
        http="h11",
        limit_concurrency=connections,
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


def _listen(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    try:
        return open_listener(host.strip("[]"), int(port))
    except OSError as error:
        raise AddressInUseError(f"cannot listen on {address}: {error.strerror}") from None
