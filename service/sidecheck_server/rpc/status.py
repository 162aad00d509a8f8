"""Refusals on the wire: one table, and the only place that makes a gRPC status."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NoReturn

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from sidecheck_server.core.refusals import Reason, Refusal

__all__ = ["DOMAIN", "STATUS_CODES", "abort", "refusal_to_wire"]

DOMAIN = "sidecheck"
"""The domain of every `google.rpc.ErrorInfo` of this service (AIP-193)."""

STATUS_CODES: Mapping[Reason, grpc.StatusCode] = MappingProxyType(
    {
        Reason.INVALID_REQUEST: grpc.StatusCode.INVALID_ARGUMENT,
        Reason.UNKNOWN_PROTOCOL_VERSION: grpc.StatusCode.INVALID_ARGUMENT,
        Reason.LIMIT_EXCEEDED: grpc.StatusCode.RESOURCE_EXHAUSTED,
        Reason.UNKNOWN_TOOL: grpc.StatusCode.NOT_FOUND,
        Reason.UNKNOWN_DEFINITION: grpc.StatusCode.NOT_FOUND,
        Reason.UNKNOWN_SCHEMA: grpc.StatusCode.NOT_FOUND,
        Reason.DEFINITION_MISMATCH: grpc.StatusCode.FAILED_PRECONDITION,
        Reason.NO_OUTPUT_SCHEMA: grpc.StatusCode.FAILED_PRECONDITION,
        Reason.INVALID_TOOL: grpc.StatusCode.INVALID_ARGUMENT,
        Reason.SCHEMA_NOT_JSON: grpc.StatusCode.INVALID_ARGUMENT,
        Reason.UNSUPPORTED_DIALECT: grpc.StatusCode.INVALID_ARGUMENT,
        Reason.INVALID_SCHEMA: grpc.StatusCode.INVALID_ARGUMENT,
        Reason.INVALID_PATTERN: grpc.StatusCode.INVALID_ARGUMENT,
        Reason.UNSUPPORTED_PATTERN: grpc.StatusCode.INVALID_ARGUMENT,
        Reason.UNRESOLVABLE_REFERENCE: grpc.StatusCode.INVALID_ARGUMENT,
        Reason.ENDLESS_REFERENCE: grpc.StatusCode.INVALID_ARGUMENT,
        Reason.NOT_CONVERTIBLE: grpc.StatusCode.FAILED_PRECONDITION,
        Reason.INVALID_MAPPING: grpc.StatusCode.INVALID_ARGUMENT,
        Reason.MAPPING_MISMATCH: grpc.StatusCode.FAILED_PRECONDITION,
        Reason.SWITCHED_OFF: grpc.StatusCode.FAILED_PRECONDITION,
        Reason.WORKER_LOST: grpc.StatusCode.UNAVAILABLE,
        Reason.SHUTTING_DOWN: grpc.StatusCode.UNAVAILABLE,
    }
)
"""The status that each reason travels under."""

# A status travels in trailers, and gRPC refuses more than 8 KiB of them. In bytes; the
# message travels twice, and once with three bytes for each that is not ASCII.
_MESSAGE_LENGTH = 1400
_METADATA_LENGTH = 300


def refusal_to_wire(refusal: Refusal) -> Status:
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
