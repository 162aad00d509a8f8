"""Connections of the clients of one HTTP server, counted against its limits."""

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
    """Limits of connections, and of the time for which they may wait for their clients."""

    #: Open connections, beyond which one that waits for its client is closed.
    connections: int
    #: Connections that are accepted beyond these while none can be closed.
    reserve: int = 0
    #: Open connections of one address that is not of this machine; 0 for no such limit.
    peer_connections: int = 0
    #: How long a connection that waits for its client is never closed for another.
    patience_seconds: float = 0.25
    #: For the head of a request to arrive.
    head_seconds: float
    #: For a body to arrive, and for what was sent to be read. With None the application bounds
    #: it, and a connection that waits for it is not closed for another.
    body_seconds: float | None = None
    write_seconds: float | None = None


class ClientConnection(Protocol):
    """An open connection of a client."""

    def evict(self, bound: Bound) -> None:
        """Close the connection for another one; *bound* is the limit that is reached."""
        ...


class OpenConnections:
    """The open connections of all clients, within *limits*.

    Beyond these, the one that has waited for its client the longest makes room: for a request or
    the rest of one, or until a response is read. Connections whose clients wait for the server
    stay open, those with a silent stream of events among them.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        #: The connections and the addresses of their peers, "" if these have no limit.
        self._open: dict[ClientConnection, str] = {}
        self._by_peer: Counter[str] = Counter()
        #: Since when connections wait for their clients, the longest first.
        self._waiting: dict[ClientConnection, float] = {}

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, connection: ClientConnection, address: str) -> Bound | None:
        """Count *connection* from *address*; return None, or the limit that it would exceed."""
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
        """Note that *connection* is closed."""
        self.proceed(connection)
        peer = self._open.pop(connection, None)
        if peer is not None:
            self._by_peer[peer] -= 1
            if not self._by_peer[peer]:
                del self._by_peer[peer]

    def wait(self, connection: ClientConnection) -> None:
        """Note that *connection* waits for its client from now on."""
        self.proceed(connection)
        if connection in self._open:
            self._waiting[connection] = time.monotonic()

    def proceed(self, connection: ClientConnection) -> None:
        """Note that *connection* does not wait for its client."""
        self._waiting.pop(connection, None)

    def _evict(self, bound: Bound, peer: str = "") -> bool:
        """Close the connection, of *peer* if it is given, that has waited the longest."""
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

    *reject* is called for each client that exceeds a limit. It returns the response, which is
    sent if the client has a request that has none.
    """

    def __init__(self, limits: ConnectionLimits, reject: Callable[[Bound], Response]) -> None:
        self.limits = limits
        self.reject = reject
        self.connections = OpenConnections(limits)


def _limited_peer(address: str) -> str:
    """Return *address* as it is counted, "" for one that all programs of this machine share."""
    return "" if is_loopback_host(address) else str(unmapped_ip(address))
