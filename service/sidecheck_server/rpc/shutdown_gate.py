"""The door: calls that come too late are told to go elsewhere."""

import asyncio

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["ShutdownGate"]

_LOOK_SECONDS = 0.05
_LOOKS = 20
"""How often to look, at most, whether calls still come."""


class ShutdownGate:
    """Turns calls away once it is shut.

    gRPC cancels the calls that wait to be accepted when a server stops
    (https://github.com/grpc/grpc/issues/41785). Clients try a call again that was
    answered UNAVAILABLE, but not one that was CANCELLED. So calls are answered until
    clients have heard, and the server stops only then.
    """

    def __init__(self) -> None:
        self._shut = False
        self._turned_away = 0

    def enter(self) -> None:
        """Let a call in.

        Raises:
            Refusal: SHUTTING_DOWN if the door is shut.
        """
        if self._shut:
            self._turned_away += 1
            said = "the server is stopping and takes no more calls"
            raise RequestError(ErrorReason.SHUTTING_DOWN, said)

    async def shut(self) -> None:
        """Turn calls away from now on; return when none came for a moment, or a second passed."""
        self._shut = True
        for _ in range(_LOOKS):
            before = self._turned_away
            await asyncio.sleep(_LOOK_SECONDS)
            if before == self._turned_away:
                return
