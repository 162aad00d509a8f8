"""The HTTP server that clients of the proxy connect to."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

__all__ = ["HttpAddress", "serve_http"]

_GRACE_SECONDS = 5


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where to listen, and with which certificate, in PEM; None for plain text."""

    host: str
    port: int
    certificate: Path | None = None
    private_key: Path | None = None


async def serve_http(
    application: Starlette, address: HttpAddress, report_ready: Callable[[int], None]
) -> None:
    """Serve *application* until a signal; *report_ready* gets the port.

    Raises:
        OSError: the address cannot be used, or a file cannot be read.
        ssl.SSLError: a file is no certificate or key.
    """
    config = uvicorn.Config(
        application,
        host=address.host,
        port=address.port,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.private_key,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        lifespan="on",
    )
    config.load()
    listener = config.bind_socket()
    # asyncio sets it for sockets whose protocol is known. Without it, the body of a response
    # waits for the acknowledgment of its headers, which peers delay by 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # Who connects as soon as the address is reported waits for the server to accept.
    listener.listen(config.backlog)
    server = uvicorn.Server(config)
    report_ready(listener.getsockname()[1])
    await server.serve(sockets=[listener])
