"""Limits on the connections, calls and bytes that the transport holds at once."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from sidecheck_server.core.limits import DEFAULT_SESSION_BYTES

__all__ = ["TransportLimits"]

# gRPC options are 31-bit integers, and its times are in milliseconds.
_TIME = Field(ge=1, le=1_000_000)
_COUNT = Field(ge=1, le=40_000)
_METADATA = Field(ge=1024, le=1 << 30)
_BYTES = Field(ge=1 << 20)


@dataclass(frozen=True, slots=True)
class TransportLimits:
    """Limits on the resources that peers can occupy by sending, or by not reading.

    Calls beyond a limit are shed with OVERLOADED: before their messages are read, or if a
    large message or response exceeds a limit on bytes. The annotation of each limit is its
    description in help texts and in the documentation.
    """

    # Decision 0053: `connection_calls` keeps the queue of an overloaded server in its clients.

    connections: Annotated[
        int, "Most open connections; gRPC closes further ones at once.", _COUNT
    ] = 128
    connection_calls: Annotated[
        int,
        "Most calls and streams open on one connection; further ones wait in the client, or are "
        "refused for it to retry. A higher number lets calls wait in the server until their "
        "deadlines pass.",
        _COUNT,
    ] = 100
    pending_calls: Annotated[
        int,
        "Most calls that wait in gRPC's queue until the server takes them; gRPC cancels further "
        "ones.",
        _COUNT,
    ] = 5_120
    connection_idle_seconds: Annotated[
        int,
        "Time after which a connection without calls is closed; clients connect again.",
        _TIME,
    ] = 600
    connection_age_seconds: Annotated[
        int, "Age at which a connection takes no new calls; clients connect again.", _TIME
    ] = 86_400
    connection_end_seconds: Annotated[
        int, "Time for open calls to end, once a connection has reached its maximum age.", _TIME
    ] = 600
    metadata_bytes: Annotated[int, "Largest metadata of a call, in bytes.", _METADATA] = 16 << 10
    message_seconds: Annotated[
        int, "Time that the message of a call may take to arrive after the call began.", _TIME
    ] = 20
    calls: Annotated[
        int,
        "Most calls in progress at once, those that wait for a worker included. Health is exempt.",
        _COUNT,
    ] = 256
    streams: Annotated[int, "Most streams open at once, sessions included.", _COUNT] = 64
    sessions: Annotated[
        int, "Most sessions checked at once; a session that is idle counts too.", _COUNT
    ] = 32
    gateway_streams: Annotated[
        int,
        "Most HTTP exchanges of gateways in validation at once, open streams of events included.",
        _COUNT,
    ] = 1_024
    session_bytes: Annotated[
        int,
        "Most bytes of memory for all sessions together. Once half of it is used, each session "
        "drops its oldest messages beyond an equal share of the other half.",
        _BYTES,
    ] = DEFAULT_SESSION_BYTES
    bytes_in_flight: Annotated[
        int,
        "Most bytes of large requests in memory at once, and as many of large responses. As many "
        "bytes of further responses wait until clients read others. One connection may use half.",
        _BYTES,
    ] = 64 << 20
    loop_lag_milliseconds: Annotated[
        int, "Lag of the event loop at which calls are shed, in milliseconds.", _TIME
    ] = 500
