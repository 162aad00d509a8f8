"""Connections of one HTTP server, counted against its limits."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from starlette.responses import Response

from sidecheck_server.config.addresses import is_loopback_host, unmapped_ip

__all__ = ["Bound", "ClientBounds", "ClientConnection", "ConnectionLimits", "OpenConnections"]


class Bound(Enum):
    """A limit that a client can exceed, named as in `ConnectionLimits`."""

    CONNECTIONS = auto()
    PEER_CONNECTIONS = auto()
    HEAD_SECONDS = auto()
    BODY_SECONDS = auto()
    WRITE_SECONDS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """Limits on connections, and on the time for which they wait for their clients."""

    #: Open connections, above which a connection that waits for its client is closed.
    connections: int
    #: Further connections that are accepted while no connection can be closed.
    reserve: int = 0
    #: Open connections from one address of another machine; 0 for no limit.
    peer_connections: int = 0
    #: Time for which a connection that waits for its client is protected from eviction.
    patience_seconds: float = 0.25
    #: Time for the head of a request to arrive.
    head_seconds: float
    #: Times for a body to arrive, and for the client to read a response. With None the
    #: application limits the time, and a connection in this state is never evicted.
    body_seconds: float | None = None
    write_seconds: float | None = None


class ClientConnection(Protocol):
    """An open connection of a client."""

    def evict(self, bound: Bound) -> None:
        """Close the connection for another one; *bound* is the limit that is reached."""
        ...


class OpenConnections:
    """The open connections of all clients, within *limits*.

    When a limit is reached, the connection that has waited for its client the longest is
    closed. A connection waits for its client until the client sends a whole request or reads a
    response. Connections whose clients wait for the server are never closed; this includes
    event streams without events.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        #: The peer address of each connection, or "" if the peer has no limit.
        self._open: dict[ClientConnection, str] = {}
        self._by_peer: Counter[str] = Counter()
        #: The time at which each connection began to wait for its client, in order.
        self._waiting: dict[ClientConnection, float] = {}

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, connection: ClientConnection, address: str) -> Bound | None:
        """Count *connection* from *address*, or return the limit that it would exceed."""
        limits = self._limits
        peer = _limited_peer(address) if limits.peer_connections else ""
        if (
            peer
            and self._by_peer[peer] >= limits.peer_connections
            and not self._evict(Bound.PEER_CONNECTIONS, peer)
        ):
            return Bound.PEER_CONNECTIONS
        if (
            len(self._open) >= limits.connections
            and not self._evict(Bound.CONNECTIONS)
            and len(self._open) >= limits.connections + limits.reserve
        ):
            return Bound.CONNECTIONS
        self._open[connection] = peer
        self._by_peer[peer] += 1
        self.wait(connection)
        return None

    def release(self, connection: ClientConnection) -> None:
        """Stop counting *connection*, which is closed."""
        self.proceed(connection)
        peer = self._open.pop(connection, None)
        if peer is not None:
            self._by_peer[peer] -= 1
            if not self._by_peer[peer]:
                del self._by_peer[peer]

    def wait(self, connection: ClientConnection) -> None:
        """Record that *connection* begins to wait for its client."""
        self.proceed(connection)
        if connection in self._open:
            self._waiting[connection] = time.monotonic()

    def proceed(self, connection: ClientConnection) -> None:
        """Record that *connection* does not wait for its client."""
        self._waiting.pop(connection, None)

    def _evict(self, bound: Bound, peer: str = "") -> bool:
        """Close the longest waiting connection, only of *peer* if given; return success."""
        latest = time.monotonic() - self._limits.patience_seconds
        for connection, since in self._waiting.items():
            if since > latest:
                break
            if peer in {"", self._open[connection]}:
                self.release(connection)
                connection.evict(bound)
                return True
        return False


class ClientBounds:
    """The connections of one server, within *limits*.

    *reject* is called for each connection that exceeds a limit. It returns the response to
    send if the client has an unanswered request.
    """

    def __init__(self, limits: ConnectionLimits, reject: Callable[[Bound], Response]) -> None:
        self.limits = limits
        self.reject = reject
        self.connections = OpenConnections(limits)


def _limited_peer(address: str) -> str:
    """Return the key for counting *address*; "" for loopback addresses."""
    return "" if is_loopback_host(address) else str(unmapped_ip(address))
