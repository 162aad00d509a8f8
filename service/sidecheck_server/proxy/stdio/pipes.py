"""Pipes, sockets, terminals and files, read and written by blocking calls in threads.

`O_NONBLOCK` belongs to an open file description, which other processes may share: standard input,
output and error can be one socket or terminal. So no descriptor is ever set non-blocking.
"""

import asyncio
import os
import select
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

__all__ = [
    "DescriptorReader",
    "DescriptorWriter",
    "Line",
    "LineReader",
    "Reader",
    "Writer",
    "take_descriptor",
]

_CHUNK = 64 << 10

_Result = TypeVar("_Result")


class Reader(Protocol):
    """Reader of bytes, which returns b"" at the end."""

    async def read(self, n: int) -> bytes:
        """Return at most *n* bytes."""
        ...


class Writer(Protocol):
    """Writer of bytes, which waits while the other end does not read."""

    async def write(self, data: bytes) -> None:
        """Write *data*.

        Raises:
            OSError: the other end is closed.
        """
        ...

    async def close(self) -> None:
        """Close, even if the other end is closed."""
        ...

    def abort(self) -> None:
        """Close at once; a waiting `write` raises `OSError`."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its line break, which the last line may lack, or a piece of a long line."""

    text: bytes
    #: Whether the line is longer than the limit, so that it arrives in pieces.
    is_piece: bool = False
    #: Whether the line ends here.
    is_end: bool = True


class LineReader:
    """Splits the bytes of *reader* into lines; those of more than *limit* bytes into pieces.

    With a limit of 0, the bytes pass as they arrive.
    """

    def __init__(self, reader: Reader, limit: int) -> None:
        self._reader = reader
        self.limit = limit
        #: Number of chunks so far, by which others notice that the sender is silent.
        self.chunks = 0

    async def lines(self) -> AsyncIterator[Line]:
        """Yield the lines, and pieces of lines."""
        pieces: list[bytes] = []
        size = 0
        is_long = False
        while chunk := await self._reader.read(_CHUNK):
            self.chunks += 1
            *complete, rest = chunk.split(b"\n")
            for part in complete:
                text = b"".join([*pieces, part, b"\n"])
                yield Line(text, is_piece=is_long or len(text) > self.limit + 1)
                pieces, size, is_long = [], 0, False
            if rest:
                pieces.append(rest)
                size += len(rest)
            if rest and (is_long or size > self.limit):
                is_long = True
                yield Line(b"".join(pieces), is_piece=True, is_end=False)
                pieces, size = [], 0
        if pieces or is_long:
            yield Line(b"".join(pieces), is_piece=is_long)


def take_descriptor(descriptor: int, flags: int) -> int:
    """Return a private copy of *descriptor*; put the null device, opened with *flags*, there.

    Child processes then cannot inherit the original, and closing the copy closes it.
    """
    copy = os.dup(descriptor)
    null = os.open(os.devnull, flags)
    os.dup2(null, descriptor)
    os.close(null)
    return copy


class DescriptorReader:
    """Reads a descriptor, one chunk at a time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._calls = _BlockingCalls("read")
        #: Whether any bytes were read.
        self.has_read = False
        #: Set at the end of the input.
        self.ended = asyncio.Event()

    async def read(self, n: int) -> bytes:
        """Return at most *n* bytes, b"" at the end or if the other end has failed.

        The descriptor is closed at the end.
        """
        if self.ended.is_set():
            return b""
        try:
            data = await self._calls.run(lambda: self._read(n))
        except OSError:
            data = b""  # a terminal without its other side fails with EIO
        if data:
            self.has_read = True
        else:
            self.ended.set()
            self._calls.end(lambda: os.close(self._descriptor))
        return data

    def _read(self, n: int) -> bytes:
        while True:
            try:
                return os.read(self._descriptor, n)
            except BlockingIOError:  # another process has set O_NONBLOCK
                select.select([self._descriptor], [], [])


class DescriptorWriter:
    """Writes to a descriptor, which it owns."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._calls = _BlockingCalls("write")
        self._lock = asyncio.Lock()
        self._aborted = asyncio.Event()
        self._is_closed = False

    async def write(self, data: bytes) -> None:
        """Write *data*; return when all of it is written.

        Raises:
            OSError: the other end is closed.
        """
        async with self._lock:
            if self._is_closed:
                raise BrokenPipeError
            writing = asyncio.ensure_future(self._calls.run(lambda: self._write(data)))
            aborted = asyncio.ensure_future(self._aborted.wait())
            await asyncio.wait({writing, aborted}, return_when=asyncio.FIRST_COMPLETED)
            aborted.cancel()
            if not writing.done():
                writing.cancel()
                raise BrokenPipeError
            await writing

    async def close(self) -> None:
        """Close the descriptor after the running write."""
        if self._is_closed:
            return
        self._is_closed = True
        # Not in this thread, because closing does not end a write that blocks in another.
        self._calls.end(lambda: os.close(self._descriptor))

    def abort(self) -> None:
        """Let a waiting write fail, and close."""
        self._aborted.set()
        if not self._is_closed:
            self._is_closed = True
            self._calls.end(lambda: os.close(self._descriptor))

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:  # another process has set O_NONBLOCK
                select.select([], [self._descriptor], [])


class _BlockingCalls:
    """Runs blocking calls, in order, in a daemon thread, which cannot delay the end."""

    def __init__(self, name: str) -> None:
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def end(self, function: Callable[[], object]) -> None:
        """Call *function* after the calls so far, ignoring an `OSError`; end the thread."""

        def call() -> None:
            with suppress(OSError):
                function()

        self._queue.put(call)
        self._queue.put(None)

    async def run(self, function: Callable[[], _Result]) -> _Result:
        """Call *function*, and return its result."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Result] = loop.create_future()

        def call() -> None:
            try:
                result = function()
            except OSError as error:
                self._settle(loop, future, future.set_exception, error)
            else:
                self._settle(loop, future, future.set_result, result)

        self._queue.put(call)
        return await future

    @staticmethod
    def _settle(
        loop: asyncio.AbstractEventLoop,
        future: "asyncio.Future[_Result]",
        set_outcome: Callable[[Any], None],
        outcome: object,
    ) -> None:
        def settle() -> None:
            if not future.done():
                set_outcome(outcome)

        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle)

    def _run(self) -> None:
        while (call := self._queue.get()) is not None:
            call()
