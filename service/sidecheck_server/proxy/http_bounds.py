"""What is open and held at one HTTP server, against its limits."""

import time
from collections import Counter
from ipaddress import IPv6Address, ip_address
from typing import Protocol

from sidecheck_server.proxy.http_bytes import BytesInFlight
from sidecheck_server.proxy.http_limits import HttpLimits
from sidecheck_server.proxy.http_rejections import Rejections
from sidecheck_server.proxy.report import Findings

__all__ = ["ClientConnection", "HttpBounds", "OpenConnections"]

_PATIENCE_SECONDS = 0.25
"""How long a connection that waits for its client is never closed for another."""


class ClientConnection(Protocol):
    """An open connection of a client."""

    def evict(self, note: str) -> None:
        """Close the connection for another one; *note* is the limit that is reached."""
        ...


class OpenConnections:
    """The open connections of all clients, within *limits*.

    Beyond these, the one that has waited for its client the longest makes room: for a request or
    the rest of one, or until a response is read. Connections whose clients wait for the server
    stay open, those with a silent stream of events among them.
    """

    def __init__(self, limits: HttpLimits, patience_seconds: float = _PATIENCE_SECONDS) -> None:
        self._most = limits.connections
        self._most_of_peer = limits.peer_connections
        self._patience = patience_seconds
        #: The connections and the addresses of their peers, "" if these have no limit.
        self._open: dict[ClientConnection, str] = {}
        self._by_peer: Counter[str] = Counter()
        #: Since when connections wait for their clients, the longest first.
        self._waiting: dict[ClientConnection, float] = {}

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, connection: ClientConnection, address: str) -> str | None:
        """Count *connection* from *address*; return None, or the limit that it would exceed."""
        peer = _limited_peer(address) if self._most_of_peer else ""
        if peer and self._by_peer[peer] >= self._most_of_peer:
            note = "too many connections of one address are open (--max-peer-connections)"
            if not self._evict(note, peer):
                return note
        if len(self._open) >= self._most:
            note = "too many connections are open (--max-connections)"
            if not self._evict(note):
                return note
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

    def _evict(self, note: str, peer: str = "") -> bool:
        """Close the connection, of *peer* if it is given, that has waited the longest."""
        latest = time.monotonic() - self._patience
        for connection, since in self._waiting.items():
            if since > latest:
                break
            if peer in {"", self._open[connection]}:
                self.release(connection)
                connection.evict(note)
                return True
        return False


class HttpBounds:
    """The connections, messages and rejections of an HTTP server with *limits*."""

    def __init__(self, limits: HttpLimits, findings: Findings) -> None:
        self.limits = limits
        self.rejections = Rejections(findings)
        self.connections = OpenConnections(limits)
        # Apart, so that responses that nobody reads do not reject requests.
        self.requests = BytesInFlight(limits.bytes_in_flight)
        self.responses = BytesInFlight(limits.bytes_in_flight, limits.write_seconds)


def _limited_peer(address: str) -> str:
    """Return *address* as it is counted, "" for one that all programs of this machine share."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    return "" if parsed.is_loopback else str(parsed)
