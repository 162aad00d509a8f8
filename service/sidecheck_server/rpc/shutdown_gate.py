"""Shutdown gate: delays calls until clients know of the stop, then ends them."""

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
    """Admits calls until it is closed, and tracks active calls.

    When a server stops, gRPC cancels calls that arrive before their client has read its GOAWAY,
    calls that wait to be accepted (https://github.com/grpc/grpc/issues/41785), and calls that
    are active at the end of the grace period. Clients retry calls that fail with UNAVAILABLE,
    but not calls that fail with CANCELLED. So the server pauses before it sends GOAWAY: while
    it sends no responses, clients that wait for one send no more calls, and neither do clients
    whose connections are full. Delayed calls and responses continue after GOAWAY. At the end of
    the grace period, the gate ends the active calls before gRPC does.

    A call of a client that does not wait for responses may still cross GOAWAY and be cancelled.
    """

    def __init__(self) -> None:
        #: Whether calls and responses are delayed.
        self.is_paused = False
        self._resumed = asyncio.Event()
        self._closed = False
        self._arrived = 0
        self._active: set[asyncio.Task[Any]] = set()
        self._ended = False

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Admit the call of the current task for the block, which may end in another task.

        Raises:
            RequestError: SHUTTING_DOWN if the gate is closed.
        """
        task = self.enter()
        try:
            yield
        finally:
            # If the peer of a stream is gone, another task of the event loop ends the block.
            self.leave(task)

    def enter(self) -> asyncio.Task[Any]:
        """Admit the call of the current task, and return the task for `leave`.

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
        """Record that the call of *task* has ended."""
        self._active.discard(task)

    async def enter_after_pause(self) -> asyncio.Task[Any]:
        """Wait for the end of the pause, then admit the call of the current task."""
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
        """Delay calls and responses; return when no more calls arrive.

        The pause ends after 100 ms without a call in which the event loop was not late, since a
        busy machine delays calls too. It ends after `_MAX_POLLS` polls in any case.
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
        """Reject further calls, and end the pause, so that delayed calls continue."""
        self._closed = True
        self.is_paused = False
        self._resumed.set()

    async def drain(self) -> None:
        """Wait until no call of any transport is active."""
        while self._active:
            await asyncio.wait(self._active, return_when=asyncio.FIRST_COMPLETED)

    def end_calls(self) -> None:
        """Cancel active calls; `cancelled_call_error` has the error for their handlers."""
        self._ended = True
        for task in self._active:
            task.cancel()

    def cancelled_call_error(self) -> RequestError | None:
        """Return the error of a call whose task this gate cancelled, or None otherwise.

        Reverts the cancellation of the current task, so that it can send the error.
        """
        task = asyncio.current_task()
        if not self._ended or task is None:
            return None
        task.uncancel()
        return RequestError(
            ErrorReason.SHUTTING_DOWN,
            "the server shut down before the call finished; the call may be retried",
        )
