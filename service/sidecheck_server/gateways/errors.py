"""Ends of the calls of gateways: the status of whatever ended one."""

from typing import Any, NoReturn

import grpc
import structlog

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.proxy.pins import LockFileError
from sidecheck_server.rpc.handler import status_of
from sidecheck_server.rpc.status import abort

__all__ = ["abort_by"]

_log = structlog.get_logger("sidecheck.gateways")


async def abort_by(
    error: Exception, method: str, context: grpc.aio.ServicerContext[Any, Any]
) -> NoReturn:
    """End a call of *method* with the status of *error*, which ended it; log why.

    The gateway has no more than its code to tell an operator.
    """
    if isinstance(error, LockFileError):
        _log.error("gateway.pins_unusable", detail=str(error))
        error = RequestError(
            ErrorReason.REGISTRY_UNUSABLE, "the lock file of pinned tools cannot be used"
        )
    elif isinstance(error, RequestError):
        _log.warning(
            "gateway.failed", method=method, reason=error.reason.value, detail=error.message
        )
    await abort(context, status_of(error, method))
