"""Refusals on the wire: one table, and the only place that makes a gRPC status."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NoReturn

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["DOMAIN", "STATUS_CODES", "abort", "status_from_error"]

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
        ErrorReason.WORKER_CRASHED: grpc.StatusCode.UNAVAILABLE,
        ErrorReason.SHUTTING_DOWN: grpc.StatusCode.UNAVAILABLE,
    }
)
"""The status that each reason travels under."""

# A status travels in trailers, and gRPC refuses more than 8 KiB of them. In bytes; the
# message travels twice, and once with three bytes for each that is not ASCII.
_MESSAGE_LENGTH = 1400
_METADATA_LENGTH = 300


def status_from_error(refusal: RequestError) -> Status:
    """Return the status of *refusal*, with an ErrorInfo that names its reason."""
    info = ErrorInfo(
        reason=refusal.reason.value,
        domain=DOMAIN,
        metadata={key: _cut(said, _METADATA_LENGTH) for key, said in refusal.metadata.items()},
    )
    details = AnyMessage()
    details.Pack(info)
    return Status(
        code=STATUS_CODES[refusal.reason].value[0],
        message=_cut(refusal.message, _MESSAGE_LENGTH),
        details=[details],
    )


async def abort(context: grpc.aio.ServicerContext[Any, Any], status: Status) -> NoReturn:
    """End a call with *status*, and with its details in the trailers."""
    code = next(code for code in grpc.StatusCode if code.value[0] == status.code)
    trailers = (("grpc-status-details-bin", status.SerializeToString()),)
    await context.abort(code, status.message, trailers)
    raise AssertionError("abort raises")


def _cut(text: str, length: int) -> str:
    # A status is UTF-8, which a name taken from a request need not be.
    whole = text.encode("utf-8", "backslashreplace")
    if len(whole) <= length:
        return whole.decode()
    return whole[: length - len("…".encode())].decode(errors="ignore") + "…"
