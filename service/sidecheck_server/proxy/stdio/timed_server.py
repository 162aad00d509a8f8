"""Server whose requests have a maximum time."""

import asyncio
from collections import OrderedDict
from contextlib import suppress

from sidecheck_server.proxy.call_timeouts import cancellation, timeout_finding, timeout_reason
from sidecheck_server.proxy.messages import Message, Received, RequestId
from sidecheck_server.proxy.report import Action, Findings
from sidecheck_server.proxy.rulings.pending import Request
from sidecheck_server.proxy.stdio.endpoint import ServerEndpoint
from sidecheck_server.proxy.stdio.tapped_server import TappedServer

__all__ = ["TimedServer"]

_MAX_LATE = 1_000
"""Ids of requests that had no response in time, whose responses are held back."""

_UNLIMITED = frozenset({"subscriptions/listen"})
"""Requests whose response comes at the end of a subscription (2026-07-28)."""

_UNCANCELLABLE = frozenset({"initialize"})
"""Requests that clients must not cancel (2025-11-25, basic/utilities/cancellation)."""


class TimedServer(TappedServer):
    """The *server*, which has *seconds* for each response; a `ServerEndpoint`.

    After that time the client gets an error, the server a cancellation, and a response that comes
    nevertheless is held back, because a request has one response.
    """

    def __init__(
        self, server: ServerEndpoint, seconds: float, report: Findings, max_bytes: int
    ) -> None:
        super().__init__(max_bytes)
        self._server = server
        self._seconds = seconds
        self._report = report
        self._timers: dict[Request, asyncio.TimerHandle] = {}
        self._late: OrderedDict[RequestId, str] = OrderedDict()
        self._tasks = {asyncio.create_task(self._relay())}

    async def wait(self) -> int:
        """Return the exit code of the server, as soon as it has ended."""
        return await self._server.wait()

    def send_signal(self, number: int) -> None:
        """Send the signal *number* to the server."""
        self._server.send_signal(number)

    async def end(self) -> None:
        """End the server."""
        for timer in self._timers.values():
            timer.cancel()
        await self._server.end()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def pass_client_line(self, line: bytes, _received: Received) -> None:
        """Pass *line* to the server."""
        await self._server.writer.write(line + b"\n")

    async def pass_client_piece(self, piece: bytes, *, is_first: bool) -> None:  # noqa: ARG002
        """Pass *piece* of a line to the server."""
        await self._server.writer.write(piece)

    async def close(self) -> None:
        """Close the input of the server."""
        await self._server.writer.close()

    def on_request(self, request: Request) -> None:
        """Start the time of *request*."""
        # The server has obeyed the cancellation of an earlier request with this id, or a client
        # that uses an id again expects that.
        self._late.pop(request.id, None)
        if request.method not in _UNLIMITED:
            loop = asyncio.get_running_loop()
            self._timers[request] = loop.call_later(self._seconds, self._expire, request)

    def on_response(self, request: Request) -> None:
        """Stop the time of *request*."""
        timer = self._timers.pop(request, None)
        if timer is not None:
            timer.cancel()

    def holds_back(self, message: Message) -> bool:
        """Return whether *message* is a response that comes too late."""
        if not message.has_answer or message.id not in self._late:
            return False
        note = "a response came after the time of its request (--timeout); not forwarded"
        self._report.add(timeout_finding(self._late.pop(message.id), note, Action.DROPPED))
        return True

    async def _relay(self) -> None:
        await self.pass_output(self._server.reader)
        self.end_output()

    def _expire(self, request: Request) -> None:
        # At once, so that no response passes any more.
        del self._timers[request]
        self.pending.remove(request)
        self._late[request.id] = request.method
        if len(self._late) > _MAX_LATE:
            self._late.popitem(last=False)
        task = asyncio.create_task(self._cancel(request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _cancel(self, request: Request) -> None:
        reason = timeout_reason(self._seconds)
        self._report.add(timeout_finding(request.method, reason))
        await self.answer(request, reason)
        if request.method not in _UNCANCELLABLE:
            line = cancellation(request.id_text, reason) + b"\n"
            with suppress(OSError):  # the server has ended
                async with self.input:
                    await self._server.writer.write(line)
