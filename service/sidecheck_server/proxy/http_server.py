"""The HTTP server that clients of the proxy connect to."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

__all__ = ["HttpAddress", "serve_http"]

_GRACE_SECONDS = 5
_BACKLOG = 2048
_IDLE_SECONDS = 75
"""How long a connection is open without a request: longer than clients use it again."""


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
        ssl_certfile=address.certificate,
        ssl_keyfile=address.private_key,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        lifespan="on",
    )
    config.load()
    with _listen(address) as listener:
        report_ready(listener.getsockname()[1])
        await uvicorn.Server(config).serve(sockets=[listener])


def _listen(address: HttpAddress) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # Without the protocol, asyncio does not turn off the delay of small segments.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address.host, address.port))
        # Now, so that who is told that it is ready can connect.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise OSError(f"{address.host}:{address.port}: {error.strerror or error}") from None
    return listener
