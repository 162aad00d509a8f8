"""HTTP server of the proxy."""

import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from sidecheck_server.config.addresses import Address
from sidecheck_server.http_servers.connections import ClientBounds
from sidecheck_server.http_servers.operating_system import STOP_SIGNALS
from sidecheck_server.http_servers.server import HttpServer, open_listener
from sidecheck_server.proxy.http_limits import HttpAddress

__all__ = ["serve_http"]

_GRACE_SECONDS = 5
_IDLE_SECONDS = 75
"""Seconds before an idle connection is closed: longer than clients keep connections for reuse."""


async def serve_http(
    application: ASGIApp,
    address: HttpAddress,
    bounds: ClientBounds,
    report_ready: Callable[[int], None],
) -> None:
    """Serve *application* within *bounds* until a signal.

    *report_ready* is called with the port.

    Raises:
        OSError: the address cannot be used, or a file cannot be read.
        ssl.SSLError: a file does not contain a certificate or key.
    """
    config = uvicorn.Config(
        application,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.private_key,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        lifespan="off",
        ws="none",
    )
    config.load()
    with _listen(address.address) as listener:
        report_ready(listener.getsockname()[1])
        await HttpServer(config, bounds, STOP_SIGNALS).serve(sockets=[listener])


def _listen(address: Address) -> socket.socket:
    try:
        return open_listener(address)
    except OSError as error:
        raise OSError(f"{address}: {error.strerror or error}") from None
