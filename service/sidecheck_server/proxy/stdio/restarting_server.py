"""Server that is started again after it has ended."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from itertools import count

from sidecheck_server.core.types import Severity
from sidecheck_server.proxy.messages import (
    Message,
    Received,
    RequestId,
    join_object,
    read_object,
)
from sidecheck_server.proxy.report import Finding, Findings
from sidecheck_server.proxy.rulings.pending import Request
from sidecheck_server.proxy.stdio.endpoint import ServerEndpoint
from sidecheck_server.proxy.stdio.pipes import Writer
from sidecheck_server.proxy.stdio.server_process import ServerNotStartedError
from sidecheck_server.proxy.stdio.tapped_server import TappedServer

__all__ = ["RestartingServer"]

_END_SECONDS = 1.0
"""Seconds for a server to end after its output, and for the output to end after the server: child
processes may hold it."""

_MAX_PAUSES = 5
"""Times to wait for further output of child processes after the end of the server."""

_HANDSHAKE_SECONDS = 30.0
_MAX_REQUESTS = 1_000
"""Maximum number of requests of servers that are remembered."""

_INITIALIZED = "notifications/initialized"
_LISTS = ("tools", "resources", "prompts")


class RestartingServer(TappedServer):
    """The *server*, which *start* starts again for the next message; a `ServerEndpoint`.

    Requests that were open when it ended get an error, because nobody knows what it did for them.
    The client's handshake is repeated, *on_restart* awaited, and the client told that the lists
    may have changed, for each list whose changes the server declares.
    """

    def __init__(
        self,
        server: ServerEndpoint,
        start: Callable[[], Awaitable[ServerEndpoint]],
        on_restart: Callable[[], Awaitable[None]],
        report: Findings,
        max_bytes: int,
    ) -> None:
        super().__init__(max_bytes)
        self._server = server
        self._start = start
        self._on_restart = on_restart
        self._report = report
        #: Whether the relay ends, so that nothing is started any more.
        self._is_closing = False
        self._is_down = False
        self._exit_code = 0
        self._exit: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        #: Ids of open requests of the server, and of those of servers that have ended.
        self._asked: dict[RequestId, None] = {}
        self._stale: dict[RequestId, None] = {}
        self._initialize: Message | None = None
        self._is_initialized = False
        # Random, so that it never collides with an id of the client.
        self._id_prefix = f"sidecheck-restart-{secrets.token_hex(8)}-"
        self._ids = count(1)
        self._handshake_id = b""
        self._handshake: asyncio.Future[Message | None] | None = None
        self._passing: asyncio.Task[None] | None = None
        self._serving = asyncio.create_task(self._serve(server))

    async def wait(self) -> int:
        """Return the exit code of the last server, when no other is to be started."""
        return await asyncio.shield(self._exit)

    def send_signal(self, number: int) -> None:
        """Send the signal *number* to the server, and start no other."""
        self._is_closing = True
        self._server.send_signal(number)
        self._finish_if_down()

    async def end(self) -> None:
        """End the server, and start no other."""
        self._is_closing = True
        await self._server.end()
        if self._passing is not None:
            self._passing.cancel()  # a client that does not read must not delay the end
        await self._serving
        self._finish_if_down()

    async def pass_client_line(self, line: bytes, received: Received) -> None:
        """Pass *line* to the server, which may have to be started.

        Raises:
            OSError: the server has ended, and no other is to be started.
        """
        if self._is_down and not await self._restart(received):
            return
        message = received.content
        if isinstance(message, Message) and message.is_response and self._is_stale(message.id):
            return
        self._remember(received)
        try:
            await self._server.writer.write(line + b"\n")
        except OSError:
            await self._write_again(line, received)

    async def pass_client_piece(self, piece: bytes, *, is_first: bool) -> None:
        """Pass *piece* of a line to the server, which may have to be started for the first.

        Raises:
            OSError: the server has ended.
        """
        is_lost = self._is_down and not (is_first and await self._restart(Received(b"", None)))
        server = self._server
        if not is_lost:
            await server.writer.write(piece)
        if is_lost or self._is_down or server is not self._server:
            raise BrokenPipeError

    async def close(self) -> None:
        """Close the input of the server, and start no other."""
        async with self.input:
            self._is_closing = True
            await self._server.writer.close()
            self._finish_if_down()

    def holds_back(self, message: Message) -> bool:
        """Return whether *message* is the response to a repeated ``initialize``.

        Remember it if it is a request.
        """
        if message.is_request:
            _add(self._asked, message.id)
        if not message.has_answer or message.properties.get("id") != self._handshake_id:
            return False
        if self._handshake is not None and not self._handshake.done():
            self._handshake.set_result(message)
        return True

    async def _serve(self, server: ServerEndpoint) -> None:
        """Pass the output of *server* until it has ended; answer the open requests."""
        passing = self._passing = asyncio.create_task(self.pass_output(server.reader))
        exiting = asyncio.create_task(server.wait())
        await asyncio.wait({passing, exiting}, return_when=asyncio.FIRST_COMPLETED)
        await self._wait_for_rest(passing, exiting)
        await server.end()
        passing.cancel()
        await asyncio.gather(passing, return_exceptions=True)
        self._exit_code = await exiting
        self._is_down = True
        for id_ in self._asked:
            _add(self._stale, id_)
        self._asked.clear()
        await server.writer.close()
        if self._handshake is not None and not self._handshake.done():
            self._handshake.set_result(None)
            return  # the open requests are those that wait for the handshake
        if self._is_closing:
            self._finish_if_down()  # the relay answers the open requests
            return
        reason = (
            f"the server ended with exit code {self._exit_code} before it responded; the next"
            " message starts it again (--restart)"
        )
        for request in self.pending.pop():
            await self.answer(request, reason)

    async def _wait_for_rest(self, passing: asyncio.Task[None], exiting: asyncio.Task[int]) -> None:
        """Wait until the server has ended and its output is passed, or child processes hold it."""
        lines, pauses = -1, 0
        while not passing.done():
            if self._is_closing and exiting.done():
                self._finish(exiting.result())  # the relay waits for a client that reads slowly
            is_silent = lines == self.output_lines or pauses == _MAX_PAUSES
            if is_silent and not self.is_passing:
                break
            lines, pauses = self.output_lines, pauses + 1
            await asyncio.wait({passing}, timeout=_END_SECONDS)
        await asyncio.wait({exiting}, timeout=_END_SECONDS)

    async def _write_again(self, line: bytes, received: Received) -> None:
        """Pass *line*, which the server could not read, to the next one."""
        unread = self._find_open(received)
        for request in unread:
            self.pending.remove(request)  # it may be sent again: no server has read it
        await asyncio.wait({self._serving}, timeout=_END_SECONDS)
        for request in unread:
            self.pending.add(request)
        if not self._is_down:
            for request in unread:
                await self.answer(request, "the server has closed its input and runs on")
        elif await self._restart(received):
            self._remember(received)
            await self._server.writer.write(line + b"\n")

    async def _restart(self, received: Received) -> bool:
        """Start the server for *received*; return whether it is to get *received*.

        Without a server, the requests in *received* get an error.

        Raises:
            OSError: no server is to be started any more.
        """
        if self._is_closing:
            raise BrokenPipeError
        # Responses are to requests of a server that has ended. A request that is not open any
        # more has the error that the server ended.
        is_for_next = any("method" in message.properties for message in received.messages)
        has_requests = any(message.is_request for message in received.messages)
        if received.messages and not (self._find_open(received) if has_requests else is_for_next):
            return False
        try:
            failure = await self._start_again(received)
        except ServerNotStartedError as error:
            failure = f"the server has ended and cannot be started again: {error}"
        if not failure:
            return True
        for request in self._find_open(received):
            await self.answer(request, failure)
        return False

    def _is_stale(self, id_: RequestId) -> bool:
        """Return whether a response of the client with *id_* is for a server that has ended."""
        if id_ in self._asked:
            del self._asked[id_]
            return False
        if id_ not in self._stale:
            return False
        del self._stale[id_]
        return True

    def _find_open(self, received: Received) -> list[Request]:
        """Return the open requests in *received*."""
        requests = (
            self.pending.find(message.id) for message in received.messages if message.is_request
        )
        return [request for request in requests if request is not None]

    async def _start_again(self, received: Received) -> str:
        """Start the server, and repeat the handshake; return what failed, or ""."""
        exit_code = self._exit_code
        self._server = await self._start()
        self._is_down = False
        self._serving = asyncio.create_task(self._serve(self._server))
        is_handshake = any(message.method == "initialize" for message in received.messages)
        changed: Iterable[str] = ()
        if self._initialize is not None and not is_handshake:
            result = await self._repeat_handshake(self._server.writer, self._initialize)
            if result is None:
                await self._server.end()
                await self._serving
                return "the server was started again, and did not respond to initialize"
            changed = _lists_in(result)
        note = f"the server ended with exit code {exit_code}; it was started again (--restart)"
        self._report.add(
            Finding(sender="server", code="SERVER_RESTARTED", severity=Severity.WARNING, note=note)
        )
        await self._on_restart()
        for name in changed:
            method = f'"notifications/{name}/list_changed"'
            await self.send_to_client(join_object({"jsonrpc": b'"2.0"', "method": method.encode()}))
        return ""

    async def _repeat_handshake(self, writer: Writer, initialize: Message) -> Message | None:
        """Initialize the server as the client did; return its response, None without a result."""
        self._handshake_id = f'"{self._id_prefix}{next(self._ids)}"'.encode()
        self._handshake = asyncio.get_running_loop().create_future()
        response = None
        with suppress(OSError, TimeoutError):
            await writer.write(initialize.with_property("id", self._handshake_id) + b"\n")
            response = await asyncio.wait_for(self._handshake, _HANDSHAKE_SECONDS)
            if response is not None and response.result is not None and self._is_initialized:
                initialized = {"jsonrpc": b'"2.0"', "method": f'"{_INITIALIZED}"'.encode()}
                await writer.write(join_object(initialized) + b"\n")
        return None if response is None or response.result is None else response

    def _remember(self, received: Received) -> None:
        """Remember the handshake of the client."""
        for message in received.messages:
            if message.method == "initialize":
                self._initialize, self._is_initialized = message, False
            elif message.method == _INITIALIZED:
                self._is_initialized = True

    def _finish_if_down(self) -> None:
        if self._is_down:
            self._finish(self._exit_code)
            self.end_output()

    def _finish(self, exit_code: int) -> None:
        if not self._exit.done():
            self._exit.set_result(exit_code)


def _add(ids: dict[RequestId, None], id_: RequestId) -> None:
    """Add *id_* to *ids*, in place of the oldest beyond the maximum."""
    ids[id_] = None
    if len(ids) > _MAX_REQUESTS:
        del ids[next(iter(ids))]


def _lists_in(response: Message) -> list[str]:
    """Return the lists of the server in *response* to ``initialize`` that can change."""
    capabilities = read_object((response.result or {}).get("capabilities", b"{}")) or {}
    return [
        name
        for name in _LISTS
        if (read_object(capabilities.get(name, b"{}")) or {}).get("listChanged") == b"true"
    ]
