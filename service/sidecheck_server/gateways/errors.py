"""Ends of the calls of gateways: the status of whatever ended one."""

import structlog

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.gateways.outcomes import Outcome
from sidecheck_server.proxy.pins import LockFileError
from sidecheck_server.rpc.calls import Call, CallFailed
from sidecheck_server.rpc.handler import status_of

__all__ = ["failure_of"]

_log = structlog.get_logger("sidecheck.gateways")


def failure_of(error: Exception, method: str, call: Call, outcome: Outcome) -> CallFailed:
    """Return the end of *call*, of *method*, which *error* ended; log and count why.

    *outcome* is that of its exchange, which has failed.
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
    call.observe_error(error.reason if isinstance(error, RequestError) else None)
    outcome.fail(error)
    return CallFailed(status_of(error, method))
