"""The caller of the current call."""

from typing import Any

import grpc

from sidecheck_server.workers import CALLER

__all__ = ["set_caller"]


def set_caller(context: grpc.aio.ServicerContext[Any, Any]) -> None:
    """Set `CALLER` to the peer of the call of *context*, which must have just begun.

    gRPC frees the peer with the call: reading it later, for work that outlives the call,
    crashes the process.
    """
    CALLER.set(context.peer())
