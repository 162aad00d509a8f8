"""Shutdown gate: rejects the calls that arrive while the server shuts down."""

import asyncio

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["ShutdownGate"]

_POLL_SECONDS = 0.05
_MAX_POLLS = 20


class ShutdownGate:
    """Admits calls until it is closed.

    gRPC cancels the calls that wait to be accepted when a server stops
    (https://github.com/grpc/grpc/issues/41785). Clients retry calls that fail with
    UNAVAILABLE, but not those that fail with CANCELLED. The server therefore rejects
    calls until clients have noticed, and stops only then.
    """

    def __init__(self) -> None:
        self._closed = False
        self._rejected = 0

    def enter(self) -> None:
        """Admit a call.

        Raises:
            RequestError: SHUTTING_DOWN if the gate is closed.
        """
        if self._closed:
            self._rejected += 1
            raise RequestError(
                ErrorReason.SHUTTING_DOWN, "the server is shutting down and accepts no more calls"
            )

    async def close(self) -> None:
        """Reject calls from now on; return once none arrives for 50 ms, or after a second."""
        self._closed = True
        for _ in range(_MAX_POLLS):
            rejected = self._rejected
            await asyncio.sleep(_POLL_SECONDS)
            if rejected == self._rejected:
                return
