"""Options of the gRPC server: what peers may open, keep open and leave unfinished.

https://github.com/grpc/grpc/blob/master/include/grpc/impl/channel_arg_names.h
"""

from sidecheck_server.config.transport_limits import TransportLimits

__all__ = ["server_options"]

_HANDSHAKE_SECONDS = 5
_KEEPALIVE_SECONDS = 60
_KEEPALIVE_TIMEOUT_SECONDS = 20


def server_options(limits: TransportLimits, message_bytes: int) -> list[tuple[str, int]]:
    """Return the options for *limits* and messages of at most *message_bytes*."""
    return [
        ("grpc.max_receive_message_length", message_bytes),
        ("grpc.max_allowed_incoming_connections", limits.connections),
        ("grpc.max_concurrent_streams", limits.connection_calls),
        # Calls of closed connections stay in the queue until their turn. Clients cannot tell a
        # call that gRPC cancels from one that they cancelled, so that the queue is longer than a
        # server needs that answers within the usual deadlines.
        ("grpc.server.max_pending_requests", limits.pending_calls),
        ("grpc.server.max_pending_requests_hard_limit", limits.pending_calls),
        ("grpc.max_connection_idle_ms", limits.connection_idle_seconds * 1000),
        ("grpc.max_connection_age_ms", limits.connection_age_seconds * 1000),
        ("grpc.max_connection_age_grace_ms", limits.connection_end_seconds * 1000),
        ("grpc.server_handshake_timeout_ms", _HANDSHAKE_SECONDS * 1000),
        ("grpc.max_metadata_size", limits.metadata_bytes),
        ("grpc.absolute_max_metadata_size", limits.metadata_bytes),
        # A peer that stops reading its socket does not answer pings either.
        ("grpc.keepalive_time_ms", _KEEPALIVE_SECONDS * 1000),
        ("grpc.keepalive_timeout_ms", _KEEPALIVE_TIMEOUT_SECONDS * 1000),
        # By default gRPC enlarges the windows of fast connections to megabytes a stream,
        # which peers could fill with messages that no call has asked for.
        ("grpc.http2.bdp_probe", 0),
        # Clients ping idle connections every 30 s; by default gRPC answers that with GOAWAY
        # too_many_pings.
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ]
