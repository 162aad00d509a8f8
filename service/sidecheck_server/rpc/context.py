"""What a transport with messages and statuses of gRPC gives to a call."""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

import grpc

__all__ = ["Context"]


class Context(Protocol):
    """A call in its transport. The `ServicerContext` of gRPC is one, without an adapter."""

    def peer(self) -> str:
        """Return the address of the connection, as gRPC writes it, such as ``ipv4:…:…``."""
        ...

    def invocation_metadata(self) -> Sequence[tuple[str, str | bytes]] | None:
        """Return names and values; those of names that end with ``-bin`` are bytes."""
        ...

    def time_remaining(self) -> float | None:
        """Return the seconds until the deadline, or None if there is none."""
        ...

    async def read(self) -> Any:
        """Return the next message, or `grpc.aio.EOF` after the last one.

        Raises:
            CancelledError: the peer has cancelled the call; gRPC may raise `InternalError`.
        """
        ...

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Call *callback* with this context when the call has ended and its response is sent."""
        ...

    async def abort(
        self, code: grpc.StatusCode, details: str, trailing_metadata: Sequence[tuple[str, Any]]
    ) -> NoReturn:
        """End the call with a status."""
        ...
