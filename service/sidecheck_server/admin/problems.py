"""Problem details (RFC 9457) and HTTP statuses of errors."""

import math
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

import msgspec
from google.rpc.code_pb2 import Code
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from sidecheck_server.core.errors import ErrorReason

__all__ = ["PROBLEM_TYPE", "HttpError", "http_error_of", "problem_of"]

PROBLEM_TYPE: Final = "application/problem+json"

_TYPES: Final = "https://github.com/sidecheck/sidecheck/blob/main/docs/reference/errors.md#"

_NO_STATUS: Final = 500

_STEPS: Final = re.compile(r"[^.\[\]]+")
"""Steps of the path of a field, such as ``items[0].message``."""

_HTTP_STATUSES: Final[Mapping[int, int]] = MappingProxyType(
    {
        Code.CANCELLED: 499,
        Code.UNKNOWN: 500,
        Code.INVALID_ARGUMENT: 400,
        Code.DEADLINE_EXCEEDED: 504,
        Code.NOT_FOUND: 404,
        Code.ALREADY_EXISTS: 409,
        Code.PERMISSION_DENIED: 403,
        Code.UNAUTHENTICATED: 401,
        Code.RESOURCE_EXHAUSTED: 429,
        Code.FAILED_PRECONDITION: 400,
        Code.ABORTED: 409,
        Code.OUT_OF_RANGE: 400,
        Code.UNIMPLEMENTED: 501,
        Code.INTERNAL: 500,
        Code.UNAVAILABLE: 503,
        Code.DATA_LOSS: 500,
    }
)
"""HTTP statuses by gRPC code (google/rpc/code.proto, "HTTP Mapping")."""


@dataclass(frozen=True, slots=True)
class HttpError:
    """HTTP response with problem details."""

    status: int
    problem: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def plain(
        cls, status: HTTPStatus, detail: str, headers: Mapping[str, str] = MappingProxyType({})
    ) -> "HttpError":
        """Return an error of HTTP itself, which has no reason of the API."""
        problem = {
            "type": "about:blank",
            "title": status.phrase,
            "status": status.value,
            "detail": detail,
        }
        return cls(status.value, problem, headers)

    @property
    def body(self) -> bytes:
        """The problem details, with a line feed at the end."""
        return msgspec.json.encode(self.problem) + b"\n"


def http_error_of(
    error: Status, status: int | None = None, properties: Container[str] = ()
) -> HttpError:
    """Return the response for *error*; *status* overrides the status of its code.

    *properties* are the names of the properties of the request.
    """
    problem = problem_of(error, properties)
    if status is not None:
        problem["status"] = status
    headers = {}
    for detail in error.details:
        retry = RetryInfo()
        if detail.Unpack(retry):
            delay = retry.retry_delay.ToMilliseconds() / 1000
            headers["retry-after"] = str(math.ceil(delay))
    if problem["status"] == HTTPStatus.UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    return HttpError(problem["status"], problem, headers)


def problem_of(error: Status, properties: Container[str] = ()) -> dict[str, Any]:
    """Return the problem details of *error* of a request with *properties*.

    Members beyond those of the RFC: ``reason`` and ``metadata`` of ErrorInfo, and
    ``violations``, the faults of a schema or a tool definition.
    """
    info, bad_request = ErrorInfo(), BadRequest()
    for detail in error.details:
        # Unpack leaves *info* unchanged if the detail is of another type.
        if not detail.Unpack(info):
            detail.Unpack(bad_request)
    problem: dict[str, Any] = {
        "type": f"{_TYPES}{info.reason}",
        "title": info.reason.replace("_", " ").capitalize(),
        "status": _HTTP_STATUSES.get(error.code, _NO_STATUS),
        "detail": error.message,
        "reason": info.reason,
        "metadata": _metadata_of(info, properties),
    }
    if bad_request.field_violations:
        problem["violations"] = [
            {
                "instance_location": violation.field,
                "code": violation.reason,
                "message": violation.description,
            }
            for violation in bad_request.field_violations
        ]
    return problem


def _metadata_of(info: ErrorInfo, properties: Container[str]) -> dict[str, str]:
    """Return the metadata of *info*, with its ``field`` as a JSON Pointer into the body.

    The field is left out if its message is dissolved in the body; see `json_shapes.DISSOLVED`.
    """
    metadata = dict(sorted(info.metadata.items()))
    if info.reason == ErrorReason.INVALID_REQUEST:
        field = metadata.get("field", "")
        if not field.startswith("/"):
            steps = _STEPS.findall(field)
            metadata.pop("field", None)
            if steps and steps[0] in properties:
                metadata["field"] = "".join(f"/{step}" for step in steps)
    return metadata
