"""Answers of the server as values that can be compared."""

import threading
from typing import Any

import grpc
from fuzz.exchanges import Outcome
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from sidecheck_server.rpc.status import STATUS_CODES

__all__ = ["CORE", "SUDDEN", "answer_in", "reason_in"]

# CPython 3.11 has one counter of the depth of `ast.parse` for all threads.
CORE = threading.Lock()
"""Lock around calls of the core in this process."""
SUDDEN = tuple(
    reason.value for reason, code in STATUS_CODES.items() if code is grpc.StatusCode.UNAVAILABLE
)
"""Reasons of temporary errors, which do not depend on the request."""


def answer_in(path: str, outcome: Outcome) -> Any:
    """Return the response, or the reason of the error; None for an error of gRPC itself."""
    if outcome.code is not grpc.StatusCode.OK or not outcome.responses:
        return reason_in(Status.FromString(outcome.status)) if outcome.status else None
    return outcome.response(path)


def reason_in(status: Status) -> str:
    """Return the reason in the details of *status*."""
    info: Any = ErrorInfo()
    status.details[0].Unpack(info)
    return str(info.reason)
