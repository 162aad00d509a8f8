"""Address and limits of the proxy over HTTP."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from sidecheck_server.config.addresses import Address

__all__ = ["HttpAddress", "HttpLimits"]

_COUNT_RANGE = (1, 40_000)
_SECONDS_RANGE = (0.1, 86_400.0)


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Address to listen on, with PEM files for TLS; plain text without them."""

    address: Address
    certificate: Path | None = None
    private_key: Path | None = None


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Limits of connections, bytes and time that clients may occupy.

    Each limit is annotated with its description and its range, for the options of the command.
    """

    connections: Annotated[
        int,
        "Maximum number of open connections. Beyond it, an idle connection is closed, or a new "
        "one gets HTTP 503.",
        _COUNT_RANGE,
    ] = 256
    peer_connections: Annotated[
        int,
        "Maximum number of open connections of one address, 0 for no limit. Addresses of this "
        "machine are exempt.",
        (0, 40_000),
    ] = 64
    head_seconds: Annotated[
        float, "Seconds for the head of a request to arrive, before HTTP 408.", _SECONDS_RANGE
    ] = 10.0
    body_seconds: Annotated[
        float, "Seconds for the body of a request to arrive, before HTTP 408.", _SECONDS_RANGE
    ] = 20.0
    write_seconds: Annotated[
        float,
        "Seconds without progress in the client's reading before its connection is closed; at "
        "most 64 KiB are unread.",
        _SECONDS_RANGE,
    ] = 20.0
    bytes_in_flight: Annotated[
        int,
        "Maximum bytes of large requests held at a time, before HTTP 503, and of large responses "
        "and events, which wait; at least twice --max-message-bytes.",
        (2 << 10, 1 << 40),
    ] = 64 << 20
