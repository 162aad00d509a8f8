"""Where the server is and how the channel to it behaves, as data.

Connections are in plain text: a sidecar stands on the same machine or inside the
same cluster.
"""

import json
import re
from typing import Any, Final

from sidecheck.wire.rpcs import SERVICES, STREAMS

__all__ = ["channel_options", "channel_target", "service_config"]

HOST_AND_PORT: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):(\d{1,5})")


def channel_target(address: str) -> str:
    """Return the name by which gRPC knows *address*.

    An address is ``host:port``, ``dns:///host:port`` for every address that the
    name has, ``unix:/path`` or ``unix:path``.

    Raises:
        ValueError: It is none of them. gRPC itself would take a forgotten port
            for 443 and an unknown scheme for the name of a host.
    """
    if address.startswith("unix:"):
        understood = address.removeprefix("unix:").strip("/") != ""
    else:
        match = HOST_AND_PORT.fullmatch(address.removeprefix("dns:///"))
        understood = match is not None and 0 < int(match[2]) < 2**16
    if not understood:
        raise ValueError(
            f"{address!r} is not an address; give host:port, dns:///host:port or unix:/path"
        )
    return address


def service_config(target: str) -> dict[str, Any]:
    """Return the gRPC service config for *target*.

    Only ``UNAVAILABLE`` is tried again, for only that is sure to have cost the
    server nothing and may pass. A stream is not: gRPC would repeat its items behind
    the caller's back, as long as it still has them. There is no ``timeout``: the one
    of gRPC's C core fires up to 1.5 s early, so every call brings its own deadline.
    """
    streams = {"name": [{"service": rpc.service, "method": rpc.name} for rpc in STREAMS]}
    # The names must be full: gRPC ignores any other in silence.
    retries = {
        "name": [{"service": service} for service in SERVICES],
        "retryPolicy": {
            "maxAttempts": 4,
            "initialBackoff": "0.02s",
            "maxBackoff": "1s",
            "backoffMultiplier": 4,
            "retryableStatusCodes": ["UNAVAILABLE"],
        },
    }
    config: dict[str, Any] = {"methodConfig": [retries, streams]}
    if target.startswith("dns:"):
        # Behind a name with many addresses stand many servers.
        config["loadBalancingConfig"] = [{"round_robin": {}}]
    return config


def channel_options(target: str) -> list[tuple[str, str | int]]:
    """Return the options of a channel to *target*."""
    return [
        ("grpc.service_config", json.dumps(service_config(target))),
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        # A server that comes back is found again within this bound, not within
        # the two minutes that are gRPC's default.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 2_000),
        # The server bounds what it receives; bounded again here, its answer
        # could only be lost.
        ("grpc.max_send_message_length", -1),
        ("grpc.max_receive_message_length", -1),
        # Plain text for a neighbour has no business in a forward proxy.
        ("grpc.enable_http_proxy", 0),
    ]
