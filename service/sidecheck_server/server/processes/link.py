"""Calls between two processes of one service, over a connected socket.

Values are sent as pickles, which is safe since both processes belong to the service and run as
the same user.
"""

import asyncio
import pickle
import socket
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any, Final, Self

__all__ = ["Link", "LinkClosed"]

_LENGTH_BYTES = 8

_CALL, _NOTIFICATION, _RESULT, _ERROR, _CANCEL = range(5)


class LinkClosed(Exception):
    """The other process has ended or closed its end."""


class Link:
    """Calls handlers of the other process, and responds to its calls with *handlers*.

    Handlers are called by name, in the order of the calls, before later messages are read. If a
    handler returns an awaitable, that runs in a separate task. Cancelling a call on one side
    cancels it on the other side.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        handlers: Mapping[str, Callable[..., Any]],
    ) -> None:
        self._writer = writer
        self._handlers = handlers
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._tasks: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0
        self._is_closed = False
        #: Done when the other process has closed its end.
        self.closed: Final[asyncio.Future[None]] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read(reader))

    @classmethod
    async def open(
        cls, connection: socket.socket, handlers: Mapping[str, Callable[..., Any]]
    ) -> Self:
        """Return a link over *connection*, which the link closes."""
        return cls(*await asyncio.open_connection(sock=connection), handlers)

    def call(self, name: str, *arguments: object) -> "asyncio.Future[Any]":
        """Call the handler *name* of the other process, and return a future of its result.

        The call is sent even if nobody awaits the future. The future fails with the exception of
        the handler, or with `LinkClosed` if the other process ends first.
        """
        result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self._is_closed:
            result.set_exception(LinkClosed())
            return result
        self._last_id += 1
        id_ = self._last_id
        self._calls[id_] = result
        result.add_done_callback(lambda _: self._remove_call(id_))
        self._send(_CALL, id_, (name, arguments))
        return result

    def notify(self, name: str, *arguments: object) -> None:
        """Call the handler *name* of the other process without a result, if it still runs."""
        self._send(_NOTIFICATION, 0, (name, arguments))

    async def close(self) -> None:
        """Close this end, and end the calls of both sides."""
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        self._end()  # The task may not have started.

    def _send(self, kind: int, id_: int, value: object) -> None:
        if self._is_closed:
            return
        text = pickle.dumps((kind, id_, value), pickle.HIGHEST_PROTOCOL)
        self._writer.write(len(text).to_bytes(_LENGTH_BYTES) + text)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(_LENGTH_BYTES))
                self._receive(*pickle.loads(await reader.readexactly(size)))  # noqa: S301 - ours
        except (asyncio.IncompleteReadError, OSError):
            pass  # The other process has ended.
        finally:
            self._end()

    def _receive(self, kind: int, id_: int, value: Any) -> None:
        if kind == _CALL:
            self._answer(id_, *value)
        elif kind == _NOTIFICATION:
            name, arguments = value
            self._handlers[name](*arguments)
        elif kind == _CANCEL:
            if id_ in self._tasks:
                self._tasks[id_].cancel()
        elif (result := self._calls.get(id_)) is not None and not result.done():
            if kind == _RESULT:
                result.set_result(value)
            else:
                result.set_exception(value)

    def _remove_call(self, id_: int) -> None:
        if self._calls.pop(id_).cancelled():
            self._send(_CANCEL, id_, None)

    def _answer(self, id_: int, name: str, arguments: tuple[Any, ...]) -> None:
        try:
            result = self._handlers[name](*arguments)
        except Exception as error:  # noqa: BLE001 - the other process raises it
            self._send_error(id_, error)
            return
        if not isawaitable(result):
            self._send(_RESULT, id_, result)
            return
        task = self._tasks[id_] = asyncio.ensure_future(_await_value(result))
        task.add_done_callback(lambda done: self._finish(id_, done))

    def _finish(self, id_: int, task: "asyncio.Future[Any]") -> None:
        del self._tasks[id_]
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._send(_RESULT, id_, task.result())
        elif isinstance(error, Exception):
            self._send_error(id_, error)

    def _send_error(self, id_: int, error: Exception) -> None:
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 - pickled in the same line
        except Exception:  # noqa: BLE001 - an exception may have any state
            error = RuntimeError(type(error).__qualname__)
        self._send(_ERROR, id_, error)

    def _end(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._writer.close()
        for result in tuple(self._calls.values()):
            if not result.done():
                result.set_exception(LinkClosed())
        for task in self._tasks.values():
            task.cancel()
        if not self.closed.done():
            self.closed.set_result(None)


async def _await_value(value: Awaitable[Any]) -> Any:
    return await value
