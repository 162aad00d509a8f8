"""Lines between the relay over stdio and a server that it does not read directly."""

import asyncio
from collections.abc import Awaitable, Callable

__all__ = ["LineQueue", "LineSink"]

_MAX_LINES = 64
_MAX_BYTES = 1 << 20
"""Maximum number of lines that wait for the reader, and of bytes in them unless it is one line."""


class LineQueue:
    """Queue of lines, which its receiver reads as bytes."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[bytes] = asyncio.Queue(_MAX_LINES)
        self._size = 0
        self._is_read = asyncio.Event()
        #: Unread bytes of the line that is being read.
        self._rest = memoryview(b"")
        self._has_ended = False

    async def put(self, line: bytes) -> None:
        """Add *line* as soon as there is room; discard it after the end."""
        while self._size and self._size + len(line) > _MAX_BYTES and not self._has_ended:
            self._is_read.clear()
            await self._is_read.wait()
        if not self._has_ended:
            self._size += len(line)
            await self._lines.put(line)

    def end(self) -> None:
        """End the stream after the lines that it has."""
        self._has_ended = True
        self._is_read.set()
        if not self._lines.full():
            self._lines.put_nowait(b"")

    async def read(self, n: int) -> bytes:
        """Return at most *n* bytes of one line, b"" at the end."""
        if not self._rest:
            if self._has_ended and self._lines.empty():
                return b""
            line = await self._lines.get()
            self._size -= len(line)
            self._is_read.set()
            self._rest = memoryview(line)
        chunk, self._rest = self._rest[:n], self._rest[n:]
        return bytes(chunk)


class LineSink:
    """Passes each written line to *accept*, and calls *close* at the end.

    With *accept_piece*, a line of more than *max_bytes* passes in pieces, each with whether it is
    the last; the last one has no line break.
    """

    def __init__(
        self,
        accept: Callable[[bytes], Awaitable[None]],
        close: Callable[[], None],
        accept_piece: Callable[[bytes, bool], Awaitable[None]] | None = None,
        max_bytes: int = 0,
    ) -> None:
        self._accept = accept
        self._close = close
        self._accept_piece = accept_piece
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self._is_long = False

    async def write(self, data: bytes) -> None:
        """Accept the lines that *data* completes.

        Raises:
            OSError: the server does not read; all of *data* is accepted nevertheless.
        """
        *complete, rest = data.split(b"\n")
        failure: OSError | None = None
        for text, is_end in [*((line, True) for line in complete), (rest, False)]:
            try:
                await self._add(text, is_end=is_end)
            except OSError as error:
                failure = error
        if failure is not None:
            raise failure

    async def _add(self, text: bytes, *, is_end: bool) -> None:
        if text:
            self._pieces.append(text)
            self._size += len(text)
        is_long = self._is_long or (self._accept_piece is not None and self._size > self._max_bytes)
        if not (is_end or is_long):
            return
        joined = b"".join(self._pieces)
        self._pieces, self._size, self._is_long = [], 0, is_long and not is_end
        if self._accept_piece is not None and is_long:
            await self._accept_piece(joined, is_end)
        else:
            await self._accept(joined)

    async def close(self) -> None:
        """Accept the last line, which may lack a line break, and close."""
        if self._pieces or self._is_long:
            await self.write(b"\n")
        self._close()

    def abort(self) -> None:
        """Close at once."""
        self._close()
