"""Addresses, service config and options of gRPC channels.

Connections are in plain text unless the client has TLS settings: a sidecar runs on the same
machine or in the same cluster.
"""

import json
import re
import sys
from typing import Any, Final

import grpc

from sidecheck.tls import Tls
from sidecheck.wire.rpcs import SERVICES, STREAMS

__all__ = [
    "channel_credentials",
    "channel_options",
    "channel_target",
    "is_refused",
    "service_config",
]

#: gRPC's message for a stream that the server refused (the code is in RFC 9113, section 7).
STREAM_REFUSED: Final = re.compile(r"RST_STREAM with error code 7\b")

HOST_AND_PORT: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):([0-9]{1,5})")
#: The path of a unix socket. With two slashes, gRPC expects a host before the path.
SOCKET_PATH: Final = re.compile(r"(?!//[^/])/*[^/].*", re.DOTALL)


def channel_target(address: str) -> str:
    """Return the gRPC target for *address*.

    An address is ``host:port``, ``dns:///host:port`` for all addresses of a host name,
    ``unix:/path`` or ``unix:path``.

    Raises:
        ValueError: The address has none of these forms, or is that of a unix socket on
            Windows. gRPC itself would assume port 443 where it is missing, and take an
            unknown scheme for a host name.
    """
    if address.startswith("unix:"):
        if sys.platform == "win32":
            raise ValueError(
                f"invalid address {address!r}: gRPC has no unix sockets on Windows; use host:port"
            )
        valid = SOCKET_PATH.fullmatch(address.removeprefix("unix:")) is not None
    else:
        match = HOST_AND_PORT.fullmatch(address.removeprefix("dns:///"))
        valid = match is not None and 0 < int(match[2]) < 2**16
    if not valid:
        raise ValueError(
            f"invalid address {address!r}; expected host:port, dns:///host:port or unix:/path"
        )
    return address


def channel_credentials(tls: Tls | None) -> grpc.ChannelCredentials | None:
    """Return the credentials of a channel, or None for plain text.

    Raises:
        OSError: A file cannot be read.
        TypeError: *tls* is of another type.
        ValueError: A certificate or key is not PEM.
    """
    if tls is None:
        return None
    if not isinstance(tls, Tls):
        raise TypeError(f"tls must be a Tls, not {type(tls).__name__}")
    return tls.channel_credentials()


def channel_options(target: str, tls: Tls | None = None) -> list[tuple[str, str | int]]:
    """Return the options of a channel to *target*."""
    options: list[tuple[str, str | int]] = [
        ("grpc.service_config", json.dumps(service_config(target))),
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        # Bounds the time until a client reconnects to a restarted server; gRPC's default is two
        # minutes. The backoff is shorter than all retries of one call together.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 500),
        # The server limits the messages that it receives, and a limit on responses would only
        # lose them.
        ("grpc.max_send_message_length", -1),
        ("grpc.max_receive_message_length", -1),
        # Calls to a sidecar must not pass through a forward proxy.
        ("grpc.enable_http_proxy", 0),
    ]
    if tls is not None and tls.server_name:
        options.append(("grpc.ssl_target_name_override", tls.server_name))
    return options


def service_config(target: str) -> dict[str, Any]:
    """Return the gRPC service config for *target*.

    Only ``UNAVAILABLE`` is retried, since it is transient and the server has not processed the
    call. Streams are not retried, since gRPC would replay the items that it has buffered.
    ``timeout`` is not set, because gRPC's C core fires it up to 1.5 s early; each call carries
    a deadline instead.
    """
    streams = {"name": [{"service": rpc.service, "method": rpc.name} for rpc in STREAMS]}
    # gRPC silently ignores names that are not fully qualified.
    retries = {
        "name": [{"service": service} for service in SERVICES],
        "retryPolicy": {
            "maxAttempts": 5,
            "initialBackoff": "0.01s",
            "maxBackoff": "1s",
            "backoffMultiplier": 4,
            "retryableStatusCodes": ["UNAVAILABLE"],
        },
    }
    config: dict[str, Any] = {"methodConfig": [retries, streams]}
    if target.startswith("dns:"):
        # Each address of a host name is a server.
        config["loadBalancingConfig"] = [{"round_robin": {}}]
    return config


def is_refused(error: grpc.RpcError) -> bool:
    """Return whether the server refused the stream of a call, before any work on it.

    The call may be retried until its deadline (RFC 9113, section 8.7). Refusals occur for
    clients with as many calls as the server's limit, because the server may count a stream for
    longer than the client. gRPC additionally makes the retries of the service config, with
    pauses.
    """
    return error.code() is grpc.StatusCode.UNAVAILABLE and bool(
        STREAM_REFUSED.search(error.details() or "")
    )
