"""Budget of the bytes of large messages that the proxy over HTTP holds at once."""

import asyncio
from collections import deque

__all__ = ["SMALL", "BytesHeld", "BytesInFlight", "NoRoomError"]

SMALL = 16 << 10
"""Bytes of a message that are not counted: the number of connections bounds small messages."""


class NoRoomError(Exception):
    """Other messages take the bytes that may be held at once."""

    def __init__(self) -> None:
        super().__init__(
            "other large messages take the bytes that may be held at once (--max-bytes-in-flight)"
        )


class BytesInFlight:
    """Counts bytes of messages, as they come, against a *capacity*.

    A message that finds no room waits *seconds* for others to be gone, in the order of their
    arrival, and is refused then; with 0 it is refused at once. Of those that wait, one at a time
    may exceed the capacity: else messages that each hold a part could wait for each other.
    """

    def __init__(self, capacity: int, seconds: float = 0.0) -> None:
        self._capacity = capacity
        self._seconds = seconds
        self._bytes = 0
        self._waiting: deque[tuple[asyncio.Future[None], BytesHeld, int]] = deque()
        #: The message that may exceed the capacity.
        self._exempt: BytesHeld | None = None

    @property
    def held(self) -> int:
        """How many bytes are held."""
        return self._bytes

    async def take(self, message: "BytesHeld", size: int) -> None:
        """Count *size* more bytes of *message*, once there is room for them.

        Raises:
            NoRoomError: there is none in time.
        """
        is_next = not self._waiting or self._exempt is message
        if is_next and self._bytes + size <= self._capacity:
            self._count(message, size)
            return
        if not self._seconds:
            raise NoRoomError
        turn = asyncio.get_running_loop().create_future()
        entry = (turn, message, size)
        if self._exempt is message:
            self._waiting.appendleft(entry)
        else:
            self._waiting.append(entry)
        self._admit()
        try:
            async with asyncio.timeout(self._seconds):
                await turn
        except TimeoutError:
            raise NoRoomError from None
        finally:
            if entry in self._waiting:
                self._waiting.remove(entry)
                self._admit()

    def give_back(self, message: "BytesHeld", size: int) -> None:
        """Release *size* bytes of *message*."""
        self._bytes -= size
        if self._exempt is message:
            self._exempt = None
        self._admit()

    def _count(self, message: "BytesHeld", size: int) -> None:
        self._bytes += size
        message.counted += size

    def _admit(self) -> None:
        """Give the messages that wait their turn, as many as there is room for."""
        while self._waiting:
            turn, message, size = self._waiting[0]
            if self._bytes + size > self._capacity:
                if self._exempt not in {None, message}:
                    return
                self._exempt = message
            self._waiting.popleft()
            self._count(message, size)
            if not turn.done():
                turn.set_result(None)


class BytesHeld:
    """The bytes of one message, or of one event after the other, in a *budget*."""

    def __init__(self, budget: BytesInFlight) -> None:
        self._budget = budget
        self._size = 0
        #: The bytes of it that the budget counts.
        self.counted = 0

    async def grow(self, size: int) -> None:
        """Hold *size* more bytes.

        Raises:
            NoRoomError: there is no room for them.
        """
        total = self._size + size
        if total > SMALL:
            await self._budget.take(self, total - self.counted)
        self._size = total

    def shrink(self, size: int = 0) -> None:
        """Hold no more than *size* bytes."""
        self._size = min(self._size, size)
        kept = self._size if self._size > SMALL else 0
        released, self.counted = self.counted - kept, kept
        if released > 0:
            self._budget.give_back(self, released)
