"""The door: calls that come too late are told to go elsewhere."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.rpc.status import abort, refusal_to_wire

__all__ = ["Door"]

_LOOK_SECONDS = 0.05
_LOOKS = 20
"""How often to look, at most, whether calls still come."""

_OURS = "/sidecheck."
"""How the methods begin that are turned away; health goes on to answer."""


class Door(grpc.aio.ServerInterceptor):
    """Turns calls away once it is shut.

    gRPC cancels the calls that wait to be accepted when a server stops
    (https://github.com/grpc/grpc/issues/41785). Clients try a call again that was
    answered UNAVAILABLE, but not one that was CANCELLED. So calls are answered until
    clients have heard, and the server stops only then.
    """

    def __init__(self) -> None:
        self._shut = False
        self._turned_away = 0

    async def shut(self) -> None:
        """Turn calls away from now on; return when none came for a moment, or a second passed."""
        self._shut = True
        for _ in range(_LOOKS):
            before = self._turned_away
            await asyncio.sleep(_LOOK_SECONDS)
            if before == self._turned_away:
                return

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """Return the handler of a call."""
        if self._shut and handler_call_details.method.startswith(_OURS):
            self._turned_away += 1
            # What comes in a stream need not be waited for, so this serves single calls too.
            return _TURN_AWAY
        return await continuation(handler_call_details)


async def _turn_away(_requests: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:
    refusal = Refusal(Reason.SHUTTING_DOWN, "the server is stopping and takes no more calls")
    await abort(context, refusal_to_wire(refusal))


_TURN_AWAY: Any = grpc.stream_stream_rpc_method_handler(_turn_away)
