"""gRPC statuses of request errors: status codes by reason, and error details."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NoReturn

import grpc
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.types import Violation
from sidecheck_server.rpc.context import Context

__all__ = ["DOMAIN", "STATUS_CODES", "abort", "reason_of", "status_from_error"]

DOMAIN = "sidecheck"
"""The domain of every `google.rpc.ErrorInfo` of this service (AIP-193)."""

STATUS_CODES: Mapping[ErrorReason, grpc.StatusCode] = MappingProxyType(
    {
        ErrorReason.INVALID_REQUEST: grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.UNKNOWN_PROTOCOL_VERSION: grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.LIMIT_EXCEEDED: grpc.StatusCode.RESOURCE_EXHAUSTED,
        ErrorReason.UNKNOWN_TOOL: grpc.StatusCode.NOT_FOUND,
        ErrorReason.UNKNOWN_DEFINITION: grpc.StatusCode.NOT_FOUND,
        ErrorReason.UNKNOWN_SCHEMA: grpc.StatusCode.NOT_FOUND,
        ErrorReason.DEFINITION_MISMATCH: grpc.StatusCode.FAILED_PRECONDITION,
        ErrorReason.NO_OUTPUT_SCHEMA: grpc.StatusCode.FAILED_PRECONDITION,
        ErrorReason.INVALID_TOOL: grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.SCHEMA_NOT_JSON: grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.UNSUPPORTED_DIALECT: grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.INVALID_SCHEMA: grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.INVALID_PATTERN: grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.UNSUPPORTED_PATTERN: grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.UNRESOLVABLE_REFERENCE: grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.REFERENCE_CYCLE: grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.NOT_CONVERTIBLE: grpc.StatusCode.FAILED_PRECONDITION,
        ErrorReason.INVALID_MAPPING: grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.MAPPING_MISMATCH: grpc.StatusCode.FAILED_PRECONDITION,
        ErrorReason.FEATURE_DISABLED: grpc.StatusCode.FAILED_PRECONDITION,
        ErrorReason.QUOTA_EXCEEDED: grpc.StatusCode.RESOURCE_EXHAUSTED,
        ErrorReason.COMPACTED: grpc.StatusCode.OUT_OF_RANGE,
        ErrorReason.REVISION_NOT_REACHED: grpc.StatusCode.ABORTED,
        ErrorReason.REGISTRY_UNUSABLE: grpc.StatusCode.UNAVAILABLE,
        ErrorReason.UNAUTHENTICATED: grpc.StatusCode.UNAUTHENTICATED,
        ErrorReason.PERMISSION_DENIED: grpc.StatusCode.PERMISSION_DENIED,
        ErrorReason.OVERLOADED: grpc.StatusCode.RESOURCE_EXHAUSTED,
        ErrorReason.WORKER_CRASHED: grpc.StatusCode.UNAVAILABLE,
        ErrorReason.SHUTTING_DOWN: grpc.StatusCode.UNAVAILABLE,
    }
)
"""The status code of each reason."""

_RETRY_MILLISECONDS: Mapping[ErrorReason, int] = MappingProxyType({ErrorReason.OVERLOADED: 500})
"""Milliseconds in the RetryInfo, after which the client may retry the call.

An overloaded server has more work than it can do within the deadlines of its callers, which are
mostly less than two seconds.
"""

#: Disables automatic retries of gRPC clients (gRFC A6, pushback). After a call whose outcome is
#: unknown, a retry could fail with the message that nothing has changed.
_DO_NOT_RETRY = ("grpc-retry-pushback-ms", "-1")

# gRPC accepts 8 KiB of trailers, which contain the message twice, once with three bytes for each
# byte that is not printable ASCII.
_MAX_TRAILER_BYTES = 7900
_MAX_MESSAGE_BYTES = 1400
_MAX_METADATA_BYTES = 300
_MAX_VIOLATION_BYTES = 300
_MAX_VIOLATIONS_BYTES = 1200


def status_from_error(error: RequestError) -> Status:
    """Return the status of *error*, with an ErrorInfo that names its reason.

    A RetryInfo follows if a later retry may succeed (AIP-194). A BadRequest follows if *error*
    has violations of a schema or a tool definition; it lists as many as fit.
    """
    info = ErrorInfo(
        reason=error.reason.value,
        domain=DOMAIN,
        metadata={
            key: _truncate(text, _MAX_METADATA_BYTES) for key, text in error.metadata.items()
        },
    )
    status = Status(
        code=STATUS_CODES[error.reason].value[0],
        message=_truncate(error.message, _MAX_MESSAGE_BYTES),
    )
    status.details.add().Pack(info)
    if error.reason in _RETRY_MILLISECONDS:
        retry = RetryInfo()
        retry.retry_delay.FromMilliseconds(_RETRY_MILLISECONDS[error.reason])
        status.details.add().Pack(retry)
    if error.violations:
        # Trailers have the message percent-encoded (Status-Message), and the status in base64
        # (Binary-Header); see "gRPC over HTTP2".
        message_size = sum(1 if 0x20 <= byte <= 0x7E else 3 for byte in status.message.encode())
        room = (_MAX_TRAILER_BYTES - message_size) * 3 // 4 - status.ByteSize()
        details = _bad_request(error.violations, min(room, _MAX_VIOLATIONS_BYTES))
        if details.field_violations:
            status.details.add().Pack(details)
    return status


def _bad_request(violations: Iterable[Violation], room: int) -> BadRequest:
    """Return the first *violations* that fit into *room* bytes together."""
    details = BadRequest()
    for violation in violations:
        details.field_violations.add(
            field=_truncate(violation.instance_location, _MAX_VIOLATION_BYTES),
            description=_truncate(violation.message, _MAX_VIOLATION_BYTES),
            reason=violation.code,
        )
        if details.ByteSize() > room:
            del details.field_violations[-1]
            break
    return details


def reason_of(status: Status) -> str:
    """Return the reason of *status*, a status of this service."""
    return str(_error_info(status).reason)


def _error_info(status: Status) -> ErrorInfo:
    """Return the ErrorInfo of *status*, an empty one if it has none."""
    info = ErrorInfo()
    if status.details:
        status.details[0].Unpack(info)
    return info


async def abort(context: Context, status: Status) -> NoReturn:
    """End a call with *status*, with its details in the trailers."""
    code = next(code for code in grpc.StatusCode if code.value[0] == status.code)
    is_unknown = _error_info(status).metadata.get("outcome") == "unknown"
    trailers = (
        ("grpc-status-details-bin", status.SerializeToString()),
        *((_DO_NOT_RETRY,) if is_unknown else ()),
    )
    await context.abort(code, status.message, trailers)
    raise AssertionError("abort raises")


def _truncate(text: str, max_bytes: int) -> str:
    # A status must be UTF-8; a name from a request may have lone surrogates.
    encoded = text.encode("utf-8", "backslashreplace")
    if len(encoded) <= max_bytes:
        return encoded.decode()
    return encoded[: max_bytes - len("…".encode())].decode(errors="ignore") + "…"
