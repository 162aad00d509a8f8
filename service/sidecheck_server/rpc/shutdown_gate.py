"""Shutdown gate: rejects the calls that arrive, or are still active, when the server stops."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["ShutdownGate"]

_POLL_SECONDS = 0.05
_MAX_POLLS = 20


class ShutdownGate:
    """Admits calls until it is closed, and knows those that are active.

    gRPC cancels the calls that wait to be accepted when a server stops
    (https://github.com/grpc/grpc/issues/41785), and those that are active at the end of
    the grace period. Clients retry calls that fail with UNAVAILABLE, but not those that
    fail with CANCELLED. The server therefore rejects calls until clients have noticed,
    and stops only then; and it ends the active calls before gRPC does.
    """

    def __init__(self) -> None:
        self._closed = False
        self._rejected = 0
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
            self._rejected += 1
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

    async def close(self) -> None:
        """Reject calls from now on; return once none arrives for 50 ms, or after a second."""
        self._closed = True
        for _ in range(_MAX_POLLS):
            rejected = self._rejected
            await asyncio.sleep(_POLL_SECONDS)
            if rejected == self._rejected:
                return

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
