"""Handlers of unary methods, with conversion of errors and the access log.

A request error becomes a status. An unexpected exception becomes INTERNAL with an opaque id,
which is also in the log. Each call is one event in the log, without content of the request.
"""

import asyncio
import logging
import secrets
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, wraps
from types import MappingProxyType
from typing import Any, TypeVar

import grpc
import structlog
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.rpc.access_log import LoggedResponse, log_fields, verdict_codes
from sidecheck_server.rpc.calls import Call, CallFailed
from sidecheck_server.rpc.method_table import raise_if_unreadable
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.rpc.status import DOMAIN, status_from_error

__all__ = [
    "check_response_size",
    "failed_call_status",
    "log_failure",
    "rpc_handler",
    "status_of",
]


_NO_REASONS: Mapping[str, int] = MappingProxyType({})

_Servicer = TypeVar("_Servicer")
_Request = TypeVar("_Request")
_Response = TypeVar("_Response")
_Method = Callable[[_Servicer, _Request], LoggedResponse | Awaitable[LoggedResponse | _Response]]

_log = structlog.get_logger("sidecheck.rpc")
_is_logged = logging.getLogger("sidecheck").isEnabledFor


def rpc_handler(method: _Method[_Servicer, _Request, _Response]) -> Any:
    """Decorate *method*, which returns a response, as the handler of a `Method`.

    *method* returns a response, or an awaitable of one. If the request has a `min_revision`, the
    handler first waits until the `changes` of the servicer have reached that revision.
    """
    name = method.__name__

    @wraps(method)
    async def handler(servicer: Any, request: Any, call: Call) -> _Response:
        started = time.perf_counter()
        try:
            raise_if_unreadable(request)
            min_revision = request.min_revision if _has_min_revision(request.__class__) else 0
            if min_revision and min_revision > servicer.changes.latest:
                await servicer.changes.wait_for_revision(min_revision, call.time_remaining())
            result = method(servicer, request)
            response = result if isinstance(result, LoggedResponse) else await result
        except RequestError as error:
            _log.info("rpc.rejected", method=name, reason=error.reason.value, ms=_ms(started))
            call.observe_error(error.reason)
            raise CallFailed(status_from_error(error)) from None
        except Exception as error:  # noqa: BLE001  (nothing unexpected may reach the client)
            call.observe_error(None)
            raise CallFailed(status_of(error, name)) from None
        if isinstance(response, LoggedResponse):
            response, level, fields, codes, reasons = response
        else:
            level, fields = log_fields(response)
            codes, reasons = verdict_codes(response, fields), _NO_REASONS
        call.observe(fields, codes, reasons)
        # This check costs a tenth of what structlog takes to filter an event.
        if _is_logged(level):
            _log.log(level, "rpc.completed", method=name, ms=_ms(started), **fields)
        return response

    return handler


@cache
def _has_min_revision(request_type: Any) -> bool:
    """Return whether *request_type* has a `min_revision`; cached to save time."""
    return "min_revision" in request_type.DESCRIPTOR.fields_by_name


def check_response_size(response: Message, limits: Limits) -> None:
    """Reject a *response* that is larger than clients accept by default.

    Raises:
        RequestError: LIMIT_EXCEEDED.
    """
    size = response.ByteSize()
    if size > limits.message_bytes:
        raise limit_exceeded_error("message_bytes", limits.message_bytes, "the response", size)


def failed_call_status(
    error: BaseException,
    method: str,
    observe_error: Callable[[ErrorReason | None], None],
    gate: ShutdownGate | None = None,
) -> Status:
    """Return the status of a call that *error* ended, in its handler or before.

    This function records and logs calls that were not admitted or read; handlers do that for
    all other calls.

    Raises:
        CancelledError: *error*, if *gate* has not cancelled the call.
    """
    if isinstance(error, CallFailed):
        return error.status
    if isinstance(error, asyncio.CancelledError):
        gate_error = None if gate is None else gate.cancelled_call_error()
        if gate_error is None:
            raise error
        error = gate_error
    if isinstance(error, RequestError):
        observe_error(error.reason)
        # `Admission` logs overload once a second: an event costs as much as a small call.
        if error.reason is not ErrorReason.OVERLOADED:
            _log.info("rpc.rejected", method=method, reason=error.reason.value)
        return status_from_error(error)
    if not isinstance(error, Exception):
        raise error
    observe_error(None)
    return _internal_error(error, method)


def status_of(error: Exception, method: str) -> Status:
    """Return the status for *error*, which ended a call or one of its items.

    Logs an error that is not a `RequestError`.
    """
    if isinstance(error, RequestError):
        return status_from_error(error)
    return _internal_error(error, method)


def _internal_error(error: Exception, method: str) -> Status:
    """Log *error*, and return a status that has only the id of the log event."""
    id_ = log_failure(error, method)
    details = AnyMessage()
    details.Pack(ErrorInfo(reason="INTERNAL", domain=DOMAIN, metadata={"error_id": id_}))
    return Status(
        code=grpc.StatusCode.INTERNAL.value[0],
        message=f"internal error; see error_id {id_} in the server's log",
        details=[details],
    )


# Decision 0009: the log has no text of requests, which the text of an exception may contain.
def log_failure(error: Exception, method: str) -> str:
    """Log the unexpected *error* of a call, and return the id of the event.

    The event has the type of the error and the lines of its traceback.
    """
    id_ = secrets.token_hex(8)
    frames = traceback.extract_tb(error.__traceback__)
    _log.error(
        "rpc.failed",
        method=method,
        error_id=id_,
        error_type=type(error).__name__,
        frames=[f"{frame.filename}:{frame.lineno}" for frame in frames[-8:]],
    )
    return id_


def _ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
