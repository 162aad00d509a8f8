"""Budget for the bytes of large messages that the proxy over HTTP holds at a time."""

import asyncio
from collections import deque

__all__ = ["SMALL", "ByteBudgetError", "BytesInFlight", "HeldBytes"]

SMALL = 16 << 10
"""Size in bytes up to which messages are not counted: the limit of connections bounds them."""


class ByteBudgetError(Exception):
    """The budget of held bytes is exhausted."""

    def __init__(self) -> None:
        super().__init__(
            "other large messages exhaust the budget of held bytes (--max-bytes-in-flight)"
        )


class BytesInFlight:
    """Counts bytes of messages, as they arrive, against a *capacity*.

    A message beyond the capacity waits up to *seconds* for room, in order of arrival, before it
    is rejected; with 0 it is rejected at once. One waiting message at a time may exceed the
    capacity: otherwise messages that are partly read could wait for each other.
    """

    def __init__(self, capacity: int, seconds: float = 0.0) -> None:
        self._capacity = capacity
        self._seconds = seconds
        self._bytes = 0
        self._queue: deque[tuple[asyncio.Future[None], HeldBytes, int]] = deque()
        #: The message that may exceed the capacity.
        self._exempt: HeldBytes | None = None

    @property
    def held_bytes(self) -> int:
        """Number of bytes that are counted now."""
        return self._bytes

    async def acquire(self, message: "HeldBytes", size: int) -> None:
        """Count *size* more bytes of *message* as soon as there is room.

        Raises:
            ByteBudgetError: the budget has no free bytes in time.
        """
        is_next = not self._queue or self._exempt is message
        if is_next and self._bytes + size <= self._capacity:
            self._count(message, size)
            return
        if not self._seconds:
            raise ByteBudgetError
        turn = asyncio.get_running_loop().create_future()
        entry = (turn, message, size)
        if self._exempt is message:
            self._queue.appendleft(entry)
        else:
            self._queue.append(entry)
        self._admit()
        try:
            async with asyncio.timeout(self._seconds):
                await turn
        except TimeoutError:
            raise ByteBudgetError from None
        finally:
            if entry in self._queue:
                self._queue.remove(entry)
                self._admit()

    def release(self, message: "HeldBytes", size: int) -> None:
        """Release *size* bytes of *message*."""
        self._bytes -= size
        if self._exempt is message:
            self._exempt = None
        self._admit()

    def _count(self, message: "HeldBytes", size: int) -> None:
        self._bytes += size
        message.counted += size

    def _admit(self) -> None:
        """Admit waiting messages, in order, while there is room."""
        while self._queue:
            turn, message, size = self._queue[0]
            if self._bytes + size > self._capacity:
                if self._exempt not in {None, message}:
                    return
                self._exempt = message
            self._queue.popleft()
            self._count(message, size)
            if not turn.done():
                turn.set_result(None)


class HeldBytes:
    """Bytes of one message, or of the events of one stream, counted in a *budget*."""

    def __init__(self, budget: BytesInFlight) -> None:
        self._budget = budget
        self._size = 0
        #: Bytes that the budget counts: 0 for a small message.
        self.counted = 0

    async def grow(self, size: int) -> None:
        """Add *size* bytes.

        Raises:
            ByteBudgetError: the budget is exhausted.
        """
        total = self._size + size
        if total > SMALL:
            await self._budget.acquire(self, total - self.counted)
        self._size = total

    def shrink(self, size: int = 0) -> None:
        """Reduce the size to at most *size* bytes."""
        self._size = min(self._size, size)
        counted = self._size if self._size > SMALL else 0
        excess, self.counted = self.counted - counted, counted
        if excess > 0:
            self._budget.release(self, excess)
