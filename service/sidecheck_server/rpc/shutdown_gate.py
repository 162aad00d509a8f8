"""Shutdown gate: holds calls back until clients know of the stop, and ends those left over."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["ShutdownGate"]

_POLL_SECONDS = 0.05
_QUIET_POLLS = 2
_MAX_POLLS = 20


class ShutdownGate:
    """Admits calls until it is closed, and knows those that are active.

    gRPC cancels the calls that arrive after a server has begun to stop and before their
    client has read its GOAWAY, and those that wait to be accepted
    (https://github.com/grpc/grpc/issues/41785), as well as those that are active at the end
    of the grace period. Clients retry calls that fail with UNAVAILABLE, but not those that
    fail with CANCELLED. So the server pauses before it sends GOAWAY: without responses,
    clients that await them send nothing more, nor do others whose connections are full. Held
    calls and responses go on after GOAWAY. At the end, the gate ends the active calls before
    gRPC does.

    A call of a client that does not await others may cross GOAWAY; it is cancelled.
    """

    def __init__(self) -> None:
        #: Whether calls and responses are held back.
        self.is_paused = False
        self._resumed = asyncio.Event()
        self._closed = False
        self._arrived = 0
        self._active: set[asyncio.Task[Any]] = set()
        self._ended = False

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Admit the call of the current task for the block, which any task may leave.

        Raises:
            RequestError: SHUTTING_DOWN if the gate is closed.
        """
        task = self.enter()
        try:
            yield
        finally:
            # The block of a stream whose peer left is ended by a task of the event loop.
            self.leave(task)

    def enter(self) -> asyncio.Task[Any]:
        """Admit the call of the current task, and return the task, which must `leave`.

        Raises:
            RequestError: SHUTTING_DOWN if the gate is closed.
        """
        if self._closed:
            raise RequestError(
                ErrorReason.SHUTTING_DOWN, "the server is shutting down and accepts no more calls"
            )
        task = asyncio.current_task()
        assert task is not None
        self._active.add(task)
        return task

    def leave(self, task: asyncio.Task[Any]) -> None:
        """Note that the call of *task* has ended."""
        self._active.discard(task)

    async def enter_after_pause(self) -> asyncio.Task[Any]:
        """Admit the call of the current task, which arrived in the pause, once that is over."""
        self._arrived += 1
        task = self.enter()
        try:
            await self._resumed.wait()
        except BaseException:
            self.leave(task)
            raise
        return task

    async def hold_response(self) -> None:
        """Wait until the pause is over."""
        await self._resumed.wait()

    async def pause(self) -> None:
        """Let gRPC hold calls and responses back; return once no call arrives.

        That is for 100 ms, of which the event loop is late in none, as calls may be late too
        on a busy machine; or a second at most, if it is not late.
        """
        self.is_paused = True
        quiet_polls = 0
        for _ in range(_MAX_POLLS):
            arrived, due = self._arrived, time.monotonic() + _POLL_SECONDS
            await asyncio.sleep(_POLL_SECONDS)
            is_late = time.monotonic() - due > _POLL_SECONDS
            quiet_polls = 0 if is_late or arrived != self._arrived else quiet_polls + 1
            if quiet_polls == _QUIET_POLLS:
                return

    def close(self) -> None:
        """Reject calls from now on, and end the pause: what was held back goes on."""
        self._closed = True
        self.is_paused = False
        self._resumed.set()

    async def drain(self) -> None:
        """Return once no call is active, whatever carries it."""
        while self._active:
            await asyncio.wait(self._active, return_when=asyncio.FIRST_COMPLETED)

    def end_calls(self) -> None:
        """Cancel the active calls; `cancelled_call_error` tells their handlers why."""
        self._ended = True
        for task in self._active:
            task.cancel()

    def cancelled_call_error(self) -> RequestError | None:
        """Return the error of a call whose task was cancelled, or None if not by this gate.

        The cancellation of the current task is taken back, so that it can send the error.
        """
        task = asyncio.current_task()
        if not self._ended or task is None:
            return None
        task.uncancel()
        return RequestError(
            ErrorReason.SHUTTING_DOWN,
            "the server shut down before the call finished; the call may be retried",
        )
