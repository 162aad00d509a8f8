"""Budget of the bytes of large messages that the server holds at once.

gRPC keeps a response in memory until the peer has read it, for any length of time.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["SMALL", "BytesInFlight"]

SMALL = 16 << 10
"""Maximum bytes of a message that is not counted; the number of calls bounds these."""


class BytesInFlight:
    """Counts bytes against a *capacity*, and against half of it for each connection.

    Responses that exceed either bound wait in order until peers have read other responses. At
    most *capacity* bytes may wait.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._share = max(1, capacity // 2)
        self._bytes = 0
        self._by_peer: Counter[str] = Counter()
        self._waiting: deque[tuple[asyncio.Future[None], str, int]] = deque()
        self._waiting_bytes = 0

    @property
    def counted_bytes(self) -> int:
        """Number of counted bytes."""
        return self._bytes

    def take(self, peer: str, size: int) -> Callable[[], None]:
        """Count *size* bytes of a request of *peer*; return a function to release them.

        Raises:
            RequestError: OVERLOADED if they exceed the capacity.
        """
        if not self._has_room(peer, size):
            raise _overloaded("requests")
        return self._hold(peer, size)

    def resize(self, peer: str, old_size: int, new_size: int) -> None:
        """Count *new_size* bytes of requests of *peer* in place of *old_size*.

        Raises:
            RequestError: OVERLOADED if they exceed the capacity; *old_size* stays counted.
        """
        self._release(peer, old_size)
        fits = new_size <= old_size or self._has_room(peer, new_size)
        if counted := new_size if fits else old_size:
            self._hold(peer, counted)
        if not fits:
            raise _overloaded("requests")

    async def wait(self, peer: str, size: int) -> Callable[[], None]:
        """Wait until a response of *size* bytes fits, then count it as `take` does.

        Raises:
            RequestError: OVERLOADED if too many bytes wait already.
        """
        if not self._waiting and self._has_room(peer, size):
            return self._hold(peer, size)
        if self._waiting_bytes and self._waiting_bytes + size > self._capacity:
            raise _overloaded("responses")
        turn = asyncio.get_running_loop().create_future()
        entry = (turn, peer, size)
        self._waiting.append(entry)
        self._waiting_bytes += size
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled() or not turn.done():
                self._waiting.remove(entry)
                self._waiting_bytes -= size
            else:
                self._release(peer, size)
            raise
        return lambda: self._release(peer, size)

    def _has_room(self, peer: str, size: int) -> bool:
        """Return whether *size* bytes fit; any size fits if nothing is counted."""
        peer_bytes = self._by_peer[peer]
        fits = not self._bytes or self._bytes + size <= self._capacity
        return fits and (not peer_bytes or peer_bytes + size <= self._share)

    def _hold(self, peer: str, size: int) -> Callable[[], None]:
        self._bytes += size
        self._by_peer[peer] += size
        return lambda: self._release(peer, size)

    def _release(self, peer: str, size: int) -> None:
        self._bytes -= size
        self._by_peer[peer] -= size
        if not self._by_peer[peer]:
            del self._by_peer[peer]
        self._admit()

    def _admit(self) -> None:
        """Admit the waiting responses that fit; later ones may pass one that does not fit."""
        for entry in list(self._waiting):
            turn, peer, size = entry
            if turn.done() or not self._has_room(peer, size):
                continue
            self._hold(peer, size)
            self._waiting.remove(entry)
            self._waiting_bytes -= size
            turn.set_result(None)


def _overloaded(kind: str) -> RequestError:
    return RequestError(
        ErrorReason.OVERLOADED,
        f"the limit of bytes in flight for {kind} is reached (bytes_in_flight); retry later",
        {"bound": "bytes_in_flight"},
    )
