"""Refusals on the wire: one table, and the only place that makes a gRPC status."""

from collections.abc import Mapping
from types import MappingProxyType

import grpc
from google.protobuf.any_pb2 import Any
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from sidecheck_server.core.refusals import Reason, Refusal

__all__ = ["DOMAIN", "STATUS_CODES", "refusal_to_wire"]

DOMAIN = "sidecheck"
"""The domain of every `google.rpc.ErrorInfo` of this service (AIP-193)."""

STATUS_CODES: Mapping[Reason, grpc.StatusCode] = MappingProxyType(
    {
        Reason.INVALID_REQUEST: grpc.StatusCode.INVALID_ARGUMENT,
        Reason.UNIMPLEMENTED: grpc.StatusCode.UNIMPLEMENTED,
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
        Reason.COMPILATION_FAILED: grpc.StatusCode.UNAVAILABLE,
        Reason.SHUTTING_DOWN: grpc.StatusCode.UNAVAILABLE,
    }
)
"""The status that each reason travels under."""

# A status travels in trailers, which gRPC cuts off at 8 KiB in all.
_MESSAGE_LENGTH = 1500
_METADATA_LENGTH = 300


def refusal_to_wire(refusal: Refusal) -> Status:
    """Return the status of *refusal*, with an ErrorInfo that names its reason."""
    info = ErrorInfo(
        reason=refusal.reason.value,
        domain=DOMAIN,
        metadata={key: _cut(said, _METADATA_LENGTH) for key, said in refusal.metadata.items()},
    )
    details = Any()
    details.Pack(info)
    return Status(
        code=STATUS_CODES[refusal.reason].value[0],
        message=_cut(refusal.message, _MESSAGE_LENGTH),
        details=[details],
    )


def _cut(text: str, length: int) -> str:
    # A status is UTF-8, which a name taken from a request need not be.
    whole = text.encode("utf-8", "backslashreplace").decode()
    return whole if len(whole) <= length else f"{whole[: length - 1]}…"
