"""Answering: what every method does around its own work.

A refusal becomes a status; anything unexpected becomes INTERNAL with an opaque id
that the log has too, and none of its text leaves the process; and each call is one
event in the log. Payloads, messages and pointers never are.
"""

import logging
import secrets
import time
import traceback
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Protocol, TypeVar

import grpc
import structlog
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from sidecheck_server.core.errors import RequestError
from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.rpc.access_log import LoggedResponse, log_fields
from sidecheck_server.rpc.methods import refuse_unreadable
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.rpc.status import DOMAIN, abort, status_from_error
from sidecheck_server.workers import CALLER

__all__ = ["rpc_handler", "status_of"]


class _HasDoor(Protocol):
    door: ShutdownGate


_Servicer = TypeVar("_Servicer", bound=_HasDoor)
_Request = TypeVar("_Request")
_Response = TypeVar("_Response")
_Method = Callable[[_Servicer, _Request], Awaitable[_Response]]

_log = structlog.get_logger("sidecheck.rpc")
_wanted = logging.getLogger("sidecheck").isEnabledFor


def rpc_handler(method: _Method[_Servicer, _Request, _Response]) -> Any:
    """Make a handler for `add_service` out of *method*, which turns a request into a response."""
    name = method.__name__

    @wraps(method)
    async def handler(
        servicer: _Servicer, request: _Request, context: grpc.aio.ServicerContext[Any, Any]
    ) -> _Response:
        CALLER.set(context.peer)
        started = time.perf_counter()
        try:
            servicer.door.enter()
            refuse_unreadable(request)
            response = await method(servicer, request)
        except RequestError as refusal:
            _log.info("rpc.refused", method=name, reason=refusal.reason.value, ms=_ms(started))
            await abort(context, status_from_error(refusal))
        except Exception as error:  # noqa: BLE001  (the border: nothing of ours may pass it)
            await abort(context, status_of(error, name))
        if isinstance(response, LoggedResponse):
            response, level, facts = response
        else:
            level, facts = log_fields(response)
        # Asking costs a tenth of writing an event that nobody wants.
        if _wanted(level):
            _log.log(level, "rpc.answered", method=name, ms=_ms(started), **facts)
        return response

    return handler


def status_of(error: Exception, method: str) -> Status:
    """Return the status to give for *error*, which ended a call of *method* or one of its items.

    What is no refusal is logged.
    """
    if isinstance(error, RequestError):
        return status_from_error(error)
    return _internal_error(error, method)


def _internal_error(error: Exception, method: str) -> Status:
    """Log *error* under a fresh id and return a status that says no more than that id.

    Only its type and the lines it passed through are logged: the text of an
    exception may hold a part of a payload. Only what a registry says of itself is our
    own words, and tells the operator what would help.
    """
    id_ = secrets.token_hex(8)
    frames = traceback.extract_tb(error.__traceback__)
    _log.error(
        "rpc.failed",
        method=method,
        error_id=id_,
        error_type=type(error).__name__,
        frames=[f"{frame.filename}:{frame.lineno}" for frame in frames[-8:]],
        **({"said": str(error)} if isinstance(error, RegistryUnusable) else {}),
    )
    details = AnyMessage()
    details.Pack(ErrorInfo(reason="INTERNAL", domain=DOMAIN, metadata={"error_id": id_}))
    return Status(
        code=grpc.StatusCode.INTERNAL.value[0],
        message=f"an internal error; the server's log has it under {id_}",
        details=[details],
    )


def _ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
