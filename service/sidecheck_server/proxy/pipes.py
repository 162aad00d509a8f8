"""Lines of pipes, sockets, terminals and files, with back-pressure."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from typing import Protocol

__all__ = ["LineTooLongError", "Reader", "Writer", "open_reader", "open_writer", "read_lines"]

_CHUNK = 64 << 10


class LineTooLongError(Exception):
    """A line is longer than the limit, so that the rest cannot be split into messages."""


class Reader(Protocol):
    """Reader of bytes, which returns b"" at the end."""

    async def read(self, n: int) -> bytes:
        """Return at most *n* bytes."""
        ...


class Writer(Protocol):
    """Writer of bytes, which waits while the other end does not read."""

    async def write(self, data: bytes) -> None:
        """Write *data*."""
        ...

    async def close(self) -> None:
        """Write the remaining bytes, and close."""
        ...

    def abort(self) -> None:
        """Close at once; a waiting `write` raises `OSError`."""
        ...


async def read_lines(reader: Reader, limit: int) -> AsyncIterator[bytes]:
    r"""Yield the lines of *reader* with line breaks, which the last line may lack.

    Raises:
        LineTooLongError: a line has more than *limit* bytes.
    """
    pieces: list[bytes] = []
    size = 0
    while chunk := await reader.read(_CHUNK):
        *complete, rest = chunk.split(b"\n")
        for line in complete:
            complete_line = b"".join([*pieces, line, b"\n"])
            pieces, size = [], 0
            if len(complete_line) > limit + 1:
                raise LineTooLongError
            yield complete_line
        if rest:
            pieces.append(rest)
            size += len(rest)
            if size > limit:
                raise LineTooLongError
    if pieces:
        yield b"".join(pieces)


async def open_reader(descriptor: int) -> Reader:
    """Return a reader of *descriptor*, that of a pipe, socket, terminal or file."""
    if not _is_stream(descriptor):
        return _FileReader(descriptor)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_CHUNK)
    pipe = os.fdopen(os.dup(descriptor), "rb", buffering=0)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader


async def open_writer(descriptor: int) -> Writer:
    """Return a writer to *descriptor*, that of a pipe, socket, terminal or file."""
    if not _is_stream(descriptor):
        return _FileWriter(descriptor)
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(os.dup(descriptor), "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop), pipe
    )
    return StreamWriter(asyncio.StreamWriter(transport, protocol, None, loop))


class StreamWriter:
    """Writes to a stream of asyncio."""

    def __init__(self, stream: asyncio.StreamWriter) -> None:
        self._stream = stream
        # `write` then returns only when the buffer is empty, so nothing is lost at the end.
        stream.transport.set_write_buffer_limits(high=0)

    async def write(self, data: bytes) -> None:
        """Write *data*; return when all of it is written.

        Raises:
            OSError: the other end is closed.
        """
        if self._stream.transport.is_closing():
            raise BrokenPipeError
        self._stream.write(data)
        await self._stream.drain()

    async def close(self) -> None:
        """Close the stream, even if the other end is closed."""
        self._stream.close()

    def abort(self) -> None:
        """Close the stream, and discard unwritten bytes."""
        self._stream.transport.abort()


class _FileReader:
    """Reads a regular file or /dev/null, which never block."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def read(self, n: int) -> bytes:
        return os.read(self._descriptor, n)


class _FileWriter:
    """Writes a regular file or /dev/null."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(os.dup(descriptor), "wb", buffering=0)

    async def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]

    async def close(self) -> None:
        self._file.close()

    def abort(self) -> None:
        """Do nothing: no write waits."""


def _is_stream(descriptor: int) -> bool:
    # Of the character devices, only terminals block; /dev/null cannot be polled.
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)
