"""Errors from `google.rpc.Status` messages and from failed gRPC calls."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Final, cast

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from sidecheck.errors import SidecheckError, Unavailable
from sidecheck.info import Limits

__all__ = ["decode_call_error", "decode_status", "not_encodable", "too_large"]

#: Domain of the `google.rpc.ErrorInfo` messages whose reasons are Sidecheck's.
DOMAIN: Final = "sidecheck"

STATUS_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}
UNAVAILABLE_CODES: Final = frozenset(
    {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}
)


def decode_call_error(error: grpc.RpcError) -> SidecheckError:
    """Return the error of a failed call.

    The details are a serialized `google.rpc.Status` in the trailing metadata
    ``grpc-status-details-bin`` (gRPC, "Error handling", richer error model). Details
    that do not decode are ignored: the code and the message suffice.
    """
    status = Status(code=error.code().value[0], message=error.details() or "")
    # The type stubs describe only the metadata of blocking calls; both kinds yield pairs.
    metadata = cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ())
    for key, value in metadata:
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            with suppress(DecodeError):
                status.details.extend(Status.FromString(value).details)
    return decode_status(status)


def decode_status(status: Status) -> SidecheckError:
    """Return the error that *status* describes.

    Its reason is that of the `google.rpc.ErrorInfo` of the domain ``sidecheck``; without
    one it is an error of gRPC, and its reason is the name of the status code.
    """
    code = STATUS_CODES.get(status.code, grpc.StatusCode.UNKNOWN)
    info = error_info(status)
    if info is None:
        kind = Unavailable if code in UNAVAILABLE_CODES else SidecheckError
        return kind(code.name, status.message, {}, code)
    # For the caller, a server that shuts down is as good as absent.
    kind = Unavailable if info.reason == "SHUTTING_DOWN" else SidecheckError
    return kind(info.reason, status.message, info.metadata, code)


def error_info(status: Status) -> ErrorInfo | None:
    """Return the `ErrorInfo` of Sidecheck in *status*, if there is one that decodes."""
    for detail in status.details:
        info = ErrorInfo()
        with suppress(DecodeError):
            if detail.Unpack(info) and info.domain == DOMAIN:
                return info
    return None


def too_large(size: int, limits: Limits) -> SidecheckError:
    """Return the error for an item of *size* bytes, too large for a message to the server."""
    limit = limits.message_bytes
    return SidecheckError(
        "LIMIT_EXCEEDED",
        f"item too large: {size:,} bytes exceed the limit of {limit:,} (message_bytes)",
        {"bound": "message_bytes", "limit": str(limit), "found": str(size)},
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    )


def not_encodable(error: Exception) -> SidecheckError:
    """Return the error for an item with a payload that JSON cannot express."""
    return SidecheckError(
        "INVALID_REQUEST",
        f"cannot encode the item: {error}",
        {"field": "subject"},
        grpc.StatusCode.INVALID_ARGUMENT,
    )
